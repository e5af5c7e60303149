//! GCC's `lto-wrapper` as the engine for GCC's intermediate code.
//!
//! GCC's plugin for linkers does little: it writes the resolutions of symbols to a file, runs `lto-wrapper`
//! with it and with the files, and hands on the objects whose paths that prints. weld does the same, so any
//! GCC will do of which the version is right. Called by `gcc`, weld is told by `-plugin-opt=` which wrapper,
//! and the environment says which compiler (`COLLECT_GCC`) was called with what (`COLLECT_GCC_OPTIONS`).
//! Called otherwise, the compiler is looked for by the machine of the objects and the version that they have;
//! options then are those that the files were compiled with.
//!
//! A file of resolutions: the number of files; for each its name (of a member: the archive's, `@0x` and the
//! offset) and the number of its symbols; for each of these its number in the file, the identification of the
//! section it is from, the resolution and the name.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use weld_common::host::Host;
use weld_common::text::{bytes, text};

use super::find_gcc::{self, Gcc};
use super::gcc_numbers::numbers;
use super::resolution::for_gcc;
use super::session::{self, Session};
use super::{error, modules, objects};
use crate::answer::{Answer, EngineError, Fault, Level, Message, Object, Source};
use crate::options::{Emit, Options, SaveTemps};
use crate::protocol::{Order, Work, Wrapper};
use crate::request::{Output, Request, Resolution};

/// Compiles GCC's files. `is_alone`: there are no others, so options for LLVM have nobody who heeds them.
///
/// # Errors
/// As [`super::compile`].
pub fn compile(request: &Request<'_>, host: &dyn Host, is_alone: bool) -> Result<Answer, Box<EngineError>> {
    if let Some(option) = impossible(request.options, is_alone) {
        let help = "GCC has no such option; clang and LLVM can do it";
        return Err(error(request, Fault::Option { option: option.to_owned(), help }));
    }
    let Some(child) = host.lto_child() else {
        return Err(error(request, Fault::Unsupported("this program cannot start compilers")));
    };
    let gcc = find_gcc::find(request, host, Path::new("/")).map_err(|fault| error(request, fault))?;
    let failed = |fault, messages| {
        let engine = Some(gcc.wrapper.clone());
        Box::new(EngineError { engine, modules: modules(request), fault, messages })
    };
    let resolutions = resolutions(request).map_err(|fault| failed(fault, Vec::new()))?;
    let directory = session::directory(host);
    let mut session =
        Session::start(&child, &directory).map_err(|e| failed(Fault::CannotStart(e), Vec::new()))?;
    let order = Order {
        directory: Cow::Borrowed(directory.as_os_str().as_encoded_bytes()),
        work: Work::Wrapper(wrapper(request, host, &gcc, &resolutions)),
    };
    let fault = session.work(&order, request.patience, &|_| None).fault(request.patience);
    let result = match fault {
        Some(fault) => Err(fault),
        None => collect(request, &session),
    };
    session.end(result.is_ok());
    let mut messages = std::mem::take(&mut session.talk.messages);
    match result {
        Err(fault) => Err(failed(fault, messages)),
        Ok(objects) => {
            messages.extend(redefined(request));
            let engine = format!("{}: {}", gcc.wrapper.display(), gcc.why);
            Ok(Answer { objects, messages, engines: vec![engine], basis: None })
        }
    }
}

/// An option that is set and that GCC cannot do.
fn impossible(options: &Options, is_alone: bool) -> Option<&'static str> {
    let set = |is_set: bool, name: &'static str| is_set.then_some(name);
    let thin = &options.thin;
    let of_all = set(options.emit != Emit::Objects, "--lto-emit-asm or --lto-emit-llvm")
        .or(set(options.object_path.is_some(), "--lto-obj-path"))
        .or(set(thin.index_only.is_some(), "--thinlto-index-only"));
    if !is_alone {
        return of_all;
    }
    of_all
        .or(set(!options.llvm.is_empty(), "-mllvm"))
        .or(set(options.codegen_level.is_some(), "--lto-CGO"))
        .or(set(options.partitions != 1, "--lto-partitions"))
        .or(set(options.unified.is_some(), "--lto"))
        .or(set(options.cache.is_some(), "--thinlto-cache-dir"))
        .or(set(options.distribution.is_some(), "--thinlto-distributor"))
        .or(set(!thin.single_modules.is_empty(), "--thinlto-single-module"))
        .or(set(thin.emit_index_files, "--thinlto-emit-index-files"))
        .or(set(options.remarks != Default::default(), "--opt-remarks-filename"))
        .or(set(options.profile.sample.is_some(), "--lto-sample-profile"))
        .or(set(options.profile.context_sensitive.is_some(), "--lto-cs-profile-file"))
        .or(set(options.profile.generate, "--lto-cs-profile-generate"))
        .or(set(options.passes != Default::default(), "--lto-newpm-passes"))
        .or(set(options.devirtualisation != Default::default(), "--lto-whole-program-visibility"))
        .or(set(options.blocks != Default::default(), "--lto-basic-block-sections"))
        .or(set(options.dwo_directory.is_some(), "-plugin-opt=dwo_dir="))
        .or(set(options.statistics.is_some(), "-plugin-opt=stats-file="))
        .or(set(matches!(options.save_temps, SaveTemps::Kinds(_)), "--save-temps= with a selection"))
}

/// What the file of resolutions has in it.
fn resolutions(request: &Request<'_>) -> Result<Vec<u8>, Fault> {
    let mut out = format!("{}\n", request.files.len()).into_bytes();
    for file in &request.files {
        out.extend_from_slice(&file_name(file));
        out.extend_from_slice(format!(" {}\n", file.symbols.len()).as_bytes());
        let numbers = numbers(file.bytes).filter(|numbers| numbers.len() == file.symbols.len());
        let Some(numbers) = numbers else {
            let why = "its symbols are not those that weld has found".to_owned();
            return Err(Fault::BadObject {
                path: weld_common::text::os_str(file.path).into(),
                why,
                cache: None,
            });
        };
        for (symbol, (number, id)) in file.symbols.iter().zip(numbers) {
            let word = for_gcc(symbol).name();
            out.extend_from_slice(format!("{number} {} {word} ", text(id)).as_bytes());
            out.extend_from_slice(symbol.name);
            out.push(b'\n');
        }
    }
    Ok(out)
}

/// A file as GCC is told of it.
fn file_name(file: &crate::request::File<'_>) -> Vec<u8> {
    let mut name = file.path.to_vec();
    if file.offset != 0 {
        name.extend_from_slice(format!("@{:#x}", file.offset).as_bytes());
    }
    name
}

fn wrapper<'a>(
    request: &'a Request<'_>,
    host: &dyn Host,
    gcc: &'a Gcc,
    resolutions: &'a [u8],
) -> Wrapper<'a> {
    let kind = match request.output {
        Output::Executable => "exec",
        Output::Pie => "pie",
        Output::Shared => "dyn",
        // What is joined then is machine code, as it is for bitcode.
        Output::Relocatable => "nolto-rel",
    };
    let mut args = Vec::new();
    if knows_outputs(&gcc.wrapper) {
        args.push(Cow::Owned(format!("-flinker-output={kind}").into_bytes()));
    }
    args.extend(request.files.iter().map(|file| Cow::Owned(file_name(file))));
    let mut variables = Vec::new();
    if host.variable("COLLECT_GCC").is_none() || !gcc.is_called_by_it {
        variables.push(Cow::Owned([b"COLLECT_GCC=", gcc.driver.as_os_str().as_encoded_bytes()].concat()));
        let options = format!("COLLECT_GCC_OPTIONS={}", driver_options(request));
        variables.push(Cow::Owned(bytes(&options).into_owned()));
    }
    let path =
        request.options.engine.plugin_options.iter().find_map(|word| word.strip_prefix("-fresolution="));
    Wrapper {
        program: Cow::Borrowed(gcc.wrapper.as_os_str().as_encoded_bytes()),
        args,
        variables,
        resolutions: Cow::Borrowed(resolutions),
        resolutions_path: path.map(bytes),
    }
}

/// Whether the compiler, which lies in a directory of its version, knows the option that says what is linked: since GCC 6.
fn knows_outputs(wrapper: &Path) -> bool {
    let version = wrapper.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_none_or(|major| major >= 6)
}

/// What the driver would have been called with: words in quotes.
fn driver_options(request: &Request<'_>) -> String {
    let options = request.options;
    let mut words = match &options.jobs {
        Some(jobs) if jobs != "all" => format!("'-flto={jobs}'"),
        _ => "'-flto=auto'".to_owned(),
    };
    if let Some(level) = options.level {
        let _ = write!(words, " '-O{level}'");
    }
    if options.save_temps != SaveTemps::None {
        // A quote in it ends the word and is put in front of the next.
        let output = weld_common::text::path(request.output_path).replace('\'', "'\\''");
        let _ = write!(words, " '-save-temps' '-dumpdir' '{output}.'");
    }
    words
}

/// Takes the objects before their directory goes.
fn collect(request: &Request<'_>, session: &Session) -> Result<Vec<Object>, Fault> {
    let paths = &session.talk.objects;
    if paths.is_empty() {
        return Err(Fault::NoObjects);
    }
    let mut made = Vec::with_capacity(paths.len());
    for (task, path) in (0..).zip(paths) {
        let failed = |error| Fault::File { path: path.clone(), error };
        let bytes = objects::take(path, request.machine)?;
        let is_temporary = path.starts_with(session.directory());
        if is_temporary {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let output = request.output_path.as_os_str().as_encoded_bytes();
        let name = match is_temporary {
            true => [output, format!(".ltrans{task}.o").as_bytes()].concat(),
            false => path.as_os_str().as_encoded_bytes().to_vec(),
        };
        made.push(Object { source: Source::Merged(task), name, bytes });
    }
    Ok(made)
}

/// GCC cannot be told to leave calls of a function alone that it sees.
fn redefined(request: &Request<'_>) -> Option<Message> {
    let mut symbols = request.files.iter().flat_map(|file| &file.symbols);
    let both = Resolution::PREVAILING | Resolution::REDEFINED;
    let symbol = symbols.find(|symbol| symbol.resolution.has(both))?;
    let text = format!(
        "{}: GCC sees its definition, and may have put it in place of calls that the link redirects",
        text(symbol.name)
    );
    Some(Message { level: Level::Warning, text })
}
