//! `--warn-common`: common symbols that meet other definitions.

use std::collections::BTreeMap;

use weld_common::diag::Diagnostic;

use crate::ids::*;
use crate::job::Job;
use crate::names::Rank;
use crate::resolve::Resolved;
use crate::wording::shown;

/// How many definitions of one symbol are named.
const SHOWN: usize = 5;

pub fn report(job: &Job, resolved: &Resolved) {
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
        let mut diagnostic = Diagnostic::warning(format!("common symbol {what}: {name}")).of(file, index);
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
            let place = crate::wording::place::definition(object, entry.sym());
            diagnostic = diagnostic.note(format!("defined at {place}"));
        }
        if entry.rank() == Rank::Provided {
            let dso = &resolved.shared[resolved.index_of_file[entry.file().index()] as usize];
            diagnostic = diagnostic.note(format!("defined in {}", dso.name));
        }
        job.sink.push(diagnostic);
    }
}
