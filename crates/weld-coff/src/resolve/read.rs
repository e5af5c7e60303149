//! What the rounds of resolution ask of COFF files (`weld_common::resolve`).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use weld_common::io::thin::member_bytes;
use weld_common::resolve::{self, Format, Index, Reading};

use super::file::CoffFile;
use super::imports::LoadedImport;
use super::{Resolver, machine};
use crate::coff::identify::{Kind, identify};
use crate::coff::import::Import;
use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::input::load::{Input, Inputs};
use crate::input::object::Object;
use crate::input::unusable::Unusable;
use crate::options::Demands;
use crate::symbol_names::{Bins, CoffRules, Names};

pub type Rounds<'a, 's, 'i, 'l> = resolve::Rounds<'a, 's, Reader<'a, 'i, 'l>>;

/// Reads the files of a link, and knows what they have asked for so far.
pub struct Reader<'a, 'i, 'l> {
    pub resolver: Resolver<'a, 'l>,
    pub inputs: &'i mut Inputs<'a>,
    pub demands: Demands,
    pub machine: Option<Machine>,
    /// Archives that have been announced.
    pub announced: usize,
    /// Some file that takes part is bitcode.
    pub has_code: AtomicBool,
    /// Directives that have been carried out.
    pub done: HashSet<Vec<u8>>,
    /// Libraries that objects or `/defaultlib` asked for.
    pub default_libraries: Vec<String>,
}

impl<'a> Format<'a> for Reader<'a, '_, '_> {
    type Rules = CoffRules;
    type File = CoffFile<'a>;
    type Error = Unusable;
    type Heading = Option<Machine>;

    fn name(&self, file: FileId) -> String {
        self.inputs.name(file).to_string()
    }

    fn read(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<Reading<CoffFile<'a>, Option<Machine>>, Unusable> {
        let Resolver { store, options, servers, .. } = self.resolver;
        let name = self.inputs.name(file);
        let (data, kind, is_lazy) = match &self.inputs.files[file.index()] {
            Input::Internal => return Ok(Reading { file: None, symbols: 0, is_lazy: false, heading: None }),
            Input::File(file) => (file.data, file.kind, file.lazy && first),
            Input::Member { archive, offset } => {
                let archive = &self.inputs.archives[*archive as usize];
                let member = archive.archive.member_at(*offset)?;
                let data = member_bytes(store, &archive.path, &member)?;
                (data, identify(data), false)
            }
        };
        let (read, heading) = match kind {
            Kind::Object | Kind::BigObject | Kind::Bitcode => {
                let source = self.object_source(file, data, kind, is_lazy)?;
                let mut object = Object::read(file, name, source, bins)?;
                if let Some(compiled) = self.resolver.compiled {
                    compiled.give_directives(&mut object);
                }
                if options.debug.pdb && !is_lazy {
                    servers.look(store, &object.name, &object.coff);
                }
                let machine = object.coff.machine;
                (CoffFile::Object(Box::new(object)), machine)
            }
            Kind::Import => {
                let import = LoadedImport::of(file, Import::parse(data)?);
                (0..2).for_each(|symbol| import.announce(store, symbol, is_lazy, bins));
                let machine = Some(import.import.machine);
                (CoffFile::Import(Box::new(import)), machine)
            }
            kind => return Err(Unusable::Kind(kind)),
        };
        // All symbols have been announced.
        Ok(Reading { file: (!is_lazy).then_some(read), symbols: 0, is_lazy, heading })
    }

    fn announce(
        &self,
        file: &CoffFile<'a>,
        positions: Range<usize>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), Unusable> {
        match file {
            CoffFile::Object(object) => {
                for index in positions {
                    object.announce(index as u32, lazy, bins)?;
                }
            }
            CoffFile::Import(import) => {
                for symbol in positions {
                    import.announce(self.resolver.store, symbol as u32, lazy, bins);
                }
            }
        }
        Ok(())
    }

    fn indices(&self, from: usize) -> Vec<Index<'_, 'a>> {
        self.inputs.archives[from..].iter().filter_map(|archive| archive.index()).collect()
    }

    fn accept(&mut self, machine: Option<Machine>) -> Result<(), Unusable> {
        machine::check(machine, &mut self.machine)
    }

    fn will_read(&self, names: &Names<'a>, wanted: &[(FileId, SymbolId)], files: &[FileId]) {
        if self.resolver.options.reports.verbose.libraries {
            self.say_loaded(names, wanted);
        }
        self.inputs.will_need(self.resolver.store, files);
    }

    fn carry_out(rounds: &mut resolve::Rounds<'a, '_, Self>, files: &[FileId]) {
        let resolver = rounds.format.resolver;
        resolver.carry_out_directives(files, rounds);
    }
}
