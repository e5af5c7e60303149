//! Maps with a line of columns for each section:
//!
//! ```text
//!              VMA              LMA     Size Align Out     In      Symbol        ld.lld, weld --map-format=lld
//!             11c0             11c0       2f    16         main.o:(.text)
//!
//!                VMA       Size Align Out     In      Symbol                     mold
//!             0x11c0         47    16         main.o:(.text)
//!
//! Address  Size     Align Out     In      Symbol                                 lld-link /lldmap, from the image's base
//! 000011c0 0000002f    16         main.obj:(.text)
//! ```
//!
//! Members of archives are spelled `lib.a(member.o):(.text)`.

use super::{File, Reader, hexadecimal};

/// What stands in front of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Addresses in memory and where they are loaded, size, alignment.
    Lld,
    /// Address, size in decimal digits, alignment.
    Mold,
    /// Address from the image's base, size, alignment.
    LldLink,
}

impl Columns {
    pub fn of_header(line: &str) -> Option<Columns> {
        let mut words = line.split_whitespace();
        match (words.next()?, words.next()?, words.next()?) {
            ("VMA", "LMA", "Size") => Some(Columns::Lld),
            ("VMA", "Size", "Align") => Some(Columns::Mold),
            ("Address", "Size", "Align") => Some(Columns::LldLink),
            _ => None,
        }
    }

    /// Address, size, and what stands behind the columns.
    fn split(self, line: &str) -> Option<(u64, u64, &str)> {
        let mut rest = line;
        let mut column = || {
            let (word, after) = rest.trim_start().split_once(' ')?;
            rest = after;
            Some(word)
        };
        let address = hexadecimal(column()?)?;
        if self == Columns::Lld {
            hexadecimal(column()?)?;
        }
        let size = column()?;
        let size = if self == Columns::Mold { size.parse().ok()? } else { hexadecimal(size)? };
        column()?.parse::<u64>().ok()?;
        Some((address, size, rest.trim()))
    }
}

/// Reads all lines.
pub(super) fn read<'t>(text: &'t str, columns: Columns, reader: &mut Reader<'_, '_, 't>) {
    let base = match columns {
        Columns::LldLink => reader.container.base(),
        Columns::Lld | Columns::Mold => 0,
    };
    // Sections that are not in memory start at 0 each, and come after each other.
    let mut last = None;
    for line in text.lines() {
        let Some((address, size, what)) = columns.split(line) else { continue };
        let address = address.wrapping_add(base);
        let Some((file, section)) = of_object(what) else {
            last = reader.section(what, address).or(last);
            continue;
        };
        if let Some(out) = reader.with(last, address) {
            let origin = reader.origin(file, section);
            reader.origins.add(out, address, size, origin);
        }
    }
}

/// `FILE:(SECTION)`, if it is not the linker's.
fn of_object(text: &str) -> Option<(File<'_>, &str)> {
    let (file, section) = text.strip_suffix(')')?.rsplit_once(":(")?;
    let is_object = !file.starts_with('<') && !file.is_empty();
    is_object.then(|| (File::parse(file), section))
}
