//! What the scan was told of symbols that the script computes, and what they have turned out to be.
//!
//! Whether a value moves with the image, and whether it is that of an IFUNC or of a thread-local variable,
//! decides about dynamic relocations, GOT and PLT before anything has an address (`symbols::value_kinds`).
//! `SIZEOF(.text) > 4K ? f : 0` is known only when everything has one.

use super::*;
use crate::symbols::symbol_flags;
use crate::symbols::value_kinds::Correction;

/// The kinds of symbols that relocations against them are scanned by.
const SCANNED: u32 = symbol_flags::TLS | symbol_flags::IFUNC;
/// All that another name for a symbol takes from it.
const KINDS: u32 = SCANNED | symbol_flags::FUNC | symbol_flags::OBJECT;

/// The symbols that are not what the scan took them for. Others get the type of what they are another name
/// of.
pub fn broken(layout: &Layout, internals: &Internals, symbols: &Symbols, pic: bool) -> Vec<Correction> {
    let Some(script) = &layout.script else { return Vec::new() };
    let mut list = Vec::new();
    for (i, internal) in internals.list.iter().enumerate() {
        let Target::Computed { absolute, .. } = internal.target else { continue };
        let Some(value) = script.value_of(internal.id) else { continue };
        let of = |symbol: Option<SymbolId>, kinds| symbol.map_or(0, |id| symbols[id].flags() & kinds);
        // A number is neither, nor is what lies beside one.
        let scanned = if value.is_fixed() { 0 } else { of(value.same, SCANNED) };
        let found = scanned | of(value.near, KINDS & !SCANNED);
        let symbol = &symbols[internal.id];
        let moves_otherwise = pic && absolute != value.is_fixed();
        if moves_otherwise || (symbol.flags() ^ found) & SCANNED != 0 {
            list.push(Correction { internal: i, absolute: value.is_fixed(), same: value.same });
        } else {
            symbol.remove(KINDS & !found);
            symbol.add(found);
        }
    }
    list
}
