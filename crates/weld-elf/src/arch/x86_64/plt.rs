//! The procedure linkage table and the part of the GOT that it jumps through.
//!
//! `.plt` holds a header that calls the loader and 16 bytes an entry; `.got.plt` three reserved
//! words (address of `.dynamic`, two for the loader) and a word an entry. Entries of IFUNCs of this
//! output come last; their words are filled by `R_X86_64_IRELATIVE`. With IBT, `.plt` keeps the lazy
//! part and `.plt.sec` the entries that are called, both starting with `endbr64`.
//!
//! Specification: x86-64 psABI 5.2 "Dynamic Linking", "Procedure Linkage Table", and 13 (CET).

use crate::image::Image;
use crate::synth::slots::Slots;

/// Bytes of an entry.
pub const ENTRY: u64 = 16;
/// Words at the start of `.got.plt`.
pub const RESERVED_WORDS: u64 = 3;

/// Bytes before the first entry: only symbols bound by name need the header.
pub fn header_size(slots: &Slots) -> u64 {
    if slots.jump_slots > 0 { ENTRY } else { 0 }
}

pub fn plt_size(slots: &Slots, ibt: bool) -> u64 {
    let entries = if ibt { slots.jump_slots as usize } else { slots.plt.len() };
    header_size(slots) + ENTRY * entries as u64
}

pub fn plt_sec_size(slots: &Slots, ibt: bool) -> u64 {
    if ibt { ENTRY * slots.plt.len() as u64 } else { 0 }
}

pub fn got_plt_size(slots: &Slots) -> u64 {
    8 * (RESERVED_WORDS + slots.plt.len() as u64)
}

/// Writes a signed distance; the caller has checked that the image spans less than 2 GiB.
fn put_distance(out: &mut [u8], at: usize, target: u64, next: u64) {
    out[at..at + 4].copy_from_slice(&(target.wrapping_sub(next) as i32).to_le_bytes());
}

pub fn write_plt(image: &Image, out: &mut [u8]) {
    let base = image.bases.plt;
    let header = header_size(image.slots) as usize;
    if header > 0 {
        // push GOTPLT+8(%rip); jmp *GOTPLT+16(%rip); nop
        out[..16].copy_from_slice(&[0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00]);
        put_distance(out, 2, image.bases.got_plt + 8, base + 6);
        put_distance(out, 8, image.bases.got_plt + 16, base + 12);
    }
    for (i, entry) in out[header..].chunks_exact_mut(ENTRY as usize).enumerate() {
        let address = base + header as u64 + ENTRY * i as u64;
        let lazy = (i as u32) < image.slots.jump_slots;
        if image.ibt_plt {
            // endbr64; push index; jmp header; nop
            entry.copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0x66, 0x90]);
            entry[5..9].copy_from_slice(&(i as u32).to_le_bytes());
            put_distance(entry, 10, base, address + 14);
            continue;
        }
        // jmp *slot(%rip); push index; jmp header
        let tail = if lazy { [0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0] } else { [0xcc; 10] };
        entry[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        entry[6..].copy_from_slice(&tail);
        put_distance(entry, 2, image.got_plt_address(i as u32), address + 6);
        if lazy {
            entry[7..11].copy_from_slice(&(i as u32).to_le_bytes());
            put_distance(entry, 12, base, address + 16);
        }
    }
}

pub fn write_plt_sec(image: &Image, out: &mut [u8]) {
    for (i, entry) in out.chunks_exact_mut(ENTRY as usize).enumerate() {
        let address = image.bases.plt_sec + ENTRY * i as u64;
        // endbr64; jmp *slot(%rip); nop
        entry
            .copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0]);
        put_distance(entry, 6, image.got_plt_address(i as u32), address + 10);
    }
}

/// The word of each entry bound by name starts as the address of its lazy part.
pub fn write_got_plt(image: &Image, dynamic: u64, out: &mut [u8]) {
    out.fill(0);
    out[..8].copy_from_slice(&dynamic.to_le_bytes());
    for i in 0..image.slots.jump_slots as usize {
        let entry = image.bases.plt + header_size(image.slots) + ENTRY * i as u64;
        let lazy = if image.ibt_plt { entry } else { entry + 6 };
        let at = 8 * (RESERVED_WORDS as usize + i);
        out[at..at + 8].copy_from_slice(&lazy.to_le_bytes());
    }
}
