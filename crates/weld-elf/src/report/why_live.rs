//! `--why-live`: which references keep a symbol in the output, from it back to where `--gc-sections` starts.
//!
//! The walk of the link itself keeps marks only. So the walk is done once more here, by one thread and in a
//! fixed order, breadth first: each section remembers who brought it to life first, which is one of the
//! shortest ways from the roots.

use std::collections::VecDeque;
use std::fmt::Write;

use weld_common::demangle::demangle;
use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::glob::Glob;

use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::{Context, Job};
use crate::live::Live;
use crate::live::roots::Roots;
use crate::resolve::Resolved;
use crate::sections::{Sections, is_array};
use crate::setup;
use crate::symbol_names::flag;
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::{place, shown};

/// Who brought a section to life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeper {
    Nobody,
    Root,
    /// A relocation at this offset of a section.
    Reference(SectionId, u64),
    /// A section that this one lives and dies with.
    Tie(SectionId),
}

struct WhyLive<'c, 'a> {
    job: &'c Job<'a>,
    context: &'c Context<'c, 'a>,
    resolved: &'c Resolved<'a>,
    sections: &'c Sections<'a>,
    symbols: &'c Symbols,
    keepers: Vec<Keeper>,
}

/// The report, if there is to be one.
pub fn report<'a>(
    job: &Job<'a>,
    context: &Context<'_, 'a>,
    resolved: &Resolved<'a>,
    sections: &Sections<'a>,
    symbols: &Symbols,
    live: &Live,
) -> Result<(), Diagnostics> {
    let patterns = &job.options.reports.why_live;
    if patterns.is_empty() {
        return Ok(());
    }
    if !job.options.sections.gc_sections {
        let text = "--why-live has nothing to say without --gc-sections: all sections stay";
        job.sink.push(Diagnostic::warning(Cause::OptionWithoutEffect, text));
        return Ok(());
    }
    let keepers = vec![Keeper::Nobody; sections.list.len()];
    let mut why = WhyLive { job, context, resolved, sections, symbols, keepers };
    why.walk();
    job.print(&why.text(patterns, live))
}

impl<'a> WhyLive<'_, 'a> {
    fn walk(&mut self) {
        let (objects, names, internals) =
            (&self.resolved.objects, &self.resolved.names, self.context.internals);
        let (sections, symbols, options) = (self.sections, self.symbols, self.job.options);
        let roots = Roots { objects, sections, symbols, names, internals, options }.collect(false);
        let mut queue = VecDeque::new();
        for root in roots {
            self.reach(root, Keeper::Root, &mut queue);
        }
        // Frames stay with their functions; what they need of their own are personality routines.
        for (index, object) in objects.iter().enumerate() {
            for (shndx, frames) in &sections.objects[index].eh_frames {
                let section = SectionId(object.section_base + shndx);
                let relocs = sections.relocs(object, index, sections.get(section));
                for cie in &frames.cies {
                    let range = cie.first_reloc as usize..(cie.first_reloc + cie.n_relocs) as usize;
                    for reloc in relocs.get(range).unwrap_or_default() {
                        self.follow(index, section, reloc, &mut queue);
                    }
                }
            }
        }
        while let Some(section) = queue.pop_front() {
            self.visit(section, &mut queue);
        }
    }

    fn reach(&mut self, section: SectionId, keeper: Keeper, queue: &mut VecDeque<SectionId>) {
        if let Some(slot) = self.keepers.get_mut(section.index())
            && *slot == Keeper::Nobody
            && self.sections.get(section).in_image()
        {
            *slot = keeper;
            queue.push_back(section);
        }
    }

    fn visit(&mut self, id: SectionId, queue: &mut VecDeque<SectionId>) {
        let index = self.context.owners.object(id).index();
        let object = &self.resolved.objects[index];
        let shndx = id.0 - object.section_base;
        for &(_, follower) in self.sections.objects[index].followers.iter().filter(|tie| tie.0 == shndx) {
            self.reach(SectionId(object.section_base + follower), Keeper::Tie(id), queue);
        }
        if object.shdrs[shndx as usize].sh_flags() & SHF_ALLOC != 0 {
            for reloc in self.sections.relocs(object, index, self.sections.get(id)) {
                self.follow(index, id, reloc, queue);
            }
        }
    }

    /// The section that a relocation leads to.
    fn follow(&mut self, index: usize, from: SectionId, reloc: &Rela, queue: &mut VecDeque<SectionId>) {
        let object = &self.resolved.objects[index];
        if let Some(target) = self.section_of(object, reloc.sym()) {
            self.reach(target, Keeper::Reference(from, reloc.r_offset()), queue);
        }
    }

    /// The section that symbol `index` of an object stands for in this link.
    fn section_of(&self, object: &Object, index: u32) -> Option<SectionId> {
        let symbol = object.syms.get(index as usize)?;
        if index >= object.first_global {
            let global = &self.symbols[object.global(index)];
            return (global.kind() == symbol_flags::DEFINED).then_some(SectionId(global.section));
        }
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                Some(SectionId(object.section_base + shndx))
            }
            _ => None,
        }
    }

    fn text(&self, patterns: &[Glob], live: &Live) -> String {
        let mut text = String::new();
        for object in &self.resolved.objects {
            for (i, symbol) in object.syms.iter().enumerate().skip(1) {
                let name = object.symbol_name(i as u32);
                if name.is_empty() || matches!(symbol.kind(), STT_SECTION | STT_FILE) {
                    continue;
                }
                let is_meant = |glob: &Glob| glob.matches(name) || glob.matches(demangle(name).as_bytes());
                let Some((shndx, _)) = place::section_of(object, i as u32) else { continue };
                let section = SectionId(object.section_base + shndx);
                let is_this = self.section_of(object, i as u32) == Some(section);
                if is_this && live.contains(section) && patterns.iter().any(is_meant) {
                    _ = writeln!(
                        text,
                        "{} stays: {}",
                        shown(self.job.options, name),
                        object.at_section(shndx)
                    );
                    self.chain(section, &mut text);
                }
            }
        }
        text
    }

    /// The way from a section back to a root.
    fn chain(&self, mut section: SectionId, text: &mut String) {
        loop {
            let line = match self.keepers[section.index()] {
                Keeper::Reference(from, offset) => {
                    section = from;
                    let (object, shndx) = self.place(from);
                    format!("referenced by {}", place::reference(self.job.options, object, shndx, offset))
                }
                Keeper::Tie(from) => {
                    section = from;
                    let (object, shndx) = self.place(from);
                    format!("stays with {}", object.at_section(shndx))
                }
                Keeper::Root => {
                    _ = writeln!(text, ">>> {}", self.reason(section));
                    return;
                }
                Keeper::Nobody => {
                    _ = writeln!(text, ">>> exception frames always stay with the code that they are for");
                    return;
                }
            };
            _ = writeln!(text, ">>> {line}");
        }
    }

    fn place(&self, section: SectionId) -> (&Object<'a>, u32) {
        let object = &self.resolved.objects[self.context.owners.object(section).index()];
        (object, section.0 - object.section_base)
    }

    /// Why a section is one that `--gc-sections` starts from.
    fn reason(&self, section: SectionId) -> String {
        let (object, shndx) = self.place(section);
        let entry = setup::entry_symbol(self.job.options, self.context.inputs);
        let mut exported = None;
        for i in object.first_global..object.syms.len() as u32 {
            if self.section_of(object, i) != Some(section) {
                continue;
            }
            let (name, id) = (object.symbol_name(i), object.global(i));
            if entry.as_ref().is_some_and(|entry| entry.as_bytes() == name) {
                return format!("{} is the entry point", shown(self.job.options, name));
            }
            if self.resolved.names.get(id).flags & (flag::ROOT | flag::KEEP) != 0 {
                return format!("an option or a script asks for {}", shown(self.job.options, name));
            }
            if self.symbols[id].has(symbol_flags::EXPORTED) {
                exported.get_or_insert(name);
            }
        }
        if let Some(name) = exported {
            return format!("{} is exported: other modules may use it", shown(self.job.options, name));
        }
        let shdr = &object.shdrs[shndx as usize];
        let name = String::from_utf8_lossy(object.section_name(shndx as usize).unwrap_or_default());
        if shdr.sh_flags() & SHF_GNU_RETAIN != 0 {
            format!("section {name} asks to stay (SHF_GNU_RETAIN)")
        } else if is_array(shdr.sh_type()) {
            format!("functions that section {name} names run when the module starts or ends")
        } else if self.sections.objects[self.context.owners.object(section).index()].c_named.contains(&shndx)
        {
            format!("__start_{name} or __stop_{name} is asked for")
        } else {
            format!("section {name} stays because of its name or type, or because a script keeps it")
        }
    }
}
