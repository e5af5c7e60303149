//! How messages name places in inputs: `file:(section+offset)`, and the function or variable there.

use weld_common::diag::Place;

use super::shown;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::options::Options;
use crate::sections::descriptors::{self, Codes};

/// Byte `offset` of section `shndx` of object number `object`, for `report::source`.
pub fn of(object: ObjectId, shndx: u32, offset: u64) -> Place {
    Place { file: object.0, section: shndx, offset }
}

/// `file:(section+offset)`.
pub fn text(object: &Object, shndx: u32, offset: u64) -> String {
    object.at_byte(shndx, offset).to_string()
}

/// `file:(section+offset)`, and the function or variable that the place is in.
pub fn reference(options: &Options, object: &Object, shndx: u32, offset: u64) -> String {
    described(options, object, text(object, shndx, offset), enclosing(object, shndx, offset))
}

fn described(options: &Options, object: &Object, place: String, symbol: Option<(u32, &Sym)>) -> String {
    let Some((index, symbol)) = symbol else { return place };
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

/// The function or variable that covers an offset of a section: the first of them in the symbol table.
pub fn enclosing<'o>(object: &Object<'o>, shndx: u32, offset: u64) -> Option<(u32, &'o Sym)> {
    let codes = descriptors::codes(object);
    let covers = |(i, s): &(usize, &Sym)| {
        let covers = |start: u64| start <= offset && offset - start < s.st_size().max(1);
        has_extent(s) && extent_start(object, &codes, *i, s).is_some_and(|at| at.0 == shndx && covers(at.1))
    };
    object.syms.iter().enumerate().find(covers).map(|(i, s)| (i as u32, s))
}

/// The section that a function or variable lies in, and where it begins there; of functions with descriptors, their code.
fn extent_start(object: &Object, codes: &Codes, index: usize, symbol: &Sym) -> Option<(u32, u64)> {
    let SymbolPlace::Section(shndx) = object.place(index as u32, symbol) else { return None };
    let at = (shndx, symbol.st_value());
    Some(codes.get(&at).copied().unwrap_or(at))
}

fn has_extent(symbol: &Sym) -> bool {
    matches!(symbol.kind(), STT_FUNC | STT_OBJECT | STT_GNU_IFUNC)
}

/// The functions and variables of one object by place, for those who ask more than a few times.
pub struct Extents(Vec<Extent>);

struct Extent {
    shndx: u32,
    start: u64,
    /// After the last byte.
    end: u64,
    /// The largest end of those from the start of the section to here.
    furthest: u64,
    index: u32,
}

impl Extents {
    pub fn of(object: &Object) -> Extents {
        let codes = descriptors::codes(object);
        let extent = |(i, s): (usize, &Sym)| {
            let size = s.st_size().max(1);
            let (shndx, start) = extent_start(object, &codes, i, s)?;
            let end = start.saturating_add(size);
            has_extent(s).then_some(Extent { shndx, start, end, furthest: end, index: i as u32 })
        };
        let mut list: Vec<Extent> = object.syms.iter().enumerate().filter_map(extent).collect();
        list.sort_unstable_by_key(|e| (e.shndx, e.start, e.index));
        for i in 1..list.len() {
            if list[i].shndx == list[i - 1].shndx {
                list[i].furthest = list[i].end.max(list[i - 1].furthest);
            }
        }
        Extents(list)
    }

    /// As [`enclosing`].
    pub fn enclosing<'o>(&self, object: &Object<'o>, shndx: u32, offset: u64) -> Option<(u32, &'o Sym)> {
        let before = self.0.partition_point(|e| (e.shndx, e.start) <= (shndx, offset));
        let reaches = |e: &&Extent| e.shndx == shndx && e.furthest > offset;
        let near = self.0[..before].iter().rev().take_while(reaches).filter(|e| e.end > offset);
        let index = near.map(|e| e.index).min()?;
        Some((index, &object.syms[index as usize]))
    }

    /// What a place lies in: `function f` or `variable v`.
    pub fn owner(&self, options: &Options, object: &Object, place: Place) -> Option<String> {
        let (index, symbol) = self.enclosing(object, place.section, place.offset)?;
        let what = if symbol.kind() == STT_OBJECT { "variable" } else { "function" };
        Some(format!("{what} {}", shown(options, object.symbol_name(index))))
    }

    /// Its name alone.
    pub fn owner_name(&self, options: &Options, object: &Object, place: Place) -> Option<String> {
        let (index, _) = self.enclosing(object, place.section, place.offset)?;
        Some(shown(options, object.symbol_name(index)).into_owned())
    }

    /// As [`reference()`].
    pub fn reference(&self, options: &Options, object: &Object, shndx: u32, offset: u64) -> String {
        described(options, object, text(object, shndx, offset), self.enclosing(object, shndx, offset))
    }
}
