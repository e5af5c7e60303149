//! Where links of a user find each other: a directory with a file a link.
//!
//! ```text
//! lock                    held, for an instant, by the one that looks and decides
//! 4711.2f6e012345678abc   of a link: "weld 1 running 123456789 …"
//! ```
//!
//! A link holds a lock on its file for as long as it runs or waits. The system lets go of it when the process
//! ends, however it does, so a file whose lock can be had is of nobody any more and is removed by whoever
//! finds it. Locks work between containers that share the directory. When a file was last changed is when its
//! link began, or if it waits, when it last looked.
//!
//! The directory is its owner's alone: who can open a file of it can lock it, too. One that others could enter
//! is not used. It may have files that are no link's, which are let alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::admission::Link;

/// No record is longer.
const LONGEST: u64 = 4096;

const LOCK: &str = "lock";

/// How often the lock is tried for, and how long that takes each time. Whoever is stopped while it has the lock
/// keeps all others from it.
const TRIES: u32 = 1000;
const TRY: Duration = Duration::from_millis(5);

pub struct Directory {
    path: PathBuf,
}

/// The right to look and to decide.
pub struct Guard<'d> {
    directory: &'d Directory,
    _lock: File,
}

/// A link's own file. It is gone when this is dropped.
pub struct Place {
    file: File,
    path: PathBuf,
}

/// The links that are there.
#[derive(Debug, Default)]
pub struct Found {
    pub running: Vec<Seen>,
    pub waiting: Vec<Seen>,
}

/// One of them.
#[derive(Debug)]
pub struct Seen {
    pub link: Link,
    /// Its process, and the name space of its number.
    pub process: u32,
    pub space: u64,
    /// How long ago it began, or if it waits, looked.
    pub silent: Duration,
}

impl Seen {
    /// Whether its process is stopped, and goes on only when somebody says so.
    pub fn is_stopped(&self) -> bool {
        let state = || {
            let text = std::fs::read_to_string(format!("/proc/{}/stat", self.process)).ok()?;
            // The name before it may have anything in it.
            text.rsplit_once(") ")?.1.bytes().next()
        };
        self.space == process_space() && state().is_some_and(|state| state.eq_ignore_ascii_case(&b't'))
    }
}

impl Directory {
    /// Makes the directory if it is not there.
    ///
    /// # Errors
    /// Those of the system, and if it is somebody else's.
    pub fn open(path: &Path) -> io::Result<Directory> {
        match make(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let meta = std::fs::symlink_metadata(path)?;
        if !meta.is_dir() || !is_own(&meta) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Directory { path: path.to_owned() })
    }

    /// Waits for the right to look.
    ///
    /// # Errors
    /// Those of the system, and if it cannot be had for seconds.
    pub fn look(&self) -> io::Result<Guard<'_>> {
        let path = self.path.join(LOCK);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        for _ in 0..TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(Guard { directory: self, _lock: lock }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(TRY),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// Makes a directory for the user of this process only.
#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Nobody but the user of this process can enter it.
#[cfg(unix)]
fn is_own(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: asks for a number and cannot fail.
    meta.uid() == unsafe { libc::geteuid() } && meta.mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_own(_meta: &std::fs::Metadata) -> bool {
    true
}

impl Guard<'_> {
    /// The links that are there, but for `own`. What dead ones have left is removed.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn links(&self, own: Option<&Place>) -> io::Result<Found> {
        let mut found = Found::default();
        for entry in std::fs::read_dir(&self.directory.path)? {
            let path = entry?.path();
            let is_link = path.file_name().and_then(|name| name.to_str()).is_some_and(is_name);
            if !is_link || own.is_some_and(|own| own.path == path) {
                continue;
            }
            let Some((mut file, changed)) = open(&path) else { continue };
            // The link itself has it for itself alone.
            let is_there = match file.try_lock_shared() {
                Err(TryLockError::WouldBlock) => true,
                Ok(()) => false,
                Err(TryLockError::Error(error)) => return Err(error),
            };
            let mut text = String::new();
            if Read::by_ref(&mut file).take(LONGEST).read_to_string(&mut text).is_err() {
                continue;
            }
            if !is_there {
                // Without a text if it died before it wrote one.
                if text.is_empty() || text.starts_with(HEAD) {
                    let _ = std::fs::remove_file(&path);
                }
                continue;
            }
            match read(&text, since(changed)) {
                Some((true, link)) => found.running.push(link),
                Some((false, link)) => found.waiting.push(link),
                // Of another version of weld.
                None => {}
            }
        }
        Ok(found)
    }

    /// Makes a place for a link.
    ///
    /// # Errors
    /// Those of the system.
    pub fn enter(&self, link: &Link, is_running: bool) -> io::Result<Place> {
        let number = RandomState::new().build_hasher().finish();
        let path = self.directory.path.join(name(std::process::id(), number));
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(&path)?;
        file.lock()?;
        let mut place = Place { file, path };
        place.say(link, is_running)?;
        Ok(place)
    }
}

impl Place {
    /// Says what has become of the link.
    ///
    /// # Errors
    /// Those of the system.
    pub fn say(&mut self, link: &Link, is_running: bool) -> io::Result<()> {
        let text = write(link, is_running);
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }

    /// Says that the link, which waits, still looks.
    ///
    /// # Errors
    /// Those of the system.
    pub fn show(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // If it cannot be removed, the next one finds that it is nobody's.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The name of a link's file: its process and a number that no other has.
fn name(process: u32, number: u64) -> String {
    format!("{process}.{number:016x}")
}

/// Whether a file is called like a link's.
fn is_name(text: &str) -> bool {
    let parts = text
        .split_once('.')
        .and_then(|(process, number)| Some((process.parse().ok()?, u64::from_str_radix(number, 16).ok()?)));
    parts.is_some_and(|(process, number)| name(process, number) == text)
}

/// The file of a link, and when it was changed. Opening does not wait for anything.
fn open(path: &Path) -> Option<(File, SystemTime)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let file = meta.is_file().then(|| File::open(path).ok()).flatten()?;
    Some((file, meta.modified().ok()?))
}

/// How far a time is from now. Clocks may be set back.
fn since(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_else(|ahead| ahead.duration())
}

/// What a record begins with.
const HEAD: &str = "weld ";

fn write(link: &Link, is_running: bool) -> String {
    // Of the same length either way: one is written over the other.
    let state = if is_running { "running" } else { "waiting" };
    let head = format!("weld 1 {state} {} {} {}", std::process::id(), process_space(), link.number);
    let scopes: String = link.scopes.iter().map(|scope| format!(" {scope}")).collect();
    format!("{head} {} {} {}{scopes}\n", link.need, link.since, link.slots)
}

/// The link of a record that was changed so long ago, and whether it runs.
fn read(text: &str, silent: Duration) -> Option<(bool, Seen)> {
    let mut words = text.strip_prefix("weld 1 ")?.strip_suffix('\n')?.split(' ');
    let is_running = match words.next()? {
        "running" => true,
        "waiting" => false,
        _ => return None,
    };
    let mut number = || words.next()?.parse::<u64>().ok();
    let (process, space) = (u32::try_from(number()?).ok()?, number()?);
    let (own_number, need, since) = (number()?, number()?, number()?);
    let slots = usize::try_from(number()?).ok()?;
    let scopes = words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    let link = Link { need, used: 0, since, number: own_number, slots, scopes };
    Some((is_running, Seen { link, process, space, silent }))
}

/// The space that numbers of processes are of.
#[cfg(target_os = "linux")]
pub fn process_space() -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino())
}

#[cfg(not(target_os = "linux"))]
pub fn process_space() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    fn link(number: u64) -> Link {
        Link { need: 1 << 40, used: 0, since: u64::MAX, number, slots: 2, scopes: vec![3, u64::MAX] }
    }

    #[test]
    fn links_find_each_other_and_leave() {
        let dir = TestDir::new("link-slots");
        let directory = Directory::open(&dir.join("links")).unwrap();
        let guard = directory.look().unwrap();
        let mut own = guard.enter(&link(1), false).unwrap();
        let other = guard.enter(&link(2), true).unwrap();
        let seen = guard.links(Some(&own)).unwrap();
        assert_eq!((seen.running.len(), seen.waiting.len()), (1, 0));
        assert_eq!((&seen.running[0].link, seen.running[0].process), (&link(2), std::process::id()));
        assert_eq!(guard.links(Some(&other)).unwrap().waiting[0].link, link(1));
        own.say(&link(1), true).unwrap();
        assert_eq!(guard.links(Some(&other)).unwrap().running[0].link, link(1));
        drop(other);
        assert_eq!(guard.links(Some(&own)).unwrap().running.len(), 0);
    }

    #[test]
    fn what_the_dead_leave_and_what_is_no_record() {
        let dir = TestDir::new("link-slots-dead");
        let path = dir.join("links");
        let directory = Directory::open(&path).unwrap();
        let put = |name: &str, text: &[u8]| std::fs::write(path.join(name), text).unwrap();
        let dead = [name(1, 2), name(1, 3)];
        put(&dead[0], write(&link(1), true).as_bytes());
        put(&dead[1], b"");
        // What nobody of weld's has written stays, whatever it is called.
        let strange =
            ["notes.txt", "1.2", "4711.000000000000000G", "1.0000000000000004", "+1.0000000000000005"];
        strange.iter().for_each(|name| put(name, b"precious"));
        let locked = File::create(path.join(name(2, 1))).unwrap();
        locked.lock().unwrap();
        let seen = directory.look().unwrap().links(None).unwrap();
        assert_eq!((seen.running.len(), seen.waiting.len()), (0, 0));
        assert!(dead.iter().all(|name| !path.join(name).exists()));
        assert!(strange.iter().all(|name| path.join(name).exists()) && path.join(name(2, 1)).exists());
    }

    #[test]
    fn who_waits_says_that_it_looks() {
        let dir = TestDir::new("link-slots-silent");
        let directory = Directory::open(&dir.join("links")).unwrap();
        let guard = directory.look().unwrap();
        let place = guard.enter(&link(1), false).unwrap();
        let silent = |guard: &Guard| guard.links(None).unwrap().waiting[0].silent;
        for time in [SystemTime::now() - Duration::from_secs(60), SystemTime::now() + Duration::from_secs(60)]
        {
            place.file.set_modified(time).unwrap();
            assert!(silent(&guard) > Duration::from_secs(50));
        }
        place.show().unwrap();
        assert!(silent(&guard) < Duration::from_secs(50));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stopped_process() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let process = child.id();
        let seen = Seen { link: link(1), process, space: process_space(), silent: Duration::ZERO };
        assert!(!seen.is_stopped());
        // SAFETY: it is our child, which has not been waited for.
        unsafe { libc::kill(process as i32, libc::SIGSTOP) };
        let start = std::time::Instant::now();
        while !seen.is_stopped() && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(TRY);
        }
        let is_stopped = seen.is_stopped();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_stopped && !seen.is_stopped());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_of_others_is_not_used() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = TestDir::new("link-slots-others");
        let open = dir.join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Directory::open(&open).is_err());
        let own = dir.join("own");
        Directory::open(&own).unwrap();
        assert_eq!(std::fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700);
        symlink(&own, dir.join("link")).unwrap();
        assert!(Directory::open(&dir.join("link")).is_err());
        assert!(Directory::open(&dir.join("no/such")).is_err());
    }
}
