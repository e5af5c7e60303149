//! Data statements of linker scripts (`BYTE`, `QUAD`, `ASCIZ`, …): a part each, which the script places and
//! fills.

use super::section::{At, Sizes, Spec, Synthetic};
use crate::layout::Layout;

/// The statement with this number.
pub struct Part(pub u32);

impl Part {
    /// None: the layout by the script makes them.
    pub fn count(_: &Sizes) -> u32 {
        0
    }
}

impl Synthetic for Part {
    fn spec(&self, _: &Sizes) -> Option<Spec> {
        None
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at.image().layout, self.0, out);
    }
}

/// Writes the bytes of the statement with this number.
pub fn write(layout: &Layout, number: u32, out: &mut [u8]) {
    let script = layout.script.as_ref();
    match script.and_then(|script| script.data.get(number as usize)) {
        Some(bytes) if bytes.len() == out.len() => out.copy_from_slice(bytes),
        _ => out.fill(0),
    }
}
