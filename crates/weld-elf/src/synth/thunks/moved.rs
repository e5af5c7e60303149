//! Instructions that are carried out elsewhere, because some processors execute them wrongly where they are.
//! Branches among them go by way of others ([`super::detours`]). Any other
//! instruction goes to a pool, as it is after relocation, followed by a branch back; a branch to there
//! takes its place. Which ones have to be moved depends on their addresses, so they are looked for whenever
//! these have changed. An instruction that has once been moved stays so. Pools grow by whole pages while
//! there is anything to be moved, so that what follows them is as far into a page as before.
//!
//! What is data between code is found out by mapping symbols, where something seems to have to be moved.

use weld_common::thunks::{Branch as Call, Reach};

use super::branches::Addresses;
use super::round::Round;
use super::{Key, Label, Thunks, engine};
use crate::address::Address;
use crate::arch::facts::{Branches, Cure, Detour, Errata, TurnedCode};
use crate::elf::Rela;
use crate::ids::*;
use crate::input::mapping_symbols::{Mark, mapping_symbols, of_section};
use crate::input::object::Object;
use crate::sections::SectionKind;
use crate::synth::error::PlanError;
use crate::synth::relocate::Site;
use crate::synth::section::At;

/// Bytes of an instruction.
const INSTRUCTION: usize = 4;
/// What pools that take such instructions grow by.
pub const PAGE: u64 = 4096;
/// Members whose code is looked at in one go.
const MEMBERS: usize = 512;

/// An instruction that something else stands for.
pub struct Moved {
    pub section: SectionId,
    pub offset: u64,
    /// What is left in its place: a branch to there.
    code: [u8; INSTRUCTION],
}

impl Moved {
    pub fn new(section: SectionId, offset: u64, code: [u8; INSTRUCTION]) -> Moved {
        Moved { section, offset, code }
    }

    /// Turns the bytes of what is left, which is made of units of so many.
    pub fn turned(mut self, unit: usize) -> Moved {
        TurnedCode::turn(&mut self.code, std::iter::once((0, unit)));
        self
    }
}

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

    fn moved_from(&self, id: SectionId) -> impl Iterator<Item = &Moved> {
        let first = self.moved.partition_point(|moved| moved.section < id);
        self.moved[first..].iter().take_while(move |moved| moved.section == id)
    }

    /// Puts branches where instructions of a section were that are moved. `out` are its bytes from `start`
    /// on; the first and the last instruction may be cut.
    pub fn leave(&self, id: SectionId, start: u64, out: &mut [u8]) {
        for moved in self.moved_from(id) {
            for (at, byte) in (moved.offset..).zip(moved.code) {
                let at = at.checked_sub(start).and_then(|at| out.get_mut(at as usize));
                _ = at.map(|out| *out = byte);
            }
        }
    }

    /// An instruction that is moved, to code in a pool at an address.
    pub(super) fn move_to(
        &self,
        machine: &Branches,
        sections: &crate::sections::Sections,
        thunk: &engine::Thunk<Key>,
        at: Address,
    ) -> Option<Moved> {
        let Key::Moved(section, offset) = thunk.key else { return None };
        let mut code = [0; INSTRUCTION];
        (machine.jump)(&mut code, sections.address_of(section, offset), at);
        Some(Moved::new(section, offset, code))
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
        let Some(errata) = self.machine.errata.as_ref().filter(|_| !self.thunks.errata.is_empty()) else {
            return;
        };
        let Round { addresses, .. } = *self;
        let reach = Reach::both(self.thunks.least_reach(self.machine));
        for Found { section, offset, number, kind } in self.instructions_to_move(errata) {
            let (key, start) = (Key::Moved(section, offset), addresses.of_section(section));
            // A branch that does not reach where it went before goes elsewhere.
            let stays = |key| kind.is_none() && self.thunks.has(key);
            let Some(here) = start.map(|start| start + offset).filter(|_| !stays(key)) else {
                continue;
            };
            let reach = kind.and_then(|kind| self.thunks.reach(self.machine, kind)).unwrap_or(reach);
            let end = here + INSTRUCTION as u64;
            let branch = Call { key, here: here.get(), target: end.get(), reach };
            if !self.serve(&branch, section, Label::Erratum { number, address: here }) {
                self.thunks.stuck = Some((section, offset));
            }
        }
    }
}

/// An instruction that has to be moved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    section: SectionId,
    offset: u64,
    /// The number of the reason.
    number: usize,
    /// The type of a relocation for it, if it is a branch that goes by way of another one.
    kind: Option<u32>,
}

impl Round<'_, '_, '_> {
    fn instructions_to_move(&self, errata: &Errata) -> Vec<Found> {
        let find = |id, found: &mut Vec<_>| self.in_section(errata, id, found);
        let mut all = self.addresses.in_code("look for errata", MEMBERS, find);
        all.sort_unstable();
        all.dedup_by_key(|moved| (moved.section, moved.offset));
        all
    }

    fn in_section(&self, errata: &Errata, id: SectionId, all: &mut Vec<Found>) {
        let Addresses { sections, world, .. } = self.addresses;
        if sections.get(id).kind() != SectionKind::Regular {
            return;
        }
        let object = world.object_of(id);
        let shndx = id.0 - object.section_base;
        let data = object.section_data(shndx as usize).unwrap_or(&[]);
        let Some(address) = self.addresses.of_section(id) else { return };
        let mut map = None;
        for (number, erratum) in self.thunks.errata.iter().enumerate() {
            (erratum.find)(data, address, &mut |first, last| {
                let map = map.get_or_insert_with(|| mapping_symbols(object, errata.is_code));
                let map = of_section(map, shndx);
                if !is_all_code(map, first as u64, last as u64) {
                    return;
                }
                let found = Found { section: id, offset: last as u64, number, kind: None };
                match &errata.cure {
                    Cure::Move => all.push(found),
                    Cure::Detour(detour) if begins_instruction(detour, map, data, first) => {
                        let route = self.route(detour, id, last as u64).filter(|route| route.is_affected);
                        all.extend(route.map(|route| Found { kind: Some(route.kind), ..found }));
                    }
                    Cure::Detour(_) => {}
                }
            });
        }
    }
}

/// Whether all from the instruction at `first` to that at `last` is code. Nothing is, if nothing says so.
fn is_all_code(map: &[Mark<bool>], first: u64, last: u64) -> bool {
    let begins = map.partition_point(|(_, offset, _)| *offset <= first);
    let ends = map.partition_point(|(_, offset, _)| *offset <= last);
    begins > 0 && map[begins - 1..ends].iter().all(|(.., code)| *code)
}

/// Whether an instruction begins at `first`, of code whose instructions are not all of one size.
fn begins_instruction(detour: &Detour, map: &[Mark<bool>], data: &[u8], first: usize) -> bool {
    let mark = map.partition_point(|(_, offset, _)| *offset <= first as u64).checked_sub(1);
    let code = mark.and_then(|mark| data.get(map[mark].1 as usize..first));
    code.is_some_and(detour.is_whole)
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
