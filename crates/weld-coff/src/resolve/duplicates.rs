//! Symbols that several files define.

use std::borrow::Cow;

use weld_common::diag::{Cause, DiagSink, Diagnostic, Spot};
use weld_common::resolve::duplicates::{self, Definition, Definitions};
use weld_common::text;

use super::file::object;
use super::read::Rounds;
use crate::coff::object::ABSOLUTE;
use crate::ids::{FileId, ObjectId};
use crate::input::object::Object;
use crate::options::Options;
use crate::resolve::comdat::settle_members;
use crate::resolve::{Place, Resolved, Resolver};
use crate::symbol_names::{self, Names, Rival, SOFT};
use crate::wording::source::Sources;
use crate::wording::two_lines;

/// A symbol is defined in these files, the first one's definition counts.
pub fn diagnostic(name: &str, places: &[Vec<String>], force: bool) -> Diagnostic {
    let text = duplicates::headline(name);
    let problem = if force {
        Diagnostic::warning(Cause::DuplicateSymbol, text)
    } else {
        Diagnostic::error(Cause::DuplicateSymbol, text)
    };
    places.iter().flatten().fold(problem, |problem, place| problem.note(place))
}

/// The lines that tell where a definition is: its source line, if the object knows it, and the object.
pub fn place<'o, 'a>(
    object: Option<&'o Object<'a>>,
    name: &str,
    symbol: u32,
    sources: &mut Sources<'o, 'a>,
) -> Vec<String> {
    let line = object.and_then(|object| {
        let symbol = object.coff.symbols.get(symbol)?;
        sources.line(object, u32::try_from(symbol.section).ok()?, symbol.value)
    });
    let source = || object?.code.filter(|source| !source.is_empty()).map(text::text).map(Cow::into_owned);
    two_lines("defined at", line.or_else(source), name)
}

/// Settles what definitions beside the leaders of COMDAT sections come to: those in sections that are gone,
/// as `is_kept` says, are none. Then reports what several files define.
pub fn settle(
    resolved: &mut Resolved,
    is_kept: impl Fn(ObjectId, u32) -> bool,
    options: &Options,
    sink: &DiagSink,
) {
    let members = symbol_names::take_members(&mut resolved.names);
    let places = resolved.places.clone();
    let is_kept = |file: FileId, number| match places[file.index()] {
        Place::Object(id) => is_kept(id, number),
        _ => true,
    };
    let mut lost = settle_members(resolved, &members, is_kept);
    lost.extend(symbol_names::take_duplicates(&mut resolved.names));
    let soft = symbol_names::take_soft(&mut resolved.names);
    lost.extend(clashing(resolved, &soft));
    let object_of = |file| (resolved.object(file).map(|(_, object)| object), resolved.file_name(file));
    report(&resolved.names, lost, object_of, options, sink);
}

impl<'a> Resolver<'a, '_> {
    /// Says which symbols have been defined twice so far. More of it can be said when the rounds are over.
    pub(super) fn report_duplicates(&self, rounds: &mut Rounds<'a, '_, '_, '_>) {
        let lost = symbol_names::take_duplicates(&mut rounds.names);
        let object_of = |file| (object(&rounds.files, file), rounds.format.inputs.name(file).to_string());
        report(&rounds.names, lost, object_of, self.options, self.sink);
    }
}

/// Reports definitions that lost to others where there may be one only. `object_of` finds the object of a
/// file, and the file's name.
fn report<'o, 'a: 'o>(
    names: &Names,
    lost: Vec<Rival>,
    object_of: impl Fn(FileId) -> (Option<&'o Object<'a>>, String),
    options: &Options,
    sink: &DiagSink,
) {
    let is_all = options.force.multiple || options.error_limit == 0;
    let detailed = if is_all { usize::MAX } else { options.error_limit };
    let mut told = Told { object_of, options, sources: Sources::default() };
    duplicates::report(names, lost, detailed, &mut told, sink);
}

/// What is known of definitions.
struct Told<'l, 'o, 'a, F> {
    object_of: F,
    options: &'l Options,
    sources: Sources<'o, 'a>,
}

impl<'o, 'a: 'o, F: Fn(FileId) -> (Option<&'o Object<'a>>, String)> Definitions for Told<'_, 'o, 'a, F> {
    fn shown<'n>(&self, name: &'n [u8]) -> Cow<'n, str> {
        self.options.shown(name).into()
    }

    fn problem(&self, text: String) -> Diagnostic {
        if self.options.force.multiple {
            Diagnostic::warning(Cause::DuplicateSymbol, text)
        } else {
            Diagnostic::error(Cause::DuplicateSymbol, text)
        }
    }

    fn tell_place(&mut self, problem: Diagnostic, Definition { file, sym }: Definition) -> Diagnostic {
        let (object, name) = (self.object_of)(file);
        let lines = place(object, &name, sym, &mut self.sources);
        lines.into_iter().fold(problem, Diagnostic::note).definition(Spot::of_file(name))
    }
}

/// Of absolute values and imports, those that clash with another definition.
fn clashing(resolved: &Resolved, soft: &[Rival]) -> Vec<Rival> {
    let clashes = |rival: &&Rival| {
        let entry = resolved.names.get(rival.id);
        if (entry.file(), entry.sym()) == (rival.file, rival.sym) {
            return false;
        }
        let value = |file, sym| {
            let (_, object) = resolved.object(file)?;
            let symbol = object.coff.symbols.get(sym).filter(|symbol| symbol.section == ABSOLUTE)?;
            Some(symbol.value)
        };
        let own = value(rival.file, rival.sym);
        match (entry.rank(), own) {
            // Two values are the same one if they are equal, and a value gives way to anything else.
            (SOFT, Some(own)) => value(entry.file(), entry.sym()).is_some_and(|other| other != own),
            (_, Some(_)) => false,
            (SOFT, None) => !is_same_import(resolved, rival, entry.file()),
            (_, None) => true,
        }
    };
    soft.iter().filter(clashes).copied().collect()
}

/// Whether two files import the same symbol from the same DLL.
fn is_same_import(resolved: &Resolved, rival: &Rival, other: FileId) -> bool {
    let import = |file: FileId| match resolved.places[file.index()] {
        Place::Import(id) => Some(resolved.imports[id.index()].import),
        _ => None,
    };
    match (import(rival.file), import(other)) {
        (Some(a), Some(b)) => {
            a.dll.eq_ignore_ascii_case(b.dll) && a.external == b.external && a.symbol == b.symbol
        }
        _ => false,
    }
}
