//! The lists of global symbols and publics of a PDB that is there already, to which records are added.
//!
//! New records lie behind all others. One that is not listed any more stays where it is, and nobody finds it. Of a table
//! only the buckets are put in order whose names have changed.

use std::collections::BTreeSet;

use weld_common::hash::hash_bytes;

use crate::codeview::records::{HEADER, Record};
use crate::codeview::symbol::{self, S_LPROCREF, S_PROCREF, S_PUB32};
use crate::codeview::{string_at, u16_at, u32_at};
use crate::edit::{Error, SHORT};
use crate::gsi::{PUBLICS_HEADER, Table};
use crate::hash::bucket;
use crate::msf::read::Msf;
use crate::put::{put_u16, put_u32};
use crate::symbols::globals::REFERENCE;

const WRONG: Error = "has malformed lists of symbols";

/// The name of a record that is listed.
pub fn name_of<'a>(record: &Record<'a>) -> Option<&'a [u8]> {
    let at = match record.kind {
        S_PROCREF | S_LPROCREF => REFERENCE - HEADER,
        kind => symbol::name_place(kind, record.body()).ok()?,
    };
    string_at(record.body(), at).ok()
}

/// What becomes of a public symbol. Places are output sections, from 1 on, and offsets; names are told by their hashes
/// ([`weld_common::hash::hash_bytes`]).
pub enum ChangedPublic {
    Moved {
        hash: u64,
        from: (u16, u32),
        to: (u16, u32),
    },
    Gone {
        hash: u64,
        from: (u16, u32),
    },
    /// It may be another kind of thing, where it is.
    Kind {
        hash: u64,
        flags: u16,
        at: (u16, u32),
    },
    New {
        name: Vec<u8>,
        flags: u16,
        at: (u16, u32),
    },
}

/// A table with its buckets.
struct Buckets {
    list: Vec<Vec<u32>>,
    changed: BTreeSet<usize>,
}

impl Buckets {
    fn read(bytes: &[u8]) -> Result<Buckets, Error> {
        let list = Table::places(bytes).ok_or(WRONG)?;
        Ok(Buckets { list, changed: BTreeSet::new() })
    }

    fn of(&mut self, name: &[u8]) -> &mut Vec<u32> {
        let number = usize::from(bucket(name));
        self.changed.insert(number);
        &mut self.list[number]
    }

    fn bytes(&mut self, records: &[u8]) -> Result<Vec<u8>, Error> {
        for &number in &self.changed {
            let places = std::mem::take(&mut self.list[number]);
            self.list[number] =
                Table::sorted(&places, number as u16, |at| name_of(&Record::at(records, at as usize).ok()?))
                    .ok_or(WRONG)?;
        }
        let table = Table::of_buckets(&self.list);
        let mut items = vec![0; table.item_count() * crate::gsi::ITEM_SIZE];
        table.write_items(0..table.item_count(), &mut items);
        Ok([table.header(), items, table.index()].concat())
    }
}

/// The lists, and the numbers of their streams.
pub struct Lists {
    pub records: Vec<u8>,
    globals: Buckets,
    publics: Buckets,
    /// Places of publics in the order of their addresses.
    addresses: Vec<u32>,
    publics_header: Vec<u8>,
    has_other_publics: bool,
    streams: [usize; 3],
}

impl Lists {
    /// `streams`: those of globals, of publics and of records.
    pub fn read(msf: &Msf<'_>, streams: [usize; 3]) -> Result<Lists, Error> {
        let records = msf.stream(streams[2])?.into_owned();
        let publics = msf.stream(streams[1])?;
        let word = |at: usize| u32_at(&publics, at).map(|word| word as usize).map_err(|_| SHORT);
        let start = PUBLICS_HEADER as usize;
        let end = start + word(0)?;
        let map = publics.get(end..end + word(4)?).ok_or(SHORT)?.as_chunks::<4>().0;
        Ok(Lists {
            records,
            globals: Buckets::read(&msf.stream(streams[0])?)?,
            publics: Buckets::read(publics.get(start..end).ok_or(SHORT)?)?,
            addresses: map.iter().map(|entry| u32::from_le_bytes(*entry)).collect(),
            publics_header: publics.get(..start).ok_or(SHORT)?.to_vec(),
            has_other_publics: false,
            streams,
        })
    }

    pub fn record(&self, at: u32) -> Result<Record<'_>, Error> {
        Record::at(&self.records, at as usize).map_err(|_| WRONG)
    }

    /// Whether the records have these bytes at a place that is listed, which is told.
    pub fn find_global(&self, name: &[u8], bytes: &[u8]) -> Option<u32> {
        let own = &self.globals.list[usize::from(bucket(name))];
        own.iter()
            .copied()
            .find(|at| self.records.get(*at as usize..).is_some_and(|rest| rest.starts_with(bytes)))
    }

    /// Whether a record of this kind and name is listed.
    pub fn has_other(&self, kind: u16, name: &[u8]) -> bool {
        let is_it = |at: &u32| {
            self.record(*at).is_ok_and(|record| record.kind == kind && name_of(&record) == Some(name))
        };
        self.globals.list[usize::from(bucket(name))].iter().any(is_it)
    }

    pub fn has_global(&self, name: &[u8], at: u32) -> bool {
        self.globals.list[usize::from(bucket(name))].contains(&at)
    }

    /// Adds a record behind all others; where it is.
    pub fn append(&mut self, bytes: &[u8]) -> u32 {
        let at = self.records.len() as u32;
        self.records.extend_from_slice(bytes);
        at
    }

    pub fn list_global(&mut self, name: &[u8], at: u32) {
        let own = self.globals.of(name);
        if !own.contains(&at) {
            own.push(at);
        }
    }

    pub fn drop_global(&mut self, name: &[u8], at: u32) {
        self.globals.of(name).retain(|own| *own != at);
    }

    /// Section and offset of a public, and its name.
    fn public(&self, at: u32) -> Option<((u16, u32), &[u8])> {
        let record = self.record(at).ok().filter(|record| record.kind == S_PUB32)?;
        let body = record.body();
        Some(((u16_at(body, 8).ok()?, u32_at(body, 4).ok()?), string_at(body, 10).ok()?))
    }

    pub fn change_publics(&mut self, changes: &[ChangedPublic]) -> Result<(), Error> {
        let mut moved = Vec::new();
        self.has_other_publics |= changes.iter().any(|change| !matches!(change, ChangedPublic::Kind { .. }));
        for change in changes {
            match change {
                ChangedPublic::Moved { hash, from, to } => {
                    let (at, _) = self.find_public(*hash, *from)?;
                    moved.push((at, *to));
                }
                ChangedPublic::Gone { hash, from } => {
                    let (at, name) = self.find_public(*hash, *from)?;
                    self.publics.of(&name).retain(|own| *own != at);
                    self.addresses.retain(|own| *own != at);
                }
                ChangedPublic::New { .. } | ChangedPublic::Kind { .. } => {}
            }
        }
        let mut new: BTreeSet<u32> = BTreeSet::new();
        for (at, (section, offset)) in moved {
            let start = at as usize;
            put_u32(&mut self.records, start + 8, offset);
            put_u16(&mut self.records, start + 12, section);
            new.insert(at);
        }
        for change in changes {
            if let ChangedPublic::New { name, flags, at: (section, offset) } = change {
                let public = crate::input::Public { name, section: *section, offset: *offset, flags: *flags };
                let at = self.append(&crate::gsi::public_record(&public));
                let listed = self.public(at).map(|(_, name)| name.to_vec()).ok_or(WRONG)?;
                self.publics.of(&listed).push(at);
                new.insert(at);
            }
        }
        self.order(&new)?;
        for change in changes {
            if let ChangedPublic::Kind { hash, flags, at } = change
                && let Ok((place, _)) = self.find_public(*hash, *at)
            {
                put_u32(&mut self.records, place as usize + 4, (*flags).into());
            }
        }
        Ok(())
    }

    /// The public with this name at a place, with its name.
    fn find_public(&self, hash: u64, from: (u16, u32)) -> Result<(u32, Vec<u8>), Error> {
        let place = |at: &u32| self.public(*at).map(|(place, _)| place);
        let first = self.addresses.partition_point(|at| place(at).is_some_and(|place| place < from));
        let same = self.addresses[first..].iter().take_while(|at| place(at) == Some(from));
        let found = same.filter_map(|at| Some((*at, self.public(*at)?.1)));
        let mut found = found.filter(|(_, name)| hash_bytes(name) == hash);
        found.next().map(|(at, name)| (at, name.to_vec())).ok_or("does not have a public symbol")
    }

    /// Puts these publics where they belong by their addresses.
    fn order(&mut self, new: &BTreeSet<u32>) -> Result<(), Error> {
        let mut kept: Vec<u32> = self.addresses.iter().copied().filter(|at| !new.contains(at)).collect();
        let mut own = new.iter().map(|at| self.public(*at).map(|key| (key, *at))).collect::<Option<Vec<_>>>();
        let own = own.as_mut().ok_or(WRONG)?;
        own.sort_unstable();
        let mut all = Vec::with_capacity(kept.len() + own.len());
        let mut rest = &mut kept[..];
        for (key, at) in own {
            let before = rest.partition_point(|at| self.public(*at).is_some_and(|other| other <= *key));
            let (front, behind) = std::mem::take(&mut rest).split_at_mut(before);
            all.extend_from_slice(front);
            all.push(*at);
            rest = behind;
        }
        all.extend_from_slice(rest);
        self.addresses = all;
        Ok(())
    }

    /// The streams that are others now.
    pub fn streams(mut self) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let [first, second, third] = self.streams;
        let mut all = Vec::new();
        if !self.globals.changed.is_empty() {
            all.push((first, self.globals.bytes(&self.records)?));
        }
        if self.has_other_publics {
            all.push((second, self.publics()?));
        }
        all.push((third, self.records));
        Ok(all)
    }

    fn publics(&mut self) -> Result<Vec<u8>, Error> {
        let publics = self.publics.bytes(&self.records)?;
        put_u32(&mut self.publics_header, 0, publics.len() as u32);
        put_u32(&mut self.publics_header, 4, 4 * self.addresses.len() as u32);
        let map: Vec<u8> = self.addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
        Ok([&self.publics_header[..], &publics, &map].concat())
    }

    /// The records that a table lists, and those of publics by address, for comparisons.
    pub fn listed(&self) -> Result<[Vec<&[u8]>; 3], Error> {
        let bytes = |places: &mut dyn Iterator<Item = u32>| {
            places.map(|at| Ok(self.record(at)?.bytes)).collect::<Result<Vec<_>, Error>>()
        };
        Ok([
            bytes(&mut self.globals.list.iter().flatten().copied())?,
            bytes(&mut self.publics.list.iter().flatten().copied())?,
            bytes(&mut self.addresses.iter().copied())?,
        ])
    }
}
