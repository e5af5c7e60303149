//! Tables that the linker makes of what objects bring (exception frames, symbols and their names): which bytes
//! are for which object.

use crate::elf::*;
use crate::ids::*;
use crate::layout::{Chunk, ChunkKind};
use crate::report::Made;
use crate::synth::image::Image;

/// Bytes of a part that are for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// In the part.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    pub object: ObjectId,
}

/// The shares of a part, in order; what no share has is nobody's.
pub fn of(chunk: &Chunk, image: &Image, made: &Made) -> Vec<Share> {
    let mut shares = match chunk.kind {
        ChunkKind::EhFrame => frames(made),
        ChunkKind::SymTab => symbols(made, image.format().size::<Sym>()),
        ChunkKind::StrTab => names(made),
        _ => Vec::new(),
    };
    shares.retain(|share| share.size > 0);
    shares.sort_by_key(|share| share.offset);
    shares
}

/// The records of each object go on to those of the next; behind the last is the terminator.
fn frames(made: &Made) -> Vec<Share> {
    const TERMINATOR: u64 = 4;
    let starts: Vec<(ObjectId, u64)> = made.frames.starts().collect();
    let ends = starts.iter().skip(1).map(|(_, start)| *start);
    let ends = ends.chain([made.frames.size.saturating_sub(TERMINATOR)]);
    let share = |(&(object, offset), end): (&(ObjectId, u64), u64)| Share {
        offset,
        size: end.saturating_sub(offset),
        object,
    };
    starts.iter().zip(ends).map(share).collect()
}

/// Each object has a run of local symbols and one of global ones.
fn symbols(made: &Made, size: u64) -> Vec<Share> {
    let ranges = made.symtab.into_iter().flat_map(|symtab| symtab.ranges());
    let share = |object, from: u32, to: u32| Share {
        offset: u64::from(from) * size,
        size: u64::from(to.saturating_sub(from)) * size,
        object,
    };
    ranges
        .flat_map(|(object, [from, to])| {
            [share(object, from.locals, to.locals), share(object, from.globals, to.globals)]
        })
        .collect()
}

fn names(made: &Made) -> Vec<Share> {
    let ranges = made.symtab.into_iter().flat_map(|symtab| symtab.ranges());
    let share = |(object, [from, to]): (ObjectId, [crate::synth::symtab::Range; 2])| Share {
        offset: from.strings,
        size: to.strings.saturating_sub(from.strings),
        object,
    };
    ranges.map(share).collect()
}
