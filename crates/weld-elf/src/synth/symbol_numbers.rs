//! Which symbols relocations need, and where they end up in the symbol table.
//!
//! For `--emit-relocs`, which keeps relocations in the output: they name symbols by index, and a symbol
//! that one of them names is written whatever options say. Local symbols cost a bit each, with
//! counts every 64, so that a relocation finds its symbol's new index without a table of indices;
//! global ones a word each.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::zeroed;
use weld_common::{par, trace};

use super::symbol_choice::Choice;
use crate::elf::SHT_GROUP;
use crate::ids::*;
use crate::input::object::Object;
use crate::live::Live;
use crate::live::live_members;
use crate::resolve::Resolved;
use crate::sections::{SectionKind, Sections};

/// Which symbols of an object, or of a part of its table, are written.
#[derive(Default)]
pub struct Kept {
    words: Vec<u64>,
    /// Symbols kept before each word.
    before: Vec<u32>,
}

impl Kept {
    pub fn new(count: usize) -> Kept {
        Kept { words: vec![0; count.div_ceil(64)], before: Vec::new() }
    }
    pub fn set(&mut self, index: u32) {
        self.words[index as usize / 64] |= 1 << (index % 64);
    }
    pub fn contains(&self, index: u32) -> bool {
        self.words[index as usize / 64] >> (index % 64) & 1 != 0
    }
    /// The symbols that are kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let of_word = |(i, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(i as u32 * 64 + bit)
            })
        };
        self.words.iter().enumerate().flat_map(of_word)
    }
    /// How many symbols are kept. Only then are there ranks.
    pub fn count(&mut self) -> u32 {
        let mut total = 0;
        self.before = Vec::with_capacity(self.words.len());
        for word in &self.words {
            self.before.push(total);
            total += word.count_ones();
        }
        total
    }
    /// How many symbols before `index` are kept.
    pub fn rank(&self, index: u32) -> u32 {
        let word = index as usize / 64;
        let below = self.words[word] & ((1 << (index % 64)) - 1);
        self.before[word] + below.count_ones()
    }
}

/// The symbols that relocations of the output refer to.
pub struct Needed {
    /// Those of each object, once they have been asked for.
    locals: Vec<OnceLock<Kept>>,
    globals: Vec<AtomicU32>,
}

impl Needed {
    /// For objects whose local symbols mostly stay in any case, and global ones always: they are looked
    /// through when it is asked.
    pub fn on_demand(objects: usize) -> Needed {
        Needed { locals: (0..objects).map(|_| OnceLock::new()).collect(), globals: Vec::new() }
    }

    /// Looks through all objects.
    pub fn collect(resolved: &Resolved, sections: &Sections, live: &Live, parallel: bool) -> Needed {
        let globals: Vec<AtomicU32> = zeroed::sparse(resolved.names.id_bound().div_ceil(32));
        let region = trace::region("find needed symbols");
        let objects = &resolved.objects;
        let one = |number: usize| {
            let _task = region.task();
            let object = &objects[number];
            let mut locals = Kept::new(object.first_global as usize);
            each_symbol(number, object, sections, live, |index| {
                if index < object.first_global {
                    locals.set(index);
                } else if (index as usize) < object.syms.len() {
                    let id = object.global(index).index();
                    globals[id / 32].fetch_or(1 << (id % 32), Ordering::Relaxed);
                }
            });
            OnceLock::from(locals)
        };
        let locals = par::map(parallel, objects.len(), one);
        drop(region);
        Needed { locals, globals }
    }

    /// Whether a relocation, or a group that is copied, refers to local symbol `index` of an object.
    pub fn local(&self, choice: &Choice, number: usize, object: &Object, index: u32) -> bool {
        let find = || {
            let mut locals = Kept::new(object.first_global as usize);
            let mut set = |index: u32| {
                if index < object.first_global {
                    locals.set(index)
                }
            };
            each_symbol(number, object, choice.sections, choice.live, &mut set);
            for (shndx, shdr) in object.shdrs.iter().enumerate().filter(|(_, s)| s.sh_type() == SHT_GROUP) {
                let dissolved = choice.options.sections.dissolve_groups;
                if !dissolved && !live_members(object, shndx as u32, choice.live).is_empty() {
                    set(shdr.sh_info());
                }
            }
            locals
        };
        self.locals[number].get_or_init(find).contains(index)
    }

    /// Whether a relocation refers to a name.
    pub fn global(&self, id: SymbolId) -> bool {
        self.globals[id.index() / 32].load(Ordering::Relaxed) >> (id.index() % 32) & 1 != 0
    }
}

/// Hands the symbols that relocations of an object's sections refer to, as far as these are copied, to
/// `take`.
fn each_symbol(number: usize, object: &Object, sections: &Sections, live: &Live, mut take: impl FnMut(u32)) {
    for id in (object.section_base + 1..).take(object.shdrs.len().saturating_sub(1)).map(SectionId) {
        let section = sections.get(id);
        if section.in_image() && live.contains(id) && section.kind() != SectionKind::Folded {
            sections.relocs(object, number, section).iter().for_each(|reloc| take(reloc.sym()));
        }
    }
}

/// Indices in the symbol table.
pub struct Numbers {
    /// The local symbols of each object that are written, and the index of the first.
    pub locals: Vec<(u32, Kept)>,
    /// That of each name; 0 if it is not written.
    pub globals: Vec<AtomicU32>,
    /// The output sections that have symbols, which are the first after the null symbol.
    pub sections: Range<u32>,
}

impl Numbers {
    /// The index of a local symbol of an object; 0 if it is not written.
    pub fn local(&self, object: ObjectId, index: u32) -> u32 {
        let (first, kept) = &self.locals[object.index()];
        if kept.contains(index) { first + kept.rank(index) } else { 0 }
    }

    pub fn global(&self, id: SymbolId) -> u32 {
        self.globals[id.index()].load(Ordering::Relaxed)
    }

    /// Makes room for `count` symbols before the global ones, of which the first is number `first`.
    pub fn shift(&self, first: u32, count: u32) {
        let behind = self.globals.iter().filter(|number| number.load(Ordering::Relaxed) >= first);
        behind.for_each(|number| _ = number.fetch_add(count, Ordering::Relaxed));
    }

    /// The index of the symbol of an output section; 0 if it has none.
    pub fn section(&self, out: OutputSectionId) -> u32 {
        if self.sections.contains(&out.0) { out.0 - self.sections.start + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_kept_symbols() {
        let mut kept = Kept::new(200);
        for i in [1, 2, 63, 64, 130, 199] {
            kept.set(i);
        }
        assert_eq!(kept.count(), 6);
        assert!(kept.iter().eq([1, 2, 63, 64, 130, 199]));
        let ranks: Vec<u32> = [1, 2, 63, 64, 130, 199].iter().map(|&i| kept.rank(i)).collect();
        assert_eq!(ranks, [0, 1, 2, 3, 4, 5]);
        assert!(kept.contains(130) && !kept.contains(131));
    }
}
