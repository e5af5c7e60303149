//! What lib.exe does: libraries of objects and of other libraries' members (`/lib`), import libraries of what
//! a module-definition file says without an object at hand, lists of members and single members of libraries.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use weld_common::archive::Archive;
use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::io::identity::Identity;
use weld_common::io::output::OutputOptions;
use weld_common::io::thin::member_bytes;
use weld_common::text;

use crate::args::def::{self, Definitions};
use crate::coff::identify::{Kind, identify};
use crate::coff::import::Import;
use crate::coff::library::{self, Member, Style, TooLarge};
use crate::coff::machine::Machine;
use crate::coff::object::{ObjectFile, UNDEFINED};
use crate::implib;
use crate::input::ir;
use crate::input::object::ObjectError;
use crate::input::search::Search;
use crate::input::unusable::Unusable;
use crate::job::Job;
use crate::options::{Input, Options};
use crate::resolve::entry::Exported;
use crate::resolve::imports::has_plain_name;
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
                paths: HashSet::new(),
                list: Vec::new(),
                machine: options.machine,
            };
            options.inputs.iter().for_each(|input| members.add_input(input));
            members.leave_out(&options.librarian.remove);
            job.sink.end_phase()?;
            if options.librarian.list {
                return job.print(&names_of(&members.list));
            }
            library(options, members.list)?
        }
    };
    let bytes = bytes.map_err(|e| {
        Diagnostic::error(Cause::Library, format!("{}: {e}", text::path(&path))).in_file(text::path(&path))
    })?;
    let engine = OutputOptions { engine: options.engine, ..Default::default() };
    let file = job.create_output(&path, bytes.len() as u64, &engine, false)?;
    file.write_at(0, &bytes).map_err(Diagnostic::from)?;
    job.finish_all(file, Vec::new(), false, false, || Ok(()))
}

/// The names of members, a line each.
fn names_of(members: &[(String, Member)]) -> String {
    members.iter().map(|(_, member)| format!("{}\n", text::text(&member.name))).collect()
}

/// The library of members, or the one that is wanted of them.
fn library(options: &Options, mut members: Vec<(String, Member)>) -> Result<SyntheticSection, Diagnostic> {
    let librarian = &options.librarian;
    if let Some(wanted) = &librarian.extract {
        let name = wanted.as_encoded_bytes();
        let found = members.into_iter().find(|(_, member)| member.name == name);
        let (_, member) = found.ok_or_else(|| {
            Diagnostic::error(Cause::Library, format!("/extract: there is no member '{}'", wanted.display()))
        })?;
        let last = name.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(name);
        let out = options.out.clone().unwrap_or_else(|| PathBuf::from(text::os_str(last)));
        return Ok((out, Ok(member.bytes.into_owned())));
    }
    let first = members.first().map(|(path, _)| Path::new(path.as_str()).with_extension("lib"));
    let out = match (options.out.clone().or(first), members.is_empty() && !librarian.empty) {
        (Some(out), false) => out,
        (_, true) => {
            return Err(Diagnostic::error(Cause::NoInputFiles, "no input files")
                .note("/llvmlibempty makes a library without members"));
        }
        (None, _) => {
            return Err(Diagnostic::error(
                Cause::Library,
                "a library without members has no name of its own: use /out",
            ));
        }
    };
    let style = match (librarian.thin, librarian.no_index) {
        (true, true) => {
            return Err(Diagnostic::error(
                Cause::Library,
                "a thin library (/llvmlibthin) has to have an index",
            ));
        }
        (true, false) => Style::Thin,
        (false, true) => Style::NoIndex,
        (false, false) => Style::Whole,
    };
    if librarian.thin {
        members.iter_mut().for_each(|(path, member)| member.name = relative(path, &out));
    }
    let list: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
    Ok((out, library::bytes(&list, style)))
}

/// An import library is of what is exported by name, a library of objects has no exports of its own.
fn check(options: &Options) -> Result<(), Diagnostic> {
    let librarian = &options.librarian;
    let of_members = [
        (librarian.list, "list"),
        (librarian.extract.is_some(), "extract"),
        (!librarian.remove.is_empty(), "remove"),
        (librarian.thin, "llvmlibthin"),
        (librarian.no_index, "llvmlibindex"),
    ];
    if let Some((_, name)) = of_members.iter().find(|(given, _)| *given && options.def.is_some()) {
        return Err(Diagnostic::error(
            Cause::Library,
            format!("/{name} means nothing to an import library (/def)"),
        ));
    }
    if librarian.dll.is_some() && options.def.is_none() {
        return Err(Diagnostic::error(
            Cause::Library,
            "/name means nothing without /def: it is the name of an import library's DLL",
        ));
    }
    match (&options.def, options.inputs.is_empty(), options.demands.exports.first()) {
        (Some(def), false, _) => {
            let def = text::path(def);
            Err(Diagnostic::error(
                Cause::Library,
                format!("/lib makes an import library of {def} alone, without other inputs"),
            ))
        }
        (None, _, Some(export)) => Err(Diagnostic::error(
            Cause::Library,
            format!("/export:{} means nothing to a library of objects", export.name),
        )),
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
type SyntheticSection = (PathBuf, Result<Vec<u8>, TooLarge>);

/// The import library of a module-definition file.
fn import_library(job: &Job, path: &Path) -> Result<SyntheticSection, Diagnostics> {
    let (options, shown) = (job.options, text::path(path));
    let machine = options.machine.ok_or_else(|| {
        Diagnostic::error(
            Cause::MachineUnknown,
            format!("{shown}: no input says which machine it is for; use /machine"),
        )
        .in_file(&shown)
    })?;
    let bytes = job.store.open(path).map_err(Diagnostic::from)?;
    let bytes = bytes.ok_or_else(|| {
        Diagnostic::error(
            Cause::CannotOpenFile,
            format!("could not open '{shown}': No such file or directory"),
        )
    })?;
    let found = def::parse(&text::text(bytes))
        .map_err(|e| Diagnostic::error(Cause::ModuleDefinition, format!("{shown}: {e}")).in_file(&shown))?;
    let default = options.out.clone().unwrap_or_else(|| path.to_owned());
    let name = dll_name(options, &found, &default);
    let all = options.demands.exports.iter().cloned().chain(found.exports);
    let exported: Vec<Exported> =
        all.map(|export| Exported::new(export, machine, &options.mingw, false).0).collect();
    let exports = Exports::new(&exported, &name, job.sink);
    job.sink.end_phase()?;
    // What /out names is the library itself with /lib, and else the DLL.
    let library = options.out.clone().filter(|_| options.library);
    let library = options.implib.path.clone().or(library).unwrap_or_else(|| default.with_extension("lib"));
    if Identity::of(&library).is_some_and(|identity| Some(identity) == Identity::of(path)) {
        return Err(Diagnostic::error(
            Cause::OutputClash,
            format!("the library would take the place of {shown}, which is an input"),
        )
        .into());
    }
    Ok((library, implib::bytes(&name, machine, &exports.entries)))
}

/// What the DLL is called: as `/name` or the file says, or as the output with another extension.
fn dll_name(options: &Options, found: &Definitions, out: &Path) -> String {
    let given = options.librarian.dll.as_ref().or(found.name.as_ref()).map(PathBuf::from);
    let name = given.unwrap_or_else(|| out.with_extension("dll"));
    let name = if name.extension().is_some() { name } else { name.with_extension("dll") };
    text::text(name.file_name().unwrap_or_default().as_encoded_bytes()).into_owned()
}

/// Members as they are found, each with the path of its file.
struct Members<'m, 'j> {
    job: &'m Job<'j>,
    search: Search,
    /// Files that were given; one that is named again is there already.
    paths: HashSet<PathBuf>,
    list: Vec<(String, Member<'j>)>,
    machine: Option<Machine>,
}

impl Members<'_, '_> {
    fn add_input(&mut self, input: &Input) {
        let (Input::File(path) | Input::Whole(path) | Input::Lazy(path)) = input else { return };
        let shown = text::path(path).into_owned();
        let found = self.search.file(path);
        if found.as_ref().is_some_and(|path| !self.paths.insert(path.clone())) {
            return;
        }
        let found = found.map(|path| self.job.store.open(&path));
        match found {
            Some(Ok(Some(bytes))) => {
                if let Err(e) = self.add_file(&shown, bytes) {
                    self.job
                        .sink
                        .push(Diagnostic::error(Cause::Library, format!("{shown}: {e}")).in_file(&shown));
                }
            }
            Some(Err(e)) => self.job.sink.push(e.into()),
            _ => self
                .job
                .sink
                .error(Cause::CannotOpenFile, format!("could not open '{shown}': No such file or directory")),
        }
    }

    /// `/remove`
    fn leave_out(&mut self, names: &[OsString]) {
        for name in names {
            let count = self.list.len();
            self.list.retain(|(_, member)| member.name != name.as_encoded_bytes());
            if self.list.len() == count {
                self.job
                    .sink
                    .error(Cause::Library, format!("/remove: there is no member '{}'", name.display()));
            }
        }
    }
}

impl<'j> Members<'_, 'j> {
    fn add_file(&mut self, path: &str, bytes: &'j [u8]) -> Result<(), MemberRefused> {
        if identify(bytes) != Kind::Archive {
            return self.add(path, path.as_bytes(), bytes);
        }
        let archive = Archive::parse(bytes).map_err(Unusable::from)?;
        if self.job.options.librarian.thin {
            return Err(MemberRefused::InThin);
        }
        for member in archive.members() {
            let member = member.map_err(Unusable::from)?;
            let bytes = member_bytes(self.job.store, path, &member).map_err(Unusable::from)?;
            self.add(path, member.name, bytes)?;
        }
        Ok(())
    }

    fn add(&mut self, path: &str, name: &[u8], bytes: &'j [u8]) -> Result<(), MemberRefused> {
        let (machine, symbols) = match identify(bytes) {
            Kind::Import => of_import(bytes)?,
            kind @ (Kind::Object | Kind::BigObject | Kind::Bitcode) => {
                match ir::find(bytes, kind, &Default::default(), self.job.store).map_err(Unusable::from)? {
                    Some(code) => of_code(&code),
                    None => of_object(bytes, kind == Kind::BigObject)?,
                }
            }
            Kind::Resources => return Err(MemberRefused::Resources),
            kind => return Err(Unusable::Kind(kind).into()),
        };
        match (machine, self.machine) {
            (Some(own), Some(all)) if own != all => {
                return Err(Unusable::Machine { own, all }.into());
            }
            (own, all) => self.machine = all.or(own),
        }
        let member = Member { name: name.to_vec(), bytes: bytes.into(), symbols };
        self.list.push((path.to_owned(), member));
        Ok(())
    }
}

/// Why a file cannot be a member.
enum MemberRefused {
    Unusable(Unusable),
    Resources,
    /// It is a library, and its members have no files of their own.
    InThin,
}

impl fmt::Display for MemberRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemberRefused::Unusable(e) => e.fmt(f),
            MemberRefused::Resources => f.write_str("compiled resources cannot be in a library"),
            MemberRefused::InThin => f.write_str("members of a library cannot be in a thin one"),
        }
    }
}

impl From<Unusable> for MemberRefused {
    fn from(error: Unusable) -> Self {
        MemberRefused::Unusable(error)
    }
}

/// What an object is for, and which names it defines.
type Known = (Option<Machine>, Vec<Vec<u8>>);

fn of_import(bytes: &[u8]) -> Result<Known, Unusable> {
    let import = Import::parse(bytes)?;
    let mut symbols = vec![[b"__imp_", import.symbol].concat()];
    if has_plain_name(&import) {
        symbols.push(import.symbol.to_vec());
    }
    Ok((Some(import.machine), symbols))
}

fn of_code(code: &ir::Code) -> Known {
    let symbols = code.file.symbols_for_linkers();
    let defined = symbols.filter(|symbol| symbol.kind != weld_lto::ir::Kind::Undefined);
    (Some(code.machine), defined.map(|symbol| symbol.name.to_vec()).collect())
}

fn of_object(bytes: &[u8], big: bool) -> Result<Known, Unusable> {
    let object = ObjectFile::parse(bytes, big).map_err(ObjectError::File)?;
    let mut symbols = Vec::new();
    for (_, symbol) in object.symbols.iter() {
        let is_defined = symbol.section != UNDEFINED || symbol.is_common() || symbol.is_weak_external();
        if symbol.is_global() && is_defined {
            symbols.push(object.symbol_name(&symbol).map_err(ObjectError::File)?.to_vec());
        }
    }
    Ok((object.machine, symbols))
}
