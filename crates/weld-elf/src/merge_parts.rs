//! Mergeable sections of the whole link, grouped into parts that merge among themselves: same output
//! section, entry size, kind and alignment.
//!
//! Sections are gathered by runs of objects, in parallel: their headers lie all over memory, and those that
//! are compressed are decompressed here. What the runs found is joined in the order of objects, so groups
//! and their inputs come in the order of first appearance, whatever the runs.

use std::collections::HashMap;

use weld_common::diag::{Cause, DiagSink};
use weld_common::io::input::InputStore;
use weld_common::merge::{MergeError, MergeInput, MergeOptions, Merged};
use weld_common::{par, trace};

use crate::compressed::Compressed;
use crate::ids::*;
use crate::input::object::Object;
use crate::layout::MergedPart;
use crate::live::Live;
use crate::options::Options;
use crate::sections::bins::bin;
use crate::sections::rooms::{LastPieces, room_of_pieces};
use crate::sections::{InputSection, MergeSection, ObjectSections, SectionKind, Sections};

/// What the parts are made from.
pub struct Merger<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub live: &'c Live,
    pub options: &'c Options,
    /// A script lays out.
    pub scripted: bool,
    pub sink: &'c DiagSink,
    pub store: &'a InputStore<'a>,
    pub threads: usize,
}

/// What sections that are merged have in common: bin, entry size, whether they are strings, alignment.
type Key = (PlacementId, u32, bool, u64);

/// Objects whose sections are gathered in one go.
const OBJECTS: usize = 64;
/// Sections that are told their places in one go.
const PLACES: usize = 4096;

struct Group<'a> {
    bin: PlacementId,
    inputs: Vec<MergeInput<'a>>,
    /// (object, section) of each input, ascending.
    origins: Vec<(u32, SectionId)>,
}

/// Groups in the order of first appearance.
#[derive(Default)]
struct Groups<'a> {
    list: Vec<(Key, Group<'a>)>,
    known: HashMap<Key, usize>,
}

impl<'a> Groups<'a> {
    fn get(&mut self, key: Key) -> &mut Group<'a> {
        let index = *self.known.entry(key).or_insert_with(|| {
            self.list.push((key, Group { bin: key.0, inputs: Vec::new(), origins: Vec::new() }));
            self.list.len() - 1
        });
        &mut self.list[index].1
    }

    /// Adds groups of objects after those seen so far.
    fn append(&mut self, more: Groups<'a>) {
        if self.list.is_empty() {
            *self = more;
            return;
        }
        for (key, mut group) in more.list {
            let seen = self.get(key);
            seen.inputs.append(&mut group.inputs);
            seen.origins.append(&mut group.origins);
        }
    }
}

impl<'a> Merger<'_, 'a> {
    /// Merges all live mergeable sections, and notes in each section's address its part and input.
    pub fn run(&self, sections: &mut Sections<'a>) -> Vec<MergedPart<'a>> {
        let mut groups = self.group(sections);
        if !sections.last_pieces.is_empty() {
            add_last(sections, &mut groups);
            in_order_of(sections, &mut groups);
        }
        let options = MergeOptions { tail_merge: self.options.sections.optimize >= 2, dedupe: true };
        let mut parts = Vec::with_capacity(groups.len());
        for ((_, entsize, strings, _), group) in groups {
            let again = again(sections, parts.len(), &group.inputs);
            let merged = again.map_or_else(|| Merged::build(&group.inputs, &options, self.threads), Ok);
            match merged {
                Ok(mut merged) => {
                    if sections.has_rooms && sections.last_pieces.is_empty() {
                        let name = sections.bins.get(group.bin.index()).copied().unwrap_or_default();
                        merged.add_room(room_of_pieces(name, strings, merged.size()));
                    }
                    // The linker's own string, if it is there, is the last.
                    let own = group.origins.last().is_some_and(|o| o.1.is_none());
                    let origins = &group.origins[..group.origins.len() - usize::from(own)];
                    note_places(&mut sections.list, parts.len() as u32, origins, self.threads > 1);
                    let (chunk, bin) = (ChunkId::NONE, group.bin);
                    parts.push(MergedPart { merged, chunk, bin, entsize, strings });
                }
                Err(errors) => errors.iter().for_each(|e| self.report(&group, e)),
            }
        }
        parts
    }

    fn group(&self, sections: &Sections<'a>) -> Vec<(Key, Group<'a>)> {
        let n = sections.objects.len();
        let found = par::runs("gather merge sections", self.threads > 1, n, OBJECTS, |run| {
            self.gather(sections, run.start, &sections.objects[run])
        });
        let mut found = found.into_iter();
        let mut groups = found.next().unwrap_or_default();
        found.for_each(|more| groups.append(more));
        if self.options.layout.sectionheader && !self.is_unsigned(&groups) {
            self.sign(&mut groups);
        }
        groups.list
    }

    /// The groups that `objects`, the first of which has number `first`, have sections for.
    fn gather(&self, sections: &Sections<'a>, first: usize, objects: &[ObjectSections]) -> Groups<'a> {
        let mut groups = Groups::default();
        for (i, extra) in objects.iter().enumerate() {
            for merge in extra.merges.iter().filter(|m| self.live.contains(m.section)) {
                let section = sections.get(merge.section);
                if section.kind() != SectionKind::Merge {
                    continue;
                }
                let Some(data) = self.data(first + i, merge) else { continue };
                let group = groups.get((section.bin(), merge.entsize, merge.strings, section.align()));
                let align = section.align().min(1 << 31) as u32;
                group.inputs.push(MergeInput { data, entsize: merge.entsize, strings: merge.strings, align });
                group.origins.push(((first + i) as u32, merge.section));
            }
        }
        groups
    }

    /// Who takes weld for GNU ld gets no section that neither inputs nor the script have.
    fn is_unsigned(&self, groups: &Groups) -> bool {
        // What a script names has a place of the script's own.
        let is_named = |&(object, section): &(u32, SectionId)| {
            let object = &self.objects[object as usize];
            object.section_name((section.0 - object.section_base) as usize) == Some(b".comment")
        };
        let is_comment =
            |(_, group): &(Key, Group)| group.bin == bin::COMMENT || group.origins.iter().any(is_named);
        self.scripted && self.options.compat_mode.is_gnu_ld() && !groups.list.iter().any(is_comment)
    }

    /// The linker's own name, for `.comment`.
    fn sign(&self, groups: &mut Groups<'a>) {
        let group = groups.get((bin::COMMENT, 1, true, 1));
        let data = concat!("Linker: weld ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();
        group.inputs.push(MergeInput { data, entsize: 1, strings: true, align: 1 });
        group.origins.push((u32::MAX, SectionId::NONE));
    }

    /// The section's bytes, decompressed if need be.
    fn data(&self, object: usize, merge: &MergeSection) -> Option<&'a [u8]> {
        let o = &self.objects[object];
        let shndx = (merge.section.0 - o.section_base) as usize;
        let raw = o.section_data(shndx)?;
        if o.shdrs[shndx].sh_flags() & crate::elf::SHF_COMPRESSED == 0 {
            return Some(raw);
        }
        match Compressed::parse(raw, o.format()).and_then(|c| c.decompress()) {
            Ok(bytes) => Some(self.store.keep(bytes)),
            Err(e) => {
                self.error(object as u32, merge.section, &e.to_string());
                None
            }
        }
    }

    fn report(&self, group: &Group, error: &MergeError) {
        let input = match error {
            MergeError::NotTerminated { input }
            | MergeError::BadEntrySize { input, .. }
            | MergeError::BadAlignment { input, .. }
            | MergeError::InputTooLarge { input, .. }
            | MergeError::Mixed { input } => *input,
            MergeError::TooLarge => 0,
        };
        let (object, section) = group.origins[input];
        self.error(object, section, &error.to_string());
    }

    fn error(&self, object: u32, section: SectionId, message: &str) {
        let o = &self.objects[object as usize];
        let shndx = section.0 - o.section_base;
        self.sink.push(o.at_section(shndx).error(Cause::MalformedObject, message));
    }
}

/// Whether what these have in common is what the pieces of a part of another link had.
fn is_of(sections: &Sections, (bin, entsize, strings, align): &Key, last: &LastPieces) -> bool {
    let name = sections.bins.get(bin.index()).copied().unwrap_or_default();
    let last = (&last.name[..], last.entsize, last.strings, last.align);
    last == (name, *entsize, *strings, (*align).max(1))
}

/// Adds parts that another link had and nobody has a section for any more: they stay as they are.
fn add_last(sections: &Sections, groups: &mut Vec<(Key, Group)>) {
    for last in &sections.last_pieces {
        let bin = sections.bins.iter().position(|name| *name == &last.name[..]);
        let is_it = |(key, _): &(Key, Group)| is_of(sections, key, last);
        if let Some(bin) = bin.filter(|_| !groups.iter().any(is_it)) {
            let bin = PlacementId(bin as u32);
            let key = (bin, last.entsize, last.strings, last.align);
            let (entsize, strings, align) = (last.entsize, last.strings, last.align as u32);
            let nothing = MergeInput { data: &[], entsize, strings, align };
            groups.push((key, Group { bin, inputs: vec![nothing], origins: Vec::new() }));
        }
    }
}

/// Puts groups in the order that they had in another link, whoever is the first to have one now.
fn in_order_of(sections: &Sections, groups: &mut [(Key, Group)]) {
    let place = |key: &Key| {
        sections.last_pieces.iter().position(|last| is_of(sections, key, last)).unwrap_or(usize::MAX)
    };
    groups.sort_by_cached_key(|(key, _)| place(key));
}

/// The part with this number as it was in another link, if it is to be so and has the same pieces.
fn again<'a>(sections: &Sections, part: usize, inputs: &[MergeInput<'a>]) -> Option<Merged<'a>> {
    let last = sections.last_pieces.get(part)?;
    let first = inputs.first()?;
    let terminator = if first.strings { first.entsize as usize } else { 0 };
    Merged::found_again(inputs, last.bytes.clone(), |piece| last.find(piece, terminator.min(piece.len())))
}

/// Notes in each section's address that it is that input of part `part`.
fn note_places(list: &mut [InputSection], part: u32, origins: &[(u32, SectionId)], parallel: bool) {
    let note = |first: usize, base: usize, sections: &mut [InputSection], origins: &[(u32, SectionId)]| {
        for (i, (_, section)) in origins.iter().enumerate() {
            sections[section.index() - base].set_merged(part, (first + i) as u32);
        }
    };
    if !parallel || origins.len() <= PLACES {
        return note(0, 0, list, origins);
    }
    // Origins ascend, so each run of them has a part of the list to itself.
    let (mut rest, mut base) = (list, 0);
    let mut runs = Vec::with_capacity(origins.len() / PLACES + 1);
    for (run, origins) in origins.chunks(PLACES).enumerate() {
        let end = origins.last().map_or(base, |o| o.1.index() + 1);
        let (sections, behind) = std::mem::take(&mut rest).split_at_mut(end - base);
        runs.push((run * PLACES, base, sections, origins));
        (rest, base) = (behind, end);
    }
    let region = trace::region("note merged places");
    par::each_mut(true, &mut runs, |_, (first, base, sections, origins)| {
        let _task = region.task();
        note(*first, *base, sections, origins);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_noted_in_runs_as_in_one_loop() {
        let origins: Vec<(u32, SectionId)> =
            (0..3 * PLACES as u32 + 7).map(|i| (i / 5, SectionId(i * 3 + i % 2))).collect();
        let [one, many] = [false, true].map(|parallel| {
            let mut list = vec![InputSection::default(); origins.len() * 3 + 4];
            note_places(&mut list, 5, &origins, parallel);
            list.iter().map(|s| s.merged()).collect::<Vec<_>>()
        });
        assert!(one == many);
        assert_eq!(one[origins[PLACES].1.index()], (5, PLACES));
        assert_eq!(one.iter().filter(|place| **place != (0, 0)).count(), origins.len());
    }

    #[test]
    fn groups_of_runs_join_in_order() {
        let input = |data: &'static [u8]| MergeInput { data, entsize: 1, strings: true, align: 1 };
        let found: [&[(Key, &[u8], u32)]; 3] = [
            &[((PlacementId(2), 1, true, 1), b"a", 0), ((PlacementId(1), 1, true, 1), b"b", 1)],
            &[],
            &[
                ((PlacementId(1), 1, true, 1), b"c", 5),
                ((PlacementId(3), 8, false, 8), b"d", 6),
                ((PlacementId(2), 1, true, 1), b"e", 7),
            ],
        ];
        let mut joined = Groups::default();
        for run in found {
            let mut groups = Groups::default();
            for (key, data, section) in run {
                let group = groups.get(*key);
                group.inputs.push(input(data));
                group.origins.push((0, SectionId(*section)));
            }
            joined.append(groups);
        }
        let list: Vec<_> = joined.list.iter().map(|(key, g)| (key.0, g.bin, g.origins.clone())).collect();
        let origins = |ids: &[u32]| ids.iter().map(|id| (0, SectionId(*id))).collect::<Vec<_>>();
        assert_eq!(
            list,
            [(2, origins(&[0, 7])), (1, origins(&[1, 5])), (3, origins(&[6]))].map(|(bin, origins)| (
                PlacementId(bin),
                PlacementId(bin),
                origins
            ))
        );
        assert_eq!(joined.list[1].1.inputs[1].data, b"c");
    }
}
