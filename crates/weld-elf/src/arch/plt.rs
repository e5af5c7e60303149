//! Sizes and addresses of the PLT and of the part of the GOT that it jumps through.
//!
//! `.plt` has a header, if anything is bound by name, and an entry for each symbol; `.got.plt` some words for the
//! loader and a word for each entry. Entries of IFUNCs of this output come last. With marked entries
//! (IBT), `.plt` keeps the lazy part of the entries that are bound by name, and `.plt.sec` has all the
//! entries that are called. Retpolines always have the header, through which their entries jump.

use super::facts::{Entries, Facts, GotBase};
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
    let entries = if style == Style::Marked { slots.jump_slots as usize } else { slots.plt.len() };
    style.header_size(facts, slots.jump_slots) + style.entry_size(facts) * entries as u64
}

pub fn plt_sec_size(facts: &Facts, slots: &Slots, style: Style) -> u64 {
    if style == Style::Marked { style.entry_size(facts) * slots.plt.len() as u64 } else { 0 }
}

pub fn got_plt_size(facts: &Facts, slots: &Slots) -> u64 {
    facts.target.format.word() * (facts.plt.reserved_words + slots.plt.len() as u64)
}

/// How far from the start of `.plt`, or of `.plt.sec`, the entry is that is called.
pub fn entry_offset(facts: &Facts, slots: &Slots, style: Style, entry: u32) -> u64 {
    let header = if style == Style::Marked { 0 } else { style.header_size(facts, slots.jump_slots) };
    header + style.entry_size(facts) * u64::from(entry)
}

/// Writes `.got.plt` from word `first` on.
pub fn write_got_plt(image: &Image, first: u64, out: &mut [u8]) {
    let machine = image.mode.machine;
    let reserved = machine.facts().plt.reserved_words;
    let format = image.format();
    let has_base = machine.facts().got_base == GotBase::GotPlt;
    let dynamic = image.layout.chunk_address(crate::layout::ChunkKind::Dynamic);
    for (word, bytes) in (first..).zip(out.chunks_exact_mut(format.word() as usize)) {
        let value = match word.checked_sub(reserved) {
            None if word == 0 && has_base => dynamic,
            Some(entry) if entry < u64::from(image.slots.jump_slots) => machine.unbound(image, entry as u32),
            // The addend of the relocation that calls the resolver, if it has none of its own.
            Some(entry) if !image.reloc_form.addends => image.resolver(entry as u32),
            _ => 0,
        };
        format.put(bytes, value);
    }
}
