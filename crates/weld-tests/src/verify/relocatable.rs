//! What the next linker relies on in a `-r` output: relocation sections name their target, groups
//! precede their members and own them, links follow sections to their new places.

use super::Problems;
use crate::elf::Image;
use object::elf;
use std::collections::HashSet;

pub fn verify(image: &Image, p: &mut Problems) -> Result<(), String> {
    p.check(image.segments.is_empty(), || "a relocatable file has program headers".to_owned());
    let symtab = image.sections.iter().position(|s| s.sh_type == elf::SHT_SYMTAB.0);
    for (i, s) in image.sections.iter().enumerate() {
        p.check(s.addr == 0, || format!("{} has an address", s.name));
        if let Some(prefix) = prefix_of_relocs(s.sh_type) {
            let target = image.sections.get(s.info as usize).filter(|_| s.info != 0);
            p.check(target.is_some(), || format!("{}: sh_info {}", s.name, s.info));
            p.check(Some(s.link as usize) == symtab, || format!("{}: sh_link is not .symtab", s.name));
            if let Some(t) = target {
                let inside = image.relocs.iter().filter(|r| r.section == i).all(|r| r.offset < t.size);
                p.check(inside, || format!("{}: a relocation is outside {}", s.name, t.name));
                p.check(s.name == format!("{prefix}{}", t.name), || {
                    format!("{} relocates {}", s.name, t.name)
                });
            }
        }
        if s.flags & elf::SHF_LINK_ORDER.0 != 0 {
            p.check(s.link != 0, || format!("{}: SHF_LINK_ORDER without a link", s.name));
        }
    }
    for r in &image.relocs {
        p.check((r.symbol as usize) < image.symbols.len(), || format!("relocation with symbol {}", r.symbol));
    }
    groups(image, symtab, p)
}

/// What the names of sections with relocations begin with.
pub fn prefix_of_relocs(sh_type: u32) -> Option<&'static str> {
    match sh_type {
        t if t == elf::SHT_RELA.0 => Some(".rela"),
        t if t == elf::SHT_REL.0 => Some(".rel"),
        _ => None,
    }
}

fn groups(image: &Image, symtab: Option<usize>, p: &mut Problems) -> Result<(), String> {
    let mut owned = HashSet::new();
    for (i, g) in image.sections.iter().enumerate().filter(|(_, s)| s.sh_type == elf::SHT_GROUP.0) {
        p.check(Some(g.link as usize) == symtab, || "a group's sh_link is not .symtab".to_owned());
        p.check((g.info as usize) < image.symbols.len(), || "a group without a signature".to_owned());
        let words = image.contents(g)?;
        for at in (4..words.len()).step_by(4) {
            let member = image.form.u32_at(words, at)?;
            let Some(s) = image.sections.get(member as usize) else {
                p.add(format!("group member {member}"));
                continue;
            };
            p.check(s.flags & elf::SHF_GROUP.0 != 0, || format!("{}: member without SHF_GROUP", s.name));
            p.check(owned.insert(member), || format!("{} is in two groups", s.name));
            p.check(i < member as usize, || format!("{} precedes its group", s.name));
        }
    }
    for (i, s) in image.sections.iter().enumerate().filter(|(_, s)| s.flags & elf::SHF_GROUP.0 != 0) {
        p.check(owned.contains(&(i as u32)), || format!("{}: SHF_GROUP outside a group", s.name));
    }
    Ok(())
}
