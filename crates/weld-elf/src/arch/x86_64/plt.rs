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

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(image: &Image, start: u64, out: &mut [u8]) {
    let base = image.bases.plt;
    let header = header_size(image.slots);
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

/// Writes `.got.plt` from word `first` on. The word of each entry bound by name starts as the address of its
/// lazy part.
pub fn write_got_plt(image: &Image, dynamic: u64, first: u64, out: &mut [u8]) {
    let lazy = if image.ibt_plt { 0 } else { 6 };
    let entries = image.bases.plt + header_size(image.slots) + lazy;
    for (word, bytes) in (first..).zip(out.chunks_exact_mut(8)) {
        let value = match word.checked_sub(RESERVED_WORDS) {
            None if word == 0 => dynamic,
            Some(i) if i < u64::from(image.slots.jump_slots) => entries + ENTRY * i,
            _ => 0,
        };
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
