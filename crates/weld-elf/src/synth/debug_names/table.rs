//! The index: sizes of all of its parts before layout, their bytes when addresses are known.
//!
//! A header, lists of units, buckets, hashes, places of texts, places of entries, abbreviations, and the pool
//! of entries. Names are in the order of their buckets, and within one in the order in which they came;
//! entries are in the order of shards.
//!
//! Specification: DWARF 5, sections 6.1.1.4 and 6.1.1.4.5 (hash table).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::{items, sort, zeroed};

use super::abbrev::{Abbreviation, Kind, Parent, UnitSizes};
use super::collect::{Collected, Entry, Foreign, Mention, Text};
use super::names::{Name, Shard, Strings, put_together};
use crate::elf::Format;
use crate::synth::debug_info::dwarf::Pointer;
use crate::synth::parts::{Out, Parts};

/// What a run of objects added, and how its numbers become those of the index.
struct Run {
    /// The numbers of its first units.
    first_unit: u32,
    first_type_unit: u32,
    foreign: Vec<Foreign>,
    /// The codes of its abbreviations, and the sizes of their entries.
    codes: Vec<(u32, u32)>,
    entries: Vec<Entry>,
}

impl Run {
    fn size(&self, entry: u32) -> u64 {
        u64::from(self.codes[self.entries[entry as usize].abbreviation as usize].1)
    }
}

/// An index, but for addresses.
pub struct Table {
    units: Vec<Pointer>,
    type_units: Vec<Pointer>,
    /// Signatures, ascending.
    foreign: Vec<u64>,
    /// Abbreviation `i` has code `i + 1`.
    abbreviations: Vec<Abbreviation>,
    sizes: UnitSizes,
    augmentation: Vec<u8>,
    runs: Vec<Run>,
    shards: Vec<Shard>,
    /// By run and entry, where in the pool it is.
    places: Vec<Vec<AtomicU32>>,
    /// Shard and number of each name, by bucket.
    names: Vec<(u32, u32)>,
    buckets: u32,
    parts: Parts<Part>,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Header,
    /// From this bucket on.
    Buckets(usize),
    /// From this name on.
    Hashes(usize),
    Texts(usize),
    Entries(usize),
    Abbreviations,
    /// The entries of a shard, from this name on.
    Pool(u32, u32),
}

/// Words, and names of the pool, in a part.
const WORDS: usize = 1 << 15;
const POOL: usize = 1 << 13;

/// The index would have more than four GiB, or more units or names than there are numbers.
#[derive(Debug)]
pub struct TooLarge;

/// What is known when the index is written.
pub trait Addresses {
    /// Where a place of an input section is in its output section.
    fn unit(&self, unit: Pointer) -> u64;
    /// Where a text is in `.debug_str`.
    fn text(&self, text: Text) -> u64;
}

impl Table {
    /// Puts together what runs of objects left; names are in 2^`shard_bits` shards.
    ///
    /// # Errors
    /// If offsets do not fit their 32 bits.
    pub fn new(
        collected: Vec<Collected>,
        shard_bits: u32,
        threads: usize,
        strings: &dyn Strings,
    ) -> Result<Table, TooLarge> {
        let mut table = Table::of_units(collected.iter());
        let (mut runs, mut mentions) = (Vec::new(), Vec::new());
        let (mut first_unit, mut first_type_unit) = (0, 0);
        let mut codes = HashMap::new();
        for run in collected {
            let codes = run.abbreviations.iter().map(|&abbreviation| table.code(&mut codes, abbreviation));
            let codes = codes.collect();
            let (units, type_units) = (run.units.len() as u32, run.type_units.len() as u32);
            let Collected { foreign, entries, .. } = run;
            mentions.push(run.mentions);
            runs.push(Run { first_unit, first_type_unit, foreign, codes, entries });
            (first_unit, first_type_unit) = (first_unit + units, first_type_unit + type_units);
        }
        let size = |run: usize, mention: &Mention| {
            let entries = mention.first..mention.first + mention.count;
            entries.map(|entry| runs[run].size(entry)).sum()
        };
        table.shards = put_together(&mentions, shard_bits, threads, size, strings);
        drop(mentions);
        table.runs = runs;
        table.number_names(threads);
        table.lay_out()?;
        table.place_entries(threads);
        Ok(table)
    }

    /// An index with the units of all, and no names.
    fn of_units<'c>(collected: impl Iterator<Item = &'c Collected> + Clone) -> Table {
        let units: Vec<Pointer> = collected.clone().flat_map(|run| run.units.iter().copied()).collect();
        let type_units: Vec<Pointer> =
            collected.clone().flat_map(|run| run.type_units.iter().copied()).collect();
        let mut foreign: Vec<u64> =
            collected.clone().flat_map(|run| run.foreign.iter().map(|foreign| foreign.signature)).collect();
        foreign.sort_unstable();
        foreign.dedup();
        let mut all = Collected::default();
        collected.filter_map(|run| run.augmentation.as_deref()).for_each(|maker| all.made_by(maker));
        Table {
            sizes: UnitSizes::of(units.len(), type_units.len() + foreign.len()),
            units,
            type_units,
            foreign,
            abbreviations: Vec::new(),
            augmentation: all.augmentation.unwrap_or_default(),
            runs: Vec::new(),
            shards: Vec::new(),
            places: Vec::new(),
            names: Vec::new(),
            buckets: 0,
            parts: Parts::default(),
        }
    }

    /// The code of an abbreviation, and the size of its entries.
    fn code(&mut self, codes: &mut HashMap<Abbreviation, u32>, abbreviation: Abbreviation) -> (u32, u32) {
        let code = *codes.entry(abbreviation).or_insert_with(|| {
            self.abbreviations.push(abbreviation);
            self.abbreviations.len() as u32
        });
        (code, abbreviation.entry_size(code, self.sizes) as u32)
    }

    /// Gives names their order, which is that of their buckets.
    fn number_names(&mut self, threads: usize) {
        let hashes: u32 = self.shards.iter().map(|shard| shard.hashes).sum();
        // As many buckets as LLVM makes: one to four hashes in each.
        self.buckets = match hashes {
            0..=16 => hashes,
            17..=1024 => hashes / 2,
            _ => hashes / 4,
        };
        let mut names = Vec::with_capacity(self.shards.iter().map(|shard| shard.names.len()).sum());
        for (shard, number) in self.shards.iter().zip(0..) {
            names.extend((0..shard.names.len() as u32).map(|name| (number, name)));
        }
        let buckets = self.buckets.max(1);
        let bucket =
            |&(shard, name): &(u32, u32)| self.shards[shard as usize].names[name as usize].hash % buckets;
        self.names = sort::by_bucket(names, buckets, threads > 1, bucket);
    }

    /// Gives every part its place.
    fn lay_out(&mut self) -> Result<(), TooLarge> {
        let mut parts = Parts::default();
        let lists = 4 * (self.units.len() + self.type_units.len()) + 8 * self.foreign.len();
        let header = HEADER + self.augmentation.len().next_multiple_of(4) + lists;
        parts.add(Part::Header, header as u64);
        let mut words = |kind: fn(usize) -> Part, count: usize| {
            for first in (0..count).step_by(WORDS) {
                parts.add(kind(first), 4 * (count - first).min(WORDS) as u64);
            }
        };
        words(Part::Buckets, self.buckets as usize);
        words(Part::Hashes, self.names.len());
        words(Part::Texts, self.names.len());
        words(Part::Entries, self.names.len());
        let sizes = (1..).zip(&self.abbreviations).map(|(code, one)| one.size(code, self.sizes));
        parts.add(Part::Abbreviations, sizes.sum::<u64>() + 1);
        let pool: u64 = self.shards.iter().map(|shard| shard.size).sum();
        if parts.size + pool > LARGEST {
            return Err(TooLarge);
        }
        self.parts = parts;
        Ok(())
    }

    /// Gives every entry its place in the pool.
    fn place_entries(&mut self, threads: usize) {
        self.places = self.runs.iter().map(|run| zeroed::sparse(run.entries.len())).collect();
        let (mut at, mut starts) = (0, Vec::new());
        for shard in &self.shards {
            starts.push(at);
            at += shard.size as u32;
        }
        let (runs, places) = (&self.runs, &self.places);
        let shards = self.shards.iter_mut().zip(&starts).collect();
        let one = |_: &mut (), (shard, start): (&mut Shard, &u32)| {
            shard.place(*start, |run, entry| runs[run].size(entry), places);
        };
        items::run("places of entries of the index", threads, shards, one);
        for ((number, shard), start) in (0..).zip(&self.shards).zip(starts) {
            let start = |name: usize| shard.names.get(name).map_or(start + shard.size as u32, |n| n.offset);
            for first in (0..shard.names.len()).step_by(POOL) {
                let size = start(first + POOL) - start(first);
                self.parts.add(Part::Pool(number, first as u32), u64::from(size));
            }
        }
    }

    /// The size of the section, in bytes.
    pub fn size(&self) -> u64 {
        self.parts.size
    }

    /// Where the section may be cut.
    pub fn borders(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.borders()
    }

    /// Writes what is in `out`, which begins at offset `start` of the section; both ends are
    /// [borders](Self::borders).
    pub fn write(&self, start: u64, out: &mut [u8], format: Format, addresses: &impl Addresses) {
        self.parts.write(start, out, |part, bytes| {
            self.write_part(part, &mut Out { rest: bytes, format }, addresses);
        });
    }

    fn write_part(&self, part: Part, out: &mut Out, addresses: &impl Addresses) {
        let words = out.rest.len() / 4;
        let names = |first: usize| self.names[first..first + words].iter().map(|&name| self.name(name));
        match part {
            Part::Header => self.write_header(out, addresses),
            Part::Buckets(first) => self.write_buckets(first as u32, words as u32, out),
            Part::Hashes(first) => names(first).for_each(|name| out.u32(name.hash)),
            Part::Texts(first) => names(first).for_each(|name| out.u32(addresses.text(name.text) as u32)),
            Part::Entries(first) => names(first).for_each(|name| out.u32(name.offset)),
            Part::Abbreviations => {
                for (code, abbreviation) in (1..).zip(&self.abbreviations) {
                    abbreviation.write(code, self.sizes, out);
                }
                out.bytes(&[0]);
            }
            Part::Pool(shard, first) => self.write_pool(&self.shards[shard as usize], first as usize, out),
        }
    }

    fn name(&self, (shard, number): (u32, u32)) -> &Name {
        &self.shards[shard as usize].names[number as usize]
    }

    fn write_header(&self, out: &mut Out, addresses: &impl Addresses) {
        out.u32((self.parts.size - 4) as u32);
        out.u16(5);
        out.u16(0);
        let start = |wanted: fn(Part) -> bool| self.parts.start(wanted);
        let abbreviations =
            start(|part| matches!(part, Part::Pool(..))) - start(|part| part == Part::Abbreviations);
        let augmentation = self.augmentation.len().next_multiple_of(4);
        for count in [
            self.units.len(),
            self.type_units.len(),
            self.foreign.len(),
            self.buckets as usize,
            self.names.len(),
            abbreviations as usize,
            augmentation,
        ] {
            out.u32(count as u32);
        }
        out.bytes(&self.augmentation);
        out.bytes(&[0; 3][..augmentation - self.augmentation.len()]);
        for &unit in self.units.iter().chain(&self.type_units) {
            out.u32(addresses.unit(unit) as u32);
        }
        self.foreign.iter().for_each(|&signature| out.u64(signature));
    }

    /// The numbers of the first names of buckets, counted from 1; 0 for those that have none.
    fn write_buckets(&self, first: u32, count: u32, out: &mut Out) {
        let bucket = |name: (u32, u32)| self.name(name).hash % self.buckets;
        let mut next = self.names.partition_point(|&name| bucket(name) < first);
        for number in first..first + count {
            let behind = next + self.names[next..].iter().take_while(|&&name| bucket(name) == number).count();
            out.u32(if behind > next { next as u32 + 1 } else { 0 });
            next = behind;
        }
    }

    fn write_pool(&self, shard: &Shard, first: usize, out: &mut Out) {
        for name in first..shard.names.len().min(first + POOL) {
            for entries in shard.entries(name) {
                let run = entries.run as usize;
                for entry in entries.first..entries.first + entries.count {
                    self.write_entry(run, &self.runs[run].entries[entry as usize], out);
                }
            }
            out.bytes(&[0]);
        }
    }

    #[inline]
    fn write_entry(&self, number: usize, entry: &Entry, out: &mut Out) {
        let run = &self.runs[number];
        let (code, _) = run.codes[entry.abbreviation as usize];
        let Abbreviation { kind, parent, .. } = self.abbreviations[code as usize - 1];
        out.uleb(u64::from(code));
        let mut unit = None;
        match kind {
            Kind::Unit => unit = Some(entry.unit),
            Kind::TypeUnit => out.number(run.first_type_unit + entry.unit, self.sizes.type_unit),
            Kind::Foreign => {
                let foreign = run.foreign[entry.unit as usize];
                let number = self.foreign.partition_point(|&signature| signature < foreign.signature);
                out.number((self.type_units.len() + number) as u32, self.sizes.type_unit);
                unit = Some(foreign.unit);
            }
        }
        out.u32(entry.offset);
        if parent == Parent::Listed {
            out.u32(self.places[number][entry.parent as usize].load(Ordering::Relaxed));
        }
        if let Some(unit) = unit {
            out.number(run.first_unit + unit, self.sizes.unit);
        }
    }
}

/// Lengths from here on mean something else, in the form of 32 bits.
const LARGEST: u64 = 0xffff_fff0;
/// Bytes of the header in front of the augmentation.
const HEADER: usize = 36;
