//! Views of tables: in place where a file has native records, rewritten once where it has not.
//!
//! Everything is checked against the bytes that there are; later phases index what was checked.

use std::borrow::Cow;
use std::mem::ManuallyDrop;

use weld_common::hash::hash_until_nul;
use weld_common::io::input::InputStore;

use super::format::Format;
use super::records::{Raw, Record};

/// A file's bytes and the form of its tables.
#[derive(Clone, Copy)]
pub struct File<'a> {
    pub data: &'a [u8],
    pub format: Format,
    /// Keeps tables that are not native.
    store: &'a InputStore<'a>,
}

impl<'a> File<'a> {
    pub fn new(data: &'a [u8], format: Format, store: &'a InputStore<'a>) -> File<'a> {
        File { data, format, store }
    }

    /// `count` records at `offset`. `None` if they do not lie within the file.
    pub fn table<R: Record>(&self, offset: u64, count: u64) -> Option<&'a [R]> {
        if self.format.is_native() {
            return table(self.data, offset, count);
        }
        match records(self.data, self.format, offset, count)? {
            Cow::Borrowed(table) => Some(table),
            Cow::Owned(table) => Some(self.keep(table)),
        }
    }

    /// Keeps a table that was made for the file.
    pub fn keep<R: Raw>(&self, table: Vec<R>) -> &'a [R] {
        all(self.store.keep(into_bytes(table)))
    }

    /// The same of bytes.
    pub fn keep_bytes(&self, bytes: Vec<u8>) -> &'a [u8] {
        self.store.keep(bytes)
    }
}

/// Numbers of 32 bits, one after another, in a file's byte order: the words of a section group.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    words: &'a [[u8; 4]],
    format: Format,
}

/// No words.
impl Default for Words<'_> {
    fn default() -> Self {
        Words { words: &[], format: Format::NATIVE }
    }
}

impl<'a> Words<'a> {
    /// The words in `bytes`.
    pub fn new(bytes: &'a [u8], format: Format) -> Words<'a> {
        Words { words: bytes.as_chunks().0, format }
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<u32> {
        self.words.get(index).map(|word| self.format.get_u32(word))
    }

    /// All but the first, which of a group's words are its members.
    pub fn members(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        let format = self.format;
        self.words.get(1..).unwrap_or_default().iter().map(move |word| format.get_u32(word))
    }
}

/// `count` records at `offset` of `data`. `None` if they do not lie within.
pub fn records<R: Record>(data: &[u8], format: Format, offset: u64, count: u64) -> Option<Cow<'_, [R]>> {
    if format.is_native() {
        return table(data, offset, count).map(Cow::Borrowed);
    }
    let bytes = slice(data, offset, count.checked_mul(format.size::<R>())?)?;
    Some(Cow::Owned(match (format.is_64(), format.is_big()) {
        (false, false) => rewritten::<R, false, false>(bytes),
        (false, true) => rewritten::<R, false, true>(bytes),
        (true, false) => rewritten::<R, true, false>(bytes),
        (true, true) => rewritten::<R, true, true>(bytes),
    }))
}

fn rewritten<R: Record, const WIDE: bool, const BIG: bool>(bytes: &[u8]) -> Vec<R> {
    let size = if WIDE { size_of::<R>() } else { R::SIZE_32 };
    bytes.chunks_exact(size).map(R::decode::<WIDE, BIG>).collect()
}

/// The bytes of native records.
fn into_bytes<R: Raw>(table: Vec<R>) -> Vec<u8> {
    let mut table = ManuallyDrop::new(table);
    let size = size_of::<R>();
    // SAFETY: `Raw` promises alignment 1 and no padding, so that the same memory is an array of bytes; the
    // vector it belonged to is not dropped.
    unsafe { Vec::from_raw_parts(table.as_mut_ptr().cast(), table.len() * size, table.capacity() * size) }
}

/// A view of `count` native records at `offset`. `None` if they do not lie within `data`.
pub fn table<T: Raw>(data: &[u8], offset: u64, count: u64) -> Option<&[T]> {
    let bytes = slice(data, offset, count.checked_mul(size_of::<T>() as u64)?)?;
    // SAFETY: `bytes` holds exactly `count` values; `Raw` promises alignment 1 and no invalid values.
    Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), count as usize) })
}

/// All whole native records in `data`.
pub fn all<T: Raw>(data: &[u8]) -> &[T] {
    table(data, 0, (data.len() / size_of::<T>()) as u64).unwrap_or(&[])
}

/// `data[offset..offset + size]`, checked.
pub fn slice(data: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let end = offset.checked_add(size)?;
    if end > data.len() as u64 {
        return None;
    }
    Some(&data[offset as usize..end as usize])
}

/// The NUL-terminated string at `offset` of a string table. `None` if it starts or ends outside.
#[inline]
pub fn string(table: &[u8], offset: u32) -> Option<&[u8]> {
    let tail = table.get(offset as usize..)?;
    Some(&tail[..memchr::memchr(0, tail)?])
}

/// The string at `offset` of a string table, and [`weld_common::hash::hash_bytes`] of it.
#[inline(always)]
pub fn hashed_string(table: &[u8], offset: u32) -> Option<(&[u8], u64)> {
    let tail = table.get(offset as usize..)?;
    let (len, hash) = hash_until_nul(tail)?;
    Some((&tail[..len], hash))
}

#[cfg(test)]
mod tests {
    use weld_common::host::QuietHost;

    use super::super::{Sym, put_records};
    use super::*;

    #[test]
    fn a_table_in_each_form() {
        let symbols: Vec<Sym> =
            (0..5u16).map(|i| Sym::make(i.into(), 0x11, 0, i, u64::from(i) << 24, 7)).collect();
        let host = QuietHost::new();
        let store = InputStore::new(&host);
        for format in Format::ALL {
            let size = format.size::<Sym>() as usize;
            let mut data = vec![0xee; 3 + symbols.len() * size];
            put_records(format, &symbols, &mut data[3..]);
            let file = File::new(&data, format, &store);
            let table = file.table::<Sym>(3, 5).unwrap();
            assert!(table.iter().zip(&symbols).all(|(a, b)| a.0 == b.0), "{format:?}");
            assert!(file.table::<Sym>(4, 5).is_none(), "{format:?}: reaches beyond the end");
            assert!(file.table::<Sym>(0, u64::MAX).is_none(), "{format:?}: too many to count");
        }
    }
}
