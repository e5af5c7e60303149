//! Links as `lld-link` does: how a program calls the linker. What it has to say goes to standard error.

use std::process::ExitCode;

use weld_common::host::QuietHost;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let host = QuietHost::new();
    let result = weld_coff::link::link(&args, &weld_coff::args::Environment::of_process(), &host);
    print!("{}", host.printed());
    let (list, code) = match result {
        Ok(outcome) => (outcome.warnings, ExitCode::SUCCESS),
        Err(diagnostics) => (diagnostics.list, ExitCode::FAILURE),
    };
    list.iter().for_each(|diagnostic| eprintln!("lld-link: {diagnostic}"));
    code
}
