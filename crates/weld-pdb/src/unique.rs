//! Finds the first of equal things among many, on all threads.
//!
//! Things are equal if their 64-bit hashes are. Each is entered with its place, a number; the table keeps the
//! smallest place of each hash, whoever comes first, so the result does not depend on threads. A cell has 16
//! bytes, and the table is sized by an estimate of how many *different* things there are ([`Estimate`]): most
//! records of types occur in dozens of objects. Who entered something keeps the number of its cell and finds
//! there later what became of all its equals.
//!
//! The hash is no cryptographic one. Of n different things two have one hash by chance once in 2^65 / n²
//! tables: with 20 million, once in 90 000.
//!
//! Budget: one miss of the cache for each thing, which [`Unique::prefetch`] starts early.

use std::sync::atomic::{AtomicU64, Ordering};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::{par, prefetch, zeroed};

/// Longer searches mean that the table is too small, or that somebody made up hashes.
const MOST_PROBES: usize = 1024;

/// Runs of lists whose different hashes are estimated by themselves.
const MOST_ESTIMATES: usize = 256;

pub struct Unique {
    /// Of each cell the hash, 0 if it is free, and the complement of the smallest place, so that 0 is the
    /// largest.
    words: Vec<AtomicU64>,
    cells: usize,
}

impl Unique {
    /// A table for about `different` things.
    pub fn new(different: usize, parallel: bool) -> Unique {
        // A third stays free if the estimate is right, and it may be wrong by a tenth.
        let cells = (different + different / 2 + 64).min(u32::MAX as usize);
        Unique { words: zeroed::present(2 * cells, parallel), cells }
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.cells as u128) >> 64) as usize
    }

    /// Asks for the cell that [`enter`](Self::enter) will look at first.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch::prefetch(&self.words, 2 * self.home(hash));
    }

    /// Asks for a cell.
    #[inline(always)]
    pub fn prefetch_cell(&self, cell: u32) {
        prefetch::prefetch(&self.words, 2 * cell as usize);
    }

    /// The number of the cell of all things with this hash, and whether this one is the first of them so far;
    /// `None` if there is no room.
    #[inline]
    pub fn enter(&self, hash: u64, place: u64) -> Option<(u32, bool)> {
        let hash = hash.max(1);
        let mut cell = self.home(hash);
        for _ in 0..MOST_PROBES {
            let tag = &self.words[2 * cell];
            let mut found = tag.load(Ordering::Relaxed);
            if found == 0 {
                found = match tag.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => hash,
                    Err(other) => other,
                };
            }
            if found == hash {
                let best = &self.words[2 * cell + 1];
                // Most come after the first one, and only look.
                let first = best.load(Ordering::Relaxed) < !place;
                if first {
                    best.fetch_max(!place, Ordering::Relaxed);
                }
                return Some((cell as u32, first));
            }
            cell += 1;
            if cell == self.cells {
                cell = 0;
            }
        }
        None
    }

    /// The smallest place of those in this cell, when all have been entered.
    #[inline(always)]
    pub fn first(&self, cell: u32) -> u64 {
        !self.words[2 * cell as usize + 1].load(Ordering::Relaxed)
    }

    /// The hash of the things in this cell.
    fn hash(&self, cell: u32) -> u64 {
        self.words[2 * cell as usize].load(Ordering::Relaxed)
    }

    /// Gives the things in this cell a number in place of their hash. Nothing can be entered any more.
    #[inline(always)]
    pub fn set_number(&self, cell: u32, number: u32) {
        self.words[2 * cell as usize].store(number.into(), Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn number(&self, cell: u32) -> u32 {
        self.words[2 * cell as usize].load(Ordering::Relaxed) as u32
    }
}

/// A list whose hashes are in the table.
#[derive(Default)]
pub struct Entered {
    /// The cell of each thing.
    pub cells: Vec<u32>,
    /// Things of which no equal one with a smaller place was there when they were entered: every first one is
    /// among these, and few others.
    pub candidates: Vec<u32>,
}

/// A list that is being entered: its hashes go when its cells are there.
struct List {
    hashes: Vec<u64>,
    entered: Entered,
}

/// Enters all hashes, those of each list with the places (list, number in the list), into a table of the
/// right size. Returns it with the cells of each list.
///
/// # Errors
/// If hashes have been made up so that they do not fit.
pub fn enter_all(
    name: &'static str,
    lists: Vec<Vec<u64>>,
    parallel: bool,
) -> Result<(Unique, Vec<Entered>), Diagnostic> {
    let room = estimate(&lists, parallel);
    enter_with_room(name, room, lists, parallel)
}

fn enter_with_room(
    name: &'static str,
    mut room: usize,
    lists: Vec<Vec<u64>>,
    parallel: bool,
) -> Result<(Unique, Vec<Entered>), Diagnostic> {
    let total: usize = lists.iter().map(Vec::len).sum();
    let mut lists: Vec<List> =
        lists.into_iter().map(|hashes| List { hashes, entered: Entered::default() }).collect();
    loop {
        let unique = Unique::new(room, parallel);
        let enter = |first: usize, lists: &mut [List]| {
            let mut lists = lists.iter_mut().enumerate();
            lists.all(|(i, list)| enter_list(&unique, list, ((first + i) as u64) << 32).is_some())
        };
        let mut done = true;
        par::in_pieces(name, parallel, (&mut lists, 1), enter, |entered| done &= entered);
        if done {
            return Ok((unique, lists.into_iter().map(|list| list.entered).collect()));
        }
        if room > 4 * total {
            return Err(Diagnostic::error(
                Cause::PdbLimit,
                "records of debug information cannot be told apart by their hashes",
            ));
        }
        room = 2 * room + 1024;
        // Lists that had found room have their hashes in the table.
        for list in lists.iter_mut().filter(|list| list.hashes.is_empty()) {
            let Entered { cells, .. } = std::mem::take(&mut list.entered);
            list.hashes = cells.into_iter().map(|cell| unique.hash(cell)).collect();
        }
    }
}

fn estimate(lists: &[Vec<u64>], parallel: bool) -> usize {
    // Each run has registers of its own, which are joined by one thread.
    let grain = lists.len().div_ceil(MOST_ESTIMATES);
    let made = par::runs("estimate", parallel, lists.len(), grain.max(1), |range| {
        let mut estimate = Estimate::default();
        lists[range].iter().flatten().for_each(|&hash| estimate.see(hash));
        estimate
    });
    let mut all = Estimate::default();
    made.iter().for_each(|one| all.join(one));
    all.count()
}

/// Replaces the hashes of a list by its cells.
fn enter_list(unique: &Unique, list: &mut List, first_place: u64) -> Option<()> {
    const AHEAD: usize = 16;
    let hashes = &list.hashes;
    let mut cells = Vec::with_capacity(hashes.len());
    let mut candidates = Vec::new();
    for (i, &hash) in hashes.iter().enumerate() {
        if let Some(&later) = hashes.get(i + AHEAD) {
            unique.prefetch(later);
        }
        let (cell, first) = unique.enter(hash, first_place | i as u64)?;
        cells.push(cell);
        if first {
            candidates.push(i as u32);
        }
    }
    list.entered = Entered { cells, candidates };
    list.hashes = Vec::new();
    Some(())
}

const REGISTERS: usize = 4096;

/// How many different hashes there are, by HyperLogLog (Flajolet et al., 2007): within 5 % but for one case
/// in a thousand.
#[derive(Clone)]
pub struct Estimate {
    /// Of the hashes with these upper bits, the most zeroes after them.
    registers: Box<[u8; REGISTERS]>,
}

impl Default for Estimate {
    fn default() -> Self {
        Estimate { registers: Box::new([0; REGISTERS]) }
    }
}

impl Estimate {
    #[inline(always)]
    pub fn see(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> 52) as usize];
        *register = (*register).max((hash << 12).leading_zeros() as u8 + 1);
    }

    pub fn join(&mut self, other: &Estimate) {
        self.registers.iter_mut().zip(&other.registers[..]).for_each(|(a, b)| *a = (*a).max(*b));
    }

    pub fn count(&self) -> usize {
        const M: f64 = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|&r| 0.5f64.powi(r.into())).sum();
        let raw = 0.7213 / (1.0 + 1.079 / M) * M * M / sum;
        let zero = self.registers.iter().filter(|&&r| r == 0).count();
        // Small numbers are better counted by the registers that nothing has touched.
        let count = if raw < 2.5 * M && zero > 0 { M * (M / zero as f64).ln() } else { raw };
        count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weld_common::hash::Hasher;

    fn hash(i: u64) -> u64 {
        let mut hasher = Hasher::new(0);
        hasher.word(i);
        hasher.finish()
    }

    #[test]
    fn the_smallest_place_wins() {
        let unique = Unique::new(100, false);
        let cells: Vec<u32> = (0..100).map(|i| unique.enter(hash(i), 1000 + i).unwrap().0).collect();
        for i in (0..100).rev() {
            assert_eq!(unique.enter(hash(i), 500 - i), Some((cells[i as usize], true)));
            assert_eq!(unique.enter(hash(i), 2000), Some((cells[i as usize], false)));
        }
        assert!((0..100).all(|i| unique.first(cells[i as usize]) == 500 - i));
        unique.set_number(cells[3], 77);
        assert_eq!(unique.number(cells[3]), 77);
    }

    #[test]
    fn a_table_that_is_too_small_is_made_anew() {
        let lists: Vec<Vec<u64>> = (0..40).map(|i| (0..300).map(|n| hash(i * 100 + n)).collect()).collect();
        let (unique, entered) = enter_with_room("enter", 0, lists.clone(), false).unwrap();
        for (i, (list, entered)) in lists.iter().zip(&entered).enumerate() {
            assert_eq!(list.iter().max(), entered.cells.iter().map(|&cell| unique.hash(cell)).max().as_ref());
            let is_first =
                |&n: &u32| unique.first(entered.cells[n as usize]) == (i as u64) << 32 | u64::from(n);
            let firsts = entered.candidates.iter().filter(|n| is_first(n)).count();
            assert_eq!(firsts, if i == 0 { 300 } else { 100 });
        }
    }

    #[test]
    fn a_table_that_is_full_says_so() {
        let unique = Unique::new(0, false);
        let entered = (1..1000).filter(|&i| unique.enter(i, i).is_some()).count();
        assert_eq!(entered, 64);
        assert!(unique.enter(0, 0).is_some(), "zero counts as one");
    }

    #[test]
    fn estimates_are_near() {
        for n in [0u64, 1, 100, 5000, 20_000, 300_000] {
            let mut halves = [Estimate::default(), Estimate::default()];
            for i in 0..3 * n {
                halves[i as usize % 2].see(hash(i % n));
            }
            let [mut all, other] = halves;
            all.join(&other);
            assert!(all.count().abs_diff(n as usize) as f64 <= 0.06 * n as f64 + 1.0, "{n} {}", all.count());
        }
    }
}
