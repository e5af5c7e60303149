//! Objects that get or lose functions which run at the start: words of `.init_array`, which are in the order of objects.

use std::ffi::OsString;

use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::{Dir, link, wait};

/// An object that has so many such words, for functions of a given size, and so many of them with a priority.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    words: u64,
    size: usize,
    priority: u64,
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
        obj.section(Section::strings(".comment", 1).bytes(b"compiled\0"));
        obj.build()
    }
}

/// A program, or a library, of such objects.
struct Project {
    dir: Dir,
    flags: &'static [&'static str],
}

impl Project {
    /// Links; whether it was relinked, which is compared with a full link.
    fn is_relinked(&self, parts: &[Part]) -> bool {
        let mut args: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        for (number, part) in parts.iter().enumerate() {
            let (path, object) = (self.dir.path(&format!("{number}.o")), part.object(number));
            if std::fs::read(&path).ok() != Some(object.clone()) {
                std::fs::write(&path, object).unwrap();
            }
            args.push(path.into());
        }
        args.extend(["-o".into(), self.dir.path("out").into()]);
        wait();
        link(&args, &["--incremental"]).unwrap();
        let said = self.dir.said();
        if said.starts_with("relinked") {
            let out = self.dir.read("out");
            let warnings = link(&args, &["--incremental=verify"]).unwrap();
            assert!(
                warnings.is_empty() && self.dir.read("out") == out,
                "{:?} {said} {warnings:?}",
                self.flags
            );
        }
        said.starts_with("relinked")
    }
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
        let project = Project { dir: Dir::new(&format!("init-array-{seed}")), flags };
        let mut rng = Rng::new(seed);
        let mut parts = [Part { words: 0, size: 32, priority: 0 }; 6];
        (parts[0].words, parts[2].words, parts[4].priority) = (1, 2, 1);
        assert!(!project.is_relinked(&parts));
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
                assert!(project.is_relinked(&parts), "{flags:?} {}", project.dir.said());
                relinked += 1;
            }
        }
        assert!(relinked > 12);
    }
}

/// There are no more spare words, the first one goes, and programs have none, or the loader knows them by their values.
#[test]
fn words_that_may_not_come() {
    let parts = |words: [u64; 3]| words.map(|words| Part { words, size: 32, priority: 0 });
    const PACKED: &[&str] = &["-pie", "-z", "pack-relative-relocs", "--dynamic-linker=/loader"];
    let cases = [
        (FLAGS[1], [1, 0, 1], [1, 64, 1], "'.init_array'"),
        (FLAGS[1], [1, 1, 1], [0, 1, 1], "'.init_array'"),
        (FLAGS[1], [0, 0, 0], [0, 1, 0], "'.init_array'"),
        (PACKED, [1, 0, 1], [1, 1, 1], ""),
    ];
    for (number, (flags, before, after, why)) in cases.into_iter().enumerate() {
        let project = Project { dir: Dir::new(&format!("init-array-full-{number}")), flags };
        project.is_relinked(&parts(before));
        assert!(!project.is_relinked(&parts(after)), "{number}");
        assert!(project.dir.said().contains(why), "{number}: {}", project.dir.said());
    }
    // As many as there are.
    let project = Project { dir: Dir::new("init-array-most"), flags: FLAGS[1] };
    project.is_relinked(&parts([1, 0, 1]));
    assert!(project.is_relinked(&parts([1, 63, 1])), "{}", project.dir.said());
    assert!(project.is_relinked(&parts([1, 0, 0])), "{}", project.dir.said());
}
