//! Symbols that nobody defines, with who refers to them.
//!
//! Only a link that fails comes here: it looks through the relocations of all objects for those to the missing names.

use std::collections::HashMap;

use object::LittleEndian as LE;
use rayon::prelude::*;
use weld_common::diag::{DiagSink, Diagnostic};

use crate::ids::SymbolId;
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::resolve::names::flag;

/// References shown for each symbol.
const SHOWN: usize = 3;

/// Reports `missing` names: warnings if the link goes on (`force`).
pub fn report(resolved: &Resolved, missing: &[SymbolId], options: &Options, parallel: bool, sink: &DiagSink) {
    if missing.is_empty() {
        return;
    }
    let number: HashMap<SymbolId, usize> = missing.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let one = |object: &Object| referrers(object, &number, options);
    let found: Vec<Vec<(usize, String)>> = match parallel {
        true => resolved.objects.par_iter().map(one).collect(),
        false => resolved.objects.iter().map(one).collect(),
    };
    let mut places: Vec<Vec<&String>> = vec![Vec::new(); missing.len()];
    for (missing, place) in found.iter().flatten() {
        places[*missing].push(place);
    }
    for (i, (id, places)) in missing.iter().zip(places).enumerate() {
        let entry = resolved.names.get(*id);
        // What the command line asks for, nobody refers to.
        let root = if places.is_empty() && entry.flags & flag::ROOT != 0 { "<root>: " } else { "" };
        let text = format!("{root}undefined symbol: {}", options.shown(entry.name));
        let problem =
            if options.force.unresolved { Diagnostic::warning(text) } else { Diagnostic::error(text) };
        let mut problem = problem.at(i as u64);
        for place in places.iter().take(SHOWN) {
            problem = problem.note(format!("referenced by {place}"));
        }
        if places.len() > SHOWN {
            problem = problem.note(format!("referenced {} more times", places.len() - SHOWN));
        }
        sink.push(problem);
    }
}

/// Where an object refers to one of the names: the number of the name, and the place.
fn referrers(object: &Object, number: &HashMap<SymbolId, usize>, options: &Options) -> Vec<(usize, String)> {
    let mut list = Vec::new();
    let missing = |index: u32| number.get(&object.global(index)?).copied();
    if !object.coff.symbols.iter().any(|(index, _)| missing(index).is_some()) {
        return list;
    }
    for (section, header) in (1..).zip(object.coff.sections) {
        for relocation in object.coff.relocations(header).unwrap_or_default() {
            if let Some(missing) = missing(relocation.symbol_table_index.get(LE)) {
                let offset = relocation.virtual_address.get(LE);
                list.push((missing, place(object, section, offset, options)));
            }
        }
    }
    list
}

/// A place in an object, with the symbol that is nearest in front of it: `OBJECT:(NAME)`.
pub fn place(object: &Object, section: i32, offset: u32, options: &Options) -> String {
    let before = object.coff.symbols.iter().filter(|(index, symbol)| {
        symbol.section == section
            && symbol.value <= offset
            && object.coff.symbols.section_definition(*index, symbol).is_none()
    });
    let nearest = before.max_by_key(|(index, symbol)| (symbol.value, std::cmp::Reverse(*index)));
    let name = nearest.and_then(|(_, symbol)| object.coff.symbol_name(&symbol).ok());
    match name {
        Some(name) => format!("{}:({})", object.name, options.shown(name)),
        None => object.name.to_string(),
    }
}
