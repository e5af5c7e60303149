//! `-b binary`: a file of any contents as an object, which is then linked as any other.
//!
//! ```text
//! .data                      the file's bytes
//! _binary_NAME_start, _end   its first byte, and the one after its last
//! _binary_NAME_size          their number, an absolute symbol
//! ```
//!
//! NAME is the path as it was given (or found by `-l`), with `_` for what C does not allow in a name. Source:
//! GNU ld manual, "Options", `--format`; `ld.lld` aligns the bytes as here, GNU ld does not.

use super::made::{self, Section};
use crate::elf::*;

const ALIGNMENT: u64 = 8;
const DATA: u16 = 1;
const STRTAB: u32 = 3;
const SECTIONS: usize = 4;

/// The object for a file, as one for `target`.
pub fn object(path: &str, contents: &[u8], target: Target) -> Vec<u8> {
    let size = contents.len() as u64;
    let name: String = path.bytes().map(|b| if b.is_ascii_alphanumeric() { b.into() } else { '_' }).collect();
    let mut symbols = Symbols::default();
    for (suffix, section, value) in [("start", DATA, 0), ("end", DATA, size), ("size", SHN_ABS, size)] {
        let name = [b"_binary_".as_slice(), name.as_bytes(), b"_", suffix.as_bytes()];
        symbols.add(&name, STB_GLOBAL << 4, 0, section, value, 0);
    }
    assemble(target, 0, Some(contents), symbols)
}

/// Global symbols of an object in the making.
pub struct Symbols {
    list: Vec<Sym>,
    strings: Vec<u8>,
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols::with_sections(b"\0.data\0.symtab\0.strtab\0")
    }
}

impl Symbols {
    /// None yet. Names of sections are among their names.
    pub fn with_sections(names: &[u8]) -> Symbols {
        Symbols { list: vec![Sym([0; Sym::SIZE])], strings: names.to_vec() }
    }

    /// All of them, and their names.
    pub fn finish(self) -> (Vec<Sym>, Vec<u8>) {
        (self.list, self.strings)
    }

    /// Adds one whose name is in pieces, with `st_info` and `st_other`, its section, its value and its size. Its number.
    pub fn add(&mut self, name: &[&[u8]], info: u8, other: u8, section: u16, value: u64, size: u64) -> u32 {
        self.list.push(Sym::make(self.strings.len() as u32, info, other, section, value, size));
        name.iter().for_each(|piece| self.strings.extend_from_slice(piece));
        self.strings.push(0);
        self.list.len() as u32 - 1
    }
}

/// An object with symbols, and a section of data, if there are `contents`.
pub fn assemble(target: Target, flags: u32, contents: Option<&[u8]>, symbols: Symbols) -> Vec<u8> {
    let format = target.format;
    let Symbols { list: symbols, strings } = symbols;
    let room = contents.map_or(0, <[u8]>::len) + strings.len() + (symbols.len() + 16) * Shdr::SIZE;
    let mut out = Writer::with_room(format, room);
    made::begin(&mut out, format);
    let mut sections = [Section::default(); SECTIONS];
    if let Some(contents) = contents {
        let at = out.position();
        out.bytes(contents);
        let data =
            Section { name: 1, kind: SHT_PROGBITS, flags: SHF_WRITE | SHF_ALLOC, ..Section::default() };
        sections[usize::from(DATA)] = Section { align: ALIGNMENT, ..data }.over(at, &out);
    }
    let at = out.align(8).position();
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    let symtab = Section { name: 7, kind: SHT_SYMTAB, link: [STRTAB, 1], align: 8, ..Section::default() };
    sections[2] = symtab.over(at, &out).of_entries(format.size::<Sym>());
    let at = out.position();
    out.bytes(&strings);
    sections[STRTAB as usize] = Section { name: 15, kind: SHT_STRTAB, ..Section::default() }.over(at, &out);
    let at = out.align(8).position();
    sections.iter().for_each(|section| section.write(&mut out));
    made::complete(out, target, flags, at, SECTIONS, STRTAB)
}
