//! COMDAT groups of which another object has the copy that stays.

use super::program::{Function, Program, Ref};
use super::{Dir, FLAGS, check};

/// An inline function, in a group of its own.
fn shared(name: &str) -> Function {
    Function {
        name: name.into(),
        code: vec![0x90; 7],
        refs: vec![Ref::Local],
        weak: true,
        comdat: true,
        local: false,
    }
}

/// Unit 1 has a group, and calls it.
fn program(seed: u64) -> Program {
    let mut program = Program::new(4, seed);
    program.units[1].functions.insert(1, shared("inline"));
    program.units[1].functions[0].refs.push(Ref::Call("inline".into()));
    program
}

/// With another copy in a unit, in front of what it has or behind it, that is called there.
fn with(before: &Program, unit: usize, at: usize) -> Program {
    let mut program = before.clone();
    program.units[unit].functions.insert(at, shared("inline"));
    program.units[unit].functions[0].refs.push(Ref::Call("inline".into()));
    program
}

#[test]
fn copies_that_lose_come_and_go() {
    // What a library exports it calls by an entry of the PLT, which is not there.
    for (seed, flags) in (90..).zip(FLAGS).filter(|(_, flags)| **flags != ["-shared", "-O0"]) {
        let dir = Dir::new(&format!("copies-{seed}"));
        let first = program(seed);
        check(&dir, &first, flags);
        for (unit, at) in [(2, 1), (3, 2), (3, 6)] {
            let mut more = with(&first, unit, at);
            assert!(check(&dir, &more, flags), "{flags:?} {unit} {at}: {}", dir.said());
            // What is in it is nothing to anybody.
            more.units[unit].functions[at].code.extend([0x90; 40]);
            assert!(check(&dir, &more, flags), "{flags:?} {unit} {at}: {}", dir.said());
            // What moves is called by objects that have other groups than they had.
            more.units[1].functions[0].code.push(0x90);
            let has_gc = flags.contains(&"--gc-sections");
            assert!(check(&dir, &more, flags) || has_gc, "{flags:?} {unit} {at}: {}", dir.said());
            more.units[2].functions[0].code.push(0x90);
            assert!(check(&dir, &more, flags), "{flags:?} {unit} {at}: {}", dir.said());
            let both = with(&more, if unit == 2 { 3 } else { 2 }, 1);
            assert!(check(&dir, &both, flags), "{flags:?} {unit} {at}: {}", dir.said());
            assert!(check(&dir, &first, flags), "{flags:?} {unit} {at}: {}", dir.said());
        }
    }
}

#[test]
fn another_copy_wins() {
    for (seed, flags) in (90..).zip(FLAGS) {
        let dir = Dir::new(&format!("wins-{seed}"));
        let first = program(seed);
        check(&dir, &first, flags);
        // In front of the one that stayed, there at last, and nowhere.
        assert!(!check(&dir, &with(&first, 0, 1), flags), "{flags:?}");
        let both = with(&first, 3, 1);
        check(&dir, &first, flags);
        check(&dir, &both, flags);
        let mut moved = both.clone();
        moved.units[1].functions.remove(1);
        assert!(!check(&dir, &moved, flags), "{flags:?}");
        check(&dir, &first, flags);
        // Both at once.
        assert!(!check(&dir, &moved, flags), "{flags:?}");
        moved.units[3] = first.units[3].clone();
        check(&dir, &moved, flags);
    }
}

/// A name that another object defines need not be one of the same group.
#[test]
fn a_copy_of_what_has_no_group_stays() {
    for (seed, flags) in (90..).zip(FLAGS) {
        let dir = Dir::new(&format!("stays-{seed}"));
        let mut first = program(seed);
        first.units[1].functions[1].comdat = false;
        check(&dir, &first, flags);
        let more = with(&first, 3, 1);
        assert!(!check(&dir, &more, flags), "{flags:?}: {}", dir.said());
        assert!(!check(&dir, &first, flags), "{flags:?}: {}", dir.said());
        // A strong definition is none, either.
        first.units[1].functions[1].weak = false;
        check(&dir, &first, flags);
        assert!(!check(&dir, &with(&first, 3, 1), flags), "{flags:?}: {}", dir.said());
    }
}
