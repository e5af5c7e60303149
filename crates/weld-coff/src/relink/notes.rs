//! What is noted of the image that a full link writes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use weld_common::hash::hash_bytes;
use weld_common::io::units::Leaves;
use weld_common::par;
use weld_pdb::resize::Known;

use super::block::Block;
use super::memo::{ImageNotes, OutNotes};
use super::names::NOBODY;
use super::shapes::YardNotes;
use super::{KnownImage, Session, against, moves, names, outline, shapes};
use crate::emit::{self, Emitter};
use crate::ids::{ObjectId, SymbolId};
use crate::layout::OutputSection;
use crate::layout::yards::{ToldYard, Yard};
use crate::synth::image::Image;

impl Session {
    /// What is known of the image and the PDB that this link writes.
    pub fn note_image(
        &self,
        emitter: &Emitter,
        leaves: Leaves,
        (pdb_leaves, modules): (Leaves, Vec<Known>),
        parallel: bool,
    ) {
        let image = emitter.image;
        let debug = emitter.debug_directory().map(|known| emitter.debug_range(&known));
        let facts = image.facts();
        let out = |out: &OutputSection| OutNotes {
            offset: out.offset.0,
            rva: out.rva.get(),
            filler: if out.is_code() { facts.gap } else { 0 },
        };
        let functions = if facts.function == 0 { None } else { emitter.extent(emit::FUNCTIONS) };
        let functions = functions.and_then(|(rva, size)| {
            let out = &image.layout.outs[image.layout.out_at(rva)?];
            let start = out.offset.0 + u64::from(rva - out.rva);
            Some(start..start + u64::from(size))
        });
        let relocs = image.layout.relocs.map(|out| {
            let out = &image.layout.outs[out];
            out.offset.0..out.offset.0 + out.virtual_size
        });
        let mut notes = ImageNotes {
            yards: yards(image),
            machine: image.resolved.machine.number(),
            time_at: emitter.id_range().start,
            debug: debug.unwrap_or_default(),
            base: image.base,
            outs: image.layout.outs.iter().map(out).collect(),
            functions: functions.unwrap_or_default(),
            relocs: relocs.unwrap_or_default(),
            exports: image.tables.exports.symbols().into_iter().map(number).collect(),
            entry: image.resolved.program.entry.map_or(NOBODY, number),
            overloads: overloads(image),
            against_sizes: against::against_sizes(image).to_owned(),
            is_edited: self.held.lock().unwrap().as_ref().is_some_and(|memo| memo.image.is_edited),
            leaves,
            pdb_leaves,
            ..ImageNotes::default()
        };
        let (mut blocks, mut names) = (HashMap::new(), Vec::new());
        let has_other_functions = AtomicBool::new(false);
        if self.keeps() {
            let objects = &image.resolved.objects;
            let all = par::runs("state of objects", parallel, objects.len(), 16, |run| {
                let block = |id: usize| {
                    let object = ObjectId(id as u32);
                    let (rows, is_all) = outline::rows(image, object);
                    if !outline::has_own_functions(image, object, &rows) {
                        has_other_functions.store(true, Ordering::Relaxed);
                    }
                    let is_plain = is_all && names::is_file(image, object);
                    let mut names: Vec<u32> = objects[id].globals().map(|name| name.0).collect();
                    names.sort_unstable();
                    names.dedup();
                    Block { rows, is_plain, order: object.0, names, ..Block::default() }
                };
                run.map(block).collect::<Vec<_>>()
            });
            let mut all: Vec<Block> = all.into_iter().flatten().collect();
            all.iter_mut().zip(modules).for_each(|(block, module)| block.module = module);
            shapes::use_yards(&mut notes.yards, all.iter().flat_map(|block| &block.rows));
            names = names::of(image, &all, parallel);
            for (object, block) in objects.iter().zip(all) {
                // What is linked twice has no place of its own.
                blocks
                    .entry(object.coff.data.as_ptr().addr())
                    .and_modify(|block: &mut Option<_>| *block = None)
                    .or_insert(Some(block));
            }
        }
        if has_other_functions.into_inner() && notes.against_sizes.is_empty() {
            notes.against_sizes = "a .pdata tells of functions of another object".to_owned();
        }
        let against = against::against_objects(image);
        *self.image.lock().unwrap() = Some(KnownImage { notes, blocks, names, against: against.to_owned() });
    }
}

fn number(id: SymbolId) -> u32 {
    if id.is_none() { NOBODY } else { id.0 }
}

/// Hashes of the plain names of what is exported, or is the entry point, that may be called so on the command line: which
/// function of C++ that is follows from all that there are.
fn overloads(image: &Image) -> Vec<u64> {
    let program = &image.resolved.program;
    let all = program.exports.iter().map(|export| export.symbol).chain(program.entry);
    let names = all.filter(|id| id.is_some()).map(|id| image.resolved.names.get(id).name);
    let mut hashes: Vec<u64> = names.filter_map(moves::plain_name).map(hash_bytes).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The yards of an image, as offsets in output sections.
fn yards(image: &Image) -> Vec<YardNotes> {
    let told = |yard: &Yard| {
        let part = &image.sections.parts[yard.part as usize];
        let out = image.layout.out_of(Some(yard.part), yard.start)?;
        let [first, start, end] =
            [yard.first, yard.start, yard.end].map(|rva| rva - image.layout.outs[out].rva);
        let told =
            ToldYard { name: part.name.clone(), flags: part.flags, out: out as u32, first, start, end };
        Some(YardNotes { told, used: Vec::new() })
    };
    image.layout.yards.iter().filter_map(told).collect()
}
