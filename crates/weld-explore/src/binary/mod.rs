//! A [`Model`] of a file that somebody has linked before, from what the file itself tells: sections, symbols,
//! debug information ([`units`], [`pdb`]), and a map of the link if there is one ([`map`]).
//!
//! That is less than a link knows: not who refers to whom, and of bytes without symbols and debug information
//! only in which section they lie. Every byte is still in exactly one piece. Files may be anybody's: what is
//! wrong in them is an error or not known, and nothing is allocated on their word.

mod container;
mod error;
mod libraries;
pub mod map;
mod origins;
pub mod pdb;
mod symbols;
mod units;

use std::collections::HashMap;

pub use error::BinaryError;

use crate::cover::{Claim, cover};
use crate::drafts::{self, Draft, Spelling};
use crate::model::*;
use crate::names::Name;
use container::{Container, Part};
use map::Map;
use origins::{Origin, Origins};
use pdb::Pdb;
use symbols::Symbols;

/// A gap of fewer bytes between functions is padding; a larger one is code that nobody has named.
const LARGEST_PADDING: u64 = 64;

/// What is known of a file beside what it says itself.
#[derive(Clone, Copy, Default)]
pub struct Beside<'b> {
    /// The map of the link, in one of the forms that [`map`] reads.
    pub map: Option<&'b str>,
    /// The PDB of a PE image.
    pub pdb: Option<&'b [u8]>,
}

/// What `file`, which is called `name`, is made of.
///
/// # Errors
/// If it is neither an ELF file nor a PE image, its tables or the PDB are damaged, or the PDB is another one's.
pub fn read(name: &str, file: &[u8], beside: Beside, spelling: Spelling) -> Result<Model, BinaryError> {
    let container = Container::parse(file)?;
    let mut pdb = beside.pdb.map(|pdb| Pdb::parse(pdb, file, &container)).transpose()?;
    let mut map = beside.map.map(|text| Map::parse(text, &container).ok_or(BinaryError::Map)).transpose()?;
    let origins = match (&mut map, &mut pdb) {
        (Some(map), _) => std::mem::take(&mut map.origins),
        (None, Some(pdb)) => std::mem::take(&mut pdb.origins),
        (None, None) => units::origins(&container),
    };
    let symbols = Symbols::collect(&container, pdb.as_ref(), map.as_ref());
    let mut model = Model {
        about: About {
            output: name.to_owned(),
            file_size: file.len() as u64,
            format: container.format,
            machine: container.machine.to_owned(),
            savings: Savings::default(),
        },
        ..Model::default()
    };
    let mut cutter =
        Cutter { container: &container, origins: &origins, symbols: &symbols, rows: Rows::default() };
    let drafts = cutter.file(&mut model);
    let sections = &cutter.rows.sections;
    let names = |row: usize| sections.get(row).copied().unwrap_or_default();
    drafts::add(&mut model, vec![drafts], &names, spelling);
    libraries::add(&mut model, &container, spelling);
    Ok(model)
}

/// The rows that pieces refer to, made when they are first asked for.
#[derive(Default)]
struct Rows<'o> {
    /// What the input sections are called, by row; empty if they have a name already.
    sections: Vec<&'o [u8]>,
    /// By origin (none: not known) and section.
    inputs: HashMap<(Option<u32>, usize), Ref>,
    objects: HashMap<Option<u32>, Ref>,
    archives: Archives,
}

struct Cutter<'c, 'f> {
    container: &'c Container<'f>,
    origins: &'c Origins,
    symbols: &'c Symbols<'f>,
    rows: Rows<'c>,
}

impl<'f> Cutter<'_, 'f> {
    /// The pieces of the whole file; then those that take memory only.
    fn file(&mut self, model: &mut Model) -> Vec<Draft<'f>> {
        let container = self.container;
        for section in &container.sections {
            let name = model.names.add(&weld_common::text::text(section.name));
            model.outputs.push(OutputSection {
                name,
                kind: section.kind,
                address: section.address,
                file_offset: section.offset,
                size: section.memory.max(section.size),
            });
        }
        let mut drafts = Vec::new();
        let mut seen = vec![false; container.sections.len()];
        for (size, part) in cover(model.about.file_size, container.parts()) {
            let role = match part {
                Some(Part::Section(index)) => {
                    // What lies in it is told once, if damaged tables name it twice.
                    seen[index] = true;
                    self.section(model, index, size, &mut drafts);
                    continue;
                }
                Some(Part::Header) => Role::Header,
                Some(Part::Table) => Role::Table,
                None => Role::Padding,
            };
            drafts.push(Draft::plain(role, size));
        }
        for index in (0..seen.len()).filter(|index| !seen[*index]) {
            self.section(model, index, 0, &mut drafts);
        }
        drafts
    }

    /// The pieces of a section that has `in_file` bytes of the file.
    fn section(&mut self, model: &mut Model, index: usize, in_file: u64, drafts: &mut Vec<Draft<'f>>) {
        let section = &self.container.sections[index];
        let total = section.memory.max(in_file);
        let first = drafts.len();
        let mut at = 0u64;
        for (size, symbol) in cover(total, self.symbols.of(index).to_vec()) {
            let place = section.address.wrapping_add(at);
            match symbol {
                Some(symbol) => {
                    let origin = self.origins.at(index, place);
                    drafts.push(self.piece(model, (index, origin), size, Role::Contents, symbol));
                }
                None => self.gap(model, index, place, size, drafts),
            }
            at += size;
        }
        drafts::divide(&mut drafts[first..], in_file, section.memory);
    }

    /// What lies between symbols, or all of a section that has none.
    fn gap(&mut self, model: &mut Model, index: usize, start: u64, size: u64, drafts: &mut Vec<Draft<'f>>) {
        let section = &self.container.sections[index];
        let is_known = !self.symbols.of(index).is_empty() || self.origins.know(index);
        let claims: Vec<Claim<u32>> = self.origins.within(index, start, size);
        for (size, origin) in cover(size, claims) {
            let role = match origin {
                None if section.is_table => Role::Table,
                None if is_known && size < LARGEST_PADDING => Role::Padding,
                _ => Role::Contents,
            };
            drafts.push(self.piece(model, (index, origin), size, role, &[]));
        }
    }

    fn piece(
        &mut self,
        model: &mut Model,
        (index, origin): (usize, Option<u32>),
        size: u64,
        role: Role,
        symbol: &'f [u8],
    ) -> Draft<'f> {
        let is_input = role == Role::Contents;
        let input = if is_input { self.rows.input(model, self.origins, (origin, index)) } else { Ref::NONE };
        Draft { piece: Piece { input, output: Ref::to(index), size, role, ..Piece::default() }, symbol }
    }
}

impl<'o> Rows<'o> {
    fn input(&mut self, model: &mut Model, origins: &'o Origins, key: (Option<u32>, usize)) -> Ref {
        if let Some(row) = self.inputs.get(&key) {
            return *row;
        }
        let (origin, index) = key;
        let object = self.object(model, origins, origin);
        let section = origin.map_or("", |origin| &origins.list[origin as usize].section);
        let name = if section.is_empty() { model.outputs[index].name } else { Name::NONE };
        self.sections.push(section.as_bytes());
        model.inputs.push(InputSection { name, symbol: Name::NONE, object, output: index as u32 });
        let row = Ref::to(model.inputs.len() - 1);
        self.inputs.insert(key, row);
        row
    }

    fn object(&mut self, model: &mut Model, origins: &Origins, origin: Option<u32>) -> Ref {
        // Origins that name the same object are one of its sections each.
        let key = origin.map(|origin| origins.list[origin as usize].object);
        if let Some(row) = self.objects.get(&key) {
            return *row;
        }
        let unknown = Origin { name: "(not known)".to_owned(), ..Origin::default() };
        let of = origin.map_or(&unknown, |origin| &origins.list[origin as usize]);
        let archive = match &of.archive {
            None => Ref::NONE,
            Some(path) => model.archive(&mut self.archives, path),
        };
        let (name, source) = (model.names.add(&of.name), model.names.add(&of.source));
        model.objects.push(Object { name, archive, source, language: of.language, ..Object::default() });
        let row = Ref::to(model.objects.len() - 1);
        self.objects.insert(key, row);
        row
    }
}

#[cfg(test)]
mod tests;
