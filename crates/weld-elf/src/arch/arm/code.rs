//! How values are stored in ARM and Thumb instructions, and read from them: most objects have addends there.
//!
//! Objects are all little endian or all big endian: data, words of ARM code and the half words that Thumb code
//! is made of. Values are those of 32 bits, with their sign.
//!
//! Specification: AAELF32, "Relocation"; "Arm Architecture Reference Manual", A8 (instructions).

use super::types::*;
use crate::arch::rules::Failure;
use crate::arch::words::put_bits;
pub use crate::arch::words::{put_word, word};

/// Of how many bytes what a mapping symbol stands in front of is made (AAELF32, "Mapping symbols"): words of ARM code,
/// half words of Thumb code, bytes of data. `None`: the name is another symbol's.
pub fn unit(name: &[u8]) -> Option<usize> {
    match name {
        [b'$', b'a'] | [b'$', b'a', b'.', ..] => Some(4),
        [b'$', b't'] | [b'$', b't', b'.', ..] => Some(2),
        [b'$', b'd'] | [b'$', b'd', b'.', ..] => Some(1),
        _ => None,
    }
}

pub fn half<const BIG: bool>(code: &[u8], at: usize) -> Option<u16> {
    let bytes = *code.get(at..)?.first_chunk()?;
    Some(if BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
}

pub fn put_half<const BIG: bool>(out: &mut [u8], at: usize, value: u16) {
    let bytes = if BIG { value.to_be_bytes() } else { value.to_le_bytes() };
    out[at..at + 2].copy_from_slice(&bytes);
}

/// A Thumb instruction of 32 bits: its first half word in the upper half.
pub fn thumb<const BIG: bool>(code: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(half::<BIG>(code, at)?) << 16 | u32::from(half::<BIG>(code, at + 2)?))
}

/// Changes the bits in `mask` of such an instruction.
fn put_thumb<const BIG: bool>(out: &mut [u8], at: usize, mask: u32, value: u32) {
    let code = thumb::<BIG>(out, at).unwrap_or_default() & !mask | value & mask;
    put_half::<BIG>(out, at, (code >> 16) as u16);
    put_half::<BIG>(out, at + 2, code as u16);
}

/// The value of `bits` low bits with a sign.
fn signed(value: u32, bits: u32) -> i64 {
    i64::from((value << (32 - bits)) as i32 >> (32 - bits))
}

/// Whether a value of this type fits.
fn checked(kind: u32, value: i64) -> Result<(), Failure> {
    if TYPES[kind as usize].fits(value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}

/// The distance of `bl` and `b.w` as they store it.
pub const fn long_distance(value: u32) -> u32 {
    let (s, i1, i2) = (value >> 24 & 1, value >> 23 & 1, value >> 22 & 1);
    let (j1, j2) = (i1 ^ s ^ 1, i2 ^ s ^ 1);
    s << 26 | (value >> 12 & 0x3ff) << 16 | j1 << 13 | j2 << 11 | value >> 1 & 0x7ff
}
const LONG: u32 = 0x07ff_2fff;

pub fn distance_of_long(code: u32) -> u32 {
    let (s, j1, j2) = (code >> 26 & 1, code >> 13 & 1, code >> 11 & 1);
    s << 24 | (j1 ^ s ^ 1) << 23 | (j2 ^ s ^ 1) << 22 | (code >> 16 & 0x3ff) << 12 | (code & 0x7ff) << 1
}

/// That of a conditional `b.w`.
const fn conditional_distance(value: u32) -> u32 {
    let (s, j2, j1) = (value >> 20 & 1, value >> 19 & 1, value >> 18 & 1);
    s << 26 | (value >> 12 & 0x3f) << 16 | j1 << 13 | j2 << 11 | value >> 1 & 0x7ff
}
const CONDITIONAL: u32 = 0x043f_2fff;

/// Whether Thumb's `bl` stays in Thumb code; `blx` does not.
const STAYS: u32 = 1 << 12;
/// `blx` of ARM code, which has half a word of its distance in bit 24, and `bl`.
const BLX: u32 = 0xfa00_0000;
const BL: u32 = 0xeb00_0000;

/// Whether the code says that a call changes to the other instruction set.
pub fn exchanges<const BIG: bool>(kind: u32, code: &[u8], at: usize) -> bool {
    match kind {
        R_CALL => word::<BIG>(code, at).is_some_and(|code| code & 0xfe00_0000 == BLX),
        R_THM_CALL => thumb::<BIG>(code, at).is_some_and(|code| code & STAYS == 0),
        _ => false,
    }
}

/// What a branch is stored for.
pub struct Branch {
    /// From the place, less what the processor adds.
    pub distance: i64,
    /// Whether it leads to Thumb code, if that is known: then a call becomes the one that does.
    pub to_thumb: Option<bool>,
    /// Where it lies.
    pub here: u64,
}

/// Stores the distance of a branch.
///
/// # Errors
/// It is too far.
pub fn put_branch<const BIG: bool>(
    kind: u32,
    out: &mut [u8],
    at: usize,
    branch: Branch,
) -> Result<(), Failure> {
    let Branch { mut distance, to_thumb, here } = branch;
    match kind {
        R_CALL => {
            let old = word::<BIG>(out, at).unwrap_or_default();
            let was_exchange = exchanges::<BIG>(kind, out, at);
            if to_thumb.unwrap_or(was_exchange) {
                let bits = (distance as u32 & 2) << 23 | distance as u32 >> 2 & 0xff_ffff;
                put_word::<BIG>(out, at, BLX | bits);
            } else {
                let code = if was_exchange { BL } else { old & 0xff00_0000 };
                put_word::<BIG>(out, at, code | distance as u32 >> 2 & 0xff_ffff);
            }
        }
        R_PC24 | R_PLT32 | R_JUMP24 => put_bits::<BIG>(out, at, 0xff_ffff, distance as u32 >> 2),
        R_THM_CALL => {
            let stays = to_thumb.unwrap_or(!exchanges::<BIG>(kind, out, at));
            if !stays {
                // It counts from the word that it lies in.
                distance += (here & 2) as i64;
                distance &= !3;
            }
            let bits = long_distance(distance as u32) & if stays { u32::MAX } else { !1 };
            put_thumb::<BIG>(out, at, LONG | STAYS, bits | if stays { STAYS } else { 0 });
        }
        R_THM_JUMP24 => put_thumb::<BIG>(out, at, LONG, long_distance(distance as u32)),
        R_THM_JUMP19 => put_thumb::<BIG>(out, at, CONDITIONAL, conditional_distance(distance as u32)),
        _ => {
            let mask = if kind == R_THM_JUMP11 { 0x7ff } else { 0xff };
            let old = half::<BIG>(out, at).unwrap_or_default();
            put_half::<BIG>(out, at, old & !mask | (distance >> 1) as u16 & mask);
        }
    }
    // Its low bit says only what is there.
    checked(kind, distance & !1)
}

/// Whether a branch, as it is stored, goes on in ARM code.
pub fn leads_to_arm<const BIG: bool>(kind: u32, code: &[u8], at: usize) -> bool {
    (branch_state(kind) == Some(true)) == exchanges::<BIG>(kind, code, at)
}

/// The parts of a number that instructions add one after the other: eight bits, from an even place on. The
/// part with number `n`, as `add` stores it, and what is left after it.
fn group(value: u32, n: u32) -> (u32, u32) {
    let mut rest = value;
    let mut number = 0;
    loop {
        let top = (31 - (rest | 1).leading_zeros()) & !1;
        let shift = top.saturating_sub(6);
        let part = rest & 0xff << shift;
        rest &= !part;
        if number == n {
            let rotation = ((32 - shift) / 2) & 15;
            return (rotation << 8 | part >> shift, rest);
        }
        number += 1;
    }
}

/// What is left of a number after its first `n` parts.
fn after_groups(value: u32, n: u32) -> u32 {
    if n == 0 { value } else { group(value, n - 1).1 }
}

/// `add` and `sub` of a part of a distance. `whole`: nothing may be left.
fn put_part<const BIG: bool>(
    out: &mut [u8],
    at: usize,
    value: i64,
    n: u32,
    whole: bool,
) -> Result<(), Failure> {
    const ADD: u32 = 0x80_0000;
    const SUB: u32 = 0x40_0000;
    let (part, rest) = group(value.unsigned_abs() as u32, n);
    let operation = if value < 0 { SUB } else { ADD };
    put_bits::<BIG>(out, at, ADD | SUB | 0xfff, operation | part);
    if whole && rest != 0 { Err(Failure::Unencodable(value)) } else { Ok(()) }
}

/// Whether an offset is added.
const UP: u32 = 0x80_0000;

/// A load, of what is left after so many parts of a distance.
fn put_load<const BIG: bool>(out: &mut [u8], at: usize, value: i64, n: u32) -> Result<(), Failure> {
    let left = after_groups(value.unsigned_abs() as u32, n);
    put_bits::<BIG>(out, at, UP | 0xfff, if value < 0 { 0 } else { UP } | left & 0xfff);
    if left < 1 << 12 { Ok(()) } else { Err(Failure::Unencodable(value)) }
}

/// A load of a byte, half a word or two words.
fn put_short_load<const BIG: bool>(out: &mut [u8], at: usize, value: i64, n: u32) -> Result<(), Failure> {
    let left = after_groups(value.unsigned_abs() as u32, n);
    let bits = (left & 0xf0) << 4 | left & 0xf;
    put_bits::<BIG>(out, at, UP | 0xf0f, if value < 0 { 0 } else { UP } | bits);
    if left < 1 << 8 { Ok(()) } else { Err(Failure::Unencodable(value)) }
}

pub const fn moved(value: u32) -> u32 {
    (value & 0xf000) << 4 | value & 0xfff
}

const fn moved_thumb(value: u32) -> u32 {
    (value & 0xf000) << 4 | (value & 0x800) << 15 | (value & 0x700) << 4 | value & 0xff
}
const MOVED_THUMB: u32 = moved_thumb(0xffff);

/// Stores a value, in data or in an instruction that is no branch.
///
/// # Errors
/// It does not fit.
pub fn put<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let low = value as u32;
    match kind {
        R_ABS16 => put_half::<BIG>(out, at, low as u16),
        R_ABS8 => out[at] = low as u8,
        R_PREL31 => put_bits::<BIG>(out, at, 0x7fff_ffff, low),
        R_MOVW_ABS_NC | R_MOVW_PREL_NC | R_MOVW_BREL_NC | R_MOVW_BREL => {
            put_bits::<BIG>(out, at, moved(0xffff), moved(low));
        }
        R_MOVT_ABS | R_MOVT_PREL | R_MOVT_BREL => put_bits::<BIG>(out, at, moved(0xffff), moved(low >> 16)),
        R_THM_MOVW_ABS_NC | R_THM_MOVW_PREL_NC | R_THM_MOVW_BREL_NC | R_THM_MOVW_BREL => {
            put_thumb::<BIG>(out, at, MOVED_THUMB, moved_thumb(low));
        }
        R_THM_MOVT_ABS | R_THM_MOVT_PREL | R_THM_MOVT_BREL => {
            put_thumb::<BIG>(out, at, MOVED_THUMB, moved_thumb(low >> 16));
        }
        R_ALU_PC_G0_NC => return put_part::<BIG>(out, at, value, 0, false),
        R_ALU_PC_G0 => return put_part::<BIG>(out, at, value, 0, true),
        R_ALU_PC_G1_NC => return put_part::<BIG>(out, at, value, 1, false),
        R_ALU_PC_G1 => return put_part::<BIG>(out, at, value, 1, true),
        R_ALU_PC_G2 => return put_part::<BIG>(out, at, value, 2, true),
        R_LDR_PC_G0 => return put_load::<BIG>(out, at, value, 0),
        R_LDR_PC_G1 => return put_load::<BIG>(out, at, value, 1),
        R_LDR_PC_G2 => return put_load::<BIG>(out, at, value, 2),
        R_LDRS_PC_G0 => return put_short_load::<BIG>(out, at, value, 0),
        R_LDRS_PC_G1 => return put_short_load::<BIG>(out, at, value, 1),
        R_LDRS_PC_G2 => return put_short_load::<BIG>(out, at, value, 2),
        R_THM_PC8 => {
            let old = half::<BIG>(out, at).unwrap_or_default();
            put_half::<BIG>(out, at, old & 0xff00 | (low >> 2) as u16 & 0xff);
            if value & 3 != 0 {
                return Err(Failure::Unaligned(value));
            }
        }
        R_THM_PC12 => {
            let size = value.unsigned_abs() as u32;
            put_thumb::<BIG>(out, at, 0x80_0fff, if value < 0 { 0 } else { UP } | size & 0xfff);
            return if size < 1 << 12 { Ok(()) } else { Err(Failure::Overflow(value)) };
        }
        R_THM_ALU_PREL_11_0 => {
            let size = value.unsigned_abs() as u32;
            let sub = if value < 0 { 0xa0_0000 } else { 0 };
            let bits = (size & 0x800) << 15 | (size & 0x700) << 4 | size & 0xff;
            put_thumb::<BIG>(out, at, 0x04f0_70ff, sub | bits);
            return if size < 1 << 12 { Ok(()) } else { Err(Failure::Overflow(value)) };
        }
        R_THM_ALU_ABS_G0_NC..=R_THM_ALU_ABS_G3 => {
            let old = half::<BIG>(out, at).unwrap_or_default();
            let part = low >> (8 * (kind - R_THM_ALU_ABS_G0_NC));
            put_half::<BIG>(out, at, old & 0xff00 | part as u16 & 0xff);
        }
        _ => put_word::<BIG>(out, at, low),
    }
    checked(kind, value)
}

/// Stores an addend where [`implicit_addend`] reads it. What does not fit is not what is read then.
pub fn put_addend<const BIG: bool>(kind: u32, bytes: &mut [u8], addend: i64) {
    let (kind, value) = match kind {
        R_MOVT_ABS | R_MOVT_PREL | R_MOVT_BREL | R_THM_MOVT_ABS | R_THM_MOVT_PREL | R_THM_MOVT_BREL => {
            (kind, addend << 16)
        }
        R_ALU_PC_G0_NC..=R_ALU_PC_G2 => (R_ALU_PC_G0, addend),
        R_LDR_PC_G1 | R_LDR_PC_G2 => (R_LDR_PC_G0, addend),
        R_LDRS_PC_G1 | R_LDRS_PC_G2 => (R_LDRS_PC_G0, addend),
        R_THM_ALU_ABS_G1_NC..=R_THM_ALU_ABS_G3 => (R_THM_ALU_ABS_G0_NC, addend),
        _ => (kind, addend),
    };
    _ = match branch_state(kind) {
        Some(_) => put_branch::<BIG>(kind, bytes, 0, Branch { distance: value, to_thumb: None, here: 0 }),
        None => put::<BIG>(kind, bytes, 0, value),
    };
}

/// As in [`crate::arch::facts::Facts`].
pub fn implicit_addend<const BIG: bool>(kind: u32, bytes: &[u8]) -> Option<i64> {
    let word = || word::<BIG>(bytes, 0);
    let half = || half::<BIG>(bytes, 0).map(u32::from);
    let thumb = || thumb::<BIG>(bytes, 0);
    let up = |code: u32, size: u32| if code & UP != 0 { i64::from(size) } else { -i64::from(size) };
    Some(match kind {
        R_NONE | R_V4BX => 0,
        R_CALL | R_PC24 | R_PLT32 | R_JUMP24 => {
            let code = word()?;
            let half_word = if kind == R_CALL && code & 0xfe00_0000 == BLX { code >> 23 & 2 } else { 0 };
            signed(code << 2, 26) | i64::from(half_word)
        }
        R_THM_CALL | R_THM_JUMP24 => signed(distance_of_long(thumb()?), 25),
        R_THM_JUMP19 => {
            let code = thumb()?;
            let (s, j1, j2) = (code >> 26 & 1, code >> 13 & 1, code >> 11 & 1);
            let low = (code >> 16 & 0x3f) << 12 | (code & 0x7ff) << 1;
            signed(s << 20 | j2 << 19 | j1 << 18 | low, 21)
        }
        R_THM_JUMP11 => signed(half()? << 1, 12),
        R_THM_JUMP8 => signed(half()? << 1, 9),
        R_PREL31 => signed(word()?, 31),
        R_ABS16 => signed(half()?, 16),
        R_ABS8 => i64::from(*bytes.first()? as i8),
        R_MOVW_ABS_NC | R_MOVT_ABS | R_MOVW_PREL_NC | R_MOVT_PREL | R_MOVW_BREL_NC | R_MOVT_BREL
        | R_MOVW_BREL => {
            let code = word()?;
            signed(code >> 4 & 0xf000 | code & 0xfff, 16)
        }
        R_THM_MOVW_ABS_NC..=R_THM_MOVT_PREL | R_THM_MOVW_BREL_NC..=R_THM_MOVW_BREL => {
            let code = thumb()?;
            let value = code >> 4 & 0xf000 | code >> 15 & 0x800 | code >> 4 & 0x700 | code & 0xff;
            signed(value, 16)
        }
        R_ALU_PC_G0_NC..=R_ALU_PC_G2 => {
            let code = word()?;
            let size = (code & 0xff).rotate_right((code >> 8 & 15) * 2);
            if code & 0x40_0000 != 0 { -i64::from(size) } else { i64::from(size) }
        }
        R_LDR_PC_G0 | R_LDR_PC_G1 | R_LDR_PC_G2 => up(word()?, word()? & 0xfff),
        R_LDRS_PC_G0..=R_LDRS_PC_G2 => up(word()?, word()? >> 4 & 0xf0 | word()? & 0xf),
        // All ones are what the processor adds, taken away.
        R_THM_PC8 => i64::from(((half()? & 0xff) * 4 + 4) & 0x3ff) - 4,
        R_THM_PC12 => up(thumb()?, thumb()? & 0xfff),
        R_THM_ALU_PREL_11_0 => {
            let code = thumb()?;
            let size = i64::from(code >> 15 & 0x800 | code >> 4 & 0x700 | code & 0xff);
            if code & 0xf0_0000 == 0xa0_0000 { -size } else { size }
        }
        R_THM_ALU_ABS_G0_NC..=R_THM_ALU_ABS_G3 => i64::from(half()? & 0xff),
        R_TARGET1 | R_TARGET2 => i64::from(word()? as i32),
        _ if TYPES.get(kind as usize)?.width == 4 => i64::from(word()? as i32),
        // What is refused is refused by its name, not for its addend.
        _ => 0,
    })
}
