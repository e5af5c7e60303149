//! The object's records in `.eh_frame`, which lie in a run among those of others.

use std::ops::Range;

use weld_common::diag::DiagSink;

use super::{Alone, Full, Missing, Of, Write};
use crate::address::Address;
use crate::eh_frame::Cie;
use crate::elf::*;
use crate::ids::SectionId;
use crate::synth::eh_frames;
use crate::synth::functions::Functions;

use super::super::rows::NONE;

/// What the table for searching is to have of an object.
pub struct Searched {
    /// The addresses that the object's records, and no others, have had until now.
    pub records: Range<Address>,
    /// Functions with their records.
    pub functions: Vec<(Address, Address)>,
}

impl Alone<'_, '_> {
    /// The object's records, and its functions; `None` if it has none. What is wrong with relocations goes to
    /// `sink`.
    ///
    /// # Errors
    /// What rows do not tell.
    pub fn frames(&self, sink: &DiagSink) -> Result<Option<(Write, Searched)>, Missing> {
        let (start, state) = (u64::from(self.input.frames), self.known.state);
        let size = u64::from(self.input.frames_size);
        let address = Address::new(state.image.eh_frame.wrapping_add(start));
        let inside = |out: &&super::OutputRow| {
            let at = address.get().checked_sub(out.address).filter(|_| out.flags & SHF_ALLOC != 0);
            at.and_then(|at| at.checked_add(size)).is_some_and(|end| end <= out.size)
        };
        let mut offset = None;
        if self.input.frames != NONE {
            let out = state.outputs.iter().find(inside).ok_or(Missing::Place)?;
            let at = out.offset.checked_add(address.get() - out.address).ok_or(Missing::Place)?;
            // They are in the file, however many there are said to be.
            self.known.left.read(at, self.input.frames_size as usize).ok_or(Missing::Place)?;
            offset = Some(at);
        }
        let objects = &self.resolved.objects;
        let functions = Functions { sections: &self.sections, symbols: &self.symbols, live: &self.live };
        let own = eh_frames::Planner { objects, functions }.plan(false).map_err(|_| Missing::Place)?;
        let again = own.written_again(&self.image(sink), address);
        let (again, offset) = match (again, offset) {
            (None, None) => return Ok(None),
            (Some(again), Some(offset)) if self.sections.has_rooms => (again, offset),
            _ => return Err(Missing::Place),
        };
        if again.bytes.len() as u64 != size {
            let wants = again.bytes.len() as u64;
            let full = Full { input: self.known.row, of: Of::Frames, has: size, wants };
            return Err(Missing::Room(full));
        }
        // Those of others that have it are not looked at.
        if self.has_own_personality() {
            return Err(Missing::Function);
        }
        let was = self.known.last_runs.frames;
        let first = Address::new(state.image.eh_frame.wrapping_add(was.start.into()));
        let records = first..first.wrapping_add(was.size.into());
        let searched = Searched { records, functions: again.functions };
        Ok(Some(((offset, again.bytes), searched)))
    }

    /// Whether a CIE refers to a function of the object that may have moved.
    fn has_own_personality(&self) -> bool {
        let object = &self.resolved.objects[0];
        self.sections.objects[0].eh_frames.iter().any(|(index, frame)| {
            let relocs = self.sections.relocs(object, 0, self.sections.get(SectionId(*index)));
            let of_cie = |cie: &Cie| &relocs[cie.first_reloc as usize..][..cie.n_relocs as usize];
            frame.cies.iter().flat_map(of_cie).any(|reloc| self.may_move(object, reloc.sym()))
        })
    }
}
