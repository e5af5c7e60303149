//! Objects that a compiler has made: mapped, and looked at whether they can be linked with the others.
//!
//! Compilers do not always fail when they should: clang with an index that it cannot use leaves an empty
//! object and says that all is well.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};

use crate::answer::{Bytes, Fault};
use crate::request::Machine;

/// Maps an object.
///
/// # Errors
/// If it cannot be read, is no object for this machine, or is cut short.
pub fn take(path: &Path, machine: Machine) -> Result<Bytes, Fault> {
    let open = || {
        let file = File::open(path)?;
        // Nothing can be mapped of an empty file on some systems.
        match file.metadata()?.len() {
            0 => Ok(None),
            // SAFETY: nobody but the engine knows the file, and that is done with it.
            _ => unsafe { Mmap::map(&file) }.map(Some),
        }
    };
    let bytes = open().map_err(|error| Fault::File { path: path.to_owned(), error })?;
    check_all(bytes.as_deref().unwrap_or_default(), machine, path)?;
    bytes.map(Bytes::whole).ok_or(Fault::NoObjects)
}

/// A file that an engine has put small objects into.
pub struct Parts {
    path: PathBuf,
    map: Arc<Mmap>,
}

impl Parts {
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> Result<Parts, Fault> {
        // SAFETY: as in `take`.
        let map = File::open(path).and_then(|file| unsafe { MmapOptions::new().populate().map(&file) });
        let map = map.map_err(|error| Fault::File { path: path.to_owned(), error })?;
        Ok(Parts { path: path.to_owned(), map: Arc::new(map) })
    }

    /// An object in it.
    ///
    /// # Errors
    /// If it is not there, is no object for this machine, or is cut short.
    pub fn take(&self, offset: u64, size: u64, machine: Machine) -> Result<Bytes, Fault> {
        let end = offset.checked_add(size).filter(|end| *end <= self.map.len() as u64);
        let range = end.map_or(0..0, |end| offset as usize..end as usize);
        check_all(&self.map[range.clone()], machine, &self.path)?;
        Ok(Bytes { map: self.map.clone(), range })
    }
}

fn check_all(bytes: &[u8], machine: Machine, path: &Path) -> Result<(), Fault> {
    let checked = check(bytes, machine).and_then(|()| check_whole(bytes, machine).map_err(Cow::Borrowed));
    let bad =
        |why: Cow<'_, str>| Fault::BadObject { path: path.to_owned(), why: why.into_owned(), cache: None };
    checked.map_err(bad)
}

/// Checks the header.
///
/// # Errors
/// Why it is no object for this machine.
pub fn check(bytes: &[u8], machine: Machine) -> Result<(), Cow<'static, str>> {
    match machine {
        _ if bytes.is_empty() => Err("it is empty".into()),
        Machine::Elf { .. } => elf(bytes, machine),
        Machine::Coff { machine } => coff(bytes, machine),
    }
}

/// Checks that what the headers speak of is there, which it is not if only a part has arrived.
///
/// # Errors
/// Why it cannot be linked.
fn check_whole(bytes: &[u8], machine: Machine) -> Result<(), &'static str> {
    let end = match machine {
        Machine::Elf { is_64, is_big_endian, .. } => elf_end(bytes, is_64, is_big_endian),
        Machine::Coff { .. } => coff_end(bytes),
    };
    match end {
        Some(end) if end <= bytes.len() as u64 => Ok(()),
        _ => Err("it is cut short"),
    }
}

/// gABI, "Section Header": the table at `e_shoff` (40; 32 in 32 bits), `sh_type` at 4, `sh_offset` and
/// `sh_size` at 24 and 32 (16 and 20). Where the last of all ends.
fn elf_end(bytes: &[u8], is_64: bool, is_big_endian: bool) -> Option<u64> {
    const NOBITS: u64 = 8;
    let number = |at: u64, size: usize| {
        let at = usize::try_from(at).ok()?;
        let bytes = bytes.get(at..at.checked_add(size)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    };
    let (word, table, counts, offset, length, entry) =
        if is_64 { (8, 40, 60, 24, 32, 64) } else { (4, 32, 48, 16, 20, 40) };
    let start = number(table, word)?;
    let count = match number(counts, 2)? {
        // More than fit: the first section's size.
        0 if start > 0 => number(start.checked_add(length)?, word)?,
        count => count,
    };
    let mut end = start.checked_add(count.checked_mul(entry)?)?;
    if end > bytes.len() as u64 {
        return None;
    }
    for section in 0..count {
        let header = start + section * entry;
        if section > 0 && number(header + 4, 4)? != NOBITS {
            end = end.max(number(header + offset, word)?.checked_add(number(header + length, word)?)?);
        }
    }
    Some(end)
}

/// PE/COFF: section headers behind the header and what it calls optional, raw data by size and pointer at 16
/// and 20, symbols (18 bytes each, 20 in objects with many sections) and the table of strings, which begins
/// with its size.
fn coff_end(bytes: &[u8]) -> Option<u64> {
    let number = |at: u64, size: usize| {
        let at = usize::try_from(at).ok()?;
        let bytes = bytes.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number: u64, byte| number << 8 | u64::from(*byte)))
    };
    let is_big = number(0, 4)? == 0xffff_0000;
    let (sections, symbols, count, size, mut header) = match is_big {
        true => (number(44, 4)?, number(48, 4)?, number(52, 4)?, 20, 56),
        false => (number(2, 2)?, number(8, 4)?, number(12, 4)?, 18, 20 + number(16, 2)?),
    };
    let strings = symbols + count * size;
    let mut end = if symbols > 0 { strings + number(strings, 4)? } else { 0 };
    for _ in 0..sections {
        let start = number(header + 20, 4)?;
        end = end.max(if start > 0 { start + number(header + 16, 4)? } else { 0 });
        header += 40;
    }
    Some(end.max(header))
}

/// gABI, "ELF Header": identification, `e_type` at 16, `e_machine` at 18.
fn elf(bytes: &[u8], expected: Machine) -> Result<(), Cow<'static, str>> {
    const RELOCATABLE: u16 = 1;
    let Some(header) = bytes.first_chunk::<20>() else { return Err("it is no ELF file".into()) };
    let (class, data) = (header[4], header[5]);
    if !header.starts_with(b"\x7fELF") || !matches!((class, data), (1 | 2, 1 | 2)) {
        return Err("it is no ELF file".into());
    }
    let is_big_endian = data == 2;
    let number = |at: usize| match is_big_endian {
        true => u16::from_be_bytes([header[at], header[at + 1]]),
        false => u16::from_le_bytes([header[at], header[at + 1]]),
    };
    if number(16) != RELOCATABLE {
        return Err("it is no relocatable file".into());
    }
    let is_64 = class == 2;
    let found = Machine::Elf { machine: number(18), is_64, is_big_endian };
    if found != expected {
        let say = |machine| match machine {
            Machine::Elf { machine, is_64, is_big_endian } => {
                let (bits, end) = (if is_64 { 64 } else { 32 }, if is_big_endian { "big" } else { "little" });
                format!("machine {machine}, {bits} bits, {end} endian")
            }
            Machine::Coff { machine } => format!("machine {machine} of COFF"),
        };
        return Err(format!("it is for {}, not {}", say(found), say(expected)).into());
    }
    let size = if is_64 { 64 } else { 52 };
    if bytes.len() < size { Err("it is cut short".into()) } else { Ok(()) }
}

/// PE/COFF, "COFF File Header": `Machine` at 0; in objects with many sections behind a signature, at 6.
fn coff(bytes: &[u8], expected: u16) -> Result<(), Cow<'static, str>> {
    const HEADER: usize = 20;
    const BIG_HEADER: usize = 56;
    let at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    if bytes.len() < HEADER {
        return Err("it is no COFF object".into());
    }
    let (machine, size) = match (at(0), at(2)) {
        (0, 0xffff) => (at(6), BIG_HEADER),
        (machine, _) => (machine, HEADER),
    };
    if bytes.len() < size {
        return Err("it is cut short".into());
    }
    match machine == expected {
        true => Ok(()),
        false => Err(format!("it is for machine {machine:#x}, not {expected:#x}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86_64: Machine = Machine::Elf { machine: 62, is_64: true, is_big_endian: false };

    fn header(class: u8, data: u8, kind: [u8; 2], machine: [u8; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, data]);
        bytes[16..18].copy_from_slice(&kind);
        bytes[18..20].copy_from_slice(&machine);
        bytes
    }

    #[test]
    fn parts_of_a_file() {
        let path = std::env::temp_dir().join(format!("weld-parts-{}", std::process::id()));
        let object = header(2, 1, [1, 0], [62, 0]);
        std::fs::write(&path, [&[0; 16][..], &object].concat()).unwrap();
        let parts = Parts::open(&path).unwrap();
        assert_eq!(parts.take(16, 64, X86_64).unwrap()[..], object);
        for (offset, size) in [(0, 64), (16, 0), (16, 65), (80, 1), (u64::MAX, 2), (17, u64::MAX)] {
            assert!(
                matches!(parts.take(offset, size, X86_64), Err(Fault::BadObject { .. })),
                "{offset} {size}"
            );
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Parts::open(&path), Err(Fault::File { .. })));
    }

    #[test]
    fn elf_objects() {
        let good = header(2, 1, [1, 0], [62, 0]);
        assert_eq!(check(&good, X86_64), Ok(()));
        for end in 0..good.len() {
            assert!(check(&good[..end], X86_64).is_err(), "{end}");
        }
        assert!(check(&header(2, 1, [3, 0], [62, 0]), X86_64).is_err());
        let why = check(&header(2, 2, [0, 1], [0, 22]), X86_64).unwrap_err();
        assert_eq!(why, "it is for machine 22, 64 bits, big endian, not machine 62, 64 bits, little endian");
        assert!(check(b"BC\xc0\xde and more than twenty bytes", X86_64).is_err());
        assert_eq!(check(b"", X86_64).unwrap_err(), "it is empty");
    }

    #[test]
    fn coff_objects() {
        let machine = Machine::Coff { machine: 0x8664 };
        let mut bytes = vec![0; 56];
        bytes[..2].copy_from_slice(&[0x64, 0x86]);
        assert_eq!(check(&bytes[..20], machine), Ok(()));
        assert!(check(&bytes[..19], machine).is_err());
        bytes[..8].copy_from_slice(&[0, 0, 0xff, 0xff, 2, 0, 0x64, 0x86]);
        assert_eq!(check(&bytes, machine), Ok(()));
        assert!(check(&bytes[..55], machine).is_err());
        bytes[6] = 0x4c;
        assert_eq!(check(&bytes, machine).unwrap_err(), "it is for machine 0x864c, not 0x8664");
    }
}
