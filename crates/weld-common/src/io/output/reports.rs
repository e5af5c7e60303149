//! What a link writes beside its output: maps, rules for make, traces.
//!
//! A report that cannot be written makes the link fail, so it has to be known before the output takes
//! its place. Reports are kept until the image is complete, written to temporary files of their own
//! (or to the device or pipe that is there), and renamed right before the output. A link that fails
//! before that writes those it has come to, which tell why.
//!
//! A report may not take the place of an input, of the output or of another report
//! ([`super::super::identity`]).

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{ClosedOutput, OutputError, OutputFile, OutputOptions, names_descriptor};
use crate::host::Host;

/// The reports of one link.
#[derive(Default)]
pub struct Reports {
    texts: Mutex<Vec<(PathBuf, Vec<u8>)>>,
}

impl Reports {
    pub fn new() -> Self {
        Self::default()
    }

    /// `text` is to be written to `path`.
    pub fn add(&self, path: &Path, text: Vec<u8>) {
        self.texts.lock().unwrap().push((path.to_owned(), text));
    }

    /// What `of` says of each that has been added and not been written yet.
    pub fn each<R>(&self, of: impl Fn(&Path, &[u8]) -> R) -> Vec<R> {
        self.texts.lock().unwrap().iter().map(|(path, text)| of(path, text)).collect()
    }

    /// Writes those that have been added and not been written yet, each complete but for its place.
    pub fn write<'h>(&self, host: &'h dyn Host) -> Result<Vec<ClosedOutput<'h>>, OutputError> {
        let texts = std::mem::take(&mut *self.texts.lock().unwrap());
        texts.iter().map(|(path, text)| write_one(path, text, host)).collect()
    }
}

fn write_one<'h>(path: &Path, text: &[u8], host: &'h dyn Host) -> Result<ClosedOutput<'h>, OutputError> {
    let file = create(path, text.len() as u64, host)?;
    file.write_at(0, text)?;
    file.close(false)
}

/// The file of a report of `len` bytes.
///
/// # Errors
/// If it cannot be created.
pub fn create<'h>(path: &Path, len: u64, host: &'h dyn Host) -> Result<OutputFile<'h>, OutputError> {
    let path = behind_links(path);
    match OutputFile::create(&path, len, &OutputOptions::default(), host) {
        // The file may be writable where its directory is not.
        Err(e) if matches!(e.kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            let Ok(file) = OpenOptions::new().write(true).open(&path) else { return Err(e) };
            OutputFile::in_place(&path, len, file)
        }
        created => created,
    }
}

/// Where a report goes: a link in its place stays, and what it leads to is replaced.
fn behind_links(path: &Path) -> PathBuf {
    match path.is_symlink() && !names_descriptor(path) {
        true => fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit_all;
    use super::*;
    use crate::host::QuietHost;
    use crate::io::testdir::TestDir;

    fn commit(reports: &Reports) -> Result<(), OutputError> {
        let host = QuietHost::new();
        commit_all(reports.write(&host)?)
    }

    #[test]
    fn nothing_is_replaced_before_all_are_written() {
        let dir = TestDir::new("reports");
        let (a, missing) = (dir.join("a"), dir.join("no").join("b"));
        fs::write(&a, "old").unwrap();
        let reports = Reports::new();
        reports.add(&a, b"new".to_vec());
        reports.add(&missing, b"new".to_vec());
        let error = commit(&reports).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot create ") && error.ends_with("No such file or directory"),
            "{error}"
        );
        assert_eq!((fs::read(&a).unwrap(), dir.list()), (b"old".to_vec(), vec!["a".to_owned()]));
        reports.add(&a, b"new".to_vec());
        commit(&reports).unwrap();
        assert_eq!((fs::read(&a).unwrap(), dir.list()), (b"new".to_vec(), vec!["a".to_owned()]));
        reports.add(&a, b"newer".to_vec());
        reports.add(Path::new("/dev/full"), b"newer".to_vec());
        commit(&reports).unwrap_err();
        assert_eq!((fs::read(&a).unwrap(), dir.list()), (b"new".to_vec(), vec!["a".to_owned()]));
    }

    #[test]
    fn links_stay_and_devices_are_written_to() {
        let dir = TestDir::new("report-links");
        fs::write(dir.join("file"), "old, and longer").unwrap();
        std::os::unix::fs::symlink("file", dir.join("link")).unwrap();
        let reports = Reports::new();
        reports.add(&dir.join("link"), b"new".to_vec());
        reports.add(Path::new("/dev/null"), b"new".to_vec());
        commit(&reports).unwrap();
        assert!(dir.join("link").is_symlink());
        assert_eq!(fs::read(dir.join("file")).unwrap(), b"new");
        reports.add(Path::new("/dev/full"), b"new".to_vec());
        assert_eq!(
            commit(&reports).unwrap_err().to_string(),
            "cannot write /dev/full: No space left on device"
        );
        reports.add(&dir.join("empty"), Vec::new());
        commit(&reports).unwrap();
        assert_eq!(fs::read(dir.join("empty")).unwrap(), b"");
        let file = OpenOptions::new().write(true).open(dir.join("file")).unwrap();
        let file = OutputFile::in_place(&dir.join("file"), 1, file).unwrap();
        file.write_at(0, b"x").unwrap();
        file.commit(false).unwrap();
        assert_eq!(fs::read(dir.join("file")).unwrap(), b"x");
    }
}
