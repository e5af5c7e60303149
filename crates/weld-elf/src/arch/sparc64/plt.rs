//! The procedure linkage table. Loaders write into it: the four entries at its start are theirs, and an entry
//! for a symbol becomes a jump to it once that is known. Before that, an entry has how far it is from the start
//! in `%g1` and goes to the second of those four, which looks the symbol up. So `.plt` can be written to and
//! executed, and there are no words that it jumps through.
//!
//! `.iplt`, for IFUNCs of this output, is code that nobody changes: it loads its word of `.got.plt`.
//!
//! Specification: "SPARC Compliance Definition" 2.4.1, 5P "Procedure Linkage Table (64-bit)".

use weld_common::diag::{Cause, Diagnostic};

use super::code::*;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan};
use crate::arch::words::put_words;

const ENTRY: u64 = 32;
/// The first four entries.
const HEADER: u64 = 4 * ENTRY;
/// Those that a distance of 19 bits reaches. What comes after them would have another form.
const MOST: u32 = 0x8000 - 4;

pub const PLT: Plt =
    Plt { ordinary: Entries { header: HEADER, entry: ENTRY }, align: 256, patched: true, ..Plt::NONE };

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(plan: &Plan, start: u64, out: &mut [u8]) {
    if start == 0 && plan.jump_slots > MOST {
        let text = format!(
            "{} functions of shared objects are called; the PLT of SPARC has entries for {MOST}",
            plan.jump_slots
        );
        plan.sink.push(Diagnostic::error(Cause::RelocationOutOfRange, text));
    }
    for (i, entry) in out.chunks_exact_mut(ENTRY as usize).enumerate() {
        let from_start = start + ENTRY * i as u64;
        if from_start < HEADER {
            entry.fill(0);
            continue;
        }
        // From the second instruction to the second entry.
        let back = ENTRY as i64 - (from_start + 4) as i64;
        put_words::<true>(entry, &[SETHI_G1 | from_start as u32 & 0x3f_ffff, branch(back)]);
        put_words::<true>(&mut entry[8..], &[NOP; 6]);
    }
}

/// `ba,a,pt %xcc` of so far.
const fn branch(distance: i64) -> u32 {
    0x3068_0000 | (distance >> 2) as u32 & 0x7_ffff
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
    let first = First { number: plan.jump_slots, address: plan.iplt };
    for (entry, address, bytes) in plt::entries(ENTRY, first, start, out) {
        let distance = plan.word(entry).wrapping_sub(address + 4) as i64;
        put_words::<true>(
            bytes,
            &[
                SETHI_G1 | high_of_signed(distance),
                0x8b41_4000,                           // rd %pc, %g5
                0x8218_6000 | low_of_signed(distance), // xor %g1, …, %g1
                load(G1, 5, G1),
                0x81c0_6000, // jmp %g1
                NOP,
                NOP,
                NOP,
            ],
        );
    }
}
