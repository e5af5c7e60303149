//! `.hash` (`DT_HASH`): the System V symbol hash table (gABI, "Hash Table").
//!
//! Layout, words of 32 bits (on s390x of 64): `nbucket, nchain`, the buckets, the chains. A bucket holds the
//! index of its first symbol; the chain word of a symbol holds the index of the next one, 0 at the
//! end. `nchain` equals the number of symbols in `.dynsym`; loaders and tools learn that number
//! from here. All named symbols are entered, undefined ones too, as the gABI describes.

use super::plan::Plan;
use super::section::{At, Header, Links, Sizes, Spec, Synthetic};
use crate::elf::{SHF_ALLOC, SHT_HASH};
use crate::layout::ChunkKind;

use crate::elf::Format;

/// The hash function of `.hash` and of symbol versions (gABI, "Hash Table").
pub fn sysv_hash(name: &[u8]) -> u32 {
    let mut hash = 0u32;
    for &byte in name {
        hash = (hash << 4).wrapping_add(u32::from(byte));
        // Folds the top four bits back; they fall out with the next shift or at the end.
        hash ^= hash >> 24 & 0xf0;
    }
    hash & 0x0fff_ffff
}

/// In place of a hash: the symbol is not entered.
pub const SPARE: u32 = u32::MAX;

/// A planned `.hash` section.
pub struct SysvHash {
    format: Format,
    /// Bytes of a word.
    word: u64,
    /// Of all symbols, the null symbol included.
    hashes: Vec<u32>,
    buckets: u32,
    /// How many symbols behind the null symbol are not entered.
    skipped: usize,
}

impl SysvHash {
    /// Plans the table for symbols with names of these hashes: all of `.dynsym` in its final order. The
    /// first is the null symbol's and not entered, nor are those of so many behind it that are `skipped`.
    pub fn plan(format: Format, word: u64, (hashes, skipped): (Vec<u32>, u32)) -> SysvHash {
        let buckets = hashes.len().max(1) as u32;
        SysvHash { format, word, hashes, buckets, skipped: skipped as usize }
    }

    /// The section's size in bytes.
    pub fn size(&self) -> u64 {
        self.word * (2 + u64::from(self.buckets) + self.hashes.len() as u64)
    }

    /// Writes the section; `out` is exactly [`Self::size`] bytes.
    pub fn write(&self, out: &mut [u8]) {
        assert_eq!(out.len() as u64, self.size());
        match self.word {
            8 => self.fill(out, |value| self.format.u64_bytes(value.into())),
            _ => self.fill(out, |value| self.format.u32_bytes(value)),
        }
    }

    fn fill<const N: usize>(&self, out: &mut [u8], bytes: impl Fn(u32) -> [u8; N]) {
        out.fill(0);
        let (words, _) = out.as_chunks_mut::<N>();
        words[0] = bytes(self.buckets);
        words[1] = bytes(self.hashes.len() as u32);
        let (buckets, chains) = words[2..].split_at_mut(self.buckets as usize);
        // From the last symbol to the first, so that a chain lists its symbols in ascending order.
        for (i, hash) in self.hashes.iter().enumerate().skip(1 + self.skipped).rev() {
            if *hash == SPARE {
                continue;
            }
            let bucket = &mut buckets[(hash % self.buckets) as usize];
            chains[i] = *bucket;
            *bucket = bytes(i as u32);
        }
    }
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let table = sizes.plan.dynsym.as_ref()?.sysv_hash.as_ref()?;
        let header = Header { name: b".hash", kind: SHT_HASH, flags: SHF_ALLOC, entsize: table.word };
        Spec::own(header, table.word, table.size()).map(Spec::dispensable)
    }

    fn links(&self, _: &Plan) -> Option<Links> {
        Links::to(ChunkKind::DynSym)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let table = at.contents().dynsym.and_then(|d| d.sysv_hash.as_ref());
        table.into_iter().for_each(|table| table.write(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(table: &[u8], names: &[&[u8]], name: &[u8]) -> Option<u32> {
        let word = |i: u32| u32::from_le_bytes(table[4 * i as usize..][..4].try_into().unwrap());
        let mut index = word(2 + sysv_hash(name) % word(0));
        while index != 0 {
            if names[index as usize] == name {
                return Some(index);
            }
            index = word(2 + word(0) + index);
        }
        None
    }

    #[test]
    fn known_hashes() {
        assert_eq!(sysv_hash(b""), 0);
        assert_eq!(sysv_hash(b"printf"), 0x0779_05a6);
        assert_eq!(sysv_hash(b"GLIBC_2.2.5"), 0x0969_1a75);
        assert_eq!(sysv_hash(b"GLIBC_2.4"), 0x0d69_6914);
        // As the gABI writes it down, high bytes included.
        let spec = |s: &[u8]| {
            s.iter().fold(0u32, |h, &b| {
                let h = (h << 4).wrapping_add(b.into());
                let g = h & 0xf000_0000;
                (h ^ g >> 24) & !g
            })
        };
        for name in [&b"_ZNSt6vectorIiSaIiEE9push_backERKi"[..], b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
            assert_eq!(sysv_hash(name), spec(name));
        }
    }

    #[test]
    fn every_symbol_is_found() {
        let owned: Vec<String> =
            (0..300).map(|i| if i == 0 { String::new() } else { format!("f{i}") }).collect();
        let names: Vec<&[u8]> = owned.iter().map(|s| s.as_bytes()).collect();
        let plan = SysvHash::plan(Format::NATIVE, 4, (names.iter().map(|name| sysv_hash(name)).collect(), 0));
        let mut out = vec![0xaa; plan.size() as usize];
        plan.write(&mut out);
        for (i, name) in names.iter().enumerate().skip(1) {
            assert_eq!(find(&out, &names, name), Some(i as u32));
        }
        assert_eq!(find(&out, &names, b"absent"), None);
    }

    #[test]
    fn no_symbols_but_the_null_one() {
        let plan = SysvHash::plan(Format::NATIVE, 4, (vec![sysv_hash(b"")], 0));
        let mut out = vec![0xaa; plan.size() as usize];
        plan.write(&mut out);
        assert_eq!(out, [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let plan = SysvHash::plan(Format::NATIVE, 8, (vec![sysv_hash(b""); 2], 0));
        let mut out = vec![0xaa; plan.size() as usize];
        plan.write(&mut out);
        let words: Vec<u64> =
            out.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [2, 2, 1, 0, 0, 0]);
    }
}
