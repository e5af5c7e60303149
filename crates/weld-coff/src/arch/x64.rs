//! x64. Source: "PE Format", x64 Processors.
//!
//! All relocations add to what the place holds.

use super::{DIR64, Facts, Fault, HIGHLOW, Jump, Range, Rules, Target, add_address, add_checked};
use crate::coff::pe;

const ABSOLUTE: u16 = pe::IMAGE_REL_AMD64_ABSOLUTE.0;
const ADDR64: u16 = pe::IMAGE_REL_AMD64_ADDR64.0;
const ADDR32: u16 = pe::IMAGE_REL_AMD64_ADDR32.0;
const ADDR32NB: u16 = pe::IMAGE_REL_AMD64_ADDR32NB.0;
const REL32: u16 = pe::IMAGE_REL_AMD64_REL32.0;
const REL32_5: u16 = pe::IMAGE_REL_AMD64_REL32_5.0;
const SECTION: u16 = pe::IMAGE_REL_AMD64_SECTION.0;
const SECREL: u16 = pe::IMAGE_REL_AMD64_SECREL.0;

pub static FACTS: Facts = Facts {
    gap: 0xcc,
    address: 8,
    bases: [0x1_4000_0000, 0x1_8000_0000],
    thunk: (6, 4),
    write_thunk,
    thunk_address: None,
    function: 12,
    tls_directory: 40,
    base_relocation: DIR64,
};

/// `jmp *slot(%rip)`
fn write_thunk(bytes: &mut [u8], jump: Jump) {
    bytes[..2].copy_from_slice(&[0xff, 0x25]);
    bytes[2..6].copy_from_slice(&jump.slot.wrapping_sub(jump.rva + 6).to_le_bytes());
}

pub struct X64;

impl Rules for X64 {
    #[inline]
    fn base_relocation(typ: u16) -> Option<u8> {
        match typ {
            ADDR64 => Some(DIR64),
            ADDR32 => Some(HIGHLOW),
            _ => None,
        }
    }

    #[inline]
    fn size(typ: u16) -> Option<usize> {
        match typ {
            ABSOLUTE => Some(0),
            ADDR64 => Some(8),
            SECTION => Some(2),
            ADDR32 | ADDR32NB | SECREL | REL32..=REL32_5 => Some(4),
            _ => None,
        }
    }

    #[inline]
    fn apply(typ: u16, place: &mut [u8], p: u32, target: &Target) -> Result<(), Fault> {
        match typ {
            ABSOLUTE => Ok(()),
            ADDR64 => {
                add_address(place, target.address());
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
}
