//! Which vertices of a graph are the same: the coarsest partition in which those of a class have the same
//! contents and point, edge by edge, to the same classes.
//!
//! It begins with classes that are too large, told apart by hashes, and splits them until nothing forces
//! another split. So functions that call each other in a circle stay together as long as nothing
//! tells them apart.
//!
//! * A few rounds give each vertex a new colour, made from its own and those that its edges lead to. They run
//!   in parallel and do most of the work: graphs of real programs are shallow.
//! * Vertices of one colour become a class. Where nothing tells members of a class apart any longer, which is
//!   so in most programs, all that follows is parallel. When a class is split, only vertices that point to a
//!   part that got a new number are looked at again, and the largest part keeps the old one. So a vertex is
//!   looked at again at most log2(n) times for each of its edges, however long the chains are.
//! * At the end the members of each class are compared exactly, edges and contents. Where
//!   hashes were wrong, the class is split by comparison, and refinement goes on.
//!
//! The partition that this ends with is the only coarsest one: neither hashes nor the order of work show in
//! it.

use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::{par, sort, trace, zeroed};

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
        let torn = classes.torn();
        if !torn.is_empty() {
            let _stretch = trace::stretch("split classes");
            classes.divide_all(torn);
            classes.settle();
        }
        loop {
            let wrong = classes.find_wrong(contents);
            if wrong.is_empty() {
                return classes.pairs();
            }
            let _stretch = trace::stretch("split classes");
            classes.split_exactly(&wrong, contents);
            classes.settle();
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
    parallel: bool,
    /// One more than the class of each vertex; 0 if it is alone. Several threads write it, each its own
    /// vertices.
    class_of: Vec<AtomicU32>,
    /// Where each class lies in `members`.
    ranges: Vec<(u32, u32)>,
    members: Vec<u32>,
    /// Made when the first class is split: most graphs come without.
    books: Option<Books>,
}

/// What is kept of vertices while classes are split.
struct Books {
    /// The edges between vertices that are not alone, the other way round: where they lead, and where from.
    sources: Vec<(u32, u32)>,
    /// Where each vertex lies in `members`.
    position: Vec<AtomicU32>,
    /// Vertices with an edge to one whose class has got another number; no vertex twice.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

/// A class, and the parts that members of it make.
type Torn = (u32, Vec<Vec<u32>>);

impl<'g> Classes<'g> {
    fn of_colours(graph: &'g Graph, mix: Mix, parallel: bool) -> Self {
        let count = graph.colours.len();
        let order: Vec<(u64, u32)> = par::list("colours to sort", parallel, count, VERTICES, |run| {
            run.map(|vertex| (graph.colours[vertex], vertex as u32))
        });
        let order = sort::by(order, parallel, Ord::cmp);
        // A run has the classes that begin in it.
        let begin = |i: usize| match i {
            0 => 0,
            _ => order.partition_point(|(colour, _)| *colour <= order[i - 1].0),
        };
        let classes = |run: Range<usize>| {
            let all = &order[begin(run.start)..begin(run.end)];
            all.chunk_by(|a, b| a.0 == b.0).filter(|class| class.len() > 1)
        };
        let found = par::runs("classes of colours", parallel, count, VERTICES, |run| {
            let mut members: Vec<u32> = Vec::new();
            let ends: Vec<u32> = classes(run)
                .map(|class| {
                    members.extend(class.iter().map(|(_, vertex)| *vertex));
                    members.len() as u32
                })
                .collect();
            (members, ends)
        });
        let class_of: Vec<AtomicU32> = zeroed::sparse(count);
        let (mut members, mut runs, mut number, mut base) = (Vec::new(), Vec::new(), 0, 0);
        for (some, ends) in found {
            let (first, start) = (number, base);
            number += ends.len() as u32;
            base += some.len() as u32;
            runs.push((first, start, ends));
            members.push(some);
        }
        let numbered = par::runs("number classes", parallel, runs.len(), 1, |some| {
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            for ((first, base, ends), members) in runs[some.clone()].iter().zip(&members[some]) {
                let mut start = 0;
                for (number, &end) in (*first..).zip(ends) {
                    for vertex in &members[start as usize..end as usize] {
                        class_of[*vertex as usize].store(number + 1, Relaxed);
                    }
                    ranges.push((base + start, base + end));
                    start = end;
                }
            }
            ranges
        });
        Classes {
            graph,
            mix,
            parallel,
            class_of,
            ranges: par::concat("join classes", parallel, numbered),
            members: par::concat("join classes", parallel, members),
            books: None,
        }
    }

    /// The class of a vertex; a number that no other vertex has if it is alone.
    fn class(&self, vertex: u32) -> u32 {
        self.class_of[vertex as usize].load(Relaxed).checked_sub(1).unwrap_or(ALONE | vertex)
    }

    fn is_alone(&self, vertex: u32) -> bool {
        self.class_of[vertex as usize].load(Relaxed) == 0
    }

    fn members(&self, class: u32) -> &[u32] {
        let (start, end) = self.ranges[class as usize];
        &self.members[start as usize..end as usize]
    }

    fn signature(&self, vertex: u32) -> u64 {
        let edges = self.graph.edges(vertex).iter();
        edges.fold(0, |hash, to| (self.mix)(hash, u64::from(self.class(*to))))
    }

    /// The classes whose members do not all have the same signature.
    fn torn(&self) -> Vec<Torn> {
        let torn = par::runs("compare signatures", self.parallel, self.ranges.len(), CLASSES, |run| {
            run.filter_map(|class| self.split(self.members(class as u32))).collect::<Vec<_>>()
        });
        torn.into_iter().flatten().collect()
    }

    /// Splits classes until all members of each have the same signature.
    fn settle(&mut self) {
        while let Some(books) = self.books.as_mut().filter(|books| !books.touched.is_empty()) {
            let mut touched = std::mem::take(&mut books.touched);
            touched.iter().for_each(|vertex| books.is_touched[*vertex as usize] = false);
            touched.retain(|vertex| !self.is_alone(*vertex));
            let touched =
                sort::by(touched, self.parallel, |a, b| (self.class(*a), *a).cmp(&(self.class(*b), *b)));
            let groups: Vec<&[u32]> = touched.chunk_by(|a, b| self.class(*a) == self.class(*b)).collect();
            // All are looked at before any number changes: then those that a change concerns are together
            // in one group of the next turn.
            let torn = par::runs("split classes", self.parallel, groups.len(), CLASSES, |run| {
                groups[run].iter().filter_map(|group| self.split(group)).collect::<Vec<_>>()
            });
            self.divide_all(torn.into_iter().flatten());
        }
    }

    /// The parts that members of a class, all those that are touched, fall into. The other members have a
    /// signature in common, which none of these has any longer.
    fn split(&self, touched: &[u32]) -> Option<Torn> {
        let class = self.class(touched[0]);
        let all = self.members(class).len() == touched.len();
        let first = self.signature(touched[0]);
        if all && touched[1..].iter().all(|vertex| self.signature(*vertex) == first) {
            return None;
        }
        let mut signed: Vec<(u64, u32)> = touched.iter().map(|v| (self.signature(*v), *v)).collect();
        signed.sort_unstable();
        let part = |part: &[(u64, u32)]| part.iter().map(|(_, vertex)| *vertex).collect();
        Some((class, signed.chunk_by(|a, b| a.0 == b.0).map(part).collect()))
    }

    fn divide_all(&mut self, torn: impl IntoIterator<Item = Torn>) {
        let mut books = self.books.take().unwrap_or_else(|| Books::of(self));
        torn.into_iter().for_each(|(class, parts)| self.divide(class, parts, &mut books));
        self.books = Some(books);
    }

    /// Makes classes of `parts` of a class. The largest one, the members in none of them included, keeps its
    /// number.
    fn divide(&mut self, class: u32, mut parts: Vec<Vec<u32>>, books: &mut Books) {
        let (start, _) = self.ranges[class as usize];
        let mut at = self.move_to_end(class, parts.iter().flatten(), books);
        let sizes = parts.iter().map(Vec::len).enumerate();
        if let Some((largest, size)) = sizes.max_by_key(|(_, size)| *size)
            && size > (at - start) as usize
        {
            let rest = self.members[start as usize..at as usize].to_vec();
            let kept = std::mem::replace(&mut parts[largest], rest);
            at = self.put(start, &kept, books);
        }
        self.ranges[class as usize].1 = at;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let number = if part.len() == 1 { 0 } else { self.ranges.len() as u32 + 1 };
            part.iter().for_each(|vertex| *self.class_of[*vertex as usize].get_mut() = number);
            let end = self.put(at, part, books);
            if part.len() > 1 {
                self.ranges.push((at, end));
            }
            at = end;
        }
        parts.iter().flatten().for_each(|vertex| self.touch_sources(*vertex, books));
    }

    /// Moves members of a class after its others. Returns where they start.
    fn move_to_end<'v>(
        &mut self,
        class: u32,
        vertices: impl Iterator<Item = &'v u32>,
        books: &mut Books,
    ) -> u32 {
        let mut border = self.ranges[class as usize].1;
        for &vertex in vertices {
            border -= 1;
            let (from, other) = (*books.position[vertex as usize].get_mut(), self.members[border as usize]);
            self.put(from, &[other], books);
            self.put(border, &[vertex], books);
        }
        border
    }

    /// Writes members from place `at` on. Returns where they end.
    fn put(&mut self, at: u32, vertices: &[u32], books: &mut Books) -> u32 {
        for (place, &vertex) in (at..).zip(vertices) {
            self.members[place as usize] = vertex;
            *books.position[vertex as usize].get_mut() = place;
        }
        at + vertices.len() as u32
    }

    fn touch_sources(&self, vertex: u32, books: &mut Books) {
        let first = books.sources.partition_point(|(to, _)| *to < vertex);
        for (_, source) in books.sources[first..].iter().take_while(|(to, _)| *to == vertex) {
            if !self.is_alone(*source) && !std::mem::replace(&mut books.is_touched[*source as usize], true) {
                books.touched.push(*source);
            }
        }
    }

    /// Says of vertices whether they are exactly like `vertex`, as far as is known of classes.
    fn like<'s>(&'s self, vertex: u32, contents: &'s dyn Contents) -> impl FnMut(u32) -> bool + 's {
        let class = |to: &u32| self.class(*to);
        let mut is_equal = contents.equal_to(vertex);
        move |other| {
            let edges = self.graph.edges(vertex).iter().map(class);
            edges.eq(self.graph.edges(other).iter().map(class)) && is_equal(other)
        }
    }

    /// The classes of which not all members are alike. All members are gone through in runs, whatever class
    /// they are of: one class may have most of them.
    fn find_wrong(&self, contents: &dyn Contents) -> Vec<u32> {
        let lists: Vec<Vec<u32>> =
            par::runs("compare sections", self.parallel, self.members.len(), COMPARISONS, |run| {
                let mut wrong = Vec::new();
                for some in self.members[run].chunk_by(|a, b| self.class(*a) == self.class(*b)) {
                    if self.is_alone(some[0]) {
                        continue;
                    }
                    let class = self.class(some[0]);
                    let first = self.members(class)[0];
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

    /// Splits classes by comparing their members.
    fn split_exactly(&mut self, classes: &[u32], contents: &dyn Contents) {
        for &class in classes {
            let mut rest = self.members(class).to_vec();
            let mut parts = Vec::new();
            while let Some(first) = rest.first().copied() {
                let mut like = self.like(first, contents);
                let (part, others) =
                    rest.into_iter().partition(|vertex: &u32| *vertex == first || like(*vertex));
                parts.push(part);
                rest = others;
            }
            self.divide_all([(class, parts)]);
        }
    }

    /// All members of classes but the first ones, each with the first one.
    fn pairs(&self) -> Vec<(u32, u32)> {
        let firsts: Vec<u32> =
            par::list("first of each class", self.parallel, self.ranges.len(), CLASSES, |run| {
                run.map(|class| self.members(class as u32).iter().min().copied().unwrap_or(ALONE))
            });
        let pairs = par::runs("pairs", self.parallel, self.class_of.len(), VERTICES, |run| {
            let pair = |vertex: u32| {
                let first = firsts.get(self.class(vertex) as usize)?;
                (*first != vertex).then_some((vertex, *first))
            };
            run.filter_map(|vertex| pair(vertex as u32)).collect::<Vec<_>>()
        });
        par::concat("pairs", self.parallel, pairs)
    }
}

impl Books {
    fn of(classes: &Classes) -> Books {
        let (count, parallel) = (classes.class_of.len(), classes.parallel);
        let edges = par::runs("turn edges", parallel, classes.members.len(), VERTICES, |run| {
            let of = |from: &u32| (*from, classes.graph.edges(*from));
            let edges = classes.members[run]
                .iter()
                .map(of)
                .flat_map(|(from, to)| to.iter().map(move |to| (*to, from)));
            edges.filter(|(to, _)| !classes.is_alone(*to)).collect::<Vec<_>>()
        });
        let edges = par::concat("turn edges", parallel, edges);
        let position: Vec<AtomicU32> = zeroed::sparse(count);
        par::runs("places of members", parallel, classes.members.len(), VERTICES, |run| {
            for (place, vertex) in run.clone().zip(&classes.members[run]) {
                position[*vertex as usize].store(place as u32, Relaxed);
            }
        });
        Books {
            sources: sort::by_bucket(edges, count as u32, parallel, |edge| edge.0),
            position,
            touched: Vec::new(),
            is_touched: vec![false; count],
        }
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

    /// So many that there are several runs, and classes that lie in more than one.
    #[test]
    fn large_graphs_are_folded_alike_by_one_thread_and_by_many() {
        let count = 5 * VERTICES as u32 / 2;
        let mut state = 7u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32 % below
        };
        for kinds in [1, 3, count / 4] {
            let contents: Vec<u64> = (0..count).map(|_| u64::from(random(kinds))).collect();
            // Later ones lead to earlier ones, a third to nothing.
            let edges: Vec<Vec<u32>> =
                (0..count).map(|v| (0..random(3)).map(|_| random(v.min(50) + 1)).collect()).collect();
            let lists: Vec<&[u32]> = edges.iter().map(|list| &list[..]).collect();
            let fold = |parallel| {
                graph(&contents, &lists, |c| good(1, c)).fold(&Numbers(contents.clone()), good, parallel)
            };
            let pairs = fold(false);
            assert!(pairs.is_sorted() && pairs.len() > count as usize / 10, "{kinds} {}", pairs.len());
            for threads in [1, 2, 7] {
                let pool = par::Pool::new(threads, &trace::Trace::new(false));
                assert!(pool.install(|| fold(true)) == pairs, "{kinds} kinds, {threads} threads");
            }
        }
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
