//! Values in instructions of PowerPC with 64 bits: reading and writing them, beside what both widths have
//! ([`crate::arch::powerpc`]). A prefixed instruction is two words, the prefix first, and does not cross a
//! multiple of 64 bytes.
//!
//! Specification: "Power ISA", Book I, 1.6 "Instruction Formats".

use super::types::*;
pub use crate::arch::powerpc::*;
use crate::arch::rules::Failure;

/// `ld r2, 0(r1)`, and where in the stack frame the caller's TOC is, after a call.
pub const RESTORE_TOC: u32 = 0xe841_0000;
/// `std r2, 0(r1)`, and that place.
pub const SAVE_TOC: u32 = 0xf841_0000;
pub const V1_SAVED_TOC: u32 = 40;
pub const V2_SAVED_TOC: u32 = 24;
/// Prefixes of instructions that count from themselves: one that is 8 bytes of its own form, and one that
/// changes the form of another.
pub const PREFIX_PLD: u32 = 0x0410_0000;
pub const PREFIX_PADDI: u32 = 0x0610_0000;
/// `paddi` from a register.
pub const PREFIX_PADDI_FROM: u32 = 0x0600_0000;
pub const PLD: u32 = 57 << 26;

pub const R13: u32 = 13;

pub const fn fits_34(value: i64) -> bool {
    value >> 33 == 0 || value >> 33 == -1
}

/// The two words of a prefixed instruction with a value of 34 bits.
pub const fn with_34(prefix: u32, suffix: u32, value: i64) -> [u32; 2] {
    [prefix & !0x3_ffff | (value >> 16) as u32 & 0x3_ffff, suffix & !0xffff | value as u32 & 0xffff]
}

/// Whether the last four bits of an instruction with DS bits are the operation's (DQ form): `lxv`, `stxv`,
/// `lq`.
fn is_dq(code: u32) -> bool {
    match code >> 26 {
        // `lxvp`, `stxvp`; `lq`
        6 | 56 => true,
        61 => matches!(code & 7, 1 | 5),
        _ => false,
    }
}

/// Stores a value, in data or in an instruction.
///
/// # Errors
/// It does not fit.
#[inline]
pub fn put<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let of = &TYPES[kind as usize];
    let overflow = |fits: bool| if fits { Ok(()) } else { Err(Failure::Overflow(value)) };
    match part(kind) {
        Part::Data => {
            match of.width {
                8 => {
                    let bytes = if BIG { value.to_be_bytes() } else { value.to_le_bytes() };
                    out[at..at + 8].copy_from_slice(&bytes);
                }
                4 => put_word::<BIG>(out, at, value as u32),
                _ => {}
            }
            overflow(of.fits(value))
        }
        Part::Half { shift, adjusted } => {
            let whole = if adjusted { value.wrapping_add(0x8000) } else { value };
            put_half::<BIG>(out, at, (whole >> shift) as u16);
            overflow(of.fits(whole))
        }
        Part::Ds => {
            let old = half::<BIG>(out, at);
            let code = word::<BIG>(out, start(at)).unwrap_or_default();
            let mask = if is_dq(code) { 15 } else { 3 };
            put_half::<BIG>(out, at, old & mask | value as u16 & !mask);
            if value & i64::from(mask) != 0 {
                return Err(if mask == 3 { Failure::Unaligned(value) } else { Failure::Unencodable(value) });
            }
            overflow(of.fits(value))
        }
        Part::Far => {
            put_bits::<BIG>(out, at, 0x03ff_fffc, value as u32);
            check_branch(of, value)
        }
        Part::Near => {
            put_bits::<BIG>(out, at, 0xfffc, value as u32);
            check_branch(of, value)
        }
        Part::Prefixed => {
            let prefix = word::<BIG>(out, at).unwrap_or_default();
            let suffix = word::<BIG>(out, at + 4).unwrap_or_default();
            let [prefix, suffix] = with_34(prefix, suffix, value);
            put_word::<BIG>(out, at, prefix);
            put_word::<BIG>(out, at + 4, suffix);
            overflow(fits_34(value))
        }
    }
}
