//! Giving everything its address, and `.relr.dyn` the size that addresses ask for.

use weld_common::trace;

use super::Plan;
use crate::arch::plt;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::input::sections::Sections;
use crate::layout::segments;
use crate::layout::{ChunkKind, addresses};
use crate::link::{Context, Job};
use crate::resolve::Resolved;
use crate::resolve::symbols::{Symbols, sym};
use crate::synth::slots::NONE;
use crate::synth::{rela, relr};

impl<'a> Plan<'a> {
    /// Gives sections, chunks and symbols their addresses.
    pub fn place(
        &mut self,
        sections: &mut Sections<'a>,
        symbols: &mut Symbols,
        resolved: &Resolved,
        context: &Context,
    ) {
        addresses::place(&mut self.layout, sections, &self.live, context.parallel);
        self.bases = addresses::bases(&self.layout, self.facts.mode.facts().tls);
        let relro = &self.copies.in_relro;
        addresses::place_symbols(symbols, sections, &self.layout, &self.merged, relro, context.parallel);
        let _stretch = trace::stretch("place symbols by hand");
        addresses::place_internals(
            symbols,
            context.internals,
            &self.layout,
            &self.bases,
            context.mode.shared,
        );
        self.place_plt_symbols(symbols);
        self.place_local_ifuncs(sections, resolved);
    }

    /// Local IFUNCs have no symbol to hold the address of their resolver.
    fn place_local_ifuncs(&mut self, sections: &Sections, resolved: &Resolved) {
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE) {
            let Some((object, index)) = slot.local else { continue };
            let object = &resolved.objects[object.index()];
            let symbol = &object.syms[index as usize];
            if let SymbolPlace::Section(shndx) = object.place(index, symbol) {
                let section = sections.get(SectionId(object.section_base + shndx));
                slot.definition = section.address().wrapping_add(symbol.st_value());
            }
        }
    }

    /// IFUNCs of this output, and functions whose address is taken where only the PLT can stand for
    /// them, are known by their PLT entries.
    fn place_plt_symbols(&mut self, symbols: &mut Symbols) {
        let facts = self.facts.mode.facts();
        let table = if self.ibt_plt { self.bases.plt_sec } else { self.bases.plt };
        let (header, size) = (plt::entry_offset(facts, &self.slots, self.ibt_plt, 0), facts.plt.entry);
        let entry = |plt: u32| table + header + size * u64::from(plt);
        for slot in self.slots.list.iter_mut().filter(|s| s.plt != NONE && s.id.is_some()) {
            let symbol = &mut symbols.list[slot.id.index()];
            let flags = symbol.flags();
            slot.definition = symbol.value;
            let ifunc = flags & sym::PREEMPTIBLE == 0;
            if ifunc || flags & sym::NEEDS_CANONICAL_PLT != 0 {
                symbol.value = entry(slot.plt);
            }
        }
    }

    /// Grows `.relr.dyn` until it holds what the addresses ask for. It never shrinks, so this ends.
    pub(super) fn settle_relr(
        &mut self,
        job: &Job,
        context: &Context,
        resolved: &Resolved,
        sections: &Sections,
    ) -> Result<(), String> {
        if self.counts.relr == 0 {
            return Ok(());
        }
        loop {
            let needed = relr::encode(&self.relr_addresses(context, resolved, sections)).len() as u64 * 8;
            let Some(chunk) = self.layout.chunks.iter_mut().find(|c| c.kind == ChunkKind::Relr) else {
                return Ok(());
            };
            if needed <= chunk.size {
                return Ok(());
            }
            chunk.size = needed;
            let out = chunk.out;
            self.layout[out].size = needed;
            segments::assign(&mut self.layout, job.options, self.facts)?;
        }
    }

    /// Addresses for `.relr.dyn` while input sections and chunks still have offsets.
    fn relr_addresses(&self, context: &Context, resolved: &Resolved, sections: &Sections) -> Vec<u64> {
        let mut list = Vec::with_capacity(self.counts.relr as usize);
        for reloc in
            self.live.dyn_relocs.iter().filter(|r| rela::is_packed(resolved, sections, context.owners, r))
        {
            let object = context.owners.object(reloc.section);
            let section = sections.get(reloc.section);
            let relocs = sections.relocs(&resolved.objects[object.index()], object.index(), section);
            let Some(out) = self.layout.out_of(section.bin()) else { continue };
            let offset = section.placed_offset(relocs[reloc.index()].r_offset());
            list.push(self.layout[out].address.wrapping_add(section.offset()).wrapping_add(offset));
        }
        if let Some(chunk) = self.layout.chunk(ChunkKind::Got) {
            let base = self.layout[chunk.out].address + chunk.address;
            // Which words are relative does not change the size by more than a few bitmaps; take all.
            list.extend((0..self.slots.got_words as u64).map(|w| base + 8 * w));
        }
        list.sort_unstable();
        list
    }
}
