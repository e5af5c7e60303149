//! PDBs of compilers' that hold the types of objects (`/Zi`).
//!
//! An object names the PDB by the path that it had where it was compiled. If it is not there, it may be among
//! the inputs, or in the object's directory. Files are opened as soon as an object names them, so that the
//! system reads them while the link goes on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use weld_common::io::input::InputStore;
use weld_common::text;
use weld_pdb::types::server::server_of;

use super::FileName;
use crate::coff::object::ObjectFile;

/// Types of an object, and those that others may use (of a precompiled header).
pub const TYPES: &[u8; 8] = b".debug$T";
pub const PRECOMPILED: &[u8; 8] = b".debug$P";

/// A file, once it has been looked for; `None` if it is not there.
type Slot<'a> = Arc<OnceLock<Option<&'a [u8]>>>;

#[derive(Default)]
pub struct Servers<'a> {
    /// Those that are inputs.
    given: Vec<(Arc<str>, &'a [u8])>,
    files: Mutex<HashMap<PathBuf, Slot<'a>>>,
}

/// The contents of an object's first section with this name; empty if it has none or they are not in the
/// file.
pub fn section<'a>(object: &ObjectFile<'a>, name: &[u8; 8]) -> &'a [u8] {
    let header = object.sections.iter().find(|header| header.name == *name);
    header.and_then(|header| object.contents(header).ok()).unwrap_or_default()
}

impl<'a> Servers<'a> {
    /// PDBs among the inputs are found by their names, wherever they are.
    pub fn with(given: Vec<(Arc<str>, &'a [u8])>) -> Servers<'a> {
        Servers { given, files: Mutex::default() }
    }

    /// Opens the PDB that an object names.
    pub fn look(&self, store: &'a InputStore<'a>, name: &FileName, object: &ObjectFile<'a>) {
        _ = self.find(store, name, section(object, TYPES));
    }

    /// The path and contents of the PDB that has an object's `types`; `None` if it names none, or one that is
    /// not there.
    pub fn find(
        &self,
        store: &'a InputStore<'a>,
        object: &FileName,
        types: &[u8],
    ) -> Option<(PathBuf, &'a [u8])> {
        let server = server_of(types)?;
        let path = PathBuf::from(text::os_str(server.path));
        if let Some(bytes) = self.open(store, &path) {
            return Some((path, bytes));
        }
        let base = last_component(server.path);
        let is_it = |path: &str| last_component(path.as_bytes()).eq_ignore_ascii_case(base);
        if let Some((path, bytes)) = self.given.iter().find(|(path, _)| is_it(path)) {
            return Some((PathBuf::from(&**path), bytes));
        }
        let path = Path::new(&*object.path).parent().unwrap_or(Path::new("")).join(text::os_str(base));
        Some((path.clone(), self.open(store, &path)?))
    }

    /// A file that cannot be read is as good as none: what needs it says so.
    fn open(&self, store: &'a InputStore<'a>, path: &Path) -> Option<&'a [u8]> {
        let known = self.files.lock().unwrap().get(path).cloned();
        let slot =
            known.unwrap_or_else(|| self.files.lock().unwrap().entry(path.to_owned()).or_default().clone());
        *slot.get_or_init(|| store.open(path).ok().flatten())
    }
}

/// Objects come with paths of Windows, wherever they are linked.
fn last_component(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path)
}
