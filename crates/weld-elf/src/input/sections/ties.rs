//! What a section means to `--gc-sections`: which are kept, and which live and die with which.
//!
//! Sections follow their leader of `SHF_LINK_ORDER`, the other members of their group, and the function
//! whose exception table they are (which `.eh_frame` says).
//!
//! Specification: gABI chapter 4 ("Section Groups", "SHF_LINK_ORDER", "SHF_GNU_RETAIN").

use super::SectionKind;
use super::names::continues;
use super::parse::Parser;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::input::object::SymbolPlace;
use crate::options::OutputKind;
use crate::util::is_c_identifier;

impl Parser<'_, '_> {
    /// Notes what the section means to gc.
    pub(super) fn note_liveness(&mut self, shndx: usize, name: &[u8]) {
        let shdr = &self.object.shdrs[shndx];
        let flags = shdr.sh_flags();
        if flags & SHF_LINK_ORDER != 0 && shdr.sh_link() != 0 {
            let leader = shdr.sh_link();
            if (leader as usize) < self.slots.len() {
                self.extra.link_order.push((shndx as u32, leader));
                self.extra.followers.push((leader, shndx as u32));
            } else {
                self.error(shndx, &format!("is linked to section {leader}, which does not exist"));
            }
        }
        if flags & SHF_ALLOC == 0 {
            self.extra.unallocated.push(shndx as u32);
            return;
        }
        let grouped = flags & (SHF_GROUP | SHF_LINK_ORDER) != 0;
        let kept = match shdr.sh_type() {
            SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY => true,
            SHT_NOTE => flags & SHF_GROUP == 0,
            _ => {
                continues(name, b".init_array")
                    || continues(name, b".fini_array")
                    || continues(name, b".preinit_array")
                    || continues(name, b".ctors")
                    || continues(name, b".dtors")
                    || matches!(name, b".init" | b".fini" | b".jcr")
            }
        };
        if flags & SHF_GNU_RETAIN != 0 || kept {
            self.extra.retained.push(shndx as u32);
        } else if is_c_identifier(name) && !grouped {
            self.extra.c_named.push(shndx as u32);
        }
    }

    pub(super) fn parse_eh_frames(&mut self) {
        for shndx in 1..self.slots.len() {
            if self.slots[shndx].kind() != SectionKind::EhFrame && !self.is_joined_frame(shndx) {
                continue;
            }
            let data = self.object.section_data(shndx).unwrap_or(&[]);
            let relocs = self.relocs_of(shndx);
            match EhFrame::parse(data, relocs, |r| r.r_offset()) {
                Ok(frames) => {
                    self.tie_exception_tables(&frames, shndx);
                    self.extra.eh_frames.push((shndx as u32, frames));
                }
                Err(e) => self.error(shndx, &e.to_string()),
            }
        }
    }

    /// `-r` copies `.eh_frame` whole; its records say what lives with a function all the same.
    fn is_joined_frame(&self, shndx: usize) -> bool {
        self.options.kind == OutputKind::Relocatable
            && self.options.gc_sections
            && self.slots[shndx].kind() == SectionKind::Regular
            && self.object.section_name(shndx) == Some(b".eh_frame")
    }

    /// An FDE with more than one relocation names an exception table: it lives as long as its function.
    fn tie_exception_tables(&mut self, frames: &EhFrame, shndx: usize) {
        let mut edges = Vec::new();
        {
            let relocs = self.relocs_of(shndx);
            for fde in frames.fdes.iter().filter(|f| f.n_relocs > 1) {
                let first = fde.first_reloc as usize;
                let Some(function) = self.local_section(&relocs[first]) else { continue };
                for reloc in &relocs[first + 1..first + fde.n_relocs as usize] {
                    edges.extend(self.local_section(reloc).map(|table| (function, table)));
                }
            }
        }
        self.extra.followers.extend(edges.into_iter().filter(|(a, b)| a != b));
    }

    /// The section of this object that a relocation's symbol lies in.
    fn local_section(&self, reloc: &Rela) -> Option<u32> {
        let sym = self.object.syms.get(reloc.sym() as usize)?;
        match self.object.place(reloc.sym(), sym) {
            SymbolPlace::Section(s) if (s as usize) < self.slots.len() => Some(s),
            _ => None,
        }
    }

    /// Members of a group live and die together: each leads the next, the last the first.
    pub(super) fn tie_groups(&mut self) {
        for (i, shdr) in self.object.shdrs.iter().enumerate() {
            if shdr.sh_type() != SHT_GROUP {
                continue;
            }
            let words = self.object.group_words(i as u32).unwrap_or(&[]);
            let live = |w: &Word| self.slots.get(w.get() as usize).is_some_and(|s| s.in_image());
            let members: Vec<u32> = words.iter().skip(1).filter(|w| live(w)).map(|w| w.get()).collect();
            let alloc = |m: &u32| self.object.shdrs[*m as usize].sh_flags() & SHF_ALLOC != 0;
            if members.len() < 2 || !members.iter().any(alloc) {
                continue;
            }
            for (k, &member) in members.iter().enumerate() {
                self.extra.followers.push((member, members[(k + 1) % members.len()]));
            }
        }
    }
}
