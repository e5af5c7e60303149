//! Which shared objects the output needs, and what becomes of the symbols of others.
//!
//! A library named under `--as-needed` is needed if an object refers to it, not weakly, or a needed library
//! that does not bring it itself (GNU ld manual, `--as-needed`). If it is not, the loader will not see it for
//! the output's sake, so that what it defines is undefined and weak: no copy and no PLT entry may stand for
//! it, for those have addresses where the program expects to find null.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::Ordering;

use crate::elf::*;
use crate::ids::*;
use crate::input::shared::Shared;
use crate::resolve::Resolved;
use crate::symbol_names::{Rank, flag, pack};
use crate::symbols::{Symbols, strong_use, symbol_flags};

/// Indices of the shared objects that are needed, in command-line order. Call after the relocation scan.
pub fn needed(resolved: &Resolved, symbols: &Symbols, gc: bool) -> Vec<u32> {
    let strong = strong_use(gc);
    let wants = |dso: &Shared| !dso.as_needed || is_used(resolved, symbols, dso, strong);
    let mut wanted: Vec<bool> = resolved.shared.iter().map(wants).collect();
    add_wanted_by_libraries(resolved, &mut wanted);
    let mut names = HashSet::new();
    // A library that was found under two paths is one library.
    let is_needed = |i: &u32| wanted[*i as usize] && names.insert(resolved.shared[*i as usize].soname);
    (0..wanted.len() as u32).filter(is_needed).collect()
}

/// Libraries that a needed one refers to, not weakly, without bringing them: it was linked without its
/// libraries.
fn add_wanted_by_libraries(resolved: &Resolved, wanted: &mut [bool]) {
    let shared = &resolved.shared;
    if !wanted.contains(&false) {
        return;
    }
    let mut brought = Brought::default();
    let mut open: Vec<usize> = (0..shared.len()).filter(|&i| wanted[i]).collect();
    open.iter().for_each(|&i| brought.add(shared, i));
    // What only a library defines that nobody brings, and other libraries refer to. Mostly nothing.
    let mut offers: HashMap<SymbolId, usize> = HashMap::new();
    for i in (0..shared.len()).filter(|&i| !wanted[i] && !brought.names.contains(shared[i].soname)) {
        offers.extend(asked_by_libraries(resolved, &shared[i]).map(|id| (id, i)));
    }
    if offers.is_empty() {
        return;
    }
    // All that those at hand insist on, then what these do: which come first does not depend on the order of
    // libraries.
    while !open.is_empty() {
        let insisted =
            open.iter().flat_map(|&i| insists_on(&shared[i])).filter_map(|id| offers.get(&id).copied());
        let mut more: Vec<usize> =
            insisted.filter(|&i| !wanted[i] && !brought.names.contains(shared[i].soname)).collect();
        more.sort_unstable();
        more.dedup();
        more.iter().for_each(|&i| wanted[i] = true);
        more.iter().for_each(|&i| brought.add(shared, i));
        open = more;
    }
}

/// What a library defines, no object does, and other libraries refer to.
fn asked_by_libraries<'s>(resolved: &'s Resolved, dso: &'s Shared) -> impl Iterator<Item = SymbolId> + 's {
    let globals = dso.globals.iter().zip(dso.first_global..);
    let ids =
        globals.map(|(id, i)| (SymbolId(id.load(Ordering::Relaxed)), i)).filter(|(id, _)| !id.is_none());
    let asked = ids.filter(|&(id, i)| {
        let entry = resolved.names.get(id);
        entry.flags & flag::REF_SHARED != 0 && entry.best == pack(Rank::Provided, dso.file, i)
    });
    asked.map(|(id, _)| id)
}

/// Names that a library refers to, not weakly.
fn insists_on<'s>(dso: &'s Shared) -> impl Iterator<Item = SymbolId> + 's {
    let symbols = dso.syms[dso.first_global as usize..].iter().zip(&dso.globals);
    let open = symbols.filter(|(symbol, _)| symbol.st_shndx() == SHN_UNDEF && symbol.binding() != STB_WEAK);
    open.map(|(_, id)| SymbolId(id.load(Ordering::Relaxed)))
}

/// Names of libraries that needed ones bring, and that those bring in turn.
#[derive(Default)]
struct Brought<'s> {
    names: HashSet<&'s [u8]>,
    by_name: HashMap<&'s [u8], usize>,
}

impl<'s> Brought<'s> {
    fn add(&mut self, shared: &[Shared<'s>], library: usize) {
        if self.by_name.is_empty() {
            self.by_name = shared.iter().enumerate().map(|(i, dso)| (dso.soname, i)).collect();
        }
        let mut open = vec![library];
        while let Some(i) = open.pop() {
            for name in &shared[i].needed {
                if self.names.insert(name) {
                    open.extend(self.by_name.get(name));
                }
            }
        }
    }
}

fn is_used(resolved: &Resolved, symbols: &Symbols, dso: &Shared, strong: u32) -> bool {
    bound_to(resolved, symbols, dso).any(|id| symbols[id].has(strong))
}

/// The names that stand for what the library defines, as far as something refers to them.
fn bound_to<'s>(
    resolved: &'s Resolved,
    symbols: &'s Symbols,
    dso: &'s Shared,
) -> impl Iterator<Item = SymbolId> + 's {
    let globals = dso.globals.iter().zip(dso.first_global..);
    globals.filter_map(|(id, i)| {
        let id = SymbolId(id.load(Ordering::Relaxed));
        // Few are referred to.
        let symbol = symbols
            .list
            .get(id.index())
            .filter(|symbol| symbol.has(symbol_flags::USED | symbol_flags::STRONG_REF))?;
        let bound = symbol.kind() == symbol_flags::SHARED
            && resolved.names.get(id).best == pack(Rank::Provided, dso.file, i);
        bound.then_some(id)
    })
}

/// Code has the address of a symbol in it which should be 0, and is not known before the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullAddress {
    pub symbol: Box<str>,
    /// The only one that defines it.
    pub library: Box<str>,
}

impl fmt::Display for NullAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NullAddress { symbol, library } = self;
        write!(
            f,
            "cannot give '{symbol}' the address 0 in position-independent output: all references to it are \
             weak, so that {library}, which defines it, is not needed (--as-needed); recompile with -fPIC"
        )
    }
}

impl std::error::Error for NullAddress {}

/// Makes what only libraries define that are not `needed` undefined. Lookups at run time may still find it,
/// if other modules bring those libraries.
///
/// # Errors
/// If `pic` code has the address of such a symbol in it, which then could not be null.
pub fn forget_the_rest(
    resolved: &Resolved,
    symbols: &mut Symbols,
    needed: &[u32],
    pic: bool,
) -> Result<(), NullAddress> {
    let names: HashSet<&[u8]> = needed.iter().map(|&i| resolved.shared[i as usize].soname).collect();
    let mut forgotten = Vec::new();
    for dso in resolved.shared.iter().filter(|dso| !names.contains(dso.soname)) {
        forgotten.extend(bound_to(resolved, symbols, dso).map(|id| (id, dso)));
    }
    for (id, dso) in forgotten {
        let symbol = &mut symbols.list[id.index()];
        if pic && symbol.has(symbol_flags::NEEDS_COPY | symbol_flags::NEEDS_CANONICAL_PLT) {
            let symbol = String::from_utf8_lossy(resolved.names.get(id).name).into();
            return Err(NullAddress { symbol, library: dso.name.to_string().into() });
        }
        symbol.set_offset(0);
        symbol.remove(
            symbol_flags::KIND
                | symbol_flags::IFUNC
                | symbol_flags::NEEDS_COPY
                | symbol_flags::NEEDS_CANONICAL_PLT,
        );
        symbol.add(symbol_flags::UNDEFINED | symbol_flags::WEAK_UNDEFINED);
    }
    Ok(())
}
