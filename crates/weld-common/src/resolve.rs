//! Symbol resolution: which files take part in a link.
//!
//! Files are read in rounds. A round reads what the round before it found to be wanted; it is parallel inside
//! and depends only on the state before it, so that the files and every id are the same for any number of
//! threads. A format says how a file is read, what it announces, and what is to be done between rounds
//! ([`Format`]); what happens when two files announce one name, its [`Rules`] say.
//!
//! A file can be replaced by others ([`Rounds::replace`]): what was chosen for the names that it announced is
//! chosen anew.
//!
//! What else formats do alike stands beside it: which of several [COMDAT groups](comdat) is kept, and what is
//! said of names that have [several definitions](duplicates) or [none](undefined).

mod archives;
pub mod comdat;
mod comdat_election;
pub mod duplicates;
mod mentions;
mod read;
mod replace;
pub mod undefined;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use crate::diag::{DiagSink, Diagnostic, Diagnostics, HasCause};
use crate::hash::hash_bytes;
use crate::ids::{FileId, SymbolId};
use crate::symbol_names::{BinPool, Bins, IdSink, Names, Rank, Record, Rules};
use crate::trace;

pub use archives::Index;
pub use read::{RECORDS, Reading};
pub use replace::Replacement;

/// What a format knows of its files.
pub trait Format<'a>: Sync + Sized {
    type Rules: Rules;
    type File: File;
    /// What is wrong with a file, or why it cannot take part; for messages.
    type Error: fmt::Display + HasCause + Send;
    /// What is learnt of files that are read, whether they stay or not, and is looked at in their order.
    type Heading: Send;

    /// The name of a file, for messages.
    fn name(&self, file: FileId) -> String;

    /// Reads a file and announces its symbols, the first [`RECORDS`] of them. In the `first` round, one that
    /// is linked only if it is wanted announces what it would define, and is not kept.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn read(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<Reading<Self::File, Self::Heading>, Self::Error>;

    /// Announces the symbols of a file that have these positions; `lazy`: what it would define.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn announce(
        &self,
        file: &Self::File,
        positions: Range<usize>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), Self::Error>;

    /// The indices of archives of which members are linked if they are wanted; of archives numbered `from`
    /// and on.
    fn indices(&self, from: usize) -> Vec<Index<'_, 'a>>;

    /// Takes in what has been learnt of a file.
    ///
    /// # Errors
    /// Why it cannot take part.
    fn accept(&mut self, _heading: Self::Heading) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Completes the list of files that are wanted, each with the name that it is wanted for.
    fn choose(_rounds: &mut Rounds<'a, '_, Self>, _wanted: &mut Vec<(FileId, SymbolId)>) {}

    /// `files` will be read now, for the names that are `wanted` of them.
    fn will_read(&self, _names: &Names<'a, Self::Rules>, _wanted: &[(FileId, SymbolId)], _files: &[FileId]) {}

    /// Carries out what files ask for that have been read.
    fn carry_out(_rounds: &mut Rounds<'a, '_, Self>, _files: &[FileId]) {}
}

/// A file that has been read.
pub trait File: Send + Sync {
    /// Takes the id of the name that symbol `sym` announced, with these bits.
    fn set_id(&self, sym: u32, bits: u32, id: SymbolId);

    /// Its symbols that other files can see: their positions, for [`Format::announce`], and their names.
    fn names(&self) -> impl Iterator<Item = (usize, SymbolId)>;
}

/// A name that was wanted, and the file that was read because it offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extraction {
    /// The round after which it was wanted, from 0.
    pub round: u32,
    pub file: FileId,
    pub name: SymbolId,
}

/// The files that have been read, by id.
pub struct Files<F> {
    list: Vec<Option<F>>,
}

impl<F: File> Files<F> {
    #[inline]
    pub fn get(&self, file: FileId) -> Option<&F> {
        self.list.get(file.index())?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, file: FileId) -> Option<&mut F> {
        self.list.get_mut(file.index())?.as_mut()
    }

    pub fn is_read(&self, file: FileId) -> bool {
        self.get(file).is_some()
    }

    /// In the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = &F> {
        self.list.iter().flatten()
    }

    fn put(&mut self, file: FileId, read: Option<F>) {
        if self.list.len() <= file.index() {
            self.list.resize_with(file.index() + 1, || None);
        }
        self.list[file.index()] = read;
    }
}

impl<F: File> IdSink for Files<F> {
    #[inline]
    fn set(&self, file: FileId, sym: u32, bits: u32, id: SymbolId) {
        if let Some(file) = &self.list[file.index()] {
            file.set_id(sym, bits, id);
        }
    }
}

/// How large a link is expected to be.
#[derive(Clone, Copy)]
pub struct Expected {
    /// Bits of hashes that tell shards of the table of names apart. It must depend on the inputs only, never
    /// on the number of threads.
    pub shard_bits: u32,
    /// How many files have ids so far.
    pub files: usize,
}

/// What is known while rounds go on.
pub struct Rounds<'a, 's, F: Format<'a>> {
    pub format: F,
    pub files: Files<F::File>,
    pub names: Names<'a, F::Rules>,
    /// Why files were read that nobody named; kept if somebody asks for it.
    pub extractions: Option<Vec<Extraction>>,
    sink: &'s DiagSink,
    parallel: bool,
    pool: BinPool<'a>,
    /// What has been referred to from outside of files.
    roots: Vec<Record<'a>>,
    /// Files that have said only what they would define.
    offering: Vec<FileId>,
    /// Files that others have replaced.
    gone: HashSet<FileId>,
    /// Files in their order, if that is not the order of their ids.
    order: Option<Vec<FileId>>,
    number: u32,
}

impl<'a, 's, F: Format<'a>> Rounds<'a, 's, F> {
    pub fn new(
        format: F,
        Expected { shard_bits, files }: Expected,
        sink: &'s DiagSink,
        parallel: bool,
    ) -> Self {
        Rounds {
            format,
            files: Files { list: (0..files).map(|_| None).collect() },
            names: Names::new(shard_bits),
            extractions: None,
            sink,
            parallel,
            pool: BinPool::default(),
            roots: Vec::new(),
            offering: Vec::new(),
            gone: HashSet::new(),
            order: None,
            number: 0,
        }
    }

    /// Refers to names from outside of files, with these bits.
    pub fn refer(&mut self, names: impl IntoIterator<Item = (&'a [u8], u32)>) {
        let mut bins = self.pool.take(self.names.shard_bits());
        for (name, bits) in names {
            let record = Record::new(hash_bytes(name), name, FileId(0), u32::MAX, bits);
            self.roots.push(record);
            bins.push(record);
        }
        let bins = vec![bins];
        self.names.enter(&bins, &self.files, false);
        self.pool.give_back(bins);
    }

    /// Refers to one name from outside of files; `keep` gives it memory if nobody has named it so far. Its
    /// id.
    pub fn refer_to(&mut self, name: &[u8], bits: u32, keep: impl FnOnce(&[u8]) -> &'a [u8]) -> SymbolId {
        let name: &'a [u8] = match self.names.find(name) {
            Some(id) => self.names.get(id).name,
            None => keep(name),
        };
        self.refer([(name, bits)]);
        // The record has been entered, so the name is there.
        self.names.find(name).unwrap_or(SymbolId::NONE)
    }

    /// Reads what is wanted until nothing more is.
    ///
    /// # Errors
    /// What was wrong with the files that have been read.
    pub fn settle(&mut self) -> Result<(), Diagnostics> {
        loop {
            self.sink.end_phase()?;
            let wanted = {
                let _stretch = trace::stretch("wanted members");
                let mut wanted = self.names.wanted();
                F::choose(self, &mut wanted);
                wanted.retain(|(file, _)| self.can_be_read(*file));
                wanted.sort_unstable();
                wanted
            };
            if let Some(extractions) = &mut self.extractions {
                let round = self.number;
                extractions.extend(wanted.iter().map(|&(file, name)| Extraction { round, file, name }));
            }
            self.number += 1;
            if wanted.is_empty() {
                return Ok(());
            }
            let mut files: Vec<FileId> = wanted.iter().map(|(file, _)| *file).collect();
            files.dedup();
            self.format.will_read(&self.names, &wanted, &files);
            self.read(&files, false);
            F::carry_out(self, &files);
        }
    }

    /// The files that take part, in their order, and the table of names.
    pub fn finish(self) -> Finished<'a, F> {
        let Rounds { format, files: Files { list }, names, extractions, order, .. } = self;
        let files = match order {
            None => in_order(list),
            Some(order) => replace::in_places(list, &order),
        };
        Finished { format, files, names, extractions: extractions.unwrap_or_default() }
    }

    /// Reads those of `files` that take no part yet, whether they are wanted or not. Says which these were.
    pub fn read_unasked(&mut self, files: impl IntoIterator<Item = FileId>) -> Vec<FileId> {
        let mut files: Vec<FileId> = files.into_iter().filter(|file| self.can_be_read(*file)).collect();
        files.sort_unstable();
        files.dedup();
        self.read(&files, false);
        files
    }

    /// The files that come first for names that nothing defines and some file offers, each with the name.
    pub fn first_offers<'n>(&self, names: impl IntoIterator<Item = &'n [u8]>) -> Vec<(FileId, SymbolId)> {
        let offer = |name| {
            let id = self.names.find(name)?;
            let entry = self.names.get(id);
            (entry.rank() == Rank::Provided).then(|| (entry.file(), id))
        };
        names.into_iter().filter_map(offer).collect()
    }

    /// Whether a file takes no part yet, and may.
    pub fn can_be_read(&self, file: FileId) -> bool {
        !self.files.is_read(file) && !self.gone.contains(&file)
    }

    #[cold]
    fn refuse(&self, file: FileId, error: &F::Error) {
        let name = self.format.name(file);
        let problem = Diagnostic::error(error.cause(), format!("{name}: {error}"));
        self.sink.push(problem.in_file(name).of(file, 0));
    }

    /// Batches only bound memory; how work is cut does not show in the result.
    fn tasks_per_batch(&self) -> usize {
        if self.parallel { 4 * rayon::current_num_threads() } else { 1 }
    }
}

/// What is left when nothing more is wanted.
pub struct Finished<'a, F: Format<'a>> {
    pub format: F,
    pub files: Vec<(FileId, F::File)>,
    pub names: Names<'a, F::Rules>,
    pub extractions: Vec<Extraction>,
}

fn in_order<T>(list: Vec<Option<T>>) -> Vec<(FileId, T)> {
    let files = list.into_iter().enumerate();
    files.filter_map(|(i, file)| Some((FileId(i as u32), file?))).collect()
}
