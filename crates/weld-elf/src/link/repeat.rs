//! A link with intermediate code that was made before: its output is in the compilers' cache.
//!
//! Where `--thinlto-cache-dir` gives compilers a place, a link that says nothing and writes nothing but its
//! output leaves that there, too, with all that it depends on: the files that it has read, the paths that led
//! nowhere, and what compilers depend on ([`Basis`]). A later link that is asked for in the same words looks
//! whether all of that is as it was. If so, it writes the same bytes, and neither reads symbols nor starts
//! anything. If not, it links.
//!
//! A file is the same if the system says so ([`Stamp`]) of the open file, since the system was started; or if
//! its bytes have the digest that they had: of intermediate code it is known anyway, of other files it is made
//! where stamps tell nothing yet. What is kept is looked at before it is used, piece by piece. It lies in
//! `llvmcache-weld-link-…`, named by the words, so that there is one for each of them; compilers remove it
//! with their own files by the cache's policy.
//!
//! ```text
//! the output
//! fields of `Memo`, as `Memo::encode` has them
//! digest of the fields (20 bytes), their size (u64), "weldlnk1"
//! ```

use std::collections::HashMap;
use std::fs::{File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use weld_common::args::response::Expanded;
use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::digest::{SIZE as DIGEST, UnitDigest};
use weld_common::host::Host;
use weld_common::io::input::InputStore;
use weld_common::io::output::{self, OutputFile};
use weld_common::io::spare::read_exact_at;
use weld_common::io::stamp::Stamp;
use weld_lto::answer::Basis;
use weld_lto::engine;
use weld_lto::options::Options as LtoOptions;
use weld_lto::request::Digested;

use crate::job::{self, Job};
use crate::options::{BuildId, Incremental, Options, OutputKind, Shuffle};
use crate::relink::{boot, build};
use crate::relink_state::fields::*;

const MAGIC: &[u8; 8] = b"weldlnk1";
const TAIL: usize = DIGEST + 8 + MAGIC.len();
/// Bytes of an output that are written and looked at together.
const PIECE: usize = 256 << 10;
/// Larger outputs are not kept: who has many of them would fill the cache with copies.
const LARGEST: u64 = 256 << 20;
/// No link names so many files that what is kept of them is longer.
const LONGEST: u64 = 256 << 20;

/// The place for the output of a link.
pub struct Repeat {
    path: PathBuf,
    begun: SystemTime,
    /// Files of the link that was found and is another one, if stamps tell which are the same.
    last: OnceLock<Vec<KnownFile>>,
}

/// What a link depends on, and what came of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Memo {
    boot: Vec<u8>,
    /// See [`Basis`].
    major: u32,
    words: Vec<Vec<u8>>,
    basis: [u8; DIGEST],
    files: Vec<KnownFile>,
    missing: Vec<PathBuf>,
    size: u64,
    pieces: Vec<[u8; DIGEST]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownFile {
    path: PathBuf,
    /// `None` if it may be written to without another stamp.
    stamp: Option<Stamp>,
    digest: Option<[u8; DIGEST]>,
}

/// An output that is written down, and is not yet where later links look.
pub struct Copied {
    temporary: PathBuf,
    file: File,
    memo: Memo,
}

impl Repeat {
    /// `None` if there is no place, or if the link says or writes more than its output.
    pub fn of(options: &Options, args: &Expanded, host: &dyn Host) -> Option<Repeat> {
        let cache = options.lto.cache.as_ref().filter(|_| is_output_only(options))?;
        let name = format!("llvmcache-weld-link-{}", words(options, args, host)?.hexadecimal());
        Some(Repeat { path: cache.directory.join(name), begun: SystemTime::now(), last: OnceLock::new() })
    }

    /// Makes the output of what is kept; whether that was possible.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn link(&self, job: &Job) -> Result<bool, Diagnostics> {
        let found = job.step("look for the same link", || self.find(job));
        let Some((kept, memo)) = found else { return Ok(false) };
        let is_done = job.step("write image", || put(job, &kept, &memo))?;
        if is_done {
            // What is used stays: the oldest are removed first. If the system does not let us, it goes earlier.
            let _ = kept.set_times(FileTimes::new().set_accessed(SystemTime::now()));
        }
        Ok(is_done)
    }

    /// What is kept, if all that it depends on is as it was.
    fn find(&self, job: &Job) -> Option<(File, Memo)> {
        // Opening anything else may wait for somebody.
        std::fs::metadata(&self.path).ok().filter(std::fs::Metadata::is_file)?;
        let kept = File::open(&self.path).ok()?;
        let memo = Memo::read(&kept)?;
        let is_booted = boot().is_ok_and(|boot| boot == memo.boot);
        let is_same = |file: &KnownFile| file.is_there(is_booted, job.store);
        let is_missing = |path: &PathBuf| !path.exists();
        let is_known = memo.files.iter().all(is_same) && memo.missing.iter().all(is_missing);
        if is_known && memo.is_of_engine(&job.options.lto, job.host) {
            return Some((kept, memo));
        }
        if is_booted {
            _ = self.last.set(memo.files);
        }
        None
    }

    /// Digests of files that are as they were when the same was linked the last time.
    pub fn digested<'s>(&self, store: &'s InputStore<'s>) -> Vec<Digested> {
        let Some(last) = self.last.get() else { return Vec::new() };
        let known: HashMap<&Path, (Stamp, [u8; DIGEST])> =
            last.iter().filter_map(|file| Some((&*file.path, (file.stamp?, file.digest?)))).collect();
        let files = store.files().into_iter().filter_map(|file| {
            let (stamp, digest) = known.get(&*file.path)?;
            let (address, size) = (file.bytes.as_ptr().addr(), file.bytes.len());
            let digest = UnitDigest::from_bytes(*digest);
            (file.stamp.as_ref() == Some(stamp)).then_some(Digested { address, size, digest })
        });
        files.collect()
    }

    /// Copies an output that is complete. `None` if it is not worth it, or not to be known again.
    pub fn copy(&self, job: &Job, file: &OutputFile, basis: &Basis) -> Option<Copied> {
        // Of a device nothing can be read back.
        let is_file = output::is_replaced(&job.options.output.path).is_ok_and(|is_replaced| is_replaced);
        if job.sink.count() > 0 || file.len() > LARGEST || !is_file {
            return None;
        }
        let files = self.files(job.store, basis)?;
        let mut missing = job.store.missing();
        missing.sort_unstable();
        missing.dedup();
        let mut memo = Memo {
            boot: boot().ok()?,
            major: basis.major.unwrap_or(0),
            words: basis.words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            basis: basis.digest.bytes(),
            files,
            missing,
            size: file.len(),
            pieces: Vec::new(),
        };
        let mut name = self.path.file_name()?.to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = self.path.with_file_name(name);
        let mut copied = File::create(&temporary).ok()?;
        let mut write = || -> Option<()> {
            let mut buffer = vec![0; PIECE.min(file.len() as usize)];
            for at in (0..file.len()).step_by(PIECE) {
                let piece = &mut buffer[..(file.len() - at).min(PIECE as u64) as usize];
                file.read_at(at, piece).ok()?;
                memo.pieces.push(UnitDigest::of(piece).bytes());
                copied.write_all(piece).ok()?;
            }
            Some(())
        };
        if write().is_none() {
            let _ = std::fs::remove_file(&temporary);
            return None;
        }
        Some(Copied { temporary, file: copied, memo })
    }

    /// The output has taken its place: keeps the copy. A cache that cannot be written to is as good as none.
    pub fn keep(&self, copied: Copied) {
        let Copied { temporary, mut file, memo } = copied;
        let written = file.write_all(&memo.encode());
        drop(file);
        if written.and_then(|()| std::fs::rename(&temporary, &self.path)).is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
    }

    /// The files of the link; `None` if one of them cannot be known again.
    fn files<'s>(&self, store: &'s InputStore<'s>, basis: &Basis) -> Option<Vec<KnownFile>> {
        let known: HashMap<(usize, usize), UnitDigest> =
            basis.files.iter().map(|file| ((file.address, file.size), file.digest)).collect();
        let mut places: HashMap<PathBuf, usize> = HashMap::new();
        let mut files: Vec<KnownFile> = Vec::new();
        for file in store.files() {
            let stamp = file.stamp?;
            let digest = known.get(&(file.bytes.as_ptr().addr(), file.bytes.len()));
            let new = KnownFile {
                stamp: Some(stamp).filter(|stamp| stamp.is_older_than(self.begun)),
                digest: digest.map(|digest| digest.bytes()),
                path: file.path,
            };
            // One that is read twice.
            if let Some(place) = places.get(&new.path) {
                let first = &mut files[*place];
                first.digest = first.digest.or(new.digest);
                if first.stamp.is_none() || first.stamp != new.stamp {
                    return None;
                }
                continue;
            }
            places.insert(new.path.clone(), files.len());
            let digest = match new.stamp {
                None => new.digest.or_else(|| Some(UnitDigest::of(file.bytes).bytes())),
                Some(_) => new.digest,
            };
            files.push(KnownFile { digest, ..new });
        }
        Some(files)
    }
}

/// Writes the output; `false` if what is kept of it is damaged.
fn put(job: &Job, kept: &File, memo: &Memo) -> Result<bool, Diagnostics> {
    let file = job::create_output(job, memo.size, true, 1)?;
    let starts = (0..memo.size).step_by(PIECE);
    for (at, digest) in starts.zip(&memo.pieces) {
        let length = (memo.size - at).min(PIECE as u64) as usize;
        let is_whole = file.with_region(at, length, |piece| {
            read_exact_at(kept, piece, at).is_ok() && UnitDigest::of(piece).bytes() == *digest
        });
        if !is_whole.map_err(Diagnostic::from)? {
            return Ok(false);
        }
    }
    job.finish_all(file, Vec::new(), true, false, || Ok(()))?;
    Ok(true)
}

/// Whether a link writes its output and nothing else, the same each time, and says nothing.
fn is_output_only(options: &Options) -> bool {
    let file = &options.output;
    let is_file = file.debug_file.is_none() && file.text.is_none();
    let is_chance = options.notes.build_id == BuildId::Uuid
        || options.order.shuffle.iter().any(|shuffled| shuffled.how == Shuffle::Random);
    // A sysroot may be a link that leads elsewhere the next time.
    options.kind != OutputKind::Relocatable
        && options.inputs.sysroot.as_os_str().is_empty()
        && file.incremental == Incremental::Off
        && is_file
        && !is_chance
        && options.order.print.is_none()
        && options.reports.are_none()
        && options.lto.distribution.is_none()
        && !options.lto.ends_the_link()
}

/// A digest of what a link is asked for, apart from its files, and of who links. `None` if that cannot be
/// known.
fn words(options: &Options, args: &Expanded, host: &dyn Host) -> Option<UnitDigest> {
    let mut all = Vec::new();
    let mut add = |part: &[u8]| put_bytes(part, &mut all);
    for arg in args.args() {
        add(arg.as_encoded_bytes());
    }
    add(&build().ok()?);
    add(host.program_name().as_bytes());
    add(std::env::current_dir().ok()?.as_os_str().as_encoded_bytes());
    add(host.run_path().unwrap_or_default().as_bytes());
    // What -R means depends on what is there.
    add(format!("{:?}", options.dynamic).as_bytes());
    Some(UnitDigest::of(&all))
}

impl KnownFile {
    /// Whether the path leads to the same bytes. The file is opened for that, as systems that are asked for a
    /// path over a network may answer by what they have known for a while.
    fn is_there<'s>(&self, trusts_stamps: bool, store: &'s InputStore<'s>) -> bool {
        let Ok(file) = File::open(store.rooted(&self.path)) else { return false };
        let Some(stamp) = file.metadata().ok().and_then(|meta| Stamp::of(&meta)) else { return false };
        if trusts_stamps && self.stamp == Some(stamp) {
            return true;
        }
        let Some(digest) = self.digest else { return false };
        let mut bytes = Vec::new();
        let is_read = io::Read::read_to_end(&mut io::Read::take(&file, stamp.size + 1), &mut bytes).is_ok();
        is_read && UnitDigest::of(&bytes).bytes() == digest
    }
}

impl Memo {
    /// Whether the same engine would be asked in the same words.
    fn is_of_engine(&self, options: &LtoOptions, host: &dyn Host) -> bool {
        let words: Option<Vec<String>> =
            self.words.iter().map(|word| String::from_utf8(word.clone()).ok()).collect();
        let major = Some(self.major).filter(|major| *major != 0);
        let now = words.and_then(|words| engine::basis(options, major, &words, host));
        now.is_some_and(|now| now.bytes() == self.basis)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes(&self.boot, &mut out);
        self.major.put(&mut out);
        put_list(&self.words, &mut out, |word, out| put_bytes(word, out));
        out.extend_from_slice(&self.basis);
        put_list(&self.files, &mut out, |file, out| {
            put_path(&file.path, out);
            u8::from(file.stamp.is_some()).put(out);
            put_stamp(&file.stamp.unwrap_or_default(), out);
            u8::from(file.digest.is_some()).put(out);
            out.extend_from_slice(&file.digest.unwrap_or_default());
        });
        put_list(&self.missing, &mut out, |path, out| put_path(path, out));
        self.size.put(&mut out);
        put_list(&self.pieces, &mut out, |piece, out| out.extend_from_slice(piece));
        let (digest, size) = (UnitDigest::of(&out), out.len() as u64);
        out.extend_from_slice(&digest.bytes());
        size.put(&mut out);
        out.extend_from_slice(MAGIC);
        out
    }

    /// From the end of a file. `None` if it is none, or damaged.
    fn read(file: &File) -> Option<Memo> {
        let length = file.metadata().ok()?.len();
        let mut tail = [0; TAIL];
        let end = length.checked_sub(TAIL as u64)?;
        read_exact_at(file, &mut tail, end).ok()?;
        let (fields, magic) = tail.split_at(DIGEST + 8);
        let (digest, mut size) = fields.split_at(DIGEST);
        let size = u64::take(&mut size).filter(|size| magic == MAGIC && *size <= LONGEST)?;
        let start = end.checked_sub(size)?;
        let mut bytes = vec![0; size as usize];
        read_exact_at(file, &mut bytes, start).ok()?;
        if UnitDigest::of(&bytes).bytes() != digest {
            return None;
        }
        let mut rest = &bytes[..];
        let memo = Memo::take(&mut rest)?;
        let is_whole = rest.is_empty()
            && memo.size == start
            && memo.pieces.len() as u64 == memo.size.div_ceil(PIECE as u64)
            && memo.files.iter().all(|file| file.stamp.is_some() || file.digest.is_some());
        is_whole.then_some(memo)
    }

    fn take(rest: &mut &[u8]) -> Option<Memo> {
        Some(Memo {
            boot: take_bytes(rest)?,
            major: Field::take(rest)?,
            words: take_list(rest, take_bytes)?,
            basis: take_array(rest)?,
            files: take_list(rest, |rest| {
                let path = take_path(rest)?;
                let has_stamp = u8::take(rest)? != 0;
                let stamp = take_stamp(rest)?;
                let has_digest = u8::take(rest)? != 0;
                let digest = Some(take_array(rest)?).filter(|_| has_digest);
                Some(KnownFile { path, stamp: Some(stamp).filter(|_| has_stamp), digest })
            })?,
            missing: take_list(rest, take_path)?,
            size: Field::take(rest)?,
            pieces: take_list(rest, take_array)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use weld_common::host::QuietHost;

    use super::*;

    /// A path for a file that goes with it.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            Scratch(std::env::temp_dir().join(format!("weld-repeat-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn memo() -> Memo {
        let stamp = Stamp { device: 1, number: 2, size: 3, modified: -5, changed: 7 };
        let known = |path: &str, stamp, digest| KnownFile { path: path.into(), stamp, digest };
        Memo {
            boot: b"boot".to_vec(),
            major: 22,
            words: vec![b"level=2".to_vec(), b"llvm=-x".to_vec()],
            basis: UnitDigest::of(b"engine").bytes(),
            files: vec![known("a.o", Some(stamp), Some([7; DIGEST])), known("b.o", None, Some([8; DIGEST]))],
            missing: vec!["no".into()],
            size: 6,
            pieces: vec![UnitDigest::of(b"output").bytes()],
        }
    }

    #[test]
    fn what_is_kept_comes_back_and_damage_is_noticed() {
        let scratch = Scratch::new("kept");
        let path = &scratch.0;
        let whole = [&b"output"[..], &memo().encode()].concat();
        let read = |bytes: &[u8]| {
            std::fs::write(path, bytes).unwrap();
            Memo::read(&File::open(path).unwrap())
        };
        assert_eq!(read(&whole), Some(memo()));
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            // The output is looked at when it is written.
            assert_eq!(read(&damaged).is_some(), at < 6, "byte {at}");
            assert_eq!(read(&whole[..at]), None, "{at} bytes");
            assert_eq!(read(&whole[at..]).is_some(), at == 0, "from {at} on");
        }
    }

    #[test]
    fn digests_are_known_of_files_that_have_the_stamp_that_they_had() {
        let (scratch, host) = (Scratch::new("digests"), QuietHost::new());
        let path = &scratch.0;
        std::fs::write(path, "one").unwrap();
        let now = Stamp::at(path).unwrap();
        let mut store = InputStore::new(&host);
        store.record();
        let bytes = store.open(path).unwrap().unwrap();
        let digests = |stamp, digest| {
            let known = KnownFile { path: path.clone(), stamp, digest };
            let repeat =
                Repeat { path: "kept".into(), begun: SystemTime::now(), last: OnceLock::from(vec![known]) };
            repeat.digested(&store)
        };
        let digest = [7; DIGEST];
        let [found] = &digests(Some(now), Some(digest))[..] else { panic!("it is known") };
        assert_eq!((found.address, found.size), (bytes.as_ptr().addr(), 3));
        assert_eq!(found.digest.bytes(), digest);
        assert!(digests(Some(now), None).is_empty());
        assert!(digests(None, Some(digest)).is_empty(), "it was written to meanwhile");
        assert!(digests(Some(Stamp { changed: 0, ..now }), Some(digest)).is_empty());
    }

    #[test]
    fn files_are_known_by_stamps_or_by_their_bytes() {
        let (scratch, host) = (Scratch::new("file"), QuietHost::new());
        let store = InputStore::new(&host);
        let path = &scratch.0;
        std::fs::write(path, "one").unwrap();
        let now = Stamp::at(path).unwrap();
        let stamp = Some(now);
        let digest = Some(UnitDigest::of(b"one").bytes());
        let by = |stamp, digest| KnownFile { path: path.clone(), stamp, digest };
        let is_there = |file: &KnownFile| [true, false].map(|trusts| file.is_there(trusts, &store));
        assert_eq!(is_there(&by(stamp, None)), [true, false]);
        assert_eq!(is_there(&by(stamp, digest)), [true, true]);
        assert_eq!(is_there(&by(None, digest)), [true, true]);
        let old = Some(Stamp { changed: 0, ..now });
        assert_eq!(is_there(&by(old, digest)), [true, true], "it has been touched");
        assert_eq!(is_there(&by(old, None)), [false, false]);
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, "two").unwrap();
        assert_eq!(is_there(&by(stamp, digest)), [false, false]);
        std::fs::remove_file(path).unwrap();
        assert_eq!(is_there(&by(stamp, digest)), [false, false]);
    }
}
