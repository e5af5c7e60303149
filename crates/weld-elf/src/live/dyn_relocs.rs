//! Relocations of input sections that the loader must apply.
//!
//! The scan meets sections in an order that depends on threads, but those of one section one after
//! the other. So only the sections are put in order, not their relocations.

use weld_common::{par, sort};

use crate::ids::*;

/// A relocation that the loader must apply: the input relocation it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DynReloc {
    pub section: SectionId,
    /// Index in the section's relocations, above [`DynKind`] in the low three bits.
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
    /// What the object's relocation says of the symbol, of the same type.
    Same,
    /// Add the load address to the address of the slot that has the symbol's offset from the thread pointer, or
    /// to that of the GOT's base, by the class of the relocation.
    OwnWord,
    /// Add the load address, and sign the pointer.
    Signed,
    /// Add the load address, and call the function there.
    Called,
    /// Add the load address, and give the pointer the tag that the memory has: that where it points to, but
    /// for what the place says.
    Tagged,
}

impl DynReloc {
    pub fn new(section: SectionId, index: usize, kind: DynKind) -> Self {
        DynReloc { section, word: (index as u32) << 3 | kind as u32 }
    }
    pub fn index(self) -> usize {
        (self.word >> 3) as usize
    }
    pub fn kind(self) -> DynKind {
        match self.word & 7 {
            0 => DynKind::Relative,
            1 => DynKind::Symbolic,
            2 => DynKind::TpOff,
            3 => DynKind::Same,
            4 => DynKind::OwnWord,
            5 => DynKind::Signed,
            6 => DynKind::Called,
            _ => DynKind::Tagged,
        }
    }
}

/// All of them, by section.
#[derive(Default)]
pub struct DynRelocs {
    /// As the tasks of the scan found them.
    lists: Vec<Vec<DynReloc>>,
    /// By section.
    runs: Vec<Run>,
}

/// Where relocations of a section are.
#[derive(Clone, Copy)]
struct Run {
    first: DynReloc,
    list: u32,
    start: u32,
    end: u32,
}

impl DynRelocs {
    /// In the lists the relocations of a section follow one another, in their order, in one run or in
    /// several with others between them.
    pub fn new(mut lists: Vec<Vec<DynReloc>>, parallel: bool) -> Self {
        lists.retain(|list| !list.is_empty());
        let runs = par::runs("find dynamically relocated sections", parallel, lists.len(), 1, |range| {
            let mut runs = Vec::new();
            for list in range {
                let mut start = 0;
                for run in lists[list].chunk_by(|a, b| a.section == b.section) {
                    let end = start + run.len() as u32;
                    runs.push(Run { first: run[0], list: list as u32, start, end });
                    start = end;
                }
            }
            runs
        });
        let runs = par::concat("join dynamically relocated sections", parallel, runs);
        let runs = sort::by(runs, parallel, |a, b| a.first.cmp(&b.first));
        DynRelocs { lists, runs }
    }

    /// Leaves only those of sections that are to be kept.
    pub fn retain(&mut self, keep: impl Fn(SectionId) -> bool, parallel: bool) {
        if self.runs.iter().all(|run| keep(run.first.section)) {
            return;
        }
        let mut lists = std::mem::take(&mut self.lists);
        lists.iter_mut().for_each(|list| list.retain(|reloc| keep(reloc.section)));
        *self = DynRelocs::new(lists, parallel);
    }

    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// All, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &DynReloc> {
        self.lists.iter().flatten()
    }

    /// All, in no particular order, at most so many in a piece.
    pub fn pieces(&self, size: usize) -> Vec<&[DynReloc]> {
        self.lists.iter().flat_map(|list| list.chunks(size)).collect()
    }

    /// Run number `i` of [`Self::runs`].
    pub fn run(&self, i: usize) -> (SectionId, &[DynReloc]) {
        let run = &self.runs[i];
        (run.first.section, &self.lists[run.list as usize][run.start as usize..run.end as usize])
    }

    /// The relocations of one section after the other, each section in one or several runs.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (SectionId, &[DynReloc])> {
        (0..self.runs.len()).map(|i| self.run(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_put_in_order_and_their_relocations_stay_so() {
        let reloc = |section, index| DynReloc::new(SectionId(section), index, DynKind::Relative);
        let lists = [vec![reloc(7, 4), reloc(7, 9), reloc(2, 1), reloc(7, 0)], vec![], vec![reloc(3, 5)]];
        for parallel in [false, true] {
            let relocs = DynRelocs::new(lists.to_vec(), parallel);
            let order: Vec<(u32, usize)> =
                relocs.runs().flat_map(|(_, run)| run.iter().map(|r| (r.section.0, r.index()))).collect();
            assert_eq!(order, [(2, 1), (3, 5), (7, 0), (7, 4), (7, 9)]);
            assert_eq!(relocs.len(), 5);
            assert_eq!(relocs.pieces(3).iter().map(|piece| piece.len()).collect::<Vec<_>>(), [3, 1, 1]);
        }
    }
}
