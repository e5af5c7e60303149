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
        // What has no room itself may have a yard, or that of sections that are gone.
        let filler = filler(&object.shdrs[shndx as usize], name).unwrap_or(Filler::Zeroes);
        Some(Room { filler, format: object.format(), code: image.mode.facts().filler, size })
    }

    /// Fills it. `out` are the section's bytes, which are written, and the room behind them.
    pub fn fill(&self, out: &mut [u8]) {
        if self.filler == Filler::Pairs && add_pairs(self.format, self.size, out) {
            return;
        }
        let (bytes, room) = out.split_at_mut(self.size);
        room.fill(match self.filler {
            Filler::Code => self.code,
            Filler::Zeroes | Filler::Constants | Filler::Variables => 0,
            Filler::Units(byte) if lengthen(self.format, bytes, room.len() as u64) => byte,
            // What is no list of units may be read by its own rules.
            Filler::Units(_) | Filler::Pairs => 0,
        });
    }
}

/// Has the last of the tables of addresses that are in the first `size` bytes have pairs to the end of `out`: of
/// one byte at address 0, where functions are said to be that a link has left out. A pair of zeroes ends it.
/// Whether there is such a table.
fn add_pairs(format: Format, size: usize, out: &mut [u8]) -> bool {
    let mut unit = 0;
    let last = loop {
        let Some((field, length)) = length(format, &out[unit..size]) else { return false };
        let start = unit + field.end;
        match usize::try_from(length).ok().and_then(|length| start.checked_add(length)) {
            Some(end) if end < size => unit = end,
            Some(end) if end == size => break (unit + field.start, start),
            _ => return false,
        }
    };
    let (field, start) = last;
    let width = (start - field) as u64;
    // After the version and the place of the unit: bytes of an address, and of a segment's number.
    let at = start + 2 + width as usize;
    let Some(&[address, 0]) = out[..size].get(at..at + 2) else { return false };
    let pair = 2 * usize::from(address);
    let longer = (out.len() - start) as u64;
    let is_known = matches!(address, 4 | 8) && (out.len() - size).is_multiple_of(pair);
    if !is_known || width == 4 && longer >= RESERVED.into() || size < at + 2 + pair {
        return false;
    }
    if out[size - pair..size].iter().any(|byte| *byte != 0) {
        return false;
    }
    let end = out.len() - pair;
    out[size - pair..].fill(0);
    for more in out[size - pair..end].chunks_exact_mut(pair) {
        format.put(&mut more[pair / 2..], 1);
    }
    format.put(&mut out[field..start], longer);
    true
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
    fn a_table_of_addresses_ends_where_its_room_does() {
        let word = |value: u64| value.to_le_bytes();
        let table = |pairs: &[[u64; 2]]| {
            let pairs: Vec<u8> = pairs.iter().flatten().flat_map(|value| word(*value)).collect();
            let head = [2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0];
            let length = (head.len() + pairs.len()) as u32;
            [&length.to_le_bytes()[..], &head, &pairs].concat()
        };
        let first = table(&[[0x3000, 5], [0, 0]]);
        let last = [&first[..], &table(&[[0x1000, 16], [0, 0]])].concat();
        let is = filled(Filler::Pairs, &last, 32);
        let longer = table(&[[0x1000, 16], [0, 1], [0, 1], [0, 0]]);
        assert_eq!(is, [&first[..], &longer].concat());
        // Another size, no end, segments, no table.
        assert_eq!(filled(Filler::Pairs, &last, 8), [&last[..], &[0; 8]].concat());
        let endless = table(&[[0x1000, 16]]);
        assert_eq!(filled(Filler::Pairs, &endless, 16), [&endless[..], &[0; 16]].concat());
        let mut segments = first.clone();
        segments[11] = 4;
        assert_eq!(filled(Filler::Pairs, &segments, 16), [&segments[..], &[0; 16]].concat());
        for bad in [&[1, 0, 0, 0][..], &[0; 4], &[2, 0, 0, 0, 2, 0], &[0xff; 12], &[]] {
            assert_eq!(filled(Filler::Pairs, bad, 16), [bad, &[0; 16]].concat());
        }
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
