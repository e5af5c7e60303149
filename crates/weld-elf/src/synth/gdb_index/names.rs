//! The names of the index, each once, and the units that have something of that name.
//!
//! Like the table of symbols ([`weld_common::symbol_names`]): those who read objects leave
//! [keys](super::window::Key) of names, in the order of shards, which are by hash. Then each shard is made by
//! one thread, window after window, in a table that fits the cache. No locks, and what comes out depends on
//! the objects only.
//!
//! Names stay where they are: only those that may have come before are looked at. A name belongs to the
//! window in which it came first, and that is where it is written: in a row, as it was read. Which units have
//! a name is a [chain](super::chains) of sets first, a list in the end.

use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::hash_index::HashIndex;
use weld_common::prefetch::{prefetch, prefetch_all};
use weld_common::{items, zeroed};

use super::chains::{self, Chains, Item};
use super::window::{Key, Text, Window, is_same};

/// What a name stands for: the upper byte of a use.
pub mod what {
    pub const TYPE: u8 = 1 << 4;
    pub const VARIABLE: u8 = 2 << 4;
    pub const FUNCTION: u8 = 3 << 4;
    pub const OTHER: u8 = 4 << 4;
    /// It is not known outside its unit.
    pub const STATIC: u8 = 1 << 7;
    /// The bits that say something.
    pub const ALL: u8 = 0xf0;
}

/// A unit that has something of a name: the unit's number in the lower 24 bits, what it is in the upper 8.
pub type Use = u32;

/// Units have numbers below this one.
pub const MOST_UNITS: usize = 1 << 24;
/// The number is among type units, which are numbered after all others in the end. No bit of [`what`].
pub const IN_TYPE_UNIT: Use = 1 << 24;

/// The numbers of the first units of a run of objects: of ordinary ones and of type units.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    pub unit: u32,
    pub type_unit: u32,
}

/// What a run of objects left.
pub struct Run<'a> {
    /// Type units are numbered after all others.
    pub first: First,
    pub windows: Vec<Window<'a>>,
}

impl First {
    /// Adds the uses of a set of `window`.
    fn uses(self, window: &Window, set: u32, out: &mut Vec<Use>) {
        let set = window.sets[set as usize];
        let mut units = set.units;
        while units != 0 {
            let unit = window.units[units.trailing_zeros() as usize];
            units &= units - 1;
            let first = if unit & IN_TYPE_UNIT == 0 { self.unit } else { self.type_unit };
            let number = (unit & (IN_TYPE_UNIT - 1)).wrapping_add(first) & (IN_TYPE_UNIT - 1);
            out.push(u32::from(set.what) << 24 | number);
        }
    }
}

/// A name of a shard.
#[derive(Clone, Copy)]
pub struct Name {
    /// The window in which it came first, and its number there.
    pub window: u32,
    number: u32,
    pub gdb_hash: u32,
    /// In [`Shard::vectors`]. While names come: in [`Chains`].
    pub vector: u32,
}

/// Uses that a name or several have.
#[derive(Clone, Copy)]
pub struct Vector {
    /// Where in [`Shard::uses`] they are.
    first: u32,
    count: u32,
    /// Of the uses; the upper bits are as good as any.
    pub hash: u64,
}

/// The names of a shard.
#[derive(Default)]
pub struct Shard {
    pub names: Vec<Name>,
    /// For each window, where its names end.
    ends: Vec<u32>,
    /// Each once, in the order of the first name of each.
    pub vectors: Vec<Vector>,
    uses: Vec<Use>,
}

impl Shard {
    /// Ascending, each once.
    pub fn uses(&self, vector: &Vector) -> &[Use] {
        &self.uses[vector.first as usize..][..vector.count as usize]
    }

    /// The names of a window, and the number of the first.
    fn of_window(&self, window: usize) -> (usize, &[Name]) {
        let start = window.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        (start, &self.names[start..self.ends[window] as usize])
    }
}

/// The texts of the names that belong to a window.
pub struct Texts<'a> {
    list: Vec<Text<'a>>,
    copied: Vec<u8>,
    /// Bytes of them all, with a NUL after each.
    pub size: u64,
    /// Where they may be cut: the number of a text, and where it begins.
    pub cuts: Vec<(u32, u64)>,
}

impl Texts<'_> {
    /// The names from a cut on: scopes and leaves.
    pub fn names(&self, cut: u32) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.list[cut as usize..].iter().map(|text| text.parts(&self.copied))
    }
}

/// All names.
pub struct Names<'a> {
    pub shards: Vec<Shard>,
    /// By window.
    pub texts: Vec<Texts<'a>>,
    /// For each name of each shard, where it begins among those of its window.
    pub starts: Vec<AtomicU32>,
}

/// All names of `runs`, in 2^`shard_bits` shards, which must depend on the inputs only.
pub fn put_together<'a>(runs: Vec<Run<'a>>, shard_bits: u32, threads: usize) -> Names<'a> {
    let windows: Vec<(First, Window)> = runs
        .into_iter()
        .flat_map(|run| run.windows.into_iter().map(move |window| (run.first, window)))
        .collect();
    let one = |tables: &mut Tables, number| {
        let mut builder = Builder { tables, shard: Shard::default() };
        builder.enter(&windows, number);
        builder.finish(&windows)
    };
    let numbers = (0..1 << shard_bits).collect();
    let shards: Vec<Shard> = items::run("enter names of the index", threads, numbers, one);
    let count = shards.iter().map(|shard| shard.names.len()).sum();
    let starts = zeroed::sparse(count);
    let one = |owners: &mut Vec<u32>, (number, (_, window)): (usize, (First, Window<'a>))| {
        texts(number, window, &shards, &starts, owners)
    };
    let windows = windows.into_iter().enumerate().collect();
    let texts = items::run("places of names of the index", threads, windows, one);
    Names { shards, texts, starts }
}

/// Nobody, among owners.
const NOBODY: u32 = u32::MAX;
/// Names between two cuts.
const CUT: usize = 1 << 11;

/// Puts the names that belong to window number `number` in a row, in the order in which they came.
fn texts<'a>(
    number: usize,
    window: Window<'a>,
    shards: &[Shard],
    starts: &[AtomicU32],
    owners: &mut Vec<u32>,
) -> Texts<'a> {
    owners.clear();
    owners.resize(window.texts.len(), NOBODY);
    let (mut first, mut count) = (0, 0);
    for shard in shards {
        let (before, names) = shard.of_window(number);
        for (name, global) in names.iter().zip(first + before..) {
            owners[name.number as usize] = global as u32;
        }
        count += names.len();
        first += shard.names.len();
    }
    let mut texts =
        Texts { list: Vec::with_capacity(count), copied: window.copied, size: 0, cuts: Vec::new() };
    for (text, &owner) in window.texts.iter().zip(&*owners).filter(|(_, owner)| **owner != NOBODY) {
        if texts.list.len().is_multiple_of(CUT) {
            texts.cuts.push((texts.list.len() as u32, texts.size));
        }
        // What is beyond 32 bits is refused in the end.
        starts[owner as usize].store(texts.size as u32, Ordering::Relaxed);
        texts.list.push(*text);
        texts.size += text.size() as u64 + 1;
    }
    texts
}

/// What a thread uses again for its next shard.
#[derive(Default)]
struct Tables {
    /// Of the shard's names.
    index: HashIndex,
    tags: Vec<u32>,
    chains: Chains,
    items: Vec<Item>,
    /// By chain: the vector, counted from 1.
    vectors: Vec<u32>,
    uses: Vec<Use>,
}

struct Builder<'b> {
    tables: &'b mut Tables,
    shard: Shard,
}

/// Keys that are looked up together: what one needs is brought in while the others wait for theirs.
const BATCH: usize = 16;

impl Builder<'_> {
    fn enter(&mut self, windows: &[(First, Window)], shard: usize) {
        for (number, (_, window)) in windows.iter().enumerate() {
            for batch in window.shard(shard).chunks(BATCH) {
                self.prefetch(windows, window, batch);
                for key in batch {
                    let name = self.name(windows, number as u32, key);
                    let name = &mut self.shard.names[name as usize];
                    name.vector = self.tables.chains.next(name.vector, (number as u32, key.set));
                }
            }
            self.shard.ends.push(self.shard.names.len() as u32);
        }
    }

    /// Asks for all that will be looked at, step by step.
    fn prefetch(&self, windows: &[(First, Window)], window: &Window, batch: &[Key]) {
        for key in batch {
            self.tables.index.prefetch(u64::from(key.tag));
        }
        let mut likely = [None; BATCH];
        for (key, likely) in batch.iter().zip(&mut likely) {
            *likely = self.tables.index.likely(u64::from(key.tag));
            if let Some(name) = *likely {
                prefetch(&self.shard.names, name as usize);
                prefetch(&window.texts, key.number as usize);
            }
        }
        let known = |name: Option<u32>| {
            let name = self.shard.names.get(name? as usize)?;
            Some((&windows[name.window as usize].1, name.number))
        };
        for (known, number) in likely.iter().filter_map(|name| known(*name)) {
            prefetch(&known.texts, number as usize);
        }
        for (key, likely) in batch.iter().zip(&likely) {
            let Some((known, number)) = known(*likely) else { continue };
            for (scope, leaf) in [window.name(key.number), known.name(number)] {
                prefetch_all(scope);
                prefetch_all(leaf);
            }
        }
    }

    /// The number of the key's name.
    #[inline]
    fn name(&mut self, windows: &[(First, Window)], window: u32, key: &Key) -> u32 {
        let names = &mut self.shard.names;
        let is = |known: usize| {
            let known: &Name = &names[known];
            let known = windows[known.window as usize].1.name(known.number);
            is_same(known, windows[window as usize].1.name(key.number))
        };
        self.tables.index.find_or_add(u64::from(key.tag), names.len(), is).unwrap_or_else(|new| {
            let Key { number, gdb_hash, tag, .. } = *key;
            names.push(Name { window, number, gdb_hash, vector: chains::NONE });
            self.tables.tags.push(tag);
            new
        })
    }

    /// Makes vectors of chains.
    fn finish(mut self, windows: &[(First, Window)]) -> Shard {
        let Tables { chains, items, vectors, uses, .. } = &mut *self.tables;
        let shard = &mut self.shard;
        vectors.clear();
        vectors.resize(chains.count(), 0);
        for name in &mut shard.names {
            let vector = &mut vectors[name.vector as usize];
            if *vector == 0 {
                uses.clear();
                items.clear();
                items.extend(chains.items(name.vector));
                for &(window, set) in items.iter().rev() {
                    let (first, window) = &windows[window as usize];
                    first.uses(window, set, uses);
                }
                if !uses.is_sorted_by(|one, next| one < next) {
                    uses.sort_unstable();
                    uses.dedup();
                }
                let (first, count) = (shard.uses.len() as u32, uses.len() as u32);
                shard.vectors.push(Vector { first, count, hash: hash_uses(uses) });
                shard.uses.extend_from_slice(uses);
                *vector = shard.vectors.len() as u32;
            }
            name.vector = *vector - 1;
        }
        self.tables.chains.clear();
        self.tables.index.clear(self.tables.tags.iter().map(|&tag| u64::from(tag)));
        self.tables.tags.clear();
        self.shard
    }
}

/// A hash of uses, the upper bits of which are as good as any.
fn hash_uses(uses: &[Use]) -> u64 {
    const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = KEY ^ uses.len() as u64;
    let (pairs, rest) = uses.as_chunks::<2>();
    for pair in pairs {
        hash = (hash ^ (u64::from(pair[0]) << 32 | u64::from(pair[1]))).wrapping_mul(KEY).rotate_left(29);
    }
    for &last in rest {
        hash = (hash ^ u64::from(last)).wrapping_mul(KEY).rotate_left(29);
    }
    hash.wrapping_mul(KEY)
}
