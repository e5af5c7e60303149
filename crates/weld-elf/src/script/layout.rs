//! What all scripts of a link say of its layout, put together in order.
//!
//! Assignments, assertions and output sections are one list: where an assignment stands decides what it sees.

use weld_common::diag::Diagnostic;

use super::commands::{Command, Definition};
use super::expr::Expr;
use super::input_sections::SectionPattern;
use super::lexer::Place;
use super::memory::Region;
use super::phdrs::ProgramHeader;
use super::sections::{Assignment, Content, SectionDescription, Statement};

#[derive(Clone, Debug, Default)]
pub struct LayoutScript {
    pub statements: Vec<Statement>,
    pub regions: Vec<Region>,
    /// Other names of regions.
    pub aliases: Vec<(String, String)>,
    pub phdrs: Option<Vec<ProgramHeader>>,
    /// There is a `SECTIONS`.
    pub has_sections: bool,
    /// `NOCROSSREFS`: lists of output sections, and whether only references to the first are meant.
    pub no_cross_references: Vec<(Vec<Vec<u8>>, bool)>,
    /// How many of `statements` the last `SECTIONS` added, as far as `INSERT` may move them.
    last: usize,
    /// Something is only known after layout.
    pub computes: bool,
}

impl LayoutScript {
    /// Takes a command in. Returns it if it says nothing of layout.
    ///
    /// # Errors
    /// If it contradicts what was there.
    pub fn add(&mut self, command: Command) -> Result<Option<Command>, Diagnostic> {
        match command {
            Command::Sections(statements) => {
                self.has_sections = true;
                self.last = statements.len();
                self.statements.extend(statements);
            }
            Command::Insert { after, beside, place } => self.insert(after, &beside, &place)?,
            Command::Memory(regions) => {
                for region in regions {
                    if self.region(&region.name).is_some() {
                        let text = format!("{}: region {} is there already", region.place, region.name);
                        return Err(Diagnostic::error(text));
                    }
                    self.regions.push(region);
                }
            }
            Command::RegionAlias(alias, region) => {
                if self.region(&region).is_none() || self.region(&alias).is_some() {
                    let text = format!(
                        "REGION_ALIAS({alias}, {region}): there is no region {region}, or one called {alias}"
                    );
                    return Err(Diagnostic::error(text));
                }
                self.aliases.push((alias, region));
            }
            Command::Phdrs(list) => self.phdrs.get_or_insert_default().extend(list),
            Command::Assert(assertion) => {
                self.computes = true;
                self.statements.push(Statement::Assert(assertion));
            }
            Command::NoCrossReferences { sections, to_first } => {
                self.no_cross_references.push((sections, to_first))
            }
            Command::Define(definition) => {
                self.computes |= matches!(definition.value, super::expr::DefsymValue::Computed(_));
                self.statements.push(Statement::Assign(assignment(&definition)));
                return Ok(Some(Command::Define(definition)));
            }
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    /// `INSERT`: moves what the last `SECTIONS` added.
    fn insert(&mut self, after: bool, beside: &[u8], place: &Place) -> Result<(), Diagnostic> {
        let from = self.statements.len() - std::mem::take(&mut self.last);
        let moved = self.statements.split_off(from);
        let is_it = |statement: &Statement| matches!(statement, Statement::Section(section) if section.name == beside);
        let Some(at) = self.statements.iter().position(is_it) else {
            let text = format!(
                "{place}: INSERT beside {}, which no script has: the default layout cannot be added to yet",
                String::from_utf8_lossy(beside)
            );
            return Err(Diagnostic::error(text));
        };
        let at = at + usize::from(after);
        self.statements.splice(at..at, moved);
        Ok(())
    }

    /// A description of common symbols of single files, which is not built.
    pub fn commons_of_files(&self) -> Option<&Place> {
        let all = self.descriptions().flat_map(|section| &section.contents);
        all.filter_map(|content| match content {
            Content::Inputs(inputs) => Some(inputs),
            _ => None,
        })
        .find(|inputs| {
            let excludes = |p: &SectionPattern| !p.exclude.is_empty();
            let is_it = |p: &SectionPattern| p.name == b"COMMON" && (excludes(p) || !inputs.file.is_any());
            inputs.sections.iter().any(is_it)
        })
        .map(|inputs| &inputs.place)
    }

    /// Whether some output sections may not refer to others.
    pub fn forbids_references(&self) -> bool {
        let overlay =
            |statement: &Statement| matches!(statement, Statement::Overlay(o) if o.no_cross_references);
        !self.no_cross_references.is_empty() || self.statements.iter().any(overlay)
    }

    pub fn region(&self, name: &str) -> Option<usize> {
        let alias = self.aliases.iter().find(|(alias, _)| alias == name);
        let name = alias.map_or(name, |(_, region)| region);
        self.regions.iter().position(|region| region.name == name)
    }

    /// All output sections, in order; those of overlays, too.
    pub fn descriptions(&self) -> impl Iterator<Item = &SectionDescription> {
        self.statements.iter().flat_map(|statement| match statement {
            Statement::Section(section) => std::slice::from_ref(&**section),
            Statement::Overlay(overlay) => &overlay.sections,
            _ => &[],
        })
    }

    /// All assignments to symbols, in order, and whether each stands in an output section.
    pub fn assignments(&self) -> impl Iterator<Item = (&Assignment, bool)> {
        self.assignments_of(|_| true).into_iter()
    }

    /// The same without those of output sections that there are not, by their numbers among [`Self::descriptions`].
    pub fn assignments_of(&self, is_there: impl Fn(usize) -> bool) -> Vec<(&Assignment, bool)> {
        let mut list = Vec::new();
        let mut number = 0;
        for statement in &self.statements {
            let sections = match statement {
                Statement::Assign(assignment) => {
                    list.push((assignment, false));
                    continue;
                }
                Statement::Assert(_) => continue,
                Statement::Section(section) => std::slice::from_ref(&**section),
                Statement::Overlay(overlay) => &overlay.sections,
            };
            for section in sections {
                if is_there(number) {
                    inside(section, &mut list);
                }
                number += 1;
            }
        }
        list.retain(|(assignment, _)| !assignment.is_dot());
        list
    }

    /// Expressions whose symbols have to be known whatever else is.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut list = Vec::new();
        for statement in &self.statements {
            match statement {
                Statement::Assign(assignment) if !assignment.provide => list.push(&assignment.value),
                Statement::Assign(_) => {}
                Statement::Assert(assertion) => list.push(&assertion.value),
                Statement::Section(section) => expressions_of(section, &mut list),
                Statement::Overlay(overlay) => {
                    list.extend(overlay.address.iter().chain(&overlay.load_address));
                    overlay.sections.iter().for_each(|section| expressions_of(section, &mut list));
                }
            }
        }
        let regions = self.regions.iter().flat_map(|region| [&region.origin, &region.length]);
        list.extend(regions);
        for header in self.phdrs.iter().flatten() {
            list.extend(header.address.iter().chain(&header.flags));
        }
        list
    }
}

fn inside<'s>(section: &'s SectionDescription, list: &mut Vec<(&'s Assignment, bool)>) {
    list.extend(section.contents.iter().filter_map(|content| match content {
        Content::Assign(assignment) => Some((assignment, true)),
        _ => None,
    }));
}

fn expressions_of<'s>(section: &'s SectionDescription, list: &mut Vec<&'s Expr>) {
    list.extend(section.address.iter().chain(&section.load_address).chain(&section.align));
    for content in &section.contents {
        match content {
            Content::Assign(assignment) if !assignment.provide => list.push(&assignment.value),
            Content::Assert(assertion) => list.push(&assertion.value),
            Content::Data(_, value) => list.push(value),
            _ => {}
        }
    }
}

fn assignment(definition: &Definition) -> Assignment {
    let Definition { name, value, provide, hidden, place } = definition.clone();
    let value = value.into_expr(&place);
    Assignment { name, value, provide, hidden, place }
}
