//! What a link got the last time: all objects of a compilation, for a link that asks for the same.
//!
//! LLVM's own cache knows modules, one by one, and to ask it costs loading LLVM, all modules, and a thin
//! link. Here one file has all objects of a request; its name is a digest of everything that they depend on:
//! the engine, its words and the files that they name, the modules, and what has become of their symbols. So
//! a link whose code has not changed needs no compiler. Files lie in the directory of `--thinlto-cache-dir`
//! and are called `llvmcache-…`, as LLVM's, which removes both by its policy when it runs.
//!
//! ```text
//! "weldlto2", digest of the next two lines (20 bytes)
//! number of objects (u32)
//! for each: offset, size, what it was compiled of (u64 each), digest (20 bytes)
//! objects, each at a multiple of 16, with zeros between
//! ```
//!
//! Numbers are little endian. What an object was compiled of is the number of a piece of the merged modules,
//! or, above [`MODULE`], the index of a file.

use std::collections::HashMap;
use std::fs::{File, FileTimes};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use memmap2::Mmap;
use weld_common::digest::{self, UnitDigest};
use weld_common::text::os_str;

use super::find::Candidate;
use super::resolution::for_llvm;
use super::{objects, shim};
use crate::answer::{Basis, Bytes, Source};
use crate::options::{Emit, Options, Remarks, SaveTemps};
use crate::request::{Digested, Request};

const MAGIC: &[u8; 8] = b"weldlto2";
/// Where the digested part begins.
const DIGESTED: usize = MAGIC.len() + digest::SIZE;
const HEADER: usize = DIGESTED + 4;
const ROW: usize = 24 + digest::SIZE;
const ALIGNMENT: usize = 16;
const MODULE: u64 = 1 << 32;

/// The place for the objects of a request.
pub struct Results {
    path: PathBuf,
    /// What they depend on, if they are those of a whole link.
    pub basis: Option<Basis>,
}

impl Results {
    /// `None` if there is no directory for them, or if more is asked for than objects.
    pub fn of(request: &Request<'_>, words: &[String], output: u32, engine: &Candidate) -> Option<Results> {
        let cache = request.options.cache.as_ref().filter(|_| wants_objects_only(request.options))?;
        let digest = basis(engine, words)?;
        let files = digested(request.files.iter().map(|file| file.bytes), &request.digested);
        let basis = Basis { major: request.llvm_major, words: words.to_vec(), digest, files };
        let results = Results::named(&cache.directory, key(request, &basis, output, engine));
        Some(Results { basis: Some(basis), ..results })
    }

    /// The place whose name is a digest of all that the objects depend on.
    pub fn named(directory: &Path, digest: UnitDigest) -> Results {
        let name = format!("llvmcache-weld-{}", digest.hexadecimal());
        Results { path: directory.join(name), basis: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The objects, if they are there and whole.
    pub fn load(&self, request: &Request<'_>) -> Option<Vec<(Source, Bytes)>> {
        let file = File::open(&self.path).ok()?;
        // SAFETY: files of the cache are written under other names and not changed afterwards; who shortens
        // one ends the process, which weld reports.
        let map = Arc::new(unsafe { Mmap::map(&file) }.ok()?);
        let objects = read(&map)?;
        let is_right = |(source, object): &(Source, Bytes)| {
            let is_there = !matches!(source, Source::Module(index) if *index as usize >= request.files.len());
            is_there && objects::check(object, request.machine).is_ok()
        };
        let objects = Some(objects).filter(|objects| objects.iter().all(is_right))?;
        // What is used stays: the oldest are removed first. If the system does not let us, it goes earlier.
        let _ = file.set_times(FileTimes::new().set_accessed(SystemTime::now()));
        Some(objects)
    }

    /// Keeps objects. A cache that cannot be written to is as good as none.
    pub fn store<'o>(&self, objects: impl Iterator<Item = (Source, &'o [u8])> + Clone) {
        let Some(directory) = self.path.parent() else { return };
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = directory.join(name);
        let written = std::fs::create_dir_all(directory).and_then(|()| write(&temporary, objects));
        if written.and_then(|()| std::fs::rename(&temporary, &self.path)).is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
    }
}

/// Digests of files, of which some are known.
fn digested<'f>(files: impl Iterator<Item = &'f [u8]>, known: &[Digested]) -> Vec<Digested> {
    let known: HashMap<(usize, usize), UnitDigest> =
        known.iter().map(|file| ((file.address, file.size), file.digest)).collect();
    let of = |bytes: &[u8]| {
        let (address, size) = (bytes.as_ptr().addr(), bytes.len());
        let known = known.get(&(address, size)).copied();
        Digested { address, size, digest: known.unwrap_or_else(|| UnitDigest::of(bytes)) }
    };
    files.map(of).collect()
}

/// Whether nothing but objects is wanted: no file beside them, and nothing printed.
fn wants_objects_only(options: &Options) -> bool {
    options.emit == Emit::Objects
        && options.thin.index_only.is_none()
        && !options.thin.emit_index_files
        && !options.thin.emit_imports_files
        // Files of LLVM's options (`@FILE`), and files that are a word of their own, are not looked into.
        && !options.has_response_files()
        && options.save_temps == SaveTemps::None
        && options.object_path.is_none()
        && options.remarks == Remarks::default()
        && options.statistics.is_none()
        && options.time_trace.is_none()
        && options.dwo_directory.is_none()
        && !options.passes.debug
        && !options.profile.generate
}

/// What objects depend on, part by part.
pub struct Key(Vec<u8>);

impl Key {
    /// `what` is what is kept by it. Another version of weld finds nothing of this one.
    pub fn new(what: &str) -> Key {
        let mut key = Key(Vec::new());
        key.add(format!("weld {what}{}", env!("CARGO_PKG_VERSION")).as_bytes());
        key
    }

    pub fn add(&mut self, part: &[u8]) {
        self.0.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.0.extend_from_slice(part);
    }

    /// Tells a program by its size and time. `None` if it is not there.
    pub fn add_program(&mut self, path: &Path) -> Option<()> {
        let meta = std::fs::metadata(path).ok()?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        self.add(&meta.len().to_le_bytes());
        self.add(&modified.to_le_bytes());
        Some(())
    }

    pub fn digest(&self) -> UnitDigest {
        UnitDigest::of(&self.0)
    }
}

/// A digest of an engine, of what it is told of options, and of the files that options name. `None` if the
/// engine is not there.
pub fn basis(engine: &Candidate, words: &[String]) -> Option<UnitDigest> {
    let mut key = Key::new("basis");
    key.add(engine.path.as_os_str().as_encoded_bytes());
    let program = engine.program(words);
    key.add_program(&program)?;
    if let Some(library) = engine.is_program().then(|| library_of(&program)).flatten() {
        key.add_program(&library)?;
    }
    for word in words {
        // How many threads compile does not show in what they make, nor does what stays in the cache.
        if word.starts_with("jobs=") || word.starts_with("cache-policy=") {
            continue;
        }
        key.add(word.as_bytes());
        let word = word.strip_prefix("llvm=").unwrap_or(word);
        if let Some((_, value)) = word.split_once('=')
            && let Ok(contents) = std::fs::read(value)
        {
            key.add(&UnitDigest::of(&contents).bytes());
        }
    }
    Some(key.digest())
}

/// A digest of everything that objects depend on.
fn key(request: &Request<'_>, basis: &Basis, output: u32, engine: &Candidate) -> UnitDigest {
    let mut key = Key::new("");
    key.add(&basis.digest.bytes());
    key.add(&output.to_le_bytes());
    key.add(format!("{:?}", request.machine).as_bytes());
    for (file, digested) in request.files.iter().zip(&basis.files) {
        key.add(&file.module_name(request.machine));
        key.add(&digested.digest.bytes());
        if engine.is_program() {
            key.add(&file.symbols.iter().map(|symbol| shim::resolution(symbol).0).collect::<Vec<u8>>());
            continue;
        }
        let symbols = file.symbols.iter().map(|symbol| {
            let (word, is_redefined) = for_llvm(symbol, request);
            word as u8 | u8::from(is_redefined) << 7
        });
        key.add(&symbols.collect::<Vec<u8>>());
    }
    key.digest()
}

/// The library that a program has LLVM in, as it was built: [`super::build`] has it say so.
fn library_of(program: &Path) -> Option<PathBuf> {
    // One that is larger has LLVM in itself.
    let meta = std::fs::metadata(program).ok()?;
    let bytes = (meta.len() <= LARGEST_WITH_LIBRARY).then(|| std::fs::read(program).ok()).flatten()?;
    let at = memchr::memmem::find(&bytes, LIBRARY_MARK.as_bytes())? + LIBRARY_MARK.len();
    let path = bytes[at..].split(|&byte| byte == 0).next()?;
    Some(Path::new(os_str(path)).to_owned())
}

/// A program of more bytes than any that has LLVM in a library.
const LARGEST_WITH_LIBRARY: u64 = 4 << 20;

/// What stands in front of the library's path in a program.
const LIBRARY_MARK: &str = "weld-lto-engine: LLVM is in ";

fn read(map: &Arc<Mmap>) -> Option<Vec<(Source, Bytes)>> {
    let digest = map.strip_prefix(MAGIC)?.get(..digest::SIZE)?;
    let count = u32::from_le_bytes(*map.get(DIGESTED..)?.first_chunk()?) as usize;
    let header = map.get(DIGESTED..HEADER.checked_add(count.checked_mul(ROW)?)?)?;
    if UnitDigest::of(header).bytes() != digest {
        return None;
    }
    let mut end = DIGESTED + header.len();
    let mut objects = Vec::with_capacity(count);
    for row in header[HEADER - DIGESTED..].chunks_exact(ROW) {
        let number = |at: usize| u64::from_le_bytes(*row[at..].first_chunk().expect("a row is longer"));
        let start = usize::try_from(number(0)).ok()?;
        let range = start..start.checked_add(usize::try_from(number(8)).ok()?)?;
        let between = map.get(end..start)?;
        if between.iter().any(|byte| *byte != 0)
            || UnitDigest::of(map.get(range.clone())?).bytes() != row[24..]
        {
            return None;
        }
        let source = match number(16) {
            piece @ ..MODULE => Source::Merged(piece as u32),
            module => Source::Module(u32::try_from(module - MODULE).ok()?),
        };
        end = range.end;
        objects.push((source, Bytes { map: map.clone(), range }));
    }
    Some(objects).filter(|_| end == map.len())
}

fn write<'o>(path: &Path, objects: impl Iterator<Item = (Source, &'o [u8])> + Clone) -> io::Result<()> {
    let count = objects.clone().count();
    let mut header = Vec::with_capacity(4 + count * ROW);
    header.extend_from_slice(&(count as u32).to_le_bytes());
    let first = HEADER + count * ROW;
    let mut end = first;
    for (source, object) in objects.clone() {
        let start = end.next_multiple_of(ALIGNMENT);
        end = start + object.len();
        let source = match source {
            Source::Merged(piece) => u64::from(piece),
            Source::Module(index) => MODULE + u64::from(index),
        };
        for number in [start as u64, object.len() as u64, source] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        header.extend_from_slice(&UnitDigest::of(object).bytes());
    }
    let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
    file.write_all(MAGIC)?;
    file.write_all(&UnitDigest::of(&header).bytes())?;
    file.write_all(&header)?;
    let mut end = first;
    for (_, object) in objects {
        let start = end.next_multiple_of(ALIGNMENT);
        file.write_all(&[0; ALIGNMENT][..start - end])?;
        file.write_all(object)?;
        end = start + object.len();
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(path: &Path) -> Arc<Mmap> {
        // SAFETY: nobody else knows the file.
        Arc::new(unsafe { Mmap::map(&File::open(path).unwrap()) }.unwrap())
    }

    #[test]
    fn files_with_known_digests_are_not_read() {
        let files: [&[u8]; 2] = [b"first", b"second"];
        let digest = UnitDigest::of(b"said");
        let known = Digested { address: files[1].as_ptr().addr(), size: 6, digest };
        let digests = |known: &[Digested]| -> Vec<UnitDigest> {
            digested(files.into_iter(), known).iter().map(|file| file.digest).collect()
        };
        let own = files.map(UnitDigest::of);
        assert_eq!(digests(&[known]), [own[0], digest]);
        assert_eq!(digests(&[Digested { size: 5, ..known }]), own, "a part of it is another one");
    }

    #[test]
    fn what_is_kept_comes_back_and_damage_is_noticed() {
        let path = std::env::temp_dir().join(format!("weld-results-{}", std::process::id()));
        let objects: [&[u8]; 3] = [b"first", b"", b"the third one"];
        let sources = [Source::Merged(0), Source::Merged(7), Source::Module(3)];
        write(&path, sources.into_iter().zip(objects)).unwrap();
        let read_back = read(&mapped(&path)).unwrap();
        assert_eq!(read_back.iter().map(|(_, bytes)| &bytes[..]).collect::<Vec<_>>(), objects);
        assert_eq!(read_back.iter().map(|(source, _)| *source).collect::<Vec<_>>(), sources);
        assert!(read_back.iter().all(|(_, bytes)| bytes.range.start % ALIGNMENT == 0));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, &damaged).unwrap();
            assert!(read(&mapped(&path)).is_none(), "byte {at}");
            if at > 0 {
                std::fs::write(&path, &whole[..at]).unwrap();
                assert!(read(&mapped(&path)).is_none(), "{at} bytes");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
