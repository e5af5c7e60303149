//! PowerPC with 32 bits: constants, and what is said of its relocations. Both byte orders.
//!
//! r2 is the thread pointer. Position-independent code has an address in r30 from which it counts: the GOT's
//! base (`-fpic`), or one in its object's `.got2`, where compilers write the addresses that it needs
//! (`-fPIC`). Calls by `R_PPC_PLTREL24` say by their addend which one. Entries of the PLT here need neither
//! ([`plt`]), so that addend is taken away when relocations are read.
//!
//! Specification: "Power Architecture 32-bit Application Binary Interface Supplement" 1.0, Linux.

mod apply;
mod attributes;
mod code;
mod plt;
mod relax;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::facts::*;
use super::plt::{First, Plan};
use super::rules::{Code, Failure, Field, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, SHT_GNU_ATTRIBUTES, Target};
use types::*;

const fn facts<const BIG: bool>() -> Facts {
    let order = if BIG { Order::Big } else { Order::Little };
    Facts {
        name: if BIG { "PowerPC" } else { "PowerPC (little endian)" },
        emulations: if BIG {
            &["elf32ppc", "elf32ppclinux", "elf32ppcsim"]
        } else {
            &["elf32lppc", "elf32lppclinux", "elf32lppcsim"]
        },
        object_format: if BIG { "elf32-powerpc" } else { "elf32-powerpcle" },
        architecture: "powerpc:common",
        target: Target::new(20, Format { class: ElfClass::Elf32, order }),
        base_addend: Some(BaseAddend { kind: R_PPC_PLTREL24, least: IN_GOT2, section: b".got2" }),
        settle: Some(settle),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
        image_base: Address::new(0x1000_0000),
        // Four of them are no instruction, and trap.
        filler: 0,
        tls: Tls::Behind(0x7000),
        tls_offset: 0x8000,
        types: &TYPES,
        type_names: &NAMES,
        none: R_PPC_NONE,
        dynamic: DynamicTypes {
            with_addends: true,
            address: R_PPC_ADDR32,
            distance: None,
            copy: R_PPC_COPY,
            glob_dat: R_PPC_GLOB_DAT,
            jump_slot: R_PPC_JMP_SLOT,
            relative: R_PPC_RELATIVE,
            signed: None,
            irelative: Some(R_PPC_IRELATIVE),
            resolvers_in_plt: false,
            dtpmod: R_PPC_DTPMOD32,
            dtpoff: R_PPC_DTPREL32,
            tpoff: R_PPC_TPREL32,
            backward_tpoff: None,
            // There are no TLS descriptors.
            tlsdesc: R_PPC_NONE,
        },
        // Two words for the loader follow the first one.
        got_base: GotBase::GotWithHead { words: 3, reach: u32::MAX },
        plt: plt::PLT,
        attributes: Some(Attributes::joined(
            attributes::SECTION,
            SHT_GNU_ATTRIBUTES,
            attributes::merge::<BIG>,
        )),
        // r13 of embedded systems; start files of others name it, too.
        pointer: Some(DataPointer {
            symbol: "_SDA_BASE_",
            section: b".sdata",
            offset: 0x8000,
            has_relocs: false,
        }),
        branches: Some(thunks::branches::<BIG>()),
        ..Facts::PLAIN
    }
}

/// What calls by `.got2` have as their addend at least: a place so far after its start.
const IN_GOT2: i64 = 0x8000;

/// Takes from calls what they say of r30, and finds those of code before the GOT, which only the PLT has that
/// is code itself.
fn settle(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    for reloc in relocs {
        let (kind, addend) = match reloc.kind() {
            R_PPC_PLTREL24 if reloc.r_addend() < IN_GOT2 => continue,
            // What assemblers made of a local name is the rest of a section's symbol.
            R_PPC_PLTREL24 if object.name(reloc.sym()).is_empty() => {
                (R_PPC_PLTREL24, reloc.r_addend() - IN_GOT2)
            }
            R_PPC_PLTREL24 => (R_PPC_PLTREL24, 0),
            R_PPC_LOCAL24PC if object.name(reloc.sym()) == b"_GLOBAL_OFFSET_TABLE_" => {
                (CALL_OF_GOT, reloc.r_addend())
            }
            _ => continue,
        };
        *reloc = Rela::make(reloc.r_offset(), reloc.sym(), kind, addend);
    }
}

pub struct Ppc32<const BIG: bool>;

impl<const BIG: bool> Rules for Ppc32<BIG> {
    const FACTS: Facts = facts::<BIG>();
    const DEBUG_OFFSET: u32 = R_PPC_ADDR32;
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
        code::put_word::<BIG>(out, at, value as u32);
    }

    /// Instructions have parts of the slot's address.
    fn reaches_behind_slots(_kind: u32) -> bool {
        false
    }

    /// Null; branches do not ask, but go on after themselves.
    fn undefined(kind: u32, here: Address) -> Address {
        if is_branch(kind) { here.wrapping_add(4) } else { Address::ZERO }
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
        apply::allocated::<BIG, S>(site, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_lazy::<BIG>(plan, start, out);
    }

    fn write_plt_sec(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_called::<BIG>(plan, First { number: 0, address: plan.plt_sec }, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        let first = First { number: plan.jump_slots, address: plan.iplt };
        plt::write_called::<BIG>(plan, first, start, out);
    }

    fn unbound(plan: &Plan, entry: u32) -> Address {
        plt::unbound(plan, entry)
    }
}
