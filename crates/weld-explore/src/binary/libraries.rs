//! The shared libraries that a file names, and which symbols it wants of them.
//!
//! ELF files name the libraries (gABI, `DT_NEEDED`) apart from the symbols, and only the versions of symbols tell
//! which library has one; images for Windows list symbols by library. Neither says which code refers to them.

use std::collections::HashMap;

use object::read::{NameOrOrdinal, Object as _};

use super::container::Container;
use crate::drafts::Spelling;
use crate::model::{Import, Library, Model, Ref};
use crate::names::Name;

/// Bytes that an import takes of the file at least. Damaged tables may name the same imports again and again.
const SMALLEST_IMPORT: u64 = 4;

/// Adds libraries and imports to the model, as far as they can be read.
pub fn add(model: &mut Model, container: &Container, spelling: Spelling) {
    let mut rows = Rows::default();
    let most = (model.about.file_size / SMALLEST_IMPORT) as usize;
    if let Ok(libraries) = container.file.import_libraries() {
        for library in libraries.map_while(Result::ok).take(most) {
            rows.of(model, library.name());
        }
    }
    let Ok(imports) = container.file.imports() else { return };
    for import in imports.map_while(Result::ok).take(most) {
        let symbol = match import.name() {
            NameOrOrdinal::Name(name) => model.names.add(&(spelling.shown)(name)),
            NameOrOrdinal::Ordinal(ordinal) => model.names.add(&format!("ordinal {ordinal}")),
        };
        let library = rows.of(model, import.library());
        model.imports.push(Import { library, symbol, section: Ref::NONE });
    }
    model.imports.sort_by_key(|import| import.library);
}

/// The rows of libraries by name.
#[derive(Default)]
struct Rows(HashMap<Name, Ref>);

impl Rows {
    /// None if there is no name.
    fn of(&mut self, model: &mut Model, name: &[u8]) -> Ref {
        if name.is_empty() {
            return Ref::NONE;
        }
        let name = model.names.add(&weld_common::text::text(name));
        *self.0.entry(name).or_insert_with(|| {
            model.libraries.push(Library { name });
            Ref::to(model.libraries.len() - 1)
        })
    }
}
