//! Constants that are merged with others of their size: the first one of a size, and the last.

use std::ffi::OsString;
use std::fs;

use weld_testkit::elf::*;
use weld_testkit::obj::{Obj, Section, Symbol};

use super::{Dir, link, wait};

const FLAGS: [&[&str]; 2] = [&["-pie", "--gc-sections", "--build-id"], &["--eh-frame-hdr"]];

/// A function, a constant with a name of its own, and such of these sizes.
fn object(name: &str, sizes: &[u8]) -> Vec<u8> {
    let mut obj = Obj::new();
    let code: Vec<u8> = (0..=sizes.len()).flat_map(|_| [0x48, 0x8d, 5, 0, 0, 0, 0]).collect();
    let text = obj.section(Section::text(format!(".text.{name}")).bytes(&code).align(16));
    obj.symbol(Symbol::global(name).function().at(text, 0).size(code.len() as u64));
    let own = obj.section(Section::rodata(format!(".rodata.{name}")).bytes(&[7; 40]).align(8));
    let mut targets = vec![obj.symbol(Symbol::local("own").object().at(own, 0).size(40))];
    for size in sizes {
        let bytes = vec![*size; usize::from(*size)];
        let section = Section::constants(format!(".rodata.cst{size}"), (*size).into());
        let section = obj.section(section.bytes(&bytes).align((*size).into()));
        targets.push(obj.symbol(Symbol::local(format!(".L{size}")).at(section, 0)));
    }
    for (at, target) in (3..).step_by(7).zip(targets) {
        obj.reloc(text, at, R_X86_64_PC32, target, -4);
    }
    obj.build()
}

/// Links two objects with constants of these sizes; whether that was relinked, which is verified.
fn check(dir: &Dir, flags: &[&str], sizes: [&[u8]; 2]) -> bool {
    let mut args: Vec<OsString> = flags.iter().map(OsString::from).collect();
    for (name, sizes) in ["_start", "other"].into_iter().zip(sizes) {
        let path = dir.path(&format!("{name}.o"));
        fs::write(&path, object(name, sizes)).unwrap();
        args.push(path.into());
    }
    args.extend(["--undefined=other".into(), "-o".into(), dir.path("out").into()]);
    link(&args, &["--incremental"]).unwrap();
    let said = dir.said();
    let is_relinked = said.starts_with("relinked");
    let is = dir.read("out");
    for size in sizes.concat() {
        assert!(is.windows(size.into()).any(|bytes| bytes == vec![size; size.into()]), "{size}: {said}");
    }
    if is_relinked {
        wait();
        assert_eq!(link(&args, &["--incremental=verify"]), Ok(Vec::new()), "{said}, {}", dir.said());
        assert!(dir.said().starts_with("relinked"), "{said}, {}", dir.said());
        assert!(dir.read("out") == is, "{said}");
    }
    wait();
    is_relinked
}

#[test]
fn the_first_constant_of_a_size() {
    for (number, flags) in FLAGS.into_iter().enumerate() {
        let dir = Dir::new(&format!("first-constant-{number}"));
        assert!(!check(&dir, flags, [&[4], &[]]));
        for sizes in [[&[4, 16][..], &[]], [&[4, 16], &[16, 8]], [&[4], &[8]], [&[4], &[]], [&[4], &[16]]] {
            assert!(check(&dir, flags, sizes), "{flags:?} {sizes:?}: {}", dir.said());
        }
    }
}

#[test]
fn the_last_constant_of_a_size() {
    for (number, flags) in FLAGS.into_iter().enumerate() {
        let dir = Dir::new(&format!("last-constant-{number}"));
        assert!(!check(&dir, flags, [&[4, 16], &[16, 8]]));
        for sizes in [[&[4][..], &[16, 8]], [&[4], &[8]], [&[4], &[]], [&[4, 16], &[]], [&[], &[4]]] {
            assert!(check(&dir, flags, sizes), "{flags:?} {sizes:?}: {}", dir.said());
        }
    }
}
