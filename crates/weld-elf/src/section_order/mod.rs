//! The order of input sections inside their output sections, where options or profiles ask for another one
//! than that of the command line.
//!
//! `--symbol-ordering-file` puts the sections of listed symbols first (`symbols`), a call graph profile those
//! that call each other beside one another (`call_graph`, `weld_common::call_graph_sort`),
//! `--section-ordering-file` those of listed names first (`listed`), balanced partitioning those that are
//! called or packed together near one another (`partition`), `--shuffle-sections` all in an order by chance
//! (`shuffle`), the small code model has its data near the GOT (`near_toc`). Each gives some sections a place; layout sorts the members of an output section by their
//! places, and the others stay where they were, after those that come first.

mod bisection;
mod call_graph;
mod listed;
mod near_toc;
mod partition;
pub mod profile;
pub mod shuffle;
mod symbols;

use std::collections::HashMap;

use weld_common::diag::Diagnostics;
use weld_common::glob::Glob;

use crate::arch::facts::Toc;
use crate::elf::Shdr;
use crate::ids::*;
use crate::input::object::Object;
use crate::job::Job;
use crate::live::{Live, SectionOwners};
use crate::resolve::Resolved;
use crate::sections::{SectionKind, Sections};
use crate::symbols::Symbols;

/// Where a section goes: those with a lower first number come before, and with the same one before those with
/// a higher second number. A section without a place has 0 and its own number.
type Place = (i64, u32);

/// The places of sections that have one. Empty in nearly all links.
#[derive(Debug, Default)]
pub struct SectionOrder {
    places: HashMap<SectionId, Place>,
}

impl SectionOrder {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn has(&self, id: SectionId) -> bool {
        self.places.contains_key(&id)
    }

    pub fn place(&self, id: SectionId) -> Place {
        self.places.get(&id).copied().unwrap_or((0, id.0))
    }

    /// Puts `sections`, each named once, after those that come first and before all that have no place.
    fn put_behind_first(&mut self, sections: impl Iterator<Item = SectionId>) {
        self.places.extend(sections.zip(1..).map(|(id, at)| (id, (-1, at))));
    }

    /// Puts `sections`, each named once, before all that have no place.
    fn put_first(&mut self, sections: impl ExactSizeIterator<Item = SectionId>) {
        let count = sections.len() as i64;
        self.places.extend(sections.zip(-count..).map(|(id, at)| (id, (at, 0))));
    }
}

/// What the order is found in.
pub struct Orderer<'c, 'a> {
    pub job: &'c Job<'a>,
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub owners: &'c SectionOwners,
    /// Data near the GOT, if nothing else says in which order they are.
    pub toc: Option<&'c Toc>,
    pub parallel: bool,
    /// Warnings have not been given yet.
    pub first: bool,
}

impl<'a> Orderer<'_, 'a> {
    /// Finds the order that the options and the objects ask for.
    ///
    /// # Errors
    /// If a report cannot be written. What is wrong with a file goes to the link's messages.
    pub fn order(&self) -> Result<SectionOrder, Diagnostics> {
        let options = &self.job.options.order;
        let mut order = SectionOrder::default();
        if let Some(path) = &options.symbol_file {
            self.by_symbols(path, &mut order);
        } else if options.by_call_graph && !options.partition.is_asked() {
            let sections = self.by_call_graph();
            if let Some(path) = &options.print {
                self.print(path, &sections)?;
            }
            order.put_first(sections.into_iter());
        }
        if options.partition.is_asked() {
            self.by_partition(&mut order)?;
        }
        if let Some(path) = &options.section_file {
            self.by_names(path, &mut order);
        }
        if !options.shuffle.is_empty() {
            self.shuffle(&mut order);
        }
        if let Some(toc) = self.toc {
            self.near_toc(toc, &mut order);
        }
        Ok(order)
    }

    /// Whether a section keeps its contents in one piece, in the output.
    fn can_move(&self, id: SectionId) -> bool {
        let section = self.sections.get(id);
        let whole = matches!(section.kind(), SectionKind::Regular | SectionKind::NoBits);
        whole && section.in_image() && self.live.contains(id)
    }

    fn section_name(&self, id: SectionId) -> &'a [u8] {
        let object: &Object<'a> = &self.resolved.objects[self.owners.object(id).index()];
        object.section_name((id.0 - object.section_base) as usize).unwrap_or(b"")
    }

    fn header(&self, id: SectionId) -> &'a Shdr {
        let object: &Object<'a> = &self.resolved.objects[self.owners.object(id).index()];
        &object.shdrs[(id.0 - object.section_base) as usize]
    }

    /// Sections that may move and whose names match.
    fn matching(&self, glob: &Glob) -> impl Iterator<Item = SectionId> {
        let all = (0..self.sections.list.len() as u32).map(SectionId);
        all.filter(move |&id| self.can_move(id) && glob.matches(self.section_name(id)))
    }
}
