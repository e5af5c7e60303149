//! Strong definitions of one name in two places.

use weld_common::diag::Diagnostic;

use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::names::Rank;
use crate::resolve::Resolved;
use crate::resolve::versioned;
use crate::sections::{SectionKind, Sections};
use crate::wording::{place, shown};

pub fn report(job: &Job, resolved: &Resolved, sections: &Sections) {
    if job.options.symbols.allow_multiple_definition {
        return;
    }
    for rival in &resolved.duplicates {
        let entry = resolved.names.get(rival.id);
        if entry.rank() != Rank::Strong {
            continue;
        }
        let winner = ObjectId(resolved.index_of_file[entry.file().index()]);
        let loser = ObjectId(resolved.index_of_file[rival.file.index()]);
        let pair = [(winner, entry.sym()), (loser, rival.sym)];
        let [a, b] = pair.map(|(id, index)| (&resolved.objects[id.index()], index));
        if is_discarded(a, sections) || is_discarded(b, sections) || are_one(a, b) {
            continue;
        }
        let text = format!("duplicate symbol: {}", shown(job.options, entry.name));
        let mut diagnostic = Diagnostic::error(text).of(rival.file, rival.sym).tolerable();
        for (id, index) in pair {
            let object = &resolved.objects[id.index()];
            diagnostic = diagnostic.note(format!("defined at {}", place::definition(object, index)));
            if let Some((shndx, offset)) = place::section_of(object, index) {
                diagnostic = diagnostic.place(place::of(id, shndx, offset));
            }
        }
        job.sink.push(diagnostic);
    }
}

fn is_discarded((object, index): (&Object, u32), sections: &Sections) -> bool {
    match place::section_of(object, index) {
        Some((shndx, _)) => sections
            .list
            .get(object.section_base as usize + shndx as usize)
            .is_some_and(|s| s.kind() == SectionKind::Discarded),
        None => false,
    }
}

/// Equal absolute values are no contradiction, nor are two names of one place in one file: `foo` beside
/// the `foo@@V` that `.symver` made of it.
fn are_one((a, i): (&Object, u32), (b, k): (&Object, u32)) -> bool {
    if a.file == b.file {
        return versioned::are_one(a, i, k);
    }
    let (x, y) = (&a.syms[i as usize], &b.syms[k as usize]);
    let absolute = |o: &Object, i, s| o.place(i, s) == SymbolPlace::Absolute;
    absolute(a, i, x) && absolute(b, k, y) && x.st_value() == y.st_value()
}
