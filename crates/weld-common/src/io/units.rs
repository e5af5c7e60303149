//! Where filled units of an output go: to the file, to its hash, and one of them aside.
//!
//! Threads take units from a counter, fill each in a buffer that stays in their cache, hash it there if
//! asked to, and write it. A file may hold ids that are made from all of it, or from another file that is
//! written at the same time. The units around the ids wait in memory until these are known, so that no byte
//! of the file is written twice; while anything is hashed the ids are zeroes. Digests that others can compute
//! too are of the whole file in its order ([`Written::read`]); they are asked for seldom and read the file
//! back.
//!
//! Who wants to change the file later keeps the hashes of all its parts ([`Leaf`]).
//!
//! With debug assertions the sink proves that the units cover the file, each byte once, and [`unwritten`]
//! that a unit's writer writes each byte of it.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::output::{OutputError, OutputFile};
use crate::diag::{Cause, Diagnostic};
use crate::digest::UnitDigest;
use crate::trace;

/// Units are closed when they reach this many bytes.
pub const UNIT_BYTES: u64 = 512 << 10;

/// Bytes read back at a time: they stay in the cache between reading and hashing.
const READ_BACK: usize = 256 << 10;

pub struct UnitSink<'f, 'h> {
    file: &'f OutputFile<'h>,
    /// Units are hashed.
    hash: bool,
    /// Hashes of parts are kept.
    keeps: bool,
    /// Where in the file the ids are.
    ids: Vec<Range<u64>>,
    /// The units around them and their offsets.
    held: Mutex<Vec<(u64, Vec<u8>)>>,
    /// What has been written, and the holes; noted with debug assertions only.
    covered: Mutex<Vec<Range<u64>>>,
}

/// What a unit adds to the hash of the file; `None` if nothing is hashed.
pub type Digest = Option<Hashed>;

/// The hash of a unit, and those of its parts if they are kept.
pub struct Hashed {
    digest: UnitDigest,
    leaves: Vec<Leaf>,
}

impl Hashed {
    /// What is written in two steps is one unit.
    pub fn join(mut self, mut other: Hashed) -> Hashed {
        self.leaves.append(&mut other.leaves);
        Hashed { digest: UnitDigest::join(&[self.digest, other.digest]), leaves: self.leaves }
    }
}

/// A part of a file that one unit has written, with its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub offset: u64,
    pub size: u64,
    pub digest: UnitDigest,
}

/// The parts of each unit, in the order of the units; of parts that are ids, zeroes were hashed. The hash of
/// the file is made of the units' hashes, which are made of those of their parts ([`digest_of`]).
pub type Leaves = Vec<Vec<Leaf>>;

/// The hash of a file that was written in these units.
pub fn digest_of(leaves: &[Vec<Leaf>]) -> UnitDigest {
    let unit = |parts: &Vec<Leaf>| joined(parts.iter().map(|part| part.digest).collect());
    UnitDigest::join(&leaves.iter().filter_map(unit).collect::<Vec<_>>())
}

/// The hash of a unit with such parts; `None` if it has none.
fn joined(mut parts: Vec<UnitDigest>) -> Option<UnitDigest> {
    match parts[..] {
        [] | [_] => parts.pop(),
        _ => Some(UnitDigest::join(&parts)),
    }
}

impl<'f, 'h> UnitSink<'f, 'h> {
    /// `hash`: the file's hash is wanted. `ids` are the ranges of the file that are to hold ids; each lies in
    /// one unit.
    pub fn new(file: &'f OutputFile<'h>, hash: bool, ids: impl IntoIterator<Item = Range<u64>>) -> Self {
        let ids = ids.into_iter().collect();
        UnitSink { file, hash, keeps: false, ids, held: Mutex::default(), covered: Mutex::default() }
    }

    /// Everything is hashed, and the hashes of parts are kept.
    pub fn keep_leaves(&mut self) {
        (self.hash, self.keeps) = (true, true);
    }

    /// Has `unit` write units `0..count` on all threads, then the id that `make_id` makes, as long as its
    /// range. Returns the leaves that were to be kept.
    ///
    /// # Errors
    /// If the file cannot be written, or there is no id.
    pub fn write(
        self,
        count: usize,
        threads: usize,
        unit: impl Fn(usize, &Self) -> Result<Digest, OutputError> + Sync,
        make_id: impl FnOnce(&Written) -> Result<Vec<u8>, Diagnostic>,
    ) -> Result<Leaves, Diagnostic> {
        let place = self.ids.first().map(|range| range.start);
        let mut written = self.units(count, threads, unit)?;
        let leaves = std::mem::take(&mut written.leaves);
        if let Some(place) = place.filter(|_| !written.held.is_empty()) {
            let id = make_id(&written)?;
            written.put(place, &id);
        }
        written.finish()?;
        Ok(leaves)
    }

    /// Has `unit` write units `0..count` on all threads. What is left are the units around ids.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn units(
        self,
        count: usize,
        threads: usize,
        unit: impl Fn(usize, &Self) -> Result<Digest, OutputError> + Sync,
    ) -> Result<Written<'f, 'h>, Diagnostic> {
        let region = trace::region("write units");
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(usize, Hashed)>, OutputError> {
            let mut digests = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return Ok(digests);
                }
                let _task = region.task();
                digests.extend(unit(i, &self)?.map(|digest| (i, digest)));
            }
        };
        let results = if threads > 1 && count > 1 { rayon::broadcast(|_| work()) } else { vec![work()] };
        drop(region);
        let mut digests = Vec::new();
        for result in results {
            digests.append(&mut result?);
        }
        digests.sort_unstable_by_key(|d| d.0);
        let mut leaves = Leaves::new();
        let digest = |(_, unit): (usize, Hashed)| {
            leaves.extend(self.keeps.then_some(unit.leaves));
            unit.digest
        };
        let digests: Vec<UnitDigest> = digests.into_iter().map(digest).collect();
        self.check_cover()?;
        let mut held = self.held.into_inner().unwrap();
        held.sort_unstable_by_key(|(offset, _)| *offset);
        Ok(Written { file: self.file, digests, leaves, held })
    }

    /// Writes `size` bytes at `offset` of the file. `fill` must write every byte.
    pub fn region(
        &self,
        offset: u64,
        size: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Digest, OutputError> {
        if size == 0 {
            return Ok(None);
        }
        self.note(offset, size as u64);
        if self.ids.iter().any(|id| offset <= id.start && id.end <= offset + size as u64) {
            let mut bytes = vec![0; size];
            fill(&mut bytes);
            let digest = self.digest(offset, &bytes);
            self.held.lock().unwrap().push((offset, bytes));
            return Ok(digest);
        }
        self.file.with_region(offset, size, |bytes| {
            fill(bytes);
            self.digest(offset, bytes)
        })
    }

    /// Writes bytes that are somewhere already, without a copy.
    pub fn bytes(&self, offset: u64, bytes: &[u8]) -> Result<Digest, OutputError> {
        self.parts(&[(offset, bytes)])
    }

    /// Writes what one unit has at several places.
    pub fn parts(&self, parts: &[(u64, &[u8])]) -> Result<Digest, OutputError> {
        let (mut digests, mut leaves) = (Vec::new(), Vec::new());
        for (offset, bytes) in parts.iter().filter(|p| !p.1.is_empty()) {
            self.note(*offset, bytes.len() as u64);
            if let Some(mut hashed) = self.digest(*offset, bytes) {
                digests.push(hashed.digest);
                leaves.append(&mut hashed.leaves);
            }
            self.file.write_at(*offset, bytes)?;
        }
        Ok(joined(digests).map(|digest| Hashed { digest, leaves }))
    }

    /// States that nobody writes these bytes: zeroes in a new file.
    pub fn hole(&self, offset: u64, size: u64) {
        self.note(offset, size);
    }

    fn note(&self, offset: u64, size: u64) {
        if cfg!(debug_assertions) {
            self.covered.lock().unwrap().push(offset..offset + size);
        }
    }

    /// With debug assertions: whether each byte of the file was written, and once.
    fn check_cover(&self) -> Result<(), Diagnostic> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let mut covered = std::mem::take(&mut *self.covered.lock().unwrap());
        match first_fault(&mut covered, self.file.len()) {
            Some(text) => Err(Diagnostic::error(Cause::Internal, format!("internal error: {text}"))),
            None => Ok(()),
        }
    }

    fn digest(&self, offset: u64, bytes: &[u8]) -> Digest {
        self.hash.then(|| {
            let _stretch = trace::stretch("build id");
            let digest = UnitDigest::of(bytes);
            let leaf = Leaf { offset, size: bytes.len() as u64, digest };
            Hashed { digest, leaves: if self.keeps { vec![leaf] } else { Vec::new() } }
        })
    }
}

/// A file that is complete but for the units around its ids, which are zeroes until they are put there.
pub struct Written<'f, 'h> {
    file: &'f OutputFile<'h>,
    digests: Vec<UnitDigest>,
    leaves: Leaves,
    /// Units that have not been written yet, in order of their offsets.
    held: Vec<(u64, Vec<u8>)>,
}

impl Written<'_, '_> {
    /// The hashes of parts that were to be kept.
    pub fn take_leaves(&mut self) -> Leaves {
        std::mem::take(&mut self.leaves)
    }

    /// The hash of the file. It depends on how the file was cut into units.
    pub fn digest(&self) -> UnitDigest {
        UnitDigest::join(&self.digests)
    }

    /// Hands the bytes of the file to `take`, from front to back.
    pub fn read(&self, mut take: impl FnMut(&[u8])) -> Result<(), OutputError> {
        let mut buffer = vec![0; READ_BACK];
        let mut read_back = |range: Range<u64>, take: &mut dyn FnMut(&[u8])| -> Result<(), OutputError> {
            for at in range.clone().step_by(READ_BACK) {
                let part = &mut buffer[..(range.end - at).min(READ_BACK as u64) as usize];
                self.file.read_at(at, part)?;
                take(part);
            }
            Ok(())
        };
        let mut end = 0;
        for (offset, held) in &self.held {
            read_back(end..*offset, &mut take)?;
            take(held);
            end = *offset + held.len() as u64;
        }
        read_back(end..self.file.len(), &mut take)
    }

    /// Puts an id in its place, which lies in a unit that waits.
    pub fn put(&mut self, place: u64, id: &[u8]) {
        let after = self.held.partition_point(|(offset, _)| *offset <= place);
        let Some((offset, bytes)) = after.checked_sub(1).map(|unit| &mut self.held[unit]) else { return };
        let start = (place - *offset) as usize;
        bytes[start..start + id.len()].copy_from_slice(id);
    }

    /// Writes what has waited.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), Diagnostic> {
        self.held.iter().try_for_each(|(offset, bytes)| Ok(self.file.write_at(*offset, bytes)?))
    }
}

/// What is wrong with ranges that should cover a file of `len` bytes, each byte once.
fn first_fault(covered: &mut [Range<u64>], len: u64) -> Option<String> {
    covered.sort_by_key(|range| (range.start, range.end));
    let mut end = 0;
    for range in covered.iter() {
        match range.start.cmp(&end) {
            std::cmp::Ordering::Less => {
                return Some(format!("byte {:#x} of the file is written twice", range.start));
            }
            std::cmp::Ordering::Greater => break,
            std::cmp::Ordering::Equal => end = range.end,
        }
    }
    (end != len).then(|| format!("byte {end:#x} of the file is not written, of {len:#x} bytes"))
}

/// What is in a unit before it is filled, to see what is not written.
const FILLERS: [u8; 2] = [0xa5, 0x5a];

/// Fills `bytes` in two ways that should come to the same. The first byte that one of them does not write.
pub fn unwritten(
    bytes: &mut [u8],
    fill: impl FnOnce(&mut [u8]),
    again: impl FnOnce(&mut [u8]),
) -> Option<usize> {
    bytes.fill(FILLERS[0]);
    fill(bytes);
    let mut other = vec![FILLERS[1]; bytes.len()];
    again(&mut other);
    bytes.iter().zip(&other).position(|(a, b)| a != b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_covered_once() {
        let fault = |ranges: &[Range<u64>]| first_fault(&mut ranges.to_vec(), 100);
        assert_eq!(fault(&[40..100, 0..10, 10..40]), None);
        assert!(fault(&[0..10, 11..100]).unwrap().contains("byte 0xa of the file is not written"));
        assert!(fault(&[0..10, 10..99]).unwrap().contains("byte 0x63 of the file is not written"));
        assert!(fault(&[0..10, 9..100]).unwrap().contains("byte 0x9 of the file is written twice"));
        assert!(fault(&[0..100, 100..101]).unwrap().contains("of 0x64 bytes"));
        assert!(fault(&[]).is_some());
    }

    #[test]
    fn bytes_that_nobody_writes_are_found() {
        let mut bytes = [0; 16];
        let whole = |bytes: &mut [u8]| bytes.fill(FILLERS[1]);
        assert_eq!(unwritten(&mut bytes, whole, whole), None);
        assert_eq!(bytes, [FILLERS[1]; 16]);
        for missing in 0..16 {
            let all_but_one = |bytes: &mut [u8]| {
                let kept = bytes[missing];
                bytes.fill(7);
                bytes[missing] = kept;
            };
            assert_eq!(unwritten(&mut bytes, all_but_one, all_but_one), Some(missing));
        }
        // A value that depends on what was there before is not written either.
        let adds = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        assert_eq!(unwritten(&mut bytes, adds, adds), Some(0));
    }
}
