//! COMDAT groups that no object had when the tables were written, and where their sections lie: instances of
//! templates and inline functions, with their exception tables and constants.
//!
//! Their names are new ones ([`super::new_names`]), and nobody but the object that has the group knows its sections:
//! so they have no rows, and lie in yards ([`crate::sections::yards`]), where the memo says. What they ask for must
//! be there already ([`super::outline`]). With gc it counts who refers to what, so that there are none.

use std::collections::HashSet;

use super::excerpt::Common;
use super::keys;
use super::new_names::NewNames;
use super::outline::may_define_others;
use super::rows::*;
use crate::address::Address;
use crate::elf::*;
use crate::input::object::{Group, Object};
use crate::options::Options;
use crate::sections::SectionKind;
use crate::sections::lost_groups::{self, LostSections, Stay};
use crate::sections::yards::{self, Kind};

/// A section that is not in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its input, the signature of its group, and its number among the members of that in memory.
    pub input: u32,
    pub group: Vec<u8>,
    pub number: u32,
    /// The number of the yard that it lies in, and how far that is from the start of the host.
    pub yard: u32,
    pub offset: u64,
    pub size: u64,
    pub align: u64,
}

/// Whether a link may have guests: nobody asks who refers to what, and what sections are called says in which output
/// section they are.
pub fn may_have_guests(options: &Options) -> bool {
    let Options { sections, .. } = options;
    may_define_others(options) && !sections.gc_sections && !sections.keep_text_section_prefix
}

/// A yard with its host.
#[derive(Clone, Copy, Debug)]
pub struct Yard {
    pub row: YardRow,
    pub host: SectionRow,
}

impl Yard {
    /// Where guests may lie, from the start of the host.
    fn end(&self) -> u64 {
        self.host.size
    }

    fn is_for(&self, kind: Kind) -> bool {
        self.row.kind == kind as u8
    }

    /// The first place from `at` on where something with this alignment may begin.
    fn aligned(&self, at: u64, align: u64) -> Option<u64> {
        let address = self.host.address.checked_add(at)?.checked_next_multiple_of(align.max(1))?;
        Some(address - self.host.address)
    }

    /// The row of a guest with header index `ordinal`.
    fn row(&self, guest: &Guest, ordinal: u32) -> SectionRow {
        SectionRow {
            input: guest.input,
            ordinal,
            number: lost_groups::NONE,
            address: Address::new(self.host.address).wrapping_add(guest.offset).get(),
            size: guest.size,
            output: self.host.output,
            other: NONE,
            kind: SectionKind::Guest as u8,
            align_log2: guest.align.trailing_zeros() as u8,
        }
    }
}

/// The sections of a group, with the yards that they may lie in, in the order of [`lost_groups::loaded`]. `None` if
/// there is one that may not.
pub fn members(object: &Object, group: &Group) -> Option<Vec<(u32, Kind)>> {
    let is_copied = |member: &u32| {
        let shdr = &object.shdrs[*member as usize];
        !matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL)
    };
    let with_kind = |member: u32| {
        let shdr = &object.shdrs[member as usize];
        Some((member, yards::kind_of(shdr, object.section_name(member as usize)?)?))
    };
    lost_groups::members(object, group).filter(is_copied).map(with_kind).collect()
}

/// The rows of the guests of input number `row`, which is `object`; `None` if there is one that it does not have.
pub fn rows_of(common: &Common, row: u32, object: Option<&Object>) -> Option<Vec<SectionRow>> {
    let mine = common.guests.iter().filter(|guest| guest.input == row);
    mine.map(|guest| {
        let object = object?;
        let group = object.groups.iter().find(|group| object.group_name(group) == guest.group)?;
        let member = lost_groups::loaded(object, group).nth(guest.number as usize)?;
        let size = object.shdrs[member as usize].sh_size();
        let yard = common.yards.get(guest.yard as usize)?;
        (size == guest.size).then(|| yard.row(guest, member))
    })
    .collect()
}

/// A section that is to have a place.
struct Wanted {
    guest: Guest,
    kind: Kind,
}

/// Where guests are to lie, of which those of `objects` (by their rows, all that have changed) may be others than
/// the `last` ones. `names` are those that have come and gone.
///
/// # Errors
/// The row of an object that there is no room for, or whose group another one has, too.
pub fn placed(
    common: &Common,
    last: &[Guest],
    objects: &[(u32, Object)],
    names: &NewNames,
) -> Result<Vec<Guest>, u32> {
    let changed: HashSet<u32> = objects.iter().map(|(row, _)| *row).collect();
    let mut placed: Vec<Guest> = last.iter().filter(|g| !changed.contains(&g.input)).cloned().collect();
    let mut wanted = Vec::new();
    for (row, object) in objects {
        wanted.extend(wanted_by(common, (*row, object), names));
    }
    let mut groups: Vec<(&[u8], u32)> = wanted.iter().map(|w| (&w.guest.group[..], w.guest.input)).collect();
    groups.extend(placed.iter().map(|guest| (&guest.group[..], guest.input)));
    groups.sort_unstable();
    groups.dedup();
    if let Some(twice) = groups.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(twice[1].1);
    }
    // What fits where it was stays there.
    let mut others = Vec::new();
    for Wanted { mut guest, kind } in wanted {
        let key =
            |of: &Guest| of.input == guest.input && of.group == guest.group && of.number == guest.number;
        let was = last.iter().find(|of| key(of)).filter(|of| of.size == guest.size);
        let yard = was.and_then(|of| common.yards.get(of.yard as usize).filter(|yard| yard.is_for(kind)));
        match was.zip(yard) {
            Some((was, yard)) if yard.aligned(was.offset, guest.align) == Some(was.offset) => {
                (guest.yard, guest.offset) = (was.yard, was.offset);
                placed.push(guest);
            }
            _ => others.push(Wanted { guest, kind }),
        }
    }
    for Wanted { mut guest, kind } in others {
        let found = place_for(common, &placed, &guest, kind).ok_or(guest.input)?;
        (guest.yard, guest.offset) = found;
        placed.push(guest);
    }
    placed.sort_unstable_by_key(|guest| (guest.yard, guest.offset));
    Ok(placed)
}

/// The guests that an object has now, without places.
fn wanted_by(common: &Common, (row, object): (u32, &Object), names: &NewNames) -> Vec<Wanted> {
    let mine = (common.count..).zip(&names.added).filter(|(number, name)| {
        name.input == row && name.section == IN_GUEST && !names.gone.contains(number)
    });
    let mine: HashSet<u128> = mine.map(|(_, name)| name.hash).collect();
    if mine.is_empty() {
        return Vec::new();
    }
    let stay = |symbol| match mine.contains(&keys::hash(object.symbol_name(symbol))) {
        true => Stay::Guest,
        false => Stay::Here,
    };
    let stays = LostSections::by_names(object, stay);
    let mut wanted = Vec::new();
    for group in object.groups.iter().filter(|group| stays.stay(group.shndx) == Stay::Guest) {
        for (number, (member, kind)) in (0..).zip(members(object, group).unwrap_or_default()) {
            let shdr = &object.shdrs[member as usize];
            let group = object.group_name(group).to_vec();
            let (size, align) = (shdr.sh_size(), shdr.sh_addralign().max(1));
            let guest = Guest { input: row, group, number, yard: 0, offset: 0, size, align };
            wanted.push(Wanted { guest, kind });
        }
    }
    wanted
}

/// The first place that is large enough.
fn place_for(common: &Common, placed: &[Guest], guest: &Guest, kind: Kind) -> Option<(u32, u64)> {
    for (number, yard) in (0..).zip(&common.yards).filter(|(_, yard)| yard.is_for(kind)) {
        let align = common.outputs().get(yard.host.output as usize).map_or(0, |out| out.align);
        if guest.align > align || !guest.align.is_power_of_two() {
            continue;
        }
        let mut taken: Vec<(u64, u64)> =
            placed.iter().filter(|g| g.yard == number).map(|g| (g.offset, g.offset + g.size)).collect();
        taken.sort_unstable();
        taken.push((yard.end(), yard.end()));
        let mut at = yard.aligned(yard.row.start, guest.align)?;
        for (start, end) in taken {
            if at.checked_add(guest.size).is_some_and(|end| end <= start) {
                return Some((number, at));
            }
            at = at.max(yard.aligned(end, guest.align)?);
        }
    }
    None
}

/// Ranges of the file where guests have been and none is now, and whether there is code around. The `next` ones may
/// lie in a part of what one has left.
pub fn left(common: &Common, last: &[Guest], next: &[Guest]) -> Option<Vec<(std::ops::Range<u64>, bool)>> {
    let mut found = Vec::new();
    for was in last {
        let yard = common.yards.get(was.yard as usize)?;
        let out = common.outputs().get(yard.host.output as usize)?;
        let start = out.offset.checked_add(yard.host.address.checked_sub(out.address)?)?;
        let is_code = yard.is_for(Kind::Code);
        let mut at = was.offset;
        let end = was.offset.checked_add(was.size)?;
        // They are in order.
        for now in next.iter().filter(|now| now.yard == was.yard && now.offset < end) {
            if now.offset > at {
                found.push((start.checked_add(at)?..start.checked_add(now.offset)?, is_code));
            }
            at = at.max(now.offset.checked_add(now.size)?);
        }
        if at < end {
            found.push((start.checked_add(at)?..start.checked_add(end)?, is_code));
        }
    }
    Some(found)
}
