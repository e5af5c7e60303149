//! The procedure linkage table and the part of the GOT that it jumps through.
//!
//! `.plt` holds a header that calls the loader and 16 bytes an entry; `.got.plt` three reserved
//! words (address of `.dynamic`, two for the loader) and a word an entry. Entries of IFUNCs of this
//! output come last; their words are filled by `R_X86_64_IRELATIVE`. With IBT, `.plt` keeps the lazy
//! part and `.plt.sec` the entries that are called, both starting with `endbr64`.
//!
//! Specification: x86-64 psABI 5.2 "Dynamic Linking", "Procedure Linkage Table", and 13 (CET).

use super::FACTS;
use crate::synth::image::Image;

/// Bytes of an entry.
pub const ENTRY: u64 = 16;

/// Writes a signed distance; the caller has checked that the image spans less than 2 GiB.
fn put_distance(out: &mut [u8], at: usize, target: u64, next: u64) {
    out[at..at + 4].copy_from_slice(&(target.wrapping_sub(next) as i32).to_le_bytes());
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(image: &Image, start: u64, out: &mut [u8]) {
    let base = image.bases.plt;
    let header = FACTS.plt.header_size(image.slots.jump_slots);
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        // push GOTPLT+8(%rip); jmp *GOTPLT+16(%rip); nop
        head.copy_from_slice(&[0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00]);
        put_distance(head, 2, image.bases.got_plt + 8, base + 6);
        put_distance(head, 8, image.bases.got_plt + 16, base + 12);
    }
    let first = (start.saturating_sub(header) / ENTRY) as u32;
    for (i, entry) in (first..).zip(entries.chunks_exact_mut(ENTRY as usize)) {
        let address = base + header + ENTRY * u64::from(i);
        let lazy = i < image.slots.jump_slots;
        if image.ibt_plt {
            // endbr64; push index; jmp header; nop
            entry.copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0x66, 0x90]);
            entry[5..9].copy_from_slice(&i.to_le_bytes());
            put_distance(entry, 10, base, address + 14);
            continue;
        }
        // jmp *slot(%rip); push index; jmp header
        let tail = if lazy { [0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0] } else { [0xcc; 10] };
        entry[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        entry[6..].copy_from_slice(&tail);
        put_distance(entry, 2, image.got_plt_address(i), address + 6);
        if lazy {
            entry[7..11].copy_from_slice(&i.to_le_bytes());
            put_distance(entry, 12, base, address + 16);
        }
    }
}

/// Writes `.plt.sec` from byte `start` on, where an entry starts.
pub fn write_plt_sec(image: &Image, start: u64, out: &mut [u8]) {
    for (i, entry) in ((start / ENTRY) as u32..).zip(out.chunks_exact_mut(ENTRY as usize)) {
        let address = image.bases.plt_sec + ENTRY * u64::from(i);
        // endbr64; jmp *slot(%rip); nop
        entry
            .copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0]);
        put_distance(entry, 6, image.got_plt_address(i), address + 10);
    }
}

/// The word of an entry bound by name starts as the address of its lazy part.
pub fn unbound(image: &Image, entry: u32) -> u64 {
    let lazy = if image.ibt_plt { 0 } else { 6 };
    image.bases.plt + ENTRY + ENTRY * u64::from(entry) + lazy
}
