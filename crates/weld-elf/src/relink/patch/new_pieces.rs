//! Merged strings and constants that no object had: they go behind those of their part, where it has room.
//!
//! Objects are looked at one after the other for that, so each piece is added once, and always in the same place.

use std::collections::HashMap;

use crate::relink::memo::AddedPiece;
use crate::relink_state::rewrite_section::{Added, Write};

#[derive(Default)]
pub struct NewPieces {
    /// Whether pieces may be added.
    pub is_open: bool,
    pub rows: Vec<AddedPiece>,
    /// The bytes, where they go.
    pub writes: Vec<Write>,
    known: HashMap<(u32, Vec<u8>), u32>,
}

impl NewPieces {
    /// Where a piece goes that is not in the output; `last` are those that were added before. `None` if there is
    /// no room.
    pub fn add(&mut self, last: &[AddedPiece], part: u32, piece: &Added) -> Option<u32> {
        if !self.is_open {
            return None;
        }
        if let Some(known) = self.known.get(&(part, piece.bytes.to_vec())) {
            return Some(*known);
        }
        let before = last.iter().chain(&self.rows).filter(|row| row.part == part);
        let ends = before.map(|row| u64::from(row.offset) + u64::from(row.size));
        let end = ends.chain([piece.part.used]).max()?;
        let at = end.checked_next_multiple_of(u64::from(piece.part.align.max(1)))?;
        let size = piece.bytes.len() as u64;
        let offset = u32::try_from(at).ok().filter(|_| at + size <= piece.part.size)?;
        self.rows.push(AddedPiece { part, tag: piece.tag, offset, size: size as u32 });
        self.writes.push((piece.start.checked_add(at)?, piece.bytes.to_vec()));
        self.known.insert((part, piece.bytes.to_vec()), offset);
        Some(offset)
    }
}
