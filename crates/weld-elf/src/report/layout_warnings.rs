//! What is right and still worth a word, if somebody asks for it: segments that can be written and executed,
//! code that the loader has to change, sections that moved for their alignment, and (a list) what the loader
//! adds the load address to.

use weld_common::diag::{Cause, Diagnostic, Diagnostics};

use crate::address::Address;
use crate::elf::*;
use crate::ids::*;
use crate::job::{Context, Job};
use crate::live::dyn_relocs::{DynKind, DynReloc};
use crate::live::fact;
use crate::options::{OutputKind, ReportPolicy};
use crate::symbols::symbol_flags;
use crate::synth::got::Fixup;
use crate::synth::image::Image;
use crate::wording::{place, shown};

/// How many references are shown.
const REFERENCES: usize = 3;

/// All of it, once there are addresses.
pub fn report(job: &Job, image: &Image, context: &Context) -> Result<(), Diagnostics> {
    let reports = &job.options.reports;
    notes(job, image);
    if reports.rwx_segments != ReportPolicy::None {
        segments(job, image);
    }
    if reports.warn_section_align {
        alignment(job, image);
    }
    let shared = job.options.kind == OutputKind::Shared;
    if image.live.has(fact::TEXT_REL) && (reports.warn_textrel || reports.warn_shared_textrel && shared) {
        changed_code(job, image, context);
    }
    if reports.warn_ifunc_textrel && !job.options.relocs.text {
        resolvers(job, image);
    }
    if reports.relative_relocs {
        job.print(&relative(image, context))?;
    }
    Ok(())
}

/// A section that a script's `PHDRS` puts among notes without meaning it: it has not said `:segment` after
/// the note.
fn notes(job: &Job, image: &Image) {
    for segment in image.layout.segments.iter().filter(|segment| segment.kind == PT_NOTE) {
        let sections = &image.layout.sections[segment.sections.clone()];
        for section in sections.iter().filter(|s| s.kind != SHT_NOTE && s.is_alloc() && s.size > 0) {
            let name = String::from_utf8_lossy(&section.name);
            let text = format!("section {name} is no note, but PHDRS has it in a segment of notes (PT_NOTE)");
            job.sink.push(Diagnostic::warning(Cause::SectionFlags, text).at(section.address.get()));
        }
    }
}

/// `--warn-rwx-segments`, `--error-rwx-segments`.
fn segments(job: &Job, image: &Image) {
    const ALL: u32 = PF_R | PF_W | PF_X;
    for segment in image.layout.segments.iter().filter(|s| s.kind == PT_LOAD && s.flags & ALL == ALL) {
        let sections = &image.layout.sections[segment.sections.clone()];
        let with = |flag: u64| {
            let of_memory = sections.iter().filter(|s| s.flags & SHF_ALLOC != 0 && s.flags & flag != 0);
            of_memory.map(|s| String::from_utf8_lossy(&s.name).into_owned()).next()
        };
        let text = format!(
            "the segment at {:#x} can be read, written and executed (--no-warn-rwx-segments allows it)",
            segment.address
        );
        let mut diagnostic = match job.options.reports.rwx_segments {
            ReportPolicy::Error => Diagnostic::error(Cause::WritableCode, text).tolerable(),
            _ => Diagnostic::warning(Cause::WritableCode, text),
        };
        let holds = [(SHF_EXECINSTR, "code"), (SHF_WRITE, "data that is written to")];
        for (section, what) in holds.into_iter().filter_map(|(flag, what)| Some((with(flag)?, what))) {
            diagnostic = diagnostic.note(format!("section {section} in it is {what}"));
        }
        job.sink.push(diagnostic.at(segment.address.get()));
    }
    for segment in image.layout.segments.iter().filter(|s| s.kind == PT_TLS && s.flags & PF_X != 0) {
        let text = format!("the thread-local segment (PT_TLS) at {:#x} can be executed", segment.address);
        let diagnostic = match job.options.reports.rwx_segments {
            ReportPolicy::Error => Diagnostic::error(Cause::WritableCode, text).tolerable(),
            _ => Diagnostic::warning(Cause::WritableCode, text),
        };
        job.sink.push(diagnostic.at(segment.address.get()));
    }
}

/// `--warn-section-align`: a section starts after the end of the one before it, and only its alignment is the
/// reason.
fn alignment(job: &Job, image: &Image) {
    let mut end = None;
    for &(address, id) in &image.layout.by_address {
        let section = &image.layout[id];
        if section.size == 0 {
            continue;
        }
        if let Some(end) = end.replace(address + section.size)
            && section.start.is_none()
            && end < address
            && end.checked_aligned(section.align.max(1)) == Some(address)
        {
            let name = String::from_utf8_lossy(&section.name);
            let text = format!(
                "section {name} starts {} bytes later, at {address:#x}, because of its alignment to {}",
                address - end,
                section.align
            );
            job.sink.push(Diagnostic::warning(Cause::SectionAlignment, text).at(address.get()));
        }
    }
}

/// Section and place of the relocation that a dynamic one is made from, in words.
fn described(image: &Image, context: &Context, reloc: &DynReloc) -> (String, weld_common::diag::Place) {
    let id = context.owners.object(reloc.section);
    let object = &image.resolved.objects[id.index()];
    let shndx = reloc.section.0 - object.section_base;
    let relocs = image.sections.relocs(object, id.index(), image.sections.get(reloc.section));
    let offset = relocs[reloc.index()].r_offset();
    (place::reference(image.options, object, shndx, offset), place::of(id, shndx, offset))
}

/// `--warn-textrel`, `--warn-shared-textrel`.
fn changed_code(job: &Job, image: &Image, context: &Context) {
    let is_read_only = |reloc: &&DynReloc| {
        let object = &image.resolved.objects[context.owners.object(reloc.section).index()];
        object.shdrs[(reloc.section.0 - object.section_base) as usize].sh_flags() & SHF_WRITE == 0
    };
    let mut list: Vec<DynReloc> = image.live.dyn_relocs.iter().filter(is_read_only).copied().collect();
    list.sort_unstable();
    let text = "the loader has to change read-only sections (DT_TEXTREL); recompile with -fPIC";
    let mut diagnostic = Diagnostic::warning(Cause::TextRelocation, text);
    for reloc in list.iter().take(REFERENCES) {
        let (text, place) = described(image, context, reloc);
        diagnostic = diagnostic.note(format!("it is asked for by {text}")).place(place);
    }
    if let Some(more @ 1..) = list.len().checked_sub(REFERENCES) {
        diagnostic = diagnostic.note(format!("and {more} more times"));
    }
    job.sink.push(diagnostic);
}

/// `--warn-ifunc-textrel`: resolvers may run while their own code cannot be executed, as loaders make it
/// writable for the other relocations.
fn resolvers(job: &Job, image: &Image) {
    let names = image.symbols.list.iter().enumerate();
    let ifuncs = names.filter(|(_, s)| {
        s.kind() == symbol_flags::DEFINED && s.has(symbol_flags::IFUNC) && s.has(symbol_flags::NEEDS)
    });
    for (i, _) in ifuncs {
        let name = shown(job.options, image.resolved.names.get(SymbolId(i as u32)).name);
        let text = format!(
            "{name} is an IFUNC, and -z notext allows text relocations: loaders before glibc 2.29 may call its resolver \
             while its code is not executable"
        );
        job.sink.push(Diagnostic::warning(Cause::TextRelocation, text).at(i as u64));
    }
}

/// `-z report-relative-reloc`: each place that the loader adds the load address to, by address.
fn relative(image: &Image, context: &Context) -> String {
    let mut lines: Vec<(Address, String)> = Vec::new();
    for reloc in image.live.dyn_relocs.iter().filter(|reloc| reloc.kind() == DynKind::Relative) {
        let id = context.owners.object(reloc.section);
        let object = &image.resolved.objects[id.index()];
        let relocs = image.sections.relocs(object, id.index(), image.sections.get(reloc.section));
        let input = &relocs[reloc.index()];
        let target = image.place(object, input.sym(), input.r_addend());
        let address = image.sections.address_of(reloc.section, input.r_offset());
        let to = target.address.wrapping_add(target.addend as u64);
        lines.push((address, format!("{to:#x}, {}", described(image, context, reloc).0)));
    }
    for (word, entry) in &image.slots.got {
        let Some(slot) = entry.slot().map(|slot| &image.slots.list[slot as usize]) else { continue };
        let (flags, name) = match slot.local {
            None => (image.symbols[slot.id].flags(), image.resolved.names.get(slot.id).name),
            Some((object, index)) => {
                let object = &image.resolved.objects[object.index()];
                (image.place(object, index, 0).flags, object.symbol_name(index))
            }
        };
        for (i, fixup) in entry.fixups(flags, image.mode).into_iter().enumerate() {
            if matches!(fixup, Fixup::Relative) {
                let address = image.bases.got + image.bases.slot * (u64::from(*word) + i as u64);
                lines.push((address, format!("slot of {} in .got", shown(image.options, name))));
            }
        }
    }
    lines.sort();
    let text =
        lines.into_iter().map(|(address, what)| format!("relative relocation at {address:#x}: {what}\n"));
    text.collect()
}
