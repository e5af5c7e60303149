//! The formats that a PE/COFF link reads, viewed in place and checked.
//!
//! [`object`] and its bigobj form, [`import`]: the short objects of import libraries, [`directives`]: what
//! objects tell the linker, [`library`]: libraries as they are written, [`dll`]: what DLLs export, [`res`]:
//! compiled resources, also as a tree in an object ([`rsrc`]). Records and numbers are those of the crate
//! `object`. Source: Microsoft, "PE Format".

pub mod directives;
pub mod dll;
pub mod identify;
pub mod import;
pub mod library;
pub mod machine;
pub mod name;
pub mod object;
pub mod res;
pub mod rsrc;

pub use ::object::pe;

/// The string that begins `bytes` and ends at a NUL; `None` if there is no NUL.
pub fn c_string(bytes: &[u8]) -> Option<&[u8]> {
    memchr::memchr(0, bytes).map(|end| &bytes[..end])
}

/// `count` records of type `T` at `offset` of `data`; `None` if they do not lie within.
pub fn table<T: ::object::pod::Pod>(data: &[u8], offset: usize, count: usize) -> Option<&[T]> {
    let bytes = data.get(offset..)?;
    ::object::pod::slice_from_bytes(bytes, count).ok().map(|(records, _)| records)
}

/// `u32` number `index` of little-endian bytes.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// `u16` at `offset`, little endian.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}
