//! Link-time optimisation: what a compiler is asked about the files of bitcode that take part.
//!
//! Resolution treats such a file as any other ([`crate::input::ir`]). What it and the phases after it have found
//! (which definition counts, who else names it) goes to a compiler here, for every symbol that such a file has;
//! the objects that come back stand for the files when all is resolved again ([`crate::resolve::Compiled`]).

use std::collections::HashSet;
use std::path::Path;

use weld_lto::bitcode::{self, Mode};
use weld_lto::ir::Compiler;
use weld_lto::request::{File, Machine, Output, Request, Resolution, Symbol};

use crate::coff::identify::{Kind, identify};
use crate::ids::{FileId, ObjectId, SymbolId};
use crate::input::ir;
use crate::input::load::Inputs;
use crate::input::object::Object;
use crate::input::origin;
use crate::job::Job;
use crate::names::{Entry, Rank, flag};
use crate::resolve::{Place, Resolved};
use crate::sections::Sections;
use crate::symbols::{self, Symbols, SyntheticSection};

/// A link whose names are frozen.
#[derive(Clone, Copy)]
pub struct Link<'l, 'j> {
    pub job: &'l Job<'j>,
    pub inputs: &'l Inputs<'j>,
    pub resolved: &'l Resolved<'j>,
    pub sections: &'l Sections,
    pub symbols: &'l Symbols,
}

/// Names that have a meaning of their own.
struct Special {
    /// What the linker itself leads to them, or away from them.
    visible: HashSet<SymbolId>,
    /// `/wrap`: references may lead elsewhere in the end.
    wrapped: HashSet<SymbolId>,
    /// Commons that have been chosen. Every file's size counts, so one of bitcode may be.
    commons: HashSet<SymbolId>,
}

impl<'l, 'j> Link<'l, 'j> {
    /// What is asked; the image goes to `out`.
    pub fn request(&self, out: &'l Path) -> Request<'l> {
        let options = self.job.options;
        let mut special = self.special();
        let (mut files, mut major) = (Vec::new(), None);
        for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
            if !object.is_code() {
                continue;
            }
            let Some(mut file) = self.file(object.file) else { continue };
            let Ok(code) = bitcode::read(file.bytes) else { continue };
            major = code.major.max(major);
            let known = ir::symbols(&code).zip(ir::places(&code)).map(|(symbol, place)| Symbol {
                name: symbol.name,
                resolution: self.resolution((id, object), place, &mut special),
                is_defined: place.definition.is_some(),
                can_be_omitted: symbol.can_be_omitted,
            });
            file.symbols = known.collect();
            files.push(file);
        }
        let unused = match options.lto.code.thin.index_only {
            Some(_) => self.unused(),
            None => Vec::new(),
        };
        Request {
            files,
            unused,
            output: if options.dll { Output::Shared } else { Output::Executable },
            output_path: out,
            machine: Machine::Coff { machine: self.resolved.machine.number() },
            llvm_major: major,
            gcc_major: None,
            options: &options.lto.code,
            patience: Request::PATIENCE,
        }
    }

    /// Where bitcode is that takes part.
    fn file(&self, file: FileId) -> Option<File<'j>> {
        let found = origin::find(self.inputs, file, self.job.store)?;
        let bytes = match identify(found.bytes) {
            Kind::Bitcode => found.bytes,
            kind => ir::inside(found.bytes, kind == Kind::BigObject)?,
        };
        let inside = bytes.as_ptr().addr() - found.bytes.as_ptr().addr();
        Some(File {
            path: found.path,
            offset: found.offset + inside as u64,
            bytes,
            member: found.member,
            compiler: Compiler::Llvm,
            is_thin: matches!(bitcode::mode(bytes), Ok(Mode::Thin | Mode::Unified)),
            symbols: Vec::new(),
        })
    }

    /// Bitcode that takes no part.
    fn unused(&self) -> Vec<File<'j>> {
        let all = (0..self.inputs.files.len() as u32).map(FileId);
        let is_bitcode = |file: &FileId| {
            self.resolved.places[file.index()] == Place::Nothing
                && self.inputs.bytes(*file, self.job.store).is_some_and(bitcode::is_bitcode)
        };
        all.filter(is_bitcode).filter_map(|file| self.file(file)).collect()
    }

    fn special(&self) -> Special {
        let mut visible = HashSet::new();
        for made in &self.symbols.made {
            if let SyntheticSection::LocalImport(name) = made {
                visible.insert(*name);
            }
        }
        for object in self.resolved.objects.iter().filter(|object| object.is_code()) {
            let weak = object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_weak_external());
            let targets =
                weak.filter_map(|(index, symbol)| object.coff.symbols.weak_external(index, &symbol));
            visible.extend(targets.filter_map(|(target, _)| object.global(target)));
        }
        let mut wrapped = HashSet::new();
        for wrap in &self.resolved.wraps {
            visible.extend([wrap.symbol, wrap.wrapper, wrap.real]);
            wrapped.extend([wrap.symbol, wrap.real]);
        }
        Special { visible, wrapped, commons: HashSet::new() }
    }

    fn resolution(
        &self,
        (id, object): (ObjectId, &Object),
        place: ir::Place,
        special: &mut Special,
    ) -> Resolution {
        let Some(name) = object.global(place.symbol) else { return Resolution::default() };
        let entry = self.resolved.names.get(name);
        let prevails = match place.definition.and_then(|index| Some((index, object.coff.symbols.get(index)?)))
        {
            None => false,
            Some((_, symbol)) if symbol.is_common() => {
                entry.rank() == Rank::Common && special.commons.insert(name)
            }
            Some((index, _)) => symbols::local(self.sections, id, object, index) == self.symbols.get(name),
        };
        [
            (prevails, Resolution::PREVAILING),
            (
                entry.flags & (flag::NATIVE | flag::ROOT) != 0
                    || special.visible.contains(&name)
                    || is_asked_for_as_import(entry),
                Resolution::VISIBLE,
            ),
            (special.wrapped.contains(&name), Resolution::REDEFINED),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(Resolution::default(), |all, (_, one)| all | one)
    }
}

/// Whether what stands for a place in an import table is defined here, and code declares it imported: to a compiler
/// these are two names.
fn is_asked_for_as_import(entry: &Entry) -> bool {
    entry.name.starts_with(b"__imp_") && entry.flags & flag::REF != 0
}
