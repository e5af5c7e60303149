//! What an image has of all objects: the table of functions, base relocations, exports and the entry point.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::full_link_reason::Why;
use super::moves::Moves;
use super::names::NOBODY;
use super::resize::{Touched, Writer, is_in, rooms_of};
use crate::arch::facts;
use crate::layout::rooms;
use crate::synth::base_relocs;

impl Writer<'_, '_> {
    /// The table of functions, sorted by address.
    pub fn functions(&mut self, touched: &BTreeMap<usize, Touched>, path: &Path) -> Result<(), Why> {
        const EXCEPTIONS: u64 = 3;
        let entry = facts(self.before.machine).function;
        let range = self.notes().functions.clone();
        if entry == 0 || range.is_empty() {
            let none = self.functions.is_empty();
            return if none { Ok(()) } else { Err(Why::Table(path.to_owned(), "the table of functions")) };
        }
        let size_at = self.directory_at(EXCEPTIONS) + 4;
        let size = self.word(size_at)? as usize;
        let table = self.read(&range)?;
        let old = table.get(..size).ok_or_else(|| self.altered())?;
        let rooms = self.old_rooms(touched);
        let start = |entry: &[u8]| entry.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let kept = old.chunks_exact(entry).filter(|entry| !is_in(&rooms, start(entry)));
        let mut all: Vec<&[u8]> = kept.chain(self.functions.chunks_exact(entry)).collect();
        if !self.functions.len().is_multiple_of(entry) {
            return Err(Why::Table(path.to_owned(), "the table of functions"));
        }
        all.sort_unstable_by(|a, b| start(a).cmp(&start(b)).then_with(|| a.cmp(b)));
        let mut new = all.concat();
        let now = new.len() as u32;
        if new.len() > table.len() {
            return Err(Why::Table(path.to_owned(), "the table of functions"));
        }
        new.resize(table.len(), 0);
        self.put(range.start, &new)?;
        self.put(size_at, &now.to_le_bytes())
    }

    /// Where all objects that are written again had rooms, in order.
    fn old_rooms(&self, touched: &BTreeMap<usize, Touched>) -> Vec<Range<u32>> {
        let rooms = touched.values().flat_map(|object| rooms_of(&object.old, self.notes()));
        let mut rooms: Vec<Range<u32>> = rooms.filter(|room| !room.is_empty()).collect();
        rooms.sort_unstable_by_key(|room| room.start);
        rooms
    }

    pub fn base_relocs(&mut self, touched: &BTreeMap<usize, Touched>, path: &Path) -> Result<(), Why> {
        let range = self.notes().relocs.clone();
        if range.is_empty() {
            return Ok(());
        }
        let table = self.read(&range)?;
        let rooms = self.old_rooms(touched);
        let mut places = base_relocs::places(&table);
        places.retain(|place| !is_in(&rooms, place.rva.get()));
        places.append(&mut self.bases);
        places.sort_unstable();
        let mut new = base_relocs::table(&places, false);
        if new.is_empty() || rooms::of_relocs(new.len()) != table.len() {
            return Err(Why::Table(path.to_owned(), "base relocations"));
        }
        base_relocs::pad(&mut new, table.len());
        self.put(range.start, &new)
    }

    /// The entry point and exports, which are known by their names: those that have moved. None may be gone.
    pub fn headers(&mut self, moves: &Moves, path: &Path) -> Result<(), Why> {
        const ENTRY: u64 = 16;
        const EXPORTS: u64 = 0;
        // In the table of exports: how many addresses there are, and where.
        const COUNT: u64 = 20;
        const ADDRESSES: u64 = 28;
        if moves.moved.is_empty() && moves.lost.is_empty() {
            return Ok(());
        }
        let exports = self.notes().exports.clone();
        for number in exports.iter().copied().chain([self.notes().entry]).filter(|number| *number != NOBODY) {
            let name = self.name(number).ok_or(Why::State("has too few names"))?;
            if name.is_gone() {
                return Err(Why::Wanted(
                    path.to_owned(),
                    "the table of exports, or the entry point,".to_owned(),
                ));
            }
        }
        if let Some(one) = moves.moved.get(&self.notes().entry) {
            let entry_at = self.optional_at() + ENTRY;
            if self.word(entry_at)? != one.before {
                return Err(self.altered());
            }
            self.put(entry_at, &one.now.to_le_bytes())?;
        }
        if !exports.iter().any(|number| moves.moved.contains_key(number)) {
            return Ok(());
        }
        let table = self.word(self.directory_at(EXPORTS))?;
        let no_table = || Why::Table(path.to_owned(), "the table of exports");
        let table = self.offset(table).ok_or_else(no_table)?;
        let count = u64::from(self.word(table + COUNT)?);
        let addresses = self.offset(self.word(table + ADDRESSES)?).ok_or_else(no_table)?;
        if table == 0 || count != exports.len() as u64 {
            return Err(no_table());
        }
        let mut bytes = self.read(&(addresses..addresses + 4 * count))?;
        for (address, number) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(&exports) {
            let Some(one) = moves.moved.get(number) else { continue };
            if *address != one.before.to_le_bytes() {
                return Err(self.altered());
            }
            *address = one.now.to_le_bytes();
        }
        self.put(addresses, &bytes)
    }
}
