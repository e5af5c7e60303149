//! In which order a page has input sections, and who refers to whom by that.
//!
//! A model has them as its maker met them, by object. A page has them as the file does: neighbours in the file
//! are neighbours in most columns then, and differences of their numbers are small.

use std::borrow::Cow;

use weld_common::walk::Marks;

use crate::leb;
use crate::model::{Graph, Model, Ref};

/// The rows of input sections in a page.
pub struct Order {
    /// `None`: they are those of the model.
    moved: Option<Moved>,
}

struct Moved {
    /// The row in the model, by row of the page.
    rows: Vec<u32>,
    /// The row in the page, by row of the model.
    place: Vec<u32>,
}

impl Order {
    /// By the first piece of each; those without pieces come last, unless all others are in order in the model: links have
    /// them so, and nothing has to be moved then.
    pub fn new(model: &Model) -> Order {
        const UNKNOWN: u32 = u32::MAX;
        let count = model.inputs.len();
        let seen = Marks::new(count);
        let mut highest = None;
        // Others may lie between pieces of a section.
        let is_next = |row| !seen.set(row as u32) || highest.replace(row) < Some(row);
        if model.pieces.iter().filter_map(|piece| piece.input.row()).all(is_next) {
            return Order { moved: None };
        }
        let (mut rows, mut place) = (Vec::with_capacity(count), vec![UNKNOWN; count]);
        let of_pieces = model.pieces.iter().filter_map(|piece| piece.input.row());
        for row in of_pieces.chain(0..count) {
            if place[row] == UNKNOWN {
                place[row] = rows.len() as u32;
                rows.push(row as u32);
            }
        }
        Order { moved: Some(Moved { rows, place }) }
    }

    /// What the model has for its rows, in the page's order.
    pub fn sorted<'m, T: Copy>(&self, of: &'m [T]) -> Cow<'m, [T]> {
        match &self.moved {
            None => Cow::Borrowed(of),
            Some(Moved { rows, .. }) => Cow::Owned(rows.iter().map(|row| of[*row as usize]).collect()),
        }
    }

    /// The page's row of a row of the model.
    pub fn place(&self, row: u32) -> u32 {
        self.moved.as_ref().map_or(row, |moved| moved.place[row as usize])
    }

    pub fn reference(&self, row: Ref) -> Ref {
        row.row().map_or(Ref::NONE, |row| Ref::to(self.place(row as u32) as usize))
    }

    /// Who refers to whom by the page's rows.
    pub fn references<'m>(&self, graph: &'m Graph) -> References<'m> {
        let Some(Moved { rows, place }) = &self.moved else {
            return References { start: Cow::Borrowed(&graph.start), to: Cow::Borrowed(&graph.to) };
        };
        let (mut start, mut list) = (Vec::with_capacity(rows.len() + 1), Vec::with_capacity(graph.to.len()));
        start.push(0);
        for row in rows {
            let first = list.len();
            list.extend(graph.references(*row as usize).iter().map(|to| place[*to as usize]));
            list[first..].sort_unstable();
            start.push(list.len() as u32);
        }
        References { start: Cow::Owned(start), to: Cow::Owned(list) }
    }
}

/// Who refers to whom, as a [`Graph`] has it.
pub struct References<'m> {
    start: Cow<'m, [u32]>,
    to: Cow<'m, [u32]>,
}

impl References<'_> {
    /// How many sections each one refers to.
    pub fn counts(&self) -> impl Iterator<Item = u64> + Clone {
        self.start.array_windows().map(|[start, end]| u64::from(end - start))
    }

    /// How far these are: the first from who refers to it, the others from the one before.
    pub fn steps(&self) -> impl Iterator<Item = u64> + Clone {
        (0u64..).zip(self.start.array_windows()).flat_map(|(from, [start, end])| {
            let list = &self.to[*start as usize..*end as usize];
            let first = list.first().map(|to| leb::zigzag(from, u64::from(*to)));
            let others = list.array_windows().map(|[before, to]| u64::from(to - before));
            first.into_iter().chain(others)
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.to.len()
    }
}

/// The rows that [`References`] has told of: where each list starts, and the lists; `None` if these are not all, or
/// lead beyond 2³² sections.
pub fn references(counts: &[u64], steps: &[u64]) -> Option<(Vec<u32>, Vec<u32>)> {
    let (mut start, mut to) = (vec![0], Vec::with_capacity(steps.len()));
    let mut steps = steps.iter();
    for (place, count) in (0u64..).zip(counts) {
        let mut before = place;
        for number in 0..*count {
            let step = *steps.next()?;
            before = if number == 0 { leb::unzigzag(before, step) } else { before.checked_add(step)? };
            to.push(u32::try_from(before).ok()?);
        }
        start.push(to.len() as u32);
    }
    steps.next().is_none().then_some((start, to))
}
