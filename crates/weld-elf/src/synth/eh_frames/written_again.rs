//! The records of an object that has changed, written again where they are ([`crate::relink`]).
//!
//! Each object has a run of records that depends on no other object, with room at its end, if a later link is
//! to write it again. Then any function of it may have another frame, may be new, or gone; only how large all
//! of them are counts, and what they ask of the rest of the link: which routines, tables of exceptions, and
//! with gc by whom.

use super::{EhFrames, Planner, put_key};
use crate::address::Address;
use crate::arch::class::Class;
use crate::ids::*;
use crate::resolve::comdat;
use crate::synth::image::Image;

/// What a symbol of an object is known by.
pub struct Target {
    /// From one link to the next.
    pub key: u64,
    /// It is local, and in a section of the image, or something in the image stands in for it.
    pub is_here: bool,
}

impl Planner<'_, '_> {
    /// What of a frame counts for more than its own bytes: what others are asked for. With gc that counts by
    /// function; at fixed addresses (`is_fixed`) the loader has nothing to add. `target` knows symbols.
    pub fn outline(
        &self,
        object: ObjectId,
        shndx: u32,
        (target, by_function, is_fixed): (impl Fn(u32) -> Target, bool, bool),
        words: &mut Vec<u64>,
    ) {
        let o = &self.objects[object.index()];
        let found = self.functions.sections.objects[object.index()].eh_frames.iter().find(|f| f.0 == shndx);
        let Some((_, frame)) = found else { return };
        let section = self.functions.sections.get(SectionId(o.section_base + shndx));
        let relocs = self.functions.sections.relocs(o, object.index(), section);
        let data = o.section_data(shndx as usize).unwrap_or(&[]);
        let mut is_known = vec![false; frame.cies.len()];
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for fde in &frame.fdes {
            if fde.n_relocs == 0 || !self.functions.has(o, &relocs[fde.first_reloc as usize]) {
                continue;
            }
            let is_first = !std::mem::replace(&mut is_known[fde.cie as usize], true);
            let cie = &frame.cies[fde.cie as usize];
            // Of those that refer to nothing, or to a pointer that is the last object's, nobody has to know.
            let of_cie = &relocs[cie.first_reloc as usize..][..cie.n_relocs as usize];
            let is_plain = of_cie.iter().all(|reloc| match o.machine.class(reloc.kind()) {
                Class::Pc => comdat::is_pointer(o.symbol_name(reloc.sym())),
                _ => is_fixed && target(reloc.sym()).is_here,
            });
            if is_first && (by_function || !is_plain) {
                let mut key = Vec::new();
                put_key(data, relocs, cie, &mut key, |index| target(index).key);
                keys.push(key);
            }
            let mine = &relocs[fde.first_reloc as usize..][..fde.n_relocs as usize];
            if by_function {
                words.extend([u64::from(fde.cie), u64::from(fde.n_relocs)]);
            }
            for (i, reloc) in mine.iter().enumerate() {
                let Target { key, is_here } = target(reloc.sym());
                // The loader may have to add the place to what is stored.
                let is_distance = o.machine.class(reloc.kind()) == Class::Pc;
                if !by_function && (is_distance && (i == 0 || is_here) || is_fixed && is_here) {
                    continue;
                }
                words.extend([u64::from(reloc.kind()), key]);
                if !is_distance {
                    words.push(reloc.r_addend().cast_unsigned());
                    words.push(reloc.r_offset());
                }
            }
        }
        // In which order they are does not count.
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            words.push(key.len() as u64);
            words.extend(key.chunks(8).map(|bytes| crate::elf::Format::NATIVE.get(bytes)));
        }
    }
}

/// The records of an object, written again.
pub struct Again {
    /// With their room.
    pub bytes: Vec<u8>,
    /// Each function with the address of its FDE, in the order of the object.
    pub functions: Vec<(Address, Address)>,
}

impl EhFrames {
    /// Those of the only object, whose first one is to be at `address`; `None` if there are none.
    pub fn written_again(&self, image: &Image, address: Address) -> Option<Again> {
        let span = self.objects.first()?;
        let mut bytes = vec![0; self.end(0) as usize];
        self.write_object(image, span.object, (self.records(span), self.end(0)), address, 0, &mut bytes);
        let mut functions = Vec::new();
        self.add_to_table(image, address, span, &mut functions);
        Some(Again { bytes, functions })
    }
}
