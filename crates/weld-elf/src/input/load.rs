//! From the command line to the ordered list of files.
//!
//! Names are searched, files opened and identified in parallel; linker-script stand-ins
//! (`libc.so`) expand in place. File ids then follow command-line order; an archive with an index
//! takes an id for each member that the index names, read or not, so that a member's priority
//! never depends on when it is read.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::io::readahead::Needed;
use weld_common::io::thin::{self, MemberError};
use weld_common::text;
use weld_common::{par, trace};
use weld_lto::bitcode;

use super::archives::{self, ArchiveInput, Contents, ReadArchive};
use super::binary;
use super::identify::{Kind, identify, looks_like};
use super::ir;
use super::just_symbols;
use super::other_machine;
use super::register_code;
use super::remap::Remaps;
use super::search::{Opened, Search};
use super::{FileName, Reading};
use crate::arch::facts::Facts;
use crate::arch::{self, Machine};
use crate::elf::{ELFOSABI_FREEBSD, Target};
use crate::ids::*;
use crate::options::in_sysroot;
use crate::options::{
    Defsym, InputArg, InputFlags, InputKind, Options, Orphans, OutputKind, ScriptOptions, TextFormat,
};
use crate::script::commands::{self, Command, Definition};
use crate::script::layout::LayoutScript;
use crate::script::lexer::Place;
use crate::script::mri;
use crate::script::sections::Statement;
use crate::symbol_names::{ElfRules, MAX_FILES};

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
        /// `--copy-dt-needed-entries`: what it needs takes part, too.
        copy_needed: bool,
    },
}

/// Everything the command line brought in.
pub struct Inputs<'a> {
    pub files: Vec<Input<'a>>,
    pub archives: Vec<ArchiveInput<'a>>,
    /// What linker-script stand-ins said besides naming inputs, with the script's path.
    pub commands: Vec<(Arc<str>, Command)>,
    /// What scripts say of layout.
    script: Arc<LayoutScript>,
    /// What they say that is an option, too.
    pub options: ScriptOptions,
    pub total_bytes: u64,
    /// Every file that the command line, scripts and objects brought in, in order.
    pub opened: Vec<Arc<str>>,
    /// First file and place in the order of the command line, of each input; the members of a group
    /// share a place.
    pub(super) places: Vec<(FileId, u32)>,
    /// `SEARCH_DIR` of scripts.
    search_dirs: Vec<PathBuf>,
    remaps: Remaps,
    /// Archives seen and whether as a whole, with where they are named for the last time.
    archives_seen: HashMap<(Arc<str>, bool), u32>,
    /// Groups of scripts, counted from the greatest number down.
    script_groups: u32,
    scripts: ScriptCounts,
    /// Shared objects seen. A library named twice is one library; it is needed if either mention says so.
    pub(super) libraries: HashMap<Arc<str>, FileId>,
    /// An object was made of a file that is none (`-b binary`, `--just-symbols`).
    pub makes_objects: bool,
    /// Libraries that objects have asked for (`.deplibs`), as they name them.
    pub asked_for: HashSet<&'a [u8]>,
    /// The machine that is linked for.
    pub machine: Machine,
    /// It, as far as it is known before files are open.
    searched_for: Option<&'static Facts>,
    /// What scripts say of it: script, name, and whether it is one of `OUTPUT_ARCH`.
    formats: Vec<(Arc<str>, String, bool)>,
    pub(super) store: &'a InputStore<'a>,
}

impl<'a> Inputs<'a> {
    /// What scripts say that is known only with the layout, if there is something.
    pub fn script(&self) -> Option<&Arc<LayoutScript>> {
        (self.script.has_sections || self.script.computes).then_some(&self.script)
    }

    /// Completes the script: `default` gives the default layout as one, to which it may add.
    ///
    /// # Errors
    /// If it speaks of output sections that there are not.
    pub fn complete_script(
        &mut self,
        default: impl FnOnce(Machine) -> String,
        sink: &DiagSink,
    ) -> Result<(), Diagnostic> {
        if self.script.wants_default() {
            let text = default(self.machine);
            let commands = commands::parse_alone(text.as_bytes(), "the default layout")?;
            Arc::make_mut(&mut self.script).add_default(commands);
        }
        if self.script.has_sections {
            for name in Arc::make_mut(&mut self.script).put_in_place()? {
                let name = String::from_utf8_lossy(&name);
                sink.warn(
                    Cause::ScriptDuplicate,
                    format!("OVERWRITE_SECTIONS has {name} twice: the first counts"),
                );
            }
        }
        Ok(())
    }

    /// The script that lays out, if one does.
    pub fn layout(&self) -> Option<&Arc<LayoutScript>> {
        self.script.has_sections.then_some(&self.script)
    }

    /// Whether scripts have assertions.
    pub fn has_assertions(&self) -> bool {
        self.script.statements.iter().any(|statement| matches!(statement, Statement::Assert(_)))
    }

    /// Whether scripts say which names are exported, and in what versions.
    pub fn has_versions(&self) -> bool {
        self.commands.iter().any(|(_, command)| matches!(command, Command::Version(..)))
    }

    /// Adds an object that is made while the link is going on.
    pub fn add_object(&mut self, name: FileName<'a>, data: &'a [u8], excluded: bool) -> FileId {
        self.files.push(Input::Object { name, data, lazy: false, excluded });
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds objects that are made while the link is going on.
    pub fn add_objects(
        &mut self,
        objects: impl IntoIterator<Item = (FileName<'a>, &'a [u8])>,
    ) -> Vec<FileId> {
        objects.into_iter().map(|(name, data)| self.add_object(name, data, false)).collect()
    }

    /// Files read in the first round: all but members of lazy archives. Lazy objects are looked at
    /// for what they would define.
    pub fn first_round(&self) -> impl Iterator<Item = FileId> {
        let eager = |(_, f): &(usize, &Input)| matches!(f, Input::Object { .. } | Input::Shared { .. });
        self.files.iter().enumerate().filter(eager).map(|(i, _)| FileId(i as u32))
    }

    /// What archives with an index provide: names, and the members that define them.
    pub fn provided(&self) -> impl Iterator<Item = (&'a [u8], FileId)> {
        let indices = self.archives.iter().filter_map(|archive| archive.index());
        indices.flat_map(|index| {
            index.offers::<ElfRules>(index.map.symbols()).map(|(name, _, file)| (name, file))
        })
    }

    /// Lazy files that will be read: members of archives, and objects between `--start-lib` and `--end-lib`.
    pub fn will_need(&self, files: &[FileId]) {
        let needed = files.iter().filter_map(|file| match &self.files[file.index()] {
            Input::Member { archive, offset } => {
                let ArchiveInput { archive, offsets, .. } = &self.archives[*archive as usize];
                (!archive.is_thin()).then(|| Needed::Member(archive.extent(offsets, *offset)))
            }
            Input::Object { data, .. } => Some(Needed::File(data)),
            Input::Internal | Input::Shared { .. } => None,
        });
        self.store.readahead().will_read(needed);
    }

    /// Where a file stands on the command line, for `--warn-backrefs`.
    pub fn place(&self, file: FileId) -> u32 {
        let after = self.places.partition_point(|p| p.0 <= file);
        after.checked_sub(1).map_or(0, |i| self.places[i].1)
    }

    /// Where what a file provides is offered for the last time: an archive may be named twice.
    pub fn last_place(&self, file: FileId) -> u32 {
        let after = self.archives.partition_point(|archive| archive.first_file <= file);
        let place = self.place(file);
        match after.checked_sub(1).map(|i| &self.archives[i]) {
            Some(archive) if self.place(archive.first_file) == place => {
                let seen = self.archives_seen.get(&(archive.path.clone(), false));
                seen.map_or(place, |last| place.max(*last))
            }
            _ => place,
        }
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

    /// The bytes of a file.
    ///
    /// # Errors
    /// If it is a member of an archive and cannot be read.
    pub fn bytes(&self, file: FileId) -> Result<&'a [u8], MemberError> {
        match &self.files[file.index()] {
            Input::Object { data, .. } | Input::Shared { data, .. } => Ok(data),
            Input::Member { archive, offset } => self.member_bytes(*archive, *offset),
            Input::Internal => Ok(&[]),
        }
    }

    /// How the inputs are read.
    pub fn reading(&self, parallel: bool) -> Reading<'a> {
        Reading { machine: self.machine.facts(), store: self.store, parallel }
    }

    /// The bytes of the member at `offset` of archive number `archive`.
    ///
    /// # Errors
    /// If there is none, or it lies in a file that cannot be read.
    pub fn member_bytes(&self, archive: u32, offset: u64) -> Result<&'a [u8], MemberError> {
        let archive = &self.archives[archive as usize];
        let member = archive.archive.member_at(offset)?;
        thin::member_bytes(self.store, &archive.path, &member)
    }
}

/// The machine of the first file that is for one: of an object or a shared object, or else of an object in an
/// archive. `says_abi`: of files that may be of several ABIs, first those that say of which.
fn first_machine<'a>(store: &'a InputStore<'a>, opened: &[Opened<'a>], says_abi: bool) -> Option<Machine> {
    let read = || opened.iter().filter(|file| !file.flags.binary);
    let is_for_one = |file: &&Opened| {
        matches!(file.kind, Kind::Object | Kind::Shared | Kind::Bitcode)
            || file.flags.just_symbols && file.kind == Kind::Executable
    };
    let files = read().filter(is_for_one).map(|file| file.bytes);
    let archives = read().filter(|file| file.kind == Kind::Archive);
    let members = archives.filter_map(|file| archives::first_object_anywhere(store, file));
    let machine_of = |bytes: &[u8]| match identify(bytes) {
        Kind::Bitcode => ir::target_of(&bitcode::read(bytes).ok()?).and_then(arch::of_target),
        _ => arch::of_file(bytes),
    };
    let mut all = files.chain(members);
    if !says_abi {
        return all.find_map(machine_of);
    }
    let mut all: Vec<&[u8]> = all.collect();
    all.sort_by_key(|bytes| Target::of(bytes).is_none_or(|target| target.settled() != target));
    all.into_iter().find_map(machine_of)
}

pub struct Loader<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub parallel: bool,
}

fn is_device(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_file())
}

/// `--defsym` as the assignment of a script. Its place among those of scripts counts; `wrapped` are the names
/// of `--wrap`.
fn assignment(defsym: &Defsym, wrapped: &[String]) -> (Arc<str>, Command) {
    let Defsym { name, value, .. } = defsym;
    let (name, mut value) = (name.clone(), value.clone());
    value.redirect(wrapped);
    let origin: Arc<str> = format!("--defsym={name}").into();
    let place = Place { path: origin.clone(), line: 0, column: 0 };
    let text = origin.to_string();
    (origin, Command::Define(Definition { name, value, provide: false, hidden: false, place, text }))
}

/// A path that lives as long as the inputs.
fn kept_path<'a>(store: &'a InputStore<'a>, path: &str) -> &'a str {
    std::str::from_utf8(store.keep(path.as_bytes().to_vec())).unwrap_or_default()
}

/// What a script includes, found as its inputs are.
struct Included<'l, 'a, 'o> {
    loader: &'l Loader<'a, 'o>,
    inputs: &'l mut Inputs<'a>,
    flags: InputFlags,
}

impl<'a> commands::Files<'a> for Included<'_, 'a, '_> {
    fn include(&mut self, path: &Path, from: &str) -> Result<(&'a str, &'a [u8]), Diagnostic> {
        let flags = self.flags;
        let arg = InputArg { kind: InputKind::Script(path.to_owned()), flags };
        let from = Opened { path: from.into(), bytes: &[], kind: Kind::Text, flags, searched: false };
        let found = self.loader.search(self.inputs).open(&arg, Some(&from))?;
        self.inputs.opened.push(found.path.clone());
        if !matches!(found.kind, Kind::Text | Kind::Unknown) {
            return Err(Diagnostic::error(
                Cause::ScriptSyntax,
                format!("{} is no linker script", found.path),
            ));
        }
        Ok((kept_path(self.loader.store, &found.path), found.bytes))
    }

    fn wrapped(&self) -> Arc<[String]> {
        self.loader.options.symbols.wrap.as_slice().into()
    }

    fn add_directory(&mut self, path: PathBuf) {
        let options = self.loader.options;
        if !options.inputs.nostdlib {
            let inside = in_sysroot(&options.inputs.sysroot, &path);
            self.inputs.search_dirs.push(inside.unwrap_or(path));
        }
    }
}

/// Linker-script stand-ins may include one another this deep.
const MAX_SCRIPT_DEPTH: usize = 16;

/// How often scripts are read in a link. Ten that name one another eight times each would be read a
/// thousand million times.
const MAX_SCRIPTS: usize = 10_000;

/// How many inputs all scripts together may name.
const MAX_NAMED: usize = 1 << 20;

/// What scripts have brought in so far.
#[derive(Default)]
struct ScriptCounts {
    read: usize,
    named: usize,
}

impl<'a> Loader<'a, '_> {
    pub fn load(&self) -> Inputs<'a> {
        let mut inputs = Inputs {
            files: vec![Input::Internal],
            archives: Vec::new(),
            commands: Vec::new(),
            script: Arc::default(),
            options: ScriptOptions::default(),
            total_bytes: 0,
            opened: Vec::new(),
            places: Vec::new(),
            search_dirs: Vec::new(),
            remaps: Remaps::default(),
            makes_objects: false,
            archives_seen: HashMap::new(),
            script_groups: 0,
            scripts: ScriptCounts::default(),
            libraries: HashMap::new(),
            asked_for: HashSet::new(),
            machine: arch::default(),
            searched_for: other_machine::wanted(self.options, self.store),
            formats: Vec::new(),
            store: self.store,
        };
        match Remaps::read(self.options, self.store) {
            Ok(remaps) => inputs.remaps = remaps,
            Err(diagnostic) => self.sink.push(diagnostic),
        }
        let mut opened = Vec::new();
        let mut args = &self.options.inputs.args[..];
        let mut given = 0;
        for defsym in &self.options.symbols.defsyms {
            let (before, after) = args.split_at(defsym.before - given);
            self.expand(before, None, 0, &mut opened, &mut inputs);
            (args, given) = (after, defsym.before);
            let (origin, command) = assignment(defsym, &self.options.symbols.wrap);
            self.take_command(origin, command, &mut inputs);
        }
        self.expand(args, None, 0, &mut opened, &mut inputs);
        Arc::make_mut(&mut inputs.script).end();
        self.check_script(&inputs);
        self.store.all_open();
        if let Some(format) = self.options.inputs.output_format {
            inputs.formats.push(("--oformat".into(), format.to_owned(), false));
        }
        let named = self.options.inputs.machine;
        let machine = named.or_else(|| first_machine(self.store, &opened, false)).unwrap_or(arch::default());
        let machine = match arch::has_namesakes(machine) {
            true => arch::namesake(machine, first_machine(self.store, &opened, true)),
            false => machine,
        };
        inputs.machine = self.in_order(machine);
        self.classify(opened, &mut inputs);
        self.add_needed(&mut inputs);
        self.add_register_code(&mut inputs);
        inputs
    }

    /// Adds functions that objects leave to the linker to make.
    fn add_register_code(&self, inputs: &mut Inputs<'a>) {
        let linked = self.options.kind != OutputKind::Relocatable;
        if !self.options.layout.register_code.unwrap_or(linked) {
            return;
        }
        let machine = inputs.machine.facts();
        for code in machine.register_code {
            let place = inputs.places.len() as u32;
            inputs.places.push((FileId(inputs.files.len() as u32), place));
            let name = FileName { path: format!("<{}>", code.prefix).into(), member: None };
            let data = self.store.keep(register_code::object(code, machine.target));
            inputs.files.push(Input::Object { name, data, lazy: true, excluded: true });
        }
    }

    /// Adds the libraries that objects ask for (`.deplibs`). `wanted` are objects' names and what they
    /// ask for.
    pub fn add_dependent(&self, wanted: &[(FileName<'a>, &'a [u8])], inputs: &mut Inputs<'a>) {
        let mut opened = Vec::new();
        for (object, library) in wanted {
            let name = String::from_utf8_lossy(library);
            match self.search(inputs).dependent(&name, InputFlags::default()) {
                Ok(Some(file)) => self.take(file, false, 0, &mut opened, inputs),
                Ok(None) => self.sink.push(
                    Diagnostic::error(
                        Cause::LibraryNotFound,
                        format!("{object}: asks for the library {name}, which is not found"),
                    )
                    .in_file(object),
                ),
                Err(diagnostic) => self.sink.push(diagnostic),
            }
        }
        let _stretch = trace::stretch("classify files");
        self.classify(opened, inputs);
        self.add_needed(inputs);
    }

    pub(super) fn search<'s>(&'s self, inputs: &'s Inputs<'a>) -> Search<'a, 's> {
        let Inputs { search_dirs, remaps, .. } = inputs;
        Search {
            store: self.store,
            options: self.options,
            more_dirs: search_dirs,
            remaps: Some(remaps),
            machine: inputs.searched_for,
            sink: Some(self.sink),
        }
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
        let found = self.store.open_each(args, self.parallel, &|arg| self.search(inputs).open(arg, from));
        let dirs = inputs.search_dirs.len();
        out.reserve(args.len());
        inputs.opened.reserve(args.len());
        for (arg, mut found) in args.iter().zip(found) {
            // A script before it may have named more directories.
            if found.is_err() && inputs.search_dirs.len() > dirs {
                found = self.search(inputs).open(arg, from);
            }
            let mri = matches!(arg.kind, InputKind::MriScript(_));
            if mri {
                found = found.and_then(|file| self.translated(file, inputs));
            }
            let script = mri || matches!(arg.kind, InputKind::Script(_));
            match found {
                Ok(file) => self.take(file, script, depth, out, inputs),
                Err(diagnostic) => self.sink.push(diagnostic.at(out.len() as u64)),
            }
        }
    }

    /// An MRI script as one in the usual language.
    fn translated(&self, file: Opened<'a>, inputs: &mut Inputs<'a>) -> Result<Opened<'a>, Diagnostic> {
        let translated = mri::translate(file.bytes, &file.path)?;
        inputs.options.print_map |= translated.prints_map;
        Ok(Opened { bytes: self.store.keep(translated.text.into_bytes()), kind: Kind::Text, ..file })
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
        if file.flags.binary && !script {
            // It becomes an object once the machine is known.
            return out.push(Opened { kind: Kind::Unknown, ..file });
        }
        if file.flags.just_symbols && !script {
            return out.push(file);
        }
        match file.kind {
            Kind::Text | Kind::Unknown if script => self.expand_script(&file, depth, out, inputs),
            Kind::Text if !file.bytes.is_empty() => self.expand_script(&file, depth, out, inputs),
            // `/dev/null` is an input without contents. A file may be empty because what writes it has
            // failed.
            Kind::Text if is_device(&file.path) => {}
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
        if !self.may_read_script(file, depth, inputs) {
            return;
        }
        let path = kept_path(self.store, &file.path);
        let mut included = Included { loader: self, inputs, flags: file.flags };
        let commands = match commands::parse(file.bytes, path, &mut included) {
            Ok(commands) => commands,
            Err(mut diagnostic) => {
                diagnostic.notes.extend(looks_like(file.bytes, &file.path).map(str::to_owned));
                return self.sink.push(diagnostic);
            }
        };
        let mut binary = file.flags.binary;
        for command in commands {
            match command {
                Command::Inputs { list, group } => {
                    let flags = InputFlags { binary, ..file.flags };
                    let Some(args) = self.named_inputs(file, (list, group), flags, inputs) else { return };
                    self.expand(&args, Some(file), depth + 1, out, inputs);
                }
                Command::Output(_) if self.options.output.path_given => {}
                Command::Output(path) => _ = inputs.options.output.get_or_insert(path),
                Command::DefineCommon(false)
                    if !matches!(self.options.kind, OutputKind::Shared | OutputKind::Relocatable) =>
                {
                    let path = &file.path;
                    self.sink.push(
                        Diagnostic::error(
                            Cause::ScriptUnsupported,
                            format!("{path}: INHIBIT_COMMON_ALLOCATION needs -shared or -r"),
                        )
                        .in_file(path),
                    );
                }
                Command::DefineCommon(define) => inputs.options.define_common = Some(define),
                Command::DissolveGroups => inputs.options.dissolve_groups = true,
                Command::Target(name) => {
                    binary = name == "binary";
                    if !binary && name != "default" {
                        inputs.formats.push((file.path.clone(), name, false));
                    }
                }
                Command::Format(name) => inputs.formats.push((file.path.clone(), name, false)),
                Command::Formats([default, big, little]) => {
                    let name = match self.options.inputs.big_endian {
                        None => default,
                        Some(true) => big,
                        Some(false) => little,
                    };
                    inputs.formats.push((file.path.clone(), name, false));
                }
                Command::Architecture(name) => inputs.formats.push((file.path.clone(), name, true)),
                other => self.take_command(file.path.clone(), other, inputs),
            }
        }
    }

    /// Counts a script that is to be read, which `depth` others have asked for; `false` if these are too many.
    fn may_read_script(&self, file: &Opened<'a>, depth: usize, inputs: &mut Inputs<'a>) -> bool {
        let path = &file.path;
        let refuse = |text: String| {
            self.sink.push(Diagnostic::error(Cause::TooLarge, text).in_file(path));
            false
        };
        if depth > MAX_SCRIPT_DEPTH {
            return refuse(format!("{path}: linker scripts include one another too deeply"));
        }
        inputs.scripts.read += 1;
        match inputs.scripts.read.checked_sub(MAX_SCRIPTS) {
            None | Some(0) => true,
            Some(1) => refuse(format!("{path}: linker scripts are read more than {MAX_SCRIPTS} times")),
            // Said once; those that are open by now are passed over.
            Some(_) => false,
        }
    }

    /// What a command of a script names, which may be a `group`, as arguments; `None` if scripts name too many.
    fn named_inputs(
        &self,
        file: &Opened<'a>,
        (list, group): (Vec<(InputKind, bool)>, bool),
        mut flags: InputFlags,
        inputs: &mut Inputs<'a>,
    ) -> Option<Vec<InputArg>> {
        if group && flags.group == 0 {
            inputs.script_groups += 1;
            flags.group = u32::MAX - inputs.script_groups;
        }
        let as_arg = |(kind, as_needed): (InputKind, bool)| InputArg {
            kind,
            flags: InputFlags { as_needed: as_needed || flags.as_needed, ..flags },
        };
        inputs.scripts.named += list.len();
        if inputs.scripts.named > MAX_NAMED {
            let path = &file.path;
            let text = format!("{path}: linker scripts name more than {MAX_NAMED} inputs");
            self.sink.push(Diagnostic::error(Cause::TooLarge, text).in_file(path));
            return None;
        }
        Some(list.into_iter().map(as_arg).collect())
    }

    fn take_command(&self, path: Arc<str>, command: Command, inputs: &mut Inputs<'a>) {
        match Arc::make_mut(&mut inputs.script).add(command) {
            Ok(Some(command)) => inputs.commands.push((path, command)),
            Ok(None) => {}
            Err(diagnostic) => self.sink.push(diagnostic),
        }
    }

    /// What needs a layout by a script, where there is none.
    fn check_script(&self, inputs: &Inputs<'a>) {
        let script = &inputs.script;
        if script.wants_default() && self.options.kind == OutputKind::Relocatable {
            self.sink.error(
                Cause::ScriptUnsupported,
                "INSERT, OVERWRITE_SECTIONS and PHDRS without SECTIONS are not supported with -r",
            );
        }
        if script.has_sections || script.wants_default() {
            return;
        }
        let how = match self.options.layout.orphans {
            Orphans::Place => None,
            Orphans::Discard => Some("discard"),
            Orphans::Warn => Some("warn"),
            Orphans::Error => Some("error"),
        };
        if let Some(how) = how {
            let text = "has no effect: no linker script places sections";
            self.sink.warn(Cause::OptionWithoutEffect, format!("--orphan-handling={how} {text}"));
        }
    }

    /// The same machine in the byte order that options ask for.
    fn in_order(&self, machine: Machine) -> Machine {
        let Some(big) = self.options.inputs.big_endian else { return machine };
        arch::in_order(machine, big).unwrap_or_else(|| {
            let (option, order) = if big { ("-EB", "big") } else { ("-EL", "little") };
            self.sink.error(
                Cause::WrongMachine,
                format!("{option}: {} is never {order} endian", machine.facts().name),
            );
            machine
        })
    }

    /// What scripts say of the machine has to be true.
    fn check_formats(&self, inputs: &mut Inputs<'a>) {
        let facts = inputs.machine.facts();
        for (script, name, is_architecture) in inputs.formats.drain(..) {
            let wanted = if is_architecture { facts.architecture } else { facts.object_format };
            let freebsd = !is_architecture && name.strip_suffix("-freebsd") == Some(wanted);
            if freebsd {
                inputs.options.os_abi = Some(ELFOSABI_FREEBSD);
            }
            let right = match is_architecture {
                true => arch::is_architecture(&name, facts),
                false => {
                    arch::object_format(&name) == Some(wanted)
                        || freebsd
                        || self.options.plain_format().is_some()
                }
            };
            let text = TextFormat::of(&name).filter(|_| !is_architecture);
            if !is_architecture && name == "binary" || text.is_some() {
                // The command line has the last word.
                let counts = !self.options.output.format_given;
                (inputs.options.raw, inputs.options.text) =
                    (counts && text.is_none(), text.filter(|_| counts));
                if let Some(option) = self.options.against_raw().filter(|_| counts) {
                    self.sink.push(
                        Diagnostic::error(
                            Cause::ConflictingOptions,
                            format!("{script}: OUTPUT_FORMAT({name}) and {option} cannot be used together"),
                        )
                        .in_file(&script),
                    );
                }
            } else if !right {
                self.sink.push(
                    Diagnostic::error(
                        Cause::WrongMachine,
                        format!("{script}: is for {name}, not for {wanted}"),
                    )
                    .in_file(&script),
                );
            }
        }
    }

    /// Gives each file its id.
    pub(super) fn classify(&self, opened: Vec<Opened<'a>>, inputs: &mut Inputs<'a>) {
        let mut groups: HashMap<u32, u32> = HashMap::new();
        self.check_formats(inputs);
        let machine = inputs.machine.facts();
        let archives = self.read_archives(&opened, inputs);
        inputs.files.reserve(opened.len());
        inputs.places.reserve(opened.len());
        for (file, archive) in opened.into_iter().zip(archives) {
            let next = inputs.places.len() as u32;
            let place =
                if file.flags.group == 0 { next } else { *groups.entry(file.flags.group).or_insert(next) };
            inputs.places.push((FileId(inputs.files.len() as u32), place));
            let name = FileName { path: file.path.clone(), member: None };
            inputs.total_bytes += file.bytes.len() as u64;
            inputs.makes_objects |= file.flags.binary || file.flags.just_symbols;
            match file.kind {
                _ if file.flags.binary => {
                    let data = self.store.keep(binary::object(&file.path, file.bytes, machine));
                    inputs.files.push(Input::Object { name, data, lazy: file.flags.in_lib, excluded: false });
                }
                _ if file.flags.just_symbols => match just_symbols::object(self.store, file.bytes, machine) {
                    Ok(data) => {
                        let data = self.store.keep(data);
                        inputs.files.push(Input::Object { name, data, lazy: false, excluded: false });
                    }
                    Err(error) => self.sink.push(
                        Diagnostic::error(Cause::MalformedObject, format!("{name}: {error}")).in_file(&name),
                    ),
                },
                Kind::Object | Kind::Bitcode => {
                    let lazy = file.flags.in_lib;
                    if !lazy {
                        self.store.readahead().will_need(file.bytes);
                    }
                    inputs.files.push(Input::Object { name, data: file.bytes, lazy, excluded: false });
                }
                Kind::Shared => {
                    if let Some(id) = inputs.libraries.get(&file.path) {
                        if let Input::Shared { as_needed, copy_needed, .. } = &mut inputs.files[id.index()] {
                            *as_needed &= file.flags.as_needed;
                            *copy_needed |= file.flags.copy_needed;
                        }
                        continue;
                    }
                    if self.options.static_link {
                        self.sink.push(
                            Diagnostic::error(
                                Cause::SharedInStaticLink,
                                format!("{name}: a shared object cannot be part of a static link"),
                            )
                            .in_file(&name),
                        );
                    }
                    inputs.libraries.insert(file.path.clone(), FileId(inputs.files.len() as u32));
                    let InputFlags { as_needed, copy_needed, .. } = file.flags;
                    let link_name = if file.searched { name.base() } else { &file.path };
                    let link_name = self.store.keep(text::bytes(link_name).into_owned());
                    let data = file.bytes;
                    inputs.files.push(Input::Shared { name, data, link_name, as_needed, copy_needed });
                }
                Kind::Archive => {
                    inputs.archives_seen.insert((file.path.clone(), file.flags.whole_archive), place);
                    if let Some(read) = archive {
                        self.add_archive(&file, read, inputs);
                    }
                }
                Kind::Executable => {
                    self.sink.push(
                        Diagnostic::error(
                            Cause::ExecutableAsInput,
                            format!("{name}: is an executable and cannot be linked against"),
                        )
                        .in_file(&name),
                    );
                }
                Kind::Text | Kind::Unknown if file.bytes.is_empty() => {
                    self.sink.push(
                        Diagnostic::error(Cause::EmptyFile, format!("{name}: file is empty")).in_file(&name),
                    );
                }
                Kind::Text | Kind::Unknown => self.sink.push(
                    Diagnostic::error(Cause::UnknownFileType, format!("{name}: unknown file type"))
                        .in_file(&name),
                ),
            }
        }
        if inputs.files.len() > MAX_FILES as usize {
            self.sink.error(Cause::TooLarge, format!("too many input files: {}", inputs.files.len()));
        }
    }

    /// Reads the archives among `files` that are mentioned for the first time.
    fn read_archives(&self, files: &[Opened<'a>], inputs: &mut Inputs<'a>) -> Vec<Option<ReadArchive<'a>>> {
        let mut is_new = |file: &Opened<'a>| {
            // A second mention of an archive cannot provide what the first did not.
            let mention = || (file.path.clone(), file.flags.whole_archive);
            file.kind == Kind::Archive && inputs.archives_seen.insert(mention(), 0).is_none()
        };
        let new: Vec<bool> = files.iter().map(&mut is_new).collect();
        let region = trace::region("read archives");
        par::map(self.parallel, files.len(), |i| {
            new[i].then(|| {
                let _task = region.task();
                archives::read(self.store, &files[i], self.parallel)
            })
        })
    }

    /// Gives the members of an archive their ids.
    fn add_archive(&self, file: &Opened<'a>, read: ReadArchive<'a>, inputs: &mut Inputs<'a>) {
        let (archive, contents) = match read {
            Ok(read) => read,
            Err(e) => {
                return self.sink.push(
                    Diagnostic::error(Cause::MalformedArchive, format!("{}: {e}", file.path))
                        .in_file(&file.path),
                );
            }
        };
        let index = inputs.archives.len() as u32;
        let mut added = ArchiveInput {
            excluded: self
                .options
                .symbols
                .exclude_libs
                .iter()
                .any(|name| archives::is_meant(name, &file.path)),
            path: file.path.clone(),
            archive,
            lazy: false,
            first_file: FileId(inputs.files.len() as u32),
            offsets: Vec::new(),
        };
        match contents {
            Contents::Indexed(offsets) => {
                let member = |&offset: &u64| Input::Member { archive: index, offset };
                inputs.files.extend(offsets.iter().map(member));
                (added.offsets, added.lazy) = (offsets, true);
            }
            Contents::Members(members) => {
                let (lazy, excluded) = (!file.flags.whole_archive, added.excluded);
                for member in members {
                    match member {
                        Ok((name, data)) => inputs.files.push(Input::Object { name, data, lazy, excluded }),
                        Err(diagnostic) => self.sink.push(diagnostic),
                    }
                }
            }
        }
        inputs.archives.push(added);
    }
}
