//! Building an engine: the C++ program in `engine/`, against an LLVM that is installed.
//!
//! The source is in weld, so that nothing else is needed but LLVM's headers and a compiler. `llvm-config`
//! says where they are, by which flags the compiler finds them, and which version it is; the program is
//! called by that ([`super::find::PROGRAM`]). It is built under another name and renamed, so that a link that
//! runs meanwhile sees the old one or the new one.
//!
//! Where LLVM's archives are installed, it has LLVM in itself, at a fixed address: who loads LLVM as a
//! library waits for the loader, which looks up its names and writes addresses to a thousand of its pages. The
//! program with the library is beside it then ([`super::find::SHARED`]), for plugins.
//!
//! LLVM takes and returns memory all the time, so mimalloc takes the C library's place in that where it is
//! installed.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use weld_common::host::Host;

use super::find::{self, ENGINES, PROGRAM, SHARED};
use crate::late;

/// The program's files. The first one is compiled, and includes the others.
pub const SOURCES: [(&str, &str); 3] = [
    ("engine.cpp", include_str!("../../engine/engine.cpp")),
    ("settings.h", include_str!("../../engine/settings.h")),
    ("wire.h", include_str!("../../engine/wire.h")),
];

/// Versions of LLVM whose interface the source is written for. It has been compiled with 22.
const MAJORS: std::ops::RangeInclusive<u32> = 21..=23;

/// What to build.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// `--llvm-config=`. Not given: `llvm-config` or the newest `llvm-config-N` in `PATH`.
    pub llvm_config: Option<PathBuf>,
    /// `--output`: a directory. Not given: that of engines in the user's cache.
    pub directory: Option<PathBuf>,
}

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    NoLlvmConfig,
    /// It says nothing that makes sense.
    LlvmConfig {
        program: PathBuf,
        why: String,
    },
    Version {
        program: PathBuf,
        version: String,
    },
    NoHeaders {
        directory: PathBuf,
        major: u32,
    },
    NoCompiler,
    Compiler {
        program: OsString,
    },
    NoDirectory,
    File {
        path: PathBuf,
        error: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoLlvmConfig => write!(
                f,
                "there is no llvm-config: install LLVM's headers (Debian and Ubuntu: apt install llvm-22-dev), \
                 or say where it is with --llvm-config=PATH"
            ),
            BuildError::LlvmConfig { program, why } => write!(f, "{}: {why}", program.display()),
            BuildError::Version { program, version } => write!(
                f,
                "{}: it is of LLVM {version}, and engines are for LLVM {} to {}",
                program.display(),
                MAJORS.start(),
                MAJORS.end()
            ),
            BuildError::NoHeaders { directory, major } => write!(
                f,
                "there are no headers of LLVM in {}: install them (Debian and Ubuntu: apt install llvm-{major}-dev)",
                directory.display()
            ),
            BuildError::NoCompiler => {
                write!(f, "there is no C++ compiler: CXX says which, or c++, g++, clang++ in PATH")
            }
            BuildError::Compiler { program } => write!(f, "{} failed", program.display()),
            BuildError::NoDirectory => {
                write!(f, "neither XDG_CACHE_HOME nor HOME is set: say where to with --output DIR")
            }
            BuildError::File { path, error } => {
                write!(f, "{}: {}", path.display(), weld_common::io::reason(error))
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds a program. Where it is.
///
/// # Errors
/// If something that it needs is not there, or does not compile; the compiler has said why on standard error.
pub fn build(wish: &Wish, host: &dyn Host) -> Result<PathBuf, BuildError> {
    let config = match &wish.llvm_config {
        Some(path) => path.clone(),
        None => llvm_config(host).ok_or(BuildError::NoLlvmConfig)?,
    };
    let directory = wish.directory.clone().or_else(|| cache(host).map(|cache| cache.join(ENGINES)));
    let directory = directory.ok_or(BuildError::NoDirectory)?;
    std::fs::create_dir_all(&directory).map_err(at(&directory))?;
    let workshop = Workshop::new(&directory)?;
    let llvm = Llvm::ask(&config, &workshop, host)?;
    for (name, text) in SOURCES {
        let path = workshop.0.join(name);
        std::fs::write(&path, text).map_err(at(&path))?;
    }
    let object = workshop.0.join("engine.o");
    let compiler = compile(&llvm, &workshop, &object, host)?;
    let (shared, whole) = (workshop.0.join("shared"), workshop.0.join("whole"));
    let objects = objects(&object, has_mimalloc(&compiler, &workshop, host)?);
    drive(&compiler, &llvm.shared_flags(&objects, &shared), host)?;
    let name = format!("{PROGRAM}-{}", llvm.major);
    let path = directory.join(&name);
    let beside = directory.join(name + SHARED);
    let flags = llvm.archives.as_ref().map(|archives| llvm.whole_flags(archives, &objects, &whole));
    // Of what archives need, something may not be installed; the linker says what.
    if flags.is_some_and(|flags| drive(&compiler, &flags, host).is_ok()) {
        std::fs::rename(&shared, &beside).map_err(at(&beside))?;
        std::fs::rename(&whole, &path).map_err(at(&path))?;
    } else {
        std::fs::rename(&shared, &path).map_err(at(&path))?;
        // The rest of an engine that was built before.
        let _ = std::fs::remove_file(&beside);
    }
    Ok(path)
}

/// The user's directory for caches.
pub fn cache(host: &dyn Host) -> Option<PathBuf> {
    let variable = |name| host.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))
}

fn at(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    |error| BuildError::File { path: path.to_owned(), error }
}

/// A directory for what is only needed while a program is built.
struct Workshop(PathBuf);

impl Workshop {
    fn new(directory: &Path) -> Result<Workshop, BuildError> {
        let path = directory.join(format!(".build-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(at(&path))?;
        Ok(Workshop(path))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        late::remove_directory(&self.0);
    }
}

/// What `llvm-config` says.
struct Llvm {
    major: u32,
    flags: String,
    libraries: String,
    /// The same where LLVM's archives are installed, too.
    archives: Option<String>,
    library: PathBuf,
    library_directory: PathBuf,
}

impl Llvm {
    fn ask(config: &Path, workshop: &Workshop, host: &dyn Host) -> Result<Llvm, BuildError> {
        let ask = |words: &[&str]| said(config, words, workshop, host);
        let version = ask(&["--version"])?;
        let major: Option<u32> = version.split('.').next().and_then(|major| major.parse().ok());
        let Some(major) = major.filter(|major| MAJORS.contains(major)) else {
            return Err(BuildError::Version { program: config.to_owned(), version });
        };
        let headers = PathBuf::from(ask(&["--includedir"])?);
        if !headers.join("llvm/LTO/LTO.h").is_file() {
            return Err(BuildError::NoHeaders { directory: headers, major });
        }
        let library_directory = PathBuf::from(ask(&["--libdir"])?);
        let libraries = ask(&["--ldflags", "--libs", "--system-libs"])?;
        let library =
            library_directory.join(ask(&["--libnames"])?.split_whitespace().next().unwrap_or_default());
        let flags = ask(&["--cxxflags"])?;
        let has_archives = library_directory.join("libLLVMLTO.a").is_file();
        let whole = ["--link-static", "--ldflags", "--libs", "all-targets", "lto", "passes", "--system-libs"];
        let archives = has_archives.then(|| ask(&whole).ok()).flatten();
        let has_rtti = ask(&["--has-rtti"])? == "YES";
        let flags = if has_rtti { flags } else { format!("{flags} -fno-rtti") };
        Ok(Llvm { major, flags, libraries, archives, library, library_directory })
    }

    /// What a compiler is told to link a program that loads LLVM.
    fn shared_flags(&self, objects: &[OsString], made: &Path) -> Vec<OsString> {
        let mut runpath = OsString::from("-Wl,-rpath,");
        runpath.push(&self.library_directory);
        let mut flags: Vec<OsString> = ["-pthread", "-o"].map(OsString::from).into();
        flags.push(made.into());
        flags.extend_from_slice(objects);
        flags.extend(self.libraries.split(' ').map(OsString::from));
        flags.push(runpath);
        flags
    }

    /// The same with LLVM in it.
    fn whole_flags(&self, archives: &str, objects: &[OsString], made: &Path) -> Vec<OsString> {
        let how = ["-pthread", "-no-pie", "-s", "-static-libstdc++", "-static-libgcc"];
        let mut flags: Vec<OsString> = how.map(OsString::from).into();
        flags.extend(["-Wl,--gc-sections", "-Wl,--as-needed", "-o"].map(OsString::from));
        flags.push(made.into());
        flags.extend_from_slice(objects);
        flags.extend(archives.split(' ').map(OsString::from));
        flags
    }
}

/// The program's object, and the library that is to come before all others.
fn objects(object: &Path, has_mimalloc: bool) -> Vec<OsString> {
    let mut objects = vec![object.into()];
    if has_mimalloc {
        let whole = ["-Wl,--push-state,--no-as-needed", "-lmimalloc", "-Wl,--pop-state"];
        objects.extend(whole.map(OsString::from));
    }
    objects
}

/// Whether a compiler finds mimalloc (it says the file's name alone if it does not), and a program with it starts: the
/// loader may look elsewhere.
fn has_mimalloc(compiler: &OsStr, workshop: &Workshop, host: &dyn Host) -> Result<bool, BuildError> {
    const NAME: &str = "libmimalloc.so";
    let (said, probe) = (workshop.0.join("found"), workshop.0.join("probe"));
    let script = format!("exec $1 -print-file-name={NAME} >\"$0\"");
    let args = [OsStr::new("-c"), OsStr::new(&script), said.as_os_str(), compiler];
    let is_told = host.run(Path::new("/bin/sh"), &args).map_err(at(Path::new("/bin/sh")))?;
    let found = std::fs::read_to_string(&said).unwrap_or_default();
    if !is_told || !Path::new(found.trim()).is_absolute() {
        return Ok(false);
    }
    let source = workshop.0.join("probe.cpp");
    std::fs::write(&source, "int main() { return 0; }\n").map_err(at(&source))?;
    let mut flags = vec!["-o".into(), probe.clone().into()];
    flags.extend(objects(&source, true));
    Ok(drive(compiler, &flags, host).is_ok() && host.run(&probe, &[]).is_ok_and(|is_well| is_well))
}

/// What a program prints, on one line.
fn said(program: &Path, words: &[&str], workshop: &Workshop, host: &dyn Host) -> Result<String, BuildError> {
    let path = workshop.0.join("said");
    let mut args = vec![OsStr::new("-c"), OsStr::new("out=$0; exec \"$@\" >\"$out\""), path.as_os_str()];
    args.push(program.as_os_str());
    args.extend(words.iter().map(OsStr::new));
    let failed = |why: String| BuildError::LlvmConfig { program: program.to_owned(), why };
    match host.run(Path::new("/bin/sh"), &args) {
        Ok(true) => {}
        Ok(false) => return Err(failed(format!("it cannot tell {}", words.join(" ")))),
        Err(error) => return Err(failed(weld_common::io::reason(&error))),
    }
    let text = std::fs::read_to_string(&path).map_err(at(&path))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Makes the program's object. Who has compiled it.
fn compile(llvm: &Llvm, workshop: &Workshop, made: &Path, host: &dyn Host) -> Result<OsString, BuildError> {
    let compiler = compiler(host).ok_or(BuildError::NoCompiler)?;
    let source = workshop.0.join(SOURCES[0].0);
    let mut mark = OsString::from("-DWELD_LLVM_LIBRARY=\"");
    mark.push(&llvm.library);
    mark.push("\"");
    let mut flags = vec![OsString::from("-O1")];
    flags.extend(llvm.flags.split(' ').map(OsString::from));
    flags.extend([mark, "-pthread".into(), "-fPIE".into(), "-c".into(), "-o".into()]);
    flags.extend([made.into(), source.into()]);
    drive(&compiler, &flags, host)?;
    Ok(compiler)
}

/// Runs a compiler, whose own command line may have several words, as `CXX` has them.
fn drive(compiler: &OsStr, flags: &[OsString], host: &dyn Host) -> Result<(), BuildError> {
    let mut args: Vec<&OsStr> = vec![OsStr::new("-c"), OsStr::new("exec $0 \"$@\""), compiler];
    args.extend(flags.iter().map(OsString::as_os_str));
    match host.run(Path::new("/bin/sh"), &args) {
        Ok(true) => Ok(()),
        Ok(false) => Err(BuildError::Compiler { program: compiler.to_owned() }),
        Err(error) => Err(at(Path::new("/bin/sh"))(error)),
    }
}

fn compiler(host: &dyn Host) -> Option<OsString> {
    if let Some(compiler) = host.variable("CXX").filter(|compiler| !compiler.is_empty()) {
        return Some(compiler);
    }
    ["c++", "g++", "clang++"]
        .iter()
        .find_map(|name| find::program(Path::new(name), host))
        .map(PathBuf::into_os_string)
}

/// `llvm-config`, or that of the newest version that engines are for.
fn llvm_config(host: &dyn Host) -> Option<PathBuf> {
    let with_version =
        || MAJORS.rev().find_map(|major| find::program(format!("llvm-config-{major}").as_ref(), host));
    with_version().or_else(|| find::program("llvm-config".as_ref(), host))
}
