//! The files that take part: objects and short imports, and where each keeps the ids of its names.

use std::sync::atomic::Ordering;

use weld_common::resolve::{File, Files};

use super::Resolved;
use super::imports::{ImportFile, LoadedImport};
use crate::ids::{FileId, ImportId, ObjectId, SymbolId};
use crate::input::load::Inputs;
use crate::input::object::Object;

/// What one file became when it was read.
pub enum CoffFile<'a> {
    Object(Box<Object<'a>>),
    Import(Box<LoadedImport<'a>>),
}

const _: () = assert!(size_of::<Option<CoffFile>>() == 16);

impl File for CoffFile<'_> {
    #[inline]
    fn set_id(&self, sym: u32, _: u32, id: SymbolId) {
        match self {
            CoffFile::Object(object) => object.set_global(sym, id),
            CoffFile::Import(import) => import.symbols[sym as usize].store(id.0 + 1, Ordering::Relaxed),
        }
    }

    fn names(&self) -> impl Iterator<Item = (usize, SymbolId)> {
        let (object, import) = match self {
            CoffFile::Object(object) => (Some(object), None),
            CoffFile::Import(import) => (None, Some(import)),
        };
        let symbols = object.into_iter().flat_map(|object| object.numbered_globals());
        let symbols = symbols.map(|(index, id)| (index as usize, id));
        let imported = import.into_iter().flat_map(|import| import.symbols().into_iter().enumerate());
        symbols.chain(imported.filter(|(_, id)| id.is_some()))
    }
}

/// The object that a file is, if it has been read.
pub fn object<'f, 'a>(files: &'f Files<CoffFile<'a>>, file: FileId) -> Option<&'f Object<'a>> {
    files.get(file).and_then(CoffFile::object)
}

/// Objects that have been read.
pub fn objects<'f, 'a>(files: &'f Files<CoffFile<'a>>) -> impl Iterator<Item = &'f Object<'a>> {
    files.iter().filter_map(CoffFile::object)
}

impl<'a> CoffFile<'a> {
    fn object(&self) -> Option<&Object<'a>> {
        match self {
            CoffFile::Object(object) => Some(object),
            CoffFile::Import(_) => None,
        }
    }
}

/// What a file id leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Nothing,
    Object(ObjectId),
    Import(ImportId),
}

impl<'a> Resolved<'a> {
    pub fn object(&self, file: FileId) -> Option<(ObjectId, &Object<'a>)> {
        match self.places[file.index()] {
            Place::Object(id) => Some((id, &self.objects[id.index()])),
            _ => None,
        }
    }

    /// The name of a file that takes part.
    pub fn file_name(&self, file: FileId) -> String {
        match self.places.get(file.index()) {
            Some(Place::Object(id)) => self.objects[id.index()].name.to_string(),
            Some(Place::Import(id)) => self.imports[id.index()].name.to_string(),
            _ => "<linker>".to_owned(),
        }
    }
}

/// Files by kind, and what each id leads to.
pub struct Sorted<'a> {
    pub objects: Vec<Object<'a>>,
    pub imports: Vec<ImportFile<'a>>,
    pub places: Vec<Place>,
}

pub fn sort<'a>(files: Vec<(FileId, CoffFile<'a>)>, inputs: &Inputs<'a>) -> Sorted<'a> {
    let mut places = vec![Place::Nothing; inputs.files.len()];
    let (mut objects, mut imports) = (Vec::new(), Vec::new());
    for (id, file) in files {
        places[id.index()] = match file {
            CoffFile::Object(object) => {
                objects.push(*object);
                Place::Object(ObjectId(objects.len() as u32 - 1))
            }
            CoffFile::Import(import) => {
                let (name, symbols) = (inputs.name(id), import.symbols());
                imports.push(ImportFile { file: id, name, import: import.import, symbols });
                Place::Import(ImportId(imports.len() as u32 - 1))
            }
        };
    }
    Sorted { objects, imports, places }
}
