//! Reading the files of a round: their symbols become records, which are entered into the table of names.
//!
//! Files are read by runs of them, a task a run, and a batch of tasks at a time so that records are still in the cache
//! when they are entered and their memory is used again. Of a file with more symbols than that a task reads the
//! first ones; the rest are read in slices of its symbol table, which are entered before the files behind it. So
//! names are entered in the order of files and symbols however many threads there are.

use std::mem;
use std::ops::Range;

use rayon::prelude::*;
use weld_common::diag::Diagnostic;
use weld_common::par;
use weld_common::trace::{self, Region};

use super::{Loaded, Resolver};
use crate::arch;
use crate::ids::*;
use crate::input::Reading;
use crate::input::load::Input;
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::names::{BinPool, Bins, Names};

/// Files are parsed in runs of this many; part of what makes ids independent of threads.
const FILES_PER_TASK: usize = 16;
/// Records of a file that are made in one go.
const RECORDS: usize = 1 << 14;

/// What one file became when it was read.
enum Parsed<'a> {
    Object(Box<Object<'a>>),
    Shared(Box<Shared<'a>>),
    /// A lazy file without further records, or one that was refused with a diagnostic.
    Nothing,
}

/// What a task has read.
struct Run<'a> {
    parsed: Vec<(FileId, Parsed<'a>)>,
    /// In the order of files.
    parts: Vec<Part<'a>>,
}

/// Records of consecutive files.
struct Part<'a> {
    bins: Bins<'a>,
    /// The last file has further ones.
    cut: Option<Cut>,
}

/// A file with more than [`RECORDS`] records.
#[derive(Clone, Copy)]
struct Cut {
    file: FileId,
    lazy: bool,
}

impl<'a> Resolver<'a, '_> {
    /// Parses the files of a round and enters their records.
    pub(super) fn read(
        &self,
        round: &[FileId],
        first_round: bool,
        (loaded, names): (&mut Loaded<'a>, &mut Names<'a>),
        pool: &BinPool<'a>,
    ) {
        let shard_bits = names.shard_bits();
        let task = |region: &Region, files: &[FileId]| {
            let _task = region.task();
            self.read_run(files, first_round, || pool.take(shard_bits))
        };
        for batch in round.chunks(FILES_PER_TASK * self.tasks_per_batch()) {
            let region = trace::region("read files");
            let task = |files| task(&region, files);
            let runs: Vec<_> = if self.parallel && batch.len() > FILES_PER_TASK {
                batch.par_chunks(FILES_PER_TASK).map(task).collect()
            } else {
                batch.chunks(FILES_PER_TASK).map(task).collect()
            };
            drop(region);
            let stretch = trace::stretch("take in a batch");
            let mut parts = Vec::with_capacity(runs.len());
            for run in runs {
                for (file, parsed) in run.parsed {
                    match parsed {
                        Parsed::Object(object) => loaded.objects[file.index()] = Some(object),
                        Parsed::Shared(shared) => loaded.shared[file.index()] = Some(shared),
                        Parsed::Nothing => {}
                    }
                }
                parts.extend(run.parts);
            }
            drop(stretch);
            let mut bins = Vec::with_capacity(parts.len());
            for part in parts {
                bins.push(part.bins);
                if let Some(cut) = part.cut {
                    names.enter(&bins, &*loaded, self.parallel);
                    pool.give_back(mem::take(&mut bins));
                    self.read_rest(cut, (loaded, names), pool);
                }
            }
            names.enter(&bins, &*loaded, self.parallel);
            pool.give_back(bins);
        }
    }

    fn read_run(&self, files: &[FileId], first_round: bool, fresh: impl Fn() -> Bins<'a>) -> Run<'a> {
        let mut run = Run { parsed: Vec::with_capacity(files.len()), parts: Vec::new() };
        let mut bins = fresh();
        for &file in files {
            let (parsed, cut) = self.read_one(file, first_round, &mut bins).unwrap_or_else(|message| {
                self.refuse(file, &message);
                (Parsed::Nothing, None)
            });
            run.parsed.push((file, parsed));
            if cut.is_some() {
                run.parts.push(Part { bins: mem::replace(&mut bins, fresh()), cut });
            }
        }
        run.parts.push(Part { bins, cut: None });
        run
    }

    /// Reads and enters what is left of a large file.
    fn read_rest(&self, cut: Cut, (loaded, names): (&mut Loaded<'a>, &mut Names<'a>), pool: &BinPool<'a>) {
        let shard_bits = names.shard_bits();
        let Cut { file, lazy } = cut;
        let mut start = RECORDS;
        while start < loaded.records(file) {
            let count = (loaded.records(file) - start).min(4 * RECORDS * self.tasks_per_batch());
            let runs = par::runs("read large files", self.parallel, count, RECORDS, |run| {
                let mut bins = pool.take(shard_bits);
                let run = start + run.start..start + run.end;
                self.intern(file, loaded, (run, lazy), &mut bins).map(|()| bins)
            });
            start += count;
            match runs.into_iter().collect::<Result<Vec<_>, String>>() {
                Ok(bins) => {
                    names.enter(&bins, &*loaded, self.parallel);
                    pool.give_back(bins);
                }
                Err(message) => {
                    self.refuse(file, &message);
                    loaded.objects[file.index()] = None;
                    loaded.shared[file.index()] = None;
                }
            }
        }
        if lazy {
            loaded.objects[file.index()] = None;
        }
    }

    fn intern(
        &self,
        file: FileId,
        loaded: &Loaded<'a>,
        (run, lazy): (Range<usize>, bool),
        bins: &mut Bins<'a>,
    ) -> Result<(), String> {
        match (&loaded.objects[file.index()], &loaded.shared[file.index()]) {
            (Some(object), _) => object.intern(run, lazy, self.wrap, bins),
            (None, Some(shared)) => shared.intern(run, bins),
            (None, None) => Ok(()),
        }
    }

    /// Batches only bound memory; how work is cut does not show in the result.
    pub(super) fn tasks_per_batch(&self) -> usize {
        if self.parallel { 4 * rayon::current_num_threads() } else { 1 }
    }

    #[cold]
    fn refuse(&self, file: FileId, message: &str) {
        let text = format!("{}: {message}", self.inputs.name(file));
        self.sink.push(Diagnostic::error(text).of(file, 0));
    }

    /// Whether an object for another machine has no symbols that anybody could ask for. C libraries have such members, so that
    /// there is an archive of some name.
    #[cold]
    fn offers_nothing(&self, file: FileId, data: &'a [u8]) -> bool {
        let Some(machine) = arch::of_file(data) else { return false };
        let reading = Reading { machine: machine.facts(), ..self.reading() };
        Object::parse(file, self.inputs.name(file), data, reading).is_ok_and(|object| object.records() == 0)
    }

    fn reading(&self) -> Reading<'a> {
        self.inputs.reading(self.parallel)
    }

    /// Reads a file, and its first records.
    fn read_one(
        &self,
        file: FileId,
        first_round: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(Parsed<'a>, Option<Cut>), String> {
        let (name, data, excluded, lazy) = match &self.inputs.files[file.index()] {
            Input::Internal => return Ok((Parsed::Nothing, None)),
            Input::Shared { name, data, link_name, as_needed, .. } => {
                let shared =
                    Shared::parse(file, name.clone(), (data, self.reading()), link_name, *as_needed)?;
                let records = shared.globals.len();
                shared.intern(0..records.min(RECORDS), bins)?;
                let cut = (records > RECORDS).then_some(Cut { file, lazy: false });
                return Ok((Parsed::Shared(Box::new(shared)), cut));
            }
            Input::Object { name, data, lazy, excluded } => {
                (name.clone(), *data, *excluded, *lazy && first_round)
            }
            Input::Member { archive, offset } => {
                let excluded = self.inputs.archives[*archive as usize].excluded;
                (self.inputs.name(file), self.inputs.member_bytes(*archive, *offset)?, excluded, false)
            }
        };
        crate::input::identify::check_relocatable(data)?;
        let mut object = match Object::parse(file, name, data, self.reading()) {
            Ok(object) => object,
            Err(_) if lazy && self.offers_nothing(file, data) => return Ok((Parsed::Nothing, None)),
            Err(message) => return Err(message),
        };
        object.excluded = excluded;
        let records = object.records();
        object.intern(0..records.min(RECORDS), lazy, self.wrap, bins)?;
        let cut = (records > RECORDS).then_some(Cut { file, lazy });
        let keep = !lazy || cut.is_some();
        Ok((if keep { Parsed::Object(Box::new(object)) } else { Parsed::Nothing }, cut))
    }
}

impl Loaded<'_> {
    /// The number of records that a file sends.
    fn records(&self, file: FileId) -> usize {
        let object = self.objects[file.index()].as_ref().map(|object| object.records());
        object.or(self.shared[file.index()].as_ref().map(|shared| shared.globals.len())).unwrap_or(0)
    }
}
