//! `--icf`: of sections that are the same, one is kept.
//!
//! Templates and generated code give a program many functions that are the same machine code and lead to the
//! same places, or to places that are the same in turn. One can stand for all, if nobody compares their
//! addresses.
//!
//! * [`addrsig`] says whose addresses may be compared;
//! * [`graph`] finds the sections that can be folded and what they lead to;
//! * [`contents`] knows what a section is made of;
//! * [`weld_common::partition_refinement`] finds the classes of sections that are the same.
//!
//! Runs between the scan and planning. The first section of a class, in the order of the command line, stays.
//! The others become [`SectionKind::Folded`]: they live, but lie in no output section, and get the first
//! one's address when addresses are known. So symbols and relocations that lead to them need no second look.
//! What the scan noted that they need of the loader is forgotten. GOT slots and PLT entries stay: nearly
//! always the section that stands for them needs the same ones.
//!
//! What is ordered by a folded section (`SHF_LINK_ORDER`) speaks of it only, and goes.
//!
//! Debug information of folded functions reads as if they were gone, or two compile units would claim one
//! piece of code; but their line tables lead to the code that stands for them, so that a breakpoint on a line
//! is found.

mod addrsig;
mod contents;
mod graph;

use weld_common::diag::DiagSink;
use weld_common::hash::join;

use self::addrsig::Significance;
use self::graph::Vertices;
use crate::ids::*;
use crate::input::object::Object;
use crate::live::folds::Folds;
use crate::live::{Live, SectionOwners};
use crate::options::Options;
use crate::sections::{SectionKind, Sections};
use crate::symbol_names::Names;
use crate::symbols::Symbols;

/// What there is to fold, and what decides on it.
pub struct Link<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub names: &'c Names<'a>,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
    pub options: &'c Options,
    pub sink: &'c DiagSink,
    pub parallel: bool,
}

impl Link<'_, '_> {
    /// Finds what is the same.
    pub fn folds(&self) -> Folds {
        let significance = Significance::collect(self);
        let vertices = Vertices::find(self, &significance);
        let section = |vertex: u32| vertices.list[vertex as usize].section;
        let pairs = vertices.graph().fold(&vertices, join, self.parallel);
        Folds {
            pairs: pairs.into_iter().map(|(folded, leader)| (section(folded), section(leader))).collect(),
        }
    }
}

/// Takes folded sections, and what speaks of them only, out of the image.
pub fn apply(folds: Folds, objects: &[Object], sections: &mut Sections, live: &mut Live, parallel: bool) {
    if folds.is_empty() {
        return;
    }
    for (folded, leader) in &folds.pairs {
        let align = sections.get(*folded).align();
        sections.list[folded.index()].set_kind(SectionKind::Folded);
        sections.list[leader.index()].raise_align(align);
    }
    let is_folded = |section: SectionId| sections.get(section).kind() == SectionKind::Folded;
    for (object, extra) in objects.iter().zip(&sections.objects) {
        for (follower, leader) in &extra.link_order {
            if is_folded(SectionId(object.section_base + leader)) {
                live.forget(SectionId(object.section_base + follower));
            }
        }
    }
    live.dyn_relocs.retain(|section| !is_folded(section), parallel);
    live.folds = folds;
}
