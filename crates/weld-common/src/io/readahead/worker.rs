//! The threads that ask: a queue of ranges of mapped files, in the order in which a link needs them.
//!
//! 1. *Ends* of archive members, a few members ahead of the next step, which reads them. Members of one
//!    request or less are asked for whole.
//! 2. *Index data* of files and members: their headers are read, which may be waiting, and say where it is.
//! 3. *Early* contents, once everything that the command line names is open, and as long as there is room.
//! 4. The rest of the contents, likewise.
//!
//! What a device has been asked for cannot be overtaken, so contents are asked for bit by bit: a thread waits
//! for one before it asks for the next. Index data of the members that the link finds out to need meanwhile
//! is then never far after.
//!
//! A thread is woken only if it waits and has something to do: a wake-up is a system call, and a link can
//! have tens of thousands of files.

use std::collections::VecDeque;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{HEAD, Headers, TAIL, WHOLE};
use crate::io::page_cache::PageCache;

/// Ends are asked for of so many members before the headers of the first are looked at.
const AHEAD: usize = 64;

/// A thread waits after it asked for so many bytes of contents: at least, and if the device is fast.
pub(super) const BIT: usize = 128 << 10;
const LARGEST_BIT: usize = 1 << 20;

/// Waiting for less than this is not worth a wake-up: the next bits are larger.
const SHORT: Duration = Duration::from_micros(250);

/// Who needs something else now waits about as long: the next bits are smaller.
const LONG: Duration = Duration::from_millis(1);

pub(super) struct Worker {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    start: Instant,
}

/// Bytes of a mapping that stays as long as the threads.
#[derive(Clone, Copy)]
pub(super) struct Span(NonNull<[u8]>);

// SAFETY: the bytes are not written by this process.
unsafe impl Send for Span {}

impl Span {
    /// The bytes must stay as they are until the [`Worker`] is dropped.
    pub fn new(bytes: &[u8]) -> Span {
        Span(bytes.into())
    }

    fn len(self) -> u64 {
        self.0.len() as u64
    }
}

#[derive(Default)]
struct Queue {
    /// Members.
    ends: VecDeque<Span>,
    index: VecDeque<Indexed>,
    /// Files and members whose early contents have not been asked for.
    early: VecDeque<Span>,
    contents: VecDeque<Span>,
    all_open: bool,
    stop: bool,
    /// Threads that wait for something to do.
    waiting: usize,
}

/// A file or member whose ends have been asked for.
struct Indexed {
    span: Span,
    /// Its contents will be needed too.
    wanted: bool,
}

struct Shared {
    cache: Arc<dyn PageCache>,
    headers: Headers,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Bytes.
    asked: AtomicU64,
    last: Mutex<Instant>,
}

enum Task {
    Ends(Span),
    Index(Indexed),
    Early(Span),
    Contents(Span),
}

/// A panic while a lock is held leaves nothing half-done here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    pub fn start(cache: Arc<dyn PageCache>, headers: Headers, threads: usize) -> Worker {
        let start = Instant::now();
        let shared = Arc::new(Shared {
            cache,
            headers,
            queue: Mutex::default(),
            wake: Condvar::new(),
            asked: AtomicU64::new(0),
            last: Mutex::new(start),
        });
        let room = shared.cache.room() / 2;
        let thread = |_| {
            let shared = shared.clone();
            // Without a thread only what is asked for when files are opened is.
            std::thread::Builder::new().name("weld-prefetch".into()).spawn(move || shared.run(room)).ok()
        };
        let threads = (0..threads).filter_map(thread).collect();
        Worker { shared, threads, start }
    }

    pub fn index(&self, file: Span) {
        self.push(|queue| queue.index.push_back(Indexed { span: file, wanted: false }));
    }

    /// Early and other contents of a file.
    pub fn contents(&self, file: Span) {
        self.push(|queue| queue.early.push_back(file));
    }

    /// Index data, then contents, of members of archives.
    pub fn members(&self, members: impl Iterator<Item = Span>) {
        self.push(|queue| queue.ends.extend(members));
    }

    pub fn all_open(&self) {
        self.push(|queue| queue.all_open = true);
    }

    pub fn ask(&self, len: u64, ask: impl FnOnce(&dyn PageCache)) {
        ask(&*self.shared.cache);
        self.shared.asked.fetch_add(len, Ordering::Relaxed);
    }

    /// Bytes asked for.
    pub fn asked(&self) -> u64 {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// When the first and the last request was made.
    pub fn times(&self) -> Range<Instant> {
        self.start..*lock(&self.shared.last)
    }

    #[cfg(test)]
    pub fn is_done(&self) -> bool {
        let queue = lock(&self.shared.queue);
        !queue.has_task() && queue.waiting == self.threads.len()
    }

    fn push(&self, change: impl FnOnce(&mut Queue)) {
        let mut queue = lock(&self.shared.queue);
        change(&mut queue);
        let wake = queue.waiting > 0 && (queue.stop || queue.has_task());
        let all = queue.stop || queue.ends.len() + queue.index.len() > 1;
        drop(queue);
        match wake {
            true if all => self.shared.wake.notify_all(),
            true => self.shared.wake.notify_one(),
            false => {}
        }
    }
}

/// Waits for the threads: they must not look at mappings that go away.
impl Drop for Worker {
    fn drop(&mut self) {
        self.push(|queue| queue.stop = true);
        for thread in self.threads.drain(..) {
            _ = thread.join();
        }
    }
}

impl Queue {
    fn has_task(&self) -> bool {
        !self.ends.is_empty()
            || !self.index.is_empty()
            || (self.all_open && !(self.early.is_empty() && self.contents.is_empty()))
    }

    fn next(&mut self) -> Option<Task> {
        if self.index.len() < AHEAD
            && let Some(member) = self.ends.pop_front()
        {
            return Some(Task::Ends(member));
        }
        if let Some(indexed) = self.index.pop_front() {
            return Some(Task::Index(indexed));
        }
        if !self.all_open {
            return None;
        }
        self.early.pop_front().map(Task::Early).or_else(|| self.contents.pop_front().map(Task::Contents))
    }
}

/// How much of the contents is asked for before waiting for it. Bytes.
struct Pace {
    bit: usize,
    /// Since it waited last.
    asked: usize,
}

impl Pace {
    fn waited(&mut self, time: Duration) {
        self.asked = 0;
        if time < SHORT {
            self.bit = LARGEST_BIT.min(2 * self.bit);
        } else if time > LONG {
            self.bit = BIT.max(self.bit / 2);
        }
    }
}

impl Shared {
    fn run(&self, room: u64) {
        let mut pace = Pace { bit: BIT, asked: 0 };
        let mut behind: Option<&[u8]> = None;
        while let Some(task) = self.next() {
            if matches!(task, Task::Early(_) | Task::Contents(_))
                && let Some(urgent) = behind.take()
            {
                self.cache.wait(urgent);
            }
            let has_room = self.asked.load(Ordering::Relaxed) < room;
            match task {
                Task::Ends(member) if member.len() > WHOLE => {
                    let all = bytes(&member);
                    self.ask(&all[..HEAD as usize]);
                    self.ask(&all[all.len() - TAIL as usize..]);
                    lock(&self.queue).index.push_back(Indexed { span: member, wanted: true });
                }
                Task::Index(Indexed { span, wanted }) => {
                    let all = bytes(&span);
                    for range in (self.headers)(all).index {
                        let urgent = all.get(range).unwrap_or_default();
                        self.ask(urgent);
                        behind = Some(urgent);
                    }
                    if wanted {
                        lock(&self.queue).early.push_back(span);
                    }
                }
                Task::Ends(member) if has_room => {
                    self.ask(bytes(&member));
                    behind = Some(bytes(&member));
                }
                Task::Early(span) if has_room => {
                    let all = bytes(&span);
                    let parts = (self.headers)(all);
                    for range in parts.early {
                        self.ask_bits(all.get(range).unwrap_or_default(), &mut pace);
                    }
                    if !parts.no_more {
                        lock(&self.queue).contents.push_back(span);
                    }
                }
                Task::Contents(span) if has_room => self.ask_bits(bytes(&span), &mut pace),
                Task::Ends(_) | Task::Early(_) | Task::Contents(_) => {}
            }
            *lock(&self.last) = Instant::now();
        }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.stop {
                return None;
            }
            if let Some(task) = queue.next() {
                return Some(task);
            }
            queue.waiting += 1;
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    /// Asks, and waits each time that enough was asked for since it waited last. Ends early if nobody wants
    /// the bytes any more: there can be gigabytes of them.
    fn ask_bits(&self, mut bytes: &[u8], pace: &mut Pace) {
        while !bytes.is_empty() && !lock(&self.queue).stop {
            let (bit, rest) = bytes.split_at(bytes.len().min(pace.bit));
            self.ask(bit);
            pace.asked += bit.len();
            if pace.asked >= pace.bit {
                pace.waited(self.cache.wait(bit));
            }
            bytes = rest;
        }
    }

    fn ask(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.cache.ask_mapped(bytes);
            self.asked.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    }
}

fn bytes<'a>(span: &Span) -> &'a [u8] {
    // SAFETY: whoever made the span keeps the bytes until the threads have ended.
    unsafe { span.0.as_ref() }
}
