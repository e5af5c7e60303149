//! The shared libraries that the output needs, and who needs them: which sections refer to what each defines.

use std::collections::HashMap;

use weld_common::text;
use weld_explore::model::{Import, Library, Model, Ref};

use crate::ids::*;
use crate::synth::image::Image;
use crate::wording::shown;

/// Adds them. `wanted` has the symbols of libraries that sections refer to, with the rows of these.
pub fn add(model: &mut Model, image: &Image, mut wanted: Vec<(SymbolId, u32)>) {
    let shared = &image.resolved.shared;
    let mut rows: HashMap<&[u8], Ref> = HashMap::new();
    for &index in image.dynsym.map_or(&[][..], |dynsym| &dynsym.needed) {
        let soname = shared[index as usize].soname;
        rows.insert(soname, Ref::to(model.libraries.len()));
        let name = model.names.add(&text::text(soname));
        model.libraries.push(Library { name });
    }
    wanted.sort_unstable();
    wanted.dedup();
    for (id, section) in wanted {
        let named = image.resolved.names.get(id);
        let index = image.resolved.index_of_file.get(named.file().index());
        let library = index.and_then(|index| rows.get(shared.get(*index as usize)?.soname));
        let symbol = model.names.add(&shown(image.options, named.name));
        let library = library.copied().unwrap_or_default();
        model.imports.push(Import { library, symbol, section: Ref::to(section as usize) });
    }
    model.imports.sort_by_key(|import| import.library);
}
