//! The debug directory: what there is to know of the image besides its contents.

use crate::coff::pe;
use crate::options::Options;

/// Bytes of an entry.
const ENTRY: u32 = 28;

/// The kinds of entries, in order.
fn entries(options: &Options) -> Vec<u32> {
    // The time in the header is a hash.
    options.brepro.then_some(u32::from(pe::IMAGE_DEBUG_TYPE_REPRO.0 as u16)).into_iter().collect()
}

pub fn size(options: &Options) -> u32 {
    entries(options).len() as u32 * ENTRY
}

pub fn bytes(options: &Options) -> Vec<u8> {
    let mut bytes = Vec::new();
    for kind in entries(options) {
        // Flags, time, versions; the kind; size, address and place of data, of which there is none.
        bytes.extend_from_slice(&[0; 12]);
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&[0; 12]);
    }
    bytes
}
