//! `weld install-links DIR [NAME...]`: links by which compilers find weld. `weld uninstall-links DIR` removes
//! them.
//!
//! `gcc -B DIR` and `clang -B DIR` call `DIR/ld`; with `-fuse-ld=lld` it is `DIR/ld.lld`, with
//! `-fuse-ld=gold` `DIR/ld.gold`. Which names a directory takes over is for its owner to say, so those
//! of other linkers than `ld` and lld are made only if they are asked for.

use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_file as symlink;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::flavour;

/// Made by default.
const NAMES: [&str; 5] = ["ld", "ld.lld", "ld.weld", "lld-link", "weld-link"];

/// Made by `--all`, too.
const MORE: [&str; 7] = ["ld.bfd", "ld.gold", "ld.mold", "lld", "bfd", "gold", "mold"];

/// Why there are no links.
#[derive(Debug)]
pub enum InstallError {
    Usage,
    UninstallUsage,
    /// The name of no linker.
    Name(OsString),
    /// weld's own path is not to be had.
    NoProgram(io::Error),
    Create(PathBuf, io::Error),
    /// There is a link, to something else.
    LeadsTo {
        link: PathBuf,
        target: PathBuf,
    },
    Read(PathBuf, io::Error),
    Remove(PathBuf, io::Error),
    /// There is something that is no link.
    NoLink(PathBuf),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::Usage => f.write_str("usage: weld install-links DIR [--all | NAME...]"),
            InstallError::UninstallUsage => f.write_str("usage: weld uninstall-links DIR"),
            InstallError::Read(path, e) => write!(f, "cannot read {}: {e}", path.display()),
            InstallError::Remove(path, e) => write!(f, "cannot remove {}: {e}", path.display()),
            InstallError::Name(name) => {
                write!(f, "'{}' is no name of a linker that weld stands in for", name.display())
            }
            InstallError::NoProgram(e) => write!(f, "cannot find weld's own path: {e}"),
            InstallError::Create(path, e) => write!(f, "cannot create {}: {e}", path.display()),
            InstallError::LeadsTo { link, target } => {
                write!(f, "{} leads to {}; remove it first", link.display(), target.display())
            }
            InstallError::NoLink(path) => {
                write!(f, "{} exists and is no link; remove it first", path.display())
            }
        }
    }
}

impl std::error::Error for InstallError {}

/// Makes the links and returns what to print. Other files are not replaced.
pub fn links(args: &[OsString]) -> Result<String, InstallError> {
    // The option may stand anywhere.
    let (options, rest): (Vec<&OsString>, Vec<_>) =
        args.iter().partition(|arg| arg.to_string_lossy().starts_with('-'));
    let all = !options.is_empty();
    let Some((dir, names)) = rest.split_first().filter(|_| options.iter().all(|option| *option == "--all"))
    else {
        return Err(InstallError::Usage);
    };
    let names = match (names, all) {
        ([], false) => NAMES.map(OsStr::new).to_vec(),
        ([], true) => NAMES.iter().chain(&MORE).map(OsStr::new).collect(),
        (_, true) => return Err(InstallError::Usage),
        (names, false) => names.iter().map(|name| name.as_os_str()).collect(),
    };
    names.iter().try_for_each(|name| check(name))?;
    let program = std::env::current_exe().map_err(InstallError::NoProgram)?;
    let dir = Path::new(dir);
    std::fs::create_dir_all(dir).map_err(|e| InstallError::Create(dir.to_owned(), e))?;
    for name in &names {
        link(&program, &dir.join(name).with_added_extension(std::env::consts::EXE_EXTENSION))?;
    }
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let shown = dir.display();
    Ok(format!("Made {} in {shown}. To link with weld: gcc -B{shown} …\n", names.join(", ")))
}

/// Removes the links in a directory that lead to this program, and the directory if nothing else is in it.
/// Returns what to print.
pub fn remove(args: &[OsString]) -> Result<String, InstallError> {
    let [dir] = args else { return Err(InstallError::UninstallUsage) };
    let dir = Path::new(dir);
    if dir.as_os_str().as_encoded_bytes().first() == Some(&b'-') {
        return Err(InstallError::UninstallUsage);
    }
    let program = std::env::current_exe().map_err(InstallError::NoProgram)?;
    let fail = |e: io::Error| InstallError::Read(dir.to_owned(), e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let is_link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(&name);
        if is_link
            && check(OsStr::new(name)).is_ok()
            && path.canonicalize().is_ok_and(|target| target == program)
        {
            std::fs::remove_file(&path).map_err(|e| InstallError::Remove(path.clone(), e))?;
            names.push(name.to_owned());
        }
    }
    names.sort();
    // What else is there stays, and so does the directory.
    let _ = std::fs::remove_dir(dir);
    match names.as_slice() {
        [] => Ok(format!("No links to {} in {}.\n", program.display(), dir.display())),
        names => Ok(format!("Removed {} from {}.\n", names.join(", "), dir.display())),
    }
}

/// Under another name than a linker's the link would be of no use: nobody calls it.
fn check(name: &OsStr) -> Result<(), InstallError> {
    let known =
        |name: &str| name == "weld-link" || flavour::is_called_by_drivers(name) && !name.contains('/');
    match name.to_str() {
        Some(name) if known(name) => Ok(()),
        _ => Err(InstallError::Name(name.to_owned())),
    }
}

/// A link that leads here already stays, and one whose target is gone is replaced.
fn link(program: &Path, link: &Path) -> Result<(), InstallError> {
    let fail = |e: io::Error| InstallError::Create(link.to_owned(), e);
    if let Ok(old) = std::fs::read_link(link) {
        if link.canonicalize().is_ok_and(|target| target == program) {
            return Ok(());
        }
        if link.exists() {
            return Err(InstallError::LeadsTo { link: link.to_owned(), target: old });
        }
        std::fs::remove_file(link).map_err(fail)?;
    } else if link.symlink_metadata().is_ok() {
        return Err(InstallError::NoLink(link.to_owned()));
    }
    symlink(program, link).map_err(fail)
}
