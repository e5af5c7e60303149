//! COMDAT groups that no object had when the tables were written, and where their sections lie: instances of
//! templates and inline functions, with their exception tables and constants. And free sections
//! ([`super::free_sections`]) that are new, or have outgrown their place, among them functions of groups that the
//! tables know.
//!
//! Their names are new ones ([`super::new_names`]), and nobody but the object that has the group knows its sections:
//! so they have no rows, and lie in yards ([`crate::sections::yards`]), where the memo says. What they ask for must
//! be there already ([`super::outline`]).

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::excerpt::Common;
use super::keys;
use super::new_names::NewNames;
use super::outline::may_define_others;
use super::rows::*;
use crate::elf::*;
use crate::input::object::{Group, Object};
use crate::options::Options;
use crate::sections::lost_groups::{self, LostSections, Stay};
use crate::sections::yards::{self, IN_NO_GROUP, Kind};
use crate::sections::{SectionKind, free_sections};

/// A section that is not in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Its input, the signature of its group, and its number among the members of that in memory; or its name, and
    /// [`IN_NO_GROUP`].
    pub input: u32,
    pub group: Vec<u8>,
    pub number: u32,
    pub address: u64,
    pub size: u64,
    pub align: u64,
}

/// Whether a link may have guests: what sections are called says in which output section they are.
pub fn may_have_guests(options: &Options) -> bool {
    let Options { sections, .. } = options;
    may_define_others(options) && !sections.keep_text_section_prefix
}

/// A yard with its host.
#[derive(Clone, Copy, Debug)]
pub struct Yard {
    pub row: YardRow,
    pub host: SectionRow,
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
        let member = yards::member(object, &guest.group, guest.number)?;
        let shdr = &object.shdrs[member as usize];
        if guest.size == 0 {
            return merged_row(common, row, (member, shdr));
        }
        let size = shdr.sh_size();
        let output = common.output_at(guest.address)?;
        (size == guest.size).then(|| SectionRow {
            input: guest.input,
            ordinal: member,
            // What is in no group, or was in the tables, counts as a section of its object.
            number: if guest.number == IN_NO_GROUP { free_sections::FREE } else { lost_groups::NONE },
            address: guest.address,
            size: guest.size,
            output,
            other: NONE,
            kind: SectionKind::Guest as u8,
            align_log2: guest.align.trailing_zeros() as u8,
        })
    })
    .collect()
}

/// The row of a section whose pieces are merged with those of others.
fn merged_row(common: &Common, input: u32, (ordinal, shdr): (u32, &Shdr)) -> Option<SectionRow> {
    let (part, row) = common.part_for(shdr)?;
    Some(SectionRow {
        input,
        ordinal,
        number: lost_groups::NONE,
        address: 0,
        size: shdr.sh_size(),
        output: row.output,
        other: part,
        kind: SectionKind::Merge as u8,
        align_log2: shdr.sh_addralign().max(1).trailing_zeros() as u8,
    })
}

/// Where guests may lie: a yard, or what sections have left that are gone.
struct Region {
    kind: Kind,
    range: Range<u64>,
    /// Nothing in its output section has a larger alignment.
    align: u64,
}

/// The places that there are for guests.
fn regions(common: &Common) -> Vec<Region> {
    let align = |output: u32| common.outputs().get(output as usize).map_or(0, |out| out.align);
    let yards = common.yards.iter().filter_map(|yard| {
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == yard.row.kind)?;
        let at = |inside: u64| yard.host.address.saturating_add(inside);
        let (start, end) = (at(yard.row.start), at(yard.host.size));
        Some(Region { kind, range: start..end, align: align(yard.host.output) })
    });
    let at_front = at_front(common);
    let holes = common.hole_rows.iter().filter(|row| !at_front.contains(&row.address)).filter_map(|row| {
        let kind = common.kind_of_output(row.output)?;
        Some(Region {
            kind,
            range: row.address..row.address.saturating_add(row.size),
            align: align(row.output),
        })
    });
    yards.chain(holes).collect()
}

/// The addresses of holes that output sections begin with: nothing is in front of them whose room that could be.
fn at_front(common: &Common) -> HashSet<u64> {
    let mut rows: Vec<&SectionRow> = common.hole_rows.iter().collect();
    rows.sort_unstable_by_key(|row| row.address);
    let mut ends: Vec<u64> = common.outputs().iter().map(|out| out.address).collect();
    let mut found = HashSet::new();
    for row in rows {
        let align = 1u64.checked_shl(row.align_log2.into()).unwrap_or(1);
        if let Some(end) = ends.get_mut(row.output as usize)
            && end.checked_next_multiple_of(align) == Some(row.address)
        {
            found.insert(row.address);
            *end = row.address.saturating_add(row.size);
        }
    }
    found
}

/// The inputs of guests that lie in such holes, since what was in front of them is gone: they have to lie elsewhere.
pub fn to_be_moved<'g>(common: &Common, guests: impl Iterator<Item = &'g Guest>) -> BTreeSet<u32> {
    let at_front = at_front(common);
    let is_around = |guest: &Guest, row: &SectionRow| {
        at_front.contains(&row.address)
            && guest.address.checked_sub(row.address).is_some_and(|at| at < row.size)
    };
    let moves = |guest: &&Guest| guest.size > 0 && common.hole_rows.iter().any(|row| is_around(guest, row));
    guests.filter(moves).map(|guest| guest.input).collect()
}

/// What is to be placed for an object that has changed.
pub struct Wanted {
    guest: Guest,
    kind: Kind,
    /// Where it lay until now, which is a hole since then: nobody has another place there.
    pub last_place: Option<u64>,
}

/// A section in no group that is to be a guest of input number `input`. One that is merged has no size as such, unless
/// nothing is that it could be merged with: then it lies by itself.
pub fn in_no_group(common: &Common, input: u32, object: &Object, index: u32) -> Option<Wanted> {
    let (shdr, name) = (object.shdrs.get(index as usize)?, object.section_name(index as usize)?);
    let is_merged = free_sections::is_merged(shdr, name);
    if is_merged && common.part_for(shdr).is_some() {
        let guest = Guest { input, group: name.to_vec(), number: IN_NO_GROUP, address: 0, size: 0, align: 1 };
        return Some(Wanted { guest, kind: Kind::Constants, last_place: None });
    }
    let kind = if is_merged { Kind::Constants } else { free_sections::kind(shdr, name)? };
    if yards::member(object, name, IN_NO_GROUP) != Some(index) {
        return None;
    }
    let (size, align) = (shdr.sh_size(), shdr.sh_addralign().max(1));
    let guest = Guest { input, group: name.to_vec(), number: IN_NO_GROUP, address: 0, size, align };
    Some(Wanted { guest, kind, last_place: None })
}

/// Why a section has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// There is not as much room: how much there is, in all and in one place.
    Full { name: String, kind: Kind, size: u64, align: u64, free: u64, largest: u64 },
    /// The group that has this signature has another place, too.
    Twice(String),
    /// The section of this name may not lie elsewhere.
    Odd(String),
}

/// Where guests are to lie, of which those of `changed` objects (by their rows) may be others than the `last` ones:
/// those that are `wanted`.
///
/// # Errors
/// The row of an object, and what of it has no place.
pub fn placed(
    common: &Common,
    last: &[Guest],
    changed: &HashSet<u32>,
    wanted: Vec<Wanted>,
) -> Result<Vec<Guest>, (u32, NoPlace)> {
    let mut placed: Vec<Guest> = last.iter().filter(|g| !changed.contains(&g.input)).cloned().collect();
    let in_group = |guest: &&Guest| guest.number != IN_NO_GROUP;
    let mut groups: Vec<(&[u8], u32)> = Vec::new();
    groups.extend(wanted.iter().map(|w| &w.guest).filter(in_group).map(|g| (&g.group[..], g.input)));
    groups.extend(placed.iter().filter(in_group).map(|guest| (&guest.group[..], guest.input)));
    groups.sort_unstable();
    groups.dedup();
    if let Some(twice) = groups.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let group = String::from_utf8_lossy(twice[1].0).into_owned();
        return Err((twice[1].1, NoPlace::Twice(group)));
    }
    let regions = regions(common);
    // What is as large as it was stays there.
    let mut before: HashMap<(u32, &[u8], u32), &Guest> = HashMap::with_capacity(last.len());
    for guest in last {
        before.entry((guest.input, &guest.group, guest.number)).or_insert(guest);
    }
    let mut others = Vec::new();
    for Wanted { mut guest, kind, last_place } in wanted {
        if guest.size == 0 {
            placed.push(guest);
            continue;
        }
        let was = before.get(&(guest.input, &guest.group, guest.number)).copied();
        let was = was.filter(|of| of.size == guest.size).map(|of| of.address).or(last_place);
        let fits = |was: &u64| {
            let end = was.checked_add(guest.size);
            let is_in = |region: &Region| {
                region.kind == kind
                    && region.range.start <= *was
                    && end.is_some_and(|end| end <= region.range.end)
                    && guest.align <= region.align
            };
            was.is_multiple_of(guest.align) && regions.iter().any(is_in)
        };
        match was.filter(fits) {
            Some(was) => {
                guest.address = was;
                placed.push(guest);
            }
            None => others.push((guest, kind)),
        }
    }
    // What is large is placed first, so that what comes again fits where it was, whatever else does.
    others.sort_by_key(|(guest, _)| Reverse(guest.size));
    let mut rooms = rooms(&regions, &placed);
    for (mut guest, kind) in others {
        let place = place_for(&rooms, &guest, kind);
        guest.address = place.ok_or_else(|| (guest.input, full(&rooms, &guest, kind)))?;
        rooms.iter_mut().for_each(|room| room.take(guest.address, guest.size));
        placed.push(guest);
    }
    placed.sort_unstable_by_key(|guest| guest.address);
    Ok(placed)
}

/// The guests of groups that an object has now, without places.
pub fn of_groups(common: &Common, (row, object): (u32, &Object), names: &NewNames) -> Vec<Wanted> {
    let mine = (common.count..).zip(&names.added).filter(|(number, name)| {
        name.input == row && name.section == IN_GUEST && !names.gone.contains(number)
    });
    let handed_over = names.handed_over.values().filter(|new| new.input == row).map(|new| new.hash);
    let mine: HashSet<u128> = mine.map(|(_, name)| name.hash).chain(handed_over).collect();
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
            let guest = Guest { input: row, group, number, address: 0, size, align };
            wanted.push(Wanted { guest, kind, last_place: None });
        }
    }
    wanted
}

/// How much room there is where none is large enough.
fn full(rooms: &[Room], guest: &Guest, kind: Kind) -> NoPlace {
    let (mut free, mut largest) = (0u64, 0);
    each_place(rooms, (guest.align, kind), |_, room| {
        free = free.saturating_add(room);
        largest = room.max(largest);
    });
    // A guest in a group is known by its number there.
    let name = String::from_utf8_lossy(&guest.group).into_owned();
    NoPlace::Full { name, kind, size: guest.size, align: guest.align, free, largest }
}

/// A region with what lies there, from where to where, in order.
struct Room<'r> {
    region: &'r Region,
    taken: Vec<(u64, u64)>,
}

/// The regions with what of `placed` lies there.
fn rooms<'r>(regions: &'r [Region], placed: &[Guest]) -> Vec<Room<'r>> {
    let mut all: Vec<(u64, u64)> =
        placed.iter().map(|guest| (guest.address, guest.address.saturating_add(guest.size))).collect();
    all.sort_unstable();
    let room = |region: &'r Region| {
        let first = all.partition_point(|(_, end)| *end <= region.range.start);
        let here = all[first..].iter().take_while(|(start, _)| *start < region.range.end);
        Room { region, taken: here.copied().collect() }
    };
    regions.iter().map(room).collect()
}

impl Room<'_> {
    /// Puts something there, if it is in the region.
    fn take(&mut self, address: u64, size: u64) {
        if address >= self.region.range.end || address.saturating_add(size) <= self.region.range.start {
            return;
        }
        let at = self.taken.partition_point(|(start, _)| *start < address);
        self.taken.insert(at, (address, address.saturating_add(size)));
    }
}

/// The first of the smallest places that are large enough.
fn place_for(rooms: &[Room], guest: &Guest, kind: Kind) -> Option<u64> {
    let mut smallest: Option<(u64, u64)> = None;
    each_place(rooms, (guest.align, kind), |at, room| {
        if room >= guest.size && smallest.is_none_or(|(least, _)| room < least) {
            smallest = Some((room, at));
        }
    });
    smallest.map(|(_, at)| at)
}

/// Calls `found` with each place for something that is aligned so, and how large it is.
fn each_place(rooms: &[Room], (align, kind): (u64, Kind), mut found: impl FnMut(u64, u64)) {
    if !align.is_power_of_two() {
        return;
    }
    let is_it = |room: &&Room| room.region.kind == kind && align <= room.region.align;
    for Room { region, taken } in rooms.iter().filter(is_it) {
        let next = |at: u64| at.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        let mut at = next(region.range.start);
        for (start, end) in taken.iter().chain([&(region.range.end, region.range.end)]) {
            if *start > at {
                found(at, start - at);
            }
            at = at.max(next(*end));
        }
    }
}

/// Ranges of the file where guests have been, or sections that are gone, and no guest is now, and whether there is code
/// around. None overlaps another.
pub fn left(common: &Common, last: &[Guest], next: &[Guest]) -> Option<Vec<(Range<u64>, bool)>> {
    let was = last.iter().map(|guest| (guest.address, guest.size));
    let has_bytes = |row: &&SectionRow| row.kind != SectionKind::NoBits as u8;
    let gone = common.hole_rows.iter().filter(has_bytes).map(|row| (row.address, row.size));
    let mut all: Vec<(u64, u64)> = was
        .chain(gone)
        .map(|(start, size)| Some((start, start.checked_add(size)?)))
        .collect::<Option<_>>()?;
    all.sort_unstable();
    let mut found = Vec::new();
    let mut done = 0;
    for (start, end) in all {
        let mut at = start.max(done);
        done = done.max(end);
        let mut put = |range: Range<u64>| -> Option<()> {
            if !range.is_empty() {
                let out = common.outputs().get(common.output_at(range.start)? as usize)?;
                let first = out.offset.checked_add(range.start.checked_sub(out.address)?)?;
                let is_code = out.flags & SHF_EXECINSTR != 0;
                found.push((first..first.checked_add(range.end - range.start)?, is_code));
            }
            Some(())
        };
        // They are in order.
        for now in next.iter().filter(|now| now.address < end && now.address.saturating_add(now.size) > start)
        {
            put(at..now.address.max(at))?;
            at = at.max(now.address.checked_add(now.size)?);
        }
        put(at..end.max(at))?;
    }
    Some(found)
}
