//! Archive members that define what is only a common symbol so far.
//!
//! A Fortran `COMMON` block is a common symbol in each object that uses it, and its initial values (`BLOCK
//! DATA`) are a definition that may lie in a library. So, as with GNU ld and mold, a common symbol makes
//! the first lazy file wanted that really defines the name; one that has it as a common symbol too is
//! passed over. What an archive's index offers is known from the flags of the name; files are looked into
//! only for common symbols with that flag, of which most links have none.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names::Names;
use super::{Loaded, Resolver};
use crate::elf::*;
use crate::ids::*;
use crate::input::load::Input;
use crate::input::object::{Object, SymbolPlace};

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
        let wanted: HashMap<&[u8], SymbolId> = ids.iter().map(|id| (names.get(*id).name, *id)).collect();
        let mut offers: BTreeMap<SymbolId, Vec<FileId>> = BTreeMap::new();
        for (name, file) in self.inputs.provided() {
            if let Some(id) = wanted.get(name) {
                offers.entry(*id).or_default().push(file);
            }
        }
        // Objects of `--start-lib` have no index.
        for (i, input) in self.inputs.files.iter().enumerate() {
            let file = FileId(i as u32);
            if matches!(input, Input::Object { lazy: true, .. }) {
                self.definitions(file, |name| {
                    if let Some(id) = wanted.get(name) {
                        offers.entry(*id).or_default().push(file);
                    }
                });
            }
        }
        let mut found = Vec::new();
        for (id, mut files) in offers {
            files.sort_unstable();
            let name = names.get(id).name;
            let unread = |file: &FileId| self.is_readable(*file, loaded);
            let first = files.into_iter().filter(unread).find(|file| self.defines(*file, name));
            found.extend(first.map(|file| (file, id)));
        }
        found
    }

    fn defines(&self, file: FileId, name: &[u8]) -> bool {
        let mut found = false;
        self.definitions(file, |defined| found |= defined == name);
        found
    }

    /// Passes on the names of a lazy file's definitions that would replace common symbols. A file that
    /// cannot be read has none: nobody needs it.
    fn definitions(&self, file: FileId, mut pass: impl FnMut(&[u8])) {
        let bytes = match &self.inputs.files[file.index()] {
            Input::Object { data, .. } => Ok(*data),
            Input::Member { archive, offset } => self.member_bytes(*archive, *offset),
            _ => return,
        };
        let Ok(bytes) = bytes else { return };
        if crate::input::identify::check_relocatable(bytes).is_err() {
            return;
        }
        let Ok(object) = Object::parse(file, self.inputs.name(file), bytes, false) else { return };
        for i in object.first_global..object.syms.len() as u32 {
            let symbol = &object.syms[i as usize];
            let real = !matches!(object.place(i, symbol), SymbolPlace::Undefined | SymbolPlace::Common);
            if real && symbol.binding() == STB_GLOBAL {
                pass(object.symbol_name(i));
            }
        }
    }
}
