//! A link, from the command line to the finished image.
//!
//! This is the page to read first: [`run`], [`link_inputs`], [`lay_out`] and [`write()`] are the recipe, a
//! line a phase, in order. Each phase borrows what the phases before it made. What a phase finds wrong goes
//! to `job.sink`: `end_phase` stops the link there.

mod optimise;

use std::ffi::OsString;
use std::path::Path;

use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;
use weld_common::io::identity::Identity;
use weld_common::io::input::InputStore;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, OutputOptions};
use weld_common::job::{Size, connect, done_with, print};
use weld_common::par;
use weld_common::reproduce::Recorder;
use weld_common::trace::Trace;
use weld_pdb::Types;

use crate::args::{self, Environment};
use crate::debug;
use crate::debug::types::Objects;
use crate::emit::headers::{self, dos_program};
use crate::emit::symbol_table::SymbolTable;
use crate::emit::{self, Emitter, base_reloc_sites, limits};
use crate::icf;
use crate::ids::SectionId;
use crate::input::load::{Inputs, Loader};
use crate::input::parts;
use crate::input::search::Search;
use crate::input::type_servers::Servers;
use crate::job::Job;
use crate::layout::patch_space::PatchSpace;
use crate::layout::program::{self, Program};
use crate::layout::rooms::{self, Rooms};
use crate::layout::section_order::Orderer;
use crate::layout::thunks::{self, Code, Settings};
use crate::layout::{self, Order, Placer};
use crate::librarian;
use crate::live::{self, ImageParts, Live};
use crate::options::{Options, Reproduction};
use crate::relink::{self, Session};
use crate::report::{beside, discarded, files, summary, undefined, unused};
use crate::resolve::{Resolved, Resolver, comdat, duplicates, wrap};
use crate::sections::{self, Kind, Sections};
use crate::symbols::{self, Freezer, Noted, Symbols};
use crate::synth::base_relocs;
use crate::synth::delay;
use crate::synth::image::LaidOut;
use crate::synth::resources;
use crate::synth::tables::{Parts, Tables};

/// What a successful link leaves behind.
#[derive(Debug)]
pub struct Outcome {
    pub warnings: Vec<Diagnostic>,
}

/// Links as the command line `args` (without the program's name) and the environment ask.
///
/// # Errors
/// Everything found wrong, in a fixed order; the output is then as it was before.
pub fn link(args: &[OsString], environment: &Environment, host: &dyn Host) -> Result<Outcome, Diagnostics> {
    let sink = DiagSink::new();
    let command = args::parse(args, environment, &sink)?;
    carry_out(command, sink, host)
}

/// The same for a command line of GNU `ld`; `program` is the name that it was called by.
///
/// # Errors
/// Everything found wrong, in a fixed order; the output is then as it was before.
pub fn link_gnu(
    args: &[OsString],
    program: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<Outcome, Diagnostics> {
    let sink = DiagSink::new();
    let command = args::gnu::parse(args, program, environment, &sink)?;
    carry_out(command, sink, host)
}

fn carry_out(command: args::Command, sink: DiagSink, host: &dyn Host) -> Result<Outcome, Diagnostics> {
    let options = match command {
        args::Command::Link(options) => options,
        args::Command::Print(text) => {
            print(host, &text)?;
            return Ok(Outcome { warnings: sink.finish() });
        }
    };
    if options.json {
        host.messages_are_json();
    }
    if let Some(text) = &options.greeting {
        print(host, text)?;
    }
    let jobserver = if options.threads.is_none() { connect(host) } else { None };
    let mut store = InputStore::new(host);
    let reads_debug = options.debug.pdb || options.debug.dwarf;
    store.prefetch(options.prefetch, if reads_debug { parts::of } else { parts::of_image_only });
    let recorder = options.reproduce.as_ref().map(|Reproduction { path, response, version }| {
        store.record();
        store.refuse(Identity::of(path).map(|id| (id, "/reproduce".to_owned())).into_iter().collect());
        Recorder::new(path.clone(), response.clone(), version.clone()).describing_later()
    });
    let session = Session::begin(&options, sink.count(), host);
    if session.is_some() {
        store.record();
    }
    let trace = Trace::new(
        options.reports.time
            || options.reports.time_trace.is_some()
            || options.reports.time_trace_beside_output,
    );
    let job = Job {
        options: &options,
        host,
        sink: &sink,
        store: &store,
        trace: &trace,
        record: recorder.as_ref(),
        jobserver: jobserver.as_ref(),
        sharing: options.sharing,
        reports: &Reports::new(),
    };
    let result = {
        let _entered = trace.enter();
        match &session {
            None => run(&job, None),
            Some(session) => run_if_changed(&job, session),
        }
    };
    result.map_err(|diagnostics| job.failed(diagnostics))?;
    done_with(host, store);
    let warnings = sink.finish();
    session.iter().for_each(|session| session.finish(&warnings));
    Ok(Outcome { warnings })
}

/// Links, unless nothing has changed since the last link.
fn run_if_changed(job: &Job, session: &Session) -> Result<(), Diagnostics> {
    let is_done = session.relink(job)?;
    if is_done && !session.verifies() { Ok(()) } else { run(job, Some(session)) }
}

fn run(job: &Job, session: Option<&Session>) -> Result<(), Diagnostics> {
    let options = job.options;
    // A library of objects, or an import library of what a module-definition file says.
    if options.library || options.inputs.is_empty() && options.def.is_some() {
        return librarian::run(job);
    }
    let pdbs =
        [&options.pdb.path, &options.pdb.stripped].map(|path| path.as_ref().filter(|_| options.debug.pdb));
    for path in options.out.iter().chain(pdbs.into_iter().flatten()) {
        output::check(path).map_err(Diagnostic::from)?;
    }
    session.iter().for_each(|session| session.begin_full_link(job));
    let search = Search::of_link(job)?;
    let open = |parallel| {
        let loader = Loader::new(job, &search, parallel);
        let inputs = job.step("open inputs", || loader.load(&options.inputs));
        job.sink.end_phase()?;
        if inputs.files.len() == 1 && inputs.archives.is_empty() && inputs.resources.is_empty() {
            return Err(Diagnostics::from(Diagnostic::error(Cause::NoInputFiles, "no input files")));
        }
        Ok(inputs)
    };
    let count = options.inputs.len();
    let (mut inputs, pool, shares) =
        job.opened(options.threads, count, open, |inputs: &Inputs| size_of(options, inputs))?;
    if let Some(record) = job.record {
        record.add(job.store, job.host)?;
    }
    pool.install(|| link_inputs(job, &search, &mut inputs, session, pool.threads()))?;
    drop(shares);
    done_with(job.host, (inputs, pool));
    Ok(())
}

/// How large a link of these inputs is: its tables are about a third of them, or a half with a PDB.
fn size_of(options: &Options, inputs: &Inputs) -> Size {
    let input = inputs.total_bytes;
    Size { input, tables: if options.debug.pdb { input / 2 } else { input / 3 } }
}

/// From inputs that are open to the finished output.
fn link_inputs<'j>(
    job: &Job<'j>,
    search: &Search,
    inputs: &mut Inputs<'j>,
    session: Option<&Session>,
    threads: usize,
) -> Result<(), Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let loader = Loader::new(job, search, parallel);
    let servers = Servers::with(std::mem::take(&mut inputs.pdbs));
    let (store, sink, compiled) = (job.store, job.sink, None);
    let resolver = Resolver { store, options, sink, loader: &loader, servers: &servers, compiled, parallel };
    // Read symbols, intern names, find the best definition of each; members of libraries as they are wanted.
    let resolved = job.step("resolve symbols", || resolver.run(inputs))?;
    if resolved.objects.iter().any(|object| object.is_code()) {
        session.iter().for_each(|session| session.compiles());
    }
    // Have bitcode compiled, and resolve all again with the objects that it has become.
    let Some(mut resolved) = optimise::compile(job, &resolver, inputs, resolved)? else { return Ok(()) };
    if options.reports.print_search_paths {
        search.set_machine(resolved.machine);
        job.print(&search.shown())?;
    }
    let out = files::image(options, &resolved, inputs);
    files::check(options, &resolved, inputs, &out)?;
    unused::say(&resolved, inputs, options, job.sink);
    if let Some(path) = &options.input_list {
        job.report(path, &files::input_list(inputs))?;
    }
    // Types for debuggers depend on nothing but the objects, so they are merged while the image is laid out.
    let objects = options.debug.pdb.then(|| Objects::of(&resolved, &servers, job.store, parallel));
    let warnings = DiagSink::new();
    let first = session.and_then(Session::told_types);
    let merge = || {
        objects.as_ref().map(|o| job.step("merge types", || o.merge(job.store, first, parallel, &warnings)))
    };
    let (types, laid_out) =
        par::both(parallel, merge, || lay_out(job, inputs, &mut resolved, &out, (session, parallel)));
    let (laid_out, types) = (laid_out?, types.transpose()?);
    debug::say(job, &warnings);
    let types = objects.as_ref().zip(types.as_ref());
    write(job, &laid_out, (&resolved, types), &out, (session, threads))?;
    // What the next link has to know, when all is in its place.
    if let Some(session) = session {
        let outputs = relink::outputs(files::written(options, &resolved, &out));
        session.keep(job, &outputs, (search, resolved.machine), parallel);
    }
    Ok(())
}

/// From what takes part to addresses.
fn lay_out<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    out: &Path,
    (session, parallel): (Option<&Session>, bool),
) -> Result<LaidOut<'j>, Diagnostics> {
    let options = job.options;
    // Choose among COMDAT sections, freeze names to what they stand for.
    let (mut sections, mut symbols) = resolve(job, resolved, parallel)?;
    // Find what the image needs.
    let mut live =
        job.step("find live sections", || live::find(resolved, &sections, &symbols, options, parallel));
    discarded::say(resolved, &sections, &live, options, job.sink);
    // Keep one of what is the same.
    let folds = &icf::fold(job, resolved, &mut sections, &symbols, &live, parallel)[..];
    // Find what the linker's own tables hold.
    let parts = Parts { resolved, sections: &mut sections, symbols: &symbols, live: &live, folds, parallel };
    let mut tables = Tables::find(job, parts, inputs, out)?;
    // Asked while slots of imports are only those of objects: most links have none.
    let writes_imports = delay::is_in_objects(resolved, &sections, &live);
    // Add their sections; from then on only branches that do not reach add some.
    tables.add(resolved, &mut sections, &mut symbols, &mut live, options);
    resources::check_objects(resolved, &sections, &live, &tables, job.sink);
    // Find the output sections, and put their members in order.
    let known = ImageParts { sections: &sections, symbols: &symbols, live: &live };
    let ordered = order(job, resolved, known, folds, writes_imports, parallel)?;
    tables.resize(&mut sections, &ordered.order);
    // Everything gets its address.
    let complete = Complete { sections, symbols, live, tables };
    give_addresses(job, resolved, complete, ordered, (session, parallel))
}

/// What the sections are, and what each name stands for.
fn resolve(job: &Job, resolved: &mut Resolved, parallel: bool) -> Result<(Sections, Symbols), Diagnostics> {
    let options = job.options;
    job.step("COMDAT sections", || comdat::choose_largest(resolved, parallel));
    let mut sections = job.step("parse sections", || sections::parse(resolved, options, job.sink, parallel));
    // What is malformed defines nothing, which need not be said, too.
    job.sink.end_phase()?;
    let is_kept = |object, number| sections.get(sections.id(object, number)).kind != Kind::Discarded;
    duplicates::settle(resolved, is_kept, options, job.sink);
    let noted = Noted::take(&mut resolved.names);
    let freezer = Freezer { resolved, options, sink: job.sink, parallel };
    let mut symbols = job.step("freeze symbols", || freezer.freeze(&noted, &mut sections));
    wrap::redirect(resolved, parallel);
    symbols.stand_for_wrapped(&resolved.wraps);
    let missing = symbols::undefined(resolved, &symbols, parallel);
    undefined::report(resolved, &missing, options, parallel, job.sink);
    check_subsystem(job, resolved);
    if let Some(said) = resolved.said {
        job.sink.drop_repetitions(said);
    }
    job.sink.end_phase()?;
    Ok((sections, symbols))
}

/// What kind of program it is has to be known.
fn check_subsystem(job: &Job, resolved: &Resolved) {
    if resolved.program.subsystem.is_none() {
        job.sink.error(Cause::NoSubsystem, "subsystem must be defined: use /subsystem");
    }
}

/// What the image is made of, when nothing more comes but thunks.
struct Complete<'j> {
    sections: Sections,
    symbols: Symbols,
    live: Live,
    tables: Tables<'j>,
}

/// The output sections in their order, the sections in each, and those that others stand for.
struct Ordered<'f> {
    program: Program,
    order: Order,
    folds: &'f [(SectionId, SectionId)],
}

/// Puts everything in order.
fn order<'f>(
    job: &Job,
    resolved: &Resolved,
    parts: ImageParts,
    folds: &'f [(SectionId, SectionId)],
    writes_imports: bool,
    parallel: bool,
) -> Result<Ordered<'f>, Diagnostics> {
    let ImageParts { sections, symbols, live } = parts;
    let (options, store, sink) = (job.options, job.store, job.sink);
    let listed = program::read_layout(options, store, sink);
    let style = program::Style { mingw: options.mingw.on, writes_imports, order: &listed };
    let used = live.used_parts(sections, parallel);
    let program = program::make(sections, &used, &resolved.demands, style, sink);
    sink.end_phase()?;
    let mut order = job.step("order sections", || layout::order(sections, live, &program, parallel));
    let folded_into = folds.iter().copied().collect();
    let orderer = Orderer { resolved, sections, symbols, live, folded_into, options, store, sink };
    orderer.apply(job, &mut order.list)?;
    layout::sort_imports(resolved, sections, &mut order.list);
    Ok(Ordered { program, order, folds })
}

/// From sections in order to addresses. Base relocations are made when what they are about has its own.
fn give_addresses<'j>(
    job: &Job<'j>,
    resolved: &Resolved<'j>,
    complete: Complete<'j>,
    ordered: Ordered,
    (session, parallel): (Option<&Session>, bool),
) -> Result<LaidOut<'j>, Diagnostics> {
    let options = job.options;
    let Complete { mut sections, mut symbols, mut live, tables } = complete;
    let Ordered { program, order, folds } = ordered;
    let stub = dos_program(options, job.store, job.sink);
    let headers = headers::size(stub.len(), resolved.machine, program.outs.len());
    let mut relocs = Vec::new();
    let patch_space = PatchSpace::find(resolved, options, job.sink);
    let rooms = Rooms::find(options, resolved, &sections);
    let told = session.and_then(|session| session.told(job, resolved, &sections));
    let told = told.as_ref();
    let place = |parts: ImageParts, order| {
        let sections = parts.sections;
        let patch_space = patch_space.as_ref();
        let rooms = rooms.as_ref();
        let placer = Placer { sections, options, sink: job.sink, patch_space, rooms, told, parallel };
        let layout = placer.place(program.clone(), order, headers, |layout| {
            if options.loading.is_relocatable() {
                let places = base_reloc_sites::find(resolved, parts, &tables, layout, parallel);
                relocs = base_relocs::table(&places, parallel);
                if rooms.is_some() {
                    let size = rooms::of_relocs(relocs.len());
                    base_relocs::pad(&mut relocs, size);
                }
            }
            relocs.len() as u64
        });
        folds.iter().for_each(|&(folded, leader)| layout.stand_in(folded, leader));
        layout
    };
    let code = Code { resolved, sections: &mut sections, symbols: &mut symbols, live: &mut live };
    let settings =
        Settings { most: options.layout.branch_reach, verbose: options.reports.verbose.all, parallel };
    let (layout, branches) =
        job.step("give addresses", || thunks::settle(code, order, &settings, job.sink, place));
    let base = resolved.program.base_address(options, resolved.machine);
    limits::check(options, resolved, &layout, base, job.sink);
    job.sink.end_phase()?;
    let tls_align = emit::tls_align(&sections, &live);
    Ok(LaidOut { sections, symbols, live, tables, layout, rooms, branches, stub, relocs, base, tls_align })
}

/// Writes the image and, at the same time, its PDB.
fn write<'j>(
    job: &Job<'j>,
    laid_out: &LaidOut<'j>,
    (resolved, types): (&Resolved<'j>, Option<(&Objects, &Types)>),
    out: &Path,
    (session, threads): (Option<&Session>, usize),
) -> Result<(), Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let image = &laid_out.image(options, resolved);
    let symbol_table = &SymbolTable::new(image, parallel);
    let LaidOut { stub: dos_program, relocs, .. } = laid_out;
    let keeps_leaves = session.is_some_and(Session::keeps);
    let emitter = Emitter { image, sink: job.sink, dos_program, relocs, symbol_table, threads, keeps_leaves };
    let engine = OutputOptions { engine: options.engine, executable: true, threads, ..Default::default() };
    let file = job.create_output(out, emitter.file_size(), &engine, options.reports.verbose.all)?;
    let warnings = DiagSink::new();
    let write_pdb = || types.map(|(_, types)| debug::write(job, image, types, out, threads, &warnings));
    let (pdb, written) = par::both(parallel, write_pdb, || job.step("write image", || emitter.write(&file)));
    // What does not fit is found while writing; then the files are not kept.
    job.sink.end_phase()?;
    debug::say(job, &warnings);
    let mut pdb = pdb.transpose()?;
    let mut written = written?;
    if let Some(session) = session {
        let of_pdb =
            pdb.as_mut().map(|pdb| (std::mem::take(&mut pdb.leaves), std::mem::take(&mut pdb.known)));
        session.note_image(&emitter, written.take_leaves(), of_pdb.unwrap_or_default(), parallel);
    }
    let time = emitter.finish(written, pdb.as_ref().map(|pdb| pdb.identity))?;
    beside::add(job, image, out, beside::Written { time, size: emitter.file_size() }, parallel)?;
    if options.reports.summary {
        job.print(&summary::text(image, types, pdb.as_ref().map(|pdb| pdb.holds)))?;
    }
    let beside = pdb.map_or(Vec::new(), |pdb| pdb.files);
    session.iter().for_each(|session| session.name_outputs(job, std::iter::once(&file).chain(&beside)));
    job.finish_all(file, beside, true, parallel, || {
        job.report_trace(options.reports.time, files::time_trace(options, out).as_deref())
    })
}
