//! Symbol resolution: which files take part, and which of them defines each name.
//!
//! Files are read in rounds (`weld_common::resolve`). Between rounds, `directives` of new objects are carried
//! out: they may ask for `libraries`, references and exports.
//!
//! When nothing more is wanted, there are [`entry`]'s questions: which entry point, which subsystem, what
//! is exported under which name, what stands for names that nobody defines. Their answers may be wanted in
//! turn.
//!
//! With bitcode among the files, all is done twice, the second time with the objects that a compiler has made
//! of it ([`compiled`]).

pub mod comdat;
mod compiled;
mod directives;
pub mod duplicates;
pub mod entry;
mod file;
pub mod imports;
mod libraries;
mod machine;
pub mod mingw;
mod object_source;
mod read;
pub mod wrap;

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use weld_common::diag::{DiagSink, Diagnostics};
use weld_common::io::input::InputStore;
use weld_common::resolve::{Expected, Finished};

use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::input::load::{Inputs, Loader};
use crate::input::object::Object;
use crate::input::type_servers::Servers;
use crate::options::{Demands, Options};
use crate::symbol_names::{self, Names};
pub use compiled::Compiled;
pub use file::Place;
use file::Sorted;
use imports::ImportFile;
use read::{Reader, Rounds};

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
    /// How much had been said when this link was resolved for the second time: the same is not said twice.
    pub said: Option<usize>,
}

#[derive(Clone, Copy)]
pub struct Resolver<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    pub sink: &'l DiagSink,
    pub loader: &'l Loader<'a, 'l>,
    pub servers: &'l Servers<'a>,
    /// What bitcode has become, if this link has been resolved before.
    pub compiled: Option<&'l Compiled<'a>>,
    pub parallel: bool,
}

impl<'a> Resolver<'a, '_> {
    /// Runs rounds until nothing more is wanted.
    pub fn run(&self, inputs: &mut Inputs<'a>) -> Result<Resolved<'a>, Diagnostics> {
        let mut demands = self.options.demands.clone();
        let own_libraries = std::mem::take(&mut demands.default_libs);
        let shard_bits = symbol_names::shard_bits(inputs.total_bytes);
        let expected = Expected { shard_bits, files: inputs.files.len() };
        let reader = Reader {
            resolver: *self,
            inputs,
            demands,
            machine: self.options.machine,
            announced: 0,
            has_code: AtomicBool::new(false),
            done: HashSet::new(),
            default_libraries: Vec::new(),
        };
        let mut rounds = Rounds::new(reader, expected, self.sink, self.parallel);
        self.compiled.iter().for_each(|compiled| compiled.begin(&mut rounds));
        let first = rounds.format.inputs.first_round().filter(|file| rounds.can_be_read(*file));
        let first: Vec<FileId> = first.collect();
        libraries::announce(&mut rounds);
        rounds.read(&first, true);
        let live = self.compiled.map_or(Vec::new(), |compiled| compiled.read_live(&mut rounds));
        self.note_machine(&rounds);
        self.define_lists(&mut rounds);
        self.carry_out_directives(&first, &mut rounds);
        self.carry_out_directives(&live, &mut rounds);
        rounds.settle()?;
        // Libraries of the command line's `/defaultlib` come after those that objects ask for.
        self.add_libraries(own_libraries, &mut rounds);
        rounds.settle()?;
        self.report_duplicates(&mut rounds);
        let machine = self.machine(&mut rounds)?;
        let mut wraps = Vec::new();
        let (program, alternates) = self.ask_program(machine, &mut wraps, &mut rounds)?;
        self.warn_of_disallowed(&rounds);
        let Finished { format: Reader { demands, inputs, .. }, files, names, .. } = rounds.finish();
        let Sorted { objects, imports, places } = file::sort(files, inputs);
        let said = None;
        Ok(Resolved { objects, imports, names, places, machine, demands, program, alternates, wraps, said })
    }
}
