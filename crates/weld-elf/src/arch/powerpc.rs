//! What machines of PowerPC have in common, whatever their width: instructions, the fields that values have in
//! them, and their parts of 16 bits; what relocation types ask for; sequences for thread-local storage.
//!
//! Instructions are words in the byte order of data. Relocations of half words lie where the half word does,
//! which is in the middle of its instruction where the order is big endian.
//!
//! Specification: "Power ISA", Book I, 1.6 "Instruction Formats".

use super::class::{Class, Fit, From, Named, Type};
use super::rules::{Failure, Field};
pub use super::words::{put_bits, put_word, put_words, word};
use crate::address::Address;
use crate::elf::Rela;

pub const NOP: u32 = 0x6000_0000;
pub const MTCTR_R12: u32 = 0x7d89_03a6;
pub const BCTR: u32 = 0x4e80_0420;
pub const MFLR_R0: u32 = 0x7c08_02a6;
pub const MTLR_R0: u32 = 0x7c08_03a6;
/// `bcl 20, 31, .+4`, which does not count as a call.
pub const NEXT_TO_LR: u32 = 0x429f_0005;
pub const ADDIS: u32 = 15 << 26;
pub const ADDI: u32 = 14 << 26;
/// Of two registers, the one with the value first.
pub const ORI: u32 = 24 << 26;
pub const ORIS: u32 = 25 << 26;
pub const LWZ: u32 = 32 << 26;
pub const LD: u32 = 58 << 26;

pub const R2: u32 = 2;
pub const R3: u32 = 3;
pub const R11: u32 = 11;
pub const R12: u32 = 12;

/// An instruction of a register, from another one, with a value of 16 bits.
pub const fn d_form(operation: u32, to: u32, from: u32, value: u32) -> u32 {
    operation | to << 21 | from << 16 | value & 0xffff
}

pub const fn to(code: u32) -> u32 {
    code >> 21 & 31
}

pub const fn from(code: u32) -> u32 {
    code >> 16 & 31
}

/// The upper half of 32 bits if the lower one has a sign.
pub const fn ha(value: i64) -> u32 {
    (value.wrapping_add(0x8000) >> 16) as u32 & 0xffff
}

pub const fn lo(value: i64) -> u32 {
    value as u32 & 0xffff
}

pub const fn fits_32(value: i64) -> bool {
    value == value as i32 as i64
}

/// Whether `addis` and a lower half make a value.
pub const fn fits_halves(value: i64) -> bool {
    fits_32(value.wrapping_add(0x8000))
}

pub fn put_half<const BIG: bool>(out: &mut [u8], at: usize, value: u16) {
    out[at..at + 2].copy_from_slice(&if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
}

pub fn half<const BIG: bool>(code: &[u8], at: usize) -> u16 {
    let bytes = [code[at], code[at + 1]];
    if BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
}

/// Where the instruction begins that a half word at `at` is in.
pub const fn start(at: usize) -> usize {
    at & !3
}

/// The branch at an address to another one, which it is near enough to.
pub fn jump(address: Address, target: Address) -> u32 {
    0x4800_0000 | target.wrapping_sub(address) as u32 & 0x03ff_fffc
}

/// Whether a branch can have a distance.
///
/// # Errors
/// It does not fit.
pub fn check_branch(of: &Type, value: i64) -> Result<(), Failure> {
    match () {
        () if !of.fits(value) => Err(Failure::Overflow(value)),
        () if value & 3 != 0 => Err(Failure::Unaligned(value)),
        () => Ok(()),
    }
}

/// The operation with a value of 16 bits that does what one with two registers does; with the bits of its own
/// that the value leaves.
pub fn without_register(code: u32) -> Option<u32> {
    if code >> 26 != 31 {
        return None;
    }
    Some(match code >> 1 & 0x3ff {
        23 => 32 << 26,
        87 => 34 << 26,
        279 => 40 << 26,
        343 => 42 << 26,
        21 => LD,
        341 => LD | 2,
        151 => 36 << 26,
        215 => 38 << 26,
        407 => 44 << 26,
        149 => 62 << 26,
        535 => 48 << 26,
        599 => 50 << 26,
        663 => 52 << 26,
        727 => 54 << 26,
        266 => ADDI,
        _ => return None,
    })
}

/// What a relocation type asks for, before it has its name.
pub struct Of {
    pub class: Class,
    pub width: u8,
    pub fit: Fit,
    pub bits: u8,
    pub align: u8,
    pub from: From,
}

pub const fn named(of: Of, name: &'static str) -> Named {
    Named::new(of.class, of.width, of.fit, name).bits(of.bits).of(of.align).from(of.from)
}

pub const fn of(class: Class, width: u8, fit: Fit) -> Of {
    Of { class, width, fit, bits: if width == 0 { 1 } else { 8 * width }, align: 1, from: From::GotBase }
}

pub const fn refused() -> Of {
    of(Class::Unknown, 0, Fit::Any)
}

/// The low part of a value that has to fit there.
pub const fn half_of(class: Class) -> Of {
    of(class, 2, Fit::Signed)
}

/// A part of a value of which there are others.
pub const fn part_of(class: Class) -> Of {
    of(class, 2, Fit::Any)
}

pub const fn branch(class: Class, bits: u8) -> Of {
    Of { bits, align: 4, ..of(class, 4, Fit::Signed) }
}

/// How far after the start of a module's thread-local storage its offsets count from, seen from the thread pointer.
pub const MODULE_FROM_THREAD: u32 = 0x1000;

/// What the marked call of a sequence for thread-local storage is for, of a program.
#[derive(Clone, Copy)]
pub enum Call {
    /// A variable of the program, so far from the thread pointer.
    Local(i64),
    /// A variable of another module.
    Elsewhere,
    /// The module's storage.
    Module,
}

/// How far around a relocation marks are looked for: further than compilers move instructions of a sequence
/// apart.
const AROUND: usize = 1024;

/// Whether there are marks around relocation `i`.
pub fn has_marks_around(relocs: &[Rela], i: usize, is_mark: impl Fn(u32) -> bool) -> bool {
    let any = |relocs: &[Rela]| relocs.iter().any(|reloc| is_mark(reloc.kind()));
    any(&relocs[i..relocs.len().min(i + AROUND)]) || any(&relocs[i.saturating_sub(AROUND)..i])
}

/// The instruction that a field is in.
pub fn instruction<const BIG: bool>(field: &Field) -> Result<u32, Failure> {
    word::<BIG>(field.out, start(field.at)).ok_or(Failure::Form)
}

pub fn put_one<const BIG: bool>(field: Field, code: u32) -> Result<(), Failure> {
    put_word::<BIG>(field.out, start(field.at), code);
    Ok(())
}
