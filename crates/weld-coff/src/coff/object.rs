//! A COFF object and its large form (bigobj), viewed in place.
//!
//! Both forms have the same section headers and relocations; symbols have 18 bytes in one and 20 in the
//! other, where section numbers have 32 bits. Tables are checked when the object is opened, names and
//! contents where they are read, so that what nobody asks for is never touched.

use std::fmt;

use object::LittleEndian as LE;
use object::pe::{ImageRelocation, ImageSectionHeader};

use weld_common::hash::{hash_bytes, hash_until_nul};
use weld_common::prefetch::prefetch;

use super::machine::Machine;
use super::name::Name;
use super::{pe, table, u16_at, u32_at};

pub type SectionHeader = ImageSectionHeader;
pub type Relocation = ImageRelocation;

/// A view of an object's tables.
#[derive(Clone, Copy)]
pub struct ObjectFile<'a> {
    pub data: &'a [u8],
    /// `None`: for any machine.
    pub machine: Option<Machine>,
    pub sections: &'a [SectionHeader],
    pub symbols: Symbols<'a>,
    strings: &'a [u8],
}

/// The symbol table: records of `size` bytes.
#[derive(Clone, Copy)]
pub struct Symbols<'a> {
    bytes: &'a [u8],
    size: usize,
}

/// A symbol, in the same form for both kinds of objects.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    name: &'a [u8; 8],
    pub value: u32,
    /// From 1; 0, −1 and −2 are undefined, absolute and debug.
    pub section: i32,
    pub typ: u16,
    pub class: u8,
    /// Auxiliary records after this one.
    pub aux: u8,
}

pub const UNDEFINED: i32 = 0;
pub const ABSOLUTE: i32 = -1;
pub const DEBUG: i32 = -2;

/// Bytes of a file header, and of that of a large object.
const HEADER: usize = 20;
const BIG_HEADER: usize = 56;

/// What is wrong with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The file is too short.
    Header,
    /// There is no machine with this number.
    Machine(u16),
    SectionTable,
    /// There are symbols, but no table.
    NoSymbolTable,
    SymbolTable,
    StringTable,
    StringEnd,
    SectionName,
    SymbolName,
    Contents,
    RelocationCount,
    Relocations,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Header => "the file is shorter than its header",
            Malformed::Machine(number) => return write!(f, "unknown machine {number:#x}"),
            Malformed::SectionTable => "the section table does not lie within the file",
            Malformed::NoSymbolTable => "there is no symbol table, but symbols",
            Malformed::SymbolTable => "the symbol table does not lie within the file",
            Malformed::StringTable => "the string table does not lie within the file",
            Malformed::StringEnd => "the string table does not end with a NUL",
            Malformed::SectionName => "a section's name lies outside the string table",
            Malformed::SymbolName => "a symbol's name lies outside the string table",
            Malformed::Contents => "its contents do not lie within the file",
            Malformed::RelocationCount => "its number of relocations does not lie within the file",
            Malformed::Relocations => "its relocations do not lie within the file",
        })
    }
}

impl std::error::Error for Malformed {}

/// Where the header says that tables are.
pub struct Tables {
    pub first_section: usize,
    pub section_count: u32,
    pub symbols: u32,
    pub symbol_count: u32,
}

impl Tables {
    /// Those of an object, `big` or not.
    pub fn of(data: &[u8], big: bool) -> Result<Tables, Malformed> {
        let field = |at| u32_at(data, at).ok_or(Malformed::Header);
        let half = |at| u16_at(data, at).ok_or(Malformed::Header);
        Ok(match big {
            true => Tables {
                first_section: BIG_HEADER,
                section_count: field(44)?,
                symbols: field(48)?,
                symbol_count: field(52)?,
            },
            false => Tables {
                first_section: HEADER + usize::from(half(16)?),
                section_count: half(2)?.into(),
                symbols: field(8)?,
                symbol_count: field(12)?,
            },
        })
    }

    /// The section table; `None` if it does not lie within the file.
    pub fn sections<'a>(&self, data: &'a [u8]) -> Option<&'a [SectionHeader]> {
        table(data, self.first_section, self.section_count as usize)
    }
}

impl<'a> ObjectFile<'a> {
    /// Opens an object that [`super::identify`] said is one, `big` or not.
    pub fn parse(data: &'a [u8], big: bool) -> Result<ObjectFile<'a>, Malformed> {
        let number = u16_at(data, if big { 6 } else { 0 }).ok_or(Malformed::Header)?;
        let machine = match number {
            0 => None,
            n => Some(Machine::of_number(n).ok_or(Malformed::Machine(n))?),
        };
        let places = Tables::of(data, big)?;
        let sections = places.sections(data).ok_or(Malformed::SectionTable)?;
        let size = if big { pe::IMAGE_SIZEOF_SYMBOL_EX } else { pe::IMAGE_SIZEOF_SYMBOL };
        let (symbols, strings) = tables(data, places.symbols as usize, places.symbol_count as usize, size)?;
        Ok(ObjectFile { data, machine, sections, symbols: Symbols { bytes: symbols, size }, strings })
    }

    /// The records of symbols, and the table of long names.
    pub fn symbol_bytes(&self) -> (&'a [u8], &'a [u8]) {
        (self.symbols.bytes, self.strings)
    }

    /// The header of section `number`, from 1.
    pub fn section(&self, number: u32) -> Option<&'a SectionHeader> {
        self.sections.get((number as usize).checked_sub(1)?)
    }

    /// The name of a section, wherever it is.
    #[inline]
    pub fn section_name(&self, header: &'a SectionHeader) -> Result<&'a [u8], Malformed> {
        self.section_name_and_more(header)?.whole().ok_or(Malformed::SectionName)
    }

    /// The name of a section, without a look for its end.
    #[inline]
    pub fn section_name_and_more(&self, header: &'a SectionHeader) -> Result<Name<'a>, Malformed> {
        let name = short_name(&header.name);
        let reference = match name {
            [b'/', reference @ ..] => reference,
            _ => return Ok(Name::known(name)),
        };
        // A slash that no number follows is part of the name.
        let offset = match reference {
            [b'/', digits @ ..] => base64(digits),
            digits => decimal(digits),
        };
        let Some(offset) = offset else { return Ok(Name::known(name)) };
        let rest = self.strings_from(offset).filter(|rest| !rest.is_empty());
        rest.map(Name::until_nul).ok_or(Malformed::SectionName)
    }

    /// The bytes of a section. Empty for one that has none in the file.
    pub fn contents(&self, header: &SectionHeader) -> Result<&'a [u8], Malformed> {
        if is_uninitialized(header) {
            return Ok(&[]);
        }
        let start = header.pointer_to_raw_data.get(LE) as usize;
        let size = header.size_of_raw_data.get(LE) as usize;
        if size == 0 {
            return Ok(&[]);
        }
        let bytes = self.data.get(start..).and_then(|rest| rest.get(..size));
        bytes.ok_or(Malformed::Contents)
    }

    /// The relocations of a section.
    pub fn relocations(&self, header: &SectionHeader) -> Result<&'a [Relocation], Malformed> {
        let start = header.pointer_to_relocations.get(LE) as usize;
        let mut count = usize::from(header.number_of_relocations.get(LE));
        let mut skip = 0;
        if count == 0xffff && header.characteristics.get(LE).0 & pe::IMAGE_SCN_LNK_NRELOC_OVFL.0 != 0 {
            // The number of all, this one included, is in place of the first one's address.
            let first: &[Relocation] = table(self.data, start, 1).ok_or(Malformed::RelocationCount)?;
            count = first[0].virtual_address.get(LE) as usize;
            skip = 1;
            if count == 0 {
                return Err(Malformed::RelocationCount);
            }
        }
        if count == 0 {
            return Ok(&[]);
        }
        let all: Option<&[Relocation]> = table(self.data, start, count);
        all.map(|all| &all[skip..]).ok_or(Malformed::Relocations)
    }

    /// The name of a symbol.
    #[inline]
    pub fn symbol_name(&self, symbol: &Symbol<'a>) -> Result<&'a [u8], Malformed> {
        self.symbol_name_and_more(symbol)?.whole().ok_or(Malformed::SymbolName)
    }

    /// The name of a symbol, without a look for its end.
    #[inline]
    pub fn symbol_name_and_more(&self, symbol: &Symbol<'a>) -> Result<Name<'a>, Malformed> {
        Ok(match self.symbol_string(symbol)? {
            Some(rest) => Name::until_nul(rest),
            None => Name::known(short_name(symbol.name)),
        })
    }

    /// The name of a symbol and its [`hash_bytes`].
    #[inline]
    pub fn hashed_name(&self, symbol: &Symbol<'a>) -> Result<(&'a [u8], u64), Malformed> {
        match self.symbol_string(symbol)? {
            Some(rest) => match hash_until_nul(rest) {
                Some((length, hash)) => Ok((&rest[..length], hash)),
                None => Err(Malformed::SymbolName),
            },
            None => {
                let name = short_name(symbol.name);
                Ok((name, hash_bytes(name)))
            }
        }
    }

    /// The strings from a symbol's name on; `None` if the symbol has its name in itself.
    #[inline]
    fn symbol_string(&self, symbol: &Symbol<'a>) -> Result<Option<&'a [u8]>, Malformed> {
        let [zeroes @ .., a, b, c, d] = *symbol.name;
        if zeroes != [0; 4] {
            return Ok(None);
        }
        match u32::from_le_bytes([a, b, c, d]) {
            0 => Ok(None),
            offset => self.strings_from(offset).map(Some).ok_or(Malformed::SymbolName),
        }
    }

    /// Asks for the name of a record that will be read soon.
    #[inline]
    pub fn prefetch_name(&self, index: u32) {
        let at = index as usize * self.symbols.size;
        let name = self.symbols.bytes.get(at..).and_then(|record| record.first_chunk::<8>());
        if let Some([0, 0, 0, 0, a, b, c, d]) = name {
            prefetch(self.strings, u32::from_le_bytes([*a, *b, *c, *d]) as usize);
        }
    }

    /// The string table from `offset` on, which counts from the table's size.
    #[inline]
    fn strings_from(&self, offset: u32) -> Option<&'a [u8]> {
        if offset < 4 {
            return None;
        }
        self.strings.get(offset as usize..)
    }
}

/// A name of at most eight bytes.
#[inline]
fn short_name(bytes: &[u8; 8]) -> &[u8] {
    let word = u64::from_le_bytes(*bytes);
    // The lowest of the bits that are set is in the first byte that is zero.
    let zeroes = word.wrapping_sub(u64::MAX / 255) & !word & (u64::MAX / 255 * 128);
    &bytes[..(zeroes.trailing_zeros() / 8) as usize]
}

/// A number of decimal digits.
fn decimal(digits: &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for digit in digits {
        value = value.checked_mul(10)?.checked_add(u32::from(digit.wrapping_sub(b'0')))?;
        if !digit.is_ascii_digit() {
            return None;
        }
    }
    (!digits.is_empty()).then_some(value)
}

/// The symbol table at `start`, and the string table after it, whose first four bytes are its size.
fn tables(data: &[u8], start: usize, count: usize, size: usize) -> Result<(&[u8], &[u8]), Malformed> {
    if start == 0 {
        return match count {
            0 => Ok((&[], &[])),
            _ => Err(Malformed::NoSymbolTable),
        };
    }
    let rest = data.get(start..);
    let Some((symbols, behind)) =
        rest.zip(count.checked_mul(size)).and_then(|(rest, n)| rest.split_at_checked(n))
    else {
        return Err(Malformed::SymbolTable);
    };
    let strings = match u32_at(behind, 0) {
        // Some tools write 0 for an empty table.
        None | Some(0) => &[],
        Some(size) => behind.get(..size as usize).ok_or(Malformed::StringTable)?,
    };
    if strings.len() > 4 && strings.last() != Some(&0) {
        return Err(Malformed::StringEnd);
    }
    Ok((symbols, strings))
}

/// A number in the digits that stand for offsets above 9999999 in section names.
fn base64(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0u64, |value, &digit| {
        let digit = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        Some(value << 6 | u64::from(digit))
    })?;
    u32::try_from(value).ok()
}

/// Whether a section has no bytes in the file.
pub fn is_uninitialized(header: &SectionHeader) -> bool {
    header.characteristics.get(LE).0 & pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0 != 0
}

/// The alignment of a section as a power of two; `None` if the header says none that there is. Without a word
/// of it, it is 16 bytes.
pub fn alignment(characteristics: u32) -> Option<u8> {
    match (characteristics & pe::IMAGE_SCN_ALIGN_MASK) >> 20 {
        0 if characteristics & pe::IMAGE_SCN_TYPE_NO_PAD.0 != 0 => Some(0),
        0 => Some(4),
        15 => None,
        n => Some(n as u8 - 1),
    }
}

impl<'a> Symbols<'a> {
    /// The number of records, auxiliary ones included.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.size
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Record `index` as a symbol.
    #[inline]
    pub fn get(&self, index: u32) -> Option<Symbol<'a>> {
        let at = (index as usize).checked_mul(self.size)?;
        self.first_of(self.bytes.get(at..)?)
    }

    /// The symbol that `records` begin with.
    #[inline]
    fn first_of(&self, records: &'a [u8]) -> Option<Symbol<'a>> {
        // Lengths that are known here make all reads below free of checks.
        if self.size == pe::IMAGE_SIZEOF_SYMBOL_EX {
            let record: &[u8; pe::IMAGE_SIZEOF_SYMBOL_EX] = records.first_chunk()?;
            let section = u32_at(record, 12)? as i32;
            let (typ, class, aux) = (u16_at(record, 16)?, record[18], record[19]);
            return Some(Symbol {
                name: record.first_chunk()?,
                value: u32_at(record, 8)?,
                section,
                typ,
                class,
                aux,
            });
        }
        let record: &[u8; pe::IMAGE_SIZEOF_SYMBOL] = records.first_chunk()?;
        // Numbers from 0xff00 on are negative ones.
        let number = u16_at(record, 12)?;
        let section = if number >= 0xff00 { i32::from(number as i16) } else { i32::from(number) };
        let (typ, class, aux) = (u16_at(record, 14)?, record[16], record[17]);
        Some(Symbol { name: record.first_chunk()?, value: u32_at(record, 8)?, section, typ, class, aux })
    }

    /// The first auxiliary record after symbol `index`.
    pub fn aux(&self, index: u32, symbol: &Symbol) -> Option<&'a [u8]> {
        if symbol.aux == 0 {
            return None;
        }
        let at = (index as usize + 1).checked_mul(self.size)?;
        self.bytes.get(at..)?.get(..self.size)
    }

    /// Where record `index` is in the object `data` that this is the table of, and the size of a record.
    pub fn place(&self, data: &[u8], index: u32) -> Option<(usize, usize)> {
        let start = (self.bytes.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let at = (index as usize).checked_mul(self.size)?;
        (at + self.size <= self.bytes.len()).then_some((start + at, self.size))
    }

    /// All symbols with their numbers; auxiliary records are passed over.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, Symbol<'a>)> + use<'a> {
        let symbols = *self;
        let (mut rest, mut next) = (symbols.bytes, 0u32);
        std::iter::from_fn(move || {
            let (index, symbol) = (next, symbols.first_of(rest)?);
            let records = 1 + u32::from(symbol.aux);
            next = index.checked_add(records)?;
            rest = rest.get(records as usize * symbols.size..).unwrap_or_default();
            Some((index, symbol))
        })
    }
}

/// What a section symbol says of its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionDefinition {
    /// How sections of one name are chosen from; one of `IMAGE_COMDAT_SELECT_*`.
    pub selection: u8,
    /// The section that an associative one goes with.
    pub number: u32,
    pub checksum: u32,
}

impl<'a> Symbols<'a> {
    /// What symbol `index` says of its section if it is a section symbol.
    pub fn section_definition(&self, index: u32, symbol: &Symbol<'a>) -> Option<SectionDefinition> {
        let is_one = symbol.class == pe::IMAGE_SYM_CLASS_STATIC.0 && symbol.value == 0 && symbol.section > 0;
        // Symbols of C++/CLI have an auxiliary record of another kind, and class.
        let aux = self.aux(index, symbol).filter(|_| is_one)?;
        let high = if self.size == pe::IMAGE_SIZEOF_SYMBOL_EX { u16_at(aux, 16)? } else { 0 };
        let number = u32::from(u16_at(aux, 12)?) | u32::from(high) << 16;
        Some(SectionDefinition { selection: aux[14], number, checksum: u32_at(aux, 8)? })
    }

    /// The symbol that a weak external stands for if nobody defines it, and how libraries are searched for
    /// it.
    pub fn weak_external(&self, index: u32, symbol: &Symbol<'a>) -> Option<(u32, u32)> {
        let aux = self.aux(index, symbol).filter(|_| symbol.is_weak_external())?;
        Some((u32_at(aux, 0)?, u32_at(aux, 4)?))
    }
}

impl Symbol<'_> {
    pub fn is_weak_external(&self) -> bool {
        self.class == pe::IMAGE_SYM_CLASS_WEAK_EXTERNAL.0
    }

    /// Whether other files see it.
    #[inline]
    pub fn is_global(&self) -> bool {
        self.class == pe::IMAGE_SYM_CLASS_EXTERNAL.0 || self.is_weak_external()
    }

    /// Whether it is a block that has its size as its value.
    pub fn is_common(&self) -> bool {
        self.class == pe::IMAGE_SYM_CLASS_EXTERNAL.0 && self.section == UNDEFINED && self.value != 0
    }

    pub fn is_function(&self) -> bool {
        self.typ >> 4 == 2
    }

    /// The first bytes of its name, in place or not.
    pub fn raw_name(&self) -> &[u8; 8] {
        self.name
    }
}

#[cfg(test)]
mod tests {
    use weld_testkit::coff::{self, Coff};

    use super::*;

    fn example(big: bool) -> Vec<u8> {
        let mut object = Coff::new(coff::AMD64);
        if big {
            object = object.big();
        }
        let text = object.section(".text$long_name", coff::CODE | coff::COMDAT, &[0xe8, 0, 0, 0, 0, 0xc3]);
        let bss = object.zeroes(".bss", 0, 64);
        object.section_symbol(text, coff::ANY, 0);
        object.symbol("a_long_function_name", 0, text, coff::EXTERNAL);
        let callee = object.symbol("callee", 0, 0, coff::EXTERNAL);
        object.weak("weak", callee);
        object.symbol("absolute", 7, ABSOLUTE, coff::EXTERNAL);
        object.symbol("zeroes", 4, bss, coff::STATIC);
        object.reloc(text, 1, callee, coff::REL32);
        object.build()
    }

    /// Looks at everything there is.
    fn walk(data: &[u8], big: bool) -> Result<Vec<String>, Malformed> {
        let object = ObjectFile::parse(data, big)?;
        let mut seen = Vec::new();
        for header in object.sections {
            let name = object.section_name(header)?;
            let (contents, relocations) = (object.contents(header)?, object.relocations(header)?);
            seen.push(format!("{} {} {}", String::from_utf8_lossy(name), contents.len(), relocations.len()));
        }
        for (index, symbol) in object.symbols.iter() {
            let name = String::from_utf8_lossy(object.symbol_name(&symbol)?).into_owned();
            let definition = object.symbols.section_definition(index, &symbol).map(|d| d.selection);
            let weak = object.symbols.weak_external(index, &symbol).map(|(target, _)| target);
            seen.push(format!("{index} {name} {} {} {definition:?} {weak:?}", symbol.value, symbol.section));
        }
        Ok(seen)
    }

    #[test]
    fn both_forms_say_the_same() {
        let want = [
            ".text$long_name 6 1",
            ".bss 0 0",
            "0 .text$long_name 0 1 Some(2) None",
            "2 a_long_function_name 0 1 None None",
            "3 callee 0 0 None None",
            "4 weak 0 0 None Some(3)",
            "6 absolute 7 -1 None None",
            "7 zeroes 4 2 None None",
        ];
        assert_eq!(walk(&example(false), false).unwrap(), want);
        assert_eq!(walk(&example(true), true).unwrap(), want);
    }

    #[test]
    fn damage_is_an_error_and_nothing_worse() {
        for big in [false, true] {
            let bytes = example(big);
            for len in 0..bytes.len() {
                _ = walk(&bytes[..len], big);
            }
            for at in 0..bytes.len() {
                for value in [0, 1, 0x7f, 0x80, 0xfe, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] = value;
                    _ = walk(&damaged, big);
                }
            }
        }
    }

    #[test]
    fn offsets_in_base_64() {
        assert_eq!(base64(b"AAAAAB"), Some(1));
        assert_eq!(base64(b"D/////"), Some(u32::MAX));
        assert_eq!(base64(b"//////"), None);
        assert_eq!((base64(b""), base64(b"!")), (None, None));
    }

    #[test]
    fn alignments() {
        assert_eq!(alignment(0), Some(4));
        assert_eq!(alignment(8), Some(0));
        assert_eq!(alignment(0x0010_0000), Some(0));
        assert_eq!(alignment(0x00e0_0000), Some(13));
        assert_eq!(alignment(0x00f0_0000), None);
    }
}
