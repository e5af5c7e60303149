//! Options of LLVM's: files that they ask for, and what is said if they cannot be done.

use weld_lto::answer::{Fault, Level};
use weld_lto::options::{Cache, Emit, IndexOnly, Options, SaveTemps};

use crate::workshop::{Ask, Given, LOCAL, P, VISIBLE, Workshop, def, lines, two};

#[test]
fn assembly() {
    Workshop::each("asm", |workshop| {
        let options = Options { emit: Emit::Assembly, ..Options::default() };
        let answer = workshop.ask(&two(workshop, "-flto"), &options, &Ask::default()).unwrap();
        assert!(answer.objects.is_empty());
        assert!(std::fs::read_to_string(workshop.path("out.lto.s")).unwrap().contains("main:"));
        let answer = workshop.ask(&two(workshop, "-flto=thin"), &options, &Ask::default()).unwrap();
        assert!(answer.objects.is_empty());
        assert!(workshop.files().contains(&"out.lto.b.s".to_owned()), "{:?}", workshop.files());
    });
}

#[test]
fn bitcode() {
    let workshop = Workshop::new("bitcode");
    let options = Options { emit: Emit::Bitcode, ..Options::default() };
    workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    let text = workshop.sh("llvm-dis-22 -o - out");
    // It has been optimised: nothing is called.
    assert!(text.contains("@main") && !text.contains("call"), "{text}");
    let error = workshop.ask(&two(&workshop, "-flto=thin"), &options, &Ask::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::Option { .. }), "{error}");
}

#[test]
fn temporary_files_that_are_kept() {
    Workshop::each("save-temps", |workshop| {
        let options = Options { save_temps: SaveTemps::All, ..Options::default() };
        let files = [two(workshop, "-flto"), {
            let c = workshop.bitcode(
                "-flto=thin",
                "c",
                "int c(void) { return 1; }\n",
                vec![def("c", P | VISIBLE)],
            );
            let d = workshop.bitcode(
                "-flto=thin",
                "d",
                "int d(void) { return 1; }\n",
                vec![def("d", P | VISIBLE)],
            );
            [c, d]
        }];
        let files: Vec<Given> = files.into_iter().flatten().collect();
        let answer = workshop.ask(&files, &options, &Ask::default()).unwrap();
        assert_eq!(answer.objects.len(), 3);
        let names = workshop.files();
        for name in [
            "out.lto.o",
            "out.lto.c.o",
            "out.lto.d.o",
            "out.0.5.precodegen.bc",
            "out.resolution.txt",
            "c.o.5.precodegen.bc",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        }
    });
}

#[test]
fn objects_that_stay() {
    Workshop::each("obj-path", |workshop| {
        let options = Options { object_path: Some(workshop.path("kept.o")), ..Options::default() };
        let answer = workshop.ask(&two(workshop, "-flto=thin"), &options, &Ask::default()).unwrap();
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
        let kept: Vec<_> = workshop.files().into_iter().filter(|name| name.starts_with("kept")).collect();
        assert_eq!(kept, ["kept.o", "kept.o1", "kept.o2"]);
        assert!(answer.objects[0].name.ends_with(b"/kept.o"));
    });
}

#[test]
fn indexes_only() {
    Workshop::each("index", |workshop| {
        let mut options = Options::default();
        options.thin.index_only = Some(IndexOnly { list: Some(workshop.path("list")) });
        options.thin.emit_imports_files = true;
        let lazy = workshop.bitcode("-flto=thin", "lazy", "int lazy;\n", Vec::new());
        let ask = Ask { unused: vec![lazy], ..Ask::default() };
        let answer = workshop.ask(&two(workshop, "-flto=thin"), &options, &ask).unwrap();
        assert!(answer.objects.is_empty());
        let names = workshop.files();
        for name in
            ["a.o", "b.o", "lazy.o"].iter().flat_map(|n| [format!("{n}.thinlto.bc"), format!("{n}.imports")])
        {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        let size = |name: &str| std::fs::metadata(workshop.path(name)).unwrap().len();
        assert!(size("lazy.o.thinlto.bc") > 0, "an index that says that the module is not taken");
        assert!(std::fs::read_to_string(workshop.path("a.o.imports")).unwrap().contains("b.o"));
        assert_eq!(std::fs::read_to_string(workshop.path("list")).unwrap().lines().count(), 2);
    });
}

#[test]
fn the_cache_gives_the_same_objects() {
    Workshop::each("cache", |workshop| {
        let cache =
            Some(Cache { directory: workshop.path("cache"), policy: Some("prune_after=1h".to_owned()) });
        let options = Options { cache, ..Options::default() };
        // What is small and what is large is handed over in different ways.
        let large = "long large[40000] = {1, 2, 3}; long d(long i) { return large[i]; }\n";
        let symbols = vec![def("large", P | VISIBLE | LOCAL), def("d", P | VISIBLE | LOCAL)];
        let large = workshop.bitcode("-flto=thin", "d", large, symbols);
        let [first, last] = two(workshop, "-flto=thin");
        let files = [first, large, last];
        let cold = workshop.ask(&files, &options, &Ask::default()).unwrap();
        assert_eq!(cold.objects.len(), 3);
        assert!(cold.objects[1].bytes.len() > 300_000);
        assert_eq!(workshop.run(&workshop.link(&cold, "")), 42);
        let kept = || {
            let names = std::fs::read_dir(workshop.path("cache")).unwrap().map(|e| e.unwrap().file_name());
            let names = names.map(|name| name.into_string().unwrap());
            names
                .filter(|name| name.starts_with("llvmcache-"))
                .partition(|name| name.starts_with("llvmcache-weld-"))
        };
        let (whole, modules): (Vec<String>, Vec<String>) = kept();
        assert_eq!((whole.len(), modules.len()), (1, 3));
        let same = || {
            let warm = workshop.ask(&files, &options, &Ask::default()).unwrap();
            assert_eq!(cold.objects.len(), warm.objects.len());
            for (one, other) in cold.objects.iter().zip(&warm.objects) {
                assert_eq!(one.name, other.name);
                assert!(one.bytes[..] == other.bytes[..]);
            }
        };
        same();
        // LLVM's own entries are enough.
        std::fs::remove_file(workshop.path("cache").join(&whole[0])).unwrap();
        same();
        // They have no digest, but that something is missing is noticed.
        std::fs::remove_file(workshop.path("cache").join(&whole[0])).unwrap();
        for entry in &modules {
            let entry = workshop.path("cache").join(entry);
            let bytes = std::fs::read(&entry).unwrap();
            std::fs::write(&entry, &bytes[..bytes.len() - 100]).unwrap();
        }
        let error = workshop.ask(&files, &options, &Ask::default()).unwrap_err();
        assert!(matches!(error.fault, Fault::BadObject { .. }), "{}", lines(&error));
        assert!(lines(&error).contains("it is cut short"), "{}", lines(&error));
        let advice = format!("damaged in {}: remove", workshop.path("cache").display());
        assert!(lines(&error).contains(&advice), "{}", lines(&error));
    });
}

#[test]
fn remarks_and_partitions() {
    Workshop::each("remarks", |workshop| {
        let mut options = Options { partitions: 2, level: Some(3), ..Options::default() };
        options.remarks.file = Some(workshop.path("remarks.yaml"));
        let answer = workshop.ask(&two(workshop, "-flto"), &options, &Ask::default()).unwrap();
        assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
        assert!(
            workshop.files().iter().any(|name| name.starts_with("remarks.yaml")),
            "{:?}",
            workshop.files()
        );
    });
}

#[test]
fn what_llvm_prints_is_passed_on() {
    Workshop::each("prints", |workshop| {
        let mut options = Options::default();
        options.passes.debug = true;
        let answer = workshop.ask(&two(workshop, "-flto"), &options, &Ask::default()).unwrap();
        let printed =
            answer.messages.iter().filter(|m| m.level == Level::Output && m.text.contains("Running pass"));
        assert!(printed.count() > 10);
    });
}

#[test]
fn an_option_that_llvm_does_not_know() {
    let workshop = Workshop::new("unknown-option");
    let options = Options { llvm: vec!["-no-such-option".to_owned()], ..Options::default() };
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap_err();
    let text = lines(&error);
    assert!(matches!(error.fault, Fault::Exited(1)), "{text}");
    assert!(
        text.contains("-no-such-option") && text.contains("LLVMgold.so ended with exit code 1"),
        "{text}"
    );
    let options = Options { level: Some(7), ..Options::default() };
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::Option { .. }), "{error}");
}

#[test]
fn a_profile_that_is_not_there() {
    Workshop::each("profile", |workshop| {
        let mut options = Options::default();
        options.profile.sample = Some(workshop.path("none.prof"));
        let error = workshop.ask(&two(workshop, "-flto"), &options, &Ask::default()).unwrap_err();
        assert!(lines(&error).contains("none.prof"), "{}", lines(&error));
    });
}
