//! Instructions that are carried out elsewhere, because some processors execute them wrongly where they are.
//!
//! The instruction goes to a pool, as it is after relocation, followed by a branch back; a branch to there
//! takes its place. Which ones have to be moved depends on their addresses, so they are looked for whenever
//! these have changed. An instruction that has once been moved stays so. Pools grow by whole pages while
//! there is anything to be moved, so that what follows them is as far into a page as before.
//!
//! What is data between code is found out by mapping symbols, where something seems to have to be moved.

use weld_common::thunks::{Branch as Call, Form, Reach};

use super::branches::Addresses;
use super::round::Round;
use super::{Key, Label, Thunks};
use crate::address::Address;
use crate::arch::facts::{Branches, Erratum};
use crate::elf::Rela;
use crate::ids::*;
use crate::input::mapping_symbols::{Mark, mapping_symbols, of_section};
use crate::input::object::Object;
use crate::sections::SectionKind;
use crate::synth::error::PlanError;
use crate::synth::relocate::Site;
use crate::synth::section::At;

/// The instruction and the branch, whose reach is seen to in the end.
pub const FORM: Form = Form { size: 8, align: 4, reach: Reach::EVERYTHING };
/// Bytes of an instruction.
const INSTRUCTION: usize = 4;
/// What pools that take such instructions grow by.
pub const PAGE: u64 = 4096;
/// Members whose code is looked at in one go.
const MEMBERS: usize = 512;

/// Code in a pool that stands for an instruction.
pub struct Code {
    pub address: Address,
    /// Writes a jump: the bytes, where it lies, where it goes.
    pub jump: fn(&mut [u8], Address, Address),
    /// What follows the instruction.
    pub next: Address,
}

impl Code {
    /// Writes it, for the instruction at `offset` of a section.
    pub fn write(&self, at: &At, id: SectionId, offset: u64, out: &mut [u8]) {
        let image = at.image();
        let object_id = at.source.owners.object(id);
        let object = &image.resolved.objects[object_id.index()];
        let section = image.sections.get(id);
        let shndx = id.0 - object.section_base;
        let input = object.section_data(shndx as usize).unwrap_or(&[]);
        let (code, back) = out.split_at_mut(INSTRUCTION);
        code.copy_from_slice(&input[offset as usize..offset as usize + INSTRUCTION]);
        let all = image.sections.relocs(object, object_id.index(), section);
        let relocs: Vec<Rela> = all.iter().filter(|r| r.r_offset() == offset).copied().collect();
        let site = Site {
            image,
            object,
            object_id,
            shndx,
            address: section.address() + offset,
            relocs: &relocs,
            input,
            delta: offset.wrapping_neg(),
        };
        site.relocate(code);
        (self.jump)(back, self.address + INSTRUCTION as u64, self.next);
    }
}

impl Thunks {
    /// Whether instructions of a section are moved.
    pub fn moves_from(&self, id: SectionId) -> bool {
        !self.moved.is_empty() && self.moved_from(id).next().is_some()
    }

    fn moved_from(&self, id: SectionId) -> impl Iterator<Item = &(SectionId, u64, Address)> {
        let first = self.moved.partition_point(|moved| moved.0 < id);
        self.moved[first..].iter().take_while(move |moved| moved.0 == id)
    }

    /// Puts branches where instructions of a section were that are moved. `out` are its bytes from `start`
    /// on, which is at `address`.
    pub fn leave(
        &self,
        machine: Option<&Branches>,
        id: SectionId,
        start: u64,
        address: Address,
        out: &mut [u8],
    ) {
        let Some(machine) = machine else { return };
        for (_, offset, to) in self.moved_from(id) {
            let at = offset.wrapping_sub(start) as usize;
            if let Some(code) = out.get_mut(at..).and_then(|out| out.get_mut(..INSTRUCTION)) {
                (machine.jump)(code, address + at as u64, *to);
            }
        }
    }

    /// The sizes that pools are given.
    pub(super) fn room(&self, size: u64) -> u64 {
        if self.errata.is_empty() { size } else { size.next_multiple_of(PAGE) }
    }

    /// Whether all that has to be near a pool is.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, objects: &[Object], owners: &crate::live::SectionOwners) -> Result<(), PlanError> {
        let Some((section, offset)) = self.stuck else { return Ok(()) };
        let object = &objects[owners.object(section).index()];
        let place = object.at_byte(section.0 - object.section_base, offset);
        Err(PlanError::Stuck { place: place.to_string().into() })
    }
}

impl Round<'_, '_, '_> {
    /// Moves instructions that have to be.
    pub(super) fn move_away(&mut self) {
        if self.thunks.errata.is_empty() {
            return;
        }
        let Round { addresses, .. } = *self;
        let reach = Reach::both(self.thunks.least_reach(self.machine));
        for (section, offset, number) in addresses.instructions_to_move(&self.thunks.errata) {
            let (key, start) = (Key::Moved(section, offset), addresses.of_section(section));
            let Some(here) = start.map(|start| start + offset).filter(|_| !self.thunks.has(key)) else {
                continue;
            };
            let end = here + INSTRUCTION as u64;
            let branch = Call { key, here: here.get(), target: end.get(), reach };
            if !self.serve(&branch, section, Label::Erratum { number, address: here }) {
                self.thunks.stuck = Some((section, offset));
            }
        }
    }
}

impl Addresses<'_, '_, '_> {
    /// Section, offset and reason of the instructions that have to be moved.
    fn instructions_to_move(&self, errata: &[&Erratum]) -> Vec<(SectionId, u64, usize)> {
        let find = |id, found: &mut Vec<_>| self.in_section(id, errata, found);
        let mut all = self.in_code("look for errata", MEMBERS, find);
        all.sort_unstable();
        all.dedup_by_key(|moved| (moved.0, moved.1));
        all
    }

    fn in_section(&self, id: SectionId, errata: &[&Erratum], found: &mut Vec<(SectionId, u64, usize)>) {
        let section = self.sections.get(id);
        if section.kind() != SectionKind::Regular {
            return;
        }
        let object = self.world.object_of(id);
        let shndx = id.0 - object.section_base;
        let data = object.section_data(shndx as usize).unwrap_or(&[]);
        let Some(address) = self.of_section(id) else { return };
        let mut map = None;
        for (number, erratum) in errata.iter().enumerate() {
            (erratum.find)(data, address, &mut |first, last| {
                let map = map.get_or_insert_with(|| mapping_symbols(object, is_code));
                if is_all_code(of_section(map, shndx), first as u64, last as u64) {
                    found.push((id, last as u64, number));
                }
            });
        }
    }
}

/// Whether what a mapping symbol of this name stands in front of is code.
fn is_code(name: &[u8]) -> Option<bool> {
    match name {
        [b'$', b'x'] | [b'$', b'x', b'.', ..] => Some(true),
        [b'$', b'd'] | [b'$', b'd', b'.', ..] => Some(false),
        _ => None,
    }
}

/// Whether all from the instruction at `first` to that at `last` is code. Nothing is, if nothing says so.
fn is_all_code(map: &[Mark<bool>], first: u64, last: u64) -> bool {
    let begins = map.partition_point(|(_, offset, _)| *offset <= first);
    let ends = map.partition_point(|(_, offset, _)| *offset <= last);
    begins > 0 && map[begins - 1..ends].iter().all(|(.., code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_symbols_say_is_code() {
        assert!(!is_all_code(&[], 0, 8));
        let map = [(1, 0, true), (1, 16, false), (1, 24, true), (1, 24, true)];
        assert!(is_all_code(&map, 0, 8) && is_all_code(&map, 24, 32) && is_all_code(&map, 100, 108));
        assert!(!is_all_code(&map, 8, 16) && !is_all_code(&map, 16, 20) && !is_all_code(&map, 12, 28));
        assert!(!is_all_code(&map[1..2], 0, 8));
    }
}
