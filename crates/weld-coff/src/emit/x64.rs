//! Relocations of x64 objects.
//!
//! All add to what the place holds. `S` is where the symbol is, `P` the place; both are offsets in the image, but for
//! absolute addresses. Source: "PE Format", x64 Processors.

use crate::coff::pe;
use crate::emit::apply::{Fault, Target, add_checked};

const ABSOLUTE: u16 = pe::IMAGE_REL_AMD64_ABSOLUTE.0;
const ADDR64: u16 = pe::IMAGE_REL_AMD64_ADDR64.0;
const ADDR32: u16 = pe::IMAGE_REL_AMD64_ADDR32.0;
const ADDR32NB: u16 = pe::IMAGE_REL_AMD64_ADDR32NB.0;
const REL32: u16 = pe::IMAGE_REL_AMD64_REL32.0;
const REL32_5: u16 = pe::IMAGE_REL_AMD64_REL32_5.0;
const SECTION: u16 = pe::IMAGE_REL_AMD64_SECTION.0;
const SECREL: u16 = pe::IMAGE_REL_AMD64_SECREL.0;

/// The kind of base relocation that a place needs if it holds the address of something in the image.
#[inline]
pub fn base_relocation(typ: u16) -> Option<u8> {
    match typ {
        ADDR64 => Some(pe::IMAGE_REL_BASED_DIR64.0 as u8),
        ADDR32 => Some(pe::IMAGE_REL_BASED_HIGHLOW.0 as u8),
        _ => None,
    }
}

/// Bytes that a relocation changes; `None` for types that there are not.
#[inline]
pub fn size(typ: u16) -> Option<usize> {
    match typ {
        ABSOLUTE => Some(0),
        ADDR64 => Some(8),
        SECTION => Some(2),
        ADDR32 | ADDR32NB | SECREL | REL32..=REL32_5 => Some(4),
        _ => None,
    }
}

/// Applies a relocation to `place`, which has [`size`] bytes and lies at `p` of the image.
#[inline]
pub fn apply(typ: u16, place: &mut [u8], p: u32, target: &Target) -> Result<(), Fault> {
    match typ {
        ABSOLUTE => Ok(()),
        ADDR64 => {
            let Some(bytes) = place.first_chunk_mut() else { return Ok(()) };
            *bytes = u64::from_le_bytes(*bytes).wrapping_add(target.address()).to_le_bytes();
            Ok(())
        }
        ADDR32 => add_checked(place, target.address() as i64, Range::Either),
        ADDR32NB => add_checked(place, target.offset(), Range::Either),
        REL32..=REL32_5 => {
            // Counted from the end of the instruction, which is up to five bytes behind the place.
            let end = i64::from(p) + 4 + i64::from(typ - REL32);
            add_checked(place, target.offset() - end, Range::Signed)
        }
        SECTION => target.add_section_number(place),
        SECREL => target.add_offset_in_section(place),
        _ => Err(Fault::Unknown(typ)),
    }
}

pub use crate::emit::apply::Range;
