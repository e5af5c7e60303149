//! Objects that mention names that they did not, or cease to.

use weld_testkit::mutate::Rng;

use super::program::{Program, Ref, Seen};
use super::{Dir, FLAGS, check, wait};

fn call(name: &str) -> Ref {
    Ref::Call(name.into())
}

/// Unit 0 calls functions of all others, and unit 1 calls none of them.
fn program(seed: u64) -> Program {
    let mut program = Program::new(4, seed);
    for function in &mut program.units[1].functions {
        function.refs = vec![Ref::Local];
    }
    let called = ["f1_0", "f1_1", "f2_1", "f3_1", "f3_2", "f4_1"];
    program.units[0].functions[0].refs.extend(called.map(call));
    program
}

/// The calls of a function of unit 1.
fn calls(program: &mut Program, names: &[&str]) {
    program.units[1].functions[0].refs = names.iter().map(|name| call(name)).collect();
}

#[test]
fn calls_of_what_is_there() {
    for (seed, flags) in (60..).zip(FLAGS) {
        let dir = Dir::new(&format!("calls-{seed}"));
        let mut program = program(seed);
        check(&dir, &program, flags);
        for names in [&["f3_1"][..], &["f2_1", "f3_1"], &["f3_1", "f3_2", "f2_1"], &[], &["f3_2"]] {
            calls(&mut program, names);
            assert!(check(&dir, &program, flags), "{flags:?} {names:?}: {}", dir.said());
        }
        // What it calls moves, and so does what it is.
        for unit in [3, 1, 3] {
            program.units[unit].functions[0].code.extend([0x90; 3]);
            assert!(check(&dir, &program, flags), "{flags:?}: {}", dir.said());
        }
        calls(&mut program, &["f3_1"]);
        program.units[3].functions[0].code.truncate(4);
        assert!(check(&dir, &program, flags), "{flags:?}: {}", dir.said());
    }
}

/// A slot that another object has asked for.
#[test]
fn slots_of_what_is_there() {
    let dir = Dir::new("slots");
    let flags: &[&str] = &["-shared", "--build-id"];
    let mut program = program(70);
    program.units[2].functions[0].refs.push(Ref::Slot("f3_1".into(), true));
    check(&dir, &program, flags);
    let refs = |program: &mut Program, reference| program.units[1].functions[0].refs = vec![reference];
    refs(&mut program, Ref::Slot("f3_1".into(), true));
    assert!(check(&dir, &program, flags), "{}", dir.said());
    // Whether others have asked for one, or for an entry of the PLT, is as the program has it.
    for reference in [
        Ref::Slot("f2_2".into(), true),
        Ref::Pointer("f3_1".into()),
        call("f3_2"),
        call("f2_0"),
        call("f4_2"),
    ] {
        refs(&mut program, reference);
        check(&dir, &program, flags);
    }
}

/// Who mentions first what a member of an archive offers says which member that is.
#[test]
fn members_that_a_new_call_wants() {
    let dir = Dir::new("call-wants");
    let mut program = program(71);
    // Both offer it; the first is not wanted until somebody asks for this very name.
    for unit in 0..2 {
        let mut function = program.library[0].functions[2].clone();
        function.name = "both".into();
        function.weak = true;
        function.refs.clear();
        program.library[unit].functions.push(function);
    }
    program.library.swap(0, 1);
    program.library[0].functions.retain(|function| !function.name.starts_with("shared"));
    let flags: &[&str] = &["--build-id"];
    check(&dir, &program, flags);
    let first = program.clone();
    for name in ["both", "f5_1", "nowhere"] {
        calls(&mut program, &[name]);
        assert!(!check(&dir, &program, flags), "{name}");
        check(&dir, &first, flags);
    }
    // Others ask for it, members of archives or not.
    calls(&mut program, &["f4_1"]);
    assert!(check(&dir, &program, flags), "{}", dir.said());
    calls(&mut program, &["f4_0"]);
    check(&dir, &program, flags);
}

#[test]
fn names_that_mean_another() {
    let flags: &[&[&str]] =
        &[&["--wrap=f3_1"], &["--defsym=f3_1=f2_1"], &["--defsym=f9_9=f3_1", "-pie"], &["--defsym=f3_1=64"]];
    for (number, flags) in flags.iter().enumerate() {
        let dir = Dir::new(&format!("another-{number}"));
        let mut program = program(72);
        check(&dir, &program, flags);
        for names in [&["f3_1"][..], &["f2_1", "f9_9"], &["__wrap_f3_1"], &["__real_f3_1"], &["f3_2"]] {
            calls(&mut program, names);
            check(&dir, &program, flags);
        }
    }
}

/// Any calls, of what is there or not, in objects and members.
#[test]
fn random_calls() {
    let (mut relinked, mut all) = (0, 0);
    for (seed, flags) in (80..).zip(FLAGS) {
        let dir = Dir::new(&format!("random-calls-{seed}"));
        let mut rng = Rng::new(seed);
        let mut program = program(seed);
        check(&dir, &program, flags);
        for _ in 0..20 {
            let target = format!("f{}_{}", rng.below(6), rng.below(3));
            let unit = match rng.below(6) {
                0 => &mut program.library[0],
                unit => {
                    let number = unit % program.units.len();
                    &mut program.units[number]
                }
            };
            let first = rng.below(3);
            let refs = &mut unit.functions[first].refs;
            match rng.below(5) {
                0 if !refs.is_empty() => _ = refs.remove(rng.below(refs.len())),
                1 if !refs.is_empty() => refs.rotate_left(1),
                2 => refs.insert(0, Ref::Slot(target, rng.below(2) == 0)),
                _ => refs.insert(0, Ref::Call(target)),
            }
            relinked += usize::from(check(&dir, &program, flags));
            all += 1;
        }
    }
    assert!(relinked * 3 > all, "{relinked} of {all}");
}

/// Who defines a name, or has another copy of it, says that only this link sees it.
#[test]
fn names_become_hidden() {
    for (seed, flags) in (90..).zip(FLAGS) {
        let dir = Dir::new(&format!("hidden-{seed}"));
        let mut program = program(seed);
        program.units[3].functions[2].seen = Seen::InLink;
        check(&dir, &program, flags);
        // What is exported is another matter, and with gc there are more full links in between.
        let is_open = flags.contains(&"-shared") || flags.contains(&"--gc-sections");
        let mut say = |unit: usize, name: &str, seen: Seen, relinks: bool| {
            let all = &mut program.units[unit].functions;
            let all = all.iter_mut().filter(|function| function.name == name);
            all.for_each(|function| function.seen = seen);
            wait();
            let is_relinked = check(&dir, &program, flags);
            assert!(is_open || is_relinked == relinks, "{flags:?} {unit} {name}: {}", dir.said());
            let function = &mut program.units[unit].functions[0];
            function.code.extend([0x90; 2]);
            function.refs.push(call("f2_1"));
            wait();
            check(&dir, &program, flags);
        };
        say(3, "f3_2", Seen::ByAll, true);
        say(3, "f3_2", Seen::InLink, true);
        say(3, "f3_1", Seen::InLink, true);
        say(2, "f2_1", Seen::InLink, true);
        say(3, "f3_1", Seen::ByAll, true);
        // Another object has come to mention it since.
        say(2, "f2_1", Seen::ByAll, false);
        // The first copy counts, and others may say less of it.
        say(0, "shared1", Seen::InLink, true);
        say(2, "shared1", Seen::InLink, true);
        say(2, "shared1", Seen::ByAll, true);
        // One after the other, and back.
        say(0, "shared2", Seen::InLink, true);
        say(1, "shared2", Seen::InLink, true);
        say(0, "shared2", Seen::ByAll, false);
    }
}

/// The same of any names, and calls of these.
#[test]
fn random_visibility() {
    let (mut relinked, mut all) = (0, 0);
    for (seed, flags) in (100..).zip(FLAGS) {
        let dir = Dir::new(&format!("random-hidden-{seed}"));
        let mut rng = Rng::new(seed);
        let mut program = program(seed);
        check(&dir, &program, flags);
        for _ in 0..25 {
            let unit = match rng.below(6) {
                0 => &mut program.library[0],
                unit => &mut program.units[unit % 4],
            };
            let count = unit.functions.len();
            let function = &mut unit.functions[rng.below(count)];
            match rng.below(3) {
                0 => function.refs.push(call(&format!("f{}_{}", rng.below(4), rng.below(3)))),
                1 => function.seen = Seen::ByAll,
                _ => function.seen = Seen::InLink,
            }
            relinked += usize::from(check(&dir, &program, flags));
            all += 1;
        }
    }
    assert!(relinked * 4 > all, "{relinked} of {all}");
}
