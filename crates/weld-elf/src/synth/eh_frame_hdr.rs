//! `.eh_frame_hdr`: where the unwinder finds the record of a function, by binary search. Its bytes are
//! described in [`crate::eh_frame`].
//!
//! Specification: LSB Core, "Exception Frame Header".

use weld_common::diag::Cause;

use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::eh_frame;
use crate::elf::*;
use crate::layout::ChunkKind;

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let frames = &sizes.plan.eh_frames;
        if frames.size == 0 || !sizes.options.sections.eh_frame_hdr {
            return None;
        }
        let header = Header { name: b".eh_frame_hdr", kind: SHT_PROGBITS, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, 4, eh_frame::hdr_size(frames.searched)).map(Spec::dispensable)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        let size = source.image.layout.chunk(ChunkKind::EhFrameHdr).map_or(0, |c| c.size);
        Cuts::At(eh_frame::hdr_borders(size).collect())
    }

    fn work(&self) -> &'static str {
        ".eh_frame"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let image = at.image();
        let (own, frames) = (at.chunk.address(), image.layout.chunk_address(ChunkKind::EhFrame));
        let entries = &at.contents().frame_table;
        if let Err(e) = eh_frame::write_hdr(at.format(), own, frames, entries, at.start, out) {
            image.sink.error(Cause::TooLarge, format!(".eh_frame_hdr: {e}"));
            out.fill(0);
        }
    }
}
