//! Functions that save registers which callers expect to keep, and load them again: compilers call them where
//! code is to be small.
//!
//! Specification: "64-Bit ELF V2 ABI Specification", 2.3.3 "Register save and restore functions".

use super::code::*;
use crate::arch::facts::RegisterCode;

const BLR: u32 = 0x4e80_0020;
/// `std r0, 16(r1)`: the link register's value.
const SAVE_LR: u32 = 0xf801_0010;
/// `ld r0, 16(r1)`
const LOAD_LR: u32 = 0xe801_0010;

const STD: u32 = 62 << 26;
const STFD: u32 = 54 << 26;
const LFD: u32 = 50 << 26;

/// Registers lie below what a register points to, the last one next to it.
const fn below(register: u32, bytes: u32) -> u32 {
    (32 - register).wrapping_mul(bytes).wrapping_neg()
}

const fn general(operation: u32, register: u32, base: u32) -> [u32; 2] {
    [d_form(operation, register, base, below(register, 8)), 0]
}

/// `li r12, …`, and a vector register at that distance from r0's value.
const fn vector(operation: u32, register: u32) -> [u32; 2] {
    [d_form(ADDI, R12, 0, below(register, 16)), operation | register << 21 | R12 << 16]
}

const fn run(prefix: &'static str, one: fn(u32) -> [u32; 2], end: &'static [u32]) -> RegisterCode {
    RegisterCode { prefix, first: 14, last: 31, one, count: 1, end }
}

const fn vectors(prefix: &'static str, one: fn(u32) -> [u32; 2]) -> RegisterCode {
    RegisterCode { first: 20, count: 2, ..run(prefix, one, &[BLR]) }
}

pub const RUNS: &[RegisterCode] = &[
    run("_savegpr0_", |r| general(STD, r, 1), &[SAVE_LR, BLR]),
    run("_restgpr0_", |r| general(LD, r, 1), &[LOAD_LR, MTLR_R0, BLR]),
    run("_savegpr1_", |r| general(STD, r, R12), &[BLR]),
    run("_restgpr1_", |r| general(LD, r, R12), &[BLR]),
    run("_savefpr_", |r| general(STFD, r, 1), &[SAVE_LR, BLR]),
    run("_restfpr_", |r| general(LFD, r, 1), &[LOAD_LR, MTLR_R0, BLR]),
    vectors("_savevr_", |r| vector(0x7c00_01ce, r)),
    vectors("_restvr_", |r| vector(0x7c00_00ce, r)),
];
