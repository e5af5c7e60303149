//! `/opt:icf`: of COMDAT sections that are the same, one is kept.
//!
//! * [`addrsig`] says whose addresses somebody may compare;
//! * [`graph`] finds the sections that can be folded, what they are made of and what they lead to;
//! * `weld_common::partition_refinement` finds the classes of sections that are the same.
//!
//! Runs when it is known what is live. The first section of a class, in the order of the section list, stays.
//! The others become [`Kind::Folded`]: they lie nowhere, and get the first one's address when addresses are
//! known, so that symbols and relocations that lead to them need no second look. What goes with a function
//! (tables for unwinding) is folded like the function itself.
//!
//! Functions are folded whether somebody compares their addresses or not, as Microsoft's linker has it; data
//! only if its object says that nobody does. `/opt:safeicf` asks that of functions, too.

mod addrsig;
mod graph;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::hash::join;
use weld_common::par;
use weld_common::text;

use crate::coff::pe;
use crate::ids::SectionId;
use crate::job::Job;
use crate::live::Live;
use crate::options::{Icf, Options};
use crate::resolve::Resolved;
use crate::sections::{Kind, Section, Sections};
use crate::symbols::Symbols;
use addrsig::Compared;
use graph::Vertices;

/// Sections looked at by one task.
const FOLDS: usize = 1 << 15;

/// What there is to fold, and what decides on it.
#[derive(Clone, Copy)]
pub struct Link<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub level: Icf,
    pub parallel: bool,
}

/// Sections and those that stand for them, ascending.
pub type Folds = Vec<(SectionId, SectionId)>;

/// Folds what is the same, and takes it out of the image.
pub fn fold(
    job: &Job,
    resolved: &Resolved,
    sections: &mut Sections,
    symbols: &Symbols,
    live: &Live,
    parallel: bool,
) -> Folds {
    let level = job.options.icf();
    if level == Icf::None {
        return Folds::new();
    }
    let link = Link { resolved, sections, symbols, live, level, parallel };
    let folds = job.step("fold sections", || link.folds());
    apply(&folds, sections, parallel);
    say(&folds, resolved, sections, job.options, job.sink);
    folds
}

impl Link<'_, '_> {
    /// Finds what is the same.
    fn folds(&self) -> Folds {
        let compared = Compared::collect(self);
        let vertices = Vertices::find(self, &compared);
        let section = |vertex: u32| vertices.list[vertex as usize];
        let pairs = vertices.graph().fold(&vertices, join, self.parallel);
        pairs.into_iter().map(|(folded, leader)| (section(folded), section(leader))).collect()
    }
}

/// Takes what is folded out of the image.
fn apply(folds: &Folds, sections: &mut Sections, parallel: bool) {
    let list = &sections.list;
    let stricter = par::runs("alignment of what is folded", parallel, folds.len(), FOLDS, |run| {
        let align = |&(folded, leader): &(SectionId, SectionId)| (leader, list[folded.index()].align);
        let found =
            folds[run].iter().map(align).filter(|(leader, align)| *align > list[leader.index()].align);
        found.collect::<Vec<_>>()
    });
    for (leader, align) in stricter.into_iter().flatten() {
        let leader = &mut sections.list[leader.index()];
        leader.align = leader.align.max(align);
    }
    let fold = |first: usize, part: &mut [Section]| {
        let (start, end) = (folds.partition_point(|(folded, _)| folded.index() < first), first + part.len());
        let own = folds[start..].iter().take_while(|(folded, _)| folded.index() < end);
        own.for_each(|(folded, _)| part[folded.index() - first].kind = Kind::Folded);
    };
    par::in_pieces("take out what is folded", parallel, (&mut sections.list, FOLDS), fold, |()| ());
}

/// `/verbose`: what has been folded into what.
fn say(folds: &Folds, resolved: &Resolved, sections: &Sections, options: &Options, sink: &DiagSink) {
    let name = |id: SectionId| {
        let section = sections.get(id);
        let name = resolved.objects[section.object.index()].leader_name(section.number)?;
        Some(text::text(name).into_owned())
    };
    if !options.reports.verbose.folded {
        return;
    }
    let mut sorted: Vec<(SectionId, SectionId)> =
        folds.iter().map(|&(folded, leader)| (leader, folded)).collect();
    // As the image has them: code is in front of data.
    let is_data = |id: SectionId| sections.get(id).flags & pe::IMAGE_SCN_CNT_CODE.0 == 0;
    sorted.sort_unstable_by_key(|&(leader, folded)| (is_data(leader), leader, folded));
    for class in sorted.chunk_by(|a, b| a.0 == b.0) {
        let Some(kept) = name(class[0].0) else { continue };
        sink.push(Diagnostic::said(format!("Selected {kept}")));
        sink.settle();
        for (_, folded) in class {
            sink.push(Diagnostic::said(format!("  Removed {}", name(*folded).unwrap_or_default())));
            sink.settle();
        }
    }
}
