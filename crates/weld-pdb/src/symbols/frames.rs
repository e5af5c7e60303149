//! How functions lay out their frames, on 32-bit x86, where code does not say it: the stream of "new FPO" data.
//!
//! Objects have it in parts of `.debug$S`, with addresses from a place that is relocated. A PDB has one list, in order of addresses.

use super::Symbols;
use crate::codeview::{Fault, u32_at};
use crate::input::{Fixup, Relocate};
use crate::put::put_u32;

/// Bytes of an entry, and where in it the address and the offset of its program's name are.
pub const ENTRY: usize = 32;
const ADDRESS_AT: usize = 0;
const PROGRAM_AT: usize = 20;

/// Bytes in front of the entries: what their addresses are counted from.
const BASE: usize = 4;

/// Entries of a module that stand together.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// The section, and the place in it of the base.
    pub section: u32,
    pub at: u32,
    pub count: u32,
}

impl Frames {
    pub fn read(section: usize, at: usize, contents: &[u8]) -> Result<Frames, Fault> {
        let entries = contents.len().checked_sub(BASE).ok_or(Fault::Truncated)?;
        if !entries.is_multiple_of(ENTRY) {
            return Err(Fault::Truncated);
        }
        Ok(Frames { section: section as u32, at: at as u32, count: (entries / ENTRY) as u32 })
    }
}

/// The name of a program, of each entry, by its place in the object's table of strings.
pub fn programs(contents: &[u8]) -> impl Iterator<Item = u32> {
    contents[BASE..].chunks_exact(ENTRY).filter_map(|entry| u32_at(entry, PROGRAM_AT).ok())
}

impl Symbols<'_> {
    /// Entries of all modules.
    pub fn frame_count(&self) -> u64 {
        self.scanned.iter().flat_map(|module| &module.frames).map(|frames| u64::from(frames.count)).sum()
    }

    /// Writes the entries of all modules.
    pub fn write_frames(&self, relocate: &dyn Relocate, out: &mut [u8]) {
        let mut entries: Vec<[u8; ENTRY]> = Vec::with_capacity(out.len() / ENTRY);
        let mut fixups: Vec<Fixup> = Vec::new();
        for (i, module) in self.scanned.iter().enumerate() {
            for frames in &module.frames {
                fixups.clear();
                relocate.fixups(i as u32, frames.section, &mut fixups);
                let section = self.modules[i].sections[frames.section as usize];
                let at = frames.at as usize;
                let moved = fixups.iter().find(|fixup| fixup.offset as usize == at && fixup.size == 4);
                let base = u32_at(section, at)
                    .unwrap_or(0)
                    .wrapping_add(moved.map_or(0, |fixup| fixup.value as u32));
                let bytes = section[at + BASE..].as_chunks::<ENTRY>().0;
                for entry in &bytes[..frames.count as usize] {
                    let mut entry = *entry;
                    let word = |at| u32_at(&entry, at).unwrap_or(0);
                    let (address, program) = (word(ADDRESS_AT), word(PROGRAM_AT));
                    put_u32(&mut entry, ADDRESS_AT, address.wrapping_add(base));
                    put_u32(&mut entry, PROGRAM_AT, module.name_offset(program).unwrap_or(0));
                    entries.push(entry);
                }
            }
        }
        entries.sort_by_key(|entry| u32_at(entry, ADDRESS_AT).unwrap_or(0));
        out.copy_from_slice(entries.as_flattened());
    }
}
