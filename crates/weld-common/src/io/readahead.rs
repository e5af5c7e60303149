//! Asks for inputs that are not in memory before the link needs them (`--prefetch`).
//!
//! A link waits longest for a device when it asks for one thing at a time. So a file that is found cold is
//! asked for when it is opened: all of it if it is small, else its ends, where formats say what is in it.
//! Threads ([`worker`]) then ask for the rest, in this order:
//!
//! 1. *index data* of each file, and of archive members when they are extracted ([`Readahead::will_read`]):
//!    what has to be read before anything can be resolved (section headers, symbol and string tables, archive
//!    indices; the format's crate says where they are),
//! 2. *contents* of these members, and of other files that the link finds out to need
//!    ([`Readahead::will_need`]): of all of them first what is read early, then the rest.
//!
//! After a build everything is in memory, and then nothing of this may cost: `auto` asks the kernel about
//! the first of every 16 files and about large ones, and only once one of them is missing about all. No
//! thread is started and nothing asked for before that. After it, small files are asked for only if they are
//! missing. It is asked about a file's first pages only: every link reads them, while of archives and shared
//! objects other parts may never have been read.
//!
//! What is asked for ahead must not displace what is in use: contents are asked for up to half of the memory
//! that is free for it. And if inputs and output do not fit into memory together, the kernel is told not
//! to read around the pages that the link touches ([`Readahead::is_tight`]): it would fill memory with
//! others.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::archive::Archive;

use super::page_cache::{PageCache, Residency, System};
use worker::{Span, Worker};

mod worker;

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

impl Prefetch {
    /// What `--prefetch` takes.
    pub const CHOICES: [(&str, Prefetch); 3] =
        [("auto", Prefetch::Auto), ("on", Prefetch::On), ("off", Prefetch::Off)];
}

/// What will be read of a file.
pub enum Needed<'a> {
    /// All of it.
    File(&'a [u8]),
    /// A member of an archive.
    Member(&'a [u8]),
}

/// What the headers of a file, or of a member of an archive with its header, say of it. Ranges of bytes,
/// ascending and disjoint. What headers say need not be true: a wrong range is asked for in vain, or not at
/// all.
#[derive(Default)]
pub struct Parts {
    /// Read before symbols can be resolved.
    pub index: Vec<Range<usize>>,
    /// Contents that are read before the output's layout is known.
    pub early: Vec<Range<usize>>,
    /// Nothing else is read; otherwise the rest is read after the layout.
    pub no_more: bool,
}

/// Ranges that are less than this apart are one: reading what lies between costs less than another request.
pub const GAP: usize = 16 << 10;

impl Parts {
    pub fn new(
        index: impl IntoIterator<Item = Range<usize>>,
        early: impl IntoIterator<Item = Range<usize>>,
    ) -> Parts {
        Parts { index: merge(index), early: merge(early), no_more: false }
    }

    /// Of an object, an archive, of which the index is read, or a member with its header. `of_object` is
    /// given what may be an object, and where its ranges begin.
    pub fn of(data: &[u8], of_object: impl Fn(&[u8], usize) -> Option<Parts>) -> Parts {
        if let Some(index) = Archive::first_member(data) {
            return Parts::new([index], []);
        }
        let member = || Archive::data_of_member(data);
        let of_member = || member().and_then(|member| of_object(&data[member.clone()], member.start));
        of_object(data, 0).or_else(of_member).unwrap_or_default()
    }
}

fn merge(all: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    // Objects have thousands of sections, of which most lie next to the one before.
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for range in all.into_iter().filter(|range| !range.is_empty()) {
        match ranges.last_mut() {
            Some(last) if range.start <= last.end + GAP && last.start <= range.end + GAP => {
                *last = last.start.min(range.start)..last.end.max(range.end);
            }
            _ => ranges.push(range),
        }
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let near = next.start <= last.end + GAP;
        if near {
            last.end = last.end.max(next.end);
        }
        near
    });
    ranges
}

/// Runs on a prefetching thread, which may wait for the headers.
pub type Headers = fn(&[u8]) -> Parts;

/// As long as nothing was missing, one file of so many is asked about.
const SAMPLE: usize = 16;

/// Files of so many bytes are always asked about: that is nothing beside the rest of their cost.
const LARGE: u64 = 1 << 20;

/// The kernel is asked about so many bytes at the beginning of a file.
const LOOK: u64 = 16 << 10;

/// Files of at most so many bytes are asked for whole when they are opened, or are read then.
pub(super) const WHOLE: u64 = 128 << 10;

/// Inputs of fewer bytes are not what memory runs out of.
const WORTH_ASKING: u64 = 64 << 20;

/// Threads that ask: one waits while another asks.
const THREADS: usize = 2;

/// Bytes asked for at the beginning and at the end of larger files.
const HEAD: u64 = 16 << 10;
const TAIL: u64 = 64 << 10;

pub struct Readahead {
    prefetch: Prefetch,
    headers: Headers,
    threads: usize,
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
    pub fn new(prefetch: Prefetch, headers: Headers) -> Readahead {
        Self::with(prefetch, headers, THREADS, Arc::new(System))
    }

    fn with(prefetch: Prefetch, headers: Headers, threads: usize, cache: Arc<dyn PageCache>) -> Readahead {
        Readahead {
            prefetch,
            headers,
            threads,
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

    /// A file of `len` bytes was opened by the name `path`. `true` if it is not in memory; then it is asked
    /// for, or its ends are, and reading it now would be waiting.
    pub fn opened(&self, file: &File, path: &Path, len: u64) -> bool {
        if len == 0 || !self.is_missing(file, len) {
            return false;
        }
        self.cold.store(true, Ordering::Relaxed);
        if len <= WHOLE {
            self.ask_file(file, 0, len);
        } else {
            self.ask_file(file, 0, HEAD);
            if !is_archive(path) {
                self.ask_file(file, len - TAIL, TAIL);
            }
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
            self.worker().index(Span::new(bytes));
        }
    }

    /// The contents of a mapped file will be needed. Its bytes must stay until this value is dropped.
    ///
    /// Small files were read when they were opened, or asked for then.
    pub fn will_need(&self, file: &[u8]) {
        if self.is_cold() && file.len() as u64 > WHOLE {
            self.worker().contents(Span::new(file));
        }
    }

    /// Files, as [`Readahead::will_need`] takes them, and members of archives, each with index data of its
    /// own, will be read now, and their contents later. Nobody asks what they are as long as all is in
    /// memory. Their bytes must stay until this value is dropped.
    pub fn will_read<'a>(&self, needed: impl Iterator<Item = Needed<'a>>) {
        if !self.is_cold() {
            return;
        }
        let mut members = Vec::new();
        for needed in needed {
            match needed {
                Needed::File(bytes) => self.will_need(bytes),
                Needed::Member(bytes) => members.push(bytes),
            }
        }
        self.worker().members(members.into_iter().map(Span::new));
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
            worker.all_open();
        }
    }

    fn ask_file(&self, file: &File, offset: u64, len: u64) {
        self.worker().ask(len, |cache| cache.ask_file(file, offset, len));
    }

    fn worker(&self) -> &Worker {
        self.worker.get_or_init(|| Worker::start(self.cache.clone(), self.headers, self.threads))
    }

    /// A line for `--stats`, and when the first and the last request was made.
    pub fn summary(&self) -> (String, Option<Range<Instant>>) {
        let about = self.asked_about.load(Ordering::Relaxed);
        let missing = self.missing.load(Ordering::Relaxed);
        let bytes = self.worker.get().map_or(0, Worker::asked);
        let text = match self.prefetch {
            Prefetch::Off => "off".to_owned(),
            Prefetch::On => format!("asked for {bytes} bytes"),
            Prefetch::Auto => {
                format!("{missing} of {about} files looked at were not in memory; asked for {bytes} bytes")
            }
        };
        let tight = self.tight.load(Ordering::Relaxed);
        let text = if tight { text + "; memory is tight, files are read page by page" } else { text };
        (text, self.worker.get().map(Worker::times))
    }
}

/// Whether a file is an archive, as far as its name tells: nothing special is at the end of one.
fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "a" || extension == "rlib" || extension == "lib")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::worker::{BIT, lock};
    use super::*;
    use crate::io::testdir::TestDir;

    /// A page cache of which a test says what is in it.
    struct Fake {
        /// Of 100 pages.
        resident: Option<u64>,
        room: u64,
        questions: AtomicUsize,
        asked: Mutex<Vec<(bool, u64)>>,
        /// How long each wait is.
        pause: Duration,
    }

    impl Fake {
        fn new(resident: Option<u64>, room: u64) -> Arc<Fake> {
            Self::slow(resident, room, Duration::ZERO)
        }

        fn slow(resident: Option<u64>, room: u64, pause: Duration) -> Arc<Fake> {
            Arc::new(Fake { resident, room, questions: AtomicUsize::new(0), asked: Mutex::default(), pause })
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

        fn wait(&self, _: &[u8]) -> Duration {
            std::thread::sleep(self.pause);
            Duration::from_micros(500)
        }

        fn room(&self) -> u64 {
            self.room
        }
    }

    /// How contents are cut.
    fn bits(len: u64) -> impl Iterator<Item = u64> {
        (0..len).step_by(BIT).map(move |start| (len - start).min(BIT as u64))
    }

    /// A quarter is index data, a sixteenth is early, for these tests.
    fn quarter(bytes: &[u8]) -> Parts {
        let range = |part| std::iter::once(0..bytes.len() / part).collect();
        Parts { index: range(4), early: range(16), no_more: false }
    }

    #[test]
    fn ranges_that_are_near_become_one() {
        assert_eq!(merge(vec![20..30, 0..10, 5..5]), vec![0..30]);
        assert_eq!(merge(vec![0..10, 11 + GAP..50_000, 12..14]), vec![0..50_000]);
        assert_eq!(merge(vec![0..10, 11 + GAP..50_000]), vec![0..10, 11 + GAP..50_000]);
        assert_eq!(merge(vec![0..100, 10..20]), vec![0..100]);
    }

    #[test]
    fn what_is_not_read_is_not_asked_for() {
        let fake = Fake::new(Some(0), u64::MAX);
        let file = vec![0; 400_000];
        let only = |bytes: &[u8]| Parts { no_more: true, ..quarter(bytes) };
        let readahead = Readahead::with(Prefetch::On, only, 1, fake.clone());
        readahead.cold.store(true, Ordering::Relaxed);
        readahead.will_need(&file);
        readahead.all_open();
        while !readahead.worker().is_done() {
            std::thread::yield_now();
        }
        assert_eq!(*lock(&fake.asked), [(true, 25_000)]);
    }

    /// Opens files of these lengths, says that all of their contents is needed, and ends when all is
    /// done. Returns for each whether it was missing, and what was asked for.
    fn run(prefetch: Prefetch, fake: &Arc<Fake>, lens: &[u64]) -> (Vec<bool>, Vec<(bool, u64)>) {
        let dir = TestDir::new(&format!("readahead-{:?}", std::thread::current().id()));
        std::fs::write(dir.join("f"), b"x").unwrap();
        let file = File::open(dir.join("f")).unwrap();
        let bytes: Vec<Vec<u8>> = lens.iter().map(|&len| vec![0; len as usize]).collect();
        let readahead = Readahead::with(prefetch, quarter, 1, fake.clone());
        let mut missing = Vec::new();
        for bytes in &bytes {
            missing.push(readahead.opened(&file, Path::new("f"), bytes.len() as u64));
            if missing.last() == Some(&true) {
                readahead.mapped(bytes);
            }
            readahead.will_need(bytes);
        }
        readahead.all_open();
        while readahead.worker.get().is_some_and(|worker| !worker.is_done()) {
            std::thread::yield_now();
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
            // The small file was asked for when it was opened.
            let bits = |len| bits(len).collect::<Vec<_>>();
            let contents = [bits(400_000), bits(800_000)].concat();
            assert_eq!(mapped, [vec![100_000, 200_000, 25_000, 50_000], contents].concat());
        }
    }

    #[test]
    fn index_data_of_members_comes_before_contents() {
        let fake = Fake::new(Some(0), u64::MAX);
        let (file, members) = (vec![0; 400_000], [vec![0; 200_000], vec![0; 5000], vec![0; 300_000]]);
        let readahead = Readahead::with(Prefetch::On, quarter, 1, fake.clone());
        readahead.cold.store(true, Ordering::Relaxed);
        readahead.will_need(&file);
        readahead.will_read(members.iter().map(|member| Needed::Member(member)));
        while !readahead.worker().is_done() {
            std::thread::yield_now();
        }
        let mapped = || -> Vec<u64> { lock(&fake.asked).drain(..).map(|a| a.1).collect() };
        assert_eq!(mapped(), [HEAD, TAIL, 5000, HEAD, TAIL, 50_000, 75_000]);
        readahead.all_open();
        while !readahead.worker().is_done() {
            std::thread::yield_now();
        }
        let contents = [400_000, 200_000, 300_000].into_iter().flat_map(bits);
        assert_eq!(mapped(), [25_000, 12_500, 18_750].into_iter().chain(contents).collect::<Vec<_>>());
    }

    #[test]
    fn of_archives_the_end_is_not_asked_for() {
        let dir = TestDir::new("readahead-archive");
        std::fs::write(dir.join("f"), b"x").unwrap();
        let file = File::open(dir.join("f")).unwrap();
        let fake = Fake::new(Some(0), u64::MAX);
        let readahead = Readahead::with(Prefetch::Auto, quarter, 1, fake.clone());
        for name in ["lib.a", "lib.rlib", "x.o", "lib"] {
            assert!(readahead.opened(&file, Path::new(name), 400_000));
        }
        let asked: Vec<_> = lock(&fake.asked).iter().map(|a| a.1).collect();
        assert_eq!(asked, [HEAD, HEAD, HEAD, TAIL, HEAD, TAIL]);
    }

    #[test]
    fn who_is_done_does_not_wait_for_the_rest_of_a_large_file() {
        let fake = Fake::slow(Some(0), u64::MAX, Duration::from_millis(2));
        let file = vec![0; 1000 * BIT];
        let readahead = Readahead::with(Prefetch::On, quarter, 1, fake.clone());
        readahead.cold.store(true, Ordering::Relaxed);
        readahead.will_need(&file);
        readahead.all_open();
        while lock(&fake.asked).is_empty() {
            std::thread::yield_now();
        }
        drop(readahead);
        assert!(lock(&fake.asked).len() < 900);
    }

    #[test]
    fn contents_only_as_long_as_there_is_room() {
        let fake = Fake::new(Some(0), 2_000_000);
        let (_, asked) = run(Prefetch::Auto, &fake, &[400_000; 10]);
        let readahead = Readahead::with(Prefetch::Auto, quarter, 1, fake.clone());
        assert!(!readahead.is_tight(2_000_000) && !readahead.is_tight(WORTH_ASKING - 1));
        assert!(readahead.is_tight(WORTH_ASKING) && readahead.summary().0.contains("tight"));
        let ends = 10 * (HEAD + TAIL);
        let contents = asked.iter().filter(|a| **a == (true, BIT as u64)).count() as u64;
        assert_eq!(asked.iter().filter(|a| **a == (true, 100_000)).count(), 10);
        // The ends and the index data of all files are more than half of the room.
        assert!(ends + 10 * 100_000 > 1_000_000);
        assert_eq!(contents, 0);
        let fake = Fake::new(Some(0), 6_000_000);
        let (_, asked) = run(Prefetch::Auto, &fake, &[400_000; 10]);
        let last = bits(400_000).last().unwrap();
        let contents = asked.iter().filter(|a| **a == (true, last)).count() as u64;
        assert_eq!(contents, (3_000_000 - ends - 10 * 125_000).div_ceil(400_000));
    }
}
