//! `--compress-debug-sections` and `--compress-sections`: sections outside memory, compressed.
//!
//! Their contents are complete once everything in memory has its address, and their sizes move only
//! what lies after them in the file. So they are written before the rest, into buffers: cut into
//! units as for the file, each filled (strings merged, relocations applied) and compressed while it is in
//! the cache, by whichever thread comes to it. What stays in memory are the compressed bytes and one
//! unit for each thread. The few units that are very large, since one input section is, come one after the
//! other, and all threads share in compressing each.
//!
//! The units and so the bytes depend on the inputs only. A section that would not shrink stays as it is.
//!
//! Specification: gABI, "Section Compression".

use std::sync::atomic::{AtomicUsize, Ordering};
use weld_common::diag::Cause;

use weld_common::glob::Glob;
use weld_common::trace;

use super::members::Members;
use super::units::{Cutter, Unit};
use crate::compressed::{Algorithm, CHUNK_SIZE, Chunk, CompressedError, CompressedSection, Compressor};
use crate::ids::OutputSectionId;
use crate::job::Context;
use crate::layout::{self, ChunkKind, FileOffset, OutputSection};
use crate::options::{Compression, Options, OutputKind};
use crate::synth::image::Image;
use crate::synth::script_data;
use crate::synth::section::Cuts;

/// Units above this size, in bytes, are filled one at a time.
const LARGE: u64 = 8 << 20;

/// Whether any section might have to be compressed.
pub fn is_wanted(options: &Options) -> bool {
    let asked = options.sections.compress_debug.is_some()
        || options.sections.compress_sections.iter().any(|c| c.1.is_some());
    asked && options.kind != OutputKind::Relocatable
}

/// A part of a section.
struct Piece {
    /// Index of the section in `Job::wanted`.
    wanted: usize,
    unit: Unit,
    size: u64,
    /// No other follows in the section.
    last: bool,
}

/// A section to compress, by its number in the layout.
struct Wanted {
    section: OutputSectionId,
    how: Compression,
}

struct Job<'c, 'i, 'a> {
    members: Members<'c, 'i, 'a>,
    wanted: Vec<Wanted>,
    pieces: Vec<Piece>,
    threads: usize,
}

/// Compresses the sections that options name. Returns those that shrank, by their ids.
///
/// # Errors
/// If the compression library fails.
pub fn run(
    image: &Image,
    context: &Context,
) -> Result<Vec<(OutputSectionId, CompressedSection)>, CompressedError> {
    let mut job = Job {
        members: Members { image, owners: context.owners, relocs: None, rewrites: None },
        wanted: Vec::new(),
        pieces: Vec::new(),
        threads: context.threads,
    };
    for (section, out) in image.layout.with_ids() {
        match compression(image, out) {
            Some(_) if out.is_alloc() => {
                let name = String::from_utf8_lossy(&out.name);
                image.sink.error(
                    Cause::OptionWithoutEffect,
                    format!("--compress-sections: {name} is in memory and cannot be compressed"),
                );
            }
            Some(how) => job.cut(Wanted { section, how }),
            None => {}
        }
    }
    job.run()
}

/// How a section is to be compressed. The linker's tables stay as they are: tools expect them so.
fn compression(image: &Image, out: &OutputSection) -> Option<Compression> {
    let options = image.options;
    let can = |chunk: &layout::Chunk| matches!(chunk.kind, ChunkKind::Merged(_) | ChunkKind::ScriptData(_));
    let plain = |m: &layout::Member| m.as_chunk().is_none_or(|c| can(&image.layout.chunks[c.index()]));
    if out.is_nobits() || out.size == 0 || !out.members.iter().all(plain) {
        return None;
    }
    let matches = |glob: &str| Glob::new(glob.as_bytes()).is_ok_and(|g| g.matches(&out.name));
    let named = options.sections.compress_sections.iter().rev().find(|(glob, _)| matches(glob));
    let mut how = match named {
        Some((_, how)) => *how,
        None => {
            options.sections.compress_debug.filter(|_| !out.is_alloc() && out.name.starts_with(b".debug_"))
        }
    }?;
    if how.algorithm == Algorithm::Zlib && options.sections.optimize >= 2 {
        how.level = how.level.or(Some(6));
    }
    Some(how)
}

impl Job<'_, '_, '_> {
    fn cut(&mut self, wanted: Wanted) {
        let image = self.members.image;
        let cutter = Cutter {
            layout: image.layout,
            sections: image.sections,
            compressed: &[],
            slicing: &|_| Cuts::Every(CHUNK_SIZE as u64),
            cuts: &|section| self.members.cuts(section, self.threads > 1),
            last: None,
            parallel: self.threads > 1,
        };
        let out = &image.layout[wanted.section];
        let mut units = Vec::new();
        cutter.section(wanted.section, &mut units);
        let size = |unit: &Unit| match unit {
            Unit::Members { size, .. } | Unit::Chunk { size, .. } => *size,
            Unit::Part { part, .. } => part.size,
            _ => 0,
        };
        let known = units.iter().map(size).sum::<u64>();
        // Room after the last member is filled with it.
        if let Some(Unit::Members { offset, size, .. }) = units.last_mut()
            && *offset + *size == out.offset + known
            && out.size - known <= CHUNK_SIZE as u64
        {
            *size += out.size - known;
        }
        // A section with a hole of many zeroes is better off with that.
        if units.iter().map(size).sum::<u64>() != out.size {
            return;
        }
        let (count, number) = (units.len(), self.wanted.len());
        self.pieces.extend(units.into_iter().enumerate().map(|(i, unit)| Piece {
            wanted: number,
            size: size(&unit),
            unit,
            last: i + 1 == count,
        }));
        self.wanted.push(wanted);
    }

    fn run(self) -> Result<Vec<(OutputSectionId, CompressedSection)>, CompressedError> {
        let mut chunks: Vec<(usize, Vec<Chunk>)> = Vec::new();
        let (large, small): (Vec<usize>, Vec<usize>) =
            (0..self.pieces.len()).partition(|&i| self.pieces[i].size > LARGE);
        chunks.extend(self.each(small.len(), |compressors, buffer, i| {
            let piece = &self.pieces[small[i]];
            buffer.resize(piece.size as usize, 0);
            self.fill(piece, buffer);
            let list = self
                .in_chunks(piece, buffer)
                .map(|(data, last)| compressors.get(self.wanted[piece.wanted].how)?.chunk(data, last));
            Ok((small[i], list.collect::<Result<_, _>>()?))
        })?);
        for index in large {
            let piece = &self.pieces[index];
            let mut bytes = vec![0; piece.size as usize];
            self.fill(piece, &mut bytes);
            let parts: Vec<(&[u8], bool)> = self.in_chunks(piece, &bytes).collect();
            let mut list = self.each(parts.len(), |compressors, _, i| {
                let (data, last) = parts[i];
                Ok((i, compressors.get(self.wanted[piece.wanted].how)?.chunk(data, last)?))
            })?;
            list.sort_unstable_by_key(|(i, _)| *i);
            chunks.push((index, list.into_iter().map(|(_, chunk)| chunk).collect()));
        }
        chunks.sort_unstable_by_key(|(i, _)| *i);
        Ok(self.join(chunks))
    }

    /// Does `count` tasks on all threads. The results are in no order.
    fn each<R: Send>(
        &self,
        count: usize,
        task: impl Fn(&mut Compressors, &mut Vec<u8>, usize) -> Result<R, CompressedError> + Sync,
    ) -> Result<Vec<R>, CompressedError> {
        let region = trace::region("compress");
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut compressors, mut buffer, mut results) = (Compressors::default(), Vec::new(), Vec::new());
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return Ok(results);
                }
                let _task = region.task();
                results.push(task(&mut compressors, &mut buffer, i)?);
            }
        };
        let lists = match self.threads > 1 && count > 1 {
            true => rayon::broadcast(|_| work()),
            false => vec![work()],
        };
        let lists: Vec<Vec<R>> = lists.into_iter().collect::<Result<_, _>>()?;
        Ok(lists.into_iter().flatten().collect())
    }

    /// Fills `bytes` with a piece's contents.
    fn fill(&self, piece: &Piece, bytes: &mut [u8]) {
        let offset = match &piece.unit {
            Unit::Members { offset, .. } | Unit::Part { offset, .. } | Unit::Chunk { offset, .. } => *offset,
            _ => FileOffset::START,
        };
        super::check::fill(self.members.image, offset, bytes, |image, bytes| {
            fill_unit(&Members { image, ..self.members }, &piece.unit, bytes);
        });
    }

    /// What a piece is compressed in, and whether that ends the section.
    fn in_chunks<'b>(&self, piece: &Piece, bytes: &'b [u8]) -> impl Iterator<Item = (&'b [u8], bool)> {
        let (count, last) = (bytes.len().div_ceil(CHUNK_SIZE), piece.last);
        bytes.chunks(CHUNK_SIZE).enumerate().map(move |(i, data)| (data, last && i + 1 == count))
    }

    /// Puts sections together from the chunks of their pieces, which are in order.
    fn join(&self, chunks: Vec<(usize, Vec<Chunk>)>) -> Vec<(OutputSectionId, CompressedSection)> {
        let mut lists: Vec<Vec<Chunk>> = self.wanted.iter().map(|_| Vec::new()).collect();
        for (piece, mut list) in chunks {
            lists[self.pieces[piece].wanted].append(&mut list);
        }
        let format = self.members.image.format();
        let sections = self.wanted.iter().zip(lists).filter_map(|(wanted, chunks)| {
            let out = &self.members.image.layout[wanted.section];
            let compressed = CompressedSection::new(format, wanted.how.algorithm, out.align, chunks);
            (compressed.size() < out.size).then_some((wanted.section, compressed))
        });
        sections.collect()
    }
}

fn fill_unit(members: &Members, unit: &Unit, bytes: &mut [u8]) {
    let image = members.image;
    let own = |chunk: &layout::Chunk, start: u64, out: &mut [u8]| match chunk.kind {
        ChunkKind::Merged(part) => image.merged[part as usize].merged.write(start, out),
        ChunkKind::ScriptData(number) => script_data::write(image.layout, number, out),
        _ => {}
    };
    match unit {
        Unit::Members { out, first, last, offset, .. } => {
            members.fill(*out, *first..*last, *offset, bytes, &|chunk, out| own(chunk, 0, out));
        }
        Unit::Part { part, .. } => members.fill_part(part, bytes),
        Unit::Chunk { chunk, start, .. } => own(&image.layout.chunks[*chunk], *start, bytes),
        _ => {}
    }
}

/// A thread's compressors, one for each way of compressing.
#[derive(Default)]
struct Compressors(Vec<(Compression, Compressor)>);

impl Compressors {
    fn get(&mut self, how: Compression) -> Result<&mut Compressor, CompressedError> {
        let known = self.0.iter().position(|(other, _)| *other == how);
        let index = match known {
            Some(index) => index,
            None => {
                self.0.push((how, Compressor::new(how.algorithm, how.level)?));
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[index].1)
    }
}
