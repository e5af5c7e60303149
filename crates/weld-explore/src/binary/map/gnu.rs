//! Maps of GNU ld and gold, which GNU ld's manual calls a link map:
//!
//! ```text
//! Linker script and memory map                                             "Memory map", in gold's
//!
//! .text           0x0000000000001050      0x1bc
//!  *(.text .stub .text.*)
//!  .text          0x00000000000011c0       0x2f main.o
//!  .text._ZN4core3fmt5Write9write_fmtE
//!                 0x00000000000011f0       0x30 lib.a(member.o)
//!                 0x00000000000011f0                core::fmt::Write::write_fmt
//! ```
//!
//! A name that is too long for its column has a line of its own. What stands in front of the memory map is what was
//! discarded, in the same form.

use super::{File, Reader, hexadecimal};

/// The lines that the memory map follows.
pub const OF_GNU_LD: &str = "Linker script and memory map";
pub const OF_GOLD: &str = "Memory map";

/// A line with an address and a size.
struct Place<'t> {
    address: u64,
    size: u64,
    /// What comes behind.
    rest: &'t str,
}

impl<'t> Place<'t> {
    fn parse(text: &'t str) -> Option<Place<'t>> {
        let (address, rest) = text.trim_start().split_once(' ')?;
        let rest = rest.trim();
        let (size, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = |word: &str| word.starts_with("0x").then(|| hexadecimal(word)).flatten();
        Some(Place { address: number(address)?, size: number(size)?, rest: rest.trim_start() })
    }
}

/// Reads the memory map.
pub(super) fn read<'t>(text: &'t str, reader: &mut Reader<'_, '_, 't>) {
    let lines = text.lines().skip_while(|line| !matches!(line.trim(), OF_GNU_LD | OF_GOLD));
    let mut out = None;
    // A name whose place is on the next line.
    let mut open: Option<&str> = None;
    for line in lines.skip(1) {
        let (name, place) = match open.take() {
            Some(name) if line.starts_with("  ") => (name, line),
            _ => named(line),
        };
        if place.is_empty() {
            open = Some(name);
        }
        let Some(place) = Place::parse(place) else { continue };
        let Some(section) = name.strip_prefix(' ') else {
            out = reader.section(name, place.address);
            continue;
        };
        // Patterns of the script, gaps, and lines of symbols; what nobody brought.
        if section.starts_with([' ', '*']) || section.is_empty() || place.rest.is_empty() {
            continue;
        }
        if let Some(out) = reader.with(out, place.address) {
            let origin = reader.origin(File::parse(place.rest), section);
            reader.origins.add(out, place.address, place.size, origin);
        }
    }
}

/// The first word of a line with what stands in front of it, and the rest.
fn named(line: &str) -> (&str, &str) {
    let start = line.len() - line.trim_start().len();
    line.split_at(line[start..].find(' ').map_or(line.len(), |end| start + end))
}
