//! `.note.gnu.build-id` (`--build-id`): the note, and digests computed while the output is hot.
//!
//! *fast*, the default: the image is written in units; whoever has just filled one hashes it while its
//! bytes are in the cache ([`UnitDigest::of`], any thread), and at the end the unit digests, in file
//! order, are hashed into the build id. So units must be cut the same way for every thread count. The
//! id is 20 bytes, as long as the sha1 that GNU ld writes and tools expect, from a hash that identifies
//! and does not protect: a sum of 64x64→128-bit products in the manner of NH (Black et al., "UMAC",
//! 1999), each word xor-ed with a key that depends on its position, beside plain sums of the words, so
//! that no product of zero can hide a word; 256 bits of state, mixed by a bijection, cut to 160.
//!
//! *md5* (16 bytes) and *sha1* (20) are those digests of the whole file ([`Exact`]), for anyone to
//! verify. They have to see its bytes in order, so they cost a pass over the finished image.
//!
//! The bytes of the id itself are zero while anything is hashed.
//!
//! Measured by `speed` below (Xeon with AVX-512 and SHA, one thread, 512 KiB unit, MB/s): fast
//! 19100, sha1 1900, md5 630; BLAKE3 1.8, the alternative for *fast*, 7500.
//!
//! Layout of the note: name size 4, digest size, type `NT_GNU_BUILD_ID` (u32 each), `GNU\0`, the
//! digest, padded to 4 bytes.

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::{SHF_ALLOC, SHT_NOTE};
use crate::options::BuildId;
use md5::Md5;
use sha1::{Digest, Sha1};
use std::fmt;

const NOTE_HEADER: usize = 16;
const NT_GNU_BUILD_ID: u32 = 3;
const FAST_SIZE: usize = 20;

/// The fast hash of a part of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitDigest([u8; FAST_SIZE]);

impl UnitDigest {
    /// The digest of one unit's bytes.
    pub fn of(bytes: &[u8]) -> UnitDigest {
        UnitDigest(fast_hash(bytes))
    }

    /// The digest of what consists of parts with these digests.
    pub fn join(parts: &[UnitDigest]) -> UnitDigest {
        UnitDigest::of(parts.iter().map(|part| part.0).collect::<Vec<_>>().as_flattened())
    }

    /// The build id, if this is the digest of everything.
    pub fn id(self) -> Vec<u8> {
        self.0.to_vec()
    }
}

/// The md5 or sha1 of a file, taken from front to back.
pub enum Exact {
    Md5(Md5),
    Sha1(Sha1),
}

impl Exact {
    pub fn new(build_id: &BuildId) -> Exact {
        match build_id {
            BuildId::Md5 => Exact::Md5(Md5::new()),
            _ => Exact::Sha1(Sha1::new()),
        }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Exact::Md5(hash) => hash.update(bytes),
            Exact::Sha1(hash) => hash.update(bytes),
        }
    }

    pub fn finish(self) -> Vec<u8> {
        match self {
            Exact::Md5(hash) => hash.finalize().to_vec(),
            Exact::Sha1(hash) => hash.finalize().to_vec(),
        }
    }
}

/// The operating system gave no random bytes for `--build-id=uuid`.
#[derive(Debug)]
pub struct NoRandomness(getrandom::Error);

impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot get random bytes for the build id: {}", self.0)
    }
}

impl std::error::Error for NoRandomness {}

/// A random UUID (version 4, RFC 9562) for `--build-id=uuid`.
pub fn uuid() -> Result<[u8; 16], NoRandomness> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(NoRandomness)?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Ok(id)
}

/// The build id's length in bytes.
fn id_size(build_id: &BuildId) -> usize {
    match build_id {
        BuildId::None => 0,
        BuildId::Fast => FAST_SIZE,
        BuildId::Sha1 => 20,
        BuildId::Md5 | BuildId::Uuid => 16,
        BuildId::Hex(bytes) => bytes.len(),
    }
}

/// The section's size in bytes; 0 without a build id.
pub fn size(build_id: &BuildId) -> u64 {
    match build_id {
        BuildId::None => 0,
        _ => (NOTE_HEADER + id_size(build_id).next_multiple_of(4)) as u64,
    }
}

/// Where in the section the id is: to be written when the rest of the image has been hashed.
pub fn id_range(build_id: &BuildId) -> std::ops::Range<usize> {
    NOTE_HEADER..NOTE_HEADER + id_size(build_id)
}

/// Writes the section with an id of zeros; `out` is exactly [`size`] bytes, 4-byte aligned.
pub fn write(build_id: &BuildId, out: &mut [u8]) {
    assert_eq!(out.len() as u64, size(build_id));
    if *build_id == BuildId::None {
        return;
    }
    out.fill(0);
    out[0..4].copy_from_slice(&4u32.to_le_bytes());
    out[4..8].copy_from_slice(&(id_size(build_id) as u32).to_le_bytes());
    out[8..12].copy_from_slice(&NT_GNU_BUILD_ID.to_le_bytes());
    out[12..16].copy_from_slice(b"GNU\0");
}

/// Keys advance by odd steps, so that no two blocks below 2^64 share one.
const KEY_A: u64 = 0x243f_6a88_85a3_08d3;
const KEY_B: u64 = 0x1319_8a2e_0370_7344;
const STEP_A: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP_B: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// The hash behind `fast`; see the top of the file.
fn fast_hash(bytes: &[u8]) -> [u8; FAST_SIZE] {
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
    let mut digest = [0; FAST_SIZE];
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

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".note.gnu.build-id", kind: SHT_NOTE, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, size(&sizes.options.notes.build_id))
    }

    /// With zeroes for the id, which `emit::sink` fills in.
    fn write(&self, at: &At, out: &mut [u8]) {
        write(&at.image().options.notes.build_id, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn notes() {
        for (kind, len) in [
            (BuildId::Fast, 20),
            (BuildId::Md5, 16),
            (BuildId::Sha1, 20),
            (BuildId::Uuid, 16),
            (BuildId::Hex(vec![1, 2, 3, 4, 5]), 5),
        ] {
            let mut note = vec![0xaa; size(&kind) as usize];
            write(&kind, &mut note);
            assert_eq!(note.len(), 16 + (len as usize).next_multiple_of(4));
            assert_eq!(note[..16], [4, 0, 0, 0, len, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0]);
            assert!(note[16..].iter().all(|&b| b == 0));
            assert_eq!(id_range(&kind), 16..16 + len as usize);
        }
        assert_eq!(size(&BuildId::None), 0);
        write(&BuildId::None, &mut []);
    }

    #[test]
    fn exact_digests() {
        for (kind, start) in
            [(BuildId::Md5, [0x90, 0x01, 0x50, 0x98]), (BuildId::Sha1, [0xa9, 0x99, 0x3e, 0x36])]
        {
            let mut hash = Exact::new(&kind);
            hash.update(b"a");
            hash.update(b"bc");
            let id = hash.finish();
            assert_eq!((id.len(), &id[..4]), (id_size(&kind), &start[..]));
        }
    }

    #[test]
    fn digests_depend_on_order() {
        let units = [UnitDigest::of(b"one"), UnitDigest::of(b"two")];
        let id = UnitDigest::join(&units);
        assert_eq!(id.id().len(), id_size(&BuildId::Fast));
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

    #[test]
    fn uuids_are_version_4_and_differ() {
        let (a, b) = (uuid().unwrap(), uuid().unwrap());
        assert_ne!(a, b);
        assert_eq!((a[6] >> 4, a[8] >> 6), (4, 2));
    }

    /// `cargo test --release -p weld-elf build_id::tests::speed -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn speed() {
        let unit: Vec<u8> = (0..512 * 1024u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
        let measure = |name: &str, hash: &dyn Fn(&[u8]) -> u8| {
            let mut best = f64::MAX;
            for _ in 0..20 {
                let start = std::time::Instant::now();
                let sink = (0..100).fold(0, |sink, _| sink ^ hash(std::hint::black_box(&unit)));
                std::hint::black_box(sink);
                best = best.min(start.elapsed().as_secs_f64() / 100.0);
            }
            println!("{name}: {:.0} MB/s", unit.len() as f64 / best / 1e6);
        };
        measure("fast", &|b| fast_hash(b)[0]);
        measure("sha1", &|b| Sha1::digest(b)[0]);
        measure("md5", &|b| Md5::digest(b)[0]);
    }
}
