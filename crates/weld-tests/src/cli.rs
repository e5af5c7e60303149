//! The command line of the test program, in the manner of libtest.
//!
//! ```text
//!     [FILTER…]        run tests whose names contain one of these
//!     --exact          names must be equal
//!     --skip=TEXT      leave out names that contain TEXT
//!     --list           print the names
//!     --linker=PATH    test that program instead of weld in-process
//!     --jobs=N         worker processes (default: the number of processors)
//!     --full           long tests too
//!     --keep           keep working directories (those of failures are always kept)
//!     --lines=N        show that much of each failure (default: 60)
//!     --no-known       known failures count as failures (see `known`)
//!     --write-known    write the list of known failures anew
//!     --failed         print one line for each failure only
//! ```

use crate::digests::Collection;
use crate::exec;
use crate::known::Known;
use crate::linker::{Hooks, Linker};
use crate::native;
use crate::pool::{self, Outcome};
use crate::test_file::{self, Fate, Test};
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Options {
    filters: Vec<String>,
    skips: Vec<String>,
    exact: bool,
    list: bool,
    keep: bool,
    full: bool,
    worker: bool,
    brief: bool,
    write_known: bool,
    all_failures: bool,
    linker: Option<String>,
    jobs: Option<usize>,
    lines: Option<usize>,
}

impl Options {
    fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut o = Options { full: std::env::var_os("WELD_TEST_FULL").is_some(), ..Options::default() };
        for arg in args {
            let (key, value) = arg.split_once('=').unwrap_or((&arg, ""));
            match key {
                "--exact" => o.exact = true,
                "--list" => o.list = true,
                "--keep" => o.keep = true,
                "--full" => o.full = true,
                "--worker" => o.worker = true,
                "--failed" => o.brief = true,
                "--write-known" => o.write_known = true,
                "--no-known" => o.all_failures = true,
                "--skip" => o.skips.push(value.to_owned()),
                "--linker" => o.linker = Some(value.to_owned()),
                "--jobs" | "--test-threads" => {
                    o.jobs = Some(value.parse().map_err(|_| format!("bad {arg}"))?)
                }
                "--lines" => o.lines = Some(value.parse().map_err(|_| format!("bad {arg}"))?),
                // What `cargo test` may pass on to every test program.
                "--nocapture" | "--no-capture" | "-q" | "--quiet" | "--color" => {}
                _ if arg.starts_with('-') => return Err(format!("unknown option {arg}")),
                _ => o.filters.push(arg),
            }
        }
        Ok(o)
    }

    fn selects(&self, name: &str) -> bool {
        let matches = |f: &String| if self.exact { name == f } else { name.contains(f.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips.iter().any(|s| name.contains(s.as_str()))
    }
}

/// Runs the tests as the command line says.
pub fn main(hooks: &Hooks) -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|o| run(hooks, &o)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("e2e: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(hooks: &Hooks, options: &Options) -> Result<bool, String> {
    let linker = Linker::choose(hooks, options.linker.as_deref())?;
    let tests = test_file::find(&hooks.tests, &linker.name)?;
    if options.worker {
        return work(&linker, &tests, options).map(|()| true);
    }
    let mut names: Vec<String> = tests.into_iter().map(|t| t.name).collect();
    if linker.in_process() {
        names.extend(native::names(options.full));
    }
    names.retain(|n| options.selects(n));
    if options.list {
        names.iter().for_each(|n| println!("{n}: test"));
        return Ok(true);
    }
    let listed = linker.in_process() && !options.all_failures && !options.write_known;
    let known = if linker.in_process() { Known::read(&hooks.tests)? } else { Known::default() };
    let judge = |name: &str, outcome| if listed { known.judge(name, outcome) } else { outcome };
    let collection = Collection::begin(hooks.program.as_deref())?;
    let results = supervise(&names, options, judge)?;
    if let Some(collection) = collection {
        collection.end()?;
    }
    if options.write_known && options.filters.is_empty() && options.skips.is_empty() {
        known.write(&results)?;
    }
    summarize(&results, options)
}

/// The parent: hands out names, prints results as they come, returns them sorted.
fn supervise(
    names: &[String],
    options: &Options,
    judge: impl Fn(&str, Outcome) -> Outcome + Sync,
) -> Result<Vec<(String, Outcome)>, String> {
    let mut args = Vec::new();
    args.extend(options.linker.as_ref().map(|l| format!("--linker={l}")));
    args.extend(options.keep.then(|| "--keep".to_owned()));
    let jobs =
        options.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(2);
    let start = Instant::now();
    let results: Mutex<Vec<(String, Outcome)>> = Mutex::new(Vec::new());
    pool::run(names, jobs, &args, |name, outcome, time| {
        let outcome = judge(name, outcome);
        if !options.brief || matches!(outcome, Outcome::Failed(_)) {
            println!("{}", line(name, &outcome, time));
        }
        if let Ok(mut r) = results.lock() {
            r.push((name.to_owned(), outcome));
        }
    });
    let mut results = results.into_inner().map_err(|_| "a thread panicked")?;
    results.sort_by(|a, b| a.0.cmp(&b.0));
    println!("\nend-to-end tests: {:.1} s", start.elapsed().as_secs_f64());
    Ok(results)
}

/// Failures at length, then the count of all, alone on the last line.
fn summarize(results: &[(String, Outcome)], options: &Options) -> Result<bool, String> {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, outcome) in results {
        match outcome {
            Outcome::Passed => passed += 1,
            Outcome::Skipped(_) => skipped += 1,
            Outcome::Failed(text) => {
                failed += 1;
                if !options.brief {
                    let shown: Vec<&str> = text.lines().take(options.lines.unwrap_or(60)).collect();
                    println!("\n---- {name} ----\n{}", shown.join("\n"));
                }
            }
        }
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    Ok(failed == 0)
}

fn line(name: &str, outcome: &Outcome, time: Duration) -> String {
    let ms = time.as_millis();
    match outcome {
        Outcome::Passed => format!("test {name} ... ok ({ms} ms)"),
        Outcome::Failed(text) => {
            let first = text.lines().next().unwrap_or_default();
            format!("test {name} ... FAILED ({ms} ms): {first}")
        }
        Outcome::Skipped(why) => format!("test {name} ... skipped: {why}"),
    }
}

/// The child: runs what it is told.
fn work(linker: &Linker, tests: &[Test], options: &Options) -> Result<(), String> {
    let by_name: HashMap<&str, &Test> = tests.iter().map(|t| (t.name.as_str(), t)).collect();
    let base = linker.place();
    let run = |name: &str| -> Outcome {
        let dir = base.join(name.replace('/', "."));
        let outcome = match by_name.get(name) {
            Some(test) => one(linker, test, &dir),
            None => match native::run(name, linker, &dir) {
                Ok(()) => Outcome::Passed,
                Err(e) => Outcome::Failed(e),
            },
        };
        leave(&dir, options.keep || matches!(outcome, Outcome::Failed(_)));
        outcome
    };
    crate::linker::note_panics();
    pool::serve(run).map_err(|e| e.to_string())
}

fn leave(dir: &Path, keep: bool) {
    let _ = std::env::set_current_dir("/");
    if !keep {
        let _ = std::fs::remove_dir_all(dir);
    }
}

fn one(linker: &Linker, test: &Test, dir: &Path) -> Outcome {
    let expected = match test.fate() {
        Err(e) => return Outcome::Failed(e),
        Ok(Fate::Skip(why)) => return Outcome::Skipped(why),
        Ok(Fate::ExpectFailure(why)) => Some(why),
        Ok(Fate::Run) => None,
    };
    match (exec::run_test(linker, test, dir), expected) {
        (Ok(()), None) => Outcome::Passed,
        (Ok(()), Some(why)) => {
            Outcome::Failed(format!("passes, though it should not: {why}. Remove its xfail"))
        }
        (Err(_), Some(why)) => Outcome::Skipped(format!("fails as expected: {why}")),
        (Err(e), None) => Outcome::Failed(format!("{}: {e}", test.file.path.display())),
    }
}
