use super::super::gdb_hash::gdb_hash;
use super::super::names::{First, IN_TYPE_UNIT, Run, put_together, what};
use super::super::scopes::{Found, Leaf, NOWHERE, Scopes};
use super::super::window::Filler;
use super::*;

/// The table of an index with `units` ordinary units in which names are used as `uses` says.
fn table(units: u32, lists: Lists, uses: &[(&'static str, u32)], parallel: bool) -> Table<'static> {
    let mut filler = Filler::default();
    let mut windows = Vec::new();
    for &(name, of) in uses {
        windows.extend(filler.unit(of & (2 * IN_TYPE_UNIT - 1), 2));
        let (hash, leaf) = (weld_common::hash::hash_bytes(name.as_bytes()), Leaf::InFile(name.as_bytes()));
        filler.add(
            &[Found { hash, scope: NOWHERE, leaf, what: (of >> 24) as u8 & what::ALL }],
            &Scopes::default(),
        );
    }
    windows.extend(filler.finish(2));
    let first = First { unit: 0, type_unit: units };
    let names = put_together(vec![Run { first, windows }], 2, if parallel { 2 } else { 1 });
    Table::new(lists, names, parallel).unwrap()
}

fn bytes(table: &Table) -> Vec<u8> {
    let mut bytes = vec![0xaa; table.size() as usize];
    table.write(0, &mut bytes, &|place| (u64::from(place.section) << 16) + place.offset);
    bytes
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Looks a name up as GDB does. The uses, and where they are.
fn look_up(bytes: &[u8], name: &str) -> Option<(Vec<u32>, u32)> {
    let last = if word(bytes, 0) >= 9 { 24 } else { 20 };
    let (slots, pool) = (word(bytes, 16) as usize, word(bytes, last) as usize);
    let count = (word(bytes, 20) as usize - slots) / 8;
    let hash = gdb_hash(0, name.as_bytes()) as usize;
    let mut slot = hash & (count - 1);
    loop {
        let (at, vector) = (word(bytes, slots + 8 * slot), word(bytes, slots + 8 * slot + 4));
        if (at, vector) == (0, 0) {
            return None;
        }
        let text = &bytes[pool + at as usize..];
        if text.starts_with(name.as_bytes()) && text[name.len()] == 0 {
            let start = pool + vector as usize;
            let uses = (1..=word(bytes, start) as usize).map(|i| word(bytes, start + 4 * i)).collect();
            return Some((uses, vector));
        }
        let step = ((hash * 17) & (count - 1)) | 1;
        slot = (slot + step) & (count - 1);
    }
}

fn of(unit: u32, what: u8) -> u32 {
    unit | u32::from(what) << 24
}

#[test]
fn every_name_is_found_with_its_uses() {
    let (f, t) = (what::FUNCTION, what::TYPE | what::STATIC);
    let uses = [
        ("main", of(1, f)),
        ("int", of(0, t)),
        ("int", of(1, t)),
        ("char", of(0, t)),
        ("char", of(1, t)),
        ("int", of(1, t)),
    ];
    let table = table(2, Lists::default(), &uses, false);
    let bytes = bytes(&table);
    assert_eq!(word(&bytes, 0), 7);
    let int = look_up(&bytes, "int").unwrap();
    assert_eq!(int.0, [of(0, t), of(1, t)]);
    // Names that are used alike share their vector.
    assert_eq!(look_up(&bytes, "char").unwrap(), int);
    assert_eq!(look_up(&bytes, "main").unwrap().0, [of(1, f)]);
    assert_eq!(look_up(&bytes, "mai"), None);
    assert_eq!(look_up(&bytes, "other"), None);
}

#[test]
fn names_of_many_windows_and_of_several_things() {
    let names: Vec<&'static str> = (0..50).map(|i| &*String::leak(format!("ns::name{i}"))).collect();
    // Units 0 to 199, each with a name of its own kind of things and one for which each unit has another
    // kind.
    let kinds = [what::FUNCTION, what::TYPE | what::STATIC, what::VARIABLE];
    let kind = |unit: u32| kinds[unit as usize % 3];
    let uses: Vec<(&str, u32)> = (0..200)
        .flat_map(|unit| {
            [(names[unit as usize % 50], of(unit, what::TYPE)), ("several", of(unit, kind(unit)))]
        })
        .collect();
    let table = table(200, Lists::default(), &uses, false);
    let bytes = bytes(&table);
    for (name, start) in names.iter().zip(0..) {
        let expected: Vec<u32> = (0..4).map(|i| of(start + 50 * i, what::TYPE)).collect();
        assert_eq!(look_up(&bytes, name).unwrap().0, expected);
    }
    let mut several: Vec<u32> = (0..200).map(|unit| of(unit, kind(unit))).collect();
    several.sort_unstable();
    assert_eq!(look_up(&bytes, "several").unwrap().0, several);
    assert_eq!(table.shards.iter().map(|shard| shard.names.len()).sum::<usize>(), 51);
}

#[test]
fn units_of_types_are_numbered_behind_the_others() {
    let lists = Lists {
        units: vec![ListedUnit { place: Pointer { section: 1, offset: 2 }, length: 3 }; 5],
        type_units: vec![
            ListedTypeUnit {
                place: Pointer { section: 4, offset: 5 },
                type_offset: 6,
                signature: 7
            };
            2
        ],
        ranges: vec![ListedRange { start: Pointer { section: 8, offset: 9 }, length: 10, unit: 4 }],
        has_new_type_units: true,
    };
    let uses = [("T", of(1 | IN_TYPE_UNIT, what::TYPE)), ("T", of(4, what::TYPE))];
    let table = table(5, lists, &uses, false);
    let bytes = bytes(&table);
    assert_eq!(look_up(&bytes, "T").unwrap().0, [of(4, what::TYPE), of(6, what::TYPE)]);
    assert_eq!([0, 4, 8, 12, 16].map(|at| word(&bytes, at)), [9, 28, 28 + 80, 28 + 128, 28 + 148]);
    assert_eq!([0, 4, 8].map(|at| word(&bytes, 28 + at)), [0x1_0002, 0, 3]);
    assert_eq!([0, 8, 16].map(|at| word(&bytes, 28 + 80 + at)), [0x4_0005, 6, 7]);
    assert_eq!([0, 8, 16].map(|at| word(&bytes, 28 + 128 + at)), [0x8_0009, 0x8_0013, 4]);
    // Nobody said which function is the main one.
    assert_eq!(word(&bytes, word(&bytes, 20) as usize), 0);
}

#[test]
fn parts_are_the_whole_and_threads_make_no_difference() {
    let names: Vec<&'static str> =
        (0..30_000).map(|i| &*String::leak(format!("name{}", i % 20_000))).collect();
    let uses: Vec<(&str, u32)> = names.iter().zip(0..).map(|(name, i)| (*name, i / 3000)).collect();
    let one = table(10, Lists::default(), &uses, false);
    let whole = bytes(&one);
    assert!(names.iter().all(|name| look_up(&whole, name).is_some()));
    assert_eq!(bytes(&table(10, Lists::default(), &uses, true)), whole);
    let borders: Vec<u64> = one.borders().chain([one.size()]).collect();
    assert!(borders.len() > 10);
    for pair in borders.windows(2) {
        let mut part = vec![0xbb; (pair[1] - pair[0]) as usize];
        one.write(pair[0], &mut part, &|_| 0);
        assert_eq!(part, &whole[pair[0] as usize..pair[1] as usize]);
    }
}

#[test]
fn nothing_at_all() {
    let bytes = bytes(&table(0, Lists::default(), &[], false));
    assert_eq!(bytes.len(), 24 + 8 * FEWEST_SLOTS);
    assert_eq!(word(&bytes, 20) as usize, bytes.len());
}
