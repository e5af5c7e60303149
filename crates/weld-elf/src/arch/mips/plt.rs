//! The procedure linkage table of programs at fixed addresses, whose code calls functions of libraries by
//! their addresses: a header that calls the loader, and an entry for each symbol that jumps through its word
//! of `.got.plt`. The header finds out which by the word's address, which entries leave in t8.
//!
//! If objects have microMIPS code, all of it is such code: calls change to it by themselves.
//!
//! Position-independent code calls by way of the GOT.
//!
//! Specification: "MIPS non-PIC ABI" (CodeSourcery), "PLT".

use super::code::*;
use super::{Abi, thunks};
use crate::address::Address;
use crate::arch::facts::{Entries, Plt};
use crate::arch::plt::{self, First, Plan, Style};

/// Addresses with 64 bits take four instructions more than those with 32.
pub const fn plt(wide: bool) -> Plt {
    Plt {
        ordinary: if wide { Entries { header: 48, entry: 32 } } else { Entries { header: 32, entry: 16 } },
        align: 16,
        reserved_words: 2,
        has_barriers: true,
        ..Plt::NONE
    }
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write<const BIG: bool, const ABI: u8>(plan: &Plan, start: u64, out: &mut [u8]) {
    let head_size = plan.header_size();
    let is_micro = plan.style == Style::Thumb;
    let is_newest = plan.features & thunks::RELEASE_6 != 0;
    let (head, entries) = out.split_at_mut(head_size.saturating_sub(start) as usize);
    if !head.is_empty() {
        match is_micro {
            true => put_micro_header::<BIG>(head, plan.got_plt.get(), Abi::of(ABI), is_newest),
            false => put_header::<BIG, ABI>(head, plan.got_plt.get()),
        }
    }
    let first = First { number: 0, address: plan.plt + head_size };
    for (i, _, entry) in plt::entries(plan.entry_size(), first, start.saturating_sub(head_size), entries) {
        match is_micro {
            true => put_micro_entry::<BIG>(entry, plan.word(i), is_newest, plan.barriers),
            false => put_entry::<BIG, ABI>(entry, plan.word(i), plan.barriers),
        }
    }
}

/// The word before the loader looks the symbol up: the header.
pub fn unbound(plan: &Plan) -> Address {
    plan.plt + plan.style.address_offset(plan.facts)
}

/// The same code in microMIPS. In release 6 branches have no delay slot: what it is for comes before.
fn put_micro_header<const BIG: bool>(out: &mut [u8], words: u64, abi: Abi, is_newest: bool) {
    let (hi, lo) = (high(words), low(words));
    let base: u32 = if abi == Abi::O32 { 28 } else { 14 };
    let (upper, lower) = (base << 21, base << 16);
    let call = [0x03f9_0f3c, 0x3318_fffe]; // jalr t9; addiu t8, t8, -2
    let [first, second] = if is_newest { [call[1], call[0]] } else { call };
    put_micro_words::<BIG>(
        out,
        &[
            micro_upper(is_newest, base, hi), // lui   base, %hi(.got.plt)
            0xff20_0000 | lower | lo,         // lw    t9, %lo(.got.plt)(base)
            0x3000_0000 | upper | lower | lo, // addiu base, base, %lo(.got.plt)
            0x0018_c1d0 | upper,              // subu  t8, t8, base
            0x001f_7a90,                      // move  $15, ra
            0x0318_1040,                      // srl   t8, t8, 2
            first,
            second,
        ],
    );
}

fn put_micro_entry<const BIG: bool>(out: &mut [u8], word: Address, is_newest: bool, barrier: bool) {
    let (hi, lo) = (high(word.get()), low(word.get()));
    // jalr zero, t9, or jalr.hb; addiu t8, t7, %lo(word)
    let jump = [0x0019_0f3c | if barrier { 0x1000 } else { 0 }, 0x330f_0000 | lo];
    let [first, second] = if is_newest { [jump[1], jump[0]] } else { jump };
    put_micro_words::<BIG>(
        out,
        &[
            micro_upper(is_newest, 15, hi), // lui   t7, %hi(word)
            0xff2f_0000 | lo,               // lw    t9, %lo(word)(t7)
            first,
            second,
        ],
    );
}

fn put_header<const BIG: bool, const ABI: u8>(out: &mut [u8], words: u64) {
    let (hi, lo) = (high(words), low(words));
    match Abi::of(ABI) {
        abi @ (Abi::O32 | Abi::N32) => {
            // The header leaves .got.plt in gp, or in t2.
            let base: u32 = if abi == Abi::O32 { 28 } else { 14 };
            let (from, to) = (base << 21, base << 16);
            put_words::<BIG>(
                out,
                &[
                    0x3c00_0000 | to | hi,        // lui   base, %hi(.got.plt)
                    0x8c19_0000 | from | lo,      // lw    t9, %lo(.got.plt)(base)
                    0x2400_0000 | from | to | lo, // addiu base, base, %lo(.got.plt)
                    0x0300_c023 | to,             // subu  t8, t8, base
                    0x03e0_7825,                  // move  $15, ra
                    0x0018_c082,                  // srl   t8, t8, 2
                    0x0320_f809,                  // jalr  t9
                    0x2718_fffe,                  // subu  t8, t8, 2
                ],
            )
        }
        Abi::N64 => put_words::<BIG>(
            out,
            &[
                0x3c0e_0000 | highest(words), // lui    t2, %highest(.got.plt)
                0x65ce_0000 | higher(words),  // daddiu t2, t2, %higher(.got.plt)
                0x000e_7438,                  // dsll   t2, t2, 16
                0x65ce_0000 | hi,             // daddiu t2, t2, %hi(.got.plt)
                0x000e_7438,                  // dsll   t2, t2, 16
                0xddd9_0000 | lo,             // ld     t9, %lo(.got.plt)(t2)
                0x65ce_0000 | lo,             // daddiu t2, t2, %lo(.got.plt)
                0x030e_c02f,                  // dsubu  t8, t8, t2
                0x03e0_782d,                  // move   t3, ra
                0x0018_c0fa,                  // dsrl   t8, t8, 3
                0x0320_f809,                  // jalr   t9
                0x2718_fffe,                  // subu   t8, t8, 2
            ],
        ),
    }
}

fn put_entry<const BIG: bool, const ABI: u8>(out: &mut [u8], word: Address, barrier: bool) {
    let word = word.get();
    let (hi, lo) = (high(word), low(word));
    // `jalr zero, t9`, which all processors take for `jr t9`; those of release 6 have nothing else.
    let jump = 0x0320_0009 | if barrier { 0x400 } else { 0 };
    match Abi::of(ABI) {
        Abi::N64 => put_words::<BIG>(
            out,
            &[
                0x3c0f_0000 | highest(word), // lui    t3, %highest(word)
                0x65ef_0000 | higher(word),  // daddiu t3, t3, %higher(word)
                0x000f_7c38,                 // dsll   t3, t3, 16
                0x65ef_0000 | hi,            // daddiu t3, t3, %hi(word)
                0x000f_7c38,                 // dsll   t3, t3, 16
                0xddf9_0000 | lo,            // ld     t9, %lo(word)(t3)
                jump,
                0x65f8_0000 | lo, // daddiu t8, t3, %lo(word)
            ],
        ),
        Abi::O32 | Abi::N32 => put_words::<BIG>(
            out,
            &[
                0x3c0f_0000 | hi, // lui   t7, %hi(word)
                0x8df9_0000 | lo, // lw    t9, %lo(word)(t7)
                jump,
                0x25f8_0000 | lo, // addiu t8, t7, %lo(word)
            ],
        ),
    }
}
