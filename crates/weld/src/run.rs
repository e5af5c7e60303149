//! `weld run COMMAND…`: what the command links is linked by weld, without a changed flag.
//!
//! The command is executed in weld's place, with a small library (`run/preload.c`) that the loader puts into
//! each program that is started from there: where one of them executes a linker, weld is executed. So
//! compilers, build tools and languages need not be known, and what they write down of where linkers are
//! stays true. The library lies in the user's directory for caches, since servers that are started on the way
//! may live longer than the command.
//!
//! What weld cannot link goes to whom it was meant for ([`hand_on`]). With `--check` weld waits for the
//! command's end, and says which files it has linked and which not.

use std::ffi::{CString, OsStr, OsString};
use std::fmt::{self, Write as _};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use weld_common::args::response::{Expanded, Quoting};
use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::io::reason;
use weld_common::text;
use weld_lto::engine;

use crate::spawn::{self, Texts};

pub const USAGE: &str = "usage: weld run [--check] COMMAND [ARGUMENT...]";

/// What the loader is given.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/run.so"));

/// The process, its namespace, the library and weld: the library reads it.
const RUN: &str = "WELD_RUN";
/// Of weld in a linker's place: that linker.
const INSTEAD: &str = "WELD_RUN_INSTEAD";
/// Where links are noted.
const LOG: &str = "WELD_RUN_LOG";
const PRELOAD: &str = "LD_PRELOAD";

/// What weld leaves in `.comment`.
const MARK: &[u8] = b"Linker: weld";

/// Why a command is not run.
#[derive(Debug)]
pub enum RunError {
    Usage,
    NoProgram(io::Error),
    /// There is no directory for caches.
    NoHome,
    Library(PathBuf, io::Error),
    /// What stands between the names in the loader's variable is in the library's path.
    Path(PathBuf),
    NotFound(OsString),
    Start(OsString, io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Usage => f.write_str(USAGE),
            RunError::NoProgram(e) => write!(f, "cannot find weld's own path: {e}"),
            RunError::NoHome => f.write_str(
                "there is neither HOME nor XDG_CACHE_HOME, where the library of weld run would be",
            ),
            RunError::Library(path, e) => write!(f, "{}: {}", path.display(), reason(e)),
            RunError::Path(path) => write!(
                f,
                "{}: a path with a space or a colon cannot be in {PRELOAD}; set XDG_CACHE_HOME to another directory",
                path.display()
            ),
            RunError::NotFound(name) => write!(f, "{}: there is no such program", name.display()),
            RunError::Start(name, e) => write!(f, "{}: {}", name.display(), reason(e)),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a command. Returns only with `--check`, or if there is an error: the exit code of the command, and
/// what to print.
///
/// # Errors
/// If the command cannot be started.
pub fn run(args: &[OsString], host: &dyn Host) -> Result<(i32, String), RunError> {
    let (checks, command) = match args.split_first() {
        Some((option, rest)) if option == "--check" => (true, rest),
        _ => (false, args),
    };
    let Some(name) = command.first() else { return Err(RunError::Usage) };
    if name == "--help" {
        return Ok((0, format!("{USAGE}\n")));
    }
    if name.as_bytes().starts_with(b"-") {
        return Err(RunError::Usage);
    }
    let weld = std::env::current_exe().map_err(RunError::NoProgram)?;
    let library = library(host)?;
    let program =
        engine::find_program(Path::new(name), host).ok_or_else(|| RunError::NotFound(name.clone()))?;
    let process = std::process::id();
    let log = checks.then(|| library.with_file_name(format!("run-{process}.log")));
    let failed = |e| RunError::Start(name.clone(), e);
    let variables = texts(&variables(process, &weld, &library, log.as_deref())).map_err(failed)?;
    let words = texts(command).map_err(failed)?;
    let Some(log) = log else { return Err(failed(execute(&program, &words, &variables))) };
    File::create(&log).map_err(|e| RunError::Library(log.clone(), e))?;
    let begun = SystemTime::now();
    let status = spawn::wait_for(&program, &words, &variables);
    let noted = fs::read(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    let code = status.map_err(failed)?;
    Ok((code, said(&Links::of(&noted), &linked_since(Path::new("."), begun))))
}

/// The library, which is written if it is not there.
fn library(host: &dyn Host) -> Result<PathBuf, RunError> {
    let directory = engine::build::cache(host).ok_or(RunError::NoHome)?.join("weld");
    let digest = UnitDigest::of(LIBRARY).hexadecimal();
    let path = directory.join(format!("run-{}.so", &digest[..16]));
    if path.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Err(RunError::Path(path));
    }
    if fs::read(&path).is_ok_and(|there| there == LIBRARY) {
        return Ok(path);
    }
    let temporary = path.with_extension(std::process::id().to_string());
    let written = fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&temporary, LIBRARY))
        .and_then(|()| fs::rename(&temporary, &path));
    written.map(|()| path.clone()).map_err(|e| {
        let _ = fs::remove_file(&temporary);
        RunError::Library(path, e)
    })
}

/// The environment of the command: `NAME=VALUE`.
fn variables(process: u32, weld: &Path, library: &Path, log: Option<&Path>) -> Vec<OsString> {
    let own = [RUN, INSTEAD, LOG, PRELOAD].map(OsStr::new);
    let others = std::env::vars_os().filter(|(name, _)| !own.contains(&name.as_os_str()));
    let mut list: Vec<OsString> = others.map(|(name, value)| joined(&name, "=", &value)).collect();
    let space = fs::metadata("/proc/self/ns/pid").map_or(0, |space| space.ino());
    let paths = joined(library.as_os_str(), ":", weld.as_os_str());
    list.push(joined(OsStr::new(&format!("{RUN}={process}:{space}")), ":", &paths));
    let preload = match std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        Some(others) => joined(library.as_os_str(), ":", &others),
        None => library.into(),
    };
    list.push(joined(OsStr::new(PRELOAD), "=", &preload));
    list.extend(log.map(|log| joined(OsStr::new(LOG), "=", log.as_os_str())));
    list
}

fn joined(first: &OsStr, between: &str, last: &OsStr) -> OsString {
    OsString::from_vec([first.as_bytes(), between.as_bytes(), last.as_bytes()].concat())
}

/// Executes a program in this process. By the system's call itself, which nobody stands in the way of.
fn execute(program: &Path, args: &Texts, variables: &Texts) -> io::Error {
    let Ok(program) = CString::new(program.as_os_str().as_bytes()) else {
        return ErrorKind::InvalidInput.into();
    };
    // SAFETY: terminated texts, in lists that end with null pointers.
    unsafe { libc::syscall(libc::SYS_execve, program.as_ptr(), args.as_ptr(), variables.as_ptr()) };
    io::Error::last_os_error()
}

/// Words as the system takes them.
fn texts(words: &[OsString]) -> io::Result<Texts> {
    Texts::of(words.iter().map(OsString::as_os_str))
}

/// Has the linker in whose place weld is do what weld cannot: link for another machine. Returns if that is
/// not so, or if it cannot be started.
pub fn hand_on(args: &[OsString], host: &dyn Host) {
    let Some(instead) = std::env::var_os(INSTEAD) else { return };
    let after = args.get(1..).unwrap_or_default();
    let Some(emulation) = emulation_of_others(after) else { return };
    note(|line| line.extend_from_slice(&[b"not ", emulation.as_bytes(), b"\0"].concat()), after);
    let Some(program) = engine::find_program(Path::new(&instead), host) else { return };
    let variables: Vec<OsString> =
        std::env::vars_os().map(|(name, value)| joined(&name, "=", &value)).collect();
    if let (Ok(args), Ok(variables)) = (texts(args), texts(&variables)) {
        execute(&program, &args, &variables);
    }
}

/// The value of `-m`, if it is one that weld does not know.
fn emulation_of_others(args: &[OsString]) -> Option<&OsStr> {
    let at = args.iter().rposition(|arg| arg == "-m")?;
    let emulation = args.get(at + 1)?;
    let is_known =
        weld_coff::args::gnu::is_meant(args) || emulation.to_str().is_some_and(weld_elf::args::is_emulation);
    (!is_known).then_some(emulation.as_os_str())
}

/// Notes that weld has linked, if somebody wants to know.
pub fn note_link(args: &[OsString]) {
    note(|line| line.extend_from_slice(b"linked\0"), args);
}

/// A line in the log: what was done, the linker, and the output.
fn note(what: impl FnOnce(&mut Vec<u8>), args: &[OsString]) {
    let Some(log) = std::env::var_os(LOG) else { return };
    let mut line = Vec::new();
    what(&mut line);
    line.extend(std::env::var_os(INSTEAD).unwrap_or_default().into_vec());
    line.push(0);
    let output = output_of(args);
    line.extend(std::path::absolute(&output).unwrap_or(output).into_os_string().into_vec());
    line.push(b'\n');
    // One call, so that lines of links at the same time stay whole. Who only wants to know loses a line if it
    // fails.
    let _ = OpenOptions::new().append(true).open(log).and_then(|mut log| log.write_all(&line));
}

/// Where a command line wants its output.
fn output_of(args: &[OsString]) -> PathBuf {
    let Ok(expanded) = Expanded::read(args, Quoting::Gnu) else { return "a.out".into() };
    let all = expanded.args();
    const JOINED: [&[u8]; 4] = [b"--output=", b"/out:", b"/OUT:", b"-out:"];
    let value = |at: usize| match all[at].as_bytes() {
        b"-o" | b"--output" => all.get(at + 1).map(|next| next.as_bytes()),
        word => JOINED.iter().find_map(|name| word.strip_prefix(*name)),
    };
    let output = (0..all.len()).filter_map(value).next_back().unwrap_or(b"a.out");
    Path::new(OsStr::from_bytes(output)).to_owned()
}

/// What is in a log.
#[derive(Default)]
struct Links {
    /// Outputs that weld has linked.
    own: Vec<PathBuf>,
    /// Others, who linked them and for what.
    others: Vec<(PathBuf, String)>,
}

impl Links {
    fn of(log: &[u8]) -> Links {
        let mut links = Links::default();
        for line in log.split(|&byte| byte == b'\n') {
            let mut parts = line.split(|&byte| byte == 0);
            let (Some(what), Some(linker), Some(output)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let output = PathBuf::from(OsStr::from_bytes(output));
            match what.strip_prefix(b"not ") {
                None => links.own.push(output),
                Some(emulation) => {
                    let (linker, emulation) = (text::text(linker), text::text(emulation));
                    links.others.push((output, format!("by {linker}: weld has no -m {emulation}")));
                }
            }
        }
        links.own.sort();
        links.own.dedup();
        links
    }
}

/// Programs and libraries below a directory that have been written since.
fn linked_since(directory: &Path, begun: SystemTime) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![std::path::absolute(directory).unwrap_or(directory.to_owned())];
    while let Some(directory) = rest.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                rest.push(entry.path());
            } else if meta.is_file()
                && meta.modified().is_ok_and(|time| time >= begun)
                && is_image(&entry.path())
            {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// A program or shared library, of ELF or PE: gABI, "ELF Header", `e_type`.
fn is_image(path: &Path) -> bool {
    let mut header = [0; 18];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let kind = if header[5] == 2 { [header[17], header[16]] } else { [header[16], header[17]] };
    read.is_ok()
        && (header.starts_with(b"\x7fELF") && matches!(kind, [2 | 3, 0]) || header.starts_with(b"MZ"))
}

/// What `--check` says.
fn said(links: &Links, images: &[PathBuf]) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut out = format!("weld run: {} file{} linked by weld", links.own.len(), plural(links.own.len()));
    let own: Vec<&PathBuf> = links.own.iter().filter(|path| path.is_file()).collect();
    if own.len() < links.own.len() {
        let _ = write!(out, ", of which {} left", own.len());
    }
    let (copies, strangers) = not_noted(links, images, &own);
    out.push_str(if own.is_empty() && copies.is_empty() { "\n" } else { ":\n" });
    for path in &own {
        let _ = writeln!(out, "  {}", path.display());
    }
    for path in &copies {
        let _ = writeln!(out, "  {} (a copy)", path.display());
    }
    let mut others = links.others.clone();
    let why =
        "by whom is not known: a program that has no loader may have started its linker, or it was copied";
    others.extend(strangers.into_iter().map(|path| (path, why.to_owned())));
    if !others.is_empty() {
        let _ = writeln!(out, "weld run: {} file{} not linked by weld:", others.len(), plural(others.len()));
    }
    for (path, why) in &others {
        let _ = writeln!(out, "  {} ({why})", path.display());
    }
    out
}

/// The images that no link has noted as its output: copies of what weld has linked, stripped ones too, and others.
fn not_noted(links: &Links, images: &[PathBuf], own: &[&PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let contents: Vec<Vec<u8>> = own.iter().filter_map(|path| fs::read(path).ok()).collect();
    let noted = links.own.iter().chain(links.others.iter().map(|(path, _)| path));
    let noted: Vec<PathBuf> = noted.filter_map(|path| fs::canonicalize(path).ok()).collect();
    let is_noted = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| noted.contains(&path));
    images.iter().filter(|path| !is_noted(path)).cloned().partition(|path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(MARK.len()).any(|part| part == MARK) || contents.contains(&bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn where_outputs_go() {
        let of = |args: &[&str]| output_of(&words(args));
        assert_eq!(of(&["a.o"]), Path::new("a.out"));
        assert_eq!(of(&["-o", "x", "a.o"]), Path::new("x"));
        assert_eq!(of(&["--output=x", "-o", "y"]), Path::new("y"));
        assert_eq!(of(&["/out:x.exe"]), Path::new("x.exe"));
        assert_eq!(of(&["-o"]), Path::new("a.out"));
    }

    #[test]
    fn who_links_for_which_machine() {
        let of = |args: &[&str]| emulation_of_others(&words(args)).map(|name| name.to_owned());
        assert_eq!(of(&["-m", "elf_x86_64", "a.o"]), None);
        assert_eq!(of(&["-m", "i386pep", "a.o"]), None);
        assert_eq!(of(&["a.o"]), None);
        assert_eq!(of(&["-m", "avr", "a.o"]), Some("avr".into()));
        assert_eq!(of(&["-m"]), None);
    }

    #[test]
    fn what_a_log_says() {
        let log =
            b"linked\0/usr/bin/ld\0/x/b\nlinked\0/usr/bin/ld\0/x/a\nnot avr\0/usr/bin/avr-ld\0/x/c\ncut";
        let links = Links::of(log);
        assert_eq!(links.own, [Path::new("/x/a"), Path::new("/x/b")]);
        let text = said(&links, &[]);
        assert!(text.contains("2 files linked by weld, of which 0 left\n"), "{text}");
        assert!(text.contains("/x/c (by /usr/bin/avr-ld: weld has no -m avr)"), "{text}");
    }
}
