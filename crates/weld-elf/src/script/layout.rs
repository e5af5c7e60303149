//! What all scripts of a link say of its layout, put together in order.
//!
//! Assignments, assertions and output sections are one list: where an assignment stands decides what it sees.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};

use super::chain::Chains;
use super::commands::{Command, Definition};
use super::expr::Expr;
use super::lexer::Place;
use super::memory::Region;
use super::phdrs::ProgramHeader;
use super::sections::{Assignment, Class, Content, SectionDescription, Statement};

#[derive(Clone, Debug, Default)]
pub struct LayoutScript {
    pub statements: Vec<Statement>,
    pub regions: Vec<Region>,
    /// The region of each name; a region may have several.
    region_names: HashMap<String, usize>,
    pub phdrs: Option<Vec<ProgramHeader>>,
    /// There is a `SECTIONS`.
    pub has_sections: bool,
    /// It is that of the default layout, to which scripts only add.
    pub adds_to_default: bool,
    /// `NOCROSSREFS` and `NOCROSSREFS_TO`.
    no_cross_references: Vec<Forbidden>,
    /// Where those of `statements` begin that the next `INSERT` moves.
    open: Option<usize>,
    /// `INSERT` and `OVERWRITE_SECTIONS`: they find their places when all scripts are read.
    inserted: Vec<Insertion>,
    overwriting: Vec<SectionDescription>,
    /// Those of `statements`, all at the end, that belong to output sections of `OVERWRITE_SECTIONS` which no
    /// other describes: they lie where sections do that no script names.
    pub floats: Vec<Range<usize>>,
    /// Something is only known after layout.
    pub computes: bool,
}

/// Output sections that may not refer to one another, or (`to_first`) not to the first of them.
#[derive(Clone, Debug)]
pub struct Forbidden {
    pub sections: Vec<Vec<u8>>,
    pub to_first: bool,
    pub place: Place,
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
            Command::Overwrite(sections) => self.overwriting.extend(sections),
            Command::Insert { after, beside, place } => {
                let from = self.open.take().unwrap_or(self.statements.len());
                let statements = self.statements.split_off(from);
                self.inserted.push(Insertion { statements, after, beside, place });
            }
            Command::Memory(regions) => {
                for region in regions {
                    if self.region(&region.name).is_some() {
                        let text = format!("{}: region {} is there already", region.place, region.name);
                        return Err(Diagnostic::error(Cause::ScriptDuplicate, text));
                    }
                    self.region_names.insert(region.name.clone(), self.regions.len());
                    self.regions.push(region);
                }
            }
            Command::RegionAlias(alias, region) => {
                let (Some(number), None) = (self.region(&region), self.region(&alias)) else {
                    let text = format!(
                        "REGION_ALIAS({alias}, {region}): there is no region {region}, or one called {alias}"
                    );
                    return Err(Diagnostic::error(Cause::ScriptValue, text));
                };
                self.region_names.insert(alias, number);
            }
            // An empty list is none.
            Command::Phdrs(list) if list.is_empty() => {}
            Command::Phdrs(list) => self.phdrs.get_or_insert_default().extend(list),
            Command::Assert(assertion) => {
                self.computes = true;
                self.statements.push(Statement::Assert(assertion));
            }
            Command::NoCrossReferences { sections, to_first, place } => {
                self.no_cross_references.push(Forbidden { sections, to_first, place })
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
        let adds = !self.inserted.is_empty() || !self.overwriting.is_empty() || self.phdrs.is_some();
        !self.has_sections && adds
    }

    /// Takes in the default layout, in front of all else.
    pub fn add_default(&mut self, commands: Vec<Command>) {
        let statements = commands.into_iter().filter_map(|command| match command {
            Command::Sections(statements) => Some(statements),
            _ => None,
        });
        self.statements.splice(0..0, statements.flatten());
        (self.has_sections, self.adds_to_default) = (true, true);
    }

    /// Puts what stands in `OVERWRITE_SECTIONS` in its place, and then the statements of `INSERT`. Those that
    /// name one section stay in their order. Returns the names of sections that overwrite others twice, of
    /// which the first counts.
    ///
    /// # Errors
    /// If there is no output section that `INSERT` names.
    pub fn put_in_place(&mut self) -> Result<Vec<Vec<u8>>, Diagnostic> {
        if self.inserted.is_empty() && self.overwriting.is_empty() {
            return Ok(Vec::new());
        }
        let mut twice = Vec::new();
        let lists = self.overwrite(&mut twice);
        for list in self.insert(lists)? {
            let start = self.statements.len();
            self.statements.extend(list);
            self.floats.push(start..self.statements.len());
        }
        // The first is the script itself.
        self.floats.remove(0);
        Ok(twice)
    }
    /// `NOCROSSREFS`, of overlays, too: output sections that may not refer to one another.
    pub fn forbidden_references(&self) -> Vec<Forbidden> {
        let of_overlay = |statement: &Statement| match statement {
            // One section has nothing beside it.
            Statement::Overlay(overlay) if overlay.no_cross_references && overlay.sections.len() > 1 => {
                let sections = overlay.sections.iter().map(|section| section.name.clone()).collect();
                Some(Forbidden { sections, to_first: false, place: overlay.place.clone() })
            }
            _ => None,
        };
        let listed = self.no_cross_references.iter().cloned();
        listed.chain(self.statements.iter().filter_map(of_overlay)).collect()
    }

    pub fn region(&self, name: &str) -> Option<usize> {
        self.region_names.get(name).copied()
    }

    /// All output sections, in order; those of overlays, too.
    pub fn descriptions(&self) -> impl Iterator<Item = &SectionDescription> {
        self.statements.iter().flat_map(|statement| match statement {
            Statement::Section(section) => std::slice::from_ref(&**section),
            Statement::Overlay(overlay) => &overlay.sections,
            _ => &[],
        })
    }

    /// `CLASS`, in order.
    pub fn classes(&self) -> impl Iterator<Item = &Class> {
        self.statements.iter().filter_map(|statement| match statement {
            Statement::Class(class) => Some(&**class),
            _ => None,
        })
    }

    /// All assignments to symbols, in order, and whether each stands in an output section.
    pub fn assignments(&self) -> impl Iterator<Item = (&Assignment, bool)> {
        self.assignments_of(|_| true).into_iter()
    }

    /// The same without those of output sections that there are not, by their numbers among
    /// [`Self::descriptions`].
    pub fn assignments_of(&self, is_there: impl Fn(usize) -> bool) -> Vec<(&Assignment, bool)> {
        let mut list = Vec::new();
        let mut number = 0;
        for statement in &self.statements {
            let sections = match statement {
                Statement::Assign(assignment) => {
                    list.push((assignment, false));
                    continue;
                }
                Statement::Assert(_) | Statement::Class(_) => continue,
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
        let assigned = self.statements.iter().filter_map(|statement| match statement {
            Statement::Assign(assignment) if !assignment.provide && !assignment.is_dot() => {
                Some(&assignment.value)
            }
            _ => None,
        });
        assigned.chain(self.expressions_beside()).collect()
    }

    /// The same without those of assignments to symbols outside of output sections.
    pub fn expressions_beside(&self) -> Vec<&Expr> {
        let mut list = Vec::new();
        for statement in &self.statements {
            match statement {
                Statement::Assign(assignment) if assignment.is_dot() => list.push(&assignment.value),
                Statement::Assign(_) | Statement::Class(_) => {}
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

impl LayoutScript {
    /// Takes the script's statements, and makes a list of its own after them of each output section of
    /// `OVERWRITE_SECTIONS` that is described nowhere else; the others take the place of that.
    fn overwrite(&mut self, twice: &mut Vec<Vec<u8>>) -> Vec<Vec<Statement>> {
        let mut script = std::mem::take(&mut self.statements);
        let inserted = self.inserted.iter_mut().flat_map(|one| &mut one.statements);
        let mut known: HashMap<Vec<u8>, &mut SectionDescription> = HashMap::new();
        for statement in script.iter_mut().chain(inserted) {
            if let Statement::Section(section) = statement {
                known.entry(section.name.clone()).or_insert(section);
            }
        }
        let mut seen = HashSet::new();
        let mut more = Vec::new();
        for section in std::mem::take(&mut self.overwriting) {
            let discards = section.name == b"/DISCARD/";
            if !discards && !seen.insert(section.name.clone()) {
                twice.push(section.name);
                continue;
            }
            match known.remove(&section.name).filter(|_| !discards) {
                Some(other) => *other = section,
                None => more.push(vec![Statement::Section(Box::new(section))]),
            }
        }
        more.insert(0, script);
        more
    }

    /// Carries out `INSERT` in lists of statements.
    fn insert(&mut self, lists: Vec<Vec<Statement>>) -> Result<Vec<Vec<Statement>>, Diagnostic> {
        let (before, after): (Vec<Insertion>, Vec<Insertion>) =
            std::mem::take(&mut self.inserted).into_iter().partition(|one| !one.after);
        let mut chains = Chains::default();
        for list in lists {
            let head = chains.begin();
            chains.add(list, head, false);
        }
        // One may be beside what another one brings.
        let mut waiting: HashMap<Vec<u8>, Vec<(usize, Insertion)>> = HashMap::new();
        for (number, one) in before.into_iter().chain(after.into_iter().rev()).enumerate() {
            let mut ready = vec![(number, one)];
            while let Some((number, one)) = ready.pop() {
                let Some(&at) = chains.named.get(&one.beside) else {
                    waiting.entry(one.beside.clone()).or_default().push((number, one));
                    continue;
                };
                for name in chains.add(one.statements, at, one.after) {
                    ready.extend(waiting.remove(&name).into_iter().flatten().rev());
                }
            }
        }
        if let Some((_, one)) = waiting.into_values().flatten().min_by_key(|(number, _)| *number) {
            let text = format!(
                "{}: INSERT beside {}: there is no such output section",
                one.place,
                String::from_utf8_lossy(&one.beside)
            );
            return Err(Diagnostic::error(Cause::ScriptValue, text));
        }
        Ok(chains.into_lists())
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
    let Definition { name, value, provide, hidden, place, text } = definition.clone();
    let value = value.into_expr(&place);
    Assignment { name, value, provide, hidden, place, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::commands::parse_alone;

    /// The names of the sections of a layout of which `.a` and `.b` are the default.
    fn inserted(text: &str) -> Result<Vec<String>, Diagnostic> {
        let mut script = LayoutScript::default();
        for command in parse_alone(text.as_bytes(), "t")? {
            script.add(command)?;
        }
        script.end();
        script.add_default(parse_alone(b"SECTIONS { .a : { } .b : { } }", "default")?);
        script.put_in_place()?;
        Ok(script.descriptions().map(|s| String::from_utf8_lossy(&s.name).into_owned()).collect())
    }

    #[test]
    fn what_is_a_default() {
        let is = |text: &str| {
            let mut script = LayoutScript::default();
            for command in parse_alone(format!("SECTIONS {{ v = {text}; }}").as_bytes(), "t").unwrap() {
                script.add(command).unwrap();
            }
            let (assignment, _) = script.assignments().next().unwrap();
            (assignment.is_default(), assignment.needs().map(str::to_owned).collect::<Vec<_>>().join(" "))
        };
        let yes = |needs: &str| (true, needs.to_owned());
        assert_eq!(is("DEFINED(v) ? v : 0x400"), yes(""));
        assert_eq!(is("(DEFINED(v) ? v : w ? 1 : x)"), yes("w x"));
        for text in
            ["DEFINED(v) ? v + 1 : 4", "(DEFINED(v) ? v : 4) + 1", "DEFINED(w) ? v : 0", "DEFINED(v) ? 0 : v"]
        {
            assert_eq!(is(text), (false, "v".to_owned()));
        }
    }

    #[test]
    fn what_is_inserted_beside_one_section_stays_in_order() {
        let text = "SECTIONS { .1 : { } .2 : { } } INSERT AFTER .a; SECTIONS { .3 : { } } INSERT AFTER .a; \
            SECTIONS { .5 : { } } INSERT AFTER .6; SECTIONS { .4 : { } } INSERT BEFORE .5; SECTIONS { .6 : { } } INSERT BEFORE .b; \
            SECTIONS { .7 : { } } INSERT AFTER .b; SECTIONS { .0 : { } } INSERT BEFORE .a;";
        let order = [".0", ".a", ".1", ".2", ".3", ".6", ".4", ".5", ".b", ".7"];
        assert_eq!(inserted(text).unwrap(), order);
        let lost = "SECTIONS { .1 : { } } INSERT AFTER .2; SECTIONS { .2 : { } } INSERT AFTER .1;";
        assert!(inserted(lost).unwrap_err().message.contains("there is no such output section"));
    }

    #[test]
    fn what_overwrites_lies_where_the_other_lay_or_floats() {
        let text = "OVERWRITE_SECTIONS { .a : ALIGN(8) { } .x : { } .y : { } /DISCARD/ : { } .x : { } } \
            SECTIONS { .1 : { } } INSERT AFTER .x; SECTIONS { .y : { } } INSERT BEFORE .b;";
        assert_eq!(inserted(text).unwrap(), [".a", ".y", ".b", ".x", ".1", "/DISCARD/"]);
    }

    #[test]
    fn many_insertions_come_to_an_end() {
        let one = |i: usize| format!("SECTIONS {{ .n{i} : {{ }} }} INSERT AFTER .n{};", i + 1);
        let text: String =
            (0..50_000).map(one).chain(["SECTIONS { .n50000 : { } } INSERT AFTER .a;".into()]).collect();
        assert_eq!(inserted(&text).unwrap().len(), 50_003);
    }
}
