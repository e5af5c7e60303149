//! The numbers that an object's types have in a PDB that is there already.
//!
//! A record is looked for as it would be there: with the numbers of what it refers to, among those in its bucket. So
//! equal bytes are equal types, and nothing needs to be kept of what the link knew. What is not there is added behind
//! all others, so that no number changes.
//!
//! Only the line of a class that is on another one now takes the place of the one that it was on, if no object that has
//! not changed can mean that one: debuggers look for a type's line by the type, so there must not be two.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weld_common::hash::hash_bytes;

use super::number::is_skip;
use super::stream::{HASH_SIZE, HEADER_SIZE, header};
use super::{ID, Lookup, Types, tpi_hash};
use crate::codeview::leaf::{
    self, LF_ENDPRECOMP, LF_FUNC_ID, LF_MFUNC_ID, LF_PRECOMP, LF_STRING_ID, LF_TYPESERVER2,
    LF_UDT_MOD_SRC_LINE, LF_UDT_SRC_LINE,
};
use crate::codeview::records::{self, HEADER, Record};
use crate::codeview::{FIRST_INDEX, Space, string_at, u16_at, u32_at};
use crate::msf::read::Msf;
use crate::put::put_u32;
use crate::stream;

/// Why it cannot be done, in words that go after the PDB's name.
type Error = &'static str;

const MALFORMED: Error = "has malformed types";

/// The types or the ids of a PDB.
struct Listed<'m> {
    records: Cow<'m, [u8]>,
    /// Where each record begins.
    at: Vec<u32>,
    /// Where the records of each bucket begin in `order`, and where the last ones end.
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl<'m> Listed<'m> {
    fn read(msf: &Msf<'m>, number: usize) -> Result<Listed<'m>, Error> {
        let records = msf.stream(number)?;
        let word = |at: usize| u32_at(&records, at).map_err(|_| MALFORMED);
        let count = word(12)?.checked_sub(FIRST_INDEX).ok_or(MALFORMED)? as usize;
        let hashes = match u16_at(&records, 20) {
            Ok(hashes) if hashes != u16::MAX => msf.stream(hashes.into())?,
            _ => Cow::Borrowed(&[][..]),
        };
        let (buckets, _) = hashes.as_chunks::<HASH_SIZE>();
        let buckets = buckets.get(..count).ok_or(MALFORMED)?;
        let bucket = |i: usize| u32::from_le_bytes(buckets[i]).min(tpi_hash::BUCKETS - 1) as usize;
        let mut at = Vec::with_capacity(count);
        let mut here = HEADER_SIZE;
        while at.len() < count {
            at.push(here as u32);
            here += Record::at(&records, here).map_err(|_| MALFORMED)?.bytes.len();
        }
        let mut starts = vec![0; tpi_hash::BUCKETS as usize + 1];
        (0..count).for_each(|i| starts[bucket(i) + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let mut next = starts.clone();
        let mut order = vec![0; count];
        for i in 0..count {
            let place = &mut next[bucket(i)];
            order[*place as usize] = i as u32;
            *place += 1;
        }
        Ok(Listed { records, at, starts, order })
    }

    /// The number of a record.
    fn find(&self, record: &[u8]) -> Option<u32> {
        let is_it = |i: &&u32| self.records[self.at[**i as usize] as usize..].starts_with(record);
        self.bucket(record).iter().find(is_it).map(|i| FIRST_INDEX + i)
    }

    /// A record, with all that is behind it.
    fn record(&self, i: u32) -> Option<&[u8]> {
        self.records.get(*self.at.get(i as usize)? as usize..)
    }

    /// Of a record that tells the line of a type, those that tell one of the same.
    fn lines_of_same(&self, record: &[u8]) -> Vec<u32> {
        let all = self.bucket(record).iter().copied();
        all.filter(|i| self.record(*i).is_some_and(|other| is_line_of_same(record, other))).collect()
    }

    /// The text that an id stands for, as one piece.
    fn text(&self, id: u32) -> Option<&[u8]> {
        let record = Record::at(self.record(id.checked_sub(FIRST_INDEX)?)?, 0).ok()?;
        let is_whole = record.kind == LF_STRING_ID && u32_at(record.body(), 0) == Ok(0);
        string_at(record.body(), 4).ok().filter(|_| is_whole)
    }

    fn bucket(&self, record: &[u8]) -> &[u32] {
        let bucket = tpi_hash::bucket(record) as usize;
        &self.order[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

/// Whether a record tells the line of a type.
fn is_line(record: &[u8]) -> bool {
    matches!(u16_at(record, 2), Ok(LF_UDT_SRC_LINE | LF_UDT_MOD_SRC_LINE))
}

/// Whether both records tell lines of one type.
fn is_line_of_same(one: &[u8], other: &[u8]) -> bool {
    is_line(one) && is_line(other) && one.get(4..8) == other.get(4..8)
}

/// A record that tells the line of a type: header, the type, the file's name, the line.
const LINE_SIZE: usize = 16;

const OTHER_LINE: Error =
    "has a class of an object that has changed on another line, where it may be for another object";

/// The types and ids of a PDB, and those that are added to them.
pub struct KnownTypes<'m> {
    listed: [Listed<'m>; 2],
    added: [Added; 2],
    /// Lines of types that the PDB has on others only.
    other_lines: Vec<Vec<u8>>,
    /// Lines that objects mean as they are, and what is written over others, by their numbers less 0x1000.
    kept_lines: HashSet<u32>,
    /// Those of them that objects may not have meant before.
    chosen_lines: BTreeSet<u32>,
    new_lines: BTreeMap<u32, Vec<u8>>,
    /// Once one is added: which types are complete.
    complete: Option<Complete>,
}

/// The names of types that are there with a layout, as hashes: there may be one layout of each.
#[derive(Default)]
struct Complete {
    unique: HashSet<u64>,
    /// Of all, and of those that have no unique name.
    names: HashSet<u64>,
    only_names: HashSet<u64>,
}

impl Complete {
    /// Adds the name of a record; whether one that is complete has it already.
    fn add(&mut self, record: &[u8]) -> bool {
        let Some(names) = leaf::names(record).filter(|names| !names.is_forward()) else { return false };
        let name = hash_bytes(names.name);
        let is_known = match names.unique {
            // Many types have the names that compilers give to what has none.
            Some(unique) => !self.unique.insert(hash_bytes(unique)) || self.only_names.contains(&name),
            None => !self.only_names.insert(name) || self.names.contains(&name),
        };
        self.names.insert(name);
        is_known
    }
}

/// Records behind those that are there.
#[derive(Default)]
struct Added {
    bytes: Vec<u8>,
    /// Where each of them begins.
    at: Vec<u32>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl<'m> KnownTypes<'m> {
    pub fn read(msf: &Msf<'m>) -> Result<KnownTypes<'m>, Error> {
        let listed = [Listed::read(msf, stream::TPI)?, Listed::read(msf, stream::IPI)?];
        Ok(KnownTypes {
            listed,
            added: Default::default(),
            other_lines: Vec::new(),
            kept_lines: HashSet::new(),
            chosen_lines: BTreeSet::new(),
            new_lines: BTreeMap::new(),
            complete: None,
        })
    }

    /// Whether a record that is not there may be added: debuggers look for types by name, and for the line of a type by the
    /// type, so there must not be two. What there is may be that of objects that have not changed.
    fn check_new(&mut self, space: Space, record: &[u8]) -> Result<(), Error> {
        let added = &self.added[space as usize];
        if is_line(record) && added.numbers.keys().any(|other| is_line_of_same(record, other)) {
            return Err(OTHER_LINE);
        }
        if leaf::names(record).is_none_or(|names| names.is_forward()) {
            return Ok(());
        }
        if self.complete.is_none() {
            let mut complete = Complete::default();
            let listed = &self.listed[space as usize];
            listed.at.iter().for_each(|at| _ = complete.add(&listed.records[*at as usize..]));
            self.complete = Some(complete);
        }
        match self.complete.as_mut().is_some_and(|complete| complete.add(record)) {
            true => Err("has another layout of a class, union or enumeration of an object that has changed"),
            false => Ok(()),
        }
    }

    /// The number of a record, which is added if it is not there.
    fn number(&mut self, space: Space, record: &[u8]) -> Result<u32, Error> {
        let known = self.listed[space as usize].find(record);
        if let Some(number) = known.filter(|_| is_line(record)) {
            self.kept_lines.insert(number - FIRST_INDEX);
        }
        if let Some(number) = known.or_else(|| self.added[space as usize].numbers.get(record).copied()) {
            return Ok(number);
        }
        if is_line(record)
            && let Some(other) = self.listed[space as usize].lines_of_same(record).first()
        {
            let number = FIRST_INDEX + other;
            self.other_lines.push(record.to_vec());
            return Ok(number);
        }
        self.check_new(space, record)?;
        let (listed, added) = (&self.listed[space as usize], &mut self.added[space as usize]);
        let number = FIRST_INDEX + (listed.at.len() + added.at.len()) as u32;
        added.at.push(added.bytes.len() as u32);
        added.bytes.extend_from_slice(record);
        added.numbers.insert(record.to_vec(), number);
        Ok(number)
    }

    /// The types of an object, `.debug$T`, as the PDB has them. `has_others`: it has others than before.
    ///
    /// # Errors
    /// If they are malformed, or elsewhere.
    pub fn of(&mut self, section: &[u8], has_others: bool) -> Result<Types<'static>, Error> {
        if section.is_empty() {
            return Ok(Types::of_known(Vec::new(), Vec::new()));
        }
        let data = records::after_signature(section).map_err(|_| MALFORMED)?;
        let mut indices: Vec<u32> = Vec::new();
        let mut function_types = Vec::new();
        let (mut at, mut new) = (0, Vec::new());
        while at + HEADER <= data.len() {
            let record = Record::at(data, at).map_err(|_| MALFORMED)?;
            if matches!(record.kind, LF_TYPESERVER2 | LF_PRECOMP | LF_ENDPRECOMP) {
                return Err("has types of an object that has changed, which are in another file");
            }
            new.clear();
            new.resize(record.padded(), 0);
            records::copy_padded(record.bytes, &mut new, true);
            let lookup = Lookup { prefix: &[], own: &indices, types: None };
            let mut all = true;
            leaf::each_ref(record.kind, record.body(), |at, space| {
                let number = lookup.get(u32_at(record.body(), at)?, space);
                all &= number.is_some();
                put_u32(&mut new, HEADER + at, number.unwrap_or(0));
                Ok(())
            })
            .map_err(|_| MALFORMED)?;
            if !all {
                return Err("does without types of an object that has changed, which are malformed");
            }
            let space = leaf::space(record.kind);
            let number = self.number(space, &new)?;
            if has_others && is_line(&new) && self.kept_lines.contains(&(number - FIRST_INDEX)) {
                self.chosen_lines.insert(number - FIRST_INDEX);
            }
            if matches!(record.kind, LF_FUNC_ID | LF_MFUNC_ID) {
                let place = (number - FIRST_INDEX) as usize;
                function_types.resize(function_types.len().max(place + 1), 0);
                function_types[place] = u32_at(&new, HEADER + 4).map_err(|_| MALFORMED)?;
            }
            indices.push(number | if space == Space::Id { ID } else { 0 });
            at += record.bytes.len();
        }
        Ok(Types::of_known(indices, function_types))
    }

    /// Writes lines of types over those that the PDB has of them, once the types of all objects that have changed are
    /// known. `is_elsewhere`: whether others may have a name of a source file.
    ///
    /// # Errors
    /// If it cannot be told which, or others may mean it.
    pub fn settle_lines(&mut self, is_elsewhere: &dyn Fn(&[u8]) -> bool) -> Result<(), Error> {
        let ids = &self.listed[Space::Id as usize];
        let mut answers: HashMap<u32, bool> = HashMap::new();
        let file = |record: &[u8]| u32_at(record, 8).unwrap_or(0);
        let mut is_stale = |old: &[u8]| {
            let text = ids.text(file(old)).ok_or(OTHER_LINE)?;
            Ok::<bool, Error>(!*answers.entry(file(old)).or_insert_with(|| is_elsewhere(text)))
        };
        let mut seen = HashSet::new();
        for record in std::mem::take(&mut self.other_lines) {
            if !seen.insert(record.clone()) {
                continue;
            }
            let all = ids.lines_of_same(&record);
            let is_free = |i: &&u32| !self.kept_lines.contains(i) && !self.new_lines.contains_key(i);
            let of_file: Vec<u32> = all
                .iter()
                .filter(is_free)
                .copied()
                .filter(|i| ids.record(*i).is_some_and(|other| file(other) == file(&record)))
                .collect();
            let ((&[place], _) | (&[], &[place])) = (&of_file[..], &all[..]) else { return Err(OTHER_LINE) };
            let old = ids.record(place).and_then(|old| old.get(..LINE_SIZE)).ok_or(MALFORMED)?;
            // Records mention what is in front of them.
            let has_place = is_free(&&place)
                && record.len() == LINE_SIZE
                && old[..4] == record[..4]
                && file(&record) < FIRST_INDEX + place;
            if !has_place || !is_stale(old)? {
                return Err(OTHER_LINE);
            }
            self.new_lines.insert(place, record);
        }
        // Of two that there were, one may be nobody's now.
        for chosen in self.chosen_lines.iter().chain(self.new_lines.keys()) {
            let record = ids.record(*chosen).ok_or(MALFORMED)?;
            for other in ids.lines_of_same(record) {
                let is_used = self.kept_lines.contains(&other) || self.new_lines.contains_key(&other);
                if !is_used && is_stale(ids.record(other).ok_or(MALFORMED)?)? {
                    return Err(OTHER_LINE);
                }
            }
        }
        Ok(())
    }

    /// The streams that are others, or longer.
    ///
    /// # Errors
    /// If the PDB has none to which records could be added.
    pub fn streams(&self, msf: &Msf<'_>) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let mut all = Vec::new();
        for (space, number) in [(Space::Type, stream::TPI), (Space::Id, stream::IPI)] {
            let (listed, added) = (&self.listed[space as usize], &self.added[space as usize]);
            let has_lines = space == Space::Id && !self.new_lines.is_empty();
            if added.at.is_empty() && !has_lines {
                continue;
            }
            let hash_number = u16_at(&listed.records, 20).map_err(|_| MALFORMED)?;
            if hash_number == u16::MAX {
                return Err("has no types yet");
            }
            let old = msf.stream(hash_number.into())?;
            let (count, more) = (listed.at.len(), added.at.len());
            let before = listed.records.len() - HEADER_SIZE;
            let mut buckets = old.get(..count * HASH_SIZE).ok_or(MALFORMED)?.to_vec();
            let mut skips = old.get(buckets.len()..).ok_or(MALFORMED)?.to_vec();
            let ends = added.at.iter().skip(1).copied().chain([added.bytes.len() as u32]);
            for (i, (start, end)) in added.at.iter().zip(ends).enumerate() {
                let record = &added.bytes[*start as usize..end as usize];
                buckets.extend_from_slice(&tpi_hash::bucket(record).to_le_bytes());
                let (at, size) = (before as u32 + start, end - start);
                if is_skip(at, size) {
                    skips.extend_from_slice(&(FIRST_INDEX + (count + i) as u32).to_le_bytes());
                    skips.extend_from_slice(&at.to_le_bytes());
                }
            }
            let mut records = [&listed.records[..], &added.bytes].concat();
            for (i, record) in self.new_lines.iter().filter(|_| has_lines) {
                let at = listed.at[*i as usize] as usize;
                records[at..at + record.len()].copy_from_slice(record);
            }
            let bytes = (records.len() - HEADER_SIZE) as u32;
            let header = header((count + more) as u32, bytes, (skips.len() / 8) as u32, hash_number);
            records[..HEADER_SIZE].copy_from_slice(&header);
            all.push((number, records));
            all.push((hash_number.into(), [buckets, skips].concat()));
        }
        Ok(all)
    }
}
