//! Cutting the image into units that are written one by one.
//!
//! Every byte of the file belongs to exactly one unit, gaps between sections included, so that the
//! file needs no clearing and the build id covers all of it.

use crate::input::sections::Sections;
use crate::layout::{ChunkKind, Layout, Member};

/// Units are closed when they reach this many bytes.
const UNIT_BYTES: u64 = 512 << 10;

pub enum Unit {
    /// The ELF header and the program headers.
    Headers,
    SectionHeaders,
    /// Zeroes between sections.
    Gap {
        offset: u64,
        size: u64,
    },
    /// Members `first..last` of output section `out`.
    Members {
        out: usize,
        first: usize,
        last: usize,
        offset: u64,
        size: u64,
    },
    /// Symbols of the objects from `first` on; of no object if there is none.
    Symbols {
        first: usize,
    },
}

/// Cuts the image. `objects` is the number of live objects.
pub fn cut(layout: &Layout, sections: &Sections, objects: usize, symtab: bool) -> Vec<Unit> {
    let mut units = vec![Unit::Headers];
    let mut end = crate::emit::headers::size(layout);
    for (i, out) in layout.sections.iter().enumerate() {
        if out.is_nobits() || out.size == 0 {
            continue;
        }
        gap(&mut units, end, out.offset);
        end = out.offset + out.size;
        if is_symbol_table(layout, i) {
            continue;
        }
        cut_section(layout, sections, i, &mut units);
    }
    gap(&mut units, end, layout.section_headers);
    units.push(Unit::SectionHeaders);
    if symtab {
        let starts = (0..objects).step_by(super::SYMTAB_OBJECTS).chain([objects]);
        // Without objects the null symbol still has to be written.
        units.extend(starts.map(|first| Unit::Symbols { first }));
    }
    units
}

fn gap(units: &mut Vec<Unit>, from: u64, to: u64) {
    if to > from {
        units.push(Unit::Gap { offset: from, size: to - from });
    }
}

/// The tables that symbol units write.
fn is_symbol_table(layout: &Layout, index: usize) -> bool {
    let first = layout.sections[index].members.first().and_then(|m| m.as_chunk());
    let kind = first.map(|c| layout.chunks[c.index()].kind);
    matches!(kind, Some(ChunkKind::SymTab | ChunkKind::StrTab | ChunkKind::SymTabShndx))
}

/// File offset and size of a member of output section `index`.
pub fn extent(layout: &Layout, sections: &Sections, index: usize, member: Member) -> (u64, u64) {
    let out = &layout.sections[index];
    match (member.as_chunk(), member.as_section()) {
        // What is not allocated has file offsets for addresses.
        (Some(id), _) if !out.is_alloc() => {
            (layout.chunks[id.index()].address, layout.chunks[id.index()].size)
        }
        (Some(id), _) => {
            let chunk = &layout.chunks[id.index()];
            (out.offset + (chunk.address - out.address), chunk.size)
        }
        (_, Some(id)) => {
            let section = sections.get(id);
            (out.offset + (section.address - out.address), section.size)
        }
        _ => (out.offset, 0),
    }
}

fn cut_section(layout: &Layout, sections: &Sections, index: usize, units: &mut Vec<Unit>) {
    let out = &layout.sections[index];
    let mut first = 0;
    let mut start = out.offset;
    for last in 1..=out.members.len() {
        // Where the next member starts; the padding before it belongs to this unit.
        let next = match out.members.get(last) {
            Some(member) => extent(layout, sections, index, *member).0,
            None => out.offset + out.size,
        };
        if next - start >= UNIT_BYTES || last == out.members.len() {
            units.push(Unit::Members { out: index, first, last, offset: start, size: next - start });
            (first, start) = (last, next);
        }
    }
}
