//! The room of neighbours: where a section of debug information has outgrown its own, it gets what those beside it have
//! left, and what lies between moves.
//!
//! Nobody but its own object refers to a section of debug information in which no global symbol is. So the objects whose
//! sections move have all of theirs written again, and their symbols, and nothing else changes. What moves lies in one part of
//! the file as hashes for the build id are made of: a full link cuts these where it did before ([`crate::emit`]), at the first
//! section that ends so many bytes behind the last cut.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use weld_common::io::units::{Leaf, Leaves, UNIT_BYTES};

use super::{LastLink, View, others, parsed};
use crate::compressed::Compressed;
use crate::elf::*;
use crate::emit::DIRECT;
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::excerpt::Common;
use crate::relink_state::extents::{Extent, Extents};
use crate::relink_state::mentions::lost_of;
use crate::relink_state::outline::is_renamed;
use crate::relink_state::rows::{InputRow, SectionRow, input_kind};
use crate::sections::SectionKind;
use crate::sections::rooms::filler;

/// So many inputs are looked at for the next one that has such a section.
const NEAR: u32 = 64;

/// What moves does so by a multiple of this, is aligned to no more, and has at least so much room left: sections without room
/// may be cut.
const STEP: u64 = 16;

/// A section of debug information that has room.
#[derive(Clone, Copy)]
struct Part {
    input: u32,
    row: u32,
    output: u32,
    extent: Extent,
    /// Bytes without the room.
    bytes: u64,
}

impl Part {
    fn end(&self) -> u64 {
        self.extent.address.saturating_add(self.extent.size)
    }

    /// Bytes that it can do without, or all but a quarter of them.
    fn spare(&self, is_all: bool) -> u64 {
        let free = self.extent.size.saturating_sub(self.bytes).saturating_sub(STEP);
        let free = if is_all { free } else { free / 4 * 3 };
        free / STEP * STEP
    }
}

/// What is otherwise than before.
pub struct Found {
    pub extents: Extents,
    /// Inputs whose sections have moved.
    pub moved: BTreeSet<u32>,
}

/// Has those sections of changed objects, which are given by their rows, have the room that they need, as far as there is
/// any.
///
/// # Errors
/// If the tables cannot be read.
pub fn find(job: &Job, changes: &Changes, last: &LastLink, objects: &[(u32, Object)]) -> Result<Found, Why> {
    let (left, common) = last.view(job)?;
    let found = Found { extents: common.extents.clone(), moved: BTreeSet::new() };
    let leaves = &last.memo.leaves;
    let mut search =
        Search { job, changes, left: &left, common: &common, leaves, found, known: HashMap::new() };
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
    Ok(search.found)
}

struct Search<'s, 'j, 'v> {
    job: &'s Job<'j>,
    changes: &'s Changes,
    left: &'s View<'v>,
    common: &'s Common,
    leaves: &'s Leaves,
    found: Found,
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
            part.extent = self.found.extents.get(&part.row).copied().unwrap_or(part.extent);
        }
        Ok(parts)
    }

    /// Has a section have room for its bytes, if that is possible.
    fn enlarge(&mut self, part: Part) -> Result<(), Why> {
        // What compressed sections say of their sizes may be anything.
        let needed = part.bytes.saturating_sub(part.extent.size).checked_add(STEP);
        let needed = needed.and_then(|needed| needed.checked_next_multiple_of(STEP));
        let Some((unit, needed)) = self.unit_of(&part).zip(needed) else { return Ok(()) };
        let mut window = vec![part];
        let mut sides = [Some(part.input), Some(part.input)];
        let mut is_enough = false;
        while !is_enough && sides.iter().any(Option::is_some) {
            for (side, is_behind) in sides.iter_mut().zip([true, false]) {
                let Some(from) = *side else { continue };
                let next = self.next((from, is_behind), &window, &unit)?;
                *side = next.map(|part| part.input);
                match next {
                    Some(next) if is_behind => window.push(next),
                    Some(next) => window.insert(0, next),
                    None => {}
                }
            }
            is_enough = spare_in(&window, part.row, false) >= needed;
        }
        if !is_enough && spare_in(&window, part.row, true) < needed {
            return Ok(());
        }
        // Those beside it first.
        let before = window.clone();
        let at = window.iter().position(|one| one.row == part.row).unwrap_or(0);
        let mut order: Vec<usize> = (0..window.len()).filter(|other| *other != at).collect();
        order.sort_by_key(|other| other.abs_diff(at));
        let mut wanted = needed;
        for number in order {
            let taken = window[number].spare(!is_enough).min(wanted);
            window[number].extent.size -= taken;
            wanted -= taken;
        }
        window[at].extent.size = window[at].extent.size.saturating_add(needed - wanted);
        let mut next = window[0].extent.address;
        for part in &mut window {
            part.extent.address = next;
            next = next.saturating_add(part.extent.size);
        }
        // A full link cuts where it did before.
        let is_cut = |part: &Part| part.extent.address >= unit.cut;
        if wanted > 0 || window.iter().skip(1).any(is_cut) {
            return Ok(());
        }
        for (part, _) in window.iter().zip(&before).filter(|(part, before)| part.extent != before.extent) {
            self.found.extents.insert(part.row, part.extent);
            self.found.moved.insert(part.input);
        }
        Ok(())
    }

    /// The part of the file that a section lies in and hashes are made of.
    fn unit_of(&self, part: &Part) -> Option<Unit> {
        let out = self.common.outputs().get(part.output as usize)?;
        let in_file = |address: u64| out.offset.checked_add(address.checked_sub(out.address)?);
        let (start, end) = (in_file(part.extent.address)?, in_file(part.end())?);
        let is_around = |leaf: &&Leaf| leaf.offset <= start && end <= leaf.offset.saturating_add(leaf.size);
        let leaf = self.leaves.iter().flatten().find(is_around)?;
        let in_memory = |offset: u64| offset.saturating_sub(out.offset).saturating_add(out.address);
        let range = in_memory(leaf.offset)..in_memory(leaf.offset.saturating_add(leaf.size));
        let cut = if out.size < DIRECT { u64::MAX } else { range.start.saturating_add(UNIT_BYTES) };
        Some(Unit { range, cut })
    }

    /// The section that lies behind, or in front of, those of a window, in an input that is behind `from`, or in front of it;
    /// `None` if it may not move.
    fn next(
        &mut self,
        (from, is_behind): (u32, bool),
        window: &[Part],
        unit: &Unit,
    ) -> Result<Option<Part>, Why> {
        let (Some(first), Some(last)) = (window.first().copied(), window.last().copied()) else {
            return Ok(None);
        };
        let count = self.left.tables.count::<InputRow>() as u32;
        for step in 1..NEAR {
            let row = if is_behind { from.checked_add(step) } else { from.checked_sub(step) };
            let Some(row) = row.filter(|row| *row < count) else { return Ok(None) };
            let input: InputRow = self.left.tables.row(row.into())?;
            if input.kind != input_kind::OBJECT {
                continue;
            }
            let Some(parts) = self.parts(row)? else { return Ok(None) };
            let mut here = parts.into_iter().filter(|part| part.output == first.output).peekable();
            if here.peek().is_none() {
                continue;
            }
            let is_next = |part: &Part| match is_behind {
                true => part.extent.address == last.end(),
                false => part.end() == first.extent.address,
            };
            let is_in = |part: &Part| unit.range.start <= part.extent.address && part.end() <= unit.range.end;
            return Ok(here.find(is_next).filter(is_in));
        }
        Ok(None)
    }
}

/// A part of the file that hashes are made of, in addresses of an output section.
struct Unit {
    range: Range<u64>,
    /// A section that begins from here on would end it.
    cut: u64,
}

/// Bytes that the sections of a window can do without, but for one of them.
fn spare_in(window: &[Part], but: u32, is_all: bool) -> u64 {
    let others = window.iter().filter(|part| part.row != but);
    others.fold(0, |sum, part| sum.saturating_add(part.spare(is_all)))
}
