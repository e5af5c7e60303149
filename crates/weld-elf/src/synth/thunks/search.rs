//! Gives thunks to branches that do not reach, while the layout settles.
//!
//! Branches are taken target by target, in the order of their addresses. One that reaches no thunk for its
//! target gets one in the pool that lies furthest after it, so that as many as possible of those that follow
//! reach it as well; but a pool from which a plain branch reaches the target is preferred. Pools are planned
//! at equal distances, a little less than branches reach. Where one grows so far that not all reach it,
//! another is opened beside the input section that does not.

use std::collections::{BTreeMap, BTreeSet};

use weld_common::{par, sort, trace};

use super::branches::{Addresses, Branch, Goal, extent, is_code};
use super::moved::{self, Moved};
use super::pools::Members;
use super::{Kind, Pool, Thunk, Thunks, reaches};
use crate::arch::facts::Branches;
use crate::arch::plt;
use crate::ids::*;
use crate::layout::addresses::Bases;
use crate::layout::insert::{self, Insertion};
use crate::layout::settle::Adaptive;
use crate::layout::{ChunkKind, Layout, members};
use crate::live::{Live, SectionOwners, fact};
use crate::mode::Mode;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::slots::Slots;
use crate::symbols::Symbols;
use crate::symbols::internal::Internals;

/// What targets are looked up in.
pub struct World<'w, 'a> {
    pub resolved: &'w Resolved<'a>,
    pub owners: &'w SectionOwners,
    pub symbols: &'w Symbols,
    pub internals: &'w Internals,
    pub live: &'w Live,
    pub slots: &'w Slots,
    pub bases: Bases,
    pub shared: bool,
    pub parallel: bool,
    /// Something is called that lies in no input section.
    pub calls_outside: bool,
    mode: Mode,
    style: plt::Style,
}

impl<'w, 'a> World<'w, 'a> {
    pub fn new(
        (resolved, owners, live): (&'w Resolved<'a>, &'w SectionOwners, &'w Live),
        (symbols, internals): (&'w Symbols, &'w Internals),
        (slots, style, bases): (&'w Slots, plt::Style, Bases),
        mode: Mode,
        parallel: bool,
    ) -> Self {
        World {
            resolved,
            owners,
            symbols,
            internals,
            live,
            slots,
            bases,
            shared: mode.shared,
            parallel,
            calls_outside: live.has(fact::CALLS_OUTSIDE),
            mode,
            style,
        }
    }

    /// Whether the output claims that indirect branches end at marks.
    pub fn is_marked(&self) -> bool {
        matches!(self.style, plt::Style::Guarded { marked: true, .. })
    }

    /// The chunk that an entry of the PLT lies in, and how far from its start.
    pub fn place_of_entry(&self, entry: u32) -> (ChunkKind, u64) {
        let (table, offset) = plt::place_of(self.mode.facts(), self.slots.jump_slots, self.style, entry);
        (table.into(), offset)
    }
}

/// Looks for branches that do not reach.
pub struct Search<'s, 'w, 'a> {
    pub(super) machine: &'static Branches,
    pub(super) thunks: &'s mut Thunks,
    pub(super) world: World<'w, 'a>,
    /// Those that may not reach.
    branches: Vec<Branch>,
    /// What the layout was like when they were collected.
    collected: Option<Collected>,
    /// The pools of each output section by address, with the thunks that they have so far.
    open: BTreeMap<OutputSectionId, Vec<(u64, u32)>>,
}

/// What tells how far things have moved.
#[derive(PartialEq)]
struct Collected {
    /// Address and size of each output section.
    places: Vec<(u64, u64)>,
    /// Bytes of all pools, and how many there are.
    bytes: u64,
    pools: usize,
}

/// A branch that does not reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Far {
    pub out: OutputSectionId,
    pub goal: Goal,
    pub here: u64,
    pub target: u64,
    pub branch: u32,
}

/// How much nearer to one another than branches reach pools are, in bytes: room for thunks.
const ROOM: u64 = 0x3_0000;

/// Branches that are looked at by one task.
const RUN: usize = 1 << 14;

impl<'s, 'w, 'a> Search<'s, 'w, 'a> {
    pub fn new(machine: &'static Branches, thunks: &'s mut Thunks, world: World<'w, 'a>) -> Self {
        let mut open: BTreeMap<_, Vec<(u64, u32)>> = BTreeMap::new();
        for (number, pool) in (0..).zip(&thunks.pools) {
            open.entry(pool.out).or_default().push((0, number));
        }
        Search { machine, thunks, world, branches: Vec::new(), collected: None, open }
    }

    fn reach(&self) -> u64 {
        self.thunks.reach(self.machine)
    }

    /// Branches that reach by less than this are looked at again when something has moved.
    fn margin(&self) -> u64 {
        self.reach() / 16
    }

    fn state(&self, layout: &Layout) -> Collected {
        let bytes = self.thunks.pools.iter().map(|pool| self.thunks.room(pool.size)).sum();
        let places = layout.sections.iter().map(|out| (out.address, out.size)).collect();
        Collected { places, bytes, pools: self.thunks.pools.len() }
    }

    /// Whether branches may by now not reach that were not collected.
    fn is_stale(&self, layout: &Layout, sections: &Sections) -> bool {
        let (Some(then), now) = (&self.collected, self.state(layout)) else { return true };
        if layout.is_by_script() || !sections.shrunk.is_empty() {
            // A script may do anything with addresses, and code that gets shorter moves what is after it.
            return *then != now;
        }
        let code = layout.sections.iter().zip(&then.places).filter(|(out, _)| is_code(out));
        let moved = code.clone().map(|(out, then)| out.address.abs_diff(then.0)).max().unwrap_or(0);
        let align = code.map(|(out, _)| out.align).max().unwrap_or(1);
        let pools = (now.pools - then.pools) as u64 + 1;
        moved + (now.bytes - then.bytes) + 2 * pools * align > self.margin()
    }

    /// The branches of the list that do not reach, by what they go to and from where.
    fn far(&self, layout: &Layout<'a>, sections: &Sections<'a>) -> Vec<Far> {
        let addresses = Addresses { world: &self.world, layout, sections };
        let reach = self.reach();
        let one = |number: usize| {
            let branch = &self.branches[number];
            let out = layout.out_of(sections.get(branch.section).bin())?;
            let here = addresses.of_byte(branch.section, branch.offset)?;
            let target = addresses.of(branch.goal)?;
            let far = Far { out, goal: branch.goal, here, target, branch: number as u32 };
            (!reaches(reach, here, target)).then_some(far)
        };
        let parallel = self.world.parallel;
        let lists = par::runs("measure branches", parallel, self.branches.len(), RUN, |run| {
            run.filter_map(one).collect::<Vec<_>>()
        });
        sort::by(par::concat("join far branches", parallel, lists), parallel, Far::cmp)
    }

    /// Gives thunks that do not reach their targets a form that does. Whether there were any.
    fn lengthen(&mut self, layout: &Layout<'a>, sections: &Sections<'a>) -> bool {
        let forms = self.machine.thunks(self.world.mode.pic, self.thunks.unread);
        let limit = self.thunks.limit.unwrap_or(u64::MAX);
        let addresses = Addresses { world: &self.world, layout, sections };
        let mut changed = vec![false; self.thunks.pools.len()];
        for thunk in &mut self.thunks.list {
            let chunk = self.thunks.pools[thunk.pool as usize].chunk;
            let here = addresses.of_chunk(chunk) + thunk.offset;
            let Some(target) = addresses.of(thunk.goal) else { continue };
            let Kind::Branch { form, .. } = &mut thunk.kind else { continue };
            while *form + 1 < forms.len() && !reaches(reach_of(forms, *form, limit), here, target) {
                *form += 1;
                changed[thunk.pool as usize] = true;
            }
        }
        let (machine, pic) = (self.machine, self.world.mode.pic);
        let unread = self.thunks.unread;
        for (pool, _) in self.thunks.pools.iter_mut().zip(&changed).filter(|(_, changed)| **changed) {
            pool.size = 0;
            for number in pool.thunks.clone() {
                let thunk = &mut self.thunks.list[number as usize];
                thunk.offset = pool.take(Thunks::shape(machine, (pic, unread), thunk.kind));
            }
        }
        changed.contains(&true)
    }

    /// Gives all branches that do not reach a thunk. Whether that changed anything.
    fn provide(
        &mut self,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> bool {
        let mut changed = self.lengthen(layout, sections);
        let far = self.far(layout, sections);
        let known = self.known(layout, sections);
        let reach = self.reach();
        for same in far.chunk_by(|a, b| (a.out, a.goal) == (b.out, b.goal)) {
            let key = (same[0].out, same[0].goal);
            let first = known.partition_point(|thunk| (thunk.0, thunk.1) < key);
            let mine = known[first..].iter().take_while(|thunk| (thunk.0, thunk.1) == key);
            let mut thunks: Vec<u64> = mine.map(|thunk| thunk.2).collect();
            for far in same {
                if thunks.iter().rev().any(|at| reaches(reach, far.here, *at)) {
                    continue;
                }
                // Without a pool in reach the branch stays as it is, which is reported when it is written.
                if let Some(at) = self.add(far, (layout, sections), inserted) {
                    thunks.push(at);
                    changed = true;
                }
            }
        }
        changed
    }

    /// Output section, goal and address of all thunks, ascending.
    fn known(&self, layout: &Layout<'a>, sections: &Sections<'a>) -> Vec<(OutputSectionId, Goal, u64)> {
        let addresses = Addresses { world: &self.world, layout, sections };
        let one = |thunk: &Thunk| {
            let pool = &self.thunks.pools[thunk.pool as usize];
            (pool.out, thunk.goal, addresses.of_chunk(pool.chunk) + thunk.offset)
        };
        let branches = self.thunks.list.iter().filter(|thunk| matches!(thunk.kind, Kind::Branch { .. }));
        let list: Vec<_> = branches.map(one).collect();
        sort::by(list, self.world.parallel, Ord::cmp)
    }

    /// Adds a thunk for a branch. Returns where it is about to be; `None` if there is no place for it in
    /// reach.
    fn add(
        &mut self,
        far: &Far,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> Option<u64> {
        let branch = self.branches[far.branch as usize];
        let (number, start) = self.pool_for(far, branch.section, (layout, sections), inserted)?;
        let forms = self.machine.thunks(self.world.mode.pic, self.thunks.unread);
        let limit = self.thunks.limit.unwrap_or(u64::MAX);
        let at = start + self.thunks.pools[number as usize].size;
        // If it moves out of reach, it gets another one (`lengthen`).
        let fits = |form: &usize| reaches(reach_of(forms, *form, limit), at, far.target);
        let form = (0..forms.len()).find(fits).unwrap_or(forms.len() - 1);
        let id = self.world.owners.object(branch.section);
        let object = &self.world.resolved.objects[id.index()];
        let relocs = sections.relocs(object, id.index(), sections.get(branch.section));
        let symbol = (id, relocs[branch.reloc as usize].sym());
        Some(start + self.push(far.goal, Kind::Branch { form, symbol }, number))
    }

    /// Adds code to a pool. Returns its offset.
    pub(super) fn push(&mut self, goal: Goal, kind: Kind, pool: u32) -> u64 {
        let number = self.thunks.list.len() as u32;
        let to = &mut self.thunks.pools[pool as usize];
        let offset = to.take(Thunks::shape(self.machine, (self.world.mode.pic, self.thunks.unread), kind));
        to.thunks.push(number);
        self.thunks.list.push(Thunk { goal, kind, pool, offset });
        offset
    }

    /// A pool for a branch of `section`, and where it begins; `None` if there is no place for one in reach.
    pub(super) fn pool_for(
        &mut self,
        far: &Far,
        section: SectionId,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> Option<(u32, u64)> {
        if !self.open.contains_key(&far.out) {
            self.plan(far.out, (layout, sections), inserted);
        }
        let number = match self.choose(far) {
            Some(number) => number,
            None => self.open_beside(far, section, (layout, sections), inserted)?,
        };
        let start = self.open[&far.out].iter().find(|(_, pool)| *pool == number)?.0;
        Some((number, start))
    }

    /// Moves instructions that have to be. Whether there were any that had not been moved.
    fn move_away(
        &mut self,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> bool {
        if self.thunks.errata.is_empty() {
            return false;
        }
        let addresses = Addresses { world: &self.world, layout, sections };
        let found = addresses.to_be_moved(&self.thunks.errata);
        let known: BTreeSet<(SectionId, u64)> =
            self.moved().map(|moved| (moved.section, moved.offset)).collect();
        let new = found.into_iter().filter(|(section, offset, _)| !known.contains(&(*section, *offset)));
        let new = new.filter_map(|(section, offset, erratum)| {
            let (here, out) =
                (addresses.of_section(section)? + offset, layout.out_of(sections.get(section).bin())?);
            Some((Moved { section, offset, address: here, erratum }, out))
        });
        let mut changed = false;
        for (moved, out) in new.collect::<Vec<_>>() {
            let goal = Goal::Section(moved.section, moved.offset + 4);
            let far = Far { out, goal, here: moved.address, target: moved.address + 4, branch: 0 };
            match self.pool_for(&far, moved.section, (layout, sections), inserted) {
                Some((pool, _)) => {
                    self.push(goal, Kind::Moved(moved), pool);
                    changed = true;
                }
                None => self.thunks.stuck = Some((moved.section, moved.offset)),
            }
        }
        changed
    }

    fn moved(&self) -> impl Iterator<Item = Moved> {
        self.thunks.list.iter().filter_map(|thunk| match thunk.kind {
            Kind::Moved(moved) => Some(moved),
            Kind::Branch { .. } | Kind::Landing { .. } => None,
        })
    }

    /// Remembers where the instructions are that are moved, which their names say. What cannot be changed any
    /// more has to reach.
    fn conclude(&mut self, layout: &Layout<'a>, sections: &Sections<'a>) {
        let addresses = Addresses { world: &self.world, layout, sections };
        let reach = self.thunks.reach(self.machine);
        for thunk in &mut self.thunks.list {
            let at = addresses.of_chunk(self.thunks.pools[thunk.pool as usize].chunk) + thunk.offset;
            if let Kind::Moved(moved) = &mut thunk.kind {
                moved.address = addresses.of_section(moved.section).unwrap_or(0) + moved.offset;
            }
            let place = match (thunk.kind, thunk.goal) {
                (Kind::Moved(moved), _) => (moved.section, moved.offset),
                (Kind::Landing { .. }, Goal::Section(section, offset)) => (section, offset),
                _ => continue,
            };
            let near = addresses.of(thunk.goal).is_some_and(|goal| {
                // There and back.
                reaches(reach - 2 * moved::SHAPE.0, at, goal) && reaches(reach - 2 * moved::SHAPE.0, goal, at)
            });
            if !near {
                self.thunks.stuck = Some(place);
            }
        }
    }

    /// The pool for a branch, of those that there are.
    fn choose(&self, far: &Far) -> Option<u32> {
        let reach = self.reach();
        let safe = reach - ROOM.min(reach / 256);
        let open = &self.open[&far.out];
        let first = open.partition_point(|pool| pool.0 < far.here.saturating_sub(reach));
        let in_reach = open[first..].iter().take_while(|pool| pool.0 <= far.here.saturating_add(reach));
        let at = |pool: &(u64, u32)| pool.0 + self.thunks.pools[pool.1 as usize].size;
        let mut chosen = None;
        for pool in in_reach.filter(|pool| reaches(safe, far.here, at(pool))) {
            let near = reaches(safe, at(pool), far.target);
            if chosen.is_none_or(|(better, _)| near >= better) {
                chosen = Some((near, pool.1));
            }
        }
        chosen.map(|(_, pool)| pool)
    }

    /// Plans the pools of an output section.
    fn plan(
        &mut self,
        out: OutputSectionId,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) {
        let members = Members { world: &self.world, layout, sections, list: &layout[out].members };
        let reach = self.reach();
        let places: Vec<(usize, u64)> = members
            .spaced(reach - ROOM.min(reach / 64))
            .into_iter()
            .map(|place| (place, members.offset(place)))
            .collect();
        self.open.insert(out, Vec::new());
        for (place, offset) in places {
            self.insert(out, (place, layout[out].address + offset), inserted);
        }
    }

    /// Opens a pool beside the section of a branch, where the branch reaches it.
    fn open_beside(
        &mut self,
        far: &Far,
        section: SectionId,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> Option<u32> {
        let members = Members { world: &self.world, layout, sections, list: &layout[far.out].members };
        let at = |place: &usize| layout[far.out].address + members.offset(*place);
        let reach = self.reach();
        let place = members.around(section).find(|place| reaches(reach, far.here, at(place)))?;
        let address = at(&place);
        Some(self.insert(far.out, (place, address), inserted))
    }

    fn insert(
        &mut self,
        out: OutputSectionId,
        (place, address): (usize, u64),
        inserted: &mut Vec<Insertion>,
    ) -> u32 {
        let number = self.thunks.pools.len() as u32;
        let chunk = ChunkId(u32::MAX);
        self.thunks.pools.push(Pool { out, chunk, thunks: Vec::new(), size: 0, align: 1 });
        let open = self.open.entry(out).or_default();
        open.insert(open.partition_point(|pool| pool.0 <= address), (address, number));
        inserted.push(Insertion { out, place, kind: ChunkKind::Thunks(number) });
        number
    }

    /// Puts new pools where they belong, and gives all their sizes.
    fn change(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>, inserted: &[Insertion]) {
        for (chunk, one) in insert::between(layout, inserted).into_iter().zip(inserted) {
            if let ChunkKind::Thunks(number) = one.kind {
                self.thunks.pools[number as usize].chunk = chunk;
            }
        }
        for pool in &self.thunks.pools {
            let chunk = &mut layout.chunks[pool.chunk.index()];
            (chunk.size, chunk.align) = (self.thunks.room(pool.size), pool.align);
        }
        let outs: Vec<OutputSectionId> = self.open.keys().copied().collect();
        for out in outs {
            let mine = self.thunks.pools.iter().filter(|pool| pool.out == out);
            let align = mine.map(|pool| pool.align).max().unwrap_or(1);
            match layout.script.as_mut().filter(|script| script.lays_out()) {
                Some(script) => script.raise_align(out, align),
                None => members::place_again(layout, sections, out),
            }
        }
    }

    /// Where pools are by now.
    fn look_up_pools(&mut self, layout: &Layout) {
        for (out, open) in &mut self.open {
            for (address, number) in open.iter_mut() {
                let chunk = self.thunks.pools[*number as usize].chunk;
                *address = layout[*out].address + layout.chunks[chunk.index()].address;
            }
            open.sort_unstable();
        }
    }
}

/// How far a form reaches if branches reach no further than `limit`.
fn reach_of(forms: &[crate::arch::facts::Thunk], form: usize, limit: u64) -> u64 {
    // The first is a branch.
    if form == 0 { forms[0].reach.min(limit) } else { forms[form].reach }
}

/// Thunks are only added and only grow, and pools stay where they are, so that ends.
impl<'a> Adaptive<'a> for Search<'_, '_, 'a> {
    fn name(&self) -> &str {
        "code for branches that do not reach"
    }

    fn adapt(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) -> bool {
        let (start, end) = extent(layout);
        let all_reach = end - start < self.reach() && !self.world.calls_outside;
        if all_reach && self.thunks.is_empty() && self.thunks.errata.is_empty() {
            return false;
        }
        let _stretch = trace::stretch("thunks");
        self.look_up_pools(layout);
        if self.is_stale(layout, sections) {
            let safe = self.reach() - self.margin();
            let addresses = Addresses { world: &self.world, layout, sections };
            self.branches = if all_reach { Vec::new() } else { addresses.collect(self.machine, safe) };
            self.collected = Some(self.state(layout));
        }
        let mut inserted = Vec::new();
        let provided = self.provide((layout, sections), &mut inserted);
        let moved = self.move_away((layout, sections), &mut inserted);
        let marked = self.mark_targets((layout, sections), &mut inserted);
        let changed = provided || moved || marked;
        if changed || !inserted.is_empty() {
            self.change(layout, sections, &inserted);
        } else {
            self.conclude(layout, sections);
        }
        changed
    }
}
