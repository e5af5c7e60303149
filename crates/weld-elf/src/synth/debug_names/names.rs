//! The names of the index, each once, and the entries of each.
//!
//! Like the table of symbols ([`weld_common::symbol_names`]): those who read objects leave
//! [mentions](Mention) of names by shard, which is the upper bits of their hashes. Each shard is made by one
//! thread, run after run, in a table that fits the cache. No locks, and what comes out depends on the objects
//! only.
//!
//! Two mentions are of one name if their hashes are the same and their texts lie at one place, as they do
//! once strings are merged. Other texts with the same hash, such as names that differ in small and capital
//! letters, are read and hashed in a better way: nothing says how many there are of one hash.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::hash_index::HashIndex;
use weld_common::items;

use super::collect::{Mention, Text};

/// A name of a shard.
#[derive(Clone, Copy)]
pub struct Name {
    pub hash: u32,
    pub text: Text,
    /// Where its mentions end in [`Shard::mentions`]; they begin where those of the name before end.
    end: u32,
    /// Where in the pool its entries begin, in bytes.
    pub offset: u32,
}

/// The entries of a name in a run.
#[derive(Clone, Copy, Default)]
pub struct Entries {
    pub run: u32,
    pub first: u32,
    pub count: u32,
}

#[derive(Default)]
pub struct Shard {
    /// In the order in which they came.
    pub names: Vec<Name>,
    mentions: Vec<Entries>,
    /// How many hashes there are.
    pub hashes: u32,
    /// Bytes of all entries.
    pub size: u64,
}

impl Shard {
    /// The entries of name number `name`.
    pub fn entries(&self, name: usize) -> &[Entries] {
        let start = name.checked_sub(1).map_or(0, |before| self.names[before].end);
        &self.mentions[start as usize..self.names[name].end as usize]
    }
}

/// The texts themselves, for those who have to look.
pub trait Strings: Sync {
    fn is_same(&self, one: Text, other: Text) -> bool;
    /// A hash by which they are really told apart. `None` for a long one: only its place tells, so that a
    /// name may come twice in the index, and texts that lie in one another do not cost more the more there
    /// are.
    fn hash(&self, text: Text) -> Option<u64>;
}

/// What a thread uses again for its next shard.
#[derive(Default)]
struct Numbers {
    /// Of `firsts`, by hash.
    index: HashIndex,
    /// The first name of each hash.
    firsts: Vec<u32>,
    /// Names by hash and place, and by hash and text, where there are several of one hash.
    places: HashMap<(u32, Text), u32>,
    texts: HashMap<(u32, u64), u32>,
}

impl Numbers {
    /// The number of the name that is mentioned.
    #[inline]
    fn number(&mut self, shard: &mut Shard, mention: &Mention, strings: &dyn Strings) -> u32 {
        let (firsts, names) = (&self.firsts, &shard.names);
        let is = |first: usize| names[firsts[first] as usize].hash == mention.hash;
        match self.index.find_or_add(u64::from(mention.hash), firsts.len(), is) {
            Err(_) => {
                self.firsts.push(shard.names.len() as u32);
                shard.add(mention)
            }
            Ok(first) => {
                let first = self.firsts[first as usize];
                match shard.names[first as usize].text == mention.text {
                    true => first,
                    false => self.other(shard, first, mention, strings),
                }
            }
        }
    }

    /// The number of a name that lies elsewhere than the first one of its hash.
    fn other(&mut self, shard: &mut Shard, first: u32, mention: &Mention, strings: &dyn Strings) -> u32 {
        let place = (mention.hash, mention.text);
        if let Some(&known) = self.places.get(&place) {
            return known;
        }
        if let Some(of_first) = strings.hash(shard.names[first as usize].text) {
            self.texts.entry((mention.hash, of_first)).or_insert(first);
        }
        let text = strings.hash(mention.text).map(|hash| (mention.hash, hash));
        let known = text.and_then(|text| self.texts.get(&text).copied());
        let is = |known: &u32| strings.is_same(shard.names[*known as usize].text, mention.text);
        let number = known.filter(is).unwrap_or_else(|| shard.add(mention));
        if let Some(text) = text {
            self.texts.entry(text).or_insert(number);
        }
        self.places.insert(place, number);
        number
    }

    fn clear(&mut self, shard: &Shard) {
        self.index.clear(self.firsts.iter().map(|&first| u64::from(shard.names[first as usize].hash)));
        self.firsts.clear();
        self.places.clear();
        self.texts.clear();
    }
}

impl Shard {
    fn add(&mut self, mention: &Mention) -> u32 {
        self.names.push(Name { hash: mention.hash, text: mention.text, end: 0, offset: 0 });
        self.names.len() as u32 - 1
    }
}

/// The names of a shard; `runs` has what each run mentions in it.
fn enter(
    known: &mut Numbers,
    runs: &[&[Mention]],
    size: impl Fn(usize, &Mention) -> u64,
    strings: &dyn Strings,
) -> Shard {
    let mut shard = Shard::default();
    let count = runs.iter().map(|run| run.len()).sum();
    let mut numbers = Vec::with_capacity(count);
    for mention in runs.iter().copied().flatten() {
        let number = known.number(&mut shard, mention, strings);
        shard.names[number as usize].end += 1;
        numbers.push(number);
    }
    shard.hashes = known.firsts.len() as u32;
    known.clear(&shard);
    // From how many there are to where they begin; dealing them out makes that where they end.
    let mut sum = 0;
    for name in &mut shard.names {
        sum += std::mem::replace(&mut name.end, sum);
    }
    shard.mentions = vec![Entries::default(); count];
    let mut numbers = numbers.into_iter();
    for (run, mentions) in (0..).zip(runs) {
        for (mention, number) in mentions.iter().zip(numbers.by_ref()) {
            shard.size += size(run as usize, mention);
            let end = &mut shard.names[number as usize].end;
            shard.mentions[*end as usize] = Entries { run, first: mention.first, count: mention.count };
            *end += 1;
        }
    }
    // What ends each list.
    shard.size += shard.names.len() as u64;
    shard
}

/// All names of the runs, in 2^`shard_bits` shards. `size` is that of the entries of a mention of a run.
pub fn put_together(
    runs: &[Vec<Vec<Mention>>],
    shard_bits: u32,
    threads: usize,
    size: impl Fn(usize, &Mention) -> u64 + Sync,
    strings: &dyn Strings,
) -> Vec<Shard> {
    let one = |known: &mut Numbers, number: usize| {
        let mentions: Vec<&[Mention]> = runs.iter().map(|run| &run[number][..]).collect();
        enter(known, &mentions, &size, strings)
    };
    items::run("enter names of the index", threads, (0..1 << shard_bits).collect(), one)
}

impl Shard {
    /// Gives entries their places, from `at` on in the pool: `size` is that of an entry, `places` has room
    /// for all, by run.
    pub fn place(&mut self, mut at: u32, size: impl Fn(usize, u32) -> u64, places: &[Vec<AtomicU32>]) {
        for number in 0..self.names.len() {
            self.names[number].offset = at;
            for entries in self.entries(number) {
                for entry in entries.first..entries.first + entries.count {
                    places[entries.run as usize][entry as usize].store(at, Ordering::Relaxed);
                    at += size(entries.run as usize, entry) as u32;
                }
            }
            // What ends the list.
            at += 1;
        }
    }
}
