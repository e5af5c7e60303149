//! What is reached from roots: one mark an item, and a walk along references by all threads.
//!
//! Each thread follows what it finds in a stack of its own, and offers the part that has waited longest to
//! others. Items are looked at in batches, so that the memory of one is fetched while another is worked on.
//! Which thread visits an item differs from run to run: what visits find has to be put in order later, the
//! marks are a set anyway.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::trace::{self, Region};
use crate::zeroed;

/// One bit for each item of a table.
pub struct Marks(Vec<AtomicU32>);

impl Marks {
    /// None of `count` items is marked.
    pub fn new(count: usize) -> Marks {
        Marks(zeroed::sparse(count.div_ceil(32)))
    }

    /// Makes room for `count` items; those that are new are not marked.
    pub fn grow(&mut self, count: usize) {
        let words = count.div_ceil(32).max(self.0.len());
        self.0.resize_with(words, AtomicU32::default);
    }

    /// Marks an item. `true` if it was not marked before.
    #[inline(always)]
    pub fn set(&self, item: u32) -> bool {
        let word = &self.0[item as usize / 32];
        let bit = 1 << (item % 32);
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    pub fn clear(&self, item: u32) {
        self.0[item as usize / 32].fetch_and(!(1 << (item % 32)), Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn get(&self, item: u32) -> bool {
        self.0[item as usize / 32].load(Ordering::Relaxed) >> (item % 32) & 1 != 0
    }
}

/// How a walk goes on from an item.
pub trait Visitor: Sync {
    /// Names an item; small.
    type Item: Copy + Send + Sync;
    /// What the visits of one thread find.
    type Found: Default + Send;

    /// Has the memory fetched of items that are visited next.
    fn prefetch(&self, batch: &[Self::Item]);

    /// Looks at an item, and pushes those that it leads to and that nobody has marked yet.
    fn visit(&self, item: Self::Item, stack: &mut Vec<Self::Item>, found: &mut Self::Found);
}

/// Items that a thread hands to others in one go: enough to pay for the handing over, few enough to leave
/// work for many threads in a small link.
const SHARED: usize = 128;
/// Items looked at together.
const BATCH: usize = 16;

/// Visits the roots and what they lead to. What was found, in no particular order.
pub fn from_roots<V: Visitor>(visitor: &V, roots: &[V::Item], parallel: bool) -> Vec<V::Found> {
    let region = trace::region("follow references");
    if !parallel {
        let _task = region.task();
        return vec![follow(visitor, roots.to_vec(), |_| false)];
    }
    let walk = Walk { visitor, region, found: Mutex::default() };
    rayon::scope(|scope| roots.chunks(SHARED).for_each(|part| walk.spawn(scope, part.to_vec())));
    drop(walk.region);
    walk.found.into_inner().unwrap()
}

/// A walk by several threads.
struct Walk<'w, V: Visitor> {
    visitor: &'w V,
    region: Region,
    found: Mutex<Vec<V::Found>>,
}

impl<V: Visitor> Walk<'_, V> {
    /// Has some thread follow `items`, and others what turns out to be too much for it.
    fn spawn<'s>(&'s self, scope: &rayon::Scope<'s>, items: Vec<V::Item>)
    where
        V::Item: 's,
    {
        scope.spawn(move |scope| {
            let _task = self.region.task();
            let share = |part: &&[V::Item]| {
                self.spawn(scope, part.to_vec());
                true
            };
            let found = follow(self.visitor, items, share);
            self.found.lock().unwrap().push(found);
        });
    }
}

/// Visits the items of `stack` and what they lead to. When there is more than one thread needs, what
/// has waited longest is offered to `share` in parts; it says whether it took one.
fn follow<V: Visitor>(
    visitor: &V,
    mut stack: Vec<V::Item>,
    mut share: impl FnMut(&&[V::Item]) -> bool,
) -> V::Found {
    let mut found = V::Found::default();
    let mut batch = Vec::with_capacity(BATCH);
    while !stack.is_empty() {
        batch.extend(stack.drain(stack.len().saturating_sub(BATCH)..));
        visitor.prefetch(&batch);
        for item in batch.drain(..) {
            visitor.visit(item, &mut stack, &mut found);
        }
        give_away(&mut stack, &mut share);
    }
    found
}

/// Offers to `share` what has waited longest in `stack`, which likely leads to most, if there is more than
/// one thread needs. All of it at once: a part at a time, the rest of a stack of a million would be moved
/// thousands of times.
fn give_away<T>(stack: &mut Vec<T>, share: impl FnMut(&&[T]) -> bool) {
    if stack.len() <= 2 * SHARED {
        return;
    }
    let spare = &stack[..stack.len() - SHARED];
    let given = spare.chunks_exact(SHARED).take_while(share).count();
    stack.drain(..given * SHARED);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_one_thread_does_not_need_is_given_away_at_once() {
        for waiting in [0, 1, 2 * SHARED, 2 * SHARED + 1, 100 * SHARED + 7] {
            let items: Vec<u32> = (0..waiting as u32).collect();
            let (mut stack, mut given) = (items.clone(), Vec::new());
            give_away(&mut stack, |part| {
                given.extend_from_slice(part);
                true
            });
            assert!(stack.len() <= 2 * SHARED && stack.len() >= waiting.min(SHARED));
            assert_eq!(given.len() % SHARED, 0);
            assert_eq!([given, stack].concat(), items);
        }
        let mut stack = vec![0; 5 * SHARED];
        give_away(&mut stack, |_| false);
        assert_eq!(stack.len(), 5 * SHARED);
    }

    #[test]
    fn marks_are_set_once() {
        let marks = Marks::new(65);
        assert!(marks.set(64) && !marks.set(64) && marks.set(0));
        assert!(marks.get(64) && marks.get(0) && !marks.get(63));
        marks.clear(64);
        assert!(!marks.get(64) && marks.set(64));
    }

    /// Item `i` leads to `2i` and `2i + 1`, of those below `count`.
    struct Tree {
        marks: Marks,
        count: u32,
    }

    impl Visitor for Tree {
        type Item = u32;
        type Found = Vec<u32>;

        fn prefetch(&self, _: &[u32]) {}

        fn visit(&self, item: u32, stack: &mut Vec<u32>, found: &mut Vec<u32>) {
            found.push(item);
            stack.extend([2 * item, 2 * item + 1].iter().filter(|&&i| i < self.count && self.marks.set(i)));
        }
    }

    #[test]
    fn each_item_is_visited_once() {
        let count = 20_000;
        for (parallel, roots) in [(false, vec![1]), (true, vec![1]), (true, vec![3, 1, 7])] {
            let tree = Tree { marks: Marks::new(count as usize), count };
            roots.iter().for_each(|root| assert!(tree.marks.set(*root)));
            let mut found = from_roots(&tree, &roots, parallel).concat();
            found.sort_unstable();
            assert!(found.into_iter().eq(1..count));
        }
    }
}
