//! The finished plan of an output, as its writers see it: everything has its address.

use weld_common::diag::DiagSink;
use weld_common::merge::Pieces;

use crate::address::Address;
use crate::arch::facts::DynamicTypes;
use crate::arch::plt;
use crate::arch::site::ResolvedAddress;
use crate::elf::*;
use crate::got_plt_slots::{NONE, Slot, Slots};
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::layout::addresses::Bases;
use crate::layout::{ChunkKind, Layout, MergedPart};
use crate::live::dyn_relocs::DynReloc;
use crate::live::{Live, is_local_slot};
use crate::mode::Mode;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{InputSection, SectionKind, Sections};
use crate::symbols::Symbol;
use crate::symbols::tagged::Tagged;
use crate::symbols::{Symbols, symbol_flags, symbol_type};
use crate::synth::dynsym::DynSym;
use crate::synth::further_gots::FurtherGots;
use crate::synth::joined::Joined;
use crate::synth::thunks::Thunks;
use crate::synth::toc_words;
use crate::wording::shown;

#[derive(Clone, Copy)]
pub struct Image<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub slots: &'c Slots,
    pub dynsym: Option<&'c DynSym>,
    pub layout: &'c Layout<'a>,
    pub merged: &'c [MergedPart<'a>],
    /// What branches go through that do not reach.
    pub thunks: &'c Thunks,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub mode: Mode,
    pub bases: Bases,
    pub relax_got: bool,
    /// Where the register for data points, if code may count from there.
    pub pointer: Option<Address>,
    pub plt: plt::Style,
    /// Whether relative relocations are packed, so that their addends lie in the section.
    pub relr: bool,
    /// How dynamic relocations are stored.
    pub reloc_form: RelocForm,
    /// Variables that have tags.
    pub tagged: Option<&'c Tagged>,
    /// Pointers to be signed that are not packed, though others are, in order.
    pub far: &'c [DynReloc],
    /// What the words of the first GOT hold to which loaders only add, in order.
    pub local_words: &'c [u64],
    pub further_gots: Option<&'c FurtherGots>,
    /// By object the words beside the GOT that need not be loaded.
    pub toc_words: &'c [toc_words::Words],
    /// `-r`: how the inputs are joined.
    pub joined: Option<&'c Joined>,
}

impl<'a> Image<'_, 'a> {
    /// The form of the output.
    #[inline]
    pub fn format(&self) -> Format {
        self.layout.format
    }

    /// The address of byte `offset` of a merge section.
    pub fn merged_address(&self, section: &InputSection, offset: u64) -> Option<Address> {
        let (part, input) = section.merged();
        let part = &self.merged[part];
        let at = part.merged.output_offset(input, offset)?;
        Some(self.layout.chunks[part.chunk.index()].address() + at)
    }

    /// The pieces of a merge section, and the address from which their positions count.
    pub fn pieces(&self, section: &InputSection) -> (Pieces<'_>, Address) {
        let (part, input) = section.merged();
        let part = &self.merged[part];
        let pieces = part.merged.pieces(input);
        (pieces, self.layout.chunks[part.chunk.index()].address())
    }

    /// Where symbol `index` of an object is, for a relocation with `addend`.
    #[inline(always)]
    pub fn place(&self, object: &Object, index: u32, addend: i64) -> ResolvedAddress {
        if index >= object.first_global && (index as usize) < object.syms.len() {
            let id = object.global(index);
            let symbol = &self.symbols[id];
            let flags = symbol.flags();
            let dead = flags & symbol_flags::KIND == symbol_flags::DEFINED
                && !self.live.contains(SectionId(symbol.section))
                || flags & symbol_flags::IN_DISCARDED != 0;
            return ResolvedAddress { address: symbol.address(), addend, flags, dead };
        }
        self.local_place(object, index, addend)
    }

    #[inline(always)]
    pub fn local_place(&self, object: &Object, index: u32, addend: i64) -> ResolvedAddress {
        let Some(symbol) = object.syms.get(index as usize) else {
            return ResolvedAddress {
                address: Address::ZERO,
                addend,
                flags: symbol_flags::ABSOLUTE,
                dead: false,
            };
        };
        let flags = match symbol.kind() {
            STT_TLS => symbol_flags::TLS,
            STT_GNU_IFUNC => symbol_flags::IFUNC,
            _ => 0,
        };
        let value = symbol.st_value();
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let id = SectionId(object.section_base + shndx);
                let section = self.sections.get(id);
                let flags = flags | symbol_flags::DEFINED;
                if !section.in_image() || !self.live.contains(id) {
                    return ResolvedAddress { address: Address::ZERO, addend, flags, dead: true };
                }
                match section.kind() {
                    SectionKind::Merge
                    | SectionKind::EhFrame
                    | SectionKind::Reversed
                    | SectionKind::Shrunk
                    | SectionKind::Folded => self.local_in_moved(id, symbol, addend, flags),
                    _ => ResolvedAddress {
                        address: section.address().wrapping_add(value),
                        addend,
                        flags,
                        dead: false,
                    },
                }
            }
            _ => ResolvedAddress {
                address: Address::new(value),
                addend,
                flags: flags | symbol_flags::ABSOLUTE,
                dead: false,
            },
        }
    }

    /// The address of byte `offset` of a section of the image, whatever became of its bytes. `None` if that
    /// is nowhere.
    pub fn address_in(&self, id: SectionId, offset: u64) -> Option<Address> {
        let section = self.sections.get(id);
        match section.kind() {
            SectionKind::Merge => self.merged_address(section, offset).filter(|_| offset < section.size),
            // Its records have moved apart; what names the section means its start.
            SectionKind::EhFrame => Some(self.layout.chunk_address(ChunkKind::EhFrame)),
            _ => Some(self.sections.address_of(id, offset)),
        }
    }

    fn local_in_moved(&self, id: SectionId, symbol: &Sym, addend: i64, flags: u32) -> ResolvedAddress {
        // The addend of a section symbol says which byte is meant; that of any other is applied to it.
        let by_section = symbol.kind() == STT_SECTION && self.sections.get(id).kind() != SectionKind::EhFrame;
        let offset =
            if by_section { symbol.st_value().wrapping_add(addend as u64) } else { symbol.st_value() };
        match self.address_in(id, offset) {
            Some(address) => {
                ResolvedAddress { address, addend: if by_section { 0 } else { addend }, flags, dead: false }
            }
            None => ResolvedAddress {
                address: Address::ZERO,
                addend,
                flags: flags | symbol_flags::OUTSIDE,
                dead: true,
            },
        }
    }

    pub fn slot(&self, object: ObjectId, index: u32) -> Option<&Slot> {
        let o = &self.resolved.objects[object.index()];
        if index >= o.first_global && (index as usize) < o.syms.len() {
            return self.slots.of_symbol(o.global(index));
        }
        self.slots.of_local(object, index)
    }

    /// The number of that slot.
    pub fn slot_number(&self, object: ObjectId, index: u32) -> Option<u32> {
        let o = &self.resolved.objects[object.index()];
        let number = match index >= o.first_global && (index as usize) < o.syms.len() {
            true => self.slots.position(o.global(index)),
            false => self.slots.position_of_local(object, index),
        };
        number.map(|number| number as u32)
    }

    /// The word of the GOT that holds what a relocation asks for by its address, or by the page that that is
    /// near, if it is one of those to which loaders only add.
    pub fn local_slot(&self, object: ObjectId, reloc: &Rela, page: bool) -> Option<Address> {
        let got = self.mode.facts().loader_got.as_ref()?;
        let (flags, value) = self.local_word(object, reloc, page)?;
        if !is_local_slot(&self.mode, flags) {
            return None;
        }
        self.word_with(object, got, value)
    }

    /// Whether a relocation asks for such a word.
    pub fn is_found_by_value(&self, object: ObjectId, reloc: &Rela) -> bool {
        self.local_word(object, reloc, false).is_some_and(|(flags, _)| is_local_slot(&self.mode, flags))
    }

    /// The flags of what a relocation refers to, and its address, or the page that that is near.
    pub fn local_word(&self, object: ObjectId, reloc: &Rela, page: bool) -> Option<(u32, u64)> {
        let got = self.mode.facts().loader_got.as_ref()?;
        let object = self.resolved.objects.get(object.index())?;
        let place = self.place(object, reloc.sym(), reloc.r_addend());
        let value = place.address.wrapping_add(place.addend as u64).get();
        let value = if page { (got.page)(value) } else { value };
        Some((place.flags, value & self.format().max_address()))
    }

    /// Whether nothing here stands for a symbol with these flags, whose word in the GOT the loader finds out
    /// for itself.
    pub fn is_elsewhere(&self, flags: u32) -> bool {
        const HERE: u32 = symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT;
        self.mode.facts().loader_got.is_some()
            && flags & symbol_flags::PREEMPTIBLE != 0
            && matches!(flags & symbol_flags::KIND, symbol_flags::SHARED | symbol_flags::UNDEFINED)
            && flags & HERE == 0
    }

    /// The types of relocations for the loader.
    pub fn types(&self) -> &'static DynamicTypes {
        &self.mode.facts().dynamic
    }

    /// Address of word `word` of the GOT.
    pub fn got_address(&self, word: u32) -> Option<Address> {
        (word != NONE).then_some(self.bases.got + self.bases.slot * word as u64)
    }

    /// Address of the slot with a symbol's address: that of its PLT entry for an IFUNC without one of its
    /// own.
    pub fn address_slot(&self, slot: &Slot) -> Option<Address> {
        let of_entry = slot.plt != NONE && slot.plt >= self.slots.jump_slots;
        self.got_address(slot.got).or_else(|| of_entry.then(|| self.got_plt_address(slot.plt)))
    }

    /// Address of the entry that calls through `.got.plt`.
    pub fn plt_address(&self, entry: u32) -> Address {
        self.bases.plt_entry(self.mode.facts(), self.slots.jump_slots, self.plt, entry)
    }

    /// Address of the word of `.got.plt` that PLT entry `entry` jumps through.
    pub fn got_plt_address(&self, entry: u32) -> Address {
        let words = self.mode.facts().plt.descriptor_words;
        let word = self
            .slots
            .reserved
            .wrapping_add(words.wrapping_mul(u64::from(entry).wrapping_sub(self.slots.without_words.into())));
        self.bases.got_plt.wrapping_add(self.bases.slot.wrapping_mul(word))
    }

    /// The address by which a function is known that PLT entry `entry` stands for.
    pub fn stand_in_address(&self, entry: u32) -> Address {
        match self.mode.facts().plt.descriptor_words {
            1 => self.plt_address(entry),
            _ => self.got_plt_address(entry),
        }
    }

    /// The address of the function that chooses what PLT entry `entry`, one of an IFUNC of this output, jumps
    /// to.
    pub fn resolver(&self, entry: u32) -> Address {
        let slot = &self.slots.list[self.slots.plt[entry as usize] as usize];
        match slot.local {
            Some((object, index)) => {
                self.local_place(&self.resolved.objects[object.index()], index, 0).address
            }
            None => slot.definition,
        }
    }

    /// The address by which a slot's symbol is known (that of its PLT entry for an IFUNC), and its flags.
    pub fn slot_address(&self, slot: &Slot) -> (Address, u32) {
        let Some((object, index)) = slot.local else {
            let symbol = &self.symbols[slot.id];
            return (symbol.address(), symbol.flags());
        };
        let object = &self.resolved.objects[object.index()];
        let place = self.local_place(object, index, 0);
        let ifunc = place.flags & symbol_flags::IFUNC != 0 && slot.plt != NONE;
        (if ifunc { self.stand_in_address(slot.plt) } else { place.address }, place.flags)
    }
}

impl<'a> Image<'_, 'a> {
    /// The symbol-table entry that defines a name, and its object.
    pub fn definition(&self, id: SymbolId) -> Option<(&'a Sym, &Object<'a>)> {
        let kind = self.symbols[id].kind();
        if !matches!(kind, symbol_flags::DEFINED | symbol_flags::ABSOLUTE | symbol_flags::COMMON) {
            return None;
        }
        let entry = self.resolved.names.get(id);
        let index = *self.resolved.index_of_file.get(entry.file().index())?;
        let object = self.resolved.objects.get(index as usize)?;
        Some((object.syms.get(entry.sym() as usize)?, object))
    }

    /// Index in `.dynsym` of symbol `index` of an object; 0 if it has none.
    pub fn dynsym_index(&self, object: &Object, index: u32) -> u32 {
        if index < object.first_global || index as usize >= object.syms.len() {
            return 0;
        }
        self.dynsym.map_or(0, |d| d.index(object.global(index)))
    }

    /// The name of a symbol for messages: demangled, or that of the section it stands for.
    pub fn describe_symbol(&self, object: &Object, index: u32) -> String {
        let name = object.symbol_name(index);
        if !name.is_empty() {
            return shown(self.options, name).into_owned();
        }
        match object.syms.get(index as usize).map(|s| object.place(index, s)) {
            Some(SymbolPlace::Section(shndx)) => object.section_label(shndx as usize),
            _ => "(no symbol)".into(),
        }
    }

    /// The file that defines symbol `index` of `object`, for messages.
    pub fn definer(&self, object: &Object, index: u32) -> Option<String> {
        if index < object.first_global || index as usize >= object.syms.len() {
            return None;
        }
        self.definer_of(object.global(index))
    }

    /// The file that defines a name, for messages.
    pub fn definer_of(&self, id: SymbolId) -> Option<String> {
        if let Some((_, definer)) = self.definition(id) {
            return Some(definer.name.to_string());
        }
        let entry = self.resolved.names.get(id);
        let index = *self.resolved.index_of_file.get(entry.file().index())?;
        let shared = self.symbols[id].kind() == symbol_flags::SHARED;
        self.resolved.shared.get(index as usize).filter(|_| shared).map(|d| d.name.to_string())
    }
}

impl<'a> Image<'_, 'a> {
    /// Whether a PLT entry stands for an IFUNC of this output, which then is a plain function. One that is
    /// only called stays what it is.
    pub fn is_known_by_plt(flags: u32) -> bool {
        const HERE: u32 = symbol_flags::IFUNC | symbol_flags::NEEDS_CANONICAL_PLT;
        flags & (HERE | symbol_flags::PREEMPTIBLE) == HERE
    }

    /// The output section that a section of the image lies in.
    pub fn out_of(&self, section: &InputSection) -> Option<OutputSectionId> {
        match section.kind() {
            SectionKind::EhFrame => self.layout.chunk(ChunkKind::EhFrame).map(|c| c.out),
            _ => self.layout.out_of(section.bin()),
        }
    }

    /// The symbol-table type of a name that no object defines.
    pub fn made_type(&self, id: SymbolId) -> u8 {
        let flags = self.symbols[id].flags();
        let alias = flags & symbol_flags::KIND == symbol_flags::INTERNAL && flags & symbol_flags::IFUNC != 0;
        if alias && !Image::is_known_by_plt(flags) { STT_GNU_IFUNC } else { symbol_type(flags) }
    }

    /// The section header index of what defines a name; `None` for absolute values.
    #[inline(always)]
    pub fn output_index(&self, symbol: &Symbol) -> Option<HeaderIndex> {
        match symbol.kind() {
            symbol_flags::DEFINED if !Image::is_known_by_plt(symbol.flags()) => {
                self.out_of(self.sections.get(SectionId(symbol.section))).map(|out| out.header())
            }
            _ => self.index_of_made(symbol),
        }
    }

    /// As [`Self::output_index`], for what lies in no input section.
    #[inline(never)]
    fn index_of_made(&self, symbol: &Symbol) -> Option<HeaderIndex> {
        let of_chunk = |kind: ChunkKind| self.layout.chunk(kind).map(|c| c.out.header());
        if Image::is_known_by_plt(symbol.flags()) {
            let descriptors = self.mode.facts().plt.descriptor_words > 1;
            return of_chunk(if descriptors { ChunkKind::GotPlt } else { ChunkKind::Iplt });
        }
        match symbol.kind() {
            symbol_flags::COMMON => of_chunk(ChunkKind::Common(symbol.section)),
            symbol_flags::SHARED if symbol.has(symbol_flags::NEEDS_COPY) => {
                let relro = self.layout.chunk(ChunkKind::CopyRelro);
                let inside = relro.filter(|c| symbol.address().wrapping_sub(c.address()) < c.size.max(1));
                inside.map(|c| c.out.header()).or_else(|| of_chunk(ChunkKind::CopyBss))
            }
            symbol_flags::INTERNAL => {
                let script = self.layout.script.as_ref();
                let value = script.and_then(|script| script.assigned(symbol.section));
                if value.is_some_and(|value| value.is_fixed()) {
                    return None;
                }
                let said = script.zip(value).and_then(|(script, value)| script.section_of(value));
                let bound = || self.layout.bounds.get(symbol.section as usize).copied().flatten();
                let out = said.or_else(bound).or_else(|| self.layout.section_at(symbol.address()));
                Some(out.unwrap_or(OutputSectionId(0)).header())
            }
            _ => None,
        }
    }

    /// The size of what defines a name, as other modules and debuggers should see it.
    #[cold]
    #[inline(never)]
    pub fn symbol_size(&self, id: SymbolId) -> Option<u64> {
        let symbol = self.definition(id).map(|d| d.0).or_else(|| self.shared_symbol(id))?;
        let grown = match self.symbols[id].kind() == symbol_flags::COMMON {
            true => self.resolved.grown.get(&id).map_or(0, |grown| grown.size),
            false => 0,
        };
        Some(symbol.st_size().max(grown))
    }

    /// The entry in its shared object's symbol table of a name that one defines.
    pub fn shared_symbol(&self, id: SymbolId) -> Option<&'a Sym> {
        if self.symbols[id].kind() != symbol_flags::SHARED {
            return None;
        }
        let entry = self.resolved.names.get(id);
        let index = *self.resolved.index_of_file.get(entry.file().index())?;
        self.resolved.shared.get(index as usize)?.syms.get(entry.sym() as usize)
    }
}
