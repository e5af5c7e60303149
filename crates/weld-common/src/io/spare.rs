//! A file that is to be written in place, of which nobody else must have any part: open, mapped, running, or
//! under another name.
//!
//! Linux tells by a lease: it is granted only if no other descriptor and no mapping of the file exists. A
//! running program cannot even be opened for writing. Elsewhere, and on file systems without leases, nothing
//! is known, and the answer is that somebody may use it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::stamp::Stamp;

/// Opens a file for reading and writing if this process alone has it, by this one name; with what the system
/// says of it.
///
/// # Errors
/// Those of the system; `ResourceBusy` if somebody may use it.
#[cfg(target_os = "linux")]
pub fn open_alone(path: &Path) -> io::Result<(File, Stamp)> {
    use std::fs::OpenOptions;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let meta = file.metadata()?;
    let stamp = Stamp::of(&meta).ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
    if meta.nlink() != 1 {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    for lease in [libc::F_WRLCK, libc::F_UNLCK] {
        // SAFETY: an open descriptor and numbers.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, lease) } != 0 {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
    }
    Ok((file, stamp))
}

/// Opens a file if nobody else has it, which nobody can know here.
///
/// # Errors
/// Always `ResourceBusy`.
#[cfg(not(target_os = "linux"))]
pub fn open_alone(_: &Path) -> io::Result<(File, Stamp)> {
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Fills `bytes` from `offset` on.
///
/// # Errors
/// Those of the system; `UnexpectedEof` if the file ends before.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    super::output::read_exact_at(file, bytes, offset)
}

/// Writes `bytes` from `offset` on.
///
/// # Errors
/// Those of the system.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    super::output::write_all_at(file, bytes, offset)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    #[test]
    fn whoever_has_the_file_is_noticed() {
        let dir = TestDir::new("spare");
        let path = dir.join("file");
        std::fs::write(&path, "some bytes").unwrap();
        let is_alone = || open_alone(&path).is_ok();
        assert!(is_alone());
        let reader = File::open(&path).unwrap();
        assert!(!is_alone());
        // SAFETY: nobody changes the file.
        let map = unsafe { memmap2::Mmap::map(&reader).unwrap() };
        drop(reader);
        assert!(!is_alone());
        drop(map);
        assert!(is_alone());
        std::fs::hard_link(&path, dir.join("link")).unwrap();
        assert!(!is_alone());
        std::fs::remove_file(dir.join("link")).unwrap();
        assert!(is_alone());
        std::fs::copy("/bin/sleep", &path).unwrap();
        let mut running = std::process::Command::new(&path).arg("10").spawn().unwrap();
        assert!(!is_alone());
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(is_alone());
    }
}
