//! The source line of a place in an object, from its CodeView. Only links that have something to complain about come here.

use object::LittleEndian as LE;
use weld_common::text;
use weld_pdb::codeview::subsection::{self, Subsection, Subsections};

use crate::coff::object::SectionHeader;
use crate::input::object::Object;

/// Bytes before the files of a list of lines, before the lines of a file, and of a line.
const HEADER: usize = 12;
const FILE: usize = 12;
const LINE: usize = 8;

/// Lists of lines may have columns, too.
const HAS_COLUMNS: u16 = 1;

/// `FILE:LINE` of a place in a section.
pub fn line(object: &Object, section: u32, offset: u32) -> Option<String> {
    let lists = || object.coff.sections.iter().filter(|header| header.name == *b".debug$S");
    let (path, line) = lists().find_map(|header| in_section(object, header, section, offset))?;
    let name = lists().find_map(|header| file_name(object, header, path))?;
    Some(format!("{}:{line}", text::text(name)))
}

fn parts<'a>(object: &Object<'a>, header: &SectionHeader) -> impl Iterator<Item = Subsection<'a>> {
    let contents = object.coff.contents(header).unwrap_or_default();
    Subsections::new(contents).into_iter().flatten().flatten()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The file, by its place among the object's, and the line.
fn in_section(object: &Object, header: &SectionHeader, section: u32, offset: u32) -> Option<(u32, u32)> {
    for part in parts(object, header).filter(|part| part.kind == subsection::LINES) {
        let relocations = object.coff.relocations(header).ok()?;
        let about = relocations.iter().find(|r| r.virtual_address.get(LE) as usize == part.start);
        let symbol = about.and_then(|r| object.coff.symbols.get(r.symbol_table_index.get(LE)));
        let Some(symbol) = symbol.filter(|symbol| symbol.section == section as i32) else { continue };
        let start = symbol.value.wrapping_add(word(part.contents, 0)?);
        let size = word(part.contents, 8)?;
        match offset.checked_sub(start) {
            Some(offset) if offset < size => return in_list(part.contents, offset),
            _ => {}
        }
    }
    None
}

/// The last line that begins at `offset` of the function or before.
fn in_list(list: &[u8], offset: u32) -> Option<(u32, u32)> {
    let flags = u16::from_le_bytes(*list.get(6..)?.first_chunk()?);
    let (mut at, mut best): (usize, Option<(u32, u32, u32)>) = (HEADER, None);
    while let (Some(file), Some(count), Some(size)) = (word(list, at), word(list, at + 4), word(list, at + 8))
    {
        for i in 0..count as usize {
            let entry = at + FILE + i * LINE;
            let (start, line) = (word(list, entry)?, word(list, entry + 4)? & 0xff_ffff);
            if start <= offset && best.is_none_or(|(least, ..)| start >= least) {
                best = Some((start, file, line));
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
    let sections = object.coff.sections.iter().filter(|header| header.name == *b".debug$S");
    let mut all = sections.flat_map(|header| parts(object, header));
    let names = all.find(|part| part.kind == subsection::STRINGTABLE)?;
    let name = names.contents.get(at as usize..)?;
    Some(&name[..name.iter().position(|&byte| byte == 0)?])
}
