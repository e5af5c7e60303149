//! What `--gc-sections` starts from.
//!
//! The entry point, `-u` and kin, everything other modules can see, sections that run by themselves
//! (`.init_array`, …) or ask to stay (`SHF_GNU_RETAIN`), personality routines, sections that
//! `__start_X` and `__stop_X` bracket, and all sections that take no memory (debug information).

use std::collections::HashSet;

use weld_common::par;

use crate::ids::*;
use crate::input::object::Object;
use crate::options::Options;
use crate::sections::names::is_c_identifier;
use crate::sections::{ObjectSections, SectionKind, Sections};
use crate::symbol_names::{Names, flag};
use crate::symbols::internal::{Internals, Target};
use crate::symbols::{Symbol, Symbols, symbol_flags};

/// Names looked at by one task, and objects.
const NAMES: usize = 1 << 15;
const OBJECTS: usize = 64;

/// What the roots are found in.
pub struct Roots<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub names: &'c Names<'a>,
    pub internals: &'c Internals,
    pub options: &'c Options,
}

impl Roots<'_, '_> {
    pub fn collect(&self, parallel: bool) -> Vec<SectionId> {
        let bracketed = self.bracketed();
        let mut lists = par::runs("roots among symbols", parallel, self.symbols.list.len(), NAMES, |run| {
            let mut roots = Vec::new();
            run.for_each(|i| self.symbol_seen_from_outside(SymbolId(i as u32), &mut roots));
            roots
        });
        lists.extend(par::runs("roots in objects", parallel, self.objects.len(), OBJECTS, |run| {
            let mut roots = Vec::new();
            run.for_each(|index| self.object(index, &bracketed, &mut roots));
            roots
        }));
        lists.push(self.aliases());
        lists.push(self.sections.last_kept.clone());
        lists.retain(|list| !list.is_empty());
        par::concat("join roots", parallel, lists)
    }

    fn object(&self, index: usize, bracketed: &HashSet<&[u8]>, roots: &mut Vec<SectionId>) {
        let (object, extra) = (&self.objects[index], &self.sections.objects[index]);
        let before = roots.len();
        let id = |shndx: u32| SectionId(object.section_base + shndx);
        roots.extend(extra.retained.iter().map(|&s| id(s)));
        if !bracketed.is_empty() {
            let kept = |s: &u32| object.section_name(*s as usize).is_some_and(|n| bracketed.contains(n));
            roots.extend(extra.c_named.iter().filter(|s| kept(s)).map(|&s| id(s)));
        }
        self.unallocated(object, extra, roots);
        self.exception_tables(index, roots);
        let mut all = roots.split_off(before);
        // Frames follow their functions, record by record, whatever a script wants kept.
        let is_root = |root: &SectionId| {
            let section = self.sections.get(*root);
            section.in_image() && section.kind() != SectionKind::EhFrame
        };
        all.retain(is_root);
        roots.append(&mut all);
    }

    #[inline]
    fn symbol_seen_from_outside(&self, id: SymbolId, roots: &mut Vec<SectionId>) {
        let symbol = &self.symbols[id];
        let flags = symbol.flags();
        if flags & symbol_flags::KIND != symbol_flags::DEFINED {
            return;
        }
        let visible = || {
            self.options.sections.gc_keep_exported
                && flags & (symbol_flags::HIDDEN | symbol_flags::LOCALIZED) == 0
        };
        if flags & symbol_flags::EXPORTED != 0
            || visible()
            || self.names.get(id).flags & (flag::ROOT | flag::KEEP) != 0
        {
            self.put(symbol, roots);
        }
    }

    fn put(&self, symbol: &Symbol, roots: &mut Vec<SectionId>) {
        let section = SectionId(symbol.section);
        if symbol.kind() == symbol_flags::DEFINED && self.sections.get(section).in_image() {
            roots.push(section);
        }
    }

    fn aliases(&self) -> Vec<SectionId> {
        let mut roots = Vec::new();
        for internal in &self.internals.list {
            if let Target::Alias(other, _) = internal.target {
                self.put(&self.symbols[other], &mut roots);
            }
            if let Target::Code { section, .. } = internal.target
                && self.sections.get(section).in_image()
            {
                roots.push(section);
            }
        }
        // What a script computes with.
        self.internals.script_needs.iter().for_each(|id| self.put(&self.symbols[*id], &mut roots));
        roots
    }

    /// Names of sections that stay because their bounds are asked for.
    fn bracketed(&self) -> HashSet<&[u8]> {
        if self.options.sections.start_stop_gc {
            return HashSet::new();
        }
        let mut set = HashSet::new();
        for internal in &self.internals.list {
            if let Target::SectionStart(name) | Target::SectionEnd(name) = &internal.target
                && is_c_identifier(name)
            {
                set.insert(&name[..]);
            }
            // A script may define the bounds itself: to the code that asks for them they mean the same.
            let entry = self.names.get(internal.id);
            if matches!(internal.target, Target::Computed { .. })
                && entry.flags & (flag::REF_STRONG | flag::REF_WEAK) != 0
            {
                let asked = entry.name;
                let name = asked.strip_prefix(b"__start_").or(asked.strip_prefix(b"__stop_"));
                set.extend(name.filter(|name| is_c_identifier(name)));
            }
        }
        set
    }

    /// Sections that take no memory stay, unless they belong to one that may go.
    fn unallocated(&self, object: &Object, extra: &ObjectSections, roots: &mut Vec<SectionId>) {
        let mut alone = extra.unallocated.clone();
        let (Some(&first), Some(&last)) = (alone.first(), alone.last()) else { return };
        // A follower becomes section 0, which is none.
        for &(_, follower) in extra.followers.iter().filter(|f| (first..=last).contains(&f.1)) {
            if let Ok(place) = extra.unallocated.binary_search(&follower) {
                alone[place] = 0;
            }
        }
        roots.extend(alone.iter().filter(|s| **s != 0).map(|s| SectionId(object.section_base + s)));
    }

    /// An exception table named through a global symbol cannot be tied to its function.
    fn exception_tables(&self, index: usize, roots: &mut Vec<SectionId>) {
        let object = &self.objects[index];
        for (shndx, frames) in &self.sections.objects[index].eh_frames {
            let section = self.sections.get(SectionId(object.section_base + shndx));
            let relocs = self.sections.relocs(object, index, section);
            for fde in frames.fdes.iter().filter(|f| f.n_relocs > 1) {
                let first = fde.first_reloc as usize;
                for reloc in &relocs[first + 1..first + fde.n_relocs as usize] {
                    if reloc.sym() >= object.first_global {
                        roots.extend(self.section_of(object, reloc.sym()));
                    }
                }
            }
        }
    }

    fn section_of(&self, object: &Object, index: u32) -> Option<SectionId> {
        let global = &self.symbols[object.global(object.syms.get(index as usize).map(|_| index)?)];
        (global.kind() == symbol_flags::DEFINED).then_some(SectionId(global.section))
    }
}
