//! The procedure linkage table: a header that calls the loader, and an entry for each symbol, which jumps to what its word
//! of `.got.plt` has, and leaves the word's address in `r14`. Before a function is bound, that leads to the header, which
//! makes of it the number of the entry.
//!
//! The first words of `.got.plt` are the loader's: the address of `.dynamic`, that of its function, and what it knows the
//! image by.
//!
//! Specification: "Qualcomm Hexagon Application Binary Interface User Guide", 11.7 "Procedure linkage table".

use super::code::add_pc;
use crate::address::Address;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan};
use crate::arch::words::put_words;

const HEADER: u64 = 32;
const ENTRY: u64 = 16;

pub const PLT: Plt =
    Plt { ordinary: Entries { header: HEADER, entry: ENTRY }, align: 16, reserved_words: 4, ..Plt::NONE };

const R14: u32 = 14;
const R28: u32 = 28;

/// From how far the entry's word is after the fourth one to its number; then the loader's two words, and a jump there.
/// What is never executed fills the last word.
const CALL_LOADER: [u32; 6] = [
    0xe29c_420e, // { r14 -= add(r28, #16)
    0x919c_404f, //   r15 = memw(r28 + #8)
    0x919c_c03c, //   r28 = memw(r28 + #4) }
    0x8c0e_420e, // { r14 = asr(r14, #2)
    0x529c_c000, //   jumpr r28 }
    0x5400_db0c, // trap0(#0xdb)
];

/// `r28 = memw(r14)`, and a jump there.
const GO_ON: [u32; 2] = [0x918e_c01c, 0x529c_c000];

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(plan: &Plan, start: u64, out: &mut [u8]) {
    let header = plan.header_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start).min(out.len() as u64) as usize);
    if !head.is_empty() {
        // The header is two entries long, and may be cut there.
        let mut words = [0; HEADER as usize];
        put_words::<false>(&mut words, &add_pc(R28, distance(plan.got_plt, plan.plt)));
        put_words::<false>(&mut words[8..], &CALL_LOADER);
        head.copy_from_slice(&words[start as usize..start as usize + head.len()]);
    }
    let first = First { number: 0, address: plan.plt + header };
    for (i, address, entry) in plt::entries(ENTRY, first, start.saturating_sub(header), entries) {
        put_words::<false>(entry, &add_pc(R14, distance(plan.word(i), address)));
        put_words::<false>(&mut entry[8..], &GO_ON);
    }
}

fn distance(to: Address, from: Address) -> u32 {
    to.wrapping_sub(from) as u32
}

/// The word of an entry starts as the address of the header.
pub fn unbound(plan: &Plan) -> Address {
    plan.plt
}
