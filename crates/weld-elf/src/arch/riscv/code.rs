//! RISC-V's instructions: their fields, and the few that the linker makes.
//!
//! An instruction has 4 bytes, or 2 if it is a compressed one. An address or distance is made by two
//! instructions: the first has its upper 20 bits, the second adds its lower 12, which have a sign. So the
//! upper ones are those of the value and 0x800.
//!
//! Specification: "The RISC-V Instruction Set Manual", volume I (base formats, "C" extension).

use super::types::*;
use crate::arch::class::Type;
use crate::arch::rules::Failure;

/// Registers: always 0, return address, stack, global and thread pointer, temporary ones.
pub const ZERO: u32 = 0;
pub const SP: u32 = 2;
pub const GP: u32 = 3;
pub const TP: u32 = 4;
pub const T0: u32 = 5;
pub const T1: u32 = 6;
pub const T2: u32 = 7;
pub const A0: u32 = 10;
pub const T3: u32 = 28;

pub const NOP: u32 = 0x0000_0013;
/// `c.nop`
pub const SHORT_NOP: u16 = 0x0001;
/// `c.j`, `c.jal` (only where addresses have 32 bits)
pub const SHORT_JUMP: u16 = 0xa001;
pub const SHORT_CALL: u16 = 0x2001;
/// `c.lui`, without its register and value.
pub const SHORT_LUI: u16 = 0x6001;

const AUIPC: u32 = 0x17;
const LUI: u32 = 0x37;
const ADDI: u32 = 0x13;
const JAL: u32 = 0x6f;

/// The instruction at `at`; `None` if it is not all there.
pub fn instruction(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline(always)]
pub fn put_instruction(out: &mut [u8], at: usize, code: u32) {
    out[at..at + 4].copy_from_slice(&code.to_le_bytes());
}

pub fn put_short(out: &mut [u8], at: usize, code: u16) {
    out[at..at + 2].copy_from_slice(&code.to_le_bytes());
}

/// The register that an instruction writes.
pub fn to(code: u32) -> u32 {
    code >> 7 & 31
}

/// The first register that it reads.
pub fn from(code: u32) -> u32 {
    code >> 15 & 31
}

/// The same instruction reading another register first.
pub fn reading(code: u32, register: u32) -> u32 {
    code & !(31 << 15) | register << 15
}

/// `auipc rN, …`
pub fn is_auipc(code: u32) -> bool {
    code & 0x7f == AUIPC
}

/// `auipc rN, upper half of value`
pub fn auipc(register: u32, value: i64) -> u32 {
    AUIPC | register << 7 | upper(value)
}

/// `lui rN, upper half of value`
pub fn lui(register: u32, value: i64) -> u32 {
    LUI | register << 7 | upper(value)
}

/// `addi rN, rM, lower half of value`
pub fn addi(to: u32, from: u32, value: i64) -> u32 {
    ADDI | to << 7 | from << 15 | lower(value)
}

/// `ld rN, lower half of value(rM)`, or `lw` where addresses have 32 bits.
pub fn load(wide: bool, to: u32, from: u32, value: i64) -> u32 {
    let width = if wide { 3 } else { 2 };
    0x03 | width << 12 | to << 7 | from << 15 | lower(value)
}

/// Whether an instruction loads an address: `ld`, or `lw`.
pub fn is_load(wide: bool, code: u32) -> bool {
    code & 0x707f == 0x03 | if wide { 3 } else { 2 } << 12
}

/// `jal rN, …`, without its distance.
pub fn jump(register: u32) -> u32 {
    JAL | register << 7
}

/// `jalr rN, rM`
pub fn jump_register(to: u32, from: u32) -> u32 {
    0x67 | to << 7 | from << 15
}

/// `sub rN, rM, rO`
pub fn sub(to: u32, from: u32, other: u32) -> u32 {
    0x4000_0033 | to << 7 | from << 15 | other << 20
}

/// `srli rN, rM, bits`
pub fn shift_right(to: u32, from: u32, bits: u32) -> u32 {
    0x5013 | to << 7 | from << 15 | bits << 20
}

/// Whether there is `c.lui rN, upper half of value`.
pub fn has_short_lui(register: u32, value: i64) -> bool {
    let upper = (value + 0x800) >> 12;
    upper != 0 && (-32..32).contains(&upper) && !matches!(register, ZERO | SP)
}

fn upper(value: i64) -> u32 {
    (value.wrapping_add(0x800)) as u32 & 0xffff_f000
}

fn lower(value: i64) -> u32 {
    (value as u32) << 20
}

/// Whether a value has no more than 12 bits with its sign: it needs no upper half.
pub fn is_low(value: i64) -> bool {
    (-0x800..0x800).contains(&value)
}

/// Whether a value can be made from two halves.
pub fn has_halves(wide: bool, value: i64) -> bool {
    !wide || i32::try_from(value.wrapping_add(0x800)).is_ok()
}

/// Replaces the bits of `mask` in the instruction at `at`.
#[inline(always)]
fn put_bits(out: &mut [u8], at: usize, mask: u32, bits: u32) {
    let Some(field) = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<4>()) else { return };
    *field = (u32::from_le_bytes(*field) & !mask | bits & mask).to_le_bytes();
}

fn put_short_bits(out: &mut [u8], at: usize, mask: u16, bits: u16) {
    let Some(field) = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<2>()) else { return };
    *field = (u16::from_le_bytes(*field) & !mask | bits & mask).to_le_bytes();
}

/// The upper half of a value (format U).
#[inline(always)]
pub fn put_upper(out: &mut [u8], at: usize, value: i64) {
    put_bits(out, at, 0xffff_f000, upper(value));
}

/// The lower half in a load or an addition (format I).
#[inline(always)]
pub fn put_lower(out: &mut [u8], at: usize, value: i64) {
    put_bits(out, at, 0xfff0_0000, lower(value));
}

/// The lower half in a store (format S).
pub fn put_lower_of_store(out: &mut [u8], at: usize, value: i64) {
    let value = value as u32;
    put_bits(out, at, 0xfe00_0f80, (value >> 5 & 0x7f) << 25 | (value & 31) << 7);
}

/// A jump of 21 bits (format J).
#[inline(always)]
pub fn put_jump(out: &mut [u8], at: usize, distance: i64) {
    let d = distance as u32;
    let bits = (d >> 20 & 1) << 31 | (d >> 1 & 0x3ff) << 21 | (d >> 11 & 1) << 20 | (d >> 12 & 0xff) << 12;
    put_bits(out, at, 0xffff_f000, bits);
}

/// A branch of 13 bits (format B).
pub fn put_branch(out: &mut [u8], at: usize, distance: i64) {
    let d = distance as u32;
    let bits = (d >> 12 & 1) << 31 | (d >> 5 & 0x3f) << 25 | (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7;
    put_bits(out, at, 0xfe00_0f80, bits);
}

/// A compressed branch of 9 bits (format CB).
pub fn put_short_branch(out: &mut [u8], at: usize, distance: i64) {
    let d = distance as u16;
    let bits =
        (d >> 8 & 1) << 12 | (d >> 3 & 3) << 10 | (d >> 6 & 3) << 5 | (d >> 1 & 3) << 3 | (d >> 5 & 1) << 2;
    put_short_bits(out, at, 0x1c7c, bits);
}

/// A compressed jump of 12 bits (format CJ).
pub fn put_short_jump(out: &mut [u8], at: usize, distance: i64) {
    let d = distance as u16;
    let bits = (d >> 11 & 1) << 12
        | (d >> 4 & 1) << 11
        | (d >> 8 & 3) << 9
        | (d >> 10 & 1) << 8
        | (d >> 6 & 1) << 7
        | (d >> 7 & 1) << 6
        | (d >> 1 & 7) << 3
        | (d >> 5 & 1) << 2;
    put_short_bits(out, at, 0x1ffc, bits);
}

/// What does nothing, in so many bytes.
pub fn put_nops(out: &mut [u8]) {
    let mut words = out.chunks_exact_mut(4);
    words.by_ref().for_each(|word| word.copy_from_slice(&NOP.to_le_bytes()));
    let rest = words.into_remainder();
    if rest.len() >= 2 {
        put_short(rest, 0, SHORT_NOP);
    }
}

/// Whether a value of this type fits, and is aligned as it has to be.
#[inline(always)]
pub fn checked(kind: &Type, value: i64) -> Result<(), Failure> {
    if !kind.fits(value) {
        return Err(Failure::Overflow(value));
    }
    if kind.is_aligned(value) { Ok(()) } else { Err(Failure::Unaligned(value)) }
}

/// Stores a value in an instruction, or in data.
#[inline]
pub fn put(kind: u32, of: &Type, out: &mut [u8], at: usize, value: i64) {
    match kind {
        R_BRANCH => put_branch(out, at, value),
        R_JAL => put_jump(out, at, value),
        R_RVC_BRANCH => put_short_branch(out, at, value),
        R_RVC_JUMP => put_short_jump(out, at, value),
        R_CALL | R_CALL_PLT => {
            put_upper(out, at, value);
            put_lower(out, at + 4, value);
        }
        R_GOT_HI20 | R_TLS_GOT_HI20 | R_TLS_GD_HI20 | R_PCREL_HI20 | R_HI20 | R_TPREL_HI20
        | R_TLSDESC_HI20 => {
            put_upper(out, at, value);
        }
        R_PCREL_LO12_I | R_LO12_I | R_TPREL_LO12_I | R_TLSDESC_LOAD_LO12 | R_TLSDESC_ADD_LO12 => {
            put_lower(out, at, value);
        }
        R_PCREL_LO12_S | R_LO12_S | R_TPREL_LO12_S => put_lower_of_store(out, at, value),
        R_RVC_LUI => put_short_upper(out, at, value),
        R_ADD8 | R_ADD16 | R_ADD32 | R_ADD64 => add(out, at, of.width, value),
        R_SUB8 | R_SUB16 | R_SUB32 | R_SUB64 => add(out, at, of.width, value.wrapping_neg()),
        R_SET6 => out[at] = out[at] & 0xc0 | value as u8 & 0x3f,
        R_SUB6 => out[at] = out[at] & 0xc0 | out[at].wrapping_sub(value as u8) & 0x3f,
        _ => {
            let width = usize::from(of.width);
            out[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
}

/// `c.lui`, or `c.li` of 0, which the former cannot hold.
fn put_short_upper(out: &mut [u8], at: usize, value: i64) {
    let upper = ((value + 0x800) >> 12) as u16;
    if upper == 0 {
        put_short_bits(out, at, 0xf07c, 0x4000);
    } else {
        put_short_bits(out, at, 0x107c, (upper & 31) << 2 | (upper >> 5 & 1) << 12);
    }
}

/// Adds to a word of `width` bytes.
fn add(out: &mut [u8], at: usize, width: u8, value: i64) {
    let field = &mut out[at..at + usize::from(width)];
    let mut word = [0; 8];
    word[..field.len()].copy_from_slice(field);
    let sum = u64::from_le_bytes(word).wrapping_add(value as u64);
    field.copy_from_slice(&sum.to_le_bytes()[..field.len()]);
}
