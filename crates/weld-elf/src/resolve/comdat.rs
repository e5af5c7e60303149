//! COMDAT groups: of all groups with one signature, the earliest file's survives.
//!
//! Decided before any section of a loser is parsed. The table is indexed by the signature's name.
//!
//! Specification: gABI chapter 4, "Section groups".

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use weld_common::trace;
use weld_common::winners::{self, Winners, earliest};

use super::Resolved;
use crate::ids::*;
use crate::input::object::{Group, Object, SymbolPlace};
use crate::names::{Rank, Wrap};

pub struct Comdats {
    owners: Winners,
}

impl Comdats {
    pub fn decide(resolved: &Resolved, parallel: bool) -> Comdats {
        let groups = resolved.objects.iter().map(|object| object.groups.len()).sum();
        let owners = Winners::new(resolved.names.id_bound(), groups, parallel);
        let region = trace::region("COMDAT groups");
        let one = |(i, object): (usize, &Object)| {
            let _task = region.task();
            for (g, group) in object.groups.iter().enumerate() {
                owners.offer(signature(object, group).index(), earliest(i as u32, g as u32));
            }
        };
        if parallel {
            resolved.objects.par_iter().enumerate().for_each(one);
        } else {
            resolved.objects.iter().enumerate().for_each(one);
        }
        drop(region);
        Comdats { owners }
    }

    /// Whether group `group` of object number `index` is the one that stays.
    pub fn survives(&self, index: u32, object: &Object, group: u32) -> bool {
        let id = signature(object, &object.groups[group as usize]);
        self.owners.get(id.index()) == earliest(index, group)
    }

    /// The object whose group with signature `id` stays.
    pub fn owner(&self, id: SymbolId) -> Option<ObjectId> {
        match self.owners.get(id.index()) {
            0 => None,
            word => Some(ObjectId(winners::candidate(word).0)),
        }
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
