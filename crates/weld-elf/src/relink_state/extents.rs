//! Where sections of debug information are that lie elsewhere than the tables say, or have more room or less
//! (`relink/patch/neighbours.rs`).

use std::collections::BTreeMap;

use super::rows::SectionRow;

/// An address, and how many bytes there are with the room behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub address: u64,
    pub size: u64,
}

/// By the rows of sections.
pub type Extents = BTreeMap<u32, Extent>;

/// Has sections lie where they are, the first of which has row `first`.
pub fn put_in(extents: &Extents, first: u32, sections: &mut [SectionRow]) {
    let end = first.saturating_add(sections.len() as u32);
    for (row, extent) in extents.range(first..end) {
        let section = &mut sections[(row - first) as usize];
        (section.address, section.size) = (extent.address, extent.size);
    }
}
