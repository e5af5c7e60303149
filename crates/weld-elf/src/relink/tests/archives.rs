//! Archives that are written anew for one member.

use std::time::{Duration, SystemTime};

use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::program::{Function, Program, Ref, Seen};
use super::{Dir, check, link, wait};

/// Changes a byte of code in a member.
fn change(program: &mut Program, member: usize) {
    program.library[member].functions[0].code[0] ^= 0xff;
}

#[test]
fn members_change() {
    for (without_index, flags) in [
        (false, &["--build-id"][..]),
        (true, &["-pie"]),
        (false, &["--whole-archive"]),
        (true, &["--whole-archive", "-pie"]),
    ] {
        let dir = Dir::new(&format!("members-{without_index}-{}", flags.len()));
        // Flags count for what comes after them.
        let mut program = Program { without_index, first_flags: flags.to_vec(), ..Program::new(3, 21) };
        program.units[1].functions[0].refs.push(Ref::Call("f3_1".into()));
        let is_whole = flags.contains(&"--whole-archive");
        check(&dir, &program, &[]);
        // One more member that nobody asks for.
        let is_possible = !without_index && !is_whole;
        assert_eq!(check(&dir, &program.clone().with_member(), &[]), is_possible, "{}", dir.said());
        assert!(is_possible || dir.said().contains("it has other members"), "{}", dir.said());
        check(&dir, &program, &[]);
        for step in 0..4 {
            if step == 2 {
                wait();
            }
            change(&mut program, 0);
            assert!(check(&dir, &program, &[]), "{flags:?} {}", dir.said());
            assert!(dir.said().starts_with("relinked: 1 section of 1 object"), "{}", dir.said());
            // What is not linked counts only if it tells itself what it offers.
            change(&mut program, 1);
            assert_eq!(check(&dir, &program, &[]), !without_index || is_whole, "{flags:?} {}", dir.said());
            let wanted = match (is_whole, without_index) {
                (true, _) => "relinked: 1 section of 1 object",
                (false, true) => "offers other names",
                (false, false) => "relinked: no input has changed",
            };
            assert!(dir.said().contains(wanted), "{flags:?} {}", dir.said());
        }
    }
}

#[test]
fn members_are_wanted() {
    let dir = Dir::new("wanted");
    let mut program = Program::new(3, 22);
    program.units[1].functions[0].refs.push(Ref::Call("f3_1".into()));
    check(&dir, &program, &[]);
    // The index offers a name that is wanted twice, by another member than before, or no more.
    let mut other = program.clone();
    other.library[1].functions[0].name = "f3_1".into();
    assert!(check(&dir, &other, &[]), "{}", dir.said());
    other.library.swap(0, 1);
    assert!(!check(&dir, &other, &[]), "{}", dir.said());
    // Members are known by their names, and so have changed.
    check(&dir, &program, &[]);
    // A linked member wants another one.
    program.library[0].functions[0].refs[0] = Ref::Call("f4_0".into());
    assert!(!check(&dir, &program, &[]), "{}", dir.said());
    change(&mut program, 1);
    assert!(check(&dir, &program, &[]), "{}", dir.said());
    program.library[1].functions[1].code.push(0x90);
    assert!(check(&dir, &program, &[]), "{}", dir.said());
    // A linked one may offer another name that nobody asks for.
    program.library[1].functions[1].name.push('x');
    assert!(check(&dir, &program, &[]), "{}", dir.said());
}

/// A copy in front of a member's takes its place, though archives offer the name, if the member is linked in any case; and
/// gives it back.
#[test]
fn groups_of_members_change_hands() {
    for (number, flags) in
        [&["--build-id"][..], &["-pie"], &["-shared", "-Bsymbolic"]].into_iter().enumerate()
    {
        let dir = Dir::new(&format!("members-wins-{number}"));
        let mut first = Program::new(3, 26);
        first.units.iter_mut().for_each(|unit| unit.frames = unit.functions[0].name == "_start");
        first.units[1].functions[0].refs.push(Ref::Call("f3_1".into()));
        let inline = Function {
            name: "inline".into(),
            weak: true,
            comdat: true,
            ..first.library[0].functions[0].clone()
        };
        let inline = Function { refs: Vec::new(), seen: Seen::ByAll, ..inline };
        first.library[0].frames = false;
        first.library[0].functions.push(inline.clone());
        let mut in_front = first.clone();
        in_front.units[1].functions.push(inline);
        in_front.units[1].functions[0].refs.push(Ref::Call("inline".into()));
        check(&dir, &first, flags);
        for program in [&in_front, &first, &in_front] {
            assert!(check(&dir, program, flags), "{flags:?} {}", dir.said());
        }
    }
}

/// Who asks no more for what a member offers does not matter, if another object asks for something of it.
#[test]
fn members_that_are_wanted_for_something_else() {
    let dir = Dir::new("wanted-still");
    let mut program = Program::new(3, 24);
    for function in program.units.iter_mut().flat_map(|unit| &mut unit.functions) {
        function.refs.retain(|reference| match reference {
            Ref::Call(name) | Ref::Slot(name, _) | Ref::Pointer(name) => !name.starts_with("f3_"),
            Ref::String(_) | Ref::Local => true,
        });
    }
    let call = |program: &mut Program, unit: usize, name: &str| {
        program.units[unit].functions[0].refs.push(Ref::Call(name.into()));
    };
    let forget = |program: &mut Program, unit: usize| program.units[unit].functions[0].refs.pop();
    call(&mut program, 0, "f3_0");
    call(&mut program, 1, "f3_1");
    let flags: &[&str] = &["--build-id"];
    check(&dir, &program, flags);
    forget(&mut program, 1);
    assert!(check(&dir, &program, flags), "{}", dir.said());
    call(&mut program, 1, "f3_1");
    assert!(check(&dir, &program, flags), "{}", dir.said());
    forget(&mut program, 0);
    assert!(check(&dir, &program, flags), "{}", dir.said());
    // The first one asked for it when the tables were written, and does not now.
    forget(&mut program, 1);
    assert!(!check(&dir, &program, flags), "{}", dir.said());
    // Nobody asks for it alone.
    call(&mut program, 0, "f3_0");
    check(&dir, &program, flags);
    forget(&mut program, 0);
    assert!(!check(&dir, &program, flags), "{}", dir.said());
}

/// A common symbol asks members whether they define the name, which an index does not tell.
#[test]
fn commons_ask_members() {
    use weld_testkit::ar::{Archive, ArchiveKind};
    use weld_testkit::obj::{Obj, Section, Symbol};
    let dir = Dir::new("commons");
    let object = |name: &str, is_real: bool| {
        let mut obj = Obj::new();
        let data = obj.section(Section::data(".data").bytes(&[7; 8]).align(8));
        match is_real {
            true => obj.symbol(Symbol::global(name).at(data, 0).size(8)),
            false => obj.symbol(Symbol::common(name, 8, 8)),
        };
        obj.build()
    };
    let archive = |is_real: bool| {
        let member = object("block", is_real);
        let archive = Archive::new(ArchiveKind::Gnu).member("m.o", &member, &["block"]).build();
        std::fs::write(dir.path("lib.a"), archive).unwrap();
    };
    std::fs::write(dir.path("a.o"), object("block", false)).unwrap();
    let args = |out: &str| [dir.path("a.o"), dir.path("lib.a"), "-o".into(), dir.path(out)].map(Into::into);
    archive(false);
    for is_real in [false, true, false] {
        archive(is_real);
        link(&args("out"), &["--incremental"]).unwrap();
        link(&args("full"), &["--incremental=force-full"]).unwrap();
        assert!(dir.read("out") == dir.read("full"), "{is_real} {}", dir.said());
    }
}

/// Links of `args` with and without a state are the same.
fn is_full(dir: &Dir, args: &[&str]) {
    let all = |out: &str| -> Vec<std::ffi::OsString> {
        let path = |arg: &&str| {
            if arg.starts_with('-') || *arg == "binary" { arg.into() } else { dir.path(arg).into() }
        };
        args.iter().map(path).chain(["-o".into(), dir.path(out).into()]).collect()
    };
    link(&all("out"), &["--incremental"]).unwrap();
    link(&all("full"), &["--incremental=force-full"]).unwrap();
    assert!(dir.read("out") == dir.read("full"), "{}", dir.said());
}

/// Each member of an archive that is linked as a whole is looked at, also one that was no object.
#[test]
fn whole_archives_have_all_their_members() {
    use weld_testkit::ar::{Archive, ArchiveKind};
    use weld_testkit::obj::{Obj, Section, Symbol};
    let dir = Dir::new("whole-archives");
    let data = |name: Option<&str>| {
        let mut obj = Obj::new();
        let data = obj.section(Section::data(".data").bytes(&[7; 8]).align(8));
        if let Some(name) = name {
            obj.symbol(Symbol::global(name).at(data, 0).size(8));
        }
        obj.build()
    };
    std::fs::write(dir.path("a.o"), data(Some("_start"))).unwrap();
    for (step, plugin) in [Vec::new(), data(None), Vec::new()].into_iter().enumerate() {
        let archive = Archive::new(ArchiveKind::Gnu).member("m.o", &data(Some("m")), &["m"]);
        std::fs::write(dir.path("lib.a"), archive.member("plugin.o", &plugin, &[]).build()).unwrap();
        is_full(&dir, &["a.o", "--whole-archive", "lib.a"]);
        assert!(step == 0 || !dir.said().starts_with("relinked"), "{}", dir.said());
        wait();
    }
}

/// A file whose bytes are data is none of the libraries that it looks like.
#[test]
fn embedded_libraries_are_data() {
    use weld_testkit::obj::{Obj, Section, Symbol};
    let dir = Dir::new("embedded");
    for code in [0x90, 0xcc] {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[code; 16]));
        obj.symbol(Symbol::global("_start").function().at(text, 0).size(16));
        std::fs::write(dir.path("a.o"), obj.build()).unwrap();
        link(&[dir.path("a.o").into()], &["-shared", "-o", dir.path("lib.so").to_str().unwrap()]).unwrap();
        std::fs::write(dir.path("b.o"), Obj::new().build()).unwrap();
        is_full(&dir, &["b.o", "-b", "binary", "lib.so"]);
        wait();
    }
}

#[test]
fn an_archive_that_has_rested_changes() {
    let dir = Dir::new("rested");
    let mut program = Program::new(3, 25);
    program.units[1].functions[0].refs.push(Ref::Call("f3_1".into()));
    program.write(&dir.0);
    let rests = |hours: u64| {
        let time = SystemTime::now() - Duration::from_secs(3600 * hours);
        std::fs::File::options().append(true).open(dir.path("lib.a")).unwrap().set_modified(time).unwrap();
    };
    rests(3);
    wait();
    check(&dir, &program, &[]);
    for step in 0..3 {
        change(&mut program, step % 2);
        program.write(&dir.0);
        rests(2 + step as u64 % 2);
        assert!(check(&dir, &program, &[]), "{}", dir.said());
    }
    program.library[0].functions[0].code.push(0x90);
    assert!(check(&dir, &program, &[]), "{}", dir.said());
    program.library[0].functions[0].weak ^= true;
    assert!(!check(&dir, &program, &[]), "{}", dir.said());
}

#[test]
fn a_damaged_archive_says_what_a_full_link_says() {
    let dir = Dir::new("archive-damage");
    let program = Program::new(3, 23);
    check(&dir, &program, &[]);
    let path = dir.path("lib.a");
    let whole = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(1);
    for _ in 0..40 {
        let mut bytes = whole.clone();
        let at = rng.below(bytes.len());
        match rng.below(3) {
            0 => bytes.truncate(at),
            _ => bytes[at] = rng.below(256) as u8,
        }
        std::fs::write(&path, &bytes).unwrap();
        let args = |out: &str| {
            let mut args = program.names(&dir.0);
            args.extend(["-o".into(), dir.path(out).into()]);
            args
        };
        let is = link(&args("out"), &["--incremental"]);
        assert_eq!(is, link(&args("full"), &["--incremental=force-full"]), "{}", dir.said());
        match dir.said().starts_with("relinked") {
            true => assert_eq!(is, link(&args("out"), &["--incremental=verify"]), "{at:#x} {}", dir.said()),
            false => assert!(is.is_err() || dir.read("out") == dir.read("full"), "{at:#x} {}", dir.said()),
        }
    }
}

/// A shared object that is written anew, with other code or other names.
#[test]
fn a_shared_object_changes() {
    let dir = Dir::new("shared");
    let library = |code: u8, name: &str| {
        use weld_testkit::obj::{Obj, Section, Symbol};
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[code; 16]));
        obj.symbol(Symbol::global(name).function().at(text, 0).size(16));
        std::fs::write(dir.path("so.o"), obj.build()).unwrap();
        link(&[dir.path("so.o").into()], &["-shared", "-o", dir.path("lib.so").to_str().unwrap()]).unwrap();
    };
    let program = Program { first_flags: vec![], ..Program::new(3, 24) };
    let so = dir.path("lib.so");
    let flags = [so.to_str().unwrap(), "-pie"];
    library(0x90, "shared_one");
    check(&dir, &program, &flags);
    library(0x90, "shared_one");
    assert!(check(&dir, &program, &flags), "{}", dir.said());
    library(0xcc, "shared_one");
    assert!(check(&dir, &program, &flags), "{}", dir.said());
    library(0xcc, "shared_two");
    assert!(!check(&dir, &program, &flags), "{}", dir.said());
}

/// Names that nothing defines, and that are weakly asked for, are in the same order whether members that nobody reads offer
/// them or not: a full link that is compared with a relink does not know of these.
#[test]
fn what_unread_members_offer_has_no_place() {
    let dir = Dir::new("offered");
    let function = |name: &str, code: &[u8]| {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(format!(".text.{name}")).bytes(code).align(16));
        obj.symbol(Symbol::global(name).function().at(text, 0).size(code.len() as u64));
        (obj, text)
    };
    let (mut start, text) = function("_start", &[0x48, 0x8b, 5, 0, 0, 0, 0].repeat(3));
    let asked = [Symbol::weak_undefined("zz"), Symbol::weak_undefined("aa"), Symbol::undefined("read")];
    for (at, symbol) in (3..).step_by(7).zip(asked) {
        let symbol = start.symbol(symbol);
        start.reloc(text, at, R_X86_64_GOTPCREL, symbol, -4);
    }
    std::fs::write(dir.path("a.o"), start.build()).unwrap();
    // With one more member it is found out anew which are read.
    let write = |code: u8, names: &[&str]| {
        let mut lib = Archive::new(ArchiveKind::Gnu);
        for name in names {
            lib = lib.object(name, &function(name, &[code; 4]).0);
        }
        std::fs::write(dir.path("lib.a"), lib.build()).unwrap();
        wait();
    };
    let args = ["a.o", "lib.a"].map(|name| dir.path(name).into());
    let out = dir.path("out");
    let flags = ["--build-id", "-o", out.to_str().unwrap()];
    let with = |option| [&flags[..], &[option]].concat();
    write(0x90, &["zz", "read"]);
    link(&args, &with("--incremental")).unwrap();
    write(0xc3, &["zz", "read", "new"]);
    assert_eq!(link(&args, &with("--incremental=verify")), Ok(Vec::new()), "{}", dir.said());
    assert!(dir.said().starts_with("relinked: 1 section"), "{}", dir.said());
}
