//! Cutting the image into units that are written one by one.
//!
//! Every byte of the file belongs to exactly one unit, gaps between sections included, so that the
//! file needs no clearing and the build id covers all of it.

use super::parts::{DIRECT, Part};
use crate::compressed::CompressedSection;
use crate::ids::SectionId;
use crate::input::sections::{SectionKind, Sections};
use crate::layout::{ChunkKind, Layout, Member};

/// Units are closed when they reach this many bytes.
pub const UNIT_BYTES: u64 = 512 << 10;

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
    /// A part of a large input section.
    Part {
        part: Part,
        offset: u64,
    },
    /// `size` bytes of a large chunk from `start` on.
    Chunk {
        chunk: usize,
        start: u64,
        offset: u64,
        size: u64,
    },
    /// Part `part` of compressed section number `section`.
    Packed {
        section: usize,
        part: usize,
        offset: u64,
    },
    /// Symbols of the objects from `first` on; of no object if there is none.
    Symbols {
        first: usize,
    },
}

/// How a large chunk may be cut.
pub enum Slicing {
    Whole,
    /// At multiples of this many bytes.
    Every(u64),
    /// At these offsets, ascending.
    At(Vec<u64>),
}

impl Slicing {
    /// Entries of tables stay whole; all sizes of entries divide this.
    pub const ENTRIES: Slicing = Slicing::Every(24 << 14);

    /// The offsets at which parts of a chunk of `size` bytes start.
    fn starts(self, size: u64) -> Vec<u64> {
        let mut starts = vec![0];
        match self {
            Slicing::Whole => {}
            Slicing::Every(step) => starts.extend((1..size.div_ceil(step)).map(|i| i * step)),
            Slicing::At(borders) => {
                for border in borders {
                    if border >= starts[starts.len() - 1] + UNIT_BYTES {
                        starts.push(border);
                    }
                }
            }
        }
        starts
    }
}

/// What is cut.
pub struct Cutter<'c, 'a> {
    pub layout: &'c Layout<'a>,
    pub sections: &'c Sections<'a>,
    /// Sections that were compressed, by their number in the layout.
    pub compressed: &'c [(usize, CompressedSection)],
    pub slicing: &'c dyn Fn(ChunkKind) -> Slicing,
    /// Where the parts of an input section start; none if it is not to be cut.
    pub cuts: &'c dyn Fn(SectionId) -> Vec<u64>,
}

impl Cutter<'_, '_> {
    /// Cuts the image. `objects` is the number of live objects if there is a symbol table.
    pub fn image(&self, objects: Option<usize>) -> Vec<Unit> {
        let layout = self.layout;
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
            match self.compressed.iter().position(|c| c.0 == i) {
                Some(number) => self.packed(number, out.offset, &mut units),
                None => self.section(i, &mut units),
            }
        }
        gap(&mut units, end, layout.section_headers);
        units.push(Unit::SectionHeaders);
        if let Some(objects) = objects {
            let starts = (0..objects).step_by(super::SYMTAB_OBJECTS).chain([objects]);
            // Without objects the null symbol still has to be written.
            units.extend(starts.map(|first| Unit::Symbols { first }));
        }
        units
    }

    fn packed(&self, section: usize, mut offset: u64, units: &mut Vec<Unit>) {
        for (part, bytes) in self.compressed[section].1.parts().enumerate() {
            units.push(Unit::Packed { section, part, offset });
            offset += bytes.len() as u64;
        }
    }

    /// Cuts one output section.
    pub fn section(&self, index: usize, units: &mut Vec<Unit>) {
        let (layout, sections) = (self.layout, self.sections);
        let out = &layout.sections[index];
        let mut first = 0;
        let (mut start, mut end) = (out.offset, out.offset);
        let close = |first: usize, last: usize, start: u64, end: u64, units: &mut Vec<Unit>| {
            if end > start {
                units.push(Unit::Members { out: index, first, last, offset: start, size: end - start });
            }
        };
        for (i, member) in out.members.iter().enumerate() {
            let (offset, size) = extent(layout, sections, index, *member);
            if offset - end > UNIT_BYTES {
                // A hole that some enormous alignment asked for.
                close(first, i, start, end, units);
                (first, start) = (i, offset);
            }
            end = offset + size;
            if size > UNIT_BYTES && is_zeroes(sections, *member) {
                close(first, i, start, offset, units);
                (first, start) = (i + 1, end);
                continue;
            }
            if self.alone(*member, offset, size, units, |units| close(first, i, start, offset, units)) {
                (first, start) = (i + 1, offset + size);
            } else if offset + size >= start + UNIT_BYTES {
                close(first, i + 1, start, offset + size, units);
                (first, start) = (i + 1, offset + size);
            }
        }
        close(first, out.members.len(), start, out.offset + out.size, units);
    }

    /// Cuts a member that has units of its own, if it is one. `close` ends the unit before it: the
    /// padding in front of it belongs to what came before.
    fn alone(
        &self,
        member: Member,
        offset: u64,
        size: u64,
        units: &mut Vec<Unit>,
        close: impl FnOnce(&mut Vec<Unit>),
    ) -> bool {
        let starts = match (member.as_chunk(), member.as_section()) {
            (Some(chunk), _) if size > UNIT_BYTES => {
                (self.slicing)(self.layout.chunks[chunk.index()].kind).starts(size)
            }
            (None, Some(section)) if size >= DIRECT => (self.cuts)(section),
            _ => return false,
        };
        if starts.is_empty() {
            return false;
        }
        close(units);
        let ends = starts[1..].iter().copied().chain([size]);
        units.extend(starts.iter().zip(ends).map(|(&start, end)| {
            let (offset, size) = (offset + start, end - start);
            match (member.as_chunk(), member.as_section()) {
                (None, Some(section)) => Unit::Part { part: Part { section, start, size }, offset },
                (chunk, _) => Unit::Chunk { chunk: chunk.map_or(0, |c| c.index()), start, offset, size },
            }
        }));
        true
    }
}

/// Zeroes are written where they are few; larger holes are left as the new file has them, zero too.
fn gap(units: &mut Vec<Unit>, from: u64, to: u64) {
    if to > from && to - from <= UNIT_BYTES {
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

/// Whether a member has no bytes in its object; among ones that do it is a hole in the file.
fn is_zeroes(sections: &Sections, member: Member) -> bool {
    member.as_section().is_some_and(|id| sections.get(id).kind() == SectionKind::NoBits)
}
