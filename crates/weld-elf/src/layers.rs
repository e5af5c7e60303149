//! The order of rooms: each imports only what stands before it in [`ROOMS`], so that a reader can begin
//! anywhere and look back only. A test holds the source to it.
//!
//! A machine is the one exception. Its facts (`arch::facts`, `arch::class`) are below everything, as the list
//! says; its scan and its apply are parts of phases, which call them through `arch::Machine`, and so they
//! import what these phases know.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up.
const ROOMS: &[&str] = &[
    // What files are made of.
    "util",
    "ids",
    "elf",
    "crel",
    "compressed",
    "eh_frame",
    // What is asked for.
    "arch",
    "compat_mode",
    "script",
    "options",
    "args",
    "mode",
    // The phases, in the order in which a link goes through them.
    "names",
    "input",
    "resolve",
    "sections",
    "symbols",
    "wording",
    "setup",
    "live",
    "icf",
    "job",
    "section_order",
    "layout",
    "merge_parts",
    "synth",
    "emit",
    "report",
    "relocatable",
    "link",
];

/// Below everything but what files are made of.
const FACTS: &[&str] = &["facts.rs", "class.rs"];

/// A room that imports one above it, and why that has to be.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("layout", "synth", "the relocation sections of --emit-relocs are known when output sections are")];

fn sources(directory: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, list),
            false => list.push(path),
        }
    }
}

/// The rooms that a source file imports, tests and comments aside.
fn imports(text: &str) -> BTreeSet<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    let names = lines.flat_map(|line| line.split("crate::").skip(1));
    names.map(|name| name.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap()).collect()
}

#[test]
fn each_room_imports_what_stands_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let rank = |room: &str| ROOMS.iter().position(|r| *r == room);
    let (mut faults, mut excused) = (Vec::new(), BTreeSet::new());
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        let room = name.split(['/', '.']).next().unwrap();
        if ["lib", "layers"].contains(&room) || name.ends_with("tests.rs") {
            continue;
        }
        let Some(mine) = rank(room) else { panic!("{name}: no such room in the list") };
        let is_facts = FACTS.iter().any(|facts| name == format!("arch/{facts}"));
        for other in imports(&fs::read_to_string(&path).unwrap()) {
            let Some(theirs) = rank(other) else { continue };
            if other == room || theirs < mine || room == "arch" && !is_facts {
                continue;
            }
            match EXCEPTIONS.iter().find(|(from, to, _)| (*from, *to) == (room, other)) {
                Some(exception) => drop(excused.insert(*exception)),
                None => faults.push(format!("{name} imports {other}, which stands above {room}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(excused.len(), EXCEPTIONS.len(), "an exception is not needed any more");
}
