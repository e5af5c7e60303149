//! Members of archives that come and go: codegen units in an `.rlib`, as rustc has them there.
//!
//! Which members a link reads depends on who asks for what, in which order. So where an archive has other members, or its
//! index offers other names, resolution runs as in a full link ([`TakingPart`]), and tells which members are
//! linked. One that is and was not takes the place of a spare object; one that was and is not becomes its skeleton
//! ([`super::units`]). From then on the tables do not tell any more why members are linked, so that resolution runs for
//! each relink in which an object asks for something else than in the last one, or offers something else
//! ([`Memo::has_other_members`], [`Memo::asks`]). Members are known by their names, of which an
//! archive has one each; those that stay must lie in the order that they had, which decides on more than resolution.
//!
//! A full link that is compared with a relink has all members by themselves, at the places that they have in the tables
//! ([`Session::lay_members`]).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weld_common::archive::Archive;
use weld_common::digest::UnitDigest;
use weld_common::text;

use super::Session;
use super::changes::{Changed, Changes};
use super::directory::{Place, TABLES};
use super::full_link_reason::Why;
use super::libraries::{KnownArchive, KnownMember, Members, digest};
use super::memo::{Is, KnownFile, Memo};
use super::patch::{changed_object, parsed};
use super::units::{self, NoUnit, Units};
use crate::input::FileName;
use crate::input::archives::ArchiveInput;
use crate::input::load::{Input, Inputs};
use crate::job::Job;
use crate::relink_state::file::StateFile;
use crate::relink_state::mentions::{Globals, asked_by};
use crate::relink_state::rows::{InputRow, NONE};
use crate::resolve::Resolved;

/// The inputs of a link, and which of them take part, found out as a full link does; `None` if there is anything to say of
/// them.
pub type TakingPart = for<'j> fn(&Job<'j>) -> Option<(Inputs<'j>, Resolved<'j>)>;

/// Finds out which members are linked now, if that may be others than the last link had: `changes` has them then.
///
/// # Errors
/// If one comes or goes for which there is no place, or nothing that may stand for it.
pub fn find(
    (memo, place): (&Memo, &Place),
    (job, taking_part): (&Job, TakingPart),
    changes: &mut Changes,
) -> Result<(), Why> {
    let are_known = changes.archives.is_empty();
    if are_known && (!memo.has_other_members || changes.objects.is_empty()) {
        return Ok(());
    }
    if are_known && ask_the_same((memo, place), job, changes)? {
        changes.is_resolved = true;
        return Ok(());
    }
    resolve(&memo.units, (job, taking_part), changes)
}

/// Whether the objects that have changed ask for what they asked for in the last link, and offer the same: then the same
/// members are linked.
fn ask_the_same((memo, place): (&Memo, &Place), job: &Job, changes: &Changes) -> Result<bool, Why> {
    let tables = place.map(TABLES).map_err(|_| Why::First)?;
    let tables = StateFile::open(&tables, UnitDigest::from_bytes(memo.build))?;
    units::lay_skeletons(&memo.units, &changes.files, job);
    for object in &changes.objects {
        let Some(parsed) = parsed::with_its_names(job, changed_object::bytes(job, changes, object)?) else {
            return Ok(false);
        };
        let last = match memo.asks.get(&object.row) {
            Some(asks) => *asks,
            None => asked_by(&tables, object.row)?,
        };
        if Globals::of(&parsed).asks() != last {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same, whatever has changed.
///
/// # Errors
/// The same.
pub fn resolve(
    units: &Units,
    (job, taking_part): (&Job, TakingPart),
    changes: &mut Changes,
) -> Result<(), Why> {
    let number = changes.archives.first().copied().or(changes.objects.first().map(|object| object.file));
    let refused = number.map_or(Why::First, |number| Why::Archive(changes.files[number].path.clone()));
    // Objects that are like members, and archives whose members export nothing.
    let has_lazy = job.options.inputs.args.iter().any(|input| input.flags.in_lib);
    if has_lazy || !job.options.symbols.exclude_libs.is_empty() {
        return Err(refused);
    }
    let Some((inputs, resolved)) = taking_part(job).filter(|(_, resolved)| !resolved.has_code) else {
        return Err(refused);
    };
    let linked = linked(&inputs, &resolved);
    let mut left: Vec<usize> = changes.archives.clone();
    for (archive, places) in inputs.archives.iter().zip(linked) {
        let path = text::to_path(&archive.path);
        let number =
            changes.files.iter().position(|file| file.path == path).ok_or(Why::Archive(path.clone()))?;
        let is_other = changes.archives.contains(&number);
        left.retain(|other| *other != number);
        let found = Found { units, number, path: &path, archive, is_other };
        found.note(job, &places, changes)?;
    }
    if let Some(number) = left.first() {
        return Err(Why::Archive(changes.files[*number].path.clone()));
    }
    changes.archives.clear();
    changes.objects.sort_by_key(|object| object.row);
    changes.is_resolved = true;
    Ok(())
}

/// Of each archive the members that are linked: where their bytes begin in it.
fn linked(inputs: &Inputs, resolved: &Resolved) -> Vec<Vec<usize>> {
    let mut linked = vec![Vec::new(); inputs.archives.len()];
    for object in &resolved.objects {
        let Some(data) = inputs.bytes(object.file).ok().filter(|_| object.name.member.is_some()) else {
            continue;
        };
        let after = inputs.archives.partition_point(|archive| archive.first_file <= object.file);
        if let Some(number) = after.checked_sub(1) {
            let start = inputs.archives[number].archive.bytes().as_ptr().addr();
            linked[number].push(data.as_ptr().addr().wrapping_sub(start));
        }
    }
    linked
}

/// An archive of which it is known which members are linked now.
struct Found<'f, 'j> {
    units: &'f Units,
    number: usize,
    path: &'f Path,
    archive: &'f ArchiveInput<'j>,
    /// It has other members, or offers other names.
    is_other: bool,
}

impl<'j> Found<'_, 'j> {
    /// Notes which members have come, gone or changed. `linked` are the places of those that are linked.
    fn note(&self, job: &Job<'j>, linked: &[usize], changes: &mut Changes) -> Result<(), Why> {
        let refused = || Why::Archive(self.path.to_owned());
        let Is::Archive(known) = &changes.files[self.number].is else { return Err(refused()) };
        let bytes = self.archive.archive.bytes();
        let all = Members::of(bytes).ok_or_else(refused)?;
        let place = |data: &&[u8]| data.as_ptr().addr() - bytes.as_ptr().addr();
        let by_place: HashMap<usize, u32> = all.data.iter().map(place).zip(0..).collect();
        let numbers = linked.iter().map(|place| by_place.get(place).copied());
        let mut now: Vec<u32> = numbers.collect::<Option<_>>().ok_or_else(refused)?;
        now.sort_unstable();
        let were = known.members.iter().filter(|member| member.row != NONE).map(|member| member.number);
        if !self.is_other && were.eq(now.iter().copied()) {
            return Ok(());
        }
        let by_name = all.by_name();
        // All members count where common symbols ask for them, or there is no index.
        let are_all = known.members.iter().any(|member| member.row == NONE) || !self.archive.lazy;
        if are_all || !known.is_told_apart && !known.members.is_empty() || by_name.len() != all.data.len() {
            return Err(refused());
        }
        let known = known.clone();
        let mut members = Vec::with_capacity(now.len());
        for member in &known.members {
            let number = by_name.get(&*member.name).copied();
            let Some(number) = number.filter(|number| now.binary_search(number).is_ok()) else {
                self.goes(member, changes)?;
                continue;
            };
            let digest = digest(all.data[number as usize]);
            if self.is_other && digest != member.digest {
                let at = all.place(bytes, number as usize);
                changes.objects.push(Changed { file: self.number, row: member.row, member: at });
            }
            members.push(KnownMember { number, digest, ..member.clone() });
        }
        for number in now {
            if members.iter().any(|member| member.number == number) {
                continue;
            }
            let (data, name) = (all.data[number as usize], all.name(number as usize).to_owned());
            let row = self.comes((&name, data), job, changes)?;
            let at = all.place(bytes, number as usize);
            changes.objects.push(Changed { file: self.number, row, member: at });
            members.push(KnownMember { number, row, digest: digest(data), name });
        }
        if !self.are_in_order(&members) {
            return Err(Why::Order(self.path.to_owned()));
        }
        members.sort_by_key(|member| member.number);
        Arc::make_mut(&mut changes.files)[self.number].is =
            Is::Archive(all.known(members, known.indexed).ok_or_else(refused)?);
        Ok(())
    }

    /// Whether members that have the places of their own lie in the archive as the tables have them: constructors, sections
    /// with one name, weak definitions and copies of inline functions are taken in that order.
    fn are_in_order(&self, members: &[KnownMember]) -> bool {
        let is_spare = |row: u32| self.units.spare.iter().any(|(spare, _)| *spare == row);
        let own = members.iter().filter(|member| !is_spare(member.row));
        let mut own: Vec<(u32, u32)> = own.map(|member| (member.row, member.number)).collect();
        own.sort_unstable();
        own.is_sorted_by_key(|(_, number)| *number)
    }

    /// How a member is called that is gone.
    fn path(&self, name: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(format!("({name})"));
        path.into()
    }

    /// Has the skeleton of a member be at its place.
    fn goes(&self, member: &KnownMember, changes: &mut Changes) -> Result<(), Why> {
        let path = self.path(&member.name);
        self.units.skeleton(member.row).ok_or_else(|| Why::GoneUnit(path.clone()))?;
        changes.objects.retain(|object| object.row != member.row);
        let is = Is::Gone(member.row, false);
        let of_row = |file: &KnownFile| matches!(file.is, Is::Lent(row) if row == member.row);
        let number = match changes.files.iter().position(of_row) {
            Some(number) => {
                Arc::make_mut(&mut changes.files)[number].is = is;
                number
            }
            None => {
                Arc::make_mut(&mut changes.files).push(KnownFile { path, stamp: None, is });
                changes.files.len() - 1
            }
        };
        changes.objects.push(Changed { file: number, row: member.row, member: None });
        Ok(())
    }

    /// The row of the place that a member gets.
    fn comes(
        &self,
        (name, data): (&str, &'j [u8]),
        job: &Job<'j>,
        changes: &mut Changes,
    ) -> Result<u32, Why> {
        let path = self.path(name);
        let files = Arc::make_mut(&mut changes.files);
        // It may have been there before.
        let before = files.iter().position(|file| matches!(file.is, Is::Gone(..)) && file.path == path);
        let number = before.map_or_else(|| self.units.free_place(files, data, job.store), Ok);
        let number = number.map_err(|why| Why::NewUnit(path.clone(), why))?;
        let Is::Gone(row, _) = files[number].is else { return Err(Why::NewUnit(path, NoUnit::Odd)) };
        // It may have gone at the same time.
        changes.objects.retain(|object| object.row != row);
        files[number] = KnownFile { path, stamp: None, is: Is::Lent(row) };
        Ok(row)
    }
}

/// The name and the bytes of the object that is input `row` now, which has come or gone since the tables were written.
pub fn bytes_of<'j>(memo: &Memo, row: u32, job: &Job<'j>) -> Option<(FileName<'j>, &'j [u8])> {
    let (name, data) = found(memo, row, job)?;
    Some((name, memo.units.placed(row, data, job.store)))
}

/// The same as the object is.
fn found<'j>(memo: &Memo, row: u32, job: &Job<'j>) -> Option<(FileName<'j>, &'j [u8])> {
    for file in memo.files.iter() {
        match &file.is {
            Is::Object(of, _) | Is::Gone(of, _) if *of == row => {
                let name = FileName { path: text::path(&file.path).into(), member: None };
                return Some((name, job.store.open_once(&file.path).ok()??));
            }
            Is::Archive(archive) if archive.has(row) => {
                let bytes = job.store.open_once(&file.path).ok()??;
                let place = archive.place(bytes, row)?;
                let name = Archive::parse(bytes).ok()?.members().map_while(Result::ok);
                let name = name.map(|member| member.name).nth(number_of(archive, row)?);
                return Some((
                    FileName { path: text::path(&file.path).into(), member: name },
                    bytes.get(place)?,
                ));
            }
            _ => {}
        }
    }
    None
}

fn number_of(archive: &KnownArchive, row: u32) -> Option<usize> {
    let member = archive.members.iter().find(|member| member.row == row)?;
    Some(member.number as usize)
}

impl Session {
    /// Has the members of archives be files of their own, with the numbers that they had when the tables were written:
    /// those that were linked then, or what stands for them now.
    pub(super) fn lay_members<'j>(&self, memo: &Memo, job: &Job<'j>, inputs: &mut Inputs<'j>) {
        let Some(rows) = self.rows_of_inputs(memo) else { return };
        for number in 0..inputs.archives.len() {
            let archive = &inputs.archives[number];
            let (path, excluded, start) =
                (text::to_path(&archive.path), archive.excluded, archive.first_file.0);
            let Some(file) = memo.files.iter().position(|file| file.path == path) else { continue };
            let Is::Archive(known) = &memo.files[file].is else { continue };
            if !archive.lazy {
                // All members are files, as they were.
                continue;
            }
            let mut files: Vec<Input> = Vec::new();
            files.resize_with(known.indexed as usize, || Input::Internal);
            let end = start + known.indexed;
            for (row, input) in (0..).zip(&rows) {
                let is_here = input.file as usize == file && (start..end).contains(&input.precedence);
                if is_here && let Some((name, data)) = bytes_of(memo, row, job) {
                    let at = (input.precedence - start) as usize;
                    files[at] = Input::Object { name, data, lazy: false, excluded };
                }
            }
            inputs.set_members(number, files);
        }
    }

    /// What the tables have of inputs.
    fn rows_of_inputs(&self, memo: &Memo) -> Option<Vec<InputRow>> {
        let tables = self.place.as_ref().ok()?.map(TABLES).ok()?;
        StateFile::open(&tables, UnitDigest::from_bytes(memo.build)).ok()?.all().ok()
    }
}
