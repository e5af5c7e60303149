//! Where everything is in a round of layout, for machines that choose by it what code becomes.

use std::collections::HashMap;
use std::ops::Range;

use super::{Chunk, ChunkKind, Layout, MergedPart};
use crate::address::Address;
use crate::arch::class::Class;
use crate::arch::plt;
use crate::arch::shrink::{Addresses, Place, Section, Shrink};
use crate::elf::*;
use crate::got_plt_slots::{NONE, Slot, Slots};
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::folds::Folds;
use crate::mode::Mode;
use crate::sections::{InputSection, SectionKind, Sections};
use crate::symbols::{Symbols, symbol_flags};

/// What is known of a place before anything is known of addresses. Most places are chosen by it, without a
/// look at relocations and symbols.
#[derive(Clone, Copy)]
pub enum RelaxHint {
    /// Nothing.
    Nothing,
    /// It always becomes this.
    Form(u8),
    /// It is a call of so many bytes at first, to byte `at` of a section of the input.
    Call { length: u8, section: SectionId, at: u32 },
    /// The same to entry `plt` of the PLT.
    PltCall { length: u8, plt: u32 },
}

/// Where everything is in a round of layout.
pub struct Round<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub layout: &'c Layout<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub slots: &'c Slots,
    pub merged: &'c [MergedPart<'a>],
    pub folds: &'c Folds,
    pub plt: plt::Style,
    pub mode: Mode,
    /// The values of what the linker defines.
    pub internals: HashMap<SymbolId, Address>,
    pub thread_pointer: Address,
    /// Where the register for data points; `None` if nothing says so, or code must not use it.
    pub pointer: Option<Address>,
}

impl<'c, 'a> Round<'c, 'a> {
    fn object(&self, code: &Section) -> &'c Object<'a> {
        &self.objects[code.object.index()]
    }

    fn in_chunk(&self, chunk: Option<&Chunk>, offset: u64) -> Option<Address> {
        let chunk = chunk?;
        Some(self.layout[chunk.out].address.wrapping_add(chunk.offset()).wrapping_add(offset))
    }

    /// The address of byte `at` of an input section.
    fn in_section(&self, id: SectionId, at: u64) -> Option<Address> {
        let section = self.sections.get(id);
        match section.kind() {
            SectionKind::Merge => {
                let (part, input) = section.merged();
                let part = self.merged.get(part)?;
                let at = part.merged.output_offset(input, at)?;
                self.in_chunk(Some(&self.layout.chunks[part.chunk.index()]), at)
            }
            SectionKind::EhFrame => self.in_chunk(self.layout.chunk(ChunkKind::EhFrame), 0),
            SectionKind::Folded => {
                let leader = self.folds.leader(id);
                if leader == id { None } else { self.in_section(leader, at) }
            }
            _ => {
                let out = self.layout.out_of(section.bin())?;
                let at = section.offset().wrapping_add(self.sections.output_offset(id, at));
                Some(self.layout[out].address.wrapping_add(at))
            }
        }
    }

    /// The address of a global symbol.
    pub fn global(&self, id: SymbolId) -> Option<Address> {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        if flags & symbol_flags::NEEDS_CANONICAL_PLT != 0 {
            return self.entry(self.slots.of_symbol(id)?.plt);
        }
        match flags & symbol_flags::KIND {
            symbol_flags::DEFINED => self.in_section(SectionId(symbol.section), symbol.offset()),
            // A script may still compute it.
            symbol_flags::ABSOLUTE => {
                Some(self.internals.get(&id).copied().unwrap_or(Address::new(symbol.constant())))
            }
            symbol_flags::COMMON => {
                self.in_chunk(self.layout.chunk(ChunkKind::Common(symbol.section)), symbol.offset())
            }
            // Null, unless the loader finds one.
            symbol_flags::UNDEFINED if !symbol.has(symbol_flags::PREEMPTIBLE) => Some(Address::ZERO),
            symbol_flags::INTERNAL => self.internals.get(&id).copied(),
            // Copies that become read-only lie elsewhere; that is not decided here.
            _ => None,
        }
    }

    /// The slots of what relocation `reloc` names, if it has any.
    fn slot(&self, code: &Section, reloc: &Rela) -> Option<&Slot> {
        match global_of(self.object(code), reloc) {
            Some(id) => self.slots.of_symbol(id),
            None => self.slots.of_local(code.object, reloc.sym()),
        }
    }

    /// What is known of the place of relocation `reloc`.
    pub fn known(&self, machine: &dyn Shrink, code: &Section, reloc: &Rela) -> RelaxHint {
        match (machine.fixed(reloc.kind()), machine.call_length(reloc.kind())) {
            (Some(form), _) => RelaxHint::Form(form),
            (None, Some(length)) => self.known_call(code, reloc, length).unwrap_or(RelaxHint::Nothing),
            _ => RelaxHint::Nothing,
        }
    }

    fn known_call(&self, code: &Section, reloc: &Rela, length: u8) -> Option<RelaxHint> {
        let (object, addend) = (self.object(code), reloc.r_addend() as u64);
        let (section, at) = match global_of(object, reloc) {
            Some(id) => {
                let symbol = &self.symbols[id];
                let slot = self
                    .slots
                    .of_symbol(id)
                    .filter(|_| symbol.has(symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC));
                if let Some(slot) = slot.filter(|slot| slot.plt != NONE && addend == 0) {
                    return Some(RelaxHint::PltCall { length, plt: slot.plt });
                }
                let moves =
                    symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::NEEDS_CANONICAL_PLT;
                let fixed = symbol.flags() & symbol_flags::KIND == symbol_flags::DEFINED
                    && !symbol.has(moves)
                    && addend == 0;
                fixed.then(|| (SectionId(symbol.section), symbol.offset()))?
            }
            None => {
                let symbol = object.syms.get(reloc.sym() as usize)?;
                let by_section = symbol.kind() == STT_SECTION;
                match object.place(reloc.sym(), symbol) {
                    SymbolPlace::Section(shndx)
                        if (shndx as usize) < object.shdrs.len()
                            && symbol.kind() != STT_GNU_IFUNC
                            && (by_section || addend == 0) =>
                    {
                        let id = SectionId(object.section_base + shndx);
                        (id, symbol.st_value().wrapping_add(addend))
                    }
                    _ => return None,
                }
            }
        };
        let folded = self.sections.get(section).kind() == SectionKind::Folded;
        let section = if folded { self.folds.leader(section) } else { section };
        let target = self.sections.get(section);
        let stays = matches!(target.kind(), SectionKind::Regular | SectionKind::Shrunk);
        self.layout.out_of(target.bin()).filter(|_| stays)?;
        Some(RelaxHint::Call { length, section, at: u32::try_from(at).ok()? })
    }

    /// The addresses of sections number `run` of the input. Of those that have none, anything.
    pub fn addresses(&self, run: Range<usize>) -> Vec<Address> {
        let sections = self.sections.list[run].iter();
        let address = |section: &InputSection| {
            let out = self.layout.out_of(section.bin());
            out.map_or(Address::ZERO, |out| self.layout[out].address.wrapping_add(section.offset()))
        };
        sections.map(address).collect()
    }

    /// The address of entry `plt` of the PLT.
    pub fn entry(&self, plt: u32) -> Option<Address> {
        let (kind, offset) = plt::place_of(self.mode.facts(), self.slots.jump_slots, self.plt, plt);
        self.in_chunk(self.layout.chunk(kind.into()), offset)
    }
}

impl Addresses for Round<'_, '_> {
    fn place(&self, code: &Section, reloc: &Rela) -> Option<Place> {
        let (index, addend) = (reloc.sym(), reloc.r_addend() as u64);
        let object = self.object(code);
        if let Some(id) = global_of(object, reloc) {
            let flags = self.symbols[id].flags();
            return Some(Place { address: self.global(id)?.wrapping_add(addend), flags });
        }
        let symbol = object.syms.get(index as usize)?;
        let kind = match symbol.kind() {
            STT_TLS => symbol_flags::TLS,
            STT_GNU_IFUNC => symbol_flags::IFUNC,
            _ => 0,
        };
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let id = SectionId(object.section_base + shndx);
                // The addend of a section's symbol says which byte is meant.
                let by_section = symbol.kind() == STT_SECTION;
                let at = symbol.st_value().wrapping_add(if by_section { addend } else { 0 });
                let address = self.in_section(id, at)?.wrapping_add(if by_section { 0 } else { addend });
                Some(Place { address, flags: symbol_flags::DEFINED | kind })
            }
            SymbolPlace::Absolute => Some(Place {
                address: Address::new(symbol.st_value().wrapping_add(addend)),
                flags: symbol_flags::ABSOLUTE | kind,
            }),
            _ => None,
        }
    }

    fn called(&self, code: &Section, reloc: &Rela) -> Option<Address> {
        let object = self.object(code);
        let special = match global_of(object, reloc) {
            Some(id) => self.symbols[id].has(symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC),
            None => object.syms.get(reloc.sym() as usize)?.kind() == STT_GNU_IFUNC,
        };
        match special.then(|| self.slot(code, reloc)).flatten() {
            Some(slot) if slot.plt != NONE => {
                Some(self.entry(slot.plt)?.wrapping_add(reloc.r_addend() as u64))
            }
            _ => self
                .place(code, reloc)
                .filter(|p| p.flags & symbol_flags::KIND != symbol_flags::UNDEFINED)
                .map(|p| p.address),
        }
    }

    fn here(&self, code: &Section, at: u64) -> Option<Address> {
        self.in_section(SectionId(self.object(code).section_base + code.shndx), at)
    }

    fn has_slot(&self, code: &Section, reloc: &Rela, class: Class) -> bool {
        self.slot(code, reloc).is_some_and(|slot| slot.of_class(class).is_some())
    }

    fn thread_pointer(&self) -> Address {
        self.thread_pointer
    }

    fn pointer(&self) -> Option<Address> {
        self.pointer
    }
}

/// The global symbol that relocation `reloc` names, if it is one.
fn global_of(object: &Object, reloc: &Rela) -> Option<SymbolId> {
    let index = reloc.sym();
    let is_global = index >= object.first_global && (index as usize) < object.syms.len();
    is_global.then(|| object.global(index))
}
