//! The end-to-end tests of `tests/elf` (see `tests/README.md`), with weld linked into this
//! program and the `weld` binary at hand for tests that go through compiler drivers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use weld_common::diag::Diagnostic;
use weld_common::host::QuietHost;
use weld_tests::{Hooks, LinkResult};

fn main() -> ExitCode {
    weld_tests::main(&Hooks {
        link: Some(link),
        program: Some(PathBuf::from(env!("CARGO_BIN_EXE_weld"))),
        tests: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/elf")),
    })
}

fn link(args: &[OsString]) -> LinkResult {
    let host = QuietHost::new();
    let result = weld_elf::link::link(args, &host);
    let stderr = match &result {
        Ok(outcome) => outcome.warnings.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n"),
        Err(diagnostics) => diagnostics.to_string(),
    };
    LinkResult { ok: result.is_ok(), stdout: host.printed(), stderr }
}
