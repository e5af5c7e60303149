//! The procedure linkage table of a static executable: an entry for each IFUNC, which jumps through its word of
//! `.got.plt`. `R_386_IRELATIVE` fills these words; before that they hold the resolvers' addresses.
//!
//! With IBT the entries are in `.plt.sec` and start with `endbr32`; `.plt` is then empty. Retpolines push their
//! word and jump to the header, which returns to it.
//!
//! Specification: Intel386 psABI 5.2 "Procedure Linkage Table".

use crate::arch::facts::{Entries, Plt, Retpolines};
use crate::arch::plt::Style;
use crate::synth::image::Image;

/// Bytes of an entry.
const ENTRY: u64 = 16;

const RETPOLINE: Entries = Entries { header: 32, entry: ENTRY };

pub const PLT: Plt = Plt {
    ordinary: Entries { header: ENTRY, entry: ENTRY },
    // Nothing is bound by name.
    retpolines: Some(Retpolines { lazy: RETPOLINE, bound: RETPOLINE }),
    guarded: None,
    align: 16,
    reserved_words: 3,
};

/// The header of retpolines. The processor takes the call's return address for the target, where it waits; the
/// target is the word behind that.
#[rustfmt::skip]
const RETURN: [u8; RETPOLINE.header as usize] = [
    // call 2f
    0xe8, 0x0b, 0, 0, 0,
    // 1: pause; lfence; jmp 1b
    0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
    0xcc, 0xcc, 0xcc, 0xcc,
    // 2: lea 4(%esp), %esp; ret
    0x8d, 0x64, 0x24, 0x04, 0xc3,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];

/// `jmp *slot`
fn put_jump(out: &mut [u8], slot: u64) {
    out[..2].copy_from_slice(&[0xff, 0x25]);
    out[2..6].copy_from_slice(&(slot as u32).to_le_bytes());
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(image: &Image, start: u64, out: &mut [u8]) {
    if let Style::Retpoline { .. } = image.plt {
        return write_retpolines(image, start, out);
    }
    for (i, entry) in ((start / ENTRY) as u32..).zip(out.chunks_exact_mut(ENTRY as usize)) {
        put_jump(entry, image.got_plt_address(i));
        entry[6..].fill(0xcc);
    }
}

fn write_retpolines(image: &Image, start: u64, out: &mut [u8]) {
    let header = RETPOLINE.header;
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        head.copy_from_slice(&RETURN);
    }
    let first = (start.saturating_sub(header) / ENTRY) as u32;
    for (i, entry) in (first..).zip(entries.chunks_exact_mut(ENTRY as usize)) {
        let distance = (header + ENTRY * u64::from(i) + 11).wrapping_neg();
        // push slot; jmp header
        entry[..2].copy_from_slice(&[0xff, 0x35]);
        entry[2..6].copy_from_slice(&(image.got_plt_address(i) as u32).to_le_bytes());
        entry[6] = 0xe9;
        entry[7..11].copy_from_slice(&(distance as u32).to_le_bytes());
        entry[11..].fill(0xcc);
    }
}

/// Writes `.plt.sec` from byte `start` on, where an entry starts.
pub fn write_plt_sec(image: &Image, start: u64, out: &mut [u8]) {
    for (i, entry) in ((start / ENTRY) as u32..).zip(out.chunks_exact_mut(ENTRY as usize)) {
        // endbr32; jmp *slot; nop
        entry[..4].copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfb]);
        put_jump(&mut entry[4..], image.got_plt_address(i));
        entry[10..].copy_from_slice(&[0x66, 0x0f, 0x1f, 0x44, 0, 0]);
    }
}
