//! The command line of the ELF linker.
//!
//! [`table`] lists every option with what it does; [`parse`] walks the arguments in order and then
//! settles what depends on more than one of them ([`State::finish`]). The result is [`Options`], plain
//! data that later phases only read.
//!
//! Names and meanings are those of `ld.lld`, plus those of GNU `ld` and mold that compilers and build
//! systems pass. Three rules decide about an option that weld does not carry out: it is accepted
//! if nothing is lost without it, which its row says, warned about if the program stays right but
//! something asked for is missing, and refused otherwise. `docs/options.md` is rendered from the
//! same table and says which is which.

use std::ffi::OsString;

use weld_common::args::Group;
use weld_common::args::help;
use weld_common::args::response::{Expanded, Quoting};
use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::text;

use crate::arch;
use crate::arch::facts::Facts;
use crate::compat_mode::CompatMode;
use crate::options::Options;

mod emulation;
pub mod replay;
mod state;
mod table;
pub mod usual_dirs;
pub mod values;

use state::{State, Stop};

/// What a command line asks for.
#[derive(Debug)]
pub enum Command {
    Link(Box<Options>),
    /// Print the default layout as a script: `--print-default-script` or `--verbose` without inputs.
    PrintLayout(Box<Options>),
    /// Print this text to standard output and succeed: `--help`, `--version`, `-v` without inputs.
    Print(String),
}

/// Parses a command line, which does not include the program's name; `compat_mode` is who they are meant for. Warnings
/// go to `sink`, which also learns of `--fatal-warnings` and `--no-warnings`. Errors come back sorted by
/// position.
pub fn parse(expanded: &Expanded, compat_mode: CompatMode, sink: &DiagSink) -> Result<Command, Diagnostics> {
    let args = expanded.args();
    let mut state = State::new(args.len(), compat_mode);
    weld_common::args::parse(&table::TABLE, &args, &mut state);
    let (options, stop, problems) = state.finish();
    sink.set_no_warnings(options.reports.no_warnings);
    sink.set_fatal_warnings(options.reports.fatal_warnings && !options.reports.no_warnings);
    sink.set_tolerant(options.reports.noinhibit_exec);
    if stop == Some(Stop::Help) {
        return Ok(Command::Print(help_text()));
    }
    for problem in problems {
        sink.push(problem);
    }
    sink.end_phase()?;
    Ok(match stop {
        None => Command::Link(options),
        Some(Stop::Layout) => Command::PrintLayout(options),
        Some(Stop::Help) => Command::Print(help_text()),
        Some(Stop::Version) => Command::Print(compat_mode.version_text()),
        Some(Stop::Emulations) => Command::Print(compat_mode.emulations_text()),
        Some(Stop::Machines) => Command::Print(emulation::list()),
        Some(Stop::Targets) => Command::Print(compat_mode.version_text() + &targets()),
        Some(Stop::OutputFormat) => Command::Print(format!(
            "{}\n",
            options.inputs.machine.unwrap_or(arch::default()).facts().object_format
        )),
        Some(Stop::Sysroot) => Command::Print(format!("{}\n", text::path(&options.inputs.sysroot))),
    })
}

/// `args` with their response files read.
///
/// # Errors
/// If one of them cannot be read.
pub fn expanded(args: &[OsString]) -> Result<Expanded<'_>, Diagnostic> {
    Expanded::read(args, quoting(args)?)
}

/// libtool looks for `: supported targets:.* elf` in `--help` before it believes that a linker can
/// make shared objects.
fn targets() -> String {
    let (formats, emulations) = (arch::names(|f| f.object_format), arch::names(Facts::emulation));
    format!("weld: supported targets: {formats}\nweld: supported emulations: {emulations}\n")
}

fn help_text() -> String {
    let intro = "Usage: weld [options] file...\n\n\
        Long options take one dash or two, unless they start with o or l; values follow after = or as the\n\
        next argument. @FILE stands for the arguments in FILE.\n";
    let mut text = intro.to_owned();
    text.push_str(&help::text(&groups()));
    // GNU ld lists keywords by emulations, and there scripts look for them.
    if let Some(at) =
        table::KEYWORDS.groups.first().and_then(|group| text.find(&format!("\n{}:", group.title)))
    {
        text.insert_str(
            at,
            &format!("\n{}: (and for -m with all others)\n", arch::default().facts().emulation()),
        );
    }
    text.push('\n');
    text.push_str(&targets());
    text
}

/// Whether `-m` may have this value.
pub fn is_emulation(name: &str) -> bool {
    emulation::target(name).is_ok()
}

/// The text of `docs/options.md`.
pub fn options_page() -> String {
    let intro = "# Options of weld's ELF linker\n\n\
        <!-- Rendered from the option table in crates/weld-elf/src/args/table; do not edit.\n     \
        WELD_BLESS=1 cargo test -p weld-elf options_page writes it anew. -->\n\n\
        Names and meanings are those of `ld.lld`, plus those of GNU `ld` and mold that compilers and build\n\
        systems pass. Defaults are those of `ld.lld`. Long options take one dash or two, except that those\n\
        which start with `o` or `l` take two only (`-omagic` is `-o magic`; `--library` and `--library-path`\n\
        may have one). A value follows after `=` or as the next argument; where it is shown as `[=VALUE]` it\n\
        may be left out and must follow `=`. `@FILE` stands for the arguments in FILE.\n\n\
        An option that weld does not know is an error. One that it knows and does not carry out is accepted if\n\
        nothing is lost without it, as its row says, gives a warning if the program stays right but something\n\
        that was asked for is missing, and is an error otherwise.\n";
    intro.to_owned() + &help::markdown(&groups())
}

/// The names of the options that do something.
pub fn option_names() -> Vec<help::Name> {
    help::names(&groups())
}

fn groups() -> Vec<&'static Group<State>> {
    table::TABLE.groups.iter().chain(table::KEYWORDS.groups).collect()
}

/// `--rsp-quoting` counts for all response files wherever it stands, so it is looked for first.
fn quoting(args: &[OsString]) -> Result<Quoting, Diagnostic> {
    if !args.iter().any(|arg| arg.as_encoded_bytes().first() == Some(&b'@')) {
        return Ok(Quoting::Gnu);
    }
    let mut quoting = Quoting::Gnu;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = match arg.as_encoded_bytes() {
            b"--rsp-quoting" | b"-rsp-quoting" => args.next().map(|v| v.as_encoded_bytes()),
            arg => arg.strip_prefix(b"--rsp-quoting=").or(arg.strip_prefix(b"-rsp-quoting=")),
        };
        match value {
            Some(b"posix") => quoting = Quoting::Gnu,
            Some(b"windows") => quoting = Quoting::Windows,
            // A wrong or missing value is reported when the option itself is parsed.
            _ => {}
        }
    }
    Ok(quoting)
}

#[cfg(test)]
mod peers;
#[cfg(test)]
mod tests;
