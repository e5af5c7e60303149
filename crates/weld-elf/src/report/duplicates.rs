//! Strong definitions of one name in two places.

use std::borrow::Cow;

use weld_common::diag::{Cause, Diagnostic, Spot};
use weld_common::resolve::duplicates::{self, Definition, Definitions};

use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::resolve::Resolved;
use crate::resolve::versioned;
use crate::sections::{SectionKind, Sections};
use crate::symbol_names::{Rank, Rival};
use crate::wording::{place, shown};

pub fn report(job: &Job, resolved: &Resolved, sections: &Sections) {
    if job.options.symbols.allow_multiple_definition {
        return;
    }
    let is_strong = |rival: &&Rival| resolved.names.get(rival.id).rank() == Rank::Strong;
    let lost = resolved.duplicates.iter().filter(is_strong).copied().collect();
    let mut told = Told { job, resolved, sections };
    duplicates::report(&resolved.names, lost, usize::MAX, &mut told, job.sink);
}

/// What is known of definitions.
struct Told<'l, 'a> {
    job: &'l Job<'a>,
    resolved: &'l Resolved<'a>,
    sections: &'l Sections<'a>,
}

impl<'l, 'a> Told<'l, 'a> {
    fn object(&self, file: FileId) -> (ObjectId, &'l Object<'a>) {
        let id = ObjectId(self.resolved.index_of_file[file.index()]);
        (id, &self.resolved.objects[id.index()])
    }
}

impl Definitions for Told<'_, '_> {
    fn shown<'n>(&self, name: &'n [u8]) -> Cow<'n, str> {
        shown(self.job.options, name)
    }

    fn problem(&self, text: String) -> Diagnostic {
        Diagnostic::error(Cause::DuplicateSymbol, text).tolerable()
    }

    fn tell_place(&mut self, problem: Diagnostic, Definition { file, sym }: Definition) -> Diagnostic {
        let (id, object) = self.object(file);
        let problem = problem.note(format!("defined at {}", place::definition(object, sym)));
        match place::section_of(object, sym) {
            Some((shndx, offset)) => {
                let place = place::of(id, shndx, offset);
                let spot = Spot { place: Some(place), ..object.at_byte(shndx, offset).spot() };
                problem.place(place).definition(spot)
            }
            None => problem.definition(object.whole().spot()),
        }
    }

    fn contradict(&self, kept: Definition, lost: Definition) -> bool {
        let [a, b] = [kept, lost].map(|one| (self.object(one.file).1, one.sym));
        !is_discarded(a, self.sections) && !is_discarded(b, self.sections) && !are_one(a, b)
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
