//! How messages name places in inputs: `file:(section+offset)`, and the function or variable there.

use weld_common::diag::Place;

use super::shown;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::options::Options;

/// Byte `offset` of section `shndx` of object number `object`, for [`super::source`].
pub fn of(object: ObjectId, shndx: u32, offset: u64) -> Place {
    Place { file: object.0, section: shndx, offset }
}

/// `file:(section+offset)`.
pub fn text(object: &Object, shndx: u32, offset: u64) -> String {
    format!("{}:({}+{offset:#x})", object.name, object.section_label(shndx as usize))
}

/// `file:(section+offset)`, and the function or variable that the place is in.
pub fn reference(options: &Options, object: &Object, shndx: u32, offset: u64) -> String {
    let place = text(object, shndx, offset);
    let Some((index, symbol)) = enclosing(object, shndx, offset) else { return place };
    let what = if symbol.kind() == STT_FUNC { "function" } else { "variable" };
    format!("{place} ({what} {})", shown(options, object.symbol_name(index)))
}

/// Where symbol `index` of an object is defined: `file:(section+offset)`, or the file if it is in none.
pub fn definition(object: &Object, index: u32) -> String {
    match section_of(object, index) {
        Some((shndx, value)) => text(object, shndx, value),
        None => object.name.to_string(),
    }
}

/// The section that symbol `index` is defined in, and its offset there.
pub fn section_of(object: &Object, index: u32) -> Option<(u32, u64)> {
    let symbol = object.syms.get(index as usize)?;
    match object.place(index, symbol) {
        SymbolPlace::Section(shndx) => Some((shndx, symbol.st_value())),
        _ => None,
    }
}

/// The function or variable that covers an offset of a section.
pub fn enclosing<'o>(object: &Object<'o>, shndx: u32, offset: u64) -> Option<(u32, &'o Sym)> {
    let covers = |(i, s): &(usize, &Sym)| {
        matches!(s.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC)
            && s.st_value() <= offset
            && offset - s.st_value() < s.st_size().max(1)
            && object.place(*i as u32, s) == SymbolPlace::Section(shndx)
    };
    object.syms.iter().enumerate().find(covers).map(|(i, s)| (i as u32, s))
}
