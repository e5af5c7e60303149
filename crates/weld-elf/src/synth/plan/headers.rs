//! What output sections say of each other: header fields, names, and the sections of `--emit-relocs`.

use super::Plan;
use crate::elf::*;
use crate::ids::*;
use crate::input::sections::Sections;
use crate::layout::{ChunkKind, OutputSection};
use crate::link::{Context, Job};
use crate::resolve::Resolved;
use crate::resolve::symbols::Symbols;
use crate::synth::emitted_relocs;
use crate::synth::strtab::StringTable;
use crate::synth::symbol_choice::{Choice, Special};

impl<'a> Plan<'_, 'a> {
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

    /// Section header fields that name other sections, and the size of `.shstrtab`. Sections are known by
    /// what the linker puts there: inputs may have some of the same name.
    pub(super) fn finish_sections(&mut self) {
        let names: u64 = self.section_names().1.size();
        let layout = &mut self.layout;
        let index = |kind: ChunkKind| layout.chunk(kind).map_or(0, |c| c.out + 1);
        let (dynsym, dynstr) = (index(ChunkKind::DynSym), index(ChunkKind::DynStr));
        let (symtab, strtab) = (index(ChunkKind::SymTab), index(ChunkKind::StrTab));
        let got_plt = index(ChunkKind::GotPlt);
        let d = self.dynsym.as_ref();
        let verdef = d.and_then(|d| d.verdef.as_ref()).map_or(0, |v| v.count);
        let verneed = d.and_then(|d| d.verneed.as_ref()).map_or(0, |v| v.count);
        let first_global = self.symtab.as_ref().map_or(0, |s| s.first_global);
        for chunk in &mut layout.chunks {
            let out = &mut layout.sections[chunk.out as usize];
            (out.link, out.info) = match chunk.kind {
                ChunkKind::DynSym => (dynstr, 1),
                ChunkKind::VerSym | ChunkKind::GnuHash | ChunkKind::SysvHash => (dynsym, 0),
                ChunkKind::VerDef => (dynstr, verdef),
                ChunkKind::VerNeed => (dynstr, verneed),
                ChunkKind::RelaDyn => (dynsym, 0),
                ChunkKind::RelaPlt => (dynsym, got_plt),
                ChunkKind::Dynamic => (dynstr, 0),
                ChunkKind::SymTab => (strtab, first_global),
                ChunkKind::SymTabShndx => (symtab, 0),
                ChunkKind::Relocs(_) => (symtab, out.info),
                _ => continue,
            };
            if chunk.kind == ChunkKind::RelaPlt {
                out.flags |= SHF_INFO_LINK;
            }
        }
        for chunk in &mut layout.chunks {
            let size = match (chunk.kind, &self.symtab) {
                (ChunkKind::ShStrTab, _) => names,
                (ChunkKind::SymTab, Some(s)) => s.count * Sym::SIZE as u64,
                (ChunkKind::SymTabShndx, Some(s)) => s.count * 4,
                _ => continue,
            };
            chunk.size = size;
            layout.sections[chunk.out as usize].size = size;
        }
    }

    pub(super) fn section_names(&self) -> (Vec<u32>, StringTable) {
        let mut table = StringTable::new();
        let offsets = self.layout.sections.iter().map(|s| table.add(&s.name)).collect();
        (offsets, table)
    }
}
