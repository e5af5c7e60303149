//! The procedure linkage table of a static executable: an entry for each IFUNC, which jumps through its word of
//! `.got.plt`. `R_386_IRELATIVE` fills these words; before that they hold the resolvers' addresses.
//!
//! With IBT the entries are in `.plt.sec` and start with `endbr32`; `.plt` is then empty.
//!
//! Specification: Intel386 psABI 5.2 "Procedure Linkage Table".

use crate::synth::image::Image;

/// Bytes of an entry.
pub const ENTRY: u64 = 16;

/// `jmp *slot`
fn put_jump(out: &mut [u8], slot: u64) {
    out[..2].copy_from_slice(&[0xff, 0x25]);
    out[2..6].copy_from_slice(&(slot as u32).to_le_bytes());
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(image: &Image, start: u64, out: &mut [u8]) {
    for (i, entry) in ((start / ENTRY) as u32..).zip(out.chunks_exact_mut(ENTRY as usize)) {
        put_jump(entry, image.got_plt_address(i));
        entry[6..].fill(0xcc);
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
