//! Where descriptors of functions lead ([`crate::arch::facts::Descriptors`]), and which go with code that lost.
//!
//! Specification: "64-bit PowerPC ELF Application Binary Interface Supplement 1.9", "Function Descriptors".

use std::collections::HashMap;

use super::parse::Parser;
use super::relocs::decode;
use super::{InputSection, SectionKind, Sections};
use crate::elf::{Rela, SHT_RELA};
use crate::ids::{ObjectId, SectionId, SymbolId};
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::Resolved;
use crate::symbol_names::Rank;

/// What a branch to some place leads to.
pub enum Code<'s> {
    /// The place.
    Itself,
    /// It is in a descriptor. The relocation, one of the same object, names the code.
    At(&'s Rela),
    /// It is among descriptors, but none is there.
    Unknown,
}

/// What a branch to byte `offset` of a section, given by its object and its header index, leads to.
pub fn code<'s>(
    objects: &'s [Object],
    sections: &'s Sections,
    (number, shndx): (ObjectId, u32),
    offset: u64,
) -> Code<'s> {
    let object = &objects[number.index()];
    let Some(machine) = &object.machine.descriptors else { return Code::Itself };
    if object.section_name(shndx as usize) != Some(machine.section) {
        return Code::Itself;
    }
    let section = sections.get(SectionId(object.section_base + shndx));
    let mut relocs = sections.relocs(object, number.index(), section).iter();
    relocs.find(|r| r.r_offset() == offset && r.kind() == machine.kind).map_or(Code::Unknown, Code::At)
}

/// The section with the code of the descriptor that is at byte `offset` of a section, if there is one.
pub fn section_of_code(
    objects: &[Object],
    sections: &Sections,
    (number, shndx): (ObjectId, u32),
    offset: u64,
) -> Option<SectionId> {
    let Code::At(code) = code(objects, sections, (number, shndx), offset) else { return None };
    let object = &objects[number.index()];
    match object.place(code.sym(), object.syms.get(code.sym() as usize)?) {
        SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
            Some(SectionId(object.section_base + shndx))
        }
        _ => None,
    }
}

/// Where what a relocation of an object names is defined: the object, the section's header index, and the offset with
/// the addend. Nothing if no object defines it.
pub fn definition(
    resolved: &Resolved,
    number: ObjectId,
    object: &Object,
    reloc: &Rela,
) -> Option<((ObjectId, u32), u64)> {
    let index = reloc.sym();
    let (number, definer, index) = if index < object.first_global {
        (number, object, index)
    } else {
        object.syms.get(index as usize)?;
        let entry = resolved.names.get(object.global(index));
        let number = *resolved.index_of_file.get(entry.file().index())?;
        let definer = resolved.objects.get(number as usize).filter(|definer| definer.file == entry.file())?;
        (ObjectId(number), definer, entry.sym())
    };
    let symbol = definer.syms.get(index as usize)?;
    match definer.place(index, symbol) {
        SymbolPlace::Section(shndx) if (shndx as usize) < definer.shdrs.len() => {
            Some(((number, shndx), symbol.st_value().wrapping_add(reloc.r_addend() as u64)))
        }
        _ => None,
    }
}

/// The section with a function's code, and where it begins there, if an object defines the function by a descriptor.
pub fn code_of(resolved: &Resolved, sections: &Sections, function: SymbolId) -> Option<(SectionId, u64)> {
    let entry = resolved.names.get(function);
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return None;
    }
    let number = *resolved.index_of_file.get(entry.file().index())?;
    let object = resolved.objects.get(number as usize).filter(|object| object.file == entry.file())?;
    let place = |index: u32| {
        let symbol = object.syms.get(index as usize)?;
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                Some((shndx, symbol.st_value()))
            }
            _ => None,
        }
    };
    let (shndx, offset) = place(entry.sym())?;
    let Code::At(code) = code(&resolved.objects, sections, (ObjectId(number), shndx), offset) else {
        return None;
    };
    let (shndx, offset) = place(code.sym())?;
    Some((SectionId(object.section_base + shndx), offset.wrapping_add(code.r_addend() as u64)))
}

/// Where the code of descriptors of an object is: section and offset of the one, and of the other.
pub type Codes = HashMap<(u32, u64), (u32, u64)>;

/// The code of all descriptors of an object, for messages.
pub fn codes(object: &Object) -> Codes {
    let Some(machine) = &object.machine.descriptors else { return Codes::new() };
    let mut codes = Codes::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let section = shdr.sh_info();
        if shdr.sh_type() != SHT_RELA || object.section_name(section as usize) != Some(machine.section) {
            continue;
        }
        for reloc in decode(object, index).iter().flat_map(|relocs| relocs.iter()) {
            let symbol = object.syms.get(reloc.sym() as usize).filter(|_| reloc.kind() == machine.kind);
            if let Some(symbol) = symbol
                && let SymbolPlace::Section(code) = object.place(reloc.sym(), symbol)
            {
                let at = symbol.st_value().wrapping_add(reloc.r_addend() as u64);
                codes.insert((section, reloc.r_offset()), (code, at));
            }
        }
    }
    codes
}

impl Parser<'_, '_> {
    /// Discards descriptors whose code has lost with its COMDAT group: compilers do not make them members.
    pub(super) fn drop_descriptors(&mut self) {
        let object = self.object;
        let Some(machine) = &object.machine.descriptors else { return };
        for shndx in 0..self.slots.len() {
            if !self.slots[shndx].in_image() || object.section_name(shndx) != Some(machine.section) {
                continue;
            }
            let has_lost = |reloc: &Rela| {
                let symbol = object.syms.get(reloc.sym() as usize);
                let place = symbol.map(|symbol| object.place(reloc.sym(), symbol));
                match place {
                    Some(SymbolPlace::Section(shndx)) => self
                        .slots
                        .get(shndx as usize)
                        .is_some_and(|slot| slot.kind() == SectionKind::Discarded),
                    _ => false,
                }
            };
            let mut codes = self.relocs_of(shndx).iter().filter(|r| r.kind() == machine.kind).peekable();
            if codes.peek().is_some() && codes.all(has_lost) {
                self.slots[shndx] = InputSection::default();
                self.slots[shndx].set_kind(SectionKind::Discarded);
            }
        }
    }
}
