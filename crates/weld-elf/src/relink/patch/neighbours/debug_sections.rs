//! Sections of debug information that have outgrown their room.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::{LastLink, View, others, parsed};
use super::{Part, make_room, near};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::excerpt::Common;
use crate::relink_state::extents::{Cuts, Extent, Extents};
use crate::relink_state::mentions::lost_of;
use crate::relink_state::outline::is_renamed;
use crate::relink_state::rows::{InputRow, OutputRow, SectionRow, input_kind};
use crate::sections::SectionKind;
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
        moved: BTreeSet::new(),
        known: HashMap::new(),
    };
    for (input, object) in objects {
        let parts = search.parts_of(*input, object)?;
        search.known.insert(*input, Some(parts));
    }
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
    let Search { extents, moved: inputs, cuts, .. } = search;
    Ok(Found { extents, inputs, cuts })
}

struct Search<'s, 'j, 'v> {
    job: &'s Job<'j>,
    changes: &'s Changes,
    left: &'s View<'v>,
    common: &'s Common,
    cuts: Cuts,
    extents: Extents,
    moved: BTreeSet<u32>,
    /// Those of each input that was looked at, where the tables say; `None` if it cannot be read.
    known: HashMap<u32, Option<Vec<Part>>>,
}

impl Search<'_, '_, '_> {
    /// The sections of an object that are debug information and may have room.
    fn parts_of(&self, row: u32, object: &Object) -> Result<Vec<Part>, Why> {
        let input: InputRow = self.left.tables.row(row.into())?;
        let first = u64::from(input.first_section);
        let sections: Vec<SectionRow> = self.left.tables.rows(first..first + u64::from(input.sections))?;
        let left = match is_renamed(object, self.job.options) {
            true => None,
            false => Some(lost_of((self.left.tables, self.common), row, object)?.left()),
        };
        let globals = (0..).zip(object.syms).skip(object.first_global as usize);
        let known: HashSet<u32> = globals
            .filter_map(|(index, symbol)| match object.place(index, symbol) {
                SymbolPlace::Section(section) => Some(section),
                _ => None,
            })
            .collect();
        let mut parts = Vec::new();
        for (number, section) in (input.first_section..).zip(&sections) {
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
            let bytes = match section.kind == SectionKind::Compressed as u8 {
                true => object
                    .section_data(index)
                    .and_then(|data| Compressed::parse(data, object.format()).ok())
                    .map(|packed| packed.uncompressed_size()),
                false => Some(shdr.sh_size()),
            };
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

    /// Has a section have room for its bytes, if that is possible.
    fn enlarge(&mut self, part: Part) -> Result<(), Why> {
        let Some(out) = self.common.outputs().get(part.output as usize).copied() else { return Ok(()) };
        let Some(window) = make_room(part, |from, window| self.next(from, window))? else {
            return Ok(());
        };
        let mut before = Vec::with_capacity(window.len());
        for part in &window {
            let known = self.parts(part.input)?.into_iter().flatten().find(|known| known.row == part.row);
            before.push(known.map_or(part.extent, |known| known.extent));
        }
        if !self.cut((&before, &window), &out) {
            return Ok(());
        }
        for (part, _) in window.iter().zip(&before).filter(|(part, before)| part.extent != **before) {
            self.extents.insert(part.row, part.extent);
            self.moved.insert(part.input);
        }
        Ok(())
    }

    /// Has the parts of the file that hashes are made of end with the sections of a window that they did, which had other
    /// places `before`; whether that is possible.
    fn cut(&mut self, (before, window): (&[Extent], &[Part]), out: &OutputRow) -> bool {
        let in_file = |address: u64| out.offset.wrapping_add(address.wrapping_sub(out.address));
        let mut moved = Vec::new();
        for (before, part) in before.iter().zip(window) {
            let end = in_file(before.address.saturating_add(before.size));
            let range = in_file(before.address).saturating_add(1)..end.saturating_add(1);
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
