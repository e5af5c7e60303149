//! What becomes of the digests of a file's parts when some bytes of it change.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;

use super::fields::*;
use crate::digest::UnitDigest;
use crate::io::spare;
use crate::io::units::{Leaf, Leaves};

/// Bytes that go to a place in the file.
pub type Write = (u64, Vec<u8>);

/// Adds what of `new` differs from the `old` bytes at `at`: a write for each run.
pub fn add_differences(at: u64, old: &[u8], new: &[u8], writes: &mut Vec<Write>) {
    let mut i = 0;
    while let Some(same) = old[i..].iter().zip(&new[i..]).position(|(old, new)| old != new) {
        let first = i + same;
        let run = old[first..].iter().zip(&new[first..]).take_while(|(old, new)| old != new).count();
        writes.push((at + first as u64, new[first..first + run].to_vec()));
        i = first + run;
    }
}

/// The leaves of a file with these writes, which are in order and do not overlap. Those that are written to, and those
/// of the ranges `last`, must be what the file has; for the bytes of an id, zeroes were hashed. `None` if they are not,
/// or something lies in no leaf.
pub fn rewritten(
    leaves: &Leaves,
    file: &File,
    writes: &[Write],
    last: &[Range<u64>],
    id: &Range<u64>,
) -> Option<Leaves> {
    rewritten_but(leaves, file, writes, last, std::slice::from_ref(id))
}

/// The same for a file with several ids.
pub fn rewritten_but(
    leaves: &Leaves,
    file: &File,
    writes: &[Write],
    last: &[Range<u64>],
    ids: &[Range<u64>],
) -> Option<Leaves> {
    rewritten_between(leaves, &[], file, writes, last, ids)
}

/// The same for a file in which some leaves end, and others begin, elsewhere: where they did, and where they do, in order.
/// None of them may become empty.
pub fn rewritten_between(
    leaves: &Leaves,
    borders: &[(u64, u64)],
    file: &File,
    writes: &[Write],
    last: &[Range<u64>],
    ids: &[Range<u64>],
) -> Option<Leaves> {
    let mut leaves = leaves.clone();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (unit, parts) in leaves.iter().enumerate() {
        order.extend((0..parts.len()).map(|part| (unit, part)));
    }
    order.sort_unstable_by_key(|(unit, part)| leaves[*unit][*part].offset);
    let written = writes.iter().map(|(offset, bytes)| *offset..*offset + bytes.len() as u64);
    let beside = borders.iter().map(|(old, _)| old.saturating_sub(1)..old.saturating_add(1));
    let mut touched = joined(last.iter().cloned().chain(written).chain(beside)).into_iter().peekable();
    let mut bytes = Vec::new();
    for (unit, part) in order.iter().copied() {
        let leaf: &mut Leaf = &mut leaves[unit][part];
        let end = leaf.offset + leaf.size;
        let mut is_touched = false;
        // What begins in this leaf, or goes on in it.
        while let Some(range) = touched.peek_mut().filter(|range| range.start < end) {
            if range.start < leaf.offset {
                // It lies in no leaf.
                return None;
            }
            is_touched = true;
            if range.end > end {
                range.start = end;
                break;
            }
            touched.next();
        }
        if is_touched {
            read_leaf(file, leaf, ids, &mut bytes).ok()?;
            if UnitDigest::of(&bytes) != leaf.digest {
                return None;
            }
            if apply(writes, leaf, &mut bytes) {
                leaf.digest = UnitDigest::of(&bytes);
            }
        }
    }
    if touched.next().is_some() {
        return None;
    }
    let mut moved: BTreeMap<(usize, usize), Range<u64>> = BTreeMap::new();
    for (old, new) in borders {
        let at = order.iter().position(|(unit, part)| leaves[*unit][*part].offset == *old)?;
        let (before, behind) = (order[at.checked_sub(1)?], order[at]);
        let range = |(unit, part): (usize, usize)| {
            let leaf = &leaves[unit][part];
            leaf.offset..leaf.offset + leaf.size
        };
        moved.entry(behind).or_insert(range(behind)).start = *new;
        let before = moved.entry(before).or_insert(range(before));
        if before.end != *old {
            return None;
        }
        before.end = *new;
    }
    for ((unit, part), range) in moved {
        let leaf = &mut leaves[unit][part];
        (leaf.offset, leaf.size) =
            (range.start, range.end.checked_sub(range.start).filter(|size| *size > 0)?);
        read_leaf(file, leaf, ids, &mut bytes).ok()?;
        apply(writes, leaf, &mut bytes);
        leaf.digest = UnitDigest::of(&bytes);
    }
    Some(leaves)
}

/// Whether a file has these leaves.
pub fn are_those_of(leaves: &Leaves, file: &File, id: &Range<u64>) -> bool {
    let mut bytes = Vec::new();
    leaves.iter().flatten().all(|leaf| {
        read_leaf(file, leaf, std::slice::from_ref(id), &mut bytes).is_ok()
            && UnitDigest::of(&bytes) == leaf.digest
    })
}

pub fn put(leaves: &Leaves, out: &mut Vec<u8>) {
    put_list(leaves, out, |unit, out| {
        put_list(unit, out, |leaf, out| {
            leaf.offset.put(out);
            leaf.size.put(out);
            out.extend_from_slice(&leaf.digest.bytes());
        });
    });
}

pub fn take(rest: &mut &[u8]) -> Option<Leaves> {
    take_list(rest, |rest| {
        take_list(rest, |rest| {
            let (offset, size) = (u64::take(rest)?, u64::take(rest)?);
            Some(Leaf { offset, size, digest: UnitDigest::from_bytes(take_array(rest)?) })
        })
    })
}

/// Ranges that do not touch one another, in order, of what `ranges` cover.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.filter(|range| !range.is_empty()).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Reads what a leaf is the hash of: ids are zeroes there.
fn read_leaf(image: &File, leaf: &Leaf, ids: &[Range<u64>], bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.resize(usize::try_from(leaf.size).unwrap_or(usize::MAX), 0);
    spare::read_exact_at(image, bytes, leaf.offset)?;
    for id in ids {
        let (start, end) = (id.start.max(leaf.offset), id.end.min(leaf.offset + leaf.size));
        if start < end {
            bytes[(start - leaf.offset) as usize..(end - leaf.offset) as usize].fill(0);
        }
    }
    Ok(())
}

/// Puts what belongs there into the bytes of a leaf; whether there is any.
fn apply(writes: &[Write], leaf: &Leaf, bytes: &mut [u8]) -> bool {
    let leaf_end = leaf.offset + leaf.size;
    let first = writes.partition_point(|(offset, new)| *offset + new.len() as u64 <= leaf.offset);
    let inside = writes[first..].iter().take_while(|(offset, _)| *offset < leaf_end);
    let mut any = false;
    for (offset, new) in inside {
        let (start, end) = ((*offset).max(leaf.offset), (offset + new.len() as u64).min(leaf_end));
        let from = (start - offset) as usize..(end - offset) as usize;
        bytes[(start - leaf.offset) as usize..(end - leaf.offset) as usize].copy_from_slice(&new[from]);
        any = true;
    }
    any
}
