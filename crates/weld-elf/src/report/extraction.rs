//! Why archive members and lazy objects take part: `--why-extract` and `--warn-backrefs`.
//!
//! Resolution notes which wanted names made it read a file. Who wanted them is found here, afterwards:
//! of all files that were read before and refer to one of the names, the first.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::glob::Glob;

use crate::elf::*;
use crate::ids::*;
use crate::input::FileName;
use crate::input::load::{Input, Inputs};
use crate::input::object::{Object, SymbolPlace};
use crate::job::Job;
use crate::resolve::{Extraction, Resolved};
use crate::setup;
use crate::symbol_names::flag;
use crate::wording::shown;

pub fn report(job: &Job, inputs: &Inputs, resolved: &Resolved) -> Result<(), Diagnostics> {
    let history = History::new(inputs, resolved);
    if let Some(path) = &job.options.reports.why_extract {
        job.report(path, &history.table(job))?;
    }
    if job.options.reports.warn_backrefs {
        history.warn_backrefs(job);
    }
    Ok(())
}

/// Of each file that was read because somebody wanted it: the first that did, if it was a file, and the name.
pub fn reasons<'a>(
    job: &Job,
    inputs: &Inputs<'a>,
    resolved: &Resolved<'a>,
) -> Vec<(FileId, Option<FileId>, String)> {
    let history = History::new(inputs, resolved);
    let mut first: BTreeMap<FileId, &Extraction> = BTreeMap::new();
    for extraction in &resolved.extractions {
        first.entry(extraction.file).or_insert(extraction);
    }
    let reason = |(file, extraction): (FileId, &Extraction)| {
        let name = shown(job.options, resolved.names.get(extraction.name).name).into_owned();
        (file, history.referrers(extraction).next(), name)
    };
    first.into_iter().map(reason).collect()
}

/// The lines of GNU ld's map about members of archives.
pub fn members(job: &Job, inputs: &Inputs, resolved: &Resolved) -> String {
    match resolved.extractions.is_empty() {
        true => String::new(),
        false => History::new(inputs, resolved).members(job),
    }
}

/// Columns for a member in that map.
const MEMBER: usize = 30;

struct History<'c, 'a> {
    inputs: &'c Inputs<'a>,
    resolved: &'c Resolved<'a>,
    /// Files that refer to each name of interest, in order, each with the round it was read in.
    referrers: HashMap<SymbolId, Vec<(FileId, u32)>>,
}

impl<'c, 'a> History<'c, 'a> {
    fn new(inputs: &'c Inputs<'a>, resolved: &'c Resolved<'a>) -> Self {
        let read: HashMap<FileId, u32> = resolved.extractions.iter().map(|e| (e.file, e.round + 1)).collect();
        let mut referrers: HashMap<SymbolId, Vec<(FileId, u32)>> =
            resolved.extractions.iter().map(|e| (e.name, Vec::new())).collect();
        let mut note = |id: SymbolId, file: FileId| {
            if let Some(list) = referrers.get_mut(&id) {
                list.push((file, read.get(&file).copied().unwrap_or(0)));
            }
        };
        for object in &resolved.objects {
            for i in object.first_global..object.syms.len() as u32 {
                let symbol = &object.syms[i as usize];
                let undefined = object.place(i, symbol) == SymbolPlace::Undefined;
                if undefined && symbol.binding() != STB_WEAK {
                    note(object.global(i), object.file);
                }
            }
        }
        for dso in &resolved.shared {
            for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
                if symbol.st_shndx() == SHN_UNDEF && symbol.binding() != STB_WEAK {
                    note(dso.global(i as u32), dso.file);
                }
            }
        }
        referrers.values_mut().for_each(|list| list.sort_unstable());
        History { inputs, resolved, referrers }
    }

    /// Files that had been read when `extraction` was decided and refer to its name, in order.
    fn referrers(&self, extraction: &Extraction) -> impl Iterator<Item = FileId> {
        let list = self.referrers.get(&extraction.name).map_or(&[][..], |l| l);
        list.iter().filter(|(_, round)| *round <= extraction.round).map(|(file, _)| *file)
    }

    /// `--why-extract`: tab-separated, a line for each file.
    fn table(&self, job: &Job) -> String {
        let mut text = String::from("reference\textracted\tsymbol\n");
        let mut by_file: BTreeMap<(u32, FileId), Vec<&Extraction>> = BTreeMap::new();
        for extraction in &self.resolved.extractions {
            by_file.entry((extraction.round, extraction.file)).or_default().push(extraction);
        }
        for ((_, file), list) in by_file {
            // The option comes before any file.
            let reason = |e: &&Extraction| {
                let name = self.resolved.names.get(e.name).name;
                (self.option(job, name).is_none(), self.referrers(e).next(), name)
            };
            let Some(first) = list.iter().copied().min_by_key(reason) else { continue };
            let name = self.resolved.names.get(first.name).name;
            let reference = match (self.option(job, name), self.referrers(first).next()) {
                (Some(option), _) => option.to_owned(),
                (None, Some(file)) => self.inputs.name(file).to_string(),
                // Code generation may call what nothing else refers to.
                (None, None) if self.is_code(file) => "<libcall>".to_owned(),
                (None, None) => "<internal>".to_owned(),
            };
            _ = writeln!(text, "{reference}\t{}\t{}", self.inputs.name(file), shown(job.options, name));
        }
        text
    }

    /// Whether a file is intermediate code.
    fn is_code(&self, file: FileId) -> bool {
        self.resolved.objects.iter().any(|object| object.file == file && object.code.is_some())
    }

    /// For GNU ld's map: each member with the first file that refers to it, and the name by which.
    fn members(&self, job: &Job) -> String {
        let mut text = String::new();
        let mut first: BTreeMap<(u32, FileId), &Extraction> = BTreeMap::new();
        for extraction in &self.resolved.extractions {
            let known = first.entry((extraction.round, extraction.file)).or_insert(extraction);
            let name = |extraction: &Extraction| self.resolved.names.get(extraction.name).name;
            if name(extraction) < name(known) {
                *known = extraction;
            }
        }
        for ((_, file), extraction) in first {
            let name = shown(job.options, self.resolved.names.get(extraction.name).name);
            let by = self
                .referrers(extraction)
                .next()
                .map_or(String::new(), |by| self.inputs.name(by).to_string());
            let member = self.inputs.name(file).to_string();
            match member.len() < MEMBER {
                true => _ = writeln!(text, "{member:<MEMBER$}{by} ({name})"),
                false => _ = writeln!(text, "{member}\n{:MEMBER$}{by} ({name})", ""),
            }
        }
        text
    }

    /// The option that asks for a name.
    fn option(&self, job: &Job, name: &[u8]) -> Option<&'static str> {
        let options = job.options;
        let has = |list: &[String]| list.iter().any(|n| n.as_bytes() == name);
        let entry = setup::entry_symbol(options, self.inputs);
        if has(&options.symbols.undefined) {
            Some("--undefined")
        } else if has(&options.symbols.require_defined) {
            Some("--require-defined")
        } else if entry.is_some_and(|e| e.as_bytes() == name) {
            Some("--entry")
        } else if options
            .symbols
            .undefined_glob
            .iter()
            .any(|g| Glob::new(g.as_bytes()).is_ok_and(|g| g.matches(name)))
        {
            Some("--undefined-glob")
        } else {
            None
        }
    }

    /// `--warn-backrefs`: a linker that reads each archive once, when it comes to it, would not have
    /// taken the member, and would not find the symbol later, either.
    fn warn_backrefs(&self, job: &Job) {
        let mut globs = Vec::new();
        for pattern in &job.options.reports.warn_backrefs_exclude {
            match Glob::new(pattern.as_bytes()) {
                Ok(glob) => globs.push(glob),
                Err(e) => {
                    job.sink.error(Cause::BadOption, format!("--warn-backrefs-exclude: {pattern}: {e}"))
                }
            }
        }
        let mut backward = Vec::new();
        for extraction in &self.resolved.extractions {
            // What an option asks for has no place.
            if self.resolved.names.get(extraction.name).flags & flag::ROOT != 0 {
                continue;
            }
            let place = self.inputs.place(extraction.file);
            let mut files = self.referrers(extraction).peekable();
            let Some(&first) = files.peek() else { continue };
            if files.all(|f| self.inputs.place(f) > place) && !self.is_excluded(&globs, extraction.file) {
                backward.push((first, extraction));
            }
        }
        if backward.is_empty() {
            return;
        }
        let names = backward.iter().map(|b| self.resolved.names.get(b.1.name).name).collect();
        let providers = self.providers(&names);
        for (referrer, extraction) in backward {
            let name = self.resolved.names.get(extraction.name).name;
            let again = |file: &FileId| self.inputs.last_place(*file) >= self.inputs.place(referrer);
            if providers.get(name).is_some_and(|files| files.iter().any(again)) {
                continue;
            }
            let text = format!(
                "backward reference: {} refers to {} in {}, which comes before it",
                self.inputs.name(referrer),
                shown(job.options, name),
                self.inputs.name(extraction.file)
            );
            job.sink.push(Diagnostic::warning(Cause::BackwardReference, text).of(extraction.file, 0));
        }
    }

    /// Whether `globs`, those of `--warn-backrefs-exclude`, match the file or its archive.
    fn is_excluded(&self, globs: &[Glob], file: FileId) -> bool {
        let name: FileName = self.inputs.name(file);
        let shown = name.to_string();
        globs.iter().any(|g| g.matches(shown.as_bytes()) || g.matches(name.path.as_bytes()))
    }

    /// Archive members and lazy objects that would define each name.
    fn providers(&self, names: &HashSet<&'a [u8]>) -> HashMap<&'a [u8], Vec<FileId>> {
        let mut found: HashMap<&[u8], Vec<FileId>> = HashMap::new();
        for (name, file) in self.inputs.provided() {
            if let Some(name) = names.get(name) {
                found.entry(name).or_default().push(file);
            }
        }
        for (i, input) in self.inputs.files.iter().enumerate() {
            let Input::Object { name, data, lazy: true, .. } = input else { continue };
            let reading = self.inputs.reading(false);
            let Ok(object) = Object::parse(FileId(i as u32), name.clone(), data, reading) else { continue };
            for k in object.first_global..object.syms.len() as u32 {
                let defined = object.place(k, &object.syms[k as usize]) != SymbolPlace::Undefined;
                if let (true, Some(name)) = (defined, names.get(object.symbol_name(k))) {
                    found.entry(name).or_default().push(object.file);
                }
            }
        }
        found
    }
}
