//! `NOCROSSREFS`: output sections of a linker script that may not refer to one another, because they are not
//! in memory together.
//!
//! Only if a script asks are the relocations of such sections gone through, once more.
//!
//! Source: GNU ld manual, "Miscellaneous Commands" and "Overlay Description".

use std::collections::HashMap;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::par;

use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::SectionOwners;
use crate::script::layout::{Forbidden, LayoutScript};
use crate::symbols::symbol_flags;
use crate::synth::image::Image;
use crate::wording;

/// Reports each reference that the script forbids.
pub fn check(image: &Image, script: &LayoutScript, owners: &SectionOwners) {
    let all = script.forbidden_references();
    if all.is_empty() {
        return;
    }
    let mut by_name: HashMap<&[u8], Vec<OutputSectionId>> = HashMap::new();
    for (id, out) in image.layout.with_ids() {
        by_name.entry(&out.name).or_default().push(id);
    }
    for Forbidden { sections, to_first, place } in &all {
        if sections.len() < 2 {
            image.sink.warn(
                Cause::OptionWithoutEffect,
                format!("{place}: NOCROSSREFS has no effect: it wants two output sections"),
            );
        }
        let mut list: Vec<OutputSectionId> = Vec::new();
        let mut is_forbidden = vec![false; image.layout.sections.len()];
        for (i, name) in sections.iter().enumerate() {
            let named = by_name.get(&name[..]).into_iter().flatten();
            for &id in named {
                is_forbidden[id.index()] |= i == 0 || !to_first;
                list.push(id);
            }
        }
        list.sort_unstable();
        list.dedup();
        for &from in &list {
            let members = &image.layout[from].members;
            par::each(true, members.len(), |i| {
                if let Some(id) = members[i].as_section() {
                    check_section(image, owners.object(id), id, from, &is_forbidden);
                }
            });
        }
    }
}

fn check_section(
    image: &Image,
    number: ObjectId,
    id: SectionId,
    from: OutputSectionId,
    is_forbidden: &[bool],
) {
    let object = &image.resolved.objects[number.index()];
    let section = image.sections.get(id);
    for reloc in image.sections.relocs(object, number.index(), section) {
        let Some(to) = target(image, object, reloc.sym()) else { continue };
        if to == from || !is_forbidden[to.index()] {
            continue;
        }
        let spot = object.at_byte(id.0 - object.section_base, reloc.r_offset());
        let name = match object.symbol_name(reloc.sym()) {
            // A section's own symbol.
            b"" => {
                let local =
                    object.syms.get(reloc.sym() as usize).map(|local| object.place(reloc.sym(), local));
                let Some(SymbolPlace::Section(shndx)) = local else { continue };
                String::from_utf8_lossy(object.section_name(shndx as usize).unwrap_or(b""))
            }
            name => wording::shown(image.options, name),
        };
        let (from, to) = (&image.layout[from].name, &image.layout[to].name);
        let text = format!(
            "{} may not refer to {}, as NOCROSSREFS says; it refers to '{name}'",
            String::from_utf8_lossy(from),
            String::from_utf8_lossy(to),
        );
        let diagnostic: Diagnostic = spot.error(Cause::CrossReference, &text);
        image.sink.push(diagnostic);
    }
}

/// The output section of what a relocation refers to.
fn target(image: &Image, object: &Object, index: u32) -> Option<OutputSectionId> {
    let local = object.syms.get(index as usize)?;
    if index >= object.first_global {
        let symbol = &image.symbols[object.global(index)];
        let header =
            (symbol.kind() != symbol_flags::UNDEFINED).then(|| image.output_index(symbol)).flatten()?;
        return header.section();
    }
    let SymbolPlace::Section(shndx) = object.place(index, local) else { return None };
    image.out_of(image.sections.get(SectionId(object.section_base + shndx)))
}
