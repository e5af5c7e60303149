//! COMDAT sections that come and go where several objects have one of a name: the first object that has it leads.
//!
//! An object that gets one lies in front of the one that led, or behind it; one that has it no more leaves it to the next.
//! All objects whose section is in the image now and was not, or the other way round, are relinked as if they had
//! changed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use object::LittleEndian as LE;
use weld_common::io::input::InputStore;

use super::full_link_reason::Why;
use super::keys;
use super::names::{Name, Names};
use super::outline::{DROPPED, Row};
use super::resize::{Before, Others, Touched};
use crate::coff::object::ObjectFile;
use crate::coff::pe;

/// A section that leads, or may.
#[derive(Clone, Copy)]
struct Lead {
    section: u32,
    selection: u8,
    key: u32,
}

/// The sections of an object that a global name leads, by the name's hash.
fn leads(coff: &ObjectFile) -> Option<HashMap<u64, Lead>> {
    let keys = keys::of(coff)?;
    let comdats = keys::comdats(coff)?;
    let mut all = HashMap::new();
    for ((number, comdat), key) in (1..).zip(&comdats).zip(keys) {
        let symbol = comdat.leader.filter(|_| !comdat.is_associative()).and_then(|at| coff.symbols.get(at));
        if let Some(symbol) = symbol.filter(|symbol| symbol.is_global()) {
            let lead = Lead { section: number, selection: comdat.selection, key };
            all.insert(coff.hashed_name(&symbol).ok()?.1, lead);
        }
    }
    Some(all)
}

/// An object that has a section of a name.
struct Candidate {
    order: u32,
    file: usize,
    lead: Lead,
}

/// Settles which sections of changed objects lead. Others that are to be relinked for it are added to `touched`.
///
/// # Errors
/// If it cannot be told.
pub fn settle<'s>(
    touched: &mut BTreeMap<usize, Touched<'s>>,
    names: &mut Names,
    others: &Others,
    (before, store): (&Before, &'s InputStore<'s>),
) -> Result<(), Why> {
    let mut all: HashMap<usize, HashMap<u64, Lead>> = HashMap::new();
    for (number, object) in touched.iter() {
        all.insert(*number, leads(&object.coff).ok_or_else(|| Why::Object(object.path.clone()))?);
    }
    for (hash, file) in resized(touched, &all, names) {
        let is_pinned = names.number(hash).is_some_and(|number| names.list[number as usize].is_pinned());
        if is_pinned || candidates((hash, names), touched, &mut all, others, (before, store))?.len() > 1 {
            let name = touched[&file].text_of(hash).unwrap_or_default();
            return Err(Why::Choice(touched[&file].path.clone(), name));
        }
    }
    let contested = contested(touched, &all, names);
    names.ask(contested.iter().copied());
    for hash in contested {
        let candidates = candidates((hash, names), touched, &mut all, others, (before, store))?;
        decide(candidates, (hash, names.number(hash)), touched, names, others, (before, store))?;
    }
    Ok(())
}

/// All objects that have a section which a name leads. Those that have not changed are loaded, and added to `all`.
fn candidates<'s>(
    (hash, names): (u64, &Names),
    touched: &BTreeMap<usize, Touched<'s>>,
    all: &mut HashMap<usize, HashMap<u64, Lead>>,
    others: &Others,
    (before, store): (&Before, &'s InputStore<'s>),
) -> Result<Vec<Candidate>, Why> {
    let number = names.number(hash);
    let mut candidates = Vec::new();
    for (file, object) in touched.iter() {
        let lead = all.get(file).and_then(|leads| leads.get(&hash));
        let order = object.block.order;
        candidates.extend(lead.map(|lead| Candidate { order, file: *file, lead: *lead }));
    }
    for (file, block) in others.blocks(before)? {
        let mentions = number.is_some_and(|number| block.names.binary_search(&number).is_ok());
        if !mentions || touched.contains_key(file) {
            continue;
        }
        let leads = match all.entry(*file) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let object = others.load(*file, block, before, store)?;
                new.insert(leads(&object.coff).ok_or_else(|| Why::Object(object.path.clone()))?)
            }
        };
        if let Some(lead) = leads.get(&hash) {
            candidates.push(Candidate { order: block.order, file: *file, lead: *lead });
        }
    }
    Ok(candidates)
}

/// Sections of other sizes than before that are not taken just as they are, by their names' hashes, and the files of their
/// objects: if others have one of the name, too, which one is taken may follow from their sizes, also where an object
/// would take any itself. One that may have no duplicates has none, as is each function's that compilers give a section
/// (`/Gy`), whatever its size: a link of two would have failed, or warned.
fn resized(
    touched: &BTreeMap<usize, Touched>,
    all: &HashMap<usize, HashMap<u64, Lead>>,
    names: &Names,
) -> BTreeMap<u64, usize> {
    let by_size = [pe::IMAGE_COMDAT_SELECT_SAME_SIZE.0, pe::IMAGE_COMDAT_SELECT_LARGEST.0];
    let mut found = BTreeMap::new();
    for (file, object) in touched {
        let old: HashMap<u32, u32> = object.old.iter().map(|row| (row.key, row.size)).collect();
        for (hash, lead) in all.get(file).into_iter().flatten() {
            let name = names.number(*hash).map(|number| &names.list[number as usize]);
            let is_choosy = name.is_some_and(Name::is_choosy) || by_size.contains(&lead.selection);
            let size = object.coff.section(lead.section).map(|header| header.size_of_raw_data.get(LE));
            let is_only = lead.selection == pe::IMAGE_COMDAT_SELECT_NODUPLICATES.0;
            if is_choosy && !is_only && old.get(&lead.key).copied() != size {
                found.insert(*hash, *file);
            }
        }
    }
    found
}

/// Hashes of the names of which another section than before may lead.
fn contested(
    touched: &BTreeMap<usize, Touched>,
    all: &HashMap<usize, HashMap<u64, Lead>>,
    names: &Names,
) -> Vec<u64> {
    let mut found = HashSet::new();
    let mut new = HashMap::new();
    for (file, object) in touched {
        let old: HashSet<u32> = object.old.iter().map(|row| row.key).collect();
        for (hash, lead) in all.get(file).into_iter().flatten() {
            if !old.contains(&lead.key) {
                *new.entry(*hash).or_insert(0) += 1;
            }
        }
        let defined: HashSet<u64> = object
            .coff
            .symbols
            .iter()
            .filter(|(_, symbol)| symbol.is_global() && symbol.section > 0)
            .filter_map(|(_, symbol)| object.hash(&symbol).ok())
            .collect();
        let own = object.block.names.iter().filter_map(|number| names.list.get(*number as usize));
        let is_lost = |name: &&Name| name.owner == object.block.order && !defined.contains(&name.hash);
        let lost = own.filter(is_lost);
        found.extend(lost.map(|name| name.hash));
    }
    let is_placed = |hash: u64| names.number(hash).is_some_and(|n| names.list[n as usize].place().is_some());
    found.extend(new.iter().filter(|(hash, count)| **count > 1 || is_placed(**hash)).map(|(hash, _)| *hash));
    let mut all: Vec<u64> = found.into_iter().collect();
    all.sort_unstable();
    all
}

fn decide<'s>(
    candidates: Vec<Candidate>,
    (hash, number): (u64, Option<u32>),
    touched: &mut BTreeMap<usize, Touched<'s>>,
    names: &mut Names,
    others: &Others,
    (before, store): (&Before, &'s InputStore<'s>),
) -> Result<(), Why> {
    let Some(first) = candidates.iter().min_by_key(|one| one.order) else { return Ok(()) };
    let said = |why: fn(std::path::PathBuf, String) -> Why| {
        let object = touched.values().find(|object| object.text_of(hash).is_some());
        let path =
            object.map_or_else(|| before.memo.files[first.file].path.clone(), |object| object.path.clone());
        why(path, object.and_then(|object| object.text_of(hash)).unwrap_or_default())
    };
    let old_row = |one: &Candidate, touched: &BTreeMap<usize, Touched>| -> Result<Option<Row>, Why> {
        let rows = match touched.get(&one.file) {
            Some(object) => &object.old,
            None => others
                .blocks(before)?
                .iter()
                .find(|(file, _)| *file == one.file)
                .map(|(_, b)| &b.rows)
                .ok_or(Why::State("has no rows of an object"))?,
        };
        Ok(rows.iter().find(|row| row.key == one.lead.key).copied())
    };
    let is_any = |one: &Candidate| one.lead.selection == pe::IMAGE_COMDAT_SELECT_ANY.0;
    if candidates.len() > 1 && !candidates.iter().all(is_any) {
        return Err(said(Why::Choice));
    }
    // Whoever has it now must be one of them, or be an object that has it no more.
    let name = number.map(|number| names.list[number as usize]);
    if let Some(name) = name.filter(|name| name.rva().is_some()) {
        let is_candidate = candidates.iter().any(|one| one.order == name.owner);
        let is_changed = |object: &Touched| object.is_changed && object.block.order == name.owner;
        if name.is_alias() || !is_candidate && !touched.values().any(is_changed) {
            return Err(said(Why::Defines));
        }
    }
    let (winner, mut changes) = (first.file, Vec::new());
    for one in &candidates {
        let row = old_row(one, touched)?;
        let (is_winner, is_dropped) = (one.file == winner, row.map(|row| row.out == DROPPED));
        match (is_winner, is_dropped) {
            (true, None | Some(true)) | (false, None | Some(false)) => {
                changes.push((one.file, one.lead.section, is_winner));
            }
            _ => {}
        }
    }
    for (file, section, is_winner) in changes {
        let object = match touched.entry(file) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let blocks = others.blocks(before)?;
                let block = blocks.iter().find(|(of, _)| *of == file);
                let (_, block) = block.ok_or(Why::State("has no rows of an object"))?;
                if !block.is_plain {
                    return Err(Why::Object(before.memo.files[file].path.clone()));
                }
                let mut object = others.load(file, block, before, store)?;
                object.is_changed = true;
                names.ask(object.global_hashes()?.into_iter());
                new.insert(object)
            }
        };
        let set = if is_winner { &mut object.winners } else { &mut object.losers };
        set.insert(section);
    }
    Ok(())
}
