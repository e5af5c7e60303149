//! `.sframe`: one table, whose functions are code, do not overlap and are found by binary search, with rows
//! that begin where the function does and follow one another.
//!
//! Specification: "The SFrame Format", versions 1 to 3.

use super::Problems;
use crate::elf::Image;
use crate::elf::image::Section;
use object::elf;

const HEADER: usize = 28;
const SORTED: u8 = 1;
const PC_RELATIVE: u8 = 4;

/// A function of the index. Offsets are in bytes of the section.
struct Function {
    start: u64,
    size: u64,
    rows: usize,
    n_rows: u32,
    info: u8,
    block: u8,
}

/// The header, and how the version stores things.
struct Table<'a> {
    image: &'a Image,
    section: &'a Section,
    bytes: &'a [u8],
    version: u8,
    flags: u8,
    /// Bytes of an FDE, and of what stands in front of rows.
    fde: usize,
    head: usize,
    count: usize,
    n_rows: u32,
    /// Where the index and all rows are.
    index: usize,
    rows: std::ops::Range<usize>,
}

pub fn verify(image: &Image, p: &mut Problems) -> Result<(), String> {
    let Some(section) = image.section(".sframe").filter(|s| s.is_alloc() && s.size > 0) else {
        return Ok(());
    };
    let table = Table::read(image, section)?;
    p.check(table.flags & SORTED != 0, || "functions are not said to be sorted".to_owned());
    p.check(table.index.max(HEADER) == HEADER, || "the index does not follow the header".to_owned());
    p.check(table.rows.start == HEADER + table.count * table.fde, || "there is a gap before rows".to_owned());
    p.check(table.rows.end == table.bytes.len(), || "there is something after all rows".to_owned());
    let functions: Vec<Function> = (0..table.count).map(|i| table.function(i)).collect::<Result<_, _>>()?;
    covers(image, &functions, p);
    let mut spans = Vec::new();
    let mut n_rows = 0;
    for function in &functions {
        let end = table.rows(function, p)?;
        spans.push((function.rows - table.head, end));
        n_rows += function.n_rows;
    }
    p.check(n_rows == table.n_rows, || format!("there are {n_rows} rows, not {}", table.n_rows));
    spans.sort_unstable();
    let mut next = table.rows.start;
    for (start, end) in spans {
        p.check(start == next, || format!("rows at {start:#x} do not follow those before"));
        next = end;
    }
    p.check(next == table.rows.end, || "rows belong to no function".to_owned());
    Ok(())
}

/// Functions are code in ascending order, and each is found by binary search from its first and last byte.
fn covers(image: &Image, functions: &[Function], p: &mut Problems) {
    let is_code = |s: &&Section| s.is_alloc() && s.flags & elf::SHF_EXECINSTR.0 != 0;
    let code: Vec<&Section> = image.sections.iter().filter(is_code).collect();
    for pair in functions.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        p.check(before.start + before.size <= after.start, || {
            format!("functions at {:#x} and {:#x} overlap or are not sorted", before.start, after.start)
        });
    }
    for (number, function) in functions.iter().enumerate() {
        let (first, end) = (function.start, function.start.wrapping_add(function.size));
        let inside = code.iter().any(|s| s.addr <= first && first < end && end <= s.end());
        p.check(inside, || format!("function at {first:#x}, which is no code"));
        for address in [first, end.wrapping_sub(1)] {
            let found = functions.partition_point(|other| other.start <= address).checked_sub(1);
            p.check(found == Some(number), || {
                format!("function at {first:#x} is not found from {address:#x}")
            });
        }
    }
}

impl<'a> Table<'a> {
    fn read(image: &'a Image, section: &'a Section) -> Result<Self, String> {
        let bytes = image.contents(section)?;
        let u32 = |at| image.form.u32_at(bytes, at);
        let header = bytes.get(..HEADER).ok_or("the header ends too early")?;
        if image.form.u16_at(bytes, 0)? != 0xdee2 {
            return Err("this is no table".to_owned());
        }
        let (version, flags) = (header[2], header[3]);
        let (fde, head) = match version {
            1 => (17, 0),
            2 => (20, 0),
            3 => (16, 5),
            _ => return Err(format!("version {version}")),
        };
        let known: u8 = [3, 7, 5][usize::from(version) - 1];
        if flags & !known != 0 || header[7] != 0 {
            return Err(format!("flags {flags:#x}, {} more bytes of header", header[7]));
        }
        let (count, n_rows) = (u32(8)? as usize, u32(12)?);
        let index = HEADER + u32(20)? as usize;
        let rows = HEADER + u32(24)? as usize;
        let rows = rows..rows + u32(16)? as usize;
        if rows.end > bytes.len() || index + count * fde > bytes.len() {
            return Err("the table reaches beyond its section".to_owned());
        }
        Ok(Table { image, section, bytes, version, flags, fde, head, count, n_rows, index, rows })
    }

    fn function(&self, number: usize) -> Result<Function, String> {
        let at = self.index + number * self.fde;
        let form = self.image.form;
        let u32 = |offset| form.u32_at(self.bytes, at + offset);
        let width = if self.version == 3 { 8 } else { 4 };
        let distance = match width {
            8 => form.number(&self.bytes[at..at + 8]),
            _ => i64::from(u32(0)?.cast_signed()).cast_unsigned(),
        };
        let counts_from = self.section.addr + if self.flags & PC_RELATIVE != 0 { at as u64 } else { 0 };
        let start = counts_from.wrapping_add(distance);
        let (size, first) = (u32(width)?.into(), self.rows.start + u32(width + 4)? as usize);
        let (n_rows, info, block) = match self.version {
            1 => (u32(12)?, self.bytes[at + 16], 0),
            2 => (u32(12)?, self.bytes[at + 16], self.bytes[at + 17]),
            _ => {
                let head = self.bytes.get(first..first + 5).ok_or("attributes are outside")?;
                (form.u16_at(head, 0)?.into(), head[2], head[4])
            }
        };
        Ok(Function { start, size, rows: first + self.head, n_rows, info, block })
    }

    /// Checks the rows of a function, and says where they end.
    fn rows(&self, function: &Function, p: &mut Problems) -> Result<usize, String> {
        let name = || format!("function at {:#x}", function.start);
        let width = 1 << (function.info & 15);
        let repeats = function.info & 0x10 != 0;
        let size = if repeats { function.block.into() } else { function.size };
        let (mut at, mut before) = (function.rows, None);
        for _ in 0..function.n_rows {
            let outside = || format!("{}: rows reach beyond the table", name());
            let place = self.bytes.get(at..at + width).ok_or_else(outside)?;
            let place = self.image.form.number(place);
            p.check(before.map_or(place == 0, |before| before < place), || {
                format!("{}: row for {place:#x} is not in order", name())
            });
            p.check(place < size, || format!("{}: row for {place:#x}, after its end", name()));
            before = Some(place);
            let info = *self.bytes.get(at + width).ok_or_else(outside)?;
            at += width + 1 + usize::from(info >> 1 & 15) * (1 << (info >> 5 & 3));
        }
        p.check(at <= self.rows.end, || format!("{}: rows reach beyond the table", name()));
        Ok(at)
    }
}
