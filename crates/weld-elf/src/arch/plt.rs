//! Sizes and addresses of the PLT and of the part of the GOT that it jumps through.
//!
//! `.plt` has a header, if anything is bound by name, and an entry for each such symbol; `.iplt` has an entry
//! for each IFUNC of this output. `.got.plt` has some words for the loader, if anything is bound by name, and
//! a word for each entry, those of `.iplt` last. With marked entries (IBT), `.plt` keeps the lazy part of its
//! entries, and `.plt.sec` has those that are called. Retpolines always have the header, through which their
//! entries jump.

use super::facts::{Entries, Facts, GotBase};
use crate::layout::ChunkKind;
use crate::layout::addresses::Bases;
use crate::synth::image::Image;
use crate::synth::slots::Slots;

/// What entries are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Ordinary,
    /// They start with a mark for indirect branches (IBT).
    Marked,
    /// They jump without indirect jumps; `lazy`: some are bound when they are called first.
    Retpoline {
        lazy: bool,
    },
    /// They start with a mark for indirect branches, or check what they load.
    Guarded {
        marked: bool,
        signed: bool,
    },
    /// They need no register of their callers; all entries of an output are so, or none.
    Anywhere {
        marked: bool,
        retpoline: bool,
    },
}

impl Style {
    fn entries(self, facts: &Facts) -> &Entries {
        let (ordinary, retpolines) = (&facts.plt.ordinary, facts.plt.retpolines.as_ref());
        match self {
            Style::Retpoline { lazy: true } => retpolines.map_or(ordinary, |r| &r.lazy),
            Style::Retpoline { lazy: false } => retpolines.map_or(ordinary, |r| &r.bound),
            Style::Guarded { .. } => facts.plt.guarded.as_ref().map_or(ordinary, |g| &g.entries),
            Style::Anywhere { .. } => facts.plt.anywhere.as_ref().unwrap_or(ordinary),
            Style::Ordinary | Style::Marked => ordinary,
        }
    }

    /// Bytes before the first entry of `.plt` if so many entries are bound by name.
    pub fn header_size(self, facts: &Facts, jump_slots: u32) -> u64 {
        let retpoline = matches!(self, Style::Retpoline { .. } | Style::Anywhere { retpoline: true, .. });
        let needed = jump_slots > 0 || retpoline;
        if needed { self.entries(facts).header } else { 0 }
    }

    /// Bytes of an entry.
    pub fn entry_size(self, facts: &Facts) -> u64 {
        self.entries(facts).entry
    }
}

pub fn plt_size(facts: &Facts, slots: &Slots, style: Style) -> u64 {
    style.header_size(facts, slots.jump_slots) + style.entry_size(facts) * u64::from(slots.jump_slots)
}

pub fn plt_sec_size(facts: &Facts, slots: &Slots, style: Style) -> u64 {
    if style == Style::Marked { style.entry_size(facts) * u64::from(slots.jump_slots) } else { 0 }
}

pub fn iplt_size(facts: &Facts, slots: &Slots, style: Style) -> u64 {
    style.entry_size(facts) * slots.ifuncs().len() as u64
}

pub fn got_plt_size(facts: &Facts, slots: &Slots) -> u64 {
    facts.target.format.word() * (slots.reserved + slots.plt.len() as u64)
}

/// Where the entry is that is called: the chunk, and how far from its start.
pub fn place_of(facts: &Facts, slots: &Slots, style: Style, entry: u32) -> (ChunkKind, u64) {
    let size = style.entry_size(facts);
    match entry.checked_sub(slots.jump_slots) {
        Some(ifunc) => (ChunkKind::Iplt, size * u64::from(ifunc)),
        None if style == Style::Marked => (ChunkKind::PltSec, size * u64::from(entry)),
        None => (ChunkKind::Plt, style.header_size(facts, slots.jump_slots) + size * u64::from(entry)),
    }
}

/// The address of the entry that is called.
pub fn address_of(facts: &Facts, slots: &Slots, style: Style, bases: &Bases, entry: u32) -> u64 {
    let (chunk, offset) = place_of(facts, slots, style, entry);
    let start = match chunk {
        ChunkKind::Iplt => bases.iplt,
        ChunkKind::PltSec => bases.plt_sec,
        _ => bases.plt,
    };
    start + offset
}

/// The entries of which there are bytes in `out`, which starts `start` bytes after the first, number `first`,
/// of their section at `table`: number, address and bytes of each.
pub fn entries(
    size: u64,
    (first, table): (u32, u64),
    start: u64,
    out: &mut [u8],
) -> impl Iterator<Item = (u32, u64, &mut [u8])> {
    let skipped = start / size;
    let numbered = (skipped..).zip(out.chunks_exact_mut(size as usize));
    numbered.map(move |(i, entry)| (first + i as u32, table + size * i, entry))
}

/// Writes `.got.plt` from word `first` on.
pub fn write_got_plt(image: &Image, first: u64, out: &mut [u8]) {
    let machine = image.mode.machine;
    let reserved = image.slots.reserved;
    let apply = !image.reloc_form.addends || image.options.relocs.apply_dynamic_relocs;
    let format = image.format();
    let has_base = machine.facts().got_base == GotBase::GotPlt;
    let dynamic = image.layout.chunk_address(ChunkKind::Dynamic);
    for (word, bytes) in (first..).zip(out.chunks_exact_mut(format.word() as usize)) {
        let value = match word.checked_sub(reserved) {
            None if word == 0 && has_base => dynamic,
            Some(entry) if entry < u64::from(image.slots.jump_slots) => machine.unbound(image, entry as u32),
            // The addend of the relocation that calls the resolver.
            Some(entry) if apply => image.resolver(entry as u32),
            _ => 0,
        };
        format.put(bytes, value);
    }
}
