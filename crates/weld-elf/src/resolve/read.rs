//! What the rounds of resolution ask of ELF files (`weld_common::resolve`).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use weld_common::resolve::{self, Format, Index, Reading};

use super::file::ElfFile;
use super::{common_blocks, hidden_references};
use crate::ids::*;
use crate::input::ir;
use crate::input::load::{Input, Inputs};
use crate::input::shared::Shared;
use crate::input::unusable::Unusable;
use crate::options::Options;
use crate::symbol_names::{Bins, ElfRules, Names, Wrap};

pub type Rounds<'a, 's, 'l> = resolve::Rounds<'a, 's, Reader<'a, 'l>>;

/// Reads the files of a link.
pub struct Reader<'a, 'l> {
    pub inputs: &'l Inputs<'a>,
    pub options: &'l Options,
    pub wrap: &'l Wrap<'a>,
    /// Which objects stand for intermediate code, though they may have machine code, too.
    pub search: ir::Search,
    /// It has been compiled: those that are wanted now count with their machine code, if they have any.
    pub is_compiled: bool,
    /// Some file is intermediate code.
    pub has_code: AtomicBool,
    pub parallel: bool,
    /// Common symbols for which archives have been asked for a definition.
    pub asked: HashSet<SymbolId>,
}

impl<'a> Format<'a> for Reader<'a, '_> {
    type Rules = ElfRules;
    type File = ElfFile<'a>;
    type Error = Unusable;
    type Heading = ();

    fn name(&self, file: FileId) -> String {
        self.inputs.name(file).to_string()
    }

    fn read(
        &self,
        file: FileId,
        first: bool,
        bins: &mut Bins<'a>,
    ) -> Result<Reading<ElfFile<'a>, ()>, Unusable> {
        let of = |file, symbols, is_lazy| Reading { file, symbols, is_lazy, heading: () };
        let (excluded, is_lazy) = match &self.inputs.files[file.index()] {
            Input::Internal => return Ok(of(None, 0, false)),
            Input::Shared { name, data, link_name, as_needed, .. } => {
                let settings = self.settings();
                let shared = Shared::parse(file, name.clone(), data, settings, link_name, *as_needed)?;
                let symbols = shared.globals.len();
                shared.intern(0..symbols.min(resolve::RECORDS), bins)?;
                return Ok(of(Some(ElfFile::Shared(Box::new(shared))), symbols, false));
            }
            Input::Object { lazy, excluded, .. } => (*excluded, *lazy && first),
            Input::Member { archive, .. } => (self.inputs.archives[*archive as usize].excluded, false),
        };
        let data = self.inputs.bytes(file)?;
        let mut object = match self.parsed(file, data, self.settings()) {
            Ok(object) => object,
            Err(_) if is_lazy && self.offers_nothing(file, data) => return Ok(of(None, 0, true)),
            Err(error) => return Err(error),
        };
        object.excluded = excluded;
        let symbols = object.records();
        object.intern(0..symbols.min(resolve::RECORDS), is_lazy, self.wrap, bins)?;
        let is_kept = !is_lazy || symbols > resolve::RECORDS;
        Ok(of(is_kept.then(|| ElfFile::Object(Box::new(object))), symbols, is_lazy))
    }

    fn announce(
        &self,
        file: &ElfFile<'a>,
        positions: Range<usize>,
        lazy: bool,
        bins: &mut Bins<'a>,
    ) -> Result<(), Unusable> {
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
