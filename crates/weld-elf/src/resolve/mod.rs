//! Symbol resolution: which files take part, and which of them defines each global name.
//!
//! Files are read in rounds (`weld_common::resolve`). The rules are those of lld and mold, and carried out by
//! ranks (`weld_common::symbol_names`): a strong definition beats a common symbol, which beats a weak one;
//! among equals the earlier file wins. An archive member is read when a non-weak reference has no definition
//! in any file read so far and no shared object earlier on the command line provides it; a reference that is
//! not of default visibility is met by no shared object, so it reads the first member that offers the name.

pub mod comdat;
mod common_blocks;
mod compiled;
mod file;
mod hidden_references;
mod object_source;
mod read;
pub mod shared_commons;
mod soname;
mod undefined_glob;
pub mod versioned;
mod versioned_shared;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use weld_common::diag::{DiagSink, Diagnostics};
pub use weld_common::resolve::Extraction;
use weld_common::resolve::{Expected, Finished};
use weld_common::trace;

use crate::ids::*;
use crate::input::ir;
use crate::input::load::Inputs;
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::options::Options;
use crate::symbol_names::{self, *};
pub use compiled::Compiled;
use file::Sorted;
use read::{Reader, Rounds};
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
    /// `foo` without a version and `foo@@V`, of one object: in symbol tables the second has to come first,
    /// for loaders take either for `foo@V`.
    pub unversioned: Vec<(SymbolId, SymbolId)>,
    /// Common symbols that shared objects define as well; see [`shared_commons`].
    pub grown: HashMap<SymbolId, shared_commons::Grown>,
    /// Why lazy files were read, by round; empty unless a report asks for it.
    pub extractions: Vec<Extraction>,
    /// Some file may be intermediate code.
    pub has_code: bool,
    /// What compiled objects define and keep to this output; see [`Compiled::excluded`].
    pub excluded: HashSet<SymbolId>,
    /// Signatures of COMDAT groups whose contents a compiled object has, and its position.
    pub claimed_groups: (u32, Vec<SymbolId>),
}

pub struct Resolver<'a, 'l> {
    pub inputs: &'l Inputs<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub wrap: &'l Wrap<'a>,
    /// In which objects intermediate code is looked for.
    pub search: ir::Search,
    /// What it has become, if this link has been resolved before.
    pub compiled: Option<&'l Compiled<'a>>,
    pub parallel: bool,
}

impl<'a> Resolver<'a, '_> {
    /// Runs rounds until nothing more is wanted. `roots` are names that the command line refers to.
    ///
    /// # Errors
    /// What is wrong with files that take part.
    pub fn run(&self, roots: &[(&'a [u8], u32)]) -> Result<Resolved<'a>, Diagnostics> {
        let &Resolver { inputs, options, sink, wrap, search, compiled, parallel } = self;
        let (asked, has_code) = (HashSet::new(), AtomicBool::new(false));
        let is_compiled = compiled.is_some();
        let reader = Reader { inputs, options, wrap, search, is_compiled, has_code, parallel, asked };
        let shard_bits = symbol_names::shard_bits(inputs.total_bytes);
        let expected = Expected { shard_bits, files: inputs.files.len() };
        let mut rounds = Rounds::new(reader, expected, sink, parallel);
        rounds.extractions = options.reports.explains_extraction().then(Vec::new);
        rounds.refer(roots.iter().copied());
        compiled.iter().for_each(|compiled| compiled.begin(&mut rounds));
        rounds.announce_archives(0);
        let first: Vec<FileId> = inputs.first_round().filter(|file| rounds.can_be_read(*file)).collect();
        rounds.read(&first, true);
        compiled.iter().for_each(|compiled| compiled.read_live(&mut rounds));
        undefined_glob::add_roots(options, &mut rounds.names, sink);
        rounds.settle()?;
        if !is_compiled && rounds.format.has_code.load(Ordering::Relaxed) {
            compiled::read_runtime_calls(&mut rounds)?;
        }
        Ok(self.finish(rounds.finish()))
    }

    fn finish(&self, finished: Finished<'a, Reader<'a, '_>>) -> Resolved<'a> {
        let _stretch = trace::stretch("join files");
        let Finished { format, files, mut names, extractions } = finished;
        let has_code = format.has_code.into_inner();
        let Sorted { objects, mut shared, index_of_file } = file::sort(files, self.inputs.files.len());
        soname::join(&mut shared);
        let duplicates = symbol_names::take_duplicates(&mut names);
        let commons = symbol_names::take_commons(&mut names);
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
            extractions,
            has_code,
            excluded: HashSet::new(),
            claimed_groups: Default::default(),
        };
        compiled::note_said(self.compiled, &mut resolved);
        versioned::prefer_defaults(&mut resolved);
        versioned::settle(&mut resolved);
        versioned_shared::note(&mut resolved);
        shared_commons::settle(&mut resolved, self.sink);
        resolved
    }
}
