//! A fast hash of parts of a file, and of the file from those of its parts.
//!
//! It identifies and does not protect: a sum of 64x64→128-bit products in the manner of NH (Black et al.,
//! "UMAC", 1999), each word xor-ed with a key that depends on its position, beside plain sums of the words,
//! so that no product of zero can hide a word; 256 bits of state, mixed by a bijection, cut to 160. Bytes are
//! taken as little-endian words on every machine.

/// Bytes of a digest.
pub const SIZE: usize = 20;

/// The hash of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitDigest([u8; SIZE]);

impl UnitDigest {
    /// The digest of one unit's bytes.
    pub fn of(bytes: &[u8]) -> UnitDigest {
        UnitDigest(fast_hash(bytes))
    }

    /// The digest of what consists of parts with these digests.
    pub fn join(parts: &[UnitDigest]) -> UnitDigest {
        UnitDigest::of(parts.iter().map(|part| part.0).collect::<Vec<_>>().as_flattened())
    }

    /// The digest that has these bytes.
    pub fn from_bytes(bytes: [u8; SIZE]) -> UnitDigest {
        UnitDigest(bytes)
    }

    /// Its bytes.
    pub fn bytes(self) -> [u8; SIZE] {
        self.0
    }

    /// Them as two hexadecimal digits each, for names of files.
    pub fn hexadecimal(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Keys advance by odd steps, so that no two blocks below 2^64 share one.
const KEY_A: u64 = 0x243f_6a88_85a3_08d3;
const KEY_B: u64 = 0x1319_8a2e_0370_7344;
const STEP_A: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP_B: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// The hash that the top of the file describes.
fn fast_hash(bytes: &[u8]) -> [u8; SIZE] {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut tail = [0; 16];
    tail[..rest.len()].copy_from_slice(rest);
    let mut products = 0u128;
    let (mut sum_a, mut sum_b) = (0u64, 0u64);
    let (mut key_a, mut key_b) = (KEY_A, KEY_B);
    for block in blocks.iter().chain(std::iter::once(&tail)) {
        let both = u128::from_le_bytes(*block);
        let (a, b) = (both as u64, (both >> 64) as u64);
        products = products.wrapping_add(u128::from(a ^ key_a) * u128::from(b ^ key_b));
        sum_a = sum_a.wrapping_add(a);
        sum_b = sum_b.wrapping_add(b);
        key_a = key_a.wrapping_add(STEP_A);
        key_b = key_b.wrapping_add(STEP_B);
    }
    let mut state = [products as u64, (products >> 64) as u64, sum_a, sum_b];
    state[0] = state[0].wrapping_add(bytes.len() as u64);
    mix_state(&mut state);
    let mut digest = [0; SIZE];
    for (out, word) in digest.chunks_mut(8).zip(state) {
        out.copy_from_slice(&word.to_le_bytes()[..out.len()]);
    }
    digest
}

/// A bijection of the 256 bits in which each output bit depends on all of them.
fn mix_state(state: &mut [u64; 4]) {
    for _ in 0..3 {
        for i in 0..4 {
            let mut x = state[i].wrapping_add(state[(i + 3) % 4]);
            x = (x ^ x >> 32).wrapping_mul(STEP_A);
            x = (x ^ x >> 29).wrapping_mul(STEP_B);
            state[i] = x ^ x >> 32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn digests_depend_on_order() {
        let units = [UnitDigest::of(b"one"), UnitDigest::of(b"two")];
        let id = UnitDigest::join(&units);
        assert_eq!(id, UnitDigest::join(&units));
        assert_ne!(id, UnitDigest::join(&[units[1], units[0]]));
        assert_ne!(id, UnitDigest::join(&units[..1]));
    }

    #[test]
    fn fast_hash_sees_every_bit_and_every_swap() {
        let base: Vec<u8> = (0..1024u32).map(|i| ((i * i) >> 3) as u8 ^ 0x55).collect();
        let mut seen = HashSet::from([fast_hash(&base)]);
        for bit in 0..base.len() * 8 {
            let mut changed = base.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(fast_hash(&changed)));
        }
        for (i, j) in (0..128).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let mut swapped = base.clone();
            for k in 0..8 {
                swapped.swap(i * 8 + k, j * 8 + k);
            }
            if swapped != base {
                assert!(seen.insert(fast_hash(&swapped)), "words {i} and {j}");
            }
        }
        for len in 1..base.len() {
            assert!(seen.insert(fast_hash(&base[..len])));
            assert!(seen.insert(fast_hash(&vec![0; len])));
        }
    }

    #[test]
    fn fast_hash_bits_are_even() {
        let mut ones = [0u32; 160];
        for i in 0..4000u32 {
            let digest = fast_hash(&i.to_le_bytes());
            for (bit, n) in ones.iter_mut().enumerate() {
                *n += u32::from(digest[bit / 8] >> (bit % 8) & 1);
            }
        }
        // 2000 expected, standard deviation 32.
        assert!(ones.iter().all(|n| (1840..2160).contains(n)));
    }
}
