//! Relocations of a joined object: those of its inputs, moved.
//!
//! A relocation's place moves with its section, its symbol gets its new index, and if that is a
//! section's symbol, the section's offset in the joined one goes into the addend. A relocation that
//! refers to something that is gone becomes one that computes nothing, which readers of `.eh_frame` know to mean a
//! function that is gone; in debug sections the bytes then say what a final link would make them say.

use weld_common::diag::Diagnostic;

use super::Plan;
use super::outs::NONE;
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};

/// What becomes of a relocation's symbol.
enum Mapped {
    To { sym: u32, addend: i64 },
    Gone,
}

/// An input section whose relocations are moved.
pub struct Site<'c, 'a> {
    pub plan: &'c Plan<'c, 'a>,
    pub object: &'c Object<'a>,
    pub number: ObjectId,
    pub shndx: u32,
}

impl<'c, 'a> Site<'c, 'a> {
    pub fn new(plan: &'c Plan<'c, 'a>, id: SectionId) -> Site<'c, 'a> {
        let objects = &plan.resolved.objects;
        let number = objects.partition_point(|o| o.section_base <= id.0) - 1;
        let object = &objects[number];
        Site { plan, object, number: ObjectId(number as u32), shndx: id.0 - object.section_base }
    }

    pub fn relocs(&self) -> &'c [Rela] {
        let sections = self.plan.sections;
        let section = sections.get(SectionId(self.object.section_base + self.shndx));
        sections.relocs(self.object, self.number.index(), section)
    }

    /// Writes the section's relocations; `out` has exactly their size.
    pub fn write(&self, out: &mut [u8]) {
        let section = self.plan.sections.get(SectionId(self.object.section_base + self.shndx));
        let (strict, machine) = (self.is_strict(), self.object.machine);
        let form = RelocForm { format: self.object.format(), addends: true };
        for (reloc, bytes) in self.relocs().iter().zip(out.chunks_exact_mut(form.size() as usize)) {
            let end = reloc.r_offset().checked_add(machine.width(reloc.kind()) as u64);
            if end.is_none_or(|end| end > section.size) {
                self.error(reloc, "lies outside its section");
            }
            if machine.class(reloc.kind()) == Class::Unknown {
                self.error(reloc, "is not supported");
            }
            let place = section.offset().wrapping_add(reloc.r_offset());
            let moved = match self.map(reloc) {
                Mapped::To { sym, addend } => Rela::make(place, sym, reloc.kind(), addend),
                Mapped::Gone => {
                    if strict {
                        self.error(reloc, "refers to a section that is discarded");
                    }
                    Rela::make(place, 0, machine.none, 0)
                }
            };
            form.put(&moved, bytes);
        }
    }

    /// Whether the section must not refer to what is gone. Frames and exception tables of dropped
    /// functions may, and so may everything that is not in memory.
    fn is_strict(&self) -> bool {
        let name = self.object.section_name(self.shndx as usize).unwrap_or(b"");
        let tolerant = name == b".eh_frame" || name.starts_with(b".gcc_except_table");
        self.object.shdrs[self.shndx as usize].sh_flags() & SHF_ALLOC != 0 && !tolerant
    }

    fn map(&self, reloc: &Rela) -> Mapped {
        let plan = self.plan;
        let index = reloc.sym();
        if index == 0 {
            return Mapped::To { sym: 0, addend: reloc.r_addend() };
        }
        let Some(symbol) = self.object.syms.get(index as usize) else {
            self.error(reloc, &format!("has a bad symbol index: {index}"));
            return Mapped::Gone;
        };
        if index < self.object.first_global
            && let Some(wrong) = self.wrong_local(index, symbol)
        {
            self.error(reloc, &format!("refers to a symbol that cannot be: {wrong}"));
            return Mapped::Gone;
        }
        let sym = plan.symtab.index((self.number, self.object), index, plan.outs);
        if sym == 0 {
            return Mapped::Gone;
        }
        let mut addend = reloc.r_addend();
        if index < self.object.first_global
            && symbol.kind() == STT_SECTION
            && let SymbolPlace::Section(s) = self.object.place(index, symbol)
        {
            let target = SectionId(self.object.section_base + s);
            debug_assert_ne!(plan.outs.of_section[target.index()], NONE);
            let start = plan.sections.get(target).offset();
            if start != 0 && !self.object.machine.class(reloc.kind()).counts_from_symbol() {
                self.error(reloc, "cannot refer to a section's symbol in the input of -r");
            }
            addend = addend.wrapping_add(start as i64).wrapping_add(symbol.st_value() as i64);
        }
        Mapped::To { sym, addend }
    }

    fn wrong_local(&self, index: u32, symbol: &Sym) -> Option<String> {
        let nowhere = match self.object.place(index, symbol) {
            SymbolPlace::Section(s) => s as usize >= self.object.shdrs.len(),
            place => place != SymbolPlace::Absolute,
        };
        if nowhere {
            return Some(self.object.misplaced(index, symbol));
        }
        self.object.wrong_local(index, symbol)
    }

    /// Gives the bytes of relocations that are dropped their last value.
    pub fn bury(&self, tombstone: u64, out: &mut [u8]) {
        for reloc in self.relocs() {
            let (at, size) = (reloc.r_offset() as usize, self.object.machine.width(reloc.kind()));
            if matches!(self.map(reloc), Mapped::Gone)
                && let Some(bytes) = at.checked_add(size).and_then(|end| out.get_mut(at..end))
            {
                self.object.format().put(bytes, tombstone);
            }
        }
    }

    #[cold]
    pub fn error(&self, reloc: &Rela, message: &str) {
        let section = self.object.section_label(self.shndx as usize);
        let place = format!("{}:({section}+{:#x})", self.object.name, reloc.r_offset());
        let text = format!("{place}: {} {message}", self.object.machine.type_name(reloc.kind()));
        let order = (self.object.file.0 as u64) << 32 | self.shndx as u64;
        self.plan.sink.push(Diagnostic::error(text).at(order));
    }
}
