//! Digests of what links write and say, so that two builds of weld can be compared by their output.
//!
//! With `WELD_TEST_DIGESTS=FILE` in the environment, each link of each test leaves lines in `FILE`, sorted
//! when all tests are done: the test, the step and the file, how many threads, and `LENGTH:HASH` of the
//! contents, with tabs between. `bench/same-bytes tests OLD NEW` compares two such files; `bench/README.md`
//! says how to make them.
//!
//! A step's files are all that its link wrote: the output, and PDBs, maps, import libraries, reports. What a
//! link says is a line `says`, a refusal's is `error`. Of the steps that run programs, files that are linked
//! images or PDBs have lines, since other files there hold what tools say, and times. Left out are what a
//! link says of the time it took (steps `once`), traces of times, and tests in `native`: they link thousands
//! of damaged files and have no steps.
//!
//! Outputs may hold the names of the directory that they were linked in and of the linker (PDBs do), so these
//! tests run in a fixed directory, [`DIRECTORY`], by a copy of weld there. It is locked: two runs do not mix.
//! Debug information has the directory in which an object was compiled; two runs must therefore use the same
//! cache of objects.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where tests run while digests are taken.
const DIRECTORY: &str = "/tmp/weld-test-digests";

/// The file that digests go to, if they are asked for.
fn wanted() -> Option<PathBuf> {
    std::env::var_os("WELD_TEST_DIGESTS").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// The directory to run tests in, if digests are asked for.
pub fn directory() -> Option<PathBuf> {
    wanted().map(|_| PathBuf::from(DIRECTORY))
}

/// The copy of weld that programs are told to link with, if digests are asked for.
pub fn program() -> Option<PathBuf> {
    directory().map(|dir| dir.join("weld"))
}

/// The run as a whole: empties the file when it begins and sorts it in the end.
pub struct Collection {
    file: PathBuf,
    _lock: File,
}

impl Collection {
    /// Begins, if digests are asked for: waits for another run that takes them, and copies `weld`.
    pub fn begin(weld: Option<&Path>) -> Result<Option<Collection>, String> {
        let (Some(file), Some(copy)) = (wanted(), program()) else { return Ok(None) };
        let fail = |e: std::io::Error| format!("{DIRECTORY}: {e}");
        std::fs::create_dir_all(DIRECTORY).map_err(fail)?;
        let lock = File::create(Path::new(DIRECTORY).join("lock")).map_err(fail)?;
        lock.lock().map_err(fail)?;
        if let Some(weld) = weld {
            std::fs::copy(weld, copy).map_err(fail)?;
        }
        std::fs::write(&file, "").map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Some(Collection { file, _lock: lock }))
    }

    pub fn end(self) -> Result<(), String> {
        let fail = |e: std::io::Error| format!("{}: {e}", self.file.display());
        let text = std::fs::read_to_string(&self.file).map_err(fail)?;
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.sort_unstable();
        std::fs::write(&self.file, lines.concat()).map_err(fail)
    }
}

/// What a directory holds: enough of each file to see whether it was written since.
pub type Files = BTreeMap<PathBuf, (u64, i64, i64)>;

/// The digests of one test.
pub struct Digests {
    /// Where they go, and what is gathered for it; nothing is done without.
    file: Option<PathBuf>,
    test: String,
    lines: String,
    /// Steps so far, so that two of the same name can be told apart.
    step: usize,
}

impl Digests {
    pub fn new(test: &str) -> Digests {
        Digests { file: wanted(), test: test.to_owned(), lines: String::new(), step: 0 }
    }

    pub fn wanted(&self) -> bool {
        self.file.is_some()
    }

    /// A step begins: returns the files that there are, if digests are asked for.
    pub fn begin_step(&mut self, dir: &Path) -> Files {
        self.step += 1;
        if self.wanted() { files(dir) } else { Files::new() }
    }

    /// Digests of what a step that began with `before` has written. `threads` is what the link was told, or
    /// `-`.
    pub fn written(&mut self, dir: &Path, before: &Files, threads: &str, is_of_interest: fn(&[u8]) -> bool) {
        if !self.wanted() {
            return;
        }
        for (path, stamp) in files(dir) {
            if before.get(&path) == Some(&stamp) {
                continue;
            }
            let Ok(bytes) = std::fs::read(dir.join(&path)) else { continue };
            if is_of_interest(&bytes) {
                self.line(&path.display().to_string(), threads, &bytes);
            }
        }
    }

    /// The digest of a text that a link printed; names of the directory are none of its own.
    pub fn said(&mut self, what: &str, threads: &str, text: &str) {
        if self.wanted() {
            self.line(what, threads, text.replace(DIRECTORY, "").as_bytes());
        }
    }

    fn line(&mut self, what: &str, threads: &str, bytes: &[u8]) {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        let (len, hash) = (bytes.len(), hasher.finish());
        self.lines += &format!("{}\t{} {what}\t{threads}\t{len}:{hash:016x}\n", self.test, self.step);
    }

    /// Hands the lines over in one write, which other workers' writes do not cut.
    pub fn save(&self) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let opened = OpenOptions::new().append(true).create(true).open(file);
        opened
            .and_then(|mut f| f.write_all(self.lines.as_bytes()))
            .map_err(|e| format!("{}: {e}", file.display()))
    }
}

/// What a link writes: everything but a trace of times.
pub fn not_a_trace(bytes: &[u8]) -> bool {
    !bytes.starts_with(b"{\"displayTimeUnit\"")
}

/// What weld wrote, run by another program. Other linkers write the time into the headers of a PE file, weld
/// does not; ELF files and PDBs of theirs are the same in each run, and do no harm.
pub fn image_or_pdb(bytes: &[u8]) -> bool {
    const ET_REL: [u8; 2] = [0, 1];
    let is_elf = bytes.starts_with(b"\x7fELF");
    let is_object = bytes.get(16..18).is_some_and(|kind| kind.iter().all(|byte| ET_REL.contains(byte)));
    let is_pe = bytes.starts_with(b"MZ") && !was_made_now(bytes);
    is_elf && !is_object || is_pe || bytes.starts_with(b"Microsoft C/C++ MSF 7.00")
}

/// Whether the header of a PE file has a time of the last day.
fn was_made_now(pe: &[u8]) -> bool {
    let word = |at: usize| Some(u32::from_le_bytes(pe.get(at..at + 4)?.try_into().ok()?));
    let time = word(0x3c).and_then(|header| word((header as usize).checked_add(8)?));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    time.is_some_and(|time| now.abs_diff(u64::from(time)) < 24 * 60 * 60)
}

/// All files below `dir` but the runner's own.
fn files(dir: &Path) -> Files {
    let mut out = Files::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(d) = todo.pop() {
        for entry in std::fs::read_dir(&d).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = path.symlink_metadata() else { continue };
            if meta.is_dir() {
                todo.push(path);
            } else if let Ok(name) = path.strip_prefix(dir)
                && meta.is_file()
                && !name.to_string_lossy().starts_with(".out.")
            {
                out.insert(name.to_owned(), (meta.ino(), meta.mtime(), meta.mtime_nsec()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_told_from_objects_and_from_files_with_a_time() {
        let elf = |kind: u8| [b"\x7fELF".as_slice(), &[0; 12], &[kind, 0]].concat();
        assert!(image_or_pdb(&elf(2)) && image_or_pdb(&elf(3)) && !image_or_pdb(&elf(1)));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as u32;
        let pe = |time: u32| {
            let mut bytes = vec![0; 0x80];
            bytes[..2].copy_from_slice(b"MZ");
            bytes[0x3c] = 0x40;
            bytes[0x48..0x4c].copy_from_slice(&time.to_le_bytes());
            bytes
        };
        assert!(image_or_pdb(&pe(now ^ 0x4000_0000)) && !image_or_pdb(&pe(now)) && image_or_pdb(b"MZ"));
    }
}
