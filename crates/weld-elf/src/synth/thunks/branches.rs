//! Which branches may not reach, and where they go.
//!
//! All relocations of code are looked at once, in parallel, those of input sections that are near enough to
//! both ends of the code excepted. What is kept are the branches that reach by less than a margin, or not at
//! all; as long as no code has moved by more than that from other code, only they are looked at again. Where
//! something goes that is no code is looked at again in any case.
//!
//! They are put in the order of output sections, of their targets and of their own places, which stays the same
//! whatever their addresses are.

use weld_common::thunks::Reach;
use weld_common::{par, sort, trace};

use super::Change;
use super::search::World;
use crate::address::Address;
use crate::arch::facts::{Callee, InstructionSets, Jump};
use crate::elf::{Rela, SHF_EXECINSTR};
use crate::got_plt_slots::{NONE, Slot};
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::layout::addresses::{self, Values};
use crate::layout::{Layout, OutputSection};
use crate::sections::descriptors::{self, Code};
use crate::sections::{SectionKind, Sections};
use crate::symbols::internal::Target;
use crate::symbols::{Symbol, Symbols, symbol_flags};
use crate::synth::functions;

/// What a branch goes to, in terms that layout does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// A byte of an input section, or of what may be anywhere else.
    Section(SectionId, u64),
    /// An entry of the PLT, and how far after its start.
    Plt(u32, i64),
    /// What the linker defines, and how far after it.
    Internal(SymbolId, i64),
    Absolute(Address),
}

impl Goal {
    /// So many bytes after it.
    fn after(self, bytes: u64) -> Goal {
        match self {
            Goal::Section(id, offset) => Goal::Section(id, offset.wrapping_add(bytes)),
            Goal::Plt(entry, addend) => Goal::Plt(entry, addend.wrapping_add(bytes as i64)),
            Goal::Internal(id, addend) => Goal::Internal(id, addend.wrapping_add(bytes as i64)),
            Goal::Absolute(address) => Goal::Absolute(address.wrapping_add(bytes)),
        }
    }

    /// Where it is, once everything has its address; `plt` knows those of entries.
    pub fn address(self, sections: &Sections, symbols: &Symbols, plt: impl Fn(u32) -> Address) -> Address {
        match self {
            Goal::Section(id, offset) => sections.address_of(id, offset),
            Goal::Plt(entry, addend) => plt(entry).wrapping_add(addend as u64),
            Goal::Internal(id, addend) => symbols[id].address().wrapping_add(addend as u64),
            Goal::Absolute(address) => address,
        }
    }
}

/// A branch that may not reach.
#[derive(Clone, Copy)]
pub struct Branch {
    pub section: SectionId,
    /// The type of its relocation, and the symbol there.
    pub kind: u32,
    pub symbol: u32,
    /// In its section.
    pub offset: u64,
    pub goal: Goal,
    /// The goal is known to be a function: whether, on machines with several instruction sets, its low bit
    /// means something.
    pub is_function: bool,
    /// What is called, where that matters.
    pub callee: Callee,
}

/// Members whose relocations are looked at in one go.
const MEMBERS: usize = 2048;
/// So few branches are put in order by comparing them.
const FEW: usize = 1 << 13;
/// How many aliases of aliases are followed.
const ALIASES: usize = 4;

/// Whether an output section has code in memory.
pub fn is_code(out: &OutputSection) -> bool {
    out.is_alloc() && out.flags & SHF_EXECINSTR != 0 && out.size > 0
}

/// From where to where code is.
pub fn extent(layout: &Layout) -> (Address, Address) {
    let code = || layout.sections.iter().filter(|out| is_code(out));
    let start = code().map(|out| out.address).min().unwrap_or_default();
    (start, code().map(|out| out.end()).max().unwrap_or_default())
}

/// Addresses while the layout settles: input sections and chunks have offsets in their output sections.
#[derive(Clone, Copy)]
pub struct Addresses<'r, 'w, 'a> {
    pub world: &'r World<'w, 'a>,
    pub layout: &'r Layout<'a>,
    pub sections: &'r Sections<'a>,
}

impl<'a> Addresses<'_, '_, 'a> {
    /// The output section that a section is in.
    pub fn out_of(&self, id: SectionId) -> Option<OutputSectionId> {
        self.layout.out_of(self.sections.get(id).bin())
    }

    /// Where a section is.
    pub fn of_section(&self, id: SectionId) -> Option<Address> {
        Some(self.layout[self.out_of(id)?].address.wrapping_add(self.sections.get(id).offset()))
    }

    /// Where byte `offset` of a section is.
    pub fn of_byte(&self, id: SectionId, offset: u64) -> Option<Address> {
        Some(self.of_section(id)?.wrapping_add(self.sections.output_offset(id, offset)))
    }

    /// Where a chunk is.
    pub fn of_chunk(&self, id: ChunkId) -> Address {
        let chunk = &self.layout.chunks[id.index()];
        self.layout[chunk.out].address.wrapping_add(chunk.offset())
    }

    /// What code counts from that counts from the GOT.
    pub fn got_base(&self) -> Address {
        let chunk = |kind| self.layout.chunk_with_id(kind).map(|(id, _)| self.of_chunk(id));
        let facts = self.world.mode.facts();
        addresses::got_base(facts, self.world.slots.in_front(facts), chunk)
    }

    pub fn of(&self, goal: Goal) -> Option<Address> {
        Some(match goal {
            Goal::Section(id, offset) => self.of_byte(id, offset)?,
            Goal::Plt(entry, addend) => {
                let (kind, offset) = self.world.place_of_entry(entry);
                let chunk = self.layout.chunk_with_id(kind)?.0;
                self.of_chunk(chunk).wrapping_add(offset).wrapping_add(addend as u64)
            }
            Goal::Internal(id, addend) => self.of_internal(id)?.wrapping_add(addend as u64),
            Goal::Absolute(address) => address,
        })
    }

    fn of_internal(&self, id: SymbolId) -> Option<Address> {
        let world = self.world;
        let internal = world.internals.list.iter().find(|internal| internal.id == id)?;
        if let Target::Computed { .. } = internal.target {
            return Some(Address::new(self.layout.script.as_ref()?.value_of(id)?.number));
        }
        let World { symbols, internals, bases, mode, .. } = world;
        let values = Values { symbols, layout: self.layout, internals, bases, shared: mode.shared };
        Some(values.of(&internal.target))
    }

    /// What relocation `reloc` of an object goes to. `None`: nothing that a thunk could lead to.
    fn goal(&self, id: ObjectId, object: &Object, reloc: &Rela) -> Option<Goal> {
        self.goal_with((id, object), reloc, self.world.mode.facts().descriptors.is_some())
    }

    /// The same; `behind`: what is a descriptor leads to its code.
    fn goal_with(&self, (id, object): (ObjectId, &Object), reloc: &Rela, behind: bool) -> Option<Goal> {
        let (index, addend) = (reloc.sym(), reloc.r_addend());
        if index >= object.first_global {
            if index as usize >= object.syms.len() {
                return None;
            }
            return self.goal_of_symbol(object.global(index), addend, behind);
        }
        let symbol = &object.syms[index as usize];
        if let Some(entry) = self.world.slots.of_local(id, index).and_then(entry) {
            return Some(Goal::Plt(entry, addend));
        }
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let section = SectionId(object.section_base + shndx);
                self.goal_in(section, symbol.st_value().wrapping_add(addend as u64), behind)
            }
            SymbolPlace::Absolute => {
                Some(Goal::Absolute(Address::new(symbol.st_value().wrapping_add(addend as u64))))
            }
            _ => None,
        }
    }

    fn goal_of_symbol(&self, mut id: SymbolId, mut addend: i64, behind: bool) -> Option<Goal> {
        for _ in 0..ALIASES {
            let symbol: &Symbol = &self.world.symbols[id];
            let flags = symbol.flags();
            if flags & (symbol_flags::PREEMPTIBLE | symbol_flags::IFUNC) != 0
                && let Some(entry) = self.world.slots.of_symbol(id).and_then(entry)
            {
                return Some(Goal::Plt(entry, addend));
            }
            return match flags & symbol_flags::KIND {
                symbol_flags::DEFINED if flags & (symbol_flags::MERGED | symbol_flags::OUTSIDE) == 0 => {
                    let offset = symbol.offset().wrapping_add(addend as u64);
                    self.goal_in(SectionId(symbol.section), offset, behind)
                }
                symbol_flags::ABSOLUTE if flags & symbol_flags::ASSIGNED == 0 => {
                    Some(Goal::Absolute(Address::new(symbol.constant().wrapping_add(addend as u64))))
                }
                symbol_flags::ABSOLUTE | symbol_flags::INTERNAL => {
                    match self.world.internals.list.iter().find(|i| i.id == id) {
                        Some(internal) => {
                            if let Target::Alias(other, more) = internal.target {
                                (id, addend) = (other, addend.wrapping_add(more));
                                continue;
                            }
                            Some(Goal::Internal(id, addend))
                        }
                        None => None,
                    }
                }
                _ => None,
            };
        }
        None
    }

    /// A byte of an input section, or of the one that stands for it.
    fn goal_in(&self, id: SectionId, offset: u64, behind: bool) -> Option<Goal> {
        if behind {
            let number = self.world.owners.object(id);
            let object = &self.world.resolved.objects[number.index()];
            let at = (number, id.0 - object.section_base);
            match descriptors::code(&self.world.resolved.objects, self.sections, at, offset) {
                Code::Itself => {}
                Code::At(code) => return self.goal_with((number, object), code, false),
                Code::Unknown => return None,
            }
        }
        let id = self.world.live.folds.leader(id);
        let section = self.sections.get(id);
        let there = section.is_copied()
            && !matches!(section.kind(), SectionKind::EhFrame | SectionKind::Reversed)
            && self.world.live.contains(id);
        there.then_some(Goal::Section(id, offset))
    }

    /// What `find` adds for the input sections that code is in, so many in one go.
    pub fn in_code<T: Copy + Send + Sync>(
        &self,
        region: &'static str,
        at_once: usize,
        find: impl Fn(SectionId, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let mut lists = Vec::new();
        for out in self.layout.sections.iter().filter(|out| is_code(out)) {
            lists.append(&mut par::runs(region, self.world.parallel, out.members.len(), at_once, |run| {
                let mut found = Vec::new();
                let sections = out.members[run].iter().filter_map(|member| member.as_section());
                sections.for_each(|id| find(id, &mut found));
                found
            }));
        }
        par::concat("join what was found in code", self.world.parallel, lists)
    }

    /// The branches that do not reach their targets, if they reach as far as `reach` says of their types: at
    /// least `least` bytes.
    pub fn collect(&self, reach: impl Fn(u32) -> Option<Reach> + Sync, least: u64) -> Vec<Branch> {
        let extent = extent(self.layout);
        self.in_order("find branches that do not reach", |id, found| {
            self.of_one(id, &reach, least, extent, found);
        })
    }

    /// The branches that `find` adds for sections, in their order.
    fn in_order(
        &self,
        region: &'static str,
        find: impl Fn(SectionId, &mut Vec<Branch>) + Sync,
    ) -> Vec<Branch> {
        let branches = self.in_code(region, MEMBERS, |id, found| {
            let first = found.len();
            find(id, found);
            // Most objects have relocations in this order.
            found[first..].sort_by_key(|branch| branch.offset);
        });
        let _stretch = trace::stretch("put branches in order");
        by_goal(branches, |id| self.out_of(id), self.sections.list.len() as u32, self.world.parallel)
    }

    /// Whether something lies in code, which moves as a whole but for what is put between.
    fn is_in_code(&self, goal: Goal) -> bool {
        match goal {
            Goal::Section(id, _) => self.out_of(id).is_some_and(|out| is_code(&self.layout[out])),
            Goal::Plt(..) => true,
            Goal::Internal(..) | Goal::Absolute(_) => false,
        }
    }

    /// The same on machines with several instruction sets, and those that cannot change to that of their
    /// target. `change` says which they are.
    pub fn collect_changing(
        &self,
        sets: &InstructionSets,
        change: impl Fn(&Jump) -> Option<Change> + Sync,
        margin: u64,
    ) -> Vec<Branch> {
        self.in_order("find branches that need thunks", |id, found| {
            self.changing_of_one(id, sets, (&change, margin), found);
        })
    }

    fn changing_of_one(
        &self,
        id: SectionId,
        sets: &InstructionSets,
        (change, margin): (&impl Fn(&Jump) -> Option<Change>, u64),
        found: &mut Vec<Branch>,
    ) {
        let section = self.sections.get(id);
        let Some(start) = self.of_section(id).filter(|_| section.relocs != 0) else { return };
        let number = self.world.owners.object(id);
        let object = &self.world.resolved.objects[number.index()];
        for reloc in self.sections.relocs(object, number.index(), section) {
            let Some((goal, jump)) = self.jump(sets, (id, start), (number, object), reloc) else { continue };
            let Some(change) = change(&jump) else { continue };
            let is_near = || change.reach.less(margin).has(jump.here, jump.target) && self.is_in_code(goal);
            if change.needs_thunk || !is_near() {
                let (symbol, offset) = (reloc.sym(), reloc.r_offset());
                let Jump { kind, is_function, callee, .. } = jump;
                found.push(Branch { section: id, kind, symbol, offset, goal, is_function, callee });
            }
        }
    }

    /// Where a branch of a section, which lies at `start`, goes by a relocation; `None` if it is that of no branch, or
    /// if it leads to nothing.
    pub fn jump(
        &self,
        sets: &InstructionSets,
        (id, start): (SectionId, Address),
        (number, object): (ObjectId, &Object),
        reloc: &Rela,
    ) -> Option<(Goal, Jump)> {
        let (kind, features) = (reloc.kind(), self.world.mode.features);
        (sets.reach)(kind, features)?;
        let here = start.wrapping_add(self.sections.output_offset(id, reloc.r_offset())).get();
        let goal = self.goal(number, object, reloc)?;
        let callee = match goal {
            _ if !sets.asks_callee => Callee::Own(0),
            Goal::Plt(..) => Callee::Entry(self.world.second_way_in()),
            _ => functions::callee(self.world.symbols, object, reloc.sym()),
        };
        let goal = goal.after((sets.bias)(kind, callee));
        let target = self.of(goal)?.get();
        let is_function =
            matches!(goal, Goal::Plt(..)) || functions::is_function(self.world.symbols, object, reloc.sym());
        Some((goal, Jump { kind, here: sets.start(here), target, is_function, callee, features }))
    }

    /// Adds the branches of a section.
    fn of_one(
        &self,
        id: SectionId,
        reach: &impl Fn(u32) -> Option<Reach>,
        least: u64,
        extent: (Address, Address),
        found: &mut Vec<Branch>,
    ) {
        let section = self.sections.get(id);
        let Some(start) = self.of_section(id).filter(|_| section.relocs != 0) else { return };
        let end = start.saturating_add(section.size);
        let near = end.since(extent.0) < least && extent.1.since(start) < least;
        if near && !self.world.calls_outside() {
            return;
        }
        let number = self.world.owners.object(id);
        let object = &self.world.resolved.objects[number.index()];
        for reloc in self.sections.relocs(object, number.index(), section) {
            let Some(reach) = reach(reloc.kind()) else { continue };
            let here = start.wrapping_add(self.sections.output_offset(id, reloc.r_offset()));
            let Some(goal) = self.goal(number, object, reloc) else { continue };
            let is_near = |target: Address| reach.has(here.get(), target.get()) && self.is_in_code(goal);
            if self.of(goal).is_some_and(|target| !is_near(target)) {
                let (kind, symbol) = (reloc.kind(), reloc.sym());
                let offset = reloc.r_offset();
                let (is_function, callee) = (false, Callee::Own(0));
                found.push(Branch { section: id, kind, symbol, offset, goal, is_function, callee });
            }
        }
    }
}

/// Branches, which come by their output sections, by these and then by their targets, those of one target in the
/// order that they have. There are `sections` input sections.
fn by_goal(
    mut branches: Vec<Branch>,
    out_of: impl Fn(SectionId) -> Option<OutputSectionId> + Sync,
    sections: u32,
    parallel: bool,
) -> Vec<Branch> {
    let out = |branch: &Branch| out_of(branch.section);
    if branches.len() < FEW {
        branches.sort_by_cached_key(|branch| (out(branch), branch.goal));
        return branches;
    }
    let has_several = branches.first().map(out) != branches.last().map(out);
    let bucket = |branch: &Branch| match branch.goal {
        Goal::Section(id, _) => id.0,
        _ => sections,
    };
    branches = sort::by_bucket(branches, sections + 1, parallel, bucket);
    for same in branches.chunk_by_mut(|a, b| bucket(a) == bucket(b)) {
        same.sort_by_key(|branch| branch.goal);
    }
    if has_several {
        branches.sort_by_cached_key(out);
    }
    branches
}

/// The entry of the PLT that a slot has.
fn entry(slot: &Slot) -> Option<u32> {
    (slot.plt != NONE).then_some(slot.plt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_in_the_same_order_whatever_their_number() {
        let goal = |i: u32| match i % 7 {
            0 => Goal::Plt(i % 11, 0),
            1 => Goal::Absolute(Address::new(u64::from(i % 5))),
            _ => Goal::Section(SectionId(i.wrapping_mul(2654435761) >> 22), u64::from(i % 3)),
        };
        let branch = |i: u32| {
            let (kind, symbol, offset, is_function, callee) = (1, i, 0, true, Callee::Own(0));
            Branch { section: SectionId(i), kind, symbol, offset, goal: goal(i), is_function, callee }
        };
        for (count, outs) in [(0, 1), (1, 1), (FEW as u32 - 1, 2), (3 * FEW as u32, 1), (3 * FEW as u32, 3)] {
            let out = |id: SectionId| Some(OutputSectionId(id.0 * outs / count.max(1)));
            let branches: Vec<Branch> = (0..count).map(branch).collect();
            let mut want = branches.clone();
            want.sort_by_key(|branch| (out(branch.section), branch.goal));
            let number = |branches: Vec<Branch>| -> Vec<u32> { branches.iter().map(|b| b.symbol).collect() };
            assert!(number(by_goal(branches, out, 1 << 10, false)) == number(want), "{count} {outs}");
        }
    }
}
