//! What `--gc-sections` starts from.
//!
//! The entry point, `-u` and kin, everything other modules can see, sections that run by themselves
//! (`.init_array`, …) or ask to stay (`SHF_GNU_RETAIN`), personality routines, sections that
//! `__start_X` and `__stop_X` bracket, and all sections that take no memory (debug information).

use std::collections::HashSet;

use crate::ids::*;
use crate::input::object::Object;
use crate::input::sections::{ObjectSections, Sections};
use crate::options::Options;
use crate::resolve::internal::{Internals, Target};
use crate::resolve::names::{Names, flag};
use crate::resolve::symbols::{Symbols, sym};
use crate::util::is_c_identifier;

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
    pub fn collect(&self) -> Vec<SectionId> {
        let mut roots = Vec::new();
        self.symbols_seen_from_outside(&mut roots);
        let bracketed = self.bracketed();
        for (object, extra) in self.objects.iter().zip(&self.sections.objects) {
            let id = |shndx: u32| SectionId(object.section_base + shndx);
            roots.extend(extra.retained.iter().map(|&s| id(s)));
            let kept = |s: &u32| object.section_name(*s as usize).is_some_and(|n| bracketed.contains(n));
            roots.extend(extra.c_named.iter().filter(|s| kept(s)).map(|&s| id(s)));
            self.unallocated(object, extra, &mut roots);
            self.exception_tables(object, extra, &mut roots);
        }
        roots.retain(|r| self.sections.get(*r).in_image());
        roots
    }

    fn symbols_seen_from_outside(&self, roots: &mut Vec<SectionId>) {
        for (id, entry) in self.names.iter() {
            let symbol = &self.symbols[id];
            let kept = entry.flags & (flag::ROOT | flag::KEEP) != 0 || symbol.has(sym::EXPORTED);
            if kept && symbol.kind() == sym::DEFINED {
                roots.push(SectionId(symbol.section));
            }
        }
        for internal in &self.internals.list {
            if let Target::Alias(other, _) = internal.target
                && self.symbols[other].kind() == sym::DEFINED
            {
                roots.push(SectionId(self.symbols[other].section));
            }
        }
    }

    /// Names of sections that stay because their bounds are asked for.
    fn bracketed(&self) -> HashSet<&[u8]> {
        if self.options.start_stop_gc {
            return HashSet::new();
        }
        let mut set = HashSet::new();
        for internal in &self.internals.list {
            if let Target::SectionStart(name) | Target::SectionEnd(name) = &internal.target
                && is_c_identifier(name)
            {
                set.insert(&name[..]);
            }
        }
        set
    }

    /// Sections that take no memory stay, unless they belong to one that may go.
    fn unallocated(&self, object: &Object, extra: &ObjectSections, roots: &mut Vec<SectionId>) {
        let mut followers: Vec<u32> = extra.followers.iter().map(|f| f.1).collect();
        followers.sort_unstable();
        let alone = extra.unallocated.iter().filter(|s| followers.binary_search(s).is_err());
        roots.extend(alone.map(|s| SectionId(object.section_base + s)));
    }

    /// An exception table named through a global symbol cannot be tied to its function.
    fn exception_tables(&self, object: &Object, extra: &ObjectSections, roots: &mut Vec<SectionId>) {
        for (shndx, frames) in &extra.eh_frames {
            let section = self.sections.get(SectionId(object.section_base + shndx));
            let index = self.objects.partition_point(|o| o.section_base < object.section_base);
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
        (global.kind() == sym::DEFINED).then_some(SectionId(global.section))
    }
}
