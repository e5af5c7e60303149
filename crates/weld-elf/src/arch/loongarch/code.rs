//! LoongArch's instructions: their fields, and the few that the linker makes.
//!
//! All have 4 bytes. Immediate values of 12, 16 and 20 bits lie above the register numbers (5 bits each);
//! branches have the upper bits of their distance in the place of registers that they lack.
//!
//! Specification: "LoongArch Reference Manual", volume 1.

use super::types::*;
use crate::address::Address;
use crate::arch::class::{Type, page};
use crate::arch::rules::Failure;

/// Registers: always 0, return address, thread pointer, argument, temporary ones.
pub const ZERO: u32 = 0;
pub const RA: u32 = 1;
pub const TP: u32 = 2;
pub const A0: u32 = 4;
pub const T0: u32 = 12;
pub const T1: u32 = 13;
pub const T2: u32 = 14;
pub const T3: u32 = 15;

/// `andi zero, zero, 0`
pub const NOP: u32 = 0x0340_0000;
/// `b .`, `bl .`
pub const B: u32 = 0x5000_0000;
pub const BL: u32 = 0x5400_0000;

const LU12I: u32 = 0x1400_0000;
const PCADDI: u32 = 0x1800_0000;
const PCALAU12I: u32 = 0x1a00_0000;
const PCADDU12I: u32 = 0x1c00_0000;
const PCADDU18I: u32 = 0x1e00_0000;
const ORI: u32 = 0x0380_0000;
const JIRL: u32 = 0x4c00_0000;

/// The instruction at `at`; `None` if it is not all there.
pub fn instruction(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Stores an instruction, if there is room for it.
#[inline(always)]
pub fn put_instruction(out: &mut [u8], at: usize, code: u32) {
    if let Some(bytes) = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<4>()) {
        *bytes = code.to_le_bytes();
    }
}

/// The register that an instruction writes.
pub fn to(code: u32) -> u32 {
    code & 31
}

/// The first register that it reads.
pub fn from(code: u32) -> u32 {
    code >> 5 & 31
}

/// The same instruction reading another register first.
pub fn reading(code: u32, register: u32) -> u32 {
    code & !(31 << 5) | register << 5
}

fn twenty(opcode: u32, register: u32, bits: i64) -> u32 {
    opcode | register | (bits as u32 & 0xf_ffff) << 5
}

fn twelve(opcode: u32, to: u32, from: u32, bits: i64) -> u32 {
    opcode | to | from << 5 | (bits as u32 & 0xfff) << 10
}

/// `pcaddi rN, …`, without its distance.
pub fn pcaddi(register: u32) -> u32 {
    PCADDI | register
}

/// `pcalau12i rN, …`, without its distance.
pub fn pcalau12i(register: u32) -> u32 {
    PCALAU12I | register
}

/// `pcaddu12i rN, upper half of value`, whose lower half is added with its sign.
pub fn pcaddu12i(register: u32, value: i64) -> u32 {
    twenty(PCADDU12I, register, value.wrapping_add(0x800) >> 12)
}

/// `lu12i.w rN, upper bits`
pub fn lu12i(register: u32, bits: i64) -> u32 {
    twenty(LU12I, register, bits)
}

/// `ori rN, rM, lower bits of value`
pub fn ori(to: u32, from: u32, value: i64) -> u32 {
    twelve(ORI, to, from, value)
}

/// `addi.d rN, rM, lower half of value`, or `addi.w` where addresses have 32 bits.
pub fn addi(wide: bool, to: u32, from: u32, value: i64) -> u32 {
    twelve(if wide { 0x02c0_0000 } else { 0x0280_0000 }, to, from, value)
}

/// `ld.d rN, rM, lower half of value`, or `ld.w`.
pub fn load(wide: bool, to: u32, from: u32, value: i64) -> u32 {
    twelve(if wide { 0x28c0_0000 } else { 0x2880_0000 }, to, from, value)
}

/// `sub.d rN, rM, rO`, or `sub.w`.
pub fn sub(wide: bool, to: u32, from: u32, other: u32) -> u32 {
    let code = if wide { 0x0011_8000 } else { 0x0011_0000 };
    code | to | from << 5 | other << 10
}

/// `srli.d rN, rM, bits`, or `srli.w`.
pub fn shift_right(wide: bool, to: u32, from: u32, bits: u32) -> u32 {
    let code = if wide { 0x0045_0000 } else { 0x0044_8000 };
    code | to | from << 5 | bits << 10
}

/// `jirl rN, rM, distance`
pub fn jump_register(to: u32, from: u32, distance: i64) -> u32 {
    JIRL | to | from << 5 | ((distance >> 2) as u32 & 0xffff) << 10
}

/// A branch: `b` or `bl`, and how far it goes.
pub fn branch(opcode: u32, distance: i64) -> u32 {
    let d = (distance >> 2) as u32;
    opcode | (d & 0xffff) << 10 | d >> 16 & 0x3ff
}

/// `pcaddu18i rN, upper bits of distance`, for `jirl` with the others.
pub fn pcaddu18i(register: u32, distance: i64) -> u32 {
    twenty(PCADDU18I, register, distance.wrapping_add(FAR_HALF) >> 18)
}

pub fn is_pcalau12i(code: u32) -> bool {
    code & 0xfe00_0000 == PCALAU12I
}

pub fn is_pcaddu12i(code: u32) -> bool {
    code & 0xfe00_0000 == PCADDU12I
}

pub fn is_pcaddu18i(code: u32) -> bool {
    code & 0xfe00_0000 == PCADDU18I
}

pub fn is_jirl(code: u32) -> bool {
    code & 0xfc00_0000 == JIRL
}

/// Whether an instruction adds to an address: `addi.d`, or `addi.w`.
pub fn is_addi(wide: bool, code: u32) -> bool {
    code & 0xffc0_0000 == addi(wide, 0, 0, 0)
}

/// Whether an instruction loads an address: `ld.d`, or `ld.w`.
pub fn is_load(wide: bool, code: u32) -> bool {
    code & 0xffc0_0000 == load(wide, 0, 0, 0)
}

/// Half of what the second instruction of a far call reaches: its distance has a sign.
pub const FAR_HALF: i64 = 1 << 17;

/// Whether a value has no more than 12 bits with its sign.
pub fn is_low(value: i64) -> bool {
    (-0x800..0x800).contains(&value)
}

/// Whether a value has no more than 12 bits without a sign.
pub fn is_small(value: i64) -> bool {
    (0..0x1000).contains(&value)
}

/// The distance between the page that an instruction at `here` counts from and that from which the lower 12
/// bits of `target`, with their sign, make it.
#[inline(always)]
pub fn pages(target: Address, here: Address) -> u64 {
    page(target.wrapping_add(0x800)).wrapping_sub(page(here))
}

/// The upper half of the distance of `target` where its lower half, of which each part has a sign, counts
/// from the page of an instruction at `here`.
pub fn far_pages(target: Address, here: Address) -> u64 {
    // What the parts before take away by their signs: the sum of their lower 12 bits is not carried.
    let carried = if target.get() & 0x800 == 0 { 0 } else { 0x1000u64.wrapping_sub(1 << 32) };
    page(target.wrapping_add(1 << 31).wrapping_add(carried)).wrapping_sub(page(here))
}

/// What is stored of the distance of `target` from `here`.
#[inline(always)]
pub fn distance(kind: u32, target: Address, here: Address) -> u64 {
    match kind {
        R_PCALA_HI20 | R_GOT_PC_HI20 | R_TLS_IE_PC_HI20 | R_TLS_LD_PC_HI20 | R_TLS_GD_PC_HI20
        | R_TLS_DESC_PC_HI20 => pages(target, here),
        // Those count from the first of four instructions one after the other.
        R_PCALA64_LO20 | R_GOT64_PC_LO20 | R_TLS_IE64_PC_LO20 | R_TLS_DESC64_PC_LO20 => {
            far_pages(target, here.back(8))
        }
        R_PCALA64_HI12 | R_GOT64_PC_HI12 | R_TLS_IE64_PC_HI12 | R_TLS_DESC64_PC_HI12 => {
            far_pages(target, here.back(12))
        }
        _ => target.wrapping_sub(here),
    }
}

/// Replaces the bits of `mask` in the instruction at `at`.
#[inline(always)]
fn put_bits(out: &mut [u8], at: usize, mask: u32, bits: u32) {
    let Some(field) = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<4>()) else { return };
    *field = (u32::from_le_bytes(*field) & !mask | bits & mask).to_le_bytes();
}

#[inline(always)]
fn put_20(out: &mut [u8], at: usize, bits: i64) {
    put_bits(out, at, 0xf_ffff << 5, (bits as u32) << 5);
}

#[inline(always)]
fn put_12(out: &mut [u8], at: usize, bits: i64) {
    put_bits(out, at, 0xfff << 10, (bits as u32) << 10);
}

fn put_16(out: &mut [u8], at: usize, bits: i64) {
    put_bits(out, at, 0xffff << 10, (bits as u32) << 10);
}

/// A branch whose distance, in instructions, has `above` bits beyond those in the usual place.
fn put_branch(out: &mut [u8], at: usize, distance: i64, above: u32) {
    let d = (distance >> 2) as u32;
    let (mask, upper) = ((1 << above) - 1, d >> 16);
    put_bits(out, at, 0xffff << 10 | mask, (d & 0xffff) << 10 | upper & mask);
}

/// The lower half of an address. A jump has it in units of 4 bytes: code of before there were relocations
/// for far calls.
#[inline(always)]
fn put_low(out: &mut [u8], at: usize, value: i64) {
    match instruction(out, at).is_some_and(is_jirl) {
        true => put_16(out, at, (value << 52) >> 54),
        false => put_12(out, at, value),
    }
}

/// What does nothing, in so many bytes.
pub fn put_nops(out: &mut [u8]) {
    out.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&NOP.to_le_bytes()));
}

/// Whether a value of this type fits, and is aligned as it has to be.
#[inline(always)]
pub fn checked(kind: u32, of: &Type, value: i64) -> Result<(), Failure> {
    // The lower half of a far call has a sign, so that it does not reach as far upwards.
    let near = kind != R_CALL36 || value < (1 << 37) - FAR_HALF;
    if !of.fits(value) || !near {
        return Err(Failure::Overflow(value));
    }
    if of.is_aligned(value) { Ok(()) } else { Err(Failure::Unaligned(value)) }
}

/// Stores a value in an instruction, or in data.
#[inline]
pub fn put(kind: u32, of: &Type, out: &mut [u8], at: usize, value: i64) {
    match kind {
        R_B16 => put_branch(out, at, value, 0),
        R_B21 => put_branch(out, at, value, 5),
        R_B26 => put_branch(out, at, value, 10),
        R_PCALA_HI20 | R_GOT_PC_HI20 | R_TLS_IE_PC_HI20 | R_TLS_LD_PC_HI20 | R_TLS_GD_PC_HI20
        | R_TLS_DESC_PC_HI20 | R_ABS_HI20 | R_GOT_HI20 | R_TLS_LE_HI20 | R_TLS_IE_HI20 | R_TLS_LD_HI20
        | R_TLS_GD_HI20 | R_TLS_DESC_HI20 => put_20(out, at, value >> 12),
        R_TLS_LE_HI20_R => put_20(out, at, value.wrapping_add(0x800) >> 12),
        R_PCALA_LO12 => put_low(out, at, value),
        R_ABS_LO12 | R_GOT_PC_LO12 | R_GOT_LO12 | R_TLS_LE_LO12 | R_TLS_LE_LO12_R | R_TLS_IE_PC_LO12
        | R_TLS_IE_LO12 | R_TLS_DESC_PC_LO12 | R_TLS_DESC_LO12 => put_12(out, at, value),
        R_ABS64_LO20 | R_PCALA64_LO20 | R_GOT64_PC_LO20 | R_GOT64_LO20 | R_TLS_LE64_LO20
        | R_TLS_IE64_PC_LO20 | R_TLS_IE64_LO20 | R_TLS_DESC64_PC_LO20 | R_TLS_DESC64_LO20 => {
            put_20(out, at, value >> 32);
        }
        R_ABS64_HI12 | R_PCALA64_HI12 | R_GOT64_PC_HI12 | R_GOT64_HI12 | R_TLS_LE64_HI12
        | R_TLS_IE64_PC_HI12 | R_TLS_IE64_HI12 | R_TLS_DESC64_PC_HI12 | R_TLS_DESC64_HI12 => {
            put_12(out, at, value >> 52);
        }
        R_PCREL20_S2 | R_TLS_LD_PCREL20_S2 | R_TLS_GD_PCREL20_S2 | R_TLS_DESC_PCREL20_S2 => {
            put_20(out, at, value >> 2);
        }
        R_CALL36 => {
            put_20(out, at, value.wrapping_add(FAR_HALF) >> 18);
            put_16(out, at + 4, value >> 2);
        }
        R_CALL30 => {
            put_20(out, at, value >> 12);
            put_16(out, at + 4, value >> 2 & 0x3ff);
        }
        // What is called through a descriptor is no value.
        R_TLS_DESC_LD | R_TLS_DESC_CALL => {}
        _ if is_labeled(kind) => put_20(out, at, value.wrapping_add(0x800) >> 12),
        _ if is_lower_of_label(kind) => put_12(out, at, value),
        R_ADD8 | R_ADD16 | R_ADD24 | R_ADD32 | R_ADD64 => add(out, at, of.width, value),
        R_SUB8 | R_SUB16 | R_SUB24 | R_SUB32 | R_SUB64 => add(out, at, of.width, value.wrapping_neg()),
        R_ADD6 => put_6(out, at, value),
        R_SUB6 => put_6(out, at, value.wrapping_neg()),
        _ => {
            let width = usize::from(of.width);
            out[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
}

/// Adds to the lower 6 bits of a byte.
fn put_6(out: &mut [u8], at: usize, value: i64) {
    out[at] = out[at] & 0xc0 | out[at].wrapping_add(value as u8) & 0x3f;
}

/// Adds to a word of `width` bytes.
fn add(out: &mut [u8], at: usize, width: u8, value: i64) {
    let field = &mut out[at..at + usize::from(width)];
    let mut word = [0; 8];
    word[..field.len()].copy_from_slice(field);
    let sum = u64::from_le_bytes(word).wrapping_add(value as u64);
    field.copy_from_slice(&sum.to_le_bytes()[..field.len()]);
}
