//! Link-time optimisation, between two resolutions.
//!
//! The first has found which files take part. For those of bitcode, what each name stands for is found here;
//! then a compiler is asked, and all is resolved once more, with its objects in the place of those files. What
//! the second resolution finds goes the way of any link, so nothing that is found wrong here is said here, but
//! for symbols that are defined twice, of which a compiler only keeps one, and for undefined symbols, whose
//! references it may leave out.

use std::path::Path;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::text;
use weld_common::trace;
use weld_lto::answer::{Answer, EngineError, Level};
use weld_lto::engine;

use crate::input::FileName;
use crate::input::load::Inputs;
use crate::job::Job;
use crate::lto;
use crate::names;
use crate::report::{files, undefined};
use crate::resolve::{Compiled, Resolved, Resolver, comdat, duplicates};
use crate::sections::{self, Kind};
use crate::symbols::{self, Freezer, Noted};

/// Has the bitcode of a link compiled, and resolves it again. `None`: there is nothing left to link.
///
/// # Errors
/// If symbols are defined twice or not at all, if the compiler does not make what was asked for, or what
/// resolution finds.
pub(super) fn compile<'j>(
    job: &Job<'j>,
    resolver: &Resolver<'j, '_>,
    inputs: &mut Inputs<'j>,
    mut resolved: Resolved<'j>,
) -> Result<Option<Resolved<'j>>, Diagnostics> {
    if !resolved.objects.iter().any(|object| object.is_code()) {
        return Ok(Some(resolved));
    }
    let mut compiled = Compiled::before(&resolved);
    let out = files::image(job.options, &resolved, inputs);
    let answer = ask(job, inputs, &mut resolved, (&out, resolver.parallel))?;
    drop(resolved);
    take_messages(job, &answer)?;
    if job.options.lto.code.ends_the_link() {
        return Ok(None);
    }
    let object = |object: weld_lto::answer::Object| {
        let path = text::text(&object.name).into_owned().into();
        let bytes = &job.store.keep_mapped(object.bytes.map)[object.bytes.range];
        (FileName { path, member: None, is_ambiguous: false }, bytes)
    };
    compiled.objects = inputs.add_objects(answer.objects.into_iter().map(object));
    let said = job.sink.count();
    let resolver = Resolver { compiled: Some(&compiled), ..*resolver };
    let again = job.step("resolve symbols again", || resolver.run(inputs))?;
    job.sink.drop_repetitions(said);
    refuse_late_code(job, &again);
    job.sink.end_phase()?;
    Ok(Some(Resolved { said: Some(said), ..again }))
}

/// Finds what each name stands for, and asks the compiler.
fn ask<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    (out, parallel): (&Path, bool),
) -> Result<Answer, Diagnostics> {
    let stretch = trace::stretch("what becomes of symbols");
    let options = job.options;
    comdat::choose_largest(resolved, parallel);
    let mut sections = sections::parse(resolved, options, job.sink, parallel);
    job.sink.end_phase()?;
    let is_kept = |object, number| sections.get(sections.id(object, number)).kind != Kind::Discarded;
    duplicates::settle(resolved, is_kept, options, job.sink);
    job.sink.end_phase()?;
    let noted = Noted::take(&mut resolved.names);
    // What this finds is found again, and said, when the objects are linked.
    let silent = DiagSink::new();
    let freezer = Freezer { resolved, options, sink: &silent, parallel };
    let mut symbols = freezer.freeze(&noted, &mut sections);
    symbols.stand_for_wrapped(&resolved.wraps);
    if !options.force.unresolved {
        let missing = symbols::undefined(resolved, &symbols, parallel);
        undefined::report(resolved, &missing, options, parallel, job.sink);
    }
    super::check_subsystem(job, resolved);
    job.sink.end_phase()?;
    drop(stretch);
    let link = lto::Link { job, inputs, resolved, sections: &sections, symbols: &symbols };
    let request = link.request(out);
    let _stretch = trace::stretch("generate code");
    engine::compile(&request, job.host).map_err(|error| refused(&error).into())
}

/// Why there is no machine code.
fn refused(error: &EngineError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.to_string());
    error.notes().into_iter().fold(diagnostic, Diagnostic::note)
}

/// What the compiler has said.
fn take_messages(job: &Job, answer: &Answer) -> Result<(), Diagnostics> {
    if job.options.verbose.all {
        answer.engines.iter().try_for_each(|engine| job.print(&format!("{engine}\n")))?;
    }
    for message in &answer.messages {
        let text = message.text.clone();
        match message.level {
            Level::Output | Level::Remark => job.print(&format!("{text}\n"))?,
            Level::Warning => job.sink.push(Diagnostic::warning(text)),
            Level::Error => job.sink.push(Diagnostic::error(text)),
        }
    }
    job.sink.end_phase()
}

/// Bitcode that is wanted only by the objects: it is too late to compile it.
fn refuse_late_code(job: &Job, resolved: &Resolved) {
    for object in resolved.objects.iter().filter(|object| object.is_code()) {
        let is_of_it = |id: &crate::ids::SymbolId| {
            names::is_defined(&resolved.names, *id) && resolved.names.get(*id).file() == object.file
        };
        let wanted = object.globals().find(is_of_it).map(|id| resolved.names.get(id).name);
        let text =
            format!("{}: has to be compiled, but is wanted only by what has been compiled", object.name);
        let name = text::text(wanted.unwrap_or_default());
        let note =
            format!("for '{name}': name the file, or refer to '{name}' in what is linked (/include:{name})");
        job.sink.push(Diagnostic::error(text).note(note).of(object.file, 0));
    }
}
