//! Which sections an object has that has changed, and where each lies.
//!
//! Sections are known by their keys ([`super::keys`]). One that was there stays where it was if it fits; others lie in the
//! yard of their part ([`crate::layout::yards`]), and so do new ones. What COMDAT sections of others stand for lies
//! nowhere.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use object::LittleEndian as LE;
use weld_common::text;

use super::full_link_reason::Why;
use super::keys::{self, Comdat};
use super::memo::ImageNotes;
use super::outline::{DEBUG, DEBUGGERS, DROPPED, Is, READ, Row, SYMBOLS};
use crate::coff::object::{ObjectFile, SectionHeader, alignment, is_uninitialized};
use crate::coff::pe;
use crate::emit;
use crate::layout::rooms;
use crate::layout::yards::ToldYard;
use crate::sections::part_flags;

const EXACT_MATCH: u8 = pe::IMAGE_COMDAT_SELECT_EXACT_MATCH.0;

/// A yard, and what of it is in use: ranges of the output section, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YardNotes {
    pub told: ToldYard,
    pub used: Vec<Range<u32>>,
}

impl YardNotes {
    fn has(&self, row: &Row) -> bool {
        row.out == self.told.out && (self.told.start..self.told.end).contains(&row.offset)
    }

    /// Whether a section is in the part that has this yard.
    pub fn is_part_of(&self, row: &Row) -> bool {
        row.out == self.told.out && (self.told.first..=self.told.end).contains(&row.offset)
    }

    /// What a section has lies open. Of others that are empty, or were, ranges may begin at the same place.
    fn free(&mut self, row: &Row) {
        let own = row.offset..row.offset + row.taken();
        if let Some(at) = self.used.iter().position(|used| *used == own) {
            self.used.remove(at);
        }
    }

    /// A section that stays where it is has as much as it needs now.
    fn fit(&mut self, old: &Row, now: &Row) {
        let own = old.offset..old.offset + old.taken();
        if let Some(used) = self.used.iter_mut().find(|used| **used == own) {
            used.end = now.offset + now.taken();
        }
    }

    /// A place for so many bytes.
    fn take(&mut self, size: u32, align: u32) -> Option<u32> {
        let mut at = self.told.start.checked_next_multiple_of(align)?;
        let mut place = self.used.len();
        for (number, used) in self.used.iter().enumerate() {
            if at + size <= used.start {
                place = number;
                break;
            }
            at = used.end.checked_next_multiple_of(align)?.max(at);
        }
        if at.checked_add(size)? > self.told.end {
            return None;
        }
        self.used.insert(place, at..at + size);
        Some(at)
    }
}

/// Notes which rows lie in yards.
pub fn use_yards<'r>(yards: &mut [YardNotes], rows: impl Iterator<Item = &'r Row>) {
    for row in rows.filter(|row| row.is_in_image()) {
        if let Some(yard) = yards.iter_mut().find(|yard| yard.has(row)) {
            yard.used.push(row.offset..row.offset + row.taken());
        }
    }
    yards.iter_mut().for_each(|yard| yard.used.sort_unstable_by_key(|used| used.start));
}

/// An object of which sections are to get places.
pub struct Shaped<'s, 'o> {
    pub path: &'o Path,
    pub coff: &'o ObjectFile<'s>,
    pub old: &'o [Row],
    /// Its number among objects.
    pub order: u32,
    /// COMDAT sections that lead nothing now, by their numbers, and those that lead for the first time.
    pub losers: HashSet<u32>,
    pub winners: HashSet<u32>,
}

/// What a section is to the link.
enum Class {
    /// It is looked at as a whole, if at all.
    Rest,
    Debug,
    Image(Is),
}

/// What all links of an image have in common.
#[derive(Clone, Copy)]
pub struct Facts {
    pub has_functions: bool,
    pub pdb: bool,
}

/// The rows of the objects, in their order.
///
/// # Errors
/// If one has no place, or is of a kind that is not relinked.
pub fn of(objects: &[Shaped], notes: &mut ImageNotes, facts: Facts) -> Result<Vec<Vec<Row>>, Why> {
    let mut drafts = Vec::with_capacity(objects.len());
    for object in objects {
        let rows = object.draft(notes, facts)?;
        let kept: HashMap<u32, &Row> =
            rows.iter().filter(|(_, is_placed)| *is_placed).map(|(row, _)| (row.key, row)).collect();
        for old in object.old.iter().filter(|row| row.is_in_image()) {
            let Some(yard) = notes.yards.iter_mut().find(|yard| yard.has(old)) else { continue };
            match kept.get(&old.key).filter(|now| (now.out, now.offset) == (old.out, old.offset)) {
                Some(now) => yard.fit(old, now),
                None => yard.free(old),
            }
        }
        drafts.push(rows);
    }
    let mut all = Vec::with_capacity(objects.len());
    for (object, draft) in objects.iter().zip(drafts) {
        let place =
            |(row, is_placed): (Row, bool)| if is_placed { Ok(row) } else { object.place(row, notes) };
        all.push(draft.into_iter().map(place).collect::<Result<Vec<Row>, Why>>()?);
    }
    Ok(all)
}

impl Shaped<'_, '_> {
    fn malformed(&self) -> Why {
        Why::Object(self.path.to_owned())
    }

    /// Its rows; those that are to get a place have none yet.
    fn draft(&self, notes: &ImageNotes, facts: Facts) -> Result<Vec<(Row, bool)>, Why> {
        let keys = keys::of(self.coff).ok_or_else(|| self.malformed())?;
        let comdats = keys::comdats(self.coff).ok_or_else(|| self.malformed())?;
        let old: HashMap<u32, &Row> = self.old.iter().map(|row| (row.key, row)).collect();
        let mut rows = Vec::with_capacity(keys.len());
        for (number, header) in (1..).zip(self.coff.sections) {
            let name = self.coff.section_name(header).map_err(|_| self.malformed())?;
            let key = keys[number as usize - 1];
            let known = old.get(&key).copied();
            let is_dropped = self.is_dropped(number, &comdats, &keys, &old);
            let size = self.size(header)?;
            let selection = comdats[number as usize - 1].selection;
            // What is compared as a whole was in no object that changes so.
            if selection > pe::IMAGE_COMDAT_SELECT_LARGEST.0 || selection == EXACT_MATCH {
                return Err(Why::Choice(self.path.to_owned(), text::text(name).into_owned()));
            }
            let (out, offset, is) = (0, self.order, Is::Copied);
            let mut row = Row { number, out, offset, size, step: 0, is, key, is_walked: false };
            match self.class(name, header, facts)? {
                Class::Debug => {
                    row.out = if is_dropped { DROPPED } else { DEBUG };
                    rows.push((row, true));
                }
                _ if is_dropped => {
                    row.out = DROPPED;
                    rows.push((row, true));
                }
                Class::Rest => {}
                Class::Image(is) => {
                    let (flags, comdat) = (header.characteristics.get(LE).0, comdats[number as usize - 1]);
                    let steps = rooms::steps_of(name, part_flags(name, flags));
                    row.step = steps[usize::from(comdat.selection == 0)];
                    row.is_walked = rooms::is_walked(name, part_flags(name, flags));
                    row.is = is;
                    let is_known = known.filter(|known| known.is_in_image() && known.is != Is::Read);
                    let stays = is_known.filter(|known| self.fits(&row, known, header, notes));
                    if let Some(known) = stays {
                        (row.out, row.offset) = (known.out, known.offset);
                    }
                    rows.push((row, stays.is_some()));
                }
            }
        }
        self.check_walked(&rows)?;
        Ok(rows)
    }

    /// What programs may walk has the same parts as before, in the same order.
    fn check_walked(&self, rows: &[(Row, bool)]) -> Result<(), Why> {
        let is_walked = |row: &&Row| row.is_walked && row.is_in_image();
        let mut old = self.old.iter().filter(is_walked);
        let same = |row: &Row, old: &Row| {
            (row.key, row.room(), row.is == Is::Empty) == (old.key, old.room(), old.is == Is::Empty)
        };
        let other = |row: Option<&Row>| {
            let header = row.and_then(|row| self.coff.section(row.number));
            let name = header.and_then(|header| self.coff.section_name(header).ok());
            Why::Walked(self.path.to_owned(), name.map(|name| text::text(name).into_owned()))
        };
        for (row, is_placed) in rows.iter().filter(|(row, _)| is_walked(&row)) {
            if !is_placed || !old.next().is_some_and(|old| same(row, old)) {
                return Err(other(Some(row)));
            }
        }
        old.next().map_or(Ok(()), |_| Err(other(None)))
    }

    fn size(&self, header: &SectionHeader) -> Result<u32, Why> {
        match is_uninitialized(header) {
            true => Ok(header.size_of_raw_data.get(LE)),
            false => Ok(self.coff.contents(header).map_err(|_| self.malformed())?.len() as u32),
        }
    }

    /// Whether a section, or what it goes with, is one that another object's stands for.
    fn is_dropped(&self, number: u32, comdats: &[Comdat], keys: &[u32], old: &HashMap<u32, &Row>) -> bool {
        let mut number = number;
        for _ in 0..4 {
            let at = number as usize - 1;
            let Some(comdat) = comdats.get(at) else { return false };
            if !comdat.is_associative() {
                let was = old.get(&keys[at]).is_some_and(|row| row.out == DROPPED);
                return comdat.selection != 0
                    && (self.losers.contains(&number) || was && !self.winners.contains(&number));
            }
            if comdat.parent == 0 {
                return false;
            }
            number = comdat.parent;
        }
        false
    }

    fn class(&self, name: &[u8], header: &SectionHeader, facts: Facts) -> Result<Class, Why> {
        let flags = header.characteristics.get(LE).0;
        let is_ignored = matches!(name, b".drectve" | b".llvm_addrsig" | b".sxdata" | b".voltbl")
            || matches!(name, b".gfids$y" | b".giats$y" | b".gljmp$y" | b".gehcont$y");
        if header.name == SYMBOLS && facts.pdb {
            return Ok(Class::Debug);
        }
        if is_ignored || flags & pe::IMAGE_SCN_LNK_REMOVE.0 != 0 || name.starts_with(DEBUGGERS) {
            return Ok(Class::Rest);
        }
        if name.starts_with(b".debug_") || name == b".llvm.call-graph-profile" {
            return Ok(Class::Rest);
        }
        let is = match name.starts_with(emit::FUNCTIONS) {
            true if facts.has_functions => Is::Sorted,
            true => return Err(self.kind(name)),
            false if is_uninitialized(header) || self.size(header)? == 0 => Is::Empty,
            false => Is::Copied,
        };
        if READ.iter().any(|part| name.starts_with(part)) {
            return Err(self.kind(name));
        }
        Ok(Class::Image(is))
    }

    fn kind(&self, name: &[u8]) -> Why {
        Why::Kind(self.path.to_owned(), text::text(name).into_owned())
    }

    /// Whether a section fits where it was.
    fn fits(&self, row: &Row, known: &Row, header: &SectionHeader, notes: &ImageNotes) -> bool {
        let align = alignment(header.characteristics.get(LE).0).unwrap_or(0);
        let rva = notes.outs.get(known.out as usize).map_or(0, |out| out.rva) + known.offset;
        // What has bytes in the file stays among such.
        row.room() <= known.room()
            && rva.is_multiple_of(1 << align)
            && (row.is == known.is || row.is == Is::Empty)
    }

    /// Gives a section a place in the yard of its part.
    fn place(&self, mut row: Row, notes: &mut ImageNotes) -> Result<Row, Why> {
        let header = self.coff.section(row.number).ok_or_else(|| self.malformed())?;
        let name = self.coff.section_name(header).map_err(|_| self.malformed())?;
        let characteristics = header.characteristics.get(LE).0;
        let flags = part_flags(name, characteristics);
        let no_yard = || self.kind(name);
        if row.step == 0 && rooms::steps_of(name, flags) == [0; 2] {
            return Err(no_yard());
        }
        let align = alignment(characteristics).ok_or_else(|| self.malformed())?;
        let align = align.max(rooms::least_align(row.step));
        let yard = notes.yards.iter_mut().find(|yard| yard.told.name == name && yard.told.flags == flags);
        let yard = yard.ok_or_else(no_yard)?;
        // Places are counted from the start of the output section.
        let start = notes.outs.get(yard.told.out as usize).map_or(0, |out| out.rva);
        if align > 12 || !start.is_multiple_of(1 << align) {
            return Err(no_yard());
        }
        let place = yard.take(row.taken(), 1 << align);
        row.offset = place.ok_or_else(|| Why::Full(self.path.to_owned(), text::text(name).into_owned()))?;
        row.out = yard.told.out;
        Ok(row)
    }
}
