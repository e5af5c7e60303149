//! PowerPC with 64 bits and the ABIs ELFv2 and ELFv1: constants, and what is said of its relocations. Both byte orders.
//!
//! r2 points into the TOC: the GOT, and what objects have beside it (`.toc`), 0x8000 bytes after its start, so
//! that 16 bits with a sign reach 64 KiB of it. r13 is the thread pointer.
//!
//! ELFv1, the ABI of other systems with big endian, has function descriptors ([`descriptors`]). Instructions and
//! relocations are the same; r2 is kept elsewhere in stack frames, and functions have one entry.
//!
//! Specification: "64-Bit ELF V2 ABI Specification, Power Architecture" (OpenPOWER), version 1.5; "64-bit PowerPC ELF
//! Application Binary Interface Supplement 1.9".

mod apply;
mod code;
mod descriptors;
mod plt;
mod plt_by_descriptors;
mod relax;
mod save_restore;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::class::{Class, Type};
use super::facts::*;
use super::plt::{First, Plan};
use super::rules::{Code, Failure, Field, Rules, WordUse};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};
use types::*;

const fn facts<const BIG: bool>() -> Facts {
    let order = if BIG { Order::Big } else { Order::Little };
    Facts {
        name: if BIG { "PowerPC64 (big endian)" } else { "PowerPC64" },
        emulations: if BIG { &["elf64ppc"] } else { &["elf64lppc"] },
        object_format: if BIG { "elf64-powerpc" } else { "elf64-powerpcle" },
        architecture: "powerpc:common64",
        target: Target::with_abi(21, Format { class: ElfClass::Elf64, order }, ELFV2),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
        image_base: Address::new(0x1000_0000),
        // Four of them are no instruction, and trap.
        filler: 0,
        tls: Tls::Behind(0x7000),
        tls_offset: 0x8000,
        types: &TYPES,
        type_names: &NAMES,
        none: R_PPC64_NONE,
        dynamic: DynamicTypes {
            with_addends: true,
            address: R_PPC64_ADDR64,
            distance: None,
            copy: R_PPC64_COPY,
            glob_dat: R_PPC64_GLOB_DAT,
            jump_slot: R_PPC64_JMP_SLOT,
            relative: R_PPC64_RELATIVE,
            signed: None,
            irelative: Some(R_PPC64_IRELATIVE),
            resolvers_in_plt: false,
            dtpmod: R_PPC64_DTPMOD64,
            dtpoff: R_PPC64_DTPREL64,
            tpoff: R_PPC64_TPREL64,
            backward_tpoff: None,
            // There are no TLS descriptors.
            tlsdesc: R_PPC64_NONE,
        },
        toc: Some(Toc { symbol: ".TOC.", bias: 0x8000, sections: &[b".toc"], near: &SMALL_MODEL }),
        plt: plt::PLT,
        flags: Some(FileFlags::Always(join_flags)),
        output_flags: Some(output_flags),
        foreign_section: Some(".opd"),
        branches: Some(thunks::branches(if BIG { &BIG_SETS } else { &LITTLE_SETS })),
        register_code: save_restore::RUNS,
        called_other: 0xe0,
        ..Facts::PLAIN
    }
}

/// ELFv1, which has only one byte order in use.
const fn facts_v1() -> Facts {
    Facts {
        name: "PowerPC64 (big endian, ELFv1)",
        target: Target::with_abi(21, Format { class: ElfClass::Elf64, order: Order::Big }, ELFV1),
        dynamic: DynamicTypes {
            // The words of an entry of the PLT are a descriptor, all of which loaders fill.
            irelative: Some(R_PPC64_JMP_IREL),
            ..facts::<true>().dynamic
        },
        types: &V1_TYPES,
        plt: plt_by_descriptors::PLT,
        flags: Some(FileFlags::Always(join_flags_v1)),
        output_flags: Some(output_flags_v1),
        foreign_section: None,
        branches: Some(thunks::branches(&V1_SETS)),
        descriptors: Some(Descriptors {
            section: descriptors::SECTION,
            kind: R_PPC64_ADDR64,
            separate: descriptors::separate,
        }),
        ..facts::<true>()
    }
}

/// As in ELFv2, but for absolute branches, whose targets are code, as symbols are not, those without a TOC, and calls by words,
/// which would be those of a copy of the descriptor.
static V1_TYPES: [Type; 255] = {
    const OTHERS: [u32; 4] = [R_PPC64_ADDR24, R_PPC64_ADDR14, R_PPC64_REL24_NOTOC, R_PPC64_REL24_P9NOTOC];
    let mut types = TYPES;
    let mut i = 0;
    while i < OTHERS.len() {
        types[OTHERS[i] as usize].class = Class::Unknown;
        i += 1;
    }
    let mut kind = 0;
    while kind < types.len() {
        if calls_by_word(kind as u32) {
            types[kind].class = Class::Unknown;
        }
        kind += 1;
    }
    types
};

/// What code of the small model has for data near the TOC: a distance of 16 bits.
const SMALL_MODEL: [u32; 7] = [
    R_PPC64_TOC16,
    R_PPC64_TOC16_DS,
    R_PPC64_GOT16,
    R_PPC64_GOT16_DS,
    R_PPC64_GOT_TLSGD16,
    R_PPC64_GOT_TPREL16_DS,
    R_PPC64_GOT_DTPREL16_DS,
];

static V1_SETS: InstructionSets = thunks::by_descriptors::sets::<true>();
static LITTLE_SETS: InstructionSets = thunks::sets::<false>();
static BIG_SETS: InstructionSets = thunks::sets::<true>();

/// `e_flags`: the version of the ABI. Objects that use nothing of it may say 0.
const EF_ABI: u32 = 3;
const ELFV1: u32 = 1;
const ELFV2: u32 = 2;

fn join_flags(before: u32, next: u32) -> Result<u32, FlagsClash> {
    match next & EF_ABI {
        0 | ELFV2 => Ok(before & !EF_ABI | ELFV2),
        version => Err(FlagsClash::NotSecond(version)),
    }
}

/// Files that say that they are of ELFv2 are for another machine. With `-r`, what nobody says is left open.
fn join_flags_v1(before: u32, next: u32) -> Result<u32, FlagsClash> {
    Ok(before & !EF_ABI | (before | next) & ELFV1)
}

fn output_flags_v1(flags: u32, _features: u32) -> u32 {
    flags & !EF_ABI | ELFV1
}

fn output_flags(flags: u32, _features: u32) -> u32 {
    flags & !EF_ABI | ELFV2
}

/// In either byte order; of ELFv2, or of ELFv1.
pub struct Ppc64<const BIG: bool, const V1: bool>;

impl<const BIG: bool, const V1: bool> Ppc64<BIG, V1> {
    /// Writes entries that are called.
    fn write_called(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
        match V1 {
            true => plt_by_descriptors::write_called(plan, first, start, out),
            false => plt::write_called::<BIG>(plan, first, start, out),
        }
    }
}

impl<const BIG: bool, const V1: bool> Rules for Ppc64<BIG, V1> {
    const FACTS: Facts = if V1 { facts_v1() } else { facts::<BIG>() };
    const DEBUG_OFFSET: u32 = R_PPC64_ADDR32;
    /// The address that an instruction makes instead of loading it.
    type GotForm = ();
    type TlsCall = ();
    /// Calls are rewritten by their marks.
    const TLS_CALL_RELOCS: usize = 0;
    const UNDEFINED_IS_NEAR: bool = true;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        code::put::<BIG>(kind, out, at, value as i64)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 8].copy_from_slice(&if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    /// Instructions have parts of the slot's address.
    fn reaches_behind_slots(_kind: u32) -> bool {
        false
    }

    /// Null; branches do not ask, but go on after themselves.
    fn undefined(_kind: u32, _here: Address) -> Address {
        Address::ZERO
    }

    fn has_no_base(kind: u32) -> Option<bool> {
        is_without_toc(kind).then_some(kind == R_PPC64_REL24_NOTOC)
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        relax::is_slot_load::<BIG>(&code).then_some(())
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        relax::load_to_address::<BIG>(field, target)
    }

    fn word_use(code: Code) -> WordUse {
        relax::word_use::<BIG>(&code)
    }

    fn tls_call(_bytes: &[u8], relocs: &[Rela], i: usize) -> Option<()> {
        let kind = relocs[i].kind();
        (relax::is_sequence(Self::class(kind), kind) && relax::is_marked(relocs, i)).then_some(())
    }

    fn is_marked_call(relocs: &[Rela], i: usize) -> bool {
        relax::is_marked_call(relocs, i)
    }

    fn marks_call(kind: u32) -> bool {
        relax::marks_call(kind)
    }

    fn general_to_local_exec(_call: (), field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::general_to_local_exec::<BIG>(field, tpoff)
    }

    fn general_to_initial_exec(_call: (), field: Field, slot: Address) -> Result<(), Failure> {
        relax::general_to_initial_exec::<BIG>(field, slot)
    }

    fn local_dynamic_to_local_exec(_call: (), field: Field) -> Result<(), Failure> {
        relax::local_dynamic_to_local_exec::<BIG>(field)
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_initial_exec(code.reloc.kind())
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::initial_to_local_exec::<BIG>(field, tpoff)
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        apply::allocated::<BIG, V1, S>(site, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        match V1 {
            true => plt_by_descriptors::write_lazy(plan, start, out),
            false => plt::write_lazy::<BIG>(plan, start, out),
        }
    }

    fn write_plt_sec(plan: &Plan, start: u64, out: &mut [u8]) {
        Self::write_called(plan, First { number: 0, address: plan.plt_sec }, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        Self::write_called(plan, First { number: plan.jump_slots, address: plan.iplt }, start, out);
    }

    fn unresolved(plan: &Plan, entry: u32, part: u64) -> Address {
        plt_by_descriptors::unresolved(plan, entry, part)
    }

    fn unbound(plan: &Plan, entry: u32) -> Address {
        if V1 { plt_by_descriptors::unbound(plan, entry) } else { plt::unbound(plan, entry) }
    }
}
