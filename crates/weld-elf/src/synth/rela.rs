//! `.rela.dyn`, `.relr.dyn` and `.rela.plt`: what the loader must add.
//!
//! Sizes are counted before addresses are known, entries made afterwards; the writer checks that
//! both agree. With `-z combreloc` relative relocations come first (`DT_RELACOUNT`), the others are
//! sorted by symbol so that the loader looks each up once.
//!
//! Relocations that call resolvers (IFUNCs of this output) are the last of all, because resolvers may use
//! what others relocate: of `.rela.dyn`, or of `.rela.plt`, which loaders look at later, if that has others.
//! A resolver may call through the PLT, whose words have to be relocated for that where the image has been
//! moved, or where functions are not bound at their first call.
//!
//! With RELR, pointers that the loader signs are packed in a table of their own, `.relr.auth.dyn`. The upper
//! half of such a word says how it is to be signed, so only addends of 32 bits have room there. Which have
//! more shows when everything has an address: those stay in `.rela.dyn`, and the layout is done again
//! ([`find_far`]).
//!
//! Specification: gABI chapter 5; the RELR proposal to the gABI; "Relocation" in the psABIs.

use std::ops::Range;

use weld_common::{par, sort, trace};

use super::plan::Plan;
use super::section::{At, Cuts, Header, Info, Links, Place, Sizes, Source as Parts, Spec, Synthetic};
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::facts::Facts;
use crate::arch::plt::Style;
use crate::arch::site::ResolvedAddress;
use crate::elf::*;
use crate::got_plt_slots::{GotEntry, Slots};
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::layout::ChunkKind;
use crate::live::dyn_relocs::{DynKind, DynReloc};
use crate::live::{Live, SectionOwners};
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{InputSection, Sections};
use crate::symbols::{Symbols, symbol_flags};
use crate::synth::copyrel::Copies;
use crate::synth::further_gots::{self, FurtherGots};
use crate::synth::got::{self, Fixup};
use crate::synth::image::Image;

/// Numbers of relocations, known before layout.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Relative ones in `.rela.dyn`.
    pub relative: u64,
    /// The rest of `.rela.dyn`.
    pub others: u64,
    /// Packed into `.relr.dyn`.
    pub relr: u64,
    /// Packed into `.relr.auth.dyn`.
    pub signed: u64,
}

impl Counts {
    fn with(self, more: &Counts) -> Counts {
        Counts {
            relative: self.relative + more.relative,
            others: self.others + more.others,
            relr: self.relr + more.relr,
            signed: self.signed + more.signed,
        }
    }
}

pub struct Counter<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
    pub slots: &'c Slots,
    pub further_gots: Option<&'c FurtherGots>,
    pub options: &'c Options,
    pub mode: Mode,
}

impl Counter<'_, '_> {
    pub fn count(&self, copies: &Copies, parallel: bool) -> Counts {
        let pieces = self.live.dyn_relocs.pieces(RELOCS_PER_TASK);
        let relocs = par::runs("count dynamic relocations", parallel, pieces.len(), 1, |range| {
            let mut counts = Counts::default();
            pieces[range].iter().copied().flatten().for_each(|reloc| self.count_reloc(reloc, &mut counts));
            counts
        });
        let got = &self.slots.got;
        let words = par::runs("count relocations of .got", parallel, got.len(), RELOCS_PER_TASK, |range| {
            let mut counts = Counts::default();
            got[range].iter().for_each(|(_, entry)| self.count_got(*entry, &mut counts));
            counts
        });
        let beside = (copies.list.len() + self.slots.plt_relocs().1) as u64;
        let (relative, others) =
            self.further_gots.map_or((0, 0), |gots| gots.count(self.mode, |slot| self.flags(slot)));
        let first = Counts { relative, others: beside + others, ..Counts::default() };
        let mut counts = relocs.iter().chain(&words).fold(first, Counts::with);
        let (relative, others) =
            spares(self.sections, self.options, self.mode, (counts.relative, counts.others));
        counts.relative += relative;
        counts.others += others;
        counts
    }

    fn count_reloc(&self, reloc: &DynReloc, counts: &mut Counts) {
        let packed =
            || self.options.relocs.pack_relr && is_packable(self.resolved, self.sections, self.owners, reloc);
        match reloc.kind() {
            DynKind::Relative if packed() => counts.relr += 1,
            DynKind::Signed if self.mode.dynamic && packed() => counts.signed += 1,
            DynKind::Relative | DynKind::Tagged | DynKind::OwnWord => counts.relative += 1,
            _ => counts.others += 1,
        }
    }

    fn flags(&self, slot: u32) -> u32 {
        let slot = &self.slots.list[slot as usize];
        match slot.local {
            None => self.symbols[slot.id].flags(),
            Some((object, index)) => {
                let object = &self.resolved.objects[object.index()];
                // Without a symbol table, symbol 0 still stands for the absolute value 0.
                match object.syms.get(index as usize).map(|symbol| object.place(index, symbol)) {
                    Some(SymbolPlace::Section(_)) => symbol_flags::DEFINED,
                    _ => symbol_flags::ABSOLUTE,
                }
            }
        }
    }

    fn count_got(&self, entry: GotEntry, counts: &mut Counts) {
        let flags = entry.slot().map_or(0, |slot| self.flags(slot));
        for fixup in entry.fixups(flags, self.mode) {
            match fixup {
                Fixup::None => {}
                Fixup::Relative if self.options.relocs.pack_relr => counts.relr += 1,
                Fixup::Relative | Fixup::TaggedRelative => counts.relative += 1,
                Fixup::SignedRelative | Fixup::Symbol(_) | Fixup::Module(_) => counts.others += 1,
            }
        }
    }
}

/// Whether a link may leave spare entries for relative and other relocations, which later ones that relink take: the
/// relative ones come first then, in the order of their places.
pub fn may_have_spares(options: &Options, format: Format) -> bool {
    let relocs = &options.relocs;
    let is_usual = relocs.combreloc && !relocs.pack_relr && !relocs.apply_dynamic_relocs;
    is_usual && format.is_native() && format.word() == 8
}

/// How many spare entries of each kind.
const SPARES: u64 = 256;

/// How many entries are spare beside so many `relative` ones, each of which is the last of these once more, and beside
/// so many `others`, each of which does nothing. Where there were none, none is spare.
fn spares(sections: &Sections, options: &Options, mode: Mode, (relative, others): (u64, u64)) -> (u64, u64) {
    if !sections.has_rooms || !may_have_spares(options, mode.facts().target.format) {
        return (0, 0);
    }
    let relative = if mode.pic { relative } else { 0 };
    // Programs without a loader take all that they find for calls of resolvers.
    let has_loader = mode.interp || mode.shared;
    let spare = |may_be: bool, count: u64| if may_be { count } else { 0 };
    match sections.last_relocs {
        Some((all, all_others)) => (
            spare(relative > 0, all.saturating_sub(relative)),
            spare(has_loader, all_others.saturating_sub(others)),
        ),
        None if sections.yards.is_empty() => (0, 0),
        None => (spare(relative > 0, SPARES), spare(has_loader && others > 0, SPARES)),
    }
}

/// Whether the place of a relative relocation is even, as RELR wants it.
fn is_packable(resolved: &Resolved, sections: &Sections, owners: &SectionOwners, reloc: &DynReloc) -> bool {
    let object = owners.object(reloc.section);
    let section = sections.get(reloc.section);
    let relocs = sections.relocs(&resolved.objects[object.index()], object.index(), section);
    is_even(section, &relocs[reloc.index()])
}

/// Whether the place of a relocation is even, as far as is known before layout.
pub fn is_even(section: &InputSection, input: &Rela) -> bool {
    section.align() >= 2 && input.r_offset().is_multiple_of(2)
}

/// Where the places of dynamic relocations are looked up.
#[derive(Clone, Copy)]
pub struct Inputs<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub owners: &'c SectionOwners,
}

impl Inputs<'_, '_> {
    /// Whether a dynamic relocation goes into the packed table for those of a kind, if there is one; those
    /// that are `far` do not.
    pub fn has_packed(&self, kind: DynKind, far: &[DynReloc], reloc: &DynReloc) -> bool {
        reloc.kind() == kind
            && is_packable(self.resolved, self.sections, self.owners, reloc)
            && far.binary_search(reloc).is_err()
    }
}

/// The relocations with their addresses.
#[derive(Default)]
pub struct Dynamics {
    /// `.rela.dyn`, one list after the other.
    rela: Vec<Vec<Rela>>,
    /// The number of the first relocation in each list.
    starts: Vec<usize>,
    /// Addresses for `.relr.dyn`, ascending, and for `.relr.auth.dyn`.
    pub relr: Vec<u64>,
    pub signed: Vec<u64>,
    /// Pointers that are packed to be signed and have no room for their addends, in order.
    far: Vec<DynReloc>,
}

impl Dynamics {
    fn new(rela: Vec<Vec<Rela>>, relr: Vec<u64>) -> Self {
        let starts = rela.iter().scan(0, |next, list| Some(std::mem::replace(next, *next + list.len())));
        Dynamics { starts: starts.collect(), rela, relr, ..Dynamics::default() }
    }

    /// The number of relocations in `.rela.dyn`.
    pub fn len(&self) -> usize {
        self.rela.iter().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of `.rela.dyn`.
    pub fn relocs(&self) -> Vec<Rela> {
        self.rela.concat()
    }

    /// Writes `.rela.dyn` from relocation `first` on.
    pub fn write(&self, form: RelocForm, first: usize, out: &mut [u8]) {
        let Some(list) = self.starts.partition_point(|&start| start <= first).checked_sub(1) else { return };
        let skipped = first - self.starts[list];
        let relas = self.rela[list..].iter().flatten().skip(skipped);
        for (rela, bytes) in relas.zip(out.chunks_exact_mut(form.size() as usize)) {
            form.put(rela, bytes);
        }
    }
}

/// Relocations in the making.
#[derive(Default)]
struct Collected {
    relative: Vec<Rela>,
    others: Vec<Rela>,
    calls: Vec<Rela>,
    relr: Vec<u64>,
    signed: Vec<u64>,
    far: Vec<DynReloc>,
}

/// Relocations of one section made in one go, and by one task.
const RELOCS_PER_TASK: usize = 1 << 13;
/// Runs of relocations made by one task, at most.
const RUNS_PER_TASK: usize = 256;
/// Entries of the GOT in one run.
const GOT_RUN: usize = 1 << 12;
/// Sections with dynamic relocations put in order by one task.
const ORDERED: usize = 1 << 13;

/// Where relocations come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    /// Of what is relocated.
    address: Address,
    /// The run of the section, or `GOT`.
    run: u32,
    /// Which part of it.
    part: u32,
    /// How many there are.
    count: u32,
}

const GOT: u32 = u32::MAX;

pub fn collect(image: &Image, owners: &SectionOwners, copies: &Copies, parallel: bool) -> Dynamics {
    let sources = sources(image, parallel);
    let combined = image.options.relocs.combreloc;
    let tasks = tasks(&sources);
    let parts = par::runs("collect dynamic relocations", parallel, tasks.len(), 1, |range| {
        let part = |task: &Range<usize>| collect_part(image, owners, &sources[task.clone()]);
        tasks[range].iter().map(part).collect::<Vec<Collected>>()
    });
    let _stretch = trace::stretch("join dynamic relocations");
    let (mut relative, mut others, mut relr) = (Vec::new(), Vec::new(), Vec::new());
    let (mut signed, mut far, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for mut part in parts.into_iter().flatten() {
        signed.append(&mut part.signed);
        far.append(&mut part.far);
        calls.append(&mut part.calls);
        relative.push(part.relative);
        others.push(part.others);
        relr.push(part.relr);
    }
    others.push(copied(image, copies));
    if image.further_gots.is_some() {
        let (adding, beside) = further_gots::relocs(image);
        relative.push(adding);
        others.push(beside);
    }
    if combined && !is_in_order(&relative, |r| r.r_offset()) {
        let all = par::concat("join relative relocations", parallel, relative);
        relative = vec![sort::by(all, parallel, |a, b| (a.r_offset(), a.0).cmp(&(b.r_offset(), b.0)))];
    }
    let mut others = par::concat("join symbolic relocations", parallel, others);
    if combined {
        others = sort::by(others, parallel, |a, b| by_symbol(a).cmp(&by_symbol(b)));
    }
    let resolvers = resolvers(image);
    let count: usize = relative.iter().map(Vec::len).sum();
    let last = relative.iter().flatten().next_back().copied();
    let counts = (count as u64, (others.len() + resolvers.len() + calls.len()) as u64);
    let spares = spares(image.sections, image.options, image.mode, counts);
    relative.extend(last.map(|last| vec![last; spares.0 as usize]));
    relative.push(vec![spare(image.mode.facts()); spares.1 as usize]);
    relative.push(others);
    relative.push(resolvers);
    // The functions may count on everything else.
    relative.push(calls);
    let ordered = is_in_order(&relr, |&address| address);
    let mut relr = par::concat("join packed relocations", parallel, relr);
    if !ordered {
        relr = sort::by(relr, parallel, u64::cmp);
    }
    signed.sort_unstable();
    far.sort_unstable();
    Dynamics { signed, far, ..Dynamics::new(relative, relr) }
}

/// What the relocations of `.rela.dyn` are in the order of that are not relative, and call no resolver.
pub fn by_symbol(reloc: &Rela) -> (u32, u64, [u8; Rela::SIZE]) {
    (reloc.sym(), reloc.r_offset(), reloc.0)
}

/// An entry that does nothing, which is in front of all [`by_symbol`].
pub fn spare(facts: &Facts) -> Rela {
    Rela::make(0, 0, facts.none, 0)
}

/// Takes pointers whose addends have no room in `.relr.auth.dyn` out of it; whether there were any, in which
/// case there has to be another layout.
pub fn find_far(plan: &mut Plan, mut dynamics: Dynamics) -> bool {
    let found = dynamics.far.len() as u64;
    plan.counts.signed -= found;
    plan.counts.others += found;
    plan.far.append(&mut dynamics.far);
    plan.far.sort_unstable();
    found > 0
}

/// Whether a pointer that the loader signs has room for its addend where it is.
fn is_near(value: u64) -> bool {
    i32::try_from(value as i64).is_ok()
}

/// In the order of addresses, so that as a rule nothing is left to sort.
fn sources(image: &Image, parallel: bool) -> Vec<Source> {
    let live = &image.live.dyn_relocs;
    let region = "order dynamically relocated sections";
    let mut lists = par::runs(region, parallel, live.runs().len(), ORDERED, |range| {
        let mut sources = Vec::with_capacity(range.len());
        for (run, (section, relocs)) in range.clone().zip(live.runs().skip(range.start)) {
            let address = image.sections.get(section).address();
            let parts = relocs.chunks(RELOCS_PER_TASK).zip(0..);
            let source = |(relocs, part)| source(address, run as u32, part, relocs);
            sources.extend(parts.map(source));
        }
        sources
    });
    let word = image.bases.slot;
    let of_got = |(entries, part): (&[(u32, GotEntry)], u32)| {
        source(image.bases.got + word * u64::from(entries[0].0), GOT, part, entries)
    };
    lists.push(image.slots.got.chunks(GOT_RUN).zip(0..).map(of_got).collect());
    sort::by(par::concat("join sections", parallel, lists), parallel, Source::cmp)
}

fn source<T>(address: Address, run: u32, part: u32, relocs: &[T]) -> Source {
    Source { address, run, part, count: relocs.len() as u32 }
}

/// Runs of sources with about as many relocations.
fn tasks(sources: &[Source]) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut first, mut relocs) = (0, 0);
    for (i, source) in sources.iter().enumerate() {
        relocs += source.count as usize;
        if relocs >= RELOCS_PER_TASK || i + 1 - first == RUNS_PER_TASK || i + 1 == sources.len() {
            tasks.push(first..i + 1);
            (first, relocs) = (i + 1, 0);
        }
    }
    tasks
}

/// Whether the lists, each of which is in order, are so one after the other.
fn is_in_order<T>(lists: &[Vec<T>], key: impl Fn(&T) -> u64) -> bool {
    let ends = lists.iter().flat_map(|list| [list.first(), list.last()]).flatten();
    ends.map(key).is_sorted()
}

/// The relocations of `.rela.dyn` that call resolvers.
fn resolvers(image: &Image) -> Vec<Rela> {
    let (_, count) = image.slots.plt_relocs();
    let last = image.slots.plt.len();
    (last - count..last).map(|entry| of_resolver(image, entry as u32)).collect()
}

/// The type of relocations that call resolvers. The scan refuses IFUNCs where there are none.
fn calling(image: &Image) -> u32 {
    image.types().irelative.unwrap_or(image.mode.facts().none)
}

fn of_resolver(image: &Image, entry: u32) -> Rela {
    let resolver = image.resolver(entry);
    Rela::make(image.got_plt_address(entry).get(), 0, calling(image), resolver.get() as i64)
}

fn copied(image: &Image, copies: &Copies) -> Vec<Rela> {
    let copy = |&(id, _): &(SymbolId, bool)| {
        let dynsym = image.dynsym.map_or(0, |d| d.index(id));
        Rela::make(image.symbols[id].address().get(), dynsym, image.types().copy, 0)
    };
    copies.list.iter().map(copy).collect()
}

fn collect_part(image: &Image, owners: &SectionOwners, sources: &[Source]) -> Collected {
    let mut collected = Collected::default();
    sources.iter().for_each(|source| collect_source(image, owners, *source, &mut collected));
    // Out of order only if a section names its places in no order.
    if image.options.relocs.combreloc {
        collected.relative.sort_by_key(|r| r.r_offset());
    }
    collected.relr.sort();
    collected
}

fn collect_source(image: &Image, owners: &SectionOwners, source: Source, all: &mut Collected) {
    if source.run == GOT {
        return collect_got(image, source.part as usize, all);
    }
    let (_, relocs) = image.live.dyn_relocs.run(source.run as usize);
    if let Some(part) = relocs.chunks(RELOCS_PER_TASK).nth(source.part as usize) {
        collect_section(image, owners, part, all);
    }
}

/// Makes the relocations of a run, all of one section.
fn collect_section(image: &Image, owners: &SectionOwners, run: &[DynReloc], all: &mut Collected) {
    let Some(first) = run.first() else { return };
    let object = owners.object(first.section);
    let section = image.sections.get(first.section);
    let relocs = image.sections.relocs(&image.resolved.objects[object.index()], object.index(), section);
    for reloc in run {
        let input = &relocs[reloc.index()];
        let address = image.sections.address_of(first.section, input.r_offset());
        let packed = || image.options.relocs.pack_relr && is_even(section, input);
        match reloc.kind() {
            DynKind::Relative if packed() => all.relr.push(address.get()),
            DynKind::Signed if image.mode.dynamic && packed() && image.far.binary_search(reloc).is_err() => {
                all.signed.push(address.get());
                if !is_near(value_of(image, object, input).1.get()) {
                    all.far.push(*reloc);
                }
            }
            kind => collect_input(image, object, kind, input, address.get(), all),
        }
    }
}

/// What a relocation refers to, and the address of that.
fn value_of(image: &Image, object_id: ObjectId, input: &Rela) -> (ResolvedAddress, Address) {
    let object = &image.resolved.objects[object_id.index()];
    let place = image.place(object, input.sym(), input.r_addend());
    let mut value = place.address.wrapping_add(place.addend as u64);
    if place.flags & symbol_flags::IFUNC != 0 && input.sym() < object.first_global {
        let slot = image.slots.of_local(object_id, input.sym());
        value = slot.map_or(value, |s| image.slot_address(s).0.wrapping_add(place.addend as u64));
    }
    (place, value)
}

/// What relocation `index` of a section stores for the loader in a pointer that is packed to be signed: its
/// addend. `None` if it is not packed.
pub fn packed_addend(image: &Image, object: ObjectId, section: SectionId, index: usize) -> Option<u32> {
    let reloc = DynReloc::new(section, index, DynKind::Signed);
    let input_section = image.sections.get(section);
    let owner = &image.resolved.objects[object.index()];
    let input = image.sections.relocs(owner, object.index(), input_section).get(index)?;
    let packed = image.options.relocs.pack_relr && image.mode.dynamic && is_even(input_section, input);
    (packed && image.far.binary_search(&reloc).is_err())
        .then(|| value_of(image, object, input).1.get() as u32)
}

fn collect_input(
    image: &Image,
    object_id: ObjectId,
    kind: DynKind,
    input: &Rela,
    offset: u64,
    all: &mut Collected,
) {
    let object = &image.resolved.objects[object_id.index()];
    let (place, value) = value_of(image, object_id, input);
    let dynsym = if place.flags & symbol_flags::PREEMPTIBLE != 0 {
        image.dynsym_index(object, input.sym())
    } else {
        0
    };
    let types = image.types();
    match kind {
        DynKind::Relative | DynKind::Tagged => {
            all.relative.push(Rela::make(offset, 0, types.relative, value.get() as i64))
        }
        DynKind::Symbolic => all.others.push(Rela::make(offset, dynsym, types.address, input.r_addend())),
        DynKind::Signed => {
            let kind = types.signed.map_or(types.relative, |signed| signed.relative);
            all.others.push(Rela::make(offset, 0, kind, value.get() as i64));
        }
        DynKind::Called => all.calls.push(Rela::make(offset, 0, calling(image), value.get() as i64)),
        DynKind::Same => all.others.push(Rela::make(offset, dynsym, input.kind(), input.r_addend())),
        DynKind::OwnWord => {
            let slot = match object.machine.class(input.kind()) {
                Class::BaseAddress => Some(image.bases.got_base),
                _ => image.slot(object_id, input.sym()).and_then(|slot| image.got_address(slot.got_tp)),
            };
            let address = slot.unwrap_or_default().wrapping_add(input.r_addend() as u64);
            all.relative.push(Rela::make(offset, 0, types.relative, address.get() as i64));
        }
        DynKind::TpOff if dynsym != 0 => {
            all.others.push(Rela::make(offset, dynsym, types.tpoff, input.r_addend()));
        }
        DynKind::TpOff => {
            let addend = value.wrapping_sub(image.bases.tls_start) as i64;
            all.others.push(Rela::make(offset, 0, types.tpoff, addend));
        }
    }
}

fn collect_got(image: &Image, part: usize, all: &mut Collected) {
    let end = image.slots.got.len().min((part + 1) * GOT_RUN);
    got::each_word(image, part * GOT_RUN..end, |slot, word| {
        let offset = (image.bases.got + image.bases.slot * word.index as u64).get();
        if image.options.relocs.pack_relr && word.fixup == Fixup::Relative {
            all.relr.push(offset);
            return;
        }
        let is_relative = matches!(word.fixup, Fixup::Relative | Fixup::TaggedRelative);
        let id = slot.map_or(SymbolId::NONE, |s| s.id);
        let dynsym = if id.is_some() { image.dynsym.map_or(0, |d| d.index(id)) } else { 0 };
        let list = if is_relative { &mut all.relative } else { &mut all.others };
        list.extend(word.to_rela(image.types(), offset, dynsym));
    });
}

/// Writes `.rela.plt` from entry `first` on: a relocation for each word of `.got.plt` after the reserved
/// ones, or for each that is bound by name; or for the entry that the loader changes.
pub fn write_plt(image: &Image, first: usize, out: &mut [u8]) {
    let form = image.reloc_form;
    for (entry, bytes) in (first..).zip(out.chunks_exact_mut(form.size() as usize)) {
        let rela = if (entry as u32) < image.slots.jump_slots {
            let slot = &image.slots.list[image.slots.plt[entry] as usize];
            let offset = match (entry as u32) < image.slots.without_words {
                true => image.plt_address(entry as u32).get(),
                false => image.got_plt_address(entry as u32).get(),
            };
            let addend = if image.options.dynamic.mark_plt { jump_of(image, entry as u32).get() } else { 0 };
            let spare = (entry as u32).checked_sub(image.slots.named());
            let dynsym = image.dynsym.map_or(0, |d| match spare {
                Some(spare) => d.spares.own(spare).map_or(d.spares.symbol(spare), |id| d.index(id)),
                None => d.index(slot.id),
            });
            Rela::make(offset, dynsym, image.types().jump_slot, addend as i64)
        } else {
            of_resolver(image, entry as u32)
        };
        form.put(&rela, bytes);
    }
}

/// `-z mark-plt`: the address of the indirect jump of a PLT entry, which the loader may replace.
fn jump_of(image: &Image, entry: u32) -> Address {
    /// Bytes of the mark in front of it.
    const MARK: u64 = 4;
    let facts = image.mode.facts();
    let before = image.plt.entry_size(facts) * u64::from(entry);
    match image.plt {
        Style::Marked => image.bases.plt_sec + before + MARK,
        _ => image.bases.plt + image.plt.header_size(facts, image.slots.jump_slots) + before,
    }
}

/// A table of `count` relocations. Its name follows from whether they have addends.
fn table(sizes: &Sizes, names: [&'static [u8]; 2], count: u64) -> Option<Spec> {
    let form = sizes.plan.reloc_form;
    let (name, entsize) = (names[usize::from(!form.addends)], form.size());
    let header = Header { name, kind: form.section_type(), flags: SHF_ALLOC, entsize };
    Spec::own(header, form.format.word(), count * entsize)
}

/// `.rela.dyn`, or `.rel.dyn`.
pub struct Dyn;

/// What the symbols of relocations are numbers in. A program without a loader names none, but readers take
/// numbers of a table that is not there for wrong.
fn symbol_table(plan: &Plan) -> Option<ChunkKind> {
    match plan.layout.chunk(ChunkKind::DynSym) {
        Some(_) => Some(ChunkKind::DynSym),
        None => plan.links_own_relocs.then_some(ChunkKind::SymTab),
    }
}

/// Whether a program without a loader has no relocations but those that call resolvers, which change words of
/// `.got.plt`: with GNU ld, that is where they belong.
fn only_calls(plan: &Plan) -> bool {
    let (layout, counts) = (&plan.layout, &plan.counts);
    let no_others = counts.relative == 0 && counts.others == plan.slots.plt_relocs().1 as u64;
    let without_loader = plan.links_own_relocs && layout.chunk(ChunkKind::DynSym).is_none();
    without_loader && no_others && layout.chunk(ChunkKind::GotPlt).is_some()
}

impl Synthetic for Dyn {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let count = sizes.plan.counts.relative + sizes.plan.counts.others;
        let mut spec = table(sizes, [b".rela.dyn", b".rel.dyn"], count)?;
        if let (Place::Own(header), true) = (&mut spec.place, sizes.options.relocs.pack_android) {
            // Layout finds out how large it is.
            header.kind = if sizes.plan.reloc_form.addends { SHT_ANDROID_RELA } else { SHT_ANDROID_REL };
            (header.entsize, spec.size) = (1, 1);
        }
        Some(spec)
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let info = if only_calls(plan) { Info::Section(ChunkKind::GotPlt) } else { Info::Number(0) };
        Some(Links { link: symbol_table(plan), output: None, info })
    }

    fn cuts(&self, source: &Parts) -> Cuts {
        if source.contents.android_relocs.is_some() { Cuts::Whole } else { Cuts::ENTRIES }
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        if let Some(packed) = &at.contents().android_relocs {
            let (bytes, rest) = out.split_at_mut(packed.len().min(out.len()));
            bytes.copy_from_slice(&packed[..bytes.len()]);
            return rest.fill(0);
        }
        let form = at.image().reloc_form;
        at.contents().dynamics.write(form, at.entry(form.size()), out);
    }
}

/// `.rela.plt`, or `.rel.plt`.
pub struct Plt;

impl Synthetic for Plt {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        table(sizes, [b".rela.plt", b".rel.plt"], sizes.plan.slots.plt_relocs().0 as u64)
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let changed = if plan.slots.without_words > 0 { ChunkKind::Plt } else { ChunkKind::GotPlt };
        Some(Links { link: symbol_table(plan), output: None, info: Info::Section(changed) })
    }

    fn cuts(&self, _: &Parts) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write_plt(at.image(), at.entry(at.image().reloc_form.size()), out);
    }
}
