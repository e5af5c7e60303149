//! Symbol resolution: which files take part, and which of them defines each name.
//!
//! Files are read in rounds. A round reads what the round before it found to be wanted; it is parallel inside and depends
//! only on the state before it, so that the files and every id are the same for any number of threads. Between rounds,
//! directives of new objects are carried out: they may ask for libraries, references and exports.
//!
//! When nothing more is wanted, there are [`program`]'s questions: which entry point, which subsystem, what is exported under
//! which name, what stands for names that nobody defines. Their answers may be wanted in turn.

pub mod comdat;
pub mod duplicates;
pub mod mingw;
pub mod program;
mod read;
pub mod wrap;

use std::borrow::Cow;
use std::collections::HashSet;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::hash::hash_bytes;
use weld_common::io::input::InputStore;
use weld_common::io::thin::member_bytes;
use weld_common::text;
use weld_common::trace;

use crate::args::values;
use crate::coff::directives::Directive;
use crate::coff::identify::{Kind, identify};
use crate::coff::import::{Import, ImportType};
use crate::coff::machine::Machine;
use crate::coff::object::ObjectFile;
use crate::ids::{FileId, ImportId, ObjectId, SymbolId};
use crate::input::FileName;
use crate::input::load::{Inputs, Loader, Refused};
use crate::input::object::Object;
use crate::input::servers::Servers;
use crate::names::{BinPool, Names, Rank, Record, flag};
use crate::options::{Demands, Options};
use read::Loaded;

/// An import that takes part.
pub struct ImportFile<'a> {
    pub file: FileId,
    pub name: FileName<'a>,
    pub import: Import<'a>,
    /// The name of the address's place, and the plain name if it has one.
    pub symbols: [SymbolId; 2],
}

/// What an import announces under which number.
pub mod import_symbol {
    /// `__imp_NAME`: the place that holds the address.
    pub const ADDRESS: u32 = 0;
    /// The plain name: a jump, or for constants the place again.
    pub const PLAIN: u32 = 1;
}

/// What a file id leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Nothing,
    Object(ObjectId),
    Import(ImportId),
}

/// The files that take part in the link, and the table of names.
pub struct Resolved<'a> {
    /// In the order of their file ids.
    pub objects: Vec<Object<'a>>,
    pub imports: Vec<ImportFile<'a>>,
    pub names: Names<'a>,
    pub places: Vec<Place>,
    pub machine: Machine,
    pub demands: Demands,
    pub program: program::Program,
    /// `/alternatename`: the first stands for the second if nobody defines it.
    pub alternates: Vec<(SymbolId, SymbolId)>,
    pub wraps: Vec<wrap::Wrap>,
}

impl<'a> Resolved<'a> {
    pub fn object(&self, file: FileId) -> Option<(ObjectId, &Object<'a>)> {
        match self.places[file.index()] {
            Place::Object(id) => Some((id, &self.objects[id.index()])),
            _ => None,
        }
    }

    /// The name of a file that takes part.
    pub fn file_name(&self, file: FileId) -> String {
        match self.places.get(file.index()) {
            Some(Place::Object(id)) => self.objects[id.index()].name.to_string(),
            Some(Place::Import(id)) => self.imports[id.index()].name.to_string(),
            _ => "<linker>".to_owned(),
        }
    }
}

/// Members of a library that are looked at for its machine.
const LOOKED_AT: usize = 16;

pub struct Resolver<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub loader: &'l Loader<'a, 'l>,
    pub servers: &'l Servers<'a>,
    pub parallel: bool,
}

/// What is known while rounds go on.
struct Rounds<'a, 'i> {
    inputs: &'i mut Inputs<'a>,
    loaded: Loaded<'a>,
    names: Names<'a>,
    pool: BinPool<'a>,
    demands: Demands,
    machine: Option<Machine>,
    /// Archives that have been announced.
    announced: usize,
    /// Directives that have been carried out.
    done: HashSet<Vec<u8>>,
    /// Libraries that objects or `/defaultlib` asked for.
    default_libraries: Vec<String>,
}

impl<'a> Resolver<'a, '_> {
    /// Runs rounds until nothing more is wanted.
    pub fn run(&self, inputs: &mut Inputs<'a>) -> Result<Resolved<'a>, Diagnostics> {
        let mut demands = self.options.demands.clone();
        let own_libraries = std::mem::take(&mut demands.default_libs);
        let mut rounds = Rounds {
            names: Names::new(shard_bits(inputs.total_bytes)),
            inputs,
            loaded: Loaded::default(),
            pool: BinPool::default(),
            demands,
            machine: self.options.machine,
            announced: 0,
            done: HashSet::new(),
            default_libraries: Vec::new(),
        };
        let first: Vec<FileId> = rounds.inputs.first_round().collect();
        self.announce_archives(&mut rounds);
        self.read(&first, true, &mut rounds);
        self.note_machine(&rounds);
        if self.options.mingw.on {
            self.define_lists(&mut rounds);
        }
        self.carry_out_directives(&first, &mut rounds);
        self.settle(&mut rounds)?;
        // Libraries of the command line's `/defaultlib` come behind those that objects ask for.
        self.add_libraries(own_libraries, &mut rounds);
        self.settle(&mut rounds)?;
        self.report_duplicates(&mut rounds);
        rounds.machine = rounds.machine.or_else(|| self.machine_of_libraries(rounds.inputs));
        let Some(machine) = rounds.machine else {
            return Err(Diagnostic::error("no input says which machine to link for; use /machine").into());
        };
        if !machine.is_supported() {
            let text = format!("{} is not supported yet; x64, x86 and arm64 are", machine.name());
            return Err(Diagnostic::error(text).into());
        }
        self.note_machine(&rounds);
        let mut wraps = Vec::new();
        let (program, alternates) = self.ask_program(machine, &mut wraps, &mut rounds)?;
        self.warn_of_disallowed(&rounds);
        Ok(Resolved { wraps, ..self.finish(rounds, machine, program, alternates) })
    }

    /// Messages show names as this machine has them.
    fn note_machine(&self, rounds: &Rounds) {
        if let Some(machine) = rounds.machine {
            self.options.found_machine.get_or_init(|| machine);
        }
    }

    /// Says which libraries do not go together, as objects of C's run-time libraries tell: `/disallowlib`. They are linked nevertheless, for others
    /// may need them.
    fn warn_of_disallowed(&self, rounds: &Rounds) {
        if !self.options.warn_disallowed_libs {
            return;
        }
        let mut said = HashSet::new();
        for (name, origin) in &rounds.demands.disallowed_libs {
            let one = Refused::new(std::slice::from_ref(name), false);
            let found = rounds.default_libraries.iter().find(|library| one.contains(library));
            if let Some(library) = found.filter(|library| said.insert(library.to_ascii_lowercase())) {
                let text = format!(
                    "default library {library} conflicts with {origin}; use /nodefaultlib:{library} to leave it out [LNK4098]"
                );
                self.sink.warn(text);
            }
        }
    }

    /// The machine of the first object or import in a library, if nothing but libraries is linked.
    fn machine_of_libraries(&self, inputs: &Inputs) -> Option<Machine> {
        inputs.archives.iter().find_map(|archive| {
            let members = archive.archive.members().filter_map(Result::ok);
            members.take(LOOKED_AT).find_map(|member| {
                let data = member_bytes(self.store, &archive.path, &member).ok()?;
                match identify(data) {
                    Kind::Import => Some(Import::parse(data).ok()?.machine),
                    kind @ (Kind::Object | Kind::BigObject) => {
                        ObjectFile::parse(data, kind == Kind::BigObject).ok()?.machine
                    }
                    _ => None,
                }
            })
        })
    }

    /// Says which symbols have been defined twice so far. More of it can be said when the rounds are over.
    fn report_duplicates(&self, rounds: &mut Rounds<'a, '_>) {
        let lost = rounds.names.take_duplicates();
        let object_of = |file| (rounds.loaded.object(file), rounds.inputs.name(file).to_string());
        duplicates::report((&rounds.names, lost), object_of, self.options, self.sink);
    }

    /// Reads what is wanted until nothing more is.
    fn settle(&self, rounds: &mut Rounds<'a, '_>) -> Result<(), Diagnostics> {
        loop {
            self.sink.end_phase()?;
            let mut found = rounds.names.wanted();
            found.retain(|&(file, _)| !rounds.loaded.is_read(file));
            if found.is_empty() {
                return Ok(());
            }
            if self.options.verbose.libraries {
                self.say_wanted(&found, rounds.inputs);
            }
            let wanted: Vec<FileId> = found.into_iter().map(|(file, _)| file).collect();
            rounds.inputs.will_need(self.store, &wanted);
            self.read(&wanted, false, rounds);
            self.carry_out_directives(&wanted, rounds);
        }
    }

    /// `/verbose`: which members are linked, and why.
    fn say_wanted(&self, found: &[(FileId, &[u8])], inputs: &Inputs) {
        for (file, name) in found {
            let text = format!("Loaded {} for {}", inputs.name(*file), text::text(name));
            self.sink.push(Diagnostic::said(text));
        }
        self.sink.settle();
    }

    /// `/verbose`: what an object asks for.
    fn say_directives(&self, object: &Object) {
        for bytes in object.directive_texts().filter_map(Result::ok) {
            let shown = text::text(bytes.trim_ascii());
            self.sink.push(Diagnostic::said(format!("Directives: {}: {shown}", object.name)));
        }
        self.sink.settle();
    }

    /// Adds a reference to `name`.
    fn refer(&self, name: &str, bits: u32, rounds: &mut Rounds<'a, '_>) -> SymbolId {
        let name: &'a [u8] = match rounds.names.find(&text::bytes(name)) {
            Some(id) => rounds.names.get(id).name,
            None => self.store.keep(text::bytes(name).into_owned()),
        };
        let mut bins = rounds.pool.take(rounds.names.shard_bits());
        bins.push(Record::new(hash_bytes(name), name, FileId(0), u32::MAX, Rank::Undefined as u32 | bits));
        rounds.names.enter(&[bins], &rounds.loaded, false);
        // The record has been entered, so the name is there.
        rounds.names.find(name).unwrap_or(SymbolId::NONE)
    }

    /// Carries out what objects that have been read say, in the order of files. What has been said before is
    /// passed over: headers that export everything say the same in thousands of objects.
    fn carry_out_directives(&self, files: &[FileId], rounds: &mut Rounds<'a, '_>) {
        let _stretch = trace::stretch("directives");
        let mut libraries = Vec::new();
        let mut includes = Vec::new();
        for &file in files {
            let Some(object) = rounds.loaded.object_mut(file) else { continue };
            let directives = std::mem::take(&mut object.directives);
            let name = object.name.clone();
            if self.options.verbose.all {
                self.say_directives(object);
            }
            for directive in directives {
                let (kind, word) = match &directive {
                    Directive::Export(word) => (b'e', word),
                    Directive::Include(word) => (b'i', word),
                    Directive::DefaultLib(word) => (b'l', word),
                    Directive::Other(word) => (b'o', word),
                };
                let key = [&[kind], &word[..]].concat();
                if !rounds.done.insert(key) {
                    continue;
                }
                let word: Cow<str> = text::text(word);
                match kind {
                    b'e' => match values::export(&word) {
                        Ok(export) => rounds.demands.exports.push(export),
                        Err(e) => self.sink.error(format!("{name}: in its directives: /export: {e}")),
                    },
                    b'i' => includes.push(word.into_owned()),
                    b'l' => libraries.push(word.into_owned()),
                    _ => {
                        let problems = rounds.demands.directive(&word, &name.to_string());
                        problems.into_iter().for_each(|problem| self.sink.push(problem));
                    }
                }
            }
        }
        for include in includes {
            self.refer(&include, flag::REF | flag::ROOT, rounds);
        }
        self.add_libraries(libraries, rounds);
    }

    /// Adds libraries that objects or the command line ask for.
    fn add_libraries(&self, mut names: Vec<String>, rounds: &mut Rounds<'a, '_>) {
        let refused = Refused::new(&rounds.demands.no_default_libs, rounds.demands.no_default_libs_at_all);
        names.retain(|name| !refused.contains(name));
        if names.is_empty() {
            return;
        }
        rounds.default_libraries.extend_from_slice(&names);
        if let Some(machine) = rounds.machine {
            self.loader.search.set_machine(machine);
        }
        let before = rounds.inputs.files.len();
        self.loader.add_libraries(&names, rounds.inputs);
        let new: Vec<FileId> = rounds.inputs.objects_from(before).collect();
        self.announce_archives(rounds);
        if !new.is_empty() {
            self.read(&new, true, rounds);
            self.carry_out_directives(&new, rounds);
        }
    }

    fn finish(
        &self,
        rounds: Rounds<'a, '_>,
        machine: Machine,
        program: program::Program,
        alternates: Vec<(SymbolId, SymbolId)>,
    ) -> Resolved<'a> {
        let Rounds { loaded, names, demands, inputs, .. } = rounds;
        let mut places = vec![Place::Nothing; inputs.files.len()];
        let (mut objects, mut imports) = (Vec::new(), Vec::new());
        for (place, file) in places.iter_mut().zip(loaded.into_files()) {
            match file {
                read::File::Object(object) => {
                    *place = Place::Object(ObjectId(objects.len() as u32));
                    objects.push(*object);
                }
                read::File::Import(import) => {
                    *place = Place::Import(ImportId(imports.len() as u32));
                    let read::LoadedImport { file, import, symbols } = *import;
                    let symbols = symbols.map(|id| read::loaded_id(&id));
                    imports.push(ImportFile { file, name: inputs.name(file), import, symbols });
                }
                read::File::Nothing => {}
            }
        }
        let wraps = Vec::new();
        Resolved { objects, imports, names, places, machine, demands, program, alternates, wraps }
    }
}

/// Whether an import has a plain name.
pub fn has_plain_name(import: &Import) -> bool {
    import.kind != ImportType::Data
}

/// One shard for each 16 MiB of input, so that its table stays in the cache; at most 1024.
fn shard_bits(bytes: u64) -> u32 {
    (bytes >> 22).max(1).next_power_of_two().trailing_zeros().min(10)
}
