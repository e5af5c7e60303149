//! `--zero-to-bss`: data that is nothing but zeroes, as compilers make it of uninitialised variables in
//! sections that have been named, takes no room in the file.
//!
//! That is asked when an object's relocations are tied to what they relocate: what has some will not stay
//! zero. Sections of well-known names go where such without contents go (`.data` to `.bss`); others keep
//! their output section, which has no contents if nothing in it has any. A linker script has the last word on
//! where things lie.

use super::SectionKind;
use super::parse::Parser;
use super::uses::{JoinedKind, OutputUse, Uses};
use crate::elf::*;
use crate::ids::PlacementId;
use crate::sections::bins::BINS;

/// Where data goes, and where the same without contents does.
const PAIRS: &[(&[u8], &[u8])] = &[
    (b".data", b".bss"),
    (b".data.rel.ro", b".bss.rel.ro"),
    (b".tdata", b".tbss"),
    (b".ldata", b".lbss"),
    (b".sdata", b".sbss"),
];

impl Parser<'_, '_> {
    /// Turns sections of an object into such without contents, and says anew what output sections it has
    /// sections for.
    pub(super) fn turn_zeroes(&mut self) {
        let fixed = self.script.map_or(0, |(rules, _)| rules.bins.len());
        let mut uses = Uses::new(fixed);
        for shndx in 1..self.slots.len() {
            if !self.slots[shndx].in_image() {
                continue;
            }
            let zero = self.is_zero(shndx);
            let slot = &mut self.slots[shndx];
            if zero {
                slot.set_kind(SectionKind::NoBits);
                if self.script.is_none() {
                    slot.set_bin(without_contents(slot.bin()));
                }
            }
            let mut used = OutputUse::new(slot.bin(), self.object.machine, &self.object.shdrs[shndx]);
            if zero {
                used.kind = JoinedKind::new(SHT_NOBITS);
            }
            uses.add(&used);
        }
        self.found.uses = uses;
    }

    fn is_zero(&self, shndx: usize) -> bool {
        let (shdr, slot) = (&self.object.shdrs[shndx], &self.slots[shndx]);
        const FLAGS: u64 = SHF_ALLOC | SHF_WRITE;
        shdr.sh_type() == SHT_PROGBITS
            && shdr.sh_flags() & (FLAGS | SHF_EXECINSTR) == FLAGS
            && slot.kind() == SectionKind::Regular
            && slot.size > 0
            && (slot.relocs == 0 || self.relocs_of(shndx).is_empty())
            && self.object.section_data(shndx).is_some_and(|data| data.iter().all(|byte| *byte == 0))
    }
}

/// The bin for the same without contents.
fn without_contents(bin: PlacementId) -> PlacementId {
    let number = |name: &[u8]| BINS.iter().position(|known| *known == name);
    let name = BINS.get(bin.index());
    let pair = PAIRS.iter().find(|(data, _)| Some(data) == name);
    pair.and_then(|(_, zeroes)| number(zeroes)).map_or(bin, |number| PlacementId(number as u32))
}
