//! Values in instructions of PowerPC with 32 bits, beside what both widths have ([`crate::arch::powerpc`]).

use super::types::*;
pub use crate::arch::powerpc::*;
use crate::arch::rules::Failure;

pub const LWZU: u32 = 33 << 26;
pub const MFLR_R11: u32 = 0x7d68_02a6;
pub const MFLR_R12: u32 = 0x7d88_02a6;
pub const MTCTR_R0: u32 = 0x7c09_03a6;
pub const MTCTR_R11: u32 = 0x7d69_03a6;

/// `lis to, value`
pub const fn lis(to: u32, value: u32) -> u32 {
    d_form(ADDIS, to, 0, value)
}

/// Stores a value, in data or in an instruction. Addresses have 32 bits, and wrap around.
///
/// # Errors
/// It does not fit.
#[inline]
pub fn put<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    let of = &TYPES[kind as usize];
    let value = i64::from(value as i32);
    match part(kind) {
        Part::Word if of.width == 0 => {}
        Part::Word => put_word::<BIG>(out, at, value as u32),
        Part::Low => put_half::<BIG>(out, at, value as u16),
        Part::High => put_half::<BIG>(out, at, (value >> 16) as u16),
        Part::Adjusted => put_half::<BIG>(out, at, ha(value) as u16),
        Part::Far => {
            put_bits::<BIG>(out, at, 0x03ff_fffc, value as u32);
            return check_branch(of, value);
        }
        Part::Near { likely } => {
            put_bits::<BIG>(out, at, 0xfffc, value as u32);
            if let Some(taken) = likely {
                // The bit is relative to what processors guess of themselves: that branches back are taken.
                let other = taken != (value < 0);
                put_bits::<BIG>(out, at, LIKELY, if other { LIKELY } else { 0 });
            }
            return check_branch(of, value);
        }
    }
    if of.fits(value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}

/// The bit of a conditional branch that says that processors guess wrongly.
const LIKELY: u32 = 1 << 21;
