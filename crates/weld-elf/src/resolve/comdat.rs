//! COMDAT groups: of all groups with one signature, the earliest file's survives.
//!
//! Decided before any section of a loser is parsed. The table is indexed by the signature's name.
//!
//! Specification: gABI chapter 4, "Section groups".

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use weld_common::trace;
use weld_common::winners::{self, Winners, earliest};

use super::Resolved;
use crate::ids::*;
use crate::input::object::{Group, Object};

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

/// The signature's name: that of a global symbol, or one interned for the group.
pub fn signature(object: &Object, group: &Group) -> SymbolId {
    let sym = object.shdrs[group.shndx as usize].sh_info();
    if sym >= object.first_global {
        object.global(sym)
    } else {
        SymbolId(group.signature.load(Ordering::Relaxed))
    }
}
