//! What is said of the relocations of a joined object's inputs, and what becomes of the bytes at their
//! places.
//!
//! Relocations move with their sections as those that `--emit-relocs` keeps do (`synth::emitted_relocs`). But
//! they will be applied yet, so they have to be sound. Nothing is computed here: the places of relocations
//! keep their bytes, unless addends are stored there and change, or what a relocation refers to is gone: in
//! debug sections they then say what a final link would make them say.

use weld_common::diag::Cause;

use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::is_sframe;
use crate::synth::emitted_relocs::Mover;
use crate::synth::image::Image;

/// An input section whose relocations are kept.
pub struct Site<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub object: &'c Object<'a>,
    pub number: ObjectId,
    pub shndx: u32,
}

impl Site<'_, '_, '_> {
    /// Says what is wrong with a relocation, and with what it refers to. `gone`: nothing is left of that.
    pub fn check(&self, reloc: &Rela, gone: bool) {
        let section = self.image.sections.get(SectionId(self.object.section_base + self.shndx));
        let machine = self.object.machine;
        let end = reloc.r_offset().checked_add(machine.width(reloc.kind()) as u64);
        if end.is_none_or(|end| end > section.size) {
            self.error(Cause::MalformedRelocation, reloc, "lies outside its section");
        }
        if machine.class(reloc.kind()) == Class::Unknown {
            self.error(Cause::UnsupportedRelocation, reloc, "is not supported");
        }
        let local = reloc.sym() < self.object.first_global;
        if reloc.sym() != 0 && (gone || local) {
            self.check_symbol(reloc);
        }
        if gone && self.is_strict() {
            self.error(Cause::DiscardedSymbol, reloc, "refers to a section that is discarded");
        }
    }

    /// Whether the section must not refer to what is gone. Frames and exception tables of dropped
    /// functions may, and so may everything that is not in memory.
    fn is_strict(&self) -> bool {
        let name = self.object.section_name(self.shndx as usize).unwrap_or(b"");
        let shdr = &self.object.shdrs[self.shndx as usize];
        let tolerant = name == b".eh_frame"
            || name.starts_with(b".gcc_except_table")
            || is_sframe(name, shdr)
            || self.object.machine.keeps_words(name);
        shdr.sh_flags() & SHF_ALLOC != 0 && !tolerant
    }

    fn check_symbol(&self, reloc: &Rela) {
        let (object, index) = (self.object, reloc.sym());
        let Some(symbol) = object.syms.get(index as usize) else {
            return self.error(
                Cause::MalformedRelocation,
                reloc,
                &format!("has a bad symbol index: {index}"),
            );
        };
        if index >= object.first_global {
            return;
        }
        let nowhere = match object.place(index, symbol) {
            SymbolPlace::Section(s) => s as usize >= object.shdrs.len(),
            place => place != SymbolPlace::Absolute,
        };
        let wrong = match nowhere {
            true => Some(object.misplaced(index, symbol).to_string()),
            false => object.wrong_local(index, symbol),
        };
        if let Some(wrong) = wrong {
            self.error(
                Cause::MalformedRelocation,
                reloc,
                &format!("refers to a symbol that cannot be: {wrong}"),
            );
        }
    }

    /// Changes the bytes at the places of `relocs`: `out` is the section from `start` on.
    pub fn settle(&self, mover: &Mover, relocs: &[Rela], tombstone: u64, start: u64, out: &mut [u8]) {
        let (machine, format) = (self.object.machine, self.object.format());
        for reloc in relocs {
            let width = machine.width(reloc.kind());
            let at = usize::try_from(reloc.r_offset().wrapping_sub(start)).ok();
            let Some(bytes) = at.and_then(|at| out.get_mut(at..at.checked_add(width)?)) else { continue };
            match (mover.target(self.number, self.object, reloc), machine.implicit_addend) {
                (None, _) => format.put(bytes, tombstone),
                (Some((_, addend)), Some(read))
                    if addend != reloc.r_addend()
                        || machine.settle_joined.is_some() && read(reloc.kind(), bytes) != Some(addend) =>
                {
                    match machine.store_addend {
                        Some(store) => store(reloc.kind(), bytes, addend),
                        None => format.put(bytes, addend as u64),
                    }
                    let kept = read(reloc.kind(), bytes);
                    // Words wrap around, as addresses do.
                    let wraps = width as u64 == format.word()
                        && kept.is_some_and(|kept| kept.wrapping_sub(addend) as u32 == 0);
                    let half = kept.is_some_and(|kept| machine.has_half(reloc.kind(), kept, addend));
                    if kept != Some(addend) && !wraps && !half {
                        self.error(
                            Cause::RelocationOutOfRange,
                            reloc,
                            &format!("has no room for its new addend {addend:#x}"),
                        );
                    }
                }
                _ => {}
            }
        }
    }

    #[cold]
    pub fn error(&self, cause: Cause, reloc: &Rela, message: &str) {
        let text = format!("{} {message}", self.object.machine.type_name(reloc.kind()));
        self.image
            .sink
            .push(self.object.at_byte(self.shndx, reloc.r_offset()).error(cause, text).tolerable());
    }
}
