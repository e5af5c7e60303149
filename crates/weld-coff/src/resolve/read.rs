//! What the rounds of resolution ask of COFF files (`weld_common::resolve`).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::Diagnostic;
use weld_common::hash::hash_bytes;
use weld_common::io::thin::member_bytes;
use weld_common::resolve::{self, File, Files, Format, Index, Reading};
use weld_common::text;

use super::{Resolver, has_plain_name, import_symbol};
use crate::coff::identify::{Kind, identify};
use crate::coff::import::Import;
use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::input::load::{Input, Inputs, refusal};
use crate::input::object::Object;
use crate::names::{Bins, CoffRules, Names, Rank, Record, SOFT, flag};
use crate::options::Demands;

pub type Rounds<'a, 's, 'i, 'l> = resolve::Rounds<'a, 's, Reader<'a, 'i, 'l>>;

pub struct LoadedImport<'a> {
    pub import: Import<'a>,
    /// Ids of its names, and one; 0 for those that it does not have.
    symbols: [AtomicU32; 2],
}

impl LoadedImport<'_> {
    pub fn symbols(&self) -> [SymbolId; 2] {
        let id = |id: &AtomicU32| id.load(Ordering::Relaxed).checked_sub(1);
        self.symbols.each_ref().map(|word| id(word).map_or(SymbolId::NONE, SymbolId))
    }
}

/// What one file became when it was read.
pub enum CoffFile<'a> {
    Object(Box<Object<'a>>),
    Import(Box<LoadedImport<'a>>),
}

const _: () = assert!(size_of::<Option<CoffFile>>() == 16);

impl File for CoffFile<'_> {
    #[inline]
    fn set_id(&self, sym: u32, _: u32, id: SymbolId) {
        match self {
            CoffFile::Object(object) => object.set_global(sym, id),
            CoffFile::Import(import) => import.symbols[sym as usize].store(id.0 + 1, Ordering::Relaxed),
        }
    }

    fn names(&self) -> impl Iterator<Item = (usize, SymbolId)> {
        let (object, import) = match self {
            CoffFile::Object(object) => (Some(object), None),
            CoffFile::Import(import) => (None, Some(import)),
        };
        let symbols = object.into_iter().flat_map(|object| object.numbered_globals());
        let symbols = symbols.map(|(index, id)| (index as usize, id));
        let imported = import.into_iter().flat_map(|import| import.symbols().into_iter().enumerate());
        symbols.chain(imported.filter(|(_, id)| id.is_some()))
    }
}

/// The object that a file is, if it has been read.
pub fn object<'f, 'a>(files: &'f Files<CoffFile<'a>>, file: FileId) -> Option<&'f Object<'a>> {
    files.get(file).and_then(CoffFile::object)
}

/// Objects that have been read.
pub fn objects<'f, 'a>(files: &'f Files<CoffFile<'a>>) -> impl Iterator<Item = &'f Object<'a>> {
    files.iter().filter_map(CoffFile::object)
}

impl<'a> CoffFile<'a> {
    fn object(&self) -> Option<&Object<'a>> {
        match self {
            CoffFile::Object(object) => Some(object),
            CoffFile::Import(_) => None,
        }
    }
}

impl<'a> Inputs<'a> {
    /// Files that are read at once: all but members of archives.
    pub fn first_round(&self) -> impl Iterator<Item = FileId> {
        self.objects_from(0)
    }

    pub fn objects_from(&self, first: usize) -> impl Iterator<Item = FileId> {
        let files = self.files.iter().enumerate().skip(first);
        files.filter(|(_, file)| matches!(file, Input::File(_))).map(|(i, _)| FileId(i as u32))
    }
}

/// Reads the files of a link, and knows what they have asked for so far.
pub struct Reader<'a, 'i, 'l> {
    pub resolver: Resolver<'a, 'l>,
    pub inputs: &'i mut Inputs<'a>,
    pub demands: Demands,
    pub machine: Option<Machine>,
    /// Archives that have been announced.
    pub announced: usize,
    /// Directives that have been carried out.
    pub done: HashSet<Vec<u8>>,
    /// Libraries that objects or `/defaultlib` asked for.
    pub default_libraries: Vec<String>,
}

impl<'a> Format<'a> for Reader<'a, '_, '_> {
    type Rules = CoffRules;
    type File = CoffFile<'a>;
    type Heading = Option<Machine>;

    fn name(&self, file: FileId) -> String {
        self.inputs.name(file).to_string()
    }

    fn read(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<Reading<CoffFile<'a>, Option<Machine>>, String> {
        let Resolver { store, options, servers, .. } = self.resolver;
        let name = self.inputs.name(file);
        let (data, kind, is_lazy) = match &self.inputs.files[file.index()] {
            Input::Internal => return Ok(Reading { file: None, symbols: 0, is_lazy: false, heading: None }),
            Input::File(file) => (file.data, file.kind, file.lazy && first),
            Input::Member { archive, offset } => {
                let archive = &self.inputs.archives[*archive as usize];
                let member = archive.archive.member_at(*offset).map_err(|e| e.to_string())?;
                let data = member_bytes(store, &archive.path, &member)?;
                (data, identify(data), false)
            }
        };
        let (read, heading) = match kind {
            Kind::Object | Kind::BigObject => {
                let data = (data, kind == Kind::BigObject);
                let object = Object::read(file, name, data, (options.mingw.on, is_lazy), bins)?;
                if options.debug.pdb && !is_lazy {
                    servers.look(store, &object.name, &object.coff);
                }
                let machine = object.coff.machine;
                (CoffFile::Object(Box::new(object)), machine)
            }
            Kind::Import => {
                let import = Import::parse(data)?;
                let symbols = [AtomicU32::new(0), AtomicU32::new(0)];
                (0..2).for_each(|symbol| self.announce_import(file, &import, (symbol, is_lazy), bins));
                let machine = Some(import.machine);
                (CoffFile::Import(Box::new(LoadedImport { import, symbols })), machine)
            }
            kind => return Err(refusal(kind).to_owned()),
        };
        // All symbols have been announced.
        Ok(Reading { file: (!is_lazy).then_some(read), symbols: 0, is_lazy, heading })
    }

    fn announce(
        &self,
        (id, file): (FileId, &CoffFile<'a>),
        positions: Range<usize>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), String> {
        match file {
            CoffFile::Object(object) => {
                for index in positions {
                    object.announce(index as u32, lazy, bins)?;
                }
            }
            CoffFile::Import(import) => {
                for symbol in positions {
                    self.announce_import(id, &import.import, (symbol as u32, lazy), bins);
                }
            }
        }
        Ok(())
    }

    fn indices(&self, from: usize) -> Vec<Index<'_, 'a>> {
        self.inputs.archives[from..].iter().filter_map(|archive| archive.index()).collect()
    }

    fn accept(&mut self, machine: Option<Machine>) -> Result<(), String> {
        check_machine(machine, &mut self.machine)
    }

    fn will_read(&self, names: &Names<'a>, wanted: &[(FileId, SymbolId)]) {
        let Resolver { store, options, sink, .. } = self.resolver;
        let of_one_file = wanted.chunk_by(|one, other| one.0 == other.0);
        let files: Vec<FileId> = of_one_file.clone().map(|wanted| wanted[0].0).collect();
        if options.verbose.libraries {
            // Which members are linked, and why.
            for wanted in of_one_file {
                let name = wanted.iter().map(|(_, id)| names.get(*id).name).min().unwrap_or_default();
                let text = format!("Loaded {} for {}", self.inputs.name(wanted[0].0), text::text(name));
                sink.push(Diagnostic::said(text));
            }
            sink.settle();
        }
        self.inputs.will_need(store, &files);
    }

    fn carry_out(rounds: &mut resolve::Rounds<'a, '_, Self>, files: &[FileId]) {
        let resolver = rounds.format.resolver;
        resolver.carry_out_directives(files, rounds);
    }
}

impl<'a> Reader<'a, '_, '_> {
    /// Announces the place of an address, or the plain name.
    fn announce_import(
        &self,
        file: FileId,
        import: &Import<'a>,
        (symbol, lazy): (u32, bool),
        bins: &mut Bins<'a>,
    ) {
        let name = match symbol {
            import_symbol::ADDRESS => self.resolver.store.keep([b"__imp_", import.symbol].concat()),
            _ if has_plain_name(import) => import.symbol,
            _ => return,
        };
        let (bits, symbol) = match lazy {
            true => (Rank::Provided as u32, u32::MAX),
            false => (SOFT as u32 | flag::IMPORT, symbol),
        };
        bins.push(Record::new(hash_bytes(name), name, file, symbol, bits));
    }
}

/// All files are for one machine; that of the first one if the command line does not say.
fn check_machine(machine: Option<Machine>, all: &mut Option<Machine>) -> Result<(), String> {
    match (machine, *all) {
        (Some(machine), Some(all)) if machine != all => {
            Err(format!("machine type {} conflicts with {}", machine.name(), all.name()))
        }
        (Some(machine), None) => {
            *all = Some(machine);
            Ok(())
        }
        _ => Ok(()),
    }
}
