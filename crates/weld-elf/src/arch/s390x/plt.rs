//! The procedure linkage table: a header that calls the loader, and an entry for each symbol, which loads its
//! word of `.got.plt` and jumps there. Before a function is bound, that leads to the rest of the entry, which
//! tells the header where in `.rela.plt` its relocation is. `.iplt` has entries for IFUNCs of this output,
//! without that rest.
//!
//! Specification: s390x ABI supplement, "Procedure Linkage Table".

use super::FACTS;
use crate::address::Address;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan};

/// Bytes of an entry, and of the header.
const ENTRY: u64 = 32;
/// Where in an entry the part begins that calls the loader.
const LAZY: u64 = 14;
/// Bytes of a relocation in `.rela.plt`.
const RELOCATION: u32 = 24;

pub const PLT: Plt = Plt { ordinary: Entries { header: ENTRY, entry: ENTRY }, align: 16, ..Plt::NONE };

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(plan: &Plan, start: u64, out: &mut [u8]) {
    let header = plan.header_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        put_header(head, plan.got.wrapping_sub(plan.plt) as i64);
    }
    let table = plan.plt + header;
    for (i, address, entry) in
        plt::entries(ENTRY, First { number: 0, address: table }, start.saturating_sub(header), entries)
    {
        put_entry(entry, plan.word(i).wrapping_sub(address) as i64);
        put_lazy_part(entry, plan.plt.wrapping_sub(address) as i64, RELOCATION * i);
    }
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
    for (i, address, entry) in
        plt::entries(ENTRY, First { number: plan.jump_slots, address: plan.iplt }, start, out)
    {
        put_entry(entry, plan.word(i).wrapping_sub(address) as i64);
    }
}

/// Stores a distance, which is even, and within reach of an image of less than 4 GiB.
fn put_halved(out: &mut [u8], at: usize, distance: i64) {
    out[at..at + 4].copy_from_slice(&((distance >> 1) as i32).to_be_bytes());
}

/// The header, if `.got`, whose first words are the loader's, is this far from it.
#[rustfmt::skip]
fn put_header(out: &mut [u8], distance: i64) {
    out.copy_from_slice(&[
        // stg %r1,56(%r15): the offset of the relocation
        0xe3, 0x10, 0xf0, 0x38, 0, 0x24,
        // larl %r1,.got
        0xc0, 0x10, 0, 0, 0, 0,
        // mvc 48(8,%r15),8(%r1): what the loader knows this module by
        0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08,
        // lg %r1,16(%r1); br %r1
        0xe3, 0x10, 0x10, 0x10, 0, 0x04, 0x07, 0xf1,
        0x07, 0x07, 0x07, 0x07, 0x07, 0x07,
    ]);
    put_halved(out, 8, distance - 6);
}

/// An entry whose word is this far from it.
fn put_entry(entry: &mut [u8], distance: i64) {
    entry.fill(FACTS.filler);
    // larl %r1,WORD; lg %r1,0(%r1); br %r1
    entry[..14].copy_from_slice(&[0xc0, 0x10, 0, 0, 0, 0, 0xe3, 0x10, 0x10, 0, 0, 0x04, 0x07, 0xf1]);
    put_halved(entry, 2, distance);
}

/// What calls the loader, if the header is this far from the entry.
fn put_lazy_part(entry: &mut [u8], header: i64, relocation: u32) {
    // basr %r1,%r0; lgf %r1,12(%r1); jg HEADER
    entry[14..24].copy_from_slice(&[0x0d, 0x10, 0xe3, 0x10, 0x10, 0x0c, 0, 0x14, 0xc0, 0xf4]);
    put_halved(entry, 24, header - 22);
    entry[28..].copy_from_slice(&relocation.to_be_bytes());
}

/// The word of an entry bound by name starts as the address of its lazy part.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    let header = plan.header_size();
    plan.plt + header + ENTRY * u64::from(entry) + LAZY
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
        put_lazy_part(&mut entry, -0x40, 24);
        assert_eq!(entry[12..16], [0x07, 0xf1, 0x0d, 0x10]);
        assert_eq!(entry[22..], [0xc0, 0xf4, 0xff, 0xff, 0xff, 0xd5, 0, 0, 0, 24]);
    }

    #[test]
    fn the_header_counts_from_its_own_instruction() {
        let mut header = [0; ENTRY as usize];
        put_header(&mut header, 0x1006);
        assert_eq!(header[6..12], [0xc0, 0x10, 0, 0, 0x08, 0]);
    }
}
