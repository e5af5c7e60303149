//! What lib.exe does: libraries of objects and of other libraries' members (`/lib`), and import libraries of what a module-definition file
//! says without an object at hand.

use std::path::{Path, PathBuf};

use weld_common::archive::Archive;
use weld_common::archive::thin::member_bytes;
use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::io::output::OutputOptions;
use weld_common::text;

use crate::coff::def::{self, Definitions};
use crate::coff::identify::{Kind, identify};
use crate::coff::import::Import;
use crate::coff::library::{self, Member};
use crate::coff::machine::Machine;
use crate::coff::object::{ObjectFile, UNDEFINED};
use crate::implib;
use crate::input::load::refusal;
use crate::input::search::Search;
use crate::link::Job;
use crate::options::{Input, Options};
use crate::resolve::has_plain_name;
use crate::resolve::program::Exported;
use crate::synth::exports::Exports;

/// Makes the library that the options ask for.
///
/// # Errors
/// Everything found wrong; an old library is then as it was before.
pub fn run(job: &Job) -> Result<(), Diagnostics> {
    let options = job.options;
    check(options)?;
    let (path, bytes) = match &options.def {
        Some(def) => import_library(job, def)?,
        None => {
            let mut members = Members {
                job,
                search: Search::new(options.lib_paths.clone()),
                list: Vec::new(),
                machine: options.machine,
            };
            options.inputs.iter().for_each(|input| members.add_input(input));
            job.sink.end_phase()?;
            if members.list.is_empty() {
                return Err(Diagnostic::error("no input files").into());
            }
            let first = Path::new(members.list[0].0.as_str()).with_extension("lib");
            let out = options.out.clone().unwrap_or(first);
            if options.thin {
                members.list.iter_mut().for_each(|(path, member)| member.name = relative(path, &out));
            }
            let list: Vec<Member> = members.list.into_iter().map(|(_, member)| member).collect();
            (out, library::bytes(&list, options.thin))
        }
    };
    let bytes = bytes.map_err(|e| Diagnostic::error(format!("{}: {e}", text::path(&path))))?;
    let engine = OutputOptions { engine: options.engine, ..Default::default() };
    let file = job.create_output(&path, bytes.len() as u64, &engine, false)?;
    file.write_at(0, &bytes).map_err(Diagnostic::from)?;
    job.finish_all(file, Vec::new(), false, false, || Ok(()))
}

/// An import library is of what is exported by name, a library of objects has no exports of its own.
fn check(options: &Options) -> Result<(), Diagnostic> {
    match (&options.def, options.inputs.is_empty(), options.demands.exports.first()) {
        (Some(def), false, _) => {
            let def = text::path(def);
            Err(Diagnostic::error(format!(
                "/lib makes an import library of {def} alone, without other inputs"
            )))
        }
        (None, _, Some(export)) => {
            Err(Diagnostic::error(format!("/export:{} means nothing to a library of objects", export.name)))
        }
        _ => Ok(()),
    }
}

/// The path of a member, seen from the directory of the library.
fn relative(member: &str, library: &Path) -> Vec<u8> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let member = absolute(&text::to_path(member));
    let library = absolute(library);
    let from: Vec<_> = library.parent().unwrap_or(Path::new("")).components().collect();
    let to: Vec<_> = member.components().collect();
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[same..].iter().map(|_| "..".as_ref());
    let path: PathBuf = up.chain(to[same..].iter().map(|part| part.as_os_str())).collect();
    path.as_os_str().as_encoded_bytes().to_vec()
}

/// A library, and where it goes.
type Made = (PathBuf, Result<Vec<u8>, String>);

/// The import library of a module-definition file.
fn import_library(job: &Job, path: &Path) -> Result<Made, Diagnostics> {
    let (options, shown) = (job.options, text::path(path));
    let machine = options.machine.ok_or_else(|| {
        Diagnostic::error(format!("{shown}: no input says which machine it is for; use /machine"))
    })?;
    let bytes = job.store.open(path).map_err(Diagnostic::from)?;
    let bytes = bytes
        .ok_or_else(|| Diagnostic::error(format!("could not open '{shown}': No such file or directory")))?;
    let found = def::parse(&text::text(bytes)).map_err(|e| Diagnostic::error(format!("{shown}: {e}")))?;
    let default = options.out.clone().unwrap_or_else(|| path.to_owned());
    let name = dll_name(&found, &default);
    let all = options.demands.exports.iter().cloned().chain(found.exports);
    let exported: Vec<Exported> =
        all.map(|export| Exported::new(export, machine, &options.mingw, false).0).collect();
    let exports = Exports::new(&exported, &name, job.sink);
    job.sink.end_phase()?;
    let path = options.implib.clone().unwrap_or_else(|| match options.library {
        true => default.clone(),
        false => default.with_extension("lib"),
    });
    Ok((path, implib::bytes(&name, machine, &exports.entries)))
}

/// What the DLL is called: as the file says, or as the output with another extension.
fn dll_name(found: &Definitions, out: &Path) -> String {
    let given = found.name.clone().map(PathBuf::from);
    let name = given.unwrap_or_else(|| out.with_extension("dll"));
    let name = if name.extension().is_some() { name } else { name.with_extension("dll") };
    text::text(name.file_name().unwrap_or_default().as_encoded_bytes()).into_owned()
}

/// Members as they are found, each with the path of its file.
struct Members<'m, 'j> {
    job: &'m Job<'j>,
    search: Search,
    list: Vec<(String, Member<'j>)>,
    machine: Option<Machine>,
}

impl Members<'_, '_> {
    fn add_input(&mut self, input: &Input) {
        let (Input::File(path) | Input::Whole(path) | Input::Lazy(path)) = input else { return };
        let shown = text::path(path).into_owned();
        let found = self.search.file(path).map(|path| self.job.store.open(&path));
        match found {
            Some(Ok(Some(bytes))) => {
                if let Err(e) = self.add_file(&shown, bytes) {
                    self.job.sink.error(format!("{shown}: {e}"));
                }
            }
            Some(Err(e)) => self.job.sink.push(e.into()),
            _ => self.job.sink.error(format!("could not open '{shown}': No such file or directory")),
        }
    }
}

impl<'j> Members<'_, 'j> {
    fn add_file(&mut self, path: &str, bytes: &'j [u8]) -> Result<(), String> {
        if identify(bytes) != Kind::Archive {
            return self.add(path, path.as_bytes(), bytes);
        }
        let archive = Archive::parse(bytes).map_err(|e| e.to_string())?;
        if self.job.options.thin {
            return Err("members of a library cannot be in a thin one".to_owned());
        }
        for member in archive.members() {
            let member = member.map_err(|e| e.to_string())?;
            self.add(path, member.name, member_bytes(self.job.store, path, &member)?)?;
        }
        Ok(())
    }

    fn add(&mut self, path: &str, name: &[u8], bytes: &'j [u8]) -> Result<(), String> {
        let (machine, symbols) = match identify(bytes) {
            Kind::Import => of_import(bytes)?,
            kind @ (Kind::Object | Kind::BigObject) => of_object(bytes, kind == Kind::BigObject)?,
            Kind::Resources => return Err("compiled resources cannot be in a library".to_owned()),
            kind => return Err(refusal(kind).to_owned()),
        };
        match (machine, self.machine) {
            (Some(own), Some(all)) if own != all => {
                return Err(format!("machine type {} conflicts with {}", own.name(), all.name()));
            }
            (own, all) => self.machine = all.or(own),
        }
        let member = Member { name: name.to_vec(), bytes: bytes.into(), symbols };
        self.list.push((path.to_owned(), member));
        Ok(())
    }
}

/// What an object is for, and which names it defines.
type Known = (Option<Machine>, Vec<Vec<u8>>);

fn of_import(bytes: &[u8]) -> Result<Known, String> {
    let import = Import::parse(bytes)?;
    let mut symbols = vec![[b"__imp_", import.symbol].concat()];
    if has_plain_name(&import) {
        symbols.push(import.symbol.to_vec());
    }
    Ok((Some(import.machine), symbols))
}

fn of_object(bytes: &[u8], big: bool) -> Result<Known, String> {
    let object = ObjectFile::parse(bytes, big)?;
    let mut symbols = Vec::new();
    for (_, symbol) in object.symbols.iter() {
        let is_defined = symbol.section != UNDEFINED || symbol.is_common() || symbol.is_weak_external();
        if symbol.is_global() && is_defined {
            symbols.push(object.symbol_name(&symbol)?.to_vec());
        }
    }
    Ok((object.machine, symbols))
}
