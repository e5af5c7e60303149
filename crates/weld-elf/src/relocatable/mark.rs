//! Which sections a joined object keeps.
//!
//! Without `--gc-sections` all, except those that belong to one that a COMDAT group lost with. With
//! it, what the roots of any link lead to; here an entry point or `-u` has to say what the object is
//! for, because nothing is exported yet. `.eh_frame` and `.sframe` are kept whole: their records follow
//! functions in the final link, and those of dropped functions lose their relocations here.
//!
//! One thread: `-r --gc-sections` is rare.

use weld_common::diag::{Cause, DiagSink};
use weld_common::walk::Marks;

use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::roots::Roots;
use crate::live::{Live, SectionOwners};
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::{SectionKind, Sections};
use crate::symbol_names::flag;
use crate::symbols::internal::Internals;
use crate::symbols::{Symbols, symbol_flags};

struct Marker<'c, 'a> {
    resolved: &'c Resolved<'a>,
    sections: &'c Sections<'a>,
    symbols: &'c Symbols,
    owners: &'c SectionOwners,
    marks: Marks,
    stack: Vec<SectionId>,
}

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Link<'c, 'a> {
    pub resolved: &'c Resolved<'a>,
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub internals: &'c Internals,
    pub owners: &'c SectionOwners,
}

impl Link<'_, '_> {
    /// The sections to copy. Notes in `symbols` which names they refer to (`symbol_flags::USED`).
    pub fn live(self, options: &Options, sink: &DiagSink) -> Live {
        live(self, options, sink)
    }
}

fn live(link: Link, options: &Options, sink: &DiagSink) -> Live {
    let Link { resolved, sections, symbols, internals, owners } = link;
    let marks = Marks::new(sections.list.len());
    let mut marker = Marker { resolved, sections, symbols, owners, marks, stack: Vec::new() };
    if options.sections.gc_sections {
        let roots = Roots {
            objects: &resolved.objects,
            sections,
            symbols,
            names: &resolved.names,
            internals,
            options,
        };
        if !resolved.names.iter().any(|(_, e)| e.flags & (flag::ROOT | flag::KEEP) != 0) {
            sink.warn(
                Cause::OptionWithoutEffect,
                "-r --gc-sections without -e or -u keeps only what is never removed",
            );
        }
        marker.roots(&roots);
        marker.walk();
    } else {
        (0..sections.list.len()).filter(|&i| sections.list[i].in_image()).for_each(|i| {
            marker.mark(i as u32);
        });
    }
    marker.drop_leaderless();
    if symbols.list.iter().any(|symbol| symbol.has(symbol_flags::IN_DISCARDED)) {
        marker.use_discarded();
    }
    Live::new(marker.marks)
}

impl<'a> Marker<'_, 'a> {
    fn mark(&self, section: u32) -> bool {
        self.marks.set(section)
    }

    fn is_marked(&self, section: u32) -> bool {
        self.marks.get(section)
    }

    fn push(&mut self, section: u32) {
        if self.sections.list[section as usize].in_image() && self.mark(section) {
            self.stack.push(SectionId(section));
        }
    }

    fn roots(&mut self, roots: &Roots<'_, 'a>) {
        for id in roots.collect(false) {
            self.push(id.0);
        }
        let sections = self.sections;
        for (object, extra) in self.resolved.objects.iter().zip(&sections.objects) {
            // Sections whose bounds somebody asks for; the final link defines them.
            for &shndx in &extra.c_named {
                let name = object.section_name(shndx as usize).unwrap_or(b"");
                let asked = [&b"__start_"[..], b"__stop_"]
                    .iter()
                    .any(|p| self.resolved.names.find(&[p, name].concat()).is_some());
                if asked && !roots.options.sections.start_stop_gc {
                    self.push(object.section_base + shndx);
                }
            }
        }
        for o in 0..self.resolved.objects.len() {
            for (shndx, frames) in &sections.objects[o].eh_frames {
                let object = &self.resolved.objects[o];
                self.mark(object.section_base + shndx);
                let id = SectionId(object.section_base + shndx);
                let relocs = sections.relocs(object, o, sections.get(id));
                self.use_names(object, relocs);
                for cie in &frames.cies {
                    let range = cie.first_reloc as usize..(cie.first_reloc + cie.n_relocs) as usize;
                    relocs[range].iter().for_each(|r| self.follow(object, r.sym()));
                }
            }
            for &shndx in &sections.objects[o].sframes {
                self.mark(self.resolved.objects[o].section_base + shndx);
            }
        }
    }

    fn walk(&mut self) {
        while let Some(id) = self.stack.pop() {
            let index = self.owners.object(id).index();
            let object = &self.resolved.objects[index];
            let shndx = id.0 - object.section_base;
            let followers = &self.sections.objects[index].followers;
            let start = followers.partition_point(|f| f.0 < shndx);
            for &(_, follower) in followers[start..].iter().take_while(|f| f.0 == shndx) {
                self.push(object.section_base + follower);
            }
            let shdr = &object.shdrs[shndx as usize];
            if shdr.sh_flags() & SHF_LINK_ORDER != 0 && (shdr.sh_link() as usize) < object.shdrs.len() {
                self.push(object.section_base + shdr.sh_link());
            }
            if shdr.sh_flags() & SHF_GROUP != 0 {
                self.follow_signature(object, shndx);
            }
            let sections = self.sections;
            let relocs = sections.relocs(object, index, &sections.list[id.index()]);
            if shdr.sh_flags() & SHF_ALLOC == 0 {
                self.use_names(object, relocs);
                continue;
            }
            for reloc in relocs {
                self.follow(object, reloc.sym());
            }
        }
    }

    /// A group's signature must have a symbol.
    fn follow_signature(&mut self, object: &Object<'a>, shndx: u32) {
        for (i, shdr) in object.shdrs.iter().enumerate().filter(|(_, s)| s.sh_type() == SHT_GROUP) {
            let words = object.group_words(i as u32).unwrap_or_default();
            if words.members().any(|w| w == shndx) {
                self.follow(object, shdr.sh_info());
            }
        }
    }

    /// Keeps what symbol `index` of an object stands for.
    fn follow(&mut self, object: &Object<'a>, index: u32) {
        let Some(local) = object.syms.get(index as usize) else { return };
        if index >= object.first_global {
            let symbol = &self.symbols[object.global(index)];
            symbol.add(symbol_flags::USED);
            if symbol.kind() == symbol_flags::DEFINED {
                self.push(symbol.section);
            }
        } else if let SymbolPlace::Section(s) = object.place(index, local)
            && (s as usize) < object.shdrs.len()
        {
            self.push(object.section_base + s);
        }
    }

    /// What is not followed still needs the names that it leaves to other objects.
    fn use_names(&self, object: &Object<'a>, relocs: &[Rela]) {
        for reloc in relocs.iter().filter(|r| r.sym() >= object.first_global) {
            if (reloc.sym() as usize) < object.syms.len() {
                let symbol = &self.symbols[object.global(reloc.sym())];
                if symbol.is_undefined() {
                    symbol.add(symbol_flags::USED);
                }
            }
        }
    }

    /// Notes which names with no definition left, because their group lost, sections in memory refer to.
    fn use_discarded(&self) {
        for (o, object) in self.resolved.objects.iter().enumerate() {
            let sframes = &self.sections.objects[o].sframes;
            let in_memory = object.shdrs.iter().enumerate().filter(|(_, s)| s.sh_flags() & SHF_ALLOC != 0);
            for (shndx, _) in in_memory {
                let id = object.section_base + shndx as u32;
                let section = &self.sections.list[id as usize];
                // Frames of functions that are gone go with them.
                let frames = section.kind() == SectionKind::EhFrame || sframes.contains(&(shndx as u32));
                if !self.is_marked(id) || frames {
                    continue;
                }
                let relocs = self.sections.relocs(object, o, section).iter();
                for reloc in relocs.filter(|r| r.sym() >= object.first_global) {
                    if (reloc.sym() as usize) < object.syms.len() {
                        let symbol = &self.symbols[object.global(reloc.sym())];
                        if symbol.has(symbol_flags::IN_DISCARDED) {
                            symbol.add(symbol_flags::USED_STRONG);
                        }
                    }
                }
            }
        }
    }

    /// A section that is ordered by another has no place without it.
    fn drop_leaderless(&mut self) {
        for (object, extra) in self.resolved.objects.iter().zip(&self.sections.objects) {
            // A leader may itself have a leader, further up or down.
            let mut again = true;
            while std::mem::take(&mut again) {
                for &(shndx, leader) in &extra.link_order {
                    let (section, leader) = (object.section_base + shndx, object.section_base + leader);
                    if self.is_marked(section) && !self.is_marked(leader) {
                        self.marks.clear(section);
                        again = true;
                    }
                }
            }
        }
    }
}
