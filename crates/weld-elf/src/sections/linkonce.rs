//! `.gnu.linkonce.*`: what was there before COMDAT groups. Of all sections of one such name the first file's
//! survives.
//!
//! A name is `.gnu.linkonce.KIND.KEY`. Beside sections of the same name, a section competes with a COMDAT
//! group that has the key for its signature, if that has one member, which defines the same names: compilers
//! of two ages may meet in one link. A table `.gnu.linkonce.r.KEY` goes with the function
//! `.gnu.linkonce.t.KEY` of its own file that has lost, for nothing else refers to it.
//!
//! All sections are judged before, because whether one of this kind is anywhere is known only then. So this
//! is a walk over the objects that have any, and costs nothing where none has.
//!
//! Source: GNU ld manual, "Input Section Keep"; the names in the scripts that GNU ld prints; gABI chapter 4
//! for what took their place.

use std::collections::HashMap;

use super::{InputSection, SectionKind, Sections};
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::comdat::Comdats;

pub(super) const PREFIX: &[u8] = b".gnu.linkonce.";

/// An object by its number, and a header index in it.
type Place = (usize, u32);

/// The kind and the key of a section's name.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = name.strip_prefix(PREFIX)?;
    let dot = memchr::memchr(b'.', rest)?;
    Some((&rest[..dot], &rest[dot + 1..]))
}

/// The output section that GNU ld's scripts have for such a section.
pub(super) fn output_name(name: &[u8]) -> Option<&'static [u8]> {
    Some(match split(name)? {
        (b"d", key) if key.starts_with(b"rel.ro.") => b".data.rel.ro",
        (b"t", _) => b".text",
        (b"r", _) => b".rodata",
        (b"d", _) => b".data",
        (b"b", _) => b".bss",
        (b"td", _) => b".tdata",
        (b"tb", _) => b".tbss",
        // Hexagon's constants lie there, too.
        (b"s" | b"l4" | b"l8", _) => b".sdata",
        (b"sb", _) => b".sbss",
        (b"lt", _) => b".ltext",
        (b"lr", _) => b".lrodata",
        (b"l", _) => b".ldata",
        (b"lb", _) => b".lbss",
        (b"wi", _) => b".debug_info",
        _ => return None,
    })
}

/// Discards what has lost. `with` are the numbers of the objects that have such sections, ascending.
pub(super) fn settle(sections: &mut Sections, objects: &[Object], comdats: &Comdats, with: &[usize]) {
    let groups = lone_members(objects, comdats);
    let mut first: HashMap<&[u8], usize> = HashMap::new();
    let mut names = DefinedNames::default();
    let mut lost: Vec<Place> = Vec::new();
    for &index in with {
        let object = &objects[index];
        for shndx in 1..object.shdrs.len() as u32 {
            let Some(name) = object.section_name(shndx as usize).filter(|name| name.starts_with(PREFIX))
            else {
                continue;
            };
            if slot(sections, object, shndx).kind() == SectionKind::Discarded {
                continue;
            }
            let Some((kind, key)) = split(name) else { continue };
            // A file's own second section of the name is another one.
            let earlier = first.get(name).is_some_and(|of| *of != index);
            let rival = groups.get(key).filter(|group| names.are_same(objects, **group, (index, shndx)));
            let function = || [PREFIX, b"t.", key].concat();
            let is_orphan = || kind == b"r" && first.get(&function()[..]).is_some_and(|of| *of != index);
            match rival {
                _ if earlier => lost.push((index, shndx)),
                Some(&group) if group.0 <= index => lost.push((index, shndx)),
                Some(&group) => {
                    lost.push(group);
                    first.insert(name, index);
                }
                None if is_orphan() => lost.push((index, shndx)),
                None => _ = first.entry(name).or_insert(index),
            }
        }
    }
    lost.sort_unstable();
    for lost in lost.chunk_by(|a, b| a.0 == b.0) {
        discard(sections, objects, lost);
    }
}

fn slot<'s>(sections: &'s Sections, object: &Object, shndx: u32) -> &'s InputSection {
    &sections.list[(object.section_base + shndx) as usize]
}

/// What is known of sections of one object is forgotten, as of members of a COMDAT group that has lost. They
/// are sorted.
fn discard(sections: &mut Sections, objects: &[Object], lost: &[Place]) {
    let index = lost[0].0;
    let base = objects[index].section_base;
    let is_lost = |shndx: u32| lost.binary_search(&(index, shndx)).is_ok();
    for (_, shndx) in lost {
        let slot = &mut sections.list[(base + shndx) as usize];
        *slot = InputSection::default();
        slot.set_kind(SectionKind::Discarded);
    }
    let extra = &mut sections.objects[index];
    extra.merges.retain(|merge| !is_lost(merge.section.0 - base));
    for list in [&mut extra.retained, &mut extra.unallocated, &mut extra.c_named] {
        list.retain(|shndx| !is_lost(*shndx));
    }
    extra.followers.retain(|pair| !is_lost(pair.0) && !is_lost(pair.1));
}

/// The members of COMDAT groups that stay and have one, by their signatures.
fn lone_members<'a>(objects: &[Object<'a>], comdats: &Comdats) -> HashMap<&'a [u8], Place> {
    let mut found = HashMap::new();
    for (index, object) in objects.iter().enumerate() {
        for (g, group) in object.groups.iter().enumerate() {
            let words = object.group_words(group.shndx).unwrap_or_default();
            let is_table = |member: &u32| super::is_table(&object.shdrs[*member as usize]);
            let mut members = words.members().filter(|member| !is_table(member));
            if let (Some(only), None) = (members.next(), members.next())
                && comdats.survives(index as u32, object, g as u32)
            {
                let signature = object.symbol_name(object.shdrs[group.shndx as usize].sh_info());
                found.entry(signature).or_insert((index, only));
            }
        }
    }
    found
}

/// The global names that the sections of an object define, sorted; of the objects that have been asked about.
#[derive(Default)]
struct DefinedNames<'a> {
    by_object: HashMap<usize, HashMap<u32, Vec<&'a [u8]>>>,
}

impl<'a> DefinedNames<'a> {
    fn are_same(&mut self, objects: &[Object<'a>], a: Place, b: Place) -> bool {
        for (index, _) in [a, b] {
            self.by_object.entry(index).or_insert_with(|| defined_names(&objects[index]));
        }
        self.by_object[&a.0].get(&a.1) == self.by_object[&b.0].get(&b.1)
    }
}

fn defined_names<'a>(object: &Object<'a>) -> HashMap<u32, Vec<&'a [u8]>> {
    let mut found: HashMap<u32, Vec<&[u8]>> = HashMap::new();
    for i in object.first_global..object.syms.len() as u32 {
        if let SymbolPlace::Section(shndx) = object.place(i, &object.syms[i as usize]) {
            found.entry(shndx).or_default().push(object.symbol_name(i));
        }
    }
    found.values_mut().for_each(|names| names.sort_unstable());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_kind_and_key() {
        assert_eq!(split(b".gnu.linkonce.t.f.part.0"), Some((&b"t"[..], &b"f.part.0"[..])));
        assert_eq!(split(b".gnu.linkonce.armexidx"), None);
        assert_eq!(output_name(b".gnu.linkonce.d.rel.ro.local.x"), Some(&b".data.rel.ro"[..]));
        assert_eq!(output_name(b".gnu.linkonce.d.x"), Some(&b".data"[..]));
        assert_eq!(output_name(b".gnu.linkonce.l8.CONST_1"), Some(&b".sdata"[..]));
        assert_eq!(output_name(b".gnu.linkonce.zz.x"), None);
    }
}
