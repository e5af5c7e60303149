//! Link-time optimisation: what a compiler is asked about the files of bitcode that take part.
//!
//! Resolution treats such a file as any other ([`crate::input::ir`]). What it and the phases after it have
//! found (which definition counts, who else names it) goes to a compiler here, for every symbol that such a
//! file has; the objects that come back stand for the files when all is resolved again
//! ([`crate::resolve::Compiled`]).

mod wrapped;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weld_common::diag::Diagnostic;
use weld_lto::bitcode;
use weld_lto::ir::{Compiler, IrFile};
use weld_lto::origin::gone;
use weld_lto::request::{File, Machine, Output, Request, Resolution, Symbol};

use crate::coff::identify::identify;
use crate::coff::object::UNDEFINED;
use crate::ids::{FileId, ObjectId, SymbolId};
use crate::input::ir;
use crate::input::load::Inputs;
use crate::input::object::Object;
use crate::input::origin;
use crate::job::Job;
use crate::resolve::{Place, Resolved};
use crate::sections::Sections;
use crate::symbol_names::{Entry, Rank, flag};
use crate::symbols::{self, Symbols, SyntheticSection};

pub use wrapped::strong_again;

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
    /// Common symbols, and the file of bitcode that has the largest of each. They are chosen from there:
    /// every file's size counts, and a compiler that is given a smaller one does not know of it.
    commons: HashMap<SymbolId, FileId>,
}

impl<'l, 'j> Link<'l, 'j> {
    /// What is asked; the image goes to `out`.
    ///
    /// # Errors
    /// If a file is not where it was.
    pub fn request(&self, out: &'l Path) -> Result<Request<'l>, Diagnostic> {
        let options = self.job.options;
        let special = self.special();
        let (mut files, mut llvm_major, mut gcc_major) = (Vec::new(), None, None);
        for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
            if !object.is_code() {
                continue;
            }
            let (code, mut file) = self.file(object.file).ok_or_else(|| gone(&object.name))?;
            let major = match code.compiler {
                Compiler::Llvm => &mut llvm_major,
                Compiler::Gcc => &mut gcc_major,
            };
            *major = code.major.max(*major);
            let known = code.symbols_for_linkers().zip(ir::places(&code)).map(|(symbol, place)| Symbol {
                name: symbol.name,
                resolution: self.resolution(id, object, place, &special),
                is_defined: place.definition.is_some(),
                can_be_omitted: symbol.can_be_omitted,
            });
            file.symbols = known.collect();
            files.push(file);
        }
        let unused = match options.lto.thin.index_only {
            Some(_) => self.unused(),
            None => Vec::new(),
        };
        Ok(Request {
            files,
            unused,
            output: if options.dll { Output::Shared } else { Output::Executable },
            output_path: out,
            machine: Machine::Coff { machine: self.resolved.machine.number() },
            llvm_major,
            gcc_major,
            options: &options.lto,
            is_repeated: false,
            digested: Vec::new(),
            patience: Request::PATIENCE,
        })
    }

    /// The intermediate code of a file that is known to have some.
    fn file(&self, file: FileId) -> Option<(IrFile<'j>, File<'j>)> {
        let options = &self.job.options.lto;
        let origin = origin::find(self.inputs, file, self.job.store)?;
        let code = ir::find(origin.bytes, identify(origin.bytes), options, self.job.store).ok()??;
        let file = origin.file(code.bytes, code.file.compiler);
        Some((code.file, file))
    }

    /// Bitcode that takes no part.
    fn unused(&self) -> Vec<File<'j>> {
        let all = (0..self.inputs.files.len() as u32).map(FileId);
        let is_bitcode = |file: &FileId| {
            self.resolved.places[file.index()] == Place::Nothing
                && self.inputs.bytes(*file, self.job.store).is_some_and(bitcode::is_bitcode)
        };
        all.filter(is_bitcode).filter_map(|file| Some(self.file(file)?.1)).collect()
    }

    /// Names that `/wrap` leads elsewhere and of which the definition that counts is one of intermediate code,
    /// and not weak.
    pub fn strong_wrapped(&self) -> HashSet<&'j [u8]> {
        let wrapped: HashSet<SymbolId> = self.resolved.wraps.iter().map(|wrap| wrap.symbol).collect();
        let mut names = HashSet::new();
        for (id, object) in (0..).map(ObjectId).zip(&self.resolved.objects) {
            if wrapped.is_empty() || !object.is_code() {
                continue;
            }
            let strong = object.coff.symbols.iter().filter(|(_, symbol)| {
                symbol.section != UNDEFINED && symbol.is_global() && !symbol.is_weak_external()
            });
            for (index, _) in strong {
                if let Some(name) = object.global(index)
                    && wrapped.contains(&name)
                    && symbols::local(self.sections, id, object, index) == self.symbols.get(name)
                {
                    names.insert(self.resolved.names.get(name).name);
                }
            }
        }
        names
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
        Special { visible, wrapped, commons: self.commons() }
    }

    fn commons(&self) -> HashMap<SymbolId, FileId> {
        let mut largest: HashMap<SymbolId, (u32, FileId)> = HashMap::new();
        for object in self.resolved.objects.iter().filter(|object| object.is_code()) {
            for (index, symbol) in object.coff.symbols.iter().filter(|(_, symbol)| symbol.is_common()) {
                let Some(name) = object.global(index) else { continue };
                let known = largest.entry(name).or_insert((symbol.value, object.file));
                if known.0 < symbol.value {
                    *known = (symbol.value, object.file);
                }
            }
        }
        largest.into_iter().map(|(name, (_, file))| (name, file)).collect()
    }

    fn resolution(&self, id: ObjectId, object: &Object, place: ir::Place, special: &Special) -> Resolution {
        let Some(name) = object.global(place.symbol) else { return Resolution::default() };
        let entry = self.resolved.names.get(name);
        let prevails = match place.definition.and_then(|index| Some((index, object.coff.symbols.get(index)?)))
        {
            None => false,
            Some((_, symbol)) if symbol.is_common() => {
                entry.rank() == Rank::Common && special.commons.get(&name) == Some(&object.file)
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

/// Whether what stands for a place in an import table is defined here, and code declares it imported: to a
/// compiler these are two names.
fn is_asked_for_as_import(entry: &Entry) -> bool {
    entry.name.starts_with(b"__imp_") && entry.flags & flag::REF != 0
}
