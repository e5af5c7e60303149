//! Links of small programs of which sections have other sizes, have come or are gone.

use weld_testkit::ar::{Archive, ArchiveKind};
use weld_testkit::coff::{self, Coff};

use weld_common::relink::directory;

use super::tests::{Dir, NOTHING, caller, checked, program, with_functions};

/// Links incrementally, which must come to what a full link makes that is told what lies elsewhere. What the log says.
fn verified(dir: &Dir, more: &[&str]) -> String {
    let said = dir.relink(more);
    let warnings = dir.link(&[&["/incremental:verify"], more].concat());
    assert_eq!(warnings, Ok(Vec::new()), "{said}; {}", dir.said());
    assert_eq!(dir.said(), NOTHING);
    said
}

const ELSEWHERE: &str = "; a full link would put some things elsewhere";

#[test]
fn functions_have_other_sizes() {
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"], &["/fixed"], &["/base:0x70000000"]] {
        let dir = program("sizes");
        dir.write("lib/b.lib", &caller());
        dir.write("a.obj", &with_functions(3, 1, &[]));
        dir.relink(more);
        let check = |edit: Vec<u8>, want: &str| {
            dir.write("a.obj", &edit);
            let said = checked(&dir, more);
            assert!(said.starts_with("relinked: ") && said.ends_with(want), "{said}");
        };
        const MOVED: &str = ", and 1 more that refer to what has moved";
        check(with_functions(9, 1, &[]), MOVED);
        check(with_functions(40, 1, &[]), MOVED);
        check(with_functions(2, 1, &[]), MOVED);
        check(with_functions(2, 7, &[]), "bytes");
        check(with_functions(2, 2, &["other"]), "bytes");
        check(with_functions(5, 3, &["other", "start"]), MOVED);
        check(with_functions(5, 3, &[]), "bytes");
        // Nothing more than bytes, of two objects at once.
        let mut bytes = with_functions(5, 3, &[]);
        let at = bytes.windows(3).position(|bytes| bytes == [0x90; 3]).unwrap();
        bytes[at] = 0x91;
        check(bytes, "1 section of 1 object, 1 byte");
    }
}

#[test]
fn what_of_other_sizes_is_not_relinked() {
    let dir = program("not-sizes");
    dir.write("lib/b.lib", &caller());
    let check = |from: &[u8], to: &[u8], more: &[&str], why: &str| {
        dir.write("a.obj", from);
        dir.relink(more);
        dir.write("a.obj", to);
        let said = checked(&dir, more);
        let want = format!("full link: {}{why}", dir.path("a.obj").display());
        let inside = format!("full link: in {}{why}", dir.path("a.obj").display());
        assert!(said == want || said == inside, "{said}");
    };
    let old = with_functions(3, 1, &[]);
    let room = " has more in .text than there is room for";
    check(&old, &with_functions(50_000, 1, &[]), &[], room);
    let name = " refers to nowhere, which nobody did before";
    dir.write("a.obj", &old);
    dir.relink(&[]);
    dir.write("a.obj", &with_functions(3, 1, &["nowhere"]));
    assert!(dir.link(&["/incremental"]).is_err());
    assert_eq!(dir.said(), format!("full link: {}{name}", dir.path("a.obj").display()));
    // Directives.
    let mut bytes = old.clone();
    let last = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).rposition(|own| own == what).unwrap();
    let at = last(&bytes, b"/EXPORT:");
    bytes[at..at + 2].copy_from_slice(b"-e");
    check(&old, &bytes, &[], ", more has changed than code, data and what debuggers are told of them");
}

/// An object of functions in COMDAT sections, each of which returns a number and has unwind information, and calls the next.
fn inlines(functions: &[(&str, u8)]) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let mut callee = None;
    for (name, number) in functions {
        let code =
            object.section(".text", coff::CODE | 0x1000, &[0xb8, *number, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc3]);
        object.section_symbol(code, 2, 0);
        let leader = object.symbol(name, 0, code, coff::EXTERNAL);
        object.reloc(code, 6, callee.unwrap_or(leader), coff::REL32);
        let unwind = object.section(".xdata", coff::READ_ONLY | 0x1000, &[1, 0, 0, 0]);
        object.section_symbol(unwind, 5, code);
        let info = object.symbol(&format!("info{name}"), 0, unwind, coff::STATIC);
        let table =
            object.section(".pdata", coff::READ_ONLY | 0x1000, &[0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0]);
        object.section_symbol(table, 5, code);
        [(0, leader), (4, leader), (8, info)]
            .iter()
            .for_each(|(at, to)| object.reloc(table, *at, *to, coff::ADDR32NB));
        callee = Some(leader);
    }
    object.build()
}

#[test]
fn functions_come_and_go() {
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"]] {
        let dir = program("come");
        dir.write("lib/b.lib", &inlines(&[("shared", 9), ("other", 2)]));
        dir.write("a.obj", &inlines(&[("start", 1)]));
        dir.relink(more);
        let check = |edit: &[(&str, u8)]| {
            dir.write("a.obj", &inlines(edit));
            let said = verified(&dir, more);
            assert!(said.starts_with("relinked: ") && said.ends_with(ELSEWHERE), "{said}");
        };
        check(&[("start", 1), ("added", 5)]);
        check(&[("start", 3), ("added", 5), ("more", 6)]);
        check(&[("more", 6), ("start", 3)]);
        // The other object's loses, and counts again.
        check(&[("more", 6), ("start", 3), ("shared", 9)]);
        check(&[("start", 3), ("more", 6)]);
        check(&[("start", 3), ("added", 5)]);
    }
}

#[test]
fn what_outgrows_its_room_lies_elsewhere() {
    let dir = program("outgrown");
    dir.write("lib/b.lib", &caller());
    dir.write("a.obj", &with_functions(3, 1, &[]));
    dir.relink(&[]);
    for (more, addresses) in [(1500, 1), (1500, 2), (3, 2), (2000, 40), (3, 1)] {
        dir.write("a.obj", &with_functions(more, addresses, &[]));
        let said = verified(&dir, &[]);
        assert!(said.starts_with("relinked: ") && said.ends_with(ELSEWHERE), "{said}");
    }
}

#[test]
fn what_is_gone_is_asked_for() {
    let dir = program("asked");
    dir.write("lib/b.lib", &caller());
    dir.write("a.obj", &inlines(&[("start", 1), ("added", 5)]));
    dir.relink(&[]);
    dir.write("a.obj", &inlines(&[("added", 5)]));
    assert!(dir.link(&["/incremental"]).is_err());
    let said = dir.said();
    assert!(
        said.contains("does not define any more what") && said.ends_with("lib/b.lib refers to"),
        "{said}"
    );
    // Names that the linker looks for.
    dir.write("a.obj", &inlines(&[("start", 1), ("added", 5)]));
    dir.relink(&[]);
    dir.write("a.obj", &inlines(&[("start", 1), ("_load_config_used", 5)]));
    assert!(dir.relink(&[]).contains("defines _load_config_used, which it did not before"), "{}", dir.said());
}

/// Links `from`, then `to` in place of `a.obj`, which must be a full link for this reason.
fn refuses(dir: &Dir, more: &[&str], (from, to): (&[u8], &[u8]), want: &str) {
    dir.write("a.obj", from);
    dir.relink(more);
    dir.write("a.obj", to);
    _ = dir.link(&[&["/incremental"], more].concat());
    let said = dir.said();
    assert!(said.starts_with("full link: ") && said.contains(want), "{said}");
}

/// Links `from`, then `to` in place of `a.obj`, which must be relinked; the image has what a full link says of these names.
fn relinks(dir: &Dir, more: &[&str], (from, to): (&[u8], &[u8]), exports: &[&str]) {
    let more = [more, exports].concat();
    dir.write("a.obj", from);
    _ = directory::forget(&dir.path(".out.dll.weld"));
    dir.relink(&more);
    dir.write("a.obj", to);
    let said = verified(dir, &more);
    assert!(said.starts_with("relinked: "), "{said}");
    if !said.ends_with(ELSEWHERE) {
        let image = dir.read("out.dll");
        directory::forget(&dir.path(".out.dll.weld")).unwrap();
        dir.relink(&more);
        assert_eq!(exported(&image), exported(&dir.read("out.dll")));
    }
}

const POINTERS: u32 = coff::READ_ONLY;

/// An object of a function, `start`, with sections of pointers to it, each with so many.
fn tables(list: &[(&str, u32, u32)]) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0x90, 0xc3]);
    let start = object.symbol("start", 0, text, coff::EXTERNAL);
    for (name, flags, count) in list {
        let table = object.section(name, *flags, &vec![0; 8 * *count as usize]);
        (0..*count).for_each(|i| object.reloc(table, 8 * i, start, coff::ADDR64));
    }
    object.build()
}

#[test]
fn what_programs_walk_has_no_holes() {
    let code = coff::CODE & !0x00f0_0000 | 0x0040_0000;
    for (name, flags) in
        [(".CRT$XCU", POINTERS), (".rtc$IMZ", POINTERS), ("mine", coff::DATA), ("code$m", code)]
    {
        let dir = program("walked");
        dir.write("lib/b.lib", &inlines(&[("other", 2)]));
        let of =
            |counts: &[u32]| tables(&counts.iter().map(|count| (name, flags, *count)).collect::<Vec<_>>());
        let want = "between which programs may bear no room";
        // One less, one more, shorter, longer.
        refuses(&dir, &[], (&of(&[1, 1]), &of(&[1])), want);
        refuses(&dir, &[], (&of(&[1]), &of(&[1, 1])), want);
        refuses(&dir, &[], (&of(&[200]), &of(&[9])), want);
        refuses(&dir, &[], (&of(&[9]), &of(&[200])), want);
        refuses(&dir, &[], (&of(&[9]), &of(&[])), want);
    }
    // Others in the same order may lead elsewhere.
    let dir = program("walked-same");
    let of = |flags| tables(&[(".CRT$XCU", flags, 2), (".CRT$XIU", POINTERS, 1)]);
    dir.write("a.obj", &of(POINTERS));
    dir.relink(&[]);
    let mut longer = of(POINTERS);
    let at = longer.windows(2).position(|bytes| bytes == [0x90, 0xc3]).unwrap();
    longer[at] = 0xcc;
    dir.write("a.obj", &longer);
    assert!(checked(&dir, &[]).starts_with("relinked: "), "{}", dir.said());
    let other = tables(&[(".CRT$XIU", POINTERS, 1), (".CRT$XCU", POINTERS, 2)]);
    refuses(&dir, &[], (&of(POINTERS), &other), "between which programs");
}

/// An object of a section of code that is as long as its room but for `less` bytes, with names at places in it.
fn labels(less: usize, names: &[(&str, u32)], directives: &str) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &vec![0x90; 1024 - less]);
    object.section(".drectve", 0x0a00, directives.as_bytes());
    names.iter().for_each(|(name, at)| _ = object.symbol(name, *at, text, coff::EXTERNAL));
    object.build()
}

#[test]
fn names_at_one_place_part() {
    let exports = " /EXPORT:start /EXPORT:twin /EXPORT:third,@7";
    let at = |start, twin, third| labels(0, &[("start", start), ("twin", twin), ("third", third)], exports);
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"], &["/entry:twin"], &["/entry:start"]] {
        let dir = program("part");
        dir.write("a.obj", &at(0, 0, 0));
        dir.relink(more);
        for (start, twin, third) in
            [(0, 8, 0), (8, 8, 8), (16, 8, 0), (8, 16, 16), (0, 0, 0), (1024, 0, 1024)]
        {
            dir.write("a.obj", &at(start, twin, third));
            let said = dir.relink(more);
            assert!(said.starts_with("relinked: "), "{said}");
            assert_eq!(dir.link(&[&["/incremental:verify"], more].concat()), Ok(Vec::new()));
            let image = dir.read("out.dll");
            directory::forget(&dir.path(".out.dll.weld")).unwrap();
            dir.relink(more);
            let full = dir.read("out.dll");
            assert_eq!(exported(&image), exported(&full));
        }
    }
}

/// The entry point of an image and the addresses that it exports.
fn exported(image: &[u8]) -> Vec<u32> {
    let word = |at: usize| u32::from_le_bytes(*image[at..].first_chunk().unwrap());
    let optional = word(0x3c) as usize + 24;
    let sections = (0..6).map(|i| optional + 240 + 40 * i);
    let offset = |rva: u32| {
        let mut own =
            sections.clone().filter(|at| (word(at + 12)..word(at + 12) + word(at + 8)).contains(&rva));
        own.next().map(|at| (rva - word(at + 12) + word(at + 20)) as usize).unwrap()
    };
    let table = offset(word(optional + 112));
    let addresses = offset(word(table + 28));
    let list = (0..word(table + 20) as usize).map(|i| word(addresses + 4 * i));
    std::iter::once(word(optional + 16)).chain(list).collect()
}

#[test]
fn a_label_at_the_end_of_a_full_room_stays() {
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"]] {
        let dir = program("end");
        let exports = " /EXPORT:start /EXPORT:end";
        dir.write("a.obj", &labels(0, &[("start", 0), ("end", 1024)], exports));
        dir.write("lib/b.lib", &labels(8, &[("other", 0)], " /EXPORT:other"));
        dir.relink(more);
        dir.write("lib/b.lib", &labels(4, &[("other", 4)], " /EXPORT:other"));
        let said = dir.relink(more);
        assert!(said.starts_with("relinked: "), "{said}");
        let image = dir.read("out.dll");
        directory::forget(&dir.path(".out.dll.weld")).unwrap();
        dir.relink(more);
        assert_eq!(exported(&image), exported(&dir.read("out.dll")));
    }
}

/// An object that has `weak` stand for `target`, which it does not define.
fn weak(name: &str, target: &str) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    object.symbol("other", 0, text, coff::EXTERNAL);
    let target = object.symbol(target, 0, 0, coff::EXTERNAL);
    let weak = object.weak(name, target);
    object.reloc(text, 1, weak, coff::REL32);
    object.build()
}

#[test]
fn what_stands_for_a_name_is_there() {
    let dir = program("alias");
    let parted = "is another one, or is gone";
    let of = |names: &[(&str, u32)]| labels(0, names, " /EXPORT:start");
    let before = of(&[("start", 0), ("target", 16), ("twin", 16)]);
    dir.write("lib/b.lib", &weak("lazy", "target"));
    refuses(&dir, &[], (&before, &of(&[("start", 0), ("twin", 16)])), parted);
    // It moves with what it stands for, and not with what lies there.
    for (target, twin) in [(16, 24), (24, 24), (32, 16), (40, 40), (16, 16)] {
        let moved = of(&[("start", 0), ("target", target), ("twin", twin)]);
        relinks(&dir, &[], (&before, &moved), &["/EXPORT:lazy", "/EXPORT:target", "/EXPORT:twin"]);
    }
    // It is defined, now, and no more.
    let defines = of(&[("start", 0), ("target", 16), ("twin", 16), ("lazy", 32)]);
    refuses(&dir, &[], (&before, &defines), "defines lazy");
    refuses(&dir, &[], (&defines, &before), "does not define any more");
    // It has stayed.
    dir.write("a.obj", &before);
    dir.relink(&[]);
    dir.write("a.obj", &of(&[("start", 4), ("target", 16), ("twin", 16)]));
    assert!(checked(&dir, &[]).starts_with("relinked: "), "{}", dir.said());
    // By an option.
    let more = ["/alternatename:outer=target"];
    dir.write("lib/b.lib", &caller_of("outer"));
    let moved = of(&[("start", 0), ("target", 24), ("twin", 16)]);
    relinks(&dir, &more, (&before, &moved), &["/EXPORT:outer", "/EXPORT:target", "/EXPORT:twin"]);
    refuses(&dir, &more, (&before, &of(&[("start", 0), ("twin", 16)])), "full link");
    // What the command line asks for.
    for more in ["/include:twin", "/export:twin"] {
        dir.write("lib/b.lib", &caller_of("target"));
        refuses(&dir, &[more], (&before, &of(&[("start", 0), ("target", 16)])), "does not define any more");
        assert!(dir.link(&["/incremental", more]).is_err());
    }
    dir.write("lib/b.lib", &caller_of("target"));
    refuses(&dir, &[], (&before, &of(&[("start", 0), ("twin", 16)])), "does not define any more");
    assert!(dir.link(&["/incremental"]).is_err());
}

/// An object of `start`, which calls `lazy`, for which a symbol of its own stands, behind so many bytes and in a section of
/// its own or not.
fn with_fallback(before: usize, is_apart: bool) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let code = [&[0xe8, 0, 0, 0, 0, 0xc3][..], &vec![0x90; before]].concat();
    let text = object.section(".text", coff::CODE, &[&code[..], &[0xcc, 0xc3]].concat());
    let apart = object.section(".text", coff::CODE, &[&vec![0x91; before][..], &[0xf4, 0xc3]].concat());
    object.symbol("start", 0, text, coff::EXTERNAL);
    let (section, at) = if is_apart { (apart, before) } else { (text, code.len()) };
    let own = object.symbol("own", at as u32, section, coff::STATIC);
    let lazy = object.weak("lazy", own);
    object.reloc(text, 1, lazy, coff::REL32);
    object.build()
}

#[test]
fn what_stands_for_a_name_may_be_a_symbol_of_one_object() {
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"]] {
        let dir = program("fallback");
        dir.write("lib/b.lib", &caller_of("lazy"));
        let exports = ["/EXPORT:lazy", "/EXPORT:start", "/EXPORT:other"];
        for (from, to) in [(0, 20), (20, 3), (5, 2000)] {
            for (was_apart, is_apart) in [(false, false), (true, true), (false, true)] {
                let (from, to) = (with_fallback(from, was_apart), with_fallback(to, is_apart));
                relinks(&dir, more, (&from, &to), &exports);
            }
        }
    }
}

#[test]
fn who_can_do_without_a_name_does_not_ask_for_it() {
    let dir = program("unasked");
    let member = {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0xf4, 0xc3]);
        object.symbol("lazy", 0, text, coff::EXTERNAL);
        object.symbol("busy", 1, text, coff::EXTERNAL);
        object.build()
    };
    let library = Archive::new(ArchiveKind::Gnu).member("m.obj", &member, &["lazy", "busy"]);
    dir.write("m.lib", &library.build());
    let library = dir.path("m.lib").display().to_string();
    let calls = |names: &[&str]| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &vec![0xe8; 5 * names.len() + 1]);
        object.symbol("start", 0, text, coff::EXTERNAL);
        for (name, at) in names.iter().zip((1..).step_by(5)) {
            let callee = object.symbol(name, 0, 0, coff::EXTERNAL);
            object.reloc(text, at, callee, coff::REL32);
        }
        object.build()
    };
    let weak = |target: &str| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
        object.symbol("other", 0, text, coff::EXTERNAL);
        let target = object.symbol(target, 5, text, coff::EXTERNAL);
        let weak = object.weak("lazy", target);
        object.reloc(text, 1, weak, coff::REL32);
        object.build()
    };
    dir.write("lib/b.lib", &weak("target"));
    for (from, to) in [
        (&["other"][..], &["other", "lazy"][..]),
        (&["lazy"], &["other"]),
        (&["lazy", "busy"], &["busy"]),
        (&["lazy", "busy"], &["other"]),
        (&["busy"], &["busy", "lazy"]),
    ] {
        let more = [&*library, "/opt:noref,noicf", "/debug:none"];
        dir.write("a.obj", &calls(from));
        dir.relink(&more);
        dir.write("a.obj", &calls(to));
        dir.relink(&more);
        let image = dir.read("out.dll").len();
        let said = dir.said();
        _ = dir
            .link(&[&["/incremental:verify"], &more[..]].concat())
            .map(|warnings| assert!(warnings.is_empty(), "{said}"));
        directory::forget(&dir.path(".out.dll.weld")).unwrap();
        dir.relink(&more);
        assert_eq!(image, dir.read("out.dll").len(), "{said}");
    }
}

/// An object of a function, `other`, that calls another one.
fn caller_of(name: &str) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0xe8, 0, 0, 0, 0, 0xc3]);
    object.symbol("other", 0, text, coff::EXTERNAL);
    let callee = object.symbol(name, 0, 0, coff::EXTERNAL);
    object.reloc(text, 1, callee, coff::REL32);
    object.build()
}

/// An object of functions, each in a section of its own: its name, how it is chosen (0: it just is there), a number, and
/// another name in the same section.
fn chosen(functions: &[(&str, u8, u8, &str)]) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    for (name, selection, number, member) in functions {
        let comdat = if *selection == 0 { 0 } else { coff::COMDAT };
        let more = if *number == 0 { 20 } else { 0 };
        let body = [&[0xb8, *number, 0, 0, 0, 0xc3][..], &vec![0x90; more]].concat();
        let code = object.section(".text", coff::CODE | comdat, &body);
        object.section_symbol(code, *selection, 0);
        object.symbol(name, 0, code, coff::EXTERNAL);
        if !member.is_empty() {
            object.symbol(member, 2, code, coff::EXTERNAL);
        }
    }
    object.build()
}

#[test]
fn definitions_of_one_name_are_settled_as_in_a_full_link() {
    use coff::{ANY, EXACT_MATCH, LARGEST, NO_DUPLICATES, SAME_SIZE};
    let dir = program("duplicates");
    let start = ("start", ANY, 1, "");
    let check =
        |other: &[(&str, u8, u8, &str)], from: &[(&str, u8, u8, &str)], to: &[(&str, u8, u8, &str)]| {
            dir.write("lib/b.lib", &chosen(other));
            dir.write("a.obj", &chosen(from));
            dir.relink(&[]);
            dir.write("a.obj", &chosen(to));
            let relinked = dir.link(&["/incremental"]);
            let said = dir.said();
            let outputs = dir.outputs();
            _ = directory::forget(&dir.path(".out.dll.weld"));
            let full = dir.link(&["/incremental"]);
            assert_eq!(
                relinked.clone().map_err(|e| e.replace("a.obj", "")),
                full.clone().map_err(|e| e.replace("a.obj", "")),
                "{said}"
            );
            assert!(said.starts_with("full link: "), "{other:?} {from:?} {to:?}: {said}");
            assert!(full.is_err() || outputs == dir.outputs(), "{said}");
            full.is_err()
        };
    // Another object has it.
    for (own, other) in [(0, 0), (ANY, 0), (0, ANY), (NO_DUPLICATES, NO_DUPLICATES), (ANY, NO_DUPLICATES)] {
        assert!(check(&[("shared", other, 1, "")], &[start], &[start, ("shared", own, 1, "")]));
    }
    for (own, other) in
        [(LARGEST, ANY), (LARGEST, LARGEST), (SAME_SIZE, SAME_SIZE), (EXACT_MATCH, EXACT_MATCH)]
    {
        check(&[("shared", other, 1, "")], &[start], &[start, ("shared", own, 1, "")]);
    }
    // The largest of those that are there is another one.
    let largest = [("shared", LARGEST, 1, "")];
    check(&largest, &[start, ("shared", ANY, 2, "")], &[start, ("shared", ANY, 0, "")]);
    // It is chosen otherwise.
    assert!(check(
        &[("shared", ANY, 1, "")],
        &[start, ("shared", ANY, 2, "")],
        &[start, ("shared", 0, 2, "")]
    ));
    assert!(check(
        &[("shared", ANY, 1, "")],
        &[start, ("shared", ANY, 2, "")],
        &[start, ("shared", SAME_SIZE, 2, "")]
    ));
    check(&[("other", ANY, 1, "")], &[start, ("shared", ANY, 2, "")], &[start, ("shared", 0, 2, "")]);
    check(&[("other", ANY, 1, "")], &[start], &[start, ("shared", EXACT_MATCH, 2, "")]);
    // Names beside those that lead.
    let (from, to) = (chosen(&[start]), chosen(&[start, ("new", ANY, 1, "beside")]));
    refuses(&dir, &[], (&from, &to), "defines beside, which is new, beside the name that leads its section");
    check(&[("shared", ANY, 1, "member")], &[start], &[start, ("shared", ANY, 1, "member")]);
    check(&[("shared", ANY, 1, "")], &[start], &[start, ("shared", ANY, 1, "member")]);
    check(&[("other", ANY, 1, "member")], &[start], &[start, ("shared", 0, 1, "member")]);
}

#[test]
fn sections_of_which_there_is_one_have_other_sizes() {
    use coff::{ANY, LARGEST, NO_DUPLICATES, SAME_SIZE};
    for selection in [ANY, NO_DUPLICATES, LARGEST, SAME_SIZE] {
        let dir = program("one");
        dir.write("lib/b.lib", &chosen(&[("other", selection, 1, "")]));
        let of = |number| chosen(&[("start", NO_DUPLICATES, 1, ""), ("own", selection, number, "")]);
        dir.write("a.obj", &of(1));
        dir.relink(&[]);
        for number in [0, 2, 0] {
            dir.write("a.obj", &of(number));
            let said = verified(&dir, &[]);
            assert!(said.starts_with("relinked: "), "{selection}: {said}");
        }
        // One that is new, and then has another size.
        let more = |number| {
            let own = [("start", NO_DUPLICATES, 1, ""), ("own", selection, 0, "")];
            chosen(&[&own[..], &[("new", selection, number, "")]].concat())
        };
        for number in [1, 0, 1] {
            dir.write("a.obj", &more(number));
            let said = verified(&dir, &[]);
            assert!(said.starts_with("relinked: "), "{selection}: {said}");
        }
    }
}

#[test]
fn data_comes_and_goes_where_others_have_none() {
    let of = |name: &str, size: usize| {
        let mut object = Coff::new(coff::AMD64);
        let text = object.section(".text", coff::CODE, &[0x90, 0xc3]);
        object.symbol(name, 0, text, coff::EXTERNAL);
        object.section(".data", coff::DATA, &vec![7; size]);
        object.build()
    };
    let dir = program("no-data");
    dir.write("c.obj", &of("first", 4));
    let write = |a, b| {
        dir.write("a.obj", &of("start", a));
        dir.write("lib/b.lib", &of("other", b));
    };
    write(0, 0);
    let path = dir.path("c.obj").display().to_string();
    dir.relink(&[&path]);
    for (a, b) in
        [(4, 0), (0, 0), (4, 0), (4, 4), (0, 4), (200, 4), (200, 300), (9, 300), (9, 0), (700, 700), (0, 0)]
    {
        write(a, b);
        let said = verified(&dir, &[&path]);
        assert!(said.starts_with("relinked: "), "{said}");
    }
}

#[test]
fn overloads_of_what_is_exported_are_full_links() {
    let dir = program("overloads");
    dir.write("lib/b.lib", &inlines(&[("other", 2)]));
    let more = ["/export:run"];
    let from = inlines(&[("start", 1), ("?run@@YAXH@Z", 3)]);
    let to = inlines(&[("start", 1), ("?run@@YAXH@Z", 3), ("?run@@YAXF@Z", 4)]);
    refuses(&dir, &more, (&from, &to), "defines ?run@@YAXF@Z");
}

/// An object of functions that call nothing, with an entry in the table of functions where it is asked for.
fn unwound(functions: &[(&str, bool)], of: &str) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    for (name, is_unwound) in functions {
        let code = object.section(".text", coff::CODE | coff::COMDAT, &[0x90, 0x90, 0xc3]);
        object.section_symbol(code, coff::ANY, 0);
        let leader = object.symbol(name, 0, code, coff::EXTERNAL);
        if !is_unwound {
            continue;
        }
        let unwind = object.section(".xdata", coff::READ_ONLY | coff::COMDAT, &[1, 0, 0, 0]);
        object.section_symbol(unwind, coff::ASSOCIATIVE, code);
        let info = object.symbol("$unwind", 0, unwind, coff::STATIC);
        let table =
            object.section(".pdata", coff::READ_ONLY | coff::COMDAT, &[0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        object.section_symbol(table, coff::ASSOCIATIVE, code);
        let function = if of.is_empty() { leader } else { object.symbol(of, 0, 0, coff::EXTERNAL) };
        [(0, function), (4, function), (8, info)]
            .iter()
            .for_each(|(at, to)| object.reloc(table, *at, *to, coff::ADDR32NB));
    }
    object.build()
}

#[test]
fn entries_of_functions_come_and_go_in_front_and_behind() {
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"]] {
        let dir = program("unwound");
        let write = |a: bool, b: bool| {
            dir.write("a.obj", &unwound(&[("start", a), ("kept", false)], ""));
            dir.write("lib/b.lib", &unwound(&[("other", b)], ""));
        };
        write(false, true);
        dir.relink(more);
        let entries = || {
            let image = dir.read("out.dll");
            let word = |at: usize| u32::from_le_bytes(*image[at..].first_chunk().unwrap());
            word(word(0x3c) as usize + 24 + 112 + 8 * 3 + 4) / 12
        };
        for (a, b) in [(true, true), (true, false), (true, true), (false, true), (true, true), (true, false)]
        {
            write(a, b);
            let said = verified(&dir, more);
            assert!(said.starts_with("relinked: "), "{said}");
            assert_eq!(entries(), u32::from(a) + u32::from(b));
        }
        write(false, false);
        let said = dir.relink(more);
        assert!(said.contains("was the last object to have ."), "{said}");
        assert_eq!(entries(), 0);
    }
    // Of functions of another object.
    let dir = program("unwound-other");
    dir.write("lib/b.lib", &unwound(&[("other", true)], "start"));
    let [one, two] = [1, 2].map(|number| inlines(&[("start", number), ("more", number)][..number as usize]));
    refuses(&dir, &[], (&one, &two), "a .pdata tells of functions of another object");
    dir.write("lib/b.lib", &inlines(&[("other", 9)]));
    let own = unwound(&[("start", true)], "");
    refuses(&dir, &[], (&own, &unwound(&[("start", true)], "other")), "tells of functions of other objects");
}

/// An object of `start`, and of a function, `shared`, that others have, too, with a pointer that programs walk by, and that
/// goes with it, and with `more` names in its section.
fn with_shared(number: Option<u8>, is_walked: bool, more: &[&str]) -> Vec<u8> {
    let mut object = Coff::new(coff::AMD64);
    let text = object.section(".text", coff::CODE, &[0x90, 0xc3]);
    object.symbol("start", 0, text, coff::EXTERNAL);
    let Some(number) = number else { return object.build() };
    let code = object.section(".text", coff::CODE | coff::COMDAT, &[0xb8, number, 0xee, 0xee, 0xee, 0xc3]);
    object.section_symbol(code, coff::ANY, 0);
    let leader = object.symbol("shared", 0, code, coff::EXTERNAL);
    more.iter().for_each(|name| _ = object.symbol(name, 5, code, coff::EXTERNAL));
    if is_walked {
        let table = object.section(".CRT$XCU", coff::READ_ONLY | coff::COMDAT, &[0; 8]);
        object.section_symbol(table, coff::ASSOCIATIVE, code);
        object.reloc(table, 0, leader, coff::ADDR64);
    }
    object.build()
}

#[test]
fn copies_change_hands() {
    let other = |number: u8, is_walked: bool, more: &[&str]| {
        let object = with_shared(Some(number), is_walked, more);
        // Its other function has another name.
        let at = object.windows(5).position(|bytes| bytes == b"start").unwrap();
        [&object[..at], b"other", &object[at + 5..]].concat()
    };
    for more in [&[][..], &["/debug:none", "/opt:noref,noicf"]] {
        let dir = program("hands");
        dir.write("lib/b.lib", &other(9, false, &[]));
        dir.write("a.obj", &with_shared(None, false, &[]));
        dir.relink(more);
        let numbers = || -> Vec<u8> {
            let image = dir.read("out.dll");
            let own = image.windows(6).filter(|bytes| bytes[0] == 0xb8 && bytes[2..5] == [0xee; 3]);
            own.map(|bytes| bytes[1]).collect()
        };
        assert_eq!(numbers(), [9]);
        for (own, want) in [(Some(7), 7), (None, 9), (Some(5), 5), (Some(6), 6), (None, 9)] {
            dir.write("a.obj", &with_shared(own, false, &[]));
            let said = verified(&dir, more);
            assert!(said.starts_with("relinked: "), "{said}");
            assert_eq!(numbers(), [want], "{said}");
        }
        // It comes back to an object that changes at the same time.
        dir.write("a.obj", &with_shared(Some(7), false, &[]));
        verified(&dir, more);
        dir.write("a.obj", &with_shared(None, false, &[]));
        dir.write("lib/b.lib", &other(8, false, &[]));
        assert!(verified(&dir, more).starts_with("relinked: "));
        assert_eq!(numbers(), [8]);
    }
    let dir = program("hands-full");
    let none = with_shared(None, false, &[]);
    for (own, others) in
        [((true, &[][..]), (true, &[][..])), ((false, &[]), (true, &[])), ((true, &[]), (false, &[]))]
    {
        dir.write("lib/b.lib", &other(9, others.0, others.1));
        let own = with_shared(Some(7), own.0, own.1);
        refuses(&dir, &[], (&none, &own), "between which programs");
        refuses(&dir, &[], (&own, &none), "between which programs");
    }
    dir.write("lib/b.lib", &other(9, false, &["member"]));
    refuses(&dir, &[], (&none, &with_shared(Some(7), false, &["member"])), "defines member");
    refuses(&dir, &[], (&none, &with_shared(Some(7), false, &[])), "does not define any more");
}

#[test]
fn copies_of_zeroes_that_lost_do_not_matter() {
    let of = |name: &str, number: u8| {
        let mut object = Coff::new(coff::AMD64);
        let code = [&vec![0x90; number.into()][..], &[0xc3]].concat();
        let text = object.section(".text", coff::CODE, &code);
        object.symbol(name, 0, text, coff::EXTERNAL);
        let zeroes = object.zeroes(".bss", coff::COMDAT, 12);
        object.section_symbol(zeroes, coff::ANY, 0);
        object.symbol("zeroes", 0, zeroes, coff::EXTERNAL);
        object.build()
    };
    let dir = program("zeroes");
    let write = |(first, second)| {
        dir.write("a.obj", &of("start", first));
        dir.write("lib/b.lib", &of("other", second));
    };
    write((1, 1));
    dir.relink(&[]);
    for (numbers, want) in
        [((2, 1), "1 section of 1"), ((2, 2), "1 section of 1"), ((3, 3), "2 sections of 2")]
    {
        write(numbers);
        let said = verified(&dir, &[]);
        assert!(said.starts_with(&format!("relinked: {want} object")), "{said}");
    }
}
