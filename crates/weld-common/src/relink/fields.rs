//! How weld writes what it keeps for later links: numbers of fixed sizes, little endian, and bytes, paths, stamps and
//! lists with their lengths in front (u64). Readers take them from the front of what is left, and allocate nothing on
//! the word of a length.

use std::path::{Path, PathBuf};

use crate::io::stamp::Stamp;
use crate::text::os_str;

/// A number, or numbers that stand together.
pub trait Field: Sized {
    const SIZE: usize;
    fn put(&self, out: &mut Vec<u8>);
    /// The same where there is room: `out` has the size.
    fn store(&self, out: &mut [u8]);
    /// Takes the field from the front of `bytes`.
    fn take(bytes: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Field for $number {
            const SIZE: usize = size_of::<$number>();
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn store(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                let (first, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(<$number>::from_le_bytes(*first))
            }
        })*
    };
}

numbers! { u8 u32 u64 i64 u128 }

pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u64).put(out);
    out.extend_from_slice(bytes);
}

pub fn take_bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let size = usize::try_from(u64::take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some(bytes.to_vec())
}

pub fn take_array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

pub fn put_path(path: &Path, out: &mut Vec<u8>) {
    put_bytes(path.as_os_str().as_encoded_bytes(), out);
}

pub fn take_path(rest: &mut &[u8]) -> Option<PathBuf> {
    Some(os_str(&take_bytes(rest)?).into())
}

pub fn put_stamp(stamp: &Stamp, out: &mut Vec<u8>) {
    let Stamp { device, number, size, modified, changed } = *stamp;
    [device, number, size].iter().for_each(|field| field.put(out));
    [modified, changed].iter().for_each(|field| field.put(out));
}

pub fn take_stamp(rest: &mut &[u8]) -> Option<Stamp> {
    Some(Stamp {
        device: Field::take(rest)?,
        number: Field::take(rest)?,
        size: Field::take(rest)?,
        modified: Field::take(rest)?,
        changed: Field::take(rest)?,
    })
}

pub fn put_list<T>(list: &[T], out: &mut Vec<u8>, put: impl Fn(&T, &mut Vec<u8>)) {
    (list.len() as u64).put(out);
    list.iter().for_each(|item| put(item, out));
}

/// Each item has at least a byte, so no list is longer than what is left.
pub fn take_list<T>(rest: &mut &[u8], mut take: impl FnMut(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = usize::try_from(u64::take(rest)?).ok().filter(|count| *count <= rest.len())?;
    // Most items have more than that.
    let mut list = Vec::with_capacity(count.min(rest.len() / 16));
    for _ in 0..count {
        list.push(take(rest)?);
    }
    Some(list)
}
