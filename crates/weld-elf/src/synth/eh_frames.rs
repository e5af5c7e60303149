//! The output's `.eh_frame` and `.eh_frame_hdr`.
//!
//! FDEs of live functions in object order, each CIE once for the whole output, before its first
//! FDE. Records are padded to 8 bytes. Since functions lie in object order as well, the entries of
//! the search table come out nearly sorted.
//!
//! Specification: LSB Core, "Exception Frames" and "Exception Frame Header".

use std::collections::HashMap;

use crate::arch::x86_64::apply::{self, Site};
use crate::eh_frame::{Cie, EhFrame};
use crate::elf::*;
use crate::ids::*;
use crate::image::Image;
use crate::input::object::{Object, SymbolPlace};
use crate::input::sections::Sections;
use crate::live::Live;
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

impl<'a> Planner<'_, 'a> {
    pub fn plan(&self) -> Result<EhFrames, String> {
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut frames = EhFrames { objects: Vec::new(), size: 0, fdes: 0 };
        let mut end = 0u64;
        for (i, extra) in self.sections.objects.iter().enumerate() {
            let mut records = Vec::new();
            for (f, (shndx, frame)) in extra.eh_frames.iter().enumerate() {
                self.plan_frame((i, f as u32, *shndx), frame, &mut known, (&mut records, &mut end));
                if end > u32::MAX as u64 {
                    return Err(".eh_frame is larger than 4 GiB".into());
                }
            }
            if !records.is_empty() {
                frames.fdes += records.iter().filter(|r| r.index & IS_CIE == 0).count();
                frames.objects.push((ObjectId(i as u32), records));
            }
        }
        frames.size = if end == 0 { 0 } else { end + 4 };
        Ok(frames)
    }

    fn plan_frame(
        &self,
        (object, f, shndx): (usize, u32, u32),
        frame: &EhFrame,
        known: &mut HashMap<Vec<u8>, u32>,
        (records, end): (&mut Vec<Record>, &mut u64),
    ) {
        let o = &self.objects[object];
        let section = self.sections.get(SectionId(o.section_base + shndx));
        let relocs = self.sections.relocs(o, object, section);
        let data = o.section_data(shndx as usize).unwrap_or(&[]);
        let mut place = vec![u32::MAX; frame.cies.len()];
        for (index, fde) in frame.fdes.iter().enumerate() {
            if fde.n_relocs == 0 || !self.is_live(o, &relocs[fde.first_reloc as usize]) {
                continue;
            }
            if place[fde.cie as usize] == u32::MAX {
                let cie = &frame.cies[fde.cie as usize];
                let out = *known.entry(self.key(o, data, relocs, cie)).or_insert_with(|| {
                    records.push(Record { frame: f, index: fde.cie | IS_CIE, out: *end as u32, cie: 0 });
                    let out = *end as u32;
                    *end += align_up(cie.size as u64, 8);
                    out
                });
                place[fde.cie as usize] = out;
            }
            records.push(Record {
                frame: f,
                index: index as u32,
                out: *end as u32,
                cie: place[fde.cie as usize],
            });
            *end += align_up(fde.size as u64, 8);
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
        for record in records {
            let (shndx, frame) = &image.sections.objects[id.index()].eh_frames[record.frame as usize];
            let section = image.sections.get(SectionId(object.section_base + shndx));
            let relocs = image.sections.relocs(object, id.index(), section);
            let data = object.section_data(*shndx as usize).unwrap_or(&[]);
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
                shndx: *shndx,
                address: address + record.out as u64,
                relocs: &relocs[first as usize..(first + count) as usize],
                input: data,
                delta: 0u64.wrapping_sub(offset as u64),
            };
            apply::allocated(&site, bytes);
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
        let object = &image.resolved.objects[id.index()];
        for record in records {
            let (shndx, frame) = &image.sections.objects[id.index()].eh_frames[record.frame as usize];
            let section = image.sections.get(SectionId(object.section_base + shndx));
            let relocs = image.sections.relocs(object, id.index(), section);
            let (offset, _, first, count) = source(frame, record);
            for reloc in &relocs[first as usize..(first + count) as usize] {
                each(*id, reloc, (reloc.r_offset() - u64::from(offset)) + u64::from(record.out));
            }
        }
    }

    /// (function address, FDE address) of every FDE, in output order.
    pub fn table(&self, image: &Image, address: u64) -> Vec<(u64, u64)> {
        let mut table = Vec::with_capacity(self.fdes);
        for (id, records) in &self.objects {
            let object = &image.resolved.objects[id.index()];
            for record in records.iter().filter(|r| r.index & IS_CIE == 0) {
                let (shndx, frame) = &image.sections.objects[id.index()].eh_frames[record.frame as usize];
                let section = image.sections.get(SectionId(object.section_base + shndx));
                let relocs = image.sections.relocs(object, id.index(), section);
                let reloc = &relocs[frame.fdes[record.index as usize].first_reloc as usize];
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                table.push((place.address.wrapping_add(place.addend as u64), address + record.out as u64));
            }
        }
        table
    }
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
