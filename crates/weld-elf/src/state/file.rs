//! A state as a file.
//!
//! ```text
//!     magic, format, count of tables        8 + 4 + 4 bytes
//!     weld's version, weld's build          32 + 20
//!     for each table: offset, rows, digest  8 + 8 + 20
//!     digest of all this                    20
//!     the tables
//! ```
//!
//! All numbers are little endian. Rows mean what they meant to the program that wrote them (kinds and flags
//! are numbers of its own), so a file is for the same build of the same version only; the caller says what
//! identifies a build. Each table has its digest, so that one could be read without the others.
//!
//! A reader believes nothing: what is damaged, of another format or another build is [`Unreadable`], and then
//! a whole link is the answer. What was read is not larger than a few times the file.

use std::fmt;

use weld_common::digest::{SIZE as DIGEST, UnitDigest};

use super::State;
use super::check;
use super::rows::*;

const MAGIC: &[u8; 8] = b"weldlink";
const FORMAT: u32 = 1;
/// Bytes for the version.
const VERSION: usize = 32;
const TABLES: usize = 15;
/// Bytes of a table's entry, and before the first.
const ENTRY: usize = 8 + 8 + DIGEST;
const HEAD: usize = 8 + 4 + 4 + VERSION + DIGEST;

/// Why a state cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is none, or of another format.
    Foreign,
    /// Another version or build of weld wrote it.
    OtherBuild,
    Damaged,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreadable::Foreign => "is no state of a link in a known format",
            Unreadable::OtherBuild => "was written by another weld",
            Unreadable::Damaged => "is damaged",
        })
    }
}

impl std::error::Error for Unreadable {}

/// The version, padded.
fn version() -> [u8; VERSION] {
    let mut bytes = [0; VERSION];
    bytes.iter_mut().zip(env!("CARGO_PKG_VERSION").bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// A table as it is in the file, with the count of its rows.
struct Table {
    rows: u64,
    bytes: Vec<u8>,
}

impl Table {
    fn of<R: Field>(rows: &[R]) -> Table {
        let mut bytes = Vec::with_capacity(rows.len() * R::SIZE);
        rows.iter().for_each(|row| row.put(&mut bytes));
        Table { rows: rows.len() as u64, bytes }
    }
}

impl State {
    /// The file's bytes. `build` is what identifies the program.
    pub fn write(&self, build: UnitDigest) -> Vec<u8> {
        let tables: [Table; TABLES] = [
            Table::of(&[self.image]),
            Table::of(&self.files),
            Table::of(&self.inputs),
            Table::of(&self.names),
            Table::of(&self.mentions),
            Table::of(&self.by_name),
            Table::of(&self.outputs),
            Table::of(&self.sections),
            Table::of(&self.parts),
            Table::of(&self.pieces),
            Table::of(&self.groups),
            Table::of(&self.candidates),
            Table::of(&self.slots),
            Table::of(&self.thunks),
            Table { rows: self.text.len() as u64, bytes: self.text.clone() },
        ];
        let mut out = MAGIC.to_vec();
        FORMAT.put(&mut out);
        (TABLES as u32).put(&mut out);
        out.extend_from_slice(&version());
        out.extend_from_slice(&build.bytes());
        let mut offset = (HEAD + TABLES * ENTRY + DIGEST) as u64;
        for table in &tables {
            offset.put(&mut out);
            table.rows.put(&mut out);
            out.extend_from_slice(&UnitDigest::of(&table.bytes).bytes());
            offset += table.bytes.len() as u64;
        }
        let digest = UnitDigest::of(&out);
        out.extend_from_slice(&digest.bytes());
        tables.iter().for_each(|table| out.extend_from_slice(&table.bytes));
        out
    }

    /// Reads what `write` has written for the same `build`.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(file: &[u8], build: UnitDigest) -> Result<State, Unreadable> {
        let mut tables = Reader::new(file, build)?;
        let state = State {
            image: *tables.rows()?.first().ok_or(Unreadable::Damaged)?,
            files: tables.rows()?,
            inputs: tables.rows()?,
            names: tables.rows()?,
            mentions: tables.rows()?,
            by_name: tables.rows()?,
            outputs: tables.rows()?,
            sections: tables.rows()?,
            parts: tables.rows()?,
            pieces: tables.rows()?,
            groups: tables.rows()?,
            candidates: tables.rows()?,
            slots: tables.rows()?,
            thunks: tables.rows()?,
            text: tables.rows()?,
        };
        if tables.ends() && check::is_sound(&state) { Ok(state) } else { Err(Unreadable::Damaged) }
    }
}

/// Reads one table after the other.
struct Reader<'f> {
    file: &'f [u8],
    /// The entries of tables to come.
    entries: &'f [u8],
    /// Where the next begins.
    offset: u64,
}

impl<'f> Reader<'f> {
    fn new(file: &'f [u8], build: UnitDigest) -> Result<Reader<'f>, Unreadable> {
        let (head, rest) = file.split_at_checked(HEAD).ok_or(Unreadable::Foreign)?;
        let mut fields = head.strip_prefix(MAGIC).ok_or(Unreadable::Foreign)?;
        let mut is = |wanted: u32| Field::take(&mut fields) == Some(wanted);
        if !(is(FORMAT) && is(TABLES as u32)) {
            return Err(Unreadable::Foreign);
        }
        let (entries, rest) = rest.split_at_checked(TABLES * ENTRY).ok_or(Unreadable::Damaged)?;
        let digest = rest.first_chunk().ok_or(Unreadable::Damaged)?;
        if UnitDigest::of(&file[..HEAD + TABLES * ENTRY]).bytes() != *digest {
            return Err(Unreadable::Damaged);
        }
        if fields.strip_prefix(&version()) != Some(&build.bytes()) {
            return Err(Unreadable::OtherBuild);
        }
        Ok(Reader { file, entries, offset: (HEAD + TABLES * ENTRY + DIGEST) as u64 })
    }

    /// The rows of the next table.
    fn rows<R: Field>(&mut self) -> Result<Vec<R>, Unreadable> {
        self.next_table().ok_or(Unreadable::Damaged)
    }

    fn next_table<R: Field>(&mut self) -> Option<Vec<R>> {
        let (offset, count) = (u64::take(&mut self.entries)?, u64::take(&mut self.entries)?);
        let (digest, entries) = self.entries.split_first_chunk()?;
        self.entries = entries;
        // Tables leave no room between them, so none is read twice.
        let size = count.checked_mul(R::SIZE as u64)?;
        let end = offset.checked_add(size).filter(|_| offset == self.offset)?;
        self.offset = end;
        let mut bytes = self.file.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?;
        if UnitDigest::of(bytes).bytes() != *digest {
            return None;
        }
        (0..count).map(|_| R::take(&mut bytes)).collect()
    }

    /// Whether the last table reaches to the end of the file.
    fn ends(&self) -> bool {
        self.entries.is_empty() && self.offset == self.file.len() as u64
    }
}
