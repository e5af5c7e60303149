//! `--error-handling-script`: a program that is told of the libraries and symbols that a link missed, so that
//! it can say what to do.
//!
//! It is run by the host once for each such error that is shown, before the messages are, with `missing-lib`
//! or `undefined-symbol` and the name.

use std::ffi::OsStr;
use std::path::Path;

use weld_common::diag::{Diagnostic, Diagnostics, Missing, Severity};
use weld_common::host::Host;
use weld_common::io::reason;
use weld_common::text;

use crate::options::Options;
use crate::wording::detailed;

/// Tells the program, if there is one. That it cannot be run, or fails, is one more error.
pub fn tell(options: &Options, host: &dyn Host, mut diagnostics: Diagnostics) -> Diagnostics {
    let Some(script) = &options.reports.error_script else { return diagnostics };
    let errors = diagnostics.list.iter().filter(|d| d.severity == Severity::Error);
    let missing: Vec<Missing> =
        errors.take(detailed(options)).filter_map(|error| error.missing.clone()).collect();
    for what in missing {
        if let Some(wrong) = run(host, script, &what) {
            diagnostics.list.push(wrong);
            break;
        }
    }
    diagnostics
}

/// Runs the program. What is wrong with it, if that fails.
fn run(host: &dyn Host, script: &Path, what: &Missing) -> Option<Diagnostic> {
    let (kind, name) = match what {
        Missing::Library(name) => ("missing-lib", OsStr::new(name)),
        Missing::Symbol(name) => ("undefined-symbol", text::os_str(name)),
    };
    let why = match host.run(script, &[OsStr::new(kind), name]) {
        Ok(true) => return None,
        Ok(false) => "failed".to_owned(),
        Err(e) => format!("cannot be run: {}", reason(&e)),
    };
    Some(Diagnostic::error(format!("--error-handling-script: {} {why}", text::path(script))))
}
