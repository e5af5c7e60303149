//! The index of a hash table whose entries lie in a list of their own.
//!
//! Open addressing, 8 bytes a slot: the low half of the entry's hash, which most other entries differ in,
//! above the entry's number plus one. An empty slot is 0. At most half of the slots are taken. Which entry
//! has the name that is looked for, only who owns the entries can tell.

use crate::prefetch::prefetch;
use crate::zeroed;

/// Slots for each entry, from which on entries are taken out of the table one by one.
const CLEARED_ONE_BY_ONE: usize = 16;

#[derive(Default)]
pub struct HashIndex {
    slots: Vec<u64>,
}

impl HashIndex {
    /// The number of the entry with this hash that `is` the one. If there is none, the next entry is: `Err`
    /// has its number, `count`, which is how many there are.
    #[inline]
    pub fn find_or_add(&mut self, hash: u64, count: usize, is: impl Fn(usize) -> bool) -> Result<u32, u32> {
        if (count + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let tag = hash << 32;
        let mut slot = hash as u32 as usize & mask;
        loop {
            let word = self.slots[slot];
            if word == 0 {
                self.slots[slot] = tag | (count as u64 + 1);
                return Err(count as u32);
            }
            if word & 0xffff_ffff_0000_0000 == tag && is(word as u32 as usize - 1) {
                return Ok(word as u32 - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The number of the entry with this hash that `is` the one.
    pub fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash as u32 as usize & mask;
        loop {
            let word = self.slots[slot];
            if word == 0 {
                return None;
            }
            if word >> 32 == hash & 0xffff_ffff && is(word as u32 as usize - 1) {
                return Some(word as u32 - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Makes room for `count` entries in all.
    pub fn reserve(&mut self, count: usize) {
        if count * 2 > self.slots.len() {
            self.resize((count * 2).next_power_of_two());
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.resize((self.slots.len() * 2).max(64));
    }

    fn resize(&mut self, size: usize) {
        let mut slots = zeroed::present(size, false);
        for &word in self.slots.iter().filter(|&&word| word != 0) {
            let mut slot = (word >> 32) as usize & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = word;
        }
        self.slots = slots;
    }

    /// Takes all entries out, whose hashes are `hashes`. There is room for as many again.
    pub fn clear(&mut self, hashes: impl ExactSizeIterator<Item = u64>) {
        let Some(mask) = self.slots.len().checked_sub(1) else { return };
        if hashes.len() > self.slots.len() / CLEARED_ONE_BY_ONE {
            return self.slots.fill(0);
        }
        for hash in hashes {
            let mut slot = hash as u32 as usize & mask;
            while self.slots[slot] != 0 {
                self.slots[slot] = 0;
                slot = (slot + 1) & mask;
            }
        }
    }

    /// Asks for the slot of `hash`.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        if let Some(mask) = self.slots.len().checked_sub(1) {
            prefetch(&self.slots, hash as u32 as usize & mask);
        }
    }

    /// The entry that most likely has this hash: that of its first slot, which should be near.
    #[inline(always)]
    pub fn likely(&self, hash: u64) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let word = self.slots[hash as u32 as usize & mask];
        (word != 0 && word >> 32 == hash & 0xffff_ffff).then(|| word as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_hash_are_told_apart_and_survive_growth() {
        let mut index = HashIndex::default();
        let mut entries: Vec<u64> = Vec::new();
        // A hash whose low half is 0 looks like the empty slot's, and three values have each hash.
        for value in 0..3000 {
            let found = index.find_or_add(value / 3, entries.len(), |i| entries[i] == value);
            assert_eq!(found, Err(value as u32));
            entries.push(value);
        }
        for value in 0..3000 {
            assert_eq!(index.find(value / 3, |i| entries[i] == value), Some(value as u32));
            let known = index.find_or_add(value / 3, entries.len(), |i| entries[i] == value);
            assert_eq!(known, Ok(value as u32));
        }
        assert_eq!(index.find(0, |i| entries[i] == 9), None);
        assert!(index.likely(0).is_some_and(|entry| entry < 3));
        for count in [entries.len(), 10] {
            let hashes: Vec<u64> = (0..count as u64).map(|value| value / 3).collect();
            index.clear(hashes.iter().copied());
            assert!((0..1000).all(|hash| index.find(hash, |_| true).is_none()));
            for value in 0..10 {
                assert_eq!(
                    index.find_or_add(value / 3, value as usize, |i| i as u64 == value),
                    Err(value as u32)
                );
            }
        }
        // Room that was asked for is enough.
        let mut roomy = HashIndex::default();
        roomy.reserve(0);
        roomy.reserve(100);
        let slots = roomy.slots.len();
        assert!((0..100).all(|i| roomy.find_or_add(i as u64, i, |_| true).is_err()));
        assert_eq!(roomy.slots.len(), slots);
        assert_eq!((HashIndex::default().find(1, |_| true), HashIndex::default().likely(1)), (None, None));
    }
}
