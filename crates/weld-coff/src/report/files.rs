//! The files that a link writes: where each of them goes, and what none of them may replace.
//!
//! All take their places at the end, one after the other, so of two that are one file only the last would be
//! left. What a link reads stays as it is, but for the image and its import library: they are outputs that
//! another link may have made before.

use std::path::{Path, PathBuf};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::io::identity::{self, Clash, Identity};
use weld_common::text;

use crate::input::load::Inputs;
use crate::options::{Manifest, Options};
use crate::pdb_path;
use crate::resolve::Resolved;
use crate::synth::manifest;

pub const IMAGE: &str = "the image";
pub const IMPORT_LIBRARY: &str = "the import library";
pub const PDB: &str = "the PDB";
pub const STRIPPED_PDB: &str = "the PDB of /pdbstripped";

/// Where the image goes.
pub fn image(options: &Options, resolved: &Resolved, inputs: &Inputs) -> PathBuf {
    if let Some(path) = &options.out {
        return path.clone();
    }
    let extension = match (options.dll, options.loading.driver) {
        (true, _) => "dll",
        (_, true) => "sys",
        _ => "exe",
    };
    if let Some(name) = &resolved.program.module_name {
        return PathBuf::from(name);
    }
    let first = inputs.first_path();
    let path = first.as_deref().map(text::to_path).unwrap_or_else(|| PathBuf::from("a"));
    Path::new(path.file_name().unwrap_or_default()).with_extension(extension)
}

/// Whether an import library is written. Who gives a DLL's a name waits for the file, even if nothing is
/// exported; GNU linkers write one only if they are asked to.
pub fn wants_import_library(options: &Options, exports: bool) -> bool {
    let is_named = options.implib.path.is_some();
    !options.implib.is_refused && (is_named && options.dll || exports && (is_named || !options.mingw.on))
}

/// Where the import library goes.
pub fn import_library(options: &Options, out: &Path) -> PathBuf {
    options.implib.path.clone().unwrap_or_else(|| out.with_extension("lib"))
}

/// Where a manifest beside the image goes.
pub fn manifest_file(options: &Options, out: &Path) -> PathBuf {
    options.manifest.path.clone().unwrap_or_else(|| with_more(out, ".manifest"))
}

/// Where a map goes, of which `given` is what its option says.
pub fn map(given: &Option<PathBuf>, out: &Path) -> PathBuf {
    given.clone().unwrap_or_else(|| out.with_extension("map"))
}

/// Where both maps would go, if it is the same file; then there is only `/map`.
pub fn both_maps(options: &Options, out: &Path) -> Option<PathBuf> {
    let [one, other] =
        [options.reports.map.as_ref()?, options.reports.lld_map.as_ref()?].map(|given| map(given, out));
    (one == other).then_some(one)
}

/// Where the trace goes.
pub fn time_trace(options: &Options, out: &Path) -> Option<PathBuf> {
    let beside = options.reports.time_trace_beside_output.then(|| with_more(out, ".time-trace"));
    options.reports.time_trace.clone().or(beside)
}

/// `/linkreprofullpathrsp`: a response file with the inputs, wherever the link was called.
pub fn input_list(inputs: &Inputs) -> String {
    let whole = |path: &str| {
        let path = text::to_path(path);
        let whole = std::path::absolute(&path).unwrap_or(path);
        format!("\"{}\"\n", text::path(&whole))
    };
    inputs.paths.iter().map(|path| whole(path)).collect()
}

/// A path with something after it.
fn with_more(path: &Path, more: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(more);
    path.into()
}

/// Finds files that would replace others.
///
/// # Errors
/// If there is one.
pub fn check(options: &Options, resolved: &Resolved, inputs: &Inputs, out: &Path) -> Result<(), Diagnostic> {
    let problem = |what: &str, path: &Path, other: &str| {
        Diagnostic::error(
            Cause::OutputClash,
            format!("{what} would take the place of {}, {other}", text::path(path)),
        )
    };
    let list = written(options, resolved, out);
    let written = identity::distinct(list.iter().map(|(what, path)| (*what, path.as_path())));
    let written = written.map_err(|Clash { first, second, path }| problem(second, path, first))?;
    let read: Vec<Identity> = read(options).filter_map(|path| Identity::of(path)).collect();
    for (identity, what) in written {
        if ![IMAGE, IMPORT_LIBRARY].contains(&what) && (inputs.has(&identity) || read.contains(&identity)) {
            let path = list.iter().find(|(other, _)| *other == what).map_or(out, |(_, path)| path.as_path());
            return Err(problem(what, path, "which is an input"));
        }
    }
    Ok(())
}

/// What is written, and where to.
pub fn written(options: &Options, resolved: &Resolved, out: &Path) -> Vec<(&'static str, PathBuf)> {
    let of_pdb = |path: Option<PathBuf>| path.filter(|_| options.debug.pdb);
    let exports = wants_import_library(options, !resolved.program.exports.is_empty());
    let beside = manifest::kind(options, resolved) == Manifest::Beside;
    let lld_map = options.reports.lld_map.as_ref().filter(|_| both_maps(options, out).is_none());
    let all = [
        (IMAGE, Some(out.to_owned())),
        (PDB, of_pdb(Some(pdb_path::path(options, out)))),
        (STRIPPED_PDB, of_pdb(options.pdb.stripped.clone())),
        (IMPORT_LIBRARY, exports.then(|| import_library(options, out))),
        ("the module definitions", options.mingw.output_def.clone()),
        ("the manifest", beside.then(|| manifest_file(options, out))),
        ("the map", options.reports.map.as_ref().map(|given| map(given, out))),
        ("the map of /lldmap", lld_map.map(|given| map(given, out))),
        ("the page of /explore", options.reports.explore.clone()),
        ("the list of /print-symbol-order", options.reports.symbol_order.clone()),
        ("the trace", time_trace(options, out)),
        ("the list of inputs", options.input_list.clone()),
        ("the file of /reproduce", options.reproduce.as_ref().map(|reproduction| reproduction.path.clone())),
    ];
    let all = all.into_iter().filter_map(|(what, path)| Some((what, path?)));
    // That is standard output.
    all.filter(|(_, path)| path != Path::new("-")).collect()
}

/// What options have read besides the inputs.
fn read(options: &Options) -> impl Iterator<Item = &PathBuf> {
    let pdb = &options.pdb;
    let in_pdb = pdb.natvis.iter().chain(&pdb.source_link).chain(pdb.streams.iter().map(|(_, path)| path));
    let others = options
        .def
        .iter()
        .chain(&options.stub)
        .chain(&options.layout.order)
        .chain(&options.layout.call_graph_file);
    let others = others.chain(&options.layout.section_layout);
    others.chain(in_pdb).chain(&options.manifest.inputs).chain(&options.overlay)
}
