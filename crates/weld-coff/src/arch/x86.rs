//! x86. Source: "PE Format", Intel 386 Processors.
//!
//! All relocations add to what the place holds; addresses come round at 4 GiB.

use super::{DelayCode, Facts, Fault, HIGHLOW, Jump, Range, Refers, Rules, Snippet, Target, add_checked};
use crate::address::Rva;
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
    thunk: (6, 0),
    write_thunk,
    thunk_address: Some(2),
    branch_thunk: None,
    function: 0,
    tls_directory: 24,
    base_relocation: HIGHLOW,
    delay: DelayCode {
        helper: "___delayLoadHelper2@8",
        align: 0,
        // `mov $slot, %eax; jmp loader`
        thunk: Snippet {
            bytes: b"\xb8\0\0\0\0\xe9\0\0\0\0",
            fixups: &[(1, DIR32, Refers::Slot), (6, REL32, Refers::Loader)],
        },
        // `push %ecx; push %edx; push %eax; push $directory; call helper; pop %edx; pop %ecx; jmp *%eax`
        loader: Snippet {
            bytes: b"\x51\x52\x50\x68\0\0\0\0\xe8\0\0\0\0\x5a\x59\xff\xe0",
            fixups: &[(4, DIR32, Refers::Directory), (9, REL32, Refers::Helper)],
        },
        unwind: &[],
        has_ends: false,
    },
};

/// `jmp *slot`
fn write_thunk(bytes: &mut [u8], jump: Jump) {
    bytes[..2].copy_from_slice(&[0xff, 0x25]);
    bytes[2..6].copy_from_slice(&(jump.slot.in_memory(jump.base) as u32).to_le_bytes());
}

pub struct X86;

impl Rules for X86 {
    #[inline]
    fn base_relocation(typ: u16) -> Option<u8> {
        (typ == DIR32).then_some(HIGHLOW)
    }

    fn address_bits(typ: u16) -> Option<u32> {
        matches!(typ, DIR32 | REL32).then_some(32)
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
    fn counts_in_section(typ: u16) -> bool {
        matches!(typ, SECTION | SECREL)
    }

    #[inline]
    fn apply(typ: u16, place: &mut [u8], p: Rva, target: &Target) -> Result<(), Fault> {
        match typ {
            ABSOLUTE => Ok(()),
            DIR32 => add_checked(place, target.address() as i64, Range::Any),
            DIR32NB => add_checked(place, target.offset(), Range::Any),
            REL32 => add_checked(place, target.offset() - i64::from(p.get()) - 4, Range::Any),
            SECTION => target.add_section_number(place),
            SECREL => target.add_offset_in_section(place),
            _ => Err(Fault::Unknown(typ)),
        }
    }
}
