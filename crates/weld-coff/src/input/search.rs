//! Where an input is that the command line or an object names.
//!
//! A name with a directory in it is a path. Others are looked for in the working directory, then in those of
//! `/libpath` and `LIB`; a name without an extension may lack `.obj`, or `.lib` for a library. Where Windows
//! users wrote names in another case than the files have, a directory's list of names in small letters helps.
//! Directories of a toolchain come last, as soon as the machine is known.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::overlay::Overlay;
use crate::coff::machine::Machine;
use crate::job::Job;
use crate::options::Incremental;
use crate::toolchain::Toolchain;

/// How `-lNAME` may be called, in this order: what is in front and after, and whether a DLL is after it.
const GNU_FORMS: [(&str, &str, bool); 7] = [
    ("lib", ".dll.a", true),
    ("", ".dll.a", true),
    ("lib", ".a", false),
    ("", ".lib", false),
    ("lib", ".lib", false),
    ("lib", ".dll", true),
    ("", ".dll", true),
];

#[derive(Default)]
pub struct Search {
    pub dirs: Vec<PathBuf>,
    pub toolchain: Toolchain,
    /// The toolchain's directories for the machine of the link.
    late: OnceLock<Vec<PathBuf>>,
    /// `/vfsoverlay`
    pub overlay: Option<Overlay>,
    /// Of each directory in which an exact name was not found: names in small letters, and as they are.
    lists: Mutex<HashMap<PathBuf, HashMap<OsString, OsString>>>,
    /// What was asked for, if a later link is to know.
    lookups: Option<Mutex<Lookups>>,
}

/// What was looked for and might be found elsewhere if other files were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Paths that led nowhere.
    pub missing: Vec<PathBuf>,
    pub listed: Vec<Listed>,
}

/// A name, in small letters, that a directory was asked for, and as which it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub dir: PathBuf,
    pub lower: OsString,
    pub found: Option<OsString>,
}

impl Search {
    pub fn new(dirs: Vec<PathBuf>) -> Search {
        Search { dirs, ..Search::default() }
    }

    /// Where a link's options say.
    ///
    /// # Errors
    /// If what `/vfsoverlay` names cannot be read.
    pub fn of_link(job: &Job) -> Result<Search, Diagnostic> {
        let mut search = Search::new(job.options.lib_paths.clone());
        search.toolchain = job.options.toolchain.clone();
        search.lookups = (job.options.incremental != Incremental::Off).then(Mutex::default);
        if let Some(path) = &job.options.overlay {
            let shown = text::path(path);
            let bytes = job.store.open(path)?.ok_or_else(|| {
                Diagnostic::error(
                    Cause::CannotOpenFile,
                    format!("could not open '{shown}': No such file or directory"),
                )
            })?;
            let overlay = Overlay::parse(&text::text(bytes), path).map_err(|e| {
                Diagnostic::error(Cause::CannotReadFile, format!("Invalid vfs overlay: {shown}: {e}"))
            })?;
            search.overlay = Some(overlay);
        }
        Ok(search)
    }

    /// `/print-search-paths`
    pub fn shown(&self) -> String {
        let mut list = "Library search paths:\n  (cwd)\n".to_owned();
        self.directories().for_each(|dir| list += &format!("  {}\n", text::path(dir)));
        list
    }

    /// Tells the machine of the link. What was not found before may be there now.
    pub fn set_machine(&self, machine: Machine) {
        self.late.get_or_init(|| self.toolchain.directories(machine));
    }

    /// The directories of a toolchain, if it was asked for them.
    pub fn late(&self) -> Option<&[PathBuf]> {
        self.late.get().map(Vec::as_slice)
    }

    /// What was looked for, if a later link is to know, each once.
    pub fn lookups(&self) -> Lookups {
        let mut lookups = self.lookups.as_ref().map_or(Lookups::default(), |all| all.lock().unwrap().clone());
        lookups.missing.sort_unstable();
        lookups.missing.dedup();
        lookups.listed.sort_by(|a, b| (&a.dir, &a.lower).cmp(&(&b.dir, &b.lower)));
        lookups.listed.dedup();
        lookups
    }

    /// Notes what was asked for.
    fn note(&self, add: impl FnOnce(&mut Lookups)) {
        if let Some(lookups) = &self.lookups {
            add(&mut lookups.lock().unwrap());
        }
    }

    pub fn has_toolchain(&self) -> bool {
        self.toolchain != Toolchain::default()
    }

    /// All directories that are known so far.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.dirs.iter().chain(self.late.get().into_iter().flatten()).map(PathBuf::as_path)
    }

    /// The path of a file. `None` if there is none.
    pub fn file(&self, name: &Path) -> Option<PathBuf> {
        self.find(name, ".obj")
    }

    /// The path of a library.
    pub fn library(&self, name: &Path) -> Option<PathBuf> {
        if has_extension(name) {
            return self.find(name, "");
        }
        let mut with = name.as_os_str().to_owned();
        with.push(".lib");
        self.find(Path::new(&with), "")
    }

    /// The path of `-lNAME`: an import library, an archive or a DLL. A colon in front says that it is the
    /// file's name.
    pub fn gnu_library(&self, name: &str, is_static: bool) -> Option<PathBuf> {
        if let Some(file) = name.strip_prefix(':') {
            return self.directories().find_map(|dir| self.exact(&dir.join(file)));
        }
        let forms = GNU_FORMS.iter().filter(|(.., shared)| !(is_static && *shared));
        let names: Vec<String> = forms.map(|(before, behind, _)| format!("{before}{name}{behind}")).collect();
        let any = |look: &dyn Fn(&Path, &OsStr) -> Option<PathBuf>| {
            self.directories().find_map(|dir| names.iter().find_map(|name| look(dir, OsStr::new(name))))
        };
        // Directories are listed only for what has this name nowhere.
        any(&|dir, name| self.exact(&dir.join(name)))
            .or_else(|| any(&|dir, name| self.in_other_case(dir, name)))
    }

    fn find(&self, name: &Path, extension: &str) -> Option<PathBuf> {
        // Paths may have been written for Windows.
        let backward = name.as_os_str().as_encoded_bytes().contains(&b'\\');
        let forward = backward.then(|| PathBuf::from(name.to_string_lossy().replace('\\', "/")));
        let is_there = forward.is_none() || name.exists();
        if !is_there {
            self.note(|lookups| lookups.missing.push(name.to_owned()));
        }
        let name = if is_there { name } else { forward.as_deref().unwrap_or(name) };
        let (own, file) = (name.parent().unwrap_or(Path::new("")), name.file_name()?);
        if name.is_absolute() {
            return self.in_dir(own, file, "");
        }
        let is_plain = own.as_os_str().is_empty() && !has_extension(name);
        let extension = if is_plain { extension } else { "" };
        let dirs = std::iter::once(Path::new("")).chain(self.directories());
        dirs.into_iter().find_map(|dir| self.in_dir(&dir.join(own), file, extension))
    }

    /// `name` in `dir`, as it is, then with the extension.
    fn in_dir(&self, dir: &Path, name: &OsStr, extension: &str) -> Option<PathBuf> {
        let mut with = name.to_owned();
        with.push(extension);
        let names: &[&OsStr] = if extension.is_empty() { &[name] } else { &[name, &with] };
        let exact = names.iter().find_map(|name| self.exact(&dir.join(name)));
        exact.or_else(|| names.iter().find_map(|name| self.in_other_case(dir, name)))
    }

    /// The file of this name.
    fn exact(&self, path: &Path) -> Option<PathBuf> {
        match &self.overlay {
            Some(overlay) => overlay.file(path),
            None if is_file(path) => Some(path.to_owned()),
            None => {
                self.note(|lookups| lookups.missing.push(path.to_owned()));
                None
            }
        }
    }

    fn in_other_case(&self, dir: &Path, name: &OsStr) -> Option<PathBuf> {
        let lower = name.to_ascii_lowercase();
        let mut lists = self.lists.lock().unwrap();
        let list = lists.entry(dir.to_owned()).or_insert_with(|| names_in(dir));
        let found = list.get(&lower);
        self.note(|lookups| {
            let (dir, found) = (dir.to_owned(), found.cloned());
            lookups.listed.push(Listed { dir, lower, found });
        });
        self.exact(&dir.join(found?))
    }
}

/// The names in a directory: in small letters, and as they are.
pub fn names_in(dir: &Path) -> HashMap<OsString, OsString> {
    let shown = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let entries = std::fs::read_dir(shown).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    // Of names that differ in case only, the first one counts.
    names.sort_by(|a, b| b.cmp(a));
    names.into_iter().map(|name| (name.to_ascii_lowercase(), name)).collect()
}

/// A file, pipe or device.
pub fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_dir())
}

fn has_extension(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().contains(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_other_case_and_without_extension() {
        let dir = std::env::temp_dir().join(format!("weld-coff-search-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["Kernel32.Lib", "a.obj", "plain"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        let search = Search::new(vec![PathBuf::from("/no/such/dir"), dir.clone()]);
        assert_eq!(search.library(Path::new("kernel32")), Some(dir.join("Kernel32.Lib")));
        assert_eq!(search.library(Path::new("KERNEL32.lib")), Some(dir.join("Kernel32.Lib")));
        assert_eq!(search.file(Path::new("a")), Some(dir.join("a.obj")));
        assert_eq!(search.file(Path::new("plain")), Some(dir.join("plain")));
        assert_eq!(search.file(Path::new("b")), None);
        let windows = format!("{}\\A.OBJ", dir.display());
        assert_eq!(search.file(Path::new(&windows)), Some(dir.join("a.obj")));
        // A path is below one of the directories, too.
        let name = dir.file_name().unwrap().to_owned();
        let above = Search::new(vec![dir.parent().unwrap().to_owned()]);
        assert_eq!(above.file(&Path::new(&name).join("a.obj")), Some(dir.join("a.obj")));
        assert_eq!(above.file(&Path::new(&name).join("a")), None);
        // A library of this very name anywhere goes before one in other letters.
        std::fs::create_dir(dir.join("gnu")).unwrap();
        std::fs::write(dir.join("gnu/libplain.a"), "").unwrap();
        std::fs::write(dir.join("libPlain.a"), "").unwrap();
        let gnu = Search::new(vec![dir.clone(), dir.join("gnu")]);
        assert_eq!(gnu.gnu_library("plain", false), Some(dir.join("gnu/libplain.a")));
        assert_eq!(gnu.gnu_library("PLAIN", false), Some(dir.join("libPlain.a")));
        assert_eq!(gnu.gnu_library("KERNEL32", true), Some(dir.join("Kernel32.Lib")));
        assert_eq!(gnu.gnu_library("a", true), None);
        // A toolchain's directories come last.
        let late = Search {
            toolchain: Toolchain { dia: Some(dir.clone()), ..Toolchain::default() },
            ..Search::default()
        };
        std::fs::create_dir(dir.join("lib")).unwrap();
        std::fs::write(dir.join("lib/late.lib"), "").unwrap();
        assert_eq!(late.library(Path::new("late")), None);
        late.set_machine(Machine::X86);
        assert_eq!(late.library(Path::new("late")), Some(dir.join("lib/late.lib")));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
