//! What the output needs of a Unix system.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
#[cfg(target_os = "linux")]
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use memmap2::MmapRaw;

use super::engine::FileSystem;

/// Creates a file that must not exist, for reading (a mapping wants that) and writing.
pub fn create_new(path: &Path, executable: bool) -> io::Result<File> {
    let mode = if executable { 0o777 } else { 0o666 };
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let result = {
        let _stretch = crate::trace::stretch("write to the file");
        file.write_at(bytes, offset)
    };
    if result.as_ref().is_err_and(|e| e.raw_os_error() == Some(libc::EFAULT)) {
        // The bytes are in a mapped input that has become shorter. Reading them here raises the
        // signal by which the program learns which one, as it would anywhere else.
        for byte in bytes.iter().step_by(4096).chain(bytes.last()) {
            std::hint::black_box(*byte);
        }
    }
    result
}

/// Fills `bytes` from `offset` on.
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Gives or takes the right to execute. Who may read may execute: the umask is not known here (asking
/// for it would change it for all threads), and it is the read bits that show it.
pub fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let mode = if executable { mode | (mode & 0o444) >> 2 } else { mode & 0o666 };
    file.set_permissions(Permissions::from_mode(mode))
}

/// Closes the file and reports what `drop` would not: network file systems, and quotas, may refuse
/// written data only now.
pub fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor was owned by `file`, which is gone.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        // The descriptor is closed all the same.
        e if e.kind() == io::ErrorKind::Interrupted => Ok(()),
        e => Err(e),
    }
}

/// Whether files can be created in `directory`, as far as permissions tell.
pub fn check_directory(directory: &Path) -> io::Result<()> {
    let path = std::ffi::CString::new(directory.as_os_str().as_bytes())?;
    let wanted = libc::W_OK | libc::X_OK;
    // SAFETY: a terminated string.
    if unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), wanted, libc::AT_EACCESS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(())
}

/// Whether this is the device that swallows everything, at whatever offset.
#[cfg(target_os = "linux")]
pub fn is_null_device(meta: &Metadata) -> bool {
    meta.file_type().is_char_device() && meta.rdev() == libc::makedev(1, 3)
}

/// Its numbers differ between systems, and it can be written to as any device.
#[cfg(not(target_os = "linux"))]
pub fn is_null_device(_: &Metadata) -> bool {
    false
}

#[cfg(target_os = "linux")]
pub fn file_system(file: &File) -> FileSystem {
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: an open descriptor, and room for the answer.
    if unsafe { libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()) } != 0 {
        return FileSystem::Other;
    }
    // SAFETY: the call filled it.
    let magic = unsafe { stat.assume_init() }.f_type;
    // The type of the field differs between platforms; the magic numbers have 32 bits.
    FileSystem::from_linux_magic(u64::from(magic as u32))
}

#[cfg(not(target_os = "linux"))]
pub fn file_system(_: &File) -> FileSystem {
    FileSystem::Other
}

/// Allocates the space of the first `len` bytes. `false` if the file system cannot do that.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, len: u64) -> io::Result<bool> {
    let Ok(len) = libc::off_t::try_from(len) else { return Ok(false) };
    loop {
        // SAFETY: an open descriptor and numbers.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, len) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(false),
            _ => return Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn reserve(_: &File, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// Asks for large pages, where the file system has them. It is a hint: an error means no.
pub fn advise_huge_pages(map: &MmapRaw) {
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}
