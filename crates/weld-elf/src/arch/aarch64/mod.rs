//! AArch64: constants, and what is said of its relocations. Both byte orders: instructions are little endian
//! in either.
//!
//! An address is made in two steps: the distance between pages of 4 KiB, then the low 12 bits. Compilers may
//! move the two apart, and use one page for several accesses. So what goes through a slot is rewritten for
//! all of a symbol's instructions or for none ([`Rules::ALL_OR_NONE`]); each is then replaced alone, by one
//! that does the same step for another address.
//!
//! Specification: "ELF for the Arm 64-bit Architecture (AAELF64)", "System V ABI for the Arm 64-bit
//! Architecture", and "Arm Architecture Reference Manual", C6 (instructions).

mod attributes;
mod code;
mod errata;
mod plt;
mod relax;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::class::From;
use super::facts::*;
use super::plt::Plan;
use super::rules::{Code, Failure, Field, Looks, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, SHF_AARCH64_PURECODE, SHT_AARCH64_AUTH_RELR, Target};
use types::*;

const fn facts(big: bool) -> Facts {
    let order = if big { Order::Big } else { Order::Little };
    Facts {
        name: if big { "AArch64 (big endian)" } else { "AArch64" },
        emulations: if big {
            &["aarch64linuxb", "aarch64elfb", "aarch64_be_linux"]
        } else {
            &["aarch64linux", "aarch64elf"]
        },
        object_format: if big { "elf64-bigaarch64" } else { "elf64-littleaarch64" },
        architecture: "aarch64",
        target: Target::new(183, Format { class: ElfClass::Elf64, order }),
        pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
        image_base: Address::new(0x20_0000),
        // Four of them are an instruction that traps.
        filler: 0,
        // bti c; ret
        does_nothing: &[0x5f, 0x24, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6],
        tls: Tls::BlockFirst(16),
        types: &TYPES,
        type_names: &NAMES,
        none: R_NONE,
        dynamic: DynamicTypes {
            with_addends: true,
            address: R_ABS64,
            distance: None,
            copy: R_COPY,
            glob_dat: R_GLOB_DAT,
            jump_slot: R_JUMP_SLOT,
            relative: R_RELATIVE,
            signed: Some(SIGNED),
            irelative: Some(R_IRELATIVE),
            resolvers_in_plt: true,
            dtpmod: R_TLS_DTPMOD64,
            dtpoff: R_TLS_DTPREL64,
            tpoff: R_TLS_TPREL64,
            backward_tpoff: None,
            tlsdesc: R_TLSDESC,
        },
        plt: plt::PLT,
        variant_calls: Some(VariantCalls { other: 0x80, tag: 0x7000_0005 }),
        tagging: Some(TAGGING),
        execute_only: SHF_AARCH64_PURECODE,
        attributes: Some(Attributes {
            name: ".ARM.attributes",
            section: 0x7000_0003,
            output: AttributesOutput::Properties(attributes::read),
            features: None,
            doubts: None,
        }),
        properties: Properties {
            rules: &[(FEATURE_1_AND..=FEATURE_1_AND, Rule::And)],
            control_flow: None,
            landing: Some(Landing { property: FEATURE_1_AND, marked: 1, signed: 2, guarded_stack: 4 }),
            labels: None,
            signing: Some(FEATURE_PAUTH),
        },
        branches: Some(thunks::branches(big)),
        ..Facts::PLAIN
    }
}

const FEATURE_1_AND: u32 = 0xc000_0000;
const FEATURE_PAUTH: u32 = 0xc000_0001;

const SIGNED: SignedTypes = SignedTypes {
    relative: R_AUTH_RELATIVE,
    glob_dat: R_AUTH_GLOB_DAT,
    tlsdesc: R_AUTH_TLSDESC,
    packed: SHT_AARCH64_AUTH_RELR,
    packed_tags: [0x7000_0012, 0x7000_0011, 0x7000_0013],
};

/// Source: "Memtag Extension to ELF for the Arm 64-bit Architecture".
const TAGGING: Tagging = Tagging {
    mode_tag: 0x7000_0009,
    heap_tag: 0x7000_000b,
    stack_tag: 0x7000_000c,
    variables: 0x7000_0007,
    descriptors: 0x7000_0008,
    descriptors_tags: [0x7000_000d, 0x7000_000f],
};

pub struct Aarch64<const BIG: bool>;

impl<const BIG: bool> Rules for Aarch64<BIG> {
    const FACTS: Facts = facts(BIG);
    /// Each instruction by itself.
    const LOOKS: Option<Looks> = Some(Looks { slot: (0, 4), call: (0, 4) });
    const DEBUG_OFFSET: u32 = R_ABS32;
    /// The address that an instruction makes instead of loading it.
    type GotForm = ();
    type TlsCall = ();
    const TLS_CALL_RELOCS: usize = 2;
    const ALL_OR_NONE: bool = true;
    const UNDEFINED_IS_NEAR: bool = true;

    #[inline(always)]
    fn put_distance(
        kind: u32,
        out: &mut [u8],
        at: usize,
        target: Address,
        here: Address,
    ) -> Result<(), Failure> {
        match kind {
            R_CALL26 | R_JUMP26 => code::put_branch(out, at, target.wrapping_sub(here) as i64),
            R_ADR_PREL_PG_HI21 | R_ADR_PREL_PG_HI21_NC => {
                let pages = code::pages(target.get(), here.get());
                code::put_pages(out, at, pages);
                code::checked(kind, pages)
            }
            _ => put::<BIG>(kind, out, at, target.wrapping_sub(here) as i64),
        }
    }

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        if kind == R_ADD_ABS_LO12_NC {
            code::put_low(out, at, value as i64, 0);
            return Ok(());
        }
        put::<BIG>(kind, out, at, value as i64)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        let bytes = if BIG { value.to_be_bytes() } else { value.to_le_bytes() };
        out[at..at + 8].copy_from_slice(&bytes);
    }

    fn is_signed(kind: u32) -> bool {
        is_signed(kind)
    }

    /// Branches go on after themselves, other distances are from the place to itself (AAELF64, "Weak
    /// References").
    fn undefined(kind: u32, here: Address) -> Address {
        if matches!(kind, R_CALL26 | R_JUMP26 | R_CONDBR19 | R_TSTBR14) { here + 4 } else { here }
    }

    /// An instruction has a part of the slot's address, data all of it.
    fn reaches_behind_slots(kind: u32) -> bool {
        is_data(kind)
    }

    fn slot_from(code: Code) -> From {
        TYPES[code.reloc.kind() as usize].from
    }

    fn got_form(code: Code, _pic: bool) -> Option<()> {
        let fits = code.reloc.r_addend() == 0 && relax::is_got_load(code.reloc.kind(), code.bytes, code.at);
        fits.then_some(())
    }

    fn rewrite_got(_form: (), field: Field, target: Address) -> Result<(), Failure> {
        relax::load_to_address(field, target)
    }

    fn tls_call(bytes: &[u8], relocs: &[Rela], i: usize) -> Option<()> {
        relax::is_tls_call(bytes, relocs, i).then_some(())
    }

    fn general_to_local_exec(_call: (), field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::general_to_local_exec(field, tpoff)
    }

    fn general_to_initial_exec(_call: (), field: Field, slot: Address) -> Result<(), Failure> {
        relax::general_to_initial_exec(field, slot)
    }

    fn local_dynamic_to_local_exec(_call: (), field: Field) -> Result<(), Failure> {
        relax::local_dynamic_to_local_exec(field)
    }

    fn is_initial_exec(code: Code) -> bool {
        relax::is_initial_exec(code.reloc.kind(), code.bytes, code.at)
    }

    fn initial_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::initial_to_local_exec(field, tpoff)
    }

    fn is_descriptor(code: Code) -> bool {
        relax::is_descriptor(code.reloc.kind(), code.bytes, code.at)
    }

    fn descriptor_to_local_exec(field: Field, tpoff: i64) -> Result<(), Failure> {
        relax::descriptor_to_local_exec(field, tpoff)
    }

    fn descriptor_to_initial_exec(field: Field, slot: Address) -> Result<(), Failure> {
        relax::descriptor_to_initial_exec(field, slot)
    }

    fn descriptor_call_to_nothing(field: Field) -> Result<(), Failure> {
        code::put_instruction(field.out, field.at, code::NOP);
        Ok(())
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        site.apply_each::<Self>(out);
        relax::shorten(site, out);
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(plan, start, out);
    }

    fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write_iplt(plan, start, out);
    }

    /// The header calls the loader, which tells the entry by the word's address.
    fn unbound(plan: &Plan, _entry: u32) -> Address {
        plan.plt
    }
}

/// Stores a value, in data or in an instruction.
#[inline(always)]
fn put<const BIG: bool>(kind: u32, out: &mut [u8], at: usize, value: i64) -> Result<(), Failure> {
    if is_data(kind) {
        let width = usize::from(TYPES[kind as usize].width);
        let high = value << (64 - 8 * width as u32);
        let bytes = if BIG { high.to_be_bytes() } else { value.to_le_bytes() };
        out[at..at + width].copy_from_slice(&bytes[..width]);
    } else {
        code::put(kind, out, at, value);
    }
    code::checked(kind, value)
}
