//! COMDAT groups: of all groups with one signature, the earliest file's survives.
//!
//! Decided before any section of a loser is parsed. The table is indexed by the signature's name.
//!
//! Specification: gABI chapter 4, "Section groups".

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

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

    /// Has the group with this signature lose, which object number `index` has.
    pub fn discard(&self, index: u32, signature: SymbolId) {
        self.0.give(index, u32::MAX, signature);
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
