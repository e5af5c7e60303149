//! Where a joined object mentions the names that nothing in it defines.
//!
//! A name is written by the object that defines it, or, if none does, by the first that mentions it. Mentions
//! as thread-local come before others, for the final linker compares types.

use std::sync::atomic::{AtomicU64, Ordering};

use weld_common::{par, zeroed};

use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::symbol_names::{Rank, flag};
use crate::symbols::internal::Internals;
use crate::symbols::symbol_flags;
use crate::synth::symbol_choice::Choice;

pub struct Mentions {
    /// Of each name that nothing defines, the greatest of its mentions' words.
    owners: Vec<AtomicU64>,
    /// What the command line defines, in its order.
    pub own: Vec<SymbolId>,
}

impl Mentions {
    pub fn collect(choice: &Choice, internals: &Internals, parallel: bool) -> Mentions {
        let owners: Vec<AtomicU64> = zeroed::sparse(choice.symbols.list.len());
        let objects = &choice.resolved.objects;
        par::each(parallel, objects.len(), |number| {
            let object = &objects[number];
            for index in object.first_global..object.syms.len() as u32 {
                let id = object.global(index);
                let undefined = choice.symbols[id].kind() == symbol_flags::UNDEFINED;
                if undefined
                    && is_wanted(choice, id)
                    && choice.resolved.names.get(id).rank() != Rank::Internal
                {
                    owners[id.index()].fetch_max(word(number, object, index), Ordering::Relaxed);
                }
            }
        });
        Mentions { owners, own: internals.list.iter().map(|internal| internal.id).collect() }
    }

    /// Whether symbol `index` of an object is the mention that is written.
    pub fn has(&self, number: usize, object: &Object, index: u32) -> bool {
        let owner = self.owners[object.global(index).index()].load(Ordering::Relaxed);
        owner == word(number, object, index)
    }
}

/// Whether a name that has no section is to be written.
pub fn is_wanted(choice: &Choice, id: SymbolId) -> bool {
    !choice.options.sections.gc_sections
        || choice.symbols[id].has(symbol_flags::USED)
        || choice.resolved.names.get(id).flags & flag::ROOT != 0
}

fn word(number: usize, object: &Object, index: u32) -> u64 {
    place(number, index, object.syms[index as usize].kind() == STT_TLS)
}

/// The first mention has the greatest word, because 0 means "none".
fn place(object: usize, index: u32, tls: bool) -> u64 {
    !(u64::from(!tls) << 63 | (object as u64) << 32 | u64::from(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mention_has_the_greatest_word() {
        assert!(place(0, 1, false) > place(0, 2, false));
        assert!(place(0, 2, false) > place(1, 1, false));
        assert!(place(9, 9, true) > place(0, 1, false));
        assert!(place(u32::MAX as usize >> 1, u32::MAX - 1, false) > 0);
    }
}
