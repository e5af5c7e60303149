//! `/wrap`: references to a symbol go to another, and those to a third one to the symbol.
//!
//! Names stay what they are: what changes is where the symbols of objects lead.

use weld_common::par;
use weld_common::text;

use super::read::Rounds;
use super::{Resolved, Resolver};
use crate::ids::SymbolId;
use crate::symbol_names::flag;

/// A symbol that is wrapped: itself, `__wrap_` and `__real_`.
#[derive(Clone, Copy, Debug)]
pub struct Wrap {
    pub symbol: SymbolId,
    pub wrapper: SymbolId,
    pub real: SymbolId,
}

impl<'a> Resolver<'a, '_> {
    /// Refers to what stands for symbols that are wrapped and that somebody names.
    pub(super) fn refer_to_wraps(&self, wraps: &mut Vec<Wrap>, rounds: &mut Rounds<'a, '_, '_, '_>) {
        // Who calls the real symbol wants it, whatever it is called.
        for wrap in wraps.iter() {
            if rounds.names.get(wrap.real).flags & flag::REF != 0 {
                let name = text::text(rounds.names.get(wrap.symbol).name).into_owned();
                self.refer(&name, flag::REF, rounds);
            }
        }
        for name in &self.options.wraps {
            let prefix = rounds.format.machine.map_or("", |machine| machine.prefix());
            let Some(symbol) = rounds.names.find(format!("{prefix}{name}").as_bytes()) else { continue };
            if wraps.iter().any(|wrap| wrap.symbol == symbol) {
                continue;
            }
            let wrapper = self.refer(&format!("{prefix}__wrap_{name}"), flag::REF | flag::ROOT, rounds);
            let real = self.refer(&format!("{prefix}__real_{name}"), 0, rounds);
            wraps.push(Wrap { symbol, wrapper, real });
            // Who has it imported gets the place with the wrapper's address.
            let import = rounds.names.find(format!("__imp_{prefix}{name}").as_bytes());
            let is_wanted = |id: &SymbolId| rounds.names.get(*id).flags & flag::REF != 0;
            if let Some(symbol) = import.filter(is_wanted) {
                let place = flag::REF | flag::ROOT;
                let wrapper = self.refer(&format!("__imp_{prefix}__wrap_{name}"), place, rounds);
                let real = self.refer(&format!("__imp_{prefix}__real_{name}"), 0, rounds);
                wraps.push(Wrap { symbol, wrapper, real });
            }
        }
    }
}

/// Whether nobody refers to a name any more.
pub fn is_forgotten(wraps: &[Wrap], resolved: &Resolved, id: SymbolId) -> bool {
    let real_is_wanted = |wrap: &Wrap| resolved.names.get(wrap.real).flags & flag::REF != 0;
    wraps.iter().any(|wrap| wrap.symbol == id && !real_is_wanted(wrap))
}

/// Has the symbols of objects lead elsewhere.
pub fn redirect(resolved: &Resolved, parallel: bool) {
    let wraps = &resolved.wraps;
    if wraps.is_empty() {
        return;
    }
    let target = |id: SymbolId| {
        let as_symbol = wraps.iter().find(|wrap| wrap.symbol == id).map(|wrap| wrap.wrapper);
        as_symbol.or_else(|| wraps.iter().find(|wrap| wrap.real == id).map(|wrap| wrap.symbol))
    };
    par::each(parallel, resolved.objects.len(), |i| {
        let object = &resolved.objects[i];
        for (index, _) in object.coff.symbols.iter() {
            if let Some(to) = object.global(index).and_then(target) {
                object.set_global(index, to);
            }
        }
    });
}
