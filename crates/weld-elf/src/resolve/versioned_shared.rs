//! Definitions that spell a version, and the shared objects that define or want just that version.
//!
//! `foo@V` is a name of its own, which a shared object's `foo` is not. For an executable to export its
//! `foo@V`, it has to be known that a library asks for it or would otherwise use its own. A library's
//! reference is then bound to the executable's definition.
//!
//! Costs nothing unless an object spells a version.
//!
//! Specification: LSB "Symbol Versioning".

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

use super::Resolved;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::SymbolPlace;
use crate::symbol_names::flag;
use crate::symbol_names::symver::split;

/// Notes in the names of such definitions what shared objects say of them. Call when all files are read.
pub fn note(resolved: &mut Resolved) {
    let defined = definitions(resolved);
    if defined.is_empty() {
        return;
    }
    let plain: HashSet<&[u8]> = defined.keys().map(|k| k.0).collect();
    let names = &mut resolved.names;
    for dso in &resolved.shared {
        let needed = dso.needed_versions();
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let name = dso.symbol_name(i as u32);
            if !plain.contains(name) {
                continue;
            }
            let undefined = symbol.st_shndx() == SHN_UNDEF;
            let version = match undefined {
                true => needed.get(&dso.version(i as u32).0).copied(),
                false => dso.version_name(i as u32),
            };
            let Some(&id) = version.and_then(|version| defined.get(&(name, version))) else { continue };
            names.get_mut(id).flags |= match (undefined, symbol.binding()) {
                (false, _) => flag::DEF_SHARED,
                (true, STB_WEAK) => flag::REF_SHARED_WEAK,
                (true, _) => flag::REF_SHARED,
            };
            if undefined {
                dso.globals[i - dso.first_global as usize].store(id.0, Ordering::Relaxed);
            }
        }
    }
}

/// The names and versions that objects define in one word.
fn definitions<'a>(resolved: &Resolved<'a>) -> HashMap<(&'a [u8], &'a [u8]), SymbolId> {
    let mut defined = HashMap::new();
    if resolved.shared.is_empty() {
        return defined;
    }
    for object in resolved.objects.iter().filter(|o| o.spells_versions) {
        for i in object.first_global..object.syms.len() as u32 {
            if object.place(i, &object.syms[i as usize]) != SymbolPlace::Undefined
                && let Some(spelled) = split(object.symbol_name(i))
            {
                defined.insert((spelled.name, spelled.version), object.global(i));
            }
        }
    }
    defined
}
