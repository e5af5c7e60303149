//! Files that come in the place of others: objects for the bitcode that they were made of, a new object for
//! an old one.
//!
//! What the old files announced is withdrawn: the names that they mention are elected anew, from what all
//! other files say of them. The others are not looked at. New files have new ids, which no longer tell the
//! order of files; that of definitions is kept beside them.

use super::{File, Files, Format, Rounds};
use crate::ids::{FileId, SymbolId};
use crate::symbol_names::{Bins, MAX_FILES, Record, Rules};
use crate::{par, trace};

/// Files that go, and the files that come in the place of the first of them.
pub struct Replacement {
    pub old: Vec<FileId>,
    /// With ids that no file had so far.
    pub new: Vec<FileId>,
}

/// Names that are elected anew.
struct Concerned {
    /// By id.
    is_one: Vec<bool>,
    ids: Vec<SymbolId>,
}

impl Concerned {
    fn add(&mut self, id: SymbolId) {
        if !std::mem::replace(&mut self.is_one[id.index()], true) {
            self.ids.push(id);
        }
    }

    fn has(&self, id: SymbolId) -> bool {
        self.is_one.get(id.index()).copied().unwrap_or(false)
    }
}

impl<'a, F: Format<'a>> Rounds<'a, '_, F> {
    /// Replaces files, all at once, and reads those that come. What these want is read by [`Rounds::settle`].
    pub fn replace(&mut self, replacements: &[Replacement]) {
        let _stretch = trace::stretch("replace files");
        let names = self.withdraw(replacements);
        self.put_in_places(replacements);
        self.announce_again(&names);
        let new: Vec<FileId> = replacements.iter().flat_map(|one| &one.new).copied().collect();
        self.read(&new, false);
        F::carry_out(self, &new);
    }

    /// Takes files out, and forgets what is known of the names that they mention.
    fn withdraw(&mut self, replacements: &[Replacement]) -> Concerned {
        let mut names = Concerned { is_one: vec![false; self.names.id_bound()], ids: Vec::new() };
        self.gone.extend(replacements.iter().flat_map(|one| &one.old));
        for &old in replacements.iter().flat_map(|one| &one.old) {
            if let Some(file) = self.files.get(old) {
                file.names().for_each(|(_, id)| names.add(id));
            }
            self.files.put(old, None);
        }
        self.offering.retain(|file| !self.gone.contains(file));
        self.names.withdraw(&names.ids, &|id| names.has(id));
        names
    }

    /// Says what all other files say of these names.
    fn announce_again(&mut self, names: &Concerned) {
        let shard_bits = self.names.shard_bits();
        let mut roots = self.pool.take(shard_bits);
        let is_one = |record: &&Record| self.names.find(record.name()).is_some_and(|id| names.has(id));
        self.roots.iter().filter(is_one).for_each(|root| roots.push(*root));
        self.enter(vec![roots]);
        let Files { list } = &self.files;
        let one = |file: usize| {
            let file = list[file].as_ref()?;
            let mut bins = None;
            for (position, _) in file.names().filter(|(_, id)| names.has(*id)) {
                let bins = bins.get_or_insert_with(|| Bins::new(shard_bits));
                // It has been read before, so nothing is wrong with it.
                let _ = self.format.announce(file, position..position + 1, false, bins);
            }
            bins
        };
        let bins: Vec<Bins> = par::map(self.parallel, list.len(), one).into_iter().flatten().collect();
        self.enter(bins);
        let mut offers = self.pool.take(shard_bits);
        for (id, files) in self.offers(&names.ids) {
            let name = self.names.get(id).name;
            let offer = |file: &&FileId| self.can_be_read(**file);
            for file in files.iter().filter(offer) {
                let hash = crate::hash::hash_bytes(name);
                offers.push(Record::new(hash, name, *file, u32::MAX, F::Rules::OFFER));
            }
        }
        self.enter(vec![offers]);
    }

    /// Gives the files that come the places of those that they stand for.
    fn put_in_places(&mut self, replacements: &[Replacement]) {
        let last = replacements.iter().flat_map(|one| &one.new).map(|file| file.0 + 1).max().unwrap_or(0);
        let bound = (self.files.list.len() as u32).max(last);
        let mut order = self.order.take().unwrap_or_default();
        let mut is_placed = vec![false; bound as usize];
        order.iter().for_each(|file| is_placed[file.index()] = true);
        replacements.iter().flat_map(|one| &one.new).for_each(|file| is_placed[file.index()] = true);
        order.extend((0..bound).filter(|id| !is_placed[*id as usize]).map(FileId));
        let mut behind: Vec<&[FileId]> = vec![&[]; bound as usize];
        for one in replacements {
            match one.old.first() {
                Some(old) => behind[old.index()] = &one.new,
                None => order.extend(&one.new),
            }
        }
        let placed = |file: &FileId| std::iter::once(*file).chain(behind[file.index()].iter().copied());
        let order: Vec<FileId> = order.iter().flat_map(placed).collect();
        let mut places = vec![MAX_FILES; bound as usize];
        for (place, file) in (0..).zip(&order) {
            places[file.index()] = place;
        }
        self.names.set_places(places);
        self.order = Some(order);
    }
}

/// The files that there are, in this order.
pub(super) fn in_places<T>(mut list: Vec<Option<T>>, order: &[FileId]) -> Vec<(FileId, T)> {
    let known = order.iter().copied();
    let rest = (order.len()..list.len()).map(|id| FileId(id as u32));
    let files: Vec<FileId> = known.chain(rest).collect();
    let take = |file: FileId| Some((file, list.get_mut(file.index())?.take()?));
    files.into_iter().filter_map(take).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::ops::Range;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::diag::DiagSink;
    use crate::hash::hash_bytes;
    use crate::resolve::{Expected, Index, Reading};
    use crate::symbol_names::{Entry, Order, Rank, Rival, pack};

    const REF: u32 = 1 << 3;
    const ROOT: u32 = 1 << 4;
    const WANTED: u32 = 1 << 5;

    struct ToyRules;

    impl Rules for ToyRules {
        type Notes = Vec<Rival>;
        const OFFER: u32 = Rank::Provided as u32;
        const LASTING: u32 = ROOT;
        fn is_symbol(_: u32) -> bool {
            true
        }
        fn meet(
            entry: &mut Entry,
            record: &Record,
            id: SymbolId,
            duplicates: &mut Vec<Rival>,
            order: &impl Order,
        ) -> bool {
            entry.flags |= record.bits & !7;
            let rank = Rank::of(record.bits);
            if rank != Rank::Undefined {
                let word = pack(rank, record.file(), record.sym());
                if rank == Rank::Strong && entry.rank() == Rank::Strong {
                    duplicates.push(entry.loser(word, id, order));
                }
                entry.elect(word, order);
            }
            let is_wanted = entry.flags & (REF | WANTED) == REF && entry.rank() == Rank::Provided;
            entry.flags |= if is_wanted { WANTED } else { 0 };
            is_wanted
        }
        fn is_wanted(_: &Entry) -> bool {
            true
        }
        fn withdraw(duplicates: &mut Vec<Rival>, is_one: &impl Fn(SymbolId) -> bool) {
            duplicates.retain(|rival| !is_one(rival.id));
        }
    }

    #[derive(Clone, Debug)]
    struct ToyFile {
        /// Names and the bits of records.
        symbols: Vec<(&'static str, u32)>,
        is_lazy: bool,
    }

    struct Toys(Vec<ToyFile>);

    struct Read {
        file: FileId,
        ids: Vec<AtomicU32>,
    }

    impl File for Read {
        fn set_id(&self, sym: u32, _: u32, id: SymbolId) {
            self.ids[sym as usize].store(id.0, Ordering::Relaxed);
        }
        fn names(&self) -> impl Iterator<Item = (usize, SymbolId)> {
            self.ids.iter().map(|id| SymbolId(id.load(Ordering::Relaxed))).enumerate()
        }
    }

    impl<'a> Format<'a> for Toys {
        type Rules = ToyRules;
        type File = Read;
        type Error = Infallible;
        type Heading = ();
        fn name(&self, file: FileId) -> String {
            file.0.to_string()
        }
        fn read(
            &self,
            file: FileId,
            first: bool,
            bins: &mut Bins<'a>,
        ) -> Result<Reading<Read, ()>, Infallible> {
            let toy = &self.0[file.index()];
            let is_lazy = toy.is_lazy && first;
            let ids = toy.symbols.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
            let read = Read { file, ids };
            self.announce(&read, 0..toy.symbols.len(), is_lazy, bins)?;
            let symbols = toy.symbols.len();
            Ok(Reading { file: (!is_lazy).then_some(read), symbols, is_lazy, heading: () })
        }
        fn announce(
            &self,
            read: &Read,
            positions: Range<usize>,
            lazy: bool,
            bins: &mut Bins<'a>,
        ) -> Result<(), Infallible> {
            for i in positions {
                let (name, bits) = self.0[read.file.index()].symbols[i];
                let (i, bits) = match (lazy, Rank::of(bits)) {
                    (true, Rank::Undefined) => continue,
                    (true, _) => (u32::MAX, ToyRules::OFFER),
                    (false, _) => (i as u32, bits),
                };
                bins.push(Record::new(hash_bytes(name.as_bytes()), name.as_bytes(), read.file, i, bits));
            }
            Ok(())
        }
        fn indices(&self, _: usize) -> Vec<Index<'_, 'a>> {
            Vec::new()
        }
    }

    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    fn some(seed: &mut u64, bound: u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) % bound
    }

    fn some_file(seed: &mut u64) -> ToyFile {
        let kinds = [Rank::Strong as u32, Rank::Weak as u32, Rank::Undefined as u32 | REF];
        let mut symbols: Vec<(&str, u32)> = Vec::new();
        for _ in 0..some(seed, 5) {
            let name = NAMES[some(seed, 8) as usize];
            if !symbols.iter().any(|(other, _)| *other == name) {
                symbols.push((name, kinds[some(seed, 3) as usize]));
            }
        }
        ToyFile { symbols, is_lazy: some(seed, 3) == 0 }
    }

    fn rounds<'s>(files: Vec<ToyFile>, sink: &'s DiagSink) -> Rounds<'static, 's, Toys> {
        let first: Vec<FileId> = (0..files.len() as u32).map(FileId).collect();
        let mut rounds =
            Rounds::new(Toys(files), Expected { shard_bits: 1, files: first.len() }, sink, false);
        rounds.refer([(&b"a"[..], Rank::Undefined as u32 | REF | ROOT)]);
        rounds.read(&first, true);
        rounds.settle().unwrap();
        rounds
    }

    /// What a name is: its definition's rank and the place of the file in the order of files, and the places
    /// of definitions too many.
    #[derive(Debug, PartialEq)]
    struct Outcome {
        best: Option<(Rank, usize)>,
        flags: u32,
        duplicates: Vec<usize>,
    }

    fn outcomes(rounds: &mut Rounds<'_, '_, Toys>, place: impl Fn(FileId) -> usize) -> Vec<Outcome> {
        let lost = rounds.names.take_notes(|notes| notes);
        let one = |name: &&str| {
            let id = rounds.names.find(name.as_bytes());
            let entry = id.map(|id| rounds.names.get(id)).filter(|entry| entry.best != u64::MAX);
            let flags = id.map_or(0, |id| rounds.names.get(id).flags & !WANTED);
            let duplicates = lost.iter().filter(|rival| Some(rival.id) == id).map(|rival| place(rival.file));
            let mut duplicates: Vec<usize> = duplicates.collect();
            duplicates.sort_unstable();
            Outcome { best: entry.map(|entry| (entry.rank(), place(entry.file()))), flags, duplicates }
        };
        NAMES.iter().map(one).collect()
    }

    #[test]
    fn files_that_come_for_others_are_as_if_they_had_always_been_there() {
        for start in 0..3000 {
            let mut seed = start;
            let sink = DiagSink::new();
            let files: Vec<ToyFile> = (0..3 + some(&mut seed, 5)).map(|_| some_file(&mut seed)).collect();
            let count = files.len() as u32;
            let mut replaced = rounds(files, &sink);
            // Files that take part: bitcode that is wanted, objects that have changed.
            let old: Vec<FileId> =
                (0..count).map(FileId).filter(|file| replaced.files.is_read(*file)).collect();
            let old: Vec<FileId> = old.into_iter().filter(|_| some(&mut seed, 2) == 0).collect();
            let mut replacements = Vec::new();
            for one in old.chunks(2) {
                let next = replaced.format.0.len() as u32;
                let new: Vec<FileId> = (next..next + some(&mut seed, 3) as u32).map(FileId).collect();
                new.iter().for_each(|_| {
                    let file = ToyFile { is_lazy: false, ..some_file(&mut seed) };
                    replaced.format.0.push(file);
                });
                replacements.push(Replacement { old: one.to_vec(), new });
            }
            replaced.replace(&replacements);
            replaced.settle().unwrap();
            // The same files, in this order from the start; those that were read then are no longer lazy.
            let mut order: Vec<FileId> = Vec::new();
            for file in (0..count).map(FileId) {
                match replacements.iter().find(|one| one.old[0] == file) {
                    Some(one) => order.extend(&one.new),
                    None if old.contains(&file) => {}
                    None => order.push(file),
                }
            }
            let toy = |file: &FileId| {
                let toy = &replaced.format.0[file.index()];
                ToyFile { is_lazy: toy.is_lazy && !replaced.files.is_read(*file), ..toy.clone() }
            };
            let mut fresh = rounds(order.iter().map(toy).collect(), &sink);
            let place = |file: FileId| order.iter().position(|one| *one == file).unwrap();
            let expected = outcomes(&mut fresh, FileId::index);
            assert_eq!(outcomes(&mut replaced, place), expected, "seed {start}");
            let read = replaced.finish().files;
            assert!(read.iter().map(|(file, _)| place(*file)).is_sorted(), "seed {start}");
            assert_eq!(read.len(), fresh.finish().files.len(), "seed {start}");
        }
    }
}
