//! Marks for indirect branches (BTI) in front of code that has none, because nothing but direct branches go
//! there.
//!
//! Thunks that jump to an address are indirect branches. If the output claims that all of those end at marks,
//! their targets need one: a pool near the target gets a mark and a branch to it, and all thunks for the
//! target jump there.

use super::branches::{Addresses, Goal};
use super::search::{Far, Search};
use super::{Kind, Thunk};
use crate::arch::facts::LandingPad;
use crate::ids::*;
use crate::layout::Layout;
use crate::layout::insert::Insertion;
use crate::sections::{SectionKind, Sections};

impl<'a> Search<'_, '_, 'a> {
    /// Gives marks to targets that need one. Whether there were any.
    pub(super) fn mark_targets(
        &mut self,
        (layout, sections): (&Layout<'a>, &Sections<'a>),
        inserted: &mut Vec<Insertion>,
    ) -> bool {
        let Some(landing) = self.machine.landing.as_ref().filter(|_| self.world.is_marked()) else {
            return false;
        };
        let needing = self.thunks.list.iter().filter_map(|thunk| self.needs_mark(thunk, landing, sections));
        let mut changed = false;
        for (goal, section, symbol) in needing.collect::<Vec<_>>() {
            if self.thunks.landings.contains_key(&goal) {
                continue;
            }
            let addresses = Addresses { world: &self.world, layout, sections };
            let (Some(target), Some(out)) = (addresses.of(goal), layout.out_of(sections.get(section).bin()))
            else {
                continue;
            };
            let far = Far { out, goal, here: target, target, branch: 0 };
            match self.pool_for(&far, section, (layout, sections), inserted) {
                Some((pool, _)) => {
                    self.thunks.landings.insert(goal, self.thunks.list.len() as u32);
                    self.push(goal, Kind::Landing { symbol }, pool);
                    changed = true;
                }
                None => self.thunks.stuck = Some((section, 0)),
            }
        }
        changed
    }

    /// The target of a thunk, if it has to have a mark and has none: what it is, its section, and the thunk's
    /// symbol.
    fn needs_mark(
        &self,
        thunk: &Thunk,
        landing: &LandingPad,
        sections: &Sections,
    ) -> Option<(Goal, SectionId, (ObjectId, u32))> {
        // The first form is a direct branch. Entries of the PLT are marked, and of what is not in a section
        // nothing is known.
        let (Kind::Branch { form: 1.., symbol }, Goal::Section(id, offset)) = (thunk.kind, thunk.goal) else {
            return None;
        };
        let object = &self.world.resolved.objects[self.world.owners.object(id).index()];
        let data = object.section_data((id.0 - object.section_base) as usize).unwrap_or(&[]);
        let code = data.get(offset as usize..).unwrap_or(&[]);
        let known = sections.get(id).kind() == SectionKind::Regular;
        (known && !(landing.is_marked)(code)).then_some((thunk.goal, id, symbol))
    }
}
