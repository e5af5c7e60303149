//! Objects that get or lose lists of ranges or places in their debug information as a whole.

use weld_testkit::elf::*;
use weld_testkit::mutate::Rng;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::objects::Project;

/// An object with so many entries in each kind of list; none if that is 0.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    ranges: usize,
    old_ranges: usize,
    places: usize,
    aranges: usize,
    /// Bytes of other debug information.
    abbreviations: usize,
}

/// A table with a header of its own: its length, the version, and sizes.
fn table(entries: usize) -> Vec<u8> {
    let mut bytes = (8 + 4 * entries as u32).to_le_bytes().to_vec();
    bytes.extend([5, 0, 8, 0, 0, 0, 0, 0]);
    bytes.extend((0..entries).flat_map(|entry| [4, entry as u8, 3, 0]));
    bytes
}

/// One of addresses.
fn addresses(entries: usize) -> Vec<u8> {
    let mut bytes = (28 + 16 * entries as u32).to_le_bytes().to_vec();
    bytes.extend([2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
    bytes.resize(16 + 16 * entries, 7);
    bytes.resize(32 + 16 * entries, 0);
    bytes
}

impl Part {
    fn object(&self, number: usize) -> Vec<u8> {
        let mut obj = Obj::new();
        let text = obj.section(Section::text(".text").bytes(&[0xc3; 16]).align(16));
        let name = if number == 0 { "_start".to_owned() } else { format!("f{number}") };
        obj.symbol(Symbol::global(name).function().at(text, 0).size(16));
        obj.section(Section::debug(".debug_abbrev").bytes(&vec![1; self.abbreviations]));
        // What refers to lists does so by their sections.
        let refers = obj.section(Section::debug(".debug_info.own").bytes(&[0; 40]));
        let lists = [
            (".debug_rnglists", table(self.ranges), self.ranges),
            (".debug_ranges", vec![3; 16 * self.old_ranges], self.old_ranges),
            (".debug_loclists", table(self.places), self.places),
            (".debug_aranges", addresses(self.aranges), self.aranges),
        ];
        for (at, (name, bytes, count)) in lists.into_iter().enumerate() {
            if count > 0 {
                let section = obj.section(Section::debug(name).bytes(&bytes));
                let symbol = obj.section_symbol(section);
                obj.reloc(refers, 8 * at as u64, R_X86_64_32, symbol, 4);
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

const NONE: Part = Part { ranges: 0, old_ranges: 0, places: 0, aranges: 0, abbreviations: 16 };

#[test]
fn lists_come_and_go() {
    for (seed, flags) in (1..).zip([&["--build-id"][..], &["-pie", "--build-id", "--gc-sections"]]) {
        let project = Project::new(&format!("debug-lists-{seed}"), flags);
        let mut rng = Rng::new(seed);
        let mut parts = [NONE; 8];
        for (number, part) in parts.iter_mut().enumerate().filter(|(number, _)| number % 3 == 1) {
            *part = Part { ranges: number, old_ranges: 2, places: 9, aranges: 1, abbreviations: 20 };
        }
        assert!(!is_relinked(&project, &parts));
        let (mut relinked, mut full) = (0, 0);
        for _ in 0..40 {
            let before = parts;
            for _ in 0..=rng.below(2) {
                let part = &mut parts[rng.below(8)];
                let size = rng.below(3) * (1 + rng.below(8));
                match rng.below(5) {
                    0 => part.ranges = size,
                    1 => part.old_ranges = size,
                    2 => part.places = size,
                    3 => part.aranges = size,
                    _ => part.abbreviations = 16 + rng.below(90),
                }
            }
            if parts != before {
                match is_relinked(&project, &parts) {
                    true => relinked += 1,
                    false => full += 1,
                }
            }
        }
        // There is no neighbour, or none has as much room left.
        assert!(relinked > 2 * full, "{relinked} {full}");
    }
}

/// What no object had has no place in the output.
#[test]
fn the_first_list_of_all() {
    let project = Project::new("debug-lists-first", &["--build-id"]);
    let with = |part: Part| [NONE, part, NONE];
    is_relinked(&project, &with(NONE));
    assert!(!is_relinked(&project, &with(Part { ranges: 1, ..NONE })));
    assert!(project.dir.said().contains("'.debug_rnglists' is new"), "{}", project.dir.said());
    // The output has no debug information at all.
    let project = Project::new("debug-lists-stripped", &["-S"]);
    is_relinked(&project, &with(NONE));
    assert!(is_relinked(&project, &with(Part { ranges: 1, ..NONE })), "{}", project.dir.said());
}
