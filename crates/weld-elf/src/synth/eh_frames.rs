//! The output's `.eh_frame` and `.eh_frame_hdr`.
//!
//! FDEs of live functions in object order, each CIE once for the whole output, before its first
//! FDE. Records are padded to 4 bytes, as compilers write them. Since functions lie in object order as well,
//! the entries of the search table come out nearly sorted.
//!
//! Specification: LSB Core, "Exception Frames" and "Exception Frame Header".

mod written_again;

pub use written_again::{Again, Target};

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use weld_common::diag::Cause;
use weld_common::{par, trace};

use super::error::TableTooLarge;
use super::functions::Functions;
use super::section::{At, Cuts, Header, Sizes, Source, Spec, Synthetic};
use crate::address::Address;
use crate::address::align_up;
use crate::eh_frame::{Cie, EhFrame, Fde, turn_to_distances};
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use crate::resolve::Resolved;
use crate::sections::Sections;
use crate::sections::rooms::{self, FRAME_STEP, Growth};
use crate::synth::image::Image;
use crate::synth::relocate::Site;

/// A record that is written.
#[derive(Clone, Copy)]
struct Record {
    /// Which `.eh_frame` of the object, and which record of it; the top bit marks a CIE.
    frame: u32,
    index: u32,
    /// Offset in the output section, and that of an FDE's CIE.
    out: u32,
    cie: u32,
}

const IS_CIE: u32 = 1 << 31;

/// The alignment of records in bytes.
const ALIGN: u64 = 4;
/// Bytes of the record that ends the section.
const TERMINATOR: u64 = 4;

/// The size that a record of so many bytes has in the output. Where it may be written again, with room: a
/// function that grows may need operations of more bytes. Most have 24 to 32 bytes, so those of 25 to 40 are
/// of one size.
fn padded(size: u32, has_rooms: bool) -> u64 {
    if has_rooms {
        align_up(u64::from(size) + FRAME_STEP, 2 * FRAME_STEP) - FRAME_STEP
    } else {
        align_up(size.into(), ALIGN)
    }
}

/// Objects gone through in one go.
const RUN: usize = 16;

/// The records of an object.
#[derive(Clone, Copy)]
struct Span {
    object: ObjectId,
    run: u32,
    start: u32,
    end: u32,
}

#[derive(Default)]
pub struct EhFrames {
    /// Records of the objects of a run, one after the other.
    records: Vec<Vec<Record>>,
    /// Objects without any record are left out.
    objects: Vec<Span>,
    /// Bytes, the terminator included.
    pub size: u64,
    pub fdes: usize,
    /// Entries of the search table, with room.
    pub searched: usize,
    /// Records have room to grow, and so has the last one of each object, by which others are.
    has_rooms: bool,
}

pub struct Planner<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub functions: Functions<'c, 'a>,
}

/// The records of a run of objects, before it is known which of their CIEs others have written already. `out`
/// of a record is relative to its object's first, as if none of the CIEs were written; `cie` of an FDE counts
/// the run's CIEs.
#[derive(Default)]
struct Draft {
    records: Vec<Record>,
    /// The CIEs that have live FDEs.
    cies: Vec<DraftCie>,
    /// What makes CIEs equal, one after the other.
    keys: Vec<u8>,
    objects: Vec<DraftObject>,
}

struct DraftCie {
    /// Where its key ends.
    key_end: usize,
    /// Padded size in bytes.
    size: u32,
    /// Like that of its record.
    out: u64,
}

struct DraftObject {
    id: ObjectId,
    /// Where its records and CIEs end.
    records_end: usize,
    cies_end: usize,
    /// Padded bytes of all FDEs.
    size: u64,
}

impl<'a> Planner<'_, 'a> {
    /// Objects are gone through in parallel but for the choice of CIEs, of which each has a few.
    ///
    /// # Errors
    /// If the section is too large for its offsets.
    pub fn plan(&self, parallel: bool) -> Result<EhFrames, TableTooLarge> {
        let count = self.functions.sections.objects.len();
        let drafts = par::runs("find live frames", parallel, count, RUN, |run| {
            let mut draft = Draft::default();
            run.for_each(|object| self.draft(object, &mut draft));
            draft
        });
        let last = self.functions.sections.last_runs.as_ref();
        let with_room = |object: ObjectId, size: u64| match last {
            _ if !self.has_rooms() => size,
            Some(last) => last
                .of_file
                .get(&self.objects[object.index()].file)
                .map_or(size, |runs| runs.frames.max(size)),
            None => {
                let sections = self.functions.sections;
                rooms::room_of_frames(size, sections.growth(self.objects[object.index()].file))
            }
        };
        let mut choice = Choice { known: HashMap::new(), shares: !self.has_rooms(), with_room, end: 0 };
        let places: Vec<Places> = drafts.iter().map(|draft| Places::choose(draft, &mut choice)).collect();
        let end = choice.end;
        if end > u64::from(u32::MAX) {
            return Err(TableTooLarge::Section(".eh_frame"));
        }
        let region = trace::region("place frames");
        let finish = |_, (draft, places): (Draft, Places)| {
            let _task = region.task();
            places.finish(draft)
        };
        let all = drafts.into_iter().zip(places).collect();
        let finished: Vec<(Vec<Record>, Vec<Span>)> = par::map_owned(parallel, all, finish);
        drop(region);
        let mut frames = EhFrames {
            records: Vec::with_capacity(finished.len()),
            objects: Vec::with_capacity(finished.iter().map(|run| run.1.len()).sum()),
            size: if end == 0 { 0 } else { end + TERMINATOR },
            fdes: 0,
            searched: 0,
            has_rooms: self.has_rooms(),
        };
        for (number, (records, spans)) in finished.into_iter().enumerate() {
            frames.fdes += records.iter().filter(|r| r.index & IS_CIE == 0).count();
            frames.records.push(records);
            frames.objects.extend(spans.into_iter().map(|span| Span { run: number as u32, ..span }));
        }
        frames.searched = match last {
            _ if !self.has_rooms() => frames.fdes,
            Some(last) => last.searched.max(frames.fdes),
            None => rooms::room_of_search(frames.fdes),
        };
        Ok(frames)
    }

    fn has_rooms(&self) -> bool {
        self.functions.sections.has_rooms
    }

    fn draft(&self, object: usize, draft: &mut Draft) {
        let before = draft.records.len();
        let mut size = 0;
        for (f, (shndx, frame)) in self.functions.sections.objects[object].eh_frames.iter().enumerate() {
            self.draft_frame(object, f as u32, *shndx, frame, draft, &mut size);
        }
        if draft.records.len() > before {
            draft.objects.push(DraftObject {
                id: ObjectId(object as u32),
                records_end: draft.records.len(),
                cies_end: draft.cies.len(),
                size,
            });
        }
    }

    fn draft_frame(
        &self,
        object: usize,
        f: u32,
        shndx: u32,
        frame: &EhFrame,
        draft: &mut Draft,
        size: &mut u64,
    ) {
        let o = &self.objects[object];
        let section = self.functions.sections.get(SectionId(o.section_base + shndx));
        let relocs = self.functions.sections.relocs(o, object, section);
        let data = o.section_data(shndx as usize).unwrap_or(&[]);
        let mut number = vec![u32::MAX; frame.cies.len()];
        let is_there =
            |fde: &Fde| fde.n_relocs > 0 && self.functions.has(o, &relocs[fde.first_reloc as usize]);
        if let Some(at) = self.place_for_frames(o, frame)
            && !frame.fdes.iter().any(is_there)
        {
            // A place for frames that may come.
            let cie = &frame.cies[at];
            self.put_key(o, data, relocs, cie, &mut draft.keys);
            let (padded, cie) = (padded(cie.size, true) as u32, draft.cies.len() as u32);
            draft.cies.push(DraftCie { key_end: draft.keys.len(), size: padded, out: *size });
            draft.records.push(Record { frame: f, index: at as u32 | IS_CIE, out: *size as u32, cie });
        }
        for (index, fde) in frame.fdes.iter().enumerate() {
            if !is_there(fde) {
                continue;
            }
            // What is too large is refused once the sizes of all are known.
            let out = *size as u32;
            let number = &mut number[fde.cie as usize];
            if *number == u32::MAX {
                let cie = &frame.cies[fde.cie as usize];
                *number = draft.cies.len() as u32;
                self.put_key(o, data, relocs, cie, &mut draft.keys);
                let padded = padded(cie.size, self.has_rooms()) as u32;
                draft.cies.push(DraftCie { key_end: draft.keys.len(), size: padded, out: *size });
                draft.records.push(Record { frame: f, index: fde.cie | IS_CIE, out, cie: *number });
            }
            draft.records.push(Record { frame: f, index: index as u32, out, cie: *number });
            *size += padded(fde.size, self.has_rooms());
        }
    }

    /// Which CIE of an object is written if it has no frames, or none that are in the output, so that there is room for such as
    /// come: one that refers to nothing. `None` if there is to be no room.
    fn place_for_frames(&self, object: &Object, frame: &EhFrame) -> Option<usize> {
        let sections = self.functions.sections;
        if !self.has_rooms() {
            return None;
        }
        if frame.fdes.is_empty() {
            return (!frame.cies.is_empty()).then_some(0);
        }
        let has_place = match &sections.last_runs {
            Some(last) => last.of_file.get(&object.file).is_some_and(|runs| runs.frames > 0),
            None => sections.growth(object.file) != Growth::Usual,
        };
        frame.cies.iter().position(|cie| cie.n_relocs == 0).filter(|_| has_place)
    }

    /// What makes two CIEs equal: their bytes and what their relocations refer to.
    fn put_key(&self, object: &Object, data: &[u8], relocs: &[Rela], cie: &Cie, key: &mut Vec<u8>) {
        put_key(data, relocs, cie, key, |index| {
            if index >= object.first_global && (index as usize) < object.syms.len() {
                (1u64 << 63) | object.global(index).0 as u64
            } else {
                (object.section_base as u64) << 32 | index as u64
            }
        });
    }
}

/// Puts the bytes of a CIE, and its relocations, whose symbols `target` knows.
fn put_key(data: &[u8], relocs: &[Rela], cie: &Cie, key: &mut Vec<u8>, target: impl Fn(u32) -> u64) {
    let start = cie.offset as usize;
    key.extend_from_slice(&data[start..start + cie.size as usize]);
    let first = cie.first_reloc as usize;
    for reloc in &relocs[first..first + cie.n_relocs as usize] {
        let target = target(reloc.sym());
        key.extend_from_slice(&(reloc.r_offset() - cie.offset as u64).to_le_bytes());
        key.extend_from_slice(&(reloc.kind() as u64).to_le_bytes());
        key.extend_from_slice(&target.to_le_bytes());
        key.extend_from_slice(&reloc.r_addend().to_le_bytes());
    }
}

/// Where the records of a run of objects go.
struct Places {
    /// Of each object.
    starts: Vec<u64>,
    /// Of each CIE: where it is, and whether its object writes it.
    cies: Vec<(u32, bool)>,
}

/// The CIEs that have their places, and where the next object begins.
struct Choice<'d, R> {
    known: HashMap<&'d [u8], u32>,
    /// Objects use one another's. If not, what an object has depends on no other.
    shares: bool,
    /// How large the run of an object is that has so many bytes.
    with_room: R,
    end: u64,
}

impl Places {
    /// Gives the CIEs of the next objects their places: those of equal ones, or their own.
    fn choose<'d>(draft: &'d Draft, choice: &mut Choice<'d, impl Fn(ObjectId, u64) -> u64>) -> Places {
        let mut starts = Vec::with_capacity(draft.objects.len());
        let mut cies = Vec::with_capacity(draft.cies.len());
        let mut key_start = 0;
        for object in &draft.objects {
            let start = choice.end;
            let mut written = 0;
            if !choice.shares {
                choice.known.clear();
            }
            for cie in &draft.cies[cies.len()..object.cies_end] {
                let key = &draft.keys[key_start..cie.key_end];
                key_start = cie.key_end;
                match choice.known.entry(key) {
                    Entry::Occupied(equal) => cies.push((*equal.get(), false)),
                    Entry::Vacant(place) => {
                        let own = (start + cie.out + written) as u32;
                        cies.push((*place.insert(own), true));
                        written += u64::from(cie.size);
                    }
                }
            }
            starts.push(start);
            choice.end += (choice.with_room)(object.id, object.size + written);
        }
        Places { starts, cies }
    }

    /// The records that the objects write, at their final offsets; the run's number is left open.
    fn finish(self, draft: Draft) -> (Vec<Record>, Vec<Span>) {
        let mut all = draft.records;
        let mut spans = Vec::with_capacity(draft.objects.len());
        let (mut from, mut kept) = (0, 0);
        for (object, &start) in draft.objects.iter().zip(&self.starts) {
            let first = kept;
            let mut shift = start as u32;
            for i in from..object.records_end {
                let mut record = all[i];
                let (place, is_own) = self.cies[record.cie as usize];
                record.out += shift;
                if record.index & IS_CIE == 0 {
                    record.cie = place;
                } else if is_own {
                    shift += draft.cies[record.cie as usize].size;
                    record.cie = 0;
                } else {
                    continue;
                }
                all[kept] = record;
                kept += 1;
            }
            from = object.records_end;
            spans.push(Span { object: object.id, run: 0, start: first as u32, end: kept as u32 });
        }
        all.truncate(kept);
        (all, spans)
    }
}

impl EhFrames {
    /// Never none.
    fn records(&self, span: &Span) -> &[Record] {
        &self.records[span.run as usize][span.start as usize..span.end as usize]
    }

    /// Where the records of an object start in the section.
    fn start(&self, span: &Span) -> u64 {
        u64::from(self.records(span)[0].out)
    }

    /// Where those of object number `number` of the section end, with their room.
    fn end(&self, number: usize) -> u64 {
        self.objects.get(number + 1).map_or(self.size.saturating_sub(TERMINATOR), |next| self.start(next))
    }

    /// Where the records of each object are in the section.
    pub fn runs(&self) -> impl Iterator<Item = (ObjectId, std::ops::Range<u64>)> {
        (0..).zip(&self.objects).map(|(number, span)| (span.object, self.start(span)..self.end(number)))
    }

    /// Offsets where the section may be cut: each object's first record.
    pub fn borders(&self) -> impl Iterator<Item = u64> {
        self.objects.iter().map(|span| self.start(span))
    }

    /// Writes the bytes from offset `start` on, which is one of the borders; so is the end, or it is
    /// that of the section. `address` is that of the whole section.
    pub fn write(&self, image: &Image, address: Address, start: u64, out: &mut [u8]) {
        let end = start + out.len() as u64;
        let from = self.objects.partition_point(|span| self.start(span) < start);
        let to = self.objects.partition_point(|span| self.start(span) < end);
        for (number, span) in (from..to).zip(&self.objects[from..to]) {
            let (records, run_end) = (self.records(span), self.end(number));
            self.write_object(image, span.object, (records, run_end), address, start, out);
        }
        if end == self.size {
            let terminator = out.len() - TERMINATOR as usize;
            out[terminator..].fill(0);
        }
    }

    fn write_object(
        &self,
        image: &Image,
        id: ObjectId,
        (records, end): (&[Record], u64),
        address: Address,
        from: u64,
        out: &mut [u8],
    ) {
        let last = records.last().map(|record| record.out).filter(|_| self.has_rooms);
        let object = &image.resolved.objects[id.index()];
        let format = image.format();
        for Input { shndx, frame, relocs, records } in inputs(image.resolved, image.sections, id, records) {
            let data = object.section_data(shndx as usize).unwrap_or(&[]);
            for record in records {
                let (offset, size, first, count) = source(frame, record);
                let start = (record.out as u64 - from) as usize;
                let padded = match last == Some(record.out) {
                    // Operations that do nothing reach to the next object.
                    true => (end - u64::from(record.out)) as usize,
                    false => padded(size, self.has_rooms) as usize,
                };
                let bytes = &mut out[start..start + padded];
                bytes[..size as usize].copy_from_slice(&data[offset as usize..(offset + size) as usize]);
                bytes[size as usize..].fill(0);
                bytes[..4].copy_from_slice(&format.u32_bytes(padded as u32 - 4));
                if record.index & IS_CIE == 0 {
                    bytes[4..8].copy_from_slice(&format.u32_bytes(record.out + 4 - record.cie));
                }
                let site = Site {
                    image,
                    object,
                    object_id: id,
                    shndx,
                    address: address + record.out as u64,
                    relocs: &relocs[first as usize..(first + count) as usize],
                    input: data,
                    delta: 0u64.wrapping_sub(offset as u64),
                };
                let is_cie = record.index & IS_CIE != 0;
                if is_cie && object.machine.frames_become_distances && image.mode.pic {
                    self.turn_to_distances(image, object, shndx, offset, &mut bytes[8..size as usize]);
                }
                site.relocate(bytes);
            }
        }
    }

    /// Has a CIE, the one at `offset`, say that its records have distances.
    #[cold]
    fn turn_to_distances(&self, image: &Image, object: &Object, shndx: u32, offset: u32, body: &mut [u8]) {
        if !turn_to_distances(body, image.format()) {
            let text = "has exception frames with addresses in an image that may be moved, and a record that \
                        cannot say that they are distances; recompile with -fPIC";
            image.sink.push(object.at_byte(shndx, offset.into()).error(Cause::NeedsPic, text));
        }
    }

    /// The number of relocations in the records of each object.
    pub fn reloc_counts<'s>(&'s self, sections: &'s Sections) -> impl Iterator<Item = u64> + 's {
        self.objects.iter().map(|span| {
            let frames = &sections.objects[span.object.index()].eh_frames;
            let count = |r: &Record| u64::from(source(&frames[r.frame as usize].1, r).3);
            self.records(span).iter().map(count).sum()
        })
    }

    /// Calls `each` with the relocations of the records of entry `entry` of [`Self::reloc_counts`]: the
    /// object, the relocation, and its offset in the output section.
    pub fn each_reloc(&self, image: &Image, entry: usize, mut each: impl FnMut(ObjectId, &Rela, u64)) {
        let Some(span) = self.objects.get(entry) else { return };
        let (id, records) = (span.object, self.records(span));
        for Input { frame, relocs, records, .. } in inputs(image.resolved, image.sections, id, records) {
            for record in records {
                let (offset, _, first, count) = source(frame, record);
                for reloc in &relocs[first as usize..(first + count) as usize] {
                    each(id, reloc, (reloc.r_offset() - u64::from(offset)) + u64::from(record.out));
                }
            }
        }
    }

    /// (function address, FDE address) of every FDE, in the order of the search table.
    pub fn table(&self, image: &Image, address: Address, parallel: bool) -> Vec<(Address, Address)> {
        let name = "addresses of frames";
        let lists = par::runs(name, parallel, self.objects.len(), RUN, |run| {
            let mut table = Vec::with_capacity(
                self.objects[run.clone()].iter().map(|s| s.end - s.start).sum::<u32>() as usize,
            );
            self.objects[run].iter().for_each(|span| self.add_to_table(image, address, span, &mut table));
            table
        });
        let mut table = par::concat("join addresses of frames", parallel, lists);
        let _stretch = trace::stretch("sort addresses of frames");
        crate::eh_frame::sort_hdr_entries(&mut table, parallel);
        table
    }

    fn add_to_table(
        &self,
        image: &Image,
        address: Address,
        span: &Span,
        table: &mut Vec<(Address, Address)>,
    ) {
        let (id, records) = (span.object, self.records(span));
        let object = &image.resolved.objects[id.index()];
        for Input { frame, relocs, records, .. } in inputs(image.resolved, image.sections, id, records) {
            for record in records.iter().filter(|r| r.index & IS_CIE == 0) {
                let reloc = &relocs[frame.fdes[record.index as usize].first_reloc as usize];
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                let function = place.address.wrapping_add(place.addend as u64);
                table.push((function, address + u64::from(record.out)));
            }
        }
    }
}

/// The records that come from one `.eh_frame` of an object, which mostly has one.
struct Input<'i, 'r> {
    shndx: u32,
    frame: &'i EhFrame,
    relocs: &'i [Rela],
    records: &'r [Record],
}

fn inputs<'i, 'r>(
    resolved: &'i Resolved,
    sections: &'i Sections,
    id: ObjectId,
    records: &'r [Record],
) -> impl Iterator<Item = Input<'i, 'r>> {
    let object = &resolved.objects[id.index()];
    records.chunk_by(|a, b| a.frame == b.frame).map(move |records| {
        let (shndx, frame) = &sections.objects[id.index()].eh_frames[records[0].frame as usize];
        let section = sections.get(SectionId(object.section_base + shndx));
        let relocs = sections.relocs(object, id.index(), section);
        Input { shndx: *shndx, frame, relocs, records }
    })
}

/// Offset and size of a record in its input, its first relocation, and their number.
fn source(frame: &EhFrame, record: &Record) -> (u32, u32, u32, u32) {
    if record.index & IS_CIE != 0 {
        let cie = &frame.cies[(record.index & !IS_CIE) as usize];
        return (cie.offset, cie.size, cie.first_reloc, cie.n_relocs);
    }
    let fde = &frame.fdes[record.index as usize];
    (fde.offset, fde.size, fde.first_reloc, fde.n_relocs)
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let header = Header { name: b".eh_frame", kind: SHT_PROGBITS, flags: SHF_ALLOC, entsize: 0 };
        Spec::own(header, sizes.format().word(), sizes.plan.eh_frames.size).map(Spec::dispensable)
    }

    fn cuts(&self, source: &Source) -> Cuts {
        Cuts::At(source.contents.eh_frames.borders().collect())
    }

    fn work(&self) -> &'static str {
        ".eh_frame"
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        at.contents().eh_frames.write(at.image(), at.chunk.address(), at.start, out);
    }
}
