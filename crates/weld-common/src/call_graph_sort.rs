//! Puts functions that call each other often beside one another, and the busiest first.
//!
//! "Call-chain clustering" after G. Ottoni and B. Maher, "Optimizing Function Placement for Large-Scale
//! Data-Center Applications" (CGO 2017): every function starts as a cluster of its own. The functions are
//! taken in order of density, which is calls a byte, and each one's cluster goes after that of its most
//! frequent caller, unless the result would be too large for a page of instructions to matter, or too thin,
//! or that caller makes few of its calls. The clusters then lie in order of their density.

use std::collections::HashMap;
use std::hash::Hash;

/// A cluster does not grow beyond this many bytes.
const LARGEST: u64 = 1 << 20;
/// Nor to less than this part of the density that the caller's cluster had.
const THINNEST: f64 = 1.0 / 8.0;
/// A caller counts if it makes at least this part of a function's calls.
const FEWEST: u64 = 10;

/// Calls between sections, of which `I` are the ids.
#[derive(Debug)]
pub struct Graph<I> {
    /// In the order in which they were named first.
    nodes: Vec<I>,
    numbers: HashMap<I, u32>,
    edges: HashMap<(u32, u32), u64>,
    /// The keys of `edges`, in the order in which they were added.
    pairs: Vec<(u32, u32)>,
}

impl<I> Default for Graph<I> {
    fn default() -> Self {
        Graph { nodes: Vec::new(), numbers: HashMap::new(), edges: HashMap::new(), pairs: Vec::new() }
    }
}

impl<I: Copy + Eq + Hash> Graph<I> {
    pub fn add(&mut self, from: I, to: I, count: u64) {
        let pair = (self.number(from), self.number(to));
        let known = self.edges.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            0
        });
        *known = known.saturating_add(count);
    }

    fn number(&mut self, id: I) -> u32 {
        *self.numbers.entry(id).or_insert_with(|| {
            self.nodes.push(id);
            self.nodes.len() as u32 - 1
        })
    }
}

/// The calls in a file that has a line `FROM TO COUNT` for each; or the number of a line that is neither that
/// nor empty.
pub fn calls(file: &[u8]) -> impl Iterator<Item = Result<(&[u8], &[u8], u64), usize>> {
    file.split(|byte| *byte == b'\n').zip(1..).filter_map(|(line, number)| {
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let count = words.get(2).and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        match (&words[..], count) {
            ([], _) => None,
            (&[from, to, _], Some(count)) => Some(Ok((from, to, count))),
            _ => Some(Err(number)),
        }
    })
}

/// A cluster, which has the number of its first node.
#[derive(Debug)]
struct Cluster {
    last: u32,
    /// False if it has become part of another.
    whole: bool,
    size: u64,
    calls: u64,
}

impl Cluster {
    fn density(&self) -> f64 {
        if self.size == 0 { 0.0 } else { self.calls as f64 / self.size as f64 }
    }
}

/// The clusters, their nodes as lists, and which of them each node is in: so putting one after another costs
/// the same however long they are, and long chains of calls take no longer than as many short ones.
#[derive(Debug)]
struct Clusters {
    clusters: Vec<Cluster>,
    /// The next node of the cluster; `NONE` after its last one.
    next: Vec<u32>,
    /// A cluster that has become part of another leads to that one, over some steps.
    joined: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Clusters {
    fn new(sizes: impl Iterator<Item = u64>) -> Clusters {
        let alone = |(node, size)| Cluster { last: node, whole: true, size, calls: 0 };
        let clusters: Vec<Cluster> = (0..).zip(sizes).map(alone).collect();
        let count = clusters.len();
        Clusters { clusters, next: vec![NONE; count], joined: (0..count as u32).collect() }
    }

    /// The cluster that a node is in. Each look halves the way for the next one.
    fn of(&mut self, mut node: u32) -> u32 {
        while self.joined[node as usize] != node {
            let over = self.joined[self.joined[node as usize] as usize];
            self.joined[node as usize] = over;
            node = over;
        }
        node
    }

    /// Puts a cluster after another, if the result is small and dense enough.
    fn join(&mut self, into: u32, from: u32) {
        let (target, own) = (&self.clusters[into as usize], &self.clusters[from as usize]);
        let size = target.size.saturating_add(own.size);
        let calls = target.calls.saturating_add(own.calls);
        let joined = Cluster { last: own.last, whole: true, size, calls };
        if size > LARGEST || joined.density() < target.density() * THINNEST {
            return;
        }
        self.next[target.last as usize] = from;
        self.joined[from as usize] = into;
        self.clusters[into as usize] = joined;
        self.clusters[from as usize].whole = false;
    }

    /// The numbers of clusters that are whole, the densest first.
    fn by_density(&self) -> Vec<u32> {
        let whole = |number: &u32| self.clusters[*number as usize].whole;
        let mut order: Vec<u32> = (0..self.clusters.len() as u32).filter(whole).collect();
        let density = |number: &u32| self.clusters[*number as usize].density();
        order.sort_by(|a, b| density(b).total_cmp(&density(a)));
        order
    }

    fn nodes(&self, cluster: u32) -> impl Iterator<Item = u32> {
        let next = |node: &u32| Some(self.next[*node as usize]).filter(|next| *next != NONE);
        std::iter::successors(Some(cluster), next)
    }
}

/// The sections of a graph in their new order. `size` is that of a section, in bytes.
pub fn order<I: Copy>(graph: &Graph<I>, size: impl Fn(I) -> u64) -> Vec<I> {
    let mut clusters = Clusters::new(graph.nodes.iter().map(|node| size(*node)));
    // Of each node, the calls by its most frequent caller, and that caller; the first of equals.
    let mut callers: Vec<(u64, Option<u32>)> = vec![(0, None); graph.nodes.len()];
    for &(from, to) in &graph.pairs {
        let calls = graph.edges[&(from, to)];
        let callee = &mut clusters.clusters[to as usize];
        callee.calls = callee.calls.saturating_add(calls);
        if from != to && (callers[to as usize].1.is_none() || calls > callers[to as usize].0) {
            callers[to as usize] = (calls, Some(from));
        }
    }
    let all_calls: Vec<u64> = clusters.clusters.iter().map(|cluster| cluster.calls).collect();
    for node in clusters.by_density() {
        let (calls, Some(caller)) = callers[node as usize] else { continue };
        let (target, own) = (clusters.of(caller), clusters.of(node));
        if target != own && calls.saturating_mul(FEWEST) > all_calls[node as usize] {
            clusters.join(target, own);
        }
    }
    let order = clusters.by_density();
    order
        .into_iter()
        .flat_map(|cluster| clusters.nodes(cluster))
        .map(|node| graph.nodes[node as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(calls: &[(u32, u32, u64)], size: impl Fn(u32) -> u64) -> Vec<u32> {
        let mut graph = Graph::default();
        for &(from, to, count) in calls {
            graph.add(from, to, count);
        }
        order(&graph, size)
    }

    #[test]
    fn a_function_goes_behind_its_most_frequent_caller() {
        assert_eq!(ordered(&[(1, 2, 5), (2, 3, 50), (3, 4, 40), (4, 2, 10)], |_| 1), [2, 3, 4, 1]);
        assert_eq!(ordered(&[(1, 2, 100), (1, 3, 40), (2, 3, 30), (3, 4, 90)], |_| 1), [1, 2, 3, 4]);
    }

    /// Each function calls the next one a little more often than it is called itself, so each cluster goes
    /// after one that has a single function. In quadratic time this takes minutes.
    #[test]
    fn a_long_chain_takes_no_longer_than_short_ones() {
        let length = 300_000;
        let calls: Vec<(u32, u32, u64)> =
            (0..length - 1).map(|caller| (caller, caller + 1, u64::from(caller) + 1)).collect();
        assert_eq!(ordered(&calls, |_| 1), (0..length).collect::<Vec<u32>>());
    }

    #[test]
    fn clusters_stay_small_and_dense() {
        // Too large together.
        assert_eq!(ordered(&[(1, 2, 10)], |_| LARGEST), [2, 1]);
        // The callee is nearly never called by any one caller.
        let many: Vec<(u32, u32, u64)> = (0..11).map(|caller| (caller, 99, 1)).collect();
        assert_eq!(ordered(&many, |_| 1)[0], 99);
        // Too thin.
        assert_eq!(ordered(&[(1, 1, 100), (1, 2, 1)], |id| if id == 2 { 1 << 10 } else { 1 }), [1, 2]);
    }

    #[test]
    fn calls_in_a_file() {
        let file = b"a b 3\n\n \r\nc\td 4 \r\na b\na b x\na b 3 4\ne f 18446744073709551616";
        let (good, bad): (Vec<_>, Vec<_>) = calls(file).partition(Result::is_ok);
        assert_eq!(good, [Ok((&b"a"[..], &b"b"[..], 3)), Ok((b"c", b"d", 4))]);
        assert_eq!(bad, [Err(5), Err(6), Err(7), Err(8)]);
    }

    #[test]
    fn calls_of_a_pair_add_up() {
        assert_eq!(ordered(&[(1, 3, 6), (2, 3, 5), (2, 3, 5), (9, 9, 1000)], |_| 1), [9, 2, 3, 1]);
    }
}
