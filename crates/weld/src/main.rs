//! The `weld` program: which linker to be, memory, signals and messages.
//!
//! The linkers are libraries that return what happened. Here it is printed, and here the process ends:
//! with `_exit`, because returning memory page by page to a system that takes it all back anyway
//! costs as much as a small link.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::host::Host;
use weld_common::io::reason;
use weld_common::text;

mod completions;
mod explain;
mod explore;
mod flavour;
mod help;
mod host;
mod install;
mod last_words;
#[cfg(test)]
mod layers;
mod lto_engine;
mod memory;
mod pages;
mod progress;
mod relink;
mod render;
#[cfg(target_os = "linux")]
mod run;
#[cfg(unix)]
mod signals;
#[cfg(windows)]
#[path = "windows.rs"]
mod signals;
#[cfg(unix)]
mod spawn;
#[cfg(target_os = "linux")]
mod stay;

use flavour::{Choice, Flavour};
use host::{NO_LINK, ProgramHost};
use render::Renderer;

fn main() {
    let args: Vec<OsString> = std::env::args_os().collect();
    let code = if is_lto_child(&args) { lto_child() } else { run(&args) };
    #[cfg(target_os = "linux")]
    stay::end(code);
    // A build that counts for profile-guided optimisation (bench/shipped-pgo) writes its counts when it ends.
    if cfg!(weld_counts) {
        std::process::exit(code)
    }
    // SAFETY: the function has no preconditions. Nothing is left to be written: messages go out
    // unbuffered, and files are complete when a link returns.
    unsafe { libc::_exit(code) }
}

/// weld starts itself as the process that compilers run in ([`weld_lto::engine_child`]).
fn is_lto_child(args: &[OsString]) -> bool {
    args.len() == 2 && args[1] == weld_common::host::LTO_CHILD
}

fn lto_child() -> i32 {
    #[cfg(target_os = "linux")]
    return weld_lto::engine_child::run();
    #[cfg(not(target_os = "linux"))]
    return 1;
}

/// The exit code: 0 or 1, and 2 if `weld explore` cannot tell.
fn run(args: &[OsString]) -> i32 {
    let program = program_name(args);
    signals::set_program_name(&program);
    install_panic_hook(1);
    #[cfg(target_os = "linux")]
    run::hand_on(args, &ProgramHost { program: &program, end: NO_LINK });
    let Choice { flavour, rest } = match flavour::choose(&program, args.get(1..).unwrap_or_default()) {
        Ok(choice) => choice,
        Err(error) => {
            return fail(&Renderer::new(program, args.get(1..).unwrap_or_default()), error.to_string());
        }
    };
    match flavour {
        Flavour::Elf if rest.is_empty() && !flavour::is_called_by_drivers(&program) => {
            let text = format!("no input files\n{}", introduction(&program));
            Renderer::new(program, &[]).print(&[Diagnostic::error(Cause::NoInputFiles, text.trim_end())]);
            1
        }
        Flavour::Elf => link_elf(&program, rest),
        Flavour::Coff | Flavour::Mingw => link_coff(&program, flavour, rest),
        Flavour::InstallLinks => answer(&program, install::links(rest)),
        Flavour::UninstallLinks => answer(&program, install::remove(rest)),
        Flavour::Help => answer(&program, help::run(rest)),
        Flavour::Explain => answer(&program, explain::run(rest)),
        Flavour::Explore => explore(program, rest),
        Flavour::Completions => answer(&program, completions::run(rest)),
        Flavour::Relink => answer(&program, relink::run(rest)),
        Flavour::LtoEngine => {
            let host = ProgramHost { program: &program, end: NO_LINK };
            answer(&program, lto_engine::run(rest, &host))
        }
        #[cfg(target_os = "linux")]
        Flavour::Run => match run::run(rest, &ProgramHost { program: &program, end: NO_LINK }) {
            Ok((code, text)) => {
                let said = answer(&program, Ok::<_, run::RunError>(text));
                if said == 0 { code } else { said }
            }
            Err(error) => fail(&Renderer::new(program, &[]), error.to_string()),
        },
        #[cfg(not(target_os = "linux"))]
        Flavour::Run => fail(&Renderer::new(program, &[]), "weld run is for Linux"),
    }
}

/// What a command of weld's own says, or why it fails.
fn answer(program: &str, text: Result<String, impl Display>) -> i32 {
    let failed = |message: String| fail(&Renderer::new(program.to_owned(), &[]), message);
    match text {
        Ok(text) => match (ProgramHost { program, end: NO_LINK }).print(&text::bytes(&text)) {
            Ok(()) => 0,
            Err(e) => failed(format!("cannot write to standard output: {}", reason(&e))),
        },
        Err(error) => failed(error.to_string()),
    }
}

/// What `weld` alone says, which somebody types who wants to know what it is.
fn introduction(program: &str) -> String {
    format!(
        "{program} is a linker: for ELF by the command lines of GNU ld, lld and mold, for Windows by those of link.exe and MinGW's ld.\n\
         Compilers call it:\n\
         \x20   {program} install-links DIR     makes links to it in DIR, by the names of linkers\n\
         \x20   gcc -BDIR …                  links with it; so does clang -BDIR …\n\
         \x20   {program} run make              has weld link whatever a build links\n\
         By hand: {program} [options] file…; {program} --help lists the options, {program} help shows pages on all of it.\n\
         For Windows: {program} -flavor link … or {program} -m i386pep …\n"
    )
}

fn link_elf(program: &str, args: &[OsString]) -> i32 {
    signals::install();
    progress::begin(args);
    let end = |messages: &[Diagnostic]| _ = end_link(program, args, messages, 0);
    let (list, code) = match weld_elf::link::link(args, &ProgramHost { program, end: &end }) {
        Ok(outcome) => (outcome.warnings, 0),
        Err(diagnostics) => (diagnostics.list, 1),
    };
    end_link(program, args, &list, code)
}

/// The last that a link has to say, and its exit code.
fn end_link(program: &str, args: &[OsString], list: &[Diagnostic], code: i32) -> i32 {
    #[cfg(target_os = "linux")]
    if stay::has_let_go() {
        return code;
    }
    progress::end();
    if !list.is_empty() {
        Renderer::new(program.to_owned(), args).print(list);
    }
    #[cfg(target_os = "linux")]
    if code == 0 {
        run::note_link(args);
    }
    code
}

fn link_coff(program: &str, flavour: Flavour, args: &[OsString]) -> i32 {
    signals::install();
    progress::begin(args);
    let environment = weld_coff::args::Environment::of_process();
    let end = |messages: &[Diagnostic]| _ = end_link(program, args, messages, 0);
    let host = ProgramHost { program, end: &end };
    let result = match flavour {
        Flavour::Mingw => weld_coff::link::link_gnu(args, program, &environment, &host),
        _ => weld_coff::link::link(args, &environment, &host),
    };
    let (list, code) = match result {
        Ok(outcome) => (outcome.warnings, 0),
        Err(diagnostics) => (diagnostics.list, 1),
    };
    end_link(program, args, &list, code)
}

fn fail(renderer: &Renderer, message: impl Into<String>) -> i32 {
    renderer.print(&[Diagnostic::error(Cause::CommandFailed, message)]);
    1
}

fn explore(program: String, args: &[OsString]) -> i32 {
    // 1 says that a file has grown.
    install_panic_hook(explore::FAILED);
    match explore::run(args, &ProgramHost { program: &program, end: NO_LINK }) {
        Ok(said) => {
            let notes = said.notes.into_iter().map(|note| Diagnostic::warning(Cause::DebugInfo, note));
            Renderer::new(program.clone(), &[]).print(&notes.collect::<Vec<_>>());
            let printed = answer(&program, Ok::<_, explore::ExploreError>(said.text));
            if printed == 0 { said.code } else { explore::FAILED }
        }
        Err(error) => {
            fail(&Renderer::new(program, &[]), error.to_string());
            explore::FAILED
        }
    }
}

/// The file name of `argv[0]`, which messages start with.
fn program_name(args: &[OsString]) -> String {
    let name = args.first().and_then(|arg| Path::new(arg).file_name()).unwrap_or(OsStr::new("weld"));
    let name = text::text(name.as_encoded_bytes());
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// A panic is a bug. It must not leave a temporary file behind, and its message should say what to do.
/// The process ends with `code`.
fn install_panic_hook(code: i32) {
    std::panic::set_hook(Box::new(move |info| {
        let text = format!("internal error: {info}\nThis is a bug in weld; please report it.\n");
        signals::die_of_panic(&text, code);
    }));
}
