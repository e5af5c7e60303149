//! Code that gets shorter: rounds of choosing, over all sections in parallel.
//!
//! [`find`] lists the places where bytes may go. A round ([`Shrinking::adapt`]) lets the machine choose what
//! each place becomes, counts anew how many bytes are gone, and gives sections their sizes and places. Rounds
//! go on as part of layout's fixpoint ([`super::settle`]). Sizes mostly shrink from round to round, but
//! padding may grow, so that something comes out of reach again. After a few rounds nothing shrinks any more
//! that has not yet: from then on code only grows, and that ends.

use std::cell::LazyCell;
use std::collections::HashMap;

use weld_common::diag::{Cause, DiagSink};
use weld_common::runs::{Extent, align_to};
use weld_common::{par, trace};

use super::addresses::{Bases, Values};
use super::round::{RelaxHint, Round};
use super::settle::Adaptive;
use super::{Layout, Member, MergedPart, members, scripted};
use crate::address::Address;
use crate::arch::plt;
use crate::arch::relax_deltas::RelaxDelta;
use crate::arch::shrink::{Section, Shrink, Wanted, Wrong};
use crate::elf::SHF_EXECINSTR;
use crate::got_plt_slots::Slots;
use crate::ids::*;
use crate::input::object::Object;
use crate::live::folds::Folds;
use crate::live::{Live, SectionOwners};
use crate::mode::Mode;
use crate::options::Options;
use crate::sections::shrunk::{Piece, Shrunk};
use crate::sections::{SectionKind, Sections};
use crate::symbols::Symbols;
use crate::symbols::internal::{Internals, Target};

/// Sections looked at in one go, and members of an output section that are placed.
const RUN: usize = 1 << 10;
const MEMBERS: usize = 1 << 13;

/// Rounds in which code may get shorter.
const SHRINKING: usize = 8;

/// What code is found in.
#[derive(Clone, Copy)]
pub struct Code<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub owners: &'c SectionOwners,
    pub options: &'c Options,
    pub mode: Mode,
    pub parallel: bool,
}

impl<'c, 'a> Code<'c, 'a> {
    fn section<'s>(&self, sections: &'s Sections<'a>, id: SectionId) -> Section<'s>
    where
        'c: 's,
    {
        let number = self.owners.object(id);
        let object = &self.objects[number.index()];
        let shndx = id.0 - object.section_base;
        let options = &self.options.relocs;
        let wanted = Wanted { relax: options.relax, relax_gp: options.relax_gp, shared: self.mode.shared };
        Section {
            object: number,
            shndx,
            flags: object.flags,
            relocs: sections.relocs(object, number.index(), sections.get(id)),
            bytes: object.section_data(shndx as usize).unwrap_or(&[]),
            labels: object,
            wanted,
        }
    }
}

/// What sections of a run have: how many deltas each, the deltas, and the alignment that they ask for.
type Found = (Vec<(SectionId, u32)>, Vec<RelaxDelta>, Vec<u64>);

/// Lists the places where bytes may go, and makes the sections that have some such that may shrink.
pub fn find(code: &Code, machine: &dyn Shrink, sections: &mut Sections, live: &Live, sink: &DiagSink) {
    forget(code, sections);
    let list = &*sections;
    let found = par::runs("find what may shrink", code.parallel, list.list.len(), RUN, |run| {
        let mut found = Found::default();
        for i in run {
            let id = SectionId(i as u32);
            let section = list.get(id);
            if section.kind() == SectionKind::Regular && section.relocs != 0 && live.contains(id) {
                look(code, machine, list, id, &mut found, sink);
            }
        }
        found
    });
    let lists = found.into_iter().map(|(ids, deltas, aligns)| {
        for ((id, _), align) in ids.iter().zip(aligns) {
            sections.list[id.index()].raise_align(align);
            sections.list[id.index()].set_kind(SectionKind::Shrunk);
        }
        (ids, deltas)
    });
    let lists = lists.collect();
    let mut shrunk = Shrunk::new(lists, sections.list.len());
    live.folds.pairs.iter().for_each(|(folded, leader)| shrunk.fold(*folded, *leader));
    sections.shrunk = shrunk;
}

/// Layout may begin again.
fn forget(code: &Code, sections: &mut Sections) {
    for id in std::mem::take(&mut sections.shrunk).sections() {
        let bytes = code.section(sections, id).bytes.len() as u64;
        let section = &mut sections.list[id.index()];
        section.set_kind(SectionKind::Regular);
        section.size = bytes;
    }
}

fn look(
    code: &Code,
    machine: &dyn Shrink,
    sections: &Sections,
    id: SectionId,
    found: &mut Found,
    sink: &DiagSink,
) {
    let section = code.section(sections, id);
    if code.objects[section.object.index()].shdrs[section.shndx as usize].sh_flags() & SHF_EXECINSTR == 0 {
        return;
    }
    let (ids, deltas, aligns) = found;
    let before = deltas.len();
    match machine.sites(&section, deltas) {
        Ok(align) if deltas.len() > before => {
            ids.push((id, (deltas.len() - before) as u32));
            aligns.push(align);
        }
        Ok(_) => {}
        Err(Wrong { reloc, text }) => {
            deltas.truncate(before);
            let offset = section.relocs[reloc].r_offset();
            sink.push(
                code.objects[section.object.index()]
                    .at_byte(section.shndx, offset)
                    .error(Cause::MalformedRelocation, text),
            );
        }
    }
}

/// What addresses of symbols are computed from.
#[derive(Clone, Copy)]
pub struct World<'c, 'a> {
    pub symbols: &'c Symbols,
    pub internals: &'c Internals,
    pub slots: &'c Slots,
    pub merged: &'c [MergedPart<'a>],
    pub folds: &'c Folds,
    pub plt: plt::Style,
    /// The symbol that says where the register for data points, if code may count from there.
    pub pointer: Option<SymbolId>,
}

/// The rounds of a layout.
pub struct Shrinking<'c, 'a> {
    code: Code<'c, 'a>,
    world: World<'c, 'a>,
    machine: &'static dyn Shrink,
    /// What is known of each place.
    known: Vec<RelaxHint>,
    rounds: usize,
}

impl<'c, 'a> Shrinking<'c, 'a> {
    /// `None` if nothing can shrink.
    pub fn new(code: Code<'c, 'a>, world: World<'c, 'a>, sections: &Sections) -> Option<Shrinking<'c, 'a>> {
        let machine = code.mode.machine.shrink().filter(|_| !sections.shrunk.is_empty())?;
        Some(Shrinking { code, world, machine, known: Vec::new(), rounds: 0 })
    }

    /// Finds out, once, what is known of each place.
    fn find_known(&mut self, round: &Round<'_, 'a>) {
        let shrunk = &round.sections.shrunk;
        let count = shrunk.counts().0;
        let runs = par::runs("find what calls lead to", self.code.parallel, count, RUN, |run| {
            let mut known = Vec::new();
            for i in run {
                let (id, deltas) = shrunk.nth(i);
                let code = self.code.section(round.sections, id);
                let relocs = deltas.iter().map(|delta| &code.relocs[delta.reloc as usize]);
                known.extend(relocs.map(|reloc| round.known(self.machine, &code, reloc)));
            }
            known
        });
        self.known = par::concat("join what calls lead to", self.code.parallel, runs);
    }

    /// What each place becomes.
    fn choose(&mut self, layout: &Layout<'a>, sections: &Sections<'a>) -> Vec<u8> {
        let round = self.world.round(&self.code, layout, sections);
        if self.known.is_empty() {
            self.find_known(&round);
        }
        let parallel = self.code.parallel;
        let addresses = par::runs("addresses of sections", parallel, sections.list.len(), MEMBERS, |run| {
            round.addresses(run)
        });
        let addresses = par::concat("join addresses of sections", parallel, addresses);
        let shrunk = &sections.shrunk;
        let count = shrunk.counts().0;
        let runs = par::runs("choose what becomes shorter", parallel, count, RUN, |run| {
            let mut forms = Vec::new();
            for i in run {
                self.choose_in(&round, &addresses, i, &mut forms);
            }
            forms
        });
        par::concat("join choices", parallel, runs)
    }

    /// What the places of the section become that is number `i` of those that have some.
    fn choose_in(&self, round: &Round<'_, 'a>, addresses: &[Address], i: usize, forms: &mut Vec<u8>) {
        let shrunk = &round.sections.shrunk;
        let (id, deltas) = shrunk.nth(i);
        let code = LazyCell::new(|| self.code.section(round.sections, id));
        let address = addresses[id.index()];
        let mut gone = 0;
        for (delta, known) in deltas.iter().zip(&self.known[shrunk.range(i)]) {
            let call = |length: u8, target: Address| {
                let here = address.wrapping_add(u64::from(delta.end - u32::from(length) - gone));
                self.machine.call(target.wrapping_sub(here) as i64, delta.extra)
            };
            forms.push(match *known {
                RelaxHint::Form(form) => form,
                RelaxHint::Call { length, section, at } => {
                    let at = if at == 0 { 0 } else { round.sections.output_offset(section, at.into()) };
                    call(length, addresses[section.index()].wrapping_add(at))
                }
                RelaxHint::PltCall { length, plt } => match round.entry(plt) {
                    Some(target) => call(length, target),
                    None => self.machine.choose(round, &code, delta),
                },
                RelaxHint::Nothing => self.machine.choose(round, &code, delta),
            });
            gone = delta.gone;
        }
    }

    /// Counts the bytes that are gone, and gives sections their sizes. Whether any changed.
    fn count(&self, sections: &mut Sections<'a>, forms: &[u8], grows: bool) -> bool {
        let mut shrunk = std::mem::take(&mut sections.shrunk);
        let list = &*sections;
        let region = trace::region("count what is gone");
        let one = |_, mut piece: Piece<u8>| {
            let _task = region.task();
            let mut sizes = Vec::new();
            piece.each(|id, deltas, forms| {
                let code = self.code.section(list, id);
                if count_section(self.machine, &code, deltas, forms, grows) {
                    let gone = deltas.last().map_or(0, |delta| delta.gone);
                    sizes.push((id, code.bytes.len() as u64 - u64::from(gone)));
                }
            });
            sizes
        };
        let pieces = shrunk.pieces(forms, RUN);
        let sizes: Vec<Vec<(SectionId, u64)>> = par::map_owned(self.code.parallel, pieces, one);
        drop(region);
        sections.shrunk = shrunk;
        sizes.iter().flatten().for_each(|(id, size)| sections.list[id.index()].size = *size);
        sizes.iter().any(|sizes| !sizes.is_empty())
    }
}

impl<'a> Adaptive<'a> for Shrinking<'_, 'a> {
    fn name(&self) -> &str {
        "code"
    }

    /// Chooses anew with the addresses that everything has.
    fn adapt(&mut self, layout: &mut Layout<'a>, sections: &mut Sections<'a>) -> bool {
        let forms = self.choose(layout, sections);
        let grows = self.rounds >= SHRINKING;
        self.rounds += 1;
        let changed = self.count(sections, &forms, grows);
        if changed {
            place(layout, sections, self.code.parallel);
        }
        changed
    }
}

/// Counts the bytes that are gone from a section. Whether anything changed. If it `grows`, no place becomes
/// shorter.
fn count_section(
    machine: &dyn Shrink,
    code: &Section,
    deltas: &mut [RelaxDelta],
    forms: &[u8],
    grows: bool,
) -> bool {
    let (mut before, mut was_before, mut changed) = (0, 0, false);
    for (delta, &form) in deltas.iter_mut().zip(forms) {
        let was = delta.gone - was_before;
        was_before = delta.gone;
        let mut now = machine.gone(code, delta, form, before);
        // Padding is as long as it has to be, whatever it was.
        if grows && form != delta.form && now > was {
            now = machine.gone(code, delta, delta.form, before);
        } else {
            changed |= delta.form != form;
            delta.form = form;
        }
        changed |= delta.gone != before + now;
        delta.gone = before + now;
        before = delta.gone;
    }
    changed
}

impl<'c, 'a> World<'c, 'a> {
    fn round<'r>(
        &self,
        code: &Code<'c, 'a>,
        layout: &'r Layout<'a>,
        sections: &'r Sections<'a>,
    ) -> Round<'r, 'a>
    where
        'c: 'r,
    {
        let mode = code.mode;
        let mut round = Round {
            objects: code.objects,
            layout,
            sections,
            symbols: self.symbols,
            slots: self.slots,
            merged: self.merged,
            folds: self.folds,
            plt: self.plt,
            mode,
            internals: HashMap::new(),
            thread_pointer: layout.thread_pointer(mode.facts().tls),
            pointer: None,
        };
        let (symbols, internals, bases) = (self.symbols, self.internals, &Bases::default());
        round.internals = Values { symbols, layout, internals, bases, shared: false }.by_sections();
        for internal in &self.internals.list {
            if let Target::Alias(other, offset) = internal.target
                && let Some(address) = round.global(other)
            {
                round.internals.insert(internal.id, address.wrapping_add(offset as u64));
            }
        }
        round.pointer = self.pointer.and_then(|id| round.global(id));
        round
    }
}

/// Gives members their places one after another once more, in sections of code.
fn place(layout: &mut Layout, sections: &mut Sections, parallel: bool) {
    if layout.is_by_script() {
        return scripted::measure(layout, sections, parallel);
    }
    for id in (0..layout.sections.len() as u32).map(OutputSectionId) {
        if layout[id].flags & SHF_EXECINSTR != 0 {
            place_output(layout, sections, id, parallel);
        }
    }
}

/// Runs of members know how far they reach from wherever they begin; where that is follows from those before.
fn place_output(layout: &mut Layout, sections: &mut Sections, id: OutputSectionId, parallel: bool) {
    let members = &layout[id].members;
    if !parallel || members.len() < 2 * MEMBERS || members.iter().any(|member| member.as_chunk().is_some()) {
        return members::place_again(layout, sections, id);
    }
    let extents = par::runs("measure shorter code", parallel, members.len(), MEMBERS, |run| {
        extent(&members[run], sections)
    });
    let (mut at, mut align) = (0, layout[id].align);
    let starts: Vec<u64> = extents
        .iter()
        .map(|extent| {
            let start = at;
            at = extent.end(at);
            align = align.max(extent.align());
            start
        })
        .collect();
    // Each member is a section of its own, but members may lie in any order.
    let places = par::runs("place shorter code", parallel, members.len(), MEMBERS, |run| {
        let mut at = starts[run.start / MEMBERS];
        let place = |member: &Member| {
            let section = &sections.list[member.as_section().map_or(0, |id| id.index())];
            let place = align_to(at, section.align());
            at = place.saturating_add(section.size);
            place
        };
        members[run].iter().map(place).collect::<Vec<u64>>()
    });
    for (member, place) in members.iter().zip(places.iter().flatten()) {
        member.as_section().into_iter().for_each(|id| sections.list[id.index()].set_offset(*place));
    }
    (layout[id].size, layout[id].align) = (at, align);
}

/// How far some members reach.
pub fn extent(members: &[Member], sections: &Sections) -> Extent {
    let mut extent = Extent::default();
    for id in members.iter().filter_map(|member| member.as_section()) {
        let section = sections.get(id);
        extent.push(section.align(), section.size);
    }
    extent
}
