//! How values of AArch64's relocation types are stored in instructions. Their fields, and the instructions
//! that linkers make, are [`weld_common::aarch64`]'s.

use super::types::*;
use crate::arch::rules::Failure;
pub use weld_common::aarch64::*;

/// Whether a value of this type fits, and is aligned as it has to be.
#[inline(always)]
pub fn checked(kind: u32, value: i64) -> Result<(), Failure> {
    let kind = &TYPES[kind as usize];
    if !kind.fits(value) {
        return Err(Failure::Overflow(value));
    }
    if kind.is_aligned(value) { Ok(()) } else { Err(Failure::Unaligned(value)) }
}

/// `b` and `bl`
#[inline(always)]
pub fn put_branch(out: &mut [u8], at: usize, distance: i64) -> Result<(), Failure> {
    put_bits(out, at, 0x03ff_ffff, (distance >> 2) as u32);
    checked(R_CALL26, distance)
}

/// A literal load, or a branch on a condition.
fn put_19(out: &mut [u8], at: usize, value: i64) {
    put_bits(out, at, 0x7_ffff << 5, ((value >> 2) as u32) << 5);
}

/// 16 bits of a value that is not negative.
fn put_16(out: &mut [u8], at: usize, value: i64, shift: u32) {
    put_bits(out, at, 0xffff << 5, ((value >> shift) as u32) << 5);
}

/// 16 bits of a value with its sign: `movn` stores the complement of what is negative. `movk` stores the bits
/// as they are.
fn put_signed_16(out: &mut [u8], at: usize, value: i64, shift: u32) {
    const KEEPS: u32 = 1 << 29;
    const POSITIVE: u32 = 1 << 30;
    if instruction(out, at).is_some_and(|code| code & KEEPS != 0) {
        return put_16(out, at, value, shift);
    }
    put_bits(out, at, POSITIVE, if value < 0 { 0 } else { POSITIVE });
    put_16(out, at, if value < 0 { !value } else { value }, shift);
}

/// Stores a value in an instruction.
#[inline]
pub fn put(kind: u32, out: &mut [u8], at: usize, value: i64) {
    match kind {
        R_CALL26 | R_JUMP26 => put_bits(out, at, 0x03ff_ffff, (value >> 2) as u32),
        R_PATCHINST => put_bits(out, at, u32::MAX, value as u32),
        R_CONDBR19
        | R_LD_PREL_LO19
        | R_GOT_LD_PREL19
        | R_AUTH_GOT_LD_PREL19
        | R_TLSLD_LD_PREL19
        | R_TLSIE_LD_GOTTPREL_PREL19
        | R_TLSDESC_LD_PREL19 => put_19(out, at, value),
        R_TSTBR14 => put_bits(out, at, 0x3fff << 5, ((value >> 2) as u32) << 5),
        R_ADR_PREL_LO21
        | R_TLSGD_ADR_PREL21
        | R_TLSLD_ADR_PREL21
        | R_TLSDESC_ADR_PREL21
        | R_AUTH_GOT_ADR_PREL_LO21 => {
            put_address(out, at, value);
        }
        R_ADR_PREL_PG_HI21
        | R_ADR_PREL_PG_HI21_NC
        | R_ADR_GOT_PAGE
        | R_TLSGD_ADR_PAGE21
        | R_TLSLD_ADR_PAGE21
        | R_TLSIE_ADR_GOTTPREL_PAGE21
        | R_TLSDESC_ADR_PAGE21
        | R_AUTH_ADR_GOT_PAGE
        | R_AUTH_TLSDESC_ADR_PAGE21 => put_pages(out, at, value),
        R_TLSLD_ADD_DTPREL_HI12 | R_TLSLE_ADD_TPREL_HI12 => put_low(out, at, value >> 12, 0),
        R_LD64_GOTOFF_LO15 | R_LD64_GOTPAGE_LO15 => {
            put_bits(out, at, 0xfff << 10, ((value >> 3) as u32) << 10)
        }
        _ => match (low_scale(kind), move_shift(kind)) {
            (Some(scale), _) => put_low(out, at, value, scale),
            (None, Some((shift, false))) => put_16(out, at, value, shift),
            (None, Some((shift, true))) => put_signed_16(out, at, value, shift),
            // Marks.
            (None, None) => {}
        },
    }
}

/// For the low 12 bits of something: by what the instruction counts, as a power of two.
fn low_scale(kind: u32) -> Option<u32> {
    Some(match kind {
        R_ADD_ABS_LO12_NC
        | R_LDST8_ABS_LO12_NC
        | R_TLSGD_ADD_LO12_NC
        | R_TLSLD_ADD_LO12_NC
        | R_TLSLD_ADD_DTPREL_LO12
        | R_TLSLD_ADD_DTPREL_LO12_NC
        | R_TLSLD_LDST8_DTPREL_LO12
        | R_TLSLD_LDST8_DTPREL_LO12_NC
        | R_TLSLE_ADD_TPREL_LO12
        | R_TLSLE_ADD_TPREL_LO12_NC
        | R_TLSLE_LDST8_TPREL_LO12
        | R_TLSLE_LDST8_TPREL_LO12_NC
        | R_TLSDESC_ADD_LO12
        | R_AUTH_GOT_ADD_LO12_NC
        | R_AUTH_TLSDESC_ADD_LO12 => 0,
        R_LDST16_ABS_LO12_NC
        | R_TLSLD_LDST16_DTPREL_LO12
        | R_TLSLD_LDST16_DTPREL_LO12_NC
        | R_TLSLE_LDST16_TPREL_LO12
        | R_TLSLE_LDST16_TPREL_LO12_NC => 1,
        R_LDST32_ABS_LO12_NC
        | R_TLSLD_LDST32_DTPREL_LO12
        | R_TLSLD_LDST32_DTPREL_LO12_NC
        | R_TLSLE_LDST32_TPREL_LO12
        | R_TLSLE_LDST32_TPREL_LO12_NC => 2,
        R_LDST64_ABS_LO12_NC
        | R_LD64_GOT_LO12_NC
        | R_TLSLD_LDST64_DTPREL_LO12
        | R_TLSLD_LDST64_DTPREL_LO12_NC
        | R_TLSIE_LD64_GOTTPREL_LO12_NC
        | R_TLSLE_LDST64_TPREL_LO12
        | R_TLSLE_LDST64_TPREL_LO12_NC
        | R_TLSDESC_LD64_LO12
        | R_AUTH_LD64_GOT_LO12_NC
        | R_AUTH_TLSDESC_LD64_LO12 => 3,
        R_LDST128_ABS_LO12_NC
        | R_TLSLD_LDST128_DTPREL_LO12
        | R_TLSLD_LDST128_DTPREL_LO12_NC
        | R_TLSLE_LDST128_TPREL_LO12
        | R_TLSLE_LDST128_TPREL_LO12_NC => 4,
        _ => return None,
    })
}

/// For 16 bits of something: the lowest of them, and whether the instruction follows the value's sign.
fn move_shift(kind: u32) -> Option<(u32, bool)> {
    Some(match kind {
        R_MOVW_UABS_G0 | R_MOVW_UABS_G0_NC => (0, false),
        R_MOVW_UABS_G1 | R_MOVW_UABS_G1_NC => (16, false),
        R_MOVW_UABS_G2 | R_MOVW_UABS_G2_NC => (32, false),
        // What is highest has no sign to follow.
        R_MOVW_UABS_G3 | R_MOVW_PREL_G3 | R_MOVW_GOTOFF_G3 => (48, false),
        R_MOVW_SABS_G0
        | R_MOVW_PREL_G0
        | R_MOVW_PREL_G0_NC
        | R_MOVW_GOTOFF_G0
        | R_MOVW_GOTOFF_G0_NC
        | R_TLSGD_MOVW_G0_NC
        | R_TLSLD_MOVW_G0_NC
        | R_TLSLD_MOVW_DTPREL_G0
        | R_TLSLD_MOVW_DTPREL_G0_NC
        | R_TLSIE_MOVW_GOTTPREL_G0_NC
        | R_TLSLE_MOVW_TPREL_G0
        | R_TLSLE_MOVW_TPREL_G0_NC
        | R_TLSDESC_OFF_G0_NC => (0, true),
        R_MOVW_SABS_G1
        | R_MOVW_PREL_G1
        | R_MOVW_PREL_G1_NC
        | R_MOVW_GOTOFF_G1
        | R_MOVW_GOTOFF_G1_NC
        | R_TLSGD_MOVW_G1
        | R_TLSLD_MOVW_G1
        | R_TLSLD_MOVW_DTPREL_G1
        | R_TLSLD_MOVW_DTPREL_G1_NC
        | R_TLSIE_MOVW_GOTTPREL_G1
        | R_TLSLE_MOVW_TPREL_G1
        | R_TLSLE_MOVW_TPREL_G1_NC
        | R_TLSDESC_OFF_G1 => (16, true),
        R_MOVW_SABS_G2
        | R_MOVW_PREL_G2
        | R_MOVW_PREL_G2_NC
        | R_MOVW_GOTOFF_G2
        | R_MOVW_GOTOFF_G2_NC
        | R_TLSLD_MOVW_DTPREL_G2
        | R_TLSLE_MOVW_TPREL_G2 => (32, true),
        _ => return None,
    })
}
