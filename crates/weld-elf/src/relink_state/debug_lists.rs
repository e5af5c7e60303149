//! Debug information that objects get or lose as a whole: lists of ranges and of places, of which an object has one section
//! each, if any ([`crate::sections::free_sections::LISTS`]).
//!
//! They lie in the order of objects, so what is new takes room from its neighbours, and what is gone leaves it to one of these
//! (`relink/patch/neighbours`).

use std::collections::BTreeSet;

use super::excerpt::Common;
use super::rows::*;
use crate::elf::*;
use crate::input::object::Object;
use crate::sections::SectionKind;
use crate::sections::free_sections::is_list;
use crate::sections::lost_groups::LostSections;

/// A section that is not in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedList {
    pub input: u32,
    /// As in [`SectionRow`].
    pub number: u32,
    pub output: u32,
    pub align_log2: u8,
}

/// What is otherwise than in the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Those that came, each of which has a row behind those of the tables, for good: where they are say
    /// [`super::extents::Extents`].
    pub added: Vec<AddedList>,
    /// The rows of those that are gone.
    pub gone: BTreeSet<u32>,
}

impl Lists {
    /// Those of an input that are not in the tables, which have so many rows: their rows.
    pub fn of(&self, input: u32, rows: u32) -> impl Iterator<Item = (u32, &AddedList)> {
        (rows..).zip(&self.added).filter(move |(row, list)| list.input == input && !self.gone.contains(row))
    }
}

/// The lists that an object has: their numbers and header indices.
pub fn of_object<'l>(object: &'l Object, lost: &'l LostSections) -> impl Iterator<Item = (u32, u32)> + 'l {
    let is_any = |index: u32| object.shdrs[index as usize].sh_size() > 0;
    lost.free().iter().copied().filter(move |(number, index)| is_list(*number) && is_any(*index))
}

impl Common {
    /// The rows of lists of an input that are not in the tables; `None` if there is one that its object does not have.
    pub fn rows_of_lists(&self, input: u32, lost: &LostSections) -> Option<Vec<SectionRow>> {
        let added = self.lists.of(input, self.section_rows);
        added
            .map(|(row, list)| {
                let (number, ordinal) = *lost.free().iter().find(|(number, _)| *number == list.number)?;
                let extent = self.extents.get(&row)?;
                Some(SectionRow {
                    input: 0,
                    ordinal,
                    number,
                    address: extent.address,
                    size: extent.size,
                    output: list.output,
                    other: NONE,
                    kind: SectionKind::Regular as u8,
                    align_log2: list.align_log2,
                })
            })
            .collect()
    }

    /// The first list of an object for which there is no row among `rows`, if the output has debug information.
    pub fn list_without_row<'o>(
        &self,
        (object, lost): (&'o Object, &LostSections),
        rows: &[SectionRow],
    ) -> Option<&'o [u8]> {
        let is_there = |number: u32| rows.iter().any(|row| row.number == number);
        let name = |index: u32| object.section_name(index as usize).unwrap_or_default();
        let mut lists = of_object(object, lost).filter(|(number, _)| !self.is_stripped && !is_there(*number));
        lists.next().map(|(_, index)| name(index))
    }
}

/// Has rows of lists say whether these are compressed.
pub fn note_kinds(object: &Object, rows: &mut [SectionRow]) {
    for row in rows.iter_mut().filter(|row| is_list(row.number)) {
        let is_packed =
            object.shdrs.get(row.ordinal as usize).is_some_and(|s| s.sh_flags() & SHF_COMPRESSED != 0);
        row.kind = if is_packed { SectionKind::Compressed } else { SectionKind::Regular } as u8;
    }
}
