//! Which shared objects the output needs, and what becomes of the symbols of others.
//!
//! A library named under `--as-needed` is needed if something refers to it, not weakly. If it is not, the loader
//! will not see it for the output's sake, so that what it defines is undefined and weak: no copy and no PLT
//! entry may stand for it, for those have addresses where the program expects to find null.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use crate::ids::*;
use crate::input::shared::Shared;
use crate::names::{Rank, pack};
use crate::resolve::Resolved;
use crate::symbols::{Symbols, strong_use, sym};

/// Indices of the shared objects that are needed, in command-line order. Call after the relocation scan.
pub fn needed(resolved: &Resolved, symbols: &Symbols, gc: bool) -> Vec<u32> {
    let strong = strong_use(gc);
    let mut needed: Vec<u32> = Vec::new();
    let mut names = HashSet::new();
    for (i, dso) in resolved.shared.iter().enumerate() {
        // A library that was found under two paths is one library.
        if (!dso.as_needed || is_used(resolved, symbols, dso, strong)) && names.insert(dso.soname) {
            needed.push(i as u32);
        }
    }
    needed
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
