//! From the objects of a link to the table: all are read, in runs, and their names put together.

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::items;

use super::collect::{Collected, Collector};
use super::names::{self, First, MOST_UNITS, Run};
use super::table::{Lists, Table};
use crate::synth::debug_info::object::{DebugSections, InLink, Objects};

/// What the index is made from.
pub struct Planner<'p, 'a> {
    pub objects: Objects<'p, 'a>,
    pub store: &'a InputStore<'a>,
    pub sink: &'p DiagSink,
    pub threads: usize,
}

/// A shard for about so many objects, but no more than [`MOST_SHARDS`].
const SHARD: usize = 16;
const MOST_SHARDS: usize = 256;
/// Objects of a run: as many as windows have units, if each has one. The more a window has, the more names
/// are met again there; but there should be work for many threads. The threads have no say: where the section
/// may be cut depends on it, and so does the build id.
const RUN: std::ops::RangeInclusive<usize> = 4..=64;
const RUNS: usize = 80;

impl<'a> Planner<'_, 'a> {
    /// The index; `None` if there is nothing to list.
    pub fn plan(&self) -> Option<Table<'a>> {
        let count = self.objects.list.len();
        let shard_bits = (count / SHARD).clamp(1, MOST_SHARDS).ilog2();
        let mut lists = Lists::default();
        let mut runs = Vec::new();
        for Collected { lists: more, windows } in self.read(shard_bits) {
            let first = First { unit: lists.units.len() as u32, type_unit: lists.type_units.len() as u32 };
            append(&mut lists, more, first);
            runs.push(Run { first, windows });
        }
        let units = lists.units.len();
        if units == 0 && lists.type_units.is_empty() {
            return None;
        }
        if units + lists.type_units.len() > MOST_UNITS {
            self.sink.warn(
                Cause::DebugInfo,
                format!("no .gdb_index: there are more than {MOST_UNITS} units of debug information"),
            );
            return None;
        }
        // Type units are numbered after all others.
        runs.iter_mut().for_each(|run| run.first.type_unit += units as u32);
        let names = names::put_together(runs, shard_bits, self.threads);
        let table = Table::new(lists, names, self.threads > 1);
        if table.is_err() {
            self.sink.warn(Cause::DebugInfo, "no .gdb_index: it would be larger than 4 GiB".to_owned());
        }
        table.ok()
    }

    /// Reads all objects, in runs.
    fn read(&self, shard_bits: u32) -> Vec<Collected<'a>> {
        let count = self.objects.list.len();
        let size = (count / RUNS).clamp(*RUN.start(), *RUN.end());
        let starts = (0..count).step_by(size).collect();
        items::run("read debug information", self.threads, starts, |collector: &mut Collector, start| {
            collector.begin(shard_bits);
            for index in start..count.min(start + size) {
                self.object(index, collector);
            }
            collector.finish()
        })
    }

    fn object(&self, index: usize, collector: &mut Collector<'a>) {
        let keep = |bytes| self.store.keep(bytes);
        let Some((source, wanted)) = DebugSections::of(self.objects, index, &keep) else { return };
        let link = InLink { objects: self.objects, index };
        let object = link.object();
        collector.object(&source, &wanted, &link);
        for malformed in &collector.problems {
            let text = format!("{}; .gdb_index leaves it out", malformed.what);
            self.sink.push(
                link.problem(malformed, &text, |text| Diagnostic::warning(Cause::MalformedDebugInfo, text)),
            );
        }
        if collector.has_hidden_names {
            let text =
                ".gdb_index has no names of its units: they are in .dwo files; compile with -ggnu-pubnames";
            self.sink.push(object.whole().warning(Cause::DebugInfo, text));
        }
    }
}

/// Adds the lists of a run of objects.
fn append(lists: &mut Lists, mut more: Lists, first: First) {
    more.ranges.iter_mut().for_each(|range| range.unit += first.unit);
    lists.units.append(&mut more.units);
    lists.type_units.append(&mut more.type_units);
    lists.ranges.append(&mut more.ranges);
    lists.has_new_type_units |= more.has_new_type_units;
}
