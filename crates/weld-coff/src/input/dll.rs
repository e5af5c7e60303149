//! A DLL in place of its import library, as GNU linkers take it: the library is made here.

use std::fmt;

use weld_common::text;

use crate::coff::dll::{Dll, Malformed};
use crate::coff::library::TooLarge;
use crate::coff::machine::Machine;
use crate::ids::SymbolId;
use crate::implib;
use crate::implib::Entry;
use crate::options::Export;

/// Why a DLL has no import library.
#[derive(Debug)]
pub enum DllError {
    Malformed(Malformed),
    Library(TooLarge),
}

impl fmt::Display for DllError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DllError::Malformed(e) => e.fmt(f),
            DllError::Library(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for DllError {}

/// The import library of a DLL, of which it is known what it exports by name.
///
/// # Errors
/// If the bytes are no DLL, or one that exports nothing.
pub fn import_library(bytes: &[u8], path: &str) -> Result<Vec<u8>, DllError> {
    let dll = Dll::parse(bytes).map_err(DllError::Malformed)?;
    let name = match dll.name {
        [] => path.rsplit('/').next().unwrap_or(path).to_owned(),
        name => text::text(name).into_owned(),
    };
    let entries: Vec<Entry> = dll
        .exports
        .iter()
        .filter(|export| !export.name.is_empty())
        .map(|export| {
            let name = text::text(export.name).into_owned();
            Entry {
                export: Export { name: name.clone(), data: export.is_data, ..Export::default() },
                import_symbol: import_symbol(&name, dll.machine),
                name,
                symbol: SymbolId::NONE,
                ordinal: 0,
            }
        })
        .collect();
    implib::bytes(&name, dll.machine, &entries).map_err(DllError::Library)
}

/// What objects call it.
fn import_symbol(name: &str, machine: Machine) -> String {
    match name.starts_with(['?', '@']) {
        true => name.to_owned(),
        false => format!("{}{name}", machine.prefix()),
    }
}
