//! What a section means to `--gc-sections`: which are kept, and which live and die with which.
//!
//! Sections follow their leader of `SHF_LINK_ORDER`, the other members of their group, and the function
//! whose exception table they are (which `.eh_frame` says).
//!
//! Specification: gABI chapter 4 ("Section Groups", "SHF_LINK_ORDER", "SHF_GNU_RETAIN").

use std::ops::Range;

use weld_common::par;

use super::names::continues;
use super::parse::{GROUPS, Parser};
use super::{InputSection, SectionKind, is_table};
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace, append};
use crate::options::OutputKind;
use crate::sections::names::is_c_identifier;

impl Parser<'_, '_> {
    /// Notes what the section means to gc.
    pub(super) fn note_liveness(&mut self, shndx: usize, name: &[u8]) {
        let shdr = &self.object.shdrs[shndx];
        let flags = shdr.sh_flags();
        // What is linked to itself lies where it comes, and lives by itself.
        let tied = flags & SHF_LINK_ORDER != 0 && shdr.sh_link() != 0 && shdr.sh_link() as usize != shndx;
        if tied {
            let leader = shdr.sh_link();
            if self.object.shdrs.get(leader as usize).is_some_and(is_table) {
                self.error(
                    shndx,
                    &format!("is linked to section {leader} (sh_link), which holds no code or data"),
                );
            } else if (leader as usize) < self.object.shdrs.len() {
                self.found.extra.link_order.push((shndx as u32, leader));
                self.found.extra.followers.push((leader, shndx as u32));
            } else {
                self.error(shndx, &format!("is linked to section {leader} (sh_link), which does not exist"));
            }
        }
        if flags & SHF_ALLOC == 0 {
            self.found.extra.unallocated.push(shndx as u32);
            if tied && flags & SHF_GNU_RETAIN != 0 {
                self.found.extra.retained.push(shndx as u32);
            }
            return;
        }
        let kept = match shdr.sh_type() {
            SHT_INIT_ARRAY | SHT_FINI_ARRAY => !tied,
            SHT_PREINIT_ARRAY => {
                if shdr.sh_size() > 0 && self.options.kind == OutputKind::Shared {
                    self.error(
                        shndx,
                        "holds functions to run before all others, which only a program can have",
                    );
                }
                !tied
            }
            // What runs for another section, or tells of it, goes with it.
            _ if tied => false,
            SHT_NOTE => flags & SHF_GROUP == 0,
            // Most names are told apart by a letter.
            _ if !matches!(name, [b'.', b'i' | b'f' | b'p' | b'c' | b'd' | b'j' | b's', ..]) => false,
            _ => {
                continues(name, b".init_array")
                    || continues(name, b".fini_array")
                    || continues(name, b".preinit_array")
                    || continues(name, b".ctors")
                    || continues(name, b".dtors")
                    // What the notes of SystemTap's probes count from: they do not keep it themselves.
                    || matches!(name, b".init" | b".fini" | b".jcr" | b".stapsdt.base")
            }
        };
        if flags & SHF_GNU_RETAIN != 0 || kept {
            self.found.extra.retained.push(shndx as u32);
        } else if is_c_identifier(name) && flags & SHF_LINK_ORDER == 0 {
            self.found.extra.c_named.push(shndx as u32);
        }
    }

    /// What is linked to a section that is left out (of a COMDAT group that lost, or in `/DISCARD/`) goes
    /// with it, also if the group does not list it; so does what is linked to that.
    pub(super) fn drop_leaderless(&mut self) {
        let links = &self.found.extra.link_order;
        let is_out =
            |slots: &[InputSection], shndx: u32| slots[shndx as usize].kind() == SectionKind::Discarded;
        let mut gone: Vec<u32> = Vec::new();
        for &(follower, leader) in links {
            if is_out(self.slots, leader) && !is_out(self.slots, follower) {
                self.slots[follower as usize].set_kind(SectionKind::Discarded);
                gone.push(follower);
            }
        }
        if gone.is_empty() {
            return;
        }
        let mut by_leader: Vec<(u32, u32)> =
            links.iter().map(|&(follower, leader)| (leader, follower)).collect();
        by_leader.sort_unstable();
        while let Some(leader) = gone.pop() {
            let first = by_leader.partition_point(|link| link.0 < leader);
            for &(_, follower) in by_leader[first..].iter().take_while(|link| link.0 == leader) {
                if !is_out(self.slots, follower) {
                    self.slots[follower as usize].set_kind(SectionKind::Discarded);
                    gone.push(follower);
                }
            }
        }
    }

    /// Fills in the records of each `.eh_frame`.
    pub(super) fn parse_eh_frames(&mut self) {
        let mut eh_frames = std::mem::take(&mut self.found.extra.eh_frames);
        eh_frames.retain_mut(|(shndx, frames)| {
            let shndx = *shndx as usize;
            if let Some((at, wrong)) = self.wrong_reference(self.relocs_of(shndx)) {
                self.error(shndx, &format!("relocation at {at:#x} {wrong}"));
                return false;
            }
            let data = self.object.section_data(shndx).unwrap_or(&[]);
            match EhFrame::parse(data, self.object.format(), self.relocs_of(shndx), |r| r.r_offset()) {
                Ok(records) => *frames = records,
                Err(e) => {
                    self.error(shndx, &e.to_string());
                    return false;
                }
            }
            self.tie_exception_tables(frames, shndx);
            true
        });
        self.found.extra.eh_frames = eh_frames;
    }

    /// The first relocation of an `.eh_frame` that refers to nothing. The scan sees only those of CIEs.
    fn wrong_reference(&self, relocs: &[Rela]) -> Option<(u64, String)> {
        let object = self.object;
        let limit = object.shdrs.len().min(SHN_LORESERVE as usize) as u16;
        let fine = |reloc: &&Rela| match object.syms.get(reloc.sym() as usize) {
            Some(_) if reloc.sym() >= object.first_global => true,
            Some(symbol) if symbol.st_shndx() < limit => {
                self.slots[symbol.st_shndx() as usize].kind() != SectionKind::Dropped
            }
            _ => false,
        };
        let mut doubtful = relocs.iter().filter(|reloc| !fine(reloc));
        doubtful.find_map(|reloc| Some((reloc.r_offset(), self.wrong(reloc)?)))
    }

    #[cold]
    fn wrong(&self, reloc: &Rela) -> Option<String> {
        let (object, index) = (self.object, reloc.sym());
        if index == 0 {
            return None;
        }
        let Some(symbol) = object.syms.get(index as usize) else {
            return Some(format!("has a bad symbol index: {index}"));
        };
        let sound = match object.place(index, symbol) {
            SymbolPlace::Section(s) => object.shdrs.get(s as usize).is_some_and(|s| !is_table(s)),
            place => place == SymbolPlace::Absolute,
        };
        (!sound).then(|| format!("refers to a symbol that cannot be: {}", object.misplaced(index, symbol)))
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
        self.found.extra.followers.extend(edges.into_iter().filter(|(a, b)| a != b));
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
    pub(super) fn tie_groups(&mut self, parallel: bool) {
        let (object, slots) = (self.object, &*self.slots);
        let tie = |run: Range<usize>| {
            let (mut followers, mut members) = (Vec::new(), Vec::new());
            for group in &object.groups[run] {
                tie_group(object, slots, group.shndx, &mut members, &mut followers);
            }
            followers
        };
        let followers = &mut self.found.extra.followers;
        let groups = (object.groups.len(), GROUPS);
        par::in_runs("tie groups", parallel, groups, tie, |part| append(followers, part));
        let mut members = Vec::new();
        for &shndx in &object.plain_groups {
            tie_group(object, slots, shndx, &mut members, followers);
        }
    }
}

/// Adds what group `shndx` means to `followers`; `members` is for use.
fn tie_group(
    object: &Object,
    slots: &[InputSection],
    shndx: u32,
    members: &mut Vec<u32>,
    followers: &mut Vec<(u32, u32)>,
) {
    let words = object.group_words(shndx).unwrap_or_default();
    let live = |w: &u32| slots.get(*w as usize).is_some_and(|s| s.in_image());
    members.clear();
    members.extend(words.members().filter(live));
    let alloc = |m: &u32| object.shdrs[*m as usize].sh_flags() & SHF_ALLOC != 0;
    if members.len() < 2 || !members.iter().any(alloc) {
        return;
    }
    for (k, &member) in members.iter().enumerate() {
        followers.push((member, members[(k + 1) % members.len()]));
    }
}
