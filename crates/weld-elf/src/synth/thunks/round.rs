//! A round of the search for thunks: everything has an address, and the branches that do not reach from there
//! get thunks.
//!
//! Which thunk a branch takes, and which pool a new one lies in, is for the engine to say
//! ([`weld_common::thunks`]). Here is what it asks of ELF: the branches, target by target in the order of
//! their addresses; where pools and targets are; what forms the machine has; where in an output section pools
//! may be.

use weld_common::par;
use weld_common::thunks::{Branch as Call, Reach};

use super::branches::{Addresses, Branch, Goal};
use super::members::Members;
use super::{Code, Key, Label, Thunks};
use crate::address::Address;
use crate::arch::facts::{Branches, Jump};
use crate::ids::*;

/// Bytes of an instruction that is moved, and of the branch back.
const MOVED: u64 = 8;
/// Branches that are looked at by one task.
const RUN: usize = 1 << 14;

/// A branch that does not reach: from where to where, and the number of instruction sets.
#[derive(Clone, Copy)]
struct Far {
    out: OutputSectionId,
    here: u64,
    target: u64,
    state: u8,
    branch: u32,
}

/// A round.
pub struct Round<'r, 'w, 'a> {
    pub machine: &'static Branches,
    pub thunks: &'r mut Thunks,
    pub addresses: Addresses<'r, 'w, 'a>,
    /// What code counts from that counts from the GOT.
    pub got_base: Address,
}

impl Round<'_, '_, '_> {
    /// Gives thunks to those of `branches` that need one, target by target, and to what else needs a pool. Whether that changed
    /// anything.
    pub fn all(&mut self, branches: &[Branch]) -> bool {
        let (addresses, before, base) = (self.addresses, self.thunks.labels.len(), self.got_base);
        let code = self.code();
        let Thunks { engine, intervals, chunks, .. } = &mut *self.thunks;
        engine.begin(|pool| addresses.of_chunk(chunks[pool as usize]).get());
        intervals.begin(&engine.pools);
        let target = |key: Key| addresses.of(key.goal());
        let longer = engine.lengthen(
            |key| target(key).map(Address::get),
            |key, number| code.form_for(key, number, || target(key), base),
        );
        for far in self.far(branches) {
            let Branch { section, symbol, kind, goal, .. } = branches[far.branch as usize];
            let Some(reach) = self.thunks.reach(self.machine, kind) else { continue };
            let key = Key::Branch(far.out, goal, far.state);
            if code.form(key, 0).is_none() {
                // No code could do it, which is reported when the branch is written.
                continue;
            }
            let label = Label::Symbol(addresses.world.owners.object(section), symbol);
            // Without a pool in reach the branch stays as it is, which is reported when it is written.
            _ = self.serve(&Call { key, here: far.here, target: far.target, reach }, section, label);
        }
        self.move_away();
        self.mark_targets();
        longer || self.thunks.labels.len() > before
    }

    pub(super) fn code(&self) -> Code {
        self.thunks.code(self.machine, self.addresses.world.mode.pic)
    }

    /// Sees to it that there is code in a pool for a branch of a section. `false` if there is no place for it
    /// in reach.
    #[must_use]
    pub fn serve(&mut self, branch: &Call<Key>, section: SectionId, label: Label) -> bool {
        let (addresses, code, base) = (self.addresses, self.code(), self.got_base);
        let reach = self.thunks.least_reach(self.machine);
        let Thunks { engine, intervals, labels, .. } = &mut *self.thunks;
        let target = || Some(Address::new(branch.target));
        let form = |number| code.form_for(branch.key, number, target, base);
        let served = engine.serve(branch, form, |pools| {
            let out = addresses.out_of(section)?;
            intervals.pool(pools, out, &Members { addresses, out, reach }, branch, section)
        });
        if engine.list.len() > labels.len() {
            labels.push(label);
        }
        served.is_some()
    }

    /// Those of `branches` that do not reach.
    fn far(&self, branches: &[Branch]) -> Vec<Far> {
        let Round { machine, thunks, addresses, .. } = self;
        let one = |number: usize| {
            let branch = &branches[number];
            let out = addresses.out_of(branch.section)?;
            let here = addresses.of_byte(branch.section, branch.offset)?.get();
            let here = machine.sets.map_or(here, |sets| sets.start(here));
            let target = addresses.of(branch.goal)?.get();
            let far = Far { out, here, target, state: 0, branch: number as u32 };
            if machine.sets.is_some() {
                let Branch { kind, is_function, callee, .. } = *branch;
                let features = addresses.world.mode.features;
                let jump = Jump { kind, here, target, is_function, callee, features };
                let change = thunks.change(machine, &jump)?;
                return change.needs_thunk.then_some(Far { state: change.state, ..far });
            }
            (!thunks.reach(machine, branch.kind)?.has(here, target)).then_some(far)
        };
        let parallel = addresses.world.parallel;
        let lists = par::runs("measure branches", parallel, branches.len(), RUN, |run| {
            run.filter_map(one).collect::<Vec<_>>()
        });
        par::concat("join far branches", parallel, lists)
    }

    /// Remembers where the instructions are that are moved, which their names say. What cannot be changed any
    /// more has to reach.
    pub fn conclude(&mut self) {
        let Round { addresses, .. } = *self;
        let has_detours = self.conclude_detours();
        // There and back.
        let near = Reach::both(self.thunks.least_reach(self.machine)).less(2 * MOVED);
        for (thunk, label) in self.thunks.engine.list.iter().zip(&mut self.thunks.labels) {
            let place = match (thunk.key, label) {
                (Key::Moved(section, offset), Label::Erratum { address, .. }) => {
                    *address = addresses.of_section(section).unwrap_or_default() + offset;
                    if has_detours {
                        continue;
                    }
                    (section, offset)
                }
                (Key::Landing(Goal::Section(section, offset)), _) => (section, offset),
                _ => continue,
            };
            let at = addresses.of_chunk(self.thunks.chunks[thunk.pool as usize]) + thunk.offset;
            let goal = addresses.of(thunk.key.goal());
            if !goal.is_some_and(|goal| near.has(at.get(), goal.get()) && near.has(goal.get(), at.get())) {
                self.thunks.stuck = Some(place);
            }
        }
    }
}
