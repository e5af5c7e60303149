//! LoongArch: constants, and what is said of its relocations. Addresses of 64 bits and of 32, little endian.
//!
//! An address is made as on AArch64, by pages of 4 KiB and the low 12 bits, which may be far apart; but these
//! bits mostly have a sign, so that pages are rounded. With addresses of 64 bits, two more instructions can
//! add the upper half. With addresses of 32 bits newer code counts from the instruction instead, as that of
//! RISC-V, and the second one names the first by a label.
//!
//! As on RISC-V, compilers mark what may become shorter (`R_LARCH_RELAX`), and where code has to be aligned
//! (`R_LARCH_ALIGN`); differences of labels are relocations that add and subtract. `relax` says what becomes
//! shorter, `apply` stores what is left.
//!
//! Specification: "ELF for the LoongArch Architecture", version 2.30 and later ("la-abi-specs").

mod apply;
mod code;
mod plt;
mod relax;
#[cfg(test)]
mod tests;
mod thunks;
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

/// `e_flags`: where floating-point arguments are, and the version of relocations.
const EF_FLOAT_ABI: u32 = 7;
const EF_VERSION: u32 = 0xc0;
const EF_VERSION_1: u32 = 0x40;

static WIDE_TYPES: [Type; COUNT] = table(&types::<true>());
static NARROW_TYPES: [Type; COUNT] = table(&types::<false>());
static WIDE_NAMES: [u8; names_size(&types::<true>())] = names(&types::<true>());
static NARROW_NAMES: [u8; names_size(&types::<false>())] = names(&types::<false>());

const fn facts(wide: bool) -> Facts {
    let class = if wide { ElfClass::Elf64 } else { ElfClass::Elf32 };
    let address = if wide { R_64 } else { R_32 };
    Facts {
        name: if wide { "LoongArch (64-bit)" } else { "LoongArch (32-bit)" },
        emulations: if wide { &["elf64loongarch"] } else { &["elf32loongarch"] },
        object_format: if wide { "elf64-loongarch" } else { "elf32-loongarch" },
        architecture: if wide { "loongarch64" } else { "loongarch32" },
        target: Target::new(258, Format { class, order: Order::Little }),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x4000 },
        // Four of them are no instruction, and trap.
        filler: 0,
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
            tlsdesc: if wide { R_TLS_DESC64 } else { R_TLS_DESC32 },
        },
        plt: plt::PLT,
        flags: Some(FileFlags::Always(join_flags)),
        branches: Some(thunks::branches(wide)),
        ..Facts::PLAIN
    }
}

/// As in [`JoinFlags`].
fn join_flags(before: u32, more: u32) -> Result<u32, FlagsClash> {
    let version = (more & EF_VERSION) / EF_VERSION_1;
    if version != 1 {
        return Err(FlagsClash::AbiVersion(version));
    }
    if (before ^ more) & EF_FLOAT_ABI != 0 {
        return Err(FlagsClash::FloatAbi(float_abi(more), float_abi(before)));
    }
    Ok(before)
}

fn float_abi(flags: u32) -> &'static str {
    match flags & EF_FLOAT_ABI {
        1 => "the soft-float ABI",
        2 => "the single-float ABI",
        3 => "the double-float ABI",
        _ => "an ABI that is not known",
    }
}

/// LoongArch; `WIDE`: with addresses of 64 bits.
pub struct LoongArch<const WIDE: bool>;

impl<const WIDE: bool> LoongArch<WIDE> {
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
        if !WIDE && of.bits == 32 && of.align == 1 {
            return Ok(());
        }
        code::checked(kind, of, value)
    }
}

impl<const WIDE: bool> Rules for LoongArch<WIDE> {
    const FACTS: Facts = facts(WIDE);
    const DEBUG_OFFSET: u32 = R_32;
    /// The address that instructions make instead of loading it.
    type GotForm = ();
    type TlsCall = ();
    const ALL_OR_NONE: bool = true;
    const UNDEFINED_IS_NEAR: bool = true;
    const CALL_BY_PARTS: bool = true;

    #[inline(always)]
    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        Self::store(kind, out, at, code::distance(kind, target, here))
    }

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

    /// Instructions have parts of the slot's address.
    fn reaches_behind_slots(_kind: u32) -> bool {
        false
    }

    fn slot_from(code: Code) -> From {
        Self::of(code.reloc.kind()).from
    }

    /// Branches lead to themselves; an address is 0.
    fn undefined(kind: u32, here: Address) -> Address {
        if matches!(kind, R_B16 | R_B21 | R_B26 | R_CALL36 | R_CALL30) { here } else { Address::ZERO }
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        let kind = code.reloc.kind();
        (matches!(kind, R_GOT_PC_HI20 | R_GOT_PCADD_HI20) && code.reloc.r_addend() == 0).then_some(())
    }

    fn got_pair(bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
        relax::is_got_pair(WIDE, bytes, relocs, i)
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        Self::put_distance(field.kind, field.out, field.at, target, field.address)
    }

    fn is_part_of_call(bytes: &[u8], relocs: &[Rela], i: usize) -> bool {
        relax::is_part_of_call(bytes, relocs, i)
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_initial_exec(WIDE, code.reloc.kind(), code.bytes, code.at)
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::initial_to_local_exec(field, tpoff)
    }

    fn is_descriptor(code: Code) -> bool {
        relax::is_descriptor(WIDE, code.reloc.kind(), code.bytes, code.at)
    }

    fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::descriptor_to_local_exec(field, tpoff)
    }

    fn descriptor_to_initial_exec(field: Field, slot: Address) -> Result<(), Failure> {
        let code = match field.kind {
            R_TLS_DESC_PC_HI20 => code::pcalau12i(code::A0),
            R_TLS_DESC_PCADD_HI20 => code::pcaddu12i(code::A0, 0),
            R_TLS_DESC_PC_LO12 => code::load(WIDE, code::A0, code::A0, slot.get() as i64),
            _ => code::NOP,
        };
        code::put_instruction(field.out, field.at, code);
        if matches!(field.kind, R_TLS_DESC_PC_HI20 | R_TLS_DESC_PCADD_HI20) {
            return Self::put_distance(field.kind, field.out, field.at, slot, field.address);
        }
        Ok(())
    }

    fn descriptor_call_to_nothing(field: Field) -> Result<(), Failure> {
        code::put_instruction(field.out, field.at, code::NOP);
        Ok(())
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
