//! The debug directory: what there is to know of the image besides its contents.
//!
//! Its size is known with the options; what it says is known last, for it tells the PDB's identity. It lies
//! in one section: the entries, then their data. Last come the entries of what are tables of their own
//! ([`Synthetic::debug_type`]).
//!
//! Facts: "PE Format", The .debug Section; the CodeView record ("RSDS") is described with LLVM's PDB format.

use std::path::Path;

use super::Table;
use super::section::{At, Name, Sizes, Spec, Synthetic};
use super::tables::Tables;
use crate::address::{FileOffset, Rva};
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
    /// Tables that have an entry, of this type.
    tables: Vec<(Table, u16)>,
}

/// Where something lies: offsets in memory and in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    pub rva: Rva,
    pub offset: FileOffset,
}

/// What is known when the image has been written.
pub struct Known {
    /// Of the directory.
    pub location: Location,
    /// Of the tables that have entries, and their sizes in bytes.
    pub tables: Vec<(Location, u32)>,
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
        let typed = |&table: &Table| Some((table, table.section().debug_type(options)?));
        let tables = Table::ALL.iter().filter_map(typed).collect();
        DebugDirectory {
            pdb,
            repro: options.brepro,
            characteristics: options.extended_characteristics,
            tables,
        }
    }

    /// The tables that have entries, in their order.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.tables.iter().map(|(table, _)| *table)
    }

    /// Bytes of the entries alone.
    pub fn entries_size(&self) -> u32 {
        let own = [self.pdb.is_some(), self.characteristics != 0, self.repro];
        (own.iter().filter(|is| **is).count() + self.tables.len()) as u32 * ENTRY
    }

    pub fn size(&self) -> u32 {
        self.entries_size() + if self.characteristics != 0 { 4 } else { 0 } + self.record_size()
    }

    /// Bytes of the record that tells of the PDB.
    fn record_size(&self) -> u32 {
        self.pdb.as_ref().map_or(0, |path| 4 + 16 + 4 + path.len() as u32 + 1)
    }

    /// Puts another time and identity into a directory that has been written.
    pub fn renew(&self, bytes: &mut [u8], time: u32, guid: [u8; 16]) {
        let entries = self.entries_size() as usize;
        for entry in bytes[..entries].chunks_exact_mut(ENTRY as usize) {
            entry[4..8].copy_from_slice(&time.to_le_bytes());
        }
        if let Some(at) = self.identity_at() {
            bytes[at as usize..][..guid.len()].copy_from_slice(&guid);
        }
    }

    /// Where in it the PDB's identity is.
    fn identity_at(&self) -> Option<u32> {
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
        let mut entry_at = |kind: u16, place: Location, size: u32| {
            // Flags; the time; versions; then the kind and its data.
            for word in [0, known.time, 0, kind.into(), size, place.rva.get(), place.offset.field()] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        };
        let mut entry = |kind: u16, behind: u32, size: u32| {
            let Location { rva, offset } = known.location;
            let place = Location { rva: rva + behind, offset: offset + u64::from(behind) };
            entry_at(kind, if size == 0 { Location::default() } else { place }, size)
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
        for ((_, kind), (place, size)) in self.tables.iter().zip(&known.tables) {
            entry_at(*kind, *place, *size);
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

/// The directory in the image, with its data.
pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let part = match sizes.options {
            // GNU tools look for the id by this name.
            options if options.mingw.on => b".buildid".as_slice(),
            options if options.debug_directory_alone => b".cvinfo",
            _ => b".rdata",
        };
        Spec::read_only(part, 2, sizes.tables.debug_directory.size()).unless_empty()
    }

    /// `__buildid`, if somebody has a place for it, is where the image's id is: profiling reads it there.
    fn names(&self, tables: &Tables) -> Vec<Name> {
        let id = tables.debug_directory.identity_at();
        id.map(|id| Name { is_forced: true, ..Name::at("__buildid", id) }).into_iter().collect()
    }

    /// It is put there when all else has been written.
    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}
