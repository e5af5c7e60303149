//! `.plt`, `.plt.sec`, `.iplt` and `.got.plt`: calls that the loader or a resolver binds. Their code and its
//! layout are the machine's (`arch`).

use super::image::Image;
use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::arch::Visitor;
use crate::arch::facts::{Apart, Facts, GotBase};
use crate::arch::plt;
use crate::arch::rules::Rules;
use crate::elf::*;
use crate::layout::ChunkKind;

/// What a section is called: `usual`, or as the machine says.
fn named(machine: &Facts, usual: &'static [u8], of: fn(&Apart) -> &'static [u8]) -> &'static [u8] {
    machine.plt.apart.as_ref().map_or(usual, of)
}

fn code(machine: &Facts, name: &'static [u8], size: u64) -> Option<Spec> {
    flagged(machine, name, SHF_ALLOC | SHF_EXECINSTR, size)
}

fn flagged(machine: &Facts, name: &'static [u8], flags: u64, size: u64) -> Option<Spec> {
    Spec::own(Header { name, kind: SHT_PROGBITS, flags, entsize: 0 }, machine.plt.align, size)
}

/// Cuts between entries of a size.
fn between(entry: u64) -> Cuts {
    match Cuts::ENTRIES {
        Cuts::Every(step) if !step.is_multiple_of(entry) => Cuts::Every(entry << 14),
        cuts => cuts,
    }
}

/// The sizes of all of them.
fn all(sizes: &Sizes) -> plt::Sizes {
    let slots = &sizes.plan.slots;
    let ifuncs = slots.ifuncs().len() as u32;
    plt::Sizes::new(sizes.plan.facts.mode.facts(), sizes.plan.plt, slots.jump_slots, ifuncs)
}

/// What the machine's writers have to know.
fn plan<'c>(image: &'c Image) -> plt::Plan<'c> {
    let (slots, bases) = (image.slots, &image.bases);
    plt::Plan {
        facts: image.mode.facts(),
        style: image.plt,
        jump_slots: slots.jump_slots,
        pic: image.mode.pic,
        plt: bases.plt,
        plt_sec: bases.plt_sec,
        iplt: bases.iplt,
        got: bases.got,
        got_base: bases.got_base,
        got_plt: bases.got_plt,
        first_word: image.got_plt_address(0),
        features: image.mode.features,
        barriers: image.options.dynamic.hazard_barriers,
        turned_code: image.mode.turned_code(),
        sink: image.sink,
    }
}

fn write(table: plt::Table, at: &At, out: &mut [u8]) {
    at.image().mode.machine.visit(Write { table, plan: plan(at.image()), start: at.start, out });
}

/// Writes some entries.
struct Write<'w> {
    table: plt::Table,
    plan: plt::Plan<'w>,
    start: u64,
    out: &'w mut [u8],
}

impl Visitor for Write<'_> {
    type Output = ();

    fn visit<R: Rules>(self) {
        match self.table {
            plt::Table::Plt => R::write_plt(&self.plan, self.start, self.out),
            plt::Table::PltSec => R::write_plt_sec(&self.plan, self.start, self.out),
            plt::Table::Iplt => R::write_iplt(&self.plan, self.start, self.out),
        }
    }
}

/// What the word of an entry holds before the loader looks its symbol up.
struct Unbound<'w> {
    plan: &'w plt::Plan<'w>,
    entry: u32,
}

impl Visitor for Unbound<'_> {
    type Output = u64;

    fn visit<R: Rules>(self) -> u64 {
        R::unbound(self.plan, self.entry).get()
    }
}

/// What a word of the descriptor for an IFUNC holds before its resolver is called.
struct Unresolved<'w> {
    plan: &'w plt::Plan<'w>,
    entry: u32,
    part: u64,
}

impl Visitor for Unresolved<'_> {
    type Output = u64;

    fn visit<R: Rules>(self) -> u64 {
        R::unresolved(self.plan, self.entry, self.part).get()
    }
}

/// Writes `.got.plt` from word `first` on.
fn write_got_plt(image: &Image, first: u64, out: &mut [u8]) {
    let (machine, plan) = (image.mode.machine, &plan(image));
    let reserved = image.slots.reserved;
    let apply = !image.reloc_form.addends || image.options.relocs.apply_dynamic_relocs;
    let format = image.format();
    let has_base = machine.facts().got_base == GotBase::GotPlt;
    let dynamic = image.layout.chunk_address(ChunkKind::Dynamic);
    let without_words = u64::from(image.slots.without_words);
    let words = machine.facts().plt.descriptor_words;
    for (word, bytes) in (first..).zip(out.chunks_exact_mut(image.bases.slot as usize)) {
        let number = word.checked_sub(reserved);
        let value = match number.map(|number| number / words + without_words) {
            None if word == 0 && has_base => dynamic.get(),
            Some(entry) if words > 1 && entry >= u64::from(image.slots.jump_slots) => {
                let part = number.map_or(0, |number| number % words);
                machine.visit(Unresolved { plan, entry: entry as u32, part })
            }
            // Of a descriptor, the loader knows the rest.
            Some(_) if number.is_some_and(|number| number % words != 0) => 0,
            Some(entry) if entry < u64::from(image.slots.jump_slots) => {
                machine.visit(Unbound { plan, entry: entry as u32 })
            }
            // The addend of the relocation that calls the resolver.
            Some(entry) if apply => image.resolver(entry as u32).get(),
            _ => 0,
        };
        format.put(bytes, value);
    }
}

pub struct Plt;

impl Synthetic for Plt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let any = !sizes.plan.slots.plt.is_empty();
        let machine = sizes.plan.facts.mode.facts();
        let write = if machine.plt.patched { SHF_WRITE } else { 0 };
        let (name, flags) =
            (named(machine, b".plt", |apart| apart.lazy_name), SHF_ALLOC | SHF_EXECINSTR | write);
        any.then(|| flagged(machine, name, flags, all(sizes).plt))?
    }

    fn cuts(&self, source: &Source) -> Cuts {
        let (image, machine) = (source.image, source.image.mode.facts());
        let header = image.plt.header_size(machine, image.slots.jump_slots);
        let entry = image.plt.plt_entry_size(machine);
        if header.is_multiple_of(entry) {
            return between(entry);
        }
        let run = 1 << 14;
        let runs = (image.slots.jump_slots as usize).div_ceil(run);
        Cuts::At((1..runs).map(|i| header + entry * (i * run) as u64).collect())
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(plt::Table::Plt, at, out);
    }
}

pub struct PltSec;

impl Synthetic for PltSec {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        code(sizes.plan.facts.mode.facts(), b".plt.sec", all(sizes).plt_sec)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        between(source.image.plt.entry_size(source.image.mode.facts()))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(plt::Table::PltSec, at, out);
    }
}

pub struct Iplt;

impl Synthetic for Iplt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        code(sizes.plan.facts.mode.facts(), b".iplt", all(sizes).iplt)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        between(source.image.plt.entry_size(source.image.mode.facts()))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(plt::Table::Iplt, at, out);
    }
}

pub struct GotPlt;

impl Synthetic for GotPlt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let slots = &sizes.plan.slots;
        let word = sizes.plan.facts.mode.facts().slot();
        let flags = SHF_ALLOC | SHF_WRITE;
        let name = named(sizes.plan.facts.mode.facts(), b".got.plt", |apart| apart.words_name);
        let header = Header { name, kind: SHT_PROGBITS, flags, entsize: 0 };
        let entries = slots.plt.len() as u64 - u64::from(slots.without_words);
        let words = slots.reserved + sizes.plan.facts.mode.facts().plt.descriptor_words * entries;
        Spec::own(header, word, word * words)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write_got_plt(at.image(), at.start / at.image().bases.slot, out);
    }
}
