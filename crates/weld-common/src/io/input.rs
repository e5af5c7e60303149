//! The bytes of every input of one link, borrowed for as long as the link lasts.
//!
//! Files up to [`READ_LIMIT`] are read, one after the other, into large chunks; larger ones are mapped
//! privately and read-only. A mapping costs a system call, a VMA and a fault for each window of pages,
//! but a read costs a copy and, which is worse, fresh memory to copy to. Measured, microseconds for a
//! file in the page cache including its part of the exit (Linux 6.18, a virtual machine where fresh
//! pages are dear; READ_LIMIT is where the lines cross):
//!
//! ```text
//! size          2K    4K    8K   16K   64K   256K     1M
//! read         2.3   3.6   5.2  12.5    42    160    620
//! mapped       3.3   4.0   3.9   6.0   6-9  10-24  16-40
//! populated    3.4   4.0   3.4   5.0   5-9   9-11  27-38
//! ```
//!
//! Either way the descriptor is closed before [`InputStore::open`] returns: a link has at most as many
//! input descriptors open as it has threads in `open`. Where a file cannot be mapped (some file systems
//! cannot, and a process may have only so many mappings) it is read into memory of its own.
//!
//! Files that are not in memory are asked for ([`super::readahead`]) and mapped whatever their size: reading
//! or populating them would wait for the device, one file at a time.
//!
//! Nothing is released before the store is dropped; a program that is about to exit calls
//! [`InputStore::leak`] and leaves the work to the kernel.
//!
//! A mapped file that shrinks during the link raises `SIGBUS` when a lost page is read. That is for
//! the program to handle, so the store tells [`Host::mapped`] about each mapping. One that is written to
//! changes under the linker's eyes; [`InputStore::changed`] finds that out afterwards. What has been
//! read is a copy that nobody can change.

use std::alloc::Layout;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use memmap2::{Mmap, MmapOptions};
use rayon::prelude::*;

use super::anonymous;
use super::identity::Identity;
use super::readahead::{Headers, Parts, Prefetch, Readahead};
use super::reason;
use super::stamp::Stamp;
use crate::diag::{Cause, Diagnostic};
use crate::growing::Growing;
use crate::host::Host;
use crate::mapped_file::MappedFile;
use crate::{par, text, trace};

/// Files of at most this many bytes are read, larger ones mapped.
pub const READ_LIMIT: usize = 4 << 10;

/// Mappings of at most this many bytes get all their pages at once: that costs less than the few
/// faults which nearly always follow. Of larger files parts may never be needed.
const POPULATE_LIMIT: usize = 128 << 10;

/// Less is not worth telling the system.
const GIVE_BACK_LIMIT: usize = 256 << 10;

/// Small files need not be asked for again: they are read when they are opened, or were missing then.
const _: () = assert!(POPULATE_LIMIT as u64 >= super::readahead::WHOLE);

/// What may come out of a pipe or device, in bytes. Such an input says nothing of its size before it
/// ends, and `/dev/zero` never does.
pub const STREAM_LIMIT: u64 = 1 << 30;

/// Bytes of a chunk for small files. Pages of it that no file reaches are never touched.
const CHUNK: usize = 256 << 10;

/// Each file begins at a multiple of this address, so that 8-byte fields at aligned file offsets
/// are aligned in memory.
const ALIGN: usize = 8;

/// Why an input could not be opened or read.
#[derive(Debug)]
pub struct InputError {
    pub path: PathBuf,
    pub kind: ErrorKind,
    message: String,
}

impl InputError {
    fn new(verb: &str, path: &Path, error: &io::Error) -> Self {
        InputError {
            path: path.to_owned(),
            kind: error.kind(),
            message: format!("cannot {verb} {}: {}", text::path(path), reason(error)),
        }
    }

    /// The input is also what `report` is to be written to.
    fn would_be_replaced(path: &Path, report: &str) -> Self {
        InputError {
            path: path.to_owned(),
            kind: ErrorKind::InvalidInput,
            message: format!("{report} would replace {}, which is an input", text::path(path)),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

impl From<InputError> for Diagnostic {
    fn from(e: InputError) -> Self {
        let cause = match e.kind {
            ErrorKind::InvalidInput => Cause::OutputClash,
            ErrorKind::NotFound => Cause::CannotOpenFile,
            _ => Cause::CannotReadFile,
        };
        Diagnostic::error(cause, e.message).in_file(text::path(&e.path))
    }
}

/// Owns the bytes of every input of one link; slices live as long as the store. Any number of
/// threads may open files at once, and no lock is held while the kernel works.
pub struct InputStore<'h> {
    /// The first field, so that it is the first to go: its thread looks at the mappings.
    readahead: Readahead,
    host: &'h dyn Host,
    arena: Mutex<Arena>,
    maps: Mutex<Vec<(Mmap, Arc<MappedFile>)>>,
    /// What must not be opened, and why.
    reports: Vec<(Identity, String)>,
    refused: AtomicBool,
    heap: Mutex<Vec<HeapBytes>>,
    /// Files that others have mapped.
    foreign: Mutex<Vec<Arc<Mmap>>>,
    /// Files that have what was read from pipes.
    spooled: Mutex<Vec<File>>,
    gate: Gate,
    /// What absolute paths are below.
    root: PathBuf,
    opened: Option<Mutex<Opened>>,
    /// Files that are not opened again, by their paths as they were given.
    once: Mutex<HashMap<PathBuf, Bytes>>,
    /// What somebody has found out about bytes of inputs, for all who read them.
    notes: Growing<Note>,
    /// What stands for files that are not there.
    laid: Growing<Vec<(PathBuf, Vec<u8>)>>,
    /// What stands for objects, by where their bytes are.
    stand_ins: OnceLock<HashMap<(usize, usize), Vec<u8>>>,
}

struct Note {
    /// Where the bytes are, and how many.
    about: (usize, usize),
    text: Vec<u8>,
}

/// What has been opened, and what was not there.
#[derive(Default)]
struct Opened {
    files: Vec<OpenedFile>,
    missing: Vec<PathBuf>,
}

/// A file that has been opened.
struct OpenedFile {
    path: PathBuf,
    bytes: NonNull<[u8]>,
    modified: Option<SystemTime>,
    stamp: Option<Stamp>,
}

/// The bytes of a file.
struct Bytes(NonNull<[u8]>);

// SAFETY: they belong to the store, which does not change them.
unsafe impl Send for Bytes {}

/// What is known of a file that has been opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile<'s> {
    /// As it was given.
    pub path: PathBuf,
    pub bytes: &'s [u8],
    /// When it had been written to last, as the system said when it was opened.
    pub modified: Option<SystemTime>,
    /// What else the system said then.
    pub stamp: Option<Stamp>,
}

// SAFETY: the bytes belong to the store, which does not change them.
unsafe impl Send for OpenedFile {}

impl<'h> InputStore<'h> {
    pub fn new(host: &'h dyn Host) -> Self {
        InputStore {
            host,
            arena: Mutex::new(Arena { chunks: Vec::new(), used: 0 }),
            maps: Mutex::new(Vec::new()),
            reports: Vec::new(),
            refused: AtomicBool::new(false),
            heap: Mutex::new(Vec::new()),
            foreign: Mutex::new(Vec::new()),
            spooled: Mutex::new(Vec::new()),
            gate: Gate::default(),
            root: PathBuf::new(),
            opened: None,
            once: Mutex::default(),
            notes: Growing::default(),
            laid: Growing::default(),
            stand_ins: OnceLock::new(),
            readahead: Readahead::new(Prefetch::Off, |_| Parts::default()),
        }
    }

    /// Asks for files that are not in memory from now on. `headers` says what is where in a file.
    pub fn prefetch(&mut self, prefetch: Prefetch, headers: Headers) {
        self.readahead = Readahead::new(prefetch, headers);
    }

    /// Everything that the command line names is open. Contents may be asked for now; and if memory has no
    /// room for all of it, pages are read as they are touched and none around them.
    pub fn all_open(&self) {
        let maps = self.maps.lock().unwrap();
        if self.readahead.is_tight(maps.iter().map(|(map, _)| map.len() as u64).sum()) {
            maps.iter().for_each(|(map, _)| one_page_at_a_time(map));
        }
        self.readahead.all_open();
    }

    /// Has `open` open each of `list`: in parallel if they are many, or if they turn out to be on a device,
    /// where opening is waiting.
    pub fn open_each<T: Sync, R: Send>(
        &self,
        list: &[T],
        parallel: bool,
        open: &(impl Fn(&T) -> R + Sync),
    ) -> Vec<R> {
        let region = trace::region("open files");
        let traced = |item: &T| {
            let _task = region.task();
            open(item)
        };
        let mut found = Vec::with_capacity(list.len());
        let mut rest = list;
        while let [item, more @ ..] = rest {
            found.push(traced(item));
            rest = more;
            if self.readahead.is_cold() && rest.len() > 1 {
                found.extend(par::map_waiting(rest.len(), |i| open(&rest[i])));
                break;
            }
            if parallel && rest.len() > 64 {
                found.extend(par::map(true, rest.len(), |i| traced(&rest[i])));
                break;
            }
        }
        found
    }

    /// What is asked for ahead of its use.
    pub fn readahead(&self) -> &Readahead {
        &self.readahead
    }

    /// Takes absolute paths to be below `root` from now on (`--chroot`).
    pub fn set_root(&mut self, root: &Path) {
        root.clone_into(&mut self.root);
    }

    /// Refuses to open these files from now on: something is to be written in their place.
    pub fn refuse(&mut self, reports: Vec<(Identity, String)>) {
        self.reports = reports;
    }

    /// Whether one of them was to be opened.
    pub fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// A mapped file whose size or time of change is not what it was when the file was opened. What
    /// has been linked is then neither the old file nor the new one. A file that is gone was whole all
    /// the time. `parallel` if this is called in a pool of threads.
    pub fn changed(&self, parallel: bool) -> Option<PathBuf> {
        let maps = self.maps.lock().unwrap();
        let changed = |(_, file): &&(Mmap, Arc<MappedFile>)| file.has_changed();
        let first = match parallel {
            true => maps.par_iter().find_first(changed),
            false => maps.iter().find(changed),
        };
        first.map(|(_, file)| file.path.clone())
    }

    /// Remembers every file that is opened from now on.
    pub fn record(&mut self) {
        self.opened = Some(Mutex::default());
    }

    /// Path (as it was given) and bytes of the files opened since [`InputStore::record`], in the order in
    /// which they were, which is that of the threads.
    pub fn opened(&self) -> Vec<(PathBuf, &[u8])> {
        self.files().into_iter().map(|file| (file.path, file.bytes)).collect()
    }

    /// What is known of the same files.
    pub fn files(&self) -> Vec<InputFile<'_>> {
        let Some(opened) = &self.opened else { return Vec::new() };
        let opened = opened.lock().unwrap();
        let known = |file: &OpenedFile| InputFile {
            path: file.path.clone(),
            // SAFETY: the bytes live as long as the store and are not changed.
            bytes: unsafe { file.bytes.as_ref() },
            modified: file.modified,
            stamp: file.stamp,
        };
        opened.files.iter().map(known).collect()
    }

    /// Paths that were to be opened since [`InputStore::record`] and led nowhere, below the root, in no
    /// order.
    pub fn missing(&self) -> Vec<PathBuf> {
        self.opened.as_ref().map_or(Vec::new(), |opened| opened.lock().unwrap().missing.clone())
    }

    /// Whether a path leads somewhere, of which a later link is to know as of a file that was to be opened.
    pub fn is_there(&self, path: &Path) -> bool {
        let path = self.rooted(path);
        let is_there = path.exists();
        if !is_there && let Some(opened) = &self.opened {
            opened.lock().unwrap().missing.push(path.into_owned());
        }
        is_there
    }

    /// Where a path leads: below the root if it is absolute and there is one.
    pub fn rooted<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        match path.strip_prefix("/") {
            Ok(below) if !self.root.as_os_str().is_empty() => self.root.join(below).into(),
            _ => path.into(),
        }
    }

    /// From now on these are the bytes of files with these paths, whatever the system has there, unless others were laid
    /// there before.
    pub fn lay(&self, files: Vec<(PathBuf, Vec<u8>)>) {
        if !files.is_empty() {
            self.once.lock().unwrap().retain(|path, _| files.iter().all(|(of, _)| of != path));
            self.laid.find_or_add(files, |_, _| false);
        }
    }

    /// Reads or maps `path`. `Ok(None)` if it does not exist. A directory is an error; a pipe or
    /// device is read to its end. The slice begins at an 8-byte aligned address.
    pub fn open(&self, path: &Path) -> Result<Option<&[u8]>, InputError> {
        if let Some((_, bytes)) = self.laid.iter().flatten().find(|(of, _)| of == path) {
            return Ok(Some(bytes));
        }
        self.open_there(&self.rooted(path), path)
    }

    /// The same, for who reads a file again and again: one that has been opened in this way is not opened again.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_once(&self, path: &Path) -> Result<Option<&[u8]>, InputError> {
        if let Some(Bytes(bytes)) = self.once.lock().unwrap().get(path) {
            // SAFETY: the bytes live as long as the store and are not changed.
            return Ok(Some(unsafe { bytes.as_ref() }));
        }
        let bytes = self.open(path)?;
        if let Some(bytes) = bytes {
            self.once.lock().unwrap().insert(path.to_owned(), Bytes(NonNull::from_ref(bytes)));
        }
        Ok(bytes)
    }

    /// `given` is what the path was before it was put below the root.
    fn open_there(&self, path: &Path, given: &Path) -> Result<Option<&[u8]>, InputError> {
        let _permit = self.gate.enter();
        let file = match self.gate.open(path) {
            Ok(file) => file,
            // The second is a path like `file.o/x`, which searching along `-L` may well make.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                if let Some(opened) = &self.opened {
                    opened.lock().unwrap().missing.push(path.to_owned());
                }
                return Ok(None);
            }
            Err(e) => return Err(InputError::new("open", path, &e)),
        };
        let meta = file.metadata().map_err(|e| InputError::new("open", path, &e))?;
        if meta.is_dir() {
            return Err(InputError::new("open", path, &ErrorKind::IsADirectory.into()));
        }
        if !self.reports.is_empty()
            && let Some(identity) = Identity::of_open(&file, &meta)
            && let Some((_, report)) = self.reports.iter().find(|(of, _)| *of == identity)
        {
            self.refused.store(true, Ordering::Relaxed);
            return Err(InputError::would_be_replaced(path, report));
        }
        let plan = self.plan(&meta);
        let missing = !matches!(plan, Plan::Stream) && self.readahead.opened(&file, path, meta.len());
        let bytes = match plan {
            Plan::Read(len) if !missing => self.read(&file, len),
            Plan::Read(len) | Plan::Map(len) => self.map(&file, path, &meta, len, missing),
            Plan::Stream => self.stream(&file),
            Plan::TooLarge => Err(ErrorKind::FileTooLarge.into()),
        };
        let bytes = bytes.map_err(|e| InputError::new("read", path, &e))?;
        if let Some(opened) = &self.opened {
            let (path, modified, stamp) = (given.to_owned(), meta.modified().ok(), Stamp::of(&meta));
            let file = OpenedFile { path, bytes: NonNull::from_ref(bytes), modified, stamp };
            opened.lock().unwrap().files.push(file);
        }
        Ok(Some(bytes))
    }

    /// Keeps what was found out about some bytes of an input. If somebody has done so before, that stays.
    pub fn note(&self, about: &[u8], text: Vec<u8>) -> &[u8] {
        let new = Note { about: (about.as_ptr().addr(), about.len()), text };
        &self.notes.find_or_add(new, |one, new| one.about == new.about).text
    }

    /// What [`Self::note`] has kept about these bytes.
    pub fn noted(&self, about: &[u8]) -> Option<&[u8]> {
        let about = (about.as_ptr().addr(), about.len());
        self.notes.iter().find(|note| note.about == about).map(|note| &*note.text)
    }

    /// From now on others stand for these objects, unless it has been said before which do.
    pub fn let_stand(&self, others: Vec<(&[u8], Vec<u8>)>) {
        let by_place = others.into_iter().map(|(of, bytes)| ((of.as_ptr().addr(), of.len()), bytes));
        _ = self.stand_ins.set(by_place.collect());
    }

    /// What stands for an object: itself, if nothing else does.
    pub fn standing_for<'s>(&'s self, object: &'s [u8]) -> &'s [u8] {
        let all = self.stand_ins.get();
        let found = all.and_then(|all| all.get(&(object.as_ptr().addr(), object.len())));
        found.map_or(object, |bytes| bytes)
    }

    /// On whose behalf files are read.
    pub fn host(&self) -> &'h dyn Host {
        self.host
    }

    /// Keeps a heap buffer (a decompressed section, a member made in memory) alive with the store.
    pub fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        if bytes.is_empty() {
            return &[];
        }
        let bytes = HeapBytes::new(bytes);
        let slice = NonNull::slice_from_raw_parts(bytes.ptr, bytes.len);
        self.heap.lock().unwrap().push(bytes);
        // SAFETY: the buffer now belongs to the store, which neither changes nor frees it before it
        // is dropped, and the slice borrows the store.
        unsafe { slice.as_ref() }
    }

    /// Keeps a file alive that somebody else has mapped, and that nobody writes to.
    pub fn keep_mapped(&self, map: Arc<Mmap>) -> &[u8] {
        let slice = NonNull::from_ref(&map[..]);
        self.foreign.lock().unwrap().push(map);
        // SAFETY: the mapping belongs to the store, too, which does not change it or end it before it is
        // dropped itself, and the slice borrows the store.
        unsafe { slice.as_ref() }
    }

    /// A path by which other programs can read these bytes while the store lives.
    ///
    /// # Errors
    /// Those of the system.
    pub fn spool(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let file = anonymous::file(bytes)?;
        let path = anonymous::path(&file);
        self.spooled.lock().unwrap().push(file);
        Ok(path)
    }

    /// Gives back the memory of a large part of a mapped file that will hardly be read again. Who does read
    /// it gets it from the system's cache. Bytes that are not of a mapped file stay.
    pub fn give_back(&self, bytes: &[u8]) {
        if bytes.len() < GIVE_BACK_LIMIT {
            return;
        }
        let (start, end) = (bytes.as_ptr().addr(), bytes.as_ptr().addr() + bytes.len());
        let is_around = |map: &Mmap| map.as_ptr().addr() <= start && end <= map.as_ptr().addr() + map.len();
        let maps = self.maps.lock().unwrap();
        if let Some((map, _)) = maps.iter().find(|(map, _)| is_around(map)) {
            give_back(map, start - map.as_ptr().addr(), bytes.len());
        }
    }

    /// Ends the store without unmapping and freeing. For a program that is about to exit.
    pub fn leak(self) {
        std::mem::forget(self);
    }

    fn plan(&self, meta: &Metadata) -> Plan {
        if !meta.is_file() || meta.len() == 0 {
            // Files below /proc and /sys have bytes to read though their size is 0.
            return Plan::Stream;
        }
        match usize::try_from(meta.len()) {
            Ok(len) if len <= READ_LIMIT => Plan::Read(len),
            Ok(len) if len <= isize::MAX as usize => Plan::Map(len),
            _ => Plan::TooLarge,
        }
    }

    /// Reads at most `len` bytes: what the file had when it was opened. Fewer if it shrank since.
    fn read(&self, mut file: &File, len: usize) -> io::Result<&[u8]> {
        let space = self.arena.lock().unwrap().take(len);
        // SAFETY: `take` hands out each span once, zeroed, and the chunk lives as long as the store.
        let space: &mut [u8] = unsafe { &mut *space.as_ptr() };
        let mut filled = 0;
        while filled < len {
            match file.read(&mut space[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(&space[..filled])
    }

    /// Maps the first `len` bytes. If they are `missing` from memory it does not wait for them.
    fn map(&self, file: &File, path: &Path, meta: &Metadata, len: usize, missing: bool) -> io::Result<&[u8]> {
        // SAFETY: the mapping is private and read-only. Another process can still change the file
        // under it, as for every linker that maps its inputs; parsers check what they read where they
        // use it, `changed` tells afterwards, and a file that shrinks is reported through `Host::mapped`.
        let map = unsafe {
            let mut options = MmapOptions::new();
            if len <= POPULATE_LIMIT && !missing {
                options.populate();
            }
            options.len(len).map_copy_read_only(file)
        };
        let Ok(map) = map else { return self.read_to_heap(file, len) };
        let start = map.as_ptr();
        let file = Arc::new(MappedFile::new(path, start.addr(), len, meta));
        self.host.mapped(&file);
        self.maps.lock().unwrap().push((map, file));
        // SAFETY: the mapping belongs to the store now and stays until it is dropped.
        let bytes = unsafe { std::slice::from_raw_parts(start, len) };
        if missing {
            self.readahead.mapped(bytes);
        }
        Ok(bytes)
    }

    /// Reads at most `len` bytes into memory of their own.
    fn read_to_heap(&self, file: &File, len: usize) -> io::Result<&[u8]> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
        file.take(len as u64).read_to_end(&mut bytes)?;
        Ok(self.keep(bytes))
    }

    fn stream(&self, file: &File) -> io::Result<&[u8]> {
        let mut bytes = Vec::new();
        file.take(STREAM_LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > STREAM_LIMIT {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(self.keep(bytes))
    }
}

#[cfg(unix)]
fn one_page_at_a_time(map: &Mmap) {
    // A hint; without it the link is slower.
    _ = map.advise(memmap2::Advice::Random);
}

/// Other systems read little around a page that is touched.
#[cfg(not(unix))]
fn one_page_at_a_time(_: &Mmap) {}

#[cfg(unix)]
fn give_back(map: &Mmap, start: usize, len: usize) {
    // SAFETY: the mapping is of a file and was never written to, so its pages have the same bytes when they
    // come back.
    _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, len) };
}

/// Other systems have no such hint.
#[cfg(not(unix))]
fn give_back(_: &Mmap, _: usize, _: usize) {}

enum Plan {
    Read(usize),
    Map(usize),
    /// Read until it ends.
    Stream,
    TooLarge,
}

/// Chunks of memory from which spans are cut, each span once.
struct Arena {
    chunks: Vec<Chunk>,
    /// Bytes of the last chunk that are handed out.
    used: usize,
}

struct Chunk(NonNull<u8>);

// SAFETY: a chunk is memory that belongs to the arena; spans of it are disjoint.
unsafe impl Send for Chunk {}

impl Chunk {
    const LAYOUT: Layout = match Layout::from_size_align(CHUNK, ALIGN) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    };

    /// Zeroed, which costs nothing: memory of this size comes fresh from the kernel.
    fn new() -> Chunk {
        // SAFETY: the layout's size is not zero.
        let ptr = unsafe { std::alloc::alloc_zeroed(Chunk::LAYOUT) };
        Chunk(NonNull::new(ptr).unwrap_or_else(|| std::alloc::handle_alloc_error(Chunk::LAYOUT)))
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { std::alloc::dealloc(self.0.as_ptr(), Chunk::LAYOUT) }
    }
}

impl Arena {
    /// `len` zeroed bytes (at most [`READ_LIMIT`]) that nobody else has or will get.
    fn take(&mut self, len: usize) -> NonNull<[u8]> {
        assert!(len <= READ_LIMIT);
        let last = match self.chunks.last() {
            Some(chunk) if CHUNK - self.used >= len => chunk,
            _ => {
                self.chunks.push(Chunk::new());
                self.used = 0;
                &self.chunks[self.chunks.len() - 1]
            }
        };
        // SAFETY: used + len <= CHUNK.
        let start = unsafe { last.0.add(self.used) };
        self.used = CHUNK.min((self.used + len).next_multiple_of(ALIGN));
        NonNull::slice_from_raw_parts(start, len)
    }
}

/// A `Vec` taken apart, so that moving its owner does not invalidate slices of it.
struct HeapBytes {
    ptr: NonNull<u8>,
    len: usize,
    capacity: usize,
}

// SAFETY: owned memory without interior mutability.
unsafe impl Send for HeapBytes {}

impl HeapBytes {
    fn new(bytes: Vec<u8>) -> HeapBytes {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        let ptr = NonNull::new(bytes.as_mut_ptr()).expect("a Vec's pointer is never null");
        HeapBytes { ptr, len: bytes.len(), capacity: bytes.capacity() }
    }
}

impl Drop for HeapBytes {
    fn drop(&mut self) {
        // SAFETY: the parts of a Vec<u8> that was given up in `new`.
        drop(unsafe { Vec::from_raw_parts(self.ptr.as_ptr(), self.len, self.capacity) });
    }
}

/// Lets an `open` wait for another one to close its descriptor when the process has none left.
#[derive(Default)]
struct Gate {
    /// Calls of `InputStore::open` that are under way; each has at most one descriptor.
    inside: AtomicUsize,
    /// Those of them that wait.
    waiting: AtomicUsize,
    lock: Mutex<()>,
    left: Condvar,
}

struct Permit<'a>(&'a Gate);

impl Gate {
    /// How long to wait for descriptors that somebody else in the process has open.
    const PATIENCE: u32 = 200;
    const NAP: Duration = Duration::from_millis(5);

    fn enter(&self) -> Permit<'_> {
        self.inside.fetch_add(1, Ordering::Relaxed);
        Permit(self)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let mut naps = 0;
        loop {
            match File::open(path) {
                Err(e) if out_of_descriptors(&e) && naps < Self::PATIENCE => {
                    let lock = self.lock.lock().unwrap();
                    self.waiting.fetch_add(1, Ordering::Relaxed);
                    // Time alone ends a nap too: a descriptor may have been closed just before the
                    // lock was taken, or elsewhere in the process.
                    let (_lock, _) = self.left.wait_timeout(lock, Self::NAP).unwrap();
                    let waiting = self.waiting.fetch_sub(1, Ordering::Relaxed);
                    // As long as others are at work here and not all waiting, one of them will leave.
                    if self.inside.load(Ordering::Relaxed) <= waiting {
                        naps += 1;
                    }
                }
                other => return other,
            }
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
        // Waking is a system call even if nobody waits, and there is a permit for each file.
        if self.0.waiting.load(Ordering::Relaxed) > 0 {
            self.0.left.notify_one();
        }
    }
}

#[cfg(unix)]
fn out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(not(unix))]
fn out_of_descriptors(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests;
