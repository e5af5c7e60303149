//! Load addresses of output sections, the addresses that they have in the file that is burnt or loaded.
//!
//! The first of these that there is decides:
//! * `AT(…)`;
//! * `AT>REGION`: where that region goes on. Another section in the same memory without an address keeps it.
//!   `ALIGN` holds for the load address, too; what the contents want does where the section runs in that
//!   region. `ALIGN_WITH_INPUT` skips as much as was skipped in front of the address;
//! * the section before it in the same memory whose load address is in no region: as far from the address as
//!   there, and aligned like the address. A section that has moved down in front of that one is loaded where
//!   it runs;
//! * its address.
//!
//! The sections of an `OVERLAY` are loaded one after the other. Sizes count, so all this is found out where a
//! section ends.
//!
//! Source: GNU ld manual, "Output Section LMA", "Overlay Description".

use super::evaluate::Pass;
use super::*;
use crate::address::Address;
use crate::layout::segments::is_tls_zeroes;
use weld_common::runs::align_to;

/// How a section came to its address, as far as that matters to its load address.
#[derive(Clone, Copy, Default)]
pub(super) struct Start {
    /// The script or an option says where it begins.
    pub given: bool,
    pub address: u64,
    /// How much was skipped to align it, and to what.
    pub skipped: u64,
    pub align: u64,
    /// What `ALIGN` asks for.
    pub asked_align: u64,
    /// What `AT` says.
    pub load: Option<u64>,
    /// Where what takes no room leaves the location counter.
    pub resume: u64,
}

/// A section that those after it follow.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    address: u64,
    load_address: u64,
}

impl Pass<'_, '_, '_> {
    /// Where a section is loaded that begins like this.
    pub(super) fn load_address(&self, number: usize, start: Start, size: u64) -> u64 {
        let block = &self.script.blocks[number];
        if let Some(next) = self.overlay.as_ref().and_then(|overlay| overlay.load) {
            return next;
        }
        if let Some(asked) = start.load {
            return asked;
        }
        let Some(region) = block.load_region else {
            return follow(self.loaded[self.memory_of(block)], start, size);
        };
        let at = self.script.regions[region].at;
        match (block.align_with_input, block.region == Some(region)) {
            (true, _) => at.wrapping_add(start.skipped),
            (false, true) => align_to(at, start.align),
            (false, false) => align_to(at, start.asked_align),
        }
    }

    /// Which of `loaded` those in the memory of a block follow.
    fn memory_of(&self, block: &Block) -> usize {
        block.region.unwrap_or(self.script.regions.len())
    }

    /// Gives the section that ends its load address.
    pub(super) fn load(&mut self, number: usize, out: OutputSectionId, start: Start) {
        let size = self.layout[out].size;
        let address = self.load_address(number, start, size);
        let block = &self.script.blocks[number];
        let memory = self.memory_of(block);
        let in_overlay = self.overlay.as_ref().map(|overlay| overlay.load);
        let before = self.loaded[memory];
        self.layout[out].load_address = Address::new(address);
        if let Some(overlay) = &mut self.overlay {
            overlay.load = Some(address.wrapping_add(size));
        }
        let counts = match before {
            _ if is_tls_zeroes(&self.layout[out]) => false,
            _ if size != 0 || in_overlay.is_some_and(|next| next.is_none()) => true,
            None => address != start.address,
            Some(before) => start.address >= before.address,
        };
        let region = block.load_region.filter(|load| block.overlay.is_none() || Some(*load) != block.region);
        if counts && region.is_none() {
            self.loaded[memory] = Some(Loaded { address: start.address, load_address: address });
        }
        let Some(region) = region.filter(|load| Some(*load) != block.region) else { return };
        let section = &self.layout[out];
        if !section.is_nobits() || block.align_with_input {
            let size = if is_tls_zeroes(section) { 0 } else { size };
            self.script.regions[region].go_on_at(address.wrapping_add(size));
        }
    }
}

/// The load address of a section after another one in the same memory.
fn follow(before: Option<Loaded>, start: Start, size: u64) -> u64 {
    let Some(before) = before else { return start.address };
    if size != 0 && start.address < before.address && start.address.saturating_add(size) <= before.address {
        return start.address;
    }
    let distance = before.load_address.wrapping_sub(before.address);
    align_to(start.address.wrapping_add(distance), start.align)
}

impl RegionState {
    /// The next section in it begins after this.
    pub(super) fn go_on_at(&mut self, at: u64) {
        self.at = at;
        self.end = self.end.max(at);
    }
}
