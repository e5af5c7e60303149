//! Where the relocations of one debug section lead.
//!
//! Millions of them refer to a handful of symbols: those of `.debug_str`, `.debug_abbrev`, `.debug_line` and of the
//! functions that are described. What was found out about a symbol is remembered for the next
//! relocation against it; for merged strings that is a shortcut to the pieces of the input section.

use weld_common::merge::Pieces;

use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::{InputSection, SectionKind};

/// How many symbols are remembered: a power of two.
const REMEMBERED: usize = 8;

pub struct DebugTargets<'c, 'i, 'a> {
    image: &'c Image<'i, 'a>,
    object: &'c Object<'a>,
    /// By the low bits of the symbol's index.
    known: [(u32, Known<'c>); REMEMBERED],
}

/// What is known of a symbol.
enum Known<'c> {
    At(u64),
    /// Its section is not in the image.
    Gone,
    /// It stands for an input section that was cut into pieces.
    Merged {
        pieces: Pieces<'c>,
        /// Address of the merged section.
        base: u64,
        value: u64,
    },
}

impl<'c, 'i, 'a> DebugTargets<'c, 'i, 'a> {
    pub fn new(image: &'c Image<'i, 'a>, object: &'c Object<'a>) -> Self {
        // No relocation has this index: a table of symbols has fewer.
        DebugTargets { image, object, known: [const { (u32::MAX, Known::Gone) }; REMEMBERED] }
    }

    /// What `reloc` refers to; `None` if that is not in the image.
    #[inline]
    pub fn of(&mut self, reloc: &Rela) -> Option<u64> {
        let (index, addend) = (reloc.sym(), reloc.r_addend() as u64);
        let (image, object) = (self.image, self.object);
        let entry = &mut self.known[index as usize % REMEMBERED];
        if entry.0 != index {
            *entry = (index, Known::find(image, object, index));
        }
        match &mut entry.1 {
            Known::At(address) => Some(address.wrapping_add(addend)),
            Known::Gone => None,
            Known::Merged { pieces, base, value } => {
                pieces.output_offset(value.wrapping_add(addend)).map(|offset| *base + offset)
            }
        }
    }
}

impl<'c> Known<'c> {
    #[cold]
    fn find<'a>(image: &'c Image<'_, 'a>, object: &'c Object<'a>, index: u32) -> Known<'c> {
        if let Some((section, value)) = merged_section(image, object, index) {
            let (pieces, base) = image.pieces(section);
            return Known::Merged { pieces, base, value };
        }
        let place = image.place(object, index, 0);
        if place.dead { Known::Gone } else { Known::At(place.address.wrapping_add(place.addend as u64)) }
    }
}

/// The live section of strings or constants that local symbol `index` stands for, and its value.
fn merged_section<'c>(image: &'c Image, object: &Object, index: u32) -> Option<(&'c InputSection, u64)> {
    let symbol = object.syms.get(index as usize)?;
    if index >= object.first_global || symbol.kind() != STT_SECTION {
        return None;
    }
    let SymbolPlace::Section(shndx) = object.place(index, symbol) else { return None };
    if shndx as usize >= object.shdrs.len() {
        return None;
    }
    let id = SectionId(object.section_base + shndx);
    let section = image.sections.get(id);
    let merged = section.in_image() && section.kind() == SectionKind::Merge && image.live.contains(id);
    merged.then_some((section, symbol.st_value()))
}
