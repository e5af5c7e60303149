//! A PDB of an image that has changed in bytes of its sections only.
//!
//! Of all that a PDB has, one thing tells of such bytes: a checksum of each contribution, in the list of contributions
//! and, of the first one of a module, where the module is listed. And the identity is made of all of it.

use std::fs::File;
use std::ops::Range;

use weld_common::io::units::{Leaves, digest_of};
use weld_common::relink::leaves::{self, Write};

use crate::codeview::u32_at;
use crate::dbi::{self, CONTRIBUTION_SIZE, CRC_AT, LENGTHS_AT, MODULE_CONTRIBUTION_AT, MODULE_SIZE};
use crate::info;
use crate::input::{Contribution, Identity};
use crate::msf::read::Msf;
use crate::stream;

/// Why it cannot be done, in words that go after the PDB's name.
pub type Error = &'static str;

/// What is written into a PDB, and what comes of it.
pub struct Patch {
    pub identity: Identity,
    pub writes: Vec<Write>,
    pub leaves: Leaves,
}

/// Has contributions, known by section, offset and size, have other checksums. `bytes` are those of `file`, of which
/// `leaves` are the digests.
///
/// # Errors
/// If the PDB does not have each of them, or is not what `leaves` say.
pub fn with_checksums(
    (bytes, file): (&[u8], &File),
    changed: &[Contribution],
    leaves: &Leaves,
) -> Result<Patch, Error> {
    const SHORT: Error = "ends too early";
    let msf = Msf::parse(bytes)?;
    let dbi = msf.stream(stream::DBI)?;
    let word = |at: usize| u32_at(&dbi, at).map_err(|_| SHORT);
    let [modules_len, list_len] = [word(LENGTHS_AT[0])? as usize, word(LENGTHS_AT[1])? as usize];
    let modules = dbi::HEADER_SIZE..dbi::HEADER_SIZE + modules_len;
    // After the version.
    let list = modules.end + 4..modules.end + list_len;
    let entries = dbi.get(list.clone()).ok_or(SHORT)?.as_chunks::<CONTRIBUTION_SIZE>().0;
    let field = |entry: &[u8; CONTRIBUTION_SIZE], at: usize| {
        u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
    };
    let key = |entry: &[u8; CONTRIBUTION_SIZE]| (field(entry, 0), field(entry, 4));
    let known = |of: &Contribution| (u32::from(of.section), of.offset);
    let mut places: Vec<(usize, u32)> = Vec::new();
    for one in changed {
        let first = entries.partition_point(|entry| key(entry) < known(one));
        let same = entries[first..].iter().take_while(|entry| key(entry) == known(one));
        let mut fitting = same.enumerate().filter(|(_, entry)| field(entry, 8) == one.size);
        let (Some((number, _)), None) = (fitting.next(), fitting.next()) else {
            return Err("does not have a section once");
        };
        places.push((list.start + (first + number) * CONTRIBUTION_SIZE + CRC_AT, one.crc));
    }
    let mut sorted: Vec<&Contribution> = changed.iter().collect();
    sorted.sort_unstable_by_key(|one| known(one));
    let mut at = modules.start;
    while at < modules.end {
        let own = at + MODULE_CONTRIBUTION_AT;
        let entry = dbi.get(own..).and_then(|rest| rest.first_chunk()).ok_or(SHORT)?;
        if let Ok(one) = sorted.binary_search_by_key(&key(entry), |one| known(one))
            && sorted[one].size == field(entry, 8)
        {
            places.push((own + CRC_AT, sorted[one].crc));
        }
        at = behind_names(&dbi, at + MODULE_SIZE, 2).ok_or(SHORT)?.next_multiple_of(4);
    }
    let mut writes: Vec<Write> = Vec::new();
    for (at, crc) in places {
        // Pages need not follow one another.
        for (i, byte) in crc.to_le_bytes().into_iter().enumerate() {
            writes.push((msf.place(stream::DBI, at + i)?, vec![byte]));
        }
    }
    let start = msf.place(stream::INFO, info::IDENTITY.start as usize)?;
    let identity_range: Range<u64> = start..start + (info::IDENTITY.end - info::IDENTITY.start);
    writes.sort_unstable();
    let leaves = leaves::rewritten(leaves, file, &writes, &[], &identity_range).ok_or("was written to")?;
    let guid = info::guid_of(digest_of(&leaves));
    writes.push((start, info::identity(guid, dbi::AGE)));
    Ok(Patch { identity: Identity { guid, age: dbi::AGE }, writes, leaves })
}

/// Where `count` names end that begin at `at`.
fn behind_names(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    (0..count).try_fold(at, |at, _| Some(at + bytes.get(at..)?.iter().position(|&byte| byte == 0)? + 1))
}
