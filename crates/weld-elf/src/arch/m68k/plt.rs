//! The procedure linkage table: a header that calls the loader, and an entry for each symbol, which jumps through its
//! word of `.got.plt`, as far from itself as that is. Before a function is bound, that leads to the rest of the entry,
//! which puts on the stack where in `.rela.plt` its relocation is, and goes to the header.
//!
//! Instructions with 32 bits of a distance are those of the 68020 and later. They count from two bytes in front of it.
//!
//! Specification: "System V ABI, Motorola 68000 Processor Family Supplement", 5 "Procedure Linkage Table"; GNU's code,
//! which loaders agree with, does it by distances throughout.

use crate::address::Address;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan};

/// Bytes of an entry, and of the header.
const ENTRY: u64 = 20;
/// Where in an entry the part begins that calls the loader.
const LAZY: u64 = 8;
/// Bytes of a relocation in `.rela.plt`.
const RELOCATION: u32 = 12;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: ENTRY, entry: ENTRY },
    align: 4,
    // The loader's two words are in `.got`.
    reserved_words: 0,
    ..Plt::NONE
};

/// `jmp ([%pc, …])`
const JUMP: [u8; 4] = [0x4e, 0xfb, 0x01, 0x71];
/// `move.l (%pc, …), -(%sp)`
const PUSH_WORD: [u8; 4] = [0x2f, 0x3b, 0x01, 0x70];
/// `move.l #…, -(%sp)`
const PUSH: [u8; 2] = [0x2f, 0x3c];
/// `bra.l …`
const BRANCH: [u8; 2] = [0x60, 0xff];

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(plan: &Plan, start: u64, out: &mut [u8]) {
    let header = plan.header_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        head.fill(0);
        head[..4].copy_from_slice(&PUSH_WORD);
        put(head, 4, distance(plan.got_base + 4, plan.plt + 2));
        head[8..12].copy_from_slice(&JUMP);
        put(head, 12, distance(plan.got_base + 8, plan.plt + 10));
    }
    let first = First { number: 0, address: plan.plt + header };
    for (i, address, entry) in plt::entries(ENTRY, first, start.saturating_sub(header), entries) {
        put_jump(entry, plan.word(i), address);
        entry[8..10].copy_from_slice(&PUSH);
        put(entry, 10, RELOCATION * i);
        entry[14..16].copy_from_slice(&BRANCH);
        put(entry, 16, distance(plan.plt, address + 16));
    }
}

/// An entry's jump through its word.
fn put_jump(entry: &mut [u8], word: Address, address: Address) {
    entry[..4].copy_from_slice(&JUMP);
    put(entry, 4, distance(word, address + 2));
}

fn distance(to: Address, from: Address) -> u32 {
    to.wrapping_sub(from) as u32
}

fn put(out: &mut [u8], at: usize, value: u32) {
    out[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// The word of an entry starts as the address of the part that calls the loader.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    plan.plt + plan.header_size() + ENTRY * u64::from(entry) + LAZY
}
