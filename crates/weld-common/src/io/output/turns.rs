//! One thread at a time writes; what the others have is left to it.
//!
//! A file system lets one thread at a time write to a file. Threads that try meanwhile spend their time
//! trying (up to a sixth of a link's), so they leave what is to be written here and go on.

use std::io;
use std::sync::{Condvar, Mutex};

/// So many items may wait for the thread that writes; who has more waits himself.
const MOST_WAITING: usize = 4;

pub struct Turns<T> {
    state: Mutex<State<T>>,
    /// Something that waited is being written.
    room: Condvar,
}

struct State<T> {
    taken: bool,
    waiting: Vec<T>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Turns { state: Mutex::new(State { taken: false, waiting: Vec::new() }), room: Condvar::new() }
    }
}

impl<T> Turns<T> {
    /// Has `write` done for `item`, and then for items that others left; or leaves `item` to a thread that is
    /// at it already. All are written when all calls have returned.
    ///
    /// # Errors
    /// The first that this call meets. It tries no more of what it was left, so the file is not whole.
    pub fn write(&self, item: T, mut write: impl FnMut(T) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        while state.taken && state.waiting.len() >= MOST_WAITING {
            state = self.room.wait(state).unwrap();
        }
        if state.taken {
            state.waiting.push(item);
            return Ok(());
        }
        state.taken = true;
        drop(state);
        let mut written = write(item);
        loop {
            let mut state = self.state.lock().unwrap();
            let full = state.waiting.len() >= MOST_WAITING;
            // The one left last is the one most likely in a cache.
            let Some(next) = state.waiting.pop() else {
                state.taken = false;
                return written;
            };
            drop(state);
            if full {
                self.room.notify_all();
            }
            written = written.and_then(|()| write(next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn each_item_is_written_once_and_one_at_a_time() {
        let turns = Turns::default();
        let (busy, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|s| {
            for t in 0..8 {
                let (turns, busy, done) = (&turns, &busy, &done);
                s.spawn(move || {
                    for i in 0..200 {
                        let write = |item| {
                            assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0);
                            thread::yield_now();
                            done.lock().unwrap().push(item);
                            busy.fetch_sub(1, Ordering::SeqCst);
                            Ok(())
                        };
                        turns.write(t * 200 + i, write).unwrap();
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..1600));
    }

    #[test]
    fn an_error_of_what_others_left_is_told_and_nobody_is_left_waiting() {
        let turns = Turns::default();
        let errors = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    for _ in 0..50 {
                        let full = |()| {
                            thread::yield_now();
                            Err(io::ErrorKind::StorageFull.into())
                        };
                        errors.fetch_add(turns.write((), full).is_err() as usize, Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(errors.into_inner() > 0);
        turns.write((), |()| Ok(())).unwrap();
    }
}
