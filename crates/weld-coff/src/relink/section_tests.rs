//! Links of small programs of which sections have other sizes, have come or are gone.

use weld_testkit::coff::{self, Coff};

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
