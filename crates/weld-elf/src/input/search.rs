//! Where an input named on the command line or by a script is, and opening it.
//!
//! A path is taken as it is. One that a script names is looked for beside the script first, then as it is and
//! in the library directories; if it is absolute and the script lies in the sysroot, then there and nowhere
//! else. What a script includes is looked for as it is before it is looked for beside the script. `-lNAME` is
//! looked for in the library directories: those of `-L` first, then those that scripts name with
//! `SEARCH_DIR`. Then another file may be read in its place ([`Remaps`]). A search passes over what is for
//! another machine, and says so.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::input::InputStore;
use weld_common::text;

use super::identify::{Kind, identify};
use super::other_machine;
use super::remap::Remaps;
use crate::arch;
use crate::arch::facts::Facts;
use crate::args::usual_dirs;
use crate::options::in_sysroot;
use crate::options::{InputArg, InputFlags, InputKind, Options, Remap};

/// An input with its bytes.
pub struct Opened<'a> {
    pub path: Arc<str>,
    pub bytes: &'a [u8],
    pub kind: Kind,
    pub flags: InputFlags,
    /// Found by `-l`.
    pub searched: bool,
}

pub struct Search<'a, 'l> {
    pub store: &'a InputStore<'a>,
    pub options: &'l Options,
    /// `SEARCH_DIR` of the scripts read so far.
    pub more_dirs: &'l [PathBuf],
    /// What else may be read.
    pub remaps: Option<&'l Remaps>,
    /// Whom a search is for, if that is known.
    pub machine: Option<&'static Facts>,
    /// Is told what is passed over.
    pub sink: Option<&'l DiagSink>,
}

/// What a search found on its way that is for another machine: each with what that is.
#[derive(Default)]
struct PassedOver(Vec<(Arc<str>, String)>);

impl<'a> Search<'a, '_> {
    /// Opens what `arg` names; `from` is the script that says so.
    pub fn open(&self, arg: &InputArg, from: Option<&Opened<'a>>) -> Result<Opened<'a>, Diagnostic> {
        match &arg.kind {
            InputKind::File(path) | InputKind::Script(path) | InputKind::MriScript(path) => {
                let script = matches!(arg.kind, InputKind::Script(_) | InputKind::MriScript(_));
                let candidates = self.candidates(path, script, from);
                let mut passed = PassedOver::default();
                let mut first = None;
                for candidate in &candidates {
                    let Some(found) = self.take(candidate, arg.flags)? else { continue };
                    if script || candidates.len() == 1 || self.suits(&found, &mut passed) {
                        self.say(&passed, &text::path(path));
                        return Ok(found);
                    }
                    first.get_or_insert(found);
                }
                // A path in the sysroot is another one than the script says.
                let path = if let [only] = &candidates[..] { only } else { path };
                // What is not for this machine is an error of its own.
                first.ok_or_else(|| cannot_open(path))
            }
            InputKind::Library(name) => {
                let mut passed = PassedOver::default();
                let found = self.library(name, arg.flags, &mut passed)?;
                found.ok_or_else(|| passed.notes().fold(self.not_found(name), Diagnostic::note))
            }
        }
    }

    /// Opens a library that an object asks for: as `-l` would, or a file of that name.
    pub fn dependent(&self, name: &str, flags: InputFlags) -> Result<Option<Opened<'a>>, Diagnostic> {
        if let Some(found) = self.library(name, flags, &mut PassedOver::default())? {
            return Ok(Some(found));
        }
        for path in self.dirs().map(|dir| dir.join(name)).chain([PathBuf::from(name)]) {
            let found = self.take(&path, flags)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Opens a library that a shared object needs; `dirs` are looked at before the library directories.
    pub fn needed(
        &self,
        name: &Path,
        dirs: &[PathBuf],
        flags: InputFlags,
    ) -> Result<Option<Opened<'a>>, Diagnostic> {
        let is_path = name.components().count() > 1;
        let dirs = dirs.iter().chain(self.dirs()).filter(|_| !is_path).map(|dir| dir.join(name));
        for path in is_path.then(|| name.to_owned()).into_iter().chain(dirs) {
            if let Some(bytes) = self.try_open(&path)?
                && identify(bytes) == Kind::Shared
            {
                let found = self.opened(&path, bytes, flags);
                if is_path || self.suits(&found, &mut PassedOver::default()) {
                    return Ok(Some(Opened { searched: true, ..found }));
                }
            }
        }
        Ok(None)
    }

    fn opened(&self, path: &Path, bytes: &'a [u8], flags: InputFlags) -> Opened<'a> {
        Opened { path: text::path(path).into(), bytes, kind: identify(bytes), flags, searched: false }
    }

    /// Opens `path`, or what is to be read in its place.
    fn take(&self, path: &Path, flags: InputFlags) -> Result<Option<Opened<'a>>, Diagnostic> {
        match self.remaps.and_then(|remaps| remaps.of(path)) {
            Some(other) => self.replacement(path, other, flags).map(Some),
            None => Ok(self.try_open(path)?.map(|bytes| self.opened(path, bytes, flags))),
        }
    }

    /// Opens `other`, which is to be read in place of `path`.
    fn replacement(&self, path: &Path, other: &Path, flags: InputFlags) -> Result<Opened<'a>, Diagnostic> {
        if Remap::is_nothing(other) {
            return Ok(self.opened(Path::new("/dev/null"), &[], flags));
        }
        let found = self.try_open(other)?.map(|bytes| self.opened(other, bytes, flags));
        let note = || format!("it is read in place of {}", text::path(path));
        found.ok_or_else(|| cannot_open(other).note(note()))
    }

    fn try_open(&self, path: &Path) -> Result<Option<&'a [u8]>, Diagnostic> {
        self.store.open(path).map_err(Diagnostic::from)
    }

    fn dirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.options.inputs.search_paths.iter().chain(self.more_dirs)
    }

    fn candidates(&self, path: &Path, script: bool, from: Option<&Opened<'a>>) -> Vec<PathBuf> {
        let Some(from) = from else {
            // A file of that name is meant before one in the sysroot.
            let inside =
                in_sysroot(&self.options.inputs.sysroot, path).filter(|_| !self.store.is_there(path));
            let path = inside.as_deref().unwrap_or(path);
            let mut list = vec![path.to_owned()];
            if script && path.is_relative() {
                list.extend(self.dirs().map(|dir| dir.join(path)));
            }
            return list;
        };
        let sysroot = &self.options.inputs.sysroot;
        let inside = in_sysroot(sysroot, path);
        let path = inside.as_deref().unwrap_or(path);
        if path.is_absolute() && inside.is_none() && self.is_in_sysroot(&from.path) {
            return vec![sysroot.join(path.strip_prefix("/").unwrap_or(path))];
        }
        // Without a sysroot, `=` says nothing.
        if path.is_absolute() || inside.is_some() && !sysroot.as_os_str().is_empty() {
            return vec![path.to_owned()];
        }
        let beside = text::to_path(&from.path).parent().map(|dir| dir.join(path));
        let mut list = vec![path.to_owned()];
        list.splice(usize::from(script)..usize::from(script), beside);
        list.extend(self.dirs().map(|dir| dir.join(path)));
        list
    }

    /// Whether a file lies in the sysroot, however both are named. What counts are directories, so a link
    /// in the sysroot that leads out of it is in it.
    fn is_in_sysroot(&self, path: &str) -> bool {
        let sysroot = &self.options.inputs.sysroot;
        if sysroot.as_os_str().is_empty() {
            return false;
        }
        let Ok(sysroot) = self.store.rooted(sysroot).canonicalize() else { return false };
        let path = text::to_path(path);
        let path = self.store.rooted(&path);
        let mut file = PathBuf::new();
        for part in std::path::absolute(&path).unwrap_or(path.into_owned()).components() {
            match part {
                Component::ParentDir => _ = file.pop(),
                part => file.push(part),
            }
        }
        file.ancestors().any(|dir| dir.canonicalize().is_ok_and(|dir| dir == sysroot))
    }

    /// Whether a search ends with this file.
    fn suits(&self, found: &Opened, passed: &mut PassedOver) -> bool {
        let plain = !found.flags.binary && !found.flags.just_symbols;
        let other = self.machine.filter(|_| plain).and_then(|machine| other_machine::of(found, machine));
        match other {
            Some(other) => passed.0.push((found.path.clone(), other)),
            None => return true,
        }
        false
    }

    /// Says what was passed over in a search that has found something.
    fn say(&self, passed: &PassedOver, what: &str) {
        let Some(sink) = self.sink.filter(|_| self.options.reports.search_mismatch) else { return };
        for note in passed.notes() {
            sink.push(Diagnostic::said(format!("{note}: the search for {what} goes on")));
        }
    }

    fn library(
        &self,
        name: &str,
        flags: InputFlags,
        passed: &mut PassedOver,
    ) -> Result<Option<Opened<'a>>, Diagnostic> {
        let names: Vec<String> = match name.strip_prefix(':') {
            Some(file) => vec![file.to_owned()],
            None if flags.static_only || self.options.static_link => vec![format!("lib{name}.a")],
            None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
        };
        let mut found = None;
        for dir in self.dirs() {
            found = self.library_in(dir, &names, flags, passed)?;
            if found.is_some() {
                break;
            }
        }
        if found.is_none() {
            for dir in self.usual_dirs() {
                found = self.library_in(&dir, &names, flags, passed)?;
                if found.is_some() {
                    break;
                }
            }
        }
        if found.is_some() {
            self.say(passed, &format!("-l{name}"));
        }
        Ok(found)
    }

    /// A library of one of these names in a directory.
    fn library_in(
        &self,
        dir: &Path,
        names: &[String],
        flags: InputFlags,
        passed: &mut PassedOver,
    ) -> Result<Option<Opened<'a>>, Diagnostic> {
        for file in names {
            let path = dir.join(file);
            if let Some(bytes) = self.try_open(&path)? {
                let found = match self.remaps.and_then(|remaps| remaps.of(&path)) {
                    Some(other) => self.replacement(&path, other, flags)?,
                    None => self.opened(&path, bytes, flags),
                };
                if self.suits(&found, passed) {
                    return Ok(Some(Opened { searched: true, ..found }));
                }
            }
        }
        Ok(None)
    }

    /// What is looked through when no library directory has a library.
    fn usual_dirs(&self) -> Vec<PathBuf> {
        let machine = self.machine.or(self.options.inputs.machine.map(|machine| machine.facts()));
        usual_dirs::of(self.options, machine.unwrap_or(arch::default().facts()))
    }

    fn not_found(&self, name: &str) -> Diagnostic {
        let diagnostic =
            Diagnostic::error(Cause::LibraryNotFound, format!("unable to find library -l{name}"))
                .of_library(name);
        let usual = self.usual_dirs();
        if self.dirs().next().is_none() && usual.is_empty() {
            return diagnostic.note("there are no library directories; name them with -L");
        }
        let diagnostic = self.dirs().fold(diagnostic, |diagnostic, dir| {
            let missing = if dir.is_dir() { "" } else { " (no such directory)" };
            diagnostic.note(format!("searched {}{missing}", text::path(dir)))
        });
        // Nobody named those that are not there.
        let usual: Vec<_> = usual.iter().filter(|dir| dir.is_dir()).map(|dir| text::path(dir)).collect();
        match usual.is_empty() {
            true => diagnostic,
            false => diagnostic.note(format!("searched the usual directories: {}", usual.join(", "))),
        }
    }
}

impl PassedOver {
    fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(path, other)| format!("{path} is for {other}"))
    }
}

/// That a file which is named is not there.
pub fn cannot_open(path: &Path) -> Diagnostic {
    Diagnostic::error(
        Cause::CannotOpenFile,
        format!("cannot open {}: No such file or directory", text::path(path)),
    )
    .in_file(text::path(path))
}
