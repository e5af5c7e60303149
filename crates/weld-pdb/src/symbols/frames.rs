//! How functions lay out their frames, on 32-bit x86, where code does not say it: the stream of "new FPO"
//! data.
//!
//! Objects have it in parts of `.debug$S`, with addresses from a place that is relocated. A PDB has one list,
//! in order of addresses.

use super::Symbols;
use super::scan::Scanned;
use super::write::sorted_fixups;
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

    /// Adds the entries as they are in a PDB. `fixups` are those of the section, in order.
    fn relocated(
        &self,
        section: &[u8],
        fixups: &[Fixup],
        module: &Scanned<'_>,
        entries: &mut Vec<[u8; ENTRY]>,
    ) {
        let at = self.at as usize;
        let behind = &fixups[fixups.partition_point(|fixup| fixup.offset < self.at)..];
        let here = behind.iter().take_while(|fixup| fixup.offset == self.at);
        let moved = here.filter(|fixup| fixup.size == 4).map(|fixup| fixup.value as u32).next().unwrap_or(0);
        let base = u32_at(section, at).unwrap_or(0).wrapping_add(moved);
        let bytes = section[at + BASE..].as_chunks::<ENTRY>().0;
        for entry in &bytes[..self.count as usize] {
            let mut entry = *entry;
            let word = |at| u32_at(&entry, at).unwrap_or(0);
            let (address, program) = (word(ADDRESS_AT), word(PROGRAM_AT));
            put_u32(&mut entry, ADDRESS_AT, address.wrapping_add(base));
            put_u32(&mut entry, PROGRAM_AT, module.name_offset(program).unwrap_or(0));
            entries.push(entry);
        }
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

    /// Writes the entries of all modules. A section may have a subsection for each of thousands of functions;
    /// its fixups are asked for once.
    pub fn write_frames(&self, relocate: &dyn Relocate, out: &mut [u8]) {
        let mut entries: Vec<[u8; ENTRY]> = Vec::with_capacity(out.len() / ENTRY);
        let mut fixups: Vec<Fixup> = Vec::new();
        for (i, module) in self.scanned.iter().enumerate() {
            for of_section in module.frames.chunk_by(|a, b| a.section == b.section) {
                let number = of_section[0].section;
                sorted_fixups(relocate, i as u32, number, &mut fixups);
                let section = self.modules[i].sections[number as usize];
                of_section.iter().for_each(|frames| frames.relocated(section, &fixups, module, &mut entries));
            }
        }
        entries.sort_by_key(|entry| u32_at(entry, ADDRESS_AT).unwrap_or(0));
        out.copy_from_slice(entries.as_flattened());
    }
}
