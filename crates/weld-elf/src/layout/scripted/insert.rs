//! Chunks that are added to what a script has laid out. The bins of such an output section are listed member
//! by member from then on, because runs know nothing of what lies in between.

use super::*;
use crate::layout::insert::merged;

impl Scripted {
    /// Adds chunks to an output section, whose `members` are those of before: each chunk after the input
    /// section whose number is one below that beside it. Numbers ascend.
    pub fn insert(&mut self, out: OutputSectionId, members: &[Member], mut added: &[(usize, ChunkId)]) {
        let (mut open, mut start) = (None, 0);
        for step in &self.steps {
            match step {
                Step::Begin(block) => {
                    open = Some(*block).filter(|block| self.blocks[*block].out == Some(out))
                }
                Step::Data(..) if open.is_some() => start += 1,
                Step::Inputs(number) if open.is_some() => {
                    let bin = &mut self.bins[*number];
                    let parts = &mut self.parts;
                    let of_part =
                        |(run, part): &(u32, u32)| parts[*run as usize][*part as usize].members.len();
                    let in_runs: usize = bin.parts.iter().map(of_part).sum();
                    let end = start + in_runs + bin.sorted.len() + bin.chunks.len();
                    for (run, part) in bin.parts.drain(..) {
                        parts[run as usize][part as usize].start = None;
                    }
                    let (mine, rest) = added.split_at(added.partition_point(|(place, _)| *place <= end));
                    added = rest;
                    let mine: Vec<_> = mine.iter().map(|(place, id)| (place - start, *id)).collect();
                    bin.sorted = merged(&members[start..end], &mine);
                    bin.chunks.clear();
                    start = end;
                }
                _ => {}
            }
        }
    }

    /// Has the output section aligned at least like this.
    pub fn raise_align(&mut self, out: OutputSectionId, align: u64) {
        for block in self.blocks.iter_mut().filter(|block| block.out == Some(out)) {
            block.inner_align = block.inner_align.max(align);
        }
    }
}
