//! The temporary file that becomes the output.
//!
//! It is in the directory of the output, for a rename does not cross file systems, and is created
//! exclusively under a name that nobody can foresee, so that neither another link nor somebody with
//! write access to the directory can put a file or link in its place.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::identity::directory_of;
use super::sys;
use crate::host::Host;

/// Longest output name, in bytes, that is repeated in the temporary one. File names end at 255.
const LONGEST_NAME: usize = 200;

/// Removes the file when dropped.
pub struct TempFile<'h> {
    path: PathBuf,
    host: &'h dyn Host,
    renamed: bool,
}

impl<'h> TempFile<'h> {
    /// Creates an empty file next to `output`, with the permissions of a new file (or program).
    pub fn create(output: &Path, executable: bool, host: &'h dyn Host) -> io::Result<(TempFile<'h>, File)> {
        Self::make(output, host, |path| sys::create_new(path, executable))
    }

    /// Gives a file that exists another name next to `output`.
    pub fn link(output: &Path, file: &Path, host: &'h dyn Host) -> io::Result<TempFile<'h>> {
        Self::make(output, host, |path| std::fs::hard_link(file, path)).map(|(temp, ())| temp)
    }

    fn make<T>(
        output: &Path,
        host: &'h dyn Host,
        create: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(TempFile<'h>, T)> {
        let random = RandomState::new();
        for attempt in 0..100u32 {
            let path = directory_of(output).join(name_for(output, random.hash_one(attempt)));
            let mut created = Err(ErrorKind::Other.into());
            host.create_temp(&path, &mut || {
                created = create(&path);
                created.is_ok()
            });
            match created {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
                Ok(file) => return Ok((TempFile { path, host, renamed: false }, file)),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn rename(mut self, output: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, output)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing can be done about an error, and the one that led here is reported.
            let _ = std::fs::remove_file(&self.path);
        }
        self.host.temp_gone(&self.path);
    }
}

/// Hidden, and named after the output, so that one left by a crash can be told.
fn name_for(output: &Path, random: u64) -> OsString {
    let mut name = OsString::from(".");
    if let Some(output) = output.file_name().filter(|name| name.len() <= LONGEST_NAME) {
        name.push(output);
        name.push(".");
    }
    name.push(format!("weld-{random:016x}"));
    name
}
