//! Reader of `SHT_CREL`: relocations as a stream of differences.
//!
//! The section starts with a ULEB128 header: the count times 8, plus 4 if there are addends, plus a
//! shift of 0–3 for all offsets. Each relocation is then a number of two or three flag bits and the
//! difference of its (shifted) offset from the one before, stored like ULEB128 but 64 bits and the
//! flags wide; each flag says that the symbol index, the type or the addend changes by a SLEB128
//! number that follows, in this order. All start from 0. Source: "CREL" proposal to the gABI, as
//! implemented in LLVM (section type 0x40000014).

use std::fmt;
use weld_common::reader::Reader;

/// One relocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrelEntry {
    /// Bytes from the start of the section it relocates.
    pub offset: u64,
    pub symbol: u32,
    pub kind: u32,
    /// 0 in sections without addends.
    pub addend: i64,
}

/// What is wrong with a CREL section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrelError {
    /// The header cannot be read, or says more relocations than the section has bytes.
    BadHeader,
    /// The relocation with this index is cut off or has a number beyond 64 bits.
    Truncated(usize),
    /// The symbol index or type of the relocation with this index is negative or beyond 32 bits.
    OutOfRange(usize),
    /// Bytes follow the last relocation.
    TrailingBytes,
}

impl fmt::Display for CrelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CrelError::BadHeader => write!(f, "bad header of a CREL section"),
            CrelError::Truncated(index) => write!(f, "CREL relocation {index} is cut off or malformed"),
            CrelError::OutOfRange(index) => {
                write!(f, "CREL relocation {index} has a symbol index or type out of range")
            }
            CrelError::TrailingBytes => write!(f, "bytes behind the last relocation of a CREL section"),
        }
    }
}

impl std::error::Error for CrelError {}

/// A CREL section whose header has been read.
pub struct Crel<'a> {
    reader: Reader<'a>,
    count: usize,
    has_addends: bool,
    shift: u32,
}

impl<'a> Crel<'a> {
    /// Reads the header. The count is no more than the section's bytes: memory for that many
    /// relocations may be reserved.
    pub fn parse(section: &'a [u8]) -> Result<Crel<'a>, CrelError> {
        let mut reader = Reader::new(section);
        let header = reader.uleb128().ok_or(CrelError::BadHeader)?;
        let count = usize::try_from(header / 8).map_err(|_| CrelError::BadHeader)?;
        if count > section.len() - reader.position() {
            return Err(CrelError::BadHeader);
        }
        Ok(Crel { reader, count, has_addends: header & 4 != 0, shift: (header & 3) as u32 })
    }

    /// The number of relocations.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether addends are in the section (as in `SHT_RELA`) and not in place (`SHT_REL`).
    pub fn has_addends(&self) -> bool {
        self.has_addends
    }

    /// All relocations, in the order of the section.
    pub fn entries(&self) -> CrelEntries<'a> {
        CrelEntries {
            reader: self.reader.clone(),
            index: 0,
            count: self.count,
            flag_bits: if self.has_addends { 3 } else { 2 },
            shift: self.shift,
            // The offset here is not shifted yet.
            last: CrelEntry::default(),
        }
    }
}

/// Iterates over the relocations. Nothing follows an error.
pub struct CrelEntries<'a> {
    reader: Reader<'a>,
    index: usize,
    count: usize,
    flag_bits: u32,
    shift: u32,
    last: CrelEntry,
}

impl CrelEntries<'_> {
    fn read(&mut self) -> Option<Result<CrelEntry, CrelError>> {
        let first = self.reader.u8()?;
        let mut delta = u64::from(first & 0x7f) >> self.flag_bits;
        if first & 0x80 != 0 {
            delta |= self.reader.uleb128()? << (7 - self.flag_bits);
        }
        // A place before the last one is a difference modulo 2^64.
        self.last.offset = self.last.offset.wrapping_add(delta);
        let mut in_range = true;
        for (flag, field) in [(1, &mut self.last.symbol), (2, &mut self.last.kind)] {
            if first & flag != 0 {
                let sum = i64::from(*field).checked_add(self.reader.sleb128()?);
                let sum = sum.and_then(|sum| u32::try_from(sum).ok());
                in_range &= sum.is_some();
                *field = sum.unwrap_or(0);
            }
        }
        if self.flag_bits == 3 && first & 4 != 0 {
            self.last.addend = self.last.addend.wrapping_add(self.reader.sleb128()?);
        }
        if !in_range {
            return Some(Err(CrelError::OutOfRange(self.index)));
        }
        Some(Ok(CrelEntry { offset: self.last.offset << self.shift, ..self.last }))
    }
}

impl Iterator for CrelEntries<'_> {
    type Item = Result<CrelEntry, CrelError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index == self.count {
            if self.reader.is_empty() {
                return None;
            }
            self.reader = Reader::new(&[]);
            return Some(Err(CrelError::TrailingBytes));
        }
        let entry = self.read().unwrap_or(Err(CrelError::Truncated(self.index)));
        self.index += 1;
        if entry.is_err() {
            self.index = self.count;
            self.reader = Reader::new(&[]);
        }
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.count - self.index + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleb(out: &mut Vec<u8>, mut value: i64) {
        loop {
            let byte = (value & 0x7f) as u8;
            value >>= 7;
            let done = value == if byte & 0x40 != 0 { -1 } else { 0 };
            out.push(byte | if done { 0 } else { 0x80 });
            if done {
                return;
            }
        }
    }

    fn uleb(out: &mut Vec<u8>, mut value: u128) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    /// Encodes as the header of this file says, in 128 bits.
    fn encode(entries: &[CrelEntry], addends: bool, shift: u32) -> Vec<u8> {
        let mut out = Vec::new();
        uleb(&mut out, entries.len() as u128 * 8 + if addends { 4 } else { 0 } + u128::from(shift));
        let mut last = CrelEntry::default();
        for entry in entries {
            let mut flags = u128::from(entry.symbol != last.symbol);
            flags |= u128::from(entry.kind != last.kind) << 1;
            flags |= u128::from(addends && entry.addend != last.addend) << 2;
            let delta = (entry.offset >> shift).wrapping_sub(last.offset >> shift);
            uleb(&mut out, u128::from(delta) << if addends { 3 } else { 2 } | flags);
            for (flag, difference) in [
                (1, i64::from(entry.symbol) - i64::from(last.symbol)),
                (2, i64::from(entry.kind) - i64::from(last.kind)),
                (4, entry.addend.wrapping_sub(last.addend)),
            ] {
                if flags & flag != 0 {
                    sleb(&mut out, difference);
                }
            }
            last = *entry;
        }
        out
    }

    fn decode(section: &[u8]) -> Result<Vec<CrelEntry>, CrelError> {
        let crel = Crel::parse(section)?;
        crel.entries().collect()
    }

    fn entry(offset: u64, symbol: u32, kind: u32, addend: i64) -> CrelEntry {
        CrelEntry { offset, symbol, kind, addend }
    }

    #[test]
    fn bytes_of_a_small_section() {
        // Two relocations with addends, shift 0.
        let section = [0x14, 0x0f, 0x05, 0x02, 0x7c, 0x25, 0x01, 0x04];
        let crel = Crel::parse(&section).unwrap();
        assert_eq!((crel.count(), crel.has_addends()), (2, true));
        assert_eq!(decode(&section).unwrap(), [entry(1, 5, 2, -4), entry(5, 6, 2, 0)]);
    }

    #[test]
    fn section_made_by_clang() {
        // `int *tab[] = {x, x + 3, y + 1000000, x - 5, y};`, x and y symbols 12 and 14.
        let section = [
            0x2f, 0x03, 0x0c, 0x01, 0x0c, 0x0c, 0x0d, 0x02, 0xf4, 0x91, 0xf4, 0x01, 0x0d, 0x7e, 0xec, 0xed,
            0x8b, 0x7e, 0x0d, 0x02, 0x14,
        ];
        let expected = [(12, 0), (12, 0xc), (14, 0x3d0900), (12, -0x14), (14, 0)];
        let expected = expected.iter().enumerate();
        let expected: Vec<_> = expected.map(|(i, &(s, addend))| entry(8 * i as u64, s, 1, addend)).collect();
        assert_eq!(decode(&section).unwrap(), expected);
    }

    #[test]
    fn round_trips() {
        let entries = [
            entry(0, 0, 0, 0),
            entry(4, 1, 2, -4),
            entry(4, 1, 2, -4),
            entry(0x7c, u32::MAX, u32::MAX, i64::MAX),
            entry(0x1_0000_0000, 0, 1, i64::MIN),
            entry(8, 3, 1, 7),
            entry(u64::MAX - 7, 3, 1, 7),
        ];
        assert_eq!(decode(&encode(&entries, true, 0)).unwrap(), entries);
        assert_eq!(decode(&encode(&entries[..6], true, 2)).unwrap(), entries[..6]);
        let without: Vec<_> = entries.iter().map(|e| CrelEntry { addend: 0, ..*e }).collect();
        assert_eq!(decode(&encode(&without, false, 0)).unwrap(), without);
        assert_eq!(decode(&encode(&without[..6], false, 2)).unwrap(), without[..6]);
        assert_eq!(decode(&[0]).unwrap(), []);
    }

    #[test]
    fn hostile_sections() {
        let good = encode(&[entry(0x12345, 7, 2, -4), entry(0x1234d, 300, 1, 1 << 40)], true, 0);
        for len in 0..good.len() {
            assert!(decode(&good[..len]).is_err());
        }
        assert_eq!(decode(&[&good[..], &[0]].concat()), Err(CrelError::TrailingBytes));
        assert!(matches!(Crel::parse(&[]), Err(CrelError::BadHeader)));
        let mut huge = Vec::new();
        uleb(&mut huge, u128::from(u64::MAX));
        huge.extend([0; 100]);
        assert!(matches!(Crel::parse(&huge), Err(CrelError::BadHeader)));
        let mut negative = vec![0x08, 0x01];
        sleb(&mut negative, -1);
        assert_eq!(decode(&negative), Err(CrelError::OutOfRange(0)));
        let mut far = vec![0x08, 0x02];
        sleb(&mut far, 1 << 32);
        assert_eq!(decode(&far), Err(CrelError::OutOfRange(0)));
        // Nothing follows an error.
        assert_eq!(Crel::parse(&far).unwrap().entries().count(), 1);
    }
}
