//! The hash by which GDB finds a name in its index: for each byte `hash * 67 + byte - 113`, modulo 2^32, with
//! letters of the ASCII alphabet alike in both cases.
//!
//! Names are long and there are many, so eight bytes are added in one go: neighbours are joined, twice,
//! within one register.

/// 67 to the powers of 2, 4 and 8, modulo 2^32.
const POWERS: [u32; 3] = [67 * 67, 67 * 67 * 67 * 67, (67u32 * 67 * 67 * 67).wrapping_mul(67 * 67 * 67 * 67)];

/// What 113 a byte adds up to in eight bytes.
const EIGHT: u32 = {
    let (mut sum, mut i) = (0u32, 0);
    while i < 8 {
        sum = sum.wrapping_mul(67).wrapping_add(113);
        i += 1;
    }
    sum
};

/// The hash of a string that begins with what `hash` is of, or with nothing if that is 0.
pub fn gdb_hash(hash: u32, bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<8>();
    let hash = blocks.iter().fold(hash, |hash, block| {
        hash.wrapping_mul(POWERS[2])
            .wrapping_add(sum(lower_case(u64::from_le_bytes(*block))))
            .wrapping_sub(EIGHT)
    });
    rest.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(67).wrapping_add(u32::from(byte.to_ascii_lowercase())).wrapping_sub(113)
    })
}

/// The sum of eight bytes, of which the first is the lowest, each times the power of 67 for the bytes after
/// it.
fn sum(bytes: u64) -> u32 {
    const BYTES: u64 = 0x00ff_00ff_00ff_00ff;
    const PAIRS: u64 = 0x0000_ffff_0000_ffff;
    // No sum of two or four is too large for its 16 or 32 bits.
    let pairs = (bytes & BYTES) * 67 + (bytes >> 8 & BYTES);
    let fours = (pairs & PAIRS) * u64::from(POWERS[0]) + (pairs >> 16 & PAIRS);
    (fours as u32).wrapping_mul(POWERS[1]).wrapping_add((fours >> 32) as u32)
}

/// Eight bytes with capital ASCII letters made small.
fn lower_case(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = bytes & (0x7f * ONES);
    // The upper bit of each byte: from `A` on; after `Z`.
    let from_a = low + (0x80 - b'A' as u64) * ONES;
    let behind_z = low + (0x7f - b'Z' as u64) * ONES;
    let is_capital = (from_a ^ behind_z) & !bytes & (0x80 * ONES);
    bytes | is_capital >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_names() {
        // Slots of a table of 1024 in which another linker puts these.
        for (name, slot) in [("aaaaaaaaaaaaaaaa", 512), ("int", 754), ("entrypoint", 822)] {
            let (scope, leaf) = name.as_bytes().split_at(name.len() / 2);
            assert_eq!(gdb_hash(gdb_hash(0, scope), leaf) & 1023, slot);
            assert_eq!(gdb_hash(0, name.to_uppercase().as_bytes()) & 1023, slot);
        }
    }

    #[test]
    fn largest_sums() {
        for bytes in [[0xff; 8], [0xff, 0, 0, 0, 0xff, 0, 0, 0], [0, 0, 0, 0xff, 0, 0, 0, 0xff]] {
            let slow =
                bytes.iter().fold(0u32, |hash, &byte| hash.wrapping_mul(67).wrapping_add(u32::from(byte)));
            assert_eq!(sum(u64::from_le_bytes(bytes)), slow);
        }
    }

    #[test]
    fn many_bytes_at_once_are_the_same_as_one_by_one() {
        let text: Vec<u8> = (0..=255u8).cycle().take(600).collect();
        for (start, length) in (0..256).zip((0..300).rev()) {
            let bytes = &text[start..start + length];
            let step = |hash: u32, byte: &u8| {
                hash.wrapping_mul(67).wrapping_add(u32::from(byte.to_ascii_lowercase())).wrapping_sub(113)
            };
            assert_eq!(gdb_hash(0, bytes), bytes.iter().fold(0, step));
        }
    }
}
