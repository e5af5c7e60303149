//! Where what objects have lies elsewhere than the tables say, or has more room or less (`relink/patch/neighbours.rs`): sections
//! of debug information, and runs in the tables of the whole image; and the parts of the file that hashes are made of, which
//! end where what lies there does.

use std::collections::BTreeMap;
use std::ops::Range;

use weld_common::io::units::{Leaf, Leaves, UNIT_BYTES};

use super::rows::{InputRow, SectionRow};

/// An address, and how many bytes there are with the room behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub address: u64,
    pub size: u64,
}

/// By the rows of sections.
pub type Extents = BTreeMap<u32, Extent>;

/// Has sections lie where they are, the first of which has row `first`.
pub fn put_in(extents: &Extents, first: u32, sections: &mut [SectionRow]) {
    let end = first.saturating_add(sections.len() as u32);
    for (row, extent) in extents.range(first..end) {
        let section = &mut sections[(row - first) as usize];
        (section.address, section.size) = (extent.address, extent.size);
    }
}

/// A part of a table: the number of its first item, and how many there are with the room behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub start: u32,
    pub size: u32,
}

/// What an input has in tables of the whole image, as in [`InputRow`]: bytes of frames and names, and symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableRuns {
    pub frames: Run,
    pub locals: Run,
    pub globals: Run,
    pub strings: Run,
}

/// By the rows of inputs.
pub type OtherRuns = BTreeMap<u32, TableRuns>;

impl InputRow {
    pub fn table_runs(&self) -> TableRuns {
        TableRuns {
            frames: Run { start: self.frames, size: self.frames_size },
            locals: Run { start: self.locals, size: self.locals_room },
            globals: Run { start: self.globals, size: self.globals_room },
            strings: Run { start: self.strings, size: self.strings_room },
        }
    }

    pub fn set_table_runs(&mut self, runs: &TableRuns) {
        (self.frames, self.frames_size) = (runs.frames.start, runs.frames.size);
        (self.locals, self.locals_room) = (runs.locals.start, runs.locals.size);
        (self.globals, self.globals_room) = (runs.globals.start, runs.globals.size);
        (self.strings, self.strings_room) = (runs.strings.start, runs.strings.size);
    }
}

/// The parts of a file that hashes are made of, in order, of which some may end, and the next ones start, elsewhere than they
/// did.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    before: Vec<u64>,
    units: Vec<Range<u64>>,
}

/// No part may become larger.
const LARGEST: u64 = 16 * UNIT_BYTES;

impl Cuts {
    pub fn of(leaves: &Leaves) -> Cuts {
        let range = |leaf: &Leaf| leaf.offset..leaf.offset.saturating_add(leaf.size);
        let mut units: Vec<Range<u64>> = leaves.iter().flatten().map(range).collect();
        units.sort_unstable_by_key(|range| range.start);
        Cuts { before: units.iter().map(|unit| unit.start).collect(), units }
    }

    /// Those that start in a range: their numbers.
    pub fn that_start_in(&self, range: &Range<u64>) -> Range<usize> {
        let first = |offset: u64| self.units.partition_point(|unit| unit.start < offset);
        first(range.start)..first(range.end)
    }

    /// Whether one of them ends where that one starts: at `offset`.
    pub fn is_border(&self, number: usize, offset: u64) -> bool {
        let before = number.checked_sub(1).and_then(|before| self.units.get(before));
        before
            .zip(self.units.get(number))
            .is_some_and(|(before, unit)| (before.end, unit.start) == (offset, offset))
    }

    /// Has some of them, which start where others end, start elsewhere, and these end there; whether that is possible.
    pub fn set_starts(&mut self, moved: &[(usize, u64)]) -> bool {
        let mut units = self.units.clone();
        for (number, start) in moved {
            (units[number - 1].end, units[*number].start) = (*start, *start);
        }
        let is_right = |unit: &Range<u64>| unit.start < unit.end && unit.end - unit.start <= LARGEST;
        let is_possible =
            moved.iter().all(|(number, _)| is_right(&units[number - 1]) && is_right(&units[*number]));
        if is_possible {
            self.units = units;
        }
        is_possible
    }

    /// Where those started that start elsewhere, and where they do.
    pub fn moved(&self) -> Vec<(u64, u64)> {
        let starts = self.before.iter().copied().zip(self.units.iter().map(|unit| unit.start));
        starts.filter(|(before, now)| before != now).collect()
    }
}
