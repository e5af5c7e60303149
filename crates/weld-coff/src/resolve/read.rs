//! One round: files are opened by several threads, and what they announce is entered in the order of files.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use weld_common::archive::armap::Symbols;
use weld_common::diag::Diagnostic;
use weld_common::hash::hash_bytes;
use weld_common::io::thin::member_bytes;
use weld_common::trace::{self, Region};

use super::{Resolver, Rounds, has_plain_name, import_symbol};
use crate::coff::identify::{Kind, identify};
use crate::coff::import::Import;
use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::input::FileName;
use crate::input::load::{ArchiveInput, Input, Inputs, refusal};
use crate::input::object::Object;
use crate::names::{Bins, IdSink, Rank, Record, SOFT, flag};

/// Index entries of archives, and files, for each task.
const INDEX_ENTRIES_PER_TASK: usize = 1 << 13;
const FILES_PER_TASK: usize = 16;

pub struct LoadedImport<'a> {
    pub file: FileId,
    pub import: Import<'a>,
    /// Ids of its names.
    pub symbols: [AtomicU32; 2],
}

pub enum File<'a> {
    Nothing,
    Object(Box<Object<'a>>),
    Import(Box<LoadedImport<'a>>),
}

const _: () = assert!(size_of::<File>() == 16);

/// The files that have been read, by their ids.
#[derive(Default)]
pub struct Loaded<'a> {
    files: Vec<File<'a>>,
}

impl<'a> Loaded<'a> {
    pub fn is_read(&self, file: FileId) -> bool {
        !matches!(self.files.get(file.index()), None | Some(File::Nothing))
    }

    pub fn object(&self, file: FileId) -> Option<&Object<'a>> {
        match self.files.get(file.index()) {
            Some(File::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Objects that have been read.
    pub fn objects(&self) -> impl Iterator<Item = &Object<'a>> {
        self.files.iter().filter_map(|file| match file {
            File::Object(object) => Some(&**object),
            _ => None,
        })
    }

    pub fn object_mut(&mut self, file: FileId) -> Option<&mut Object<'a>> {
        match self.files.get_mut(file.index()) {
            Some(File::Object(object)) => Some(object),
            _ => None,
        }
    }

    pub fn into_files(self) -> impl Iterator<Item = File<'a>> {
        self.files.into_iter()
    }
}

pub fn loaded_id(id: &AtomicU32) -> SymbolId {
    id.load(Ordering::Relaxed).checked_sub(1).map_or(SymbolId::NONE, SymbolId)
}

impl IdSink for Loaded<'_> {
    #[inline]
    fn set(&self, file: FileId, sym: u32, _: u32, id: SymbolId) {
        match &self.files[file.index()] {
            File::Object(object) => object.set_global(sym, id),
            File::Import(import) => import.symbols[sym as usize].store(id.0 + 1, Ordering::Relaxed),
            File::Nothing => {}
        }
    }
}

impl<'a> Inputs<'a> {
    /// Files that are read at once: all but members of archives.
    pub fn first_round(&self) -> impl Iterator<Item = FileId> {
        self.objects_from(0)
    }

    pub fn objects_from(&self, first: usize) -> impl Iterator<Item = FileId> {
        let files = self.files.iter().enumerate().skip(first);
        files.filter(|(_, file)| matches!(file, Input::File(_))).map(|(i, _)| FileId(i as u32))
    }
}

impl<'a> Resolver<'a, '_> {
    /// Enters what archives offer that have not been asked yet.
    pub(super) fn announce_archives(&self, rounds: &mut Rounds<'a, '_>) {
        rounds.loaded.files.resize_with(rounds.inputs.files.len(), || File::Nothing);
        let shard_bits = rounds.names.shard_bits();
        let archives = &rounds.inputs.archives[rounds.announced..];
        let count =
            archives.iter().filter_map(|archive| archive.archive.armap()).map(|map| map.count()).sum();
        rounds.names.reserve(count);
        // A few indices are read one after the other, through the same bins.
        let parallel = self.parallel && count > 2 * INDEX_ENTRIES_PER_TASK;
        let mut tasks = Vec::new();
        for archive in archives {
            let Some(map) = archive.archive.armap() else { continue };
            let parts = map.count().div_ceil(INDEX_ENTRIES_PER_TASK);
            tasks.extend(map.split(parts).into_iter().map(|symbols| (archive, symbols)));
        }
        let task = |region: &Region, (archive, symbols): &(&ArchiveInput<'a>, Symbols<'a>)| {
            let _task = region.task();
            let mut bins = rounds.pool.take(shard_bits);
            archive.announce(symbols.clone(), &mut bins);
            bins
        };
        for batch in tasks.chunks(if parallel { self.tasks_per_batch() } else { 1 }) {
            let region = trace::region("read archive indices");
            let bins: Vec<_> = match parallel {
                true => batch.par_iter().map(|part| task(&region, part)).collect(),
                false => batch.iter().map(|part| task(&region, part)).collect(),
            };
            drop(region);
            rounds.names.enter(&bins, &rounds.loaded, parallel);
            rounds.pool.give_back(bins);
        }
        rounds.announced = rounds.inputs.archives.len();
    }

    /// Reads files and enters what they announce. Those that are linked only if they are wanted are not in the
    /// `first` round for good: they say what they would define.
    pub(super) fn read(&self, files: &[FileId], first: bool, rounds: &mut Rounds<'a, '_>) {
        rounds.loaded.files.resize_with(rounds.inputs.files.len(), || File::Nothing);
        let shard_bits = rounds.names.shard_bits();
        for batch in files.chunks(FILES_PER_TASK * self.tasks_per_batch()) {
            let region = trace::region("read files");
            let inputs = &*rounds.inputs;
            let pool = &rounds.pool;
            let task = |files: &[FileId]| {
                let _task = region.task();
                let mut bins = pool.take(shard_bits);
                let one = |&file: &FileId| (file, self.read_one(inputs, file, first, &mut bins));
                let read: Vec<_> = files.iter().map(one).collect();
                (read, bins)
            };
            let runs: Vec<_> = match self.parallel && batch.len() > FILES_PER_TASK {
                true => batch.par_chunks(FILES_PER_TASK).map(task).collect(),
                false => batch.chunks(FILES_PER_TASK).map(task).collect(),
            };
            drop(region);
            let mut bins = Vec::with_capacity(runs.len());
            for (read, part) in runs {
                bins.push(part);
                for (file, result) in read {
                    let result = result.and_then(|(parsed, machine)| {
                        check_machine(machine, &mut rounds.machine)?;
                        Ok(parsed)
                    });
                    match result {
                        Ok(parsed) => rounds.loaded.files[file.index()] = parsed,
                        Err(message) => self.refuse(rounds.inputs.name(file), file, &message),
                    }
                }
            }
            if !self.sink.has_errors() {
                rounds.names.enter(&bins, &rounds.loaded, self.parallel);
            }
            rounds.pool.give_back(bins);
        }
    }

    fn read_one(
        &self,
        inputs: &Inputs<'a>,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(File<'a>, Option<Machine>), String> {
        let name = inputs.name(file);
        let (data, kind, lazy) = match &inputs.files[file.index()] {
            Input::Internal => return Ok((File::Nothing, None)),
            Input::File(file) => (file.data, file.kind, file.lazy && first),
            Input::Member { archive, offset } => {
                let archive = &inputs.archives[*archive as usize];
                let member = archive.archive.member_at(*offset).map_err(|e| e.to_string())?;
                let data = member_bytes(self.store, &archive.path, &member)?;
                (data, identify(data), false)
            }
        };
        match kind {
            Kind::Object | Kind::BigObject => {
                let data = (data, kind == Kind::BigObject);
                let object = Object::read(file, name, data, (self.options.mingw.on, lazy), bins)?;
                if self.options.debug.pdb && !lazy {
                    self.servers.look(self.store, &object.name, &object.coff);
                }
                let machine = object.coff.machine;
                Ok((if lazy { File::Nothing } else { File::Object(Box::new(object)) }, machine))
            }
            Kind::Import => {
                let import = Import::parse(data)?;
                self.announce_import(file, &import, lazy, bins);
                let machine = Some(import.machine);
                let symbols = [AtomicU32::new(0), AtomicU32::new(0)];
                let parsed = File::Import(Box::new(LoadedImport { file, import, symbols }));
                Ok((if lazy { File::Nothing } else { parsed }, machine))
            }
            kind => Err(refusal(kind).to_owned()),
        }
    }

    fn announce_import(&self, file: FileId, import: &Import<'a>, lazy: bool, bins: &mut Bins<'a>) {
        let address = self.store.keep([b"__imp_", import.symbol].concat());
        let mut push = |name: &'a [u8], sym: u32| {
            let (bits, sym) = match lazy {
                true => (Rank::Provided as u32, u32::MAX),
                false => (SOFT as u32 | flag::IMPORT, sym),
            };
            bins.push(Record::new(hash_bytes(name), name, file, sym, bits));
        };
        push(address, import_symbol::ADDRESS);
        if has_plain_name(import) {
            push(import.symbol, import_symbol::PLAIN);
        }
    }

    /// Batches only bound memory; how work is cut does not show in the result.
    fn tasks_per_batch(&self) -> usize {
        if self.parallel { 4 * rayon::current_num_threads() } else { 64 }
    }

    #[cold]
    fn refuse(&self, name: FileName, file: FileId, message: &str) {
        let text = format!("{name}: {message}");
        self.sink.push(Diagnostic::error(text).of(file, 0));
    }
}

/// All files are for one machine; that of the first one if the command line does not say.
fn check_machine(machine: Option<Machine>, all: &mut Option<Machine>) -> Result<(), String> {
    match (machine, *all) {
        (Some(machine), Some(all)) if machine != all => {
            Err(format!("machine type {} conflicts with {}", machine.name(), all.name()))
        }
        (Some(machine), None) => {
            *all = Some(machine);
            Ok(())
        }
        _ => Ok(()),
    }
}
