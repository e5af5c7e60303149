//! `--copy-dt-needed-entries`: what shared objects need, and what that needs, takes part in the link.
//!
//! Such a library comes after everything that the command line names and is needed by the output only if
//! something refers to it, as under `--as-needed`. It is looked for where a loader would: in the
//! directories of `-rpath-link`, `-rpath` and of the run path of the library that needs it; and then where
//! `-l` looks, because no directories are built in.
//!
//! Source: GNU ld manual, `--copy-dt-needed-entries` and `-rpath-link`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use weld_common::diag::{Cause, Diagnostic};
use weld_common::text;

use super::load::{Input, Inputs, Loader};
use super::search::Search;
use super::shared::Shared;
use crate::ids::*;
use crate::options::{InputFlags, Options};

impl<'a> Loader<'a, '_> {
    /// Adds what is needed by the libraries that were opened under the option.
    pub(super) fn add_needed(&self, inputs: &mut Inputs<'a>) {
        let copies = |input: &Input| matches!(input, Input::Shared { copy_needed: true, .. });
        if !inputs.files.iter().any(copies) {
            return;
        }
        let mut known: HashSet<&[u8]> = HashSet::new();
        let mut next = 0;
        while next < inputs.files.len() {
            let libraries: Vec<(Shared, bool)> =
                (next..inputs.files.len()).filter_map(|i| shared(inputs, i)).collect();
            next = inputs.files.len();
            known.extend(libraries.iter().map(|(library, _)| library.soname));
            let mut opened = Vec::new();
            let machine = Some(inputs.machine.facts());
            let (store, options) = (self.store, self.options);
            let search = Search { store, options, more_dirs: &[], remaps: None, machine, sink: None };
            for (library, _) in libraries.iter().filter(|(_, copies)| *copies) {
                for name in &library.needed {
                    if !known.insert(name) {
                        continue;
                    }
                    let flags = InputFlags { as_needed: true, copy_needed: true, ..InputFlags::default() };
                    let path = Path::new(text::os_str(name));
                    match search.needed(path, &run_path(self.options, library), flags) {
                        Ok(Some(file)) => {
                            inputs.opened.push(file.path.clone());
                            opened.push(file);
                        }
                        Ok(None) => {
                            let (name, library) = (String::from_utf8_lossy(name), &library.name);
                            let text = format!("{library} needs {name}, which is not found");
                            self.sink.push(
                                Diagnostic::warning(Cause::DependencyNotFound, text)
                                    .note("-rpath-link names directories to look in"),
                            );
                        }
                        Err(diagnostic) => self.sink.push(diagnostic),
                    }
                }
            }
            self.classify(opened, inputs);
        }
    }
}

/// Where to look for what `library` needs. What the loader would read is in the sysroot.
pub fn run_path(options: &Options, library: &Shared) -> Vec<PathBuf> {
    let mut dirs = options.inputs.rpath_link.clone();
    let own = text::to_path(&library.name.path);
    let own = own.parent().unwrap_or(Path::new(""));
    let loaders = options.dynamic.rpath.iter().map(|dirs| dirs.as_bytes()).chain(library.run_path);
    for dir in loaders.flat_map(|dirs| dirs.split(|b| *b == b':')) {
        let relative = [&b"$ORIGIN"[..], b"${ORIGIN}"].iter().find_map(|origin| dir.strip_prefix(*origin));
        let path = Path::new(text::os_str(relative.unwrap_or(dir)));
        let inside = path.strip_prefix("/").unwrap_or(path);
        if relative.is_some() {
            dirs.push(own.join(inside));
        } else if path.is_absolute() {
            dirs.push(if options.inputs.sysroot.as_os_str().is_empty() {
                path.to_owned()
            } else {
                options.inputs.sysroot.join(inside)
            });
        } else if !dir.is_empty() {
            dirs.push(path.to_owned());
        }
    }
    dirs
}

/// File `i` if it is a shared object, and whether what it needs is wanted. What is wrong with it is said when
/// it is read.
fn shared<'a>(inputs: &Inputs<'a>, i: usize) -> Option<(Shared<'a>, bool)> {
    let Input::Shared { name, data, link_name, as_needed, copy_needed } = &inputs.files[i] else {
        return None;
    };
    let library =
        Shared::parse(FileId(i as u32), name.clone(), data, inputs.reading(false), link_name, *as_needed)
            .ok()?;
    Some((library, *copy_needed))
}
