//! Hands the items of a phase to worker threads.
//!
//! One rayon task a thread, not one an item: each takes the next item from an atomic counter and
//! keeps its scratch memory from item to item. Results come back in the order of the items, so
//! nothing depends on which thread did what. One thread means a plain loop.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `f` of each item, in order; `name` is that of the region in traces. `S` is the scratch memory that a
/// thread reuses.
pub fn run<S, T, R>(
    name: &'static str,
    threads: usize,
    items: Vec<T>,
    f: impl Fn(&mut S, T) -> R + Sync,
) -> Vec<R>
where
    S: Default,
    T: Send,
    R: Send,
{
    let region = crate::trace::region(name);
    let f = |scratch: &mut S, item: T| {
        let _task = region.task();
        f(scratch, item)
    };
    if threads <= 1 || items.len() <= 1 {
        let mut scratch = S::default();
        return items.into_iter().map(|item| f(&mut scratch, item)).collect();
    }
    let count = items.len();
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    crate::par::tasks(threads.min(count), &|| {
        let mut scratch = S::default();
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // The lock is never contended: no other thread gets this index.
            let Some(item) = items.get(index).and_then(|i| lock(i).take()) else { break };
            mine.push((index, f(&mut scratch, item)));
        }
        lock(&done).append(&mut mine);
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic elsewhere passes through the tasks and discards everything.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        for threads in [0, 1, 2, 8] {
            let items: Vec<u32> = (0..1000).collect();
            let squares = run("squares", threads, items, |seen: &mut u32, i| {
                *seen += 1;
                i * i
            });
            assert!(squares.iter().enumerate().all(|(i, &s)| s as usize == i * i));
            assert_eq!(squares.len(), 1000);
        }
    }
}
