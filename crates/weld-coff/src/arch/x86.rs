//! x86. Source: "PE Format", Intel 386 Processors.
//!
//! All relocations add to what the place holds; addresses come round at 4 GiB.

use super::{Facts, Fault, HIGHLOW, Jump, Range, Rules, Target, add_checked};
use crate::coff::pe;

const ABSOLUTE: u16 = pe::IMAGE_REL_I386_ABSOLUTE.0;
const DIR32: u16 = pe::IMAGE_REL_I386_DIR32.0;
const DIR32NB: u16 = pe::IMAGE_REL_I386_DIR32NB.0;
const REL32: u16 = pe::IMAGE_REL_I386_REL32.0;
const SECTION: u16 = pe::IMAGE_REL_I386_SECTION.0;
const SECREL: u16 = pe::IMAGE_REL_I386_SECREL.0;

pub static FACTS: Facts = Facts {
    gap: 0xcc,
    address: 4,
    bases: [0x40_0000, 0x1000_0000],
    thunk: (6, 4),
    write_thunk,
    thunk_address: Some(2),
    function: 0,
    tls_directory: 24,
    base_relocation: HIGHLOW,
};

/// `jmp *slot`
fn write_thunk(bytes: &mut [u8], jump: Jump) {
    bytes[..2].copy_from_slice(&[0xff, 0x25]);
    bytes[2..6].copy_from_slice(&(jump.base as u32).wrapping_add(jump.slot).to_le_bytes());
}

pub struct X86;

impl Rules for X86 {
    #[inline]
    fn base_relocation(typ: u16) -> Option<u8> {
        (typ == DIR32).then_some(HIGHLOW)
    }

    #[inline]
    fn size(typ: u16) -> Option<usize> {
        match typ {
            ABSOLUTE => Some(0),
            SECTION => Some(2),
            DIR32 | DIR32NB | REL32 | SECREL => Some(4),
            _ => None,
        }
    }

    #[inline]
    fn apply(typ: u16, place: &mut [u8], p: u32, target: &Target) -> Result<(), Fault> {
        match typ {
            ABSOLUTE => Ok(()),
            DIR32 => add_checked(place, target.address() as i64, Range::Any),
            DIR32NB => add_checked(place, target.offset(), Range::Any),
            REL32 => add_checked(place, target.offset() - i64::from(p) - 4, Range::Any),
            SECTION => target.add_section_number(place),
            SECREL => target.add_offset_in_section(place),
            _ => Err(Fault::Unknown(typ)),
        }
    }
}
