//! Runs the end-to-end tests against an external linker: `cargo run -p weld-tests -- --linker=mold`.
//! That is how the tests themselves are checked: what lld, mold and GNU ld agree on, weld must do.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests"));
    weld_tests::main(&weld_tests::Hooks { link: None, program: None, tests })
}
