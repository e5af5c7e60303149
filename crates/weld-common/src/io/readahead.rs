//! Asks for inputs that are not in memory before the link needs them (`--prefetch`).
//!
//! A link waits longest for a device when it asks for one thing at a time. So a file that is found cold is
//! asked for when it is opened: all of it if it is small, else its ends, where formats say what is in it.
//! A thread then asks for the rest, in this order:
//!
//! 1. *index data* of each file: what has to be read before anything can be resolved (section headers,
//!    symbol and string tables, archive indices; the format's crate says where they are),
//! 2. *contents*, as the link finds out that it needs them ([`Readahead::will_need`]): objects in the order of
//!    the command line once all are open, archive members when they are extracted.
//!
//! After a build everything is in memory, and then nothing of this may cost: `auto` asks the kernel about
//! the first of every 16 files and about large ones, and only once one of them is missing about all. No thread is
//! started and nothing asked for before that. It is asked about a file's first pages only: every link reads
//! them, while of archives and shared objects other parts may never have been read.
//!
//! What is asked for ahead must not displace what is in use: contents are asked for up to half of the memory
//! that is free for it. And if inputs and output do not fit into memory together, the kernel is told not
//! to read around the pages that the link touches ([`Readahead::is_tight`]): it would fill memory with others.

use std::collections::VecDeque;
use std::fs::File;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::page_cache::{PageCache, Residency, System};

/// `--prefetch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Prefetch {
    /// What the kernel says is missing.
    #[default]
    Auto,
    /// Everything, without asking.
    On,
    Off,
}

/// Where the index data of a file is, as far as its headers tell. Runs on the prefetching thread, which
/// may wait for the headers.
pub type Index = fn(&[u8]) -> Vec<Range<usize>>;

/// As long as nothing was missing, one file of so many is asked about.
const SAMPLE: usize = 16;

/// Files of so many bytes are always asked about: that is nothing beside the rest of their cost.
const LARGE: u64 = 1 << 20;

/// The kernel is asked about so many bytes at the beginning of a file.
const LOOK: u64 = 16 << 10;

/// Files of at most so many bytes are asked for whole when they are opened.
const WHOLE: u64 = 128 << 10;

/// Inputs of fewer bytes are not what memory runs out of.
const WORTH_ASKING: u64 = 64 << 20;

/// Bytes asked for at the beginning and at the end of larger files.
const HEAD: u64 = 16 << 10;
const TAIL: u64 = 64 << 10;

pub struct Readahead {
    prefetch: Prefetch,
    index: Index,
    cache: Arc<dyn PageCache>,
    /// Something was missing, or everything is to be asked for.
    cold: AtomicBool,
    /// Files that were opened.
    seen: AtomicUsize,
    /// Files that the kernel was asked about, and those of them that were not in memory.
    asked_about: AtomicUsize,
    missing: AtomicUsize,
    tight: AtomicBool,
    worker: OnceLock<Worker>,
}

impl Readahead {
    pub fn new(prefetch: Prefetch, index: Index) -> Readahead {
        Self::with(prefetch, index, Arc::new(System))
    }

    fn with(prefetch: Prefetch, index: Index, cache: Arc<dyn PageCache>) -> Readahead {
        Readahead {
            prefetch,
            index,
            cache,
            cold: AtomicBool::new(false),
            seen: AtomicUsize::new(0),
            asked_about: AtomicUsize::new(0),
            missing: AtomicUsize::new(0),
            tight: AtomicBool::new(false),
            worker: OnceLock::new(),
        }
    }

    /// Whether a file has been found missing: opening the next ones will be waiting.
    pub fn is_cold(&self) -> bool {
        self.cold.load(Ordering::Relaxed)
    }

    /// A file of `len` bytes was opened. `true` if it is not in memory; then it is asked for, or its ends
    /// are, and reading it now would be waiting.
    pub fn opened(&self, file: &File, len: u64) -> bool {
        if len == 0 || !self.is_missing(file, len) {
            return false;
        }
        self.cold.store(true, Ordering::Relaxed);
        if len <= WHOLE {
            self.worker().ask_file(file, 0, len);
        } else {
            self.worker().ask_file(file, 0, HEAD);
            self.worker().ask_file(file, len - TAIL, TAIL);
        }
        true
    }

    fn is_missing(&self, file: &File, len: u64) -> bool {
        match self.prefetch {
            Prefetch::Off => return false,
            Prefetch::On => return true,
            Prefetch::Auto => {}
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        if !self.is_cold() && !number.is_multiple_of(SAMPLE) && len < LARGE {
            return false;
        }
        let Some(Residency { resident, pages }) = self.cache.residency(file, len.min(LOOK)) else {
            return false;
        };
        self.asked_about.fetch_add(1, Ordering::Relaxed);
        let missing = resident < pages;
        self.missing.fetch_add(usize::from(missing), Ordering::Relaxed);
        missing
    }

    /// A file that [`Readahead::opened`] found missing is mapped now. Its bytes must stay until this value
    /// is dropped.
    pub fn mapped(&self, bytes: &[u8]) {
        if bytes.len() as u64 > WHOLE {
            self.worker().push(|queue| queue.index.push_back(Span(bytes.into())));
        }
    }

    /// The contents of a mapped file, or of a part of one, will be needed. Its bytes must stay until this
    /// value is dropped.
    pub fn will_need(&self, bytes: &[u8]) {
        if self.is_cold() {
            self.worker().push(|queue| queue.contents.push_back(Span(bytes.into())));
        }
    }

    /// Whether so many bytes of mapped inputs, and an output half as long, are more than memory has room for.
    /// Small links are not worth the question.
    pub fn is_tight(&self, bytes: u64) -> bool {
        let tight = bytes >= WORTH_ASKING && bytes + bytes / 2 > self.cache.room();
        self.tight.fetch_or(tight, Ordering::Relaxed);
        tight
    }

    /// What the command line names is open: contents may be asked for.
    pub fn all_open(&self) {
        if let Some(worker) = self.worker.get() {
            worker.push(|queue| queue.all_open = true);
        }
    }

    fn worker(&self) -> &Worker {
        self.worker.get_or_init(|| Worker::start(self.cache.clone(), self.index))
    }

    /// A line for `--stats`, and when the first and the last request was made.
    pub fn summary(&self) -> (String, Option<Range<Instant>>) {
        let about = self.asked_about.load(Ordering::Relaxed);
        let missing = self.missing.load(Ordering::Relaxed);
        let bytes = self.worker.get().map_or(0, |worker| worker.shared.asked.load(Ordering::Relaxed));
        let text = match self.prefetch {
            Prefetch::Off => "off".to_owned(),
            Prefetch::On => format!("asked for {bytes} bytes"),
            Prefetch::Auto => {
                format!("{missing} of {about} files looked at were not in memory; asked for {bytes} bytes")
            }
        };
        let tight = self.tight.load(Ordering::Relaxed);
        let text = if tight { text + "; memory is tight, files are read page by page" } else { text };
        let times = self.worker.get().map(|worker| {
            let last = *lock(&worker.shared.last);
            worker.start..last
        });
        (text, times)
    }
}

/// Waits for the thread: it must not look at mappings that go away.
impl Drop for Readahead {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.push(|queue| queue.stop = true);
            if let Some(thread) = worker.thread.take() {
                _ = thread.join();
            }
        }
    }
}

struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    start: Instant,
}

/// Bytes of a mapping that stays as long as the thread.
struct Span(NonNull<[u8]>);

// SAFETY: the bytes are not written by this process.
unsafe impl Send for Span {}

#[derive(Default)]
struct Queue {
    index: VecDeque<Span>,
    contents: VecDeque<Span>,
    all_open: bool,
    stop: bool,
}

struct Shared {
    cache: Arc<dyn PageCache>,
    index: Index,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Bytes.
    asked: AtomicU64,
    last: Mutex<Instant>,
}

enum Task {
    Index(Span),
    Contents(Span),
}

/// A panic while a lock is held leaves nothing half-done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    fn start(cache: Arc<dyn PageCache>, index: Index) -> Worker {
        let start = Instant::now();
        let shared = Arc::new(Shared {
            cache,
            index,
            queue: Mutex::default(),
            wake: Condvar::new(),
            asked: AtomicU64::new(0),
            last: Mutex::new(start),
        });
        let run = {
            let shared = shared.clone();
            move || shared.run()
        };
        // Without a thread only what is asked for when files are opened is.
        let thread = std::thread::Builder::new().name("weld-prefetch".into()).spawn(run).ok();
        Worker { shared, thread, start }
    }

    fn push(&self, change: impl FnOnce(&mut Queue)) {
        change(&mut lock(&self.shared.queue));
        self.shared.wake.notify_one();
    }

    fn ask_file(&self, file: &File, offset: u64, len: u64) {
        self.shared.cache.ask_file(file, offset, len);
        self.shared.asked.fetch_add(len, Ordering::Relaxed);
    }
}

impl Shared {
    fn run(&self) {
        let room = self.cache.room() / 2;
        while let Some(task) = self.next() {
            match task {
                Task::Index(Span(bytes)) => {
                    // SAFETY: whoever queued the bytes keeps them until this thread has ended.
                    let bytes = unsafe { bytes.as_ref() };
                    for range in (self.index)(bytes) {
                        self.ask(bytes.get(range).unwrap_or_default());
                    }
                }
                // SAFETY: as above.
                Task::Contents(Span(bytes)) => {
                    if self.asked.load(Ordering::Relaxed) < room {
                        self.ask(unsafe { bytes.as_ref() });
                    }
                }
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
            if let Some(span) = queue.index.pop_front() {
                return Some(Task::Index(span));
            }
            if queue.all_open
                && let Some(span) = queue.contents.pop_front()
            {
                return Some(Task::Contents(span));
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn ask(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.cache.ask_mapped(bytes);
            self.asked.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    /// A page cache of which a test says what is in it.
    struct Fake {
        /// Of 100 pages.
        resident: Option<u64>,
        room: u64,
        questions: AtomicUsize,
        asked: Mutex<Vec<(bool, u64)>>,
    }

    impl Fake {
        fn new(resident: Option<u64>, room: u64) -> Arc<Fake> {
            Arc::new(Fake { resident, room, questions: AtomicUsize::new(0), asked: Mutex::default() })
        }

        fn questions(&self) -> usize {
            self.questions.load(Ordering::Relaxed)
        }
    }

    impl PageCache for Fake {
        fn residency(&self, _: &File, _: u64) -> Option<Residency> {
            self.questions.fetch_add(1, Ordering::Relaxed);
            self.resident.map(|resident| Residency { resident, pages: 100 })
        }

        fn ask_file(&self, _: &File, _: u64, len: u64) {
            lock(&self.asked).push((false, len));
        }

        fn ask_mapped(&self, bytes: &[u8]) {
            lock(&self.asked).push((true, bytes.len() as u64));
        }

        fn room(&self) -> u64 {
            self.room
        }
    }

    /// Index data, for these tests.
    fn quarter(bytes: &[u8]) -> Vec<Range<usize>> {
        std::iter::once(0..bytes.len() / 4).collect()
    }

    /// Opens files of these lengths, says that all of their contents is needed, and ends when all is
    /// done. Returns for each whether it was missing, and what was asked for.
    fn run(prefetch: Prefetch, fake: &Arc<Fake>, lens: &[u64]) -> (Vec<bool>, Vec<(bool, u64)>) {
        let dir = TestDir::new(&format!("readahead-{:?}", std::thread::current().id()));
        std::fs::write(dir.join("f"), b"x").unwrap();
        let file = File::open(dir.join("f")).unwrap();
        let bytes: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0; len as usize]).collect();
        let readahead = Readahead::with(prefetch, quarter, fake.clone());
        let mut missing = Vec::new();
        for bytes in &bytes {
            missing.push(readahead.opened(&file, bytes.len() as u64));
            if missing.last() == Some(&true) {
                readahead.mapped(bytes);
            }
            readahead.will_need(bytes);
        }
        readahead.all_open();
        if let Some(worker) = readahead.worker.get() {
            while {
                let queue = lock(&worker.shared.queue);
                !queue.index.is_empty() || !queue.contents.is_empty()
            } {
                std::thread::yield_now();
            }
        }
        drop(readahead);
        let asked = std::mem::take(&mut *lock(&fake.asked));
        (missing, asked)
    }

    #[test]
    fn nothing_is_asked_for_when_all_is_in_memory() {
        for resident in [Some(100), None] {
            let fake = Fake::new(resident, u64::MAX);
            let (missing, asked) = run(Prefetch::Auto, &fake, &[5000; 100]);
            assert_eq!((missing, asked), (vec![false; 100], vec![]), "{resident:?}");
            assert_eq!(fake.questions(), 100usize.div_ceil(SAMPLE));
        }
    }

    #[test]
    fn large_files_are_always_asked_about() {
        let fake = Fake::new(Some(100), u64::MAX);
        run(Prefetch::Auto, &fake, &[5000, LARGE, 5000, LARGE + 1]);
        assert_eq!(fake.questions(), 3);
    }

    #[test]
    fn off_asks_nobody() {
        let fake = Fake::new(Some(0), u64::MAX);
        let (missing, asked) = run(Prefetch::Off, &fake, &[5000, LARGE]);
        assert_eq!((missing, asked, fake.questions()), (vec![false; 2], vec![], 0));
    }

    #[test]
    fn index_data_comes_before_contents() {
        for (prefetch, questions) in [(Prefetch::Auto, 3), (Prefetch::On, 0)] {
            let fake = Fake::new(Some(50), u64::MAX);
            let (missing, asked) = run(prefetch, &fake, &[400_000, 5000, 800_000]);
            assert_eq!(missing, [true; 3]);
            assert_eq!(fake.questions(), questions);
            let files: Vec<_> = asked.iter().filter(|(mapped, _)| !mapped).map(|a| a.1).collect();
            assert_eq!(files, [HEAD, TAIL, 5000, HEAD, TAIL]);
            let mapped: Vec<_> = asked.iter().filter(|(mapped, _)| *mapped).map(|a| a.1).collect();
            assert_eq!(mapped, [100_000, 200_000, 400_000, 5000, 800_000]);
        }
    }

    #[test]
    fn contents_only_as_long_as_there_is_room() {
        let fake = Fake::new(Some(0), 2_000_000);
        let (_, asked) = run(Prefetch::Auto, &fake, &[400_000; 10]);
        let readahead = Readahead::with(Prefetch::Auto, quarter, fake.clone());
        assert!(!readahead.is_tight(2_000_000) && !readahead.is_tight(WORTH_ASKING - 1));
        assert!(readahead.is_tight(WORTH_ASKING) && readahead.summary().0.contains("tight"));
        let ends = 10 * (HEAD + TAIL);
        let contents = asked.iter().filter(|a| **a == (true, 400_000)).count() as u64;
        assert_eq!(asked.iter().filter(|a| **a == (true, 100_000)).count(), 10);
        // The ends and the index data of all files are more than half of the room.
        assert!(ends + 10 * 100_000 > 1_000_000);
        assert_eq!(contents, 0);
        let fake = Fake::new(Some(0), 6_000_000);
        let (_, asked) = run(Prefetch::Auto, &fake, &[400_000; 10]);
        let contents = asked.iter().filter(|a| **a == (true, 400_000)).count() as u64;
        assert_eq!(contents, (3_000_000 - ends - 1_000_000).div_ceil(400_000));
    }
}
