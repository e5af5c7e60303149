//! What a system says of a file, by which a later run knows whether somebody has written to it.
//!
//! Who writes to a file changes its time of modification, which tools can set back, and its time of change,
//! which they cannot; a hard link more or less changes the latter, too. Both have the grain of the system's
//! clock, so what was written shortly before it was looked at may be written to once more without a trace
//! ([`Stamp::is_older_than`]).

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Files that are stamped may be younger than the clock says by this much: clocks of file systems go in
/// ticks.
pub const GRAIN: Duration = Duration::from_millis(20);

/// The same where a file system keeps no parts of seconds; FAT keeps even ones.
const COARSE: Duration = Duration::from_secs(2);

/// Times are nanoseconds after 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub device: u64,
    pub number: u64,
    /// In bytes.
    pub size: u64,
    pub modified: i64,
    pub changed: i64,
}

impl Stamp {
    /// Of the file that a path leads to.
    ///
    /// # Errors
    /// Those of the system; and if it is no regular file, of which a stamp says nothing.
    pub fn at(path: &Path) -> io::Result<Stamp> {
        Stamp::of(&std::fs::metadata(path)?).ok_or(io::ErrorKind::InvalidInput.into())
    }

    /// `None` for what is no regular file, and on systems that do not tell.
    #[cfg(unix)]
    pub fn of(meta: &Metadata) -> Option<Stamp> {
        use std::os::unix::fs::MetadataExt;
        let time =
            |seconds: i64, nanoseconds: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds);
        meta.is_file().then(|| Stamp {
            device: meta.dev(),
            number: meta.ino(),
            size: meta.len(),
            modified: time(meta.mtime(), meta.mtime_nsec()),
            changed: time(meta.ctime(), meta.ctime_nsec()),
        })
    }

    /// `None` for what is no regular file, and on systems that do not tell.
    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Option<Stamp> {
        None
    }

    /// Whether nobody has written to the file, as far as times tell that a tool may set: links to it may have
    /// come and gone.
    pub fn is_same_but_links(&self, other: &Stamp) -> bool {
        Stamp { changed: other.changed, ..*self } == *other
    }

    /// Whether the file was modified before `moment`, as far as the time tells that a tool may set.
    pub fn is_modified_before(&self, moment: SystemTime) -> bool {
        let passed = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u128::try_from(self.modified).map_or(true, |time| time < passed.as_nanos())
    }

    /// Whether whoever writes to the file after `moment` leaves another stamp.
    pub fn is_older_than(&self, moment: SystemTime) -> bool {
        let passed = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let is_coarse = self.modified % 1_000_000_000 == 0 && self.changed % 1_000_000_000 == 0;
        let limit = passed.saturating_sub(if is_coarse { COARSE } else { GRAIN }).as_nanos();
        let is_older = |time: i64| u128::try_from(time).map_or(true, |time| time < limit);
        is_older(self.modified) && is_older(self.changed)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    #[test]
    fn times_without_parts_of_seconds_are_coarse() {
        let at = |seconds: f64| SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds);
        let fine = Stamp { modified: 5_000_000_000, changed: 5_000_000_001, ..Stamp::default() };
        assert!(fine.is_older_than(at(5.1)));
        let coarse = Stamp { changed: 5_000_000_000, ..fine };
        assert!(!coarse.is_older_than(at(6.9)) && coarse.is_older_than(at(7.1)));
    }

    #[test]
    fn writing_and_linking_leave_traces() {
        let dir = TestDir::new("stamp");
        let path = dir.join("file");
        std::fs::write(&path, "one").unwrap();
        let first = Stamp::at(&path).unwrap();
        assert_eq!(first, Stamp::at(&path).unwrap());
        assert!(!first.is_older_than(SystemTime::now()));
        std::thread::sleep(3 * GRAIN);
        assert!(first.is_older_than(SystemTime::now()));
        std::fs::hard_link(&path, dir.join("link")).unwrap();
        let linked = Stamp::at(&path).unwrap();
        assert!(linked.is_modified_before(SystemTime::now()));
        assert!(!linked.is_modified_before(SystemTime::now() - Duration::from_secs(60)));
        assert!(linked != first && linked.is_same_but_links(&first));
        // A tool may set the time back, and cannot hide that.
        std::fs::write(&path, "two").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(first.modified as u64);
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
        let written = Stamp::at(&path).unwrap();
        assert!(written != linked && written.is_same_but_links(&linked));
        std::fs::write(&path, "three").unwrap();
        assert!(!Stamp::at(&path).unwrap().is_same_but_links(&linked));
        assert!(Stamp::at(dir.path()).is_err());
    }
}
