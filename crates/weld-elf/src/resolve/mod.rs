//! Symbol resolution: which files take part, and which of them defines each global name.
//!
//! Files are read in rounds. Round 0 reads everything the command line names and announces what
//! archives provide; each further round reads the archive members that the round before it found
//! to be wanted. A round is parallel inside, but its result depends on the state before it only,
//! so the set of members and every id are the same for any number of threads.
//!
//! Rules (those of lld and mold): a strong definition beats a common symbol, which beats a weak
//! definition; among equals the earlier file wins. An archive member is read when a non-weak
//! reference has no definition in any file read so far and no shared object earlier on the command
//! line provides it; a reference that is not of default visibility is met by no shared object, so it
//! reads the first member that offers the name.

pub mod comdat;
mod common_blocks;
mod interposed;
mod offers;
mod read;
pub mod shared_commons;
pub mod versioned;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use weld_common::archive::armap::Symbols;
use weld_common::diag::{DiagSink, Diagnostics};
use weld_common::glob::Glob;
use weld_common::hash::hash_bytes;
use weld_common::trace::{self, Region};

use crate::ids::*;
use crate::input::archives::ArchiveInput;
use crate::input::load::{Input, Inputs};
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::names::*;
use crate::options::Options;
use versioned::Shadowed;

/// The files that take part in the link, and the name table.
pub struct Resolved<'a> {
    /// Live objects in the order of their file ids.
    pub objects: Vec<Object<'a>>,
    pub shared: Vec<Shared<'a>>,
    pub names: Names<'a>,
    /// Object or shared index of each file id; `u32::MAX` if it takes no part.
    pub index_of_file: Vec<u32>,
    pub duplicates: Vec<Rival>,
    pub commons: Vec<Rival>,
    /// Names beside which some object defines a `name@version`.
    pub shadowed: Vec<Shadowed<'a>>,
    /// `foo` without a version and `foo@@V`, of one object: in symbol tables the second has to come first, for loaders take
    /// either for `foo@V`.
    pub unversioned: Vec<(SymbolId, SymbolId)>,
    /// Common symbols that shared objects define as well; see [`shared_commons`].
    pub grown: HashMap<SymbolId, shared_commons::Grown>,
    /// Why lazy files were read, by round; empty unless a report asks for it.
    pub extractions: Vec<Extraction>,
}

/// A name that was wanted, and the file that was read because it provides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extraction {
    /// The round after which it was wanted, from 0.
    pub round: u32,
    pub file: FileId,
    pub name: SymbolId,
}

/// The file table while rounds go on.
struct Loaded<'a> {
    objects: Vec<Option<Box<Object<'a>>>>,
    shared: Vec<Option<Box<Shared<'a>>>>,
}

impl IdSink for Loaded<'_> {
    #[inline]
    fn set(&self, file: FileId, sym: u32, bits: u32, id: SymbolId) {
        if let Some(object) = &self.objects[file.index()] {
            if bits & flag::GROUP_RECORD != 0 {
                object.groups[sym as usize].signature.store(id.0, Ordering::Relaxed);
            } else {
                object.globals[(sym - object.first_global) as usize].store(id.0, Ordering::Relaxed);
            }
        } else if let Some(shared) = &self.shared[file.index()] {
            shared.globals[(sym - shared.first_global) as usize].store(id.0, Ordering::Relaxed);
        }
    }
}

/// Archive index entries per task.
const INDEX_ENTRIES_PER_TASK: usize = 1 << 13;

pub struct Resolver<'a, 'l> {
    pub inputs: &'l Inputs<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub wrap: &'l Wrap<'a>,
    pub parallel: bool,
}

impl<'a> Resolver<'a, '_> {
    /// Runs rounds until nothing more is wanted. `roots` are names that the command line refers to.
    pub fn run(&self, roots: &[(&'a [u8], u32)]) -> Result<Resolved<'a>, Diagnostics> {
        let count = self.inputs.files.len();
        let mut loaded = Loaded {
            objects: (0..count).map(|_| None).collect(),
            shared: (0..count).map(|_| None).collect(),
        };
        let mut names = Names::new(shard_bits(self.inputs.total_bytes));
        let pool = BinPool::default();
        let mut first = pool.take(names.shard_bits());
        for &(name, bits) in roots {
            first.push(Record::new(hash_bytes(name), name, FileId(0), u32::MAX, bits));
        }
        names.enter(&[first], &loaded, false);
        self.announce_archives(&mut names, &loaded, &pool);
        let mut round: Vec<FileId> = self.inputs.first_round().collect();
        let mut extractions = Vec::new();
        let mut asked = HashSet::new();
        let mut number = 0;
        // The first round settles also what the command line itself wants of archives.
        while number == 0 || !round.is_empty() {
            self.read(&round, number == 0, (&mut loaded, &mut names), &pool);
            if number == 0 && !self.options.symbols.undefined_glob.is_empty() {
                self.add_roots(&mut names);
            }
            self.sink.end_phase()?;
            let _stretch = trace::stretch("wanted members");
            let mut wanted = names.wanted();
            let inside = self.offers_for_inside(&wanted, &names, &loaded);
            wanted.retain(|w| self.is_readable(w.0, &loaded));
            wanted.extend(inside);
            if self.options.symbols.fortran_common {
                wanted.extend(self.definitions_of_commons(&names, &loaded, &mut asked));
            }
            wanted.sort_unstable();
            if self.options.reports.explains_extraction() {
                let extraction = |&(file, name): &_| Extraction { round: number, file, name };
                extractions.extend(wanted.iter().map(extraction));
            }
            wanted.dedup_by_key(|w| w.0);
            round = wanted.into_iter().map(|w| w.0).collect();
            self.inputs.will_need(&round);
            number += 1;
        }
        let mut resolved = self.finish(loaded, names);
        resolved.extractions = extractions;
        Ok(resolved)
    }

    /// `--undefined-glob`.
    fn add_roots(&self, names: &mut Names<'a>) {
        let mut globs = Vec::new();
        for pattern in &self.options.symbols.undefined_glob {
            match Glob::new(pattern.as_bytes()) {
                Ok(glob) => globs.push(glob),
                Err(e) => self.sink.error(format!("--undefined-glob: {pattern}: {e}")),
            }
        }
        names.add_roots(|name| globs.iter().any(|g| g.matches(name)));
    }

    fn is_readable(&self, file: FileId, loaded: &Loaded) -> bool {
        let lazy = matches!(
            self.inputs.files[file.index()],
            Input::Member { .. } | Input::Object { lazy: true, .. }
        );
        lazy && loaded.objects[file.index()].is_none()
    }

    /// Enters what archives with an index provide.
    fn announce_archives(&self, names: &mut Names<'a>, loaded: &Loaded<'a>, pool: &BinPool<'a>) {
        let shard_bits = names.shard_bits();
        let mut tasks = Vec::new();
        for archive in self.inputs.archives.iter().filter(|a| a.lazy) {
            let Some(map) = archive.archive.armap() else { continue };
            let parts = map.count().div_ceil(INDEX_ENTRIES_PER_TASK);
            tasks.extend(map.split(parts).into_iter().map(|symbols| (archive, symbols)));
        }
        let task = |region: &Region, (archive, symbols): &(&ArchiveInput<'a>, Symbols<'a>)| {
            let _task = region.task();
            let mut bins = pool.take(shard_bits);
            archive.announce(symbols.clone(), &mut bins);
            bins
        };
        for batch in tasks.chunks(self.tasks_per_batch()) {
            let region = trace::region("read archive indices");
            let task = |part| task(&region, part);
            let bins: Vec<_> = if self.parallel {
                batch.par_iter().map(task).collect()
            } else {
                batch.iter().map(task).collect()
            };
            drop(region);
            names.enter(&bins, loaded, self.parallel);
            pool.give_back(bins);
        }
    }

    fn finish(&self, loaded: Loaded<'a>, mut names: Names<'a>) -> Resolved<'a> {
        let _stretch = trace::stretch("join files");
        let mut index_of_file = vec![u32::MAX; self.inputs.files.len()];
        let mut objects: Vec<Object> = Vec::new();
        for object in loaded.objects.into_iter().flatten() {
            index_of_file[object.file.index()] = objects.len() as u32;
            objects.push(*object);
        }
        let mut shared: Vec<Shared> = Vec::new();
        for dso in loaded.shared.into_iter().flatten() {
            index_of_file[dso.file.index()] = shared.len() as u32;
            shared.push(*dso);
        }
        join_libraries(&mut shared);
        let duplicates = names.take_duplicates();
        let commons = names.take_commons();
        let mut resolved = Resolved {
            objects,
            shared,
            names,
            index_of_file,
            duplicates,
            commons,
            shadowed: Vec::new(),
            unversioned: Vec::new(),
            grown: HashMap::new(),
            extractions: Vec::new(),
        };
        versioned::prefer_defaults(&mut resolved);
        versioned::settle(&mut resolved);
        interposed::note(&mut resolved);
        shared_commons::settle(&mut resolved, self.sink);
        resolved
    }
}

/// A library that was found by two paths is one library, and needed if either mention says so.
fn join_libraries(shared: &mut [Shared]) {
    let mut first: HashMap<&[u8], usize> = HashMap::new();
    for i in 0..shared.len() {
        let known = *first.entry(shared[i].soname).or_insert(i);
        shared[known].as_needed &= shared[i].as_needed;
        shared[i].as_needed |= known < i;
    }
}

/// How many shards the name table gets: enough that one shard's table stays in the L2 cache.
fn shard_bits(input_bytes: u64) -> u32 {
    match input_bytes {
        0..4_000_000 => 0,
        4_000_000..64_000_000 => 4,
        _ => 6,
    }
}
