//! The PDB: what `weld-pdb` is told of a link, and when.
//!
//! [`types`] are merged while the image is resolved and laid out; nothing of that depends on the other. When there are addresses, the PDB is written at
//! the same time as the image: [`modules`] with their live sections, [`places`] of what is in the image, [`fixups`] as they are asked for.
//! The image waits for one thing: the PDB's identity, which its debug directory tells ([`crate::synth::debug_directory`]).

mod files;
mod fixups;
mod modules;
mod places;
pub mod types;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::io::output::{OutputFile, OutputOptions};
use weld_common::text;
use weld_pdb::paths::absolute;
use weld_pdb::{Identity, Pdb, Relocate, Sources, Symbols, Types};

use crate::image::Image;
use crate::link::Job;
use crate::options::Options;
use crate::report::summary::InPdb;
use files::Files;
use fixups::Fixups;
use modules::Modules;
use places::Places;

/// Where the PDB goes.
pub fn path(options: &Options, out: &Path) -> PathBuf {
    options.pdb.path.clone().unwrap_or_else(|| out.with_extension("pdb"))
}

/// What relative paths in the PDB are put behind.
fn root(options: &Options) -> &[u8] {
    options.pdb.source_path.as_ref().unwrap_or(&options.invocation.directory).as_bytes()
}

/// Where the PDB goes; a relative path is put behind `directory`.
fn whole_path(options: &Options, out: &Path, directory: &[u8]) -> String {
    let pdb = path(options, out);
    let shown = text::path(&pdb);
    let (path, root) = match shown.strip_prefix('/') {
        Some(path) => (path, &b"/"[..]),
        None => (&*shown, directory),
    };
    text::text(&absolute(path.as_bytes(), root)).into_owned()
}

/// What the PDB calls the linker. With `/pdbsourcepath` the PDB shall be the same wherever it is made, so it tells
/// the name alone, which is the same on all systems.
fn program(options: &Options) -> Cow<'_, [u8]> {
    let program = options.invocation.program.as_str();
    if options.pdb.source_path.is_none() {
        return Cow::Borrowed(program.as_bytes());
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    absolute(name.as_bytes(), root(options))
}

/// How the image calls the PDB.
pub fn alt_path(options: &Options, out: &Path) -> String {
    let pdb = path(options, out);
    let Some(alt) = &options.pdb.alt_path else {
        // Debuggers look for it there, so this is where it is.
        return whole_path(options, out, options.invocation.directory.as_bytes());
    };
    let name = pdb.file_name().map_or("".into(), |name| text::text(name.as_encoded_bytes()).into_owned());
    let extension = out.extension().map_or("".into(), |e| text::text(e.as_encoded_bytes()).into_owned());
    replace(&replace(alt, "%_pdb%", &name), "%_ext%", &extension)
}

/// Variables of a path that are not known.
fn unknown_variables(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('%').collect();
    let between = parts.iter().skip(1).step_by(2).take((parts.len() - 1) / 2);
    let unknown = between.filter(|name| !matches!(&*name.to_ascii_lowercase(), "_pdb" | "_ext"));
    unknown.map(|name| format!("%{name}%")).collect()
}

/// Replaces a word of small letters, however it is written.
fn replace(text: &str, word: &str, by: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.to_ascii_lowercase().find(word) {
        out += &rest[..at];
        out += by;
        rest = &rest[at + word.len()..];
    }
    out + rest
}

/// The PDB and, if it was asked for, the one with nothing private: complete, but not in their places yet.
pub struct Written<'h> {
    pub identity: Identity,
    pub holds: InPdb,
    pub files: Vec<OutputFile<'h>>,
}

/// Writes the PDB of an image. Relocations in error are the link's ([`Job::sink`]); `sink` is told of what the PDB does without.
///
/// # Errors
/// If something is larger than a PDB can be, cannot be read or written.
pub fn write<'j>(
    job: &Job<'j>,
    image: &Image,
    types: &Types,
    (out, threads): (&Path, usize),
    sink: &DiagSink,
) -> Result<Written<'j>, Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let path = path(options, out);
    let files = Files::read(options, job.store, sink);
    for name in unknown_variables(options.pdb.alt_path.as_deref().unwrap_or_default()) {
        sink.warn(format!("only %_PDB% and %_EXT% supported in /pdbaltpath:, keeping {name} as literal"));
    }
    let whole_path = whole_path(options, out, root(options));
    let modules = Modules::of(image, &whole_path, parallel, job.sink);
    let list = modules.list();
    let sources = Sources { root: root(options), injected: &files.injected() };
    let symbols = job.step("scan symbols", || Symbols::scan(&list, types, sources, parallel, sink))?;
    let places = Places::of(image, &modules, parallel);
    let mut told = places.told();
    let streams = files.streams();
    (told.pdb_path, told.streams, told.page_size) = (&whole_path, &streams, options.pdb.page_size);
    told.fpo = modules.fpo();
    let writer = Writer { job, threads, sink };
    let pdb = job.step("lay out the PDB", || Pdb::plan(types, &symbols, &told, parallel, sink))?;
    let fixups = Fixups::new(image, &modules, job.sink);
    let (identity, file) = writer.write(&path, &pdb, &fixups)?;
    let holds = InPdb::of(types, &symbols, told.publics.len());
    let mut files = vec![file];
    if let Some(path) = &options.pdb.stripped {
        told.guid = Some(identity.guid);
        told.streams = &[];
        let list = modules.stripped();
        let none = Types::merge(&[], &[], false, sink)?;
        let symbols = Symbols::scan(&list, &none, Sources::default(), parallel, sink)?;
        let pdb = Pdb::plan(&none, &symbols, &told, parallel, sink)?;
        files.push(writer.write(path, &pdb, &fixups)?.1);
    }
    Ok(Written { identity, holds, files })
}

struct Writer<'w, 'j> {
    job: &'w Job<'j>,
    threads: usize,
    sink: &'w DiagSink,
}

impl<'j> Writer<'_, 'j> {
    fn write(
        &self,
        path: &Path,
        pdb: &Pdb,
        relocate: &dyn Relocate,
    ) -> Result<(Identity, OutputFile<'j>), Diagnostic> {
        let engine =
            OutputOptions { engine: self.job.options.engine, threads: self.threads, ..Default::default() };
        let file = OutputFile::create(path, pdb.file_len(), &engine, self.job.host)?;
        let write = || pdb.write(&file, self.threads, relocate, self.sink);
        let identity = self.job.step("write the PDB", write)?;
        Ok((identity, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_the_image_calls_the_pdb() {
        let mut options = Options::default();
        options.invocation.directory = "/w".into();
        assert_eq!(alt_path(&options, Path::new("o/a.exe")), "/w/o/a.pdb");
        options.pdb.path = Some("/x/y/../b.pdb".into());
        assert_eq!(alt_path(&options, Path::new("a.exe")), "/x/b.pdb");
        options.pdb.alt_path = Some("%_PDB%-%_ext%%_EXT%".into());
        assert_eq!(alt_path(&options, Path::new("a.dll")), "b.pdb-dlldll");
        // The PDB's own word for itself does not depend on where it is made, if that is asked for.
        options.pdb.path = Some("b.pdb".into());
        options.pdb.source_path = Some("c:\\src".into());
        assert_eq!(whole_path(&options, Path::new("a.dll"), root(&options)), "c:\\src\\b.pdb");
        for called in ["/usr/bin/weld", "Z:\\bin\\weld.exe", "weld"] {
            options.invocation.program = called.into();
            assert_eq!(*program(&options), *b"c:\\src\\weld");
        }
        assert_eq!(unknown_variables("a%_PDB%%x%b%c"), ["%x%"]);
    }
}
