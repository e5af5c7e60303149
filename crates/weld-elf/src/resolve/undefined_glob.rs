//! `--undefined-glob`: names that files define or offer are wanted if they match.

use weld_common::diag::{Cause, DiagSink};
use weld_common::glob::Glob;

use crate::options::Options;
use crate::symbol_names::{self, Names};

/// Makes what matches a root. A pattern that is none is an error.
pub fn add_roots(options: &Options, names: &mut Names, sink: &DiagSink) {
    if options.symbols.undefined_glob.is_empty() {
        return;
    }
    let mut globs = Vec::new();
    for pattern in &options.symbols.undefined_glob {
        match Glob::new(pattern.as_bytes()) {
            Ok(glob) => globs.push(glob),
            Err(e) => sink.error(Cause::BadOption, format!("--undefined-glob: {pattern}: {e}")),
        }
    }
    symbol_names::add_roots(names, |name| globs.iter().any(|g| g.matches(name)));
}
