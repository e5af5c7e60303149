//! COMDAT groups: of all groups with one signature, the earliest file's survives.
//!
//! Decided before any section of a loser is parsed. The table is indexed by the signature's name.
//!
//! Specification: gABI chapter 4, "Section groups".

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use weld_common::par;
use weld_common::resolve::comdat;

use super::Resolved;
use crate::ids::*;
use crate::input::object::{Group, Object, SymbolPlace};
use crate::symbol_names::{Rank, Wrap};

/// Pointers to the routines that unwind, by their names and those of their groups.
pub const POINTERS: [&[u8]; 2] = [b"DW.ref.rust_eh_personality", b"DW.ref.__gxx_personality_v0"];

/// Whether a group, or a name, is one of these.
pub fn is_pointer(name: &[u8]) -> bool {
    POINTERS.contains(&name)
}

/// Objects that a task looks at.
const OBJECTS: usize = 64;

/// Which groups stay.
pub struct Comdats(comdat::Comdats);

impl comdat::Signatures for Object<'_> {
    fn signatures(&self) -> impl ExactSizeIterator<Item = SymbolId> {
        self.groups.iter().map(|group| signature(self, group))
    }
}

impl Comdats {
    pub fn decide(resolved: &Resolved, parallel: bool) -> Comdats {
        let comdats = comdat::Comdats::decide(resolved.names.id_bound(), &resolved.objects, parallel);
        let (position, claimed) = &resolved.claimed_groups;
        claimed.iter().for_each(|signature| comdats.claim(*position, *signature));
        Comdats(comdats)
    }

    /// Has the last object that has them keep the pointers to personality routines, which are the same in all: of the
    /// first `count` objects. So it counts for nobody else who has them in links of which others are to be like.
    pub fn keep_last_pointers(&self, resolved: &Resolved, count: usize) {
        for name in POINTERS {
            let Some(id) = resolved.names.find(name).filter(|id| self.owner(*id).is_some()) else { continue };
            let of = |object: &Object| object.groups.iter().position(|group| signature(object, group) == id);
            let objects = resolved.objects.iter().take(count).enumerate().rev();
            let last = objects.into_iter().find_map(|(index, object)| Some((index, of(object)?)));
            if let Some((index, group)) = last {
                self.0.give(index as u32, group as u32, id);
            }
        }
    }

    /// Has groups lose that others stand for: all that they define is defined by groups that stay, whatever these are
    /// called. Compilers call a group of constructors by one of them or by all; so without this it would depend on that
    /// whether there are copies that nobody can refer to, where one is enough.
    pub fn discard_stood_for(&self, resolved: &Resolved, parallel: bool) {
        let objects = &resolved.objects;
        let found = par::runs("groups that others stand for", parallel, objects.len(), OBJECTS, |run| {
            run.flat_map(|index| self.stood_for(resolved, index)).collect::<Vec<_>>()
        });
        for (index, signature) in found.into_iter().flatten() {
            self.0.give(index, u32::MAX, signature);
        }
    }

    /// The groups of object number `index` that others stand for, by their signatures.
    fn stood_for(&self, resolved: &Resolved, index: usize) -> Vec<(u32, SymbolId)> {
        let object = &resolved.objects[index];
        let stays = |group: u32| self.survives(index as u32, object, group);
        // Of each section, the group that stays and has it, from 1 on.
        let mut group_of: Vec<u32> = Vec::new();
        for (number, group) in object.groups.iter().enumerate().filter(|(number, _)| stays(*number as u32)) {
            group_of.resize(object.shdrs.len(), 0);
            let words = object.group_words(group.shndx).unwrap_or_default();
            for member in words.members().filter(|member| (*member as usize) < object.shdrs.len()) {
                group_of[member as usize] = number as u32 + 1;
            }
        }
        if group_of.is_empty() {
            return Vec::new();
        }
        // Of each group that defines anything, whether all of that is others'.
        let mut are_others: Vec<Option<bool>> = vec![None; object.groups.len()];
        for (number, symbol) in (0..).zip(object.syms).skip(object.first_global as usize) {
            let SymbolPlace::Section(section) = object.place(number, symbol) else { continue };
            let Some(group) = group_of.get(section as usize).and_then(|group| group.checked_sub(1)) else {
                continue;
            };
            let is_others = &mut are_others[group as usize];
            if *is_others != Some(false) {
                *is_others = Some(self.is_of_another_group(resolved, (index, object), number));
            }
        }
        let lost = (0..).zip(are_others).filter(|(_, are_others)| *are_others == Some(true));
        let signatures = lost.map(|(group, _): (usize, _)| signature(object, &object.groups[group]));
        signatures
            .filter(|id| !is_pointer(resolved.names.get(*id).name))
            .map(|id| (index as u32, id))
            .collect()
    }

    /// Whether what an object defines as this symbol is another one's, which has it in a group that stays.
    fn is_of_another_group(
        &self,
        resolved: &Resolved,
        (index, object): (usize, &Object),
        symbol: u32,
    ) -> bool {
        let entry = resolved.names.get(object.global(symbol));
        if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
            return false;
        }
        let other = resolved.index_of_file[entry.file().index()] as usize;
        let Some(winner) =
            resolved.objects.get(other).filter(|winner| other != index && winner.file == entry.file())
        else {
            return false;
        };
        let Some(definition) = winner.syms.get(entry.sym() as usize) else { return false };
        let SymbolPlace::Section(section) = winner.place(entry.sym(), definition) else { return false };
        (0..).zip(&winner.groups).any(|(number, group): (u32, _)| {
            self.survives(other as u32, winner, number)
                && winner
                    .group_words(group.shndx)
                    .unwrap_or_default()
                    .members()
                    .any(|member| member == section)
        })
    }

    /// Whether group `group` of object number `index` is the one that stays.
    pub fn survives(&self, index: u32, object: &Object, group: u32) -> bool {
        self.0.survives(index, group, signature(object, &object.groups[group as usize]))
    }

    /// The object whose group with signature `id` stays.
    pub fn owner(&self, id: SymbolId) -> Option<ObjectId> {
        self.0.owner(id).map(ObjectId)
    }
}

/// `--wrap` redirects what an object leaves undefined, and what it defined in a group that lost is that, too.
/// Definitions are not looked for in archives: those that are there are taken.
pub fn wrap_losers(resolved: &Resolved, comdats: &Comdats, wrap: &Wrap) {
    let find = |name| resolved.names.find(name);
    let defined = |id: &SymbolId| resolved.names.get(*id).rank() <= Rank::Weak;
    let redirected: HashMap<SymbolId, SymbolId> =
        wrap.pairs().filter_map(|(from, to)| Some((find(from)?, find(to).filter(defined)?))).collect();
    if redirected.is_empty() {
        return;
    }
    for (index, object) in resolved.objects.iter().enumerate() {
        let lost = (0..object.groups.len()).filter(|g| !comdats.survives(index as u32, object, *g as u32));
        let lost: HashSet<u32> = lost
            .filter_map(|g| object.group_words(object.groups[g].shndx))
            .flat_map(|words| words.members().collect::<Vec<_>>())
            .collect();
        if lost.is_empty() {
            continue;
        }
        for (i, name) in object.globals.iter().enumerate() {
            let number = object.first_global + i as u32;
            let Some(other) = redirected.get(&object.global(number)) else { continue };
            if let SymbolPlace::Section(shndx) = object.place(number, &object.syms[number as usize])
                && lost.contains(&shndx)
            {
                name.store(other.0, Ordering::Relaxed);
            }
        }
    }
}

/// The signature's name: that of a global symbol, or one interned for the group.
pub fn signature(object: &Object, group: &Group) -> SymbolId {
    let sym = object.shdrs[group.shndx as usize].sh_info();
    if sym >= object.first_global {
        object.global(sym)
    } else {
        SymbolId(group.signature.load(Ordering::Relaxed))
    }
}
