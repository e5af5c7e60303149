//! Relocations of input sections that the loader must apply.
//!
//! The scan meets sections in an order that depends on threads, but those of one section one after
//! the other. So only the sections are put in order, not their relocations.

use crate::ids::*;

/// A relocation that the loader must apply: the input relocation it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DynReloc {
    pub section: SectionId,
    /// Index in the section's relocations, above [`DynKind`] in the low two bits.
    word: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynKind {
    /// Add the load address.
    Relative,
    /// Add the address of a symbol.
    Symbolic,
    /// The symbol's offset from the thread pointer.
    TpOff,
    /// The symbol's size.
    Size,
}

impl DynReloc {
    pub fn new(section: SectionId, index: usize, kind: DynKind) -> Self {
        DynReloc { section, word: (index as u32) << 2 | kind as u32 }
    }
    pub fn index(self) -> usize {
        (self.word >> 2) as usize
    }
    pub fn kind(self) -> DynKind {
        match self.word & 3 {
            0 => DynKind::Relative,
            1 => DynKind::Symbolic,
            2 => DynKind::TpOff,
            _ => DynKind::Size,
        }
    }
}

/// All of them, by section.
#[derive(Default)]
pub struct DynRelocs {
    list: Vec<DynReloc>,
    /// Where in `list` the relocations of sections lie: first the section, then start and end.
    runs: Vec<(SectionId, u32, u32)>,
}

impl DynRelocs {
    /// In `list` the relocations of a section follow one another, in their order, in one run or in
    /// several with others between them.
    pub fn new(list: Vec<DynReloc>) -> Self {
        let mut runs = Vec::new();
        let mut start = 0;
        for run in list.chunk_by(|a, b| a.section == b.section) {
            runs.push((run[0].section, start, start + run.len() as u32));
            start += run.len() as u32;
        }
        runs.sort_unstable_by_key(|&(section, start, _)| (section, list[start as usize].word));
        DynRelocs { list, runs }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All, in no particular order.
    pub fn iter(&self) -> std::slice::Iter<'_, DynReloc> {
        self.list.iter()
    }

    /// The relocations of one section after the other, each section in one or several runs.
    pub fn runs(&self) -> impl Iterator<Item = (SectionId, &[DynReloc])> {
        self.runs.iter().map(|&(section, start, end)| (section, &self.list[start as usize..end as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_put_in_order_and_their_relocations_stay_so() {
        let reloc = |section, index| DynReloc::new(SectionId(section), index, DynKind::Relative);
        let relocs = DynRelocs::new(vec![reloc(7, 4), reloc(7, 9), reloc(2, 1), reloc(7, 0), reloc(3, 5)]);
        let order: Vec<(u32, usize)> =
            relocs.runs().flat_map(|(_, run)| run.iter().map(|r| (r.section.0, r.index()))).collect();
        assert_eq!(order, [(2, 1), (3, 5), (7, 0), (7, 4), (7, 9)]);
        assert_eq!(relocs.len(), 5);
    }
}
