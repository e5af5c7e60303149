//! Codegen units of rustc: objects of which a later link may have one more, or one less.
//!
//! They stand side by side on the command line, and which there are changes with what a crate has: its first instance of
//! what another one defines makes a unit. A full link that keeps its state adds *spare* objects, with nothing in them
//! but much room ([`super::skeleton`], [`crate::sections::Sections::let_grow`]). A unit that comes is relinked as a spare
//! one that has changed, and counts as the last object; one that goes has become its skeleton, at its place. A full link
//! that is compared with a relink is given the units in this order ([`Session::told`]).

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use weld_common::archive::MemberData;
use weld_common::io::input::InputStore;
use weld_common::{par, text};

use super::Session;
use super::command::Request;
use super::fitted::{fits, fitted, with_lists};
use super::full_link_reason::Why;
use super::libraries::KnownArchive;
use super::members;
use super::memo::{Is, KnownFile, Memo};
use super::save_state::{LIKELY_MEMBERS, recent_archives};
use super::stood_for::Groups;
use super::{skeleton, yard_object};
use crate::ids::FileId;
use crate::input::FileName;
use crate::input::load::{Input, Inputs};
use crate::job::Job;
use crate::options::{InputArg, InputKind, Options};
use crate::relink_state::State;
use crate::relink_state::collect::Link;
use crate::relink_state::fields::*;
use crate::relink_state::guests::may_have_guests;
use crate::relink_state::init_array::taken;
use crate::relink_state::keys::normalised;
use crate::resolve::Resolved;
use crate::resolve::comdat::Comdats;
use crate::sections::Sections;
use crate::sections::init_array;
use crate::sections::rooms::Growth;

/// What a link knows of units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Skeletons, each once.
    pub skeletons: Vec<Vec<u8>>,
    /// The units of the command line when the tables were written, in order: rows, and skeletons; [`NO_SKELETON`] if one
    /// has none.
    pub known: Vec<(u32, u32)>,
    /// Those that are members of archives, and were linked then: rows, and skeletons.
    pub members: Vec<(u32, u32)>,
    /// The spare ones: rows, and skeletons.
    pub spare: Vec<(u32, u32)>,
    /// How much room each of these has: a number of [`SIZES`].
    pub sizes: Vec<u8>,
}

pub const NO_SKELETON: u32 = u32::MAX;

/// Why there is no place for a unit that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoUnit {
    /// It has sections that nothing may stand for.
    Odd,
    /// Of all places that there are, these are for units like it, and they are taken.
    Taken { alike: usize, all: usize },
}

/// How many spare ones there are of the most frequent skeletons: with little room each, with some and with much. Units that
/// differ in whether they have lists of ranges and of places are the same here ([`super::fitted`]).
const SPARE: [[usize; 3]; 3] = [[60, 14, 6], [4, 2, 1], [1, 1, 1]];

/// Objects of so many bytes and more want some room, and much. Most of a unit are headers.
pub const SIZES: [usize; 2] = [8 << 10, 14 << 10];

/// Of so many units it is known what their skeletons are.
const LOOKED_AT: usize = 512;

/// Which skeleton an object is to have that has this one: of each one that has been asked for.
#[derive(Default)]
struct Wanted(HashMap<u32, Option<u32>>);

impl Wanted {
    /// One of `spare` ones that has more, or else the same with tables of lists; `None` if it has all of it.
    fn of(
        &mut self,
        own: u32,
        spare: &[u32],
        skeletons: &mut Vec<Vec<u8>>,
        store: &InputStore,
    ) -> Option<u32> {
        if let Some(known) = self.0.get(&own) {
            return *known;
        }
        let bytes = skeletons.get(own as usize)?;
        let has_more = |number: &&u32| fits(bytes, &skeletons[**number as usize], store);
        let mut found = None;
        if !spare.contains(&own) {
            found = spare.iter().find(has_more).copied();
            if let (None, Some(with)) = (found, with_lists(bytes, store)) {
                let known = skeletons.iter().position(|bytes| *bytes == with);
                found = Some(known.unwrap_or(skeletons.len()) as u32);
                if known.is_none() {
                    skeletons.push(with);
                }
            }
        }
        self.0.insert(own, found);
        found
    }
}

impl Units {
    pub fn skeleton(&self, row: u32) -> Option<&Vec<u8>> {
        let all = self.known.iter().chain(&self.members).chain(&self.spare);
        let (_, skeleton) = all.into_iter().find(|(of, _)| *of == row)?;
        self.skeletons.get(*skeleton as usize)
    }

    /// The number of the file that is a spare object, or was one and is nobody's now, for an object with these bytes to be.
    ///
    /// # Errors
    /// Why there is none.
    pub fn free_place<'s>(
        &self,
        files: &[KnownFile],
        data: &'s [u8],
        store: &'s InputStore<'s>,
    ) -> Result<usize, NoUnit> {
        let own = skeleton::of(data, store).ok_or(NoUnit::Odd)?;
        let fitting: HashSet<u32> = (0..)
            .zip(&self.skeletons)
            .filter(|(_, wanted)| fits(&own, wanted, store))
            .map(|(number, _)| number)
            .collect();
        let wanted = SIZES.iter().filter(|size| data.len() >= **size).count() as u8;
        let of_kind = self.spare.iter().zip(&self.sizes).filter(|((_, of), _)| fitting.contains(of));
        let of_kind: HashMap<u32, u8> = of_kind.map(|((row, _), size)| (*row, *size)).collect();
        let free = files.iter().enumerate().filter_map(|(number, file)| match file.is {
            Is::Gone(row, is_new) => Some((number, is_new, *of_kind.get(&row)?)),
            _ => None,
        });
        // One that is no smaller than it has to be, and then no larger; else the largest.
        let best = free.min_by_key(|(number, is_new, size)| {
            let is_small = *size < wanted;
            (is_small, if is_small { u8::MAX - size } else { *size }, *is_new, *number)
        });
        let none = NoUnit::Taken { alike: of_kind.len(), all: self.spare.len() };
        best.map(|(number, _, _)| number).ok_or(none)
    }

    /// The bytes of the object that is input `row`: `data`, with what it lacks of its skeleton.
    pub fn placed<'s>(&self, row: u32, data: &'s [u8], store: &'s InputStore<'s>) -> &'s [u8] {
        let Some(wanted) = self.skeleton(row) else { return data };
        if data == wanted {
            return data;
        }
        // Several ask for it.
        if let Some(bytes) = store.noted(data) {
            return bytes;
        }
        fitted(data, wanted, store).map_or(data, |bytes| store.note(data, bytes))
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        put_list(&self.skeletons, out, |bytes, out| put_bytes(bytes, out));
        for list in [&self.known, &self.members, &self.spare] {
            put_list(list, out, |(row, skeleton), out| {
                row.put(out);
                skeleton.put(out);
            });
        }
        put_bytes(&self.sizes, out);
    }

    pub fn take(rest: &mut &[u8]) -> Option<Units> {
        let skeletons = take_list(rest, take_bytes)?;
        let mut list = || take_list(rest, |rest| Some((u32::take(rest)?, u32::take(rest)?)));
        let [known, members, spare] = [list()?, list()?, list()?];
        Some(Units { skeletons, known, members, spare, sizes: take_bytes(rest)? })
    }
}

/// Whether an argument is a unit.
pub fn is_unit(arg: &str) -> bool {
    arg.ends_with(".rcgu.o") && !arg.starts_with('-')
}

/// The units of a full link, by their files.
#[derive(Default)]
pub struct Found {
    skeletons: Vec<Vec<u8>>,
    known: Vec<(FileId, u32)>,
    spare: Vec<(FileId, u32)>,
    /// How much room each of these has: a number of [`SIZES`].
    sizes: Vec<u8>,
}

impl Found {
    /// Has spare objects have room.
    pub fn give_rooms(&self, sections: &mut Sections) {
        for ((file, _), size) in self.spare.iter().zip(&self.sizes) {
            let growth = match size {
                0 => Growth::Little,
                1 => Growth::Some,
                _ => Growth::Much,
            };
            sections.let_grow(*file, growth);
        }
    }

    /// The skeletons that spare objects have, the one first that stands for most units: one that lacks a section of another
    /// one is that.
    fn kinds<'d>(&'d self, store: &'d InputStore<'d>) -> Vec<u32> {
        let mut uses = vec![0usize; self.skeletons.len()];
        self.known.iter().for_each(|(_, of)| {
            if let Some(uses) = uses.get_mut(*of as usize) {
                *uses += 1;
            }
        });
        let mut by_use: Vec<(usize, u32)> = Vec::new();
        for (number, own) in self.skeletons.iter().enumerate() {
            let others = || self.skeletons.iter().enumerate().filter(|(other, _)| *other != number);
            if others().any(|(_, wanted)| fits(own, wanted, store)) {
                continue;
            }
            let alike = others().filter(|(_, other)| fits(other, own, store));
            let all = uses[number] + alike.map(|(other, _)| uses[other]).sum::<usize>();
            by_use.push((all, number as u32));
        }
        by_use.sort_by_key(|(uses, number)| (std::cmp::Reverse(*uses), *number));
        by_use.into_iter().map(|(_, number)| number).collect()
    }

    /// Gives units that are likely to be edited the tables that others of their kind have, so that they may get their
    /// first ones: what is to stand for each.
    fn fit<'j>(
        &mut self,
        job: &Job<'j>,
        (inputs, parallel): (&Inputs<'j>, bool),
    ) -> Vec<(&'j [u8], Vec<u8>)> {
        let mut wanted = Wanted::default();
        let mut all: Vec<(&'j [u8], u32)> = Vec::new();
        let spare: Vec<u32> = self.spare.iter().map(|(_, skeleton)| *skeleton).collect();
        for (file, own) in &mut self.known {
            if let Input::Object { data, .. } = &inputs.files[file.index()]
                && let Some(number) = wanted.of(*own, &spare, &mut self.skeletons, job.store)
                && all.len() < LIKELY_MEMBERS
            {
                *own = number;
                all.push((data, number));
            }
        }
        let of_program = all.len();
        let mut numbers: HashMap<Vec<u8>, u32> = self.skeletons.iter().cloned().zip(0..).collect();
        'all: for number in recent_archives(job, inputs) {
            let archive = &inputs.archives[number];
            for member in archive.archive.members().map_while(Result::ok) {
                let MemberData::Inline(data) = member.data else { continue };
                if !is_unit(&text::text(member.name)) {
                    continue;
                }
                if all.len() >= of_program + LIKELY_MEMBERS {
                    break 'all;
                }
                let Some(bytes) = skeleton::of(data, job.store) else { continue };
                let next = self.skeletons.len() as u32;
                let own = *numbers.entry(bytes.clone()).or_insert(next);
                if own == next {
                    self.skeletons.push(bytes);
                }
                if let Some(number) = wanted.of(own, &[], &mut self.skeletons, job.store) {
                    all.push((data, number));
                }
            }
        }
        let skeletons = &self.skeletons;
        let found = par::runs("fitted units", parallel, all.len(), 8, |run| {
            let fit = |(data, number): &(&'j [u8], u32)| {
                Some((*data, fitted(data, &skeletons[*number as usize], job.store)?))
            };
            all[run].iter().filter_map(fit).collect::<Vec<_>>()
        });
        found.into_iter().flatten().collect()
    }

    /// By the rows of the state.
    pub fn units(&self, state: &State) -> Units {
        let rows: HashMap<u32, u32> =
            (0..).zip(&state.inputs).map(|(row, input)| (input.precedence, row)).collect();
        let by_row = |list: &[(FileId, u32)]| {
            list.iter().filter_map(|(file, skeleton)| Some((*rows.get(&file.0)?, *skeleton))).collect()
        };
        Units {
            skeletons: self.skeletons.clone(),
            known: by_row(&self.known),
            members: Vec::new(),
            spare: by_row(&self.spare),
            sizes: self.sizes.clone(),
        }
    }
}

impl Units {
    /// Adds the members that are linked of archives that are likely to change, if there are spare objects at all.
    pub fn add_members(&mut self, files: &[KnownFile], link: &Link, state: &State) {
        if self.spare.is_empty() {
            return;
        }
        let mut archives: Vec<(i64, &KnownArchive)> = Vec::new();
        for file in files {
            if let (Is::Archive(archive), modified) =
                (&file.is, file.stamp.map_or(i64::MAX, |stamp| stamp.modified))
                && archive.is_told_apart
                && archive.by_member
            {
                archives.push((modified, archive));
            }
        }
        archives.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        let rows = archives.iter().flat_map(|(_, archive)| &archive.members);
        let rows: Vec<u32> = rows.filter(|member| is_unit(&member.name)).map(|member| member.row).collect();
        let rows = &rows[..rows.len().min(LOOKED_AT)];
        let store = link.context.inputs.reading(false).store;
        let found = par::runs("skeletons of members", link.context.parallel, rows.len(), 8, |run| {
            let skeleton = |row: &u32| skeleton::of(link.data(&state.inputs[*row as usize]), store);
            rows[run].iter().map(skeleton).collect::<Vec<_>>()
        });
        let mut numbers: HashMap<Vec<u8>, u32> = self.skeletons.drain(..).zip(0..).collect();
        for (row, skeleton) in rows.iter().zip(found.into_iter().flatten()) {
            let next = numbers.len() as u32;
            let number = skeleton.map_or(NO_SKELETON, |bytes| *numbers.entry(bytes).or_insert(next));
            self.members.push((*row, number));
        }
        self.skeletons = vec![Vec::new(); numbers.len()];
        for (bytes, number) in numbers {
            self.skeletons[number as usize] = bytes;
        }
    }
}

/// What stands for the spare ones in the list of files.
pub fn spare_files(units: &Units) -> impl Iterator<Item = KnownFile> {
    let file = |(number, (row, _)): (usize, &(u32, u32))| KnownFile {
        path: format!("<spare {number}>").into(),
        stamp: None,
        is: Is::Gone(*row, false),
    };
    units.spare.iter().enumerate().map(file)
}

/// Has the files of the last link be those of this one, as far as units are concerned, which are those of `request` now.
///
/// # Errors
/// If there is no room for those that have come.
pub fn bring_up_to_date<'s>(memo: &mut Memo, request: &Request, job: &'s Job<'s>) -> Result<(), Why> {
    let known = |list: &[Vec<u8>]| -> Vec<String> {
        list.iter().map(|path| normalised(&String::from_utf8_lossy(path))).collect()
    };
    let (last, now) = (known(&memo.request.units), known(&request.units));
    if last == now {
        return Ok(());
    }
    let [of_last, of_now] = [&last, &now].map(|list| list.iter().collect::<HashSet<&String>>());
    let stay = |list: &'_ [String], other: &HashSet<&String>| -> Vec<String> {
        list.iter().filter(|path| other.contains(path)).cloned().collect()
    };
    let is_told_apart = of_last.len() == last.len() && of_now.len() == now.len();
    if !is_told_apart
        || memo.dependencies.is_some()
        || memo.units.spare.is_empty()
        || now.is_empty()
        || stay(&last, &of_now) != stay(&now, &of_last)
    {
        return Err(Why::Command);
    }
    let (units, files) = (&memo.units, Arc::make_mut(&mut memo.files));
    let path = |file: &KnownFile| normalised(&text::path(&file.path));
    for file in files.iter_mut() {
        if let Is::Object(row, _) = file.is
            && of_last.contains(&path(file))
            && !of_now.contains(&path(file))
        {
            units.skeleton(row).ok_or_else(|| Why::GoneUnit(file.path.clone()))?;
            file.is = Is::Gone(row, true);
        }
    }
    for (given, name) in request.units.iter().zip(&now).filter(|(_, name)| !of_last.contains(name)) {
        let given = PathBuf::from(text::os_str(given));
        // It may have been there before, or takes a place that is free.
        let of_old = files.iter().position(|file| matches!(file.is, Is::Gone(..)) && path(file) == *name);
        let number = match of_old {
            Some(number) => number,
            None => {
                let data = job.store.open(&given).map_err(|e| Why::System(e.to_string()))?;
                let data = data.ok_or_else(|| Why::Gone(given.clone()))?;
                let place = units.free_place(files, data, job.store);
                place.map_err(|why| Why::NewUnit(given.clone(), why))?
            }
        };
        let file = &mut files[number];
        if let Is::Gone(row, _) = file.is {
            *file = KnownFile { path: given, stamp: None, is: Is::Object(row, 1) };
        }
    }
    Ok(())
}

/// Has the store give skeletons for the files that are gone.
pub fn lay_skeletons(units: &Units, files: &[KnownFile], job: &Job) {
    let skeleton = |file: &KnownFile| match file.is {
        Is::Gone(row, _) => Some((file.path.clone(), units.skeleton(row)?.clone())),
        _ => None,
    };
    job.store.lay(files.iter().filter_map(skeleton).collect());
}

impl Session {
    /// The options for a full link that is to be compared with a relink, if it is given other units, or in another order,
    /// than the command line says.
    pub fn told(&self, options: &Options) -> Option<Options> {
        let held = self.held.lock().unwrap();
        let units = &held.as_ref()?.next;
        let (files, units) = (&units.files, &units.units);
        let args = &options.inputs.args;
        let is_unit =
            |arg: &InputArg| matches!(&arg.kind, InputKind::File(path) if is_unit(&text::path(path)));
        let first = args.iter().position(is_unit).filter(|_| !units.spare.is_empty())?;
        let flags = args[first].flags;
        let mut told: Vec<InputArg> = args.iter().filter(|arg| !is_unit(arg)).cloned().collect();
        let path = |row: u32| {
            let is_it =
                |file: &&KnownFile| matches!(file.is, Is::Object(of, _) | Is::Gone(of, _) if of == row);
            files.iter().find(is_it).map(|file| file.path.clone())
        };
        let of_units = units.known.iter().filter_map(|(row, _)| path(*row));
        let of_units: Vec<InputArg> =
            of_units.map(|path| InputArg { kind: InputKind::File(path), flags }).collect();
        told.splice(first..first, of_units);
        let mut options = options.clone();
        options.inputs.args = told;
        Some(options)
    }

    /// Has pointers to personality routines be where other objects may come and go, and groups lose that others stand for.
    pub fn choose_groups(&self, job: &Job, comdats: &Comdats, resolved: &Resolved, parallel: bool) {
        if self.never.get().is_some() {
            return;
        }
        // What is redirected is not known by its name.
        if job.options.symbols.wrap.is_empty() {
            Groups { comdats, resolved, kept: self.last_copies() }.discard_stood_for(parallel);
        }
        let spare = self.spare_from.get().copied().unwrap_or(u32::MAX);
        let count = resolved.objects.partition_point(|object| object.file.0 < spare);
        comdats.keep_last_pointers(resolved, count);
    }

    /// Adds spare objects to the inputs, or what has taken their places, and the one whose sections have yards.
    pub fn add_made_objects<'j>(&self, job: &Job<'j>, inputs: &mut Inputs<'j>, parallel: bool) {
        let is_possible = !job.options.inputs.args.iter().any(|input| input.flags.in_lib);
        // If only this time nothing can be kept, the output is what it would be otherwise.
        if self.never.get().is_some() || self.request.is_err() || !is_possible {
            return;
        }
        let (objects, first) = (inputs.files.len(), first_object(inputs));
        self.add_spare_objects(job, inputs, parallel);
        if may_have_guests(job.options)
            && let Some(first) = first
            && let Some(bytes) =
                yard_object::made((first, objects), (job.options, self.init_words()), job.store)
        {
            let name = FileName { path: yard_object::NAME.into(), member: None };
            _ = self.yard_object.set(inputs.add_object(name, job.store.keep(bytes), false));
        }
    }

    /// How many words of `.init_array` are spare; of a link that is to be compared with a relink, those that are left.
    fn init_words(&self) -> u64 {
        let held = self.held.lock().unwrap();
        let taken = held.as_ref().map_or(0, |held| taken(&held.next.init_arrays));
        init_array::SPARE.saturating_add_signed(-taken / init_array::WORD.cast_signed())
    }

    /// Adds spare objects to the inputs, or what has taken their places.
    fn add_spare_objects<'j>(&self, job: &Job<'j>, inputs: &mut Inputs<'j>, parallel: bool) {
        let name = |path: String| FileName { path: path.into(), member: None };
        if let Some(held) = &*self.held.lock().unwrap() {
            let memo = &held.next;
            job.store.let_stand(stand_ins(memo, job, inputs));
            if memo.has_other_members {
                self.lay_members(memo, job, inputs);
            }
            _ = self.spare_from.set(inputs.files.len() as u32);
            for (row, _) in &memo.units.spare {
                if let Some((name, data)) = members::bytes_of(memo, *row, job) {
                    inputs.add_object(name, data, false);
                }
            }
            return;
        }
        _ = self.spare_from.set(inputs.files.len() as u32);
        let mut found = Found::default();
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        for (number, input) in inputs.files.iter().enumerate() {
            let Input::Object { name, data, lazy: false, .. } = input else { continue };
            if name.member.is_some() || !is_unit(&name.path) {
                continue;
            }
            let is_looked_at = found.known.len() < LOOKED_AT;
            let skeleton = if is_looked_at { skeleton::of(data, job.store) } else { None };
            let skeleton = skeleton.map_or(NO_SKELETON, |bytes| {
                let next = numbers.len() as u32;
                *numbers.entry(bytes).or_insert(next)
            });
            found.known.push((FileId(number as u32), skeleton));
        }
        found.skeletons = vec![Vec::new(); numbers.len()];
        for (bytes, number) in numbers {
            found.skeletons[number as usize] = bytes;
        }
        let kinds = found.kinds(job.store);
        for (mut skeleton, counts) in kinds.into_iter().zip(SPARE) {
            if let Some(bytes) = with_lists(&found.skeletons[skeleton as usize], job.store) {
                skeleton = found.skeletons.len() as u32;
                found.skeletons.push(bytes);
            }
            for (size, count) in (0..).zip(counts) {
                for _ in 0..count {
                    let bytes = job.store.keep(found.skeletons[skeleton as usize].clone());
                    let name = name(format!("<spare {}>", found.spare.len()));
                    found.spare.push((inputs.add_object(name, bytes, false), skeleton));
                    found.sizes.push(size);
                }
            }
        }
        job.store.let_stand(found.fit(job, (inputs, parallel)));
        *self.units.lock().unwrap() = found;
    }
}

/// The first object of the command line that is linked whatever asks for it.
fn first_object<'j>(inputs: &Inputs<'j>) -> Option<&'j [u8]> {
    inputs.files.iter().find_map(|input| match input {
        Input::Object { data, lazy: false, .. } => Some(*data),
        _ => None,
    })
}

/// What stands for units in a full link that is compared with a relink, which has these inputs.
fn stand_ins<'j>(memo: &Memo, job: &Job<'j>, inputs: &Inputs<'j>) -> Vec<(&'j [u8], Vec<u8>)> {
    let units = &memo.units;
    let rows: HashSet<u32> = units.known.iter().chain(&units.members).map(|(row, _)| *row).collect();
    let mut objects: HashMap<&str, &'j [u8]> = HashMap::new();
    for input in &inputs.files {
        if let Input::Object { name, data, .. } = input
            && name.member.is_none()
        {
            objects.insert(&name.path, data);
        }
    }
    let mut found: Vec<(u32, &'j [u8])> = Vec::new();
    for file in memo.files.iter() {
        let path = text::path(&file.path);
        match &file.is {
            Is::Object(row, _) if rows.contains(row) => {
                found.extend(objects.get(&*path).map(|data| (*row, *data)));
            }
            Is::Archive(known) => {
                let archive = inputs.archives.iter().find(|archive| *archive.path == *path);
                let Some(bytes) = archive.map(|archive| archive.archive.bytes()) else { continue };
                let place = |row: u32| Some((row, bytes.get(known.place(bytes, row)?)?));
                let members = known.members.iter().map(|member| member.row);
                found.extend(members.filter(|row| rows.contains(row)).filter_map(place));
            }
            _ => {}
        }
    }
    let stand_in = |(row, data): (u32, &'j [u8])| {
        let placed = units.placed(row, data, job.store);
        (placed.as_ptr() != data.as_ptr()).then(|| (data, placed.to_vec()))
    };
    found.into_iter().filter_map(stand_in).collect()
}
