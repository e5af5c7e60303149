//! `/verbose`: sections that `/opt:ref` leaves out.

use weld_common::diag::{DiagSink, Diagnostic};

use crate::ids::SectionId;
use crate::live::Live;
use crate::options::Options;
use crate::resolve::Resolved;
use crate::sections::Sections;
use weld_common::text;

/// Names the COMDAT sections that nothing refers to, by their leaders, if options ask for it.
pub fn say(resolved: &Resolved, sections: &Sections, live: &Live, options: &Options, sink: &DiagSink) {
    if !options.reports.verbose.discarded {
        return;
    }
    for (id, section) in (0..).zip(&sections.list) {
        if !section.comdat || !section.is_in_image() || live.has(SectionId(id)) || section.object.is_none() {
            continue;
        }
        let object = &resolved.objects[section.object.index()];
        if let Some(name) = object.leader_name(section.number) {
            sink.push(Diagnostic::said(format!("Discarded {}", text::text(name))));
        }
    }
    sink.settle();
}
