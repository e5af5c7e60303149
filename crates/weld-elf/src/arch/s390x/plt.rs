//! The entries through which IFUNCs of a static executable are called.
//!
//! An entry loads the word of `.got.plt` that start-up code has filled (`R_390_IRELATIVE`), and jumps there. It is as long as
//! the ABI's, which also have a lazy part.
//!
//! Specification: s390x ABI supplement, "Procedure Linkage Table".

use super::FACTS;
use crate::arch::facts::{Entries, Plt};
use crate::synth::image::Image;

/// Bytes of an entry.
const ENTRY: u64 = 32;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: ENTRY, entry: ENTRY },
    retpolines: None,
    guarded: None,
    anywhere: None,
    align: 16,
    reserved_words: 3,
};

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(image: &Image, start: u64, out: &mut [u8]) {
    let header = image.plt.header_size(&FACTS, image.slots.jump_slots);
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    head.fill(FACTS.filler);
    let first = (start.saturating_sub(header) / ENTRY) as u32;
    for (i, entry) in (first..).zip(entries.chunks_exact_mut(ENTRY as usize)) {
        let address = image.bases.plt + header + ENTRY * u64::from(i);
        put_entry(entry, image.got_plt_address(i).wrapping_sub(address) as i64);
    }
}

/// An entry whose word is this far from it: even, and within reach of an image of less than 4 GiB.
fn put_entry(entry: &mut [u8], distance: i64) {
    entry.fill(FACTS.filler);
    // larl %r1,WORD; lg %r1,0(%r1); br %r1
    entry[..14].copy_from_slice(&[0xc0, 0x10, 0, 0, 0, 0, 0xe3, 0x10, 0x10, 0, 0, 0x04, 0x07, 0xf1]);
    entry[2..6].copy_from_slice(&((distance >> 1) as i32).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_loads_its_word_and_jumps() {
        let mut entry = [0; ENTRY as usize];
        put_entry(&mut entry, 0x2468);
        assert_eq!(entry[..6], [0xc0, 0x10, 0, 0, 0x12, 0x34]);
        assert_eq!(entry[12..], [&[0x07, 0xf1][..], &[0x07; 18]].concat());
    }
}
