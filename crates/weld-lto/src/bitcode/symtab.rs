//! The symbol table of bitcode: records of numbers of 32 bits, little endian.
//!
//! A header says where the records of each kind are and how many, and where strings are in the table of
//! strings. A symbol takes 24 bytes. What few symbols have (the size of a common, a section's name, what a
//! weak external of COFF falls back to) stands in a table of its own, the *uncommons*, in the order of the
//! symbols that have one. A module is a range of symbols.
//!
//! Versions 3 (to LLVM 22) and 4 (from LLVM 23 on) differ in one place: the size of a common has 32 bits, or
//! 64.
//!
//! Source: LLVM's `llvm/Object/IRSymtab.h`, namespace `storage`.

use std::ops::RangeInclusive;

use crate::bitstream::Blob;
use crate::ir::{Comdat, IrFile, IrSymbol, Kind, ReadError, Selection, Visibility};

/// Versions that are read here.
pub const VERSIONS: RangeInclusive<u32> = 3..=4;

/// The header: where its fields are, in bytes. A string or a table is two numbers: offset and size.
mod header {
    pub const VERSION: usize = 0;
    pub const PRODUCER: usize = 4;
    pub const MODULES: usize = 12;
    pub const COMDATS: usize = 20;
    pub const SYMBOLS: usize = 28;
    pub const UNCOMMONS: usize = 36;
    pub const TRIPLE: usize = 44;
    pub const SOURCE: usize = 52;
    pub const DIRECTIVES: usize = 60;
    pub const LIBRARIES: usize = 68;
    pub const SIZE: usize = 76;
}

/// Bytes of a record of each kind.
const MODULE: usize = 12;
const COMDAT: usize = 12;
const SYMBOL: usize = 24;
const STRING: usize = 8;
const UNCOMMON_3: usize = 24;
const UNCOMMON_4: usize = 28;

/// The bits of a symbol's flags, above those of its visibility.
mod flag {
    pub const VISIBILITY: u32 = 3;
    pub const HAS_UNCOMMON: u32 = 1 << 2;
    pub const UNDEFINED: u32 = 1 << 3;
    pub const WEAK: u32 = 1 << 4;
    pub const COMMON: u32 = 1 << 5;
    pub const INDIRECT: u32 = 1 << 6;
    pub const USED: u32 = 1 << 7;
    pub const TLS: u32 = 1 << 8;
    pub const MAY_OMIT: u32 = 1 << 9;
    pub const GLOBAL: u32 = 1 << 10;
    pub const FORMAT_SPECIFIC: u32 = 1 << 11;
    pub const UNNAMED_ADDR: u32 = 1 << 12;
    pub const EXECUTABLE: u32 = 1 << 13;
}

/// No COMDAT group.
const NONE: u32 = u32::MAX;

/// A symbol table whose header is there.
pub struct Table<'a> {
    symtab: Blob<'a>,
    strings: &'a [u8],
}

/// What few symbols have.
#[derive(Default)]
struct Uncommon<'a> {
    size: u64,
    alignment: u32,
    fallback: &'a [u8],
    section: &'a [u8],
}

/// The number at a place of a record, which is that long.
#[inline]
fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes"))
}

impl<'a> Table<'a> {
    pub fn new(symtab: Blob<'a>, strtab: Blob<'a>) -> Result<Self, ReadError> {
        let table = Table { symtab, strings: strtab.bytes };
        // A table of another version may have another header.
        let needed =
            if symtab.bytes.len() < 4 || VERSIONS.contains(&table.version()) { header::SIZE } else { 4 };
        if symtab.bytes.len() < needed {
            return Err(table.malformed(0, "a symbol table that is shorter than its header"));
        }
        Ok(table)
    }

    pub fn version(&self) -> u32 {
        word(self.symtab.bytes, header::VERSION)
    }

    #[cold]
    fn malformed(&self, at: usize, what: &'static str) -> ReadError {
        ReadError::Malformed { offset: self.symtab.offset + at as u64, what }
    }

    /// An error in `record`, which is part of the table.
    #[cold]
    fn malformed_in(&self, record: &[u8], what: &'static str) -> ReadError {
        self.malformed(record.as_ptr().addr() - self.symtab.bytes.as_ptr().addr(), what)
    }

    /// The string that `record`, part of the table, says at `at`.
    #[inline]
    fn string(&self, record: &[u8], at: usize) -> Result<&'a [u8], ReadError> {
        let (offset, size) = (word(record, at) as usize, word(record, at + 4) as usize);
        let string = self.strings.get(offset..).and_then(|rest| rest.get(..size));
        string.ok_or_else(|| self.malformed_in(&record[at..], "a string that is not in the table of strings"))
    }

    /// The bytes of the records of `size` bytes that the header says at `at`.
    fn records_of(&self, at: usize, size: usize) -> Result<&'a [u8], ReadError> {
        let (offset, count) =
            (word(self.symtab.bytes, at) as usize, word(self.symtab.bytes, at + 4) as usize);
        let rest = self.symtab.bytes.get(offset..);
        let records = rest.and_then(|rest| rest.get(..count.checked_mul(size)?));
        records.ok_or_else(|| self.malformed(at, "records that are not in the symbol table"))
    }

    /// The records of `SIZE` bytes that the header says at `at`.
    fn records<const SIZE: usize>(&self, at: usize) -> Result<&'a [[u8; SIZE]], ReadError> {
        Ok(self.records_of(at, SIZE)?.as_chunks().0)
    }

    /// Adds what the table says to the file. Says how many modules the table speaks of.
    pub fn add_to(&self, file: &mut IrFile<'a>) -> Result<usize, ReadError> {
        let header = self.symtab.bytes;
        if file.producer.is_empty() {
            file.producer = self.string(header, header::PRODUCER)?;
            file.triple = self.string(header, header::TRIPLE)?;
            file.source = self.string(header, header::SOURCE)?;
        }
        let directives = self.string(header, header::DIRECTIVES)?;
        if !directives.is_empty() {
            file.directives.push(directives);
        }
        for library in self.records::<STRING>(header::LIBRARIES)? {
            file.libraries.push(self.string(library, 0)?);
        }
        let first_comdat = file.comdats.len();
        for comdat in self.records::<COMDAT>(header::COMDATS)? {
            file.comdats.push(self.comdat(comdat)?);
        }
        self.add_symbols(file, first_comdat)?;
        self.check_modules()
    }

    fn comdat(&self, record: &[u8]) -> Result<Comdat<'a>, ReadError> {
        let selection = match word(record, 8) {
            0 => Selection::Any,
            1 => Selection::ExactMatch,
            2 => Selection::Largest,
            3 => Selection::NoDuplicates,
            4 => Selection::SameSize,
            _ => return Err(self.malformed_in(record, "a COMDAT group of unknown selection")),
        };
        Ok(Comdat { name: self.string(record, 0)?, selection })
    }
}

/// Symbols, and the modules that have them.
impl<'a> Table<'a> {
    fn add_symbols(&self, file: &mut IrFile<'a>, first_comdat: usize) -> Result<(), ReadError> {
        let comdats = (file.comdats.len() - first_comdat) as u32;
        let records = self.records::<SYMBOL>(header::SYMBOLS)?;
        let size = if self.version() == 3 { UNCOMMON_3 } else { UNCOMMON_4 };
        let mut uncommons = self.records_of(header::UNCOMMONS, size)?.chunks_exact(size);
        file.symbols.reserve_exact(records.len());
        for record in records {
            let flags = word(record, 20);
            let uncommon = match flags & flag::HAS_UNCOMMON {
                0 => Uncommon::default(),
                _ => {
                    let next = uncommons.next();
                    self.uncommon(
                        next.ok_or_else(|| self.malformed_in(record, "a symbol without its uncommon"))?,
                    )?
                }
            };
            let comdat = match word(record, 16) {
                NONE => None,
                index if index < comdats => Some(first_comdat as u32 + index),
                _ => return Err(self.malformed_in(record, "a symbol in a COMDAT group that there is not")),
            };
            file.symbols.push(self.symbol(record, flags, comdat, uncommon)?);
        }
        match uncommons.next() {
            None => Ok(()),
            Some(left) => Err(self.malformed_in(left, "an uncommon of no symbol")),
        }
    }

    fn symbol(
        &self,
        record: &[u8],
        flags: u32,
        comdat: Option<u32>,
        uncommon: Uncommon<'a>,
    ) -> Result<IrSymbol<'a>, ReadError> {
        let has = |flag: u32| flags & flag != 0;
        Ok(IrSymbol {
            name: self.string(record, 0)?,
            kind: if has(flag::UNDEFINED) {
                Kind::Undefined
            } else if has(flag::COMMON) {
                Kind::Common { size: uncommon.size, alignment: u64::from(uncommon.alignment) }
            } else {
                Kind::Defined
            },
            is_weak: has(flag::WEAK),
            visibility: match flags & flag::VISIBILITY {
                0 => Visibility::Default,
                1 => Visibility::Hidden,
                2 => Visibility::Protected,
                _ => return Err(self.malformed_in(record, "a symbol of unknown visibility")),
            },
            is_tls: has(flag::TLS),
            is_function: has(flag::EXECUTABLE),
            is_bss: false,
            is_global: has(flag::GLOBAL),
            is_used: has(flag::USED),
            is_internal: has(flag::FORMAT_SPECIFIC),
            can_be_omitted: has(flag::MAY_OMIT),
            is_unnamed_addr: has(flag::UNNAMED_ADDR),
            comdat,
            section: uncommon.section,
            fallback: Some(uncommon.fallback).filter(|name| !name.is_empty()),
            is_indirect: has(flag::INDIRECT),
        })
    }

    fn uncommon(&self, record: &'a [u8]) -> Result<Uncommon<'a>, ReadError> {
        let (high, rest) = match self.version() {
            3 => (0, 4),
            _ => (word(record, 4), 8),
        };
        Ok(Uncommon {
            size: u64::from(high) << 32 | u64::from(word(record, 0)),
            alignment: word(record, rest),
            fallback: self.string(record, rest + 4)?,
            section: self.string(record, rest + 12)?,
        })
    }

    /// The modules' ranges of symbols must follow each other to the last symbol: then the symbols of all
    /// modules are all symbols, in the table's order. Says how many modules there are.
    fn check_modules(&self) -> Result<usize, ReadError> {
        let modules = self.records::<MODULE>(header::MODULES)?;
        let count = modules.len();
        let mut end = 0;
        for module in modules {
            let begin = word(module, 0);
            if begin != end || word(module, 4) < begin {
                return Err(
                    self.malformed_in(module, "a module whose symbols do not follow those of the one before")
                );
            }
            end = word(module, 4);
        }
        if end as usize != self.records::<SYMBOL>(header::SYMBOLS)?.len() {
            return Err(self.malformed(header::MODULES, "symbols of no module"));
        }
        Ok(count)
    }
}
