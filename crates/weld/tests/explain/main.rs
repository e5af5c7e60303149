//! Does what the examples of `weld explain` do (`pages/explain/`), and holds what weld says to the pages, and
//! its messages in JSON to their schema.
//!
//! An example is a block of lines. After `$ cat FILE` stand the lines of a file, after another command what
//! the linker says then. Whatever `ld` or `lld-link` says has to be in the page, and the page's code in it.

#![cfg(target_os = "linux")]

mod json;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use json::Json;
use weld_common::diag::Cause;
use weld_common::host::Host;

const WELD: &str = env!("CARGO_BIN_EXE_weld");

/// Where the linkers of an example are asked for the second time, for JSON.
const MESSAGES: &str = "messages.json";

struct Step<'p> {
    command: &'p str,
    /// What the file holds, or what is said.
    lines: Vec<&'p str>,
}

fn steps(page: &str) -> Vec<Step<'_>> {
    let example =
        page.split("\n## Example\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("an example");
    let mut steps: Vec<Step> = Vec::new();
    for line in example.lines().skip_while(|line| line.is_empty()) {
        let line = line.strip_prefix("    ").unwrap_or(line);
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command, lines: Vec::new() }),
            (None, Some(step)) => step.lines.push(line),
            (None, None) => panic!("an example begins with a command: {line}"),
        }
    }
    while steps.last_mut().is_some_and(|step| step.lines.pop_if(|line| line.is_empty()).is_some()) {}
    steps
}

/// A directory with linkers that ask weld for JSON first, and then for what people see.
fn linkers() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain-bin");
    fs::create_dir_all(&dir).unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    for (name, flavour, option) in
        [("ld", "gnu", "--error-format=json"), ("lld-link", "link", "/error-format:json")]
    {
        let json = format!("{WELD} -flavor {flavour} {option} \"$@\" 2>>{MESSAGES}");
        write(name, &format!("{json}\nexec -a {name} {WELD} -flavor {flavour} \"$@\""));
    }
    write("clang", "exec clang-22 \"$@\"");
    dir
}

/// What is wrong with the page of `code`.
fn check(code: &str, page: &str, bin: &Path, schema: &Json) -> Vec<String> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain").join(code);
    _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let mut wrong = Vec::new();
    for Step { command, lines } in steps(page) {
        if let Some(name) = command.strip_prefix("cat ") {
            fs::write(dir.join(name), lines.join("\n") + "\n").unwrap();
            continue;
        }
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.args(["-c", command]).current_dir(&dir).env("PATH", path).env("LC_ALL", "C");
        let output = bash.output().expect("bash is there");
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        if said != lines {
            wrong.push(format!("{code}: {command} says\n{}\nnot\n{}", said.join("\n"), lines.join("\n")));
        }
    }
    let messages = fs::read_to_string(dir.join(MESSAGES)).unwrap_or_default();
    let messages: Vec<Json> = messages.lines().map(Json::parse).collect();
    let mut codes = Vec::new();
    for message in &messages {
        json::check(schema, schema, message);
        let code = message.get("code").and_then(Json::text).expect("the schema asks for it");
        assert!(Cause::find(code).is_some(), "{code}");
        codes.push(code);
    }
    if !codes.contains(&code) {
        wrong.push(format!("{code}: the messages have the codes {codes:?}"));
    }
    wrong
}

#[test]
fn examples_say_what_their_pages_say() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path);
    let schema = Json::parse(&read("../../docs/error-format.schema.json"));
    let listed = Command::new(WELD).arg("explain").output().expect("weld runs");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let codes: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("* ")?.split(' ').next()).collect();
    assert!(codes.len() >= 40, "{codes:?}");
    let bin = linkers();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(code) = codes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let page = read(&format!("pages/explain/{code}.md"));
            wrong.extend(check(code, &page, &bin, &schema));
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What a program is told that links.
#[derive(Default)]
struct Told(AtomicBool);

impl Host for Told {
    fn print(&self, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn messages_are_json(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_program_is_told_that_messages_are_json() {
    let environment = weld_coff::args::Environment::of_process();
    let link = |flavour: &str, args: &[OsString], host: &Told| match flavour {
        "elf" => weld_elf::link::link(args, host).is_ok(),
        "coff" => weld_coff::link::link(args, &environment, host).is_ok(),
        _ => weld_coff::link::link_gnu(args, "ld", &environment, host).is_ok(),
    };
    for (flavour, option) in [("elf", "--"), ("coff", "/"), ("mingw", "--")] {
        for (format, is_json) in [("human", false), ("json", true)] {
            let host = Told::default();
            let separator = if flavour == "coff" { ':' } else { '=' };
            let args = [format!("{option}error-format{separator}{format}").into(), "not-there.o".into()];
            assert!(!link(flavour, &args, &host));
            assert_eq!(host.0.load(Ordering::Relaxed), is_json, "{flavour} {format}");
        }
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let schema = r#"{"type": "object", "required": ["level"], "properties": {"level": {"enum": ["error"]}}}"#;
    let schema = Json::parse(schema);
    let passes = |text: &str| {
        let value = Json::parse(text);
        std::panic::catch_unwind(|| json::check(&schema, &schema, &value)).is_ok()
    };
    assert!(passes(r#"{"level": "error"}"#));
    assert!(!passes(r#"{"level": "note"}"#) && !passes("{}") && !passes(r#"{"level": "error", "more": 1}"#));
}

/// What the linker says in JSON.
fn messages(dir: &Path, args: &[&str]) -> Vec<Json> {
    let output = Command::new(WELD).args(args).current_dir(dir).output().expect("weld runs");
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).expect("JSON is UTF-8");
    text.lines().map(Json::parse).collect()
}

fn bash(dir: &Path, script: &str) {
    let status = Command::new("bash").args(["-ec", script]).current_dir(dir).status().expect("bash is there");
    assert!(status.success(), "{script}");
}

#[test]
fn what_a_message_says_is_in_its_fields() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fields");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("main.c"), "int answer(void);\nint start(void) { return answer(); }\n").unwrap();
    bash(&dir, "gcc -g -O1 -c main.c; clang-22 --target=x86_64-w64-windows-gnu -g -O1 -c main.c -o main.obj");
    let personalities: [&[&str]; 3] = [
        &["-flavor", "gnu", "--error-format=json", "-e", "start", "main.o"],
        &["-flavor", "link", "/error-format:json", "/entry:start", "/subsystem:console", "main.obj"],
        &["-flavor", "gnu", "-m", "i386pep", "--error-format=json", "-e", "start", "main.obj"],
    ];
    for args in personalities {
        let list = messages(&dir, args);
        let [message] = &list[..] else { panic!("{list:?}") };
        let text = |json: &Json, key: &str| json.get(key).and_then(Json::text).map(str::to_owned);
        let is =
            |key: &str, value: &str| assert_eq!(text(message, key).as_deref(), Some(value), "{message:?}");
        is("level", "error");
        is("code", "undefined-symbol");
        is("symbol", "answer");
        let Some(Json::List(referrers)) = message.get("referrers") else { panic!("{message:?}") };
        let referrer = &referrers[0];
        let file = *args.last().unwrap();
        assert_eq!(text(referrer, "file").as_deref(), Some(file), "{message:?}");
        assert_eq!(text(referrer, "section").as_deref(), Some(".text"), "{message:?}");
        assert!(matches!(referrer.get("offset"), Some(Json::Number(n)) if *n > 0.0), "{message:?}");
        let source = text(referrer, "source");
        assert!(source.is_some_and(|source| source.ends_with("main.c:2")), "{message:?}");
    }
}

#[test]
fn names_that_are_no_text() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names");
    fs::create_dir_all(&dir).unwrap();
    // Names of symbols are bytes.
    fs::write(dir.join("main.s"), b".globl _start\n_start: call \"a\xffb\"\n").unwrap();
    bash(&dir, "as -o main.o main.s");
    let list = messages(&dir, &["-flavor", "gnu", "--error-format=json", "main.o"]);
    let symbol = list[0].get("symbol").and_then(Json::text).expect("a symbol");
    assert_eq!(symbol, "a\u{fffd}b");
}

#[test]
fn formats_that_are_not_there() {
    let output =
        Command::new(WELD).args(["-flavor", "gnu", "--error-format=xml", "a.o"]).output().expect("weld runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--error-format: expected human or json, but got 'xml'"), "{said}");
}
