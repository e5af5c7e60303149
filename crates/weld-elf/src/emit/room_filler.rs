//! What lies behind the bytes of a section that has room to grow ([`crate::sections::rooms`]).
//!
//! Behind the last of several units of debug information is more of it: its length says so, and what it holds
//! means nothing to readers: an entry that ends a list that has ended, an operation that makes no row.
//!
//! Specification: DWARF 5, section 7.4 (lengths of units).

use crate::compressed::Compressed;
use crate::elf::*;
use crate::input::object::Object;
use crate::sections::rooms::{Filler, filler};
use crate::sections::{InputSection, SectionKind};
use crate::synth::image::Image;

/// Lengths from here on are reserved, but for the one that says that 64 bits follow.
const RESERVED: u32 = 0xffff_fff0;
const WIDE: u32 = 0xffff_ffff;

/// A section with room.
pub(super) struct Room {
    filler: Filler,
    format: Format,
    /// What the machine has between functions.
    code: u8,
    /// How many bytes the section has without it.
    pub size: usize,
}

impl Room {
    /// That of the section with header index `shndx`, which has `whole` bytes with it; `None` if there is
    /// none.
    #[inline(never)]
    pub fn of(
        image: &Image,
        object: &Object,
        shndx: u32,
        section: &InputSection,
        whole: usize,
    ) -> Option<Room> {
        let data = object.section_data(shndx as usize)?;
        let size = match section.kind() {
            SectionKind::Regular => data.len(),
            SectionKind::Compressed => {
                let packed = Compressed::parse(data, object.format()).ok()?;
                usize::try_from(packed.uncompressed_size()).ok()?
            }
            _ => return None,
        };
        if size >= whole {
            return None;
        }
        let name = object.section_name(shndx as usize)?;
        let filler = filler(&object.shdrs[shndx as usize], name)?;
        Some(Room { filler, format: object.format(), code: image.mode.facts().filler, size })
    }

    /// Fills it. `out` are the section's bytes, which are written, and the room behind them.
    pub fn fill(&self, out: &mut [u8]) {
        let (bytes, room) = out.split_at_mut(self.size);
        room.fill(match self.filler {
            Filler::Code => self.code,
            Filler::Zeroes | Filler::Constants => 0,
            Filler::Units(byte) if lengthen(self.format, bytes, room.len() as u64) => byte,
            // What is no list of units may be read by its own rules.
            Filler::Units(_) => 0,
        });
    }
}

/// Makes the last of the units in `bytes` longer by `more`. Whether there is such a unit.
fn lengthen(format: Format, bytes: &mut [u8], more: u64) -> bool {
    let mut unit = 0;
    while let Some((field, length)) = length(format, &bytes[unit..]) {
        let field = unit + field.start..unit + field.end;
        let end = (field.end as u64).checked_add(length).filter(|end| *end <= bytes.len() as u64);
        let Some(end) = end else { return false };
        if end < bytes.len() as u64 {
            unit = end as usize;
            continue;
        }
        let longer = length.saturating_add(more);
        let fits = field.len() == 8 || longer < RESERVED.into();
        if fits {
            format.put(&mut bytes[field], longer);
        }
        return fits;
    }
    false
}

/// Where the length of the unit is that `bytes` begin with, and what it is.
fn length(format: Format, bytes: &[u8]) -> Option<(std::ops::Range<usize>, u64)> {
    match format.get_u32(bytes.get(..4)?) {
        WIDE => Some((4..12, format.get(bytes.get(4..12)?))),
        RESERVED.. => None,
        length => Some((0..4, length.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(filler: Filler, bytes: &[u8], room: usize) -> Vec<u8> {
        let mut out = [bytes, &vec![0xaa; room]].concat();
        Room { filler, format: Format::NATIVE, code: 0xcc, size: bytes.len() }.fill(&mut out);
        out
    }

    #[test]
    fn the_last_unit_has_the_room() {
        let units = [2, 0, 0, 0, 1, 1, 1, 0, 0, 0, 9];
        let is = filled(Filler::Units(7), &units, 3);
        assert_eq!(is, [2, 0, 0, 0, 1, 1, 4, 0, 0, 0, 9, 7, 7, 7]);
        let wide = [0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 9];
        assert_eq!(filled(Filler::Units(7), &wide, 2)[4..], [3, 0, 0, 0, 0, 0, 0, 0, 9, 7, 7]);
        assert_eq!(filled(Filler::Code, &units, 2)[11..], [0xcc; 2]);
        assert_eq!(filled(Filler::Zeroes, &units, 2)[..], [&units[..], &[0, 0]].concat());
    }

    #[test]
    fn what_is_no_list_of_units_is_left_alone() {
        for bad in [&[3, 0, 0, 0, 1][..], &[1, 0, 0], &[1, 0, 0, 0, 1, 1], &[0xf0, 0xff, 0xff, 0xff], &[]] {
            assert_eq!(filled(Filler::Units(7), bad, 2), [bad, &[0, 0]].concat());
        }
        let endless = [0xff; 12];
        assert_eq!(filled(Filler::Units(7), &endless, 1), [&endless[..], &[0]].concat());
    }
}
