//! SPARC's instructions: where values are in them, and those that the linker writes.
//!
//! An instruction is a big-endian word: the operation, a register that takes the result (`rd`), one or two that
//! have the operands (`rs1`, `rs2`), or an immediate of 13 bits with a sign in place of the second.
//!
//! Specification: "The SPARC Architecture Manual", version 9, chapter 6 and appendix A.

use super::types::*;
use crate::arch::rules::Failure;
use crate::arch::words::put_bits;

pub const NOP: u32 = 0x0100_0000;
/// `sethi 0, %g1`
pub const SETHI_G1: u32 = 0x0300_0000;

pub const G1: u32 = 1;
/// Where thread-local storage ends.
pub const G7: u32 = 7;
pub const O0: u32 = 8;

const ADD: u32 = 0x8000_0000;
const OR: u32 = 0x8010_0000;
const LDX: u32 = 0xc058_0000;
/// The operation and what says that there is an immediate.
const OPERATION: u32 = 0xc1f8_2000;
/// The bits between the second register and the first, which are 0 in these.
const BETWEEN: u32 = 0x1fe0;

/// An operation of two registers.
const fn of_registers(operation: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    operation | rd << 25 | rs1 << 14 | rs2
}

pub const fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    of_registers(ADD, rd, rs1, rs2)
}

/// `mov`
pub const fn copy(rd: u32, rs: u32) -> u32 {
    of_registers(OR, rd, 0, rs)
}

pub const fn load(rd: u32, rs1: u32, rs2: u32) -> u32 {
    of_registers(LDX, rd, rs1, rs2)
}

pub const fn rd(code: u32) -> u32 {
    code >> 25 & 31
}

pub const fn rs1(code: u32) -> u32 {
    code >> 14 & 31
}

pub const fn rs2(code: u32) -> u32 {
    code & 31
}

pub const fn is_add(code: u32) -> bool {
    code & (OPERATION | BETWEEN) == ADD
}

/// `ldx`, of 8 bytes.
pub const fn is_load(code: u32) -> bool {
    code & (OPERATION | BETWEEN) == LDX
}

/// `add` of an immediate.
pub const fn is_add_of_immediate(code: u32) -> bool {
    code & OPERATION == ADD | 0x2000
}

/// `add` of an immediate → `xor`
pub const fn to_xor(code: u32) -> u32 {
    code | 0x0018_0000
}

pub const fn is_sethi(code: u32) -> bool {
    code & 0xc1c0_0000 == 0x0100_0000
}

pub const fn is_call(code: u32) -> bool {
    code >> 30 == 1
}

/// The upper 22 bits of 32, of a value with a sign or its complement.
pub const fn high_of_signed(value: i64) -> u32 {
    ((if value < 0 { !value } else { value }) >> 10) as u32 & 0x3f_ffff
}

/// The lower 10 bits; of a negative value all bits above them in 13 bits, too.
pub const fn low_of_signed(value: i64) -> u32 {
    value as u32 & 0x3ff | if value < 0 { 0x1c00 } else { 0 }
}

/// Stores the value of a relocation of type `kind`, whose field is within `out`.
///
/// # Errors
/// It does not fit.
pub fn put(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    if let Some(more) = added(kind) {
        let sum = (value & 0x3ff) + more;
        put_bits::<true>(out, at, 0x1fff, sum as u32);
        return if (-0x1000..0x1000).contains(&sum) { Ok(()) } else { Err(Failure::Overflow(sum)) };
    }
    let of = &TYPES[kind as usize];
    match form(kind) {
        Form::Data => {
            let width = usize::from(of.width);
            out[at..at + width].copy_from_slice(&value.to_be_bytes()[8 - width..]);
        }
        Form::Turned => out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
        Form::Bits { from, count } => {
            put_bits::<true>(out, at, u32::MAX >> (32 - count), (value >> from) as u32)
        }
        Form::HighOfSigned => put_bits::<true>(out, at, 0x3f_ffff, high_of_signed(value)),
        Form::LowOfSigned => put_bits::<true>(out, at, 0x1fff, low_of_signed(value)),
        Form::Words16 => {
            let words = (value >> 2) as u32;
            put_bits::<true>(out, at, 0x30_3fff, (words & 0xc000) << 6 | words & 0x3fff);
        }
        Form::Words10 => {
            let words = (value >> 2) as u32;
            put_bits::<true>(out, at, 0x18_1fe0, (words & 0x300) << 11 | (words & 0xff) << 5);
        }
        Form::Nothing => {}
    }
    if !of.is_aligned(value) {
        return Err(Failure::Unaligned(value));
    }
    if of.fits(value) { Ok(()) } else { Err(Failure::Overflow(value)) }
}
