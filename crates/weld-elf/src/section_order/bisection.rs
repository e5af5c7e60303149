//! Balanced partitioning: things that have something in common are put near one another.
//!
//! Each thing has *traits*, numbers of what it may share with others. The list is cut in halves, and things
//! change sides in pairs as long as that makes traits lie more on one side; then each half is treated
//! likewise. What a trait costs where `a` things have it on one side and `b` on the other is smallest if all
//! are on one: `-(a log(a + 1) + b log(b + 1))`.
//!
//! Costs are whole numbers and the order of things decides between equals, so the result depends on the input
//! only.
//!
//! Source: L. Dhulipala and others, "Compressing Graphs and Indexes with Recursive Graph Bisection" (KDD
//! 2016).

use std::cmp::Reverse;
use std::collections::VecDeque;

/// How often halves are looked at again.
const ROUNDS: usize = 24;
/// How many things of the other half are looked at as partners.
const CHOICE: usize = 8;
/// Costs count in parts of this.
const UNIT: f64 = 65536.0;

/// The order for `traits.len()` things, whose traits are numbers below `count`, each named once. Things that
/// have nothing in common with others stay in the order in which they are.
pub fn order(traits: &[Vec<u32>], count: usize) -> Vec<u32> {
    let term = |n: usize| (n as f64 * (n as f64 + 1.0).log2() * UNIT).round() as i64;
    let terms = (0..traits.len() + 2).map(term).collect();
    let mut bisector = Bisector { traits, terms, counts: vec![[0; 2]; count] };
    let mut list: Vec<u32> = (0..traits.len() as u32).collect();
    bisector.bisect(&mut list);
    list
}

struct Bisector<'t> {
    traits: &'t [Vec<u32>],
    /// `n log(n + 1)`.
    terms: Vec<i64>,
    /// How many things have a trait, in either half; all zero between steps.
    counts: Vec<[u32; 2]>,
}

impl Bisector<'_> {
    /// Puts a list in order, which is that of the input.
    fn bisect(&mut self, list: &mut [u32]) {
        if list.len() <= 2 {
            return;
        }
        let mut middle = list.len() / 2;
        let (left, right) = list.split_at_mut(middle);
        for _ in 0..ROUNDS {
            if !self.exchange(left, right) {
                break;
            }
        }
        left.sort_unstable();
        right.sort_unstable();
        // Which half comes first does not matter to traits: what was first stays there.
        if right[0] < left[0] {
            list.rotate_left(middle);
            middle = list.len() - middle;
        }
        let (first, second) = list.split_at_mut(middle);
        self.bisect(first);
        self.bisect(second);
    }

    /// Lets pairs change sides that gain by it. Whether there were any. Things are looked at by what they
    /// gain as all lie now; what they gain is counted again when it is their turn, for those before them have
    /// moved.
    fn exchange(&mut self, left: &mut [u32], right: &mut [u32]) -> bool {
        for (side, list) in [&*left, right].into_iter().enumerate() {
            list.iter().for_each(|&thing| self.count(thing, side, 1));
        }
        let mut others: VecDeque<usize> = self.by_gain(right, 1).into();
        let (mut changed, mut in_vain) = (false, 0);
        for place in self.by_gain(left, 0) {
            let thing = left[place];
            let gain = self.gain(thing, 0);
            self.go_over(thing, 0);
            let candidates = others.iter().take(CHOICE).enumerate();
            let gains = candidates.map(|(at, &other)| (self.gain(right[other], 1), Reverse(at)));
            let best = gains.max().filter(|(back, _)| gain + back > 0);
            let Some((_, Reverse(at))) = best else {
                self.go_over(thing, 1);
                in_vain += 1;
                match in_vain < CHOICE {
                    true => continue,
                    false => break,
                }
            };
            let other = others.remove(at).unwrap_or_default();
            self.go_over(right[other], 1);
            std::mem::swap(&mut left[place], &mut right[other]);
            (changed, in_vain) = (true, 0);
        }
        for (side, list) in [&*left, right].into_iter().enumerate() {
            list.iter().for_each(|&thing| self.count(thing, side, -1));
        }
        changed
    }

    fn count(&mut self, thing: u32, side: usize, by: i32) {
        for &one in &self.traits[thing as usize] {
            let count = &mut self.counts[one as usize][side];
            *count = count.wrapping_add_signed(by);
        }
    }

    /// Counts a thing on the other side than `side`.
    fn go_over(&mut self, thing: u32, side: usize) {
        self.count(thing, side, -1);
        self.count(thing, 1 - side, 1);
    }

    /// What a thing on `side` gains by going over.
    fn gain(&self, thing: u32, side: usize) -> i64 {
        let term = |n: u32| self.terms[n as usize];
        let gain = |one: &u32| {
            let counts = self.counts[*one as usize];
            let (here, there) = (counts[side], counts[1 - side]);
            term(here - 1) + term(there + 1) - term(here) - term(there)
        };
        self.traits[thing as usize].iter().map(gain).sum()
    }

    /// The places of a list, first of those that gain most.
    fn by_gain(&self, list: &[u32], side: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..list.len()).collect();
        places.sort_by_cached_key(|&place| Reverse(self.gain(list[place], side)));
        places
    }
}

/// Gives traits numbers, in the order of their names. Those that one thing has alone say nothing, nor do
/// those of nearly all.
pub fn numbered(named: &[Vec<u64>]) -> (Vec<Vec<u32>>, usize) {
    let mut all: Vec<u64> = named.iter().flatten().copied().collect();
    all.sort_unstable();
    let most = (named.len() * 3 / 4).max(2);
    let shared = all.chunk_by(|a, b| a == b).filter(|same| (2..=most).contains(&same.len()));
    let known: Vec<u64> = shared.map(|same| same[0]).collect();
    let number = |one: &u64| known.binary_search(one).ok().map(|number| number as u32);
    let traits = named.iter().map(|names| names.iter().filter_map(number).collect());
    (traits.collect(), known.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_something_in_common_comes_together() {
        // Two families by turns.
        let named: Vec<Vec<u64>> = (0..16u64).map(|i| vec![i % 2, 10 + i % 2, 100 + i]).collect();
        let (traits, count) = numbered(&named);
        assert_eq!(count, 4);
        let order = order(&traits, count);
        let families: Vec<u32> = order.iter().map(|i| i % 2).collect();
        let changes = families.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes, 1, "{order:?}");
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..16));
    }

    #[test]
    fn without_traits_all_stay() {
        assert_eq!(order(&vec![Vec::new(); 9], 0), (0..9).collect::<Vec<u32>>());
        assert_eq!(order(&[], 0), [0u32; 0]);
        let (traits, count) = numbered(&[vec![1], vec![2], vec![]]);
        assert_eq!((traits, count), (vec![vec![], vec![], vec![]], 0));
    }
}
