//! Where everything lies: output sections, their members in order, addresses.
//!
//! Sections of one name and with the same flags are a part. Parts with the same name up to a `$` make an
//! output section, in the order of their full names; members of a part are in the order of the section list.
//! So the order of the whole image is one counting sort by the part's rank. Addresses are found by runs of
//! members: how far a run reaches, where each begins, where each member lies.
//!
//! [`program`] says which output sections there are and in which order.

pub mod patch_space;
pub mod program;
pub mod rooms;
pub mod section_order;
pub mod thunks;
pub mod yards;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::runs::{Extent, align_to};
use weld_common::{par, sort, text, zeroed};

use crate::address::{FileOffset, Rva};
use crate::arch::OutputSections;
use crate::coff::pe;
use crate::ids::SectionId;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{Kind, PartialSection, Section, Sections};
use patch_space::PatchSpace;
use rooms::Rooms;
use yards::{Told, Yard};

/// Members of a run.
const RUN: usize = 4096;

pub struct OutputSection {
    pub name: Vec<u8>,
    pub flags: u32,
    /// Its members in [`Layout::order`].
    pub members: Range<usize>,
    pub rva: Rva,
    pub virtual_size: u64,
    /// Bytes in the file, a multiple of the file's alignment.
    pub raw_size: u64,
    pub offset: FileOffset,
}

impl OutputSection {
    pub fn is_code(&self) -> bool {
        self.flags & pe::IMAGE_SCN_CNT_CODE.0 != 0
    }
}

pub struct Layout {
    pub outs: Vec<OutputSection>,
    /// Sections in the order of the image.
    pub order: Vec<u32>,
    /// Offset in the image of each section in the list.
    rvas: Vec<AtomicU32>,
    /// Of a part: where it stands among all parts of the image.
    rank: Vec<u32>,
    /// The output section of each rank.
    out_of_rank: Vec<u32>,
    pub headers_size: u64,
    pub image_size: u64,
    pub file_size: u64,
    /// The output section for base relocations.
    pub relocs: Option<usize>,
    /// Room for what a later link adds.
    pub yards: Vec<Yard>,
}

impl OutputSections for Layout {
    fn count(&self) -> usize {
        self.outs.len()
    }

    #[inline]
    fn holding(&self, part: Option<u32>, rva: Rva) -> Option<(usize, Rva)> {
        self.out_of(part, rva).map(|out| (out, self.outs[out].rva))
    }
}

impl Layout {
    /// Where a section lies; 0, where only headers are, if it is not in the image.
    #[inline]
    pub fn rva(&self, section: SectionId) -> Rva {
        Rva::new(self.rvas[section.index()].load(Ordering::Relaxed))
    }

    /// A section lies where another one does.
    pub fn stand_in(&self, folded: SectionId, leader: SectionId) {
        self.rvas[folded.index()].store(self.rva(leader).get(), Ordering::Relaxed);
    }

    /// The output section of a symbol: that of the part that it belongs to, where the end of a section is in
    /// that section, or else the one around its address.
    #[inline]
    pub fn out_of(&self, part: Option<u32>, rva: Rva) -> Option<usize> {
        let rank = part.and_then(|part| self.rank.get(part as usize));
        let out = rank.and_then(|rank| self.out_of_rank.get(*rank as usize));
        out.filter(|&&out| out != u32::MAX).map(|&out| out as usize).or_else(|| self.out_at(rva))
    }

    /// The output section with this address in it.
    pub fn out_at(&self, rva: Rva) -> Option<usize> {
        let after = self.outs.partition_point(|out| out.rva <= rva);
        after.checked_sub(1)
    }

    /// The members of an output section, part by part.
    pub fn parts_of<'l>(&'l self, sections: &'l Sections, out: usize) -> impl Iterator<Item = &'l [u32]> {
        let mut rest = &self.order[self.outs[out].members.clone()];
        std::iter::from_fn(move || {
            let rank = |id: u32| self.rank[sections.list[id as usize].part as usize];
            let first = rank(*rest.first()?);
            let (own, behind) = rest.split_at(rest.partition_point(|&id| rank(id) == first));
            rest = behind;
            Some(own)
        })
    }

    /// The members of parts called `name`, or that and more after a `$`.
    pub fn members_of(&self, sections: &Sections, name: &[u8]) -> Range<usize> {
        let is_named = |part: &PartialSection| {
            part.name.strip_prefix(name).is_some_and(|b| matches!(b, [] | [b'$', ..]))
        };
        let part = |id: u32| sections.list[id as usize].part as usize;
        let ranks = sections.parts.iter().zip(&self.rank).filter(|(part, _)| is_named(part));
        let Some(least) = ranks.map(|(_, rank)| *rank).min() else { return 0..0 };
        let start = self.order.partition_point(|&id| self.rank[part(id)] < least);
        // Part by part.
        let mut end = start;
        while let Some(&first) = self.order.get(end).filter(|id| is_named(&sections.parts[part(**id)])) {
            let rank = self.rank[part(first)];
            end += self.order[end..].partition_point(|&id| self.rank[part(id)] == rank);
        }
        start..end
    }
}

/// Sections in the order of the image.
#[derive(Clone)]
pub struct Order {
    pub list: Vec<u32>,
    /// Those of each output section.
    pub ranges: Vec<Range<usize>>,
}

/// Puts live sections in order. There are no addresses yet.
pub fn order(sections: &Sections, live: &Live, program: &program::Program, parallel: bool) -> Order {
    let list = &sections.list;
    let run = |run: Range<usize>| {
        let ids = run.filter(|&id| list[id].is_in_image() && live.has(SectionId(id as u32)));
        ids.map(|id| id as u32)
            .filter(|&id| program.rank[list[id as usize].part as usize] != u32::MAX)
            .collect()
    };
    let ids: Vec<u32> = par::concat(
        "join live sections",
        parallel,
        par::runs("live sections", parallel, list.len(), 1 << 15, run),
    );
    let rank = |id: &u32| program.rank[list[*id as usize].part as usize];
    let order = sort::by_bucket(ids, program.ranks.max(1), parallel, rank);
    let ranges = program
        .outs
        .iter()
        .map(|out| {
            let start = order.partition_point(|id| rank(id) < out.ranks.start);
            let end = order.partition_point(|id| rank(id) < out.ranks.end);
            start..end
        })
        .collect();
    Order { list: order, ranges }
}

/// What addresses depend on.
pub struct Placer<'p> {
    pub sections: &'p Sections,
    pub options: &'p Options,
    pub sink: &'p DiagSink,
    pub patch_space: Option<&'p PatchSpace>,
    pub rooms: Option<&'p Rooms>,
    /// Places that are given, if what has them is to be verified.
    pub told: Option<&'p Told>,
    pub parallel: bool,
}

/// What is between members of an output section.
trait Spaces: Sync {
    fn align(&self, section: &Section) -> u64;
    /// In front of a section.
    fn before(&self, section: &Section) -> u64;
    /// Of a section with its room.
    fn size(&self, section: &Section) -> u64;
    /// Behind the member with this number.
    fn behind(&self, member: usize) -> u64;
}

/// Nothing is.
struct Dense;

impl Spaces for Dense {
    #[inline(always)]
    fn align(&self, section: &Section) -> u64 {
        1 << section.align
    }

    #[inline(always)]
    fn before(&self, _: &Section) -> u64 {
        0
    }

    #[inline(always)]
    fn size(&self, section: &Section) -> u64 {
        section.size.into()
    }

    #[inline(always)]
    fn behind(&self, _: usize) -> u64 {
        0
    }
}

struct Spaced<'p> {
    patch_space: Option<&'p PatchSpace>,
    rooms: Option<&'p Rooms>,
    gaps: &'p [yards::Gap],
}

impl Spaces for Spaced<'_> {
    fn align(&self, section: &Section) -> u64 {
        1 << self.rooms.map_or(section.align, |rooms| rooms.align(section))
    }

    fn before(&self, section: &Section) -> u64 {
        self.patch_space.map_or(0, |space| space.before(section))
    }

    fn size(&self, section: &Section) -> u64 {
        self.rooms.map_or(section.size.into(), |rooms| rooms.size(section))
    }

    fn behind(&self, member: usize) -> u64 {
        self.gaps.iter().find(|gap| gap.behind == member).map_or(0, |gap| gap.size)
    }
}

impl Placer<'_> {
    /// Gives addresses to what is in `order`. `headers` is the size of what comes in front, and `relocs`
    /// makes the base relocations, which lie after all that needs any, and says how large they are.
    pub fn place(
        &self,
        program: program::Program,
        order: Order,
        headers: u64,
        relocs: impl FnOnce(&Layout) -> u64,
    ) -> Layout {
        let file_align = self.options.layout.file_align;
        let headers_size = align_to(headers, file_align);
        let mut layout = Layout {
            outs: Vec::new(),
            rvas: zeroed::sparse(self.sections.list.len()),
            rank: program.rank,
            out_of_rank: vec![u32::MAX; program.ranks as usize],
            headers_size,
            image_size: align_to(headers_size, self.options.layout.align),
            file_size: headers_size,
            relocs: None,
            order: order.list,
            yards: Vec::new(),
        };
        let mut relocs = Some(relocs);
        for (out, members) in program.outs.into_iter().zip(order.ranges) {
            let (is_relocs, ranks) = (out.is_relocs, out.ranks.clone());
            let mut placed = OutputSection {
                name: out.name,
                flags: out.flags,
                // It fits: a larger image has been an error.
                rva: Rva::new(layout.image_size as u32),
                members,
                virtual_size: 0,
                raw_size: 0,
                offset: FileOffset::START,
            };
            if is_relocs {
                // All that base relocations are about has its address now.
                let Some(make) = relocs.take() else { continue };
                placed.virtual_size = make(&layout);
                placed.raw_size = align_to(placed.virtual_size, file_align);
                if placed.virtual_size == 0 {
                    continue;
                }
                layout.relocs = Some(layout.outs.len());
            } else {
                self.place_out(&mut layout, &mut placed);
                if placed.virtual_size == 0 {
                    continue;
                }
            }
            if placed.raw_size != 0 {
                placed.offset = FileOffset(layout.file_size);
            }
            layout.image_size = align_to(layout.image_size + placed.virtual_size, self.options.layout.align);
            layout.file_size += placed.raw_size;
            if layout.image_size > u64::from(u32::MAX) || layout.file_size > u64::from(u32::MAX) {
                let name = text::text(&placed.name).into_owned();
                self.sink
                    .push(Diagnostic::error(Cause::TooLarge, format!("section larger than 4 GiB: {name}")));
                return layout;
            }
            layout.out_of_rank[ranks.start as usize..ranks.end as usize].fill(layout.outs.len() as u32);
            layout.outs.push(placed);
        }
        layout
    }

    /// Places the members of an output section and says how large it is.
    fn place_out(&self, layout: &mut Layout, out: &mut OutputSection) {
        let (patch_space, rooms) = (self.patch_space, self.rooms);
        if let Some((told, rooms)) = self.told.zip(rooms) {
            return self.place_as_told(layout, out, (told, rooms));
        }
        if patch_space.is_none() && rooms.is_none() {
            return self.place_members(layout, out, &Dense);
        }
        let members = &layout.order[out.members.clone()];
        let gaps = rooms.map_or(Vec::new(), |rooms| yards::gaps(members, self.sections, rooms));
        let spaced = Spaced { patch_space, rooms, gaps: &gaps };
        self.place_members(layout, out, &spaced);
        let list = &self.sections.list;
        let is_bss = |gap: &yards::Gap| list[members[gap.behind] as usize].is_bss();
        let mut raw_end = 0;
        for gap in &gaps {
            let id = members[gap.behind];
            let start = layout.rva(SectionId(id)) + spaced.size(&list[id as usize]) as u32;
            let (first, end) = (layout.rva(SectionId(members[gap.first])), start + gap.size as u32);
            if !is_bss(gap) {
                raw_end = u64::from(end - out.rva);
            }
            layout.yards.push(Yard { part: gap.part, first, start, end });
        }
        out.raw_size = out.raw_size.max(align_to(raw_end, self.options.layout.file_align));
    }

    /// The same where places are given. Members are in the order of their places then.
    fn place_as_told(&self, layout: &mut Layout, out: &mut OutputSection, (told, rooms): (&Told, &Rooms)) {
        let list = &self.sections.list;
        let part = |id: &u32| list[*id as usize].part;
        let mut members = layout.order[out.members.clone()].to_vec();
        let (mut at, mut raw_end) = (0, 0);
        for own in members.chunk_by_mut(|a, b| part(a) == part(b)) {
            let (offsets, yard, end) = yards::places(told, own, (self.sections, rooms), at);
            at = at.max(end);
            for (id, offset) in own.iter().zip(&offsets) {
                layout.rvas[*id as usize].store((out.rva + *offset as u32).get(), Ordering::Relaxed);
                let section = &list[*id as usize];
                if !section.is_bss() {
                    raw_end = raw_end.max(offset + rooms.size(section));
                }
            }
            if let Some(yard) = yard {
                let [first, start, end] = [yard.first, yard.start, yard.end].map(|offset| out.rva + offset);
                layout.yards.push(Yard { part: part(&own[0]), first, start, end });
                if own.iter().any(|id| !list[*id as usize].is_bss()) {
                    raw_end = raw_end.max(yard.end.into());
                }
            }
            own.sort_by_key(|id| (layout.rva(SectionId(*id)), list[*id as usize].size));
        }
        layout.order[out.members.clone()].copy_from_slice(&members);
        out.virtual_size = at;
        out.raw_size = align_to(raw_end, self.options.layout.file_align);
    }

    fn place_members(&self, layout: &Layout, out: &mut OutputSection, spaces: &impl Spaces) {
        let members = &layout.order[out.members.clone()];
        let list = &self.sections.list;
        let runs = par::runs("extent of sections", self.parallel, members.len(), RUN, |run| {
            let mut extent = Extent::default();
            // Where what has bytes in the file ends, for a run that has any.
            let last = members[run.clone()].iter().rposition(|&id| !list[id as usize].is_bss());
            for number in run.clone() {
                let section = &list[members[number] as usize];
                match spaces.before(section) {
                    0 => {}
                    space => extent.push(1, space),
                }
                extent.push(spaces.align(section), spaces.size(section));
                match spaces.behind(number) {
                    0 => {}
                    space => extent.push(1, space),
                }
            }
            (run, extent, last)
        });
        let mut at = 0;
        let mut starts = Vec::with_capacity(runs.len());
        for (run, extent, _) in &runs {
            starts.push((run.clone(), at));
            at = extent.end(at);
        }
        out.virtual_size = at;
        if u64::from(out.rva.get()) + at > u64::from(u32::MAX) {
            return;
        }
        let place = |i: usize| {
            let (run, start) = &starts[i];
            let mut at = *start;
            for number in run.clone() {
                let id = members[number];
                let section = &list[id as usize];
                at = align_to(at + spaces.before(section), spaces.align(section));
                layout.rvas[id as usize].store((out.rva + at as u32).get(), Ordering::Relaxed);
                at += spaces.size(section) + spaces.behind(number);
            }
        };
        _ = par::runs("place sections", self.parallel, starts.len(), 1, |run| run.for_each(place));
        let last = runs.iter().rev().find_map(|(run, _, last)| Some(run.start + (*last)?));
        if let Some(last) = last {
            let id = members[last];
            let end = u64::from(layout.rva(SectionId(id)) - out.rva) + spaces.size(&list[id as usize]);
            out.raw_size = align_to(end, self.options.layout.file_align);
        }
    }
}

/// Sorts imports that come from objects (GNU import libraries) so that what belongs to a DLL is together: by
/// library and object. What the linker makes is after them.
pub fn sort_imports(resolved: &Resolved, sections: &Sections, order: &mut [u32]) {
    let is_idata =
        |id: &u32| sections.parts[sections.list[*id as usize].part as usize].name.starts_with(b".idata");
    let mut at = 0;
    while at < order.len() {
        let part = sections.list[order[at] as usize].part;
        let count = order[at..].iter().take_while(|id| sections.list[**id as usize].part == part).count();
        if is_idata(&order[at]) {
            order[at..at + count].sort_by_cached_key(|&id| {
                let section = &sections.list[id as usize];
                if section.kind == Kind::SyntheticSection {
                    return (true, Vec::new());
                }
                let name = &resolved.objects[section.object.index()].name;
                (false, [name.path.as_bytes(), b"/", name.member.unwrap_or_default()].concat())
            });
        }
        at += count;
    }
}
