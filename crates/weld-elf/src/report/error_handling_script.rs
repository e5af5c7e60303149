//! `--error-handling-script`: a program that is told of the libraries and symbols that a link missed, so that
//! it can say what to do.
//!
//! It is run by the host once for each such error that is shown, before the messages are, with `missing-lib`
//! or `undefined-symbol` and the name.

use std::ffi::OsStr;
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic, Diagnostics, Severity};
use weld_common::host::Host;
use weld_common::io::reason;
use weld_common::text;

use crate::options::Options;
use crate::wording::detailed;

/// Tells the program, if there is one. That it cannot be run, or fails, is one more error.
pub fn tell(options: &Options, host: &dyn Host, mut diagnostics: Diagnostics) -> Diagnostics {
    let Some(script) = &options.reports.error_script else { return diagnostics };
    let errors = diagnostics.list.iter().filter(|d| d.severity == Severity::Error);
    let wrong = errors.take(detailed(options)).filter_map(missing).find_map(|what| run(host, script, what));
    diagnostics.list.extend(wrong);
    diagnostics
}

/// What the program is told of an error, if it is one of those that it can help with.
fn missing(error: &Diagnostic) -> Option<(&'static str, &OsStr)> {
    let facts = error.facts.as_ref()?;
    match error.cause {
        Cause::LibraryNotFound => Some(("missing-lib", OsStr::new(facts.library.as_ref()?))),
        Cause::UndefinedSymbol | Cause::UndefinedVtable | Cause::DiscardedSymbol => {
            Some(("undefined-symbol", text::os_str(facts.symbol.as_ref()?)))
        }
        _ => None,
    }
}

/// Runs the program. What is wrong with it, if that fails.
fn run(host: &dyn Host, script: &Path, (kind, name): (&str, &OsStr)) -> Option<Diagnostic> {
    let why = match host.run(script, &[OsStr::new(kind), name]) {
        Ok(true) => return None,
        Ok(false) => "failed".to_owned(),
        Err(e) => format!("cannot be run: {}", reason(&e)),
    };
    Some(Diagnostic::error(
        Cause::ErrorHandlingScript,
        format!("--error-handling-script: {} {why}", text::path(script)),
    ))
}
