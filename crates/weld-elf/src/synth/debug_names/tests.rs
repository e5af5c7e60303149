use super::abbrev::Abbreviations;
use super::collect::{Collected, Collector, Text, Texts};
use super::index::Index;
use super::names::Strings;
use super::table::{Addresses, Table};
use crate::elf::Format;
use crate::synth::debug_info::dwarf::{Cursor, KINDS, Kind, Malformed, Pointer};
use crate::synth::debug_info::object::Link;
use crate::synth::debug_info::plain::Plain;

/// Texts from here on are long.
const LONG: u32 = 1_000_000;

/// All sections are in the output, and strings were not merged.
struct Everything;

impl Link for Everything {
    fn is_live(&self, section: u32) -> bool {
        section != 0
    }
    fn number(&self, section: u32) -> u32 {
        section
    }
    fn size(&self, _: u32) -> u64 {
        u64::MAX
    }
}

impl Texts for Everything {
    fn place(&mut self, text: Pointer) -> Option<Text> {
        Some(Text { space: 0, at: text.offset as u32 })
    }
}

/// Texts at even and odd places are the same.
impl Strings for Everything {
    fn is_same(&self, one: Text, other: Text) -> bool {
        one.at / 2 == other.at / 2
    }
    fn hash(&self, text: Text) -> Option<u64> {
        (text.at < LONG).then_some(u64::from(text.at / 2))
    }
}

impl Addresses for Everything {
    fn unit(&self, unit: Pointer) -> u64 {
        unit.offset
    }
    fn text(&self, text: Text) -> u64 {
        u64::from(text.at)
    }
}

/// An entry: what it names, by the place of its text; its unit, offset and the entry around it, by number.
type Entry = (u32, u8, u32, Option<usize>);

/// A table of names for `units` units.
fn table(units: &[u32], hash: impl Fn(u32) -> u32, entries: &[Entry]) -> Vec<u8> {
    let mut pool = Vec::new();
    let mut starts = Vec::new();
    for &(_, unit, offset, parent) in entries {
        starts.push(pool.len() as u32);
        pool.push(if parent.is_some() { 2 } else { 1 });
        pool.push(unit);
        pool.extend(offset.to_le_bytes());
        pool.extend(parent.map_or(Vec::new(), |parent| starts[parent].to_le_bytes().to_vec()));
        pool.push(0);
    }
    let abbreviations =
        [1, 0x2e, 1, 0x0b, 3, 0x13, 4, 0x19, 0, 0, 2, 0x13, 1, 0x0b, 3, 0x13, 4, 0x13, 0, 0, 0];
    let count = entries.len() as u32;
    let mut words = vec![5, units.len() as u32, 0, 0, 1, count, abbreviations.len() as u32, 4];
    words.push(u32::from_le_bytes(*b"test"));
    words.extend(units);
    words.push(1);
    words.extend(entries.iter().map(|entry| hash(entry.0)));
    words.extend(entries.iter().map(|entry| entry.0));
    words.extend(starts);
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(abbreviations);
    bytes.extend(pool);
    let mut all = (bytes.len() as u32).to_le_bytes().to_vec();
    all.append(&mut bytes);
    all
}

fn collect(bytes: &[u8]) -> Result<Collected, Malformed> {
    let mut sections: [&[u8]; KINDS] = [&[]; KINDS];
    sections[Kind::Names as usize] = bytes;
    sections[Kind::Info as usize] = &[0; 64];
    sections[Kind::Str as usize] = b"a\0b\0";
    let source = Plain { sections, is_big_endian: false };
    let mut collector = Collector::default();
    collector.begin(5);
    collector.section(&source, Plain::section(Kind::Names), &Everything, &mut Everything)?;
    Ok(collector.finish())
}

/// The index of tables, and its bytes.
fn index(tables: &[Vec<u8>], format: Format) -> Vec<u8> {
    let collected = tables.iter().map(|table| collect(table).unwrap()).collect();
    let table = Table::new(collected, 5, 1, &Everything).unwrap();
    let mut bytes = vec![0xaa; table.size() as usize];
    let borders: Vec<u64> = table.borders().chain([table.size()]).collect();
    // From the end, part by part.
    for ends in borders.windows(2).rev() {
        let out = &mut bytes[ends[0] as usize..ends[1] as usize];
        table.write(ends[0], out, format, &Everything);
    }
    bytes
}

/// The text and hash of an entry, its unit, offset, and those of the entry around it.
type Listed = (u32, u32, u64, u64, Option<(u64, u64)>);

/// What an index has. Each name is looked up by its hash.
fn entries(bytes: &[u8]) -> Vec<Listed> {
    let mut cursor = Cursor { bytes, at: 0, section: 1, big: false };
    let index = Index::read(&mut cursor).unwrap();
    assert_eq!(cursor.at, bytes.len());
    let mut abbreviations = Abbreviations::default();
    abbreviations.read(&mut index.abbreviations()).unwrap();
    let buckets = index.foreign.end..index.hashes.start;
    let count = (buckets.len() / 4) as u32;
    let at = |place: usize| {
        let mut cursor = Cursor { at: index.pool + place, ..index.bytes };
        let fields = abbreviations.entry(&mut cursor).unwrap();
        (fields, cursor.at - index.pool)
    };
    let mut all = Vec::new();
    for name in 0..index.names() {
        let hash = index.word(&index.hashes, name);
        let first = index.word(&buckets, (hash % count) as usize) as usize - 1;
        let own =
            (first..index.names()).take_while(|&i| index.word(&index.hashes, i) % count == hash % count);
        assert!(own.into_iter().any(|i| i == name), "not in its bucket");
        let mut place = index.word(&index.entries, name) as usize;
        while let (Some(fields), next) = at(place) {
            let parent = fields.parent.flatten().map(|parent| {
                let around = at(parent as usize).0.unwrap();
                (around.unit.unwrap(), around.offset.unwrap())
            });
            all.push((
                index.word(&index.texts, name),
                hash,
                fields.unit.unwrap(),
                fields.offset.unwrap(),
                parent,
            ));
            place = next;
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn tables_become_one() {
    let hash = |text: u32| text.wrapping_mul(0x9e37_79b1) & 0xf0ff_ffff;
    let one = table(&[0, 32], hash, &[(0, 0, 10, None), (2, 0, 20, Some(0)), (4, 1, 10, None)]);
    let other = table(&[0], hash, &[(2, 0, 7, None), (0, 0, 8, Some(0)), (0, 0, 9, Some(1))]);
    let found = entries(&index(&[one.clone(), other.clone()], Format::NATIVE));
    let wanted = [
        (0, hash(0), 0, 10, None),
        (0, hash(0), 2, 8, Some((2, 7))),
        (0, hash(0), 2, 9, Some((2, 8))),
        (2, hash(2), 0, 20, Some((0, 10))),
        (2, hash(2), 2, 7, None),
        (4, hash(4), 1, 10, None),
    ];
    assert_eq!(found, wanted);
    // One after the other in one section.
    assert_eq!(entries(&index(&[[one, other].concat()], Format::NATIVE)), wanted);
}

#[test]
fn many_names_of_few_hashes_are_all_found() {
    let hash = |text: u32| (text / 2 % 997).wrapping_mul(0x0123_4567);
    let list: Vec<Entry> = (0..40_000).map(|i| (2 * i, 0, i, (i > 0).then_some(i as usize / 2))).collect();
    let found = entries(&index(&[table(&[0], hash, &list)], Format::NATIVE));
    let wanted: Vec<_> = (0..40_000u32)
        .map(|i| (2 * i, hash(2 * i), 0, u64::from(i), (i > 0).then_some((0, u64::from(i / 2)))))
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn texts_of_one_hash_are_told_apart() {
    // Four of one hash, one of which is at two places.
    let one = table(&[0], |_| 5, &[(0, 0, 1, None), (2, 0, 2, None), (4, 0, 3, None)]);
    let other = table(&[0], |_| 5, &[(5, 0, 4, None), (6, 0, 5, None), (5, 0, 6, None), (1, 0, 7, None)]);
    let found = entries(&index(&[one, other], Format::NATIVE));
    let wanted = [(0, 1), (0, 7), (2, 2), (4, 3), (4, 4), (4, 6), (6, 5)];
    assert!(found.iter().map(|&(text, _, _, offset, _)| (text, offset)).eq(wanted));
}

#[test]
fn long_texts_are_known_by_their_places() {
    let list =
        [(LONG, 0, 1, None), (LONG + 1, 0, 2, None), (LONG, 0, 3, None), (4, 0, 4, None), (5, 0, 5, None)];
    let found = entries(&index(&[table(&[0], |_| 5, &list)], Format::NATIVE));
    let wanted = [(4, 4), (4, 5), (LONG, 1), (LONG, 3), (LONG + 1, 2)];
    assert!(found.iter().map(|&(text, _, _, offset, _)| (text, offset)).eq(wanted));
}

#[test]
fn units_beyond_a_byte() {
    let tables: Vec<_> = (0..300).map(|i| table(&[0], |_| 5, &[(2 * i, 0, i, None)])).collect();
    let found = entries(&index(&tables, Format::NATIVE));
    assert_eq!(found[299], (598, 5, 299, 299, None));
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let good = table(&[0, 32], |_| 5, &[(0, 0, 10, None), (2, 0, 20, Some(0))]);
    assert!(collect(&good).is_ok());
    // Whatever a byte is, and wherever the table ends.
    for at in 0..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] = value;
            if let Ok(collected) = collect(&bad) {
                assert!(collected.entries.len() <= bad.len());
            }
        }
        assert!(at == 0 || collect(&good[..at]).is_err());
    }
}
