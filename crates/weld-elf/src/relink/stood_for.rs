//! COMDAT groups that others stand for, in links that keep their state: they lose, whatever they are called.
//!
//! Compilers call a group of constructors by one of them (`C2`) or by all (`C5`), by what an object uses. Groups of two
//! signatures both stay, and of what both define the first definition counts: the other copy is there, and nobody can refer
//! to it. Which object comes first with which group changes as these are edited; so that nothing else does, copies that
//! nobody can refer to are left out.
//!
//! Specification: gABI chapter 4, "Section groups"; Itanium C++ ABI, 5.2.6 (`C5`, `D5`).

use std::collections::{HashMap, HashSet};

use weld_common::par;

use crate::elf::*;
use crate::ids::{FileId, SymbolId};
use crate::input::object::{Object, SymbolPlace};
use crate::relink_state::keys;
use crate::resolve::Resolved;
use crate::resolve::comdat::{Comdats, signature};
use crate::sections::decode_relocs;
use crate::sections::lost_groups::{is_plain, members};
use crate::symbol_names::Rank;

/// Objects that a task looks at.
const OBJECTS: usize = 64;

/// What groups there are.
pub struct Groups<'g, 'a> {
    pub comdats: &'g Comdats,
    pub resolved: &'g Resolved<'a>,
    /// Copies that stay, since they did in the link that this one is compared with: of which files, and by hashes of names.
    pub kept: HashSet<(FileId, u128)>,
}

/// Of the sections of an object, the number of the group that stays and has each, from 1 on; empty if no group stays.
type GroupOf = Vec<u32>;

impl<'a> Groups<'_, 'a> {
    /// Has groups lose that others stand for: all that they define is defined by groups that stay, whatever these are
    /// called, and nobody outside refers to what is in them otherwise. Only groups are looked at that have nothing but code and
    /// what belongs to it.
    pub fn discard_stood_for(&self, parallel: bool) {
        let objects = self.resolved.objects.len();
        let found = par::runs("groups that others stand for", parallel, objects, OBJECTS, |run| {
            let mut of_others = HashMap::new();
            run.flat_map(|index| self.stood_for(index, &mut of_others)).collect::<Vec<_>>()
        });
        for (index, signature) in found.into_iter().flatten() {
            self.comdats.discard(index, signature);
        }
    }

    /// The groups of object number `index` that others stand for, by their signatures.
    fn stood_for(&self, index: usize, of_others: &mut HashMap<usize, GroupOf>) -> Vec<(u32, SymbolId)> {
        let object = &self.resolved.objects[index];
        let group_of = self.of_sections(index, object);
        if group_of.is_empty() {
            return Vec::new();
        }
        // Of each group that defines anything, whether all of that is others'.
        let mut are_others: Vec<Option<bool>> = vec![None; object.groups.len()];
        for (number, symbol) in (0..).zip(object.syms).skip(object.first_global as usize) {
            let SymbolPlace::Section(section) = object.place(number, symbol) else { continue };
            let Some(group) = group(&group_of, section) else { continue };
            let is_others = &mut are_others[group as usize];
            if *is_others != Some(false) {
                *is_others = Some(self.is_of_another((index, object), number, of_others));
            }
        }
        let may_lose = |(number, are_others): &(u32, Option<bool>)| {
            *are_others == Some(true) && is_plain(object, &object.groups[*number as usize])
        };
        let mut lost: Vec<u32> =
            (0..).zip(are_others).filter(may_lose).map(|(number, _): (u32, _)| number).collect();
        if !lost.is_empty() {
            let known = known_otherwise(object, &group_of);
            lost.retain(|number| !known.contains(number));
        }
        let of_group = |number| (index as u32, signature(object, &object.groups[number as usize]));
        lost.into_iter().map(of_group).collect()
    }

    /// Which groups of object number `index` stay, by its sections.
    fn of_sections(&self, index: usize, object: &Object) -> GroupOf {
        let mut group_of = GroupOf::new();
        for (number, group) in (0..).zip(&object.groups) {
            if !self.comdats.survives(index as u32, object, number) {
                continue;
            }
            group_of.resize(object.shdrs.len(), 0);
            members(object, group).for_each(|member| group_of[member as usize] = number + 1);
        }
        group_of
    }

    /// Whether what an object defines as this symbol is another one's, which has it in a group that stays.
    fn is_of_another(
        &self,
        (index, object): (usize, &Object<'a>),
        symbol: u32,
        of_others: &mut HashMap<usize, GroupOf>,
    ) -> bool {
        let Resolved { names, objects, index_of_file, .. } = self.resolved;
        let entry = names.get(object.global(symbol));
        if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
            return false;
        }
        let number = index_of_file[entry.file().index()] as usize;
        let Some(other) = objects.get(number).filter(|_| number != index) else { return false };
        let Some(definition) = other.syms.get(entry.sym() as usize).filter(|_| other.file == entry.file())
        else {
            return false;
        };
        let SymbolPlace::Section(section) = other.place(entry.sym(), definition) else { return false };
        let groups = of_others.entry(number).or_insert_with(|| self.of_sections(number, other));
        let is_kept = || {
            !self.kept.is_empty()
                && self.kept.contains(&(object.file, keys::hash(object.symbol_name(symbol))))
        };
        group(groups, section).is_some() && !is_kept()
    }
}

/// The number of the group that stays and has a section.
fn group(group_of: &[u32], section: u32) -> Option<u32> {
    group_of.get(section as usize)?.checked_sub(1)
}

/// The groups that sections in memory outside of them refer to by local symbols, but for frames.
fn known_otherwise(object: &Object, group_of: &[u32]) -> HashSet<u32> {
    let mut known = HashSet::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let target = object.shdrs.get(shdr.sh_info() as usize);
        let is_loaded = target.is_some_and(|target| target.sh_flags() & SHF_ALLOC != 0);
        let is_relocs = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
        if !is_relocs || !is_loaded || object.section_name(shdr.sh_info() as usize) == Some(b".eh_frame") {
            continue;
        }
        let Ok(relocs) = decode_relocs(object, index) else { continue };
        for symbol in relocs.iter().map(Rela::sym).filter(|symbol| *symbol < object.first_global) {
            let Some(sym) = object.syms.get(symbol as usize) else { continue };
            if let SymbolPlace::Section(section) = object.place(symbol, sym)
                && let Some(of) = group(group_of, section)
                && group(group_of, shdr.sh_info()) != Some(of)
            {
                known.insert(of);
            }
        }
    }
    known
}
