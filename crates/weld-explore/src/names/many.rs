//! Entering a million texts at once.
//!
//! Tasks collect texts in runs ([`Texts`]), each text in a *slot*; a slot may be empty. [`Names::find_many`] says by all
//! threads which texts are the same: each of the indexes that names have sees the texts of its own hashes only, and so
//! stays in the cache. Numbers are given afterwards, one slot after the other ([`Found::number`]), so that they are
//! those that [`Names::add`] would have given.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use weld_common::hash::hash_bytes;
use weld_common::{par, zeroed};

use super::{Name, Names, Place, SHARDS, Shard, UNUSED, shard_of};

/// Among what stands for a slot: it is a number, not another slot.
const IS_NUMBER: u32 = 1 << 31;

/// How many entries ahead of their turn their places in an index are asked for.
const AHEAD: usize = 8;

/// The texts of a run.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Where the text of each slot is in `bytes`. Of none, the length is 0.
    slots: Vec<(u32, u32)>,
    /// Hashes and slots, of each shard those behind the ones of the shard before.
    entries: Vec<(u64, u32)>,
    /// Where the entries of each shard end.
    ends: Vec<u32>,
}

impl Texts {
    /// For so many slots.
    pub fn with_capacity(slots: usize) -> Texts {
        const USUAL: usize = 24;
        Texts {
            bytes: Vec::with_capacity(slots * USUAL),
            slots: Vec::with_capacity(slots),
            entries: Vec::with_capacity(slots),
            ends: Vec::new(),
        }
    }

    /// A text, as [`super::presentable`] makes them, in the next slot. None if it is empty.
    pub fn put(&mut self, text: &str) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.slot(start);
    }

    /// A text in the next slot, and in the one after that the same with something in front.
    pub fn put_both(&mut self, text: &str, front: &str) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(front.as_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        self.slot(start + front.len());
        self.slot(start);
    }

    /// Has the next slot the bytes from `start` on.
    fn slot(&mut self, start: usize) {
        let text = &self.bytes[start..];
        if !text.is_empty() {
            self.entries.push((hash_bytes(text), self.slots.len() as u32));
        }
        self.slots.push((start as u32, text.len() as u32));
    }

    /// To be called when all are in.
    pub fn close(&mut self) {
        let mut at = [0u32; SHARDS];
        self.entries.iter().for_each(|(hash, _)| at[shard_of(*hash)] += 1);
        let mut sum = 0;
        for count in &mut at {
            sum += std::mem::replace(count, sum);
        }
        let mut sorted = vec![(0, 0); self.entries.len()];
        for entry in &self.entries {
            let at = &mut at[shard_of(entry.0)];
            sorted[*at as usize] = *entry;
            *at += 1;
        }
        self.entries = sorted;
        self.ends = at.to_vec();
    }

    fn of_shard(&self, shard: usize) -> &[(u64, u32)] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[shard] as usize]
    }

    fn text(&self, slot: usize) -> &[u8] {
        let (start, length) = self.slots[slot];
        &self.bytes[start as usize..(start + length) as usize]
    }
}

/// Which texts of runs are the same.
pub(crate) struct Found {
    /// By slot, those of all runs one after the other: the first slot with the same text, or a number.
    same: Vec<AtomicU32>,
    /// Where the slots of each run begin.
    starts: Vec<u32>,
    /// Where those begin whose numbers are given next.
    start: usize,
    /// How many entries each shard had before.
    before: Vec<usize>,
}

impl Names {
    /// Finds the same texts, and those that have numbers.
    pub(crate) fn find_many(&mut self, runs: &[Texts], parallel: bool) -> Found {
        let mut count = 0;
        let starts = runs.iter().map(|run| {
            let start = count as u32;
            count += run.slots.len();
            start
        });
        let starts: Vec<u32> = starts.collect();
        let found = Found {
            same: zeroed::present(count, parallel),
            starts,
            start: 0,
            before: self.shards.iter().map(|shard| shard.numbers.len()).collect(),
        };
        let mut shards = std::mem::take(&mut self.shards);
        let names = &*self;
        let one = |number: usize, shard: &mut [Shard]| {
            shard.iter_mut().for_each(|shard| found.enter(names, runs, (number, shard)));
        };
        par::in_pieces("find the same names", parallel, (&mut shards, 1), one, |()| {});
        self.shards = shards;
        found
    }

    /// Makes room for the texts of `runs`.
    pub(crate) fn reserve(&mut self, runs: &[Texts]) {
        self.bytes.reserve(runs.iter().map(|run| run.bytes.len()).sum());
        self.places.reserve(runs.iter().map(|run| run.entries.len()).sum());
    }

    /// To be called when all numbers are given.
    pub(crate) fn end_many(&mut self, found: &Found) {
        for (shard, before) in self.shards.iter_mut().zip(&found.before) {
            for entry in &mut shard.numbers[*before..] {
                // For some nobody has asked.
                *entry = found.known(*entry as usize).map_or(UNUSED, |name| name.0);
            }
        }
    }

    fn next(&mut self, place: Place) -> Name {
        self.places.push(place);
        Name(self.places.len() as u32 - 1)
    }
}

impl Found {
    /// Enters the texts of one shard.
    fn enter(&self, names: &Names, runs: &[Texts], (number, shard): (usize, &mut Shard)) {
        let Shard { index, numbers } = shard;
        let before = numbers.len();
        let count: usize = runs.iter().map(|run| run.of_shard(number).len()).sum();
        index.reserve(before + count + 1);
        numbers.reserve(count);
        for (texts, start) in runs.iter().zip(&self.starts) {
            let entries = texts.of_shard(number);
            for (i, (hash, slot)) in entries.iter().enumerate() {
                if let Some((later, _)) = entries.get(i + AHEAD) {
                    index.prefetch(*later);
                }
                let text = texts.text(*slot as usize);
                let is = |entry: usize| match numbers[entry] {
                    UNUSED if entry < before => false,
                    known if entry < before => names.text(known as usize) == text,
                    slot => self.text(runs, slot as usize) == text,
                };
                let slot = (start + slot) as usize;
                let same = match index.find_or_add(*hash, numbers.len(), is) {
                    Ok(entry) if (entry as usize) < before => numbers[entry as usize] | IS_NUMBER,
                    Ok(entry) => numbers[entry as usize],
                    Err(_) => {
                        numbers.push(slot as u32);
                        slot as u32
                    }
                };
                self.same[slot].store(same, Relaxed);
            }
        }
    }

    fn text<'r>(&self, runs: &'r [Texts], slot: usize) -> &'r [u8] {
        let run = self.starts.partition_point(|start| *start as usize <= slot) - 1;
        runs[run].text(slot - self.starts[run] as usize)
    }

    /// The number of what is in a slot, if it has one.
    fn known(&self, slot: usize) -> Option<Name> {
        let mut same = self.same[slot].load(Relaxed);
        if same & IS_NUMBER == 0 {
            same = self.same[same as usize].load(Relaxed);
        }
        (same & IS_NUMBER != 0).then_some(Name(same & !IS_NUMBER))
    }

    /// Gives a number to what is in a slot and has none.
    fn set(&mut self, slot: usize, name: Name) {
        let first = *self.same[slot].get_mut() as usize;
        *self.same[first].get_mut() = name.0 | IS_NUMBER;
    }

    /// To be called behind a run.
    pub fn next_run(&mut self, texts: &Texts) {
        self.start += texts.slots.len();
    }

    /// The number of the text in slot `at` of the next run; none if there is none.
    pub fn number(&mut self, names: &mut Names, texts: &Texts, at: usize) -> Name {
        let (text, slot) = (texts.text(at), self.start + at);
        if text.is_empty() {
            return Name::NONE;
        }
        self.known(slot).unwrap_or_else(|| {
            let name = names.next(Place::new(names.bytes.len(), text.len()));
            names.bytes.extend_from_slice(text);
            self.set(slot, name);
            name
        })
    }

    /// The numbers of the texts in slot `at` and the next one: the second may end with the first, and then shares its bytes.
    pub fn both(&mut self, names: &mut Names, texts: &Texts, at: usize) -> [Name; 2] {
        let slot = self.start + at;
        let [inner, outer] = [texts.slots[at], texts.slots[at + 1]];
        let is_inside = outer.0 < inner.0 && inner.0 < outer.0 + outer.1 && inner.1 > 0;
        if is_inside && self.known(slot).is_none() && self.known(slot + 1).is_none() {
            let start = names.bytes.len();
            names.bytes.extend_from_slice(texts.text(at + 1));
            let inner = Place::new(start + (inner.0 - outer.0) as usize, inner.1 as usize);
            let both = [names.next(inner), names.next(Place::new(start, outer.1 as usize))];
            self.set(slot, both[0]);
            self.set(slot + 1, both[1]);
            return both;
        }
        [at, at + 1].map(|at| self.number(names, texts, at))
    }
}
