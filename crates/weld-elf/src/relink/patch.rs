//! What the image is to have in other bytes, found without writing any.
//!
//! A changed object whose outline is as it was ([`crate::relink_state::outline`]) changes nothing but the
//! bytes of its own sections. They are written again, each by itself
//! ([`crate::relink_state::rewrite_section`]), and compared with what the image has. If functions have moved
//! in their sections, so are the sections of other objects that refer to them. The image that is
//! written to need not be the one that is compared with; where the two differ, and where bytes change, hashes
//! tell whether it still is what the last link wrote.

pub mod changed_object;
mod exported_names;
mod gone_names;
mod group_owners;
mod init_array;
mod neighbours;
mod new_imports;
mod new_pieces;
mod new_words;
mod offered_names;
mod others;
pub mod parsed;
mod search_table;
mod told;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use weld_common::diag::DiagSink;
use weld_common::io::spare;
use weld_common::io::units::Leaves;
use weld_common::relink::leaves;
use weld_common::relink::threads;

use super::changes::{Changed as ChangedObject, Changes};
use super::full_link_reason::{Changed, Why};
use super::memo::{AddedPiece, Is, Memo};
use crate::arch;
use crate::arch::facts::Facts;
use crate::elf::{Ehdr, Format};
use crate::input::object::Object;
use crate::job::Job;
use crate::options::Strip;
use crate::relink_state::debug_lists::Lists;
use crate::relink_state::excerpt::{self, Common, KnownImport};
use crate::relink_state::extents::{Cuts, Extents, OtherRuns};
use crate::relink_state::file::StateFile;
use crate::relink_state::free_sections::{self, Refused};
use crate::relink_state::guests::{self, Guest};
use crate::relink_state::init_array::{InitArrays, of_changed as init_array_words};
use crate::relink_state::mentions::{find_name, lost_of};
use crate::relink_state::new_names::{Looked, NewNames};
use crate::relink_state::outline::{counts_references, is_renamed};
use crate::relink_state::rewrite_section::{
    Added, Alone, Full, Left, Missing, Of, Pointer, Searched, Told, Write,
};
use crate::relink_state::rows::{InputRow, NONE, PieceRow, SectionRow, input_kind};
use crate::relink_state::{State, Unreadable, keys};
use crate::sections::SectionKind;
use crate::sections::free_sections::INIT_ARRAY;
use crate::symbols::symbol_flags;
use changed_object::of_run;
use exported_names::{Exported, Seen};
use new_pieces::NewPieces;
pub use offered_names::Offered;
use others::Moved;

/// What an image is made another one by.
#[derive(Default)]
pub struct Patch {
    /// In the order of the file; none overlaps another.
    pub writes: Vec<Write>,
    /// Sections that differ, and objects that they are of.
    pub sections: usize,
    pub objects: usize,
    /// Names that have other values than in the tables, by row.
    pub values: Vec<(u32, u64)>,
    /// Merged pieces that no object had.
    pub pieces: Vec<AddedPiece>,
    /// Inputs that mention names that they did not when the tables were written: rows.
    pub mentions: Vec<(u32, u32)>,
    /// What changed objects ask of others, and offer them (`Globals::asks`).
    pub asks: Vec<(u32, u128)>,
    /// Names that are not in the tables, or not any more, and sections.
    pub names: NewNames,
    pub guests: Vec<Guest>,
    /// Functions of shared objects that nobody called then.
    pub imports: Vec<KnownImport>,
    /// Names that have taken spare words of the GOT.
    pub words: Vec<u32>,
    pub holes: BTreeSet<u32>,
    /// Sections of debug information that lie elsewhere than the tables say, or have other room.
    pub extents: Extents,
    /// Words of `.init_array` that objects have, if not what the tables say.
    pub init_arrays: InitArrays,
    /// Lists in debug information that have come or gone.
    pub lists: Lists,
    pub runs: OtherRuns,
    /// Where in the file parts began that hashes are made of, and where they begin now.
    pub borders: Vec<(u64, u64)>,
    /// What of changed objects has outgrown its room in tables: then not all is there, and it is looked for more room.
    full: Vec<Full>,
    /// Functions that have frames, of each object that has changed.
    searched: Vec<(PathBuf, Searched)>,
    /// What the loader is told of free sections of changed objects, which is made anew; and other pointers that it adds
    /// to, which may have other values, with who has them.
    told: Told,
    pointers: Vec<(PathBuf, Vec<Pointer>)>,
    /// Words of `.init_array` that were written again, with their addresses.
    init_words: Vec<(u64, Vec<u8>)>,
    /// What changed objects define and others see.
    exports: Vec<(PathBuf, Vec<Exported>)>,
}

/// What the last link has left.
#[derive(Clone, Copy)]
pub struct LastLink<'l> {
    pub tables: &'l StateFile<'l>,
    /// What has changed since they were written.
    pub memo: &'l Memo,
    pub image: &'l File,
    /// Names that are not in the tables, or not any more, and sections.
    pub names: &'l NewNames,
    pub guests: &'l [Guest],
    pub holes: &'l BTreeSet<u32>,
    pub extents: &'l Extents,
    pub init_arrays: &'l InitArrays,
    pub lists: &'l Lists,
    pub runs: &'l OtherRuns,
    /// Functions of shared objects that nobody called then.
    pub imports: &'l [KnownImport],
    /// Names that have taken spare words of the GOT.
    pub words: &'l [u32],
    /// What is known of names that archives offer.
    pub offered: &'l Offered,
    /// It has been found out which members of archives are linked.
    pub is_resolved: bool,
}

/// The same as one thread looks at it.
struct View<'v> {
    tables: &'v StateFile<'v>,
    image: &'v File,
    /// Parts of the image that were looked at, by number.
    known: RefCell<HashMap<u64, Vec<u8>>>,
    /// Merged pieces that the tables do not have.
    last_pieces: &'v [AddedPiece],
    new_pieces: RefCell<NewPieces>,
}

/// Bytes of a part of the image: few pieces lie side by side.
const PART: u64 = 4 << 10;

impl Left for View<'_> {
    /// If the tables are damaged, there is none, and none is new.
    fn pieces(&self, part: u32, tag: u32) -> Vec<PieceRow> {
        let Ok(mut pieces) = excerpt::pieces(self.tables, part, tag) else {
            self.new_pieces.borrow_mut().is_open = false;
            return Vec::new();
        };
        let added = self.last_pieces.iter().filter(|piece| (piece.part, piece.tag) == (part, tag));
        pieces.extend(added.map(|piece| PieceRow { tag, offset: piece.offset }));
        pieces
    }

    fn add(&self, part: u32, piece: Added) -> Option<u32> {
        self.new_pieces.borrow_mut().add(self.last_pieces, part, &piece)
    }

    fn read(&self, offset: u64, size: usize) -> Option<Vec<u8>> {
        let length = self.image.metadata().ok()?.len();
        offset.checked_add(size as u64).filter(|end| *end <= length)?;
        let mut bytes = vec![0; size];
        spare::read_exact_at(self.image, &mut bytes, offset).ok()?;
        Some(bytes)
    }

    fn has(&self, mut offset: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let (number, at) = (offset / PART, (offset % PART) as usize);
            let mut known = self.known.borrow_mut();
            let part = known.entry(number).or_insert_with(|| self.part(number));
            let (here, later) = bytes.split_at(bytes.len().min(PART as usize - at));
            if part.get(at..at + here.len()) != Some(here) {
                return false;
            }
            (offset, bytes) = (offset + here.len() as u64, later);
        }
        true
    }
}

impl View<'_> {
    /// A part of the image, as much of it as there is.
    fn part(&self, number: u64) -> Vec<u8> {
        let start = number.saturating_mul(PART);
        let size = self.image.metadata().map_or(0, |meta| meta.len());
        let mut part = vec![0; size.saturating_sub(start).min(PART) as usize];
        match spare::read_exact_at(self.image, &mut part, start) {
            Ok(()) => part,
            Err(_) => Vec::new(),
        }
    }
}

/// The bytes of an image that changed objects make others.
///
/// # Errors
/// Why a full link is needed.
pub fn of_objects(job: &Job, changes: &Changes, last: &LastLink) -> Result<Patch, Why> {
    let (with_others, places) = with_needed(job, changes, last)?;
    let changes = with_others.as_ref().unwrap_or(changes);
    let found = match places {
        Ok(places) => with_places(job, changes, last, places),
        // What is wrong with objects that are needed, too, hides why they are.
        Err(refused) => with_imports(job, changes, last).map_err(|why| refused.unwrap_or(why)),
    };
    let may_be_mended = |what: &Changed| {
        matches!(what, Changed::Name(_) | Changed::Names | Changed::NoMore(_) | Changed::Needs)
    };
    if !matches!(&found, Err(Why::Object(_, what)) if may_be_mended(what)) {
        return found;
    }
    let imports = new_imports::find(job, changes, last)?;
    let offered = offered_names::find(job, changes, last)?;
    let words = new_words::find(job, changes, last)?;
    if imports.is_none() && offered.is_empty() && words.is_none() {
        return found;
    }
    let words = words.as_deref().unwrap_or(last.words);
    let imports_now = imports.as_deref().unwrap_or(last.imports);
    let last = &LastLink { imports: imports_now, offered: &offered, words, ..*last };
    let mut patch = with_imports(job, changes, last)?;
    if imports.is_some() {
        new_imports::write(job, last, &mut patch)?;
        patch.writes.sort_unstable_by_key(|(offset, _)| *offset);
    }
    Ok(patch)
}

/// What the tables do not have, or why that cannot be done; `None` if that is said by who looks at it next.
type Found<'j> = Result<Places<'j>, Option<Why>>;

/// So often it is looked for what is needed for the sake of others.
const ROUNDS: usize = 8;

/// With objects that have not changed, and define what changed ones refer to and nothing did before (with gc, that is
/// not in the output), or have groups that change hands; and what the tables do not have then.
fn with_needed<'j>(
    job: &Job<'j>,
    changes: &Changes,
    last: &LastLink,
) -> Result<(Option<Changes>, Found<'j>), Why> {
    let mut found: Option<Changes> = None;
    for _ in 0..ROUNDS {
        let now = found.as_ref().unwrap_or(changes);
        let places = match new_places(job, now, last) {
            Ok(places) => places,
            // Without others, why it cannot be done is said by who looks at it next.
            Err(why) => return Ok((None, Err(found.is_some().then_some(why)))),
        };
        let needed = &places.needed;
        if needed.is_empty() {
            return Ok((found, Ok(places)));
        }
        let (left, _) = last.view(job)?;
        let mut objects = now.objects.clone();
        for row in needed.iter().copied() {
            let input: InputRow = left.tables.row(row.into())?;
            let Some(number) = now.file_of(row, &input) else { return Ok((None, Err(None))) };
            let file = &now.files[number];
            let member = match &file.is {
                Is::Object(..) | Is::Gone(..) => None,
                Is::Archive(archive) => {
                    let data = job.store.open_once(&file.path).map_err(|e| Why::System(e.to_string()))?;
                    let place = data.and_then(|data| archive.place(data, row));
                    Some(place.ok_or_else(|| Why::Archive(file.path.clone()))?)
                }
                Is::Lent(_) | Is::Other(_) => return Ok((None, Err(None))),
            };
            objects.push(ChangedObject { file: number, row, member });
        }
        found = Some(Changes { objects, ..now.clone() });
    }
    Ok((found, Err(None)))
}

/// The same, if no functions of shared objects are called but those that were before, and those of `last`.
fn with_imports(job: &Job, changes: &Changes, last: &LastLink) -> Result<Patch, Why> {
    let places = new_places(job, changes, last)?;
    let are_all = places.needed.is_empty();
    // If other objects are needed, too, this is a full link; what is wrong with the patch says more of why.
    let patch = with_places(job, changes, last, places)?;
    if are_all {
        return Ok(patch);
    }
    let path = changes.objects.first().map(|object| changes.files[object.file].path.clone());
    Err(Why::Object(path.unwrap_or_default(), Changed::Names))
}

/// The same with what the tables do not have as it is.
fn with_places(job: &Job, changes: &Changes, last: &LastLink, places: Places) -> Result<Patch, Why> {
    let Places { names, guests, holes, init_arrays, cuts, objects, .. } = places;
    let before = (last.guests, last.holes);
    let last =
        &LastLink { names: &names, guests: &guests, holes: &holes, init_arrays: &init_arrays, ..*last };
    let neighbours::Found { extents, lists, inputs: debug, cuts } =
        neighbours::sections(job, changes, last, (&objects, cuts))?;
    let last = &LastLink { extents: &extents, lists: &lists, ..*last };
    let mut runs = neighbours::Runs::new(last);
    let mut moved = Moved { debug, runs: BTreeSet::new() };
    let mut tries = 0;
    let mut patch = loop {
        let found = with_room(job, changes, (&LastLink { runs: &runs.found, ..*last }, before), &moved);
        let full = match &found {
            Err(Why::Object(_, Changed::Unknown(Missing::Room(full)))) if full.is_of_run() => vec![*full],
            Ok(patch) => patch.full.clone(),
            Err(_) => Vec::new(),
        };
        if full.is_empty() {
            break found?;
        }
        tries += 1;
        let (left, common) = last.view(job)?;
        for full in full {
            if tries > TRIES || !runs.enlarge((&left, &common), changes, &last.memo.leaves, &full)? {
                let input: InputRow = left.tables.row(full.input.into())?;
                let file = changes.file_of(full.input, &input);
                let path = file.map(|file| changes.files[file].path.clone()).unwrap_or_default();
                return Err(Why::Object(path, Changed::Unknown(Missing::Room(full))));
            }
        }
        moved.runs = runs.moved();
    };
    patch.writes.sort_unstable_by_key(|(offset, _)| *offset);
    patch.imports = last.imports.to_vec();
    patch.runs = runs.found;
    patch.names = names;
    patch.guests = guests;
    patch.holes = holes;
    patch.extents = extents;
    patch.init_arrays = init_arrays;
    patch.lists = lists;
    patch.borders = cuts.moved();
    Ok(patch)
}

/// So often it is looked for room: names of symbols are counted before symbols, and neighbours may have less left than it
/// seems.
const TRIES: usize = 12;

/// The same if what objects have in tables is where `last` says. `before` are the guests and holes of the last link.
fn with_room(
    job: &Job,
    changes: &Changes,
    (last, (last_guests, last_holes)): (&LastLink, (&[Guest], &BTreeSet<u32>)),
    moved: &Moved,
) -> Result<Patch, Why> {
    let mut new_values = HashMap::new();
    if changes.objects.len() > 1 {
        // Those that have changed may refer to one another.
        new_values.extend(of_changed(job, changes, last, (&new_values, false))?.values);
    }
    let mut patch = of_changed(job, changes, last, (&new_values, true))?;
    if !patch.full.is_empty() {
        return Ok(patch);
    }
    new_values.extend(patch.values.iter().copied());
    let mut values: BTreeMap<u32, u64> = last.memo.values.iter().copied().collect();
    values.extend(new_values.iter().map(|(row, value)| (*row, *value)));
    if !new_values.is_empty() || !moved.debug.is_empty() || !moved.runs.is_empty() {
        others::add(job, changes, last, (new_values, moved, &mut patch))?;
    }
    search_table::add(job, last, &mut patch)?;
    patch.words = new_words::left(last);
    let of_words = new_words::write(job, last, &values, &mut patch)?;
    patch.told.add(of_words);
    let (words, of_words) = new_words::of_gone(job, last, &values, &mut patch)?;
    patch.told.add(of_words);
    let moved = init_array::add(job, changes, last, (moved, &mut patch))?;
    told::add(job, changes, (last, last_guests, last_holes), (&mut patch, &[words, moved].concat()))?;
    forget_guests(job, last, last_guests, &mut patch)?;
    exported_names::write(job, last, last.names, &mut patch)?;
    new_imports::write_own(job, last, &mut patch)?;
    patch.values = values.into_iter().collect();
    Ok(patch)
}

/// Has what lies between guests be where some were that were there before `last`, and where sections are gone.
fn forget_guests(job: &Job, last: &LastLink, before: &[Guest], patch: &mut Patch) -> Result<(), Why> {
    if before.is_empty() && last.holes.is_empty() {
        return Ok(());
    }
    let (left, common) = last.view(job)?;
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    let code = arch::of_file(&header).ok_or(Why::Image)?.facts().filler;
    let ranges = guests::left(&common, before, last.guests).ok_or(Why::Image)?;
    for (range, is_code) in ranges {
        let size = usize::try_from(range.end - range.start).map_err(|_| Why::Image)?;
        left.read(range.start, size).ok_or(Why::Image)?;
        let filler = if is_code { code } else { 0 };
        patch.compare(last.image, &(range.start, vec![filler; size])).map_err(|_| Why::Image)?;
    }
    Ok(())
}

/// What the tables do not have as it is.
struct Places<'j> {
    names: NewNames,
    guests: Vec<Guest>,
    holes: BTreeSet<u32>,
    init_arrays: InitArrays,
    cuts: Cuts,
    /// Objects that have not changed, and define what is not in the output, but needed, or have groups that change hands.
    needed: BTreeSet<u32>,
    /// The objects that have changed, by their rows, if new names may come with them.
    objects: Vec<(u32, Object<'j>)>,
    /// Of changed objects with free sections, by their rows, which sections are in the output.
    live: HashMap<u32, HashSet<u32>>,
}

/// Names that free sections of changed objects define, with the rows of these, which the tables have in the output.
fn in_output(
    free: &[free_sections::Changed],
    (file, known): (&StateFile, &Common),
) -> Result<HashSet<(u32, u128)>, Unreadable> {
    let mut defined = HashSet::new();
    for one in free {
        for (hash, _) in one.definitions() {
            let name = known.find_name(file, hash)?.map(|(_, name)| name);
            let is_there = name.is_some_and(|name| {
                let is_defined = name.flags & symbol_flags::KIND == symbol_flags::DEFINED;
                is_defined && name.section != NONE && name.input == one.row
            });
            if is_there {
                defined.insert((one.row, hash));
            }
        }
    }
    Ok(defined)
}

/// Objects that have not changed, and define names that are asked for in what is not in the output.
fn needed_objects(
    asked: &HashSet<u128>,
    (file, known): (&StateFile, &Common),
    is_changed: impl Fn(u32) -> bool,
) -> Result<BTreeSet<u32>, Unreadable> {
    let mut needed = BTreeSet::new();
    for hash in asked {
        if let Some((number, name)) = known.find_name(file, *hash)?
            && number < known.count
            && (name.section, name.flags & symbol_flags::KIND) == (NONE, symbol_flags::DEFINED)
            && name.input != NONE
            && !is_changed(name.input)
        {
            needed.insert(name.input);
        }
    }
    Ok(needed)
}

/// Names that changed objects define and nobody knew, and those that they define no more; the sections of
/// groups that nobody had, and free ones that are new, gone or elsewhere.
fn new_places<'j>(job: &Job<'j>, changes: &Changes, last: &LastLink) -> Result<Places<'j>, Why> {
    let (left, common) = last.view(job)?;
    let same = || Places {
        names: last.names.clone(),
        guests: last.guests.to_vec(),
        holes: last.holes.clone(),
        init_arrays: last.init_arrays.clone(),
        cuts: Cuts::of(&last.memo.leaves),
        needed: BTreeSet::new(),
        objects: Vec::new(),
        live: HashMap::new(),
    };
    let mut objects = Vec::with_capacity(changes.objects.len());
    for object in &changes.objects {
        let data = changed_object::bytes(job, changes, object)?;
        let Some(parsed) = parsed::object(job, data) else { return Ok(same()) };
        objects.push((object.row, parsed));
    }
    let refused = |row: u32, what: Changed| {
        let object = changes.objects.iter().find(|object| object.row == row);
        let path = object.map(|object| changes.files[object.file].path.clone()).unwrap_or_default();
        Why::Object(path, what)
    };
    let first = objects.first().map_or(0, |(row, _)| *row);
    let why = |common: &Common, why: Refused| match why {
        Refused::Unreadable(why) => Why::Unreadable(why),
        Refused::Malformed => refused(first, Changed::Shape),
        Refused::NoPlace(why) => refused(first, Changed::NoPlace(why)),
        Refused::Gap(row, gap) => refused(row.input, Changed::Gap(gone_names::at(&left, common, &row), gap)),
    };
    let is_open = common.may_have_new_names(job.options);
    let (mut names, mut needed) = (last.names.clone(), BTreeSet::new());
    if is_open {
        let (file, options, mentions) = (left.tables, job.options, &last.memo.mentions[..]);
        let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
        let machine = arch::of_file(&header).ok_or(Why::Image)?;
        let seen = Seen::new(job, &common, machine);
        let rules = seen.rules();
        let seen = |name: &[u8], manner: u8| rules.of(name, manner);
        let looked = Looked { file, options, common: &common, last: last.names, mentions, seen: &seen };
        (names, needed) = looked.find(&objects)?;
        exported_names::give_rows(&left, &common, &objects, &mut names)?
            .map_err(|row| refused(row, Changed::Unknown(Missing::Exports)))?;
    }
    // Free sections.
    let mut free = Vec::new();
    let mut known = common;
    known.names = names.clone();
    for (row, object) in objects.iter().filter(|(_, object)| !is_renamed(object, job.options)) {
        let lost = lost_of((left.tables, &known), *row, object)?;
        free.extend(
            free_sections::Changed::new((left.tables, &known), (*row, object), lost)
                .map_err(|e| why(&known, e))?,
        );
    }
    let of_row: HashMap<u32, &Object> = objects.iter().map(|(row, object)| (*row, object)).collect();
    let gc = job.options.sections.gc_sections;
    let defined = if gc { in_output(&free, (left.tables, &known))? } else { HashSet::new() };
    let asked = free_sections::keep_live(&mut free, (&known, gc), |row, symbol| {
        of_row
            .get(&row)
            .is_some_and(|object| defined.contains(&(row, keys::hash(object.symbol_name(symbol)))))
    });
    let may_place = is_open
        && known.may_move()
        && guests::may_have_guests(job.options)
        && !counts_references(job.options, known.named_outputs());
    if !may_place {
        if let Some(other) = free.iter().find(|one| !free_sections::are_the_same(one)) {
            return Err(refused(other.row, Changed::Shape));
        }
        if !is_open {
            return Ok(same());
        }
    }
    for one in &free {
        for hash in one.defines() {
            if let Some((number, name)) = find_name(left.tables, hash)? {
                let name = names.owned(number, name);
                if (name.input, name.section) == (one.row, NONE) {
                    names.revived.insert(number);
                }
            }
        }
    }
    let is_changed = |row: u32| of_row.contains_key(&row);
    if gc {
        needed.extend(needed_objects(&asked, (left.tables, &known), is_changed)?);
    }
    let mut cuts = Cuts::of(&last.memo.leaves);
    let (mut wanted, holes) = match may_place {
        true => free_sections::to_be_placed((left.tables, &known, &mut cuts), &free)
            .map_err(|e| why(&known, e))?,
        false => (Vec::new(), last.holes.clone()),
    };
    let init_arrays = match may_place {
        true => init_array_words((left.tables, &known, &cuts), &free).map_err(|e| why(&known, e))?,
        false => last.init_arrays.clone(),
    };
    known.set_holes(left.tables, holes.clone())?;
    for (row, object) in &objects {
        wanted.extend(guests::of_groups(&known, (*row, object), &names));
    }
    let changed: HashSet<u32> = objects.iter().map(|(row, _)| *row).collect();
    let others = last.guests.iter().filter(|guest| !changed.contains(&guest.input));
    needed.extend(guests::to_be_moved(&known, others));
    let guests = guests::placed(&known, last.guests, &changed, wanted)
        .map_err(|(row, why)| refused(row, Changed::NoPlace(why)))?;
    let live = free.into_iter().map(|one| (one.row, one.live)).collect();
    Ok(Places { names, guests, holes, init_arrays, cuts, needed, objects, live })
}

/// Those of the objects that have changed, if names get other values that these do not define; if it is not known yet
/// which, no more than the values of what they define.
fn of_changed(
    job: &Job,
    changes: &Changes,
    last: &LastLink,
    new_values: (&HashMap<u32, u64>, bool),
) -> Result<Patch, Why> {
    let threads = threads::count(changes.objects.len(), OBJECTS, THREADS);
    match of_changed_by(threads, job, changes, (last, new_values)) {
        // One after the other, objects may add merged pieces.
        Err(Why::Object(_, Changed::Unknown(Missing::Piece))) if threads > 1 => {
            of_changed_by(1, job, changes, (last, new_values))
        }
        found => found,
    }
}

fn of_changed_by(
    threads: usize,
    job: &Job,
    changes: &Changes,
    (last, new_values): (&LastLink, (&HashMap<u32, u64>, bool)),
) -> Result<Patch, Why> {
    let may_add = threads == 1;
    let of_run = |run: &[ChangedObject]| of_run(job, changes, run, (last, new_values, may_add));
    let found: Result<Vec<Patch>, Why> =
        threads::in_runs(&changes.objects, threads, of_run).into_iter().collect();
    let mut patch = Patch::default();
    for mut of_run in found? {
        patch.writes.append(&mut of_run.writes);
        patch.sections += of_run.sections;
        patch.objects += of_run.objects;
        patch.values.append(&mut of_run.values);
        patch.pieces.append(&mut of_run.pieces);
        patch.mentions.append(&mut of_run.mentions);
        patch.asks.append(&mut of_run.asks);
        patch.searched.append(&mut of_run.searched);
        patch.told.add(of_run.told);
        patch.pointers.append(&mut of_run.pointers);
        patch.exports.append(&mut of_run.exports);
        patch.init_words.append(&mut of_run.init_words);
        patch.full.append(&mut of_run.full);
    }
    patch.writes.sort_unstable_by_key(|(offset, _)| *offset);
    Ok(patch)
}

/// Objects that are worth a thread, and how many threads there are at most.
const OBJECTS: usize = 2;
const THREADS: usize = 8;

impl<'l> LastLink<'l> {
    /// The same as one thread looks at it, and what it takes from the tables once.
    fn view(&self, job: &Job) -> Result<(View<'l>, Common), Why> {
        let tables = self.tables;
        let mut common = Common::read(tables)?;
        common.values = self.memo.values.iter().copied().collect();
        common.names = self.names.clone();
        common.guests = self.guests.to_vec();
        common.set_holes(tables, self.holes.clone())?;
        common.extents.clone_from(self.extents);
        common.init_arrays.clone_from(self.init_arrays);
        common.lists.clone_from(self.lists);
        common.is_stripped = job.options.symtab.strip != Strip::None;
        common.runs.clone_from(self.runs);
        common.last_runs.clone_from(&self.memo.runs);
        common.imports = self.imports.to_vec();
        common.words = self.words.to_vec();
        common.offered.clone_from(&self.offered.once);
        common.no_more_offered.clone_from(&self.offered.no_more);
        common.surely_linked.clone_from(&self.offered.sure);
        common.is_resolved = self.is_resolved;
        common.has_lazy = job.options.inputs.args.iter().any(|input| input.flags.in_lib);
        let (known, new_pieces) = Default::default();
        Ok((View { tables, image: self.image, known, last_pieces: &self.memo.pieces, new_pieces }, common))
    }
}

enum Failure {
    Object(Changed),
    Image,
}

/// Adds those of some sections of an object that the image has otherwise.
fn emit(
    state: &State,
    alone: &Alone,
    image: &File,
    is_wanted: impl Fn(u32) -> bool,
    patch: &mut Patch,
) -> Result<(), Failure> {
    let input: &InputRow = &state.inputs[0];
    debug_assert_eq!(input.kind, input_kind::OBJECT);
    let (mut bytes, mut there) = (Vec::new(), Vec::new());
    for section in state.sections_of(input) {
        let kind = SectionKind::of_number(section.kind.into());
        let is_copied = matches!(
            kind,
            SectionKind::Regular | SectionKind::Compressed | SectionKind::Reversed | SectionKind::Guest
        );
        if !is_copied || !is_wanted(section.ordinal) {
            continue;
        }
        let place = place(state, section).ok_or(Failure::Image)?;
        let size = (place.end - place.start) as usize;
        there.resize(size, 0);
        spare::read_exact_at(image, &mut there, place.start).map_err(|_| Failure::Image)?;
        bytes.clear();
        bytes.resize(size, 0);
        let sink = DiagSink::new();
        alone
            .emit(section.ordinal, &mut bytes, &sink)
            .map_err(|missing| Failure::Object(outgrown(alone, missing)))?;
        if let Some(wrong) = sink.finish().first() {
            return Err(Failure::Object(Changed::Wrong(wrong.message.clone())));
        }
        if section.number == INIT_ARRAY {
            // Others may have lain there.
            patch.init_words.push((section.address, bytes.clone()));
            continue;
        }
        patch.sections += usize::from(patch.add(place.start, &bytes, &there));
    }
    Ok(())
}

/// The same with the name of the section that has outgrown its room.
fn outgrown(alone: &Alone, missing: Missing) -> Changed {
    match missing {
        Missing::Room(full @ Full { of: Of::Section(section), .. }) => {
            Changed::Outgrown(String::from_utf8_lossy(alone.section_name(section)).into_owned(), full)
        }
        missing => Changed::Unknown(missing),
    }
}

/// Adds what the image has otherwise of what belongs to sections and lies in tables of the whole image:
/// frames, symbols and words; and notes pointers.
fn emit_tables(
    alone: &Alone,
    (image, path): (&File, &Path),
    patch: &mut Patch,
) -> Result<Option<Searched>, Failure> {
    let sink = DiagSink::new();
    let unknown = |missing| Failure::Object(Changed::Unknown(missing));
    let frames = alone.frames(&sink).map_err(unknown)?;
    let symbols = alone.symbols(&sink).map_err(unknown)?;
    let mut pointers = alone.pointers(&sink, |_| true).map_err(unknown)?;
    let (slots, of_slots) = alone.slots(&sink).map_err(unknown)?;
    pointers.extend(of_slots);
    if !pointers.is_empty() {
        patch.pointers.push((path.to_owned(), pointers));
    }
    let told = alone.told(&sink).map_err(unknown)?;
    patch.told.add(told);
    if let Some(wrong) = sink.finish().first() {
        return Err(Failure::Object(Changed::Wrong(wrong.message.clone())));
    }
    symbols.iter().chain(&slots).try_for_each(|write| patch.compare(image, write).map(drop))?;
    let Some((frames, searched)) = frames else { return Ok(None) };
    // The same frames are of the same functions.
    Ok(patch.compare(image, &frames)?.then_some(searched))
}

/// The form of the image.
fn format(left: &View) -> Result<Format, Why> {
    Ok(facts(left)?.target.format)
}

/// What is known of the image's machine.
fn facts(left: &View) -> Result<&'static Facts, Why> {
    let header = left.read(0, Ehdr::SIZE).ok_or(Why::Image)?;
    Ok(arch::of_file(&header).ok_or(Why::Image)?.facts())
}

impl Patch {
    /// Adds what of `write` the image has otherwise. Whether there is any.
    fn compare(&mut self, image: &File, (offset, bytes): &Write) -> Result<bool, Failure> {
        let mut there = vec![0; bytes.len()];
        spare::read_exact_at(image, &mut there, *offset).map_err(|_| Failure::Image)?;
        Ok(self.add(*offset, bytes, &there))
    }

    /// Adds what of `bytes` is not what is `there`, at `offset` of the file. Whether there is any.
    fn add(&mut self, offset: u64, bytes: &[u8], there: &[u8]) -> bool {
        let differs = |(a, b): (&u8, &u8)| a != b;
        let Some(first) = bytes.iter().zip(there).position(differs) else { return false };
        let last = bytes.iter().zip(there).rposition(differs).unwrap_or(first);
        self.writes.push((offset + first as u64, bytes[first..=last].to_vec()));
        true
    }
}

/// Where in the file a section is.
fn place(state: &State, section: &SectionRow) -> Option<Range<u64>> {
    let out = state.outputs.get(section.output as usize)?;
    let inside = section.address.checked_sub(out.address)?;
    let end = inside.checked_add(section.size).filter(|end| *end <= out.size)?;
    let start = out.offset.checked_add(inside)?;
    (out.offset.checked_add(end)? <= state.image.file_size).then_some(start..start + section.size)
}

/// The leaves of an image with these writes, of which some begin elsewhere now. Those that are written to, and those where the images differ,
/// must be what the last link has written.
///
/// # Errors
/// If they are not.
pub fn leaves(
    memo: &Memo,
    image: &File,
    (writes, borders): (&[Write], &[(u64, u64)]),
) -> Result<Leaves, Why> {
    let ids = std::slice::from_ref(&memo.id);
    leaves::rewritten_between(&memo.leaves, borders, image, writes, &memo.last, ids).ok_or(Why::Image)
}

/// Whether an image is what the last link wrote, as far as leaves tell, which is all but large holes.
pub fn is_whole(memo: &Memo, image: &File) -> bool {
    leaves::are_those_of(&memo.leaves, image, &memo.id)
}
