//! `-r`: objects joined into one object that can be linked again.
//!
//! The first half of a link is the common one: the same files take part, the same COMDAT groups survive, the
//! same definitions win. Then nothing is scanned: what lives under `--gc-sections` is found by [`mark`]. The
//! rest is the common layout, symbol table and emission again, without memory: sections are gathered by more
//! than their names ([`mod@join`]), or as a linker script says, and stay in the order in which they come
//! (`layout::standard::OBJECT`), so their addresses are 0, and those of symbols their offsets. What nothing
//! defines is written where it is mentioned (`synth::mentions`); relocations are kept as with
//! `--emit-relocs`, and looked at with more care (`synth::kept_relocs`).
//!
//! Specification: gABI chapter 4.

mod join;
mod mark;

use std::collections::HashMap;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};

use crate::input::load::Inputs;
use crate::job::{Context, Job};
use crate::live::{Live, SectionOwners};
use crate::mode::Mode;
use crate::report;
use crate::resolve::Resolved;
use crate::resolve::comdat::Comdats;
use crate::sections::{self, Sections};
use crate::setup::ScriptRules;
use crate::symbols::internal::{FromScripts, Internals, Target};
use crate::symbols::{self, Symbols, symbol_flags};
use crate::synth::attributes;
use crate::synth::commons::{Commons, allocate_commons, merged_commons};
use crate::synth::error::failed;
use crate::synth::joined::{self, Joined};
use crate::synth::mentions::Mentions;
use crate::synth::plan::properties::Asker;
use crate::synth::plan::{Link, Places, Plan, Wishes};
use crate::synth::symbol_choice::{Choice, Special};
use crate::synth::symtab::SymTab;
use join::Joiner;

/// An object that is laid out.
pub struct Object<'j> {
    pub sections: Sections<'j>,
    pub symbols: Symbols,
    pub internals: Internals,
    pub owners: SectionOwners,
    pub plan: Plan<'j>,
}

/// What is known of the link once COMDAT groups are chosen.
#[derive(Clone, Copy)]
pub struct Given<'g, 'j> {
    pub comdats: &'g Comdats,
    /// Those of a linker script.
    pub rules: Option<&'g ScriptRules<'j>>,
    pub mode: Mode,
    pub threads: usize,
}

/// Everything between the choice of COMDAT groups and the addresses.
///
/// # Errors
/// What is wrong with the inputs, and what cannot be written.
pub fn join<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    given: Given<'_, 'j>,
) -> Result<Object<'j>, Diagnostics> {
    let Given { comdats, rules, mode, threads } = given;
    let (options, parallel) = (job.options, threads > 1);
    refuse(job, resolved)?;
    let scripted = rules.filter(|_| inputs.layout().is_some()).map(|rules| rules.scripted());
    let mut sections = job.step("parse sections", || {
        sections::parse(&mut resolved.objects, comdats, options, scripted.as_ref(), job.sink, parallel)
    });
    job.sink.end_phase()?;
    // Define what the command line does.
    let layout = inputs.script().zip(rules).map(|(script, rules)| (&**script, &rules.rules));
    let scripts = FromScripts { commands: &inputs.commands, layout };
    let internals = Internals::define(resolved, &sections, options, scripts, job.sink);
    job.sink.end_phase()?;
    // Freeze every name to its definition.
    let mut symbols =
        job.step("freeze symbols", || symbols::freeze(resolved, &sections, comdats, job.sink, parallel));
    internals.freeze(&mut symbols);
    report::duplicates::report(job, resolved, &sections);
    check_aliases(job, resolved, &symbols, &internals);
    report::undefined::required(job, resolved, &symbols);
    report::commons::report(job, resolved);
    job.sink.end_phase()?;
    // Find what is copied.
    let owners = SectionOwners::new(&resolved.objects, sections.list.len());
    let (sink, all) = (job.sink, &sections);
    let link =
        mark::Link { resolved, sections: all, symbols: &symbols, internals: &internals, owners: &owners };
    let live = job.step("live sections", || link.live(options, sink));
    if options.sections.gc_sections {
        report::removed_sections(job, resolved, &sections, &live)?;
    }
    report::print_dependencies::dependencies(job, inputs, resolved, &sections, &symbols)?;
    // Join sections, choose symbols, and lay everything out.
    let plan = job.step("layout", || {
        let rules = rules.map(|rules| &rules.rules);
        let context = &Context {
            inputs,
            mode,
            parallel,
            threads,
            owners: &owners,
            comdats,
            internals: &internals,
            rules,
            tagged: None,
            gateways: &[],
        };
        lay_out(job, context, resolved, &mut sections, &mut symbols, live)
    })?;
    job.sink.end_phase()?;
    Ok(Object { sections, symbols, internals, owners, plan })
}

fn lay_out<'j>(
    job: &Job<'j>,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &mut Sections<'j>,
    symbols: &mut Symbols,
    live: Live,
) -> Result<Plan<'j>, Diagnostics> {
    let (options, sink, parallel) = (job.options, job.sink, context.parallel);
    let (machine, objects) = (context.mode.facts(), &resolved.objects);
    let shrink = context.mode.machine.shrink();
    let mut commons = Commons::default();
    let rules = context.rules.filter(|_| context.inputs.layout().is_some());
    let mut kept = HashMap::new();
    match options.symbols.define_common {
        true => {
            let (gc, order) = (options.sections.gc_sections, options.symbols.sort_common);
            commons = allocate_commons(resolved, symbols, gc, order, rules).map_err(failed)?;
        }
        false => kept = merged_commons(resolved).map_err(failed)?.into_iter().collect(),
    }
    let bins = Joiner { objects, sections, live: &live, options, sink, machine, shrink, rules }.join();
    job.sink.end_phase()?;
    let choice =
        Choice { resolved, sections, symbols, live: &live, options, special: &Special::default(), sink };
    let mentions = Some(Mentions::collect(&choice, context.internals, parallel));
    let symtab =
        SymTab::plan(choice, Special { mentions, ..Special::default() }, parallel).map_err(failed)?;
    let aliases = context.internals.list.iter().filter_map(|internal| match internal.target {
        Target::Alias(other, _) => Some((internal.id, other)),
        _ => None,
    });
    let stacks = sections.objects.iter().filter_map(|o| o.executable_stack);
    let stack = stacks.reduce(|a, b| a | b);
    let implicit = machine.implicit_addend.is_some();
    let joined = Joined {
        heads: bins.heads,
        groups: bins.groups,
        commons: kept,
        aliases: aliases.collect(),
        executable_stack: stack.map(|executable| executable || options.layout.execstack == Some(true)),
        changes: joined::lossy(objects, &live).into_iter().map(|lossy| lossy || implicit).collect(),
    };
    report::flags(job, resolved);
    let mut plan = Plan::new(context.mode, live, resolved, options);
    plan.symtab = Some(symtab);
    plan.attributes = attributes::of_all(job, resolved, sections);
    plan.gnu_attributes = attributes::of_gnu(job, resolved, sections);
    plan.registers = attributes::registers(job, resolved, sections);
    plan.properties = Asker { job, resolved, mode: context.mode }.properties(sections);
    plan.joined = Some(joined);
    let order = &Default::default();
    let (link, wishes) = (Link { job, context, resolved }, Wishes { commons: &commons, order });
    plan.lay_out(link, &mut Places { sections, symbols }, wishes).map_err(failed)?;
    Ok(plan)
}

/// Inputs and options that `-r` has no use for.
fn refuse(job: &Job, resolved: &Resolved) -> Result<(), Diagnostics> {
    for dso in &resolved.shared {
        let text = format!("{}: a shared object cannot be joined with -r", dso.name);
        job.sink.push(Diagnostic::error(Cause::UnsupportedOption, text).of(dso.file, 0));
    }
    let lists = [
        ("--version-script", !job.options.symbols.version_scripts.is_empty()),
        ("--dynamic-list", !job.options.symbols.dynamic_lists.is_empty()),
        ("--export-dynamic-symbol-list", !job.options.symbols.export_symbol_lists.is_empty()),
        ("--retain-symbols-file", job.options.symtab.retain_symbols_file.is_some()),
        ("--symbol-ordering-file", job.options.order.symbol_file.is_some()),
        ("--call-graph-ordering-file", job.options.order.call_graph_file.is_some()),
        ("--section-ordering-file", job.options.order.section_file.is_some()),
        ("--shuffle-sections or --reverse-sections", !job.options.order.shuffle.is_empty()),
        ("--bp-startup-sort or --bp-compression-sort", job.options.order.partition.is_asked()),
        ("--randomize-section-padding", job.options.order.padding.is_some()),
        ("--zero-to-bss", job.options.sections.zero_to_bss),
        ("--physical-image-base", job.options.layout.physical_image_base.is_some()),
        ("-z memory-seal", job.options.notes.memory_seal),
        ("-z unique", job.options.dynamic.unique),
        ("--warn-section-align", job.options.reports.warn_section_align),
        ("-z unique-symbol", job.options.symbols.unique_symbol),
        ("--compress-debug-sections", job.options.sections.compress_debug.is_some()),
        ("--compress-sections", !job.options.sections.compress_sections.is_empty()),
    ];
    for (name, _) in lists.iter().filter(|l| l.1) {
        job.sink.warn(Cause::OptionWithoutEffect, format!("{name} has no effect with -r"));
    }
    job.sink.end_phase()
}

/// `--defsym a=b` needs a `b` that has a place in the output.
fn check_aliases(job: &Job, resolved: &Resolved, symbols: &Symbols, internals: &Internals) {
    for internal in &internals.list {
        let Target::Alias(other, _) = internal.target else { continue };
        let placed = match symbols[other].kind() {
            symbol_flags::COMMON => job.options.symbols.define_common,
            symbol_flags::UNDEFINED | symbol_flags::SHARED => false,
            _ => true,
        };
        if !placed {
            let name = String::from_utf8_lossy(resolved.names.get(other).name);
            let text = format!("{}: {name} has no address in the output of -r", internal.origin);
            job.sink.error(Cause::SymbolAssignment, text);
        }
    }
}
