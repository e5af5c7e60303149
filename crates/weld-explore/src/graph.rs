//! Which sections refer to which, and without which others they would not be in the file.
//!
//! A section that all ways from the roots to another lead through *dominates* it: without the first, the second
//! would go. The nearest of these is its immediate dominator, and they are a tree, whose subtrees say what would
//! be saved. [`dominators`] finds it.

mod dominators;

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
    /// What no way from the roots leads to has no dominator.
    pub fn new(references: References, mut roots: Vec<Root>) -> Graph {
        roots.retain(|root| (root.section as usize) < references.count());
        roots.sort_by_key(|root| root.section);
        roots.dedup_by_key(|root| root.section);
        let starts: Vec<u32> = roots.iter().map(|root| root.section).collect();
        let dominators = dominators::find(&references, &starts);
        let References { start, to } = references;
        Graph { start, to, roots, dominators }
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

    fn graph(count: usize, pairs: &[(u32, u32)], roots: &[u32]) -> Graph {
        let roots = roots.iter().map(|&section| Root { section, reason: Name::NONE }).collect();
        Graph::new(References::new(count, pairs.to_vec()), roots)
    }

    /// Of each section how many would go without it, itself included.
    fn kept(graph: &Graph) -> Vec<usize> {
        let mut kept = vec![0; graph.dominators.len()];
        for row in 0..graph.dominators.len() {
            let mut above = Some(row);
            while let Some(at) = above {
                kept[at] += 1;
                above = graph.dominators[at].row();
            }
        }
        kept
    }

    fn check(graph: &Graph, dominators: &[Option<usize>], keeps: &[usize]) {
        let found: Vec<_> = graph.dominators.iter().map(|dominator| dominator.row()).collect();
        assert_eq!((&found[..], &kept(graph)[..]), (dominators, keeps));
    }

    #[test]
    fn a_diamond() {
        let graph = graph(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 3), (3, 3)], &[0]);
        check(&graph, &[None, Some(0), Some(0), Some(0), Some(3)], &[5, 1, 1, 2, 1]);
        assert_eq!((graph.references(3), graph.references(9)), (&[4][..], &[][..]));
    }

    #[test]
    fn several_roots_and_what_is_not_reached() {
        let graph = graph(5, &[(0, 2), (1, 2), (2, 3), (4, 3)], &[0, 1, 1, 7]);
        check(&graph, &[None, None, None, Some(2), None], &[1, 1, 2, 1, 1]);
        assert_eq!(graph.roots.len(), 2);
    }

    /// Lengauer and Tarjan's example, with `R` as 0 and letters from 1.
    #[test]
    fn the_example_of_the_paper() {
        let edges = "RA RB RC AD BA BD BE CF CG DL EH FI GI GJ HE HK IK JI KI KR LH";
        let number = |c: u8| if c == b'R' { 0 } else { u32::from(c - b'A') + 1 };
        let pairs: Vec<(u32, u32)> =
            edges.split(' ').map(|edge| (number(edge.as_bytes()[0]), number(edge.as_bytes()[1]))).collect();
        let graph = graph(13, &pairs, &[0]);
        let want = "-RRRRRCCRRGRD";
        let want: Vec<Option<usize>> =
            want.bytes().map(|c| (c != b'-').then(|| number(c) as usize)).collect();
        let found: Vec<_> = graph.dominators.iter().map(|dominator| dominator.row()).collect();
        assert_eq!(found, want);
    }

    /// Against the definition: who cannot be reached any more if one section is gone?
    #[test]
    fn random_graphs() {
        let mut seed = 7u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % below
        };
        for _ in 0..200 {
            let count = 2 + random(12);
            let pairs: Vec<(u32, u32)> = (0..random(30)).map(|_| (random(count), random(count))).collect();
            let roots = [random(count), random(count)];
            let graph = graph(count as usize, &pairs, &roots);
            let reached = |without: Option<u32>| {
                let mut seen = vec![false; count as usize];
                let mut stack: Vec<u32> = roots.to_vec();
                while let Some(at) = stack.pop() {
                    if Some(at) != without && !std::mem::replace(&mut seen[at as usize], true) {
                        stack.extend(pairs.iter().filter(|pair| pair.0 == at).map(|pair| pair.1));
                    }
                }
                seen.iter().filter(|seen| **seen).count()
            };
            let (all, kept) = (reached(None), kept(&graph));
            for row in 0..count {
                let gone = all - reached(Some(row));
                assert_eq!(kept[row as usize], gone.max(1), "{row} of {pairs:?} from {roots:?}");
            }
        }
    }

    #[test]
    fn roots_for_the_rest() {
        let references = References::new(6, vec![(0, 1), (2, 3), (3, 2), (4, 3), (5, 5)]);
        let root = |section| Root { section, reason: Name(1) };
        let more = unreached(&references, &[root(0)], Name(1));
        assert_eq!(more, [root(4), root(5)]);
    }

    #[test]
    fn long_chains_need_no_stack() {
        let count = 300_000u32;
        let pairs = (1..count).map(|row| (row - 1, row)).collect();
        let roots = vec![Root { section: 0, reason: Name::NONE }];
        let graph = Graph::new(References::new(count as usize, pairs), roots);
        assert_eq!(graph.dominators.last().and_then(|last| last.row()), Some(count as usize - 2));
    }
}
