//! COMDAT groups of which another object has the copy that stays.

use weld_testkit::mutate::Rng;

use super::program::{Function, Program, Ref, Seen, Unit};
use super::{Dir, FLAGS, check};

/// An inline function, in a group of its own.
fn shared(name: &str) -> Function {
    Function {
        name: name.into(),
        code: vec![0x90; 7],
        refs: vec![Ref::Local],
        weak: true,
        comdat: true,
        seen: Seen::ByAll,
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

/// Those of objects that were written to last have as much room as other functions.
#[test]
fn inline_functions_grow() {
    for (seed, flags) in (70..).zip(FLAGS) {
        let dir = Dir::new(&format!("grow-{seed}"));
        let mut program = program(seed);
        check(&dir, &program, flags);
        program.units[1].functions[1].code.extend([0x90; 100]);
        assert!(check(&dir, &program, flags), "{flags:?}: {}", dir.said());
    }
}

/// Those that outgrow their room move, as often as they do, and whoever refers to them knows.
#[test]
fn inline_functions_outgrow_their_room() {
    for (seed, flags) in (70..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("outgrow-{seed}"));
        let mut program = program(seed);
        program.units[2].functions[0].refs.push(Ref::Pointer("inline".into()));
        // Frames of compilers do not know functions by their names.
        program.units[3].frames = false;
        program = with(&program, 3, 1);
        program.units[1].functions.insert(2, shared("second"));
        program.units[1].functions[0].refs.push(Ref::Call("second".into()));
        check(&dir, &program, flags);
        let first = program.clone();
        for size in [300, 301, 900, 20, 2000] {
            program.units[1].functions[1].code.resize(size, 0x90);
            assert!(check(&dir, &program, flags), "{flags:?} {size}: {}", dir.said());
            // And with them others of the object, and those that refer to them.
            program.units[1].functions[0].code.push(0x90);
            assert!(check(&dir, &program, flags), "{flags:?} {size}: {}", dir.said());
            program.units[2].functions[0].code.push(0x90);
            program.units[3].functions[1].code.push(0x90);
            assert!(check(&dir, &program, flags), "{flags:?} {size}: {}", dir.said());
        }
        program.units[1].functions[2].code.resize(500, 0x90);
        assert!(check(&dir, &program, flags), "{flags:?}: {}", dir.said());
        // As it was, where it is now.
        assert!(check(&dir, &first, flags), "{flags:?}: {}", dir.said());
        // A group that has moved goes, and another object has it, with its slot.
        let mut gone = program.clone();
        gone.units[1].functions.remove(1);
        assert!(check(&dir, &gone, flags), "{flags:?}: {}", dir.said());
    }
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

/// A copy in front of the one that stayed takes its place, and one behind it if that goes, wherever they are.
#[test]
fn groups_change_hands() {
    for (seed, flags) in (90..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("wins-{seed}"));
        let mut first = program(seed);
        // Frames of compilers do not know functions by their names.
        first.units.iter_mut().for_each(|unit| unit.frames = unit.functions[0].name == "_start");
        first.units[2].functions[0].refs.push(Ref::Pointer("inline".into()));
        check(&dir, &first, flags);
        let in_front = with(&first, 0, 1);
        let both = with(&first, 3, 1);
        let all = with(&in_front, 3, 2);
        let mut moved = both.clone();
        moved.units[1] = without(&first.units[1]);
        let mut only_first = in_front.clone();
        only_first.units[1] = moved.units[1].clone();
        let history = [
            &in_front,
            &first,
            &both,
            &moved,
            &both,
            &in_front,
            &all,
            &both,
            &moved,
            &all,
            &only_first,
            &first,
            &moved,
            &first,
            &only_first,
            &in_front,
            &first,
        ];
        for (step, program) in history.into_iter().enumerate() {
            assert!(check(&dir, program, flags), "{flags:?} {step}: {}", dir.said());
            // What is there is of any size.
            let mut larger = program.clone();
            for unit in &mut larger.units {
                for function in unit.functions.iter_mut().filter(|function| function.name == "inline") {
                    function.code.resize(9 + step * 20, 0x90);
                }
                unit.functions[2].code.push(0x90);
            }
            assert!(check(&dir, &larger, flags), "{flags:?} {step}: {}", dir.said());
        }
    }
}

/// A unit that neither has the group nor calls it.
fn without(unit: &Unit) -> Unit {
    let mut unit = unit.clone();
    unit.functions.retain(|function| function.name != "inline");
    let calls = |of: &Ref| matches!(of, Ref::Call(name) if name == "inline");
    unit.functions.iter_mut().for_each(|function| function.refs.retain(|of| !calls(of)));
    unit
}

/// Nobody has it at last, or as something else, and others ask for it.
#[test]
fn groups_that_do_not_change_hands() {
    for (seed, flags) in (90..).zip(FLAGS) {
        let dir = Dir::new(&format!("stays-behind-{seed}"));
        let first = program(seed);
        let both = with(&first, 3, 1);
        check(&dir, &both, flags);
        let mut none = both.clone();
        none.units[1].functions.remove(1);
        none.units[3] = first.units[3].clone();
        assert!(!check(&dir, &none, flags), "{flags:?}");
        // A strong definition, in a group and in none.
        for comdat in [true, false] {
            check(&dir, &first, flags);
            let mut strong = with(&first, 0, 1);
            (strong.units[0].functions[1].weak, strong.units[0].functions[1].comdat) = (false, comdat);
            assert!(!check(&dir, &strong, flags), "{flags:?}");
        }
        // Who has it has it in no group any more, and another copy stays then, of which nobody knows.
        check(&dir, &both, flags);
        let mut plain = both.clone();
        plain.units[1].functions[1].comdat = false;
        check(&dir, &plain, flags);
        check(&dir, &first, flags);
        check(&dir, &with(&both, 0, 1), flags);
        plain = with(&both, 0, 1);
        plain.units[0].functions[1].comdat = false;
        check(&dir, &plain, flags);
        check(&dir, &first, flags);
        let mut plain = both.clone();
        plain.units[3].functions[1].comdat = false;
        check(&dir, &plain, flags);
        plain.units[1].functions.remove(1);
        check(&dir, &plain, flags);
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
        let mut more = with(&first, 3, 1);
        assert!(!check(&dir, &more, flags), "{flags:?}: {}", dir.said());
        // It is known to be there though it does not count: what an object has, it has.
        more.units[3].functions[2].code.push(0x90);
        assert!(check(&dir, &more, flags), "{flags:?}: {}", dir.said());
        more.units[3].functions[1].code[0] ^= 1;
        assert!(check(&dir, &more, flags), "{flags:?}: {}", dir.said());
        // It goes as a group does of which nobody else has a copy.
        check(&dir, &first, flags);
        // A strong definition is none, either.
        first.units[1].functions[1].weak = false;
        check(&dir, &first, flags);
        assert!(!check(&dir, &with(&first, 3, 1), flags), "{flags:?}: {}", dir.said());
    }
}

/// Of groups with a name that another object has in none, the first one's copy stays though it does not count. If it is not
/// there any more, or in no group, the next one's does.
#[test]
fn copies_of_what_has_no_group_change_hands() {
    for (seed, flags) in (90..).zip(FLAGS) {
        let dir = Dir::new(&format!("beside-{seed}"));
        let mut first = program(seed);
        first.units[0].functions.push(Function { comdat: false, ..shared("inline") });
        first.units[1].functions[1].code.push(0xcc);
        let both = with(&first, 2, 1);
        check(&dir, &both, flags);
        let mut gone = both.clone();
        gone.units[1] = without(&first.units[1]);
        assert!(!check(&dir, &gone, flags), "{flags:?}: {}", dir.said());
        assert!(!check(&dir, &both, flags), "{flags:?}: {}", dir.said());
        let mut plain = both.clone();
        plain.units[1].functions[1].comdat = false;
        assert!(!check(&dir, &plain, flags), "{flags:?}: {}", dir.said());
        assert!(!check(&dir, &both, flags), "{flags:?}: {}", dir.said());
        // Without another copy it goes, where anything may.
        std::fs::remove_dir_all(dir.path(".out.weld")).unwrap();
        assert!(!check(&dir, &first, flags), "{flags:?}: {}", dir.said());
        let mut only = first.clone();
        only.units[1] = without(&first.units[1]);
        let may_go = flags_of_new().any(|open| open == *flags);
        assert!(check(&dir, &only, flags) || !may_go, "{flags:?}: {}", dir.said());
    }
}

/// Groups that were there from the start go, and come again, in any order, if nobody else has a copy.
#[test]
fn groups_that_were_there_come_and_go() {
    for (seed, flags) in (120..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("were-{seed}"));
        let mut none = Program::new(4, seed);
        none.units[3].frames = false;
        let all = ["one", "two", "three"];
        let having = |names: &[&str]| {
            let mut program = none.clone();
            for name in names {
                program = with_new(&program, 2, name, 9 + name.len());
            }
            program
        };
        check(&dir, &having(&all), flags);
        for names in [&all[1..], &all[..], &all[..1], &[], &all[..2], &["two", "one"], &all[2..], &all[..]] {
            assert!(check(&dir, &having(names), flags), "{flags:?} {names:?}: {}", dir.said());
            // Others of the object move, and so does what is there again.
            let mut moved = having(names);
            moved.units[2].functions.last_mut().unwrap().code.push(0x90);
            assert!(check(&dir, &moved, flags), "{flags:?} {names:?}: {}", dir.said());
            if names.len() > 1 {
                moved.units[2].functions[1].code.resize(200, 0x90);
                assert!(check(&dir, &moved, flags), "{flags:?} {names:?}: {}", dir.said());
            }
        }
        // Another object has a copy, which is there at last.
        let both = with_new(&having(&all), 3, "one", 12);
        check(&dir, &both, flags);
        let mut other = both.clone();
        other.units[2] = none.units[2].clone();
        assert!(check(&dir, &other, flags), "{flags:?}: {}", dir.said());
        assert!(check(&dir, &none, flags), "{flags:?}: {}", dir.said());
        assert!(check(&dir, &both, flags), "{flags:?}: {}", dir.said());
    }
}

/// Flags with which groups may be new: nothing is exported, and nobody asks who refers to what.
fn flags_of_new() -> impl Iterator<Item = &'static [&'static str]> {
    let is_bound = |flags: &[&str]| !flags.contains(&"-shared") || flags.contains(&"-Bsymbolic");
    FLAGS.iter().copied().filter(move |flags| is_bound(flags) && !flags.contains(&"--gc-sections"))
}

/// With a group that nobody else may have, in a unit that calls it.
fn with_new(before: &Program, unit: usize, name: &str, size: usize) -> Program {
    let mut program = before.clone();
    let code = vec![0x90; size];
    program.units[unit].functions.insert(1, Function { code, ..shared(name) });
    program.units[unit].functions[0].refs.push(Ref::Call(name.into()));
    program
}

#[test]
fn groups_that_nobody_had_come_and_go() {
    for (seed, flags) in (190..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("new-{seed}"));
        let first = Program::new(4, seed);
        check(&dir, &first, flags);
        for unit in [1, 2, 3] {
            let one = with_new(&first, unit, "fresh", 9);
            assert!(check(&dir, &one, flags), "{flags:?} {unit}: {}", dir.said());
            let larger = with_new(&first, unit, "fresh", 300);
            assert!(check(&dir, &larger, flags), "{flags:?} {unit}: {}", dir.said());
            let two = with_new(&larger, unit, "second", 20);
            assert!(check(&dir, &two, flags), "{flags:?} {unit}: {}", dir.said());
            // Others call it, and it moves then.
            let mut called = two.clone();
            called.units[(unit + 1) % 4].functions[0].refs.push(Ref::Call("fresh".into()));
            assert!(check(&dir, &called, flags), "{flags:?} {unit}: {}", dir.said());
            called.units[unit].functions[2].code.extend([0x90; 500]);
            assert!(check(&dir, &called, flags), "{flags:?} {unit}: {}", dir.said());
            assert!(check(&dir, &two, flags), "{flags:?} {unit}: {}", dir.said());
            // What a function of the object is moves, and the group stays.
            let mut moved = one.clone();
            moved.units[unit].functions[0].code.extend([0x90; 16]);
            assert!(check(&dir, &moved, flags), "{flags:?} {unit}: {}", dir.said());
            assert!(check(&dir, &first, flags), "{flags:?} {unit}: {}", dir.said());
        }
        // Two objects at once, then the one behind alone, which is a matter of a full link. (So are both here, where
        // frames know functions by their names; those of compilers do not.)
        let both = with_new(&with_new(&first, 1, "twice", 9), 3, "twice", 9);
        check(&dir, &both, flags);
        let mut behind = both.clone();
        behind.units[1] = first.units[1].clone();
        check(&dir, &behind, flags);
        check(&dir, &both, flags);
        check(&dir, &first, flags);
    }
}

/// Where it cannot be relinked, a full link follows: after a name was known, without room, and of groups that have the
/// same signature and other names.
#[test]
fn groups_that_somebody_knew_are_linked_fully() {
    for (seed, flags) in (190..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("known-{seed}"));
        let mut first = Program::new(4, seed);
        let mut wanted = Function { weak: false, comdat: false, ..shared("wanted") };
        wanted.refs.clear();
        first.units[0].functions[1].refs.push(Ref::Call("wanted".into()));
        first.units[3].functions.push(wanted);
        check(&dir, &first, flags);
        assert!(!check(&dir, &with_new(&first, 2, "wanted", 9), flags), "{flags:?}");
        check(&dir, &first, flags);
        assert!(!check(&dir, &with_new(&first, 2, "huge", 300 << 10), flags), "{flags:?}");
        check(&dir, &first, flags);
        let plain = with_new(&first, 2, "plain", 9);
        let mut strong = plain.clone();
        strong.units[2].functions[1].comdat = false;
        assert!(check(&dir, &plain, flags), "{flags:?} {}", dir.said());
        // It is the same name, and no group any more, but a section of its own.
        assert!(check(&dir, &strong, flags), "{flags:?} {}", dir.said());
    }
}

/// Whatever the history, the program is that of a full link.
#[test]
fn groups_come_and_go_at_random() {
    for (seed, flags) in (290..).zip(flags_of_new()) {
        let dir = Dir::new(&format!("random-{seed}"));
        let (mut first, mut rng) = (Program::new(4, seed), Rng::new(seed));
        // Frames of compilers do not know functions by their names, so that groups may change hands.
        first.units.iter_mut().for_each(|unit| unit.frames = seed % 2 == 0);
        check(&dir, &first, flags);
        // Which units have which groups, and of what size.
        let mut have = [[0usize; 4]; 4];
        let mut relinked = 0;
        const STEPS: usize = 40;
        for _ in 0..STEPS {
            for _ in 0..=rng.below(2) {
                let (unit, group) = (rng.below(4), rng.below(4));
                have[unit][group] = [0, 9, 9, 9, 60][rng.below(5)];
            }
            let mut program = first.clone();
            for (unit, groups) in have.iter().enumerate() {
                for (group, size) in groups.iter().enumerate().filter(|(_, size)| **size > 0) {
                    program = with_new(&program, unit, &format!("group{group}"), *size);
                }
            }
            if rng.below(3) == 0 {
                program.units[rng.below(4)].functions[0].code.push(0x90);
            }
            relinked += usize::from(check(&dir, &program, flags));
        }
        assert!(relinked * if seed % 2 == 0 { 4 } else { 2 } > STEPS, "{flags:?} {relinked}");
    }
}
