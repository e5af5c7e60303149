//! What one object adds to the index: its units, their code, their names.
//!
//! A unit's names are those that its compiler listed; where it listed none, they are looked for in its
//! entries. A type unit of an object with lists has its name there, among those of the unit that uses the
//! type.
//!
//! What cannot be read is left out: a unit whose header or first entry makes no sense, with all after it in
//! the section if it is the header; the code of a unit whose range list makes no sense; of a list of names,
//! or the entries of a unit, what comes after the place that makes no sense.

use super::abbrev::Abbreviations;
use super::dies;
use super::names::what::ALL;
use super::names::{IN_TYPE_UNIT, Use};
use super::pubnames::{Listed, Set, Sets};
use super::ranges::{self, Allowance, Range};
use super::scopes::{Found, Leaf, NOWHERE};
use super::table::{ListedRange, ListedTypeUnit, ListedUnit, Lists};
use super::unit::{Header, Unit};
use super::window::{BATCH, Filler, Window};
use crate::synth::debug_info::dwarf::{Encoding, Kind, Malformed, Pointer, Source};
use crate::synth::debug_info::object::{Link, Wanted};

/// What is wrong with one object is said so often.
const MOST_PROBLEMS: usize = 4;

/// What a run of objects adds.
#[derive(Default)]
pub struct Collected<'a> {
    pub lists: Lists,
    pub windows: Vec<Window<'a>>,
}

/// Reads objects.
#[derive(Default)]
pub struct Collector<'a> {
    shard_bits: u32,
    collected: Collected<'a>,
    filler: Filler<'a>,
    /// Of the object that was read last.
    pub problems: Vec<Malformed>,
    /// The object that was read last has units whose names are in another file, and not listed.
    pub has_hidden_names: bool,
    tables: Tables,
    names: dies::Names<'a>,
    ranges: Vec<Range>,
}

impl<'a> Collector<'a> {
    /// Begins a run of objects. Names are for 2^`shard_bits` shards.
    pub fn begin(&mut self, shard_bits: u32) {
        self.shard_bits = shard_bits;
        self.collected = Collected::default();
    }

    /// Ends the run.
    pub fn finish(&mut self) -> Collected<'a> {
        let last = self.filler.finish(self.shard_bits);
        self.collected.windows.extend(last);
        std::mem::take(&mut self.collected)
    }

    /// Reads an object.
    pub fn object<S: Source<'a>>(&mut self, source: &S, wanted: &Wanted, link: &impl Link) {
        self.problems.clear();
        self.has_hidden_names = false;
        self.tables = Tables::new(source);
        let listed = self.listed(source, wanted);
        let mut reader = Reader { source, link, listed, known: Vec::new(), allowance: Allowance::of(source) };
        for &section in &wanted.units {
            self.section(section, &mut reader);
        }
        for &section in &wanted.lists {
            self.list(section, &reader);
        }
    }

    fn problem(&mut self, malformed: Malformed) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(malformed);
        }
    }

    /// The units whose names are listed, sorted.
    fn listed<S: Source<'a>>(&self, source: &S, wanted: &Wanted) -> Vec<Pointer> {
        let sets = wanted.lists.iter().flat_map(|&section| Sets::new(source, section));
        let mut listed: Vec<Pointer> = sets.flatten().map(|set| set.unit).collect();
        listed.sort_unstable_by_key(|unit| (unit.section, unit.offset));
        listed
    }

    /// Reads the units of a section.
    fn section<S: Source<'a>, L: Link>(&mut self, section: u32, reader: &mut Reader<'_, S, L>) {
        let mut place = Pointer { section, offset: 0 };
        let mut near = 0;
        while place.offset < reader.source.bytes(section).len() as u64 {
            let header = match Header::read(reader.source, place, &mut near) {
                Ok(header) => header,
                Err(malformed) => return self.problem(malformed),
            };
            if let Err(malformed) = self.unit(header, reader) {
                self.problem(malformed);
            }
            place.offset += header.length;
        }
    }

    fn unit<S: Source<'a>, L: Link>(
        &mut self,
        header: Header,
        reader: &mut Reader<'_, S, L>,
    ) -> Result<(), Malformed> {
        let code = header.cursor(reader.source, header.entries).uleb().unwrap_or(0);
        let abbreviations = self.tables.with(reader.source, &header, code)?;
        let unit = Unit::read(reader.source, header, abbreviations)?;
        let number = self.number(&unit, reader.source.is(header.place.section, Kind::Types), reader.link)?;
        reader.known.push((header.place, number));
        if header.type_unit.is_none() {
            self.code(&unit, number, reader);
        }
        let is_listed = reader.is_listed(header.place);
        let lists = !reader.listed.is_empty();
        if unit.is_skeleton {
            let is_known = is_listed || lists && unit.lists_names;
            self.has_hidden_names |= !is_known;
        } else if !is_listed && !(lists && (unit.lists_names || header.type_unit.is_some())) {
            self.entries(&unit, number, reader)?;
        }
        Ok(())
    }

    /// Lists the unit.
    fn number(&mut self, unit: &Unit, is_old: bool, link: &impl Link) -> Result<Use, Malformed> {
        let header = &unit.header;
        let place = Pointer { section: link.number(header.place.section), ..header.place };
        let number = match header.type_unit {
            Some((signature, type_offset)) => {
                self.collected.lists.has_new_type_units |= !is_old;
                self.collected.lists.type_units.push(ListedTypeUnit { place, type_offset, signature });
                IN_TYPE_UNIT | (self.collected.lists.type_units.len() - 1) as u32
            }
            None => {
                self.collected.lists.units.push(ListedUnit { place, length: header.length });
                (self.collected.lists.units.len() - 1) as u32
            }
        };
        Ok(number)
    }

    /// Lists the unit's code.
    fn code<S: Source<'a>, L: Link>(&mut self, unit: &Unit, number: Use, reader: &mut Reader<'_, S, L>) {
        self.ranges.clear();
        let result = ranges::of_unit(reader.source, unit, &mut reader.allowance, &mut self.ranges);
        if let Err(malformed) = result {
            self.problem(malformed);
        }
        for range in self.ranges.iter().filter(|range| reader.link.is_live(range.start.section)) {
            let start = Pointer { section: reader.link.number(range.start.section), ..range.start };
            self.collected.lists.ranges.push(ListedRange { start, length: range.length, unit: number });
        }
    }

    /// Takes the unit's names from its entries.
    fn entries<S: Source<'a>, L: Link>(
        &mut self,
        unit: &Unit,
        number: Use,
        reader: &Reader<'_, S, L>,
    ) -> Result<(), Malformed> {
        let abbreviations = self.tables.whole(reader.source, &unit.header)?;
        let result = dies::names(reader.source, unit, abbreviations, &mut self.names);
        self.collected.windows.extend(self.filler.unit(number, self.shard_bits));
        self.filler.add(&self.names.list, &self.names.scopes);
        result
    }

    /// Takes the names of a list.
    fn list<S: Source<'a>, L: Link>(&mut self, section: u32, reader: &Reader<'_, S, L>) {
        self.names.scopes.clear(0);
        let length = reader.source.bytes(section).len();
        let Some(bytes) = reader.source.lasting(section, 0..length) else { return };
        for set in Sets::new(reader.source, section) {
            let result = set.and_then(|set| self.set(set, bytes, reader));
            if let Err(malformed) = result {
                self.problem(malformed);
            }
        }
    }

    /// Takes the names of a set of the list `bytes`.
    fn set<S, L>(
        &mut self,
        mut set: Set,
        bytes: &'a [u8],
        reader: &Reader<'_, S, L>,
    ) -> Result<(), Malformed> {
        let unit = reader.known.binary_search_by_key(&key(set.unit), |known| key(known.0));
        // The units of groups that lost are not there.
        let Ok(unit) = unit else { return Ok(()) };
        self.collected.windows.extend(self.filler.unit(reader.known[unit].1, self.shard_bits));
        let mut batch = [Found { hash: 0, scope: NOWHERE, leaf: Leaf::InFile(&[]), what: 0 }; BATCH];
        loop {
            let (mut count, mut end) = (0, Ok(()));
            while count < BATCH {
                match set.name() {
                    Ok(Some(Listed { text, hash, what })) => {
                        let Some(leaf) = bytes.get(text) else { break };
                        batch[count] =
                            Found { hash, scope: NOWHERE, leaf: Leaf::InFile(leaf), what: what & ALL };
                        count += 1;
                    }
                    Ok(None) => break,
                    Err(malformed) => {
                        end = Err(malformed);
                        break;
                    }
                }
            }
            self.filler.add(&batch[..count], &self.names.scopes);
            if count < BATCH {
                return end;
            }
        }
    }
}

fn key(place: Pointer) -> (u32, u64) {
    (place.section, place.offset)
}

/// What is known of an object while it is read.
struct Reader<'r, S, L> {
    source: &'r S,
    link: &'r L,
    /// The units whose names are listed, sorted.
    listed: Vec<Pointer>,
    /// The units, ascending, and their numbers.
    known: Vec<(Pointer, Use)>,
    allowance: Allowance,
}

impl<S, L> Reader<'_, S, L> {
    fn is_listed(&self, unit: Pointer) -> bool {
        self.listed.binary_search_by_key(&key(unit), |listed| key(*listed)).is_ok()
    }
}

/// The tables of abbreviations that were read last: units of one object often share theirs.
#[derive(Default)]
struct Tables {
    /// Up to the first entry's abbreviation, or further.
    head: Abbreviations,
    head_of: Option<(Pointer, Encoding)>,
    whole: Abbreviations,
    whole_of: Option<(Pointer, Encoding)>,
    /// How many bytes may still be read, so that no object makes the same ones be read for ever.
    allowance: usize,
}

/// How often tables may be read.
const ABBREVIATIONS_READ: usize = 64;

impl Tables {
    fn new<'a>(source: &impl Source<'a>) -> Tables {
        let bytes = source.bytes(source.first(Kind::Abbrev)).len();
        Tables { allowance: (bytes + 64).saturating_mul(ABBREVIATIONS_READ), ..Tables::default() }
    }

    fn pay(&mut self, header: &Header, bytes: usize) -> Result<(), Malformed> {
        let left = self.allowance.checked_sub(bytes);
        let what = "tables of abbreviations overlap";
        self.allowance = left.ok_or(Malformed { place: header.place, what })?;
        Ok(())
    }

    /// A table that has at least the unit's abbreviation `code`.
    fn with<'a>(
        &mut self,
        source: &impl Source<'a>,
        header: &Header,
        code: u64,
    ) -> Result<&Abbreviations, Malformed> {
        let of = Some((header.abbreviations, header.encoding));
        if self.whole_of == of {
            return Ok(&self.whole);
        }
        if self.head_of != of || self.head.get(code).is_none() {
            // Who asks for another one of the same table will ask for more.
            let until = (self.head_of != of).then_some(code);
            self.head_of = None;
            let bytes = self.head.read(source, header.abbreviations, header.encoding, until)?;
            self.pay(header, bytes)?;
            self.head_of = of;
        }
        Ok(&self.head)
    }

    /// The whole table.
    fn whole<'a>(&mut self, source: &impl Source<'a>, header: &Header) -> Result<&Abbreviations, Malformed> {
        let of = Some((header.abbreviations, header.encoding));
        if self.whole_of != of {
            self.whole_of = None;
            let bytes = self.whole.read(source, header.abbreviations, header.encoding, None)?;
            self.pay(header, bytes)?;
            self.whole_of = of;
        }
        Ok(&self.whole)
    }
}

#[cfg(test)]
mod tests;
