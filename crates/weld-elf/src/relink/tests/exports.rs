//! Names that other modules see come and go.

use std::collections::{BTreeMap, HashSet};

use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::program::{Function, Program, Ref, Seen};
use super::{Dir, check, link};
use crate::elf::*;
use crate::synth::gnu_hash::gnu_hash;
use crate::synth::sysv_hash::sysv_hash;

/// Where nothing that is exported is called otherwise than by its address.
const FLAGS: &[&[&str]] = &[
    &["-pie", "--export-dynamic", "--build-id", "--dynamic-linker=/loader"],
    &["-pie", "--export-dynamic", "--gc-sections", "--dynamic-linker=/loader"],
    &["-shared", "-Bsymbolic", "--build-id"],
    &["-shared", "-Bsymbolic", "--hash-style=gnu", "--eh-frame-hdr"],
];

fn function(name: &str) -> Function {
    Function {
        name: name.into(),
        code: vec![0x90; 9],
        refs: vec![Ref::Local],
        weak: false,
        comdat: false,
        seen: Seen::ByAll,
    }
}

fn with(before: &Program, unit: usize, name: &str) -> Program {
    let mut program = before.clone();
    program.units[unit].functions.push(function(name));
    program
}

/// The names of `.dynsym`, as each hash table finds them.
fn exported(image: &[u8]) -> Vec<String> {
    let format = Format::NATIVE;
    let header = *records::<Ehdr>(image, format, 0, 1).unwrap().first().unwrap();
    let shdrs = records::<Shdr>(image, format, header.e_shoff(), header.e_shnum().into()).unwrap();
    let of = |kind: u32| {
        let shdr = shdrs.iter().find(|shdr| shdr.sh_type() == kind)?;
        Some((shdr, &image[shdr.sh_offset() as usize..][..shdr.sh_size() as usize]))
    };
    let (dynsym, table) = of(SHT_DYNSYM).unwrap();
    let strings = &shdrs[dynsym.sh_link() as usize];
    let strings = &image[strings.sh_offset() as usize..][..strings.sh_size() as usize];
    let symbols = records::<Sym>(table, format, 0, table.len() as u64 / 24).unwrap();
    let word = |table: &[u8], at: usize| u32::from_le_bytes(*table[at..].first_chunk().unwrap());
    let gnu = of(SHT_GNU_HASH).map(|(_, table)| table);
    let sysv = of(SHT_HASH).map(|(_, table)| table);
    let find_gnu = |table: &[u8], name: &[u8], number: u32| {
        let (buckets, first, bloom) = (word(table, 0), word(table, 4), word(table, 8));
        let hash = gnu_hash(name);
        let start = 16 + 8 * bloom as usize;
        let filter = 16 + 8 * ((hash / 64) & (bloom - 1)) as usize;
        let bits = u64::from_le_bytes(*table[filter..].first_chunk().unwrap());
        assert!(bits >> (hash & 63) & bits >> (hash >> 26 & 63) & 1 != 0);
        let mut at = word(table, start + 4 * (hash % buckets) as usize);
        loop {
            let chain = word(table, start + 4 * (buckets + at - first) as usize);
            match at == number {
                true => return assert_eq!(chain | 1, hash | 1),
                false => assert_eq!(chain & 1, 0),
            }
            at += 1;
        }
    };
    let find_sysv = |table: &[u8], name: &[u8], number: u32| {
        let buckets = word(table, 0);
        let mut at = word(table, 8 + 4 * (sysv_hash(name) % buckets) as usize);
        while at != number {
            assert_ne!(at, 0);
            at = word(table, 8 + 4 * (buckets + at) as usize);
        }
    };
    let mut names = Vec::new();
    for (number, symbol) in (0..).zip(symbols.iter()) {
        let rest = &strings[symbol.st_name() as usize..];
        let name = &rest[..memchr::memchr(0, rest).unwrap()];
        if symbol.st_shndx() == SHN_UNDEF || name.is_empty() {
            continue;
        }
        gnu.into_iter().for_each(|table| find_gnu(table, name, number));
        sysv.into_iter().for_each(|table| find_sysv(table, name, number));
        names.push(String::from_utf8(name.to_vec()).unwrap());
    }
    names.sort();
    names
}

#[test]
fn functions_come_and_go() {
    for (seed, flags) in (200..).zip(FLAGS) {
        let dir = Dir::new(&format!("exports-{seed}"));
        let first = Program::new(4, seed);
        check(&dir, &first, flags);
        let all = exported(&dir.read("out"));
        for (unit, name) in [(1, "new"), (3, "other_new"), (1, "new"), (3, "new")] {
            let mut more = with(&first, unit, name);
            assert!(check(&dir, &more, flags), "{flags:?} {name}: {}", dir.said());
            let mut want = all.clone();
            want.push(name.into());
            want.sort();
            assert_eq!(exported(&dir.read("out")), want, "{flags:?}");
            // It is elsewhere, and of another size.
            more.units[unit].functions[0].code.extend([0x90; 5]);
            more.units[unit].functions.last_mut().unwrap().code.push(0x90);
            assert!(check(&dir, &more, flags), "{flags:?} {name}: {}", dir.said());
            assert!(check(&dir, &first, flags), "{flags:?} {name}: {}", dir.said());
            assert_eq!(exported(&dir.read("out")), all, "{flags:?}");
        }
    }
}

/// What the last full link had goes, comes back and is called otherwise.
#[test]
fn names_change() {
    for (seed, flags) in (210..).zip(FLAGS) {
        let dir = Dir::new(&format!("export-renamed-{seed}"));
        let first = with(&Program::new(4, seed), 1, "old");
        check(&dir, &first, flags);
        for name in ["young", "old", "older", "young", "old"] {
            let mut program = first.clone();
            program.units[1].functions.last_mut().unwrap().name = name.into();
            assert!(check(&dir, &program, flags), "{flags:?} {name}: {}", dir.said());
            let names = exported(&dir.read("out"));
            for known in ["old", "young", "older"] {
                assert_eq!(names.iter().any(|other| other == known), known == name, "{flags:?} {known}");
            }
        }
        // Others call it.
        let mut program = first.clone();
        program.units[1].functions.last_mut().unwrap().name = "young".into();
        program.units[2].functions[0].refs.push(Ref::Call("young".into()));
        assert!(check(&dir, &program, flags), "{flags:?}: {}", dir.said());
    }
}

/// Groups that nobody had.
#[test]
fn groups_come_and_go() {
    for (seed, flags) in (220..).zip(FLAGS) {
        let dir = Dir::new(&format!("export-groups-{seed}"));
        let first = Program::new(4, seed);
        check(&dir, &first, flags);
        let mut more = first.clone();
        more.units[1].functions.insert(1, Function { weak: true, comdat: true, ..function("instance") });
        more.units[1].functions[0].refs.push(Ref::Call("instance".into()));
        assert!(check(&dir, &more, flags) || flags.contains(&"--gc-sections"), "{flags:?}: {}", dir.said());
        assert!(exported(&dir.read("out")).contains(&"instance".into()));
        check(&dir, &first, flags);
        assert!(!exported(&dir.read("out")).contains(&"instance".into()));
    }
}

/// As many as have room, until there is none.
#[test]
fn rows_are_used_up() {
    let dir = Dir::new("export-room");
    let flags = FLAGS[0];
    let mut program = Program::new(2, 230);
    check(&dir, &program, flags);
    let mut relinked = 0;
    for number in 0..90 {
        // One that goes leaves its row, and another one takes the next.
        let name = format!("come_{number}");
        program = with(&program, 1, &name);
        let function = program.units[1].functions.last_mut().unwrap();
        (function.code, function.refs) = (Vec::new(), Vec::new());
        if !check(&dir, &program, flags) {
            break;
        }
        relinked += 1;
        program.units[1].functions.pop();
        if !check(&dir, &program, flags) {
            break;
        }
    }
    assert_eq!(relinked, 64);
    assert!(dir.said().contains("no room left for new names"), "{}", dir.said());
}

/// Which names are seen, and what versions they have, the script says.
#[test]
fn versions_of_new_names() {
    let dir = Dir::new("export-versions");
    let script = dir.path("script");
    std::fs::write(&script, "V1 { global: f*; one_*; local: hidden_*; }; V2 { global: two_*; exact; } V1;")
        .unwrap();
    let script = format!("--version-script={}", script.display());
    let flags: &[&str] = &["-shared", "-Bsymbolic", &script, "--undefined-version", "-soname=lib"];
    let first = Program::new(4, 240);
    check(&dir, &first, flags);
    for name in ["one_new", "two_new", "hidden_new", "any_new", "exact"] {
        let more = with(&first, 2, name);
        assert!(check(&dir, &more, flags), "{name}: {}", dir.said());
        let is_seen = exported(&dir.read("out")).contains(&name.into());
        assert_eq!(is_seen, !name.starts_with("hidden"), "{name}");
        assert!(check(&dir, &first, flags), "{name}: {}", dir.said());
    }
    // Scripts that miss a name say so.
    let flags: &[&str] = &["-shared", "-Bsymbolic", flags[2], "-soname=lib", "--no-undefined-version"];
    check(&dir, &with(&first, 2, "exact"), flags);
    assert!(!check(&dir, &first, flags));
}

/// What others may put theirs in the place of is called by entries that are there or not.
#[test]
fn names_that_are_replaced() {
    let dir = Dir::new("export-replaced");
    let flags: &[&str] = &["-shared", "--build-id"];
    let first = Program::new(4, 250);
    check(&dir, &first, flags);
    let more = with(&first, 1, "new");
    assert!(check(&dir, &more, flags), "{}", dir.said());
    assert!(check(&dir, &first, flags), "{}", dir.said());
    let mut called = more.clone();
    called.units[2].functions[0].refs.push(Ref::Call("new".into()));
    check(&dir, &called, flags);
    check(&dir, &more, flags);
    called.units[2].functions[0].refs.push(Ref::Pointer("new".into()));
    check(&dir, &called, flags);
    check(&dir, &first, flags);
}

/// What others may put theirs in the place of is called by a spare entry, also from where it is defined.
#[test]
fn own_functions_take_spare_entries() {
    let dir = Dir::new("export-own");
    let mut obj = Obj::new();
    let text = obj.section(Section::text(".text").bytes(&[0xc3; 64]));
    obj.symbol(Symbol::global("outside").function().at(text, 0).size(1));
    std::fs::write(dir.path("c.o"), obj.build()).unwrap();
    let library = dir.path("libc.so").to_str().unwrap().to_owned();
    link(&[dir.path("c.o").into()], &["-shared", "-soname=libc.so.6", "-o", &library]).unwrap();
    for (number, style) in ["--hash-style=both", "--hash-style=gnu"].into_iter().enumerate() {
        let flags: &[&str] = &["-shared", "--build-id", &library, style];
        let mut first = Program::new(4, 280 + number as u64);
        for unit in 1..4 {
            first.units[unit].functions[0].refs = vec![Ref::Local];
        }
        check(&dir, &first, flags);
        let call = |program: &mut Program, unit: usize, name: &str| {
            program.units[unit].functions[0].refs.push(Ref::Call(name.into()));
        };
        let mut more = with(&first, 1, "new");
        call(&mut more, 1, "new");
        assert!(check(&dir, &more, flags), "{}", dir.said());
        call(&mut more, 2, "new");
        call(&mut more, 3, "outside");
        assert!(check(&dir, &more, flags), "{}", dir.said());
        // It has an entry.
        more.units[1].functions[0].code.push(0x90);
        assert!(check(&dir, &more, flags), "{}", dir.said());
        let mut other = with(&more, 3, "other_new");
        call(&mut other, 3, "other_new");
        assert!(check(&dir, &other, flags), "{}", dir.said());
        // Nobody calls it any more, and it is there; then it is gone, and its entry leads nowhere until it is back.
        let called = other.clone();
        other.units[3].functions[0].refs.pop();
        assert!(check(&dir, &other, flags), "{}", dir.said());
        assert!(check(&dir, &more, flags), "{}", dir.said());
        assert!(check(&dir, &called, flags), "{}", dir.said());
        // The same of one that had an entry when the tables were written.
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
        assert!(!check(&dir, &called, flags), "{}", dir.said());
        assert!(check(&dir, &first, flags), "{}", dir.said());
        assert!(check(&dir, &called, flags), "{}", dir.said());
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
    }
}

/// What others may put theirs in the place of is found by a spare word of the GOT, which the loader fills in; so it may have
/// one as another module may come to replace it.
#[test]
fn own_variables_take_spare_words() {
    let dir = Dir::new("export-words");
    for (number, style) in ["--hash-style=both", "--hash-style=gnu"].into_iter().enumerate() {
        let flags: &[&str] = &["-shared", "--build-id", style];
        let slot = |program: &mut Program, unit: usize, name: &str, may_do_without| {
            program.units[unit].functions[0].refs.push(Ref::Slot(name.into(), may_do_without));
        };
        let mut first = Program::new(4, 283 + number as u64);
        slot(&mut first, 1, "f2_0", true);
        check(&dir, &first, flags);
        // Of a name that was there, and of new ones.
        let mut more = first.clone();
        slot(&mut more, 3, "f1_0", true);
        assert!(check(&dir, &more, flags), "{}", dir.said());
        more = with(&more, 1, "new");
        slot(&mut more, 1, "new", true);
        slot(&mut more, 2, "new", false);
        assert!(check(&dir, &more, flags), "{}", dir.said());
        let mut moved = more.clone();
        moved.units[1].functions[0].code.extend([0x90; 12]);
        assert!(check(&dir, &moved, flags), "{}", dir.said());
        // It goes, and comes back.
        assert!(check(&dir, &first, flags), "{}", dir.said());
        assert!(check(&dir, &moved, flags), "{}", dir.said());
        // The same of one that had a word when the tables were written, be it the first of all.
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
        let mut with_words = with(&Program::new(4, 283), 0, "in_front");
        for name in ["in_front", "f2_0"] {
            slot(&mut with_words, 0, name, true);
        }
        assert!(!check(&dir, &with_words, flags), "{}", dir.said());
        assert!(check(&dir, &Program::new(4, 283), flags), "{}", dir.said());
        assert!(check(&dir, &with_words, flags), "{}", dir.said());
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
    }
}

/// Entries and slots are in the order of definitions.
#[test]
fn definitions_in_another_order() {
    let dir = Dir::new("export-order");
    let flags: &[&str] = &["-shared", "--build-id"];
    let mut program = with(&Program::new(4, 290), 1, "second");
    for name in ["f1_0", "second"] {
        program.units[0].functions[0].refs.push(Ref::Call(name.into()));
    }
    check(&dir, &program, flags);
    let last = program.units[1].functions.pop().unwrap();
    program.units[1].functions.insert(0, last);
    assert!(!check(&dir, &program, flags), "{}", dir.said());
}

/// Any edits of what is exported.
#[test]
fn random_exports() {
    let flags: &[&[&str]] = &[FLAGS[0], FLAGS[1], FLAGS[2], &["-shared"]];
    let (mut relinked, mut all, mut reasons) = (0, 0, BTreeMap::new());
    for (seed, flags) in (260..).zip(flags) {
        let dir = Dir::new(&format!("random-exports-{seed}"));
        let mut rng = Rng::new(seed);
        let mut program = Program::new(4, seed);
        check(&dir, &program, flags);
        for _ in 0..25 {
            let unit = rng.below(4);
            let functions = &mut program.units[unit].functions;
            let group =
                |number| Function { weak: true, comdat: true, ..function(&format!("group_{number}")) };
            match rng.below(6) {
                0 | 1 => functions.push(function(&format!("new_{unit}_{}", rng.below(9)))),
                2 => functions.push(group(rng.below(5))),
                3 => functions.retain(|function| !function.name.starts_with("new_")),
                4 => functions[0].code.push(0x90),
                _ => functions[0].refs.push(Ref::Call(format!("new_{}_{}", rng.below(4), rng.below(9)))),
            }
            let mut names = HashSet::new();
            functions.retain(|function| names.insert(function.name.clone()));
            let all_functions = program.units.iter().flat_map(|unit| &unit.functions);
            let known: HashSet<String> = all_functions.map(|function| function.name.clone()).collect();
            for function in program.units.iter_mut().flat_map(|unit| &mut unit.functions) {
                function.refs.retain(|reference| match reference {
                    Ref::Call(name) => !name.starts_with("new_") || known.contains(name),
                    _ => true,
                });
            }
            if check(&dir, &program, flags) {
                relinked += 1;
            } else {
                let said = dir.said();
                *reasons.entry(said.split(", ").skip(1).collect::<String>()).or_insert(0) += 1;
            }
            all += 1;
        }
    }
    assert!(relinked * 4 > all * 3, "{relinked} of {all}: {reasons:?}");
}
