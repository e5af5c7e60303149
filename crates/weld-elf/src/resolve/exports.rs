//! Which symbols other modules can see, under what version, and which they may replace.
//!
//! Decided for all names before the relocation scan, because the scan asks "may this be defined
//! elsewhere at run time?" for every relocation.

use rayon::prelude::*;
use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::trace;

use super::Resolved;
use super::names::{Entry, Rank, flag};
use super::symbols::{Symbols, sym};
use super::versioned;
use crate::elf::*;
use crate::ids::*;
use crate::mode::Mode;
use crate::options::{Bsymbolic, Options};
use crate::synth::versions::VersionDef;

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
    /// name with a version if they have none, as GNU ld does.
    fn drop_shadowed(&self, resolved: &Resolved, symbols: &Symbols) {
        for shadowed in &resolved.shadowed {
            let index = index_of(&self.definitions, shadowed.version);
            let given = self.version(shadowed.id);
            let symbol = &symbols[shadowed.id];
            let unversioned = given == VER_NDX_GLOBAL && shadowed.is_same;
            if symbol.has(sym::EXPORTED) && (unversioned || Some(given) == index) {
                symbol.remove(sym::EXPORTED | sym::PREEMPTIBLE);
                symbol.add(sym::LOCALIZED);
            }
        }
    }
}

/// The index of a version that the output defines.
pub fn index_of(definitions: &[VersionDef], version: &[u8]) -> Option<u16> {
    definitions.iter().position(|d| d.name == version).map(|i| i as u16 + 2)
}

/// A question about a name.
pub type Ask<'a, T> = Box<dyn Fn(&[u8]) -> T + Sync + 'a>;

/// What scripts and lists say about a name.
pub struct Rules<'a> {
    pub definitions: Vec<VersionDef<'a>>,
    /// Version index for a name: `VER_NDX_LOCAL` hides it; `None`: nothing is said.
    pub version_of: Ask<'a, Option<u16>>,
    pub has_versions: bool,
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
}

/// Sets the `EXPORTED`, `PREEMPTIBLE` and `LOCALIZED` bits of all symbols.
pub fn decide<'a>(
    resolved: &Resolved<'a>,
    symbols: &Symbols,
    (options, mode, sink): (&Options, Mode, &DiagSink),
    rules: Rules<'a>,
    parallel: bool,
) -> Exports<'a> {
    let decider = Decider { resolved, symbols, options, mode, rules: &rules, sink };
    let one = |id: usize| match resolved.names.try_get(SymbolId(id as u32)) {
        Some(entry) => decider.decide(SymbolId(id as u32), entry),
        None => VER_NDX_GLOBAL,
    };
    let count = symbols.list.len();
    let region = trace::region("decide exports");
    let versions: Vec<u16> = if parallel {
        (0..count).into_par_iter().map_init(|| region.task(), |_, id| one(id)).collect()
    } else {
        let _task = region.task();
        (0..count).map(one).collect()
    };
    drop(region);
    let versions = if rules.has_versions { versions } else { Vec::new() };
    let _stretch = trace::stretch("shadowed exports");
    let exports = Exports { definitions: rules.definitions, versions };
    exports.drop_shadowed(resolved, symbols);
    exports
}

impl Decider<'_, '_> {
    /// Returns the version index.
    fn decide(&self, id: SymbolId, entry: &Entry) -> u16 {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        match flags & sym::KIND {
            sym::SHARED => symbol.add(sym::PREEMPTIBLE),
            sym::UNDEFINED => {
                let weak = flags & sym::WEAK_UNDEFINED != 0;
                let left_open = if weak { self.mode.dynamic_undefined } else { self.mode.dynamic };
                // What is not of default visibility has to be in this output; no loader looks for it. Nor can
                // it be asked for a version of an unknown library.
                let spelled = entry.flags & flag::HAS_VERSION != 0 && versioned::split(entry.name).is_some();
                if left_open && flags & (sym::HIDDEN | sym::PROTECTED) == 0 && !spelled {
                    symbol.add(sym::PREEMPTIBLE);
                }
            }
            _ => return self.decide_defined(symbol, entry),
        }
        VER_NDX_GLOBAL
    }

    fn decide_defined(&self, symbol: &super::symbols::Symbol, entry: &Entry) -> u16 {
        let flags = symbol.flags();
        if flags & sym::HIDDEN != 0 {
            return VER_NDX_LOCAL;
        }
        // What an excluded archive spells need not be defined here.
        let version = if self.is_excluded(entry) { VER_NDX_LOCAL } else { self.version(entry) };
        let is_data = || self.options.dynamic_list_data && flags & sym::OBJECT != 0;
        let listed = || is_data() || (self.rules.in_dynamic_list)(entry.name);
        if version == VER_NDX_LOCAL {
            symbol.add(sym::LOCALIZED);
            return VER_NDX_LOCAL;
        }
        if !self.mode.dynamic {
            return version;
        }
        const SEEN: u32 = flag::REF_SHARED | flag::REF_SHARED_WEAK | flag::DEF_SHARED;
        let in_list = self.rules.has_dynamic_list && listed();
        let asked = in_list || (self.rules.exported)(entry.name);
        let exported = self.mode.shared || self.options.export_dynamic || entry.flags & SEEN != 0 || asked;
        if !exported {
            return version;
        }
        symbol.add(sym::EXPORTED);
        let symbolic = match self.options.bsymbolic {
            Bsymbolic::None => self.rules.has_dynamic_list,
            Bsymbolic::All => true,
            Bsymbolic::Functions => flags & sym::FUNC != 0,
            Bsymbolic::NonWeak => entry.rank() != Rank::Weak,
            Bsymbolic::NonWeakFunctions => flags & sym::FUNC != 0 && entry.rank() != Rank::Weak,
        };
        if self.mode.shared && flags & sym::PROTECTED == 0 && (!symbolic || asked) {
            symbol.add(sym::PREEMPTIBLE);
        }
        version
    }

    fn is_excluded(&self, entry: &Entry) -> bool {
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
        (self.rules.version_of)(versioned::plain(entry.name)).unwrap_or(VER_NDX_GLOBAL)
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
        let spelled = versioned::split(name)?;
        if spelled.version.is_empty() {
            return Some(VER_NDX_GLOBAL);
        }
        let index = index_of(&self.rules.definitions, spelled.version);
        if index.is_none() && self.mode.shared {
            let place = object.map_or("an assignment".to_owned(), |object| object.name.to_string());
            let name = String::from_utf8_lossy(name);
            let version = String::from_utf8_lossy(spelled.version);
            let text = format!("{place}: {name} has version {version}, which no version script defines");
            self.sink.push(Diagnostic::error(text).at((entry.file().0 as u64) << 32 | entry.sym() as u64));
        }
        Some(if spelled.default { index? } else { index? | VERSYM_HIDDEN })
    }
}
