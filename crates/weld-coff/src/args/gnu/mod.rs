//! The command line of GNU `ld` for PE (`-m i386pep`), as MinGW's compilers pass it.
//!
//! [`table`] is all options: those of GNU `ld`'s PE targets and of `ld.lld`. They fill the same
//! [`Options`](crate::options::Options) as those of `lld-link` do; what GNU tools expect otherwise, such as
//! the rules for names and libraries, is [`Mingw`](crate::options::Mingw).

use std::ffi::{OsStr, OsString};

use weld_common::args::help;
use weld_common::args::response::{Expanded, Quoting};
use weld_common::diag::{Cause, DiagSink, Diagnostic, Diagnostics};

use super::{Command, Environment, invocation, replay};
use crate::options::Reproduction;

mod lto;
mod state;
pub mod table;
#[cfg(test)]
mod tests;

use state::{State, Stop};

/// Names of the targets, and the machines that they are for.
pub const EMULATIONS: [(&str, &str); 6] = [
    ("i386pep", "x64"),
    ("i386pe", "x86"),
    ("arm64pe", "arm64"),
    ("thumb2pe", "arm"),
    ("arm64ecpe", "arm64ec"),
    ("i386pep_bigobj", "x64"),
];

/// Whether a command line of `ld` is for PE: the last `-m` names such a target. Files of arguments are looked
/// into if there is none outside them.
pub fn is_meant(args: &[OsString]) -> bool {
    let in_file = || {
        args.iter().any(|arg| arg.as_encoded_bytes().starts_with(b"@"))
            && Expanded::read(args, Quoting::Gnu)
                .is_ok_and(|all| names_pe(all.args().into_iter()) == Some(true))
    };
    names_pe(args.iter().map(OsString::as_os_str)).unwrap_or_else(in_file)
}

/// Whether the last `-m` names a target of PE.
fn names_pe<'a>(mut args: impl Iterator<Item = &'a OsStr>) -> Option<bool> {
    let is_pe = |name: &[u8]| EMULATIONS.iter().any(|(known, _)| known.as_bytes() == name);
    let mut last = None;
    while let Some(arg) = args.next() {
        match arg.as_encoded_bytes() {
            b"-m" => last = Some(args.next().is_some_and(|name| is_pe(name.as_encoded_bytes()))),
            // `-mllvm` and `-map=x` are other options.
            [b'-', word @ ..] if word.starts_with(b"m") && !is_long(word) => last = Some(is_pe(&word[1..])),
            _ => {}
        }
    }
    last
}

fn is_long(word: &[u8]) -> bool {
    let name = word.split(|&byte| byte == b'=').next().unwrap_or(word);
    table::TABLE.row(name).is_some_and(|row| !row.names.contains(&"m"))
}

/// Parses a command line, without the program's name. `program` is that name: the target may be in front of
/// it, and what it is called decides what `--version` says.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(
    args: &[OsString],
    program: &str,
    environment: &Environment,
    sink: &DiagSink,
) -> Result<Command, Diagnostics> {
    let expanded = Expanded::read(args, Quoting::Gnu)?;
    let args = expanded.args();
    let mut state = State::new(program);
    weld_common::args::parse(&table::TABLE, &args, &mut state);
    state.o.invocation = invocation(&args, environment);
    match state.stop {
        Some(Stop::Help) => return Ok(Command::Print(help_text())),
        Some(Stop::Version) => return Ok(Command::Print(version_text(program))),
        None => {}
    }
    sink.set_fatal_warnings(state.fatal_warnings);
    if let Some(value) = &environment.source_date_epoch {
        state.time_of_environment(&value.to_string_lossy());
    }
    if let Some(path) = state.reproduce.clone() {
        let (response, version) = (replay::of_gnu(&args), version_text(program));
        state.o.reproduce = Some(Reproduction { path, response, version });
    }
    let greeting = state.asks_version.then(|| version_text(program));
    let (mut options, problems) = state.finish();
    problems.into_iter().for_each(|problem| sink.push(problem));
    sink.end_phase()?;
    if options.inputs.is_empty() {
        return match greeting {
            Some(text) => Ok(Command::Print(text)),
            None => Err(Diagnostic::error(Cause::NoInputFiles, "no input files").into()),
        };
    }
    options.greeting = greeting;
    Ok(Command::Link(options))
}

fn version_text(program: &str) -> String {
    let weld = env!("CARGO_PKG_VERSION");
    match program.contains("lld") {
        true => format!("LLD 22.1.0 (weld-{weld}, compatible with GNU linkers)\n"),
        false => format!("GNU ld (weld-{weld}) 2.40\n"),
    }
}

fn help_text() -> String {
    let groups: Vec<_> = table::TABLE.groups.iter().collect();
    let usage = "Usage: ld -m i386pep [options] file...\n\nLong options take one dash or two; values follow after = or as the next \
                 argument. @FILE stands for the arguments in FILE.\n";
    // libtool looks for this line.
    let targets = "\nweld: supported targets: pei-x86-64 pei-i386 pei-aarch64-little\n";
    usage.to_owned() + &help::text(&groups) + targets
}

/// The page `docs/options-mingw.md`.
pub fn options_page() -> String {
    let intro = "# Options of weld as MinGW's linker\n\
        <!-- Generated from the table in crates/weld-coff/src/args/gnu/table.rs. WELD_BLESS=1 cargo test -p weld-coff options_page writes it anew. -->\n\n\
        This page is generated from the table that parses the command line of `ld -m i386pep`, `i386pe` and `arm64pe`. Long options take one dash or\n\
        two, except that those which start with `o` take two only; a value follows after `=` or as the next argument. `@FILE` stands for the arguments in FILE.\n\n\
        An option that weld does not know is an error. One that it knows and does not carry out is accepted if\n\
        nothing is lost without it, as its row says, gives a warning if the program stays right but something\n\
        that was asked for is missing, and is an error otherwise.\n";
    let groups: Vec<_> = table::TABLE.groups.iter().collect();
    intro.to_owned() + &help::markdown(&groups)
}
