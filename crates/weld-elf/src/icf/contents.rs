//! What a section is made of, as folding sees it: bytes, and relocations with what they lead to.
//!
//! Beside the section's own bytes that is how it is unwound: the frames of `.eh_frame` that describe it, with
//! their CIEs (and so the personality routine) and the exception table that they name; on ARM, the tables of
//! `.ARM.exidx` and what they lead to. Of two functions that are the same in all this, one can stand for both,
//! also when an exception passes through it.
//!
//! This file alone knows how objects, relocations and symbols are stored.

use memchr::{memchr, memrchr};
use weld_common::hash::{hash_bytes, join};

use super::Link;
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::SectionKind;
use crate::symbols::symbol_flags;

/// What a relocation leads to. Two that are equal are the same place in the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Destination<'a> {
    /// A name whose place is not known yet, or is that of another module.
    Symbol {
        id: SymbolId,
        addend: i64,
    },
    /// A local symbol that is more than a place: an IFUNC, or one whose size is asked for.
    Local {
        object: u32,
        index: u32,
        addend: i64,
    },
    Absolute {
        value: u64,
        addend: i64,
    },
    /// `value` counts from the start of the section, and has taken in the addend where it counts from the
    /// symbol.
    Section {
        section: SectionId,
        value: u64,
        addend: i64,
    },
    /// A string or constant, which is the same as all others of its text that are merged with it.
    Piece {
        merged: Merged,
        text: &'a [u8],
        at: u64,
        addend: i64,
    },
}

/// What is merged among itself: bin, entry size, whether they are strings, alignment.
pub type Merged = (PlacementId, u64, bool, u64);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Relocation<'a> {
    pub offset: u64,
    pub kind: u32,
    pub target: Destination<'a>,
}

/// A section that may be folded.
#[derive(Clone, Copy)]
pub struct Vertex {
    pub section: SectionId,
    pub object: u32,
    /// Its frames are `frames..frames_end` in the object's [`Frames`].
    pub frames: u32,
    pub frames_end: u32,
}

/// The FDEs of an object by the sections that they describe: header index, which `.eh_frame`, which record.
pub type Frames = Vec<(u32, u32, u32)>;

/// The parts of a section. To be used again for others.
#[derive(Default)]
pub struct Parts<'a> {
    pub bytes: Vec<&'a [u8]>,
    pub relocs: Vec<Relocation<'a>>,
}

/// Pieces of merged sections that are longer stay apart: each reference looks at the whole of one.
const LONGEST_PIECE: usize = 1 << 12;

/// Stands where the relocations of another frame or CIE begin.
const BORDER: u32 = u32::MAX;

impl<'a> Link<'_, 'a> {
    /// The bytes of a section.
    pub fn bytes(&self, object: &Object<'a>, section: SectionId) -> &'a [u8] {
        object.section_data((section.0 - object.section_base) as usize).unwrap_or(&[])
    }

    /// The number of relocations of a section.
    pub fn count_relocs(&self, object: usize, section: SectionId) -> usize {
        self.relocs(object, section).len()
    }

    fn relocs(&self, object: usize, section: SectionId) -> &[Rela] {
        self.sections.relocs(&self.objects[object], object, self.sections.get(section))
    }

    /// The frames of an object that describe sections for which `is_wanted`; sorted by section.
    pub fn frames(&self, index: usize, is_wanted: impl Fn(u32) -> bool) -> Frames {
        let object = &self.objects[index];
        let mut frames = Vec::new();
        for (number, (shndx, frame)) in self.sections.objects[index].eh_frames.iter().enumerate() {
            let relocs = self.relocs(index, SectionId(object.section_base + shndx));
            for (record, fde) in frame.fdes.iter().enumerate().filter(|(_, fde)| fde.n_relocs > 0) {
                let symbol = relocs[fde.first_reloc as usize].sym();
                let place = object.syms.get(symbol as usize).map(|s| object.place(symbol, s));
                if let Some(SymbolPlace::Section(function)) = place
                    && is_wanted(function)
                {
                    frames.push((function, number as u32, record as u32));
                }
            }
        }
        frames.sort_unstable();
        frames
    }

    /// Gathers what the section is made of.
    pub fn parts(&self, vertex: &Vertex, frames: &Frames, parts: &mut Parts<'a>) {
        parts.bytes.clear();
        parts.relocs.clear();
        let object = &self.objects[vertex.object as usize];
        parts.bytes.push(self.bytes(object, vertex.section));
        let relocs = self.relocs(vertex.object as usize, vertex.section).iter();
        let add = |reloc: &Rela| self.relocation(vertex.object, object, reloc, 0);
        parts.relocs.extend(relocs.map(add));
        for frame in &frames[vertex.frames as usize..vertex.frames_end as usize] {
            self.add_frame(vertex.object, frame.1, frame.2, parts);
        }
        if object.machine.code_index.is_some() {
            self.add_code_index(vertex, parts);
        }
    }

    /// Adds the tables of the section's functions that say how these are unwound (`.ARM.exidx`).
    fn add_code_index(&self, vertex: &Vertex, parts: &mut Parts<'a>) {
        let index = vertex.object as usize;
        let object = &self.objects[index];
        let (base, own) = (object.section_base, vertex.section.0 - object.section_base);
        let followers = &self.sections.objects[index].followers;
        let start = followers.partition_point(|follower| follower.0 < own);
        let mine = followers[start..].iter().take_while(|follower| follower.0 == own);
        let tables = mine.map(|follower| SectionId(base + follower.1));
        for table in tables.filter(|table| self.sections.get(*table).kind() == SectionKind::CodeIndex) {
            parts.bytes.push(self.bytes(object, table));
            let border = Destination::Absolute { value: 0, addend: 0 };
            parts.relocs.push(Relocation { offset: 0, kind: BORDER, target: border });
            for reloc in self.relocs(index, table) {
                let mut one = self.relocation(vertex.object, object, reloc, 0);
                // Of the section itself it matters only where in it a function starts.
                if let Destination::Section { section, value, addend } = one.target
                    && section == vertex.section
                {
                    one.target = Destination::Absolute { value, addend };
                }
                parts.relocs.push(one);
            }
        }
    }

    fn add_frame(&self, index: u32, number: u32, record: u32, parts: &mut Parts<'a>) {
        let object = &self.objects[index as usize];
        let (shndx, frame) = &self.sections.objects[index as usize].eh_frames[number as usize];
        let section = SectionId(object.section_base + shndx);
        let (data, all) = (self.bytes(object, section), self.relocs(index as usize, section));
        let slice = |offset: u32, size: u32| &data[offset as usize..(offset + size) as usize];
        let relocs = |first: u32, count: u32| &all[first as usize..(first + count) as usize];
        let border = |value: u64| Relocation {
            offset: 0,
            kind: BORDER,
            target: Destination::Absolute { value, addend: 0 },
        };
        let fde = &frame.fdes[record as usize];
        let cie = &frame.cies[fde.cie as usize];
        // After the length and the distance of the CIE, without the zeros (DW_CFA_nop) that fill it up.
        let record = &slice(fde.offset, fde.size)[8..];
        let end = record.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        parts.bytes.push(&record[..end]);
        parts.bytes.push(slice(cie.offset, cie.size));
        let (function, others) = match relocs(fde.first_reloc, fde.n_relocs) {
            [function, others @ ..] => (function, others),
            [] => return,
        };
        // Of the function itself it matters only where in its section it starts.
        let start = object.syms.get(function.sym() as usize).map_or(0, |symbol| symbol.st_value());
        parts.relocs.push(border(start.wrapping_add(function.r_addend() as u64)));
        let of_fde = |reloc| self.relocation(index, object, reloc, fde.offset);
        parts.relocs.extend(others.iter().map(of_fde));
        parts.relocs.push(border(0));
        let of_cie = |reloc| self.relocation(index, object, reloc, cie.offset);
        parts.relocs.extend(relocs(cie.first_reloc, cie.n_relocs).iter().map(of_cie));
    }

    #[inline]
    fn relocation(&self, index: u32, object: &Object<'a>, reloc: &Rela, start: u32) -> Relocation<'a> {
        let target = self.target(index, object, reloc);
        Relocation { offset: reloc.r_offset().wrapping_sub(u64::from(start)), kind: reloc.kind(), target }
    }

    fn target(&self, index: u32, object: &Object<'a>, reloc: &Rela) -> Destination<'a> {
        let (symbol, addend) = (reloc.sym(), reloc.r_addend());
        let class = object.machine.class(reloc.kind());
        if symbol >= object.first_global && (symbol as usize) < object.syms.len() {
            let id = object.global(symbol);
            return self.global_target(id, class, addend);
        }
        let Some(record) = object.syms.get(symbol as usize) else {
            return Destination::Local { object: index, index: symbol, addend };
        };
        if class == Class::Size || record.kind() == STT_GNU_IFUNC {
            return Destination::Local { object: index, index: symbol, addend };
        }
        match object.place(symbol, record) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let section = SectionId(object.section_base + shndx);
                let by_section = record.kind() == STT_SECTION;
                self.place(section, record.st_value(), class, addend, by_section)
            }
            SymbolPlace::Absolute => absolute(class, record.st_value(), addend),
            _ => Destination::Local { object: index, index: symbol, addend },
        }
    }

    fn global_target(&self, id: SymbolId, class: Class, addend: i64) -> Destination<'a> {
        const OWN: u32 = symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC | symbol_flags::ASSIGNED;
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        match flags & symbol_flags::KIND {
            _ if flags & OWN != 0 || class == Class::Size => Destination::Symbol { id, addend },
            symbol_flags::DEFINED => {
                self.place(SectionId(symbol.section), symbol.offset(), class, addend, false)
            }
            symbol_flags::ABSOLUTE => absolute(class, symbol.constant(), addend),
            _ => Destination::Symbol { id, addend },
        }
    }

    #[inline]
    fn place(
        &self,
        section: SectionId,
        value: u64,
        class: Class,
        addend: i64,
        by_section: bool,
    ) -> Destination<'a> {
        if self.sections.get(section).kind() == SectionKind::Merge {
            // What a section's symbol leads to depends on the addend; that of others is added to their own
            // piece.
            let (value, addend) =
                if by_section { (value.wrapping_add(addend as u64), 0) } else { (value, addend) };
            return self.piece(section, value, addend);
        }
        match class.counts_from_symbol() {
            true => Destination::Section { section, value: value.wrapping_add(addend as u64), addend: 0 },
            false => Destination::Section { section, value, addend },
        }
    }

    fn piece(&self, section: SectionId, value: u64, addend: i64) -> Destination<'a> {
        let object = &self.objects[self.owners.object(section).index()];
        let shdr = &object.shdrs[(section.0 - object.section_base) as usize];
        let (data, size) = (self.bytes(object, section), shdr.sh_entsize());
        let strings = shdr.sh_flags() & SHF_STRINGS != 0;
        let range = match usize::try_from(value) {
            Ok(at) if at < data.len() && strings && size == 1 => string(data, at),
            Ok(at) if at < data.len() && !strings => constant(data, at, size as usize),
            _ => None,
        };
        // What is not found is like nothing else.
        let Some((start, end)) = range else { return Destination::Section { section, value, addend } };
        let input = self.sections.get(section);
        let merged = (input.bin(), size, strings, input.align());
        Destination::Piece { merged, text: &data[start..end], at: value - start as u64, addend }
    }
}

/// Where the string around `at` starts and ends.
fn string(data: &[u8], at: usize) -> Option<(usize, usize)> {
    let before = &data[at.saturating_sub(LONGEST_PIECE)..at];
    let start = match memrchr(0, before) {
        Some(end) => at - before.len() + end + 1,
        None if before.len() == at => 0,
        None => return None,
    };
    let rest = &data[at..data.len().min(at + LONGEST_PIECE)];
    Some((start, at + memchr(0, rest)?))
}

fn constant(data: &[u8], at: usize, size: usize) -> Option<(usize, usize)> {
    let start = at / size * size;
    let end = start.checked_add(size).filter(|end| *end <= data.len() && size <= LONGEST_PIECE)?;
    Some((start, end))
}

fn absolute<'a>(class: Class, value: u64, addend: i64) -> Destination<'a> {
    match class.counts_from_symbol() {
        true => Destination::Absolute { value: value.wrapping_add(addend as u64), addend: 0 },
        false => Destination::Absolute { value, addend },
    }
}

impl Relocation<'_> {
    /// The hash of everything but a section that `is_vertex`, of which more is known later.
    #[inline]
    pub fn hash(&self, is_vertex: bool) -> u64 {
        let hash = join(self.offset, u64::from(self.kind));
        match self.target {
            Destination::Symbol { id, addend } => join(join(hash, u64::from(id.0) << 3 | 1), addend as u64),
            Destination::Local { object, index, addend } => {
                join(join(hash, u64::from(object) << 32 | u64::from(index)), addend as u64 ^ 2)
            }
            Destination::Absolute { value, addend } => join(join(hash, value), addend as u64 ^ 3),
            Destination::Section { section, value, addend } => {
                let section = if is_vertex { u64::MAX } else { u64::from(section.0) };
                join(join(join(hash, section), value), addend as u64 ^ 4)
            }
            Destination::Piece { merged: (bin, size, ..), text, at, addend } => {
                let hash = join(join(hash, hash_bytes(text)), at << 24 ^ addend as u64);
                join(hash, u64::from(bin.0) << 32 ^ size)
            }
        }
    }

    /// Whether it is the same as another one, but for the sections that both lead to if these may be folded.
    pub fn is_like(&self, other: &Relocation, is_vertex: impl Fn(SectionId) -> bool) -> bool {
        use Destination::Section;
        let targets = match (self.target, other.target) {
            (
                Section { section: a, value: value_a, addend: addend_a },
                Section { section: b, value: value_b, addend: addend_b },
            ) if is_vertex(a) && is_vertex(b) => (value_a, addend_a) == (value_b, addend_b),
            (a, b) => a == b,
        };
        targets && (self.offset, self.kind) == (other.offset, other.kind)
    }
}
