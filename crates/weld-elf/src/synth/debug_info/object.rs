//! The debug sections of an object of the link, for the readers of debug information.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use weld_common::diag::Diagnostic;

use super::dwarf::{KINDS, Kind, Malformed, Pointer, Source};
use crate::arch::class::Class;
use crate::compressed;
use crate::elf::*;
use crate::ids::{ObjectId, SectionId};
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::sections::{ObjectSections, SectionKind, Sections};
use crate::wording::place;

/// The objects of a link, and which of their sections are in the output.
#[derive(Clone, Copy)]
pub struct Objects<'o, 'a> {
    pub list: &'o [Object<'a>],
    pub sections: &'o Sections<'a>,
    pub live: &'o Live,
}

/// The sections of an object that indexes are made from, in the order of the file.
#[derive(Default)]
pub struct Wanted {
    /// `.debug_info` and `.debug_types`, live ones.
    pub units: Vec<u32>,
    /// `.debug_gnu_pubnames` and `.debug_gnu_pubtypes`.
    pub lists: Vec<u32>,
    /// `.debug_names`.
    pub tables: Vec<u32>,
}

/// What the reader of an object asks of the link.
pub trait Link {
    /// Whether a section with code or data is in the output.
    fn is_live(&self, section: u32) -> bool;
    /// The number in the link of a section.
    fn number(&self, section: u32) -> u32;
    /// How many bytes a section has, which is in the output.
    fn size(&self, section: u32) -> u64;
}

/// Object number `index` of a link.
#[derive(Clone, Copy)]
pub struct InLink<'o, 'a> {
    pub objects: Objects<'o, 'a>,
    pub index: usize,
}

impl<'o, 'a> InLink<'o, 'a> {
    pub fn object(&self) -> &'o Object<'a> {
        &self.objects.list[self.index]
    }

    /// `text` of what is wrong: where it is comes first.
    #[cold]
    pub fn problem(
        &self,
        malformed: &Malformed,
        text: &str,
        diagnostic: fn(String) -> Diagnostic,
    ) -> Diagnostic {
        let (object, Pointer { section, offset }) = (self.object(), malformed.place);
        let at = object.at_byte(section, offset);
        at.order(diagnostic(format!("{at}: {text}"))).place(place::of(
            ObjectId(self.index as u32),
            section,
            offset,
        ))
    }
}

impl Link for InLink<'_, '_> {
    fn is_live(&self, section: u32) -> bool {
        if section as usize >= self.object().shdrs.len() {
            return false;
        }
        let id = SectionId(self.number(section));
        // What another section stands for is described by that one's unit.
        let input = self.objects.sections.get(id);
        input.in_image() && input.kind() != SectionKind::Folded && self.objects.live.contains(id)
    }

    fn number(&self, section: u32) -> u32 {
        self.object().section_base + section
    }

    fn size(&self, section: u32) -> u64 {
        self.objects.sections.get(SectionId(self.number(section))).size
    }
}

/// An object's debug sections.
pub struct DebugSections<'o, 'a> {
    object: &'o Object<'a>,
    /// By header index, ascending.
    list: Vec<DebugSection<'o, 'a>>,
    /// Which of them was asked for last.
    recent: Cell<usize>,
    /// Header index of the first of each kind, or 0.
    first: [u32; KINDS],
    /// Numbers may be made by several relocations, because code gets shorter.
    has_terms: bool,
}

struct DebugSection<'o, 'a> {
    shndx: u32,
    kind: Kind,
    /// As it is in the file.
    bytes: &'a [u8],
    is_compressed: bool,
    format: Format,
    decompressed: OnceCell<Decompressed<'a>>,
    relocs: &'o [Rela],
    /// How far one relocation is from the next, if that is always the same; or 0.
    step: u64,
    /// The numbers of the relocations in the order of their offsets, if they are in another one.
    order: OnceCell<Option<Vec<u32>>>,
}

enum Decompressed<'a> {
    Own(Vec<u8>),
    Kept(&'a [u8]),
}

fn kind(name: &[u8]) -> Option<Kind> {
    Some(match name {
        b".debug_info" => Kind::Info,
        b".debug_types" => Kind::Types,
        b".debug_abbrev" => Kind::Abbrev,
        b".debug_str" => Kind::Str,
        b".debug_line_str" => Kind::LineStr,
        b".debug_str_offsets" => Kind::StrOffsets,
        b".debug_addr" => Kind::Addr,
        b".debug_ranges" => Kind::Ranges,
        b".debug_rnglists" => Kind::RngLists,
        b".debug_gnu_pubnames" => Kind::PubNames,
        b".debug_gnu_pubtypes" => Kind::PubTypes,
        b".debug_names" => Kind::Names,
        _ => return None,
    })
}

impl<'o, 'a> DebugSections<'o, 'a> {
    /// Those of object number `index`; `None` if it has no live unit. What is compressed is decompressed when
    /// it is asked for, that of lists of names by `keep`, since names stay where they are.
    pub fn of(
        objects: Objects<'o, 'a>,
        index: usize,
        keep: &dyn Fn(Vec<u8>) -> &'a [u8],
    ) -> Option<(Self, Wanted)> {
        let Objects { list: all, sections, live } = objects;
        let object = &all[index];
        let ObjectSections { unallocated, name_lists, name_tables, .. } = &sections.objects[index];
        let format = object.format();
        let (mut list, mut first, mut wanted) = (Vec::new(), [0; KINDS], Wanted::default());
        for &shndx in unallocated {
            let Some(kind) = object.section_name(shndx as usize).and_then(kind) else { continue };
            let id = SectionId(object.section_base + shndx);
            let slot = sections.get(id);
            let is_list = name_lists.binary_search(&shndx).is_ok();
            let is_table = name_tables.binary_search(&shndx).is_ok();
            let is_read = is_list || is_table || slot.in_image() && live.contains(id);
            if !is_read {
                continue;
            }
            let bytes = object.section_data(shndx as usize).unwrap_or(&[]);
            let is_compressed = object.shdrs[shndx as usize].sh_flags() & SHF_COMPRESSED != 0;
            let decompressed = OnceCell::new();
            if is_list && is_compressed {
                decompressed.get_or_init(|| Decompressed::Kept(keep(decompress(bytes, format))));
            }
            let relocs = sections.relocs(object, index, slot);
            let (step, order) = (step(relocs), OnceCell::new());
            list.push(DebugSection {
                shndx,
                kind,
                bytes,
                is_compressed,
                format,
                decompressed,
                relocs,
                step,
                order,
            });
            let first = &mut first[kind as usize];
            if *first == 0 {
                *first = shndx;
            }
            match kind {
                Kind::Info | Kind::Types => wanted.units.push(shndx),
                Kind::PubNames | Kind::PubTypes if is_list => wanted.lists.push(shndx),
                Kind::Names if is_table => wanted.tables.push(shndx),
                _ => {}
            }
        }
        if wanted.units.is_empty() {
            return None;
        }
        list.sort_unstable_by_key(|section: &DebugSection| section.shndx);
        wanted.units.sort_unstable();
        wanted.tables.sort_unstable();
        let has_terms = object.machine.types.iter().any(|t| t.class == Class::Term);
        Some((DebugSections { object, list, recent: Cell::new(0), first, has_terms }, wanted))
    }

    /// Whether a section has bytes unless it is empty: what is damaged cannot be decompressed.
    pub fn is_readable(&self, section: u32) -> bool {
        self.get(section).is_some_and(|section| section.bytes.is_empty() || !section.bytes().is_empty())
    }

    /// What a relocation leads to.
    #[inline]
    fn target(&self, reloc: &Rela) -> Option<Pointer> {
        let symbol = self.object.syms.get(reloc.sym() as usize)?;
        let offset = symbol.st_value().wrapping_add(reloc.r_addend() as u64);
        Some(match self.object.place(reloc.sym(), symbol) {
            SymbolPlace::Section(section) => Pointer { section, offset },
            SymbolPlace::Absolute => Pointer { section: 0, offset },
            // It is in another file; nothing of this unit is there.
            SymbolPlace::Undefined | SymbolPlace::Common => Pointer::default(),
        })
    }

    /// The distance that relocation `reloc` of `section`, and the one after it, make of a field: what is
    /// added comes first.
    fn sum(&self, section: &DebugSection, reloc: &Rela, next: usize) -> Option<u64> {
        let is_term = |reloc: &Rela| self.object.machine.class(reloc.kind()) == Class::Term;
        let other = section.relocs.get(next).filter(|other| other.r_offset() == reloc.r_offset())?;
        if !is_term(reloc) || !is_term(other) {
            return None;
        }
        let (end, start) = (self.target(reloc)?, self.target(other)?);
        (end.section == start.section).then(|| end.offset.wrapping_sub(start.offset))
    }

    #[inline]
    fn get(&self, shndx: u32) -> Option<&DebugSection<'o, 'a>> {
        if let Some(recent) = self.list.get(self.recent.get()).filter(|recent| recent.shndx == shndx) {
            return Some(recent);
        }
        let found = self.list.binary_search_by_key(&shndx, |section| section.shndx).ok()?;
        self.recent.set(found);
        Some(&self.list[found])
    }
}

/// How far relocations are from one another if there is one for each entry of a table.
fn step(relocs: &[Rela]) -> u64 {
    let (Some(first), Some(last)) = (relocs.first(), relocs.last()) else { return 0 };
    let span = last.r_offset().wrapping_sub(first.r_offset());
    let gaps = relocs.len() as u64 - 1;
    [4, 8].into_iter().find(|step| span == step * gaps).unwrap_or(0)
}

/// The bytes of a compressed section; none if they cannot be read, which is an error when they are copied.
fn decompress(bytes: &[u8], format: Format) -> Vec<u8> {
    compressed::decompress(bytes, format).unwrap_or_default()
}

impl<'a> DebugSection<'_, 'a> {
    fn bytes(&self) -> &[u8] {
        if !self.is_compressed {
            return self.bytes;
        }
        match self.decompressed.get_or_init(|| Decompressed::Own(decompress(self.bytes, self.format))) {
            Decompressed::Own(bytes) => bytes,
            Decompressed::Kept(bytes) => bytes,
        }
    }

    /// The relocation for the field at `offset`. `near` is where to begin to look.
    fn reloc(&self, offset: u64, near: &mut usize) -> Option<&Rela> {
        let at = |i: usize| self.relocs.get(i).map(|reloc| reloc.r_offset());
        if at(*near) == Some(offset) {
            *near += 1;
            return Some(&self.relocs[*near - 1]);
        }
        let entry = offset.wrapping_sub(at(0).unwrap_or(0)).checked_div(self.step);
        if let Some(place) = entry.map(|entry| entry as usize).filter(|&place| at(place) == Some(offset)) {
            *near = place + 1;
            return Some(&self.relocs[place]);
        }
        // In steps that double, up to one that is not before the field; then within the last step.
        let mut low = if at(*near).is_some_and(|here| here < offset) { *near } else { 0 };
        let mut step = 1;
        while at(low + step).is_some_and(|there| there < offset) {
            low += step;
            step *= 2;
        }
        let high = (low + step + 1).min(self.relocs.len());
        let place = low + self.relocs[low.min(high)..high].partition_point(|reloc| reloc.r_offset() < offset);
        if at(place) == Some(offset) {
            *near = place + 1;
            return Some(&self.relocs[place]);
        }
        *near = place;
        self.out_of_order(offset)
    }

    /// Looks once more, if relocations are in no order.
    #[cold]
    fn out_of_order(&self, offset: u64) -> Option<&Rela> {
        let order = self.order.get_or_init(|| {
            if self.relocs.is_sorted_by_key(|reloc| reloc.r_offset()) {
                return None;
            }
            let mut order: Vec<u32> = (0..self.relocs.len() as u32).collect();
            order.sort_by_key(|&i| self.relocs[i as usize].r_offset());
            Some(order)
        });
        let order = order.as_ref()?;
        let place = order.partition_point(|&i| self.relocs[i as usize].r_offset() < offset);
        let reloc = &self.relocs[*order.get(place)? as usize];
        (reloc.r_offset() == offset).then_some(reloc)
    }
}

impl<'a> Source<'a> for DebugSections<'_, 'a> {
    fn bytes(&self, section: u32) -> &[u8] {
        self.get(section).map_or(&[], |section| section.bytes())
    }

    fn lasting(&self, section: u32, range: Range<usize>) -> Option<&'a [u8]> {
        let section = self.get(section)?;
        match section.decompressed.get() {
            Some(Decompressed::Kept(bytes)) => bytes.get(range),
            None if !section.is_compressed => section.bytes.get(range),
            _ => None,
        }
    }

    fn first(&self, kind: Kind) -> u32 {
        self.first[kind as usize]
    }

    fn is(&self, section: u32, kind: Kind) -> bool {
        self.get(section).is_some_and(|section| section.kind == kind)
    }

    fn relocated(&self, field: Pointer, near: &mut usize) -> Option<Pointer> {
        let section = self.get(field.section)?;
        let reloc = section.reloc(field.offset, near)?;
        if self.has_terms
            && let Some(distance) = self.sum(section, reloc, *near)
        {
            return Some(Pointer { section: 0, offset: distance });
        }
        self.target(reloc)
    }

    fn distance(&self, field: Pointer) -> Option<u64> {
        if !self.has_terms {
            return None;
        }
        let (section, mut near) = (self.get(field.section)?, 0);
        let reloc = section.reloc(field.offset, &mut near)?;
        self.sum(section, reloc, near)
    }

    fn is_big_endian(&self) -> bool {
        self.object.format().is_big()
    }
}
