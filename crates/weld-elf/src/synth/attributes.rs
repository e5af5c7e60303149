//! The section that says what instructions and conventions the code uses, on machines whose objects have one
//! (`.riscv.attributes`). How those of objects are joined, the machine says.

use weld_common::diag::Cause;

use super::section::{At, Header, Sizes, Spec, Synthetic};
use crate::arch::facts::{self, Attributes, AttributesOutput, Facts, Topic};
use crate::input::object::Object;
use crate::job::Job;
use crate::resolve::Resolved;
use crate::sections::{ObjectSections, Sections};

/// The contents for the output; empty if objects say nothing.
pub fn of_all(job: &Job, resolved: &Resolved, sections: &Sections) -> Vec<u8> {
    joined(job, resolved, sections, |machine| machine.attributes.as_ref())
}

/// The same of those of GNU's tools, where they are apart.
pub fn of_gnu(job: &Job, resolved: &Resolved, sections: &Sections) -> Vec<u8> {
    joined(job, resolved, sections, |machine| machine.gnu_attributes.as_ref())
}

fn joined(
    job: &Job,
    resolved: &Resolved,
    sections: &Sections,
    of: fn(&'static Facts) -> Option<&'static Attributes>,
) -> Vec<u8> {
    let machine = resolved.objects.first().and_then(|object| of(object.machine));
    let Some(AttributesOutput::Section { merge, .. }) = machine.map(|machine| &machine.output) else {
        return Vec::new();
    };
    let objects = resolved.objects.iter().zip(&sections.objects);
    let all = objects.flat_map(|(object, extra)| {
        let data = sections_of(object, extra, of(object.machine).map(|machine| machine.section));
        data.map(|data| (object.name.to_string(), data))
    });
    let all: Vec<(String, &[u8])> = all.collect();
    if all.is_empty() {
        return Vec::new();
    }
    for doubt in machine.and_then(|machine| machine.doubts).map_or_else(Vec::new, |find| find(&all)) {
        let asked = &job.options.reports;
        let is_told = match doubt.topic {
            Topic::WideCharacters => asked.wchar_sizes,
            Topic::Enumerations => asked.enum_sizes,
            Topic::Unknown => true,
        };
        if is_told {
            job.sink.warn(Cause::IncompatibleObjects, doubt.what.to_string());
        }
    }
    merge(&all).unwrap_or_else(|wrong| {
        job.sink.error(Cause::IncompatibleObjects, wrong.to_string());
        Vec::new()
    })
}

/// The data of those of an object's sections about its code that are of type `kind`.
fn sections_of<'a>(
    object: &Object<'a>,
    extra: &ObjectSections,
    kind: Option<u32>,
) -> impl Iterator<Item = &'a [u8]> {
    let is_so = move |shndx: &u32| kind == object.shdrs.get(*shndx as usize).map(|shdr| shdr.sh_type());
    let wanted: Vec<u32> = extra.attributes.iter().copied().filter(is_so).collect();
    object.data_of(&wanted).collect::<Vec<_>>().into_iter()
}

/// The section for the output that says which registers code uses; empty if objects say nothing.
pub fn registers(job: &Job, resolved: &Resolved, sections: &Sections) -> Vec<u8> {
    let machine = resolved.objects.first().and_then(|object| object.machine.registers.as_ref());
    let Some(machine) = machine else { return Vec::new() };
    let mut all = Vec::new();
    for (object, extra) in resolved.objects.iter().zip(&sections.objects) {
        for data in sections_of(object, extra, Some(machine.section)) {
            if (machine.merge)(&[data]).is_none() {
                let text = format!("{} is damaged", String::from_utf8_lossy(machine.name));
                job.sink.push(object.whole().error(Cause::MalformedObject, text));
            }
            all.push(data);
        }
    }
    if all.is_empty() { Vec::new() } else { (machine.merge)(&all).unwrap_or_default() }
}

/// What code of all objects may be used, as the machine says it in bits.
pub fn features(resolved: &Resolved, sections: &Sections) -> u32 {
    let Some(machine) = resolved.objects.first().map(|object| object.machine) else { return 0 };
    let by_flags = machine
        .features_of_flags
        .map_or(0, |of| resolved.objects.iter().fold(0, |all, object| all | of(object.flags)));
    let Some(read) = machine.attributes.as_ref().and_then(|machine| machine.features) else {
        return by_flags;
    };
    let objects = resolved.objects.iter().zip(&sections.objects);
    by_flags | read(&mut objects.flat_map(|(object, extra)| object.data_of(&extra.attributes)))
}

/// The section with such contents.
fn spec(sizes: &Sizes, machine: &'static Attributes, contents: &[u8]) -> Option<Spec> {
    let AttributesOutput::Section { segment, flags, align, entsize, .. } = machine.output else {
        return None;
    };
    if sizes.options.output.raw {
        return None;
    }
    let header = Header { name: machine.name.as_bytes(), kind: machine.section, flags, entsize };
    let spec = Spec::own(header, align, contents.len() as u64);
    spec.map(|spec| Spec { segment, ..spec.dispensable() })
}

pub struct Section;

impl Synthetic for Section {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts().attributes.as_ref()?;
        spec(sizes, machine, &sizes.plan.attributes)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.contents().attributes);
    }
}

/// What GNU's tools say of conventions.
pub struct GnuSection;

impl Synthetic for GnuSection {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts().gnu_attributes.as_ref()?;
        spec(sizes, machine, &sizes.plan.gnu_attributes)
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.contents().gnu_attributes);
    }
}

/// Which registers code uses, and where the GOT's base is.
pub struct Registers;

impl Synthetic for Registers {
    fn spec(&self, sizes: &Sizes) -> Option<Spec> {
        let machine = sizes.plan.facts.mode.facts().registers.as_ref()?;
        if sizes.options.output.raw {
            return None;
        }
        let facts::Registers { name, section, flags, entsize, .. } = *machine;
        let header = Header { name, kind: section, flags, entsize };
        let spec = Spec::own(header, machine.align, sizes.plan.registers.len() as u64);
        spec.map(|spec| spec.dispensable().in_segment(machine.segment))
    }

    fn write(&self, at: &At, out: &mut [u8]) {
        out.copy_from_slice(at.contents().registers);
        let image = at.image();
        if let Some(machine) = &image.mode.facts().registers
            && !image.mode.relocatable
        {
            (machine.put_pointer)(out, image.bases.got_base.get());
        }
    }
}
