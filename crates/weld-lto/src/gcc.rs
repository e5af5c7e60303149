//! GCC's intermediate code: what its sections in an object say of symbols.
//!
//! An object with intermediate code has a section `.gnu.lto_.symtab.ID` of entries that follow each other
//! without alignment (name, NUL, COMDAT group, NUL, kind, visibility, 8 bytes of size, 4 bytes of a number of
//! GCC's), `.gnu.lto_.ext_symtab.ID` with two bytes more for each (GCC 10 and later), and `.gnu.lto_.lto.ID`
//! that says which format all is in. `ID` is a number made at random, so that objects joined by `-r` keep
//! their sections apart; their symbols follow each other here. Numbers have the byte order of the compiler
//! that wrote them, which for every known one is that of the machine that it runs on: little endian is
//! assumed.
//!
//! An object is *slim* if there is no machine code besides. GCC 9 and older say that by a symbol
//! `__gnu_lto_slim` alone, newer ones by the last of these sections too, which is what is asked here.
//!
//! Names are as objects have them: on targets that put `_` in front of C's names (32-bit Windows), with it.
//!
//! Source: `include/plugin-api.h` (the enumerations); GCC's internals manual, "LTO file sections".

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use weld_common::reader::Reader;

use crate::ir::{Comdat, Compiler, IrFile, IrSymbol, Kind, ReadError, Selection, Visibility};

/// What names of sections begin with; `ID` follows.
const SYMTAB: &[u8] = b".gnu.lto_.symtab.";
const EXTENSION: &[u8] = b".gnu.lto_.ext_symtab.";
const FORMAT: &[u8] = b".gnu.lto_.lto.";

/// The only version of the extension.
const EXTENSION_VERSION: u8 = 1;

/// Bytes of an entry behind its two strings: kind, visibility, size, number.
const FIXED: usize = 14;

/// Whether a section of this name makes its object one of intermediate code.
pub fn is_symtab(name: &[u8]) -> bool {
    name.starts_with(SYMTAB)
}

/// Reads the symbols of an object's sections, given as name and contents. Sections of other names are passed
/// over, so all of an object may be given, in its order.
///
/// # Errors
/// If a section is not as the format has it. Offsets are in bytes from the section's start.
pub fn read<'a>(sections: &[(&'a [u8], &'a [u8])]) -> Result<IrFile<'a>, ReadError> {
    let mut file = IrFile { is_fat: true, ..IrFile::new(Compiler::Gcc) };
    let mut extensions = HashMap::new();
    let mut has_symtab = false;
    for &(name, contents) in sections {
        if let Some(id) = name.strip_prefix(EXTENSION) {
            extensions.entry(id).or_insert(contents);
        } else if name.starts_with(FORMAT) {
            let format = Format::read(contents)?;
            file.major = file.major.max(Some(format.major));
            file.is_fat &= !format.is_slim;
        }
    }
    let mut comdats = HashMap::new();
    for &(name, contents) in sections {
        let Some(id) = name.strip_prefix(SYMTAB) else { continue };
        has_symtab = true;
        let extension = extensions.get(id).map(|contents| Extension::new(contents)).transpose()?;
        read_symbols(contents, extension.unwrap_or_default(), &mut comdats, &mut file)?;
    }
    match has_symtab {
        true => Ok(file),
        false => Err(ReadError::NoSymbolTable { producer: Vec::new() }),
    }
}

/// `.gnu.lto_.lto.ID`.
struct Format {
    major: u32,
    /// There is no machine code in the object besides.
    is_slim: bool,
}

impl Format {
    /// Major and minor version, 16 bits each, and a byte that says whether the object is slim; then flags
    /// that are the compiler's own.
    fn read(contents: &[u8]) -> Result<Format, ReadError> {
        let [low, high, _, _, slim, ..] = *contents else {
            return Err(ReadError::Malformed { offset: 0, what: "a format of LTO that is cut short" });
        };
        Ok(Format { major: u32::from(u16::from_le_bytes([low, high])), is_slim: slim != 0 })
    }
}

/// `.gnu.lto_.ext_symtab.ID`: what a function is, and what zeros are.
#[derive(Default)]
struct Extension<'a> {
    entries: &'a [u8],
}

impl<'a> Extension<'a> {
    fn new(contents: &'a [u8]) -> Result<Self, ReadError> {
        match contents {
            [EXTENSION_VERSION, entries @ ..] => Ok(Extension { entries }),
            [version, ..] => {
                Err(ReadError::UnknownVersion { version: u32::from(*version), producer: Vec::new() })
            }
            [] => Ok(Extension::default()),
        }
    }

    /// The type and the kind of section of the next symbol; zeros where nothing is known.
    fn next(&mut self) -> [u8; 2] {
        let [kind, section, rest @ ..] = self.entries else { return [0; 2] };
        self.entries = rest;
        [*kind, *section]
    }
}

fn read_symbols<'a>(
    contents: &'a [u8],
    mut extension: Extension<'a>,
    comdats: &mut HashMap<&'a [u8], u32>,
    file: &mut IrFile<'a>,
) -> Result<(), ReadError> {
    let mut reader = Reader::new(contents);
    while !reader.is_empty() {
        let start = reader.position();
        let malformed = |what| ReadError::Malformed { offset: start as u64, what };
        let cut = || malformed("a symbol that is cut short");
        let name = reader.c_string().ok_or_else(cut)?;
        let comdat = reader.c_string().ok_or_else(cut)?;
        let fixed = contents[reader.position()..].first_chunk::<FIXED>().ok_or_else(cut)?;
        reader.skip(FIXED).ok_or_else(cut)?;
        let &[kind, visibility, ref size @ .., _, _, _, _] = fixed;
        let size = u64::from_le_bytes(*size);
        let (is_weak, kind) = match kind {
            0 => (false, Kind::Defined),
            1 => (true, Kind::Defined),
            2 => (false, Kind::Undefined),
            3 => (true, Kind::Undefined),
            4 => (false, Kind::Common { size, alignment: 1 }),
            _ => return Err(malformed("a symbol of unknown kind")),
        };
        let visibility = match visibility {
            0 => Visibility::Default,
            1 => Visibility::Protected,
            2 => Visibility::Internal,
            3 => Visibility::Hidden,
            _ => return Err(malformed("a symbol of unknown visibility")),
        };
        let comdat = (!comdat.is_empty()).then(|| match comdats.entry(comdat) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                file.comdats.push(Comdat { name: comdat, selection: Selection::Any });
                *new.insert(file.comdats.len() as u32 - 1)
            }
        });
        let [symbol_type, section_kind] = extension.next();
        file.symbols.push(IrSymbol {
            is_weak,
            visibility,
            is_function: symbol_type == FUNCTION,
            is_bss: section_kind & BSS != 0,
            comdat,
            ..IrSymbol::new(name, kind)
        });
    }
    Ok(())
}

/// A symbol's type, and a bit of the kind of section that it will be in.
const FUNCTION: u8 = 1;
const BSS: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of the table of symbols.
    fn entry(name: &str, comdat: &str, kind: u8, visibility: u8, size: u64) -> Vec<u8> {
        let strings = format!("{name}\0{comdat}\0").into_bytes();
        [&strings[..], &[kind, visibility], &size.to_le_bytes(), &[9, 0, 0, 0]].concat()
    }

    fn malformed(sections: &[(&[u8], &[u8])]) -> (u64, &'static str) {
        match read(sections) {
            Err(ReadError::Malformed { offset, what }) => (offset, what),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn kinds_and_what_the_extension_adds() {
        let kinds = (0..5).map(|kind| entry("f", "", kind, 0, 12)).collect::<Vec<_>>().concat();
        let extension = [1, 1, 0, 2, 1, 1, 0];
        let sections = [
            (&b".gnu.lto_.ext_symtab.a"[..], &extension[..]),
            (b".text", b"x"),
            (b".gnu.lto_.symtab.a", &kinds),
        ];
        let file = read(&sections).unwrap();
        let rows: Vec<_> =
            file.symbols.iter().map(|s| (s.is_weak, s.kind, s.is_function, s.is_bss)).collect();
        let expected = [
            (false, Kind::Defined, true, false),
            (true, Kind::Defined, false, true),
            (false, Kind::Undefined, true, false),
            (true, Kind::Undefined, false, false),
            (false, Kind::Common { size: 12, alignment: 1 }, false, false),
        ];
        assert_eq!(rows, expected);
        assert!(file.symbols.iter().all(IrSymbol::is_for_linkers));
        assert_eq!((file.is_fat, file.major), (true, None));
    }

    #[test]
    fn several_tables_in_their_order() {
        let first = [entry("a", "g", 0, 3, 0), entry("b", "h", 0, 1, 0)].concat();
        let second = entry("c", "g", 0, 2, 0);
        let sections = [
            (&b".gnu.lto_.symtab.2"[..], &first[..]),
            (b".gnu.lto_.symtab.1", &second),
            (b".gnu.lto_.ext_symtab.1", &[1, 1, 0]),
            (b".gnu.lto_.lto.1", &[13, 0, 1, 0, 1, 0, 1, 0]),
            (b".gnu.lto_.lto.2", &[12, 0, 0, 0, 0, 0, 1, 0]),
        ];
        let file = read(&sections).unwrap();
        let names: Vec<_> =
            file.symbols.iter().map(|s| (s.name, s.comdat, s.visibility, s.is_function)).collect();
        let expected = [
            (&b"a"[..], Some(0), Visibility::Hidden, false),
            (b"b", Some(1), Visibility::Protected, false),
            (b"c", Some(0), Visibility::Internal, true),
        ];
        assert_eq!(names, expected);
        assert_eq!(file.comdats.iter().map(|comdat| comdat.name).collect::<Vec<_>>(), [b"g", b"h"]);
        assert_eq!((file.is_fat, file.major), (false, Some(13)));
    }

    #[test]
    fn what_cannot_be_read() {
        let table = [entry("a", "", 0, 0, 0), entry("b", "", 0, 0, 0)].concat();
        let symtab = |contents: &[u8]| malformed(&[(b".gnu.lto_.symtab.x", contents)]);
        assert_eq!(symtab(&table[..table.len() - 1]), (17, "a symbol that is cut short"));
        assert_eq!(symtab(b"a"), (0, "a symbol that is cut short"));
        assert_eq!(symtab(&entry("a", "", 5, 0, 0)), (0, "a symbol of unknown kind"));
        assert_eq!(symtab(&entry("a", "", 0, 4, 0)), (0, "a symbol of unknown visibility"));
        assert_eq!(malformed(&[(b".gnu.lto_.lto.x", &[12, 0])]), (0, "a format of LTO that is cut short"));
        let newer = [(&b".gnu.lto_.symtab.x"[..], &table[..]), (b".gnu.lto_.ext_symtab.x", &[2, 0])];
        assert_eq!(read(&newer).unwrap_err(), ReadError::UnknownVersion { version: 2, producer: Vec::new() });
        assert_eq!(read(&[]).unwrap_err(), ReadError::NoSymbolTable { producer: Vec::new() });
    }
}
