//! Objects of GCC, against what `gcc-nm` says of them, which asks GCC's plugin for linkers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use weld_lto::gcc;
use weld_lto::ir::{Compiler, IrFile, IrSymbol, Kind, ReadError, Visibility};
use weld_testkit::mutate;

use crate::tools;

/// What programs of GCC for each machine begin with; one is big-endian.
const MACHINES: &[&str] = &["", "aarch64-linux-gnu-", "riscv64-linux-gnu-", "s390x-linux-gnu-"];

const SLIM: &[&str] = &["-flto"];
const FAT: &[&str] = &["-flto", "-ffat-lto-objects"];

fn compile(machine: &str, flags: &[&str], source: &str) -> PathBuf {
    let compiler = format!("{machine}{}", if source.ends_with(".cc") { "g++" } else { "gcc" });
    tools::make(&compiler, &[&["-O1", "-w", "-fcommon", "-c"], flags].concat(), &[&tools::source(source)])
}

/// Calls `with` for what is read of the object.
fn read<T>(path: &Path, with: impl FnOnce(&IrFile<'_>) -> T) -> T {
    let bytes = std::fs::read(path).unwrap();
    let object = object::File::parse(&bytes[..]).unwrap();
    let sections = object.sections();
    let sections: Vec<_> =
        sections.map(|section| (section.name_bytes().unwrap(), section.data().unwrap_or_default())).collect();
    with(&gcc::read(&sections).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn nm(file: &IrFile<'_>) -> BTreeSet<(char, String)> {
    let letter = |symbol: &IrSymbol<'_>| match symbol.kind {
        Kind::Undefined if symbol.is_weak => 'w',
        Kind::Undefined => 'U',
        Kind::Common { .. } => 'C',
        Kind::Defined if symbol.is_weak => 'W',
        Kind::Defined if symbol.is_function => 'T',
        Kind::Defined if symbol.is_bss => 'B',
        Kind::Defined => 'D',
    };
    let name = |symbol: &IrSymbol<'_>| String::from_utf8_lossy(symbol.name).into_owned();
    file.symbols.iter().map(|symbol| (letter(symbol), name(symbol))).collect()
}

fn nm_of_gcc(machine: &str, path: &Path) -> BTreeSet<(char, String)> {
    let text = tools::print(&format!("{machine}gcc-nm"), &[], &[path]);
    let parts = text.lines().map(|line| line.trim_start_matches(['0', ' ']));
    let parts = parts.map(|line| line.split_once(' ').expect("a letter and a name"));
    parts.map(|(letter, name)| (letter.chars().next().expect("a letter"), name.to_owned())).collect()
}

#[test]
fn symbols_are_those_that_gcc_tells() {
    for machine in MACHINES {
        for (flags, source) in [(SLIM, "gnu.c"), (FAT, "gnu.c"), (SLIM, "cxx.cc"), (FAT, "cxx.cc")] {
            let path = compile(machine, flags, source);
            read(&path, |file| {
                assert_eq!(nm(file), nm_of_gcc(machine, &path), "{machine} {source}");
                assert_eq!((file.compiler, file.is_fat), (Compiler::Gcc, flags == FAT));
                assert!(file.major.is_some_and(|major| major >= 12));
            });
        }
    }
}

#[test]
fn what_nm_does_not_show() {
    read(&compile("s390x-linux-gnu-", SLIM, "gnu.c"), |file| {
        let of = |name: &str| file.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).expect(name);
        assert_eq!(of("common_array").kind, Kind::Common { size: 4096, alignment: 1 });
        let visibilities =
            ["call", "hidden", "protected", "internal_function"].map(|name| of(name).visibility);
        use Visibility::{Default, Hidden, Internal, Protected};
        assert_eq!(visibilities, [Default, Hidden, Protected, Internal]);
    });
    read(&compile("", SLIM, "cxx.cc"), |file| {
        let of = |name: &str| file.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).expect(name);
        let group = |name: &str| of(name).comdat.map(|comdat| file.comdats[comdat as usize].name);
        assert_eq!(group("_ZN4shop7counterE"), Some(&b"_ZN4shop7counterE"[..]));
        assert_eq!(group("_ZN4shop4CellIiEC1Ei"), Some(&b"_ZN4shop4CellIiEC5Ei"[..]));
        assert_eq!(group("_ZN4shop4CellIiEC1Ei"), group("_ZN4shop4CellIiEC2Ei"));
        assert_eq!(group("main"), None);
        let names: BTreeSet<_> = file.comdats.iter().map(|comdat| comdat.name).collect();
        assert_eq!(names.len(), file.comdats.len(), "each group once");
    });
}

#[test]
fn objects_that_were_joined() {
    let parts = [compile("", SLIM, "gnu.c"), compile("", SLIM, "cxx.cc")];
    let joined = tools::make("ld", &["-r"], &[&parts[0], &parts[1]]);
    let names = |path: &Path| {
        read(path, |file| file.symbols.iter().map(|symbol| symbol.name.to_vec()).collect::<Vec<_>>())
    };
    assert_eq!(names(&joined), [names(&parts[0]), names(&parts[1])].concat());
}

#[test]
fn objects_for_windows() {
    let machine = "x86_64-w64-mingw32-";
    let path = compile(machine, SLIM, "gnu.c");
    read(&path, |file| assert_eq!(nm(file), nm_of_gcc(machine, &path)));
}

#[test]
fn machine_code_alone() {
    let sections = [(&b".text"[..], &b"\xc3"[..])];
    assert_eq!(gcc::read(&sections).unwrap_err(), ReadError::NoSymbolTable { producer: Vec::new() });
}

#[test]
fn damaged_copies() {
    for source in ["gnu.c", "cxx.cc"] {
        let bytes = std::fs::read(compile("", SLIM, source)).unwrap();
        let object = object::File::parse(&bytes[..]).unwrap();
        let section = |start: &str| {
            let mut sections = object.sections().filter(|section| section.name().unwrap().starts_with(start));
            sections.next().unwrap().data().unwrap()
        };
        let (symtab, ext) = (section(".gnu.lto_.symtab"), section(".gnu.lto_.ext_symtab"));
        let try_it = |symtab: &[u8], ext: &[u8]| {
            let _ = gcc::read(&[(b".gnu.lto_.symtab.1", symtab), (b".gnu.lto_.ext_symtab.1", ext)]);
        };
        mutate::truncations(symtab, 1).for_each(|damaged| try_it(damaged, ext));
        mutate::truncations(ext, 1).for_each(|damaged| try_it(symtab, damaged));
        (0..2000).for_each(|seed| try_it(&mutate::damage(symtab, seed), &mutate::damage(ext, seed + 1)));
    }
}
