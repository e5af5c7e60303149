//! Debug sections without relocations, one of each kind: as they are in a linked file.

use super::dwarf::{KINDS, Kind, Pointer, Source};

/// Section number `kind as u32 + 1` has the bytes of that kind.
pub struct Plain<'a> {
    pub sections: [&'a [u8]; KINDS],
    pub is_big_endian: bool,
}

impl Plain<'_> {
    pub fn section(kind: Kind) -> u32 {
        kind as u32 + 1
    }
}

impl<'a> Source<'a> for Plain<'a> {
    fn bytes(&self, section: u32) -> &[u8] {
        let index = (section as usize).wrapping_sub(1);
        self.sections.get(index).copied().unwrap_or(&[])
    }

    fn lasting(&self, section: u32, range: std::ops::Range<usize>) -> Option<&'a [u8]> {
        self.sections.get((section as usize).wrapping_sub(1))?.get(range)
    }

    fn first(&self, kind: Kind) -> u32 {
        if self.sections[kind as usize].is_empty() { 0 } else { Plain::section(kind) }
    }

    fn is(&self, section: u32, kind: Kind) -> bool {
        section == Plain::section(kind)
    }

    fn relocated(&self, _: Pointer, _: &mut usize) -> Option<Pointer> {
        None
    }

    fn is_big_endian(&self) -> bool {
        self.is_big_endian
    }
}
