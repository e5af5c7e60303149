//! Modules that are compiled by a distributor: the same objects as here, and what is said if there are none.

use std::path::Path;

use weld_lto::answer::{Answer, Fault};
use weld_lto::options::{Cache, Distribution, Options, SaveTemps};
use weld_lto::request::{Machine, Output};

use crate::workshop::{Ask, Given, LOCAL, NONE, P, VISIBLE, Workshop, def, lines, reference};

const MAIN: &str = "int b(int), w(int); static int s(int x) { return x * 3; }\n\
     int main(int argc, char **argv) { (void)argv; return b(s(argc)) + w(2); }\n";
const B: &str = "static int k = 13; int b(int x) { return x * k; }\n";
const W: &str = "int w(int x) { return x + 1; }\n";

/// A program of two modules that can be compiled elsewhere and one that is merged: 3 * 13 + 3.
fn three(workshop: &Workshop) -> [Given; 3] {
    let main = vec![def("main", P | VISIBLE | LOCAL), reference("b", LOCAL), reference("w", LOCAL)];
    [
        workshop.bitcode("-flto=thin", "a", MAIN, main),
        workshop.bitcode("-flto=thin", "b", B, vec![def("b", P | LOCAL)]),
        workshop.bitcode("-flto", "w", W, vec![def("w", P | LOCAL)]),
    ]
}

fn by(distributor: &Path) -> Options {
    let distribution = Distribution {
        distributor: distributor.to_owned(),
        compiler: "clang-22".into(),
        ..Distribution::default()
    };
    Options { distribution: Some(distribution), ..Options::default() }
}

/// A distributor that does all that the jobs say.
fn everything(workshop: &Workshop) -> Options {
    let program = "#!/usr/bin/env python3\nimport json, subprocess, sys\nlist = json.load(open(sys.argv[1]))\n\
                   for job in list['jobs']: subprocess.check_call(list['common']['args'] + job['args'])\n";
    by(&script(workshop, "everything", program))
}

fn script(workshop: &Workshop, name: &str, text: &str) -> std::path::PathBuf {
    std::fs::write(workshop.path(name), text).unwrap();
    workshop.sh(&format!("chmod +x {name}"));
    workshop.path(name)
}

fn assert_same(one: &Answer, other: &Answer, what: &str) {
    let names = |answer: &Answer| answer.objects.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}");
    for (one, other) in one.objects.iter().zip(&other.objects) {
        assert!(one.bytes[..] == other.bytes[..], "{what}: {}", String::from_utf8_lossy(&one.name));
    }
}

#[test]
fn objects_are_the_same_as_here() {
    let workshop = Workshop::new("elsewhere");
    let files = three(&workshop);
    for output in [Output::Executable, Output::Pie, Output::Shared] {
        let ask = Ask { output, ..Ask::default() };
        let here = workshop.ask(&files, &Options::default(), &ask).unwrap();
        let there = workshop.ask(&files, &everything(&workshop), &ask).unwrap();
        assert_eq!(there.objects.len(), 3);
        assert_same(&here, &there, &format!("{output:?}"));
        assert!(there.messages.is_empty(), "{:?}", there.messages);
        assert!(there.engines[1].contains("everything: 2 of 2 modules"), "{:?}", there.engines);
        assert!(!workshop.path("out.dtlto").exists());
        if output == Output::Pie {
            assert_eq!(workshop.run(&workshop.link(&there, "")), 42);
        }
    }
}

#[test]
fn objects_for_windows_are_the_same_as_here() {
    let workshop = Workshop::new("elsewhere-coff");
    for (target, machine) in [("x86_64", 0x8664), ("i686", 0x14c), ("aarch64", 0xaa64)] {
        let prefix = if target == "i686" { "_" } else { "" };
        let name = |name: &'static str| -> &'static str {
            if prefix.is_empty() { name.strip_prefix('_').unwrap_or(name) } else { name }
        };
        let flags = format!("--target={target}-pc-windows-msvc -flto=thin");
        let a = vec![def(name("_start"), P | VISIBLE), reference(name("_b"), NONE)];
        let source = "int b(int); int start(void) { return b(2); }\n";
        let files = [
            workshop.bitcode(&flags, "a", source, a),
            workshop.bitcode(&flags, "b", B, vec![def(name("_b"), P)]),
        ];
        let ask = Ask { machine: Machine::Coff { machine }, output: Output::Executable, ..Ask::default() };
        let here = workshop.ask(&files, &Options::default(), &ask).unwrap();
        let there = workshop.ask(&files, &everything(&workshop), &ask).unwrap();
        assert_same(&here, &there, target);
    }
}

#[test]
fn members_of_archives_become_files() {
    let workshop = Workshop::new("elsewhere-archive");
    let [a, mut b, w] = three(&workshop);
    workshop.sh("ar rc lib.a b.o");
    let archive = std::fs::read(workshop.path("lib.a")).unwrap();
    let offset = archive.windows(b.bytes.len()).position(|window| window == b.bytes).unwrap() as u64;
    (b.path, b.offset, b.member) = (workshop.path("lib.a"), offset, Some(("b.o", offset - 60)));
    let files = [a, b, w];
    let here = workshop.ask(&files, &Options::default(), &Ask::default()).unwrap();
    let options = Options { save_temps: SaveTemps::All, ..everything(&workshop) };
    let there = workshop.ask(&files, &options, &Ask::default()).unwrap();
    assert_same(&here, &there, "member");
    assert!(workshop.path(&format!("out.dtlto/lib.a(b.o at {}).o", offset - 60)).exists());
    assert!(workshop.path("out.dtlto/out.dist-file.json").exists());
    // The directory is there, and is used again.
    let again = workshop.ask(&files, &options, &Ask::default()).unwrap();
    assert_same(&there, &again, "again");
    assert!(!workshop.path("out.dtlto.1").exists());
    // Another link's is left alone.
    let beside = workshop.ask(&files, &everything(&workshop), &Ask::default()).unwrap();
    assert_same(&there, &beside, "beside");
    assert!(workshop.path("out.dtlto").exists() && !workshop.path("out.dtlto.1").exists());
}

#[test]
fn what_has_not_changed_needs_nobody() {
    let workshop = Workshop::new("elsewhere-cache");
    let cached = |options: Options| {
        let directory = workshop.path("cache");
        Options { cache: Some(Cache { directory, policy: None }), ..options }
    };
    let fails = script(&workshop, "fails", "#!/bin/sh\nexit 1\n");
    let first = workshop.ask(&three(&workshop), &cached(everything(&workshop)), &Ask::default()).unwrap();
    let second = workshop.ask(&three(&workshop), &cached(everything(&workshop)), &Ask::default()).unwrap();
    assert!(second.engines[0].contains("an earlier link"), "{:?}", second.engines);
    assert_same(&first, &second, "whole");
    // Of the merged module something else is asked, so there is another thin link.
    let mut files = three(&workshop);
    files[2].symbols[0].1 = P | LOCAL | VISIBLE;
    let third = workshop.ask(&files, &cached(by(&fails)), &Ask::default()).unwrap();
    assert!(third.engines[1].contains("fails: 0 of 2 modules"), "{:?}", third.engines);
    assert_same(&first, &third, "modules");
    // Another compiler.
    let mut options = cached(by(&fails));
    options.distribution.as_mut().unwrap().compiler_args.push("-O1".into());
    workshop.ask(&three(&workshop), &options, &Ask::default()).unwrap_err();
}

#[test]
fn what_distributors_get_wrong_is_said() {
    let workshop = Workshop::new("distributors");
    let files = three(&workshop);
    let fault = |options: &Options| {
        let error = workshop.ask(&files, options, &Ask::default()).unwrap_err();
        assert!(!workshop.path("out.dtlto").exists());
        error
    };
    let error = fault(&by(Path::new("/no/such/distributor")));
    assert!(matches!(error.fault, Fault::CannotStart(_)), "{error}");
    let error = fault(&by(&script(&workshop, "fails", "#!/bin/sh\necho words; exit 3\n")));
    assert!(lines(&error).contains("fails failed\n"), "{}", lines(&error));
    assert!(lines(&error).contains("it printed: words\nit ended with exit code 3"), "{}", lines(&error));
    for (text, why) in [
        ("", "there is none"),
        (": > $o", "it is empty"),
        ("echo nonsense, and more of it > $o", "it is no ELF file"),
        ("clang-22 -c -x c /dev/null -o $o.o; head -c 300 $o.o > $o", "it is cut short"),
        ("clang-22 --target=aarch64-linux-gnu -c -x c /dev/null -o $o", "it is for machine 183"),
    ] {
        let loops = format!(
            "#!/bin/sh\nfor o in $(grep -o '[^\"]*native.o\"' $1 | tr -d '\"' | sort -u); do\n:\n{text}\ndone\n"
        );
        let error = fault(&by(&script(&workshop, "wrong", &loops)));
        assert!(error.to_string().contains("wrong did not compile"), "{error}");
        assert!(error.to_string().contains("/a.o: of its object, "), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let mut options = everything(&workshop);
    options.distribution.as_mut().unwrap().compiler = "".into();
    assert!(fault(&options).to_string().contains("--thinlto-remote-compiler"));
}

/// Options of the compiler's that other linkers do not pass on.
/// Indexes are made by whoever compiles, and what nobody elsewhere can do is not said of the plugin.
#[test]
fn an_engine_that_is_built_makes_indexes() {
    let workshop = Workshop::with_program("elsewhere-program");
    let files = three(&workshop);
    let ask = Ask { output: Output::Pie, ..Ask::default() };
    let here = workshop.ask(&files, &Options::default(), &ask).unwrap();
    let mut options = everything(&workshop);
    options.devirtualisation.validate = true;
    let there = workshop.ask(&files, &options, &ask).unwrap();
    assert_same(&here, &there, "by a built engine");
    assert!(there.engines[0].contains("weld-lto-engine-22"), "{:?}", there.engines);
    options.passes.pipeline = Some("default<O1>".to_owned());
    let error = workshop.ask(&files, &options, &ask).unwrap_err();
    let said = lines(&error);
    assert!(
        said.contains("--lto-newpm-passes with --thinlto-distributor") && !said.contains("plugin"),
        "{said}"
    );
}

#[test]
fn options_of_code_reach_the_compiler() {
    let workshop = Workshop::new("elsewhere-options");
    let source = "int f(unsigned x) { return __builtin_popcount(x) + 1; }\n";
    let files = [workshop.bitcode(
        "-flto=thin -Xclang -disable-O0-optnone",
        "f",
        source,
        vec![def("f", P | VISIBLE | LOCAL)],
    )];
    for change in [
        |options: &mut Options| options.level = Some(0),
        |options: &mut Options| options.level = Some(3),
        |options: &mut Options| options.llvm.push("-enable-misched=0".to_owned()),
        |options: &mut Options| options.blocks.sections = Some("all".to_owned()),
        |options: &mut Options| options.llvm.push("-relocation-model=pic".to_owned()),
    ] {
        let ask = Ask { output: Output::Executable, ..Ask::default() };
        let (mut here, mut there) = (Options::default(), everything(&workshop));
        change(&mut here);
        change(&mut there);
        let here = workshop.ask(&files, &here, &ask).unwrap();
        let there = workshop.ask(&files, &there, &ask).unwrap();
        assert_same(&here, &there, "options");
    }
}
