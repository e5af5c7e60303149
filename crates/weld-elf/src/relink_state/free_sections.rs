//! The free sections of changed objects ([`crate::sections::free_sections`]): which of them are in the output, and
//! where.
//!
//! With gc, what was in the output when the tables were written stays there as long as its object has it, whoever
//! refers to it; and so does what has come since. From these it is followed what relocations refer to in the object, and
//! exception tables of functions, and names that one changed object defines and another one refers to. (What an
//! object that has not changed refers to is there already, and stays, in whichever section it is defined now.) What is
//! not reached takes no part. Without gc all are there. Of groups those are there that were, with all their members; new
//! ones are guests of another kind ([`super::guests`]).
//!
//! A section whose name the tables know stays in its place if it has room there, and is in order with others; else it
//! is a guest ([`super::guests`]), as are new ones, and its place is a hole. A hole must be such that a full link
//! can have what lies in front of it be larger instead: that is a section that is copied. Where hashes for the build id
//! were made of what ended there, it ends behind the hole.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::excerpt::Common;
use super::extents::Cuts;
use super::file::{StateFile, Unreadable};
use super::guests::{self, NoPlace, Wanted};
use super::keys;
use super::rows::*;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::sections::free_sections::{FREE, INIT_ARRAY, is_grouped, is_list};
use crate::sections::lost_groups::{LostSections, members};
use crate::sections::yards::IN_NO_GROUP;
use crate::sections::{SectionKind, decode_relocs};

/// Of each section to which others it refers, and to which names.
type References = HashMap<u32, (Vec<u32>, Vec<u128>)>;

/// A changed object, and what is known of its free sections.
pub struct Changed<'o, 'a> {
    pub row: u32,
    pub object: &'o Object<'a>,
    /// Which of its sections have lost with their groups.
    lost: LostSections,
    /// The free ones by their numbers, with their header indices; of groups only what was in the output.
    free: Vec<(u32, u32)>,
    /// The rows that it has in the tables, with their numbers; those that are no holes.
    rows: HashMap<u32, (u32, SectionRow)>,
    /// Of each section that refers to others, which these are, and which undefined names.
    refers: References,
    /// Those of its sections that are in the output.
    pub live: HashSet<u32>,
}

/// Why free sections cannot be where they would have to be.
pub enum Refused {
    Unreadable(Unreadable),
    /// The object is not what it has to be.
    Malformed,
    /// There is no place for what is new.
    NoPlace(NoPlace),
    /// What is gone, by its row, leaves a gap that cannot be closed.
    Gap(SectionRow, Gap),
}

/// Why a section cannot leave a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing is in front of it.
    First,
    /// What is in front of it is of another kind.
    Behind,
    /// What is hashed for the build id ends there, and may not end elsewhere.
    Cut,
}

impl From<Unreadable> for Refused {
    fn from(why: Unreadable) -> Refused {
        Refused::Unreadable(why)
    }
}

impl<'o, 'a> Changed<'o, 'a> {
    /// `None` if the object has no free sections, and had none.
    ///
    /// # Errors
    /// If the tables or the object cannot be read.
    pub fn new(
        (file, common): (&StateFile, &Common),
        (row, object): (u32, &'o Object<'a>),
        lost: LostSections,
    ) -> Result<Option<Self>, Refused> {
        let input: InputRow = file.row(row.into())?;
        let all = file.sections_of(&input)?;
        let mut rows = HashMap::new();
        let mut are_free = lost.free().iter().any(|(number, _)| !is_list(*number));
        let mut had = HashSet::new();
        for (number, mut section) in (input.first_section..).zip(all) {
            if is_list(section.number) {
                continue;
            }
            are_free |= section.number & FREE != 0 && section.number != NONE;
            had.insert(section.number);
            if let Some(yard) = common.yards.iter().find(|yard| yard.row.section == number) {
                section.size = yard.row.start;
            }
            // One without bytes is no hole, and there again when its object has none for it.
            if section.size == 0 || !common.holes.contains(&number) {
                rows.insert(section.number, (number, section));
            }
        }
        if !are_free {
            return Ok(None);
        }
        let refers = references(object, &lost).ok_or(Refused::Malformed)?;
        let known = known_members(object, &lost, &had);
        let is_known = |(number, index): &&(u32, u32)| {
            !is_list(*number) && (!is_grouped(*number) || known.contains(index))
        };
        let free: Vec<(u32, u32)> = lost.free().iter().filter(is_known).copied().collect();
        Ok(Some(Changed { row, object, lost, free, rows, refers, live: HashSet::new() }))
    }

    /// Has sections be in the output, and what they refer to. Returns names that they refer to and others define.
    fn keep(&mut self, sections: Vec<u32>) -> Vec<u128> {
        let (mut next, mut names) = (sections, Vec::new());
        while let Some(index) = next.pop() {
            if !self.live.insert(index) {
                continue;
            }
            if let Some((sections, mentioned)) = self.refers.get(&index) {
                next.extend(sections.iter().copied().filter(|index| !self.live.contains(index)));
                names.extend_from_slice(mentioned);
            }
        }
        names
    }

    /// Its words of `.init_array`: the header index.
    pub fn init_array(&self) -> Option<u32> {
        self.free.iter().find(|(number, _)| *number == INIT_ARRAY).map(|(_, index)| *index)
    }

    /// The same in the tables.
    pub fn init_array_row(&self) -> Option<&SectionRow> {
        self.rows.get(&INIT_ARRAY).map(|(_, row)| row)
    }

    /// The names of its free sections that are guests.
    fn guests<'c>(&self, common: &'c Common) -> HashSet<&'c [u8]> {
        let guests = common.guests.iter();
        let mine = guests.filter(|guest| guest.input == self.row && guest.number == IN_NO_GROUP);
        mine.map(|guest| &guest.group[..]).collect()
    }

    /// The sections that are there in any case. `is_there` says of a global symbol that it is in the output, or is new.
    fn roots(&self, (common, gc): (&Common, bool), is_there: impl Fn(u32) -> bool) -> Vec<u32> {
        let free: HashMap<u32, u32> = self.free.iter().map(|(number, index)| (*index, *number)).collect();
        let guests = self.guests(common);
        let mut named = HashSet::new();
        for (index, symbol) in (0..).zip(self.object.syms).skip(self.object.first_global as usize) {
            if let SymbolPlace::Section(section) = self.object.place(index, symbol)
                && gc
                && is_there(index)
            {
                named.insert(section);
            }
        }
        let numbers = self.lost.numbers();
        let is_root = |index: &u32| {
            let shdr = &self.object.shdrs[*index as usize];
            if shdr.sh_flags() & SHF_ALLOC == 0 || self.lost.contains(*index) {
                return false;
            }
            match free.get(index) {
                // What is not free is there or not as it was, or its group is new.
                None => {
                    let number = numbers.get(*index as usize).copied().unwrap_or(*index);
                    let is_there = number == NONE || self.rows.contains_key(&number);
                    is_there && self.object.section_name(*index as usize) != Some(b".eh_frame")
                }
                Some(number) => {
                    let name = self.object.section_name(*index as usize).unwrap_or_default();
                    let is_called = *number == INIT_ARRAY;
                    let is_there = self.rows.contains_key(number) || guests.contains(name);
                    !gc || is_called || is_there || named.contains(index)
                }
            }
        };
        (0..self.object.shdrs.len() as u32).filter(is_root).collect()
    }

    /// Names that it defines in free sections, with these.
    pub fn definitions(&self) -> Vec<(u128, u32)> {
        let free: HashSet<u32> = self.free.iter().map(|(_, index)| *index).collect();
        let globals = (0..).zip(self.object.syms).skip(self.object.first_global as usize);
        globals
            .filter_map(|(index, symbol)| match self.object.place(index, symbol) {
                SymbolPlace::Section(section) if free.contains(&section) => {
                    Some((keys::hash(self.object.symbol_name(index)), section))
                }
                _ => None,
            })
            .collect()
    }

    /// The names that it defines in sections that are in the output.
    pub fn defines(&self) -> Vec<u128> {
        self.definitions()
            .into_iter()
            .filter(|(_, at)| self.live.contains(at))
            .map(|(hash, _)| hash)
            .collect()
    }

    /// Which of the free sections stay where the tables have them: in each output section those that are in order, as
    /// many as there may be; also with those that are not free, which stay in any case.
    fn that_stay(&self, common: &Common) -> HashSet<u32> {
        let guests = self.guests(common);
        let placed = self.free.iter().filter(|(number, _)| *number != INIT_ARRAY);
        let mut order: Vec<(u32, u32)> = placed.map(|(number, index)| (*index, *number)).collect();
        order.sort_unstable();
        let mut of_output: HashMap<u32, Vec<(u64, u32)>> = HashMap::new();
        let mut merged = Vec::new();
        let fixed = self.that_are_not_free();
        let mut empty = Vec::new();
        for (index, number) in order {
            let Some((_, row)) = self.rows.get(&number).filter(|_| self.live.contains(&index)) else {
                continue;
            };
            let shdr = &self.object.shdrs[index as usize];
            let name = self.object.section_name(index as usize).unwrap_or_default();
            if row.kind == SectionKind::Merge as u8 {
                let part = common.part_for(shdr).map(|(part, _)| part);
                merged.extend((part == Some(row.other) && !guests.contains(name)).then_some(index));
                continue;
            }
            // Where there is nothing, nothing is out of order.
            if (shdr.sh_size(), row.size) == (0, 0) {
                empty.push(index);
                continue;
            }
            let fits = shdr.sh_size() <= row.size && shdr.sh_addralign() <= align_of(row);
            let has_place =
                [SectionKind::Regular, SectionKind::NoBits].map(|kind| kind as u8).contains(&row.kind);
            if fits && has_place && !guests.contains(name) {
                of_output.entry(row.output).or_default().push((row.address, index));
            }
        }
        let with_fixed = |(output, list): (u32, Vec<(u64, u32)>)| {
            let fixed = fixed.get(&output).map_or(&[][..], Vec::as_slice);
            in_order(&around(&list, fixed))
        };
        of_output.into_iter().flat_map(with_fixed).chain(merged).chain(empty).collect()
    }

    /// The sections that stay where the tables have them in any case, by output sections: their addresses, in order of
    /// their header indices.
    fn that_are_not_free(&self) -> HashMap<u32, Vec<(u64, u32)>> {
        let mut found: HashMap<u32, Vec<(u64, u32)>> = HashMap::new();
        let left = self.lost.left();
        for (number, (_, row)) in &self.rows {
            let is_fixed = number & FREE == 0 && row.kind == SectionKind::Regular as u8;
            if let Some(index) = left.find(*number).filter(|_| is_fixed) {
                found.entry(row.output).or_default().push((row.address, index));
            }
        }
        found.values_mut().for_each(|list| list.sort_unstable_by_key(|(_, index)| *index));
        found
    }
}

/// The members of free groups of which the tables `had` one.
fn known_members(object: &Object, lost: &LostSections, had: &HashSet<u32>) -> HashSet<u32> {
    let free: HashMap<u32, u32> = lost
        .free()
        .iter()
        .filter(|(number, _)| is_grouped(*number))
        .map(|(number, at)| (*at, *number))
        .collect();
    let mut known = HashSet::new();
    for group in object.groups.iter().filter(|_| !free.is_empty()) {
        let mine = || members(object, group).filter(|member| free.contains_key(member));
        if mine().any(|member| had.contains(&free[&member])) {
            known.extend(mine());
        }
    }
    known
}

/// Those of a list of addresses and header indices that are in order with all of another list, which is in order.
fn around(list: &[(u64, u32)], fixed: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let is_in_order = |(address, index): &&(u64, u32)| {
        let (before, behind) = fixed.split_at(fixed.partition_point(|(_, of)| of < index));
        before.last().is_none_or(|(of, _)| of <= address)
            && behind.first().is_none_or(|(of, _)| of >= address)
    };
    list.iter().filter(is_in_order).copied().collect()
}

/// The alignment that a row has.
fn align_of(row: &SectionRow) -> u64 {
    1u64.checked_shl(row.align_log2.into()).unwrap_or(1)
}

/// Of a list of addresses the longest ascending part: what comes with these.
fn in_order(list: &[(u64, u32)]) -> Vec<u32> {
    // Of each length the place of the smallest last one, and what is before each.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (at, (address, _)) in list.iter().enumerate() {
        let length = ends.partition_point(|end| list[*end].0 < *address);
        before.push(length.checked_sub(1).map(|length| ends[length]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        found.push(list[at].1);
        next = before[at];
    }
    found
}

/// Of each section in memory of an object, to which others it refers, and to which names that it does not define.
fn references(object: &Object, lost: &LostSections) -> Option<References> {
    let mut found = References::new();
    let target = |symbol: u32| {
        let sym = object.syms.get(symbol as usize)?;
        match object.place(symbol, sym) {
            SymbolPlace::Section(section) => Some(Ok(section)),
            _ if symbol >= object.first_global => Some(Err(symbol)),
            _ => None,
        }
    };
    for (index, shdr) in (0..).zip(object.shdrs) {
        let of = shdr.sh_info();
        let is_relocs = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
        let Some(section) = object.shdrs.get(of as usize).filter(|_| is_relocs) else { continue };
        if section.sh_flags() & SHF_ALLOC == 0 || lost.contains(of) {
            continue;
        }
        let relocs = decode_relocs(object, index as usize).ok()?;
        if object.section_name(of as usize) == Some(b".eh_frame") {
            let data = object.section_data(of as usize)?;
            let frames = EhFrame::parse(data, object.format(), &relocs, |reloc| reloc.r_offset()).ok()?;
            for fde in frames.fdes.iter().filter(|fde| fde.n_relocs > 1) {
                let mine = relocs.get(fde.first_reloc as usize..)?.get(..fde.n_relocs as usize)?;
                let Some(Ok(function)) = target(mine[0].sym()) else { continue };
                let tables = mine[1..].iter().filter_map(|reloc| target(reloc.sym())?.ok());
                found.entry(function).or_default().0.extend(tables);
            }
            continue;
        }
        let (sections, names) = found.entry(of).or_default();
        for reloc in relocs.iter() {
            match target(reloc.sym()) {
                Some(Ok(section)) => sections.push(section),
                Some(Err(symbol)) => names.push(keys::hash(object.symbol_name(symbol))),
                None => {}
            }
        }
        names.sort_unstable();
        names.dedup();
    }
    Some(found)
}

/// Finds out which free sections of the changed objects are in the output: without `gc` all. `is_there` says of an
/// object's global symbol that it is in the output, or is new: others may refer to it. Returns the names that these sections refer to and others define.
pub fn keep_live(
    changed: &mut [Changed],
    (common, gc): (&Common, bool),
    is_there: impl Fn(u32, u32) -> bool,
) -> HashSet<u128> {
    let mut defined: HashMap<u128, Vec<(usize, u32)>> = HashMap::new();
    for (number, one) in changed.iter().enumerate() {
        for (hash, section) in one.definitions() {
            defined.entry(hash).or_default().push((number, section));
        }
    }
    let mut names = Vec::new();
    for one in changed.iter_mut() {
        let roots = one.roots((common, gc), |symbol| is_there(one.row, symbol));
        names.extend(one.keep(roots));
    }
    let mut asked = HashSet::new();
    while let Some(name) = names.pop() {
        asked.insert(name);
        for (number, section) in defined.remove(&name).unwrap_or_default() {
            names.extend(changed[number].keep(vec![section]));
        }
    }
    asked
}

/// What is to be placed of the free sections of objects, and which rows are holes then, with those that are.
///
/// # Errors
/// If a hole cannot be one.
pub fn to_be_placed(
    (file, common, cuts): (&StateFile, &Common, &mut Cuts),
    changed: &[Changed],
) -> Result<(Vec<Wanted>, BTreeSet<u32>), Refused> {
    let (mut wanted, mut holes) = (Vec::new(), common.holes.clone());
    for one in changed {
        let stay = one.that_stay(common);
        let index_of: HashMap<u32, u32> = one.free.iter().copied().collect();
        for (number, index) in &one.free {
            // Nobody looks for what is empty.
            let is_any = one.object.shdrs[*index as usize].sh_size() > 0 && *number != INIT_ARRAY;
            if one.live.contains(index) && !stay.contains(index) && is_any {
                let place = guests::in_no_group(common, one.row, one.object, *index);
                let mut place = place.ok_or_else(|| {
                    let name = one.object.section_name(*index as usize).unwrap_or_default();
                    Refused::NoPlace(NoPlace::Odd(String::from_utf8_lossy(name).into_owned()))
                })?;
                // One that is in another order only may lie where it was.
                let row = one.rows.get(number).map(|(_, row)| row);
                let row = row.filter(|row| row.kind == SectionKind::Regular as u8 && row.size > 0);
                place.last_place = row.map(|row| row.address);
                wanted.push(place);
            }
        }
        for (number, (row, _)) in &one.rows {
            let is_free = number & FREE != 0 && *number != INIT_ARRAY;
            let stays = index_of.get(number).is_some_and(|index| stay.contains(index));
            if is_free && *number != NONE && !stays {
                holes.insert(*row);
            } else {
                holes.remove(row);
            }
        }
    }
    for hole in holes.iter().filter(|_| holes != common.holes) {
        if let Some(gap) = no_hole((file, common, cuts), *hole, &holes)? {
            return Err(Refused::Gap(file.row((*hole).into())?, gap));
        }
    }
    Ok((wanted, holes))
}

/// Rows that are looked at to find what lies in front of a hole: those of some thousands of objects, few of which have
/// variables.
const NEAR: u32 = 1 << 18;

/// Why a full link cannot have what lies in front of a hole be larger by that; `None` if it can, as it can
/// for all holes in front of this one.
fn no_hole(
    (file, common, cuts): (&StateFile, &Common, &mut Cuts),
    hole: u32,
    holes: &BTreeSet<u32>,
) -> Result<Option<Gap>, Unreadable> {
    let row: SectionRow = file.row(hole.into())?;
    if row.kind == SectionKind::Merge as u8 || row.size == 0 {
        return Ok(None);
    }
    let has_bytes = row.kind != SectionKind::NoBits as u8;
    let end = row.address.saturating_add(row.size);
    let Some(out) = common.outputs().get(row.output as usize) else { return Ok(Some(Gap::Behind)) };
    let is_copied = row.kind == SectionKind::Regular as u8 && common.kind_of_output(row.output).is_some();
    if has_bytes && !is_copied {
        return Ok(Some(Gap::Behind));
    }
    for number in (hole.saturating_sub(NEAR)..hole).rev() {
        let before: SectionRow = file.row(number.into())?;
        if before.output != row.output || before.kind == SectionKind::Merge as u8 {
            continue;
        }
        let before_end = before.address.saturating_add(before.size);
        if before.kind != row.kind
            || before.address > row.address
            || before_end.checked_next_multiple_of(align_of(&row)) != Some(row.address)
        {
            return Ok(Some(Gap::Behind));
        }
        if !has_bytes {
            return Ok(None);
        }
        let in_file = |address: u64| out.offset.wrapping_add(address.wrapping_sub(out.address));
        let inside = in_file(before.address).saturating_add(1)..in_file(end);
        // What ended in front of it ends behind it.
        let is_cut = match cuts.that_start_in(&inside) {
            numbers if numbers.is_empty() => false,
            numbers => {
                let offsets = in_file(before_end)..=in_file(row.address);
                let is_border = |offset: u64| cuts.is_border(numbers.start, offset);
                let is_there = numbers.len() == 1 && offsets.into_iter().any(is_border);
                !is_there || !cuts.set_starts(&[(numbers.start, inside.end)])
            }
        };
        return Ok(is_cut.then_some(Gap::Cut));
    }
    // Nothing is in front of it: then its output section begins with room, if something follows.
    let sections = file.count::<SectionRow>() as u32;
    let mut follows = false;
    for number in hole + 1..sections.min(hole.saturating_add(NEAR)) {
        let behind: SectionRow = file.row(number.into())?;
        if behind.output == row.output && behind.kind == row.kind && !holes.contains(&number) {
            follows = behind.address >= end;
            break;
        }
    }
    let inside = out.offset.saturating_add(1)..out.offset.saturating_add(end.wrapping_sub(out.address));
    Ok(match row.address == out.address && follows {
        true if !has_bytes => None,
        true => (!cuts.that_start_in(&inside).is_empty()).then_some(Gap::Cut),
        false => Some(Gap::First),
    })
}

/// Whether what a full link keeps of an object's free sections is what the tables have, where none may come or go.
pub fn are_the_same(one: &Changed) -> bool {
    let stays = |(number, index): &(u32, u32)| one.rows.contains_key(number) || !one.live.contains(index);
    let free: HashSet<u32> = one.free.iter().map(|(number, _)| *number).collect();
    let is_there = |number: &u32| number & FREE == 0 || *number == NONE || free.contains(number);
    one.free.iter().all(stays) && one.rows.keys().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_stay_as_may_be_in_order() {
        let stay = |addresses: &[u64]| {
            let list: Vec<(u64, u32)> = addresses.iter().copied().zip(0..).collect();
            let mut found = in_order(&list);
            found.sort_unstable();
            found
        };
        assert_eq!(stay(&[]), [] as [u32; 0]);
        assert_eq!(stay(&[10, 20, 30]), [0, 1, 2]);
        // One that has moved to the front, and one to the end.
        assert_eq!(stay(&[30, 10, 20]), [1, 2]);
        assert_eq!(stay(&[20, 30, 10]), [0, 1]);
        assert_eq!(stay(&[10, 40, 20, 50, 30, 60]).len(), 4);
    }

    #[test]
    fn those_stay_that_are_in_order_with_what_is_not_free() {
        let fixed = [(20, 3), (40, 7)];
        // One that was behind the first and is in front of it now, and the other way round.
        assert_eq!(
            around(&[(30, 1), (10, 2), (30, 5), (10, 6), (50, 8)], &fixed),
            [(10, 2), (30, 5), (50, 8)]
        );
        assert_eq!(around(&[(30, 1)], &[]), [(30, 1)]);
    }
}
