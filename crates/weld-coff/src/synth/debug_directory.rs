//! The debug directory: what there is to know of the image besides its contents.
//!
//! Its size is known with the options; what it says is known last, for it tells the PDB's identity. It lies
//! in one section: the entries, then their data.
//!
//! Facts: "PE Format", The .debug Section; the CodeView record ("RSDS") is described with LLVM's PDB format.

use std::path::Path;

use crate::coff::pe;
use crate::options::Options;
use crate::pdb_path;

/// Bytes of an entry.
const ENTRY: u32 = 28;

const SIGNATURE: &[u8; 4] = b"RSDS";

#[derive(Default)]
pub struct DebugDirectory {
    /// How the image calls its PDB, if it has one.
    pdb: Option<Vec<u8>>,
    /// The time in the header is a hash.
    repro: bool,
    /// Rights of the image that its header has no room for.
    characteristics: u32,
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
        let pdb = match options.debug.pdb {
            true => Some(pdb_path::alt_path(options, out).into_bytes()),
            // The record serves as the image's id.
            false => options.build_id.then(Vec::new),
        };
        DebugDirectory { pdb, repro: options.brepro, characteristics: options.extended_characteristics }
    }

    pub fn is_empty(&self) -> bool {
        self.entries_size() == 0
    }

    /// Bytes of the entries alone.
    pub fn entries_size(&self) -> u32 {
        [self.pdb.is_some(), self.characteristics != 0, self.repro].iter().filter(|is| **is).count() as u32
            * ENTRY
    }

    pub fn size(&self) -> u32 {
        self.entries_size() + if self.characteristics != 0 { 4 } else { 0 } + self.record_size()
    }

    /// Bytes of the record that tells of the PDB.
    fn record_size(&self) -> u32 {
        self.pdb.as_ref().map_or(0, |path| 4 + 16 + 4 + path.len() as u32 + 1)
    }

    /// Where in it the PDB's identity is.
    pub fn identity_at(&self) -> Option<u32> {
        let record = self.size() - self.record_size();
        self.pdb.is_some().then_some(record + SIGNATURE.len() as u32)
    }

    pub fn bytes(&self, known: &Known) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size() as usize);
        // Data are in the order of their entries, but for the record, whose length is no multiple of 4.
        let mut next = self.entries_size();
        let characteristics_at = next;
        next += if self.characteristics != 0 { 4 } else { 0 };
        let record_at = next;
        let mut entry = |kind: u16, behind: u32, size: u32| {
            let (at, rva) = if size == 0 { (0, 0) } else { (known.offset, known.rva) };
            let behind = if size == 0 { 0 } else { behind };
            // Flags; the time; versions; then the kind and its data.
            for word in [0, known.time, 0, kind.into(), size, rva + behind, at + behind] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        };
        if self.pdb.is_some() {
            entry(pe::IMAGE_DEBUG_TYPE_CODEVIEW.0 as u16, record_at, self.record_size());
        }
        if self.characteristics != 0 {
            entry(pe::IMAGE_DEBUG_TYPE_EX_DLLCHARACTERISTICS.0 as u16, characteristics_at, 4);
        }
        if self.repro {
            entry(pe::IMAGE_DEBUG_TYPE_REPRO.0 as u16, 0, 0);
        }
        if self.characteristics != 0 {
            bytes.extend_from_slice(&self.characteristics.to_le_bytes());
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
