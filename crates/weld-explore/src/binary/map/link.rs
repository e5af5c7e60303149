//! Maps of link.exe and lld-link (`/map`), which have symbols by address:
//!
//! ```text
//!  Preferred load address is 0000000140000000
//!
//!  Start         Length     Name                   Class
//!  0001:00000000 0000031cH .text$mn                CODE
//!
//!   Address         Publics by Value              Rva+Base               Lib:Object
//!
//!  0001:00000000       main                       0000000140001000 f   main.obj
//!  0001:00000040       ?f@@YAXXZ                  0000000140001040 f i lib:member.obj
//! ```
//!
//! Addresses are the number of a section and an offset in it. A symbol is told to be a function (`f`) or inline (`i`).
//! How large it is, is not: it goes on to the next, or to the end of the part that it lies in, and so does what its
//! object brought.

use std::collections::HashMap;

use super::{File, Reader, hexadecimal};
use crate::cover::Claim;

/// What the line starts with that tells the image's base.
pub const BASE: &str = "Preferred load address is";

/// A number of a section, from 1, and an offset in it.
type Address = (u64, u64);

/// What has one name in objects: in which bytes of a section.
struct Part<'t> {
    start: Address,
    size: u64,
    name: &'t str,
}

/// A symbol.
struct Symbol<'t> {
    start: Address,
    name: &'t str,
    /// Where it came from, unless the linker made it.
    file: Option<File<'t>>,
}

/// Reads the map of an image at the same base.
pub(super) fn read<'t>(text: &'t str, reader: &mut Reader<'_, '_, 't>) {
    let mut parts: Vec<Part> = Vec::new();
    let mut symbols: Vec<Symbol> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(base) = line.strip_prefix(BASE) {
            if hexadecimal(base.trim()) != Some(reader.container.base()) {
                return;
            }
        } else if let Some(symbol) = symbol(line) {
            symbols.push(symbol);
        } else if let Some(part) = part(line) {
            parts.push(part);
        }
    }
    parts.sort_by_key(|part| part.start);
    // Those that others can see come first in the map, and go first where several start together.
    symbols.sort_by_key(|symbol| symbol.start);
    reader.symbols = vec![Vec::new(); reader.container.sections.len()];
    // What an object brought to a part is one section of it.
    let mut origins: HashMap<(File, usize), u32> = HashMap::new();
    for (at, first) in symbols.iter().enumerate() {
        if at > 0 && symbols[at - 1].start == first.start {
            continue;
        }
        let (number, offset) = first.start;
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(section) = reader.container.of_index.get(number).copied().flatten() else { continue };
        let behind = parts.partition_point(|part| part.start <= first.start);
        let part = parts[..behind]
            .last()
            .filter(|part| part.start.0 == first.start.0 && offset - part.start.1 < part.size);
        let place = &reader.container.sections[section];
        let end = part.map_or(place.memory.max(place.size), |part| part.start.1.saturating_add(part.size));
        let next = symbols[at..].iter().map(|symbol| symbol.start).find(|start| *start != first.start);
        let end = next.filter(|next| next.0 == first.start.0).map_or(end, |next| next.1.min(end));
        let size = end.saturating_sub(offset);
        reader.symbols[section].push(Claim { offset, size, what: first.name.as_bytes() });
        if let Some(file) = first.file {
            let start = place.address.wrapping_add(offset);
            let name = part.map_or("", |part| part.name);
            let origin = *origins.entry((file, behind)).or_insert_with(|| reader.origin(file, name));
            reader.origins.add(section, start, size, origin);
        }
    }
}

/// `0001:00000040`
fn address(word: &str) -> Option<Address> {
    let (section, offset) = word.split_once(':')?;
    let is_address = section.len() == 4 && offset.len() == 8;
    is_address.then(|| Some((hexadecimal(section)?, hexadecimal(offset)?))).flatten()
}

/// The next word of a text, and what follows.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (!word.is_empty()).then_some((word, rest))
}

fn part(line: &str) -> Option<Part<'_>> {
    let (start, rest) = word(line)?;
    let (size, rest) = word(rest)?;
    let (name, _) = word(rest)?;
    Some(Part { start: address(start)?, size: hexadecimal(size.strip_suffix('H')?)?, name })
}

fn symbol(line: &str) -> Option<Symbol<'_>> {
    let (start, rest) = word(line)?;
    let (name, rest) = word(rest)?;
    let (memory, mut rest) = word(rest)?;
    let start = address(start)?;
    // A part has a name there.
    if !matches!(memory.len(), 8 | 16) || hexadecimal(memory).is_none() {
        return None;
    }
    while let Some(("f" | "i", after)) = word(rest) {
        rest = after;
    }
    Some(Symbol { start, name, file: file(rest.trim()) })
}

/// `main.obj` or `lib:member.obj`; `None` for what the linker made (`<absolute>`, `* Linker *`).
fn file(text: &str) -> Option<File<'_>> {
    if text.is_empty() || text.starts_with(['<', '*']) {
        return None;
    }
    // A single letter is a drive.
    let member = text.split_once(':').filter(|(library, _)| library.len() > 1);
    Some(match member {
        Some((library, member)) => File { path: library, member: Some(member) },
        None => File { path: text, member: None },
    })
}
