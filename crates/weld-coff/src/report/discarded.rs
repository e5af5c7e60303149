//! `/verbose`: sections that `/opt:ref` leaves out.

use weld_common::diag::{DiagSink, Diagnostic};

use crate::ids::SectionId;
use crate::input::object::NO_LEADER;
use crate::input::sections::Sections;
use crate::live::Live;
use crate::resolve::Resolved;
use weld_common::text;

/// Names the COMDAT sections that nothing refers to, by their leaders.
pub fn say(resolved: &Resolved, sections: &Sections, live: &Live, sink: &DiagSink) {
    for (id, section) in (0..).zip(&sections.list) {
        if !section.comdat || !section.is_in_image() || live.has(SectionId(id)) || section.object.is_none() {
            continue;
        }
        let object = &resolved.objects[section.object.index()];
        let leader = object.comdat(section.number).map(|comdat| comdat.leader).filter(|&at| at != NO_LEADER);
        let symbol = leader.and_then(|leader| object.coff.symbols.get(leader));
        let name = symbol.and_then(|symbol| object.coff.symbol_name(&symbol).ok());
        if let Some(name) = name {
            sink.push(Diagnostic::said(format!("Discarded {}", text::text(name))));
        }
    }
    sink.settle();
}
