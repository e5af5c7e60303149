//! Which lazy files would define a name: archive members that are not read, and objects of `--start-lib`.
//!
//! The table of names knows of the first only. Two rare questions need the others: what really defines a common
//! symbol (`common_blocks`), and what meets a reference that is not of default visibility when the first that
//! has the name is a shared object.

use std::collections::{BTreeMap, HashMap};

use super::{Loaded, Resolver};
use crate::elf::*;
use crate::ids::*;
use crate::input::load::Input;
use crate::input::object::{Object, SymbolPlace};
use crate::names::{Names, flag};

impl<'a> Resolver<'a, '_> {
    /// Of the names that just became wanted, those that must be defined in this output and that a
    /// shared object comes first for, with the lazy file to read instead.
    pub(super) fn offers_for_inside(
        &self,
        wanted: &[(FileId, SymbolId)],
        names: &Names<'a>,
        loaded: &Loaded<'a>,
    ) -> Vec<(FileId, SymbolId)> {
        let is_asked = |&&(file, id): &&(FileId, SymbolId)| {
            let flags = names.get(id).flags;
            let shared = matches!(self.inputs.files[file.index()], Input::Shared { .. });
            shared && flags & flag::INSIDE != 0 && flags & flag::OFFERED != 0
        };
        let ids: Vec<SymbolId> = wanted.iter().filter(is_asked).map(|w| w.1).collect();
        if ids.is_empty() {
            return Vec::new();
        }
        let offers = self.offers(names, &ids).into_iter();
        let first = |files: Vec<FileId>| files.into_iter().find(|file| self.is_readable(*file, loaded));
        offers.filter_map(|(id, files)| Some((first(files)?, id))).collect()
    }

    /// The lazy files that offer each of `ids`, in order.
    pub(super) fn offers(&self, names: &Names<'a>, ids: &[SymbolId]) -> BTreeMap<SymbolId, Vec<FileId>> {
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
                self.definitions(file, |name, _| {
                    if let Some(id) = wanted.get(name) {
                        offers.entry(*id).or_default().push(file);
                    }
                });
            }
        }
        offers.values_mut().for_each(|files| files.sort_unstable());
        offers
    }

    /// Passes on the names that a lazy file defines, and whether such a definition would replace a common symbol.
    /// A file that cannot be read has none: nobody needs it.
    pub(super) fn definitions(&self, file: FileId, mut pass: impl FnMut(&[u8], bool)) {
        let bytes = match &self.inputs.files[file.index()] {
            Input::Object { data, .. } => Ok(*data),
            Input::Member { archive, offset } => self.inputs.member_bytes(*archive, *offset),
            _ => return,
        };
        let Ok(bytes) = bytes else { return };
        if crate::input::identify::check_relocatable(bytes).is_err() {
            return;
        }
        let Ok(object) = Object::parse(file, self.inputs.name(file), bytes, self.inputs.reading(false))
        else {
            return;
        };
        for i in object.first_global..object.syms.len() as u32 {
            let symbol = &object.syms[i as usize];
            let place = object.place(i, symbol);
            if place != SymbolPlace::Undefined {
                let real = place != SymbolPlace::Common && symbol.binding() == STB_GLOBAL;
                pass(object.symbol_name(i), real);
            }
        }
    }
}
