//! A file that is mapped, for who wants to know whether it has changed since.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file in memory, at `start..start + len` (bytes).
#[derive(Debug)]
pub struct MappedFile {
    pub path: PathBuf,
    pub start: usize,
    pub len: usize,
    state: State,
}

/// What changes when a file is written to: its size, and its time of modification. (Not its number:
/// some file systems make numbers up as they go.)
#[derive(Debug, PartialEq, Eq)]
struct State(u64, Option<SystemTime>);

impl State {
    fn of(meta: &Metadata) -> State {
        State(meta.len(), meta.modified().ok())
    }
}

impl MappedFile {
    /// `meta` is what the file was when it was opened.
    pub fn new(path: &Path, start: usize, len: usize, meta: &Metadata) -> MappedFile {
        MappedFile { path: path.to_owned(), start, len, state: State::of(meta) }
    }

    /// Whether the file under the path is another one now, or has been written to.
    pub fn has_changed(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|meta| State::of(&meta) != self.state)
    }
}
