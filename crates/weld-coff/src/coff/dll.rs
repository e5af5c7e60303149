//! What a DLL exports, for links without an import library.
//!
//! The export directory has the DLL's name and three tables: addresses by ordinal, names, and of each name
//! its ordinal. All places are offsets in the loaded image, which the table of sections turns into offsets in
//! the file. Source: "PE Format", The .edata Section.

use std::fmt;

use super::machine::Machine;
use super::{c_string, pe, u16_at, u32_at};

/// Something that a DLL exports by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DllExport<'a> {
    pub name: &'a [u8],
    /// It is not in a section of code; what another DLL has counts as code.
    pub is_data: bool,
}

/// A DLL's exports.
#[derive(Debug, PartialEq, Eq)]
pub struct Dll<'a> {
    pub machine: Machine,
    pub name: &'a [u8],
    pub exports: Vec<DllExport<'a>>,
}

struct Section {
    rva: u32,
    size: u32,
    offset: u32,
    is_code: bool,
}

struct Image<'a> {
    data: &'a [u8],
    /// By where they lie.
    sections: Vec<Section>,
}

const FILE_HEADER: usize = 20;
const SECTION_HEADER: usize = 40;
const PE32_PLUS: u16 = 0x20b;

/// What is wrong with an image, or why nothing can be imported from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Short,
    /// It has no header of a PE file.
    Dos,
    Machine(u16),
    NoExports,
    Exports,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Short => "the image is shorter than it says",
            Malformed::Dos => "a program for DOS, which cannot be linked",
            Malformed::Machine(number) => return write!(f, "unknown machine {number:#x}"),
            Malformed::NoExports => "it exports nothing",
            Malformed::Exports => "its export table is malformed",
        })
    }
}

impl std::error::Error for Malformed {}

impl<'a> Dll<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Dll<'a>, Malformed> {
        let short = Malformed::Short;
        let header = u32_at(data, 60).ok_or(short)? as usize;
        if data.get(header..).and_then(|rest| rest.get(..4)) != Some(b"PE\0\0") {
            return Err(Malformed::Dos);
        }
        let file = header + 4;
        let number = u16_at(data, file).ok_or(short)?;
        let machine = Machine::of_number(number).ok_or(Malformed::Machine(number))?;
        let count = usize::from(u16_at(data, file + 2).ok_or(short)?);
        let optional = file + FILE_HEADER;
        let optional_size = usize::from(u16_at(data, file + 16).ok_or(short)?);
        let directories = optional + if u16_at(data, optional) == Some(PE32_PLUS) { 112 } else { 96 };
        let mut sections = Vec::with_capacity(count);
        for at in (optional + optional_size..).step_by(SECTION_HEADER).take(count) {
            let word = |field| u32_at(data, at + field).ok_or(short);
            let is_code = word(36)? & pe::IMAGE_SCN_MEM_EXECUTE.0 != 0;
            sections.push(Section { rva: word(12)?, size: word(8)?, offset: word(20)?, is_code });
        }
        sections.sort_by_key(|section| section.rva);
        let image = Image { data, sections };
        let (start, size) =
            (u32_at(data, directories).unwrap_or(0), u32_at(data, directories + 4).unwrap_or(0));
        if start == 0 || directories + 8 > optional + optional_size {
            return Err(Malformed::NoExports);
        }
        image.exports(machine, start, size).ok_or(Malformed::Exports)
    }
}

impl<'a> Image<'a> {
    /// The bytes from an offset in the loaded image on.
    fn at(&self, rva: u32) -> Option<&'a [u8]> {
        let section = self.section(rva)?;
        self.data.get(section.offset as usize..)?.get((rva - section.rva) as usize..)
    }

    fn section(&self, rva: u32) -> Option<&Section> {
        let before = self.sections.partition_point(|section| section.rva <= rva);
        self.sections[..before].last().filter(|section| rva - section.rva < section.size)
    }

    fn exports(&self, machine: Machine, start: u32, size: u32) -> Option<Dll<'a>> {
        let directory = self.at(start)?;
        let word = |at| u32_at(directory, at);
        let (addresses, names) = (word(20)?, word(24)? as usize);
        let name = c_string(self.at(word(12)?)?)?;
        let mut exports = Vec::new();
        if names > 0 {
            let table = self.at(word(28)?)?;
            let (name_table, ordinals) = (self.at(word(32)?)?, self.at(word(36)?)?);
            // More names than there are bytes for them are none.
            if names > name_table.len() / 4 {
                return None;
            }
            // So are names that lie in one another: together they would be longer than the file.
            let mut room = self.data.len();
            for i in 0..names {
                let text = self.at(u32_at(name_table, 4 * i)?)?;
                let name = c_string(&text[..text.len().min(room)])?;
                room -= name.len();
                let ordinal = u32::from(u16_at(ordinals, 2 * i)?);
                if ordinal >= addresses {
                    return None;
                }
                let target = u32_at(table, 4 * ordinal as usize)?;
                let elsewhere = target >= start && target - start < size;
                let is_code = self.section(target).is_none_or(|section| section.is_code);
                exports.push(DllExport { name, is_data: !elsewhere && !is_code });
            }
        }
        Some(Dll { machine, name, exports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image whose only section has an export directory, a function and a variable.
    fn image() -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        let mut put = |at: usize, word: u32| bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        put(60, 64);
        put(64, u32::from_le_bytes(*b"PE\0\0"));
        put(68, 0x8664 | 2 << 16);
        put(84, 240);
        put(88, 0x20b);
        put(88 + 112, 0x1000);
        put(88 + 116, 0x80);
        for (i, (rva, flags)) in [(0x1000, 0), (0x2000, pe::IMAGE_SCN_MEM_EXECUTE.0)].into_iter().enumerate()
        {
            let header = 88 + 240 + 40 * i;
            put(header + 8, 0x100);
            put(header + 12, rva);
            put(header + 20, 0x300);
            put(header + 36, flags);
        }
        let directory = [0, 0, 0, 0x1070, 1, 3, 3, 0x1030, 0x1040, 0x1050];
        directory.iter().enumerate().for_each(|(i, word)| put(0x300 + 4 * i, *word));
        // A function, a variable, and something in another DLL.
        [0x2010, 0x10f0, 0x1060].iter().enumerate().for_each(|(i, word)| put(0x330 + 4 * i, *word));
        [0x1078, 0x107a, 0x107c].iter().enumerate().for_each(|(i, word)| put(0x340 + 4 * i, *word));
        put(0x350, 1 << 16);
        put(0x354, 2);
        bytes[0x370..0x37e].copy_from_slice(b"own.dll\0f\0v\0g\0");
        bytes
    }

    #[test]
    fn names_and_kinds() {
        let bytes = image();
        let dll = Dll::parse(&bytes).unwrap();
        assert_eq!((dll.machine, dll.name), (Machine::X64, &b"own.dll"[..]));
        let found: Vec<_> = dll.exports.iter().map(|export| (export.name, export.is_data)).collect();
        assert_eq!(found, [(&b"f"[..], false), (b"v", true), (b"g", false)]);
    }

    #[test]
    fn names_in_one_another() {
        let mut bytes = image();
        bytes.splice(0x37e.., [b'x'; 0x400]);
        bytes.push(0);
        let len = bytes.len() as u32;
        for (at, word) in [(88 + 240 + 8, len), (0x318, 40), (0x320, 0x1080)] {
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        // All forty names are the same long one, ordinal 0.
        for i in 0..40 {
            bytes[0x380 + 4 * i..][..4].copy_from_slice(&0x1140u32.to_le_bytes());
        }
        bytes[0x420..0x440].fill(0);
        assert_eq!(Dll::parse(&bytes), Err(Malformed::Exports));
        bytes[0x318] = 1;
        assert_eq!(Dll::parse(&bytes).unwrap().exports.len(), 1);
    }

    #[test]
    fn damaged_tables() {
        let bytes = image();
        for len in 0..bytes.len() {
            _ = Dll::parse(&bytes[..len]);
        }
        for at in 0..bytes.len() {
            for byte in [0xff, 0x7f, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                _ = Dll::parse(&damaged);
            }
        }
    }
}
