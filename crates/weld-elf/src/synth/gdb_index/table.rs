//! The index as it is in the file: sizes before layout, bytes after it, in parts.
//!
//! ```text
//!     header          offsets of what follows: version 7 has six words, 9 (for DWARF 5's type units) seven
//!     units           offset in .debug_info, length
//!     type units      offset, where in the unit the type is, signature
//!     addresses       start, end, unit
//!     symbols         a hash table: where in the pool the name is, and the vector of its uses
//!     shortcut        version 9 only: language and name of the main function; 0: not said
//!     pool            vectors (count, uses), then names with a NUL
//! ```
//!
//! Names that the same units use in the same way share a vector; in programs of many units that is most of
//! the index. The hash table is filled by all threads at once: a name takes any slot of its row that is empty
//! or has a name of a higher number, which then has to go on. What comes out is what one thread would make of
//! the names in order.
//!
//! All numbers are little-endian, whatever the machine. Source: GDB's manual, "Index Section Format".

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::hash_index::HashIndex;
use weld_common::prefetch::prefetch;
use weld_common::{par, trace};

use super::names::{Names, Shard, Texts, Use, Vector};
use crate::elf::Format;
use crate::synth::debug_info::dwarf::Pointer;
use crate::synth::parts::{Out, Parts};

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
    shards: Vec<Shard>,
    texts: Vec<Texts<'a>>,
    /// Numbers of names, by slot of the hash table.
    slots: Vec<AtomicU32>,
    /// For each name, where in the pool it and its vector are.
    pooled: Vec<Pooled>,
    /// For each group of vectors, those of shards that are there: (shard, vector).
    vectors: Vec<Vec<(u32, u32)>>,
    parts: Parts<PartKind>,
    version: u32,
}

#[derive(Clone, Copy, Default)]
struct Pooled {
    name: u32,
    vector: u32,
}

/// A part of the index that is written at once.
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
    /// Those of a window, from this one on.
    Names {
        window: u32,
        first: u32,
    },
}

/// Slots in a part.
const SLOTS: usize = 1 << 16;
/// No table has fewer slots. Powers of two, as GDB needs them.
const FEWEST_SLOTS: usize = 1024;
const EMPTY: u32 = u32::MAX;
/// Groups of vectors, by the upper bits of their hash.
const GROUP_BITS: u32 = 6;
/// How many names ahead slots are asked for.
const SLOT_AHEAD: usize = 16;
/// Names that a thread puts into the table in one go.
const NAMES: usize = 1 << 13;

/// The index would have more than four GiB of names and vectors.
#[derive(Debug)]
pub struct TooLarge;

impl<'a> Table<'a> {
    /// # Errors
    /// If offsets do not fit their 32 bits.
    pub fn new(lists: Lists, names: Names<'a>, parallel: bool) -> Result<Table<'a>, TooLarge> {
        let Names { shards, texts, starts } = names;
        let count = starts.len();
        if count >= EMPTY as usize {
            return Err(TooLarge);
        }
        let version = if lists.has_new_type_units { 9 } else { 7 };
        let mut table = Table {
            lists,
            shards,
            texts,
            slots: Vec::new(),
            pooled: Vec::new(),
            vectors: Vec::new(),
            parts: Parts::default(),
            version,
        };
        table.fill_slots(count, parallel);
        let shared = table.share_vectors(parallel);
        table.place(&starts, shared, parallel)?;
        Ok(table)
    }

    /// The size of the section, in bytes.
    pub fn size(&self) -> u64 {
        self.parts.size
    }

    fn fill_slots(&mut self, count: usize, parallel: bool) {
        let size = (count * 4 / 3 + 1).next_power_of_two().max(FEWEST_SLOTS);
        self.slots = (0..size).map(|_| AtomicU32::new(EMPTY)).collect();
        let mut hashes = vec![0; count];
        self.for_shards("hashes of the index", &mut hashes, parallel, |_, shard, hashes| {
            hashes.iter_mut().zip(&shard.names).for_each(|(hash, name)| *hash = name.gdb_hash);
        });
        let enter = |run: std::ops::Range<usize>| {
            for name in run {
                if let Some(&next) = hashes.get(name + SLOT_AHEAD) {
                    prefetch(&self.slots, next as usize & (size - 1));
                }
                enter(&self.slots, &hashes, name as u32);
            }
        };
        par::runs("slots of the index", parallel, count, NAMES, enter);
    }

    /// Calls `f` with each shard, its number, and that part of `items` (there is one for each name) that is
    /// its own.
    fn for_shards<T: Send>(
        &self,
        what: &'static str,
        items: &mut [T],
        parallel: bool,
        f: impl Fn(usize, &Shard, &mut [T]) + Sync,
    ) {
        let region = trace::region(what);
        let mut rest = items;
        let mut parts = Vec::with_capacity(self.shards.len());
        for shard in &self.shards {
            let (part, behind) = rest.split_at_mut(shard.names.len());
            parts.push(part);
            rest = behind;
        }
        par::each_mut(parallel, &mut parts, |number, part| {
            let _task = region.task();
            f(number, &self.shards[number], part);
        });
    }

    /// Finds which shards share a vector.
    fn share_vectors(&mut self, parallel: bool) -> Vec<Shared> {
        let mut groups = vec![Vec::new(); 1 << GROUP_BITS];
        for (shard, number) in self.shards.iter().zip(0..) {
            for (vector, index) in shard.vectors.iter().zip(0..) {
                groups[group(vector)].push((number, index));
            }
        }
        let region = trace::region("share vectors of the index");
        par::map(parallel, groups.len(), |i| {
            let _task = region.task();
            self.share_group(&groups[i])
        })
    }

    fn share_group(&self, group: &[(u32, u32)]) -> Shared {
        let mut shared = Shared::default();
        let mut index = HashIndex::default();
        for &(shard, number) in group {
            let (vector, uses) = self.uses(shard, number);
            let is = |known: usize| {
                let (shard, number, _) = shared.vectors[known];
                self.uses(shard, number).1 == uses
            };
            let known = index.find_or_add(vector.hash, shared.vectors.len(), is).unwrap_or_else(|new| {
                // Beyond 32 bits the pool is too large anyway.
                shared.vectors.push((shard, number, shared.size as u32));
                shared.size += 4 * (1 + uses.len() as u64);
                new
            });
            shared.places.push((shard, number, shared.vectors[known as usize].2));
        }
        shared
    }

    fn uses(&self, shard: u32, vector: u32) -> (&Vector, &[Use]) {
        let shard = &self.shards[shard as usize];
        let vector = &shard.vectors[vector as usize];
        (vector, shard.uses(vector))
    }

    /// Gives everything its place. `starts` are those of names within their windows.
    fn place(&mut self, starts: &[AtomicU32], shared: Vec<Shared>, parallel: bool) -> Result<(), TooLarge> {
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
        // What does not fit in 32 bits is refused below.
        let pool = parts.size;
        let mut vectors: Vec<Vec<u32>> =
            self.shards.iter().map(|shard| vec![0; shard.vectors.len()]).collect();
        for (group, shared) in shared.into_iter().enumerate() {
            let start = (parts.size - pool) as u32;
            for (shard, number, at) in shared.places {
                vectors[shard as usize][number as usize] = start.wrapping_add(at);
            }
            self.vectors.push(shared.vectors.iter().map(|&(shard, number, _)| (shard, number)).collect());
            parts.add(PartKind::Vectors(group), shared.size);
        }
        let mut windows = Vec::with_capacity(self.texts.len());
        for (window, texts) in self.texts.iter().enumerate() {
            windows.push((parts.size - pool) as u32);
            let ends = texts.cuts.iter().skip(1).map(|cut| cut.1).chain([texts.size]);
            for (&(first, start), end) in texts.cuts.iter().zip(ends) {
                parts.add(PartKind::Names { window: window as u32, first }, end - start);
            }
        }
        self.parts = parts;
        if self.parts.size > u64::from(u32::MAX) {
            return Err(TooLarge);
        }
        let mut pooled: Vec<Pooled> =
            starts.iter().map(|start| Pooled { name: start.load(Ordering::Relaxed), vector: 0 }).collect();
        self.for_shards("places of vectors of the index", &mut pooled, parallel, |number, shard, pooled| {
            for (pooled, name) in pooled.iter_mut().zip(&shard.names) {
                pooled.name += windows[name.window as usize];
                pooled.vector = vectors[number][name.vector as usize];
            }
        });
        self.pooled = pooled;
        Ok(())
    }

    fn header_size(&self) -> u64 {
        if self.version >= 9 { 28 } else { 24 }
    }

    /// Where the section may be cut.
    pub fn borders(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.borders()
    }

    /// Writes what is in `out`, which begins at offset `start` of the section; both ends are
    /// [borders](Self::borders). `address` is that of an input section: in memory, or in its output section
    /// if that is outside.
    pub fn write(&self, start: u64, out: &mut [u8], placed: &dyn Fn(Pointer) -> u64) {
        self.parts.write(start, out, |kind, bytes| self.write_part(kind, bytes, placed));
    }

    fn write_part(&self, kind: PartKind, bytes: &mut [u8], placed: &dyn Fn(Pointer) -> u64) {
        // The format is little endian on all machines.
        let mut out = Out { rest: bytes, format: Format::NATIVE };
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
                    let start = range.start;
                    out.u64(placed(start));
                    out.u64(placed(Pointer { offset: start.offset.wrapping_add(range.length), ..start }));
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
                    let (_, uses) = self.uses(shard, index);
                    out.u32(uses.len() as u32);
                    uses.iter().for_each(|&of| out.u32(of));
                }
            }
            PartKind::Names { window, first } => {
                for (scope, leaf) in self.texts[window as usize].names(first) {
                    if out.rest.is_empty() {
                        return;
                    }
                    out.bytes(scope);
                    out.bytes(leaf);
                    out.bytes(b"\0");
                }
            }
        }
    }

    fn write_header(&self, out: &mut Out) {
        out.u32(self.version);
        let starts = |wanted: fn(PartKind) -> bool| self.parts.start(wanted) as u32;
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

/// The group that a vector is in.
fn group(vector: &Vector) -> usize {
    (vector.hash >> (64 - GROUP_BITS)) as usize
}

/// A group of vectors.
#[derive(Default)]
struct Shared {
    /// Each once: that of a shard, and where in the group it is.
    vectors: Vec<(u32, u32, u32)>,
    /// The same for all.
    places: Vec<(u32, u32, u32)>,
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
