//! The object's records in `.eh_frame`, which lie in a run among those of others, and their entries in
//! `.eh_frame_hdr`.

use weld_common::diag::DiagSink;

use super::{Alone, Missing, Write};
use crate::address::Address;
use crate::eh_frame::{Cie, HDR_ENTRY, HDR_HEAD, sort_hdr_entries, write_hdr};
use crate::elf::*;
use crate::ids::*;
use crate::synth::eh_frames;
use crate::synth::eh_frames::Again;
use crate::synth::functions::Functions;

use super::super::rows::NONE;

impl Alone<'_, '_> {
    /// Those that describe functions, whether they are as they were or not. What is wrong with relocations
    /// goes to `sink`. Which records there are must be as it was ([`super::super::outline`]).
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn frames(&self, sink: &DiagSink) -> Result<Vec<Write>, Missing> {
        let (start, state) = (u64::from(self.input.frames), self.known.state);
        if self.input.frames == NONE {
            return Ok(Vec::new());
        }
        let address = state.image.eh_frame;
        let is_around = |out: &&super::OutputRow| {
            address.checked_sub(out.address).is_some_and(|at| at < out.size) && out.flags & SHF_ALLOC != 0
        };
        let out = state.outputs.iter().find(is_around).ok_or(Missing::Place)?;
        let objects = &self.resolved.objects;
        let functions = Functions { sections: &self.sections, symbols: &self.symbols, live: &self.live };
        let own = eh_frames::Planner { objects, functions }.plan(false).map_err(|_| Missing::Place)?;
        let first = (address - out.address).checked_add(start).filter(|first| *first < out.size);
        let first = first.ok_or(Missing::Place)?;
        // Those of others that are read with them are not looked at.
        let size = usize::try_from(own.size.min(out.size - first)).map_err(|_| Missing::Place)?;
        let offset = out.offset.checked_add(first).ok_or(Missing::Place)?;
        let run = self.known.left.read(offset, size).ok_or(Missing::Place)?;
        let image = self.image(sink);
        let again = own.written_again(&image, Address::new(address), (start, &run)).ok_or(Missing::Place)?;
        // It may have moved though nothing has that the object has frames of.
        if self.has_own_personality() {
            return Err(Missing::Function);
        }
        let mut writes = Vec::new();
        if again.iter().any(|fde| fde.is_moved) {
            writes = self.search_table(Address::new(address), &again)?;
        }
        // From offsets in the section to offsets in the file.
        writes.extend(again.into_iter().map(|fde| (offset - start + fde.at, fde.bytes)));
        Ok(writes)
    }

    /// Whether a CIE, which may be that of other objects, too, refers to a function of the object.
    fn has_own_personality(&self) -> bool {
        let object = &self.resolved.objects[0];
        self.sections.objects[0].eh_frames.iter().any(|(index, frame)| {
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(*index)));
            let of_cie = |cie: &Cie| &relocs[cie.first_reloc as usize..][..cie.n_relocs as usize];
            frame.cies.iter().flat_map(of_cie).any(|reloc| self.may_move(object, reloc.sym()))
        })
    }

    /// The entries of the search table for functions of sections in which some have moved. They lie one after
    /// the other, since the section does.
    fn search_table(&self, frames: Address, again: &[Again]) -> Result<Vec<Write>, Missing> {
        let (state, left) = (self.known.state, self.known.left);
        let format = self.known.machine.facts().target.format;
        let Some(out) = state.outputs.iter().find(|out| state.text(out.name) == b".eh_frame_hdr") else {
            return Ok(Vec::new());
        };
        let size = usize::try_from(out.size).map_err(|_| Missing::Function)?;
        let table = left.read(out.offset, size).ok_or(Missing::Function)?;
        let (entries, _) = table.get(HDR_HEAD..).unwrap_or_default().as_chunks::<HDR_ENTRY>();
        let function = |entry: &[u8; HDR_ENTRY]| {
            let distance = i64::from(format.get_u32(&entry[..4]).cast_signed());
            out.address.wrapping_add_signed(distance)
        };
        let mut sections: Vec<u32> = again.iter().filter(|fde| fde.is_moved).map(|fde| fde.section).collect();
        sections.sort_unstable();
        sections.dedup();
        let mut writes = Vec::new();
        for ordinal in sections {
            let section = state.sections_of(self.input).iter().find(|row| row.ordinal == ordinal);
            let section = section.ok_or(Missing::Function)?;
            let from = entries.partition_point(|entry| function(entry) < section.address);
            let to = entries.partition_point(|entry| function(entry) < section.address + section.size);
            let mine = again.iter().filter(|fde| fde.section == ordinal);
            let mut now: Vec<_> = mine.map(|fde| (fde.function, frames + fde.at)).collect();
            sort_hdr_entries(&mut now, false);
            if now.len() != to.saturating_sub(from) {
                return Err(Missing::Function);
            }
            let mut bytes = vec![0; now.len() * HDR_ENTRY];
            write_hdr(format, Address::new(out.address), frames, &now, HDR_HEAD as u64, &mut bytes)
                .map_err(|_| Missing::Function)?;
            writes.push((out.offset + (HDR_HEAD + from * HDR_ENTRY) as u64, bytes));
        }
        Ok(writes)
    }
}
