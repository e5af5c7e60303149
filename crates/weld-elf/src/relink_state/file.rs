//! A state as a file.
//!
//! ```text
//!     magic, format, count of tables        8 + 4 + 4 bytes
//!     weld's version, weld's build          32 + 20
//!     for each table: offset, rows          8 + 8
//!     count of blocks                       8
//!     for each block: its check             8
//!     digest of all this                    20
//!     the tables, each at the start of a block
//! ```
//!
//! All numbers are little endian. Rows mean what they meant to the program that wrote them (kinds and flags
//! are numbers of its own), so a file is for the same build of the same version only; the caller says what
//! identifies a build. Each block of 4 KiB has its check, so that few rows can be read without the others.
//!
//! A reader believes nothing: what is damaged, of another format or another build is [`Unreadable`], and then
//! a whole link is the answer. What was read is not larger than a few times the file.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::par;

use super::State;
use super::check;
use super::rows::*;

const MAGIC: &[u8; 8] = b"weldlink";
const FORMAT: u32 = 8;
/// Bytes for the version.
const VERSION: usize = 32;
/// Bytes of a table's entry, and before the first.
const ENTRY: usize = 8 + 8;
const HEAD: usize = 8 + 4 + 4 + VERSION + DIGEST;
/// Bytes before the checks of blocks.
const FIXED: usize = HEAD + TABLES * ENTRY + 8;
const BLOCK: u64 = 4096;
/// How far a guess from nearby may be off, in rows.
const NEAR: u64 = 64;
const CHECK: usize = 8;

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

/// A row of a table, or a byte of the text.
pub trait Row: Field {
    /// The number of its table in the file.
    const TABLE: usize;
}

impl Row for ImageRow {
    const TABLE: usize = 0;
}

/// The tables after the first, in the order of the file: number, rows, and where a state has them.
macro_rules! tables {
    ($($number:literal $row:ident $table:ident,)*) => {
        const TABLES: usize = 1 + [$($number),*].len();

        $(impl Row for $row {
            const TABLE: usize = $number;
        })*

        impl State {
            /// The file's bytes. `build` is what identifies the program.
            pub fn write(&self, build: UnitDigest) -> Vec<u8> {
                let written = self.written(build, false);
                [&[&written.head[..]], &written.tables.iter().map(Vec::as_slice).collect::<Vec<_>>()[..]]
                    .concat()
                    .concat()
            }

            /// The same in parts.
            pub fn written(&self, build: UnitDigest, parallel: bool) -> Written {
                let tables: &[&(dyn Fn() -> Table + Sync)] =
                    &[&|| Table::of(&[self.image]), $(&|| Table::of(&self.$table)),*];
                let made = par::runs("tables of the state", parallel, tables.len(), 1, |run| {
                    tables[run].iter().map(|make| make()).collect::<Vec<_>>()
                });
                finish(made.into_iter().flatten().collect(), build)
            }

            /// Reads what `write` has written for the same `build`.
            ///
            /// # Errors
            /// Why it cannot be used.
            pub fn read(file: &[u8], build: UnitDigest) -> Result<State, Unreadable> {
                let file = StateFile::open(file, build)?;
                let state = State { image: file.row(0)?, $($table: file.all()?,)* };
                check::is_sound(&state).then_some(state).ok_or(Unreadable::Damaged)
            }
        }
    };
}

tables! {
    1 FileRow files,
    2 InputRow inputs,
    3 NameRow names,
    4 MentionRow mentions,
    5 ByName by_name,
    6 OutputRow outputs,
    7 SectionRow sections,
    8 PartRow parts,
    9 PieceRow pieces,
    10 GroupRow groups,
    11 CandidateRow candidates,
    12 SlotRow slots,
    13 ThunkRow thunks,
    14 OutlineRow outlines,
    15 u8 text,
    16 YardRow yards,
}

/// The version, padded.
fn version() -> [u8; VERSION] {
    let mut bytes = [0; VERSION];
    bytes.iter_mut().zip(env!("CARGO_PKG_VERSION").bytes()).for_each(|(to, from)| *to = from);
    bytes
}

fn check_of(block: &[u8]) -> [u8; CHECK] {
    UnitDigest::of(block).bytes().first_chunk().copied().unwrap_or_default()
}

/// The bytes that `head` and checks of `blocks` blocks take, up to the first block.
fn head_size(blocks: u64) -> u64 {
    (FIXED as u64 + blocks * CHECK as u64 + DIGEST as u64).next_multiple_of(BLOCK)
}

/// A table as it stands in the file: whole blocks.
struct Table {
    rows: u64,
    blocks: Vec<u8>,
    checks: Vec<[u8; CHECK]>,
}

impl Table {
    fn of<R: Row>(rows: &[R]) -> Table {
        let mut blocks = Vec::with_capacity((rows.len() * R::SIZE).next_multiple_of(BLOCK as usize));
        rows.iter().for_each(|row| row.put(&mut blocks));
        blocks.resize(blocks.len().next_multiple_of(BLOCK as usize), 0);
        let checks = blocks.chunks(BLOCK as usize).map(check_of).collect();
        Table { rows: rows.len() as u64, blocks, checks }
    }
}

/// The bytes of a state's file, part by part.
pub struct Written {
    pub head: Vec<u8>,
    pub tables: Vec<Vec<u8>>,
    /// What identifies the state.
    pub digest: UnitDigest,
}

fn finish(tables: Vec<Table>, build: UnitDigest) -> Written {
    assert_eq!(tables.len(), TABLES);
    let blocks: u64 = tables.iter().map(|table| table.checks.len() as u64).sum();
    let mut place = head_size(blocks);
    let mut out = Vec::with_capacity(place as usize);
    out.extend_from_slice(MAGIC);
    FORMAT.put(&mut out);
    (TABLES as u32).put(&mut out);
    out.extend_from_slice(&version());
    out.extend_from_slice(&build.bytes());
    for table in &tables {
        place.put(&mut out);
        table.rows.put(&mut out);
        place += table.blocks.len() as u64;
    }
    blocks.put(&mut out);
    tables.iter().for_each(|table| out.extend_from_slice(table.checks.as_flattened()));
    let digest = UnitDigest::of(&out);
    out.extend_from_slice(&digest.bytes());
    out.resize(head_size(blocks) as usize, 0);
    Written { head: out, tables: tables.into_iter().map(|table| table.blocks).collect(), digest }
}

/// The file of a state, of which rows are read as they are asked for, by all threads.
pub struct StateFile<'f> {
    bytes: &'f [u8],
    /// The first byte and the rows of each table.
    tables: Vec<(u64, u64)>,
    /// Where the blocks start, and their checks.
    start: u64,
    checks: &'f [[u8; CHECK]],
    /// Of the head, which has the checks of all else.
    digest: UnitDigest,
    /// Of each block, whether it has been found as it was written.
    known: Vec<AtomicBool>,
}

impl<'f> StateFile<'f> {
    /// Reads the head, of a file that this `build` has written.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn open(bytes: &'f [u8], build: UnitDigest) -> Result<StateFile<'f>, Unreadable> {
        let (fixed, rest) = bytes.split_at_checked(FIXED).ok_or(Unreadable::Foreign)?;
        let mut fields = fixed.strip_prefix(MAGIC).ok_or(Unreadable::Foreign)?;
        let mut is = |wanted: u32| Field::take(&mut fields) == Some(wanted);
        if !(is(FORMAT) && is(TABLES as u32)) {
            return Err(Unreadable::Foreign);
        }
        let (who, mut entries) = fields.split_at(VERSION + DIGEST);
        let mut number = || u64::take(&mut entries).ok_or(Unreadable::Damaged);
        let mut tables = Vec::with_capacity(TABLES);
        for _ in 0..TABLES {
            tables.push((number()?, number()?));
        }
        let (blocks, size) = (number()?, bytes.len() as u64);
        if blocks > size / BLOCK || head_size(blocks) + blocks * BLOCK != size {
            return Err(Unreadable::Damaged);
        }
        let start = head_size(blocks);
        let (checks, rest) = rest[..start as usize - FIXED].split_at(blocks as usize * CHECK);
        let (digest, padding) = rest.split_at(DIGEST);
        let head = UnitDigest::of(&bytes[..FIXED + checks.len()]);
        if head.bytes() != *digest || padding.iter().any(|&byte| byte != 0) {
            return Err(Unreadable::Damaged);
        }
        if who.strip_prefix(&version()) != Some(&build.bytes()) {
            return Err(Unreadable::OtherBuild);
        }
        let (checks, _) = checks.as_chunks();
        let known = checks.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(StateFile { bytes, tables, start, checks, digest: head, known })
    }

    /// What identifies the state: of all its bytes.
    pub fn digest(&self) -> UnitDigest {
        self.digest
    }

    /// How many rows a table has.
    pub fn count<R: Row>(&self) -> u64 {
        self.tables[R::TABLE].1
    }

    /// All rows of a table.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn all<R: Row>(&self) -> Result<Vec<R>, Unreadable> {
        self.rows(0..self.count::<R>())
    }

    /// One row of a table.
    ///
    /// # Errors
    /// If the file is damaged.
    #[inline]
    pub fn row<R: Row>(&self, row: u64) -> Result<R, Unreadable> {
        let (start, count) = self.tables[R::TABLE];
        if row >= count {
            return Err(Unreadable::Damaged);
        }
        let at = row.checked_mul(R::SIZE as u64).and_then(|at| at.checked_add(start));
        let mut bytes = at.and_then(|at| self.read(at, R::SIZE as u64)).ok_or(Unreadable::Damaged)?;
        R::take(&mut bytes).ok_or(Unreadable::Damaged)
    }

    /// Some rows of a table.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn rows<R: Row>(&self, range: Range<u64>) -> Result<Vec<R>, Unreadable> {
        let (start, count) = self.tables[R::TABLE];
        let rows = || -> Option<Vec<R>> {
            let size = R::SIZE as u64;
            let (first, last) = (range.start.checked_mul(size)?, range.end.checked_mul(size)?);
            let in_table = range.start <= range.end && range.end <= count;
            let mut rest = self.read(start.checked_add(first).filter(|_| in_table)?, last - first)?;
            (0..range.end - range.start).map(|_| R::take(&mut rest)).collect()
        };
        rows().ok_or(Unreadable::Damaged)
    }

    /// The sections of an input.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn sections_of(&self, input: &InputRow) -> Result<Vec<SectionRow>, Unreadable> {
        let first = u64::from(input.first_section);
        self.rows(first..first + u64::from(input.sections))
    }

    /// What an object mentions; other inputs have no rows for that.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn mentions_of(&self, input: &InputRow) -> Result<Vec<MentionRow>, Unreadable> {
        let count = match input.kind {
            input_kind::OBJECT => input.symbols.checked_sub(input.first_global).ok_or(Unreadable::Damaged)?,
            _ => 0,
        };
        let first = u64::from(input.first_mention);
        self.rows(first..first + u64::from(count))
    }

    /// The first of some rows of a table, which are in order, of which `is_before` does not hold; their end if there is
    /// none.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn partition_point<R: Row>(
        &self,
        range: Range<u64>,
        is_before: impl Fn(&R) -> bool,
    ) -> Result<u64, Unreadable> {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(&self.row(middle)?) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// The first of some rows that are in order by keys which is not below `wanted`. Keys are parts of hashes, so they are
    /// spread evenly: where one is can be guessed to about the root of how many there are, and from a row that is so near,
    /// to a few.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn spread_partition_point<R: Row>(
        &self,
        range: Range<u64>,
        key: impl Fn(&R) -> u32,
        wanted: u32,
    ) -> Result<u64, Unreadable> {
        let key_of = |row: u64| self.row::<R>(row).map(|row| key(&row));
        let count = range.end.saturating_sub(range.start);
        let (mut low, mut high) = (range.start, range.end);
        let away = |from: u32| (((i128::from(wanted) - i128::from(from)) * i128::from(count)) >> 32) as i64;
        let mut guess = range.start.saturating_add_signed(away(0));
        for _ in 0..2 {
            if !(low..high).contains(&guess) {
                break;
            }
            let there = key_of(guess)?;
            *if there < wanted { &mut low } else { &mut high } = guess + u64::from(there < wanted);
            guess = guess.saturating_add_signed(away(there));
        }
        for near in [guess.saturating_sub(NEAR), guess.saturating_add(NEAR)] {
            if (low..high).contains(&near) {
                let is_before = key_of(near)? < wanted;
                *if is_before { &mut low } else { &mut high } = near + u64::from(is_before);
            }
        }
        self.partition_point(low..high, |row: &R| key(row) < wanted)
    }

    /// Bytes of tables, of blocks that are as they were written.
    #[inline]
    fn read(&self, offset: u64, size: u64) -> Option<&'f [u8]> {
        let (at, end) = (offset.checked_sub(self.start)?, offset.checked_add(size)?);
        for number in at / BLOCK..(end - self.start).div_ceil(BLOCK) {
            let known = self.known.get(usize::try_from(number).ok()?)?;
            if !known.load(Ordering::Relaxed) {
                self.check(number)?;
                known.store(true, Ordering::Relaxed);
            }
        }
        self.bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
    }

    /// Looks at a block for the first time.
    #[cold]
    fn check(&self, number: u64) -> Option<()> {
        let start = usize::try_from(self.start + number * BLOCK).ok()?;
        let block = self.bytes.get(start..start + BLOCK as usize)?;
        (check_of(block) == *self.checks.get(number as usize)?).then_some(())
    }
}
