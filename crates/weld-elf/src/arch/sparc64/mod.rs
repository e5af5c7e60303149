//! SPARC V9 with 64 bits: constants, and what is said of its relocations. Big endian.
//!
//! `%g7` is the thread pointer, `%l7` mostly has the GOT's base in position-independent code. The instruction
//! after a branch is executed before what it goes to.
//!
//! Specification: "SPARC Compliance Definition" 2.4.1, chapters 4P and 5P; "ELF Handling For Thread-Local
//! Storage".

mod attributes;
mod code;
mod plt;
mod relax;
#[cfg(test)]
mod tests;
mod types;

use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Rules};
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, SHT_GNU_ATTRIBUTES, Target};
use types::*;

const FACTS: Facts = Facts {
    name: "SPARC V9",
    emulations: &["elf64_sparc"],
    object_format: "elf64-sparc",
    architecture: "sparc:v9",
    target: Target::new(43, Format { class: ElfClass::Elf64, order: Order::Big }),
    written: Some(&WRITTEN),
    settle: Some(settle),
    pages: Pages { smallest: 0x2000, max: 0x10_0000, common: 0x2000 },
    image_base: Address::new(0x10_0000),
    // Four of them are an instruction that traps.
    filler: 0,
    tls: Tls::StorageFirst,
    types: &TYPES,
    type_names: &NAMES,
    none: R_SPARC_NONE,
    slots_have_addends: true,
    dynamic: DynamicTypes {
        with_addends: true,
        address: R_SPARC_64,
        distance: None,
        copy: R_SPARC_COPY,
        glob_dat: R_SPARC_GLOB_DAT,
        jump_slot: R_SPARC_JMP_SLOT,
        relative: R_SPARC_RELATIVE,
        signed: None,
        irelative: Some(R_SPARC_IRELATIVE),
        resolvers_in_plt: false,
        dtpmod: R_SPARC_TLS_DTPMOD64,
        dtpoff: R_SPARC_TLS_DTPOFF64,
        tpoff: R_SPARC_TLS_TPOFF64,
        backward_tpoff: None,
        // There are no TLS descriptors.
        tlsdesc: R_SPARC_NONE,
    },
    got_base: GotBase::GotWithHead { words: 1, reach: u32::MAX },
    plt: plt::PLT,
    flags: Some(FileFlags::Always(attributes::flags)),
    // STT_SPARC_REGISTER
    register_symbol: Some(13),
    attributes: Some(Attributes::joined(attributes::SECTION, SHT_GNU_ATTRIBUTES, attributes::merge)),
    ..Facts::PLAIN
};

/// Calls by `R_SPARC_TLS_GD_CALL` and its like name a variable; what they call is the function that objects with
/// such calls name, too. In executables they are rewritten and call nothing.
fn settle(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    if !object.is_in_library() {
        return;
    }
    let calls = relocs.iter_mut().filter(|r| matches!(r.kind(), R_SPARC_TLS_GD_CALL | R_SPARC_TLS_LDM_CALL));
    for reloc in calls {
        let called = object.find(b"__tls_get_addr");
        let (symbol, kind) = called.map_or((reloc.sym(), CALL_OF_NOTHING), |symbol| (symbol, R_SPARC_WPLT30));
        *reloc = Rela::make(reloc.r_offset(), symbol, kind, 0);
    }
}

pub struct Sparc64;

impl Rules for Sparc64 {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_SPARC_UA32;
    type GotForm = ();
    type TlsCall = ();
    /// The other instructions of a sequence are marked by themselves.
    const TLS_CALL_RELOCS: usize = 0;
    const ALL_OR_NONE: bool = true;
    const UNDEFINED_IS_NEAR: bool = true;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        code::put(kind, out, at, value as i64)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 8].copy_from_slice(&value.to_be_bytes());
    }

    /// Instructions have parts of the slot's address.
    fn reaches_behind_slots(_kind: u32) -> bool {
        false
    }

    /// Null; branches do not ask, but go on after themselves and the next instruction.
    fn undefined(kind: u32, here: Address) -> Address {
        if is_branch(kind) { here.wrapping_add(8) } else { Address::ZERO }
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        relax::is_slot_load(code).then_some(())
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        relax::load_to_address(field, target)
    }

    fn tls_call(_bytes: &[u8], relocs: &[Rela], i: usize) -> Option<()> {
        relax::is_part(Self::class(relocs[i].kind())).then_some(())
    }

    fn marks_call(kind: u32) -> bool {
        relax::marks_call(kind)
    }

    fn rewrite_marked(field: Field, local: bool) -> Result<(), Failure> {
        relax::rewrite_marked(field, local)
    }

    fn general_to_local_exec(_call: (), field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::part_to_offset(field, tpoff)
    }

    fn general_to_initial_exec(_call: (), field: Field, slot: Address) -> Result<(), Failure> {
        relax::part_to_slot(field, slot)
    }

    fn local_dynamic_to_local_exec(_call: (), field: Field) -> Result<(), Failure> {
        relax::part_to_nothing(field)
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_part(Self::class(code.reloc.kind()))
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::part_to_offset(field, tpoff)
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt(plan, start, out);
    }
}
