//! MIPS: storing values in instructions, and reading addends there.
//!
//! Instructions are words of 4 bytes in the byte order of data; those of microMIPS are one or two halves of 2 bytes. Two of them make an address: the lower one
//! adds 16 bits with a sign, so the upper one has half of their range added.

use super::types::*;
use crate::arch::rules::Failure;
pub use crate::arch::words::{put_word, put_words};
use crate::elf::format::{Class as ElfClass, Format, Order};

pub const fn format(big: bool, class: ElfClass) -> Format {
    Format { class, order: if big { Order::Big } else { Order::Little } }
}

/// An instruction of microMIPS with 4 bytes: its upper half comes first, in either byte order.
fn micro_word<const BIG: bool>(bytes: &[u8], at: usize) -> u32 {
    let code = word::<BIG>(bytes, at);
    if BIG { code } else { code.rotate_left(16) }
}

/// Stores one.
pub fn put_micro_word<const BIG: bool>(out: &mut [u8], at: usize, code: u32) {
    put_word::<BIG>(out, at, if BIG { code } else { code.rotate_left(16) });
}

/// Stores several, one after the other.
pub fn put_micro_words<const BIG: bool>(out: &mut [u8], codes: &[u32]) {
    for (i, code) in codes.iter().enumerate() {
        put_micro_word::<BIG>(out, 4 * i, *code);
    }
}

/// `lui` in microMIPS, which release 6 has another one of.
pub fn micro_upper(is_newest: bool, register: u32, upper: u32) -> u32 {
    if is_newest { 0x1000_0000 | register << 21 | upper } else { 0x41a0_0000 | register << 16 | upper }
}

/// The instruction that a relocation is of.
pub fn instruction<const BIG: bool>(kind: u32, bytes: &[u8], at: usize) -> u32 {
    match TYPES[kind as usize].width {
        2 => {
            let half = [bytes[at], bytes[at + 1]];
            u32::from(if BIG { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) })
        }
        _ if is_micro(kind) => micro_word::<BIG>(bytes, at),
        _ => word::<BIG>(bytes, at),
    }
}

/// Stores it.
pub fn put_instruction<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, code: u32) {
    match TYPES[kind as usize].width {
        2 => {
            let half = code as u16;
            out[at..at + 2].copy_from_slice(&if BIG { half.to_be_bytes() } else { half.to_le_bytes() });
        }
        _ if is_micro(kind) => put_micro_word::<BIG>(out, at, code),
        _ => put_word::<BIG>(out, at, code),
    }
}

pub fn word<const BIG: bool>(bytes: &[u8], at: usize) -> u32 {
    let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if BIG { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// What the upper instruction has of a value.
pub const fn high(value: u64) -> u32 {
    (value.wrapping_add(0x8000) >> 16) as u32 & 0xffff
}

/// The two above, of addresses with 64 bits.
pub const fn higher(value: u64) -> u32 {
    (value.wrapping_add(0x8000_8000) >> 32) as u32 & 0xffff
}

pub const fn highest(value: u64) -> u32 {
    (value.wrapping_add(0x8000_8000_8000) >> 48) as u32
}

/// What the lower one has.
pub const fn low(value: u64) -> u32 {
    value as u32 & 0xffff
}

/// The start of the 64 KiB that an address is near: what 16 bits with a sign reach it from.
pub const fn page(address: u64) -> u64 {
    address.wrapping_add(0x8000) & !0xffff
}

/// Replaces the low `bits` bits of the instruction that a relocation is of.
fn put_field<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, bits: u32, value: u32) {
    let mask = (1 << bits) - 1;
    let code = instruction::<BIG>(kind, out, at);
    put_instruction::<BIG>(kind, out, at, code & !mask | value & mask);
}

/// Whether a jump at `here` can go to `target`: its upper bits are those of the instruction after it. The region has so
/// many bits.
pub fn is_in_region(here: u64, target: u64, (bits, wide): (u32, bool)) -> bool {
    let region = |address: u64| if wide { address } else { u64::from(address as u32) } >> bits;
    region(here.wrapping_add(4)) == region(target)
}

/// The bits of the region of a jump: those of microMIPS store one more of the low ones of what they go to, unless that
/// is other code.
pub fn region_bits(kind: u32, is_micro_target: bool) -> u32 {
    if is_micro(kind) && is_micro_target { 27 } else { 28 }
}

/// Stores the value of a relocation. Addresses have the width that `wide` says.
pub fn put<const BIG: bool, const WIDE: bool>(
    kind: u32,
    out: &mut [u8],
    at: usize,
    value: u64,
) -> Result<(), Failure> {
    // Values wrap around with addresses.
    let value = if WIDE { value as i64 } else { i64::from(value as u32 as i32) };
    let bits = value as u64;
    let of = &if WIDE { &TYPES_64 } else { &TYPES_32 }[kind as usize];
    match kind {
        R_HI16 | R_GOT_HI16 | R_CALL_HI16 | R_TLS_DTPREL_HI16 | R_TLS_TPREL_HI16 | R_PCHI16 | GP_HI16
        | BACK_HI16 | M_HI16 | M_GOT_HI16 | M_CALL_HI16 | M_TLS_DTPREL_HI16 | M_TLS_TPREL_HI16
        | M_GP_HI16 => put_field::<BIG>(kind, out, at, 16, high(bits)),
        R_LO16 | R_GOT_LO16 | R_CALL_LO16 | R_TLS_DTPREL_LO16 | R_TLS_TPREL_LO16 | R_PCLO16 | GP_LO16
        | BACK_LO16 | M_LO16 | M_GOT_LO16 | M_CALL_LO16 | M_TLS_DTPREL_LO16 | M_TLS_TPREL_LO16
        | M_GP_LO16 => put_field::<BIG>(kind, out, at, 16, low(bits)),
        R_HIGHER | M_HIGHER => put_field::<BIG>(kind, out, at, 16, higher(bits)),
        R_HIGHEST | M_HIGHEST => put_field::<BIG>(kind, out, at, 16, highest(bits)),
        R_26 | PIC_26 | M_26 | M_PIC_26 => {
            if !of.is_aligned(value) {
                return Err(Failure::Unaligned(value));
            }
            put_field::<BIG>(kind, out, at, 26, (bits >> of.align.trailing_zeros()) as u32);
        }
        R_PC16 | R_PC19 | R_PC21 | R_PC26 | PIC_PC26 | R_PC18 | M_PC7 | M_PC10 | M_PC16 | M_PC18 | M_PC19
        | M_PC21 | M_PC23 | M_PC26 | M_PIC_PC26 | M_GPREL7 => {
            if !of.is_aligned(value) {
                return Err(Failure::Unaligned(value));
            }
            if !of.fits(value) {
                return Err(Failure::Overflow(value));
            }
            let shift = of.align.trailing_zeros();
            put_field::<BIG>(kind, out, at, u32::from(of.bits) - shift, (value >> shift) as u32);
        }
        // Whether it fits is asked in memory only: tables for debuggers (`.pdr`) have no wider fields.
        R_32 | R_REL32 => put_word::<BIG>(out, at, bits as u32),
        _ if of.width == 8 => {
            out[at..at + 8].copy_from_slice(&if BIG { bits.to_be_bytes() } else { bits.to_le_bytes() });
        }
        _ => {
            if !of.fits(value) {
                return Err(Failure::Overflow(value));
            }
            match of.bits {
                16 => put_field::<BIG>(kind, out, at, 16, low(bits)),
                _ => put_word::<BIG>(out, at, bits as u32),
            }
        }
    }
    Ok(())
}

/// The addend that the place of a relocation has. That of an upper half is without what the lower one adds.
pub fn implicit_addend<const BIG: bool>(kind: u32, bytes: &[u8]) -> Option<i64> {
    let format = format(BIG, ElfClass::Elf32);
    let of = TYPES.get(kind as usize)?;
    let bits = |code: u32, bits: u32| i64::from((code << (32 - bits)) as i32 >> (32 - bits));
    match kind {
        _ if of.width == 8 => return Some(format.get(bytes.get(..8)?) as i64),
        _ if of.width == 0 => return Some(0),
        _ => {}
    }
    bytes.get(..usize::from(of.width))?;
    let code = instruction::<BIG>(kind, bytes, 0);
    Some(match kind {
        R_HI16 | R_GOT16 | R_PCHI16 | R_TLS_DTPREL_HI16 | R_TLS_TPREL_HI16 | M_HI16 | M_GOT16
        | M_TLS_DTPREL_HI16 | M_TLS_TPREL_HI16 => bits(code, 16) << 16,
        R_26 => bits(code, 26) << 2,
        M_26 => bits(code, 26) << 1,
        _ if is_micro(kind) && of.align > 1 => {
            let shift = of.align.trailing_zeros();
            bits(code, u32::from(of.bits) - shift) << shift
        }
        R_PC16 => bits(code, 16) << 2,
        R_PC19 => bits(code, 19) << 2,
        R_PC21 => bits(code, 21) << 2,
        R_PC26 => bits(code, 26) << 2,
        R_PC18 => bits(code, 18) << 3,
        _ if of.bits == 16 => bits(code, 16),
        _ => bits(code, 32),
    })
}

/// Stores it there.
pub fn store_addend<const BIG: bool>(kind: u32, bytes: &mut [u8], addend: i64) {
    let Some(of) = TYPES.get(kind as usize) else { return };
    match of.width {
        8 => {
            bytes[..8].copy_from_slice(&if BIG { addend.to_be_bytes() } else { addend.to_le_bytes() });
        }
        2 | 4 => {
            let value = addend as u64;
            match kind {
                M_26 => put_field::<BIG>(kind, bytes, 0, 26, (value >> 1) as u32),
                _ if is_micro(kind) && of.align > 1 => {
                    let shift = of.align.trailing_zeros();
                    put_field::<BIG>(kind, bytes, 0, u32::from(of.bits) - shift, (value >> shift) as u32);
                }
                R_HI16 | R_GOT16 | R_PCHI16 | R_TLS_DTPREL_HI16 | R_TLS_TPREL_HI16 | M_HI16 | M_GOT16
                | M_TLS_DTPREL_HI16 | M_TLS_TPREL_HI16 => {
                    put_field::<BIG>(kind, bytes, 0, 16, high(value));
                }
                R_26 | R_PC26 => put_field::<BIG>(kind, bytes, 0, 26, (value >> 2) as u32),
                R_PC16 => put_field::<BIG>(kind, bytes, 0, 16, (value >> 2) as u32),
                R_PC19 => put_field::<BIG>(kind, bytes, 0, 19, (value >> 2) as u32),
                R_PC21 => put_field::<BIG>(kind, bytes, 0, 21, (value >> 2) as u32),
                R_PC18 => put_field::<BIG>(kind, bytes, 0, 18, (value >> 3) as u32),
                _ if of.bits == 16 => put_field::<BIG>(kind, bytes, 0, 16, low(value)),
                _ => put_word::<BIG>(bytes, 0, value as u32),
            }
        }
        _ => {}
    }
}

/// The type of the lower half that has the rest of an upper half's addend.
pub fn lower_half(kind: u32, is_local: bool) -> Option<u32> {
    match kind {
        R_HI16 => Some(R_LO16),
        R_GOT16 if is_local => Some(R_LO16),
        R_PCHI16 => Some(R_PCLO16),
        R_TLS_DTPREL_HI16 => Some(R_TLS_DTPREL_LO16),
        R_TLS_TPREL_HI16 => Some(R_TLS_TPREL_LO16),
        M_HI16 => Some(M_LO16),
        M_GOT16 if is_local => Some(M_LO16),
        M_TLS_DTPREL_HI16 => Some(M_TLS_DTPREL_LO16),
        M_TLS_TPREL_HI16 => Some(M_TLS_TPREL_LO16),
        _ => None,
    }
}
