//! What is a function, and whether one that a frame describes is in the output: `.eh_frame` and `.sframe` leave
//! out the frames of those that are not.

use crate::arch::facts::Callee;
use crate::elf::{Rela, STT_FUNC, STT_GNU_IFUNC};
use crate::ids::SectionId;
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::sections::{SectionKind, Sections};
use crate::symbols::{Symbols, symbol_flags};

/// Whether symbol `index` of an object is known to be a function, or chooses one.
pub fn is_function(symbols: &Symbols, object: &Object, index: u32) -> bool {
    match index >= object.first_global && (index as usize) < object.syms.len() {
        true => symbols[object.global(index)].flags() & (symbol_flags::FUNC | symbol_flags::IFUNC) != 0,
        false => {
            let kind = object.syms.get(index as usize).map(|symbol| symbol.kind());
            matches!(kind, Some(STT_FUNC | STT_GNU_IFUNC))
        }
    }
}

/// What a branch to symbol `index` of an object calls that goes through no entry of the PLT.
pub fn callee(symbols: &Symbols, object: &Object, index: u32) -> Callee {
    let Some(symbol) = object.syms.get(index as usize) else { return Callee::Unknown(0) };
    let machine = object.machine;
    if index < object.first_global {
        let said = symbol.st_other();
        let implied = machine.function_other.map_or(0, |implied| implied(object.flags, said));
        return Callee::Own((said | implied) & machine.called_other);
    }
    let flags = symbols[object.global(index)].flags();
    let other = (flags >> symbol_flags::OTHER_SHIFT) as u8 & machine.called_other;
    match flags & symbol_flags::KIND {
        symbol_flags::ABSOLUTE if flags & symbol_flags::ASSIGNED != 0 => Callee::Unknown(other),
        symbol_flags::DEFINED | symbol_flags::ABSOLUTE | symbol_flags::COMMON => Callee::Own(other),
        _ => Callee::Unknown(other),
    }
}

#[derive(Clone, Copy)]
pub struct Functions<'c, 'a> {
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
}

impl Functions<'_, '_> {
    /// Whether the function that a relocation of an object's frame refers to is this object's and live.
    pub fn has(&self, object: &Object, reloc: &Rela) -> bool {
        let index = reloc.sym();
        let Some(symbol) = object.syms.get(index as usize) else { return false };
        if reloc.kind() == object.machine.none {
            return false;
        }
        let section = match object.place(index, symbol) {
            SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => object.section_base + s,
            _ => return false,
        };
        if index >= object.first_global {
            // The name may have been given to another object's definition.
            let global = &self.symbols[object.global(index)];
            if global.kind() != symbol_flags::DEFINED || global.section != section {
                return false;
            }
        }
        // The frames of a folded function are those of the one that stands for it.
        let input = self.sections.get(SectionId(section));
        self.live.contains(SectionId(section)) && input.in_image() && input.kind() != SectionKind::Folded
    }
}
