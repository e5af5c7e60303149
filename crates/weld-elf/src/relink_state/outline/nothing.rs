//! Relocations that need nothing that is not there: one more of them, or one less, changes nothing of a link but
//! the bytes that it is for.
//!
//! Calls of functions of the output and distances to what is in it need nothing at all, and neither do those of
//! functions of shared objects that have an entry of the PLT, or a slot: these stay, and so do slots of what is
//! defined here, and entries by which a library calls what others may replace. A name that the object
//! did not mention before may also be called through its PLT entry, or found by its slot of the GOT, if others
//! have seen to it that there is one, and its address may be asked of the loader in tables of pointers, if others
//! ask for it there, or if it is defined here: that stays, since what they ask for is held to be as it was. Where it
//! counts who refers to what (gc), what nobody refers to goes. So nothing is left out there but new names: what
//! these stand for is in the image already.
//!
//! Who may be called but needs more (IFUNCs, what is thread-local, addresses that another module's function is
//! known by) is never among them.

use super::super::rows::NONE;
use super::One;
use super::needs::Place;
use crate::arch::class::Class;
use crate::arch::rules::{Code, Rules};
use crate::arch::{Machine, Visitor};
use crate::elf::*;
use crate::ids::SymbolId;
use crate::input::object::SymbolPlace;
use crate::live::reloc_scan::is_got_relaxable;
use crate::symbols::symbol_flags;

/// What tells that a symbol is defined here for good, and nothing special.
const KNOWN: u32 = symbol_flags::KIND
    | symbol_flags::PREEMPTIBLE
    | symbol_flags::IFUNC
    | symbol_flags::TLS
    | symbol_flags::IN_DISCARDED;

/// What tells that a symbol is defined elsewhere, and nothing here stands for it.
const STANDS_IN: u32 =
    symbol_flags::KIND | symbol_flags::TLS | symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT;

impl One<'_, '_, '_> {
    /// Whether relocation `i` of a section needs nothing, or what is there anyway.
    pub(super) fn needs_nothing(&self, relocs: &[Rela], i: usize, place: Place) -> bool {
        let (object, symbol) = (self.object, relocs[i].sym());
        let gc = self.counts_references;
        let class = self.image.mode.machine.facts().class(relocs[i].kind());
        if symbol < object.first_global {
            return !gc && self.is_known_local(symbol) && self.is_near(relocs, i, (class, place));
        }
        if symbol as usize >= object.syms.len() {
            return false;
        }
        let is_new = self.before(symbol) == NONE;
        let id = object.global(symbol);
        let flags = self.image.symbols[id].flags();
        let is_code = matches!(place, Place::Code(_));
        // What is there of another module's function stays, whoever asks for it.
        if is_code && flags & STANDS_IN == symbol_flags::SHARED && self.has_slot(id, flags, class) {
            return true;
        }
        // So does what stands in for it here: a copy, or an entry that it is known by.
        if stands_in(flags) {
            let is_near = match place {
                Place::Code(_) => matches!(class, Class::Pc | Class::Plt | Class::Low),
                Place::Constants => class == Class::Pc,
                Place::Data | Place::Relocated => false,
            };
            let is_word = matches!(class, Class::Address | Class::Narrow)
                && matches!(place, Place::Code(_) | Place::Constants);
            if is_near || is_word && !self.image.mode.pic {
                return true;
            }
        }
        // So is its address asked of the loader in tables whose entries are made anew; and that of what is defined here,
        // and others may replace, always may be.
        let is_replaced = flags & KNOWN == symbol_flags::DEFINED | symbol_flags::PREEMPTIBLE;
        if matches!(place, Place::Relocated) && class == Class::Address {
            let is_asked = flags & STANDS_IN == symbol_flags::SHARED
                && flags & symbol_flags::PREEMPTIBLE != 0
                && flags & symbol_flags::NEEDS_DYNSYM != 0;
            if is_asked || is_replaced && flags & symbol_flags::EXPORTED != 0 {
                return true;
            }
        }
        // So does the entry, or the slot, of what is defined here, and others may replace.
        let is_found = matches!(class, Class::Plt | Class::Got | Class::GotRelax);
        if is_code && is_found && is_replaced && self.has_slot(id, flags, class) {
            return true;
        }
        // So does the slot of what is defined here.
        let is_slot = is_code && class == Class::Got && image_is_alone(self.image.mode.machine);
        if is_slot && flags & KNOWN == symbol_flags::DEFINED && self.has_slot(id, flags, class) {
            return true;
        }
        if gc && !is_new {
            return false;
        }
        if flags & KNOWN == symbol_flags::DEFINED && self.is_near(relocs, i, (class, place)) {
            return true;
        }
        is_new
            && is_code
            && flags & (symbol_flags::IFUNC | symbol_flags::TLS) == 0
            && self.has_slot(id, flags, class)
    }

    /// Whether something here stands in for what another module defines.
    pub(super) fn has_stand_in(&self, symbol: u32) -> bool {
        let is_global = (self.object.first_global..self.object.syms.len() as u32).contains(&symbol);
        is_global && stands_in(self.image.symbols[self.object.global(symbol)].flags())
    }

    /// Whether a name has the slot or the entry of the PLT that a relocation asks for.
    fn has_slot(&self, id: SymbolId, flags: u32, class: Class) -> bool {
        let Some(slot) = self.image.slots.of_symbol(id) else { return false };
        let is_preemptible = flags & symbol_flags::PREEMPTIBLE != 0;
        match class {
            Class::Plt => is_preemptible && flags & symbol_flags::NEEDS_PLT != 0 && slot.plt != NONE,
            Class::Got | Class::GotRelax => {
                flags & symbol_flags::NEEDS_GOT != 0 && slot.got != NONE && !slot.signed
            }
            _ => false,
        }
    }

    /// Whether relocation `i`, of something that is defined here for good, is no more than that.
    fn is_near(&self, relocs: &[Rela], i: usize, what: (Class, Place)) -> bool {
        let image = self.image;
        match what {
            (Class::Pc | Class::Plt | Class::Low, Place::Code(_)) | (Class::Pc, Place::Constants) => true,
            (Class::Address | Class::Narrow, Place::Code(_) | Place::Constants) => !image.mode.pic,
            (Class::Address, Place::Relocated) => true,
            (Class::GotRelax, Place::Code(bytes)) => {
                is_got_relaxable(symbol_flags::DEFINED, image.relax_got)
                    && image.mode.machine.visit(DoesWithout { relocs, i, bytes, pic: image.mode.pic })
            }
            _ => false,
        }
    }

    /// Whether a local symbol is in a section of the image, and nothing special.
    pub(super) fn is_known_local(&self, index: u32) -> bool {
        let is_local = index < self.object.first_global;
        let Some(symbol) = self.object.syms.get(index as usize).filter(|_| is_local) else { return false };
        let is_plain = !matches!(symbol.st_info(), STT_TLS | STT_GNU_IFUNC) && symbol.st_info() < 16;
        match self.object.place(index, symbol) {
            SymbolPlace::Section(section) => {
                is_plain && self.kept.get(section as usize).is_some_and(Option::is_some)
            }
            _ => false,
        }
    }
}

/// Whether a copy, or an entry of the PLT that it is known by, stands in for a name of another module.
fn stands_in(flags: u32) -> bool {
    flags & (symbol_flags::KIND | symbol_flags::TLS) == symbol_flags::SHARED
        && flags & symbol_flags::USED != 0
        && flags & (symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT) != 0
}

/// Whether instructions that load from slots are what they are, whatever others do.
fn image_is_alone(machine: Machine) -> bool {
    struct Ask;
    impl Visitor for Ask {
        type Output = bool;
        fn visit<R: Rules>(self) -> bool {
            !R::ALL_OR_NONE && !R::EVEN_ADDRESSES
        }
    }
    machine.visit(Ask)
}

/// Whether an instruction can do without its slot of the GOT, whatever others do.
struct DoesWithout<'r> {
    relocs: &'r [Rela],
    i: usize,
    bytes: &'r [u8],
    pic: bool,
}

impl Visitor for DoesWithout<'_> {
    type Output = bool;

    fn visit<R: Rules>(self) -> bool {
        let reloc = &self.relocs[self.i];
        let Ok(at) = usize::try_from(reloc.r_offset()) else { return false };
        let is_alone = !R::ALL_OR_NONE && !R::EVEN_ADDRESSES;
        is_alone
            && at <= self.bytes.len()
            && R::got_form(Code { reloc, bytes: self.bytes, at }, self.pic).is_some()
            && R::got_pair(self.bytes, self.relocs, self.i)
    }
}
