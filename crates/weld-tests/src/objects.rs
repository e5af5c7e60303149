//! Compiling test sources, once.
//!
//! Objects are kept in `${XDG_CACHE_HOME:-~/.cache}/weld/objs`, named by a hash of everything that
//! makes them: the compiler (path, size, time of change), its flags, the source and the other files
//! of the test that it may include. A second run of the suite compiles nothing.

use crate::machine;
use crate::places::{cache_dir, find_program};
use crate::process;
use crate::test_file::{Part, Test};
use crate::words;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A compiler as tests name it, and the program after it.
#[derive(Clone, Debug)]
pub struct Compiler {
    pub program: String,
    pub flags: Vec<String>,
    /// What stands in front of the output's name.
    output: &'static str,
}

/// The compiler for a source of this extension in a variant, for another machine if one is named.
pub fn compiler_for(extension: &str, cc: &str, libc: &str, machine: &str) -> Result<Compiler, String> {
    let mut compiler = compiler(extension, cc, libc)?;
    let Some(foreign) = machine::foreign(machine).filter(|_| !["ll", "yaml"].contains(&extension)) else {
        return Ok(compiler);
    };
    let (program, mut flags) = foreign.compiler(&compiler.program);
    flags.extend(compiler.flags.into_iter().filter(|flag| flag != "--64"));
    (compiler.program, compiler.flags) = (program, flags);
    Ok(compiler)
}

/// The compiler for a source of this extension in a variant.
pub fn compiler(extension: &str, cc: &str, libc: &str) -> Result<Compiler, String> {
    let clang = cc == "clang";
    let with = |program: &str, flags: &[&str]| Compiler {
        program: program.to_owned(),
        flags: flags.iter().map(|&f| f.to_owned()).collect(),
        output: "-o",
    };
    let windows = ["--target=x86_64-pc-windows-msvc", "-c"];
    Ok(match extension {
        // Import libraries, and resources.
        "def" => Compiler { output: "-l", ..with("llvm-dlltool-22", &["-m", "i386:x86-64", "-d"]) },
        "rc" => Compiler { output: "/fo", ..with("llvm-rc-22", &[]) },
        "c" | "S" if cc == "windows" => with("clang-22", &["-O1", "-ffreestanding", windows[0], windows[1]]),
        "cc" if cc == "windows" => with("clang++-22", &["-O1", "-ffreestanding", windows[0], windows[1]]),
        "s" | "ll" if cc == "windows" => {
            with("clang-22", &["-O1", "-Wno-override-module", windows[0], windows[1]])
        }
        "c" | "S" if libc == "musl" && clang => {
            with("clang-22", &["-O1", "-nostdlibinc", "-isystem", "/usr/include/x86_64-linux-musl", "-c"])
        }
        "c" | "S" if libc == "musl" => with("musl-gcc", &["-O1", "-c"]),
        "c" | "S" => with(if clang { "clang-22" } else { "gcc" }, &["-O1", "-c"]),
        "cc" => with(if clang { "clang++-22" } else { "g++" }, &["-O1", "-c"]),
        "s" if clang => with("clang-22", &["-c"]),
        "s" => with("as", &["--64"]),
        "f90" => with("gfortran", &["-O1", "-c"]),
        "ll" => with("clang-22", &["-O1", "-c", "-Wno-override-module"]),
        "yaml" => with("yaml2obj-22", &[]),
        _ => return Err(format!("no compiler for .{extension}")),
    })
}

/// One object to be made.
pub struct Job<'a> {
    pub compiler: Compiler,
    pub source: &'a Part,
    pub parts: &'a [Part],
}

impl Job<'_> {
    fn key(&self) -> Result<String, String> {
        let path = find_program(&self.compiler.program)?;
        let meta = std::fs::metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut h = DefaultHasher::new();
        (path, meta.len(), meta.modified().ok(), &self.compiler.flags).hash(&mut h);
        (&self.source.name, &self.source.text).hash(&mut h);
        for p in self.parts.iter().filter(|p| may_be_included(&p.name)) {
            (&p.name, &p.text).hash(&mut h);
        }
        let first = h.finish();
        // A second, differently seeded half: 64 bits alone may collide over the years.
        (first, "weld objs 1").hash(&mut h);
        Ok(format!("{first:016x}{:016x}", h.finish()))
    }

    /// The cached object, compiled now if it is not there yet.
    pub fn object(&self) -> Result<PathBuf, String> {
        let dir = cache_dir().join("objs");
        let key = self.key()?;
        let object = dir.join(&key[..2]).join(format!("{key}.o"));
        if object.exists() {
            return Ok(object);
        }
        let work = dir.join(format!("tmp.{}.{key}", std::process::id()));
        let result = self.compile(&work).and_then(|()| {
            std::fs::create_dir_all(dir.join(&key[..2])).map_err(|e| e.to_string())?;
            // Who comes second, after another process, takes what the first has made: compilers write down in
            // which directory they worked.
            match std::fs::hard_link(work.join("weld-out.o"), &object) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists => Err(e.to_string()),
                _ => Ok(()),
            }
        });
        let _ = std::fs::remove_dir_all(&work);
        result.map_err(|e| format!("{}: {e}", self.source.name))?;
        Ok(object)
    }

    fn compile(&self, work: &Path) -> Result<(), String> {
        write_parts(work, self.parts.iter().filter(|p| may_be_included(&p.name)))?;
        write_parts(work, std::iter::once(self.source))?;
        let mut command = Command::new(&self.compiler.program);
        // A tool that takes a flag for its source has it last.
        command.current_dir(work).args(&self.compiler.flags).arg(&self.source.name);
        command.args([self.compiler.output, "weld-out.o"]);
        let done = process::run(command, work, Duration::from_secs(300))?;
        if done.code != 0 {
            return Err(format!(
                "{} {}:\n{}{}",
                self.compiler.program,
                self.compiler.flags.join(" "),
                done.stdout,
                done.stderr
            ));
        }
        Ok(())
    }
}

fn may_be_included(name: &str) -> bool {
    [".h", ".inc", ".bin", ".mod"].iter().any(|e| name.ends_with(e))
}

/// Writes parts below `dir`, making directories.
pub fn write_parts<'a>(dir: &Path, parts: impl Iterator<Item = &'a Part>) -> Result<(), String> {
    for p in parts {
        let path = dir.join(&p.name);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
        std::fs::write(&path, &p.text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// The objects a test needs: those named by `obj:` directives, and for every other source `X.c` an
/// `X.o` (`X.obj`) if a directive speaks of it. Returns (name in the working directory, cached file).
pub fn objects_of(test: &Test) -> Result<Vec<(String, PathBuf)>, String> {
    let mut out = Vec::new();
    let parts = &test.file.parts;
    let mut explicit = Vec::new();
    for text in test.all("obj") {
        let (name, rest) = text.split_once('=').ok_or_else(|| format!("bad obj `{text}`"))?;
        let mut rest = words::split(&test.fill(rest))?;
        if rest.is_empty() {
            return Err(format!("bad obj `{text}`"));
        }
        let source_name = rest.remove(0);
        let source = parts.iter().find(|p| p.name == source_name);
        let source = source.ok_or_else(|| format!("obj: there is no file {source_name}"))?;
        let chosen = rest.first().and_then(|w| w.strip_prefix('@')).map(str::to_owned);
        if chosen.is_some() {
            rest.remove(0);
        }
        let cc = chosen.as_deref().unwrap_or(test.var("cc"));
        out.push((name.trim().to_owned(), job(test, source, cc, rest)?.object()?));
        explicit.push(source_name);
    }
    for source in parts.iter().filter(|p| !explicit.contains(&p.name)) {
        let (stem, ext) = source.name.rsplit_once('.').unwrap_or((&source.name, ""));
        let object = format!("{stem}.{}", test.file.flavour.object_extension());
        // Import libraries and resources are made if a test says so.
        let is_source = !["def", "rc"].contains(&ext);
        let wanted = is_source && test.directives().any(|d| mentions(&d.value, &object));
        if wanted && compiler(ext, "gcc", "glibc").is_ok() {
            out.push((object, job(test, source, test.var("cc"), Vec::new())?.object()?));
        }
    }
    Ok(out)
}

/// Whether `text` has the file name as a word of its own.
fn mentions(text: &str, object: &str) -> bool {
    let boundary =
        |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-' && c != '.');
    text.match_indices(object).any(|(at, m)| {
        boundary(text[..at].chars().next_back()) && boundary(text[at + m.len()..].chars().next())
    })
}

fn job<'a>(test: &'a Test, source: &'a Part, cc: &str, flags: Vec<String>) -> Result<Job<'a>, String> {
    let ext = source.name.rsplit('.').next().unwrap_or_default();
    let mut compiler = compiler_for(ext, cc, test.var("libc"), test.var("machine"))?;
    let key = match ext {
        "c" => "cflags",
        "cc" => "cxxflags",
        "s" | "S" => "asflags",
        _ => "fflags",
    };
    for more in test.all(key) {
        compiler.flags.extend(words::split(&test.fill(more))?);
    }
    compiler.flags.extend(flags);
    Ok(Job { compiler, source, parts: &test.file.parts })
}
