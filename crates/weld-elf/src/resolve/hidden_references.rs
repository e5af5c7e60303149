//! References that are not of default visibility: no shared object can meet them, so that an archive is asked
//! although one that comes before it defines the name.

use super::read::Rounds;
use crate::ids::{FileId, SymbolId};
use crate::input::load::Input;
use crate::symbol_names::flag;

/// Of the names that just became wanted, those that must be defined in this output and that a shared object
/// comes first for, each with the lazy file to read instead.
pub fn offers(rounds: &Rounds, wanted: &[(FileId, SymbolId)]) -> Vec<(FileId, SymbolId)> {
    let is_asked = |&&(file, id): &&(FileId, SymbolId)| {
        let flags = rounds.names.get(id).flags;
        let is_shared = matches!(rounds.format.inputs.files[file.index()], Input::Shared { .. });
        is_shared && flags & flag::INSIDE != 0 && flags & flag::OFFERED != 0
    };
    let ids: Vec<SymbolId> = wanted.iter().filter(is_asked).map(|w| w.1).collect();
    if ids.is_empty() {
        return Vec::new();
    }
    let offers = rounds.offers(&ids).into_iter();
    let first = |files: Vec<FileId>| files.into_iter().find(|file| rounds.can_be_read(*file));
    offers.filter_map(|(id, files)| Some((first(files)?, id))).collect()
}
