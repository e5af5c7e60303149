//! Sections that all variables, constants or tables of an object share, as compilers make them if nothing else is asked
//! for; and what else an object may have for the first time: slots of the GOT, types that are caught, groups under
//! another name.

use std::ffi::OsString;

use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, SectionId, Symbol};

use super::{Dir, link, wait};

/// What an object has that others call: a function that refers to all of it.
#[derive(Clone, Default)]
struct Part {
    /// Bytes of variables, with values and without, of constants, of pointers to the function, of a table of exceptions.
    data: usize,
    zeroes: usize,
    constants: usize,
    pointers: usize,
    exceptions: usize,
    /// What variables are aligned to, if not to 8.
    align: u64,
    /// Its variables have labels, as assembly has them; or no compiler says that it has made the object.
    labels: bool,
    assembled: bool,
    /// It has variables with sections of their own, which have no room and may be anywhere.
    odd: bool,
    /// Bytes of debug information.
    debug: usize,
    /// It mentions the GOT, and refers to a pointer to a type that is caught.
    got: bool,
    caught: bool,
    /// So many local functions stand in front of its thread-local variable.
    locals: usize,
    /// The names of a group's signature, and of the functions in it; and it is referred to as a section, or has constructors.
    group: Option<(&'static str, &'static [&'static str])>,
    refers_to_section: bool,
    constructs: bool,
}

impl Part {
    fn object(&self, name: &str) -> Vec<u8> {
        let mut obj = Obj::new();
        for number in 0..self.locals {
            let text = obj.section(Section::text(format!(".text.local{number}")).bytes(&[0xc3]));
            obj.symbol(Symbol::local(format!("local{number}")).function().at(text, 0).size(1));
        }
        let text_of =
            |obj: &mut Obj, name: &str| obj.section(Section::text(name).bytes(&[0xc3; 200]).align(16));
        let text = text_of(&mut obj, ".text");
        // Compilers have an empty section for each kind of variables.
        let bytes = |byte: u8, size: usize| vec![byte; size];
        let align = if self.align > 0 { self.align } else { 8 };
        let mut shared = Vec::new();
        let data = Section::data(".data").bytes(&bytes(7, self.data)).align(align);
        let zeroes = Section::bss(".bss", self.zeroes as u64).align(align);
        for (kind, section, size) in [("data", data, self.data), ("zeroes", zeroes, self.zeroes)] {
            if !self.odd || size > 0 {
                shared.push((kind, obj.section(section), size));
            }
        }
        if !self.assembled {
            let comment = Section::new(".comment", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS).entsize(1);
            obj.section(comment.bytes(b"compiled\0"));
        }
        let mut more = |obj: &mut Obj, section: Section, of: (&'static str, usize)| {
            if of.1 > 0 {
                shared.push((of.0, obj.section(section.align(8)), of.1));
            }
        };
        more(
            &mut obj,
            Section::rodata(".rodata").bytes(&bytes(9, self.constants)),
            ("constants", self.constants),
        );
        let pointers = Section::data(".data.rel.ro").bytes(&bytes(0, self.pointers));
        more(&mut obj, pointers, ("pointers", self.pointers));
        let table = Section::rodata(".gcc_except_table").bytes(&bytes(1, self.exceptions));
        more(&mut obj, table, ("exceptions", self.exceptions));
        let tls = obj.section(Section::data(".tdata").flags(SHF_TLS).bytes(&[5; 8]).align(8));
        let tls = obj.symbol(Symbol::local("tls").tls().at(tls, 0).size(8));
        let function = obj.symbol(Symbol::global(name).function().at(text, 0).size(200));
        obj.reloc(text, 4, R_X86_64_TPOFF32, tls, 0);
        let mut at = 8;
        let mut refer = |obj: &mut Obj, symbol| {
            obj.reloc(text, at, R_X86_64_PC32, symbol, 0);
            at += 8;
        };
        for (kind, section, size) in shared.into_iter().filter(|(_, _, size)| *size > 0) {
            let symbol = Symbol::local(kind).at(section, 0);
            let symbol = obj.symbol(if self.labels { symbol } else { symbol.object().size(size as u64) });
            refer(&mut obj, symbol);
            if kind == "pointers" {
                (0..size as u64 / 8).for_each(|word| obj.reloc(section, 8 * word, R_X86_64_64, function, 0));
            }
        }
        if self.got {
            obj.symbol(Symbol::undefined("_GLOBAL_OFFSET_TABLE_"));
        }
        if self.caught {
            let section = Section::data(".data.rel.local.DW.ref.type").bytes(&[0; 8]).align(8);
            let section = obj.section(section);
            let pointer = obj.symbol(Symbol::weak("DW.ref.type").hidden().object().at(section, 0).size(8));
            obj.comdat(pointer, &[section]);
            obj.reloc(section, 0, R_X86_64_64, function, 0);
            refer(&mut obj, pointer);
        }
        if let Some((signature, names)) = self.group {
            let section = text_of(&mut obj, &format!(".text.{signature}"));
            let key = obj.symbol(Symbol::local(signature).at(section, 0));
            let define = |name: &&str| Symbol::weak(*name).function().at(section, 0).size(200);
            let symbols: Vec<_> = names.iter().map(|name| obj.symbol(define(name))).collect();
            let mut members = vec![section];
            if self.constructs {
                let array = Section::new(".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE);
                members.push(obj.section(array.bytes(&[0; 8]).align(8)));
                obj.reloc(members[1], 0, R_X86_64_64, symbols[0], 0);
            }
            obj.comdat(key, &members);
            if self.refers_to_section {
                let here = obj.section_symbol(section);
                refer(&mut obj, here);
            }
            symbols.into_iter().for_each(|symbol| refer(&mut obj, symbol));
        }
        if self.odd {
            for section in [Section::data(".data.odd").bytes(&[5; 3]), Section::bss(".bss.odd", 3)] {
                let section = obj.section(section.align(1));
                let odd = obj.symbol(Symbol::local("odd").object().at(section, 0).size(3));
                obj.reloc(text, 180, R_X86_64_PC32, odd, 0);
            }
        }
        if self.debug > 0 {
            obj.section(Section::debug(".debug_abbrev").bytes(&bytes(0, self.debug)));
        }
        obj.build()
    }
}

/// A program, or a library, of `start.o` and others.
struct Project {
    dir: Dir,
    flags: &'static [&'static str],
}

impl Project {
    fn new(name: &str, flags: &'static [&'static str]) -> Project {
        let name = format!("{name}{}", flags.concat());
        let project = Project { dir: Dir::new(&name), flags };
        let mut obj = Obj::new();
        let text: SectionId = obj.section(Section::text(".text").bytes(&[0xe8; 64]).align(4));
        obj.symbol(Symbol::global("_start").function().at(text, 0).size(64));
        for (at, name) in ["a", "b", "c"].iter().enumerate() {
            let symbol = obj.symbol(Symbol::undefined(*name));
            obj.reloc(text, 8 * at as u64 + 1, R_X86_64_PLT32, symbol, -4);
        }
        // What is empty may lie where another output section begins.
        obj.section(Section::data(".tm_clone_table"));
        // Where there is no pointer, none is spare.
        let start = obj.symbol(Symbol::local("start").function().at(text, 0).size(64));
        let pointer = obj.section(Section::data(".data").bytes(&[0; 8]).align(8));
        let known = obj.symbol(Symbol::local("pointer").object().at(pointer, 0).size(8));
        obj.reloc(text, 40, R_X86_64_PC32, known, 0);
        obj.reloc(pointer, 0, R_X86_64_64, start, 0);
        std::fs::write(project.dir.path("start.o"), obj.build()).unwrap();
        project
    }

    /// Whether a link of these is a relink, which is the same as a full link then.
    fn is_relinked(&self, parts: &[Part; 3]) -> bool {
        let mut args: Vec<OsString> = vec![self.dir.path("start.o").into()];
        for (name, part) in ["a", "b", "c"].iter().zip(parts) {
            let (path, object) = (self.dir.path(&format!("{name}.o")), part.object(name));
            if std::fs::read(&path).ok() != Some(object.clone()) {
                std::fs::write(&path, object).unwrap();
            }
            args.push(path.into());
        }
        args.extend(self.flags.iter().map(OsString::from));
        args.extend(["-o".into(), self.dir.path("out").into()]);
        link(&args, &["--incremental"]).unwrap();
        let (said, out) = (self.dir.said(), self.dir.read("out"));
        wait();
        if said.starts_with("relinked") {
            let warnings = link(&args, &["--incremental=verify"]).unwrap();
            assert_eq!(warnings, [] as [String; 0], "{said}");
            let now = self.dir.said();
            assert!(now.starts_with("relinked") || now.starts_with("nothing"), "{said}; {now}");
            assert!(self.dir.read("out") == out, "{said}; {now}");
        }
        wait();
        said.starts_with("relinked")
    }

    fn relinks(&self, parts: &[Part; 3]) {
        assert!(self.is_relinked(parts), "{:?}: {}", self.flags, self.dir.said());
    }

    fn is_full(&self, parts: &[Part; 3], why: &str) {
        assert!(!self.is_relinked(parts), "{:?}: {}", self.flags, self.dir.said());
        assert!(self.dir.said().contains(why), "{:?}: {}", self.flags, self.dir.said());
    }
}

const FLAGS: [&[&str]; 4] = [
    &["--build-id"],
    &["-pie", "--build-id", "--dynamic-linker=/loader"],
    &["-pie", "--dynamic-linker=/loader", "--gc-sections"],
    &["-static"],
];

/// The middle one of three objects has more.
fn with(part: Part) -> [Part; 3] {
    // What follows is not aligned.
    let odd = Part { odd: true, ..Part::default() };
    [Part { data: 5, zeroes: 7, ..Part::default() }, part, odd]
}

/// A first variable, more of them than there is room for where the first one was, and none again.
#[test]
fn variables_come_grow_and_go() {
    for flags in FLAGS {
        let project = Project::new("shared-sections", flags);
        let none = with(Part::default());
        project.is_relinked(&none);
        let sets: [fn(&mut Part, usize); 5] = [
            |part, size| part.data = size,
            |part, size| part.zeroes = size,
            |part, size| part.constants = size,
            |part, size| part.pointers = size,
            |part, size| part.exceptions = size,
        ];
        for set in sets {
            for size in [8, 16, 400, 0, 1600, 8] {
                let mut part = Part::default();
                set(&mut part, size);
                project.relinks(&with(part));
            }
            project.relinks(&none);
        }
        // All at once, and in a full link; then none of them.
        let all =
            Part { data: 80, zeroes: 160, constants: 48, pointers: 24, exceptions: 12, ..Part::default() };
        project.relinks(&with(all.clone()));
        std::fs::remove_dir_all(project.dir.path(".out.weld")).unwrap();
        assert!(!project.is_relinked(&with(all.clone())));
        project.relinks(&none);
        project.relinks(&with(Part { data: 4000, zeroes: 6000, ..all }));
        project.relinks(&with(Part { data: 64, align: 64, ..Part::default() }));
    }
}

/// Variables with labels may be parts of tables that go on in the next object, and so may be those of assembly that have no
/// names: they have no room, and do not move.
#[test]
fn variables_of_assembly_stay() {
    let project = Project::new("labels", FLAGS[0]);
    let part = |data| with(Part { data, labels: true, ..Part::default() });
    project.is_relinked(&part(8));
    project.is_full(&part(16), "sections or symbols are others");
    assert!(!project.is_relinked(&with(Part { data: 16, ..Part::default() })), "{}", project.dir.said());
    let project = Project::new("assembled", FLAGS[0]);
    let assembled = |data| Part { data, assembled: true, align: 1, ..Part::default() };
    let all = |data| [assembled(5), assembled(data), assembled(7)];
    project.is_relinked(&all(8));
    let image = project.dir.read("out");
    assert!(memchr::memmem::find(&image, &[7; 20]).is_some(), "there is room in between");
    project.is_full(&all(16), "sections or symbols are others");
}

/// Too much of them is a full link.
#[test]
fn there_is_no_end_of_room() {
    let project = Project::new("shared-large", FLAGS[0]);
    project.is_relinked(&with(Part::default()));
    project.is_full(&with(Part { data: 40_000, ..Part::default() }), "may not lie elsewhere");
    project.relinks(&with(Part { data: 40_001, ..Part::default() }));
    project.is_full(&with(Part { data: 90_001, ..Part::default() }), "may not lie elsewhere");
}

/// Assemblers mention the GOT as soon as a slot is asked for, and first catches of a type have a pointer to it.
#[test]
fn first_slots_and_first_catches() {
    for flags in FLAGS {
        let project = Project::new("first-slots", flags);
        let none = with(Part::default());
        project.is_relinked(&none);
        for part in [
            Part { got: true, ..Part::default() },
            Part { caught: true, ..Part::default() },
            Part { caught: true, got: true, ..Part::default() },
        ] {
            project.relinks(&with(part));
            project.relinks(&none);
        }
        // Another object has it, too, and keeps it.
        let mut both = with(Part { caught: true, ..Part::default() });
        project.relinks(&both);
        both[2].caught = true;
        project.relinks(&both);
        both[1].caught = false;
        project.is_relinked(&both);
    }
}

/// Local symbols have other numbers as soon as there is another function in front of a thread-local variable.
#[test]
fn local_symbols_have_other_numbers() {
    for flags in FLAGS {
        let project = Project::new("numbers", flags);
        project.is_relinked(&with(Part::default()));
        project.relinks(&with(Part { locals: 2, ..Part::default() }));
        project.relinks(&with(Part { locals: 1, ..Part::default() }));
    }
}

/// A section of debug information that has room may become so large that others of its size are cut.
#[test]
fn debug_information_grows_beyond_what_is_cut() {
    let project = Project::new("direct", FLAGS[0]);
    let part = |debug| with(Part { debug, ..Part::default() });
    project.is_relinked(&part(65_400));
    project.relinks(&part(65_700));
    project.relinks(&part(65_300));
}

/// Compilers call a group of constructors by one of them, or by all. One that others stand for is not in the output,
/// whatever it is called, as long as they do.
#[test]
fn groups_that_others_stand_for() {
    for flags in FLAGS {
        let project = Project::new("stand-for", flags);
        let all: Option<(&str, &'static [&str])> = Some(("C5", &["C1", "C2"]));
        let one: Option<(&str, &'static [&str])> = Some(("C2", &["C2"]));
        let owner = Part { group: all, ..Part::default() };
        let mut parts = [owner, Part::default(), Part::default()];
        project.is_relinked(&parts);
        parts[1].group = one;
        project.relinks(&parts);
        parts[2].group = one;
        project.relinks(&parts);
        // In a full link, too.
        std::fs::remove_dir_all(project.dir.path(".out.weld")).unwrap();
        assert!(!project.is_relinked(&parts));
        parts[1].group = None;
        project.relinks(&parts);
        parts[1].group = one;
        project.relinks(&parts);
        // Nobody stands for it any more.
        parts[0].group = None;
        project.is_relinked(&parts);
        parts[0].group = all;
        project.is_relinked(&parts);
    }
}

/// Those stay that others refer to by more than names, or that have more than functions.
#[test]
fn groups_that_nobody_stands_for() {
    let project = Project::new("no-stand-in", FLAGS[0]);
    let owner = Part { group: Some(("C5", &["C1", "C2"])), ..Part::default() };
    let copies = |part: Part| {
        project.is_relinked(&[owner.clone(), part, Part::default()]);
        let image = project.dir.read("out");
        // Each function has 200 bytes of its own.
        memchr::memmem::find_iter(&image, &[0xc3; 150]).count()
    };
    let one = Part { group: Some(("C2", &["C2"])), ..Part::default() };
    let few = copies(one.clone());
    assert_eq!(copies(Part { refers_to_section: true, ..one.clone() }), few + 1);
    assert_eq!(copies(Part { constructs: true, ..one.clone() }), few + 1);
    assert_eq!(copies(one), few);
}

/// What others refer to by more than names, or has more than functions, is there as soon as it does, whatever it is called, and
/// gone when it does no more.
#[test]
fn groups_that_nobody_stands_for_any_more() {
    let owner = Part { group: Some(("C5", &["C1", "C2"])), ..Part::default() };
    let one = Part { group: Some(("C2", &["C2"])), ..Part::default() };
    let parts = |part: &Part| [owner.clone(), part.clone(), Part::default()];
    for other in [Part { constructs: true, ..one.clone() }, Part { refers_to_section: true, ..one.clone() }] {
        for first in [&Part::default(), &one] {
            let project = Project::new("stands-alone", FLAGS[0]);
            project.is_relinked(&parts(first));
            assert!(!project.is_relinked(&parts(&other)), "{}", project.dir.said());
            // If it is a relink, it is the same as a full link.
            project.is_relinked(&parts(first));
        }
    }
}
