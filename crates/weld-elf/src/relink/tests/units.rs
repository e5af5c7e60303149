//! Codegen units that come and go: objects that are called so are on the command line, or not.

use std::ffi::OsString;
use std::fs;

use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol, SymbolId};

use super::{Dir, link, wait};

const FLAGS: &[&str] =
    &["--build-id", "--gc-sections", "--eh-frame-hdr", "-pie", "--export-dynamic-symbol=unit1"];

/// Adds a unit of debug information, which refers to a function.
pub fn add_unit(obj: &mut Obj, function: SymbolId) {
    let abbrev = obj.section(Section::debug(".debug_abbrev").bytes(&[1, 0x11, 0, 0x11, 1, 0, 0, 0]));
    let info = [&16u32.to_le_bytes()[..], &[4, 0, 0, 0, 0, 0, 8, 1], &[0; 8]].concat();
    let info = obj.section(Section::debug(".debug_info").bytes(&info));
    let abbrev = obj.section_symbol(abbrev);
    obj.reloc(info, 6, R_X86_64_32, abbrev, 0);
    obj.reloc(info, 12, R_X86_64_64, function, 0);
}

/// A function of each unit: `unit0` calls those of `calls`. All have a unit of debug information, and a frame.
fn unit(number: usize, calls: &[usize], size: u8) -> Vec<u8> {
    let mut obj = Obj::new();
    obj.section(Section::text(".text").align(4));
    let name = if number == 0 { "_start".to_owned() } else { format!("unit{number}") };
    let code = vec![0xcc; usize::from(size) + 5 * calls.len()];
    let text = obj.section(Section::text(format!(".text.{name}")).bytes(&code).align(16));
    let symbol = obj.symbol(Symbol::global(&name).function().at(text, 0).size(code.len() as u64));
    obj.section(Section::strings(".comment", 1).bytes(b"compiled\0"));
    add_unit(&mut obj, symbol);
    let cie = [16, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0];
    let fde = [20, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, code.len() as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let frames = obj.section(Section::rodata(".eh_frame").bytes(&[&cie[..], &fde].concat()).align(8));
    obj.reloc(frames, 28, R_X86_64_PC32, symbol, 0);
    for (at, other) in calls.iter().enumerate() {
        let other = obj.symbol(Symbol::undefined(format!("unit{other}")));
        obj.reloc(text, u64::from(size) + 5 * at as u64 + 1, R_X86_64_PLT32, other, -4);
    }
    obj.build()
}

/// Links units 0 and `others`, which it calls; whether that was relinked, which is verified.
fn check(dir: &Dir, others: &[usize], (random, size): (&str, u8)) -> bool {
    fs::write(dir.path("other.o"), unit(90, &[], 8)).unwrap();
    let mut args: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
    for old in fs::read_dir(&dir.0)
        .unwrap()
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|e| e == "o"))
    {
        if old.file_name().to_string_lossy().ends_with(".rcgu.o") {
            fs::remove_file(old.path()).unwrap();
        }
    }
    for number in [0].iter().chain(others) {
        let path = dir.path(&format!("crate.unit{number}.{random}.rcgu.o"));
        let calls = if *number == 0 { others } else { &[] };
        fs::write(&path, unit(*number, calls, size)).unwrap();
        args.push(path.into());
    }
    args.extend([dir.path("other.o").into(), "-o".into(), dir.path("out").into()]);
    link(&args, &["--incremental"]).unwrap();
    let said = dir.said();
    let is_relinked = said.starts_with("relinked");
    if is_relinked {
        let is = dir.read("out");
        wait();
        assert_eq!(
            link(&args, &["--incremental=verify"]),
            Ok(Vec::new()),
            "{others:?}: {said}, {}",
            dir.said()
        );
        assert!(dir.said().starts_with("relinked") || dir.said().starts_with("nothing"), "{}", dir.said());
        assert!(dir.read("out") == is);
    }
    is_relinked
}

#[test]
fn units_come_and_go() {
    let dir = Dir::new("units");
    let first: &[usize] = &[2, 3, 4];
    assert!(!check(&dir, first, ("aaaaaaa", 40)));
    for (number, others) in [
        &[2, 3, 4, 7][..],
        // In front of others, and by another random word.
        &[1, 2, 3, 4, 7],
        // One that was there at first goes, and comes again.
        &[1, 2, 4, 7],
        &[1, 2, 3, 4, 7],
        // One that has come goes, and others come.
        &[1, 2, 3, 4, 5, 6],
        &[5],
        first,
    ]
    .iter()
    .enumerate()
    {
        wait();
        let random = ["aaaaaaa", "bbbbbbb", "ccccccc"][number % 3];
        assert!(check(&dir, others, (random, 40)), "{others:?}: {}", dir.said());
        // Those that have come are edited like others.
        assert!(check(&dir, others, (random, 48)), "{others:?}: {}", dir.said());
    }
}

#[test]
fn more_units_than_there_is_room_for() {
    let dir = Dir::new("many-units");
    check(&dir, &[1], ("aaaaaaa", 40));
    // Number 90 is another object.
    let many: Vec<usize> = (1..130).filter(|number| *number != 90).collect();
    assert!(!check(&dir, &many, ("aaaaaaa", 40)));
    assert!(dir.said().contains("is new, and there is no room"), "{}", dir.said());
    // From the next full link on there is again.
    let more: Vec<usize> = (1..132).filter(|number| *number != 90).collect();
    assert!(check(&dir, &more, ("aaaaaaa", 40)), "{}", dir.said());
}

/// In another order, the first of two definitions is another one.
#[test]
fn units_in_another_order() {
    let dir = Dir::new("ordered-units");
    check(&dir, &[1, 2, 3], ("aaaaaaa", 40));
    assert!(!check(&dir, &[2, 1, 3, 4], ("aaaaaaa", 40)));
    assert!(dir.said().contains("the command line"), "{}", dir.said());
}
