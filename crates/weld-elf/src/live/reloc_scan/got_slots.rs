//! GOT slots: where they count from, whether an instruction can do without, and what their pointers have
//! besides (tags, signatures).

use weld_common::diag::Cause;

use super::{Section, Target};
use crate::arch::class::{Class, From};
use crate::arch::rules::Rules;
use crate::elf::{Rela, STT_FUNC};
use crate::ids::{SectionId, SymbolId};
use crate::input::object::SymbolPlace;
use crate::live::dyn_relocs::DynKind;
use crate::live::{LocalSlot, ScanResult, fact, is_local_slot};
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;

impl Section<'_, '_, '_> {
    /// Whether a slot is found by what it holds, where loaders fill the GOT by themselves.
    pub(super) fn is_local_slot(&self, target: Target) -> bool {
        is_local_slot(&self.scanner.mode, target.flags)
    }

    /// A word of the GOT with an address of this image.
    pub(super) fn local_slot(&self, i: usize, page: bool, found: &mut ScanResult) {
        found.facts |= fact::GOT_BASE;
        let section = SectionId(self.object.section_base + self.at.1);
        found.local_slots.push(LocalSlot { section, reloc: i as u32, page });
    }

    /// The slot with the page that an address is near, or the symbol's own.
    pub(super) fn got_page(&self, i: usize, target: Target, found: &mut ScanResult) {
        if self.is_local_slot(target) {
            return self.local_slot(i, true, found);
        }
        found.facts |= fact::GOT_BASE;
        self.need(i, target, symbol_flags::NEEDS_GOT, found);
    }

    /// The symbol's own slot, if the instruction cannot do without.
    #[inline(always)]
    pub(super) fn slot<R: Rules>(&self, i: usize, class: Class, target: Target, found: &mut ScanResult) {
        if class == Class::Got {
            self.slot_from::<R>(i, found);
            let signed = self.signed_slot::<R>(i, target, found) | self.tagged_slot::<R>(i, found);
            return self.need(i, target, symbol_flags::NEEDS_GOT | signed, found);
        }
        let tagged = self.tagged_slot::<R>(i, found);
        if tagged != 0 || !self.can_relax_got::<R>(i, target) {
            self.slot_from::<R>(i, found);
            self.need(i, target, symbol_flags::NEEDS_GOT | tagged, found);
        }
    }

    /// Notes what the place of a slot counts from.
    pub(super) fn slot_from<R: Rules>(&self, i: usize, found: &mut ScanResult) {
        match self.code(i).map(R::slot_from) {
            Some(From::GotBase | From::GotPage) => found.facts |= fact::GOT_BASE,
            Some(From::Zero) if self.scanner.mode.pic => self.slot_by_loader::<R>(i, found),
            _ => {}
        }
    }

    /// A slot's address, to which the loader has to add where the image is. It can where the address is all
    /// that the field has.
    pub(super) fn slot_by_loader<R: Rules>(&self, i: usize, found: &mut ScanResult) {
        let kind = self.relocs[i].kind();
        let bits = R::FACTS.types.get(kind as usize).map_or(0, |of| u64::from(of.bits));
        let whole = bits == 8 * R::FACTS.target.format.word();
        // Beside them, only the address of this kind of slot is found again.
        let beside = R::FACTS.dynamic.with_addends;
        let dynamic = match R::class(kind) {
            _ if !whole => None,
            _ if !beside => Some(DynKind::Relative),
            Class::GotTp => Some(DynKind::OwnWord),
            _ => None,
        };
        match dynamic {
            Some(kind) => self.dynamic(i, Target { flags: 0, id: SymbolId::NONE }, kind, found),
            None => self.error(Cause::NeedsPic, i, self.not_pic(i)),
        }
    }

    /// Whether the loader would have to be told the slot of a symbol, of whose uses all are rewritten or
    /// none: what it is told before that is known has to stay true.
    pub(super) fn is_slot_of_loader<R: Rules>(&self, i: usize) -> bool {
        R::ALL_OR_NONE && self.scanner.mode.pic && self.code(i).map(R::slot_from) == Some(From::Zero)
    }

    pub(super) fn can_relax_got<R: Rules>(&self, i: usize, target: Target) -> bool {
        let scanner = self.scanner;
        is_got_relaxable(target.flags, scanner.relax_got || wants_addend::<R>(&self.relocs[i]))
            && self.code(i).is_some_and(|code| R::got_form(code, scanner.mode.pic).is_some())
            && R::got_pair(self.data(), self.relocs, i)
            && (!R::EVEN_ADDRESSES || self.is_even(i, target))
    }

    /// Whether the address of a relocation's symbol will be even, as far as is known before layout.
    pub(super) fn is_even(&self, i: usize, target: Target) -> bool {
        let (section, offset) = if target.id.is_some() {
            let symbol = &self.scanner.symbols[target.id];
            (symbol.section, symbol.offset())
        } else {
            let index = self.relocs[i].sym();
            let Some(symbol) = self.object.syms.get(index as usize) else { return false };
            match self.object.place(index, symbol) {
                SymbolPlace::Section(shndx) => (self.object.section_base + shndx, symbol.st_value()),
                _ => return false,
            }
        };
        if target.kind() != symbol_flags::DEFINED {
            return false;
        }
        let section = self.scanner.sections.get(SectionId(section));
        section.kind() != SectionKind::Merge && section.align() >= 2 && offset & 1 == 0
    }

    /// Whether relocation `i` refers to a variable that has a tag.
    #[inline(always)]
    pub(super) fn is_tagged<R: Rules>(&self, i: usize) -> bool {
        if const { R::FACTS.tagging.is_none() } {
            return false;
        }
        self.scanner.tagged.is_some_and(|tagged| tagged.has(self.at.0, self.object, self.relocs[i].sym()))
    }

    /// What there is to note of a symbol whose slots have pointers with tags, if relocation `i` asks for one.
    #[inline(always)]
    pub(super) fn tagged_slot<R: Rules>(&self, i: usize, found: &mut ScanResult) -> u32 {
        if !self.is_tagged::<R>(i) {
            return 0;
        }
        found.facts |= fact::TAGGED_SLOTS;
        symbol_flags::TAGGED_SLOT
    }

    /// What there is to note of a symbol whose slots have signed pointers, if relocation `i` asks for one.
    #[inline(always)]
    pub(super) fn signed_slot<R: Rules>(&self, i: usize, target: Target, found: &mut ScanResult) -> u32 {
        if !R::is_signed(self.relocs[i].kind()) {
            return 0;
        }
        if target.kind() == symbol_flags::ABSOLUTE
            && self.scanner.mode.pic
            && !target.is(symbol_flags::PREEMPTIBLE)
        {
            self.error(Cause::AbsoluteSymbol, i, self.absolute_in_pic(i));
        }
        found.facts |= fact::SIGNED_SLOTS;
        // Of what is not defined here, who refers to it says what it is.
        let symbol = self.object.syms.get(self.relocs[i].sym() as usize);
        let code = target.is(symbol_flags::FUNC) || symbol.is_some_and(|symbol| symbol.kind() == STT_FUNC);
        symbol_flags::SIGNED_SLOT | if code { symbol_flags::SIGNED_CODE } else { 0 }
    }
}

/// Whether a slot would have to have an addend, which none has: then its load has to become a computation of the address.
#[inline(always)]
pub fn wants_addend<R: Rules>(reloc: &Rela) -> bool {
    reloc.r_addend() != 0 && const { R::FACTS.slots_have_addends }
}

/// Whether the symbol's address may replace a load from its GOT slot.
pub fn is_got_relaxable(flags: u32, allowed: bool) -> bool {
    let here = matches!(
        flags & symbol_flags::KIND,
        symbol_flags::DEFINED | symbol_flags::COMMON | symbol_flags::INTERNAL
    );
    allowed && here && flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC) == 0
}
