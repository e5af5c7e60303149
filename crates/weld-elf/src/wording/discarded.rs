//! References to sections of COMDAT groups that lost: which copy stays, and where.

use super::shown;
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::comdat::signature;
use crate::sections::{SectionKind, Sections};

/// Notes on section `shndx` of `object`, which lost.
pub fn notes(
    options: &Options,
    objects: &[Object],
    sections: &Sections,
    object: &Object,
    shndx: u32,
) -> Vec<String> {
    let label = object.section_label(shndx as usize);
    let mut notes = vec![format!("defined in section {label} of {}", object.name)];
    let holds = |o: &Object, words: u32, member: u32| {
        let words = o.group_words(words).unwrap_or_default();
        words.members().any(|w| w == member)
    };
    let Some(group) = object.groups.iter().find(|g| holds(object, g.shndx, shndx)) else { return notes };
    let id = signature(object, group);
    let index = object.shdrs[group.shndx as usize].sh_info();
    let name = object.symbol_name(index);
    if !name.is_empty() {
        notes.push(format!("which is in the section group {}", shown(options, name)));
    }
    let stays = |o: &Object, group: u32| {
        let words = o.group_words(group).unwrap_or_default();
        let kind = |w: u32| sections.list.get((o.section_base + w) as usize).map(|s| s.kind());
        words.members().all(|w| kind(w) != Some(SectionKind::Discarded))
    };
    for other in objects.iter().filter(|o| o.file != object.file) {
        if other.groups.iter().any(|g| signature(other, g) == id && stays(other, g.shndx)) {
            notes.push(format!("the copy of the group that stays is in {}", other.name));
            break;
        }
    }
    notes
}
