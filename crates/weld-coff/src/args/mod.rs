//! The command line of `lld-link` and `link.exe`.
//!
//! Options come from the command line, from the environment (`LINK` in front, `_LINK_` after) and from
//! response files, all quoted as Windows does it. [`table`] is all of them; [`directive_options`] are those
//! that objects may ask for, too.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use weld_common::args::response::{Expanded, Quoting, words};
use weld_common::args::{help, slash};
use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};
use weld_common::text;

use crate::options::{Invocation, Options, Reproduction};
use crate::toolchain::greatest;

mod base_file;
pub mod def;
mod directive_options;
pub mod gnu;
mod lto;
mod replay;
pub mod state;
pub mod table;
#[cfg(test)]
mod tests;
pub mod values;

use state::{State, Stop};

/// Variables of the environment that count. The library does not read them itself.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `LINK`: options in front of the command line.
    pub link: Option<OsString>,
    /// `_LINK_`: options after it.
    pub link_behind: Option<OsString>,
    /// `LIB`: directories with libraries, `;` between them.
    pub lib: Option<OsString>,
    /// `SOURCE_DATE_EPOCH`: the time in headers, unless an option says another.
    pub source_date_epoch: Option<OsString>,
    /// The linker's path and the working directory, which PDBs tell.
    pub program: PathBuf,
    pub directory: PathBuf,
}

impl Environment {
    /// What the process was started with.
    pub fn of_process() -> Environment {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            link: var("LINK"),
            link_behind: var("_LINK_"),
            lib: var("LIB"),
            source_date_epoch: var("SOURCE_DATE_EPOCH"),
            program: std::env::current_exe().unwrap_or_default(),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }
}

/// What a command line asks for.
pub enum Command {
    Link(Box<Options>),
    Print(String),
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(args: &[OsString], environment: &Environment, sink: &DiagSink) -> Result<Command, Diagnostics> {
    let of_variable = |value: &Option<OsString>| {
        value.as_ref().map(|v| words(v.as_encoded_bytes().to_vec(), Quoting::Windows))
    };
    let is_alone = args.iter().any(is_without_environment);
    let mut all = of_variable(&environment.link).filter(|_| !is_alone).unwrap_or_default();
    all.extend_from_slice(args);
    all.extend(of_variable(&environment.link_behind).filter(|_| !is_alone).unwrap_or_default());
    let expanded = Expanded::read(&all, quoting(&all))?;
    let args = expanded.args();
    let mut state = State::default();
    slash::parse(&table::TABLE, &args, is_file, &mut state);
    let own = state.o.lib_paths.len();
    state.o.lib_paths.extend(compiler_directories(&environment.program));
    let is_asked = !is_alone && !state.o.mingw.on && !state.o.toolchain.replaces_environment();
    if let Some(value) = environment.lib.as_ref().filter(|_| is_asked) {
        state.o.lib_paths.extend(directories(value));
    }
    if let Some(value) = &environment.source_date_epoch {
        state.time_of_environment(&text::text(value.as_encoded_bytes()));
    }
    if let Some(path) = state.repro_path() {
        let response = replay::of_link(&args, &state.o.lib_paths[own..]);
        state.o.reproduce = Some(Reproduction { path, response, version: version_text() });
    }
    state.o.invocation = invocation(&args, environment);
    match state.stop {
        Some(Stop::Help) => return Ok(Command::Print(help_text())),
        Some(Stop::Version) => return Ok(Command::Print(version_text())),
        None => {}
    }
    sink.set_fatal_warnings(state.warnings_are_errors);
    sink.set_fatal_codes(state.fatal_codes.iter().map(|code| format!("[LNK{code}]")).collect());
    check_libraries_options(&args, state.o.library, sink);
    let (options, problems) = state.finish();
    problems.into_iter().for_each(|problem| sink.push(problem));
    sink.end_phase()?;
    if args.is_empty() {
        return Err(Diagnostic::error(Cause::NoInputFiles, "no input files").into());
    }
    Ok(Command::Link(options))
}

/// `/lldignoreenv`
fn is_without_environment(arg: &OsString) -> bool {
    let text = arg.to_string_lossy().to_ascii_lowercase();
    text.strip_prefix(['/', '-']).is_some_and(|name| name.trim_start_matches('-') == "lldignoreenv")
}

/// Where the compiler that the linker is installed with has its run-time libraries.
fn compiler_directories(program: &Path) -> Vec<PathBuf> {
    /// The version of the linker that weld stands in for.
    const VERSION: &str = "22";
    let Some(lib) = program.parent().and_then(Path::parent).map(|root| root.join("lib")) else {
        return Vec::new();
    };
    let all = lib.join("clang");
    let own = all.join(greatest(&all).unwrap_or_else(|| VERSION.to_owned())).join("lib");
    vec![own.join("windows"), own, lib]
}

/// Making a library has few options besides its own, which mean nothing to a link.
fn check_libraries_options(args: &[&OsStr], library: bool, sink: &DiagSink) {
    const SHARED: &[&str] = &[
        "out",
        "def",
        // Without effect here as in lib.exe.
        "ltcg",
        "errorreport",
        "machine",
        "libpath",
        "nologo",
        "ignore",
        "verbose",
        "threads",
        "mmap-output-file",
        "no-mmap-output-file",
        "rsp-quoting",
        "lldignoreenv",
        "wx",
        "export",
        "errorlimit",
        "error-limit",
        "color-diagnostics",
        "no-color-diagnostics",
        "progress",
        "error-format",
    ];
    for arg in args {
        let text = arg.to_string_lossy();
        let Some(option) = text.strip_prefix(['/', '-']) else { continue };
        let name =
            option.trim_start_matches('-').split([':', '=']).next().unwrap_or(option).to_ascii_lowercase();
        let name = name.as_str();
        let own = table::LIBRARIES.iter().any(|row| row.names.contains(&name));
        let wrong = match library {
            true => !own && !SHARED.contains(&name) && table::TABLE.row(name.as_bytes()).is_some(),
            false => own,
        };
        if wrong && !is_file(arg) {
            sink.error(
                Cause::UnsupportedOption,
                match library {
                    true => format!("/{name} means nothing to a library (/lib)"),
                    false => format!("/{name} needs /lib"),
                },
            );
        }
    }
}

/// How the linker was called. What changes no output is left out, so that the PDB is the same without it.
fn invocation(args: &[&OsStr], environment: &Environment) -> Invocation {
    const WITHOUT_EFFECT: [&str; 20] = [
        "detach",
        "fork",
        "no-detach",
        "no-fork",
        "incremental",
        "ilk",
        "no-incremental",
        "incremental-dir",
        "threads",
        "mmap-output-file",
        "no-mmap-output-file",
        "time",
        "time-trace",
        "verbose",
        "color-diagnostics",
        "no-color-diagnostics",
        "errorlimit",
        "error-limit",
        "progress",
        "error-format",
    ];
    let is_kept = |arg: &&&OsStr| {
        let arg = arg.to_string_lossy().to_ascii_lowercase();
        let name = arg.trim_start_matches(['-', '/']);
        let name = name.split([':', '=']).next().unwrap_or(name);
        name.len() == arg.len() || !WITHOUT_EFFECT.contains(&name)
    };
    let arguments = args.iter().filter(is_kept).map(|arg| text::text(arg.as_encoded_bytes()).into_owned());
    Invocation {
        program: text::path(&environment.program).into_owned(),
        directory: text::path(&environment.directory).into_owned(),
        arguments: arguments.collect(),
    }
}

/// A word such as `/tmp/a.obj` is a path if the file is there.
fn is_file(word: &OsStr) -> bool {
    Path::new(word).exists()
}

/// The directories of `LIB`. A colon cannot stand between them: drives have one.
fn directories(value: &OsStr) -> impl Iterator<Item = PathBuf> + '_ {
    let parts = value.as_encoded_bytes().split(|&byte| byte == b';').filter(|part| !part.is_empty());
    parts.map(|part| PathBuf::from(weld_common::text::os_str(part)))
}

/// `--rsp-quoting` counts for all response files wherever it stands.
fn quoting(args: &[OsString]) -> Quoting {
    let posix = |arg: &&OsString| {
        let text = arg.to_string_lossy().to_ascii_lowercase();
        text.trim_start_matches(['-', '/']).strip_prefix("rsp-quoting=").is_some_and(|value| value == "posix")
    };
    if args.iter().any(|arg| posix(&arg)) { Quoting::Gnu } else { Quoting::Windows }
}

fn version_text() -> String {
    // Build systems look for this name and version.
    format!("LLD 22.1.0 (weld-{}, compatible with lld-link)\n", env!("CARGO_PKG_VERSION"))
}

fn help_text() -> String {
    let groups: Vec<_> = table::TABLE.groups.iter().collect();
    let usage = "Usage: lld-link [options] file...\n\nNames are not case-sensitive; `-` may stand for `/`. @FILE stands for the \
                 arguments in FILE.\n";
    usage.to_owned() + &help::text(&groups)
}

/// The page `docs/options-link.md`.
pub fn options_page() -> String {
    let intro = "# Options of weld as lld-link\n\
        <!-- Generated from the table in crates/weld-coff/src/args/table.rs. WELD_BLESS=1 cargo test -p weld-coff options_page writes it anew. -->\n\n\
        This page is generated from the table that parses the command line (`crates/weld-coff/src/args/table.rs`). Names are not\n\
        case-sensitive, `-` may stand for `/`, and a value follows a colon. `@FILE` stands for the arguments in FILE, quoted as\n\
        Windows does it; those in the variables LINK and _LINK_ go before and after the command line, and LIB names\n\
        directories with libraries.\n\n\
        An option that weld does not know is an error. One that it knows and does not carry out is accepted if\n\
        nothing is lost without it, as its row says, gives a warning if the program stays right but something\n\
        that was asked for is missing, and is an error otherwise.\n";
    let groups: Vec<_> = table::TABLE.groups.iter().collect();
    intro.to_owned() + &help::markdown(&groups)
}

/// The names of the options that do something.
pub fn option_names() -> Vec<help::Name> {
    help::names(&table::TABLE.groups.iter().collect::<Vec<_>>())
}
