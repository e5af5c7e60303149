//! Chunks that are put between the members of output sections while the layout settles: code for branches
//! that do not reach.
//!
//! What has to lie near something else cannot be known before there are addresses. So chunks can be added
//! then, after any input section; they begin empty, and whoever asked for them gives them their sizes and has
//! the layout done again.

use super::{Chunk, ChunkKind, Layout, Member};
use crate::ids::*;

/// A chunk that is to lie after an input section.
#[derive(Clone, Copy)]
pub struct Insertion {
    pub out: OutputSectionId,
    /// The number that it gets among the members of `out` as they are now; the one before it is an input
    /// section.
    pub place: usize,
    pub kind: ChunkKind,
}

/// Adds empty chunks. Returns their ids, in the order of `list`.
pub fn between(layout: &mut Layout, list: &[Insertion]) -> Vec<ChunkId> {
    let first = layout.chunks.len() as u32;
    let ids: Vec<ChunkId> = (first..).take(list.len()).map(ChunkId).collect();
    let chunk = |one: &Insertion| Chunk::new(one.kind, 0, 1, one.out);
    layout.chunks.extend(list.iter().map(chunk));
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&i| (list[i].out, list[i].place));
    for same in order.chunk_by(|a, b| list[*a].out == list[*b].out) {
        let out = list[same[0]].out;
        let added: Vec<(usize, ChunkId)> = same.iter().map(|&i| (list[i].place, ids[i])).collect();
        let members = std::mem::take(&mut layout[out].members);
        if let Some(script) = layout.script.as_mut().filter(|script| script.lays_out()) {
            script.insert(out, &members, &added);
        }
        layout[out].members = merged(&members, &added);
    }
    ids
}

/// `members` with chunks before those of the numbers that stand beside them, which ascend.
pub(super) fn merged(members: &[Member], added: &[(usize, ChunkId)]) -> Vec<Member> {
    let mut all = Vec::with_capacity(members.len() + added.len());
    let mut done = 0;
    for (place, id) in added {
        all.extend_from_slice(&members[done..*place]);
        all.push(Member::chunk(*id));
        done = *place;
    }
    all.extend_from_slice(&members[done..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::*;
    use crate::layout::OutputSection;

    #[test]
    fn chunks_lie_where_they_are_asked_for() {
        let mut layout = Layout::default();
        for id in 0..2 {
            let mut out = OutputSection::new((&b".text"[..]).into(), SHT_PROGBITS, SHF_ALLOC, 0);
            out.members = (0..3).map(|i| Member::section(SectionId(3 * id + i))).collect();
            layout.sections.push(out);
        }
        let at = |out, place| Insertion {
            out: OutputSectionId(out),
            place,
            kind: ChunkKind::Thunks(place as u32),
        };
        let ids = between(&mut layout, &[at(1, 3), at(0, 1), at(1, 2)]);
        assert_eq!(ids, [ChunkId(0), ChunkId(1), ChunkId(2)]);
        let [s, c] = [|i| Member::section(SectionId(i)), |i| Member::chunk(ChunkId(i))];
        assert_eq!(layout.sections[0].members, [s(0), c(1), s(1), s(2)]);
        assert_eq!(layout.sections[1].members, [s(3), s(4), c(2), s(5), c(0)]);
        assert_eq!(layout.chunks[2].out, OutputSectionId(1));
    }
}
