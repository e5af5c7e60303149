//! Which sections refer to which. What follows from it (ways from the roots, what a section alone keeps) the page finds
//! when somebody asks.

use std::ops::Range;

use weld_common::prefetch::prefetch;
use weld_common::walk::Marks;

use crate::model::{Graph, Root};
use crate::names::Name;

/// References by where they come from: what a [`Graph`] is made of.
pub struct References {
    pub start: Vec<u32>,
    pub to: Vec<u32>,
}

impl References {
    /// Sorts pairs of sections (who refers, to whom) below `count`; each counts once, and none to itself. Lists in which
    /// those of a section stand together, by the section, are quickly sorted.
    pub fn new(count: usize, lists: Vec<Vec<(u32, u32)>>) -> References {
        let counts = |(from, to): &&(u32, u32)| from != to && (*from).max(*to) < count as u32;
        // Where each section's begin, two places further; then, as these are filled, one place further.
        let mut start = vec![0u32; count + 2];
        for (from, _) in lists.iter().flatten().filter(counts) {
            start[*from as usize + 2] += 1;
        }
        for row in 2..start.len() {
            start[row] += start[row - 1];
        }
        let mut to = vec![0u32; start[count + 1] as usize];
        for list in lists {
            for (from, target) in list.iter().filter(counts) {
                let at = &mut start[*from as usize + 1];
                to[*at as usize] = *target;
                *at += 1;
            }
        }
        start.pop();
        let mut references = References { start, to };
        references.sort();
        references
    }

    /// Sorts what each section refers to, and takes out what is there twice.
    fn sort(&mut self) {
        let References { start, to } = self;
        let (mut kept, mut from) = (0, 0);
        for end in &mut start[1..] {
            let list = from..*end as usize;
            from = list.end;
            to[list.clone()].sort_unstable();
            let first = kept;
            for at in list {
                if kept == first || to[kept - 1] != to[at] {
                    to[kept] = to[at];
                    kept += 1;
                }
            }
            *end = kept as u32;
        }
        to.truncate(kept);
    }

    /// What section `from` refers to.
    pub fn of(&self, from: u32) -> &[u32] {
        &self.to[self.start[from as usize] as usize..self.start[from as usize + 1] as usize]
    }

    fn count(&self) -> usize {
        self.start.len() - 1
    }
}

impl Graph {
    pub fn new(references: References, mut roots: Vec<Root>) -> Graph {
        roots.retain(|root| (root.section as usize) < references.count());
        roots.sort_by_key(|root| root.section);
        roots.dedup_by_key(|root| root.section);
        let References { start, to } = references;
        Graph { start, to, roots }
    }

    /// What section `from` refers to.
    pub fn references(&self, from: usize) -> &[u32] {
        self.range(from).and_then(|range| self.to.get(range)).unwrap_or_default()
    }

    /// Where in `to` that is; `None` if there is no such section.
    pub(crate) fn range(&self, from: usize) -> Option<Range<usize>> {
        let (start, end) = self.start.get(from).zip(self.start.get(from + 1))?;
        Some(*start as usize..*end as usize)
    }
}

/// Roots for all that no other root leads to: of each group of sections that refer to one another, the first.
pub fn unreached(references: &References, roots: &[Root], reason: Name) -> Vec<Root> {
    let count = references.count();
    let referred = Marks::new(count);
    references.to.iter().for_each(|to| _ = referred.set(*to));
    let mut reached = Reached { references, seen: Marks::new(count), queue: Vec::new() };
    // What nobody refers to, nothing else leads to.
    let mut more: Vec<u32> = roots.iter().map(|root| root.section).collect();
    reached.add(&mut more);
    let mut more: Vec<u32> = (0..count as u32).filter(|row| !referred.get(*row)).collect();
    reached.add(&mut more);
    for section in 0..count as u32 {
        if !reached.seen.get(section) {
            reached.add(&mut vec![section]);
            more.push(section);
        }
    }
    more.into_iter().map(|section| Root { section, reason, ..Root::default() }).collect()
}

/// How many sections ahead of their turn what is known of them is asked for.
const AHEAD: usize = 16;

/// The sections that references lead to.
struct Reached<'r> {
    references: &'r References,
    seen: Marks,
    /// Those whose references are to be followed.
    queue: Vec<u32>,
}

impl Reached<'_> {
    /// Adds sections, and what they lead to; leaves those in the list that were not reached.
    fn add(&mut self, sections: &mut Vec<u32>) {
        let References { start, to } = self.references;
        sections.retain(|section| self.seen.set(*section));
        self.queue.clear();
        self.queue.extend_from_slice(sections);
        let mut at = 0;
        while let Some(section) = self.queue.get(at) {
            // Sections are met in an order that no processor foresees.
            if let Some(later) = self.queue.get(at + 2 * AHEAD) {
                prefetch(start, *later as usize);
            }
            if let Some(later) = self.queue.get(at + AHEAD) {
                prefetch(to, start[*later as usize] as usize);
            }
            let news = self.references.of(*section).iter().filter(|to| self.seen.set(**to));
            self.queue.extend(news);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let root = |section| Root { section, ..Root::default() };
        let pairs = vec![(0, 2), (3, 3), (0, 1), (0, 2), (3, 4), (9, 1)];
        let graph = Graph::new(References::new(5, vec![pairs]), vec![root(3), root(0), root(3), root(7)]);
        assert_eq!(
            [0, 1, 3, 9].map(|from| graph.references(from)),
            [&[1, 2][..], &[][..], &[4][..], &[][..]]
        );
        assert_eq!(graph.roots, [root(0), root(3)]);
    }

    #[test]
    fn roots_for_the_rest() {
        let references = References::new(6, vec![vec![(0, 1), (2, 3)], vec![(3, 2), (4, 3), (5, 5)]]);
        let root = |section| Root { section, reason: Name(1), ..Root::default() };
        let more = unreached(&references, &[root(0)], Name(1));
        assert_eq!(more, [root(4), root(5)]);
    }
}
