//! `-r` and `--emit-relocs`: a `.rela.X` for each output section X whose inputs had relocations.
//!
//! Each is the input's relocation with its new place (an address, or an offset in a
//! section that has none), its symbol's new index, and, where it referred to a section's symbol, that
//! of the output section and an addend to match. What refers to something that is gone becomes
//! one that computes nothing, at the same place; readers of `.eh_frame` know that to mean a function that is
//! gone.
//!
//! With `--emit-relocs` they say what the linker did, for tools that take the output apart and put it
//! together again (BOLT, kernel tools). The type stays, also where the instruction was relaxed: readers look
//! at the instruction. With `-r` they are still to be applied, and so are looked at with care
//! (`relocatable::relocs`).
//!
//! Machines whose relocations have their addends in the place that they apply to have `.rel.X`.
//!
//! Specification: gABI chapter 4 "Relocation".

use std::borrow::Cow;
use weld_common::diag::Cause;

use weld_common::par;

use super::eh_frames::EhFrames;
use super::plan::Plan;
use super::section::{At, Cuts, Info, Links, Sizes, Source as Parts, Spec, Synthetic};
use super::symbol_numbers::Numbers;
use crate::address::Address;
use crate::arch::relax_deltas::RelaxDelta;
use crate::arch::shrink::Shrink;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::layout::members::KeptRelocs;
use crate::layout::{Chunk, ChunkKind, Layout, Member, OutputSection};
use crate::live::SectionOwners;
use crate::sections::{Sections, decode_relocs};
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::synth::kept_relocs as relocs;

/// Where relocations come from.
#[derive(Clone, Copy)]
enum Source {
    Section(SectionId),
    /// An object's records in `.eh_frame`, by their entry in [`EhFrames`].
    Frames(u32),
}

/// The relocations of one output section.
struct List {
    target: OutputSectionId,
    /// The output section that they make up.
    section: OutputSectionId,
    /// Each source with the number of relocations before it.
    sources: Vec<(Source, u64)>,
}

pub struct EmittedRelocs {
    lists: Vec<List>,
    /// The section with the relocations of each output section; `NONE` if it has none.
    of_section: Vec<OutputSectionId>,
    pub(super) numbers: Numbers,
    form: RelocForm,
    /// The section of each object that addends of calls are places in, on machines that have such.
    bases: Vec<SectionId>,
}

/// What the lists are made from.
pub struct Planner<'c, 'a> {
    pub form: RelocForm,
    pub objects: &'c [Object<'a>],
    pub owners: &'c SectionOwners,
    pub eh_frames: &'c EhFrames,
    pub parallel: bool,
    /// What has been made.
    pub lists: Lists,
}

/// Lists without symbols yet.
#[derive(Default)]
pub struct Lists {
    list: Vec<List>,
    bases: Vec<SectionId>,
}

/// What has relocations in an output section, and how many they are.
struct Sources {
    target: usize,
    list: Vec<(Source, u64)>,
    count: u64,
}

/// Output sections that are looked at in one go, and members of one.
const SECTIONS: usize = 1 << 10;
const MEMBERS: usize = 1 << 12;

impl KeptRelocs for Planner<'_, '_> {
    fn add(
        &mut self,
        sections: &Sections,
        order: &[usize],
        outs: &mut Vec<OutputSection>,
        chunks: &mut Vec<Chunk>,
    ) {
        let mut lists = Vec::new();
        let runs = par::runs("find relocations to keep", self.parallel, order.len(), SECTIONS, |run| {
            let found = order[run]
                .iter()
                .map(|&target| self.sources(sections, target, &outs[target].members, chunks));
            found.filter(|sources| sources.count > 0).collect::<Vec<Sources>>()
        });
        for Sources { target, list: sources, count } in runs.into_iter().flatten() {
            let prefix: &[u8] = if self.form.addends { b".rela" } else { b".rel" };
            let name = Cow::Owned([prefix, &*outs[target].name].concat());
            let (entry, align) = (self.form.size(), self.form.format.word());
            let flags = outs[target].flags & SHF_GROUP;
            let mut section = OutputSection::new(name, self.form.section_type(), flags, entry);
            (section.size, section.align) = (count * entry, align);
            section.members.push(Member::chunk(ChunkId(chunks.len() as u32)));
            let kind = ChunkKind::Relocs(lists.len() as u32);
            section.own = Some(kind);
            let out = OutputSectionId(outs.len() as u32);
            chunks.push(Chunk::new(kind, count * entry, align, out));
            outs.push(section);
            lists.push(List { target: OutputSectionId(target as u32), section: out, sources });
        }
        self.lists = Lists { list: lists, bases: self.bases() };
    }

    fn renumber(&mut self, ids: &[OutputSectionId]) {
        for list in &mut self.lists.list {
            (list.target, list.section) = (ids[list.target.index()], ids[list.section.index()]);
        }
    }
}

impl Planner<'_, '_> {
    /// The section of each object that addends of calls are places in.
    fn bases(&self) -> Vec<SectionId> {
        let base = self.objects.first().and_then(|object| object.machine.base_addend.as_ref());
        let Some(base) = base else { return Vec::new() };
        let of_object = |object: &Object| {
            let found = (0..object.shdrs.len()).find(|i| object.section_name(*i) == Some(base.section));
            found.map_or(SectionId::NONE, |i| SectionId(object.section_base + i as u32))
        };
        self.objects.iter().map(of_object).collect()
    }

    /// What has relocations among the members of output section `target`.
    fn sources(&self, sections: &Sections, target: usize, members: &[Member], chunks: &[Chunk]) -> Sources {
        let (mut list, mut before) = (Vec::new(), 0);
        let mut add = |member: Member, count: u64| {
            let mut add = |source: Source, count: u64| {
                if count > 0 {
                    list.push((source, before));
                    before += count;
                }
            };
            match (member.as_section(), member.as_chunk()) {
                (Some(id), _) => add(Source::Section(id), count),
                (_, Some(id)) if chunks[id.index()].kind == ChunkKind::EhFrame => {
                    let counts = self.eh_frames.reloc_counts(sections).enumerate();
                    counts.for_each(|(entry, count)| add(Source::Frames(entry as u32), count));
                }
                _ => {}
            }
        };
        if members.len() <= MEMBERS {
            members.iter().for_each(|member| add(*member, self.count(sections, *member)));
        } else {
            let counts =
                par::runs("count relocations to keep", self.parallel, members.len(), MEMBERS, |run| {
                    members[run].iter().map(|member| self.count(sections, *member)).collect::<Vec<u64>>()
                });
            members.iter().zip(counts.into_iter().flatten()).for_each(|(member, count)| add(*member, count));
        }
        Sources { target, list, count: before }
    }

    fn count(&self, sections: &Sections, member: Member) -> u64 {
        let Some(id) = member.as_section() else { return 0 };
        let section = sections.get(id);
        if section.relocs == 0 {
            return 0;
        }
        let object = self.owners.object(id).index();
        sections.relocs(&self.objects[object], object, section).len() as u64
    }
}

impl Lists {
    /// The lists of an output with `count` sections, whose symbols have these numbers and whose relocations
    /// are stored as `form` says.
    pub fn with_numbers(self, form: RelocForm, count: usize, numbers: Numbers) -> EmittedRelocs {
        let mut of_section = vec![OutputSectionId::NONE; count];
        self.list.iter().for_each(|list| of_section[list.target.index()] = list.section);
        EmittedRelocs { lists: self.list, of_section, numbers, form, bases: self.bases }
    }
}

impl EmittedRelocs {
    /// The output sections that have relocations, each with that of its relocations.
    pub fn sections(&self) -> impl Iterator<Item = (OutputSectionId, OutputSectionId)> {
        self.lists.iter().map(|list| (list.target, list.section))
    }

    /// The section with the relocations of an output section.
    pub fn of(&self, section: OutputSectionId) -> Option<OutputSectionId> {
        self.of_section.get(section.index()).copied().filter(|relocs| relocs.is_some())
    }

    /// Offsets at which list `list` may be cut.
    fn borders(&self, list: u32) -> Vec<u64> {
        let entry = self.form.size();
        self.lists[list as usize].sources.iter().map(|s| s.1 * entry).collect()
    }

    /// The index in the output of an object's symbol; 0 if it has none.
    pub fn symbol(&self, layout: &Layout, sections: &Sections, of: (ObjectId, &Object), index: u32) -> u32 {
        let (number, object) = of;
        let Some(symbol) = object.syms.get(index as usize) else { return 0 };
        if index >= object.first_global {
            return self.numbers.global(object.global(index));
        }
        match (symbol.kind(), object.place(index, symbol)) {
            (STT_SECTION, SymbolPlace::Section(shndx)) if (shndx as usize) < object.shdrs.len() => {
                let section = sections.get(SectionId(object.section_base + shndx));
                layout.out_of(section.bin()).map_or(0, |out| self.numbers.section(out))
            }
            (STT_SECTION, _) => 0,
            _ => self.numbers.local(number, index),
        }
    }
}

pub struct Writer<'c> {
    pub image: &'c Image<'c, 'c>,
    pub owners: &'c SectionOwners,
    pub eh_frames: &'c EhFrames,
    pub relocs: &'c EmittedRelocs,
}

impl Writer<'_> {
    /// Writes the bytes of list `list` from `start` on, which is one of its borders; so is the end.
    pub fn write(&self, list: u32, start: u64, out: &mut [u8]) {
        let list = &self.relocs.lists[list as usize];
        let form = self.relocs.form;
        let first = list.sources.partition_point(|s| s.1 * form.size() < start);
        let mut slots = out.chunks_exact_mut(form.size() as usize);
        let mover = Mover::new(self.image, self.relocs);
        for (source, _) in &list.sources[first..] {
            if slots.len() == 0 {
                return;
            }
            let mut put = |reloc: &Rela| slots.next().iter_mut().for_each(|slot| form.put(reloc, slot));
            match *source {
                Source::Section(id) => self.section(id, &mover, &mut put),
                Source::Frames(entry) => {
                    let address = self.image.layout[list.target].address;
                    self.eh_frames.each_reloc(self.image, entry as usize, |id, reloc, offset| {
                        put(&mover.moved(id, reloc, address + offset));
                    });
                }
            }
        }
    }

    fn section(&self, id: SectionId, mover: &Mover, put: &mut impl FnMut(&Rela)) {
        let image = self.image;
        let number = self.owners.object(id);
        let object = &image.resolved.objects[number.index()];
        let section = image.sections.get(id);
        let decoded;
        let relocs = match image.joined.is_none() && object.machine.base_addend.is_some() {
            // Addends that say nothing of where calls go are gone from those that are applied.
            true if section.relocs != 0 => {
                decoded = decode_relocs(object, section.relocs as usize).unwrap_or_default();
                &decoded[..]
            }
            _ => image.sections.relocs(object, number.index(), section),
        };
        if image.joined.is_none() {
            let deltas = image.sections.shrunk.deltas(id);
            if let (Some(machine), false) = (image.mode.machine.shrink(), deltas.is_empty()) {
                return shorter(machine, deltas, relocs).for_each(|reloc| {
                    put(&mover.moved(number, &reloc, image.sections.address_of(id, reloc.r_offset())));
                });
            }
            return relocs.iter().for_each(|reloc| {
                put(&mover.moved(number, reloc, image.sections.address_of(id, reloc.r_offset())));
            });
        }
        let site = relocs::Site { image, object, number, shndx: id.0 - object.section_base };
        for reloc in relocs {
            let moved = mover.moved(number, reloc, image.sections.address_of(id, reloc.r_offset()));
            site.check(reloc, moved.sym() == 0 && reloc.sym() != 0);
            put(&moved);
        }
    }
}

/// Relocations of code that got shorter, with the types of what became of it.
fn shorter<'c>(
    machine: &'c dyn Shrink,
    deltas: &'c [RelaxDelta],
    relocs: &'c [Rela],
) -> impl Iterator<Item = Rela> + 'c {
    let mut forms: Vec<(u32, u8)> = deltas.iter().map(|delta| (delta.reloc, delta.form)).collect();
    forms.sort_unstable();
    let mut forms = forms.into_iter().peekable();
    relocs.iter().enumerate().map(move |(i, reloc)| {
        let form = forms.next_if(|(of, _)| *of as usize == i);
        let kind = form.map_or(reloc.kind(), |(_, form)| machine.kept(reloc.kind(), form));
        Rela::make(reloc.r_offset(), reloc.sym(), kind, reloc.r_addend())
    })
}

/// Finds what relocations refer to in the output.
pub struct Mover<'c> {
    image: &'c Image<'c, 'c>,
    numbers: &'c Numbers,
    bases: &'c [SectionId],
}

impl<'c> Mover<'c> {
    pub fn new(image: &'c Image<'c, 'c>, relocs: &'c EmittedRelocs) -> Mover<'c> {
        Mover { image, numbers: &relocs.numbers, bases: &relocs.bases }
    }

    /// An input's relocation at its new place.
    fn moved(&self, id: ObjectId, reloc: &Rela, place: Address) -> Rela {
        let object = &self.image.resolved.objects[id.index()];
        match self.target(id, object, reloc) {
            Some((symbol, addend)) => {
                let addend = addend.wrapping_add(self.base_moved(id, object, reloc).unwrap_or(0));
                Rela::make(place.get(), symbol, reloc.kind(), addend)
            }
            None => Rela::make(place.get(), 0, object.machine.none, 0),
        }
    }

    /// How far the section moves in the output's that the addend of a call is a place in. What names a section
    /// has its own place in the addend besides, and so leaves none for that.
    fn base_moved(&self, id: ObjectId, object: &Object, reloc: &Rela) -> Option<i64> {
        object.machine.base_addend.as_ref().filter(|base| base.has(reloc))?;
        object.syms.get(reloc.sym() as usize).filter(|symbol| symbol.kind() != STT_SECTION)?;
        let base = self.bases.get(id.index()).copied().filter(|base| base.is_some())?;
        let out = self.image.out_of(self.image.sections.get(base))?;
        Some(self.image.sections.address_of(base, 0).wrapping_sub(self.image.layout[out].address) as i64)
    }

    /// The new symbol and addend; `None` if what it refers to is gone.
    pub fn target(&self, id: ObjectId, object: &Object, reloc: &Rela) -> Option<(u32, i64)> {
        let image = self.image;
        let (index, addend) = (reloc.sym(), reloc.r_addend());
        if index == 0 {
            return Some((0, addend));
        }
        if index as usize >= object.syms.len() {
            return None;
        }
        if index >= object.first_global {
            let name = object.global(index);
            let number = self.numbers.global(name);
            // With `-r`, another object may define it.
            let dead = image.joined.is_none() && image.symbols[name].has(symbol_flags::IN_DISCARDED);
            return (number != 0 && !dead).then_some((number, addend));
        }
        if object.syms[index as usize].kind() != STT_SECTION {
            let number = self.numbers.local(id, index);
            if number != 0 {
                return Some((number, addend));
            }
        }
        let place = image.local_place(object, index, addend);
        if place.dead {
            return None;
        }
        let address = place.address.wrapping_add(place.addend as u64);
        if place.flags & symbol_flags::ABSOLUTE != 0 {
            return Some((0, address.get() as i64));
        }
        self.in_section(object, reloc, address)
    }

    /// The symbol of the output section that a local symbol lies in, and the addend that makes it the
    /// same address.
    fn in_section(&self, object: &Object, reloc: &Rela, address: Address) -> Option<(u32, i64)> {
        let image = self.image;
        let index = reloc.sym();
        let SymbolPlace::Section(shndx) = object.place(index, &object.syms[index as usize]) else {
            return None;
        };
        let section = image.sections.get(SectionId(object.section_base + shndx));
        let out = image.out_of(section)?;
        let addend = address.wrapping_sub(image.layout[out].address) as i64;
        if addend != reloc.r_addend() && !object.machine.counts_from_symbol(reloc.kind()) {
            let kind = object.machine.type_name(reloc.kind());
            let option = if image.joined.is_some() { "-r" } else { "--emit-relocs" };
            let text = format!("{kind} against a section's symbol cannot be kept by {option}");
            image.sink.push(object.whole().error(Cause::MalformedRelocation, text));
        }
        Some((self.numbers.section(out), addend)).filter(|target| target.0 != 0)
    }
}

/// The list with this number.
pub struct Section(pub u32);

impl Section {
    /// None yet: lists are added once the other output sections are known.
    pub fn count(_: &Sizes) -> u32 {
        0
    }
}

impl Synthetic for Section {
    fn spec(&self, _: &Sizes) -> Option<Spec> {
        None
    }

    fn links(&self, plan: &Plan) -> Option<Links> {
        let list = &plan.relocs.as_ref()?.lists[self.0 as usize];
        Links::with(ChunkKind::SymTab, Info::Output(list.target))
    }

    fn cuts(&self, parts: &Parts) -> Cuts {
        Cuts::At(parts.contents.relocs.map_or_else(Vec::new, |relocs| relocs.borders(self.0)))
    }

    fn work(&self) -> &'static str {
        "emitted relocations"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let Some(relocs) = at.contents().relocs else { return };
        let eh_frames = at.contents().eh_frames;
        let writer = Writer { image: at.image(), owners: at.source.owners, eh_frames, relocs };
        writer.write(self.0, at.start, out);
    }
}
