//! Damaged CodeView: a PDB that holds together and a warning, whatever the damage is.

use std::path::PathBuf;

use weld_pdb::msf::read::Msf;
use weld_testkit::codeview::{Body, INT, Section, Symbols, Types};
use weld_testkit::mutate::Rng;

mod whole;
use whole::{Object, verify, write};

struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> TempFile {
        TempFile(std::env::temp_dir().join(format!("weld-pdb-{}-{name}.pdb", std::process::id())))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One record of nearly everything.
fn object() -> Object {
    let mut t = Types::new();
    let forward = t.forward("S");
    let pointer = t.pointer(forward);
    let fields = t.fields(&[("a", INT), ("next", pointer)]);
    let class = t.structure("S", fields, 2);
    let arguments = t.arguments(&[pointer, INT]);
    let procedure = t.procedure(INT, arguments);
    let function = t.function_id(procedure, "f");
    let string = t.string_id("file.h");
    t.record(0x1606, Body::new().u32(class).u32(string).u32(7));
    t.record(0x1603, Body::new().u16(2).u32(string).u32(string));
    t.record(0x1206, Body::new().u16(0x10).u16(0).u32(procedure).u32(8).u16(0).u16(0).u32(procedure));
    let mut symbols = Symbols::new();
    symbols.udt("S", class);
    symbols.constant("K", INT, 7);
    symbols.data("global", class);
    symbols.procedure("f", function, 16);
    symbols.record(0x1103, Body::new().u32(0).u32(0).u32(4).u32(0).u16(0).text("block"));
    symbols.udt("Inner", INT);
    symbols.record(0x113e, Body::new().u32(INT).u16(1).text("local"));
    symbols.record(0x0006, Body::new());
    symbols.record(0x114d, Body::new().u32(0).u32(0).u32(function).u8(1));
    symbols.record(0x114e, Body::new());
    symbols.record(0x1153, Body::new().u32(INT).u32(1).u16(0).text("in_file"));
    symbols.end_procedure();
    symbols.record(0x1168, Body::new().u32(1).u32(function));
    symbols.record(0x1fff, Body::new().u32(0));
    let mut first = Section::new();
    first.subsection(0xf1, &symbols.0);
    first.files(&["a.cpp", "c:\\b.h"]);
    let mut second = Section::new();
    second.lines(1, 16, &[(0, 10), (4, 11)]);
    second.subsection(0xf6, &Body::new().u32(0).u32(function).u32(0).u32(3).0);
    second.subsection(0xf6, &Body::new().u32(1).u32(function).u32(0).u32(3).u32(1).u32(8).0);
    let frame = |at: u32| Body::new().u32(at).u32(8).u32(4).u32(0).u32(0).u32(1).u16(1).u16(0).u32(4).0;
    second.subsection(0xf5, &[&4u32.to_le_bytes()[..], &frame(16), &frame(0)].concat());
    Object { types: t.finish(), precompiled: Vec::new(), sections: vec![first.0, second.0] }
}

fn check(objects: &[Object], file: &TempFile) -> usize {
    let warnings = write(objects, &file.0).unwrap();
    verify(&std::fs::read(&file.0).unwrap());
    warnings.len()
}

#[test]
fn nothing_wrong() {
    let file = TempFile::new("good");
    let objects = [object(), object(), Object::default()];
    // Fixups that do not fit, and a record of an unknown kind.
    assert_eq!(check(&objects, &file), 2);
}

/// What is left out is said, but for what nobody would miss.
#[test]
fn what_is_left_out() {
    let file = TempFile::new("left-out");
    for (kind, what) in [
        (0xf7, Some("ignoring tables of link-time code generation, debug$S subsection kind 0xF7")),
        (0xf9, Some("ignoring tables of managed code, debug$S subsection kind 0xF9")),
        (0xfe, Some("ignoring unknown debug$S subsection kind 0xFE")),
        (0xfd, None),
        (0xff, None),
        (0x100, None),
    ] {
        let mut section = Section::new();
        section.subsection(kind, &[0; 8]);
        let object = Object { sections: vec![section.0], ..Object::default() };
        let warnings = write(&[object.clone(), object], &file.0).unwrap();
        let texts: Vec<&str> = warnings.iter().map(|warning| &warning.message[..]).collect();
        let expected: Vec<String> = what.iter().map(|what| format!("0.obj and 1 more: {what}")).collect();
        assert_eq!(texts, expected);
    }
}

/// A section with the frame of each of many functions: its fixups are asked for no more often than for one.
#[test]
fn many_frames() {
    let file = TempFile::new("frames");
    let mut section = Section::new();
    let frames = 300u32;
    for i in (0..frames).rev() {
        let body = Body::new().u32(0).u32(8 * i).u32(8).u32(4).u32(0).u32(0).u32(0).u16(1).u16(0).u32(4);
        section.subsection(0xf5, &body.0);
    }
    section.subsection(0xf3, b"\0");
    check(&[Object { sections: vec![section.0], ..Object::default() }], &file);
    let bytes = std::fs::read(&file.0).unwrap();
    let msf = Msf::parse(&bytes).unwrap();
    let expected: Vec<u32> = (0..frames).map(|i| 8 * i).collect();
    let addresses = |stream: &[u8]| -> Vec<u32> {
        stream.chunks(32).map(|entry| u32::from_le_bytes(entry[..4].try_into().unwrap())).collect()
    };
    let mut streams = (5..msf.stream_count()).map(|i| msf.stream(i).unwrap());
    assert!(streams.any(|stream| stream.len() == 32 * expected.len() && addresses(&stream) == expected));
}

/// Nothing for a stream of its own.
#[test]
fn only_global_symbols() {
    let file = TempFile::new("globals");
    let mut symbols = Symbols::new();
    symbols.udt("T", INT);
    symbols.data("global", INT);
    let mut section = Section::new();
    section.subsection(0xf1, &symbols.0);
    check(&[Object { sections: vec![section.0], ..Object::default() }], &file);
}

/// What refers to types that are not there is kept, with a type that nobody knows.
#[test]
fn types_that_are_not_there() {
    let file = TempFile::new("types");
    let mut symbols = Symbols::new();
    symbols.data("global", 0x2000);
    let mut section = Section::new();
    section.subsection(0xf1, &symbols.0);
    section.subsection(0xf1, &[]);
    let warnings = write(&[Object { sections: vec![section.0], ..Object::default() }], &file.0).unwrap();
    let texts: Vec<&str> = warnings.iter().map(|warning| &warning.message[..]).collect();
    let missing = "0.obj: 1 references of symbols to types that the object does not have";
    // Fixups where the record has its length, and in the header of a subsection: these stay as they are.
    let header = "2 relocations in .debug$S are not where addresses are, and were left out";
    assert_eq!(texts, [missing, "empty symbols subsection: 0.obj", header]);
    let bytes = std::fs::read(&file.0).unwrap();
    verify(&bytes);
    let msf = Msf::parse(&bytes).unwrap();
    let record = [&[0x0d, 0x11, 7, 0, 0, 0][..], &[0; 6], b"global\0"].concat();
    let holds = |stream: &[u8]| stream.windows(record.len()).any(|part| part == record);
    assert!((5..msf.stream_count()).any(|i| holds(&msf.stream(i).unwrap())));
}

/// Every byte of every section changed.
#[test]
fn changed_bytes() {
    let file = TempFile::new("bytes");
    let good = object();
    let sections = good.sections.len();
    let mut warned = 0;
    for which in 0..=sections {
        let len = if which == sections { good.types.len() } else { good.sections[which].len() };
        for at in 0..len {
            let mut bad = good.clone();
            let bytes = if which == sections { &mut bad.types } else { &mut bad.sections[which] };
            let old = bytes[at];
            for value in [0, 0xff, old ^ 4] {
                let bytes = if which == sections { &mut bad.types } else { &mut bad.sections[which] };
                bytes[at] = value;
                warned += usize::from(check(&[bad.clone(), good.clone()], &file) > 2);
            }
        }
    }
    assert!(warned > 500, "{warned}");
}

/// Sections cut off anywhere, and words that are numbers of records elsewhere.
#[test]
fn cut_and_shuffled() {
    let file = TempFile::new("cut");
    let good = object();
    for section in 0..good.sections.len() {
        for len in 0..good.sections[section].len() {
            let mut bad = good.clone();
            bad.sections[section].truncate(len);
            check(&[bad, good.clone()], &file);
        }
    }
    for len in 0..good.types.len() {
        let mut bad = good.clone();
        bad.types.truncate(len);
        check(&[good.clone(), bad], &file);
    }
    let mut random = Rng::new(5);
    for _ in 0..1000 {
        let mut bad = good.clone();
        for _ in 0..1 + random.below(3) {
            let bytes = match random.below(3) {
                0 => &mut bad.types,
                i => &mut bad.sections[i - 1],
            };
            let at = random.below(bytes.len() / 4) * 4;
            let value = 0x1000 + random.below(14) as u32;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        check(&[bad], &file);
    }
}
