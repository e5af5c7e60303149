//! Cutting the image into units that are written one by one.
//!
//! Every byte of the file belongs to exactly one unit, gaps between sections included, so that the
//! file needs no clearing and the build id covers all of it. Large holes are units too, but are not written:
//! a new file has zeroes there. Small output sections that follow one another are one unit: a small program
//! is written in one go, and an object that `-r` joins may have a million sections.

use std::ops::Range;

use weld_common::par;

use super::parts::{DIRECT, Part};
use weld_common::io::units::UNIT_BYTES;

use crate::compressed::CompressedSection;
use crate::ids::*;
use crate::layout::runs::RUN;
use crate::layout::{ChunkKind, FileOffset, Layout, Member, OutputSection};
use crate::sections::{SectionKind, Sections};
use crate::synth::section::Cuts;
use crate::synth::symtab::SymTab;

/// Section headers that are written in one go.
const HEADERS: usize = 8192;

pub enum Unit {
    /// The ELF header and the program headers.
    Headers,
    /// Some of the section header table, by their indices.
    SectionHeaders(Range<usize>),
    /// Zeroes between sections.
    Gap { offset: FileOffset, size: u64 },
    /// Zeroes that are left as the new file has them.
    Hole { offset: FileOffset, size: u64 },
    /// Output sections of this range, whole and with the gaps between them.
    Sections { sections: Range<usize>, offset: FileOffset, size: u64 },
    /// Members `first..last` of output section `out`.
    Members { out: OutputSectionId, first: usize, last: usize, offset: FileOffset, size: u64 },
    /// A part of a large input section.
    Part { part: Part, offset: FileOffset },
    /// `size` bytes of a large chunk from `start` on.
    Chunk { chunk: usize, start: u64, offset: FileOffset, size: u64 },
    /// Part `part` of compressed section number `section`.
    Packed { section: usize, part: usize, offset: FileOffset },
    /// Symbols of a run of slices of objects; if it is empty, those of no object.
    Symbols(Range<usize>),
}

/// The offsets at which parts of a chunk of `size` bytes start. `next` says how far the part reaches at least that starts
/// somewhere.
fn starts(cuts: Cuts, size: u64, next: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut starts = vec![0];
    match cuts {
        Cuts::Whole | Cuts::Elsewhere => {}
        Cuts::Every(step) => starts.extend((1..size.div_ceil(step)).map(|i| i * step)),
        Cuts::At(borders) => {
            for border in borders {
                if border >= next(starts[starts.len() - 1]) {
                    starts.push(border);
                }
            }
        }
    }
    starts
}

/// What is cut.
pub struct Cutter<'c, 'a> {
    pub layout: &'c Layout<'a>,
    pub sections: &'c Sections<'a>,
    /// Sections that were compressed, by their ids.
    pub compressed: &'c [(OutputSectionId, CompressedSection)],
    pub slicing: &'c dyn Fn(ChunkKind) -> Cuts,
    /// Where the parts of an input section start; none if it is not to be cut.
    pub cuts: &'c dyn Fn(SectionId) -> Vec<u64>,
    /// Where units started, in order, in another link that is to be made once more.
    pub last: Option<&'c [u64]>,
    pub parallel: bool,
}

impl Cutter<'_, '_> {
    /// Cuts the image, in which there may be a symbol table.
    pub fn image(&self, symtab: Option<&SymTab>) -> Vec<Unit> {
        let layout = self.layout;
        let mut units = vec![Unit::Headers];
        let mut end = FileOffset::START + layout.headers_size();
        let mut small = Small { sections: 0..0, offset: FileOffset::START, end: FileOffset::START };
        let mut order: Vec<_> = layout.with_ids().collect();
        if layout.is_out_of_order {
            order.sort_by_key(|(_, out)| out.offset);
        }
        for (id, out) in order {
            // A raw image is what is in memory.
            if out.is_nobits() || out.size == 0 || layout.raw && !out.is_alloc() {
                continue;
            }
            let before = std::mem::replace(&mut end, out.offset + out.size);
            if self.is_small(id, out) && small.takes(id, out, before) {
                continue;
            }
            small.close(&mut units);
            gap(&mut units, before, out.offset);
            if self.is_small(id, out) {
                small = Small { sections: id.index()..id.index() + 1, offset: out.offset, end };
                continue;
            }
            if out.own.is_some_and(|kind| matches!((self.slicing)(kind), Cuts::Elsewhere)) {
                continue;
            }
            match self.compressed.iter().position(|c| c.0 == id) {
                Some(number) => self.packed(number, out.offset, &mut units),
                None => self.section(id, &mut units),
            }
        }
        small.close(&mut units);
        if let Some(start) = layout.section_headers {
            gap(&mut units, end, start);
        }
        let headers = layout.sections.len() + 1;
        let runs = (0..headers).step_by(HEADERS).map(|first| first..headers.min(first + HEADERS));
        units.extend(runs.map(Unit::SectionHeaders));
        if let Some(symtab) = symtab {
            units.extend(symtab.runs().into_iter().map(Unit::Symbols));
            // Without objects the null symbol still has to be written.
            units.push(Unit::Symbols(0..0));
        }
        units
    }

    /// Whether an output section is written with its neighbours. Nothing in it is cut, or left as a hole.
    fn is_small(&self, id: OutputSectionId, out: &OutputSection) -> bool {
        out.size < DIRECT
            && !self.layout.is_out_of_order
            && !self.compressed.iter().any(|c| c.0 == id)
            && !out.own.is_some_and(|kind| matches!((self.slicing)(kind), Cuts::Elsewhere))
    }

    fn packed(&self, section: usize, mut offset: FileOffset, units: &mut Vec<Unit>) {
        for (part, bytes) in self.compressed[section].1.parts().enumerate() {
            units.push(Unit::Packed { section, part, offset });
            offset += bytes.len() as u64;
        }
    }

    /// Cuts one output section.
    pub fn section(&self, id: OutputSectionId, units: &mut Vec<Unit>) {
        self.cut(id, self.unusual(&self.layout[id].members), units);
    }

    /// Cuts one output section; `unusual` are the members that are looked at one by one.
    fn cut(&self, id: OutputSectionId, unusual: Vec<usize>, units: &mut Vec<Unit>) {
        let (layout, sections) = (self.layout, self.sections);
        let out = &layout[id];
        let mut first = 0;
        let (mut start, mut end) = (out.offset, out.offset);
        let close = |first: usize, last: usize, start: FileOffset, end: FileOffset, units: &mut Vec<Unit>| {
            if end > start {
                units.push(Unit::Members { out: id, first, last, offset: start, size: end - start });
            }
        };
        let end_of = |i: usize| {
            let (offset, size) = extent(layout, sections, id, out.members[i]);
            offset + size
        };
        let mut next = 0;
        for i in unusual.into_iter().chain([out.members.len()]) {
            // Usual members follow one another closely, so the one that fills a unit can be searched for.
            while next < i {
                let full_end = self.full_end(start);
                let full = first_from(next..i, |member| end_of(member) >= full_end);
                if full < i {
                    close(first, full + 1, start, end_of(full), units);
                    (first, start) = (full + 1, end_of(full));
                }
                next = i.min(full + 1);
                end = end_of(next - 1);
            }
            let Some(member) = out.members.get(i) else { break };
            next = i + 1;
            let (offset, size) = extent(layout, sections, id, *member);
            if offset - end > UNIT_BYTES {
                // A hole that some enormous alignment asked for.
                close(first, i, start, end, units);
                units.push(Unit::Hole { offset: end, size: offset - end });
                (first, start) = (i, offset);
            }
            end = offset + size;
            if size > UNIT_BYTES && is_zeroes(sections, *member) {
                close(first, i, start, offset, units);
                units.push(Unit::Hole { offset, size });
                (first, start) = (i + 1, end);
                continue;
            }
            if self.alone(*member, offset, size, units, |units| close(first, i, start, offset, units)) {
                (first, start) = (i + 1, offset + size);
            } else if offset + size >= self.full_end(start) {
                close(first, i + 1, start, offset + size, units);
                (first, start) = (i + 1, offset + size);
            }
        }
        self.rest(id, first, start..end, units);
    }

    /// The unit of small members that starts there ends with the first one that reaches so far.
    fn full_end(&self, start: FileOffset) -> FileOffset {
        let Some(last) = self.last else { return start + UNIT_BYTES };
        let next = last.partition_point(|known| *known <= start.0);
        FileOffset(last.get(next).copied().unwrap_or(u64::MAX))
    }

    /// Ends the last unit of an output section, of which `open` is not in a unit yet. After its last member,
    /// which ends at `end`, a script may have left any amount of room.
    fn rest(&self, id: OutputSectionId, first: usize, open: Range<FileOffset>, units: &mut Vec<Unit>) {
        let Range { start, end } = open;
        let out = &self.layout[id];
        let last = out.members.len();
        let mut unit = |first: usize, from: FileOffset, to: FileOffset| {
            if to > from {
                units.push(Unit::Members { out: id, first, last, offset: from, size: to - from });
            }
        };
        let stop = out.offset + out.size;
        if stop - end <= UNIT_BYTES {
            return unit(first, start, stop);
        }
        unit(first, start, end);
        if out.fillers.iter().all(|filler| filler.pattern.iter().all(|byte| *byte == 0)) {
            return units.push(Unit::Hole { offset: end, size: stop - end });
        }
        let starts = (end.0..stop.0).step_by(UNIT_BYTES as usize).map(FileOffset);
        starts.for_each(|from| unit(last, from, stop.min(from + UNIT_BYTES)));
    }

    /// The members that may be anything but a part of a unit: large ones, those with a large hole before
    /// them, and chunks.
    fn unusual(&self, members: &[Member]) -> Vec<usize> {
        let is_unusual = |member: &Member| {
            member.as_section().is_none_or(|id| {
                let section = self.sections.get(id);
                section.size >= DIRECT || section.align() > UNIT_BYTES
            })
        };
        let found = par::runs("find large members", self.parallel, members.len(), RUN, |run| {
            run.filter(|&i| is_unusual(&members[i])).collect::<Vec<usize>>()
        });
        par::concat("join large members", self.parallel, found)
    }

    /// Cuts a member that has units of its own, if it is one. `close` ends the unit before it: the
    /// padding in front of it belongs to what came before.
    fn alone(
        &self,
        member: Member,
        offset: FileOffset,
        size: u64,
        units: &mut Vec<Unit>,
        close: impl FnOnce(&mut Vec<Unit>),
    ) -> bool {
        let starts = match (member.as_chunk(), member.as_section()) {
            (Some(chunk), _) if size > UNIT_BYTES => {
                let cuts = (self.slicing)(self.layout.chunks[chunk.index()].kind);
                starts(cuts, size, |start| self.full_end(offset + start) - offset)
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

/// Small output sections, one after the other.
struct Small {
    sections: Range<usize>,
    offset: FileOffset,
    end: FileOffset,
}

impl Small {
    /// Takes in the next section with contents, unless there would be too much. `before` is where the one
    /// before it ends.
    fn takes(&mut self, id: OutputSectionId, out: &OutputSection, before: FileOffset) -> bool {
        let end = out.offset + out.size;
        let fits = !self.sections.is_empty() && self.end == before && end - self.offset <= UNIT_BYTES;
        if fits {
            (self.sections.end, self.end) = (id.index() + 1, end);
        }
        fits
    }

    fn close(&mut self, units: &mut Vec<Unit>) {
        let sections = std::mem::replace(&mut self.sections, 0..0);
        if !sections.is_empty() {
            units.push(Unit::Sections { sections, offset: self.offset, size: self.end - self.offset });
        }
    }
}

/// The first of `range` for which `holds`, which then holds for all after it; its end if there is none.
fn first_from(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Zeroes are written where they are few; larger holes are left as the new file has them, zero too.
fn gap(units: &mut Vec<Unit>, from: FileOffset, to: FileOffset) {
    let (offset, size) = (from, to.since(from));
    match size {
        0 => {}
        1..=UNIT_BYTES => units.push(Unit::Gap { offset, size }),
        _ => units.push(Unit::Hole { offset, size }),
    }
}

/// File offset and size of a member of output section `id`.
pub fn extent(
    layout: &Layout,
    sections: &Sections,
    id: OutputSectionId,
    member: Member,
) -> (FileOffset, u64) {
    let out = &layout[id];
    match (member.as_chunk(), member.as_section()) {
        (Some(id), _) => {
            let chunk = &layout.chunks[id.index()];
            (out.file_offset(chunk.address()), chunk.size)
        }
        (_, Some(id)) => {
            let section = sections.get(id);
            (out.file_offset(section.address()), section.size)
        }
        _ => (out.offset, 0),
    }
}

/// Whether a member has no bytes in its object; among ones that do it is a hole in the file.
fn is_zeroes(sections: &Sections, member: Member) -> bool {
    member.as_section().is_some_and(|id| sections.get(id).kind() == SectionKind::NoBits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::sections::InputSection;

    fn key(unit: &Unit) -> (usize, usize, FileOffset, u64) {
        match unit {
            Unit::Members { first, last, offset, size, .. } => (*first, *last, *offset, *size),
            Unit::Part { part, offset } => (part.section.index(), usize::MAX, *offset, part.size),
            _ => (0, 0, FileOffset::START, 0),
        }
    }

    /// An output section of members that are mostly small, some large, some empty, some with holes before.
    fn laid_out(seed: u64, large: u64) -> (Layout<'static>, Sections<'static>) {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        let mut out = OutputSection::new((&b".data"[..]).into(), crate::elf::SHT_PROGBITS, 0, 0);
        (out.address, out.offset) = (Address::new(1 << 30), FileOffset(4096));
        let mut list = Vec::new();
        let mut end = out.address;
        for i in 0..2 * RUN as u32 + 100 {
            let is_large = random() % large == 0;
            let kind = if random() % 20 == 0 { SectionKind::NoBits } else { SectionKind::Regular };
            let align = if is_large && random() % 4 == 0 { 20 } else { random() % 5 };
            let size = random() % if is_large { 3 * UNIT_BYTES } else { 300 };
            let mut section = InputSection::new(kind, PlacementId(0), align as u32, size);
            let start = end.aligned(section.align());
            section.move_to(start);
            end = start + size;
            list.push(section);
            out.members.push(Member::section(SectionId(i)));
        }
        out.size = end - out.address;
        let layout = Layout {
            format: crate::elf::Format::NATIVE,
            sections: vec![out],
            chunks: Vec::new(),
            segments: Vec::new(),
            by_address: Vec::new(),
            of_bin: vec![OutputSectionId(0)],
            image_base: Address::ZERO,
            raw: false,
            file_size: 0,
            ..Layout::default()
        };
        (layout, Sections { list, ..Sections::default() })
    }

    #[test]
    fn searching_for_borders_finds_those_of_looking_at_each_member() {
        for (seed, large) in [(1, 100), (2, 3000), (3, 1 << 40), (4, 10)] {
            let (layout, sections) = laid_out(seed, large);
            // Every third large section is cut in the middle.
            let cuts = |id: SectionId| match id.0 % 3 {
                0 => vec![0, sections.get(id).size / 2],
                _ => Vec::new(),
            };
            let [slow, one, many] = [(true, false), (false, false), (false, true)].map(|(slow, parallel)| {
                let cutter = Cutter {
                    layout: &layout,
                    sections: &sections,
                    compressed: &[],
                    slicing: &|_| Cuts::Whole,
                    cuts: &cuts,
                    last: None,
                    parallel,
                };
                let mut units = Vec::new();
                match slow {
                    true => cutter.cut(OutputSectionId(0), (0..sections.list.len()).collect(), &mut units),
                    false => cutter.section(OutputSectionId(0), &mut units),
                }
                units.iter().map(key).collect::<Vec<_>>()
            });
            assert!(slow.len() > 5);
            assert_eq!(slow, one);
            assert_eq!(slow, many);
        }
    }
}
