//! Room behind sections for what they may grow by, so that a later link need not move what is behind them
//! (`/incremental`).
//!
//! How much there is depends on nothing but a section's size, by steps: sections whose sizes are in one step have the
//! same room, so it does not matter what a program was before. Steps are an eighth of the size to a quarter. Only
//! objects that are files of their own have room, for members of libraries are not relinked; and only where bytes
//! between sections are harmless, which they are not in tables that others walk through.

use crate::coff::pe;
use crate::options::{Incremental, Options};
use crate::resolve::Resolved;
use crate::sections::{Kind, Section, Sections};

/// Bytes of the smallest steps, in COMDAT sections, which are many and small, and in others: of code, of tables for
/// unwinding, of the table of functions (a multiple of its entries' sizes), and of data.
const CODE: [u32; 2] = [128, 1024];
const UNWIND: [u32; 2] = [16, 64];
const FUNCTIONS: [u32; 2] = [24, 168];
/// The contents of data in COMDAT sections are what their names say.
const DATA: [u32; 2] = [0, 256];
/// Base relocations: bytes of the smallest step.
const RELOCS: u32 = 256;

const TABLES: [(&[u8], [u32; 2]); 2] = [(b".xdata", UNWIND), (b".pdata", FUNCTIONS)];
const PLAIN: [&[u8]; 3] = [b".rdata", b".data", b".bss"];

pub struct Rooms {
    /// Whether each object is a file of its own.
    is_file: Vec<bool>,
    /// The smallest step of each part, in COMDAT sections and in others; 0 if they have no room.
    steps: Vec<[u32; 2]>,
}

/// The smallest steps of a part, in COMDAT sections and in others; 0 if they have no room.
pub fn steps_of(name: &[u8], flags: u32) -> [u32; 2] {
    let starts = |start: &[u8]| name.strip_prefix(start).is_some_and(|b| matches!(b, [] | [b'$', ..]));
    if flags & pe::IMAGE_SCN_CNT_CODE.0 != 0 {
        return CODE;
    }
    match TABLES.iter().find(|(start, _)| starts(start)) {
        Some((_, steps)) => *steps,
        None if PLAIN.contains(&name) => DATA,
        None => [0; 2],
    }
}

/// Whether programs may walk the sections of a part one after the other, as they do with tables of functions to be called
/// when they start (`.CRT$XCU`): then there must be nothing between them, and they must lie in the order of objects.
pub fn is_walked(name: &[u8], flags: u32) -> bool {
    let is_code = flags & pe::IMAGE_SCN_CNT_CODE.0 != 0;
    let is_plain_code = name.strip_prefix(b".text").is_some_and(|rest| matches!(rest, [] | [b'$', ..]));
    steps_of(name, flags) == [0; 2] || is_code && !is_plain_code
}

impl Rooms {
    /// `None` if nobody asks for any.
    pub fn find(options: &Options, resolved: &Resolved, sections: &Sections) -> Option<Rooms> {
        if options.incremental == Incremental::Off || options.mingw.on {
            return None;
        }
        let is_file = resolved.objects.iter().map(|object| object.name.member.is_none()).collect();
        let steps = sections.parts.iter().map(|part| steps_of(&part.name, part.flags));
        Some(Rooms { is_file, steps: steps.collect() })
    }

    /// Bytes of a section with its room.
    pub fn size(&self, section: &Section) -> u64 {
        u64::from(section.size).max(self.room(section).into())
    }

    /// The same as a number that fits; the section's own size if there is none.
    pub fn room(&self, section: &Section) -> u32 {
        up(section.size, self.step(section))
    }

    /// Logarithm of a section's alignment.
    pub fn align(&self, section: &Section) -> u8 {
        section.align.max(least_align(self.step(section)))
    }

    /// Whether it is of an object and a part that may have more in a later link.
    pub fn is_likely(&self, section: &Section) -> bool {
        let may_grow = section.kind == Kind::Regular && self.is_file[section.object.index()];
        may_grow && self.steps.get(section.part as usize).is_some_and(|steps| *steps != [0; 2])
    }

    /// The smallest step of a section, [`up`] to which it has room; 0 if it has none.
    pub fn step(&self, section: &Section) -> u32 {
        let may_grow = section.kind == Kind::Regular && self.is_file[section.object.index()];
        match self.steps.get(section.part as usize) {
            Some(steps) if may_grow => steps[usize::from(!section.comdat)],
            _ => 0,
        }
    }
}

/// Logarithm of the alignment that sections with such steps have at least, so that it does not matter if they come to
/// want less or more: that of vectors. The table of functions has its own.
pub fn least_align(step: u32) -> u8 {
    if step > 0 && step.is_multiple_of(16) { 4 } else { 0 }
}

/// A size up to its step, of which the smallest is given.
pub fn up(size: u32, smallest: u32) -> u32 {
    if smallest == 0 {
        return size;
    }
    let step = (size.checked_next_power_of_two().unwrap_or(size) / 4 / smallest * smallest).max(smallest);
    size.checked_next_multiple_of(step).unwrap_or(size)
}

/// Bytes of base relocations with their room.
pub fn of_relocs(size: usize) -> usize {
    up(size as u32, RELOCS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_with_sizes() {
        let all = [0, 1, 64, 65, 256, 257, 300, 1000, 1025, 100_000].map(|size| up(size, 64));
        assert_eq!(all, [0, 64, 64, 128, 256, 384, 384, 1024, 1536, 131_072]);
        assert_eq!([up(7, 0), up(u32::MAX, 64), up(13, 48)], [7, u32::MAX, 48]);
        assert!((1..50_000).all(|size| up(size, 48).is_multiple_of(48) && up(size, 48) >= size));
    }
}
