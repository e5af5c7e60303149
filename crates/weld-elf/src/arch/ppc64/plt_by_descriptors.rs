//! The procedure linkage table of ELFv1. `.plt` is data: three words for the loader, and a descriptor for each symbol,
//! into which the loader copies that of the function. So its address is the function's where a program needs one. Code
//! that is called lies in `.plt.sec` (and `.iplt`); `.glink` calls the loader, by code for each symbol, which
//! descriptors lead to before they are bound.
//!
//! An entry saves the caller's r2 and takes all that the descriptor has. Another thread may be binding it: loaders write
//! the address of the code last, so an entry reads that first, and the others by way of it.
//!
//! Specification: "64-bit PowerPC ELF Application Binary Interface Supplement", "Procedure Linkage Table"; glibc
//! for the size of code for a symbol in `.glink`.

use super::code::*;
use crate::address::Address;
use crate::arch::facts::{Apart, Entries, LoaderTag, Plt};
use crate::arch::plt::{self, First, Plan};
use weld_common::diag::{Cause, Diagnostic};

const HEADER: u64 = 64;
const LAZY: u64 = 8;
const ENTRY: u64 = 40;
/// Loaders take code for symbols from this one on to be longer.
const MOST: u32 = 0x8000;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: HEADER, entry: ENTRY },
    align: 16,
    reserved_words: 3,
    descriptor_words: 3,
    apart: Some(Apart {
        lazy: LAZY,
        second: None,
        lazy_name: b".glink",
        words_name: b".plt",
        // DT_PPC64_GLINK: 32 bytes before the code for the first symbol.
        tag: 0x7000_0000,
        tag_for: LoaderTag::Code(HEADER - 32),
        more_tags: &[],
    }),
    ..Plt::NONE
};

/// Writes `.glink` from byte `start` on.
pub fn write_lazy(plan: &Plan, start: u64, out: &mut [u8]) {
    let mut rest = out;
    if start == 0 && plan.header_size() == HEADER {
        if plan.jump_slots > MOST {
            let text =
                format!("too many functions of other modules are called for ELFv1: {}", plan.jump_slots);
            plan.sink.push(Diagnostic::error(Cause::TooLarge, text));
        }
        let (header, others) = rest.split_at_mut(HEADER as usize);
        put_header(header, plan.got_plt.wrapping_sub(plan.plt + 8));
        rest = others;
    }
    let from = start.max(HEADER);
    for (i, bytes) in rest.chunks_exact_mut(LAZY as usize).enumerate() {
        let at = from + LAZY * i as u64;
        let number = (at - HEADER) / LAZY;
        let back = (at + 4).wrapping_neg();
        put_words::<true>(
            bytes,
            &[d_form(ADDI, 0, 0, number as u32), 0x4800_0000 | back as u32 & 0x03ff_fffc],
        );
    }
}

/// Code that calls the loader by the descriptor that the first words are, with what they have as environment (r11) and
/// the number of the symbol (r0). `words` is their distance from the third instruction.
fn put_header(out: &mut [u8], words: u64) {
    put_words::<true>(
        out,
        &[
            0x7d88_02a6, // mflr r12
            NEXT_TO_LR,
            0x7d68_02a6, // mflr r11
            0x7d88_03a6, // mtlr r12
            d_form(LD, R12, R11, 48),
            0x7d6c_5a14, // add r11, r12, r11
            d_form(LD, R12, R11, 0),
            d_form(LD, R2, R11, 8),
            MTCTR_R12,
            d_form(LD, R11, R11, 16),
            BCTR,
            NOP,
            NOP,
            NOP,
        ],
    );
    out[56..64].copy_from_slice(&words.to_be_bytes());
}

/// Writes entries that are called.
pub fn write_called(plan: &Plan, first: First, start: u64, out: &mut [u8]) {
    for (entry, _, bytes) in plt::entries(plan.entry_size(), first, start, out) {
        let offset = plan.word(entry).wrapping_sub(plan.got_base) as i64;
        put_entry(offset, bytes);
        if !fits_halves(offset) {
            let text = format!("the PLT's words lie too far from the TOC ({offset:#x} bytes)");
            plan.sink.push(Diagnostic::error(Cause::RelocationOutOfRange, text));
        }
    }
}

/// An entry for the descriptor at so many bytes from the TOC.
pub fn put_entry(offset: i64, out: &mut [u8]) {
    put_words::<true>(
        out,
        &[
            SAVE_TOC | V1_SAVED_TOC,
            d_form(ADDIS, R11, R2, ha(offset)),
            d_form(ADDI, R11, R11, lo(offset)),
            d_form(LD, R12, R11, 0),
            MTCTR_R12,
            // xor r2, r12, r12; add r11, r11, r2: so that what follows is read later.
            0x7d82_6278,
            0x7d6b_1214,
            d_form(LD, R2, R11, 8),
            d_form(LD, R11, R11, 16),
            BCTR,
        ],
    );
}

/// The code in `.glink` for an entry.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    plan.plt + HEADER + LAZY * u64::from(entry)
}

/// What the descriptor of an IFUNC of a program at fixed addresses is before its resolver is called. A library that
/// copies it comes to the entry, behind the instruction that saves r2: what calls has done that.
pub fn unresolved(plan: &Plan, entry: u32, part: u64) -> Address {
    match part {
        0 if !plan.pic => plan.iplt + (ENTRY * u64::from(entry - plan.jump_slots) + 4),
        1 if !plan.pic => plan.got_base,
        _ => Address::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect()
    }

    #[test]
    fn entries_take_all_of_a_descriptor() {
        let mut out = [0; ENTRY as usize];
        put_entry(0x1_8000, &mut out);
        // std r2, 40(r1); addis r11, r2, 2; addi r11, r11, -0x8000; ld r12, 0(r11); mtctr r12; xor r2, r12, r12;
        // add r11, r11, r2; ld r2, 8(r11); ld r11, 16(r11); bctr
        let expected = [
            0xf841_0028,
            0x3d62_0002,
            0x396b_8000,
            0xe98b_0000,
            0x7d89_03a6,
            0x7d82_6278,
            0x7d6b_1214,
            0xe84b_0008,
            0xe96b_0010,
            0x4e80_0420,
        ];
        assert_eq!(words(&out), expected);
    }

    #[test]
    fn code_for_the_loader_finds_its_descriptor() {
        let mut out = [0; HEADER as usize];
        put_header(&mut out, 0x1234);
        // The distance lies 56 bytes after the start, 48 after the third instruction.
        assert_eq!(words(&out)[4], 0xe98b_0030);
        assert_eq!(words(&out)[14..], [0, 0x1234]);
    }
}
