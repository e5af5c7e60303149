//! What kind of program it is: its entry point, its subsystem, what it exports, what stands for names nobody defines.
//!
//! Each answer may ask for symbols, and so for members of libraries, which may change other answers; so all is asked again
//! until nothing changes.

use std::path::Path;

use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::text;

use super::names::{Rank, flag};
use super::{Resolver, Rounds};
use crate::coff::def;
use crate::coff::machine::Machine;
use crate::ids::{FileId, SymbolId};
use crate::options::{Export, Subsystem};

/// A symbol that is exported.
#[derive(Clone, Debug)]
pub struct Exported {
    pub export: Export,
    /// [`SymbolId::NONE`] for what is in another DLL.
    pub symbol: SymbolId,
}

/// The answers.
#[derive(Debug, Default)]
pub struct Program {
    /// [`SymbolId::NONE`] if there is no entry point.
    pub entry: Option<SymbolId>,
    pub subsystem: Option<Subsystem>,
    pub subsystem_version: Option<(u16, u16)>,
    pub exports: Vec<Exported>,
    pub load_config: Option<SymbolId>,
    pub tls: Option<SymbolId>,
    /// `LIBRARY` or `NAME`.
    pub module_name: Option<String>,
    pub base: Option<u64>,
    pub version: Option<(u16, u16)>,
    /// Values of symbols that the linker defines, in the order of their numbers.
    pub internals: Vec<Internal>,
}

/// What a symbol of the linker's own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Internal {
    /// The start of the image.
    ImageBase,
    Absolute(u64),
}

/// Symbols that the linker defines if something refers to them and nobody else does. Tables of guards and handlers
/// are not made, so they are empty.
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

impl<'a> Resolver<'a, '_> {
    /// Asks until nothing changes.
    pub(super) fn ask_program(
        &self,
        machine: Machine,
        rounds: &mut Rounds<'a, '_>,
    ) -> Result<(Program, Vec<(SymbolId, SymbolId)>), Diagnostics> {
        let mut program = Program::default();
        self.read_def(&mut program, rounds)?;
        for name in std::mem::take(&mut rounds.demands.includes) {
            self.refer(&name, flag::REF | flag::ROOT, rounds);
        }
        self.infer_subsystem(&mut program, rounds);
        self.find_entry(machine, &mut program, rounds)?;
        let mut alternates = Vec::new();
        let mut exports = 0;
        loop {
            let before = (rounds.inputs.files.len(), rounds.names.len(), alternates.len());
            self.settle(rounds)?;
            self.refer_to_exports(&mut exports, &mut program, rounds);
            self.refer_to_mangled(&mut program, rounds);
            self.refer_to_optional(&mut program, rounds);
            self.settle(rounds)?;
            self.refer_to_alternates(&mut alternates, rounds);
            self.settle(rounds)?;
            let after = (rounds.inputs.files.len(), rounds.names.len(), alternates.len());
            if after == before && exports == rounds.demands.exports.len() {
                break;
            }
        }
        self.define_internals(machine, &mut program, rounds);
        Ok((program, alternates))
    }

    /// Reads the module-definition file. What the command line says has the last word.
    fn read_def(&self, program: &mut Program, rounds: &mut Rounds<'a, '_>) -> Result<(), Diagnostics> {
        let Some(path) = &self.options.def else { return Ok(()) };
        let shown = text::path(path);
        let bytes = self.store.open(path).map_err(Diagnostic::from)?;
        let bytes = bytes.ok_or_else(|| {
            Diagnostic::error(format!("could not open '{shown}': No such file or directory"))
        })?;
        let found = def::parse(&text::text(bytes)).map_err(|e| Diagnostic::error(format!("{shown}: {e}")))?;
        let demands = &mut rounds.demands;
        demands.exports.extend(found.exports);
        demands.heap = demands.heap.or(found.heap);
        demands.stack = demands.stack.or(found.stack);
        program.version = found.version;
        program.base = found.base;
        program.module_name = found.name.map(|name| match Path::new(&name).extension() {
            Some(_) => name,
            None => name + if found.is_library { ".dll" } else { ".exe" },
        });
        Ok(())
    }

    /// Whether something defines the name or offers to, as it is or mangled as a C++ function.
    fn is_there(&self, name: &str, rounds: &Rounds<'a, '_>) -> bool {
        let there = |id: SymbolId| rounds.names.get(id).best != u64::MAX;
        rounds.names.find(name.as_bytes()).is_some_and(there) || self.mangled(name, rounds).is_some()
    }

    /// The C++ function that `name` is the plain name of.
    fn mangled(&self, name: &str, rounds: &Rounds<'a, '_>) -> Option<String> {
        let prefix = format!("?{name}@@Y");
        let found = |name: &[u8], best: u64| best != u64::MAX && name.starts_with(prefix.as_bytes());
        let all = rounds.names.iter().filter(|(_, entry)| found(entry.name, entry.best));
        // The first of several by name, so that it does not depend on where names are in the table.
        all.map(|(_, entry)| entry.name).min().map(|name| text::text(name).into_owned())
    }

    fn infer_subsystem(&self, program: &mut Program, rounds: &mut Rounds<'a, '_>) {
        if let Some((subsystem, version)) = rounds.demands.subsystem {
            (program.subsystem, program.subsystem_version) = (Some(subsystem), version);
            return;
        }
        if self.options.driver {
            program.subsystem = Some(Subsystem::Native);
        } else if self.options.dll {
            program.subsystem = Some(Subsystem::Windows);
        } else {
            let main = self.is_there("main", rounds) || self.is_there("wmain", rounds);
            let win_main = self.is_there("WinMain", rounds) || self.is_there("wWinMain", rounds);
            if main && win_main {
                self.sink.warn(
                    "found both main and WinMain; the subsystem is console. Use /subsystem to say which",
                );
            }
            program.subsystem = match (main, win_main) {
                (true, _) => Some(Subsystem::Console),
                (false, true) => Some(Subsystem::Windows),
                (false, false) => None,
            };
        }
        if program.subsystem.is_none() {
            self.sink.error("subsystem must be defined: use /subsystem");
        }
    }

    fn find_entry(
        &self,
        machine: Machine,
        program: &mut Program,
        rounds: &mut Rounds<'a, '_>,
    ) -> Result<(), Diagnostics> {
        self.sink.end_phase()?;
        if self.options.no_entry && rounds.demands.entry.is_none() {
            return Ok(());
        }
        let prefix = machine.prefix();
        let name = match &rounds.demands.entry {
            Some(name) => format!("{prefix}{name}"),
            None if self.options.dll && machine == Machine::X86 => "__DllMainCRTStartup@12".to_owned(),
            None if self.options.dll => "_DllMainCRTStartup".to_owned(),
            None if self.options.driver_wdm => format!("{prefix}NtProcessStartup"),
            None => format!("{prefix}{}", self.start_up(program, rounds)),
        };
        program.entry = Some(self.refer(&name, flag::REF | flag::ROOT, rounds));
        Ok(())
    }

    /// The start-up function for the main function that there is.
    fn start_up(&self, program: &Program, rounds: &Rounds<'a, '_>) -> &'static str {
        let (wide, narrow, wide_start, narrow_start) = match program.subsystem {
            Some(Subsystem::Windows) => ("wWinMain", "WinMain", "wWinMainCRTStartup", "WinMainCRTStartup"),
            _ => ("wmain", "main", "wmainCRTStartup", "mainCRTStartup"),
        };
        if !self.is_there(wide, rounds) {
            return narrow_start;
        }
        if !self.is_there(narrow, rounds) {
            return wide_start;
        }
        self.sink.warn(format!("found both {wide} and {narrow}; using latter"));
        narrow_start
    }

    /// Refers to symbols that are exported and were not known last time.
    fn refer_to_exports(&self, known: &mut usize, program: &mut Program, rounds: &mut Rounds<'a, '_>) {
        let new: Vec<Export> = rounds.demands.exports[*known..].to_vec();
        for export in new {
            let symbol = match export.forward {
                Some(_) => SymbolId::NONE,
                None => {
                    let name = export.internal.as_ref().unwrap_or(&export.name);
                    self.refer(name, flag::REF | flag::ROOT, rounds)
                }
            };
            program.exports.push(Exported { export, symbol });
        }
        *known = rounds.demands.exports.len();
    }

    /// Exports and the entry point may be C++ functions that are given by their plain names.
    fn refer_to_mangled(&self, program: &mut Program, rounds: &mut Rounds<'a, '_>) {
        let missing = |id: SymbolId, rounds: &Rounds| {
            id.is_some() && !rounds.names.is_defined(id) && !rounds.names.get(id).name.starts_with(b"?")
        };
        let mut symbols: Vec<&mut SymbolId> = program.exports.iter_mut().map(|e| &mut e.symbol).collect();
        symbols.extend(&mut program.entry);
        for symbol in symbols {
            if !missing(*symbol, rounds) {
                continue;
            }
            let name = text::text(rounds.names.get(*symbol).name).into_owned();
            if let Some(mangled) = self.mangled(&name, rounds) {
                let entry = rounds.names.get_mut(*symbol);
                // Nobody refers to the plain name then, as far as this goes.
                entry.flags &= !flag::ROOT;
                entry.flags |= flag::OPTIONAL;
                *symbol = self.refer(&mangled, flag::REF | flag::ROOT, rounds);
            }
        }
    }

    /// References that need not be met: what the loader looks for, and `/includeoptional`.
    fn refer_to_optional(&self, program: &mut Program, rounds: &mut Rounds<'a, '_>) {
        let mut find = |name: &str| {
            let id = rounds.names.find(name.as_bytes())?;
            (rounds.names.get(id).best != u64::MAX).then_some(())?;
            Some(self.refer(name, flag::REF | flag::ROOT, rounds))
        };
        program.load_config = find("_load_config_used").or(program.load_config);
        program.tls = find("_tls_used").or(program.tls);
        let optional = std::mem::take(&mut rounds.demands.optional_includes);
        for name in &optional {
            let offered =
                rounds.names.find(name.as_bytes()).is_some_and(|id| rounds.names.get(id).best != u64::MAX);
            if offered {
                self.refer(name, flag::REF | flag::ROOT, rounds);
            }
        }
        rounds.demands.optional_includes = optional;
    }

    /// `/alternatename`: names that stand for others which somebody refers to and nobody defines.
    fn refer_to_alternates(&self, alternates: &mut Vec<(SymbolId, SymbolId)>, rounds: &mut Rounds<'a, '_>) {
        for (from, to) in rounds.demands.alternate_names.clone() {
            let Some(from) = rounds.names.find(from.as_bytes()) else { continue };
            let entry = rounds.names.get(from);
            let referred = entry.flags & (flag::REF | flag::ROOT | flag::WEAK) != 0;
            if !referred || entry.best != u64::MAX || alternates.iter().any(|(known, _)| *known == from) {
                continue;
            }
            let to = self.refer(&to, flag::REF, rounds);
            alternates.push((from, to));
        }
    }

    fn define_internals(&self, machine: Machine, program: &mut Program, rounds: &mut Rounds<'a, '_>) {
        for (name, value) in INTERNALS {
            let name = format!("{}{name}", machine.prefix());
            if let Some(id) = rounds.names.find(name.as_bytes())
                && !rounds.names.is_defined(id)
            {
                let number = program.internals.len() as u32;
                rounds.names.get_mut(id).best = super::names::pack(Rank::Internal, FileId(0), number);
                program.internals.push(value);
            }
        }
    }
}
