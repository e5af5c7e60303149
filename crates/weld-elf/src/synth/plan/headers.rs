//! What output sections say of each other: header fields, names, and the sections of `--emit-relocs`.

use super::{Link, Places, Plan};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::{Chunk, ChunkKind, place};
use crate::resolve::Resolved;
use crate::synth::emitted_relocs::Lists;
use crate::synth::error::PlanError;
use crate::synth::plt_marks;
use crate::synth::section::{Info, Links};
use crate::synth::shstrtab;
use crate::synth::symbol_choice::Choice;
use crate::synth::thunks::Names;

impl<'a> Plan<'a> {
    /// `-r` and `--emit-relocs`: gives symbols to the sections that relocations may refer to, and numbers to
    /// all symbols.
    pub(super) fn keep_relocs(
        &mut self,
        lists: Lists,
        Link { job, context, resolved }: Link<'_, 'a>,
        Places { sections, symbols }: &Places<'_, 'a>,
    ) -> Result<(), PlanError> {
        let (options, sink) = (job.options, job.sink);
        let (live, parallel) = (&self.live, context.parallel);
        let Some(symtab) = &mut self.symtab else { return Ok(()) };
        let outs = &self.layout.sections;
        symtab.add_sections(match &self.joined {
            // Groups come first, and after sections of inputs those of the linker.
            Some(joined) => joined.groups.len()..outs.partition_point(|out| out.own.is_none()),
            // They come before the tables.
            None => 0..self.layout.chunk(ChunkKind::SymTab).map_or(0, |chunk| chunk.out.index()),
        });
        let choice = Choice { resolved, sections, symbols, live, options, special: &symtab.special, sink };
        let form = self.facts.mode.facts().kept_reloc_form();
        self.relocs = Some(lists.with_numbers(form, outs.len(), choice.number(symtab, parallel)));
        if let (Some(joined), Some(relocs)) = (&mut self.joined, &self.relocs) {
            let index_of = |of: (ObjectId, &Object), index| relocs.symbol(&self.layout, sections, of, index);
            joined.groups.iter_mut().try_for_each(|group| group.sign(&resolved.objects, index_of))?;
        }
        Ok(())
    }

    /// Adds the symbols of code that the linker makes to the symbol table, once it is known which there are: thunks and
    /// marks of the PLT.
    ///
    /// # Errors
    /// If the file becomes too large.
    pub(super) fn name_code(&mut self, resolved: &Resolved) -> Result<(), PlanError> {
        let Some(symtab) = self.symtab.as_mut() else { return Ok(()) };
        let (machine, pic) = (self.facts.mode.facts(), self.facts.mode.pic);
        let (thunks, marks) =
            (self.thunks.names(machine, resolved, pic), plt_marks::names(machine, self.plt, &self.slots));
        let names = Names { count: thunks.count + marks.count, bytes: thunks.bytes + marks.bytes };
        if names.count == 0 {
            return Ok(());
        }
        let before = symtab.first_global;
        symtab.add_code(names)?;
        if let Some(relocs) = &self.relocs {
            relocs.numbers.shift(before, symtab.first_global - before);
        }
        let format = self.layout.format;
        let sizes = [
            (ChunkKind::SymTab, symtab.count * format.size::<Sym>()),
            (ChunkKind::SymTabShndx, symtab.count * format.size::<Word>()),
            (ChunkKind::StrTab, symtab.strings),
        ];
        let first_global = symtab.first_global;
        for (kind, size) in sizes {
            let Some((id, out)) = self.layout.chunk_with_id(kind).map(|(id, chunk)| (id, chunk.out)) else {
                continue;
            };
            self.layout.chunks[id.index()].size = size;
            self.layout[out].size = size;
            if kind == ChunkKind::SymTab {
                self.layout[out].info = first_global;
            }
        }
        Ok(place::unallocated(&mut self.layout)?)
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
    pub(super) fn finish_sections(&mut self) -> Result<(), PlanError> {
        if self.layout.chunk(ChunkKind::ShStrTab).is_some() {
            self.names = shstrtab::Names::new(&self.layout, self.relocs.as_ref())?;
        }
        let ask = |chunk: &Chunk| chunk.kind.ask(|section| (section.resize(self), section.links(self)));
        let answers: Vec<_> = self.layout.chunks.iter().map(ask).collect();
        for (i, (size, links)) in answers.into_iter().enumerate() {
            let out = self.layout.chunks[i].out;
            if let Some(size) = size {
                self.layout.chunks[i].size = size;
                self.layout[out].size = size;
            }
            let Some(Links { link, output, info }) = links else { continue };
            let index = |kind| self.layout.header_of(kind);
            let link = output.map_or_else(|| link.map_or(HeaderIndex::ZERO, index), OutputSectionId::header);
            let (info, flag) = match info {
                Info::Number(number) => (number, 0),
                Info::Section(kind) => (index(kind).0, SHF_INFO_LINK),
                Info::Output(out) => (out.header().0, SHF_INFO_LINK),
            };
            let out = &mut self.layout[out];
            (out.link, out.info) = (link, info);
            out.flags |= flag;
        }
        Ok(())
    }
}
