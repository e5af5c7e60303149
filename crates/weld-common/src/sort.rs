//! Sorting on many threads: by comparison, or by the number of a bucket.
//!
//! Both deal the items out first. Runs of items are put in the order of *parts*, each run by one thread
//! in a list of its own; then each part is gathered from all runs, where it stays, and sorted by one thread.
//! So every step is parallel (rayon's own sorts split the whole list by one thread, then each half by one),
//! threads share nothing, and an item is moved twice before it is sorted. What comes out depends on the items
//! only.
//!
//! - [`by`] compares. Parts are the ranges between samples of the items.
//! - [`by_bucket`] counts: parts are ranges of buckets, small enough for the counters and the items of a part
//!   to stay in the cache. Linear, and stable.

use std::cmp::Ordering;

use crate::{par, trace};

/// Items of a part, about.
const PART: usize = 4096;
/// At most so many parts: one cache line each for their ends.
const MOST_PARTS: usize = 256;
/// Samples for each part: enough for parts of about the same size.
const SAMPLES: usize = 16;
/// Items dealt out in one go.
const RUN: usize = 1 << 14;

/// The items in the order of `compare`, which finds only those equal that nothing tells apart.
pub fn by<T: Copy + Send + Sync>(
    mut items: Vec<T>,
    parallel: bool,
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) -> Vec<T> {
    let parts = parts(items.len());
    if !parallel || parts == 1 {
        items.sort_unstable_by(compare);
        return items;
    }
    let step = items.len() / (parts * SAMPLES);
    let mut samples: Vec<T> = items.iter().step_by(step).copied().collect();
    samples.sort_unstable_by(&compare);
    let borders: Vec<T> = (1..parts).map(|i| samples[i * samples.len() / parts]).collect();
    let part = |item: &T| borders.partition_point(|border| compare(border, item).is_le());
    in_parts(items, parts, parallel, part, |items, _| items.sort_unstable_by(&compare))
}

/// The items in the order of their buckets, which are below `buckets`; those of one bucket in the order they
/// had.
pub fn by_bucket<T: Copy + Send + Sync>(
    items: Vec<T>,
    buckets: u32,
    parallel: bool,
    bucket: impl Fn(&T) -> u32 + Sync,
) -> Vec<T> {
    let most = parts(items.len()) as u32;
    // A part is a range of buckets that is a power of two long.
    let size = buckets.div_ceil(most).max(1).next_power_of_two();
    let shift = size.trailing_zeros();
    let parts = buckets.div_ceil(size).max(1) as usize;
    let sort = |items: &mut [T], part: usize| {
        let first = (part as u32) << shift;
        let dealt = deal(items, size as usize, |item| (bucket(item) - first) as usize);
        items.copy_from_slice(&dealt.items);
    };
    in_parts(items, parts, parallel, |item| (bucket(item) >> shift) as usize, sort)
}

/// How many parts to make of so many items.
fn parts(items: usize) -> usize {
    (items / PART).clamp(1, MOST_PARTS)
}

/// The items of each part, put in order by `sort`, one part after the other.
fn in_parts<T: Copy + Send + Sync>(
    mut items: Vec<T>,
    parts: usize,
    parallel: bool,
    part: impl Fn(&T) -> usize + Sync,
    sort: impl Fn(&mut [T], usize) + Sync,
) -> Vec<T> {
    if parts == 1 {
        sort(&mut items, 0);
        return items;
    }
    let n = items.len();
    let dealt = par::runs("deal out to sort", parallel, n, RUN, |run| deal(&items[run], parts, &part));
    // All of them are in `dealt`, so that the memory serves once more.
    let mut rest = &mut items[..];
    let mut places = Vec::with_capacity(parts);
    for part in 0..parts {
        let (place, behind) = rest.split_at_mut(dealt.iter().map(|run| run.range(part).len()).sum());
        places.push(place);
        rest = behind;
    }
    let region = trace::region("sort");
    par::each_mut(parallel, &mut places, |part, place| {
        let _task = region.task();
        let mut at = 0;
        for run in &dealt {
            let items = &run.items[run.range(part)];
            place[at..at + items.len()].copy_from_slice(items);
            at += items.len();
        }
        sort(place, part);
    });
    drop(region);
    items
}

/// Items in the order of parts.
struct Dealt<T> {
    items: Vec<T>,
    /// Where in `items` each part ends.
    ends: Vec<u32>,
}

impl<T> Dealt<T> {
    fn range(&self, part: usize) -> std::ops::Range<usize> {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[part] as usize
    }
}

/// Puts items in the order of parts, those of one part in the order they had.
fn deal<T: Copy>(items: &[T], parts: usize, part: impl Fn(&T) -> usize) -> Dealt<T> {
    let numbers: Vec<u32> = items.iter().map(|item| part(item) as u32).collect();
    let mut next = vec![0u32; parts + 1];
    for &number in &numbers {
        next[number as usize + 1] += 1;
    }
    for i in 1..parts {
        next[i] += next[i - 1];
    }
    let mut dealt = items.to_vec();
    for (item, &number) in items.iter().zip(&numbers) {
        let place = &mut next[number as usize];
        dealt[*place as usize] = *item;
        *place += 1;
    }
    next.pop();
    Dealt { items: dealt, ends: next }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    /// Numbers below `below`, the same ones each time.
    fn random(count: usize, below: u64) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        (0..count).map(|_| next()).collect()
    }

    fn each_way(check: impl Fn(bool) + Sync) {
        check(false);
        for threads in [1, 2, 7] {
            par::Pool::new(threads, &Trace::new(false)).install(|| check(true));
        }
    }

    #[test]
    fn like_the_standard_sort() {
        for (count, below) in
            [(0, 1), (1, 1), (5000, u64::MAX), (100_000, u64::MAX), (100_000, 3), (40_000, 1000)]
        {
            let items = random(count, below);
            let mut want = items.clone();
            want.sort_unstable();
            each_way(|parallel| assert!(by(items.clone(), parallel, u64::cmp) == want, "{count} {below}"));
        }
        let descending: Vec<u64> = (0..50_000).rev().collect();
        each_way(|parallel| assert!(by(descending.clone(), parallel, u64::cmp).is_sorted()));
    }

    #[test]
    fn buckets_keep_the_order_of_their_items() {
        for (count, buckets) in
            [(0, 1), (1, 1), (10, 100), (5000, 7), (100_000, 1), (100_000, 25_000), (9000, 1 << 20)]
        {
            let items: Vec<(u32, u32)> =
                random(count, buckets).into_iter().zip(0..).map(|(bucket, i)| (bucket as u32, i)).collect();
            let mut want = items.clone();
            want.sort_by_key(|item| item.0);
            each_way(|parallel| {
                let got = by_bucket(items.clone(), buckets as u32, parallel, |item| item.0);
                assert!(got == want, "{count} {buckets}");
            });
        }
    }
}
