//! The image and the PDB of a link of which objects have other contents, and are as they were in all else
//! ([`super::outline`]).
//!
//! The bytes of these objects' sections that no relocation changes go to their places, in the image and in the PDB. Of
//! the rest of the image only the time in the header follows from them, and what the debug directory says; of the PDB
//! the checksums of sections, and the identity. So both are what a full link makes, byte for byte.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memchr::memmem;
use object::LittleEndian as LE;
use weld_common::io::input::InputStore;
use weld_common::io::spare;
use weld_common::io::units::{Leaves, digest_of};
use weld_common::relink::leaves::{self, Write};
use weld_common::relink::threads;
use weld_pdb::patch::{ChangedModule, ChangedPiece};
use weld_pdb::resize::Resizes;
use weld_pdb::{Contribution, patch};

use super::block::Block;
use super::changes::{ChangedObject, read_part};
use super::full_link_reason::Why;
use super::memo::{ImageNotes, Memo};
use super::outline::{self, Is, Outline};
use super::resize::{self, Before, Resized};
use crate::coff::identify::{Kind, identify};
use crate::coff::machine::Machine;
use crate::emit;
use crate::options::Options;
use crate::pdb_path;
use crate::synth::debug_directory::DebugDirectory;

/// What is written into both, and what their parts' digests are then.
pub struct Patch {
    pub image: Vec<Write>,
    pub pdb: Vec<Write>,
    pub notes: ImageNotes,
    /// What is kept of objects with other sizes, by the number of their files, and of names.
    pub blocks: HashMap<usize, Block>,
    pub outlines: HashMap<usize, Outline>,
    pub names: Vec<u8>,
    /// How many objects were written again for the names that they mention.
    pub followers: usize,
    pub sections: usize,
    /// Bytes of the image that are others.
    pub bytes: usize,
}

/// The files of the last link.
pub struct Last<'l> {
    pub memo: &'l Memo,
    pub notes: &'l ImageNotes,
    /// What was kept beside it.
    pub tables: Option<&'l File>,
    pub image: (&'l File, &'l Path),
    /// With its bytes, and the name that its users know it by.
    pub pdb: Option<(&'l File, &'l [u8], &'l Path)>,
}

/// # Errors
/// Why it cannot be done.
pub fn of_objects<'s>(
    options: &Options,
    objects: &[ChangedObject<'s>],
    last: &Last,
    store: &'s InputStore<'s>,
) -> Result<Patch, Why> {
    let (image, path) = last.image;
    let altered = || Why::Output(path.to_owned());
    let mut contributions = Vec::new();
    let mut modules = Vec::new();
    // If one has other sizes, names may have moved that others mention.
    let is_any = objects.iter().any(|object| object.is_resized);
    let is_resized = |object: &&ChangedObject| is_any && object.block.is_plain;
    let mut resized = Resized::default();
    if is_any {
        let all: Vec<&ChangedObject> = objects.iter().filter(is_resized).collect();
        let machine = Machine::of_number(last.notes.machine).ok_or_else(altered)?;
        let tables = last.tables.ok_or(Why::State("has no tables"))?;
        let is_relocatable = options.loading.is_relocatable();
        let (memo, image, has_pdb) = (last.memo, last.image, last.pdb.is_some());
        let before = Before { memo, tables, image, machine, is_relocatable, has_pdb };
        resized = resize::of_objects(&all, &before, store)?;
        contributions = std::mem::take(&mut resized.pieces);
    }
    let mut writes = std::mem::take(&mut resized.writes);
    let mut sections = resized.sections;
    for object in objects.iter().filter(|object| !is_resized(object)) {
        let changed = || Why::Object(object.path.clone());
        let coff = outline::object(object.bytes).ok_or_else(changed)?;
        let machine = Machine::of_number(last.notes.machine).ok_or_else(altered)?;
        let mut module = ChangedModule { number: 0, sections: Vec::new() };
        for row in &object.rows {
            let header = coff.section(row.number).ok_or_else(changed)?;
            let bytes = coff.contents(header).map_err(|_| changed())?;
            if row.out == outline::DROPPED || row.is != Is::Copied {
                continue;
            }
            let relocations = coff.relocations(header).map_err(|_| changed())?;
            let fields = outline::fields(relocations, machine, bytes.len()).ok_or_else(changed)?;
            if row.out == outline::DEBUG {
                module.number = row.offset as usize;
                module.sections.push((bytes, fields));
                continue;
            }
            let out = last.notes.outs.get(row.out as usize).ok_or_else(altered)?;
            let start = out.offset + u64::from(row.offset);
            let mut old = vec![0; bytes.len()];
            spare::read_exact_at(image, &mut old, start).map_err(|_| altered())?;
            let before = writes.len();
            add_differences((start, &old, bytes), &fields, &mut writes);
            if writes.len() > before {
                let section = u16::try_from(row.out + 1).map_err(|_| altered())?;
                let (offset, size, crc) = (row.offset, row.size, Contribution::crc_of(bytes));
                let characteristics = header.characteristics.get(LE).0;
                let now = Contribution { section, offset, size, characteristics, crc, module: 0 };
                contributions.push(ChangedPiece { now, size_before: size });
                sections += 1;
            }
        }
        modules.extend(Some(module).filter(|module| !module.sections.is_empty()));
    }
    writes.sort_unstable_by_key(|(offset, _)| *offset);
    let bytes = writes.iter().map(|(_, bytes)| bytes.len()).sum();
    let debug = &last.notes.debug;
    let time = last.notes.time_at..last.notes.time_at + 4;
    let ids = [time, debug.clone()];
    let leaves = leaves::rewritten_but(&last.notes.leaves, image, &writes, &[], &ids).ok_or_else(altered)?;
    let mut is_edited = last.notes.is_edited || resized.is_edited;
    let (mut pdb_writes, mut identity, mut pdb_leaves) = (Vec::new(), None, Leaves::new());
    if let Some((file, bytes, path)) = last.pdb {
        let root = pdb_path::root(options);
        let Resized { modules: resized_modules, publics, reshaped, .. } = &mut resized;
        let modules_made: HashSet<usize> = resized_modules.iter().map(|module| module.number).collect();
        let made = objects.iter().filter(|one| modules_made.contains(&(one.block.order as usize)));
        let made: HashSet<usize> = made.map(|object| object.number).collect();
        let has_types_of = |source: &[u8]| have_types_of(source, last.memo, &made, store);
        let resizes = Resizes {
            modules: std::mem::take(resized_modules),
            publics: std::mem::take(publics),
            reshaped: std::mem::take(reshaped),
            root,
            has_types_of: Some(&has_types_of),
        };
        let patched = patch::apply((bytes, file), &contributions, &modules, &resizes, &last.notes.pdb_leaves)
            .map_err(|why| Why::Pdb(path.to_owned(), why))?;
        is_edited |= patched.is_edited;
        for (number, known) in &patched.known {
            let of = |block: &&mut Block| block.order as usize == *number;
            resized.blocks.values_mut().filter(of).for_each(|block| block.module = known.clone());
        }
        (pdb_writes, identity, pdb_leaves) = (patched.writes, Some(patched.identity), patched.leaves);
    }
    let digest = digest_of(&leaves);
    let time = emit::time_of(options, digest, identity);
    writes.push((last.notes.time_at, time.to_le_bytes().to_vec()));
    if !debug.is_empty() {
        let mut directory = read_part(image, debug).ok_or_else(altered)?;
        let guid = identity.unwrap_or_else(|| emit::own_identity(digest)).guid;
        let known = DebugDirectory::new(options, options.out.as_deref().unwrap_or(path));
        if directory.len() != known.size() as usize {
            return Err(altered());
        }
        known.renew(&mut directory, time, guid);
        writes.push((debug.start, directory));
    }
    let mut notes = ImageNotes { leaves, pdb_leaves, is_edited, ..last.notes.clone() };
    let Resized { blocks, outlines, names, followers, yards, .. } = resized;
    if is_any {
        notes.yards = yards;
    }
    Ok(Patch { image: writes, pdb: pdb_writes, notes, blocks, outlines, names, followers, sections, bytes })
}

/// Whether an input may have types that say that they are of this source file, but for those with these numbers. That
/// objects and libraries name a file in them is certain then; what else holds types is not looked into.
fn have_types_of<'s>(source: &[u8], memo: &Memo, but: &HashSet<usize>, store: &'s InputStore<'s>) -> bool {
    let record = [&[0; 4], source, &[0]].concat();
    let finder = memmem::Finder::new(&record);
    let rest: Vec<&Path> = (0..)
        .zip(&memo.files)
        .filter(|(number, _)| !but.contains(number))
        .map(|(_, file)| &*file.path)
        .collect();
    let count = threads::count(rest.len(), 4, 4);
    let found = threads::of_each(&rest, count, |path| {
        let Ok(Some(bytes)) = store.open(path) else { return true };
        match identify(bytes) {
            Kind::Object | Kind::BigObject | Kind::Archive => finder.find(bytes).is_some(),
            Kind::Import | Kind::Resources | Kind::Image | Kind::Unknown => false,
            Kind::Bitcode | Kind::MicrosoftBitcode | Kind::Pdb => true,
        }
    });
    found.contains(&true)
}

/// Adds what is other in `new` than in the `old` bytes at `start`, but for fields.
fn add_differences((start, old, new): (u64, &[u8], &[u8]), fields: &[Range<usize>], writes: &mut Vec<Write>) {
    let mut at = 0;
    for field in fields.iter().cloned().chain(std::iter::once(new.len()..new.len())) {
        if at < field.start {
            let part = at..field.start;
            leaves::add_differences(start + at as u64, &old[part.clone()], &new[part], writes);
        }
        at = at.max(field.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay() {
        let mut writes = Vec::new();
        add_differences((100, b"abcdefgh", b"xxcxxxxx"), &[1..3, 4..5, 4..6], &mut writes);
        let want: [Write; 3] = [(100, b"x".to_vec()), (103, b"x".to_vec()), (106, b"xx".to_vec())];
        assert_eq!(writes, want);
        writes.clear();
        add_differences((0, b"same", b"same"), &[], &mut writes);
        assert_eq!(writes, []);
    }
}
