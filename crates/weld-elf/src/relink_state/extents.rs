//! Where what objects have lies elsewhere than the tables say, or has more room or less (`relink/patch/neighbours.rs`): sections
//! of debug information, and runs in the tables of the whole image.

use std::collections::BTreeMap;

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

impl Run {
    pub fn end(self) -> u32 {
        self.start.saturating_add(self.size)
    }
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
