//! Sections that are the same as others, which stand for them (`icf`).

use crate::ids::*;
use crate::sections::{SectionKind, Sections};

/// Sections that others stand for.
#[derive(Default)]
pub struct Folds {
    /// A folded section and the one that stands for it; ascending.
    pub pairs: Vec<(SectionId, SectionId)>,
}

impl Folds {
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The section that stands for `section`: mostly itself.
    pub fn leader(&self, section: SectionId) -> SectionId {
        match self.pairs.binary_search_by_key(&section, |pair| pair.0) {
            Ok(place) => self.pairs[place].1,
            Err(_) => section,
        }
    }

    /// Gives folded sections the addresses of those that stand for them.
    pub fn place(&self, sections: &mut Sections) {
        for (folded, leader) in &self.pairs {
            let address = sections.get(*leader).address();
            sections.list[folded.index()].set_address(address);
        }
    }

    /// Makes sections of their own of those that were folded: the link begins again with the scan.
    pub fn undo(self, sections: &mut Sections) {
        for (folded, _) in self.pairs {
            sections.list[folded.index()].set_kind(SectionKind::Regular);
        }
    }
}
