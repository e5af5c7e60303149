//! The procedure linkage table: a header that calls the loader, and an entry for each symbol that jumps
//! through its word of `.got.plt`; `.iplt` has such entries for IFUNCs of this output. An entry leaves in t1
//! where it is, from which the header computes the offset of its word.
//!
//! Specification: none; the loaders of glibc and musl expect the header to call them with the module in t0
//! and the offset in t1.

use weld_common::diag::Cause;

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan};

/// Instructions of the header, and of an entry.
const HEADER: usize = 8;
const ENTRY: usize = 4;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: 4 * HEADER as u64, entry: 4 * ENTRY as u64 },
    align: 16,
    reserved_words: 2,
    ..Plt::NONE
};

/// The header, if it lies at `address` and `.got.plt` at `table`.
fn header(wide: bool, address: Address, table: Address) -> [u32; HEADER] {
    let distance = table.wrapping_sub(address) as i64;
    let (word, shift) = if wide { (8, 1) } else { (4, 2) };
    [
        pcaddu12i(T2, distance),
        // Where the entry's call ends, less where the header begins, which its word holds.
        sub(wide, T1, T1, T3),
        load(wide, T3, T2, distance),
        addi(wide, T1, T1, -(4 * HEADER as i64 + 12)),
        addi(wide, T0, T2, distance),
        shift_right(wide, T1, T1, shift),
        load(wide, T0, T0, word),
        jump_register(ZERO, T3, 0),
    ]
}

/// An entry at `address` that jumps through `word`.
fn entry(wide: bool, address: Address, word: Address) -> [u32; ENTRY] {
    let distance = word.wrapping_sub(address) as i64;
    [pcaddu12i(T3, distance), load(wide, T3, T3, distance), jump_register(T1, T3, 0), NOP]
}

fn put_code(out: &mut [u8], code: &[u32]) {
    for (bytes, code) in out.chunks_exact_mut(4).zip(code) {
        bytes.copy_from_slice(&code.to_le_bytes());
    }
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(wide: bool, plan: &Plan, start: u64, out: &mut [u8]) {
    let head_size = plan.header_size();
    let (head, entries) = out.split_at_mut(head_size.saturating_sub(start) as usize);
    if !head.is_empty() {
        put_code(head, &header(wide, plan.plt, plan.got_plt));
    }
    put_entries(
        wide,
        plan,
        First { number: 0, address: plan.plt + head_size },
        start.saturating_sub(head_size),
        entries,
    );
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt(wide: bool, plan: &Plan, start: u64, out: &mut [u8]) {
    put_entries(wide, plan, First { number: plan.jump_slots, address: plan.iplt }, start, out);
}

fn put_entries(wide: bool, plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    for (i, address, out) in plt::entries(4 * ENTRY as u64, first, start, out) {
        let word = plan.word(i);
        let distance = word.wrapping_sub(address).wrapping_add(0x800) as i64;
        if wide && i32::try_from(distance).is_err() {
            plan.sink.error(
                Cause::RelocationOutOfRange,
                format!("the PLT entry at {address:#x} does not reach .got.plt at {word:#x}"),
            );
        }
        put_code(out, &entry(wide, address, word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_load_their_word_and_jump() {
        // pcaddu12i $t3, 2; ld.d $t3, $t3, -2048; jirl $t1, $t3, 0; nop
        assert_eq!(
            entry(true, Address::new(0x1_0020), Address::new(0x1_1820)),
            [0x1c00_004f, 0x28e0_01ef, 0x4c00_01ed, NOP]
        );
        // ld.w
        assert_eq!(entry(false, Address::new(0x1_0020), Address::new(0x1_1824))[1], 0x28a0_11ef);
    }

    #[test]
    fn the_header_calls_the_loader() {
        // pcaddu12i $t2; sub.d $t1, $t1, $t3; ld.d $t3, $t2, …; addi.d $t1, $t1, -44; addi.d $t0, $t2, …;
        // srli.d $t1, $t1, 1; ld.d $t0, $t0, 8; jr $t3
        let wanted = [
            0x1c00_004e,
            0x0011_bdad,
            0x28c0_41cf,
            0x02ff_51ad,
            0x02c0_41cc,
            0x0045_05ad,
            0x28c0_218c,
            0x4c00_01e0,
        ];
        assert_eq!(header(true, Address::new(0x1_0000), Address::new(0x1_2010)), wanted);
        assert_eq!(
            header(false, Address::new(0x1_0000), Address::new(0x1_2010))[5..7],
            [0x0044_89ad, 0x2880_118c]
        );
    }
}
