//! The source line of a place in an object, from its CodeView or else its DWARF ([`super::dwarf`]). Only
//! links that have something to complain about come here.

use std::cell::OnceCell;
use std::collections::HashMap;

use object::LittleEndian as LE;
use weld_common::text;
use weld_pdb::codeview::subsection::{self, Subsection, Subsections};

use super::dwarf::Dwarf;
use crate::coff::object::SectionHeader;
use crate::ids::FileId;
use crate::input::object::Object;

/// Bytes before the files of a list of lines, before the lines of a file, and of a line.
const HEADER: usize = 12;
const FILE: usize = 12;
const LINE: usize = 8;

/// Lists of lines may have columns, too.
const HAS_COLUMNS: u16 = 1;

/// The source lines of objects. An object may be asked about for thousands of symbols, so it is looked
/// through once.
#[derive(Default)]
pub struct Sources<'o, 'a>(HashMap<FileId, Lines<'o, 'a>>);

impl<'o, 'a> Sources<'o, 'a> {
    /// `FILE:LINE` of a place in a section.
    pub fn line(&mut self, object: &'o Object<'a>, section: u32, offset: u32) -> Option<String> {
        self.0.entry(object.file).or_insert_with(|| Lines::of(object)).at(section, offset)
    }
}

/// The lines of an object's functions.
struct Lines<'o, 'a> {
    object: &'o Object<'a>,
    /// Those of each function, by section and offset.
    lists: Vec<List<'a>>,
    dwarf: OnceCell<Dwarf<'a>>,
}

/// The lines of a function.
struct List<'a> {
    section: u32,
    start: u32,
    header: &'a SectionHeader,
    contents: &'a [u8],
}

impl<'o, 'a> Lines<'o, 'a> {
    fn of(object: &'o Object<'a>) -> Self {
        let mut lists = Vec::new();
        for header in debug_sections(object) {
            add_lists(object, header, &mut lists);
        }
        lists.sort_by_key(|list| (list.section, list.start));
        Lines { object, lists, dwarf: OnceCell::new() }
    }

    fn at(&self, section: u32, offset: u32) -> Option<String> {
        let dwarf = || self.dwarf.get_or_init(|| Dwarf::of(self.object));
        self.in_codeview(section, offset).or_else(|| dwarf().at(self.object, section, offset))
    }

    fn in_codeview(&self, section: u32, offset: u32) -> Option<String> {
        let before = self.lists.partition_point(|list| (list.section, list.start) <= (section, offset));
        let list = self.lists[..before].last().filter(|list| list.section == section)?;
        let offset = offset - list.start;
        if offset >= word(list.contents, 8)? {
            return None;
        }
        let (path, line) = in_list(list.contents, offset)?;
        let mut all = std::iter::once(list.header).chain(debug_sections(self.object));
        let name = all.find_map(|header| file_name(self.object, header, path))?;
        Some(format!("{}:{line}", text::text(name)))
    }
}

fn debug_sections<'a>(object: &Object<'a>) -> impl Iterator<Item = &'a SectionHeader> + use<'a> {
    object.coff.sections.iter().filter(|header| header.name == *b".debug$S")
}

fn parts<'a>(object: &Object<'a>, header: &SectionHeader) -> impl Iterator<Item = Subsection<'a>> {
    let contents = object.coff.contents(header).unwrap_or_default();
    Subsections::new(contents).into_iter().flatten().flatten()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Adds the lists of lines of a section. Each begins with a place: its relocation says which.
fn add_lists<'a>(object: &Object<'a>, header: &'a SectionHeader, lists: &mut Vec<List<'a>>) {
    let relocations = object.coff.relocations(header).unwrap_or_default();
    let symbols: HashMap<u32, u32> =
        relocations.iter().map(|r| (r.virtual_address.get(LE), r.symbol_table_index.get(LE))).collect();
    for part in parts(object, header).filter(|part| part.kind == subsection::LINES) {
        let symbol = symbols.get(&(part.start as u32)).and_then(|index| object.coff.symbols.get(*index));
        if let Some(symbol) = symbol
            && let Ok(section @ 1..) = u32::try_from(symbol.section)
            && let Some(addend) = word(part.contents, 0)
        {
            let start = symbol.value.wrapping_add(addend);
            lists.push(List { section, start, header, contents: part.contents });
        }
    }
}

/// The last line that begins at `offset` of the function or before, or else the first one.
fn in_list(list: &[u8], offset: u32) -> Option<(u32, u32)> {
    let flags = u16::from_le_bytes(*list.get(6..)?.first_chunk()?);
    let (mut at, mut best): (usize, Option<(u32, u32, u32)>) = (HEADER, None);
    while let (Some(file), Some(count), Some(size)) = (word(list, at), word(list, at + 4), word(list, at + 8))
    {
        for i in 0..count as usize {
            let entry = at + FILE + i * LINE;
            let (start, line) = (word(list, entry)?, word(list, entry + 4)? & 0xff_ffff);
            // What is in front of all lines belongs to the first.
            if start <= offset && best.is_none_or(|(least, ..)| start >= least) || best.is_none() {
                best = Some((start.min(offset), file, line));
            }
        }
        // With columns, a block is longer; without its size it would have no end.
        let least = FILE + count as usize * LINE;
        at += if flags & HAS_COLUMNS != 0 { least.max(size as usize) } else { least };
    }
    best.map(|(_, file, line)| (file, line))
}

/// The name of the file at this place of the list of files.
fn file_name<'a>(object: &Object<'a>, header: &SectionHeader, file: u32) -> Option<&'a [u8]> {
    let files = parts(object, header).find(|part| part.kind == subsection::FILECHKSMS)?;
    let at = word(files.contents, file as usize)?;
    let mut all = debug_sections(object).flat_map(|header| parts(object, header));
    let names = all.find(|part| part.kind == subsection::STRINGTABLE)?;
    let name = names.contents.get(at as usize..)?;
    Some(&name[..name.iter().position(|&byte| byte == 0)?])
}
