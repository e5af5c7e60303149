//! Branches that some processors execute wrongly where they are, and that go by way of another branch.
//!
//! Such a branch is executed wrongly only if it goes to some places and not to others, so what it goes to is found
//! out in each round: by its relocation, by way of a thunk if it needs one, or by itself if the assembler has
//! completed it. A pool in its reach takes the other branch. In the end only those go by way of it that are executed
//! wrongly with the addresses as they are; what else is in pools is not used.

use std::collections::{BTreeMap, BTreeSet};

use super::branches::Goal;
use super::moved::Moved;
use super::round::Round;
use super::{Code, Key, Thunks};
use crate::address::Address;
use crate::arch::facts::{Cure, Detour, Jump, TurnedCode};
use crate::elf::Rela;
use crate::ids::*;
use crate::layout::Layout;
use crate::sections::Sections;
use crate::synth::image::Image;

/// Where a branch goes.
#[derive(Clone, Copy)]
enum Onward {
    /// The low bit says which instruction set is there, if it is given.
    Goal(Goal, Option<u64>),
    /// Code in a pool.
    Thunk(u32),
}

/// The way of a branch, with the addresses of a round.
pub struct Route {
    /// The type of a relocation for it.
    pub kind: u32,
    /// It is executed wrongly.
    pub is_affected: bool,
    here: Address,
    target: Address,
    onward: Onward,
    code: [u8; 4],
}

/// A branch that goes by way of code in a pool.
pub struct Detoured {
    code: [u8; 4],
    onward: Onward,
    /// Added to the address of that code for who goes there: the instruction set.
    pub entry: u64,
    /// The mapping symbol in front of it.
    pub mark: &'static str,
}

impl Round<'_, '_, '_> {
    /// Where the branch at an offset of a section goes; `None` if it goes nowhere.
    pub fn route(&self, detour: &Detour, id: SectionId, offset: u64) -> Option<Route> {
        let addresses = self.addresses;
        let (number, object) = (addresses.world.owners.object(id), addresses.world.object_of(id));
        let start = addresses.of_section(id)?;
        let here = start.wrapping_add(offset);
        let data = object.section_data((id.0 - object.section_base) as usize)?;
        let code = *data.get(offset as usize..)?.first_chunk()?;
        let (kind, itself) = (detour.read)(&code, here)?;
        let section = addresses.sections.get(id);
        let relocs = match section.relocs {
            0 => &[][..],
            _ => addresses.sections.relocs(object, number.index(), section),
        };
        let sets = self.machine.sets?;
        let is_branch = |reloc: &&Rela| {
            reloc.r_offset() == offset && (sets.reach)(reloc.kind(), addresses.world.mode.features).is_some()
        };
        let (onward, target) = match relocs.iter().find(is_branch) {
            None => (Onward::Goal(Goal::Section(id, itself.wrapping_sub(start)), None), itself),
            Some(reloc) => {
                let (goal, jump) = addresses.jump(sets, (id, start), (number, object), reloc)?;
                self.onward(id, (goal, jump), itself.get() & 1)?
            }
        };
        let is_affected = (detour.is_affected)(here, target);
        Some(Route { kind, is_affected, here, target, onward, code })
    }

    /// Where a relocated branch goes on, and the address of that. `low` is the low bit of what is no function.
    fn onward(&self, id: SectionId, (goal, jump): (Goal, Jump), low: u64) -> Option<(Onward, Address)> {
        let change = self.thunks.change(self.machine, &jump)?;
        let out = self.addresses.out_of(id)?;
        let code = self.code();
        let list = self.thunks.engine.list.iter();
        let near = (0..).zip(list).filter(|(_, thunk)| match thunk.key {
            Key::Branch(of, goal, state) => {
                let is_same = (of, state) == (out, change.state);
                is_same && self.addresses.of(goal).map(Address::get) == Some(jump.target)
            }
            _ => false,
        });
        let near = near.filter_map(|(number, thunk)| {
            let entry = code.of(thunk.key, thunk.form)?.entry;
            Some((self.thunks.engine.address(number) + entry, number))
        });
        // The one that relocation finds.
        match near.filter(|thunk| change.reach.has(jump.here, thunk.0)).min() {
            Some((at, number)) if change.needs_thunk => Some((Onward::Thunk(number), Address::new(at))),
            _ => {
                let low = (!jump.is_function).then_some(low);
                Some((Onward::Goal(goal, low), with_low(Address::new(jump.target), low)))
            }
        }
    }

    /// Says which branches go by way of others, now that nothing changes any more. `false` if instructions are moved
    /// as a whole.
    pub fn conclude_detours(&mut self) -> bool {
        let Some(Cure::Detour(detour)) = self.machine.errata.as_ref().map(|errata| &errata.cure) else {
            return false;
        };
        let (mut served, mut stuck, mut detours) = (BTreeSet::new(), None, BTreeMap::new());
        for number in 0..self.thunks.engine.list.len() as u32 {
            let Key::Moved(section, offset) = self.thunks.engine.list[number as usize].key else { continue };
            let Some(route) = self.route(detour, section, offset).filter(|route| route.is_affected) else {
                continue;
            };
            let at = self.thunks.engine.address(number);
            let reach = self.thunks.reach(self.machine, route.kind);
            let reaches = reach.is_some_and(|reach| reach.has(route.here.get(), at))
                && (detour.reaches)(Address::new(at), route.target);
            if reaches && served.insert((section, offset)) {
                let Route { code, onward, target, .. } = route;
                let (entry, mark) = (target.get() & 1, (detour.mark)(target));
                detours.insert(number, Detoured { code, onward, entry, mark });
            } else if !served.contains(&(section, offset)) {
                stuck = Some((section, offset));
            }
        }
        self.thunks.detours = detours;
        self.thunks.stuck = self.thunks.stuck.or(stuck.filter(|place| !served.contains(place)));
        true
    }
}

impl Thunks {
    /// Has the branch for which there is code in a pool go there, if it does.
    pub(super) fn redirect(
        &self,
        detour: &Detour,
        (layout, sections): (&Layout, &Sections),
        number: u32,
        (code, target): (&Code, &impl Fn(Goal) -> Address),
    ) -> Option<Moved> {
        let detoured = self.detours.get(&number)?;
        let thunk = &self.engine.list[number as usize];
        let Key::Moved(section, offset) = thunk.key else { return None };
        let next = self.next_of(detoured, layout, code, target);
        let to = with_low(self.address(layout, thunk), Some(next.get() & 1));
        let left = (detour.redirect)(detoured.code, sections.address_of(section, offset), to);
        Some(Moved::new(section, offset, left))
    }

    /// Writes the branch in a pool that another goes by way of; nothing if none does.
    pub(super) fn write_detour(
        &self,
        image: &Image,
        detour: &Detour,
        (number, address): (u32, Address),
        code: &Code,
        out: &mut [u8],
    ) {
        let Some(detoured) = self.detours.get(&number) else { return };
        let target =
            |goal: Goal| goal.address(image.sections, image.symbols, |entry| image.plt_address(entry));
        (detour.write)(out, address, self.next_of(detoured, image.layout, code, &target));
        if let Some(unit) = image.mode.turned_code().and_then(|order| (order.unit)(detoured.mark.as_bytes()))
        {
            TurnedCode::turn(out, std::iter::once((0, unit)));
        }
    }

    fn next_of(
        &self,
        detoured: &Detoured,
        layout: &Layout,
        code: &Code,
        target: &impl Fn(Goal) -> Address,
    ) -> Address {
        match detoured.onward {
            Onward::Goal(goal, low) => with_low(target(goal), low),
            Onward::Thunk(number) => {
                let thunk = &self.engine.list[number as usize];
                let entry = code.of(thunk.key, thunk.form).map_or(0, |form| form.entry);
                self.address(layout, thunk) + entry
            }
        }
    }
}

fn with_low(address: Address, low: Option<u64>) -> Address {
    low.map_or(address, |low| Address::new(address.get() & !1 | low))
}
