//! A link, from the command line to the finished image.
//!
//! This is the page to read first: [`run`], [`resolve`] and [`make_image`] are the recipe, a line a phase, in
//! order. Each phase borrows what the phases before it made. What a phase finds wrong goes to `job.sink`:
//! `end_phase` stops the link there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::host::Host;
use weld_common::io::identity::Identity;
use weld_common::io::input::InputStore;
use weld_common::io::output::reports::Reports;
use weld_common::io::output::{self, OutputOptions};
use weld_common::job::{connect, done_with, print};
use weld_common::reproduce::Recorder;
use weld_common::trace::Trace;
use weld_common::{par, text};
use weld_pdb::Types;

use crate::arch::facts;
use crate::args::{self, Environment};
use crate::coff::machine::Machine;
use crate::debug;
use crate::debug::types::Objects;
use crate::emit::headers::{self, dos_program};
use crate::emit::symbol_table::{SymbolTable, has_long_name};
use crate::emit::{self, Emitter, places};
use crate::icf;
use crate::ids::SectionId;
use crate::implib;
use crate::input::load::{Inputs, Loader};
use crate::input::overlay::Overlay;
use crate::input::parts;
use crate::input::search::Search;
use crate::input::servers::Servers;
use crate::job::Job;
use crate::layout::branches::{self, Branches, Code, Reach};
use crate::layout::patch_space::PatchSpace;
use crate::layout::{self, Placer, program, section_order};
use crate::librarian;
use crate::live::{self, Live};
use crate::names::{self, Rival};
use crate::options::{Icf, Manifest, Options, Reproduction};
use crate::report::{discarded, files, map, summary, undefined, unused};
use crate::resolve::{Resolved, Resolver, comdat, duplicates, wrap};
use crate::sections::{self, Kind, Sections};
use crate::symbols::{self, Freezer, Noted, Symbols};
use crate::synth::base_relocs;
use crate::synth::delay;
use crate::synth::guard::Guards;
use crate::synth::image::Image;
use crate::synth::manifest;
use crate::synth::resources;
use crate::synth::tables::{Link, Tables};

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
    let trace = Trace::new(options.time || options.time_trace.is_some() || options.time_trace_beside_output);
    let job = Job {
        options: &options,
        host,
        sink: &sink,
        store: &store,
        trace: &trace,
        record: recorder.as_ref(),
        jobserver: jobserver.as_ref(),
        reports: &Reports::new(),
    };
    let result = {
        let _entered = trace.enter();
        run(&job)
    };
    result.map_err(|diagnostics| job.failed(diagnostics))?;
    done_with(host, store);
    Ok(Outcome { warnings: sink.finish() })
}

fn run(job: &Job) -> Result<(), Diagnostics> {
    let options = job.options;
    // A library of objects, or an import library of what a module-definition file says.
    if options.library || options.inputs.is_empty() && options.def.is_some() {
        return librarian::run(job);
    }
    let pdbs =
        [&options.pdb.path, &options.pdb.stripped].map(|path| path.as_ref().filter(|_| options.debug.pdb));
    for path in options.out.iter().chain(pdbs.into_iter().flatten()) {
        output::check(path).map_err(|e| Diagnostic::error(e.to_string()))?;
    }
    let search = search(job)?;
    let open = |parallel| {
        let loader = loader(job, &search, parallel);
        let inputs = job.step("open inputs", || loader.load(&options.inputs));
        job.sink.end_phase()?;
        if inputs.files.len() == 1 && inputs.archives.is_empty() && inputs.resources.is_empty() {
            return Err(Diagnostics::from(Diagnostic::error("no input files")));
        }
        Ok(inputs)
    };
    let count = options.inputs.len();
    let (mut inputs, pool, tokens) =
        job.opened(options.threads, count, open, |inputs: &Inputs| inputs.total_bytes)?;
    if let Some(record) = job.record {
        record.add(job.store, job.host)?;
    }
    pool.install(|| link_inputs(job, &search, &mut inputs, pool.threads()))?;
    drop(tokens);
    done_with(job.host, (inputs, pool));
    Ok(())
}

/// Where files are looked for.
fn search(job: &Job) -> Result<Search, Diagnostic> {
    let mut search = Search::new(job.options.lib_paths.clone());
    search.toolchain = job.options.toolchain.clone();
    if let Some(path) = &job.options.overlay {
        let shown = text::path(path);
        let bytes = job.store.open(path)?.ok_or_else(|| {
            Diagnostic::error(format!("could not open '{shown}': No such file or directory"))
        })?;
        let overlay = Overlay::parse(&text::text(bytes), path)
            .map_err(|e| Diagnostic::error(format!("Invalid vfs overlay: {shown}: {e}")))?;
        search.overlay = Some(overlay);
    }
    Ok(search)
}

fn loader<'j, 'l>(job: &'l Job<'j>, search: &'l Search, parallel: bool) -> Loader<'j, 'l> {
    let Options { verbose, machine, .. } = *job.options;
    let keeps_paths = job.options.input_list.is_some();
    Loader {
        store: job.store,
        search,
        sink: job.sink,
        parallel,
        verbose: verbose.libraries,
        keeps_paths,
        mingw: job.options.mingw.on,
        machine,
    }
}

/// `/print-search-paths`
fn shown_paths(search: &Search) -> String {
    let mut list = "Library search paths:\n  (cwd)\n".to_owned();
    search.directories().for_each(|dir| list += &format!("  {}\n", text::path(dir)));
    list
}

/// From inputs that are open to the finished output.
fn link_inputs<'j>(
    job: &Job<'j>,
    search: &Search,
    inputs: &mut Inputs<'j>,
    threads: usize,
) -> Result<(), Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let loader = loader(job, search, parallel);
    let servers = Servers::default();
    let resolver =
        Resolver { store: job.store, options, sink: job.sink, loader: &loader, servers: &servers, parallel };
    // Read symbols, intern names, find the best definition of each; members of libraries as they are wanted.
    let mut resolved = job.step("resolve symbols", || resolver.run(inputs))?;
    if options.print_search_paths {
        search.set_machine(resolved.machine);
        job.print(&shown_paths(search))?;
    }
    let out = output_path(options, &resolved, inputs);
    files::check(options, &resolved, inputs, &out)?;
    if options.verbose.unused_libraries {
        unused::say(&resolved, inputs, job.sink);
    }
    if let Some(path) = &options.input_list {
        job.report(path, &files::input_list(inputs))?;
    }
    // Types for debuggers depend on nothing but the objects, so they are merged while the image is laid out.
    let objects = options.debug.pdb.then(|| Objects::of(&resolved, &servers, job.store, parallel));
    let warnings = DiagSink::new();
    let merge =
        || objects.as_ref().map(|o| job.step("merge types", || o.merge(job.store, parallel, &warnings)));
    let (types, laid_out) =
        par::both(parallel, merge, || lay_out(job, inputs, &mut resolved, (&out, parallel)));
    let (laid_out, types) = (laid_out?, types.transpose()?);
    take_over(job, &warnings);
    let image = laid_out.image(options, &resolved);
    let types = objects.as_ref().zip(types.as_ref());
    write(job, &image, (&laid_out.stub, &laid_out.relocs), types, (&out, threads))
}

/// What was said beside the main course of the link is said after what that said.
fn take_over(job: &Job, warnings: &DiagSink) {
    job.sink.settle();
    let is_wanted =
        |warning: &Diagnostic| job.options.warn_missing_types || !warning.message.contains("[LNK4099]");
    warnings.finish().into_iter().filter(is_wanted).for_each(|warning| job.sink.push(warning));
    job.sink.settle();
}

/// All that has its place.
struct LaidOut<'a> {
    sections: Sections,
    symbols: Symbols,
    live: Live,
    tables: Tables<'a>,
    layout: layout::Layout,
    branches: Branches,
    stub: Vec<u8>,
    relocs: Vec<u8>,
    base: u64,
    tls_align: u8,
}

impl<'a> LaidOut<'a> {
    fn image<'i>(&'i self, options: &'i Options, resolved: &'i Resolved<'a>) -> Image<'i, 'a> {
        let LaidOut { sections, symbols, live, tables, layout, branches, base, tls_align, .. } = self;
        let (base, tls_align) = (*base, *tls_align);
        Image { options, resolved, sections, symbols, live, layout, branches, tables, base, tls_align }
    }
}

/// From what takes part to addresses.
fn lay_out<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    (out, parallel): (&Path, bool),
) -> Result<LaidOut<'j>, Diagnostics> {
    // Choose among COMDAT sections, freeze names to what they stand for.
    let (sections, symbols) = resolve(job, resolved, parallel)?;
    // Find what the image needs.
    let live =
        job.step("find live sections", || live::find(resolved, &sections, &symbols, job.options, parallel));
    if job.options.verbose.discarded {
        discarded::say(resolved, &sections, &live, job.sink);
    }
    // Keep one of what is the same.
    let mut sections = sections;
    let level = job.options.icf();
    let mut folds = Vec::new();
    if level != Icf::None {
        let link =
            icf::Link { resolved, sections: &sections, symbols: &symbols, live: &live, level, parallel };
        folds = job.step("fold sections", || link.folds());
        icf::apply(&folds, &mut sections, parallel);
        icf::say(&folds, resolved, &sections, job.options, job.sink);
    }
    // Find what the linker's own tables hold: first what the loader is told of places to jump to.
    let (options, folds) = (job.options, &folds[..]);
    let link =
        Link { resolved, sections: &sections, symbols: &symbols, live: &live, options, folds, parallel };
    let guards = job.step("guards", || Guards::find(&link, job.sink));
    job.sink.end_phase()?;
    guards.align(&mut sections);
    let trees = resources::take_from_objects(resolved, &mut sections, &live, options, job.sink);
    let link =
        Link { resolved, sections: &sections, symbols: &symbols, live: &live, options, folds, parallel };
    let tables = Tables::find(job, &link, guards, (inputs, trees), out)?;
    give_places(job, resolved, (sections, symbols, live, tables), folds, parallel)
}

/// What the sections are, and what each name stands for.
fn resolve(job: &Job, resolved: &mut Resolved, parallel: bool) -> Result<(Sections, Symbols), Diagnostics> {
    let options = job.options;
    job.step("COMDAT sections", || comdat::choose_largest(resolved, parallel));
    let sections = job.step("parse sections", || sections::parse(resolved, options, job.sink, parallel));
    // What is malformed defines nothing, which need not be said, too.
    job.sink.end_phase()?;
    // Definitions beside the leaders of sections that are gone are none.
    let members = names::take_members(&mut resolved.names);
    let is_kept = |places: &[crate::resolve::Place], file: crate::ids::FileId, number: u32| match places
        [file.index()]
    {
        crate::resolve::Place::Object(id) => sections.get(sections.id(id, number)).kind != Kind::Discarded,
        _ => true,
    };
    let places = resolved.places.clone();
    let mut lost = comdat::settle_members(resolved, &members, |file, number| is_kept(&places, file, number));
    lost.extend(names::take_duplicates(&mut resolved.names));
    let soft: Vec<Rival> = names::take_soft(&mut resolved.names);
    lost.extend(duplicates::clashing(resolved, &soft));
    let object_of = |file| (resolved.object(file).map(|(_, object)| object), resolved.file_name(file));
    duplicates::report((&resolved.names, lost), object_of, options, job.sink);
    let noted = Noted {
        aliases: names::take_aliases(&mut resolved.names),
        commons: names::take_commons(&mut resolved.names),
    };
    let freezer = Freezer { resolved, options, sink: job.sink, parallel };
    let mut sections = sections;
    let mut symbols = job.step("freeze symbols", || freezer.freeze(&noted, &mut sections));
    wrap::redirect(resolved, parallel);
    symbols.stand_for_wrapped(&resolved.wraps);
    let missing = symbols::undefined(resolved, &symbols, parallel);
    undefined::report(resolved, &missing, options, parallel, job.sink);
    if resolved.program.subsystem.is_none() {
        job.sink.error("subsystem must be defined: use /subsystem");
    }
    job.sink.end_phase()?;
    Ok((sections, symbols))
}

/// From what the image needs to addresses.
fn give_places<'j>(
    job: &Job<'j>,
    resolved: &Resolved<'j>,
    (mut sections, mut symbols, mut live, mut tables): (Sections, Symbols, Live, Tables<'j>),
    folds: &[(SectionId, SectionId)],
    parallel: bool,
) -> Result<LaidOut<'j>, Diagnostics> {
    let options = job.options;
    // Asked while slots of imports are only those of objects: most links have none.
    let writes_imports = delay::is_in_objects(resolved, &sections, &live);
    let section_layout = program::read_layout(options, job.store, job.sink);
    let style = program::Style { mingw: options.mingw.on, writes_imports, order: &section_layout };
    tables.add(resolved, (&mut sections, &mut symbols, &mut live), options);
    resources::check_objects(resolved, (&sections, &live), &tables, job.sink);
    // Output sections and their order, then addresses; base relocations are made when what they are about has
    // its own.
    let used = live.used_parts(&sections, parallel);
    let program = program::make(&sections, &used, &resolved.demands, style, job.sink);
    job.sink.end_phase()?;
    let mut order = job.step("order sections", || layout::order(&sections, &live, &program, parallel));
    let orderer = section_order::Orderer {
        resolved,
        sections: &sections,
        symbols: &symbols,
        live: &live,
        folded_into: folds.iter().copied().collect(),
        options,
        store: job.store,
        sink: job.sink,
    };
    let first = orderer.first();
    job.sink.end_phase()?;
    section_order::apply(&first, &sections, &mut order.0);
    if let Some(path) = &options.print_order {
        job.report(path, &orderer.names(&first))?;
    }
    layout::sort_imports(resolved, &sections, &mut order.0);
    let stub = dos_program(options, job.store, job.sink);
    let headers = headers::size(stub.len(), resolved.machine, program.outs.len());
    let mut relocs = Vec::new();
    let patch_space = PatchSpace::find(resolved, options, job.sink);
    let place = |(sections, symbols, live): (&Sections, &Symbols, &Live), order| {
        let patch_space = patch_space.as_ref();
        let placer = Placer { sections, options, sink: job.sink, patch_space, parallel };
        let layout = placer.place(program.clone(), order, headers, |layout| {
            if options.is_relocatable() {
                let places = places::find(resolved, (sections, symbols, live), &tables, layout, parallel);
                relocs = base_relocs::table(&places, parallel);
            }
            relocs.len() as u64
        });
        folds.iter().for_each(|&(folded, leader)| layout.stand_in(folded, leader));
        layout
    };
    let code = Code { resolved, sections: &mut sections, symbols: &mut symbols, live: &mut live };
    let reach = Reach { most: options.branch_reach, verbose: options.verbose.all, parallel };
    let (layout, branches) =
        job.step("give addresses", || branches::settle(code, order, &reach, job.sink, place));
    let base = options.base.or(resolved.program.base);
    let base = base.unwrap_or(facts(resolved.machine).bases[usize::from(options.dll)]);
    check_addresses(resolved, base, layout.image_size, job.sink);
    if let Some(most) = options.greatest_size.filter(|most| layout.image_size > *most) {
        let size = layout.image_size;
        job.sink.warn(format!("the image has {size:#x} bytes, and /base gives it {most:#x}"));
    }
    if resolved.machine == Machine::Arm64 && options.dynamic_base == Some(false) {
        job.sink.error("/dynamicbase:no is not compatible with arm64");
    }
    job.sink.end_phase()?;
    // DWARF sections have long names: who asks for DWARF and no PDB expects them.
    if options.warn_long_names && (options.debug.pdb || !options.debug.dwarf) {
        warn_of_long_names(&layout, job.sink);
    }
    let tls_align = emit::tls_align(&sections, &live);
    Ok(LaidOut { sections, symbols, live, tables, layout, branches, stub, relocs, base, tls_align })
}

/// Addresses in the image, and what headers say of memory, have as many bits as the machine's addresses.
fn check_addresses(resolved: &Resolved, base: u64, size: u64, sink: &DiagSink) {
    let (greatest, bits) = if resolved.machine.is_64() { (u64::MAX, 64) } else { (u32::MAX.into(), 32) };
    if base.checked_add(size).is_none_or(|end| end > greatest) {
        sink.error(format!("an image of {size:#x} bytes at {base:#x} does not fit into {bits} bits"));
    }
    for (what, sizes) in [("stack", resolved.demands.stack), ("heap", resolved.demands.heap)] {
        let Some((reserve, commit)) = sizes else { continue };
        if reserve.max(commit.unwrap_or(0)) > greatest {
            sink.error(format!("the size of the {what} does not fit into {bits} bits"));
        }
    }
}

fn warn_of_long_names(layout: &layout::Layout, sink: &DiagSink) {
    for out in layout.outs.iter().filter(|out| has_long_name(out)) {
        let name = text::text(&out.name);
        sink.warn(format!(
            "section name {name} is longer than 8 characters and will use a non-standard string table"
        ));
    }
}

/// Writes the image and, at the same time, its PDB.
fn write<'j>(
    job: &Job<'j>,
    image: &Image,
    (stub, relocs): (&[u8], &[u8]),
    types: Option<(&Objects, &Types)>,
    (out, threads): (&Path, usize),
) -> Result<(), Diagnostics> {
    let (options, parallel) = (job.options, threads > 1);
    let symbol_table = &SymbolTable::new(image, parallel);
    let emitter = Emitter { image, sink: job.sink, dos_program: stub, relocs, symbol_table, threads };
    let engine = OutputOptions { engine: options.engine, executable: true, threads, ..Default::default() };
    let file = job.create_output(out, emitter.file_size(), &engine, options.verbose.all)?;
    let warnings = DiagSink::new();
    let write_pdb = || types.map(|(_, types)| debug::write(job, image, types, (out, threads), &warnings));
    let (pdb, written) = par::both(parallel, write_pdb, || job.step("write image", || emitter.write(&file)));
    // What does not fit is found while writing; then the files are not kept.
    job.sink.end_phase()?;
    take_over(job, &warnings);
    let pdb = pdb.transpose()?;
    let time = emitter.finish(written?, pdb.as_ref().map(|pdb| pdb.identity))?;
    add_import_library(job, image, out)?;
    if let Some(path) = &options.mingw.output_def {
        let text = image.tables.exports.definitions();
        job.reports.add(path, text.into_bytes());
    }
    if manifest::kind(options, image.resolved) == Manifest::Beside {
        let text = manifest::text(options, image.resolved);
        job.reports.add(&files::manifest_file(options, out), text.into_bytes());
    }
    report_maps(job, image, out, (time, parallel))?;
    if options.summary {
        job.print(&summary::text(image, types, pdb.as_ref().map(|pdb| pdb.holds)))?;
    }
    let beside = pdb.map_or(Vec::new(), |pdb| pdb.files);
    job.finish_all(file, beside, true, parallel, || {
        job.report_trace(options.time, files::time_trace(options, out).as_deref())
    })
}

/// `/map` and `/lldmap`.
fn report_maps(
    job: &Job,
    image: &Image,
    out: &Path,
    (time, parallel): (u32, bool),
) -> Result<(), Diagnostics> {
    let options = job.options;
    if let Some(given) = &options.map {
        let name = out.file_stem().unwrap_or_default();
        let text = map::map(image, &text::text(name.as_encoded_bytes()), time, parallel);
        job.report(&files::map(given, out), &text)?;
    }
    if let Some(given) = &options.lld_map {
        if let Some(path) = files::both_maps(options, out) {
            let text = format!("/lldmap and /map have the same output file '{}'", text::path(&path));
            job.sink.push(Diagnostic::warning(text).note("ignoring /lldmap"));
            return Ok(());
        }
        job.report(&files::map(given, out), &map::lld_map(image, parallel))?;
    }
    Ok(())
}

fn add_import_library(job: &Job, image: &Image, out: &Path) -> Result<(), Diagnostics> {
    if !files::wants_import_library(job.options, !image.tables.exports.entries.is_empty()) {
        return Ok(());
    }
    let path = files::import_library(job.options, out);
    let name = image.resolved.program.name(out);
    let bytes = implib::bytes(&name, image.resolved.machine, &image.tables.exports.entries);
    let bytes = bytes.map_err(|e| Diagnostic::error(format!("{}: {e}", text::path(&path))))?;
    let is_there = || std::fs::read(&path).is_ok_and(|old| old == bytes);
    if !(job.options.keep_implib && is_there()) {
        job.reports.add(&path, bytes);
    }
    Ok(())
}

/// Where the image goes.
fn output_path(options: &Options, resolved: &Resolved, inputs: &Inputs) -> PathBuf {
    if let Some(path) = &options.out {
        return path.clone();
    }
    let extension = match (options.dll, options.driver) {
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
