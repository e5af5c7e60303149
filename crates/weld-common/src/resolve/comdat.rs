//! COMDAT groups: of those with one signature, one is kept.
//!
//! Objects are handed over in the order of files ([`super::Finished::files`]), and are known here by their
//! position in it, never by their ids: one that came in the place of another stands where that one stood.
//!
//! There are two ways to choose. The earliest group is found by one atomic maximum a group ([`Comdats`]):
//! there may be millions. The largest one ([`largest`]) few formats ask for, and of few signatures:
//! candidates are listed and sorted.

use std::cmp::Reverse;

use super::comdat_election::{self, Winners, earliest};
use crate::ids::SymbolId;
use crate::{par, trace};

/// Of each signature, the earliest group.
pub struct Comdats {
    owners: Winners,
}

/// The signatures of an object's groups, in their order.
pub trait Signatures: Sync {
    fn signatures(&self) -> impl ExactSizeIterator<Item = SymbolId>;
}

impl Comdats {
    /// `names` is the bound of the signatures' ids.
    pub fn decide<O: Signatures>(names: usize, objects: &[O], parallel: bool) -> Comdats {
        let groups = objects.iter().map(|object| object.signatures().len()).sum();
        let owners = Winners::new(names, groups, parallel);
        let region = trace::region("COMDAT groups");
        par::each(parallel, objects.len(), |position| {
            let _task = region.task();
            for (group, signature) in (0..).zip(objects[position].signatures()) {
                owners.offer(signature.index(), earliest(position as u32, group));
            }
        });
        drop(region);
        Comdats { owners }
    }

    /// Of this signature, keeps no group of objects after `position`: that one has its contents, but not as a
    /// group.
    pub fn claim(&self, position: u32, signature: SymbolId) {
        self.owners.offer(signature.index(), earliest(position, u32::MAX));
    }

    /// Of this signature, keeps group number `group` of the object at `position`.
    pub fn give(&self, position: u32, group: u32, signature: SymbolId) {
        self.owners.set(signature.index(), earliest(position, group));
    }

    /// Whether group number `group` of the object at `position`, which has this signature, is kept.
    pub fn survives(&self, position: u32, group: u32, signature: SymbolId) -> bool {
        self.owners.get(signature.index()) == earliest(position, group)
    }

    /// The position of the object whose group with this signature is kept.
    pub fn owner(&self, signature: SymbolId) -> Option<u32> {
        match self.owners.get(signature.index()) {
            0 => None,
            word => Some(comdat_election::candidate(word).0),
        }
    }
}

/// A group of which the largest is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub signature: SymbolId,
    /// Bytes.
    pub size: u64,
    /// What the object knows it by.
    pub item: u32,
}

/// Of each signature the largest candidate, of equals the earliest, with the position of its object.
pub fn largest<O: Sync>(
    objects: &[O],
    candidates: impl Fn(&O) -> Vec<Candidate> + Sync,
    parallel: bool,
) -> Vec<(u32, Candidate)> {
    let region = trace::region("largest COMDAT sections");
    let found = par::map(parallel, objects.len(), |position| {
        let _task = region.task();
        candidates(&objects[position])
    });
    drop(region);
    let with_position =
        |(position, list): (u32, Vec<Candidate>)| list.into_iter().map(move |one| (position, one));
    let mut all: Vec<(u32, Candidate)> = (0..).zip(found).flat_map(with_position).collect();
    all.sort_unstable_by_key(|(position, one)| (one.signature, Reverse(one.size), *position, one.item));
    all.dedup_by_key(|(_, candidate)| candidate.signature);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Groups(Vec<(u32, u64)>);

    impl Signatures for Groups {
        fn signatures(&self) -> impl ExactSizeIterator<Item = SymbolId> {
            self.0.iter().map(|(signature, _)| SymbolId(*signature))
        }
    }

    #[test]
    fn the_earliest_or_the_largest() {
        let objects = [Groups(vec![(1, 4)]), Groups(vec![(2, 4), (1, 9)]), Groups(vec![(1, 9), (2, 4)])];
        for parallel in [false, true] {
            let comdats = Comdats::decide(4, &objects, parallel);
            let kept = |position: u32, group: u32| {
                let signature = objects[position as usize].0[group as usize].0;
                comdats.survives(position, group, SymbolId(signature))
            };
            assert!(kept(0, 0) && kept(1, 0) && !kept(1, 1) && !kept(2, 0) && !kept(2, 1));
            assert_eq!([1, 2, 3].map(|id| comdats.owner(SymbolId(id))), [Some(0), Some(1), None]);
            comdats.claim(0, SymbolId(2));
            comdats.claim(0, SymbolId(1));
            assert!(kept(0, 0) && !kept(1, 0) && !kept(2, 1));

            let candidates = |object: &Groups| {
                let one =
                    |(item, &(signature, size))| Candidate { signature: SymbolId(signature), size, item };
                (0..).zip(&object.0).map(one).collect()
            };
            let kept = largest(&objects, candidates, parallel);
            let kept: Vec<_> = kept.iter().map(|(at, one)| (one.signature.0, *at, one.item)).collect();
            assert_eq!(kept, [(1, 1, 1), (2, 1, 0)]);
        }
    }
}
