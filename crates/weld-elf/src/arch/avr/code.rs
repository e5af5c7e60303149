//! Values in AVR's instructions, which are little endian words of 16 bits; a few have a second one.

use super::types::*;
use crate::arch::rules::Failure;

/// Where addresses of data begin; instructions have only what is after it.
const DATA: i64 = 0x80_0000;
/// Data that `lds` and `sts` of one word reach.
const TINY: std::ops::Range<i64> = 0x40..0xc0;

fn word(out: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([out[at], out[at + 1]])
}

fn put_word(out: &mut [u8], at: usize, value: u16) {
    out[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Changes the bits in `mask` of an instruction.
fn put_bits(out: &mut [u8], at: usize, mask: u16, value: u16) {
    put_word(out, at, word(out, at) & !mask | value & mask);
}

/// What an instruction has of an address of data: of others, all.
fn in_data(value: i64) -> i64 {
    if value >> 16 == DATA >> 16 { value - DATA } else { value }
}

/// Which byte of a value a type has.
fn byte(kind: u32, value: i64) -> u8 {
    let value = match kind {
        R_AVR_LO8_LDI_NEG | R_AVR_HI8_LDI_NEG | R_AVR_HH8_LDI_NEG | R_AVR_MS8_LDI_NEG
        | R_AVR_LO8_LDI_PM_NEG | R_AVR_HI8_LDI_PM_NEG | R_AVR_HH8_LDI_PM_NEG => value.wrapping_neg(),
        _ => value,
    };
    let shift = match kind {
        R_AVR_HI8_LDI | R_AVR_HI8_LDI_NEG | R_AVR_8_HI8 => 8,
        R_AVR_HH8_LDI | R_AVR_HH8_LDI_NEG | R_AVR_8_HLO8 => 16,
        R_AVR_MS8_LDI | R_AVR_MS8_LDI_NEG => 24,
        R_AVR_LO8_LDI_PM | R_AVR_LO8_LDI_PM_NEG | R_AVR_LO8_LDI_GS => 1,
        R_AVR_HI8_LDI_PM | R_AVR_HI8_LDI_PM_NEG | R_AVR_HI8_LDI_GS => 9,
        R_AVR_HH8_LDI_PM | R_AVR_HH8_LDI_PM_NEG => 17,
        _ => 0,
    };
    (value >> shift) as u8
}

/// Whether two words can jump to an address.
pub fn can_jump(target: u64) -> bool {
    target < 1 << 23 && target.is_multiple_of(2)
}

/// Two words that jump to an address.
pub fn put_jump(out: &mut [u8], target: u64) {
    put_word(out, 0, 0x940c);
    put_target(out, 0, target as i64);
}

/// The address that a jump or a call of two words goes to.
fn put_target(out: &mut [u8], at: usize, value: i64) {
    put_bits(out, at, 0x01f1, ((value >> 18) as u16) << 4 | (value >> 17) as u16 & 1);
    put_word(out, at + 2, (value >> 1) as u16);
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
pub fn put(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let of = &TYPES[kind as usize];
    let value = match kind {
        R_AVR_LDI | R_AVR_6 | R_AVR_6_ADIW | R_AVR_LDS_STS_16 | R_AVR_PORT5 | R_AVR_PORT6 => in_data(value),
        // Distances count from behind the instruction.
        R_AVR_7_PCREL | R_AVR_13_PCREL | AROUND_13_PCREL => value.wrapping_sub(2),
        _ => value,
    };
    if !of.fits(value) {
        return Err(Failure::Overflow(value));
    }
    if kind == R_AVR_LDS_STS_16 && !TINY.contains(&value) {
        return Err(Failure::Unencodable(value));
    }
    if !of.is_aligned(value) {
        return Err(Failure::Unaligned(value));
    }
    let low = value as u16;
    match kind {
        R_AVR_32 | R_AVR_32_PCREL => out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
        R_AVR_16 => put_word(out, at, low),
        R_AVR_16_PM => put_word(out, at, (value >> 1) as u16),
        R_AVR_8 | R_AVR_8_LO8 | R_AVR_8_HI8 | R_AVR_8_HLO8 => out[at] = byte(kind, value),
        R_AVR_7_PCREL => put_bits(out, at, 0x03f8, low << 2),
        R_AVR_13_PCREL | AROUND_13_PCREL => put_bits(out, at, 0x0fff, (value >> 1) as u16),
        R_AVR_CALL => put_target(out, at, value),
        R_AVR_6 => put_bits(out, at, 0x2c07, (low & 0x20) << 8 | (low & 0x18) << 7 | low & 7),
        R_AVR_6_ADIW => put_bits(out, at, 0x00cf, (low & 0x30) << 2 | low & 0x0f),
        R_AVR_PORT5 => put_bits(out, at, 0x00f8, low << 3),
        R_AVR_PORT6 => put_bits(out, at, 0x060f, (low & 0x30) << 5 | low & 0x0f),
        R_AVR_LDS_STS_16 => put_bits(out, at, 0x070f, (low & 0x30) << 5 | (low & 0x40) << 2 | low & 0x0f),
        // `ldi`
        _ => {
            let byte = u16::from(byte(kind, value));
            put_bits(out, at, 0x0f0f, (byte & 0xf0) << 4 | byte & 0x0f);
        }
    }
    Ok(())
}
