//! The procedure linkage table: a header that calls the loader, and an entry for each symbol that jumps
//! through its word of `.got.plt`; `.iplt` has such entries for IFUNCs of this output. The header finds out
//! which by the word's address, which entries leave in x16.
//!
//! Where indirect branches must end at marks (BTI), the header begins with one, and so do entries, because a
//! function's address may be that of its entry. With signed pointers (`-z pac-plt`) an entry checks what it
//! has loaded.
//!
//! Specification: "System V ABI for the Arm 64-bit Architecture", "Procedure Linkage Table"; AAELF64,
//! "Program Property" (the tags `DT_AARCH64_BTI_PLT`, `DT_AARCH64_PAC_PLT`).

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Entries, Guarded, Plt};
use crate::arch::plt::{self, First, Plan, Style};

/// Instructions of the header, an entry, and one with more in it.
const HEADER: usize = 8;
const ENTRY: usize = 4;
const GUARDED: usize = 6;

const fn entries(instructions: usize) -> Entries {
    Entries { header: 4 * HEADER as u64, entry: 4 * instructions as u64 }
}

pub const PLT: Plt = Plt {
    ordinary: entries(ENTRY),
    guarded: Some(Guarded {
        entries: entries(GUARDED),
        marked_tag: Some(0x7000_0001),
        signed_tag: Some(0x7000_0003),
    }),
    align: 16,
    reserved_words: 3,
    ..Plt::NONE
};

/// What the header's first instruction does: `stp x16, x30, [sp, #-16]!`
const PUSH: u32 = 0xa9bf_7bf0;

/// `adrp x16, …; ldr x17, [x16, …]; add x16, x16, …` for a word at `word`, if the first is at `address`.
fn load_word(word: Address, address: Address) -> [u32; 3] {
    [adrp(16, pages(word.get(), address.get())), load_low(17, 16, word.get()), add_low(16, 16, word.get())]
}

/// The header, if it lies at `address` and the word with the loader's function at `word`.
fn header(address: Address, word: Address, marked: bool) -> [u32; HEADER] {
    let mut code = [NOP; HEADER];
    let first = usize::from(marked);
    code[0] = BTI_C;
    code[first] = PUSH;
    code[first + 1..first + 4].copy_from_slice(&load_word(word, address + 4 * (first as u64 + 1)));
    code[first + 4] = BR_X17;
    code
}

/// An entry of as many instructions as `out` has room for.
fn put_entry(out: &mut [u8], address: Address, word: Address, (marked, signed): (bool, bool)) {
    let mut code = [NOP; GUARDED];
    let mut at = 0;
    if marked {
        code[0] = BTI_C;
        at = 1;
    }
    code[at..at + 3].copy_from_slice(&load_word(word, address + 4 * at as u64));
    at += 3;
    if signed {
        code[at] = AUTIA1716;
        at += 1;
    }
    code[at] = BR_X17;
    put_code(out, &code);
}

fn put_code(out: &mut [u8], code: &[u32]) {
    for (bytes, code) in out.chunks_exact_mut(4).zip(code) {
        bytes.copy_from_slice(&code.to_le_bytes());
    }
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write(plan: &Plan, start: u64, out: &mut [u8]) {
    let head_size = plan.header_size();
    let (head, entries) = out.split_at_mut(head_size.saturating_sub(start) as usize);
    if !head.is_empty() {
        put_code(head, &header(plan.plt, plan.got_plt + 16, guards(plan.style).0));
    }
    put_entries(
        plan,
        First { number: 0, address: plan.plt + head_size },
        start.saturating_sub(head_size),
        entries,
    );
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
    put_entries(plan, First { number: plan.jump_slots, address: plan.iplt }, start, out);
}

fn put_entries(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    let size = plan.entry_size();
    for (i, address, entry) in plt::entries(size, first, start, out) {
        put_entry(entry, address, plan.word(i), guards(plan.style));
    }
}

/// Whether entries are marked, and whether they check what they load.
fn guards(style: Style) -> (bool, bool) {
    match style {
        Style::Guarded { marked, signed } => (marked, signed),
        _ => (false, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(guards: (bool, bool), instructions: usize) -> Vec<u32> {
        let mut out = vec![0xee; 4 * instructions];
        put_entry(&mut out, Address::new(0x21_0020), Address::new(0x23_0018), guards);
        out.chunks_exact(4).map(|code| u32::from_le_bytes(code.try_into().unwrap())).collect()
    }

    #[test]
    fn entries_load_their_word_and_jump() {
        // adrp x16, +32 pages; ldr x17, [x16, #24]; add x16, x16, #24
        let load = [0x9000_0110, 0xf940_0e11, 0x9100_6210];
        assert_eq!(entry((false, false), 4), [&load[..], &[BR_X17]].concat());
        assert_eq!(entry((true, false), 6), [&[BTI_C], &load[..], &[BR_X17, NOP]].concat());
        assert_eq!(entry((false, true), 6), [&load[..], &[AUTIA1716, BR_X17, NOP]].concat());
        assert_eq!(entry((true, true), 6), [&[BTI_C], &load[..], &[AUTIA1716, BR_X17]].concat());
    }

    #[test]
    fn the_header_calls_the_loader() {
        let plain = header(Address::new(0x21_0ff8), Address::new(0x23_0010), false);
        // The page counts from where adrp lies.
        assert_eq!(plain, [PUSH, 0x9000_0110, 0xf940_0a11, 0x9100_4210, BR_X17, NOP, NOP, NOP]);
        let marked = header(Address::new(0x21_0ff8), Address::new(0x23_0010), true);
        assert_eq!(marked[..3], [BTI_C, PUSH, 0xf000_00f0]);
    }
}
