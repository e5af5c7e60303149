//! A list of type records with its own numbers: a `.debug$T` or `.debug$P` section, or a stream of a
//! compiler's PDB.
//!
//! The numbers of a list begin at 0x1000. Those of an object that uses a precompiled header begin with the
//! records of the object that made the header: its list has another one as its prefix. A PDB has two lists,
//! and the ids in one refer to types in the other. Lists that others refer to come first, so that the winner
//! among equal records is never after one that refers to it.
//!
//! Compilers write a record after those that it refers to. Only in PDBs may it be before them; these
//! are hashed in the order of what refers to what.

use std::borrow::Cow;

use weld_common::hash::Hasher;

use super::Lookup;
use crate::codeview::leaf;
use crate::codeview::records::{self, Record};
use crate::codeview::{FIRST_INDEX, Fault, Space, u32_at};

/// Hashes of one list have this bit iff the record is an id, so that who refers to it can see whether it is
/// what is wanted.
const ID_BIT: u64 = 1;

/// A list before it is read.
#[derive(Clone)]
pub struct Unread<'a> {
    /// The records.
    pub data: Cow<'a, [u8]>,
    pub refers: Refers,
    /// Records may refer to later ones.
    pub any_order: bool,
}

/// Which other lists the records of a list refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refers {
    /// None.
    Itself,
    /// The list that this one continues, and how many of its records count.
    Prefix(u32, u32),
    /// Types are in this one.
    Types(u32),
}

impl<'a> Unread<'a> {
    pub fn new(data: &'a [u8]) -> Unread<'a> {
        Unread { data: Cow::Borrowed(data), refers: Refers::Itself, any_order: false }
    }
}

/// A list of records.
pub struct Source<'a> {
    pub data: Cow<'a, [u8]>,
    refers: Refers,
    /// Where each record begins in `data`, until it is known which ones win.
    pub offsets: Vec<u32>,
    /// Of each record: the number of its cell, then its number in the PDB.
    pub indices: Vec<u32>,
    /// Records that may be the first of their equals, until it is known.
    pub candidates: Vec<u32>,
    /// Those that are, in order.
    pub winners: Vec<Winner>,
    /// The first record that is malformed, and how: such a list is empty.
    pub fault: Option<(u32, Fault)>,
}

/// A record that stands for all that are equal to it.
#[derive(Clone, Copy)]
pub struct Winner {
    /// Its place in the list.
    pub record: u32,
    /// Where it begins in the list's bytes.
    pub at: u32,
}

impl Source<'_> {
    /// A list of which only the numbers in the PDB count.
    pub fn of_known(indices: Vec<u32>) -> Self {
        Source {
            data: Cow::Borrowed(&[]),
            refers: Refers::Itself,
            offsets: Vec::new(),
            indices,
            candidates: Vec::new(),
            winners: Vec::new(),
            fault: None,
        }
    }

    /// Whether all that it refers to is there.
    pub fn is_usable(&self, sources: &[Source<'_>]) -> bool {
        let others = match self.refers {
            Refers::Itself => true,
            Refers::Prefix(other, _) | Refers::Types(other) => sources[other as usize].fault.is_none(),
        };
        others && self.fault.is_none()
    }

    #[inline]
    pub fn record(&self, winner: Winner) -> Record<'_> {
        Record::at(&self.data, winner.at as usize).expect("it was read before")
    }
}

pub struct Hashed<'a> {
    pub source: Source<'a>,
    pub hashes: Vec<u64>,
}

/// Where the indices of a list lead.
pub fn lookup<'t>(sources: &'t [Source<'_>], source: u32) -> Lookup<'t> {
    let own = &sources[source as usize];
    let indices = |other: u32| &sources[other as usize].indices[..];
    match own.refers {
        Refers::Itself => Lookup { own: &own.indices, ..Lookup::default() },
        Refers::Prefix(prefix, count) => {
            Lookup { prefix: &indices(prefix)[..count as usize], own: &own.indices, types: None }
        }
        Refers::Types(types) => Lookup { prefix: &[], own: &own.indices, types: Some(indices(types)) },
    }
}

/// Records are 52 bytes on average; memory that is not used is not there.
const LIKELY_SHORT: usize = 32;

/// Finds and hashes all records of a list, and takes its bytes over. `before` are the lists that others may
/// refer to.
pub fn hash<'a>(unread: &mut Unread<'a>, before: &[Hashed<'a>]) -> Hashed<'a> {
    let room = unread.data.len() / LIKELY_SHORT + 16;
    let (mut offsets, mut hashes) = (Vec::with_capacity(room), Vec::with_capacity(room));
    let outcome = match unread.any_order {
        false => hash_records(unread, before, &mut offsets, &mut hashes),
        true => hash_in_any_order(unread, before, &mut offsets, &mut hashes),
    };
    let fault = outcome.err().map(|fault| (hashes.len() as u32, fault));
    if fault.is_some() {
        (offsets, hashes) = (Vec::new(), Vec::new());
    }
    let data = std::mem::take(&mut unread.data);
    let source = Source {
        data,
        refers: unread.refers,
        offsets,
        indices: Vec::new(),
        candidates: Vec::new(),
        winners: Vec::new(),
        fault,
    };
    Hashed { source, hashes }
}

/// Hashes of other lists that a list refers to.
#[derive(Clone, Copy, Default)]
struct Others<'h> {
    prefix: &'h [u64],
    types: Option<&'h [u64]>,
}

impl<'h> Others<'h> {
    fn of(refers: Refers, before: &'h [Hashed<'_>]) -> Result<Others<'h>, Fault> {
        Ok(match refers {
            Refers::Itself => Others::default(),
            Refers::Prefix(source, count) => {
                let prefix = before[source as usize].hashes.get(..count as usize);
                Others { prefix: prefix.ok_or(Fault::Index(FIRST_INDEX.wrapping_add(count)))?, types: None }
            }
            Refers::Types(source) => Others { prefix: &[], types: Some(&before[source as usize].hashes) },
        })
    }
}

/// Numbers of records have fewer than 31 bits.
fn check_size(data: &[u8]) -> Result<(), Fault> {
    if data.len() > i32::MAX as usize { Err(Fault::TooLong) } else { Ok(()) }
}

fn hash_records(
    unread: &Unread<'_>,
    before: &[Hashed<'_>],
    offsets: &mut Vec<u32>,
    hashes: &mut Vec<u64>,
) -> Result<(), Fault> {
    let data = &unread.data[..];
    let others = Others::of(unread.refers, before)?;
    check_size(data)?;
    let mut at = 0;
    while at + records::HEADER <= data.len() {
        let record = Record::at(data, at)?;
        // The end of a precompiled header has a number, and is no type: it passes for the one before it.
        let hash = match (record.kind, hashes.last()) {
            (leaf::LF_ENDPRECOMP, Some(last)) => *last,
            _ => hash_record(&record, others, hashes)?,
        };
        offsets.push(at as u32);
        hashes.push(hash);
        at += record.bytes.len();
    }
    records::check_padding(&data[at..])
}

/// The hash of a record that is not hashed yet. No hash is 0.
const UNKNOWN: u64 = 0;

/// Each record is looked at twice at most: if it refers to what has no hash yet, that is hashed before it.
fn hash_in_any_order(
    unread: &Unread<'_>,
    before: &[Hashed<'_>],
    offsets: &mut Vec<u32>,
    done: &mut Vec<u64>,
) -> Result<(), Fault> {
    let data = &unread.data[..];
    let others = Others::of(unread.refers, before)?;
    check_size(data)?;
    let mut at = 0;
    while at + records::HEADER <= data.len() {
        let record = Record::at(data, at)?;
        offsets.push(at as u32);
        at += record.bytes.len();
    }
    records::check_padding(&data[at..])?;
    let count = offsets.len();
    let mut hashes = vec![UNKNOWN; count];
    let mut waits = vec![false; count];
    let mut stack = Vec::new();
    for root in 0..count {
        stack.push(root);
        while let Some(&i) = stack.last() {
            if hashes[i] != UNKNOWN {
                stack.pop();
                continue;
            }
            let record = Record::at(data, offsets[i] as usize)?;
            let height = stack.len();
            if !waits[i] {
                unknown_refs(&record, others, &hashes, &mut stack)?;
                waits[i] = true;
            }
            if stack.len() == height {
                // If it has waited and something is still unknown, it refers to itself by way of others: an
                // error.
                hashes[i] = hash_record(&record, others, &hashes)?;
                stack.pop();
            }
        }
        done.push(hashes[root]);
    }
    Ok(())
}

/// Adds to `unknown` the records of the same list that a record refers to and that have no hash.
fn unknown_refs(
    record: &Record<'_>,
    others: Others<'_>,
    hashes: &[u64],
    unknown: &mut Vec<usize>,
) -> Result<(), Fault> {
    let body = record.body();
    leaf::each_ref(record.kind, body, |at, space| {
        let index = u32_at(body, at)?;
        let elsewhere = space == Space::Type && others.types.is_some();
        if let Some(i) = index.checked_sub(FIRST_INDEX).filter(|_| !elsewhere)
            && *hashes.get(i as usize).ok_or(Fault::Index(index))? == UNKNOWN
        {
            unknown.push(i as usize);
        }
        Ok(())
    })
}

/// The hash of a record, in which the hash of what it refers to stands for a number. `own` are those of its
/// list that are known.
#[inline(always)]
fn hash_record(record: &Record<'_>, others: Others<'_>, own: &[u64]) -> Result<u64, Fault> {
    let body = record.body();
    let mut hasher = Hasher::new(record.kind.into());
    let mut done = 0;
    leaf::each_ref(record.kind, body, |at, space| {
        if at > done {
            hasher.bytes(&body[done..at]);
        }
        done = at + 4;
        let index = u32_at(body, at)?;
        hasher.word(meaning(index, space, others, own)?);
        Ok(())
    })?;
    hasher.bytes(&body[done..]);
    let id = leaf::space(record.kind) == Space::Id;
    Ok((hasher.finish() & !ID_BIT).max(2) | if id { ID_BIT } else { 0 })
}

/// What stands for a number in the hash of a record.
#[inline(always)]
fn meaning(index: u32, space: Space, others: Others<'_>, own: &[u64]) -> Result<u64, Fault> {
    if index < FIRST_INDEX {
        return Ok(index.into());
    }
    let i = (index - FIRST_INDEX) as usize;
    let hash = match others.types {
        Some(types) if space == Space::Type => types.get(i),
        _ => match i.checked_sub(others.prefix.len()) {
            None => others.prefix.get(i),
            Some(i) => own.get(i),
        },
    };
    let hash = *hash.filter(|&&hash| hash != UNKNOWN).ok_or(Fault::Index(index))?;
    if (hash & ID_BIT != 0) != (space == Space::Id) {
        return Err(Fault::WrongSpace(index));
    }
    Ok(hash)
}
