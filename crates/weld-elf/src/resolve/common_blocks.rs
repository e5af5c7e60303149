//! Archive members that define what is only a common symbol so far.
//!
//! A Fortran `COMMON` block is a common symbol in each object that uses it, and its initial values (`BLOCK
//! DATA`) are a definition that may lie in a library. So, as with GNU ld and mold, a common symbol makes
//! the first lazy file wanted that really defines the name; one that has it as a common symbol too is
//! passed over. What an archive's index offers is known from the flags of the name; files are looked into
//! only for common symbols with that flag, of which most links have none.

use super::{Reader, Rounds};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::symbol_names;

/// Files to read for common symbols that archives have not been asked for, with the names that they define.
pub fn definitions(rounds: &mut Rounds) -> Vec<(FileId, SymbolId)> {
    let mut ids = symbol_names::offered_commons(&rounds.names);
    ids.retain(|id| rounds.format.asked.insert(*id));
    if ids.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (id, files) in rounds.offers(&ids) {
        let name = rounds.names.get(id).name;
        let unread = |file: &FileId| rounds.can_be_read(*file);
        let first = files.into_iter().filter(unread).find(|file| defines(&rounds.format, *file, name));
        found.extend(first.map(|file| (file, id)));
    }
    found
}

/// Whether a lazy file has a definition of `name` that would replace a common symbol. One that cannot be read
/// has none: nobody needs it.
fn defines(reader: &Reader, file: FileId, name: &[u8]) -> bool {
    let Ok(object) = reader.object(file) else { return false };
    (object.first_global..object.syms.len() as u32).any(|i| {
        let symbol = &object.syms[i as usize];
        let is_real = symbol.binding() == STB_GLOBAL
            && !matches!(object.place(i, symbol), SymbolPlace::Undefined | SymbolPlace::Common);
        is_real && object.symbol_name(i) == name
    })
}
