//! The output's `.sframe`: how to find the frame around any instruction, by binary search.
//!
//! Each object has a table ([`crate::sframe`] reads them); the output has one, of the functions that are in
//! it. [`plan`] finds those and decides on a version, which gives the section its size. Rows lie in the order
//! of objects, as they are in the input; the index is put in order once functions have their addresses
//! ([`index`]). [`of_plt`] adds what the PLT does with the stack.
//!
//! Specification: "The SFrame Format"; `PT_GNU_SFRAME` and `SHT_GNU_SFRAME` as GNU binutils have them.

pub mod index;
pub mod of_plt;
pub mod plan;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::elf::*;

pub struct Section;

/// In bytes: the header and the index have numbers at their natural boundaries.
const ALIGN: u64 = 8;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let size = sizes.plan.tables.sframe.as_ref()?.size();
        let header = Header { name: b".sframe", kind: SHT_GNU_SFRAME, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, ALIGN, size).map(|spec| spec.dispensable().in_segment(PT_GNU_SFRAME))
    }

    fn cuts(&self, source: &Source) -> Cuts {
        Cuts::At(source.contents.tables.sframe.as_ref().map_or_else(Vec::new, |table| table.borders()))
    }

    fn work(&self) -> &'static str {
        ".sframe"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        if let Some(table) = &at.contents().tables.sframe {
            index::Writer { image: at.image(), table, index: &at.contents().sframe_index }.write(
                at.chunk.address(),
                at.start,
                out,
            );
        }
    }
}
