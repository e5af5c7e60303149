//! What the rounds of resolution ask of ELF files (`weld_common::resolve`).

use std::collections::HashSet;
use std::ops::Range;

use weld_common::resolve::{self, Format, Index, Reading};

use super::file::ElfFile;
use super::{common_blocks, hidden_references};
use crate::arch;
use crate::ids::*;
use crate::input::Reading as Settings;
use crate::input::load::{Input, Inputs};
use crate::input::object::Object;
use crate::input::shared::Shared;
use crate::names::{Bins, ElfRules, Names, Wrap};
use crate::options::Options;

pub type Rounds<'a, 's, 'l> = resolve::Rounds<'a, 's, Reader<'a, 'l>>;

/// Reads the files of a link.
pub struct Reader<'a, 'l> {
    pub inputs: &'l Inputs<'a>,
    pub options: &'l Options,
    pub wrap: &'l Wrap<'a>,
    pub parallel: bool,
    /// Common symbols for which archives have been asked for a definition.
    pub asked: HashSet<SymbolId>,
}

impl<'a> Format<'a> for Reader<'a, '_> {
    type Rules = ElfRules;
    type File = ElfFile<'a>;
    type Heading = ();

    fn name(&self, file: FileId) -> String {
        self.inputs.name(file).to_string()
    }

    fn read(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<Reading<ElfFile<'a>, ()>, String> {
        let of = |file, symbols, is_lazy| Reading { file, symbols, is_lazy, heading: () };
        let (excluded, is_lazy) = match &self.inputs.files[file.index()] {
            Input::Internal => return Ok(of(None, 0, false)),
            Input::Shared { name, data, link_name, as_needed, .. } => {
                let shared = (*data, self.settings());
                let shared = Shared::parse(file, name.clone(), shared, link_name, *as_needed)?;
                let symbols = shared.globals.len();
                shared.intern(0..symbols.min(resolve::RECORDS), bins)?;
                return Ok(of(Some(ElfFile::Shared(Box::new(shared))), symbols, false));
            }
            Input::Object { lazy, excluded, .. } => (*excluded, *lazy && first),
            Input::Member { archive, .. } => (self.inputs.archives[*archive as usize].excluded, false),
        };
        let data = self.bytes(file)?;
        crate::input::identify::check_relocatable(data)?;
        let mut object = match Object::parse(file, self.inputs.name(file), data, self.settings()) {
            Ok(object) => object,
            Err(_) if is_lazy && self.offers_nothing(file, data) => return Ok(of(None, 0, true)),
            Err(message) => return Err(message),
        };
        object.excluded = excluded;
        let symbols = object.records();
        object.intern(0..symbols.min(resolve::RECORDS), is_lazy, self.wrap, bins)?;
        let is_kept = !is_lazy || symbols > resolve::RECORDS;
        Ok(of(is_kept.then(|| ElfFile::Object(Box::new(object))), symbols, is_lazy))
    }

    fn announce(
        &self,
        (_, file): (FileId, &ElfFile<'a>),
        positions: Range<usize>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), String> {
        match file {
            ElfFile::Object(object) => object.intern(positions, lazy, self.wrap, bins),
            ElfFile::Shared(shared) => shared.intern(positions, bins),
        }
    }

    fn indices(&self, from: usize) -> Vec<Index<'_, 'a>> {
        self.inputs.archives[from..].iter().filter_map(|archive| archive.index()).collect()
    }

    fn choose(rounds: &mut resolve::Rounds<'a, '_, Self>, wanted: &mut Vec<(FileId, SymbolId)>) {
        wanted.extend(hidden_references::offers(rounds, wanted));
        if rounds.format.options.symbols.fortran_common {
            wanted.extend(common_blocks::definitions(rounds));
        }
    }

    fn will_read(&self, _: &Names<'a>, _: &[(FileId, SymbolId)], files: &[FileId]) {
        self.inputs.will_need(files);
    }
}

impl<'a> Reader<'a, '_> {
    /// An object or member.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn object(&self, file: FileId) -> Result<Object<'a>, String> {
        let data = self.bytes(file)?;
        crate::input::identify::check_relocatable(data)?;
        Object::parse(file, self.inputs.name(file), data, self.inputs.reading(false))
    }

    fn bytes(&self, file: FileId) -> Result<&'a [u8], String> {
        match &self.inputs.files[file.index()] {
            Input::Object { data, .. } | Input::Shared { data, .. } => Ok(data),
            Input::Member { archive, offset } => self.inputs.member_bytes(*archive, *offset),
            Input::Internal => Ok(&[]),
        }
    }

    fn settings(&self) -> Settings<'a> {
        self.inputs.reading(self.parallel)
    }

    /// Whether an object for another machine has no symbols that anybody could ask for. C libraries have such
    /// members, so that there is an archive of some name.
    #[cold]
    fn offers_nothing(&self, file: FileId, data: &'a [u8]) -> bool {
        let Some(machine) = arch::of_file(data) else { return false };
        let settings = Settings { machine: machine.facts(), ..self.settings() };
        Object::parse(file, self.inputs.name(file), data, settings).is_ok_and(|object| object.records() == 0)
    }
}
