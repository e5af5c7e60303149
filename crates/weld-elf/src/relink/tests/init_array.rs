//! Objects that get or lose functions which run at the start: words of `.init_array`, which are in the order of objects.

use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::objects::Project;

/// An object that has so many such words, for functions of a given size, and so many of them with a priority.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    words: u64,
    size: usize,
    priority: u64,
    /// Something has words that others may know: they have a name, or are in a group.
    named: bool,
    grouped: bool,
}

impl Part {
    fn object(&self, number: usize) -> Vec<u8> {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&vec![0xc3; self.size]).align(16));
        let name = if number == 0 { "_start".to_owned() } else { format!("f{number}") };
        obj.symbol(Symbol::global(name).function().at(text, 0).size(8));
        let last = self.size as u64 - 8;
        let function = obj.symbol(Symbol::local("construct").function().at(text, last).size(8));
        for (name, count) in [(".init_array", self.words), (".init_array.5", self.priority)] {
            if count > 0 {
                let section = Section::new(name, SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE);
                let section = obj.section(section.bytes(&vec![0; 8 * count as usize]).align(8));
                // As assemblers for AArch64 say that there is data.
                obj.symbol(Symbol::local("$d").at(section, 0));
                (0..count).for_each(|word| obj.reloc(section, 8 * word, R_X86_64_64, function, 0));
            }
        }
        if self.named || self.grouped {
            let array = Section::new(".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE);
            let array = obj.section(array.bytes(&[0; 8]).align(8));
            obj.reloc(array, 0, R_X86_64_64, function, 0);
            let name = obj.symbol(Symbol::weak(format!("known{number}")).object().at(array, 0).size(8));
            if self.grouped {
                obj.comdat(name, &[array]);
            }
        }
        obj.section(Section::strings(".comment", 1).bytes(b"compiled\0"));
        obj.build()
    }
}

/// Links such objects; whether it was relinked.
fn is_relinked(project: &Project, parts: &[Part]) -> bool {
    project.is_relinked((0..).zip(parts).map(|(number, part)| part.object(number)))
}

const FLAGS: [&[&str]; 4] = [
    &["--build-id"],
    &["-pie", "--build-id", "--dynamic-linker=/loader"],
    &["-pie", "--dynamic-linker=/loader", "--gc-sections"],
    &["-shared", "-Bsymbolic"],
];

#[test]
fn words_come_and_go() {
    for (seed, flags) in (1..).zip(FLAGS) {
        let project = Project::new(&format!("init-array-{seed}"), flags);
        let mut rng = Rng::new(seed);
        let mut parts = [Part { words: 0, size: 32, priority: 0, named: false, grouped: false }; 6];
        (parts[0].words, parts[2].words, parts[4].priority) = (1, 2, 1);
        assert!(!is_relinked(&project, &parts));
        let mut relinked = 0;
        for _ in 0..24 {
            let before = parts;
            for _ in 0..=rng.below(2) {
                // Where they begin has a name.
                let part = &mut parts[1 + rng.below(5)];
                match rng.below(3) {
                    0 => part.size = 16 + 8 * rng.below(8),
                    _ => part.words = rng.below(3) as u64,
                }
            }
            if parts != before {
                assert!(is_relinked(&project, &parts), "{flags:?} {}", project.dir.said());
                relinked += 1;
            }
        }
        assert!(relinked > 12);
    }
}

/// There are no more spare words, the first one goes, and programs have none, or the loader knows them by their values.
#[test]
fn words_that_may_not_come() {
    let parts = |words: [u64; 3]| {
        words.map(|words| Part { words, size: 32, priority: 0, named: false, grouped: false })
    };
    const PACKED: &[&str] = &["-pie", "-z", "pack-relative-relocs", "--dynamic-linker=/loader"];
    let cases = [
        (FLAGS[1], [1, 0, 1], [1, 64, 1], "'.init_array'"),
        (FLAGS[1], [1, 1, 1], [0, 1, 1], "'.init_array'"),
        (FLAGS[1], [0, 0, 0], [0, 1, 0], "'.init_array'"),
        (PACKED, [1, 0, 1], [1, 1, 1], ""),
    ];
    for (number, (flags, before, after, why)) in cases.into_iter().enumerate() {
        let project = Project::new(&format!("init-array-full-{number}"), flags);
        is_relinked(&project, &parts(before));
        assert!(!is_relinked(&project, &parts(after)), "{number}");
        assert!(project.dir.said().contains(why), "{number}: {}", project.dir.said());
    }
    // As many as there are.
    let project = Project::new("init-array-most", FLAGS[1]);
    is_relinked(&project, &parts([1, 0, 1]));
    assert!(is_relinked(&project, &parts([1, 63, 1])), "{}", project.dir.said());
    assert!(is_relinked(&project, &parts([1, 0, 0])), "{}", project.dir.said());
}

/// Those that others know by a name, or that are in a group, are in the order of objects as well, and do not move.
#[test]
fn words_of_other_kinds_stay() {
    let none = Part { words: 0, size: 32, priority: 0, named: false, grouped: false };
    let with = |words| Part { words, ..none };
    for odd in
        [Part { named: true, ..none }, Part { grouped: true, ..none }, Part { grouped: true, ..with(1) }]
    {
        let project = Project::new(&format!("init-array-odd-{}-{}", odd.grouped, odd.words), FLAGS[1]);
        is_relinked(&project, &[with(1), none, odd, none, with(1)]);
        for parts in [[with(1), with(1), odd, none, with(1)], [with(1), none, none, none, with(1)]] {
            assert!(!is_relinked(&project, &parts), "{}", project.dir.said());
            is_relinked(&project, &[with(1), none, odd, none, with(1)]);
        }
        // What comes behind them moves nothing that they have.
        let parts = [with(1), none, odd, with(1), with(1)];
        assert!(is_relinked(&project, &parts), "{}", project.dir.said());
        assert!(is_relinked(&project, &[with(1), none, odd, with(2), with(0)]), "{}", project.dir.said());
    }
}
