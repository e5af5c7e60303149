//! The symbol records of a section, and where each of them goes. What counts their bytes and what copies them
//! walk alike.

use crate::codeview::Fault;
use crate::codeview::records::{self, HEADER, Record};
use crate::codeview::subsection::Subsection;
use crate::codeview::symbol::{self, Scope, Streams, Traits};

pub struct Found<'a> {
    pub record: Record<'a>,
    /// Where it is in the section.
    pub at: usize,
    pub traits: Traits,
    /// It is copied into the module's stream.
    pub to_module: bool,
    /// It, or a reference to it, goes to the global symbols.
    pub to_globals: bool,
}

/// Calls `f` with each record of a subsection of symbols whose kind is known, and `unknown` with the kinds of
/// others.
///
/// # Errors
/// If a record is malformed, if scopes that open here do not close here, or if `f` says so.
#[inline]
pub fn each_record<'a>(
    section: &'a [u8],
    symbols: &Subsection<'a>,
    mut unknown: impl FnMut(u16),
    mut f: impl FnMut(Found<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let end = symbols.start + symbols.contents.len();
    let data = &section[..end];
    let mut at = symbols.start;
    let mut depth = 0u32;
    while at + HEADER <= end {
        let record = Record::at(data, at)?;
        let here = at;
        at += record.bytes.len();
        let Some(traits) = symbol::traits_of(record.kind) else {
            unknown(record.kind);
            continue;
        };
        if traits.scope == Scope::Closes {
            depth = depth.checked_sub(1).ok_or(Fault::Unbalanced)?;
        }
        let (to_module, to_globals) = routes(traits.streams, depth > 0);
        f(Found { record, at: here, traits, to_module, to_globals })?;
        if traits.scope == Scope::Opens {
            depth += 1;
        }
    }
    records::check_padding(&data[at..])?;
    if depth > 0 { Err(Fault::Unbalanced) } else { Ok(()) }
}

#[inline]
fn routes(streams: Streams, nested: bool) -> (bool, bool) {
    match streams {
        Streams::Module => (true, false),
        Streams::Both => (true, !nested),
        Streams::GlobalUnlessNested => (nested, !nested),
        Streams::Global => (false, true),
        Streams::Procedure => (true, true),
    }
}
