//! What only the engine that weld builds can do, and how one is built.

use weld_common::digest::UnitDigest;
use weld_common::io::input::InputStore;
use weld_lto::answer::{Fault, Level};
use weld_lto::engine;
use weld_lto::engine::build::{BuildError, Wish, build};
use weld_lto::ir::Kind;
use weld_lto::options::{BasicBlocks, Cache, Emit, IndexOnly, Options, PrefixReplace, SaveTemps};
use weld_lto::request::{Machine, Resolution};
use weld_lto::told;

use crate::workshop::{Ask, Given, LOCAL, P, VISIBLE, Workshop, def, lines, reference, two};

#[test]
fn it_is_chosen_before_the_plugin() {
    let workshop = Workshop::with_program("program-chosen");
    let answer = workshop.ask(&two(&workshop, "-flto"), &Options::default(), &Ask::default()).unwrap();
    assert!(answer.engines[0].contains("weld-lto-engine-22 (LLVM 22."), "{:?}", answer.engines);
    assert!(answer.engines[0].ends_with("it is in weld's cache"), "{:?}", answer.engines);
}

/// The plugin that a compiler names comes first, but not if it cannot do what is asked.
#[test]
fn it_stands_in_for_a_plugin_that_cannot() {
    let workshop = Workshop::with_program("program-stands-in");
    let mut options = Options::default();
    options.engine.plugin = Some("/usr/lib/llvm-22/lib/LLVMgold.so".into());
    let files = two(&workshop, "-flto");
    let answer = workshop.ask(&files, &options, &Ask::default()).unwrap();
    assert!(answer.engines[0].contains("LLVMgold.so"), "{:?}", answer.engines);
    options.codegen_level = Some(0);
    let answer = workshop.ask(&files, &options, &Ask::default()).unwrap();
    assert!(answer.engines[0].contains("weld-lto-engine-22"), "{:?}", answer.engines);
    // What is asked for is used or nothing.
    options.engine.path = options.engine.plugin.clone();
    let error = workshop.ask(&files, &options, &Ask::default()).unwrap_err();
    assert!(lines(&error).contains("weld lto-engine build"), "{}", lines(&error));
}

/// Each of these is an error with the plugin.
#[test]
fn options_that_the_plugin_lacks() {
    let workshop = Workshop::with_program("program-options");
    let files = two(&workshop, "-flto");
    let done = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        workshop.ask(&files, &options, &Ask::default()).unwrap()
    };
    assert_eq!(done(|o| o.codegen_level = Some(0)).objects.len(), 1);
    assert_eq!(done(|o| o.profile.warn_mismatch = false).objects.len(), 1);
    assert_eq!(done(|o| o.devirtualisation.validate = true).objects.len(), 1);
    let alias = done(|o| o.passes.alias_analysis = Some("basic-aa".to_owned()));
    assert_eq!(alias.objects.len(), 1);
    // Without passes, calls stay.
    let passes = done(|o| {
        o.passes.pipeline = Some("globaldce".to_owned());
        o.passes.debug = true;
    });
    let ran = |name: &str| passes.messages.iter().any(|m| m.level == Level::Output && m.text.contains(name));
    assert!(ran("GlobalDCEPass") && !ran("InlinerPass"), "{:?}", passes.messages);
    assert!(
        workshop.defined(&passes).contains(&"b".to_owned())
            || workshop.run(&workshop.link(&passes, "")) == 42
    );
    let mut options = Options::default();
    options.passes.plugins.push("/no/such/plugin.so".into());
    let error = workshop.ask(&files, &options, &Ask::default()).unwrap_err();
    assert!(lines(&error).contains("/no/such/plugin.so"), "{}", lines(&error));
    options.passes.plugins.clear();
    options.passes.pipeline = Some("no-such-pass".to_owned());
    let error = workshop.ask(&files, &options, &Ask::default()).unwrap_err();
    assert!(
        matches!(error.fault, Fault::Said) && lines(&error).contains("no-such-pass"),
        "{}",
        lines(&error)
    );
}

#[test]
fn temporary_files_of_a_kind() {
    let workshop = Workshop::with_program("program-kinds");
    let kinds = ["opt", "prelink"].map(str::to_owned).to_vec();
    let options = Options { save_temps: SaveTemps::Kinds(kinds), ..Options::default() };
    workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    let made: Vec<_> = workshop.files().into_iter().filter(|name| name.starts_with("out")).collect();
    assert_eq!(made, ["out.0.4.opt.bc", "out.lto.o"]);
}

#[test]
fn bitcode_and_assembly() {
    let workshop = Workshop::with_program("program-emit");
    let options = Options { emit: Emit::Bitcode, ..Options::default() };
    let thin = two(&workshop, "-flto=thin");
    workshop.ask(&thin, &options, &Ask::default()).unwrap();
    for name in ["out.lto.a.bc", "out.lto.b.bc"] {
        workshop.sh(&format!("llvm-dis-22 -o - {name}"));
    }
    workshop.ask(&thin[..1], &options, &Ask::default()).unwrap();
    assert!(workshop.sh("llvm-dis-22 -o - out").contains("@main"));
    let options = Options { emit: Emit::Assembly, save_temps: SaveTemps::All, ..Options::default() };
    workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    assert!(std::fs::read_to_string(workshop.path("out.lto.s")).unwrap().contains("main:"));
    assert!(workshop.files().contains(&"out.0.5.precodegen.bc".to_owned()), "{:?}", workshop.files());
}

#[test]
fn indexes_beside_linking_and_one_module() {
    let workshop = Workshop::with_program("program-indexes");
    let files = two(&workshop, "-flto=thin");
    let mut options = Options::default();
    options.thin.emit_index_files = true;
    options.thin.emit_imports_files = true;
    let answer = workshop.ask(&files, &options, &Ask::default()).unwrap();
    assert_eq!(workshop.run(&workshop.link(&answer, "")), 42);
    for name in ["a.o.thinlto.bc", "b.o.thinlto.bc", "a.o.imports"] {
        assert!(workshop.files().contains(&name.to_owned()), "{name}: {:?}", workshop.files());
    }
    let mut options = Options { object_path: Some(workshop.path("kept")), ..Options::default() };
    options.thin.single_modules.push("b.o".to_owned());
    assert!(workshop.ask(&files, &options, &Ask::default()).unwrap().objects.is_empty());
    assert!(workshop.sh("nm kept1").contains(" T b"));
    assert!(!workshop.path("kept2").exists());
}

#[test]
fn names_of_objects_in_lists() {
    let workshop = Workshop::with_program("program-lists");
    let mut options = Options::default();
    options.thin.index_only = Some(IndexOnly { list: Some(workshop.path("list")) });
    let directory = format!("{}/", workshop.directory.display());
    let [old, new, object] = [directory.clone(), format!("{directory}index/"), "objects/".to_owned()];
    options.thin.prefix_replace = Some(PrefixReplace { old, new, object });
    options.thin.object_suffix_replace = Some((".o".to_owned(), ".full.o".to_owned()));
    workshop.ask(&two(&workshop, "-flto=thin"), &options, &Ask::default()).unwrap();
    let list = std::fs::read_to_string(workshop.path("list")).unwrap();
    assert_eq!(list, "objects/a.full.o\nobjects/b.full.o\n");
    assert!(workshop.path("index/a.full.o.thinlto.bc").exists());
}

/// The linker may make it something better than a load.
#[test]
fn loads_from_the_got_may_be_relaxed() {
    let workshop = Workshop::with_program("program-relaxable");
    let source = "extern int data; int f(void) { return data; }\n";
    let symbols = vec![reference("data", Resolution(0)), def("f", P | VISIBLE | LOCAL)];
    let file = workshop.bitcode("-flto -fPIC", "f", source, symbols);
    let answer = workshop.ask(&[file], &Options::default(), &Ask::default()).unwrap();
    std::fs::write(workshop.path("f.obj"), &answer.objects[0].bytes[..]).unwrap();
    assert!(workshop.sh("readelf -rW f.obj").contains("R_X86_64_REX_GOTPCRELX"));
}

/// LLVM would end the process for each of these.
#[test]
fn what_is_wrong_is_said() {
    let workshop = Workshop::with_program("program-wrong");
    let said = |files: &[Given], options: &Options, ask: &Ask| {
        let error = workshop.ask(files, options, ask).unwrap_err();
        assert!(matches!(error.fault, Fault::Said), "{}", lines(&error));
        lines(&error)
    };
    let files = two(&workshop, "-flto");
    let options = Options { llvm: vec!["-no-such-option".to_owned()], ..Options::default() };
    assert!(said(&files, &options, &Ask::default()).contains("-no-such-option"));
    let [mut a, b] = two(&workshop, "-flto");
    for size in [a.bytes.len() / 2, 60, 4] {
        a.bytes.truncate(size);
        std::fs::write(&a.path, &a.bytes).unwrap();
        let text = said(std::slice::from_ref(&a), &Options::default(), &Ask::default());
        assert!(text.contains("a.o: ") && text.contains("weld-lto-engine-22 failed"), "{text}");
    }
    let mut options = Options::default();
    options.remarks.file = Some("/no/such/directory/remarks".into());
    assert!(said(&[b], &options, &Ask::default()).contains("No such file"));
}

/// Bitcode with bytes that are wrong: errors or objects, but no crash and no hang.
#[test]
fn damaged_bitcode() {
    let workshop = Workshop::with_program("program-damaged");
    let [_, mut b] = two(&workshop, "-flto");
    let whole = b.bytes.clone();
    for at in (8..whole.len()).step_by(whole.len() / 24) {
        b.bytes = whole.clone();
        b.bytes[at] ^= 0x55;
        std::fs::write(&b.path, &b.bytes).unwrap();
        if let Err(error) = workshop.ask(std::slice::from_ref(&b), &Options::default(), &Ask::default()) {
            assert!(lines(&error).contains("compiling "), "byte {at}: {}", lines(&error));
        }
    }
}

#[test]
fn one_that_cannot_start_is_passed_over() {
    let workshop = Workshop::new("program-broken");
    let mut options = Options::default();
    let path = workshop.path("weld-lto-engine-22");
    std::fs::write(&path, "#!/bin/sh\necho no libraries >&2; exit 127\n").unwrap();
    options.engine.path = Some(path.clone());
    let ask = |options: &Options| workshop.ask(&two(&workshop, "-flto"), options, &Ask::default());
    let error = ask(&options).unwrap_err();
    assert!(lines(&error).contains("weld-lto-engine-22: Permission denied"), "{}", lines(&error));
    workshop.sh("chmod +x weld-lto-engine-22");
    let error = ask(&options).unwrap_err();
    assert!(
        lines(&error).contains("does not start (exit code 127), and printed: no lib"),
        "{}",
        lines(&error)
    );
    std::fs::write(&path, "#!/bin/sh\nkill -KILL $$\n").unwrap();
    let error = ask(&options).unwrap_err();
    assert!(lines(&error).contains("does not start (signal 9), and printed: nothing"), "{}", lines(&error));
}

/// A link that is done again finds its output, and what it made, whatever the output is by now.
#[test]
fn a_result_is_found_again_whatever_the_output_is() {
    let workshop = Workshop::with_program("program-result");
    let directory = workshop.path("kept");
    let options = Options { cache: Some(Cache { directory, policy: None }), ..Options::default() };
    let ask = || workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    assert!(ask().engines[0].contains("weld-lto-engine-22"));
    workshop.sh("echo program > out");
    assert!(ask().engines[0].contains("an earlier link"));
}

/// Where a link that is the same does not ask at all, objects are kept by who finds them all in LLVM's cache.
#[test]
fn results_of_repeated_links_are_kept_when_nothing_was_compiled() {
    let workshop = Workshop::with_program("program-repeated");
    let directory = workshop.path("kept");
    let options = Options { cache: Some(Cache { directory, policy: None }), ..Options::default() };
    let ask = |flags: &str| {
        let files = two(&workshop, flags);
        workshop.ask(&files, &options, &Ask { is_repeated: true, ..Ask::default() }).unwrap()
    };
    let kept = || workshop.sh("ls kept | grep -c llvmcache-weld || true").trim().to_owned();
    assert!(ask("-flto=thin").engines[0].contains("weld-lto-engine-22"));
    assert_eq!(kept(), "0");
    assert!(ask("-flto=thin").engines[0].contains("weld-lto-engine-22"), "LLVM's cache has them");
    assert_eq!(kept(), "1");
    assert!(ask("-flto=thin").engines[0].contains("an earlier link"));
    // Merged modules are in no other cache.
    assert!(ask("-flto").engines[0].contains("weld-lto-engine-22"));
    assert_eq!(kept(), "2");
    assert!(ask("-flto").engines[0].contains("an earlier link"));
}

/// Who links to see whether it goes well (`-o /dev/null`) may be root, and may take away what is there.
#[test]
fn devices_are_written_to_and_stay() {
    Workshop::each("devices", |workshop| {
        for emit in [Emit::Bitcode, Emit::Assembly] {
            workshop.sh("ln -sfn /dev/null out");
            let options = Options { emit, ..Options::default() };
            workshop.ask(&two(workshop, "-flto"), &options, &Ask::default()).unwrap();
            assert_eq!(std::fs::read_link(workshop.path("out")).unwrap().as_os_str(), "/dev/null");
            workshop.sh("test -c /dev/null");
        }
    });
}

/// LLVM's cache knows objects by options, and not by what is in files that these name.
#[test]
fn files_that_options_name_are_part_of_what_is_in_the_cache() {
    Workshop::each("cache-of-files", |workshop| {
        let cache = Cache { directory: workshop.path("kept"), policy: None };
        let mut options = Options { cache: Some(cache), ..Options::default() };
        options.blocks.sections = Some(workshop.path("list").to_str().unwrap().to_owned());
        let ask = |list: &str, options: &Options| {
            std::fs::write(workshop.path("list"), list).unwrap();
            let files = two(workshop, "-flto=thin");
            let ask = Ask { is_repeated: true, ..Ask::default() };
            let answer = workshop.ask(&files, options, &ask).unwrap();
            answer.objects.iter().map(|object| UnitDigest::of(&object.bytes)).collect::<Vec<_>>()
        };
        let without = Options { cache: None, ..options.clone() };
        let (main, b) = ("!main\n!!0\n", "!b\n!!0\n");
        let wanted = [main, b].map(|list| ask(list, &without));
        assert_ne!(wanted[0], wanted[1]);
        assert_eq!([main, b].map(|list| ask(list, &options)), wanted);
        assert_eq!(ask(main, &options), wanted[0], "and again the first");
        // Nor of these options at all.
        let plain = Options { blocks: BasicBlocks::default(), ..options.clone() };
        let mapped = |options: &Options| {
            let blocks = BasicBlocks { address_map: true, ..BasicBlocks::default() };
            ask("", &Options { blocks, ..options.clone() })
        };
        assert_ne!(ask("", &plain), mapped(&without));
        assert_eq!(mapped(&plain), mapped(&without));
        let llvm = vec!["-align-all-functions=8".to_owned()];
        let aligned = |options: &Options| ask("", &Options { llvm: llvm.clone(), ..options.clone() });
        assert_eq!(aligned(&plain), aligned(&Options { cache: None, ..plain.clone() }));
        assert_ne!(aligned(&plain), ask("", &plain));
    });
}

/// A module that is not compiled without an error is in no cache.
#[test]
fn what_fails_fails_again() {
    Workshop::each("fails-again", |workshop| {
        let cache = Cache { directory: workshop.path("kept"), policy: None };
        let options = Options { cache: Some(cache), ..Options::default() };
        let source = "int main(void) { __asm__ volatile(\"frobnicate\"); return 0; }\n";
        for _ in 0..3 {
            let file =
                workshop.bitcode("-flto=thin", "wrong", source, vec![def("main", P | VISIBLE | LOCAL)]);
            let error = workshop.ask(&[file], &options, &Ask::default()).unwrap_err();
            assert!(lines(&error).contains("frobnicate"), "{}", lines(&error));
        }
    });
    // A warning is said again, too.
    let workshop = Workshop::with_program("warns-again");
    let cache = Cache { directory: workshop.path("kept"), policy: None };
    let options = Options { cache: Some(cache), ..Options::default() };
    let source = "void use(char *); int main(void) { char all[400]; use(all); return 0; }\n";
    for _ in 0..2 {
        let symbols = vec![def("main", P | VISIBLE | LOCAL), reference("use", Resolution(0))];
        let file = workshop.bitcode("-flto=thin -Wframe-larger-than=100", "large", source, symbols);
        let answer = workshop.ask(&[file], &options, &Ask::default()).unwrap();
        assert!(
            answer.messages.iter().any(|message| message.text.contains("stack")),
            "{:?}",
            answer.messages
        );
    }
}

/// What objects depend on is told without them, and changes with the engine and with files that options name.
#[test]
fn the_basis_of_objects_is_known_without_them() {
    let mut workshop = Workshop::with_program("program-basis");
    let directory = workshop.path("kept");
    std::fs::write(workshop.path("profile"), "work:1:1\n 1: 1\n").unwrap();
    let mut options = Options { cache: Some(Cache { directory, policy: None }), ..Options::default() };
    options.profile.sample = Some(workshop.path("profile"));
    let ask = || workshop.ask(&two(&workshop, "-flto=thin"), &options, &Ask::default()).unwrap();
    let basis = ask().basis.expect("the objects are kept");
    let again = ask();
    assert!(again.engines[0].contains("an earlier link"));
    assert_eq!(again.basis.map(|again| again.digest), Some(basis.digest));
    assert_eq!(basis.files.len(), 2);
    let now = |workshop: &Workshop, major| engine::basis(&options, major, &basis.words, workshop);
    assert_eq!(now(&workshop, Some(22)), Some(basis.digest));
    std::fs::write(workshop.path("profile"), "work:1:1\n 1: 2\n").unwrap();
    assert_ne!(now(&workshop, Some(22)), Some(basis.digest));
    std::fs::write(workshop.path("profile"), "work:1:1\n 1: 1\n").unwrap();
    assert_eq!(now(&workshop, Some(22)), Some(basis.digest));
    assert_ne!(now(&workshop, Some(99)), Some(basis.digest), "no engine is so new");
    workshop.cache = None;
    assert_ne!(now(&workshop, Some(22)), Some(basis.digest), "another engine");
}

/// Where LLVM's archives are, the program has LLVM in it, and one beside it loads plugins.
#[test]
fn plugins_are_for_the_program_beside_it() {
    let workshop = Workshop::with_program("program-plugin");
    let mut options = Options::default();
    options.passes.plugins = vec![workshop.path("none.so")];
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap_err();
    assert!(lines(&error).contains("none.so"), "{}", lines(&error));
    let source = "#include <llvm/Passes/PassBuilder.h>\n#include <llvm/Plugins/PassPlugin.h>\n\
        extern \"C\" llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {\n\
        return {LLVM_PLUGIN_API_VERSION, \"p\", \"1\", [](llvm::PassBuilder &) { llvm::errs() << \"loaded\\n\"; }}; }\n";
    std::fs::write(workshop.path("p.cpp"), source).unwrap();
    workshop.sh("g++ -shared -fPIC -fno-rtti $(llvm-config-22 --cxxflags) p.cpp -o p.so");
    options.passes.plugins = vec![workshop.path("p.so")];
    let answer = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    assert!(answer.messages.iter().any(|message| message.text.contains("loaded")), "{:?}", answer.messages);
}

/// LLVM takes and returns memory all the time: both programs have what does that faster, if it is there.
#[test]
fn memory_is_mimallocs() {
    let workshop = Workshop::with_program("program-memory");
    let engines = workshop.cache.as_ref().unwrap().join("weld/engines");
    for name in ["weld-lto-engine-22", "weld-lto-engine-22-shared"] {
        let path = engines.join(name);
        workshop.sh(&format!("readelf -d {} >dynamic", path.display()));
        let dynamic = std::fs::read_to_string(workshop.path("dynamic")).unwrap();
        let first = dynamic.lines().find(|line| line.contains("(NEEDED)")).unwrap();
        assert!(first.contains("libmimalloc.so"), "{name}: {first}");
    }
}

#[test]
fn values_that_mean_nothing_are_its_errors() {
    let workshop = Workshop::with_program("program-values");
    let mut options = Options::default();
    options.remarks.hotness_threshold = Some("x".to_owned());
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap_err();
    assert!(lines(&error).contains("--opt-remarks-hotness-threshold: "), "{}", lines(&error));
    assert!(lines(&error).contains("weld-lto-engine-22"), "{}", lines(&error));
    options.remarks.hotness_threshold = Some("auto".to_owned());
    workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
}

/// Somebody has built it, so it is said that another one compiles.
#[test]
fn one_that_is_found_and_broken_is_worth_a_warning() {
    let mut workshop = Workshop::new("program-found-broken");
    workshop.sh(
        "mkdir -p weld/engines && echo junk > weld/engines/weld-lto-engine-22 && chmod +x weld/engines/*",
    );
    workshop.cache = Some(workshop.path("."));
    let mut options = Options::default();
    let answer = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap();
    let warning = &answer.messages[0];
    assert!(
        warning.level == Level::Warning && warning.text.contains("engines/weld-lto-engine-22: "),
        "{warning:?}"
    );
    assert!(answer.engines[0].contains("LLVMgold.so"), "{:?}", answer.engines);
    options.codegen_level = Some(1);
    let error = workshop.ask(&two(&workshop, "-flto"), &options, &Ask::default()).unwrap_err();
    assert!(lines(&error).contains("engines/weld-lto-engine-22: "), "{}", lines(&error));
}

#[test]
fn objects_for_windows_of_32_bits() {
    let workshop = Workshop::with_program("program-i386");
    let source = "int g; int *f(void) { return &g; }\n";
    let symbols = vec![def("_g", P | VISIBLE), def("_f", P | VISIBLE)];
    let file = workshop.bitcode("--target=i686-pc-windows-msvc -flto", "w", source, symbols);
    let ask = Ask { machine: Machine::Coff { machine: 0x14c }, ..Ask::default() };
    assert_eq!(workshop.ask(&[file], &Options::default(), &ask).unwrap().objects.len(), 1);
}

#[test]
fn what_building_needs() {
    let workshop = Workshop::new("program-build");
    let build_with = |script: &str| {
        let config = workshop.path("llvm-config");
        std::fs::write(&config, format!("#!/bin/sh\n{script}\n")).unwrap();
        workshop.sh("chmod +x llvm-config");
        let wish = Wish { llvm_config: Some(config), directory: Some(workshop.path("engines")) };
        build(&wish, &workshop).unwrap_err()
    };
    let error = build_with("echo 14.0.6");
    assert!(
        error.to_string().ends_with("it is of LLVM 14.0.6, and engines are for LLVM 21 to 23"),
        "{error}"
    );
    let error = build_with("case $1 in --version) echo 22.1.8;; *) echo /no/headers;; esac");
    assert!(matches!(error, BuildError::NoHeaders { major: 22, .. }), "{error}");
    assert!(
        error.to_string().contains("/no/headers") && error.to_string().contains("llvm-22-dev"),
        "{error}"
    );
    let error = build_with("exit 3");
    assert!(matches!(error, BuildError::LlvmConfig { .. }), "{error}");
    let left = std::fs::read_dir(workshop.path("engines")).unwrap().count();
    assert_eq!(left, 0, "what was needed meanwhile is gone");
}

/// Symbols of assembly take an assembler: bitcode of `llvm-link` and `llvm-as` has no table of them.
#[test]
fn symbols_that_nobody_has_written_down() {
    let workshop = Workshop::with_program("program-told");
    let source = "asm(\".globl a\\na: .long 7\");\nextern int a; int f(void) { return a; }\n";
    workshop.bitcode("-flto", "one", source, Vec::new());
    workshop.bitcode("-flto", "two", "int f(void); int g(void) { return f(); }\n", Vec::new());
    workshop.sh("llvm-link-22 one.o two.o -o both.o");
    let store = InputStore::new(&workshop);
    let bytes = store.keep(std::fs::read(workshop.path("both.o")).unwrap());
    let options = Options::default();
    assert!(told::read(bytes, &store).unwrap_err().can_ask_engine());
    let names = |file: weld_lto::ir::IrFile<'_>| {
        let names = file.symbols_for_linkers().map(|symbol| (symbol.name.to_vec(), symbol.kind));
        names.collect::<Vec<_>>()
    };
    let told = names(told::read_or_ask(bytes, &options, &store).unwrap());
    for wanted in [&b"a"[..], b"f", b"g"] {
        assert!(told.contains(&(wanted.to_vec(), Kind::Defined)), "{told:?}");
    }
    assert_eq!(names(told::read(bytes, &store).unwrap()), told, "it is asked once");
    assert_eq!(std::fs::read_dir(workshop.temporary()).unwrap().count(), 0);
    // Damaged bitcode, and no engine.
    let broken = store.keep([&bytes[..bytes.len() / 2], &vec![0x55; bytes.len() / 2]].concat());
    if let Err(error) = told::read_or_ask(broken, &options, &store) {
        assert!(!error.can_ask_engine(), "{error}");
    }
    let nobody = Workshop::new("program-told-nobody");
    let store = InputStore::new(&nobody);
    let bytes = store.keep(bytes.to_vec());
    let error = told::read_or_ask(bytes, &options, &store).unwrap_err().to_string();
    assert!(error.starts_with("there is no symbol table (written by LLVM22."), "{error}");
    assert!(error.ends_with("an engine makes one that is built by: weld lto-engine build"), "{error}");
}
