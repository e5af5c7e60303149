//! Of many candidates for one place, such as the COMDAT groups with one signature, one wins.
//!
//! Each candidate has a word; the largest wins, whoever offers it first. So earlier files win if their words
//! count down, and what else decides (a size, say) goes into the upper bits. The table is indexed by the
//! place. Untouched memory means "nobody", so that a table with few entries costs little.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::zeroed;

/// The largest word that was offered for each place.
pub struct Winners(Vec<AtomicU64>);

impl Winners {
    /// A table of `places`, about `candidates` of which will be touched.
    pub fn new(places: usize, candidates: usize, parallel: bool) -> Winners {
        // A page holds 512: with more than a few candidates for each, all pages will be used.
        let all = candidates > places / 128;
        Winners(if all { zeroed::present(places, parallel) } else { zeroed::sparse(places) })
    }

    /// Offers a word, which is not 0.
    #[inline(always)]
    pub fn offer(&self, place: usize, word: u64) {
        let best = &self.0[place];
        if best.load(Ordering::Relaxed) < word {
            best.fetch_max(word, Ordering::Relaxed);
        }
    }

    /// Has this word win.
    pub fn set(&self, place: usize, word: u64) {
        self.0[place].store(word, Ordering::Relaxed);
    }

    /// The word that won; 0 if there was none.
    #[inline(always)]
    pub fn get(&self, place: usize) -> u64 {
        self.0[place].load(Ordering::Relaxed)
    }
}

/// The word of candidate (`file`, `item`), the first of which is to win.
#[inline(always)]
pub fn earliest(file: u32, item: u32) -> u64 {
    !(u64::from(file) << 32 | u64::from(item))
}

/// The (file, item) of a word of [`earliest`].
#[inline(always)]
pub fn candidate(word: u64) -> (u32, u32) {
    ((!word >> 32) as u32, !word as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_wins() {
        let winners = Winners::new(3, 3, false);
        for (file, item) in [(7, 1), (2, 9), (2, 4), (3, 0)] {
            winners.offer(1, earliest(file, item));
        }
        assert_eq!(candidate(winners.get(1)), (2, 4));
        assert_eq!((winners.get(0), winners.get(2)), (0, 0));
        winners.offer(2, earliest(0, 0));
        assert_eq!(candidate(winners.get(2)), (0, 0));
    }
}
