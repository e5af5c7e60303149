//! Which sections an object has that it had not, or has no more, where it is not what it was: to say so.
//!
//! Rows have no names of sections, but those of the output sections that they lie in. So sections are counted by these.

use std::collections::BTreeMap;

use super::rows::SectionRow;
use crate::elf::*;
use crate::input::object::Object;
use crate::sections::SectionKind;
use crate::sections::free_sections::{FREE, is_list};
use crate::sections::lost_groups::{LostSections, NONE};

/// The name of a section that has come, or was not in the output; or of an output section that the object has less in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    New(String),
    Gone(String),
}

/// The first difference between the sections of the object and those that its rows have; those aside that may come and go.
/// `outputs` are the names of all output sections.
pub fn first<'o>(
    rows: &[SectionRow],
    outputs: impl Iterator<Item = &'o [u8]>,
    (object, lost): (&Object, &LostSections),
) -> Option<Difference> {
    let outputs: Vec<&[u8]> = outputs.collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows {
        let is_free = row.number & FREE != 0 && row.number != NONE && !is_list(row.number);
        if !is_free && row.kind != SectionKind::Guest as u8 {
            *counts.entry(row.output as usize).or_default() += 1;
        }
    }
    let numbers = lost.numbers();
    let mut new = None;
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let number = numbers.get(index).copied().unwrap_or(index as u32);
        let is_table = matches!(
            shdr.sh_type(),
            SHT_NULL | SHT_RELA | SHT_REL | SHT_CREL | SHT_SYMTAB | SHT_STRTAB | SHT_GROUP | SHT_SYMTAB_SHNDX
        );
        let is_free = number & FREE != 0 && !is_list(number);
        if is_table || is_free || shdr.sh_flags() & SHF_EXCLUDE != 0 {
            continue;
        }
        let name = object.section_name(index).unwrap_or_default();
        let begins = |out: &[u8]| {
            let is_loaded = shdr.sh_flags() & SHF_ALLOC != 0;
            let rest = name.strip_prefix(out);
            rest.is_some_and(|rest| rest.is_empty() || is_loaded && rest[0] == b'.')
        };
        let fits = outputs.iter().enumerate().filter(|(_, out)| !out.is_empty() && begins(out));
        let place = fits.max_by_key(|(_, out)| out.len()).map(|(place, _)| place);
        match place.and_then(|place| counts.get_mut(&place)).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            // What is empty may have been left out.
            None if shdr.sh_size() == 0 || !is_seen(shdr, name) => {}
            None => new = new.or(Some(name)),
        }
    }
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    if let Some(name) = new {
        return Some(Difference::New(text(name)));
    }
    let gone = counts.into_iter().find(|(_, left)| *left > 0)?.0;
    outputs.get(gone).map(|name| Difference::Gone(text(name)))
}

/// Whether a section is one that lies in outputs.
fn is_seen(shdr: &Shdr, name: &[u8]) -> bool {
    shdr.sh_flags() & SHF_ALLOC != 0 || name.starts_with(b".debug_")
}
