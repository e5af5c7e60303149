//! MSP430: controllers with addresses of 16 bits, whose programs nobody loads. Distances go around the end of
//! memory, as the program counter does.
//!
//! Specification: "MSP430x1xx Family User's Guide", 3.4; `ELFRelocs/MSP430.def` of LLVM for numbers;
//! "MSP430 Embedded Application Binary Interface" (SLAA534), 13, for attributes.

mod attributes;
#[cfg(test)]
mod tests;

use super::class::{self, Class, Fit::*, Named, Type};
use super::facts::*;
use super::rules::{Failure, Rules};
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Target};

const R_NONE: u32 = 0;
const R_32: u32 = 1;
const R_10_PCREL: u32 = 2;
const R_16: u32 = 3;
const R_16_PCREL: u32 = 4;
const R_16_BYTE: u32 = 5;
const R_16_PCREL_BYTE: u32 = 6;
const R_2X_PCREL: u32 = 7;
const R_RL_PCREL: u32 = 8;
const R_8: u32 = 9;
const R_SYM_DIFF: u32 = 10;

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_MSP430_NONE")),
    (R_32, Named::new(Class::Address, 4, Any, "R_MSP430_32")),
    // A jump: words from behind it.
    (R_10_PCREL, Named::new(Class::Pc, 2, Signed, "R_MSP430_10_PCREL").bits(11).of(2)),
    (R_16, Named::new(Class::Narrow, 2, Either, "R_MSP430_16")),
    (R_16_PCREL, Named::new(Class::Pc, 2, Around, "R_MSP430_16_PCREL")),
    (R_16_BYTE, Named::new(Class::Narrow, 2, Either, "R_MSP430_16_BYTE")),
    (R_16_PCREL_BYTE, Named::new(Class::Pc, 2, Around, "R_MSP430_16_PCREL_BYTE")),
    // For code that is made shorter.
    (R_2X_PCREL, Named::unknown("R_MSP430_2X_PCREL")),
    (R_RL_PCREL, Named::unknown("R_MSP430_RL_PCREL")),
    (R_8, Named::new(Class::Narrow, 1, Either, "R_MSP430_8")),
    (R_SYM_DIFF, Named::unknown("R_MSP430_SYM_DIFF")),
];

const TYPES: [Type; 11] = class::table(LIST);
static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

pub struct Msp430;

impl Rules for Msp430 {
    const FACTS: Facts = Facts {
        name: "MSP430",
        emulations: &["msp430elf"],
        object_format: "elf32-msp430",
        architecture: "msp430",
        target: Target::new(105, Format { class: ElfClass::Elf32, order: Order::Little }),
        // Two of them do nothing: mov.b #0, r3.
        filler: 0x43,
        types: &TYPES,
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes::without_loader(R_32),
        attributes: Some(Attributes::joined(attributes::SECTION, 0x7000_0003, attributes::merge)),
        ..Facts::PLAIN
    };
    const DEBUG_OFFSET: u32 = R_32;
    type GotForm = ();
    type TlsCall = ();

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        let of = &TYPES[kind as usize];
        let value = value as i64;
        let value = match kind {
            // Memory has 64 KiB.
            R_10_PCREL if (-0x1_0000..0x1_0000).contains(&value) => i64::from((value as i16).wrapping_sub(2)),
            R_10_PCREL => value.wrapping_sub(2),
            _ => value,
        };
        if !of.fits(value) {
            return Err(Failure::Overflow(value));
        }
        if !of.is_aligned(value) {
            return Err(Failure::Unaligned(value));
        }
        let field = &mut out[at..at + of.width as usize];
        if kind == R_10_PCREL {
            let code = u16::from_le_bytes([field[0], field[1]]);
            let code = code & !0x3ff | (value >> 1) as u16 & 0x3ff;
            field.copy_from_slice(&code.to_le_bytes());
        } else {
            field.copy_from_slice(&value.to_le_bytes()[..of.width as usize]);
        }
        Ok(())
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }
}
