//! From the cells of the table to numbers in the PDB.
//!
//! Three loops over all lists. The first finds each list's winners and counts their bytes; sums of these over
//! the lists before it are its first number and the place of its first record. The second gives each winner's
//! cell its number, and cuts the streams into pieces that can be written by themselves. The third looks up
//! the number of every record. Only that one goes over all records.

use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::par;

use super::source::{self, Source, Winner};
use super::{ID, Lookup};
use crate::codeview::leaf::{self, LF_FUNC_ID, LF_MFUNC_ID};
use crate::codeview::{FIRST_INDEX, Space, u32_at};
use crate::unique::Unique;

/// Bytes of a piece, about.
const PIECE: u32 = 256 << 10;

/// How far apart places in a stream are that can be found without reading all before them.
pub const SKIP_DISTANCE: u32 = 8 << 10;

/// Cells asked for ahead of their use.
const AHEAD: usize = 24;

/// Whether a record of this size is such a place.
pub fn is_skip(at: u32, size: u32) -> bool {
    at == 0 || (at + size) / SKIP_DISTANCE > at / SKIP_DISTANCE
}

/// What the streams of types and of ids will hold.
pub struct Numbered {
    /// By [`Space`].
    pub streams: [Stream; 2],
    /// Of each id its function's type; 0 where it is no function's.
    pub function_types: Vec<u32>,
}

#[derive(Default)]
pub struct Stream {
    pub count: u32,
    /// Bytes of all records.
    pub bytes: u32,
    pub pieces: Vec<Piece>,
    /// Numbers of records, and where they are, each 8 KiB or a little more after the one before.
    pub skips: Vec<(u32, u32)>,
}

/// The winners among some records of a list, of one space.
#[derive(Clone, Debug)]
pub struct Piece {
    pub source: u32,
    /// These winners of the source, those of the other space among them.
    pub winners: Range<usize>,
    /// The number of the first winner, less 0x1000.
    pub first: u32,
    pub count: u32,
    /// Where it is among the bytes of all records.
    pub at: u32,
    pub size: u32,
}

/// Winners of a list, by [`Space`], or of all lists before it.
#[derive(Clone, Copy, Default)]
struct Amount {
    count: [u64; 2],
    bytes: [u64; 2],
}

pub fn number(sources: &mut [Source<'_>], unique: &Unique, parallel: bool) -> Result<Numbered, Diagnostic> {
    let mut amounts: Vec<Amount> = Vec::with_capacity(sources.len());
    let count = |first: usize, sources: &mut [Source<'_>]| -> Vec<Amount> {
        let sources = sources.iter_mut().enumerate();
        sources.map(|(i, source)| count(unique, source, first + i)).collect()
    };
    par::in_pieces("count types", parallel, (sources, 1), count, |some| amounts.extend(some));
    let (starts, total) = sums(&amounts);
    check(total)?;
    let shared = &*sources;
    let placed = par::runs("number types", parallel, shared.len(), 1, |range| {
        range.map(|i| place(unique, &shared[i], i, starts[i])).collect::<Vec<_>>()
    });
    let mut streams = [Stream::default(), Stream::default()];
    for one in placed.into_iter().flatten() {
        for (stream, one) in streams.iter_mut().zip(one) {
            stream.pieces.extend(one.pieces);
            stream.skips.extend(one.skips);
        }
    }
    for (space, stream) in streams.iter_mut().enumerate() {
        (stream.count, stream.bytes) = (total.count[space] as u32, total.bytes[space] as u32);
    }
    look_up(sources, unique, parallel);
    let function_types = function_types(sources, &streams[Space::Id as usize], parallel);
    Ok(Numbered { streams, function_types })
}

/// Sums of what is before each list, and of all.
fn sums(amounts: &[Amount]) -> (Vec<Amount>, Amount) {
    let mut sum = Amount::default();
    let mut starts = Vec::with_capacity(amounts.len());
    for amount in amounts {
        starts.push(sum);
        for space in 0..2 {
            sum.count[space] += amount.count[space];
            sum.bytes[space] += amount.bytes[space];
        }
    }
    (starts, sum)
}

/// Offsets in a stream have 32 bits; the numbers of records share theirs with two flags.
fn check(total: Amount) -> Result<(), Diagnostic> {
    let most_bytes = u64::from(u32::MAX) - 0x1_0000;
    let most_records = u64::from(ID - FIRST_INDEX);
    for (count, bytes) in total.count.into_iter().zip(total.bytes) {
        if bytes > most_bytes || count > most_records {
            let text =
                format!("too many types for a PDB: {count} records of {bytes} bytes, of which 4 GiB fit");
            return Err(Diagnostic::error(Cause::PdbLimit, text));
        }
    }
    Ok(())
}

/// Finds the winners of a list.
fn count(unique: &Unique, source: &mut Source<'_>, i: usize) -> Amount {
    let base = (i as u64) << 32;
    let (candidates, offsets) = (std::mem::take(&mut source.candidates), std::mem::take(&mut source.offsets));
    let mut amount = Amount::default();
    source.winners.reserve(candidates.len());
    for (n, &record) in candidates.iter().enumerate() {
        if let Some(&later) = candidates.get(n + AHEAD) {
            unique.prefetch_cell(source.indices[later as usize]);
        }
        if unique.first(source.indices[record as usize]) != base | u64::from(record) {
            continue;
        }
        let winner = Winner { record, at: offsets[record as usize] };
        source.winners.push(winner);
        let record = source.record(winner);
        let space = leaf::space(record.kind) as usize;
        amount.count[space] += 1;
        amount.bytes[space] += record.padded() as u64;
    }
    amount
}

/// Numbers the winners of a list and cuts them into pieces.
fn place(unique: &Unique, source: &Source<'_>, i: usize, start: Amount) -> [Stream; 2] {
    let mut streams = [Stream::default(), Stream::default()];
    let mut open: [Piece; 2] = std::array::from_fn(|space| Piece {
        source: i as u32,
        winners: 0..0,
        first: start.count[space] as u32,
        count: 0,
        at: start.bytes[space] as u32,
        size: 0,
    });
    for (i, &winner) in source.winners.iter().enumerate() {
        let record = source.record(winner);
        let space = leaf::space(record.kind) as usize;
        let (stream, piece) = (&mut streams[space], &mut open[space]);
        if piece.count == 0 {
            piece.winners.start = i;
        }
        let (number, at) = (FIRST_INDEX + piece.first + piece.count, piece.at + piece.size);
        let cell = source.indices[winner.record as usize];
        unique.set_number(cell, number | if space == Space::Id as usize { ID } else { 0 });
        let size = record.padded() as u32;
        if is_skip(at, size) {
            stream.skips.push((number, at));
        }
        piece.count += 1;
        piece.size += size;
        piece.winners.end = i + 1;
        if piece.size >= PIECE {
            let (first, at) = (piece.first + piece.count, piece.at + piece.size);
            let next = Piece { winners: 0..0, first, count: 0, at, size: 0, ..*piece };
            stream.pieces.push(std::mem::replace(piece, next));
        }
    }
    for (stream, piece) in streams.iter_mut().zip(open) {
        if piece.count > 0 {
            stream.pieces.push(piece);
        }
    }
    streams
}

/// Replaces the number of each record's cell by its number in the PDB.
fn look_up(sources: &mut [Source<'_>], unique: &Unique, parallel: bool) {
    let one = |source: &mut Source<'_>| {
        let cells = &mut source.indices;
        for record in 0..cells.len() {
            if let Some(&later) = cells.get(record + AHEAD) {
                unique.prefetch_cell(later);
            }
            cells[record] = unique.number(cells[record]);
        }
    };
    let some = |_, sources: &mut [Source<'_>]| sources.iter_mut().for_each(one);
    par::in_pieces("look up types", parallel, (sources, 1), some, |()| ());
}

/// For symbols of procedures, which name an id in objects and a type in PDBs.
fn function_types(sources: &[Source<'_>], ids: &Stream, parallel: bool) -> Vec<u32> {
    let made = par::runs("types of functions", parallel, ids.pieces.len(), 1, |range| {
        let pieces = &ids.pieces[range];
        let mut types = Vec::with_capacity(pieces.iter().map(|piece| piece.count as usize).sum());
        for piece in pieces {
            let lookup = source::lookup(sources, piece.source);
            let source = &sources[piece.source as usize];
            let winners = source.winners[piece.winners.clone()].iter();
            let ids = winners.filter(|winner| source.indices[winner.record as usize] & ID != 0);
            let records = ids.map(|winner| source.record(*winner));
            types.extend(records.map(|record| function_type(record.kind, record.body(), lookup)));
        }
        types
    });
    par::concat("types of functions", parallel, made)
}

fn function_type(kind: u16, body: &[u8], lookup: Lookup<'_>) -> u32 {
    match kind {
        LF_FUNC_ID | LF_MFUNC_ID => {
            u32_at(body, 4).ok().and_then(|index| lookup.get(index, Space::Type)).unwrap_or(0)
        }
        _ => 0,
    }
}
