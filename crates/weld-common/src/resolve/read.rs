//! Reading the files of a round: their symbols become records, which are entered into the table of names.
//!
//! Files are read by runs of them, a task a run, and a batch of tasks at a time so that records are still in
//! the cache when they are entered and their memory is used again. Of a file with more symbols than that a
//! task reads the first ones; the rest are read in slices of its symbol table, which are entered before the
//! files after it. So names are entered in the order of files and symbols however many threads there are.

use std::mem;

use super::{Format, Rounds};
use crate::ids::FileId;
use crate::par;
use crate::symbol_names::Bins;
use crate::trace::{self, Region};

/// Files are parsed in runs of this many; part of what makes ids independent of threads.
const FILES_PER_TASK: usize = 16;
/// Records of a file that are made in one go.
pub const RECORDS: usize = 1 << 14;

/// What a file is when it has been read.
pub struct Reading<F, H> {
    /// `None` for one without further symbols that takes no part yet.
    pub file: Option<F>,
    /// The symbols that it can announce. The first [`RECORDS`] of them have been.
    pub symbols: usize,
    /// It has announced what it would define, and is linked only if it is wanted.
    pub is_lazy: bool,
    pub heading: H,
}

/// What a task has read.
struct Run<'a, R, E> {
    files: Vec<(FileId, Result<R, E>)>,
    /// In the order of files.
    parts: Vec<Part<'a>>,
}

/// Records of consecutive files.
struct Part<'a> {
    bins: Bins<'a>,
    /// The last file has further ones.
    large: Option<LargeFile>,
}

/// A file with more symbols than [`RECORDS`].
#[derive(Clone, Copy)]
struct LargeFile {
    file: FileId,
    symbols: usize,
    is_lazy: bool,
}

type Read<'a, F> = Reading<<F as Format<'a>>::File, <F as Format<'a>>::Heading>;
type Error<'a, F> = <F as Format<'a>>::Error;

impl<'a, F: Format<'a>> Rounds<'a, '_, F> {
    /// Reads files and enters their records. Those that are linked only if they are wanted take no part after
    /// the `first` round.
    pub fn read(&mut self, files: &[FileId], first: bool) {
        for batch in files.chunks(FILES_PER_TASK * self.tasks_per_batch()) {
            let region = trace::region("read files");
            let tasks: Vec<&[FileId]> = batch.chunks(FILES_PER_TASK).collect();
            let parallel = self.parallel && tasks.len() > 1;
            let runs = par::map(parallel, tasks.len(), |i| self.read_run(&region, tasks[i], first));
            drop(region);
            let stretch = trace::stretch("take in a batch");
            let mut parts = Vec::with_capacity(runs.len());
            for run in runs {
                for (file, result) in run.files {
                    self.take_in(file, result);
                }
                parts.extend(run.parts);
            }
            drop(stretch);
            let mut bins = Vec::with_capacity(parts.len());
            for part in parts {
                bins.push(part.bins);
                if let Some(large) = part.large {
                    self.enter(mem::take(&mut bins));
                    self.read_rest(large);
                }
            }
            self.enter(bins);
        }
    }

    pub(super) fn enter(&mut self, bins: Vec<Bins<'a>>) {
        self.names.enter(&bins, &self.files, self.parallel);
        self.pool.give_back(bins);
    }

    fn read_run(&self, region: &Region, files: &[FileId], first: bool) -> Run<'a, Read<'a, F>, Error<'a, F>> {
        let _task = region.task();
        let fresh = || self.pool.take(self.names.shard_bits());
        let mut run = Run { files: Vec::with_capacity(files.len()), parts: Vec::new() };
        let mut bins = fresh();
        for &file in files {
            let result = self.format.read(file, first, &mut bins);
            let large = result.as_ref().ok().filter(|read| read.symbols > RECORDS);
            if let Some(&Reading { symbols, is_lazy, .. }) = large {
                let large = Some(LargeFile { file, symbols, is_lazy });
                run.parts.push(Part { bins: mem::replace(&mut bins, fresh()), large });
            }
            run.files.push((file, result));
        }
        run.parts.push(Part { bins, large: None });
        run
    }

    fn take_in(&mut self, file: FileId, result: Result<Read<'a, F>, Error<'a, F>>) {
        let accepted = result.and_then(|read| {
            if read.is_lazy {
                self.offering.push(file);
            }
            self.format.accept(read.heading)?;
            Ok(read.file)
        });
        match accepted {
            Ok(read) => self.files.put(file, read),
            Err(error) => {
                self.refuse(file, &error);
                self.files.put(file, None);
            }
        }
    }

    /// Reads and enters what is left of a large file.
    fn read_rest(&mut self, large: LargeFile) {
        let shard_bits = self.names.shard_bits();
        let mut start = RECORDS;
        while start < large.symbols
            && let Some(file) = self.files.get(large.file)
        {
            let count = (large.symbols - start).min(4 * RECORDS * self.tasks_per_batch());
            let runs = par::runs("read large files", self.parallel, count, RECORDS, |run| {
                let mut bins = self.pool.take(shard_bits);
                let run = start + run.start..start + run.end;
                self.format.announce(file, run, large.is_lazy, &mut bins).map(|()| bins)
            });
            start += count;
            match runs.into_iter().collect::<Result<Vec<_>, Error<'a, F>>>() {
                Ok(bins) => self.enter(bins),
                Err(error) => {
                    self.refuse(large.file, &error);
                    self.files.put(large.file, None);
                }
            }
        }
        if large.is_lazy {
            self.files.put(large.file, None);
        }
    }

    /// Reads one file, and announces all of its symbols.
    pub(super) fn read_alone(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), Error<'a, F>> {
        let read = self.format.read(file, first, bins)?;
        match &read.file {
            Some(kept) if read.symbols > RECORDS => {
                self.format.announce(kept, RECORDS..read.symbols, read.is_lazy, bins)
            }
            _ => Ok(()),
        }
    }
}
