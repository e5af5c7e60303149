//! The object's records in `.eh_frame`, which lie in a run among those of others.

use weld_common::diag::DiagSink;

use super::{Alone, Missing, Write};
use crate::address::Address;
use crate::elf::*;
use crate::synth::eh_frames;
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
        // From offsets in the section to offsets in the file.
        Ok(again.into_iter().map(|(at, bytes)| (offset - start + at, bytes)).collect())
    }
}
