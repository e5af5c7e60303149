//! Merging of `SHF_MERGE` sections: equal strings and equal constants of all inputs are kept once.
//!
//! The linker says which sections go together (for ELF, `merge_parts.rs`) and where the bytes go.
//!
//! Three phases, each parallel and none dependent on the number of threads:
//!
//! 1. [`split`]: tasks of half a megabyte to two are cut into pieces; each is hashed while its end is
//!    found, what the task has met before is dropped, and the rest is sorted by shard (the hash's high
//!    bits).
//! 2. [`shard`]: each shard goes through its pieces in input order and keeps the first of each kind.
//! 3. [`lookup`]: each task writes down where its pieces went, and samples for finding them.
//!
//! The output is shard after shard, each in the order of first occurrence; with `-O2` [`tail`] lets
//! strings share suffixes. Without `dedupe` (`-O0`) the inputs are put one after the other.
//!
//! Alignment: every piece starts aligned to the section's alignment, which is at least what its
//! users may expect of it. Zeros that pad a string up to the alignment belong to it. Sources: gABI, "Section
//! Attribute Flags" (`SHF_MERGE`, `SHF_STRINGS`).
//!
//! Measured by `tests::speed` (100 MB of `.debug_str`, 2.3 million strings of 45 bytes, one in six
//! new; two-core virtual machine): building takes 58 ns a string on one thread and 29 on two (20 of
//! 58 for splitting and hashing, 36 for the shards, 3 for placing), 75 with shared suffixes; finding
//! a place 12 ns; writing 3 GB/s. Memory: 8.5 bytes a string and 16 a unique one stay; at the peak
//! it is 12 bytes a string and 16 a unique one, beside about 10 MB for each thread.

mod lookup;
mod shard;
mod split;
mod tail;

use crate::hash::hash_bytes;
use crate::items::run;
use lookup::Lookup;
pub use lookup::Pieces;
use shard::{Answer, Entry, Shard, Source};
use split::Split;
use std::fmt;
use std::ops::Range;

/// A section to merge with others.
#[derive(Clone, Copy, Debug)]
pub struct MergeInput<'a> {
    pub data: &'a [u8],
    /// Bytes of a constant, or of a string's unit.
    pub entsize: u32,
    /// NUL-terminated strings (`SHF_STRINGS`), not constants.
    pub strings: bool,
    /// A power of two.
    pub align: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct MergeOptions {
    /// Strings share suffixes.
    pub tail_merge: bool,
    /// Equal pieces are kept once; otherwise nothing is merged.
    pub dedupe: bool,
}

/// Why sections cannot be merged. `input` is an index in the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The last string has no terminator.
    NotTerminated { input: usize },
    /// The section's size is no multiple of its entry size, or that is 0.
    BadEntrySize { input: usize, entsize: u32, size: u64 },
    /// The alignment is no power of two.
    BadAlignment { input: usize, align: u32 },
    /// The input differs from the first in its entry size or kind.
    Mixed { input: usize },
    /// A section of 4 GiB or more.
    InputTooLarge { input: usize },
    /// The merged section would reach 4 GiB.
    TooLarge,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::NotTerminated { .. } => write!(f, "last string is not terminated"),
            MergeError::BadEntrySize { entsize, size, .. } => {
                write!(f, "section size {size} is not a multiple of its entry size {entsize}")
            }
            MergeError::BadAlignment { align, .. } => {
                write!(f, "section alignment {align} is not a power of two")
            }
            MergeError::Mixed { .. } => write!(f, "entries differ in size or kind from those to merge with"),
            MergeError::InputTooLarge { .. } => write!(f, "mergeable section is 4 GiB or larger"),
            MergeError::TooLarge => write!(f, "merged section would be 4 GiB or larger"),
        }
    }
}

impl std::error::Error for MergeError {}

/// The merged section would reach 4 GiB.
struct TooLarge;

/// Inputs that a task checks.
const CHECKED: usize = 512;

/// The parameters of a merge.
struct Layout {
    entsize: usize,
    strings: bool,
    align: usize,
    /// Input bytes of a task, roughly.
    task_bytes: usize,
    /// Log2 of the number of shards.
    shard_bits: u32,
}

/// A merged section.
pub struct Merged<'a> {
    inputs: Vec<&'a [u8]>,
    strings: bool,
    /// With the room behind the pieces.
    size: u64,
    room: u64,
    align: u64,
    body: Body,
}

enum Body {
    /// Each input's start.
    Concatenated(Vec<u64>),
    Merged {
        /// Each shard's start, and its unique pieces.
        shards: Vec<(u32, Box<[Entry]>)>,
        /// Strings share suffixes: those that are part of another have no entry.
        has_tails: bool,
        lookup: Lookup,
    },
    /// Pieces that went to places of another merge, and what there is to write; nothing if nobody writes it.
    Again { lookup: Lookup, bytes: Vec<u8> },
}

/// What a piece may be found by: the high half of the hash that it was merged by. `terminator`: how many bytes
/// end it, if it is a string.
pub fn tag_of(piece: &[u8], terminator: usize) -> u32 {
    (hash_bytes(&piece[..piece.len() - terminator]) >> 32) as u32
}

impl<'a> Merged<'a> {
    /// Merges the inputs, which all belong to one output part: same entry size, flags and
    /// alignment. With `threads` above 1 the work is done on the current rayon pool.
    ///
    /// # Errors
    /// Everything that is wrong with the inputs, in their order.
    pub fn build(
        inputs: &[MergeInput<'a>],
        options: &MergeOptions,
        threads: usize,
    ) -> Result<Merged<'a>, Vec<MergeError>> {
        // The end of each input is looked at, often the first time that its page is.
        let runs = (0..inputs.len()).step_by(CHECKED).map(|i| i..inputs.len().min(i + CHECKED)).collect();
        let of_run = |(): &mut (), run: Range<usize>| -> Vec<MergeError> {
            run.filter_map(|i| check(inputs, i, options.dedupe)).collect()
        };
        let errors = run("check inputs", threads, runs, of_run).concat();
        if !errors.is_empty() {
            return Err(errors);
        }
        let layout = Layout::of(inputs);
        let inputs = inputs.iter().map(|input| input.data).collect();
        if !options.dedupe {
            return Ok(concatenate(inputs, layout));
        }
        merge(inputs, &layout, options, threads).map_err(|TooLarge| vec![MergeError::TooLarge])
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of what is room.
    pub fn room(&self) -> u64 {
        self.room
    }

    /// Leaves room for so many bytes more, of which there may be none yet, if offsets still have 32 bits. It is
    /// zeroes, and keeps the alignment.
    pub fn add_room(&mut self, bytes: u64) {
        let size = (self.size + bytes).next_multiple_of(self.align);
        if self.room == 0 && u32::try_from(size).is_ok() {
            (self.room, self.size) = (size - self.size, size);
        }
    }

    /// Bytes, a power of two.
    pub fn align(&self) -> u64 {
        self.align
    }

    /// Where byte `offset` of input `input` went (an offset inside a piece keeps its distance; one
    /// at the very end of the section maps to the end of its last piece). `None` if out of range.
    pub fn output_offset(&self, input: usize, offset: u64) -> Option<u64> {
        let len = self.inputs.get(input)?.len() as u64;
        if offset > len {
            return None;
        }
        match &self.body {
            Body::Concatenated(starts) => Some(starts[input] + offset),
            Body::Merged { .. } | Body::Again { .. } if len == 0 => Some(0),
            Body::Merged { lookup, .. } | Body::Again { lookup, .. } => {
                lookup.find(input, offset as u32, self.strings)
            }
        }
    }

    /// For many questions about one input.
    pub fn pieces(&self, input: usize) -> Pieces<'_> {
        Pieces::new(self, input)
    }

    /// Hands each piece of each input to `take`, with where it went: a string with its terminator, but
    /// without what pads it. Pieces that are equal come more than once.
    pub fn each_piece(&self, mut take: impl FnMut(&'a [u8], u64)) {
        if let Body::Merged { lookup, .. } | Body::Again { lookup, .. } = &self.body {
            lookup.each_piece(&self.inputs, self.strings, &mut take);
        }
    }

    /// How many lists the different pieces are in.
    pub fn lists(&self) -> usize {
        match &self.body {
            Body::Concatenated(_) => 0,
            Body::Merged { has_tails: true, .. } | Body::Again { .. } => 1,
            Body::Merged { shards, .. } => shards.len(),
        }
    }

    /// Hands each piece of a list to `take` as [`Self::each_piece`] does, but once. By the high bits of their
    /// hashes, lists are in order.
    pub fn each_different(&self, list: usize, mut take: impl FnMut(&'a [u8], u64)) {
        match &self.body {
            Body::Concatenated(_) => {}
            Body::Merged { has_tails: true, .. } | Body::Again { .. } => {
                let mut known = vec![0u64; self.size as usize / 64 + 1];
                self.each_piece(|bytes, position| {
                    let (word, bit) = (&mut known[(position / 64) as usize], 1 << (position % 64));
                    if *word & bit == 0 {
                        *word |= bit;
                        take(bytes, position);
                    }
                });
            }
            Body::Merged { shards, .. } => {
                let (base, entries) = &shards[list];
                for (i, entry) in entries.iter().enumerate() {
                    if let Some(later) = entries.get(i + 16) {
                        crate::prefetch::prefetch_all(later.bytes(&self.inputs));
                    }
                    take(entry.bytes(&self.inputs), u64::from(*base) + u64::from(entry.position));
                }
            }
        }
    }

    /// Where the pieces of an input went, in their order. `None` if nothing was merged.
    pub fn positions(&self, input: usize) -> Option<impl Iterator<Item = &[u32]>> {
        match &self.body {
            Body::Concatenated(_) => None,
            Body::Merged { lookup, .. } | Body::Again { lookup, .. } => Some(lookup.positions(input)),
        }
    }

    /// Inputs that have been merged before, with others: `find` knows where each piece went in what they
    /// became, which is `bytes` (or nothing, if that is not to be written). They answer as they did then. `None`
    /// if a piece is not known, or the inputs are damaged.
    pub fn found_again(
        inputs: &[MergeInput<'a>],
        bytes: Vec<u8>,
        mut find: impl FnMut(&[u8]) -> Option<u32>,
    ) -> Option<Merged<'a>> {
        if (0..inputs.len()).any(|i| check(inputs, i, true).is_some()) {
            return None;
        }
        let layout = Layout::of(inputs);
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.data).collect();
        let mut places = Vec::new();
        for task in split::plan_tasks(&layout, &inputs) {
            let split = split::split(&mut split::Scratch::default(), &layout, &inputs, task);
            places.push(lookup::find_again(split, &layout, &inputs, &mut find)?);
        }
        let lookup = Lookup::new(&layout, inputs.len(), places);
        let (size, align) = (bytes.len() as u64, layout.align as u64);
        let body = Body::Again { lookup, bytes };
        Some(Merged { inputs, strings: layout.strings, size, room: 0, align, body })
    }

    /// Writes bytes `start..start + out.len()` of the merged section (any range within it; called
    /// for disjoint ranges from many threads).
    pub fn write(&self, start: u64, out: &mut [u8]) {
        let mut writer = Writer { start, cursor: start, out };
        assert!(writer.end() <= self.size, "write beyond a merged section");
        match &self.body {
            Body::Concatenated(starts) => {
                let first = starts.partition_point(|&s| s <= start).saturating_sub(1);
                for (&at, data) in starts.iter().zip(&self.inputs).skip(first) {
                    if !writer.put(at, data) {
                        break;
                    }
                }
            }
            Body::Again { bytes, .. } => _ = writer.put(0, bytes),
            Body::Merged { shards, .. } => {
                let first = shards.partition_point(|s| u64::from(s.0) <= start).saturating_sub(1);
                for (base, entries) in shards.iter().skip(first) {
                    if !self.write_shard(u64::from(*base), entries, &mut writer) {
                        break;
                    }
                }
            }
        }
        writer.zero_to(writer.end());
    }

    /// Whether there may be more to write after the shard.
    fn write_shard(&self, base: u64, entries: &[Entry], writer: &mut Writer) -> bool {
        let relative = writer.cursor.saturating_sub(base);
        let first = entries.partition_point(|e| u64::from(e.position) <= relative).saturating_sub(1);
        for (i, entry) in entries.iter().enumerate().skip(first) {
            if let Some(later) = entries.get(i + 16) {
                crate::prefetch::prefetch_all(later.bytes(&self.inputs));
            }
            if !writer.put(base + u64::from(entry.position), entry.bytes(&self.inputs)) {
                return false;
            }
        }
        true
    }

    /// Heap memory in bytes.
    #[cfg(test)]
    fn memory(&self) -> usize {
        match &self.body {
            Body::Concatenated(starts) => starts.len() * 8,
            Body::Again { lookup, bytes } => lookup.memory() + bytes.len(),
            Body::Merged { shards, lookup, .. } => {
                lookup.memory() + shards.iter().map(|s| s.1.len() * size_of::<Entry>()).sum::<usize>()
            }
        }
    }
}

/// What is wrong with input `i`.
fn check(inputs: &[MergeInput], i: usize, dedupe: bool) -> Option<MergeError> {
    let MergeInput { data, entsize, strings, align } = inputs[i];
    if align > 1 && !align.is_power_of_two() {
        return Some(MergeError::BadAlignment { input: i, align });
    }
    if !dedupe {
        return None;
    }
    let size = data.len() as u64;
    if entsize == 0 || !size.is_multiple_of(u64::from(entsize)) {
        return Some(MergeError::BadEntrySize { input: i, entsize, size });
    }
    if (entsize, strings) != (inputs[0].entsize, inputs[0].strings) {
        return Some(MergeError::Mixed { input: i });
    }
    if u32::try_from(size).is_err() {
        return Some(MergeError::InputTooLarge { input: i });
    }
    let terminated = data.iter().rev().take(entsize as usize).all(|&b| b == 0);
    (strings && !terminated).then_some(MergeError::NotTerminated { input: i })
}

fn concatenate<'a>(inputs: Vec<&'a [u8]>, layout: Layout) -> Merged<'a> {
    let mut end = 0u64;
    let mut starts = Vec::with_capacity(inputs.len());
    for data in &inputs {
        let start = end.next_multiple_of(layout.align as u64);
        starts.push(start);
        end = start + data.len() as u64;
    }
    Merged {
        inputs,
        strings: layout.strings,
        size: end,
        room: 0,
        align: layout.align as u64,
        body: Body::Concatenated(starts),
    }
}

fn merge<'a>(
    inputs: Vec<&'a [u8]>,
    layout: &Layout,
    options: &MergeOptions,
    threads: usize,
) -> Result<Merged<'a>, TooLarge> {
    let tasks = split::plan_tasks(layout, &inputs);
    let mut splits: Vec<Split> =
        run("split strings", threads, tasks, |scratch, task| split::split(scratch, layout, &inputs, task));
    let share_tails = options.tail_merge && layout.strings;

    let (tasks, runs) = shard::by_shard(&mut splits, 1 << layout.shard_bits);
    let answer = if share_tails { Answer::Number } else { Answer::Position };
    let source = Source { layout, inputs: &inputs, tasks: &tasks, answer };
    let merged: Vec<Result<Shard, TooLarge>> =
        run("merge shards", threads, runs, |scratch, runs| shard::merge(scratch, &source, runs));
    let merged = merged.into_iter().collect::<Result<Vec<_>, _>>()?;

    let (shards, size, places);
    if share_tails {
        let tailed = tail::share_tails(layout, &inputs, merged, threads)?;
        places = run("place strings", threads, splits, |(): &mut (), split| {
            lookup::place(split, true, |shard, number| {
                tailed.positions[(tailed.first[shard] + number) as usize]
            })
        });
        shards = vec![(0, tailed.entries)];
        size = tailed.size;
    } else {
        (shards, size) = put_in_order(layout, merged)?;
        places = run("place strings", threads, splits, |(): &mut (), split| {
            lookup::place(split, layout.strings, |shard, position| shards[shard].0 + position)
        });
    }
    let lookup = Lookup::new(layout, inputs.len(), places);
    // The padding after the last piece belongs to it.
    let size = u64::from(size).next_multiple_of(layout.align as u64);
    let body = Body::Merged { shards, has_tails: share_tails, lookup };
    Ok(Merged { inputs, strings: layout.strings, size, room: 0, align: layout.align as u64, body })
}

/// A shard's start in the section and its unique pieces.
type PlacedShard = (u32, Box<[Entry]>);

/// Puts the shards one after the other; also returns the end of the last.
fn put_in_order(layout: &Layout, merged: Vec<Shard>) -> Result<(Vec<PlacedShard>, u32), TooLarge> {
    let mut shards = Vec::with_capacity(merged.len());
    let mut end = 0u32;
    for shard in merged {
        let start = (end as usize).next_multiple_of(layout.align);
        end = u32::try_from(start + shard.size as usize).map_err(|_| TooLarge)?;
        // An empty shard at the very end may start where 32 bits end; nothing refers to it.
        shards.push((u32::try_from(start).map_err(|_| TooLarge)?, shard.entries));
    }
    Ok((shards, end))
}

/// Fills a range of the section from pieces in ascending order, with zeros between them.
struct Writer<'o> {
    /// The range's start in the section.
    start: u64,
    /// Everything before is written.
    cursor: u64,
    out: &'o mut [u8],
}

impl Writer<'_> {
    fn end(&self) -> u64 {
        self.start + self.out.len() as u64
    }

    /// Writes the part of a piece at `at` that lies in the range. Whether the range goes on after.
    #[inline]
    fn put(&mut self, at: u64, bytes: &[u8]) -> bool {
        let end = self.end();
        if at >= end {
            return false;
        }
        self.zero_to(at);
        let skip = self.cursor.saturating_sub(at).min(bytes.len() as u64) as usize;
        let room = (end - self.cursor) as usize;
        let bytes = &bytes[skip..];
        let bytes = &bytes[..bytes.len().min(room)];
        let from = (self.cursor - self.start) as usize;
        self.out[from..from + bytes.len()].copy_from_slice(bytes);
        self.cursor += bytes.len() as u64;
        self.cursor < end
    }

    fn zero_to(&mut self, at: u64) {
        if at > self.cursor {
            self.out[(self.cursor - self.start) as usize..(at - self.start) as usize].fill(0);
            self.cursor = at;
        }
    }
}

#[cfg(test)]
mod tests;
