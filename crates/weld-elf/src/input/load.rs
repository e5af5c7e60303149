//! From the command line to the ordered list of files.
//!
//! Names are searched, files opened and identified in parallel; linker-script stand-ins
//! (`libc.so`) expand in place. File ids then follow command-line order; an archive with an index
//! takes an id for each member that the index names, read or not, so that a member's priority
//! never depends on when it is read.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use weld_common::archive::armap::Symbols;
use weld_common::archive::{Archive, Member, MemberData};
use weld_common::diag::DiagSink;
use weld_common::hash::hash_bytes;
use weld_common::io::input::InputStore;
use weld_common::par;

use super::FileName;
use super::search::{Opened, Search};
use crate::args::in_sysroot;
use crate::elf::*;
use crate::ids::*;
use crate::options::{InputArg, InputFlags, InputKind, Options};
use crate::resolve::names::{Bins, MAX_FILES, Rank, Record, flag};
use crate::script::standin::{self, Command};

/// What stands behind a [`FileId`].
pub enum Input<'a> {
    /// File 0: definitions of the linker's own.
    Internal,
    Object {
        name: FileName<'a>,
        data: &'a [u8],
        lazy: bool,
        excluded: bool,
    },
    /// A member of an archive with an index, named by the offset of its header.
    Member {
        archive: u32,
        offset: u64,
    },
    Shared {
        name: FileName<'a>,
        data: &'a [u8],
        /// What `DT_NEEDED` calls it if it has no soname: the path, or the file's name if `-l` found it.
        link_name: &'a [u8],
        as_needed: bool,
    },
}

pub struct ArchiveInput<'a> {
    pub path: Arc<str>,
    pub archive: Archive<'a>,
    /// Members are read through the index, when wanted.
    pub lazy: bool,
    pub excluded: bool,
    first_file: FileId,
    /// Header offsets of the members in the index, ascending; member `i` has file id `first_file + i`.
    offsets: Vec<u64>,
}

impl<'a> ArchiveInput<'a> {
    /// Records for a run of the index's entries.
    pub fn announce(&self, symbols: Symbols<'a>, bins: &mut Bins<'a>) {
        for (name, hash, file) in self.provided(symbols) {
            let bits = Rank::Provided as u32 | flag::OFFERED;
            bins.push(Record::new(hash, name, file, u32::MAX, bits));
        }
    }

    /// The bytes of the member at an offset, and of those up to the next that the index names: how long
    /// the member is stands in its header, which may not be in memory yet.
    fn extent(&self, offset: u64) -> &'a [u8] {
        let bytes = self.archive.bytes();
        let next = self.offsets.partition_point(|o| *o <= offset);
        let end = self.offsets.get(next).map_or(bytes.len(), |o| *o as usize);
        bytes.get(offset as usize..end).unwrap_or_default()
    }

    /// The names of a run of the index's entries with their hashes, and the members that define them.
    fn provided(&self, symbols: Symbols<'a>) -> impl Iterator<Item = (&'a [u8], u64, FileId)> {
        let mut member = 0;
        let spells_versions = memchr::memchr(b'@', symbols.names()).is_some();
        symbols.hashed().filter_map(move |(name, hash, offset)| {
            // Entries of one member follow one another.
            if self.offsets.get(member) != Some(&offset) {
                member = self.offsets.binary_search(&offset).ok()?;
            }
            let file = FileId(self.first_file.0 + member as u32);
            let version = if spells_versions { memchr::memmem::find(name, b"@@") } else { None };
            Some(match version {
                Some(at) => (&name[..at], hash_bytes(&name[..at]), file),
                None => (name, hash, file),
            })
        })
    }
}

/// Everything the command line brought in.
pub struct Inputs<'a> {
    pub files: Vec<Input<'a>>,
    pub archives: Vec<ArchiveInput<'a>>,
    /// What linker-script stand-ins said besides naming inputs, with the script's path.
    pub commands: Vec<(Arc<str>, Command)>,
    pub total_bytes: u64,
    /// Every file that the command line, scripts and objects brought in, in order.
    pub opened: Vec<Arc<str>>,
    /// First file and place in the order of the command line, of each input; the members of a group
    /// share a place.
    places: Vec<(FileId, u32)>,
    /// `SEARCH_DIR` of scripts.
    search_dirs: Vec<PathBuf>,
    /// Archives seen, and whether as a whole.
    archives_seen: HashSet<(Arc<str>, bool)>,
    /// Shared objects seen. A library named twice is one library; it is needed if either mention says so.
    libraries: HashMap<Arc<str>, FileId>,
    store: &'a InputStore<'a>,
}

impl<'a> Inputs<'a> {
    /// Files read in the first round: all but members of lazy archives. Lazy objects are looked at
    /// for what they would define.
    pub fn first_round(&self) -> impl Iterator<Item = FileId> {
        let eager = |(_, f): &(usize, &Input)| matches!(f, Input::Object { .. } | Input::Shared { .. });
        self.files.iter().enumerate().filter(eager).map(|(i, _)| FileId(i as u32))
    }

    /// What archives with an index provide: names, and the members that define them.
    pub fn provided(&self) -> impl Iterator<Item = (&'a [u8], FileId)> {
        let lazy = self.archives.iter().filter(|a| a.lazy);
        lazy.filter_map(|a| Some((a, a.archive.armap()?)))
            .flat_map(|(a, map)| a.provided(map.symbols()).map(|(name, _, file)| (name, file)))
    }

    /// Lazy files that will be read: members of archives, and objects between `--start-lib` and `--end-lib`.
    pub fn will_need(&self, files: &[FileId]) {
        let readahead = self.store.readahead();
        if !readahead.is_cold() {
            return;
        }
        for file in files {
            match &self.files[file.index()] {
                Input::Member { archive, offset } => {
                    let archive = &self.archives[*archive as usize];
                    readahead.will_need(archive.extent(*offset));
                }
                Input::Object { data, .. } => readahead.will_need(data),
                Input::Internal | Input::Shared { .. } => {}
            }
        }
    }

    /// Where a file stands on the command line, for `--warn-backrefs`.
    pub fn place(&self, file: FileId) -> u32 {
        let after = self.places.partition_point(|p| p.0 <= file);
        after.checked_sub(1).map_or(0, |i| self.places[i].1)
    }

    pub fn name(&self, file: FileId) -> FileName<'a> {
        match &self.files[file.index()] {
            Input::Internal => FileName { path: "<internal>".into(), member: None },
            Input::Object { name, .. } | Input::Shared { name, .. } => name.clone(),
            Input::Member { archive, offset } => {
                let archive = &self.archives[*archive as usize];
                let member = archive.archive.member_at(*offset).map(|m| m.name).unwrap_or(b"?");
                FileName { path: archive.path.clone(), member: Some(member) }
            }
        }
    }

    pub fn open_thin_member(
        &self,
        archive: &ArchiveInput<'a>,
        member: &Member<'a>,
    ) -> Result<&'a [u8], String> {
        let path = thin_path(&archive.path, member.name);
        let bytes = match self.store.open(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                return Err(format!("cannot open {}, a member of a thin archive: not found", path.display()));
            }
            Err(e) => return Err(e.to_string()),
        };
        let MemberData::ThinNested { header_offset } = member.data else { return Ok(bytes) };
        // The member lies in an archive that is itself a member. An archive cannot reach itself this
        // way: only members with their bytes in place are taken.
        let nested = Archive::parse(bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        let inner = nested.member_at(header_offset).map_err(|e| format!("{}: {e}", path.display()))?;
        match inner.data {
            MemberData::Inline(data) => Ok(data),
            _ => Err(format!("{}: a thin archive in a thin archive is not supported", path.display())),
        }
    }
}

fn thin_path(archive: &str, member: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let member = Path::new(std::ffi::OsStr::from_bytes(member));
    Path::new(archive).parent().unwrap_or(Path::new("")).join(member)
}

/// Refuses what looks like an object but cannot be linked as one.
pub fn check_relocatable(data: &[u8]) -> Result<(), String> {
    match identify(data) {
        Kind::Object => Ok(()),
        Kind::Bitcode => Err("is LLVM bitcode; link-time optimisation is not supported yet".into()),
        Kind::Executable => Err("is an executable, not an object".into()),
        _ => Err("is not an ELF object".into()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Shared,
    Executable,
    Archive,
    Bitcode,
    Text,
    Unknown,
}

fn identify(data: &[u8]) -> Kind {
    if data.starts_with(ELFMAG) {
        let Some(&[ehdr]) = table::<Ehdr>(data, 0, 1) else { return Kind::Object };
        let kind = if ehdr.0[5] == ELFDATA2LSB { ehdr.e_type() } else { ehdr.e_type().swap_bytes() };
        return match kind {
            ET_DYN => Kind::Shared,
            ET_EXEC => Kind::Executable,
            _ => Kind::Object,
        };
    }
    if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") {
        return Kind::Archive;
    }
    if data.starts_with(b"BC\xc0\xde") || data.starts_with(b"\xde\xc0\x17\x0b") {
        return Kind::Bitcode;
    }
    if memchr::memchr(0, &data[..data.len().min(1024)]).is_some() { Kind::Unknown } else { Kind::Text }
}

pub struct Loader<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub parallel: bool,
}

/// Linker-script stand-ins may include one another this deep.
const MAX_SCRIPT_DEPTH: usize = 16;

impl<'a> Loader<'a, '_> {
    pub fn load(&self) -> Inputs<'a> {
        let mut inputs = Inputs {
            files: vec![Input::Internal],
            archives: Vec::new(),
            commands: Vec::new(),
            total_bytes: 0,
            opened: Vec::new(),
            places: Vec::new(),
            search_dirs: Vec::new(),
            archives_seen: HashSet::new(),
            libraries: HashMap::new(),
            store: self.store,
        };
        let mut opened = Vec::new();
        self.expand(&self.options.inputs, None, 0, &mut opened, &mut inputs);
        self.store.all_open();
        self.classify(opened, &mut inputs);
        inputs
    }

    /// Adds the libraries that objects ask for (`.deplibs`). `wanted` are objects' names and what they
    /// ask for.
    pub fn add_dependent(&self, wanted: &[(FileName<'a>, &'a [u8])], inputs: &mut Inputs<'a>) {
        let mut opened = Vec::new();
        for (object, library) in wanted {
            let search_dirs = std::mem::take(&mut inputs.search_dirs);
            let name = String::from_utf8_lossy(library);
            let found = self.search(&search_dirs).dependent(&name, InputFlags::default());
            inputs.search_dirs = search_dirs;
            match found {
                Ok(Some(file)) => self.take(file, false, 0, &mut opened, inputs),
                Ok(None) => {
                    self.sink.error(format!("{object}: asks for the library {name}, which is not found"))
                }
                Err(diagnostic) => self.sink.push(diagnostic),
            }
        }
        self.classify(opened, inputs);
    }

    fn search<'s>(&'s self, more_dirs: &'s [PathBuf]) -> Search<'a, 's> {
        Search { store: self.store, options: self.options, more_dirs }
    }

    /// Opens `args` in parallel, and replaces scripts by what they name.
    fn expand(
        &self,
        args: &[InputArg],
        from: Option<&Opened<'a>>,
        depth: usize,
        out: &mut Vec<Opened<'a>>,
        inputs: &mut Inputs<'a>,
    ) {
        let found = self.open(args, &|arg| self.search(&inputs.search_dirs).open(arg, from));
        let dirs = inputs.search_dirs.len();
        for (arg, mut found) in args.iter().zip(found) {
            // A script before it may have named more directories.
            if found.is_err() && inputs.search_dirs.len() > dirs {
                found = self.search(&inputs.search_dirs).open(arg, from);
            }
            let script = matches!(arg.kind, InputKind::Script(_));
            match found {
                Ok(file) => self.take(file, script, depth, out, inputs),
                Err(diagnostic) => self.sink.push(diagnostic.at(out.len() as u64)),
            }
        }
    }

    /// Opens each of `args`: in parallel if they are many, or if they turn out to be on a device, where
    /// opening is waiting.
    fn open<R: Send>(&self, args: &[InputArg], open: &(impl Fn(&InputArg) -> R + Sync)) -> Vec<R> {
        let mut found = Vec::with_capacity(args.len());
        let mut rest = args;
        while let [arg, more @ ..] = rest {
            found.push(open(arg));
            rest = more;
            if self.store.readahead().is_cold() && rest.len() > 1 {
                found.extend(par::map_waiting(rest.len(), |i| open(&rest[i])));
                break;
            }
            if self.parallel && rest.len() > 64 {
                found.par_extend(rest.par_iter().map(open));
                break;
            }
        }
        found
    }

    /// Takes a file in as it is, or what it names if it is a script.
    fn take(
        &self,
        file: Opened<'a>,
        script: bool,
        depth: usize,
        out: &mut Vec<Opened<'a>>,
        inputs: &mut Inputs<'a>,
    ) {
        inputs.opened.push(file.path.clone());
        match identify(file.bytes) {
            Kind::Text | Kind::Unknown if script => self.expand_script(&file, depth, out, inputs),
            Kind::Text if !file.bytes.is_empty() => self.expand_script(&file, depth, out, inputs),
            _ => out.push(file),
        }
    }

    fn expand_script(
        &self,
        file: &Opened<'a>,
        depth: usize,
        out: &mut Vec<Opened<'a>>,
        inputs: &mut Inputs<'a>,
    ) {
        if depth > MAX_SCRIPT_DEPTH {
            self.sink.error(format!("{}: linker scripts include one another too deeply", file.path));
            return;
        }
        let commands = match standin::parse(file.bytes, &file.path) {
            Ok(commands) => commands,
            Err(diagnostic) => return self.sink.push(diagnostic),
        };
        for command in commands {
            match command {
                Command::Inputs(list) => {
                    let as_arg = |(kind, as_needed): (InputKind, bool)| InputArg {
                        kind,
                        flags: InputFlags { as_needed: as_needed || file.flags.as_needed, ..file.flags },
                    };
                    let args: Vec<_> = list.into_iter().map(as_arg).collect();
                    self.expand(&args, Some(file), depth + 1, out, inputs);
                }
                Command::Include(path) => {
                    let arg = InputArg { kind: InputKind::Script(path), flags: file.flags };
                    self.expand(&[arg], Some(file), depth + 1, out, inputs);
                }
                Command::SearchDir(_) if self.options.nostdlib => {}
                Command::SearchDir(dir) => {
                    inputs.search_dirs.push(in_sysroot(&self.options.sysroot, &dir).unwrap_or(dir));
                }
                Command::Output(_) if self.options.output_given => {}
                Command::Output(path) => {
                    let output = path.display();
                    self.sink.error(format!("{}: OUTPUT is not supported; use -o {output}", file.path));
                }
                Command::Format(name) => self.check_format(&file.path, &name, "elf64-x86-64"),
                Command::Architecture(name) => self.check_format(&file.path, &name, "i386:x86-64"),
                other => inputs.commands.push((file.path.clone(), other)),
            }
        }
    }

    fn check_format(&self, script: &str, name: &str, wanted: &str) {
        if name != wanted {
            self.sink.error(format!("{script}: is for {name}, not for {wanted}"));
        }
    }

    /// Gives each file its id.
    fn classify(&self, opened: Vec<Opened<'a>>, inputs: &mut Inputs<'a>) {
        let mut groups: HashMap<u32, u32> = HashMap::new();
        for file in opened {
            let next = inputs.places.len() as u32;
            let place =
                if file.flags.group == 0 { next } else { *groups.entry(file.flags.group).or_insert(next) };
            inputs.places.push((FileId(inputs.files.len() as u32), place));
            let name = FileName { path: file.path.clone(), member: None };
            inputs.total_bytes += file.bytes.len() as u64;
            match identify(file.bytes) {
                Kind::Object | Kind::Bitcode => {
                    let lazy = file.flags.in_lib;
                    if !lazy {
                        self.store.readahead().will_need(file.bytes);
                    }
                    inputs.files.push(Input::Object { name, data: file.bytes, lazy, excluded: false });
                }
                Kind::Shared => {
                    if let Some(id) = inputs.libraries.get(&file.path) {
                        if let Input::Shared { as_needed, .. } = &mut inputs.files[id.index()] {
                            *as_needed &= file.flags.as_needed;
                        }
                        continue;
                    }
                    if self.options.static_link {
                        self.sink.error(format!("{name}: a shared object cannot be part of a static link"));
                    }
                    inputs.libraries.insert(file.path.clone(), FileId(inputs.files.len() as u32));
                    let as_needed = file.flags.as_needed;
                    let link_name = if file.searched { name.base() } else { &file.path };
                    let link_name = self.store.keep(link_name.as_bytes().to_vec());
                    inputs.files.push(Input::Shared { name, data: file.bytes, link_name, as_needed });
                }
                Kind::Archive => {
                    // A second mention of an archive cannot provide what the first did not.
                    if inputs.archives_seen.insert((file.path.clone(), file.flags.whole_archive)) {
                        self.add_archive(file, inputs);
                    }
                }
                Kind::Executable => {
                    self.sink.error(format!("{name}: is an executable and cannot be linked against"));
                }
                Kind::Text | Kind::Unknown => self.sink.error(format!("{name}: unknown file type")),
            }
        }
        if inputs.files.len() > MAX_FILES as usize {
            self.sink.error(format!("too many input files: {}", inputs.files.len()));
        }
    }

    fn is_excluded(&self, path: &str) -> bool {
        let base = path.rsplit('/').next().unwrap_or(path);
        self.options.exclude_libs.iter().any(|name| name == "ALL" || name == base)
    }

    fn add_archive(&self, file: Opened<'a>, inputs: &mut Inputs<'a>) {
        let archive = match Archive::parse(file.bytes) {
            Ok(archive) => archive,
            Err(e) => return self.sink.error(format!("{}: {e}", file.path)),
        };
        let index = inputs.archives.len() as u32;
        let first_file = FileId(inputs.files.len() as u32);
        let mut added = ArchiveInput {
            excluded: self.is_excluded(&file.path),
            path: file.path.clone(),
            archive,
            lazy: false,
            first_file,
            offsets: Vec::new(),
        };
        match added.archive.armap() {
            Some(map) if !file.flags.whole_archive => {
                let mut offsets: Vec<u64> = Vec::new();
                for i in 0..map.count() {
                    let offset = map.offset(i);
                    if offsets.last() != Some(&offset) {
                        offsets.push(offset);
                    }
                }
                offsets.sort_unstable();
                offsets.dedup();
                let member = |&offset: &u64| Input::Member { archive: index, offset };
                inputs.files.extend(offsets.iter().map(member));
                added.offsets = offsets;
                added.lazy = true;
            }
            _ => {
                self.store.readahead().will_need(file.bytes);
                self.add_members(&added, !file.flags.whole_archive, inputs);
            }
        }
        inputs.archives.push(added);
    }

    /// Adds every member of an archive as an object of its own.
    fn add_members(&self, archive: &ArchiveInput<'a>, lazy: bool, inputs: &mut Inputs<'a>) {
        for member in archive.archive.members() {
            let member = match member {
                Ok(member) => member,
                Err(e) => return self.sink.error(format!("{}: {e}", archive.path)),
            };
            let name = FileName { path: archive.path.clone(), member: Some(member.name) };
            let data = match member.data {
                MemberData::Inline(data) => Ok(data),
                _ => inputs.open_thin_member(archive, &member),
            };
            match data {
                Ok(data) if identify(data) == Kind::Object || identify(data) == Kind::Bitcode => {
                    inputs.files.push(Input::Object { name, data, lazy, excluded: archive.excluded });
                }
                Ok(data) if data.starts_with(b"!<") => {
                    self.sink.error(format!("{name}: an archive inside an archive is not supported"));
                }
                // Rust libraries carry metadata beside their objects; other linkers pass over such members.
                Ok(_) => {}
                Err(message) => self.sink.error(format!("{}: {message}", archive.path)),
            }
        }
    }
}
