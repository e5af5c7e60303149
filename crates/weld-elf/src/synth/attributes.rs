//! The section that says what instructions and conventions the code uses, on machines whose objects have one
//! (`.riscv.attributes`). How those of objects are joined, the machine says.

use weld_common::diag::Cause;

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::arch::facts::AttributesOutput;
use crate::job::Job;
use crate::resolve::Resolved;
use crate::sections::Sections;

/// The contents for the output; empty if objects say nothing.
pub fn of_all(job: &Job, resolved: &Resolved, sections: &Sections) -> Vec<u8> {
    let machine = resolved.objects.first().and_then(|object| object.machine.attributes.as_ref());
    let Some(AttributesOutput::Section { merge, .. }) = machine.map(|machine| &machine.output) else {
        return Vec::new();
    };
    let objects = resolved.objects.iter().zip(&sections.objects);
    let all = objects.flat_map(|(object, extra)| {
        object.data_of(&extra.attributes).map(|data| (object.name.to_string(), data))
    });
    let all: Vec<(String, &[u8])> = all.collect();
    if all.is_empty() {
        return Vec::new();
    }
    merge(&all).unwrap_or_else(|wrong| {
        job.sink.error(Cause::IncompatibleObjects, wrong.to_string());
        Vec::new()
    })
}

/// What code of all objects may be used, as the machine says it in bits.
pub fn features(resolved: &Resolved, sections: &Sections) -> u32 {
    let machine = resolved.objects.first().and_then(|object| object.machine.attributes.as_ref());
    let Some(read) = machine.and_then(|machine| machine.features) else { return 0 };
    let objects = resolved.objects.iter().zip(&sections.objects);
    read(&mut objects.flat_map(|(object, extra)| object.data_of(&extra.attributes)))
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts().attributes.as_ref()?;
        let AttributesOutput::Section { segment, .. } = machine.output else { return None };
        if sizes.options.output.raw {
            return None;
        }
        let header = Header { name: machine.name.as_bytes(), kind: machine.section, flags: 0, entsize: 0 };
        let spec = Spec::own(header, 1, sizes.plan.attributes.len() as u64);
        spec.map(|spec| Spec { segment, ..spec.dispensable() })
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.contents().attributes);
    }
}
