//! What branches lead to where functions have descriptors: code is marked, and not the descriptor, which then may go.

use super::{Section, Target};
use crate::elf::{Rela, STT_GNU_IFUNC};
use crate::ids::{SectionId, SymbolId};
use crate::input::object::{Object, SymbolPlace};
use crate::sections::descriptors::{self, Code};
use crate::symbols::symbol_flags;

impl Section<'_, '_, '_> {
    /// Looks up what a branch by relocation `i` goes to, and marks the section that the code lies in.
    pub(super) fn called(&self, i: usize, stack: &mut Vec<SectionId>) -> Option<Target> {
        let reloc = &self.relocs[i];
        let Some((object, code)) = self.code_behind(reloc) else { return self.target(i, stack) };
        if let Some(section) = self.section_of(object, code).filter(|section| !self.scanner.is_gone(*section))
        {
            self.scanner.mark_target(section, stack);
        }
        let index = reloc.sym();
        if index < self.object.first_global {
            return Some(Target { flags: symbol_flags::DEFINED, id: SymbolId::NONE });
        }
        let id = self.object.global(index);
        Some(Target { flags: self.scanner.symbols[id].flags(), id })
    }

    /// The relocation by which a descriptor of this output leads to the code that is called, and its object.
    fn code_behind(&self, reloc: &Rela) -> Option<(&Object<'_>, &Rela)> {
        let (scanner, index) = (self.scanner, reloc.sym());
        let (section, value) = if index < self.object.first_global {
            let symbol =
                self.object.syms.get(index as usize).filter(|symbol| symbol.kind() != STT_GNU_IFUNC)?;
            (self.placed(self.object, index)?, symbol.st_value())
        } else {
            self.object.syms.get(index as usize)?;
            let symbol = &scanner.symbols[self.object.global(index)];
            const OTHERS: u32 = symbol_flags::PREEMPTIBLE
                | symbol_flags::IFUNC
                | symbol_flags::MERGED
                | symbol_flags::OUTSIDE
                | symbol_flags::KIND;
            (symbol.flags() & OTHERS == symbol_flags::DEFINED).then(|| (symbol.section, symbol.offset()))?
        };
        if scanner.is_gone(section) {
            return None;
        }
        let number = scanner.owners.object(SectionId(section));
        let object = &scanner.objects[number.index()];
        let at = (number, section - object.section_base);
        let offset = value.wrapping_add(reloc.r_addend() as u64);
        match descriptors::code(scanner.objects, scanner.sections, at, offset) {
            Code::At(code) => Some((object, code)),
            Code::Itself | Code::Unknown => None,
        }
    }

    /// The section that what a relocation of an object names lies in.
    fn section_of(&self, object: &Object, reloc: &Rela) -> Option<u32> {
        if reloc.sym() < object.first_global {
            return self.placed(object, reloc.sym());
        }
        object.syms.get(reloc.sym() as usize)?;
        let symbol = &self.scanner.symbols[object.global(reloc.sym())];
        (symbol.kind() == symbol_flags::DEFINED).then_some(symbol.section)
    }

    fn placed(&self, object: &Object, index: u32) -> Option<u32> {
        match object.place(index, object.syms.get(index as usize)?) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                Some(object.section_base + shndx)
            }
            _ => None,
        }
    }
}
