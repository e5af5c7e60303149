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

use crate::elf::*;

const ALIGNMENT: u64 = 8;
const DATA: u16 = 1;
const STRTAB: u32 = 3;
const SECTIONS: u64 = 4;

/// The object for a file, as one for `target`.
pub fn object(path: &str, contents: &[u8], target: Target) -> Vec<u8> {
    let size = contents.len() as u64;
    let name: String = path.bytes().map(|b| if b.is_ascii_alphanumeric() { b.into() } else { '_' }).collect();
    let mut symbols = Symbols::default();
    for (suffix, section, value) in [("start", DATA, 0), ("end", DATA, size), ("size", SHN_ABS, size)] {
        let name = [b"_binary_".as_slice(), name.as_bytes(), b"_", suffix.as_bytes()];
        symbols.add(&name, (STB_GLOBAL << 4, 0), section, (value, 0));
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
        Symbols { list: vec![Sym([0; Sym::SIZE])], strings: b"\0.data\0.symtab\0.strtab\0".to_vec() }
    }
}

impl Symbols {
    /// Adds one whose name is in pieces, with `st_info` and `st_other`, its section, its value and its size.
    pub fn add(&mut self, name: &[&[u8]], (info, other): (u8, u8), section: u16, (value, size): (u64, u64)) {
        self.list.push(Sym::make(self.strings.len() as u32, info, other, section, value, size));
        name.iter().for_each(|piece| self.strings.extend_from_slice(piece));
        self.strings.push(0);
    }
}

/// An object with symbols, and a section of data, if there are `contents`.
pub fn assemble(target: Target, flags: u32, contents: Option<&[u8]>, symbols: Symbols) -> Vec<u8> {
    let format = target.format;
    let Symbols { list: symbols, strings } = symbols;
    let (data_at, size) = (format.size::<Ehdr>(), contents.map_or(0, <[u8]>::len) as u64);
    let symbols_at = (data_at + size).next_multiple_of(8);
    let symbols_size = symbols.len() as u64 * format.size::<Sym>();
    let strings_at = symbols_at + symbols_size;
    let headers_at = (strings_at + strings.len() as u64).next_multiple_of(8);
    let mut out = Writer::with_room(format, (headers_at + SECTIONS * format.size::<Shdr>()) as usize);
    let [class, order] = format.ident();
    out.bytes(ELFMAG).bytes(&[class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.u16(ET_REL).u16(target.machine).u32(1).word(0).word(0).word(headers_at).u32(flags);
    out.u16(format.size::<Ehdr>() as u16).u16(0).u16(0);
    out.u16(format.size::<Shdr>() as u16).u16(SECTIONS as u16).u16(STRTAB as u16);
    out.bytes(contents.unwrap_or_default()).align(8);
    symbols.iter().for_each(|symbol| _ = out.record(symbol));
    out.bytes(&strings).align(8);
    let mut section = |head: [u32; 2], flags, (offset, size): (u64, u64), link: [u32; 2], align: [u64; 2]| {
        out.u32(head[0]).u32(head[1]).word(flags).word(0).word(offset).word(size);
        out.u32(link[0]).u32(link[1]).word(align[0]).word(align[1]);
    };
    section([0, SHT_NULL], 0, (0, 0), [0, 0], [0, 0]);
    match contents {
        Some(_) => {
            section([1, SHT_PROGBITS], SHF_WRITE | SHF_ALLOC, (data_at, size), [0, 0], [ALIGNMENT, 0]);
        }
        None => section([0, SHT_NULL], 0, (0, 0), [0, 0], [0, 0]),
    }
    section([7, SHT_SYMTAB], 0, (symbols_at, symbols_size), [STRTAB, 1], [8, format.size::<Sym>()]);
    section([15, SHT_STRTAB], 0, (strings_at, strings.len() as u64), [0, 0], [1, 0]);
    out.finish()
}
