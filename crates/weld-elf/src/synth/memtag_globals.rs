//! `.memtag.globals.dynamic` (`DT_AARCH64_MEMTAG_GLOBALS`): which memory the loader is to tag, each variable
//! apart from its neighbours.
//!
//! In the order of addresses, each variable is a number in ULEB128: its distance from the end of the one
//! before in granules of 16 bytes, above three bits with its size in granules. Where that is 8 or more the
//! bits are 0, and a second number has the size less one.
//!
//! How large that is depends on addresses. So room is made once everything has its address, and if that was
//! too little there is another round. The room never shrinks; the dynamic section says how much of it counts.
//!
//! Specification: "Memtag Extension to ELF for the Arm 64-bit Architecture", "Encoding of
//! SHT_AARCH64_MEMTAG_GLOBALS_DYNAMIC".

use super::image::Image;
use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::put_uleb;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::live::Live;
use crate::symbols::tagged::Tagged;
use crate::symbols::{Symbols, symbol_flags};
use crate::wording::shown;

/// What has one tag, in bytes.
const GRANULE: u64 = 16;
/// Bits of a distance that have the size.
const SIZE_BITS: u32 = 3;

/// Whether the output has any of the variables.
pub fn are_any(tagged: &Tagged, live: &Live, objects: &[Object], symbols: &Symbols) -> bool {
    let here = |id: &&SymbolId| match symbols[**id].kind() {
        symbol_flags::DEFINED => live.contains(SectionId(symbols[**id].section)),
        kind => kind == symbol_flags::COMMON,
    };
    let local_here = |(object, index): &&(ObjectId, u32)| {
        let object = &objects[object.index()];
        match object.place(*index, &object.syms[*index as usize]) {
            SymbolPlace::Section(shndx) => live.contains(SectionId(object.section_base + shndx)),
            _ => false,
        }
    };
    tagged.globals().iter().any(|id| here(&id)) || tagged.locals().iter().any(|local| local_here(&local))
}

/// The variables of the output: address, size and name of each, by address.
fn variables(image: &Image, tagged: &Tagged) -> Vec<(u64, u64, String)> {
    let mut list = Vec::new();
    let name = |name: &[u8]| shown(image.options, name).into_owned();
    for &id in tagged.globals() {
        let is_here = matches!(image.symbols[id].kind(), symbol_flags::DEFINED | symbol_flags::COMMON);
        let Some((definition, _)) = image.definition(id).filter(|_| is_here) else { continue };
        let record = image.global_record(id, definition);
        let in_image = image.symbols[id].kind() == symbol_flags::COMMON
            || image.live.contains(SectionId(image.symbols[id].section));
        if in_image {
            list.push((record.value, record.size, name(image.resolved.names.get(id).name)));
        }
    }
    for &(object, index) in tagged.locals() {
        let object = &image.resolved.objects[object.index()];
        let symbol = &object.syms[index as usize];
        let place = image.local_place(object, index, 0);
        if place.flags & symbol_flags::KIND == symbol_flags::DEFINED && !place.dead {
            let record = image.local_record(object, index, symbol);
            list.push((record.value, record.size, name(object.symbol_name(index))));
        }
    }
    list.sort_unstable();
    list
}

/// The bytes of the section. What cannot be said in them is told to `report`.
pub fn encode(image: &Image, tagged: &Tagged, mut report: impl FnMut(String)) -> Vec<u8> {
    let variables = variables(image, tagged);
    let mut ranges: Vec<(u64, u64)> = Vec::with_capacity(variables.len());
    for (address, size, name) in variables {
        if !address.is_multiple_of(GRANULE) || !size.is_multiple_of(GRANULE) || size == 0 {
            report(format!(
                "'{name}' is to be tagged, but lies at {address:#x} and has {size:#x} bytes: \
                 both have to be multiples of 16, and the size not 0"
            ));
            continue;
        }
        match ranges.last_mut() {
            // Another name for it, or for a part.
            Some((_, end)) if address < *end => *end = (*end).max(address.saturating_add(size)),
            _ => ranges.push((address, address.saturating_add(size))),
        }
    }
    descriptors(&ranges)
}

/// Encodes ranges of memory that are in order and lie apart.
fn descriptors(ranges: &[(u64, u64)]) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for &(start, end) in ranges {
        let distance = ((start - last) / GRANULE) << SIZE_BITS;
        let size = (end - start) / GRANULE;
        match size < 1 << SIZE_BITS {
            true => put_uleb(&mut bytes, distance | size),
            false => {
                put_uleb(&mut bytes, distance);
                put_uleb(&mut bytes, size - 1);
            }
        }
        last = end;
    }
    bytes
}

pub struct Section;

impl Synthetic for Section {
    /// Layout finds out how large it is.
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let kind = sizes.plan.facts.mode.facts().tagging.as_ref()?.descriptors;
        let header = Header { name: b".memtag.globals.dynamic", kind, flags: SHF_ALLOC, entsize: 0 };
        sizes.plan.has_tagged.then(|| Spec::own(header, 4, 1))?
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        let bytes = &at.contents().memtag_globals;
        let (head, rest) = out.split_at_mut(bytes.len().min(out.len()));
        head.copy_from_slice(&bytes[..head.len()]);
        rest.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a loader reads.
    fn decode(bytes: &[u8]) -> Vec<(u64, u64)> {
        let mut at = 0;
        let mut next = || {
            let (mut value, mut shift) = (0u64, 0);
            loop {
                let byte = *bytes.get(at)?;
                at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return Some(value);
                }
            }
        };
        let (mut list, mut end) = (Vec::new(), 0);
        while let Some(value) = next() {
            let start = end + (value >> 3) * 16;
            let size = if value & 7 != 0 { value & 7 } else { next().unwrap() + 1 };
            end = start + size * 16;
            list.push((start, end));
        }
        list
    }

    #[test]
    fn descriptors_read_back() {
        assert_eq!(descriptors(&[]), []);
        // The example of the specification.
        assert_eq!(descriptors(&[(0x100, 0x120), (0x120, 0x140)]), [0x82, 0x01, 2]);
        let list =
            [(0x10, 0x20), (0x20, 0x90), (0x90, 0x110), (0x1000, 0x10_0000), (1 << 40, (1 << 40) + 16)];
        assert_eq!(decode(&descriptors(&list)), list);
    }
}
