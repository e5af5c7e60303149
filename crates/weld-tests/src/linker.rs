//! The linker under test: weld inside this process, or any program that takes the same arguments.

use crate::digests;
use crate::flavour::Flavour;
use crate::process;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// What a link said and whether it succeeded.
pub struct LinkResult {
    pub ok: bool,
    /// `--trace`, `--print-map`, …
    pub stdout: String,
    /// Errors and warnings.
    pub stderr: String,
}

/// A link inside this process: the arguments without the program's name.
pub type LinkFn = fn(Flavour, &[OsString]) -> LinkResult;

/// What the program that runs the tests provides.
pub struct Hooks {
    /// weld as a library; without it, `--linker` must be given.
    pub link: Option<LinkFn>,
    /// weld as a program, for tests that go through compiler drivers.
    pub program: Option<PathBuf>,
    /// The directory with the tests: `elf` and `coff` below it.
    pub tests: PathBuf,
}

/// Where the last panic began, told by the hook.
static PANIC_PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics off standard error and remembers where they began.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut place) = PANIC_PLACE.lock() {
            *place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
        }
    }));
}

#[derive(Clone)]
pub struct Linker {
    /// `weld`, `lld`, `mold` or `bfd`; what `only:` and conditions speak of.
    pub name: String,
    pub program: PathBuf,
    link: Option<LinkFn>,
}

impl Linker {
    /// weld in-process, or what `external` names.
    pub fn choose(hooks: &Hooks, external: Option<&str>) -> Result<Linker, String> {
        if let Some(path) = external {
            let program = crate::places::find_program(path)?;
            let program = std::fs::canonicalize(&program).map_err(|e| format!("{path}: {e}"))?;
            let name = identify(Path::new(path))?;
            // lld acts by the name it is called by; the file that the link leads to is called `lld`.
            let program = if name == "lld" { crate::places::find_program(path)? } else { program };
            return Ok(Linker { name, program, link: None });
        }
        let (Some(link), Some(program)) = (hooks.link, hooks.program.clone()) else {
            return Err("weld is not part of this program; use --linker=PATH".to_owned());
        };
        let program = digests::program().unwrap_or(program);
        Ok(Linker { name: "weld".to_owned(), program, link: Some(link) })
    }

    pub fn in_process(&self) -> bool {
        self.link.is_some()
    }

    /// Links ELF files with the arguments as they are.
    pub fn run(&self, args: &[String], dir: &Path) -> Result<LinkResult, String> {
        self.run_as(Flavour::Elf, args, dir)
    }

    /// Links with the arguments as they are.
    pub fn run_as(&self, flavour: Flavour, args: &[String], dir: &Path) -> Result<LinkResult, String> {
        if let Some(link) = self.link {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            return std::panic::catch_unwind(|| link(flavour, &args)).map_err(|payload| {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
                let place = PANIC_PLACE.lock().ok().and_then(|mut p| p.take()).unwrap_or_default();
                format!("the linker panicked at {place}: {}", text.unwrap_or("no message"))
            });
        }
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(dir);
        let done = process::run(command, dir, Duration::from_secs(30))?;
        if done.code > 128 {
            return Err(format!("the linker died of signal {}:\n{}", done.code - 128, done.stderr));
        }
        Ok(LinkResult { ok: done.code == 0, stdout: done.stdout, stderr: done.stderr })
    }

    /// The directory for what tests of this linker leave. Runs with other programs of the same name, another
    /// checkout's, have another one: they may run at the same time.
    pub fn place(&self) -> PathBuf {
        digests::directory().unwrap_or_else(|| {
            let mut hasher = DefaultHasher::new();
            self.program.hash(&mut hasher);
            let label = format!("{}.{:06x}", self.name, hasher.finish() & 0xff_ffff);
            crate::places::cache_dir().join("e2e").join(label)
        })
    }

    /// A directory with the linker under all the names that drivers look for.
    pub fn directory(&self) -> Result<PathBuf, String> {
        let dir = self.place().join(format!("bin.{}", self.name));
        std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        for name in ["ld", "ld.weld", "ld.lld", "weld"] {
            let link = dir.join(name);
            if std::fs::read_link(&link).ok().as_deref() != Some(&self.program) {
                let temporary = dir.join(format!("{name}.{}", std::process::id()));
                let _ = std::fs::remove_file(&temporary);
                std::os::unix::fs::symlink(&self.program, &temporary).map_err(|e| e.to_string())?;
                std::fs::rename(&temporary, &link).map_err(|e| e.to_string())?;
            }
        }
        Ok(dir)
    }
}

fn identify(program: &Path) -> Result<String, String> {
    let out = Command::new(program).arg("--version").output();
    let out = out.map_err(|e| format!("{}: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&out.stdout).to_lowercase();
    let first = text.lines().next().unwrap_or_default();
    let names = [("weld", "weld"), ("wild", "wild"), ("mold", "mold"), ("lld", "lld"), ("gnu ld", "bfd")];
    let found = names.iter().find(|(mark, _)| first.contains(mark));
    found.map(|(_, name)| (*name).to_owned()).ok_or_else(|| format!("unknown linker: {first}"))
}
