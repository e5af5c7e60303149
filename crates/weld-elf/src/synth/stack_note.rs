//! `.note.GNU-stack` of an object that `-r` joins: whether its code wants to execute what is on the stack.
//!
//! It has a header and no contents. Specification: "Linux Extensions to gABI".

use super::section::{At, Header, Place, Sizes, Spec, Synthetic};
use crate::elf::*;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        // Objects without the note leave the choice to the linker; if none has it, so does the output.
        let executable = sizes.plan.joined.as_ref()?.executable_stack?;
        let flags = if executable { SHF_EXECINSTR } else { 0 };
        let header = Header { name: b".note.GNU-stack", kind: SHT_PROGBITS, flags, entsize: 0 };
        Some(Spec::new(Place::Own(header), 1, 0).dispensable())
    }

    fn write(&self, _: &At, _: &mut [u8]) {}
}
