//! Where pools of thunks may lie in an output section: after input sections.

use weld_common::thunks::intervals;

use super::branches::Addresses;
use crate::address::Address;
use crate::ids::*;

/// The members of an output section.
pub struct Members<'r, 'w, 'a> {
    pub addresses: Addresses<'r, 'w, 'a>,
    pub out: OutputSectionId,
    pub reach: u64,
}

impl Members<'_, '_, '_> {
    fn section(&self, member: usize) -> Option<SectionId> {
        self.addresses.layout[self.out].members.get(member)?.as_section()
    }

    /// `.init` and `.fini` are functions in pieces, also if their parts have numbers.
    fn is_piece(&self, id: SectionId) -> bool {
        let object = self.addresses.world.object_of(id);
        let name = object.section_name((id.0 - object.section_base) as usize).unwrap_or_default();
        let part = name.strip_prefix(b".init").or_else(|| name.strip_prefix(b".fini"));
        part.is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    }
}

impl intervals::Members for Members<'_, '_, '_> {
    type Section = SectionId;

    fn reach(&self) -> u64 {
        self.reach
    }

    fn count(&self) -> usize {
        self.addresses.layout[self.out].members.len()
    }

    fn extent(&self, member: usize) -> (u64, u64) {
        let Addresses { layout, sections, .. } = self.addresses;
        let out = &layout[self.out];
        let (offset, size) = match (out.members[member].as_section(), out.members[member].as_chunk()) {
            (Some(id), _) => (sections.get(id).offset(), sections.get(id).size),
            (None, Some(id)) => (layout.chunks[id.index()].offset(), layout.chunks[id.index()].size),
            (None, None) => (0, 0),
        };
        let start = out.address.wrapping_add(offset);
        (start.get(), start.get().saturating_add(size))
    }

    /// After an input section, and not between pieces of one function.
    fn may_open(&self, before: usize) -> bool {
        let Some(last) = self.section(before - 1) else { return false };
        !(self.is_piece(last) && self.section(before).is_some_and(|id| self.is_piece(id)))
    }

    fn find(&self, section: SectionId) -> usize {
        let start = self.addresses.of_section(section).map_or(0, Address::get);
        let first = self.first(|i| self.extent(i).0 >= start);
        (first..self.count()).find(|&i| self.section(i) == Some(section)).unwrap_or(first)
    }
}
