//! What output sections say of each other: header fields, names, and the sections of `--emit-relocs`.

use super::Plan;
use crate::elf::*;
use crate::ids::*;
use crate::input::sections::Sections;
use crate::layout::{Chunk, ChunkKind, OutputSection};
use crate::link::{Context, Job};
use crate::resolve::Resolved;
use crate::resolve::symbols::Symbols;
use crate::synth::emitted_relocs;
use crate::synth::section::{Info, Links};
use crate::synth::symbol_choice::{Choice, Special};

impl<'a> Plan<'a> {
    /// Adds the sections of `--emit-relocs`, and symbols for the sections that they may refer to.
    pub(super) fn emit_relocs(
        &mut self,
        context: &Context,
        resolved: &Resolved<'a>,
        sections: &Sections<'a>,
        symbols: &Symbols,
        job: &Job,
    ) {
        let (options, sink) = (job.options, job.sink);
        let (live, parallel) = (&self.live, context.parallel);
        let Some(symtab) = &mut self.symtab else { return };
        let outs = &self.layout.sections;
        let is_table = |s: &OutputSection| s.own == Some(ChunkKind::SymTab);
        symtab.add_sections(outs.iter().position(is_table).unwrap_or(0) as u32);
        let planner = emitted_relocs::Planner {
            resolved,
            sections,
            owners: context.owners,
            eh_frames: &self.eh_frames,
            parallel,
        };
        let lists = planner.add(&mut self.layout);
        let special = &Special::default();
        let choice = Choice { resolved, sections, symbols, live, options, special, sink };
        self.relocs = Some(lists.with_numbers(choice.number(symtab, parallel)));
    }

    pub(super) fn name_merged_chunks(&mut self) {
        for (i, chunk) in self.layout.chunks.iter().enumerate() {
            if let ChunkKind::Merged(part) = chunk.kind {
                self.merged[part as usize].chunk = ChunkId(i as u32);
            }
        }
    }

    /// What depends on which output sections there are: sizes of tables of them, and header fields that name
    /// others. Sections are known by what the linker puts there: inputs may have some of the same name.
    pub(super) fn finish_sections(&mut self) {
        let ask = |chunk: &Chunk| chunk.kind.ask(|section| (section.resize(self), section.links(self)));
        let answers: Vec<_> = self.layout.chunks.iter().map(ask).collect();
        for (i, (size, links)) in answers.into_iter().enumerate() {
            let out = self.layout.chunks[i].out;
            if let Some(size) = size {
                self.layout.chunks[i].size = size;
                self.layout[out].size = size;
            }
            let Some(Links { link, info }) = links else { continue };
            let index = |kind| self.layout.header_of(kind);
            let link = link.map_or(HeaderIndex::ZERO, index);
            let (info, flag) = match info {
                Info::Number(number) => (number, 0),
                Info::Section(kind) => (index(kind).0, SHF_INFO_LINK),
                Info::Output(out) => (out.header().0, SHF_INFO_LINK),
            };
            let out = &mut self.layout[out];
            (out.link, out.info) = (link, info);
            out.flags |= flag;
        }
    }
}
