//! Where the relocations of one debug section lead.
//!
//! Millions of them refer to a handful of symbols: those of `.debug_str`, `.debug_abbrev`, `.debug_line` and
//! of the functions that are described. What was found out about a symbol is remembered for the next
//! relocation against it; for merged strings that is a shortcut to the pieces of the input section.

use weld_common::diag::Cause;
use weld_common::glob::Glob;
use weld_common::merge::Pieces;

use super::Site;
use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::{InputSection, SectionKind};
use crate::symbols::symbol_flags;
use crate::synth::image::Image;

/// How many symbols are remembered: a power of two.
const REMEMBERED: usize = 8;

pub struct DebugTargets<'c, 'i, 'a> {
    site: &'c Site<'c, 'i, 'a>,
    /// By the low bits of the symbol's index.
    known: [(u32, Known<'c>); REMEMBERED],
}

/// What is known of a symbol.
enum Known<'c> {
    At(Address),
    /// Its section is not in the image.
    Gone,
    /// It stands for an input section that was cut into pieces.
    Merged {
        pieces: Pieces<'c>,
        /// Address of the merged section.
        base: Address,
        value: u64,
    },
}

impl<'c, 'i, 'a> DebugTargets<'c, 'i, 'a> {
    pub fn new(site: &'c Site<'c, 'i, 'a>) -> Self {
        // What belongs in another place stands for nothing known.
        DebugTargets { site, known: std::array::from_fn(|i| (i as u32 + 1, Known::Gone)) }
    }

    /// What `reloc` refers to; `None` if that is not in the image.
    #[inline(always)]
    pub fn of(&mut self, reloc: &Rela) -> Option<Address> {
        let (index, addend) = (reloc.sym(), reloc.r_addend() as u64);
        let entry = &mut self.known[index as usize % REMEMBERED];
        if entry.0 != index {
            *entry = (index, Known::find(self.site, reloc));
        }
        match &mut entry.1 {
            Known::At(address) => Some(address.wrapping_add(addend)),
            Known::Gone => None,
            Known::Merged { pieces, base, value } => match pieces.output_offset(value.wrapping_add(addend)) {
                Some(offset) => Some(*base + offset),
                None => outside_pieces(self.site, reloc),
            },
        }
    }
}

impl DebugTargets<'_, '_, '_> {
    /// The same on a machine whose code may lose bytes: what a section's own symbol and an addend mean has
    /// moved then.
    pub fn of_shrunk(&mut self, reloc: &Rela) -> Option<Address> {
        let plain = self.of(reloc)?;
        let Site { image, object, .. } = *self.site;
        let symbol = object.syms.get(reloc.sym() as usize).filter(|symbol| symbol.kind() == STT_SECTION);
        let place = symbol.map(|symbol| (symbol, object.place(reloc.sym(), symbol)));
        let Some((symbol, SymbolPlace::Section(shndx))) = place else { return Some(plain) };
        let id = SectionId(object.section_base + shndx);
        match image.sections.shrunk.deltas(id) {
            [] => Some(plain),
            _ => Some(image.sections.address_of(id, symbol.st_value().wrapping_add(reloc.r_addend() as u64))),
        }
    }
}

impl<'c> Known<'c> {
    #[cold]
    fn find(site: &Site<'c, '_, '_>, reloc: &Rela) -> Known<'c> {
        let (image, object, index) = (site.image, site.object, reloc.sym());
        if !is_sound(object, index)
            && let Some(wrong) = what_is_wrong(object, index)
        {
            site.refuse(Cause::MalformedDebugInfo, reloc, &wrong);
            return Known::Gone;
        }
        if let Some((section, value)) = merged_section(image, object, index) {
            let (pieces, base) = image.pieces(section);
            return Known::Merged { pieces, base, value };
        }
        let place = image.place(object, index, 0);
        let folds = || !image.live.folds.is_empty() && is_folded(image, object, index);
        if place.dead || folds() && hides_folded(site) {
            if place.flags & symbol_flags::OUTSIDE != 0 {
                site.outside_pieces(reloc);
            }
            return Known::Gone;
        }
        Known::At(place.address.wrapping_add(place.addend as u64))
    }
}

/// Whether the symbol lies in a section that another one stands for.
fn is_folded(image: &Image, object: &Object, index: u32) -> bool {
    let section = if index >= object.first_global && (index as usize) < object.syms.len() {
        let symbol = &image.symbols[object.global(index)];
        (symbol.kind() == symbol_flags::DEFINED).then_some(SectionId(symbol.section))
    } else {
        match object.syms.get(index as usize).map(|symbol| object.place(index, symbol)) {
            Some(SymbolPlace::Section(shndx)) if (shndx as usize) < object.shdrs.len() => {
                Some(SectionId(object.section_base + shndx))
            }
            _ => None,
        }
    };
    section.is_some_and(|section| image.sections.get(section).kind() == SectionKind::Folded)
}

/// Whether folded code is gone to the section, so that it does not describe the code that stands for it once
/// more. Line tables do: a line of a folded function is a place where a program can be stopped.
fn hides_folded(site: &Site) -> bool {
    let name = site.object.section_name(site.shndx as usize).unwrap_or(b"");
    let matches = |pattern: &str| Glob::new(pattern.as_bytes()).is_ok_and(|glob| glob.matches(name));
    let marked = || site.image.options.sections.dead_relocs.iter().any(|(pattern, _)| matches(pattern));
    name != b".debug_line" && (name.starts_with(b".debug") || marked())
}

#[cold]
#[inline(never)]
fn outside_pieces(site: &Site, reloc: &Rela) -> Option<Address> {
    site.outside_pieces(reloc);
    None
}

/// The scan, which checks what sections in memory refer to, has not looked at this one.
#[inline(always)]
fn is_sound(object: &Object, index: u32) -> bool {
    let Some(symbol) = object.syms.get(index as usize) else { return false };
    // Local symbols of a section that exists; the binding is in the upper half.
    let limit = object.shdrs.len().min(SHN_LORESERVE as usize) as u16;
    index >= object.first_global || symbol.st_info() < 16 && symbol.st_shndx().wrapping_sub(1) < limit - 1
}

/// What is wrong with a symbol that is not as most are.
#[cold]
#[inline(never)]
fn what_is_wrong(object: &Object, index: u32) -> Option<String> {
    if index == 0 {
        // It stands for nothing, whatever the table says, if there is one.
        return None;
    }
    let Some(symbol) = object.syms.get(index as usize) else {
        return Some(format!("has a bad symbol index: {index}"));
    };
    let nowhere = match object.place(index, symbol) {
        SymbolPlace::Section(s) => s as usize >= object.shdrs.len(),
        place => place != SymbolPlace::Absolute,
    };
    if nowhere {
        return Some(format!("refers to what is nowhere: {}", object.misplaced(index, symbol)));
    }
    object.wrong_local(index, symbol).map(|why| format!("refers to a symbol that cannot be: {why}"))
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
