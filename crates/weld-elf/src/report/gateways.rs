//! Gateways ([`crate::gateways`]), once there are addresses: whether they are where those know them who call, and the
//! library for these (`--out-implib`).

use weld_common::diag::{Cause, Diagnostic, Diagnostics};
use weld_common::text;

use crate::arch::facts::Gateways as Machine;
use crate::gateways::{Entry, library};
use crate::job::{Context, Job};
use crate::script::sections::Statement;
use crate::synth::image::Image;

pub fn report<'a>(job: &Job, image: &Image, context: &Context<'_, 'a>) -> Result<(), Diagnostics> {
    let Some(machine) = &context.mode.facts().gateways else { return Ok(()) };
    let address =
        |entry: &Entry| Some(image.symbols[image.resolved.names.find(entry.name)?].address().get() & !1);
    if !is_placed(job, image, context, machine) {
        let text = format!(
            "nothing says where {} lies, by which functions are entered from outside: neither a script nor --section-start",
            machine.section
        );
        job.sink.push(Diagnostic::error(Cause::SecureGateway, text));
    }
    for entry in context.gateways {
        let (Some(before), Some(now)) = (entry.before, address(entry)) else { continue };
        if before == now {
            continue;
        }
        let text = format!(
            "the gateway of {} is at {now:#x}, and at {before:#x} in the library of --in-implib",
            text::text(entry.name)
        );
        job.sink.push(match entry.is_made {
            true => Diagnostic::error(Cause::SecureGateway, text)
                .note(format!("{} begins at another address than before", machine.section)),
            // It is the program's own, and where it is the program's matter.
            false => Diagnostic::warning(Cause::SecureGateway, text),
        });
    }
    job.sink.end_phase()?;
    if let Some(path) = &job.options.gateways.output {
        let place = |entry: &Entry<'a>| Some((address(entry)?, entry.name, entry.binding));
        let mut entries: Vec<_> = context.gateways.iter().filter_map(place).collect();
        entries.sort_unstable();
        job.reports.add(path, library::write(context.mode.facts().target, machine.flags, &entries));
    }
    Ok(())
}

/// Whether somebody has said where the section of gateways lies, if there is one of that name.
fn is_placed(job: &Job, image: &Image, context: &Context, machine: &Machine) -> bool {
    let name = machine.section.as_bytes();
    let is_there = image.layout.sections.iter().any(|section| *section.name == *name && section.size > 0);
    let is_described = |statement: &Statement| match statement {
        Statement::Section(section) => section.name == name,
        Statement::Overlay(overlay) => overlay.sections.iter().any(|section| section.name == name),
        _ => false,
    };
    let script = || context.inputs.layout().is_some_and(|script| script.statements.iter().any(is_described));
    !is_there || job.options.start_of(name).is_some() || script()
}
