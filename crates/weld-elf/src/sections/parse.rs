//! Every section of every object is judged by its header, objects side by side and large ones in slices.
//!
//! Objects are independent of each other: each has its own slots in the table of all sections, and what
//! it says besides is kept per object. A slice is a run of an object's section headers (all of them, in all
//! but huge objects). It is parsed by one thread, which looks at nothing outside; what needs the whole object
//! is done when its slices have been put together in order. How an object is cut depends on the object only,
//! so the result and all diagnostics are the same for any number of threads.
//!
//! Losers of COMDAT groups are marked from the group tables first and not looked at further.
//!
//! Specification: gABI chapter 4 ("Sections", "Section Groups").

use std::cell::RefCell;
use std::mem::MaybeUninit;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::glob::Glob;
use weld_common::{par, sort, trace};

use super::linkonce;
use super::names::{LOCAL_NAME, LocalNames};
use super::scripted::{OfFile, Rules};
use super::uses::Uses;
use super::{FOLLOWERS, InputSection, ObjectSections, SectionKind, Sections};
use crate::ids::PlacementId;
use crate::input::object::{Object, append};
use crate::options::{Options, OutputKind};
use crate::resolve::comdat::Comdats;
use crate::sections::bins::BINS;

/// Section headers of a slice: half a megabyte, which stays in the cache.
pub(super) const SLICE: usize = 1 << 13;
/// Groups looked at in one go.
pub(super) const GROUPS: usize = 1 << 12;

/// Slots that take no part. They are written before anything is read: reading fresh memory first would cost
/// two faults a page (see `weld_common::zeroed`).
fn cleared(slots: &mut [MaybeUninit<InputSection>]) -> &mut [InputSection] {
    slots.fill(MaybeUninit::new(InputSection::default()));
    // SAFETY: all have just been written.
    unsafe { slots.assume_init_mut() }
}

/// Parses the sections of every object.
pub fn parse<'a>(
    objects: &mut [Object<'a>],
    comdats: &Comdats,
    options: &Options,
    rules: Option<&Scripted<'a, '_>>,
    sink: &DiagSink,
    parallel: bool,
) -> Sections<'a> {
    let mut total = 0usize;
    for object in objects.iter_mut() {
        object.section_base = total as u32;
        total += object.shdrs.len();
    }
    if total >= u32::MAX as usize {
        sink.error(Cause::TooLarge, format!("too many input sections: {total}"));
        return Sections::default();
    }
    let stretch = trace::stretch("make room for sections");
    let mut list: Vec<InputSection> = Vec::with_capacity(total);
    let mut slots: Vec<&mut [MaybeUninit<InputSection>]> = Vec::with_capacity(objects.len());
    let mut rest = &mut list.spare_capacity_mut()[..total];
    for object in objects.iter() {
        let (mine, others) = rest.split_at_mut(object.shdrs.len());
        slots.push(mine);
        rest = others;
    }
    let unique = &options.unique_globs()[..];
    drop(stretch);
    let region = trace::region("parse sections");
    let parsed: Vec<ObjectSections> = par::map_owned(parallel, slots, |i, slots| {
        let _task = region.task();
        let object = &objects[i];
        Whole { index: i as u32, object, options, rules, sink, unique, parallel }.parse(slots, comdats)
    });
    drop(region);
    // SAFETY: the slots of the objects are the first `total` elements, and parsing an object writes all of
    // its own.
    unsafe { list.set_len(total) };
    if let Some(first) = parsed.iter().position(|o| o.has_partitions) {
        let text = "asks for a program in partitions, but all of it stays in one";
        sink.push(objects[first].whole().warning(Cause::OptionWithoutEffect, text));
    }
    let left_out = |has: fn(&ObjectSections) -> bool, what: &str| {
        if let Some(first) = parsed.iter().position(has) {
            let text = format!("{}: {what}", objects[first].name);
            sink.push(Diagnostic::warning(Cause::OptionWithoutEffect, text).of(objects[first].file, 0));
        }
    };
    // One after the other they would say what the first one says.
    left_out(|o| o.has_stabs, ".stab is left out: debugging information has to be DWARF");
    let word = objects.first().map_or(0, |object| object.format().word());
    let mut bins = BINS.to_vec();
    bins.extend(rules.iter().flat_map(|scripted| scripted.bin_names));
    let mut sections = Sections { list, objects: parsed, bins, word, ..Sections::default() };
    let with: Vec<usize> = (0..objects.len()).filter(|i| sections.objects[*i].has_linkonce).collect();
    if !with.is_empty() {
        linkonce::settle(&mut sections, objects, comdats, &with);
    }
    sections.join_names(objects, parallel);
    if sections.bins.len() >= LOCAL_NAME as usize {
        sink.error(Cause::TooLarge, format!("too many different section names: {}", sections.bins.len()));
    }
    sections
}

/// How a script assigns sections.
#[derive(Clone, Copy)]
pub struct Scripted<'a, 's> {
    pub rules: &'s Rules,
    /// The names of its bins: those of their output sections.
    pub bin_names: &'s [&'a [u8]],
}

/// An object, and what its parts share.
#[derive(Clone, Copy)]
struct Whole<'a, 'p> {
    index: u32,
    object: &'p Object<'a>,
    options: &'p Options,
    rules: Option<&'p Scripted<'a, 'p>>,
    sink: &'p DiagSink,
    unique: &'p [Glob],
    parallel: bool,
}

impl<'a, 'p> Whole<'a, 'p> {
    /// Parses the object. All of `slots` are written.
    fn parse(&self, slots: &mut [MaybeUninit<InputSection>], comdats: &Comdats) -> ObjectSections<'a> {
        let lost = self.lost_members(comdats);
        let script =
            self.rules.map(|scripted| (scripted.rules, scripted.rules.of_file(Some(&self.object.name))));
        let script = script.as_ref();
        let parse = |first: usize, slots: &mut [MaybeUninit<InputSection>]| {
            let found = script.map_or_else(Found::default, |(rules, _)| Found {
                uses: Uses::new(rules.bins.len()),
                ..Found::default()
            });
            let mut slice = self.parser(first, cleared(slots), found, script);
            slice.parse(&lost);
            slice.found
        };
        let mut slices = Slices::default();
        par::in_pieces("parse slices", self.parallel, (slots, SLICE), parse, |found| slices.add(found));
        // SAFETY: the slices together are all slots, and each has been cleared.
        let slots = unsafe { slots.assume_init_mut() };
        let found = slices.join(slots, self.parallel);
        let mut parser = self.parser(0, slots, found, script);
        parser.finish(self.parallel);
        parser.found.into_sections()
    }

    fn parser<'s>(
        &self,
        first: usize,
        slots: &'s mut [InputSection],
        found: Found<'a>,
        script: Option<&'s (&'p Rules, OfFile)>,
    ) -> Parser<'a, 's>
    where
        'p: 's,
    {
        let Whole { object, options, sink, unique, .. } = *self;
        Parser { object, options, script, sink, unique, first, slots, found }
    }

    /// Header indices of the members of COMDAT groups that lost; sorted if the object is cut.
    fn lost_members(&self, comdats: &Comdats) -> Vec<u32> {
        let object = self.object;
        if object.groups.is_empty() {
            return Vec::new();
        }
        let find = |run: std::ops::Range<usize>| {
            let mut lost = Vec::new();
            for g in run.filter(|&g| !comdats.survives(self.index, object, g as u32)) {
                let words = object.group_words(object.groups[g].shndx).unwrap_or_default();
                lost.extend(words.members());
            }
            lost
        };
        let mut lost = Vec::new();
        let groups = (object.groups.len(), GROUPS);
        par::in_runs("find lost groups", self.parallel, groups, find, |part| append(&mut lost, part));
        if object.shdrs.len() <= SLICE { lost } else { sort::by(lost, self.parallel, u32::cmp) }
    }
}

/// Parses a slice of an object, and in the end the whole of it.
pub(super) struct Parser<'a, 'p> {
    pub(super) object: &'p Object<'a>,
    pub(super) options: &'p Options,
    /// The patterns of a linker script, and which of them hold for the object.
    pub(super) script: Option<&'p (&'p Rules, OfFile)>,
    pub(super) sink: &'p DiagSink,
    /// The patterns of `--unique`.
    pub(super) unique: &'p [Glob],
    /// Header index of the first slot.
    pub(super) first: usize,
    pub(super) slots: &'p mut [InputSection],
    pub(super) found: Found<'a>,
}

/// What a slice adds besides its slots.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) extra: ObjectSections<'a>,
    pub(super) uses: Uses,
    pub(super) local_names: LocalNames<'a>,
    /// Header indices of relocation sections for sections outside the slice.
    pub(super) distant: Vec<u32>,
    /// The name that a symbol was last looked for by, and the symbol.
    pub(super) looked_for: RefCell<(Vec<u8>, Option<u32>)>,
}

/// The slices of an object, put together in order.
#[derive(Default)]
struct Slices<'a> {
    all: Option<Found<'a>>,
    /// What each slice's own names of output sections are numbered in the whole, if there is more than one
    /// slice.
    numbers: Vec<Vec<PlacementId>>,
}

impl<'a> Slices<'a> {
    fn add(&mut self, mut slice: Found<'a>) {
        let Some(all) = &mut self.all else {
            self.all = Some(slice);
            return;
        };
        let number = all.local_names.join(slice.local_names);
        slice.uses.renumber(&number);
        all.uses.join(slice.uses);
        all.extra.append(slice.extra);
        all.distant.append(&mut slice.distant);
        self.numbers.push(number);
    }

    fn join(self, slots: &mut [InputSection], parallel: bool) -> Found<'a> {
        if self.numbers.iter().any(|number| !number.is_empty()) {
            let renumber = |first: usize, slots: &mut [InputSection]| {
                // The first slice's are those of the whole.
                if let Some(later) = (first / SLICE).checked_sub(1) {
                    InputSection::renumber(slots, &self.numbers[later]);
                }
            };
            par::in_pieces("number names of slices", parallel, (slots, SLICE), renumber, |()| {});
        }
        self.all.unwrap_or_default()
    }
}

impl<'a> Found<'a> {
    fn into_sections(self) -> ObjectSections<'a> {
        ObjectSections { uses: self.uses.list, local_names: self.local_names.list, ..self.extra }
    }
}

impl<'a> ObjectSections<'a> {
    /// Adds what a later slice of the object has.
    fn append(&mut self, mut later: ObjectSections<'a>) {
        self.merges.append(&mut later.merges);
        self.eh_frames.append(&mut later.eh_frames);
        self.sframes.append(&mut later.sframes);
        self.retained.append(&mut later.retained);
        self.unallocated.append(&mut later.unallocated);
        self.name_lists.append(&mut later.name_lists);
        self.name_tables.append(&mut later.name_tables);
        self.c_named.append(&mut later.c_named);
        self.followers.append(&mut later.followers);
        self.link_order.append(&mut later.link_order);
        self.decoded.append(later.decoded);
        self.properties.append(&mut later.properties);
        self.attributes.append(&mut later.attributes);
        self.executable_stack = later.executable_stack.or(self.executable_stack);
        self.has_warnings |= later.has_warnings;
        self.has_split_stack |= later.has_split_stack;
        self.has_linkonce |= later.has_linkonce;
        self.has_stabs |= later.has_stabs;
        self.has_tagged_variables |= later.has_tagged_variables;
        self.has_partitions |= later.has_partitions;
    }
}

impl Parser<'_, '_> {
    /// Header indices of the slice.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.slots.len()
    }

    /// Parses a slice. `lost` is sorted, unless the slice is the whole object.
    fn parse(&mut self, lost: &[u32]) {
        let whole = self.slots.len() == self.object.shdrs.len();
        let from = if whole { 0 } else { lost.partition_point(|&member| (member as usize) < self.first) };
        for &member in &lost[from..] {
            match self.slots.get_mut(member as usize - self.first) {
                Some(slot) => slot.set_kind(SectionKind::Discarded),
                None if whole => {}
                None => break,
            }
        }
        let far = self.object.section_names.len() > FAR;
        // The first header of an object is no section, whatever it says.
        for shndx in self.range().skip(usize::from(self.first == 0)) {
            if far {
                self.object.prefetch_section_name(shndx + NAME_AHEAD);
            }
            if self.slots[shndx - self.first].kind() != SectionKind::Discarded
                && let Err(e) = self.section(shndx)
            {
                self.error(shndx, &e.to_string());
            }
        }
        self.attach_relocs();
    }

    /// What is left to do when `slots` are those of the whole object.
    fn finish(&mut self, parallel: bool) {
        self.attach_distant_relocs();
        self.drop_descriptors();
        if self.options.sections.zero_to_bss && self.options.kind != OutputKind::Relocatable {
            self.turn_zeroes();
        }
        self.set_aside();
        self.drop_leaderless();
        self.parse_eh_frames();
        self.tie_groups(parallel);
        let mut followers = sort::by(std::mem::take(&mut self.found.extra.followers), parallel, Ord::cmp);
        followers.dedup();
        let mark = |first: usize, slots: &mut [InputSection]| {
            let from = followers.partition_point(|&(leader, _)| (leader as usize) < first);
            for &(leader, _) in &followers[from..] {
                match slots.get_mut(leader as usize - first) {
                    Some(slot) => slot.meta |= FOLLOWERS,
                    None => break,
                }
            }
        };
        par::in_pieces("mark leaders", parallel, (self.slots, SLICE), mark, |()| {});
        self.found.extra.followers = followers;
    }

    #[cold]
    pub(super) fn error(&self, shndx: usize, message: &str) {
        self.sink.push(self.object.at_section(shndx as u32).error(Cause::MalformedObject, message));
    }
}

/// String tables of so many bytes do not stay in the cache.
const FAR: usize = 1 << 20;
/// How many headers ahead a section's name is asked for then: names are in no order.
const NAME_AHEAD: usize = 12;
