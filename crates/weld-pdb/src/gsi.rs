//! Tables by which debuggers find global symbols and publics by name, and publics by address.
//!
//! A table has 4096 buckets, however many names there are. Names in a bucket are ordered by length, then
//! without regard to case; of tens of millions of names thousands share a bucket, so that sorting them is the
//! work here. Names of one length are sorted by eight letters at a time, from the first place on where they
//! differ: each name is looked at a few times, one after the other, and not each time that it is compared.
//!
//! Facts: `gsi.cpp` in microsoft-pdb, LLVM's documentation of the PDB format.

use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::{par, sort};

use crate::codeview::records::HEADER;
use crate::codeview::symbol::S_PUB32;
use crate::codeview::u32_at;
use crate::hash::{BUCKETS, bucket};
use crate::input::Public;
use crate::put::{Writer, put_u16, put_u32};
use crate::symbols::Symbols;

/// Words of the set of buckets that are not empty: there is room for one bucket more.
const BITMAP: usize = (BUCKETS as usize + 32) / 32;

const SIGNATURE: u32 = u32::MAX;
const VERSION: u32 = 0xeffe_0000 + 1999_0810;

/// Bytes of an item in the stream.
pub const ITEM_SIZE: usize = 8;

/// What debuggers of 32 bits use for an item in memory; starts of buckets are counted in these.
const ITEM_IN_MEMORY: u32 = 12;

/// Bytes in front of a table.
pub const TABLE_HEADER: u32 = 16;

/// Bytes in front of the table of publics.
pub const PUBLICS_HEADER: u32 = 28;

/// After so many letters names are compared whole: names made up to differ ever later would be a call deeper
/// every eight letters.
const DEEP: usize = 512;

/// A name in a table.
#[derive(Clone, Copy)]
struct Item<'n> {
    name: &'n [u8],
    /// Length, whether all of it is ASCII, bucket.
    rank: u32,
    /// Where the record is in the stream of records.
    at: u32,
}

impl<'n> Item<'n> {
    fn new(name: &'n [u8], bucket: u16, at: u32) -> Item<'n> {
        // The length has at most 16 bits; 12 bits of bucket below it and the flag do not fit into 28.
        let length = (name.len() as u32).min(0xffff);
        let rank = u32::from(bucket) << 17 | length << 1 | u32::from(!name.is_ascii());
        Item { name, rank, at }
    }

    fn bucket(&self) -> u32 {
        self.rank >> 17
    }

    /// Eight letters from a place on, such that numbers compare like these do. Two names of which one is not
    /// ASCII would not make an order if they were compared with others as the format compares two of a kind;
    /// those that are not come after the others, as they are.
    #[inline(always)]
    fn letters(&self, from: usize) -> u64 {
        let mut letters = [0; 8];
        match self.name.get(from..from + 8) {
            Some(eight) => letters.copy_from_slice(eight),
            None => {
                let rest = self.name.get(from..).unwrap_or_default();
                letters[..rest.len()].copy_from_slice(rest);
            }
        }
        if self.rank & 1 == 0 {
            letters.make_ascii_lowercase();
        }
        u64::from_be_bytes(letters)
    }
}

/// A table of names.
pub struct Table {
    /// Where the records are, in the order of the table.
    places: Vec<u32>,
    /// Where each bucket that is not empty begins, and which those are.
    starts: Vec<u32>,
    bitmap: [u32; BITMAP],
}

impl Table {
    fn new(items: Vec<Item<'_>>, parallel: bool) -> Table {
        let mut items = sort::by_bucket(items, BUCKETS, parallel, Item::bucket);
        let (mut starts, mut bitmap) = (Vec::new(), [0; BITMAP]);
        let mut parts: Vec<&mut [Item<'_>]> = items.chunk_by_mut(|a, b| a.bucket() == b.bucket()).collect();
        let mut at = 0;
        for part in &parts {
            let bucket = part[0].bucket();
            bitmap[bucket as usize / 32] |= 1 << (bucket % 32);
            starts.push(at);
            at += part.len() as u32;
        }
        let mut places = Vec::with_capacity(at as usize);
        let sort = |_, parts: &mut [&mut [Item<'_>]]| -> Vec<u32> {
            let mut scratch = Vec::new();
            parts.iter_mut().for_each(|part| sort_bucket(part, &mut scratch));
            parts.iter().flat_map(|part| part.iter().map(|item| item.at)).collect()
        };
        par::in_pieces("sort names in buckets", parallel, (&mut parts, 8), sort, |some: Vec<u32>| {
            places.extend(some);
        });
        Table { places, starts, bitmap }
    }

    /// The places of records in each bucket of a table that is there already.
    pub fn places(bytes: &[u8]) -> Option<Vec<Vec<u32>>> {
        let word = |at: usize| u32_at(bytes, at).ok();
        let (start, count) = (TABLE_HEADER as usize, word(8)? as usize / ITEM_SIZE);
        let index = start + count * ITEM_SIZE;
        let mut starts = Vec::new();
        for bucket in 0..BUCKETS as usize {
            if word(index + bucket / 32 * 4)? >> (bucket % 32) & 1 != 0 {
                let at = word(index + 4 * (BITMAP + starts.len()))? / ITEM_IN_MEMORY;
                starts.push((bucket, at as usize));
            }
        }
        let mut all = vec![Vec::new(); BUCKETS as usize];
        let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([count]);
        for ((bucket, at), end) in starts.iter().zip(ends) {
            if *at > end || end > count {
                return None;
            }
            let place = |item: usize| word(start + item * ITEM_SIZE)?.checked_sub(1);
            all[*bucket] = (*at..end).map(place).collect::<Option<_>>()?;
        }
        Some(all)
    }

    /// Places of records of a bucket in the order of their names.
    pub fn sorted<'n>(
        places: &[u32],
        bucket: u16,
        name: impl Fn(u32) -> Option<&'n [u8]>,
    ) -> Option<Vec<u32>> {
        let items = places.iter().map(|at| Some(Item::new(name(*at)?, bucket, *at)));
        let mut items = items.collect::<Option<Vec<_>>>()?;
        sort_bucket(&mut items, &mut Vec::new());
        Some(items.iter().map(|item| item.at).collect())
    }

    /// The table of these buckets, each of which is in order.
    pub fn of_buckets(buckets: &[Vec<u32>]) -> Table {
        let (mut starts, mut bitmap, mut places) = (Vec::new(), [0; BITMAP], Vec::new());
        for (bucket, own) in buckets.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
            bitmap[bucket / 32] |= 1 << (bucket % 32);
            starts.push(places.len() as u32);
            places.extend_from_slice(own);
        }
        Table { places, starts, bitmap }
    }

    /// Bytes of the table.
    pub fn len(&self) -> u64 {
        u64::from(TABLE_HEADER) + self.places.len() as u64 * ITEM_SIZE as u64 + self.index_len()
    }

    /// Bytes of what is after the items.
    fn index_len(&self) -> u64 {
        4 * (BITMAP + self.starts.len()) as u64
    }

    pub fn item_count(&self) -> usize {
        self.places.len()
    }

    /// What is before the items.
    pub fn header(&self) -> Vec<u8> {
        let mut bytes = vec![0; TABLE_HEADER as usize];
        let mut out = Writer::new(&mut bytes);
        let items = (self.places.len() * ITEM_SIZE) as u32;
        [SIGNATURE, VERSION, items, self.index_len() as u32].into_iter().for_each(|word| out.u32(word));
        bytes
    }

    /// Items: places of records, from 1 on, and a count of references.
    pub fn write_items(&self, range: Range<usize>, out: &mut [u8]) {
        for (place, out) in self.places[range].iter().zip(out.chunks_exact_mut(ITEM_SIZE)) {
            put_u32(out, 0, place + 1);
            put_u32(out, 4, 1);
        }
    }

    /// What is after the items.
    pub fn index(&self) -> Vec<u8> {
        let starts = self.starts.iter().map(|start| start.wrapping_mul(ITEM_IN_MEMORY));
        self.bitmap.iter().copied().chain(starts).flat_map(u32::to_le_bytes).collect()
    }
}

/// Puts names of a bucket in order.
fn sort_bucket<'n>(items: &mut [Item<'n>], scratch: &mut Vec<(u64, Item<'n>)>) {
    items.sort_unstable_by_key(|item| (item.rank, item.at));
    items.chunk_by_mut(|a, b| a.rank == b.rank).for_each(|part| sort_names(part, 0, scratch));
}

/// Puts names of one length in order that are the same up to `from`; now they are in the order of their
/// records.
fn sort_names<'n>(items: &mut [Item<'n>], mut from: usize, scratch: &mut Vec<(u64, Item<'n>)>) {
    while items.len() > 1 && from < items[0].name.len() {
        if from >= DEEP {
            let rest =
                |item: &Item<'n>| (from..item.name.len()).step_by(8).map(|at| item.letters(at)).collect();
            return items.sort_by_cached_key::<Vec<u64>, _>(rest);
        }
        let first = items[0].letters(from);
        if !items[1..].iter().all(|item| item.letters(from) == first) {
            scratch.clear();
            scratch.extend(items.iter().map(|item| (item.letters(from), *item)));
            scratch.sort_unstable_by_key(|(letters, item)| (*letters, item.at));
            items.iter_mut().zip(&*scratch).for_each(|(item, (_, sorted))| *item = *sorted);
            let equal = |a: &Item<'_>, b: &Item<'_>| a.letters(from) == b.letters(from);
            items.chunk_by_mut(equal).for_each(|part| sort_names(part, from + 8, scratch));
            return;
        }
        from += 8;
    }
}

/// The table of global symbols, whose records begin at `start` of the stream of records.
pub fn globals(symbols: &Symbols<'_>, start: u32, parallel: bool) -> Table {
    let made = par::runs("list global symbols", parallel, symbols.scanned.len(), 4, |range| {
        let mut items = Vec::new();
        for module in range {
            let sections = symbols.modules[module].sections;
            let kept = symbols.scanned[module].globals.iter().filter(|global| global.is_kept());
            items.extend(
                kept.map(|global| Item::new(global.name(sections), global.bucket, start + global.place)),
            );
        }
        items
    });
    Table::new(par::concat("list global symbols", parallel, made), parallel)
}

/// Publics: their records, and where to find them.
pub struct Publics<'a> {
    publics: &'a [Public<'a>],
    /// Where each record is, and where the last one ends.
    places: Vec<u32>,
    pub table: Table,
    /// The same places in order of addresses.
    pub by_address: Vec<u32>,
}

/// Longer names are cut, as the format has no room for them.
const LONGEST_NAME: usize = 0xfe00;

fn public_name<'a>(public: &Public<'a>) -> &'a [u8] {
    &public.name[..public.name.len().min(LONGEST_NAME)]
}

/// Bytes of a public's record without its name: length and kind, flags, offset, section.
const PUBLIC: usize = HEADER + 10;

fn public_size(public: &Public<'_>) -> usize {
    (PUBLIC + public_name(public).len() + 1).next_multiple_of(4)
}

fn put_public(public: &Public<'_>, out: &mut [u8]) {
    let (name, size) = (public_name(public), out.len());
    put_u16(out, 0, (size - 2) as u16);
    put_u16(out, 2, S_PUB32);
    put_u32(out, 4, public.flags.into());
    put_u32(out, 8, public.offset);
    put_u16(out, 12, public.section);
    out[PUBLIC..PUBLIC + name.len()].copy_from_slice(name);
    out[PUBLIC + name.len()..].fill(0);
}

/// The record of a public.
pub fn public_record(public: &Public<'_>) -> Vec<u8> {
    let mut bytes = vec![0; public_size(public)];
    put_public(public, &mut bytes);
    bytes
}

impl<'a> Publics<'a> {
    pub fn new(publics: &'a [Public<'a>], parallel: bool) -> Result<Publics<'a>, Diagnostic> {
        let mut places: Vec<u32> = Vec::with_capacity(publics.len() + 1);
        let mut at = 0u64;
        for public in publics {
            places.push(at as u32);
            at += public_size(public) as u64;
        }
        places.push(at as u32);
        if at > 1 << 31 {
            return Err(Diagnostic::error(
                Cause::PdbLimit,
                format!("too many public symbols for a PDB: their records have {at} bytes"),
            ));
        }
        let items = par::list("list publics", parallel, publics.len(), 1 << 14, |range| {
            let item = |i: usize| {
                let name = public_name(&publics[i]);
                Item::new(name, bucket(name), places[i])
            };
            range.map(item).collect::<Vec<_>>()
        });
        let table = Table::new(items, parallel);
        let key = |i: &u32| (publics[*i as usize].section, publics[*i as usize].offset);
        let order = sort::by((0..publics.len() as u32).collect(), parallel, |a, b| {
            let names = || publics[*a as usize].name.cmp(publics[*b as usize].name);
            key(a).cmp(&key(b)).then_with(names).then_with(|| a.cmp(b))
        });
        let by_address = order.iter().map(|&i| places[i as usize]).collect();
        Ok(Publics { publics, places, table, by_address })
    }

    pub fn count(&self) -> usize {
        self.publics.len()
    }

    /// Bytes of all records.
    pub fn record_bytes(&self) -> u32 {
        self.places[self.publics.len()]
    }

    /// Where the records with these numbers are.
    pub fn range(&self, publics: Range<usize>) -> Range<u32> {
        self.places[publics.start]..self.places[publics.end]
    }

    pub fn write_records(&self, publics: Range<usize>, out: &mut [u8]) {
        let mut out = Writer::new(out);
        for public in &self.publics[publics] {
            put_public(public, out.part(public_size(public)));
        }
    }

    /// Bytes of the stream with the table and the map of addresses.
    pub fn stream_len(&self) -> u64 {
        u64::from(PUBLICS_HEADER) + self.table.len() + 4 * self.by_address.len() as u64
    }

    /// What is before the table: its size and that of the map; thunks of incremental links would follow.
    pub fn header(&self) -> Vec<u8> {
        let mut bytes = vec![0; PUBLICS_HEADER as usize];
        put_u32(&mut bytes, 0, self.table.len() as u32);
        put_u32(&mut bytes, 4, 4 * self.by_address.len() as u32);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_bucket_have_one_order() {
        let names: Vec<&[u8]> = vec![
            b"bbbbbbbbbZ",
            b"AAAAAAAAAA",
            b"aaaaaaaaab",
            b"z",
            b"\xc3\xa4aaaaaaaa",
            b"aaaaaaaaaB",
            b"[",
            b"Y",
            b"\x80",
        ];
        let items: Vec<Item> =
            names.iter().enumerate().map(|(i, name)| Item::new(name, 7, i as u32 * 4)).collect();
        let table = Table::new(items, false);
        let order: Vec<u32> = table.places.iter().map(|place| place / 4).collect();
        assert_eq!(order, [6, 7, 3, 8, 1, 2, 5, 0, 4]);
        assert_eq!((table.starts.clone(), table.bitmap[0]), (vec![0], 1 << 7));
        assert_eq!(table.len(), 16 + 9 * 8 + (129 + 1) * 4);
    }

    #[test]
    fn long_names_that_are_alike_have_the_same_order() {
        let names: Vec<String> =
            (0..600u32).map(|i| format!("Namespace::Class{:03}::Method{:03}", i % 7, i * 37 % 100)).collect();
        let items = names.iter().enumerate().map(|(i, name)| Item::new(name.as_bytes(), 3, i as u32));
        let table = Table::new(items.collect(), false);
        let mut expected: Vec<u32> = (0..600).collect();
        expected.sort_by_key(|&i| (&names[i as usize], i));
        assert_eq!(table.places, expected);
    }

    #[test]
    fn names_that_differ_late_have_the_same_order() {
        // Each is like the one before it for some letters more.
        let name = |i: usize| [vec![b'a'; i * 5], vec![b'B'; 2000 - i * 5]].concat();
        let names: Vec<Vec<u8>> = (0..400).map(|i| name(i * 37 % 390)).collect();
        let items = names.iter().enumerate().map(|(i, name)| Item::new(name, 3, i as u32));
        let table = Table::new(items.collect(), false);
        let mut expected: Vec<u32> = (0..400).collect();
        expected.sort_by_key(|&i| (names[i as usize].to_ascii_lowercase(), i));
        assert_eq!(table.places, expected);
    }

    #[test]
    fn publics_by_address_and_name() {
        let public = |name: &'static [u8], section, offset| Public { name, offset, section, flags: 2 };
        let list = [public(b"main", 2, 0), public(b"b", 1, 8), public(b"a", 1, 8), public(b"first", 1, 0)];
        let publics = Publics::new(&list, false).unwrap();
        assert_eq!(publics.by_address, [20 + 16 + 16, 20 + 16, 20, 0]);
        let mut bytes = vec![0xcc; publics.record_bytes() as usize];
        publics.write_records(0..4, &mut bytes);
        assert_eq!(&bytes[..20], b"\x12\0\x0e\x11\x02\0\0\0\0\0\0\0\x02\0main\0\0");
    }
}
