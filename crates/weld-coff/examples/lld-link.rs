//! Links as `lld-link` does, or as MinGW's `ld` if it is called so: how a program calls the linker. What it
//! has to say goes to standard error.

use std::process::ExitCode;

use weld_common::host::QuietHost;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let host = QuietHost::new();
    let environment = weld_coff::args::Environment::of_process();
    let program = std::env::args().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let result = match name.ends_with("ld") || name.ends_with("ld.lld") {
        true => weld_coff::link::link_gnu(&args, name, &environment, &host),
        false => weld_coff::link::link(&args, &environment, &host),
    };
    print!("{}", host.printed());
    let (list, code) = match result {
        Ok(outcome) => (outcome.warnings, ExitCode::SUCCESS),
        Err(diagnostics) => (diagnostics.list, ExitCode::FAILURE),
    };
    list.iter().for_each(|diagnostic| eprintln!("lld-link: {diagnostic}"));
    code
}
