//! The output file: complete under its name, or not there at all.
//!
//! An image is written to a temporary file in the directory of the output and renamed over it by
//! [`ClosedOutput::commit`]. Until then an older output stays as it was, and so a program that is being
//! run or mapped can be replaced. Dropping an [`OutputFile`] removes the temporary file.
//!
//! Reports that a link writes beside its output ([`reports`]) are complete before the output is
//! committed.
//!
//! What stands at the output path decides how it is written:
//!
//! - nothing, a regular file, or a symbolic link to either: replaced. The link itself is replaced, not
//!   what it points to, as `ld.lld` does; the new file has the permissions the umask gives a new file.
//! - a directory: an error.
//! - a device, pipe or other special file, a link like `/dev/stdout`, or `-` for standard output: the
//!   image is built in memory and written from front to back by `commit`.
//!
//! Bytes get to a file by one of two engines. *Streaming*: a region is filled in a buffer that is
//! still in the cache from the region before, then written by `pwrite`; on file systems that compress
//! or copy on write, in whole blocks ([`blocks`]). *Mapped*: a region is filled in place in a shared
//! mapping, for which space is reserved first: a full disk would otherwise show as `SIGBUS`. See
//! [`engine`] for the choice.

mod blocks;
mod claims;
pub mod engine;
pub mod reports;
mod stream;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod sys;
mod temp;
#[cfg(test)]
mod tests;
mod turns;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use memmap2::{MmapMut, MmapOptions, MmapRaw};

use super::identity::directory_of;
use super::reason;
use crate::diag::{Cause, Diagnostic};
use crate::host::Host;
use crate::text;
use claims::Claims;
use engine::FileSystem;
pub use engine::{Engine, EngineChoice};
use stream::Stream;
use temp::TempFile;

pub(super) use sys::read_exact_at;

/// Writes `bytes` from `offset` on.
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    stream::write_all_at(file, offset, bytes)
}

/// Why an output could not be written.
#[derive(Debug)]
pub struct OutputError {
    pub path: PathBuf,
    pub kind: ErrorKind,
    message: String,
}

impl OutputError {
    pub(crate) fn new(verb: &str, path: &Path, error: &io::Error) -> Self {
        OutputError {
            path: path.to_owned(),
            kind: error.kind(),
            message: format!("cannot {verb} {}: {}", text::path(path), reason(error)),
        }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OutputError {}

impl From<OutputError> for Diagnostic {
    fn from(e: OutputError) -> Self {
        Diagnostic::error(Cause::CannotWriteFile, e.message).in_file(text::path(&e.path))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct OutputOptions {
    pub engine: EngineChoice,
    /// How many threads will write regions, for the choice of an engine; 0 counts as one.
    pub threads: usize,
    /// What `commit` will most likely be called with; saves a system call if it is so.
    pub executable: bool,
    /// The kind of file system, if it need not be asked for. For tests.
    pub file_system: Option<FileSystem>,
}

/// An output under construction. Regions can be written from many threads at once.
pub struct OutputFile<'h> {
    path: PathBuf,
    len: u64,
    /// What `OutputOptions` said, and so how the temporary file was created.
    executable: bool,
    engine: (Engine, &'static str),
    image: Image,
    destination: Destination<'h>,
    /// Who is told how much of it is there.
    host: Option<&'h dyn Host>,
}

/// Where regions go.
enum Image {
    Stream(Stream),
    /// A mapping of the file, or of memory if the destination is written by `commit`.
    Map(MmapRaw, Claims),
}

const IN_MEMORY: (Engine, &str) = (Engine::Mapped, "the output is written from front to back");

/// What `commit` does.
enum Destination<'h> {
    /// Rename. The file is `None` if the image has it.
    Replace(TempFile<'h>, Option<File>),
    /// Write the image from memory.
    Sequential(File),
    Stdout,
    /// The regions have been written to `/dev/null` already.
    Null,
}

/// What stands at an output path.
enum Place {
    Replaceable,
    Special,
    Null,
    Stdout,
}

/// Finds early what would make [`OutputFile::create`] fail: a directory in the output's place, or a
/// parent directory that is missing or not writable.
pub fn check(path: &Path) -> Result<(), OutputError> {
    let place = Place::of(path).map_err(|e| OutputError::new("write", path, &e))?;
    match place {
        Place::Replaceable => {
            sys::check_directory(directory_of(path)).map_err(|e| OutputError::new("create", path, &e))
        }
        Place::Special | Place::Null | Place::Stdout => Ok(()),
    }
}

impl Place {
    fn of(path: &Path) -> io::Result<Place> {
        if path == Path::new("-") {
            return Ok(Place::Stdout);
        }
        if path.as_os_str().is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        let names_directory = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Err(e) if e.kind() == ErrorKind::NotFound && names_directory => {
                Err(ErrorKind::IsADirectory.into())
            }
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Place::Replaceable),
            Err(e) => Err(e),
            Ok(meta) if sys::is_null_device(&meta) => Ok(Place::Null),
            Ok(meta) if meta.is_file() && !names_descriptor(path) => Ok(Place::Replaceable),
            Ok(_) => Ok(Place::Special),
        }
    }
}

/// Whether an output of this path takes the place of what is there, which a device or pipe does not let it.
///
/// # Errors
/// If nothing can be written there.
pub fn is_replaced(path: &Path) -> Result<bool, OutputError> {
    let place = Place::of(path).map_err(|e| OutputError::new("write", path, &e))?;
    Ok(matches!(place, Place::Replaceable))
}

/// Whether this is a link like `/dev/stdout` or `/proc/self/fd/3`: what it leads to is an open file, which is
/// to be written even if it is a regular one, and the link has to stay. Any other link may lead there; it
/// does so by one in `/proc`, for only there are links that stand for open files.
fn names_descriptor(path: &Path) -> bool {
    let mut path = path.to_owned();
    // As many links as a system follows.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { return false };
        let Ok(directory) = std::fs::canonicalize(directory_of(&path)) else { return false };
        if directory.starts_with("/proc") {
            return true;
        }
        path = directory.join(target);
    }
    false
}

impl<'h> OutputFile<'h> {
    /// Creates the temporary file beside `path`, `len` bytes long. `host` is told of it.
    pub fn create(
        path: &Path,
        len: u64,
        options: &OutputOptions,
        host: &'h dyn Host,
    ) -> Result<OutputFile<'h>, OutputError> {
        Self::create_at(path, len, options, host).map_err(|e| OutputError::new("create", path, &e))
    }

    fn create_at(path: &Path, len: u64, options: &OutputOptions, host: &'h dyn Host) -> io::Result<Self> {
        let (engine, image, destination) = match Place::of(path)? {
            Place::Replaceable => {
                let (temp, file) = TempFile::create(path, options.executable, host)?;
                file.set_len(len)?;
                let (engine, image, file) = open_image(file, len, options)?;
                (engine, image, Destination::Replace(temp, file))
            }
            Place::Null => {
                let file = OpenOptions::new().write(true).open(path)?;
                let engine = (Engine::Streaming, "the output is the null device");
                (engine, Image::Stream(Stream::new(file, len, false)), Destination::Null)
            }
            Place::Special => {
                let file = OpenOptions::new().write(true).open(path)?;
                (IN_MEMORY, memory_image(len)?, Destination::Sequential(file))
            }
            Place::Stdout => (IN_MEMORY, memory_image(len)?, Destination::Stdout),
        };
        Ok(OutputFile {
            path: path.to_owned(),
            len,
            executable: options.executable,
            engine,
            image,
            destination,
            host: Some(host),
        })
    }

    /// Gives the file another name, under which it stays whether or not it becomes the output.
    ///
    /// # Errors
    /// If the output is no file of its own, the other name is on another file system, or there are no hard
    /// links.
    pub fn link_to(&self, other: &Path) -> io::Result<()> {
        match &self.destination {
            Destination::Replace(temp, _) => std::fs::hard_link(temp.path(), other),
            _ => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// An output that is written over what the open file holds, by [`ClosedOutput::commit`].
    fn in_place(path: &Path, len: u64, file: File) -> Result<OutputFile<'h>, OutputError> {
        let image = memory_image(len).map_err(|e| OutputError::new("write", path, &e))?;
        Ok(OutputFile {
            path: path.to_owned(),
            len,
            executable: false,
            engine: IN_MEMORY,
            image,
            destination: Destination::Sequential(file),
            host: None,
        })
    }

    /// How regions are written, and why so.
    pub fn engine(&self) -> (Engine, &'static str) {
        self.engine
    }

    /// The size in bytes given to [`OutputFile::create`].
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes all of `bytes` at `offset`, from any thread. `bytes` may be part of a mapped input: with
    /// the streaming engine they go straight from there to the file.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), OutputError> {
        match &self.image {
            Image::Stream(stream) => {
                self.check_range(offset, bytes.len())?;
                stream.write(offset, bytes).map_err(|e| self.failed(&e))
            }
            Image::Map(..) => self.with_region(offset, bytes.len(), |region| region.copy_from_slice(bytes)),
        }
    }

    /// Calls `fill` with the bytes for `offset..offset + len` of the image, from any thread.
    ///
    /// `fill` must write every byte: with the streaming engine they hold whatever the region before
    /// left in the buffer. Regions that are being filled at the same time must not overlap; the mapped
    /// engine reports an error if they do.
    pub fn with_region<R>(
        &self,
        offset: u64,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, OutputError> {
        self.check_range(offset, len)?;
        if let Some(host) = self.host {
            host.output_filled(len as u64);
        }
        match &self.image {
            Image::Stream(stream) => stream.fill(offset, len, fill).map_err(|e| self.failed(&e)),
            Image::Map(map, claims) => {
                let Some(_claim) = claims.claim(offset..offset + len as u64) else {
                    return Err(self.misuse("two regions that overlap are written at once"));
                };
                // SAFETY: the range is inside the mapping, which lives as long as `self`, and the claim
                // keeps every other reference to it away until this one is gone.
                let region =
                    unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr().add(offset as usize), len) };
                Ok(fill(region))
            }
        }
    }

    /// Fills `bytes` with what has been written at `offset`, from any thread. What has not been written
    /// is zero; so is everything if the output is the null device.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), OutputError> {
        self.check_range(offset, bytes.len())?;
        match (&self.image, &self.destination) {
            (_, Destination::Null) => bytes.fill(0),
            (Image::Stream(stream), _) => stream.read(offset, bytes).map_err(|e| self.failed(&e))?,
            (Image::Map(..), _) => {
                self.with_region(offset, bytes.len(), |region| bytes.copy_from_slice(region))?;
            }
        }
        Ok(())
    }

    /// Writes what is not in the file yet and sets its permissions (the umask is honoured). On an error
    /// the old output is whole and the temporary file gone.
    pub fn close(self, executable: bool) -> Result<ClosedOutput<'h>, OutputError> {
        let OutputFile { path, len, executable: created, image, destination, .. } = self;
        let last = match destination {
            Destination::Replace(temp, mapped) => {
                let file = match image {
                    Image::Stream(stream) => stream.finish().map(Some),
                    Image::Map(..) => Ok(mapped),
                };
                let closed = file.and_then(|file| close_image(file, created, executable));
                closed.map(|()| LastStep::Rename(temp))
            }
            Destination::Sequential(file) => Ok(LastStep::Write(file, image, len)),
            Destination::Stdout => Ok(LastStep::Print(image, len)),
            Destination::Null => Ok(LastStep::Nothing),
        };
        match last {
            Ok(last) => Ok(ClosedOutput { path, last }),
            Err(e) => Err(OutputError::new("write", &path, &e)),
        }
    }

    /// [`OutputFile::close`] and [`ClosedOutput::commit`].
    pub fn commit(self, executable: bool) -> Result<(), OutputError> {
        self.close(executable)?.commit()
    }

    fn check_range(&self, offset: u64, len: usize) -> Result<(), OutputError> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(self.misuse("a region lies outside the image")),
        }
    }

    #[cold]
    fn failed(&self, error: &io::Error) -> OutputError {
        OutputError::new("write", &self.path, error)
    }

    /// An error of the linker, not of its user.
    #[cold]
    fn misuse(&self, what: &str) -> OutputError {
        let message = format!("internal error while writing {}: {what}", text::path(&self.path));
        OutputError { path: self.path.clone(), kind: ErrorKind::InvalidInput, message }
    }
}

/// An output that is complete but for its place. Dropping it leaves the old output as it was.
pub struct ClosedOutput<'h> {
    path: PathBuf,
    last: LastStep<'h>,
}

enum LastStep<'h> {
    Rename(TempFile<'h>),
    Write(File, Image, u64),
    Print(Image, u64),
    Nothing,
}

/// Has a complete file that exists take the place of the output at `path`, and keep its own name.
///
/// # Errors
/// Those of the system; the old output is then whole.
pub fn replace_by(path: &Path, file: &Path, host: &dyn Host) -> io::Result<()> {
    TempFile::link(path, file, host)?.rename(path)
}

/// Commits outputs that belong together, in this order, but for devices and pipes: these come first, as
/// writing to them may fail and renaming hardly does.
///
/// # Errors
/// Of the first that cannot be committed; those after it are as they were.
pub fn commit_all(all: Vec<ClosedOutput>) -> Result<(), OutputError> {
    let (renamed, written): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|output| matches!(output.last, LastStep::Rename(_)));
    written.into_iter().chain(renamed).try_for_each(ClosedOutput::commit)
}

impl ClosedOutput<'_> {
    /// Makes the image the output: renames it over the path, or writes it to the special file that is
    /// there. On an error the old output is whole and the temporary file gone.
    pub fn commit(self) -> Result<(), OutputError> {
        let ClosedOutput { path, last } = self;
        let done = match last {
            LastStep::Rename(temp) => temp.rename(&path),
            LastStep::Write(file, mut image, len) => write_in_place(file, image.bytes(len)),
            LastStep::Print(mut image, len) => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(image.bytes(len)).and_then(|()| stdout.flush())
            }
            LastStep::Nothing => Ok(()),
        };
        done.map_err(|e| OutputError::new("write", &path, &e))
    }
}

impl Image {
    /// The image of a destination that `commit` writes.
    fn bytes(&mut self, len: u64) -> &[u8] {
        match self {
            Image::Stream(..) => &[],
            Image::Map(map, _) => {
                // SAFETY: the whole mapping, and `&mut self` says that no region is being written.
                let all = unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) };
                &all[..len as usize]
            }
        }
    }
}

fn memory_image(len: u64) -> io::Result<Image> {
    let len = usize::try_from(len).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    // There are no mappings of 0 bytes.
    Ok(Image::Map(MmapRaw::from(MmapMut::map_anon(len.max(1))?), Claims::default()))
}

/// Chooses an engine for a new file of `len` bytes and prepares it. The file is in the image, or
/// beside it if that is a mapping.
fn open_image(
    file: File,
    len: u64,
    options: &OutputOptions,
) -> io::Result<((Engine, &'static str), Image, Option<File>)> {
    let file_system = options.file_system.unwrap_or_else(|| sys::file_system(&file));
    let mut engine = match options.engine {
        EngineChoice::Auto => engine::choose(file_system, len, options.threads),
        EngineChoice::Streaming => (Engine::Streaming, "as requested"),
        EngineChoice::Mapped => (Engine::Mapped, "as requested"),
    };
    if engine.0 == Engine::Mapped {
        match map_file(&file, len) {
            Ok(Ok(map)) => return Ok((engine, Image::Map(map, Claims::default()), Some(file))),
            Ok(Err(why)) => engine = (Engine::Streaming, why),
            // An image with large holes may have room all the same, if nobody reserves it.
            Err(_) if options.engine == EngineChoice::Auto => {
                file.set_len(0)?;
                file.set_len(len)?;
                engine = (Engine::Streaming, "there is no space to reserve for a mapping");
            }
            Err(e) => return Err(e),
        }
    }
    let stream = Stream::new(file, len, file_system == FileSystem::CopyOnWrite);
    Ok((engine, Image::Stream(stream), None))
}

/// Maps the file, or says why it must be streamed.
fn map_file(file: &File, len: u64) -> io::Result<Result<MmapRaw, &'static str>> {
    let Some(len) = usize::try_from(len).ok().filter(|&len| len > 0 && len <= isize::MAX as usize) else {
        return Ok(Err("an image of this size cannot be mapped"));
    };
    if !sys::reserve(file, len as u64)? {
        return Ok(Err(
            "the file system cannot reserve space, so that a full disk would kill a mapped output",
        ));
    }
    match MmapOptions::new().len(len).map_raw(file) {
        Ok(map) => {
            sys::advise_huge_pages(&map);
            Ok(Ok(map))
        }
        Err(_) => Ok(Err("the file system cannot map files")),
    }
}

fn close_image(file: Option<File>, created_executable: bool, executable: bool) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    if executable != created_executable {
        sys::set_executable(&file, executable)?;
    }
    sys::close(file)
}

fn write_in_place(mut file: File, bytes: &[u8]) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(bytes)?;
    sys::close(file)
}
