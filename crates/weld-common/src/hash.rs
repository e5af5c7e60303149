//! A fast 64-bit hash for names and merge pieces, and the scan that finds the end of a
//! NUL-terminated string and hashes it in the same pass.
//!
//! Sixteen bytes a step: one 64x64→128 multiplication whose halves are xor-ed ("folded"), with the
//! hash so far mixed into one factor. The tail is padded with zeros and the length goes into the
//! last fold, so strings that differ in trailing zeros only hash apart. The values are the same on
//! every machine and in every run: shard choices made from them may reach the output's layout.
//!
//! It is no cryptographic hash: equal hashes must be confirmed by comparing the bytes.
//!
//! Budget: about 6 cycles for each 16 bytes plus 12 per string.

/// Odd constants with about as many ones as zeros: fractional digits of square roots of primes.
const SEED: u64 = 0x6a09_e667_f3bc_c909;
const BLOCK_KEY: u64 = 0xbb67_ae85_84ca_a73b;
const FINAL_KEY: u64 = 0x3c6e_f372_fe94_f82b;
const LENGTH_KEY: u64 = 0x9b05_688c_2b3e_6c1f;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn mix_block(hash: u64, lo: u64, hi: u64) -> u64 {
    fold(lo ^ hash, hi ^ BLOCK_KEY)
}

/// Mixes the last 0–15 bytes, padded with zeros, and the length of the whole string.
#[inline(always)]
fn finish(hash: u64, lo: u64, hi: u64, len: usize) -> u64 {
    fold(mix_block(hash, lo, hi) ^ (len as u64).wrapping_mul(LENGTH_KEY), FINAL_KEY)
}

#[inline(always)]
fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

/// Joins a value to a hash. In another order they give another hash.
#[inline(always)]
pub fn join(hash: u64, value: u64) -> u64 {
    fold(hash ^ FINAL_KEY, value ^ BLOCK_KEY)
}

/// The hash of `bytes`.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut hash = SEED;
    for block in blocks {
        let (lo, hi) = halves(block);
        hash = mix_block(hash, lo, hi);
    }
    let mut tail = [0; 16];
    tail[..rest.len()].copy_from_slice(rest);
    let (lo, hi) = halves(&tail);
    finish(hash, lo, hi, bytes.len())
}

/// The index of the first zero byte of a block, 16 or more if there is none.
#[inline(always)]
fn first_zero(lo: u64, hi: u64) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_setzero_si128};
        // SAFETY: these need SSE2 and nothing else; the build has it, see the `cfg` above.
        unsafe {
            let equal = _mm_cmpeq_epi8(_mm_set_epi64x(hi as i64, lo as i64), _mm_setzero_si128());
            (_mm_movemask_epi8(equal) as u32).trailing_zeros()
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    {
        // The lowest bit set marks the first zero byte exactly; higher ones may be wrong.
        let zeros = |x: u64| x.wrapping_sub(0x0101_0101_0101_0101) & !x & 0x8080_8080_8080_8080;
        let low = zeros(lo).trailing_zeros() / 8;
        if low < 8 { low } else { 8 + zeros(hi).trailing_zeros() / 8 }
    }
}

/// The first `n` < 16 bytes of a block, the rest zero.
#[inline(always)]
fn keep_first(lo: u64, hi: u64, n: u32) -> (u64, u64) {
    let both = (u128::from(hi) << 64 | u128::from(lo)) & ((1u128 << (8 * n)) - 1);
    (both as u64, (both >> 64) as u64)
}

/// Finds the first NUL of `bytes`. Returns the length of the string before it and
/// [`hash_bytes`] of that string; `None` if there is no NUL.
#[inline]
pub fn hash_until_nul(bytes: &[u8]) -> Option<(usize, u64)> {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut hash = SEED;
    for (i, block) in blocks.iter().enumerate() {
        let (lo, hi) = halves(block);
        let n = first_zero(lo, hi);
        if n < 16 {
            let len = i * 16 + n as usize;
            let (lo, hi) = keep_first(lo, hi, n);
            return Some((len, finish(hash, lo, hi, len)));
        }
        hash = mix_block(hash, lo, hi);
    }
    let mut tail = [0; 16];
    tail[..rest.len()].copy_from_slice(rest);
    let (lo, hi) = halves(&tail);
    let n = first_zero(lo, hi);
    if n as usize >= rest.len() {
        return None;
    }
    let len = blocks.len() * 16 + n as usize;
    let (lo, hi) = keep_first(lo, hi, n);
    Some((len, finish(hash, lo, hi, len)))
}

/// Whether two strings are the same, each of which ends with its first NUL. They are read once, as far as
/// they agree. False if one of them does not end.
#[inline]
pub fn same_until_nul(a: &[u8], b: &[u8]) -> bool {
    let blocks = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
    let mut equal = 0;
    for (one, other) in blocks {
        let ((lo, hi), (other_lo, other_hi)) = (halves(one), halves(other));
        let end = first_zero(lo, hi);
        if end < 16 {
            let ends_too = first_zero(other_lo, other_hi) == end;
            return ends_too && keep_first(lo, hi, end) == keep_first(other_lo, other_hi, end);
        }
        if (lo, hi) != (other_lo, other_hi) {
            return false;
        }
        equal += 16;
    }
    let mut rest = a[equal..].iter().zip(&b[equal..]);
    rest.find(|(one, other)| one != other || **one == 0).is_some_and(|(one, other)| one == other)
}

/// Hashes what comes in pieces: bytes, and numbers between them. Where a piece ends counts.
#[derive(Clone, Copy)]
pub struct Hasher(u64);

impl Hasher {
    #[inline(always)]
    pub fn new(seed: u64) -> Hasher {
        Hasher(SEED ^ seed)
    }

    #[inline(always)]
    pub fn word(&mut self, value: u64) {
        self.0 = join(self.0, value);
    }

    /// Short pieces are cheap: what is left behind blocks of 16 bytes is read as two words that may overlap.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            let (lo, hi) = halves(block);
            self.0 = mix_block(self.0, lo, hi);
        }
        let (lo, hi) = ends(rest);
        self.0 = mix_block(self.0 ^ (bytes.len() as u64).wrapping_mul(LENGTH_KEY), lo, hi);
    }

    #[inline(always)]
    pub fn finish(self) -> u64 {
        fold(self.0 ^ LENGTH_KEY, FINAL_KEY)
    }
}

/// Two words that have all of less than 16 bytes; which of them, the length says.
#[inline(always)]
fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
    }
    let byte = |i: usize| bytes.get(i).map_or(0, |&byte| u64::from(byte));
    (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
}

/// The hash of what strings begin with, from which that of each of them goes on.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// Of the whole blocks.
    hash: u64,
    /// The 0–15 bytes after them, padded with zeros.
    tail: u128,
    len: usize,
}

impl Prefix {
    pub const EMPTY: Prefix = Prefix { hash: SEED, tail: 0, len: 0 };

    /// The prefix with `bytes` after it.
    #[must_use]
    pub fn and(mut self, bytes: &[u8]) -> Prefix {
        let (blocks, rest) = bytes.as_chunks::<16>();
        blocks.iter().for_each(|block| self.add(u128::from_le_bytes(*block), 16));
        let mut tail = [0; 16];
        tail[..rest.len()].copy_from_slice(rest);
        self.add(u128::from_le_bytes(tail), rest.len());
        self
    }

    /// Adds the first `count` bytes of a block, of which the others are zero.
    #[inline(always)]
    fn add(&mut self, block: u128, count: usize) {
        let before = 8 * (self.len % 16) as u32;
        let joined = self.tail | block << before;
        if self.len % 16 + count >= 16 {
            self.hash = mix_block(self.hash, joined as u64, (joined >> 64) as u64);
            // A shift by all 128 bits, where nothing is left over, takes two steps.
            self.tail = block >> 1 >> (127 - before);
        } else {
            self.tail = joined;
        }
        self.len += count;
    }

    /// [`hash_bytes`] of the prefix.
    #[inline(always)]
    pub fn hash(&self) -> u64 {
        finish(self.hash, self.tail as u64, (self.tail >> 64) as u64, self.len)
    }

    /// Finds the first NUL of `bytes`. Returns the length of the string before it and [`hash_bytes`] of the
    /// prefix with that string after it; `None` if there is no NUL.
    #[inline]
    pub fn hash_until_nul(mut self, bytes: &[u8]) -> Option<(usize, u64)> {
        let (blocks, rest) = bytes.as_chunks::<16>();
        let mut tail = [0xff; 16];
        tail[..rest.len()].copy_from_slice(rest);
        let before = self.len;
        for block in blocks.iter().chain([&tail]) {
            let (lo, hi) = halves(block);
            let n = first_zero(lo, hi);
            if n < 16 {
                let (lo, hi) = keep_first(lo, hi, n);
                self.add(u128::from(hi) << 64 | u128::from(lo), n as usize);
                return Some((self.len - before, self.hash()));
            }
            self.add(u128::from_le_bytes(*block), 16);
        }
        None
    }
}

/// For maps of the standard library that are asked for millions of names.
#[derive(Clone, Copy, Default)]
pub struct NameHasher(u64);

impl std::hash::Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = join(self.0, hash_bytes(bytes));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = join(self.0, value);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_are_the_same_up_to_their_nul() {
        let text: Vec<u8> = (1..=60).collect();
        for len in 0..50 {
            let with = |end: &[u8]| [&text[..len], end].concat();
            assert!(same_until_nul(&with(b"\0some"), &with(b"\0other, longer than sixteen bytes")), "{len}");
            assert!(
                !same_until_nul(&with(b"\0"), &with(b"x\0")) && !same_until_nul(&with(b"y\0"), &with(b"x\0"))
            );
            assert!(!same_until_nul(&with(b""), &with(b"")) && !same_until_nul(&with(b""), &with(b"\0")));
            assert!(!same_until_nul(&with(b"\0a long rest, the same"), &with(b"a\0 long rest, the same")));
        }
    }

    #[test]
    fn scan_and_hash_agree_at_every_length() {
        let text: Vec<u8> = (0..200u32).map(|i| (i * 37 % 255 + 1) as u8).collect();
        for len in 0..text.len() {
            for behind in [0, 1, 7, 40] {
                let mut data = text[..len].to_vec();
                data.push(0);
                data.extend(std::iter::repeat_n(0xff, behind));
                assert_eq!(hash_until_nul(&data), Some((len, hash_bytes(&text[..len]))));
            }
            assert_eq!(hash_until_nul(&text[..len]), None);
        }
    }

    #[test]
    fn hashes_go_on_from_prefixes() {
        let text: Vec<u8> = (0..120u32).map(|i| (i * 37 % 255 + 1) as u8).collect();
        for len in 0..text.len() {
            for cut in 0..=len {
                let (start, rest) = text[..len].split_at(cut);
                let prefix = Prefix::EMPTY.and(&start[..cut / 3]).and(&start[cut / 3..]);
                assert_eq!(prefix.and(rest).hash(), hash_bytes(&text[..len]));
                let ended = [rest, &[0], &text[..len % 20]].concat();
                assert_eq!(prefix.hash_until_nul(&ended), Some((len - cut, hash_bytes(&text[..len]))));
                assert_eq!(prefix.hash_until_nul(rest), None);
            }
        }
    }

    #[test]
    fn first_of_several_nuls_and_high_bytes() {
        assert_eq!(hash_until_nul(b"\0\0\0").unwrap().0, 0);
        assert_eq!(hash_until_nul(b"a\x01\0b\0").unwrap().0, 2);
        assert_eq!(hash_until_nul(b"\x80\x01\xff\0").unwrap().0, 3);
        assert_eq!(hash_until_nul(b"").map(|x| x.0), None);
    }

    #[test]
    fn trailing_zeros_count() {
        assert_ne!(hash_bytes(b"a"), hash_bytes(b"a\0"));
        assert_ne!(hash_bytes(b""), hash_bytes(&[0; 16]));
        assert_ne!(hash_bytes(&[0; 16]), hash_bytes(&[0; 32]));
    }

    #[test]
    fn pieces_count_with_their_ends() {
        let hash = |pieces: &[&[u8]]| {
            let mut hasher = Hasher::new(0);
            pieces.iter().for_each(|piece| hasher.bytes(piece));
            hasher.finish()
        };
        let text: Vec<u8> = (0..64u32).map(|i| (i * 37 + 1) as u8).collect();
        let mut seen = std::collections::HashSet::from([hash(&[])]);
        for len in 0..text.len() {
            assert!(seen.insert(hash(&[&text[..len]])));
            for bit in 0..len * 8 {
                let mut changed = text[..len].to_vec();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(seen.insert(hash(&[&changed])));
            }
        }
        assert!((0..text.len()).all(|cut| seen.insert(hash(&[&text[..cut], &text[cut..]]))));
        let mut word = Hasher::new(0);
        word.word(7);
        assert!(seen.insert(word.finish()) && seen.insert(Hasher::new(1).finish()));
    }

    #[test]
    fn values_are_stable() {
        // From a second implementation. Layouts depend on them: a change changes every output.
        const EMPTY: u64 = 0x1eb2_4468_2e62_ca05;
        const FOX: u64 = 0xc756_9a85_079b_6c9c;
        assert_eq!(hash_bytes(b""), EMPTY);
        assert_eq!(hash_bytes(b"The quick brown fox jumps over the lazy dog"), FOX);
    }

    #[test]
    fn similar_names_spread_over_shards_and_slots() {
        let mut high = [0u32; 64];
        let mut low = [0u32; 64];
        for i in 0..6400 {
            let h = hash_bytes(format!("_ZN4core3fmt9Formatter{i}E").as_bytes());
            high[(h >> 58) as usize] += 1;
            low[(h & 63) as usize] += 1;
        }
        // 100 expected in each; five standard deviations.
        assert!(high.iter().chain(&low).all(|&n| (50..150).contains(&n)));
    }
}
