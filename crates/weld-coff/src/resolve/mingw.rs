//! What GNU linkers do about names besides: data of DLLs that is used as if it were the program's own,
//! functions of x86 whose names say how they are called or do not, and exports of everything.

use std::collections::{HashMap, HashSet};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::Resolver;
use super::entry::{Exported, Program};
use super::file::{object, objects};
use super::read::Rounds;
use crate::coff::machine::Machine;
use crate::coff::object::{ABSOLUTE, Symbol, UNDEFINED};
use crate::coff::pe;
use crate::ids::SymbolId;
use crate::input::load::Input;
use crate::input::object::Object;
use crate::options::{Definition, Export, Mingw};
use crate::resolve::duplicates;
use crate::symbol_names::{Rank, flag, is_defined};

/// Start-up code, of which a DLL exports nothing: objects, and libraries with what is after a dash left out.
const START_FILES: [&str; 13] = [
    "crt0",
    "crt1",
    "crt1u",
    "crt2",
    "crt2u",
    "dllcrt1",
    "dllcrt2",
    "gcrt0",
    "gcrt1",
    "gcrt2",
    "crtbegin",
    "crtend",
    "crtfastmath",
];
const RUN_TIME_LIBRARIES: [&str; 26] = [
    "libgcc",
    "libgcc_s",
    "libgcc_eh",
    "libstdc++",
    "libmingw32",
    "libmingwex",
    "libmingwthrd",
    "libmsvcrt",
    "libucrt",
    "libucrtbase",
    "libg2c",
    "libsupc++",
    "libobjc",
    "libgcj",
    "libclang_rt.builtins",
    "libclang_rt.profile",
    "libc++",
    "libc++abi",
    "libunwind",
    "libFortranRuntime",
    "libFortranDecimal",
    "libwinpthread",
    "libpthread",
    "libssp",
    "libflang_rt.runtime",
    "libclang_rt.cfi",
];

/// Names that linkers, import libraries and start-up code have for themselves.
const OWN_PREFIXES: [&str; 10] = [
    "__imp_",
    "__nm_",
    "_head_",
    "__IMPORT_DESCRIPTOR_",
    "__head_",
    "__rtti_",
    "__builtin_",
    "_fmode",
    "\x7f",
    ".",
];
const OWN_SUFFIXES: [&str; 2] = ["_iname", "_NULL_THUNK_DATA"];
const OWN_NAMES: [&str; 16] = [
    "__NULL_IMPORT_DESCRIPTOR",
    "_pei386_runtime_relocator",
    "do_pseudo_reloc",
    "impure_ptr",
    "_impure_ptr",
    "environ",
    "__dso_handle",
    "DllMain",
    "DllMainCRTStartup",
    "_DllMainCRTStartup",
    "DllEntryPoint",
    "_load_config_used",
    "__xl_f",
    "mainCRTStartup",
    "WinMainCRTStartup",
    "_tls_used",
];

impl<'a> Resolver<'a, '_> {
    /// Asks DLLs for names that somebody refers to, that nobody defines, and that the DLLs have by way of
    /// their import tables.
    pub(super) fn refer_to_auto_imports(&self, rounds: &mut Rounds<'a, '_, '_, '_>) {
        if !self.options.mingw.auto_import() {
            return;
        }
        let missing: Vec<&[u8]> = missing(rounds).map(|(_, name)| name).collect();
        for name in missing {
            let import = [b"__imp_", name].concat();
            let offered = rounds.names.find(&import).filter(|id| rounds.names.get(*id).best != u64::MAX);
            if offered.is_some() {
                self.refer(&text::text(&import), flag::REF, rounds);
            }
        }
    }

    /// Functions of x86 that are there with another notion of how they are called: `_f` for `_f@8`, or the
    /// other way round; and `_f` for `f`.
    pub(super) fn refer_to_fixups(
        &self,
        machine: Machine,
        alternates: &mut Vec<(SymbolId, SymbolId)>,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) {
        if machine != Machine::X86 || !self.options.mingw.stdcall_fixup() {
            return;
        }
        let known = |id: SymbolId| alternates.iter().any(|(from, _)| *from == id);
        let missing: Vec<(SymbolId, &[u8])> = missing(rounds).filter(|(id, _)| !known(*id)).collect();
        if missing.is_empty() {
            return;
        }
        let mut decorated: HashMap<&[u8], &[u8]> = HashMap::new();
        for (_, entry) in rounds.names.iter().filter(|(_, entry)| entry.best != u64::MAX) {
            if let Some(plain) = undecorated(entry.name) {
                let first = decorated.entry(plain).or_insert(entry.name);
                *first = entry.name.min(first);
            }
        }
        for (id, name) in missing {
            let target = match name.strip_prefix(b"_") {
                Some(plain) if undecorated(name).is_none() => {
                    decorated.get(plain).and_then(|name| rounds.names.find(name))
                }
                _ => {
                    let plain = [b"_", undecorated(name).unwrap_or(name)].concat();
                    rounds.names.find(&plain).filter(|id| rounds.names.get(*id).best != u64::MAX)
                }
            };
            let Some(target) = target else { continue };
            let found = text::text(rounds.names.get(target).name).into_owned();
            let target = self.refer(&found, flag::REF, rounds);
            alternates.push((id, target));
            self.say_fixup(&text::text(name), &found);
        }
    }

    /// Says that a function of x86 is taken for one that is called in another way, unless that was asked for.
    pub(super) fn say_fixup(&self, name: &str, found: &str) {
        if self.options.mingw.stdcall_fixup.is_none() {
            let warning =
                Diagnostic::warning(Cause::StdcallFixup, format!("Resolving {name} by linking to {found}"));
            self.sink.push(
                warning.note("--enable-stdcall-fixup does it in silence, --disable-stdcall-fixup not at all"),
            );
        }
    }

    /// Exports all that objects define, but for what is excluded.
    pub(super) fn export_all(
        &self,
        machine: Machine,
        program: &mut Program,
        rounds: &mut Rounds<'a, '_, '_, '_>,
    ) {
        let mingw = &self.options.mingw;
        let wanted = mingw.export_all || self.options.dll && program.exports.is_empty();
        if !mingw.on || mingw.exclude_all || !wanted {
            return;
        }
        let mut excluded: Vec<String> = mingw.excluded.clone();
        excluded.append(&mut rounds.format.demands.excluded_symbols.clone());
        let mut found: Vec<(&[u8], SymbolId, bool)> = Vec::new();
        let mut files: HashMap<u32, bool> = HashMap::new();
        for (id, entry) in rounds.names.iter() {
            if !matches!(entry.rank(), Rank::Strong | Rank::Common) || entry.best == u64::MAX {
                continue;
            }
            let file = entry.file();
            let plain = entry.name.strip_prefix(machine.prefix().as_bytes()).unwrap_or(entry.name);
            let is_open = || {
                let name = text::text(plain);
                !is_own(&name) && !excluded.iter().any(|other| other.as_bytes() == plain)
            };
            let is_imported = || {
                let import = [b"__imp_", entry.name].concat();
                rounds.names.find(&import).is_some_and(|id| is_defined(&rounds.names, id))
            };
            if *files.entry(file.0).or_insert_with(|| self.is_own_file(file.0, rounds))
                || !is_open()
                || self.compiled.is_some_and(|compiled| compiled.hides(file, entry.name))
                || is_imported()
            {
                continue;
            }
            let Some(object) = object(&rounds.files, file) else { continue };
            let Some(symbol) = object.coff.symbols.get(entry.sym()) else { continue };
            let header = u32::try_from(symbol.section).ok().and_then(|number| object.coff.section(number));
            let flags = header.map_or(0, |header| header.characteristics.get(::object::LittleEndian).0);
            let is_data = flags & pe::IMAGE_SCN_MEM_EXECUTE.0 == 0;
            let is_discarded = flags & pe::IMAGE_SCN_LNK_REMOVE.0 != 0 || symbol.section == ABSOLUTE;
            let name = header.and_then(|header| object.coff.section_name(header).ok()).unwrap_or_default();
            if is_discarded || name.starts_with(b".idata") || name.starts_with(b".debug") {
                continue;
            }
            found.push((entry.name, id, is_data));
        }
        found.sort_unstable();
        // What is exported by another name has its own, too.
        let plain = program.exports.iter().filter(|export| export.export.internal.is_none());
        let known: HashSet<SymbolId> = plain.map(|export| export.symbol).collect();
        let taken: HashSet<String> = program.exports.iter().map(|export| export.name.clone()).collect();
        let is_new = |(name, id, _): &(&[u8], SymbolId, bool)| {
            !known.contains(id) && !taken.contains(exported_name(&text::text(name), machine, mingw))
        };
        for (name, symbol, data) in found.into_iter().filter(is_new) {
            rounds.names.get_mut(symbol).flags |= flag::ROOT;
            let import_symbol = text::text(name).into_owned();
            let name = exported_name(&import_symbol, machine, mingw).to_owned();
            let export = Export { name: name.clone(), data, ..Export::default() };
            let (by_directive, is_automatic) = (true, true);
            program.exports.push(Exported {
                export,
                name,
                import_symbol,
                by_directive,
                is_automatic,
                symbol,
            });
        }
    }

    /// `--defsym`: names that are numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.options.mingw.definitions.iter().filter_map(|(name, value)| match value {
            Definition::Number(number) => Some((&name[..], *number)),
            Definition::Symbol(_) => None,
        })
    }

    /// `--defsym`: nobody else may define the names.
    pub(super) fn check_definitions(&self, rounds: &Rounds<'a, '_, '_, '_>) {
        for (name, _) in &self.options.mingw.definitions {
            let Some(id) = rounds.names.find(&text::bytes(name)) else { continue };
            let is_definition = |object: &Object, index: u32, symbol: &Symbol| {
                let is_it = object.global(index) == Some(id);
                is_it && (symbol.section != UNDEFINED || symbol.is_common())
            };
            let defines = |object: &&Object| {
                object.coff.symbols.iter().any(|(index, symbol)| is_definition(object, index, &symbol))
            };
            for object in objects(&rounds.files).filter(defines) {
                let problem = duplicates::diagnostic(
                    name,
                    &[vec!["defined by --defsym".to_owned()], vec![format!("defined at {}", object.name)]],
                    self.options.force.multiple,
                );
                self.sink.push(problem.of(object.file, 0));
            }
        }
    }

    /// `--add-stdcall-alias`: `f@8` is exported as `f`, too.
    pub(super) fn add_stdcall_aliases(&self, machine: Machine, program: &mut Program) {
        if !self.options.mingw.stdcall_alias || machine != Machine::X86 {
            return;
        }
        let mut known: HashSet<String> = program.exports.iter().map(|export| export.name.clone()).collect();
        let mut aliases = Vec::new();
        for export in program.exports.iter().filter(|export| !export.export.noname) {
            let Some((plain, size)) = export.name.rsplit_once('@') else { continue };
            let plain = plain.trim_start_matches('@');
            let is_size = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
            if plain.is_empty() || plain.starts_with('?') || !is_size || !known.insert(plain.to_owned()) {
                continue;
            }
            aliases.push(Exported {
                export: Export { name: plain.to_owned(), ordinal: None, ..export.export.clone() },
                name: plain.to_owned(),
                import_symbol: format!("{}{plain}", machine.prefix()),
                ..export.clone()
            });
        }
        program.exports.append(&mut aliases);
    }

    /// Whether a file is of the compiler's own, or one whose symbols are not to be exported.
    fn is_own_file(&self, file: u32, rounds: &Rounds<'a, '_, '_, '_>) -> bool {
        let name = rounds.format.inputs.name(crate::ids::FileId(file));
        let base = name.path.rsplit('/').next().unwrap_or(&name.path);
        let is_member = matches!(rounds.format.inputs.files[file as usize], Input::Member { .. })
            || name.member.is_some();
        let stem = base.split_once('.').map_or(base, |(stem, _)| stem);
        if !is_member {
            return START_FILES.contains(&stem);
        }
        let libs = &self.options.mingw.excluded_libs;
        let whole = base.strip_suffix(".a").unwrap_or(base);
        let whole = whole.strip_suffix(".dll").unwrap_or(whole);
        // The machine may be after it: `libclang_rt.builtins-x86_64`.
        let family = whole.split('-').next().unwrap_or(whole);
        libs.iter().any(|lib| lib == "ALL" || lib == base || lib == whole || lib == stem)
            || RUN_TIME_LIBRARIES.contains(&whole)
            || RUN_TIME_LIBRARIES.contains(&family)
    }
}

/// Under which name a symbol is exported.
pub fn exported_name<'n>(symbol: &'n str, machine: Machine, mingw: &Mingw) -> &'n str {
    if machine != Machine::X86 {
        return symbol;
    }
    let is_cpp = symbol.starts_with('?');
    let plain = match symbol.strip_prefix('_') {
        Some(plain) if mingw.on || !symbol.contains('@') => plain,
        _ => symbol,
    };
    let killed = plain.rfind('@').filter(|at| mingw.kill_at && !is_cpp && *at > 0);
    match killed {
        Some(at) if plain[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) => {
            let plain = &plain[..at];
            plain.strip_prefix('@').unwrap_or(plain)
        }
        _ => plain,
    }
}

fn is_own(name: &str) -> bool {
    let stdcall = name.split('@').next().unwrap_or(name);
    OWN_NAMES.contains(&stdcall)
        || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || OWN_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// `f` in `_f@8`, `@f@8` and `f@@8`.
fn undecorated(name: &[u8]) -> Option<&[u8]> {
    let at = name.iter().rposition(|&byte| byte == b'@')?;
    let size = &name[at + 1..];
    let plain = match name[..at].strip_suffix(b"@") {
        Some(plain) if !name.starts_with(b"?") => plain,
        _ => name[..at].strip_prefix(b"_").or_else(|| name[..at].strip_prefix(b"@"))?,
    };
    (!plain.is_empty() && !size.is_empty() && size.iter().all(u8::is_ascii_digit)).then_some(plain)
}

/// Names that somebody refers to, and nobody defines, offers, or can do without.
fn missing<'r, 'a>(rounds: &'r Rounds<'a, '_, '_, '_>) -> impl Iterator<Item = (SymbolId, &'a [u8])> + 'r {
    let is_missing = |flags: u32| flags & (flag::REF | flag::ROOT) != 0 && flags & flag::WEAK == 0;
    let all = rounds.names.iter();
    all.filter(move |(_, entry)| entry.best == u64::MAX && is_missing(entry.flags))
        .map(|(id, entry)| (id, entry.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_call() {
        assert_eq!(undecorated(b"_f@8"), Some(&b"f"[..]));
        assert_eq!(undecorated(b"@f@16"), Some(&b"f"[..]));
        assert_eq!(undecorated(b"f@@16"), Some(&b"f"[..]));
        for name in [&b"_f"[..], b"_f@", b"_f@x", b"f@8", b"_@8", b"?f@@YAXXZ"] {
            assert_eq!(undecorated(name), None);
        }
    }

    #[test]
    fn names_of_the_linker_and_of_start_up_code() {
        for name in [
            "__imp_f",
            "_head_libx_a",
            "libx_a_iname",
            "DllMain@12",
            "DllMain",
            ".refptr.x",
            "_pei386_runtime_relocator",
        ] {
            assert!(is_own(name), "{name}");
        }
        for name in ["f", "main", "_ZTI1A", "imp_f"] {
            assert!(!is_own(name), "{name}");
        }
    }
}
