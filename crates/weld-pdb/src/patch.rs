//! A PDB of which bytes change, and nothing else: no length, no name, no type, no record more or less.
//!
//! That is what becomes of a PDB if objects have other bytes of code and data, other numbers of lines and
//! checksums of source files, other places of variables. Of a `.debug$S` section, [`pieces`] are the bytes that are
//! copied into the module's stream as they are; so if all else of the section is as it was, [`apply`] can write
//! them there. Of bytes of the image a checksum of each contribution tells, in the list of contributions and, of the
//! first one of a module, where the module is listed. And the identity is made of all of it.

use std::fs::File;
use std::ops::Range;

use weld_common::io::units::{Leaves, digest_of};
use weld_common::relink::leaves::{self, Write};

use crate::codeview::records::HEADER;
use crate::codeview::subsection::{self, Subsection, Subsections};
use crate::codeview::symbol::{self, S_COMPILE2, S_COMPILE3, S_OBJNAME, Scope, Streams};
use crate::codeview::{Fault, u16_at, u32_at};
use crate::dbi::{self, CHARACTERISTICS_AT, CONTRIBUTION_SIZE, CRC_AT, MODULE_CONTRIBUTION_AT, SIZE_AT};
use crate::edit::{Dbi, Error, SHORT, Writer};
use crate::info;
use crate::input::{Contribution, Identity};
use crate::msf::read::Msf;
use crate::resize::{self, Known, Resizes};
use crate::stream;
use crate::symbols::scan::{each_file, each_inlinee};
use crate::symbols::walk::{self, Found};
use crate::symbols::write::SIGNATURE_SIZE;

/// A part of a module's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Symbols,
    Lines,
    Files,
}

/// Bytes of a section that are copied as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub part: Part,
    /// Where they are among what the section has of this part.
    pub at: usize,
    /// Where they are in the section.
    pub range: Range<usize>,
}

/// The pieces of a section, and how many bytes it has of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    pub list: Vec<Piece>,
    pub symbols: usize,
    pub lines: usize,
    pub files: usize,
    /// It has names of files; then its module has a table of files, if only an empty one.
    pub has_names: bool,
}

/// A module of which bytes have changed.
pub struct ChangedModule<'a> {
    /// Its number in the PDB.
    pub number: usize,
    /// Its `.debug$S` sections that are in the PDB, each with what relocations change of it, in order.
    pub sections: Vec<(&'a [u8], Vec<Range<usize>>)>,
}

/// A piece of the image that has other bytes.
#[derive(Clone, Copy, Debug)]
pub struct ChangedPiece {
    pub now: Contribution,
    /// How many bytes it had.
    pub size_before: u32,
}

/// What is written into a PDB, and what comes of it.
pub struct Patch {
    pub identity: Identity,
    pub writes: Vec<Write>,
    pub leaves: Leaves,
    /// What is known of modules that have other lengths, by their numbers.
    pub known: Vec<(usize, Known)>,
    /// A full link would make another PDB, which tells the same.
    pub is_edited: bool,
}

/// The pieces of a `.debug$S` section of which relocations change `fields`, which are in order; `None` if it is
/// malformed.
pub fn pieces(section: &[u8], fields: &[Range<usize>]) -> Option<Pieces> {
    let mut pieces = Pieces::default();
    for part in Subsections::new(section).ok()? {
        let part = part.ok()?;
        let size = subsection::HEADER + part.contents.len().next_multiple_of(4);
        match part.kind {
            subsection::SYMBOLS => symbols(section, &part, fields, &mut pieces).ok()?,
            subsection::LINES => {
                let at = pieces.lines + subsection::HEADER;
                let range = part.start..part.start + part.contents.len();
                add((Part::Lines, at), range, fields, &mut pieces.list);
                pieces.lines += size;
            }
            subsection::INLINEELINES => {
                let lines = pieces.lines + subsection::HEADER;
                each_inlinee(part.contents, |at| {
                    let range = part.start + at + 8..part.start + at + 12;
                    add((Part::Lines, lines + at + 8), range, fields, &mut pieces.list);
                    Ok(())
                })
                .ok()?;
                pieces.lines += size;
            }
            subsection::FILECHKSMS => {
                let files = pieces.files + subsection::HEADER;
                each_file(part.contents, |at| {
                    let size = usize::from(u16_at(part.contents, at + 4)? & 0xff);
                    let range = part.start + at + 6..part.start + at + 6 + size;
                    add((Part::Files, files + at + 6), range, fields, &mut pieces.list);
                    Ok(())
                })
                .ok()?;
                pieces.files += size;
            }
            subsection::STRINGTABLE => pieces.has_names = true,
            _ => {}
        }
    }
    Some(pieces)
}

/// The pieces of symbols. Those that others know, too, are no pieces, but for where a procedure's body begins and
/// ends.
fn symbols(
    section: &[u8],
    part: &Subsection<'_>,
    fields: &[Range<usize>],
    pieces: &mut Pieces,
) -> Result<(), Fault> {
    walk::each_record(
        section,
        part,
        |_| (),
        |found: Found<'_>| {
            if !found.to_module {
                return Ok(());
            }
            let (body, start, at) = (found.record.body(), found.at + HEADER, pieces.symbols + HEADER);
            let mut own = |range: Range<usize>| {
                if range.start < range.end {
                    let place = (Part::Symbols, at + range.start);
                    add(place, start + range.start..start + range.end, fields, &mut pieces.list);
                }
            };
            if found.traits.streams == Streams::Procedure {
                // How long it is, and where in it debugging starts and ends.
                own(12..24.min(body.len()));
            } else if !found.to_globals && ![S_COMPILE2, S_COMPILE3, S_OBJNAME].contains(&found.record.kind) {
                // In front of the rest are links to other scopes.
                let mut from = if found.traits.scope == Scope::Opens { 12 } else { 0 };
                let mut others: Vec<usize> = Vec::new();
                symbol::each_ref(found.traits, body, |at, _| {
                    others.push(at);
                    Ok(())
                })?;
                others.extend(found.traits.string.map(usize::from));
                others.sort_unstable();
                if !matches!(found.traits.refs, symbol::Refs::Ids) {
                    for other in others {
                        own(from..other);
                        from = from.max(other + 4);
                    }
                    own(from..body.len());
                }
            }
            pieces.symbols += found.record.padded();
            Ok(())
        },
    )
}

/// Adds a range of a section that goes to a place, but for fields in it.
fn add((part, at): (Part, usize), range: Range<usize>, fields: &[Range<usize>], list: &mut Vec<Piece>) {
    let first = fields.partition_point(|field| field.end <= range.start);
    let mut from = range.start;
    let mut put = |piece: Range<usize>| {
        if piece.start < piece.end {
            list.push(Piece { part, at: at + (piece.start - range.start), range: piece });
        }
    };
    for field in fields[first..].iter().take_while(|field| field.start < range.end) {
        put(from..field.start.max(from));
        from = from.max(field.end);
    }
    put(from..range.end.max(from));
}

/// Puts other checksums and sizes to pieces of the image, which are known by section, offset and size, other bytes into
/// modules, and what `resizes` says into modules that have other lengths. `bytes` are those of `file`, of which `leaves` are the digests.
///
/// # Errors
/// If the PDB does not have each of them, or is not what `leaves` say.
pub fn apply(
    (bytes, file): (&[u8], &File),
    pieces: &[ChangedPiece],
    modules: &[ChangedModule<'_>],
    resizes: &Resizes<'_>,
    leaves: &Leaves,
) -> Result<Patch, Error> {
    let msf = Msf::parse(bytes)?;
    let dbi = Dbi::read(&msf)?;
    let mut writer = Writer { msf: &msf, writes: Vec::new(), dbi: dbi.bytes.to_vec() };
    dbi.put_checksums(pieces, &mut writer)?;
    let is_needed = !modules.is_empty() || !resizes.modules.is_empty() || !resizes.reshaped.is_empty();
    let starts = if is_needed { dbi.modules().collect::<Result<Vec<_>, _>>()? } else { Vec::new() };
    for module in modules {
        let start = *starts.get(module.number).ok_or("does not have a module")?;
        dbi.put_module(start, module, &mut writer)?;
    }
    let mut remade = resize::apply(&dbi, &starts, resizes, &mut writer)?;
    if writer.dbi != *dbi.bytes {
        remade.streams.push((stream::DBI, std::mem::take(&mut writer.dbi)));
    }
    if !remade.streams.is_empty() {
        resize::put_streams(remade.streams, &mut writer)?;
    }
    let start = msf.place(stream::INFO, info::IDENTITY.start as usize)?;
    let identity_range: Range<u64> = start..start + (info::IDENTITY.end - info::IDENTITY.start);
    let mut writes = writer.writes;
    writes.sort_unstable();
    let leaves = leaves::rewritten(leaves, file, &writes, &[], &identity_range).ok_or("was written to")?;
    let guid = info::guid_of(digest_of(&leaves));
    writes.push((start, info::identity(guid, dbi::AGE)));
    Ok(Patch {
        identity: Identity { guid, age: dbi::AGE },
        writes,
        leaves,
        known: remade.known,
        is_edited: remade.is_edited,
    })
}

type Entry = [u8; CONTRIBUTION_SIZE];

fn field(entry: &Entry, at: usize) -> u32 {
    u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
}

/// Of entries and contributions: section, and offset in it.
fn key_of(entry: &Entry) -> (u32, u32) {
    (field(entry, 0), field(entry, 4))
}

fn key(of: &Contribution) -> (u32, u32) {
    (of.section.into(), of.offset)
}

/// What becomes of the DBI stream, and of modules that keep their lengths.
trait Checksums {
    fn put_checksums(&self, changed: &[ChangedPiece], writer: &mut Writer) -> Result<(), Error>;
    fn put_module(&self, start: usize, module: &ChangedModule<'_>, writer: &mut Writer) -> Result<(), Error>;
}

impl Checksums for Dbi<'_> {
    fn put_checksums(&self, changed: &[ChangedPiece], writer: &mut Writer) -> Result<(), Error> {
        let mut put = |start: usize, now: &Contribution| {
            let words = [(SIZE_AT, now.size), (CHARACTERISTICS_AT, now.characteristics), (CRC_AT, now.crc)];
            for (at, word) in words.map(|(at, word)| (start + at, word)) {
                let old = self.bytes.get(at..at + 4).ok_or(SHORT)?;
                writer.put(stream::DBI, at, (old, &word.to_le_bytes()))?;
            }
            Ok(())
        };
        if changed.is_empty() {
            return Ok(());
        }
        let entries: &[Entry] = self.bytes[self.list.clone()].as_chunks().0;
        for one in changed {
            let first = entries.partition_point(|entry| key_of(entry) < key(&one.now));
            let same = entries[first..].iter().take_while(|entry| key_of(entry) == key(&one.now));
            let mut fitting = same.enumerate().filter(|(_, entry)| field(entry, SIZE_AT) == one.size_before);
            let (Some((number, _)), None) = (fitting.next(), fitting.next()) else {
                return Err("does not have a section once");
            };
            let start = self.list.start + (first + number) * CONTRIBUTION_SIZE;
            put(start, &one.now)?;
        }
        let mut sorted: Vec<&ChangedPiece> = changed.iter().collect();
        sorted.sort_unstable_by_key(|one| key(&one.now));
        for start in self.modules() {
            let own = start? + MODULE_CONTRIBUTION_AT;
            let entry: &Entry = self.bytes.get(own..).and_then(|rest| rest.first_chunk()).ok_or(SHORT)?;
            if let Ok(one) = sorted.binary_search_by_key(&key_of(entry), |one| key(&one.now))
                && sorted[one].size_before == field(entry, SIZE_AT)
            {
                put(own, &sorted[one].now)?;
            }
        }
        Ok(())
    }

    fn put_module(&self, start: usize, module: &ChangedModule<'_>, writer: &mut Writer) -> Result<(), Error> {
        const OTHER: Error = "has another module than the object";
        let word = |at: usize| u32_at(&self.bytes, start + at).map(|word| word as usize).map_err(|_| SHORT);
        let number = u16_at(&self.bytes, start + dbi::MODULE_STREAM_AT).map_err(|_| SHORT)?;
        let [symbols, lines] = [word(dbi::MODULE_LENGTHS_AT[0])?, word(dbi::MODULE_LENGTHS_AT[1])?];
        let found: Option<Vec<Pieces>> =
            module.sections.iter().map(|(section, fields)| pieces(section, fields)).collect();
        let found = found.ok_or(OTHER)?;
        let total = |of: fn(&Pieces) -> usize| found.iter().map(of).sum::<usize>();
        let signature = SIGNATURE_SIZE as usize;
        let [all_symbols, all_lines, all_files] =
            [total(|all| all.symbols), total(|all| all.lines), total(|all| all.files)];
        let has_empty_table = all_files == 0 && found.iter().any(|all| all.has_names);
        let all_files = if has_empty_table { subsection::HEADER } else { all_files };
        if number == dbi::NO_STREAM {
            return if all_symbols + all_lines + all_files == 0 { Ok(()) } else { Err(OTHER) };
        }
        if symbols != signature + all_symbols || lines != all_lines + all_files {
            return Err(OTHER);
        }
        let number = usize::from(number);
        let bytes = self.msf.stream(number)?;
        let mut starts = [signature, symbols, symbols + all_lines];
        for (all, (section, _)) in found.iter().zip(&module.sections) {
            for piece in &all.list {
                let at = starts[piece.part as usize] + piece.at;
                let new = &section[piece.range.clone()];
                let old = bytes.get(at..at + new.len()).ok_or(SHORT)?;
                writer.put(number, at, (old, new))?;
            }
            let sizes = [all.symbols, all.lines, all.files];
            starts.iter_mut().zip(sizes).for_each(|(start, size)| *start += size);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_no_pieces() {
        let mut list = Vec::new();
        add((Part::Lines, 100), 10..20, &[2..4, 8..12, 14..16, 15..17, 19..30], &mut list);
        let ranges: Vec<_> = list.iter().map(|piece| (piece.at, piece.range.clone())).collect();
        assert_eq!(ranges, [(102, 12..14), (107, 17..19)]);
    }
}
