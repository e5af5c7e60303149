//! The members of an output section: input sections, copied and relocated, and padding.

use std::ops::Range;
use weld_common::diag::Cause;

use weld_common::glob::Glob;
use weld_common::prefetch::prefetch;

use super::rewrites::Rewrites;
use super::room_filler::Room;
use super::units;
use crate::arch::relax_deltas;
use crate::compressed::Compressed;
use crate::elf::*;
use crate::ids::*;
use crate::layout::{Chunk, FileOffset, Member, OutputSection};
use crate::live::SectionOwners;
use crate::options::Options;
use crate::sections::SectionKind;
use crate::synth::emitted_relocs::{EmittedRelocs, Mover};
use crate::synth::image::Image;
use crate::synth::kept_relocs as relocs;
use crate::synth::relocate::Site;

/// An input section and its relocations.
#[derive(Clone, Copy)]
pub(super) struct Source<'i> {
    pub id: SectionId,
    pub object: ObjectId,
    pub relocs: &'i [Rela],
}

/// How many members ahead the headers of their relocations are asked for, and the relocations. What
/// these refer to is asked for one member ahead.
const HEADER_AHEAD: usize = 6;
const RELOCS_AHEAD: usize = 3;
/// Relocations of a section that are asked for, and whose symbols are; the processor notices for
/// itself that more follow.
const FIRST_RELOCS: usize = 8;

/// Writes members of output sections.
#[derive(Clone, Copy)]
pub struct Members<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub owners: &'c SectionOwners,
    /// `-r`: the relocations of the output.
    pub relocs: Option<&'c EmittedRelocs>,
    /// Instructions that options have changed.
    pub rewrites: Option<&'c Rewrites>,
}

impl Members<'_, '_, '_> {
    /// Fills the bytes at `offset` of the file with members `range` of an output section.
    /// `chunk` writes the linker's own parts.
    pub fn fill(
        &self,
        out: OutputSectionId,
        range: Range<usize>,
        offset: FileOffset,
        bytes: &mut [u8],
        chunk: &dyn Fn(&Chunk, &mut [u8]),
    ) {
        let section = &self.image.layout[out];
        // Code is padded with what the machine says, data with zeroes.
        let code = section.flags & SHF_EXECINSTR != 0;
        let padding = if code { self.image.mode.facts().filler } else { 0 };
        let mut done = 0usize;
        let members = &section.members[range];
        let mut ahead = [None; RELOCS_AHEAD + 1];
        for (i, member) in members.iter().take(RELOCS_AHEAD).enumerate() {
            ahead[i] = self.source(*member);
        }
        for (i, &member) in members.iter().enumerate() {
            self.look_ahead(members, i, &mut ahead);
            let (start, size) = units::extent(self.image.layout, self.image.sections, out, member);
            let start = (start - offset) as usize;
            pad(section, offset, padding, done, &mut bytes[..start]);
            let target = &mut bytes[start..start + size as usize];
            match member.as_chunk() {
                Some(id) => chunk(&self.image.layout.chunks[id.index()], target),
                None => ahead[i % ahead.len()].iter().for_each(|source| self.input(source, target)),
            }
            done = start + size as usize;
        }
        pad(section, offset, padding, done, bytes);
    }

    /// The input section that `member` is, if it is one. Asks for its relocations.
    #[inline(always)]
    fn source(&self, member: Member) -> Option<Source<'_>> {
        let source = self.section(member.as_section()?);
        for i in (0..FIRST_RELOCS).step_by(2) {
            prefetch(source.relocs, i);
        }
        Some(source)
    }

    #[inline(always)]
    pub(super) fn section(&self, id: SectionId) -> Source<'_> {
        let sections = self.image.sections;
        let object = self.owners.object(id);
        if self.image.joined.is_some_and(|joined| !joined.changes(object)) {
            return Source { id, object, relocs: &[] };
        }
        let relocs =
            sections.relocs(&self.image.resolved.objects[object.index()], object.index(), sections.get(id));
        Source { id, object, relocs }
    }

    /// Asks for what the members after `i` will need. Sources are in `ahead`, by their number.
    #[inline(always)]
    fn look_ahead<'s>(
        &'s self,
        members: &[Member],
        i: usize,
        ahead: &mut [Option<Source<'s>>; RELOCS_AHEAD + 1],
    ) {
        let objects = &self.image.resolved.objects;
        if let Some(id) = members.get(i + HEADER_AHEAD).and_then(|m| m.as_section()) {
            let section = self.image.sections.get(id);
            if section.relocs != 0 {
                prefetch(objects[self.owners.object(id).index()].shdrs, section.relocs as usize);
            }
        }
        if let Some(member) = members.get(i + RELOCS_AHEAD) {
            ahead[(i + RELOCS_AHEAD) % ahead.len()] = self.source(*member);
        }
        if let (Some(source), true) = (ahead[(i + 1) % ahead.len()], i + 1 < members.len()) {
            let object = &objects[source.object.index()];
            for reloc in source.relocs.iter().take(FIRST_RELOCS) {
                self.image.symbols.prefetch_target(object, reloc.sym());
            }
        }
    }

    /// Copies an input section and relocates it.
    #[inline(always)]
    fn input(&self, source: &Source, out: &mut [u8]) {
        match self.image.sections.has_rooms {
            false => self.input_alone(source, out),
            true => self.input_with_room(source, out),
        }
    }

    /// The same of a section that may have room to grow behind its bytes.
    #[cold]
    fn input_with_room(&self, source: &Source, out: &mut [u8]) {
        let image = self.image;
        let object = &image.resolved.objects[source.object.index()];
        let (shndx, section) = (source.id.0 - object.section_base, image.sections.get(source.id));
        match Room::of(image, object, shndx, section, out.len()) {
            Some(room) => {
                self.input_alone(source, &mut out[..room.size]);
                room.fill(out);
            }
            None => self.input_alone(source, out),
        }
        for guest in image.sections.guests_of(source.id) {
            let (start, size) = (guest.offset as usize, image.sections.get(guest.section).size as usize);
            if let Some(target) = out.get_mut(start..).and_then(|rest| rest.get_mut(..size)) {
                self.input_alone(&self.section(guest.section), target);
            }
        }
    }

    /// The same of a section without room, or of one's bytes.
    fn input_alone(&self, source: &Source, out: &mut [u8]) {
        let image = self.image;
        let object = &image.resolved.objects[source.object.index()];
        let shndx = source.id.0 - object.section_base;
        let section = image.sections.get(source.id);
        let data = object.section_data(shndx as usize).unwrap_or(&[]);
        match section.kind() {
            // The terminator of an `.eh_frame` that `-r` joins is left out unless it is the last.
            SectionKind::Regular | SectionKind::Reversed => out.copy_from_slice(&data[..out.len()]),
            SectionKind::Guest if object.shdrs[shndx as usize].sh_type() == SHT_NOBITS => out.fill(0),
            SectionKind::Guest => out.copy_from_slice(&data[..out.len()]),
            SectionKind::Shrunk => relax_deltas::copy(image.sections.shrunk.deltas(source.id), data, out),
            SectionKind::Compressed => {
                if let Err(e) = Compressed::parse(data, object.format()).and_then(|c| c.decompress_into(out))
                {
                    image.sink.push(object.at_section(shndx).error(Cause::MalformedObject, e));
                    return out.fill(0);
                }
            }
            // Zeroes in a section that has bytes.
            _ => out.fill(0),
        }
        self.relocate(source, 0, out);
        if image.thunks.moves_from(source.id) {
            self.leave_moved(source.id, 0, out);
        }
        if section.kind() == SectionKind::Reversed {
            reverse_words(out, image.format().word() as usize);
        }
    }

    /// Has instructions that are carried out elsewhere replaced by branches. `out` are the section's bytes
    /// from `start` on.
    #[cold]
    pub(super) fn leave_moved(&self, id: SectionId, start: u64, out: &mut [u8]) {
        self.image.thunks.leave(id, start, out);
    }

    /// Applies relocations of `source`, all or some, to `out`: its bytes from `start` on.
    pub(super) fn relocate(&self, source: &Source, start: u64, out: &mut [u8]) {
        if source.relocs.is_empty() && self.rewrites.is_none() {
            return;
        }
        let image = self.image;
        let object = &image.resolved.objects[source.object.index()];
        let shndx = source.id.0 - object.section_base;
        if let (Some(_), Some(relocs)) = (image.joined, self.relocs) {
            let site = relocs::Site { image, object, number: source.object, shndx };
            let name = object.section_name(shndx as usize).unwrap_or(b"");
            let mark = tombstone(image.options, name);
            return site.settle(&Mover::new(image, relocs), source.relocs, mark, start, out);
        }
        let site = Site {
            image,
            object,
            object_id: source.object,
            shndx,
            address: image.sections.get(source.id).address().wrapping_add(start),
            relocs: source.relocs,
            input: object.section_data(shndx as usize).unwrap_or(&[]),
            delta: start.wrapping_neg(),
        };
        if object.shdrs[shndx as usize].sh_flags() & SHF_ALLOC != 0 {
            site.relocate(out);
            if let Some(rewrites) = self.rewrites {
                rewrites.apply(&site, out);
            }
        } else {
            let name = object.section_name(shndx as usize).unwrap_or(b"");
            site.relocate_debug(tombstone(image.options, name), out);
        }
    }
}

/// Where a large section is cut when it is written; none if it is written with its neighbours.
pub fn cuts(image: &Image, owners: &SectionOwners, id: SectionId) -> Vec<u64> {
    Members { image, owners, relocs: None, rewrites: None }.cuts(id, false)
}

/// Writes one input section by itself: its bytes in the output, to which options did nothing more.
pub fn emit_section(image: &Image, owners: &SectionOwners, id: SectionId, out: &mut [u8]) {
    let members = Members { image, owners, relocs: None, rewrites: None };
    members.input(&members.section(id), out);
}

/// Fills `bytes`, which begin at `offset` of the file, from `done` on: with `padding`, or as a script says.
#[inline(always)]
fn pad(section: &OutputSection, offset: FileOffset, padding: u8, done: usize, bytes: &mut [u8]) {
    match section.fillers.is_empty() {
        true => bytes[done..].fill(padding),
        false => pad_by_script(section, offset, padding, done, bytes),
    }
}

#[cold]
fn pad_by_script(section: &OutputSection, offset: FileOffset, padding: u8, done: usize, bytes: &mut [u8]) {
    let start = offset + done as u64 - section.offset;
    let (mut at, mut rest) = (start, &mut bytes[done..]);
    let mut next = section.fillers.partition_point(|filler| filler.from <= start);
    while !rest.is_empty() {
        let end = section.fillers.get(next).map_or(u64::MAX, |filler| filler.from);
        let (part, behind) = rest.split_at_mut(rest.len().min((end - at) as usize));
        match next.checked_sub(1).map(|i| &section.fillers[i]) {
            Some(filler) if !filler.pattern.is_empty() => {
                let begun = if filler.is_gap { at - filler.from } else { at - start.max(filler.from) };
                let skipped = (begun % filler.pattern.len() as u64) as usize;
                let pattern = filler.pattern.iter().cycle().skip(skipped);
                part.iter_mut().zip(pattern).for_each(|(byte, fill)| *byte = *fill);
            }
            // In front of the first `FILL`.
            _ => part.fill(padding),
        }
        (at, rest, next) = (at + part.len() as u64, behind, next + 1);
    }
}

/// What a debug section says of code that is gone. A range list would end at 0, so there it is 1.
pub fn tombstone(options: &Options, name: &[u8]) -> u64 {
    let matches = |pattern: &str| Glob::new(pattern.as_bytes()).is_ok_and(|g| g.matches(name));
    if let Some((_, value)) = options.sections.dead_relocs.iter().rev().find(|(pattern, _)| matches(pattern))
    {
        return *value;
    }
    match name {
        b".debug_loc" | b".debug_ranges" => 1,
        b".debug_names" => u64::MAX,
        _ => 0,
    }
}

/// Puts the last 8-byte word first.
fn reverse_words(out: &mut [u8], size: usize) {
    out.reverse();
    out.chunks_exact_mut(size).for_each(|word| word.reverse());
}
