//! Common symbols that meet other definitions: all of them for `--warn-common`, and without being asked,
//! under GNU ld's names, those of which the definition that counts is not what the common symbol's object
//! counts on: less aligned, or of another size.

use std::collections::{BTreeMap, HashSet};

use weld_common::diag::{Cause, Diagnostic};

use crate::elf::Sym;
use crate::ids::*;
use crate::input::object::Object;
use crate::job::Job;
use crate::resolve::Resolved;
use crate::symbol_names::Rank;
use crate::wording::{place, shown};

/// How many definitions of one symbol are named.
const SHOWN: usize = 5;

/// What the options ask for; the rest is GNU ld's.
pub fn report(job: &Job, resolved: &Resolved) {
    if resolved.commons.is_empty() {
        return;
    }
    if job.options.reports.warn_common {
        all(job, resolved);
    }
    if job.options.compat_mode.is_gnu_ld() {
        differing(job, resolved);
    }
}

fn all(job: &Job, resolved: &Resolved) {
    // In the order of the first definition of each.
    let mut order = Vec::new();
    let mut by_name: BTreeMap<SymbolId, Vec<(FileId, u32)>> = BTreeMap::new();
    for common in &resolved.commons {
        let list = by_name.entry(common.id).or_insert_with(|| {
            order.push(common.id);
            Vec::new()
        });
        list.push((common.file, common.sym));
    }
    for id in order {
        let commons = &by_name[&id];
        let entry = resolved.names.get(id);
        let overridden = matches!(entry.rank(), Rank::Strong | Rank::Internal | Rank::Provided);
        if commons.len() < 2 && !overridden {
            continue;
        }
        let name = shown(job.options, entry.name);
        let what = if overridden { "is overridden" } else { "has several definitions" };
        let (file, index) = commons[0];
        let mut diagnostic =
            Diagnostic::warning(Cause::CommonSymbol, format!("common symbol {what}: {name}")).of(file, index);
        for &(file, index) in commons.iter().take(SHOWN) {
            let object = &resolved.objects[resolved.index_of_file[file.index()] as usize];
            let size = object.syms[index as usize].st_size();
            diagnostic = diagnostic.note(format!("common in {}, {size} bytes", object.name));
        }
        if commons.len() > SHOWN {
            diagnostic = diagnostic.note(format!("and in {} more files", commons.len() - SHOWN));
        }
        if entry.rank() == Rank::Strong {
            let object = &resolved.objects[resolved.index_of_file[entry.file().index()] as usize];
            let place = place::definition(object, entry.sym());
            diagnostic = diagnostic.note(format!("defined at {place}"));
        }
        if entry.rank() == Rank::Provided {
            let dso = &resolved.shared[resolved.index_of_file[entry.file().index()] as usize];
            diagnostic = diagnostic.note(format!("defined in {}", dso.name));
        }
        job.sink.push(diagnostic);
    }
}

/// What a definition promises to those who refer to it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Promise {
    size: u64,
    align: u64,
}

impl Promise {
    fn of_common(common: &Sym) -> Promise {
        Promise { size: common.st_size(), align: common.st_value().max(1) }
    }

    /// `None`: a number has neither.
    fn of_definition(object: &Object, index: u32) -> Option<Promise> {
        let symbol = &object.syms[index as usize];
        let (shndx, _) = place::section_of(object, index)?;
        let section = object.shdrs.get(shndx as usize)?.sh_addralign().max(1);
        let value = symbol.st_value();
        let align = if value == 0 { section } else { section.min(1 << value.trailing_zeros()) };
        Some(Promise { size: symbol.st_size(), align })
    }
}

/// Names the first common symbol of each name that counts on more than the definition has. Code that was
/// compiled for the common symbol may use aligned instructions, or write beyond the end. A smaller common
/// symbol before the definition is one that somebody forgot.
fn differing(job: &Job, resolved: &Resolved) {
    let mut said = HashSet::new();
    for common in &resolved.commons {
        let entry = resolved.names.get(common.id);
        if entry.rank() != Rank::Strong || entry.file() == common.file {
            continue;
        }
        let of = |file: FileId| &resolved.objects[resolved.index_of_file[file.index()] as usize];
        let (object, definer) = (of(common.file), of(entry.file()));
        let wanted = Promise::of_common(&object.syms[common.sym as usize]);
        let Some(has) = Promise::of_definition(definer, entry.sym()) else { continue };
        let text = if has.align < wanted.align {
            format!("is less aligned than a common symbol of this name ({} for {})", has.align, wanted.align)
        } else if has.size != 0
            && (wanted.size > has.size || wanted.size != has.size && common.file < entry.file())
        {
            format!("has another size than a common symbol of this name ({} for {})", has.size, wanted.size)
        } else {
            continue;
        };
        if !said.insert(common.id) {
            continue;
        }
        let text = format!("the definition of {} {text}", shown(job.options, entry.name));
        let (place, of_common) = (place::definition(definer, entry.sym()), &object.name);
        let notes = [
            format!("common in {of_common}, {} bytes, alignment {}", wanted.size, wanted.align),
            format!("defined at {place}, {} bytes, alignment {}", has.size, has.align),
        ];
        let diagnostic = Diagnostic::warning(Cause::CommonSymbol, text).of(common.file, common.sym);
        job.sink.push(notes.into_iter().fold(diagnostic, Diagnostic::note));
    }
}
