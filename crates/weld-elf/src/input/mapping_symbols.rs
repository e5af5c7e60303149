//! Symbols that say what lies behind them in a section, instructions or data, as compilers write them for ARM and
//! AArch64 (AAELF32 and AAELF64, "Mapping symbols"): local ones called `$a`, `$x`, `$d` and so on, also with more behind
//! a dot.

use super::object::{Object, SymbolPlace};
use crate::elf::Sym;

/// What a mapping symbol says: in which section, from which offset on, and what.
pub type Mark<T> = (u32, u64, T);

/// Those of an object for which `what` says something by their names, by section and offset; those at one place in the
/// order of the symbol table, where the last one counts.
pub fn mapping_symbols<T>(object: &Object, what: impl Fn(&[u8]) -> Option<T>) -> Vec<Mark<T>> {
    let locals = object.syms.iter().enumerate().take(object.first_global as usize);
    let mark = |(index, symbol): (usize, &Sym)| {
        let what = what(object.symbol_name(index as u32))?;
        match object.place(index as u32, symbol) {
            SymbolPlace::Section(section) => Some((section, symbol.st_value(), what)),
            _ => None,
        }
    };
    let mut marks: Vec<Mark<T>> = locals.filter_map(mark).collect();
    marks.sort_by_key(|(section, offset, _)| (*section, *offset));
    marks
}

/// Those of one section.
pub fn of_section<T>(marks: &[Mark<T>], section: u32) -> &[Mark<T>] {
    let first = marks.partition_point(|mark| mark.0 < section);
    let end = marks.partition_point(|mark| mark.0 <= section);
    &marks[first..end]
}
