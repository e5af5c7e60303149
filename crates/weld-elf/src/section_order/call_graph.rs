//! Who calls whom how often: the profiles that compilers write (`.llvm.call-graph-profile`), or
//! `--call-graph-ordering-file`; and `--print-symbol-order`.
//!
//! A profile section is a list of u64 counts, on each machine. Count `i` is that of calls from the symbol of
//! relocation `2i` of the section to that of relocation `2i + 1`. The file has a line `FROM TO COUNT` for
//! each pair. Only calls inside an output section count, for sections stay in theirs.
//!
//! Source: LLVM, "Extensions", `SHT_LLVM_CALL_GRAPH_PROFILE`.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use weld_common::call_graph_sort::{self, Graph};
use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use super::Orderer;
use super::symbols::{Found, why};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::decode_symbols;
use crate::symbols::symbol_flags;

impl<'a> Orderer<'_, 'a> {
    /// The sections that a profile names, in the order that it suggests.
    pub(super) fn by_call_graph(&self) -> Vec<SectionId> {
        let mut graph = Graph::default();
        if let Some(path) = &self.job.options.order.call_graph_file {
            self.read_graph(path, &mut graph);
        } else {
            for object in self.resolved.objects.iter().filter(|object| object.call_graph != 0) {
                if self.read_profile(object, &mut graph).is_none() && self.first {
                    let label = object.section_label(object.call_graph as usize);
                    let text =
                        format!("{}:({label}): counts and relocations do not fit together", object.name);
                    self.job.sink.push(Diagnostic::warning(Cause::SectionOrder, text));
                }
            }
        }
        call_graph_sort::order(&graph, |id| self.sections.get(id).size)
    }

    fn add(&self, graph: &mut Graph<SectionId>, from: SectionId, to: SectionId, count: u64) {
        if self.sections.get(from).bin() == self.sections.get(to).bin() {
            graph.add(from, to, count);
        }
    }

    fn read_profile(&self, object: &Object<'a>, graph: &mut Graph<SectionId>) -> Option<()> {
        let shndx = object.call_graph;
        let counts = object.section_data(shndx as usize)?.as_chunks::<8>().0;
        let relocs = object.shdrs.iter().position(|shdr| {
            matches!(shdr.sh_type(), SHT_REL | SHT_RELA | SHT_CREL) && shdr.sh_info() == shndx
        });
        // A profile of nothing needs no relocations.
        let Some(relocs) = relocs else { return counts.is_empty().then_some(()) };
        let symbols = decode_symbols(object, relocs).ok()?;
        if symbols.len() != 2 * counts.len() {
            return None;
        }
        for (pair, count) in symbols.chunks_exact(2).zip(counts) {
            let [from, to] = [pair[0], pair[1]].map(|index| self.section_of(object, index));
            if let (Some(from), Some(to)) = (from?, to?) {
                self.add(graph, from, to, object.format().get(count));
            }
        }
        Some(())
    }

    /// The section that a symbol of an object lies in, if it can be moved; `None` if there is no such symbol.
    fn section_of(&self, object: &Object, index: u32) -> Option<Option<SectionId>> {
        let symbol = object.syms.get(index as usize)?;
        let id = if index >= object.first_global {
            let symbol = &self.symbols[object.global(index)];
            let is_here = symbol.kind() == symbol_flags::DEFINED;
            is_here.then(|| self.with_code(SectionId(symbol.section), symbol.offset()))
        } else {
            match object.place(index, symbol) {
                SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                    Some(self.with_code(SectionId(object.section_base + shndx), symbol.st_value()))
                }
                _ => None,
            }
        };
        Some(id.filter(|id| self.can_move(*id)))
    }

    fn read_graph(&self, path: &Path, graph: &mut Graph<SectionId>) {
        let Some(text) = self.read(path) else { return };
        let shown = text::path(path);
        let mut edges = Vec::new();
        let mut names: HashMap<&[u8], Vec<Found>> = HashMap::new();
        let mut listed = Vec::new();
        for call in call_graph_sort::calls(text) {
            match call {
                Ok((from, to, count)) => {
                    for name in [from, to] {
                        if names.insert(name, Vec::new()).is_none() {
                            listed.push(name);
                        }
                    }
                    edges.push((from, to, count));
                }
                Err(line) => self
                    .job
                    .sink
                    .error(Cause::SectionOrder, format!("{shown}:{line}: expected FROM TO COUNT")),
            }
        }
        self.find(&mut names);
        let section = |name: &[u8]| {
            names[name].iter().rev().find_map(|found| match found {
                Found::Section(id) => Some(*id),
                Found::Not(_) => None,
            })
        };
        for name in listed.into_iter().filter(|name| section(name).is_none()) {
            let why = why(&names[name]);
            self.warn(format!("{shown}: cannot order {}: {why}", String::from_utf8_lossy(name)));
        }
        for (from, to, count) in edges {
            if let (Some(from), Some(to)) = (section(from), section(to)) {
                self.add(graph, from, to, count);
            }
        }
    }

    /// `--print-symbol-order`: the symbols of sections in their new order, a line each.
    pub(super) fn print(&self, path: &Path, sections: &[SectionId]) -> Result<(), Diagnostics> {
        let mut text = String::new();
        for id in sections {
            let object = &self.resolved.objects[self.owners.object(*id).index()];
            for (index, symbol) in object.syms.iter().enumerate().skip(1) {
                let index = index as u32;
                let here = object.place(index, symbol) == SymbolPlace::Section(id.0 - object.section_base);
                if here && !matches!(symbol.kind(), STT_SECTION | STT_FILE) {
                    let _ = writeln!(text, "{}", String::from_utf8_lossy(object.symbol_name(index)));
                }
            }
        }
        self.job.report(path, &text)
    }
}
