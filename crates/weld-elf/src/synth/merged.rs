//! Merged strings and constants: one part for each combination of output section, entry size, kind and
//! alignment, among the input sections of that output section. `merge_parts` makes them.

use super::section::{At, Cuts, Place, Sizes, Source, Spec, Synthetic};

/// The part with this index.
pub struct Part(pub u32);

impl Part {
    pub fn count(sizes: &Sizes) -> u32 {
        sizes.plan.merged.len() as u32
    }
}

impl Synthetic for Part {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let part = &sizes.plan.merged[self.0 as usize];
        // A part without bytes still is a place in its section.
        let (size, align) = (part.merged.size(), part.merged.align());
        Some(Spec::new(Place::Joined(part.bin), align, size))
    }

    fn cuts(&self, _: &Source) -> Cuts {
        Cuts::ENTRIES
    }

    fn work(&self) -> &'static str {
        "merged strings and constants"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.image().merged[self.0 as usize].merged.write(at.start, out);
    }
}
