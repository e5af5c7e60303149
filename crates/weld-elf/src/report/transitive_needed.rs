//! Libraries that other libraries need and the command line does not name.
//!
//! They are no part of the link. They are looked at when a library refers to something that nothing in the
//! link defines: at run time such a library may. They are looked for as for `--copy-dt-needed-entries`. What
//! is not found, or is damaged, defines nothing.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use weld_common::text;

use crate::arch::facts::Facts;
use crate::elf::*;
use crate::ids::FileId;
use crate::input::needed::run_path;
use crate::input::search::Search;
use crate::input::shared::Shared;
use crate::input::{FileName, Reading};
use crate::job::Job;
use crate::options::InputFlags;
use crate::resolve::Resolved;

/// Those of `names` that such libraries define.
pub fn definitions<'a>(
    job: &Job<'a>,
    machine: &'static Facts,
    resolved: &Resolved<'a>,
    names: &HashSet<&'a [u8]>,
) -> HashSet<&'a [u8]> {
    let mut found = HashSet::new();
    if names.is_empty() {
        return found;
    }
    let mut seen: HashSet<&[u8]> = resolved.shared.iter().map(|dso| dso.soname).collect();
    let mut waiting: Vec<(&[u8], Vec<PathBuf>)> = Vec::new();
    for dso in &resolved.shared {
        waiting.extend(dso.needed.iter().map(|soname| (*soname, run_path(job.options, dso))));
    }
    while let Some((soname, dirs)) = waiting.pop() {
        if !seen.insert(soname) {
            continue;
        }
        let Some(library) = open(job, machine, soname, &dirs) else { continue };
        let dirs = run_path(job.options, &library);
        waiting.extend(library.needed.iter().map(|soname| (*soname, dirs.clone())));
        for (i, symbol) in library.syms.iter().enumerate().skip(library.first_global as usize) {
            if symbol.st_shndx() != SHN_UNDEF
                && let Some(name) = names.get(library.symbol_name(i as u32))
            {
                found.insert(*name);
            }
        }
    }
    found
}

fn open<'a>(
    job: &Job<'a>,
    machine: &'static Facts,
    soname: &'a [u8],
    dirs: &[PathBuf],
) -> Option<Shared<'a>> {
    let (store, options) = (job.store, job.options);
    let search = Search { store, options, more_dirs: &[], remaps: None, machine: Some(machine), sink: None };
    let path = Path::new(text::os_str(soname));
    let opened = search.needed(path, dirs, InputFlags::default()).ok()??;
    let name = FileName { path: opened.path, member: None };
    let reading = Reading { machine, store: job.store, parallel: false };
    Shared::parse(FileId(0), name, opened.bytes, reading, soname, true).ok()
}
