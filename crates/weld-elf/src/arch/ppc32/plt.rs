//! The procedure linkage table, as the "secure PLT" has it: `.plt` is data, a word for each symbol. Code that
//! is called for them lies in `.plt.sec` (and `.iplt`, for IFUNCs of this output); `.glink` calls the loader,
//! by an instruction for each symbol, which words hold before they are bound.
//!
//! | entry | bytes |
//! |---|---|
//! | `lis`, load of the word, jump | 16 |
//! | where images may be moved: the address of the entry by way of the link register, load of the word from there, jump | 32 |
//!
//! Other linkers make an entry for each object that calls, which counts from r30, the register that the
//! object's code has for its `.got2` or for the GOT. These ask nothing of their callers, so there is one for
//! each symbol, also for code that has nothing in r30.
//!
//! Specification: "Power Architecture 32-bit Application Binary Interface Supplement" 1.0, Linux, 5.2.5
//! "Procedure Linkage Table" (secure PLT).

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Apart, Entries, LoaderTag, Plt};
use crate::arch::plt::{self, First, Plan};

const HEADER: u64 = 48;
const MOVING_HEADER: u64 = 64;
const LAZY: u64 = 4;
const ENTRY: u64 = 16;
const MOVING_ENTRY: u64 = 32;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: HEADER, entry: ENTRY },
    anywhere: Some(Entries { header: MOVING_HEADER, entry: MOVING_ENTRY }),
    align: 16,
    // The loader's two words are in `.got`.
    reserved_words: 0,
    apart: Some(Apart {
        lazy: LAZY,
        second: None,
        lazy_name: b".glink",
        words_name: b".plt",
        // DT_PPC_GOT
        tag: 0x7000_0000,
        tag_for: LoaderTag::GotBase,
        more_tags: &[],
    }),
    ..Plt::NONE
};

/// Writes `.glink` from byte `start` on.
pub fn write_lazy<const BIG: bool>(plan: &Plan, start: u64, out: &mut [u8]) {
    let size = plan.header_size();
    let mut rest = out;
    if start == 0 && size > 0 {
        let (header, others) = rest.split_at_mut(size as usize);
        if plan.pic {
            put_moving_header::<BIG>(plan, header)
        } else {
            put_header::<BIG>(plan, header)
        }
        rest = others;
    }
    let from = start.max(size);
    for (i, bytes) in rest.chunks_exact_mut(LAZY as usize).enumerate() {
        let back = (from + LAZY * i as u64).wrapping_neg();
        put_word::<BIG>(bytes, 0, 0x4800_0000 | back as u32 & 0x03ff_fffc);
    }
}

/// `add r0, r11, r11` and `add r11, r0, r11`: from an instruction of 4 bytes to a relocation of 12.
const DOUBLE: u32 = 0x7c0b_5a14;
const TRIPLE: u32 = 0x7d60_5a14;

/// Fills a header up.
fn put_all<const BIG: bool>(out: &mut [u8], codes: &[u32]) {
    put_words::<BIG>(out, codes);
    for at in (4 * codes.len()..out.len()).step_by(4) {
        put_word::<BIG>(out, at, NOP);
    }
}

/// Code that finds which word was unbound by the address that it held (r11), and calls the loader, whose
/// address is the GOT's second word, with the offset of the word's relocation (r11) and the third word (r12).
fn put_header<const BIG: bool>(plan: &Plan, out: &mut [u8]) {
    let entries = -((plan.plt + HEADER).get() as i64);
    let loader = (plan.got_base + 4).get() as i64;
    put_all::<BIG>(
        out,
        &[
            lis(R12, ha(loader)),
            d_form(ADDIS, R11, R11, ha(entries)),
            d_form(LWZU, 0, R12, lo(loader)),
            d_form(ADDI, R11, R11, lo(entries)),
            MTCTR_R0,
            DOUBLE,
            d_form(LWZ, R12, R12, 4),
            TRIPLE,
            BCTR,
        ],
    );
}

/// The same wherever the image is.
fn put_moving_header<const BIG: bool>(plan: &Plan, out: &mut [u8]) {
    // What the link register holds after the third instruction is so far after the start.
    const HERE: u64 = 12;
    let entries = HERE as i64 - MOVING_HEADER as i64;
    let loader = plan.got_base.wrapping_add(4).wrapping_sub(plan.plt + HERE) as i64;
    put_all::<BIG>(
        out,
        &[
            d_form(ADDIS, R11, R11, ha(entries)),
            MFLR_R0,
            NEXT_TO_LR,
            d_form(ADDI, R11, R11, lo(entries)),
            MFLR_R12,
            MTLR_R0,
            0x7d6c_5850, // subf r11, r12, r11
            d_form(ADDIS, R12, R12, ha(loader)),
            d_form(LWZU, 0, R12, lo(loader)),
            d_form(LWZ, R12, R12, 4),
            MTCTR_R0,
            DOUBLE,
            TRIPLE,
            BCTR,
        ],
    );
}

/// Writes entries that are called.
pub fn write_called<const BIG: bool>(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    for (entry, address, bytes) in plt::entries(plan.entry_size(), first, start, out) {
        let word = plan.word(entry);
        if !plan.pic {
            let word = word.get() as i64;
            put_words::<BIG>(bytes, &[lis(R11, ha(word)), d_form(LWZ, R11, R11, lo(word)), MTCTR_R11, BCTR]);
            continue;
        }
        let distance = word.wrapping_sub(address + 8) as i64;
        put_words::<BIG>(
            bytes,
            &[
                MFLR_R0,
                NEXT_TO_LR,
                MFLR_R11,
                MTLR_R0,
                d_form(ADDIS, R11, R11, ha(distance)),
                d_form(LWZ, R11, R11, lo(distance)),
                MTCTR_R11,
                BCTR,
            ],
        );
    }
}

/// The instruction in `.glink` for an entry.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    plan.plt + plan.header_size() + LAZY * u64::from(entry)
}
