//! Parallel loops whose results do not depend on threads or timing.
//!
//! A thin layer over rayon. One thread means plain loops and no pool. Otherwise rayon halves what is left of a loop
//! where a thread has nothing to do, so an index should be worth a task: where items are small, loops are over runs of
//! them. Called inside the pool (see [`Pool::install`]), a loop runs on the calling thread too, and loops may nest: who
//! waits for the inner one helps with other work.
//!
//! Results come back in index order. Functions given to these loops must not settle conflicts by who
//! comes first.
//!
//! What rayon makes of a loop, some ten functions, is in the program once: all loops hand it a function that it calls
//! by a pointer ([`spread`]). When it was made for each loop, it was a tenth of weld, and lay between what runs.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::trace::{self, Trace};

/// Inputs below this many bytes are linked by one thread: starting others would cost more.
pub const ONE_THREAD_LIMIT: u64 = 4 << 20;

/// Bytes of input that make another thread worth starting.
const BYTES_PER_THREAD: u64 = 2 << 20;

/// Where more threads only get in each other's way, as far as the field's experience goes.
const MOST_THREADS: usize = 32;

/// Sums below this many elements are done by one thread: memory is what limits them. Lists that are only
/// filled are cut so, too.
const SUM_GRAIN: usize = 1 << 16;

/// The threads of one link.
pub struct Pool {
    threads: usize,
    pool: Option<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads; none are started for 0 or 1. If the system refuses that many, the
    /// pool has fewer, and the link takes longer. What they do is recorded in `trace`.
    pub fn new(threads: usize, trace: &Trace) -> Pool {
        let mut threads = threads.max(1);
        while threads > 1 {
            let start = trace.starter();
            let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let builder = builder.thread_name(|i| format!("weld-{i}")).start_handler(move |_| start());
            if let Ok(pool) = builder.build() {
                return Pool { threads, pool: Some(pool) };
            }
            threads /= 2;
        }
        Pool { threads, pool: None }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `f` on a thread of the pool. A link does this once, so that its loops start without
    /// handing over from a thread outside.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(f),
            None => f(),
        }
    }

    /// Runs both, at the same time if there are threads for it.
    pub fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match &self.pool {
            Some(pool) => pool.join(a, b),
            None => {
                let a = a();
                (a, b())
            }
        }
    }
}

/// Runs both: in a pool at the same time, otherwise one after the other.
pub fn both<A: Send, B: Send>(
    parallel: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if !parallel {
        let a = a();
        return (a, b());
    }
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    join(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    of_a.zip(of_b).expect("both sides of a join have run")
}

#[inline(never)]
fn join(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

/// Calls `f` with each index below `n`, in the pool of the caller.
#[inline(never)]
fn spread(n: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(f);
}

/// Calls `f` with each index below `n`: in a pool at the same time, otherwise one after the other.
pub fn each(parallel: bool, n: usize, f: impl Fn(usize) + Sync) {
    match parallel {
        true => spread(n, &f),
        false => (0..n).for_each(f),
    }
}

/// [`each`] with an item that may be changed.
pub fn each_mut<T: Send>(parallel: bool, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    let start = Shared(items.as_mut_ptr());
    // SAFETY: each index below the length is handed out once, and `items` is borrowed mutably.
    each(parallel, items.len(), |i| f(i, unsafe { &mut *start.get().add(i) }));
}

/// `[f(0), f(1), …]` up to `n`: what [`each`] calls returned.
pub fn map<R: Send>(parallel: bool, n: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut results: Vec<R> = Vec::with_capacity(n);
    each_mut(parallel, &mut results.spare_capacity_mut()[..n], |i, slot| _ = slot.write(f(i)));
    // SAFETY: all `n` slots were written. Had `f` panicked, this line would not be reached, and the
    // results so far would leak.
    unsafe { results.set_len(n) };
    results
}

/// [`map`] of items that `f` takes.
pub fn map_owned<T: Send, R: Send>(
    parallel: bool,
    items: Vec<T>,
    f: impl Fn(usize, T) -> R + Sync,
) -> Vec<R> {
    let mut items: Vec<MaybeUninit<T>> = items.into_iter().map(MaybeUninit::new).collect();
    let start = Shared(items.as_mut_ptr());
    // SAFETY: each index below the length is handed out once, so each item is taken once.
    map(parallel, items.len(), |i| f(i, unsafe { (*start.get().add(i)).assume_init_read() }))
}

/// [`each`] of pieces of `grain` items, the last of which may have fewer; `f` is told the number of a piece.
pub fn each_piece<T: Send>(
    parallel: bool,
    items: &mut [T],
    grain: usize,
    f: impl Fn(usize, &mut [T]) + Sync,
) {
    let (start, n) = (Shared(items.as_mut_ptr()), items.len());
    each(parallel, n.div_ceil(grain), |i| {
        let first = i * grain;
        // SAFETY: pieces do not overlap, each is handed out once, and `items` is borrowed mutably.
        f(i, unsafe { std::slice::from_raw_parts_mut(start.get().add(first), grain.min(n - first)) });
    });
}

/// How many threads to link with: what was asked for, or what the machine (its affinity mask and, on
/// Linux, cgroup quota) and the size of the inputs, in bytes, call for.
pub fn choose_threads(requested: Option<usize>, input_bytes: u64) -> usize {
    match requested {
        Some(threads) => threads.max(1),
        None if input_bytes < ONE_THREAD_LIMIT => 1,
        None => {
            let available = std::thread::available_parallelism().map_or(1, |n| n.get());
            let useful = usize::try_from(input_bytes / BYTES_PER_THREAD).unwrap_or(usize::MAX);
            available.min(useful).min(MOST_THREADS)
        }
    }
}

/// Has `count` tasks do `work`, at least one, in the pool of the caller.
#[inline(never)]
pub fn tasks(count: usize, work: &(dyn Fn() + Sync)) {
    rayon::scope(|scope| {
        (1..count).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}

/// `[f(0), f(1), …]` up to `n`, by as many threads as may wait for a device at once. For work that takes
/// no processor time to speak of; outside any pool.
pub fn map_waiting<R: Send>(n: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    const WAITING: usize = 8;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return results;
            }
            results.push((i, f(i)));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..WAITING.min(n))
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut results = work();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// What `f` makes of runs of `grain` consecutive indices that together are `0..n`, in order. For loops deep
/// inside a link: runs in the pool of the caller and is the region `name` of its trace. If not `parallel`,
/// there is one run, so that what comes back need not be joined.
pub fn runs<R: Send>(
    name: &'static str,
    parallel: bool,
    n: usize,
    grain: usize,
    f: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let region = trace::region(name);
    let run = |range: Range<usize>| {
        let _task = region.task();
        f(range)
    };
    if !parallel || n <= grain {
        return vec![run(0..n)];
    }
    map(true, n.div_ceil(grain), |i| run(i * grain..n.min((i + 1) * grain)))
}

/// Hands to `take`, in order, what `f` makes of runs of `grain` consecutive indices that together are `0..n`.
/// For loops inside tasks: cut whether `parallel` or not, so that what comes of it depends on `n` only; if
/// that is one run, there is no region, and nothing is allocated.
pub fn in_runs<R: Send>(
    name: &'static str,
    parallel: bool,
    (n, grain): (usize, usize),
    f: impl Fn(Range<usize>) -> R + Sync,
    mut take: impl FnMut(R),
) {
    if n <= grain {
        return take(f(0..n));
    }
    let region = trace::region(name);
    let run = |i: usize| {
        let _task = region.task();
        f(i * grain..n.min((i + 1) * grain))
    };
    let runs = n.div_ceil(grain);
    match parallel {
        true => map(true, runs, run).into_iter().for_each(take),
        false => (0..runs).map(run).for_each(take),
    }
}

/// [`in_runs`] for items that are changed: `f` is told the index of a run's first one.
pub fn in_pieces<T: Send, R: Send>(
    name: &'static str,
    parallel: bool,
    (items, grain): (&mut [T], usize),
    f: impl Fn(usize, &mut [T]) -> R + Sync,
    mut take: impl FnMut(R),
) {
    if items.len() <= grain {
        return take(f(0, items));
    }
    let region = trace::region(name);
    let run = |i: usize, piece: &mut [T]| {
        let _task = region.task();
        f(i * grain, piece)
    };
    let pieces = items.chunks_mut(grain);
    match parallel {
        true => map_owned(true, pieces.collect(), run).into_iter().for_each(take),
        false => pieces.enumerate().map(|(i, piece)| run(i, piece)).for_each(take),
    }
}

/// A list of `n` values, made in runs of `grain` like [`runs`]: `f` gives those of a run, one for each index,
/// and each is written where it stays.
///
/// # Panics
/// If `f` gives fewer.
pub fn list<T: Send, V: IntoIterator<Item = T>>(
    name: &'static str,
    parallel: bool,
    n: usize,
    grain: usize,
    f: impl Fn(Range<usize>) -> V + Sync,
) -> Vec<T> {
    let mut all = Vec::with_capacity(n);
    let places = &mut all.spare_capacity_mut()[..n];
    let region = trace::region(name);
    let fill = |i: usize, place: &mut [MaybeUninit<T>]| {
        let _task = region.task();
        let start = i * grain;
        let mut values = f(start..start + place.len()).into_iter();
        for slot in place {
            slot.write(values.next().expect("a value for each index"));
        }
    };
    match parallel && n > grain {
        true => each_piece(true, places, grain, fill),
        false => fill(0, places),
    }
    // SAFETY: the places together are the first `n` elements, and each was written.
    unsafe { all.set_len(n) };
    all
}

/// A list of `n` times the same value, with room for `spare` more. A region like [`runs`].
pub fn filled<T: Copy + Send + Sync>(
    name: &'static str,
    parallel: bool,
    n: usize,
    spare: usize,
    value: T,
) -> Vec<T> {
    let mut all = Vec::with_capacity(n.saturating_add(spare));
    if !parallel {
        all.resize(n, value);
        return all;
    }
    let region = trace::region(name);
    each_piece(true, &mut all.spare_capacity_mut()[..n], SUM_GRAIN, |_, place| {
        let _task = region.task();
        place.iter_mut().for_each(|slot| _ = slot.write(value));
    });
    // SAFETY: the places are the first `n` elements, and each was written.
    unsafe { all.set_len(n) };
    all
}

/// The elements of all lists, one list after the other. A region like [`runs`], unless there is nothing to
/// join.
pub fn concat<T: Copy + Send + Sync>(name: &'static str, parallel: bool, mut lists: Vec<Vec<T>>) -> Vec<T> {
    if lists.len() <= 1 {
        return lists.pop().unwrap_or_default();
    }
    let total = lists.iter().map(Vec::len).sum();
    let mut all = Vec::with_capacity(total);
    let mut rest = &mut all.spare_capacity_mut()[..total];
    let mut places = Vec::with_capacity(lists.len());
    for list in &lists {
        let (place, after) = rest.split_at_mut(list.len());
        places.push((place, list));
        rest = after;
    }
    let region = trace::region(name);
    each_mut(parallel, &mut places, |_, (place, list)| {
        let _task = region.task();
        place.write_copy_of_slice(list);
    });
    // SAFETY: the places together are the first `total` elements, and each was written.
    unsafe { all.set_len(total) };
    all
}

/// Replaces each value by the sum of those before it and returns the sum of all; `None` (and
/// unspecified values) if that is above `u64::MAX`.
pub fn prefix_sums(pool: &Pool, values: &mut [u64]) -> Option<u64> {
    let n = values.len();
    if pool.threads == 1 || n <= SUM_GRAIN {
        return sums_from(0, values);
    }
    let run = |i: usize| i * SUM_GRAIN..n.min((i + 1) * SUM_GRAIN);
    let runs = n.div_ceil(SUM_GRAIN);
    let total_of = |i| values[run(i)].iter().try_fold(0u64, |a, &b: &u64| a.checked_add(b));
    let totals = pool.install(|| map(true, runs, total_of));
    let mut totals = totals.into_iter().collect::<Option<Vec<u64>>>()?;
    let total = sums_from(0, &mut totals)?;
    // The total did not overflow, so no part of it does.
    pool.install(|| each_piece(true, values, SUM_GRAIN, |i, part| _ = sums_from(totals[i], part)));
    Some(total)
}

fn sums_from(start: u64, values: &mut [u64]) -> Option<u64> {
    values.iter_mut().try_fold(start, |sum, value| {
        let next = sum.checked_add(*value)?;
        *value = sum;
        Some(next)
    })
}

/// A pointer that several threads may have; what they do with it is for its user to justify.
struct Shared<T>(*mut T);

// SAFETY: see where it is used: items are moved between threads as `T: Send` allows.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn pools() -> [Pool; 4] {
        [0, 1, 2, 5].map(|threads| Pool::new(threads, &Trace::new(false)))
    }

    #[test]
    fn each_index_once() {
        for pool in pools() {
            for (n, grain) in [(0, 1), (1, 1), (10, 3), (1000, 7), (5, 0), (7, usize::MAX)] {
                let seen: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
                let see = |i: usize| _ = seen[i].fetch_add(1, Ordering::Relaxed);
                pool.install(|| runs("runs", pool.threads() > 1, n, grain.max(1), |run| run.for_each(see)));
                assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1), "{n} {grain}");
                pool.install(|| each(pool.threads() > 1, n, see));
                assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 2), "{n}");
            }
        }
    }

    #[test]
    fn results_in_order_also_when_nested() {
        for pool in pools() {
            let want: Vec<Vec<usize>> = (0..50).map(|i| (0..i).map(|j| i * j).collect()).collect();
            let parallel = pool.threads() > 1;
            let run = || map(parallel, 50, |i| map(parallel, i, |j| i * j));
            assert_eq!(run(), want);
            assert_eq!(pool.install(run), want);
        }
    }

    #[test]
    fn waiting_threads_return_results_in_order() {
        for n in [0, 1, 5, 1000] {
            assert_eq!(map_waiting(n, |i| i * i), (0..n).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn items_are_changed_in_place() {
        for pool in pools() {
            let mut items: Vec<String> = (0..100).map(|i| i.to_string()).collect();
            pool.install(|| {
                each_mut(pool.threads() > 1, &mut items, |i, item| item.push_str(&format!("/{i}")))
            });
            assert!(items.iter().enumerate().all(|(i, item)| *item == format!("{i}/{i}")));
        }
    }

    #[test]
    fn sums_are_exclusive_and_checked() {
        for pool in pools() {
            let mut values = vec![3, 0, 5];
            assert_eq!(prefix_sums(&pool, &mut values), Some(8));
            assert_eq!(values, [0, 3, 3]);
            assert_eq!(prefix_sums(&pool, &mut []), Some(0));
            assert_eq!(prefix_sums(&pool, &mut [u64::MAX, 1]), None);
            let n = SUM_GRAIN as u64 * 3 + 5;
            let mut large: Vec<u64> = (0..n).collect();
            assert_eq!(prefix_sums(&pool, &mut large), Some(n * (n - 1) / 2));
            assert!((0..n).all(|i| large[i as usize] == i * i.saturating_sub(1) / 2));
            let mut overflow = vec![0; n as usize];
            overflow[0] = u64::MAX;
            overflow[n as usize - 1] = 1;
            assert_eq!(prefix_sums(&pool, &mut overflow), None);
        }
    }

    #[test]
    fn runs_are_joined_in_order() {
        for pool in pools() {
            for (n, grain) in [(0, 4), (1, 4), (4, 4), (5, 4), (1000, 7)] {
                for parallel in [false, true] {
                    let lists = pool.install(|| runs("runs", parallel, n, grain, |r| r.collect::<Vec<_>>()));
                    assert_eq!(lists.len(), if parallel { n.div_ceil(grain).max(1) } else { 1 });
                    let all = pool.install(|| concat("concat", parallel, lists));
                    assert_eq!(all, (0..n).collect::<Vec<_>>());
                }
            }
            assert_eq!(concat::<u8>("concat", true, vec![]), []);
            assert_eq!(concat("concat", false, vec![vec![], vec![1], vec![], vec![2, 3]]), [1, 2, 3]);
        }
    }

    #[test]
    fn large_loops_are_cut_for_one_thread_too() {
        for pool in pools() {
            for (n, grain) in [(0, 4), (1, 4), (4, 4), (5, 4), (1000, 7)] {
                for parallel in [false, true] {
                    let (mut ranges, mut starts, mut items) = (Vec::new(), Vec::new(), vec![0; n]);
                    pool.install(|| in_runs("runs", parallel, (n, grain), |run| run, |run| ranges.push(run)));
                    assert_eq!(ranges.len(), n.div_ceil(grain).max(1));
                    assert!(ranges.iter().cloned().flatten().eq(0..n));
                    let number = |first: usize, items: &mut [usize]| {
                        items.iter_mut().enumerate().for_each(|(i, item)| *item = first + i);
                        first..first + items.len()
                    };
                    let items_of = (&mut items[..], grain);
                    pool.install(|| in_pieces("pieces", parallel, items_of, number, |run| starts.push(run)));
                    assert_eq!(starts, ranges);
                    assert!(items.into_iter().eq(0..n));
                }
            }
        }
    }

    #[test]
    fn both_sides_of_a_join() {
        for pool in pools() {
            assert_eq!(pool.join(|| 1, || "b"), (1, "b"));
            for parallel in [false, true] {
                assert_eq!(pool.install(|| both(parallel, || vec![1], || "b")), (vec![1], "b"));
            }
        }
    }

    #[test]
    fn items_are_taken_and_pieces_changed_once() {
        for (pool, parallel) in pools().iter().flat_map(|pool| [(pool, false), (pool, true)]) {
            for n in [0, 1, 2, 100] {
                let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
                let taken = pool.install(|| map_owned(parallel, texts.clone(), |i, text| (i, text)));
                assert!(taken.into_iter().eq(texts.into_iter().enumerate()));
                let mut items = vec![0; n];
                let number =
                    |piece: usize, items: &mut [usize]| items.iter_mut().for_each(|item| *item += piece + 1);
                pool.install(|| each_piece(parallel, &mut items, 7, number));
                assert!(items.into_iter().eq((0..n).map(|i| i / 7 + 1)));
                assert_eq!(pool.install(|| map(parallel, n, |_| ())).len(), n);
            }
        }
    }

    #[test]
    fn threads_by_request_and_by_size() {
        assert_eq!(choose_threads(Some(0), 0), 1);
        assert_eq!(choose_threads(Some(7), 0), 7);
        assert_eq!(choose_threads(None, ONE_THREAD_LIMIT - 1), 1);
        let available = std::thread::available_parallelism().unwrap().get();
        assert_eq!(choose_threads(None, ONE_THREAD_LIMIT), available.min(2));
        assert_eq!(choose_threads(None, u64::MAX), available.min(MOST_THREADS));
    }
}
