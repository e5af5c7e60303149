//! How messages name symbols, places in inputs, and sections that are gone. For all phases: what is wrong is
//! said where it is found.

pub mod discarded;
pub mod place;

use std::borrow::Cow;

use weld_common::{demangle, text};

use crate::options::Options;

/// A symbol's name for people: demangled unless `--no-demangle`.
pub fn shown<'n>(options: &Options, name: &'n [u8]) -> Cow<'n, str> {
    if options.reports.demangle { demangle::demangle(name) } else { text::text(name) }
}

/// How many errors get all their details: as many as are shown.
pub fn detailed(options: &Options) -> usize {
    if options.reports.error_limit == 0 { usize::MAX } else { options.reports.error_limit }
}
