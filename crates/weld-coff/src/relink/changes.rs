//! Whether all is as the last link has found it: the files that it read, those that it looked for in vain, and the
//! directories of a toolchain.
//!
//! The system is asked about each file. One whose stamp is as it was has not been written to. Of those that were
//! written to lately when they were linked there is a digest, so that an object that a build makes anew, and that says
//! the same, changes nothing.

use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use weld_common::io::input::InputStore;
use weld_common::io::stamp::Stamp;
use weld_common::relink::threads;

use super::digests;
use super::full_link_reason::Why;
use super::memo::{KnownFile, Memo};
use crate::coff::machine::Machine;
use crate::input::search;
use crate::options::Options;

/// Files that one more thread is worth, where they are asked for their stamps, and where they are read; and how many
/// threads there are at most.
const FILES: usize = 256;
const READ: usize = 4;
const THREADS: usize = 4;

/// The files of the last link with their stamps as they are now, if nothing has changed; and how many of them were
/// looked at for that.
///
/// `begun`: when this link did.
///
/// # Errors
/// What has changed.
pub fn find<'s>(
    memo: &Memo,
    options: &Options,
    store: &'s InputStore<'s>,
    begun: SystemTime,
) -> Result<(Vec<KnownFile>, usize), Why> {
    let count = threads::count(memo.files.len(), FILES, THREADS);
    let stamps = threads::of_each(&memo.files, count, |file| Stamp::at(&file.path).ok());
    let mut files = memo.files.clone();
    let mut written = Vec::new();
    for (number, (file, stamp)) in files.iter_mut().zip(stamps).enumerate() {
        let stamp = stamp.ok_or_else(|| Why::Gone(file.path.clone()))?;
        if file.stamp != Some(stamp) {
            file.stamp = Some(stamp).filter(|stamp| stamp.is_older_than(begun));
            written.push(number);
        }
    }
    look_for_files(memo)?;
    if let Some((machine, dirs)) = &memo.toolchain {
        let machine = Machine::of_number(*machine).ok_or(Why::Toolchain)?;
        if options.toolchain.directories(machine) != *dirs {
            return Err(Why::Toolchain);
        }
    }
    // Last, since it takes longest.
    let has_changed = |path: &Path| Why::Input(path.to_owned());
    if let Some(&number) = written.iter().find(|&&number| files[number].digest.is_none()) {
        return Err(has_changed(&files[number].path));
    }
    let count = threads::count(written.len(), READ, THREADS);
    let same = threads::of_each(&written, count, |&number| {
        let KnownFile { path, digest, .. } = &files[number];
        let bytes = store.open(path).ok().flatten();
        bytes.is_some_and(|bytes| Some(digests::of_bytes(bytes)) == *digest)
    });
    match written.iter().zip(same).find(|(_, is_same)| !is_same) {
        Some((&number, _)) => Err(has_changed(&files[number].path)),
        None => Ok((files, written.len())),
    }
}

/// What the last link looked for is where it was, or nowhere.
fn look_for_files(memo: &Memo) -> Result<(), Why> {
    if let Some(path) = memo.lookups.missing.iter().find(|path| search::is_file(path)) {
        return Err(Why::Appeared(path.clone()));
    }
    let mut lists = HashMap::new();
    for listed in &memo.lookups.listed {
        let list = lists.entry(&*listed.dir).or_insert_with(|| search::names_in(&listed.dir));
        if list.get(&listed.lower) != listed.found.as_ref() {
            return Err(Why::Appeared(listed.dir.join(&listed.lower)));
        }
    }
    Ok(())
}
