//! COMDAT groups that others stand for, in links that keep their state: they lose, whatever they are called.
//!
//! Compilers call a group of constructors by one of them (`C2`) or by all (`C5`), by what an object uses. Groups of two
//! signatures both stay, and of what both define the first definition counts: the other copy is there, and nobody can refer
//! to it. Which object comes first with which group changes as these are edited; so that nothing else does, copies that
//! nobody can refer to are left out.
//!
//! Specification: gABI chapter 4, "Section groups"; Itanium C++ ABI, 5.2.6 (`C5`, `D5`).

use std::collections::{HashMap, HashSet};

use weld_common::par;

use crate::elf::*;
use crate::ids::SymbolId;
use crate::input::object::{Object, SymbolPlace};
use crate::resolve::Resolved;
use crate::resolve::comdat::{Comdats, is_pointer, signature};
use crate::sections::decode_relocs;
use crate::symbol_names::Rank;

/// Objects that a task looks at.
const OBJECTS: usize = 64;

/// Has groups lose that others stand for: all that they define is defined by groups that stay, whatever these are
/// called, and nobody outside refers to what is in them otherwise. Only groups are looked at that have nothing but code and
/// what belongs to it.
pub fn discard(comdats: &Comdats, resolved: &Resolved, parallel: bool) {
    let objects = &resolved.objects;
    let found = par::runs("groups that others stand for", parallel, objects.len(), OBJECTS, |run| {
        let mut of_others = HashMap::new();
        run.flat_map(|index| stood_for(comdats, resolved, index, &mut of_others)).collect::<Vec<_>>()
    });
    for (index, signature) in found.into_iter().flatten() {
        comdats.discard(index, signature);
    }
}

/// The groups of object number `index` that others stand for, by their signatures. `of_others` are the sections of others
/// that are in groups that stay.
fn stood_for(
    comdats: &Comdats,
    resolved: &Resolved,
    index: usize,
    of_others: &mut HashMap<usize, Vec<u32>>,
) -> Vec<(u32, SymbolId)> {
    let object = &resolved.objects[index];
    let group_of = groups_of_sections(comdats, index, object);
    if group_of.is_empty() {
        return Vec::new();
    }
    // Of each group that defines anything, whether all of that is others'.
    let mut are_others: Vec<Option<bool>> = vec![None; object.groups.len()];
    for (number, symbol) in (0..).zip(object.syms).skip(object.first_global as usize) {
        let SymbolPlace::Section(section) = object.place(number, symbol) else { continue };
        let Some(group) = group_of.get(section as usize).and_then(|group| group.checked_sub(1)) else {
            continue;
        };
        let is_others = &mut are_others[group as usize];
        if *is_others != Some(false) {
            *is_others = Some(is_of_another_group((comdats, resolved), (index, object), number, of_others));
        }
    }
    let mut lost: Vec<u32> = (0..)
        .zip(are_others)
        .filter(|(group, are_others): &(u32, _)| *are_others == Some(true) && is_plain(object, *group))
        .map(|(group, _)| group)
        .collect();
    if !lost.is_empty() {
        let known = known_otherwise(object, &group_of);
        lost.retain(|group| !known.contains(group));
    }
    let signatures = lost.into_iter().map(|group| signature(object, &object.groups[group as usize]));
    signatures.filter(|id| !is_pointer(resolved.names.get(*id).name)).map(|id| (index as u32, id)).collect()
}

/// Of each section of object number `index`, the number of the group that stays and has it, from 1 on; empty if none
/// stays.
fn groups_of_sections(comdats: &Comdats, index: usize, object: &Object) -> Vec<u32> {
    let mut group_of: Vec<u32> = Vec::new();
    for (number, group) in (0..).zip(&object.groups) {
        if !comdats.survives(index as u32, object, number) {
            continue;
        }
        group_of.resize(object.shdrs.len(), 0);
        for member in object.group_words(group.shndx).unwrap_or_default().members() {
            if let Some(of) = group_of.get_mut(member as usize) {
                *of = number + 1;
            }
        }
    }
    group_of
}

/// Whether what an object defines as this symbol is another one's, which has it in a group that stays.
fn is_of_another_group(
    (comdats, resolved): (&Comdats, &Resolved),
    (index, object): (usize, &Object),
    symbol: u32,
    of_others: &mut HashMap<usize, Vec<u32>>,
) -> bool {
    let entry = resolved.names.get(object.global(symbol));
    if !matches!(entry.rank(), Rank::Strong | Rank::Weak) {
        return false;
    }
    let number = resolved.index_of_file[entry.file().index()] as usize;
    let Some(other) = resolved.objects.get(number).filter(|_| number != index) else { return false };
    let Some(definition) = other.syms.get(entry.sym() as usize).filter(|_| other.file == entry.file()) else {
        return false;
    };
    let SymbolPlace::Section(section) = other.place(entry.sym(), definition) else { return false };
    let groups = of_others.entry(number).or_insert_with(|| groups_of_sections(comdats, number, other));
    groups.get(section as usize).is_some_and(|group| *group > 0)
}

/// Whether a group has nothing but code, its constants and tables, in sections that nobody looks for by their names.
fn is_plain(object: &Object, group: u32) -> bool {
    const KINDS: [&[u8]; 4] = [b".text", b".rodata", b".gcc_except_table", b".data.rel.ro"];
    const OTHERWISE: u64 = SHF_GNU_RETAIN | SHF_TLS | SHF_EXCLUDE | SHF_LINK_ORDER;
    let words = object.group_words(object.groups[group as usize].shndx).unwrap_or_default();
    words.members().all(|member| {
        let Some(shdr) = object.shdrs.get(member as usize) else { return false };
        let name = object.section_name(member as usize).unwrap_or_default();
        match shdr.sh_type() {
            SHT_RELA | SHT_REL | SHT_CREL => true,
            SHT_PROGBITS if shdr.sh_flags() & SHF_ALLOC == 0 => name.starts_with(b".debug_"),
            SHT_PROGBITS => {
                shdr.sh_flags() & OTHERWISE == 0 && KINDS.iter().any(|kind| name.starts_with(kind))
            }
            _ => false,
        }
    })
}

/// The groups that sections in memory outside of them refer to by local symbols, but for frames.
fn known_otherwise(object: &Object, group_of: &[u32]) -> HashSet<u32> {
    let group = |section: u32| group_of.get(section as usize).and_then(|group| group.checked_sub(1));
    let mut known = HashSet::new();
    for (index, shdr) in object.shdrs.iter().enumerate() {
        let target = object.shdrs.get(shdr.sh_info() as usize);
        let is_loaded = target.is_some_and(|target| target.sh_flags() & SHF_ALLOC != 0);
        let is_relocs = matches!(shdr.sh_type(), SHT_RELA | SHT_REL | SHT_CREL);
        if !is_relocs || !is_loaded || object.section_name(shdr.sh_info() as usize) == Some(b".eh_frame") {
            continue;
        }
        let Ok(relocs) = decode_relocs(object, index) else { continue };
        for symbol in relocs.iter().map(Rela::sym).filter(|symbol| *symbol < object.first_global) {
            let Some(sym) = object.syms.get(symbol as usize) else { continue };
            if let SymbolPlace::Section(section) = object.place(symbol, sym)
                && let Some(of) = group(section)
                && group(shdr.sh_info()) != Some(of)
            {
                known.insert(of);
            }
        }
    }
    known
}
