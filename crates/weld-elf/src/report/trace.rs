//! `--trace` and `--trace-symbol`: which files take part, and what each has to do with a symbol.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::elf::*;
use crate::ids::*;
use crate::input::load::{Input, Inputs};
use crate::input::object::{Object, SymbolPlace};
use crate::input::shared::Shared;
use crate::job::Job;
use crate::resolve::Resolved;
use crate::symbol_names::symver::plain;
use crate::wording::shown;

/// The files that take part in the link, a line each: objects, shared objects and extracted members.
pub fn files(inputs: &Inputs, resolved: &Resolved) -> String {
    let mut text = String::new();
    for (i, index) in resolved.index_of_file.iter().enumerate() {
        if *index != u32::MAX {
            _ = writeln!(text, "{}", inputs.name(FileId(i as u32)));
        }
    }
    text
}

/// A line for each file and each symbol of `-y` that it defines, refers to or would define.
pub fn symbols(job: &Job, inputs: &Inputs, resolved: &Resolved) -> String {
    let names: HashSet<&[u8]> = job.options.reports.trace_symbols.iter().map(|n| n.as_bytes()).collect();
    let tracer = Tracer { job, names, text: String::new() };
    tracer.run(inputs, resolved)
}

struct Tracer<'c, 'j> {
    job: &'c Job<'j>,
    names: HashSet<&'c [u8]>,
    text: String,
}

impl Tracer<'_, '_> {
    fn run(mut self, inputs: &Inputs, resolved: &Resolved) -> String {
        let mut lazy = self.archive_members(inputs);
        for (i, input) in inputs.files.iter().enumerate() {
            let file = FileId(i as u32);
            let index = resolved.index_of_file[i] as usize;
            match input {
                Input::Shared { .. } => {
                    if let Some(dso) = resolved.shared.get(index) {
                        self.shared(dso);
                    }
                }
                Input::Object { name, data, .. } => match resolved.objects.get(index) {
                    Some(object) => self.object(object),
                    None => {
                        let object = Object::parse(file, name.clone(), data, inputs.reading(false));
                        self.lazy_object(object.ok());
                    }
                },
                Input::Member { .. } => match resolved.objects.get(index) {
                    Some(object) => self.object(object),
                    None => {
                        for name in lazy.remove(&file).unwrap_or_default() {
                            self.line(&inputs.name(file).to_string(), "lazy definition of", name);
                        }
                    }
                },
                Input::Internal => {}
            }
        }
        self.text
    }

    /// What archives say they could provide.
    fn archive_members<'a>(&self, inputs: &Inputs<'a>) -> HashMap<FileId, Vec<&'a [u8]>> {
        let mut found: HashMap<FileId, Vec<&[u8]>> = HashMap::new();
        for (name, file) in inputs.provided() {
            if self.names.contains(name) {
                found.entry(file).or_default().push(name);
            }
        }
        found
    }

    fn line(&mut self, file: &str, what: &str, name: &[u8]) {
        _ = writeln!(self.text, "{file}: {what} {}", shown(self.job.options, name));
    }

    fn object(&mut self, object: &Object) {
        for i in object.first_global..object.syms.len() as u32 {
            let name = object.symbol_name(i);
            if !self.names.contains(name) && !self.names.contains(plain(name)) {
                continue;
            }
            let what = match object.place(i, &object.syms[i as usize]) {
                SymbolPlace::Undefined => "reference to",
                SymbolPlace::Common => "common definition of",
                _ => "definition of",
            };
            self.line(&object.name.to_string(), what, name);
        }
    }

    fn lazy_object(&mut self, object: Option<Object>) {
        let Some(object) = object else { return };
        for i in object.first_global..object.syms.len() as u32 {
            let name = object.symbol_name(i);
            let defined = object.place(i, &object.syms[i as usize]) != SymbolPlace::Undefined;
            if defined && self.names.contains(plain(name)) {
                self.line(&object.name.to_string(), "lazy definition of", name);
            }
        }
    }

    fn shared(&mut self, dso: &Shared) {
        for (i, symbol) in dso.syms.iter().enumerate().skip(dso.first_global as usize) {
            let name = dso.symbol_name(i as u32);
            let undefined = symbol.st_shndx() == SHN_UNDEF;
            let what = if undefined { "reference to" } else { "shared definition of" };
            let spelled = match dso.version_name(i as u32).filter(|_| !undefined) {
                Some(version) => {
                    let at = if dso.version(i as u32).1 { &b"@@"[..] } else { b"@" };
                    [name, at, version].concat()
                }
                None => name.to_vec(),
            };
            if !self.names.contains(name) && !self.names.contains(&spelled[..]) {
                continue;
            }
            self.line(&dso.name.to_string(), what, &spelled);
        }
    }
}
