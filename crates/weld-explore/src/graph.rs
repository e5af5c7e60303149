//! Which sections refer to which. What follows from it (ways from the roots, what a section alone keeps) the page finds
//! when somebody asks.

use crate::model::{Graph, Root};
use crate::names::Name;

/// References by where they come from: what a [`Graph`] is made of.
pub struct References {
    pub start: Vec<u32>,
    pub to: Vec<u32>,
}

impl References {
    /// Sorts pairs of sections (who refers, to whom) below `count`; each counts once, and none to itself.
    pub fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> References {
        pairs.retain(|(from, to)| from != to && (*from).max(*to) < count as u32);
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0u32; count + 1];
        pairs.iter().for_each(|(from, _)| start[*from as usize + 1] += 1);
        for row in 0..count {
            start[row + 1] += start[row];
        }
        References { start, to: pairs.into_iter().map(|(_, to)| to).collect() }
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
        let bounds = self.start.get(from).zip(self.start.get(from + 1));
        bounds.and_then(|(start, end)| self.to.get(*start as usize..*end as usize)).unwrap_or_default()
    }
}

/// Roots for all that no other root leads to: of each group of sections that refer to one another, the first.
pub fn unreached(references: &References, roots: &[Root], reason: Name) -> Vec<Root> {
    let count = references.count();
    let mut referred = vec![false; count];
    references.to.iter().for_each(|to| referred[*to as usize] = true);
    let mut seen = vec![false; count];
    let mut more = Vec::new();
    roots.iter().for_each(|root| reach(references, root.section, &mut seen));
    let first = (0..count as u32).filter(|row| !referred[*row as usize]);
    for section in first.chain(0..count as u32) {
        if !seen[section as usize] {
            more.push(Root { section, reason });
            reach(references, section, &mut seen);
        }
    }
    more
}

/// Marks what references from `section` lead to.
fn reach(references: &References, section: u32, seen: &mut [bool]) {
    let mut stack = vec![section];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut seen[at as usize], true) {
            stack.extend(references.of(at).iter().filter(|to| !seen[**to as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let root = |section| Root { section, reason: Name::NONE };
        let pairs = vec![(0, 2), (3, 3), (0, 1), (0, 2), (3, 4), (9, 1)];
        let graph = Graph::new(References::new(5, pairs), vec![root(3), root(0), root(3), root(7)]);
        assert_eq!(
            [0, 1, 3, 9].map(|from| graph.references(from)),
            [&[1, 2][..], &[][..], &[4][..], &[][..]]
        );
        assert_eq!(graph.roots, [root(0), root(3)]);
    }

    #[test]
    fn roots_for_the_rest() {
        let references = References::new(6, vec![(0, 1), (2, 3), (3, 2), (4, 3), (5, 5)]);
        let root = |section| Root { section, reason: Name(1) };
        let more = unreached(&references, &[root(0)], Name(1));
        assert_eq!(more, [root(4), root(5)]);
    }
}
