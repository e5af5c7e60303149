//! The search for branches that do not reach, while the layout settles.
//!
//! The branches that may not reach are listed, and listed anew when too much has moved. In each round those
//! that do not reach get thunks ([`Round`]); new pools become chunks between members of their output section,
//! and the layout is done again.

use weld_common::trace;

use super::Thunks;
use super::branches::{Addresses, Branch, extent, is_code};
use super::round::Round;
use crate::address::Address;
use crate::arch::facts::Branches;
use crate::arch::plt;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::addresses::Bases;
use crate::layout::insert::{self, Insertion};
use crate::layout::settle::Adaptive;
use crate::layout::{ChunkKind, Layout, members};
use crate::live::{Live, SectionOwners, fact};
use crate::mode::Mode;
use crate::resolve::Resolved;
use crate::sections::Sections;
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
    pub style: plt::Style,
    pub mode: Mode,
    pub parallel: bool,
}

impl<'w, 'a> World<'w, 'a> {
    /// Whether something is called that lies in no input section.
    pub fn calls_outside(&self) -> bool {
        self.live.has(fact::CALLS_OUTSIDE)
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

    /// How far after the start of an entry of the PLT its address is.
    pub fn second_way_in(&self) -> u64 {
        self.style.address_offset(self.mode.facts())
    }

    /// The object that a section is of.
    pub fn object_of(&self, id: SectionId) -> &'w Object<'a> {
        &self.resolved.objects[self.owners.object(id).index()]
    }
}

/// Looks for branches that do not reach.
pub struct Search<'s, 'w, 'a> {
    machine: &'static Branches,
    thunks: &'s mut Thunks,
    world: World<'w, 'a>,
    /// Those that may not reach, in the order in which thunks are given out.
    branches: Vec<Branch>,
    /// What the layout was like when they were collected.
    collected: Option<Collected>,
}

/// What tells how far things have moved.
#[derive(PartialEq)]
struct Collected {
    /// Address and size of each output section.
    places: Vec<(Address, u64)>,
    /// Bytes of all pools, and how many there are.
    bytes: u64,
    pools: usize,
}

impl<'s, 'w, 'a> Search<'s, 'w, 'a> {
    pub fn new(machine: &'static Branches, thunks: &'s mut Thunks, world: World<'w, 'a>) -> Self {
        Search { machine, thunks, world, branches: Vec::new(), collected: None }
    }

    /// Branches that reach by less than this are looked at again when something has moved.
    fn margin(&self) -> u64 {
        self.thunks.least_reach(self.machine) / 16
    }

    fn state(&self, layout: &Layout) -> Collected {
        let pools = &self.thunks.engine.pools;
        let bytes = pools.iter().map(|pool| self.thunks.room(pool.size)).sum();
        let places = layout.sections.iter().map(|out| (out.address, out.size)).collect();
        Collected { places, bytes, pools: pools.len() }
    }

    /// Whether branches may by now not reach that were not collected.
    fn is_stale(&self, layout: &Layout, sections: &Sections) -> bool {
        let (Some(then), now) = (&self.collected, self.state(layout)) else { return true };
        if layout.is_by_script() || !sections.shrunk.is_empty() {
            // A script may do anything with addresses, and code that gets shorter moves what is after it.
            return *then != now;
        }
        let code = layout.sections.iter().zip(&then.places).filter(|(out, _)| is_code(out));
        // How far code has moved from other code; from where it was, on machines whose branches cannot leave a range of
        // addresses.
        let shifts = code.clone().map(|(out, then)| out.address.get().wrapping_sub(then.0.get()) as i64);
        let still = self.machine.sets.filter(|sets| sets.from_zero).map(|_| 0);
        let range = shifts.clone().chain(still).max().zip(shifts.chain(still).min());
        let moved = range.map_or(0, |(most, least)| most.abs_diff(least));
        let align = code.map(|(out, _)| out.align).max().unwrap_or(1);
        let pools = (now.pools - then.pools) as u64 + 1;
        moved.saturating_add(now.bytes - then.bytes) + 2 * pools * align > self.margin()
    }

    /// Puts new pools where they belong, and gives all their sizes.
    fn change(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) {
        let (first, pools) = (self.thunks.chunks.len(), &self.thunks.engine.pools[..]);
        let new = (first as u32..).zip(&pools[first..]).map(|(number, pool)| {
            let (out, place) = pool.place;
            Insertion { out, place, kind: ChunkKind::Thunks(number) }
        });
        self.thunks.chunks.extend(insert::between(layout, &new.collect::<Vec<_>>()));
        for (pool, id) in pools.iter().zip(&self.thunks.chunks) {
            let chunk = &mut layout.chunks[id.index()];
            (chunk.size, chunk.align) = (self.thunks.room(pool.size), pool.align);
        }
        for out in self.thunks.intervals.sections() {
            let mine = pools.iter().filter(|pool| pool.place.0 == out);
            let align = mine.map(|pool| pool.align).max().unwrap_or(1);
            match layout.script.as_mut().filter(|script| script.lays_out()) {
                Some(script) => script.raise_align(out, align),
                None => members::place_again(layout, sections, out),
            }
        }
    }
}

/// Thunks are only added and only grow, and pools stay where they are, so that ends.
impl<'a> Adaptive<'a> for Search<'_, '_, 'a> {
    fn name(&self) -> &str {
        "code for branches that do not reach"
    }

    fn adapt(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) -> bool {
        let (start, end) = extent(layout);
        let reach = self.thunks.least_reach(self.machine);
        let sets = self.machine.sets;
        let all_reach = end - start < reach && !self.world.calls_outside() && sets.is_none();
        if all_reach && self.thunks.is_empty() && self.thunks.errata.is_empty() {
            return false;
        }
        let _stretch = trace::stretch("thunks");
        if self.is_stale(layout, sections) {
            let addresses = Addresses { world: &self.world, layout, sections };
            let (thunks, margin) = (&*self.thunks, self.margin());
            let safe = |kind| thunks.reach(self.machine, kind).map(|reach| reach.less(margin));
            self.branches = match sets {
                Some(sets) => {
                    addresses.collect_changing(sets, |jump| thunks.change(self.machine, jump), margin)
                }
                None if all_reach => Vec::new(),
                None => addresses.collect(safe, reach - margin),
            };
            self.collected = Some(self.state(layout));
        }
        let addresses = Addresses { world: &self.world, layout, sections };
        let got_base = addresses.got_base();
        let mut round = Round { machine: self.machine, thunks: &mut *self.thunks, addresses, got_base };
        let changed = round.all(&self.branches);
        if changed || round.thunks.engine.pools.len() > round.thunks.chunks.len() {
            self.change(layout, sections);
        } else {
            round.conclude();
        }
        changed
    }
}
