//! The numbers that GCC has for the symbols of an object with its intermediate code.
//!
//! They stand in sections `.gnu.lto_.symtab.ID`, behind everything else that is said of a symbol; resolutions
//! are told to GCC by them and by `ID`. Readers have no use for them, so they are read where they are needed,
//! in the order in which readers find symbols. Anything unexpected makes an end: files have been read before.
//!
//! Reference: gABI, "Section Header Table"; PE/COFF, "Section Table"; GCC's internals manual, "LTO file
//! sections".

/// What the names of such sections begin with; `ID` follows.
const SYMTAB: &[u8] = b".gnu.lto_.symtab.";

/// The number of each symbol and its section's `ID`. `None` if the object cannot be read.
pub fn numbers(object: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut numbers = Vec::new();
    for (name, mut contents) in sections(object)? {
        let Some(id) = name.strip_prefix(SYMTAB) else { continue };
        while !contents.is_empty() {
            // The name and that of a COMDAT group, kind, visibility, size, number.
            for _ in 0..2 {
                contents = &contents[contents.iter().position(|&byte| byte == 0)? + 1..];
            }
            let (fixed, rest) = contents.split_first_chunk::<14>()?;
            let &[.., a, b, c, d] = fixed;
            numbers.push((u32::from_le_bytes([a, b, c, d]), id));
            contents = rest;
        }
    }
    Some(numbers)
}

type Sections<'a> = Vec<(&'a [u8], &'a [u8])>;

/// Names and contents of an object's sections, in their order.
fn sections(object: &[u8]) -> Option<Sections<'_>> {
    if object.starts_with(b"\x7fELF") { elf(object) } else { coff(object) }
}

fn elf(object: &[u8]) -> Option<Sections<'_>> {
    let (is_64, is_big_endian) = (*object.get(4)? == 2, *object.get(5)? == 2);
    let number = |base: u64, at: u64, size: usize| -> Option<u64> {
        let at = usize::try_from(base.checked_add(at)?).ok()?;
        let bytes = object.get(at..)?.get(..size)?;
        let digit = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if is_big_endian { bytes.iter().fold(0, digit) } else { bytes.iter().rev().fold(0, digit) })
    };
    // Where things are in the header and in a section's, for 64 and for 32 bits.
    let (word, table, counts, entry) = if is_64 { (8, 40, 58, 64) } else { (4, 32, 46, 40) };
    let (offset_at, size_at, link_at) = if is_64 { (24, 32, 40) } else { (16, 20, 24) };
    let table = number(0, table, word)?;
    let header = |index: u64| table.checked_add(index.checked_mul(entry)?);
    let (mut count, mut names) = (number(0, counts + 2, 2)?, number(0, counts + 4, 2)?);
    if count == 0 {
        count = number(table, size_at, word)?;
    }
    if names == 0xffff {
        names = number(table, link_at, 4)?;
    }
    let contents = |index: u64| -> Option<&[u8]> {
        let header = header(index)?;
        let start = usize::try_from(number(header, offset_at, word)?).ok()?;
        let size = usize::try_from(number(header, size_at, word)?).ok()?;
        object.get(start..)?.get(..size)
    };
    let names = contents(names)?;
    let mut list = Vec::new();
    for index in 1..count {
        let name = number(header(index)?, 0, 4)?;
        let name = until_zero(names.get(name as usize..)?);
        // Sections without contents have none to be read.
        list.push((name, if name.starts_with(SYMTAB) { contents(index)? } else { &[] }));
    }
    Some(list)
}

fn coff(object: &[u8]) -> Option<Sections<'_>> {
    let number = |at: usize, size: usize| -> Option<usize> {
        let bytes = object.get(at..)?.get(..size)?;
        Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    // Objects with many sections have another header and longer symbols.
    let is_big = number(0, 4)? == 0xffff_0000;
    let (count, symbols, header, symbol) = match is_big {
        true => (number(44, 4)?, 48, 56, 20),
        false => (number(2, 2)?, 8, 20 + number(16, 2)?, 18),
    };
    let strings = number(symbols, 4)?.checked_add(number(symbols + 4, 4)?.checked_mul(symbol)?)?;
    let mut list = Vec::new();
    for index in 0..count {
        let at = header + index * 40;
        let name = until_zero(object.get(at..at + 8)?);
        let name = match name.strip_prefix(b"/") {
            Some(digits) => {
                let offset: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
                until_zero(object.get(strings.checked_add(offset)?..)?)
            }
            None => name,
        };
        let (size, start) = (number(at + 16, 4)?, number(at + 20, 4)?);
        // The size in memory is what was not padded.
        let size = number(at + 8, 4).filter(|&used| used != 0 && used < size).unwrap_or(size);
        list.push((name, if name.starts_with(SYMTAB) { object.get(start..)?.get(..size)? } else { &[] }));
    }
    Some(list)
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a symbol.
    fn entry(name: &str, comdat: &str, number: u32) -> Vec<u8> {
        [name.as_bytes(), b"\0", comdat.as_bytes(), b"\0", &[0; 10], &number.to_le_bytes()].concat()
    }

    /// An object of 64 bits with one section of symbols.
    fn object(contents: &[u8]) -> Vec<u8> {
        let names = b"\0.gnu.lto_.symtab.2a\0.shstrtab\0";
        let (names_at, contents_at) = (64 + 3 * 64, 64 + 3 * 64 + names.len());
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[40] = 64;
        bytes[60] = 3;
        bytes[62] = 2;
        bytes.extend([0; 64]);
        for (name, offset, size) in [(1_u32, contents_at, contents.len()), (21, names_at, names.len())] {
            let mut header = vec![0; 64];
            header[..4].copy_from_slice(&name.to_le_bytes());
            header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
            header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
            bytes.extend(header);
        }
        [&bytes[..], names, contents].concat()
    }

    #[test]
    fn numbers_and_where_they_are_from() {
        let contents = [entry("main", "", 202), entry("b", "group", 206)].concat();
        let object = object(&contents);
        assert_eq!(numbers(&object), Some(vec![(202, &b"2a"[..]), (206, b"2a")]));
        for end in 0..object.len() {
            let _ = numbers(&object[..end]);
        }
        assert_eq!(numbers(&object[..object.len() - 1]), None);
    }
}
