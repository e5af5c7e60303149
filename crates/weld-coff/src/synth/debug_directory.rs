//! The debug directory: what there is to know of the image besides its contents.
//!
//! Its size is known with the options; what it says is known last, for it tells the PDB's identity. It lies in one section: the entries, then their data.
//!
//! Facts: "PE Format", The .debug Section; the CodeView record ("RSDS") is described with LLVM's PDB format.

use std::path::Path;

use crate::coff::pe;
use crate::debug;
use crate::options::Options;

/// Bytes of an entry.
const ENTRY: u32 = 28;

const SIGNATURE: &[u8; 4] = b"RSDS";

#[derive(Default)]
pub struct DebugDirectory {
    /// How the image calls its PDB, if it has one.
    pdb: Option<Vec<u8>>,
    /// The time in the header is a hash.
    repro: bool,
}

/// What is known when the image has been written.
pub struct Known {
    /// Where the directory lies: offsets in memory and in the file.
    pub rva: u32,
    pub offset: u32,
    /// The time in the header.
    pub time: u32,
    pub guid: [u8; 16],
    pub age: u32,
}

impl DebugDirectory {
    pub fn new(options: &Options, out: &Path) -> DebugDirectory {
        let pdb = options.debug.pdb.then(|| debug::alt_path(options, out).into_bytes());
        DebugDirectory { pdb, repro: options.brepro }
    }

    pub fn is_empty(&self) -> bool {
        self.entries_size() == 0
    }

    /// Bytes of the entries alone.
    pub fn entries_size(&self) -> u32 {
        (u32::from(self.pdb.is_some()) + u32::from(self.repro)) * ENTRY
    }

    pub fn size(&self) -> u32 {
        self.entries_size() + self.record_size()
    }

    /// Bytes of the record that tells of the PDB.
    fn record_size(&self) -> u32 {
        self.pdb.as_ref().map_or(0, |path| 4 + 16 + 4 + path.len() as u32 + 1)
    }

    pub fn bytes(&self, known: &Known) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size() as usize);
        let mut entry = |kind: u16, size: u32| {
            let (at, rva) = if size == 0 { (0, 0) } else { (known.offset, known.rva) };
            let behind = if size == 0 { 0 } else { self.entries_size() };
            // Flags; the time; versions; then the kind and its data.
            for word in [0, known.time, 0, kind.into(), size, rva + behind, at + behind] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        };
        if self.pdb.is_some() {
            entry(pe::IMAGE_DEBUG_TYPE_CODEVIEW.0 as u16, self.record_size());
        }
        if self.repro {
            entry(pe::IMAGE_DEBUG_TYPE_REPRO.0 as u16, 0);
        }
        if let Some(path) = &self.pdb {
            bytes.extend_from_slice(SIGNATURE);
            bytes.extend_from_slice(&known.guid);
            bytes.extend_from_slice(&known.age.to_le_bytes());
            bytes.extend_from_slice(path);
            bytes.push(0);
        }
        bytes
    }
}
