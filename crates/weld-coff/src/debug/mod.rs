//! The PDB: what `weld-pdb` is told of a link, and when.
//!
//! [`types`] are merged while the image is resolved and laid out; nothing of that depends on the other. When
//! there are addresses, the PDB is written at the same time as the image: [`modules`] with their live
//! sections, [`places`] of what is in the image, [`fixups`] as they are asked for. The image waits for one
//! thing: the PDB's identity, which its debug directory tells ([`crate::synth::debug_directory`]).

mod files;
mod fixups;
mod modules;
mod places;
pub mod types;

use std::path::Path;

use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_common::io::units::Leaves;
use weld_pdb::resize::Known;
use weld_pdb::{Identity, Pdb, Relocate, Sources, Symbols, Types};

use crate::job::Job;
use crate::options::Incremental;
use crate::pdb_path;
use crate::synth::image::Image;
use files::Files;
use fixups::Fixups;
use modules::Modules;
use places::Places;
pub use places::is_public;

/// What the PDB has, by number.
#[derive(Clone, Copy, Debug, Default)]
pub struct InPdb {
    pub types: u64,
    pub ids: u64,
    pub strings: u64,
    pub globals: u64,
    pub symbol_bytes: u64,
    pub publics: u64,
}

impl InPdb {
    pub fn of(types: &Types, symbols: &Symbols, publics: usize) -> InPdb {
        InPdb {
            types: types.count(weld_pdb::codeview::Space::Type).into(),
            ids: types.count(weld_pdb::codeview::Space::Id).into(),
            strings: symbols.strings.count() as u64,
            globals: symbols.global_count(),
            symbol_bytes: symbols.module_bytes(),
            publics: publics as u64,
        }
    }
}

/// The PDB and, if it was asked for, the one with nothing private: complete, but not in their places yet.
pub struct Written<'h> {
    pub identity: Identity,
    pub holds: InPdb,
    pub files: Vec<OutputFile<'h>>,
    /// The digests of the PDB's parts, and what is to be known of modules, if they are kept.
    pub leaves: Leaves,
    pub known: Vec<Known>,
}

/// What was said of debug information, beside the main course of the link, is said after what that said.
pub fn say(job: &Job, warnings: &DiagSink) {
    job.sink.settle();
    let is_wanted =
        |warning: &Diagnostic| job.options.warnings.missing_types || !warning.message.contains("[LNK4099]");
    warnings.finish().into_iter().filter(is_wanted).for_each(|warning| job.sink.push(warning));
    job.sink.settle();
}

/// Writes the PDB of an image. Relocations in error are the link's ([`Job::sink`]); `sink` is told of what
/// the PDB does without.
///
/// # Errors
/// If something is larger than a PDB can be, cannot be read or written.
pub fn write<'j>(
    job: &Job<'j>,
    image: &Image,
    types: &Types,
    out: &Path,
    threads: usize,
    sink: &DiagSink,
) -> Result<Written<'j>, Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let path = pdb_path::path(options, out);
    let files = Files::read(options, job.store, sink);
    for name in pdb_path::unknown_variables(options.pdb.alt_path.as_deref().unwrap_or_default()) {
        sink.warn(
            Cause::BadOption,
            format!("only %_PDB% and %_EXT% supported in /pdbaltpath:, keeping {name} as literal"),
        );
    }
    let whole_path = pdb_path::whole_path(options, out, pdb_path::root(options));
    let modules = Modules::of(image, &whole_path, parallel, job.sink);
    let list = modules.list();
    let keeps = options.incremental != Incremental::Off;
    let sources = Sources { root: pdb_path::root(options), injected: &files.injected(), keeps };
    let symbols = job.step("scan symbols", || Symbols::scan(&list, types, sources, parallel, sink))?;
    let places = Places::of(image, &modules, parallel);
    let mut told = places.told();
    let streams = files.streams();
    (told.pdb_path, told.streams, told.page_size) = (&whole_path, &streams, options.pdb.page_size);
    told.fpo = modules.fpo();
    let writer = Writer { job, threads, sink, keeps };
    let pdb = job.step("lay out the PDB", || Pdb::plan(types, &symbols, &told, parallel, sink))?;
    let fixups = Fixups::new(image, &modules, job.sink);
    let (identity, leaves, file) = writer.write(&path, &pdb, &fixups)?;
    let holds = InPdb::of(types, &symbols, told.publics.len());
    let known = if keeps { (0..list.len()).map(|module| pdb.known(module)).collect() } else { Vec::new() };
    let mut files = vec![file];
    if let Some(path) = &options.pdb.stripped {
        told.guid = Some(identity.guid);
        told.streams = &[];
        let list = modules.stripped();
        let none = Types::merge(&[], &[], false, sink)?;
        let symbols = Symbols::scan(&list, &none, Sources::default(), parallel, sink)?;
        let pdb = Pdb::plan(&none, &symbols, &told, parallel, sink)?;
        files.push(writer.write(path, &pdb, &fixups)?.2);
    }
    Ok(Written { identity, holds, files, leaves, known })
}

struct Writer<'w, 'j> {
    job: &'w Job<'j>,
    threads: usize,
    sink: &'w DiagSink,
    /// The digests of parts are kept.
    keeps: bool,
}

impl<'j> Writer<'_, 'j> {
    fn write(
        &self,
        path: &Path,
        pdb: &Pdb,
        relocate: &dyn Relocate,
    ) -> Result<(Identity, Leaves, OutputFile<'j>), Diagnostic> {
        let engine =
            OutputOptions { engine: self.job.options.engine, threads: self.threads, ..Default::default() };
        let file = OutputFile::create(path, pdb.file_len(), &engine, self.job.host)?;
        let write = || pdb.write_keeping(&file, self.threads, relocate, (self.sink, self.keeps));
        let (identity, leaves) = self.job.step("write the PDB", write)?;
        Ok((identity, leaves, file))
    }
}
