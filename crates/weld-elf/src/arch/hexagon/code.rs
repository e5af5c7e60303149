//! Where Hexagon's instructions have values, and how these are stored there.
//!
//! An instruction is a little-endian word. Its two *parse bits* say where a packet ends; without them it is a duplex, two
//! short instructions in one word. The bits of a value are scattered, from the lowest up.
//!
//! Specification: "Qualcomm Hexagon V79 Programmer's Reference Manual", 10 (encodings) and 10.9 (extensions).

use super::types::*;
use crate::arch::rules::Failure;
use crate::arch::words::{put_bits, word};

/// The parse bits.
const PARSE: u32 = 0xc000;
/// Where an extension has its 26 bits, and a duplex the lower six of a value.
const UPPER: u32 = 0x0fff_3fff;
const DUPLEX: u32 = 0x03f0_0000;
/// Half a register.
const HALF: u32 = 0x00c0_3fff;
/// 16 bits of a register, of a sum, and of a place in small data that is written or read.
const SET: u32 = 0x00df_3fe0;
const SUM: u32 = 0x0fe0_3fe0;
const STORE: u32 = 0x061f_20ff;
const LOAD: u32 = 0x061f_3fe0;

/// `immext(#0)`, the first of its packet; `jump`, the last.
pub const EXTEND: u32 = 0x0000_4000;
pub const JUMP: u32 = 0x5800_c000;

/// The bits of a value, from the lowest up, in those of `mask`.
const fn scattered(mask: u32, value: u32) -> u32 {
    let (mut rest, mut value, mut bits) = (mask, value, 0);
    while rest != 0 {
        let lowest = rest & rest.wrapping_neg();
        if value & 1 != 0 {
            bits |= lowest;
        }
        value >>= 1;
        rest ^= lowest;
    }
    bits
}

/// Where an instruction has the lower six bits of a value whose upper ones are in front of it; `None` if none are.
const fn low_bits(code: u32) -> Option<u32> {
    if code & PARSE == 0 {
        return Some(DUPLEX);
    }
    Some(match code >> 24 {
        0x38 | 0x39 => 0x201f,
        0x3e | 0x3f | 0x6a => 0x1f80,
        0x40 | 0x42 | 0x44 | 0x46 => 0x20f8,
        // Stores.
        0x3c | 0x48 | 0x4a | 0x4c | 0x4e | 0xa1 | 0xa3 | 0xa5 | 0xa7 | 0xab | 0xad => 0x3f,
        // The second of two.
        0x7c if code & 0x80_0000 != 0 => 0x1f_2000,
        0x41 | 0x43 | 0x45 | 0x47 | 0x49 | 0x4b | 0x4d | 0x4f => 0x7e0,
        0x73..=0x76 | 0x78 | 0x7a..=0x7c | 0x7e | 0x90..=0x97 | 0xb0..=0xbf | 0xda | 0xdd => 0x7e0,
        0xe0..=0xe2 => 0x7e0,
        0x9a..=0x9d => 0xf60,
        0x9f => 0x1f_0100,
        0xaf => 0x3_0078,
        0xd7 | 0xd8 | 0xdb | 0xdf => 0x60_20e0,
        0xde => 0x20_20e8,
        _ => return None,
    })
}

/// Where an instruction has a whole value of 16 bits.
const fn short_bits(code: u32) -> Option<u32> {
    match code >> 24 {
        _ if code & PARSE == 0 => None,
        0x78 => Some(SET),
        0xb0..=0xbf => Some(SUM),
        _ => None,
    }
}

/// The same of an instruction that counts from the register for small data.
const fn small_bits(code: u32) -> Option<u32> {
    match code >> 24 {
        _ if code & PARSE == 0 => None,
        0x48 | 0x4a | 0x4c | 0x4e => Some(STORE),
        0x49 | 0x4b | 0x4d | 0x4f => Some(LOAD),
        _ => None,
    }
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
///
/// # Errors
/// It does not fit, or the instruction is none that has such a value.
#[inline]
pub fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
    let of = &TYPES[kind as usize];
    // Values wrap around with addresses.
    let (value, signed) = (value as u32, i64::from(value as i32));
    let code = || word::<false>(out, at).unwrap_or_default();
    let (mask, bits) = match form(kind) {
        Form::Data => {
            let width = usize::from(of.width);
            out[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            return if of.fits(signed) { Ok(()) } else { Err(Failure::Overflow(signed)) };
        }
        Form::Branch(mask) => (mask, value >> 2),
        Form::LowOfBranch(mask) => (mask, value & 0x3f),
        Form::Low => (low_bits(code()).ok_or(Failure::Form)?, value),
        Form::Upper if code() >> 28 != 0 || code() & PARSE == 0 => return Err(Failure::Form),
        Form::Upper => (UPPER, value >> 6),
        Form::Half(from) => (HALF, value >> from),
        Form::Short => (short_bits(code()).ok_or(Failure::Form)?, value),
        Form::Small(unit) => (small_bits(code()).ok_or(Failure::Form)?, value >> unit),
    };
    put_bits::<false>(out, at, mask, scattered(mask, bits));
    if !of.fits(signed) {
        return Err(Failure::Overflow(signed));
    }
    if of.is_aligned(signed) { Ok(()) } else { Err(Failure::Unaligned(signed)) }
}

/// `immext` and an instruction of this packet that has the lower six bits where `mask` says.
pub const fn extended(code: u32, mask: u32, value: u32) -> [u32; 2] {
    [EXTEND | scattered(UPPER, value >> 6), code | scattered(mask, value & 0x3f)]
}

/// `jump` of any distance.
pub const fn far_jump(distance: u32) -> [u32; 2] {
    extended(JUMP, 0x01ff_3ffe, distance)
}

/// `add(pc, ##…)` into a register, the last of its packet.
pub const fn add_pc(register: u32, distance: u32) -> [u32; 2] {
    extended(0x6a49_c000 | register, 0x1f80, distance)
}
