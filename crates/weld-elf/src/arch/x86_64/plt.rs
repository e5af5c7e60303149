//! The procedure linkage table and the part of the GOT that it jumps through.
//!
//! `.plt` holds a header that calls the loader and 16 bytes an entry; `.got.plt` three reserved
//! words (address of `.dynamic`, two for the loader) and a word an entry. `.iplt` has entries for
//! IFUNCs of this output, whose words `R_X86_64_IRELATIVE` fills. With IBT, `.plt` keeps the lazy
//! part and `.plt.sec` the entries that are called, both starting with `endbr64`, as those of `.iplt` do.
//!
//! `-z retpolineplt`: an entry loads its word and goes to the header, where a call, whose return address is
//! replaced by the word, and a return make the jump. The processor takes the call's own return address for
//! the target; there is a loop that does nothing.
//!
//! Specification: x86-64 psABI 5.2 "Dynamic Linking", "Procedure Linkage Table", and 13 (CET).

use crate::address::Address;
use crate::arch::facts::{Entries, Plt, Retpolines};
use crate::arch::plt::{self, First, Frames, Plan, Style};

/// Bytes of an entry.
const ENTRY: u64 = 16;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: ENTRY, entry: ENTRY },
    retpolines: Some(Retpolines {
        lazy: Entries { header: LAZY_HEADER.len() as u64, entry: LAZY_ENTRY.len() as u64 },
        bound: Entries { header: BOUND_HEADER.len() as u64, entry: BOUND_ENTRY.len() as u64 },
    }),
    align: 16,
    frames,
    // DT_X86_64_PLT, DT_X86_64_PLTSZ, DT_X86_64_PLTENT
    marks: Some([0x7000_0000, 0x7000_0001, 0x7000_0003]),
    reserved_words: 3,
    ..Plt::NONE
};

/// An entry is entered by a call, which has pushed the return address. What calls the loader pushes the
/// entry's number and goes to the header, which pushes a word of its own.
fn frames(style: Style) -> Option<&'static Frames> {
    const HEADER: plt::FrameRows = &[(0, 16), (6, 24)];
    const CALLED: plt::FrameRows = &[(0, 8)];
    const ORDINARY: Frames =
        Frames { return_address: -8, header: HEADER, entry: &[(0, 8), (11, 16)], called: CALLED };
    const MARKED: Frames =
        Frames { return_address: -8, header: HEADER, entry: &[(0, 8), (9, 16)], called: CALLED };
    match style {
        Style::Ordinary => Some(&ORDINARY),
        Style::Marked => Some(&MARKED),
        // The code that jumps is called by entries and by the header.
        _ => None,
    }
}

#[rustfmt::skip]
const LAZY_HEADER: [u8; 48] = [
    // push GOTPLT+8(%rip); mov GOTPLT+16(%rip), %r11
    0xff, 0x35, 0, 0, 0, 0, 0x4c, 0x8b, 0x1d, 0, 0, 0, 0,
    // call 2f
    0xe8, 0x0e, 0, 0, 0,
    // 1: pause; lfence; jmp 1b
    0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
    // 2: mov %r11, (%rsp); ret
    0x4c, 0x89, 0x1c, 0x24, 0xc3,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];
/// Offsets in [`LAZY_HEADER`]: of the loop and of the jump.
const LAZY_LOOP: u64 = 18;
const LAZY_JUMP: u64 = 32;

#[rustfmt::skip]
const LAZY_ENTRY: [u8; 32] = [
    // mov slot(%rip), %r11; call 2 of the header; jmp 1 of the header
    0x4c, 0x8b, 0x1d, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,
    // push index; jmp header
    0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];
/// Offset in [`LAZY_ENTRY`] of what calls the loader.
const LAZY_PART: u64 = 17;

#[rustfmt::skip]
const BOUND_HEADER: [u8; 32] = [
    // call 2f
    0xe8, 0x0b, 0, 0, 0,
    // 1: pause; lfence; jmp 1b
    0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
    0xcc, 0xcc, 0xcc, 0xcc,
    // 2: mov %r11, (%rsp); ret
    0x4c, 0x89, 0x1c, 0x24, 0xc3,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];

/// `mov slot(%rip), %r11; jmp header`
const BOUND_ENTRY: [u8; 16] = [0x4c, 0x8b, 0x1d, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc];

/// Writes a signed distance; the caller has checked that the image spans less than 2 GiB.
fn put_distance(out: &mut [u8], at: usize, target: Address, next: Address) {
    out[at..at + 4].copy_from_slice(&(target.wrapping_sub(next) as i32).to_le_bytes());
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
    if let Style::Retpoline { lazy } = plan.style {
        return write_retpolines(plan, lazy, start, out);
    }
    let base = plan.plt;
    let header = plan.header_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        // push GOTPLT+8(%rip); jmp *GOTPLT+16(%rip); nop
        head.copy_from_slice(&[0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0x00]);
        put_distance(head, 2, plan.got_plt + 8, base + 6);
        put_distance(head, 8, plan.got_plt + 16, base + 12);
    }
    for (i, address, entry) in plt::entries(
        ENTRY,
        First { number: 0, address: base + header },
        start.saturating_sub(header),
        entries,
    ) {
        if plan.style == Style::Marked {
            // endbr64; push index; jmp header; nop
            entry.copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0x66, 0x90]);
            entry[5..9].copy_from_slice(&i.to_le_bytes());
            put_distance(entry, 10, base, address + 14);
            continue;
        }
        write_ordinary(plan, i, i, address, entry);
    }
}

/// Writes entry `i`, number `index` of its section, at `address`.
fn write_ordinary(plan: &Plan, i: u32, index: u32, address: Address, entry: &mut [u8]) {
    // jmp *slot(%rip); push index; jmp header
    entry.copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0]);
    put_distance(entry, 2, plan.word(i), address + 6);
    entry[7..11].copy_from_slice(&index.to_le_bytes());
    put_distance(entry, 12, plan.plt, address + 16);
}

/// Writes `.iplt` from byte `start` on, where an entry starts. What follows the jumps is never reached.
pub fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
    let first = plan.jump_slots;
    let size = plan.entry_size();
    for (i, address, entry) in plt::entries(size, First { number: first, address: plan.iplt }, start, out) {
        match plan.style {
            Style::Retpoline { lazy } => write_retpoline(plan, lazy, i, address, entry),
            Style::Marked => write_marked(plan, i, address, entry),
            _ => write_ordinary(plan, i, i - first, address, entry),
        }
    }
}

/// `.plt` of `-z retpolineplt`.
fn write_retpolines(plan: &Plan, lazy: bool, start: u64, out: &mut [u8]) {
    let base = plan.plt;
    let header = plan.header_size();
    let size = plan.entry_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() && lazy {
        head.copy_from_slice(&LAZY_HEADER);
        put_distance(head, 2, plan.got_plt + 8, base + 6);
        put_distance(head, 9, plan.got_plt + 16, base + 13);
    } else if !head.is_empty() {
        head.copy_from_slice(&BOUND_HEADER);
    }
    for (i, address, entry) in
        plt::entries(size, First { number: 0, address: base + header }, start.saturating_sub(header), entries)
    {
        write_retpoline(plan, lazy, i, address, entry);
    }
}

/// Writes an entry of `-z retpolineplt` at `address`.
fn write_retpoline(plan: &Plan, lazy: bool, i: u32, address: Address, entry: &mut [u8]) {
    let base = plan.plt;
    if lazy {
        entry.copy_from_slice(&LAZY_ENTRY);
        put_distance(entry, 8, base + LAZY_JUMP, address + 12);
        put_distance(entry, 13, base + LAZY_LOOP, address + 17);
        entry[18..22].copy_from_slice(&i.to_le_bytes());
        put_distance(entry, 23, base, address + 27);
    } else {
        entry.copy_from_slice(&BOUND_ENTRY);
        put_distance(entry, 8, base, address + 12);
    }
    put_distance(entry, 3, plan.word(i), address + 7);
}

/// Writes `.plt.sec` from byte `start` on, where an entry starts.
pub fn write_plt_sec(plan: &Plan, start: u64, out: &mut [u8]) {
    for (i, address, entry) in plt::entries(ENTRY, First { number: 0, address: plan.plt_sec }, start, out) {
        write_marked(plan, i, address, entry);
    }
}

/// Writes an entry that starts with a mark, at `address`.
fn write_marked(plan: &Plan, i: u32, address: Address, entry: &mut [u8]) {
    // endbr64; jmp *slot(%rip); nop
    entry.copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0]);
    put_distance(entry, 6, plan.word(i), address + 10);
}

/// The word of an entry bound by name starts as the address of its lazy part.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    let lazy = match plan.style {
        Style::Ordinary
        | Style::Guarded { .. }
        | Style::Anywhere { .. }
        | Style::Thumb
        | Style::Relative { .. } => 6,
        Style::Marked => 0,
        Style::Retpoline { lazy: true } => LAZY_PART,
        // All are bound before anything runs.
        Style::Retpoline { lazy: false } => return Address::ZERO,
    };
    let header = plan.header_size();
    plan.plt + header + plan.entry_size() * u64::from(entry) + lazy
}
