//! What one object adds to the table of names: units, names, entries.
//!
//! Entries are copied, 16 bytes each: in the end they lie in the order of names, and looking for each in the
//! object that it came from would miss the cache every time. The text of a name is not: where it went when
//! strings were merged stands for it.

use std::collections::HashMap;

use super::abbrev::{Abbreviation, Abbreviations, Fields, Kind, Parent};
use super::index::Index;
use crate::synth::debug_info::dwarf::{self, Cursor, Malformed, Pointer, Source};
use crate::synth::debug_info::object::Link;

/// Where a text is: in a merged part, by its position, or in an input section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    /// The number of the part, or [`Text::IN_SECTION`] and that of the section in the link.
    pub space: u32,
    pub at: u32,
}

impl Text {
    pub const IN_SECTION: u32 = 1 << 31;
}

/// A name of a table.
#[derive(Clone, Copy, Debug)]
pub struct Mention {
    pub hash: u32,
    pub text: Text,
    /// Its entries, among those of the run.
    pub first: u32,
    pub count: u32,
}

/// An entry of the debug information.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// From the start of its unit.
    pub offset: u32,
    /// In the list of its kind.
    pub unit: u32,
    /// The entry around it, among those of the run, if it is listed.
    pub parent: u32,
    /// Among those of the run.
    pub abbreviation: u32,
}

/// A type unit in another file: its signature, and the unit that stands for the file.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    pub signature: u64,
    pub unit: u32,
}

/// What a run of objects adds.
#[derive(Default)]
pub struct Collected {
    /// By place: section of the link, and offset.
    pub units: Vec<Pointer>,
    pub type_units: Vec<Pointer>,
    pub foreign: Vec<Foreign>,
    pub abbreviations: Vec<Abbreviation>,
    pub entries: Vec<Entry>,
    /// By shard.
    pub mentions: Vec<Vec<Mention>>,
    /// What tables say of who made them; `None` while there is no table.
    pub augmentation: Option<Vec<u8>>,
}

impl Collected {
    /// Notes who made a table. Where they differ, nothing is said.
    pub fn made_by(&mut self, augmentation: &[u8]) {
        match &mut self.augmentation {
            None => self.augmentation = Some(augmentation.to_vec()),
            Some(known) if known != augmentation => known.clear(),
            Some(_) => {}
        }
    }
}

/// What the reader of tables asks of the link besides.
pub trait Texts {
    /// Where a text is; `None` if that is nowhere in `.debug_str`.
    fn place(&mut self, text: Pointer) -> Option<Text>;
}

/// Reads objects.
#[derive(Default)]
pub struct Collector {
    shard_bits: u32,
    collected: Collected,
    abbreviations: Abbreviations,
    table: Tables,
    /// The numbers of the run's abbreviations.
    known: HashMap<Abbreviation, u32>,
}

/// What is known of the table that is being read.
#[derive(Default)]
struct Tables {
    /// The numbers of its units in the run's lists.
    units: Vec<u32>,
    type_units: Vec<u32>,
    /// The numbers of its abbreviations in the run's list, by kind of unit and of parent.
    numbers: Vec<[u32; 9]>,
    /// Those of type units elsewhere, each with a unit that stands for the file.
    foreign: HashMap<(u32, u32), u32>,
    /// Where in the pool entries are, and their numbers.
    places: Vec<(u32, u32)>,
}

/// Longer texts are not read: texts within one another would cost the more the more there are.
pub const LONGEST: usize = 4096;

/// No unit, or no abbreviation yet.
const NONE: u32 = u32::MAX;

impl Collector {
    /// Begins a run of objects. Names are for 2^`shard_bits` shards.
    pub fn begin(&mut self, shard_bits: u32) {
        self.shard_bits = shard_bits;
        self.known.clear();
        self.collected = Collected::default();
        self.collected.mentions.resize_with(1 << shard_bits, Vec::new);
    }

    /// Ends the run.
    pub fn finish(&mut self) -> Collected {
        std::mem::take(&mut self.collected)
    }

    /// Reads the tables of a section.
    ///
    /// # Errors
    /// If one of them makes no sense; those before it are read.
    pub fn section<'a>(
        &mut self,
        source: &impl Source<'a>,
        section: u32,
        link: &impl Link,
        texts: &mut impl Texts,
    ) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(source, Pointer { section, offset: 0 });
        let mut near = 0;
        while cursor.at < cursor.bytes.len() {
            let index = Index::read(&mut cursor)?;
            self.units(source, &index, link, &mut near)?;
            self.abbreviations.read(&mut index.abbreviations())?;
            self.table.numbers.clear();
            self.table.numbers.resize(self.abbreviations.count(), [NONE; 9]);
            self.table.foreign.clear();
            self.names(source, &index, texts, &mut near)?;
            self.collected.made_by(&index.bytes.bytes[index.augmentation.clone()]);
        }
        Ok(())
    }

    /// Lists the units that are in the output.
    fn units<'a>(
        &mut self,
        source: &impl Source<'a>,
        index: &Index,
        link: &impl Link,
        near: &mut usize,
    ) -> Result<(), Malformed> {
        let collected = &mut self.collected;
        let lists = [
            (&index.units, &mut self.table.units, &mut collected.units),
            (&index.type_units, &mut self.table.type_units, &mut collected.type_units),
        ];
        for (part, numbers, list) in lists {
            numbers.clear();
            for number in 0..part.len() / 4 {
                let unit = index.pointer(source, part, number, dwarf::Kind::Info, near);
                let is_live = unit.section != 0 && link.is_live(unit.section);
                let is_unit = |unit: Pointer| {
                    source.is(unit.section, dwarf::Kind::Info) && unit.offset < link.size(unit.section)
                };
                if is_live && !is_unit(unit) {
                    let field = Cursor { at: part.start + 4 * number, ..index.bytes };
                    return Err(field.wrong("unit of the table of names is not in .debug_info"));
                }
                numbers.push(if is_live { list.len() as u32 } else { NONE });
                if is_live {
                    list.push(Pointer { section: link.number(unit.section), ..unit });
                }
            }
        }
        Ok(())
    }

    fn names<'a>(
        &mut self,
        source: &impl Source<'a>,
        index: &Index,
        texts: &mut impl Texts,
        near: &mut usize,
    ) -> Result<(), Malformed> {
        self.table.places.clear();
        let own = self.collected.entries.len();
        // Lists of entries are apart, so together they are no longer than the table.
        let mut allowance = index.bytes.bytes.len() - index.pool;
        for number in 0..index.names() {
            let field = Cursor { at: index.texts.start + 4 * number, ..index.bytes };
            let text = index.pointer(source, &index.texts, number, dwarf::Kind::Str, near);
            let place = texts.place(text).ok_or(field.wrong("name is not in .debug_str"))?;
            let hash = match index.hashes.is_empty() {
                false => index.word(&index.hashes, number),
                true => hash(source, text).map_err(|what| field.wrong(what))?,
            };
            let first = self.collected.entries.len();
            let start = index.pool.saturating_add(index.word(&index.entries, number) as usize);
            let mut cursor = Cursor { at: start, ..index.bytes };
            loop {
                let entry = cursor;
                let Some(fields) = self.abbreviations.entry(&mut cursor)? else { break };
                self.entry(source, index, &entry, &fields)?;
            }
            let read = allowance.checked_sub(cursor.at - start);
            allowance = read.ok_or(field.wrong("lists of entries of the table of names overlap"))?;
            let count = self.collected.entries.len() - first;
            if count > 0 {
                let mention = Mention { hash, text: place, first: first as u32, count: count as u32 };
                self.collected.mentions[shard(hash, self.shard_bits)].push(mention);
            }
        }
        self.parents(index, own)
    }

    /// Adds the entry at `cursor`, unless its unit is gone.
    fn entry<'a>(
        &mut self,
        source: &impl Source<'a>,
        index: &Index,
        cursor: &Cursor,
        fields: &Fields,
    ) -> Result<(), Malformed> {
        let offset = fields.offset.and_then(|offset| u32::try_from(offset).ok());
        let offset =
            offset.ok_or_else(|| cursor.wrong("entry of the table of names does not say where it is"))?;
        let unit = self.unit(source, index, fields);
        let (kind, unit) = unit.ok_or_else(|| cursor.wrong("entry of the table of names has no unit"))?;
        if unit == NONE {
            return Ok(());
        }
        let (parent, around) = match fields.parent {
            None => (Parent::Unknown, 0),
            Some(None) => (Parent::NotListed, 0),
            // Where it is in the pool. What is no place of an entry, is found out when all are known.
            Some(Some(place)) => (Parent::Listed, u32::try_from(place).unwrap_or(u32::MAX)),
        };
        let number = &mut self.table.numbers[fields.number as usize][kind as usize * 3 + parent as usize];
        if *number == NONE {
            let abbreviation = Abbreviation { tag: fields.tag, kind, parent };
            let list = &mut self.collected.abbreviations;
            *number = *self.known.entry(abbreviation).or_insert_with(|| {
                list.push(abbreviation);
                list.len() as u32 - 1
            });
        }
        self.table.places.push(((cursor.at - index.pool) as u32, self.collected.entries.len() as u32));
        self.collected.entries.push(Entry { offset, unit, parent: around, abbreviation: *number });
        Ok(())
    }

    /// The kind of an entry's unit, and its number in the list of the kind, or [`NONE`] if it is gone. `None`
    /// if there is no such unit.
    fn unit<'a>(&mut self, source: &impl Source<'a>, index: &Index, fields: &Fields) -> Option<(Kind, u32)> {
        let Tables { units, type_units, foreign, .. } = &mut self.table;
        let unit = match fields.unit {
            // It is the only one.
            None => units.first().filter(|_| units.len() == 1),
            Some(unit) => units.get(usize::try_from(unit).ok()?),
        };
        let Some(type_unit) = fields.type_unit else { return Some((Kind::Unit, *unit?)) };
        let type_unit = usize::try_from(type_unit).ok()?;
        if let Some(&number) = type_units.get(type_unit) {
            return Some((Kind::TypeUnit, number));
        }
        let (type_unit, unit) = (type_unit - type_units.len(), *unit?);
        if type_unit >= index.foreign.len() / 8 {
            return None;
        }
        if unit == NONE {
            return Some((Kind::Foreign, NONE));
        }
        let number = foreign.entry((type_unit as u32, unit)).or_insert_with(|| {
            let at = (index.foreign.start + 8 * type_unit) as u64;
            let mut cursor = Cursor::new(source, Pointer { section: index.bytes.section, offset: at });
            let signature = cursor.number(8).unwrap_or(0);
            self.collected.foreign.push(Foreign { signature, unit });
            self.collected.foreign.len() as u32 - 1
        });
        Some((Kind::Foreign, *number))
    }

    /// Finds the entries that those from number `own` on name as the ones around them.
    fn parents(&mut self, index: &Index, own: usize) -> Result<(), Malformed> {
        let places = &mut self.table.places;
        if !places.is_sorted() {
            places.sort_unstable();
        }
        for entry in &mut self.collected.entries[own..] {
            if self.collected.abbreviations[entry.abbreviation as usize].parent != Parent::Listed {
                continue;
            }
            let found = places.binary_search_by_key(&entry.parent, |(place, _)| *place).map_err(|_| {
                let at = index.pool.saturating_add(entry.parent as usize);
                let what = "table of names has no such entry, but another one is said to be within it";
                Malformed::new(index.bytes.section, at, what)
            })?;
            entry.parent = places[found].1;
        }
        Ok(())
    }
}

fn shard(hash: u32, bits: u32) -> usize {
    (u64::from(hash) >> (32 - bits)) as usize
}

/// The hash of a text: of 5381, for each byte times 33 and the letter, small, added.
///
/// # Errors
/// If it is not all ASCII, or [long](LONGEST). Whoever has such names has their hashes.
fn hash<'a>(source: &impl Source<'a>, text: Pointer) -> Result<u32, &'static str> {
    let Cursor { bytes, at, .. } = Cursor::new(source, text);
    let bytes = bytes.get(at..).unwrap_or(&[]);
    let end = memchr::memchr(0, &bytes[..bytes.len().min(LONGEST)]);
    let text = &bytes[..end.ok_or("name has no hash, and does not end within 4096 bytes")?];
    if !text.is_ascii() {
        return Err("name has no hash, and is not of ASCII letters");
    }
    let step =
        |hash: u32, letter: &u8| hash.wrapping_mul(33).wrapping_add(u32::from(letter.to_ascii_lowercase()));
    Ok(text.iter().fold(5381, step))
}
