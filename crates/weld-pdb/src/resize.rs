//! Modules of a PDB that tell more or less than they did: longer functions, other variables and lines.
//!
//! A module's stream is made anew as a full link makes it, and lies where it lay, for there is room behind it
//! (`crate::msf::grow`). What is beside the streams of modules keeps its length: types, names of files, and the global
//! symbols of the module, of which bytes change. If they do not, it is a matter for a full link.

use std::collections::HashMap;

use weld_common::hash::hash_bytes;

use crate::codeview::records::{HEADER, Record};
use crate::codeview::symbol::{self, S_LPROCREF, S_PROCREF, S_PUB32};
use crate::codeview::{SIGNATURE_C13, string_at, u16_at, u32_at};
use crate::dbi::{MODULE_LENGTHS_AT, MODULE_STREAM_AT, NO_STREAM, PUBLICS_AT, RECORDS_AT};
use crate::edit::{Dbi, Error, SHORT, Writer};
use crate::gsi::PUBLICS_HEADER;
use crate::input::{Fixup, Module, Relocate};
use crate::msf::grow::Grown;
use crate::msf::read::Msf;
use crate::paths::absolute;
use crate::pdb::Pdb;
use crate::put::put_u16;
use crate::stream;
use crate::symbols::Symbols;
use crate::symbols::globals::REFERENCE;
use crate::symbols::scan;
use crate::symbols::write::{self, Out, SIGNATURE_SIZE};
use crate::types::known;

/// What a later link has to know of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Where its global symbols are among all records.
    pub globals: u32,
    /// Of each of its symbols that may be a global one, a bit: it is there, and no equal one of another module.
    pub kept: Vec<u8>,
    pub count: u32,
    /// A hash of those of which there may be equal ones.
    pub equals: u64,
}

impl Pdb<'_> {
    /// What a later link has to know of a module.
    pub fn known(&self, module: usize) -> Known {
        let scanned = &self.symbols.scanned[module];
        let mut kept = vec![0; scanned.globals.len().div_ceil(8)];
        let own = scanned.globals.iter().enumerate().filter(|(_, global)| global.is_kept());
        own.for_each(|(i, _)| kept[i / 8] |= 1 << (i % 8));
        let first = scanned.globals.iter().find(|global| global.is_kept()).map_or(0, |global| global.place);
        let globals = self.publics.record_bytes() + first;
        Known { globals, kept, count: scanned.globals.len() as u32, equals: scanned.equals }
    }
}

/// A module that is made anew.
pub struct ResizedModule<'a> {
    /// Its number in the PDB.
    pub number: usize,
    /// `.debug$T`
    pub types: &'a [u8],
    /// Its `.debug$S` sections that are in the PDB, each with its fixups, in the order of their places.
    pub sections: Vec<(&'a [u8], Vec<Fixup>)>,
    pub known: Known,
}

/// A public symbol that has moved within its section of the image.
pub struct MovedPublic {
    /// The hash of its name ([`weld_common::hash::hash_bytes`]).
    pub hash: u64,
    /// From 1 on.
    pub section: u16,
    pub before: u32,
    pub now: u32,
}

/// All that is not as long as it was, or where it was.
#[derive(Default)]
pub struct Resizes<'a> {
    pub modules: Vec<ResizedModule<'a>>,
    pub publics: Vec<MovedPublic>,
    /// What is put in front of relative paths.
    pub root: &'a [u8],
}

const GLOBALS: Error =
    "has other global symbols than an object that has changed: functions, types, constants or variables";

pub fn apply(
    dbi: &Dbi<'_>,
    starts: &[usize],
    resizes: &Resizes<'_>,
    writer: &mut Writer,
) -> Result<(), Error> {
    let msf = writer.msf;
    let number = |at: usize| u16_at(&dbi.bytes, at).map(usize::from).map_err(|_| SHORT);
    if !resizes.publics.is_empty() {
        move_publics(msf, (number(PUBLICS_AT)?, number(RECORDS_AT)?), &resizes.publics, writer)?;
    }
    if resizes.modules.is_empty() {
        return Ok(());
    }
    let names = Names::read(msf)?;
    let mut grown = Grown::new(msf);
    let mut made = Vec::new();
    for module in &resizes.modules {
        let start = *starts.get(module.number).ok_or("does not have a module")?;
        let records = number(RECORDS_AT)?;
        if let Some((stream, bytes)) = remake(dbi, (start, records), (module, &names, resizes.root), writer)?
        {
            if msf.len(stream)? != bytes.len() as u32 {
                grown.set_len(stream, bytes.len() as u32)?;
            }
            made.push((stream, bytes));
        }
    }
    for (stream, bytes) in made {
        put_stream(&grown, stream, bytes, writer)?;
    }
    let directory = grown.directory()?;
    for (part, number) in directory.bytes.chunks(msf.page_size() as usize).zip(&directory.pages) {
        writer.put_at(u64::from(*number) * u64::from(msf.page_size()), part)?;
    }
    writer.put_at(directory.len_at, &directory.len.to_le_bytes())
}

/// Writes a stream, and zeroes up to the end of what it had or has.
fn put_stream(
    grown: &Grown<'_, '_>,
    stream: usize,
    mut bytes: Vec<u8>,
    writer: &mut Writer,
) -> Result<(), Error> {
    let page = writer.msf.page_size() as usize;
    let before = writer.msf.pages(stream)?.len() * page;
    bytes.resize(bytes.len().next_multiple_of(page).max(before), 0);
    for (i, part) in bytes.chunks(page).enumerate() {
        writer.put_at(grown.place(stream, i * page)?, part)?;
    }
    Ok(())
}

/// The fixups of one module.
struct Fixups<'f, 'a>(&'f [(&'a [u8], Vec<Fixup>)]);

impl Relocate for Fixups<'_, '_> {
    fn fixups(&self, _: u32, section: u32, fixups: &mut Vec<Fixup>) {
        fixups.extend(self.0.get(section as usize).into_iter().flat_map(|(_, own)| own));
    }
}

/// The stream of a module with its number, if it has any; what is known of it elsewhere is written.
fn remake(
    dbi: &Dbi<'_>,
    (start, records): (usize, usize),
    (resized, names, root): (&ResizedModule<'_>, &Names, &[u8]),
    writer: &mut Writer,
) -> Result<Option<(usize, Vec<u8>)>, Error> {
    let msf = writer.msf;
    let types = known::find(msf, resized.types)?;
    let sections: Vec<&[u8]> = resized.sections.iter().map(|(section, _)| *section).collect();
    let has_types = (!resized.types.is_empty()).then_some(0);
    let modules = [Module { sections: &sections, types: has_types, ..Module::default() }];
    let mut scanned = scan::module(&modules[0], &types, true);
    let is_odd = scanned.fault.is_some()
        || scanned.unknown_types > 0
        || scanned.has_empty_symbols
        || !scanned.left_out.is_empty();
    if is_odd {
        return Err("does without some debug information of an object that has changed");
    }
    if !scanned.frames.is_empty() {
        return Err("lists frames of functions of an object that has changed, as it does on 32-bit x86");
    }
    for (place, name) in &mut scanned.names {
        let name = if place.file { absolute(name, root) } else { (*name).into() };
        place.offset = names.find(&name).ok_or("does not have all names of source files of an object")?;
    }
    let known = &resized.known;
    if (scanned.globals.len() as u32, scanned.equals) != (known.count, known.equals) {
        return Err(GLOBALS);
    }
    let mut size = 0;
    for (i, global) in scanned.globals.iter_mut().enumerate() {
        if known.kept.get(i / 8).ok_or(SHORT)? & 1 << (i % 8) != 0 {
            global.place = size;
            size += global.size() as u32;
        }
    }
    check_files(dbi, resized.number, &scanned)?;
    // Its stream.
    let len = scanned.stream_len() as usize;
    let number = u16_at(&dbi.bytes, start + MODULE_STREAM_AT).map_err(|_| SHORT)?;
    if (number == NO_STREAM) != (len == 0) {
        return Err("has another module than the object");
    }
    let total = scanned.total();
    let symbol_bytes = if len == 0 { 0 } else { SIGNATURE_SIZE + total.symbols };
    for (at, word) in MODULE_LENGTHS_AT.into_iter().zip([symbol_bytes, scanned.c13_len()]) {
        let old = dbi.bytes.get(start + at..start + at + 4).ok_or(SHORT)?;
        writer.put(stream::DBI, start + at, (old, &word.to_le_bytes()))?;
    }
    let table = scanned.file_table_len(0) as usize;
    let mut bytes = vec![0; len];
    let mut globals = vec![0; size as usize];
    let (signature, rest) = bytes.split_at_mut((SIGNATURE_SIZE as usize).min(len));
    signature.copy_from_slice(&SIGNATURE_C13.to_le_bytes()[..signature.len()]);
    let (symbols_out, rest) = rest.split_at_mut(total.symbols as usize);
    let (c13, rest) = rest.split_at_mut(total.c13 as usize);
    let out = Out { symbols: symbols_out, c13, file_table: &mut rest[..table], globals: &mut globals };
    let symbols = Symbols::of_one(&modules, scanned);
    let misfits = write::unit(&symbols, &types, &Fixups(&resized.sections), 0, 0, out);
    if misfits > 0 {
        return Err("does without some addresses of an object that has changed");
    }
    // It was written as if it were the first.
    for global in symbols.scanned[0].globals.iter().filter(|global| global.is_kept()) {
        if global.procedure().is_some() {
            put_u16(&mut globals, global.place as usize + REFERENCE - 2, resized.number as u16 + 1);
        }
    }
    put_globals(msf, (records, known.globals), &globals, writer)?;
    Ok((len > 0).then_some((number.into(), bytes)))
}

/// Writes the global symbols of a module, which must have the names, kinds and lengths that they had.
fn put_globals(
    msf: &Msf<'_>,
    (records, start): (usize, u32),
    new: &[u8],
    writer: &mut Writer,
) -> Result<(), Error> {
    let all = msf.stream(records)?;
    let old = all.get(start as usize..start as usize + new.len()).ok_or(GLOBALS)?;
    let name = |record: &Record<'_>| match record.kind {
        S_PROCREF | S_LPROCREF => Some(REFERENCE - HEADER),
        kind => symbol::name_place(kind, record.body()).ok(),
    };
    let mut at = 0;
    while at < new.len() {
        let both = (Record::at(old, at), Record::at(new, at));
        let (Ok(before), Ok(now)) = both else { return Err(GLOBALS) };
        let place = name(&now).filter(|place| name(&before) == Some(*place));
        let is_same = (before.kind, before.bytes.len()) == (now.kind, now.bytes.len())
            && place.is_some_and(|place| before.body().get(place..) == now.body().get(place..));
        if !is_same {
            return Err(GLOBALS);
        }
        at += now.bytes.len();
    }
    writer.put(records, start as usize, (old, new))
}

/// The files of a module must be those that it had, in their order: the list of all files is in the order of who has them
/// first.
fn check_files(dbi: &Dbi<'_>, module: usize, scanned: &scan::Scanned<'_>) -> Result<(), Error> {
    const OTHER: Error = "has other source files of an object that has changed";
    let bytes = &dbi.bytes[dbi.files.clone()];
    let half = |at: usize| u16_at(bytes, at).map(usize::from).map_err(|_| SHORT);
    let modules = half(0)?;
    let count_at = |i: usize| 4 + 2 * modules + 2 * i;
    let mut before = 0;
    for i in 0..module {
        before += half(count_at(i))?;
    }
    if half(count_at(module))? != scanned.files.len() {
        return Err(OTHER);
    }
    let start = 4 + 4 * modules + 4 * before;
    let new: Vec<u8> =
        scanned.files.iter().flat_map(|&i| scanned.names[i as usize].0.offset.to_le_bytes()).collect();
    let old = bytes.get(start..start + new.len()).ok_or(SHORT)?;
    if old == new { Ok(()) } else { Err(OTHER) }
}

/// Writes where public symbols are. Their order by address stays as it is, for which the caller answers.
fn move_publics(
    msf: &Msf<'_>,
    (publics, records): (usize, usize),
    moved: &[MovedPublic],
    writer: &mut Writer,
) -> Result<(), Error> {
    let (table, all) = (msf.stream(publics)?, msf.stream(records)?);
    let word = |at: usize| u32_at(&table, at).map(|word| word as usize).map_err(|_| SHORT);
    let start = PUBLICS_HEADER as usize + word(0)?;
    let map = table.get(start..start + word(4)?).ok_or(SHORT)?.as_chunks::<4>().0;
    // Kind, section and offset, and the name.
    let public = |entry: &[u8; 4]| {
        let at = u32::from_le_bytes(*entry) as usize;
        let record = Record::at(&all, at).ok().filter(|record| record.kind == S_PUB32)?;
        let body = record.body();
        let place = (u16_at(body, 8).ok()?, u32_at(body, 4).ok()?);
        Some((place, string_at(body, 10).ok()?, at + HEADER + 4))
    };
    for one in moved {
        let wanted = (one.section, one.before);
        let first = map.partition_point(|entry| public(entry).is_some_and(|(place, ..)| place < wanted));
        let same = map[first..].iter().map_while(public).take_while(|(place, ..)| *place == wanted);
        let found = same.into_iter().find(|(_, name, _)| hash_bytes(name) == one.hash);
        let (.., at) = found.ok_or("does not have a public symbol")?;
        writer.put(records, at, (&one.before.to_le_bytes(), &one.now.to_le_bytes()))?;
    }
    Ok(())
}

/// The names of source files, with their places.
struct Names(HashMap<Vec<u8>, u32>);

impl Names {
    fn read(msf: &Msf<'_>) -> Result<Self, Error> {
        const WRONG: Error = "has malformed names of source files";
        let info = msf.stream(stream::INFO)?;
        let number = crate::info::named(&info, b"/names").ok_or(WRONG)?;
        let stream = msf.stream(number as usize)?;
        let len = u32_at(&stream, 8).map_err(|_| WRONG)? as usize;
        let bytes = stream.get(12..12 + len).ok_or(WRONG)?;
        let mut names = HashMap::new();
        let mut at = 0;
        while at < bytes.len() {
            let name = string_at(bytes, at).map_err(|_| WRONG)?;
            names.entry(name.to_vec()).or_insert(at as u32);
            at += name.len() + 1;
        }
        Ok(Names(names))
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        self.0.get(name).copied()
    }
}
