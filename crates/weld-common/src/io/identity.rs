//! Which file a path leads to.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::path::Path;

/// What a path leads to. Two paths that have the same one are paths to one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Device and number.
    File(u64, u64),
    /// The same of the directory in which there is no such file yet.
    Missing(u64, u64, OsString),
}

impl Identity {
    /// `None` for devices and pipes, to which several may write, and for what cannot be created.
    pub fn of(path: &Path) -> Option<Identity> {
        match fs::metadata(path) {
            Ok(meta) if !meta.is_file() => None,
            Ok(meta) => numbers_at(path, &meta).map(|(device, number)| Identity::File(device, number)),
            Err(_) => {
                let directory = directory_of(path);
                let (device, number) = numbers_at(directory, &fs::metadata(directory).ok()?)?;
                Some(Identity::Missing(device, number, path.file_name()?.to_owned()))
            }
        }
    }

    /// The same of an open file, of which `meta` tells.
    pub fn of_open(file: &File, meta: &Metadata) -> Option<Identity> {
        let (device, number) = meta.is_file().then(|| numbers(file, meta))??;
        Some(Identity::File(device, number))
    }
}

/// Two of the files that a link writes are one: what they are, and the path of the second.
#[derive(Debug)]
pub struct Clash<'p> {
    pub first: &'p str,
    pub second: &'p str,
    pub path: &'p Path,
}

/// The identities of files that a link writes, each of which comes with what it is.
///
/// # Errors
/// If two of them are the same file.
pub fn distinct<'p>(
    files: impl IntoIterator<Item = (&'p str, &'p Path)>,
) -> Result<Vec<(Identity, &'p str)>, Clash<'p>> {
    let mut found: Vec<(Identity, &str)> = Vec::new();
    for (second, path) in files {
        let Some(identity) = Identity::of(path) else { continue };
        if let Some(&(_, first)) = found.iter().find(|(of, _)| *of == identity) {
            return Err(Clash { first, second, path });
        }
        found.push((identity, second));
    }
    Ok(found)
}

/// The directory that a file is in.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn numbers(_: &File, meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

#[cfg(unix)]
fn numbers_at(_: &Path, meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((meta.dev(), meta.ino()))
}

/// Windows tells the numbers of an open file only: the volume's, and the file's on it.
#[cfg(windows)]
fn numbers(file: &File, _: &Metadata) -> Option<(u64, u64)> {
    use std::os::windows::io::AsRawHandle;
    use windows_sys::Win32::Storage::FileSystem::{BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle};

    let mut information = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: an open handle, and room for the answer.
    let done = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut information) };
    let index = u64::from(information.nFileIndexHigh) << 32 | u64::from(information.nFileIndexLow);
    (done != 0).then_some((u64::from(information.dwVolumeSerialNumber), index))
}

#[cfg(windows)]
fn numbers_at(path: &Path, meta: &Metadata) -> Option<(u64, u64)> {
    use std::os::windows::fs::OpenOptionsExt;
    use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;
    // Directories can be opened with this flag only.
    let file =
        fs::OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).ok()?;
    numbers(&file, meta)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    #[test]
    fn one_file_by_several_paths() {
        let dir = TestDir::new("report-identity");
        fs::write(dir.join("a"), "").unwrap();
        fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
        let of = |name: &str| Identity::of(&dir.join(name));
        assert_eq!(of("a"), of("b"));
        assert_eq!(of("a"), of("./a"));
        assert_eq!(of("new"), of("./new"));
        assert_ne!(of("a"), of("new"));
        assert_ne!(of("new"), of("newer"));
        assert_eq!(Identity::of(Path::new("/dev/null")), None);
        assert_eq!(of("no/new"), None);
    }

    #[test]
    fn files_that_are_one() {
        let dir = TestDir::new("report-clash");
        let (a, same, b, null) =
            (dir.join("a"), dir.join("./a"), dir.join("b"), Path::new("/dev/null").to_owned());
        let all = [("one", &*a), ("two", &*b), ("three", &*null), ("four", &*null)];
        assert_eq!(distinct(all).unwrap().iter().map(|(_, what)| *what).collect::<Vec<_>>(), ["one", "two"]);
        let clash = distinct([("one", &*a), ("two", &*b), ("three", &*same)]).unwrap_err();
        assert_eq!((clash.first, clash.second, clash.path), ("one", "three", &*same));
    }
}
