//! Which sections each output section of a script has, one after the other.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::build::Maker;
use super::*;
use crate::address::Address;
use crate::elf::*;
use crate::layout::members::{self, Builder, Parts, join_members};
use crate::layout::{Chunk, OutputSection};
use crate::script::input_sections::Sort;
use weld_common::par;

impl Maker<'_> {
    /// Lists the members of each output section, in order. Returns the output section of each bin.
    pub(super) fn give_members(
        &mut self,
        outs: &mut [OutputSection],
        found: Vec<Parts>,
        builder: &Builder,
    ) -> Vec<OutputSectionId> {
        let source = self.source;
        let sort = |bin: usize, parts: Parts| {
            let mut members = parts.join();
            let sorted = source.sort(bin, &mut members, builder);
            (members, sorted)
        };
        let mut members: Vec<(Vec<Member>, bool)> = par::map_owned(builder.parallel, found, sort);
        let mut bin_of: Vec<Option<usize>> = vec![None; self.planned.len()];
        for (bin, planned) in self.of_bin.iter().enumerate() {
            if let Some(planned) = *planned {
                bin_of[planned] = Some(bin);
            }
        }
        self.ranges = vec![0..0; self.of_bin.len()];
        let mut of_bin = vec![OutputSectionId::NONE; self.of_bin.len()];
        let mut lists: Vec<Parts> = Vec::new();
        lists.resize_with(outs.len(), Default::default);
        let mut open = None;
        for step in &self.steps {
            match step {
                Step::Begin(block) => open = self.blocks[*block].out,
                Step::Inputs(planned) => {
                    let (Some(out), place) = (open, &mut self.planned[*planned].bin) else { continue };
                    if let Some(bin) = bin_of[*planned] {
                        let (members, sorted) = std::mem::take(&mut members[bin]);
                        if sorted {
                            place.set_sorted(&members);
                        }
                        of_bin[bin] = out;
                        self.ranges[bin] = lists[out.index()].add(members);
                    }
                    lists[out.index()].add(place.chunks.iter().map(|id| Member::chunk(*id)).collect());
                }
                Step::Data(number, _) => {
                    if let Some(out) = open {
                        lists[out.index()].add(vec![Member::chunk(self.data_chunks[*number])]);
                    }
                }
                _ => {}
            }
        }
        join_members(outs, lists, builder.parallel);
        of_bin
    }

    /// Puts sections with `SHF_LINK_ORDER` in the order in which those lie that they are linked to: the parts
    /// of each bin apart.
    pub(super) fn sort_linked(
        &mut self,
        outs: &mut [OutputSection],
        of_bin: &[OutputSectionId],
        builder: &Builder,
    ) {
        let is_linked = |out: &OutputSection| out.flags & SHF_LINK_ORDER != 0;
        if !outs.iter().any(is_linked) {
            return;
        }
        // Where each section lies among the members of its output section.
        let mut places = vec![u64::MAX; builder.sections.list.len()];
        for out in outs.iter() {
            for (place, member) in (0..).zip(&out.members) {
                if let Some(id) = member.as_section() {
                    places[id.index()] = place;
                }
            }
        }
        for (bin, id) in of_bin.iter().enumerate() {
            let out = outs.get_mut(id.index()).filter(|out| is_linked(out));
            if let (Some(out), Some(planned)) = (out, self.of_bin[bin]) {
                let members = &mut out.members[self.ranges[bin].clone()];
                builder.sort_linked(members, of_bin, |leader| places[leader.index()]);
                self.planned[planned].bin.set_sorted(members);
                let leader = |member: &Member| {
                    let leader = builder.leader_of(member.as_section()?)?;
                    let out = of_bin[builder.sections.get(leader).bin().index()];
                    Some((*member, (out, places[leader.index()])))
                };
                let leaders = members.iter().filter_map(leader).collect();
                self.linked.push(Linked { bin: planned, out: *id, leaders });
            }
        }
        for out in outs.iter_mut().filter(|out| is_linked(out)) {
            out.link = builder.link_of(&out.members, of_bin);
        }
    }

    /// The strictest alignment in each block. The thread-local template begins at its own.
    pub(super) fn measure_alignment(
        &mut self,
        outs: &mut [OutputSection],
        parts: &[Vec<Part>],
        chunks: &[Chunk],
        builder: &Builder,
    ) {
        for planned in &self.planned {
            let Some(out) = self.blocks[planned.block].out else { continue };
            let bin = &planned.bin;
            let in_runs =
                bin.parts.iter().map(|&(run, part)| parts[run as usize][part as usize].extent.align());
            let sorted = bin.sorted.iter().map(|member| builder.align_of(member));
            let own = bin.chunks.iter().map(|id| chunks[id.index()].align);
            let align = in_runs.chain(sorted).chain(own).max().unwrap_or(1);
            let out = &mut outs[out.index()];
            out.align = out.align.max(align);
        }
        if !builder.program.is_object() {
            members::align_tls(outs);
        }
        for block in &mut self.blocks {
            block.inner_align = block.out.map_or(1, |out| outs[out.index()].align);
        }
    }
}

impl Scripted {
    /// Puts sections with `SHF_LINK_ORDER` in the order of the addresses that what they are linked to has
    /// got. Whether that changed something: output sections need not lie in the order of their addresses.
    pub(super) fn sort_linked(&mut self, layout: &mut Layout) -> bool {
        let mut changed = false;
        for linked in &self.linked {
            let list = &mut self.bins[linked.bin].sorted;
            let mut sorted = list.clone();
            sorted.sort_by_key(|member| match linked.leaders.get(member) {
                Some((out, place)) if out.is_some() => (layout[*out].address, *out, *place),
                _ => (Address::MAX, OutputSectionId::NONE, 0),
            });
            if sorted == *list {
                continue;
            }
            changed = true;
            let mut next = sorted.iter();
            for member in &mut layout[linked.out].members {
                if linked.leaders.contains_key(member)
                    && let Some(other) = next.next()
                {
                    *member = *other;
                }
            }
            *list = sorted;
        }
        changed
    }
}

impl Bin {
    /// Its members have an order of their own.
    fn set_sorted(&mut self, members: &[Member]) {
        self.sorted = members.to_vec();
        self.parts.clear();
    }
}

impl Source<'_> {
    /// Puts the members of a bin in the order that the script or options ask for, if they do.
    fn sort(&self, bin: usize, list: &mut [Member], builder: &Builder) -> bool {
        let of_script = self.rules.bin(PlacementId(bin as u32));
        let parallel = builder.parallel;
        let name = |member: &Member| -> &[u8] {
            member.as_section().and_then(|id| builder.name_of(id)).unwrap_or(b"")
        };
        let mut sorted = false;
        if let Some(of_script) = of_script.filter(|bin| bin.sort[0] != Sort::Default) {
            // The second key first: sorts are stable.
            for sort in of_script.sort.iter().rev() {
                match sort {
                    Sort::Default | Sort::None => continue,
                    Sort::Name => sort_by_key(list, parallel, name),
                    Sort::NameReversed => sort_by_key(list, parallel, |m| Reverse(name(m))),
                    Sort::Alignment if of_script.subalign.is_some() => {
                        sort_by_key(list, parallel, |m| Reverse(builder.own_align_of(m)))
                    }
                    Sort::Alignment => sort_by_key(list, parallel, |m| Reverse(builder.align_of(m))),
                    Sort::InitPriority => sort_by_key(list, parallel, |m| init_priority(name(m))),
                    Sort::InitPriorityReversed => {
                        sort_by_key(list, parallel, |m| Reverse(init_priority(name(m))))
                    }
                }
                sorted = true;
            }
        }
        if of_script.is_some_and(|bin| bin.sort_files) {
            sort_by_key(list, parallel, |member| builder.file_of(member));
            sorted = true;
        }
        let has_place = |member: &Member| member.as_section().is_some_and(|id| builder.order.has(id));
        if !builder.order.is_empty() && list.iter().any(has_place) {
            list.sort_by_key(|m| m.as_section().map_or((i64::MAX, 0), |id| builder.order.place(id)));
            sorted = true;
        }
        sorted
    }
}

/// Those with the same key stay as they are.
fn sort_by_key<K: Ord + Send + Sync>(list: &mut [Member], parallel: bool, key: impl Fn(&Member) -> K + Sync) {
    match parallel {
        true => list.par_sort_by_cached_key(key),
        false => list.sort_by_cached_key(key),
    }
}

/// The number at the end of a name of constructors; those of `.ctors` and `.dtors` count backwards. Without
/// one: last.
fn init_priority(name: &[u8]) -> u32 {
    let dot = name.iter().rposition(|b| *b == b'.');
    let digits = dot.map_or(&b""[..], |dot| &name[dot + 1..]);
    let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u32>().ok());
    match number {
        Some(number) if name.starts_with(b".ctors.") || name.starts_with(b".dtors.") => {
            65535u32.saturating_sub(number)
        }
        Some(number) => number,
        None => 65536,
    }
}
