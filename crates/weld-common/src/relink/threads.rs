//! Work on a list that several threads do. Relinks take milliseconds, so there is no pool: threads are started where
//! they are worth it, and where none can be had, the one that is there does it all.

use std::thread;

/// Threads for so many things, `enough` of which are worth one more: no more than there are processors, or `most`.
pub fn count(things: usize, enough: usize, most: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (things / enough).clamp(1, most.min(cores))
}

/// What `of_run` makes of each part of a list, in order, that is divided among so many threads.
pub fn in_runs<T: Sync, R: Send>(list: &[T], threads: usize, of_run: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let mut runs = list.chunks(list.len().div_ceil(threads).max(1));
    let own = runs.next().unwrap_or_default();
    let of_run = &of_run;
    thread::scope(|scope| {
        let start = |run| (run, thread::Builder::new().spawn_scoped(scope, move || of_run(run)));
        let others: Vec<_> = runs.map(start).collect();
        let mut found = vec![of_run(own)];
        for (run, other) in others {
            // Without another thread, this one does it.
            let one = other.ok().and_then(|thread| thread.join().ok());
            found.push(one.unwrap_or_else(|| of_run(run)));
        }
        found
    })
}

/// What is found of each of a list.
pub fn of_each<T: Sync, R: Send>(list: &[T], threads: usize, find: impl Fn(&T) -> R + Sync) -> Vec<R> {
    in_runs(list, threads, |run| run.iter().map(&find).collect::<Vec<R>>()).into_iter().flatten().collect()
}
