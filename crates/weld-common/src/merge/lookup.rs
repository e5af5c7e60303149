//! Phase 3: from an offset in an input to the position of its piece in the output.
//!
//! For constants a division (a shift, if the size is a power of two) finds the piece. For strings
//! a sampled index gives, for each block of a segment, the first piece that starts in it; a block
//! holds eight pieces on average, and a binary search among them finds the one. Budget: three
//! dependent loads, about 20 instructions.

use super::split::{self, Segment, Split};
use super::{Body, Layout, Merged};

/// A segment with its way from offsets to pieces.
#[derive(Clone, Copy)]
struct Part {
    segment: Segment,
    task: u32,
    /// Where the segment's samples start in the task's.
    samples: u32,
    /// Block size as a power of two, in bytes.
    block_bits: u32,
}

/// What is kept of a task: 8 bytes a string, 4 a constant, and the samples.
pub(super) struct Places {
    /// Where each piece starts in its input; empty for constants.
    offsets: Box<[u32]>,
    /// Where it went in the output.
    positions: Box<[u32]>,
    samples: Box<[u32]>,
    parts: Vec<(Segment, u32, u32)>,
}

pub(super) struct Lookup {
    tasks: Vec<Places>,
    parts: Vec<Part>,
    /// The parts of input `i` are `first_part[i]..first_part[i + 1]`.
    first_part: Vec<u32>,
    entsize: u32,
    /// Log2 of `entsize` if it is a power of two.
    entsize_bits: Option<u32>,
}

/// The strings of one part.
#[derive(Clone, Copy)]
struct Strings<'l> {
    /// Byte range in the input.
    start: u32,
    end: u32,
    block_bits: u32,
    offsets: &'l [u32],
    positions: &'l [u32],
    /// Those of later parts are after its own.
    samples: &'l [u32],
}

impl Strings<'_> {
    /// The output position of an input's byte, which is in this part or at its very end.
    #[inline(always)]
    fn find(&self, offset: u32) -> Option<u64> {
        let block = ((offset - self.start) >> self.block_bits) as usize;
        let (low, high) = (self.samples[block] as usize, self.samples[block + 1] as usize);
        let piece = (low + self.offsets[low..high].partition_point(|&o| o <= offset)).checked_sub(1)?;
        Some(u64::from(self.positions[piece]) + u64::from(offset - self.offsets[piece]))
    }
}

/// One input of a merged section, for many questions in a row: where its bytes went.
pub struct Pieces<'m> {
    merged: &'m Merged<'m>,
    input: usize,
    /// The part that was asked about last, if it has strings.
    last: Option<Strings<'m>>,
}

impl<'m> Pieces<'m> {
    pub(super) fn new(merged: &'m Merged<'m>, input: usize) -> Pieces<'m> {
        Pieces { merged, input, last: None }
    }

    /// The same as [`Merged::output_offset`]. Relocations of debug information ask here, by the million.
    #[inline(always)]
    pub fn output_offset(&mut self, offset: u64) -> Option<u64> {
        match &self.last {
            Some(last) if offset >= u64::from(last.start) && offset < u64::from(last.end) => {
                last.find(offset as u32)
            }
            _ => self.elsewhere(offset),
        }
    }

    #[inline(never)]
    fn elsewhere(&mut self, offset: u64) -> Option<u64> {
        if let Body::Merged { lookup, .. } = &self.merged.body
            && self.merged.strings
            && offset < self.merged.inputs.get(self.input)?.len() as u64
        {
            self.last = lookup.part(self.input, offset as u32).map(|part| lookup.strings(part));
        }
        self.merged.output_offset(self.input, offset)
    }
}

/// Phase 3 for one task: `position(shard, value)` is the output position of a record.
pub(super) fn place(split: Split, strings: bool, position: impl Fn(usize, u32) -> u32) -> Places {
    let mut positions = vec![0u32; split.records.len() + split.repeats.len()].into_boxed_slice();
    let mut records = split.records.iter();
    for (shard, &count) in split.counts.iter().enumerate() {
        for record in records.by_ref().take(count as usize) {
            positions[record.piece as usize] = position(shard, record.value);
        }
    }
    for &(piece, earlier) in &split.repeats {
        positions[piece as usize] = positions[earlier as usize];
    }
    indexed(split.segments, split.offsets, positions, strings)
}

/// The same for pieces that have been merged before: `find` knows where each went. `None` if it does not.
pub(super) fn find_again(
    split: Split,
    layout: &Layout,
    inputs: &[&[u8]],
    find: &mut impl FnMut(&[u8]) -> Option<u32>,
) -> Option<Places> {
    let mut positions = Vec::new();
    for segment in &split.segments {
        let pieces = pieces_of(segment, &split.offsets, layout.strings, layout.entsize);
        for (start, size) in pieces {
            let data = inputs[segment.input as usize];
            positions.push(find(whole_piece(data, start, size, layout.entsize))?);
        }
    }
    Some(indexed(split.segments, split.offsets, positions.into(), layout.strings))
}

/// Where each piece of a segment starts, and its size, unless it is a string.
fn pieces_of(
    segment: &Segment,
    offsets: &[u32],
    strings: bool,
    entsize: usize,
) -> impl Iterator<Item = (usize, Option<usize>)> {
    let (first, start) = (segment.first as usize, segment.start as usize);
    (0..segment.count as usize).map(move |i| match strings {
        true => (offsets[first + i] as usize, None),
        false => (start + i * entsize, Some(entsize)),
    })
}

/// The bytes of the piece at `start`: so many, or those of a string with its terminator.
fn whole_piece(data: &[u8], start: usize, size: Option<usize>, entsize: usize) -> &[u8] {
    let end = size.map_or_else(|| split::string_end(entsize, data, start), |size| start + size);
    &data[start..end]
}

/// Makes pieces with their positions ready to be looked up.
fn indexed(segments: Vec<Segment>, offsets: Box<[u32]>, positions: Box<[u32]>, strings: bool) -> Places {
    let mut samples = Vec::new();
    let mut parts = Vec::with_capacity(segments.len());
    for segment in segments {
        let first_sample = samples.len() as u32;
        let bytes = segment.end - segment.start;
        let block_bits = (u64::from(bytes) * 8 / u64::from(segment.count.max(1))).max(8).ilog2();
        if strings {
            let pieces = &offsets[segment.first as usize..][..segment.count as usize];
            sample(&mut samples, pieces, segment, block_bits);
        }
        parts.push((segment, first_sample, block_bits));
    }
    Places { offsets, positions, samples: samples.into(), parts }
}

/// For each block, and for the end of the last: how many pieces start before it.
fn sample(samples: &mut Vec<u32>, pieces: &[u32], segment: Segment, block_bits: u32) {
    let blocks = ((segment.end - segment.start) >> block_bits) + 1;
    let mut piece = 0;
    for block in 0..=u64::from(blocks) {
        let block_start = u64::from(segment.start) + (block << block_bits);
        while pieces.get(piece).is_some_and(|&offset| u64::from(offset) < block_start) {
            piece += 1;
        }
        samples.push(piece as u32);
    }
}

impl Lookup {
    /// Joins what the tasks kept; `inputs` is the number of inputs.
    pub fn new(layout: &Layout, inputs: usize, mut tasks: Vec<Places>) -> Lookup {
        let mut parts = Vec::new();
        let mut first_part = Vec::with_capacity(inputs + 1);
        for (task, places) in tasks.iter_mut().enumerate() {
            for (segment, samples, block_bits) in std::mem::take(&mut places.parts) {
                while first_part.len() <= segment.input as usize {
                    first_part.push(parts.len() as u32);
                }
                parts.push(Part { segment, task: task as u32, samples, block_bits });
            }
        }
        first_part.resize(inputs + 1, parts.len() as u32);
        let entsize = layout.entsize as u32;
        let entsize_bits = entsize.is_power_of_two().then(|| entsize.trailing_zeros());
        Lookup { tasks, parts, first_part, entsize, entsize_bits }
    }

    /// Hands each piece of each input to `take`, with where it went.
    pub fn each_piece<'a>(&self, inputs: &[&'a [u8]], strings: bool, take: &mut impl FnMut(&'a [u8], u64)) {
        let entsize = self.entsize as usize;
        for Part { segment, task, .. } in &self.parts {
            let task = &self.tasks[*task as usize];
            let positions = &task.positions[segment.first as usize..];
            let pieces = pieces_of(segment, &task.offsets, strings, entsize);
            for ((start, size), position) in pieces.zip(positions) {
                let data = inputs[segment.input as usize];
                take(whole_piece(data, start, size, entsize), u64::from(*position));
            }
        }
    }

    /// Where the pieces of an input went, part by part.
    pub fn positions(&self, input: usize) -> impl Iterator<Item = &[u32]> {
        let bounds = self.first_part.get(input).zip(self.first_part.get(input + 1));
        let parts = bounds.map_or(0..0, |(first, end)| *first as usize..*end as usize);
        self.parts[parts].iter().map(|Part { segment, task, .. }| {
            let first = segment.first as usize;
            &self.tasks[*task as usize].positions[first..first + segment.count as usize]
        })
    }

    /// The part of an input in which a byte is; `offset` is not beyond the input's end.
    fn part(&self, input: usize, offset: u32) -> Option<&Part> {
        match &self.parts[self.first_part[input] as usize..self.first_part[input + 1] as usize] {
            [] => None,
            [part] => Some(part),
            parts => Some(&parts[parts.partition_point(|p| p.segment.start <= offset).saturating_sub(1)]),
        }
    }

    fn strings(&self, part: &Part) -> Strings<'_> {
        let task = &self.tasks[part.task as usize];
        let Segment { start, end, first, count, .. } = part.segment;
        let pieces = first as usize..first as usize + count as usize;
        Strings {
            start,
            end,
            block_bits: part.block_bits,
            offsets: &task.offsets[pieces.clone()],
            positions: &task.positions[pieces],
            samples: &task.samples[part.samples as usize..],
        }
    }

    /// The output position of an input's byte; `offset` is not beyond the input's end.
    pub fn find(&self, input: usize, offset: u32, strings: bool) -> Option<u64> {
        let part = self.part(input, offset)?;
        if strings {
            self.strings(part).find(offset)
        } else {
            let task = &self.tasks[part.task as usize];
            let within = offset - part.segment.start;
            let first = part.segment.first as usize;
            let piece = match self.entsize_bits {
                Some(bits) => within >> bits,
                None => within / self.entsize,
            };
            let piece = piece.min(part.segment.count - 1);
            let distance = within - piece * self.entsize;
            Some(u64::from(task.positions[first + piece as usize]) + u64::from(distance))
        }
    }

    /// Heap memory in bytes.
    #[cfg(test)]
    pub fn memory(&self) -> usize {
        let of_task = |t: &Places| 4 * (t.offsets.len() + t.positions.len() + t.samples.len());
        self.tasks.iter().map(of_task).sum::<usize>()
            + size_of::<Part>() * self.parts.len()
            + 4 * self.first_part.len()
    }
}
