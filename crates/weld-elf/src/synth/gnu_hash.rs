//! `.gnu.hash` (`DT_GNU_HASH`): the loader's way from a name to a dynamic symbol.
//!
//! Layout, little-endian, 8-byte aligned: `nbuckets, symndx, nmask, shift` (u32 each), a Bloom
//! filter of `nmask` u64 words (a power of two), `nbuckets` u32 symbol indices, and one u32 hash
//! for each hashed symbol. The symbols of a bucket follow each other in `.dynsym`, and the lowest
//! bit of a symbol's hash word says whether it is the last of its bucket. So the table dictates the
//! order of the defined dynamic symbols: [`GnuHash::plan`] finds it by a counting sort, and within
//! a bucket the symbols keep the order they had.
//!
//! The filter has at least 12 bits a symbol with two set for each: it lets about 2 % of the misses
//! through. Four symbols share a bucket: a chain is a run of adjacent words, cheap to walk.
//!
//! Source: the GNU hash section as described for binutils and glibc (no official specification).

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

/// A planned `.gnu.hash` section.
pub struct GnuHash {
    first_symndx: u32,
    buckets: u32,
    bloom_words: u32,
    /// In the new order.
    hashes: Vec<u32>,
}

impl GnuHash {
    /// Plans the table for the defined dynamic symbols with these hashes. They become the symbols
    /// `first_symndx..` of `.dynsym` (all symbols before are not hashed).
    ///
    /// Also returns the order they must have there: element `i` is the index in `hashes` of the
    /// symbol that becomes `first_symndx + i`.
    pub fn plan(hashes: &[u32], first_symndx: u32) -> (GnuHash, Vec<u32>) {
        let buckets = (hashes.len() / SYMBOLS_PER_BUCKET).max(1) as u32;
        let bloom_bits = (hashes.len() * BLOOM_BITS_PER_SYMBOL).max(1);
        let bloom_words = bloom_bits.div_ceil(64).next_power_of_two() as u32;

        let mut next = vec![0u32; buckets as usize + 1];
        for hash in hashes {
            next[(hash % buckets) as usize + 1] += 1;
        }
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let mut order = vec![0u32; hashes.len()];
        let mut sorted = vec![0u32; hashes.len()];
        for (i, &hash) in hashes.iter().enumerate() {
            let place = &mut next[(hash % buckets) as usize];
            order[*place as usize] = i as u32;
            sorted[*place as usize] = hash;
            *place += 1;
        }
        (GnuHash { first_symndx, buckets, bloom_words, hashes: sorted }, order)
    }

    /// The section's size in bytes.
    pub fn size(&self) -> u64 {
        16 + 8 * u64::from(self.bloom_words) + 4 * u64::from(self.buckets) + 4 * self.hashes.len() as u64
    }

    /// Writes the section; `out` is exactly [`Self::size`] bytes and 8-byte aligned in the image.
    pub fn write(&self, out: &mut [u8]) {
        assert_eq!(out.len() as u64, self.size());
        out.fill(0);
        let header = [self.buckets, self.first_symndx, self.bloom_words, BLOOM_SHIFT];
        let (head, rest) = out.split_at_mut(16);
        put_words(head, &header);
        let (bloom, rest) = rest.split_at_mut(8 * self.bloom_words as usize);
        let (buckets, chains) = rest.split_at_mut(4 * self.buckets as usize);
        self.write_bloom(bloom);
        self.write_buckets(buckets, chains);
    }

    fn write_bloom(&self, bloom: &mut [u8]) {
        let (words, _) = bloom.as_chunks_mut::<8>();
        for hash in &self.hashes {
            let word = &mut words[((hash / 64) & (self.bloom_words - 1)) as usize];
            let bits = 1u64 << (hash % 64) | 1u64 << ((hash >> BLOOM_SHIFT) % 64);
            *word = (u64::from_le_bytes(*word) | bits).to_le_bytes();
        }
    }

    fn write_buckets(&self, buckets: &mut [u8], chains: &mut [u8]) {
        let (buckets, _) = buckets.as_chunks_mut::<4>();
        let (chains, _) = chains.as_chunks_mut::<4>();
        let mut previous = None;
        for (i, &hash) in self.hashes.iter().enumerate() {
            let bucket = hash % self.buckets;
            if previous != Some(bucket) {
                buckets[bucket as usize] = (self.first_symndx + i as u32).to_le_bytes();
            }
            let last = self.hashes.get(i + 1).is_none_or(|next| next % self.buckets != bucket);
            chains[i] = (hash & !1 | u32::from(last)).to_le_bytes();
            previous = Some(bucket);
        }
    }
}

fn put_words(out: &mut [u8], words: &[u32]) {
    for (place, word) in out.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Looks a name up as a loader does.
    fn find(table: &[u8], names: &[&str], name: &str) -> Option<u32> {
        let (buckets, first, mask, shift) = (word(table, 0), word(table, 4), word(table, 8), word(table, 12));
        let hash = gnu_hash(name.as_bytes());
        let at = 16 + 8 * ((hash / 64) & (mask - 1)) as usize;
        let bloom = u64::from(word(table, at)) | u64::from(word(table, at + 4)) << 32;
        if bloom >> (hash % 64) & bloom >> ((hash >> shift) % 64) & 1 == 0 {
            return None;
        }
        let bucket_at = 16 + 8 * mask as usize;
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

    #[test]
    fn every_symbol_is_found_and_others_are_not() {
        for n in [1usize, 2, 5, 100, 1000] {
            let names: Vec<String> = (0..n).map(|i| format!("sym{}", i * 7919)).collect();
            let hashes: Vec<u32> = names.iter().map(|s| gnu_hash(s.as_bytes())).collect();
            let (plan, order) = GnuHash::plan(&hashes, 3);
            let mut out = vec![0xaa; plan.size() as usize];
            plan.write(&mut out);
            let sorted: Vec<&str> = order.iter().map(|&i| names[i as usize].as_str()).collect();
            for (i, name) in sorted.iter().enumerate() {
                assert_eq!(find(&out, &sorted, name), Some(3 + i as u32));
            }
            for i in 0..100 {
                assert_eq!(find(&out, &sorted, &format!("absent{i}")), None);
            }
        }
    }

    #[test]
    fn order_is_stable_within_a_bucket() {
        // 8 symbols: two buckets; even hashes go before odd ones.
        let (_, order) = GnuHash::plan(&[3, 2, 1, 0, 5, 4, 7, 6], 1);
        assert_eq!(order, [1, 3, 5, 7, 0, 2, 4, 6]);
    }

    #[test]
    fn empty_table_is_valid() {
        let (plan, order) = GnuHash::plan(&[], 7);
        assert!(order.is_empty());
        let mut out = vec![0xaa; plan.size() as usize];
        plan.write(&mut out);
        assert_eq!(out.len(), 28);
        assert_eq!([word(&out, 0), word(&out, 4), word(&out, 8)], [1, 7, 1]);
        assert!(out[16..].iter().all(|&b| b == 0));
        assert_eq!(find(&out, &[], "printf"), None);
    }
}
