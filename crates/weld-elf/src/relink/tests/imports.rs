//! Functions of shared objects that nobody called before: they take spare entries of the PLT.

use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::program::{Program, Ref};
use super::{Dir, check, link, wait};

const LOADER: &str = "--dynamic-linker=/lib64/ld-linux-x86-64.so.2";

fn call(name: &str) -> Ref {
    Ref::Call(name.into())
}

/// A library of functions, and a variable.
fn library(dir: &Dir, count: usize) -> String {
    let mut obj = Obj::new();
    let text = obj.section(Section::text(".text").bytes(&[0xc3; 1024]));
    for i in 0..count {
        obj.symbol(Symbol::global(format!("lib{i}")).function().at(text, 8 * i as u64).size(1));
    }
    let data = obj.section(Section::data(".data").bytes(&[1; 8]));
    obj.symbol(Symbol::global("variable").object().at(data, 0).size(8));
    std::fs::write(dir.path("so.o"), obj.build()).unwrap();
    let so = dir.path("lib.so").to_str().unwrap().to_owned();
    link(&[dir.path("so.o").into()], &["-shared", "-soname=lib.so", "-o", &so]).unwrap();
    so
}

/// Unit 0 calls the first function of the library, others none, and what is edited, so that no gc drops it. That has no
/// pointers in data.
fn program(seed: u64) -> Program {
    let mut program = Program::new(3, seed);
    for unit in 1..3 {
        program.units[unit].functions[0].refs = vec![Ref::Local];
    }
    program.units[0].functions[0].refs.extend(["lib0", "f1_0", "f2_0"].map(call));
    program
}

/// The numbers of symbols of `.dynsym` by their names, and how many are local.
fn dynamic(dir: &Dir) -> (Vec<String>, u32) {
    let bytes = dir.read("out");
    let at = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let half = |at: usize| u16::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let headers = (0..usize::from(half(60))).map(|i| at(40) as usize + 64 * i);
    let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let dynsym = headers.clone().find(|shdr| word(shdr + 4) == SHT_DYNSYM).unwrap();
    let strings = at(headers.clone().nth(word(dynsym + 40) as usize).unwrap() + 24) as usize;
    let name = |symbol: usize| {
        let text = &bytes[strings + word(symbol) as usize..];
        String::from_utf8_lossy(&text[..text.iter().position(|b| *b == 0).unwrap()]).into_owned()
    };
    let symbols = (0..at(dynsym + 32) as usize / 24).map(|i| at(dynsym + 24) as usize + 24 * i);
    (symbols.map(name).collect(), word(dynsym + 44))
}

#[test]
fn first_calls_take_spare_entries() {
    for (seed, flags) in (1..).zip([
        &["-pie"][..],
        &["--hash-style=gnu", "-z", "now", "--build-id"],
        &["-pie", "--gc-sections", "--hash-style=sysv"],
    ]) {
        let dir = Dir::new(&format!("imports-{seed}"));
        let so = library(&dir, 40);
        let flags: Vec<&str> = [so.as_str(), LOADER].into_iter().chain(flags.iter().copied()).collect();
        let mut program = program(seed);
        check(&dir, &program, &flags);
        let (_, locals) = dynamic(&dir);
        let mut calls = |unit: usize, names: &[&str]| {
            let calls = names.iter().map(|name| call(name));
            program.units[unit].functions[0].refs = [Ref::Local].into_iter().chain(calls).collect();
            assert!(check(&dir, &program, &flags), "{flags:?} {names:?}: {}", dir.said());
            dynamic(&dir)
        };
        let (names, left) = calls(1, &["lib1"]);
        assert_eq!((&*names[locals as usize - 1], left), ("lib1", locals - 1));
        let (names, left) = calls(1, &["lib3", "lib1", "lib0"]);
        assert_eq!((&*names[locals as usize - 2], left), ("lib3", locals - 2));
        // Others call it then, and who was the first does not any more.
        calls(2, &["lib3"]);
        calls(1, &[]);
        let (names, left) = calls(2, &["lib4"]);
        assert_eq!((&*names[locals as usize - 3], left), ("lib4", locals - 3));
        // What nobody calls keeps its place.
        let (_, left) = calls(2, &["lib1"]);
        assert_eq!(left, locals - 3);
    }
}

/// What is more than a call, or comes from elsewhere, is for a link as a whole.
#[test]
fn what_takes_no_spare_entry() {
    let dir = Dir::new("imports-more");
    let so = library(&dir, 40);
    let flags = [&so, LOADER, "-pie"];
    let first = program(9);
    check(&dir, &first, &flags);
    let mut program = first.clone();
    for reference in [
        Ref::Slot("lib1".into(), true),
        Ref::Slot("lib2".into(), false),
        Ref::Pointer("lib3".into()),
        call("variable"),
        call("nowhere"),
    ] {
        program.units[1].functions[0].refs = vec![reference];
        assert!(!check(&dir, &program, &flags), "{}", dir.said());
        check(&dir, &first, &flags);
    }
    // A slot that is there is for all.
    program.units[1].functions[0].refs = vec![Ref::Slot("lib2".into(), false)];
    check(&dir, &program, &flags);
    check(&dir, &first, &flags);
    assert!(check(&dir, &program, &flags), "{}", dir.said());
    // A call and more.
    program.units[1].functions[0].refs = vec![call("lib4"), Ref::Slot("lib4".into(), true)];
    assert!(!check(&dir, &program, &flags), "{}", dir.said());
    // There are more than there are entries for.
    check(&dir, &first, &flags);
    program.units[1].functions[0].refs = (0..35).map(|i| call(&format!("lib{i}"))).collect();
    assert!(!check(&dir, &program, &flags), "{}", dir.said());
    // No spare ones are there for loaders that may look them up, nor in libraries.
    for flags in [&[&so, "--dynamic-linker=/system/bin/linker64", "-pie"][..], &[&so, "-shared"]] {
        check(&dir, &first, flags);
        program.units[1].functions[0].refs = vec![call("lib1")];
        assert!(!check(&dir, &program, flags), "{}", dir.said());
        let (_, locals) = dynamic(&dir);
        assert_eq!(locals, 1);
    }
}

/// An alignment that a function asks for is no reason for a full link, up to that of all rooms.
#[test]
fn alignments_change() {
    let dir = Dir::new("alignments");
    let object = |align: u64| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0x90; 40]).align(align));
        obj.symbol(Symbol::global("_start").function().at(text, 0).size(40));
        let constants = obj.section(Section::rodata(".rodata").bytes(&[1; 40]).align(align));
        let table = obj.section(Section::rodata(".gcc_except_table").bytes(&[1; 40]).align(align.min(4)));
        for section in [constants, table] {
            let place = obj.section_symbol(section);
            obj.reloc(text, 4, R_X86_64_PC32, place, 0);
        }
        std::fs::write(dir.path("a.o"), obj.build()).unwrap();
    };
    let args = [dir.path("a.o").into(), "-o".into(), dir.path("out").into()];
    object(1);
    link(&args, &["--incremental"]).unwrap();
    for align in [2, 16, 4, 1, 8] {
        object(align);
        link(&args, &["--incremental"]).unwrap();
        assert!(dir.said().starts_with("relinked"), "{align}: {}", dir.said());
        link(&args, &["--incremental=verify"]).unwrap();
        assert!(dir.said().starts_with("relinked"), "{align}: {}", dir.said());
    }
    object(32);
    link(&args, &["--incremental"]).unwrap();
    assert!(dir.said().starts_with("full link"), "{}", dir.said());
}

/// An object that begins to use extensions of a system changes nothing if another one does.
#[test]
fn extensions_of_a_system_that_others_use() {
    const GNU: u8 = 3;
    let dir = Dir::new("extensions");
    let object = |name: &str, function: &str, code: u8, os_abi: u8| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[code; 40]));
        obj.symbol(Symbol::global(function).function().at(text, 0).size(40));
        let mut bytes = obj.build();
        bytes[7] = os_abi;
        std::fs::write(dir.path(name), bytes).unwrap();
    };
    let path = |name: &str| dir.path(name).into();
    let args = [path("a.o"), path("b.o"), "-o".into(), path("out")];
    let link = |code: u8, (a, b): (u8, u8), relinks: bool| {
        object("a.o", "_start", 0x90, a);
        object("b.o", "other", code, b);
        link(&args, &["--incremental"]).unwrap();
        assert_eq!(dir.said().starts_with("relinked"), relinks, "{a} {b}: {}", dir.said());
        link(&args, &["--incremental=verify"]).unwrap();
        assert!(dir.said().starts_with("relinked"), "{a} {b}: {}", dir.said());
    };
    link(0x90, (GNU, 0), false);
    link(0xcc, (GNU, GNU), true);
    link(0x90, (GNU, 0), true);
    link(0x90, (0, 0), false);
    link(0xcc, (0, GNU), false);
    link(0xcc, (0, 0), false);
}

/// A section may have relocations that had none, or cease to, and a symbol that stands for it.
#[test]
fn sections_of_relocations_come_and_go() {
    let dir = Dir::new("relocations");
    let object = |constants: bool, code: bool, group: bool| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0x90; 40]));
        let start = obj.symbol(Symbol::global("_start").function().at(text, 0).size(40));
        let table = obj.section(Section::rodata(".rodata").bytes(&[1; 16]));
        let debug = obj.section(Section::debug(".debug_info").bytes(&[0; 64]));
        if constants {
            obj.reloc(table, 4, R_X86_64_PC32, start, 0);
        }
        if code {
            let place = obj.section_symbol(table);
            obj.reloc(text, 4, R_X86_64_PC32, place, 0);
        }
        obj.reloc(debug, 8, R_X86_64_64, start, 1);
        if group {
            let text = obj.section(Section::text(".text.inlined").bytes(&[0xcc; 8]));
            let inlined = obj.symbol(Symbol::weak("inlined").function().at(text, 0).size(8));
            obj.comdat(inlined, &[text]);
        }
        obj.build()
    };
    let args = [dir.path("a.o").into(), dir.path("b.o").into(), "-o".into(), dir.path("out").into()];
    let mut other = Obj::new();
    let text = other.section(Section::text(".text.inlined").bytes(&[0xcc; 8]));
    let inlined = other.symbol(Symbol::weak("inlined").function().at(text, 0).size(8));
    other.comdat(inlined, &[text]);
    std::fs::write(dir.path("a.o"), other.build()).unwrap();
    std::fs::write(dir.path("b.o"), object(true, true, false)).unwrap();
    link(&args, &["--incremental"]).unwrap();
    for (constants, code, group) in [
        (false, true, false),
        (true, false, true),
        (false, false, true),
        (true, true, false),
        (false, false, false),
    ] {
        std::fs::write(dir.path("b.o"), object(constants, code, group)).unwrap();
        for how in ["--incremental", "--incremental=verify"] {
            link(&args, &[how]).unwrap();
            assert!(dir.said().starts_with("relinked"), "{constants} {code} {group}: {}", dir.said());
        }
    }
}

/// What compilers call of themselves may be called for the first time also if a slot leads to it already.
#[test]
fn compilers_calls_have_entries() {
    let dir = Dir::new("imports-compilers");
    let mut obj = Obj::new();
    let text = obj.section(Section::text(".text").bytes(&[0xc3; 16]));
    for (at, name) in ["lib0", "memcpy"].into_iter().enumerate() {
        obj.symbol(Symbol::global(name).function().at(text, at as u64 * 8).size(1));
    }
    std::fs::write(dir.path("so.o"), obj.build()).unwrap();
    let so = dir.path("lib.so").to_str().unwrap().to_owned();
    link(&[dir.path("so.o").into()], &["-shared", "-soname=lib.so", "-o", &so]).unwrap();
    let flags = [&so, LOADER, "-pie"];
    let mut program = program(21);
    program.units[2].functions[0].refs = vec![Ref::Slot("memcpy".into(), false)];
    check(&dir, &program, &flags);
    program.units[1].functions[0].refs = vec![Ref::Local, call("memcpy")];
    assert!(check(&dir, &program, &flags), "{}", dir.said());
}

/// What only a library defines that is left out, nothing defines: its word of the GOT is behind those of what is there.
#[test]
fn a_library_that_is_left_out_defines_nothing() {
    let dir = Dir::new("left-out");
    let so = library(&dir, 2);
    let write = |byte: u8| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[[0x90; 24], [byte; 24]].concat()).align(16));
        let symbol = obj.symbol(Symbol::global("_start").function().at(text, 0).size(48));
        for (at, asked) in [(3, Symbol::weak_undefined("lib1")), (10, Symbol::weak_undefined("absent"))] {
            let asked = obj.symbol(asked);
            obj.reloc(text, at, R_X86_64_GOTPCREL, asked, -4);
        }
        obj.reloc(text, 17, R_X86_64_GOTPCREL, symbol, -4);
        std::fs::write(dir.path("weak.o"), obj.build()).unwrap();
        wait();
    };
    let args = [dir.path("weak.o").into()];
    let out = dir.path("out");
    for kind in ["-shared", "-pie"] {
        let flags = [kind, "--build-id", "-o", out.to_str().unwrap(), "--as-needed", &so];
        let with = |option| [&flags[..], &[option]].concat();
        write(0x90);
        link(&args, &with("--incremental=force-full")).unwrap();
        write(0xc3);
        assert_eq!(link(&args, &with("--incremental=verify")), Ok(Vec::new()), "{kind}: {}", dir.said());
        assert!(dir.said().starts_with("relinked: 1 section"), "{kind}: {}", dir.said());
    }
}
