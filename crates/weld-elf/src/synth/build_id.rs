//! `.note.gnu.build-id` (`--build-id`): the note, and digests computed while the output is hot.
//!
//! *fast*, the default: the image is written in units; whoever has just filled one hashes it while its
//! bytes are in the cache ([`weld_common::digest`], any thread), and at the end the unit digests, in file
//! order, are hashed into the build id. So units must be cut the same way for every thread count. The
//! id is 20 bytes, as long as the sha1 that GNU ld writes and tools expect.
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
use crate::elf::{Format, Writer};
use crate::elf::{SHF_ALLOC, SHT_NOTE};
use crate::options::BuildId;
use md5::Md5;
use sha1::{Digest, Sha1};
use std::fmt;
use weld_common::diag::{Cause, Diagnostic};
use weld_common::digest;
use weld_common::io::units::Written;
use weld_common::trace;

const NOTE_HEADER: usize = 16;
const NT_GNU_BUILD_ID: u32 = 3;

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

/// Whether the id is made from the hashes of units.
pub fn is_fast(build_id: &BuildId) -> bool {
    *build_id == BuildId::Fast
}

/// The id of a file that holds zeroes in its place.
///
/// # Errors
/// If the file cannot be read back, or there are no random numbers.
pub fn make(build_id: &BuildId, written: &Written) -> Result<Vec<u8>, Diagnostic> {
    Ok(match build_id {
        BuildId::Fast => written.digest().bytes().to_vec(),
        BuildId::Md5 | BuildId::Sha1 => {
            let _stretch = trace::stretch("build id");
            let mut hash = Exact::new(build_id);
            written.read(|bytes| hash.update(bytes))?;
            hash.finish()
        }
        BuildId::Uuid => uuid().map_err(|e| Diagnostic::error(Cause::BuildId, e.to_string()))?.to_vec(),
        BuildId::Hex(id) => id.clone(),
        BuildId::None => Vec::new(),
    })
}

/// The build id's length in bytes.
fn id_size(build_id: &BuildId) -> usize {
    match build_id {
        BuildId::None => 0,
        BuildId::Fast => digest::SIZE,
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
pub fn write(build_id: &BuildId, format: Format, out: &mut [u8]) {
    assert_eq!(out.len() as u64, size(build_id));
    if *build_id == BuildId::None {
        return;
    }
    out.fill(0);
    let mut head = Writer::new(format);
    head.u32(4).u32(id_size(build_id) as u32).u32(NT_GNU_BUILD_ID).bytes(b"GNU\0");
    out[..NOTE_HEADER].copy_from_slice(&head.finish());
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".note.gnu.build-id", kind: SHT_NOTE, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, size(&sizes.options.notes.build_id)).map(Spec::dispensable)
    }

    /// With zeroes for the id, which the sink of units fills in.
    fn write(&self, at: &At, out: &mut [u8]) {
        write(&at.image().options.notes.build_id, at.format(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            write(&kind, Format::NATIVE, &mut note);
            assert_eq!(note.len(), 16 + (len as usize).next_multiple_of(4));
            assert_eq!(note[..16], [4, 0, 0, 0, len, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0]);
            assert!(note[16..].iter().all(|&b| b == 0));
            assert_eq!(id_range(&kind), 16..16 + len as usize);
        }
        assert_eq!(size(&BuildId::None), 0);
        write(&BuildId::None, Format::NATIVE, &mut []);
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
        measure("fast", &|b| digest::UnitDigest::of(b).bytes()[0]);
        measure("sha1", &|b| Sha1::digest(b)[0]);
        measure("md5", &|b| Md5::digest(b)[0]);
    }
}
