//! x64. Source: "PE Format", x64 Processors.
//!
//! All relocations add to what the place holds.

use super::{
    DIR64, DelayCode, Facts, Fault, HIGHLOW, Jump, Range, Refers, Rules, Snippet, Target, add_address,
    add_checked,
};
use crate::address::Rva;
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
    branch_thunk: None,
    function: 12,
    tls_directory: 40,
    base_relocation: DIR64,
    delay: DelayCode {
        helper: "__delayLoadHelper2",
        align: 4,
        thunk: Snippet {
            bytes: DELAY_THUNK,
            fixups: &[(3, REL32, Refers::Slot), (8, REL32, Refers::Loader)],
        },
        loader: Snippet {
            bytes: DELAY_LOADER,
            fixups: &[(55, REL32, Refers::Directory), (60, REL32, Refers::Helper)],
        },
        unwind: DELAY_UNWIND,
        has_ends: true,
    },
};

/// Instructions that end with the distance to their target.
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;

/// `lea slot(%rip), %rax; jmp loader`
const DELAY_THUNK: &[u8] = b"\x48\x8d\x05\0\0\0\0\xe9\0\0\0\0";

/// Keeps the registers that arguments may be in: `rcx`, `rdx`, `r8`, `r9`, `xmm0` to `xmm5`.
const DELAY_LOADER: &[u8] = b"\x51\x52\x41\x50\x41\x51\
    \x48\x81\xec\x88\0\0\0\
    \x66\x0f\x7f\x44\x24\x20\x66\x0f\x7f\x4c\x24\x30\x66\x0f\x7f\x54\x24\x40\
    \x66\x0f\x7f\x5c\x24\x50\x66\x0f\x7f\x64\x24\x60\x66\x0f\x7f\x6c\x24\x70\
    \x48\x89\xc2\
    \x48\x8d\x0d\0\0\0\0\
    \xe8\0\0\0\0\
    \x66\x0f\x6f\x44\x24\x20\x66\x0f\x6f\x4c\x24\x30\x66\x0f\x6f\x54\x24\x40\
    \x66\x0f\x6f\x5c\x24\x50\x66\x0f\x6f\x64\x24\x60\x66\x0f\x6f\x6c\x24\x70\
    \x48\x81\xc4\x88\0\0\0\
    \x41\x59\x41\x58\x5a\x59\xff\xe0";

/// The stack is 0x88 bytes larger, after four registers that were pushed.
const DELAY_UNWIND: &[u8] = &[1, 13, 6, 0, 13, 0x01, 0x88 / 8, 0, 6, 0x90, 4, 0x80, 2, 0x20, 1, 0x10];

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

    fn address_bits(typ: u16) -> Option<u32> {
        match typ {
            ADDR64 => Some(64),
            ADDR32 | REL32..=REL32_5 => Some(32),
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

    fn is_call(typ: u16, before: &[u8]) -> bool {
        typ == REL32 && matches!(before.last(), Some(&(CALL | JUMP)))
    }

    #[inline]
    fn counts_in_section(typ: u16) -> bool {
        matches!(typ, SECTION | SECREL)
    }

    #[inline]
    fn apply(typ: u16, place: &mut [u8], p: Rva, target: &Target) -> Result<(), Fault> {
        match typ {
            ABSOLUTE => Ok(()),
            ADDR64 => {
                add_address(place, target.address());
                Ok(())
            }
            ADDR32 => add_checked(place, target.address() as i64, Range::Either),
            ADDR32NB => add_checked(place, target.offset(), Range::Either),
            REL32..=REL32_5 => {
                // Counted from the end of the instruction, which is up to five bytes after the place.
                let end = i64::from(p.get()) + 4 + i64::from(typ - REL32);
                add_checked(place, target.offset() - end, Range::Signed)
            }
            SECTION => target.add_section_number(place),
            SECREL => target.add_offset_in_section(place),
            _ => Err(Fault::Unknown(typ)),
        }
    }
}
