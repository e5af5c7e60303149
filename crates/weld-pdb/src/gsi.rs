//! Tables by which debuggers find global symbols and publics by name, and publics by address.
//!
//! A table has 4096 buckets, however many names there are. Names in a bucket are ordered by length, then without regard to case; of tens
//! of millions of names thousands share a bucket, so that sorting them is the work here. An item carries length and
//! first letters of its name, and the name itself is looked at when these are equal.
//!
//! Facts: `gsi.cpp` in microsoft-pdb, LLVM's documentation of the PDB format.

use std::cmp::Ordering;
use std::ops::Range;

use weld_common::diag::Diagnostic;
use weld_common::{par, sort};

use crate::codeview::records::HEADER;
use crate::codeview::symbol::S_PUB32;
use crate::input::Public;
use crate::put::{Writer, put_u16, put_u32};
use crate::symbols::Symbols;

const BUCKETS: u32 = 4096;

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

/// The bucket of a name.
pub fn bucket(name: &[u8]) -> u16 {
    (crate::hash::name(name) % BUCKETS) as u16
}

/// A name in a table.
#[derive(Clone, Copy)]
struct Item {
    /// Its first letters, such that items compare like names.
    key: u64,
    /// Length, whether all of it is ASCII, bucket.
    rank: u32,
    /// Where the record is in the stream of records.
    at: u32,
    /// Whose name it is.
    list: u32,
    number: u32,
}

impl Item {
    fn new(name: &[u8], bucket: u16, at: u32, list: usize, number: usize) -> Item {
        let other = !name.is_ascii();
        let mut first = [0; 8];
        let len = name.len().min(8);
        first[..len].copy_from_slice(&name[..len]);
        if !other {
            first.make_ascii_lowercase();
        }
        // The length has at most 16 bits; 12 bits of bucket below it and the flag do not fit into 28.
        let rank = u32::from(bucket) << 17 | (name.len() as u32).min(0xffff) << 1 | u32::from(other);
        Item { key: u64::from_be_bytes(first), rank, at, list: list as u32, number: number as u32 }
    }

    fn bucket(&self) -> u32 {
        self.rank >> 17
    }

    fn is_ascii(&self) -> bool {
        self.rank & 1 == 0
    }
}

/// A table of names.
pub struct Table {
    items: Vec<Item>,
    /// Where each bucket that is not empty begins, and which those are.
    starts: Vec<u32>,
    bitmap: [u32; BITMAP],
}

impl Table {
    fn new<'n>(items: Vec<Item>, name: impl Fn(&Item) -> &'n [u8] + Sync, parallel: bool) -> Table {
        let mut items = sort::by_bucket(items, BUCKETS, parallel, Item::bucket);
        let (mut starts, mut bitmap) = (Vec::new(), [0; BITMAP]);
        let mut parts: Vec<&mut [Item]> = items.chunk_by_mut(|a, b| a.bucket() == b.bucket()).collect();
        let mut at = 0;
        for part in &parts {
            let bucket = part[0].bucket();
            bitmap[bucket as usize / 32] |= 1 << (bucket % 32);
            starts.push(at);
            at += part.len() as u32;
        }
        let sort = |_, parts: &mut [&mut [Item]]| {
            parts.iter_mut().for_each(|part| part.sort_unstable_by(|a, b| compare(a, b, &name)));
        };
        par::in_pieces("sort names in buckets", parallel, (&mut parts, 8), sort, |()| ());
        Table { items, starts, bitmap }
    }

    /// Bytes of the table.
    pub fn len(&self) -> u64 {
        u64::from(TABLE_HEADER) + self.items.len() as u64 * ITEM_SIZE as u64 + self.index_len()
    }

    /// Bytes of what is behind the items.
    fn index_len(&self) -> u64 {
        4 * (BITMAP + self.starts.len()) as u64
    }

    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// What is before the items.
    pub fn header(&self) -> Vec<u8> {
        let mut bytes = vec![0; TABLE_HEADER as usize];
        let mut out = Writer::new(&mut bytes);
        let items = (self.items.len() * ITEM_SIZE) as u32;
        [SIGNATURE, VERSION, items, self.index_len() as u32].into_iter().for_each(|word| out.u32(word));
        bytes
    }

    /// Items: places of records, from 1 on, and a count of references.
    pub fn write_items(&self, range: Range<usize>, out: &mut [u8]) {
        for (item, out) in self.items[range].iter().zip(out.chunks_exact_mut(ITEM_SIZE)) {
            put_u32(out, 0, item.at + 1);
            put_u32(out, 4, 1);
        }
    }

    /// What is behind the items.
    pub fn index(&self) -> Vec<u8> {
        let starts = self.starts.iter().map(|start| start.wrapping_mul(ITEM_IN_MEMORY));
        self.bitmap.iter().copied().chain(starts).flat_map(u32::to_le_bytes).collect()
    }
}

/// The order of names in a bucket. Names of which one is not ASCII would not make an order if they were compared with those that are
/// as the format compares two of a kind; they come behind them.
fn compare<'n>(a: &Item, b: &Item, name: &impl Fn(&Item) -> &'n [u8]) -> Ordering {
    let first = (a.rank, a.key).cmp(&(b.rank, b.key));
    let whole = || {
        let (x, y) = (name(a), name(b));
        match a.is_ascii() {
            true => x.iter().map(u8::to_ascii_lowercase).cmp(y.iter().map(u8::to_ascii_lowercase)),
            false => x.cmp(y),
        }
    };
    first.then_with(whole).then_with(|| a.at.cmp(&b.at))
}

/// The table of global symbols, whose records begin at `start` of the stream of records.
pub fn globals(symbols: &Symbols<'_>, start: u32, parallel: bool) -> Table {
    let made = par::runs("list global symbols", parallel, symbols.scanned.len(), 4, |range| {
        let mut items = Vec::new();
        for module in range {
            let sections = symbols.modules[module].sections;
            for (i, global) in symbols.scanned[module].globals.iter().enumerate().filter(|(_, g)| g.is_kept())
            {
                let name = global.name(sections);
                items.push(Item::new(name, global.bucket, start + global.place, module, i));
            }
        }
        items
    });
    let name = |item: &Item| {
        let module = item.list as usize;
        symbols.scanned[module].globals[item.number as usize].name(symbols.modules[module].sections)
    };
    Table::new(par::concat("list global symbols", parallel, made), name, parallel)
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
            return Err(Diagnostic::error(format!(
                "too many public symbols for a PDB: their records have {at} bytes"
            )));
        }
        let items = par::list("list publics", parallel, publics.len(), 1 << 14, |range| {
            let item = |i: usize| {
                let name = public_name(&publics[i]);
                Item::new(name, bucket(name), places[i], 0, i)
            };
            range.map(item).collect::<Vec<_>>()
        });
        let table = Table::new(items, |item| public_name(&publics[item.number as usize]), parallel);
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
            let (name, size) = (public_name(public), public_size(public));
            let out = out.part(size);
            put_u16(out, 0, (size - 2) as u16);
            put_u16(out, 2, S_PUB32);
            put_u32(out, 4, public.flags.into());
            put_u32(out, 8, public.offset);
            put_u16(out, 12, public.section);
            out[PUBLIC..PUBLIC + name.len()].copy_from_slice(name);
            out[PUBLIC + name.len()..].fill(0);
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
            names.iter().enumerate().map(|(i, name)| Item::new(name, 7, i as u32 * 4, 0, i)).collect();
        let table = Table::new(items, |item| names[item.number as usize], false);
        let order: Vec<u32> = table.items.iter().map(|item| item.number).collect();
        assert_eq!(order, [6, 7, 3, 8, 1, 2, 5, 0, 4]);
        assert_eq!((table.starts.clone(), table.bitmap[0]), (vec![0], 1 << 7));
        assert_eq!(table.len(), 16 + 9 * 8 + (129 + 1) * 4);
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
