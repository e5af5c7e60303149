//! Tables that start-up code of MinGW reads: lists of constructors and destructors, and of the places that
//! are to be changed because they refer to data of DLLs (runtime pseudo-relocations).
//!
//! A place that refers to such data refers in the file to the slot in which the loader puts the data's
//! address. The start-up code takes the slot's address off it and adds what the slot holds: an entry has the
//! slot, the place, and how many bits it has. The list is version 2 of what `_pei386_runtime_relocator` of
//! mingw-w64 knows.

use object::LittleEndian as LE;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::par;
use weld_common::text;

use super::Table;
use crate::arch::{Rules, facts};
use crate::ids::{SectionId, SymbolId};
use crate::live::Live;
use crate::names::Rank;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, Sections};
use crate::symbols::{Kind as SymbolKind, Symbol, Symbols, of_object};
use crate::with_rules;

/// What starts the list: two zeroes and the version.
pub const HEADER: [u32; 3] = [0, 0, 1];
const ENTRY: u32 = 12;

/// Sections looked at by one task.
const SECTIONS: usize = 4096;

/// A place that is changed at start.
#[derive(Clone, Copy, Debug)]
pub struct PseudoReloc {
    pub section: SectionId,
    pub offset: u32,
    /// The name of the slot.
    pub slot: SymbolId,
    pub bits: u32,
}

#[derive(Default)]
pub struct StartTables {
    pub relocs: Vec<PseudoReloc>,
    on: bool,
    /// Bytes of an address.
    address: u32,
}

/// What is looked at.
pub struct Link<'l, 'a> {
    pub resolved: &'l Resolved<'a>,
    pub sections: &'l Sections,
    pub symbols: &'l Symbols,
    pub live: &'l Live,
    pub options: &'l Options,
}

impl StartTables {
    /// Finds the places in what is in the image.
    pub fn find(link: &Link, parallel: bool, sink: &DiagSink) -> StartTables {
        let mut tables = StartTables {
            on: link.options.mingw.on,
            address: facts(link.resolved.machine).address,
            relocs: Vec::new(),
        };
        if !link.symbols.auto_imports {
            return tables;
        }
        let count = link.sections.list.len();
        let runs = par::runs("places to change at start", parallel, count, SECTIONS, |run| {
            let mut found = Vec::new();
            for id in run.map(|id| SectionId(id as u32)) {
                with_rules!(link.resolved.machine, Link::section(link, id, &mut found, sink));
            }
            found
        });
        tables.relocs = runs.concat();
        if !tables.relocs.is_empty() {
            link.check_runtime(sink);
        }
        tables
    }

    /// The tables that there are, and their sizes.
    pub fn sizes(&self) -> Vec<(Table, u32)> {
        if !self.on {
            return Vec::new();
        }
        let header = if self.relocs.is_empty() { 0 } else { 4 * HEADER.len() as u32 };
        let lists = [Table::CtorsStart, Table::CtorsEnd, Table::DtorsStart, Table::DtorsEnd];
        let mut all = vec![(Table::PseudoRelocs, header + ENTRY * self.relocs.len() as u32)];
        all.extend(lists.map(|table| (table, self.address)));
        all
    }

    /// Defines the symbols by which start-up code finds the tables, unless objects do.
    pub fn define(
        &self,
        resolved: &Resolved,
        symbols: &mut Symbols,
        place: impl Fn(Table) -> Option<SectionId>,
    ) {
        let end = self.sizes().first().map_or(0, |(_, size)| u64::from(*size));
        let all = [
            ("__CTOR_LIST__", Table::CtorsStart, 0),
            ("__DTOR_LIST__", Table::DtorsStart, 0),
            ("__RUNTIME_PSEUDO_RELOC_LIST__", Table::PseudoRelocs, 0),
            ("__RUNTIME_PSEUDO_RELOC_LIST_END__", Table::PseudoRelocs, end),
        ];
        for (name, table, offset) in all {
            let name = format!("{}{name}", resolved.machine.prefix());
            if let Some(id) = resolved.names.find(name.as_bytes())
                && resolved.names.get(id).rank() == Rank::Internal
                && let Some(section) = place(table)
            {
                symbols.list[id.index()] = Symbol::in_section(section, offset);
            }
        }
    }
}

impl Link<'_, '_> {
    fn section<R: Rules>(&self, id: SectionId, found: &mut Vec<PseudoReloc>, sink: &DiagSink) {
        let section = self.sections.get(id);
        if section.kind != Kind::Regular || !self.live.has(id) {
            return;
        }
        let object = &self.resolved.objects[section.object.index()];
        let header = self.sections.header(&self.resolved.objects, section);
        for relocation in object.coff.relocations(header).unwrap_or_default() {
            let index = relocation.symbol_table_index.get(LE);
            let symbol = of_object(self.symbols, self.sections, section.object, object, index);
            if symbol.kind != SymbolKind::AutoImport {
                continue;
            }
            let slot = SymbolId(symbol.target);
            let name = || {
                let import = self.resolved.names.get(slot).name;
                text::text(import.strip_prefix(b"__imp_").unwrap_or(import)).into_owned()
            };
            let problem = |problem: Diagnostic| {
                sink.push(problem.of(object.file, section.number));
            };
            let typ = relocation.typ.get(LE).0;
            let Some(bits) = R::address_bits(typ) else {
                let text = format!(
                    "{}: relocation type {typ:#x} cannot refer to {}, which is in a DLL",
                    object.name,
                    name()
                );
                problem(Diagnostic::error(text));
                continue;
            };
            if !self.options.mingw.pseudo_relocs() {
                let text = format!(
                    "automatic dllimport of {} in {} requires pseudo relocations",
                    name(),
                    object.name
                );
                problem(Diagnostic::error(text));
                continue;
            }
            if bits < 8 * facts(self.resolved.machine).address {
                let text = format!(
                    "runtime pseudo relocation in {} against symbol {} is too narrow (only {bits} bits wide); this can fail at runtime depending on memory layout",
                    object.name,
                    name()
                );
                problem(Diagnostic::warning(text));
            }
            found.push(PseudoReloc { section: id, offset: relocation.virtual_address.get(LE), slot, bits });
        }
    }

    /// Somebody has to read the list.
    fn check_runtime(&self, sink: &DiagSink) {
        let name = format!("{}_pei386_runtime_relocator", self.resolved.machine.prefix());
        let id = self.resolved.names.find(name.as_bytes());
        if id.is_none_or(|id| self.symbols.get(id).kind == SymbolKind::Undefined) {
            let text = "data of DLLs is used that is not declared so, and the function _pei386_runtime_relocator, which puts its addresses \
                        in place at start, is missing";
            sink.push(Diagnostic::error(text));
        }
    }
}
