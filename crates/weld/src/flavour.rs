//! Which linker the program is.
//!
//! It goes by the name it was called with, so that links named `ld` or `ld.lld` in a directory for
//! `gcc -B` do what those linkers do. `-flavor NAME` as the first argument overrides the name; rustc
//! passes it.

use std::ffi::{OsStr, OsString};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Elf,
    Coff,
    /// PE by the command line of GNU `ld`.
    Mingw,
    /// `weld install-links DIR [NAME...]`.
    InstallLinks,
    /// `weld lto-engine [build …]`.
    LtoEngine,
    /// `weld run COMMAND…`.
    Run,
    /// `weld relink --forget DIR...`.
    Relink,
    /// `weld uninstall-links DIR`.
    UninstallLinks,
    /// `weld help [TOPIC]`.
    Help,
    /// `weld explore FILE`, `weld explore OLD NEW`.
    Explore,
    /// `weld explain [CODE]`.
    Explain,
    /// `weld completions SHELL`.
    Completions,
}

/// What weld does that is not a link: the word, and a line on it. Only those who call it `weld` have these.
pub const COMMANDS: &[(&str, Flavour, &str)] = &[
    ("run", Flavour::Run, "Run a build whose links are all made by weld"),
    ("install-links", Flavour::InstallLinks, "Make links to weld by the names of linkers in a directory"),
    ("uninstall-links", Flavour::UninstallLinks, "Remove these links"),
    ("relink", Flavour::Relink, "Remove what incremental links keep"),
    (
        "lto-engine",
        Flavour::LtoEngine,
        "Say which engines for link-time optimisation there are, or build one",
    ),
    (
        "explore",
        Flavour::Explore,
        "Show what a linked file is made of, or what has grown, as a page or a table",
    ),
    ("help", Flavour::Help, "Show a page of the manual"),
    ("explain", Flavour::Explain, "Tell what a message means, by its code, and what to do about it"),
    ("completions", Flavour::Completions, "Print what lets a shell complete command lines"),
];

pub struct Choice<'a> {
    pub flavour: Flavour,
    /// The arguments that are left for it.
    pub rest: &'a [OsString],
}

/// Why it is no linker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlavourError {
    /// `-flavor` is the last word.
    NoValue,
    /// The value of `-flavor`.
    Unknown(OsString),
    /// The program is called as one that links other formats.
    OtherFormat(String),
}

impl fmt::Display for FlavourError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlavourError::NoValue => f.write_str("-flavor: missing value; it is gnu, link or mingw"),
            FlavourError::Unknown(name) => {
                write!(f, "-flavor: '{}' is not supported; it is gnu, link or mingw", name.display())
            }
            FlavourError::OtherFormat(name) => write!(
                f,
                "{name}: weld links ELF and PE/COFF; call it ld or ld.lld for the one, lld-link for the other"
            ),
        }
    }
}

impl std::error::Error for FlavourError {}

/// Chooses by the program's name and the arguments after it.
pub fn choose<'a>(program: &str, args: &'a [OsString]) -> Result<Choice<'a>, FlavourError> {
    let is_flavour = |arg: &OsString| arg == "-flavor" || arg == "--flavor";
    if args.first().is_some_and(is_flavour) {
        let name = args.get(1).map(OsString::as_os_str).unwrap_or_default();
        let rest = args.get(2..).unwrap_or_default();
        let flavour = match by_option(name)? {
            Flavour::Elf if is_for_pe("", rest) => Flavour::Mingw,
            flavour => flavour,
        };
        return Ok(Choice { flavour, rest });
    }
    let command = args.first().filter(|_| !is_called_by_drivers(program)).and_then(|arg| arg.to_str());
    let command = command.and_then(|word| COMMANDS.iter().find(|(name, ..)| *name == word));
    if let Some((_, flavour, _)) = command {
        return Ok(Choice { flavour: *flavour, rest: &args[1..] });
    }
    let flavour = match by_program(program)? {
        Flavour::Elf if is_for_pe(program, args) => Flavour::Mingw,
        flavour => flavour,
    };
    Ok(Choice { flavour, rest: args })
}

fn by_option(name: &OsStr) -> Result<Flavour, FlavourError> {
    match name.to_str() {
        Some("gnu" | "ld" | "ld.lld" | "elf") => Ok(Flavour::Elf),
        Some("link" | "lld-link" | "coff") => Ok(Flavour::Coff),
        Some("mingw") => Ok(Flavour::Mingw),
        Some("") => Err(FlavourError::NoValue),
        _ => Err(FlavourError::Unknown(name.to_owned())),
    }
}

/// Whether `ld` links for Windows: the target in front of its name says so, or `-m`.
fn is_for_pe(program: &str, args: &[OsString]) -> bool {
    program.contains("-mingw32-") || weld_coff::args::gnu::is_meant(args)
}

/// A name may have a version after: `x86_64-linux-gnu-ld.lld-22`.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-')
}

/// Whether compiler drivers and build systems call linkers by this name, with or without the target in
/// front. A command line of theirs may begin with any file name; others are people's.
pub fn is_called_by_drivers(name: &str) -> bool {
    let name = without_version(name).rsplit('-').next().unwrap_or_default();
    name.starts_with("ld.") || ["ld", "lld", "gold", "bfd", "mold", "link", "collect2"].contains(&name)
}

fn by_program(name: &str) -> Result<Flavour, FlavourError> {
    let name = without_version(name);
    if ["link", "lld-link", "weld-link"].contains(&name) || name.ends_with("-lld-link") {
        return Ok(Flavour::Coff);
    }
    if name.ends_with("wasm-ld") || name.ends_with("ld64.lld") || name.ends_with("ld64") {
        return Err(FlavourError::OtherFormat(name.to_owned()));
    }
    Ok(Flavour::Elf)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(program: &str, args: &[&str]) -> Result<(Flavour, usize), FlavourError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        choose(program, &args).map(|choice| (choice.flavour, choice.rest.len()))
    }

    #[test]
    fn by_name() {
        for name in ["weld", "ld", "ld.weld", "ld.lld", "ld.lld-22", "x86_64-linux-gnu-ld", "collect2"] {
            assert_eq!(chosen(name, &["a.o"]), Ok((Flavour::Elf, 1)), "{name}");
        }
        for name in ["link", "lld-link", "weld-link", "lld-link-22"] {
            assert_eq!(chosen(name, &[]), Ok((Flavour::Coff, 0)), "{name}");
        }
        assert!(chosen("wasm-ld-22", &[]).is_err() && chosen("ld64.lld", &[]).is_err());
    }

    #[test]
    fn commands() {
        assert_eq!(chosen("weld", &["lto-engine", "build"]), Ok((Flavour::LtoEngine, 1)));
        assert_eq!(chosen("weld", &["relink", "--forget", "dir"]), Ok((Flavour::Relink, 2)));
        assert_eq!(chosen("ld", &["lto-engine"]), Ok((Flavour::Elf, 1)), "a file's name");
        assert_eq!(chosen("weld", &["run", "make"]), Ok((Flavour::Run, 1)));
        assert_eq!(chosen("ld.lld", &["run", "make"]), Ok((Flavour::Elf, 2)), "files' names");
    }

    #[test]
    fn each_command_is_there_once() {
        for (i, (name, flavour, _)) in COMMANDS.iter().enumerate() {
            assert_eq!(chosen("weld", &[name]), Ok((*flavour, 0)));
            assert!(COMMANDS[..i].iter().all(|(_, other, _)| other != flavour), "{name}");
        }
    }

    #[test]
    fn by_target() {
        for args in [&["-m", "i386pep", "a.o"][..], &["a.o", "-mi386pe"], &["-m", "arm64pe"]] {
            assert_eq!(chosen("ld", args), Ok((Flavour::Mingw, args.len())));
        }
        assert_eq!(chosen("x86_64-w64-mingw32-ld", &["a.o"]), Ok((Flavour::Mingw, 1)));
        assert_eq!(chosen("ld", &["-flavor", "gnu", "-m", "i386pep"]), Ok((Flavour::Mingw, 2)));
        assert_eq!(chosen("lld-link", &["-m", "i386pep"]), Ok((Flavour::Coff, 2)));
        assert_eq!(chosen("ld", &["-m", "elf_x86_64"]), Ok((Flavour::Elf, 2)));
    }

    #[test]
    fn by_option_first() {
        assert_eq!(chosen("lld-link", &["-flavor", "gnu", "a.o"]), Ok((Flavour::Elf, 1)));
        assert_eq!(chosen("ld", &["-flavor", "link"]), Ok((Flavour::Coff, 0)));
        assert!(chosen("ld", &["-flavor", "darwin"]).is_err() && chosen("ld", &["-flavor"]).is_err());
        assert_eq!(chosen("ld", &["a.o", "-flavor", "link"]), Ok((Flavour::Elf, 3)));
    }

    #[test]
    fn install_links_under_names_that_no_driver_uses() {
        for name in ["weld", "weld-0.1.0", "foo", "weld-new"] {
            assert_eq!(chosen(name, &["install-links", "x"]), Ok((Flavour::InstallLinks, 1)), "{name}");
        }
        for name in ["ld", "ld.lld-22", "x86_64-linux-gnu-ld.gold", "mold", "rust-lld", "lld-link"] {
            assert_ne!(chosen(name, &["install-links"]).unwrap().0, Flavour::InstallLinks, "{name}");
        }
    }
}
