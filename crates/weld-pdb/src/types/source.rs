//! A list of type records with its own numbers: a `.debug$T` or `.debug$P` section.
//!
//! The numbers of a list begin at 0x1000. Those of an object that uses a precompiled header begin with the records of the object
//! that made the header: its list has another one as its prefix. Lists that are prefixes come first, so that
//! the winner among equal records is never behind one that refers to it.

use std::collections::HashMap;
use std::ops::Range;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::hash::Hasher;

use super::{Lookup, ObjectTypes};
use crate::codeview::leaf::{self, LF_ENDPRECOMP, LF_PRECOMP, LF_TYPESERVER2};
use crate::codeview::records::{self, Record};
use crate::codeview::{FIRST_INDEX, Fault, Space, u32_at};

/// Hashes of one list have this bit iff the record is an id, so that who refers to it can see whether it is what is wanted.
const ID_BIT: u64 = 1;

/// A list before it is read.
#[derive(Clone, Copy)]
pub struct Unread<'a> {
    /// The records.
    data: &'a [u8],
    /// The list that this one continues, and how many of its records count.
    prefix: Option<(u32, u32)>,
}

/// A list of records.
pub struct Source<'a> {
    pub data: &'a [u8],
    prefix: Option<(u32, u32)>,
    /// Where each record begins in `data`.
    pub offsets: Vec<u32>,
    /// Of each record: the number of its cell, then its number in the PDB with [`super::WINNER`].
    pub indices: Vec<u32>,
    /// The first record that is malformed, and how: such a list is empty.
    pub fault: Option<(u32, Fault)>,
}

impl Source<'_> {
    /// Whether all that it refers to is there.
    pub fn is_usable(&self, sources: &[Source<'_>]) -> bool {
        self.fault.is_none() && self.prefix.is_none_or(|(prefix, _)| sources[prefix as usize].fault.is_none())
    }

    /// The record with this place in the list.
    #[inline]
    pub fn record(&self, i: usize) -> Record<'_> {
        Record::at(self.data, self.offsets[i] as usize).expect("it was read before")
    }
}

pub struct Hashed<'a> {
    pub source: Source<'a>,
    pub hashes: Vec<u64>,
}

/// Where the indices of a list lead.
pub fn lookup<'t>(sources: &'t [Source<'_>], source: u32) -> Lookup<'t> {
    let own = &sources[source as usize];
    let prefix = match own.prefix {
        Some((prefix, count)) => &sources[prefix as usize].indices[..count as usize],
        None => &[],
    };
    Lookup { prefix, own: &own.indices }
}

/// Which lists there are, and in which order.
pub struct Plan<'a> {
    pub sources: Vec<Unread<'a>>,
    /// The first so many are prefixes of others, or may be.
    prefixes: usize,
    /// The object of each list.
    pub object_of: Vec<u32>,
    /// The list of each object.
    pub source_of: Vec<Option<u32>>,
    /// Objects that need what is not there.
    pub missing: Vec<u32>,
}

impl<'a> Plan<'a> {
    pub fn of(objects: &[ObjectTypes<'a>], sink: &DiagSink) -> Plan<'a> {
        let mut plan = Plan {
            sources: Vec::new(),
            prefixes: 0,
            object_of: Vec::new(),
            source_of: vec![None; objects.len()],
            missing: Vec::new(),
        };
        let headers = plan.add_headers(objects, sink);
        plan.prefixes = plan.sources.len();
        for (i, object) in objects.iter().enumerate() {
            if object.types.is_empty() || !object.precompiled.is_empty() {
                continue;
            }
            match Self::unread(object, &headers) {
                Ok(unread) => plan.add(i, unread),
                Err(why) => {
                    let text = format!("{}: debug information is ignored: {why}", object.name);
                    sink.push(Diagnostic::warning(text).at(i as u64));
                    plan.missing.push(i as u32);
                }
            }
        }
        plan
    }

    /// Lists that can be told apart by whether others may depend on them, in the order in which they have to be hashed.
    pub fn rounds(&self) -> [Range<usize>; 2] {
        [0..self.prefixes, self.prefixes..self.sources.len()]
    }

    fn add(&mut self, object: usize, unread: Unread<'a>) {
        self.source_of[object] = Some(self.sources.len() as u32);
        self.object_of.push(object as u32);
        self.sources.push(unread);
    }

    /// Adds the lists of precompiled headers; they are found by their signatures.
    fn add_headers(&mut self, objects: &[ObjectTypes<'a>], sink: &DiagSink) -> HashMap<u32, u32> {
        let mut headers = HashMap::new();
        for (i, object) in objects.iter().enumerate().filter(|(_, object)| !object.precompiled.is_empty()) {
            let Ok(data) = records::after_signature(object.precompiled) else {
                sink.push(super::dropped(object.name, 0, Fault::Signature).at(i as u64));
                self.missing.push(i as u32);
                continue;
            };
            let (data, signature) = split_header(data);
            if let Some(signature) = signature {
                headers.entry(signature).or_insert(self.sources.len() as u32);
            }
            self.add(i, Unread { data, prefix: None });
        }
        headers
    }

    /// The list of an object that is no precompiled header, or why there is none.
    fn unread(object: &ObjectTypes<'a>, headers: &HashMap<u32, u32>) -> Result<Unread<'a>, String> {
        let data = records::after_signature(object.types).map_err(|fault| format!(".debug$T {fault}"))?;
        let Ok(first) = Record::at(data, 0) else { return Ok(Unread { data, prefix: None }) };
        match first.kind {
            LF_PRECOMP => {
                let word =
                    |at| u32_at(first.body(), at).map_err(|fault| format!("its first type record {fault}"));
                let (start, count, signature) = (word(0)?, word(4)?, word(8)?);
                if start != FIRST_INDEX {
                    return Err(format!("types of its precompiled header begin at {start:#x}"));
                }
                let source = *headers
                    .get(&signature)
                    .ok_or_else(|| format!("no object has the precompiled header {signature:#010x}"))?;
                Ok(Unread { data: &data[first.bytes.len()..], prefix: Some((source, count)) })
            }
            LF_TYPESERVER2 => {
                Err("its types are in a PDB of the compiler's, which cannot be read yet".into())
            }
            _ => Ok(Unread { data, prefix: None }),
        }
    }
}

/// The records of a precompiled header, and the signature by which users find them, which stands at their end.
fn split_header(data: &[u8]) -> (&[u8], Option<u32>) {
    let mut at = 0;
    while let Ok(record) = Record::at(data, at) {
        if record.kind == LF_ENDPRECOMP {
            return (&data[..at], u32_at(record.body(), 0).ok());
        }
        at += record.bytes.len();
    }
    (data, None)
}

/// Records are 52 bytes on average; memory that is not used is not there.
const LIKELY_SHORT: usize = 32;

/// Finds and hashes all records of a list. `before` are the lists that may be prefixes.
pub fn hash<'a>(unread: &Unread<'a>, before: &[Hashed<'a>]) -> Hashed<'a> {
    let room = unread.data.len() / LIKELY_SHORT + 16;
    let mut hashed = Hashed {
        source: Source {
            data: unread.data,
            prefix: unread.prefix,
            offsets: Vec::with_capacity(room),
            indices: Vec::new(),
            fault: None,
        },
        hashes: Vec::with_capacity(room),
    };
    if let Err(fault) = hash_records(unread, before, &mut hashed) {
        hashed.source.fault = Some((hashed.hashes.len() as u32, fault));
        hashed.source.offsets = Vec::new();
        hashed.hashes = Vec::new();
    }
    hashed
}

fn hash_records(unread: &Unread<'_>, before: &[Hashed<'_>], hashed: &mut Hashed<'_>) -> Result<(), Fault> {
    let data = unread.data;
    let prefix: &[u64] = match unread.prefix {
        Some((source, count)) => before[source as usize]
            .hashes
            .get(..count as usize)
            .ok_or(Fault::Index(FIRST_INDEX.wrapping_add(count)))?,
        None => &[],
    };
    // Numbers of records have 31 bits.
    if data.len() > i32::MAX as usize {
        return Err(Fault::TooLong);
    }
    let mut at = 0;
    // What is less than a header is padding of the section.
    while at + records::HEADER <= data.len() {
        let record = Record::at(data, at)?;
        let hash = hash_record(&record, prefix, &hashed.hashes)?;
        hashed.source.offsets.push(at as u32);
        hashed.hashes.push(hash);
        at += record.bytes.len();
    }
    Ok(())
}

/// The hash of a record, in which the hash of what it refers to stands for a number. `before` are those of the records before it.
#[inline(always)]
fn hash_record(record: &Record<'_>, prefix: &[u64], before: &[u64]) -> Result<u64, Fault> {
    let body = record.body();
    let mut hasher = Hasher::new(record.kind.into());
    let mut done = 0;
    leaf::each_ref(record.kind, body, |at, space| {
        if at > done {
            hasher.bytes(&body[done..at]);
        }
        done = at + 4;
        let index = u32_at(body, at)?;
        hasher.word(meaning(index, space, prefix, before)?);
        Ok(())
    })?;
    hasher.bytes(&body[done..]);
    let id = leaf::space(record.kind) == Space::Id;
    Ok(hasher.finish() & !ID_BIT | if id { ID_BIT } else { 0 })
}

/// What stands for a number in the hash of a record.
#[inline(always)]
fn meaning(index: u32, space: Space, prefix: &[u64], before: &[u64]) -> Result<u64, Fault> {
    if index < FIRST_INDEX {
        return Ok(index.into());
    }
    let i = (index - FIRST_INDEX) as usize;
    let hash = match i.checked_sub(prefix.len()) {
        None => prefix.get(i),
        Some(i) => before.get(i),
    };
    let hash = *hash.ok_or(Fault::Index(index))?;
    if (hash & ID_BIT != 0) != (space == Space::Id) {
        return Err(Fault::WrongSpace(index));
    }
    Ok(hash)
}
