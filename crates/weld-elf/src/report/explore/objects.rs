//! Who brought what: archives and objects, what these were compiled from, and who asked for members.

use weld_common::{par, text};
use weld_explore::model::{Archives, Model, Object as Row, Ref};
use weld_explore::names::Name;
use weld_explore::unit::{self, Unit};

use super::super::extraction;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::{Object, SymbolPlace};
use crate::job::{Context, Job};
use crate::synth::image::Image;

/// Objects whose debug information one task looks at.
const RUN: usize = 16;

/// Relocations of `.debug_info` among which those of the first record are looked for.
const FIRST_RELOCS: usize = 64;

/// A row for each object, in the order of [`ObjectId`].
pub fn add(model: &mut Model, job: &Job, image: &Image, context: &Context) {
    let objects = &image.resolved.objects;
    let units = par::runs("sources of objects", context.parallel, objects.len(), RUN, |run| {
        run.map(|index| unit(image, index)).collect::<Vec<_>>()
    });
    let mut archives = Archives::default();
    for (object, unit) in objects.iter().zip(units.into_iter().flatten()) {
        let path = &*object.name.path;
        let (archive, name) = match object.name.member {
            None => (Ref::NONE, model.names.add(path)),
            Some(member) => (model.archive(&mut archives, path), model.names.add(&text::text(member))),
        };
        let Unit { source, language } = unit.unwrap_or_default();
        let source = model.names.add(&source);
        model.objects.push(Row { name, archive, source, language, ..Row::default() });
    }
    for (file, by, name) in extraction::reasons(job, context.inputs, image.resolved) {
        let row = |file: FileId| {
            let index = *image.resolved.index_of_file.get(file.index())? as usize;
            objects.get(index).filter(|object| object.file == file).map(|_| index)
        };
        let Some(asked) = row(file) else { continue };
        let asked_for: Name = model.names.add(&name);
        let asked_by = by.and_then(row).map_or(Ref::NONE, Ref::to);
        model.objects[asked] = Row { asked_by, asked_for, ..model.objects[asked] };
    }
}

/// What the debug information of an object says of it.
fn unit(image: &Image, index: usize) -> Option<Unit> {
    let object = &image.resolved.objects[index];
    let extra = &image.sections.objects[index];
    let named = |name: &str| {
        // Units of types are in groups.
        let is = |shndx: &u32| {
            object.shdrs[*shndx as usize].sh_flags() & (SHF_GROUP | SHF_COMPRESSED) == 0
                && object.section_name(*shndx as usize) == Some(name.as_bytes())
        };
        extra.unallocated.iter().copied().find(is)
    };
    let info = named(".debug_info")?;
    let section = image.sections.get(SectionId(object.section_base + info));
    let relocs = image.sections.relocs(object, index, section);
    let relocation = |offset: u64| {
        let reloc = relocs.iter().take(FIRST_RELOCS).find(|reloc| reloc.r_offset() == offset)?;
        // Otherwise the value is in place.
        let has_addend = object.shdrs[section.relocs as usize].sh_type() == SHT_RELA;
        has_addend.then(|| symbol_value(object, reloc.sym()).wrapping_add_signed(reloc.r_addend()))
    };
    let bytes =
        |name: &str| named(name).and_then(|shndx| object.section_data(shndx as usize)).unwrap_or_default();
    unit::first(&unit::Debug { big: object.format().is_big(), section: &bytes, relocation: &relocation })
}

/// The offset in its section of a symbol.
fn symbol_value(object: &Object, index: u32) -> u64 {
    match object.syms.get(index as usize) {
        Some(symbol) if matches!(object.place(index, symbol), SymbolPlace::Section(_)) => symbol.st_value(),
        _ => 0,
    }
}
