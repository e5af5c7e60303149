//! The files that take part: objects and shared objects, and where each keeps the ids of its names.

use std::sync::atomic::Ordering;

use weld_common::resolve::File;

use crate::ids::{FileId, SymbolId};
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::symbol_names::flag;

/// What one file became when it was read.
pub enum ElfFile<'a> {
    Object(Box<Object<'a>>),
    Shared(Box<Shared<'a>>),
}

impl File for ElfFile<'_> {
    #[inline]
    fn set_id(&self, sym: u32, bits: u32, id: SymbolId) {
        let place = match self {
            ElfFile::Object(object) if bits & flag::GROUP_RECORD != 0 => {
                &object.groups[sym as usize].signature
            }
            ElfFile::Object(object) => &object.globals[(sym - object.first_global) as usize],
            ElfFile::Shared(shared) => &shared.globals[(sym - shared.first_global) as usize],
        };
        place.store(id.0, Ordering::Relaxed);
    }

    fn names(&self) -> impl Iterator<Item = (usize, SymbolId)> {
        let ids = match self {
            ElfFile::Object(object) => &object.globals,
            ElfFile::Shared(shared) => &shared.globals,
        };
        let ids = ids.iter().map(|id| SymbolId(id.load(Ordering::Relaxed)));
        ids.enumerate().filter(|(_, id)| id.is_some())
    }
}

/// Files by kind, and of each id the number of its object or shared object; `u32::MAX` if it takes no part.
pub struct Sorted<'a> {
    pub objects: Vec<Object<'a>>,
    pub shared: Vec<Shared<'a>>,
    pub index_of_file: Vec<u32>,
}

/// `count` ids have been given.
pub fn sort<'a>(files: Vec<(FileId, ElfFile<'a>)>, count: usize) -> Sorted<'a> {
    let mut index_of_file = vec![u32::MAX; count];
    let (mut objects, mut shared) = (Vec::new(), Vec::new());
    for (id, file) in files {
        match file {
            ElfFile::Object(object) => {
                index_of_file[id.index()] = objects.len() as u32;
                objects.push(*object);
            }
            ElfFile::Shared(dso) => {
                index_of_file[id.index()] = shared.len() as u32;
                shared.push(*dso);
            }
        }
    }
    Sorted { objects, shared, index_of_file }
}
