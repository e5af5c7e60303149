//! Qualcomm's Hexagon: constants, and what is said of its relocations. 32 bits, little endian.
//!
//! Instructions are executed in packets of up to four. The program counter, from which branches count, is the start of
//! the packet. Thread-local storage ends where the register `ugp` points; sequences for it are not fixed ones, and stay as
//! they are. Code for fixed addresses may count from the register `gp`, near which small variables are.
//!
//! Specification: "Qualcomm Hexagon Application Binary Interface User Guide" (80-N2040-23).

mod attributes;
mod code;
mod plt;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::class::Class;
use super::facts::*;
use super::plt::Plan;
use super::rules::{Failure, FieldAt, Rules};
use super::site::Site;
use crate::address::Address;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target, Types};
use types::*;

/// What is called for the address of a thread-local variable, by calls that name the variable.
const TLS_GET_ADDR: &[u8] = b"__tls_get_addr";
/// Where `gp` points.
const SMALL_DATA: &str = "_SDA_BASE_";

static WRITTEN: Written = Written {
    types: Types { from: ADDRESS_32_PCREL_X, list: &[R_HEX_B32_PCREL_X], is_packed: false },
    number: |kind| kind,
};

static ASKS_FOR: [AsksFor; 2] = [
    AsksFor { symbol: TLS_GET_ADDR, asks: calls_for_variable },
    AsksFor { symbol: SMALL_DATA.as_bytes(), asks: is_small },
];

const FACTS: Facts = Facts {
    name: "Hexagon",
    emulations: &["hexagonelf"],
    object_format: "elf32-hexagon",
    other_formats: &["elf32-littlehexagon"],
    architecture: "hexagon",
    target: Target::new(164, Format { class: ElfClass::Elf32, order: Order::Little }),
    written: Some(&WRITTEN),
    asks_for: &ASKS_FOR,
    settle: Some(settle),
    pages: Pages { smallest: 0x1000, max: 0x1_0000, common: 0x1000 },
    image_base: Address::new(0x1_0000),
    // Four of them are a packet that loads from where r0 points.
    filler: 0,
    tls: Tls::StorageFirst,
    keeps_local_dynamic: true,
    types: &TYPES,
    type_names: &NAMES,
    none: R_HEX_NONE,
    dynamic: DynamicTypes {
        with_addends: true,
        address: R_HEX_32,
        distance: None,
        copy: R_HEX_COPY,
        glob_dat: R_HEX_GLOB_DAT,
        jump_slot: R_HEX_JMP_SLOT,
        relative: R_HEX_RELATIVE,
        signed: None,
        irelative: None,
        resolvers_in_plt: false,
        dtpmod: R_HEX_DTPMOD_32,
        dtpoff: R_HEX_DTPREL_32,
        tpoff: R_HEX_TPREL_32,
        backward_tpoff: None,
        // There are no TLS descriptors.
        tlsdesc: R_HEX_NONE,
    },
    got_base: GotBase::GotPlt,
    plt: plt::PLT,
    flags: Some(FileFlags::Always(attributes::flags)),
    output_flags: Some(attributes::output_flags),
    attributes: Some(Attributes::joined(attributes::SECTION, 0x7000_0003, attributes::merge)),
    pointer: Some(DataPointer { symbol: SMALL_DATA, section: b".sdata", offset: 0, has_relocs: true }),
    branches: Some(thunks::BRANCHES),
    ..Facts::PLAIN
};

/// Has calls that name a variable be calls of the function for it, and tells what makes an address from what calls:
/// the extension of both is of one type.
fn settle(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    for i in 0..relocs.len() {
        let (kind, symbol, at) = (relocs[i].kind(), relocs[i].sym(), relocs[i].r_offset());
        let (kind, symbol) = match kind {
            R_HEX_B32_PCREL_X => {
                let rest = relocs.get(i + 1).filter(|next| next.r_offset() == at.wrapping_add(4));
                if rest.is_none_or(|rest| (rest.kind(), rest.sym()) != (R_HEX_6_PCREL_X, symbol)) {
                    continue;
                }
                (ADDRESS_32_PCREL_X, symbol)
            }
            _ if calls_for_variable(kind) => (kind, object.find(TLS_GET_ADDR).unwrap_or(symbol)),
            _ => continue,
        };
        relocs[i] = Rela::make(at, symbol, kind, relocs[i].r_addend());
    }
}

pub struct Hexagon;

impl Rules for Hexagon {
    const FACTS: Facts = FACTS;
    const DEBUG_OFFSET: u32 = R_HEX_32;
    type GotForm = ();
    type TlsCall = ();
    const TLS_CALL_RELOCS: usize = 0;
    const UNDEFINED_IS_NEAR: bool = true;

    #[inline(always)]
    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        code::put(kind, out, at, value)
    }

    #[inline(always)]
    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }

    /// Null, if it is within reach; else the next packet of one instruction.
    fn undefined(kind: u32, here: Address) -> Address {
        let null = Address::ZERO;
        if TYPES[kind as usize].fits(i64::from(null.wrapping_sub(here) as i32)) { null } else { here + 4 }
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        match site.relocs().iter().any(|reloc| is_small(reloc.kind())) {
            true => apply_with_small(site, out),
            false => site.apply_each::<Self>(out),
        }
    }

    fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
        plt::write(plan, start, out);
    }

    fn unbound(plan: &Plan, _entry: u32) -> Address {
        plt::unbound(plan)
    }
}

/// Applies the relocations of a section of which some count from the register for small data.
fn apply_with_small<S: Site>(site: &S, out: &mut [u8]) {
    let pointer = site.settings().pointer;
    for (i, reloc) in site.relocs().iter().enumerate() {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Hexagon::class(kind);
        if class == Class::None {
            continue;
        }
        if at.checked_add(Hexagon::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        if !is_small(kind) {
            let place = site.resolve(reloc);
            let done = site.special::<Hexagon>(class, i, FieldAt { out: &mut *out, at }, place);
            site.branch::<Hexagon>(reloc, place, FieldAt { out: &mut *out, at }, done.map(drop));
            continue;
        }
        let Some(pointer) = pointer else {
            site.refuse(reloc, "counts from _SDA_BASE_, which nothing in this output defines");
            continue;
        };
        if let Err(failure) = code::put(kind, out, at, site.target(reloc).wrapping_sub(pointer)) {
            site.report(reloc, failure);
        }
    }
}
