//! The hashes that the PDB format prescribes.

/// The format's hash of a name, "version 1": letters count alike in both cases.
pub fn name(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(0, |hash, word| hash ^ u32::from_le_bytes(*word));
    let (halves, rest) = rest.as_chunks::<2>();
    hash = halves.iter().fold(hash, |hash, half| hash ^ u32::from(u16::from_le_bytes(*half)));
    hash = rest.iter().fold(hash, |hash, byte| hash ^ u32::from(*byte));
    hash |= 0x2020_2020;
    hash ^= hash >> 11;
    hash ^ hash >> 16
}

pub const BUCKETS: u32 = 4096;

/// The bucket of a name.
pub fn bucket(name: &[u8]) -> u16 {
    (self::name(name) % BUCKETS) as u16
}

/// CRC-32 that begins with 0 and is not inverted in the end.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(!0);
    hasher.update(bytes);
    !hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_the_format_says() {
        assert_eq!(name(b"HELLO"), name(b"hello"));
        // Computed by hand: nothing but the bits of lower case, folded.
        let folded = 0x2020_2020u32 ^ 0x2020_2020 >> 11;
        assert_eq!(name(b""), folded ^ folded >> 16);
        assert_ne!(name(b"ab"), name(b"ba"));
    }

    #[test]
    fn the_crc_is_without_inversions() {
        assert_eq!(crc(&[0; 9]), 0);
        // Of one byte it is the entry of the table.
        assert_eq!(crc(&[1]), 0x7707_3096);
    }
}
