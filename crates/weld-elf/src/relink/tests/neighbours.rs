//! What has outgrown its room takes that of its neighbours.

use std::time::{Duration, SystemTime};

use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::super::memo::Memo;
use super::program::{Function, Program, Seen, bytes};
use super::{Dir, check, link, wait};

/// A function that nobody else sees, with a frame, and a name of some bytes.
fn local(number: usize, name: usize) -> Function {
    Function {
        name: format!("{}{number}", "l".repeat(name)),
        code: vec![0x90; 6],
        refs: Vec::new(),
        weak: false,
        comdat: false,
        seen: Seen::ByItself,
    }
}

const FLAGS: &[&[&str]] = &[
    &["--build-id", "--eh-frame-hdr"],
    &["-pie", "--build-id", "--eh-frame-hdr", "--dynamic-linker=/loader"],
    &["-shared", "-Bsymbolic", "--build-id", "--eh-frame-hdr"],
];

/// Writes a program of so many objects, some of which have been written long ago: what has been written lately has much room.
fn written(dir: &Dir, units: usize, seed: u64) -> Program {
    let program = Program::new(units, seed);
    program.write(&dir.0);
    for unit in 0..14.min(units as u64) {
        let file = std::fs::File::options().append(true).open(dir.path(&format!("{unit}.o"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(9000 + unit)).unwrap();
    }
    program
}

/// An object has many more symbols, names and frames than before, then others have, too, and some have fewer again.
#[test]
fn symbols_names_and_frames_outgrow_their_room() {
    for (seed, flags) in (7..).zip(FLAGS) {
        let dir = Dir::new("runs-move");
        let mut program = written(&dir, 50, seed);
        check(&dir, &program, flags);
        let edits = [(5, 25, 60), (6, 20, 10), (5, 30, 60), (12, 1, 5000), (5, 0, 0), (4, 25, 90)];
        for (number, (unit, count, name)) in edits.into_iter().enumerate() {
            wait();
            let functions = &mut program.units[unit].functions;
            functions.retain(|function| function.seen != Seen::ByItself);
            functions.extend((0..count).map(|number| local(number, name)));
            assert!(check(&dir, &program, flags), "{unit} {count} {flags:?}: {}", dir.said());
            let memo = Memo::decode(&dir.read(".out.weld/state")).unwrap();
            assert!(memo.runs.len() > 1 + number, "{:?}", memo.runs);
            // What has moved is found where it is.
            wait();
            program.units[unit + 1].data[0] ^= 1;
            assert!(check(&dir, &program, flags), "{unit} {count} {flags:?}: {}", dir.said());
        }
    }
}

/// Where there is no more room, all is linked.
#[test]
fn neighbours_have_only_so_much() {
    let dir = Dir::new("runs-full");
    let mut program = written(&dir, 18, 1);
    check(&dir, &program, FLAGS[0]);
    wait();
    program.units[1].functions.push(local(0, 900_000));
    assert!(!check(&dir, &program, FLAGS[0]));
    assert!(dir.said().contains("the names of its symbols would be"), "{}", dir.said());
}

/// Debug information of which one object's fills a part of the file that hashes are made of, or more of it: where these parts
/// end moves, too.
#[test]
fn large_debug_information_takes_room_of_many() {
    let (mut relinked, mut moved) = (0, 0);
    for seed in 0..3 {
        let dir = Dir::new("large-neighbours");
        let mut rng = Rng::new(seed);
        let mut program = Program::new(14, seed);
        for unit in &mut program.units {
            let size = 40_000 + rng.below(600_000);
            unit.debug.extend(bytes(&mut rng, size));
        }
        check(&dir, &program, FLAGS[0]);
        let ends = |dir: &Dir| {
            let memo = Memo::decode(&dir.read(".out.weld/state")).unwrap();
            memo.leaves.iter().flatten().map(|leaf| leaf.offset + leaf.size).collect::<Vec<u64>>()
        };
        for _ in 0..12 {
            let before = ends(&dir);
            let unit = rng.below(program.units.len());
            let debug = &mut program.units[unit].debug;
            match rng.below(3) {
                0 => debug.truncate(debug.len() - 20_000),
                _ => {
                    let size = 20_000 + rng.below(30_000);
                    debug.extend(bytes(&mut rng, size));
                }
            }
            wait();
            if check(&dir, &program, FLAGS[0]) {
                relinked += 1;
                moved += usize::from(ends(&dir) != before);
            }
        }
    }
    assert!(relinked > 25 && moved > 8, "{relinked} {moved}");
}

/// The symbols of an object that has very many are one part of those that hashes are made of, whichever of them change.
#[test]
fn very_many_symbols() {
    let dir = Dir::new("many-symbols");
    let args = ["a.o", "b.o"].map(|name| dir.path(name).into());
    let out = dir.path("out");
    let with = |option| ["--build-id", "-o", out.to_str().unwrap(), option];
    let write = |name: &str, count: usize, first: &str, symbol: &str| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0xc3; 16]).align(16));
        for number in 0..count {
            let name = if number == 0 { first.to_owned() } else { format!("l{number}") };
            obj.symbol(Symbol::local(name).function().at(text, 0).size(1));
        }
        obj.symbol(Symbol::global(symbol).function().at(text, 0).size(1));
        std::fs::write(dir.path(name), obj.build()).unwrap();
        wait();
    };
    write("a.o", 70_000, "first", "_start");
    write("b.o", 10, "first", "other");
    link(&args, &with("--incremental")).unwrap();
    for (count, first) in [(70_000, "another"), (69_990, "first"), (65_000, "first"), (70_005, "first")] {
        write("a.o", count, first, "_start");
        assert_eq!(link(&args, &with("--incremental=verify")), Ok(Vec::new()), "{count}: {}", dir.said());
        assert!(dir.said().starts_with("relinked: "), "{count}: {}", dir.said());
    }
}

/// Many objects outgrow their room at once.
#[test]
fn many_objects_outgrow_their_room() {
    let dir = Dir::new("runs-many");
    let mut program = written(&dir, 60, 3);
    check(&dir, &program, FLAGS[0]);
    for count in [18, 25, 0] {
        wait();
        for unit in [1, 3, 5, 6, 9, 11] {
            let functions = &mut program.units[unit].functions;
            functions.retain(|function| function.seen != Seen::ByItself);
            functions.extend((0..count).map(|number| local(number, 20 + unit)));
        }
        assert!(check(&dir, &program, FLAGS[0]), "{count}: {}", dir.said());
    }
}

/// What is gone may have lain where a part of the file ends that hashes are made of: then what is in front of it does.
#[test]
fn what_is_gone_lay_at_an_end() {
    let dir = Dir::new("gone-at-end");
    let mut program = Program::new(4, 9);
    for (unit, size) in [(0, 19_000), (2, 21_000)] {
        let large = |number| Function { code: vec![0x90; size + 16 * number], ..local(number, 3) };
        program.units[unit].functions.extend((0..24).map(large));
    }
    check(&dir, &program, FLAGS[0]);
    let starts = |dir: &Dir| {
        let memo = Memo::decode(&dir.read(".out.weld/state")).unwrap();
        let mut starts: Vec<u64> = memo.leaves.iter().flatten().map(|leaf| leaf.offset).collect();
        starts.sort_unstable();
        starts
    };
    let (first, whole) = (starts(&dir), program.clone());
    let mut moved = 0;
    let count = whole.units[2].functions.len();
    for number in (count - 20..count).step_by(2) {
        wait();
        program.units[2].functions.clone_from(&whole.units[2].functions);
        program.units[2].functions.drain(number..count.min(number + 2));
        assert!(check(&dir, &program, FLAGS[0]), "{number}: {}", dir.said());
        moved += usize::from(starts(&dir) != first);
    }
    wait();
    assert!(check(&dir, &whole, FLAGS[0]), "{}", dir.said());
    assert!(moved > 0);
}
