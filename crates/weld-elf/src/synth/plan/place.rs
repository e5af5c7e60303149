//! Giving everything its address.

use weld_common::trace;

use super::{Link, Places, Plan};
use crate::arch;
use crate::arch::facts::Facts;
use crate::got_plt_slots::NONE;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::job::Context;
use crate::layout::ChunkKind;
use crate::layout::program::Program;
use crate::layout::scripted::Draft;
use crate::layout::segments::{self, SegmentRules};
use crate::layout::settle::{self, Adaptive};
use crate::layout::shrink::{self, Shrinking};
use crate::layout::{Layout, addresses, scripted};
use crate::live::dyn_relocs::DynKind;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::{Symbol, Symbols, symbol_flags};
use crate::synth::copyrel::Copies;
use crate::synth::error::PlanError;
use crate::synth::further_gots::FurtherGots;
use crate::synth::image::Image;
use crate::synth::rela::{self, Dynamics};
use crate::synth::relr::Packed;
use crate::synth::thunks;

impl<'a> Plan<'a> {
    /// Gives sections, chunks and symbols their addresses.
    pub fn place(
        &mut self,
        sections: &mut Sections<'a>,
        symbols: &mut Symbols,
        resolved: &Resolved,
        context: &Context,
    ) {
        // In an object all addresses are 0, so what lies in sections has its place already.
        if self.joined.is_none() {
            addresses::place(&mut self.layout, sections, &self.live, context.parallel);
        }
        let facts = self.facts.mode.facts();
        self.bases = addresses::bases(&self.layout, facts, self.slots.in_front(facts));
        if let Some(got) = &facts.loader_got {
            let (word, start) = (self.bases.slot, self.bases.got);
            let size = self.layout.chunk(ChunkKind::Got).map_or(0, |chunk| chunk.size);
            let further = self.further_gots.as_ref().map_or(0, FurtherGots::words);
            self.slots.local_words = (size / word).saturating_sub(u64::from(self.slots.got_words) + further);
            self.bases.got = start + word * self.slots.local_words;
            self.bases.got_base = start + got.bias;
        }
        let relro = &self.copies.in_relro;
        addresses::place_symbols(symbols, sections, &self.layout, &self.merged, relro, context.parallel);
        let _stretch = trace::stretch("place symbols by hand");
        addresses::place_codes(symbols, context.internals, sections);
        addresses::place_internals(
            symbols,
            context.internals,
            &mut self.layout,
            &self.bases,
            context.mode.shared,
        );
        if let Some(id) = self.base_symbol.filter(|id| symbols[*id].address() != self.bases.got_base) {
            self.bases.got_base = symbols[id].address();
            let shared = context.mode.shared;
            addresses::place_internals(symbols, context.internals, &mut self.layout, &self.bases, shared);
        }
        self.place_plt_symbols(symbols);
        self.place_local_ifuncs(sections, resolved);
        if !self.thunks.is_empty() {
            let (slots, style, bases) = (&self.slots, self.plt, &self.bases);
            let entry = |entry| bases.plt_entry(facts, slots.jump_slots, style, entry);
            self.thunks.place(&self.layout, sections, symbols, entry, context.mode);
        }
    }

    /// Dynamic relocations as they are in this layout.
    pub fn dynamics(&mut self, link: Link<'_, 'a>, places: &mut Places<'_, 'a>) -> Dynamics {
        let context = link.context;
        let collect =
            |image: &Image, copies: &Copies| rela::collect(image, context.owners, copies, context.parallel);
        self.as_placed(link, places, collect)
    }

    /// What can be seen of this layout. Everything is placed for that, and then put back.
    pub fn as_placed<T>(
        &mut self,
        Link { job, context, resolved }: Link<'_, 'a>,
        Places { sections, symbols }: &mut Places<'_, 'a>,
        look: impl FnOnce(&Image, &Copies) -> T,
    ) -> T {
        let offsets: Vec<u64> = symbols.list.iter().map(Symbol::offset).collect();
        let list = sections.list.clone();
        let layout = (self.layout.chunks.clone(), self.layout.by_address.clone());
        let (slots, bases) = (self.slots.list.clone(), self.bases);
        self.place(sections, symbols, resolved, context);
        let image = self.image(job, context, resolved, sections, symbols);
        let seen = look(&image, &self.copies);
        symbols.list.iter_mut().zip(offsets).for_each(|(symbol, offset)| symbol.set_offset(offset));
        sections.list = list;
        (self.layout.chunks, self.layout.by_address) = layout;
        (self.slots.list, self.bases) = (slots, bases);
        seen
    }

    /// Local IFUNCs have no symbol to hold the address of their resolver.
    fn place_local_ifuncs(&mut self, sections: &Sections, resolved: &Resolved) {
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE) {
            let Some((object, index)) = slot.local else { continue };
            let object = &resolved.objects[object.index()];
            let symbol = &object.syms[index as usize];
            if let SymbolPlace::Section(shndx) = object.place(index, symbol) {
                let section = SectionId(object.section_base + shndx);
                slot.definition = sections.address_of(section, symbol.st_value());
            }
        }
    }

    /// Functions whose address is taken where only the PLT can stand for them are known by their PLT entries.
    fn place_plt_symbols(&mut self, symbols: &mut Symbols) {
        let facts = self.facts.mode.facts();
        // The list of slots is changed, so what entries need of them is looked up before.
        let words = facts.slot() * facts.plt.descriptor_words;
        let is_code = facts.plt.descriptor_words == 1;
        let starts = [0, self.slots.jump_slots].map(|first| match is_code {
            true => (first, self.bases.plt_entry(facts, self.slots.jump_slots, self.plt, first)),
            false => {
                let reserved = facts.slot() * self.slots.reserved;
                (first, self.bases.got_plt + (reserved + words * u64::from(first)))
            }
        });
        let size = if is_code { self.plt.entry_size(facts) } else { words };
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE && s.id.is_some()) {
            let symbol = &mut symbols.list[slot.id.index()];
            slot.definition = symbol.address();
            if symbol.has(symbol_flags::NEEDS_CANONICAL_PLT) {
                let (first, start) = starts[usize::from(slot.plt >= self.slots.jump_slots)];
                symbol.set_address(start + size * u64::from(slot.plt - first));
            }
        }
    }

    /// Gives output sections their addresses.
    pub fn settle(
        &mut self,
        Link { context, resolved, .. }: Link<'_, 'a>,
        Places { sections, symbols }: &mut Places<'_, 'a>,
        program: &Program,
    ) -> Result<(), PlanError> {
        let symbols: &Symbols = symbols;
        let packed_in = |table, kind, count, got_words| Packed {
            table,
            kind,
            relocs: &self.live.dyn_relocs,
            far: &self.far,
            count,
            got_words,
            slot: context.mode.facts().slot(),
            resolved,
            owners: context.owners,
        };
        let mut packed =
            packed_in(ChunkKind::Relr, DynKind::Relative, self.counts.relr, self.slots.got_words);
        let mut signed = packed_in(ChunkKind::SignedRelr, DynKind::Signed, self.counts.signed, 0);
        let world = scripted::World {
            symbols,
            internals: context.internals,
            merged: &self.merged,
            relro_copies: &self.copies.in_relro,
            bases: self.bases,
            shared: context.mode.shared,
        };
        let facts = self.facts;
        let rules = SegmentRules { program, facts };
        let assign = |layout: &mut Layout<'a>, sections: &mut Sections<'a>| match &layout.script {
            Some(script) if script.lays_out() => {
                scripted::assign(&mut Draft { layout, sections }, &world, rules, context.parallel)
            }
            Some(_) => {
                segments::assign(layout, rules)?;
                scripted::compute(&mut Draft { layout, sections }, &world, rules)
            }
            None => segments::assign(layout, rules),
        };
        let branches = facts.mode.facts().branches.as_ref().filter(|_| self.joined.is_none());
        if self.joined.is_none() {
            check_options(program.options, facts.mode.facts())?;
        }
        let code = shrink::Code {
            objects: &resolved.objects,
            owners: context.owners,
            options: program.options,
            mode: context.mode,
            parallel: context.parallel,
        };
        let places = shrink::World {
            symbols,
            internals: context.internals,
            slots: &self.slots,
            merged: &self.merged,
            folds: &self.live.folds,
            plt: self.plt,
            pointer: self.pointer,
        };
        let mut shrinking = Shrinking::new(code, places, sections);
        let mut thunks = branches.map(|branches| {
            let world = thunks::World {
                resolved,
                owners: context.owners,
                symbols,
                internals: context.internals,
                live: &self.live,
                slots: &self.slots,
                bases: self.bases,
                style: self.plt,
                mode: facts.mode,
                parallel: context.parallel,
            };
            thunks::Search::new(branches, &mut self.thunks, world)
        });
        let mut all: Vec<&mut dyn Adaptive> = Vec::new();
        all.extend(shrinking.iter_mut().map(|it| it as &mut dyn Adaptive));
        // What it is made of is known as soon as code is in its order.
        all.extend(self.tables.code_index.iter_mut().map(|it| it as &mut dyn Adaptive));
        all.extend(thunks.iter_mut().map(|it| it as &mut dyn Adaptive));
        all.extend([&mut packed as &mut dyn Adaptive, &mut signed]);
        Ok(settle::settle(&mut self.layout, sections, &mut all, assign)?)
    }
}

/// Whether options about branches are for this machine.
fn check_options(options: &Options, machine: &Facts) -> Result<(), PlanError> {
    if options.layout.branch_reach.is_some() && machine.branches.is_none() {
        return Err(PlanError::BranchReach { machine: machine.name });
    }
    match options.layout.errata.iter().find(|option| !machine.has_erratum(option)) {
        Some(option) => {
            let all = || arch::MACHINES.iter().map(|machine| machine.facts());
            let of = all().find(|other| other.has_erratum(option)).map_or("", |other| other.name);
            Err(PlanError::Erratum { option, of, machine: machine.name })
        }
        None => Ok(()),
    }
}
