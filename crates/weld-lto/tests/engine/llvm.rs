//! Bitcode, compiled by LLVM's plugin and by the engine that weld builds.

use weld_lto::answer::{Fault, Level};
use weld_lto::options::Options;
use weld_lto::request::{Machine, Output, Resolution};

use crate::workshop::{Ask, Given, LOCAL, NONE, P, VISIBLE, Workshop, def, lines, reference};

const MAIN: &str = "int b(int); static int s(int x) { return x * 3; }\n\
     int main(int argc, char **argv) { (void)argv; return b(s(argc)) + 3; }\n";
const B: &str = "int unused(void) { return 7; } int b(int x) { return x * 13; }\n";

/// A program of two modules: 3 * 13 + 3.
fn two(workshop: &Workshop, flags: &str) -> [Given; 2] {
    [
        workshop.bitcode(flags, "a", MAIN, vec![def("main", P | VISIBLE | LOCAL), reference("b", LOCAL)]),
        workshop.bitcode(flags, "b", B, vec![def("unused", P | LOCAL), def("b", P | LOCAL)]),
    ]
}

#[test]
fn merged_modules_become_one_object() {
    Workshop::each("full", |workshop| {
        let answer = workshop.ask(&two(workshop, "-flto"), &Options::default(), &Ask::default()).unwrap();
        assert_eq!(answer.objects.len(), 1);
        assert!(answer.objects[0].name.ends_with(b"/out.lto.o"), "{:?}", answer.objects[0].name);
        assert_eq!(workshop.defined(&answer), ["main"]);
        assert!(answer.messages.is_empty(), "{:?}", answer.messages);
        assert!(answer.engines[0].contains(" (LLVM 22."), "{:?}", answer.engines);
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
    });
}

#[test]
fn modules_for_thinlto_become_objects_of_their_own() {
    Workshop::each("thin", |workshop| {
        let files = two(workshop, "-flto=thin");
        let answer = workshop.ask(&files, &Options::default(), &Ask::default()).unwrap();
        let names: Vec<&[u8]> =
            answer.objects.iter().map(|o| o.name.rsplit(|b| *b == b'/').next().unwrap()).collect();
        assert_eq!(names, [&b"out.lto.a.o"[..], b"out.lto.b.o"]);
        assert!(!workshop.defined(&answer).contains(&"unused".to_owned()));
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
        for jobs in ["1", "2", "8", "all"] {
            let options = Options { jobs: Some(jobs.to_owned()), ..Options::default() };
            let again = workshop.ask(&files, &options, &Ask::default()).unwrap();
            for (one, other) in answer.objects.iter().zip(&again.objects) {
                assert!(one.bytes[..] == other.bytes[..], "{jobs} jobs");
            }
        }
    });
}

#[test]
fn members_of_archives() {
    Workshop::each("archive", |workshop| {
        let [a, mut b] = two(workshop, "-flto=thin");
        workshop.sh("ar rc lib.a b.o");
        let archive = std::fs::read(workshop.path("lib.a")).unwrap();
        let offset = archive.windows(b.bytes.len()).position(|window| window == b.bytes).unwrap() as u64;
        (b.path, b.offset, b.member) = (workshop.path("lib.a"), offset, Some(("b.o", offset - 60)));
        let answer = workshop.ask(&[a, b], &Options::default(), &Ask::default()).unwrap();
        assert!(
            answer.objects[1].name.ends_with(format!("/out.lto.lib.a(b.o at {}).o", offset - 60).as_bytes())
        );
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
    });
}

#[test]
fn kinds_of_output() {
    Workshop::each("kinds", |workshop| {
        let source = "extern int data; int f(void) { return data; }\n";
        for (output, expected) in
            [(Output::Shared, "GOTPCREL"), (Output::Pie, "PC32"), (Output::Executable, "R_X86_64_32|PC32")]
        {
            let symbols = vec![reference("data", NONE | local_in(output)), def("f", P | VISIBLE | LOCAL)];
            let file = workshop.bitcode("-flto -fPIC", "f", source, symbols);
            let answer =
                workshop.ask(&[file], &Options::default(), &Ask { output, ..Ask::default() }).unwrap();
            std::fs::write(workshop.path("f.obj"), &answer.objects[0].bytes[..]).unwrap();
            let relocations = workshop.sh("readelf -rW f.obj");
            assert!(expected.split('|').any(|kind| relocations.contains(kind)), "{output:?}: {relocations}");
        }
    });
}

fn local_in(output: Output) -> Resolution {
    if output == Output::Shared { NONE } else { LOCAL | Resolution::NATIVE }
}

#[test]
fn each_function_of_a_relocatable_file_has_a_section() {
    Workshop::each("relocatable", |workshop| {
        let symbols = vec![def("unused", P | VISIBLE), def("b", P | VISIBLE)];
        let file = workshop.bitcode("-flto", "b", B, symbols);
        let ask = Ask { output: Output::Relocatable, ..Ask::default() };
        let answer = workshop.ask(&[file], &Options::default(), &ask).unwrap();
        std::fs::write(workshop.path("b.obj"), &answer.objects[0].bytes[..]).unwrap();
        let sections = workshop.sh("readelf -SW b.obj");
        assert!(sections.contains(".text.b") && sections.contains(".llvm_addrsig"), "{sections}");
    });
}

/// Calls of a function that the linker redirects must stay calls.
#[test]
fn redefined_symbols_are_not_looked_into() {
    Workshop::each("wrap", |workshop| {
        let main = "int foo(void); int main(void) { return foo(); }\n";
        let foo = "int foo(void) { return 1; }\n";
        workshop.compile("gcc", "wrap", "int __wrap_foo(void) { return 42; }\n");
        let redefined = Resolution::REDEFINED;
        for flags in ["-flto", "-flto=thin"] {
            let files = [
                workshop.bitcode(
                    flags,
                    "m",
                    main,
                    vec![reference("foo", redefined), def("main", P | VISIBLE | LOCAL)],
                ),
                workshop.bitcode(flags, "foo", foo, vec![def("foo", P | VISIBLE | LOCAL | redefined)]),
            ];
            let answer = workshop.ask(&files, &Options::default(), &Ask::default()).unwrap();
            // The wrapped call has to be between objects for GNU ld to see it; here it is enough that there
            // is one.
            std::fs::write(workshop.path("m.obj"), &answer.objects[0].bytes[..]).unwrap();
            let calls = workshop.sh("objdump -dr m.obj");
            assert!(calls.contains("foo-0x4") || calls.contains("<foo>"), "{flags}: {calls}");
        }
    });
}

#[test]
fn a_native_definition_wins() {
    Workshop::each("native", |workshop| {
        let source =
            "__attribute__((weak)) int value(void) { return 1; } int main(void) { return value(); }\n";
        workshop.compile("gcc", "native", "int value(void) { return 42; }\n");
        let native = LOCAL | Resolution::NATIVE;
        let file = workshop.bitcode(
            "-flto",
            "m",
            source,
            vec![def("value", native), def("main", P | VISIBLE | LOCAL)],
        );
        let answer = workshop.ask(&[file], &Options::default(), &Ask::default()).unwrap();
        assert_eq!(workshop.run(&workshop.link(&answer, "native.o")), 42);
    });
}

#[test]
fn objects_for_windows() {
    Workshop::each("coff", |workshop| {
        for (target, machine) in [("x86_64-pc-windows-msvc", 0x8664), ("aarch64-pc-windows-msvc", 0xaa64)] {
            for mode in ["-flto", "-flto=thin"] {
                let flags = format!("--target={target} {mode}");
                let file =
                    workshop.bitcode(&flags, "w", "int f(void) { return 7; }\n", vec![def("f", P | VISIBLE)]);
                let ask =
                    Ask { machine: Machine::Coff { machine }, output: Output::Executable, ..Ask::default() };
                let answer = workshop.ask(&[file], &Options::default(), &ask).unwrap();
                assert_eq!(answer.objects.len(), 1);
            }
        }
        // A machine that the link is not for.
        let flags = "--target=aarch64-pc-windows-msvc -flto";
        let file = workshop.bitcode(flags, "w", "int f(void) { return 7; }\n", vec![def("f", P | VISIBLE)]);
        let ask = Ask { machine: Machine::Coff { machine: 0x8664 }, ..Ask::default() };
        let error = workshop.ask(&[file], &Options::default(), &ask).unwrap_err();
        assert!(lines(&error).contains("it is for machine 0xaa64, not 0x8664"), "{}", lines(&error));
    });
}

#[test]
fn what_is_no_bitcode_is_an_error() {
    let workshop = Workshop::new("garbage");
    let [mut a, b] = two(&workshop, "-flto");
    let half = a.bytes.len() / 2;
    a.bytes.truncate(half);
    std::fs::write(&a.path, &a.bytes).unwrap();
    let error = workshop.ask(&[a, b], &Options::default(), &Ask::default()).unwrap_err();
    let text = lines(&error);
    assert!(matches!(error.fault, Fault::Said), "{text}");
    assert!(text.contains("a.o") && text.contains("LLVMgold.so failed"), "{text}");
}

#[test]
fn a_symbol_that_was_not_told_is_an_error() {
    Workshop::each("unknown-symbol", |workshop| {
        let [a, mut b] = two(workshop, "-flto");
        b.symbols.pop();
        let error = workshop.ask(&[a, b], &Options::default(), &Ask::default()).unwrap_err();
        let text = lines(&error);
        assert!(text.contains("b.o: it finds a symbol b that weld has not found there"), "{text}");
    });
}

#[test]
fn warnings_are_passed_on() {
    Workshop::each("warnings", |workshop| {
        let big = "void f(void) { __asm__ volatile(\".warning \\\"think again\\\"\"); }\n";
        let file = workshop.bitcode("-flto", "f", big, vec![def("f", P | VISIBLE)]);
        let answer = workshop.ask(&[file], &Options::default(), &Ask::default()).unwrap();
        let warned =
            answer.messages.iter().any(|m| m.level == Level::Warning && m.text.contains("think again"));
        assert!(warned, "{:?}", answer.messages);
    });
}

/// An engine must not be older than any of the files.
#[test]
fn no_engine_is_new_enough() {
    let workshop = Workshop::new("too-new");
    let ask = Ask { llvm_major: Some(99), ..Ask::default() };
    let error = workshop.ask(&two(&workshop, "-flto"), &Options::default(), &ask).unwrap_err();
    let text = lines(&error);
    assert!(
        text.starts_with("link-time optimisation: there is no LLVM 99 or later that can be loaded"),
        "{text}"
    );
    assert!(text.contains("/usr/lib/llvm-22/lib/LLVMgold.so, which is too old"), "{text}");
    assert!(text.contains("llvm-99-linker-tools"), "{text}");
    let mut options = Options::default();
    options.engine.path = Some("/usr/lib/llvm-22/lib/LLVMgold.so".into());
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &ask).unwrap_err();
    assert!(lines(&error).contains("LLVMgold.so: it is LLVM 22"), "{}", lines(&error));
}
