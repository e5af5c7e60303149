//! What kind of program it is: its entry point, its subsystem, what it exports, what stands for names nobody
//! defines.
//!
//! Each answer may ask for symbols, and so for members of libraries, which may change other answers; so all
//! is asked again until nothing changes.

use std::collections::HashSet;
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use super::Resolver;
use super::file::objects;
use super::mingw::exported_name;
use super::read::Rounds;
use super::wrap::Wrap;
use crate::arch::facts;
use crate::args::def;
use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::input::object::Object;
use crate::options::{Export, Mingw, Options, Subsystem};
use crate::symbol_names::{Rank, flag, is_defined, pack};

/// A symbol that is exported.
#[derive(Clone, Debug)]
pub struct Exported {
    pub export: Export,
    /// What the DLL calls it.
    pub name: String,
    /// What programs call it that import it.
    pub import_symbol: String,
    /// An object asks for it; the command line may say more.
    pub by_directive: bool,
    /// Nobody asks for it by name.
    pub is_automatic: bool,
    /// [`SymbolId::NONE`] for what is in another DLL.
    pub symbol: SymbolId,
}

impl Exported {
    /// What is exported under which names, without its symbol, and what that is called.
    pub fn new(export: Export, machine: Machine, mingw: &Mingw, by_directive: bool) -> (Exported, String) {
        // Compilers give names as they are in objects.
        let given = |name: &str| match by_directive && !mingw.on {
            true => name.to_owned(),
            false => decorated(name, machine, mingw.on),
        };
        let import_symbol = given(&export.name);
        let target = export.internal.as_deref().map_or(import_symbol.clone(), given);
        let name = exported_name(&import_symbol, machine, mingw).to_owned();
        let (is_automatic, symbol) = (false, SymbolId::NONE);
        (Exported { export, name, import_symbol, by_directive, is_automatic, symbol }, target)
    }
}

/// Whether a name on x86 says how the function is called, so that nothing is put in front of it.
fn is_decorated(name: &str) -> bool {
    name.starts_with('?') || name.contains('@')
}

/// The name of a symbol that the user gives without what compilers for x86 put in front of it.
/// GNU tools put the underscore in front of `f@8`, too.
fn decorated(name: &str, machine: Machine, gnu: bool) -> String {
    let stays = if gnu { name.starts_with(['?', '@']) || name.contains("@@") } else { is_decorated(name) };
    match machine == Machine::X86 && !stays {
        true => format!("_{name}"),
        false => name.to_owned(),
    }
}

/// What programs call a function that is exported as `to`: its symbol `mangled` with `to` in the place of its
/// plain name. What says how it is called stays: `_f` that is `_g@8` is called `_f@8`.
fn renamed(mangled: &str, plain: &str, to: &str) -> String {
    let without = |name: &str| name.strip_prefix('_').map(str::to_owned);
    let pairs = [Some((plain.to_owned(), to.to_owned())), without(plain).zip(without(to))];
    let found = pairs.into_iter().flatten().find(|(plain, _)| mangled.contains(plain.as_str()));
    found.map_or_else(|| mangled.to_owned(), |(plain, to)| mangled.replacen(&plain, &to, 1))
}

/// The answers.
#[derive(Debug, Default)]
pub struct Program {
    /// [`SymbolId::NONE`] if there is no entry point.
    pub entry: Option<SymbolId>,
    /// `None`: it is not known, which is an error once nothing worse is found.
    pub subsystem: Option<Subsystem>,
    pub subsystem_version: Option<(u16, u16)>,
    pub exports: Vec<Exported>,
    /// How many of the demanded exports come from the command line and the module-definition file.
    own_exports: usize,
    pub load_config: Option<SymbolId>,
    pub tls: Option<SymbolId>,
    /// What loads DLLs late.
    pub delay_helper: Option<SymbolId>,
    /// `LIBRARY` or `NAME`.
    pub module_name: Option<String>,
    pub base: Option<u64>,
    pub version: Option<(u16, u16)>,
    /// Values of symbols that the linker defines, in the order of their numbers.
    pub internals: Vec<Internal>,
}

impl Program {
    /// The address that the image is made for.
    pub fn base_address(&self, options: &Options, machine: Machine) -> u64 {
        options.loading.base.or(self.base).unwrap_or(facts(machine).bases[usize::from(options.dll)])
    }

    /// What the image calls itself if it is the file `out`.
    pub fn name(&self, out: &Path) -> String {
        match &self.module_name {
            Some(name) => name.clone(),
            None => text::text(out.file_name().unwrap_or_default().as_encoded_bytes()).into_owned(),
        }
    }
}

/// What a symbol of the linker's own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Internal {
    /// The start of the image.
    ImageBase,
    Absolute(u64),
}

/// Symbols that the linker defines if something refers to them and nobody else does. Tables of guards and
/// handlers are not made, so they are empty.
const INTERNALS: [(&str, Internal); 14] = [
    ("__ImageBase", Internal::ImageBase),
    ("__enclave_config", Internal::Absolute(0)),
    ("__guard_eh_cont_count", Internal::Absolute(0)),
    ("__guard_eh_cont_table", Internal::Absolute(0)),
    ("__guard_fids_count", Internal::Absolute(0)),
    ("__guard_fids_table", Internal::Absolute(0)),
    ("__guard_flags", Internal::Absolute(0)),
    ("__guard_iat_count", Internal::Absolute(0)),
    ("__guard_iat_table", Internal::Absolute(0)),
    ("__guard_longjmp_count", Internal::Absolute(0)),
    ("__guard_longjmp_table", Internal::Absolute(0)),
    ("__safe_se_handler_count", Internal::Absolute(0)),
    ("__safe_se_handler_table", Internal::Absolute(0)),
    ("__hybrid_auxiliary_iat", Internal::Absolute(0)),
];

/// Those of GNU linkers. Lists of constructors and of what is changed at start get their places when there
/// are any.
const GNU_INTERNALS: [(&str, Internal); 6] = [
    ("__image_base__", Internal::ImageBase),
    ("_image_base__", Internal::ImageBase),
    ("__CTOR_LIST__", Internal::Absolute(0)),
    ("__DTOR_LIST__", Internal::Absolute(0)),
    ("__RUNTIME_PSEUDO_RELOC_LIST__", Internal::Absolute(0)),
    ("__RUNTIME_PSEUDO_RELOC_LIST_END__", Internal::Absolute(0)),
];

impl<'a> Resolver<'a, '_> {
    /// Asks until nothing changes.
    pub(super) fn ask_program(
        &self,
        machine: Machine,
        wraps: &mut Vec<Wrap>,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) -> Result<(Program, Vec<(SymbolId, SymbolId)>), Diagnostics> {
        let mut program = Program::default();
        if self.options.mingw.on {
            program.internals.extend(GNU_INTERNALS.iter().map(|(_, value)| *value));
            program.internals.extend(self.numbers().map(|(_, number)| Internal::Absolute(number)));
        }
        self.read_def(&mut program, rounds)?;
        program.own_exports = match self.options.def {
            Some(_) => program.own_exports,
            None => self.options.demands.exports.len(),
        };
        for name in std::mem::take(&mut rounds.format.demands.includes) {
            self.refer(&name, flag::REF | flag::ROOT, rounds);
        }
        self.refer_to_globs(rounds);
        if !self.options.delay_loads.is_empty() {
            program.delay_helper = Some(self.refer(facts(machine).delay.helper, flag::REF, rounds));
        }
        self.infer_subsystem(&mut program, rounds);
        self.find_entry(machine, &mut program, rounds);
        let mut alternates = Vec::new();
        let mut exports = 0;
        loop {
            let before = (rounds.format.inputs.files.len(), rounds.names.len(), alternates.len());
            rounds.settle()?;
            self.read_runtime_calls(rounds)?;
            self.refer_to_exports(machine, &mut exports, &mut program, rounds);
            self.refer_to_mangled(&mut program, rounds);
            self.refer_to_optional(&mut program, rounds);
            self.refer_to_wraps(wraps, rounds);
            rounds.settle()?;
            self.refer_to_alternates(&mut alternates, rounds);
            rounds.settle()?;
            self.refer_to_auto_imports(rounds);
            self.refer_to_fixups(machine, &mut alternates, rounds);
            rounds.settle()?;
            let after = (rounds.format.inputs.files.len(), rounds.names.len(), alternates.len());
            if after == before && exports == rounds.format.demands.exports.len() {
                break;
            }
        }
        self.define_internals(machine, &mut program, rounds);
        self.check_definitions(rounds);
        self.export_all(machine, &mut program, rounds);
        self.add_stdcall_aliases(machine, &mut program);
        Ok((program, alternates))
    }

    /// `/includeglob`: what is defined or offered so far.
    fn refer_to_globs(&self, rounds: &mut Rounds<'a, '_, '_, '_>) {
        if self.options.include_globs.is_empty() {
            return;
        }
        let is_wanted = |name: &[u8]| self.options.include_globs.iter().any(|glob| glob.matches(name));
        let all = rounds.names.iter().filter(|(_, entry)| entry.best != u64::MAX && is_wanted(entry.name));
        let mut names: Vec<&[u8]> = all.map(|(_, entry)| entry.name).collect();
        names.sort_unstable();
        for name in names {
            self.refer(&text::text(name), flag::REF | flag::ROOT, rounds);
        }
    }

    /// Reads the module-definition file. What the command line says has the last word.
    fn read_def(
        &self,
        program: &mut Program,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) -> Result<(), Diagnostics> {
        let Some(path) = &self.options.def else { return Ok(()) };
        let shown = text::path(path);
        let bytes = self.store.open(path).map_err(Diagnostic::from)?;
        let bytes = bytes.ok_or_else(|| {
            Diagnostic::error(
                Cause::CannotOpenFile,
                format!("could not open '{shown}': No such file or directory"),
            )
        })?;
        let found = def::parse(&text::text(bytes)).map_err(|e| {
            Diagnostic::error(Cause::ModuleDefinition, format!("{shown}: {e}")).in_file(&shown)
        })?;
        let demands = &mut rounds.format.demands;
        let own = self.options.demands.exports.len();
        program.own_exports = own + found.exports.len();
        demands.exports.splice(own..own, found.exports);
        demands.heap = demands.heap.or(found.heap);
        demands.stack = demands.stack.or(found.stack);
        program.version = found.version;
        program.base = found.base;
        program.module_name = found.name.map(|name| match Path::new(&name).extension() {
            Some(_) => name,
            None => name + if self.options.dll { ".dll" } else { ".exe" },
        });
        Ok(())
    }

    /// Whether something defines the name or offers to, as it is or mangled as a C++ function.
    fn is_there(&self, name: &str, rounds: &Rounds<'a, '_, '_, '_>) -> bool {
        let name = &format!("{}{name}", rounds.format.machine.map_or("", Machine::prefix));
        let there = |id: SymbolId| {
            let entry = rounds.names.get(id);
            entry.best != u64::MAX || entry.flags & flag::WEAK != 0
        };
        rounds.names.find(&text::bytes(name)).is_some_and(there) || self.mangled(name, rounds).is_some()
    }

    /// The function that `name` is the plain name of: one of C++, or on x86 one that is called in another
    /// way.
    fn mangled(&self, name: &str, rounds: &Rounds<'a, '_, '_, '_>) -> Option<String> {
        let x86 = rounds.format.machine == Some(Machine::X86);
        let plain = if x86 { name.strip_prefix('_').unwrap_or(name) } else { name };
        let mut prefixes = vec![format!("?{plain}@@Y")];
        if x86 && !(self.options.mingw.on && self.options.mingw.stdcall_fixup == Some(false)) {
            prefixes.extend([format!("_{plain}@"), format!("@{plain}@"), format!("{plain}@@")]);
        }
        let found = |name: &[u8], best: u64| {
            best != u64::MAX && prefixes.iter().any(|prefix| name.starts_with(&text::bytes(prefix)))
        };
        let all = rounds.names.iter().filter(|(_, entry)| found(entry.name, entry.best));
        // The first of several by name, so that it does not depend on where names are in the table.
        all.map(|(_, entry)| entry.name).min().map(|name| text::text(name).into_owned())
    }

    fn infer_subsystem(&self, program: &mut Program, rounds: &mut Rounds<'a, '_, '_, '_>) {
        program.subsystem_version = rounds.format.demands.subsystem_version;
        if let Some(compiled) = self.compiled {
            program.subsystem = compiled.subsystem;
            return;
        }
        if let Some(subsystem) = rounds.format.demands.subsystem {
            program.subsystem = Some(subsystem);
            return;
        }
        if self.options.loading.driver {
            program.subsystem = Some(Subsystem::Native);
        } else if self.options.dll {
            program.subsystem = Some(Subsystem::Windows);
        } else if !self.options.mingw.on {
            let main = self.is_there("main", rounds) || self.is_there("wmain", rounds);
            let win_main = self.is_there("WinMain", rounds) || self.is_there("wWinMain", rounds);
            if main && win_main {
                self.sink.warn(Cause::EntryGuess, "found main and WinMain; defaulting to /subsystem:console");
            }
            program.subsystem = match (main, win_main) {
                (true, _) => Some(Subsystem::Console),
                (false, true) => Some(Subsystem::Windows),
                (false, false) => None,
            };
        }
        if program.subsystem.is_none() && self.options.mingw.on {
            program.subsystem = Some(Subsystem::Console);
        }
    }

    fn find_entry(&self, machine: Machine, program: &mut Program, rounds: &mut Rounds<'a, '_, '_, '_>) {
        if let Some(compiled) = self.compiled {
            program.entry = compiled.entry.map(|name| self.refer(&text::text(name), flag::ROOT, rounds));
            return;
        }
        // Which start-up code it would be follows from the subsystem.
        let lacks_subsystem = program.subsystem.is_none() && rounds.format.demands.entry.is_none();
        if lacks_subsystem || self.options.no_entry && rounds.format.demands.entry.is_none() {
            return;
        }
        let prefix = machine.prefix();
        let name = match &rounds.format.demands.entry {
            Some(name) => format!("{prefix}{name}"),
            None if self.options.dll && self.options.mingw.on && machine == Machine::X86 => {
                "_DllMainCRTStartup@12".to_owned()
            }
            None if self.options.dll && self.options.mingw.on => "DllMainCRTStartup".to_owned(),
            None if self.options.dll && machine == Machine::X86 => "__DllMainCRTStartup@12".to_owned(),
            None if self.options.dll => "_DllMainCRTStartup".to_owned(),
            None if self.options.loading.driver_wdm => format!("{prefix}_NtProcessStartup"),
            None => format!("{prefix}{}", self.start_up(program, rounds)),
        };
        if self.options.reports.verbose.all && rounds.format.demands.entry.is_none() {
            self.sink.push(Diagnostic::said(format!("Entry name inferred: {name}")));
            self.sink.settle();
        }
        program.entry = Some(self.refer(&name, flag::ROOT, rounds));
    }

    /// The start-up function for the main function that there is.
    fn start_up(&self, program: &Program, rounds: &Rounds<'a, '_, '_, '_>) -> &'static str {
        let (wide, narrow, wide_start, narrow_start) = match program.subsystem {
            Some(Subsystem::Windows) => ("wWinMain", "WinMain", "wWinMainCRTStartup", "WinMainCRTStartup"),
            _ => ("wmain", "main", "wmainCRTStartup", "mainCRTStartup"),
        };
        if self.options.mingw.on {
            return narrow_start;
        }
        if !self.is_there(wide, rounds) {
            return narrow_start;
        }
        if !self.is_there(narrow, rounds) {
            return wide_start;
        }
        self.sink.warn(Cause::EntryGuess, format!("found both {wide} and {narrow}; using latter"));
        narrow_start
    }

    /// Refers to symbols that are exported and were not known last time.
    fn refer_to_exports(
        &self,
        machine: Machine,
        known: &mut usize,
        program: &mut Program,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) {
        let new: Vec<Export> = rounds.format.demands.exports[*known..].to_vec();
        for (i, export) in (*known..).zip(new) {
            let by_directive = i >= program.own_exports;
            let (mut exported, target) = Exported::new(export, machine, &self.options.mingw, by_directive);
            if exported.export.forward.is_none() {
                exported.symbol = self.refer(&target, flag::ROOT, rounds);
            }
            program.exports.push(exported);
        }
        *known = rounds.format.demands.exports.len();
    }

    /// Exports and the entry point may be C++ functions that are given by their plain names.
    fn refer_to_mangled(&self, program: &mut Program, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let exports = program.exports.iter_mut().map(|e| (&mut e.symbol, Some(&mut e.import_symbol)));
        let mut symbols: Vec<_> = exports.collect();
        symbols.extend(program.entry.as_mut().map(|entry| (entry, None)));
        let mut said = HashSet::new();
        for (symbol, import_symbol) in symbols {
            if !self.lacks_definition(*symbol, rounds) {
                continue;
            }
            let plain = *symbol;
            let name = text::text(rounds.names.get(*symbol).name).into_owned();
            if let Some(mangled) = self.mangled(&name, rounds) {
                // The plain name is not asked for any more, unless an object does.
                rounds.names.get_mut(*symbol).flags &= !flag::ROOT;
                *symbol = self.refer(&mangled, flag::ROOT, rounds);
                if self.options.mingw.on && !mangled.starts_with('?') && said.insert(plain) {
                    self.say_fixup(&name, &mangled);
                }
                import_symbol.into_iter().for_each(|import| *import = renamed(&mangled, &name, import));
            }
        }
    }

    /// Whether a name may be the plain one of a C++ function: nobody defines it.
    fn lacks_definition(&self, id: SymbolId, rounds: &Rounds<'a, '_, '_, '_>) -> bool {
        if id.is_none() || is_defined(&rounds.names, id) {
            return false;
        }
        let entry = rounds.names.get(id);
        let is_weak = entry.flags & flag::WEAK != 0 && Self::has_fallback(id, rounds);
        !is_weak && !entry.name.starts_with(b"?")
    }

    /// Whether something stands in for a weak external.
    fn has_fallback(id: SymbolId, rounds: &Rounds<'_, '_, '_, '_>) -> bool {
        let stands_in = |object: &Object, index: u32| {
            let symbol = object.coff.symbols.get(index).filter(|_| object.global(index) == Some(id))?;
            let (target, _) = object.coff.symbols.weak_external(index, &symbol)?;
            Some(object.global(target).is_none_or(|name| is_defined(&rounds.names, name)))
        };
        let mut all = objects(&rounds.files);
        all.any(|object| object.coff.symbols.iter().any(|(index, _)| stands_in(object, index) == Some(true)))
    }

    /// References that need not be met: what the loader looks for, and `/includeoptional`.
    fn refer_to_optional(&self, program: &mut Program, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let prefix = rounds.format.machine.map_or("", Machine::prefix);
        let mut find = |name: &str| {
            let name = &format!("{prefix}{name}");
            let id = rounds.names.find(&text::bytes(name))?;
            (rounds.names.get(id).best != u64::MAX).then_some(())?;
            Some(self.refer(name, flag::ROOT, rounds))
        };
        program.load_config = find("_load_config_used").or(program.load_config);
        program.tls = find("_tls_used").or(program.tls);
        let optional = std::mem::take(&mut rounds.format.demands.optional_includes);
        for name in &optional {
            let offered =
                rounds.names.find(&text::bytes(name)).is_some_and(|id| rounds.names.get(id).best != u64::MAX);
            if offered {
                self.refer(name, flag::ROOT, rounds);
            }
        }
        rounds.format.demands.optional_includes = optional;
    }

    /// `/alternatename`: names that stand for others which somebody refers to and nobody defines.
    fn refer_to_alternates(
        &self,
        alternates: &mut Vec<(SymbolId, SymbolId)>,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) {
        for (from, to) in rounds.format.demands.alternate_names.clone() {
            let Some(from) = rounds.names.find(&text::bytes(&from)) else { continue };
            let entry = rounds.names.get(from);
            let referred = entry.flags & (flag::REF | flag::ROOT | flag::WEAK) != 0;
            if !referred || entry.best != u64::MAX || alternates.iter().any(|(known, _)| *known == from) {
                continue;
            }
            let to = self.refer(&to, flag::REF, rounds);
            alternates.push((from, to));
        }
    }

    /// Defines what GNU linkers do before libraries are asked: theirs have definitions of the same for other
    /// linkers.
    pub(super) fn define_lists(&self, rounds: &mut Rounds<'a, '_, '_, '_>) {
        if !self.options.mingw.on {
            return;
        }
        let prefix = rounds.format.machine.map_or("", Machine::prefix);
        let lists = GNU_INTERNALS.iter().map(|(name, _)| format!("{prefix}{name}"));
        let all = lists.chain(self.numbers().map(|(name, _)| name.to_owned()));
        for (number, name) in (0..).zip(all) {
            let id = self.refer(&name, 0, rounds);
            let entry = rounds.names.get_mut(id);
            entry.best = entry.best.min(pack(Rank::Internal, FileId(0), number));
        }
    }

    fn define_internals(&self, machine: Machine, program: &mut Program, rounds: &mut Rounds<'a, '_, '_, '_>) {
        for (name, value) in INTERNALS {
            let name = format!("{}{name}", machine.prefix());
            if let Some(id) = rounds.names.find(&text::bytes(&name))
                && !is_defined(&rounds.names, id)
            {
                let number = program.internals.len() as u32;
                rounds.names.get_mut(id).best = pack(Rank::Internal, FileId(0), number);
                program.internals.push(value);
            }
        }
    }
}
