//! Calls: what they need, and what branches lead to where functions have descriptors: code is marked, and not the
//! descriptor, which then may go.

use weld_common::diag::Cause;

use super::{Section, Target};
use crate::arch::class::Class;
use crate::arch::rules::Rules;
use crate::elf::{Rela, STT_GNU_IFUNC};
use crate::ids::{SectionId, SymbolId};
use crate::input::object::{Object, SymbolPlace};
use crate::live::{ScanResult, fact};
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

    /// What a call needs.
    #[inline(always)]
    pub(super) fn call<R: Rules>(&self, i: usize, class: Class, target: Target, found: &mut ScanResult) {
        let mode = &self.scanner.mode;
        if class == Class::PltOff {
            found.facts |= fact::GOT_BASE;
        }
        if let Some(prefixes) = R::has_no_base(self.relocs[i].kind()) {
            let old = if prefixes { 0 } else { fact::CALLS_WITHOUT_PREFIXES };
            found.facts |= fact::CALLS_WITHOUT_BASE | old;
        }
        if !target.is(symbol_flags::PREEMPTIBLE) {
            if matches!(target.kind(), symbol_flags::ABSOLUTE | symbol_flags::INTERNAL) {
                found.facts |= fact::CALLS_OUTSIDE;
            }
            return self.pc_relative(i, target, found);
        }
        if const { R::FACTS.loader_got.is_some() } && mode.pic {
            // Entries of the PLT are for fixed addresses.
            return self.error(Cause::NeedsPic, i, self.not_pic(i));
        }
        // A function of another module is known by the address of its entry then.
        let address = R::ADDRESS_BY_PLT
            && !mode.shared
            && target.kind() == symbol_flags::SHARED
            && target.is(symbol_flags::FUNC)
            && self.code(i).is_some_and(R::is_address);
        match address {
            true => self.stand_in(i, target, found),
            false => self.need(i, target, symbol_flags::NEEDS_PLT, found),
        }
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
