//! The directory of a distributed compilation: beside the output, as distributors know what is there, with
//! names that are the same each time.
//!
//! ```text
//! OUTPUT.dtlto/                     .1, .2, … behind it if another link has it
//!   l.a(b.o at 84).o                a module that is no file of its own
//!   b.native.o                      its object
//!   b.native.o.thinlto.bc           its index
//!   OUTPUT.dist-file.json           what the distributor reads
//!   index/                          where the engine puts indexes
//!   merged, merged1, …              what it compiles itself
//! ```
//!
//! Paths of modules are part of indexes, and so of keys under which objects are kept here and elsewhere. So
//! no name has anything in it that changes from link to link, unlike ld.lld's, which have the number of the
//! process; and what lies below the directory in which weld runs is named from there, for there is no other
//! way to name it on another machine.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use weld_common::host::Host;
use weld_common::text::{os_str, text};

use super::super::session;
use crate::answer::Fault;
use crate::request::{File, Request};

pub struct Stage {
    pub directory: String,
    /// Where each of the request's files is found by compilers, as it is named in indexes.
    pub modules: Vec<String>,
    /// Directories between that of indexes and their paths, for paths that lead upwards.
    levels: usize,
    names: HashSet<String>,
    /// Names of the directory in which weld runs.
    here: Vec<PathBuf>,
}

impl Stage {
    /// Makes the directory, and files of what is none.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn new(request: &Request<'_>, host: &dyn Host, keeps: bool) -> Result<Stage, Fault> {
        let here = [std::env::current_dir().ok(), host.variable("PWD").map(PathBuf::from)];
        let here: Vec<PathBuf> = here.into_iter().flatten().filter(|here| here.is_absolute()).collect();
        let output = below(request.output_path, &here);
        let directory = make_directory(output, host, keeps)?;
        Ok(Stage { directory, modules: Vec::new(), levels: 0, names: HashSet::new(), here })
    }

    /// Writes modules that compilers would not find as they are.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_modules(&mut self, request: &Request<'_>) -> Result<(), Fault> {
        for file in &request.files {
            let path = match own_path(file, &self.here) {
                Some(path) => path,
                None => {
                    let name = file.module_name(request.machine);
                    let path = self.path(&base(&text(&name)), ".o");
                    // What is compiled here is not named to anyone.
                    if file.is_thin(request.options) {
                        write(&path, file.bytes)?;
                    }
                    path
                }
            };
            let up = Path::new(&path).components().filter(|part| *part == Component::ParentDir);
            self.levels = self.levels.max(up.count());
            self.modules.push(path);
        }
        make(Path::new(&self.index_prefix()))
    }

    /// A path in the directory that nobody has had, for `name` with `end`.
    pub fn path(&mut self, name: &str, end: &str) -> String {
        let name: String = name.chars().take(MAX_NAME).collect();
        let unique = (0..).map(|number| match number {
            0 => format!("{name}{end}"),
            _ => format!("{name}.{number}{end}"),
        });
        let unused = unique.into_iter().find(|name| !self.names.contains(name)).unwrap_or_default();
        let path = format!("{}/{unused}", self.directory);
        self.names.insert(unused);
        path
    }

    /// What the engine puts in front of a module's path to name its index.
    pub fn index_prefix(&self) -> String {
        format!("{}/index/{}", self.directory, "up/".repeat(self.levels))
    }

    /// Where objects of modules go that are merged.
    pub fn merged(&self) -> String {
        format!("{}/merged", self.directory)
    }
}

/// Letters of a name in the directory, before what is added. No file system has less than 255 bytes.
const MAX_NAME: usize = 48;

/// A path as it is from one of these directories, if it leads there.
fn below<'p>(path: &'p Path, here: &[PathBuf]) -> &'p Path {
    let found = here.iter().filter_map(|here| path.strip_prefix(here).ok());
    // A variable of the environment may say anything.
    let is_there = |below: &&Path| directory_of(below).is_some_and(|it| directory_of(path) == Some(it));
    found.into_iter().find(|below| !below.as_os_str().is_empty() && is_there(below)).unwrap_or(path)
}

/// Directories that are tried.
const TRIES: u32 = 1000;

fn make_directory(output: &Path, host: &dyn Host, keeps: bool) -> Result<String, Fault> {
    let is_file = fs::metadata(output).map_or(true, |meta| meta.is_file());
    let beside = output.to_str().filter(|output| is_file && !output.is_empty() && *output != "-");
    let Some(beside) = beside else {
        let directory = session::directory(host);
        make(&directory)?;
        return Ok(text(directory.as_os_str().as_encoded_bytes()).into_owned());
    };
    // Compilers would take it for an option.
    let here = if beside.starts_with(['-', '@']) { "./" } else { "" };
    let mut number = 0;
    loop {
        let directory = match number {
            0 => format!("{here}{beside}.dtlto"),
            _ => format!("{here}{beside}.dtlto.{number}"),
        };
        match fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && keeps && Path::new(&directory).is_dir() => {
                return Ok(directory);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < TRIES => number += 1,
            Err(error) => return Err(Fault::File { path: PathBuf::from(directory), error }),
        }
    }
}

fn make(directory: &Path) -> Result<(), Fault> {
    fs::create_dir_all(directory).map_err(|error| Fault::File { path: directory.to_owned(), error })
}

fn write(path: &str, bytes: &[u8]) -> Result<(), Fault> {
    fs::write(path, bytes).map_err(|error| Fault::File { path: path.into(), error })
}

/// The path of a module that clang reads as it is: a file that has nothing else in it, with a name that is
/// UTF-8, looks like an object's, and cannot be taken for an option.
fn own_path(file: &File<'_>, here: &[PathBuf]) -> Option<String> {
    let path = plain(below(Path::new(os_str(file.path)), here)).into_os_string().into_string().ok()?;
    let end = Path::new(&path).extension().and_then(|end| end.to_str());
    let is_whole = || {
        let meta = fs::metadata(&path);
        meta.is_ok_and(|meta| meta.is_file() && meta.len() == file.bytes.len() as u64)
    };
    let is_plain = file.member.is_none()
        && file.offset == 0
        && matches!(end, Some("o" | "obj" | "bc" | "lo"))
        && !path.starts_with(['-', '@'])
        && !path.starts_with("/proc/");
    (is_plain && is_whole()).then_some(path)
}

/// A path without `.`, and without `..` behind other names, if that leads to the same directory: elsewhere a
/// directory may not be there that is only gone through.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    match directory_of(&plain) == directory_of(path) {
        true => plain,
        false => path.to_owned(),
    }
}

/// The directory that a file is in, without symbolic links.
fn directory_of(path: &Path) -> Option<PathBuf> {
    let above = path.parent().filter(|above| *above != "").unwrap_or(".".as_ref());
    fs::canonicalize(above).ok()
}

fn base(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The part of a module's path that names its object.
pub fn stem(path: &str) -> String {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or_default().to_owned()
}
