//! What the linker's tables hold, and the sections that they are.
//!
//! All of it is found when it is known what the image needs; from then on sections are only put in order, and
//! given addresses.

use std::path::Path;

use weld_common::diag::Diagnostics;

use super::Table;
use super::debug_directory::DebugDirectory;
use super::delay::{self, Delayed};
use super::exports::Exports;
use super::guard::Guards;
use super::imports::Imports;
use super::manifest;
use super::mingw::StartTables;
use super::resources::{self, Resources};
use super::section::{Arranged, Sizes, Spec, Value};
use crate::arch::facts;
use crate::ids::SectionId;
use crate::input::load::Inputs;
use crate::job::Job;
use crate::layout::Order;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbol_names::Rank;
use crate::symbols::{Symbol, Symbols, SyntheticSection};

/// What they hold, and the sections of those that there are.
pub struct Tables<'a> {
    pub imports: Imports<'a>,
    pub delayed: Delayed<'a>,
    pub exports: Exports,
    pub resources: Resources<'a>,
    pub debug_directory: DebugDirectory,
    pub guards: Guards,
    pub mingw: StartTables,
    sections: Vec<(Table, SectionId)>,
}

/// The link as it is when it is known what the image needs.
#[derive(Clone, Copy)]
pub struct Link<'l, 'a> {
    pub resolved: &'l Resolved<'a>,
    pub sections: &'l Sections,
    pub symbols: &'l Symbols,
    pub live: &'l Live,
    pub options: &'l Options,
    /// Sections that are the same as another one, which stands for them.
    pub folds: &'l [(SectionId, SectionId)],
    pub parallel: bool,
}

/// What is looked at for the tables; some sections change for them.
pub struct Parts<'p, 'a> {
    pub resolved: &'p Resolved<'a>,
    pub sections: &'p mut Sections,
    pub symbols: &'p Symbols,
    pub live: &'p Live,
    /// Sections that are the same as another one, which stands for them.
    pub folds: &'p [(SectionId, SectionId)],
    pub parallel: bool,
}

impl<'a> Parts<'_, 'a> {
    fn link<'l>(&'l self, options: &'l Options) -> Link<'l, 'a> {
        let Parts { resolved, ref sections, symbols, live, folds, parallel } = *self;
        Link { resolved, sections, symbols, live, options, folds, parallel }
    }
}

impl<'a> Tables<'a> {
    /// Finds what is in the tables of the image `out`.
    ///
    /// # Errors
    /// If there cannot be such tables.
    pub fn find(
        job: &Job<'a>,
        parts: Parts<'_, 'a>,
        inputs: &Inputs<'a>,
        out: &Path,
    ) -> Result<Tables<'a>, Diagnostics> {
        let Parts { resolved, symbols, live, .. } = parts;
        let options = job.options;
        let guards = job.step("guards", || Guards::find(&parts.link(options), job.sink));
        job.sink.end_phase()?;
        guards.align(parts.sections);
        let trees = resources::take_from_objects(resolved, parts.sections, live, options, job.sink);
        let link = &parts.link(options);
        let mingw = StartTables::find(link, job.sink);
        let is_late = |id| symbols.delays.thunk(id).is_some();
        let imports = Imports::new(resolved, live, false, |id| !is_late(id));
        let late = Imports::new(resolved, live, true, is_late);
        let delayed = Delayed::new(late, resolved.machine, options.delay_unload);
        delay::say_unused(resolved, options, job.sink);
        let exports = Exports::find(link, &resolved.program.name(out), job.sink);
        let manifest = manifest::resource(options, resolved, job.store)?;
        let resources = Resources::read(&inputs.resources, trees, manifest, options, job.sink);
        job.sink.end_phase()?;
        let debug_directory = DebugDirectory::new(options, out);
        let sections = Vec::new();
        Ok(Tables { imports, delayed, exports, resources, debug_directory, guards, mingw, sections })
    }

    /// Adds the sections of the tables that there are, and defines the symbols that lead to them.
    pub fn add(
        &mut self,
        resolved: &Resolved,
        sections: &mut Sections,
        symbols: &mut Symbols,
        live: &mut Live,
        options: &Options,
    ) {
        let first = sections.list.len();
        let address = facts(resolved.machine).address;
        let sizes = Sizes { tables: self, options, sections, live, address };
        let spec = |&table: &Table| Some((table, table.section().spec(&sizes)?));
        let specs: Vec<(Table, Spec)> = Table::ALL.iter().filter_map(spec).collect();
        for (table, Spec { part, flags, align, size }) in specs {
            let number = symbols.made.len() as u32;
            symbols.made.push(SyntheticSection::Table(table as u32));
            self.sections.push((table, sections.add_made(number, (part, flags), size, align)));
        }
        self.define(resolved, symbols);
        live.add(first..sections.list.len());
    }

    fn define(&self, resolved: &Resolved, symbols: &mut Symbols) {
        for &(table, section) in &self.sections {
            for name in table.section().names(self) {
                let symbol = match name.value {
                    Value::Offset(offset) => Symbol::in_section(section, offset.into()),
                    Value::Number(number) => Symbol::absolute(number),
                };
                define(resolved, symbols, name.name, symbol, name.is_forced);
            }
        }
        // It tells which tables there are, if there are none, too.
        let flags = Symbol::absolute(self.guards.flags());
        define(resolved, symbols, "__guard_flags", flags, false);
    }

    /// Tells tables the order in which sections lie, for sizes that depend on it.
    pub fn resize(&self, sections: &mut Sections, order: &Order) {
        let arranged = Arranged { sections, order };
        let sized = |&(table, id): &(Table, SectionId)| Some((id, table.section().resize(&arranged)?));
        let sizes: Vec<(SectionId, u32)> = self.sections.iter().filter_map(sized).collect();
        sizes.into_iter().for_each(|(id, size)| sections.list[id.index()].size = size);
    }

    pub fn section(&self, table: Table) -> Option<SectionId> {
        self.sections.iter().find(|(other, _)| *other == table).map(|(_, section)| *section)
    }
}

/// Defines a symbol if somebody refers to it; if an object defines it, too, only if that `is_forced`.
fn define(resolved: &Resolved, symbols: &mut Symbols, name: &str, symbol: Symbol, is_forced: bool) {
    let name = format!("{}{name}", resolved.machine.prefix());
    if let Some(id) = resolved.names.find(name.as_bytes())
        && (is_forced || resolved.names.get(id).rank() == Rank::Internal)
    {
        symbols.list[id.index()] = symbol;
    }
}
