//! The hash by which debuggers find a record in the streams of types and ids.
//!
//! Facts: `hash.cpp` and `tpi.cpp` in microsoft-pdb, LLVM's documentation of the TPI stream.

use crate::codeview::leaf::{self, LF_UDT_MOD_SRC_LINE, LF_UDT_SRC_LINE};
use crate::hash;

/// Buckets of the tables that debuggers make of these hashes: the most that the format allows.
pub const BUCKETS: u32 = 0x3ffff;

/// The bucket of a record, which is given as it is in the PDB.
pub fn bucket(record: &[u8]) -> u32 {
    full_hash(record) % BUCKETS
}

fn full_hash(record: &[u8]) -> u32 {
    let kind = u16::from_le_bytes([record[2], record[3]]);
    if matches!(kind, LF_UDT_SRC_LINE | LF_UDT_MOD_SRC_LINE) {
        // By what it says the line of.
        return record.get(4..8).map_or(0, hash::name);
    }
    let Some(names) = leaf::names(record) else { return hash::crc(record) };
    let anonymous = names.unique.is_some() && is_anonymous(names.name);
    if names.is_forward() || anonymous {
        return hash::crc(record);
    }
    match (names.is_scoped(), names.unique) {
        (false, _) => hash::name(names.name),
        (true, Some(unique)) => hash::name(unique),
        (true, None) => hash::crc(record),
    }
}

/// Names that compilers give to what has none; many different types have them.
fn is_anonymous(name: &[u8]) -> bool {
    let last =
        |text: &[u8]| name.strip_suffix(text).is_some_and(|scope| scope.is_empty() || scope.ends_with(b"::"));
    last(b"<unnamed-tag>") || last(b"__unnamed")
}
