//! The index as it is in the file: sizes before layout, bytes after it, in parts.
//!
//! ```text
//!     header          offsets of what follows: version 7 has six words; 9, which type units of DWARF 5 need, seven
//!     units           offset in .debug_info, length
//!     type units      offset, where in the unit the type is, signature
//!     addresses       start, end, unit
//!     symbols         a hash table: where in the pool the name is, and the vector of its uses
//!     shortcut        version 9 only: language and name of the main function; 0: not said
//!     pool            vectors (count, uses), then names with a NUL
//! ```
//!
//! Names that the same units use in the same way share a vector; in programs of many units that is most of the index. The
//! hash table is filled by all threads at once: a name takes any slot of its row that is empty or has a name of a
//! higher number, which then has to go on. What comes out is what one thread would make of the names in order.
//!
//! All numbers are little-endian, whatever the machine. Source: GDB's manual, "Index Section Format".

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use weld_common::{par, trace};

use super::dwarf::Pointer;
use super::names::{Finished, Use};

/// A unit, in an input section that has number `place.section` in the link.
#[derive(Clone, Copy, Debug)]
pub struct ListedUnit {
    pub place: Pointer,
    pub length: u64,
}

/// A type unit, likewise.
#[derive(Clone, Copy, Debug)]
pub struct ListedTypeUnit {
    pub place: Pointer,
    /// Of the type, from the unit's first byte.
    pub type_offset: u64,
    pub signature: u64,
}

/// Code of unit number `unit`, in an input section likewise.
#[derive(Clone, Copy, Debug)]
pub struct ListedRange {
    pub start: Pointer,
    pub length: u64,
    pub unit: u32,
}

/// What is in an index besides names.
#[derive(Default)]
pub struct Lists {
    pub units: Vec<ListedUnit>,
    pub type_units: Vec<ListedTypeUnit>,
    pub ranges: Vec<ListedRange>,
    /// There are type units in `.debug_info`.
    pub has_new_type_units: bool,
}

/// An index, but for addresses.
pub struct Table<'a> {
    lists: Lists,
    names: Vec<Finished<'a>>,
    /// Numbers of names, by slot of the hash table.
    slots: Vec<AtomicU32>,
    /// For each name, where in the pool it and its vector are.
    pooled: Vec<Pooled>,
    /// The number of each shard's first name.
    first: Vec<u32>,
    /// For each group of vectors, the names (shard, index) whose vectors they are.
    vectors: Vec<Vec<(u32, u32)>>,
    parts: Parts,
    version: u32,
}

#[derive(Clone, Copy, Default)]
struct Pooled {
    name: u32,
    vector: u32,
}

/// A part of the index that is written at once.
#[derive(Clone, Copy)]
struct Part {
    start: u64,
    size: u64,
    kind: PartKind,
}

#[derive(Clone, Copy)]
enum PartKind {
    Header,
    Units,
    TypeUnits,
    Ranges,
    /// From this slot on.
    Slots(usize),
    Shortcut,
    Vectors(usize),
    Names(usize),
}

/// Slots in a part.
const SLOTS: usize = 1 << 16;
/// No table has fewer slots. Powers of two, as GDB needs them.
const FEWEST_SLOTS: usize = 1024;
const EMPTY: u32 = u32::MAX;
/// Groups of vectors, by the upper bits of their hash.
const GROUP_BITS: u32 = 6;
/// Names that a thread puts into the table in one go.
const NAMES: usize = 1 << 13;

/// The index would have more than four GiB of names and vectors.
#[derive(Debug)]
pub struct TooLarge;

impl<'a> Table<'a> {
    /// # Errors
    /// If offsets do not fit their 32 bits.
    pub fn new(lists: Lists, names: Vec<Finished<'a>>, parallel: bool) -> Result<Table<'a>, TooLarge> {
        let mut first = Vec::with_capacity(names.len());
        let mut count = 0usize;
        for shard in &names {
            first.push(count as u32);
            count += shard.names.len();
        }
        if count >= EMPTY as usize {
            return Err(TooLarge);
        }
        let version = if lists.has_new_type_units { 9 } else { 7 };
        let mut table = Table {
            lists,
            names,
            slots: Vec::new(),
            pooled: vec![Pooled::default(); count],
            first,
            vectors: Vec::new(),
            parts: Parts::default(),
            version,
        };
        table.fill_slots(count, parallel);
        let vectors = table.share_vectors(parallel);
        table.place(vectors)?;
        Ok(table)
    }

    /// The size of the section, in bytes.
    pub fn size(&self) -> u64 {
        self.parts.size
    }

    fn fill_slots(&mut self, count: usize, parallel: bool) {
        let size = (count * 4 / 3 + 1).next_power_of_two().max(FEWEST_SLOTS);
        self.slots = (0..size).map(|_| AtomicU32::new(EMPTY)).collect();
        let hashes: Vec<u32> =
            self.names.iter().flat_map(|shard| shard.names.iter().map(|name| name.gdb_hash)).collect();
        let enter =
            |run: std::ops::Range<usize>| run.for_each(|name| enter(&self.slots, &hashes, name as u32));
        par::runs("slots of the index", parallel, count, NAMES, enter);
    }

    /// Finds which names share a vector. Returns the bytes of each group of vectors; names' vectors are
    /// counted from the start of their group.
    fn share_vectors(&mut self, parallel: bool) -> Vec<u64> {
        let shards = &self.names;
        let region = trace::region("group vectors of the index");
        let group = |shard: &Finished| {
            let _task = region.task();
            let mut groups = vec![Vec::new(); 1 << GROUP_BITS];
            for (i, name) in shard.names.iter().enumerate() {
                groups[(name.hash >> (64 - GROUP_BITS)) as usize].push((name.hash as u32, i as u32));
            }
            groups
        };
        let grouped: Vec<Vec<Vec<(u32, u32)>>> = match parallel {
            true => shards.par_iter().map(group).collect(),
            false => shards.iter().map(group).collect(),
        };
        drop(region);
        let region = trace::region("share vectors of the index");
        let share = |group: usize| {
            let _task = region.task();
            self.share_group(group, &grouped)
        };
        let shared: Vec<Shared> = match parallel {
            true => (0..1 << GROUP_BITS).into_par_iter().map(share).collect(),
            false => (0..1 << GROUP_BITS).map(share).collect(),
        };
        drop(region);
        let mut sizes = Vec::with_capacity(shared.len());
        for group in shared {
            for (name, at) in group.places {
                self.pooled[name as usize].vector = at;
            }
            self.vectors.push(group.vectors);
            sizes.push(group.size);
        }
        sizes
    }

    fn share_group(&self, group: usize, grouped: &[Vec<Vec<(u32, u32)>>]) -> Shared {
        let mine =
            || grouped.iter().zip(0u32..).flat_map(|(shard, s)| shard[group].iter().map(move |n| (s, *n)));
        let count = mine().count();
        let mut shared = Shared { places: Vec::with_capacity(count), ..Shared::default() };
        // Open addressing: number of the vector + 1 and where it is, by hash.
        let mut table = vec![(0u32, 0u32, 0u32); (count * 2).next_power_of_two()];
        let mask = table.len() - 1;
        for (shard, (hash, index)) in mine() {
            let uses = self.uses(shard, index);
            let mut slot = hash as usize & mask;
            let at = loop {
                let (number, known, at) = table[slot];
                if number == 0 {
                    // Beyond 32 bits the pool is too large anyway.
                    let at = shared.size as u32;
                    shared.vectors.push((shard, index));
                    shared.size += 4 * (1 + uses.len() as u64);
                    table[slot] = (shared.vectors.len() as u32, hash, at);
                    break at;
                }
                let (s, i) = shared.vectors[number as usize - 1];
                if known == hash && self.uses(s, i) == uses {
                    break at;
                }
                slot = (slot + 1) & mask;
            };
            shared.places.push((self.first[shard as usize] + index, at));
        }
        shared
    }

    fn uses(&self, shard: u32, index: u32) -> &[Use] {
        let shard = &self.names[shard as usize];
        shard.uses(&shard.names[index as usize])
    }

    /// Gives everything its place. `vectors` are the bytes of each group of vectors.
    fn place(&mut self, vectors: Vec<u64>) -> Result<(), TooLarge> {
        let mut parts = Parts::default();
        parts.add(PartKind::Header, self.header_size());
        parts.add(PartKind::Units, 16 * self.lists.units.len() as u64);
        parts.add(PartKind::TypeUnits, 24 * self.lists.type_units.len() as u64);
        parts.add(PartKind::Ranges, 20 * self.lists.ranges.len() as u64);
        for first in (0..self.slots.len()).step_by(SLOTS) {
            parts.add(PartKind::Slots(first), 8 * (self.slots.len() - first).min(SLOTS) as u64);
        }
        if self.version >= 9 {
            parts.add(PartKind::Shortcut, 8);
        }
        let pool = parts.size;
        let mut bases = Vec::with_capacity(vectors.len());
        for (group, size) in vectors.into_iter().enumerate() {
            // What does not fit is refused below.
            bases.push((parts.size - pool) as u32);
            parts.add(PartKind::Vectors(group), size);
        }
        let mut pooled = self.pooled.iter_mut();
        for (number, shard) in self.names.iter().enumerate() {
            let mut at = parts.size - pool;
            for (name, pooled) in shard.names.iter().zip(pooled.by_ref()) {
                let group = (name.hash >> (64 - GROUP_BITS)) as usize;
                pooled.vector = pooled.vector.wrapping_add(bases[group]);
                pooled.name = at as u32;
                at += name.text.size() as u64 + 1;
            }
            parts.add(PartKind::Names(number), at - (parts.size - pool));
        }
        self.parts = parts;
        if self.parts.size > u64::from(u32::MAX) { Err(TooLarge) } else { Ok(()) }
    }

    fn header_size(&self) -> u64 {
        if self.version >= 9 { 28 } else { 24 }
    }

    /// Where the section may be cut.
    pub fn borders(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.list.iter().map(|part| part.start)
    }

    /// Writes what is in `out`, which begins at offset `start` of the section; both ends are [borders](Self::borders).
    /// `address` is that of an input section: in memory, or in its output section if that is outside.
    pub fn write(&self, start: u64, out: &mut [u8], address: &dyn Fn(u32) -> u64) {
        let first = self.parts.list.partition_point(|part| part.start < start);
        let mut rest = out;
        for part in &self.parts.list[first..] {
            if rest.is_empty() {
                return;
            }
            let (bytes, behind) = rest.split_at_mut(part.size as usize);
            self.write_part(part.kind, bytes, address);
            rest = behind;
        }
    }

    fn write_part(&self, kind: PartKind, bytes: &mut [u8], address: &dyn Fn(u32) -> u64) {
        let mut out = Out(bytes);
        let placed = |place: Pointer| address(place.section).wrapping_add(place.offset);
        match kind {
            PartKind::Header => self.write_header(&mut out),
            PartKind::Units => {
                for unit in &self.lists.units {
                    out.u64(placed(unit.place));
                    out.u64(unit.length);
                }
            }
            PartKind::TypeUnits => {
                for unit in &self.lists.type_units {
                    out.u64(placed(unit.place));
                    out.u64(unit.type_offset);
                    out.u64(unit.signature);
                }
            }
            PartKind::Ranges => {
                for range in &self.lists.ranges {
                    let start = placed(range.start);
                    out.u64(start);
                    out.u64(start.wrapping_add(range.length));
                    out.u32(range.unit);
                }
            }
            PartKind::Slots(first) => {
                for slot in &self.slots[first..(first + SLOTS).min(self.slots.len())] {
                    // A slot is empty if both words are 0, which no name's are: the vectors come first.
                    let number = slot.load(Ordering::Relaxed);
                    let pooled = self.pooled.get(number as usize).copied().unwrap_or_default();
                    out.u32(pooled.name);
                    out.u32(pooled.vector);
                }
            }
            // Nobody said which function is the main one.
            PartKind::Shortcut => out.u64(0),
            PartKind::Vectors(group) => {
                for &(shard, index) in &self.vectors[group] {
                    let uses = self.uses(shard, index);
                    out.u32(uses.len() as u32);
                    uses.iter().for_each(|&of| out.u32(of));
                }
            }
            PartKind::Names(shard) => {
                for name in &self.names[shard].names {
                    out.bytes(name.text.scope);
                    out.bytes(name.text.leaf);
                    out.bytes(b"\0");
                }
            }
        }
    }

    fn write_header(&self, out: &mut Out) {
        out.u32(self.version);
        let starts = |wanted: fn(PartKind) -> bool| {
            let part = self.parts.list.iter().find(|part| wanted(part.kind));
            part.map_or(self.parts.size, |part| part.start) as u32
        };
        out.u32(starts(|kind| matches!(kind, PartKind::Units)));
        out.u32(starts(|kind| matches!(kind, PartKind::TypeUnits)));
        out.u32(starts(|kind| matches!(kind, PartKind::Ranges)));
        out.u32(starts(|kind| matches!(kind, PartKind::Slots(_))));
        if self.version >= 9 {
            out.u32(starts(|kind| matches!(kind, PartKind::Shortcut)));
        }
        out.u32(starts(|kind| matches!(kind, PartKind::Vectors(_))));
    }
}

/// The parts of the section.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    /// Of all together.
    size: u64,
}

impl Parts {
    fn add(&mut self, kind: PartKind, size: u64) {
        self.list.push(Part { start: self.size, size, kind });
        self.size += size;
    }
}

/// Writes numbers one after the other.
struct Out<'o>(&'o mut [u8]);

impl Out<'_> {
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        let (here, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        here.copy_from_slice(bytes);
        self.0 = rest;
    }
    #[inline(always)]
    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }
    #[inline(always)]
    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }
}

/// What shares of a group of vectors.
#[derive(Default)]
struct Shared {
    vectors: Vec<(u32, u32)>,
    /// (name, where in the group its vector is).
    places: Vec<(u32, u32)>,
    size: u64,
}

/// Puts name number `name` into the table.
fn enter(slots: &[AtomicU32], hashes: &[u32], mut name: u32) {
    let mask = slots.len() - 1;
    let mut at = hashes[name as usize] as usize & mask;
    loop {
        let there = slots[at].load(Ordering::Relaxed);
        if there > name {
            let taken = slots[at].compare_exchange(there, name, Ordering::Relaxed, Ordering::Relaxed);
            match taken {
                Ok(EMPTY) => return,
                Ok(displaced) => name = displaced,
                Err(_) => continue,
            }
        }
        let step = (hashes[name as usize] as usize).wrapping_mul(17) & mask | 1;
        at = (at + step) & mask;
    }
}

#[cfg(test)]
mod tests;
