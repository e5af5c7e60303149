//! From names to an ordered list of files.
//!
//! Files of the command line are opened in parallel. Objects get their ids in its order, then the members of
//! archives: one for each that an archive's index names, read or not, so that what counts first never depends
//! on when it was read. Objects so go before members, and libraries that objects ask for after all that is
//! there when they ask.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use weld_common::archive::{Archive, Member};
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::identity::Identity;
use weld_common::io::input::InputStore;
use weld_common::io::readahead::Needed;
use weld_common::io::thin::{MemberError, member_bytes};
use weld_common::par;
use weld_common::resolve::Index;
use weld_common::text;

use super::dll;
use super::search::Search;
use super::{FileName, base_name};
use crate::coff::identify::{self, Kind, identify};
use crate::coff::machine::Machine;
use crate::ids::FileId;
use crate::job::Job;
use crate::options;
use crate::symbol_names::MAX_FILES;

/// What stands behind a [`FileId`].
pub enum Input<'a> {
    /// File 0: what the linker itself says.
    Internal,
    /// An object or short import. In a box, for most entries are members that nobody wants.
    File(Box<InputFile<'a>>),
    /// A member of an archive with an index, named by the offset of its header.
    Member { archive: u32, offset: u64 },
}

// Each member of each library has one.
const _: () = assert!(size_of::<Input>() == 16);

/// An object, bitcode or short import.
pub struct InputFile<'a> {
    pub name: FileName<'a>,
    pub data: &'a [u8],
    pub kind: Kind,
    pub lazy: bool,
    /// It is a member of an archive that was taken in as a whole; its header begins at this byte of it.
    pub header: Option<u64>,
}

pub struct ArchiveInput<'a> {
    pub path: Arc<str>,
    pub archive: Archive<'a>,
    pub first_file: FileId,
    /// Header offsets of the members in the index, ascending; member `i` has file id `first_file + i`.
    pub offsets: Vec<u64>,
}

impl<'a> ArchiveInput<'a> {
    pub fn index(&self) -> Option<Index<'_, 'a>> {
        let map = self.archive.armap()?;
        Some(Index { map, offsets: &self.offsets, first: self.first_file })
    }
}

/// All that takes part so far.
pub struct Inputs<'a> {
    pub files: Vec<Input<'a>>,
    pub archives: Vec<ArchiveInput<'a>>,
    pub resources: Vec<(FileName<'a>, &'a [u8])>,
    /// PDBs, which may hold types of objects ([`super::type_servers`]).
    pub pdbs: Vec<(Arc<str>, &'a [u8])>,
    pub total_bytes: u64,
    /// Of all files that have been read, if somebody asks for them ([`Loader::keeps_paths`]).
    pub paths: Vec<Arc<str>>,
    /// Files that have been opened: one that is named twice is linked once.
    opened: HashSet<Identity>,
    /// Names of libraries that were asked for, in small letters.
    asked: HashSet<String>,
    /// Names that several archives of the command line have, in different directories. Those that objects ask
    /// for have names of their own.
    ambiguous: HashSet<String>,
}

impl<'a> Inputs<'a> {
    pub fn name(&self, file: FileId) -> FileName<'a> {
        match &self.files[file.index()] {
            Input::Internal => FileName { path: "<linker>".into(), member: None, is_ambiguous: false },
            Input::File(file) => file.name.clone(),
            Input::Member { archive, offset } => {
                let archive = &self.archives[*archive as usize];
                let member = archive.archive.member_at(*offset).map(|m| m.name).unwrap_or(b"?");
                let is_ambiguous = is_one_of(&self.ambiguous, &archive.path);
                FileName { path: archive.path.clone(), member: Some(member), is_ambiguous }
            }
        }
    }

    /// The bytes of a file; `None` if they are not to be had.
    pub fn bytes(&self, file: FileId, store: &'a InputStore<'a>) -> Option<&'a [u8]> {
        match &self.files[file.index()] {
            Input::Internal => None,
            Input::File(file) => Some(file.data),
            Input::Member { archive, offset } => {
                let ArchiveInput { path, archive, .. } = &self.archives[*archive as usize];
                member_bytes(store, path, &archive.member_at(*offset).ok()?).ok()
            }
        }
    }

    /// Asks for files that will be read now: members of archives, and objects that were linked only if they
    /// were wanted.
    pub fn will_need(&self, store: &InputStore<'a>, files: &[FileId]) {
        let needed = files.iter().filter_map(|file| match &self.files[file.index()] {
            Input::Member { archive, offset } => {
                let ArchiveInput { archive, offsets, .. } = &self.archives[*archive as usize];
                (!archive.is_thin()).then(|| Needed::Member(archive.extent(offsets, *offset)))
            }
            Input::File(file) => Some(Needed::File(file.data)),
            Input::Internal => None,
        });
        store.readahead().will_read(needed);
    }

    /// Adds objects that are made while the link goes on.
    pub fn add_objects(
        &mut self,
        objects: impl IntoIterator<Item = (FileName<'a>, &'a [u8])>,
    ) -> Vec<FileId> {
        let first = self.files.len() as u32;
        let input = |(name, data)| {
            let kind = identify(data);
            Input::File(Box::new(InputFile { name, data, kind, lazy: false, header: None }))
        };
        self.files.extend(objects.into_iter().map(input));
        (first..self.files.len() as u32).map(FileId).collect()
    }

    /// Files that are read at once: all but members of archives.
    pub fn first_round(&self) -> impl Iterator<Item = FileId> {
        self.objects_from(0)
    }

    pub fn objects_from(&self, first: usize) -> impl Iterator<Item = FileId> {
        let files = self.files.iter().enumerate().skip(first);
        files.filter(|(_, file)| matches!(file, Input::File(_))).map(|(i, _)| FileId(i as u32))
    }

    /// Whether this file is one of the inputs.
    pub fn has(&self, file: &Identity) -> bool {
        self.opened.contains(file)
    }

    /// The first object on the command line, after which the output is called.
    pub fn first_path(&self) -> Option<Arc<str>> {
        self.files.iter().find_map(|file| match file {
            Input::File(file) if !file.lazy => Some(file.name.path.clone()),
            _ => None,
        })
    }
}

/// A file with its bytes.
struct Opened<'a> {
    path: Arc<str>,
    identity: Option<Identity>,
    bytes: &'a [u8],
    kind: Kind,
}

/// How an input takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// All members.
    Whole,
    /// Only if something in it is wanted.
    Lazy,
}

pub struct Loader<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub search: &'l Search,
    pub sink: &'l DiagSink,
    pub parallel: bool,
    /// Files are named when they are read.
    pub verbose: bool,
    /// Their paths are kept.
    pub keeps_paths: bool,
    /// DLLs stand for their import libraries, and libraries may be called as GNU tools do.
    pub mingw: bool,
    /// The machine of the link, if the command line says it.
    pub machine: Option<Machine>,
}

/// An input that was opened, or why it was not.
type Tried<'a> = (Mode, Result<Opened<'a>, Diagnostic>);

impl<'a, 'l> Loader<'a, 'l> {
    pub fn new(job: &'l Job<'a>, search: &'l Search, parallel: bool) -> Loader<'a, 'l> {
        Loader {
            store: job.store,
            search,
            sink: job.sink,
            parallel,
            verbose: job.options.reports.verbose.libraries,
            keeps_paths: job.options.input_list.is_some(),
            mingw: job.options.mingw.on,
            machine: job.options.machine,
        }
    }

    /// Opens what the command line names.
    pub fn load(&self, list: &[options::Input]) -> Inputs<'a> {
        let mut inputs = Inputs {
            files: vec![Input::Internal],
            archives: Vec::new(),
            pdbs: Vec::new(),
            resources: Vec::new(),
            total_bytes: 0,
            paths: Vec::new(),
            opened: HashSet::new(),
            asked: HashSet::new(),
            ambiguous: HashSet::new(),
        };
        let open = |input: &options::Input| match input {
            options::Input::File(path) => (Mode::Plain, self.open(path, false)),
            options::Input::Whole(path) => (Mode::Whole, self.open(path, true)),
            options::Input::Lazy(path) => (Mode::Lazy, self.open(path, false)),
            options::Input::Library(library) => {
                let mode = if library.whole { Mode::Whole } else { Mode::Plain };
                (mode, self.open_gnu(&library.name, library.is_static))
            }
        };
        let mut opened: Vec<Tried> = self.store.open_each(list, self.parallel, &open);
        self.look_in_toolchain(list, &mut opened, &open);
        self.store.all_open();
        let mut archives = Vec::new();
        // `/wholearchive:` may name a library that the command line names, too.
        let (whole, others): (Vec<_>, Vec<_>) =
            opened.into_iter().partition(|(mode, _)| *mode == Mode::Whole);
        let whole_ids: HashSet<_> =
            whole.iter().filter_map(|(_, file)| file.as_ref().ok()?.identity.clone()).collect();
        inputs.ambiguous = ambiguous(others.iter().chain(&whole).filter_map(|(_, file)| file.as_ref().ok()));
        for (mut mode, file) in others.into_iter().chain(whole) {
            match file {
                Ok(file) => {
                    if file.identity.as_ref().is_some_and(|id| whole_ids.contains(id)) {
                        mode = Mode::Whole;
                    }
                    self.take(file, mode, &mut archives, &mut inputs);
                }
                Err(problem) => self.sink.push(problem.at(inputs.files.len() as u64)),
            }
        }
        self.add_archives(archives, &mut inputs);
        inputs
    }

    /// Looks for what was not found in the directories of the toolchain, which are known from the first
    /// object on.
    fn look_in_toolchain(
        &self,
        list: &[options::Input],
        opened: &mut [Tried<'a>],
        open: &dyn Fn(&options::Input) -> Tried<'a>,
    ) {
        let mut machine = self.machine;
        for (input, tried) in list.iter().zip(opened) {
            match (&tried.1, machine) {
                (Ok(file), _) => machine = machine.or_else(|| identify::machine(file.kind, file.bytes)),
                (Err(_), Some(machine)) if self.search.has_toolchain() => {
                    self.search.set_machine(machine);
                    *tried = open(input);
                }
                (Err(_), _) => {}
            }
        }
    }

    /// Opens libraries that objects or the command line ask for; each once.
    pub fn add_libraries(&self, names: &[String], inputs: &mut Inputs<'a>) {
        let mut archives = Vec::new();
        let mut new = names.to_vec();
        new.retain(|name| inputs.asked.insert(library_name(name).to_ascii_lowercase()));
        let opened =
            self.store.open_each(&new, self.parallel, &|name: &String| match self.wanted_library(name) {
                Some(path) => self.read(&path),
                None => {
                    let name = if self.mingw { with_gnu_form(name) } else { with_lib(name) };
                    let text = format!("could not open '{name}': No such file or directory");
                    Err(Diagnostic::error(Cause::LibraryNotFound, text).of_library(&name))
                }
            });
        for file in opened {
            match file {
                Ok(file) => self.take(file, Mode::Plain, &mut archives, inputs),
                Err(problem) => self.sink.push(problem),
            }
        }
        self.add_archives(archives, inputs);
    }

    fn open(&self, path: &Path, library: bool) -> Result<Opened<'a>, Diagnostic> {
        let found = self.search.file(path).or_else(|| library.then(|| self.search.library(path)).flatten());
        match found {
            Some(path) => self.read(&path),
            None => {
                let text = format!("could not open '{}': No such file or directory", text::path(path));
                Err(Diagnostic::error(Cause::CannotOpenFile, text).in_file(text::path(path)))
            }
        }
    }

    fn open_gnu(&self, name: &str, is_static: bool) -> Result<Opened<'a>, Diagnostic> {
        match self.search.gnu_library(name, is_static) {
            Some(path) => self.read(&path),
            None => {
                Err(Diagnostic::error(Cause::LibraryNotFound, format!("unable to find library -l{name}")))
            }
        }
    }

    /// A library that somebody asks for.
    fn wanted_library(&self, name: &str) -> Option<std::path::PathBuf> {
        let gnu = || self.search.gnu_library(library_name(name), false).filter(|_| self.mingw);
        self.search.library(Path::new(name)).or_else(gnu)
    }

    fn read(&self, path: &Path) -> Result<Opened<'a>, Diagnostic> {
        let shown = text::path(path);
        let bytes = self.store.open(path)?;
        let bytes = bytes.ok_or_else(|| {
            Diagnostic::error(
                Cause::CannotOpenFile,
                format!("could not open '{shown}': No such file or directory"),
            )
        })?;
        Ok(Opened { path: (*shown).into(), identity: Identity::of(path), bytes, kind: identify(bytes) })
    }

    /// Gives an opened file its place. Archives that are read by their index wait: members come after
    /// objects.
    fn take(
        &self,
        file: Opened<'a>,
        mode: Mode,
        archives: &mut Vec<(Arc<str>, Archive<'a>)>,
        inputs: &mut Inputs<'a>,
    ) {
        if file.identity.clone().is_some_and(|identity| !inputs.opened.insert(identity)) {
            return;
        }
        inputs.asked.insert(library_name(&file.path).to_ascii_lowercase());
        if self.verbose {
            self.sink.push(Diagnostic::said(format!("Reading {}", file.path)));
            self.sink.settle();
        }
        if self.keeps_paths {
            inputs.paths.push(file.path.clone());
        }
        inputs.total_bytes += file.bytes.len() as u64;
        let name = FileName { path: file.path.clone(), member: None, is_ambiguous: false };
        match file.kind {
            Kind::Object | Kind::BigObject | Kind::Bitcode | Kind::Import => {
                if mode != Mode::Lazy {
                    self.store.readahead().will_need(file.bytes);
                }
                let (data, kind, lazy) = (file.bytes, file.kind, mode == Mode::Lazy);
                self.add_file(InputFile { name, data, kind, lazy, header: None }, inputs);
            }
            Kind::Resources => inputs.resources.push((name, file.bytes)),
            Kind::Pdb => inputs.pdbs.push((file.path, file.bytes)),
            Kind::Archive => match Archive::parse(file.bytes) {
                Ok(archive) if mode != Mode::Whole && archive.armap().is_some() => {
                    archives.push((file.path, archive));
                }
                Ok(archive) => {
                    self.store.readahead().will_need(file.bytes);
                    self.add_members(&file.path, &archive, mode == Mode::Whole, inputs);
                }
                Err(e) => self.sink.push(
                    Diagnostic::error(Cause::MalformedArchive, format!("{}: {e}", file.path))
                        .in_file(&file.path),
                ),
            },
            Kind::Image if self.mingw => match dll::import_library(file.bytes, &file.path) {
                Ok(library) => match Archive::parse(self.store.keep(library)) {
                    Ok(archive) => archives.push((file.path, archive)),
                    Err(e) => self.sink.push(
                        Diagnostic::error(Cause::MalformedObject, format!("{}: {e}", file.path))
                            .in_file(&file.path),
                    ),
                },
                Err(e) => self.sink.push(
                    Diagnostic::error(Cause::MalformedObject, format!("{}: {e}", file.path))
                        .in_file(&file.path),
                ),
            },
            kind => self.sink.push(
                Diagnostic::error(Cause::UnknownFileType, format!("{}: {}", file.path, refusal(kind)))
                    .in_file(&file.path),
            ),
        }
    }

    fn add_file(&self, file: InputFile<'a>, inputs: &mut Inputs<'a>) {
        if inputs.files.len() >= MAX_FILES as usize {
            return self.sink.error(Cause::TooLarge, "too many input files");
        }
        inputs.files.push(Input::File(Box::new(file)));
    }

    /// The members of an archive: all of them, or as objects to choose from if it has no index.
    fn add_members(&self, path: &Arc<str>, archive: &Archive<'a>, whole: bool, inputs: &mut Inputs<'a>) {
        let store = self.store;
        let look = |member: Member<'a>| -> Result<_, MemberError> {
            let data = member_bytes(store, path, &member)?;
            Ok((member, data, identify(data)))
        };
        let (members, problem) = archive.each_member(self.parallel, look);
        let problem = problem.map(|e| Err(e.into()));
        let is_ambiguous = is_one_of(&inputs.ambiguous, path);
        for member in members.into_iter().chain(problem) {
            let (member, data, kind) = match member {
                Ok(read) => read,
                Err(e) => {
                    return self.sink.push(
                        Diagnostic::error(Cause::MalformedArchive, format!("{path}: {e}")).in_file(path),
                    );
                }
            };
            let name = FileName { path: path.clone(), member: Some(member.name), is_ambiguous };
            match kind {
                kind @ (Kind::Object | Kind::BigObject | Kind::Bitcode | Kind::Import) => {
                    let (lazy, header) = (!whole, Some(member.header_offset));
                    self.add_file(InputFile { name, data, kind, lazy, header }, inputs);
                }
                Kind::Resources => inputs.resources.push((name, data)),
                // Libraries of other languages hold metadata as well.
                Kind::Unknown => {}
                kind if whole => self.sink.push(
                    Diagnostic::error(Cause::UnknownFileType, format!("{name}: {}", refusal(kind)))
                        .in_file(&name),
                ),
                _ => {}
            }
        }
    }

    /// Reads the indexes of archives and gives ids to the members they name.
    fn add_archives(&self, archives: Vec<(Arc<str>, Archive<'a>)>, inputs: &mut Inputs<'a>) {
        let offsets = |i: usize| archives[i].1.armap().map_or(Vec::new(), |map| map.members());
        let all: Vec<Vec<u64>> = par::map(self.parallel && archives.len() > 1, archives.len(), offsets);
        for ((path, archive), offsets) in archives.into_iter().zip(all) {
            if inputs.files.len() + offsets.len() >= MAX_FILES as usize {
                return self.sink.error(Cause::TooLarge, "too many input files");
            }
            let first_file = FileId(inputs.files.len() as u32);
            let number = inputs.archives.len() as u32;
            inputs.files.extend(offsets.iter().map(|&offset| Input::Member { archive: number, offset }));
            inputs.archives.push(ArchiveInput { path, archive, first_file, offsets });
        }
    }
}

/// Why a file of this kind cannot be linked.
pub fn refusal(kind: Kind) -> &'static str {
    match kind {
        Kind::MicrosoftBitcode => "is not a native COFF file. Recompile without /GL",
        Kind::Image => "bad file type. Did you specify a DLL instead of an import library?",
        Kind::Pdb => "a PDB file, which cannot be linked",
        _ => "unknown file type",
    }
}

/// Names of archives that are in several directories.
fn ambiguous<'o, 'a: 'o>(files: impl Iterator<Item = &'o Opened<'a>>) -> HashSet<String> {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let mut found = HashSet::new();
    for file in files.filter(|file| file.kind == Kind::Archive) {
        let name = base_name(&file.path);
        if *seen.entry(name).or_insert(&file.path) != &*file.path {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Whether the archive's name is one of them; mostly there are none.
fn is_one_of(names: &HashSet<String>, path: &str) -> bool {
    !names.is_empty() && names.contains(base_name(path))
}

/// A library's name without directories and `.lib`.
fn library_name(name: &str) -> &str {
    let name = base_name(name);
    let lib = name.len().checked_sub(4).filter(|&at| name.is_char_boundary(at));
    match lib {
        Some(at) if name[at..].eq_ignore_ascii_case(".lib") => &name[..at],
        _ => name,
    }
}

fn with_gnu_form(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("lib{name}.a") }
}

fn with_lib(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.lib") }
}

/// Which libraries may not be linked because an object asks for them.
pub struct Refused {
    names: HashSet<String>,
    all: bool,
}

impl Refused {
    pub fn new(names: &[String], all: bool) -> Refused {
        let names = names.iter().map(|name| library_name(name).to_ascii_lowercase()).collect();
        Refused { names, all }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.all || self.names.contains(&library_name(name).to_ascii_lowercase())
    }
}
