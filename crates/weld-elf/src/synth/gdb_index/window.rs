//! The names of up to 64 units that are read one after the other.
//!
//! Units that follow one another often have the same names, from the same headers. They are found here, while
//! both copies are in the cache, and each name leaves one key for all: which of the units have it is a word
//! with a bit for each. In a program of 5000 objects that is one key for three names and a half.
//!
//! Names of other windows are met in the shards ([`super::names`]); the keys of a window are in the order of
//! those, and within a shard in the order in which their names came.

use weld_common::hash::join;
use weld_common::hash_index::HashIndex;
use weld_common::prefetch::{prefetch, prefetch_all};

use super::gdb_hash::gdb_hash;
use super::names::Use;
use super::scopes::{Found, Leaf, Scopes};

/// Where the text of a name is.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// Start and length in [`Window::copied`] of what comes before the leaf.
    scope: (u32, u32),
    /// In a file, or in [`Window::copied`].
    leaf: Leaf<'a>,
}

impl<'a> Text<'a> {
    pub fn size(&self) -> usize {
        self.scope.1 as usize + self.leaf.size()
    }

    /// The scope, and what follows. `copied` is [`Window::copied`].
    #[inline(always)]
    pub fn parts<'x>(&self, copied: &'x [u8]) -> (&'x [u8], &'x [u8])
    where
        'a: 'x,
    {
        let (start, length) = self.scope;
        (&copied[start as usize..][..length as usize], self.leaf.bytes(copied))
    }
}

/// A name of a window, for its shard.
#[derive(Clone, Copy, Default)]
pub struct Key {
    /// The lower half of its hash.
    pub tag: u32,
    /// In [`Window::texts`].
    pub number: u32,
    /// In [`Window::sets`].
    pub set: u32,
    pub gdb_hash: u32,
}

/// Which units of a window have something of a name, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    pub units: u64,
    pub what: u8,
}

/// Units of a window.
const UNITS: usize = 64;
/// No unit adds to a window that has copied more. A unit alone copies no more than [`Scopes`] has room for,
/// twice.
const FULL: usize = 64 << 20;

/// What is known of a window when it is full.
pub struct Window<'a> {
    /// By bit of a set, in the order of their numbers or not.
    pub units: Box<[Use]>,
    /// Each once.
    pub sets: Box<[Set]>,
    /// In the order in which they came. A name that stands for several things may be there for each of them.
    pub texts: Box<[Text<'a>]>,
    /// Scopes, and leaves that are in no file.
    pub copied: Vec<u8>,
    /// By shard.
    keys: Box<[Key]>,
    /// Where the keys of each shard end.
    ends: Box<[u32]>,
}

impl Window<'_> {
    /// The keys of a shard.
    pub fn shard(&self, number: usize) -> &[Key] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start as usize..self.ends[number] as usize]
    }

    /// Name number `number`: its scope, and what follows.
    #[inline(always)]
    pub fn name(&self, number: u32) -> (&[u8], &[u8]) {
        self.texts[number as usize].parts(&self.copied)
    }
}

/// A name of the window that is being filled.
#[derive(Clone, Copy)]
struct Entry<'a> {
    hash: u64,
    text: Text<'a>,
    units: u64,
    gdb_hash: u32,
    what: u8,
}

/// Fills windows, one after the other.
#[derive(Default)]
pub struct Filler<'a> {
    /// Of `entries`.
    index: HashIndex,
    entries: Vec<Entry<'a>>,
    copied: Vec<u8>,
    /// Where in `copied` the scopes of the unit are whose names come now, and GDB's hashes of them.
    scopes: Vec<(u32, u32)>,
    units: Vec<Use>,
    /// Of the unit whose names come now.
    bit: usize,
    sets: Vec<Set>,
    set_index: HashIndex,
}

const NOT_COPIED: (u32, u32) = (u32::MAX, 0);

/// Names that are looked up together: what one needs is brought in while the others wait for theirs.
pub const BATCH: usize = 16;

impl<'a> Filler<'a> {
    /// Names that come from here on are those of unit number `unit`. Returns a window if it was full; there
    /// are 2^`shard_bits` shards.
    pub fn unit(&mut self, unit: Use, shard_bits: u32) -> Option<Window<'a>> {
        self.scopes.clear();
        if let Some(bit) = self.units.iter().rposition(|&known| known == unit) {
            self.bit = bit;
            return None;
        }
        let is_full = self.units.len() == UNITS || self.copied.len() > FULL;
        let full = if is_full { self.finish(shard_bits) } else { None };
        self.bit = self.units.len();
        self.units.push(unit);
        full
    }

    /// Adds names of the unit, whose scopes are `scopes`.
    pub fn add(&mut self, names: &[Found<'a>], scopes: &Scopes) {
        self.scopes.resize(scopes.count(), NOT_COPIED);
        for batch in names.chunks(BATCH) {
            for name in batch {
                self.index.prefetch(name.hash);
            }
            let mut likely = [usize::MAX; BATCH];
            for (name, likely) in batch.iter().zip(&mut likely) {
                *likely = self.index.likely(name.hash).map_or(usize::MAX, |entry| entry as usize);
                prefetch(&self.entries, *likely);
            }
            for entry in likely.iter().filter_map(|&likely| self.entries.get(likely)) {
                let (scope, leaf) = entry.text.parts(&self.copied);
                prefetch(scope, 0);
                prefetch_all(leaf);
            }
            for name in batch {
                let entry = self.entry(name, scopes);
                self.entries[entry as usize].units |= 1 << self.bit;
            }
        }
    }

    #[inline]
    fn entry(&mut self, name: &Found<'a>, scopes: &Scopes) -> u32 {
        let (scope, leaf) = (scopes.get(name.scope), name.leaf.bytes(&scopes.text));
        let is = |entry: usize| {
            let entry = &self.entries[entry];
            entry.what == name.what && is_same(entry.text.parts(&self.copied), (scope, leaf))
        };
        self.index.find_or_add(name.hash, self.entries.len(), is).unwrap_or_else(|entry| {
            let (start, gdb_hash_of_scope) = self.scope(name.scope, scope);
            let text = Text { scope: (start, scope.len() as u32), leaf: self.leaf(name.leaf, leaf) };
            let gdb_hash = gdb_hash(gdb_hash_of_scope, leaf);
            self.entries.push(Entry { hash: name.hash, text, units: 0, gdb_hash, what: name.what });
            entry
        })
    }

    /// Copies a scope, once. Where it is, and GDB's hash of it.
    fn scope(&mut self, number: u32, text: &[u8]) -> (u32, u32) {
        if text.is_empty() {
            return (0, 0);
        }
        let known = &mut self.scopes[number as usize];
        if *known == NOT_COPIED {
            *known = (self.copied.len() as u32, gdb_hash(0, text));
            self.copied.extend_from_slice(text);
        }
        *known
    }

    fn leaf(&mut self, leaf: Leaf<'a>, text: &[u8]) -> Leaf<'a> {
        if let Leaf::InFile(_) = leaf {
            return leaf;
        }
        let start = self.copied.len() as u32;
        self.copied.extend_from_slice(text);
        Leaf::Copied(start, text.len() as u32)
    }

    /// Ends the window; `None` if it has no names.
    pub fn finish(&mut self, shard_bits: u32) -> Option<Window<'a>> {
        let units = std::mem::take(&mut self.units).into();
        if self.entries.is_empty() {
            return None;
        }
        let shard = |entry: &Entry| (entry.hash >> 32 >> (32 - shard_bits)) as usize;
        let mut ends = vec![0u32; 1 << shard_bits].into_boxed_slice();
        self.entries.iter().for_each(|entry| ends[shard(entry)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            let start = sum;
            sum += *end;
            *end = start;
        }
        let mut keys = vec![Key::default(); self.entries.len()].into_boxed_slice();
        for (entry, number) in self.entries.iter().zip(0..) {
            let set = Set { units: entry.units, what: entry.what };
            let set = intern(&mut self.sets, &mut self.set_index, set);
            let place = &mut ends[shard(entry)];
            keys[*place as usize] = Key { tag: entry.hash as u32, number, set, gdb_hash: entry.gdb_hash };
            *place += 1;
        }
        let texts = self.entries.iter().map(|entry| entry.text).collect();
        self.index.clear(self.entries.iter().map(|entry| entry.hash));
        self.entries.clear();
        self.set_index.clear(self.sets.iter().map(hash_of_set));
        let sets = self.sets.as_slice().into();
        self.sets.clear();
        let copied = std::mem::take(&mut self.copied);
        Some(Window { units, sets, texts, copied, keys, ends })
    }
}

/// Whether two names are the same, wherever they are divided.
#[inline]
pub fn is_same(one: (&[u8], &[u8]), other: (&[u8], &[u8])) -> bool {
    if one.0.len() == other.0.len() {
        return one.1 == other.1 && (one.0.is_empty() || one.0 == other.0);
    }
    let size = |name: (&[u8], &[u8])| name.0.len() + name.1.len();
    size(one) == size(other) && one.0.iter().chain(one.1).eq(other.0.iter().chain(other.1))
}

fn hash_of_set(set: &Set) -> u64 {
    join(set.units, u64::from(set.what))
}

fn intern(sets: &mut Vec<Set>, index: &mut HashIndex, set: Set) -> u32 {
    let found = index.find_or_add(hash_of_set(&set), sets.len(), |known| sets[known] == set);
    found.unwrap_or_else(|number| {
        sets.push(set);
        number
    })
}
