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
    /// The hash of each slot that is not empty.
    hashes: Vec<(u64, u32)>,
    /// What an index asks of these, and slots; of each shard those behind the ones of the shard before.
    entries: Vec<(u32, u32)>,
    /// Where the entries of each shard end.
    ends: Vec<u32>,
}

impl Texts {
    /// For so many slots.
    pub fn with_capacity(slots: usize) -> Texts {
        const USUAL: usize = 96;
        Texts {
            bytes: Vec::with_capacity(slots * USUAL),
            slots: Vec::with_capacity(slots),
            hashes: Vec::with_capacity(slots),
            ..Texts::default()
        }
    }

    /// A text, as [`super::presentable`] makes them, in the next slot. None if it is empty.
    pub fn put(&mut self, text: &str) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.slot(start);
    }

    /// Has the next slot the bytes from `start` on.
    fn slot(&mut self, start: usize) {
        let text = &self.bytes[start..];
        if !text.is_empty() {
            self.hashes.push((hash_bytes(text), self.slots.len() as u32));
        }
        self.slots.push((start as u32, text.len() as u32));
    }

    /// To be called when all are in.
    pub fn close(&mut self) {
        let mut at = [0u32; SHARDS];
        self.hashes.iter().for_each(|(hash, _)| at[shard_of(*hash)] += 1);
        let mut sum = 0;
        for count in &mut at {
            sum += std::mem::replace(count, sum);
        }
        self.entries = vec![(0, 0); self.hashes.len()];
        for (hash, slot) in std::mem::take(&mut self.hashes) {
            let at = &mut at[shard_of(hash)];
            self.entries[*at as usize] = (hash as u32, slot);
            *at += 1;
        }
        self.ends = at.to_vec();
    }

    fn of_shard(&self, shard: usize) -> &[(u32, u32)] {
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

    /// The number of a text of the next run, which is where the run has it.
    fn next(&mut self, (start, length): (u32, u32)) -> Name {
        self.places.push(Place { chunk: self.chunks.len() as u32, start, length });
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
                    index.prefetch(u64::from(*later));
                }
                let text = texts.text(*slot as usize);
                let is = |entry: usize| match numbers[entry] {
                    UNUSED if entry < before => false,
                    known if entry < before => names.text(known as usize) == text,
                    slot => self.text(runs, slot as usize) == text,
                };
                let slot = (start + slot) as usize;
                let same = match index.find_or_add(u64::from(*hash), numbers.len(), is) {
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

    /// To be called behind a run, whose texts the names keep.
    pub fn next_run(&mut self, names: &mut Names, texts: Texts) {
        self.start += texts.slots.len();
        names.chunks.push(texts.bytes);
    }

    /// The number of the text in slot `at` of the next run; none if there is none.
    pub fn number(&mut self, names: &mut Names, texts: &Texts, at: usize) -> Name {
        let slot = self.start + at;
        if texts.slots[at].1 == 0 {
            return Name::NONE;
        }
        self.known(slot).unwrap_or_else(|| {
            let name = names.next(texts.slots[at]);
            self.set(slot, name);
            name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of texts by [`Names::add`], and by runs of [`Texts`]; each with what stands in front of it, which may be
    /// nothing.
    fn numbers(texts: &[(String, String)], run: usize, parallel: bool) -> [Vec<Name>; 2] {
        let (mut one_by_one, mut many) = (Names::default(), Names::default());
        for names in [&mut one_by_one, &mut many] {
            ["old", "3", "front.7"].iter().for_each(|text| _ = names.add(text));
        }
        let add = |(text, front): &(String, String)| {
            [text, &format!("{front}{text}")].map(|text| one_by_one.add(text))
        };
        let want: Vec<Name> = texts.iter().flat_map(add).collect();
        let fill = |part: &[(String, String)]| {
            let mut run = Texts::with_capacity(2 * part.len());
            part.iter().for_each(|(text, front)| {
                run.put(text);
                run.put(&format!("{front}{text}"));
            });
            run.close();
            run
        };
        let runs: Vec<Texts> = texts.chunks(run).map(fill).collect();
        let mut found = many.find_many(&runs, parallel);
        many.reserve(&runs);
        let mut got = Vec::new();
        for run in runs {
            got.extend((0..run.slots.len()).map(|at| found.number(&mut many, &run, at)));
            found.next_run(&mut many, run);
        }
        many.end_many(&found);
        assert_eq!(one_by_one.count(), many.count());
        for number in 0..many.count() as u32 {
            let text = one_by_one.get(Name(number));
            assert_eq!(many.get(Name(number)), text);
            assert_eq!(many.add(text), Name(number));
        }
        assert_eq!(many.add("new"), one_by_one.add("new"));
        [want, got]
    }

    #[test]
    fn the_same_numbers_as_one_by_one() {
        let mut seed = 7u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % below
        };
        let texts: Vec<(String, String)> = (0..3000)
            .map(|_| {
                let text = if random(9) == 0 { String::new() } else { random(900).to_string() };
                (text, ["", "front.", "9"][random(3) as usize].to_owned())
            })
            .collect();
        for (run, parallel) in [(1, false), (7, true), (256, true), (5000, false)] {
            let [want, got] = numbers(&texts, run, parallel);
            assert_eq!(want, got);
        }
    }

    #[test]
    fn texts_that_nobody_asks_for_have_no_numbers() {
        let mut names = Names::default();
        let mut run = Texts::default();
        ["a", "b", "a", "b"].iter().for_each(|text| run.put(text));
        run.close();
        let run = vec![run];
        let mut found = names.find_many(&run, false);
        assert_eq!(found.number(&mut names, &run[0], 3), Name(1));
        run.into_iter().for_each(|run| found.next_run(&mut names, run));
        names.end_many(&found);
        assert_eq!((names.count(), names.get(Name(1))), (2, "b"));
        assert_eq!(names.add("b"), Name(1));
        assert_eq!((names.add("a"), names.add("a")), (Name(2), Name(2)));
        let mut again = Texts::default();
        again.put("a");
        again.close();
        let again = [again];
        assert_eq!(names.find_many(&again, false).number(&mut names, &again[0], 0), Name(2));
    }
}
