//! The order of sections inside their parts, where the command line or profiles ask for another one than that
//! of the objects.
//!
//! `/order:@FILE` names functions that come first. Call graphs, which compilers write into objects
//! (`.llvm.call-graph-profile`: two symbols' indices and a count, four, four and eight bytes) or
//! `/call-graph-ordering-file` tells, put those that call each other beside one another; they count if there
//! is no `/order`. Only COMDAT sections have a name by which they can be moved: that of their leader.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use weld_common::call_graph_sort::{self, Graph};
use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::io::input::InputStore;
use weld_common::text;

use crate::coff::machine::Machine;
use crate::ids::{ObjectId, SectionId};
use crate::input::object::Object;
use crate::job::Job;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::{Kind, Symbols, of_object};

const PROFILE: &[u8] = b".llvm.call-graph-profile";

/// What the order is found in.
pub struct Orderer<'o, 'a> {
    pub resolved: &'o Resolved<'a>,
    pub sections: &'o Sections,
    pub symbols: &'o Symbols,
    pub live: &'o Live,
    /// Of sections that are gone because another one is the same: which.
    pub folded_into: HashMap<SectionId, SectionId>,
    pub options: &'o Options,
    pub store: &'o InputStore<'o>,
    pub sink: &'o DiagSink,
}

impl<'a> Orderer<'_, 'a> {
    /// Puts sections into the order that is asked for. `order` is that of the image.
    ///
    /// # Errors
    /// If it cannot be found out, or reported.
    pub fn apply(&self, job: &Job, order: &mut [u32]) -> Result<(), Diagnostics> {
        let first = self.first();
        job.sink.end_phase()?;
        apply(&first, self.sections, order);
        if let Some(path) = &job.options.reports.symbol_order {
            job.report(path, &self.names(&first))?;
        }
        Ok(())
    }

    /// Sections that come before the others of their parts, in this order.
    fn first(&self) -> Vec<SectionId> {
        if let Some(path) = &self.options.layout.order {
            return self.by_list(path);
        }
        let mut graph = Graph::default();
        if let Some(path) = &self.options.layout.call_graph_file {
            self.read_graph(path, &mut graph);
        } else if self.options.layout.call_graph_sort && self.sections.has_profile {
            for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
                self.read_profile(id, object, &mut graph);
            }
        }
        call_graph_sort::order(&graph, |id| u64::from(self.sections.get(id).size))
    }

    /// The live COMDAT sections by the names of their leaders.
    fn leaders(&self) -> HashMap<&'a [u8], SectionId> {
        let mut all = HashMap::new();
        for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
            for comdat in &object.comdats {
                let section = self.unfolded(self.sections.id(id, comdat.section));
                if self.is_there(section)
                    && let Some(name) = object.leader_name(comdat.section)
                {
                    all.entry(name).or_insert(section);
                }
            }
        }
        all
    }

    fn read(&self, option: &str, path: &Path) -> Option<&[u8]> {
        match self.store.open(path) {
            Ok(Some(bytes)) => return Some(bytes),
            Ok(None) => {
                let path = text::path(path);
                self.sink.error(
                    Cause::CannotOpenFile,
                    format!("{option}: could not open '{path}': No such file or directory"),
                );
            }
            Err(e) => self.sink.error(Cause::CannotReadFile, format!("{option}: {e}")),
        }
        None
    }

    fn by_list(&self, path: &Path) -> Vec<SectionId> {
        let Some(list) = self.read("/order", path) else { return Vec::new() };
        let leaders = self.leaders();
        let (mut order, mut seen) = (Vec::new(), HashSet::new());
        for line in list.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
        {
            let plain =
                self.resolved.machine == Machine::X86 && !line.starts_with(b"?") && !line.contains(&b'@');
            let decorated = if plain { [b"_", line].concat() } else { line.to_vec() };
            match leaders.get(&decorated[..]) {
                Some(id) if seen.insert(*id) => order.push(*id),
                Some(_) => {}
                None if self.options.warnings.missing_order => {
                    let (path, name) = (text::path(path), text::text(&decorated).into_owned());
                    self.sink.warn(
                        Cause::NoSuchSymbol,
                        format!("/order:{path}: missing symbol: {name} [LNK4037]"),
                    );
                }
                None => {}
            }
        }
        order
    }

    fn add(&self, graph: &mut Graph<SectionId>, from: SectionId, to: SectionId, count: u64) {
        if self.sections.get(from).part == self.sections.get(to).part {
            graph.add(from, to, count);
        }
    }

    /// Where a symbol of an object is, if that can be moved.
    fn section_of(&self, id: ObjectId, object: &Object, index: u32) -> Option<SectionId> {
        let symbol = of_object(self.symbols, self.sections, id, object, index);
        let section = (symbol.kind == Kind::Section).then_some(SectionId(symbol.target))?;
        let section = self.unfolded(section);
        self.is_there(section).then_some(section)
    }

    fn is_there(&self, section: SectionId) -> bool {
        self.sections.get(section).is_in_image() && self.live.has(section)
    }

    /// What is the same lies where its first one does.
    fn unfolded(&self, section: SectionId) -> SectionId {
        self.folded_into.get(&section).copied().unwrap_or(section)
    }

    fn read_profile(&self, id: ObjectId, object: &Object, graph: &mut Graph<SectionId>) {
        let is_profile = |header: &&_| object.coff.section_name(header).is_ok_and(|name| name == PROFILE);
        let Some(header) = object.coff.sections.iter().find(is_profile) else { return };
        let contents = object.coff.contents(header).unwrap_or_default();
        let (entries, rest) = contents.as_chunks::<16>();
        if !rest.is_empty() {
            let text = format!("{}: .llvm.call-graph-profile does not hold whole entries", object.name);
            self.sink.push(Diagnostic::warning(Cause::SectionOrder, text).of(object.file, 0));
        }
        for entry in entries {
            let word =
                |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
            let count = u64::from(word(12)) << 32 | u64::from(word(8));
            let [from, to] = [word(0), word(4)].map(|index| self.section_of(id, object, index));
            if let (Some(from), Some(to)) = (from, to) {
                self.add(graph, from, to, count);
            }
        }
    }

    fn read_graph(&self, path: &Path, graph: &mut Graph<SectionId>) {
        let Some(list) = self.read("/call-graph-ordering-file", path) else { return };
        let mut calls = Vec::new();
        let mut found: HashMap<&[u8], Option<SectionId>> = HashMap::new();
        for call in call_graph_sort::calls(list) {
            let Ok((from, to, count)) = call else {
                return self.sink.push(
                    Diagnostic::error(Cause::SectionOrder, format!("{}: parse error", text::path(path)))
                        .in_file(text::path(path)),
                );
            };
            found.extend([(from, None), (to, None)]);
            calls.push((from, to, count));
        }
        let mut known = HashSet::new();
        for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
            for (index, symbol) in object.coff.symbols.iter() {
                if let Ok(name) = object.coff.symbol_name(&symbol)
                    && let Some(place) = found.get_mut(name)
                {
                    known.insert(name);
                    *place = place.or_else(|| self.section_of(id, object, index));
                }
            }
        }
        for (from, to, count) in calls {
            for name in [from, to].into_iter().filter(|name| !known.contains(name)) {
                let (path, name) = (text::path(path), text::text(name));
                self.sink.push(
                    Diagnostic::warning(Cause::NoSuchSymbol, format!("{path}: no such symbol: {name}"))
                        .in_file(&path),
                );
            }
            if let (Some(from), Some(to)) = (found[from], found[to]) {
                self.add(graph, from, to, count);
            }
        }
    }

    /// `/print-symbol-order`: the leaders of sections in their new order, a line each.
    fn names(&self, first: &[SectionId]) -> String {
        let mut all = String::new();
        for id in first {
            let section = self.sections.get(*id);
            let object = &self.resolved.objects[section.object.index()];
            if let Some(name) = object.leader_name(section.number) {
                let _ = writeln!(all, "{}", text::text(name));
            }
        }
        all
    }
}

/// Puts sections before the others of their parts. `order` is that of the image.
fn apply(first: &[SectionId], sections: &Sections, order: &mut [u32]) {
    if first.is_empty() {
        return;
    }
    let place: HashMap<u32, u32> = first.iter().zip(0..).map(|(id, place)| (id.0, place)).collect();
    let part = |id: &u32| sections.list[*id as usize].part;
    for part in order.chunk_by_mut(|a, b| part(a) == part(b)) {
        if part.iter().any(|id| place.contains_key(id)) {
            part.sort_by_key(|id| place.get(id).copied().unwrap_or(u32::MAX));
        }
    }
}
