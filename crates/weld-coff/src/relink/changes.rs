//! What is not as the last link has found it: the files that it read, those that it looked for in vain, and the
//! directories of a toolchain.
//!
//! The system is asked about each file. One whose stamp is as it was has not been written to. Of those that were
//! written to lately when they were linked there is a digest, so that an object that a build makes anew, and that says
//! the same, changes nothing.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::time::SystemTime;

use weld_common::io::input::InputStore;
use weld_common::io::spare::read_exact_at;
use weld_common::io::stamp::Stamp;
use weld_common::relink::directory::{Place, TABLES};
use weld_common::relink::threads;

use super::block::Block;
use super::digests;
use super::full_link_reason::Why;
use super::memo::{KnownFile, KnownObject, Memo};
use super::outline::{self, Outline, Row};
use crate::coff::machine::Machine;
use crate::input::search;
use crate::options::Options;

/// Files that one more thread is worth, where they are asked for their stamps, and where they are read; and how many
/// threads there are at most.
const FILES: usize = 256;
const READ: usize = 4;
const THREADS: usize = 4;

/// An object that has changed.
pub struct ChangedObject<'s> {
    /// Its number among the files.
    pub number: usize,
    pub path: PathBuf,
    pub bytes: &'s [u8],
    /// What was known of it.
    pub block: Block,
    /// Its sections, as they were.
    pub rows: Vec<Row>,
    /// More has changed than bytes.
    pub is_resized: bool,
}

pub struct Changes<'s> {
    /// The files of the last link, as they are now.
    pub files: Vec<KnownFile>,
    /// How many had been written to.
    pub looked_at: usize,
    pub objects: Vec<ChangedObject<'s>>,
}

/// If more objects have changed, and a quarter of the files, it is a full link.
const MANY: usize = 64;

/// What has changed since the last link. `begun`: when this link did.
///
/// # Errors
/// What has changed that is not relinked.
pub fn find<'s>(
    memo: &Memo,
    options: &Options,
    (store, place): (&'s InputStore<'s>, &Place),
    begun: SystemTime,
) -> Result<Changes<'s>, Why> {
    let count = threads::count(memo.files.len(), FILES, THREADS);
    let stamps = threads::of_each(&memo.files, count, |file| Stamp::at(&file.path).ok());
    let mut files = memo.files.clone();
    let mut written = Vec::new();
    let stamps =
        files.iter().zip(stamps).map(|(file, stamp)| stamp.ok_or_else(|| Why::Gone(file.path.clone())));
    let stamps = stamps.collect::<Result<Vec<_>, _>>()?;
    let own = owners(stamps.iter().copied());
    if let Some((file, _)) = files.iter().zip(own).find(|(file, own)| file.same_as != *own) {
        return Err(Why::OtherFile(file.path.clone()));
    }
    for (number, (file, stamp)) in files.iter_mut().zip(stamps).enumerate() {
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
    let is_known = |file: &KnownFile| file.digest.is_some() || file.object.is_some();
    if let Some(&number) = written.iter().find(|&&number| !is_known(&files[number])) {
        return Err(Why::Input(files[number].path.clone()));
    }
    let tables = File::open(place.path(TABLES)).ok();
    let count = threads::count(written.len(), READ, THREADS);
    let found = threads::of_each(&written, count, |&number| {
        let file = &files[number];
        let bytes = store.open(&file.path).ok().flatten().ok_or_else(|| Why::Input(file.path.clone()))?;
        match &file.object {
            Some(known) => {
                let tables = tables.as_ref();
                changed_object((number, file), bytes, (memo, known, options.debug.pdb), tables)
            }
            None if Some(digests::of_bytes(bytes)) == file.digest => Ok(None),
            None => Err(Why::Input(file.path.clone())),
        }
    });
    let mut objects = Vec::new();
    for (&number, found) in written.iter().zip(found) {
        if let Some((object, outline)) = found? {
            objects.push(object);
            files[number].object.iter_mut().for_each(|known| known.outline = outline);
        }
    }
    if objects.len() > MANY && objects.len() > files.len() / 4 {
        return Err(Why::Much);
    }
    Ok(Changes { files, looked_at: written.len(), objects })
}

/// For each path, by its stamp, the number of the first that leads to the same file.
pub fn owners(stamps: impl Iterator<Item = Stamp>) -> Vec<u32> {
    let mut first = HashMap::new();
    stamps
        .zip(0..)
        .map(|(stamp, number)| *first.entry((stamp.device, stamp.number)).or_insert(number))
        .collect()
}

/// The object that a file is now, and its outline; `None` if that is what it was.
fn changed_object<'s>(
    (number, file): (usize, &KnownFile),
    bytes: &'s [u8],
    (memo, known, pdb): (&Memo, &KnownObject, bool),
    tables: Option<&File>,
) -> Result<Option<(ChangedObject<'s>, Outline)>, Why> {
    let path = || file.path.clone();
    let block = tables.and_then(|tables| read_block(tables, known));
    let block = block.ok_or(Why::State("has no rows of an object"))?;
    let machine = Machine::of_number(memo.image.machine).ok_or(Why::State("has no machine"))?;
    let coff = outline::object(bytes).ok_or_else(|| Why::Object(path()))?;
    let same = outline::of(&coff, (machine, pdb), &block.rows);
    let same = same.filter(|outline| outline.shape == known.outline.shape);
    if same == Some(known.outline) {
        return Ok(None);
    }
    if !memo.against.is_empty() {
        return Err(Why::Kept(path(), memo.against.clone()));
    }
    if !memo.warnings.is_empty() {
        return Err(Why::Warned(path()));
    }
    let is_resized = same.is_none();
    if is_resized {
        if !memo.image.against_sizes.is_empty() {
            return Err(Why::Sizes(path(), memo.image.against_sizes.clone()));
        }
        if !block.is_plain {
            return Err(Why::Object(path()));
        }
    }
    // Of one of which more has changed than bytes it is found out later what it has.
    let (rows, outline) = (block.rows.clone(), same.unwrap_or(known.outline));
    Ok(Some((ChangedObject { number, path: path(), bytes, block, rows, is_resized }, outline)))
}

/// What was kept of an object.
pub fn read_block(tables: &File, known: &KnownObject) -> Option<Block> {
    let bytes = read_part(tables, &known.block)?;
    if digests::of_bytes(&bytes) != known.digest {
        return None;
    }
    let mut rest = &bytes[..];
    Block::take(&mut rest).filter(|_| rest.is_empty())
}

/// A part of a file.
pub fn read_part(tables: &File, range: &Range<u64>) -> Option<Vec<u8>> {
    let size = range.end.checked_sub(range.start)?;
    if range.end > tables.metadata().ok()?.len() {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    read_exact_at(tables, &mut bytes, range.start).ok()?;
    Some(bytes)
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
