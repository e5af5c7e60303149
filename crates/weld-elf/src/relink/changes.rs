//! Which inputs are not as the last link found them.
//!
//! The system is asked about each file (by several threads if they are many: that is most of what a link
//! costs in which nothing has changed), and about each path that led nowhere. A file whose stamp is as it was
//! has not been written to. Of others that are no objects it is looked at what counts of them
//! ([`super::libraries`]): tools touch files, hard links come and go, and archives are written anew for one
//! member. So have objects digests that are likely to be written anew ([`Is::Object`]).

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use weld_common::digest::UnitDigest;
use weld_common::io::input::InputStore;
use weld_common::io::stamp::Stamp;
use weld_common::relink::threads;

use super::full_link_reason::Why;
use super::libraries::of_other;
use super::memo::{Is, KnownFile, Memo};
use super::units::Units;
use crate::relink_state::outline::short;
use crate::relink_state::rows::InputRow;

/// Files that one more thread is worth, where they are asked for their stamps, and where they are read; and how many
/// threads there are at most.
const FILES: usize = 256;
const HASHED: usize = 4;
const THREADS: usize = 4;

/// The digest of an object's bytes; never 0.
pub fn digest_of(bytes: &[u8]) -> u128 {
    short(UnitDigest::of(bytes)).max(1)
}

/// An object that may have changed.
#[derive(Clone)]
pub struct Changed {
    /// The number of the file.
    pub file: usize,
    /// Its row among the inputs.
    pub row: u32,
    /// Where it is, if it is a member of an archive.
    pub member: Option<Range<usize>>,
}

#[derive(Clone, Default)]
pub struct Changes {
    pub objects: Vec<Changed>,
    /// All files, with their stamps as they are now.
    pub files: Arc<Vec<KnownFile>>,
    /// Archives that have other members, or offer other names than those that are linked: their numbers.
    pub archives: Vec<usize>,
    /// What takes the places of spare objects is given what it lacks by these.
    pub units: Arc<Units>,
    /// Which members are linked has been found out anew: `files` has those ([`super::members`]).
    pub is_resolved: bool,
}

impl Changes {
    /// The number of the file that has input `row`, as the row says, or where it is since.
    pub fn file_of(&self, row: u32, input: &InputRow) -> Option<usize> {
        let has = |file: &KnownFile| match &file.is {
            Is::Object(of, _) | Is::Gone(of, _) => *of == row,
            Is::Archive(archive) => archive.has(row),
            Is::Lent(_) | Is::Other(_) => false,
        };
        let said = input.file as usize;
        if self.files.get(said).is_some_and(has) {
            return Some(said);
        }
        let moved = self.files.iter().position(has);
        moved.or_else(|| (said < self.files.len()).then_some(said))
    }

    /// How many objects there are, as files of their own or in archives.
    pub fn all_objects(&self) -> usize {
        let count = |file: &KnownFile| match &file.is {
            Is::Object(..) => 1,
            Is::Archive(archive) => archive.members.len(),
            Is::Gone(..) | Is::Lent(_) | Is::Other(_) => 0,
        };
        self.files.iter().map(count).sum()
    }

    /// `begun`: when this link did.
    ///
    /// # Errors
    /// What has changed that is not relinked.
    pub fn find<'s>(memo: &Memo, store: &'s InputStore<'s>, begun: SystemTime) -> Result<Changes, Why> {
        let stamps = stamps(&memo.files, store);
        if let Some(path) = memo.missing.iter().find(|path| path.exists()) {
            return Err(Why::Appeared(path.clone()));
        }
        let units = Arc::new(memo.units.clone());
        let mut changes = Changes { files: Arc::clone(&memo.files), units, ..Changes::default() };
        let is_other = |(file, stamp): (&KnownFile, &Option<Stamp>)| match &file.is {
            Is::Gone(_, is_new) => *is_new,
            Is::Lent(_) => false,
            _ => stamp.is_none() || file.stamp != *stamp,
        };
        let mut others: Vec<usize> = (0..stamps.len()).collect();
        others.retain(|number| is_other((&memo.files[*number], &stamps[*number])));
        if others.is_empty() {
            return Ok(changes);
        }
        let digests = digests(&others, (&memo.files, &stamps), store);
        let files = Arc::make_mut(&mut changes.files);
        for number in others {
            let file = &mut files[number];
            if let Is::Gone(row, is_new) = &mut file.is {
                *is_new = false;
                changes.objects.push(Changed { file: number, row: *row, member: None });
                continue;
            }
            let stamp = stamps[number].ok_or_else(|| Why::Gone(file.path.clone()))?;
            file.stamp = Some(stamp).filter(|stamp| stamp.is_older_than(begun));
            match &mut file.is {
                Is::Object(row, digest) => {
                    if let Some(now) = digests.get(&number)
                        && std::mem::replace(digest, *now) == *now
                    {
                        continue;
                    }
                    changes.objects.push(Changed { file: number, row: *row, member: None });
                }
                Is::Archive(known) => {
                    let bytes = store.open(&file.path).ok().flatten();
                    let Some((members, now)) = bytes.and_then(|bytes| known.changed(bytes)) else {
                        changes.archives.push(number);
                        continue;
                    };
                    *known = now;
                    let changed = |(row, at)| Changed { file: number, row, member: Some(at) };
                    changes.objects.extend(members.into_iter().map(changed));
                }
                Is::Gone(..) | Is::Lent(_) => {}
                Is::Other(digest) if is_same(&file.path, *digest, store) => {}
                Is::Other(_) => return Err(Why::Input(file.path.clone())),
            }
        }
        Ok(changes)
    }
}

fn is_same<'s>(path: &Path, digest: u128, store: &'s InputStore<'s>) -> bool {
    store.open(path).is_ok_and(|bytes| bytes.is_some_and(|bytes| of_other(bytes, store) == digest))
}

/// The stamp of each file that is there.
fn stamps(files: &[KnownFile], store: &InputStore) -> Vec<Option<Stamp>> {
    let count = threads::count(files.len(), FILES, THREADS);
    threads::of_each(files, count, |file| Stamp::at(&store.rooted(&file.path)).ok())
}

/// The digests that objects have now which had one, of files that have other stamps, by their numbers.
fn digests<'s>(
    others: &[usize],
    (files, stamps): (&[KnownFile], &[Option<Stamp>]),
    store: &'s InputStore<'s>,
) -> HashMap<usize, u128> {
    let is_written =
        |number: &usize| matches!(files[*number].is, Is::Object(_, 1..)) && stamps[*number].is_some();
    let written: Vec<usize> = others.iter().copied().filter(is_written).collect();
    let count = threads::count(written.len(), HASHED, THREADS);
    let digests = threads::of_each(&written, count, |number| {
        store.open(&files[*number].path).ok().flatten().map_or(0, digest_of)
    });
    written.into_iter().zip(digests).collect()
}
