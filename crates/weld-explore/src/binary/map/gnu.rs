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
use crate::cover::Claim;

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
pub(super) fn read<'t>(text: &'t str, reader: &mut Reader<'_, '_, 't>) -> Vec<Vec<Claim<&'t [u8]>>> {
    let mut lines = text.lines().skip_while(|line| !matches!(line.trim(), OF_GNU_LD | OF_GOLD));
    lines.next();
    let mut out = None;
    // A name whose place is on the next line.
    let mut named: Option<&str> = None;
    for line in lines {
        let (name, place) = match named.take() {
            Some(name) if line.starts_with("  ") => (name, Place::parse(line)),
            _ => {
                let end = line
                    .trim_start()
                    .find(' ')
                    .map_or(line.len(), |end| line.len() - line.trim_start().len() + end);
                let (name, place) = line.split_at(end);
                if place.is_empty() {
                    named = Some(name);
                }
                (name, Place::parse(place))
            }
        };
        let Some(place) = place else { continue };
        match name.strip_prefix(' ') {
            None => out = reader.section(name, place.address),
            // A pattern of the script, a gap, or a line of a symbol.
            Some(section) if section.is_empty() || section.starts_with([' ', '*']) => {}
            Some(section) if !place.rest.is_empty() => {
                if let Some(out) = reader.with(out, place.address) {
                    let origin = reader.origin(File::parse(place.rest), section);
                    reader.origins.add(out, place.address, place.size, origin);
                }
            }
            Some(_) => {}
        }
    }
    Vec::new()
}
