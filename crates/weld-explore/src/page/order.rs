//! In which order a page has input sections, and who refers to whom by that.
//!
//! A model has them as its maker met them, by object. A page has them as the file does: neighbours in the file
//! are neighbours in most columns then, and differences of their numbers are small.

use crate::leb;
use crate::model::{Graph, Model, Ref};

/// The rows of input sections in a page.
pub struct Order {
    /// The row in the model, by row of the page.
    rows: Vec<u32>,
    /// The row in the page, by row of the model.
    place: Vec<u32>,
}

impl Order {
    /// By the first piece of each; those without pieces come last.
    pub fn new(model: &Model) -> Order {
        const UNKNOWN: u32 = u32::MAX;
        let count = model.inputs.len();
        let (mut rows, mut place) = (Vec::with_capacity(count), vec![UNKNOWN; count]);
        let of_pieces = model.pieces.iter().filter_map(|piece| piece.input.row());
        for row in of_pieces.chain(0..count) {
            if place[row] == UNKNOWN {
                place[row] = rows.len() as u32;
                rows.push(row as u32);
            }
        }
        Order { rows, place }
    }

    /// What the model has for its rows, in the page's order.
    pub fn sorted<T: Copy>(&self, of: &[T]) -> Vec<T> {
        self.rows.iter().map(|row| of[*row as usize]).collect()
    }

    /// The page's row of a row of the model.
    pub fn place(&self, row: u32) -> u32 {
        self.place[row as usize]
    }

    pub fn reference(&self, row: Ref) -> Ref {
        row.row().map_or(Ref::NONE, |row| Ref::to(self.place[row] as usize))
    }

    /// How many sections each one refers to, and how far these are: the first from who refers to it, the others from
    /// the one before.
    pub fn references(&self, graph: &Graph) -> (Vec<u32>, Vec<u64>) {
        let mut counts = Vec::with_capacity(self.rows.len());
        let mut steps = Vec::with_capacity(graph.to.len());
        // All at once, so that the processor looks for many at the same time.
        let mut places: Vec<u32> = graph.to.iter().map(|to| self.place(*to)).collect();
        for (place, row) in (0..).zip(&self.rows) {
            let list = graph.range(*row as usize).and_then(|range| places.get_mut(range)).unwrap_or_default();
            list.sort_unstable();
            counts.push(list.len() as u32);
            let mut before = place;
            for (number, to) in list.iter().enumerate() {
                let (from, to) = (u64::from(before), u64::from(*to));
                steps.push(if number == 0 { leb::zigzag(from, to) } else { to - from });
                before = to as u32;
            }
        }
        (counts, steps)
    }
}

/// The rows that [`Order::references`] has told of: where each list starts, and the lists; `None` if these are not all, or
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
