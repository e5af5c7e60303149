//! Lazy files: archives that are not read further than their index, which says what member defines what, and
//! objects that are linked only if they are wanted.

use std::collections::{BTreeMap, HashMap};

use super::{Format, Rounds};
use crate::archive::armap::{Armap, Symbols};
use crate::hash::hash_bytes;
use crate::ids::{FileId, SymbolId};
use crate::par;
use crate::symbol_names::{Bins, Record, Rules};
use crate::trace::{self, Region};

/// Entries of an index for each task.
const ENTRIES_PER_TASK: usize = 1 << 13;

/// The index of an archive, and the files that its members are.
#[derive(Clone, Copy)]
pub struct Index<'i, 'a> {
    pub map: Armap<'a>,
    /// Header offsets of the members in the index, ascending.
    pub offsets: &'i [u64],
    /// The first member; the others follow.
    pub first: FileId,
}

impl<'i, 'a> Index<'i, 'a> {
    /// The names of a run of the index's entries with their hashes, and the members that define them.
    pub fn offers<R: Rules>(
        self,
        symbols: Symbols<'a>,
    ) -> impl Iterator<Item = (&'a [u8], u64, FileId)> + use<'i, 'a, R> {
        let has_others = R::MARK.is_some_and(|mark| memchr::memchr(mark, symbols.names()).is_some());
        let mut member = 0;
        symbols.hashed().filter_map(move |(name, hash, offset)| {
            // Entries of one member follow one another.
            if self.offsets.get(member) != Some(&offset) {
                member = self.offsets.binary_search(&offset).ok()?;
            }
            let file = FileId(self.first.0 + member as u32);
            let known = if has_others { R::known_as(name) } else { name };
            let hash = if known.len() < name.len() { hash_bytes(known) } else { hash };
            Some((known, hash, file))
        })
    }

    fn announce<R: Rules>(self, symbols: Symbols<'a>, bins: &mut Bins<'a>) {
        for (name, hash, file) in self.offers::<R>(symbols) {
            bins.push(Record::new(hash, name, file, u32::MAX, R::OFFER));
        }
    }
}

impl<'a, F: Format<'a>> Rounds<'a, '_, F> {
    /// Announces what the archives numbered `from` and on offer.
    pub fn announce_archives(&mut self, from: usize) {
        let shard_bits = self.names.shard_bits();
        let indices = self.format.indices(from);
        let count = indices.iter().map(|index| index.map.count()).sum();
        if count > ENTRIES_PER_TASK {
            self.names.reserve(count);
        }
        // A few are read one after the other, through the same bins.
        let parallel = self.parallel && count > 2 * ENTRIES_PER_TASK;
        let mut tasks = Vec::new();
        for index in indices {
            let parts = index.map.count().div_ceil(ENTRIES_PER_TASK);
            tasks.extend(index.map.split(parts).into_iter().map(|symbols| (index, symbols)));
        }
        let task = |region: &Region, (index, symbols): &(Index<'_, 'a>, Symbols<'a>)| {
            let _task = region.task();
            let mut bins = self.pool.take(shard_bits);
            index.announce::<F::Rules>(symbols.clone(), &mut bins);
            bins
        };
        for batch in tasks.chunks(if parallel { self.tasks_per_batch() } else { 1 }) {
            let region = trace::region("read archive indices");
            let bins = par::map(parallel, batch.len(), |i| task(&region, &batch[i]));
            drop(region);
            self.names.enter(&bins, &self.files, parallel);
            self.pool.give_back(bins);
        }
    }

    /// The lazy files that offer each of `ids`, in the order of their ids, read or not. The table of names
    /// knows of the first only; who asks for the others asks seldom, and for few names.
    pub fn offers(&self, ids: &[SymbolId]) -> BTreeMap<SymbolId, Vec<FileId>> {
        if ids.is_empty() {
            return BTreeMap::new();
        }
        let wanted: HashMap<&[u8], SymbolId> = ids.iter().map(|id| (self.names.get(*id).name, *id)).collect();
        let mut offers: BTreeMap<SymbolId, Vec<FileId>> = BTreeMap::new();
        let mut add = |name: &[u8], file| {
            if let Some(id) = wanted.get(name) {
                offers.entry(*id).or_default().push(file);
            }
        };
        for index in self.format.indices(0) {
            index.offers::<F::Rules>(index.map.symbols()).for_each(|(name, _, file)| add(name, file));
        }
        for &file in &self.offering {
            let mut bins = self.pool.take(self.names.shard_bits());
            // What is wrong with it has been said.
            if self.read_alone(file, true, &mut bins).is_ok() {
                bins.records().for_each(|record| add(record.name(), file));
            }
            self.pool.give_back(vec![bins]);
        }
        offers.values_mut().for_each(|files| files.sort_unstable());
        offers
    }
}
