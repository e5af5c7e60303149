//! The table of global names, and in it the best definition of each.
//!
//! Files announce their global symbols as [`Record`]s, hashed once where the end of the name was
//! found. Records are binned by the high bits of the hash; each bin (shard) is then processed by
//! one thread, in file order, against a table small enough for the L2 cache. No locks, no atomics
//! but the write-back of the id to the file's symbol, and one visit a record: the same visit
//! interns the name and has the linker's [`Rules`] unite flags and take the minimum of the packed
//! priority word
//!
//! ```text
//!     rank (4 bits) | file (28 bits) | symbol index (32 bits)
//! ```
//!
//! so that the winner depends on command-line order only. Ids interleave the shards
//! (`id = index in shard << SHARD_BITS | shard`), which makes them dense and independent of the
//! number of threads.

use crate::hash::hash_bytes;
use crate::hash_index::HashIndex;
use crate::ids::{FileId, SymbolId};
use crate::prefetch::prefetch;
use crate::{par, trace};

/// How strong a definition is; lower wins. The low three bits of a record's flag word.
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
    #[inline]
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
    /// The [`Rank`], and above it what the linker's [`Rules`] make of them.
    pub bits: u32,
}

impl<'a> Record<'a> {
    #[inline(always)]
    pub fn new(hash: u64, name: &'a [u8], file: FileId, sym: u32, bits: u32) -> Self {
        Record { hash, name, file: file.0, sym, bits }
    }
    #[inline]
    pub fn file(&self) -> FileId {
        FileId(self.file)
    }
    #[inline]
    pub fn sym(&self) -> u32 {
        self.sym
    }
    pub fn name(&self) -> &'a [u8] {
        self.name
    }
    /// The symbol, which announces the name with `id`.
    #[inline]
    pub fn rival(&self, id: SymbolId) -> Rival {
        Rival { id, file: self.file(), sym: self.sym }
    }
}

/// A symbol of a file that announced a name, where that matters later: a definition that lost, or that has to
/// be merged with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rival {
    pub id: SymbolId,
    pub file: FileId,
    pub sym: u32,
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

    /// All records, shard by shard.
    pub fn records(&self) -> impl Iterator<Item = &Record<'a>> {
        self.bins.iter().flatten()
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
    #[inline]
    pub fn rank(&self) -> Rank {
        Rank::of((self.best >> 60) as u32)
    }
    #[inline]
    pub fn file(&self) -> FileId {
        file_of(self.best)
    }
    #[inline]
    pub fn sym(&self) -> u32 {
        self.best as u32
    }
    /// Of the best definition so far and one with priority `word`, that which loses. `id` is this name's.
    #[inline]
    pub fn loser(&self, word: u64, id: SymbolId, order: &impl Order) -> Rival {
        let loser = if order.key(word) < order.key(self.best) { self.best } else { word };
        Rival { id, file: file_of(loser), sym: loser as u32 }
    }
    /// Takes a definition with priority `word` if it goes before the best one so far.
    #[inline]
    pub fn elect(&mut self, word: u64, order: &impl Order) {
        if order.key(word) < order.key(self.best) {
            self.best = word;
        }
    }
}

#[inline]
fn file_of(word: u64) -> FileId {
    FileId((word >> 32) as u32 & MAX_FILES)
}

/// Which of two files goes before the other where their definitions are as strong.
pub trait Order: Sync {
    /// What priority words are compared by.
    fn key(&self, word: u64) -> u64;
}

/// The order of ids, which is that of files unless some came in the place of others.
pub struct ById;

impl Order for ById {
    #[inline(always)]
    fn key(&self, word: u64) -> u64 {
        word
    }
}

/// Of each file, by id, its place in the order.
impl Order for Vec<u32> {
    fn key(&self, word: u64) -> u64 {
        match self.get(file_of(word).index()) {
            Some(&place) => word & !((MAX_FILES as u64) << 32) | (place as u64) << 32,
            None => word,
        }
    }
}

/// File ids have 28 bits.
pub const MAX_FILES: u32 = (1 << 28) - 1;

#[inline]
pub fn pack(rank: Rank, file: FileId, sym: u32) -> u64 {
    (rank as u64) << 60 | (file.0 as u64) << 32 | sym as u64
}

/// What happens when a file announces a name. A linker's own: its flags, and which definitions may meet.
pub trait Rules {
    /// What a shard notes of its names besides.
    type Notes: Default + Send + Sync;
    /// The bits of a record that is the offer of an archive.
    const OFFER: u32;
    /// Flags that stay when files that announced the name go: those that no file's symbols make.
    const LASTING: u32;
    /// What stands in each name of an archive's index that is known by another one ([`Rules::known_as`]).
    const MARK: Option<u8> = None;

    /// The name by which one in an archive's index is known, a part of it.
    fn known_as(name: &[u8]) -> &[u8] {
        name
    }

    /// Whether a record with these bits says anything of a definition or reference. Others only want the id.
    fn is_symbol(bits: u32) -> bool;

    /// `record` announces the name of `entry`, which has `id`. Whether it has become wanted by that, and is
    /// offered.
    fn meet(
        entry: &mut Entry,
        record: &Record,
        id: SymbolId,
        notes: &mut Self::Notes,
        order: &impl Order,
    ) -> bool;

    /// Whether a name that became wanted, and for which there is but an offer, is worth reading the file.
    fn is_wanted(entry: &Entry) -> bool;

    /// Files that announced names go: notes of these do, too.
    fn withdraw(notes: &mut Self::Notes, is_one: &impl Fn(SymbolId) -> bool);
}

/// The names that have hashes of a range.
pub struct Shard<'a, N> {
    index: HashIndex,
    pub entries: Vec<Entry<'a>>,
    pub notes: N,
    /// Entries that became wanted and are offered, since [`Names::wanted`] was last asked.
    pub touched: Vec<u32>,
}

impl<N: Default> Default for Shard<'_, N> {
    fn default() -> Self {
        Shard { index: HashIndex::default(), entries: Vec::new(), notes: N::default(), touched: Vec::new() }
    }
}

impl<'a, N> Shard<'a, N> {
    /// The index of `name`'s entry, made if missing.
    #[inline]
    fn find_or_insert(&mut self, hash: u64, name: &'a [u8]) -> u32 {
        let is = |index: usize| self.entries[index].name == name;
        self.index.find_or_add(hash, self.entries.len(), is).unwrap_or_else(|index| {
            self.entries.push(Entry { name, best: u64::MAX, flags: 0 });
            index
        })
    }

    fn find(&self, hash: u64, name: &[u8]) -> Option<u32> {
        self.index.find(hash, |index| self.entries[index].name == name)
    }

    /// Asks for the text of the name that is most likely that of `hash`; its slot should be near.
    #[inline(always)]
    fn prefetch_name(&self, hash: u64) {
        if let Some(index) = self.index.likely(hash) {
            prefetch(self.entries[index as usize].name, 0);
        }
    }
}

/// Receives the id of each record's name.
pub trait IdSink: Sync {
    /// `bits` are the record's, which tell what `sym` numbers.
    fn set(&self, file: FileId, sym: u32, bits: u32, id: SymbolId);
}

/// The table of names, in shards.
pub struct Names<'a, R: Rules> {
    bits: u32,
    shards: Vec<Shard<'a, R::Notes>>,
    /// The places of files, if they are not in the order of their ids.
    places: Option<Vec<u32>>,
}

impl<'a, R: Rules> Names<'a, R> {
    /// `shard_bits` must depend on the inputs only, never on the number of threads.
    pub fn new(shard_bits: u32) -> Self {
        let shards = (0..1 << shard_bits).map(|_| Shard::default()).collect();
        Names { bits: shard_bits, shards, places: None }
    }

    /// Makes room for `count` more names, of which most will be new.
    pub fn reserve(&mut self, count: usize) {
        let each = count >> self.bits;
        for shard in &mut self.shards {
            // Names do not spread evenly.
            let all = shard.entries.len() + each + each / 16;
            shard.entries.reserve(all - shard.entries.len());
            shard.index.reserve(all);
        }
    }

    #[inline]
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

    #[inline]
    pub fn get(&self, id: SymbolId) -> &Entry<'a> {
        &self.shards[id.index() & ((1 << self.bits) - 1)].entries[id.index() >> self.bits]
    }

    #[inline]
    pub fn get_mut(&mut self, id: SymbolId) -> &mut Entry<'a> {
        &mut self.shards[id.index() & ((1 << self.bits) - 1)].entries[id.index() >> self.bits]
    }

    #[inline]
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
        let bits = self.bits;
        let places = self.places.as_ref();
        let region = trace::region("enter names");
        let one = |s: usize, shard: &mut Shard<'a, R::Notes>| {
            let _task = region.task();
            match places {
                None => shard.enter::<R>(s, bits, bins, ids, &ById),
                Some(places) => shard.enter::<R>(s, bits, bins, ids, places),
            }
        };
        par::each_mut(parallel && self.shards.len() > 1, &mut self.shards, one);
    }

    pub fn shards(&self) -> &[Shard<'a, R::Notes>] {
        &self.shards
    }

    /// The shards, to take their notes. Names cannot be added through them.
    pub fn shards_mut(&mut self) -> &mut [Shard<'a, R::Notes>] {
        &mut self.shards
    }

    /// Takes a list that all shards have among their notes, in order of file and symbol.
    pub fn take_notes(&mut self, list: impl Fn(&mut R::Notes) -> &mut Vec<Rival>) -> Vec<Rival> {
        let lists = self.shards.iter_mut().map(|shard| std::mem::take(list(&mut shard.notes)));
        let mut all: Vec<Rival> = lists.flatten().collect();
        all.sort_unstable_by_key(|rival| (self.place(rival.file), rival.sym));
        all
    }

    /// Where a file stands in the order of files: its id, unless files came in the place of others.
    pub fn place(&self, file: FileId) -> u32 {
        let places = self.places.as_ref();
        places.and_then(|places| places.get(file.index())).copied().unwrap_or(file.0)
    }

    /// Whether a definition with priority `word` goes before one with priority `other`.
    pub fn goes_before(&self, word: u64, other: u64) -> bool {
        match &self.places {
            None => word < other,
            Some(places) => places.key(word) < places.key(other),
        }
    }

    /// The files that offer what has become wanted since the last call, each with the name; sorted.
    pub fn wanted(&mut self) -> Vec<(FileId, SymbolId)> {
        let mut wanted = Vec::new();
        for (s, shard) in self.shards.iter_mut().enumerate() {
            for index in std::mem::take(&mut shard.touched) {
                let entry = &shard.entries[index as usize];
                if entry.rank() == Rank::Provided && R::is_wanted(entry) {
                    wanted.push((entry.file(), SymbolId(index << self.bits | s as u32)));
                }
            }
        }
        wanted.sort_unstable();
        wanted
    }

    /// From now on files go in this order: of each, by id, its place. What has been elected so far stays.
    pub fn set_places(&mut self, places: Vec<u32>) {
        self.places = Some(places);
    }

    /// Forgets what files have announced of the names that `is_one` finds; what the linker has defined itself
    /// stays.
    pub fn withdraw(&mut self, ids: &[SymbolId], is_one: &impl Fn(SymbolId) -> bool) {
        for &id in ids {
            let entry = self.get_mut(id);
            entry.flags &= R::LASTING;
            if entry.rank() != Rank::Internal {
                entry.best = u64::MAX;
            }
        }
        self.shards.iter_mut().for_each(|shard| R::withdraw(&mut shard.notes, is_one));
    }

    /// The id of entry `index` of shard number `shard`.
    #[inline]
    pub fn id(&self, shard: usize, index: u32) -> SymbolId {
        SymbolId(index << self.bits | shard as u32)
    }
}

impl<'a, N> Shard<'a, N> {
    fn enter<R: Rules<Notes = N>>(
        &mut self,
        number: usize,
        bits: u32,
        bins: &[Bins<'a>],
        ids: &(impl IdSink + ?Sized),
        order: &impl Order,
    ) {
        for bin in bins {
            let records = &bin.bins[number];
            for (i, record) in records.iter().enumerate() {
                if let Some(next) = records.get(i + SLOT_AHEAD) {
                    self.index.prefetch(next.hash);
                }
                if let Some(next) = records.get(i + NAME_AHEAD) {
                    self.prefetch_name(next.hash);
                }
                let index = self.find_or_insert(record.hash, record.name);
                let id = SymbolId(index << bits | number as u32);
                if record.sym != u32::MAX {
                    ids.set(FileId(record.file), record.sym, record.bits, id);
                }
                if R::is_symbol(record.bits)
                    && R::meet(&mut self.entries[index as usize], record, id, &mut self.notes, order)
                {
                    self.touched.push(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Best;
    impl Rules for Best {
        type Notes = ();
        const OFFER: u32 = Rank::Provided as u32;
        const LASTING: u32 = 0;
        fn is_symbol(_: u32) -> bool {
            true
        }
        fn meet(entry: &mut Entry, record: &Record, _: SymbolId, (): &mut (), order: &impl Order) -> bool {
            entry.elect(pack(Rank::of(record.bits), record.file(), record.sym()), order);
            false
        }
        fn is_wanted(_: &Entry) -> bool {
            true
        }
        fn withdraw((): &mut (), _: &impl Fn(SymbolId) -> bool) {}
    }

    struct NoIds;
    impl IdSink for NoIds {
        fn set(&self, _: FileId, _: u32, _: u32, _: SymbolId) {}
    }

    fn record(name: &'static str, file: u32, bits: u32) -> Record<'static> {
        Record::new(hash_bytes(name.as_bytes()), name.as_bytes(), FileId(file), 1, bits)
    }

    #[test]
    fn a_hash_that_looks_like_an_empty_slot() {
        let mut shard = Shard::<()>::default();
        shard.find_or_insert(0x77, b"other");
        shard.prefetch_name(0);
        let index = shard.find_or_insert(0, b"name");
        shard.prefetch_name(0);
        assert_eq!(shard.find(0, b"name"), Some(index));
    }

    #[test]
    fn files_go_in_the_order_of_their_places() {
        let mut names = Names::<Best>::new(0);
        assert!(names.goes_before(pack(Rank::Strong, FileId(1), 0), pack(Rank::Strong, FileId(2), 0)));
        // File 2 came for the first one; file 3 has no place of its own.
        names.set_places(vec![0, 2, 1]);
        let mut bins = Bins::new(0);
        [1, 2, 3].into_iter().for_each(|file| bins.push(record("f", file, Rank::Strong as u32)));
        names.enter(&[bins], &NoIds, false);
        assert_eq!([1, 2, 3].map(|file| names.place(FileId(file))), [2, 1, 3]);
        assert_eq!(names.get(names.find(b"f").unwrap()).file(), FileId(2));
        assert!(names.goes_before(pack(Rank::Strong, FileId(2), 0), pack(Rank::Strong, FileId(1), 0)));
        assert!(names.goes_before(pack(Rank::Strong, FileId(1), 0), pack(Rank::Weak, FileId(2), 0)));
    }

    #[test]
    fn many_names_survive_growth() {
        let texts: Vec<&'static str> = (0..5000).map(|i| &*format!("name{i}").leak()).collect();
        let mut names = Names::<Best>::new(2);
        let mut bins = Bins::new(2);
        texts.iter().for_each(|t| bins.push(record(t, 1, Rank::Strong as u32)));
        names.enter(&[bins], &NoIds, false);
        assert_eq!(names.len(), 5000);
        assert!(texts.iter().all(|t| names.find(t.as_bytes()).is_some()));
        assert!(names.id_bound() >= 5000);
    }
}
