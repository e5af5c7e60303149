//! `--reproduce=FILE`: a tar file with all that a link reads, so that somebody else can run it again.
//!
//! Every file is stored as `NAME/PATH`, where `NAME` is the tar file's own without `.tar`, and `PATH`
//! is absolute without the leading slash: what refers to its neighbours by relative paths, such as
//! thin archives and linker scripts, finds them in the unpacked tree. With the inputs go
//! `NAME/response.txt`, the command line with paths as [`stored_path`] gives them, and
//! `NAME/version.txt`.
//!
//! The tar is wanted most if the link fails, or if the linker crashes. So it takes its place twice, complete
//! each time: when what the command line names is open, and with the rest (members of thin archives, version
//! scripts, …) before the output does, or when the link has failed. A signal leaves the first one or none,
//! never a part. The inputs are in memory, so writing it anew keeps nothing. It has no times and no owners:
//! the same link makes the same tar.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use self::tar::Tar;
use crate::args::response::Quoting;
use crate::diag::{Cause, Diagnostic, Diagnostics};
use crate::host::Host;
use crate::io::input::InputStore;
use crate::io::output::{self, OutputError, reports};
use crate::text;

mod tar;

/// The contents of a tar file under construction.
struct Reproduction<'a> {
    /// The directory that everything is in.
    root: &'a [u8],
    tar: Tar<'a>,
    stored: HashMap<PathBuf, &'a [u8]>,
}

impl<'a> Reproduction<'a> {
    /// For a tar file of this path.
    fn new(path: &'a Path) -> Self {
        let root = path.file_stem().unwrap_or_default().as_encoded_bytes();
        Reproduction { root, tar: Tar::default(), stored: HashMap::new() }
    }

    /// Adds a file that the link reads from `original`. One that was added before is left out. Two
    /// different files cannot be stored as one: that is an error. (`a/../f` is stored as `f`, and is
    /// not the same if `a` is a symbolic link.)
    fn add(&mut self, original: &Path, bytes: &'a [u8]) -> io::Result<()> {
        let stored = stored_path(original)?;
        match self.stored.get(&stored) {
            Some(&before) if before == bytes => Ok(()),
            Some(_) => {
                let what = format!("two different files would both be stored as {}", text::path(&stored));
                Err(io::Error::new(ErrorKind::AlreadyExists, what))
            }
            None => {
                self.tar.append(&self.name(stored.as_os_str().as_encoded_bytes()), bytes.into());
                self.stored.insert(stored, bytes);
                Ok(())
            }
        }
    }

    /// Adds the command line and the linker's version.
    fn describe(&mut self, response: &str, version: &'a str) {
        self.tar.append(&self.name(b"response.txt"), text::bytes(response).into_owned().into());
        self.tar.append(&self.name(b"version.txt"), version.as_bytes().into());
    }

    fn name(&self, name: &[u8]) -> Vec<u8> {
        [self.root, b"/", name].concat()
    }
}

/// Records what a link reads while it goes on.
///
/// The file is not touched before the inputs are open: one of them may turn out to be it.
pub struct Recorder {
    path: PathBuf,
    response: String,
    version: String,
    /// The command line comes after the files that it names.
    describes_later: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many of the store's files were open at each call of [`Recorder::add`]: those of each are in the
    /// order of their paths.
    opened: Vec<usize>,
    /// How many of them are in the file.
    written: Option<usize>,
    /// Complete, or given up.
    closed: bool,
}

impl Recorder {
    /// A recorder of what a link reads, to `path`, beside its command line and the linker's version.
    pub fn new(path: PathBuf, response: String, version: String) -> Recorder {
        Recorder { path, response, version, describes_later: false, state: Mutex::default() }
    }

    /// Has the command line come after the files that it names, where users of lld-link have it.
    pub fn describing_later(self) -> Recorder {
        Recorder { describes_later: true, ..self }
    }

    /// Writes what has been opened so far, if that is more than at the last call. After an error nothing more
    /// is done.
    pub fn add(&self, store: &InputStore, host: &dyn Host) -> Result<(), Diagnostics> {
        // What is there stays and is written to once: a device, a pipe.
        let at_once = !matches!(output::is_replaced(&self.path), Ok(false));
        self.write(store, host, at_once, false)
    }

    /// Writes the rest, unless that has been done or has failed.
    pub fn finish(&self, store: &InputStore, host: &dyn Host) -> Result<(), Diagnostics> {
        self.write(store, host, true, true)
    }

    fn write(
        &self,
        store: &InputStore,
        host: &dyn Host,
        at_once: bool,
        is_last: bool,
    ) -> Result<(), Diagnostics> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        // An input that was refused may be the file.
        if state.closed || state.opened.is_empty() && store.has_refused() {
            return Ok(());
        }
        let opened = store.opened();
        if state.opened.last() != Some(&opened.len()) {
            state.opened.push(opened.len());
        }
        state.closed = is_last;
        if !at_once || state.written == Some(opened.len()) {
            return Ok(());
        }
        let done = self.contents(&opened, &state.opened).and_then(|tar| self.put(&tar, host));
        state.closed |= done.is_err();
        state.written = Some(opened.len());
        done.map_err(|e| Diagnostic::error(Cause::Reproduce, e.to_string()).into())
    }

    /// The tar file of what has been opened, in the order of the calls that found it.
    fn contents<'a>(
        &'a self,
        opened: &[(PathBuf, &'a [u8])],
        calls: &[usize],
    ) -> Result<Tar<'a>, OutputError> {
        let mut reproduction = Reproduction::new(&self.path);
        let mut start = 0;
        for (call, &end) in calls.iter().enumerate() {
            if call == 0 && !self.describes_later {
                reproduction.describe(&self.response, &self.version);
            }
            // They were opened by many threads.
            let mut new = opened[start..end].to_vec();
            new.sort_unstable();
            new.dedup();
            for (path, bytes) in new {
                reproduction.add(&path, bytes).map_err(|e| OutputError::new("write", &self.path, &e))?;
            }
            if call == 0 && self.describes_later {
                reproduction.describe(&self.response, &self.version);
            }
            start = end;
        }
        Ok(reproduction.tar)
    }

    fn put(&self, tar: &Tar, host: &dyn Host) -> Result<(), OutputError> {
        let file = reports::create(&self.path, tar.len(), host)?;
        tar.write(|at, bytes| file.write_at(at, bytes))?;
        file.commit(false)
    }
}

/// Where a file is in the unpacked directory: its absolute path without root, `.` and `..`.
pub fn stored_path(original: &Path) -> io::Result<PathBuf> {
    let mut stored = PathBuf::new();
    for component in std::path::absolute(original)?.components() {
        match component {
            Component::Normal(name) => stored.push(name),
            Component::ParentDir => _ = stored.pop(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(stored)
}

/// The same, for the command line: the directory itself is `.`.
pub fn stored(path: &OsStr) -> PathBuf {
    let stored = stored_path(Path::new(path)).unwrap_or_else(|_| PathBuf::from(path));
    if stored.as_os_str().is_empty() { PathBuf::from(".") } else { stored }
}

/// A name in front of a path, and what is between them.
pub fn joined(name: impl Into<OsString>, between: &str, value: &OsStr) -> OsString {
    let mut text = name.into();
    text.push(between);
    text.push(value);
    text
}

/// Appends a line of words to `response.txt`, quoted where such a file needs it.
pub fn line(response: &mut String, words: &[&OsStr], quoting: Quoting) {
    for (i, word) in words.iter().enumerate() {
        let word = text::text(word.as_encoded_bytes());
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=/.,:@%^".contains(c);
        if i > 0 {
            response.push(' ');
        }
        if !word.is_empty() && word.chars().all(plain) && !word.starts_with('@') {
            response.push_str(&word);
            continue;
        }
        response.push('"');
        let mut slashes = 0;
        for c in word.chars() {
            match (c, quoting) {
                ('"' | '\\', Quoting::Gnu) => response.push('\\'),
                // There only those in front of a quotation mark stand for something else.
                ('"', Quoting::Windows) => response.extend(std::iter::repeat_n('\\', slashes + 1)),
                _ => {}
            }
            slashes = if c == '\\' { slashes + 1 } else { 0 };
            response.push(c);
        }
        if quoting == Quoting::Windows {
            response.extend(std::iter::repeat_n('\\', slashes));
        }
        response.push('"');
    }
    response.push('\n');
}

#[cfg(test)]
mod tests;
