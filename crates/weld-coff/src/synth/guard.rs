//! Tables for the loader of what may be jumped to: functions whose address is taken (`/guard:cf`), targets of
//! `longjmp` and of exception handlers, and, on x86, exception handlers (`/safeseh`). The load configuration
//! leads to them by symbols that are defined here.
//!
//! Objects that know of guards list symbols in sections of their own (`.gfids$y`, `.gljmp$y`, …), four bytes
//! each. Of others every function that a relocation refers to may have its address taken. Which entries there
//! are is known before there are addresses; what is folded counts once.
//!
//! Source: "PE Format", Load Configuration Directory; Microsoft, "PE Metadata" of control flow guard.

use std::collections::HashSet;

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::{par, text};

use super::section::{At, Name, Sizes, Spec, Synthetic, put_words};
use super::tables::{Link, Tables};
use crate::address::Rva;
use crate::coff::machine::Machine;
use crate::coff::object::ABSOLUTE;
use crate::coff::pe;
use crate::ids::{ImportId, ObjectId, SectionId};
use crate::input::object::Object;
use crate::resolve::Place;
use crate::resolve::imports::import_symbol;
use crate::sections::{Kind, Sections};
use crate::symbol_names::{Rank, SOFT};
use crate::symbols::{Kind as SymbolKind, Symbol, of_object};

/// Objects looked at by one task.
const OBJECTS: usize = 32;

/// What an object says of itself by the value of `@feat.00`.
const SAFE_SEH: u32 = 1;
const GUARD_CF: u32 = 0x800;
const GUARD_EH_CONT: u32 = 0x4000;

/// What the load configuration says by `__guard_flags`.
const CF_INSTRUMENTED: u64 = 0x100;
const CF_FUNCTION_TABLE_PRESENT: u64 = 0x400;
const CF_LONGJUMP_TABLE_PRESENT: u64 = 0x1_0000;
const EH_CONTINUATION_TABLE_PRESENT: u64 = 0x40_0000;

/// A symbol's type says that it is a function: the part of it that counts.
const FUNCTION: u16 = 2;

/// Functions in such tables begin at multiples of 16 bytes.
const ALIGN: u8 = 4;

/// A kind of table: where objects list its entries, and the symbols by which the load configuration finds it.
struct Row {
    section: &'static [u8],
    names: [&'static str; 2],
}

const ROWS: [Row; 5] = [
    Row { section: b".gfids$y", names: ["__guard_fids_table", "__guard_fids_count"] },
    Row { section: b".giats$y", names: ["__guard_iat_table", "__guard_iat_count"] },
    Row { section: b".gljmp$y", names: ["__guard_longjmp_table", "__guard_longjmp_count"] },
    Row { section: b".gehcont$y", names: ["__guard_eh_cont_table", "__guard_eh_cont_count"] },
    Row { section: b".sxdata", names: ["__safe_se_handler_table", "__safe_se_handler_count"] },
];
pub const FUNCTIONS: usize = 0;
pub const IMPORTS: usize = 1;
pub const LONGJMP: usize = 2;
pub const EH_CONT: usize = 3;
pub const HANDLERS: usize = 4;

/// Entries of each table, each once.
#[derive(Default)]
pub struct Guards {
    tables: [Vec<Symbol>; ROWS.len()],
    flags: u64,
    /// The header says that there are no exception handlers.
    pub no_seh: bool,
}

type Found = [Vec<Symbol>; ROWS.len()];

impl Guards {
    /// Finds the entries.
    pub fn find(link: &Link, sink: &DiagSink) -> Guards {
        let guard = link.options.guard;
        let safe_seh = link.resolved.machine == Machine::X86 && link.options.safe_seh != Some(false);
        let mut guards = Guards { no_seh: link.options.loading.no_seh, ..Guards::default() };
        let flags = format!("{}__guard_flags", link.resolved.machine.prefix());
        if !guard.functions && !safe_seh && link.resolved.names.find(flags.as_bytes()).is_none() {
            return guards;
        }
        let count = link.resolved.objects.len();
        let features = par::runs("features of objects", link.parallel, count, OBJECTS, |run| {
            link.resolved.objects[run].iter().map(features).collect::<Vec<_>>()
        });
        let features: Vec<u32> = features.concat();
        let handlers = safe_seh && link.is_safe(&features, sink);
        if guard.functions || handlers {
            let runs = par::runs("guarded functions", link.parallel, count, OBJECTS, |run| {
                let mut found = Found::default();
                run.for_each(|i| link.object(ObjectId(i as u32), features[i], &mut found, sink));
                found
            });
            for (i, table) in guards.tables.iter_mut().enumerate() {
                let wanted = match i {
                    HANDLERS => handlers,
                    EH_CONT => guard.functions && guard.eh_cont,
                    LONGJMP => guard.functions && guard.longjmp,
                    _ => guard.functions,
                };
                let mut seen = HashSet::new();
                let all = runs.iter().flat_map(|found| &found[i]).copied().filter(|_| wanted);
                *table =
                    all.map(|symbol| link.unfolded(symbol)).filter(|symbol| seen.insert(*symbol)).collect();
            }
        }
        if guard.functions {
            link.add_late(&mut guards.tables);
            link.add_entries(&mut guards.tables[FUNCTIONS]);
            let flags = [
                (true, CF_INSTRUMENTED | CF_FUNCTION_TABLE_PRESENT),
                (guard.longjmp, CF_LONGJUMP_TABLE_PRESENT),
                (guard.eh_cont, EH_CONTINUATION_TABLE_PRESENT),
            ];
            guards.flags = flags.iter().filter(|(on, _)| *on).fold(0, |all, (_, flag)| all | flag);
        } else if features.iter().any(|features| features & GUARD_CF != 0) {
            guards.flags = CF_INSTRUMENTED;
        }
        if handlers && (guards.tables[HANDLERS].is_empty() || link.resolved.program.load_config.is_none()) {
            guards.no_seh = true;
        }
        guards
    }

    /// What `GuardFlags` has to say.
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// Functions that are in a table have to be aligned.
    pub fn align(&self, sections: &mut Sections) {
        for symbol in &self.tables[FUNCTIONS] {
            if symbol.kind == SymbolKind::Section {
                let section = &mut sections.list[symbol.target as usize];
                section.align = section.align.max(ALIGN);
            }
        }
    }
}

/// The table of the row with this number.
pub struct Section(pub usize);

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let list = &sizes.tables.guards.tables[self.0];
        Spec::read_only(b".rdata", 2, 4 * list.len() as u32).unless_empty()
    }

    fn names(&self, tables: &Tables) -> Vec<Name> {
        let [table, count] = ROWS[self.0].names;
        vec![Name::at(table, 0), Name::number(count, tables.guards.tables[self.0].len() as u64)]
    }

    /// Offsets in the image, ascending.
    fn write(&self, at: &At, out: &mut [u8]) {
        let list = &at.tables().guards.tables[self.0];
        let mut places: Vec<u32> =
            list.iter().map(|symbol| at.image.rva_at(*symbol).map_or(0, Rva::get)).collect();
        places.sort_unstable();
        put_words(out, places);
    }
}

/// The value of `@feat.00`.
fn features(object: &Object) -> u32 {
    let all = object.coff.symbols.iter().map(|(_, symbol)| symbol);
    let mut absolute = all.filter(|symbol| symbol.section == ABSOLUTE);
    let found = absolute.find(|symbol| object.coff.symbol_name(symbol).is_ok_and(|name| name == b"@feat.00"));
    found.map_or(0, |symbol| symbol.value)
}

impl Link<'_, '_> {
    /// Whether all objects tell their exception handlers; unless `/safeseh` asks for it they need not.
    fn is_safe(&self, features: &[u32], sink: &DiagSink) -> bool {
        let mut safe = true;
        for (object, features) in self.resolved.objects.iter().zip(features) {
            if features & SAFE_SEH == 0 {
                safe = false;
                if self.options.safe_seh == Some(true) {
                    let text = format!("/safeseh: {} is not compatible with SEH", object.name);
                    sink.push(Diagnostic::error(Cause::SafeSeh, text).of(object.file, 0));
                } else if self.options.safe_seh.is_none() && self.options.reports.verbose.without_handlers {
                    let text = format!("{} does not tell its exception handlers (/safeseh)", object.name);
                    sink.push(Diagnostic::said(text));
                }
            }
        }
        safe
    }

    fn object(&self, id: ObjectId, features: u32, found: &mut Found, sink: &DiagSink) {
        let object = &self.resolved.objects[id.index()];
        for (number, header) in (1..).zip(object.coff.sections) {
            let Ok(name) = object.coff.section_name(header) else { continue };
            let Some(kind) = ROWS.iter().position(|row| row.section == name) else { continue };
            let listed = match kind {
                HANDLERS => true,
                EH_CONT => features & GUARD_EH_CONT != 0,
                _ => features & GUARD_CF != 0,
            };
            if listed && self.live.is_wanted(self.sections, id, object, number) {
                self.listed(id, object, number, &mut found[kind], sink);
            }
        }
        if features & GUARD_CF == 0 {
            self.referred(id, object, &mut found[FUNCTIONS]);
        }
    }

    /// The symbols that a section lists.
    fn listed(&self, id: ObjectId, object: &Object, number: u32, found: &mut Vec<Symbol>, sink: &DiagSink) {
        let Some(header) = object.coff.section(number) else { return };
        let name = text::text(object.coff.section_name(header).unwrap_or_default()).into_owned();
        let warn = |text: String| {
            sink.push(Diagnostic::warning(Cause::LoadConfiguration, text).of(object.file, number))
        };
        let Some(contents) = object.coff.contents(header).ok().filter(|bytes| bytes.len().is_multiple_of(4))
        else {
            return warn(format!("ignoring {name} symbol table index section in object {}", object.name));
        };
        for index in contents.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)) {
            if index as usize >= object.coff.symbols.len() {
                warn(format!(
                    "ignoring invalid symbol table index in section {name} in object {}",
                    object.name
                ));
                continue;
            }
            let symbol = of_object(self.symbols, self.sections, id, object, index);
            found.extend(Some(symbol).filter(|symbol| self.is_there(*symbol)));
        }
    }

    /// The functions that an object refers to.
    fn referred(&self, id: ObjectId, object: &Object, found: &mut Vec<Symbol>) {
        for (number, header) in (1..).zip(object.coff.sections) {
            let section_id = self.sections.id(id, number);
            if self.sections.get(section_id).kind != Kind::Regular || !self.live.has(section_id) {
                continue;
            }
            for relocation in object.coff.relocations(header).unwrap_or_default() {
                let relative = pe::IMAGE_REL_I386_REL32.0;
                // What is called only. On x64 addresses are taken that way, too.
                if self.resolved.machine == Machine::X86 && relocation.typ.get(LE).0 == relative {
                    continue;
                }
                found.extend(self.function(id, object, relocation.symbol_table_index.get(LE)));
            }
        }
    }

    /// The symbol, if it is a function in the image.
    fn function(&self, id: ObjectId, object: &Object, index: u32) -> Option<Symbol> {
        let symbol = of_object(self.symbols, self.sections, id, object, index);
        let is_function = match object.global(index) {
            Some(name) => self.is_function(name),
            None => object.coff.symbols.get(index).is_some_and(|record| record.typ >> 4 & 3 == FUNCTION),
        };
        Some(symbol).filter(|symbol| is_function && self.is_code(*symbol))
    }

    fn is_function(&self, name: crate::ids::SymbolId) -> bool {
        let entry = self.resolved.names.get(name);
        match (entry.rank(), self.resolved.places.get(entry.file().index())) {
            (Rank::Strong | SOFT, Some(Place::Object(id))) => {
                let record = self.resolved.objects[id.index()].coff.symbols.get(entry.sym());
                record.is_some_and(|record| record.typ >> 4 & 3 == FUNCTION)
            }
            (SOFT, Some(Place::Import(_))) => entry.sym() == import_symbol::PLAIN,
            // What it falls back on decides.
            _ => true,
        }
    }

    fn is_there(&self, symbol: Symbol) -> bool {
        match symbol.kind {
            SymbolKind::Section => {
                let section = self.sections.get(SectionId(symbol.target));
                let is_part = section.is_in_image() || section.kind == Kind::Folded;
                is_part && self.live.has(SectionId(symbol.target))
            }
            SymbolKind::ImportAddress => self.live.has_import(ImportId(symbol.target)),
            _ => false,
        }
    }

    fn is_code(&self, symbol: Symbol) -> bool {
        symbol.kind == SymbolKind::Section
            && self.is_there(symbol)
            && self.sections.list[symbol.target as usize].flags & pe::IMAGE_SCN_MEM_EXECUTE.0 != 0
    }

    /// The entry point, and what is exported, may be called by anybody.
    fn add_entries(&self, functions: &mut Vec<Symbol>) {
        let program = &self.resolved.program;
        let mut seen: HashSet<Symbol> = functions.iter().copied().collect();
        let exports = program.exports.iter().map(|export| export.symbol).filter(|symbol| symbol.is_some());
        for name in program.entry.into_iter().filter(|entry| entry.is_some()).chain(exports) {
            let symbol = self.unfolded(self.symbols.get(name));
            if self.is_function(name) && self.is_code(symbol) && seen.insert(symbol) {
                functions.push(symbol);
            }
        }
    }

    /// Whoever takes the address of a function whose DLL is loaded late gets that of its thunk, as long as it
    /// is not loaded.
    fn add_late(&self, tables: &mut Found) {
        let of_import = |symbol: &Symbol| match symbol.kind {
            SymbolKind::ImportAddress => self.symbols.delays.thunk(ImportId(symbol.target)),
            _ => None,
        };
        let thunks: Vec<SectionId> = tables[IMPORTS].iter().filter_map(of_import).collect();
        tables[FUNCTIONS].extend(thunks.into_iter().map(|thunk| Symbol::in_section(thunk, 0)));
    }

    /// The same place in what stands for it.
    fn unfolded(&self, symbol: Symbol) -> Symbol {
        if symbol.kind != SymbolKind::Section {
            return symbol;
        }
        let found = self.folds.binary_search_by_key(&SectionId(symbol.target), |fold| fold.0);
        found.map_or(symbol, |at| Symbol { target: self.folds[at].1.0, ..symbol })
    }
}
