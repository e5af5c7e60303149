//! RISC-V: constants, and what is said of its relocations. Addresses of 64 bits and of 32, little endian.
//!
//! Compilers write the longest form of everything and mark what may become shorter (`R_RISCV_RELAX`); also
//! where code has to be aligned, with more padding than may be needed (`R_RISCV_ALIGN`). So distances within
//! a section are not known before it is linked: differences of labels are relocations too, that add and
//! subtract. `relax` says what becomes shorter, `apply` stores what is left.
//!
//! The second of two instructions that make an address by its distance from the first names that, by a label,
//! not the symbol. So its value is looked up in the section's relocations.
//!
//! Specification: "RISC-V ELF Specification" (psABI), chapters "Relocations", "Linker Relaxation", "Thread
//! Local Storage".

mod apply;
mod attributes;
mod code;
mod plt;
mod relax;
#[cfg(test)]
mod tests;
mod types;

use super::class::{From, Type, names, names_size, table};
use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Rules};
use super::shrink::Shrink;
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};
use types::*;

/// `e_flags`: compressed instructions, the registers that floating-point arguments are in, fewer registers,
/// and total store order.
const EF_RVC: u32 = 1;
const EF_FLOAT_ABI: u32 = 6;
const EF_RVE: u32 = 8;
const EF_TSO: u32 = 16;

static WIDE_TYPES: [Type; COUNT] = table(&types::<true>());
static NARROW_TYPES: [Type; COUNT] = table(&types::<false>());
static WIDE_NAMES: [u8; names_size(&types::<true>())] = names(&types::<true>());
static NARROW_NAMES: [u8; names_size(&types::<false>())] = names(&types::<false>());

const fn facts(wide: bool) -> Facts {
    let class = if wide { ElfClass::Elf64 } else { ElfClass::Elf32 };
    let address = if wide { R_64 } else { R_32 };
    Facts {
        name: if wide { "RISC-V (64-bit)" } else { "RISC-V (32-bit)" },
        emulations: if wide { &["elf64lriscv"] } else { &["elf32lriscv"] },
        object_format: if wide { "elf64-littleriscv" } else { "elf32-littleriscv" },
        architecture: if wide { "riscv:rv64" } else { "riscv:rv32" },
        target: Target::new(243, Format { class, order: Order::Little }),
        // Two of them are an instruction that traps.
        filler: 0,
        tls_offset: 0x800,
        types: if wide { &WIDE_TYPES } else { &NARROW_TYPES },
        type_names: if wide { &WIDE_NAMES } else { &NARROW_NAMES },
        none: R_NONE,
        dynamic: DynamicTypes {
            with_addends: true,
            address,
            distance: None,
            copy: R_COPY,
            glob_dat: address,
            jump_slot: R_JUMP_SLOT,
            relative: R_RELATIVE,
            signed: None,
            irelative: Some(R_IRELATIVE),
            resolvers_in_plt: true,
            dtpmod: if wide { R_TLS_DTPMOD64 } else { R_TLS_DTPMOD32 },
            dtpoff: if wide { R_TLS_DTPREL64 } else { R_TLS_DTPREL32 },
            tpoff: if wide { R_TLS_TPREL64 } else { R_TLS_TPREL32 },
            backward_tpoff: None,
            tlsdesc: R_TLSDESC,
        },
        got_base: GotBase::GotWithHead { words: 1, reach: u32::MAX },
        plt: plt::PLT,
        variant_calls: Some(VariantCalls { other: 0x80, tag: 0x7000_0001 }),
        flags: Some(FileFlags::Always(join_flags)),
        attributes: Some(Attributes {
            name: attributes::SECTION,
            section: 0x7000_0003,
            output: AttributesOutput::Section {
                segment: Some(0x7000_0003),
                flags: 0,
                align: 1,
                entsize: 0,
                merge: attributes::merge,
            },
            features: None,
            doubts: None,
        }),
        pointer: Some(DataPointer {
            symbol: "__global_pointer$",
            section: b".sdata",
            offset: 0x800,
            has_relocs: false,
        }),
        properties: Properties {
            rules: &[(FEATURE_1_AND..=FEATURE_1_AND, Rule::And)],
            control_flow: None,
            landing: None,
            labels: Some(Labels { property: FEATURE_1_AND, unlabeled: 1, by_type: 4, shadow_stack: 2 }),
            signing: None,
        },
        ..Facts::PLAIN
    }
}

/// `GNU_PROPERTY_RISCV_FEATURE_1_AND`
const FEATURE_1_AND: u32 = 0xc000_0000;

/// As in [`JoinFlags`].
fn join_flags(before: u32, more: u32) -> Result<u32, FlagsClash> {
    if (before ^ more) & EF_FLOAT_ABI != 0 {
        const OWN: [&str; 4] =
            ["the soft-float ABI", "the single-float ABI", "the double-float ABI", "the quad-float ABI"];
        const OTHERS: [&str; 4] =
            ["the soft-float one", "the single-float one", "the double-float one", "the quad-float one"];
        let number = |flags: u32| (flags & EF_FLOAT_ABI) as usize >> 1;
        return Err(FlagsClash::FloatAbi(OWN[number(more)], OTHERS[number(before)]));
    }
    if (before ^ more) & EF_RVE != 0 {
        let (own, others) = if more & EF_RVE != 0 { (16, 32) } else { (32, 16) };
        return Err(FlagsClash::Registers(own, others));
    }
    Ok(before | more & (EF_RVC | EF_TSO))
}

/// RISC-V; `WIDE`: with addresses of 64 bits.
pub struct Riscv<const WIDE: bool>;

impl<const WIDE: bool> Riscv<WIDE> {
    fn of(kind: u32) -> &'static Type {
        if WIDE { &WIDE_TYPES[kind as usize] } else { &NARROW_TYPES[kind as usize] }
    }

    /// Addresses of 32 bits wrap around, and so do distances.
    #[inline(always)]
    fn wrapped(value: u64) -> i64 {
        if WIDE { value as i64 } else { i64::from(value as i32) }
    }

    /// What is stored of a value: words that are wider than addresses have those without a sign.
    #[inline(always)]
    fn stored(kind: u32, value: u64) -> i64 {
        match kind {
            R_64 | R_ADD64 | R_SUB64 if !WIDE => i64::from(value as u32),
            _ => Self::wrapped(value),
        }
    }

    /// Stores a value.
    #[inline(always)]
    fn store(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        let (of, value) = (Self::of(kind), Self::stored(kind, value));
        code::put(kind, of, out, at, value);
        if !WIDE && of.bits == 32 {
            return Ok(());
        }
        code::checked(of, value)
    }
}

impl<const WIDE: bool> Rules for Riscv<WIDE> {
    const FACTS: Facts = facts(WIDE);
    const DEBUG_OFFSET: u32 = R_32;
    /// The address that instructions make instead of loading it.
    type GotForm = ();
    type TlsCall = ();
    const UNDEFINED_IS_NEAR: bool = true;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        Self::store(kind, out, at, value)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        match WIDE {
            true => out[at..at + 8].copy_from_slice(&value.to_le_bytes()),
            false => out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
        }
    }

    /// An instruction has a part of the slot's address, data all of it.
    fn reaches_behind_slots(kind: u32) -> bool {
        kind == R_GOT32_PCREL
    }

    fn slot_from(code: Code) -> From {
        Self::of(code.reloc.kind()).from
    }

    /// Branches lead to themselves; an address is 0, and is within reach where programs are linked.
    fn undefined(kind: u32, here: Address) -> Address {
        let branches =
            matches!(kind, R_BRANCH | R_JAL | R_CALL | R_CALL_PLT | R_RVC_BRANCH | R_RVC_JUMP | R_PLT32);
        if branches { here } else { Address::ZERO }
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        (code.reloc.kind() == R_GOT_HI20 && code.reloc.r_addend() == 0).then_some(())
    }

    fn got_pair(bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
        relax::is_got_pair(WIDE, bytes, relocs, i)
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        Self::store(R_PCREL_HI20, field.out, field.at, target.wrapping_sub(field.address))
    }

    fn is_descriptor(code: Code) -> bool {
        code::instruction(code.bytes, code.at).is_some_and(code::is_auipc)
    }

    fn shrink() -> Option<&'static dyn Shrink> {
        Some(&relax::Relax::<WIDE>)
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        apply::allocated::<WIDE, S>(site, out);
    }

    fn apply_debug<S: Site>(site: &S, tombstone: u64, out: &mut [u8]) {
        apply::debug::<WIDE>(site, tombstone, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(WIDE, plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt(WIDE, plan, start, out);
    }

    /// The header calls the loader, which is told the entry's number.
    fn unbound(plan: &Plan, _entry: u32) -> Address {
        plan.plt
    }
}
