//! Writing the image.
//!
//! The image is cut into units of about half a megabyte at the borders of input sections and chunks.
//! A worker fills one unit in a buffer that stays in its cache: copies, relocates, hashes for the
//! build id, and hands it to the output engine (`weld_common::io::units`). Units do not depend on the number
//! of threads, so neither does the build id.
//!
//! That every byte is written, and once, is proved while the linker is tested ([`check`]).

pub mod check;
mod code_order;
pub mod compress;
mod members;
mod parts;
pub mod rewrites;
mod room_filler;
pub mod separate;
pub mod text_formats;
pub mod units;

use std::ops::Range;

use weld_common::diag::Diagnostic;
use weld_common::io::output::{OutputError, OutputFile};
use weld_common::io::units::{Digest, Leaves, UnitSink};
use weld_common::trace;

use crate::elf::*;
use crate::ids::OutputSectionId;
use crate::layout::{Chunk, ChunkKind, FileOffset};
use crate::live::SectionOwners;
use crate::synth::build_id;
use crate::synth::contents::Contents;
use crate::synth::headers;
use crate::synth::image::Image;
use crate::synth::section::{At, Source};
use crate::synth::symtab;
use members::Members;
pub use members::{cuts, emit_section, tombstone};
pub use parts::DIRECT;
use rewrites::Rewrites;
use units::{Cutter, Unit};

#[derive(Clone, Copy)]
pub struct Emitter<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub contents: &'c Contents<'c>,
    pub owners: &'c SectionOwners,
    /// Instructions that options have changed.
    pub rewrites: Option<&'c Rewrites>,
    pub threads: usize,
    /// Hashes of all parts of the file are wanted.
    pub keeps_leaves: bool,
}

impl Emitter<'_, '_, '_> {
    /// Writes everything. Returns the hashes that are wanted.
    ///
    /// # Errors
    /// If the file cannot be written, or there are no random numbers for the build id.
    pub fn write(&self, file: &OutputFile) -> Result<Leaves, Diagnostic> {
        let image = self.image;
        let members = self.members();
        let cutter = Cutter {
            layout: image.layout,
            sections: image.sections,
            compressed: self.contents.compressed,
            slicing: &|kind| kind.ask(|section| section.cuts(&self.source())),
            cuts: &|section| members.cuts(section, self.threads > 1),
            last: image.sections.last_cuts.as_deref(),
            parallel: self.threads > 1,
        };
        let units = {
            let _stretch = trace::stretch("cut the image");
            cutter.image(self.contents.symtab)
        };
        let id = &image.options.notes.build_id;
        let mut sink = UnitSink::new(file, build_id::is_fast(id), self.build_id());
        if self.keeps_leaves {
            sink.keep_leaves();
        }
        sink.write(
            units.len(),
            self.threads,
            |i, sink| self.unit(&units[i], sink),
            |written| build_id::make(id, written),
        )
    }

    /// Where in the file the build id is.
    pub fn build_id(&self) -> Option<Range<u64>> {
        let layout = self.image.layout;
        let chunk = layout.chunk(ChunkKind::BuildId)?;
        let out = &layout[chunk.out];
        let range = build_id::id_range(&self.image.options.notes.build_id);
        let start = out.file_offset(chunk.address()).0;
        Some(start + range.start as u64..start + range.end as u64)
    }

    fn unit(&self, unit: &Unit, sink: &UnitSink) -> Result<Digest, OutputError> {
        let _stretch = trace::stretch(self.work(unit));
        match unit {
            Unit::Headers => sink.bytes(0, &self.contents.headers),
            Unit::SectionHeaders(range) => self.section_headers(range.clone(), sink),
            Unit::Hole { offset, size } => {
                sink.hole(offset.0, *size);
                Ok(None)
            }
            Unit::Gap { offset, size }
            | Unit::Sections { offset, size, .. }
            | Unit::Members { offset, size, .. }
            | Unit::Chunk { offset, size, .. } => self.region(unit, *offset, *size, sink),
            // Without relocations it needs no buffer.
            Unit::Part { part, offset } => match self.members().unchanged(part) {
                Some(bytes) => sink.bytes(offset.0, bytes),
                None => self.region(unit, *offset, part.size, sink),
            },
            Unit::Packed { section, part, offset } => {
                sink.bytes(offset.0, self.contents.compressed[*section].1.part(*part))
            }
            Unit::Symbols(slices) => self.symbols(slices.clone(), sink),
        }
    }

    /// Writes a unit that is filled in a buffer.
    fn region(
        &self,
        unit: &Unit,
        offset: FileOffset,
        size: u64,
        sink: &UnitSink,
    ) -> Result<Digest, OutputError> {
        sink.region(offset.0, size as usize, |bytes| {
            check::fill(self.image, offset, bytes, |image, bytes| {
                Emitter { image, ..*self }.fill(unit, bytes);
            });
        })
    }

    /// Fills `bytes` with a unit.
    fn fill(&self, unit: &Unit, bytes: &mut [u8]) {
        match unit {
            Unit::Gap { .. } => bytes.fill(0),
            Unit::Sections { sections, offset, .. } => self.sections(sections.clone(), *offset, bytes),
            Unit::Members { out, first, last, offset, .. } => {
                let write = |chunk: &Chunk, target: &mut [u8]| self.chunk(chunk, 0, target);
                self.members().fill(*out, *first..*last, *offset, bytes, &write);
            }
            Unit::Part { part, .. } => self.members().fill_part(part, bytes),
            Unit::Chunk { chunk, start, .. } => self.chunk(&self.image.layout.chunks[*chunk], *start, bytes),
            // What is somewhere already is not filled in.
            Unit::Headers
            | Unit::SectionHeaders(_)
            | Unit::Hole { .. }
            | Unit::Packed { .. }
            | Unit::Symbols(_) => {}
        }
    }

    /// Fills the bytes at `offset` of the file with whole output sections.
    fn sections(&self, range: Range<usize>, offset: FileOffset, bytes: &mut [u8]) {
        let members = self.members();
        let write = |chunk: &Chunk, target: &mut [u8]| self.chunk(chunk, 0, target);
        let mut done = 0;
        for id in range.map(|i| OutputSectionId(i as u32)) {
            let out = &self.image.layout[id];
            if out.is_nobits() || out.size == 0 {
                continue;
            }
            let start = (out.offset - offset) as usize;
            bytes[done..start].fill(0);
            done = start + out.size as usize;
            members.fill(id, 0..out.members.len(), out.offset, &mut bytes[start..done], &write);
        }
    }

    fn section_headers(&self, range: Range<usize>, sink: &UnitSink) -> Result<Digest, OutputError> {
        let layout = self.image.layout;
        let Some(start) = layout.section_headers else { return Ok(None) };
        let offset = start + range.start as u64 * layout.format.size::<Shdr>();
        sink.bytes(offset.0, &headers::section_headers(layout, self.contents.names, range))
    }

    fn members(&self) -> Members<'_, '_, '_> {
        Members {
            image: self.image,
            owners: self.owners,
            relocs: self.contents.relocs,
            rewrites: self.rewrites,
        }
    }

    fn source(&self) -> Source<'_> {
        Source { image: self.image, contents: self.contents, owners: self.owners }
    }

    /// What a unit is called in traces.
    fn work(&self, unit: &Unit) -> &'static str {
        match unit {
            Unit::Headers | Unit::SectionHeaders(_) | Unit::Gap { .. } | Unit::Hole { .. } => {
                "headers and gaps"
            }
            Unit::Sections { .. } | Unit::Members { .. } | Unit::Part { .. } => "copy and relocate sections",
            Unit::Packed { .. } => "compressed sections",
            Unit::Symbols { .. } => "symbol tables",
            Unit::Chunk { chunk, .. } => self.image.layout.chunks[*chunk].kind.ask(|section| section.work()),
        }
    }

    /// Writes the bytes of a chunk from `start` on, which is where it may be cut.
    fn chunk(&self, chunk: &Chunk, start: u64, out: &mut [u8]) {
        let at = At { source: self.source(), chunk, start };
        chunk.kind.ask(|section| section.write(&at, out));
    }

    /// Writes the symbols of a run of slices of objects, or (if that is empty) those of no object.
    fn symbols(&self, slices: Range<usize>, sink: &UnitSink) -> Result<Digest, OutputError> {
        let Some(symtab) = self.contents.symtab else { return Ok(None) };
        let writer = symtab::Writer { image: self.image, symtab };
        // The null symbol, those of sections and the empty string belong to the first run.
        let is_first = slices.start == 0 && (!slices.is_empty() || self.image.resolved.objects.is_empty());
        let (start, part) = if slices.is_empty() {
            (symtab::extra_start(symtab), writer.extra())
        } else {
            (symtab.starts[slices.start], writer.slices(slices))
        };
        let format = self.image.format();
        let part = part.in_form(format);
        let layout = self.image.layout;
        let [table, strings, indices] = [ChunkKind::SymTab, ChunkKind::StrTab, ChunkKind::SymTabShndx]
            .map(|kind| layout.chunk_offset(kind).0);
        let null = u64::from(is_first);
        let head = null * (1 + symtab.sections.len() as u64);
        let (locals, globals) = (start.locals as u64 - head, start.globals as u64);
        let mut parts: Vec<(u64, &[u8])> = vec![
            (table + locals * format.size::<Sym>(), &part.locals),
            (table + globals * format.size::<Sym>(), &part.globals),
            (strings + start.strings - null, &part.strings),
        ];
        if symtab.extended {
            parts.push((indices + locals * 4, &part.local_indices));
            parts.push((indices + globals * 4, &part.global_indices));
        }
        sink.parts(&parts)
    }
}
