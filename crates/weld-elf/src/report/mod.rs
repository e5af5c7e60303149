//! What a link has to say: errors about symbols, and the reports that options ask for.
//!
//! Everything here is off the common path of a link that succeeds: what errors need to be clear
//! (referrers, functions, source lines, likely causes) is looked up when there is an error, and a
//! report costs nothing unless its option is given.
//!
//! Texts name places as `file:(section+offset)`; source lines are added last, by [`source`], and only
//! to what will be shown.

pub mod commons;
pub mod cref;
pub mod dependencies;
pub mod duplicates;
pub mod error_handling_script;
pub mod explore;
pub mod extraction;
pub mod files;
mod gateways;
mod gnu_map;
pub mod hints;
pub mod layout_warnings;
pub mod map;
mod memory_usage;
mod nocrossrefs;
pub mod placement;
pub mod print_dependencies;
pub mod reproduce;
mod script_lines;
pub mod shared_references;
pub mod source;
pub mod split_stack;
pub mod trace;
mod transitive_needed;
pub mod undefined;
pub mod versions;
pub mod warnings;
mod why_live;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::trace as tracing;

use crate::ids::*;
use crate::input::archives::is_meant;
use crate::input::load::{Input, Inputs};
use crate::job::{Context, Job};
use crate::live::Live;
use crate::mode::Mode;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::symbols::Symbols;
use crate::synth::eh_frames::EhFrames;
use crate::synth::headers::file_flags;
use crate::synth::image::Image;
use crate::synth::symtab::SymTab;
use split_stack::SplitStack;
use undefined::Undefined;
use warnings::Warnings;

/// `--exclude-libs` with a name that no archive has would leave in what it is meant to take out.
fn exclusions(job: &Job, inputs: &Inputs) {
    for value in job.options.symbols.exclude_libs.iter().filter(|value| *value != "ALL") {
        if !inputs.archives.iter().any(|archive| is_meant(value, &archive.path)) {
            job.sink.push(Diagnostic::warning(
                Cause::OptionWithoutEffect,
                format!("--exclude-libs: there is no archive called {value}"),
            ));
        }
    }
}

/// What is asked for and cannot be had from this kind of output.
pub fn unheeded(job: &Job, mode: &Mode) {
    if job.options.symbols.dynamic_undefined_weak == Some(true) && !mode.dynamic_undefined {
        let why = if mode.relocatable { "with -r" } else { "without a loader" };
        job.sink.warn(Cause::OptionWithoutEffect, format!("-z dynamic-undefined-weak has no effect {why}"));
    }
}

/// Objects whose headers say that they do not go together.
pub fn flags(job: &Job, resolved: &Resolved) {
    if let Err(wrong) = file_flags(&resolved.objects) {
        job.sink.push(wrong);
    }
}

/// Counts for `--stats`, and for `--verbose`.
fn statistics(job: &Job, inputs: &Inputs, resolved: &Resolved) -> Result<(), Diagnostics> {
    let members = |file: &FileId| matches!(inputs.files[file.index()], Input::Member { .. });
    let files = || resolved.objects.iter().map(|o| o.file);
    let extracted = || files().filter(members).count();
    let provided = || inputs.files.iter().filter(|f| matches!(f, Input::Member { .. })).count();
    job.trace
        .note("input files opened", || format!("{} ({} bytes)", inputs.opened.len(), inputs.total_bytes));
    job.trace.note("objects", || resolved.objects.len().to_string());
    job.trace.note("archive members extracted", || format!("{} of {}", extracted(), provided()));
    job.trace.note("shared objects", || resolved.shared.len().to_string());
    job.trace.note("global names", || resolved.names.len().to_string());
    job.trace
        .note("input sections", || resolved.objects.iter().map(|o| o.shdrs.len()).sum::<usize>().to_string());
    if job.options.reports.verbose {
        let mut text = String::new();
        inputs.opened.iter().for_each(|path| text += &format!("opened {path}\n"));
        text += &format!(
            "{} objects, {} of them archive members; {} shared objects; {} global names\n",
            resolved.objects.len(),
            extracted(),
            resolved.shared.len(),
            resolved.names.len()
        );
        job.print(&text)?;
    }
    Ok(())
}

/// Reports on which files take part and why: `--trace`, `-y`, `--why-extract`, `--warn-backrefs`.
pub fn resolution(job: &Job, inputs: &Inputs, resolved: &Resolved) -> Result<(), Diagnostics> {
    let options = job.options;
    exclusions(job, inputs);
    statistics(job, inputs, resolved)?;
    if options.reports.trace {
        job.print(&trace::files(inputs, resolved))?;
    }
    if !options.reports.trace_symbols.is_empty() {
        job.print(&trace::symbols(job, inputs, resolved))?;
    }
    if options.reports.why_extract.is_some() || options.reports.warn_backrefs {
        extraction::report(job, inputs, resolved)?;
    }
    print_dependencies::archives(job, inputs, resolved)
}

/// Names that are defined twice.
pub fn duplicates(job: &Job, resolved: &Resolved, sections: &Sections) {
    let _stretch = tracing::stretch("reports on symbols");
    duplicates::report(job, resolved, sections);
    commons::report(job, resolved);
}

/// Names that are asked for and not defined.
pub fn undefined(job: &Job, context: &Context, resolved: &Resolved, symbols: &Symbols) {
    let _stretch = tracing::stretch("reports on symbols");
    undefined::aliases(job, resolved, symbols, context.internals);
    undefined::required(job, resolved, symbols);
    // Symbols defined twice do not keep those that are not defined from being found.
    job.sink.settle();
}

/// What is wrong with references, and what gc found.
pub fn references<'j>(
    job: &Job<'j>,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &Sections<'j>,
    symbols: &Symbols,
    live: &Live,
) -> Result<(), Diagnostics> {
    let _stretch = tracing::stretch("reports on relocations");
    let (inputs, owners, parallel) = (context.inputs, context.owners, context.parallel);
    Undefined { job, inputs, resolved, sections, symbols, parallel }.report(live);
    job.sink.settle();
    shared_references::report(job, context.mode.facts(), resolved, symbols);
    job.sink.settle();
    Warnings { job, resolved, sections, live }.report();
    placement::report(job, resolved, sections, live);
    SplitStack { job, resolved, sections, symbols, live, owners }.report();
    print_dependencies::dependencies(job, inputs, resolved, sections, symbols)?;
    why_live::report(job, context, resolved, sections, symbols, live)?;
    removed_sections(job, resolved, sections, live)
}

/// What is said right before the output takes its place: `--dependency-file`, `--stats`, `--time-trace`.
pub fn last(job: &Job, inputs: &Inputs) -> Result<(), Diagnostics> {
    dependencies::report(job, inputs)?;
    job.report_trace(job.options.reports.stats, job.options.reports.time_trace.as_deref())
}

/// `--print-gc-sections`.
pub fn removed_sections(
    job: &Job,
    resolved: &Resolved,
    sections: &Sections,
    live: &Live,
) -> Result<(), Diagnostics> {
    let Some(path) = &job.options.reports.print_gc_sections else { return Ok(()) };
    let mut text = String::new();
    for object in &resolved.objects {
        for shndx in 1..object.shdrs.len() as u32 {
            let id = SectionId(object.section_base + shndx);
            if sections.get(id).in_image() && !live.contains(id) {
                text += &format!("removing unused section {}\n", object.at_section(shndx));
            }
        }
    }
    job.report(path, &text)
}

/// `--print-icf-sections`.
pub fn folded_sections(
    job: &Job,
    resolved: &Resolved,
    live: &Live,
    context: &Context,
) -> Result<(), Diagnostics> {
    let Some(path) = &job.options.reports.print_icf_sections else { return Ok(()) };
    let label = |section: SectionId| {
        let object = &resolved.objects[context.owners.object(section).index()];
        object.at_section(section.0 - object.section_base).to_string()
    };
    let mut pairs = live.folds.pairs.clone();
    pairs.sort_unstable_by_key(|(folded, leader)| (*leader, *folded));
    let mut text = String::new();
    for class in pairs.chunk_by(|a, b| a.1 == b.1) {
        text += &format!("selected section {}\n", label(class[0].1));
        for (folded, _) in class {
            text += &format!("  removing identical section {}\n", label(*folded));
        }
    }
    job.report(path, &text)
}

/// Tables that the linker makes of what objects bring.
#[derive(Clone, Copy)]
pub struct Made<'c> {
    pub frames: &'c EhFrames,
    pub symtab: Option<&'c SymTab>,
}

/// Reports on where everything will be: `-Map`, `--print-map`, `--cref`, `--explore`.
pub fn layout(job: &Job, image: &Image, made: Made, context: &Context) -> Result<(), Diagnostics> {
    let options = job.options;
    if let Some(script) = context.inputs.layout().filter(|_| !context.mode.relocatable) {
        nocrossrefs::check(image, script, context.owners);
        job.sink.end_phase()?;
    }
    if !context.mode.relocatable {
        layout_warnings::report(job, image, context)?;
    }
    if !context.gateways.is_empty() || options.gateways.output.is_some() {
        gateways::report(job, image, context)?;
    }
    explore::report(job, image, made, context)?;
    if options.reports.memory_usage {
        job.print(&memory_usage::table(image.layout))?;
    }
    let is_wanted = options.reports.print_map || options.reports.map_file.is_some() || options.reports.cref;
    if !is_wanted {
        return Ok(());
    }
    let _span = job.phase("map");
    let wants_map = options.reports.print_map || options.reports.map_file.is_some();
    let mut text = match (wants_map, options.reports.gnu_map == Some(true)) {
        (true, true) => gnu_map::text(job, image, context),
        (true, false) => map::text(image, context),
        (false, _) => String::new(),
    };
    if options.reports.cref {
        if wants_map {
            text.push('\n');
        }
        text += &cref::text(image);
    }
    match &options.reports.map_file {
        Some(path) => job.report(path, &text)?,
        None => job.print(&text)?,
    }
    if options.reports.map_file.is_some() && options.reports.print_map {
        job.print(&text)?;
    }
    Ok(())
}
