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
    /// `NOCROSSREFS` and `NOCROSSREFS_TO`.
    no_cross_references: Vec<Forbidden>,
    /// Where those of `statements` begin that the next `INSERT` moves.
    open: Option<usize>,
    /// `INSERT`: they find their places when all scripts are read.
    inserted: Vec<Insertion>,
    /// Something is only known after layout.
    pub computes: bool,
}

/// Output sections that may not refer to one another, or (`to_first`) not to the first of them.
#[derive(Clone, Debug)]
pub struct Forbidden {
    pub sections: Vec<Vec<u8>>,
    pub to_first: bool,
}

/// `INSERT`: statements, and the output section that they lie after, or before.
#[derive(Clone, Debug)]
struct Insertion {
    statements: Vec<Statement>,
    after: bool,
    beside: Vec<u8>,
    place: Place,
}

impl LayoutScript {
    /// Takes a command in. Returns it if it says nothing of layout.
    ///
    /// # Errors
    /// If it contradicts what was there.
    pub fn add(&mut self, command: Command) -> Result<Option<Command>, Diagnostic> {
        match command {
            Command::Sections(statements) => {
                self.open.get_or_insert(self.statements.len());
                self.statements.extend(statements);
            }
            Command::Insert { after, beside, place } => {
                let from = self.open.take().unwrap_or(self.statements.len());
                let statements = self.statements.split_off(from);
                self.inserted.push(Insertion { statements, after, beside, place });
            }
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
                self.no_cross_references.push(Forbidden { sections, to_first })
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

    /// All scripts are read, but that of the default layout, if it [`Self::wants_default`].
    pub fn end(&mut self) {
        self.has_sections = self.open.is_some();
    }

    /// Whether the scripts only add to a layout.
    pub fn wants_default(&self) -> bool {
        !self.has_sections && (!self.inserted.is_empty() || self.phdrs.is_some())
    }

    /// Takes in the default layout, in front of all else.
    pub fn add_default(&mut self, commands: Vec<Command>) {
        let statements = commands.into_iter().filter_map(|command| match command {
            Command::Sections(statements) => Some(statements),
            _ => None,
        });
        self.statements.splice(0..0, statements.flatten());
        self.has_sections = true;
    }

    /// Puts the statements of `INSERT` in their places. Those that name one section stay in their order.
    ///
    /// # Errors
    /// If there is no such output section.
    pub fn insert(&mut self) -> Result<(), Diagnostic> {
        let (before, after): (Vec<Insertion>, Vec<Insertion>) =
            std::mem::take(&mut self.inserted).into_iter().partition(|one| !one.after);
        let mut waiting: Vec<Insertion> = before.into_iter().chain(after.into_iter().rev()).collect();
        // One may be beside what another one brings.
        while !waiting.is_empty() {
            let count = waiting.len();
            for one in std::mem::take(&mut waiting) {
                let is_it = |s: &Statement| matches!(s, Statement::Section(s) if s.name == one.beside);
                match self.statements.iter().position(is_it) {
                    Some(at) => {
                        let at = at + usize::from(one.after);
                        self.statements.splice(at..at, one.statements);
                    }
                    None => waiting.push(one),
                }
            }
            if let Some(one) = waiting.first().filter(|_| waiting.len() == count) {
                let text = format!(
                    "{}: INSERT beside {}: there is no such output section",
                    one.place,
                    String::from_utf8_lossy(&one.beside)
                );
                return Err(Diagnostic::error(text));
            }
        }
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

    /// `NOCROSSREFS`, of overlays, too: output sections that may not refer to one another.
    pub fn forbidden_references(&self) -> Vec<Forbidden> {
        let of_overlay = |statement: &Statement| match statement {
            Statement::Overlay(overlay) if overlay.no_cross_references => {
                let sections = overlay.sections.iter().map(|section| section.name.clone()).collect();
                Some(Forbidden { sections, to_first: false })
            }
            _ => None,
        };
        let listed = self.no_cross_references.iter().cloned();
        listed.chain(self.statements.iter().filter_map(of_overlay)).collect()
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
