//! `--symbol-ordering-file`: a symbol a line, and the sections that they lie in come first, in that order.
//!
//! Lines are trimmed; empty ones and those that begin with `#` say nothing. Of local symbols of one name all
//! count.

use std::collections::HashMap;
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::{Orderer, SectionOrder};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::sections::descriptors;
use crate::symbols::symbol_flags;
use crate::symbols::version_scripts;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Section(SectionId),
    /// Nothing that can be moved: why.
    Not(&'static str),
}

impl<'a> Orderer<'_, 'a> {
    pub(super) fn by_symbols(&self, path: &Path, order: &mut SectionOrder) {
        let Some(text) = self.read(path) else { return };
        let shown = text::path(path);
        let mut names: HashMap<&[u8], Vec<Found>> = HashMap::new();
        let mut listed = Vec::new();
        for line in text.split(|byte| *byte == b'\n').map(trim) {
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            if names.insert(line, Vec::new()).is_some() {
                self.warn(format!("{shown}: {} is listed twice", String::from_utf8_lossy(line)));
            } else {
                listed.push(line);
            }
        }
        self.find(&mut names);
        let mut sections = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for name in listed {
            let found = &names[name];
            let here = found.iter().filter_map(|found| match found {
                Found::Section(id) => Some(*id),
                Found::Not(_) => None,
            });
            let before = sections.len();
            let mut any = false;
            sections.extend(here.inspect(|_| any = true).filter(|id| seen.insert(*id)));
            sections[before..].sort_unstable();
            if !any {
                self.warn(format!("{shown}: cannot order {}: {}", String::from_utf8_lossy(name), why(found)));
            }
        }
        order.put_first(sections.into_iter());
    }

    /// Fills in what each name stands for.
    pub(super) fn find(&self, names: &mut HashMap<&'a [u8], Vec<Found>>) {
        for object in &self.resolved.objects {
            for index in 1..object.first_global.min(object.syms.len() as u32) {
                let symbol = &object.syms[index as usize];
                let movable = !matches!(symbol.kind(), STT_SECTION | STT_FILE);
                if movable && let Some(found) = names.get_mut(object.symbol_name(index)) {
                    found.push(match object.place(index, symbol) {
                        SymbolPlace::Section(shndx) => {
                            let id = SectionId(object.section_base + shndx);
                            self.found(self.with_code(id, symbol.st_value()))
                        }
                        _ => Found::Not("it has a fixed value"),
                    });
                }
            }
        }
        for (name, found) in names.iter_mut() {
            let Some(id) = self.resolved.names.find(name) else { continue };
            let symbol = &self.symbols[id];
            found.push(match symbol.kind() {
                symbol_flags::DEFINED => {
                    self.found(self.with_code(SectionId(symbol.section), symbol.offset()))
                }
                symbol_flags::ABSOLUTE => Found::Not("it has a fixed value"),
                symbol_flags::SHARED => Found::Not("a shared library defines it"),
                symbol_flags::UNDEFINED => Found::Not("nothing defines it"),
                _ => Found::Not("the linker gives it its place"),
            });
        }
    }

    /// The section that is meant by a symbol at byte `offset` of one: that of code, if a descriptor is there.
    pub(super) fn with_code(&self, id: SectionId, offset: u64) -> SectionId {
        if self.resolved.objects.first().is_none_or(|object| object.machine.descriptors.is_none()) {
            return id;
        }
        let number = self.owners.object(id);
        let at = (number, id.0 - self.resolved.objects[number.index()].section_base);
        descriptors::section_of_code(&self.resolved.objects, self.sections, at, offset).unwrap_or(id)
    }

    fn found(&self, id: SectionId) -> Found {
        match self.sections.list.get(id.index()) {
            Some(_) if self.can_move(id) => Found::Section(id),
            Some(section) if section.in_image() && self.live.contains(id) => {
                Found::Not("it is merged with others")
            }
            _ => Found::Not("its section is not in the output"),
        }
    }

    pub(super) fn read(&self, path: &Path) -> Option<&'a [u8]> {
        match version_scripts::read(self.job.options, self.job.store, path) {
            Ok(text) => Some(text),
            Err(diagnostic) => {
                self.job.sink.push(diagnostic);
                None
            }
        }
    }

    /// `--warn-symbol-ordering`.
    pub(super) fn warn(&self, text: String) {
        if self.job.options.order.warn && self.first {
            self.job.sink.push(Diagnostic::warning(Cause::SectionOrder, text));
        }
    }
}

/// Why a name cannot be ordered.
pub fn why(found: &[Found]) -> &'static str {
    let reason = found.iter().rev().find_map(|found| match found {
        Found::Not(why) => Some(*why),
        Found::Section(_) => None,
    });
    reason.unwrap_or("there is no such symbol")
}

pub(super) fn trim(line: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let start = line.iter().position(|byte| !is_space(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}
