//! Which symbols of objects are written to `.symtab`, and under what names.
//!
//! Everything that is in the image and has a name, unless options say otherwise: `-x` and `-X` drop
//! local symbols, `--retain-symbols-file` all that it does not list. What relocations of the output name
//! stays in any case. `-z unique-symbol` makes the names of local symbols unique.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weld_common::diag::DiagSink;
use weld_common::hash::hash_bytes;
use weld_common::zeroed;
use weld_common::{par, trace};

use super::symbol_numbers::Needed;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::live::live_members;
use crate::options::{Discard, Options, Strip, SymtabOptions};
use crate::resolve::Resolved;
use crate::sections::spare_imports::SpareImports;
use crate::sections::{SectionKind, Sections};
use crate::symbols::{Symbols, symbol_flags};
use crate::synth::mentions::{Mentions, is_wanted};

/// What uncommon options say of symbols.
#[derive(Default)]
pub struct Special {
    /// The names that `--retain-symbols-file` lists.
    pub retained: Option<Arc<HashSet<Vec<u8>>>>,
    /// What relocations that are kept refer to.
    pub needed: Option<Needed>,
    /// What `-z unique-symbol` adds to names.
    pub suffixes: Option<Suffixes>,
    /// `-r`: who writes what nothing defines.
    pub mentions: Option<Mentions>,
    /// Labels of compilers (`.L`) are left out wherever they are: where code gets shorter, all of them are
    /// symbols.
    pub many_labels: bool,
    /// Room for what other modules define.
    pub spares: SpareImports,
}

/// What the choice of symbols depends on.
pub struct Choice<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
    pub options: &'c Options,
    pub special: &'c Special,
    pub sink: &'c DiagSink,
}

impl Choice<'_, '_> {
    /// Whether `--retain-symbols-file` lets a name stay. Inlined: nearly no link has one, and it is asked of each
    /// symbol.
    #[inline(always)]
    pub fn retains(&self, name: &[u8], needed: impl Fn() -> bool) -> bool {
        self.special.retained.as_ref().is_none_or(|list| list.contains(name) || needed())
    }

    /// Whether a relocation that is kept refers to a name.
    pub fn needs_global(&self, id: SymbolId) -> bool {
        self.special.needed.as_ref().is_some_and(|needed| needed.global(id))
    }

    /// Whether local symbol `index` of object `number` is written.
    pub fn keeps_local(&self, number: usize, object: &Object, index: u32, symbol: &Sym) -> bool {
        let needed = || {
            let needed = self.special.needed.as_ref();
            needed.is_some_and(|needed| needed.local(self, number, object, index))
        };
        let SymtabOptions { discard, strip, .. } = &self.options.symtab;
        let unwanted = symbol.st_name() == 0 || *discard == Discard::All || *strip == Strip::All;
        if symbol.kind() == STT_SECTION || unwanted && !needed() {
            return false;
        }
        let mut merged = false;
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let id = SectionId(object.section_base + shndx);
                let section = self.sections.get(id);
                let is_made_anew = matches!(section.kind(), SectionKind::EhFrame | SectionKind::CodeIndex);
                if !section.in_image() || !self.live.contains(id) || is_made_anew {
                    return self.is_group(object, shndx) && needed();
                }
                merged = object.shdrs[shndx as usize].sh_flags() & SHF_MERGE != 0;
            }
            SymbolPlace::Absolute => {}
            SymbolPlace::Section(_) => return false,
            // Nothing but `-r` keeps what refers to it.
            _ => return self.special.mentions.is_some() && needed(),
        }
        let temporary = || object.symbol_name(index).starts_with(b".L");
        match discard {
            Discard::Locals if temporary() => return needed(),
            Discard::Default if (merged || self.special.many_labels) && temporary() => return needed(),
            _ => {}
        }
        self.special.retained.is_none() || self.retains(object.symbol_name(index), needed)
    }

    /// Whether `-r` copies a section, which is a group.
    #[cold]
    fn is_group(&self, object: &Object, shndx: u32) -> bool {
        let group =
            object.shdrs[shndx as usize].sh_type() == SHT_GROUP && !self.options.sections.dissolve_groups;
        group && self.special.mentions.is_some() && !live_members(object, shndx, self.live).is_empty()
    }

    /// Whether this object's symbol `index` is the definition of its name, in the image; and whether
    /// it is written as a local symbol. With `-r`, also whether it is the mention of one that nothing
    /// defines. Inlined, for the table of a link asks for each symbol.
    #[inline(always)]
    pub fn keeps_global(&self, number: usize, object: &Object, index: u32) -> Option<bool> {
        if object.syms[index as usize].st_shndx() == SHN_UNDEF && self.special.mentions.is_none() {
            return None;
        }
        let id = object.global(index);
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        let here = match flags & symbol_flags::KIND {
            symbol_flags::DEFINED => self.live.contains(SectionId(symbol.section)),
            symbol_flags::ABSOLUTE => true,
            // gc gave it no place if it has no section.
            symbol_flags::COMMON => symbol.section != u32::MAX || self.keeps_common(id),
            symbol_flags::UNDEFINED => return self.keeps_mention(number, object, index).then_some(false),
            _ => false,
        };
        if !here {
            return None;
        }
        let entry = self.resolved.names.get(id);
        let mine = entry.sym() == index && entry.file() == object.file;
        let kept = mine && self.retains(entry.name, || self.needs_global(id));
        kept.then(|| self.is_local(id))
    }

    #[cold]
    fn keeps_common(&self, id: SymbolId) -> bool {
        self.special.mentions.is_some() && is_wanted(self, id)
    }

    #[cold]
    fn keeps_mention(&self, number: usize, object: &Object, index: u32) -> bool {
        self.special.mentions.as_ref().is_some_and(|mentions| mentions.has(number, object, index))
    }

    /// Whether a global symbol that is defined here is written as a local one. With `-r` none is: other
    /// objects of the final link may refer to it.
    pub fn is_local(&self, id: SymbolId) -> bool {
        self.symbols[id].flags() & (symbol_flags::HIDDEN | symbol_flags::LOCALIZED) != 0
            && self.special.mentions.is_none()
    }

    /// The name of a global symbol of an object in the output. A definition may spell a version that its name
    /// in the table of names does not have; a reference may be to another name than it says (`--wrap`).
    pub fn name_of_global<'a>(&'a self, object: &Object<'a>, index: u32) -> &'a [u8] {
        let id = object.global(index);
        match self.symbols[id].kind() {
            symbol_flags::UNDEFINED => self.resolved.names.get(id).name,
            _ => object.symbol_name(index),
        }
    }
}

/// Names are spread over this many tables, which are filled independently.
const SHARDS: usize = 64;

/// For each name of local symbols, those that have it are counted in the order of the table.
pub struct Suffixes {
    /// Where each object's symbols start in `counts`.
    starts: Vec<usize>,
    /// One more than a symbol's number; 0: it keeps its name.
    counts: Vec<AtomicU32>,
}

impl Suffixes {
    pub fn collect(choice: &Choice, parallel: bool) -> Suffixes {
        let objects = &choice.resolved.objects;
        let mut total = 0;
        let mut starts = Vec::with_capacity(objects.len());
        for object in objects {
            starts.push(total);
            total += object.first_global as usize;
        }
        let counts: Vec<AtomicU32> = zeroed::sparse(total);
        let region = trace::region("bin local names");
        let binned = |number: usize| {
            let _task = region.task();
            let object = &objects[number];
            let mut bins: Vec<Vec<u32>> = vec![Vec::new(); SHARDS];
            for index in 1..object.first_global {
                let symbol = &object.syms[index as usize];
                let name = object.symbol_name(index);
                let named = symbol.kind() != STT_FILE && !name.is_empty();
                if named && choice.keeps_local(number, object, index, symbol) {
                    bins[hash_bytes(name) as usize % SHARDS].push(index);
                }
            }
            bins
        };
        let bins: Vec<Vec<Vec<u32>>> = par::map(parallel, objects.len(), binned);
        drop(region);
        let region = trace::region("number local names");
        let count = |shard: usize| {
            let _task = region.task();
            let mut known: HashMap<&[u8], u32> = HashMap::new();
            for (number, object) in objects.iter().enumerate() {
                for &index in &bins[number][shard] {
                    let seen = known.entry(object.symbol_name(index)).or_insert(0);
                    *seen += 1;
                    counts[starts[number] + index as usize].store(*seen, Ordering::Relaxed);
                }
            }
        };
        par::each(parallel, SHARDS, count);
        drop(region);
        Suffixes { starts, counts }
    }

    /// What a local symbol's name ends with.
    pub fn get(&self, number: usize, index: u32) -> Option<String> {
        let count = self.counts[self.starts[number] + index as usize].load(Ordering::Relaxed);
        count.checked_sub(1).map(|before| format!(".{before:x}"))
    }
}
