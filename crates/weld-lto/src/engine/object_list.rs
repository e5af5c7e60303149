//! The list of objects that `--thinlto-index-only=FILE` leaves for the last link, with a prefix of its own.
//!
//! `--thinlto-prefix-replace=OLD;NEW;OBJECT` names indexes by `NEW` and objects by `OBJECT`. LLVM's plugin
//! knows the first two, and lists objects by `NEW`: here that list is written anew. Directories for the
//! objects are made, as for indexes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weld_common::text::os_str;

use crate::answer::Fault;
use crate::options::{PrefixReplace, Thin};
use crate::request::Request;

/// Names the objects of the list by their prefix, if they have one.
///
/// # Errors
/// If the list cannot be read or written.
pub fn rename(request: &Request<'_>) -> Result<(), Fault> {
    let thin = &request.options.thin;
    let list = thin.index_only.as_ref().and_then(|only| only.list.as_ref());
    let replace = thin.prefix_replace.as_ref().filter(|replace| !replace.object.is_empty());
    let (Some(list), Some(replace)) = (list, replace) else { return Ok(()) };
    let failed = |error| Fault::File { path: list.clone(), error };
    let names = names(request, thin, replace);
    let directories: HashSet<&Path> =
        names.values().filter_map(|name| Path::new(os_str(name)).parent()).collect();
    for directory in directories.into_iter().filter(|directory| *directory != "") {
        std::fs::create_dir_all(directory)
            .map_err(|error| Fault::File { path: directory.to_owned(), error })?;
    }
    let mut renamed = Vec::new();
    for line in std::fs::read(list).map_err(failed)?.split_inclusive(|&byte| byte == b'\n') {
        let (name, end) = match line.split_last() {
            Some((b'\n', name)) => (name, &b"\n"[..]),
            _ => (line, &b""[..]),
        };
        renamed.extend_from_slice(names.get(name).map_or(name, Vec::as_slice));
        renamed.extend_from_slice(end);
    }
    std::fs::write(list, renamed).map_err(failed)
}

/// The names of objects by those that the plugin has written.
fn names(request: &Request<'_>, thin: &Thin, replace: &PrefixReplace) -> HashMap<Vec<u8>, Vec<u8>> {
    let modules = request.files.iter().filter(|file| file.is_thin(request.options)).map(|file| {
        let name = file.module_name(request.machine);
        match &thin.object_suffix_replace {
            Some((old, new)) => match name.strip_suffix(old.as_bytes()) {
                Some(start) => [start, new.as_bytes()].concat(),
                None => name,
            },
            None => name,
        }
    });
    let with = |name: &[u8], prefix: &str| match name.strip_prefix(replace.old.as_bytes()) {
        Some(rest) => [prefix.as_bytes(), rest].concat(),
        None => name.to_vec(),
    };
    modules.map(|name| (with(&name, &replace.new), with(&name, &replace.object))).collect()
}
