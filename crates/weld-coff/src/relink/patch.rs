//! The image and the PDB of a link of which objects have other contents, and are as they were in all else
//! ([`super::outline`]).
//!
//! The bytes of these objects' sections that no relocation changes go to their places, in the image and in the PDB. Of
//! the rest of the image only the time in the header follows from them, and what the debug directory says; of the PDB
//! the checksums of sections, and the identity. So both are what a full link makes, byte for byte.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use weld_common::io::spare;
use weld_common::io::units::{Leaves, digest_of};
use weld_common::relink::leaves::{self, Write};
use weld_pdb::patch::ChangedModule;
use weld_pdb::{Contribution, patch};

use super::changes::ChangedObject;
use super::full_link_reason::Why;
use super::memo::ImageNotes;
use super::outline;
use crate::coff::machine::Machine;
use crate::emit;
use crate::options::Options;
use crate::synth::debug_directory::DebugDirectory;

/// What is written into both, and what their parts' digests are then.
pub struct Patch {
    pub image: Vec<Write>,
    pub pdb: Vec<Write>,
    pub notes: ImageNotes,
    pub sections: usize,
    /// Bytes of the image that are others.
    pub bytes: usize,
}

/// The files of the last link.
pub struct Last<'l> {
    pub notes: &'l ImageNotes,
    pub image: (&'l File, &'l Path),
    /// With its bytes.
    pub pdb: Option<(&'l File, &'l [u8], &'l Path)>,
}

/// # Errors
/// Why it cannot be done.
pub fn of_objects(options: &Options, objects: &[ChangedObject], last: &Last) -> Result<Patch, Why> {
    let (image, path) = last.image;
    let altered = || Why::Output(path.to_owned());
    let mut writes = Vec::new();
    let mut contributions = Vec::new();
    let mut modules = Vec::new();
    for object in objects {
        let changed = || Why::Object(object.path.clone());
        let coff = outline::object(object.bytes).ok_or_else(changed)?;
        let machine = Machine::of_number(last.notes.machine).ok_or_else(altered)?;
        let mut module = ChangedModule { number: 0, sections: Vec::new() };
        for row in &object.rows {
            let header = coff.section(row.number).ok_or_else(changed)?;
            let bytes = coff.contents(header).map_err(|_| changed())?;
            let relocations = coff.relocations(header).map_err(|_| changed())?;
            let fields = outline::fields(relocations, machine, bytes.len()).ok_or_else(changed)?;
            if row.out == outline::DROPPED {
                continue;
            }
            if row.out == outline::DEBUG {
                module.number = row.offset as usize;
                module.sections.push((bytes, fields));
                continue;
            }
            let start = *last.notes.outs.get(row.out as usize).ok_or_else(altered)? + u64::from(row.offset);
            let mut old = vec![0; bytes.len()];
            spare::read_exact_at(image, &mut old, start).map_err(|_| altered())?;
            let before = writes.len();
            add_differences((start, &old, bytes), &fields, &mut writes);
            if writes.len() > before {
                let section = u16::try_from(row.out + 1).map_err(|_| altered())?;
                let (offset, size, crc) = (row.offset, row.size, Contribution::crc_of(bytes));
                contributions.push(Contribution { section, offset, size, crc, ..Default::default() });
            }
        }
        modules.extend(Some(module).filter(|module| !module.sections.is_empty()));
    }
    writes.sort_unstable_by_key(|(offset, _)| *offset);
    let bytes = writes.iter().map(|(_, bytes)| bytes.len()).sum();
    let debug = &last.notes.debug;
    let leaves = leaves::rewritten(&last.notes.leaves, image, &writes, &[], debug).ok_or_else(altered)?;
    let (mut pdb_writes, mut identity, mut pdb_leaves) = (Vec::new(), None, Leaves::new());
    if let Some((file, bytes, path)) = last.pdb {
        let patched = patch::apply((bytes, file), &contributions, &modules, &last.notes.pdb_leaves)
            .map_err(|why| Why::Pdb(path.to_owned(), why))?;
        (pdb_writes, identity, pdb_leaves) = (patched.writes, Some(patched.identity), patched.leaves);
    }
    let digest = digest_of(&leaves);
    let time = emit::time_of(options, digest, identity);
    writes.push((last.notes.time_at, time.to_le_bytes().to_vec()));
    if !debug.is_empty() {
        let mut directory = read(image, debug).ok_or_else(altered)?;
        let guid = identity.unwrap_or_else(|| emit::own_identity(digest)).guid;
        let known = DebugDirectory::new(options, options.out.as_deref().unwrap_or(path));
        if directory.len() != known.size() as usize {
            return Err(altered());
        }
        known.renew(&mut directory, time, guid);
        writes.push((debug.start, directory));
    }
    let notes = ImageNotes { leaves, pdb_leaves, ..last.notes.clone() };
    Ok(Patch { image: writes, pdb: pdb_writes, notes, sections: contributions.len(), bytes })
}

fn read(file: &File, range: &Range<u64>) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
    spare::read_exact_at(file, &mut bytes, range.start).ok()?;
    Some(bytes)
}

/// Adds what is other in `new` than in the `old` bytes at `start`, but for fields.
fn add_differences((start, old, new): (u64, &[u8], &[u8]), fields: &[Range<usize>], writes: &mut Vec<Write>) {
    let mut at = 0;
    for field in fields.iter().cloned().chain(std::iter::once(new.len()..new.len())) {
        let mut run = None;
        for i in at..field.start {
            match (old[i] != new[i], run) {
                (true, None) => run = Some(i),
                (false, Some(first)) => {
                    writes.push((start + first as u64, new[first..i].to_vec()));
                    run = None;
                }
                _ => {}
            }
        }
        if let Some(first) = run {
            writes.push((start + first as u64, new[first..field.start].to_vec()));
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
