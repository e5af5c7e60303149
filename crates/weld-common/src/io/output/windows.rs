//! What the output needs of Windows.
//!
//! Type-checked for that system; it has not been run there yet.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::FileExt;
use std::path::Path;

use memmap2::MmapRaw;

use super::engine::FileSystem;

/// Creates a file that must not exist, for reading (a mapping wants that) and writing.
pub fn create_new(path: &Path, _executable: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let _stretch = crate::trace::stretch("write to the file");
    file.seek_write(bytes, offset)
}

/// Fills `bytes` from `offset` on.
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                bytes = &mut bytes[n..];
                offset += n as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Whether a file is a program is in its name here.
pub fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

/// Closes the file. Closing tells of no errors here.
pub fn close(_: File) -> io::Result<()> {
    Ok(())
}

/// Whether files can be created in `directory`, as far as can be told without creating one.
pub fn check_directory(directory: &Path) -> io::Result<()> {
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    Ok(())
}

/// `NUL` is no file that metadata would tell of.
pub fn is_null_device(_: &Metadata) -> bool {
    false
}

pub fn file_system(_: &File) -> FileSystem {
    FileSystem::Other
}

/// Allocates the space of the first `len` bytes: setting a file's length does that on NTFS.
pub fn reserve(file: &File, len: u64) -> io::Result<bool> {
    file.set_len(len)?;
    Ok(true)
}

pub fn advise_huge_pages(_: &MmapRaw) {}
