//! Range-extension thunks: what a branch goes through whose target is too far away.
//!
//! On ARM64 a call reaches 128 MiB, a conditional branch 1 MiB or 32 KiB. What goes further goes to a thunk,
//! which loads the address and goes there. The engine that all formats share ([`weld_common::thunks`]) finds
//! one that the branch reaches. Each new one is a section of its own, after the section whose branch asked
//! for it. Thunks move what is after them, so all is laid out again until every branch reaches. A branch that
//! has taken a thunk keeps it, also if it reaches after all.
//!
//! Relocations are looked at once: those that could go too far are kept in a list. Code that is shorter than
//! the reach of a branch has none of the kind, and other machines ask nothing ([`Rules::BRANCHES`]).

use std::collections::HashMap;

use object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::par;
use weld_common::thunks::{Branch as Call, Form, Pool, Reach, Thunks};

use super::{Layout, Order};
use crate::arch::{Rules, facts, with_rules};
use crate::ids::SectionId;
use crate::live::{ImageParts, Live};
use crate::resolve::Resolved;
use crate::sections::{Kind, Sections};
use crate::symbols::{Kind as SymbolKind, Symbol, Symbols, SyntheticSection, of_object};

/// Members of a run.
const RUN: usize = 4096;

/// More often nothing is laid out again.
const MOST_PASSES: u32 = 32;

/// Thunks, and the branches that take them.
#[derive(Default)]
pub struct Branches {
    /// The key is what a thunk leads to. Each has a pool of its own, whose place is the section before it.
    thunks: Thunks<Symbol, SectionId>,
    /// The section that each thunk is.
    sections: Vec<SectionId>,
    /// Of branches by section and offset.
    taken: HashMap<(SectionId, u32), u32>,
}

impl Branches {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The thunk that the branch at `offset` of a section takes.
    pub fn thunk(&self, section: SectionId, offset: u32) -> Option<SectionId> {
        self.taken.get(&(section, offset)).map(|number| self.sections[*number as usize])
    }

    /// Where a thunk leads.
    pub fn target(&self, number: u32) -> Symbol {
        self.thunks.list[number as usize].key
    }
}

/// A branch that could go too far.
#[derive(Clone, Copy)]
struct Branch {
    section: SectionId,
    offset: u32,
    /// How far it reaches in both directions.
    reach: u32,
    target: Symbol,
}

/// What is laid out.
pub struct Code<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c mut Sections,
    pub symbols: &'c mut Symbols,
    pub live: &'c mut Live,
}

impl Code<'_, '_> {
    fn parts(&self) -> ImageParts<'_> {
        ImageParts { sections: self.sections, symbols: self.symbols, live: self.live }
    }
}

pub struct Settings {
    /// The user's: branches are taken to reach no further.
    pub most: Option<u32>,
    pub verbose: bool,
    pub parallel: bool,
}

/// Lays out by `place`, with thunks.
pub fn settle<'a>(
    mut code: Code<'_, 'a>,
    mut order: Order,
    settings: &Settings,
    sink: &DiagSink,
    mut place: impl FnMut(ImageParts, Order) -> Layout,
) -> (Layout, Branches) {
    let mut branches = Branches::default();
    let Some(thunk) = &facts(code.resolved.machine).branch_thunk else {
        return (place(code.parts(), order), branches);
    };
    let mut layout = place(code.parts(), order.clone());
    let far = with_rules!(code.resolved.machine, far(&code, &layout, settings));
    if far.is_empty() || sink.has_errors() {
        return (layout, branches);
    }
    let mut passes = 0;
    while !sink.has_errors() {
        branches.plan(&far, &layout, code.sections, thunk.form, passes == 0);
        if !branches.insert(&mut order, &mut code, thunk.form) {
            break;
        }
        passes += 1;
        if passes > MOST_PASSES {
            sink.push(Diagnostic::error(
                Cause::RelocationOutOfRange,
                "branches do not reach, however often thunks are put in between",
            ));
            break;
        }
        layout = place(code.parts(), order.clone());
    }
    if settings.verbose && passes > 0 {
        let count = branches.sections.len();
        let margin = far.iter().map(|branch| margin(branch.reach)).min().unwrap_or(0);
        let text = format!("Added {count} thunks with margin {margin} in {passes} passes");
        sink.push(Diagnostic::said(text));
    }
    (layout, branches)
}

/// While nothing has its final place, a branch is taken to reach so much less.
fn margin(reach: u32) -> u32 {
    reach / 64
}

/// All branches that could go too far in code as long as this.
fn far<R: Rules>(code: &Code, layout: &Layout, settings: &Settings) -> Vec<Branch> {
    let is_code = |out: &&super::OutputSection| out.is_code();
    let start = layout.outs.iter().find(is_code).map_or(0, |out| out.rva.get().into());
    let end = layout.outs.iter().rfind(is_code).map_or(0, |out| u64::from(out.rva.get()) + out.virtual_size);
    // Twice as far, as there will be thunks.
    let span = 2 * (end - start);
    let most = settings.most.unwrap_or(u32::MAX);
    let reach_of = |typ: u16| R::reach(typ).map(|own| own.min(most)).filter(|own| u64::from(*own) < span);
    let all = layout.outs.iter().filter(is_code).flat_map(|out| &layout.order[out.members.clone()]);
    let members: Vec<u32> = all.copied().collect();
    let runs = par::runs("branches", settings.parallel, members.len(), RUN, |run| {
        let mut found = Vec::new();
        for &id in &members[run] {
            of_section(code, SectionId(id), &reach_of, &mut found);
        }
        found
    });
    par::concat("join branches", settings.parallel, runs)
}

fn of_section(code: &Code, id: SectionId, reach_of: &impl Fn(u16) -> Option<u32>, found: &mut Vec<Branch>) {
    let section = code.sections.get(id);
    if section.kind != Kind::Regular {
        return;
    }
    let object = &code.resolved.objects[section.object.index()];
    let header = code.sections.header(&code.resolved.objects, section);
    for relocation in object.coff.relocations(header).unwrap_or_default() {
        let Some(reach) = reach_of(relocation.typ.get(LE).0) else { continue };
        let index = relocation.symbol_table_index.get(LE);
        let target = of_object(code.symbols, code.sections, section.object, object, index);
        if target.kind == SymbolKind::Section {
            found.push(Branch { section: id, offset: relocation.virtual_address.get(LE), reach, target });
        }
    }
}

impl Branches {
    /// Gives branches that do not reach a thunk. New ones have no sections yet.
    fn plan(&mut self, far: &[Branch], layout: &Layout, sections: &Sections, form: Form, is_first: bool) {
        self.thunks.begin(|number| layout.rva(self.sections[number as usize]).get().into());
        let form = |number| (number == 0).then_some(form);
        for branch in far {
            let here = layout.rva(branch.section).wrapping_add(branch.offset).get().into();
            let ahead = u64::from(branch.reach - if is_first { margin(branch.reach) } else { 0 });
            let reach = Reach { back: ahead - 1, ahead };
            let target = layout.rva(SectionId(branch.target.target)).wrapping_add(branch.target.value as u32);
            let target = u64::from(target.get());
            let taken = self.taken.get(&(branch.section, branch.offset));
            if reach.has(here, taken.map_or(target, |number| self.thunks.address(*number))) {
                continue;
            }
            let call = Call { key: branch.target, here, target, reach };
            let number = self.thunks.serve(&call, form, |pools| {
                // About where the section ends.
                let end = layout.rva(branch.section).wrapping_add(sections.get(branch.section).size);
                pools.push(Pool::new(branch.section, end.get().into()));
                Some(pools.len() as u32 - 1)
            });
            if let Some(number) = number {
                self.taken.insert((branch.section, branch.offset), number);
            }
        }
    }

    /// Makes sections of new thunks and puts them after those that they belong to. Whether there are any.
    fn insert(&mut self, order: &mut Order, code: &mut Code, form: Form) -> bool {
        let mut new: HashMap<SectionId, Vec<u32>> = HashMap::new();
        for (number, pool) in (0..).zip(&self.thunks.pools[..]).skip(self.sections.len()) {
            let made = code.symbols.made.len() as u32;
            code.symbols.made.push(SyntheticSection::BranchThunk(number));
            let part = code.sections.get(pool.place).part;
            let align = form.align.trailing_zeros() as u8;
            let id = code.sections.push_made(made, part, form.size as u32, align);
            code.live.add(id.index()..id.index() + 1);
            self.sections.push(id);
            new.entry(pool.place).or_default().push(id.0);
        }
        if new.is_empty() {
            return false;
        }
        let old = std::mem::take(&mut order.list);
        let list = &mut order.list;
        for range in &mut order.ranges {
            let start = list.len();
            for id in &old[range.clone()] {
                list.push(*id);
                list.extend(new.get(&SectionId(*id)).into_iter().flatten());
            }
            *range = start..list.len();
        }
        true
    }
}
