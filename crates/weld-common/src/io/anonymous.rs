//! Files without names, for bytes that another program is to read as a file.

use std::fs::File;
use std::io;
use std::path::PathBuf;

/// A file with these bytes, which is gone when it is closed.
///
/// # Errors
/// Those of the system, and always where there are none.
#[cfg(target_os = "linux")]
pub fn file(bytes: &[u8]) -> io::Result<File> {
    use std::io::Write;
    use std::os::fd::FromRawFd;

    // By number: the loader would look the function up at every start.
    // SAFETY: a terminated name, and a flag.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_memfd_create, c"weld".as_ptr(), libc::MFD_CLOEXEC as libc::c_long) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is new, and nobody else's.
    let mut file = unsafe { File::from_raw_fd(descriptor as i32) };
    file.write_all(bytes)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
pub fn file(_bytes: &[u8]) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The path by which other processes can open a file that is open here.
#[cfg(unix)]
pub fn path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

#[cfg(not(unix))]
pub fn path(_file: &File) -> PathBuf {
    PathBuf::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn others_can_read_it() {
        let file = file(b"some bytes").unwrap();
        assert_eq!(std::fs::read(path(&file)).unwrap(), b"some bytes");
    }
}
