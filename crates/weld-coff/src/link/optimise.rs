//! Link-time optimisation, between two resolutions.
//!
//! The first has found which files take part. For those of bitcode, what each name stands for is found here;
//! then a compiler is asked, and all is resolved once more, with its objects in the place of those files.
//! What the second resolution finds goes the way of any link, so nothing that is found wrong here is said
//! here, but for symbols that are defined twice, of which a compiler only keeps one, and for undefined
//! symbols, whose references it may leave out.

use std::collections::HashSet;
use std::path::Path;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::text;
use weld_common::trace;
use weld_lto::answer::{self, Answer, wanted_too_late};
use weld_lto::engine;
use weld_lto::ir::Compiler;

use crate::input::FileName;
use crate::input::load::Inputs;
use crate::job::Job;
use crate::lto;
use crate::report::{files, undefined};
use crate::resolve::{Compiled, Resolved, Resolver, comdat, duplicates};
use crate::sections::{self, Kind};
use crate::symbol_names;
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
    let answer;
    let wrapped;
    (answer, compiled.has_gcc, wrapped) = ask(job, inputs, &mut resolved, &out, resolver.parallel)?;
    drop(resolved);
    answer.tell(job, job.options.reports.verbose.all)?;
    if job.options.lto.ends_the_link() {
        return Ok(None);
    }
    let object = |object: answer::Object| {
        let path = text::text(&object.name).into_owned().into();
        let bytes = object.bytes.kept(job.store);
        let strong = lto::strong_again(bytes, &wrapped).map(|made| job.store.keep(made));
        (FileName { path, member: None, is_ambiguous: false }, strong.unwrap_or(bytes))
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

/// Finds what each name stands for, and asks the compilers. With what they answer come whether GCC was one, and
/// the names that `/wrap` leads elsewhere and whose definitions stay as strong as they are.
fn ask<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    out: &Path,
    parallel: bool,
) -> Result<(Answer, bool, HashSet<&'j [u8]>), Diagnostics> {
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
    let request = link.request(out)?;
    let _stretch = trace::stretch("generate code");
    let has_gcc = request.files.iter().any(|file| file.compiler == Compiler::Gcc);
    let answer = engine::compile(&request, job.host).map_err(|error| Diagnostic::from(&*error))?;
    Ok((answer, has_gcc, link.strong_wrapped()))
}

/// Bitcode that is wanted only by the objects: it is too late to compile it.
fn refuse_late_code(job: &Job, resolved: &Resolved) {
    for object in resolved.objects.iter().filter(|object| object.is_code()) {
        let is_of_it = |id: &crate::ids::SymbolId| {
            symbol_names::is_defined(&resolved.names, *id) && resolved.names.get(*id).file() == object.file
        };
        let wanted = object.globals().find(is_of_it).map(|id| resolved.names.get(id).name);
        let late = wanted_too_late(&object.name, wanted.unwrap_or_default(), "/include:");
        job.sink.push(late.of(object.file, 0));
    }
}
