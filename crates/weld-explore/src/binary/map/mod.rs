//! What the map of a link tells: which object each run of bytes came with, and in Microsoft's form the symbols, too.
//!
//! Three families of maps are read, each in a file of its own:
//! - [`table`]: a line with columns for each section, of ld.lld, mold, lld-link's `/lldmap` and weld's
//!   `--map-format=lld`;
//! - [`gnu`]: the memory map of GNU ld and gold, and of weld where it stands in for them;
//! - [`link`]: symbols by address with their objects, of link.exe's, lld-link's and weld's `/map`.
//!
//! Lines that are anything else are passed over. What a map says counts where it agrees with the file: a section that
//! has the name and the address, or an image that has the base. So the map of another link tells little or nothing,
//! and never something that the file has no place for.

mod gnu;
mod link;
mod table;

use std::collections::HashMap;

use super::container::Container;
use super::origins::{Origin, Origins};
use crate::cover::Claim;
use crate::model::Language;

/// What is read of a map.
pub struct Map<'t> {
    pub origins: Origins,
    /// Of each section: what starts where, and how large it is. Empty if the map has no such symbols.
    symbols: Vec<Vec<Claim<&'t [u8]>>>,
}

impl<'t> Map<'t> {
    /// Reads a map of the file; `None` if it says nothing of it.
    pub fn parse(text: &'t str, container: &Container) -> Option<Map<'t>> {
        let mut reader =
            Reader { container, origins: Origins::default(), objects: HashMap::new(), symbols: Vec::new() };
        match text.lines().find_map(form)? {
            Form::Table(columns) => table::read(text, columns, &mut reader),
            Form::Gnu => gnu::read(text, &mut reader),
            Form::Link => link::read(text, &mut reader),
        }
        let Reader { mut origins, symbols, .. } = reader;
        origins.sort();
        (!origins.list.is_empty()).then_some(Map { origins, symbols })
    }

    /// The symbols of a section.
    pub fn symbols_of(&self, section: usize) -> &[Claim<&'t [u8]>] {
        self.symbols.get(section).map_or(&[], Vec::as_slice)
    }
}

enum Form {
    Table(table::Columns),
    Gnu,
    Link,
}

/// The form of a map, if this is the line that tells it.
fn form(line: &str) -> Option<Form> {
    let line = line.trim();
    match line {
        gnu::OF_GNU_LD | gnu::OF_GOLD => return Some(Form::Gnu),
        _ if line.starts_with(link::BASE) => return Some(Form::Link),
        _ => {}
    }
    table::Columns::of_header(line).map(Form::Table)
}

/// Where lines go.
struct Reader<'c, 'f, 't> {
    container: &'c Container<'f>,
    origins: Origins,
    /// Path and member: their numbers.
    objects: HashMap<(&'t str, Option<&'t str>), u32>,
    /// See [`Map`].
    symbols: Vec<Vec<Claim<&'t [u8]>>>,
}

impl<'t> Reader<'_, '_, 't> {
    /// A new origin: a section of an object.
    fn origin(&mut self, file: File<'t>, section: &str) -> u32 {
        let count = self.objects.len() as u32;
        let object = *self.objects.entry((file.path, file.member)).or_insert(count);
        self.origins.list.push(Origin {
            object,
            name: file.member.unwrap_or(file.path).to_owned(),
            archive: file.member.map(|_| file.path.to_owned()),
            section: section.to_owned(),
            source: String::new(),
            language: Language::Unknown,
        });
        self.origins.list.len() as u32 - 1
    }

    /// A section of the file, by name and address.
    fn section(&self, name: &str, address: u64) -> Option<usize> {
        let mut sections = self.container.sections.iter();
        sections.position(|section| section.name == name.as_bytes() && section.address == address)
    }

    /// `section`, if it has the address.
    fn with(&self, section: Option<usize>, address: u64) -> Option<usize> {
        section.filter(|section| {
            let section = &self.container.sections[*section];
            address.wrapping_sub(section.address) < section.memory.max(section.size)
        })
    }
}

/// An object as maps name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct File<'t> {
    /// Of the object, or of the archive that it is a member of.
    path: &'t str,
    member: Option<&'t str>,
}

impl<'t> File<'t> {
    /// `object.o` or `archive.a(member.o)`.
    fn parse(text: &'t str) -> File<'t> {
        match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
            Some((path, member)) => File { path, member: Some(member) },
            None => File { path: text, member: None },
        }
    }
}

/// A number in hexadecimal digits, with or without `0x`.
fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
}

#[cfg(test)]
mod tests;
