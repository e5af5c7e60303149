use super::super::names::{First, Run, put_together, what};
use super::super::table::Table;
use super::*;
use crate::synth::debug_info::dwarf::KINDS;
use crate::synth::debug_info::plain::Plain;

/// Sections with relocations: (field, what it refers to). Section 100 has code, and so has 101, which is
/// dead.
struct Object<'a> {
    plain: Plain<'a>,
    relocs: Vec<(Pointer, Pointer)>,
}

const CODE: u32 = 100;
const DEAD: u32 = 101;

fn at(section: u32, offset: u64) -> Pointer {
    Pointer { section, offset }
}

impl<'a> Object<'a> {
    fn new(sections: &[(Kind, &'a [u8])]) -> Object<'a> {
        let mut all = [&[][..]; KINDS];
        sections.iter().for_each(|(kind, bytes)| all[*kind as usize] = bytes);
        Object { plain: Plain { sections: all, is_big_endian: false }, relocs: Vec::new() }
    }
}

impl<'a> Source<'a> for Object<'a> {
    fn bytes(&self, section: u32) -> &[u8] {
        self.plain.bytes(section)
    }
    fn lasting(&self, section: u32, range: std::ops::Range<usize>) -> Option<&'a [u8]> {
        self.plain.lasting(section, range)
    }
    fn first(&self, kind: Kind) -> u32 {
        self.plain.first(kind)
    }
    fn is(&self, section: u32, kind: Kind) -> bool {
        self.plain.is(section, kind)
    }
    fn relocated(&self, field: Pointer, _: &mut usize) -> Option<Pointer> {
        self.relocs.iter().find(|reloc| reloc.0 == field).map(|reloc| reloc.1)
    }
    fn is_big_endian(&self) -> bool {
        false
    }
}

struct Everything;

impl Link for Everything {
    fn is_live(&self, section: u32) -> bool {
        section == CODE
    }
    fn number(&self, section: u32) -> u32 {
        section
    }
    fn size(&self, _: u32) -> u64 {
        u64::MAX
    }
}

/// Units, ranges, names with their uses, and problems.
type Read = (Vec<u64>, Vec<(u64, u64)>, Vec<String>, Vec<(Pointer, &'static str)>);

fn read(object: &Object<'static>) -> Read {
    let present = |kind| (object.first(kind) != 0).then(|| Plain::section(kind));
    let wanted = Wanted {
        tables: Vec::new(),
        units: [Kind::Info, Kind::Types].into_iter().filter_map(present).collect(),
        lists: [Kind::PubNames, Kind::PubTypes].into_iter().filter_map(present).collect(),
    };
    let mut collector = Collector::default();
    collector.begin(0);
    collector.object(object, &wanted, &Everything);
    let Collected { lists, windows } = collector.finish();
    let units: Vec<u64> = lists.units.iter().map(|unit| unit.place.offset).collect();
    let ranges = lists.ranges.iter().map(|range| (range.start.offset, range.length)).collect();
    let first = First { unit: 0, type_unit: units.len() as u32 };
    let names = put_together(vec![Run { first, windows }], 0, 1);
    let mut found: Vec<String> = Vec::new();
    let mut texts = names.texts.iter().flat_map(|texts| texts.names(0));
    let shard = &names.shards[0];
    for (name, (scope, leaf)) in shard.names.iter().zip(&mut texts) {
        let text = [scope, leaf].concat();
        let uses: Vec<String> =
            shard.uses(&shard.vectors[name.vector as usize]).iter().map(|of| format!("{of:#x}")).collect();
        found.push(format!("{} {}", String::from_utf8(text).unwrap(), uses.join(" ")));
    }
    assert!(texts.next().is_none());
    drop(texts);
    found.sort();
    let problems = collector.problems.iter().map(|p| (p.place, p.what)).collect();
    Table::new(lists, names, false).unwrap();
    (units, ranges, found, problems)
}

/// A unit of DWARF 4 with these entries.
fn unit(entries: &[u8]) -> Vec<u8> {
    let mut unit = (entries.len() as u32 + 7).to_le_bytes().to_vec();
    unit.extend([4, 0, 0, 0, 0, 0, 8]);
    unit.extend(entries);
    unit
}

/// C++: a unit with language and code (1), a namespace (2) and a structure (3) with entries below, the
/// declaration of a function (4) and its definition (5), variables of this unit (6), a function with a body
/// (7).
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0, //
    2, 0x39, 1, 0x03, 0x08, 0, 0, //
    3, 0x13, 1, 0x03, 0x08, 0, 0, //
    4, 0x2e, 0, 0x03, 0x08, 0x3c, 0x19, 0x3f, 0x19, 0, 0, //
    5, 0x2e, 0, 0x47, 0x13, 0, 0, //
    6, 0x34, 0, 0x03, 0x08, 0x1c, 0x0b, 0, 0, //
    7, 0x2e, 1, 0x03, 0x08, 0x3f, 0x19, 0, 0, //
    8, 0x0b, 1, 0, 0, //
    0,
];

/// Offset of the address in the first entry.
const LOW_PC: u64 = 13;

fn program() -> Vec<u8> {
    let mut entries = vec![1, 4];
    entries.extend([0; 8]);
    entries.extend([0x30, 0, 0, 0]);
    // The definition of what is declared further on, and below of what was before.
    let declaration = 11 + 14 + 5 + b"\x02ns\0\x03S\0".len() as u8;
    entries.extend([5, declaration, 0, 0, 0]);
    entries.extend(b"\x02ns\0\x03S\0\x04f\0\x00\x06v\0\x01\x00");
    entries.extend([5, declaration, 0, 0, 0]);
    entries.extend(b"\x07main\0\x08\x06local\0\x01\x00\x00");
    entries.push(0);
    unit(&entries)
}

fn used(what: u8) -> String {
    format!("{:#x}", u32::from(what) << 24)
}

#[test]
fn names_of_entries_have_their_scopes() {
    let info = program().leak();
    let mut object = Object::new(&[(Kind::Info, info), (Kind::Abbrev, ABBREVIATIONS)]);
    object.relocs.push((at(Plain::section(Kind::Info), LOW_PC), at(CODE, 0x10)));
    let (units, ranges, names, problems) = read(&object);
    assert_eq!(problems, []);
    assert_eq!((units, ranges), (vec![0], vec![(0x10, 0x30)]));
    let [function, kind, variable] =
        [used(what::FUNCTION), used(what::TYPE), used(what::VARIABLE | what::STATIC)];
    let expected = [
        format!("main {function}"),
        format!("ns {kind}"),
        format!("ns::S {kind}"),
        format!("ns::S::f {function}"),
        format!("ns::v {variable}"),
    ];
    assert_eq!(names, expected);
    // What is gone has no addresses.
    object.relocs[0].1.section = DEAD;
    assert_eq!(read(&object).1, []);
}

#[test]
fn listed_names_are_taken_instead() {
    let info = [program(), program()].concat().leak();
    let second = (info.len() / 2) as u32;
    let mut set = 29u32.to_le_bytes().to_vec();
    set.extend([2, 0]);
    set.extend(second.to_le_bytes());
    set.extend(second.to_le_bytes());
    set.extend(b"\x01\0\0\0\x30listed\0\0\0\0\0");
    set[0] = set.len() as u8 - 4;
    let sections = [(Kind::Info, &*info), (Kind::Abbrev, ABBREVIATIONS), (Kind::PubNames, set.leak())];
    let (units, _, names, problems) = read(&Object::new(&sections));
    assert_eq!((units, problems), (vec![0, u64::from(second)], vec![]));
    assert!(names.contains(&"listed 0x30000001".to_owned()));
    assert!(names.contains(&"main 0x30000000".to_owned()));
}

#[test]
fn what_makes_no_sense_is_left_out() {
    let good = program();
    let after = good.len() as u64;
    let info = Plain::section(Kind::Info);
    for (bad, place, what) in [
        (&[0xff, 0xff, 0xff, 0xff, 1][..], at(info, after), "unit has an impossible length"),
        (&[9, 0, 0, 0, 4, 0], at(info, after), "unit goes beyond the end of its section"),
        (&[2, 0, 0, 0, 9, 0], at(info, after), "unit has a DWARF version that is not known"),
        (&[8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 99], at(info, after + 11), "entry has no abbreviation"),
        (
            &[8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 3, 1],
            at(info, after),
            "unit has a size of addresses that is neither 4 nor 8",
        ),
    ] {
        let bytes = [&good[..], bad].concat().leak();
        let (units, _, names, problems) =
            read(&Object::new(&[(Kind::Info, bytes), (Kind::Abbrev, ABBREVIATIONS)]));
        assert_eq!(problems, [(place, what)]);
        assert_eq!((units, names.len()), (vec![0], 5));
    }
    // A damaged table is never more than a problem.
    let mut damaged = ABBREVIATIONS.to_vec();
    for i in 0..damaged.len() {
        for value in [0, 1, 0x21, 0x16, 0x80, 0xff] {
            let before = std::mem::replace(&mut damaged[i], value);
            read(&Object::new(&[(Kind::Info, good.clone().leak()), (Kind::Abbrev, damaged.clone().leak())]));
            damaged[i] = before;
        }
    }
}

#[test]
fn entries_that_are_read_again_and_again() {
    // The unit; a structure that is declared, with a name and entries below; one with many attributes; one
    // that it stands for.
    let mut abbreviations = vec![1, 0x11, 1, 0x13, 0x0b, 0, 0, 2, 0x13, 1, 0x03, 0x0e, 0x3c, 0x19, 0, 0];
    abbreviations.extend([4, 0x13, 0, 0x47, 0x13, 0, 0, 3, 0x13, 0]);
    abbreviations.extend([0x3c, 0x0c].repeat(10_000));
    abbreviations.extend([0, 0, 0]);
    let abbreviations = abbreviations.leak();
    let problem = |entries: &[u8]| {
        let info = unit(&[&[1, 0x0c], entries, &[0]].concat()).leak();
        let text = [vec![b'a'; 10_000], vec![0]].concat().leak();
        let sections = [(Kind::Info, &*info), (Kind::Abbrev, abbreviations), (Kind::Str, text)];
        read(&Object::new(&sections)).3.first().map(|problem| problem.1)
    };
    let too_much = Some("entry is cut off, refers to what is not there or has too long a name");
    let declared = |texts: std::ops::Range<u16>| -> Vec<u8> {
        texts.flat_map(|at| [2, at as u8, (at >> 8) as u8, 0, 0, 0]).collect()
    };
    assert_eq!(problem(&declared(9800..10_000)), None);
    assert_eq!(problem(&declared(0..5000)), too_much);
    let alike = |count| [&[3][..], &[0; 10_000], &[4, 13, 0, 0, 0].repeat(count)].concat();
    assert_eq!(problem(&alike(100)), None);
    assert_eq!(problem(&alike(1000)), too_much);
}

#[test]
fn attributes_without_bytes_are_read_once() {
    let table = [&[1, 0x13, 0][..], &[0x3c, 0x19, 0x3f, 0x19].repeat(1000), &[3, 8, 0, 0, 0]].concat();
    let object = Object::new(&[(Kind::Abbrev, table.leak())]);
    let mut abbreviations = Abbreviations::default();
    let encoding = Encoding { version: 5, address: 8, offset: 4 };
    abbreviations.read(&object, at(Plain::section(Kind::Abbrev), 0), encoding, None).unwrap();
    assert_eq!(abbreviations.steps(abbreviations.get(1).unwrap()).len(), 3);
}

#[test]
fn lists_that_are_used_again_and_again() {
    // Many units, all with the same long list.
    let abbreviations = &[1, 0x11, 0, 0x55, 0x17, 0, 0, 0];
    let units: Vec<u8> = (0..2000).flat_map(|_| unit(&[1, 0, 0, 0, 0])).collect();
    let mut ranges: Vec<u8> = (0..4000).flat_map(|_| [1u64, 2].map(u64::to_le_bytes)).flatten().collect();
    ranges.extend([0; 16]);
    let sections =
        [(Kind::Info, &*units.leak()), (Kind::Abbrev, abbreviations), (Kind::Ranges, ranges.leak())];
    let (units, _, _, problems) = read(&Object::new(&sections));
    assert_eq!(units.len(), 2000);
    assert!(problems.iter().all(|problem| problem.1 == "range lists are used again and again"));
    assert_eq!(problems.len(), MOST_PROBLEMS);
}

#[test]
fn names_without_end() {
    // A long scope with many short names in it: an index of them would be larger than the object by far.
    let abbreviations = &[
        1, 0x11, 1, 0x13, 0x0b, 0, 0, //
        2, 0x39, 1, 0x03, 0x0e, 0, 0, //
        3, 0x13, 0, 0x03, 0x0e, 0, 0, //
        0,
    ];
    let mut entries = vec![1, 4, 2, 0, 0, 0, 0];
    (0..200).for_each(|_| entries.extend([3, 0, 0, 0, 0]));
    entries.extend([0, 0]);
    let info = unit(&entries).leak();
    for (length, is_too_long) in [(500, false), (1000, true)] {
        let strings = [vec![b'n'; length], vec![0]].concat().leak();
        let sections = [(Kind::Info, &*info), (Kind::Abbrev, abbreviations), (Kind::Str, strings)];
        let (_, _, names, problems) = read(&Object::new(&sections));
        assert_eq!(names.len(), 2);
        assert_eq!(problems.len(), usize::from(is_too_long));
        assert!(problems.iter().all(|problem| problem.1.contains("too long a name")));
    }
}
