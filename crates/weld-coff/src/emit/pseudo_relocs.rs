//! The list of places that start-up code of MinGW changes, see [`crate::synth::mingw`].

use crate::image::Image;
use crate::synth::mingw::HEADER;

/// The list, in the order of sections.
pub fn bytes(image: &Image) -> Vec<u8> {
    let relocs = &image.tables.mingw.relocs;
    if relocs.is_empty() {
        return Vec::new();
    }
    let entries = relocs.iter().flat_map(|reloc| {
        let slot = image.rva_of(reloc.slot).unwrap_or(0);
        [slot, image.layout.rva(reloc.section).wrapping_add(reloc.offset), reloc.bits]
    });
    HEADER.into_iter().chain(entries).flat_map(u32::to_le_bytes).collect()
}
