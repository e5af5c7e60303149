//! Marks for indirect branches (BTI) in front of code that has none, because nothing but direct branches go
//! there.
//!
//! Thunks that jump to an address are indirect branches. If the output claims that all of those end at marks,
//! their targets need one: a pool near the target gets a mark and a branch to it, and all thunks for the
//! target jump there.

use weld_common::thunks::{Branch as Call, Reach};

use super::Key;
use super::branches::Goal;
use super::round::Round;
use crate::address::Address;
use crate::arch::facts::LandingPad;
use crate::ids::*;
use crate::sections::SectionKind;

impl Round<'_, '_, '_> {
    /// Gives marks to targets that need one.
    pub(super) fn mark_targets(&mut self) {
        let Some(landing) = self.machine.landing.as_ref().filter(|_| self.addresses.world.is_marked()) else {
            return;
        };
        let reach = self.thunks.least_reach(self.machine);
        for number in 0..self.thunks.engine.list.len() {
            let Some((goal, section)) = self.unmarked(number, landing) else { continue };
            let Some(target) = self.addresses.of(goal).map(Address::get) else { continue };
            let key = Key::Landing(goal);
            let branch = Call { key, here: target, target, reach: Reach::both(reach) };
            let label = self.thunks.labels[number];
            if !self.thunks.has(key)
                && self.addresses.out_of(section).is_some()
                && !self.serve(&branch, section, label)
            {
                self.thunks.stuck = Some((section, 0));
            }
        }
    }

    /// The target of a thunk, if it has to have a mark and has none of its own, and its section.
    fn unmarked(&self, number: usize, landing: &LandingPad) -> Option<(Goal, SectionId)> {
        // The first form is a direct branch. Entries of the PLT are marked, and of what is not in a section
        // nothing is known.
        let thunk = &self.thunks.engine.list[number];
        let Key::Branch(_, goal @ Goal::Section(id, offset), _) = thunk.key else { return None };
        let object = self.addresses.world.object_of(id);
        let data = object.section_data((id.0 - object.section_base) as usize).unwrap_or(&[]);
        let code = data.get(offset as usize..).unwrap_or(&[]);
        let known = self.addresses.sections.get(id).kind() == SectionKind::Regular;
        (thunk.form > 0 && known && !(landing.is_marked)(code)).then_some((goal, id))
    }
}
