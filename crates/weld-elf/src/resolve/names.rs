//! The table of global names, and in it the best definition of each.
//!
//! Files announce their global symbols as [`Record`]s, hashed once where the end of the name was
//! found. Records are binned by the high bits of the hash; each bin (shard) is then processed by
//! one thread, in file order, against a table small enough for the L2 cache. No locks, no atomics
//! but the write-back of the id to the file's symbol, and one visit a record: the same visit
//! interns the name, merges reference flags and visibility, and takes the minimum of the packed
//! priority word
//!
//! ```text
//!     rank (4 bits) | file (28 bits) | symbol index (32 bits)
//! ```
//!
//! so that the winner depends on command-line order only. Ids interleave the shards
//! (`id = index in shard << SHARD_BITS | shard`), which makes them dense and independent of the
//! number of threads.

use weld_common::hash::hash_bytes;
use weld_common::prefetch::prefetch;
use weld_common::{trace, zeroed};

use crate::ids::*;

/// How strong a definition is; lower wins. The low bits of a record's flag word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Rank {
    /// Made by the linker or by `--defsym`.
    Internal = 0,
    Strong = 1,
    Common = 2,
    Weak = 3,
    /// By a shared object, or by an archive member that has not been read.
    Provided = 4,
    Undefined = 7,
}

impl Rank {
    pub fn of(bits: u32) -> Rank {
        match bits & 7 {
            0 => Rank::Internal,
            1 => Rank::Strong,
            2 => Rank::Common,
            3 => Rank::Weak,
            4 => Rank::Provided,
            _ => Rank::Undefined,
        }
    }
}

/// Bits of a record above its rank, or-ed into the name's entry.
pub mod flag {
    /// An object refers to it, not weakly.
    pub const REF_STRONG: u32 = 1 << 3;
    pub const REF_WEAK: u32 = 1 << 4;
    /// A shared object refers to it.
    pub const REF_SHARED: u32 = 1 << 5;
    pub const REF_SHARED_WEAK: u32 = 1 << 6;
    /// A shared object defines it.
    pub const DEF_SHARED: u32 = 1 << 7;
    pub const VIS_HIDDEN: u32 = 1 << 8;
    pub const VIS_PROTECTED: u32 = 1 << 9;
    pub const VIS_INTERNAL: u32 = 1 << 10;
    /// Not of default visibility: only this output can define it.
    pub const INSIDE: u32 = VIS_HIDDEN | VIS_PROTECTED | VIS_INTERNAL;
    /// Some definition or reference spells a version (`foo@V`, `foo@@V`).
    pub const HAS_VERSION: u32 = 1 << 11;
    /// `-u`, `--entry`, `--require-defined`, …: keep the definition.
    pub const ROOT: u32 = 1 << 12;
    /// As `ROOT`, but not a reason to read an archive member (`DT_INIT`, `DT_FINI`).
    pub const KEEP: u32 = 1 << 13;
    /// A lazy file would define it: an archive member, or an object of `--start-lib`.
    pub const OFFERED: u32 = 1 << 14;
    /// A version that the output defines, as a symbol.
    pub const IS_VERSION: u32 = 1 << 15;
    /// Not a symbol: the signature of section group number `sym` of the file.
    pub const GROUP_RECORD: u32 = 1 << 30;
    /// Seen as wanted and provided; internal to the table.
    pub(super) const WANTED: u32 = 1 << 31;
}

/// How many records ahead slots of the table are asked for, and names that will be compared.
const SLOT_AHEAD: usize = 12;
const NAME_AHEAD: usize = 5;

/// One announcement of a name by a file.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    hash: u64,
    name: &'a [u8],
    file: u32,
    sym: u32,
    bits: u32,
}

impl<'a> Record<'a> {
    #[inline(always)]
    pub fn new(hash: u64, name: &'a [u8], file: FileId, sym: u32, bits: u32) -> Self {
        Record { hash, name, file: file.0, sym, bits }
    }
}

/// Records of a run of files, by shard.
pub struct Bins<'a> {
    shift: u32,
    bins: Vec<Vec<Record<'a>>>,
}

/// Empty bins whose memory is used again.
#[derive(Default)]
pub struct BinPool<'a>(std::sync::Mutex<Vec<Bins<'a>>>);

impl<'a> BinPool<'a> {
    pub fn take(&self, shard_bits: u32) -> Bins<'a> {
        let recycled = self.0.lock().ok().and_then(|mut pool| pool.pop());
        recycled.unwrap_or_else(|| Bins::new(shard_bits))
    }

    pub fn give_back(&self, all: Vec<Bins<'a>>) {
        if let Ok(mut pool) = self.0.lock() {
            pool.extend(all.into_iter().map(|mut bins| {
                bins.bins.iter_mut().for_each(Vec::clear);
                bins
            }));
        }
    }
}

impl<'a> Bins<'a> {
    pub fn new(shard_bits: u32) -> Self {
        Bins { shift: 64 - shard_bits, bins: (0..1 << shard_bits).map(|_| Vec::new()).collect() }
    }

    #[inline(always)]
    pub fn push(&mut self, record: Record<'a>) {
        let shard = record.hash.checked_shr(self.shift).unwrap_or(0) as usize;
        self.bins[shard].push(record);
    }
}

/// A name and what is known of it.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub name: &'a [u8],
    /// Packed priority word of the best definition; `u64::MAX` if there is none.
    pub best: u64,
    pub flags: u32,
}

impl Entry<'_> {
    pub fn rank(&self) -> Rank {
        Rank::of((self.best >> 60) as u32)
    }
    pub fn file(&self) -> FileId {
        FileId((self.best >> 32) as u32 & MAX_FILES)
    }
    pub fn sym(&self) -> u32 {
        self.best as u32
    }
}

/// File ids have 28 bits.
pub const MAX_FILES: u32 = (1 << 28) - 1;

pub fn pack(rank: Rank, file: FileId, sym: u32) -> u64 {
    (rank as u64) << 60 | (file.0 as u64) << 32 | sym as u64
}

/// A definition that lost against another of the same rank where that may be an error, or that
/// has to be merged with it.
#[derive(Clone, Copy, Debug)]
pub struct Rival {
    pub id: SymbolId,
    pub file: FileId,
    pub sym: u32,
}

#[derive(Default)]
struct Shard<'a> {
    /// Open addressing: tag (high 32) | entry index + 1 (low 32); 0 is empty.
    table: Vec<u64>,
    entries: Vec<Entry<'a>>,
    duplicates: Vec<Rival>,
    commons: Vec<Rival>,
    /// Entries that became wanted and provided since the last [`Names::wanted`].
    touched: Vec<u32>,
}

impl<'a> Shard<'a> {
    /// The index of `name`'s entry, made if missing.
    #[inline]
    fn find_or_insert(&mut self, hash: u64, name: &'a [u8]) -> u32 {
        if (self.entries.len() + 1) * 2 > self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let tag = hash << 32;
        let mut slot = hash as u32 as usize & mask;
        loop {
            let word = self.table[slot];
            if word == 0 {
                let index = self.entries.len() as u32;
                self.entries.push(Entry { name, best: u64::MAX, flags: 0 });
                self.table[slot] = tag | (index as u64 + 1);
                return index;
            }
            if word & 0xffff_ffff_0000_0000 == tag {
                let index = word as u32 - 1;
                if self.entries[index as usize].name == name {
                    return index;
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    fn find(&self, hash: u64, name: &[u8]) -> Option<u32> {
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = hash as u32 as usize & mask;
        loop {
            let word = self.table[slot];
            if word == 0 {
                return None;
            }
            if word >> 32 == hash & 0xffff_ffff && self.entries[(word as u32 - 1) as usize].name == name {
                return Some(word as u32 - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        let mut table = zeroed::present(size, false);
        for &word in self.table.iter().filter(|&&w| w != 0) {
            let mut slot = (word >> 32) as usize & (size - 1);
            while table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            table[slot] = word;
        }
        self.table = table;
    }

    /// Asks for the slot of `hash`.
    #[inline(always)]
    fn prefetch_slot(&self, hash: u64) {
        if let Some(mask) = self.table.len().checked_sub(1) {
            prefetch(&self.table, hash as u32 as usize & mask);
        }
    }

    /// Asks for the text of the name that is most likely that of `hash`; its slot should be near.
    #[inline(always)]
    fn prefetch_name(&self, hash: u64) {
        if let Some(mask) = self.table.len().checked_sub(1) {
            let word = self.table[hash as u32 as usize & mask];
            if word != 0 && word >> 32 == hash & 0xffff_ffff {
                prefetch(self.entries[(word as u32 - 1) as usize].name, 0);
            }
        }
    }
}

/// Receives the id of each record's name.
pub trait IdSink: Sync {
    /// `bits` tells whether `sym` numbers a symbol or (with [`flag::GROUP_RECORD`]) a group.
    fn set(&self, file: FileId, sym: u32, bits: u32, id: SymbolId);
}

pub struct Names<'a> {
    bits: u32,
    shards: Vec<Shard<'a>>,
}

impl<'a> Names<'a> {
    /// `shard_bits` must depend on the inputs only, never on the number of threads.
    pub fn new(shard_bits: u32) -> Self {
        Names { bits: shard_bits, shards: (0..1 << shard_bits).map(|_| Shard::default()).collect() }
    }

    pub fn shard_bits(&self) -> u32 {
        self.bits
    }

    /// One more than the largest id. Ids below it may be unused.
    pub fn id_bound(&self) -> usize {
        self.shards.iter().map(|s| s.entries.len()).max().unwrap_or(0) << self.bits
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|s| s.entries.len()).sum()
    }

    pub fn get(&self, id: SymbolId) -> &Entry<'a> {
        &self.shards[id.index() & ((1 << self.bits) - 1)].entries[id.index() >> self.bits]
    }

    pub fn get_mut(&mut self, id: SymbolId) -> &mut Entry<'a> {
        &mut self.shards[id.index() & ((1 << self.bits) - 1)].entries[id.index() >> self.bits]
    }

    pub fn try_get(&self, id: SymbolId) -> Option<&Entry<'a>> {
        self.shards[id.index() & ((1 << self.bits) - 1)].entries.get(id.index() >> self.bits)
    }

    /// Asks for the entry of `id`, if there is one.
    #[inline(always)]
    pub fn prefetch(&self, id: SymbolId) {
        prefetch(&self.shards[id.index() & ((1 << self.bits) - 1)].entries, id.index() >> self.bits);
    }

    pub fn find(&self, name: &[u8]) -> Option<SymbolId> {
        let hash = hash_bytes(name);
        let shard = self.shard_of(hash);
        let index = self.shards[shard].find(hash, name)?;
        Some(SymbolId(index << self.bits | shard as u32))
    }

    /// The id of `name`, added if nobody has named it.
    pub fn insert(&mut self, name: &'a [u8]) -> SymbolId {
        let hash = hash_bytes(name);
        let shard = self.shard_of(hash);
        let index = self.shards[shard].find_or_insert(hash, name);
        SymbolId(index << self.bits | shard as u32)
    }

    fn shard_of(&self, hash: u64) -> usize {
        hash.checked_shr(64 - self.bits).unwrap_or(0) as usize
    }

    /// All names with their ids, shard by shard.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &Entry<'a>)> {
        let bits = self.bits;
        self.shards.iter().enumerate().flat_map(move |(s, shard)| {
            let with_id = move |(i, e)| (SymbolId((i as u32) << bits | s as u32), e);
            shard.entries.iter().enumerate().map(with_id)
        })
    }

    /// Enters records. `bins` are in file order.
    pub fn enter(&mut self, bins: &[Bins<'a>], ids: &(impl IdSink + ?Sized), parallel: bool) {
        use rayon::prelude::*;
        let bits = self.bits;
        let region = trace::region("enter names");
        let one = |(s, shard): (usize, &mut Shard<'a>)| {
            let _task = region.task();
            shard.enter(s, bits, bins, ids);
        };
        if parallel && self.shards.len() > 1 {
            self.shards.par_iter_mut().enumerate().for_each(one);
        } else {
            self.shards.iter_mut().enumerate().for_each(one);
        }
    }

    /// What has become wanted since the last call, and the files that provide it; sorted.
    pub fn wanted(&mut self) -> Vec<(FileId, SymbolId)> {
        let mut wanted = Vec::new();
        let bits = self.bits;
        for (s, shard) in self.shards.iter_mut().enumerate() {
            for index in std::mem::take(&mut shard.touched) {
                let entry = &shard.entries[index as usize];
                if entry.rank() == Rank::Provided {
                    wanted.push((entry.file(), SymbolId(index << bits | s as u32)));
                }
            }
        }
        wanted.sort_unstable();
        wanted
    }

    /// Makes every name that is defined or provided somewhere and that `matches` a root.
    pub fn add_roots(&mut self, matches: impl Fn(&[u8]) -> bool) {
        for shard in &mut self.shards {
            for (index, entry) in shard.entries.iter_mut().enumerate() {
                if entry.rank() != Rank::Undefined && matches(entry.name) {
                    entry.flags |= flag::ROOT;
                    if entry.rank() == Rank::Provided && entry.flags & flag::WANTED == 0 {
                        entry.flags |= flag::WANTED;
                        shard.touched.push(index as u32);
                    }
                }
            }
        }
    }

    /// Names whose best definition so far is common, and that lazy files offer too; sorted.
    pub fn offered_commons(&self) -> Vec<SymbolId> {
        let all = self.shards.iter().flat_map(|s| &s.commons).map(|rival| rival.id);
        let offered = |id: &SymbolId| {
            let entry = self.get(*id);
            entry.rank() == Rank::Common && entry.flags & flag::OFFERED != 0
        };
        let mut ids: Vec<SymbolId> = all.filter(offered).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Rivals of strong definitions, in order of file and symbol.
    pub fn take_duplicates(&mut self) -> Vec<Rival> {
        Self::sorted(self.shards.iter_mut().flat_map(|s| std::mem::take(&mut s.duplicates)).collect())
    }

    /// All common symbols, in order of file and symbol.
    pub fn take_commons(&mut self) -> Vec<Rival> {
        Self::sorted(self.shards.iter_mut().flat_map(|s| std::mem::take(&mut s.commons)).collect())
    }

    fn sorted(mut rivals: Vec<Rival>) -> Vec<Rival> {
        rivals.sort_unstable_by_key(|r| (r.file, r.sym));
        rivals
    }
}

impl<'a> Shard<'a> {
    fn enter(&mut self, number: usize, bits: u32, bins: &[Bins<'a>], ids: &(impl IdSink + ?Sized)) {
        for bin in bins {
            let records = &bin.bins[number];
            for (i, record) in records.iter().enumerate() {
                if let Some(next) = records.get(i + SLOT_AHEAD) {
                    self.prefetch_slot(next.hash);
                }
                if let Some(next) = records.get(i + NAME_AHEAD) {
                    self.prefetch_name(next.hash);
                }
                let index = self.find_or_insert(record.hash, record.name);
                let id = SymbolId(index << bits | number as u32);
                if record.sym != u32::MAX {
                    ids.set(FileId(record.file), record.sym, record.bits, id);
                }
                if record.bits & flag::GROUP_RECORD == 0 {
                    self.merge(index, id, record);
                }
            }
        }
    }

    #[inline]
    fn merge(&mut self, index: u32, id: SymbolId, record: &Record) {
        let entry = &mut self.entries[index as usize];
        let before = entry.flags;
        entry.flags |= record.bits & !7;
        let rank = Rank::of(record.bits);
        if rank != Rank::Undefined {
            let word = pack(rank, FileId(record.file), record.sym);
            match rank {
                Rank::Strong if entry.rank() == Rank::Strong => {
                    let loser = word.max(entry.best);
                    let file = FileId((loser >> 32) as u32 & MAX_FILES);
                    self.duplicates.push(Rival { id, file, sym: loser as u32 });
                }
                Rank::Common => self.commons.push(Rival { id, file: FileId(record.file), sym: record.sym }),
                _ => {}
            }
            entry.best = entry.best.min(word);
        }
        const WANTS: u32 = flag::REF_STRONG | flag::REF_SHARED | flag::ROOT;
        // What offers the name may not do any more for a reference that is not of default visibility.
        let is_new = before & flag::WANTED == 0 || record.bits & !before & flag::INSIDE != 0;
        if entry.flags & WANTS != 0 && is_new && entry.rank() == Rank::Provided {
            entry.flags |= flag::WANTED;
            self.touched.push(index);
        }
    }
}

/// Which symbols are not what they look like. `--wrap`: names that undefined references are sent to instead.
#[derive(Default)]
pub struct Wrap<'a> {
    /// (from, to), sorted by `from`.
    map: Vec<(&'a [u8], &'a [u8])>,
    /// `--no-define-common`: common symbols are references.
    pub open_commons: bool,
}

impl<'a> Wrap<'a> {
    /// `pairs` are (name, `__wrap_name`) and (`__real_name`, name) for every wrapped name.
    pub fn new(mut pairs: Vec<(&'a [u8], &'a [u8])>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        Wrap { map: pairs, open_commons: false }
    }

    /// Symbols are what they look like.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty() && !self.open_commons
    }

    pub fn rewrite(&self, name: &'a [u8]) -> &'a [u8] {
        match self.map.binary_search_by_key(&name, |p| p.0) {
            Ok(i) => self.map[i].1,
            Err(_) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoIds;
    impl IdSink for NoIds {
        fn set(&self, _: FileId, _: u32, _: u32, _: SymbolId) {}
    }

    fn record(name: &'static str, file: u32, bits: u32) -> Record<'static> {
        Record::new(hash_bytes(name.as_bytes()), name.as_bytes(), FileId(file), 1, bits)
    }

    #[test]
    fn strong_beats_weak_and_earlier_beats_later() {
        for shard_bits in [0, 4] {
            let mut names = Names::new(shard_bits);
            let mut bins = Bins::new(shard_bits);
            bins.push(record("f", 1, Rank::Weak as u32));
            bins.push(record("f", 3, Rank::Strong as u32));
            bins.push(record("g", 2, Rank::Weak as u32));
            bins.push(record("g", 1, Rank::Weak as u32));
            names.enter(&[bins], &NoIds, false);
            let f = names.get(names.find(b"f").unwrap());
            assert_eq!((f.rank(), f.file()), (Rank::Strong, FileId(3)));
            assert_eq!(names.get(names.find(b"g").unwrap()).file(), FileId(1));
            assert!(names.find(b"h").is_none());
        }
    }

    #[test]
    fn lazy_definitions_are_wanted_by_strong_references_only() {
        let mut names = Names::new(0);
        let mut bins = Bins::new(0);
        bins.push(record("f", 5, Rank::Provided as u32));
        bins.push(record("f", 4, Rank::Provided as u32));
        bins.push(record("f", 1, Rank::Undefined as u32 | flag::REF_STRONG));
        bins.push(record("w", 6, Rank::Provided as u32));
        bins.push(record("w", 1, Rank::Undefined as u32 | flag::REF_WEAK));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(names.wanted(), [(FileId(4), SymbolId(0))]);
        assert_eq!(names.wanted(), []);
    }

    #[test]
    fn commons_that_archives_offer() {
        let mut names = Names::new(1);
        let mut bins = Bins::new(1);
        let offered = Rank::Provided as u32 | flag::OFFERED;
        bins.push(record("block", 5, offered));
        bins.push(record("block", 1, Rank::Weak as u32));
        bins.push(record("block", 2, Rank::Common as u32));
        bins.push(record("block", 3, Rank::Common as u32));
        bins.push(record("defined", 5, offered));
        bins.push(record("defined", 1, Rank::Common as u32));
        bins.push(record("defined", 2, Rank::Strong as u32));
        bins.push(record("alone", 1, Rank::Common as u32));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(names.offered_commons(), [names.find(b"block").unwrap()]);
    }

    #[test]
    fn roots_by_pattern() {
        let mut names = Names::new(2);
        let mut bins = Bins::new(2);
        bins.push(record("f_lazy", 5, Rank::Provided as u32));
        bins.push(record("f_here", 1, Rank::Strong as u32));
        bins.push(record("f_gone", 1, Rank::Undefined as u32 | flag::REF_WEAK));
        bins.push(record("g_lazy", 6, Rank::Provided as u32));
        names.enter(&[bins], &NoIds, false);
        names.add_roots(|name| name.starts_with(b"f_"));
        assert_eq!(names.wanted().iter().map(|w| w.0).collect::<Vec<_>>(), [FileId(5)]);
        let is_root = |name: &str| names.get(names.find(name.as_bytes()).unwrap()).flags & flag::ROOT != 0;
        assert!(is_root("f_here") && !is_root("f_gone") && !is_root("g_lazy"));
    }

    #[test]
    fn a_hash_that_looks_like_an_empty_slot() {
        let mut shard = Shard::default();
        shard.find_or_insert(0x77, b"other");
        shard.prefetch_name(0);
        let index = shard.find_or_insert(0, b"name");
        shard.prefetch_name(0);
        assert_eq!(shard.find(0, b"name"), Some(index));
    }

    #[test]
    fn many_names_survive_growth() {
        let texts: Vec<&'static str> = (0..5000).map(|i| &*format!("name{i}").leak()).collect();
        let mut names = Names::new(2);
        let mut bins = Bins::new(2);
        texts.iter().for_each(|t| bins.push(record(t, 1, Rank::Strong as u32)));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(names.len(), 5000);
        assert!(texts.iter().all(|t| names.find(t.as_bytes()).is_some()));
        assert!(names.id_bound() >= 5000);
    }
}
