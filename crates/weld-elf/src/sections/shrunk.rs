//! Code that gets shorter: which bytes of input sections are left out, and so where each of the others is.
//!
//! Some machines' compilers write the longest form of an instruction, and leave it to the linker to take a
//! shorter one. All places of a section that might get shorter are listed once ([`RelaxDelta`]); layout then
//! says, round by round, how many bytes go at each (`layout::shrink`). The deltas of all sections are one
//! array, in the order of sections and of places. Links of other machines have none.
//!
//! With [`crate::arch::relax_deltas`] this is the one map from offsets in the input to offsets in the output.
//! It is asked by way of [`super::Sections::output_offset`].

use std::ops::Range;

use crate::arch::relax_deltas::RelaxDelta;
use crate::ids::*;

/// Sections with how many deltas each has, and these.
pub type List = (Vec<(SectionId, u32)>, Vec<RelaxDelta>);

/// The deltas of all sections.
#[derive(Default)]
pub struct Shrunk {
    /// For each section, where it is in `ranges`, and one more; 0 if it has none. Empty if no section has
    /// any.
    number: Vec<u32>,
    ranges: Vec<(SectionId, Range<u32>)>,
    deltas: Vec<RelaxDelta>,
}

impl Shrunk {
    /// From the sections that have any, by their ids, in runs. `count` is that of all sections.
    pub fn new(lists: Vec<List>, count: usize) -> Shrunk {
        let mut all = Shrunk::default();
        if lists.iter().all(|(sections, _)| sections.is_empty()) {
            return all;
        }
        all.number = vec![0; count];
        all.deltas.reserve_exact(lists.iter().map(|list| list.1.len()).sum());
        for (sections, deltas) in lists {
            let mut start = all.deltas.len() as u32;
            for (id, count) in sections {
                all.ranges.push((id, start..start + count));
                all.number[id.index()] = all.ranges.len() as u32;
                start += count;
            }
            all.deltas.extend(deltas);
        }
        all
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The sections that have deltas.
    pub fn sections(&self) -> impl Iterator<Item = SectionId> {
        self.ranges.iter().map(|(id, _)| *id)
    }

    /// How many sections have deltas, and how many these are.
    pub fn counts(&self) -> (usize, usize) {
        (self.ranges.len(), self.deltas.len())
    }

    /// `folded` has the deltas of `leader`, which stands for it.
    pub fn fold(&mut self, folded: SectionId, leader: SectionId) {
        if !self.is_empty() {
            self.number[folded.index()] = self.number[leader.index()];
        }
    }

    /// The deltas of a section, by their places.
    #[inline]
    pub fn deltas(&self, id: SectionId) -> &[RelaxDelta] {
        match self.number.get(id.index()) {
            None | Some(0) => &[],
            Some(number) => self.nth(*number as usize - 1).1,
        }
    }

    /// The section number `i` of those that have deltas.
    pub fn nth(&self, i: usize) -> (SectionId, &[RelaxDelta]) {
        (self.ranges[i].0, &self.deltas[self.range(i)])
    }

    /// Where the deltas of that section are among all deltas.
    #[inline]
    pub fn range(&self, i: usize) -> Range<usize> {
        let range = &self.ranges[i].1;
        range.start as usize..range.end as usize
    }

    /// The sections from number `first` on, `sections.len()` of them at most, with their deltas to be changed
    /// and the values of `of` for these: pieces of `run` sections.
    pub fn pieces<'s, T>(&'s mut self, of: &'s [T], run: usize) -> Vec<Piece<'s, T>> {
        let mut pieces = Vec::with_capacity(self.ranges.len().div_ceil(run));
        let (mut deltas, mut values) = (&mut self.deltas[..], of);
        for ranges in self.ranges.chunks(run) {
            let count = ranges.iter().map(|(_, range)| range.len()).sum();
            let (own, others) = deltas.split_at_mut(count);
            let (own_values, other_values) = values.split_at(count);
            pieces.push(Piece { ranges, deltas: own, values: own_values });
            (deltas, values) = (others, other_values);
        }
        pieces
    }
}

/// Some sections with their deltas, and a value for each delta.
pub struct Piece<'s, T> {
    ranges: &'s [(SectionId, Range<u32>)],
    deltas: &'s mut [RelaxDelta],
    values: &'s [T],
}

impl<T> Piece<'_, T> {
    /// Calls `each` for each section.
    pub fn each(&mut self, mut each: impl FnMut(SectionId, &mut [RelaxDelta], &[T])) {
        let mut start = 0;
        for (id, range) in self.ranges {
            let end = start + range.len();
            each(*id, &mut self.deltas[start..end], &self.values[start..end]);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(end: u32, gone: u32) -> RelaxDelta {
        RelaxDelta { end, gone, ..RelaxDelta::default() }
    }

    #[test]
    fn sections_without_cuts_stay_as_they_are() {
        let mut none = Shrunk::default();
        assert!(none.deltas(SectionId(3)).is_empty() && none.is_empty());
        none.fold(SectionId(1), SectionId(0));
        let all = vec![delta(4, 4), delta(8, 4), delta(12, 6)];
        let mut some = Shrunk::new(vec![(vec![(SectionId(1), 1), (SectionId(4), 2)], all)], 6);
        assert_eq!(some.deltas(SectionId(4)), [delta(8, 4), delta(12, 6)]);
        some.fold(SectionId(5), SectionId(1));
        assert_eq!(some.deltas(SectionId(5)), [delta(4, 4)]);
        assert!(some.deltas(SectionId(0)).is_empty() && some.deltas(SectionId(9)).is_empty());
        let mut seen = Vec::new();
        for mut piece in some.pieces(&[7, 8, 9], 1) {
            piece.each(|id, deltas, values| seen.push((id.0, deltas.len(), values.to_vec())));
        }
        assert_eq!(seen, [(1, 1, vec![7]), (4, 2, vec![8, 9])]);
    }
}
