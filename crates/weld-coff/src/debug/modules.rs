//! The modules of the PDB: every object, then two for each DLL of which functions are imported, then the
//! linker itself.
//!
//! An object brings the debug information of what is in the image: sections that go with a function
//! (`.debug$S` in COMDAT groups) count if the function is there. The linker's own module tells how it was
//! called and which parts the image has.

use std::collections::HashMap;

use weld_common::diag::{DiagSink, Diagnostic};
use weld_common::{par, text};
use weld_pdb::linker_module::{LINKER_MODULE, Records};
use weld_pdb::paths::absolute;
use weld_pdb::{CoffGroup, Contribution, Fixup, Module};

use super::fixups::of_section;
use super::places::{contribution, output_section};
use crate::arch::with_rules;
use crate::coff::pe;
use crate::ids::{ImportId, ObjectId, SectionId};
use crate::options::Options;
use crate::pdb_path::{program, root};
use crate::sections::{self, Kind};
use crate::symbols::SyntheticSection;
use crate::synth::image::Image;

/// Objects of a run.
const RUN: usize = 16;

const PRODUCER: &str = concat!("weld ", env!("CARGO_PKG_VERSION"));

/// Alignment of the image's sections that the PDB tells, whatever it is.
const SECTION_ALIGNMENT: u32 = 4096;

/// An object, or something that the linker made.
struct Draft<'a> {
    name: String,
    file: String,
    /// Live `.debug$S` sections.
    sections: Vec<&'a [u8]>,
    ids: Vec<SectionId>,
    records: Records,
    contribution: Option<Contribution>,
}

pub struct Modules<'a> {
    list: Vec<Draft<'a>>,
    /// How many of them are objects.
    objects: usize,
    /// Of each import with a jump to it the module that has it.
    imports: HashMap<ImportId, u16>,
    /// What `.debug$F` sections have.
    fpo: Vec<u8>,
}

impl<'a> Modules<'a> {
    /// `pdb` is its path.
    pub fn of(image: &Image<'_, 'a>, pdb: &str, parallel: bool, sink: &DiagSink) -> Modules<'a> {
        let count = image.resolved.objects.len();
        let runs = par::runs("modules of objects", parallel, count, RUN, |run| {
            run.map(|i| object_module(image, i, sink)).collect::<Vec<_>>()
        });
        let (mut list, mut frames) = (Vec::with_capacity(count), Vec::new());
        for (module, own) in runs.into_iter().flatten() {
            list.push(module);
            frames.extend(own);
        }
        frames.sort_unstable();
        let mut modules = Modules { objects: count, list, imports: HashMap::new(), fpo: frames.concat() };
        modules.add_imports(image);
        modules.list.push(linker_module(image, pdb));
        modules
    }

    /// A module's section.
    pub fn section(&self, module: u32, section: u32) -> Option<SectionId> {
        self.list.get(module as usize)?.ids.get(section as usize).copied()
    }

    /// The linker's module.
    pub fn linker(&self) -> u16 {
        (self.list.len() - 1) as u16
    }

    /// The module with the jump to an import.
    pub fn of_import(&self, import: ImportId) -> u16 {
        self.imports.get(&import).copied().unwrap_or(self.linker())
    }

    pub fn fpo(&self) -> &[u8] {
        &self.fpo
    }

    /// The modules as the PDB has them.
    pub fn list(&self) -> Vec<Module<'_>> {
        let types = |i: usize| (i < self.objects).then_some(i as u32);
        let all = self.list.iter().enumerate();
        all.map(|(i, module)| Module { types: types(i), sections: &module.sections, ..module.told() })
            .collect()
    }

    /// The same, with nothing but names and places.
    pub fn stripped(&self) -> Vec<Module<'_>> {
        self.list.iter().map(|module| Module { records: &[], ..module.told() }).collect()
    }

    /// Two modules for each DLL: one by its name, one with the jumps to its functions.
    fn add_imports(&mut self, image: &Image<'_, 'a>) {
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for (id, section) in (0..).zip(&image.sections.list) {
            let id = SectionId(id);
            let Some(SyntheticSection::Thunk(import)) = image.made(section) else { continue };
            let Some(place) = contribution(image, id, 0).filter(|_| image.live.has(id)) else { continue };
            let file = &image.resolved.imports[import.index()];
            let at = *known.entry(file.import.dll.to_ascii_lowercase()).or_insert_with(|| {
                let dll = text::text(file.import.dll);
                let path = told_path(&file.name.path, image.options);
                self.list.push(Draft::new(dll.clone().into_owned(), path.clone()));
                let mut module = Draft::new(format!("Import:{dll}"), path);
                module.records.object_name(file.import.dll);
                module.records.compiler(image.resolved.machine.number(), PRODUCER);
                self.list.push(module);
                self.list.len() - 1
            });
            let module = &mut self.list[at];
            let size = section.size as u16;
            module.records.thunk(file.import.symbol, place.section, place.offset, size);
            module.contribution.get_or_insert(Contribution { module: at as u16, ..place });
            self.imports.insert(import, at as u16);
        }
    }
}

impl<'a> Draft<'a> {
    fn new(name: String, file: String) -> Draft<'a> {
        let records = Records::new();
        Draft { name, file, sections: Vec::new(), ids: Vec::new(), records, contribution: None }
    }

    fn told(&self) -> Module<'_> {
        let Draft { name, file, records, contribution, .. } = self;
        let (records, contribution) = (records.bytes(), *contribution);
        Module { name, file, records, contribution, ..Module::default() }
    }
}

/// A path as the PDB tells it.
fn told_path(path: &str, options: &Options) -> String {
    let bytes = text::bytes(path);
    text::text(&absolute(&bytes, root(options))).into_owned()
}

/// An entry of the list of frames, which begins with its address.
type Frame = [u8; 16];

fn object_module<'a>(image: &Image<'_, 'a>, number: usize, sink: &DiagSink) -> (Draft<'a>, Vec<Frame>) {
    let object = &image.resolved.objects[number];
    let id = ObjectId(number as u32);
    let file = told_path(&object.name.path, image.options);
    let name = object.name.member.map_or(file.clone(), |member| text::text(member).into_owned());
    let mut module = Draft::new(name, file);
    let mut frames = Vec::new();
    for (number, header) in (1..).zip(object.coff.sections) {
        let section_id = image.sections.id(id, number);
        let section = image.sections.get(section_id);
        if section.kind == Kind::CodeView && image.live.is_wanted(image.sections, id, object, number) {
            let contents = image.contents(section);
            match &header.name {
                b".debug$F" => frames.extend(relocated_frames(image, section_id, contents, sink)),
                _ => {
                    module.sections.push(contents);
                    module.ids.push(section_id);
                }
            }
        } else if module.contribution.is_none() && section.is_in_image() && image.live.has(section_id) {
            module.contribution = contribution(image, section_id, id.0 as u16);
        }
    }
    (module, frames)
}

/// The entries of a `.debug$F` section with their addresses.
fn relocated_frames(image: &Image, id: SectionId, contents: &[u8], sink: &DiagSink) -> Vec<Frame> {
    let mut fixups: Vec<Fixup> = Vec::new();
    let mut problems: Vec<Diagnostic> = Vec::new();
    with_rules!(image.resolved.machine, of_section(image, id, &mut fixups, &mut problems));
    problems.into_iter().for_each(|problem| sink.push(problem));
    let mut entries = contents.as_chunks::<16>().0.to_vec();
    let bytes = entries.as_flattened_mut();
    for fixup in fixups.iter().filter(|fixup| fixup.size == 4) {
        let place = bytes.get_mut(fixup.offset as usize..).and_then(|rest| rest.first_chunk_mut::<4>());
        if let Some(place) = place {
            *place = u32::from_le_bytes(*place).wrapping_add(fixup.value as u32).to_le_bytes();
        }
    }
    entries
}

/// How the linker was called, and the parts of the image.
fn linker_module<'a>(image: &Image, pdb: &str) -> Draft<'a> {
    let mut module = Draft::new(LINKER_MODULE.to_owned(), String::new());
    let records = &mut module.records;
    records.object_name(LINKER_MODULE.as_bytes());
    records.compiler(image.resolved.machine.number(), PRODUCER);
    let called = &image.options.invocation;
    let arguments = called.arguments.join(" ");
    let directory = text::text(root(image.options)).into_owned();
    let pairs = [
        ("cwd", directory.as_bytes()),
        ("exe", &program(image.options)),
        ("pdb", pdb.as_bytes()),
        ("cmd", arguments.as_bytes()),
    ];
    // An empty value would be the end of the list.
    let told: Vec<_> = pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    records.environment(&told);
    for (i, out) in image.layout.outs.iter().enumerate() {
        let number = i as u16 + 1;
        let groups = if image.options.pdb.without_groups { Vec::new() } else { groups(image, i, number) };
        records.section(number, &output_section(out), SECTION_ALIGNMENT, &groups);
    }
    module
}

/// What the parts of an output section hold. GNU compilers put each function into a part of its own, of which
/// debuggers learn nothing: their parts count as one.
fn groups<'i>(image: &'i Image, out: usize, number: u16) -> Vec<CoffGroup<'i>> {
    let mut groups: Vec<CoffGroup> = Vec::new();
    for members in image.layout.parts_of(image.sections, out) {
        let (first, last) = (SectionId(members[0]), SectionId(members[members.len() - 1]));
        let of = image.sections.get(first).part;
        let part = &image.sections.parts[of as usize];
        let (start, end) = image.bounds(of, first, last);
        let (offset, end) = (start - image.layout.outs[out].rva, end - image.layout.outs[out].rva);
        // Imports are written to while they are loaded.
        let more = if part.name.starts_with(b".idata") { pe::IMAGE_SCN_MEM_WRITE.0 } else { 0 };
        let characteristics = part.flags | more;
        let name = sections::group(&part.name).filter(|_| image.options.mingw.on).unwrap_or(&part.name);
        match groups.last_mut() {
            Some(before) if before.name == name && before.characteristics == characteristics => {
                before.size = end - before.offset;
            }
            _ => {
                groups.push(CoffGroup { name, section: number, offset, size: end - offset, characteristics })
            }
        }
    }
    groups
}
