//! Where a link keeps what a later one wants: a directory beside the output, which nobody but its user may
//! enter.
//!
//! ```text
//! .NAME.weld/
//!     lock    held by the link that uses the directory; another one leaves it alone, or waits if there is a byte in
//!             it: then the output is there, and the rest will be soon
//!     log     a line a link: when, and what was done
//!     state   what is to be known first; without it there is no state
//!     tables  the rows of the link, if there are any
//!     pdb, stripped
//!             the same for PDBs
//!     a, b    images: one is the output, under another name, the other is written next; the first relink makes it
//! ```
//!
//! Files are complete under their names, or have not been renamed yet; `state` goes before anything that it
//! speaks of is changed, and comes when all is as it says. So a link that is killed leaves a state that is
//! true, or none.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use memmap2::Mmap;

use crate::diag::Diagnostic;
use crate::host::{Host, QuietHost};
use crate::io::identity::directory_of;
use crate::io::reason;
use crate::text;

pub const STATE: &str = "state";
pub const TABLES: &str = "tables";
const LOG: &str = "log";
/// The images.
pub const IMAGES: [&str; 2] = ["a", "b"];
/// What is not complete yet has this after its name.
const NEW: &str = "new";
/// Larger logs are begun anew, in bytes.
const LONGEST_LOG: u64 = 256 << 10;
/// So long a link waits for the last one to keep its state, and looks so often whether it has.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(1);
/// What is in the directory.
const ALL: &[&str] = &[
    "state",
    "tables",
    "a",
    "b",
    "pdb",
    "pdb2",
    "pdb2.new",
    "stripped",
    "state.new",
    "tables.new",
    "a.new",
    "b.new",
    "pdb.new",
    "stripped.new",
    "log",
    "lock",
];

/// The directory, locked.
pub struct Place {
    dir: PathBuf,
    /// Unlocked when the process ends or this is dropped.
    lock: File,
    /// What is written when nobody waits any more.
    late: OnceLock<Late>,
}

/// Files that are there before what they hold is known: whoever removes or replaces the directory meanwhile has no new
/// files in it.
struct Late {
    tables: File,
    /// Empty, which is none, or damaged, until it is complete.
    state: File,
    log: File,
}

/// Why a link cannot use its directory: it is a full one that keeps nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Another link of the output is running.
    Busy,
    /// The directory, and what is wrong with it.
    Directory(PathBuf, String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Busy => {
                f.write_str("another link of this output is running; nothing is kept for the next one")
            }
            Unusable::Directory(dir, why) => {
                write!(f, "{}: {why}; nothing is kept for the next link", text::path(dir))
            }
        }
    }
}

/// The directory for the state of links that make `output`.
pub fn beside(output: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(output.file_name().unwrap_or_default());
    name.push(".weld");
    directory_of(output).join(name)
}

impl Place {
    /// Makes the directory if it is not there, and locks it. `host` is told if that takes long.
    ///
    /// # Errors
    /// Why the link is a full one that keeps nothing.
    pub fn open(dir: &Path, host: &dyn Host) -> Result<Place, Unusable> {
        let fails = |error: io::Error| Unusable::Directory(dir.to_owned(), reason(&error));
        make_private(dir).map_err(fails)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(dir.join("lock"))
            .map_err(fails)?;
        let begun = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE && will_be_free(&lock) => {
                    host.step("wait for the last link's state");
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(Unusable::Busy),
                Err(TryLockError::Error(error)) => return Err(fails(error)),
            }
        }
        if will_be_free(&lock) {
            lock.set_len(0).map_err(fails)?;
        }
        Ok(Place { dir: dir.to_owned(), lock, late: OnceLock::new() })
    }

    /// The output is there, but the state is not: lets go of whoever waits for the link, which had these messages; the
    /// next link is to wait for the state.
    pub fn let_go(&self, host: &dyn Host, messages: &[Diagnostic]) {
        if let Ok(late) = self.be_late()
            && let Ok(log) = late.log.try_clone()
        {
            _ = self.late.set(late);
            host.output_is_there(messages, log);
        }
    }

    fn be_late(&self) -> io::Result<Late> {
        let empty = |name: &str| {
            let file = self.create(name)?;
            fs::rename(self.new_path(name), self.path(name))?;
            Ok::<_, io::Error>(file)
        };
        let late = Late { tables: empty(TABLES)?, state: empty(STATE)?, log: open_log(&self.dir)? };
        (&self.lock).write_all(b"1")?;
        Ok(late)
    }

    /// Adds a line to the log. When nobody waits any more, it is the one that was there then.
    pub fn log(&self, text: &str) {
        match self.late.get() {
            Some(late) => _ = (&late.log).write_all(line(text).as_bytes()),
            None => log(&self.dir, text),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The path of a file that is not complete yet.
    pub fn new_path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.{NEW}"))
    }

    /// Creates an empty file that is to be `name`, with the rights of a new file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let path = self.new_path(name);
        remove(&path)?;
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    }

    /// Has what was created take the place of `name`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn adopt(&self, name: &str) -> io::Result<()> {
        // A name of the file itself would stay beside it.
        remove(&self.path(name))?;
        fs::rename(self.new_path(name), self.path(name))
    }

    /// Writes a file whole, part after part.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write<'p>(&self, name: &str, parts: impl IntoIterator<Item = &'p [u8]>) -> io::Result<()> {
        let late = self.late.get().and_then(|late| match name {
            STATE => Some(&late.state),
            TABLES => Some(&late.tables),
            _ => None,
        });
        if let Some(mut file) = late {
            return parts.into_iter().try_for_each(|part| file.write_all(part));
        }
        let mut file = self.create(name)?;
        parts.into_iter().try_for_each(|part| file.write_all(part))?;
        fs::rename(self.new_path(name), self.path(name))
    }

    /// The large files that the last link has left, as far as they are there. The system frees what has no name any more
    /// when these are dropped: that takes longer than a small link.
    pub fn of_last_link(&self) -> Vec<File> {
        let large = [TABLES, "pdb", "pdb2"].into_iter().chain(IMAGES);
        large.filter_map(|name| File::open(self.path(name)).ok()).collect()
    }

    /// Removes a file if it is there.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        remove(&self.path(name))
    }

    /// What the last link left, if it came to its end.
    ///
    /// # Errors
    /// Those of the system.
    pub fn state(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(STATE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // One that was to be written when nobody waited any more.
            Ok(bytes) if bytes.is_empty() => Ok(None),
            read => read.map(Some),
        }
    }

    /// A file as it is, of which only what is looked at is read.
    ///
    /// # Errors
    /// Those of the system.
    pub fn map(&self, name: &str) -> io::Result<Mmap> {
        let file = File::open(self.path(name))?;
        // SAFETY: a file of the user alone, which only who holds the lock writes to, before others may see it. Who
        // makes it shorter in spite of that ends the process, as with inputs ([`crate::io::input`]).
        unsafe { Mmap::map(&file) }
    }

    /// From now on there is no state.
    ///
    /// # Errors
    /// Those of the system.
    pub fn forget_state(&self) -> io::Result<()> {
        remove(&self.path(STATE))
    }
}

/// Whether who holds the lock will not hold it for long.
fn will_be_free(lock: &File) -> bool {
    lock.metadata().is_ok_and(|meta| meta.len() > 0)
}

/// The log in `dir`, to write behind what is there.
fn open_log(dir: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(dir.join(LOG))
}

/// Adds a line to the log in `dir`, whoever has the lock. That it cannot be written is nothing to stop for.
pub fn log(dir: &Path, text: &str) {
    let path = dir.join(LOG);
    let is_long = fs::metadata(&path).is_ok_and(|meta| meta.len() > LONGEST_LOG);
    if is_long {
        _ = fs::remove_file(&path);
    }
    _ = open_log(dir).and_then(|mut file| file.write_all(line(text).as_bytes()));
}

/// A line of the log.
fn line(text: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{} {}\n", moment(now.as_secs()), text.replace('\n', " "))
}

/// Removes what links keep in `dir`, and the directory.
///
/// # Errors
/// If there is no such directory, something else is in it, or a link is using it.
pub fn forget(dir: &Path) -> io::Result<()> {
    if !dir.join("lock").is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no link has kept anything there"));
    }
    let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "a link is using it");
    let place = Place::open(dir, &QuietHost::new()).map_err(|why| match why {
        Unusable::Busy => busy(),
        why @ Unusable::Directory(..) => io::Error::other(why.to_string()),
    })?;
    ALL.iter().try_for_each(|name| remove(&place.path(name)))?;
    fs::remove_dir(dir)
}

/// Removes a file if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a directory for the user alone. One that is there must be such.
#[cfg(unix)]
fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let meta = fs::symlink_metadata(dir)?;
    // A file that is made in it has the user who makes it, whoever else may be root.
    let is_private = meta.is_dir() && meta.mode() & 0o077 == 0 && meta.uid() == rights_of_new_files()?;
    let text = "is not a directory that only the user may enter";
    is_private.then_some(()).ok_or_else(|| io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// The user that this process creates files as.
#[cfg(unix)]
fn rights_of_new_files() -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    // The owner of a process's directory is its effective user.
    Ok(fs::metadata("/proc/self")?.uid())
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "relinking needs a Unix system"))
}

/// Seconds after 1970 as a date and time (UTC). Years have 365.2425 days (H. Hinnant, "chrono-compatible
/// low-level date algorithms").
fn moment(seconds: u64) -> String {
    let (days, time) = (seconds / 86400 + 719_468, seconds % 86400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + late;
    format!("{year}-{month:02}-{date:02} {:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Knows whether it was told of a step.
    #[derive(Default)]
    struct Waiting(AtomicBool);

    impl Host for Waiting {
        fn print(&self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn step(&self, _: &'static str) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[cfg(unix)]
    #[test]
    fn who_comes_when_the_output_is_there_waits() {
        let temp = crate::io::testdir::TestDir::new("relink-directory");
        let dir = temp.join(".out.weld");
        let host = Waiting::default();
        let first = Place::open(&dir, &host).ok().unwrap();
        assert!(matches!(Place::open(&dir, &host), Err(Unusable::Busy)));
        first.let_go(&QuietHost::new(), &[]);
        assert_eq!(first.state().unwrap(), None);
        first.write(STATE, [&b"state"[..]]).unwrap();
        fs::rename(dir.join("log"), dir.join("old")).unwrap();
        first.log("late");
        assert!(fs::read_to_string(dir.join("old")).unwrap().ends_with(" late\n"));
        let end = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            drop(first);
        });
        assert!(!host.0.load(Ordering::Relaxed));
        let second = Place::open(&dir, &host).ok().unwrap();
        assert_eq!(second.state().unwrap().as_deref(), Some(&b"state"[..]));
        assert!(host.0.load(Ordering::Relaxed));
        second.log("early");
        assert!(fs::read_to_string(dir.join("log")).unwrap().ends_with(" early\n"));
        end.join().unwrap();
        // What was for this one is not for the next.
        assert!(matches!(Place::open(&dir, &host), Err(Unusable::Busy)));
        drop(second);
    }

    #[test]
    fn moments() {
        assert_eq!(moment(0), "1970-01-01 00:00:00");
        assert_eq!(moment(951_827_696), "2000-02-29 12:34:56");
        assert_eq!(moment(1_798_761_599), "2026-12-31 23:59:59");
    }
}
