//! `-b binary`: a file of any contents as an object, which is then linked as any other.
//!
//! ```text
//! .data                      the file's bytes
//! _binary_NAME_start, _end   its first byte, and the one behind its last
//! _binary_NAME_size          their number, an absolute symbol
//! ```
//!
//! NAME is the path as it was given (or found by `-l`), with `_` for what C does not allow in a name. Source:
//! GNU ld manual, "Options", `--format`; `ld.lld` aligns the bytes as here, GNU ld does not.

use crate::arch::facts::Facts;
use crate::elf::*;

const ALIGNMENT: u64 = 8;
const DATA: u16 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const SECTIONS: u64 = 4;

/// The object for a file, as one for `machine`.
pub fn object(machine: &Facts, path: &str, contents: &[u8]) -> Vec<u8> {
    let size = contents.len() as u64;
    let data_at = Ehdr::SIZE as u64;
    let name: String = path.bytes().map(|b| if b.is_ascii_alphanumeric() { b.into() } else { '_' }).collect();
    let mut strings = b"\0.data\0.symtab\0.strtab\0".to_vec();
    let mut symbols = vec![0; Sym::SIZE];
    for (suffix, section, value) in [("start", DATA, 0), ("end", DATA, size), ("size", SHN_ABS, size)] {
        put(&mut symbols, &[(strings.len() as u64, 4), (u64::from(STB_GLOBAL) << 4, 2), (section.into(), 2)]);
        put(&mut symbols, &[(value, 8), (0, 8)]);
        strings.extend_from_slice(format!("_binary_{name}_{suffix}\0").as_bytes());
    }
    let symbols_at = (data_at + size).next_multiple_of(8);
    let strings_at = symbols_at + symbols.len() as u64;
    let headers_at = (strings_at + strings.len() as u64).next_multiple_of(8);
    let mut out = Vec::with_capacity(headers_at as usize + SECTIONS as usize * Shdr::SIZE);
    out.extend_from_slice(ELFMAG);
    out.extend_from_slice(&[ELFCLASS64, ELFDATA2LSB, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    put(
        &mut out,
        &[
            (ET_REL.into(), 2),
            (machine.target.machine.into(), 2),
            (1, 4),
            (0, 8),
            (0, 8),
            (headers_at, 8),
            (0, 4),
        ],
    );
    put(
        &mut out,
        &[(Ehdr::SIZE as u64, 2), (0, 2), (0, 2), (Shdr::SIZE as u64, 2), (SECTIONS, 2), (STRTAB.into(), 2)],
    );
    out.extend_from_slice(contents);
    out.resize(symbols_at as usize, 0);
    out.extend_from_slice(&symbols);
    out.extend_from_slice(&strings);
    out.resize(headers_at as usize + Shdr::SIZE, 0);
    let flags = SHF_WRITE | SHF_ALLOC;
    put(&mut out, &[(1, 4), (SHT_PROGBITS.into(), 4), (flags, 8), (0, 8), (data_at, 8), (size, 8)]);
    put(&mut out, &[(0, 8), (ALIGNMENT, 8), (0, 8)]);
    put(
        &mut out,
        &[(7, 4), (SHT_SYMTAB.into(), 4), (0, 8), (0, 8), (symbols_at, 8), (symbols.len() as u64, 8)],
    );
    put(&mut out, &[(STRTAB.into(), 4), (1, 4), (8, 8), (Sym::SIZE as u64, 8)]);
    put(
        &mut out,
        &[(15, 4), (SHT_STRTAB.into(), 4), (0, 8), (0, 8), (strings_at, 8), (strings.len() as u64, 8)],
    );
    put(&mut out, &[(0, 8), (1, 8), (0, 8)]);
    debug_assert_eq!(out.len() as u64, headers_at + SECTIONS * Shdr::SIZE as u64);
    debug_assert_eq!(out[headers_at as usize + SYMTAB as usize * Shdr::SIZE], 7);
    out
}

/// Appends numbers of so many bytes.
fn put(out: &mut Vec<u8>, numbers: &[(u64, usize)]) {
    for (number, bytes) in numbers {
        out.extend_from_slice(&number.to_le_bytes()[..*bytes]);
    }
}
