//! Which shared objects the output needs, and what becomes of the symbols of others.
//!
//! A library named under `--as-needed` is needed if an object refers to it, not weakly, or a needed library that does not bring it itself
//! (GNU ld manual, `--as-needed`). If it is not, the loader
//! will not see it for the output's sake, so that what it defines is undefined and weak: no copy and no PLT
//! entry may stand for it, for those have addresses where the program expects to find null.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use crate::elf::*;
use crate::ids::*;
use crate::input::shared::Shared;
use crate::names::{Rank, flag, pack};
use crate::resolve::Resolved;
use crate::symbols::{Symbols, strong_use, sym};

/// Indices of the shared objects that are needed, in command-line order. Call after the relocation scan.
pub fn needed(resolved: &Resolved, symbols: &Symbols, gc: bool) -> Vec<u32> {
    let strong = strong_use(gc);
    let wants = |dso: &Shared| !dso.as_needed || is_used(resolved, symbols, dso, strong);
    let mut wanted: Vec<bool> = resolved.shared.iter().map(wants).collect();
    while let Some(more) = wanted_by_libraries(resolved, &wanted) {
        wanted[more] = true;
    }
    let mut names = HashSet::new();
    // A library that was found under two paths is one library.
    let is_needed = |i: &u32| wanted[*i as usize] && names.insert(resolved.shared[*i as usize].soname);
    (0..wanted.len() as u32).filter(is_needed).collect()
}

/// A library more that a needed one refers to, not weakly, without bringing it: one that was linked without its libraries.
fn wanted_by_libraries(resolved: &Resolved, wanted: &[bool]) -> Option<usize> {
    let shared = &resolved.shared;
    let candidates = (0..shared.len()).filter(|&i| !wanted[i]).filter_map(|i| {
        let asked = asked_by_libraries(resolved, &shared[i]);
        (!asked.is_empty()).then_some((i, asked))
    });
    let mut candidates = candidates.peekable();
    candidates.peek()?;
    let brought = brought(resolved, wanted);
    let needed = || (0..shared.len()).filter(|&i| wanted[i]).map(|i| &shared[i]);
    let insists = |dso: &Shared, asked: &HashSet<SymbolId>| {
        let symbols = dso.syms[dso.first_global as usize..].iter().zip(&dso.globals);
        let mut open =
            symbols.filter(|(symbol, _)| symbol.st_shndx() == SHN_UNDEF && symbol.binding() != STB_WEAK);
        open.any(|(_, id)| asked.contains(&SymbolId(id.load(Ordering::Relaxed))))
    };
    let found = candidates
        .find(|(i, asked)| !brought.contains(shared[*i].soname) && needed().any(|dso| insists(dso, asked)));
    found.map(|(i, _)| i)
}

/// What a library defines, no object does, and other libraries refer to. Mostly nothing.
fn asked_by_libraries(resolved: &Resolved, dso: &Shared) -> HashSet<SymbolId> {
    let globals = dso.globals.iter().zip(dso.first_global..);
    let ids =
        globals.map(|(id, i)| (SymbolId(id.load(Ordering::Relaxed)), i)).filter(|(id, _)| !id.is_none());
    ids.filter(|&(id, i)| {
        let entry = resolved.names.get(id);
        entry.flags & flag::REF_SHARED != 0 && entry.best == pack(Rank::Provided, dso.file, i)
    })
    .map(|(id, _)| id)
    .collect()
}

/// Names of libraries that those in the link bring, which are `wanted` or brought themselves.
fn brought<'s>(resolved: &Resolved<'s>, wanted: &[bool]) -> HashSet<&'s [u8]> {
    let mut brought: HashSet<&[u8]> = HashSet::new();
    let mut counted: Vec<bool> = vec![false; wanted.len()];
    loop {
        let next = resolved.shared.iter().enumerate();
        let mut next = next.filter(|(i, dso)| !counted[*i] && (wanted[*i] || brought.contains(dso.soname)));
        let Some((i, dso)) = next.next() else { return brought };
        drop(next);
        counted[i] = true;
        brought.extend(dso.needed.iter());
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
        let symbol = symbols.list.get(id.index()).filter(|symbol| symbol.has(sym::USED | sym::STRONG_REF))?;
        let bound =
            symbol.kind() == sym::SHARED && resolved.names.get(id).best == pack(Rank::Provided, dso.file, i);
        bound.then_some(id)
    })
}

/// Makes what only libraries define that are not `needed` undefined. Lookups at run time may still find it, if
/// other modules bring those libraries.
///
/// # Errors
/// If `pic` code has the address of such a symbol in it, which then could not be null.
pub fn forget_the_rest(
    resolved: &Resolved,
    symbols: &mut Symbols,
    needed: &[u32],
    pic: bool,
) -> Result<(), String> {
    let names: HashSet<&[u8]> = needed.iter().map(|&i| resolved.shared[i as usize].soname).collect();
    let mut forgotten = Vec::new();
    for dso in resolved.shared.iter().filter(|dso| !names.contains(dso.soname)) {
        forgotten.extend(bound_to(resolved, symbols, dso).map(|id| (id, dso)));
    }
    for (id, dso) in forgotten {
        let symbol = &mut symbols.list[id.index()];
        if pic && symbol.has(sym::NEEDS_COPY | sym::NEEDS_CANONICAL_PLT) {
            let name = String::from_utf8_lossy(resolved.names.get(id).name);
            let library = &dso.name;
            return Err(format!(
                "cannot give '{name}' the address 0 in position-independent output: all references to it are \
                 weak, so that {library}, which defines it, is not needed (--as-needed); recompile with -fPIC"
            ));
        }
        symbol.set_offset(0);
        symbol.remove(sym::KIND | sym::IFUNC | sym::NEEDS_COPY | sym::NEEDS_CANONICAL_PLT);
        symbol.add(sym::UNDEFINED | sym::WEAK_UNDEFINED);
    }
    Ok(())
}
