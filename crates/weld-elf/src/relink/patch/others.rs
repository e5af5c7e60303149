//! What objects that have not changed have otherwise because functions of others have moved.
//!
//! Who mentions the names is looked up in the tables, and those sections of these objects are written again that
//! refer to them.

use std::collections::{BTreeSet, HashMap, HashSet};

use weld_common::diag::DiagSink;

use super::changed_object::nowhere;
use super::{Failure, LastLink, Patch, View, emit};
use crate::arch;
use crate::elf::{Ehdr, records};
use crate::job::Job;
use crate::relink::changes::Changes;
use crate::relink::full_link_reason::{Changed, Why};
use crate::relink::memo::Is;
use crate::relink_state::excerpt::{self, Common, Excerpt};
use crate::relink_state::keys;
use crate::relink_state::mentions::Globals;
use crate::relink_state::outline::{Before, is_renamed};
use crate::relink_state::rewrite_section::{self, Alone, Known, Left, Missing};
use crate::relink_state::rows::{InputRow, MentionRow, NameRow, OutlineRow};

/// More objects are a reason to link all.
const MOST: usize = 1000;

/// Adds what objects that have not changed have otherwise if names get the values `new_values`, and if what inputs have has
/// moved.
///
/// # Errors
/// Why a full link is needed.
pub fn add(
    job: &Job,
    changes: &Changes,
    last: &LastLink,
    (new_values, moved, patch): (HashMap<u32, u64>, &Moved, &mut Patch),
) -> Result<(), Why> {
    let (left, mut common) = last.view(job)?;
    if is_special(job, &left, &common, &new_values)? {
        let first = changes.objects.first();
        return Err(Why::Moved(
            first.map(|object| changes.files[object.file].path.clone()).unwrap_or_default(),
        ));
    }
    // Of names that are new, the tables do not know who mentions them.
    let are_new = new_values.keys().all(|row| *row >= common.count);
    let mut mentioned =
        if are_new { BTreeSet::new() } else { excerpt::mentioned_by(left.tables, &new_values)? };
    let since = last.memo.mentions.iter().filter(|(_, name)| new_values.contains_key(name));
    mentioned.extend(since.map(|(input, _)| *input));
    mentioned.extend(moved.debug.iter().chain(&moved.runs));
    common.next_values = new_values;
    common.has_all_values = true;
    let changed: HashSet<u32> = changes.objects.iter().map(|object| object.row).collect();
    if mentioned.len() > MOST {
        return Err(Why::Much);
    }
    let one = One { job, changes, left: &left, common: &common, moved };
    mentioned.iter().filter(|row| !changed.contains(row)).try_for_each(|row| one.add(*row, patch))
}

/// Inputs of which something has moved.
#[derive(Default)]
pub struct Moved {
    /// Sections of debug information.
    pub debug: BTreeSet<u32>,
    /// Runs in tables.
    pub runs: BTreeSet<u32>,
}

/// The bytes of input number `row`, whether it has changed or not.
///
/// # Errors
/// If they cannot be read.
pub fn bytes<'j>(job: &Job<'j>, changes: &Changes, (row, input): (u32, &InputRow)) -> Result<&'j [u8], Why> {
    let known = &changes.files[changes.file_of(row, input).ok_or(Why::First)?];
    let path = &known.path;
    let data = job.store.open_once(path).map_err(|e| Why::System(e.to_string()))?;
    let data = data.ok_or_else(|| Why::Gone(path.clone()))?;
    let data = match &known.is {
        Is::Object(..) | Is::Gone(..) => Some(data),
        Is::Archive(archive) => archive.place(data, row).and_then(|place| data.get(place)),
        Is::Lent(_) | Is::Other(_) => None,
    };
    let data = data.ok_or_else(|| Why::Archive(path.clone()))?;
    Ok(changes.units.placed(row, data, job.store))
}

/// Whether one of the names is where the program or the library begins or ends.
fn is_special(job: &Job, left: &View, common: &Common, new_values: &HashMap<u32, u64>) -> Result<bool, Why> {
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    let machine = arch::of_file(&header).ok_or(Why::Image)?;
    let entry = match records::<Ehdr>(&header, machine.facts().target.format, 0, 1).as_deref() {
        Some(&[header]) => header.e_entry(),
        _ => return Err(Why::Image),
    };
    let symbols = &job.options.symbols;
    let called = [&symbols.init, &symbols.fini].map(|name| keys::hash(name.as_bytes()));
    // Names that are new are none of these.
    for row in new_values.keys().filter(|row| **row < common.count) {
        let name: NameRow = left.tables.row((*row).into())?;
        let was = common.values.get(row).copied().unwrap_or(name.value);
        if was == entry || called.contains(&name.hash) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where objects are looked at.
struct One<'o, 'j, 'v> {
    job: &'o Job<'j>,
    changes: &'o Changes,
    left: &'o View<'v>,
    common: &'o Common,
    moved: &'o Moved,
}

impl One<'_, '_, '_> {
    /// Adds what input number `row` has otherwise where it refers to names that get other values.
    fn add(&self, row: u32, patch: &mut Patch) -> Result<(), Why> {
        let input: InputRow = self.left.tables.row(row.into())?;
        let data = bytes(self.job, self.changes, (row, &input))?;
        let path = &self.changes.files[self.changes.file_of(row, &input).ok_or(Why::First)?].path;
        let changed = |what| Why::Object(path.clone(), what);
        let unknown = |missing| Why::Object(path.clone(), Changed::Unknown(missing));
        let machine = arch::of_file(data).ok_or_else(|| changed(Changed::Shape))?;
        let object = rewrite_section::parse(data, machine, self.job.store).map_err(unknown)?;
        // It may have changed since the tables were written.
        let now = (!is_renamed(&object, self.job.options)).then(|| Globals::of(&object));
        let found = excerpt::of(self.left.tables, self.common, row, now.as_ref())?;
        let Excerpt { state, last_runs, names, before, .. } = found.map_err(|_| changed(Changed::Names))?;
        let gets_value = |mention: &&MentionRow| {
            mention.input == 0 && self.common.next_values.contains_key(&names[mention.name as usize])
        };
        let symbols: Vec<u32> =
            state.mentions.iter().filter(gets_value).map(|mention| mention.symbol).collect();
        let known = Known {
            state: &state,
            options: self.job.options,
            machine,
            left: self.left,
            row,
            last_runs,
            is_for_values: false,
        };
        let alone = Alone::new(known, 0, object, self.job.store).map_err(unknown)?;
        alone.check_targets().map_err(|missing| changed(nowhere(&alone, missing)))?;
        // If it has other groups than in the tables, it is looked at whether they were understood.
        let is_known = |last: &OutlineRow| {
            last.lost == alone.lost() || last.shape == alone.outline(Before(Some(&before)), last).shape
        };
        if !is_known(&state.outlines[0]) {
            return Err(changed(Changed::Shape));
        }
        let mut wanted = alone.that_refer_to(&symbols);
        // Frames are not written again here.
        if alone.has_frames(&wanted) {
            return Err(unknown(Missing::Function));
        }
        if self.moved.debug.contains(&row) {
            wanted.extend(alone.not_loaded());
        }
        let sink = DiagSink::new();
        let image = self.left.image;
        let before = patch.writes.len();
        let emitted = emit(&state, &alone, image, |ordinal| wanted.contains(&ordinal), patch);
        let pointers = alone.pointers(&sink, |ordinal| wanted.contains(&ordinal)).map_err(unknown)?;
        if !pointers.is_empty() {
            patch.pointers.push((path.clone(), pointers));
        }
        let why = |why| match why {
            Failure::Object(what) => changed(what),
            Failure::Image => Why::Image,
        };
        emitted.map_err(why)?;
        if self.moved.runs.contains(&row)
            && let Some((frames, searched)) = alone.frames(&sink).map_err(unknown)?
        {
            patch.compare(image, &frames).map_err(why)?;
            patch.searched.push((path.clone(), searched));
        }
        if self.moved.debug.contains(&row) || self.moved.runs.contains(&row) {
            // Assemblers have symbols in debug information, too.
            let symbols = alone.symbols(&sink).map_err(unknown)?;
            symbols.iter().try_for_each(|write| patch.compare(image, write).map(drop)).map_err(why)?;
        }
        patch.objects += usize::from(patch.writes.len() > before);
        Ok(())
    }
}
