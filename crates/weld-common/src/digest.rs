//! A fast hash of parts of a file, and of the file from those of its parts.
//!
//! It identifies and does not protect: XXH3 of 128 bits, which reads some 20 GB/s where the processor has AVX2, and the same
//! on every machine.

use twox_hash::XxHash3_128;

/// Bytes of a digest: as many as one of SHA-1 has, whose place it takes in build ids.
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

/// XXH3's 16 bytes, little endian, and four that are made of them.
fn fast_hash(bytes: &[u8]) -> [u8; SIZE] {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = XxHash3_128::oneshot(bytes);
    let rest = ((hash as u64 ^ (hash >> 64) as u64).wrapping_mul(ODD) >> 32) as u32;
    let mut digest = [0; SIZE];
    digest[..16].copy_from_slice(&hash.to_le_bytes());
    digest[16..].copy_from_slice(&rest.to_le_bytes());
    digest
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
