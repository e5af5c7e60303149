//! ARM, with 32 bits: constants, and what is said of its relocations. Both byte orders, ARM and Thumb code.
//!
//! The low bit of a function's address says that it is Thumb code. It is part of the symbol's value, as ARM's
//! ABI has it (AAELF32, "Symbol values"), so it comes into words, slots and tables by itself; code that jumps
//! asks it.
//!
//! Objects have addends in the places that they are for, and so have loaders.
//!
//! Specification: "ELF for the Arm Architecture" (AAELF32), "System V ABI for the Arm Architecture",
//! "Addenda to, and Errata in, the ABI for the Arm Architecture".

mod apply;
mod attributes;
mod code;
mod conventions;
mod errata;
mod plt;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::class::Class;
use super::facts::*;
use super::plt::{Plan, Style};
use super::rules::{Failure, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, SHF_ARM_PURECODE, SHT_ARM_EXIDX, Target};
use types::*;

const fn facts<const BIG: bool>() -> Facts {
    let order = if BIG { Order::Big } else { Order::Little };
    Facts {
        name: if BIG { "ARM (big endian)" } else { "ARM" },
        emulations: if BIG {
            &["armelfb_linux_eabi", "armelfb", "armelfb_linux_eabihf"]
        } else {
            &["armelf_linux_eabi", "armelf", "armelf_linux_eabihf"]
        },
        object_format: if BIG { "elf32-bigarm" } else { "elf32-littlearm" },
        architecture: "arm",
        target: Target::new(40, Format { class: ElfClass::Elf32, order }),
        implicit_addend: Some(code::implicit_addend::<BIG>),
        store_addend: Some(code::put_addend::<BIG>),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
        // Four of them are an instruction that traps.
        filler: 0xd4,
        tls: Tls::BlockFirst(8),
        types: &TYPES,
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes {
            with_addends: false,
            address: R_ABS32,
            distance: None,
            copy: R_COPY,
            glob_dat: R_GLOB_DAT,
            jump_slot: R_JUMP_SLOT,
            relative: R_RELATIVE,
            signed: None,
            irelative: Some(R_IRELATIVE),
            resolvers_in_plt: false,
            dtpmod: R_TLS_DTPMOD32,
            dtpoff: R_TLS_DTPOFF32,
            tpoff: R_TLS_TPOFF32,
            backward_tpoff: None,
            tlsdesc: R_TLS_DESC,
        },
        plt: plt::PLT,
        execute_only: SHF_ARM_PURECODE,
        flags: Some(FileFlags::Always(join_flags)),
        output_flags: Some(output_flags),
        attributes: Some(Attributes {
            features: Some(attributes::features::<BIG>),
            doubts: Some(conventions::doubts::<BIG>),
            ..Attributes::joined(attributes::SECTION, 0x7000_0003, attributes::merge::<BIG>)
        }),
        code_index: Some(CodeIndex {
            kind: SHT_ARM_EXIDX,
            name: ".ARM.exidx",
            start: "__exidx_start",
            end: "__exidx_end",
        }),
        turned_code: if BIG { Some(TurnedCode { flag: EF_ARM_BE8, unit: code::unit }) } else { None },
        platform: Some(PlatformTypes {
            target1: R_TARGET1,
            target2: R_TARGET2,
            address: R_ABS32,
            distance: R_REL32,
            slot: R_GOT_PREL,
        }),
        gateways: Some(Gateways {
            prefix: "__acle_se_",
            section: ".gnu.sgstubs",
            align: 32,
            // SG; B.W to itself.
            code: &[0xe97f, 0xe97f, 0xf7ff, 0xbffe],
            branch: 4,
            kind: R_THM_JUMP24,
            mapping: "$t",
            flags: VERSION_5,
            feature: attributes::SECURE,
            architectures: "ARMv8-M or later (Tag_CPU_arch)",
        }),
        branches: Some(thunks::branches::<BIG>(if BIG { &BIG_SETS } else { &LITTLE_SETS })),
        ..Facts::PLAIN
    }
}

static LITTLE_SETS: InstructionSets = thunks::sets::<false>();
static BIG_SETS: InstructionSets = thunks::sets::<true>();

/// `e_flags`: the version of the ABI, and how floating-point arguments are passed.
const VERSION: u32 = 0xff00_0000;
const VERSION_5: u32 = 0x0500_0000;
const SOFT_FLOAT: u32 = 0x200;
const HARD_FLOAT: u32 = 0x400;
/// Instructions are little endian, data big endian.
const EF_ARM_BE8: u32 = 0x0080_0000;

/// Of objects, attributes say what their flags might.
fn join_flags(before: u32, _next: u32) -> Result<u32, FlagsClash> {
    Ok(before & !VERSION | VERSION_5)
}

fn output_flags(_flags: u32, features: u32) -> u32 {
    VERSION_5
        | match features & (attributes::HARD_FLOAT | attributes::OTHER_FLOAT) {
            0 => SOFT_FLOAT,
            attributes::HARD_FLOAT => HARD_FLOAT,
            _ => 0,
        }
}

pub struct Arm<const BIG: bool>;

impl<const BIG: bool> Rules for Arm<BIG> {
    const FACTS: Facts = facts::<BIG>();
    const DEBUG_OFFSET: u32 = R_ABS32;
    type GotForm = ();
    type TlsCall = ();
    const UNDEFINED_IS_NEAR: bool = true;

    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        if branch_state(kind).is_some() {
            let distance = i64::from(target.wrapping_sub(here) as i32);
            let branch = code::Branch { distance, to_thumb: branch_state(kind), here: here.get() };
            return code::put_branch::<BIG>(kind, out, at, branch);
        }
        let from = if counts_from_word(kind) { Address::new(here.get() & !3) } else { here };
        Self::put(kind, out, at, target.wrapping_sub(from))
    }

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        // Values wrap around with addresses.
        let value = match Self::class(kind) {
            Class::Narrow if Self::width(kind) < 4 => value as i64,
            _ => i64::from(value as i32),
        };
        code::put::<BIG>(kind, out, at, value)
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        code::put_word::<BIG>(out, at, value as u32);
    }

    /// Branches go on after themselves, other distances are from the place to itself.
    fn undefined(kind: u32, here: Address) -> Address {
        match kind {
            R_THM_JUMP8 | R_THM_JUMP11 => here + 2,
            R_PREL31 => here + 4,
            _ if branch_state(kind).is_some() => here + 4,
            _ => here,
        }
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        apply::allocated::<BIG, S>(site, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write::<BIG>(plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt::<BIG>(plan, start, out);
    }

    /// The header calls the loader, which tells the entry by the word's address.
    fn unbound(plan: &Plan, _entry: u32) -> Address {
        plan.plt + if plan.style == Style::Thumb { 1 } else { 0 }
    }
}
