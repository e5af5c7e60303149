//! Bitcode of clang, against what LLVM's own tools say of it.
//!
//! `llvm-lto2 dump-symtab` prints the symbol table that LLVM's linker library works with, `llvm-nm` names and
//! kinds made from the module itself, and `opt` the functions that code generation calls.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use weld_lto::bitcode::{self, Mode};
use weld_lto::ir::{IrFile, Kind, ReadError, Selection, Visibility};
use weld_lto::runtime_calls;
use weld_lto::triple::Triple;
use weld_testkit::mutate;

use crate::tools;

/// Targets, and what their C can have besides.
const ELF: &[(&str, &[&str])] = &[
    ("x86_64-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("i686-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("aarch64-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("riscv64-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("loongarch64-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("s390x-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("armv7-linux-gnueabihf", &["-DVERSIONS", "-DIFUNC"]),
    ("powerpc64le-linux-gnu", &["-DVERSIONS", "-DIFUNC"]),
    ("mips64el-linux-gnuabi64", &["-DVERSIONS"]),
    ("x86_64-unknown-freebsd", &["-DVERSIONS", "-DIFUNC"]),
];
const COFF: &[&str] =
    &["x86_64-pc-windows-msvc", "i686-pc-windows-msvc", "aarch64-pc-windows-msvc", "x86_64-w64-windows-gnu"];
const MODES: &[(&[&str], Mode)] = &[
    (&["-flto=full"], Mode::Full),
    (&["-flto=thin"], Mode::Thin),
    (&["-flto=thin", "-funified-lto"], Mode::Unified),
    (&["-flto=full", "-funified-lto"], Mode::Unified),
];

fn compile(target: &str, flags: &[&str], source: &str) -> PathBuf {
    let target = format!("--target={target}");
    let common =
        [&target, "-O1", "-fcommon", "-fexceptions", "-fvisibility=default", "-Wno-everything", "-c"];
    tools::make("clang-22", &[&common[..], flags].concat(), &[&tools::source(source)])
}

/// Every combination of target, kind of LTO, and source.
fn all() -> Vec<(String, PathBuf, Mode)> {
    let mut files = Vec::new();
    let mut add = |target: &str, flags: &[&str], source: &str| {
        for &(kind, mode) in MODES {
            let what = format!("{source} for {target} with {}", kind.join(" "));
            files.push((what, compile(target, &[kind, flags].concat(), source), mode));
        }
    };
    for (target, flags) in ELF {
        add(target, flags, "elf.c");
        add(target, &[], "cxx.cc");
    }
    for target in COFF {
        add(target, &[], "coff.c");
        add(target, &[], "cxx.cc");
    }
    files
}

/// The file as `llvm-lto2 dump-symtab` shows it.
fn dump(file: &IrFile<'_>, version: u32) -> String {
    let text = String::from_utf8_lossy;
    let mut out = format!("version: {version}\nproducer: {}\n", text(file.producer));
    let triple = Triple::new(file.triple);
    writeln!(out, "target triple: {}\nsource filename: {}", text(file.triple), text(file.source)).unwrap();
    if triple.is_coff() {
        writeln!(out, "linker opts: {}", text(&file.directives.concat())).unwrap();
    } else if triple.elf().is_some() {
        out.push_str("dependent libraries:");
        file.libraries.iter().for_each(|library| write!(out, " \"{}\"", text(library)).unwrap());
        out.push('\n');
    }
    for symbol in file.symbols.iter().filter(|symbol| symbol.is_for_linkers()) {
        out.push(match symbol.visibility {
            Visibility::Default => 'D',
            Visibility::Hidden => 'H',
            Visibility::Protected => 'P',
            Visibility::Internal => '?',
        });
        let flags = [
            ('U', symbol.kind == Kind::Undefined),
            ('C', matches!(symbol.kind, Kind::Common { .. })),
            ('W', symbol.is_weak),
            ('I', symbol.is_indirect),
            ('O', symbol.can_be_omitted),
            ('T', symbol.is_tls),
            ('X', symbol.is_function),
        ];
        out.extend(flags.map(|(letter, is_set)| if is_set { letter } else { '-' }));
        writeln!(out, " {}", text(symbol.name)).unwrap();
        if let Kind::Common { size, alignment } = symbol.kind {
            writeln!(out, "         size {size} align {alignment}").unwrap();
        }
        if let Some(comdat) = symbol.comdat {
            let comdat = file.comdats[comdat as usize];
            let selection = match comdat.selection {
                Selection::Any => "any",
                Selection::ExactMatch => "exactmatch",
                Selection::Largest => "largest",
                Selection::NoDuplicates => "nodeduplicate",
                Selection::SameSize => "samesize",
            };
            writeln!(out, "         comdat {selection} {}", text(comdat.name)).unwrap();
        }
        if let Some(fallback) = symbol.fallback {
            writeln!(out, "         fallback {}", text(fallback)).unwrap();
        }
        if !symbol.section.is_empty() {
            writeln!(out, "         section {}", text(symbol.section)).unwrap();
        }
    }
    out + "\n"
}

/// Names as `llvm-nm` has them of what other files can see: undefined, or a letter for what is defined.
fn nm(file: &IrFile<'_>) -> BTreeSet<(char, String)> {
    let symbols = file.symbols.iter().filter(|symbol| symbol.is_for_linkers());
    let letter = |symbol: &weld_lto::ir::IrSymbol<'_>| match symbol.kind {
        Kind::Undefined => 'U',
        Kind::Common { .. } => 'C',
        Kind::Defined if symbol.is_weak => 'W',
        Kind::Defined if symbol.is_function => 'T',
        Kind::Defined => 'D',
    };
    symbols.map(|symbol| (letter(symbol), String::from_utf8_lossy(symbol.name).into_owned())).collect()
}

fn nm_of_llvm(path: &Path) -> BTreeSet<(char, String)> {
    let text = tools::print("llvm-nm-22", &["--extern-only"], &[path]);
    let lines = text.lines().map(|line| line.trim_start_matches(['-', ' ']));
    lines
        .map(|line| {
            let (letter, name) = line.split_once(' ').expect("a letter and a name");
            let letter = match letter {
                // Weak, and defined; of data.
                "V" => 'W',
                // Weak, and not defined.
                "w" | "v" => 'U',
                // In a section that the source names, or of only zeros.
                "S" | "B" | "R" => 'D',
                letter => letter.chars().next().expect("a letter"),
            };
            (letter, name.to_owned())
        })
        .collect()
}

#[test]
fn symbols_are_those_that_llvm_tells() {
    for (what, path, mode) in all() {
        let bytes = std::fs::read(&path).unwrap();
        let file = bitcode::read(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected = tools::print("llvm-lto2-22", &["dump-symtab"], &[&path]);
        assert_eq!(dump(&file, 3), expected, "{what}");
        assert_eq!(nm(&file), nm_of_llvm(&path), "{what}");
        assert_eq!(file.major, Some(22), "{what}");
        assert_eq!(bitcode::mode(&bytes), Ok(mode), "{what}");
    }
}

#[test]
fn used_symbols_and_those_without_an_address() {
    let bytes = std::fs::read(compile("x86_64-linux-gnu", &["-flto=thin"], "elf.c")).unwrap();
    let file = bitcode::read(&bytes).unwrap();
    let used =
        file.symbols.iter().filter(|symbol| symbol.is_used && symbol.is_global).map(|symbol| symbol.name);
    assert_eq!(used.collect::<Vec<_>>(), [b"used_global"]);
    let bytes = std::fs::read(compile("x86_64-linux-gnu", &["-flto=thin"], "cxx.cc")).unwrap();
    let file = bitcode::read(&bytes).unwrap();
    let of = |name: &str| file.symbols.iter().find(|symbol| symbol.name == name.as_bytes()).expect(name);
    assert!(of("_ZTVN4shop4CellIiEE").is_unnamed_addr && !of("_ZN4shop7counterE").is_unnamed_addr);
}

#[test]
fn bitcode_of_others() {
    // With a header in front, as Apple's tools want it.
    let apple = tools::make(
        "clang-22",
        &["--target=x86_64-apple-macosx13", "-flto", "-c"],
        &[&tools::source("cxx.cc")],
    );
    // Another compiler, with its own build of LLVM.
    let rust = ["-O", "-Clinker-plugin-lto", "--crate-type=lib", "--emit=obj"];
    let rust = tools::make("rustc", &rust, &[&tools::source("shop.rs")]);
    assert!(std::fs::read(&apple).unwrap().starts_with(&0x0b17_c0deu32.to_le_bytes()));
    for path in [apple, rust] {
        let bytes = std::fs::read(&path).unwrap();
        let file = bitcode::read(&bytes).unwrap();
        assert_eq!(dump(&file, 3), tools::print("llvm-lto2-22", &["dump-symtab"], &[&path]));
    }
}

#[test]
fn modules_in_one_file() {
    // The vtables' types go to a module of their own.
    let split = ["-flto=thin", "-fsplit-lto-unit", "-fwhole-program-vtables", "-fvisibility=hidden"];
    let split = compile("x86_64-linux-gnu", &split, "cxx.cc");
    let bytes = std::fs::read(&split).unwrap();
    let file = bitcode::read(&bytes).unwrap();
    assert_eq!(dump(&file, 3), tools::print("llvm-lto2-22", &["dump-symtab"], &[&split]));
    assert_eq!(bitcode::mode(&bytes), Ok(Mode::Thin));

    // Put one after the other, each with its own table; LLVM makes another of them.
    let one = compile("x86_64-linux-gnu", &["-flto=full"], "elf.c");
    let bytes = [std::fs::read(&one).unwrap(), bytes[4..].to_vec()].concat();
    let joined = tools::keep(&bytes);
    let file = bitcode::read(&bytes).unwrap();
    let expected = tools::print("llvm-lto2-22", &["dump-symtab"], &[&joined]);
    assert_eq!(dump(&file, 3), expected);

    // LLVM's own tool for that leaves the symbol tables out.
    let bytes = std::fs::read(tools::make("llvm-cat-22", &["-b"], &[&one, &split])).unwrap();
    assert!(bitcode::read(&bytes).unwrap_err().can_ask_engine());
}

#[test]
fn fat_objects() {
    for kind in ["-flto=thin", "-flto=full"] {
        for source in ["elf.c", "cxx.cc"] {
            let fat =
                std::fs::read(compile("x86_64-linux-gnu", &[kind, "-ffat-lto-objects"], source)).unwrap();
            let object = object::File::parse(&fat[..]).unwrap();
            let section = object.section_by_name(".llvm.lto").expect("bitcode in the object");
            let file = bitcode::read(section.data().unwrap()).unwrap();
            // Fat objects are made of the modules that a link would have, by another way through clang.
            let alone = std::fs::read(compile("x86_64-linux-gnu", &[kind], source)).unwrap();
            assert_eq!(nm(&file), nm(&bitcode::read(&alone).unwrap()), "{kind} {source}");
        }
    }
}

#[test]
fn bitcode_that_has_no_symbol_table() {
    // LLVM's assembler makes none for a module that does not say how data lie.
    let bytes = std::fs::read(tools::make("llvm-as-22", &[], &[&tools::source("no_layout.ll")])).unwrap();
    let error = bitcode::read(&bytes).unwrap_err();
    let ReadError::NoSymbolTable { producer } = &error else { panic!("{error}") };
    assert!(producer.starts_with(b"LLVM22."), "{error}");
    assert_eq!(error.major(), Some(22));
}

#[test]
fn damaged_copies() {
    for (target, flags, source) in [
        ("x86_64-linux-gnu", &["-flto=thin"][..], "elf.c"),
        ("x86_64-linux-gnu", &["-flto=full"], "cxx.cc"),
        ("x86_64-pc-windows-msvc", &["-flto=thin", "-funified-lto"], "coff.c"),
    ] {
        let bytes = std::fs::read(compile(target, flags, source)).unwrap();
        let try_it = |bytes: &[u8]| {
            let _ = (bitcode::read(bytes), bitcode::mode(bytes));
        };
        mutate::truncations(&bytes, 13).for_each(try_it);
        (0..2000).for_each(|seed| try_it(&mutate::damage(&bytes, seed)));
    }
}

#[test]
fn runtime_calls_are_those_that_llvm_declares() {
    for triple in RUNTIME.split_ascii_whitespace() {
        let module = tools::keep(format!("target triple = \"{triple}\"\n").as_bytes());
        let text = tools::print("opt-22", &["-S", "-passes=declare-runtime-libcalls"], &[&module]);
        let declared = text.lines().filter(|line| line.starts_with("declare "));
        let name = |line: &'_ str| {
            line.split_once('@')?.1.split('(').next().map(|name| name.trim_matches('"').to_owned())
        };
        let declared: Vec<String> = declared.map(|line| name(line).expect("a name")).collect();
        let declared: BTreeSet<&str> = declared.iter().map(|name| &name[..]).collect();
        let ours: BTreeSet<&str> = runtime_calls::names(triple.as_bytes()).collect();
        let only =
            |a: &BTreeSet<&str>, b: &BTreeSet<&str>| a.difference(b).copied().collect::<Vec<_>>().join(" ");
        assert_eq!((only(&declared, &ours), only(&ours, &declared)), Default::default(), "{triple}");
    }
}

/// Triples whose list is exact.
const RUNTIME: &str = "
    x86_64-unknown-linux-gnu x86_64-unknown-linux-musl x86_64-unknown-linux-gnux32
    x86_64-unknown-linux-android x86_64-unknown-freebsd x86_64-unknown-netbsd x86_64-unknown-openbsd
    x86_64-unknown-fuchsia x86_64-unknown-none x86_64-pc-windows-msvc x86_64-pc-windows-gnu
    x86_64-w64-windows-gnu x86_64-pc-windows-cygnus i686-pc-windows-cygnus x86_64-pc-windows-itanium
    x86_64-pc-windows x86_64-unknown-hurd-gnu x86_64-unknown-linux-ohos armv7-unknown-linux-ohos
    arm-unknown-linux-musleabi x86_64-unknown-linux x86_64-uefi x86_64-scei-ps4 x86_64-sie-ps5
    x86_64-unknown-haiku x86_64-unknown-hermit x86_64-unknown-illumos i386-unknown-linux-gnu
    i686-unknown-linux-gnu i686-unknown-linux-musl i686-unknown-linux-android i686-unknown-freebsd
    i686-unknown-openbsd i686-pc-windows-msvc i686-pc-windows-gnu i686-unknown-none
    aarch64-unknown-linux-gnu aarch64-unknown-linux-musl aarch64-unknown-linux-android
    aarch64-unknown-freebsd aarch64-unknown-openbsd aarch64-unknown-netbsd aarch64-unknown-fuchsia
    aarch64-unknown-none-elf aarch64-pc-windows-msvc aarch64-w64-windows-gnu
    aarch64_be-unknown-linux-gnu arm-unknown-linux-gnueabi arm-unknown-linux-gnueabihf
    armv7-unknown-linux-gnueabihf armv7-unknown-linux-musleabihf armv5-unknown-linux-gnueabi
    thumbv7-unknown-linux-gnueabihf thumbv6m-none-unknown-eabi thumbv7em-none-unknown-eabihf
    arm-none-unknown-eabi armv7-unknown-linux-androideabi armv7-unknown-freebsd-gnueabihf
    armv7-unknown-netbsd-eabi armv7-unknown-openbsd armv7-pc-windows-msvc thumbv7-pc-windows-msvc
    thumbv7-w64-windows-gnu armeb-unknown-linux-gnueabi arm-unknown-linux-gnu
    riscv64-unknown-linux-gnu riscv64-unknown-linux-musl riscv64-unknown-elf riscv32-unknown-elf
    riscv32-unknown-linux-gnu riscv64-unknown-freebsd riscv64-unknown-openbsd
    riscv64-unknown-linux-android loongarch64-unknown-linux-gnu loongarch64-unknown-linux-musl
    loongarch32-unknown-elf s390x-unknown-linux-gnu
";
