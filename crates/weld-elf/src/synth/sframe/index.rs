//! The index of `.sframe` and its bytes, once functions have their addresses.

use weld_common::diag::Cause;
use weld_common::{par, sort, trace};

use super::of_plt::ROW;
use super::plan::{Part, SFrames};
use crate::address::Address;
use crate::arch::plt::Table;
use crate::elf::Rela;
use crate::ids::SectionId;
use crate::input::object::Object;
use crate::sections::Sections;
use crate::sframe::{Fde, HEADER, MAGIC, PC_RELATIVE, Version};
use crate::synth::image::Image;
use crate::synth::parts::Out;

/// Parts gone through in one go.
const RUN: usize = 16;

/// A function, in the order of the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    address: Address,
    size: u32,
    /// Where what is said of it begins among all rows: no other's begins there.
    rows: u32,
    n_rows: u32,
    info: u8,
    block: u8,
}

impl SFrames {
    /// The functions in the order of their addresses.
    pub fn index(&self, image: &Image, parallel: bool) -> Vec<Entry> {
        let lists = par::runs("addresses of .sframe", parallel, self.parts.len(), RUN, |run| {
            let parts = &self.parts[run];
            let mut list = Vec::with_capacity(parts.iter().map(|part| part.fdes.len()).sum());
            parts.iter().for_each(|part| self.add(image, part, &mut list));
            list
        });
        let mut list = par::concat("join addresses of .sframe", parallel, lists);
        self.add_plt(image, &mut list);
        let _stretch = trace::stretch("sort addresses of .sframe");
        // No two are equal.
        if list.is_sorted() { list } else { sort::by(list, parallel, Ord::cmp) }
    }

    fn add(&self, image: &Image, part: &Part, list: &mut Vec<Entry>) {
        let object = &image.resolved.objects[part.object.index()];
        let relocs = relocs(image.sections, object, part);
        let mut rows = part.rows as u32;
        for fde in &part.fdes {
            let reloc = fde.reloc.map(|number| &relocs[number as usize]);
            let address = reloc.map_or(Address::ZERO, |reloc| {
                let place = image.place(object, reloc.sym(), reloc.r_addend());
                place.address.wrapping_add(place.addend.cast_unsigned())
            });
            let &Fde { size, n_rows, info, block, .. } = fde;
            list.push(Entry { address, size, rows, n_rows, info, block });
            rows += self.version.head_size() as u32 + fde.rows_size;
        }
    }
}

impl SFrames {
    fn add_plt(&self, image: &Image, list: &mut Vec<Entry>) {
        let head = self.version.head_size() as u32;
        let mut rows = self.plt_rows;
        for function in &self.of_plt {
            let start = match function.table {
                Table::Plt => image.bases.plt,
                Table::PltSec => image.bases.plt_sec,
                Table::Iplt => image.bases.iplt,
            };
            let n_rows = function.rows.len() as u32;
            list.push(Entry {
                address: start + function.offset,
                size: function.size,
                rows,
                n_rows,
                info: function.info(),
                block: function.block,
            });
            rows += head + n_rows * ROW;
        }
    }
}

fn relocs<'s>(sections: &'s Sections, object: &Object<'s>, part: &Part) -> &'s [Rela] {
    let section = sections.get(SectionId(object.section_base + part.shndx));
    sections.relocs(object, part.object.index(), section)
}

pub struct Writer<'w> {
    pub image: &'w Image<'w, 'w>,
    pub table: &'w SFrames,
    pub index: &'w [Entry],
}

impl Writer<'_> {
    /// Writes the bytes from `start` on, which is one of the borders, as the end is. The section is at
    /// `address`.
    pub fn write(&self, address: Address, start: u64, out: &mut [u8]) {
        let mut out = Out { rest: out, format: self.image.format() };
        let end = start + out.rest.len() as u64;
        if start == 0 && end > 0 {
            self.header(&mut out);
        }
        let (first, rows) = (HEADER as u64, self.table.rows_start());
        let size = self.table.version.fde_size() as u64;
        let entry = |at: u64| ((at.clamp(first, rows) - first) / size) as usize;
        let mut is_near = true;
        for number in entry(start)..entry(end) {
            let at = address + first + number as u64 * size;
            let counts_from = if self.table.flags & PC_RELATIVE != 0 { at } else { address };
            is_near &= self.entry(&self.index[number], counts_from, &mut out);
        }
        if !is_near {
            self.image
                .sink
                .error(Cause::TooLarge, "functions are out of reach of .sframe, which counts in 32 bits");
        }
        let parts = &self.table.parts;
        let part = |at: u64| parts.partition_point(|part| rows + part.rows < at);
        for part in &parts[part(start)..part(end)] {
            self.rows(part, &mut out);
        }
        let last = rows + u64::from(self.table.plt_rows);
        if start <= last && last < end {
            self.rows_of_plt(&mut out);
        }
    }

    fn rows_of_plt(&self, out: &mut Out) {
        for function in &self.table.of_plt {
            if self.table.version == Version::Three {
                out.u16(function.rows.len() as u16);
                out.bytes(&[function.info(), 0, function.block]);
            }
            function.row_bytes().for_each(|row| out.bytes(&row));
        }
    }

    fn header(&self, out: &mut Out) {
        let SFrames { version, flags, conventions, n_fdes, n_rows, rows_size, .. } = *self.table;
        out.u16(MAGIC);
        let [fp, ra] = [conventions.fixed_fp, conventions.fixed_ra].map(i8::cast_unsigned);
        out.bytes(&[version as u8, flags, conventions.abi, fp, ra, 0]);
        let index_size = n_fdes * version.fde_size() as u32;
        [n_fdes, n_rows, rows_size, 0, index_size].into_iter().for_each(|number| out.u32(number));
    }

    /// Whether the function is in reach.
    fn entry(&self, entry: &Entry, counts_from: Address, out: &mut Out) -> bool {
        let distance = entry.address.wrapping_sub(counts_from);
        let near = i32::try_from(distance.cast_signed());
        match self.table.version {
            Version::Three => out.u64(distance),
            _ => out.u32(near.unwrap_or(0).cast_unsigned()),
        }
        out.u32(entry.size);
        out.u32(entry.rows);
        match self.table.version {
            Version::One => {
                out.u32(entry.n_rows);
                out.bytes(&[entry.info]);
            }
            Version::Two => {
                out.u32(entry.n_rows);
                out.bytes(&[entry.info, entry.block, 0, 0]);
            }
            Version::Three => return true,
        }
        near.is_ok()
    }

    fn rows(&self, part: &Part, out: &mut Out) {
        let object = &self.image.resolved.objects[part.object.index()];
        let data = object.section_data(part.shndx as usize).unwrap_or(&[]);
        for fde in &part.fdes {
            if self.table.version == Version::Three {
                out.u16(fde.n_rows as u16);
                out.bytes(&[fde.info, fde.kind, fde.block]);
            }
            out.bytes(&data[fde.rows as usize..(fde.rows + fde.rows_size) as usize]);
        }
    }
}
