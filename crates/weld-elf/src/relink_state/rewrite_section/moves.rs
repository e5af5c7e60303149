//! Functions and constants of an object that lie at other places in their sections than before, because one in front of them
//! has another size.
//!
//! Who refers to them in the object is written again with it. Other objects refer to their names, whose values
//! are rows; those that have changed are told ([`NewValue`]), for whoever relinks to write these objects again as
//! well. Slots are pointers ([`super::pointers`]).

use super::super::rows::*;
use super::tables::Global;
use super::{Known, Missing};
use crate::address::Address;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::SectionKind;
use crate::sections::free_sections;
use crate::sections::rooms::filler;
use crate::symbols::{Symbols, symbol_flags};

/// A name with another value than its row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewValue {
    /// Its row.
    pub name: u32,
    pub value: u64,
}

/// Gives the symbols that the object defines in its sections their values, and returns those that are others. `piece`
/// says where a byte of a merged section is.
///
/// # Errors
/// If something else knows where they were.
pub fn find(
    known: &Known,
    (input, object): (u32, &Object),
    (symbols, globals): (&mut Symbols, &[Global]),
    piece: impl Fn(&SectionRow, u64) -> Option<u64>,
) -> Result<Vec<NewValue>, Missing> {
    let (mut found, state) = (Vec::new(), known.state);
    for global in globals {
        let name = &state.names[global.row as usize];
        let section = state.sections.get(name.section as usize).filter(|section| section.input == input);
        let (Some(section), true) = (section, name.input == input) else { continue };
        let symbol = object.syms.get(name.symbol as usize);
        let here = |sym: &&Sym| object.place(name.symbol, sym) == SymbolPlace::Section(section.ordinal);
        let Some(symbol) = symbol.filter(here) else { return Err(Missing::Object) };
        let is_merged = section.kind == SectionKind::Merge as u8;
        if is_merged && known.passes_over(&object.shdrs[section.ordinal as usize]) {
            continue;
        }
        let value = match is_merged && name.flags & symbol_flags::MERGED == 0 {
            // Those that the tables have are known by their contents.
            true => Some(piece(section, symbol.st_value()).ok_or(Missing::Piece)?),
            false => value(object, section, name.symbol),
        };
        let Some(value) = value else { continue };
        if value == name.value {
            continue;
        }
        if name.flags & symbol_flags::IFUNC != 0 {
            return Err(Missing::Function);
        }
        symbols.list[global.id.index()].set_address(Address::new(value));
        found.push(NewValue { name: global.row, value });
    }
    found.sort_unstable_by_key(|new| new.name);
    Ok(found)
}

/// Whether what lies in a section may be at other places there.
pub fn may_move_in(object: &Object, section: usize) -> bool {
    let Some(shdr) = object.shdrs.get(section).filter(|shdr| shdr.sh_flags() & SHF_ALLOC != 0) else {
        return false;
    };
    let name = object.section_name(section).unwrap_or_default();
    shdr.sh_flags() & SHF_MERGE != 0
        || filler(shdr, name).is_some()
        || free_sections::kind(shdr, name).is_some()
}

/// The address of a symbol of the object in one of its sections whose bytes lie in the image as they are, or would.
fn value(object: &Object, section: &SectionRow, symbol: u32) -> Option<u64> {
    let has_place = [SectionKind::Regular, SectionKind::Guest, SectionKind::NoBits];
    let is_copied = has_place.contains(&SectionKind::of_number(section.kind.into()));
    let sym = object.syms.get(symbol as usize)?;
    let place = object.place(symbol, sym);
    let is_there = is_copied && place == SymbolPlace::Section(section.ordinal);
    is_there.then(|| section.address.wrapping_add(sym.st_value()))
}
