//! A link, from the command line to the finished file.
//!
//! This is the page to read first: each step borrows what the steps before it made and returns a
//! new value that later steps only read.

use std::collections::HashSet;
use std::ffi::OsString;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;
use weld_common::io::input::InputStore;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, ClosedOutput, EngineChoice, OutputFile, OutputOptions};
use weld_common::jobserver::{Jobserver, Tokens};
use weld_common::par::{self, Pool};
use weld_common::trace::{self, Trace};
use weld_common::walk::Marks;

use crate::args;
use crate::emit::{self, Emitter};
use crate::icf;
use crate::ids::SymbolId;
use crate::input::load::{Inputs, Loader};
use crate::input::parts;
use crate::input::sections::{self, Sections};
use crate::live::roots::Roots;
use crate::live::{Live, Scanner, SectionOwners};
use crate::mode::Mode;
use crate::options::{Icf, Options, OutputEngine, OutputKind};
use crate::persona::Persona;
use crate::report;
use crate::report::reproduce::Recorder;
use crate::report::split_stack::SplitStack;
use crate::report::undefined::Undefined;
use crate::report::warnings::Warnings;
use crate::resolve::comdat::Comdats;
use crate::resolve::exports::{self, Exports};
use crate::resolve::internal::Internals;
use crate::resolve::rules::Scripts;
use crate::resolve::symbols::{self, Symbols};
use crate::resolve::{Resolved, Resolver, versioned};
use crate::section_order::{Orderer, SectionOrder};
use crate::setup;
use crate::synth::plan::{Plan, Planner};

/// What a successful link leaves behind.
#[derive(Debug)]
pub struct Outcome {
    pub warnings: Vec<Diagnostic>,
}

/// Links as the command line `args` (without the program's name) asks.
///
/// # Errors
/// Everything found wrong, in a fixed order; the output is then as it was before.
pub fn link(args: &[OsString], host: &dyn Host) -> Result<Outcome, Diagnostics> {
    let sink = DiagSink::new();
    let options = match args::parse(args, Persona::of_program(host.program_name()), &sink)? {
        args::Command::Link(options) => options,
        args::Command::Print(text) => {
            report::print(host, &text)?;
            return Ok(Outcome { warnings: sink.finish() });
        }
    };
    let written = report::files::check(&options)?;
    // Before files are opened, which might take the numbers of descriptors that the build did not pass on.
    let jobserver = if options.threads.is_none() { connect(host) } else { None };
    let jobserver = jobserver.as_ref();
    let mut store = InputStore::new(host);
    store.set_root(&options.inputs.chroot);
    store.prefetch(options.inputs.prefetch, parts::of);
    store.refuse(written);
    if options.reports.reproduce.is_some() || options.reports.dependency_file.is_some() {
        store.record();
    }
    let trace = Trace::new(options.reports.stats || options.reports.time_trace.is_some());
    let recorder = Recorder::start(&options, args)?;
    let record = recorder.as_ref();
    let reports = Reports::new();
    let job = Job {
        options: &options,
        host,
        sink: &sink,
        store: &store,
        trace: &trace,
        record,
        jobserver,
        reports: &reports,
    };
    let result = {
        let _entered = trace.enter();
        job.run()
    };
    result.map_err(|diagnostics| job.failed(diagnostics))?;
    done_with(host, store);
    Ok(Outcome { warnings: sink.finish() })
}

/// The jobserver of the build that this link is part of.
fn connect(host: &dyn Host) -> Option<Jobserver> {
    host.makeflags().iter().find_map(|flags| Jobserver::connect(flags))
}

/// Drops a large value, or leaves that to the end of the process.
pub fn done_with<T>(host: &dyn Host, value: T) {
    if host.exits_soon() {
        std::mem::forget(value);
    }
}

/// From this many inputs on, they are opened by several threads.
const MANY_INPUTS: usize = 256;

/// What every step may use.
pub struct Job<'j> {
    pub options: &'j Options,
    pub host: &'j dyn Host,
    pub sink: &'j DiagSink,
    pub store: &'j InputStore<'j>,
    pub trace: &'j Trace,
    /// `--reproduce`.
    pub record: Option<&'j Recorder>,
    pub jobserver: Option<&'j Jobserver>,
    /// Texts for files that are written with the output.
    pub reports: &'j Reports,
}

impl<'j> Job<'j> {
    fn run(&self) -> Result<(), Diagnostics> {
        if self.options.reports.print_version {
            self.print(&self.options.persona.version_text())?;
        }
        // An output that cannot be written is an error before any work.
        output::check(&self.options.output.path).map_err(|e| Diagnostic::error(e.to_string()))?;
        // Open and identify what the command line names, in parallel when there is much of it.
        let early = (self.options.inputs.args.len() > MANY_INPUTS).then(|| self.threads(u64::MAX));
        let mut inputs = match &early {
            Some((pool, _)) => pool.install(|| self.open(pool.threads() > 1))?,
            None => self.open(false)?,
        };
        if let Some(record) = self.record {
            record.add(self.store)?;
        }
        let (pool, tokens) = early.unwrap_or_else(|| self.threads(inputs.total_bytes));
        pool.install(|| self.link(&mut inputs, pool.threads()))?;
        drop(tokens);
        done_with(self.host, (inputs, pool));
        Ok(())
    }

    /// The threads of this link for so many bytes of input. All but one of them need a token if the build
    /// has a jobserver; they are given back when the second value is dropped, also after errors.
    fn threads(&self, input_bytes: u64) -> (Pool, Option<Tokens<'j>>) {
        let useful = par::choose_threads(self.options.threads, input_bytes);
        let server = self.jobserver.filter(|_| useful > 1);
        let tokens = server.map(|server| server.take(useful - 1, self.host));
        let threads = tokens.as_ref().map_or(useful, |tokens| tokens.count() + 1);
        self.trace.note("threads", || match self.jobserver {
            Some(_) => format!("{threads} of {useful} useful (the build has a jobserver)"),
            None => threads.to_string(),
        });
        (Pool::new(threads, self.trace), tokens)
    }

    fn open(&self, parallel: bool) -> Result<Inputs<'j>, Diagnostics> {
        let _span = self.trace.span("open inputs");
        let loader = Loader { store: self.store, options: self.options, sink: self.sink, parallel };
        let inputs = loader.load();
        self.sink.end_phase()?;
        if inputs.files.len() == 1 && inputs.archives.is_empty() {
            return Err(Diagnostic::error("no input files").into());
        }
        Ok(inputs)
    }

    fn link(&self, inputs: &mut Inputs<'j>, threads: usize) -> Result<(), Diagnostics> {
        // Read symbol tables, intern names, find the best definition of each; activate archive members.
        let mut resolved = self.resolve(inputs, threads > 1)?;
        report::exclusions(self, inputs);
        report::resolution(self, inputs, &resolved)?;
        let result = self.link_resolved(inputs, &mut resolved, threads);
        // Errors speak of places in objects; add what debug information knows of them.
        report::source::explain(self, &resolved, result)
    }

    fn link_resolved(
        &self,
        inputs: &Inputs<'j>,
        resolved: &mut Resolved<'j>,
        threads: usize,
    ) -> Result<(), Diagnostics> {
        let parallel = threads > 1;
        // Of equal COMDAT groups one survives; only now are sections looked at.
        let comdats = {
            let _span = self.trace.span("COMDAT groups");
            Comdats::decide(resolved, parallel)
        };
        self.refuse_relocations(inputs)?;
        if self.options.kind == OutputKind::Relocatable {
            return crate::relocatable::link(self, inputs, resolved, &comdats, threads);
        }
        let mut sections = {
            let _span = self.trace.span("parse sections");
            let objects = &mut resolved.objects;
            sections::parse(objects, &comdats, self.options, self.sink, parallel)
        };
        self.sink.end_phase()?;
        // Define what only the linker can.
        let commands = &inputs.commands;
        let stretch = trace::stretch("linker's own symbols");
        let mut internals = Internals::define(resolved, &sections, self.options, commands, self.sink);
        let mode = Mode::new(self.options, inputs.machine, !resolved.shared.is_empty());
        self.refuse_loader(mode)?;
        let scripts = self.read_scripts(inputs);
        if self.options.symbols.version_symbols && mode.dynamic {
            let names = scripts.version_names();
            internals.define_versions(resolved, names.iter().map(|name| self.store.keep(name.to_vec())));
        }
        drop(stretch);
        let stretch = trace::stretch("owners of sections");
        let owners = SectionOwners::new(&resolved.objects, sections.list.len());
        drop(stretch);
        let mut course = Course { relax_got: self.options.relocs.relax, first: true, first_scan: true };
        loop {
            let context = Context { inputs, mode, parallel, threads, owners: &owners, internals: &internals };
            let parts = (&mut *resolved, &mut sections);
            match self.attempt(&context, parts, (&comdats, &scripts), course)? {
                Attempt::Done => break,
                Attempt::TooLarge => course = Course { relax_got: false, first: false, first_scan: false },
                Attempt::Unbounded(names) => {
                    internals.undefine(resolved, &names);
                    course.first = false;
                }
            }
        }
        done_with(self.host, (resolved, sections, comdats, scripts, owners));
        Ok(())
    }

    /// Output that keeps relocations, which weld cannot make yet for all machines.
    fn refuse_relocations(&self, inputs: &Inputs) -> Result<(), Diagnostics> {
        let machine = inputs.machine.facts();
        let option = match self.options.kind {
            OutputKind::Relocatable => "-r",
            _ if self.options.relocs.emit_relocs => "--emit-relocs",
            _ => return Ok(()),
        };
        match machine.gaps.relocatable {
            true => {
                Err(Diagnostic::error(format!("{option} is not supported yet for {}", machine.name)).into())
            }
            false => Ok(()),
        }
    }

    /// Output that a loader relocates, which weld cannot make yet for all machines.
    fn refuse_loader(&self, mode: Mode) -> Result<(), Diagnostics> {
        let machine = mode.facts();
        if !machine.gaps.dynamic || !mode.dynamic && !mode.pic {
            return Ok(());
        }
        let text = format!(
            "for {} only static executables at fixed addresses (-static -no-pie) are supported yet",
            machine.name
        );
        Err(Diagnostic::error(text).into())
    }

    /// The second half of a link. Some of what it finds out sends it back to its start.
    fn attempt(
        &self,
        context: &Context<'_, 'j>,
        (resolved, sections): (&mut Resolved<'j>, &mut Sections<'j>),
        (comdats, scripts): (&Comdats, &Scripts),
        course: Course,
    ) -> Result<Attempt, Diagnostics> {
        // Freeze every name to its definition.
        let mut symbols = {
            let _span = self.trace.span("freeze symbols");
            symbols::freeze(resolved, sections, comdats, self.sink, context.parallel)
        };
        context.internals.freeze(&mut symbols);
        // What is wrong with symbols is said once, also if the rest has to be done again.
        let stretch = trace::stretch("reports on symbols");
        if course.first {
            report::duplicates::report(self, resolved, sections);
            if self.options.reports.warn_common {
                report::commons::report(self, resolved);
            }
        }
        if course.first_scan {
            report::undefined::aliases(self, resolved, &symbols, context.internals);
            report::undefined::required(self, resolved, &symbols);
            // Symbols defined twice do not keep those that are not defined from being found.
            self.sink.settle();
        }
        drop(stretch);
        // Decide what other modules see and may replace.
        let exports = self.export(resolved, &symbols, context, (scripts, course.first));
        self.sink.settle();
        // Scan relocations for what they need; under gc, only those that matter.
        let mut live = self.scan(context, (resolved, sections, &symbols), course.relax_got);
        // Bounds of sections that turn out to be gone are not defined.
        let unbounded = context.internals.without_section(sections, &live);
        if !unbounded.is_empty() {
            self.sink.end_phase()?;
            return Ok(Attempt::Unbounded(unbounded));
        }
        self.sink.settle();
        if course.first_scan {
            let _stretch = trace::stretch("reports on relocations");
            let parallel = context.parallel;
            let inputs = context.inputs;
            Undefined { job: self, inputs, resolved, sections, symbols: &symbols, parallel }.report(&live);
            self.sink.settle();
            report::shared_references::report(self, context.mode.facts(), resolved, &symbols);
            self.sink.settle();
            Warnings { job: self, resolved, sections, live: &live }.report();
            report::placement::report(self, resolved, sections, &live);
            let (symbols, owners) = (&symbols, context.owners);
            SplitStack { job: self, resolved, sections, symbols, live: &live, owners }.report();
            report::removed_sections(self, resolved, sections, &live)?;
        }
        self.sink.end_phase()?;
        // Of sections that are the same, keep one.
        if self.options.sections.icf != Icf::None {
            self.fold(context, (resolved, sections, &symbols), &mut live);
            self.sink.end_phase()?;
        }
        if course.first_scan {
            report::folded_sections(self, resolved, &live, context)?;
        }
        // Size the linker's own sections and lay everything out.
        let (retained, relax_got) = (scripts.retained.as_ref(), course.relax_got);
        let order =
            self.section_order(context, (resolved, sections, &symbols), (&live, course.first_scan))?;
        let planner = Planner {
            job: self,
            context,
            resolved,
            exports: &exports,
            live,
            order: &order,
            relax_got,
            retained,
        };
        let mut plan = planner.plan(sections, &mut symbols)?;
        if relax_got && plan.is_too_large_to_relax() {
            plan.live.folds.undo(sections);
            return Ok(Attempt::TooLarge);
        }
        {
            let _span = self.trace.span("place sections and symbols");
            plan.place(sections, &mut symbols, resolved, context);
        }
        self.sink.end_phase()?;
        // Sections outside memory may shrink now that their contents can be known.
        if emit::compress::is_wanted(self.options) {
            plan.compress(self, context, resolved, sections, &symbols)?;
        }
        self.write(&plan, context, resolved, sections, &symbols)?;
        done_with(self.host, (plan, symbols, exports));
        Ok(Attempt::Done)
    }

    fn resolve(&self, inputs: &mut Inputs<'j>, parallel: bool) -> Result<Resolved<'j>, Diagnostics> {
        let _span = self.trace.span("resolve symbols");
        let wrap = setup::wrap(self.options, self.store);
        let loader = Loader { store: self.store, options: self.options, sink: self.sink, parallel };
        let mut asked = HashSet::new();
        loop {
            let roots = setup::roots(self.options, inputs, self.store);
            let resolver = Resolver { inputs, options: self.options, sink: self.sink, wrap: &wrap, parallel };
            let resolved = resolver.run(&roots)?;
            // Objects may ask for libraries. That is rare, so all starts again then.
            let more = setup::dependent_libraries(self.options, &resolved, &mut asked, self.sink);
            if more.is_empty() {
                return Ok(resolved);
            }
            loader.add_dependent(&more, inputs);
            self.sink.end_phase()?;
        }
    }

    fn read_scripts(&self, inputs: &Inputs) -> Scripts {
        Scripts::read(self.options, self.store, setup::inline_versions(inputs), self.sink)
    }

    fn export<'s>(
        &self,
        resolved: &Resolved<'s>,
        symbols: &Symbols,
        context: &Context<'_, 'j>,
        (scripts, first): (&'s Scripts, bool),
    ) -> Exports<'s> {
        let _span = self.trace.span("exports and versions");
        // What there is to say has been said if this is not the first time.
        let silent = DiagSink::new();
        let sink = if first { self.sink } else { &silent };
        let (rules, warnings) = scripts.rules(sink, |name| versioned::is_spelled(resolved, name));
        let asked = (self.options, context.mode, sink);
        let exports = exports::decide(resolved, symbols, asked, rules, context.parallel);
        if first {
            warnings.into_iter().for_each(|warning| self.sink.push(warning));
            report::versions::undefined(self, resolved, symbols, scripts);
        }
        exports
    }

    /// What is to lie elsewhere than the command line says.
    fn section_order(
        &self,
        context: &Context<'_, 'j>,
        (resolved, sections, symbols): (&Resolved<'j>, &Sections<'j>, &Symbols),
        (live, first): (&Live, bool),
    ) -> Result<SectionOrder, Diagnostics> {
        let _stretch = trace::stretch("order of sections");
        let owners = context.owners;
        let order = Orderer { job: self, resolved, sections, symbols, live, owners, first }.order()?;
        self.sink.end_phase()?;
        Ok(order)
    }

    fn scan(
        &self,
        context: &Context<'_, 'j>,
        (resolved, sections, symbols): (&Resolved<'j>, &Sections<'j>, &Symbols),
        relax_got: bool,
    ) -> Live {
        let _span = self.trace.span("gc and relocation scan");
        let roots = Roots {
            objects: &resolved.objects,
            sections,
            symbols,
            names: &resolved.names,
            internals: context.internals,
            options: self.options,
        };
        // Without gc every section is visited anyway.
        let gc = self.options.sections.gc_sections;
        let roots = if gc { roots.collect(context.parallel) } else { Vec::new() };
        let scanner = Scanner {
            objects: &resolved.objects,
            sections,
            symbols,
            options: self.options,
            mode: context.mode,
            sink: self.sink,
            owners: context.owners,
            relax_got,
            gc,
            marks: Marks::new(sections.list.len()),
        };
        scanner.run(&roots, context.parallel)
    }

    fn fold(
        &self,
        context: &Context<'_, 'j>,
        (resolved, sections, symbols): (&Resolved<'j>, &mut Sections<'j>, &Symbols),
        live: &mut Live,
    ) {
        let _span = self.trace.span("fold identical sections");
        let link = icf::Link {
            objects: &resolved.objects,
            sections,
            symbols,
            names: &resolved.names,
            live,
            owners: context.owners,
            options: self.options,
            sink: self.sink,
            parallel: context.parallel,
        };
        let folds = link.folds();
        self.trace.note("folded sections", || folds.pairs.len().to_string());
        icf::apply(folds, &resolved.objects, sections, live, context.parallel);
    }

    /// The output file, `size` bytes long, which `threads` threads will write.
    pub fn create_output(
        &self,
        size: u64,
        executable: bool,
        threads: usize,
    ) -> Result<OutputFile<'j>, Diagnostics> {
        let engine = match self.options.output.engine {
            OutputEngine::Auto => EngineChoice::Auto,
            OutputEngine::Mapped => EngineChoice::Mapped,
            OutputEngine::Streaming => EngineChoice::Streaming,
        };
        let options = OutputOptions { engine, executable, threads, ..Default::default() };
        let file = OutputFile::create(&self.options.output.path, size, &options, self.host)
            .map_err(|e| Diagnostics::from(Diagnostic::error(e.to_string())))?;
        self.trace.note("output bytes", || size.to_string());
        let (engine, why) = file.engine();
        self.trace.note("output engine", || format!("{engine:?} ({why})"));
        if self.options.reports.verbose {
            self.print(&format!("output engine: {engine:?} ({why})\n"))?;
        }
        Ok(file)
    }

    fn write(
        &self,
        plan: &Plan<'j>,
        context: &Context<'_, 'j>,
        resolved: &Resolved<'j>,
        sections: &Sections<'j>,
        symbols: &Symbols,
    ) -> Result<(), Diagnostics> {
        let image = plan.image(self, context, resolved, sections, symbols);
        report::layout(self, &image, context)?;
        let contents = {
            let _span = self.trace.span("contents of synthetic sections");
            plan.contents(&image, context)
        };
        self.sink.end_phase()?;
        let span = self.trace.span("write image");
        let file = self.create_output(plan.layout.file_size, true, context.threads)?;
        let emitter =
            Emitter { image: &image, contents: &contents, owners: context.owners, threads: context.threads };
        emitter.write(&file)?;
        drop(span);
        // Relocations out of range are found while writing; then the file is not kept.
        self.sink.end_phase()?;
        done_with(self.host, contents);
        self.finish(file, true, (context.inputs, context.parallel))
    }

    /// The last step: all that the link has to say is written and checked, then the output takes its place.
    pub fn finish(
        &self,
        file: OutputFile,
        executable: bool,
        (inputs, parallel): (&Inputs, bool),
    ) -> Result<(), Diagnostics> {
        if let Some(record) = self.record {
            record.finish(self.store)?;
        }
        // Inputs are not read any more.
        let span = self.trace.span("have inputs changed");
        if let Some(path) = self.store.changed(parallel) {
            return Err(report::changed_input(&path).into());
        }
        drop(span);
        report::dependencies::report(self, inputs)?;
        report::finish_trace(self)?;
        let output = file.close(executable).map_err(Diagnostic::from)?;
        self.write_reports()?;
        output.commit().map_err(|e| Diagnostic::from(e).into())
    }

    fn write_reports(&self) -> Result<(), Diagnostic> {
        let complete = self.reports.write(self.host).map_err(Diagnostic::from)?;
        complete.into_iter().try_for_each(ClosedOutput::commit).map_err(Diagnostic::from)
    }

    /// What a link that failed has to say: why, and the reports that it has come to.
    fn failed(&self, mut diagnostics: Diagnostics) -> Diagnostics {
        let is_said = |text: &Diagnostic, list: &[Diagnostic]| list.iter().any(|d| d.message == text.message);
        // What is wrong with such an input may never have been in the file.
        if let Some(changed) = self.store.changed(false).map(|path| report::changed_input(&path))
            && !is_said(&changed, &diagnostics.list)
        {
            diagnostics.list.insert(0, changed);
        }
        let recorded = self.record.map_or(Ok(()), |record| record.finish(self.store));
        let mut more = recorded.err().map_or(Vec::new(), |diagnostics| diagnostics.list);
        more.extend(self.write_reports().err());
        more.retain(|text| !is_said(text, &diagnostics.list));
        diagnostics.list.append(&mut more);
        diagnostics
    }

    /// Prints to standard output.
    pub fn print(&self, text: &str) -> Result<(), Diagnostics> {
        report::print(self.host, text)
    }
}

/// How the second half of a link is gone through.
#[derive(Clone, Copy)]
struct Course {
    /// GOT loads may become address computations.
    relax_got: bool,
    /// Nothing has been said of symbols yet, and of relocations.
    first: bool,
    first_scan: bool,
}

/// How it went.
enum Attempt {
    Done,
    /// The image is so large that not all shortened GOT loads would reach: do without.
    TooLarge,
    /// Sections whose bounds these names are turn out to be gone: do without the names.
    Unbounded(Vec<SymbolId>),
}

/// What steps after resolution share.
pub struct Context<'c, 'a> {
    pub inputs: &'c Inputs<'a>,
    pub mode: Mode,
    pub parallel: bool,
    pub threads: usize,
    pub owners: &'c SectionOwners,
    pub internals: &'c Internals,
}
