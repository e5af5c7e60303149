//! `--bp-startup-sort`, `--bp-compression-sort`: sections in an order found by balanced partitioning
//! ([`super::bisection`]).
//!
//! What functions have in common is, for a start with few page faults, that they are called early: of each
//! trace of a profile the first function, the first two, four, eight … are sets, and the traits of a function
//! are the sets that it is in. For a file that is packed well it is bytes: windows of eight bytes, of which
//! some are taken by their hash, and what relocations lead to. Functions of the start come first, then other
//! functions, then data.
//!
//! Only sections of the usual names are put in order: the order of others may mean something.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use super::symbols::Found;
use super::{Orderer, SectionOrder, bisection, profile};
use crate::ids::*;
use crate::sections::SectionKind;

/// Output sections of code and data that may be put in order.
const CODE: &[&[u8]] = &[
    b".text",
    b".text.hot",
    b".text.unknown",
    b".text.unlikely",
    b".text.startup",
    b".text.exit",
    b".text.split",
    b".ltext",
];
const DATA: &[&[u8]] =
    &[b".data", b".rodata", b".data.rel.ro", b".ldata", b".lrodata", b".sdata", b".srodata"];

/// Bytes of a window; and which hashes of windows count of sections with more bytes than that: one in so
/// many.
const WINDOW: usize = 8;
const MANY: usize = 64;
const ONE_IN: u64 = 4;

impl<'a> Orderer<'_, 'a> {
    pub(super) fn by_partition(&self, order: &mut SectionOrder) -> Result<(), Diagnostics> {
        let asked = &self.job.options.order.partition;
        let (mut code, mut data) = (Vec::new(), Vec::new());
        let all = (0..self.sections.list.len() as u32).map(SectionId);
        for id in all.filter(|id| self.can_move(*id) && !order.has(*id)) {
            let section = self.sections.get(id);
            let name = self.sections.bins[section.bin().index()];
            let whole = section.kind() == SectionKind::Regular && section.size > 0;
            if whole && CODE.contains(&name) {
                code.push(id);
            } else if whole && DATA.contains(&name) {
                data.push(id);
            }
        }
        let start = match &asked.profile {
            Some(path) if asked.startup => self.start(path, &code)?,
            _ => Vec::new(),
        };
        let early: HashSet<SectionId> = start.iter().map(|(id, _)| *id).collect();
        code.retain(|id| asked.functions && !early.contains(id));
        data.retain(|_| asked.data);
        let of_start = start.into_iter().map(|(id, mut traits)| {
            if asked.startup_by_contents {
                traits.extend(self.contents(id));
            }
            (id, traits)
        });
        let with_contents =
            |list: Vec<SectionId>| list.into_iter().map(|id| (id, self.contents(id))).collect();
        let lists: [Vec<(SectionId, Vec<u64>)>; 3] =
            [of_start.collect(), with_contents(code), with_contents(data)];
        let counts = lists.each_ref().map(Vec::len);
        order.put_behind_first(lists.into_iter().flat_map(in_order));
        if asked.verbose && self.first {
            let [start, functions, data] = counts;
            self.job.print(&format!(
                "Sections put in order by balanced partitioning: {start} of functions of the start, {functions} of other functions, {data} of data\n"
            ))?;
        }
        Ok(())
    }

    /// Sections of functions that traces name, in the order in which they are called, with the sets that they
    /// are in.
    fn start(&self, path: &Path, code: &[SectionId]) -> Result<Vec<(SectionId, Vec<u64>)>, Diagnostics> {
        let Some(bytes) = self.read(path) else { return Ok(Vec::new()) };
        let traces = profile::read(bytes).map_err(|why| {
            Diagnostic::error(Cause::SectionOrder, format!("{}: {why}", text::path(path)))
                .in_file(text::path(path))
        })?;
        let mut names: HashMap<&'a [u8], Vec<Found>> = HashMap::new();
        names.extend(traces.list.iter().flatten().map(|name| (*name, Vec::new())));
        self.find(&mut names);
        let code: HashSet<SectionId> = code.iter().copied().collect();
        let mut places: HashMap<SectionId, usize> = HashMap::new();
        let mut list: Vec<(SectionId, Vec<u64>)> = Vec::new();
        for (number, trace) in (1u64..).zip(&traces.list) {
            let mut seen = HashSet::new();
            for name in trace {
                for found in &names[name] {
                    let Found::Section(id) = found else { continue };
                    if !code.contains(id) || !seen.insert(*id) {
                        continue;
                    }
                    let place = *places.entry(*id).or_insert_with(|| {
                        list.push((*id, Vec::new()));
                        list.len() - 1
                    });
                    // In the sets of so many functions that it is among them.
                    let first = usize::BITS - (seen.len() - 1).leading_zeros();
                    let sets = first..=usize::BITS - trace.len().leading_zeros();
                    list[place].1.extend(sets.map(|set| number << 8 | u64::from(set)));
                }
            }
        }
        Ok(list)
    }

    /// What a section has in common with others: hashes of some of its bytes, and of what it refers to.
    fn contents(&self, id: SectionId) -> Vec<u64> {
        let index = self.owners.object(id);
        let object = &self.resolved.objects[index.index()];
        let bytes = object.section_data((id.0 - object.section_base) as usize).unwrap_or(&[]);
        let windows = bytes.windows(WINDOW).map(|window| {
            let number = u64::from_le_bytes(window.try_into().unwrap_or_default());
            mixed(number)
        });
        let few = bytes.len() <= MANY;
        let mut traits: Vec<u64> = windows.filter(|hash| few || hash.is_multiple_of(ONE_IN)).collect();
        for reloc in self.sections.relocs(object, index.index(), self.sections.get(id)) {
            let symbol = reloc.sym();
            // A local symbol stands for its section.
            let target = match symbol < object.first_global {
                true => object
                    .syms
                    .get(symbol as usize)
                    .map_or(0, |s| u64::from(object.section_base + u32::from(s.st_shndx()))),
                false => 1 << 32 | u64::from(object.global(symbol).0),
            };
            traits.push(mixed(target << 16 ^ u64::from(reloc.kind())));
        }
        traits.sort_unstable();
        traits.dedup();
        traits
    }
}

/// The sections of a list in the order of what they have in common.
fn in_order(list: Vec<(SectionId, Vec<u64>)>) -> Vec<SectionId> {
    let (ids, named): (Vec<SectionId>, Vec<Vec<u64>>) = list.into_iter().unzip();
    let (traits, count) = bisection::numbered(&named);
    bisection::order(&traits, count).into_iter().map(|number| ids[number as usize]).collect()
}

/// A number whose bits all depend on all bits of another.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^ number >> 29
}
