//! Gathering and placing input sections by runs of them, in parallel.
//!
//! A link has millions of input sections and a few dozen output sections, most of them in one or two; so
//! the table of input sections is cut into runs. Each run lists what it has for each output section, in
//! order, and how far that reaches from wherever it will begin (an [`Extent`]). Where it begins follows from
//! the runs before it: a few additions for each run and output section. Then each run gives its sections
//! their offsets.
//!
//! What comes out is the same as from one loop over all sections, however they are cut.

use std::ops::Range;

use weld_common::runs::{ByBin, Extent, align_to};

use super::Member;
use crate::ids::*;
use crate::live::Live;
use crate::sections::{InputSection, OutputUse};

/// Sections of a run.
pub const RUN: usize = 16 << 10;

/// What a run has for one bin.
pub struct Group {
    pub bin: PlacementId,
    pub members: Vec<Member>,
    pub extent: Extent,
}

/// Lists the members that sections `range` have for each bin; `bins` is how many there are.
pub fn gather(list: &[InputSection], range: Range<usize>, live: &Live, bins: usize) -> Vec<Group> {
    let mut groups: ByBin<(Vec<Member>, Extent)> = ByBin::new(bins, range.len());
    for (i, section) in list[range.clone()].iter().enumerate() {
        let id = SectionId((range.start + i) as u32);
        if section.is_copied() && live.contains(id) {
            let (members, extent) = groups.get(section.bin().index(), Default::default);
            members.push(Member::section(id));
            extent.push(section.align(), section.size);
        }
    }
    let group = |(bin, (members, extent))| Group { bin: PlacementId(bin as u32), members, extent };
    groups.into_list().into_iter().map(group).collect()
}

/// Joins what objects contribute to headers, by bin.
pub fn join_uses<'u>(
    uses: impl Iterator<Item = &'u OutputUse>,
    bins: usize,
) -> Vec<(PlacementId, OutputUse)> {
    let mut joined: ByBin<Option<OutputUse>> = ByBin::new(bins, 0);
    for used in uses {
        match joined.get(used.bin.index(), || None) {
            Some(seen) => seen.join(used),
            slot => *slot = Some(*used),
        }
    }
    joined.into_list().into_iter().filter_map(|(bin, used)| Some((PlacementId(bin as u32), used?))).collect()
}

/// Where the members of a [`Group`] went.
pub struct Part {
    pub bin: PlacementId,
    /// Among the members of the output section, which other runs begin.
    pub members: Range<usize>,
    pub extent: Extent,
    /// Offset in the output section, padding included; `None` if something else decides on places there.
    pub start: Option<u64>,
}

/// Gives `members`, which lie in `sections` from number `base` on, their offsets from `start` on.
pub fn place(members: &[Member], sections: &mut [InputSection], base: usize, start: u64) {
    let mut offset = start;
    for id in members.iter().filter_map(|m| m.as_section()) {
        let section = &mut sections[id.index() - base];
        section.set_offset(align_to(offset, section.align()));
        offset = section.offset().saturating_add(section.size);
    }
}

/// As [`place`], from the address `start` on in an output section that begins at `origin`.
pub fn place_from(members: &[Member], sections: &mut [InputSection], base: usize, start: u64, origin: u64) {
    let mut address = start;
    for id in members.iter().filter_map(|m| m.as_section()) {
        let section = &mut sections[id.index() - base];
        let at = align_to(address, section.align());
        section.set_offset(at.wrapping_sub(origin));
        address = at.saturating_add(section.size);
    }
}

#[cfg(test)]
mod tests {
    use weld_common::runs::FEW_BINS;
    use weld_common::walk::Marks;

    use super::*;
    use crate::layout::members::Builder;
    use crate::layout::program::Program;
    use crate::live::SectionOwners;
    use crate::options::Options;
    use crate::section_order::SectionOrder;
    use crate::sections::{SectionKind, Sections};

    /// Numbers without a pattern.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    /// Sections of several runs in a few output sections, and in thousands.
    fn sections(names: u64) -> Sections<'static> {
        let mut state = names;
        let mut list = Vec::new();
        for _ in 0..3 * RUN + 5 {
            let kind = match random(&mut state) % 8 {
                0 => SectionKind::Dropped,
                1 => SectionKind::Merge,
                2 => SectionKind::NoBits,
                _ => SectionKind::Regular,
            };
            let (out, align) = (random(&mut state) % names, random(&mut state) % 7);
            list.push(InputSection::new(
                kind,
                PlacementId(out as u32),
                align as u32,
                random(&mut state) % 100,
            ));
        }
        Sections { list, bins: vec![b".name"; names as usize], ..Sections::default() }
    }

    #[test]
    fn runs_lay_out_as_one_loop_does() {
        let options = Options::default();
        for names in [3, 2 * FEW_BINS as u64] {
            // All but one in 32.
            let marks = Marks::new(3 * RUN + 5);
            (0..3 * RUN as u32 + 5).filter(|i| i % 32 != i / 32 % 32).for_each(|i| {
                marks.set(i);
            });
            let live = Live::new(marks);
            let [one, many] = [false, true].map(|parallel| {
                let mut sections = sections(names);
                let count = sections.list.len();
                let owners = SectionOwners::new(&[], count);
                let order = SectionOrder::default();
                let builder = Builder {
                    machine: crate::arch::default().facts(),
                    objects: &[],
                    order: &order,
                    sections: &mut sections,
                    live: &live,
                    owners: &owners,
                    options: &options,
                    program: &Program::new(&options, crate::arch::default().facts(), 0),
                    heads: None,
                    kept_relocs: None,
                    script: None,
                    parallel,
                };
                let layout = builder.build(Vec::new()).unwrap();
                let outs: Vec<_> =
                    layout.sections.into_iter().map(|out| (out.members, out.size, out.align)).collect();
                let addresses: Vec<u64> = sections.list.iter().map(|s| s.offset()).collect();
                (outs, layout.of_bin, addresses)
            });
            assert!(one == many, "{names} names");
            // And that is one after the other.
            let mut ends = vec![0; one.0.len()];
            for (i, section) in sections(names).list.iter().enumerate() {
                let copied = section.is_copied() && live.contains(SectionId(i as u32));
                let end = match copied {
                    true => &mut ends[one.1[section.bin().index()].index()],
                    false => &mut 0,
                };
                let start = align_to(*end, section.align());
                assert_eq!(one.2[i], if copied { start } else { 0 });
                *end = start + section.size;
            }
        }
    }
}
