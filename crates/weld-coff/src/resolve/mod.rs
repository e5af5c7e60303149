//! Symbol resolution: which files take part, and which of them defines each name.
//!
//! Files are read in rounds (`weld_common::resolve`). Between rounds, directives of new objects are carried
//! out: they may ask for libraries, references and exports.
//!
//! When nothing more is wanted, there are [`entry`]'s questions: which entry point, which subsystem, what
//! is exported under which name, what stands for names that nobody defines. Their answers may be wanted in
//! turn.

pub mod comdat;
pub mod duplicates;
pub mod entry;
pub mod mingw;
mod read;
pub mod wrap;

use std::borrow::Cow;
use std::collections::HashSet;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::io::input::InputStore;
use weld_common::io::thin::member_bytes;
use weld_common::resolve::Finished;
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
use crate::input::type_servers::Servers;
use crate::names::{self, Names, Rank, flag};
use crate::options::{Demands, Options};
use read::{CoffFile, Reader, Rounds, object};

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
    pub program: entry::Program,
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

#[derive(Clone, Copy)]
pub struct Resolver<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub loader: &'l Loader<'a, 'l>,
    pub servers: &'l Servers<'a>,
    pub parallel: bool,
}

impl<'a> Resolver<'a, '_> {
    /// Runs rounds until nothing more is wanted.
    pub fn run(&self, inputs: &mut Inputs<'a>) -> Result<Resolved<'a>, Diagnostics> {
        let mut demands = self.options.demands.clone();
        let own_libraries = std::mem::take(&mut demands.default_libs);
        let sizes = (shard_bits(inputs.total_bytes), inputs.files.len());
        let reader = Reader {
            resolver: *self,
            inputs,
            demands,
            machine: self.options.machine,
            announced: 0,
            done: HashSet::new(),
            default_libraries: Vec::new(),
        };
        let mut rounds = Rounds::new(reader, sizes, self.sink, self.parallel);
        let first: Vec<FileId> = rounds.format.inputs.first_round().collect();
        announce_archives(&mut rounds);
        rounds.read(&first, true);
        self.note_machine(&rounds);
        if self.options.mingw.on {
            self.define_lists(&mut rounds);
        }
        self.carry_out_directives(&first, &mut rounds);
        rounds.settle()?;
        // Libraries of the command line's `/defaultlib` come after those that objects ask for.
        self.add_libraries(own_libraries, &mut rounds);
        rounds.settle()?;
        self.report_duplicates(&mut rounds);
        rounds.format.machine =
            rounds.format.machine.or_else(|| self.machine_of_libraries(rounds.format.inputs));
        let Some(machine) = rounds.format.machine else {
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
    fn note_machine(&self, rounds: &Rounds<'_, '_, '_, '_>) {
        if let Some(machine) = rounds.format.machine {
            self.options.found_machine.get_or_init(|| machine);
        }
    }

    /// Says which libraries do not go together, as objects of C's run-time libraries tell: `/disallowlib`.
    /// They are linked nevertheless, for others may need them.
    fn warn_of_disallowed(&self, rounds: &Rounds<'_, '_, '_, '_>) {
        if !self.options.warn_disallowed_libs {
            return;
        }
        let mut said = HashSet::new();
        for (name, origin) in &rounds.format.demands.disallowed_libs {
            let one = Refused::new(std::slice::from_ref(name), false);
            let found = rounds.format.default_libraries.iter().find(|library| one.contains(library));
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
    fn report_duplicates(&self, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let lost = names::take_duplicates(&mut rounds.names);
        let object_of = |file| (object(&rounds.files, file), rounds.format.inputs.name(file).to_string());
        duplicates::report((&rounds.names, lost), object_of, self.options, self.sink);
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
    fn refer(&self, name: &str, bits: u32, rounds: &mut Rounds<'a, '_, '_, '_>) -> SymbolId {
        let name: &'a [u8] = match rounds.names.find(&text::bytes(name)) {
            Some(id) => rounds.names.get(id).name,
            None => self.store.keep(text::bytes(name).into_owned()),
        };
        rounds.refer([(name, Rank::Undefined as u32 | bits)]);
        // The record has been entered, so the name is there.
        rounds.names.find(name).unwrap_or(SymbolId::NONE)
    }

    /// Carries out what objects that have been read say, in the order of files. What has been said before is
    /// passed over: headers that export everything say the same in thousands of objects.
    fn carry_out_directives(&self, files: &[FileId], rounds: &mut Rounds<'a, '_, '_, '_>) {
        let _stretch = trace::stretch("directives");
        let mut libraries = Vec::new();
        let mut includes = Vec::new();
        for &file in files {
            let Some(CoffFile::Object(object)) = rounds.files.get_mut(file) else { continue };
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
                if !rounds.format.done.insert(key) {
                    continue;
                }
                let word: Cow<str> = text::text(word);
                match kind {
                    b'e' => match values::export(&word) {
                        Ok(export) => rounds.format.demands.exports.push(export),
                        Err(e) => self.sink.error(format!("{name}: in its directives: /export: {e}")),
                    },
                    b'i' => includes.push(word.into_owned()),
                    b'l' => libraries.push(word.into_owned()),
                    _ => {
                        let problems = rounds.format.demands.directive(&word, &name.to_string());
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
    fn add_libraries(&self, mut names: Vec<String>, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let refused = Refused::new(
            &rounds.format.demands.no_default_libs,
            rounds.format.demands.no_default_libs_at_all,
        );
        names.retain(|name| !refused.contains(name));
        if names.is_empty() {
            return;
        }
        rounds.format.default_libraries.extend_from_slice(&names);
        if let Some(machine) = rounds.format.machine {
            self.loader.search.set_machine(machine);
        }
        let before = rounds.format.inputs.files.len();
        self.loader.add_libraries(&names, rounds.format.inputs);
        let new: Vec<FileId> = rounds.format.inputs.objects_from(before).collect();
        announce_archives(rounds);
        if !new.is_empty() {
            rounds.read(&new, true);
            self.carry_out_directives(&new, rounds);
        }
    }

    fn finish(
        &self,
        rounds: Rounds<'a, '_, '_, '_>,
        machine: Machine,
        program: entry::Program,
        alternates: Vec<(SymbolId, SymbolId)>,
    ) -> Resolved<'a> {
        let Finished { format: Reader { demands, inputs, .. }, files, names, .. } = rounds.finish();
        let mut places = vec![Place::Nothing; inputs.files.len()];
        let (mut objects, mut imports) = (Vec::new(), Vec::new());
        for (id, file) in files {
            places[id.index()] = match file {
                CoffFile::Object(object) => {
                    objects.push(*object);
                    Place::Object(ObjectId(objects.len() as u32 - 1))
                }
                CoffFile::Import(import) => {
                    let (name, symbols) = (inputs.name(id), import.symbols());
                    imports.push(ImportFile { file: id, name, import: import.import, symbols });
                    Place::Import(ImportId(imports.len() as u32 - 1))
                }
            };
        }
        let wraps = Vec::new();
        Resolved { objects, imports, names, places, machine, demands, program, alternates, wraps }
    }
}

/// Enters what archives offer that have not been asked yet.
fn announce_archives(rounds: &mut Rounds) {
    let from = std::mem::replace(&mut rounds.format.announced, rounds.format.inputs.archives.len());
    rounds.announce_archives(from);
}

/// Whether an import has a plain name.
pub fn has_plain_name(import: &Import) -> bool {
    import.kind != ImportType::Data
}

/// One shard for each 16 MiB of input, so that its table stays in the cache; at most 1024.
fn shard_bits(bytes: u64) -> u32 {
    (bytes >> 22).max(1).next_power_of_two().trailing_zeros().min(10)
}
