//! AVR: controllers with 8 bits and two memories, whose programs nobody loads. Addresses of data begin at
//! 0x800000 and are cut to 16 bits; those of code count words in instructions, bytes in files.
//!
//! Addresses of functions have 16 bits, for 128 KiB: for those beyond there are thunks, which jump on.
//! Processors with at most 8 KiB of code (avr2, avr25, avr4) have relative jumps that reach all of it around
//! its end.
//!
//! Specification: "AVR Instruction Set Manual"; `elf/avr.h` of binutils for `e_flags`.

mod code;
mod flags;
#[cfg(test)]
mod tests;
mod thunks;
mod types;

use super::class::Class;
use super::facts::*;
use super::rules::{Failure, FieldAt, Rules};
use super::site::Site;
use crate::elf::format::{Class as ElfClass, Order};
use crate::elf::{Format, Rela, Target};
use types::*;

pub struct Avr;

impl Rules for Avr {
    const FACTS: Facts = Facts {
        name: "AVR",
        emulations: &[
            "avr2",
            "avr1",
            "avr25",
            "avr3",
            "avr31",
            "avr35",
            "avr4",
            "avr5",
            "avr51",
            "avr6",
            "avrtiny",
            "avrxmega1",
            "avrxmega2",
            "avrxmega3",
            "avrxmega4",
            "avrxmega5",
            "avrxmega6",
            "avrxmega7",
        ],
        object_format: "elf32-avr",
        architecture: "avr",
        target: Target::new(83, Format { class: ElfClass::Elf32, order: Order::Little }),
        settle: Some(settle),
        // Two of them are `nop`.
        filler: 0,
        types: &TYPES,
        type_names: &NAMES,
        none: R_AVR_NONE,
        dynamic: DynamicTypes::without_loader(R_AVR_32),
        flags: Some(FileFlags::Always(flags::join)),
        branches: Some(thunks::BRANCHES),
        ..Facts::PLAIN
    };
    const DEBUG_OFFSET: u32 = R_AVR_32;
    type GotForm = ();
    type TlsCall = ();

    fn put(kind: u32, out: &mut [u8], at: usize, value: u64) -> Result<(), Failure> {
        code::put(kind, out, at, value as i64)
    }

    fn put_address(out: &mut [u8], at: usize, value: u64) {
        out[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }

    fn apply<S: Site>(site: &S, out: &mut [u8]) {
        apply(site, out);
    }
}

/// Where relative jumps go around the end of memory, they reach further.
fn settle(object: &dyn ObjectFacts, relocs: &mut [Rela]) {
    if !flags::is_small(object.flags()) {
        return;
    }
    for reloc in relocs.iter_mut().filter(|reloc| reloc.kind() == R_AVR_13_PCREL) {
        *reloc = Rela::make(reloc.r_offset(), reloc.sym(), AROUND_13_PCREL, reloc.r_addend());
    }
}

/// Applies the relocations of a section in memory: addresses of functions may be those of thunks.
fn apply<S: Site>(site: &S, out: &mut [u8]) {
    for (i, reloc) in site.relocs().iter().enumerate() {
        let kind = reloc.kind();
        let at = reloc.r_offset().wrapping_add(site.delta()) as usize;
        let class = Avr::class(kind);
        if class == Class::None {
            continue;
        }
        if at.checked_add(Avr::width(kind)).is_none_or(|end| end > out.len()) {
            site.out_of_bounds(reloc);
            continue;
        }
        let place = site.resolve(reloc);
        let field = FieldAt { out: &mut *out, at };
        let done = if is_function(kind) && place.is_settled() {
            let target = place.address.wrapping_add(place.addend as u64);
            let thunk =
                site.thunk(&thunks::jump(kind, target.get())).filter(|_| code::can_jump(target.get()));
            Avr::put(kind, field.out, at, thunk.unwrap_or(target).get())
        } else {
            site.special::<Avr>(class, i, field, place).map(drop)
        };
        if let Err(failure) = done {
            site.report(reloc, failure);
        }
    }
}
