//! Tables that start-up code of MinGW reads: lists of constructors and destructors, and of the places that
//! are to be changed because they refer to data of DLLs (runtime pseudo-relocations).
//!
//! A place that refers to such data refers in the file to the slot in which the loader puts the data's
//! address. The start-up code takes the slot's address off it and adds what the slot holds: an entry has the
//! slot, the place, and how many bits it has. The list is version 2 of what `_pei386_runtime_relocator` of
//! mingw-w64 knows.

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::par;
use weld_common::text;

use super::section::{At, Name, Sizes, Spec, Synthetic, put_words};
use super::tables::{Link, Tables};
use crate::address::Rva;
use crate::arch::{Rules, facts, with_rules};
use crate::coff::pe;
use crate::ids::{SectionId, SymbolId};
use crate::sections::{Kind, READ_ONLY};
use crate::symbols::{Kind as SymbolKind, of_object};

/// What starts the list: two zeroes and the version.
const HEADER: [u32; 3] = [0, 0, 1];
const ENTRY: u32 = 12;

/// Sections looked at by one task.
const SECTIONS: usize = 4096;

/// A place that is changed at start.
#[derive(Clone, Copy, Debug)]
struct PseudoReloc {
    section: SectionId,
    offset: u32,
    /// The name of the slot.
    slot: SymbolId,
    bits: u32,
}

#[derive(Default)]
pub struct StartTables {
    relocs: Vec<PseudoReloc>,
}

impl StartTables {
    /// Finds the places in what is in the image.
    pub fn find(link: &Link, sink: &DiagSink) -> StartTables {
        let mut tables = StartTables::default();
        if !link.symbols.auto_imports {
            return tables;
        }
        let count = link.sections.list.len();
        let runs = par::runs("places to change at start", link.parallel, count, SECTIONS, |run| {
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

    /// Bytes of the list of places.
    fn list_size(&self) -> u32 {
        let header = if self.relocs.is_empty() { 0 } else { 4 * HEADER.len() as u32 };
        header + ENTRY * self.relocs.len() as u32
    }
}

/// The list of places.
pub struct PseudoRelocs;

impl Synthetic for PseudoRelocs {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let tables = &sizes.tables.mingw;
        sizes.options.mingw.on.then(|| Spec::read_only(b".rdata", 2, tables.list_size()))
    }

    fn names(&self, tables: &Tables) -> Vec<Name> {
        let end = tables.mingw.list_size();
        vec![Name::at("__RUNTIME_PSEUDO_RELOC_LIST__", 0), Name::at("__RUNTIME_PSEUDO_RELOC_LIST_END__", end)]
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let relocs = &at.tables().mingw.relocs;
        let header = HEADER.into_iter().filter(|_| !relocs.is_empty());
        let entries = relocs.iter().flat_map(|reloc| {
            let slot = at.image.rva_of(reloc.slot).map_or(0, Rva::get);
            [slot, at.image.layout.rva(reloc.section).wrapping_add(reloc.offset).get(), reloc.bits]
        });
        put_words(out, header.chain(entries));
    }
}

/// What is in front of a list of functions, or after it: an address that is none.
pub struct Bound {
    part: &'static [u8],
    flags: u32,
    /// The symbol that start-up code knows.
    name: Option<&'static str>,
    /// Its bytes: the number of functions in front, unknown, and a zero at the end.
    filler: u8,
}

// In front of what has the same name and other flags.
const FIRST: u32 = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0;

pub const CTORS_START: Bound =
    Bound { part: b".ctors", flags: FIRST, name: Some("__CTOR_LIST__"), filler: 0xff };
pub const CTORS_END: Bound = Bound { part: b".ctors.~", flags: READ_ONLY, name: None, filler: 0 };
pub const DTORS_START: Bound =
    Bound { part: b".dtors", flags: FIRST, name: Some("__DTOR_LIST__"), filler: 0xff };
pub const DTORS_END: Bound = Bound { part: b".dtors.~", flags: READ_ONLY, name: None, filler: 0 };

impl Synthetic for Bound {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let Bound { part, flags, .. } = *self;
        let (align, size) = (sizes.address_align(), sizes.address);
        sizes.options.mingw.on.then_some(Spec { part, flags, align, size })
    }

    fn names(&self, _: &Tables) -> Vec<Name> {
        self.name.map(|name| Name::at(name, 0)).into_iter().collect()
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(self.filler);
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
                problem(Diagnostic::error(Cause::AutoImport, text));
                continue;
            };
            if !self.options.mingw.pseudo_relocs() {
                let text = format!(
                    "automatic dllimport of {} in {} requires pseudo relocations",
                    name(),
                    object.name
                );
                problem(Diagnostic::error(Cause::AutoImport, text));
                continue;
            }
            if bits < 8 * facts(self.resolved.machine).address {
                let text = format!(
                    "runtime pseudo relocation in {} against symbol {} is too narrow (only {bits} bits wide); this can fail at runtime depending on memory layout",
                    object.name,
                    name()
                );
                problem(Diagnostic::warning(Cause::AutoImport, text));
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
            sink.push(Diagnostic::error(Cause::AutoImport, text));
        }
    }
}
