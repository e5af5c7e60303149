//! What an object that has changed has otherwise, if it changes no more than the bytes of its own sections and
//! who is mentioned by whom.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use weld_common::diag::DiagSink;

use super::exported_names::Exported;
use super::gone_names;
use super::group_owners::{Looked, Owners};
use super::new_pieces::NewPieces;
use super::{Failure, LastLink, Patch, View, emit, emit_tables};
use crate::arch;
use crate::input::object::Object;
use crate::job::Job;
use crate::relink::changes::{Changed as ChangedObject, Changes};
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink_state::State;
use crate::relink_state::differences::{self, Difference};
use crate::relink_state::excerpt::{self, Common, Excerpt};
use crate::relink_state::mentions::{Globals, Other};
use crate::relink_state::outline::{Before, is_renamed};
use crate::relink_state::rewrite_section::{self, Alone, Known, Missing};
use crate::relink_state::rows::{MentionRow, NONE};

/// The bytes that some of the changed objects make others, if names get other values (`next_values`) that these do
/// not define; if it is not known yet whether these are all, the values of names alone. With `may_add` merged pieces may
/// be added.
///
/// # Errors
/// Why a full link is needed.
pub fn of_run(
    job: &Job,
    changes: &Changes,
    objects: &[ChangedObject],
    (last, (next_values, are_all), may_add): (&LastLink, (&HashMap<u32, u64>, bool), bool),
) -> Result<Patch, Why> {
    let mut patch = Patch::default();
    let (left, mut common) = last.view(job)?;
    left.new_pieces.borrow_mut().is_open = may_add;
    common.next_values.clone_from(next_values);
    common.has_all_values = are_all;
    let run =
        Run { job, changes, left: &left, common: &common, image: last.image, owners: RefCell::default() };
    for object in objects {
        let path = &changes.files[object.file].path;
        let data = bytes(job, changes, object)?;
        match run.add(object.row, (path, data), &mut patch) {
            Ok(()) => {}
            Err(Refused::Object(Changed::Unknown(Missing::Room(full)))) if full.is_of_run() => {
                patch.full.push(full);
            }
            Err(Refused::Object(what)) => return Err(Why::Object(path.clone(), what)),
            Err(Refused::Moved) => return Err(Why::Moved(path.clone())),
            Err(Refused::Else(why)) => return Err(why),
        }
    }
    let NewPieces { rows, writes, .. } = left.new_pieces.into_inner();
    for write in &writes {
        patch.compare(last.image, write).map_err(|_| Why::Image)?;
    }
    patch.pieces = rows;
    Ok(patch)
}

/// The bytes of an object.
///
/// # Errors
/// If they cannot be read.
pub fn bytes<'j>(job: &Job<'j>, changes: &Changes, object: &ChangedObject) -> Result<&'j [u8], Why> {
    let path = &changes.files[object.file].path;
    let data = job.store.open_once(path).map_err(|e| Why::System(e.to_string()))?;
    let data = data.ok_or_else(|| Why::Gone(path.clone()))?;
    let data = match &object.member {
        Some(place) => data.get(place.clone()).ok_or_else(|| Why::Changing(path.clone()))?,
        None => data,
    };
    Ok(changes.units.placed(object.row, data, job.store))
}

/// Why an object is not relinked, of which the caller knows the path.
enum Refused {
    Object(Changed),
    Moved,
    Else(Why),
}

impl From<Missing> for Refused {
    fn from(missing: Missing) -> Refused {
        Refused::Object(Changed::Unknown(missing))
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        match failure {
            Failure::Object(what) => Refused::Object(what),
            Failure::Image => Refused::Else(Why::Image),
        }
    }
}

/// The same with the name of what an object refers to and that is nowhere.
pub fn nowhere(alone: &Alone, missing: Missing) -> Changed {
    let Missing::Target(symbol) = missing else { return Changed::Unknown(missing) };
    alone.called(symbol).map_or(Changed::Unknown(missing), Changed::Nowhere)
}

/// Where objects are looked at.
struct Run<'r, 'j, 'v> {
    job: &'r Job<'j>,
    changes: &'r Changes,
    left: &'r View<'v>,
    common: &'r Common,
    image: &'r File,
    owners: RefCell<Owners<'j>>,
}

impl Run<'_, '_, '_> {
    /// Which section an object has otherwise that is not what it was: it is read once more, to say so.
    fn difference(&self, state: &State, (data, machine): (&[u8], arch::Machine)) -> Option<Difference> {
        let object = rewrite_section::parse(data, machine, self.job.store).ok()?;
        let lost = rewrite_section::lost_sections(state, 0, &object);
        let outputs = state.outputs.iter().map(|out| state.text(out.name));
        differences::first(state.sections_of(&state.inputs[0]), outputs, (&object, &lost))
    }

    /// Adds what input number `row` has otherwise, whose bytes are `data`.
    fn add<'s>(
        &'s self,
        row: u32,
        (path, data): (&Path, &'s [u8]),
        patch: &mut Patch,
    ) -> Result<(), Refused> {
        let (job, common) = (self.job, self.common);
        let machine = arch::of_file(data).ok_or(Refused::Object(Changed::Shape))?;
        let object = rewrite_section::parse(data, machine, job.store)?;
        let now = (!is_renamed(&object, job.options)).then(|| Globals::of(&object));
        let asks = now.as_ref().map_or(0, Globals::asks);
        let found = of_parsed(&object, (self.left, common, row), now.as_ref())?;
        let Excerpt { state, last_runs, names, before, new, lost } = found;
        let is_for_values = !common.has_all_values;
        let (options, left) = (job.options, self.left);
        let known = Known { state: &state, options, machine, left, row, last_runs, is_for_values };
        let alone = Alone::new(known, 0, object, job.store).map_err(|missing| {
            let is_other = matches!(missing, Missing::Object | Missing::Section);
            let what = is_other.then(|| self.difference(&state, (data, machine))).flatten();
            what.map_or_else(|| missing.into(), |what| Refused::Object(Changed::Sections(what)))
        })?;
        if !common.has_all_values {
            patch.values.extend(alone.new_values().iter().map(|new| (names[new.name as usize], new.value)));
            return Ok(());
        }
        if let Some(name) = lost {
            let is_it = |mention: &&MentionRow| mention.input == 0 && names[mention.name as usize] == name;
            let symbol = state.mentions.iter().find(is_it).map_or(NONE, |mention| mention.symbol);
            return Err(Refused::Object(nowhere(&alone, Missing::Target(symbol))));
        }
        alone.check_targets().map_err(|missing| Refused::Object(nowhere(&alone, missing)))?;
        let last = state.outlines[0];
        let now = alone.outline(Before(Some(&before)), &last);
        for (is_same, changed) in [
            (last.shape == now.shape, Changed::Shape),
            (last.contents == now.contents, Changed::Contents),
            (last.needs == now.needs, Changed::Needs),
        ] {
            if !is_same {
                return Err(Refused::Object(changed));
            }
        }
        if last.lost != now.lost {
            let (job, changes, left) = (self.job, self.changes, self.left);
            let looked = Looked { job, changes, file: left.tables, common };
            let are_others = self.owners.borrow_mut().have(&looked, row, (&alone, &state, &names));
            if !are_others.map_err(Refused::Else)? {
                return Err(Refused::Object(Changed::Names));
            }
        }
        // Personality routines of others that have moved: only frames of functions are written again.
        let is_elsewhere = |mention: &&MentionRow| {
            let name = &state.names[mention.name as usize];
            mention.input == 0
                && name.input != 0
                && common.next_values.contains_key(&names[mention.name as usize])
        };
        let of_others: Vec<u32> =
            state.mentions.iter().filter(is_elsewhere).map(|mention| mention.symbol).collect();
        if !of_others.is_empty() && alone.has_frames(&alone.that_refer_to(&of_others)) {
            return Err(Missing::Function.into());
        }
        if !alone.new_values().is_empty() && !common.may_move() {
            return Err(Refused::Moved);
        }
        patch.values.extend(alone.new_values().iter().map(|new| (names[new.name as usize], new.value)));
        patch.mentions.extend(new.iter().map(|name| (row, *name)));
        patch.asks.push((row, asks));
        let sink = DiagSink::new();
        let exported: Vec<Exported> = alone.exported(&sink).into_iter().map(Exported::from).collect();
        if !exported.is_empty() {
            patch.exports.push((path.to_owned(), exported));
        }
        let before = patch.writes.len();
        // First what most often has outgrown its room.
        let searched = emit_tables(&alone, (self.image, path), patch)?;
        if patch.full.is_empty() {
            emit(&state, &alone, self.image, |_| true, patch)?;
        }
        patch.searched.extend(searched.map(|searched| (path.to_owned(), searched)));
        patch.objects += usize::from(patch.writes.len() > before);
        Ok(())
    }
}

/// The excerpt of input number `row`, with the mentions that its object has now.
fn of_parsed(
    object: &Object,
    (left, common, row): (&View, &Common, u32),
    now: Option<&Globals>,
) -> Result<Excerpt, Refused> {
    let found = excerpt::of(left.tables, common, row, now);
    let found = found.map_err(|why| Refused::Else(why.into()))?;
    found.map_err(|other| {
        Refused::Object(match other {
            Other::Symbol(symbol) => {
                Changed::Name(String::from_utf8_lossy(object.symbol_name(symbol)).into_owned())
            }
            Other::Order(symbol) => {
                Changed::Order(String::from_utf8_lossy(object.symbol_name(symbol)).into_owned())
            }
            Other::Gone(row) => Changed::NoMore(gone_names::of_row(left, common, row)),
            Other::Sections(None) => Changed::Shape,
            Other::Sections(Some(what)) => Changed::Sections(what),
            Other::Lost | Other::Twice => Changed::Names,
        })
    })
}
