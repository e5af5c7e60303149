//! Origins from the map of a link, as `ld.lld -Map` and `weld -Map --map-format=lld` write it:
//!
//! ```text
//!              VMA              LMA     Size Align Out     In      Symbol
//!             11c0             11c0       2f    16         main.o:(.text)
//! ```
//!
//! Members of archives are spelled `lib.a(member.o):(.text)`. Lines that are anything else are passed over: of
//! output sections, of symbols, of what the linker makes.

use std::collections::HashMap;

use super::container::Container;
use super::origins::{Origin, Origins};
use crate::model::Language;

/// A line that says where an input section lies.
#[derive(Debug, PartialEq, Eq)]
struct Line<'t> {
    address: u64,
    size: u64,
    path: &'t str,
    member: Option<&'t str>,
    section: &'t str,
}

impl<'t> Line<'t> {
    fn parse(text: &'t str) -> Option<Line<'t>> {
        let mut rest = text;
        let mut column = || {
            rest = rest.trim_start();
            let (word, after) = rest.split_once(' ')?;
            rest = after;
            Some(word)
        };
        let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
        let address = hexadecimal(column()?)?;
        hexadecimal(column()?)?;
        let size = hexadecimal(column()?)?;
        column()?.parse::<u64>().ok()?;
        let (file, section) = rest.trim_start().strip_suffix(')')?.rsplit_once(":(")?;
        if file.starts_with('<') || file.is_empty() {
            return None;
        }
        let (path, member) = match file.strip_suffix(')').and_then(|file| file.rsplit_once('(')) {
            Some((path, member)) => (path, Some(member)),
            None => (file, None),
        };
        Some(Line { address, size, path, member, section })
    }
}

/// What a map says of the file; `None` if it says nothing.
pub(super) fn origins(text: &str, container: &Container) -> Option<Origins> {
    let mut origins = Origins::default();
    let mut objects: HashMap<(&str, Option<&str>), u32> = HashMap::new();
    // Sections that are not in memory start at 0 each, and come after each other.
    let mut last = None;
    for line in text.lines() {
        let Some(line) = Line::parse(line) else {
            last = output_section(line, container).or(last);
            continue;
        };
        let count = objects.len() as u32;
        let object = *objects.entry((line.path, line.member)).or_insert(count);
        let holds = |section: &super::container::Section| {
            line.address.wrapping_sub(section.address) < section.memory.max(section.size)
        };
        let section = last.filter(|last| holds(&container.sections[*last]));
        if let Some(section) = section {
            origins.add(section, line.address, line.size, origins.list.len() as u32);
            origins.list.push(Origin {
                object,
                name: line.member.unwrap_or(line.path).to_owned(),
                archive: line.member.map(|_| line.path.to_owned()),
                section: line.section.to_owned(),
                source: String::new(),
                language: Language::Unknown,
            });
        }
    }
    origins.sort();
    (!origins.list.is_empty()).then_some(origins)
}

/// The section whose line this is.
fn output_section(line: &str, container: &Container) -> Option<usize> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [address, _, _, align, name] = words[..] else { return None };
    align.parse::<u64>().ok()?;
    let address = u64::from_str_radix(address, 16).ok()?;
    container
        .sections
        .iter()
        .position(|section| section.name == name.as_bytes() && section.address == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let line = "            11c0             11c0       2f    16         main.o:(.text)";
        let want = Line { address: 0x11c0, size: 0x2f, path: "main.o", member: None, section: ".text" };
        assert_eq!(Line::parse(line), Some(want));
        let line = "  11c0  11c0  2f  16  a dir/lib(1).a(m.o):(.text._Z1fv)";
        let want = Line {
            address: 0x11c0,
            size: 0x2f,
            path: "a dir/lib(1).a",
            member: Some("m.o"),
            section: ".text._Z1fv",
        };
        assert_eq!(Line::parse(line), Some(want));
        for line in [
            "",
            "VMA LMA Size Align Out In Symbol",
            "1 1 1 1 .text",
            "1 1 1 1 <internal>:(.got)",
            "1 1 1 1 main",
        ] {
            assert_eq!(Line::parse(line), None, "{line}");
        }
    }
}
