//! Sections of debug information that have outgrown their room, and lists that come and go
//! ([`crate::relink_state::debug_lists`]).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::{LastLink, View, others, parsed};
use super::{Part, make_room, near};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::debug_lists::{self, AddedList, Lists};
use crate::relink_state::excerpt::Common;
use crate::relink_state::extents::{Cuts, Extent, Extents};
use crate::relink_state::mentions::lost_of;
use crate::relink_state::outline::is_renamed;
use crate::relink_state::rows::{InputRow, OutputRow, SectionRow, input_kind};
use crate::sections::SectionKind;
use crate::sections::free_sections::is_list;
use crate::sections::rooms::filler;

/// What moves does so by a multiple of this, is aligned to no more, and has at least so much room left: sections without room
/// may be cut.
const STEP: u64 = 16;

/// So many sections move, at most, for the sake of one.
const MOST: usize = 96;

/// What is otherwise than in the last link.
pub struct Found {
    /// Where sections lie.
    pub extents: Extents,
    pub lists: Lists,
    /// The inputs of those that have moved.
    pub inputs: BTreeSet<u32>,
    /// Which parts of the file hashes are made of.
    pub cuts: Cuts,
}

/// Has those sections of changed objects, which are given by their rows, have the room that they need, as far as there is
/// any. `cuts` are the parts of the file that hashes are made of.
///
/// # Errors
/// If the tables cannot be read.
pub fn find(
    job: &Job,
    changes: &Changes,
    last: &LastLink,
    (objects, cuts): (&[(u32, Object)], Cuts),
) -> Result<Found, Why> {
    let (left, common) = last.view(job)?;
    let mut search = Search {
        job,
        changes,
        left: &left,
        common: &common,
        cuts,
        extents: common.extents.clone(),
        lists: common.lists.clone(),
        moved: BTreeSet::new(),
        known: HashMap::new(),
    };
    for (input, object) in objects {
        let parts = search.parts_of(*input, object)?;
        search.known.insert(*input, Some(parts));
    }
    let mut lists = Vec::with_capacity(objects.len());
    for (input, object) in objects {
        lists.extend(search.lists_of(*input, object)?);
    }
    lists.iter().try_for_each(|lists| search.let_lists_go(lists))?;
    lists.iter().try_for_each(|lists| search.let_lists_come(lists))?;
    for (input, _) in objects {
        for number in 0..search.known.get(input).and_then(Option::as_ref).map_or(0, Vec::len) {
            let Some(part) = search.parts(*input)?.and_then(|parts| parts.get(number).copied()) else {
                break;
            };
            if part.bytes > part.extent.size {
                search.enlarge(part)?;
            }
        }
    }
    let Search { extents, lists, moved: inputs, cuts, .. } = search;
    Ok(Found { extents, lists, inputs, cuts })
}

/// The lists of an object.
struct ListsOf<'o, 'a> {
    input: u32,
    object: &'o Object<'a>,
    /// Those that it has now: their numbers and header indices.
    now: Vec<(u32, u32)>,
    /// Those that it had until now.
    last: Vec<List>,
}

/// A list of an object, as in [`SectionRow`].
struct List {
    row: u32,
    number: u32,
    output: u32,
    extent: Extent,
}

struct Search<'s, 'j, 'v> {
    job: &'s Job<'j>,
    changes: &'s Changes,
    left: &'s View<'v>,
    common: &'s Common,
    cuts: Cuts,
    extents: Extents,
    lists: Lists,
    moved: BTreeSet<u32>,
    /// Those of each input that was looked at, where the tables say; `None` if it cannot be read.
    known: HashMap<u32, Option<Vec<Part>>>,
}

impl Search<'_, '_, '_> {
    /// The sections of an object that are debug information and may have room.
    fn parts_of(&self, row: u32, object: &Object) -> Result<Vec<Part>, Why> {
        let input: InputRow = self.left.tables.row(row.into())?;
        let sections = self.left.tables.sections_of(&input)?;
        let mut sections: Vec<(u32, SectionRow)> = (input.first_section..).zip(sections).collect();
        sections.retain(|(number, _)| !self.lists.gone.contains(number));
        let left = match is_renamed(object, self.job.options) {
            true => None,
            false => {
                let lost = lost_of((self.left.tables, self.common), row, object)?;
                let added = self.lists.of(row, self.common.section_rows).map(|(number, _)| number);
                sections.extend(added.zip(self.common.rows_of_lists(row, &lost).unwrap_or_default()));
                Some(lost.left())
            }
        };
        let globals = (0..).zip(object.syms).skip(object.first_global as usize);
        let known: HashSet<u32> = globals
            .filter_map(|(index, symbol)| match object.place(index, symbol) {
                SymbolPlace::Section(section) => Some(section),
                _ => None,
            })
            .collect();
        let mut parts = Vec::new();
        for (number, section) in sections {
            let is_loaded =
                self.common.outputs().get(section.output as usize).map(|out| out.flags & SHF_ALLOC != 0);
            let is_copied = [SectionKind::Regular, SectionKind::Compressed]
                .map(|kind| kind as u8)
                .contains(&section.kind);
            if is_loaded != Some(false) || !is_copied || 1 << section.align_log2.min(63) > STEP {
                continue;
            }
            let index = left.as_ref().map_or(Some(section.ordinal), |left| left.find(section.number));
            let Some((index, shdr)) =
                index.and_then(|index| Some((index as usize, object.shdrs.get(index as usize)?)))
            else {
                continue;
            };
            let name = object.section_name(index).unwrap_or_default();
            if filler(shdr, name).is_none() || known.contains(&(index as u32)) {
                continue;
            }
            let bytes = unpacked(object, index).map(|(bytes, _)| bytes);
            let extent = Extent { address: section.address, size: section.size };
            parts.extend(bytes.map(|bytes| Part {
                input: row,
                row: number,
                output: section.output,
                extent,
                bytes,
                step: STEP,
            }));
        }
        Ok(parts)
    }

    /// The same of an input that may have changed or not; `None` if it is no object that can be looked at.
    fn parts(&mut self, row: u32) -> Result<Option<Vec<Part>>, Why> {
        if !self.known.contains_key(&row) {
            let input: InputRow = self.left.tables.row(row.into())?;
            let data = others::bytes(self.job, self.changes, (row, &input)).ok();
            let object = data
                .filter(|_| input.kind == input_kind::OBJECT)
                .and_then(|data| parsed::object(self.job, data));
            let parts = object.map(|object| self.parts_of(row, &object)).transpose()?;
            self.known.insert(row, parts);
        }
        let mut parts = self.known[&row].clone();
        for part in parts.iter_mut().flatten() {
            part.extent = self.extents.get(&part.row).copied().unwrap_or(part.extent);
        }
        Ok(parts)
    }

    /// Has those lists of an object that it has no more leave their room to a neighbour. What cannot is said by who
    /// writes the object.
    fn let_lists_go(&mut self, of: &ListsOf) -> Result<(), Why> {
        let input = of.input;
        let stays = |number: u32| of.now.iter().any(|(now, _)| *now == number);
        for &List { row, output, extent, .. } in of.last.iter().filter(|list| !stays(list.number)) {
            // Others may have moved it.
            let extent = self.extents.get(&row).copied().unwrap_or(extent);
            let end = extent.address.saturating_add(extent.size);
            let gone = Part { input, row, output, extent, bytes: 0, step: STEP };
            let mut left = gone;
            let front = self.beside((input, false), output)?.flatten();
            let behind = self.beside((input, true), output)?.flatten();
            let behind = behind.filter(|part| part.extent.address == end);
            let behind = behind
                .map(|part| self.moves_by(&part, extent.size).map(|moves| (part, moves)))
                .transpose()?;
            let window = if let Some(front) = front.filter(|part| part.end() == extent.address) {
                left.extent = Extent { address: end, size: 0 };
                let size = front.extent.size.saturating_add(extent.size);
                [Part { extent: Extent { size, ..front.extent }, ..front }, left]
            } else if let Some((behind, true)) = behind {
                left.extent.size = 0;
                let size = behind.extent.size.saturating_add(extent.size);
                [left, Part { extent: Extent { address: extent.address, size }, ..behind }]
            } else {
                continue;
            };
            if self.lay(&window, Some(gone))? {
                self.extents.remove(&row);
                self.lists.gone.insert(row);
                self.forget(row, input);
            }
        }
        Ok(())
    }

    /// Whether a section may move by so many bytes.
    fn moves_by(&self, part: &Part, bytes: u64) -> Result<bool, Why> {
        let added = part.row.checked_sub(self.common.section_rows);
        let added = added.and_then(|number| self.lists.added.get(number as usize));
        let align_log2 = match added {
            Some(list) => list.align_log2,
            None => self.left.tables.row::<SectionRow>(part.row.into())?.align_log2,
        };
        Ok(bytes.is_multiple_of(STEP) || align_log2 == 0)
    }

    /// Has those lists of an object that it did not have lie between those of its neighbours, if these have room for them.
    fn let_lists_come(&mut self, of: &ListsOf) -> Result<(), Why> {
        let ListsOf { input, object, .. } = *of;
        let was = |number: u32| of.last.iter().any(|list| list.number == number);
        for (number, index) in of.now.iter().copied().filter(|(number, _)| !was(*number)) {
            let name = object.section_name(index as usize).unwrap_or_default();
            let mut outputs = (0..).zip(self.common.named_outputs());
            let output = outputs.find(|(_, (output, _))| *output == name).map(|(output, _)| output);
            let (Some(output), Some((bytes, align))) = (output, unpacked(object, index as usize)) else {
                continue;
            };
            let front = self.beside((input, false), output)?;
            let (Some(front), Some(behind)) = (front, self.beside((input, true), output)?) else { continue };
            let address = match (front, behind) {
                (Some(front), Some(behind)) if front.end() != behind.extent.address => continue,
                (Some(front), _) => front.end(),
                (None, Some(behind)) => behind.extent.address,
                (None, None) => continue,
            };
            if align > STEP || !address.is_multiple_of(align) {
                continue;
            }
            let align_log2 = align.trailing_zeros() as u8;
            let row = self.row_for(AddedList { input, number, output, align_log2 })?;
            let part = Part { input, row, output, extent: Extent { address, size: 0 }, bytes, step: STEP };
            self.lists.gone.remove(&row);
            if self.enlarge(part)? {
                if let Some(Some(parts)) = self.known.get_mut(&input) {
                    parts.push(part);
                }
            } else {
                self.lists.gone.insert(row);
            }
        }
        Ok(())
    }

    /// The lists of an object; `None` if they cannot be known.
    fn lists_of<'o, 'a>(&self, input: u32, object: &'o Object<'a>) -> Result<Option<ListsOf<'o, 'a>>, Why> {
        if is_renamed(object, self.job.options) {
            return Ok(None);
        }
        let lost = lost_of((self.left.tables, self.common), input, object)?;
        let row: InputRow = self.left.tables.row(input.into())?;
        let is_one =
            |(row, section): &(u32, SectionRow)| is_list(section.number) && !self.lists.gone.contains(row);
        let sections = (row.first_section..).zip(self.left.tables.sections_of(&row)?);
        let of_tables = sections.filter(is_one).map(|(row, section)| {
            let extent = Extent { address: section.address, size: section.size };
            let extent = self.extents.get(&row).copied().unwrap_or(extent);
            List { row, number: section.number, output: section.output, extent }
        });
        let added = self.lists.of(input, self.common.section_rows).filter_map(|(row, list)| {
            let extent = *self.extents.get(&row)?;
            Some(List { row, number: list.number, output: list.output, extent })
        });
        let last = of_tables.chain(added).collect();
        Ok(Some(ListsOf { input, object, now: debug_lists::of_object(object, &lost).collect(), last }))
    }

    /// The row for a list of an object that has none, or whose is gone.
    fn row_for(&mut self, list: AddedList) -> Result<u32, Why> {
        let row: InputRow = self.left.tables.row(list.input.into())?;
        let sections = self.left.tables.sections_of(&row)?;
        let of_tables =
            (row.first_section..).zip(sections).find(|(_, section)| section.number == list.number);
        let mut added = (self.common.section_rows..).zip(&self.lists.added);
        let known =
            of_tables.map(|(row, _)| row).or(added.find(|(_, known)| **known == list).map(|(row, _)| row));
        Ok(known.unwrap_or_else(|| {
            self.lists.added.push(list);
            self.common.section_rows + self.lists.added.len() as u32 - 1
        }))
    }

    /// The section in an output section that lies nearest behind those of an input, or in front of them, if there is one near
    /// by; `None` if that may not move.
    fn beside(&mut self, (from, is_behind): (u32, bool), output: u32) -> Result<Option<Option<Part>>, Why> {
        let count = self.left.tables.count::<InputRow>() as u32;
        for row in near((from, is_behind), count) {
            let input: InputRow = self.left.tables.row(row.into())?;
            if input.kind != input_kind::OBJECT {
                continue;
            }
            let Some(parts) = self.parts(row)? else { return Ok(None) };
            let here = parts.into_iter().filter(|part| part.output == output);
            let found = match is_behind {
                true => here.min_by_key(|part| part.extent.address),
                false => here.max_by_key(|part| part.extent.address),
            };
            if found.is_some() {
                return Ok(Some(found));
            }
            let mut rows = (input.first_section..).zip(self.left.tables.sections_of(&input)?);
            if rows.any(|(row, section)| section.output == output && !self.lists.gone.contains(&row)) {
                return Ok(None);
            }
        }
        Ok(Some(None))
    }

    fn forget(&mut self, row: u32, input: u32) {
        if let Some(Some(parts)) = self.known.get_mut(&input) {
            parts.retain(|part| part.row != row);
        }
    }

    /// Has a section have room for its bytes; whether that is possible.
    fn enlarge(&mut self, part: Part) -> Result<bool, Why> {
        match make_room(part, |from, window| self.next(from, window))? {
            Some(window) => self.lay(&window, Some(part)),
            None => Ok(false),
        }
    }

    /// Has the sections of a window lie there, one of which lay where it says if nobody knows that; whether that is
    /// possible.
    fn lay(&mut self, window: &[Part], own: Option<Part>) -> Result<bool, Why> {
        let Some(out) =
            window.first().and_then(|part| self.common.outputs().get(part.output as usize)).copied()
        else {
            return Ok(false);
        };
        let mut before = Vec::with_capacity(window.len());
        for part in window {
            let known = self.parts(part.input)?.into_iter().flatten().find(|known| known.row == part.row);
            let known = known.or(own.filter(|own| own.row == part.row));
            before.push(known.map_or(part.extent, |known| known.extent));
        }
        if !self.cut((&before, window), &out) {
            return Ok(false);
        }
        for (part, _) in window.iter().zip(&before).filter(|(part, before)| part.extent != **before) {
            self.extents.insert(part.row, part.extent);
            self.moved.insert(part.input);
        }
        Ok(true)
    }

    /// Has the parts of the file that hashes are made of end with the sections of a window that they did, which had other
    /// places `before`; whether that is possible.
    fn cut(&mut self, (before, window): (&[Extent], &[Part]), out: &OutputRow) -> bool {
        let in_file = |address: u64| out.offset.wrapping_add(address.wrapping_sub(out.address));
        let mut moved = Vec::new();
        for (number, (extent, part)) in before.iter().zip(window).enumerate() {
            let end_of = |extent: &Extent| extent.address.saturating_add(extent.size);
            let end = in_file(end_of(extent));
            // What ended where something comes ends behind that, unless it is another output section.
            let is_new = |extent: &Extent| extent.size == 0 && extent.address > out.address;
            let comes =
                before.get(number + 1).is_some_and(|next| is_new(next) && end_of(next) == end_of(extent));
            let first = in_file(extent.address).saturating_add(u64::from(!is_new(extent)));
            let range = first..end.saturating_add(u64::from(!comes));
            // None may start within a section.
            match self.cuts.that_start_in(&range) {
                numbers if numbers.is_empty() => {}
                numbers if numbers.len() == 1 && self.cuts.is_border(numbers.start, end) => {
                    moved.push((numbers.start, in_file(part.end())));
                }
                _ => return false,
            }
        }
        self.cuts.set_starts(&moved)
    }

    /// The section that lies behind, or in front of, those of a window, in an input that is behind `from`, or in front of it;
    /// `None` if it may not move.
    fn next(&mut self, (from, is_behind): (u32, bool), window: &[Part]) -> Result<Option<Part>, Why> {
        let output = window.first().map(|part| part.output);
        let count = self.left.tables.count::<InputRow>() as u32;
        for row in near((from, is_behind), count).take_while(|_| window.len() < MOST) {
            let input: InputRow = self.left.tables.row(row.into())?;
            if input.kind != input_kind::OBJECT {
                continue;
            }
            let Some(parts) = self.parts(row)? else { return Ok(None) };
            let mut here = parts.into_iter().filter(|part| Some(part.output) == output).peekable();
            if here.peek().is_none() {
                continue;
            }
            return Ok(here.find(|part| part.is_beside(window, is_behind)));
        }
        Ok(None)
    }
}

/// The bytes of a section of an object, and what it is aligned to, when it is not compressed any more; `None` if it is malformed.
fn unpacked(object: &Object, index: usize) -> Option<(u64, u64)> {
    let shdr = object.shdrs.get(index)?;
    if shdr.sh_flags() & SHF_COMPRESSED == 0 {
        return Some((shdr.sh_size(), shdr.sh_addralign().max(1)));
    }
    let packed = Compressed::parse(object.section_data(index)?, object.format()).ok()?;
    Some((packed.uncompressed_size(), packed.align().max(1)))
}
