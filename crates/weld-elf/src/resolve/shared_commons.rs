//! Common symbols that shared objects define as well.
//!
//! There is one variable of a name at run time, so the two have to agree on it. If the library gives it
//! initial values, its definition is the one that counts and the common symbol is a reference to it, as with
//! GNU ld and mold. Otherwise the common symbol stays, and as the library will use it too, it becomes as
//! large and as aligned as the library's variable is. A definition that is smaller than the common symbol
//! cannot take its place.
//!
//! Costs nothing unless a common symbol and a shared object meet.

use std::collections::HashMap;

use weld_common::diag::{Cause, DiagSink, Diagnostic};

use super::Resolved;
use crate::elf::*;
use crate::ids::*;
use crate::input::shared::Shared;
use crate::input::shared::alignment;
use crate::symbol_names::{Rank, flag, pack};

/// What a common symbol has to be at least, because of shared objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grown {
    pub size: u64,
    pub align: u64,
}

/// The definitions of one name.
#[derive(Default)]
struct Meeting {
    /// Of the largest common symbol.
    size: u64,
    /// Of the variables of shared objects.
    shared: Grown,
    /// The definition that the loader would take: shared object and symbol.
    first: Option<(usize, u32)>,
}

/// Settles which definition counts. Call when all files are read.
pub fn settle(resolved: &mut Resolved, sink: &DiagSink) {
    let (mut order, mut meetings) = meetings(resolved);
    if order.is_empty() {
        return;
    }
    for (index, dso) in resolved.shared.iter().enumerate() {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let is_variable = !matches!(symbol.kind(), STT_FUNC | STT_GNU_IFUNC);
            if symbol.st_shndx() == SHN_UNDEF || !is_variable {
                continue;
            }
            if let Some(meeting) = meetings.get_mut(&dso.global(i as u32)) {
                meeting.shared.size = meeting.shared.size.max(symbol.st_size());
                meeting.shared.align = meeting.shared.align.max(alignment(dso, symbol));
                meeting.first.get_or_insert((index, i as u32));
            }
        }
    }
    order.retain(|id| meetings[id].first.is_some());
    for id in order {
        settle_one(resolved, id, &meetings[&id], sink);
    }
}

/// Common symbols whose name a shared object defines for others, in the order of files.
fn meetings(resolved: &Resolved) -> (Vec<SymbolId>, HashMap<SymbolId, Meeting>) {
    const INSIDE: u32 = flag::VIS_HIDDEN | flag::VIS_INTERNAL;
    let (mut order, mut meetings) = (Vec::new(), HashMap::new());
    for common in &resolved.commons {
        let entry = resolved.names.get(common.id);
        let meets = entry.flags & flag::DEF_SHARED != 0 && entry.flags & INSIDE == 0;
        if entry.rank() != Rank::Common || !meets {
            continue;
        }
        let meeting = meetings.entry(common.id).or_insert_with(|| {
            order.push(common.id);
            Meeting::default()
        });
        let object = &resolved.objects[resolved.index_of_file[common.file.index()] as usize];
        meeting.size = meeting.size.max(object.syms[common.sym as usize].st_size());
    }
    (order, meetings)
}

fn settle_one(resolved: &mut Resolved, id: SymbolId, meeting: &Meeting, sink: &DiagSink) {
    let Some((index, sym)) = meeting.first else { return };
    let dso = &resolved.shared[index];
    let entry = resolved.names.get_mut(id);
    if gives_values(dso, sym) && entry.flags & flag::VIS_PROTECTED == 0 {
        let size = dso.syms[sym as usize].st_size();
        if size >= meeting.size {
            entry.best = pack(Rank::Provided, dso.file, sym);
            entry.flags |= flag::REF_STRONG;
            return;
        }
        let name = String::from_utf8_lossy(entry.name);
        let text = format!(
            "common symbol {name} has {} bytes, more than the {size} that {} gives initial values to; they are not used",
            meeting.size, dso.name
        );
        sink.push(Diagnostic::warning(Cause::CommonSymbol, text).of(dso.file, sym));
    }
    resolved.grown.insert(id, meeting.shared);
}

/// Whether the symbol is a variable with initial values that other modules can share.
fn gives_values(dso: &Shared, sym: u32) -> bool {
    let symbol = &dso.syms[sym as usize];
    let initialised = symbol.st_shndx() < SHN_LORESERVE
        && dso.shdrs.get(symbol.st_shndx() as usize).is_some_and(|s| s.sh_type() != SHT_NOBITS);
    // Code of a program finds its own thread-local variables without a loader's help.
    let shared =
        symbol.binding() != STB_WEAK && symbol.visibility() == STV_DEFAULT && symbol.kind() != STT_TLS;
    initialised && shared
}
