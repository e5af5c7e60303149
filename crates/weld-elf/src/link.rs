//! A link, from the command line to the finished file.
//!
//! This is the page to read first: [`run`], [`link_inputs`], [`link_resolved`] and [`finish_link`] are the
//! recipe, a line a phase, in order. Each phase borrows what the phases before it made and returns a new
//! value that later phases only read. What a phase finds wrong goes to `job.sink`: `end_phase` stops the link
//! there, `settle` lets it go on to find more.

mod optimise;
mod repeat;
mod round;

use std::ffi::OsString;
use std::sync::OnceLock;

use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;
use weld_common::io;
use weld_common::io::input::InputStore;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, OutputFile};
use weld_common::job::{Size, connect, done_with, print};
use weld_common::resolve::Replacement;
use weld_common::text;
use weld_common::trace::{self, Trace};
use weld_common::walk::Marks;
use weld_lto::answer::Basis;

use crate::args;
use crate::compat_mode::CompatMode;
use crate::emit::rewrites::Rewrites;
use crate::emit::separate::Whole;
use crate::emit::{self, Emitter};
use crate::gateways;
use crate::icf;
use crate::input::ir::{SLIM, Search};
use crate::input::load::{Inputs, Loader};
use crate::input::object::Object;
use crate::input::parts;
use crate::job::{self, Context, Job};
use crate::layout::default_script;
use crate::live::roots::Roots;
use crate::live::{Live, Scanner, SectionOwners};
use crate::mode::Mode;
use crate::options::{Icf, Options, OutputKind, ScriptOptions, TextFormat};
use crate::relink::{self, Session};
use crate::relink_state::State;
use crate::relink_state::collect::{Link, Tables};
use crate::relocatable::{self, Given};
use crate::report;
use crate::resolve::comdat::{self, Comdats};
use crate::resolve::{Compiled, Resolved, Resolver, versioned};
use crate::section_order::{Orderer, SectionOrder};
use crate::sections::{self, Sections};
use crate::setup;
use crate::symbol_names::{Rank, Wrap};
use crate::symbols::exports::{self, Asked, Exports};
use crate::symbols::internal::{FromScripts, Internals};
use crate::symbols::tagged::Tagged;
use crate::symbols::version_scripts::Scripts;
use crate::symbols::{self, Symbols};
use crate::synth::attributes;
use crate::synth::plan::{Plan, Planner};

use repeat::Repeat;
use round::{Round, Surprise};

/// What a successful link leaves behind.
#[derive(Debug)]
pub struct Outcome {
    pub warnings: Vec<Diagnostic>,
}

/// What outlives the steps of a link.
#[derive(Default)]
struct Kept {
    /// The options, if a script has changed them.
    changed: OnceLock<Options>,
    /// Those of a full link that is compared with a relink, if they are others.
    told: OnceLock<Options>,
    /// The caller wants the state.
    wants_state: bool,
    state: OnceLock<State>,
    /// `--incremental`
    session: Option<Session>,
    /// A later link that is the same is to find the output in the compilers' cache.
    repeat: Option<Repeat>,
    /// What compilers have made depends on this.
    basis: OnceLock<Basis>,
}

/// Links as the command line `args` (without the program's name) asks.
///
/// # Errors
/// Everything found wrong, in a fixed order; the output is then as it was before.
pub fn link(args: &[OsString], host: &dyn Host) -> Result<Outcome, Diagnostics> {
    link_and_keep(args, host, &mut Kept::default())
}

/// The same, and what the link knew in the end; `None` if it was none, or made an object (`-r`).
///
/// # Errors
/// As [`link`].
pub fn link_with_state(args: &[OsString], host: &dyn Host) -> Result<(Outcome, Option<State>), Diagnostics> {
    let mut kept = Kept { wants_state: true, ..Kept::default() };
    let outcome = link_and_keep(args, host, &mut kept)?;
    Ok((outcome, kept.state.take()))
}

fn link_and_keep(args: &[OsString], host: &dyn Host, kept: &mut Kept) -> Result<Outcome, Diagnostics> {
    let sink = DiagSink::new();
    // After -C, names of response files lead elsewhere.
    let expanded = &args::expanded(args)?;
    let mut options = match args::parse(expanded, CompatMode::of_program(host.program_name()), &sink)? {
        args::Command::Link(options) => options,
        args::Command::PrintLayout(options) => {
            print(host, &default_script::printed(&options).unwrap_or_default())?;
            return Ok(Outcome { warnings: sink.finish() });
        }
        args::Command::Print(text) => {
            print(host, &text)?;
            return Ok(Outcome { warnings: sink.finish() });
        }
    };
    if options.reports.json {
        host.messages_are_json();
    }
    setup::inherit_run_path(&mut options, host);
    setup::choose_map(&mut options, host);
    setup::check_plugin(&options)?;
    if let Some(directory) = &options.directory {
        host.change_directory(directory).map_err(|e| {
            Diagnostic::error(
                Cause::CannotOpenFile,
                format!("-C {}: {}", text::path(directory), io::reason(&e)),
            )
        })?;
    }
    let written = report::files::check(&options)?;
    // Before files are opened, which might take the numbers of descriptors that the build did not pass on.
    let jobserver = if options.threads.is_none() { connect(host) } else { None };
    let jobserver = jobserver.as_ref();
    let mut store = InputStore::new(host);
    store.set_root(&options.inputs.chroot);
    store.prefetch(options.inputs.prefetch, parts::of);
    store.refuse(written);
    kept.session = Session::begin(&options, expanded, host, taking_part);
    kept.repeat = Repeat::of(&options, expanded, host).filter(|_| !kept.wants_state);
    let kept = &*kept;
    let is_reported = options.reports.reproduce.is_some() || options.reports.dependency_file.is_some();
    if is_reported || kept.wants_state || kept.session.is_some() || kept.repeat.is_some() {
        store.record();
    }
    let trace = Trace::new(options.reports.stats || options.reports.time_trace.is_some());
    let recorder = report::reproduce::start(&options, expanded, &store)?;
    let record = recorder.as_ref();
    let job = Job {
        options: &options,
        host,
        sink: &sink,
        store: &store,
        trace: &trace,
        record,
        jobserver,
        sharing: options.sharing,
        reports: &Reports::new(),
    };
    let result = {
        let _entered = trace.enter();
        match &kept.session {
            None => run_or_repeat(&job, kept),
            Some(session) => relink(&job, session, kept),
        }
    };
    result.map_err(|diagnostics| {
        report::error_handling_script::tell(&options, host, job.failed(diagnostics))
    })?;
    done_with(host, store);
    let warnings = sink.finish();
    if let Some(session) = &kept.session {
        session.finish(&warnings);
    }
    Ok(Outcome { warnings })
}

/// Does what has changed since the last link, or all.
fn relink<'j>(job: &Job<'j>, session: &Session, kept: &'j Kept) -> Result<(), Diagnostics> {
    let is_done = session.relink(job)?;
    if is_done && !session.verifies() { Ok(()) } else { run(job, kept) }
}

/// Does what an earlier link has done, if that was the same, or links.
fn run_or_repeat<'j>(job: &Job<'j>, kept: &'j Kept) -> Result<(), Diagnostics> {
    if let Some(repeat) = &kept.repeat {
        check_outputs(job.options)?;
        if repeat.link(job)? {
            return Ok(());
        }
    }
    run(job, kept)
}

fn run<'j>(job: &Job<'j>, kept: &'j Kept) -> Result<(), Diagnostics> {
    let options = job.options;
    if options.reports.print_version {
        job.print(&options.compat_mode.version_text())?;
    }
    if let Some(script) = default_script::printed(options) {
        job.print(&script)?;
    }
    // An output that cannot be written is an error before any work.
    check_outputs(options)?;
    if let Some(session) = &kept.session {
        session.begin_full_link(job);
    }
    // What is compared with a relink may have its objects in another order.
    let told = kept.session.as_ref().and_then(|session| session.told(options));
    let options = told.map_or(options, |told| kept.told.get_or_init(|| told));
    let job = &Job { options, ..*job };
    // Open and identify what the command line names.
    let open = |parallel| job.step("open inputs", || open(job, job.sink, parallel));
    let count = options.inputs.args.len();
    let (mut inputs, pool, shares) =
        job.opened(options.threads, count, open, |inputs: &Inputs| size_of(options, inputs))?;
    if let Some(record) = job.record {
        record.add(job.store, job.host)?;
    }
    let said = std::mem::take(&mut inputs.options);
    let options = match said == ScriptOptions::default() {
        true => options,
        false => kept.changed.get_or_init(|| options.as_scripts_say(said)),
    };
    let job = &Job { options, ..*job };
    if kept.changed.get().is_some() {
        kept.session.iter().for_each(|session| session.never("a linker script changes options"));
        check_outputs(options)?;
        report::files::check(options)?;
    }
    if let Some(session) = &kept.session {
        pool.install(|| session.add_made_objects(job, &mut inputs, pool.threads() > 1));
    }
    pool.install(|| link_inputs(job, &mut inputs, kept, pool.threads()))?;
    drop(shares);
    done_with(job.host, (inputs, pool));
    Ok(())
}

/// How large a link of these inputs is: its tables are about a third of them, and an index for gdb takes a
/// twelfth more.
fn size_of(options: &Options, inputs: &Inputs) -> Size {
    let input = inputs.total_bytes;
    let index = if options.sections.gdb_index { input / 12 } else { 0 };
    Size { input, tables: input / 3 + index }
}

/// Finds early that an output could not be written.
fn check_outputs(options: &Options) -> Result<(), Diagnostics> {
    let mut paths = std::iter::once(&options.output.path).chain(&options.output.debug_file);
    let checked = paths.try_for_each(|path| output::check(path));
    checked.map_err(|e| Diagnostic::from(e).into())
}

/// From inputs that are open to the finished output.
fn link_inputs<'j>(
    job: &Job<'j>,
    inputs: &mut Inputs<'j>,
    kept: &Kept,
    threads: usize,
) -> Result<(), Diagnostics> {
    // Read symbol tables, intern names, find the best definition of each; activate archive members.
    let mut resolved = job.step("resolve symbols", || resolve(job, inputs, (None, job.sink), threads > 1))?;
    report::resolution(job, inputs, &resolved)?;
    // Have intermediate code compiled, and resolve again with the objects in its place.
    let mut compiled = None;
    if resolved.has_code {
        kept.session.iter().for_each(|session| session.never(relink::COMPILED));
        match optimise::compile(job, inputs, resolved, kept, threads)? {
            Some(again) => (resolved, compiled) = again,
            // What compilers have written is all that was asked for.
            None => return Ok(()),
        }
    }
    // Functions that may be called from another world get gateways.
    let mut entries = Vec::new();
    let machine = inputs.machine.facts().gateways.as_ref();
    if let Some(machine) = machine.filter(|_| job.options.kind != OutputKind::Relocatable) {
        let made = gateways::make(machine, job.options, job.store, (&mut *inputs, &resolved), job.sink);
        job.sink.end_phase()?;
        if let Some(made) = made {
            kept.session.iter().for_each(|session| session.never(relink::GATEWAYS));
            resolved = resolve_replaced(job, inputs, (resolved, compiled), made.replaced, threads)?;
            entries = made.entries;
            gateways::keep(&entries, &mut resolved);
        }
    }
    let result = link_resolved(job, inputs, &mut resolved, &entries, kept, threads);
    // Errors speak of places in objects; add what debug information knows of them.
    result.map_err(|diagnostics| report::source::explain(job, &resolved, diagnostics))
}

/// From the files that take part to the finished output.
fn link_resolved<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    entries: &[gateways::Entry<'j>],
    kept: &Kept,
    threads: usize,
) -> Result<(), Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    // Of equal COMDAT groups one survives; only now are sections looked at.
    let comdats = job.step("COMDAT groups", || Comdats::decide(resolved, parallel));
    if let Some(session) = &kept.session {
        session.choose_groups(job, &comdats, resolved, parallel);
    }
    if !options.symbols.wrap.is_empty() {
        comdat::wrap_losers(resolved, &comdats, &Wrap::of(options, job.store));
    }
    let mode = Mode::new(options, inputs.machine, !resolved.shared.is_empty());
    mode.check(options)?;
    report::unheeded(job, &mode);
    // Which patterns of a linker script take which sections.
    if inputs.layout().is_some() {
        setup::check_scripted(options)?;
    }
    let read = |script| setup::ScriptRules::read(options, job.store, script, resolved);
    let rules = inputs.script().map(|script| read(script)).transpose()?;
    if options.kind == OutputKind::Relocatable {
        let given = Given { comdats: &comdats, rules: rules.as_ref(), mode, threads };
        return join_objects(job, kept, inputs, resolved, given);
    }
    let mut sections = job.step("parse sections", || {
        let lays_out = inputs.layout().is_some();
        let scripted = rules.as_ref().filter(|_| lays_out).map(|rules| rules.scripted());
        sections::parse(&mut resolved.objects, &comdats, options, scripted.as_ref(), job.sink, parallel)
    });
    report::flags(job, resolved);
    job.sink.end_phase()?;
    let mode = Mode { features: mode.features | attributes::features(resolved, &sections), ..mode };
    // A link that may relink leaves room for what sections may become.
    if let Some(session) = &kept.session {
        session.give_rooms(job, inputs, resolved, (&mut sections, parallel));
    }
    // Define what only the linker can.
    let scripts = Scripts::read(options, job.store, setup::inline_versions(inputs), job.sink);
    let versions = mode.dynamic.then_some(&scripts);
    let mut internals =
        define_internals(job, inputs, resolved, &sections, rules.as_ref(), versions, job.sink);
    let owners = SectionOwners::new(&resolved.objects, sections.list.len());
    // Start code loads slots before they have their values, and counts on it that no slot is left.
    let needed = mode.relocates_itself() && mode.facts().starts_without_slots;
    // Which variables have tags, and so are reached by the loader's pointers only.
    let tagged = Tagged::find(&resolved.objects, options, &mode, job.sink);
    let mut round = Round::first(options.relocs.relax && options.relocs.pcrel_optimize || needed);
    loop {
        let rules = rules.as_ref().map(|rules| &rules.rules);
        let tagged = tagged.as_ref();
        let context = &Context {
            inputs,
            mode,
            parallel,
            threads,
            owners: &owners,
            comdats: &comdats,
            internals: &internals,
            rules,
            tagged,
            gateways: entries,
        };
        // Freeze every name to its definition.
        let mut symbols =
            job.step("freeze symbols", || symbols::freeze(resolved, &sections, &comdats, job.sink, parallel));
        internals.freeze(&mut symbols);
        symbols.want(resolved, setup::wanted_names(options, inputs));
        if round.names {
            report::duplicates(job, resolved, &sections);
        }
        if round.references {
            report::undefined(job, context, resolved, &symbols);
        }
        // Decide what other modules see and may replace.
        let exports =
            job.step("exports and versions", || export(job, context, resolved, &symbols, &scripts, round));
        job.sink.settle();
        // Scan relocations for what they need; under gc, only those that matter.
        let mut live =
            job.step("gc and relocation scan", || scan(job, context, resolved, &sections, &symbols, round));
        // Bounds of sections that turn out to be gone are not defined.
        let unbounded = internals.without_section(&sections, |section| live.contains(section));
        if !unbounded.is_empty() {
            job.sink.end_phase()?;
            internals.undefine(resolved, &unbounded);
            round.names = false;
            continue;
        }
        job.sink.settle();
        if round.references {
            report::references(job, context, resolved, &sections, &symbols, &live)?;
        }
        job.sink.end_phase()?;
        // Of sections that are the same, keep one.
        if options.sections.icf != Icf::None {
            job.step("fold identical sections", || {
                fold(job, context, resolved, &mut sections, &symbols, &mut live)
            });
            job.sink.end_phase()?;
        }
        if round.references {
            report::folded_sections(job, resolved, &live, context)?;
        }
        // What is to lie elsewhere than the command line says.
        let order = section_order(job, context, resolved, &sections, &symbols, &live, round.references)?;
        // Size the linker's own sections, and lay everything out.
        let relax_got = round.relax_got;
        let retained = scripts.retained.as_ref();
        let planner =
            Planner { job, context, resolved, exports: &exports, live, order: &order, relax_got, retained };
        let said = job.sink.count();
        let plan = planner.plan(&mut sections, &mut symbols)?;
        // What addresses show to be otherwise than was counted on.
        if let Some(surprise) = Surprise::found(&plan, &internals, &symbols, relax_got) {
            plan.live.folds.undo(&mut sections);
            job.sink.take_back(said);
            round = surprise.next(round, &mut internals, resolved)?;
            continue;
        }
        finish_link(job, kept, context, resolved, &mut sections, &mut symbols, plan)?;
        done_with(job.host, (symbols, exports));
        break;
    }
    done_with(job.host, (resolved, sections, comdats, scripts, owners));
    Ok(())
}

/// `-r`: from COMDAT groups to the finished output.
fn join_objects<'j>(
    job: &Job<'j>,
    kept: &Kept,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    given: Given<'_, 'j>,
) -> Result<(), Diagnostics> {
    // Find what lives and what lies together, choose symbols, and lay everything out.
    let relocatable::Object { mut sections, mut symbols, internals, owners, plan } =
        relocatable::join(job, inputs, resolved, given)?;
    let Given { comdats, mode, threads, .. } = given;
    let parallel = threads > 1;
    let internals = &internals;
    let context = Context {
        inputs,
        mode,
        parallel,
        threads,
        owners: &owners,
        comdats,
        internals,
        rules: None,
        tagged: None,
        gateways: &[],
    };
    finish_link(job, kept, &context, resolved, &mut sections, &mut symbols, plan)?;
    done_with(job.host, (sections, symbols, owners));
    Ok(())
}

/// From the layout to the finished output.
fn finish_link<'j>(
    job: &Job<'j>,
    kept: &Kept,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &mut Sections<'j>,
    symbols: &mut Symbols,
    mut plan: Plan<'j>,
) -> Result<(), Diagnostics> {
    job.step("place sections and symbols", || plan.place(sections, symbols, resolved, context));
    job.sink.end_phase()?;
    // Sections outside memory may shrink now that their contents can be known.
    if emit::compress::is_wanted(job.options) {
        let image = plan.image(job, context, resolved, sections, symbols);
        let compressed = job.step("compress sections", || emit::compress::run(&image, context));
        let compressed = compressed.map_err(|e| Diagnostic::error(Cause::TooLarge, e.to_string()))?;
        job.sink.end_phase()?;
        plan.shrink(compressed)?;
    }
    let executable = !context.mode.relocatable;
    let image = plan.image(job, context, resolved, sections, symbols);
    let made = report::Made { frames: plan.eh_frames(), symtab: plan.symtab() };
    report::layout(job, &image, made, context)?;
    let contents = job.step("contents of synthetic sections", || plan.contents(&image, context));
    job.sink.end_phase()?;
    let session = kept.session.as_ref().filter(|_| executable);
    let (file, kept_leaves) = job.step("write image", || -> Result<_, Diagnostics> {
        let file = job::create_output(job, plan.layout.file_size, executable, context.threads)?;
        if let Some(session) = session {
            session.look_at(&image, context);
        }
        let keeps_leaves = session.is_some_and(Session::keeps);
        let (owners, threads) = (context.owners, context.threads);
        let rewrites = Rewrites::of(&image, context);
        let rewrites = rewrites.as_ref();
        let emitter = Emitter { image: &image, contents: &contents, owners, rewrites, threads, keeps_leaves };
        let leaves = emitter.write(&file)?;
        Ok((file, (leaves, emitter.build_id())))
    })?;
    // Relocations out of range are found while writing; then the file is not kept.
    job.sink.end_phase()?;
    report::source::explain_warnings(job, resolved);
    if kept.wants_state && executable {
        let (frames, symtab) = (plan.eh_frames(), plan.symtab());
        let link = Link { image: &image, context, files: job.store.files(), frames, symtab };
        job.step("state of the link", || kept.state.get_or_init(|| link.state(Tables::All)));
    }
    if let Some(session) = session {
        if session.is_verified(job, &file, &image) {
            return Ok(());
        }
        session.name_image(&file);
    }
    // What debuggers read goes to a file of its own.
    let (file, beside) = match &job.options.output.debug_file {
        Some(debug) => job.step("separate debug file", || {
            let whole = Whole { file: &file, layout: image.layout, contents: &contents };
            whole.split(job, debug, context.threads).map(|(main, debug)| (main, vec![debug]))
        })?,
        None => (file, Vec::new()),
    };
    done_with(job.host, contents);
    let file = match job.options.output.text {
        Some(format) => as_text(job, &plan, file, format)?,
        None => file,
    };
    // A copy for the next link, before anybody else has the output.
    let is_as_asked = kept.changed.get().is_none();
    let repeat = kept.repeat.as_ref().zip(kept.basis.get()).filter(|_| is_as_asked);
    let copied =
        repeat.and_then(|(repeat, basis)| job.step("keep a copy", || repeat.copy(job, &file, basis)));
    job.finish_all(file, beside, executable, context.parallel, || report::last(job, context.inputs))?;
    if let (Some((repeat, _)), Some(copied)) = (repeat, copied) {
        repeat.keep(copied);
    }
    if let Some(session) = session
        && let Some(witness) = session.output_is_there(job, context.parallel)
    {
        let image = plan.image(job, context, resolved, sections, symbols);
        let (frames, symtab) = (plan.eh_frames(), plan.symtab());
        let link = Link { image: &image, context, files: job.store.files(), frames, symtab };
        session.keep(job, &link, kept_leaves, &witness);
    }
    done_with(job.host, plan);
    Ok(())
}

/// The image in `file` as text, in a file of its own.
fn as_text<'j>(
    job: &Job<'j>,
    plan: &Plan,
    file: OutputFile<'j>,
    format: TextFormat,
) -> Result<OutputFile<'j>, Diagnostics> {
    let name = text::path(&job.options.output.path);
    let bytes = emit::text_formats::text(format, &plan.layout, &file, &name)?;
    drop(file);
    let file = job::create_output(job, bytes.len() as u64, false, 1)?;
    file.write_at(0, &bytes).map_err(Diagnostic::from)?;
    Ok(file)
}

fn open<'j>(job: &Job<'j>, sink: &DiagSink, parallel: bool) -> Result<Inputs<'j>, Diagnostics> {
    let loader = Loader { store: job.store, options: job.options, sink, parallel };
    let mut inputs = loader.load();
    if job.record.is_some() {
        setup::open_for_compilers(job.options, job.store, sink);
    }
    sink.end_phase()?;
    // A script that only adds to a layout adds to the default one.
    inputs.complete_script(|machine| default_script::text(job.options, machine.facts()), sink)?;
    if inputs.files.len() == 1 && inputs.archives.is_empty() {
        return Err(Diagnostic::error(Cause::NoInputFiles, "no input files").into());
    }
    Ok(inputs)
}

/// The inputs, and which of them take part in a link; nothing else comes of it. `None` if there is anything to say of them.
fn taking_part<'j>(job: &Job<'j>) -> Option<(Inputs<'j>, Resolved<'j>)> {
    let sink = DiagSink::new();
    let options = job.options;
    let open = |parallel| job.step("open inputs", || open(job, &sink, parallel));
    let count = options.inputs.args.len();
    let opened = job.opened(options.threads, count, open, |inputs: &Inputs| size_of(options, inputs));
    let (mut inputs, pool, _shares) = opened.ok()?;
    if inputs.options != ScriptOptions::default() {
        return None;
    }
    let parallel = pool.threads() > 1;
    let step = || job.step("resolve symbols", || resolve(job, &mut inputs, (None, &sink), parallel));
    let resolved = pool.install(step).ok()?;
    (sink.count() == 0).then_some((inputs, resolved))
}

/// Finds the files that take part. `compiled` is what intermediate code has become, if that has been found.
fn resolve<'j>(
    job: &Job<'j>,
    inputs: &mut Inputs<'j>,
    (compiled, sink): (Option<&Compiled<'j>>, &DiagSink),
    parallel: bool,
) -> Result<Resolved<'j>, Diagnostics> {
    let options = job.options;
    let wrap = Wrap::of(options, job.store);
    let loader = Loader { store: job.store, options, sink, parallel };
    let gcc = options.lto.engine.has_gcc_plugin();
    let mut search = Search { llvm: options.lto.fat_objects, gcc, slim: gcc };
    loop {
        let roots = setup::roots(options, inputs, job.store);
        let resolver = Resolver { inputs, options, sink, wrap: &wrap, search, compiled, parallel };
        let resolved = resolver.run(&roots)?;
        if !search.slim && resolved.names.find(SLIM.as_bytes()).is_some() {
            // No plugin has said that there is GCC's intermediate code, maybe in what nobody has asked for
            // yet.
            search.slim = true;
            continue;
        }
        if let Some(object) = slim_object(&resolved) {
            let text = "says that it has intermediate code of GCC's only, but has none";
            sink.push(object.whole().error(Cause::LtoIncompatible, text.to_owned()));
            sink.end_phase()?;
        }
        // Objects may ask for libraries. That is rare, so all starts again then.
        let more = setup::dependent_libraries(options, &resolved, &mut inputs.asked_for, sink);
        if more.is_empty() {
            return Ok(resolved);
        }
        loader.add_dependent(&more, inputs);
        sink.end_phase()?;
    }
}

/// Resolves names once more, because files have become others.
fn resolve_replaced<'j>(
    job: &Job<'j>,
    inputs: &mut Inputs<'j>,
    (resolved, compiled): (Resolved<'j>, Option<Compiled<'j>>),
    replaced: Vec<Replacement>,
    threads: usize,
) -> Result<Resolved<'j>, Diagnostics> {
    if replaced.is_empty() {
        return Ok(resolved);
    }
    let compiled = match compiled {
        Some(compiled) => compiled.and(replaced),
        None => Compiled { live: optimise::live_natives(&resolved), replaced, ..Compiled::default() },
    };
    drop(resolved);
    job.step("resolve symbols again", || resolve(job, inputs, (Some(&compiled), job.sink), threads > 1))
}

/// An object that takes part and says that it has intermediate code of GCC's and no machine code.
fn slim_object<'r, 'j>(resolved: &'r Resolved<'j>) -> Option<&'r Object<'j>> {
    let entry = resolved.names.get(resolved.names.find(SLIM.as_bytes())?);
    let index = resolved.index_of_file[entry.file().index()];
    resolved.objects.get(index as usize).filter(|_| entry.rank() <= Rank::Weak)
}

/// Symbols that stand for what the linker makes, and for what the command line assigns.
fn define_internals<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    sections: &Sections<'j>,
    rules: Option<&setup::ScriptRules>,
    versions: Option<&Scripts>,
    sink: &DiagSink,
) -> Internals {
    let _stretch = trace::stretch("linker's own symbols");
    let layout = inputs.script().zip(rules).map(|(script, rules)| (&**script, &rules.rules));
    let from_scripts = FromScripts { commands: &inputs.commands, layout };
    let mut internals = Internals::define(resolved, sections, job.options, from_scripts, sink);
    if let Some(versions) = versions.filter(|_| job.options.symbols.version_symbols) {
        let names = versions.version_names();
        internals.define_versions(resolved, names.iter().map(|name| job.store.keep(name.to_vec())));
    }
    internals
}

fn export<'s>(
    job: &Job,
    context: &Context,
    resolved: &Resolved<'s>,
    symbols: &Symbols,
    scripts: &'s Scripts,
    round: Round,
) -> Exports<'s> {
    // What there is to say has been said if this is not the first time.
    let silent = DiagSink::new();
    let sink = if round.names { job.sink } else { &silent };
    let (rules, warnings) = scripts.rules(sink, |name| versioned::is_spelled(resolved, name));
    let asked = Asked { options: job.options, mode: context.mode, sink };
    let exports = exports::decide(resolved, symbols, asked, rules, context.parallel);
    if round.names {
        warnings.into_iter().for_each(|warning| job.sink.push(warning));
        report::versions::undefined(job, resolved, symbols, scripts);
    }
    exports
}

fn scan<'j>(
    job: &Job<'j>,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &Sections<'j>,
    symbols: &Symbols,
    round: Round,
) -> Live {
    let (options, internals) = (job.options, context.internals);
    let (objects, names) = (&resolved.objects, &resolved.names);
    let roots = Roots { objects, sections, symbols, names, internals, options };
    // Without gc every section is visited anyway.
    let gc = options.sections.gc_sections;
    let roots = if gc { roots.collect(context.parallel) } else { Vec::new() };
    let scanner = Scanner {
        objects,
        sections,
        symbols,
        options,
        mode: context.mode,
        sink: job.sink,
        owners: context.owners,
        relax_got: round.relax_got,
        gc,
        tagged: context.tagged,
        marks: Marks::new(sections.list.len()),
    };
    scanner.run(&roots, context.parallel)
}

fn fold<'j>(
    job: &Job<'j>,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &mut Sections<'j>,
    symbols: &Symbols,
    live: &mut Live,
) {
    let link = icf::Link {
        objects: &resolved.objects,
        sections,
        symbols,
        names: &resolved.names,
        live,
        owners: context.owners,
        options: job.options,
        sink: job.sink,
        parallel: context.parallel,
    };
    let folds = link.folds();
    job.trace.note("folded sections", || folds.pairs.len().to_string());
    icf::apply(folds, &resolved.objects, sections, live, context.parallel);
}

fn section_order<'j>(
    job: &Job<'j>,
    context: &Context<'_, 'j>,
    resolved: &Resolved<'j>,
    sections: &Sections<'j>,
    symbols: &Symbols,
    live: &Live,
    first: bool,
) -> Result<SectionOrder, Diagnostics> {
    let _stretch = trace::stretch("order of sections");
    let owners = context.owners;
    let in_order = context.inputs.layout().is_none() && !context.mode.relocatable;
    let toc = context.mode.facts().toc.as_ref().filter(|_| in_order);
    let parallel = context.parallel;
    let order = Orderer { job, resolved, sections, symbols, live, owners, toc, parallel, first }.order()?;
    job.sink.end_phase()?;
    Ok(order)
}
