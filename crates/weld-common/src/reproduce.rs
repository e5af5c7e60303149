//! `--reproduce=FILE`: a tar file with all that a link reads, so that somebody else can run it again.
//!
//! Every file is stored as `NAME/PATH`, where `NAME` is the tar file's own without `.tar`, and `PATH`
//! is absolute without the leading slash: what refers to its neighbours by relative paths, such as
//! thin archives and linker scripts, finds them in the unpacked tree. With the inputs go
//! `NAME/response.txt`, the command line with paths as [`stored_path`] gives them, and
//! `NAME/version.txt`.
//!
//! The tar is complete when it is finished or dropped, also if the link fails, which is when it is
//! wanted most. It has no times and no owners: the same link makes the same tar.
//!
//! Format: POSIX.1-2001 `ustar`, with pax records for names and sizes that do not fit.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use crate::args::response::Quoting;
use crate::diag::{Diagnostic, Diagnostics};
use crate::io::input::InputStore;
use crate::io::output::OutputError;
use crate::text;

const BLOCK: usize = 512;

/// The largest size, in bytes, for which a header has room.
const LARGEST_USTAR_SIZE: u64 = 0o77_777_777_777;

/// A tar file under construction.
pub struct Reproduce {
    path: PathBuf,
    /// The directory that everything is in.
    root: Vec<u8>,
    tar: Option<Tar<BufWriter<File>>>,
    /// Hashes of the contents by stored path.
    stored: HashMap<PathBuf, u64>,
}

impl Reproduce {
    /// Creates or truncates `path`.
    pub fn new(path: &Path) -> Result<Reproduce, OutputError> {
        let file = File::create(path).map_err(|e| OutputError::new("create", path, &e))?;
        Ok(Reproduce {
            path: path.to_owned(),
            root: path.file_stem().unwrap_or_default().as_encoded_bytes().to_vec(),
            tar: Some(Tar(BufWriter::with_capacity(1 << 16, file))),
            stored: HashMap::new(),
        })
    }

    /// Adds a file that the link reads from `original`. One that was added before is left out. Two
    /// different files cannot be stored as one: that is an error. (`a/../f` is stored as `f`, and is
    /// not the same if `a` is a symbolic link.)
    pub fn add(&mut self, original: &Path, bytes: &[u8]) -> Result<(), OutputError> {
        let stored = stored_path(original).map_err(|e| self.failed(&e))?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let hash = hasher.finish();
        match self.stored.get(&stored) {
            Some(&before) if before == hash => Ok(()),
            Some(_) => {
                let what = format!("two different files would both be stored as {}", text::path(&stored));
                Err(self.failed(&io::Error::new(ErrorKind::AlreadyExists, what)))
            }
            None => {
                self.append(stored.as_os_str().as_encoded_bytes(), bytes)?;
                self.stored.insert(stored, hash);
                Ok(())
            }
        }
    }

    /// Adds the command line and the linker's version.
    pub fn describe(&mut self, response: &str, version: &str) -> Result<(), OutputError> {
        self.append(b"response.txt", &text::bytes(response))?;
        self.append(b"version.txt", version.as_bytes())
    }

    /// Hands what has been added to the system. If the linker crashes later on, it is not lost.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        let done = self.tar.as_mut().map_or(Ok(()), |tar| tar.0.flush());
        done.map_err(|e| self.failed(&e))
    }

    /// Completes the tar file.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let done = self.tar.take().map_or(Ok(()), Tar::finish);
        done.map_err(|e| self.failed(&e))
    }

    fn append(&mut self, name: &[u8], bytes: &[u8]) -> Result<(), OutputError> {
        let name = [&self.root, b"/".as_slice(), name].concat();
        let done = self.tar.as_mut().map_or(Ok(()), |tar| tar.append(&name, bytes));
        done.map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &io::Error) -> OutputError {
        OutputError::new("write", &self.path, error)
    }
}

impl Drop for Reproduce {
    fn drop(&mut self) {
        if let Some(tar) = self.tar.take() {
            // The link has failed already; its error is the one to report.
            let _ = tar.finish();
        }
    }
}

/// Records what a link reads while it goes on.
///
/// What the command line names is stored as soon as it is open, the rest (members of thin archives,
/// version scripts, …) before the output takes its place, or when the link has failed. If the linker
/// crashes in between, the first part is there. The file is not touched before the inputs are open: one
/// of them may turn out to be it.
pub struct Recorder {
    path: PathBuf,
    response: String,
    version: String,
    /// The command line comes behind the files that it names.
    describes_later: bool,
    files: Mutex<Files>,
}

struct Files {
    file: State,
    /// How many of the store's files are in it.
    stored: usize,
}

enum State {
    Planned,
    Open(Reproduce),
    /// Complete, or given up.
    Closed,
}

fn failed(error: OutputError) -> Diagnostics {
    Diagnostic::error(error.to_string()).into()
}

impl Recorder {
    /// A recorder of what a link reads, to `path`, beside its command line and the linker's version.
    pub fn new(path: PathBuf, response: String, version: String) -> Recorder {
        let files = Mutex::new(Files { file: State::Planned, stored: 0 });
        Recorder { path, response, version, describes_later: false, files }
    }

    /// Has the command line come behind the files that it names, where users of lld-link have it.
    pub fn describing_later(self) -> Recorder {
        Recorder { describes_later: true, ..self }
    }

    /// Adds what has been opened since the last call. After an error nothing more is done.
    pub fn add(&self, store: &InputStore) -> Result<(), Diagnostics> {
        let mut files = self.files.lock().unwrap_or_else(|e| e.into_inner());
        let added = self.add_to(&mut files, store);
        if added.is_err() {
            files.file = State::Closed;
        }
        added.map_err(failed)
    }

    fn add_to(&self, files: &mut Files, store: &InputStore) -> Result<(), OutputError> {
        let mut is_due = false;
        if let State::Planned = files.file {
            if store.has_refused() {
                // The input that was refused may be the file.
                return Ok(());
            }
            let mut file = Reproduce::new(&self.path)?;
            is_due = self.describes_later;
            if !is_due {
                file.describe(&self.response, &self.version)?;
            }
            files.file = State::Open(file);
        }
        let State::Open(file) = &mut files.file else { return Ok(()) };
        let opened = store.opened();
        let mut new = opened[files.stored..].to_vec();
        files.stored = opened.len();
        // They were opened by many threads.
        new.sort_unstable();
        new.dedup();
        for (path, bytes) in new {
            file.add(&path, bytes)?;
        }
        if is_due {
            file.describe(&self.response, &self.version)?;
        }
        file.flush()
    }

    /// Adds the rest and completes the file, unless that has been done or has failed.
    pub fn finish(&self, store: &InputStore) -> Result<(), Diagnostics> {
        self.add(store)?;
        let mut files = self.files.lock().unwrap_or_else(|e| e.into_inner());
        match std::mem::replace(&mut files.file, State::Closed) {
            State::Open(file) => file.finish().map_err(failed),
            State::Planned | State::Closed => Ok(()),
        }
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

/// Writes tar entries.
struct Tar<W>(W);

impl<W: Write> Tar<W> {
    fn append(&mut self, name: &[u8], bytes: &[u8]) -> io::Result<()> {
        let size = bytes.len() as u64;
        let split = split_name(name);
        let mut records = Vec::new();
        if split.is_none() {
            records.extend(pax_record("path", name));
        }
        if size > LARGEST_USTAR_SIZE {
            records.extend(pax_record("size", size.to_string().as_bytes()));
        }
        if !records.is_empty() {
            self.0.write_all(&header((b"", b"PaxHeader"), records.len() as u64, b'x'))?;
            self.write_padded(&records)?;
        }
        let short = split.unwrap_or_else(|| (b"", &name[..100]));
        self.0.write_all(&header(short, size.min(LARGEST_USTAR_SIZE), b'0'))?;
        self.write_padded(bytes)
    }

    fn write_padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.write_all(&[0; BLOCK][..bytes.len().next_multiple_of(BLOCK) - bytes.len()])
    }

    fn finish(mut self) -> io::Result<()> {
        self.0.write_all(&[0; 2 * BLOCK])?;
        self.0.flush()
    }
}

/// Cuts a name at a slash into the parts that a header has room for: 155 and 100 bytes.
fn split_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= 100 {
        return Some((b"", name));
    }
    let first = name.len() - 101;
    let slash = first + memchr::memchr(b'/', &name[first..])?;
    (slash <= 155 && slash > 0).then(|| (&name[..slash], &name[slash + 1..]))
}

/// `LENGTH KEY=VALUE\n`, where the length counts itself.
fn pax_record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut len = rest + 1;
    while len != rest + len.to_string().len() {
        len = rest + len.to_string().len();
    }
    let mut record = format!("{len} {key}=").into_bytes();
    record.extend_from_slice(value);
    record.push(b'\n');
    record
}

fn header((prefix, name): (&[u8], &[u8]), size: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name);
    put(100, b"0000644\0"); // mode
    put(108, b"0000000\0"); // owner
    put(116, b"0000000\0"); // group
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0"); // time
    put(148, b"        "); // checksum, counted as spaces
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    put(345, prefix);
    let sum: u32 = block.iter().map(|&b| u32::from(b)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testdir::TestDir;

    /// The entries of a tar file: name, contents.
    fn read(mut tar: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut entries = Vec::new();
        let mut long = None;
        assert_eq!(tar.len() % BLOCK, 0);
        while tar[0] != 0 {
            let (block, rest) = tar.split_at(BLOCK);
            let text = |at: usize, len: usize| {
                let field = &block[at..at + len];
                String::from_utf8_lossy(&field[..field.iter().position(|&b| b == 0).unwrap_or(len)])
                    .into_owned()
            };
            let size = usize::from_str_radix(&text(124, 12), 8).unwrap();
            let bytes = rest[..size].to_vec();
            tar = &rest[size.next_multiple_of(BLOCK)..];
            if block[156] == b'x' {
                let record = String::from_utf8(bytes).unwrap();
                assert_eq!(record.split(' ').next().unwrap().parse(), Ok(record.len()));
                long = Some(record.split_once("path=").unwrap().1.trim_end().to_owned());
                continue;
            }
            let prefix = text(345, 155);
            let short = if prefix.is_empty() { text(0, 100) } else { format!("{prefix}/{}", text(0, 100)) };
            entries.push((long.take().unwrap_or(short), bytes));
        }
        assert_eq!(tar, [0; 2 * BLOCK]);
        entries
    }

    #[test]
    fn files_response_and_version() {
        let dir = TestDir::new("reproduce");
        let path = dir.join("repro.tar");
        let mut repro = Reproduce::new(&path).unwrap();
        repro.add(Path::new("/usr/lib/./x/../crt1.o"), b"crt").unwrap();
        repro.add(Path::new("/usr/lib/crt1.o"), b"crt").unwrap();
        repro.add(Path::new("/a.o"), &[7; 513]).unwrap();
        let error = repro.add(Path::new("/usr/lib/y/../crt1.o"), b"other").unwrap_err().to_string();
        assert!(error.ends_with("two different files would both be stored as usr/lib/crt1.o"), "{error}");
        repro.describe("-o x a.o\n", "weld 1\n").unwrap();
        repro.flush().unwrap();
        repro.finish().unwrap();
        let want: [(&str, &[u8]); 4] = [
            ("repro/usr/lib/crt1.o", b"crt"),
            ("repro/a.o", &[7; 513]),
            ("repro/response.txt", b"-o x a.o\n"),
            ("repro/version.txt", b"weld 1\n"),
        ];
        let got = read(&std::fs::read(&path).unwrap());
        assert!(got.iter().map(|(n, b)| (n.as_str(), b.as_slice())).eq(want), "{got:?}");
    }

    #[test]
    fn dropped_tar_is_complete() {
        let dir = TestDir::new("reproduce-drop");
        let path = dir.join("r.tar");
        let mut repro = Reproduce::new(&path).unwrap();
        repro.add(Path::new("/a.o"), b"a").unwrap();
        drop(repro);
        assert_eq!(read(&std::fs::read(&path).unwrap()), [("r/a.o".into(), b"a".to_vec())]);
    }

    #[test]
    fn relative_paths_begin_at_the_working_directory() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(Path::new("/").join(stored_path(Path::new("./x/../a.o")).unwrap()), here.join("a.o"));
    }

    #[test]
    fn names_of_every_length() {
        let names: Vec<String> = (1..400)
            .map(|len| {
                format!("d/{}", if len % 3 == 0 { "abcdefgh/".repeat(len / 9) } else { "x".repeat(len) })
            })
            .map(|name| name.trim_end_matches('/').to_owned())
            .collect();
        let mut tar = Tar(Vec::new());
        for name in &names {
            tar.append(name.as_bytes(), b"").unwrap();
        }
        let mut bytes = tar.0;
        bytes.extend([0; 2 * BLOCK]);
        let got: Vec<String> = read(&bytes).into_iter().map(|e| e.0).collect();
        assert_eq!(got, names);
    }

    #[test]
    fn pax_lengths_count_themselves() {
        for len in 0..1100 {
            let record = pax_record("path", &vec![b'x'; len]);
            let said: usize = String::from_utf8_lossy(&record).split(' ').next().unwrap().parse().unwrap();
            assert_eq!(said, record.len());
        }
    }
}
