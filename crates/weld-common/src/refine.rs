//! Which vertices of a graph are the same: the coarsest partition in which those of a class have the same contents
//! and point, edge by edge, to the same classes.
//!
//! It begins with classes that are too large, told apart by hashes, and splits them until nothing forces
//! another split. So functions that call each other in a circle stay together as long as nothing
//! tells them apart.
//!
//! * A few rounds give each vertex a new colour, made from its own and those that its edges lead to. They run in
//!   parallel and do most of the work: graphs of real programs are shallow.
//! * Vertices of one colour become a class. When a class is split, only vertices that point to a part that got a
//!   new number are looked at again, and the largest part keeps the old one. So a vertex is
//!   looked at again at most log2(n) times for each of its edges, however long the chains are.
//! * At the end the members of each class are compared exactly, edges and contents. Where
//!   hashes were wrong, the class is split by comparison, and refinement goes on.
//!
//! The partition that this ends with is the only coarsest one: neither hashes nor the order of work show in it.

use crate::{par, sort, trace};

/// The vertices are numbered from 0.
pub struct Graph {
    /// Of each vertex: equal for vertices of equal contents.
    pub colours: Vec<u64>,
    /// Where the edges of each vertex start in `targets`, and one past the last.
    pub starts: Vec<u32>,
    pub targets: Vec<u32>,
}

/// What the core asks of those who know what vertices stand for.
pub trait Contents: Sync {
    /// Says of vertices whether they are as `vertex` is, but for the classes of what their edges lead to.
    fn equal_to(&self, vertex: u32) -> Box<dyn FnMut(u32) -> bool + '_>;
}

/// Joins a value to a hash.
pub type Mix = fn(u64, u64) -> u64;

impl Graph {
    fn edges(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.targets[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// Pairs of a vertex and the first one of its class, for all that are not the first; ascending.
    pub fn fold(mut self, contents: &dyn Contents, mix: Mix, parallel: bool) -> Vec<(u32, u32)> {
        for _ in 0..ROUNDS {
            self.colours = self.recoloured(mix, parallel);
        }
        let mut classes = Classes::of_colours(&self, mix, parallel);
        let _stretch = trace::stretch("split classes");
        let all: Vec<u32> = classes.members.iter().copied().filter(|v| !self.edges(*v).is_empty()).collect();
        classes.touch(&all);
        loop {
            classes.settle(parallel);
            let wrong = classes.find_wrong(contents, parallel);
            if wrong.is_empty() {
                return classes.pairs();
            }
            wrong.into_iter().for_each(|class| classes.split_exactly(class, contents));
        }
    }

    /// The colours after one more round.
    fn recoloured(&self, mix: Mix, parallel: bool) -> Vec<u64> {
        let recoloured = |vertex: u32| {
            let colour = self.colours[vertex as usize];
            self.edges(vertex).iter().fold(colour, |hash, to| mix(hash, self.colours[*to as usize]))
        };
        par::list("colour sections", parallel, self.colours.len(), VERTICES, |run| {
            run.map(move |vertex| recoloured(vertex as u32))
        })
    }
}

/// Rounds of colours before there are classes.
const ROUNDS: usize = 3;
/// Vertices of one task, and classes.
const VERTICES: usize = 1 << 13;
const CLASSES: usize = 1 << 9;
/// Members that one task compares.
const COMPARISONS: usize = 1 << 11;

/// Marks the class of a vertex that is alone. The rest is its number.
const ALONE: u32 = 1 << 31;

/// A partition. Vertices that are alone are in no list.
struct Classes<'g> {
    graph: &'g Graph,
    mix: Mix,
    /// Of each vertex.
    class_of: Vec<u32>,
    /// Where each class lies in `members`.
    ranges: Vec<(u32, u32)>,
    members: Vec<u32>,
    /// Where each vertex lies in `members`.
    position: Vec<u32>,
    /// The edges between vertices that are not alone, the other way round.
    sources: Sources,
    /// Vertices with an edge to one whose class has got another number; no vertex twice.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

#[derive(Default)]
struct Sources {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl<'g> Classes<'g> {
    fn of_colours(graph: &'g Graph, mix: Mix, parallel: bool) -> Self {
        let count = graph.colours.len();
        let order = (0..count as u32).map(|vertex| (graph.colours[vertex as usize], vertex)).collect();
        let order: Vec<(u64, u32)> = sort::by(order, parallel, Ord::cmp);
        let mut classes = Classes {
            graph,
            mix,
            class_of: (0..count as u32).map(|vertex| ALONE | vertex).collect(),
            ranges: Vec::new(),
            members: Vec::new(),
            position: vec![0; count],
            sources: Sources::default(),
            touched: Vec::new(),
            is_touched: vec![false; count],
        };
        for class in order.chunk_by(|a, b| a.0 == b.0).filter(|class| class.len() > 1) {
            let (number, start) = (classes.ranges.len() as u32, classes.members.len() as u32);
            for (_, vertex) in class {
                classes.class_of[*vertex as usize] = number;
                classes.position[*vertex as usize] = classes.members.len() as u32;
                classes.members.push(*vertex);
            }
            classes.ranges.push((start, classes.members.len() as u32));
        }
        classes.sources = classes.turn_edges();
        classes
    }

    fn is_alone(&self, vertex: u32) -> bool {
        self.class_of[vertex as usize] & ALONE != 0
    }

    fn turn_edges(&self) -> Sources {
        let mut starts = vec![0u32; self.graph.colours.len() + 1];
        let edges = || {
            let of = |from: &'_ u32| (*from, self.graph.edges(*from));
            self.members.iter().map(of).flat_map(|(from, to)| to.iter().map(move |to| (from, *to)))
        };
        edges().filter(|edge| !self.is_alone(edge.1)).for_each(|(_, to)| starts[to as usize] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut list = vec![0; sum as usize];
        for (from, to) in edges().filter(|edge| !self.is_alone(edge.1)) {
            starts[to as usize] -= 1;
            list[starts[to as usize] as usize] = from;
        }
        Sources { starts, list }
    }

    fn members(&self, class: u32) -> &[u32] {
        let (start, end) = self.ranges[class as usize];
        &self.members[start as usize..end as usize]
    }

    fn touch(&mut self, vertices: &[u32]) {
        for &vertex in vertices {
            if !self.is_alone(vertex) && !std::mem::replace(&mut self.is_touched[vertex as usize], true) {
                self.touched.push(vertex);
            }
        }
    }

    fn signature(&self, vertex: u32) -> u64 {
        let edges = self.graph.edges(vertex).iter();
        edges.fold(0, |hash, to| (self.mix)(hash, u64::from(self.class_of[*to as usize])))
    }

    /// Splits classes until all members of each have the same signature.
    fn settle(&mut self, parallel: bool) {
        while !self.touched.is_empty() {
            let mut touched = std::mem::take(&mut self.touched);
            touched.iter().for_each(|vertex| self.is_touched[*vertex as usize] = false);
            touched.retain(|vertex| !self.is_alone(*vertex));
            touched.sort_unstable_by_key(|vertex| (self.class_of[*vertex as usize], *vertex));
            let class_of = |vertex: &u32| self.class_of[*vertex as usize];
            let groups: Vec<&[u32]> = touched.chunk_by(|a, b| class_of(a) == class_of(b)).collect();
            // All are looked at before any number changes: then those that a change concerns are together
            // in one group of the next turn.
            let splits = par::runs("split classes", parallel, groups.len(), CLASSES, |run| {
                groups[run].iter().filter_map(|group| self.split(group)).collect::<Vec<_>>()
            });
            splits.into_iter().flatten().for_each(|(class, parts)| self.divide(class, parts));
        }
    }

    /// The parts that members of a class, all those that are touched, fall into. The other members have a
    /// signature in common, which none of these has any longer.
    fn split(&self, touched: &[u32]) -> Option<(u32, Vec<Vec<u32>>)> {
        let class = self.class_of[touched[0] as usize];
        let mut signed: Vec<(u64, u32)> = touched.iter().map(|v| (self.signature(*v), *v)).collect();
        let all = self.members(class).len() == touched.len();
        if all && signed.iter().all(|(signature, _)| *signature == signed[0].0) {
            return None;
        }
        signed.sort_unstable();
        let part = |part: &[(u64, u32)]| part.iter().map(|(_, vertex)| *vertex).collect();
        Some((class, signed.chunk_by(|a, b| a.0 == b.0).map(part).collect()))
    }

    /// Makes classes of `parts` of a class. The largest one, the members in none of them included, keeps its
    /// number.
    fn divide(&mut self, class: u32, mut parts: Vec<Vec<u32>>) {
        let (start, _) = self.ranges[class as usize];
        let mut at = self.move_to_end(class, parts.iter().flatten());
        let sizes = parts.iter().map(Vec::len).enumerate();
        if let Some((largest, size)) = sizes.max_by_key(|(_, size)| *size)
            && size > (at - start) as usize
        {
            let rest = self.members[start as usize..at as usize].to_vec();
            let kept = std::mem::replace(&mut parts[largest], rest);
            at = self.put(start, &kept);
        }
        self.ranges[class as usize].1 = at;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let number = match part[..] {
                [alone] => ALONE | alone,
                _ => self.ranges.len() as u32,
            };
            part.iter().for_each(|vertex| self.class_of[*vertex as usize] = number);
            let end = self.put(at, part);
            if part.len() > 1 {
                self.ranges.push((at, end));
            }
            at = end;
        }
        parts.iter().flatten().for_each(|vertex| self.touch_sources(*vertex));
    }

    /// Moves members of a class behind its others. Returns where they start.
    fn move_to_end<'v>(&mut self, class: u32, vertices: impl Iterator<Item = &'v u32>) -> u32 {
        let mut border = self.ranges[class as usize].1;
        for &vertex in vertices {
            border -= 1;
            let (from, other) = (self.position[vertex as usize], self.members[border as usize]);
            self.put(from, &[other]);
            self.put(border, &[vertex]);
        }
        border
    }

    /// Writes members from place `at` on. Returns where they end.
    fn put(&mut self, at: u32, vertices: &[u32]) -> u32 {
        for (place, &vertex) in (at..).zip(vertices) {
            self.members[place as usize] = vertex;
            self.position[vertex as usize] = place;
        }
        at + vertices.len() as u32
    }

    fn touch_sources(&mut self, vertex: u32) {
        let starts = &self.sources.starts;
        for i in starts[vertex as usize]..starts[vertex as usize + 1] {
            let source = self.sources.list[i as usize];
            self.touch(&[source]);
        }
    }

    /// Says of vertices whether they are exactly like `vertex`, as far as is known of classes.
    fn like<'s>(&'s self, vertex: u32, contents: &'s dyn Contents) -> impl FnMut(u32) -> bool + 's {
        let class_of = |to: &u32| self.class_of[*to as usize];
        let mut is_equal = contents.equal_to(vertex);
        move |other| {
            let edges = self.graph.edges(vertex).iter().map(class_of);
            edges.eq(self.graph.edges(other).iter().map(class_of)) && is_equal(other)
        }
    }

    /// The classes of which not all members are alike. All members are gone through in runs, whatever class they are of: one class may
    /// have most of them.
    fn find_wrong(&self, contents: &dyn Contents, parallel: bool) -> Vec<u32> {
        let lists: Vec<Vec<u32>> =
            par::runs("compare sections", parallel, self.members.len(), COMPARISONS, |run| {
                let mut wrong = Vec::new();
                let class_of = |vertex: &u32| self.class_of[*vertex as usize];
                for some in self.members[run].chunk_by(|a, b| class_of(a) == class_of(b)) {
                    if self.is_alone(some[0]) {
                        continue;
                    }
                    let class = class_of(&some[0]);
                    let first = self.members[self.ranges[class as usize].0 as usize];
                    let mut like = self.like(first, contents);
                    if !some.iter().all(|other| *other == first || like(*other)) {
                        wrong.push(class);
                    }
                }
                wrong
            });
        let mut wrong = lists.concat();
        wrong.sort_unstable();
        wrong.dedup();
        wrong
    }

    /// Splits a class by comparing its members.
    fn split_exactly(&mut self, class: u32, contents: &dyn Contents) {
        let mut rest = self.members(class).to_vec();
        let mut parts = Vec::new();
        while let Some(first) = rest.first().copied() {
            let mut like = self.like(first, contents);
            let (part, others) = rest.into_iter().partition(|vertex: &u32| *vertex == first || like(*vertex));
            parts.push(part);
            rest = others;
        }
        self.divide(class, parts);
    }

    /// All members of classes but the first ones, each with the first one.
    fn pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::with_capacity(self.members.len());
        for class in 0..self.ranges.len() as u32 {
            let members = self.members(class);
            let Some(first) = members.iter().min() else { continue };
            pairs.extend(members.iter().filter(|v| *v != first).map(|vertex| (*vertex, *first)));
        }
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contents that are numbers.
    struct Numbers(Vec<u64>);

    impl Contents for Numbers {
        fn equal_to(&self, vertex: u32) -> Box<dyn FnMut(u32) -> bool + '_> {
            Box::new(move |other| self.0[vertex as usize] == self.0[other as usize])
        }
    }

    fn good(hash: u64, value: u64) -> u64 {
        (hash.rotate_left(5) ^ value.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Three values only, so that most are wrong.
    fn bad(hash: u64, value: u64) -> u64 {
        good(hash, value) % 3
    }

    fn useless(_: u64, _: u64) -> u64 {
        0
    }

    fn graph(contents: &[u64], edges: &[&[u32]], hash: impl Fn(u64) -> u64) -> Graph {
        let mut graph = Graph {
            colours: contents.iter().map(|content| hash(*content)).collect(),
            starts: vec![0],
            targets: Vec::new(),
        };
        for list in edges {
            graph.targets.extend_from_slice(list);
            graph.starts.push(graph.targets.len() as u32);
        }
        graph
    }

    /// What all ways of hashing and of running agree on.
    fn folded(contents: &[u64], edges: &[&[u32]]) -> Vec<(u32, u32)> {
        let numbers = Numbers(contents.to_vec());
        let of = |mix: Mix, parallel| {
            let graph = graph(contents, edges, |content| mix(1, content));
            graph.fold(&numbers, mix, parallel)
        };
        let pairs = of(good, false);
        for mix in [good, bad, useless] {
            for parallel in [false, true] {
                assert_eq!(of(mix, parallel), pairs);
            }
        }
        pairs
    }

    #[test]
    fn equal_contents_are_folded_into_the_first() {
        assert_eq!(folded(&[], &[]), []);
        assert_eq!(folded(&[7], &[&[]]), []);
        assert_eq!(folded(&[7, 8, 7, 8, 7], &[&[], &[], &[], &[], &[]]), [(2, 0), (3, 1), (4, 0)]);
    }

    #[test]
    fn circles_are_folded() {
        // 0 and 1 call each other, so do 2 and 3, and 4 calls itself.
        assert_eq!(folded(&[1; 5], &[&[1], &[0], &[3], &[2], &[4]]), [(1, 0), (2, 0), (3, 0), (4, 0)]);
        assert_eq!(folded(&[1, 2, 1, 2], &[&[1], &[0], &[3], &[2]]), [(2, 0), (3, 1)]);
        // One circle has something of its own, so nothing in it is like the other.
        assert_eq!(folded(&[1, 2, 3, 1, 2, 4], &[&[1], &[2], &[0], &[4], &[5], &[3]]), []);
    }

    #[test]
    fn edges_are_told_apart_by_place_and_number() {
        let leaves: [&[u32]; 2] = [&[], &[]];
        let both = |a: &'static [u32], b: &'static [u32]| [leaves[0], leaves[1], a, b];
        assert_eq!(folded(&[1, 2, 3, 3], &both(&[0, 1], &[0, 1])), [(3, 2)]);
        assert_eq!(folded(&[1, 2, 3, 3], &both(&[0, 1], &[1, 0])), []);
        assert_eq!(folded(&[1, 2, 3, 3], &both(&[0], &[0, 0])), []);
        assert_eq!(folded(&[1, 1, 3, 3], &both(&[0, 1], &[1, 0])), [(1, 0), (3, 2)]);
    }

    /// By splitting every class by everything, over and over.
    fn slowly(contents: &[u64], edges: &[Vec<u32>]) -> Vec<(u32, u32)> {
        let mut class: Vec<u64> = contents.to_vec();
        let count = |class: &[u64]| class.iter().collect::<std::collections::BTreeSet<_>>().len();
        loop {
            let mut known = std::collections::BTreeMap::new();
            let next: Vec<u64> = (0..class.len())
                .map(|v| {
                    let to: Vec<u64> = edges[v].iter().map(|to| class[*to as usize]).collect();
                    let number = known.len() as u64;
                    *known.entry((class[v], to)).or_insert(number)
                })
                .collect();
            let done = count(&next) == count(&class);
            class = next;
            if done {
                break;
            }
        }
        let first = |v: usize| class.iter().position(|c| *c == class[v]).unwrap();
        (0..class.len()).filter(|v| first(*v) != *v).map(|v| (v as u32, first(v) as u32)).collect()
    }

    #[test]
    fn random_graphs_are_folded_as_by_hand() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut sizes = 0;
        for round in 0..300 {
            let count = 1 + random(40);
            let contents: Vec<u64> = (0..count).map(|_| random(1 + round % 3)).collect();
            let edges: Vec<Vec<u32>> =
                (0..count).map(|_| (0..random(3)).map(|_| random(count) as u32).collect()).collect();
            let lists: Vec<&[u32]> = edges.iter().map(|list| &list[..]).collect();
            let pairs = folded(&contents, &lists);
            assert_eq!(pairs, slowly(&contents, &edges), "{contents:?} {edges:?}");
            sizes += pairs.len();
        }
        assert!(sizes > 300, "{sizes}");
    }

    #[test]
    fn long_chains_take_no_square_of_time() {
        // Two chains of different ends: each step tells one pair apart.
        let length = 200_000u32;
        let mut contents = vec![0; 2 * length as usize];
        contents[length as usize - 1] = 1;
        let edges: Vec<Vec<u32>> =
            (0..2 * length).map(|v| if v % length == length - 1 { vec![] } else { vec![v + 1] }).collect();
        let lists: Vec<&[u32]> = edges.iter().map(|list| &list[..]).collect();
        let graph = graph(&contents, &lists, |content| content);
        assert_eq!(graph.fold(&Numbers(contents), good, true), []);
    }
}
