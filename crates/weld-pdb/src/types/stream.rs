//! The streams of types (TPI) and ids (IPI), and the streams of their hashes.
//!
//! A stream is a header of 56 bytes and the records. Beside it is one with the bucket of each record, and
//! with the places of records every 8 KiB. Pieces of it are made by themselves, in any order: records are
//! copied from where they are in the object, with the numbers that they have in the PDB, and their buckets
//! are found while they are in the cache.
//!
//! Facts: LLVM's documentation of the TPI and IPI streams.

use super::number::{Piece, Stream};
use super::{ID, Types, tpi_hash};
use crate::codeview::records::{self, HEADER};
use crate::codeview::{FIRST_INDEX, Space, leaf, u32_at};
use crate::put::{put_u16, put_u32};

/// Bytes in front of the records.
pub const HEADER_SIZE: usize = 56;

const VERSION: u32 = 2004_0203;

/// Bytes of a record's bucket in the stream of hashes.
pub const HASH_SIZE: usize = 4;

impl Types<'_> {
    pub fn stream(&self, space: Space) -> &Stream {
        &self.numbered.streams[space as usize]
    }

    /// Bytes of a stream.
    pub fn stream_len(&self, space: Space) -> u32 {
        HEADER_SIZE as u32 + self.stream(space).bytes
    }

    /// Bytes of the stream with its hashes.
    pub fn hash_stream_len(&self, space: Space) -> u64 {
        let stream = self.stream(space);
        u64::from(stream.count) * HASH_SIZE as u64 + stream.skips.len() as u64 * 8
    }

    /// Where in the stream of hashes the places of records begin.
    pub fn skips_at(&self, space: Space) -> u64 {
        u64::from(self.stream(space).count) * HASH_SIZE as u64
    }

    /// The header of a stream. Its hashes are in the stream with the number `hash_stream`.
    pub fn header(&self, space: Space, hash_stream: u16) -> [u8; HEADER_SIZE] {
        let stream = self.stream(space);
        header(stream.count, stream.bytes, stream.skips.len() as u32, hash_stream)
    }

    /// The places of records.
    pub fn write_skips(&self, space: Space, out: &mut [u8]) {
        for (out, &(number, at)) in out.chunks_exact_mut(8).zip(&self.stream(space).skips) {
            put_u32(out, 0, number);
            put_u32(out, 4, at);
        }
    }

    /// The records of a piece, and the bucket of each.
    pub fn write_piece(&self, space: Space, piece: &Piece, out: &mut [u8], buckets: &mut [u8]) {
        let source = &self.sources[piece.source as usize];
        let lookup = self.lookup_in(piece.source);
        let mut rest = out;
        let mut buckets = buckets.chunks_exact_mut(HASH_SIZE);
        let wanted = if space == Space::Id { ID } else { 0 };
        let winners = &source.winners[piece.winners.clone()];
        for winner in winners.iter().filter(|winner| source.indices[winner.record as usize] & ID == wanted) {
            let record = source.record(*winner);
            let (out, behind) = rest.split_at_mut(record.padded());
            rest = behind;
            records::copy_padded(record.bytes, out, true);
            // All was checked when the record was hashed.
            let _ = leaf::each_ref(record.kind, record.body(), |at, space| {
                let number = lookup.get(u32_at(record.body(), at)?, space).unwrap_or(0);
                put_u32(out, HEADER + at, number);
                Ok(())
            });
            if let Some(bucket) = buckets.next() {
                put_u32(bucket, 0, tpi_hash::bucket(out));
            }
        }
    }
}

/// The header of a stream with so many records, bytes of them, and places.
pub fn header(count: u32, bytes: u32, skips: u32, hash_stream: u16) -> [u8; HEADER_SIZE] {
    let (hashes, skips) = (count * HASH_SIZE as u32, skips * 8);
    let mut out = [0; HEADER_SIZE];
    let words = [VERSION, HEADER_SIZE as u32, FIRST_INDEX, FIRST_INDEX + count, bytes];
    words.iter().enumerate().for_each(|(i, &word)| put_u32(&mut out, 4 * i, word));
    put_u16(&mut out, 20, hash_stream);
    put_u16(&mut out, 22, 0xffff);
    put_u32(&mut out, 24, HASH_SIZE as u32);
    put_u32(&mut out, 28, tpi_hash::BUCKETS);
    // Hashes, places, and adjustments of hashes, of which there are none.
    for (i, (at, len)) in [(0, hashes), (hashes, skips), (hashes + skips, 0)].into_iter().enumerate() {
        put_u32(&mut out, 32 + 8 * i, at);
        put_u32(&mut out, 36 + 8 * i, len);
    }
    out
}
