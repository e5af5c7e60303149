//! `--explore`: what the output is made of, and why, as a page for browsers.
//!
//! All is known once everything has its place: [`objects`] lists who brought what, [`pieces`] cuts the file so
//! that every byte is in one piece, [`references`] tells who refers to whom and what keeps it, [`libraries`] who
//! needs shared libraries, [`shares`] whose records tables of the linker have. The page itself
//! is `weld_explore`'s. Numbers of input sections are those of the page (*rows*): of the sections that lie in
//! the output, in the order in which they do, and of the parts that the linker makes.

mod libraries;
mod objects;
mod pieces;
mod references;
mod shares;

use std::collections::HashMap;

use weld_common::diag::Diagnostics;
use weld_common::{par, trace};
use weld_explore::drafts::{self, Spelling};
use weld_explore::model::{About, Format, InputSection, Kind, Model, OutputSection as Row, Ref, Savings};
use weld_explore::page;

use crate::elf::*;
use crate::ids::*;
use crate::job::{Context, Job};
use crate::layout::{Chunk, ChunkKind, OutputSection};
use crate::report::Made;
use crate::sections::SectionKind;
use crate::synth::image::Image;
use crate::wording::shown;
use weld_common::text;

use shares::Share;

/// Objects whose sections one task looks at.
const OBJECTS: usize = 16;

/// No row.
const NONE: u32 = u32::MAX;

/// Writes the page, if it is asked for.
///
/// # Errors
/// If it is to go to standard output, and that cannot be written to.
pub fn report(job: &Job, image: &Image, made: Made, context: &Context) -> Result<(), Diagnostics> {
    let Some(path) = &job.options.reports.explore else { return Ok(()) };
    let _span = job.phase("explore");
    let page = page::write(&model(job, image, made, context), context.parallel);
    job.report_bytes(path, page)
}

/// What the page shows.
fn model(job: &Job, image: &Image, made: Made, context: &Context) -> Model {
    let mut model = Model { about: about(image, context.parallel), ..Model::default() };
    for out in &image.layout.sections {
        let name = model.names.add(&text::text(&out.name));
        model.outputs.push(Row {
            name,
            kind: kind(out),
            address: out.address.get(),
            file_offset: out.offset.0,
            size: out.size,
        });
    }
    objects::add(&mut model, job, image, context);
    let numbering = trace::stretch("number sections");
    let rows = Rows::number(&mut model, image, made, context);
    drop(numbering);
    let drafts = pieces::all(image, context, &rows);
    let count = model.inputs.len();
    let spelling = Spelling { shown: &|name| shown(job.options, name), parallel: context.parallel };
    // Names get their numbers by one thread, references are sorted by one.
    let ((), references) = par::both(
        context.parallel,
        || drafts::add(&mut model, drafts, &|row| rows.name(row, image, context), spelling),
        || references::gather(count, image, context, &rows),
    );
    references::add(&mut model, references, image, context, &rows);
    model
}

fn about(image: &Image, parallel: bool) -> About {
    About {
        output: text::path(&image.options.output.path).into_owned(),
        file_size: image.layout.file_size,
        format: Format::Elf,
        machine: image.mode.facts().name.to_owned(),
        savings: savings(image, parallel),
    }
}

/// Bytes that are in the inputs and not in the output.
fn savings(image: &Image, parallel: bool) -> Savings {
    let objects = &image.resolved.objects;
    let sums = par::runs("what is saved", parallel, objects.len(), OBJECTS, |run| {
        let (mut comdat, mut merged) = (0, 0);
        for object in &objects[run] {
            for (shndx, shdr) in object.shdrs.iter().enumerate().skip(1) {
                let id = SectionId(object.section_base + shndx as u32);
                let sum = match image.sections.get(id).kind() {
                    SectionKind::Discarded => &mut comdat,
                    SectionKind::Merge if image.live.contains(id) => &mut merged,
                    _ => continue,
                };
                *sum += if shdr.sh_type() == SHT_NOBITS { 0 } else { shdr.sh_size() };
            }
        }
        [comdat, merged]
    });
    let [comdat, merged] = [0, 1].map(|which| sums.iter().map(|sums| sums[which]).sum::<u64>());
    let kept: u64 = image.merged.iter().map(|part| part.merged.size()).sum();
    let folded: u64 = image.live.folds.pairs.iter().map(|(folded, _)| image.sections.get(*folded).size).sum();
    Savings { comdat: Some(comdat), icf: Some(folded), merged_strings: Some(merged.saturating_sub(kept)) }
}

fn kind(out: &OutputSection) -> Kind {
    let is_debug =
        [&b".debug"[..], b".zdebug", b".gdb_index", b".stab"].iter().any(|p| out.name.starts_with(p));
    match out.is_alloc() {
        _ if out.is_nobits() => Kind::Zeroed,
        true if out.flags & SHF_EXECINSTR != 0 => Kind::Code,
        true if out.flags & SHF_WRITE != 0 => Kind::Data,
        true if out.own.is_some() => Kind::Table,
        true => Kind::ReadOnly,
        false if is_debug => Kind::Debug,
        false if out.own.is_some() => Kind::Table,
        false => Kind::Other,
    }
}

/// The rows of what lies in the output.
struct Rows {
    /// Input sections by row; of what the linker makes, [`NONE`].
    sections: Vec<SectionId>,
    /// By [`SectionId`]. Of sections that are merged or taken apart, it is the row of the part that they are in,
    /// of folded ones that of the section that stands for them.
    of_section: Vec<u32>,
    of_chunk: Vec<u32>,
    /// What of parts is for single objects, by part, with rows.
    shares: HashMap<ChunkId, Vec<(Share, u32)>>,
    /// Rows of symbols and names, which nothing refers to. Ascending.
    tables: Vec<u32>,
    /// Those of merged strings and constants. Ascending.
    merged: Vec<u32>,
}

impl Rows {
    fn number(model: &mut Model, image: &Image, made: Made, context: &Context) -> Rows {
        let (layout, sections) = (image.layout, image.sections);
        let (of_section, of_chunk) = (vec![NONE; sections.list.len()], vec![NONE; layout.chunks.len()]);
        let mut rows = Rows {
            sections: Vec::new(),
            of_section,
            of_chunk,
            shares: HashMap::new(),
            tables: Vec::new(),
            merged: Vec::new(),
        };
        let count = layout.with_ids().map(|(_, section)| section.members.len()).sum();
        rows.sections.reserve(count);
        model.inputs.reserve(count);
        for (out, section) in layout.with_ids() {
            for member in &section.members {
                let row = model.inputs.len() as u32;
                if let Some(id) = member.as_section() {
                    rows.of_section[id.index()] = row;
                    let index = context.owners.object(id).index();
                    rows.sections.resize(row as usize, SectionId(NONE));
                    rows.sections.push(id);
                    model.inputs.push(InputSection {
                        object: Ref::to(index),
                        output: out.0,
                        ..InputSection::default()
                    });
                } else if let Some(id) = member.as_chunk() {
                    rows.of_chunk[id.index()] = row;
                    let chunk = &layout.chunks[id.index()];
                    let name = model.names.add(&chunk_name(section, chunk));
                    let whole = InputSection { name, output: out.0, ..InputSection::default() };
                    model.inputs.push(whole);
                    let shares = shares::of(chunk, image, &made);
                    if !shares.is_empty() {
                        let shares = Rows::share(model, shares, whole);
                        if chunk.kind != ChunkKind::EhFrame {
                            rows.tables.extend(shares.iter().map(|(_, row)| *row));
                        }
                        rows.shares.insert(id, shares);
                    }
                }
            }
        }
        rows.see_through(image, context);
        rows.merged = image.merged.iter().map(|part| rows.of_chunk[part.chunk.index()]).collect();
        rows.merged.sort_unstable();
        rows.tables.sort_unstable();
        rows
    }

    /// Gives each object that has a share of a part a row, like `whole`, which is that of the part.
    fn share(model: &mut Model, shares: Vec<Share>, whole: InputSection) -> Vec<(Share, u32)> {
        let mut of_object: HashMap<ObjectId, u32> = HashMap::new();
        let mut row = |share: &Share| {
            *of_object.entry(share.object).or_insert_with(|| {
                model.inputs.push(InputSection { object: Ref::to(share.object.index()), ..whole });
                model.inputs.len() as u32 - 1
            })
        };
        shares.into_iter().map(|share| (share, row(&share))).collect()
    }

    /// Finds the rows of sections that have none of their own.
    fn see_through(&mut self, image: &Image, context: &Context) {
        let part = image.layout.chunk_with_id(ChunkKind::EhFrame).map(|(id, _)| id);
        let shares = part.and_then(|part| self.shares.get(&part)).map_or(&[][..], Vec::as_slice);
        let frames: HashMap<ObjectId, u32> = shares.iter().map(|(share, row)| (share.object, *row)).collect();
        for (number, section) in image.sections.list.iter().enumerate() {
            if !section.in_image() || !image.live.contains(SectionId(number as u32)) {
                continue;
            }
            match section.kind() {
                SectionKind::Merge => {
                    let part = image.merged.get(section.merged().0);
                    self.of_section[number] = part.map_or(NONE, |part| self.of_chunk[part.chunk.index()]);
                }
                SectionKind::EhFrame => {
                    let object = context.owners.object(SectionId(number as u32));
                    self.of_section[number] = frames.get(&object).copied().unwrap_or(NONE);
                }
                _ => {}
            }
        }
        for (folded, leader) in &image.live.folds.pairs {
            self.of_section[folded.index()] = self.of_section[leader.index()];
        }
    }

    /// What an input section is called; nothing of what the linker makes.
    fn name<'a>(&self, row: usize, image: &Image<'_, 'a>, context: &Context) -> &'a [u8] {
        let id = self.sections.get(row).filter(|id| id.0 != NONE);
        let name = id.and_then(|id| {
            let object = &image.resolved.objects[context.owners.object(*id).index()];
            object.section_name((id.0 - object.section_base) as usize)
        });
        name.unwrap_or_default()
    }

    fn is_merged(&self, row: usize) -> bool {
        self.merged.binary_search(&(row as u32)).is_ok()
    }

    fn is_table(&self, row: usize) -> bool {
        self.tables.binary_search(&(row as u32)).is_ok()
    }

    fn section(&self, id: SectionId) -> Option<u32> {
        self.of_section.get(id.index()).copied().filter(|row| *row != NONE)
    }
}

/// What a part that the linker makes is called.
fn chunk_name(out: &OutputSection, chunk: &Chunk) -> String {
    let name = text::text(&out.name);
    match chunk.kind {
        ChunkKind::Merged(_) => format!("{name} (merged)"),
        ChunkKind::Common(_) => "COMMON".to_owned(),
        ChunkKind::CopyBss | ChunkKind::CopyRelro => "copies of variables of shared objects".to_owned(),
        ChunkKind::Thunks(_) => "branches that reach further".to_owned(),
        ChunkKind::ScriptData(_) => "data of the linker script".to_owned(),
        _ => name.into_owned(),
    }
}
