//! `.rela.dyn`, `.relr.dyn` and `.rela.plt`: what the loader must add.
//!
//! Sizes are counted before addresses are known, entries made afterwards; the writer checks that
//! both agree. With `-z combreloc` relative relocations come first (`DT_RELACOUNT`), the others are
//! sorted by symbol so that the loader looks each up once.
//!
//! Specification: gABI chapter 5; the RELR proposal to the gABI; x86-64 psABI 4.4.

use rayon::prelude::*;

use crate::arch::x86_64::*;
use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::SymbolPlace;
use crate::input::sections::{InputSection, Sections};
use crate::live::dyn_relocs::{DynKind, DynReloc};
use crate::live::{Live, SectionOwners};
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::resolve::symbols::{Symbols, sym};
use crate::synth::commons::Copies;
use crate::synth::got::{self, WordReloc};
use crate::synth::slots::{GotEntry, Slots};

/// Numbers of relocations, known before layout.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// `R_X86_64_RELATIVE` in `.rela.dyn`.
    pub relative: u64,
    /// The rest of `.rela.dyn`.
    pub others: u64,
    /// Packed into `.relr.dyn`.
    pub relr: u64,
}

pub struct Counter<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
    pub slots: &'c Slots,
    pub options: &'c Options,
    pub mode: Mode,
}

impl Counter<'_, '_> {
    pub fn count(&self, copies: &Copies) -> Counts {
        let mut counts = Counts { others: copies.list.len() as u64, ..Counts::default() };
        for reloc in self.live.dyn_relocs.iter() {
            match reloc.kind() {
                DynKind::Relative
                    if self.options.pack_relr
                        && is_packable(self.resolved, self.sections, self.owners, reloc) =>
                {
                    counts.relr += 1;
                }
                DynKind::Relative => counts.relative += 1,
                _ => counts.others += 1,
            }
        }
        for (_, entry) in &self.slots.got {
            self.count_got(*entry, &mut counts);
        }
        counts
    }

    fn flags(&self, slot: u32) -> u32 {
        let slot = &self.slots.list[slot as usize];
        match slot.local {
            None => self.symbols[slot.id].flags(),
            Some((object, index)) => {
                let object = &self.resolved.objects[object.index()];
                // Without a symbol table, symbol 0 still stands for the absolute value 0.
                match object.syms.get(index as usize).map(|symbol| object.place(index, symbol)) {
                    Some(SymbolPlace::Section(_)) => sym::DEFINED,
                    _ => sym::ABSOLUTE,
                }
            }
        }
    }

    fn count_got(&self, entry: GotEntry, counts: &mut Counts) {
        match entry {
            GotEntry::Address(slot) => {
                let flags = self.flags(slot);
                let fixed = matches!(flags & sym::KIND, sym::ABSOLUTE | sym::UNDEFINED);
                if flags & sym::PREEMPTIBLE != 0 {
                    counts.others += 1;
                } else if self.mode.pic && !fixed {
                    if self.options.pack_relr { counts.relr += 1 } else { counts.relative += 1 }
                }
            }
            GotEntry::TpOff(slot) => {
                let preemptible = self.flags(slot) & sym::PREEMPTIBLE != 0;
                counts.others += u64::from(preemptible || self.mode.shared);
            }
            GotEntry::TlsGd(slot) if self.flags(slot) & sym::PREEMPTIBLE != 0 => counts.others += 2,
            // An executable knows its own module's id.
            GotEntry::TlsGd(_) | GotEntry::TlsLd => counts.others += u64::from(self.mode.shared),
            GotEntry::TlsDesc(_) => counts.others += 1,
        }
    }
}

/// Whether the place of a relative relocation is even, as RELR wants it.
fn is_packable(resolved: &Resolved, sections: &Sections, owners: &SectionOwners, reloc: &DynReloc) -> bool {
    let object = owners.object(reloc.section);
    let section = sections.get(reloc.section);
    let relocs = sections.relocs(&resolved.objects[object.index()], object.index(), section);
    is_even(section, &relocs[reloc.index()])
}

fn is_even(section: &InputSection, input: &Rela) -> bool {
    section.align() >= 2 && input.r_offset().is_multiple_of(2)
}

/// Whether a dynamic relocation goes into `.relr.dyn`, if there is one.
pub fn is_packed(resolved: &Resolved, sections: &Sections, owners: &SectionOwners, reloc: &DynReloc) -> bool {
    reloc.kind() == DynKind::Relative && is_packable(resolved, sections, owners, reloc)
}

/// The relocations with their addresses.
#[derive(Default)]
pub struct Dynamics {
    pub rela: Vec<Rela>,
    /// Addresses for `.relr.dyn`, ascending.
    pub relr: Vec<u64>,
}

/// Relocations in the making.
#[derive(Default)]
struct Collected {
    relative: Vec<Rela>,
    others: Vec<Rela>,
    relr: Vec<u64>,
}

/// Relocations of one section made by one task.
const RELOCS_PER_TASK: usize = 1 << 14;
/// Runs of relocations made by one task.
const RUNS_PER_TASK: usize = 256;

pub fn collect(image: &Image, owners: &SectionOwners, copies: &Copies, parallel: bool) -> Dynamics {
    let live = &image.live.dyn_relocs;
    let mut runs: Vec<(u64, &[DynReloc])> = Vec::new();
    for (section, run) in live.runs() {
        let address = image.sections.get(section).address;
        runs.extend(run.chunks(RELOCS_PER_TASK).map(|part| (address, part)));
    }
    // In the order of addresses, so that nothing is left to sort.
    runs.sort_by_key(|run| run.0);
    let part = |runs: &[(u64, &[DynReloc])]| {
        let mut collected = Collected::default();
        runs.iter().for_each(|(_, run)| collect_section(image, owners, run, &mut collected));
        collected
    };
    let parts: Vec<Collected> = if parallel {
        runs.par_chunks(RUNS_PER_TASK).map(part).collect()
    } else {
        runs.chunks(RUNS_PER_TASK).map(part).collect()
    };
    let mut all = Collected::default();
    all.relative.reserve_exact(live.len() + image.slots.got.len());
    for mut part in parts {
        all.relative.append(&mut part.relative);
        all.others.append(&mut part.others);
        all.relr.append(&mut part.relr);
    }
    collect_got(image, &mut all);
    for &(id, _) in &copies.list {
        let dynsym = image.dynsym.map_or(0, |d| d.index(id));
        all.others.push(Rela::make(image.symbols[id].value, dynsym, R_COPY, 0));
    }
    if image.options.z_combreloc {
        // Nearly in order: words of the GOT are last, and a section may name its places in any order.
        all.relative.sort_by_key(|r| r.r_offset());
        all.others.sort_by_key(|r| (r.sym(), r.r_offset()));
    }
    all.relr.sort();
    all.relative.append(&mut all.others);
    Dynamics { rela: all.relative, relr: all.relr }
}

/// Makes the relocations of a run, all of one section.
fn collect_section(image: &Image, owners: &SectionOwners, run: &[DynReloc], all: &mut Collected) {
    let Some(first) = run.first() else { return };
    let object = owners.object(first.section);
    let section = image.sections.get(first.section);
    let relocs = image.sections.relocs(&image.resolved.objects[object.index()], object.index(), section);
    for reloc in run {
        let input = &relocs[reloc.index()];
        let address = section.address.wrapping_add(section.placed_offset(input.r_offset()));
        if image.options.pack_relr && reloc.kind() == DynKind::Relative && is_even(section, input) {
            all.relr.push(address);
        } else {
            collect_input(image, object, (reloc.kind(), input), address, all);
        }
    }
}

fn collect_input(
    image: &Image,
    object_id: ObjectId,
    (kind, input): (DynKind, &Rela),
    offset: u64,
    all: &mut Collected,
) {
    let object = &image.resolved.objects[object_id.index()];
    let place = image.place(object, input.sym(), input.r_addend());
    let mut value = place.address.wrapping_add(place.addend as u64);
    if place.flags & sym::IFUNC != 0 && input.sym() < object.first_global {
        let slot = image.slots.of_local(object_id, input.sym());
        value = slot.map_or(value, |s| image.slot_address(s).0.wrapping_add(place.addend as u64));
    }
    let dynsym =
        if place.flags & sym::PREEMPTIBLE != 0 { image.dynsym_index(object, input.sym()) } else { 0 };
    match kind {
        DynKind::Relative => all.relative.push(Rela::make(offset, 0, R_RELATIVE, value as i64)),
        DynKind::Symbolic => all.others.push(Rela::make(offset, dynsym, R_64, input.r_addend())),
        DynKind::Size => all.others.push(Rela::make(offset, dynsym, input.kind(), input.r_addend())),
        DynKind::TpOff if dynsym != 0 => {
            all.others.push(Rela::make(offset, dynsym, R_TPOFF64, input.r_addend()));
        }
        DynKind::TpOff => {
            let addend = value.wrapping_sub(image.bases.tls_start) as i64;
            all.others.push(Rela::make(offset, 0, R_TPOFF64, addend));
        }
    }
}

fn collect_got(image: &Image, all: &mut Collected) {
    for (slot, word) in got::words(image) {
        let Some(reloc) = word.reloc else { continue };
        let offset = image.bases.got + 8 * word.index as u64;
        if image.options.pack_relr && matches!(reloc, WordReloc::Relative) {
            all.relr.push(offset);
            continue;
        }
        let id = slot.map_or(SymbolId::NONE, |s| s.id);
        let dynsym = if id.is_some() { image.dynsym.map_or(0, |d| d.index(id)) } else { 0 };
        let list = if matches!(reloc, WordReloc::Relative) { &mut all.relative } else { &mut all.others };
        list.push(reloc.to_rela(offset, word.value, dynsym));
    }
}

/// Writes `.rela.plt`: one relocation for each word of `.got.plt` behind the reserved ones.
pub fn write_plt(image: &Image, out: &mut [u8]) {
    for (entry, bytes) in out.chunks_exact_mut(Rela::SIZE).enumerate() {
        let slot = &image.slots.list[image.slots.plt[entry] as usize];
        let offset = image.got_plt_address(entry as u32);
        let rela = if (entry as u32) < image.slots.jump_slots {
            Rela::make(offset, image.dynsym.map_or(0, |d| d.index(slot.id)), R_JUMP_SLOT, 0)
        } else {
            let resolver = match slot.local {
                Some((object, index)) => {
                    image.local_place(&image.resolved.objects[object.index()], index, 0).address
                }
                None => slot.definition,
            };
            Rela::make(offset, 0, R_IRELATIVE, resolver as i64)
        };
        bytes.copy_from_slice(&rela.0);
    }
}

pub fn write_rela(relas: &[Rela], out: &mut [u8]) {
    for (rela, bytes) in relas.iter().zip(out.chunks_exact_mut(Rela::SIZE)) {
        bytes.copy_from_slice(&rela.0);
    }
}
