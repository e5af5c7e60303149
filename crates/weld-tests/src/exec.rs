//! Carrying out the steps of one test in its working directory.
//!
//! A successful link is done again with one, two and eight threads, streamed and mapped, and must give
//! the same bytes and say the same; a failing link must leave the old output as it was and nothing
//! else after. Every linked file goes through the verifier.

use crate::checks::{self, regex};
use crate::digests::{self, Digests, Files};
use crate::elf::Image;
use crate::flavour::Flavour;
use crate::linker::{LinkResult, Linker};
use crate::machine::{self, Foreign};
use crate::objects;
use crate::process::{self, Finished};
use crate::template;
use crate::test_file::{Directive, Test};
use crate::verify;
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Directives that were used before the steps begin.
const CONFIG: [&str; 13] = [
    "matrix", "machines", "except", "only", "not", "xfail", "cflags", "cxxflags", "asflags", "fflags",
    "lang", "obj", "about",
];

/// Directives that say more about the step before them.
const REFINEMENTS: [&str; 12] = [
    "exit",
    "stdout",
    "stdout-re",
    "stdout-not",
    "stderr-re",
    "stderr-not",
    "error",
    "error-not",
    "warning",
    "once",
    "no-verify",
    "leaves",
];

const LIMIT: Duration = Duration::from_secs(60);

struct Step<'a> {
    main: &'a Directive,
    more: Vec<&'a Directive>,
}

impl Step<'_> {
    fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.more.iter().filter(move |d| d.key == key).map(|d| d.value.as_str())
    }

    fn has(&self, key: &str) -> bool {
        self.values(key).next().is_some()
    }
}

/// Everything a step may use.
struct Context<'a> {
    linker: &'a Linker,
    test: &'a Test,
    dir: PathBuf,
    /// The file that checks look at, and its decoded form.
    current: String,
    image: Option<Image>,
    digests: Digests,
}

/// Runs `test` in `dir`, which is made anew and becomes the current directory.
pub fn run_test(linker: &Linker, test: &Test, dir: &Path) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(dir);
    objects::write_parts(dir, test.file.parts.iter())?;
    std::env::set_current_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for (name, object) in objects::objects_of(test)? {
        let to = dir.join(&name);
        std::fs::create_dir_all(to.parent().unwrap_or(dir)).map_err(|e| e.to_string())?;
        std::fs::copy(&object, &to).map_err(|e| format!("{}: {e}", object.display()))?;
    }
    let current = test.file.flavour.default_output().0.to_owned();
    let digests = Digests::new(&test.name);
    let mut context = Context { linker, test, dir: dir.to_owned(), current, image: None, digests };
    let outcome = steps(test)?.iter().try_for_each(|step| {
        context.step(step).map_err(|e| format!("line {}: {}: {e}", step.main.line, step.main.key))
    });
    context.digests.save()?;
    outcome
}

fn steps(test: &Test) -> Result<Vec<Step<'_>>, String> {
    let mut out: Vec<Step> = Vec::new();
    for d in test.directives().filter(|d| !CONFIG.contains(&d.key.as_str())) {
        if !REFINEMENTS.contains(&d.key.as_str()) {
            out.push(Step { main: d, more: Vec::new() });
            continue;
        }
        let last = out.last_mut().ok_or_else(|| format!("line {}: nothing to refine", d.line))?;
        last.more.push(d);
    }
    if out.is_empty() { Err("the test does nothing".to_owned()) } else { Ok(out) }
}

impl Context<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let value = self.test.fill(&step.main.value);
        let key = step.main.key.as_str();
        if checks::is_check(key) {
            return self.check(key, &value);
        }
        match key {
            "link" => self.link(step, &value),
            "fail" => self.fail(step, &value),
            "run" => self.run(step, &value),
            "sh" => self.shell(step, &value, true),
            "sh-fail" => self.shell(step, &value, false),
            "in" => {
                (self.current, self.image) = (value, None);
                Ok(())
            }
            "file" => file_matches(&value, true),
            "file-not" => file_matches(&value, false),
            "same" => same_files(&value, true),
            "differ" => same_files(&value, false),
            "exists" => every(&value, |n| Path::new(n).exists(), "does not exist"),
            "missing" => every(&value, |n| !Path::new(n).exists(), "exists"),
            _ => Err("unknown directive".to_owned()),
        }
    }

    fn flavour(&self) -> Flavour {
        self.test.file.flavour
    }

    fn check(&mut self, key: &str, value: &str) -> Result<(), String> {
        let path = self.dir.join(&self.current);
        if checks::is_tool(key) {
            return checks::tool(&path, key, value)
                .map_err(|e| format!("`{value}` on {}: {e}", self.current));
        }
        if self.image.is_none() {
            self.image = Some(Image::read(&path)?);
        }
        let image = self.image.as_ref().ok_or("no file to check")?;
        checks::check(image, key, value).map_err(|e| format!("`{value}` on {}: {e}", self.current))
    }

    /// The linker's arguments: `%KIND` is replaced by what a driver would add around the rest.
    fn arguments(&self, text: &str) -> Result<(Vec<String>, String), String> {
        let (mut before, mut middle, mut behind) = (Vec::new(), Vec::new(), Vec::new());
        for word in words::split(text)? {
            let Some(kind) = word.strip_prefix('%') else {
                middle.push(word);
                continue;
            };
            let lang = self.test.all("lang").next().unwrap_or("c").to_owned();
            let var = |name| self.test.var(name);
            let t = template::template((var("cc"), var("libc"), var("machine")), &lang, kind)?;
            (before, behind) = (t.before, t.behind);
        }
        let output = match self.flavour().output_of(&middle) {
            Some(output) => output,
            None => {
                let (output, args) = self.flavour().default_output();
                middle.extend(args.iter().map(|&arg| arg.to_owned()));
                output.to_owned()
            }
        };
        Ok(([before, middle, behind].concat(), output))
    }

    fn link(&mut self, step: &Step, text: &str) -> Result<(), String> {
        let (args, output) = self.arguments(text)?;
        let before = self.digests.begin_step(&self.dir);
        let result = self.linker.run_as(self.flavour(), &args, &self.dir)?;
        if !result.ok {
            return Err(format!("failed:\n{}\n{}", result.stderr, shown(&args)));
        }
        self.judge_output(step, &result, "warning").map_err(|e| format!("{e}\n{}", shown(&args)))?;
        (self.current, self.image) = (output.clone(), None);
        let chooses = args.iter().any(|a| self.flavour().sets_threads(a));
        self.digests.written(&self.dir, &before, "-", digests::not_a_trace);
        if !step.has("once") {
            self.digests.said("says", "-", &format!("{}{}", result.stdout, result.stderr));
        }
        if self.linker.in_process() && !step.has("once") && !chooses {
            self.link_again(&args, &output, &result, &before)?;
        }
        if step.has("no-verify") {
            return Ok(());
        }
        let mut problems = match self.flavour() {
            Flavour::Elf => {
                let image = Image::read(&self.dir.join(&output)).map_err(|e| format!("{output}: {e}"))?;
                let problems = verify::verify(&image);
                self.image = Some(image);
                problems
            }
            Flavour::Coff => {
                verify::pe::verify(&std::fs::read(&output).map_err(|e| format!("{output}: {e}"))?)
            }
        };
        problems.retain(|p| !verify::known_deviation(&self.linker.name, p));
        match problems.len() {
            0 => Ok(()),
            n => Err(format!(
                "{output} is wrong in {n} ways:\n  {}\n{}",
                problems[..n.min(20)].join("\n  "),
                shown(&args)
            )),
        }
    }

    /// Neither thread counts nor the way the output is written may show in it, nor in what is said.
    fn link_again(
        &mut self,
        args: &[String],
        output: &str,
        first: &LinkResult,
        before: &Files,
    ) -> Result<(), String> {
        let (path, kept) = (self.dir.join(output), self.dir.join(format!("{output}.first")));
        let mapped = "--mmap-output-file";
        for (threads, engine) in
            [("1", None), ("1", Some(mapped)), ("2", None), ("8", Some(mapped)), ("8", None)]
        {
            // What engine was used is said if asked for.
            if engine.is_some() && args.iter().any(|a| a == "--verbose" || a.contains("mmap-output-file")) {
                continue;
            }
            std::fs::rename(&path, &kept).map_err(|e| format!("{output}: {e}"))?;
            let mut args = args.to_vec();
            args.push(self.flavour().threads(threads));
            args.extend(engine.map(str::to_owned));
            let how = format!("{} {}", self.flavour().threads(threads), engine.unwrap_or_default());
            let again = self.linker.run_as(self.flavour(), &args, &self.dir)?;
            if !again.ok {
                return Err(format!("fails with {how}:\n{}", again.stderr));
            }
            if (&again.stdout, &again.stderr) != (&first.stdout, &first.stderr) {
                return Err(format!("says something else with {how}:\n{}", again.stderr));
            }
            let (a, b) = (std::fs::read(&path), std::fs::read(&kept));
            let same = a.is_ok() && a.map_err(|e| e.to_string())? == b.map_err(|e| e.to_string())?;
            std::fs::remove_file(&kept).map_err(|e| e.to_string())?;
            if !same {
                return Err(format!("{how} gives other bytes"));
            }
            if engine.is_none() {
                self.digests.written(&self.dir, before, threads, digests::not_a_trace);
            }
        }
        Ok(())
    }

    fn fail(&mut self, step: &Step, text: &str) -> Result<(), String> {
        let (args, output) = self.arguments(text)?;
        let path = self.dir.join(&output);
        let marker = b"the old output";
        let ours = !path.exists();
        if ours && path.parent().is_some_and(Path::is_dir) {
            // Where no file can be made, none needs to be kept.
            let _ = std::fs::write(&path, marker);
        }
        let before = (snapshot(&self.dir)?, std::fs::read(&path).ok());
        self.digests.begin_step(&self.dir);
        let result = self.linker.run_as(self.flavour(), &args, &self.dir)?;
        self.digests.said("error", "-", &result.stderr);
        if result.ok {
            return Err(format!(
                "the link should fail\n{}{}\n{}",
                result.stdout,
                result.stderr,
                shown(&args)
            ));
        }
        if self.linker.name == "weld" {
            self.judge_output(step, &result, "error").map_err(|e| format!("{e}\n{}", shown(&args)))?;
            let (files, contents) = (snapshot(&self.dir)?, std::fs::read(&path).ok());
            if contents != before.1 {
                return Err("the old output has changed".to_owned());
            }
            let leaves: BTreeSet<&str> = step.values("leaves").flat_map(str::split_whitespace).collect();
            if let Some(new) = files.iter().find(|f| !before.0.contains(*f) && !leaves.contains(f.as_str())) {
                return Err(format!("the link left {new} behind"));
            }
        }
        if self.linker.in_process() && !step.has("once") {
            for threads in ["1", "8"] {
                let mut args = args.clone();
                let threads = self.flavour().threads(threads);
                args.push(threads.clone());
                let again = self.linker.run_as(self.flavour(), &args, &self.dir)?;
                if again.ok || again.stderr != result.stderr {
                    return Err(format!("{threads} says something else:\n{}", again.stderr));
                }
            }
        }
        if ours {
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    }

    /// Compares what a link printed with the refinements. `speech` is `error` or `warning`: what
    /// the texts on standard error are expected to be. Other linkers word theirs differently.
    fn judge_output(&self, step: &Step, result: &LinkResult, speech: &str) -> Result<(), String> {
        expect_stdout(step, &result.stdout)?;
        if self.linker.name != "weld" {
            return Ok(());
        }
        for pattern in step.values(speech) {
            if !regex(pattern)?.is_match(&result.stderr) {
                return Err(format!("expected {speech} `{pattern}`, found:\n{}", result.stderr));
            }
        }
        for pattern in step.values("error-not") {
            if regex(pattern)?.is_match(&result.stderr) {
                return Err(format!("unexpected `{pattern}` in:\n{}", result.stderr));
            }
        }
        if !step.has(speech) && (speech == "error" || !result.stderr.is_empty()) {
            return Err(format!("the test expects no such words:\n{}", result.stderr));
        }
        Ok(())
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, String> {
        let mut out = BTreeMap::new();
        let mut set = |k: &str, v: String| out.insert(k.to_owned(), v);
        let clang = self.test.var("cc") == "clang";
        set("LD", self.linker.program.display().to_string());
        set("LD_DIR", self.linker.directory()?.display().to_string());
        let compilers = if clang { ["clang-22", "clang++-22"] } else { ["gcc", "g++"] };
        let foreign = self.foreign();
        let line =
            |name: &str| foreign.map_or_else(|| name.to_owned(), |foreign| foreign.compiler_line(name));
        set("CC", line(compilers[0]));
        set("CXX", line(compilers[1]));
        set("AS", foreign.map_or_else(|| "as".to_owned(), |foreign| foreign.compiler_line("as")));
        set("RUN", foreign.map(Foreign::runner).unwrap_or_default());
        match foreign.and_then(|foreign| foreign.emulator) {
            None => set("LD_LIBRARY_PATH", self.dir.display().to_string()),
            Some(_) => set("QEMU_SET_ENV", "LD_LIBRARY_PATH=.".to_owned()),
        };
        set("LC_ALL", "C".to_owned());
        Ok(out)
    }

    fn foreign(&self) -> Option<&'static Foreign> {
        machine::foreign(self.test.var("machine"))
    }

    fn run(&self, step: &Step, text: &str) -> Result<(), String> {
        let mut words = words::split(text)?;
        if words.is_empty() {
            words.push(format!("./{}", self.current));
        }
        let mut command = match self.foreign() {
            Some(foreign) => foreign.command(&words[0]),
            None => self.flavour().command(&words[0])?,
        };
        command.args(&words[1..]).current_dir(&self.dir).envs(self.environment()?);
        let wanted = step.values("exit").next().unwrap_or("0");
        finished(step, &process::run(command, &self.dir, LIMIT)?, |code| code.to_string() == wanted)
    }

    fn shell(&mut self, step: &Step, text: &str, success: bool) -> Result<(), String> {
        let before = self.digests.begin_step(&self.dir);
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", text]).current_dir(&self.dir).envs(self.environment()?);
        let limit = Duration::from_secs(600);
        let done = process::run(command, &self.dir, limit)?;
        self.digests.written(&self.dir, &before, "-", digests::image_or_pdb);
        finished(step, &done, |code| (code == 0) == success)
    }
}

fn finished(step: &Step, done: &Finished, good: impl Fn(i32) -> bool) -> Result<(), String> {
    let said = || format!("\nstdout:\n{}\nstderr:\n{}", done.stdout, done.stderr);
    if !good(done.code) {
        return Err(format!("exit code {}{}", done.code, said()));
    }
    // Programs for Windows end lines in their own way.
    expect_stdout(step, &done.stdout.replace("\r\n", "\n")).map_err(|e| e + &said())?;
    for pattern in step.values("stderr-re") {
        if !regex(pattern)?.is_match(&done.stderr) {
            return Err(format!("no `{pattern}` on stderr{}", said()));
        }
    }
    for pattern in step.values("stderr-not") {
        if regex(pattern)?.is_match(&done.stderr) {
            return Err(format!("`{pattern}` on stderr{}", said()));
        }
    }
    Ok(())
}

fn expect_stdout(step: &Step, actual: &str) -> Result<(), String> {
    let lines: Vec<&str> = step.values("stdout").collect();
    if !lines.is_empty() && actual.trim_end() != lines.join("\n").trim_end() {
        return Err(format!("stdout is\n{actual}not\n{}", lines.join("\n")));
    }
    for pattern in step.values("stdout-re") {
        if !regex(pattern)?.is_match(actual) {
            return Err(format!("no `{pattern}` in\n{actual}"));
        }
    }
    for pattern in step.values("stdout-not") {
        if regex(pattern)?.is_match(actual) {
            return Err(format!("`{pattern}` in\n{actual}"));
        }
    }
    Ok(())
}

fn shown(args: &[String]) -> String {
    format!("arguments: {}", args.join(" "))
}

/// Names of all files below `dir`, without the runner's own.
fn snapshot(dir: &Path) -> Result<BTreeSet<String>, String> {
    let mut out = BTreeSet::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(d) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&d) else { continue };
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
            if path.is_dir() && !path.is_symlink() {
                todo.push(path);
            }
            if !name.starts_with(".out.") {
                out.insert(name);
            }
        }
    }
    Ok(out)
}

fn file_matches(value: &str, wanted: bool) -> Result<(), String> {
    let (name, pattern) = value.split_once(" => ").ok_or("expected FILE => REGEX")?;
    let text = std::fs::read(name).map_err(|e| format!("{name}: {e}"))?;
    let text = String::from_utf8_lossy(&text);
    if regex(pattern)?.is_match(&text) == wanted {
        return Ok(());
    }
    Err(format!("{name} is\n{text}"))
}

fn same_files(value: &str, wanted: bool) -> Result<(), String> {
    let (a, b) = value.split_once(' ').ok_or("expected two files")?;
    let read = |n: &str| std::fs::read(n.trim()).map_err(|e| format!("{n}: {e}"));
    if (read(a)? == read(b)?) == wanted {
        return Ok(());
    }
    Err(format!("{a} and {b} {}", if wanted { "differ" } else { "are the same" }))
}

fn every(value: &str, holds: impl Fn(&str) -> bool, otherwise: &str) -> Result<(), String> {
    match value.split_whitespace().find(|n| !holds(n)) {
        Some(name) => Err(format!("{name} {otherwise}")),
        None => Ok(()),
    }
}
