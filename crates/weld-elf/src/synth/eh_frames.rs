//! The output's `.eh_frame` and `.eh_frame_hdr`.
//!
//! FDEs of live functions in object order, each CIE once for the whole output, before its first
//! FDE. Records are padded to 8 bytes. Since functions lie in object order as well, the entries of
//! the search table come out nearly sorted.
//!
//! Specification: LSB Core, "Exception Frames" and "Exception Frame Header".

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use weld_common::trace;

use crate::arch::x86_64::apply::{self, Site};
use crate::eh_frame::{Cie, EhFrame};
use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::Sections;
use crate::live::Live;
use crate::resolve::Resolved;
use crate::resolve::symbols::{Symbols, sym};
use crate::util::align_up;

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

pub struct EhFrames {
    /// Records of each object; objects without any are left out.
    objects: Vec<(ObjectId, Vec<Record>)>,
    /// Bytes, the terminator included.
    pub size: u64,
    pub fdes: usize,
}

pub struct Planner<'c, 'a> {
    pub objects: &'c [Object<'a>],
    pub sections: &'c Sections<'a>,
    pub symbols: &'c Symbols,
    pub live: &'c Live,
}

/// The records of an object, before it is known which of its CIEs others have written already. `out` is
/// relative to the object's first record, as if none of its CIEs were written; `cie` of an FDE counts the
/// object's CIEs.
#[derive(Default)]
struct Draft {
    records: Vec<Record>,
    /// The CIEs that have live FDEs.
    cies: Vec<DraftCie>,
    /// Padded bytes of all FDEs.
    size: u64,
    fdes: usize,
}

struct DraftCie {
    /// What makes CIEs equal.
    key: Vec<u8>,
    /// Padded size in bytes.
    size: u32,
    /// Like that of its record.
    out: u64,
}

impl<'a> Planner<'_, 'a> {
    /// Objects are gone through in parallel but for the choice of CIEs, of which each has a few.
    ///
    /// # Errors
    /// If the section is too large for its offsets.
    pub fn plan(&self, parallel: bool) -> Result<EhFrames, String> {
        let region = trace::region("find live frames");
        let draft = |i: usize| {
            let _task = region.task();
            self.draft(i)
        };
        let count = self.sections.objects.len();
        let drafts: Vec<Draft> = match parallel {
            true => (0..count).into_par_iter().map(draft).collect(),
            false => (0..count).map(draft).collect(),
        };
        drop(region);
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut end = 0u64;
        let places: Vec<Places> = drafts.iter().map(|d| Places::choose(d, &mut known, &mut end)).collect();
        if end > u64::from(u32::MAX) {
            return Err(".eh_frame is larger than 4 GiB".into());
        }
        let fdes = drafts.iter().map(|d| d.fdes).sum();
        let region = trace::region("place frames");
        let finish = |(draft, places): (Draft, Places)| {
            let _task = region.task();
            places.finish(draft)
        };
        let all = drafts.into_iter().zip(places);
        let records: Vec<Vec<Record>> = match parallel {
            true => all.collect::<Vec<_>>().into_par_iter().map(finish).collect(),
            false => all.map(finish).collect(),
        };
        let with_id = records.into_iter().enumerate().filter(|(_, records)| !records.is_empty());
        let objects = with_id.map(|(i, records)| (ObjectId(i as u32), records)).collect();
        Ok(EhFrames { objects, size: if end == 0 { 0 } else { end + 4 }, fdes })
    }

    fn draft(&self, object: usize) -> Draft {
        let mut draft = Draft::default();
        for (f, (shndx, frame)) in self.sections.objects[object].eh_frames.iter().enumerate() {
            self.draft_frame((object, f as u32, *shndx), frame, &mut draft);
        }
        draft
    }

    fn draft_frame(&self, (object, f, shndx): (usize, u32, u32), frame: &EhFrame, draft: &mut Draft) {
        let o = &self.objects[object];
        let section = self.sections.get(SectionId(o.section_base + shndx));
        let relocs = self.sections.relocs(o, object, section);
        let data = o.section_data(shndx as usize).unwrap_or(&[]);
        let mut number = vec![u32::MAX; frame.cies.len()];
        for (index, fde) in frame.fdes.iter().enumerate() {
            if fde.n_relocs == 0 || !self.is_live(o, &relocs[fde.first_reloc as usize]) {
                continue;
            }
            // What is too large is refused once the sizes of all are known.
            let out = draft.size as u32;
            let number = &mut number[fde.cie as usize];
            if *number == u32::MAX {
                let cie = &frame.cies[fde.cie as usize];
                *number = draft.cies.len() as u32;
                let size = align_up(cie.size as u64, 8) as u32;
                draft.cies.push(DraftCie { key: self.key(o, data, relocs, cie), size, out: draft.size });
                draft.records.push(Record { frame: f, index: fde.cie | IS_CIE, out, cie: *number });
            }
            draft.records.push(Record { frame: f, index: index as u32, out, cie: *number });
            draft.size += align_up(fde.size as u64, 8);
            draft.fdes += 1;
        }
    }

    /// An FDE lives if the function it describes is this object's and live.
    fn is_live(&self, object: &Object, reloc: &Rela) -> bool {
        let index = reloc.sym();
        let Some(symbol) = object.syms.get(index as usize) else { return false };
        let section = match object.place(index, symbol) {
            SymbolPlace::Section(s) if (s as usize) < object.shdrs.len() => object.section_base + s,
            _ => return false,
        };
        if index >= object.first_global {
            // The name may have been given to another object's definition.
            let global = &self.symbols[object.global(index)];
            if global.kind() != sym::DEFINED || global.section != section {
                return false;
            }
        }
        self.live.contains(SectionId(section)) && self.sections.get(SectionId(section)).in_image()
    }

    /// What makes two CIEs equal: their bytes and what their relocations refer to.
    fn key(&self, object: &Object, data: &[u8], relocs: &[Rela], cie: &Cie) -> Vec<u8> {
        let start = cie.offset as usize;
        let mut key = data[start..start + cie.size as usize].to_vec();
        let first = cie.first_reloc as usize;
        for reloc in &relocs[first..first + cie.n_relocs as usize] {
            let index = reloc.sym();
            let target = if index >= object.first_global && (index as usize) < object.syms.len() {
                (1u64 << 63) | object.global(index).0 as u64
            } else {
                (object.section_base as u64) << 32 | index as u64
            };
            key.extend_from_slice(&(reloc.r_offset() - cie.offset as u64).to_le_bytes());
            key.extend_from_slice(&(reloc.kind() as u64).to_le_bytes());
            key.extend_from_slice(&target.to_le_bytes());
            key.extend_from_slice(&reloc.r_addend().to_le_bytes());
        }
        key
    }
}

/// Where the records of an object go.
struct Places {
    start: u64,
    /// Of each of its CIEs: where it is, and whether this object writes it.
    cies: Vec<(u32, bool)>,
}

impl Places {
    /// Gives the CIEs of the next object their places: those of equal ones, or their own.
    fn choose<'d>(draft: &'d Draft, known: &mut HashMap<&'d [u8], u32>, end: &mut u64) -> Places {
        let start = *end;
        let mut written = 0;
        let mut cies = Vec::with_capacity(draft.cies.len());
        for cie in &draft.cies {
            match known.entry(&cie.key) {
                Entry::Occupied(equal) => cies.push((*equal.get(), false)),
                Entry::Vacant(place) => {
                    let own = (start + cie.out + written) as u32;
                    cies.push((*place.insert(own), true));
                    written += u64::from(cie.size);
                }
            }
        }
        *end += draft.size + written;
        Places { start, cies }
    }

    /// The records that the object writes, at their final offsets.
    fn finish(self, draft: Draft) -> Vec<Record> {
        let mut shift = self.start as u32;
        let mut records = draft.records;
        records.retain_mut(|record| {
            let (place, is_own) = self.cies[record.cie as usize];
            let size = draft.cies[record.cie as usize].size;
            record.out += shift;
            if record.index & IS_CIE == 0 {
                record.cie = place;
                return true;
            }
            shift += if is_own { size } else { 0 };
            record.cie = 0;
            is_own
        });
        records
    }
}

impl EhFrames {
    /// Offsets where the section may be cut: each object's first record.
    pub fn borders(&self) -> impl Iterator<Item = u64> {
        self.objects.iter().filter_map(|(_, records)| records.first()).map(|r| r.out as u64)
    }

    /// Writes the bytes from offset `start` on, which is one of the borders; so is the end, or it is
    /// that of the section. `address` is that of the whole section.
    pub fn write(&self, image: &Image, address: u64, start: u64, out: &mut [u8]) {
        let end = start + out.len() as u64;
        let first = |(_, records): &(ObjectId, Vec<Record>)| records.first().map_or(0, |r| r.out as u64);
        let from = self.objects.partition_point(|o| first(o) < start);
        let to = self.objects.partition_point(|o| first(o) < end);
        for (object, records) in &self.objects[from..to] {
            self.write_object(image, (*object, records), address, (start, out));
        }
        if end == self.size {
            let terminator = out.len() - 4;
            out[terminator..].fill(0);
        }
    }

    fn write_object(
        &self,
        image: &Image,
        (id, records): (ObjectId, &[Record]),
        address: u64,
        (from, out): (u64, &mut [u8]),
    ) {
        let object = &image.resolved.objects[id.index()];
        for Input { shndx, frame, relocs, records } in inputs(image.resolved, image.sections, id, records) {
            let data = object.section_data(shndx as usize).unwrap_or(&[]);
            for record in records {
                let (offset, size, first, count) = source(frame, record);
                let start = (record.out as u64 - from) as usize;
                let padded = align_up(size as u64, 8) as usize;
                let bytes = &mut out[start..start + padded];
                bytes[..size as usize].copy_from_slice(&data[offset as usize..(offset + size) as usize]);
                bytes[size as usize..].fill(0);
                bytes[..4].copy_from_slice(&(padded as u32 - 4).to_le_bytes());
                if record.index & IS_CIE == 0 {
                    bytes[4..8].copy_from_slice(&(record.out + 4 - record.cie).to_le_bytes());
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
                apply::allocated(&site, bytes);
            }
        }
    }

    /// The number of relocations in the records of each object.
    pub fn reloc_counts<'s>(&'s self, sections: &'s Sections) -> impl Iterator<Item = u64> + 's {
        self.objects.iter().map(|(id, records)| {
            let frames = &sections.objects[id.index()].eh_frames;
            let count = |r: &Record| u64::from(source(&frames[r.frame as usize].1, r).3);
            records.iter().map(count).sum()
        })
    }

    /// Calls `each` with the relocations of the records of entry `entry` of [`Self::reloc_counts`]: the
    /// object, the relocation, and its offset in the output section.
    pub fn each_reloc(&self, image: &Image, entry: usize, mut each: impl FnMut(ObjectId, &Rela, u64)) {
        let Some((id, records)) = self.objects.get(entry) else { return };
        for Input { frame, relocs, records, .. } in inputs(image.resolved, image.sections, *id, records) {
            for record in records {
                let (offset, _, first, count) = source(frame, record);
                for reloc in &relocs[first as usize..(first + count) as usize] {
                    each(*id, reloc, (reloc.r_offset() - u64::from(offset)) + u64::from(record.out));
                }
            }
        }
    }

    /// (function address, FDE address) of every FDE, in the order of the search table.
    pub fn table(&self, image: &Image, address: u64, parallel: bool) -> Vec<(u64, u64)> {
        let region = trace::region("addresses of frames");
        let one = |entry: &(ObjectId, Vec<Record>)| {
            let _task = region.task();
            self.table_of(image, address, entry)
        };
        let mut table: Vec<(u64, u64)> = match parallel {
            true => self.objects.par_iter().flat_map_iter(one).collect(),
            false => {
                let mut table = Vec::with_capacity(self.fdes);
                self.objects.iter().for_each(|entry| table.append(&mut one(entry)));
                table
            }
        };
        drop(region);
        let _stretch = trace::stretch("sort addresses of frames");
        crate::eh_frame::sort_hdr_entries(&mut table, parallel);
        table
    }

    fn table_of(&self, image: &Image, address: u64, entry: &(ObjectId, Vec<Record>)) -> Vec<(u64, u64)> {
        let (id, records) = entry;
        let object = &image.resolved.objects[id.index()];
        let mut table = Vec::with_capacity(records.len());
        for Input { frame, relocs, records, .. } in inputs(image.resolved, image.sections, *id, records) {
            for record in records.iter().filter(|r| r.index & IS_CIE == 0) {
                let reloc = &relocs[frame.fdes[record.index as usize].first_reloc as usize];
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                let function = place.address.wrapping_add(place.addend as u64);
                table.push((function, address + u64::from(record.out)));
            }
        }
        table
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
