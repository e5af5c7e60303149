//! Which symbols other modules can see, under what version, and which they may replace.
//!
//! Decided for all names before the relocation scan, because the scan asks "may this be defined
//! elsewhere at run time?" for every relocation.

use std::collections::HashMap;
use std::sync::Mutex;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::{par, trace};

use super::version_scripts::VersionDef;
use super::{Symbols, symbol_flags};
use crate::elf::*;
use crate::ids::*;
use crate::mode::Mode;
use crate::options::{Bsymbolic, Options};
use crate::resolve::Resolved;
use crate::symbol_names::symver::{self, Spelled};
use crate::symbol_names::{Entry, Rank, flag};

/// Versions of the symbols that the output defines.
pub struct Exports<'a> {
    /// Versions that the output defines; the first has index 2.
    pub definitions: Vec<VersionDef<'a>>,
    /// Version index of each symbol, with the hidden bit; empty if all are global.
    versions: Vec<u16>,
}

impl Exports<'_> {
    pub fn version(&self, id: SymbolId) -> u16 {
        self.versions.get(id.index()).copied().unwrap_or(VER_NDX_GLOBAL)
    }

    /// Keeps plain names to the output where a spelled one has the same version, and those of what has a
    /// name with a version if they have none, as GNU ld does. What referred to such a name refers to the
    /// spelled one then: that is what others see, may replace and copy.
    fn drop_shadowed(&self, resolved: &Resolved, symbols: &Symbols, parallel: bool) {
        let mut renamed = HashMap::new();
        for shadowed in &resolved.shadowed {
            let index = index_of(&self.definitions, shadowed.version);
            let given = self.version(shadowed.id);
            let symbol = &symbols[shadowed.id];
            let unversioned = given == VER_NDX_GLOBAL && shadowed.is_same;
            if symbol.has(symbol_flags::EXPORTED) && (unversioned || Some(given) == index) {
                symbol.remove(symbol_flags::EXPORTED | symbol_flags::PREEMPTIBLE);
                symbol.add(symbol_flags::LOCALIZED);
                if shadowed.is_same && symbols[shadowed.by].has(symbol_flags::EXPORTED) {
                    renamed.insert(shadowed.id, shadowed.by);
                }
            }
        }
        if !renamed.is_empty() {
            resolved.redirect(&renamed, parallel);
        }
    }
}

/// The index of a version that the output defines.
pub fn index_of(definitions: &[VersionDef], version: &[u8]) -> Option<u16> {
    definitions.iter().position(|d| d.name == version).map(|i| i as u16 + 2)
}

/// A question about a name.
pub type Ask<'a, T> = Box<dyn Fn(&[u8]) -> T + Sync + 'a>;

/// A question about a name that spells its version.
pub type AskOfVersion<'a> = Box<dyn Fn(&Spelled) -> bool + Sync + 'a>;

/// What scripts and lists say about a name.
pub struct Rules<'a> {
    pub definitions: Vec<VersionDef<'a>>,
    /// Version index for a name: `VER_NDX_LOCAL` hides it; `None`: nothing is said.
    pub version_of: Ask<'a, Option<u16>>,
    /// Whether anything is said of any name.
    pub has_versions: bool,
    /// Whether a name that spells a version is local there.
    pub is_local_in: AskOfVersion<'a>,
    /// `--dynamic-list`: names that stay replaceable in spite of `-Bsymbolic`, and are exported.
    pub in_dynamic_list: Ask<'a, bool>,
    pub has_dynamic_list: bool,
    /// `--export-dynamic-symbol(-list)`: exported, and replaceable in spite of `-Bsymbolic`.
    pub exported: Ask<'a, bool>,
}

struct Decider<'c, 'a> {
    resolved: &'c Resolved<'a>,
    symbols: &'c Symbols,
    options: &'c Options,
    mode: Mode,
    rules: &'c Rules<'a>,
    sink: &'c DiagSink,
    /// See [`drop_other_kinds`].
    rivals: Mutex<Vec<SymbolId>>,
}

/// What exports follow from besides symbols, and who is told.
pub struct Asked<'c> {
    pub options: &'c Options,
    pub mode: Mode,
    pub sink: &'c DiagSink,
}

/// Sets the `EXPORTED`, `PREEMPTIBLE` and `LOCALIZED` bits of all symbols.
pub fn decide<'a>(
    resolved: &Resolved<'a>,
    symbols: &Symbols,
    Asked { options, mode, sink }: Asked,
    rules: Rules<'a>,
    parallel: bool,
) -> Exports<'a> {
    let decider = Decider { resolved, symbols, options, mode, rules: &rules, sink, rivals: Mutex::default() };
    let one = |id: usize| match resolved.names.try_get(SymbolId(id as u32)) {
        Some(entry) => decider.decide(SymbolId(id as u32), entry),
        None => VER_NDX_GLOBAL,
    };
    let count = symbols.list.len();
    let versions: Vec<u16> =
        par::list("decide exports", parallel, count, super::NAMES_AT_ONCE, |run| run.map(one));
    drop_other_kinds(resolved, symbols, decider.rivals.into_inner().unwrap());
    export_data_pointer(resolved, symbols, options, mode);
    let versions = if rules.has_versions { versions } else { Vec::new() };
    let _stretch = trace::stretch("shadowed exports");
    let exports = Exports { definitions: rules.definitions, versions };
    exports.drop_shadowed(resolved, symbols, parallel);
    exports
}

/// If code counts from a register, loaders have to know where it is to point: they call resolvers of IFUNCs
/// before the program has set it.
fn export_data_pointer(resolved: &Resolved, symbols: &Symbols, options: &Options, mode: Mode) {
    let Some(pointer) = mode.facts().pointer.as_ref() else { return };
    if !mode.dynamic || mode.shared || !options.relocs.relax || !options.relocs.relax_gp {
        return;
    }
    let Some(id) = resolved.names.find(pointer.symbol.as_bytes()) else { return };
    let symbol = &symbols[id];
    let is_here = matches!(
        symbol.flags() & symbol_flags::KIND,
        symbol_flags::DEFINED | symbol_flags::ABSOLUTE | symbol_flags::INTERNAL
    );
    if is_here && !symbol.has(symbol_flags::HIDDEN) && !symbol.has(symbol_flags::LOCALIZED) {
        symbol.add(symbol_flags::EXPORTED);
    }
}

/// If a function and a variable happen to have one name, neither is meant to take the other's place: an
/// executable keeps its own to itself. `rivals` are definitions that only were exported because shared
/// objects have them too, or refer to them: one that refers to a version of a library's means that library's,
/// any other may mean the executable's.
fn drop_other_kinds(resolved: &Resolved, symbols: &Symbols, rivals: Vec<SymbolId>) {
    const FUNCTION: u32 = 1;
    const VARIABLE: u32 = 2;
    const THREAD_LOCAL: u32 = 4;
    const MEANT: u32 = FUNCTION | VARIABLE | THREAD_LOCAL;
    if rivals.is_empty() {
        return;
    }
    let mut kinds: HashMap<SymbolId, u32> = rivals.into_iter().map(|id| (id, 0)).collect();
    for dso in &resolved.shared {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            if let Some(kinds) = kinds.get_mut(&dso.global(i as u32)) {
                *kinds |= match symbol.kind() {
                    _ if symbol.st_shndx() == SHN_UNDEF => {
                        if dso.version(i as u32).0 > VER_NDX_GLOBAL {
                            0
                        } else {
                            MEANT
                        }
                    }
                    STT_FUNC | STT_GNU_IFUNC => FUNCTION,
                    STT_NOTYPE => FUNCTION | VARIABLE,
                    STT_TLS => THREAD_LOCAL,
                    _ => VARIABLE,
                };
            }
        }
    }
    for (id, kinds) in kinds {
        let own = match symbols[id].flags() & (symbol_flags::FUNC | symbol_flags::TLS) {
            0 => VARIABLE,
            symbol_flags::TLS => THREAD_LOCAL,
            _ => FUNCTION,
        };
        if kinds != 0 && kinds & own == 0 {
            symbols[id].remove(symbol_flags::EXPORTED);
        }
    }
}

/// What is said of a name that is defined.
pub struct Said<'n> {
    pub name: &'n [u8],
    pub flags: u32,
    pub is_weak: bool,
}

impl Rules<'_> {
    /// The bits and the version index of a name that one object alone defines and nobody else knows, which is not
    /// hidden and says no version.
    pub fn of_new(&self, options: &Options, mode: &Mode, said: &Said) -> (u32, u16) {
        match (self.version_of)(said.name).unwrap_or(VER_NDX_GLOBAL) {
            VER_NDX_LOCAL => (symbol_flags::LOCALIZED, VER_NDX_LOCAL),
            version if !mode.dynamic => (0, version),
            version => (self.seen(options, mode, said, (|| false, || false)), version),
        }
    }

    /// Whether others see a definition, and may replace it, in bits; `is_seen` says whether shared objects ask for it.
    #[inline(always)]
    fn seen(
        &self,
        options: &Options,
        mode: &Mode,
        said: &Said,
        (is_seen, is_unique): (impl FnOnce() -> bool, impl FnOnce() -> bool),
    ) -> u32 {
        let Said { name, flags, is_weak } = *said;
        let is_data = || options.symbols.dynamic_list_data && flags & symbol_flags::OBJECT != 0;
        let listed = || is_data() || (self.in_dynamic_list)(name);
        // Most libraries need not ask.
        let asked = || self.has_dynamic_list && listed() || (self.exported)(name);
        if !(mode.shared || options.symbols.export_dynamic || asked() || is_seen()) {
            return 0;
        }
        // An IFUNC is not bound as a function is.
        let function = flags & (symbol_flags::FUNC | symbol_flags::IFUNC) == symbol_flags::FUNC;
        let bound = match options.symbols.bsymbolic {
            Bsymbolic::None => false,
            Bsymbolic::All => true,
            Bsymbolic::Functions => function,
            Bsymbolic::NonWeak => !is_weak,
            Bsymbolic::NonWeakFunctions => function && !is_weak,
        };
        // A dynamic list binds all that it does not name. Thread-local variables stay replaceable.
        let symbolic = (bound || self.has_dynamic_list) && flags & symbol_flags::TLS == 0;
        let is_free =
            mode.shared && flags & symbol_flags::PROTECTED == 0 && (!symbolic || asked() || is_unique());
        symbol_flags::EXPORTED | if is_free { symbol_flags::PREEMPTIBLE } else { 0 }
    }
}

impl Decider<'_, '_> {
    /// Returns the version index.
    fn decide(&self, id: SymbolId, entry: &Entry) -> u16 {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        match flags & symbol_flags::KIND {
            symbol_flags::SHARED => symbol.add(symbol_flags::PREEMPTIBLE),
            symbol_flags::UNDEFINED => {
                let weak = flags & symbol_flags::WEAK_UNDEFINED != 0;
                let left_open = if weak { self.mode.dynamic_undefined } else { self.mode.dynamic };
                // What is not of default visibility has to be in this output; no loader looks for it. Nor can
                // it be asked for a version of an unknown library.
                let spelled = entry.flags & flag::HAS_VERSION != 0 && symver::split(entry.name).is_some();
                if left_open && flags & (symbol_flags::HIDDEN | symbol_flags::PROTECTED) == 0 && !spelled {
                    symbol.add(symbol_flags::PREEMPTIBLE);
                }
            }
            _ => return self.decide_defined(id, entry),
        }
        VER_NDX_GLOBAL
    }

    fn decide_defined(&self, id: SymbolId, entry: &Entry) -> u16 {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        if flags & symbol_flags::HIDDEN != 0 {
            return VER_NDX_LOCAL;
        }
        // What an excluded archive spells need not be defined here.
        let version = if self.is_excluded(id, entry) { VER_NDX_LOCAL } else { self.version(entry) };
        if version == VER_NDX_LOCAL {
            symbol.add(symbol_flags::LOCALIZED);
            return VER_NDX_LOCAL;
        }
        if !self.mode.dynamic {
            return version;
        }
        if !self.mode.shared && self.lacks_its_version(entry) {
            return version;
        }
        let said = Said { name: entry.name, flags, is_weak: entry.rank() == Rank::Weak };
        let is_seen = || self.is_seen(id, entry, flags);
        let is_unique = || self.is_unique(entry, flags);
        symbol.add(self.rules.seen(self.options, &self.mode, &said, (is_seen, is_unique)));
        version
    }

    /// Whether shared objects refer to a definition, or would use their own instead.
    fn is_seen(&self, id: SymbolId, entry: &Entry, flags: u32) -> bool {
        const REFERS: u32 = flag::REF_SHARED | flag::REF_SHARED_WEAK;
        if entry.flags & (REFERS | flag::DEF_SHARED) == 0 {
            return false;
        }
        if entry.flags & flag::DEF_SHARED != 0
            && flags & (symbol_flags::FUNC | symbol_flags::OBJECT | symbol_flags::TLS) != 0
        {
            self.rivals.lock().unwrap().push(id);
        }
        true
    }

    /// Whether there may be but one of it in a process, wherever it is defined.
    #[inline(never)]
    fn is_unique(&self, entry: &Entry, flags: u32) -> bool {
        if flags & symbol_flags::FUNC != 0 || entry.rank() != Rank::Weak || !self.options.symbols.gnu_unique {
            return false;
        }
        let index = self.resolved.index_of_file[entry.file().index()];
        let object = self.resolved.objects.get(index as usize);
        let symbol = object.and_then(|object| object.syms.get(entry.sym() as usize));
        symbol.is_some_and(|symbol| symbol.binding() == STB_GNU_UNIQUE)
    }

    fn is_excluded(&self, id: SymbolId, entry: &Entry) -> bool {
        if !self.resolved.excluded.is_empty() && self.resolved.excluded.contains(&id) {
            return true;
        }
        match entry.rank() {
            Rank::Strong | Rank::Weak | Rank::Common => {
                let index = self.resolved.index_of_file[entry.file().index()];
                self.resolved.objects[index as usize].excluded
            }
            _ => false,
        }
    }

    /// The version that the symbol's own name spells, or what a version script gives it.
    fn version(&self, entry: &Entry) -> u16 {
        if entry.flags & (flag::HAS_VERSION | flag::IS_VERSION) != 0
            && let Some(version) = self.spelled_version(entry)
        {
            return version;
        }
        if !self.rules.has_versions {
            return VER_NDX_GLOBAL;
        }
        (self.rules.version_of)(symver::plain(entry.name)).unwrap_or(VER_NDX_GLOBAL)
    }

    /// Whether it is the old version of a name, and the output does not define that version: under its plain
    /// name it would take the place of all versions.
    fn lacks_its_version(&self, entry: &Entry) -> bool {
        if entry.flags & flag::HAS_VERSION == 0 {
            return false;
        }
        symver::split(entry.name).is_some_and(|spelled| {
            !spelled.default
                && !spelled.version.is_empty()
                && index_of(&self.rules.definitions, spelled.version).is_none()
        })
    }

    /// A shared object must define the versions that it spells; in an executable, the name may be meant
    /// to take the place of a library's.
    fn spelled_version(&self, entry: &Entry) -> Option<u16> {
        if entry.flags & flag::IS_VERSION != 0 {
            return index_of(&self.rules.definitions, entry.name);
        }
        let index = self.resolved.index_of_file[entry.file().index()];
        let object = self.resolved.objects.get(index as usize);
        // A script may assign to a name with a version.
        let name = object.map_or(entry.name, |object| object.symbol_name(entry.sym()));
        let spelled = symver::split(name)?;
        if spelled.version.is_empty() {
            return Some(VER_NDX_GLOBAL);
        }
        let index = index_of(&self.rules.definitions, spelled.version);
        if index.is_none() && self.mode.shared {
            let place = object.map_or("an assignment".to_owned(), |object| object.name.to_string());
            let name = String::from_utf8_lossy(name);
            let version = String::from_utf8_lossy(spelled.version);
            let text = format!("{place}: {name} has version {version}, which no version script defines");
            self.sink.push(Diagnostic::error(Cause::VersionNotFound, text).of(entry.file(), entry.sym()));
        }
        if (self.rules.is_local_in)(&spelled) {
            return Some(VER_NDX_LOCAL);
        }
        Some(if spelled.default { index? } else { index? | VERSYM_HIDDEN })
    }
}
