//! The order of output sections: that of the script, with orphans among what it names.

use std::collections::{BTreeMap, HashSet};

use super::build::Maker;
use super::*;
use crate::layout::OutputSection;
use crate::layout::members;

impl Maker<'_> {
    /// Gives bins after what the script names their places among the steps.
    fn add_tails(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        self.steps = self.with_tails(steps);
        for i in 0..self.floats.len() {
            let steps = std::mem::take(&mut self.floats[i].1);
            self.floats[i].1 = self.with_tails(steps);
        }
    }

    fn with_tails(&self, list: Vec<Step>) -> Vec<Step> {
        let mut steps = Vec::with_capacity(list.len());
        for step in list {
            if let Step::End(block) = step {
                steps.extend(self.tail(block));
            }
            steps.push(step);
        }
        steps
    }

    fn tail(&self, block: usize) -> impl Iterator<Item = Step> {
        self.contents[block].tail.iter().map(|planned| Step::Inputs(*planned))
    }

    /// The steps of an output section that the script does not name.
    fn orphan_steps(&self, block: usize) -> impl Iterator<Item = Step> {
        std::iter::once(Step::Begin(block)).chain(self.tail(block)).chain([Step::End(block)])
    }

    /// The numbers of the output sections that the script does not name.
    fn orphan_blocks(&self) -> impl Iterator<Item = usize> {
        (0..self.blocks.len()).filter(|&number| self.blocks[number].place.is_none())
    }

    /// Gives orphans their places among the steps. Options give addresses to those that are `given`.
    pub(super) fn add_orphans(&mut self, outs: &[OutputSection], given: &dyn Fn(&OutputSection) -> bool) {
        self.add_tails();
        let out_of = |block: &Block| block.out.map(|out| &outs[out.index()]);
        let mut known = orphans::Known {
            likeness: vec![None; self.blocks.len()],
            is_there: vec![false; self.blocks.len()],
            is_usual: self.blocks.iter().map(|block| orphans::is_usual(&block.name)).collect(),
            is_fixed: self.blocks.iter().map(|block| block.fixed).collect(),
            only_behind: self.source.script.phdrs.is_some() || !self.source.script.regions.is_empty(),
        };
        let mut floats: HashMap<usize, Vec<Step>> = std::mem::take(&mut self.floats).into_iter().collect();
        let fixed = |(number, block): &(usize, &Block)| block.place.is_some() && !floats.contains_key(number);
        for (number, block) in self.blocks.iter().enumerate().filter(fixed) {
            let out = out_of(block);
            known.is_there[number] = out.is_some();
            known.likeness[number] = out.filter(|out| out.is_alloc()).map(orphans::likeness);
        }
        // Those that are alike lie together, so their place is looked for once; in rising order, so that one
        // can follow another.
        let mut groups: BTreeMap<(bool, u32, u32), Vec<usize>> = BTreeMap::new();
        let mut absent: Vec<usize> = Vec::new();
        for number in self.orphan_blocks().chain(floats.keys().copied()) {
            match out_of(&self.blocks[number]) {
                Some(out) => {
                    let likeness = if out.is_alloc() { orphans::likeness(out) } else { 0 };
                    groups.entry((!out.is_alloc(), likeness, out.rank)).or_default().push(number);
                }
                None => absent.push(number),
            }
        }
        groups.values_mut().for_each(|numbers| numbers.sort_unstable());
        absent.sort_unstable();
        let mut steps = std::mem::take(&mut self.steps);
        for ((nowhere, likeness, _), numbers) in groups {
            let at = if nowhere { steps.len() } else { orphans::place(&steps, &known, likeness) };
            if !nowhere {
                let is_given =
                    |number: &usize| self.blocks[*number].out.is_some_and(|out| given(&outs[out.index()]));
                let (put, free): (Vec<usize>, Vec<usize>) = numbers.iter().copied().partition(is_given);
                put.into_iter().for_each(|number| self.blocks[number].fixed = true);
                self.follow_region(&steps[..at], &free, outs);
            }
            for &number in &numbers {
                known.is_there[number] = true;
                // Others like it follow it.
                known.is_usual[number] = true;
                known.likeness[number] = (!nowhere).then_some(likeness);
            }
            let all = numbers.iter().flat_map(|&number| match floats.remove(&number) {
                Some(steps) => steps,
                None => self.orphan_steps(number).collect(),
            });
            let all: Vec<Step> = all.collect();
            steps.splice(at..at, all);
        }
        // What there is nothing of may still have symbols.
        steps.extend(absent.iter().filter_map(|number| floats.remove(number)).flatten());
        self.steps = steps;
    }

    /// What an object has besides comes after what the script names.
    pub(super) fn append_orphans(&mut self) {
        self.add_tails();
        let mut steps = std::mem::take(&mut self.steps);
        steps.extend(std::mem::take(&mut self.floats).into_iter().flat_map(|(_, steps)| steps));
        steps.extend(self.orphan_blocks().flat_map(|number| self.orphan_steps(number)));
        self.steps = steps;
    }

    /// Orphans lie in the memory that the section before them names, or that takes them; and are loaded from
    /// the same region. Those that options give addresses are in none, so that nothing follows them there.
    fn follow_region(&mut self, before: &[Step], numbers: &[usize], outs: &[OutputSection]) {
        let before = before.iter().rev().find_map(|step| match step {
            Step::End(block) if self.blocks[*block].out.is_some() => Some(*block),
            _ => None,
        });
        let mut regions = HashMap::new();
        for &number in numbers {
            let flags = self.blocks[number].out.map_or(0, |out| outs[out.index()].flags);
            let before = before.map(|before| &self.blocks[before]);
            let by_flags = self.source.region_for(flags, &mut regions);
            let (region, chooses) = match before {
                Some(before) if !before.chooses => (before.region, false),
                Some(before) => (by_flags.or(before.region), true),
                None => (by_flags, true),
            };
            let load_region = before.and_then(|before| before.load_region);
            let block = &mut self.blocks[number];
            (block.region, block.chooses, block.load_region) = (region, chooses, load_region);
        }
    }

    /// Puts the sections of an object in the order of the steps; but groups come before all that is in them,
    /// and tables last.
    pub(super) fn put_object_in_order(&mut self, outs: &mut [OutputSection]) -> Vec<OutputSectionId> {
        let mut places = vec![usize::MAX; outs.len()];
        let ends = self.steps.iter().filter_map(|step| match step {
            Step::End(block) => self.blocks[*block].out,
            _ => None,
        });
        ends.enumerate().for_each(|(place, out)| places[out.index()] = place);
        let mut order: Vec<usize> = (0..outs.len()).collect();
        order.sort_by_key(|&out| (outs[out].rank, places[out]));
        self.reorder(outs, &order)
    }

    /// Puts output sections in the order of the steps: those in memory first, and those that have no step
    /// last. Returns the new id of each.
    pub(super) fn put_in_order(&mut self, outs: &mut [OutputSection]) -> Vec<OutputSectionId> {
        let mut order: Vec<usize> = Vec::with_capacity(outs.len());
        let ended = |step: &Step| match step {
            Step::End(block) => self.blocks[*block].out.map(|out| out.index()),
            _ => None,
        };
        let all: Vec<usize> = self.steps.iter().filter_map(ended).collect();
        order.extend(all.iter().filter(|&&out| outs[out].is_alloc()));
        // Of others, those that the script names come first, then orphans as the default layout has them.
        let mut rest: Vec<usize> = all.iter().copied().filter(|&out| !outs[out].is_alloc()).collect();
        let named: HashSet<usize> = self
            .blocks
            .iter()
            .filter(|b| b.place.is_some())
            .filter_map(|b| b.out)
            .map(|out| out.index())
            .collect();
        rest.sort_by_key(|out| if named.contains(out) { 0 } else { outs[*out].rank + 1 });
        order.extend(rest);
        let known: HashSet<usize> = order.iter().copied().collect();
        order.extend((0..outs.len()).filter(|out| !known.contains(out)));
        self.reorder(outs, &order)
    }

    fn reorder(&mut self, outs: &mut [OutputSection], order: &[usize]) -> Vec<OutputSectionId> {
        let position = members::put_in_order(outs, order);
        for block in &mut self.blocks {
            block.out = block.out.map(|out| position[out.index()]);
        }
        position
    }
}
