//! Link-time optimisation: what compilers are asked about the files of intermediate code that take part.
//!
//! Resolution treats such a file as any other ([`crate::input::ir`]). What it and the phases after it have
//! found (who defines what, what other modules see) goes to a compiler here, for every symbol that such a
//! file has; the objects that come back stand for the files when all is resolved again
//! ([`crate::resolve::Compiled`]).

mod vtables;
mod wrapped;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use weld_common::diag::Diagnostic;
use weld_common::par;
use weld_lto::ir::{Compiler, IrFile};
use weld_lto::origin::{self, Origin};
use weld_lto::request::{File, Machine, Output, Request, Resolution, Symbol};

use crate::elf::{SHN_UNDEF, STB_GLOBAL, STV_DEFAULT};
use crate::ids::*;
use crate::input::identify::{Kind, identify};
use crate::input::ir;
use crate::input::load::Inputs;
use crate::input::object::{Object, SymbolPlace};
use crate::input::origin::Origins;
use crate::job::Job;
use crate::mode::Mode;
use crate::options::OutputKind;
use crate::resolve::Resolved;
use crate::symbol_names::{Entry, flag};
use crate::symbols::{Symbols, symbol_flags};

pub use wrapped::{Led, led_elsewhere};

/// A link whose symbols are frozen, and whose exports have been decided.
#[derive(Clone, Copy)]
pub struct Link<'l, 'j> {
    pub job: &'l Job<'j>,
    pub inputs: &'l Inputs<'j>,
    pub resolved: &'l Resolved<'j>,
    pub symbols: &'l Symbols,
    pub mode: Mode,
    pub parallel: bool,
}

/// Files that one task looks through.
const FILES: usize = 8;

/// The objects that stand for files of intermediate code.
pub fn files<'r, 'j>(resolved: &'r Resolved<'j>) -> impl Iterator<Item = &'r Object<'j>> {
    resolved.objects.iter().filter(|object| object.code.is_some())
}

impl<'l, 'j> Link<'l, 'j> {
    /// What is asked.
    ///
    /// # Errors
    /// If a file is not where it was.
    pub fn request(&self) -> Result<Request<'l>, Diagnostic> {
        let options = self.job.options;
        let target = self.mode.facts().target;
        let wrapped = Wrapped { led: self.wrapped(), ..Wrapped::of(&options.symbols.wrap) };
        let mut origins = Origins::new(self.inputs);
        let commons = self.commons();
        let mut found: Vec<(&Object, Origin)> = Vec::new();
        for object in files(self.resolved) {
            let origin = origins.find(object.file).ok_or_else(|| origin::gone(&object.name))?;
            found.push((object, origin));
        }
        let read = |run: Range<usize>| {
            let files = found[run].iter().map(|(object, origin)| {
                let (code, file) =
                    self.source(object.file, *origin).ok_or_else(|| origin::gone(&object.name))?;
                let symbols = self.symbols_of(object, &code, &wrapped, &commons);
                Ok((code.major, File { symbols, ..file }))
            });
            files.collect::<Result<Vec<_>, Diagnostic>>()
        };
        let runs = par::runs("read intermediate code", self.parallel, found.len(), FILES, read);
        let (mut llvm_major, mut gcc_major) = (None, None);
        let mut list = Vec::with_capacity(found.len());
        for run in runs {
            for (major, file) in run? {
                let newest = match file.compiler {
                    Compiler::Llvm => &mut llvm_major,
                    Compiler::Gcc => &mut gcc_major,
                };
                *newest = major.max(*newest);
                list.push(file);
            }
        }
        let unused = match options.lto.thin.index_only {
            Some(_) => self.unused(&mut origins),
            None => Vec::new(),
        };
        Ok(Request {
            files: list,
            unused,
            output: match options.kind {
                OutputKind::Exec => Output::Executable,
                OutputKind::Pie => Output::Pie,
                OutputKind::Shared => Output::Shared,
                OutputKind::Relocatable => Output::Relocatable,
            },
            output_path: &options.output.path,
            machine: Machine::Elf {
                machine: target.machine,
                is_64: target.format.is_64(),
                is_big_endian: target.format.is_big(),
            },
            llvm_major,
            gcc_major,
            options: &options.lto,
            is_repeated: false,
            digested: Vec::new(),
            patience: Request::PATIENCE,
        })
    }

    /// Common symbols, and the file of intermediate code that has the largest of each. They are chosen from
    /// there, whoever else has them: of common symbols every file's size counts, and a compiler joins those
    /// of its files.
    fn commons(&self) -> HashMap<SymbolId, FileId> {
        let mut largest: HashMap<SymbolId, (u64, FileId)> = HashMap::new();
        for object in files(self.resolved) {
            for (index, symbol) in (object.first_global..).zip(&object.syms[object.first_global as usize..]) {
                if object.is_common(symbol.st_shndx()) {
                    let size = symbol.st_size();
                    let known = largest.entry(object.global(index)).or_insert((size, object.file));
                    if known.0 < size {
                        *known = (size, object.file);
                    }
                }
            }
        }
        largest.into_iter().map(|(id, (_, file))| (id, file)).collect()
    }

    /// The intermediate code of a file that is known to have some.
    fn source(&self, file: FileId, origin: Origin<'j>) -> Option<(IrFile<'j>, File<'j>)> {
        let inputs = self.inputs;
        let (code, bytes) = ir::find(file, inputs.name(file), origin.bytes, inputs.reading(false))?;
        let file = origin.file(bytes, code.compiler);
        Some((code, file))
    }

    /// Bitcode that takes no part.
    fn unused(&self, origins: &mut Origins<'_, 'j>) -> Vec<File<'j>> {
        let inputs = self.inputs;
        let files = (0..inputs.files.len()).filter(|file| self.resolved.index_of_file[*file] == u32::MAX);
        let files = files
            .map(|file| FileId(file as u32))
            .filter(|file| inputs.bytes(*file).is_ok_and(|bytes| identify(bytes) == Kind::Bitcode));
        files.filter_map(|file| Some(self.source(file, origins.find(file)?)?.1)).collect()
    }

    fn symbols_of(
        &self,
        object: &Object<'j>,
        code: &IrFile<'j>,
        wrapped: &Wrapped,
        commons: &HashMap<SymbolId, FileId>,
    ) -> Vec<Symbol<'j>> {
        let indices = object.first_global..;
        let known = indices.zip(code.symbols_for_linkers()).map(|(index, symbol)| {
            let place = object.place(index, &object.syms[index as usize]);
            let id = object.global(index);
            let found = Found { object, index, place, id };
            Symbol {
                name: symbol.name,
                resolution: self.resolution(&found, symbol.section, wrapped, commons),
                is_defined: place != SymbolPlace::Undefined,
                can_be_omitted: symbol.can_be_omitted,
            }
        });
        known.collect()
    }

    fn resolution(
        &self,
        found: &Found,
        section: &[u8],
        wrapped: &Wrapped,
        commons: &HashMap<SymbolId, FileId>,
    ) -> Resolution {
        let entry = self.resolved.names.get(found.id);
        let flags = self.symbols[found.id].flags();
        let kind = flags & symbol_flags::KIND;
        let is_here = entry.file() == found.object.file && entry.sym() == found.index;
        let prevails = match found.place {
            SymbolPlace::Undefined => false,
            SymbolPlace::Common if kind == symbol_flags::COMMON => {
                commons.get(&found.id) == Some(&found.object.file)
            }
            _ => {
                matches!(kind, symbol_flags::DEFINED | symbol_flags::ABSOLUTE | symbol_flags::COMMON)
                    && is_here
            }
        } && flags & symbol_flags::IN_DISCARDED == 0;
        let is_exported = flags & symbol_flags::EXPORTED != 0;
        let name = found.object.symbol_name(found.index);
        let is_wrapped = wrapped.concerns(name);
        let is_defined = matches!(
            kind,
            symbol_flags::DEFINED | symbol_flags::COMMON | symbol_flags::ABSOLUTE | symbol_flags::INTERNAL
        );
        let is_visible = self.mode.relocatable
            || entry.flags & (flag::REF_NATIVE | flag::ROOT | flag::KEEP) != 0
            || is_wrapped
            || prevails && is_exported && self.is_export_asked_for(entry)
            || self.has_bounds(section);
        let is_led = wrapped.led.contains_key(name);
        let is_redefined = kind == symbol_flags::INTERNAL || is_led;
        // What a reference is led to may be elsewhere.
        let is_local = matches!(kind, symbol_flags::DEFINED | symbol_flags::COMMON)
            && !is_led
            && !self.is_replaceable(flags);
        [
            (prevails, Resolution::PREVAILING),
            (is_visible, Resolution::VISIBLE),
            (is_exported, Resolution::EXPORTED),
            (is_local, Resolution::LOCAL),
            (is_redefined, Resolution::REDEFINED),
            (is_defined && !self.is_of_code(entry), Resolution::NATIVE),
            (kind == symbol_flags::SHARED, Resolution::SHARED),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(Resolution::default(), |all, (_, one)| all | one)
    }

    /// Whether what is exported has to be there. If all that can be is exported, what every module may have
    /// for itself (inline functions whose address nobody asks for) need not be: compilers know what that is.
    fn is_export_asked_for(&self, entry: &Entry) -> bool {
        const SEEN: u32 = flag::REF_SHARED | flag::REF_SHARED_WEAK | flag::DEF_SHARED;
        let exports_all = self.mode.shared || self.job.options.symbols.export_dynamic;
        !exports_all || entry.flags & SEEN != 0
    }

    /// Whether another module may have its own definition, as far as is known: what `-r` makes is linked
    /// again.
    fn is_replaceable(&self, flags: u32) -> bool {
        self.mode.relocatable || flags & symbol_flags::PREEMPTIBLE != 0
    }

    /// Whether a definition is a file's of intermediate code.
    fn is_of_code(&self, entry: &Entry) -> bool {
        let index = self.resolved.index_of_file[entry.file().index()];
        self.resolved.objects.get(index as usize).is_some_and(|object| object.code.is_some())
    }

    /// Whether something refers to `__start_SECTION` or `__stop_SECTION`, and so to what the section holds.
    fn has_bounds(&self, section: &[u8]) -> bool {
        let mentions = |start: &[u8]| self.resolved.names.find(&[start, section].concat()).is_some();
        !section.is_empty() && (mentions(b"__start_") || mentions(b"__stop_"))
    }

    /// Names that `--wrap` leads elsewhere and some file of intermediate code leaves undefined, with what
    /// stands in front of them in references that do lead there, and whether what counts is a definition that is
    /// not weak of such a file.
    pub fn wrapped(&self) -> HashMap<&'j [u8], Led> {
        let wrapped = Wrapped::of(&self.job.options.symbols.wrap);
        let mut names = HashMap::new();
        for object in files(self.resolved).filter(|_| !wrapped.names.is_empty()) {
            let indices = object.first_global..object.syms.len() as u32;
            let undefined = indices.filter(|index| object.syms[*index as usize].st_shndx() == SHN_UNDEF);
            let undefined = undefined.map(|index| object.symbol_name(index));
            names.extend(undefined.filter_map(|name| {
                let prefix = wrapped.leads(name)?;
                Some((name, Led { prefix, is_strong: self.is_strong(name) }))
            }));
        }
        names
    }

    /// Whether the definition that counts is not weak, and a file's of intermediate code.
    fn is_strong(&self, name: &[u8]) -> bool {
        let Some(id) = self.resolved.names.find(name) else { return false };
        let entry = self.resolved.names.get(id);
        let index = self.resolved.index_of_file.get(entry.file().index()).map(|index| *index as usize);
        let object = index.and_then(|index| self.resolved.objects.get(index));
        let of_code = object.filter(|object| object.code.is_some() && object.file == entry.file());
        let symbol = of_code.and_then(|object| object.syms.get(entry.sym() as usize));
        symbol.is_some_and(|symbol| symbol.st_shndx() != SHN_UNDEF && symbol.binding() == STB_GLOBAL)
    }

    /// COMDAT groups of files with GCC's intermediate code, with the names of what is in them: what GCC makes
    /// of a group is not one any more.
    pub fn groups(&self) -> Vec<(&'j [u8], Vec<&'j [u8]>)> {
        let mut list = Vec::new();
        for object in files(self.resolved).filter(|object| object.code == Some(Compiler::Gcc)) {
            let mut members: HashMap<u32, usize> = HashMap::new();
            for group in &object.groups {
                let signature = object.symbol_name(object.shdrs[group.shndx as usize].sh_info());
                let words = object.group_words(group.shndx);
                members
                    .extend(words.iter().flat_map(|words| words.members()).map(|shndx| (shndx, list.len())));
                list.push((signature, Vec::new()));
            }
            for (index, symbol) in (object.first_global..).zip(&object.syms[object.first_global as usize..]) {
                if let SymbolPlace::Section(shndx) = object.place(index, symbol)
                    && let Some(group) = members.get(&shndx)
                {
                    list[*group].1.push(object.symbol_name(index));
                }
            }
        }
        list
    }

    /// Names that files of intermediate code keep from other modules, with the bits that say so.
    pub fn visibilities(&self) -> Vec<(&'j [u8], u32)> {
        let mut names = Vec::new();
        for object in files(self.resolved) {
            let indices = object.first_global..object.syms.len() as u32;
            let said = indices.filter(|index| object.syms[*index as usize].visibility() != STV_DEFAULT);
            let entries = said.map(|index| self.resolved.names.get(object.global(index)));
            names.extend(entries.map(|entry| (entry.name, entry.flags & flag::INSIDE)));
        }
        names
    }

    /// Names of definitions that `--exclude-libs` keeps to the output.
    pub fn excluded(&self) -> Vec<&'j [u8]> {
        let mut names = Vec::new();
        for object in files(self.resolved).filter(|object| object.excluded) {
            let indices = object.first_global..object.syms.len() as u32;
            let own = indices.map(|index| self.resolved.names.get(object.global(index)));
            names.extend(own.filter(|entry| entry.file() == object.file).map(|entry| entry.name));
        }
        names
    }
}

/// A symbol of a file of intermediate code.
struct Found<'f, 'a> {
    object: &'f Object<'a>,
    index: u32,
    place: SymbolPlace,
    id: SymbolId,
}

/// The names that `--wrap` concerns.
struct Wrapped<'o> {
    names: HashSet<&'o [u8]>,
    /// See [`Link::wrapped`].
    led: HashMap<&'o [u8], Led>,
}

impl<'o> Wrapped<'o> {
    fn of(names: &'o [String]) -> Wrapped<'o> {
        Wrapped { names: names.iter().map(|name| name.as_bytes()).collect(), led: HashMap::new() }
    }

    /// What stands in front of the name in a reference that leads where one to the name has to lead: NAME
    /// means `__wrap_NAME`. `__real_NAME` stays as it is, for as a reference it means NAME; a definition that
    /// is called so is another thing.
    fn leads(&self, name: &[u8]) -> Option<&'static str> {
        match name.strip_prefix(b"__real_") {
            _ if self.names.contains(name) => Some("__wrap_"),
            Some(real) if self.names.contains(real) => Some(""),
            _ => None,
        }
    }

    /// References may lead here, or lead elsewhere.
    fn concerns(&self, name: &[u8]) -> bool {
        let is_wrapper = || name.strip_prefix(b"__wrap_").is_some_and(|name| self.names.contains(name));
        !self.names.is_empty() && (self.leads(name).is_some() || is_wrapper())
    }
}
