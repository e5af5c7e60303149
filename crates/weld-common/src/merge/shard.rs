//! Phase 2: one shard's pieces, in input order, become its unique pieces.
//!
//! The table is open addressing with 8 bytes a slot. Equal tags are confirmed by one comparison of
//! bytes, nearly always of a real duplicate. The originals' bytes are copied to one place, which
//! with the table about fits a second-level cache and is used again for the thread's next shard:
//! looking at the originals in the inputs would miss the cache and the address translation each
//! time. The pieces themselves lie anywhere in the inputs, so records are taken sixteen at a time:
//! first all their places are prefetched, then what the table holds under their tags, then the work
//! is done. Each of these was measured: without copies and prefetching the phase takes 1.5 times
//! as long.

use super::split::{Record, Segment, Split};
use super::{Layout, TooLarge};
use crate::prefetch::{prefetch, prefetch_all};

/// A unique piece: where its bytes are, and where they go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub input: u32,
    pub offset: u32,
    /// Bytes, a string's terminator included.
    pub len: u32,
    /// In bytes from the shard's start.
    pub position: u32,
}

const _: () = assert!(size_of::<Entry>() == 16);

impl Entry {
    pub fn bytes<'a>(&self, inputs: &[&'a [u8]]) -> &'a [u8] {
        &inputs[self.input as usize][self.offset as usize..][..self.len as usize]
    }
}

/// The unique pieces of one shard, in the order of their first occurrence.
pub(super) struct Shard {
    pub entries: Box<[Entry]>,
    /// Bytes.
    pub size: u32,
}

/// What a shard answers for a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The position of the unique piece in the shard.
    Position,
    /// Its number in the shard.
    Number,
}

#[derive(Clone, Copy)]
struct Slot {
    tag: u32,
    number: u32,
}

const FREE: Slot = Slot { tag: 0, number: u32::MAX };
const BATCH: usize = 16;

#[derive(Default)]
pub(super) struct Scratch {
    slots: Vec<Slot>,
    entries: Vec<Entry>,
    /// What a lookup needs of each entry.
    known: Vec<Known>,
    /// The unique pieces' bytes, without gaps.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Known {
    /// In [`Scratch::bytes`].
    start: u32,
    len: u32,
    position: u32,
}

/// Everything that a shard reads.
pub(super) struct Source<'s, 'a> {
    pub layout: &'s Layout,
    pub inputs: &'s [&'a [u8]],
    pub tasks: &'s [Task<'s>],
    pub answer: Answer,
}

/// The part of a [`Split`] that all shards read.
pub(super) struct Task<'s> {
    pub segments: &'s [Segment],
    pub offsets: &'s [u32],
}

/// Cuts the records of all tasks by shard: element `s` holds shard `s`'s records of each task.
pub(super) fn by_shard(splits: &mut [Split], shards: usize) -> (Vec<Task<'_>>, Vec<Vec<&mut [Record]>>) {
    let mut runs: Vec<Vec<&mut [Record]>> = (0..shards).map(|_| Vec::with_capacity(splits.len())).collect();
    let mut tasks = Vec::with_capacity(splits.len());
    for split in splits {
        let mut rest = &mut *split.records;
        for (run, &count) in runs.iter_mut().zip(&split.counts) {
            let (head, tail) = rest.split_at_mut(count as usize);
            run.push(head);
            rest = tail;
        }
        tasks.push(Task { segments: &split.segments, offsets: &split.offsets });
    }
    (tasks, runs)
}

/// A record's piece.
#[derive(Clone, Copy, Default)]
struct Piece<'a> {
    /// The piece, and the padding before the next one.
    bytes: &'a [u8],
    input: u32,
    offset: u32,
}

/// Phase 2 for one shard; `runs` holds its records of each task.
#[inline(never)]
pub(super) fn merge(
    scratch: &mut Scratch,
    source: &Source,
    runs: Vec<&mut [Record]>,
) -> Result<Shard, TooLarge> {
    let records: usize = runs.iter().map(|run| run.len()).sum();
    let slots = (records / 4).next_power_of_two().max(64);
    scratch.slots.clear();
    scratch.slots.resize(slots, FREE);
    scratch.entries.clear();
    scratch.known.clear();
    scratch.bytes.clear();
    scratch.entries.reserve(slots / 2);
    scratch.known.reserve(slots / 2);
    // Nothing of it is touched before it is used, but address space can be limited too: no more than twice
    // what the inputs have for each shard.
    let share = (source.tasks.len() * source.layout.task_bytes) >> source.layout.shard_bits;
    scratch.bytes.reserve((records * source.layout.usual_piece()).min(2 * share));
    let mut builder = Builder { scratch, source, end: 0 };
    for (task, run) in source.tasks.iter().zip(runs) {
        let mut cursor = 0;
        let mut rest = run;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at_mut(BATCH.min(rest.len()));
            rest = later;
            // The next batch's first step reads these.
            for record in rest.iter().take(BATCH) {
                prefetch(task.offsets, record.piece as usize);
            }
            let mut pieces = [Piece::default(); BATCH];
            builder.fetch(task, &mut cursor, batch, &mut pieces);
            for (record, piece) in batch.iter_mut().zip(&pieces) {
                record.value = builder.find_or_add(record.value, piece)?;
            }
        }
    }
    let size = builder.end;
    Ok(Shard { entries: scratch.entries.as_slice().into(), size })
}

struct Builder<'b, 's, 'a> {
    scratch: &'b mut Scratch,
    source: &'b Source<'s, 'a>,
    /// Bytes laid out so far.
    end: u32,
}

impl<'a> Builder<'_, '_, 'a> {
    /// Finds the bytes of a batch's pieces and starts to bring them and their likely originals in.
    /// `cursor` is the segment of the piece before.
    fn fetch(&self, task: &Task, cursor: &mut usize, batch: &[Record], pieces: &mut [Piece<'a>; BATCH]) {
        let Source { layout, inputs, .. } = self.source;
        let mask = self.scratch.slots.len() - 1;
        for (record, piece) in batch.iter().zip(pieces.iter_mut()) {
            let mut segment = &task.segments[*cursor];
            while record.piece - segment.first >= segment.count {
                *cursor += 1;
                segment = &task.segments[*cursor];
            }
            let (offset, end) = if layout.strings {
                let last = record.piece - segment.first + 1 == segment.count;
                let next = if last { segment.end } else { task.offsets[record.piece as usize + 1] };
                (task.offsets[record.piece as usize], next)
            } else {
                let offset = segment.start + (record.piece - segment.first) * layout.entsize as u32;
                (offset, offset + layout.entsize as u32)
            };
            let bytes = &inputs[segment.input as usize][offset as usize..end as usize];
            prefetch_all(bytes);
            prefetch(&self.scratch.slots, record.value as usize & mask);
            *piece = Piece { bytes, input: segment.input, offset };
        }
        for record in batch {
            let slot = self.scratch.slots[record.value as usize & mask];
            if slot.tag == record.value
                && let Some(known) = self.scratch.known.get(slot.number as usize)
            {
                prefetch(&self.scratch.bytes, known.start as usize);
            }
        }
    }

    /// The answer for a piece whose hash has this low half.
    #[inline]
    fn find_or_add(&mut self, tag: u32, piece: &Piece<'a>) -> Result<u32, TooLarge> {
        let mask = self.scratch.slots.len() - 1;
        let mut i = tag as usize & mask;
        loop {
            let slot = self.scratch.slots[i];
            if slot.number == FREE.number {
                return self.add(i, tag, piece);
            }
            if slot.tag == tag {
                let known = self.scratch.known[slot.number as usize];
                // A string's bytes contain its terminator, at their end only: a common start of
                // that length means equality.
                let bytes = &self.scratch.bytes[known.start as usize..][..known.len as usize];
                if piece.bytes.starts_with(bytes) {
                    return Ok(self.answer(slot.number, known.position));
                }
            }
            i = (i + 1) & mask;
        }
    }

    fn answer(&self, number: u32, position: u32) -> u32 {
        match self.source.answer {
            Answer::Position => position,
            Answer::Number => number,
        }
    }

    fn add(&mut self, slot: usize, tag: u32, piece: &Piece<'a>) -> Result<u32, TooLarge> {
        let layout = self.source.layout;
        let padded = layout.strings && layout.align > layout.entsize;
        let len = if padded { layout.string_end(piece.bytes, 0) } else { piece.bytes.len() };
        let position = (self.end as usize).next_multiple_of(layout.align);
        self.end = u32::try_from(position + len).map_err(|_| TooLarge)?;
        let (position, len) = (position as u32, len as u32);
        // Positions leave at least as much room for each piece as the copies take.
        let start = self.scratch.bytes.len() as u32;
        self.scratch.bytes.extend_from_slice(&piece.bytes[..len as usize]);
        self.scratch.known.push(Known { start, len, position });
        let number = self.scratch.entries.len() as u32;
        self.scratch.slots[slot] = Slot { tag, number };
        self.scratch.entries.push(Entry { input: piece.input, offset: piece.offset, len, position });
        if self.scratch.entries.len() * 2 > self.scratch.slots.len() {
            self.grow();
        }
        Ok(self.answer(number, position))
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.scratch.slots.len() * 2;
        let old = std::mem::replace(&mut self.scratch.slots, vec![FREE; len]);
        for slot in old.into_iter().filter(|slot| slot.number != FREE.number) {
            let mut i = slot.tag as usize & (len - 1);
            while self.scratch.slots[i].number != FREE.number {
                i = (i + 1) & (len - 1);
            }
            self.scratch.slots[i] = slot;
        }
    }
}
