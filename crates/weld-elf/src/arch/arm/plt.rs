//! The procedure linkage table: a header that calls the loader, and an entry for each symbol that jumps
//! through its word of `.got.plt`; `.iplt` has such entries for IFUNCs of this output. The header finds out
//! which by the word's address, which entries leave in `ip`.
//!
//! Entries are ARM code, which Thumb code calls by `blx` or a thunk, unless the processor has Thumb code only
//! ([`Style::Thumb`]). An entry of ARM code adds the word's distance in three parts of up to 28 bits; what is
//! further away lies in the entry as a word.
//!
//! Specification: AAELF32, "Procedure linkage table".

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{CodeMarks, Entries, Plt, TurnedCode};
use crate::arch::plt::{self, First, Plan, Style};
use crate::arch::words::put_words;

const HEADER: u64 = 32;
const ENTRY: u64 = 16;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: HEADER, entry: ENTRY },
    align: 16,
    reserved_words: 3,
    code_marks: Some(code_marks),
    ..Plt::NONE
};

/// What follows ARM code, and the header's Thumb code, is a distance, or nothing.
fn code_marks(style: Style) -> CodeMarks {
    match style {
        Style::Thumb => CodeMarks { header: &[(0, "$t"), (12, "$d")], entry: &[(0, "$t")] },
        _ => CodeMarks { header: &[(0, "$a"), (16, "$d")], entry: &[(0, "$a"), (12, "$d")] },
    }
}

/// What traps, between pieces of code.
const TRAP: u32 = 0xd4d4_d4d4;
/// `str lr, [sp, #-4]!`
const PUSH_LR: u32 = 0xe52d_e004;
/// `push {lr}`
const THUMB_PUSH_LR: u16 = 0xb500;

fn put_halves<const BIG: bool>(out: &mut [u8], halves: &[u16]) {
    for (i, half) in halves.iter().enumerate() {
        put_half::<BIG>(out, 2 * i, *half);
    }
}

/// A distance in three parts: 8 bits from bit 20 on, 8 from bit 12 on, 12. `None`: it is too far, or backward.
fn parts(distance: u64) -> Option<[u32; 3]> {
    let distance = distance as u32;
    (distance < 1 << 28).then_some([distance >> 20 & 0xff, distance >> 12 & 0xff, distance & 0xfff])
}

/// The header, if it lies at `address` and the third word of `.got.plt` at `word`.
fn put_header<const BIG: bool>(out: &mut [u8], address: Address, word: Address) {
    let distance = word.wrapping_sub(address + 12);
    match parts(distance) {
        // add lr, pc, #…; add lr, lr, #…; ldr pc, [lr, #…]!
        Some([high, middle, low]) => put_words::<BIG>(
            out,
            &[PUSH_LR, 0xe28f_e600 | high, 0xe28e_ea00 | middle, 0xe5be_f000 | low, TRAP, TRAP, TRAP, TRAP],
        ),
        None => {
            // ldr lr, .+12; add lr, pc, lr; ldr pc, [lr, #8]!
            let distance = (word.wrapping_sub(address + 16) as u32).wrapping_sub(8);
            put_words::<BIG>(
                out,
                &[PUSH_LR, 0xe59f_e004, 0xe08f_e00e, 0xe5be_f008, distance, TRAP, TRAP, TRAP],
            );
        }
    }
}

/// An entry at `address` for a word at `word`.
fn put_entry<const BIG: bool>(out: &mut [u8], address: Address, word: Address) {
    match parts(word.wrapping_sub(address + 8)) {
        // add ip, pc, #…; add ip, ip, #…; ldr pc, [ip, #…]!
        Some([high, middle, low]) => {
            put_words::<BIG>(out, &[0xe28f_c600 | high, 0xe28c_ca00 | middle, 0xe5bc_f000 | low, TRAP]);
        }
        None => {
            // ldr ip, .+12; add ip, ip, pc; ldr pc, [ip]
            let distance = word.wrapping_sub(address + 12) as u32;
            put_words::<BIG>(out, &[0xe59f_c004, 0xe08c_c00f, 0xe59c_f000, distance]);
        }
    }
}

/// `movw` and `movt` of `ip`, in Thumb code.
pub fn thumb_moves(value: u32) -> [u16; 4] {
    let one = |first: u32, value: u32| {
        let upper = first | value >> 12 & 0xf | (value >> 11 & 1) << 10;
        [upper as u16, (0x0c00 | (value >> 8 & 7) << 12 | value & 0xff) as u16]
    };
    let (low, high) = (one(0xf240, value & 0xffff), one(0xf2c0, value >> 16));
    [low[0], low[1], high[0], high[1]]
}

/// The header in Thumb code.
fn put_thumb_header<const BIG: bool>(out: &mut [u8], address: Address, word: Address) {
    // push {lr}; ldr.w lr, .+10; add lr, pc; ldr pc, [lr, #8]!; the distance of what lies 8 bytes before.
    let distance = (word.wrapping_sub(address + 10) as u32).wrapping_sub(8);
    put_halves::<BIG>(out, &[THUMB_PUSH_LR, 0xf8df, 0xe008, 0x44fe, 0xf85e, 0xff08]);
    put_words::<BIG>(&mut out[12..], &[distance, TRAP, TRAP, TRAP, TRAP]);
}

/// An entry in Thumb code.
fn put_thumb_entry<const BIG: bool>(out: &mut [u8], address: Address, word: Address) {
    // movw ip; movt ip; add ip, pc; ldr.w pc, [ip]; and a branch to itself
    let moves = thumb_moves(word.wrapping_sub(address + 12) as u32);
    put_halves::<BIG>(out, &moves);
    put_halves::<BIG>(&mut out[8..], &[0x44fc, 0xf8dc, 0xf000, 0xe7fc]);
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write<const BIG: bool>(plan: &Plan, start: u64, out: &mut [u8]) {
    let head_size = plan.header_size();
    let (head, entries) = out.split_at_mut(head_size.saturating_sub(start) as usize);
    if !head.is_empty() {
        let word = plan.got_plt + 8;
        match plan.style {
            Style::Thumb => put_thumb_header::<BIG>(head, plan.plt, word),
            _ => put_header::<BIG>(head, plan.plt, word),
        }
        turn(plan, head, [16, 12]);
    }
    let first = First { number: 0, address: plan.plt + head_size };
    put_entries::<BIG>(plan, first, start.saturating_sub(head_size), entries);
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt<const BIG: bool>(plan: &Plan, start: u64, out: &mut [u8]) {
    put_entries::<BIG>(plan, First { number: plan.jump_slots, address: plan.iplt }, start, out);
}

/// Turns the bytes of instructions, if they are to be turned: so many bytes of ARM code, or of Thumb code. What lies
/// behind is a distance, or the same in both orders.
fn turn(plan: &Plan, out: &mut [u8], [arm, thumb]: [usize; 2]) {
    if plan.turned_code.is_some() {
        let (unit, end) = if plan.style == Style::Thumb { (2, thumb) } else { (4, arm) };
        TurnedCode::turn(out, [(0, unit), (end, 1)].into_iter());
    }
}

fn put_entries<const BIG: bool>(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    for (i, address, entry) in plt::entries(plan.entry_size(), first, start, out) {
        match plan.style {
            Style::Thumb => put_thumb_entry::<BIG>(entry, address, plan.word(i)),
            _ => put_entry::<BIG>(entry, address, plan.word(i)),
        }
        turn(plan, entry, [12, 16]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(write: impl FnOnce(&mut [u8]), bytes: usize) -> Vec<u32> {
        let mut out = vec![0xee; bytes];
        write(&mut out);
        out.chunks_exact(4).map(|code| u32::from_le_bytes(code.try_into().unwrap())).collect()
    }

    #[test]
    fn entries_load_their_word_and_jump() {
        let entry =
            |word| words(|out| put_entry::<false>(out, Address::new(0x2_0220), Address::new(word)), 16);
        // 0x10124 from the second instruction after the first.
        assert_eq!(entry(0x3_034c), [0xe28f_c600, 0xe28c_ca10, 0xe5bc_f124, TRAP]);
        assert_eq!(entry(0x1_0000), [0xe59f_c004, 0xe08c_c00f, 0xe59c_f000, 0xfffe_fdd4]);
        assert_eq!(entry(0x1002_0227)[0], 0xe28f_c6ff);
        assert_eq!(entry(0x1002_0228)[0], 0xe59f_c004);
    }

    #[test]
    fn the_header_calls_the_loader() {
        let head =
            |word| words(|out| put_header::<false>(out, Address::new(0x2_0200), Address::new(word)), 32);
        assert_eq!(head(0x3_0330)[..4], [PUSH_LR, 0xe28f_e600, 0xe28e_ea10, 0xe5be_f124]);
        assert_eq!(head(0x1_0000)[..5], [PUSH_LR, 0xe59f_e004, 0xe08f_e00e, 0xe5be_f008, 0xfffe_fde8]);
    }

    #[test]
    fn thumb_code_makes_distances_of_two_halves() {
        assert_eq!(thumb_moves(0x1234_5abc), [0xf645, 0x2cbc, 0xf2c1, 0x2c34]);
    }
}
