//! COMDAT groups: of all groups with one signature, the earliest file's survives.
//!
//! Decided before any section of a loser is parsed. The table is indexed by the signature's name
//! and holds the complement of (object, group), so that untouched memory means "no owner" and the
//! earliest group is the maximum.
//!
//! Specification: gABI chapter 4, "Section groups".

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use weld_common::{trace, zeroed};

use super::Resolved;
use crate::ids::*;
use crate::input::object::{Group, Object};

pub struct Comdats {
    owners: Vec<AtomicU64>,
}

fn word(object: u32, group: u32) -> u64 {
    !((object as u64) << 32 | group as u64)
}

impl Comdats {
    pub fn decide(resolved: &Resolved, parallel: bool) -> Comdats {
        let bound = resolved.names.id_bound();
        let groups: usize = resolved.objects.iter().map(|object| object.groups.len()).sum();
        // A page holds 512: with more than a few groups for each, all pages will be used.
        let owners =
            if groups > bound / 128 { zeroed::present(bound, parallel) } else { zeroed::sparse(bound) };
        let comdats = Comdats { owners };
        let region = trace::region("COMDAT groups");
        let one = |(i, object): (usize, &Object)| {
            let _task = region.task();
            for (g, group) in object.groups.iter().enumerate() {
                let owner = &comdats.owners[signature(object, group).index()];
                let mine = word(i as u32, g as u32);
                if owner.load(Ordering::Relaxed) < mine {
                    owner.fetch_max(mine, Ordering::Relaxed);
                }
            }
        };
        if parallel {
            resolved.objects.par_iter().enumerate().for_each(one);
        } else {
            resolved.objects.iter().enumerate().for_each(one);
        }
        drop(region);
        comdats
    }

    /// Whether group `group` of object number `index` is the one that stays.
    pub fn survives(&self, index: u32, object: &Object, group: u32) -> bool {
        let id = signature(object, &object.groups[group as usize]);
        self.owners[id.index()].load(Ordering::Relaxed) == word(index, group)
    }

    /// The object whose group with signature `id` stays.
    pub fn owner(&self, id: SymbolId) -> Option<ObjectId> {
        match self.owners[id.index()].load(Ordering::Relaxed) {
            0 => None,
            word => Some(ObjectId((!word >> 32) as u32)),
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
