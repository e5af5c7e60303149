//! `.sframe` of one input as compact records: which functions it describes, and where their rows are.
//!
//! A table of stack frames has a header, an index of functions (FDEs), and for each function rows (FREs)
//! that say from which instruction on the frame is found how. Sections of objects that `-r` joined may have
//! several tables one after the other. What a row says is not looked at, only how long it is, for rows are
//! copied as they are. In objects, the relocation of an FDE says where its function is, whatever flags say of
//! the number that it makes of that. Numbers have the file's byte order.
//!
//! Three versions differ in the index only: in version 1 an FDE is packed (17 bytes), version 2 adds the size
//! of blocks that repeat, and in version 3 addresses have 64 bits, and what is said of all rows of a function
//! stands in front of them.
//!
//! Specification: "The SFrame Format", versions 1, 2 (with errata 1) and 3, which come with GNU binutils.

use std::fmt;

use crate::elf::Format;

/// The first two bytes of a table as a number.
pub const MAGIC: u16 = 0xdee2;
/// Bytes of a header without anything after it that only some machines would have.
pub const HEADER: usize = 28;

/// `sfp_flags`: functions are in ascending order.
pub const SORTED: u8 = 1;
/// All functions keep the frame pointer. Not in version 3.
pub const FRAME_POINTER: u8 = 2;
/// Addresses of functions count from where they are stored, not from the start of the table.
pub const PC_RELATIVE: u8 = 4;

/// Bits of [`Fde::info`]: the size of the places in rows (0, 1, 2: a byte, two, four), whether the code is a
/// block that repeats, with which key return addresses are signed (AArch64), and whether it is that of a
/// signal handler's return.
const ROW_TYPE: u8 = 0x0f;
pub const REPEATS: u8 = 0x10;
const KEY: u8 = 0x20;
const SIGNAL: u8 = 0x80;
/// Bits of [`Fde::kind`] that say how data in rows is to be read.
const KIND: u8 = 0x1f;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    One = 1,
    Two = 2,
    Three = 3,
}

impl Version {
    fn of(number: u8) -> Option<Version> {
        [Version::One, Version::Two, Version::Three].into_iter().find(|version| *version as u8 == number)
    }

    /// Bytes of an FDE.
    pub fn fde_size(self) -> usize {
        match self {
            Version::One => 17,
            Version::Two => 20,
            Version::Three => 16,
        }
    }

    /// Bytes of what stands in front of a function's rows.
    pub fn head_size(self) -> usize {
        if self == Version::Three { 5 } else { 0 }
    }

    /// Bytes of a function's address.
    pub fn address_size(self) -> usize {
        if self == Version::Three { 8 } else { 4 }
    }

    /// The flags that there are.
    pub fn flags(self) -> u8 {
        match self {
            Version::One => SORTED | FRAME_POINTER,
            Version::Two => SORTED | FRAME_POINTER | PC_RELATIVE,
            Version::Three => SORTED | PC_RELATIVE,
        }
    }

    /// The bits of [`Fde::info`] that mean something.
    fn info(self) -> u8 {
        ROW_TYPE | REPEATS | KEY | if self == Version::Three { SIGNAL } else { 0 }
    }
}

/// What holds for all functions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conventions {
    /// `sfh_abi_arch`
    pub abi: u8,
    /// Where the frame pointer and the return address are saved, in bytes from the frame's address; 0: rows
    /// say it.
    pub fixed_fp: i8,
    pub fixed_ra: i8,
}

impl Conventions {
    /// The number of a machine's ABI (`e_machine`); `None` if the format knows none.
    pub fn abi_of(machine: u16, format: Format) -> Option<u8> {
        match (machine, format.is_big()) {
            (183, true) => Some(1),
            (183, false) => Some(2),
            (62, false) => Some(3),
            (22, true) => Some(4),
            _ => None,
        }
    }
}

/// A function. Offsets and sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fde {
    /// Where its address is stored, in the section.
    pub at: u32,
    /// The relocation of that; `None`: it is no function of this file any more.
    pub reloc: Option<u32>,
    /// Of its code; never 0.
    pub size: u32,
    /// Where its rows begin in the section, how many bytes they have, and how many there are.
    pub rows: u32,
    pub rows_size: u32,
    pub n_rows: u32,
    /// `func_info`, `func_info2` and `func_rep_size`; what a version does not have is 0.
    pub info: u8,
    pub kind: u8,
    pub block: u8,
}

/// A table of stack frames.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Where it begins in the section.
    pub at: u32,
    pub version: Version,
    pub flags: u8,
    pub conventions: Conventions,
    /// The functions that have code.
    pub fdes: Vec<Fde>,
}

/// What is wrong with a `.sframe`, and where: in bytes from the section's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SFrameError {
    pub at: u64,
    pub wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    TooLarge,
    TruncatedHeader,
    Magic,
    ByteOrder,
    Version(u8),
    Flags(u8),
    /// There is more of the header than all known machines have.
    MoreHeader,
    /// The index of so many functions is not in the section.
    Index(u32),
    /// So many bytes of rows are not in the section.
    Rows(u32),
    /// The function's rows begin after the end of all.
    FirstRow,
    /// The row is not in the table.
    Row,
    RowType(u8),
    /// The row says that its numbers have no known size.
    NumberSize,
    Info(u8),
    /// A relocation at this place applies to no function's address.
    Reloc,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::TooLarge => write!(f, "section is 4 GiB or larger"),
            Wrong::TruncatedHeader => write!(f, "SFrame header reaches beyond the section"),
            Wrong::Magic => write!(f, "no SFrame header is here"),
            Wrong::ByteOrder => write!(f, "SFrame table has another byte order than its file"),
            Wrong::Version(version) => write!(f, "SFrame version {version} is not known"),
            Wrong::Flags(flags) => write!(f, "SFrame flags are not known: {flags:#x}"),
            Wrong::MoreHeader => write!(f, "SFrame header has an auxiliary part, which is not known"),
            Wrong::Index(count) => write!(f, "SFrame index of {count} functions reaches beyond the section"),
            Wrong::Rows(size) => write!(f, "{size} bytes of SFrame rows reach beyond the section"),
            Wrong::FirstRow => write!(f, "rows of the SFrame FDE begin after the end of all rows"),
            Wrong::Row => write!(f, "SFrame row reaches beyond the end of all rows"),
            Wrong::RowType(kind) => write!(f, "SFrame FDE has rows of an unknown type: {kind}"),
            Wrong::NumberSize => write!(f, "SFrame row has numbers of an unknown size"),
            Wrong::Info(info) => write!(f, "SFrame FDE says what is not known: {info:#x}"),
            Wrong::Reloc => write!(f, "relocation applies to no function's address in an SFrame index"),
        }
    }
}

type Result<T> = std::result::Result<T, SFrameError>;

fn wrong<T>(at: usize, wrong: Wrong) -> Result<T> {
    Err(SFrameError { at: at as u64, wrong })
}

/// The tables of a section. `relocs` are its relocations, of which `offset` gives the place in bytes from the
/// section's start.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse<R>(data: &[u8], format: Format, relocs: &[R], offset: impl Fn(&R) -> u64) -> Result<Vec<Table>> {
    if u32::try_from(data.len()).is_err() || u32::try_from(relocs.len()).is_err() {
        return wrong(0, Wrong::TooLarge);
    }
    let mut relocs = Relocs::new(relocs, offset);
    let mut tables = Vec::new();
    let mut at = 0;
    // Between tables there may be padding.
    while let Some(padding) = data[at..].iter().position(|byte| *byte != 0) {
        at += padding;
        let reader = TableReader::new(data, format, at)?;
        let mut fdes = Vec::with_capacity(reader.count as usize);
        for number in 0..reader.count as usize {
            let at = reader.index + number * reader.version.fde_size();
            let fde = Fde { reloc: relocs.take(at as u64)?, ..reader.fde(at)? };
            // What has no code has no address of its own either: another function may be there.
            if fde.size > 0 {
                fdes.push(fde);
            }
        }
        let TableReader { version, flags, conventions, .. } = reader;
        tables.push(Table { at: at as u32, version, flags, conventions, fdes });
        at = reader.end;
    }
    relocs.end()?;
    Ok(tables)
}

/// The places of relocations, taken in ascending order.
struct Relocs<'r, R, F> {
    list: &'r [R],
    offset: F,
    /// In the order of places, if the list is in another one.
    order: Option<Vec<u32>>,
    next: usize,
}

impl<'r, R, F: Fn(&R) -> u64> Relocs<'r, R, F> {
    fn new(list: &'r [R], offset: F) -> Self {
        let order = (!list.is_sorted_by_key(&offset)).then(|| {
            let mut order: Vec<u32> = (0..list.len() as u32).collect();
            order.sort_by_key(|&i| offset(&list[i as usize]));
            order
        });
        Relocs { list, offset, order, next: 0 }
    }

    /// The next relocation and its place.
    fn peek(&self) -> Option<(u32, u64)> {
        let number = match &self.order {
            Some(order) => *order.get(self.next)?,
            None => self.next as u32,
        };
        Some((number, (self.offset)(self.list.get(number as usize)?)))
    }

    /// The relocation at this place, if there is one; there must be none before it that is not taken yet.
    fn take(&mut self, at: u64) -> Result<Option<u32>> {
        match self.peek() {
            Some((number, place)) if place == at => {
                self.next += 1;
                Ok(Some(number))
            }
            Some((_, place)) if place < at => Err(SFrameError { at: place, wrong: Wrong::Reloc }),
            _ => Ok(None),
        }
    }

    fn end(&self) -> Result<()> {
        self.peek().map_or(Ok(()), |(_, place)| Err(SFrameError { at: place, wrong: Wrong::Reloc }))
    }
}

/// A table whose header is sound: its parts lie in the section.
struct TableReader<'a> {
    data: &'a [u8],
    format: Format,
    version: Version,
    flags: u8,
    conventions: Conventions,
    /// Where the index begins, and how many functions it has.
    index: usize,
    count: u32,
    /// All rows.
    rows: std::ops::Range<usize>,
    /// Where the table ends.
    end: usize,
}

impl<'a> TableReader<'a> {
    fn new(data: &'a [u8], format: Format, at: usize) -> Result<Self> {
        let Some(header) = data[at..].first_chunk::<HEADER>() else {
            return wrong(at, Wrong::TruncatedHeader);
        };
        match format.get_u16(header) {
            MAGIC => {}
            magic if magic.swap_bytes() == MAGIC => return wrong(at, Wrong::ByteOrder),
            _ => return wrong(at, Wrong::Magic),
        }
        let Some(version) = Version::of(header[2]) else { return wrong(at + 2, Wrong::Version(header[2])) };
        let flags = header[3];
        if flags & !version.flags() != 0 {
            return wrong(at + 3, Wrong::Flags(flags));
        }
        if header[7] != 0 {
            return wrong(at + 7, Wrong::MoreHeader);
        }
        let [count, _, rows_size, index, rows] = [8, 12, 16, 20, 24].map(|at| format.get_u32(&header[at..]));
        let conventions = Conventions {
            abi: header[4],
            fixed_fp: header[5].cast_signed(),
            fixed_ra: header[6].cast_signed(),
        };
        let start = at + HEADER;
        // In numbers that hold the sums of any two fields.
        let within = |from: u32, size: u64| {
            let from = start as u64 + u64::from(from);
            let end = from + size;
            (end <= data.len() as u64).then_some(from as usize..end as usize)
        };
        let Some(index) = within(index, u64::from(count) * version.fde_size() as u64) else {
            return wrong(at + 8, Wrong::Index(count));
        };
        let Some(rows) = within(rows, rows_size.into()) else {
            return wrong(at + 16, Wrong::Rows(rows_size));
        };
        let end = index.end.max(rows.end);
        let index = index.start;
        Ok(TableReader { data, format, version, flags, conventions, index, count, rows, end })
    }

    /// Reads the FDE at `at`, which is in the index. Its relocation is left out.
    fn fde(&self, at: usize) -> Result<Fde> {
        let number = |offset: usize| self.format.get_u32(&self.data[at + offset..]);
        let after = self.version.address_size();
        let (size, first) = (number(after), number(after + 4));
        let head = self.version.head_size();
        let rows = self.rows.start.saturating_add(first as usize);
        if rows.saturating_add(head) > self.rows.end {
            return wrong(at, Wrong::FirstRow);
        }
        let mut fde = Fde {
            at: at as u32,
            reloc: None,
            size,
            rows: (rows + head) as u32,
            rows_size: 0,
            n_rows: 0,
            info: 0,
            kind: 0,
            block: 0,
        };
        match self.version {
            Version::One => (fde.n_rows, fde.info) = (number(12), self.data[at + 16]),
            Version::Two => {
                (fde.n_rows, fde.info, fde.block) = (number(12), self.data[at + 16], self.data[at + 17]);
            }
            Version::Three => {
                let head = &self.data[rows..rows + head];
                fde.n_rows = self.format.get_u16(head).into();
                (fde.info, fde.kind, fde.block) = (head[2], head[3], head[4]);
            }
        }
        if fde.info & !self.version.info() != 0 || fde.kind & !KIND != 0 {
            return wrong(at, Wrong::Info(if fde.kind & !KIND != 0 { fde.kind } else { fde.info }));
        }
        fde.rows_size = self.rows_size(at, &fde)?;
        Ok(fde)
    }

    /// How many bytes the rows of a function have.
    fn rows_size(&self, at: usize, fde: &Fde) -> Result<u32> {
        let place = match fde.info & ROW_TYPE {
            kind @ 0..=2 => 1usize << kind,
            kind => return wrong(at, Wrong::RowType(kind)),
        };
        let first = fde.rows as usize;
        let mut row = first;
        for _ in 0..fde.n_rows {
            let Some(info) = self.data[..self.rows.end].get(row + place) else {
                return wrong(row, Wrong::Row);
            };
            let size = match info >> 5 & 3 {
                3 => return wrong(row, Wrong::NumberSize),
                log2 => 1usize << log2,
            };
            let next = row + place + 1 + usize::from(info >> 1 & 15) * size;
            if next > self.rows.end {
                return wrong(row, Wrong::Row);
            }
            row = next;
        }
        Ok((row - first) as u32)
    }
}

#[cfg(test)]
mod tests;
