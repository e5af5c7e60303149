//! What an output's symbol tables say of a symbol: one function for each way in which a symbol comes about,
//! for `.symtab`, `.dynsym` and objects that `-r` joins alike.
//!
//! A name and where it is kept are the tables' own affair, and so is what one of them says in another way
//! than the others.
//!
//! Specification: gABI chapter 4 "Symbol Table".

use crate::address::Address;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::Resolved;
use crate::symbol_names::flag;
use crate::symbols::{Symbol, strong_use, symbol_flags};
use crate::synth::image::Image;

/// A symbol without its name.
#[derive(Clone, Copy)]
pub struct Record {
    pub binding: u8,
    pub kind: u8,
    /// `st_other`
    pub other: u8,
    pub value: u64,
    pub size: u64,
    pub section: InSection,
}

/// What `st_shndx` says of a symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum InSection {
    /// One of the numbers that stand for no section.
    Reserved(u16),
    Defined(HeaderIndex),
}

impl InSection {
    pub const UNDEFINED: InSection = InSection::Reserved(SHN_UNDEF);
    pub const ABSOLUTE: InSection = InSection::Reserved(SHN_ABS);

    /// `st_shndx`, and the word of `.symtab_shndx`, which has the indices that do not fit 16 bits.
    #[inline]
    fn encode(self) -> (u16, u32) {
        match self {
            InSection::Reserved(number) => (number, 0),
            InSection::Defined(HeaderIndex(index)) if index >= SHN_LORESERVE as u32 => (SHN_XINDEX, index),
            InSection::Defined(HeaderIndex(index)) => (index as u16, 0),
        }
    }
}

impl Record {
    /// That of a section.
    pub fn section(section: HeaderIndex, address: Address) -> Record {
        let section = InSection::Defined(section);
        Record { binding: STB_LOCAL, kind: STT_SECTION, other: 0, value: address.get(), size: 0, section }
    }

    /// What is left over of room among global symbols: a file without a name.
    pub fn nothing() -> Record {
        let section = InSection::ABSOLUTE;
        Record { binding: STB_GLOBAL, kind: STT_FILE, other: 0, value: 0, size: 0, section }
    }

    /// Whether it stands for a definition elsewhere.
    #[inline(always)]
    pub fn is_mention(&self) -> bool {
        matches!(self.section, InSection::UNDEFINED)
    }

    /// The symbol with its name at `name`, and its extended index.
    #[inline(always)]
    pub fn make(self, name: u32) -> (Sym, u32) {
        let (shndx, extended) = self.section.encode();
        (Sym::make(name, self.binding << 4 | self.kind, self.other, shndx, self.value, self.size), extended)
    }
}

/// The bit of `st_other` that says that a function uses more registers than others, if a definition or a
/// reference has it.
pub fn variant_calls(resolved: &Resolved, machine: &Facts, id: SymbolId) -> u8 {
    let Some(variant) = &machine.variant_calls else { return 0 };
    let entry = resolved.names.get(id);
    // What an object defines or mentions has told it to the name; what a shared object defines is asked.
    let in_library = || {
        let index = *resolved.index_of_file.get(entry.file().index())?;
        let library = resolved.shared.get(index as usize).filter(|l| l.file == entry.file())?;
        Some(library.syms.get(entry.sym() as usize)?.st_other() & variant.other != 0)
    };
    let marked = entry.flags & flag::VARIANT_CALLS != 0 || in_library().unwrap_or(false);
    if marked { variant.other } else { 0 }
}

impl Image<'_, '_> {
    /// Symbol `index` of an object, a local one.
    #[inline(always)]
    pub fn local_record(&self, object: &Object, index: u32, symbol: &Sym) -> Record {
        let address = self.local_place(object, index, 0).address;
        let tls = symbol.kind() == STT_TLS;
        let mut size = symbol.st_size();
        let section = match object.place(index, symbol) {
            SymbolPlace::Section(shndx) => {
                let id = SectionId(object.section_base + shndx);
                size = self.sections.output_size(id, symbol.st_value(), size);
                self.out_of(self.sections.get(id))
                    .map_or(InSection::UNDEFINED, |out| InSection::Defined(out.header()))
            }
            _ => InSection::Reserved(symbol.st_shndx()),
        };
        Record {
            binding: STB_LOCAL,
            kind: symbol.kind(),
            other: symbol.st_other() | self.implied_other(object, symbol),
            value: if tls { address.wrapping_sub(self.bases.tls_start) } else { address.get() },
            size,
            section,
        }
    }

    /// `-r`: the bits of `st_other` that `e_flags` of an object imply for its function: those of the output may
    /// not.
    #[inline(always)]
    fn implied_other(&self, object: &Object, symbol: &Sym) -> u8 {
        if self.joined.is_none() || symbol.kind() != STT_FUNC {
            return 0;
        }
        self.mode.facts().function_other.map_or(0, |implied| implied(object.flags, symbol.st_other()))
    }

    /// A name that `definition`, a symbol of an object, defines.
    #[inline(always)]
    pub fn global_record(&self, id: SymbolId, definition: &Sym) -> Record {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        let (value, section) = self.global_place(symbol);
        let (mut kind, mut size) = (definition.kind(), definition.st_size());
        match kind {
            STT_COMMON => kind = STT_OBJECT,
            STT_GNU_IFUNC if Image::is_known_by_plt(flags) => (kind, size) = (STT_FUNC, 0),
            _ if flags & symbol_flags::KIND == symbol_flags::DEFINED => {
                size = self.sections.output_size(SectionId(symbol.section), definition.st_value(), size);
            }
            _ => {}
        }
        if matches!(flags & symbol_flags::KIND, symbol_flags::COMMON | symbol_flags::UNDEFINED) {
            match self.kept_record(id, definition) {
                Some(record) => return record,
                None => size = self.symbol_size(id).unwrap_or(size),
            }
        }
        let binding = match definition.binding() {
            STB_GNU_UNIQUE if !self.options.symbols.gnu_unique => STB_GLOBAL,
            binding => binding,
        };
        let mut other = definition.st_other();
        if self.joined.is_some() && self.mode.facts().function_other.is_some() {
            other |= self.definition(id).map_or(0, |(symbol, object)| self.implied_other(object, symbol));
        }
        if flags & (symbol_flags::HIDDEN | symbol_flags::PROTECTED) != 0 {
            other = self.united(id, other, flags);
        }
        Record { binding, kind, other, value, size, section }
    }

    /// `-r`: a name that the output does not define, and a common symbol that stays one.
    #[cold]
    fn kept_record(&self, id: SymbolId, symbol: &Sym) -> Option<Record> {
        let joined = self.joined?;
        let entry = self.resolved.names.get(id);
        let flags = self.symbols[id].flags();
        let other = self.united(id, symbol.st_other(), flags);
        let (mut kind, mut binding) = (symbol.kind(), symbol.binding());
        if flags & symbol_flags::KIND == symbol_flags::COMMON {
            match self.options.symbols.common_type {
                Some(true) if kind == STT_OBJECT => kind = STT_COMMON,
                Some(false) if kind == STT_COMMON => kind = STT_OBJECT,
                _ => {}
            }
            if self.symbols[id].section != u32::MAX {
                return None;
            }
            let common = joined.commons.get(&id).map(|common| (common.align, common.size));
            let (value, size) = common.unwrap_or((symbol.st_value(), symbol.st_size()));
            if binding == STB_GNU_UNIQUE && !self.options.symbols.gnu_unique {
                binding = STB_GLOBAL;
            }
            let section = InSection::Reserved(symbol.st_shndx());
            return Some(Record { binding, kind, other, value, size, section });
        }
        // A definition that was discarded leaves a reference behind that insists on another one.
        let lost = symbol_flags::IN_DISCARDED | symbol_flags::USED_STRONG;
        let strong = entry.flags & (flag::REF_STRONG | flag::ROOT) != 0 || flags & lost == lost;
        let binding = if strong { STB_GLOBAL } else { STB_WEAK };
        Some(Record { binding, kind, other, value: 0, size: 0, section: InSection::UNDEFINED })
    }

    /// A name that no object defines: the linker's own, another module's, or nobody's.
    pub fn made_record(&self, id: SymbolId) -> Record {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        let shared = self.shared_symbol(id);
        let kind = match shared.map(|s| s.kind()) {
            Some(STT_GNU_IFUNC) => STT_FUNC,
            Some(kind) => kind,
            None => self.made_type(id),
        };
        if let (Some(copied), true) = (shared, flags & symbol_flags::NEEDS_COPY != 0) {
            let (value, section) = self.global_place(symbol);
            let (binding, size) = (copied.binding(), copied.st_size());
            return Record { binding, kind, other: STV_DEFAULT, value, size, section };
        }
        // A strong reference in what gc removed must not make the loader insist on a definition.
        let weak = flags & strong_use(self.options.sections.gc_sections) == 0;
        let (weak, undefined) = match flags & symbol_flags::KIND {
            symbol_flags::UNDEFINED => (weak || flags & symbol_flags::WEAK_UNDEFINED != 0, true),
            kind => (weak && kind == symbol_flags::SHARED, kind == symbol_flags::SHARED),
        };
        let (value, section) = match undefined {
            true if flags & symbol_flags::NEEDS_CANONICAL_PLT != 0 => {
                (symbol.address().get(), InSection::UNDEFINED)
            }
            true => (0, InSection::UNDEFINED),
            false => self.made_place(id, symbol),
        };
        // How its own library protects it is not said of a reference.
        let other = if shared.is_some() { STV_DEFAULT } else { self.united(id, STV_DEFAULT, flags) };
        let other = other | variant_calls(self.resolved, self.mode.facts(), id);
        // The loader takes the value for the address only if it is said that it is one.
        let stands_in = undefined && flags & symbol_flags::NEEDS_CANONICAL_PLT != 0;
        let other = if stands_in { other | self.stand_in_other(value) } else { other };
        let binding = if weak { STB_WEAK } else { STB_GLOBAL };
        Record { binding, kind, other, value, size: 0, section }
    }

    /// What `st_other` says of an entry of the PLT at an address that stands in for a function elsewhere.
    fn stand_in_other(&self, address: u64) -> u8 {
        let machine = self.mode.facts();
        let set = machine.second_set().map_or(0, |second| if address & 1 != 0 { second.other } else { 0 });
        machine.stand_in_other | set
    }

    /// The value and section of a name that the linker defines. With `-r` it lies where what it stands for
    /// does.
    fn made_place(&self, id: SymbolId, symbol: &Symbol) -> (u64, InSection) {
        let Some(joined) = self.joined else { return self.global_place(symbol) };
        let script = self.layout.script.as_ref().filter(|_| symbol.kind() == symbol_flags::INTERNAL);
        let said = script.and_then(|script| script.section_of(script.assigned(symbol.section)?));
        let said = said.map(|out| out.header());
        let alias = || joined.aliases.get(&id).and_then(|other| self.output_index(&self.symbols[*other]));
        (symbol.offset(), said.or_else(alias).map_or(InSection::ABSOLUTE, InSection::Defined))
    }

    /// The value and section of a name that this output defines.
    #[inline(always)]
    fn global_place(&self, symbol: &Symbol) -> (u64, InSection) {
        let address = symbol.address();
        let value = if symbol.has(symbol_flags::TLS) {
            address.wrapping_sub(self.bases.tls_start)
        } else {
            address.get()
        };
        (value, self.output_index(symbol).map_or(InSection::ABSOLUTE, InSection::Defined))
    }

    /// `st_other` of a definition, with the visibility that all files together ask for.
    #[inline(never)]
    fn united(&self, id: SymbolId, other: u8, flags: u32) -> u8 {
        let stricter = match other & 3 {
            _ if self.resolved.names.get(id).flags & flag::VIS_INTERNAL != 0 => STV_INTERNAL,
            STV_HIDDEN | STV_INTERNAL => return other,
            _ if flags & symbol_flags::HIDDEN != 0 => STV_HIDDEN,
            _ if flags & symbol_flags::PROTECTED != 0 => STV_PROTECTED,
            own => own,
        };
        other & !3 | stricter
    }
}
