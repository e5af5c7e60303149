//! References of shared objects that nothing in the link defines (`--no-allow-shlib-undefined`, the default
//! for executables).
//!
//! Only objects whose own needed libraries all are part of the link are checked: what others refer to
//! may be in a library that only the loader will see. For what is missing then, the libraries that others
//! need are looked at too (`transitive_needed`): a library may count on another one to bring what it uses.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use weld_common::diag::{Cause, Diagnostic, Spot};

use super::transitive_needed;
use super::undefined::is_ignored;
use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::*;
use crate::input::shared::Shared;
use crate::job::Job;
use crate::options::OutputKind;
use crate::resolve::Resolved;
use crate::symbol_names::{Rank, flag, pack};
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::shown;

/// How many libraries that refer to a symbol are named.
const REFERRERS: usize = 3;

/// What is wrong with a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    Undefined,
    /// An object defines it, but not for other modules.
    NotExported,
}

/// Reports such references. A phase of its own.
pub fn report(job: &Job, machine: &'static Facts, resolved: &Resolved, symbols: &Symbols) {
    let options = job.options;
    let allowed = options.symbols.allow_shlib_undefined.unwrap_or(options.kind == OutputKind::Shared);
    if allowed || resolved.shared.is_empty() {
        return;
    }
    let mut order = Vec::new();
    let mut found: HashMap<SymbolId, (Problem, Vec<&Shared>)> = HashMap::new();
    let is_register = |symbol: &Sym| machine.register_symbol == Some(symbol.kind());
    let sonames: HashSet<&[u8]> = resolved.shared.iter().map(|d| d.soname).collect();
    for dso in resolved.shared.iter().filter(|d| d.needed.iter().all(|n| sonames.contains(n))) {
        // Names that a library insists on.
        for (symbol, id) in dso.syms[dso.first_global as usize..].iter().zip(&dso.globals) {
            if symbol.st_shndx() != SHN_UNDEF || symbol.binding() == STB_WEAK || is_register(symbol) {
                continue;
            }
            let id = SymbolId(id.load(Ordering::Relaxed));
            if id.is_none() {
                continue;
            }
            let Some(problem) = problem(resolved, symbols, id) else { continue };
            if dso.as_needed && !is_wanted(resolved, dso) {
                break;
            }
            let entry = found.entry(id).or_insert_with(|| {
                order.push(id);
                (problem, Vec::new())
            });
            entry.1.push(dso);
        }
    }
    if !order.is_empty() {
        report_found(job, machine, resolved, order, &found);
    }
}

/// Whether somebody refers to what a library of `--as-needed` defines. Another one is left out, and nothing
/// is wrong with it.
#[cold]
fn is_wanted(resolved: &Resolved, dso: &Shared) -> bool {
    (dso.first_global..).zip(&dso.globals).any(|(i, id)| {
        let id = SymbolId(id.load(Ordering::Relaxed));
        let entry = id.is_some().then(|| resolved.names.get(id));
        entry.is_some_and(|entry| {
            entry.best == pack(Rank::Provided, dso.file, i)
                && entry.flags & (flag::REF_STRONG | flag::REF_SHARED) != 0
        })
    })
}

#[cold]
#[inline(never)]
fn report_found<'a>(
    job: &Job<'a>,
    machine: &'static Facts,
    resolved: &Resolved<'a>,
    mut order: Vec<SymbolId>,
    found: &HashMap<SymbolId, (Problem, Vec<&Shared<'a>>)>,
) {
    let undefined = order.iter().filter(|id| found[id].0 == Problem::Undefined);
    let names: HashSet<&[u8]> = undefined.map(|id| resolved.names.get(*id).name).collect();
    let mut known = old_versions(resolved, &names);
    known.extend(transitive_needed::definitions(job, machine, resolved, &names));
    order.retain(|id| {
        let name = resolved.names.get(*id).name;
        let met = found[id].0 == Problem::Undefined && known.contains(name);
        !met && !is_ignored(job.options, name)
    });
    for (i, id) in order.into_iter().enumerate() {
        let (problem, referrers) = &found[&id];
        job.sink.push(diagnostic(job, resolved, id, *problem, referrers).at(i as u64));
    }
}

fn problem(resolved: &Resolved, symbols: &Symbols, id: SymbolId) -> Option<Problem> {
    if resolved.names.get(id).flags & flag::DEF_SHARED != 0 {
        return None;
    }
    let symbol = &symbols[id];
    match symbol.kind() {
        symbol_flags::UNDEFINED => Some(Problem::Undefined),
        symbol_flags::SHARED => None,
        _ => symbol.has(symbol_flags::HIDDEN | symbol_flags::LOCALIZED).then_some(Problem::NotExported),
    }
}

/// Those of `names` that some library defines under a version that is not the default one.
fn old_versions<'a>(resolved: &Resolved<'a>, names: &HashSet<&[u8]>) -> HashSet<&'a [u8]> {
    let mut found = HashSet::new();
    if names.is_empty() {
        return found;
    }
    for dso in &resolved.shared {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let name = dso.symbol_name(i as u32);
            if symbol.st_shndx() != SHN_UNDEF && names.contains(name) {
                found.insert(name);
            }
        }
    }
    found
}

fn diagnostic(
    job: &Job,
    resolved: &Resolved,
    id: SymbolId,
    problem: Problem,
    referrers: &[&Shared],
) -> Diagnostic {
    let entry = resolved.names.get(id);
    let name = shown(job.options, entry.name);
    let (cause, text) = match problem {
        Problem::Undefined => (Cause::UndefinedInSharedLibrary, format!("undefined symbol: {name}")),
        Problem::NotExported => {
            (Cause::HiddenSymbol, format!("symbol is wanted by a shared object and not exported: {name}"))
        }
    };
    let mut diagnostic = if job.options.symbols.warn_unresolved {
        Diagnostic::warning(cause, text)
    } else {
        Diagnostic::error(cause, text).tolerable()
    };
    diagnostic = diagnostic.of_symbol(entry.name);
    for dso in referrers.iter().take(REFERRERS) {
        diagnostic = diagnostic
            .note(format!("referenced by {} (disallowed by --no-allow-shlib-undefined)", dso.name))
            .referrer(Spot::of_file(dso.name.to_string()));
    }
    if problem == Problem::NotExported {
        let index = resolved.index_of_file[entry.file().index()];
        if let Some(object) = resolved.objects.get(index as usize) {
            diagnostic = diagnostic.note(format!("defined in {}", object.name));
        }
    }
    diagnostic
}
