//! Placing things by runs of them, in parallel.
//!
//! A link has millions of input sections and a few dozen output sections; so the table of input sections is
//! cut into runs. Each run groups what it has by where that goes ([`ByBin`]), and knows how far each group
//! reaches from wherever it will begin (an [`Extent`]). Where it begins follows from the runs before it: a
//! few additions for each run and output section. What comes out is the same as from one loop over all,
//! however they are cut.

use crate::hash::join;
use crate::hash_index::HashIndex;

/// Bins below this number are looked up in an array by a run, and all if there are about as many things as
/// bins; others are looked for by their hashes.
pub const FEW_BINS: usize = 4096;

/// The next multiple of `align`. What does not fit 64 bits ends at the top, where giving addresses finds it.
pub fn align_to(offset: u64, align: u64) -> u64 {
    offset.checked_next_multiple_of(align).unwrap_or(u64::MAX)
}

/// How far things that lie one after the other reach, for any offset that they may begin at.
///
/// After something aligned to A, whatever asks for A or less lies at a fixed distance. So all there is
/// to know are the sizes between places where the alignment rises, and it can do so 63 times at most.
#[derive(Default)]
pub struct Extent {
    /// The first alignment, and the bytes from there to the next above it; 0 if there is none. Mostly there
    /// are no others.
    first: (u64, u64),
    /// An alignment above those before, and the bytes from there to the next.
    rises: Vec<(u64, u64)>,
}

impl Extent {
    /// Adds something after the others.
    #[inline]
    pub fn push(&mut self, align: u64, size: u64) {
        let (largest, end) = self.rises.last_mut().unwrap_or(&mut self.first);
        match *largest {
            largest if align <= largest => *end = align_to(*end, align).saturating_add(size),
            0 => self.first = (align, size),
            _ => self.rises.push((align, size)),
        }
    }

    /// Where the last one ends if the first one's padding begins at `start`.
    pub fn end(&self, start: u64) -> u64 {
        let step = |at: u64, (align, size): &(u64, u64)| align_to(at, (*align).max(1)).saturating_add(*size);
        self.rises.iter().fold(step(start, &self.first), step)
    }

    /// The strictest alignment.
    pub fn align(&self) -> u64 {
        self.rises.last().unwrap_or(&self.first).0.max(1)
    }
}

/// Groups by bin, in the order in which bins are met.
pub struct ByBin<T> {
    list: Vec<(usize, T)>,
    low: Vec<u32>,
    high: HashIndex,
}

impl<T> ByBin<T> {
    /// For so many bins, and so many things.
    pub fn new(bins: usize, things: usize) -> Self {
        let low = vec![u32::MAX; bins.min(FEW_BINS.max(things))];
        ByBin { list: Vec::new(), low, high: HashIndex::default() }
    }

    #[inline]
    pub fn get(&mut self, bin: usize, new: impl FnOnce() -> T) -> &mut T {
        let next = self.list.len();
        let index = match self.low.get_mut(bin) {
            Some(index) => {
                if *index == u32::MAX {
                    *index = next as u32;
                }
                *index
            }
            None => {
                let is = |i: usize| self.list[i].0 == bin;
                // Entries of low bins are in the list, but not in this index.
                self.high.find_or_add(join(0, bin as u64), next, is).unwrap_or_else(|next| next)
            }
        };
        if index as usize == next {
            self.list.push((bin, new()));
        }
        &mut self.list[index as usize].1
    }

    /// The groups with their bins.
    pub fn into_list(self) -> Vec<(usize, T)> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    #[test]
    fn an_extent_ends_where_its_parts_do() {
        let mut state = 1;
        for round in 0..2000 {
            let count = random(&mut state) % 20;
            let largest = if round % 10 == 0 { 62 } else { 20 };
            let parts: Vec<(u64, u64)> =
                (0..count).map(|_| (1 << (random(&mut state) % 8), random(&mut state) % largest)).collect();
            let parts: Vec<(u64, u64)> = parts
                .into_iter()
                .map(|(align, size)| if largest == 62 { (align, 1 << size) } else { (align, size) })
                .collect();
            let mut extent = Extent::default();
            parts.iter().for_each(|(align, size)| extent.push(*align, *size));
            for start in [0, 1, 7, 64, 1000, u64::MAX - 300, u64::MAX] {
                let step = |at: u64, part: &(u64, u64)| align_to(at, part.0).saturating_add(part.1);
                assert_eq!(extent.end(start), parts.iter().fold(start, step), "{parts:?} from {start:#x}");
            }
            assert_eq!(extent.align(), parts.iter().map(|p| p.0).max().unwrap_or(1));
        }
    }

    #[test]
    fn groups_come_in_the_order_in_which_bins_are_met() {
        let mut groups: ByBin<Vec<u32>> = ByBin::new(2 * FEW_BINS, 0);
        for (i, bin) in [9, 2 * FEW_BINS - 1, 0, 9, FEW_BINS, 2 * FEW_BINS - 1].into_iter().enumerate() {
            groups.get(bin, Vec::new).push(i as u32);
        }
        let expected = [(9, vec![0, 3]), (2 * FEW_BINS - 1, vec![1, 5]), (0, vec![2]), (FEW_BINS, vec![4])];
        assert_eq!(groups.into_list(), expected);
    }
}
