//! Relocation types of AVR, and what they ask for.
//!
//! Most have a byte of a value, in an instruction that loads one (LDI): of an address in bytes, of one in words
//! (PM), or of what such a value is taken from (NEG). Types of functions (GS) have 16 bits of an address in
//! words, which a thunk extends. Distances count from the instruction behind.
//!
//! Assemblers store differences themselves, and keep types for them (DIFF), for linkers that make code shorter.
//!
//! Specification: "AVR Instruction Set Manual"; LLVM's numbers (`ELFRelocs/AVR.def`).

use crate::arch::class::{self, Class, Fit::*, Named, Type};

/// Names the numbers, and makes the list.
macro_rules! list {
    ($($constant:ident = $number:literal, $named:expr, $name:literal;)*) => {
        $(#[allow(dead_code)] pub const $constant: u32 = $number;)*
        const LIST: &[(u32, Named)] = &[$(($constant, {
            let (class, width, bits, fit, align) = $named;
            Named::new(class, width, fit, $name).bits(bits).of(align)
        }),)*];
    };
}

type Of = (Class, u8, u8, class::Fit, u8);

const NOTHING: Of = (Class::None, 0, 8, Any, 1);
/// A byte of a value of data, and of an address of words.
const PART: Of = (Class::Narrow, 2, 16, Any, 1);
const PART_OF_WORDS: Of = (Class::Narrow, 2, 16, Any, 2);
/// The address of a function.
const FUNCTION: Of = (Class::Narrow, 2, 17, Unsigned, 2);

list! {
    R_AVR_NONE = 0, NOTHING, "R_AVR_NONE";
    R_AVR_32 = 1, (Class::Address, 4, 32, Any, 1), "R_AVR_32";
    R_AVR_7_PCREL = 2, (Class::Pc, 2, 8, Signed, 2), "R_AVR_7_PCREL";
    R_AVR_13_PCREL = 3, (Class::Pc, 2, 13, Signed, 2), "R_AVR_13_PCREL";
    R_AVR_16 = 4, PART, "R_AVR_16";
    R_AVR_16_PM = 5, FUNCTION, "R_AVR_16_PM";
    R_AVR_LO8_LDI = 6, PART, "R_AVR_LO8_LDI";
    R_AVR_HI8_LDI = 7, PART, "R_AVR_HI8_LDI";
    R_AVR_HH8_LDI = 8, PART, "R_AVR_HH8_LDI";
    R_AVR_LO8_LDI_NEG = 9, PART, "R_AVR_LO8_LDI_NEG";
    R_AVR_HI8_LDI_NEG = 10, PART, "R_AVR_HI8_LDI_NEG";
    R_AVR_HH8_LDI_NEG = 11, PART, "R_AVR_HH8_LDI_NEG";
    R_AVR_LO8_LDI_PM = 12, PART_OF_WORDS, "R_AVR_LO8_LDI_PM";
    R_AVR_HI8_LDI_PM = 13, PART_OF_WORDS, "R_AVR_HI8_LDI_PM";
    R_AVR_HH8_LDI_PM = 14, PART_OF_WORDS, "R_AVR_HH8_LDI_PM";
    R_AVR_LO8_LDI_PM_NEG = 15, PART_OF_WORDS, "R_AVR_LO8_LDI_PM_NEG";
    R_AVR_HI8_LDI_PM_NEG = 16, PART_OF_WORDS, "R_AVR_HI8_LDI_PM_NEG";
    R_AVR_HH8_LDI_PM_NEG = 17, PART_OF_WORDS, "R_AVR_HH8_LDI_PM_NEG";
    R_AVR_CALL = 18, (Class::Narrow, 4, 23, Unsigned, 2), "R_AVR_CALL";
    R_AVR_LDI = 19, (Class::Narrow, 2, 8, Either, 1), "R_AVR_LDI";
    R_AVR_6 = 20, (Class::Narrow, 2, 6, Unsigned, 1), "R_AVR_6";
    R_AVR_6_ADIW = 21, (Class::Narrow, 2, 6, Unsigned, 1), "R_AVR_6_ADIW";
    R_AVR_MS8_LDI = 22, PART, "R_AVR_MS8_LDI";
    R_AVR_MS8_LDI_NEG = 23, PART, "R_AVR_MS8_LDI_NEG";
    R_AVR_LO8_LDI_GS = 24, FUNCTION, "R_AVR_LO8_LDI_GS";
    R_AVR_HI8_LDI_GS = 25, FUNCTION, "R_AVR_HI8_LDI_GS";
    R_AVR_8 = 26, (Class::Narrow, 1, 8, Either, 1), "R_AVR_8";
    R_AVR_8_LO8 = 27, (Class::Narrow, 1, 8, Any, 1), "R_AVR_8_LO8";
    R_AVR_8_HI8 = 28, (Class::Narrow, 1, 8, Any, 1), "R_AVR_8_HI8";
    R_AVR_8_HLO8 = 29, (Class::Narrow, 1, 8, Any, 1), "R_AVR_8_HLO8";
    R_AVR_DIFF8 = 30, NOTHING, "R_AVR_DIFF8";
    R_AVR_DIFF16 = 31, NOTHING, "R_AVR_DIFF16";
    R_AVR_DIFF32 = 32, NOTHING, "R_AVR_DIFF32";
    R_AVR_LDS_STS_16 = 33, (Class::Narrow, 2, 8, Unsigned, 1), "R_AVR_LDS_STS_16";
    R_AVR_PORT6 = 34, (Class::Narrow, 2, 6, Unsigned, 1), "R_AVR_PORT6";
    R_AVR_PORT5 = 35, (Class::Narrow, 2, 5, Unsigned, 1), "R_AVR_PORT5";
    R_AVR_32_PCREL = 36, (Class::Pc, 4, 32, Any, 1), "R_AVR_32_PCREL";
    // `R_AVR_13_PCREL` of objects for processors with at most 8 KiB of code.
    AROUND_13_PCREL = 37, (Class::Pc, 2, 14, Signed, 2), "R_AVR_13_PCREL";
}

pub static TYPES: [Type; 38] = class::table(LIST);
pub static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

/// Whether a type has the address of a function, for which a thunk may stand.
pub const fn is_function(kind: u32) -> bool {
    matches!(kind, R_AVR_16_PM | R_AVR_LO8_LDI_GS | R_AVR_HI8_LDI_GS)
}
