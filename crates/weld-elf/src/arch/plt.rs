//! Sizes and addresses of the PLT and of the part of the GOT that it jumps through.
//!
//! `.plt` has a header, if anything is bound by name, and an entry for each such symbol; `.iplt` has an entry
//! for each IFUNC of this output. `.got.plt` has some words for the loader, if anything is bound by name, and
//! a word for each entry, those of `.iplt` last. With marked entries (IBT), `.plt` keeps the lazy part of its
//! entries, and `.plt.sec` has those that are called. Retpolines always have the header, through which their
//! entries jump.

use crate::address::Address;
use weld_common::diag::DiagSink;

use super::facts::{Entries, Facts, SecondWay, TurnedCode};

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
    /// They are Thumb code, which their addresses say.
    Thumb,
    /// They have a second way in, for callers without the GOT's base; with instructions that have prefixes.
    Relative {
        prefixed: bool,
    },
}

impl Style {
    /// The style as a number, for files.
    pub fn code(self) -> u32 {
        let flags = |first, second| u32::from(first) | u32::from(second) << 1;
        match self {
            Style::Ordinary => 0,
            Style::Marked => 1 << 2,
            Style::Retpoline { lazy } => 2 << 2 | flags(lazy, false),
            Style::Guarded { marked, signed } => 3 << 2 | flags(marked, signed),
            Style::Anywhere { marked, retpoline } => 4 << 2 | flags(marked, retpoline),
            Style::Thumb => 5 << 2,
            Style::Relative { prefixed } => 6 << 2 | flags(prefixed, false),
        }
    }

    /// The style that has this number.
    pub fn of_code(code: u32) -> Option<Style> {
        let (first, second) = (code & 1 != 0, code & 2 != 0);
        let style = match code >> 2 {
            0 => Style::Ordinary,
            1 => Style::Marked,
            2 => Style::Retpoline { lazy: first },
            3 => Style::Guarded { marked: first, signed: second },
            4 => Style::Anywhere { marked: first, retpoline: second },
            5 => Style::Thumb,
            6 => Style::Relative { prefixed: first },
            _ => return None,
        };
        (style.code() == code).then_some(style)
    }

    fn entries(self, facts: &Facts) -> &Entries {
        let (ordinary, retpolines) = (&facts.plt.ordinary, facts.plt.retpolines.as_ref());
        match self {
            Style::Retpoline { lazy: true } => retpolines.map_or(ordinary, |r| &r.lazy),
            Style::Retpoline { lazy: false } => retpolines.map_or(ordinary, |r| &r.bound),
            Style::Guarded { .. } => facts.plt.guarded.as_ref().map_or(ordinary, |g| &g.entries),
            Style::Anywhere { .. } => facts.plt.anywhere.as_ref().unwrap_or(ordinary),
            Style::Ordinary | Style::Marked | Style::Thumb | Style::Relative { .. } => ordinary,
        }
    }

    /// Bytes before the first entry of `.plt` if so many entries are bound by name.
    pub fn header_size(self, facts: &Facts, jump_slots: u32) -> u64 {
        let retpoline = matches!(self, Style::Retpoline { .. } | Style::Anywhere { retpoline: true, .. });
        let needed = jump_slots > 0 || retpoline;
        if needed { self.entries(facts).header } else { 0 }
    }

    /// Bytes of an entry that is called.
    pub fn entry_size(self, facts: &Facts) -> u64 {
        match (self, second_way(facts)) {
            (Style::Relative { prefixed }, Some(second)) => second.long[usize::from(prefixed)],
            _ => self.entries(facts).entry,
        }
    }

    /// Bytes of an entry of `.plt`.
    pub fn plt_entry_size(self, facts: &Facts) -> u64 {
        facts.plt.apart.as_ref().map_or(self.entry_size(facts), |apart| apart.lazy)
    }

    /// Whether entries that are called lie in `.plt.sec`.
    fn is_apart(self, facts: &Facts) -> bool {
        self == Style::Marked || facts.plt.apart.is_some()
    }

    /// Added to the start of an entry for who has its address: the instruction set, or the second way in.
    pub fn address_offset(self, facts: &Facts) -> u64 {
        match (self, second_way(facts)) {
            (Style::Thumb, _) => 1,
            (Style::Relative { .. }, Some(second)) => second.offset,
            _ => 0,
        }
    }
}

/// The second way into entries, if there can be one.
fn second_way(facts: &Facts) -> Option<&SecondWay> {
    facts.plt.apart.as_ref()?.second.as_ref()
}

/// How the caller's frame is found from code of the PLT: from each offset on in it, how far above the stack
/// pointer the frame's address is, as `.sframe` has it. Less than 128 bytes, in ascending order of offsets.
pub type FrameRows = &'static [(u8, u8)];

/// The same for all of it.
pub struct Frames {
    /// Where the return address is, in bytes from the frame's address.
    pub return_address: i8,
    /// The header of `.plt`, and an entry there.
    pub header: FrameRows,
    pub entry: FrameRows,
    /// An entry of `.plt.sec` and of `.iplt`.
    pub called: FrameRows,
}

/// Bytes of `.plt`, `.plt.sec` and `.iplt` if so many entries are bound by name, and so many call a resolver.
pub struct Sizes {
    pub plt: u64,
    pub plt_sec: u64,
    pub iplt: u64,
}

impl Sizes {
    pub fn new(facts: &Facts, style: Style, jump_slots: u32, ifuncs: u32) -> Sizes {
        let entry = style.entry_size(facts);
        let bound = entry * u64::from(jump_slots);
        Sizes {
            plt: style.header_size(facts, jump_slots) + style.plt_entry_size(facts) * u64::from(jump_slots),
            plt_sec: if style.is_apart(facts) { bound } else { 0 },
            iplt: entry * u64::from(ifuncs),
        }
    }
}

/// The sections that entries may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Plt,
    PltSec,
    Iplt,
}

/// Where the entry is that is called, and how far from the start of its section.
pub fn place_of(facts: &Facts, jump_slots: u32, style: Style, entry: u32) -> (Table, u64) {
    let size = style.entry_size(facts);
    let (table, offset) = match entry.checked_sub(jump_slots) {
        Some(ifunc) => (Table::Iplt, size * u64::from(ifunc)),
        None if style.is_apart(facts) => (Table::PltSec, size * u64::from(entry)),
        None => (Table::Plt, style.header_size(facts, jump_slots) + size * u64::from(entry)),
    };
    (table, offset + style.address_offset(facts))
}

/// What is to be written, and where everything is that it refers to.
pub struct Plan<'p> {
    pub facts: &'static Facts,
    pub style: Style,
    /// How many entries are bound by name; those of IFUNCs follow.
    pub jump_slots: u32,
    /// There are no fixed addresses.
    pub pic: bool,
    pub plt: Address,
    pub plt_sec: Address,
    pub iplt: Address,
    pub got: Address,
    pub got_base: Address,
    pub got_plt: Address,
    /// The word of `.got.plt` that entry 0 jumps through.
    pub first_word: Address,
    /// What code may be used ([`super::facts::Attributes::features`]).
    pub features: u32,
    /// Jumps of entries have barriers for instructions.
    pub barriers: bool,
    /// How the bytes of instructions are turned, if they are.
    pub turned_code: Option<&'static TurnedCode>,
    /// For what does not reach.
    pub sink: &'p DiagSink,
}

impl Plan<'_> {
    /// Bytes before the first entry of `.plt`.
    pub fn header_size(&self) -> u64 {
        self.style.header_size(self.facts, self.jump_slots)
    }

    /// Bytes of an entry.
    pub fn entry_size(&self) -> u64 {
        self.style.entry_size(self.facts)
    }

    /// The word that an entry jumps through.
    pub fn word(&self, entry: u32) -> Address {
        self.first_word + self.facts.slot() * self.facts.plt.descriptor_words * u64::from(entry)
    }
}

/// The first entry of a section.
#[derive(Clone, Copy)]
pub struct First {
    pub number: u32,
    pub address: Address,
}

/// The entries of which there are bytes in `out`, which starts `start` bytes after the `first` of their
/// section: number, address and bytes of each.
pub fn entries(
    size: u64,
    first: First,
    start: u64,
    out: &mut [u8],
) -> impl Iterator<Item = (u32, Address, &mut [u8])> {
    let skipped = start / size;
    let numbered = (skipped..).zip(out.chunks_exact_mut(size as usize));
    numbered.map(move |(i, entry)| (first.number + i as u32, first.address + size * i, entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_have_numbers() {
        let known: Vec<Style> = (0..64).filter_map(Style::of_code).collect();
        assert_eq!(known.len(), 1 + 1 + 2 + 4 + 4 + 1 + 2);
        assert!(known.iter().all(|style| Style::of_code(style.code()) == Some(*style)));
        assert!(known.iter().enumerate().all(|(i, style)| !known[..i].contains(style)));
    }
}
