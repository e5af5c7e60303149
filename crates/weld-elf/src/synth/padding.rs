//! Room between input sections (`--randomize-section-padding`), which `layout::padding` puts there: zeroes.

use super::section::{At, Sizes, Spec, Synthetic};

pub struct Section;

impl Synthetic for Section {
    /// Layout makes them.
    fn spec(&self, _: &Sizes) -> Option<Spec> {
        None
    }

    fn write(&self, _: &At, out: &mut [u8]) {
        out.fill(0);
    }
}
