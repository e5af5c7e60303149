//! Source files in the PDB itself, such as rules for how debuggers show types (`.natvis`): a stream each, and
//! a list of them.
//!
//! Facts: LLVM's `RawTypes.h` (`SrcHeaderBlockHeader`, `SrcHeaderBlockEntry`).

use crate::hash;
use crate::info;

pub const LIST: &str = "/src/headerblock";
const PREFIX: &str = "/src/files/";

const VERSION: u32 = 1998_0827;
const HEADER: usize = 64;
const ENTRY: u32 = 40;

/// A file in the PDB.
#[derive(Clone)]
pub struct Injected<'a> {
    /// As debuggers look it up: in lower case and with backslashes.
    pub key: String,
    /// Where that and the file's own name are in `/names`.
    pub key_at: u32,
    pub name_at: u32,
    pub contents: &'a [u8],
}

/// How debuggers look up a file.
pub fn key(name: &str) -> String {
    name.to_lowercase().replace('/', "\\")
}

impl Injected<'_> {
    pub fn stream_name(&self) -> String {
        format!("{PREFIX}{}", self.key)
    }
}

/// The list of all files.
pub fn list(files: &[Injected<'_>]) -> Vec<u8> {
    let entry = |file: &Injected<'_>| {
        // The object that it belongs to is the name at 1, of which nobody asks what it is.
        let words = [file.key_at, ENTRY, VERSION, hash::crc(file.contents), file.contents.len() as u32];
        let names = [file.name_at, 1, file.key_at, 0, 0, 0];
        let bytes = words.iter().chain(&names).flat_map(|word| word.to_le_bytes()).collect();
        (info::name_hash(&file.key), bytes)
    };
    let table = info::hash_table(files.iter().map(entry).collect());
    let mut out = vec![0; HEADER];
    out[..4].copy_from_slice(&VERSION.to_le_bytes());
    out[4..8].copy_from_slice(&((HEADER + table.len()) as u32).to_le_bytes());
    out.extend(table);
    out
}
