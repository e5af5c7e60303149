//! Where pools of thunks may lie: after input sections, often enough that a branch has one before it or after
//! it.

use super::search::World;
use crate::ids::*;
use crate::layout::{Layout, Member};
use crate::sections::Sections;

/// The members of an output section, by their offsets.
pub struct Members<'r, 'w, 'a> {
    pub world: &'r World<'w, 'a>,
    pub layout: &'r Layout<'a>,
    pub sections: &'r Sections<'a>,
    pub list: &'r [Member],
}

impl Members<'_, '_, '_> {
    /// Offset and size of member `i`.
    fn place(&self, i: usize) -> (u64, u64) {
        match (self.list[i].as_section(), self.list[i].as_chunk()) {
            (Some(id), _) => {
                let section = self.sections.get(id);
                (section.offset(), section.size)
            }
            (None, Some(id)) => {
                let chunk = &self.layout.chunks[id.index()];
                (chunk.address, chunk.size)
            }
            (None, None) => (0, 0),
        }
    }

    fn end(&self, i: usize) -> u64 {
        let (offset, size) = self.place(i);
        offset.saturating_add(size)
    }

    /// The number of the first member for which `holds`, which then holds for all after it.
    fn first(&self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.list.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Where a pool before member `i` begins.
    pub fn offset(&self, i: usize) -> u64 {
        if i == 0 { 0 } else { self.end(i - 1) }
    }

    /// Whether a pool may lie before member `i`: after an input section, and not between pieces of one
    /// function.
    fn may_open(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1).and_then(|i| self.list[i].as_section()) else { return false };
        let after = self.list.get(i).and_then(|member| member.as_section());
        !(self.is_piece(before) && after.is_some_and(|id| self.is_piece(id)))
    }

    /// `.init` and `.fini` are functions in pieces.
    fn is_piece(&self, id: SectionId) -> bool {
        let object = &self.world.resolved.objects[self.world.owners.object(id).index()];
        let name = object.section_name((id.0 - object.section_base) as usize);
        matches!(name, Some(b".init" | b".fini"))
    }

    /// Where pools are to lie so that they are at most about `spacing` bytes apart, the last one at the end;
    /// ascending.
    pub fn spaced(&self, spacing: u64) -> Vec<usize> {
        let count = self.list.len();
        let mut places = Vec::new();
        let Some(last) = (1..=count).rev().find(|&i| self.may_open(i)) else { return places };
        let mut from = self.place(0).0;
        while self.offset(last).saturating_sub(from) > spacing {
            let limit = from.saturating_add(spacing);
            let after = places.last().copied().unwrap_or(0) + 1;
            let ideal = self.first(|i| self.end(i) > limit);
            // Before the first member that goes too far, else after it.
            let before = (after..=ideal).rev().find(|&i| self.may_open(i));
            let Some(place) = before.or_else(|| (ideal.max(after)..last).find(|&i| self.may_open(i))) else {
                break;
            };
            if place >= last {
                break;
            }
            places.push(place);
            from = self.offset(place);
        }
        places.push(last);
        places
    }

    /// The nearest places for a pool after and before a section.
    pub fn around(&self, id: SectionId) -> impl Iterator<Item = usize> {
        let start = self.sections.get(id).offset();
        let first = self.first(|i| self.place(i).0 >= start);
        let at = (first..self.list.len()).find(|&i| self.list[i].as_section() == Some(id)).unwrap_or(first);
        let behind = (at + 1..=self.list.len()).find(|&i| self.may_open(i));
        let before = (0..=at).rev().find(|&i| self.may_open(i));
        behind.into_iter().chain(before)
    }
}
