//! The engine that is built for weld: a program over LLVM's own interface for linkers (`engine/`), which does
//! all that lld does.
//!
//! What it is told are words of its own (`engine/settings.h`), one for each thing that differs from what LLVM
//! does by itself, and resolutions as they are. It numbers what it makes by LLVM's tasks: first the pieces of
//! merged modules, then each module that is compiled on its own. So what a file becomes in the end, and how
//! it is called, is decided here.

use std::borrow::Cow;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use weld_common::io::output;
use weld_common::text::{os_str, path};

use super::names::{self, Modules};
use super::objects;
use super::session::Made;
use crate::answer::{Fault, Object, Source};
use crate::options::{Emit, Options, SaveTemps, Unified};
use crate::protocol::{Input, Job, PARTS};
use crate::request::{File, Machine, Output, Request, Resolution, Symbol};

/// The words for a request.
pub fn words(request: &Request<'_>) -> Vec<String> {
    let options = request.options;
    let level = options.level.unwrap_or(DEFAULT_LEVEL);
    let mut words = Words(Vec::new());
    words.value("level", Some(level));
    let by_level = if level > DEFAULT_LEVEL { level } else { DEFAULT_LEVEL };
    words.value("codegen-level", Some(options.codegen_level.unwrap_or(by_level)));
    words.value("model", model(request));
    words.flag("coff", matches!(request.machine, Machine::Coff { .. }));
    words.value("partitions", Some(options.partitions).filter(|&count| count != 1));
    words.value("jobs", options.jobs.as_ref());
    let unified = options.unified.map(|how| if how == Unified::Thin { "thin" } else { "full" });
    words.value("unified", unified);
    words.value("llvm", options.cpu.as_ref().map(|cpu| format!("-mcpu={cpu}")));
    options.llvm.iter().for_each(|word| words.value("llvm", Some(word)));
    words.flag("no-verify", options.disable_verify);
    files(request, &mut words);
    thin(options, &mut words);
    optimiser(options, &mut words);
    words.0
}

/// lld's level of optimisation if there is no option, and the least one that code is generated with then.
const DEFAULT_LEVEL: u8 = 2;

/// `IMAGE_FILE_MACHINE_I386`.
const I386: u16 = 0x14c;

/// How code refers to symbols, if the modules do not say it.
fn model(request: &Request<'_>) -> Option<&'static str> {
    match (request.machine, request.output) {
        (_, Output::Relocatable) => None,
        // As lld: 32-bit code for Windows has no position-independent form.
        (Machine::Coff { machine: I386 }, _) => Some("static"),
        (Machine::Elf { .. }, Output::Executable) => Some("static"),
        _ => Some("pic"),
    }
}

struct Words(Vec<String>);

impl Words {
    fn value(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        self.0.extend(value.map(|value| format!("{name}={value}")));
    }

    fn path(&mut self, name: &str, file: Option<&PathBuf>) {
        self.value(name, file.map(|file| path(file)));
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| name.to_owned()));
    }
}

/// What is written, and beside it.
fn files(request: &Request<'_>, words: &mut Words) {
    let options = request.options;
    words.flag("emit-asm", options.emit == Emit::Assembly);
    words.flag("emit-bitcode", options.emit == Emit::Bitcode);
    words.flag("always-object", options.object_path.is_some());
    // Objects do not depend on it, so it is not said where nothing is named after it.
    let names_files = options.save_temps != SaveTemps::None || options.time_trace.is_some();
    words.value("output", names_files.then(|| path(request.output_path)));
    // The objects are kept here.
    let kinds: Vec<&String> = match &options.save_temps {
        SaveTemps::Kinds(kinds) => kinds.iter().filter(|kind| *kind != PRELINK).collect(),
        SaveTemps::None | SaveTemps::All => Vec::new(),
    };
    words.flag("save-temps", options.save_temps == SaveTemps::All || !kinds.is_empty());
    kinds.into_iter().for_each(|kind| words.value("save-kind", Some(kind)));
    if let Some(cache) =
        options.cache.as_ref().filter(|_| makes_objects(options) && !options.has_response_files())
    {
        words.path("cache", Some(&cache.directory));
        words.value("cache-policy", cache.policy.as_ref());
        let is_linked_only = options.object_path.is_none() && options.save_temps == SaveTemps::None;
        words.flag("parts", is_linked_only && !options.ends_the_link());
    }
    let remarks = &options.remarks;
    words.path("remarks-file", remarks.file.as_ref());
    words.value("remarks-passes", remarks.passes.as_ref());
    words.value("remarks-format", remarks.format.as_ref());
    words.flag("remarks-hotness", remarks.with_hotness);
    words.value("remarks-hotness-threshold", remarks.hotness_threshold.as_ref());
    words.path("dwo-directory", options.dwo_directory.as_ref());
    words.path("statistics", options.statistics.as_ref());
    if let Some((file, granularity)) = &options.time_trace {
        words.path("time-trace", Some(file));
        words.value("time-trace-granularity", Some(granularity));
    }
}

fn thin(options: &Options, words: &mut Words) {
    let thin = &options.thin;
    if let Some(index) = &thin.index_only {
        words.flag("index-only", true);
        words.path("index-list", index.list.as_ref());
    }
    words.flag("emit-indexes", thin.emit_index_files);
    words.flag("emit-imports", thin.emit_imports_files);
    if let Some(replace) = &thin.prefix_replace {
        words.value("old-prefix", Some(&replace.old));
        words.value("new-prefix", Some(&replace.new));
        words.value("object-prefix", Some(&replace.object));
    }
    thin.single_modules.iter().for_each(|module| words.value("only-module", Some(module)));
}

fn optimiser(options: &Options, words: &mut Words) {
    let (profile, passes) = (&options.profile, &options.passes);
    words.path("sample-profile", profile.sample.as_ref());
    words.path("cs-profile", profile.context_sensitive.as_ref());
    words.flag("cs-generate", profile.generate);
    words.flag("ignore-mismatch", !profile.warn_mismatch);
    words.value("passes", passes.pipeline.as_ref());
    words.value("alias-analyses", passes.alias_analysis.as_ref());
    passes.plugins.iter().for_each(|plugin| words.path("pass-plugin", Some(plugin)));
    words.flag("debug-passes", passes.debug);
    let virtual_calls = &options.devirtualisation;
    words.flag("whole-program", virtual_calls.whole_program);
    words.flag("validate-vtables", virtual_calls.validate);
    words.flag("vtables-have-types", virtual_calls.all_have_type_infos);
    let blocks = &options.blocks;
    words.value("basic-blocks", blocks.sections.as_ref());
    words.flag("basic-block-names", blocks.unique_names);
    words.flag("basic-block-map", blocks.address_map);
}

/// Objects are made of all modules, and nothing but objects.
fn makes_objects(options: &Options) -> bool {
    options.emit == Emit::Objects && options.thin.index_only.is_none()
}

/// What a program is to compile.
pub fn job<'a>(request: &Request<'a>, words: &'a [String]) -> Job<'a> {
    let options = request.options;
    let used = request.files.iter().map(|file| {
        let symbols = file.symbols.iter().map(|symbol| (Cow::Borrowed(symbol.name), resolution(symbol).0));
        input(file, request, Some(symbols.collect()))
    });
    let unused = request.unused.iter().filter(|_| options.thin.index_only.is_some());
    Job {
        words: words.iter().map(|word| Cow::Borrowed(word.as_bytes())).collect(),
        files: used.chain(unused.map(|file| input(file, request, None))).collect(),
    }
}

/// The bits for LLVM: what is exported is seen by other modules, unless each may have its own, and what a
/// shared object defines is exported by that.
pub fn resolution(symbol: &Symbol<'_>) -> Resolution {
    let found = symbol.resolution;
    let is_seen = found.has(Resolution::PREVAILING | Resolution::EXPORTED) && !symbol.can_be_omitted;
    match (is_seen, found.has(Resolution::SHARED)) {
        (true, _) => found | Resolution::VISIBLE,
        (false, true) => found | Resolution::EXPORTED,
        (false, false) => found,
    }
}

fn input<'a>(file: &File<'a>, request: &Request<'_>, symbols: Option<Vec<(Cow<'a, [u8]>, u8)>>) -> Input<'a> {
    Input {
        name: Cow::Owned(renamed(file, request)),
        path: Cow::Borrowed(file.path),
        offset: file.offset,
        size: file.bytes.len() as u64,
        symbols,
    }
}

/// The module's name; in indexes that of what will be compiled for it (`--thinlto-object-suffix-replace`).
fn renamed(file: &File<'_>, request: &Request<'_>) -> Vec<u8> {
    let name = file.module_name(request.machine);
    let thin = &request.options.thin;
    let suffixes = thin.object_suffix_replace.as_ref().filter(|_| thin.index_only.is_some());
    match suffixes.and_then(|(old, new)| Some((name.strip_suffix(old.as_bytes())?, new))) {
        Some((stem, new)) if file.member.is_none() => [stem, new.as_bytes()].concat(),
        _ => name,
    }
}

/// A kind of temporary files: objects as they are linked.
const PRELINK: &str = "prelink";

/// Takes what tasks have made before its directory goes.
///
/// # Errors
/// If there is none, or if it cannot be read, or kept where it is to be.
pub fn collect(
    request: &Request<'_>,
    directory: &Path,
    mut made: Vec<(u32, Made)>,
) -> Result<Vec<Object>, Fault> {
    made.sort();
    let count = made.len();
    let on_their_own = made.iter().filter(|(task, _)| *task >= request.options.partitions).count();
    // To find out which they are takes reading all of them.
    let modules = if made.is_empty() { Modules::default() } else { Modules::of(request, on_their_own) };
    let mut parts = None;
    let mut files = Vec::with_capacity(count);
    let mut objects = Vec::with_capacity(count);
    for (task, made) in made {
        match made {
            Made::File(path) => files.push((task, path)),
            Made::Part { offset, size } => {
                let parts = match &parts {
                    Some(parts) => parts,
                    None => parts.insert(objects::Parts::open(&directory.join(PARTS))?),
                };
                let bytes = parts.take(offset, size, request.machine)?;
                let source = modules.of_task(request, task);
                objects.push(Object { source, name: name(request, task, source, count), bytes });
            }
        }
    }
    objects.extend(collect_files(request, files, &modules, count)?);
    objects.sort_by_key(|object| object.source);
    Ok(objects)
}

/// The same of what has a file of its own; of all, `count` have been made.
fn collect_files(
    request: &Request<'_>,
    made: Vec<(u32, PathBuf)>,
    modules: &Modules,
    count: usize,
) -> Result<Vec<Object>, Fault> {
    let options = request.options;
    if options.thin.index_only.is_some() {
        // Merged modules are compiled, too, if somebody wants the object.
        let merged =
            made.iter().filter(|(task, _)| *task < options.partitions && options.object_path.is_some());
        for (task, path) in merged {
            keep(path, &name(request, *task, Source::Merged(*task), count))?;
        }
        return Ok(Vec::new());
    }
    if count == 0 && options.thin.single_modules.is_empty() {
        return Err(Fault::NoObjects);
    }
    let keeps = match &options.save_temps {
        SaveTemps::None => false,
        SaveTemps::All => true,
        SaveTemps::Kinds(kinds) => kinds.iter().any(|kind| kind == PRELINK),
    };
    let mut objects = Vec::with_capacity(made.len());
    for (task, path) in &made {
        let source = modules.of_task(request, *task);
        let name = name(request, *task, source, count);
        if options.ends_the_link() {
            if options.emit != Emit::Objects || options.object_path.is_some() || keeps {
                keep(path, &name)?;
            }
            continue;
        }
        let bytes = objects::take(path, request.machine)?;
        if keeps && options.object_path.is_some() {
            let place = names::name(request, source, count);
            let place = Path::new(os_str(&place));
            copy_file(path, place).map_err(|error| Fault::File { path: place.to_owned(), error })?;
        }
        match keeps || options.object_path.is_some() {
            true => keep(path, &name)?,
            false => std::fs::remove_file(path).map_err(|error| Fault::File { path: path.clone(), error })?,
        }
        objects.push(Object { source, name, bytes });
    }
    Ok(objects)
}

/// How what a task has made of `source` is called, or where it stays, as lld has it.
fn name(request: &Request<'_>, task: u32, source: Source, count: usize) -> Vec<u8> {
    match request.options.object_path.as_ref() {
        Some(path) => {
            let number = if task == 0 { String::new() } else { task.to_string() };
            [path.as_os_str().as_encoded_bytes(), number.as_bytes()].concat()
        }
        None => names::name(request, source, count),
    }
}

fn keep(path: &Path, name: &[u8]) -> Result<(), Fault> {
    let place = Path::new(os_str(name));
    move_file(path, place).map_err(|error| Fault::File { path: place.to_owned(), error })
}

/// Across file systems, too. What has another name, in the cache say, is copied: who changes what was kept would
/// change that, and it has the rights of that. What a device is given is copied to it, and the device stays.
pub fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::metadata(from)?.nlink() > 1 || !is_replaced(to) {
        return copy_file(from, to);
    }
    match std::fs::rename(from, to) {
        Err(e) if e.kind() == io::ErrorKind::CrossesDevices => copy_file(from, to),
        done => done,
    }
}

/// To a file of its own: what was there may have other names.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if is_replaced(to)
        && let Err(e) = std::fs::remove_file(to)
        && e.kind() != io::ErrorKind::NotFound
    {
        return Err(e);
    }
    std::fs::write(to, std::fs::read(from)?)
}

/// Whether a file may take the place of what is there. What is wrong with it is seen when it is written.
fn is_replaced(path: &Path) -> bool {
    output::is_replaced(path).unwrap_or(true)
}
