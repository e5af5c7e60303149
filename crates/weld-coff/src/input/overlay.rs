//! `/vfsoverlay`: a description of files that are elsewhere than their names say. It is how copies of the
//! Windows SDK are used where the case of names counts.
//!
//! Format: LLVM, `VirtualFileSystem.h`, "redirecting file system". Of what a tree says only files and
//! replaced directories matter here.

use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::yaml::{self, Node, YamlError};

/// The files of an overlay.
#[derive(Debug, Default)]
pub struct Overlay {
    files: HashMap<String, PathBuf>,
    /// Whole directories that are elsewhere.
    directories: Vec<(String, PathBuf)>,
    ignores_case: bool,
    /// Files that it does not have are there as well.
    falls_through: bool,
    /// Where files are looked for that have no absolute path: the directory of the description.
    base: Option<PathBuf>,
}

/// Why a text describes no file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayError {
    Yaml(YamlError),
    NoMapping,
    /// The key has no meaning, or its value has none.
    Unknown(String),
    Redirecting(String),
    Bool(String),
    NoRoots,
    /// A root or entry is something else.
    NoEntry,
    NoName,
    NoType,
    /// An entry of this type has not what it has to have.
    Entry(String),
}

impl fmt::Display for OverlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverlayError::Yaml(e) => e.fmt(f),
            OverlayError::NoMapping => f.write_str("expected a mapping"),
            OverlayError::Unknown(key) => write!(f, "unknown key or value of '{key}'"),
            OverlayError::Redirecting(value) => write!(f, "redirecting-with: '{value}' is not supported"),
            OverlayError::Bool(text) => write!(f, "expected true or false, but got '{text}'"),
            OverlayError::NoRoots => f.write_str("no roots"),
            OverlayError::NoEntry => f.write_str("a root or entry is no mapping"),
            OverlayError::NoName => f.write_str("an entry has no name"),
            OverlayError::NoType => f.write_str("an entry has no type"),
            OverlayError::Entry(kind) => {
                write!(f, "an entry of type '{kind}' lacks something, or has too much")
            }
        }
    }
}

impl std::error::Error for OverlayError {}

impl Overlay {
    /// Reads the description at `path`.
    ///
    /// # Errors
    /// If it is none: why.
    pub fn parse(text: &str, path: &Path) -> Result<Overlay, OverlayError> {
        let Node::Map(pairs) = yaml::parse(text).map_err(OverlayError::Yaml)? else {
            return Err(OverlayError::NoMapping);
        };
        let mut overlay = Overlay { falls_through: true, ignores_case: cfg!(windows), ..Overlay::default() };
        let mut roots = None;
        for (key, value) in pairs {
            match (&key[..], value) {
                ("version", Node::Text(version)) if version == "0" => {}
                ("case-sensitive", Node::Text(value)) => overlay.ignores_case = !is_true(&value)?,
                ("overlay-relative", Node::Text(value)) => {
                    let dir = path.parent().unwrap_or(Path::new(""));
                    overlay.base = is_true(&value)?.then(|| dir.to_owned());
                }
                ("fallthrough", Node::Text(value)) => overlay.falls_through = is_true(&value)?,
                ("redirecting-with", Node::Text(value)) => match &value[..] {
                    "fallthrough" => overlay.falls_through = true,
                    "redirect-only" => overlay.falls_through = false,
                    _ => return Err(OverlayError::Redirecting(value)),
                },
                // What a file is called in messages.
                ("use-external-names", Node::Text(value)) => _ = is_true(&value)?,
                ("root-relative", Node::Text(value)) if value == "cwd" => {}
                ("roots", Node::List(list)) => roots = Some(list),
                _ => return Err(OverlayError::Unknown(key)),
            }
        }
        for root in roots.ok_or(OverlayError::NoRoots)? {
            overlay.add(Path::new(""), root)?;
        }
        Ok(overlay)
    }

    fn add(&mut self, parent: &Path, node: Node) -> Result<(), OverlayError> {
        let Node::Map(pairs) = node else { return Err(OverlayError::NoEntry) };
        let (mut name, mut kind, mut target, mut contents) = (None, None, None, Vec::new());
        for (key, value) in pairs {
            match (&key[..], value) {
                ("name", Node::Text(text)) => name = Some(text),
                ("type", Node::Text(text)) => kind = Some(text),
                ("external-contents", Node::Text(text)) => target = Some(text),
                ("contents", Node::List(list)) => contents = list,
                ("use-external-name", Node::Text(_)) => {}
                _ => return Err(OverlayError::Unknown(key)),
            }
        }
        let path = parent.join(name.ok_or(OverlayError::NoName)?);
        let kind = kind.ok_or(OverlayError::NoType)?;
        let target = target.map(|target| match &self.base {
            Some(base) => base.join(target),
            None => PathBuf::from(target),
        });
        match (&kind[..], target) {
            ("directory", None) => contents.into_iter().try_for_each(|entry| self.add(&path, entry)),
            ("file", Some(target)) => {
                self.files.insert(self.key(&path), target);
                Ok(())
            }
            ("directory-remap", Some(target)) => {
                self.directories.push((self.key(&path), target));
                Ok(())
            }
            _ => Err(OverlayError::Entry(kind)),
        }
    }

    /// The name of a path: absolute, without `.` and `..`, with `/` between its parts.
    fn key(&self, path: &Path) -> String {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut key = String::new();
        for component in path.components() {
            match component {
                Component::ParentDir => key.truncate(key.rfind('/').unwrap_or(0)),
                Component::Normal(name) => {
                    key.push('/');
                    key.push_str(&name.to_string_lossy());
                }
                Component::Prefix(prefix) => key.push_str(&prefix.as_os_str().to_string_lossy()),
                Component::RootDir | Component::CurDir => {}
            }
        }
        if self.ignores_case { key.to_lowercase() } else { key }
    }

    /// Where the file of this name really is. `None` if it is nowhere.
    pub fn file(&self, path: &Path) -> Option<PathBuf> {
        let key = self.key(path);
        let replaced = || {
            let (dir, target) = self
                .directories
                .iter()
                .find(|(dir, _)| key.strip_prefix(&dir[..]).is_some_and(|rest| rest.starts_with('/')))?;
            // Its last parts are written as they were asked for.
            let behind = key[dir.len()..].matches('/').count();
            let parts: Vec<_> = path.components().collect();
            Some(target.join(parts.get(parts.len().checked_sub(behind)?..)?.iter().collect::<PathBuf>()))
        };
        let found = self.files.get(&key).cloned().or_else(replaced).filter(|path| path.is_file());
        found.or_else(|| (self.falls_through && path.is_file()).then(|| path.to_owned()))
    }
}

fn is_true(text: &str) -> Result<bool, OverlayError> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(OverlayError::Bool(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_elsewhere() {
        let dir = std::env::temp_dir().join(format!("weld-coff-overlay-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("real")).unwrap();
        std::fs::write(dir.join("real/Kernel32.Lib"), "").unwrap();
        let overlay = |more: &str| {
            let text = format!(
                "version: 0\n{more}roots:\n- name: /SDK/Lib\n  type: directory\n  contents:\n  - name: kernel32.lib\n    type: \
                 file\n    external-contents: real/Kernel32.Lib\n- {{name: /other, type: directory-remap, external-contents: \
                 real}}\noverlay-relative: true\n"
            );
            Overlay::parse(&text, &dir.join("overlay.yaml")).unwrap()
        };
        let own = dir.join("real/Kernel32.Lib");
        let real = Some(own.clone());
        let (exact, any) = (overlay(""), overlay("case-sensitive: false\n"));
        assert_eq!(exact.file(Path::new("/SDK/Lib/../Lib/kernel32.lib")), real);
        assert_eq!(exact.file(Path::new("/sdk/lib/kernel32.lib")), None);
        assert_eq!(any.file(Path::new("/sdk/lib/KERNEL32.lib")), real);
        assert_eq!(any.file(Path::new("/Other/Kernel32.Lib")), real);
        assert_eq!(exact.file(&own), Some(own.clone()));
        assert_eq!(overlay("redirecting-with: redirect-only\n").file(&own), None);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn what_is_wrong() {
        for text in [
            "invalid yaml",
            "version: 0",
            "version: 1\nroots: []",
            "roots: [{name: /a, type: file}]",
            "roots: [{type: directory}]",
            "roots: [{name: /a, type: directory, external-contents: b}]",
            "roots: []\nother: 1",
            "roots: [a]",
        ] {
            assert!(Overlay::parse(text, Path::new("o")).is_err(), "{text}");
        }
    }
}
