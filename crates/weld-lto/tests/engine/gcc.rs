//! GCC's intermediate code, compiled by the GCC that wrote it.

use weld_lto::answer::{Fault, Level};
use weld_lto::ir::Compiler;
use weld_lto::options::Options;
use weld_lto::request::{Machine, Output, Resolution};

use crate::workshop::{Ask, Given, LOCAL, P, Sym, VISIBLE, Workshop, def, lines, reference};

const MAIN: &str = "int b(int); static int s(int x) { return x * 3; }\n\
     int main(int argc, char **argv) { (void)argv; return b(s(argc)) + 3; }\n";
const B: &str = "int unused(void) { return 7; } int b(int x) { return x * 13; }\n";

fn code(workshop: &Workshop, gcc: &str, name: &str, source: &str, symbols: Vec<Sym>) -> Given {
    let path = workshop.compile(&format!("{gcc} -O2"), name, source);
    let bytes = std::fs::read(&path).unwrap();
    Given { path, bytes, offset: 0, member: None, compiler: Compiler::Gcc, is_thin: false, symbols }
}

fn two(workshop: &Workshop, gcc: &str) -> [Given; 2] {
    [
        code(workshop, gcc, "a", MAIN, vec![def("main", P | VISIBLE | LOCAL), reference("b", LOCAL)]),
        code(workshop, gcc, "b", B, vec![def("unused", P | LOCAL), def("b", P | LOCAL)]),
    ]
}

fn ask() -> Ask {
    Ask { llvm_major: None, gcc_major: Some(12), ..Ask::default() }
}

#[test]
fn slim_and_fat_objects() {
    for flags in ["-flto", "-flto -ffat-lto-objects"] {
        let workshop = Workshop::new("gcc-objects");
        let answer =
            workshop.ask(&two(&workshop, &format!("gcc {flags}")), &Options::default(), &ask()).unwrap();
        assert!(!answer.objects.is_empty());
        assert!(!workshop.defined(&answer).contains(&"unused".to_owned()), "{:?}", workshop.defined(&answer));
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
        assert!(answer.engines[0].contains("12/lto-wrapper: "), "{:?}", answer.engines);
        let again =
            workshop.ask(&two(&workshop, &format!("gcc {flags}")), &Options::default(), &ask()).unwrap();
        for (one, other) in answer.objects.iter().zip(&again.objects) {
            assert!(one.bytes[..] == other.bytes[..], "{flags}");
        }
    }
}

#[test]
fn members_of_archives() {
    let workshop = Workshop::new("gcc-archive");
    let [a, mut b] = two(&workshop, "gcc -flto");
    workshop.sh("ar rc lib.a b.o");
    let archive = std::fs::read(workshop.path("lib.a")).unwrap();
    let offset = archive.windows(b.bytes.len()).position(|window| window == b.bytes).unwrap() as u64;
    (b.path, b.offset, b.member) = (workshop.path("lib.a"), offset, Some(("b.o", offset - 60)));
    let answer = workshop.ask(&[a, b], &Options::default(), &ask()).unwrap();
    assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
}

#[test]
fn other_machines() {
    let machine = |machine, is_64, is_big_endian| Machine::Elf { machine, is_64, is_big_endian };
    for (target, machine) in [
        ("aarch64", machine(183, true, false)),
        ("riscv64", machine(243, true, false)),
        ("s390x", machine(22, true, true)),
        ("i686", machine(3, false, false)),
    ] {
        let workshop = Workshop::new(&format!("gcc-{target}"));
        let gcc = format!("{target}-linux-gnu-gcc");
        let ask = Ask { machine, output: Output::Executable, ..ask() };
        let answer =
            workshop.ask(&two(&workshop, &format!("{gcc} -flto")), &Options::default(), &ask).unwrap();
        let program = workshop.link_by(&gcc, &answer, "-static");
        if target == "i686" {
            assert_eq!(workshop.run(&program), 42);
        } else {
            let code = workshop.sh(&format!("qemu-{target} ./program; echo $?"));
            assert_eq!(code.trim(), "42", "{target}");
        }
    }
}

/// Definitions of one compiler are machine code to the other, and stay.
#[test]
fn files_of_both_compilers() {
    for flags in ["-flto", "-flto=thin"] {
        let workshop = Workshop::new("both");
        let main = "int b(int); int c(int x) { return x + 1; } int main(void) { return b(2); }\n";
        let b = "int c(int); int b(int x) { return c(x) * 14; }\n";
        let files = [
            workshop.bitcode(
                flags,
                "a",
                main,
                vec![reference("b", LOCAL), def("c", P | LOCAL), def("main", P | VISIBLE | LOCAL)],
            ),
            code(&workshop, "gcc -flto", "b", b, vec![def("b", P | LOCAL), reference("c", LOCAL)]),
        ];
        let ask = Ask { gcc_major: Some(12), ..Ask::default() };
        let answer = workshop.ask(&files, &Options::default(), &ask).unwrap();
        assert_eq!((answer.objects.len(), answer.engines.len()), (2, 2));
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
    }
}

#[test]
fn parts_of_a_large_program() {
    let workshop = Workshop::new("gcc-parts");
    let mut source = String::new();
    for number in 0..400 {
        source += &format!(
            "__attribute__((noinline)) int f{number}(int x) {{ volatile int y = x; return y + {number}; }}\n"
        );
    }
    source += "int main(void) { int sum = 0;\n";
    (0..400).for_each(|number| source += &format!("sum += f{number}(0);\n"));
    source += "return sum == 79800 ? 42 : 1; }\n";
    let mut symbols: Vec<Sym> = (0..400).map(|n| def(String::leak(format!("f{n}")), P | LOCAL)).collect();
    symbols.push(def("main", P | VISIBLE | LOCAL));
    let file = code(&workshop, "gcc -flto -flto-partition=max", "a", &source, symbols);
    let options = Options { jobs: Some("2".to_owned()), ..Options::default() };
    let answer = workshop.ask(&[file], &options, &ask()).unwrap();
    assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
}

#[test]
fn what_gcc_says_is_passed_on() {
    let workshop = Workshop::new("gcc-says");
    let a = "extern int x[4]; int main(void) { return x[0]; }\n";
    let b = "char x = 1;\n";
    let files = [
        code(&workshop, "gcc -flto", "a", a, vec![def("main", P | VISIBLE | LOCAL), reference("x", LOCAL)]),
        code(&workshop, "gcc -flto", "b", b, vec![def("x", P | LOCAL)]),
    ];
    let answer = workshop.ask(&files, &Options::default(), &ask()).unwrap();
    let warned =
        answer.messages.iter().any(|m| m.level == Level::Output && m.text.contains("does not match"));
    assert!(warned, "{:?}", answer.messages);
}

#[test]
fn redefined_symbols_are_spoken_of() {
    let workshop = Workshop::new("gcc-wrap");
    let [a, mut b] = two(&workshop, "gcc -flto");
    b.symbols[1].1 = P | LOCAL | Resolution::REDEFINED;
    let answer = workshop.ask(&[a, b], &Options::default(), &ask()).unwrap();
    assert!(answer.messages.iter().any(|m| m.level == Level::Warning && m.text.starts_with("b: GCC sees")));
}

#[test]
fn what_gcc_cannot_do() {
    let workshop = Workshop::new("gcc-options");
    let options = Options { llvm: vec!["-x".to_owned()], ..Options::default() };
    let error = workshop.ask(&two(&workshop, "gcc -flto"), &options, &ask()).unwrap_err();
    assert!(lines(&error).contains("cannot do -mllvm"), "{}", lines(&error));
    let ask = Ask { gcc_major: Some(99), ..ask() };
    let error = workshop.ask(&two(&workshop, "gcc -flto"), &Options::default(), &ask).unwrap_err();
    let text = lines(&error);
    assert!(text.contains("there is no gcc 99 for x86_64"), "{text}");
    assert!(text.contains("12/lto-wrapper, which is of another version"), "{text}");
}

#[test]
fn a_wrapper_that_fails() {
    let workshop = Workshop::new("gcc-fails");
    let mut options = Options::default();
    let script = |name: &str, text: &str| {
        std::fs::write(workshop.path(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        workshop.sh(&format!("chmod +x {name}"));
        workshop.path(name).display().to_string()
    };
    let mut said = |text: &str| {
        options.engine.plugin = Some(workshop.path("liblto_plugin.so"));
        script("lto-wrapper", text);
        options.engine.plugin_options = vec![workshop.path("lto-wrapper").display().to_string()];
        // The driver is found by the names of the wrapper's directories.
        let place = workshop.path("lib/gcc-cross/aarch64-linux-gnu/12");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::rename(workshop.path("lto-wrapper"), place.join("lto-wrapper")).unwrap();
        options.engine.plugin_options = vec![place.join("lto-wrapper").display().to_string()];
        let error = workshop.ask(&two(&workshop, "gcc -flto"), &options, &ask()).unwrap_err();
        (lines(&error), error.fault)
    };
    let (text, _) = said("echo out of luck >&2; exit 3");
    assert!(text.contains("it printed: out of luck\nlto-wrapper ended with exit code 3"), "{text}");
    let (text, _) = said("kill -SEGV $$");
    assert!(text.contains("lto-wrapper ended with signal 11"), "{text}");
    let (text, fault) = said("exit 0");
    assert!(matches!(fault, Fault::NoObjects), "{text}");
    let (text, fault) = said("echo $TMPDIR/none.o");
    assert!(matches!(fault, Fault::File { .. }), "{text}");
    let (text, fault) = said(": > $TMPDIR/a.o; echo $TMPDIR/a.o");
    assert!(matches!(fault, Fault::BadObject { .. }) && text.contains("it is empty"), "{text}");
    let (text, fault) = said("cp /bin/sh $TMPDIR/a.o; echo $TMPDIR/a.o");
    assert!(matches!(fault, Fault::BadObject { .. }) && text.contains("no relocatable file"), "{text}");
}
