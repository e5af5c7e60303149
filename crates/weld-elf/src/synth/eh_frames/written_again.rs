//! The records of an object that has changed, written again where they are ([`crate::relink`]).
//!
//! A function that grows has another range in its FDE, and may have an operation of more bytes, for which
//! records have room. What stays as it was is which records there are, in which order, how large they are in
//! the output and what they refer to; then no other record moves. Where functions have moved in their section,
//! the search table has them in another order among themselves, and no others.

use super::{EhFrames, IS_CIE, Planner, Record, padded, put_key, source};
use crate::address::Address;
use crate::arch::class::Class;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::synth::image::Image;

impl Planner<'_, '_> {
    /// What of a frame counts for more than its own bytes: which records are in the output, how large they
    /// are there, and what they refer to: `symbol` tells by which number a symbol was known before, and whether
    /// it may move in its section. (If not, a function is where it was; other addresses are in bytes only.)
    pub fn outline(
        &self,
        object: ObjectId,
        shndx: u32,
        symbol: impl Fn(u32) -> (u32, bool),
        words: &mut Vec<u64>,
    ) {
        let o = &self.objects[object.index()];
        let found = self.functions.sections.objects[object.index()].eh_frames.iter().find(|f| f.0 == shndx);
        let Some((_, frame)) = found else { return };
        let section = self.functions.sections.get(SectionId(o.section_base + shndx));
        let relocs = self.functions.sections.relocs(o, object.index(), section);
        let data = o.section_data(shndx as usize).unwrap_or(&[]);
        let mut is_known = vec![false; frame.cies.len()];
        for fde in &frame.fdes {
            if fde.n_relocs == 0 || !self.functions.has(o, &relocs[fde.first_reloc as usize]) {
                continue;
            }
            if !std::mem::replace(&mut is_known[fde.cie as usize], true) {
                let mut key = Vec::new();
                let cie = &frame.cies[fde.cie as usize];
                put_key(data, relocs, cie, &mut key, |index| symbol(index).0.into());
                words.push(key.len() as u64);
                words.extend(key.chunks(8).map(|bytes| Format::NATIVE.get(bytes)));
            }
            let size = padded(fde.size, self.has_rooms());
            words.extend([size << 32 | u64::from(fde.cie), fde.n_relocs.into()]);
            let mine = &relocs[fde.first_reloc as usize..][..fde.n_relocs as usize];
            for (i, reloc) in mine.iter().enumerate() {
                let (was, moves) = symbol(reloc.sym());
                words.push(u64::from(reloc.kind()) << 32 | u64::from(was));
                // The loader may have to add the place to what is stored.
                let is_distance = o.machine.class(reloc.kind()) == Class::Pc;
                if i == 0 || !is_distance {
                    let is_known = !(i == 0 && is_distance && moves);
                    words.push(if is_known { reloc.r_addend().cast_unsigned() } else { 0 });
                    words.push(reloc.r_offset().wrapping_sub(fde.offset.into()));
                }
            }
        }
    }
}

/// An FDE that is written again.
pub struct Again {
    /// Its offset in the section.
    pub at: u64,
    pub bytes: Vec<u8>,
    /// The function that it describes, and the section in which that lies.
    pub function: Address,
    pub section: u32,
    /// It was of a function at another place.
    pub is_moved: bool,
}

/// Where an FDE says which function it describes, or the lower half of that.
const FUNCTION: std::ops::Range<usize> = 8..12;

impl EhFrames {
    /// The FDEs of the only object, as they are in a section in which there are others, too: `run` are its
    /// bytes from `start` on, where the object's first record is. Offsets in the section, and bytes; `None`
    /// if there are other records.
    pub fn written_again(
        &self,
        image: &Image,
        address: Address,
        (start, run): (u64, &[u8]),
    ) -> Option<Vec<Again>> {
        let Some(span) = self.objects.first() else { return Some(Vec::new()) };
        let word = |at: usize| Some(image.format().get_u32(run.get(at..at.checked_add(4)?)?));
        let frames = &image.sections.objects[span.object.index()].eh_frames;
        let object = &image.resolved.objects[span.object.index()];
        let mut at = 0;
        let mut list = Vec::new();
        for record in self.records(span).iter().filter(|record| record.index & IS_CIE == 0) {
            let (old, size, distance) = loop {
                let (place, size) = (at, word(at)? as usize + 4);
                let distance = word(at + 4).filter(|_| size > 8)?;
                at += size;
                // Not all CIEs are here, and some may be of a kind that is not there elsewhere.
                if distance != 0 {
                    break (place, size, distance);
                }
            };
            let out = u32::try_from(start + old as u64).ok()?;
            let placed = Record { out, cie: (out + 4).checked_sub(distance)?, ..*record };
            let (shndx, frame) = &frames[record.frame as usize];
            let (_, own, first, _) = source(frame, record);
            if padded(own, self.has_rooms) != size as u64 {
                return None;
            }
            let input = image.sections.get(SectionId(object.section_base + shndx));
            let reloc = image.sections.relocs(object, span.object.index(), input).get(first as usize)?;
            let place = image.place(object, reloc.sym(), reloc.r_addend());
            let SymbolPlace::Section(section) =
                object.place(reloc.sym(), object.syms.get(reloc.sym() as usize)?)
            else {
                return None;
            };
            let mut bytes = vec![0; size];
            self.write_object(image, span.object, &[placed], address, out.into(), &mut bytes);
            list.push(Again {
                at: out.into(),
                is_moved: run.get(old + FUNCTION.start..old + FUNCTION.end) != bytes.get(FUNCTION),
                bytes,
                function: place.address.wrapping_add(place.addend as u64),
                section,
            });
        }
        Some(list)
    }
}
