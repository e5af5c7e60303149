//! `--cref`: who defines each symbol and who refers to it.
//!
//! ```text
//! Symbol                                            File
//! puts                                              libc.so.6
//!                                                   main.o
//! ```
//!
//! as in `ld.lld`: symbols in the order in which objects name them, the file that defines each first,
//! then those that refer to it. Symbols that nothing defines are left out.

use std::collections::HashMap;
use std::fmt::Write;

use crate::ids::*;
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::wording::shown;

/// The table.
pub fn text(image: &Image) -> String {
    let mut text = format!("Cross Reference Table\n\n{:<49} File\n", "Symbol");
    let mut order = Vec::new();
    let mut places: HashMap<SymbolId, usize> = HashMap::new();
    for (i, object) in image.resolved.objects.iter().enumerate() {
        for index in object.first_global..object.syms.len() as u32 {
            let id = object.global(index);
            if !is_shown(image, id) {
                continue;
            }
            let at = *places.entry(id).or_insert_with(|| {
                order.push((id, Vec::new()));
                order.len() - 1
            });
            let files: &mut Vec<usize> = &mut order[at].1;
            if files.last() != Some(&i) {
                files.push(i);
            }
        }
    }
    for (id, files) in order {
        let name = shown(image.options, image.resolved.names.get(id).name);
        let definer = image.definer_of(id);
        let mut first = &*name;
        if let Some(definer) = &definer {
            _ = writeln!(text, "{first:<49} {definer}");
            first = "";
        }
        for file in files {
            let file = image.resolved.objects[file].name.to_string();
            if definer.as_ref() != Some(&file) {
                _ = writeln!(text, "{first:<49} {file}");
                first = "";
            }
        }
    }
    text
}

fn is_shown(image: &Image, id: SymbolId) -> bool {
    let symbol = &image.symbols[id];
    match symbol.kind() {
        symbol_flags::UNDEFINED => false,
        symbol_flags::DEFINED => image.live.contains(SectionId(symbol.section)),
        _ => true,
    }
}
