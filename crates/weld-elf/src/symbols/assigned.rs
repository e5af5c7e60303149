//! Which assignments of a script take effect, and what objects define by the names that it assigns to.
//!
//! `PROVIDE` is for what is not defined where it stands: neither by an object nor by what the script has
//! assigned before. And `v = DEFINED(v) ? v : …` leaves an object's definition as it is, be it an address, a
//! number or common.

use std::collections::HashSet;

use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::resolve::Resolved;
use crate::script::sections::Assignment;
use crate::symbol_names::Rank;

/// What an object defines by a name that a script assigns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// A byte of a section.
    Place(SectionId, u64),
    Number(u64),
    /// It would have had an address.
    Common,
}

/// What an object defines by a name.
pub fn original(resolved: &Resolved, id: SymbolId) -> Option<Original> {
    let entry = resolved.names.get(id);
    if entry.rank() == Rank::Common {
        return Some(Original::Common);
    }
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return None;
    }
    let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
    let symbol = &object.syms[entry.sym() as usize];
    match object.place(entry.sym(), symbol) {
        SymbolPlace::Section(section) if (section as usize) < object.shdrs.len() => {
            Some(Original::Place(SectionId(object.section_base + section), symbol.st_value()))
        }
        SymbolPlace::Absolute => Some(Original::Number(symbol.st_value())),
        _ => None,
    }
}

/// Of all assignments, in order, which take effect. Call before any of them defines its symbol.
pub fn in_effect(resolved: &Resolved, all: &[(&Assignment, bool)]) -> Vec<bool> {
    let mut assigned = HashSet::new();
    let takes_effect = |(assignment, _): &(&Assignment, bool)| {
        let Some(id) = resolved.names.find(assignment.name.as_bytes()) else { return true };
        let is_first = !assigned.contains(&id);
        let takes_effect = match assignment.provide {
            true => is_first && resolved.names.get(id).rank() >= Rank::Provided,
            false => !(is_first && assignment.is_default() && original(resolved, id).is_some()),
        };
        if takes_effect {
            assigned.insert(id);
        }
        takes_effect
    };
    all.iter().map(takes_effect).collect()
}
