//! What differs between the command lines of linkers, and between the programs that they make.

use crate::places::cache_dir;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `ld`: tests below `tests/elf`.
    Elf,
    /// `lld-link`: tests below `tests/coff`.
    Coff,
}

impl Flavour {
    pub fn of_name(name: &str) -> Flavour {
        if name == "coff" { Flavour::Coff } else { Flavour::Elf }
    }

    /// The compiler of tests that do not say.
    pub fn compiler(self) -> &'static str {
        match self {
            Flavour::Elf => "gcc",
            Flavour::Coff => "windows",
        }
    }

    /// What objects are called.
    pub fn object_extension(self) -> &'static str {
        match self {
            Flavour::Elf => "o",
            Flavour::Coff => "obj",
        }
    }

    /// The output of tests that do not say, and the arguments that ask for it.
    pub fn default_output(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Flavour::Elf => ("out", &["-o", "out"]),
            Flavour::Coff => ("out.exe", &["/out:out.exe"]),
        }
    }

    /// The file that a command line writes.
    pub fn output_of(self, args: &[String]) -> Option<String> {
        match self {
            Flavour::Elf => elf_output(args),
            Flavour::Coff => {
                let out = |arg: &String| {
                    let body = arg.strip_prefix(['/', '-'])?;
                    let (name, value) = body.split_once(':')?;
                    name.eq_ignore_ascii_case("out").then(|| value.to_owned())
                };
                args.iter().filter_map(out).next_back()
            }
        }
    }

    pub fn threads(self, threads: &str) -> String {
        match self {
            Flavour::Elf => format!("--threads={threads}"),
            Flavour::Coff => format!("/threads:{threads}"),
        }
    }

    pub fn sets_threads(self, arg: &str) -> bool {
        arg.starts_with(&self.threads(""))
    }

    /// Runs a program: one for Windows by wine, in a prefix that all tests share.
    pub fn command(self, program: &str) -> Result<Command, String> {
        if self == Flavour::Elf || !program.ends_with(".exe") {
            return Ok(Command::new(program));
        }
        let prefix = wine_prefix()?;
        let mut command = Command::new(WINE);
        command.arg(program).env("WINEPREFIX", prefix).env("WINEDEBUG", "-all");
        Ok(command)
    }
}

/// Debian's package wine64 has no command in the path.
const WINE: &str = "/usr/lib/wine/wine64";
const WINE_SERVER: &str = "/usr/lib/wine/wineserver64";

/// The directory that wine keeps its world in, with its server running. A program that finds no server starts
/// one, and ends with exit code 1 and not a word if that fails, as if the program under test had; so it is
/// started here, apart from the tests.
fn wine_prefix() -> Result<PathBuf, String> {
    for program in [WINE, WINE_SERVER] {
        if !Path::new(program).exists() {
            return Err(format!("{program} is not installed (./test installs what the tests need)"));
        }
    }
    let prefix = cache_dir().join("objs").join("wine");
    let fail = |e: std::io::Error| format!("{}: {e}", prefix.display());
    std::fs::create_dir_all(&prefix).map_err(fail)?;
    // Several workers may come here at once.
    let lock = File::create(prefix.join("lock")).map_err(fail)?;
    lock.lock().map_err(fail)?;
    start_wine_server(&prefix)?;
    // The prefix is made once, which takes seconds. It is large, so it lies where caches that share objects
    // share it, too.
    let done = prefix.join("ready");
    if !done.exists() {
        let mut command = Command::new(WINE);
        command.args(["wineboot", "--init"]).env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all");
        let made = command.output().map_err(fail)?;
        if !made.status.success() {
            return Err(format!("wineboot: {}", String::from_utf8_lossy(&made.stderr)));
        }
        File::create(&done).map_err(fail)?;
    }
    Ok(prefix)
}

/// The server ends some seconds after its last program.
fn start_wine_server(prefix: &Path) -> Result<(), String> {
    const RUNS_ALREADY: i32 = 2;
    let mut last = None;
    for _ in 0..3 {
        let mut command = Command::new(WINE_SERVER);
        command.env("WINEPREFIX", prefix).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(|e| format!("{WINE_SERVER}: {e}"))?;
        if status.success() || status.code() == Some(RUNS_ALREADY) {
            return Ok(());
        }
        last = Some(status);
    }
    Err(format!("{WINE_SERVER} does not start: {}", last.map(|s| s.to_string()).unwrap_or_default()))
}

/// The value of the last `-o`.
fn elf_output(args: &[String]) -> Option<String> {
    let mut found = None;
    for (i, a) in args.iter().enumerate() {
        if a == "-o" || a == "--output" {
            found = args.get(i + 1).cloned();
        } else if let Some(v) = a.strip_prefix("--output=") {
            found = Some(v.to_owned());
        } else if let Some(v) = a.strip_prefix("-o").filter(|v| !v.is_empty() && *v != "utput") {
            found = Some(v.to_owned());
        }
    }
    found
}
