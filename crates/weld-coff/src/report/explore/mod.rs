//! `/explore`: what the image is made of, and why, as a page for browsers.
//!
//! The page is `weld_explore`'s; here is told what lies where, who brought it, and who refers to whom. *Rows* are
//! the numbers that the page has for sections: those of the image, in its order. Symbols of COFF have no sizes: one
//! goes on to the next, or to the end of its section. What debuggers read is in the PDB, a file of its own, which
//! the page does not show; DWARF lies in the image and does.

mod imports;

use std::path::Path;

use weld_common::{par, text};
use weld_explore::cover::{Claim, cover, give_sizes};
use weld_explore::drafts::{self, Draft, Spelling};
use weld_explore::graph::{References, unreached};
use weld_explore::model::{
    About, Archives, Format, Graph, InputSection, Kind as Holds, Model, Object as Row,
    OutputSection as OutRow, Piece, Ref, Role, Root, Savings,
};
use weld_explore::page;

use crate::coff::pe;
use crate::demangle::demangle;
use crate::ids::{ObjectId, SectionId};
use crate::input::object::Object;
use crate::layout::OutputSection;
use crate::sections::{Kind, Section};
use crate::symbol_names::flag;
use crate::symbols::Kind as SymbolKind;
use crate::synth::image::Image;
use imports::Imports;

/// No row.
const NONE: u32 = u32::MAX;

/// Objects, and sections, that one task looks at.
const OBJECTS: usize = 16;
const RUN: usize = 1024;

/// The page of the image `out`, which has `file_size` bytes.
pub fn page(image: &Image, out: &Path, file_size: u64, parallel: bool) -> Vec<u8> {
    let model = model(image, about(image, out, file_size), parallel);
    page::write(&model, parallel)
}

/// What the page shows.
fn model(image: &Image, about: About, parallel: bool) -> Model {
    let mut model = Model { about, ..Model::default() };
    for out in &image.layout.outs {
        let name = model.names.add(&text::text(&out.name));
        model.outputs.push(OutRow {
            name,
            kind: holds(out),
            address: out.rva.in_memory(image.base),
            file_offset: out.offset.0,
            size: out.virtual_size,
        });
    }
    add_objects(&mut model, image);
    let rows = number(&mut model, image);
    let drafts =
        Cutter { image, rows: &rows, symbols: symbols(image, parallel), parallel }.file(&model.about);
    let machine = image.resolved.machine;
    let demangles = image.options.demangle;
    let spelling = Spelling {
        shown: &|name| if demangles { demangle(name, Some(machine)) } else { text::text(name) },
        parallel,
    };
    drafts::add(&mut model, vec![drafts], &|_| &[], spelling);
    add_graph(&mut model, image, &rows, parallel);
    model
}

fn about(image: &Image, out: &Path, file_size: u64) -> About {
    let discarded =
        image.sections.list.iter().filter(|section| section.kind == Kind::Discarded && !section.is_bss());
    let folded = image.sections.list.iter().filter(|section| section.kind == Kind::Folded);
    let sum = |sections: &mut dyn Iterator<Item = &Section>| {
        Some(sections.map(|section| u64::from(section.size)).sum())
    };
    About {
        output: text::path(out).into_owned(),
        file_size,
        format: Format::Pe,
        machine: image.resolved.machine.name().to_owned(),
        savings: Savings {
            comdat: sum(&mut discarded.into_iter()),
            icf: sum(&mut folded.into_iter()),
            merged_strings: None,
        },
    }
}

fn holds(out: &OutputSection) -> Holds {
    let has = |flag: pe::SectionFlags| out.flags & flag.0 != 0;
    match &out.name[..] {
        b".reloc" | b".pdata" | b".xdata" | b".idata" | b".edata" | b".didat" => Holds::Table,
        name if name.starts_with(b".debug") => Holds::Debug,
        _ if out.is_code() => Holds::Code,
        _ if has(pe::IMAGE_SCN_CNT_UNINITIALIZED_DATA) => Holds::Zeroed,
        _ if has(pe::IMAGE_SCN_MEM_WRITE) => Holds::Data,
        _ => Holds::ReadOnly,
    }
}

/// A row for each object, in the order of [`ObjectId`].
fn add_objects(model: &mut Model, image: &Image) {
    let mut archives = Archives::default();
    for object in &image.resolved.objects {
        let path = &*object.name.path;
        let (archive, name) = match object.name.member {
            None => (Ref::NONE, model.names.add(path)),
            Some(member) => (model.archive(&mut archives, path), model.names.add(&text::text(member))),
        };
        model.objects.push(Row { name, archive, ..Row::default() });
    }
}

/// A row for each section of the image. Returns the row of each [`SectionId`].
fn number(model: &mut Model, image: &Image) -> Vec<u32> {
    let mut rows = vec![NONE; image.sections.list.len()];
    for (out, section) in image.layout.outs.iter().enumerate() {
        for &id in &image.layout.order[section.members.clone()] {
            let section = image.sections.get(SectionId(id));
            let object = if section.object.is_some() { Ref::to(section.object.index()) } else { Ref::NONE };
            let name = model.names.add(&text::text(&image.sections.parts[section.part as usize].name));
            rows[id as usize] = model.inputs.len() as u32;
            model.inputs.push(InputSection { name, object, output: out as u32, ..InputSection::default() });
        }
    }
    rows
}

/// A symbol: its section in its object, offset, and name.
type Label<'a> = (u32, u32, &'a [u8]);

/// The symbols of each object, sorted.
fn symbols<'a>(image: &Image<'_, 'a>, parallel: bool) -> Vec<Vec<Label<'a>>> {
    let objects = &image.resolved.objects;
    let runs = par::runs("symbols of the page", parallel, objects.len(), OBJECTS, |run| {
        run.map(|index| symbols_of(&objects[index])).collect::<Vec<_>>()
    });
    runs.into_iter().flatten().collect()
}

fn symbols_of<'a>(object: &Object<'a>) -> Vec<Label<'a>> {
    let coff = &object.coff;
    let of = |(index, symbol): (u32, crate::coff::object::Symbol<'a>)| {
        let is_section = symbol.section <= 0 || coff.symbols.section_definition(index, &symbol).is_some();
        let name = coff.symbol_name(&symbol).ok().filter(|_| !is_section)?;
        // Labels inside of functions, and marks for linkers.
        let is_meant = !name.starts_with(b"$") && !name.starts_with(b".");
        is_meant.then_some((symbol.section as u32, symbol.value, name))
    };
    let mut list: Vec<Label> = coff.symbols.iter().filter_map(of).collect();
    list.sort_unstable();
    // Of several names for one place the first counts.
    list.dedup_by_key(|(section, value, _)| (*section, *value));
    list
}

/// What a range of the file is.
#[derive(Clone, Copy)]
enum Whole {
    Headers,
    Section(usize),
}

struct Cutter<'c, 'i, 'a> {
    image: &'c Image<'i, 'a>,
    rows: &'c [u32],
    symbols: Vec<Vec<Label<'a>>>,
    parallel: bool,
}

impl<'a> Cutter<'_, '_, 'a> {
    /// All pieces, in the order of the file; then those that take memory only. What comes behind the sections is
    /// the symbol table.
    fn file(&self, about: &About) -> Vec<Draft<'a>> {
        let layout = self.image.layout;
        let mut claims = vec![Claim { offset: 0, size: layout.headers_size, what: Whole::Headers }];
        claims.extend(layout.outs.iter().enumerate().map(|(index, out)| Claim {
            offset: out.offset.0,
            size: out.raw_size,
            what: Whole::Section(index),
        }));
        let mut drafts = Vec::new();
        for (size, what) in cover(layout.file_size, claims) {
            match what {
                Some(Whole::Section(index)) => drafts.extend(self.section(index, size)),
                Some(Whole::Headers) => drafts.push(Draft::plain(Role::Header, size)),
                None => drafts.push(Draft::plain(Role::Padding, size)),
            }
        }
        if let Some(table) = about.file_size.checked_sub(layout.file_size).filter(|table| *table > 0) {
            drafts.push(Draft::plain(Role::Table, table));
        }
        for (index, _) in layout.outs.iter().enumerate().filter(|(_, out)| out.raw_size == 0) {
            drafts.extend(self.section(index, 0));
        }
        drafts
    }

    /// The pieces of an output section, which has `in_file` bytes of the file.
    fn section(&self, index: usize, in_file: u64) -> Vec<Draft<'a>> {
        let (layout, sections) = (self.image.layout, self.image.sections);
        let out = &layout.outs[index];
        let total = out.virtual_size.max(in_file);
        let is_relocs = layout.relocs == Some(index);
        let claims = layout.order[out.members.clone()].iter().map(|&id| Claim {
            offset: u64::from(layout.rva(SectionId(id)) - out.rva),
            size: u64::from(sections.get(SectionId(id)).size),
            what: id,
        });
        let claims: Vec<Claim<u32>> = if is_relocs { Vec::new() } else { claims.collect() };
        let ranges = cover(total, claims);
        let runs = par::runs("cut up sections", self.parallel, ranges.len(), RUN, |run| {
            let mut drafts = Vec::new();
            for (size, id) in &ranges[run] {
                let role = if is_relocs { Role::Table } else { Role::Padding };
                match id {
                    Some(id) => self.input(SectionId(*id), *size, &mut drafts),
                    None => drafts.push(Draft::plain(role, *size)),
                }
            }
            drafts
        });
        let mut drafts: Vec<Draft> = runs.into_iter().flatten().collect();
        drafts::divide(&mut drafts, in_file, out.virtual_size);
        drafts.iter_mut().for_each(|draft| draft.piece.output = Ref::to(index));
        drafts
    }

    /// A section, cut at its symbols.
    fn input(&self, id: SectionId, size: u64, drafts: &mut Vec<Draft<'a>>) {
        let section = self.image.sections.get(id);
        let row = self.rows[id.index()];
        let input = if row == NONE { Ref::NONE } else { Ref::to(row as usize) };
        if section.object.is_none() {
            let piece = Piece { input, role: Role::Table, size, ..Piece::default() };
            return drafts.push(Draft { piece, symbol: &[] });
        }
        let symbols = &self.symbols[section.object.index()];
        let first = symbols.partition_point(|symbol| symbol.0 < section.number);
        let symbols = &symbols[first..];
        let own = &symbols[..symbols.partition_point(|symbol| symbol.0 == section.number)];
        let claim = |(_, start, name): &Label<'a>| Claim { offset: u64::from(*start), size: 0, what: *name };
        let mut claims: Vec<Claim<&[u8]>> = own.iter().map(claim).collect();
        give_sizes(&mut claims, size);
        for (size, symbol) in cover(size, claims) {
            let piece = Piece { input, size, ..Piece::default() };
            drafts.push(Draft { piece, symbol: symbol.unwrap_or_default() });
        }
    }
}

/// Who refers to whom, and what keeps sections whoever refers to them: all but COMDAT sections stay, and those of
/// symbols that are kept.
fn add_graph(model: &mut Model, image: &Image, rows: &[u32], parallel: bool) {
    let objects = image.resolved.objects.len();
    let imports = Imports::collect(model, image);
    let found = par::runs("references", parallel, objects, OBJECTS, |run| {
        let mut found = Found::default();
        run.for_each(|index| add_references(image, &imports, rows, ObjectId(index as u32), &mut found));
        found.to_sections.sort_unstable();
        found.to_sections.dedup();
        found
    });
    let (to_sections, to_imports): (Vec<_>, Vec<_>) =
        found.into_iter().map(|found| (found.to_sections, found.to_imports)).unzip();
    let references = References::new(model.inputs.len(), to_sections);
    imports.add(model, image, to_imports.concat());
    let mut roots = roots(model, image, rows);
    if !image.options.gc() {
        let reason = model.names.add("/opt:noref: all sections stay");
        roots.extend(unreached(&references, &roots, reason));
    }
    model.graph = Some(Graph::new(references, roots));
}

/// References by the rows of sections that have them.
#[derive(Default)]
struct Found {
    to_sections: Vec<(u32, u32)>,
    /// By number of the import.
    to_imports: Vec<(u32, u32)>,
}

fn add_references(image: &Image, imports: &Imports, rows: &[u32], id: ObjectId, found: &mut Found) {
    let known = |section: SectionId| rows.get(section.index()).copied().filter(|row| *row != NONE);
    for number in 1..=image.object(id).coff.sections.len() as u32 {
        let from = image.sections.id(id, number);
        let section = image.sections.get(from);
        let Some(row) = known(from).filter(|_| section.kind == Kind::Regular) else { continue };
        for relocation in image.relocations(section) {
            let target = image.target(id, relocation);
            if target.kind == SymbolKind::Section {
                found.to_sections.extend(known(SectionId(target.target)).map(|to| (row, to)));
            }
            found.to_imports.extend(imports.number_of(image, id, target).map(|import| (import, row)));
        }
        let mut child = section.first_child;
        while child.is_some() {
            found.to_sections.extend(known(child).map(|to| (row, to)));
            child = image.sections.get(child).next_sibling;
        }
    }
}

fn roots(model: &mut Model, image: &Image, rows: &[u32]) -> Vec<Root> {
    let (names, symbols) = (&image.resolved.names, image.symbols);
    let mut found = vec![Root::default(); model.inputs.len()];
    let [entry_point, wanted] = ["entry", "exported or asked for:"].map(|reason| model.names.add(reason));
    for (id, entry) in names.iter().filter(|(_, entry)| entry.flags & flag::ROOT != 0) {
        let symbol = symbols.get(id);
        if symbol.kind != SymbolKind::Section {
            continue;
        }
        let row = rows.get(symbol.target as usize).copied().filter(|row| *row != NONE);
        let Some(root) = row.and_then(|row| found.get_mut(row as usize)) else { continue };
        let is_entry = image.resolved.program.entry == Some(id);
        if root.reason.is_none() || is_entry {
            root.reason = if is_entry { entry_point } else { wanted };
            root.symbol = model.names.add(&image.options.shown(entry.name));
        }
    }
    let [plain, made] =
        ["no COMDAT section: always stays", "made by the linker"].map(|reason| model.names.add(reason));
    for (id, row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
        let section = &image.sections.list[id];
        let reason = &mut found[*row as usize].reason;
        if reason.is_none() && section.object.is_none() {
            *reason = made;
        } else if reason.is_none() && !section.comdat {
            *reason = plain;
        }
    }
    let roots = (0..).zip(found).map(|(section, root)| Root { section, ..root });
    roots.filter(|root| !root.reason.is_none()).collect()
}
