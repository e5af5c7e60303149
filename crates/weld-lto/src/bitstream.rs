//! LLVM's bitstream: numbers of any count of bits in blocks that say how long they are.
//!
//! A block has entries, each of which begins with an id of as many bits as the block says: the block's end,
//! another block, the definition of an abbreviation, or a record. A record is a code and operands: numbers in
//! a form that an abbreviation describes, or each in groups of six bits. Blocks end at a multiple of 32 bits,
//! and so do blobs, the bytes that a record may have; both are counted from the stream's start, so a stream
//! may lie at any byte of a file.
//!
//! Here are no abbreviations that a `BLOCKINFO` defines for later blocks: those that readers enter have none.
//! All that a hostile stream can make a reader do is bounded by its length: each entry, operand and element
//! takes at least a bit, and a block has only so many abbreviations ([`MAX_ABBREVIATIONS`]).
//!
//! Source: "LLVM Bitcode File Format", Bitstream Format.

use crate::ir::ReadError;

/// More than any writer defines.
const MAX_ABBREVIATIONS: usize = 256;
const MAX_OPERANDS: u64 = 64;

const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREV: u64 = 2;
const UNABBREV_RECORD: u64 = 3;

/// A place in a stream, and what is needed to read on from it.
#[derive(Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: u64,
    /// Where the stream begins in the file, in bytes.
    base: u64,
}

/// A block that was entered: how its entries are read.
pub struct Block {
    /// The bits of an entry's id.
    width: u32,
    abbreviations: Vec<Vec<Operand>>,
}

/// What stands in a block.
pub enum Entry {
    End,
    Block(Header),
    /// A record in the form of this id, to be read by [`Cursor::record`].
    Record(u64),
}

/// The beginning of a block. The cursor stands behind it.
#[derive(Clone, Copy)]
pub struct Header {
    pub id: u64,
    width: u32,
    /// In bits of the stream.
    end: u64,
}

/// A record's code, and its blob if it has one.
pub struct Record<'a> {
    pub code: u64,
    pub blob: Option<Blob<'a>>,
}

#[derive(Clone, Copy)]
pub struct Blob<'a> {
    pub bytes: &'a [u8],
    /// In bytes from the file's start.
    pub offset: u64,
}

/// How an abbreviation describes an operand.
#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Array,
    Char6,
    Blob,
}

impl<'a> Cursor<'a> {
    /// The start of `bytes`, which begins `base` bytes into the file.
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        Cursor { bytes, at: 0, base }
    }

    fn bits(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    /// Whole bytes that are left.
    pub fn bytes_left(&self) -> u64 {
        (self.bits() - self.at) / 8
    }

    /// The bytes from this place on, which is between blocks.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[(self.at / 8) as usize..]
    }

    /// An error at this place.
    pub fn malformed(&self, what: &'static str) -> ReadError {
        ReadError::Malformed { offset: self.base + self.at / 8, what }
    }

    /// A number of at most 64 bits.
    #[inline]
    pub fn fixed(&mut self, width: u32) -> Result<u64, ReadError> {
        if u64::from(width) > self.bits() - self.at {
            return Err(self.malformed("the bitstream ends too soon"));
        }
        let (byte, shift) = ((self.at / 8) as usize, (self.at % 8) as u32);
        self.at += u64::from(width);
        let rest = &self.bytes[byte..];
        let value = match rest.first_chunk() {
            Some(word) if width + shift <= 64 => u64::from_le_bytes(*word) >> shift,
            _ => {
                let mut word = [0; 16];
                let near = &rest[..rest.len().min(9)];
                word[..near.len()].copy_from_slice(near);
                (u128::from_le_bytes(word) >> shift) as u64
            }
        };
        Ok(value & u64::MAX.checked_shr(64 - width).unwrap_or(0))
    }

    /// A number in groups of `width` bits (2 to 64), the highest of which says that another follows.
    #[inline]
    pub fn vbr(&mut self, width: u32) -> Result<u64, ReadError> {
        let more = 1u64 << (width - 1);
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let group = self.fixed(width)?;
            let bits = group & (more - 1);
            if bits != 0 && (shift >= 64 || bits << shift >> shift != bits) {
                return Err(self.malformed("a number of more than 64 bits"));
            }
            value |= if bits == 0 { 0 } else { bits << shift };
            if group & more == 0 {
                return Ok(value);
            }
            // Beyond 64 only groups of zeros follow; the shift need not grow further.
            shift = (shift + width - 1).min(64);
        }
    }

    /// Goes behind `count` numbers in groups of `width` bits (2 to 32), several at a time.
    fn skip_vbrs(&mut self, width: u32, mut count: u64) -> Result<(), ReadError> {
        let more = 1u64 << (width - 1);
        while count > 0 {
            let (byte, shift) = ((self.at / 8) as usize, (self.at % 8) as u32);
            let Some(word) = self.bytes[byte..].first_chunk() else {
                self.vbr(width)?;
                count -= 1;
                continue;
            };
            let mut word = u64::from_le_bytes(*word) >> shift;
            let groups = (64 - shift) / width;
            let mut used = 0;
            while used < groups && count > 0 {
                count -= u64::from(word & more == 0);
                word = word.checked_shr(width).unwrap_or(0);
                used += 1;
            }
            self.at += u64::from(used * width);
        }
        Ok(())
    }

    fn align(&mut self) -> Result<(), ReadError> {
        let aligned = self.at.next_multiple_of(32);
        if aligned > self.bits() {
            return Err(self.malformed("the bitstream ends too soon"));
        }
        self.at = aligned;
        Ok(())
    }

    /// The block that begins here, outside of all blocks, where ids have two bits.
    pub fn top_level_block(&mut self) -> Result<Header, ReadError> {
        if self.fixed(2)? != ENTER_SUBBLOCK {
            return Err(self.malformed("something other than a block"));
        }
        self.header()
    }

    fn header(&mut self) -> Result<Header, ReadError> {
        let id = self.vbr(8)?;
        let width = self.vbr(4)?;
        self.align()?;
        let words = self.fixed(32)?;
        let end = self.at + words * 32;
        if !(2..=32).contains(&width) {
            return Err(self.malformed("a block whose ids have no possible width"));
        }
        if end > self.bits() {
            return Err(self.malformed("a block that is longer than the file"));
        }
        Ok(Header { id, width: width as u32, end })
    }

    /// Goes behind a block.
    pub fn skip(&mut self, block: Header) {
        self.at = block.end;
    }

    /// Goes into a block. What follows cannot be read as one of its entries if it is not one: blocks lie in
    /// each other as their lengths say.
    pub fn enter(&self, block: Header) -> (Cursor<'a>, Block) {
        let inner = Cursor { bytes: &self.bytes[..(block.end / 8) as usize], ..*self };
        (inner, Block { width: block.width, abbreviations: Vec::new() })
    }

    /// The next entry of the block; abbreviations are taken note of.
    pub fn entry(&mut self, block: &mut Block) -> Result<Entry, ReadError> {
        loop {
            match self.fixed(block.width)? {
                END_BLOCK => return Ok(Entry::End),
                ENTER_SUBBLOCK => return self.header().map(Entry::Block),
                DEFINE_ABBREV if block.abbreviations.len() == MAX_ABBREVIATIONS => {
                    return Err(self.malformed("more abbreviations than any writer defines"));
                }
                DEFINE_ABBREV => block.abbreviations.push(self.abbreviation()?),
                id => return Ok(Entry::Record(id)),
            }
        }
    }

    fn abbreviation(&mut self) -> Result<Vec<Operand>, ReadError> {
        let count = self.vbr(5)?;
        if count == 0 || count > MAX_OPERANDS {
            return Err(self.malformed("an abbreviation of no possible length"));
        }
        let mut operands = Vec::new();
        for _ in 0..count {
            operands.push(self.operand()?);
        }
        // An array's elements are what the last operand says; a blob is the last.
        let well_formed = match operands[..] {
            [ref before @ .., Operand::Array, Operand::Fixed(_) | Operand::Vbr(_) | Operand::Char6] => before,
            [ref before @ .., _] => before,
            [] => &[],
        };
        if well_formed.iter().any(|operand| matches!(operand, Operand::Array | Operand::Blob))
            || matches!(operands[..], [.., Operand::Array] | [Operand::Blob] | [Operand::Array, _])
        {
            return Err(self.malformed("an abbreviation with an array or a blob out of place"));
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Operand, ReadError> {
        if self.fixed(1)? == 1 {
            return self.vbr(8).map(Operand::Literal);
        }
        let encoding = self.fixed(3)?;
        match encoding {
            1 | 2 => match (encoding, self.vbr(5)?) {
                (_, 0) => Ok(Operand::Literal(0)),
                (1, width @ ..=64) => Ok(Operand::Fixed(width as u32)),
                (2, width @ 2..=64) => Ok(Operand::Vbr(width as u32)),
                _ => Err(self.malformed("an abbreviation of numbers of no possible width")),
            },
            3 => Ok(Operand::Array),
            4 => Ok(Operand::Char6),
            5 => Ok(Operand::Blob),
            _ => Err(self.malformed("an abbreviation of an unknown encoding")),
        }
    }

    /// The record of the form `id`. Hands out its operands one by one.
    pub fn record(
        &mut self,
        block: &Block,
        id: u64,
        mut operand: impl FnMut(u64),
    ) -> Result<Record<'a>, ReadError> {
        if id == UNABBREV_RECORD {
            let code = self.vbr(6)?;
            for _ in 0..self.vbr(6)? {
                operand(self.vbr(6)?);
            }
            return Ok(Record { code, blob: None });
        }
        let Some(operands) = block.abbreviations.get((id - UNABBREV_RECORD - 1) as usize) else {
            return Err(self.malformed("a record in the form of an abbreviation that is not defined"));
        };
        let (&first, rest) = operands.split_first().expect("abbreviations have an operand");
        let code = self.scalar(first)?;
        for (at, &form) in rest.iter().enumerate() {
            match form {
                Operand::Array => {
                    let element = rest[at + 1];
                    for _ in 0..self.vbr(6)? {
                        operand(self.scalar(element)?);
                    }
                    break;
                }
                Operand::Blob => return Ok(Record { code, blob: Some(self.blob()?) }),
                _ => operand(self.scalar(form)?),
            }
        }
        Ok(Record { code, blob: None })
    }

    /// Goes behind the record of the form `id`.
    pub fn skip_record(&mut self, block: &Block, id: u64) -> Result<(), ReadError> {
        if id != UNABBREV_RECORD {
            return self.record(block, id, |_| ()).map(drop);
        }
        self.vbr(6)?;
        let count = self.vbr(6)?;
        self.skip_vbrs(6, count)
    }

    fn scalar(&mut self, form: Operand) -> Result<u64, ReadError> {
        match form {
            Operand::Literal(value) => Ok(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Vbr(width) => self.vbr(width),
            Operand::Char6 => {
                let at = self.fixed(6)? as usize;
                Ok(u64::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"[at]))
            }
            Operand::Array | Operand::Blob => Err(self.malformed("an array or a blob out of place")),
        }
    }

    fn blob(&mut self) -> Result<Blob<'a>, ReadError> {
        let len = self.vbr(6)?;
        self.align()?;
        let start = (self.at / 8) as usize;
        let Some(bytes) = usize::try_from(len).ok().and_then(|len| self.bytes[start..].get(..len)) else {
            return Err(self.malformed("a blob that is longer than its block"));
        };
        self.at += len * 8;
        self.align()?;
        Ok(Blob { bytes, offset: self.base + start as u64 })
    }
}

#[cfg(test)]
mod tests {
    use weld_testkit::bitcode::Bits;

    use super::*;

    #[test]
    fn a_record_is_as_long_as_its_numbers() {
        for count in [0, 1, 9, 10, 11, 40] {
            let mut bits = Bits::new();
            bits.vbr(7, 6);
            bits.vbr(count, 6);
            (0..count).for_each(|number| bits.vbr(1 << (number * 7 % 50), 6));
            bits.fixed(0b10110, 5);
            bits.align();
            let bytes = bits.finish();
            let block = Block { width: 2, abbreviations: Vec::new() };
            let mut skipped = Cursor::new(&bytes, 0);
            skipped.fixed(32).unwrap();
            let mut read = Cursor { ..skipped };
            skipped.skip_record(&block, UNABBREV_RECORD).unwrap();
            read.record(&block, UNABBREV_RECORD, |_| ()).unwrap();
            assert_eq!((skipped.at, skipped.fixed(5).unwrap()), (read.at, 0b10110));
        }
    }
}
