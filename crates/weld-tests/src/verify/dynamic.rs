//! The dynamic table and dynamic relocations: tags agree with the sections they describe, each
//! relocation is of a type the loader knows and changes memory it may write, none twice.

use super::Problems;
use crate::elf::Image;
use crate::elf::image::{Reloc, string_at};
use crate::elf::machine::Machine;
use crate::elf::query::tag_name;
use object::elf;
use std::collections::HashSet;

/// Tags whose value is the address, or the size, of a section.
fn section_tags() -> [(i64, &'static str); 15] {
    [
        (elf::DT_STRTAB.0, ".dynstr"),
        (elf::DT_SYMTAB.0, ".dynsym"),
        (elf::DT_HASH.0, ".hash"),
        (elf::DT_GNU_HASH.0, ".gnu.hash"),
        (elf::DT_VERSYM.0, ".gnu.version"),
        (elf::DT_VERNEED.0, ".gnu.version_r"),
        (elf::DT_VERDEF.0, ".gnu.version_d"),
        (elf::DT_RELA.0, ".rela.dyn"),
        (elf::DT_REL.0, ".rel.dyn"),
        (elf::DT_RELR.0, ".relr.dyn"),
        (elf::DT_INIT_ARRAY.0, ".init_array"),
        (elf::DT_FINI_ARRAY.0, ".fini_array"),
        (elf::DT_PREINIT_ARRAY.0, ".preinit_array"),
        (elf::DT_INIT.0, ".init"),
        (elf::DT_FINI.0, ".fini"),
    ]
}

pub fn tags(image: &Image, p: &mut Problems) {
    if image.segment(elf::PT_DYNAMIC.0).is_none() {
        return;
    }
    p.check(image.dynamic.last().is_some_and(|d| d.0 == elf::DT_NULL.0), || {
        "the dynamic table has no DT_NULL".to_owned()
    });
    let mut seen = HashSet::new();
    for &(tag, _) in &image.dynamic {
        let repeatable = [elf::DT_NEEDED.0, elf::DT_NULL.0, elf::DT_AUXILIARY.0, elf::DT_FILTER.0];
        p.check(repeatable.contains(&tag) || seen.insert(tag), || format!("{} twice", tag_name(tag)));
    }
    for (tag, name) in section_tags() {
        let Some(v) = image.dynamic_value(tag) else { continue };
        // Functions may be known by descriptors.
        let by_descriptor = image.sections.iter().any(|s| {
            matches!(name, ".init" | ".fini") && image.has_descriptors(s) && v.wrapping_sub(s.addr) < s.size
        });
        if by_descriptor {
            continue;
        }
        if let Some(s) = image.section(name) {
            p.check(v == s.addr, || format!("{} is {v:#x}, {name} is at {:#x}", tag_name(tag), s.addr));
        } else if !matches!(name, ".init" | ".fini") && !image.sections.is_empty() && v != 0 {
            // GNU ld keeps an empty .rela.dyn's tag; any other name is a missing section.
            p.check(matches!(name, ".rela.dyn" | ".rel.dyn"), || format!("{} without {name}", tag_name(tag)));
        }
    }
    let sizes = [
        (elf::DT_STRSZ.0, ".dynstr"),
        (elf::DT_RELRSZ.0, ".relr.dyn"),
        (elf::DT_INIT_ARRAYSZ.0, ".init_array"),
        (elf::DT_FINI_ARRAYSZ.0, ".fini_array"),
        (elf::DT_PREINIT_ARRAYSZ.0, ".preinit_array"),
    ];
    for (tag, name) in sizes {
        if let (Some(v), Some(s)) = (image.dynamic_value(tag), image.section(name)) {
            p.check(v == s.size, || format!("{} is {v}, {name} has {} bytes", tag_name(tag), s.size));
        }
    }
    counts(image, p);
    strings(image, p);
}

fn counts(image: &Image, p: &mut Problems) {
    let verneed = image.needs.iter().map(|n| &n.file).collect::<HashSet<_>>().len() as u64;
    if let Some(n) = image.dynamic_value(elf::DT_VERNEEDNUM.0) {
        p.check(n == verneed, || format!("DT_VERNEEDNUM is {n}, there are {verneed}"));
    }
    if let Some(n) = image.dynamic_value(elf::DT_VERDEFNUM.0) {
        p.check(n == image.defs.len() as u64, || format!("DT_VERDEFNUM is {n}"));
    }
    for (with_addends, size, start, leading) in [
        (true, elf::DT_RELASZ, elf::DT_RELA, elf::DT_RELACOUNT),
        (false, elf::DT_RELSZ, elf::DT_REL, elf::DT_RELCOUNT),
    ] {
        relocation_counts(image, with_addends, [size.0, start.0, leading.0], p);
    }
}

/// What the tags for size, address and number of relative relocations say of a table.
fn relocation_counts(image: &Image, with_addends: bool, tags: [i64; 3], p: &mut Problems) {
    let [size, start, leading] = tags.map(|tag| image.dynamic_value(tag));
    // Only some linkers count the PLT's relocations into the size.
    if let (Some(size), Some(start)) = (size, start) {
        let entry = image.form.reloc_size(with_addends) as u64;
        p.check(size.is_multiple_of(entry), || format!("{} is {size}", tag_name(tags[0])));
        let covered =
            image.sections.iter().any(|s| s.addr <= start && start + size <= s.end().max(start + size));
        p.check(covered, || format!("{} points nowhere", tag_name(tags[1])));
    }
    if let Some(n) = leading {
        let name = if with_addends { ".rela.dyn" } else { ".rel.dyn" };
        // A script may have another name for it.
        let renamed = || image.sections.iter().position(|s| Some(s.addr) == start && s.size > 0);
        let index = image.sections.iter().position(|s| s.name == name).or_else(renamed);
        let machine = Machine::of(image);
        let table = image.relocs.iter().filter(|r| Some(r.section) == index);
        let found = table.take_while(|r| machine.is_relative(image, r.r_type)).count() as u64;
        p.check(n == found, || format!("{} is {n}, {found} relative relocations lead", tag_name(tags[2])));
    }
}

fn strings(image: &Image, p: &mut Problems) {
    let Some(table) = image.section(".dynstr") else { return };
    let Ok(bytes) = image.contents(table) else { return };
    let text = [elf::DT_NEEDED.0, elf::DT_SONAME.0, elf::DT_RUNPATH.0, elf::DT_RPATH.0];
    for &(tag, value) in image.dynamic.iter().filter(|d| text.contains(&d.0)) {
        let good = u32::try_from(value).ok().and_then(|at| string_at(bytes, at).ok());
        p.check(good.is_some(), || format!("{}: bad string", tag_name(tag)));
    }
}

pub fn relocations(image: &Image, p: &mut Problems) {
    let textrel = image
        .dynamic
        .iter()
        .any(|&(tag, v)| tag == elf::DT_TEXTREL.0 || (tag == elf::DT_FLAGS.0 && v & elf::DF_TEXTREL.0 != 0));
    let mut needs_textrel = false;
    let machine = Machine::of(image);
    let mut seen = HashSet::new();
    for r in dynamic_relocs(image) {
        let name = machine.short_name(image, r.r_type);
        if name == "NONE" {
            continue;
        }
        let at = r.offset;
        p.check(machine.is_dynamic(&name), || format!("{name} at {at:#x}: not a dynamic relocation"));
        let symbols = image.dynsyms.len().max(1);
        p.check((r.symbol as usize) < symbols, || format!("{name} at {at:#x}: symbol {}", r.symbol));
        let symbolless = ["RELATIVE", "RELATIVE64", "IRELATIVE"];
        p.check(!symbolless.contains(&&*name) || r.symbol == 0, || format!("{name} at {at:#x} has a symbol"));
        p.check(seen.insert(at), || format!("{at:#x} is relocated twice"));
        needs_textrel |= !writable(image, r.offset, p);
    }
    for &at in image.relr.iter().chain(&image.signed_relr) {
        p.check(at.is_multiple_of(2), || format!("RELR at odd address {at:#x}"));
        p.check(seen.insert(at), || format!("{at:#x} is relocated twice (RELR)"));
        needs_textrel |= !writable(image, at, p);
    }
    p.check(textrel || !needs_textrel, || "relocations of read-only memory without DF_TEXTREL".to_owned());
}

/// The relocations the loader applies: those in allocated sections.
fn dynamic_relocs(image: &Image) -> impl Iterator<Item = &Reloc> {
    image.relocs.iter().filter(|r| image.sections[r.section].is_alloc())
}

/// Whether what is at `at` are in a writable segment; notes an address outside all.
fn writable(image: &Image, at: u64, p: &mut Problems) -> bool {
    let load = |s: &&crate::elf::image::Segment| s.p_type == elf::PT_LOAD.0 && s.vaddr <= at && at < s.end();
    match image.segments.iter().find(load) {
        None => {
            p.add(format!("relocation of {at:#x}, which is not loaded"));
            true
        }
        Some(s) => s.flags & elf::PF_W.0 != 0,
    }
}
