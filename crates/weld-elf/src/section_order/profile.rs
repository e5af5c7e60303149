//! Which functions a program called first, from an indexed instrumentation profile (`.profdata`).
//!
//! Of such a file two parts are read: the *temporal traces*, each a list of functions in the order in which
//! they were called first in a run, as hashes of their names; and the keys of the table of counters, which
//! are these names. A local function's is that of its source file, a semicolon and its own. All numbers are
//! little endian; the header has the places of the parts.
//!
//! Source: LLVM, "Instrumentation Profile Format"; temporal traces are there from version 10 on, and a bit of
//! the version says whether a profile has any.

use std::collections::HashMap;
use std::fmt;

const MAGIC: [u8; 8] = *b"\xfflprofi\x81";
/// The version is in the lower bits.
const VERSION: u64 = 0x00ff_ffff_ffff_ffff;
const TEMPORAL: u64 = 1 << 63;
/// The first version with traces, and the last one that is known.
const VERSIONS: std::ops::RangeInclusive<u64> = 10..=13;
/// Offsets of fields of the header.
const HASH_OFFSET: usize = 0x20;
const TRACES_OFFSET: usize = 0x38;

/// Traces of a profile.
#[derive(Debug, PartialEq, Eq)]
pub struct Traces<'a> {
    /// Names of functions, as symbols have them; those that the profile has no name for are left out.
    pub list: Vec<Vec<&'a [u8]>>,
}

/// What is wrong with a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileError {
    Magic,
    /// It is of a version that is not known.
    Version(u64),
    NoTraces,
    Truncated,
    /// Chains of its table lie over one another.
    Overlap,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProfileError::Magic => "is no indexed profile (llvm-profdata merge makes one)",
            ProfileError::Version(version) => {
                return write!(f, "is a profile of version {version}, which is not known");
            }
            ProfileError::NoTraces => {
                "has no traces of the order of calls (compile with -mllvm -pgo-temporal-instrumentation)"
            }
            ProfileError::Truncated => "is truncated",
            ProfileError::Overlap => "has a table whose chains lie over one another",
        })
    }
}

impl std::error::Error for ProfileError {}

/// Reads a profile.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Traces<'_>, ProfileError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(ProfileError::Magic);
    }
    let mut reader = Reader { bytes, at: 8 };
    let version = reader.number()?;
    if !VERSIONS.contains(&(version & VERSION)) {
        return Err(ProfileError::Version(version & VERSION));
    }
    if version & TEMPORAL == 0 {
        return Err(ProfileError::NoTraces);
    }
    let names = names(bytes)?;
    let mut reader = Reader { bytes, at: place(bytes, TRACES_OFFSET)? };
    let count = reader.number()?;
    // The size of the stream that they were chosen from.
    reader.number()?;
    let mut list = Vec::new();
    for _ in 0..count {
        let _weight = reader.number()?;
        let mut trace = Vec::new();
        for _ in 0..reader.number()? {
            trace.extend(names.get(&reader.number()?).copied());
        }
        list.push(trace);
    }
    Ok(Traces { list })
}

/// The names of functions by their hashes: the keys of a table on disk, in chains by bucket.
fn names(bytes: &[u8]) -> Result<HashMap<u64, &[u8]>, ProfileError> {
    let mut names = HashMap::new();
    let mut table = Reader { bytes, at: place(bytes, HASH_OFFSET)? };
    let buckets = table.number()?;
    let _entries = table.number()?;
    let mut room = bytes.len();
    for _ in 0..buckets {
        let start = table.number()?;
        if start == 0 {
            continue;
        }
        let mut chain = Reader { bytes, at: usize::try_from(start).map_err(|_| ProfileError::Truncated)? };
        let first = chain.at;
        for _ in 0..u16::from_le_bytes(chain.take(2)?.try_into().unwrap_or_default()) {
            let (hash, key, data) = (chain.number()?, chain.number()?, chain.number()?);
            let key = chain.take(key)?;
            chain.take(data)?;
            names.insert(hash, own_name(key));
        }
        // Chains lie apart, so all together they are no larger than the file.
        room = room.checked_sub(chain.at - first).ok_or(ProfileError::Overlap)?;
    }
    Ok(names)
}

/// The name of a function without that of its file.
fn own_name(key: &[u8]) -> &[u8] {
    memchr::memrchr(b';', key).map_or(key, |at| &key[at + 1..])
}

/// An offset in the header.
fn place(bytes: &[u8], field: usize) -> Result<usize, ProfileError> {
    usize::try_from(Reader { bytes, at: field }.number()?).map_err(|_| ProfileError::Truncated)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], ProfileError> {
        let end = usize::try_from(count)
            .ok()
            .and_then(|count| self.at.checked_add(count))
            .ok_or(ProfileError::Truncated)?;
        let found = self.bytes.get(self.at..end).ok_or(ProfileError::Truncated)?;
        self.at = end;
        Ok(found)
    }

    fn number(&mut self) -> Result<u64, ProfileError> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(list: &[u64]) -> Vec<u8> {
        list.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// A profile with two functions and a trace of three, one of them without a name.
    fn profile() -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &numbers(&[TEMPORAL | 10, 0, 0, 0, 0, 0, 0])].concat();
        let chain = bytes.len() as u64;
        bytes.extend(2u16.to_le_bytes());
        for (hash, name) in [(7, &b"a.c;local"[..]), (8, b"global")] {
            bytes.extend(numbers(&[hash, name.len() as u64, 1]));
            bytes.extend([name, b"x"].concat());
        }
        let table = bytes.len() as u64;
        bytes.extend(numbers(&[2, 2, 0, chain]));
        let traces = bytes.len() as u64;
        bytes.extend(numbers(&[1, 1, 1, 3, 8, 9, 7]));
        bytes[HASH_OFFSET..HASH_OFFSET + 8].copy_from_slice(&table.to_le_bytes());
        bytes[TRACES_OFFSET..TRACES_OFFSET + 8].copy_from_slice(&traces.to_le_bytes());
        bytes
    }

    #[test]
    fn traces_are_read() {
        let want = Traces { list: vec![vec![&b"global"[..], b"local"]] };
        assert_eq!(read(&profile()), Ok(want));
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = profile();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        for (at, value) in [(0, 0u8), (8, 9), (8, 99), (15, 0)] {
            let mut bytes = profile();
            bytes[at] = value;
            assert!(read(&bytes).is_err(), "{at}");
        }
        // Whatever a byte becomes, nothing but an error comes of it.
        for at in 0..bytes.len() {
            let mut bytes = profile();
            bytes[at] ^= 0xff;
            let _ = read(&bytes);
        }
    }
}
