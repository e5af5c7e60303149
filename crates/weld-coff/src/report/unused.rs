//! `/verbose:unusedlibs`: libraries of which nothing is linked.

use weld_common::diag::{DiagSink, Diagnostic};

use crate::input::load::Inputs;
use crate::options::Options;
use crate::resolve::{Place, Resolved};

/// Names them in the order in which they count, if options ask for it.
pub fn say(resolved: &Resolved, inputs: &Inputs, options: &Options, sink: &DiagSink) {
    if !options.reports.verbose.unused_libraries {
        return;
    }
    for archive in &inputs.archives {
        let first = archive.first_file.index();
        let members = &resolved.places[first..first + archive.offsets.len()];
        if members.iter().all(|place| *place == Place::Nothing) {
            sink.push(Diagnostic::said(format!("Unused library: {}", archive.path)));
        }
    }
    sink.settle();
}
