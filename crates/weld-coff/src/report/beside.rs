//! Files that go beside the image: its import library, module definitions, its manifest, maps, and the page of
//! `/explore`.

use std::path::Path;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use super::{explore, files, map};
use crate::implib;
use crate::job::Job;
use crate::options::Manifest;
use crate::synth::image::Image;
use crate::synth::manifest;

/// What is known of the image's file when it is complete.
pub struct Written {
    /// The time in its header.
    pub time: u32,
    /// Bytes.
    pub size: u64,
}

/// Makes those that are asked for beside the image `out`.
///
/// # Errors
/// If one cannot be made.
pub fn add(
    job: &Job,
    image: &Image,
    out: &Path,
    written: Written,
    parallel: bool,
) -> Result<(), Diagnostics> {
    let Written { time, size } = written;
    let options = job.options;
    add_import_library(job, image, out)?;
    if let Some(path) = &options.mingw.output_def {
        let text = image.tables.exports.definitions();
        job.reports.add(path, text.into_bytes());
    }
    if manifest::kind(options, image.resolved) == Manifest::Beside {
        let text = manifest::text(options, image.resolved);
        job.reports.add(&files::manifest_file(options, out), text.into_bytes());
    }
    if let Some(path) = &options.reports.explore {
        job.report_bytes(path, explore::page(image, out, size, parallel))?;
    }
    add_maps(job, image, out, time, parallel)
}

/// The library by which others link with the image.
fn add_import_library(job: &Job, image: &Image, out: &Path) -> Result<(), Diagnostics> {
    if !files::wants_import_library(job.options, !image.tables.exports.entries.is_empty()) {
        return Ok(());
    }
    let path = files::import_library(job.options, out);
    let name = image.resolved.program.name(out);
    let bytes = implib::bytes(&name, image.resolved.machine, &image.tables.exports.entries);
    let bytes = bytes.map_err(|e| {
        Diagnostic::error(Cause::TooLarge, format!("{}: {e}", text::path(&path))).in_file(text::path(&path))
    })?;
    let is_there = || std::fs::read(&path).is_ok_and(|old| old == bytes);
    if !(job.options.implib.is_kept && is_there()) {
        job.reports.add(&path, bytes);
    }
    Ok(())
}

/// `/map` and `/lldmap`.
fn add_maps(job: &Job, image: &Image, out: &Path, time: u32, parallel: bool) -> Result<(), Diagnostics> {
    let options = job.options;
    if let Some(given) = &options.reports.map {
        let name = out.file_stem().unwrap_or_default();
        let text = map::map(image, &text::text(name.as_encoded_bytes()), time, parallel);
        job.report(&files::map(given, out), &text)?;
    }
    if let Some(given) = &options.reports.lld_map {
        if let Some(path) = files::both_maps(options, out) {
            let text = format!("/lldmap and /map have the same output file '{}'", text::path(&path));
            job.sink.push(Diagnostic::warning(Cause::OutputClash, text).note("ignoring /lldmap"));
            return Ok(());
        }
        job.report(&files::map(given, out), &map::lld_map(image, parallel))?;
    }
    Ok(())
}
