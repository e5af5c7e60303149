//! From the objects of a link to the table: all are read, in rounds, and their names put together.

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::trace;

use super::collect::{Collector, Link};
use super::dwarf::Malformed;
use super::names::{Bins, First, MOST_UNITS, Names};
use super::object::DebugSections;
use super::table::{Lists, Table};
use crate::ids::{ObjectId, SectionId};
use crate::input::object::Object;
use crate::live::Live;
use crate::sections::{SectionKind, Sections};
use crate::wording::place;

/// What the index is made from.
pub struct Planner<'p, 'a> {
    pub objects: &'p [Object<'a>],
    pub sections: &'p Sections<'a>,
    pub live: &'p Live,
    pub store: &'a InputStore<'a>,
    pub sink: &'p DiagSink,
    pub parallel: bool,
}

/// Objects that are read in one go.
const RUN: usize = 4;
/// Runs of a round: their records are there at the same time, and should be in the cache still when they are entered.
const ROUND: usize = 48;
/// A shard for about so many objects, but no more than [`MOST_SHARDS`].
const SHARD: usize = 16;
const MOST_SHARDS: usize = 256;

impl<'a> Planner<'_, 'a> {
    /// The index; `None` if there is nothing to list.
    pub fn plan(&self) -> Option<Table<'a>> {
        let count = self.objects.len();
        let shard_bits = (count / SHARD).clamp(1, MOST_SHARDS).ilog2();
        let mut names = Names::new(shard_bits);
        let mut lists = Lists::default();
        let mut idle: Vec<Bins> = Vec::new();
        for start in (0..count).step_by(RUN * ROUND) {
            let objects = start..count.min(start + RUN * ROUND);
            let runs = objects.len().div_ceil(RUN);
            idle.resize_with(runs.max(idle.len()), || Bins::new(shard_bits));
            let bins = idle.split_off(idle.len() - runs);
            let read = self.read(objects, bins);
            let mut entered = Vec::with_capacity(runs);
            for collector in read {
                let first =
                    First { unit: lists.units.len() as u32, type_unit: lists.type_units.len() as u32 };
                append(&mut lists, collector.lists, first);
                entered.push((first, collector.bins));
            }
            names.enter(&entered, self.parallel);
            idle.extend(entered.into_iter().map(|(_, mut bins)| {
                bins.clear();
                bins
            }));
        }
        let units = lists.units.len();
        if units == 0 && lists.type_units.is_empty() {
            return None;
        }
        if units + lists.type_units.len() > MOST_UNITS {
            self.sink
                .warn(format!("no .gdb_index: there are more than {MOST_UNITS} units of debug information"));
            return None;
        }
        let names = names.finish(units as u32, self.parallel);
        let table = Table::new(lists, names, self.parallel);
        if table.is_err() {
            self.sink.warn("no .gdb_index: it would be larger than 4 GiB".to_owned());
        }
        table.ok()
    }

    /// Reads a round of objects.
    fn read(&self, objects: std::ops::Range<usize>, bins: Vec<Bins<'a>>) -> Vec<Collector<'a>> {
        use rayon::prelude::*;
        let region = trace::region("read debug information");
        let one = |(i, bins): (usize, Bins<'a>)| {
            let _task = region.task();
            let start = objects.start + i * RUN;
            let mut collector = Collector::new(bins);
            for index in start..objects.end.min(start + RUN) {
                self.object(index, &mut collector);
            }
            collector
        };
        match self.parallel {
            true => bins.into_par_iter().enumerate().map(one).collect(),
            false => bins.into_iter().enumerate().map(one).collect(),
        }
    }

    fn object(&self, index: usize, collector: &mut Collector<'a>) {
        let object = &self.objects[index];
        let parts = (self.sections, self.live);
        let keep = |bytes| self.store.keep(bytes);
        let Some((source, wanted)) = DebugSections::of(object, index, parts, &keep) else { return };
        collector.object(&source, &wanted, &Place { planner: self, object });
        for malformed in &collector.problems {
            self.report(index, object, malformed);
        }
        if collector.has_hidden_names {
            let text = format!(
                "{}: .gdb_index has no names of its units: they are in .dwo files; compile with -ggnu-pubnames",
                object.name
            );
            self.sink.push(Diagnostic::warning(text).at((object.file.0 as u64) << 32));
        }
    }

    #[cold]
    fn report(&self, index: usize, object: &Object, malformed: &Malformed) {
        let (section, offset) = (malformed.place.section, malformed.place.offset);
        let text =
            format!("{}: {}; .gdb_index leaves it out", place::text(object, section, offset), malformed.what);
        let at = place::of(ObjectId(index as u32), section, offset);
        let order = (object.file.0 as u64) << 32 | u64::from(section);
        self.sink.push(Diagnostic::warning(text).at(order).place(at));
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

/// What an object's reader asks of the link.
struct Place<'p, 'l, 'a> {
    planner: &'p Planner<'l, 'a>,
    object: &'p Object<'a>,
}

impl<'a> Link<'a> for Place<'_, '_, 'a> {
    fn is_live(&self, section: u32) -> bool {
        if section as usize >= self.object.shdrs.len() {
            return false;
        }
        let id = SectionId(self.number(section));
        // What another section stands for is described by that one's unit.
        let input = self.planner.sections.get(id);
        input.in_image() && input.kind() != SectionKind::Folded && self.planner.live.contains(id)
    }

    fn number(&self, section: u32) -> u32 {
        self.object.section_base + section
    }

    fn keep(&self, bytes: Vec<u8>) -> &'a [u8] {
        self.planner.store.keep(bytes)
    }
}
