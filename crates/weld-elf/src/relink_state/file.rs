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

use std::cell::OnceCell;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;

use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::io::spare;
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
                let file = StateFile::open(&file, build)?;
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

/// Where a state is read from.
pub trait Bytes {
    fn size(&self) -> io::Result<u64>;
    /// Fills `bytes` with what is at `offset`.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
}

impl Bytes for &[u8] {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let there = usize::try_from(offset).ok().and_then(|at| self.get(at..)?.get(..bytes.len()));
        bytes.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Bytes for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        spare::read_exact_at(self, bytes, offset)
    }
}

/// The file of a state, of which rows are read as they are asked for.
pub struct StateFile<'f> {
    bytes: &'f dyn Bytes,
    /// The first byte and the rows of each table.
    tables: Vec<(u64, u64)>,
    /// Where the blocks start, and their checks.
    start: u64,
    checks: Vec<[u8; CHECK]>,
    /// Of the head, which has the checks of all else.
    digest: UnitDigest,
    /// Blocks that have been read.
    known: Vec<OnceCell<Box<[u8]>>>,
}

impl<'f> StateFile<'f> {
    /// Reads the head, of a file that this `build` has written.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn open(bytes: &'f dyn Bytes, build: UnitDigest) -> Result<StateFile<'f>, Unreadable> {
        let read = |offset, size: usize| {
            let mut read = vec![0; size];
            bytes.read_at(offset, &mut read).map(|()| read)
        };
        let size = bytes.size().map_err(|_| Unreadable::Damaged)?;
        let fixed = read(0, FIXED).map_err(|_| Unreadable::Foreign)?;
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
        let blocks = number()?;
        if blocks > size / BLOCK || head_size(blocks) + blocks * BLOCK != size {
            return Err(Unreadable::Damaged);
        }
        let rest = head_size(blocks) as usize - FIXED;
        let rest = read(FIXED as u64, rest).map_err(|_| Unreadable::Damaged)?;
        let (checks, rest) = rest.split_at(blocks as usize * CHECK);
        let (digest, padding) = rest.split_at(DIGEST);
        let head = UnitDigest::of(&[&fixed, checks].concat());
        if head.bytes() != *digest || padding.iter().any(|&byte| byte != 0) {
            return Err(Unreadable::Damaged);
        }
        if who.strip_prefix(&version()) != Some(&build.bytes()) {
            return Err(Unreadable::OtherBuild);
        }
        let (checks, start) = (checks.as_chunks().0.to_vec(), head_size(blocks));
        let known = vec![OnceCell::new(); checks.len()];
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
    pub fn row<R: Row>(&self, row: u64) -> Result<R, Unreadable> {
        let (start, count) = self.tables[R::TABLE];
        if row >= count {
            return Err(Unreadable::Damaged);
        }
        let mut buffer = [0; 256];
        let bytes = &mut buffer[..R::SIZE];
        let at = row.checked_mul(R::SIZE as u64).and_then(|at| at.checked_add(start));
        self.read_small(at.ok_or(Unreadable::Damaged)?, bytes).ok_or(Unreadable::Damaged)?;
        R::take(&mut &*bytes).ok_or(Unreadable::Damaged)
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
            let bytes = self.read(start.checked_add(first).filter(|_| in_table)?, last - first)?;
            let mut rest = &bytes[..];
            (0..range.end - range.start).map(|_| R::take(&mut rest)).collect()
        };
        rows().ok_or(Unreadable::Damaged)
    }

    /// Fills `bytes`, which are less than a block.
    fn read_small(&self, offset: u64, bytes: &mut [u8]) -> Option<()> {
        let (first, at) = (offset.checked_sub(self.start)? / BLOCK, (offset % BLOCK) as usize);
        let block = self.block(first)?;
        let here = bytes.len().min(BLOCK as usize - at);
        bytes[..here].copy_from_slice(&block[at..at + here]);
        if here < bytes.len() {
            let rest = bytes.len() - here;
            bytes[here..].copy_from_slice(&self.block(first + 1)?[..rest]);
        }
        Some(())
    }

    fn block(&self, number: u64) -> Option<&[u8]> {
        let known = self.known.get(usize::try_from(number).ok()?)?;
        match known.get() {
            Some(block) => Some(block),
            None => {
                let block = self.blocks(number, 1)?;
                Some(known.get_or_init(|| block.into()))
            }
        }
    }

    /// Whole blocks, which are as they were written.
    fn blocks(&self, first: u64, count: u64) -> Option<Vec<u8>> {
        let checks = self.checks.get(usize::try_from(first).ok()?..)?.get(..usize::try_from(count).ok()?)?;
        let mut bytes = vec![0; checks.len() * BLOCK as usize];
        self.bytes.read_at(self.start + first * BLOCK, &mut bytes).ok()?;
        let are_right = bytes.chunks(BLOCK as usize).map(check_of).eq(checks.iter().copied());
        are_right.then_some(bytes)
    }

    fn read(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let at = offset.checked_sub(self.start)?;
        let (first, end) = (at / BLOCK, at.checked_add(size)?.div_ceil(BLOCK));
        let mut bytes = self.blocks(first, end.saturating_sub(first))?;
        bytes.drain(..((at % BLOCK) as usize).min(bytes.len()));
        bytes.truncate(usize::try_from(size).ok()?);
        (bytes.len() as u64 == size).then_some(bytes)
    }
}
