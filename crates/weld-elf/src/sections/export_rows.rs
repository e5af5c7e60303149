//! Room in the tables for the loader for names that a link does not export, so that a later one that relinks
//! ([`crate::relink`]) may export them.
//!
//! `.gnu.hash` wants the names of a bucket side by side in `.dynsym`. So each bucket has a *run* of rows there, of
//! which the last ones are spare; a name that comes takes one in the run of its bucket, and one that goes leaves its own.
//! No other name moves, so numbers of symbols in relocations and `.gnu.version` are what they were. A spare row is a
//! symbol that loaders look up for nobody: a file without a name. `.hash` does not have it, and no hash that a bucket
//! leads to is one of a name's. Behind the names in `.dynstr` is room for more, and a name that goes leaves zeroes.
//!
//! Here is how much room there is, for who makes the whole image and for who relinks.

use std::collections::HashMap;
use std::ops::Range;

/// Names for which there is a run of rows, and how many of these are spare, in a run and in all.
const NAMES: usize = 32;
const SPARE: u32 = 8;
const FEWEST: u32 = 64;

/// How many runs of rows there are for so many names.
pub fn runs(names: usize) -> u32 {
    u32::try_from(names / NAMES).unwrap_or(u32::MAX).max(1)
}

/// How many spare rows each of so many runs has.
pub fn spare(runs: u32) -> u32 {
    (FEWEST / runs.max(1)).max(SPARE)
}

/// How many bytes are left for names behind those of so many bytes.
pub fn room_for_names(bytes: u64) -> u64 {
    (8 << 10) + bytes / 16
}

/// The rows of a link: the number of the first in `.dynsym`, how many there are, and where in `.dynstr` names are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub first: u32,
    pub count: u32,
    pub names: Range<u32>,
}

/// Whether there is room for more exported names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Room {
    #[default]
    None,
    New,
    /// They are where they were in another link.
    Last(LastRows),
}

/// The rows of a link that is to be made once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRows {
    /// Each with its name, and where that is in `.dynstr`.
    pub rows: Vec<Option<(Vec<u8>, u32)>>,
    /// Where runs start, and where names end.
    pub runs: Vec<u32>,
    pub names_end: u32,
}

impl LastRows {
    /// The rows of each name, the first one last.
    pub fn by_name(&self) -> HashMap<&[u8], Vec<u32>> {
        let mut rows: HashMap<&[u8], Vec<u32>> = HashMap::new();
        for (row, known) in self.rows.iter().enumerate().rev() {
            if let Some((name, _)) = known {
                rows.entry(name).or_default().push(row as u32);
            }
        }
        rows
    }
}
