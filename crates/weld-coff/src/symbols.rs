//! Every name frozen to what it stands for.
//!
//! One pass turns the best definition of each name into 16 bytes; weak externals, alternate names and imports
//! of what is defined in the link itself follow. What the linker makes for symbols (blocks of commons, jumps
//! to imported functions, places that hold addresses) becomes sections after those of the objects. No later
//! step looks at names.

use std::collections::HashMap;

use ::object::LittleEndian as LE;
use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::prefetch::prefetch;
use weld_common::{par, text, trace};

use crate::arch::facts;
use crate::coff::import::ImportType;
use crate::coff::object::ABSOLUTE;
use crate::coff::pe;
use crate::ids::{FileId, ImportId, ObjectId, SectionId, SymbolId};
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::entry::Internal;
use crate::resolve::imports::import_symbol;
use crate::resolve::{Place, Resolved, duplicates, wrap};
use crate::sections::{Kind as SectionKind, Sections};
use crate::symbol_names::{self, Names, Rank, Rival, SOFT, flag};
use crate::wording::source::Sources;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Undefined,
    /// `value` bytes into section `target`.
    Section,
    Absolute,
    /// The place in which the loader puts the address of import `target`.
    ImportAddress,
    /// An offset in the image.
    Image,
    /// Data of a DLL that is used as if it were here: the place that holds its address, the name `target`,
    /// stands in for it until the program starts.
    AutoImport,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    pub value: u64,
    pub target: u32,
    pub kind: Kind,
}

const _: () = assert!(size_of::<Symbol>() == 16);

const UNDEFINED: Symbol = Symbol { value: 0, target: u32::MAX, kind: Kind::Undefined };

impl Symbol {
    pub fn absolute(value: u64) -> Symbol {
        Symbol { value, target: u32::MAX, kind: Kind::Absolute }
    }

    pub fn in_section(section: SectionId, value: u64) -> Symbol {
        Symbol { value, target: section.0, kind: Kind::Section }
    }
}

/// A section that the linker makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntheticSection {
    /// Zeroes.
    Common,
    /// A jump to an imported function.
    Thunk(ImportId),
    /// A place with the address of a symbol that is defined here though somebody imports it.
    LocalImport(SymbolId),
    /// What the slot of a function leads to whose DLL is loaded late, as long as it has not been.
    DelayThunk(ImportId),
    /// What has a DLL loaded: its number among [`Delays::loaders`].
    DelayLoader(u32),
    /// What a branch goes to whose target is too far: its number among [`crate::layout::thunks`].
    BranchThunk(u32),
    /// A table; which one, its number among [`crate::synth`]'s says.
    Table(u32),
}

pub struct Symbols {
    pub list: Vec<Symbol>,
    pub made: Vec<SyntheticSection>,
    /// Weak externals and alternate names that stand for others.
    pub aliased: usize,
    /// For what name each of them stands in the end, where that is a name and not a symbol that only one object knows.
    pub stand_ins: HashMap<SymbolId, SymbolId>,
    pub delays: Delays,
    /// There are [`Kind::AutoImport`]s.
    pub auto_imports: bool,
}

/// Imports whose DLLs are loaded when they are needed (`/delayload`).
#[derive(Default)]
pub struct Delays {
    /// Of each import its thunk; empty if there are none at all.
    thunks: Vec<SectionId>,
    /// The sections of loaders, one a DLL.
    pub loaders: Vec<SectionId>,
    /// Of each import the number of its loader.
    loader_of: Vec<u32>,
}

impl Delays {
    /// The thunk of an import, if its DLL is loaded late.
    #[inline]
    pub fn thunk(&self, import: ImportId) -> Option<SectionId> {
        self.thunks.get(import.index()).copied().filter(|thunk| thunk.is_some())
    }

    /// The loader that the thunk of an import goes to.
    pub fn loader(&self, import: ImportId) -> SectionId {
        self.loaders[self.loader_of[import.index()] as usize]
    }
}

impl Symbols {
    /// `/wrap`: what `__real_NAME` stands for is NAME; nobody needs to define it.
    pub fn stand_for_wrapped(&mut self, wraps: &[wrap::Wrap]) {
        for wrap in wraps {
            self.list[wrap.real.index()] = self.get(wrap.symbol);
        }
    }

    #[inline]
    pub fn get(&self, id: SymbolId) -> Symbol {
        self.list[id.index()]
    }

    /// Asks for what symbol `index` of an object stands for.
    #[inline]
    pub fn prefetch_target(&self, object: &Object, index: u32) {
        if let Some(name) = object.global(index) {
            prefetch(&self.list, name.index());
        }
    }
}

/// What symbol `index` of an object stands for, whether other objects see it or not.
#[inline]
pub fn of_object(
    symbols: &Symbols,
    sections: &Sections,
    id: ObjectId,
    object: &Object,
    index: u32,
) -> Symbol {
    match object.global(index) {
        Some(name) => symbols.get(name),
        None => local(sections, id, object, index),
    }
}

/// What a symbol stands for that only its object sees.
pub fn local(sections: &Sections, id: ObjectId, object: &Object, index: u32) -> Symbol {
    let Some(symbol) = object.coff.symbols.get(index).filter(|_| object.is_symbol(index)) else {
        return UNDEFINED;
    };
    match u32::try_from(symbol.section) {
        Ok(number) if number > 0 && number as usize <= object.coff.sections.len() => {
            Symbol::in_section(sections.id(id, number), symbol.value.into())
        }
        _ if symbol.section == ABSOLUTE => Symbol::absolute(symbol.value.into()),
        _ => UNDEFINED,
    }
}

/// Names of one task.
const NAMES: usize = 1 << 15;

/// What freezing needs.
pub struct Freezer<'f, 'a> {
    pub resolved: &'f Resolved<'a>,
    pub options: &'f Options,
    pub sink: &'f DiagSink,
    pub parallel: bool,
}

/// Weak externals, and all common symbols, as the names' notes have them.
pub struct Noted {
    pub aliases: Vec<Rival>,
    pub commons: Vec<Rival>,
}

impl Noted {
    pub fn take(names: &mut Names) -> Noted {
        Noted { aliases: symbol_names::take_aliases(names), commons: symbol_names::take_commons(names) }
    }
}

impl Freezer<'_, '_> {
    /// Freezes all names. Sections that the linker makes for them are added to `sections`.
    pub fn freeze(&self, noted: &Noted, sections: &mut Sections) -> Symbols {
        let names = &self.resolved.names;
        let count = names.id_bound();
        let one = |id: usize| self.one(SymbolId(id as u32), names, sections);
        let list = par::list("freeze names", self.parallel, count, NAMES, |run| run.map(one));
        let mut symbols = Symbols {
            list,
            made: Vec::new(),
            aliased: 0,
            stand_ins: HashMap::new(),
            delays: Delays::default(),
            auto_imports: false,
        };
        let _stretch = trace::stretch("sections for symbols");
        self.commons(&noted.commons, &mut symbols, sections);
        self.thunks(&mut symbols, sections);
        self.delays(&mut symbols, sections);
        self.aliases(&noted.aliases, &mut symbols, sections);
        self.local_imports(&mut symbols, sections);
        if self.options.mingw.auto_import() {
            self.auto_imports(&mut symbols, sections);
        }
        symbols
    }

    fn one(&self, id: SymbolId, names: &Names, sections: &Sections) -> Symbol {
        let Some(entry) = names.try_get(id) else { return UNDEFINED };
        if entry.best == u64::MAX {
            return UNDEFINED;
        }
        match entry.rank() {
            Rank::Internal => match self.resolved.program.internals.get(entry.sym() as usize) {
                Some(Internal::Absolute(value)) => Symbol::absolute(*value),
                _ => Symbol { value: 0, target: u32::MAX, kind: Kind::Image },
            },
            Rank::Strong | SOFT => self.definition(entry.file(), entry.sym(), sections),
            // Commons get their sections afterwards, and what no library was asked for stays undefined.
            _ => UNDEFINED,
        }
    }

    fn definition(&self, file: FileId, sym: u32, sections: &Sections) -> Symbol {
        match self.resolved.places[file.index()] {
            Place::Object(id) => {
                let symbol = local(sections, id, &self.resolved.objects[id.index()], sym);
                match symbol.kind {
                    Kind::Section if sections.list[symbol.target as usize].kind == SectionKind::Discarded => {
                        UNDEFINED
                    }
                    _ => symbol,
                }
            }
            Place::Import(id) => {
                let import = &self.resolved.imports[id.index()].import;
                match sym == import_symbol::ADDRESS || import.kind == ImportType::Const {
                    true => Symbol { value: 0, target: id.0, kind: Kind::ImportAddress },
                    // Its section is made afterwards.
                    false => UNDEFINED,
                }
            }
            Place::Nothing => UNDEFINED,
        }
    }

    /// A block for each name whose best definition is common, as large as the largest.
    fn commons(&self, commons: &[Rival], symbols: &mut Symbols, sections: &mut Sections) {
        let names = &self.resolved.names;
        let mut sizes: HashMap<SymbolId, u32> = HashMap::new();
        let mut order = Vec::new();
        for rival in commons {
            let entry = names.get(rival.id);
            if entry.rank() != Rank::Common {
                continue;
            }
            let Some((_, object)) = self.resolved.object(rival.file) else { continue };
            let size = object.coff.symbols.get(rival.sym).map_or(0, |symbol| symbol.value);
            let known = sizes.entry(rival.id).or_insert_with(|| {
                order.push(rival.id);
                0
            });
            *known = size.max(*known);
        }
        let flags =
            pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0 | pe::IMAGE_SCN_MEM_WRITE.0;
        for name in self.resolved.demands.common_alignments.keys() {
            if names.find(name.as_bytes()).is_none() {
                self.sink.warn(
                    Cause::NoSuchSymbol,
                    format!("/aligncomm:{name} has no effect: there is no such symbol"),
                );
            }
        }
        for id in order {
            let size = sizes[&id];
            let natural = size.checked_next_power_of_two().map_or(5, u32::trailing_zeros).min(5);
            let name = weld_common::text::text(names.get(id).name);
            let asked = self.resolved.demands.common_alignments.get(&*name).copied().unwrap_or(0);
            let align = natural.max(asked) as u8;
            let number = symbols.made.len() as u32;
            symbols.made.push(SyntheticSection::Common);
            let section = sections.add_made(number, (b".bss", flags), size, align);
            symbols.list[id.index()] = Symbol::in_section(section, 0);
        }
    }

    /// A jump for each function that is imported; those that nobody needs are left out later.
    fn thunks(&self, symbols: &mut Symbols, sections: &mut Sections) {
        let thunk = facts(self.resolved.machine).thunk;
        for (i, import) in self.resolved.imports.iter().enumerate() {
            let name = import.symbols[import_symbol::PLAIN as usize];
            if import.import.kind != ImportType::Code || name.is_none() {
                continue;
            }
            let entry = self.resolved.names.get(name);
            if (entry.rank(), entry.file()) != (SOFT, import.file) {
                continue;
            }
            let number = symbols.made.len() as u32;
            symbols.made.push(SyntheticSection::Thunk(ImportId(i as u32)));
            let section = sections.add_code(number, thunk.0, thunk.1);
            symbols.list[name.index()] = Symbol::in_section(section, 0);
        }
    }

    /// Thunks and loaders for functions in DLLs that are loaded late.
    fn delays(&self, symbols: &mut Symbols, sections: &mut Sections) {
        if self.options.delay_loads.is_empty() {
            return;
        }
        let code = &facts(self.resolved.machine).delay;
        let mut add = |made: SyntheticSection, size: usize| {
            let number = symbols.made.len() as u32;
            symbols.made.push(made);
            sections.add_code(number, size as u32, code.align)
        };
        let mut loaders: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut delays = Delays::default();
        for (i, file) in self.resolved.imports.iter().enumerate() {
            let dll = file.import.dll.to_ascii_lowercase();
            let late = self.options.delay_loads.iter().any(|late| late.as_bytes() == dll);
            if !late {
                delays.thunks.push(SectionId::NONE);
                delays.loader_of.push(u32::MAX);
                continue;
            }
            if file.import.kind != ImportType::Code {
                let dll = text::text(file.import.dll);
                let name = self.options.shown(&[b"__imp_", file.import.symbol].concat());
                let text = format!("cannot delay-load {dll} due to import of data: {name}");
                self.sink.push(Diagnostic::error(Cause::DelayLoad, text).of(file.file, 0));
            }
            let next = loaders.len() as u32;
            let loader = *loaders.entry(dll).or_insert(next);
            delays.thunks.push(add(SyntheticSection::DelayThunk(ImportId(i as u32)), code.thunk.bytes.len()));
            delays.loader_of.push(loader);
        }
        let loader = |number: u32| add(SyntheticSection::DelayLoader(number), code.loader.bytes.len());
        delays.loaders = (0..loaders.len() as u32).map(loader).collect();
        symbols.delays = delays;
    }

    /// Names that nobody defines and that others stand in for.
    fn aliases(&self, aliases: &[Rival], symbols: &mut Symbols, sections: &Sections) {
        let mut targets: HashMap<SymbolId, Target> = HashMap::new();
        for alias in aliases {
            if symbols.get(alias.id).kind != Kind::Undefined {
                continue;
            }
            let Some((id, object)) = self.resolved.object(alias.file) else { continue };
            let Some(symbol) = object.coff.symbols.get(alias.sym) else { continue };
            let Some((index, _)) = object.coff.symbols.weak_external(alias.sym, &symbol) else { continue };
            let target = match object.global(index) {
                Some(name) => Target::Name(name),
                None => Target::Is(local(sections, id, object, index)),
            };
            if target == Target::Name(alias.id) {
                continue;
            }
            match targets.get(&alias.id) {
                // Definitions in bitcode that others may replace fall back on a symbol of their own.
                Some(other)
                    if *other != target && !self.options.mingw.duplicate_weak && !object.is_code() =>
                {
                    self.duplicate_alias(alias, aliases);
                }
                Some(_) => {}
                None => _ = targets.insert(alias.id, target),
            }
        }
        for (from, to) in &self.resolved.alternates {
            targets.entry(*from).or_insert(Target::Name(*to));
        }
        symbols.aliased = targets.len();
        let mut all: Vec<SymbolId> = targets.keys().copied().collect();
        all.sort_unstable();
        for id in all {
            let (mut at, mut last) = (Target::Name(id), None);
            // As many steps as there are aliases lead to the end, unless they lead in a circle.
            for _ in 0..=targets.len() {
                let Target::Name(name) = at else { break };
                let found = symbols.get(name);
                last = Some(name);
                at = match targets.get(&name) {
                    Some(next) if found.kind == Kind::Undefined => *next,
                    _ => Target::Is(found),
                };
            }
            if let Target::Is(symbol) = at
                && symbols.get(id).kind == Kind::Undefined
            {
                symbols.list[id.index()] = symbol;
                // A name of the end is one that somebody defines.
                let name = last.filter(|name| *name != id && !targets.contains_key(name));
                symbols.stand_ins.extend(name.map(|name| (id, name)));
            }
        }
    }

    /// Two objects say different things of a weak external.
    fn duplicate_alias(&self, alias: &Rival, aliases: &[Rival]) {
        let first = aliases.iter().find(|other| other.id == alias.id).unwrap_or(alias);
        let files = [first, alias].map(|rival| {
            let object = self.resolved.object(rival.file).map(|(_, object)| object);
            duplicates::place(
                object,
                &self.resolved.file_name(rival.file),
                rival.sym,
                &mut Sources::default(),
            )
        });
        let name = self.resolved.names.get(alias.id).name;
        let problem = duplicates::diagnostic(&self.options.shown(name), &files, self.options.force.multiple);
        self.sink.push(problem.of(alias.file, alias.sym));
    }

    /// Names that somebody refers to and that are not defined so far.
    fn missing(&self, symbols: &Symbols) -> Vec<SymbolId> {
        let names = &self.resolved.names;
        let is_missing = |&id: &SymbolId| {
            symbols.get(id).kind == Kind::Undefined
                && names.try_get(id).is_some_and(|entry| entry.flags & (flag::REF | flag::ROOT) != 0)
        };
        par::runs("missing names", self.parallel, symbols.list.len(), NAMES, |run| {
            run.map(|id| SymbolId(id as u32)).filter(is_missing).collect::<Vec<_>>()
        })
        .concat()
    }

    /// `__imp_X` that is not imported, with an `X` that is here.
    fn local_imports(&self, symbols: &mut Symbols, sections: &mut Sections) {
        let names = &self.resolved.names;
        let mut found = Vec::new();
        for id in self.missing(symbols) {
            let entry = names.get(id);
            let Some(plain) = entry.name.strip_prefix(b"__imp_") else { continue };
            if let Some(local) = names.find(plain)
                && symbols.get(local).kind != Kind::Undefined
            {
                found.push((entry.name, id, local));
            }
        }
        found.sort_unstable_by_key(|(name, ..)| *name);
        let size = facts(self.resolved.machine).address;
        let flags = pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0 | pe::IMAGE_SCN_MEM_READ.0;
        for (_, id, local) in found {
            let number = symbols.made.len() as u32;
            symbols.made.push(SyntheticSection::LocalImport(local));
            let section = sections.add_made(number, (b".rdata", flags), size, size.trailing_zeros() as u8);
            symbols.list[id.index()] = Symbol::in_section(section, 0);
            if self.options.warnings.imported_locals && !self.options.mingw.on {
                self.warn_imported_local(id, local);
            }
        }
    }

    /// Data of DLLs that nobody declared so. What compilers make a pointer of (`.refptr.X`) becomes the place
    /// with its address; all else is changed when the program starts.
    fn auto_imports(&self, symbols: &mut Symbols, sections: &mut Sections) {
        let names = &self.resolved.names;
        let mut found: Vec<(&[u8], SymbolId, SymbolId)> = Vec::new();
        for id in self.missing(symbols) {
            let entry = names.get(id);
            let import = names.find(&[b"__imp_", entry.name].concat());
            if let Some(import) = import.filter(|import| symbols.get(*import).kind != Kind::Undefined) {
                found.push((entry.name, id, import));
            }
        }
        found.sort_unstable();
        for (name, id, import) in found {
            symbols.list[id.index()] = Symbol { value: 0, target: import.0, kind: Kind::AutoImport };
            symbols.auto_imports = true;
            if self.options.reports.verbose.all {
                let from = self.import_file(import, symbols);
                let text = format!("Automatically importing {} from {from}", self.options.shown(name));
                self.sink.push(Diagnostic::said(text));
            }
            if let Some(pointer) = names.find(&[b".refptr.", name].concat())
                && let Some(section) = self.pointer_to(id, symbols.get(pointer), sections)
            {
                symbols.list[pointer.index()] = symbols.get(import);
                sections.list[section.index()].kind = SectionKind::Discarded;
            }
        }
    }

    /// Where the place with an import's address comes from: the DLL, or the object of a GNU import library.
    fn import_file(&self, import: SymbolId, symbols: &Symbols) -> String {
        let symbol = symbols.get(import);
        match symbol.kind {
            Kind::ImportAddress => {
                text::text(self.resolved.imports[symbol.target as usize].import.dll).into_owned()
            }
            _ => self.resolved.file_name(self.resolved.names.get(import).file()),
        }
    }

    /// The section of `pointer`, if nothing else is in it than the address of `target`.
    fn pointer_to(&self, target: SymbolId, pointer: Symbol, sections: &Sections) -> Option<SectionId> {
        let id = SectionId(pointer.target);
        if pointer.kind != Kind::Section || pointer.value != 0 {
            return None;
        }
        let section = sections.get(id);
        let size = facts(self.resolved.machine).address;
        if section.kind != SectionKind::Regular || section.size != size || !section.comdat {
            return None;
        }
        let object = &self.resolved.objects[section.object.index()];
        let header = sections.header(&self.resolved.objects, section);
        let [relocation] = object.coff.relocations(header).ok()? else { return None };
        let is_it = object.global(relocation.symbol_table_index.get(LE)) == Some(target);
        let is_zero = object.coff.contents(header).ok()?.iter().all(|&byte| byte == 0);
        (is_it && is_zero && relocation.virtual_address.get(LE) == 0).then_some(id)
    }

    fn warn_imported_local(&self, id: SymbolId, local: SymbolId) {
        let entry = self.resolved.names.get(local);
        let uses =
            |object: &&Object| object.coff.symbols.iter().any(|(index, _)| object.global(index) == Some(id));
        for object in self.resolved.objects.iter().filter(uses) {
            let defined = self.resolved.file_name(entry.file());
            let text = format!(
                "{}: locally defined symbol imported: {} (defined in {defined}) [LNK4217]",
                object.name,
                self.options.shown(entry.name)
            );
            self.sink.push(Diagnostic::warning(Cause::LocallyDefinedImport, text).of(object.file, 0));
        }
    }
}

/// What stands in for a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Name(SymbolId),
    Is(Symbol),
}

/// Names that somebody refers to and nobody defines, in the order of their texts.
pub fn undefined(resolved: &Resolved, symbols: &Symbols, parallel: bool) -> Vec<SymbolId> {
    let is_missing = |id: &SymbolId| {
        let id = *id;
        symbols.get(id).kind == Kind::Undefined
            && resolved.names.try_get(id).is_some_and(|entry| {
                entry.flags & (flag::REF | flag::ROOT | flag::WEAK) != 0
                    // References to precompiled headers are for debug information.
                    && !entry.name.starts_with(b"__@@_PchSym_")
                    && !wrap::is_forgotten(&resolved.wraps, resolved, id)
            })
    };
    let found = par::runs("undefined names", parallel, resolved.names.id_bound(), 1 << 14, |run| {
        run.map(|id| SymbolId(id as u32)).filter(is_missing).collect::<Vec<SymbolId>>()
    });
    let mut missing = found.concat();
    missing.sort_unstable_by_key(|id| resolved.names.get(*id).name);
    missing
}
