//! Engines that misbehave: each way ends in an error that says what happened, to whom, with what.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weld_lto::answer::Fault;
use weld_lto::options::Options;

use crate::workshop::{Ask, P, VISIBLE, Workshop, def, engine_program, lines};

/// The library that behaves in a way.
fn library(workshop: &Workshop, behaviour: &str) -> PathBuf {
    std::fs::write(workshop.path("fake.c"), include_str!("fake.c")).unwrap();
    let name = format!("{behaviour}.so");
    workshop.sh(&format!("gcc -shared -fPIC '-DBEHAVIOUR=\"{behaviour}\"' fake.c -o {name}"));
    workshop.path(&name)
}

/// What is said of a library.
fn said(behaviour: &str, patience: Duration) -> (String, Fault) {
    let workshop = Workshop::new(&format!("fake-{behaviour}"));
    let mut options = Options::default();
    options.engine.path = Some(library(&workshop, behaviour));
    let file =
        workshop.bitcode("-flto", "m", "int main(void) { return 0; }\n", vec![def("main", P | VISIBLE)]);
    let ask = Ask { patience, ..Ask::default() };
    let error = workshop.ask(&[file], &options, &ask).unwrap_err();
    let text = lines(&error);
    assert!(text.contains(behaviour), "the engine is named: {text}");
    (text, error.fault)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn how_it_ended() {
    for (behaviour, expected) in [
        ("crash", "was ended by signal 11 (it crashed)"),
        ("crash-claiming", "was ended by signal 11 (it crashed)"),
        ("abort", "was ended by signal 6 (it gave up)"),
        ("killed", "was ended by signal 9 (killed: was memory short?)"),
        ("exit", "ended with exit code 0 before it was done"),
        ("exit-loading", "ended with exit code 5 before it was done"),
    ] {
        let (text, _) = said(behaviour, LONG);
        assert!(text.contains(expected) && text.contains("\ncompiling "), "{behaviour}: {text}");
        assert!(text.ends_with("/m.o"), "the module is named: {text}");
    }
}

#[test]
fn what_it_said() {
    let (text, _) = said("fatal", LONG);
    assert!(text.contains("failed\nno good: 7 errors\n"), "{text}");
    let (text, _) = said("error", LONG);
    assert!(text.contains("failed\nno good\n"), "{text}");
    let (text, fault) = said("status", LONG);
    assert!(matches!(fault, Fault::Said), "{text}");
    let (text, _) = said("claim-nothing", LONG);
    assert!(text.contains("m.o is nothing to it"), "{text}");
    let (text, _) = said("no-hooks", LONG);
    assert!(text.contains("registered nothing that compiles"), "{text}");
    let (text, fault) = said("chatty", LONG);
    assert!(matches!(fault, Fault::Exited(1)), "{}", &text[..200]);
    assert!(text.contains("it printed: line 99999\n"));
}

#[test]
fn what_it_made() {
    for (behaviour, expected) in [
        ("empty", "made.o: it is empty"),
        ("short", "made.o: it is no ELF file"),
        ("machine", "made.o: it is for machine 40, 32 bits"),
        ("gone", "/no/such/object.o: No such file"),
        ("nothing", "made no object"),
    ] {
        let (text, _) = said(behaviour, LONG);
        assert!(text.contains(expected), "{behaviour}: {text}");
    }
}

#[test]
fn what_nobody_would_say() {
    let (text, fault) = said("garbage", LONG);
    assert!(matches!(fault, Fault::Protocol(_)), "{text}");
    let (text, fault) = said("closed", LONG);
    assert!(matches!(fault, Fault::Killed(_) | Fault::Exited(_)), "{text}");
}

#[test]
fn what_is_no_engine() {
    let (text, fault) = said("refuse", LONG);
    assert!(matches!(fault, Fault::NotFound { .. }) && text.contains("it refused to be loaded"), "{text}");
    let workshop = Workshop::new("no-engine");
    let ask = |path: PathBuf| {
        let mut options = Options::default();
        options.engine.path = Some(path);
        let file =
            workshop.bitcode("-flto", "m", "int main(void) { return 0; }\n", vec![def("main", P | VISIBLE)]);
        lines(&workshop.ask(&[file], &options, &Ask::default()).unwrap_err())
    };
    assert!(ask("/no/such/engine.so".into()).contains("No such file"));
    std::fs::write(workshop.path("text.so"), "text").unwrap();
    assert!(ask(workshop.path("text.so")).contains("text.so: "));
    workshop.sh("echo 'int x;' > x.c; gcc -shared -fPIC x.c -o x.so");
    assert!(ask(workshop.path("x.so")).contains("not a plugin for linkers"));
}

#[test]
fn one_that_does_not_answer_is_stopped() {
    let start = Instant::now();
    let (text, fault) = said("hang-loading", Duration::from_millis(400));
    assert!(matches!(fault, Fault::Silent(_)) && text.contains("no answer for 0.4 seconds"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// weld may be killed while an engine works. Nothing stays of either, also if the engine was stopped.
#[test]
fn an_engine_ends_with_weld() {
    for (signal, is_stopped) in [("KILL", false), ("TERM", false), ("INT", false), ("KILL", true)] {
        let workshop = Workshop::new(&format!("orphan-{signal}-{is_stopped}"));
        let library = library(&workshop, "hang");
        let input = workshop.compile("clang-22 -flto", "m", "int main(void) { return 0; }\n");
        let mut link = mortal(&engine_program())
            .args([library, input])
            .env("TMPDIR", workshop.temporary())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let left =
            || std::fs::read_dir(workshop.temporary()).unwrap().next().map(|entry| entry.unwrap().path());
        wait(|| left().is_some_and(|directory| directory.join("made.o").exists()));
        if is_stopped {
            workshop.sh(&format!("pkill -STOP -P {}", link.id()));
        }
        workshop.sh(&format!("kill -{signal} {}", link.id()));
        wait(|| link.try_wait().unwrap().is_some());
        wait(|| left().is_none());
        let command = format!("{}", workshop.path("hang.so").display());
        wait(|| !is_running_with(&command));
    }
}

/// Signals of a terminal go to all of a group. The engine that dies of one would leave its files.
#[test]
fn an_engine_outlives_its_terminal() {
    use std::os::unix::process::CommandExt;
    let workshop = Workshop::new("terminal");
    let library = library(&workshop, "hang");
    let input = workshop.compile("clang-22 -flto", "m", "int main(void) { return 0; }\n");
    let mut link = mortal(&engine_program())
        .args([library, input])
        .env("TMPDIR", workshop.temporary())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let left = || std::fs::read_dir(workshop.temporary()).unwrap().next().map(|entry| entry.unwrap().path());
    wait(|| left().is_some_and(|directory| directory.join("made.o").exists()));
    workshop.sh(&format!("kill -INT -{}", link.id()));
    wait(|| link.try_wait().unwrap().is_some());
    wait(|| left().is_none());
}

/// The program, with signals that it dies of even if the tests run where they are ignored (in the background
/// of a script).
fn mortal(program: &Path) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program);
    command
}

fn wait(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing happens");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process has a file mapped.
fn is_running_with(file: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let maps = processes.filter_map(|process| std::fs::read_to_string(process.path().join("maps")).ok());
    maps.into_iter().any(|maps| maps.contains(file))
}

/// A disk that is full, or a file that may not be as large as it has to be.
#[test]
fn files_that_cannot_be_written() {
    let workshop = Workshop::new("full");
    workshop.compile("clang-22 -flto", "m", "int main(void) { return 0; }\n");
    let engine = "/usr/lib/llvm-22/lib/LLVMgold.so";
    let link = format!("TMPDIR=$PWD/tmp {} {engine} m.o", engine_program().display());
    let said = workshop.sh(&format!("ulimit -f 0; {link} | cat"));
    assert!(said.contains("LLVMgold.so") && said.contains("File too large"), "{said}");
    // No place for temporary files at all.
    let said = workshop.sh(&format!("TMPDIR=/no/such/place {} {engine} m.o", engine_program().display()));
    assert!(said.contains("/no/such/place/weld-lto-") && said.contains("No such file"), "{said}");
}
