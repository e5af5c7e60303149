//! AMDGPU: code for graphics processors, which a runtime of the host loads. Compilers make shared objects of it,
//! for data and functions of which there are slots and relative relocations, but no PLT and no thread-local
//! storage.
//!
//! `EI_ABIVERSION` says of which version objects are, and so what their `e_flags` mean ([`flags`]).
//!
//! Specification: "User Guide for AMDGPU Backend" (LLVM), "ELF Code Object".

mod flags;
#[cfg(test)]
mod tests;

use super::class::{self, Class, Fit::*, From, Named, Type};
use super::facts::*;
use super::rules::{Failure, Rules};
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Target};

const R_NONE: u32 = 0;
const R_ABS32_LO: u32 = 1;
const R_ABS32_HI: u32 = 2;
const R_ABS64: u32 = 3;
const R_REL32: u32 = 4;
const R_REL64: u32 = 5;
const R_ABS32: u32 = 6;
const R_GOTPCREL: u32 = 7;
const R_GOTPCREL32_LO: u32 = 8;
const R_GOTPCREL32_HI: u32 = 9;
const R_REL32_LO: u32 = 10;
const R_REL32_HI: u32 = 11;
const R_RELATIVE64: u32 = 13;
const R_REL16: u32 = 14;

/// What objects may have, and what it asks for.
const LIST: &[(u32, Named)] = &[
    (R_NONE, Named::new(Class::None, 0, Any, "R_AMDGPU_NONE")),
    (R_ABS32_LO, Named::new(Class::Narrow, 4, Any, "R_AMDGPU_ABS32_LO")),
    (R_ABS32_HI, Named::new(Class::Narrow, 4, Any, "R_AMDGPU_ABS32_HI")),
    (R_ABS64, Named::new(Class::Address, 8, Any, "R_AMDGPU_ABS64")),
    (R_REL32, Named::new(Class::Pc, 4, Signed, "R_AMDGPU_REL32")),
    (R_REL64, Named::new(Class::Pc, 8, Any, "R_AMDGPU_REL64")),
    (R_ABS32, Named::new(Class::Narrow, 4, Either, "R_AMDGPU_ABS32")),
    (R_GOTPCREL, Named::new(Class::Got, 4, Signed, "R_AMDGPU_GOTPCREL").from(From::Place)),
    (R_GOTPCREL32_LO, Named::new(Class::Got, 4, Any, "R_AMDGPU_GOTPCREL32_LO").from(From::Place)),
    (R_GOTPCREL32_HI, Named::new(Class::Got, 4, Any, "R_AMDGPU_GOTPCREL32_HI").from(From::Place)),
    (R_REL32_LO, Named::new(Class::Pc, 4, Any, "R_AMDGPU_REL32_LO")),
    (R_REL32_HI, Named::new(Class::Pc, 4, Any, "R_AMDGPU_REL32_HI")),
    // A branch: words from behind it.
    (R_REL16, Named::new(Class::Pc, 2, Signed, "R_AMDGPU_REL16").bits(18).of(4)),
];

const TYPES: [Type; 15] = class::table(LIST);
static NAMES: [u8; class::names_size(LIST)] = class::names(LIST);

pub struct Amdgpu;

impl Rules for Amdgpu {
    const FACTS: Facts = Facts {
        name: "AMDGPU",
        emulations: &["elf64_amdgpu"],
        object_format: "elf64-amdgcn",
        architecture: "amdgcn",
        target: Target::new(224, Format { class: ElfClass::Elf64, order: Order::Little }),
        types: &TYPES,
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes {
            glob_dat: R_ABS64,
            relative: R_RELATIVE64,
            ..DynamicTypes::without_loader(R_ABS64)
        },
        flags: Some(FileFlags::ByVersion(flags::of_version)),
        ..Facts::PLAIN
    };
    const DEBUG_OFFSET: u32 = R_ABS32;
    type GotForm = ();
    type TlsCall = ();

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        let of = &TYPES[kind as usize];
        let value = match kind {
            R_ABS32_HI | R_GOTPCREL32_HI | R_REL32_HI => (value >> 32) as i64,
            R_REL16 => value.wrapping_sub(4) as i64,
            _ => value as i64,
        };
        if !of.fits(value) {
            return Err(Failure::Overflow(value));
        }
        if !of.is_aligned(value) {
            return Err(Failure::Unaligned(value));
        }
        let stored = if kind == R_REL16 { value >> 2 } else { value };
        out[at..at + of.width as usize].copy_from_slice(&stored.to_le_bytes()[..of.width as usize]);
        Ok(())
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}
