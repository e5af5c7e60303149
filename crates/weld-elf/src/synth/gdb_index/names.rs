//! The names of the index, each once, and the units that have something of that name.
//!
//! Like the table of symbols ([`crate::names`]): who reads an object puts a [`Record`] for each name into
//! the bin of its hash; then each bin (shard) is entered by one thread, object after object, into a table that fits
//! the cache. No locks, and what comes out depends on the objects only. Names stay where they are; of those from entries
//! of the debug information the scope is apart from the rest, and the hash is that of both together.
//!
//! Objects are read in rounds, so that there are never many records: of each only eight bytes stay.

use std::cmp::Ordering;

use weld_common::hash_index::HashIndex;
use weld_common::prefetch::prefetch;
use weld_common::trace;

/// What a name stands for: the upper byte of a use.
pub mod what {
    pub const TYPE: u8 = 1 << 4;
    pub const VARIABLE: u8 = 2 << 4;
    pub const FUNCTION: u8 = 3 << 4;
    pub const OTHER: u8 = 4 << 4;
    /// It is not known outside its unit.
    pub const STATIC: u8 = 1 << 7;
}

/// A unit that has something of a name: the unit's number in the lower 24 bits, what it is in the upper 8.
pub type Use = u32;

/// Units have numbers below this one.
pub const MOST_UNITS: usize = 1 << 24;
/// The number is among type units, which are numbered behind all others in the end. No bit of [`what`].
pub const IN_TYPE_UNIT: Use = 1 << 24;

/// A name: its scope and what follows.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub scope: &'a [u8],
    pub leaf: &'a [u8],
}

impl Text<'_> {
    pub fn size(&self) -> usize {
        self.scope.len() + self.leaf.len()
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.scope.iter().chain(self.leaf).copied()
    }

    /// Whether it is the same, wherever it is divided.
    #[inline]
    fn is(&self, other: &Text) -> bool {
        match self.scope.len().cmp(&other.scope.len()) {
            Ordering::Equal => self.leaf == other.leaf && self.scope == other.scope,
            _ => self.size() == other.size() && self.bytes().eq(other.bytes()),
        }
    }

    /// The hash that GDB looks the name up by.
    pub fn gdb_hash(&self) -> u32 {
        gdb_hash(gdb_hash(0, self.scope), self.leaf)
    }
}

/// 67 to the power of 0 to 8, modulo 2^32.
const POWERS: [u32; 9] = {
    let mut powers = [1u32; 9];
    let mut i = 1;
    while i < 9 {
        powers[i] = powers[i - 1].wrapping_mul(67);
        i += 1;
    }
    powers
};

/// What 113 a byte adds up to in eight bytes.
const EIGHT: u32 = {
    let (mut sum, mut i) = (0u32, 0);
    while i < 8 {
        sum = sum.wrapping_add(POWERS[i].wrapping_mul(113));
        i += 1;
    }
    sum
};

/// GDB's hash of a string that begins with what `hash` is of: for each byte `hash * 67 + byte - 113`, with letters of the
/// ASCII alphabet alike in both cases. Names are long and there are many, so eight bytes are added in one go.
fn gdb_hash(hash: u32, bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<8>();
    let hash = blocks.iter().fold(hash, |hash, block| {
        let block = lower_case(u64::from_le_bytes(*block)).to_le_bytes();
        let terms = block.iter().zip(POWERS[..8].iter().rev());
        let sum =
            terms.fold(0u32, |sum, (&byte, &power)| sum.wrapping_add(u32::from(byte).wrapping_mul(power)));
        hash.wrapping_mul(POWERS[8]).wrapping_add(sum).wrapping_sub(EIGHT)
    });
    rest.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(67).wrapping_add(u32::from(byte.to_ascii_lowercase())).wrapping_sub(113)
    })
}

/// Eight bytes with capital ASCII letters made small.
fn lower_case(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = bytes & (0x7f * ONES);
    // The upper bit of each byte: from `A` on; behind `Z`.
    let from_a = low + (0x80 - b'A' as u64) * ONES;
    let behind_z = low + (0x7f - b'Z' as u64) * ONES;
    let is_capital = (from_a ^ behind_z) & !bytes & (0x80 * ONES);
    bytes | is_capital >> 2
}

/// A name that an object's unit has.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub hash: u64,
    pub text: Text<'a>,
    /// With the unit's number among those of its bins.
    pub of: Use,
}

/// Records of a run of objects, by shard.
pub struct Bins<'a> {
    shift: u32,
    bins: Vec<Vec<Record<'a>>>,
}

impl<'a> Bins<'a> {
    pub fn new(shard_bits: u32) -> Bins<'a> {
        Bins { shift: 64 - shard_bits, bins: (0..1 << shard_bits).map(|_| Vec::new()).collect() }
    }

    #[inline(always)]
    pub fn push(&mut self, record: Record<'a>) {
        let shard = record.hash.checked_shr(self.shift).unwrap_or(0) as usize;
        self.bins[shard].push(record);
    }

    pub fn clear(&mut self) {
        self.bins.iter_mut().for_each(Vec::clear);
    }
}

/// The numbers of the first units of some bins: of ordinary ones and of type units.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    pub unit: u32,
    pub type_unit: u32,
}

struct Entry<'a> {
    text: Text<'a>,
    /// The use that came last, for those that say the same again.
    last: Use,
    /// How many there are.
    uses: u32,
    gdb_hash: u32,
}

#[derive(Default)]
struct Shard<'a> {
    index: HashIndex,
    entries: Vec<Entry<'a>>,
    /// (entry, use) in the order of objects.
    uses: Vec<(u32, Use)>,
}

/// All names.
pub struct Names<'a> {
    shards: Vec<Shard<'a>>,
}

/// How many records ahead slots of the table are asked for, and names that will be compared.
const SLOT_AHEAD: usize = 12;
const NAME_AHEAD: usize = 5;

impl<'a> Names<'a> {
    /// `shard_bits` must depend on the inputs only.
    pub fn new(shard_bits: u32) -> Names<'a> {
        Names { shards: (0..1 << shard_bits).map(|_| Shard::default()).collect() }
    }

    /// Enters records of runs of objects, in their order.
    pub fn enter(&mut self, runs: &[(First, Bins<'a>)], parallel: bool) {
        use rayon::prelude::*;
        let region = trace::region("enter names of the index");
        let one = |(number, shard): (usize, &mut Shard<'a>)| {
            let _task = region.task();
            runs.iter().for_each(|(first, bins)| shard.enter(*first, &bins.bins[number]));
        };
        if parallel && self.shards.len() > 1 {
            self.shards.par_iter_mut().enumerate().for_each(one);
        } else {
            self.shards.iter_mut().enumerate().for_each(one);
        }
    }

    /// The names with their uses, when there are `units` ordinary units in all.
    pub fn finish(self, units: u32, parallel: bool) -> Vec<Finished<'a>> {
        use rayon::prelude::*;
        let region = trace::region("uses of names of the index");
        let one = |shard: Shard<'a>| {
            let _task = region.task();
            shard.finish(units)
        };
        match parallel {
            true => self.shards.into_par_iter().map(one).collect(),
            false => self.shards.into_iter().map(one).collect(),
        }
    }
}

impl<'a> Shard<'a> {
    fn enter(&mut self, first: First, records: &[Record<'a>]) {
        for (i, record) in records.iter().enumerate() {
            if let Some(next) = records.get(i + SLOT_AHEAD) {
                self.index.prefetch(next.hash);
            }
            if let Some(next) = records.get(i + NAME_AHEAD) {
                self.prefetch_name(next);
            }
            let number = record.of & (IN_TYPE_UNIT - 1);
            let first = if record.of & IN_TYPE_UNIT == 0 { first.unit } else { first.type_unit };
            let of = record.of - number + ((number + first) & (IN_TYPE_UNIT - 1));
            let index = self.find_or_insert(record);
            let entry = &mut self.entries[index as usize];
            if entry.uses == 0 || entry.last != of {
                entry.last = of;
                entry.uses += 1;
                self.uses.push((index, of));
            }
        }
    }

    /// Asks for the text of the name that is most likely the record's; its slot should be near.
    #[inline(always)]
    fn prefetch_name(&self, record: &Record) {
        let Some(index) = self.index.likely(record.hash) else { return };
        let known = self.entries[index as usize].text.leaf;
        for line in [0, 64, 128] {
            prefetch(known, line);
            prefetch(record.text.leaf, line);
        }
    }

    #[inline]
    fn find_or_insert(&mut self, record: &Record<'a>) -> u32 {
        let is = |index: usize| self.entries[index].text.is(&record.text);
        self.index.find_or_add(record.hash, self.entries.len(), is).unwrap_or_else(|index| {
            let text = record.text;
            self.entries.push(Entry { text, last: 0, uses: 0, gdb_hash: text.gdb_hash() });
            index
        })
    }

    /// Puts the uses of each name together, each once and in ascending order.
    fn finish(self, units: u32) -> Finished<'a> {
        let mut ends = Vec::with_capacity(self.entries.len());
        let mut end = 0u32;
        for entry in &self.entries {
            ends.push(end);
            end += entry.uses;
        }
        let mut uses = vec![0; self.uses.len()];
        for &(index, of) in &self.uses {
            let next = &mut ends[index as usize];
            // Type units are numbered behind the others.
            uses[*next as usize] = match of & IN_TYPE_UNIT {
                0 => of,
                _ => {
                    (of & !IN_TYPE_UNIT & !(IN_TYPE_UNIT - 1))
                        | ((of & (IN_TYPE_UNIT - 1)) + units) & (IN_TYPE_UNIT - 1)
                }
            };
            *next += 1;
        }
        let mut start = 0;
        let mut names = Vec::with_capacity(self.entries.len());
        for (entry, end) in self.entries.iter().zip(ends) {
            let mine = &mut uses[start as usize..end as usize];
            let mut count = mine.len();
            if !mine.is_sorted_by(|a, b| a < b) {
                mine.sort_unstable();
                count = 1;
                for i in 1..mine.len() {
                    if mine[i] != mine[count - 1] {
                        mine[count] = mine[i];
                        count += 1;
                    }
                }
            }
            let hash = hash_uses(&mine[..count]);
            let text = entry.text;
            names.push(Name { text, gdb_hash: entry.gdb_hash, first: start, count: count as u32, hash });
            start = end;
        }
        Finished { names, uses }
    }
}

/// A name and its uses.
pub struct Name<'a> {
    pub text: Text<'a>,
    pub gdb_hash: u32,
    /// Where in [`Finished::uses`] its uses are.
    first: u32,
    count: u32,
    /// Of the uses.
    pub hash: u64,
}

/// The names of a shard.
pub struct Finished<'a> {
    pub names: Vec<Name<'a>>,
    uses: Vec<Use>,
}

impl Finished<'_> {
    /// The uses of a name of this shard: ascending, each once.
    pub fn uses(&self, name: &Name) -> &[Use] {
        &self.uses[name.first as usize..][..name.count as usize]
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
