//! Files of compiled resources (`.res`), as resource compilers write them.
//!
//! A file is a list of entries: a header with type, name and language, then data, both padded to 4 bytes. The
//! first one is empty and marks the format. Source: Microsoft, "Resource File Formats".

use std::fmt;

use super::{u16_at, u32_at};

/// What a resource's type and name are: numbers, or texts of UTF-16 units.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceId {
    /// Texts come before numbers in tables.
    Text(Vec<u16>),
    Number(u16),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource<'a> {
    pub typ: ResourceId,
    pub name: ResourceId,
    pub language: u16,
    pub version: u32,
    pub characteristics: u32,
    pub data: &'a [u8],
}

/// A resource that does not lie within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where it begins, in bytes from the start of the file.
    pub offset: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the resource at offset {:#x} does not lie within the file", self.offset)
    }
}

impl std::error::Error for Malformed {}

/// Reads all resources of a file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Resource<'_>>, Malformed> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (resource, next) = entry(bytes, at).ok_or(Malformed { offset: at })?;
        if !resource.data.is_empty() || resource.typ != ResourceId::Number(0) {
            list.push(resource);
        }
        at = next;
    }
    Ok(list)
}

/// The entry at `at`, and where the next one is.
fn entry(bytes: &[u8], at: usize) -> Option<(Resource<'_>, usize)> {
    let data_size = u32_at(bytes, at)? as usize;
    let header_size = u32_at(bytes, at + 4)? as usize;
    let header = bytes.get(at..)?.get(..header_size)?;
    let (typ, behind) = id(header, 8)?;
    let (name, behind) = id(header, behind)?;
    let fixed = behind.next_multiple_of(4);
    let resource = Resource {
        typ,
        name,
        language: u16_at(header, fixed + 6)?,
        version: u32_at(header, fixed + 8)?,
        characteristics: u32_at(header, fixed + 12)?,
        data: bytes.get(at + header_size..)?.get(..data_size)?,
    };
    let next = (at + header_size + data_size).next_multiple_of(4);
    Some((resource, next))
}

/// A type or name at `at`, and where it ends.
fn id(header: &[u8], at: usize) -> Option<(ResourceId, usize)> {
    if u16_at(header, at)? == 0xffff {
        return Some((ResourceId::Number(u16_at(header, at + 2)?), at + 4));
    }
    let mut text = Vec::new();
    let mut at = at;
    loop {
        let unit = u16_at(header, at)?;
        at += 2;
        if unit == 0 {
            return Some((ResourceId::Text(text), at));
        }
        text.push(unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(typ: &[u16], name: &[u16], data: &[u8]) -> Vec<u8> {
        let mut ids: Vec<u8> = typ.iter().chain(name).flat_map(|unit| unit.to_le_bytes()).collect();
        while !ids.len().is_multiple_of(4) {
            ids.push(0);
        }
        let mut bytes = (data.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&(8 + ids.len() as u32 + 16).to_le_bytes());
        bytes.extend_from_slice(&ids);
        bytes.extend_from_slice(&[0, 0, 0, 0, 0x30, 0, 9, 4, 1, 0, 0, 0, 2, 0, 0, 0]);
        bytes.extend_from_slice(data);
        while !bytes.len().is_multiple_of(4) {
            bytes.push(0);
        }
        bytes
    }

    #[test]
    fn numbers_and_texts() {
        let mut bytes = header(&[0xffff, 0], &[0xffff, 0], &[]);
        bytes.extend(header(&[0xffff, 24], &[u16::from(b'A'), u16::from(b'B'), 0], b"hello"));
        let list = parse(&bytes).unwrap();
        assert_eq!(list.len(), 1);
        let want = Resource {
            typ: ResourceId::Number(24),
            name: ResourceId::Text(vec![0x41, 0x42]),
            language: 0x409,
            version: 1,
            characteristics: 2,
            data: b"hello",
        };
        assert_eq!(list[0], want);
        assert!(parse(&bytes[..bytes.len() - 8]).is_err());
        for len in 1..bytes.len() {
            _ = parse(&bytes[..len]);
        }
    }
}
