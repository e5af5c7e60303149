//! The end-to-end tests of `tests/elf` and `tests/coff` (see `tests/README.md`), with weld linked into this
//! program and the `weld` binary at hand for tests that go through compiler drivers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use weld_common::diag::Diagnostic;
use weld_common::host::{Host, QuietHost};
use weld_tests::{Flavour, Hooks, LinkResult};

fn main() -> ExitCode {
    weld_tests::main(&Hooks {
        link: Some(link),
        program: Some(PathBuf::from(env!("CARGO_BIN_EXE_weld"))),
        tests: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests")),
    })
}

/// Keeps what is printed, and has weld itself drive compilers.
#[derive(Default)]
struct TestHost {
    quiet: QuietHost,
}

impl Host for TestHost {
    fn print(&self, text: &[u8]) -> std::io::Result<()> {
        self.quiet.print(text)
    }

    fn lto_child(&self) -> Option<PathBuf> {
        Some(PathBuf::from(env!("CARGO_BIN_EXE_weld")))
    }

    /// What compilers of bitcode somebody has built is no matter of tests, unless they are asked for.
    fn variable(&self, name: &str) -> Option<OsString> {
        match name {
            "XDG_CACHE_HOME" => std::env::var_os("WELD_TEST_ENGINES").or(Some("/none".into())),
            _ => std::env::var_os(name),
        }
    }
}

fn link(flavour: Flavour, args: &[OsString]) -> LinkResult {
    let host = TestHost::default();
    let result = match flavour {
        Flavour::Elf => weld_elf::link::link(args, &host).map(|outcome| outcome.warnings),
        Flavour::Coff => {
            let directory = std::env::current_dir().unwrap_or_default();
            let environment = weld_coff::args::Environment { directory, ..Default::default() };
            weld_coff::link::link(args, &environment, &host).map(|outcome| outcome.warnings)
        }
    };
    let stderr = match &result {
        Ok(warnings) => warnings.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n"),
        Err(diagnostics) => diagnostics.to_string(),
    };
    LinkResult { ok: result.is_ok(), stdout: host.quiet.printed(), stderr }
}
