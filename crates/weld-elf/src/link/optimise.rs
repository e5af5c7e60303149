//! Link-time optimisation, between two resolutions.
//!
//! The first has found which files take part. For those of intermediate code, the phases up to the exports
//! are gone through here, for they tell what compilers have to know of each symbol; then compilers are asked,
//! and all is resolved once more, with their objects in the place of those files. What the second resolution
//! finds goes the way of any link, so nothing that is found wrong here is said here, but for symbols that are
//! defined twice: of two definitions a compiler only keeps one.

use std::collections::HashMap;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::resolve::Replacement;
use weld_common::text;
use weld_common::trace;
use weld_lto::answer::{self, Answer, wanted_too_late};
use weld_lto::engine;
use weld_lto::request::Request;

use super::{Kept, Round, define_internals, resolve};
use crate::ids::*;
use crate::input::FileName;
use crate::input::load::Inputs;
use crate::job::{Context, Job};
use crate::live::SectionOwners;
use crate::lto;
use crate::mode::Mode;
use crate::report;
use crate::resolve::comdat::Comdats;
use crate::resolve::{Compiled, Resolved};
use crate::sections;
use crate::setup;
use crate::symbols;
use crate::symbols::version_scripts::Scripts;

/// Has the intermediate code of a link compiled, and resolves it again, with what it has become if there is any. `None`:
/// there is nothing left to link.
///
/// # Errors
/// If symbols are defined twice, if compilers do not make what was asked for, or what resolution finds.
pub(super) fn compile<'j>(
    job: &Job<'j>,
    inputs: &mut Inputs<'j>,
    mut resolved: Resolved<'j>,
    kept: &Kept,
    threads: usize,
) -> Result<Option<(Resolved<'j>, Option<Compiled<'j>>)>, Diagnostics> {
    let code: Vec<FileId> = lto::files(&resolved).map(|object| object.file).collect();
    if code.is_empty() {
        return Ok(Some((resolved, None)));
    }
    let live = live_natives(&resolved);
    let (mut answer, Said { excluded, visibilities, groups, wrapped }) =
        ask(job, inputs, &mut resolved, kept, threads)?;
    drop(resolved);
    if let Some(basis) = answer.basis.take() {
        let _ = kept.basis.set(basis);
    }
    answer.tell(job, job.options.reports.verbose)?;
    if job.options.lto.ends_the_link() {
        return Ok(None);
    }
    let object = |object: answer::Object| {
        let path = text::text(&object.name).into_owned().into();
        let bytes = match lto::led_elsewhere(&object.bytes, &wrapped) {
            Some(bytes) => job.store.keep(bytes),
            None => object.bytes.kept(job.store),
        };
        (FileName { path, member: None }, bytes)
    };
    let objects = inputs.add_objects(answer.objects.into_iter().map(object));
    let replaced = vec![Replacement { old: code, new: objects.clone() }];
    let compiled = Compiled { live, replaced, objects, excluded, visibilities, groups };
    let again =
        job.step("resolve symbols again", || resolve(job, inputs, (Some(&compiled), job.sink), threads > 1))?;
    refuse_late_code(job, &again);
    job.sink.end_phase()?;
    Ok(Some((again, Some(compiled))))
}

/// What files of intermediate code have said of names, and objects do not say again.
struct Said<'j> {
    excluded: Vec<&'j [u8]>,
    visibilities: Vec<(&'j [u8], u32)>,
    /// COMDAT groups, and what is in them.
    groups: Vec<(&'j [u8], Vec<&'j [u8]>)>,
    /// References to these are led elsewhere by `--wrap`.
    wrapped: HashMap<&'j [u8], lto::Led>,
}

/// Files that take part and are not intermediate code, ascending.
pub(super) fn live_natives(resolved: &Resolved) -> Vec<FileId> {
    let objects = resolved.objects.iter().filter(|object| object.code.is_none()).map(|object| object.file);
    let mut live: Vec<FileId> = objects.chain(resolved.shared.iter().map(|shared| shared.file)).collect();
    live.sort_unstable();
    live
}

/// Goes through the phases that say what has become of each symbol, and asks compilers.
fn ask<'j>(
    job: &Job<'j>,
    inputs: &Inputs<'j>,
    resolved: &mut Resolved<'j>,
    kept: &Kept,
    threads: usize,
) -> Result<(Answer, Said<'j>), Diagnostics> {
    let stretch = trace::stretch("what becomes of symbols");
    let (options, parallel) = (job.options, threads > 1);
    // All of it is found again, and said, when the objects are linked.
    let silent = DiagSink::new();
    let quiet = &Job { sink: &silent, ..*job };
    let comdats = Comdats::decide(resolved, parallel);
    let mode = Mode::new(options, inputs.machine, !resolved.shared.is_empty());
    let read = |script| setup::ScriptRules::read(options, job.store, script, resolved);
    let rules = inputs.script().map(|script| read(script)).transpose()?;
    let scripted = rules.as_ref().filter(|_| inputs.layout().is_some()).map(|rules| rules.scripted());
    let sections =
        sections::parse(&mut resolved.objects, &comdats, options, scripted.as_ref(), &silent, parallel);
    report::duplicates::report(job, resolved, &sections);
    job.sink.end_phase()?;
    let scripts = Scripts::read(options, job.store, setup::inline_versions(inputs), &silent);
    let versions = mode.dynamic.then_some(&scripts);
    let internals = define_internals(job, inputs, resolved, &sections, rules.as_ref(), versions, &silent);
    let mut symbols = symbols::freeze(resolved, &sections, &comdats, &silent, parallel);
    internals.freeze(&mut symbols);
    if !mode.relocatable {
        let owners = SectionOwners::new(&resolved.objects, sections.list.len());
        let context = &Context {
            inputs,
            mode,
            parallel,
            threads,
            owners: &owners,
            comdats: &comdats,
            internals: &internals,
            rules: rules.as_ref().map(|rules| &rules.rules),
            tagged: None,
            gateways: &[],
        };
        super::export(quiet, context, resolved, &symbols, &scripts, Round::first(false));
    }
    drop(stretch);
    let link = lto::Link { job, inputs, resolved, symbols: &symbols, mode, parallel };
    let _stretch = trace::stretch("generate code");
    let checked = options.lto.devirtualisation.validate.then(|| link.with_vtables_checked());
    let options = checked.as_ref().unwrap_or(&options.lto);
    let digested = kept.repeat.as_ref().map(|repeat| repeat.digested(job.store)).unwrap_or_default();
    let request = Request { options, is_repeated: kept.repeat.is_some(), digested, ..link.request()? };
    match engine::compile(&request, job.host) {
        Ok(answer) => {
            let (excluded, visibilities) = (link.excluded(), link.visibilities());
            let (groups, wrapped) = (link.groups(), link.wrapped());
            Ok((answer, Said { excluded, visibilities, groups, wrapped }))
        }
        Err(error) => Err(Diagnostic::from(&*error).into()),
    }
}

/// Intermediate code that is wanted only by the objects: it is too late to compile it.
fn refuse_late_code(job: &Job, resolved: &Resolved) {
    for object in lto::files(resolved) {
        let globals = object.globals.len() as u32;
        let own = (object.first_global..object.first_global + globals).map(|index| object.global(index));
        let wanted = own.map(|id| resolved.names.get(id)).find(|entry| entry.file() == object.file);
        let name = wanted.map_or(&b""[..], |entry| entry.name);
        job.sink.push(wanted_too_late(&object.name, name, "-u "));
    }
}
