//! Members of archives that come and go, as codegen units do in what rustc makes of a library.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use weld_common::hash::hash_bytes;
use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol, SymbolId};

use super::units::add_unit;
use super::{Dir, link, link_by, wait};
use weld_common::host::{Host, QuietHost};

/// An object that defines functions, the first of which calls others.
#[derive(Clone, Default)]
struct Part {
    name: &'static str,
    defines: Vec<&'static str>,
    calls: Vec<&'static str>,
    /// Functions that are called by their slots of the GOT, which are not done without.
    slots: Vec<&'static str>,
    /// It has a table of ranges.
    ranges: bool,
    /// It has what tells debuggers of scripts.
    scripts: bool,
    /// It has a variable, so nothing may stand for it.
    variable: bool,
    /// It has variables with sections of their own, to which its first function refers, with values and without.
    variables: Vec<&'static str>,
    zeroes: Vec<&'static str>,
    /// It has what is for link-time optimisation, which no output has.
    bitcode: bool,
    /// It has a pointer to a personality routine, and a frame that says so.
    pad: bool,
    /// Its first function has so many bytes more.
    padding: usize,
    /// It has so many functions that have no names.
    nameless: usize,
}

/// What is in no other function.
fn signature(name: &str) -> [u8; 16] {
    let [a, b] = [0, 1].map(|more| hash_bytes(format!("{name}{more}").as_bytes()).to_le_bytes());
    [a, b].concat().try_into().unwrap()
}

impl Part {
    /// One that defines a function with its own name.
    fn new(name: &'static str, calls: &[&'static str]) -> Part {
        Part { name, defines: vec![name], calls: calls.to_vec(), ..Part::default() }
    }

    fn object(&self) -> Vec<u8> {
        let mut obj = Obj::new();
        obj.section(Section::text(".text").align(4));
        let mut symbols = Vec::new();
        for (number, name) in self.defines.iter().enumerate() {
            let (calls, slots) =
                if number == 0 { (&self.calls[..], &self.slots[..]) } else { (&[][..], &[][..]) };
            let mut code = signature(name).to_vec();
            calls.iter().for_each(|_| code.extend([0xe8, 0, 0, 0, 0]));
            if number == 0 {
                let all = self.variables.iter().chain(&self.zeroes);
                all.for_each(|_| code.extend([0x48, 0x8d, 5, 0, 0, 0, 0]));
            }
            slots.iter().for_each(|_| code.extend([0xff, 0x15, 0, 0, 0, 0]));
            code.resize(code.len() + if number == 0 { self.padding } else { 0 }, 0xcc);
            let text = obj.section(Section::text(format!(".text.{name}")).bytes(&code).align(16));
            let symbol = obj.symbol(Symbol::global(*name).function().at(text, 0).size(code.len() as u64));
            symbols.push((symbol, code.len(), text, calls, slots));
        }
        for number in 0..self.nameless {
            obj.section(Section::text(format!(".text.{number}")).bytes(&[0xc3]));
        }
        if self.variable {
            let data = obj.section(Section::data(".data").bytes(&[7; 8]).align(8));
            obj.symbol(Symbol::local("variable").at(data, 0).size(8));
        }
        let mut places = Vec::new();
        for name in &self.variables {
            let data = Section::data(format!(".data.{name}")).bytes(&signature(name)[..8]).align(8);
            let data = obj.section(data);
            places.push(obj.symbol(Symbol::local(*name).object().at(data, 0).size(8)));
        }
        for name in &self.zeroes {
            let data = obj.section(Section::bss(format!(".bss.{name}"), 16).align(8));
            places.push(obj.symbol(Symbol::local(*name).object().at(data, 0).size(16)));
        }
        if self.bitcode {
            obj.section(Section::debug(".llvmbc").flags(SHF_EXCLUDE).bytes(b"BC as it were"));
        }
        if self.scripts {
            let scripts = Section::strings(".debug_gdb_scripts", 1).flags(SHF_ALLOC);
            let scripts = obj.section(scripts.bytes(b"\x01pretty.py\0"));
            obj.symbol(Symbol::weak("scripts_section").object().at(scripts, 0).size(11));
        }
        obj.section(Section::strings(".comment", 1).bytes(b"compiled\0"));
        add_unit(&mut obj, symbols[0].0);
        if self.ranges {
            obj.section(Section::debug(".debug_ranges").bytes(&[0; 32]));
        }
        obj.section(Section::strings(".debug_str", 1).bytes(b"the compiler\0"));
        for (_, _, text, calls, slots) in &symbols {
            for (at, other) in (17..).step_by(5).zip(calls.iter()) {
                let other = obj.symbol(Symbol::undefined(*other));
                obj.reloc(*text, at, R_X86_64_PLT32, other, -4);
            }
            let mut first = 18 + 5 * calls.len() as u64;
            if *text == symbols[0].2 {
                for (at, place) in (first + 1..).step_by(7).zip(&places) {
                    obj.reloc(*text, at, R_X86_64_PC32, *place, -4);
                }
                first += 7 * places.len() as u64;
            }
            for (at, other) in (first..).step_by(6).zip(slots.iter()) {
                let other = obj.symbol(Symbol::undefined(*other));
                obj.reloc(*text, at, R_X86_64_GOTPCREL, other, -4);
            }
        }
        self.add_frames(&mut obj, &symbols.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>());
        obj.build()
    }

    /// Adds frames of functions of these sizes.
    fn add_frames(&self, obj: &mut Obj, functions: &[(SymbolId, usize)]) {
        let mut bytes = match self.pad {
            false => vec![16, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0],
            // The pointer to the routine is found by a distance to a pointer.
            true => {
                let cie =
                    [24, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'P', b'R', 0, 1, 0x78, 16, 6, 0x9b, 0, 0, 0, 0, 0x1b];
                [&cie[..], &[0; 5]].concat()
            }
        };
        let mut places = Vec::new();
        for (_, size) in functions {
            let start = bytes.len() as u32;
            bytes.extend([20, 0, 0, 0]);
            bytes.extend((start + 4).to_le_bytes());
            places.push(u64::from(start) + 8);
            bytes.extend([0, 0, 0, 0, *size as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let frames = obj.section(Section::rodata(".eh_frame").bytes(&bytes).align(8));
        if self.pad {
            let pointer =
                obj.section(Section::data(".data.DW.ref.rust_eh_personality").bytes(&[0; 8]).align(8));
            let name = "DW.ref.rust_eh_personality";
            let symbol = obj.symbol(Symbol::weak(name).hidden().object().at(pointer, 0).size(8));
            let routine = obj.symbol(Symbol::undefined("rust_eh_personality"));
            obj.reloc(pointer, 0, R_X86_64_64, routine, 0);
            obj.comdat(symbol, &[pointer]);
            obj.reloc(frames, 18, R_X86_64_PC32, symbol, 0);
        }
        for (place, (symbol, _)) in places.into_iter().zip(functions) {
            obj.reloc(frames, place, R_X86_64_PC32, *symbol, 0);
        }
    }
}

/// Programs of units on the command line and members of an archive.
struct Project {
    dir: Dir,
    flags: &'static [&'static str],
    /// Functions that there have been.
    known: BTreeSet<&'static str>,
    steps: usize,
    /// The last link has found out which members are linked, as a full link does.
    has_resolved: bool,
}

/// A program that notes whether names are resolved.
struct Notes(QuietHost, AtomicBool);

impl Host for Notes {
    fn print(&self, text: &[u8]) -> std::io::Result<()> {
        self.0.print(text)
    }

    fn step(&self, name: &'static str) {
        self.1.fetch_or(name == "resolve symbols", Relaxed);
    }
}

impl Project {
    fn new(name: &str, flags: &'static [&'static str]) -> Project {
        Project { dir: Dir::new(name), flags, known: BTreeSet::new(), steps: 0, has_resolved: false }
    }

    /// Links; whether that was relinked, which is verified, and has the functions of a full link.
    fn check(&mut self, units: &[Part], members: &[Part]) -> bool {
        let dir = &self.dir;
        // Not what was there before.
        let mut archive = Archive::new(ArchiveKind::Gnu);
        let random = ["aaaaaaa", "bbbbbbb", "ccccccc"][self.steps % 3];
        self.steps += 1;
        for part in members {
            let name = format!("library.{}.{random}.rcgu.o", part.name);
            let pointer = part.pad.then_some("DW.ref.rust_eh_personality");
            let offers: Vec<&str> = part.defines.iter().copied().chain(pointer).collect();
            archive = archive.member(&name, &part.object(), &offers);
        }
        fs::write(dir.path("lib.rlib"), archive.build()).unwrap();
        let mut args: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        for part in units {
            let path = dir.path(&format!("crate.{}.{random}.rcgu.o", part.name));
            fs::write(&path, part.object()).unwrap();
            args.push(path.into());
        }
        self.known.extend(units.iter().chain(members).flat_map(|part| part.defines.iter().copied()));
        args.extend([dir.path("lib.rlib").into(), "-o".into(), dir.path("out").into()]);
        let host = Notes(QuietHost::new(), AtomicBool::new(false));
        let done = link_by(&host, &args, &["--incremental"]);
        self.has_resolved = host.1.load(Relaxed);
        let said = dir.said();
        let place = args.len() - 1;
        args[place] = dir.path("full").into();
        assert_eq!(done, link(&args, &[]), "{said}");
        args[place] = dir.path("out").into();
        let has = |image: &[u8], name: &str| memchr::memmem::find(image, &signature(name)).is_some();
        let is_there = |name: &&str| units.iter().chain(members).any(|part| part.defines.contains(name));
        if done.is_ok() {
            let (out, full) = (dir.read("out"), dir.read("full"));
            for name in &self.known {
                // With gc, what was there stays.
                let may_stay = self.flags.contains(&"--gc-sections") && is_there(name);
                assert!(has(&out, name) == has(&full, name) || may_stay && has(&out, name), "{name}: {said}");
            }
        }
        let is_relinked = said.starts_with("relinked");
        if is_relinked {
            let is = dir.read("out");
            wait();
            assert_eq!(link(&args, &["--incremental=verify"]), done, "{said}, {}", dir.said());
            assert!(
                dir.said().starts_with("relinked") || dir.said().starts_with("nothing"),
                "{}",
                dir.said()
            );
            assert!(dir.read("out") == is);
        }
        wait();
        is_relinked
    }

    fn relinks(&mut self, units: &[Part], members: &[Part]) {
        assert!(self.check(units, members), "{}", self.dir.said());
    }

    fn is_full(&mut self, units: &[Part], members: &[Part], why: &str) {
        assert!(!self.check(units, members), "{}", self.dir.said());
        assert!(self.dir.said().contains(why), "{}", self.dir.said());
    }
}

const PROGRAMS: [&[&str]; 3] = [
    &["--build-id", "--gc-sections", "--eh-frame-hdr", "-pie"],
    &["--eh-frame-hdr"],
    &["-shared", "-Bsymbolic"],
];

/// The program, which calls these.
fn start(calls: &[&'static str]) -> Part {
    Part::new("_start", calls)
}

#[test]
fn members_come_and_go() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("members-come-{number}"), flags);
        let [a, b, c] = ["a", "b", "c"].map(|name| Part::new(name, &[]));
        project.is_full(&[start(&["a"])], &[a.clone(), c.clone()], "no state");
        // One that is new, in front of the others, and one that it wants.
        let first = Part::new("b", &["c"]);
        project.relinks(&[start(&["a", "b"])], &[first.clone(), a.clone(), c.clone()]);
        // They are edited like others, and those that are new lie elsewhere.
        let edited = Part { defines: vec!["b", "more"], ..first };
        project.relinks(&[start(&["a", "b"])], &[a.clone(), edited.clone(), c.clone()]);
        // Nobody asks for one any more, nor for what it alone asked for.
        project.relinks(&[start(&["a"])], &[edited.clone(), a.clone(), c.clone()]);
        project.relinks(&[start(&["a", "c"])], &[a.clone(), c.clone(), b.clone()]);
        // One that was there at first goes, and comes again.
        project.relinks(&[start(&["c"])], std::slice::from_ref(&c));
        project.relinks(&[start(&["c", "a"])], &[a.clone(), c.clone()]);
        project.relinks(&[start(&["c", "a"])], &[Part::new("a", &["b"]), c, b]);
    }
}

/// Names are resolved again where an object asks for something else than in the last link, or offers it, and not else.
#[test]
fn who_asks_for_the_same_is_not_asked_why() {
    let mut project = Project::new("members-asked", PROGRAMS[0]);
    let [a, b] = ["a", "b"].map(|name| Part::new(name, &[]));
    let longer = |part: &Part, padding| Part { padding, ..part.clone() };
    project.check(&[start(&["a"])], &[a.clone(), b.clone()]);
    let edits = [
        (longer(&start(&["a"]), 4), a.clone(), false),
        (start(&["a", "b"]), a.clone(), true),
        (longer(&start(&["a", "b"]), 4), longer(&a, 8), false),
        (start(&["a", "b"]), Part::new("a", &["b"]), true),
        // It is as it was at first, but somebody else is not.
        (start(&["a"]), Part::new("a", &["b"]), true),
        (longer(&start(&["a"]), 4), longer(&Part::new("a", &["b"]), 4), false),
        (start(&["a"]), a, true),
    ];
    for (number, (first, a, resolves)) in edits.into_iter().enumerate() {
        project.relinks(&[first], &[a, b.clone()]);
        assert_eq!(project.has_resolved, resolves, "{number}: {}", project.dir.said());
    }
}

/// Constructors of members run in the order in which these lie in the archive.
#[test]
fn members_that_change_places_are_linked_fully() {
    let mut project = Project::new("members-order", PROGRAMS[0]);
    let [a, b, c] = ["a", "b", "c"].map(|name| Part::new(name, &[]));
    let units = [start(&["a", "b", "c"])];
    project.check(&units, &[a.clone(), b.clone(), c.clone()]);
    project.is_full(&units, &[b.clone(), a.clone(), c.clone()], "in another order");
    // One goes, and comes again elsewhere.
    project.relinks(&[start(&["b", "c"])], &[b.clone(), c.clone()]);
    project.is_full(&units, &[b, c, a], "in another order");
}

/// Who asks first says which of two members that offer a name is linked.
#[test]
fn members_that_offer_the_same() {
    let mut project = Project::new("members-same", PROGRAMS[0]);
    let both = |name: &'static str| Part { defines: vec![name, "both"], ..Part::new(name, &[]) };
    let units = [start(&["both", "c"])];
    let (a, b, c) = (both("a"), both("b"), Part::new("c", &[]));
    project.check(&units, &[a.clone(), c.clone()]);
    // The second is not asked.
    project.relinks(&units, &[a.clone(), b.clone(), c.clone()]);
    // Now it is the first, and has what the other one had.
    project.relinks(&units, &[b.clone(), a.clone(), c.clone()]);
    // Nobody else offers it then.
    project.relinks(&[start(&["b", "c"])], &[b.clone(), a.clone(), c.clone()]);
    // Who asks for the other one has both, and so an error.
    assert!(!project.check(&[start(&["b", "a"])], &[b, a, c]));
}

/// What an archive offers is not asked for by who has no more than a weak reference, or if the program has it.
#[test]
fn members_that_nobody_asks_for() {
    let mut project = Project::new("members-not-asked", PROGRAMS[0]);
    let a = Part::new("a", &[]);
    project.check(&[start(&["a"])], std::slice::from_ref(&a));
    project.relinks(&[start(&["a"])], &[a.clone(), Part::new("b", &[])]);
    // A unit defines what a member offers, which is not linked for that.
    project.relinks(&[start(&["a", "b"]), Part::new("b", &[])], &[a.clone(), Part::new("b", &[])]);
    project.check(&[start(&["b"]), Part::new("b", &[])], &[a.clone(), Part::new("b", &["a"])]);
}

#[test]
fn members_that_nothing_may_stand_for() {
    let mut project = Project::new("members-odd", PROGRAMS[0]);
    let a = Part::new("a", &[]);
    let odd = Part { variable: true, ..Part::new("odd", &[]) };
    project.check(&[start(&["a"])], std::slice::from_ref(&a));
    project.is_full(&[start(&["a", "odd"])], &[a.clone(), odd.clone()], "is new");
    project.is_full(&[start(&["a"])], std::slice::from_ref(&a), "is gone");
    // Members that have one name are not told apart.
    let twice = [a.clone(), Part { name: "a", ..Part::new("b", &[]) }];
    project.is_full(&[start(&["a", "b"])], &twice, "has other members");
    project.is_full(&[start(&["a"])], &twice, "");
    // More than there are places.
    let names: Vec<&'static str> = (0..120).map(|number| &*format!("n{number}").leak()).collect();
    project.check(&[start(&["a"])], std::slice::from_ref(&a));
    let many: Vec<Part> = names.iter().map(|name| Part::new(name, &[])).chain([a]).collect();
    project.is_full(&[start(&[&["a"][..], &names].concat())], &many, "none of them is free");
}

/// Members and units that have other tables for debuggers than spare objects take their places.
#[test]
fn objects_of_other_kinds_come() {
    let mut project = Project::new("members-kinds", PROGRAMS[0]);
    let with = |name, ranges| Part { ranges, ..Part::new(name, &[]) };
    project.check(&[start(&["a"])], &[with("a", false)]);
    let members = [with("a", false), with("b", true), with("c", false)];
    project.relinks(&[start(&["a", "b", "c"])], &members);
    project.relinks(&[start(&["a", "b", "c", "d"]), with("d", true)], &members);
    let edited = Part { defines: vec!["d", "more"], ..with("d", true) };
    project.relinks(&[start(&["a", "b", "c", "d"]), edited], &members);
}

/// A function that is called by a slot of the GOT for the first time takes a spare one, until it is gone.
#[test]
fn slots_are_asked_for() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("new-slots-{number}"), flags);
        let calls = |slots: &[&'static str]| Part { slots: slots.to_vec(), ..start(&["a"]) };
        let [a, b, c] = ["a", "b", "c"].map(|name| Part::new(name, &[]));
        project.check(&[calls(&["c"])], &[a.clone(), c.clone()]);
        // Of one that is there, and of one that is new.
        project.relinks(&[calls(&["a", "c"])], &[a.clone(), c.clone()]);
        project.relinks(&[calls(&["b", "a", "c"])], &[a.clone(), b.clone(), c.clone()]);
        // Its function moves.
        let edited = Part { defines: vec!["b", "more"], ..b.clone() };
        project.relinks(&[calls(&["b", "a", "c"])], &[a.clone(), edited, c.clone()]);
        project.relinks(&[calls(&["a", "c"])], &[a.clone(), b.clone(), c.clone()]);
        // It is gone, and others take its slot.
        project.relinks(&[calls(&["a", "d", "c"])], &[a, c, Part::new("d", &[])]);
    }
}

/// A unit, or a member, has its first landing pad: archives offer the pointer to the personality routine, but it has a copy
/// itself, and asks for none.
#[test]
fn the_first_landing_pad_of_an_object() {
    let mut project = Project::new("first-pad", PROGRAMS[0]);
    let pad = |part: Part| Part { pad: true, ..part };
    let routine = pad(Part { defines: vec!["rust_eh_personality"], ..Part::new("std", &[]) });
    let has_routine = start(&["a", "b", "rust_eh_personality"]);
    let (a, b) = (Part::new("a", &[]), Part::new("b", &[]));
    let all = |parts: &[Part]| [parts, std::slice::from_ref(&routine)].concat();
    project.check(&[has_routine.clone(), b.clone()], &all(std::slice::from_ref(&a)));
    project.relinks(&[has_routine.clone(), pad(b.clone())], &all(std::slice::from_ref(&a)));
    project.relinks(&[has_routine.clone(), pad(b.clone())], &all(&[pad(a.clone())]));
    project.relinks(&[has_routine.clone(), b], &all(&[pad(a)]));
    // With a unit that is new.
    let new = pad(Part::new("c", &[]));
    project.relinks(&[start(&["a", "c", "rust_eh_personality"]), new], &all(&[Part::new("a", &[])]));
}

/// A unit, or a member of an archive, gets its first table of ranges, or has none any more.
#[test]
fn the_first_ranges_of_an_object() {
    let mut project = Project::new("first-ranges", PROGRAMS[0]);
    let with = |name, ranges| Part { ranges, ..Part::new(name, &[]) };
    let units = |ranges| [start(&["a", "b"]), with("b", ranges)];
    project.check(&units(false), &[with("a", false)]);
    project.relinks(&units(true), &[with("a", false)]);
    project.relinks(&units(true), &[with("a", true)]);
    project.relinks(&units(false), &[with("a", true)]);
    project.relinks(&units(false), &[with("a", false)]);
    // With another one than before.
    project.relinks(&[start(&["a", "c"]), with("c", true)], &[with("a", true)]);
}

/// A unit tells debuggers of scripts for the first time, as another one does.
#[test]
fn the_first_scripts_of_an_object() {
    let mut project = Project::new("first-scripts", PROGRAMS[0]);
    let with = |part: Part, scripts| Part { scripts, ..part };
    let [a, b] = ["a", "b"].map(|name| Part::new(name, &[]));
    let units = |first, last| [with(start(&["a", "b"]), first), with(b.clone(), last)];
    project.check(&units(true, false), std::slice::from_ref(&a));
    project.relinks(&units(true, true), std::slice::from_ref(&a));
    project.relinks(&units(false, true), &[a]);
}

/// Members of an archive that was written to last have room as objects have.
#[test]
fn members_grow() {
    const NEW: [&str; 24] = [
        "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "m0", "m1", "m2", "m3", "m4", "m5", "m6",
        "m7", "m8", "m9", "l0", "l1", "l2", "l3",
    ];
    let mut project = Project::new("members-grow", PROGRAMS[1]);
    let a = Part::new("a", &[]);
    project.check(&[start(&["a"])], std::slice::from_ref(&a));
    let defines = [&["a"][..], &NEW].concat();
    project.relinks(&[start(&["a"])], &[Part { defines, ..a }]);
}

/// A member is looked at because a function of it is wanted that was not: what the rest of it calls by slots, which is not
/// wanted, takes none.
#[test]
fn slots_of_what_is_not_there() {
    let mut project = Project::new("dead-slots", PROGRAMS[0]);
    let library = Part { defines: vec!["dead", "a", "b", "no"], slots: vec!["no"], ..Part::new("dead", &[]) };
    let all = [library, Part::new("c", &[]), Part::new("d", &[])];
    let calls =
        |calls: &[&'static str], slots: &[&'static str]| Part { slots: slots.to_vec(), ..start(calls) };
    project.check(&[calls(&["a", "d"], &["c"])], &all);
    project.relinks(&[calls(&["a", "b"], &["c", "d"])], &all);
}

/// It is said what there is no room for, how much that is and how much there is.
#[test]
fn what_has_no_room_is_named() {
    let mut project = Project::new("no-room", PROGRAMS[0]);
    let a = Part::new("a", &[]);
    project.check(&[start(&["a"])], std::slice::from_ref(&a));
    const NEW: [&str; 8] = ["b", "c", "d", "e", "f", "g", "h", "i"];
    let padded = |name: &&'static str| Part { padding: 30 << 10, ..Part::new(name, &[]) };
    project.relinks(&[start(&["a", "b"]), padded(&"b")], std::slice::from_ref(&a));
    let all: Vec<Part> = std::iter::once(start(&NEW)).chain(NEW.iter().map(padded)).collect();
    project.is_full(&all, &[a], "is new or has outgrown its room, has 30736 bytes");
    assert!(project.dir.said().contains("bytes are free"), "{}", project.dir.said());
}

/// A function is another object's, as an instance of a generic one in rustc's units.
#[test]
fn names_move() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("members-move-{number}"), flags);
        let with =
            |name, calls: &[&'static str]| Part { defines: vec![name, "instance"], ..Part::new(name, calls) };
        let alone = |name, calls: &[&'static str]| Part::new(name, calls);
        let first = start(&["a", "b", "instance"]);
        for of_archive in [false, true] {
            let mut check = |start: &Part, a: Part, b: Part, is_first| {
                let (units, members) = match of_archive {
                    true => (vec![start.clone()], vec![a, b]),
                    false => (vec![start.clone(), a, b], vec![alone("c", &[])]),
                };
                match is_first {
                    true => _ = project.check(&units, &members),
                    false => project.relinks(&units, &members),
                }
            };
            check(&first, with("a", &[]), alone("b", &[]), true);
            // Who had it refers to it now, or does not.
            check(&first, alone("a", &["instance"]), with("b", &[]), false);
            check(&first, alone("a", &[]), with("b", &[]), false);
            check(&first, with("a", &[]), alone("b", &["instance"]), false);
            check(&first, alone("a", &[]), with("b", &[]), false);
            // It is nowhere, and comes again elsewhere.
            check(&start(&["a", "b"]), alone("a", &[]), alone("b", &[]), false);
            check(&first, with("a", &[]), alone("b", &[]), false);
            check(&start(&["a", "b"]), alone("a", &[]), alone("b", &[]), false);
            check(&first, alone("a", &[]), with("b", &[]), false);
        }
    }
}

/// The same with slots of the GOT, which stay where they are; those of what is gone are empty.
#[test]
fn names_with_slots_move_and_go() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("slots-move-{number}"), flags);
        let with = |name| Part { defines: vec![name, "instance"], ..Part::new(name, &[]) };
        let alone = |name| Part::new(name, &[]);
        let of = |slots: &[&'static str]| Part { slots: slots.to_vec(), ..start(&[]) };
        let all = of(&["a", "instance", "b"]);
        project.check(&[all.clone(), with("a"), alone("b")], &[alone("c")]);
        project.relinks(&[all.clone(), alone("a"), with("b")], &[alone("c")]);
        project.relinks(&[of(&["a", "b"]), alone("a"), alone("b")], &[alone("c")]);
        // Others move meanwhile.
        let large = Part { padding: 40, ..alone("b") };
        project.relinks(&[of(&["a", "b"]), alone("a"), large.clone()], &[alone("c")]);
        project.relinks(&[all.clone(), with("a"), large.clone()], &[alone("c")]);
        project.relinks(&[of(&["b"]), alone("a"), large], &[alone("c")]);
        project.relinks(&[all, alone("a"), with("b")], &[alone("c")]);
    }
}

/// Variables come and go, also the first of their output section, with values and without.
#[test]
fn variables_come_and_go() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("variables-{number}"), flags);
        let with = |variables: &[&'static str], zeroes: &[&'static str]| Part {
            variables: variables.to_vec(),
            zeroes: zeroes.to_vec(),
            ..start(&["a"])
        };
        let a = Part { variables: vec!["kept"], ..Part::new("a", &[]) };
        let members = [Part::new("b", &[])];
        project.check(&[with(&["first", "second"], &["zero"]), a.clone()], &members);
        for variables in [&["first", "second", "third"][..], &["second", "third"], &["first", "second"]] {
            let part = with(variables, &["zero"]);
            project.relinks(&[part, a.clone()], &members);
        }
        for zeroes in [&["zero", "more"][..], &["zero"], &["other", "zero"]] {
            project.relinks(&[with(&["second"], zeroes), a.clone()], &members);
        }
        // A unit that comes brings some.
        let new = Part { variables: vec!["of unit"], zeroes: vec!["too"], ..Part::new("u", &[]) };
        let calling = Part { calls: vec!["a", "u"], ..with(&["second"], &["zero"]) };
        project.relinks(&[calling, a.clone(), new], &members);
    }
}

/// What no output has does not keep an object from coming.
#[test]
fn members_with_bitcode_come() {
    let mut project = Project::new("members-bitcode", PROGRAMS[0]);
    let [a, b] = ["a", "b"].map(|name| Part { bitcode: true, ..Part::new(name, &[]) });
    project.check(&[start(&["c"])], &[a.clone(), b.clone(), Part::new("c", &[])]);
    project.relinks(&[start(&["a", "c"])], &[a.clone(), b.clone(), Part::new("c", &[])]);
    project.relinks(&[start(&["a", "b", "c"])], &[a, b, Part::new("c", &[])]);
}

/// Who mentioned a name when the tables were written does not any more, so it may go.
#[test]
fn names_that_were_mentioned_go() {
    for (number, flags) in PROGRAMS.into_iter().enumerate() {
        let mut project = Project::new(&format!("mentioned-{number}"), flags);
        let first = start(&["a", "b"]);
        let a = Part { defines: vec!["a", "instance"], ..Part::new("a", &[]) };
        let units = |a: &Part, calls: &[&'static str]| [first.clone(), a.clone(), Part::new("b", calls)];
        let members = [Part::new("c", &[])];
        project.check(&units(&a, &["instance"]), &members);
        project.relinks(&units(&a, &[]), &members);
        project.relinks(&units(&Part::new("a", &[]), &[]), &members);
        project.relinks(&units(&a, &["instance"]), &members);
    }
}

/// A unit of which nothing was in the output has frames in it for the first time.
#[test]
fn the_first_frames_of_a_unit() {
    let mut project = Project::new("first-frames", PROGRAMS[0]);
    let (b, members) = (Part::new("b", &[]), [Part::new("a", &[])]);
    project.check(&[start(&["a"]), b.clone()], &members);
    project.relinks(&[start(&["a", "b"]), b.clone()], &members);
    project.relinks(&[start(&["a"]), b], &members);
}

/// What is gone may lie far behind what was in front of it: others have functions only.
#[test]
fn variables_go_that_are_few() {
    let mut project = Project::new("few-variables", &["--build-id"]);
    let many = Part { nameless: 9000, ..Part::new("many", &[]) };
    let first = Part { variables: vec!["first"], ..start(&["a"]) };
    let with = |variables: &[&'static str]| Part { variables: variables.to_vec(), ..Part::new("a", &[]) };
    project.check(&[first.clone(), many.clone(), with(&["gone", "kept"])], &[]);
    project.relinks(&[first, many, with(&["kept"])], &[]);
}

/// Some members of an archive that change are relinked, many are not.
#[test]
fn many_members_change() {
    let mut project = Project::new("many-change", &["--build-id"]);
    let names: Vec<&'static str> = (0..120).map(|number| &*format!("m{number}").leak()).collect();
    let mut members: Vec<Part> = names.iter().map(|name| Part::new(name, &[])).collect();
    let units = [start(&names)];
    project.check(&units, &members);
    members[..64].iter_mut().for_each(|member| member.padding = 1);
    project.relinks(&units, &members);
    members.iter_mut().for_each(|member| member.padding = 2);
    project.is_full(&units, &members, "so many objects have changed");
}
