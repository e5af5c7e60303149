//! Modules of a PDB that tell more or less than they did: longer functions, other variables and lines.
//!
//! A module's stream is made anew as a full link makes it, and lies where it lay, for there is room behind it
//! (`crate::msf::grow`). Types that were not there have numbers behind all others (`crate::types::known`), global symbols
//! and publics lie behind all others (`crate::lists`), and so no number and no place changes. Names of source files stay
//! as they are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use crate::codeview::records::Record;
use crate::codeview::symbol;
use crate::codeview::{SIGNATURE_C13, string_at, u16_at, u32_at};
use crate::dbi::{
    self, CHARACTERISTICS_AT, CONTRIBUTION_SIZE, GLOBALS_AT, LENGTHS_AT, MODULE_LENGTHS_AT, MODULE_STREAM_AT,
    NO_STREAM, PUBLICS_AT, RECORDS_AT,
};
use crate::edit::{Dbi, Error, SHORT, Writer};
use crate::input::{Contribution, Fixup, Module, Relocate};
pub use crate::lists::ChangedPublic;
use crate::lists::{Lists, name_of};
use crate::msf::grow::Grown;
use crate::msf::read::Msf;
use crate::paths::absolute;
use crate::pdb::Pdb;
use crate::put::{put_u16, put_u32};
use crate::stream;
use crate::symbols::Symbols;
use crate::symbols::globals::REFERENCE;
use crate::symbols::scan;
use crate::symbols::write::{self, Out, SIGNATURE_SIZE};
use crate::types::known::KnownTypes;

/// What a later link has to know of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Where its global symbols are among all records. Some of these may not be listed any more.
    pub runs: Vec<Range<u32>>,
    pub is_edited: bool,
    /// How many of its symbols may be global ones, and a hash of those of which there may be equal ones.
    pub count: u32,
    pub equals: u64,
}

impl Pdb<'_> {
    /// What a later link has to know of a module.
    pub fn known(&self, module: usize) -> Known {
        let scanned = &self.symbols.scanned[module];
        let own = || scanned.globals.iter().filter(|global| global.is_kept());
        let start = own().map(|global| global.place).min();
        let end = own().map(|global| global.place + global.size() as u32).max();
        let first = self.publics.record_bytes();
        let runs = start.zip(end).map(|(start, end)| first + start..first + end).into_iter().collect();
        Known { runs, is_edited: false, count: scanned.globals.len() as u32, equals: scanned.equals }
    }
}

/// A module that is made anew.
pub struct ResizedModule<'a> {
    /// Its number in the PDB.
    pub number: usize,
    /// `.debug$T`
    pub types: &'a [u8],
    pub has_other_types: bool,
    /// Its `.debug$S` sections that are in the PDB, each with its fixups, in the order of their places.
    pub sections: Vec<(&'a [u8], Vec<Fixup>)>,
    pub known: Known,
}

/// The pieces of the image that a module has, if they are others than before, in the order of its sections.
pub struct ModulePieces {
    pub module: u16,
    pub list: Vec<Contribution>,
}

/// Whether there may be types of a source file.
pub type HasTypesOf<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// All that is not as long as it was, or where it was.
#[derive(Default)]
pub struct Resizes<'a> {
    pub modules: Vec<ResizedModule<'a>>,
    pub reshaped: Vec<ModulePieces>,
    pub publics: Vec<ChangedPublic>,
    /// What is put in front of relative paths.
    pub root: &'a [u8],
    /// Whether an object that is none of `modules` may have types of a source file with this name; without it, any may.
    pub has_types_of: Option<&'a HasTypesOf<'a>>,
}

/// Streams that are others as a whole, and what is known of modules now.
#[derive(Default)]
pub struct Remade {
    pub streams: Vec<(usize, Vec<u8>)>,
    pub known: Vec<(usize, Known)>,
    /// A full link would make another PDB, which tells the same.
    pub is_edited: bool,
}

/// # Errors
/// What the PDB does not have, or has no room for.
pub fn apply(
    dbi: &Dbi<'_>,
    starts: &[usize],
    resizes: &Resizes<'_>,
    writer: &mut Writer,
) -> Result<Remade, Error> {
    let msf = writer.msf;
    let number = |at: usize| u16_at(&dbi.bytes, at).map(usize::from).map_err(|_| SHORT);
    let mut remade = Remade::default();
    if resizes.modules.is_empty() && resizes.publics.is_empty() && resizes.reshaped.is_empty() {
        return Ok(remade);
    }
    let mut lists = Lists::read(msf, [number(GLOBALS_AT)?, number(PUBLICS_AT)?, number(RECORDS_AT)?])?;
    let has_publics = !resizes.publics.is_empty();
    if has_publics {
        lists.change_publics(&resizes.publics)?;
    }
    if !resizes.modules.is_empty() {
        let names = Names::read(msf)?;
        let mut types = KnownTypes::read(msf)?;
        for module in &resizes.modules {
            let start = *starts.get(module.number).ok_or("does not have a module")?;
            let tables = Tables { names: &names, types: &mut types, lists: &mut lists };
            let (known, stream) = remake(dbi, start, (module, resizes.root), tables, writer)?;
            remade.known.push((module.number, known));
            remade.streams.extend(stream);
        }
        types.settle_lines(resizes.has_types_of.unwrap_or(&|_| true))?;
        let longer = types.streams(msf)?;
        remade.is_edited = !longer.is_empty() || remade.known.iter().any(|(_, known)| known.is_edited);
        remade.streams.extend(longer);
    }
    let is_moved =
        |change: &ChangedPublic| matches!(change, ChangedPublic::Moved { .. } | ChangedPublic::Kind { .. });
    remade.is_edited |= !resizes.publics.iter().all(is_moved);
    remade.streams.extend(lists.streams()?);
    reshape(dbi, starts, &resizes.reshaped, writer)?;
    Ok(remade)
}

/// Writes streams that are others, and the directory.
///
/// # Errors
/// If one has no room.
pub fn put_streams(streams: Vec<(usize, Vec<u8>)>, writer: &mut Writer) -> Result<(), Error> {
    let msf = writer.msf;
    let mut grown = Grown::new(msf);
    for (stream, bytes) in &streams {
        if msf.len(*stream)? != bytes.len() as u32 {
            grown.set_len(*stream, bytes.len() as u32)?;
        }
    }
    for (stream, bytes) in streams {
        put_stream(&grown, stream, bytes, writer)?;
    }
    let directory = grown.directory()?;
    for (part, number) in directory.bytes.chunks(msf.page_size() as usize).zip(&directory.pages) {
        writer.put_at(u64::from(*number) * u64::from(msf.page_size()), part)?;
    }
    writer.put_at(directory.len_at, &directory.len.to_le_bytes())
}

/// Replaces the pieces of the image that modules have.
fn reshape(
    dbi: &Dbi<'_>,
    starts: &[usize],
    reshaped: &[ModulePieces],
    writer: &mut Writer,
) -> Result<(), Error> {
    if reshaped.is_empty() {
        return Ok(());
    }
    for own in reshaped {
        let start = *starts.get(usize::from(own.module)).ok_or("does not have a module")?;
        let at = start + dbi::MODULE_CONTRIBUTION_AT;
        let out = writer.dbi.get_mut(at..at + CONTRIBUTION_SIZE).ok_or(SHORT)?;
        dbi::put_contribution(own.list.first().unwrap_or(&dbi::NOTHING), out);
    }
    let word = |entry: &[u8; CONTRIBUTION_SIZE], at: usize| u32_at(&entry[..], at).unwrap_or(0);
    let place = |entry: &[u8; CONTRIBUTION_SIZE]| (word(entry, 0), word(entry, 4));
    let (mut new, mut modules) = (Vec::new(), HashSet::new());
    for own in reshaped {
        modules.insert(u32::from(own.module));
        for one in &own.list {
            let mut entry = [0; CONTRIBUTION_SIZE];
            dbi::put_contribution(one, &mut entry);
            new.push(entry);
        }
    }
    let key = |entry: &[u8; CONTRIBUTION_SIZE]| {
        let has_size = word(entry, dbi::SIZE_AT) > 0;
        (word(entry, dbi::MODULE_AT), place(entry), word(entry, CHARACTERISTICS_AT), has_size)
    };
    let mut at_places: HashMap<_, VecDeque<[u8; CONTRIBUTION_SIZE]>> = HashMap::new();
    new.iter().for_each(|entry| at_places.entry(key(entry)).or_default().push_back(*entry));
    let entries = writer.dbi.get(dbi.list.clone()).ok_or(SHORT)?.as_chunks().0;
    let mut all: Vec<[u8; CONTRIBUTION_SIZE]> = Vec::with_capacity(entries.len() + new.len());
    for entry in entries {
        if !modules.contains(&word(entry, dbi::MODULE_AT)) {
            all.push(*entry);
        } else if let Some(now) = at_places.get_mut(&key(entry)).and_then(VecDeque::pop_front) {
            all.push(now);
        }
    }
    all.extend(at_places.into_values().flatten());
    all.sort_unstable_by_key(dbi::order_of);
    let list = all.as_flattened();
    put_u32(&mut writer.dbi, LENGTHS_AT[1], 4 + list.len() as u32);
    writer.dbi.splice(dbi.list.clone(), list.iter().copied());
    Ok(())
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

/// What modules are made with.
struct Tables<'t, 'm> {
    names: &'t Names,
    types: &'t mut KnownTypes<'m>,
    lists: &'t mut Lists,
}

/// A stream with its number, if there is any.
type Stream = Option<(usize, Vec<u8>)>;

/// What is known of a module, and its stream.
fn remake(
    dbi: &Dbi<'_>,
    start: usize,
    (resized, root): (&ResizedModule<'_>, &[u8]),
    tables: Tables<'_, '_>,
    writer: &mut Writer,
) -> Result<(Known, Stream), Error> {
    let types = tables.types.of(resized.types, resized.has_other_types)?;
    let sections: Vec<&[u8]> = resized.sections.iter().map(|(section, _)| *section).collect();
    let has_types = (!resized.types.is_empty()).then_some(0);
    let modules = [Module { sections: &sections, types: has_types, ..Module::default() }];
    let mut scanned = scan::module(&modules[0], &types, true);
    check_scanned(&scanned)?;
    for (place, name) in &mut scanned.names {
        let name = if place.file { absolute(name, root) } else { (*name).into() };
        place.offset = tables.names.find(&name).ok_or(
            "does not have the name of a source file that an object which has changed was compiled from",
        )?;
    }
    let mut size = 0;
    for global in &mut scanned.globals {
        global.place = size;
        size += global.size() as u32;
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
    let scanned = &symbols.scanned[0];
    for global in scanned.globals.iter().filter(|global| global.procedure().is_some()) {
        put_u16(&mut globals, global.place as usize + REFERENCE - 2, resized.number as u16 + 1);
    }
    let known = put_globals(tables.lists, &resized.known, (scanned, &globals))?;
    Ok((known, (len > 0).then_some((number.into(), bytes))))
}

fn check_scanned(scanned: &scan::Scanned<'_>) -> Result<(), Error> {
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
    Ok(())
}

const OTHER_UNDER_NAME: Error =
    "lists a type or a constant that is another now, and that other objects may have as it was";

/// Records of a kind and a name that a module has, which are not in use.
type Free = HashMap<(u16, Vec<u8>), VecDeque<u32>>;

/// Puts the global symbols of a module, one after the other in `bytes`, into the lists. A record takes the place of one of
/// the same kind, name and length, or lies behind all others; of those of which there may be equal ones in other modules
/// one is listed.
fn put_globals(
    lists: &mut Lists,
    known: &Known,
    (scanned, bytes): (&scan::Scanned<'_>, &[u8]),
) -> Result<Known, Error> {
    let mut free = Free::new();
    for run in &known.runs {
        let mut at = run.start;
        while at < run.end {
            let record = lists.record(at)?;
            let name = name_of(&record).ok_or(SHORT)?.to_vec();
            free.entry((record.kind, name)).or_default().push_back(at);
            at += record.bytes.len() as u32;
        }
    }
    let is_like_before = (scanned.globals.len() as u32, scanned.equals) == (known.count, known.equals);
    let mut now = Known { count: scanned.globals.len() as u32, equals: scanned.equals, ..known.clone() };
    let (mut used, mut added) = (HashSet::new(), HashSet::new());
    let (mut all, mut names_of_equals) = (Vec::new(), HashSet::new());
    for global in &scanned.globals {
        let own = &bytes[global.place as usize..global.place as usize + global.size()];
        let record = Record::at(own, 0).map_err(|_| SHORT)?;
        let name = name_of(&record).ok_or(SHORT)?;
        let key = (record.kind, name.to_vec());
        let slots = free.get_mut(&key);
        let has =
            |at: &u32, lists: &Lists| lists.records.get(*at as usize..).is_some_and(|r| r.starts_with(own));
        if global.is_one_of_equals() {
            names_of_equals.insert(key.clone());
            let found = slots.as_ref().and_then(|slots| slots.iter().find(|at| has(at, lists)).copied());
            match found.or_else(|| lists.find_global(name, own)) {
                Some(at) if found.is_some() => {
                    used.insert(at);
                    if known.is_edited {
                        // Another module's may be listed, which is the same.
                        let other = lists.find_global(name, own);
                        if other.is_none() {
                            lists.list_global(name, at);
                        }
                    }
                }
                Some(_) => {}
                None if !added.insert(own.to_vec()) => {}
                // What is listed may be what this or another module has no more.
                None if lists.has_other(record.kind, name) => return Err(OTHER_UNDER_NAME),
                None => all.push((own, name.to_vec())),
            }
            continue;
        }
        let fitting = slots.and_then(|slots| {
            let place =
                slots.iter().position(|at| lists.record(*at).is_ok_and(|r| r.bytes.len() == own.len()))?;
            slots.remove(place)
        });
        match fitting {
            Some(at) => {
                used.insert(at);
                lists.records[at as usize..at as usize + own.len()].copy_from_slice(own);
                if known.is_edited {
                    lists.list_global(name, at);
                }
            }
            None => all.push((own, name.to_vec())),
        }
    }
    drop_unused(lists, (free, &used), &names_of_equals, &mut now)?;
    now.is_edited |= !is_like_before || !all.is_empty();
    for (own, name) in all {
        let at = lists.append(own);
        lists.list_global(&name, at);
        match now.runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += own.len() as u32,
            None => now.runs.push(at..at + own.len() as u32),
        }
    }
    Ok(now)
}

/// Has records that a module has no more not be listed. Names of types stay, for other modules may have them.
fn drop_unused(
    lists: &mut Lists,
    (free, used): (Free, &HashSet<u32>),
    names_of_equals: &HashSet<(u16, Vec<u8>)>,
    known: &mut Known,
) -> Result<(), Error> {
    for (key, places) in free {
        for at in places.into_iter().filter(|at| !used.contains(at)) {
            if !lists.has_global(&key.1, at) {
                continue;
            }
            known.is_edited = true;
            if !symbol::has_equals(key.0) {
                lists.drop_global(&key.1, at);
            } else if names_of_equals.contains(&key) {
                return Err(OTHER_UNDER_NAME);
            }
        }
    }
    Ok(())
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
