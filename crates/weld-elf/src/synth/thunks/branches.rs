//! Which branches may not reach, and where they go.
//!
//! All relocations of code are looked at once, in parallel, those of input sections that are near enough to
//! both ends of the code excepted. What is kept are the branches that reach by less than a margin, or not at
//! all; as long as nothing has moved by more than that, only they are looked at again.

use weld_common::par;

use super::reaches;
use super::search::World;
use crate::arch::facts::Branches;
use crate::elf::{Rela, SHF_EXECINSTR};
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::layout::{Layout, Member, OutputSection};
use crate::sections::{SectionKind, Sections};
use crate::slots::{NONE, Slot};
use crate::symbols::internal::Target;
use crate::symbols::{Symbol, Symbols, sym};

/// What a branch goes to, in terms that layout does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// A byte of an input section, or of what may be anywhere else.
    Section(SectionId, u64),
    /// An entry of the PLT, and how far after its start.
    Plt(u32, i64),
    /// What the linker defines, and how far after it.
    Internal(SymbolId, i64),
    Absolute(u64),
}

impl Goal {
    /// Where it is, once everything has its address; `plt` knows those of entries.
    pub fn address(self, sections: &Sections, symbols: &Symbols, plt: impl Fn(u32) -> u64) -> u64 {
        match self {
            Goal::Section(id, offset) => sections.address_of(id, offset),
            Goal::Plt(entry, addend) => plt(entry).wrapping_add(addend as u64),
            Goal::Internal(id, addend) => symbols[id].address().wrapping_add(addend as u64),
            Goal::Absolute(address) => address,
        }
    }
}

/// A branch that may not reach.
#[derive(Clone, Copy)]
pub struct Branch {
    pub section: SectionId,
    /// Number of its relocation.
    pub reloc: u32,
    /// In its section.
    pub offset: u64,
    pub goal: Goal,
}

/// Members whose relocations are looked at in one go.
const MEMBERS: usize = 2048;
/// How many aliases of aliases are followed.
const ALIASES: usize = 4;

/// Whether an output section has code in memory.
pub fn is_code(out: &OutputSection) -> bool {
    out.is_alloc() && out.flags & SHF_EXECINSTR != 0 && out.size > 0
}

/// From where to where code is.
pub fn extent(layout: &Layout) -> (u64, u64) {
    let code = || layout.sections.iter().filter(|out| is_code(out));
    let start = code().map(|out| out.address).min().unwrap_or(0);
    (start, code().map(|out| out.end()).max().unwrap_or(0))
}

/// Addresses while the layout settles: input sections and chunks have offsets in their output sections.
pub struct Addresses<'r, 'w, 'a> {
    pub world: &'r World<'w, 'a>,
    pub layout: &'r Layout<'a>,
    pub sections: &'r Sections<'a>,
}

impl<'a> Addresses<'_, '_, 'a> {
    /// Where a section is.
    pub fn of_section(&self, id: SectionId) -> Option<u64> {
        let section = self.sections.get(id);
        Some(self.layout[self.layout.out_of(section.bin())?].address.wrapping_add(section.offset()))
    }

    /// Where byte `offset` of a section is.
    pub fn of_byte(&self, id: SectionId, offset: u64) -> Option<u64> {
        Some(self.of_section(id)?.wrapping_add(self.sections.output_offset(id, offset)))
    }

    /// Where a chunk is.
    pub fn of_chunk(&self, id: ChunkId) -> u64 {
        let chunk = &self.layout.chunks[id.index()];
        self.layout[chunk.out].address.wrapping_add(chunk.address)
    }

    pub fn of(&self, goal: Goal) -> Option<u64> {
        Some(match goal {
            Goal::Section(id, offset) => self.of_byte(id, offset)?,
            Goal::Plt(entry, addend) => {
                let (kind, offset) = self.world.place_of_entry(entry);
                let chunk = self.layout.chunk_with_id(kind)?.0;
                self.of_chunk(chunk).wrapping_add(offset).wrapping_add(addend as u64)
            }
            Goal::Internal(id, addend) => self.of_internal(id)?.wrapping_add(addend as u64),
            Goal::Absolute(address) => address,
        })
    }

    fn of_internal(&self, id: SymbolId) -> Option<u64> {
        let world = self.world;
        let internal = world.internals.list.iter().find(|internal| internal.id == id)?;
        if let Target::Computed { .. } = internal.target {
            return Some(self.layout.script.as_ref()?.value_of(id)?.number);
        }
        Some(crate::layout::addresses::value_of_internal(
            world.symbols,
            (self.layout, world.internals),
            (&world.bases, world.shared),
            &internal.target,
        ))
    }

    /// What relocation `reloc` of an object goes to. `None`: nothing that a thunk could lead to.
    fn goal(&self, (id, object): (ObjectId, &Object), reloc: &Rela) -> Option<Goal> {
        let (index, addend) = (reloc.sym(), reloc.r_addend());
        if index >= object.first_global {
            if index as usize >= object.syms.len() {
                return None;
            }
            return self.goal_of_symbol(object.global(index), addend);
        }
        let symbol = &object.syms[index as usize];
        if let Some(entry) = self.world.slots.of_local(id, index).and_then(entry) {
            return Some(Goal::Plt(entry, addend));
        }
        match object.place(index, symbol) {
            SymbolPlace::Section(shndx) if (shndx as usize) < object.shdrs.len() => {
                let section = SectionId(object.section_base + shndx);
                self.goal_in(section, symbol.st_value().wrapping_add(addend as u64))
            }
            SymbolPlace::Absolute => Some(Goal::Absolute(symbol.st_value().wrapping_add(addend as u64))),
            _ => None,
        }
    }

    fn goal_of_symbol(&self, mut id: SymbolId, mut addend: i64) -> Option<Goal> {
        for _ in 0..ALIASES {
            let symbol: &Symbol = &self.world.symbols[id];
            let flags = symbol.flags();
            if flags & (sym::PREEMPTIBLE | sym::IFUNC) != 0
                && let Some(entry) = self.world.slots.of_symbol(id).and_then(entry)
            {
                return Some(Goal::Plt(entry, addend));
            }
            return match flags & sym::KIND {
                sym::DEFINED if flags & (sym::MERGED | sym::OUTSIDE) == 0 => {
                    self.goal_in(SectionId(symbol.section), symbol.offset().wrapping_add(addend as u64))
                }
                sym::ABSOLUTE if flags & sym::ASSIGNED == 0 => {
                    Some(Goal::Absolute(symbol.constant().wrapping_add(addend as u64)))
                }
                sym::ABSOLUTE | sym::INTERNAL => {
                    match self.world.internals.list.iter().find(|i| i.id == id) {
                        Some(internal) => {
                            if let Target::Alias(other, more) = internal.target {
                                (id, addend) = (other, addend.wrapping_add(more));
                                continue;
                            }
                            Some(Goal::Internal(id, addend))
                        }
                        None => None,
                    }
                }
                _ => None,
            };
        }
        None
    }

    /// A byte of an input section, or of the one that stands for it.
    fn goal_in(&self, id: SectionId, offset: u64) -> Option<Goal> {
        let id = self.world.live.folds.leader(id);
        let section = self.sections.get(id);
        let there = section.is_copied()
            && !matches!(section.kind(), SectionKind::EhFrame | SectionKind::Reversed)
            && self.world.live.contains(id);
        there.then_some(Goal::Section(id, offset))
    }

    /// The branches whose targets are not within `safe` bytes.
    pub fn collect(&self, machine: &Branches, safe: u64) -> Vec<Branch> {
        let extent = extent(self.layout);
        let mut lists = Vec::new();
        for out in self.layout.sections.iter().filter(|out| is_code(out)) {
            let region = "find branches that do not reach";
            lists.append(&mut par::runs(region, self.world.parallel, out.members.len(), MEMBERS, |run| {
                let mut found = Vec::new();
                for member in &out.members[run] {
                    self.of_member(*member, out.address, (machine, safe, extent), &mut found);
                }
                found
            }));
        }
        par::concat("join branches", self.world.parallel, lists)
    }

    /// Adds the branches of a member of an output section that is at `start`.
    fn of_member(
        &self,
        member: Member,
        start: u64,
        (machine, safe, extent): (&Branches, u64, (u64, u64)),
        found: &mut Vec<Branch>,
    ) {
        let Some(id) = member.as_section() else { return };
        let section = self.sections.get(id);
        if section.relocs == 0 {
            return;
        }
        let start = start.wrapping_add(section.offset());
        let end = start.saturating_add(section.size);
        let near = end.saturating_sub(extent.0) < safe && extent.1.saturating_sub(start) < safe;
        if near && !self.world.calls_outside {
            return;
        }
        let number = self.world.owners.object(id);
        let object = &self.world.resolved.objects[number.index()];
        for (i, reloc) in self.sections.relocs(object, number.index(), section).iter().enumerate() {
            if !machine.has(reloc.kind()) {
                continue;
            }
            let here = start.wrapping_add(self.sections.output_offset(id, reloc.r_offset()));
            let Some(goal) = self.goal((number, object), reloc) else { continue };
            if self.of(goal).is_some_and(|target| !reaches(safe, here, target)) {
                found.push(Branch { section: id, reloc: i as u32, offset: reloc.r_offset(), goal });
            }
        }
    }
}

/// The entry of the PLT that a slot has.
fn entry(slot: &Slot) -> Option<u32> {
    (slot.plt != NONE).then_some(slot.plt)
}
