//! The files that options ask for beside the output, and what they must not replace.

use std::path::{Path, PathBuf};

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::io::identity::{self, Clash, Identity};
use weld_common::text;

use crate::options::{Options, Remap};

/// What the linked file is in messages.
const OUTPUT: &str = "the output";

/// What each report would replace; for [`weld_common::io::input::InputStore::refuse`].
///
/// # Errors
/// If two of them, or one and the output, are the same file, or if one is a script that the options
/// name: `--reproduce` would have replaced it before it is read.
pub fn check(options: &Options) -> Result<Vec<(Identity, String)>, Diagnostics> {
    check_stdout(options)?;
    let reports: Vec<(&str, &Path)> = reports(options).collect();
    if reports.is_empty() {
        return Ok(Vec::new());
    }
    let output = (OUTPUT, options.output.path.as_path());
    let mut found = identity::distinct(std::iter::once(output).chain(reports)).map_err(|clash| {
        let Clash { first, second, path } = clash;
        Diagnostic::error(
            Cause::OutputClash,
            format!("{first} and {second} would be the same file, {}", text::path(path)),
        )
    })?;
    // The output takes its place when nobody reads any longer.
    found.retain(|(_, what)| *what != OUTPUT);
    for path in scripts(options) {
        let identity = Identity::of(path);
        if let Some((_, report)) = found.iter().find(|(of, _)| Some(of) == identity.as_ref()) {
            let text = format!("{report} would replace {}, which is an input", text::path(path));
            return Err(Diagnostic::error(Cause::OutputClash, text).into());
        }
    }
    Ok(found.into_iter().map(|(identity, what)| (identity, what.to_owned())).collect())
}

/// Reports that an option names a file for; `-` is standard output.
fn named(options: &Options) -> impl Iterator<Item = (&'static str, &Path)> {
    let files = [
        ("--Map", &options.reports.map_file),
        ("--explore", &options.reports.explore),
        ("--why-extract", &options.reports.why_extract),
        ("--print-archive-stats", &options.reports.archive_stats),
        ("--print-gc-sections", &options.reports.print_gc_sections),
        ("--print-icf-sections", &options.reports.print_icf_sections),
        ("--dependency-file", &options.reports.dependency_file),
        ("--time-trace", &options.reports.time_trace),
        ("--print-symbol-order", &options.order.print),
        ("--separate-debug-file", &options.output.debug_file),
        ("--out-implib", &options.gateways.output),
    ];
    files.into_iter().filter_map(|(what, path)| Some((what, path.as_deref()?)))
}

/// What is written to files beside the output.
fn reports(options: &Options) -> impl Iterator<Item = (&'static str, &Path)> {
    let reproduce = options.reports.reproduce.iter().map(|path| ("--reproduce", path.as_path()));
    named(options).chain(reproduce).filter(|(_, path)| *path != Path::new("-"))
}

/// Files that are read after the inputs.
fn scripts(options: &Options) -> impl Iterator<Item = &PathBuf> {
    let lists = options.symbols.version_scripts.iter().chain(&options.symbols.dynamic_lists);
    let lists = lists.chain(&options.symbols.export_symbol_lists).chain(&options.symtab.retain_symbols_file);
    let lists = lists.chain(&options.gateways.earlier);
    let rules = options.inputs.remaps.iter().filter_map(|remap| match remap {
        Remap::File(path) => Some(path),
        Remap::Rule(_) => None,
    });
    let order = &options.order;
    lists
        .chain(&order.symbol_file)
        .chain(&order.call_graph_file)
        .chain(&order.section_file)
        .chain(&order.partition.profile)
        .chain(rules)
}

/// Text and the output cannot both go to standard output: neither could be told from the other.
fn check_stdout(options: &Options) -> Result<(), Diagnostics> {
    if ![Path::new("-"), Path::new("/dev/stdout")].contains(&options.output.path.as_path()) {
        return Ok(());
    }
    let prints = [
        ("-v", options.reports.print_version),
        ("--print-default-script", options.reports.default_script),
        ("--print-memory-usage", options.reports.memory_usage),
        ("--verbose", options.reports.verbose),
        ("--trace", options.reports.trace),
        ("--trace-symbol", !options.reports.trace_symbols.is_empty()),
        ("--print-map", options.reports.print_map),
        ("--cref", options.reports.cref && options.reports.map_file.is_none()),
        ("--stats", options.reports.stats),
        ("--why-live", !options.reports.why_live.is_empty()),
        ("--print-dependencies", options.reports.dependencies),
        ("-z report-relative-reloc", options.reports.relative_relocs),
    ];
    let prints = prints.into_iter().filter(|(_, does)| *does).map(|(what, _)| what);
    let named = named(options).filter(|(_, path)| *path == Path::new("-")).map(|(what, _)| what);
    match prints.chain(named).next() {
        Some(what) => Err(Diagnostic::error(
            Cause::OutputClash,
            format!("{what} and the output would both go to standard output"),
        )
        .into()),
        None => Ok(()),
    }
}
