//! Range-extension thunks: what a branch goes through whose target is too far away.
//!
//! On ARM64 a call reaches 128 MiB, a conditional branch 1 MiB or 32 KiB. What goes further goes to a thunk,
//! 12 bytes after the section that the branch is in, which loads the address and goes there; branches that
//! reach a thunk for their target share it. Thunks move what is after them, so all is laid out again until
//! every branch reaches. A thunk is never taken away, so that ends.
//!
//! Relocations are looked at once: those that could go too far are kept in a list. Code that is shorter than
//! the reach of a branch has none of the kind, and other machines ask nothing ([`Rules::BRANCHES`]).

use std::collections::HashMap;

use object::LittleEndian as LE;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::par;

use super::{Layout, Order};
use crate::arch::{Rules, with_rules};
use crate::ids::SectionId;
use crate::live::Live;
use crate::resolve::Resolved;
use crate::sections::{Kind, Sections};
use crate::symbols::{Kind as SymbolKind, Symbol, Symbols, SyntheticSection, of_object};

/// Members of a run.
const RUN: usize = 4096;

/// More often nothing is laid out again.
const MOST_PASSES: u32 = 32;

/// Bytes of a thunk, and the logarithm of its alignment.
pub const THUNK: (u32, u8) = (12, 2);

/// Thunks, and the branches that take them.
#[derive(Default)]
pub struct Branches {
    taken: HashMap<(SectionId, u32), SectionId>,
}

impl Branches {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The thunk that the branch at `offset` of a section takes.
    pub fn thunk(&self, section: SectionId, offset: u32) -> Option<SectionId> {
        self.taken.get(&(section, offset)).copied()
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

pub struct Reach {
    /// The user's: branches are taken to reach no further.
    pub most: Option<u32>,
    pub verbose: bool,
    pub parallel: bool,
}

/// Lays out by `place`, with thunks.
pub fn settle<'a>(
    mut code: Code<'_, 'a>,
    mut order: Order,
    reach: &Reach,
    sink: &DiagSink,
    mut place: impl FnMut((&Sections, &Symbols, &Live), Order) -> Layout,
) -> (Layout, Branches) {
    let mut branches = Branches::default();
    if !with_rules!(code.resolved.machine, has_branches()) {
        return (place((code.sections, code.symbols, code.live), order), branches);
    }
    let mut layout = place((code.sections, code.symbols, code.live), order.clone());
    let far = with_rules!(code.resolved.machine, far(&code, &layout, reach));
    if far.is_empty() || sink.has_errors() {
        return (layout, branches);
    }
    let mut thunks: HashMap<Symbol, Vec<SectionId>> = HashMap::new();
    let mut passes = 0;
    while !sink.has_errors() {
        let new = plan(&far, &layout, (&mut code, &mut thunks, &mut branches), passes == 0);
        if new.is_empty() {
            break;
        }
        passes += 1;
        if passes > MOST_PASSES {
            sink.push(Diagnostic::error("branches do not reach, however often thunks are put in between"));
            break;
        }
        insert(&mut order, new);
        layout = place((code.sections, code.symbols, code.live), order.clone());
    }
    if reach.verbose && passes > 0 {
        let count: usize = thunks.values().map(Vec::len).sum();
        let margin = far.iter().map(|branch| margin(branch.reach)).min().unwrap_or(0);
        let text = format!("Added {count} thunks with margin {margin} in {passes} passes");
        sink.push(Diagnostic::said(text));
    }
    (layout, branches)
}

fn has_branches<R: Rules>() -> bool {
    R::BRANCHES
}

/// While nothing has its final place, a branch is taken to reach so much less.
fn margin(reach: u32) -> u32 {
    reach / 64
}

/// All branches that could go too far in code as long as this.
fn far<R: Rules>(code: &Code, layout: &Layout, reach: &Reach) -> Vec<Branch> {
    let is_code = |out: &&super::OutputSection| out.is_code();
    let start = layout.outs.iter().find(is_code).map_or(0, |out| out.rva);
    let end = layout.outs.iter().rfind(is_code).map_or(0, |out| out.rva + out.virtual_size);
    // Twice as far, as there will be thunks.
    let span = 2 * (end - start);
    let most = reach.most.unwrap_or(u32::MAX);
    let reach_of = |typ: u16| R::reach(typ).map(|own| own.min(most)).filter(|own| u64::from(*own) < span);
    let all = layout.outs.iter().filter(is_code).flat_map(|out| &layout.order[out.members.clone()]);
    let members: Vec<u32> = all.copied().collect();
    let runs = par::runs("branches", reach.parallel, members.len(), RUN, |run| {
        let mut found = Vec::new();
        for &id in &members[run] {
            of_section(code, SectionId(id), &reach_of, &mut found);
        }
        found
    });
    par::concat("join branches", reach.parallel, runs)
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

/// Gives branches that do not reach a thunk. New thunks come back, with the sections that they lie after.
fn plan(
    far: &[Branch],
    layout: &Layout,
    (code, thunks, branches): (&mut Code, &mut HashMap<Symbol, Vec<SectionId>>, &mut Branches),
    is_first: bool,
) -> HashMap<u32, Vec<u32>> {
    let mut new: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut behind: HashMap<SectionId, SectionId> = HashMap::new();
    for branch in far {
        let from = layout.rva(branch.section).wrapping_add(branch.offset);
        let reach = branch.reach - if is_first { margin(branch.reach) } else { 0 };
        let reaches = |to: u32| to.abs_diff(from) < reach;
        // What was put after a section in this pass has no place yet; it will be about where the section
        // ends.
        let place = |id: SectionId| match behind.get(&id) {
            Some(section) => layout.rva(*section).wrapping_add(code.sections.get(*section).size),
            None => layout.rva(id),
        };
        let key = (branch.section, branch.offset);
        let target = layout.rva(SectionId(branch.target.target)).wrapping_add(branch.target.value as u32);
        let taken = branches.taken.get(&key).map(|id| place(*id));
        if reaches(target) && taken.is_none() || taken.is_some_and(reaches) {
            continue;
        }
        let shared = thunks
            .get(&branch.target)
            .and_then(|list| list.iter().rev().copied().find(|id| reaches(place(*id))));
        let thunk = shared.unwrap_or_else(|| {
            let number = code.symbols.made.len() as u32;
            code.symbols.made.push(SyntheticSection::BranchThunk(code.symbols.branch_targets.len() as u32));
            code.symbols.branch_targets.push(branch.target);
            let part = code.sections.get(branch.section).part;
            let id = code.sections.push_made(number, part, THUNK.0, THUNK.1);
            code.live.add(id.index()..id.index() + 1);
            new.entry(branch.section.0).or_default().push(id.0);
            behind.insert(id, branch.section);
            thunks.entry(branch.target).or_default().push(id);
            id
        });
        branches.taken.insert(key, thunk);
    }
    new
}

/// Puts thunks after the sections that they belong to.
fn insert((order, ranges): &mut Order, new: HashMap<u32, Vec<u32>>) {
    let old = std::mem::take(order);
    for range in ranges {
        let start = order.len();
        for id in &old[range.clone()] {
            order.push(*id);
            order.extend(new.get(id).into_iter().flatten());
        }
        *range = start..order.len();
    }
}
