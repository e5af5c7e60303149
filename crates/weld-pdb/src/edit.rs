//! What is written into a PDB that is there already, and where in its DBI stream things are.

use std::borrow::Cow;
use std::ops::Range;

use weld_common::relink::leaves::{self, Write};

use crate::codeview::u32_at;
use crate::dbi::{self, LENGTHS_AT, MODULE_SIZE};
use crate::msf::read::Msf;
use crate::stream;

/// Why it cannot be done, in words that go after the PDB's name.
pub type Error = &'static str;

pub const SHORT: Error = "ends too early";

/// What bytes become others.
pub struct Writer<'w, 'a> {
    pub msf: &'w Msf<'a>,
    pub writes: Vec<Write>,
    /// The DBI stream as it is to be.
    pub dbi: Vec<u8>,
}

impl Writer<'_, '_> {
    /// Writes what differs of `new` from the `old` bytes at a place of a stream. Pages need not follow one another.
    pub fn put(&mut self, stream: usize, at: usize, (old, new): (&[u8], &[u8])) -> Result<(), Error> {
        if stream == crate::stream::DBI {
            self.dbi.get_mut(at..at + new.len()).ok_or(SHORT)?.copy_from_slice(new);
            return Ok(());
        }
        let differing = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new);
        for (i, (_, new)) in differing {
            let place = self.msf.place(stream, at + i)?;
            match self.writes.last_mut() {
                Some((start, bytes)) if *start + bytes.len() as u64 == place => bytes.push(*new),
                _ => self.writes.push((place, vec![*new])),
            }
        }
        Ok(())
    }

    /// Writes what differs of `new` from what the file has at a place.
    pub fn put_at(&mut self, at: u64, new: &[u8]) -> Result<(), Error> {
        let old = self.msf.bytes(at, new.len())?;
        leaves::add_differences(at, old, new, &mut self.writes);
        Ok(())
    }
}

/// The DBI stream, and where in it its parts are.
pub struct Dbi<'d> {
    pub msf: &'d Msf<'d>,
    pub bytes: Cow<'d, [u8]>,
    modules: Range<usize>,
    pub list: Range<usize>,
    /// How many files each module has, and where their names are.
    pub files: Range<usize>,
}

impl<'d> Dbi<'d> {
    pub fn read(msf: &'d Msf<'d>) -> Result<Dbi<'d>, Error> {
        let bytes = msf.stream(stream::DBI)?;
        let word = |at: usize| u32_at(&bytes, at).map(|word| word as usize).map_err(|_| SHORT);
        let modules = dbi::HEADER_SIZE..dbi::HEADER_SIZE + word(LENGTHS_AT[0])?;
        // After the version.
        let list = modules.end + 4..modules.end + word(LENGTHS_AT[1])?;
        let files = list.end + word(LENGTHS_AT[2])?..list.end + word(LENGTHS_AT[2])? + word(LENGTHS_AT[3])?;
        let is_there = modules.end <= bytes.len() && bytes.get(list.clone()).is_some();
        let is_there = is_there && bytes.get(files.clone()).is_some();
        is_there.then_some(Dbi { msf, bytes, modules, list, files }).ok_or(SHORT)
    }

    /// Where each module is listed.
    pub fn modules(&self) -> impl Iterator<Item = Result<usize, Error>> {
        let mut at = self.modules.start;
        std::iter::from_fn(move || {
            (at < self.modules.end).then(|| {
                let start = at;
                let end = behind_names(&self.bytes, at + MODULE_SIZE, 2).ok_or(SHORT)?;
                at = end.next_multiple_of(4);
                Ok(start)
            })
        })
    }
}

/// Where `count` names end that begin at `at`.
fn behind_names(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    (0..count).try_fold(at, |at, _| Some(at + bytes.get(at..)?.iter().position(|&byte| byte == 0)? + 1))
}
