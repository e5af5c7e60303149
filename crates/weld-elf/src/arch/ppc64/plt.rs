//! The procedure linkage table. What the ABI calls so, `.plt`, is data: two words for the loader, and a word
//! for each symbol. Code that is called for them lies in `.plt.sec` (and `.iplt`, for IFUNCs of this output);
//! `.glink` calls the loader, by an instruction for each symbol, which words hold before they are bound.
//!
//! | entry | for callers | bytes |
//! |---|---|---|
//! | `std r2, 24(r1)`, load of the word from r2, jump | that have the TOC | 20 |
//! | the same, and 24 bytes after its start: load of the word from where it is, jump | any: they have its address, or no TOC | 56, or 40 with prefixes |
//!
//! An entry has its second way in only if somebody takes it, for it takes longer where there are no prefixes.
//! Addresses of entries are those of the second.
//!
//! Specification: "64-Bit ELF V2 ABI Specification", 4.2.5 "Procedure Linkage Table".

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Apart, Entries, LoaderTag, Plt, SecondWay};
use crate::arch::plt::{self, First, Plan, Style};
use weld_common::diag::{Cause, Diagnostic};

const HEADER: u64 = 64;
const LAZY: u64 = 4;
const ENTRY: u64 = 20;
const SECOND: u64 = 24;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: HEADER, entry: ENTRY },
    align: 16,
    reserved_words: 2,
    apart: Some(Apart {
        lazy: LAZY,
        second: Some(SecondWay { offset: SECOND, long: [SECOND + 32, SECOND + 16] }),
        lazy_name: b".glink",
        words_name: b".plt",
        // DT_PPC64_GLINK: 32 bytes before the first instruction for a symbol.
        tag: 0x7000_0000,
        tag_for: LoaderTag::Code(HEADER - 32),
        // DT_PPC64_OPT with PPC64_OPT_MULTI_TOC: words of slots lead to where a function finds its TOC by r12,
        // also within a module, for callers may have none.
        more_tags: &[(0x7000_0003, 2)],
    }),
    ..Plt::NONE
};

/// What fills entries up.
const TRAP: u32 = 0x7fe0_0008;

/// Writes `.glink` from byte `start` on.
pub fn write_lazy<const BIG: bool>(plan: &Plan, start: u64, out: &mut [u8]) {
    let mut rest = out;
    if start == 0 && plan.header_size() == HEADER {
        let (header, others) = rest.split_at_mut(HEADER as usize);
        put_header::<BIG>(header, plan.got_plt.wrapping_sub(plan.plt + 8));
        rest = others;
    }
    let from = start.max(HEADER);
    for (i, bytes) in rest.chunks_exact_mut(LAZY as usize).enumerate() {
        let back = (from + LAZY * i as u64).wrapping_neg();
        put_word::<BIG>(bytes, 0, 0x4800_0000 | back as u32 & 0x03ff_fffc);
    }
}

/// Code that finds which word was unbound by the address that it held (r12), and calls the loader, whose
/// address is the first word, with that number (r0) and the second word (r11). `words` is the distance of the
/// first one from the third instruction.
fn put_header<const BIG: bool>(out: &mut [u8], words: u64) {
    put_words::<BIG>(
        out,
        &[
            MFLR_R0,
            NEXT_TO_LR,
            0x7d68_02a6, // mflr r11
            MTLR_R0,
            0x7d8b_6050, // subf r12, r11, r12
            // addi r0, r12, -56: the first instruction for a symbol is so far after r11
            d_form(ADDI, 0, R12, (-(HEADER as i64 - 8)) as u32),
            0x7800_f082, // srdi r0, r0, 2
            d_form(LD, R12, R11, 48),
            0x7d6c_5a14, // add r11, r12, r11
            d_form(LD, R12, R11, 0),
            d_form(LD, R11, R11, 8),
            MTCTR_R12,
            BCTR,
            NOP,
        ],
    );
    out[56..64].copy_from_slice(&if BIG { words.to_be_bytes() } else { words.to_le_bytes() });
}

/// Writes entries that are called.
pub fn write_called<const BIG: bool>(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    for (entry, address, bytes) in plt::entries(plan.entry_size(), first, start, out) {
        if let Err(distance) = put_entry::<BIG>(plan, entry, address, bytes) {
            let text = format!("the PLT's words lie too far from its code ({distance:#x} bytes)");
            plan.sink.push(Diagnostic::error(Cause::RelocationOutOfRange, text));
        }
    }
}

fn put_entry<const BIG: bool>(plan: &Plan, entry: u32, address: Address, out: &mut [u8]) -> Result<(), i64> {
    let word = plan.word(entry);
    let offset = word.wrapping_sub(plan.got_base) as i64;
    let load = match ha(offset) {
        0 => [d_form(LD, R12, R2, lo(offset)), NOP],
        high => [d_form(ADDIS, R12, R2, high), d_form(LD, R12, R12, lo(offset))],
    };
    put_words::<BIG>(out, &[SAVE_TOC | V2_SAVED_TOC, load[0], load[1], MTCTR_R12, BCTR]);
    if !fits_halves(offset) {
        return Err(offset);
    }
    let Style::Relative { prefixed } = plan.style else { return Ok(()) };
    let second = address + SECOND;
    put_word::<BIG>(out, ENTRY as usize, TRAP);
    let out = &mut out[SECOND as usize..];
    if prefixed {
        let distance = word.wrapping_sub(second) as i64;
        let [prefix, suffix] = with_34(PREFIX_PLD, PLD | R12 << 21, distance);
        put_words::<BIG>(out, &[prefix, suffix, MTCTR_R12, BCTR]);
        return if fits_34(distance) { Ok(()) } else { Err(distance) };
    }
    let distance = word.wrapping_sub(second + 8) as i64;
    let codes = [
        MFLR_R0,
        NEXT_TO_LR,
        0x7d88_02a6, // mflr r12
        MTLR_R0,
        d_form(ADDIS, R12, R12, ha(distance)),
        d_form(LD, R12, R12, lo(distance)),
        MTCTR_R12,
        BCTR,
    ];
    put_words::<BIG>(out, &codes);
    // The word's address is a multiple of 8, and that of the instruction one of 4.
    if fits_halves(distance) && distance & 3 == 0 { Ok(()) } else { Err(distance) }
}

/// The instruction in `.glink` for an entry.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    plan.plt + HEADER + LAZY * u64::from(entry)
}
