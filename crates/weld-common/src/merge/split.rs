//! Phase 1: cuts the inputs into pieces, hashes each while its end is found, and sorts the pieces
//! of a task by shard.
//!
//! A *task* is half a megabyte of input or a few: a run of whole inputs, or a part of a long one cut
//! between pieces. Its working memory stays in the second-level cache. A *segment* is a task's part
//! of one input. Tasks and shards depend on the sizes of the inputs only, never on the threads.
//!
//! Strings that a task has already met are found here, while both copies are in the cache: objects
//! that follow one another often come from the same headers. Shards see only the first of each.
//!
//! What a task leaves is small: the offset of each piece in its input (4 bytes; none for constants,
//! whose offset is computed) and, until phase 3, a record or a repetition of 8 bytes.

use super::{Layout, MergeInput};
use crate::hash::{hash_bytes, hash_until_nul};

/// A piece on its way through its shard.
#[derive(Clone, Copy, Default)]
pub(super) struct Record {
    /// First the hash's low half; the shard replaces it by its answer for the piece.
    pub value: u32,
    /// The piece's number within its task.
    pub piece: u32,
}

/// The part of an input that belongs to one task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub input: u32,
    /// Byte range in the input.
    pub start: u32,
    pub end: u32,
    /// The first piece's number within the task.
    pub first: u32,
    pub count: u32,
}

/// What phase 1 makes of a task.
pub(super) struct Split {
    pub segments: Vec<Segment>,
    /// Where each piece starts in its input; empty for constants.
    pub offsets: Box<[u32]>,
    /// Sorted by shard, within a shard by piece.
    pub records: Box<[Record]>,
    /// How many records each shard has.
    pub counts: Box<[u32]>,
    /// Pieces without a record, and the earlier piece that each is equal to.
    pub repeats: Box<[(u32, u32)]>,
}

#[derive(Default)]
pub(super) struct Scratch {
    offsets: Vec<u32>,
    firsts: Vec<First>,
    repeats: Vec<(u32, u32)>,
    /// Open addressing: numbers in `firsts`, `FREE` where there is none. Empty when the task has shown
    /// that it hardly repeats itself.
    table: Vec<u32>,
    starts: Vec<u32>,
}

/// A piece that the task has not met before.
#[derive(Clone, Copy)]
struct First {
    hash: u64,
    piece: u32,
    input: u32,
}

const FREE: u32 = u32::MAX;

/// The size of a task, in bytes of input. Large ones meet more strings again, small ones spread over
/// more threads and stay in the second-level cache.
const TASK_BYTES: std::ops::RangeInclusive<usize> = 512 << 10..=2 << 20;
/// Tasks grow until there are no more than the first, and again when there are more than the second.
const TASKS: std::ops::RangeInclusive<usize> = 256..=1024;
/// Input bytes for each shard where there are many: with the usual repetition its unique pieces and its table
/// then take one or two megabytes. Smaller shards lose by visiting all inputs once more each what they gain
/// by fitting better.
const SHARD_BYTES: usize = 8 << 20;
/// Input bytes for each of the first shards: small enough that a merge of a few megabytes is not one task.
const FIRST_SHARD_BYTES: usize = 512 << 10;
/// How many shards are that small; beyond, there is work for all threads anyway.
const FIRST_SHARDS: usize = 64;
const MAX_SHARD_BITS: u32 = 8;

fn task_bytes(total: usize) -> usize {
    (total / TASKS.start()).clamp(*TASK_BYTES.start(), *TASK_BYTES.end()).max(total / TASKS.end())
}

/// The number of shards as a power of two.
fn shard_bits(total_bytes: usize) -> u32 {
    let first = (total_bytes / FIRST_SHARD_BYTES).min(FIRST_SHARDS);
    (total_bytes / SHARD_BYTES).max(first).next_power_of_two().trailing_zeros().min(MAX_SHARD_BITS)
}

/// Cuts the inputs into tasks: segments whose pieces are not counted yet.
pub(super) fn plan_tasks(layout: &Layout, inputs: &[&[u8]]) -> Vec<Vec<Segment>> {
    let target = layout.task_bytes;
    let mut tasks = Vec::new();
    let mut task = Vec::new();
    let mut room = target;
    for (input, data) in inputs.iter().enumerate() {
        let mut start = 0;
        while start < data.len() {
            let rest = data.len() - start;
            // A little more than the target is better than a tiny task after.
            let end = if rest <= room + target / 4 { data.len() } else { layout.cut(data, start + room) };
            task.push(Segment {
                input: input as u32,
                start: start as u32,
                end: end as u32,
                first: 0,
                count: 0,
            });
            room = room.saturating_sub(end - start);
            start = end;
            if room < target / 4 {
                tasks.push(std::mem::take(&mut task));
                room = target;
            }
        }
    }
    if !task.is_empty() {
        tasks.push(task);
    }
    tasks
}

/// Phase 1 for one task.
#[inline(never)]
pub(super) fn split(
    scratch: &mut Scratch,
    layout: &Layout,
    inputs: &[&[u8]],
    mut segments: Vec<Segment>,
) -> Split {
    scratch.offsets.clear();
    scratch.firsts.clear();
    scratch.repeats.clear();
    scratch.table.clear();
    scratch.table.resize(TABLE_START, FREE);
    // Growing bit by bit would copy as much, once a thread.
    let pieces = segments.iter().map(|s| (s.end - s.start) as usize).sum::<usize>() / layout.usual_piece();
    scratch.firsts.reserve(pieces);
    if layout.strings {
        scratch.offsets.reserve(pieces);
    }
    let mut count = 0;
    for segment in &mut segments {
        segment.first = count;
        let data = inputs[segment.input as usize];
        let bytes = &data[segment.start as usize..segment.end as usize];
        if layout.strings {
            split_strings(scratch, layout, inputs, segment);
            count = scratch.offsets.len() as u32;
        } else {
            for constant in bytes.chunks_exact(layout.entsize) {
                let hash = hash_bytes(constant);
                scratch.firsts.push(First { hash, piece: count, input: segment.input });
                count += 1;
            }
        }
        segment.count = count - segment.first;
    }
    let (records, counts) = sort_by_shard(scratch, layout.shard_bits);
    let offsets = scratch.offsets.as_slice().into();
    Split { segments, offsets, records, counts, repeats: scratch.repeats.as_slice().into() }
}

fn split_strings(scratch: &mut Scratch, layout: &Layout, inputs: &[&[u8]], segment: &Segment) {
    let data = inputs[segment.input as usize];
    let end = segment.end as usize;
    let mut at = segment.start as usize;
    if layout.entsize == 1 && layout.align == 1 {
        while at < end {
            // The input ends in a NUL (checked before), so there always is one.
            let Some((len, hash)) = hash_until_nul(&data[at..]) else { return };
            scratch.string(inputs, hash, segment.input, at..at + len + 1);
            at += len + 1;
        }
        return;
    }
    while at < end {
        let string = at..layout.string_end(data, at);
        let hash = hash_bytes(&data[at..string.end - layout.entsize]);
        scratch.string(inputs, hash, segment.input, string.clone());
        at = layout.skip_padding(data, string);
    }
}

/// A table does not grow if fewer than one string in this many was a repetition.
const FEW: usize = 16;
/// The size of an empty table.
const TABLE_START: usize = 1 << 12;

impl Scratch {
    /// Adds the string at bytes `range`, terminator included, of `input`.
    #[inline]
    fn string(&mut self, inputs: &[&[u8]], hash: u64, input: u32, range: std::ops::Range<usize>) {
        let piece = self.offsets.len() as u32;
        self.offsets.push(range.start as u32);
        let Some(mask) = self.table.len().checked_sub(1) else {
            return self.firsts.push(First { hash, piece, input });
        };
        let mut slot = hash as usize & mask;
        while let Some(first) = self.firsts.get(self.table[slot] as usize) {
            if first.hash == hash {
                let start = self.offsets[first.piece as usize] as usize;
                // Only the last unit of a string is zero: equal bytes of this length are the whole string.
                let earlier = inputs[first.input as usize].get(start..start + range.len());
                if earlier == Some(&inputs[input as usize][range.clone()]) {
                    return self.repeats.push((piece, first.piece));
                }
            }
            slot = (slot + 1) & mask;
        }
        self.table[slot] = self.firsts.len() as u32;
        self.firsts.push(First { hash, piece, input });
        if self.firsts.len() * 2 > self.table.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.table.len() * 2;
        self.table.clear();
        if self.repeats.len() * FEW < self.firsts.len() {
            return;
        }
        self.table.resize(len, FREE);
        for (number, first) in self.firsts.iter().enumerate() {
            let mut slot = first.hash as usize & (len - 1);
            while self.table[slot] != FREE {
                slot = (slot + 1) & (len - 1);
            }
            self.table[slot] = number as u32;
        }
    }
}

/// A counting sort of the first pieces in `scratch` by the high bits of their hashes.
fn sort_by_shard(scratch: &mut Scratch, shard_bits: u32) -> (Box<[Record]>, Box<[u32]>) {
    let shard_of = |hash: u64| (hash >> 32 >> (32 - shard_bits)) as usize;
    let mut counts = vec![0u32; 1 << shard_bits].into_boxed_slice();
    for first in &scratch.firsts {
        counts[shard_of(first.hash)] += 1;
    }
    scratch.starts.clear();
    let mut start = 0;
    for count in &counts {
        scratch.starts.push(start);
        start += count;
    }
    let mut records = vec![Record::default(); scratch.firsts.len()].into_boxed_slice();
    for first in &scratch.firsts {
        let place = &mut scratch.starts[shard_of(first.hash)];
        records[*place as usize] = Record { value: first.hash as u32, piece: first.piece };
        *place += 1;
    }
    (records, counts)
}

/// After the terminator of the string at `at`, whose units have `entsize` bytes.
pub(super) fn string_end(entsize: usize, data: &[u8], at: usize) -> usize {
    let rest = &data[at..];
    if entsize == 1 {
        return memchr::memchr(0, rest).map_or(data.len(), |len| at + len + 1);
    }
    let is_nul = |unit: &[u8]| unit.iter().all(|&b| b == 0);
    let len = rest.chunks_exact(entsize).position(is_nul);
    len.map_or(data.len(), |units| at + (units + 1) * entsize)
}

impl Layout {
    /// Bytes of a piece, roughly. Room is made by it, so it must not be much more than an input can have.
    pub(super) fn usual_piece(&self) -> usize {
        // No characters are wider than four bytes; what else calls itself strings is hardly text.
        if self.strings { (48 * self.entsize.min(4)).max(self.entsize) } else { self.entsize }
    }

    /// The start of a piece after `at`, or the end.
    fn cut(&self, data: &[u8], at: usize) -> usize {
        let at = at - at % self.entsize;
        if !self.strings {
            return (at + self.entsize).min(data.len());
        }
        let mut end = self.string_end(data, at);
        // Which zeros are padding depends on where the string starts, but what follows them is a
        // piece in any case.
        while self.align > 1 && self.is_zero(data, end) {
            end += self.entsize;
        }
        end
    }

    /// After the terminator of the string at `at`.
    pub(super) fn string_end(&self, data: &[u8], at: usize) -> usize {
        string_end(self.entsize, data, at)
    }

    /// After the zeros that pad the string of `range` so that the next one would be aligned if it
    /// were. They belong to the string and are after it in the output too, where it is aligned. In
    /// sections whose units do not divide the alignment every zero is a string.
    fn skip_padding(&self, data: &[u8], string: std::ops::Range<usize>) -> usize {
        let mut at = string.end;
        if self.align.is_multiple_of(self.entsize) {
            while !(at - string.start).is_multiple_of(self.align) && self.is_zero(data, at) {
                at += self.entsize;
            }
        }
        at
    }

    /// Whether the unit at `at` exists and is zero.
    fn is_zero(&self, data: &[u8], at: usize) -> bool {
        data.get(at..at + self.entsize).is_some_and(|unit| unit.iter().all(|&b| b == 0))
    }

    /// The parameters that all inputs share.
    pub(super) fn of(inputs: &[MergeInput]) -> Layout {
        let total: usize = inputs.iter().map(|input| input.data.len()).sum();
        Layout {
            entsize: inputs.first().map_or(1, |input| input.entsize.max(1) as usize),
            strings: inputs.first().is_some_and(|input| input.strings),
            align: inputs.iter().map(|input| input.align.max(1)).max().unwrap_or(1) as usize,
            task_bytes: task_bytes(total),
            shard_bits: shard_bits(total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_grow_with_the_inputs() {
        let shards = |megabytes: usize| 1 << shard_bits(megabytes << 20);
        assert_eq!([0, 1, 2, 4, 20, 32].map(shards), [1, 2, 4, 8, 64, 64]);
        assert_eq!([100, 512, 513, 1024, 4096, 1 << 20].map(shards), [64, 64, 64, 128, 256, 256]);
        assert_eq!(shard_bits(FIRST_SHARD_BYTES * 2 - 1), 0);
    }

    #[test]
    fn no_room_is_made_for_what_inputs_cannot_have() {
        let usual = |entsize, strings| {
            let (task_bytes, shard_bits) = (task_bytes(0), 0);
            Layout { entsize, strings, align: 1, task_bytes, shard_bits }.usual_piece()
        };
        assert_eq!([1, 2, 4, 8].map(|entsize| usual(entsize, true)), [48, 96, 192, 192]);
        assert_eq!([1000, 1 << 16].map(|entsize| usual(entsize, true)), [1000, 1 << 16]);
        assert_eq!(usual(8, false), 8);
    }
}
