//! The procedure linkage table: a header that calls the loader, and an entry for each symbol that jumps
//! through its word of `.got.plt`; `.iplt` has such entries for IFUNCs of this output. An entry leaves in t1
//! where it is, from which the header computes the offset of its word.
//!
//! Where indirect branches have to end at landing pads (Zicfilp), entries begin with one, and all jump by t2:
//! the processor takes that for a branch whose target is known, so that functions of libraries and the loader
//! need none. The pad has no label, which any branch may go to.
//!
//! Specification: "RISC-V ELF Specification", "Procedure Linkage Table"; "RISC-V CFI", Zicfilp.

use weld_common::diag::Cause;

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Entries, Guarded, Plt};
use crate::arch::plt::{self, First, Plan, Style};

/// Instructions of the header, and of an entry.
const HEADER: usize = 8;
const ENTRY: usize = 4;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: 4 * HEADER as u64, entry: 4 * ENTRY as u64 },
    guarded: Some(Guarded {
        entries: Entries { header: 4 * HEADER as u64, entry: 4 * ENTRY as u64 },
        marked_tag: None,
        signed_tag: None,
    }),
    align: 16,
    reserved_words: 2,
    ..Plt::NONE
};

/// The header, if it lies at `address` and `.got.plt` at `table`. Entries are `padded` or not.
fn header(wide: bool, address: Address, table: Address, padded: bool) -> [u32; HEADER] {
    let distance = table.wrapping_sub(address) as i64;
    let (word, shift) = if wide { (8, 1) } else { (4, 2) };
    // What entries jump by, another register, and where in an entry its jump ends.
    let (target, other, end) = if padded { (T2, T3, 16) } else { (T3, T2, 12) };
    [
        auipc(other, distance),
        // Where the entry's call ends, less where the header begins, which its word holds.
        sub(T1, T1, target),
        load(wide, target, other, distance),
        addi(T1, T1, -(4 * HEADER as i64 + end)),
        addi(T0, other, distance),
        shift_right(T1, T1, shift),
        load(wide, T0, T0, word),
        jump_register(ZERO, target),
    ]
}

/// An entry at `address` that jumps through `word`.
fn entry(wide: bool, address: Address, word: Address) -> [u32; ENTRY] {
    let distance = word.wrapping_sub(address) as i64;
    [auipc(T3, distance), load(wide, T3, T3, distance), jump_register(T1, T3), NOP]
}

/// The same with a landing pad.
fn padded_entry(wide: bool, address: Address, word: Address) -> [u32; ENTRY] {
    let distance = word.wrapping_sub(address + 4) as i64;
    // A landing pad is `auipc` of no register.
    [auipc(ZERO, 0), auipc(T2, distance), load(wide, T2, T2, distance), jump_register(T1, T2)]
}

fn put_code(out: &mut [u8], code: &[u32]) {
    for (bytes, code) in out.chunks_exact_mut(4).zip(code) {
        bytes.copy_from_slice(&code.to_le_bytes());
    }
}

/// Whether entries have landing pads.
fn has_pads(plan: &Plan) -> bool {
    plan.style == Style::Guarded { marked: true, signed: false }
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(wide: bool, plan: &Plan, start: u64, out: &mut [u8]) {
    let head_size = plan.header_size();
    let (head, entries) = out.split_at_mut(head_size.saturating_sub(start) as usize);
    if !head.is_empty() {
        put_code(head, &header(wide, plan.plt, plan.got_plt, has_pads(plan)));
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
        let reaches = |from: Address| has_halves(wide, word.wrapping_sub(from) as i64);
        if !reaches(address) || !reaches(address + 4) {
            plan.sink.error(
                Cause::RelocationOutOfRange,
                format!("the PLT entry at {address:#x} does not reach .got.plt at {word:#x}"),
            );
        }
        let make = if has_pads(plan) { padded_entry } else { entry };
        put_code(out, &make(wide, address, word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_load_their_word_and_jump() {
        // auipc t3, 2; ld t3, -2048(t3); jalr t1, t3; nop
        assert_eq!(
            entry(true, Address::new(0x1_0020), Address::new(0x1_1820)),
            [0x0000_2e17, 0x800e_3e03, 0x000e_0367, NOP]
        );
        assert_eq!(entry(false, Address::new(0x1_0020), Address::new(0x1_1824))[1], 0x804e_2e03);
        // lpad 0; auipc t2, 2; ld t2, -2048(t2); jalr t1, t2
        assert_eq!(
            padded_entry(true, Address::new(0x1_0020), Address::new(0x1_1824)),
            [0x17, 0x0000_2397, 0x8003_b383, 0x0003_8367]
        );
    }

    #[test]
    fn the_header_calls_the_loader() {
        // auipc t2; sub t1, t1, t3; ld t3, …(t2); addi t1, t1, -44; addi t0, t2, …; srli t1, t1, 1; ld t0,
        // 8(t0); jr t3
        let wanted = [
            0x0000_2397,
            0x41c3_0333,
            0x0103_be03,
            0xfd43_0313,
            0x0103_8293,
            0x0013_5313,
            0x0082_b283,
            0x000e_0067,
        ];
        assert_eq!(header(true, Address::new(0x1_0000), Address::new(0x1_2010), false), wanted);
        assert_eq!(
            header(false, Address::new(0x1_0000), Address::new(0x1_2010), false)[5..7],
            [0x0023_5313, 0x0042_a283]
        );
        // auipc t3; sub t1, t1, t2; ld t2, …(t3); addi t1, t1, -48; addi t0, t3, …; …; jr t2
        let padded = header(true, Address::new(0x1_0000), Address::new(0x1_2010), true);
        assert_eq!(padded[..5], [0x0000_2e17, 0x4073_0333, 0x010e_3383, 0xfd03_0313, 0x010e_0293]);
        assert_eq!((padded[5..7].to_vec(), padded[7]), (wanted[5..7].to_vec(), 0x0003_8067));
    }
}
