//! `--shuffle-sections=GLOB=SEED`: sections whose names match change places with one another, by chance. The
//! same seed gives the same order; -1 turns the order round, 0 is another order each time. Without GLOB it is
//! all sections in memory, but for those that are run through in their order, unless that is turned round
//! (`--reverse-sections`): then functions that run before `main` do so from the last file to the first,
//! within their priorities.
//!
//! The random numbers are those of the Mersenne Twister (M. Matsumoto and T. Nishimura, 1998), because its
//! sequence is the same everywhere.

use std::hash::{BuildHasher, RandomState};

use super::{Orderer, SectionOrder};
use crate::elf::*;
use crate::ids::*;
use crate::options::{Shuffle, Shuffled};
use crate::sections::SectionKind;

impl Orderer<'_, '_> {
    pub(super) fn shuffle(&self, order: &mut SectionOrder) {
        // Who is where. Each option goes on from what those before it made.
        let mut at: Vec<u32> = (0..self.sections.list.len() as u32).collect();
        for Shuffled { names, how } in &self.job.options.order.shuffle {
            let places: Vec<SectionId> = match names {
                Some(glob) => self.matching(glob).collect(),
                None => self.in_memory(*how == Shuffle::Reverse),
            };
            let mut matching: Vec<u32> = places.iter().map(|place| at[place.index()]).collect();
            match how {
                Shuffle::Reverse => matching.reverse(),
                Shuffle::Random => mix(&mut matching, RandomState::new().hash_one(0u8) as u32),
                Shuffle::Seed(seed) => mix(&mut matching, *seed),
            }
            places.iter().zip(matching).for_each(|(place, section)| at[place.index()] = section);
        }
        for (place, section) in at.iter().enumerate() {
            let place = place as u32;
            if place != *section && !order.has(SectionId(*section)) {
                order.places.insert(SectionId(*section), (0, place));
            }
        }
    }
}

impl Orderer<'_, '_> {
    /// The sections in memory that may move; `arrays` of functions, too.
    fn in_memory(&self, arrays: bool) -> Vec<SectionId> {
        let movable = |id: &SectionId| {
            let section = self.sections.get(*id);
            let reversed = section.kind() == SectionKind::Reversed && self.live.contains(*id);
            let name = self.sections.bins[section.bin().index()];
            let array =
                matches!(name, b".init_array" | b".fini_array" | b".preinit_array" | b".ctors" | b".dtors");
            (self.can_move(*id) || reversed)
                && self.header(*id).sh_flags() & SHF_ALLOC != 0
                && (arrays || !array)
        };
        (0..self.sections.list.len() as u32).map(SectionId).filter(movable).collect()
    }
}

/// Each item changes places with one of those that are left, from the first on.
fn mix(list: &mut [u32], seed: u32) {
    let mut random = Twister::new(seed);
    for first in 0..list.len().saturating_sub(1) {
        let left = (list.len() - first) as u32;
        list.swap(first, first + (random.number() % left) as usize);
    }
}

/// MT19937: 32-bit numbers.
pub struct Twister {
    state: [u32; Self::WORDS],
    next: usize,
}

impl Twister {
    const WORDS: usize = 624;
    const MIDDLE: usize = 397;

    pub fn new(seed: u32) -> Twister {
        let mut state = [seed; Self::WORDS];
        for i in 1..Self::WORDS {
            let last = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(last ^ last >> 30).wrapping_add(i as u32);
        }
        Twister { state, next: Self::WORDS }
    }

    pub fn number(&mut self) -> u32 {
        if self.next == Self::WORDS {
            self.refill();
        }
        let mut number = self.state[self.next];
        self.next += 1;
        number ^= number >> 11;
        number ^= number << 7 & 0x9d2c_5680;
        number ^= number << 15 & 0xefc6_0000;
        number ^ number >> 18
    }

    fn refill(&mut self) {
        for i in 0..Self::WORDS {
            let pair = self.state[i] & 0x8000_0000 | self.state[(i + 1) % Self::WORDS] & 0x7fff_ffff;
            let odd = if pair & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + Self::MIDDLE) % Self::WORDS] ^ pair >> 1 ^ odd;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_known_one() {
        // The 10000th number from the seed 5489, as the C++ standard has it for `std::mt19937`.
        let mut twister = Twister::new(5489);
        let last = (0..10_000).map(|_| twister.number()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn all_stay() {
        let mut list: Vec<u32> = (0..100).collect();
        mix(&mut list, 1);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert!(list.into_iter().eq(0..100));
    }
}
