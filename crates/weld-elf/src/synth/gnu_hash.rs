//! `.gnu.hash` (`DT_GNU_HASH`): the loader's way from a name to a dynamic symbol.
//!
//! Layout, aligned as an address: `nbuckets, symndx, nmask, shift` (u32 each), a Bloom
//! filter of `nmask` words as wide as an address (a power of two of them), `nbuckets` u32 symbol indices, and
//! one u32 hash for each hashed symbol. The symbols of a bucket follow each other in `.dynsym`, and the
//! lowest bit of a symbol's hash word says whether it is the last of its bucket. So the table dictates the
//! order of the defined dynamic symbols: they are sorted by bucket, and within one keep the order they had
//! ([`weld_common::sort::by_bucket`]). Then each word of the table is known from a symbol and its neighbours;
//! all are made by the threads that share the symbols, and written in parts.
//!
//! The filter has at least 12 bits a symbol with two set for each: it lets about 2 % of the misses
//! through. Four symbols share a bucket: a chain is a run of adjacent words, cheap to walk.
//!
//! Source: the GNU hash section as described for binutils and glibc (no official specification).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::plan::Plan;
use super::section::{At, Cuts, Header, Links, Sizes, Source, Spec, Synthetic};
use crate::elf::{SHF_ALLOC, SHT_GNU_HASH};
use crate::layout::ChunkKind;
use weld_common::{par, zeroed};

use crate::elf::Format;

/// Symbols entered by one task.
const RUN: usize = 1 << 14;

/// Which bits of a hash pick the filter's second bit.
const BLOOM_SHIFT: u32 = 26;
const SYMBOLS_PER_BUCKET: usize = 4;
const BLOOM_BITS_PER_SYMBOL: usize = 12;

/// The hash function of `.gnu.hash`: `h * 33 + byte` from 5381.
///
/// Eight bytes a step, each times its own power of 33: the multiplications do not wait for one
/// another.
pub fn gnu_hash(name: &[u8]) -> u32 {
    const POWERS: [u32; 8] = {
        let mut powers = [1u32; 8];
        let mut i = 1;
        while i < 8 {
            powers[i] = powers[i - 1].wrapping_mul(33);
            i += 1;
        }
        powers
    };
    const STEP: u32 = POWERS[7].wrapping_mul(33);
    let (blocks, rest) = name.as_chunks::<8>();
    let mut hash = 5381u32;
    for block in blocks {
        let mut sum = 0u32;
        for (i, &byte) in block.iter().enumerate() {
            sum = sum.wrapping_add(u32::from(byte).wrapping_mul(POWERS[7 - i]));
        }
        hash = hash.wrapping_mul(STEP).wrapping_add(sum);
    }
    for &byte in rest {
        hash = hash.wrapping_mul(33).wrapping_add(u32::from(byte));
    }
    hash
}

/// The bucket of a hash among [`GnuHash::buckets`].
#[inline(always)]
pub fn bucket(hash: u32, buckets: u32) -> u32 {
    hash % buckets
}

/// A symbol to be found: the hash of its name, and the bucket of that.
#[derive(Clone, Copy)]
pub struct Hashed {
    pub hash: u32,
    pub bucket: u32,
}

/// A planned `.gnu.hash` section.
pub struct GnuHash {
    format: Format,
    head: [u32; 4],
    /// In files of 32 bits only the lower halves are used.
    bloom: Vec<AtomicU64>,
    /// The symbol that each bucket starts with; 0 if it is empty.
    buckets: Vec<AtomicU32>,
    chains: Vec<u32>,
}

impl GnuHash {
    /// The number of buckets for so many symbols.
    pub fn buckets(symbols: usize) -> u32 {
        (symbols / SYMBOLS_PER_BUCKET).max(1) as u32
    }

    /// Plans the table for the defined dynamic symbols. They are in the order of their buckets and become the
    /// symbols `first_symndx..` of `.dynsym` (all symbols before are not hashed).
    pub fn plan<T: Sync>(
        format: Format,
        symbols: &[T],
        first_symndx: u32,
        parallel: bool,
        hashed: impl Fn(&T) -> Hashed + Sync,
    ) -> GnuHash {
        let buckets = Self::buckets(symbols.len());
        let bloom_words = Self::bloom_words(format, symbols.len());
        let mut table = GnuHash {
            format,
            head: [buckets, first_symndx, bloom_words as u32, BLOOM_SHIFT],
            bloom: zeroed::sparse(bloom_words),
            buckets: zeroed::sparse(buckets as usize),
            chains: Vec::new(),
        };
        let chain = |run: std::ops::Range<usize>| {
            let mut before = run.start.checked_sub(1).map(|i| hashed(&symbols[i]).bucket);
            let (table, hashed) = (&table, &hashed);
            run.map(move |i| {
                let symbol = hashed(&symbols[i]);
                table.add_to_bloom(symbol.hash, parallel);
                if before != Some(symbol.bucket) {
                    table.buckets[symbol.bucket as usize].store(first_symndx + i as u32, Ordering::Relaxed);
                }
                let last = symbols.get(i + 1).is_none_or(|next| hashed(next).bucket != symbol.bucket);
                before = Some(symbol.bucket);
                symbol.hash & !1 | u32::from(last)
            })
        };
        table.chains = par::list("make .gnu.hash", parallel, symbols.len(), RUN, chain);
        table
    }

    /// Plans the table for rows of which each bucket has a run, that starts at one of `runs`. Rows have the hashes
    /// of their names, or none if they are spare, and are `first_symndx..` of `.dynsym`.
    pub fn of_rows(format: Format, rows: &[Option<u32>], runs: &[u32], first_symndx: u32) -> GnuHash {
        let bloom_words = Self::bloom_words(format, rows.len());
        let mut table = GnuHash {
            format,
            head: [runs.len() as u32, first_symndx, bloom_words as u32, BLOOM_SHIFT],
            bloom: zeroed::sparse(bloom_words),
            buckets: runs.iter().map(|start| AtomicU32::new(first_symndx + start)).collect(),
            chains: rows.iter().map(|hash| hash.unwrap_or(0) & !1).collect(),
        };
        rows.iter().flatten().for_each(|hash| table.add_to_bloom(*hash, false));
        for end in runs.iter().skip(1).map(|start| *start as usize).chain([rows.len()]) {
            if let Some(last) = end.checked_sub(1).and_then(|last| table.chains.get_mut(last)) {
                *last |= 1;
            }
        }
        table
    }

    fn bloom_words(format: Format, symbols: usize) -> usize {
        let bits = (symbols * BLOOM_BITS_PER_SYMBOL).max(1);
        bits.div_ceil(8 * format.word() as usize).next_power_of_two()
    }

    #[inline(always)]
    fn add_to_bloom(&self, hash: u32, parallel: bool) {
        let (log2, mask) = if self.format.is_64() { (6, 63) } else { (5, 31) };
        let word = &self.bloom[(hash >> log2) as usize & (self.bloom.len() - 1)];
        let bits = 1u64 << (hash & mask) | 1u64 << (hash >> BLOOM_SHIFT & mask);
        // One thread need not pay for an atomic change.
        match parallel {
            true => _ = word.fetch_or(bits, Ordering::Relaxed),
            false => word.store(word.load(Ordering::Relaxed) | bits, Ordering::Relaxed),
        }
    }

    /// The section's size in bytes.
    pub fn size(&self) -> u64 {
        (16 + self.format.word() as usize * self.bloom.len() + 4 * self.buckets.len() + 4 * self.chains.len())
            as u64
    }

    /// Writes the bytes from `start` on, a multiple of 8; the section is 8-byte aligned in the image.
    pub fn write(&self, start: usize, out: &mut [u8]) {
        let mut at = start;
        let format = self.format;
        let bloom = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let out = put(out, &mut at, &self.head, |word| format.u32_bytes(*word));
        let out = match format.is_64() {
            true => put(out, &mut at, &self.bloom, |word| format.u64_bytes(bloom(word))),
            false => put(out, &mut at, &self.bloom, |word| format.u32_bytes(bloom(word) as u32)),
        };
        let out = put(out, &mut at, &self.buckets, |word| format.u32_bytes(word.load(Ordering::Relaxed)));
        put(out, &mut at, &self.chains, |word| format.u32_bytes(*word));
    }
}

/// Where each bucket of a table starts, which is one of this machine's form and has symbol `first` first, counted from
/// that; none is empty.
pub fn buckets_in(table: &[u8], first: u32) -> Option<Vec<u32>> {
    let format = Format::NATIVE;
    let word = |at: usize| table.get(at..at.checked_add(4)?).map(|word| format.get_u32(word));
    let (count, bloom) = (word(0)? as usize, word(8)? as usize);
    let start = bloom.checked_mul(format.word() as usize)?.checked_add(16)?;
    let words = table.get(start..start.checked_add(count.checked_mul(4)?)?)?;
    let buckets: Option<Vec<u32>> =
        words.chunks_exact(4).map(|word| format.get_u32(word).checked_sub(first)).collect();
    buckets.filter(|buckets| buckets.is_sorted() && count > 0 && word(4) == Some(first))
}

/// Writes `words` from byte `at` on, as far as there is room. Returns what is left of the room, and in `at`
/// where that starts in what follows.
fn put<'o, T, const N: usize>(
    out: &'o mut [u8],
    at: &mut usize,
    words: &[T],
    bytes: impl Fn(&T) -> [u8; N],
) -> &'o mut [u8] {
    let first = (*at / N).min(words.len());
    *at -= first * N;
    let words = &words[first..];
    let (places, rest) = out.split_at_mut((words.len() * N).min(out.len()));
    for (place, word) in places.as_chunks_mut::<N>().0.iter_mut().zip(words) {
        *place = bytes(word);
    }
    rest
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let table = sizes.plan.dynsym.as_ref()?.gnu_hash.as_ref()?;
        let header = Header { name: b".gnu.hash", kind: SHT_GNU_HASH, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, sizes.format().word(), table.size()).map(Spec::dispensable)
    }

    fn links(&self, _: &Plan) -> Option<Links> {
        Links::to(ChunkKind::DynSym)
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let table = at.contents().dynsym.and_then(|d| d.gnu_hash.as_ref());
        table.into_iter().for_each(|table| table.write(at.start as usize, out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks a name up as a loader does.
    fn find(table: &[u8], format: Format, names: &[&str], name: &str) -> Option<u32> {
        let word = |table: &[u8], at: usize| format.get_u32(&table[at..]);
        let (buckets, first, mask, shift) = (word(table, 0), word(table, 4), word(table, 8), word(table, 12));
        let hash = gnu_hash(name.as_bytes());
        let size = format.word() as usize;
        let bits = 8 * size as u32;
        let at = 16 + size * ((hash / bits) & (mask - 1)) as usize;
        let bloom = format.get(&table[at..at + size]);
        if bloom >> (hash % bits) & bloom >> ((hash >> shift) % bits) & 1 == 0 {
            return None;
        }
        let bucket_at = 16 + size * mask as usize;
        let chain_at = bucket_at + 4 * buckets as usize;
        let mut index = word(table, bucket_at + 4 * (hash % buckets) as usize);
        if index == 0 {
            return None;
        }
        loop {
            let chain = word(table, chain_at + 4 * (index - first) as usize);
            if chain | 1 == hash | 1 && names[(index - first) as usize] == name {
                return Some(index);
            }
            if chain & 1 != 0 {
                return None;
            }
            index += 1;
        }
    }

    #[test]
    fn known_hashes() {
        // Values from the published descriptions of the format.
        assert_eq!(gnu_hash(b""), 0x1505);
        assert_eq!(gnu_hash(b"printf"), 0x156b_2bb8);
        assert_eq!(gnu_hash(b"exit"), 0x7c96_7e3f);
        assert_eq!(gnu_hash(b"syscall"), 0xbac2_12a0);
        let slow = |s: &[u8]| s.iter().fold(5381u32, |h, &b| h.wrapping_mul(33).wrapping_add(b.into()));
        let text = b"_ZNSt6vectorIiSaIiEE9push_backERKi\xff\x80";
        for len in 0..=text.len() {
            assert_eq!(gnu_hash(&text[..len]), slow(&text[..len]));
        }
    }

    /// The hashes in the order of their buckets, and the table for them.
    fn planned(format: Format, hashes: &[u32], first_symndx: u32, parallel: bool) -> (Vec<u32>, GnuHash) {
        let buckets = GnuHash::buckets(hashes.len());
        let numbers = (0..hashes.len() as u32).collect();
        let bucket_of = |&i: &u32| bucket(hashes[i as usize], buckets);
        let order = weld_common::sort::by_bucket(numbers, buckets, parallel, bucket_of);
        let hashed = |i: &u32| Hashed { hash: hashes[*i as usize], bucket: bucket_of(i) };
        let plan = GnuHash::plan(format, &order, first_symndx, parallel, hashed);
        (order, plan)
    }

    #[test]
    fn every_symbol_is_found_and_others_are_not() {
        for (n, format) in [1usize, 2, 5, 100, 1000].into_iter().flat_map(|n| Format::ALL.map(|f| (n, f))) {
            let names: Vec<String> = (0..n).map(|i| format!("sym{}", i * 7919)).collect();
            let hashes: Vec<u32> = names.iter().map(|s| gnu_hash(s.as_bytes())).collect();
            let (order, plan) = planned(format, &hashes, 3, false);
            let mut out = vec![0xaa; plan.size() as usize];
            plan.write(0, &mut out);
            let sorted: Vec<&str> = order.iter().map(|&i| names[i as usize].as_str()).collect();
            for (i, name) in sorted.iter().enumerate() {
                assert_eq!(find(&out, format, &sorted, name), Some(3 + i as u32));
            }
            for i in 0..100 {
                assert_eq!(find(&out, format, &sorted, &format!("absent{i}")), None);
            }
        }
    }

    #[test]
    fn neither_threads_nor_cuts_matter() {
        let hashes: Vec<u32> = (0..100_000u32).map(|i| gnu_hash(&i.to_le_bytes()).wrapping_mul(i)).collect();
        let (_, plan) = planned(Format::NATIVE, &hashes, 1, false);
        let mut whole = vec![0xaa; plan.size() as usize];
        plan.write(0, &mut whole);
        let (_, plan) = planned(Format::NATIVE, &hashes, 1, true);
        for size in [8, 16, 1000, 1 << 16] {
            let mut parts = vec![0xaa; plan.size() as usize];
            for (i, part) in parts.chunks_mut(size).enumerate() {
                plan.write(i * size, part);
            }
            assert!(parts == whole, "{size}");
        }
    }

    #[test]
    fn empty_table_is_valid() {
        let (order, plan) = planned(Format::NATIVE, &[], 7, false);
        assert!(order.is_empty());
        let mut out = vec![0xaa; plan.size() as usize];
        plan.write(0, &mut out);
        assert_eq!(out.len(), 28);
        assert_eq!([0, 4, 8].map(|at| Format::NATIVE.get_u32(&out[at..])), [1, 7, 1]);
        assert!(out[16..].iter().all(|&b| b == 0));
        assert_eq!(find(&out, Format::NATIVE, &[], "printf"), None);
    }
}
