//! Yards: room behind the sections of objects in a part of the image, for what a later link adds (`/incremental`).
//!
//! A part has its objects' sections first, and then those of libraries and of the linker. Between them lies the yard, so
//! that nothing moves when a function or a string comes, or outgrows its own room. How large it is follows from the
//! sections in front of it with their rooms ([`super::rooms`]). A link that verifies what was put there is told all
//! places ([`Told`]).

use std::collections::HashMap;

use crate::address::Rva;
use crate::sections::{PartialSection, Section, Sections};

use super::rooms::Rooms;

/// Least bytes of a yard, and how much of the sections in front of it it has.
const LEAST: u64 = 16 << 10;
const SHARE: u64 = 16;

/// A yard that has its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yard {
    pub part: u32,
    /// Where its part begins.
    pub first: Rva,
    pub start: Rva,
    pub end: Rva,
}

/// Bytes behind some members: how many are in front of the yard, and its size.
pub struct Gap {
    pub behind: usize,
    pub size: u64,
    pub part: u32,
    /// The first member of the part.
    pub first: usize,
}

/// The yards among the members of an output section.
pub fn gaps(members: &[u32], sections: &Sections, rooms: &Rooms) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut first = 0;
    let part = |id: &u32| sections.list[*id as usize].part;
    for own in members.chunk_by(|a, b| part(a) == part(b)) {
        let section = |id: &u32| &sections.list[*id as usize];
        // Where somebody orders functions, sections of libraries may lie in front.
        let last = own.iter().rposition(|id| rooms.is_likely(section(id))).filter(|_| own.is_sorted());
        if let Some(last) = last {
            let front = &own[..=last];
            let bytes: u64 = front.iter().map(|id| rooms.size(section(id))).sum();
            let size = (bytes / SHARE).max(LEAST).next_multiple_of(16);
            gaps.push(Gap { behind: first + last, size, part: part(&own[0]), first });
        }
        first += own.len();
    }
    gaps
}

/// Where things lay in the link that is verified, as offsets in output sections.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Of sections, by their ids.
    pub places: HashMap<u32, u32>,
    pub yards: Vec<ToldYard>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldYard {
    /// The name and the flags of its part.
    pub name: Vec<u8>,
    pub flags: u32,
    /// The output section.
    pub out: u32,
    pub first: u32,
    pub start: u32,
    pub end: u32,
}

impl ToldYard {
    pub fn is_of(&self, part: &PartialSection) -> bool {
        !part.is_last && self.name == part.name && self.flags == part.flags
    }
}

/// Where the members of a part lie that is told, from `at` on: an offset for each, and where the yard ends.
pub fn places(
    told: &Told,
    own: &[u32],
    (sections, rooms): (&Sections, &Rooms),
    mut at: u64,
) -> (Vec<u64>, Option<ToldYard>, u64) {
    let Some(&one) = own.first() else { return (Vec::new(), None, at) };
    let section = |id: u32| -> &Section { &sections.list[id as usize] };
    let part = &sections.parts[section(one).part as usize];
    let yard = told.yards.iter().find(|yard| yard.is_of(part));
    let last = own.iter().rposition(|id| told.places.contains_key(id));
    let mut offsets = Vec::with_capacity(own.len());
    let mut is_behind = false;
    for (i, &id) in own.iter().enumerate() {
        if let Some(yard) = yard.filter(|_| !is_behind && last.is_none_or(|last| i > last)) {
            at = yard.end.into();
            is_behind = true;
        }
        at = match told.places.get(&id) {
            Some(place) => (*place).into(),
            None => at.next_multiple_of(1 << rooms.align(section(id))),
        };
        offsets.push(at);
        at += rooms.size(section(id));
    }
    if let Some(yard) = yard.filter(|_| !is_behind) {
        at = yard.end.into();
    }
    (offsets, yard.cloned(), at)
}
