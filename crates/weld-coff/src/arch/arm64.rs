//! ARM64. Source: "PE Format", ARM64 Processors; Arm Architecture Reference Manual for the instructions.
//!
//! Relocations of instructions add to the immediate that the instruction has, but for branches, which have
//! none.

use weld_common::aarch64::{BR_X16, adrp, load_low, pages, put_instruction, put_page_jump};
use weld_common::thunks::{Form, Reach};

use super::{
    BranchThunk, DIR64, DelayCode, Facts, Fault, HIGHLOW, Jump, Range, Refers, Rules, Snippet, Target,
    add_address, add_checked,
};
use crate::address::Rva;
use crate::coff::pe;

const ABSOLUTE: u16 = pe::IMAGE_REL_ARM64_ABSOLUTE.0;
const ADDR32: u16 = pe::IMAGE_REL_ARM64_ADDR32.0;
const ADDR32NB: u16 = pe::IMAGE_REL_ARM64_ADDR32NB.0;
const BRANCH26: u16 = pe::IMAGE_REL_ARM64_BRANCH26.0;
const PAGEBASE_REL21: u16 = pe::IMAGE_REL_ARM64_PAGEBASE_REL21.0;
const REL21: u16 = pe::IMAGE_REL_ARM64_REL21.0;
const PAGEOFFSET_12A: u16 = pe::IMAGE_REL_ARM64_PAGEOFFSET_12A.0;
const PAGEOFFSET_12L: u16 = pe::IMAGE_REL_ARM64_PAGEOFFSET_12L.0;
const SECREL: u16 = pe::IMAGE_REL_ARM64_SECREL.0;
const SECREL_LOW12A: u16 = pe::IMAGE_REL_ARM64_SECREL_LOW12A.0;
const SECREL_HIGH12A: u16 = pe::IMAGE_REL_ARM64_SECREL_HIGH12A.0;
const SECREL_LOW12L: u16 = pe::IMAGE_REL_ARM64_SECREL_LOW12L.0;
const SECTION: u16 = pe::IMAGE_REL_ARM64_SECTION.0;
const ADDR64: u16 = pe::IMAGE_REL_ARM64_ADDR64.0;
const BRANCH19: u16 = pe::IMAGE_REL_ARM64_BRANCH19.0;
const BRANCH14: u16 = pe::IMAGE_REL_ARM64_BRANCH14.0;
const REL32: u16 = pe::IMAGE_REL_ARM64_REL32.0;

pub static FACTS: Facts = Facts {
    gap: 0,
    address: 8,
    bases: [0x1_4000_0000, 0x1_8000_0000],
    thunk: (12, 2),
    write_thunk,
    thunk_address: None,
    branch_thunk: Some(BranchThunk {
        form: Form { size: 12, align: 4, reach: Reach::EVERYTHING },
        write: write_branch_thunk,
    }),
    function: 8,
    tls_directory: 40,
    base_relocation: DIR64,
    delay: DelayCode {
        helper: "__delayLoadHelper2",
        align: 4,
        thunk: Snippet {
            bytes: &bytes::<3, 12>([0x9000_0011, 0x9100_0231, 0x1400_0000]),
            fixups: &[
                (0, PAGEBASE_REL21, Refers::Slot),
                (4, PAGEOFFSET_12A, Refers::Slot),
                (8, BRANCH26, Refers::Loader),
            ],
        },
        loader: Snippet {
            bytes: &bytes::<27, 108>(DELAY_LOADER),
            fixups: &[
                (48, PAGEBASE_REL21, Refers::Directory),
                (52, PAGEOFFSET_12A, Refers::Directory),
                (56, BRANCH26, Refers::Helper),
            ],
        },
        // One word of codes, an epilogue that begins with the second of them: `set_fp`, `save_fplr_x` of 224
        // bytes, `end`.
        unwind: &[27, 0, 0x60, 0x08, 0xe1, 0x80 | (224 / 8 - 1), 0xe4, 0xe4],
        has_ends: false,
    },
};

/// Keeps the registers that arguments may be in: `x0` to `x8`, `q0` to `q7`. The thunk has the slot in `x17`.
#[rustfmt::skip]
const DELAY_LOADER: [u32; 27] = [
    0xa9b27bfd, // stp x29, x30, [sp, #-224]!
    0x910003fd, // mov x29, sp
    0xa90107e0, // stp x0, x1, [sp, #16]
    0xa9020fe2, // stp x2, x3, [sp, #32]
    0xa90317e4, // stp x4, x5, [sp, #48]
    0xa9041fe6, // stp x6, x7, [sp, #64]
    0xf9002be8, // str x8, [sp, #80]
    0xad0307e0, // stp q0, q1, [sp, #96]
    0xad040fe2, // stp q2, q3, [sp, #128]
    0xad0517e4, // stp q4, q5, [sp, #160]
    0xad061fe6, // stp q6, q7, [sp, #192]
    0xaa1103e1, // mov x1, x17
    0x90000000, // adrp x0, directory
    0x91000000, // add x0, x0, directory
    0x94000000, // bl helper
    0xaa0003f0, // mov x16, x0
    0xad4307e0, // ldp q0, q1, [sp, #96]
    0xad440fe2, // ldp q2, q3, [sp, #128]
    0xad4517e4, // ldp q4, q5, [sp, #160]
    0xad461fe6, // ldp q6, q7, [sp, #192]
    0xf9402be8, // ldr x8, [sp, #80]
    0xa94107e0, // ldp x0, x1, [sp, #16]
    0xa9420fe2, // ldp x2, x3, [sp, #32]
    0xa94317e4, // ldp x4, x5, [sp, #48]
    0xa9441fe6, // ldp x6, x7, [sp, #64]
    0xa8ce7bfd, // ldp x29, x30, [sp], #224
    0xd61f0200, // br x16
];

/// Instructions as bytes.
const fn bytes<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        bytes[at] = words[at / 4].to_le_bytes()[at % 4];
        at += 1;
    }
    bytes
}

/// `adrp x16, target; add x16, x16, target; br x16`
fn write_branch_thunk(bytes: &mut [u8], rva: Rva, target: Rva) {
    put_page_jump(bytes, rva.get().into(), target.get().into());
}

/// `adrp x16, slot; ldr x16, [x16, slot]; br x16`
fn write_thunk(bytes: &mut [u8], jump: Jump) {
    let slot = jump.slot.get().into();
    put_instruction(bytes, 0, adrp(16, pages(slot, jump.rva.get().into())));
    put_instruction(bytes, 4, load_low(16, 16, slot));
    put_instruction(bytes, 8, BR_X16);
}

fn word(place: &[u8]) -> u32 {
    place.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn set(place: &mut [u8], word: u32) {
    if let Some(bytes) = place.first_chunk_mut() {
        *bytes = word.to_le_bytes();
    }
}

/// The distance in `1 << shift` bytes in the 21 bits of `adr` and `adrp`.
fn add_page(place: &mut [u8], s: i64, p: i64, shift: u32) -> Result<(), Fault> {
    let old = word(place);
    let addend = (old >> 29 & 3 | old >> 3 & 0x1f_fffc) as i32;
    // 21 bits with a sign.
    let addend = i64::from(addend << 11 >> 11);
    let distance = ((s + addend) >> shift) - (p >> shift);
    if !(-(1 << 20)..1 << 20).contains(&distance) {
        return Err(Fault::OutOfRange);
    }
    let bits = distance as u32;
    set(place, old & !(3 << 29 | 0x1f_fffc << 3) | (bits & 3) << 29 | (bits & 0x1f_fffc) << 3);
    Ok(())
}

/// The 12 bits of an addition, of which the highest `limit` have to stay zero.
fn add_immediate(place: &mut [u8], value: u32, limit: u32) {
    let old = word(place);
    let sum = value.wrapping_add(old >> 10 & 0xfff);
    set(place, old & !(0xfff << 10) | (sum & 0xfff >> limit) << 10);
}

/// The 12 bits of a load or store, which count in units of what it moves.
fn add_scaled(place: &mut [u8], value: u32) -> Result<(), Fault> {
    let old = word(place);
    let mut scale = old >> 30;
    // 16 bytes at a time.
    if old & 0x0480_0000 == 0x0480_0000 {
        scale += 4;
    }
    if value & ((1 << scale) - 1) != 0 {
        return Err(Fault::Misaligned);
    }
    add_immediate(place, value >> scale, scale);
    Ok(())
}

/// How a branch has its distance: in so many bits, without the two lowest ones, from bit `at` on.
#[derive(Clone, Copy)]
struct BranchField {
    bits: u32,
    at: u32,
}

impl BranchField {
    fn of(typ: u16) -> Option<BranchField> {
        match typ {
            BRANCH26 => Some(BranchField { bits: 28, at: 0 }),
            BRANCH19 => Some(BranchField { bits: 21, at: 5 }),
            BRANCH14 => Some(BranchField { bits: 16, at: 5 }),
            _ => None,
        }
    }

    fn mask(self) -> u32 {
        (1 << (self.bits - 2)) - 1
    }

    /// The distance that is there.
    fn get(self, place: &[u8]) -> i64 {
        let field = word(place) >> self.at & self.mask();
        i64::from((field << (34 - self.bits)) as i32 >> (32 - self.bits))
    }

    /// Adds to it.
    fn add(self, place: &mut [u8], distance: i64) -> Result<(), Fault> {
        let (half, distance) = (1i64 << (self.bits - 1), distance + self.get(place));
        if !(-half..half).contains(&distance) {
            return Err(Fault::OutOfRange);
        }
        let field = ((distance >> 2) as u32 & self.mask()) << self.at;
        set(place, word(place) & !(self.mask() << self.at) | field);
        Ok(())
    }
}

pub struct Arm64;

impl Rules for Arm64 {
    const BRANCHES: bool = true;

    fn reach(typ: u16) -> Option<u32> {
        BranchField::of(typ).map(|field| 1 << (field.bits - 1))
    }

    fn branch_addend(typ: u16, place: &[u8]) -> i64 {
        BranchField::of(typ).map_or(0, |field| field.get(place))
    }

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
            ADDR32 => Some(32),
            _ => None,
        }
    }

    #[inline]
    fn size(typ: u16) -> Option<usize> {
        match typ {
            ABSOLUTE => Some(0),
            ADDR64 => Some(8),
            SECTION => Some(2),
            ADDR32..=SECREL_LOW12L | BRANCH19 | BRANCH14 | REL32 => Some(4),
            _ => None,
        }
    }

    #[inline]
    fn counts_in_section(typ: u16) -> bool {
        matches!(typ, SECTION | SECREL | SECREL_LOW12A | SECREL_HIGH12A | SECREL_LOW12L)
    }

    #[inline]
    fn apply(typ: u16, place: &mut [u8], p: Rva, target: &Target) -> Result<(), Fault> {
        let p = i64::from(p.get());
        match typ {
            ABSOLUTE => return Ok(()),
            ADDR64 => add_address(place, target.address()),
            ADDR32 => return add_checked(place, target.address() as i64, Range::Either),
            ADDR32NB => return add_checked(place, target.offset(), Range::Either),
            REL32 => return add_checked(place, target.offset() - p - 4, Range::Signed),
            BRANCH26 | BRANCH19 | BRANCH14 => {
                return BranchField::of(typ).map_or(Ok(()), |field| field.add(place, target.offset() - p));
            }
            PAGEBASE_REL21 => return add_page(place, target.offset(), p, 12),
            REL21 => return add_page(place, target.offset(), p, 0),
            PAGEOFFSET_12A => add_immediate(place, target.offset() as u32 & 0xfff, 0),
            PAGEOFFSET_12L => return add_scaled(place, target.offset() as u32 & 0xfff),
            SECREL => return target.add_offset_in_section(place),
            SECREL_LOW12A => add_immediate(place, target.offset_in_section()? as u32 & 0xfff, 0),
            SECREL_HIGH12A => match target.offset_in_section()? {
                offset if offset >> 24 != 0 => return Err(Fault::OutOfRange),
                offset => add_immediate(place, (offset >> 12) as u32, 0),
            },
            SECREL_LOW12L => return add_scaled(place, target.offset_in_section()? as u32 & 0xfff),
            SECTION => return target.add_section_number(place),
            _ => return Err(Fault::Unknown(typ)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_add_to_the_distance_that_they_have() {
        // bl +8, b.eq -4, tbz w0, #3, +12
        for (typ, word, addend) in
            [(BRANCH26, 0x9400_0002u32, 8), (BRANCH19, 0x54ff_ffe0, -4), (BRANCH14, 0x3618_0060, 12)]
        {
            let field = BranchField::of(typ).unwrap();
            let mut place = word.to_le_bytes();
            assert_eq!(Arm64::branch_addend(typ, &place), addend);
            assert_eq!(field.add(&mut place, 0x1000), Ok(()));
            assert_eq!(field.get(&place), 0x1000 + addend);
            assert_eq!(field.add(&mut place, -0x2000), Ok(()));
            assert_eq!(field.get(&place), addend - 0x1000);
            assert_eq!(field.add(&mut place, 0x1000), Ok(()));
            assert_eq!(place, word.to_le_bytes());
            assert_eq!(
                field.add(&mut place, 1 << (field.bits - 1)),
                if addend < 0 { Ok(()) } else { Err(Fault::OutOfRange) }
            );
        }
    }
}
