//! COMDAT sections: of those with the same leader one is kept.
//!
//! Which one that is has been settled with the names: the best definition of the leader's name says it. What
//! is left are the few names whose largest section is to be kept, and definitions beside leaders, which count
//! only if their section is kept.

use object::LittleEndian as LE;
use weld_common::diag::{Cause, Diagnostic};
use weld_common::resolve::comdat::{self, Candidate};

use super::Resolved;
use super::duplicates::{diagnostic, place};
use crate::coff::pe;
use crate::ids::FileId;
use crate::input::object::{Comdat, NO_LEADER, Object};
use crate::options::Options;
use crate::symbol_names::{Rank, Rival, flag, pack};
use crate::wording::source::Sources;

/// Has the largest section win where objects ask for that.
pub fn choose_largest(resolved: &mut Resolved, parallel: bool) {
    let names = &resolved.names;
    let candidates = |object: &Object| {
        let mut list = Vec::new();
        for comdat in object.comdats.iter().filter(|comdat| comdat.leader_is_global) {
            let Some(signature) = object.global(comdat.leader) else { continue };
            if names.get(signature).flags & flag::LARGEST != 0 {
                let size = object.coff.section(comdat.section).map_or(0, |h| h.size_of_raw_data.get(LE));
                list.push(Candidate { signature, size: size.into(), item: comdat.leader });
            }
        }
        list
    };
    for (object, Candidate { signature, item: leader, .. }) in
        comdat::largest(&resolved.objects, candidates, parallel)
    {
        let file = resolved.objects[object as usize].file;
        let entry = resolved.names.get_mut(signature);
        // A definition that is in no COMDAT section has been reported as a duplicate.
        if entry.rank() == Rank::Strong && entry.flags & flag::PLAIN == 0 {
            entry.best = pack(Rank::Strong, file, leader);
        }
    }
}

/// What becomes of a COMDAT section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Kept,
    /// Another object's is kept, or nothing leads to it.
    Discarded,
    /// What it goes with decides.
    Follows(u32),
}

/// What becomes of a section of `object`, without a look at what it goes with.
pub fn fate(resolved: &Resolved, object: &Object, comdat: &Comdat) -> Fate {
    if comdat.is_associative() {
        return Fate::Follows(comdat.parent);
    }
    if comdat.leader == NO_LEADER {
        return Fate::Discarded;
    }
    let Some(id) = object.global(comdat.leader).filter(|_| comdat.leader_is_global) else {
        return Fate::Kept;
    };
    match resolved.names.get(id).best == pack(Rank::Strong, object.file, comdat.leader) {
        true => Fate::Kept,
        false => Fate::Discarded,
    }
}

/// What is wrong about a section that gave way to another object's.
pub fn clash<'o, 'a>(
    resolved: &'o Resolved<'a>,
    object: &'o Object<'a>,
    comdat: &Comdat,
    options: &Options,
    sources: &mut Sources<'o, 'a>,
) -> Option<Diagnostic> {
    let id = object.global(comdat.leader).filter(|_| comdat.leader_is_global)?;
    let entry = resolved.names.get(id);
    // Of most names any copy will do.
    if entry.flags & flag::CHOOSY == 0 || entry.rank() != Rank::Strong {
        return None;
    }
    let (_, other) = resolved.object(entry.file())?;
    let symbol = other.coff.symbols.get(entry.sym())?;
    let winner = other.comdat(symbol.section.try_into().ok()?)?;
    let (own, kept) = (object.coff.section(comdat.section)?, other.coff.section(winner.section)?);
    let pair = [comdat.selection, winner.selection];
    // Of bitcode there is no section yet; its compiler leaves out what is not chosen.
    let has_code = other.is_code() || object.is_code();
    let differ = match comdat.selection {
        // Compilers do not agree on these for what they make of vtables.
        _ if pair.contains(&LARGEST) && (pair.contains(&ANY) || pair == [LARGEST; 2]) => return None,
        // GNU compilers and others do not agree.
        _ if options.mingw.on && pair[0] != pair[1] && !pair.contains(&NO_DUPLICATES) => return None,
        selection if selection != winner.selection => {
            let kinds = pair.map(|selection| NAMES.get(usize::from(selection)).copied().unwrap_or("?"));
            let name = options.shown(entry.name);
            let text = format!(
                "conflicting comdat type for {name}: {} in {} and {} in {}",
                kinds[1], other.name, kinds[0], object.name
            );
            let problem = if options.force.multiple {
                Diagnostic::warning(Cause::ComdatMismatch, text)
            } else {
                Diagnostic::error(Cause::ComdatMismatch, text)
            };
            return Some(problem.of(object.file, comdat.section));
        }
        SAME_SIZE if options.mingw.on => return None,
        SAME_SIZE | EXACT_MATCH if has_code => return None,
        SAME_SIZE => own.size_of_raw_data.get(LE) != kept.size_of_raw_data.get(LE),
        EXACT_MATCH => object.coff.contents(own).ok()? != other.coff.contents(kept).ok()?,
        selection => selection == NO_DUPLICATES,
    };
    differ.then(|| {
        diagnostic(
            &options.shown(entry.name),
            &[(other, entry.sym()), (object, comdat.leader)]
                .map(|(object, symbol)| place(Some(object), &object.name.to_string(), symbol, sources)),
            options.force.multiple,
        )
        .of(object.file, comdat.section)
    })
}

const NO_DUPLICATES: u8 = pe::IMAGE_COMDAT_SELECT_NODUPLICATES.0;
const ANY: u8 = pe::IMAGE_COMDAT_SELECT_ANY.0;
const SAME_SIZE: u8 = pe::IMAGE_COMDAT_SELECT_SAME_SIZE.0;
const EXACT_MATCH: u8 = pe::IMAGE_COMDAT_SELECT_EXACT_MATCH.0;
const LARGEST: u8 = pe::IMAGE_COMDAT_SELECT_LARGEST.0;

/// Names of the ways to choose, by number.
const NAMES: [&str; 7] =
    ["none", "noduplicates", "any", "same_size", "exact_match", "associative", "largest"];

/// Settles definitions beside leaders. `is_kept` says so of a section of an object. What comes back are
/// definitions that lost to another although their section is kept.
pub fn settle_members(
    resolved: &mut Resolved,
    members: &[Rival],
    is_kept: impl Fn(FileId, u32) -> bool,
) -> Vec<Rival> {
    let kept = |resolved: &Resolved, file: FileId, sym: u32| {
        let Some((_, object)) = resolved.object(file) else { return true };
        let section = object.coff.symbols.get(sym).map_or(0, |symbol| symbol.section);
        section <= 0 || is_kept(file, section as u32)
    };
    let mut lost = Vec::new();
    // First, no name may have a definition that is gone.
    for member in members {
        let entry = resolved.names.get(member.id);
        let gone = entry.rank() == Rank::Strong && !kept(resolved, entry.file(), entry.sym());
        if gone {
            resolved.names.get_mut(member.id).best = u64::MAX;
        }
    }
    // Then those that are kept compete. They come in the order of files.
    for member in members {
        if !kept(resolved, member.file, member.sym) {
            continue;
        }
        let word = pack(Rank::Strong, member.file, member.sym);
        let entry = resolved.names.get(member.id);
        if resolved.names.goes_before(word, entry.best) {
            resolved.names.get_mut(member.id).best = word;
        } else if entry.best != word && entry.rank() <= Rank::Strong {
            lost.push(*member);
        }
    }
    lost
}
