//! What the readers of debug information stand on: bytes, forms, and what relocations make of them.
//!
//! An object's debug sections are read before they are relocated. So a field that holds an address or an
//! offset of another section is asked for as a [`Pointer`]: the section that its relocation leads to and the
//! offset there.
//!
//! Specification: DWARF 5, sections 7.4 (32 and 64 bits), 7.5.5 and 7.5.6 (forms), 7.6 (LEB128); DWARF 2 to 4
//! and GNU's forms of split DWARF where they differ.

use weld_common::reader::Reader;

/// The sections that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Info,
    Types,
    Abbrev,
    Str,
    LineStr,
    StrOffsets,
    Addr,
    Ranges,
    RngLists,
    PubNames,
    PubTypes,
    Names,
}

/// The number of [`Kind`]s.
pub const KINDS: usize = 12;

/// A place in a section of the object. Section 0 stands for no section: the offset is a plain number then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    pub section: u32,
    pub offset: u64,
}

/// An object's debug sections. `'a` is how long those live that need no decompression.
pub trait Source<'a> {
    /// A section's bytes; empty if there is no such section.
    fn bytes(&self, section: u32) -> &[u8];
    /// A range of a section's bytes, which exists, if they live for `'a`.
    fn lasting(&self, section: u32, range: std::ops::Range<usize>) -> Option<&'a [u8]>;
    /// The number of the first section of a kind, or 0.
    fn first(&self, kind: Kind) -> u32;
    /// Whether a section is of a kind: there may be many.
    fn is(&self, section: u32, kind: Kind) -> bool;
    /// What the relocation for a field leads to; `None` if there is none. `near` is where to begin to look:
    /// 0, or what the last call left there.
    fn relocated(&self, field: Pointer, near: &mut usize) -> Option<Pointer>;
    /// The number in a field that relocations make from two places of a section, whose distance it is; `None`
    /// if they do not.
    fn distance(&self, _field: Pointer) -> Option<u64> {
        None
    }
    fn is_big_endian(&self) -> bool;
}

/// What is wrong with an object's debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    pub place: Pointer,
    pub what: &'static str,
}

impl Malformed {
    #[cold]
    pub fn new(section: u32, offset: usize, what: &'static str) -> Malformed {
        Malformed { place: Pointer { section, offset: offset as u64 }, what }
    }
}

/// Reads forward. A read yields `None` at the end of the bytes.
#[derive(Clone, Copy)]
pub struct Cursor<'s> {
    pub bytes: &'s [u8],
    pub at: usize,
    pub section: u32,
    pub big: bool,
}

impl<'s> Cursor<'s> {
    /// A cursor at `place`, whose section must be one; the offset may lie outside.
    pub fn new<'a>(source: &'s impl Source<'a>, place: Pointer) -> Cursor<'s> {
        let at = usize::try_from(place.offset).unwrap_or(usize::MAX);
        let (section, big) = (place.section, source.is_big_endian());
        Cursor { bytes: source.bytes(section), at, section, big }
    }

    /// The place of the cursor, with an explanation.
    #[cold]
    pub fn wrong(&self, what: &'static str) -> Malformed {
        Malformed::new(self.section, self.at, what)
    }

    #[inline(always)]
    pub fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// An unsigned number of 1 to 8 bytes.
    #[inline]
    pub fn number(&mut self, size: usize) -> Option<u64> {
        let bytes = self.bytes.get(self.at..)?.get(..size)?;
        self.at += size;
        // By far the most.
        if let (&[a, b, c, d], false) = (bytes, self.big) {
            return Some(u64::from(u32::from_le_bytes([a, b, c, d])));
        }
        let step = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match self.big {
            true => bytes.iter().fold(0, step),
            false => bytes.iter().rev().fold(0, step),
        })
    }

    #[inline(always)]
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    /// An unsigned LEB128 number of at most 64 bits.
    #[inline(always)]
    pub fn uleb(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        if first >= 0x80 {
            return self.leb(Reader::uleb128);
        }
        self.at += 1;
        Some(u64::from(first))
    }

    /// A signed LEB128 number of at most 64 bits.
    pub fn sleb(&mut self) -> Option<i64> {
        self.leb(Reader::sleb128)
    }

    fn leb<T>(&mut self, read: fn(&mut Reader<'s>) -> Option<T>) -> Option<T> {
        let mut reader = Reader::new(self.bytes.get(self.at..)?);
        let value = read(&mut reader)?;
        self.at += reader.position();
        Some(value)
    }

    #[inline]
    pub fn skip_leb(&mut self) -> Option<()> {
        while self.u8()? >= 0x80 {}
        Some(())
    }

    /// The string up to the next NUL, which is read too.
    #[inline]
    pub fn string(&mut self) -> Option<&'s [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let len = memchr::memchr(0, rest)?;
        self.at += len + 1;
        Some(&rest[..len])
    }

    /// The length at the start of a unit or table: how many bytes follow it, and the size of offsets there (4
    /// or 8).
    pub fn initial_length(&mut self) -> Option<(u64, u8)> {
        match self.number(4)? {
            0xffff_ffff => Some((self.number(8)?, 8)),
            0xffff_fff0.. => None,
            length => Some((length, 4)),
        }
    }

    /// A number in LEB128 that may be a distance.
    pub fn length<'a>(&mut self, source: &impl Source<'a>) -> Option<u64> {
        let field = Pointer { section: self.section, offset: self.at as u64 };
        let raw = self.uleb()?;
        Some(source.distance(field).unwrap_or(raw))
    }

    /// The field of `size` bytes, and what its relocation makes of it.
    #[inline]
    pub fn pointer<'a>(&mut self, source: &impl Source<'a>, size: u8, near: &mut usize) -> Option<Pointer> {
        let field = Pointer { section: self.section, offset: self.at as u64 };
        let raw = self.number(usize::from(size))?;
        Some(source.relocated(field, near).unwrap_or(Pointer { section: 0, offset: raw }))
    }
}

/// The sizes of addresses and offsets of a unit, and its version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub version: u8,
    pub address: u8,
    /// 4 or 8.
    pub offset: u8,
}

impl Encoding {
    /// Where the first table of `.debug_addr` or `.debug_str_offsets` begins, which is meant where a unit
    /// names none: after its header, from DWARF 5 on.
    pub fn first_table(self) -> Pointer {
        let header = match (self.version, self.offset) {
            (5, 8) => 16,
            (5, _) => 8,
            _ => 0,
        };
        Pointer { section: 0, offset: header }
    }
}

/// `DW_FORM_*`.
pub mod form {
    pub const ADDR: u16 = 0x01;
    pub const BLOCK2: u16 = 0x03;
    pub const BLOCK4: u16 = 0x04;
    pub const DATA2: u16 = 0x05;
    pub const DATA4: u16 = 0x06;
    pub const DATA8: u16 = 0x07;
    pub const STRING: u16 = 0x08;
    pub const BLOCK: u16 = 0x09;
    pub const BLOCK1: u16 = 0x0a;
    pub const DATA1: u16 = 0x0b;
    pub const FLAG: u16 = 0x0c;
    pub const SDATA: u16 = 0x0d;
    pub const STRP: u16 = 0x0e;
    pub const UDATA: u16 = 0x0f;
    pub const REF_ADDR: u16 = 0x10;
    pub const REF1: u16 = 0x11;
    pub const REF2: u16 = 0x12;
    pub const REF4: u16 = 0x13;
    pub const REF8: u16 = 0x14;
    pub const REF_UDATA: u16 = 0x15;
    pub const INDIRECT: u16 = 0x16;
    pub const SEC_OFFSET: u16 = 0x17;
    pub const EXPRLOC: u16 = 0x18;
    pub const FLAG_PRESENT: u16 = 0x19;
    pub const STRX: u16 = 0x1a;
    pub const ADDRX: u16 = 0x1b;
    pub const REF_SUP4: u16 = 0x1c;
    pub const STRP_SUP: u16 = 0x1d;
    pub const DATA16: u16 = 0x1e;
    pub const LINE_STRP: u16 = 0x1f;
    pub const REF_SIG8: u16 = 0x20;
    pub const IMPLICIT_CONST: u16 = 0x21;
    pub const LOCLISTX: u16 = 0x22;
    pub const RNGLISTX: u16 = 0x23;
    pub const REF_SUP8: u16 = 0x24;
    pub const STRX1: u16 = 0x25;
    pub const STRX2: u16 = 0x26;
    pub const STRX3: u16 = 0x27;
    pub const STRX4: u16 = 0x28;
    pub const ADDRX1: u16 = 0x29;
    pub const ADDRX2: u16 = 0x2a;
    pub const ADDRX3: u16 = 0x2b;
    pub const ADDRX4: u16 = 0x2c;
    pub const GNU_ADDR_INDEX: u16 = 0x1f01;
    pub const GNU_STR_INDEX: u16 = 0x1f02;
    pub const GNU_REF_ALT: u16 = 0x1f20;
    pub const GNU_STRP_ALT: u16 = 0x1f21;

    /// Whether values of the form are addresses, or numbers of addresses in `.debug_addr`.
    pub fn is_address(form: u16) -> bool {
        matches!(form, ADDR | ADDRX | ADDRX1..=ADDRX4 | GNU_ADDR_INDEX)
    }
}

/// How many bytes a value of a form takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Fixed(u8),
    Leb,
    String,
    /// A number of so many bytes says how many follow.
    Counted(u8),
    /// A LEB128 number says how many follow.
    LebCounted,
    /// The form itself comes first.
    Indirect,
}

/// How long the values of a form are; `None` if there is no such form.
pub fn extent(form: u16, encoding: Encoding) -> Option<Extent> {
    use form::*;
    Some(match form {
        FLAG_PRESENT | IMPLICIT_CONST => Extent::Fixed(0),
        DATA1 | FLAG | REF1 | STRX1 | ADDRX1 => Extent::Fixed(1),
        DATA2 | REF2 | STRX2 | ADDRX2 => Extent::Fixed(2),
        STRX3 | ADDRX3 => Extent::Fixed(3),
        DATA4 | REF4 | STRX4 | ADDRX4 | REF_SUP4 => Extent::Fixed(4),
        DATA8 | REF8 | REF_SIG8 | REF_SUP8 => Extent::Fixed(8),
        DATA16 => Extent::Fixed(16),
        ADDR => Extent::Fixed(encoding.address),
        // In DWARF 2 it was as large as an address.
        REF_ADDR if encoding.version <= 2 => Extent::Fixed(encoding.address),
        REF_ADDR | SEC_OFFSET | STRP | LINE_STRP | STRP_SUP | GNU_REF_ALT | GNU_STRP_ALT => {
            Extent::Fixed(encoding.offset)
        }
        SDATA | UDATA | REF_UDATA | STRX | ADDRX | LOCLISTX | RNGLISTX | GNU_ADDR_INDEX | GNU_STR_INDEX => {
            Extent::Leb
        }
        STRING => Extent::String,
        BLOCK1 => Extent::Counted(1),
        BLOCK2 => Extent::Counted(2),
        BLOCK4 => Extent::Counted(4),
        BLOCK | EXPRLOC => Extent::LebCounted,
        INDIRECT => Extent::Indirect,
        _ => return None,
    })
}

impl Cursor<'_> {
    /// Passes over a value.
    #[inline]
    pub fn skip_extent(&mut self, extent: Extent, encoding: Encoding) -> Option<()> {
        match extent {
            Extent::Fixed(size) => self.skip(usize::from(size)),
            Extent::Leb => self.skip_leb(),
            Extent::String => self.string().map(|_| ()),
            Extent::Counted(size) => {
                let count = self.number(usize::from(size))?;
                self.skip(usize::try_from(count).ok()?)
            }
            Extent::LebCounted => {
                let count = self.uleb()?;
                self.skip(usize::try_from(count).ok()?)
            }
            Extent::Indirect => {
                let form = self.indirect_form()?;
                self.skip_extent(extent_of_indirect(form, encoding)?, encoding)
            }
        }
    }

    /// The form in front of a value of [`form::INDIRECT`]. It may not be that again, nor one without bytes to
    /// read.
    pub fn indirect_form(&mut self) -> Option<u16> {
        let form = u16::try_from(self.uleb()?).ok()?;
        (form != form::INDIRECT && form != form::IMPLICIT_CONST).then_some(form)
    }

    /// An unsigned constant, a flag or an index: any form of a number that no relocation belongs to.
    pub fn constant(&mut self, form: u16, implicit: i64, encoding: Encoding) -> Option<u64> {
        match form {
            form::IMPLICIT_CONST => Some(implicit as u64),
            form::FLAG_PRESENT => Some(1),
            form::INDIRECT => {
                let form = self.indirect_form()?;
                self.constant(form, 0, encoding)
            }
            _ => match extent(form, encoding)? {
                Extent::Fixed(size) if size <= 8 => self.number(usize::from(size)),
                Extent::Leb => self.uleb(),
                _ => None,
            },
        }
    }
}

fn extent_of_indirect(form: u16, encoding: Encoding) -> Option<Extent> {
    extent(form, encoding).filter(|extent| *extent != Extent::Indirect)
}
