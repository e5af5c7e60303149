//! Symbols, names and frames of objects that have outgrown their room in tables of the whole image.

use std::collections::{BTreeSet, HashMap, HashSet};

use weld_common::io::units::{Leaves, UNIT_BYTES};

use super::super::{LastLink, Left, View};
use super::{Part, make_room, near, unit_around};
use crate::elf::{SHT_SYMTAB, Sym};
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::Why;
use crate::relink_state::excerpt::Common;
use crate::relink_state::extents::{Extent, OtherRuns, Run, TableRuns};
use crate::relink_state::rewrite_section::{Full, Of};
use crate::relink_state::rows::{InputRow, OutputRow, input_kind};
use crate::sections::rooms::FRAME_STEP;

/// So often it is looked for room for the same.
const AGAIN: usize = 4;

/// Where what inputs have in tables lies, if not where the tables say, and what has been found too small.
pub struct Runs<'l> {
    pub found: OtherRuns,
    last: &'l OtherRuns,
    /// What changed objects need, and how often that was found out.
    wanted: HashMap<(u32, Of), (u64, usize)>,
}

impl<'l> Runs<'l> {
    pub fn new(last: &LastLink<'l>) -> Self {
        let runs = &last.memo.runs;
        Runs { found: runs.clone(), last: runs, wanted: HashMap::new() }
    }

    /// Inputs of which something lies elsewhere than in the last link.
    pub fn moved(&self) -> BTreeSet<u32> {
        let is_new = |(row, runs): &(&u32, &TableRuns)| self.last.get(row) != Some(runs);
        self.found.iter().filter(is_new).map(|(row, _)| *row).collect()
    }

    /// Has what is too small have the room that it needs; whether that is possible.
    ///
    /// # Errors
    /// If the tables cannot be read.
    pub fn enlarge(
        &mut self,
        (left, common): (&View, &Common),
        changes: &Changes,
        leaves: &Leaves,
        full: &Full,
    ) -> Result<bool, Why> {
        let wanted = self.wanted.entry((full.input, full.of)).or_default();
        *wanted = (wanted.0.max(full.wants), wanted.1 + 1);
        if wanted.1 > AGAIN {
            return Ok(false);
        }
        let changed = changes.objects.iter().map(|object| object.row).collect();
        let Some(table) = Table::of(common, full.of) else { return Ok(false) };
        let mut search = Search { left, common, leaves, table, changed, runs: self };
        search.enlarge(full.input)
    }
}

/// The output section in which runs of a kind lie.
struct Table {
    of: Of,
    number: u32,
    out: OutputRow,
    /// Where the first item is, and how many bytes each has.
    start: u64,
    item: u64,
}

impl Table {
    fn of(common: &Common, of: Of) -> Option<Table> {
        let frames = common.frames().get();
        let is_it = |out: &OutputRow, name: &[u8]| match of {
            Of::Frames => out.address <= frames && frames - out.address < out.size,
            Of::SymbolNames => name == b".strtab",
            _ => out.kind == SHT_SYMTAB,
        };
        let mut all = (0..).zip(common.outputs().iter().zip(common.named_outputs()));
        let (number, (out, _)) = all.find(|(_, (out, (name, _)))| is_it(out, name))?;
        let (start, item) = match of {
            Of::Frames => (frames, 1),
            Of::SymbolNames => (out.address, 1),
            _ => (out.address, Sym::SIZE as u64),
        };
        Some(Table { of, number, out: *out, start, item })
    }

    fn run<'r>(&self, runs: &'r mut TableRuns) -> &'r mut Run {
        match self.of {
            Of::Frames => &mut runs.frames,
            Of::SymbolNames => &mut runs.strings,
            Of::Globals => &mut runs.globals,
            _ => &mut runs.locals,
        }
    }

    /// Where a run is, by addresses of the output section.
    fn extent(&self, run: Run) -> Extent {
        let address = self.start.saturating_add(u64::from(run.start) * self.item);
        Extent { address, size: u64::from(run.size) * self.item }
    }

    /// The run that lies there.
    fn run_of(&self, extent: &Extent) -> Option<Run> {
        let start = u32::try_from(extent.address.checked_sub(self.start)? / self.item).ok()?;
        Some(Run { start, size: u32::try_from(extent.size / self.item).ok()? })
    }

    /// By what runs move.
    fn step(&self) -> u64 {
        if self.of == Of::Frames { FRAME_STEP } else { self.item }
    }

    /// How many bytes of a run, as it was until now, are not room.
    fn used(&self, left: &View, was: Run) -> Option<u64> {
        let extent = self.extent(was);
        let offset = self.out.offset.checked_add(extent.address.checked_sub(self.out.address)?)?;
        let bytes = left.read(offset, usize::try_from(extent.size).ok()?)?;
        let is_used = |byte: &u8| *byte != 0;
        Some(match self.of {
            // A record may end with zeroes, and has some room of its own. If that is more, it is found when they are written.
            Of::Frames => match bytes.iter().rposition(is_used) {
                Some(last) => (last as u64 + 3 * self.step()).next_multiple_of(self.step()),
                None => extent.size,
            },
            // The last name ends with one.
            Of::SymbolNames => bytes.iter().rposition(is_used).map_or(0, |last| last as u64 + 2),
            // What is left over has no name.
            _ => {
                let has_name = |symbol: &[u8]| symbol[..4] != [0; 4];
                bytes.chunks_exact(Sym::SIZE).rposition(has_name).map_or(0, |last| last as u64 + 1)
                    * self.item
            }
        })
    }
}

struct Search<'s, 'v, 'l> {
    left: &'s View<'v>,
    common: &'s Common,
    leaves: &'s Leaves,
    table: Table,
    changed: HashSet<u32>,
    runs: &'s mut Runs<'l>,
}

impl Search<'_, '_, '_> {
    /// What an input has in tables.
    fn runs_of(&self, row: u32, input: &InputRow) -> TableRuns {
        self.runs.found.get(&row).copied().unwrap_or(input.table_runs())
    }

    /// What an input has in the table; `None` if it has nothing there, or what must not move.
    fn part(&self, row: u32, input: &InputRow) -> Option<Part> {
        if input.kind != input_kind::OBJECT {
            return None;
        }
        let run = *self.table.run(&mut self.runs_of(row, input));
        let extent = self.table.extent(run);
        let wanted = self.runs.wanted.get(&(row, self.table.of)).map(|(wanted, _)| wanted * self.table.item);
        let is_changed = self.changed.contains(&row);
        let bytes = match wanted {
            Some(wanted) => wanted,
            // Nobody knows yet how much it needs.
            None if is_changed => extent.size,
            None => {
                let mut was = self.runs.last.get(&row).copied().unwrap_or(input.table_runs());
                self.table.used(self.left, *self.table.run(&mut was))?
            }
        };
        Some(Part { input: row, row, output: self.table.number, extent, bytes, step: self.table.step() })
    }

    fn enlarge(&mut self, row: u32) -> Result<bool, Why> {
        let input: InputRow = self.left.tables.row(row.into())?;
        let Some(part) = self.part(row, &input) else { return Ok(false) };
        let Some(unit) = unit_around(self.leaves, &self.table.out, &part.extent) else { return Ok(false) };
        let Some(window) = make_room(part, |from, window| self.next(from, window, &unit))? else {
            return Ok(false);
        };
        let mut next = self.runs.found.clone();
        for part in &window {
            let input: InputRow = self.left.tables.row(part.input.into())?;
            let mut runs = self.runs_of(part.input, &input);
            let Some(run) = self.table.run_of(&part.extent) else { return Ok(false) };
            if *self.table.run(&mut runs) != run {
                *self.table.run(&mut runs) = run;
                next.insert(part.input, runs);
            }
        }
        // A full link cuts symbols and their names by how large both are.
        for part in window.iter().skip(1).filter(|_| self.table.of != Of::Frames) {
            let input: InputRow = self.left.tables.row(part.input.into())?;
            if self.is_cut(&next.get(&part.input).copied().unwrap_or(input.table_runs())) {
                return Ok(false);
            }
        }
        self.runs.found = next;
        Ok(true)
    }

    /// Whether a full link would begin another part of the file with an input's symbols and names
    /// ([`crate::synth::symtab::SymTab::runs`]).
    fn is_cut(&self, runs: &TableRuns) -> bool {
        let mut runs = *runs;
        let before = [Of::Locals, Of::Globals, Of::SymbolNames].map(|of| {
            let table = Table::of(self.common, of)?;
            let extent = table.extent(*table.run(&mut runs));
            let unit = unit_around(self.leaves, &table.out, &extent)?;
            extent.address.checked_sub(unit.address)
        });
        let before: Option<u64> = before.into_iter().sum();
        before.is_none_or(|bytes| bytes >= UNIT_BYTES)
    }

    /// What lies behind, or in front of, the parts of a window, in an input that is behind `from`, or in front of it; `None` if
    /// it may not move.
    fn next(
        &self,
        (from, is_behind): (u32, bool),
        window: &[Part],
        unit: &Extent,
    ) -> Result<Option<Part>, Why> {
        let count = self.left.tables.count::<InputRow>() as u32;
        for row in near((from, is_behind), count) {
            let input: InputRow = self.left.tables.row(row.into())?;
            let run = *self.table.run(&mut self.runs_of(row, &input));
            if run.size == 0 {
                continue;
            }
            let is_in = |part: &Part| {
                let end = unit.address.saturating_add(unit.size);
                unit.address <= part.extent.address && part.end() <= end
            };
            let part = self.part(row, &input).filter(is_in);
            return Ok(part.filter(|part| part.is_beside(window, is_behind)));
        }
        Ok(None)
    }
}
