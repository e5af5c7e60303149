//! `-r`: objects joined into one object that can be linked again.
//!
//! The first half of a link is the common one: the same files take part, the same COMDAT groups
//! survive, the same definitions win. Then nothing is laid out in memory and nothing is relocated:
//! sections are joined under their own names ([`outs`]), symbols move with them ([`symtab`]),
//! relocations are rewritten to the new offsets and symbols ([`relocs`]), and the whole is written in
//! units like any other output ([`emit`]). What lives under `--gc-sections` is found by [`mark`].
//!
//! Specification: gABI chapter 4.

mod emit;
mod mark;
mod outs;
mod relocs;
mod symtab;

use weld_common::diag::{Diagnostic, Diagnostics};

use crate::arch::facts::Facts;
use crate::input::load::Inputs;
use crate::job::Job;
use crate::live::{Live, SectionOwners};
use crate::options::{BuildId, Options};
use crate::report;
use crate::resolve::Resolved;
use crate::resolve::comdat::Comdats;
use crate::sections::{self, Sections};
use crate::symbols::internal::{Internals, Target};
use crate::symbols::{self, Symbols, sym};
use crate::synth::build_id;
use crate::synth::commons::allocate_commons;
use crate::synth::property_note::Properties;
use outs::{Note, Outs};
use symtab::SymTab;

/// The finished plan of an object, as its writers see it.
#[derive(Clone, Copy)]
pub struct Plan<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub options: &'c Options,
    pub sink: &'c weld_common::diag::DiagSink,
    pub outs: &'c Outs<'a>,
    pub symtab: &'c SymTab,
    pub machine: &'static Facts,
}

/// Everything after COMDAT groups are decided.
///
/// # Errors
/// What is wrong with the inputs, and what cannot be written.
pub fn link<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    comdats: &Comdats,
    threads: usize,
) -> Result<(), Diagnostics> {
    let (parallel, machine) = (threads > 1, inputs.machine.facts());
    refuse(job, resolved)?;
    let mut sections = {
        let _span = job.trace.span("parse sections");
        sections::parse(&mut resolved.objects, comdats, job.options, job.sink, parallel)
    };
    job.sink.end_phase()?;
    let internals = Internals::define(resolved, &sections, job.options, &inputs.commands, job.sink);
    job.sink.end_phase()?;
    let mut symbols = {
        let _span = job.trace.span("freeze symbols");
        symbols::freeze(resolved, &sections, comdats, job.sink, parallel)
    };
    internals.freeze(&mut symbols);
    report::duplicates::report(job, resolved, &sections);
    check_aliases(job, resolved, &symbols, &internals);
    report::undefined::required(job, resolved, &symbols);
    if job.options.reports.warn_common {
        report::commons::report(job, resolved);
    }
    job.sink.end_phase()?;
    let owners = SectionOwners::new(&resolved.objects, sections.list.len());
    let live = {
        let _span = job.trace.span("live sections");
        mark::live(resolved, &sections, (&symbols, &internals), &owners, (job.options, job.sink))
    };
    if job.options.sections.gc_sections {
        report::removed_sections(job, resolved, &sections, &live)?;
    }
    let failed = |message: String| Diagnostics::from(Diagnostic::error(message));
    let (outs, symtab) = {
        let _span = job.trace.span("layout");
        let commons = match job.options.symbols.define_common {
            true => Some(
                allocate_commons(resolved, &mut symbols, job.options.sections.gc_sections).map_err(failed)?,
            ),
            false => None,
        };
        let notes = notes(job, machine, resolved, &sections);
        let builder = outs::Builder {
            format: machine.target.format,
            objects: &resolved.objects,
            sections: &mut sections,
            live: &live,
            options: job.options,
            sink: job.sink,
            machine,
        };
        let mut outs = builder.build(notes, commons);
        let counter = symtab::Counter {
            resolved,
            sections: &sections,
            symbols: &symbols,
            live: &live,
            options: job.options,
            sink: job.sink,
            outs: &outs,
        };
        let symtab = counter.plan(&internals, parallel).map_err(failed)?;
        outs.finish(&resolved.objects, &symtab).map_err(failed)?;
        (outs, symtab)
    };
    job.sink.end_phase()?;
    let plan = Plan {
        machine,
        resolved,
        sections: &sections,
        symbols: &symbols,
        live: &live,
        options: job.options,
        sink: job.sink,
        outs: &outs,
        symtab: &symtab,
    };
    let file = emit::write(job, &plan, threads)?;
    job.finish(file, false, parallel, || report::last(job, inputs))
}

/// Inputs and options that `-r` has no use for.
fn refuse(job: &Job, resolved: &Resolved) -> Result<(), Diagnostics> {
    for dso in &resolved.shared {
        let text = format!("{}: a shared object cannot be joined with -r", dso.name);
        job.sink.push(Diagnostic::error(text).at((dso.file.0 as u64) << 32));
    }
    let lists = [
        ("--version-script", !job.options.symbols.version_scripts.is_empty()),
        ("--dynamic-list", !job.options.symbols.dynamic_lists.is_empty()),
        ("--export-dynamic-symbol-list", !job.options.symbols.export_symbol_lists.is_empty()),
        ("--retain-symbols-file", job.options.symtab.retain_symbols_file.is_some()),
        ("--symbol-ordering-file", job.options.order.symbol_file.is_some()),
        ("--call-graph-ordering-file", job.options.order.call_graph_file.is_some()),
        ("--shuffle-sections", !job.options.order.shuffle.is_empty()),
        ("-z unique-symbol", job.options.symbols.unique_symbol),
        ("-Map", job.options.reports.map_file.is_some() || job.options.reports.print_map),
        ("--cref", job.options.reports.cref),
        ("--compress-debug-sections", job.options.sections.compress_debug.is_some()),
        ("--compress-sections", !job.options.sections.compress_sections.is_empty()),
    ];
    for (name, _) in lists.iter().filter(|l| l.1) {
        job.sink.warn(format!("{name} has no effect with -r"));
    }
    job.sink.end_phase()
}

/// `--defsym a=b` needs a `b` that has a place in the output.
fn check_aliases(job: &Job, resolved: &Resolved, symbols: &Symbols, internals: &Internals) {
    for internal in &internals.list {
        let Target::Alias(other, _) = internal.target else { continue };
        let placed = match symbols[other].kind() {
            sym::COMMON => job.options.symbols.define_common,
            sym::UNDEFINED | sym::SHARED => false,
            _ => true,
        };
        if !placed {
            let name = String::from_utf8_lossy(resolved.names.get(other).name);
            let text = format!("{}: {name} has no address in the output of -r", internal.origin);
            job.sink.error(text);
        }
    }
}

/// Sections that the linker itself adds.
fn notes(job: &Job, machine: &'static Facts, resolved: &Resolved, sections: &Sections) -> Vec<Note> {
    let mut list = Vec::new();
    let properties = properties(job, machine, resolved, sections);
    let format = machine.target.format;
    if properties.size(format) > 0 {
        let mut bytes = vec![0; properties.size(format) as usize];
        properties.write(format, &mut bytes);
        list.push(Note::property(bytes, format));
    }
    if job.options.notes.build_id != BuildId::None {
        let mut bytes = vec![0; build_id::size(&job.options.notes.build_id) as usize];
        build_id::write(&job.options.notes.build_id, format, &mut bytes);
        list.push(Note::build_id(bytes));
    }
    // Objects without the note leave the choice to the linker; if none has it, so does the output.
    let stacks = sections.objects.iter().filter_map(|o| o.executable_stack);
    let stack = stacks.reduce(|a, b| a | b);
    if let Some(executable) = stack {
        list.push(Note::stack(executable || job.options.layout.execstack == Some(true)));
    }
    list
}

/// What holds for the joined code: as in a final link, an object without the note claims nothing.
fn properties(job: &Job, machine: &'static Facts, resolved: &Resolved, sections: &Sections) -> Properties {
    let mut all = Vec::with_capacity(sections.objects.len());
    for (object, extra) in resolved.objects.iter().zip(&sections.objects) {
        let mut properties = Properties::new(machine);
        if let Some(bytes) = extra.properties
            && let Err(e) = properties.parse(bytes, machine.target.format)
        {
            job.sink.push(Diagnostic::error(format!("{}:(.note.gnu.property): {e}", object.name)));
        }
        all.push(properties);
    }
    Properties::merge(machine, &all)
}
