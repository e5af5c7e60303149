//! Archive members that define what is only a common symbol so far.
//!
//! A Fortran `COMMON` block is a common symbol in each object that uses it, and its initial values (`BLOCK
//! DATA`) are a definition that may lie in a library. So, as with GNU ld and mold, a common symbol makes
//! the first lazy file wanted that really defines the name; one that has it as a common symbol too is
//! passed over. What an archive's index offers is known from the flags of the name; files are looked into
//! only for common symbols with that flag, of which most links have none.

use std::collections::HashSet;

use super::{Loaded, Resolver};
use crate::ids::*;
use crate::names::Names;

impl<'a> Resolver<'a, '_> {
    /// Files to read for common symbols that are not in `asked` yet, with the names that they define.
    pub(super) fn definitions_of_commons(
        &self,
        names: &Names<'a>,
        loaded: &Loaded<'a>,
        asked: &mut HashSet<SymbolId>,
    ) -> Vec<(FileId, SymbolId)> {
        let mut ids = names.offered_commons();
        ids.retain(|id| asked.insert(*id));
        if ids.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (id, files) in self.offers(names, &ids) {
            let name = names.get(id).name;
            let unread = |file: &FileId| self.is_readable(*file, loaded);
            let first = files.into_iter().filter(unread).find(|file| self.defines(*file, name));
            found.extend(first.map(|file| (file, id)));
        }
        found
    }

    fn defines(&self, file: FileId, name: &[u8]) -> bool {
        let mut found = false;
        self.definitions(file, |defined, real| found |= real && defined == name);
        found
    }
}
