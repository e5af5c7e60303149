//! `.relr.dyn` (`DT_RELR`, `SHT_RELR`): relative relocations as addresses and bitmaps.
//!
//! A word with its lowest bit clear is the address of a place to relocate and moves the base to
//! the word after it. A word with its lowest bit set is a bitmap: bit `i` of the others (63, or 31 where
//! words have 32 bits) stands for the word `i - 1` words after the base, and moves the base on by as many
//! words. Source: gABI, "Relative Relocation Table". Addends are in place.

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::elf::{SHF_ALLOC, SHT_ANDROID_RELR, SHT_RELR};

use super::rela;
use crate::layout::settle::{Adaptive, resize};
use crate::layout::{ChunkKind, Layout};
use crate::live::SectionOwners;
use crate::live::dyn_relocs::{DynKind, DynReloc, DynRelocs};
use crate::resolve::Resolved;
use crate::sections::Sections;

/// What a bitmap in a word of so many bytes covers, in bytes.
fn span(word: u64) -> u64 {
    (8 * word - 1) * word
}

/// Encodes addresses of places, ascending and even, as the section's words of `word` bytes.
///
/// A repeated address is encoded once: applying it twice would add the load base twice.
///
/// # Panics
/// If an address is odd or the order is not ascending: the caller keeps odd places in `.rela.dyn`.
pub fn encode(offsets: &[u64], word: u64) -> Vec<u64> {
    let mut words = Vec::new();
    let mut rest = offsets;
    while let Some((&first, mut tail)) = rest.split_first() {
        assert!(first & 1 == 0, "odd address {first:#x} in .relr.dyn");
        while tail.first() == Some(&first) {
            tail = &tail[1..];
        }
        words.push(first);
        let mut base = first.wrapping_add(word);
        loop {
            let (bitmap, taken) = collect_bitmap(base, tail, word);
            if bitmap == 0 {
                break;
            }
            words.push(bitmap << 1 | 1);
            tail = &tail[taken..];
            base = base.wrapping_add(span(word));
        }
        if let Some(&next) = tail.first() {
            assert!(next > first, "addresses in .relr.dyn not ascending");
        }
        rest = tail;
    }
    words
}

/// The bitmap of the addresses at the head of `offsets` that it can express, and their number.
fn collect_bitmap(base: u64, offsets: &[u64], word: u64) -> (u64, usize) {
    let mut bitmap = 0u64;
    let mut taken = 0;
    for &offset in offsets {
        // An address below the base (an overlapping place) wraps and ends the bitmap.
        let distance = offset.wrapping_sub(base);
        if distance >= span(word) || !distance.is_multiple_of(word) {
            break;
        }
        bitmap |= 1 << (distance / word);
        taken += 1;
    }
    (bitmap, taken)
}

/// The addresses that the words (of `size` bytes) of a section stand for; `None` if it starts with a bitmap.
pub fn decode(words: &[u64], size: u64) -> Option<Vec<u64>> {
    let mut offsets = Vec::new();
    let mut base = None;
    for &word in words {
        if word & 1 == 0 {
            offsets.push(word);
            base = Some(word.wrapping_add(size));
        } else {
            let start = base?;
            for bit in (0..8 * size - 1).filter(|bit| word >> (bit + 1) & 1 != 0) {
                offsets.push(start.wrapping_add(bit * size));
            }
            base = Some(start.wrapping_add(span(size)));
        }
    }
    Some(offsets)
}

/// What is packed in one table, while input sections and chunks still have offsets.
pub struct Packed<'c, 'a> {
    /// The table, and what is packed there.
    pub table: ChunkKind,
    pub kind: DynKind,
    pub relocs: &'c DynRelocs,
    /// Those that stay in `.rela.dyn`.
    pub far: &'c [DynReloc],
    /// How many there are, those of the GOT included.
    pub count: u64,
    pub got_words: u32,
    /// Bytes of each of those.
    pub slot: u64,
    pub resolved: &'c Resolved<'a>,
    pub owners: &'c SectionOwners,
}

/// The section grows until it holds what the addresses ask for. It never shrinks, so that ends.
impl<'l> Adaptive<'l> for Packed<'_, '_> {
    fn name(&self) -> &str {
        if self.kind == DynKind::Signed { ".relr.auth.dyn" } else { ".relr.dyn" }
    }

    fn adapt(&mut self, layout: &mut Layout<'l>, sections: &mut Sections<'l>) -> bool {
        let word = layout.format.word();
        let Some((chunk, own)) = layout.chunk_with_id(self.table) else { return false };
        let size = encode(&self.addresses(layout, sections), word).len() as u64 * word;
        let grows = size > own.size;
        if grows {
            resize(layout, sections, chunk, size);
        }
        grows
    }
}

impl Packed<'_, '_> {
    fn addresses(&self, layout: &Layout, sections: &Sections) -> Vec<u64> {
        let mut list = Vec::with_capacity(self.count as usize);
        let inputs = rela::Inputs { resolved: self.resolved, sections, owners: self.owners };
        let packed = |r: &_| inputs.has_packed(self.kind, self.far, r);
        for reloc in self.relocs.iter().filter(|reloc| packed(reloc)) {
            let object = self.owners.object(reloc.section);
            let section = sections.get(reloc.section);
            let relocs = sections.relocs(&self.resolved.objects[object.index()], object.index(), section);
            let Some(out) = layout.out_of(section.bin()) else { continue };
            let offset = section
                .offset()
                .wrapping_add(sections.output_offset(reloc.section, relocs[reloc.index()].r_offset()));
            list.push(layout[out].address.wrapping_add(offset).get());
        }
        if let Some(chunk) = layout.chunk(ChunkKind::Got).filter(|_| self.got_words > 0) {
            let base = layout[chunk.out].address + chunk.offset();
            // Which words are relative does not change the size by more than a few bitmaps; take all.
            list.extend((0..u64::from(self.got_words)).map(|word| (base + self.slot * word).get()));
        }
        list.sort_unstable();
        list
    }
}

pub struct Section;

impl Synthetic for Section {
    /// At least one word, two if there is any bitmap; layout finds out.
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let word = sizes.format().word();
        let kind = if sizes.options.relocs.android_relr { SHT_ANDROID_RELR } else { SHT_RELR };
        let header = Header { name: b".relr.dyn", kind, flags: SHF_ALLOC, entsize: word };
        (sizes.plan.counts.relr > 0).then(|| Spec::own(header, word, word))?
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at, &at.contents().relr_words, out);
    }
}

/// Those of pointers that the loader signs.
pub struct Signed;

impl Synthetic for Signed {
    /// As [`Section`].
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let kind = sizes.plan.facts.mode.facts().dynamic.signed?.packed;
        let word = sizes.format().word();
        let header = Header { name: b".relr.auth.dyn", kind, flags: SHF_ALLOC, entsize: word };
        (sizes.plan.counts.signed > 0).then(|| Spec::own(header, word, word))?
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        write(at, &at.contents().signed_words, out);
    }
}

fn write(at: &At, words: &[u64], out: &mut [u8]) {
    // A word of 1 is an empty bitmap: what is left over packs nothing.
    let words = words.iter().copied().chain(std::iter::repeat(1));
    for (word, bytes) in words.zip(out.chunks_exact_mut(at.format().word() as usize)) {
        at.format().put(bytes, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(offsets: &[u64]) -> Vec<u64> {
        let words = encode(offsets, 8);
        assert_eq!(decode(&words, 8).unwrap(), offsets);
        words
    }

    #[test]
    fn runs_become_bitmaps() {
        assert_eq!(round_trip(&[]), []);
        assert_eq!(round_trip(&[0x1000]), [0x1000]);
        assert_eq!(round_trip(&[0x1000, 0x1008, 0x1018]), [0x1000, 0b1011]);
        let run: Vec<u64> = (0..1 + 63 * 2).map(|i| 0x2000 + i * 8).collect();
        assert_eq!(round_trip(&run), [0x2000, u64::MAX, u64::MAX]);
    }

    #[test]
    fn words_of_32_bits() {
        let run: Vec<u64> = (0..1 + 31 + 2).map(|i| 0x2000 + i * 4).collect();
        let words = encode(&run, 4);
        assert_eq!(words, [0x2000, 0xffff_ffff, 0b111]);
        assert_eq!(decode(&words, 4).unwrap(), run);
    }

    #[test]
    fn edges_of_a_bitmap() {
        let last = 0x1000 + 8 + 62 * 8;
        assert_eq!(round_trip(&[0x1000, last]), [0x1000, 1 << 63 | 1]);
        // One word further only a new address can say it.
        assert_eq!(round_trip(&[0x1000, last + 8]), [0x1000, last + 8]);
        assert_eq!(round_trip(&[0x1000, 0x1008, last + 8]), [0x1000, 3, 3]);
    }

    #[test]
    fn other_phases_and_overlaps() {
        round_trip(&[0x1000, 0x1008, 0x1014, 0x101c, 0x1020, 0x1022]);
        round_trip(&[0, 2, 4, 6, 8, 10, 12]);
        round_trip(&[u64::MAX - 15, u64::MAX - 7, u64::MAX - 1]);
    }

    #[test]
    fn repeated_addresses_count_once() {
        let words = encode(&[0x10, 0x10, 0x18, 0x18, 0x40, 0x41 + 1, 0x42], 8);
        assert_eq!(decode(&words, 8).unwrap(), [0x10, 0x18, 0x40, 0x42]);
    }

    #[test]
    fn random_sets() {
        let mut state = 1u64;
        for density in [2, 9, 100, 5000] {
            let mut offset = 0;
            let offsets: Vec<u64> = (0..2000)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    offset += 2 + (state >> 33) % density * 2 * if state >> 62 == 0 { 1 } else { 4 };
                    offset
                })
                .collect();
            round_trip(&offsets);
        }
    }

    #[test]
    fn bitmap_first_is_refused() {
        assert_eq!(decode(&[3], 8), None);
    }

    #[test]
    #[should_panic(expected = "odd address")]
    fn odd_addresses_are_the_callers_error() {
        encode(&[0x1001], 8);
    }
}
