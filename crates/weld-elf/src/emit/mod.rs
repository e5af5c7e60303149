//! Writing the image.
//!
//! The image is cut into units of about half a megabyte at the borders of input sections and chunks.
//! A worker fills one unit in a buffer that stays in its cache: copies, relocates, hashes for the
//! build id, and hands it to the output engine ([`sink`]). Units do not depend on the number of
//! threads, so neither does the build id.

pub mod compress;
pub mod headers;
mod members;
mod parts;
pub mod sink;
pub mod units;

use std::ops::Range;

use weld_common::diag::Diagnostic;
use weld_common::io::output::{OutputError, OutputFile};
use weld_common::trace;

use crate::arch::x86_64::plt;
use crate::compressed::CompressedSection;
use crate::elf::*;
use crate::image::Image;
use crate::layout::{Chunk, ChunkKind};
use crate::live::SectionOwners;
use crate::synth::dynamic;
use crate::synth::dynsym::DynSym;
use crate::synth::eh_frames::EhFrames;
use crate::synth::emitted_relocs::{self, EmittedRelocs};
use crate::synth::property_note::Properties;
use crate::synth::rela::{self, Dynamics};
use crate::synth::symtab::{self, SymTab};
use crate::synth::{build_id, got};
use members::Members;
pub use members::tombstone;
use sink::{Digest, UnitSink};
use units::{Cutter, Slicing, Unit};

/// The linker's own sections, ready to be written.
pub struct Contents<'c> {
    pub dynsym: Option<&'c DynSym>,
    pub dynamic: Vec<(u64, u64)>,
    pub dynamics: Dynamics,
    pub relr_words: Vec<u64>,
    pub eh_frames: &'c EhFrames,
    /// What `.eh_frame_hdr` says, in order; empty if there is none.
    pub frame_table: Vec<(u64, u64)>,
    pub relocs: Option<&'c EmittedRelocs>,
    pub symtab: Option<&'c SymTab>,
    pub shstrtab: Vec<u8>,
    pub properties: Option<&'c Properties>,
    /// Sections that were compressed, by their number in the layout.
    pub compressed: &'c [(usize, CompressedSection)],
    pub headers: Vec<u8>,
    pub section_headers: Vec<u8>,
}

pub struct Emitter<'c, 'i, 'a> {
    pub image: &'c Image<'i, 'a>,
    pub contents: &'c Contents<'c>,
    pub owners: &'c SectionOwners,
    pub threads: usize,
}

impl Emitter<'_, '_, '_> {
    /// Writes everything.
    ///
    /// # Errors
    /// If the file cannot be written, or there are no random numbers for the build id.
    pub fn write(&self, file: &OutputFile) -> Result<(), Diagnostic> {
        let image = self.image;
        let members = Members { image, owners: self.owners };
        let cutter = Cutter {
            layout: image.layout,
            sections: image.sections,
            compressed: self.contents.compressed,
            slicing: &|kind| self.slicing(kind),
            cuts: &|section| members.cuts(section, self.threads > 1),
            parallel: self.threads > 1,
        };
        let units = {
            let _stretch = trace::stretch("cut the image");
            cutter.image(self.contents.symtab)
        };
        let sink = UnitSink::new(file, &image.options.notes.build_id, self.build_id());
        sink.write(units.len(), self.threads, |i, sink| self.unit(&units[i], sink))
    }

    /// Where in the file the build id is.
    fn build_id(&self) -> Option<Range<u64>> {
        let layout = self.image.layout;
        let chunk = layout.chunk(ChunkKind::BuildId)?;
        let out = &layout.sections[chunk.out as usize];
        let range = build_id::id_range(&self.image.options.notes.build_id);
        let start = out.offset + (chunk.address - out.address);
        Some(start + range.start as u64..start + range.end as u64)
    }

    fn unit(&self, unit: &Unit, sink: &UnitSink) -> Result<Digest, OutputError> {
        let _stretch = trace::stretch(self.work(unit));
        match unit {
            Unit::Headers => sink.bytes(0, &self.contents.headers),
            Unit::SectionHeaders => {
                sink.bytes(self.image.layout.section_headers, &self.contents.section_headers)
            }
            Unit::Gap { offset, size } => sink.region(*offset, *size as usize, |out| out.fill(0)),
            Unit::Members { out, first, last, offset, size } => {
                sink.region(*offset, *size as usize, |bytes| {
                    let members = Members { image: self.image, owners: self.owners };
                    members.fill(*out, *first..*last, (*offset, bytes), &|chunk, target| {
                        self.chunk_part(chunk, 0, target);
                    });
                })
            }
            Unit::Part { part, offset } => {
                Members { image: self.image, owners: self.owners }.write_part(part, *offset, sink)
            }
            Unit::Chunk { chunk, start, offset, size } => sink.region(*offset, *size as usize, |bytes| {
                self.chunk_part(&self.image.layout.chunks[*chunk], *start, bytes);
            }),
            Unit::Packed { section, part, offset } => {
                sink.bytes(*offset, self.contents.compressed[*section].1.part(*part))
            }
            Unit::Symbols(slices) => self.symbols(slices.clone(), sink),
        }
    }

    /// What a unit is called in traces.
    fn work(&self, unit: &Unit) -> &'static str {
        match unit {
            Unit::Headers | Unit::SectionHeaders | Unit::Gap { .. } => "headers and gaps",
            Unit::Members { .. } | Unit::Part { .. } => "copy and relocate sections",
            Unit::Packed { .. } => "compressed sections",
            Unit::Symbols { .. } => "symbol tables",
            Unit::Chunk { chunk, .. } => match self.image.layout.chunks[*chunk].kind {
                ChunkKind::Merged(_) => "merged strings and constants",
                ChunkKind::EhFrame | ChunkKind::EhFrameHdr => ".eh_frame",
                ChunkKind::Relocs(_) => "emitted relocations",
                _ => "dynamic tables",
            },
        }
    }

    /// How a large chunk can be written in parts.
    fn slicing(&self, kind: ChunkKind) -> Slicing {
        match kind {
            ChunkKind::Merged(_)
            | ChunkKind::DynStr
            | ChunkKind::DynSym
            | ChunkKind::GnuHash
            | ChunkKind::VerSym
            | ChunkKind::RelaDyn
            | ChunkKind::RelaPlt
            | ChunkKind::Plt
            | ChunkKind::PltSec
            | ChunkKind::Got
            | ChunkKind::GotPlt => Slicing::ENTRIES,
            ChunkKind::EhFrame => Slicing::At(self.contents.eh_frames.borders().collect()),
            ChunkKind::EhFrameHdr => Slicing::At(
                crate::eh_frame::hdr_borders(self.image.layout.chunk(kind).map_or(0, |c| c.size)).collect(),
            ),
            ChunkKind::Relocs(list) => {
                Slicing::At(self.contents.relocs.map_or_else(Vec::new, |r| r.borders(list)))
            }
            _ => Slicing::Whole,
        }
    }

    /// Writes the bytes of a chunk from `start` on; not from 0 only where [`Self::slicing`] says so.
    fn chunk_part(&self, chunk: &Chunk, start: u64, out: &mut [u8]) {
        let image = self.image;
        let contents = self.contents;
        let from = start as usize;
        match (chunk.kind, contents.dynsym) {
            (ChunkKind::Merged(part), _) => image.merged[part as usize].merged.write(start, out),
            (ChunkKind::DynStr, Some(d)) => d.dynstr.write(&image.resolved.names, &d.symbols, from, out),
            (ChunkKind::GnuHash, Some(d)) => {
                d.gnu_hash.iter().for_each(|h| h.write(from, out));
            }
            (ChunkKind::DynSym, Some(d)) => dynamic::write_dynsym(image, d, from / Sym::SIZE, out),
            (ChunkKind::VerSym, Some(d)) => {
                for (version, bytes) in d.versym[from / 2..].iter().zip(out.chunks_exact_mut(2)) {
                    bytes.copy_from_slice(&version.to_le_bytes());
                }
            }
            (ChunkKind::RelaDyn, _) => contents.dynamics.write(from / Rela::SIZE, out),
            (ChunkKind::RelaPlt, _) => rela::write_plt(image, from / Rela::SIZE, out),
            (ChunkKind::Plt, _) => plt::write_plt(image, start, out),
            (ChunkKind::PltSec, _) => plt::write_plt_sec(image, start, out),
            (ChunkKind::Got, _) => got::write(image, from / 8, out),
            (ChunkKind::GotPlt, _) => {
                let dynamic = image.layout.chunk_address(ChunkKind::Dynamic);
                plt::write_got_plt(image, dynamic, start / 8, out);
            }
            (ChunkKind::EhFrame, _) => contents.eh_frames.write(image, chunk.address, start, out),
            (ChunkKind::EhFrameHdr, _) => self.eh_frame_hdr(chunk, start, out),
            (ChunkKind::Relocs(list), _) => {
                let writer = contents.relocs.map(|relocs| self.relocs_writer(relocs));
                writer.into_iter().for_each(|w| w.write(list, start, out));
            }
            _ => self.chunk(chunk, out),
        }
    }

    fn relocs_writer<'w>(&'w self, relocs: &'w EmittedRelocs) -> emitted_relocs::Writer<'w> {
        let eh_frames = self.contents.eh_frames;
        emitted_relocs::Writer { image: self.image, owners: self.owners, eh_frames, relocs }
    }

    fn chunk(&self, chunk: &Chunk, out: &mut [u8]) {
        let image = self.image;
        let contents = self.contents;
        let dynsym = contents.dynsym;
        match chunk.kind {
            ChunkKind::Interp => {
                let path = image.options.dynamic.dynamic_linker.as_deref().unwrap_or("");
                out[..path.len()].copy_from_slice(path.as_bytes());
                out[path.len()..].fill(0);
            }
            ChunkKind::Properties => contents.properties.into_iter().for_each(|p| p.write(out)),
            ChunkKind::BuildId => build_id::write(&image.options.notes.build_id, out),
            ChunkKind::PackageNote => {
                write_package_note(image.options.notes.package_metadata.as_deref().unwrap_or(""), out)
            }
            ChunkKind::SysvHash => {
                dynsym.and_then(|d| d.sysv_hash.as_ref()).into_iter().for_each(|h| h.write(out))
            }
            ChunkKind::VerDef => {
                dynsym
                    .and_then(|d| d.verdef.as_ref())
                    .into_iter()
                    .for_each(|v| out.copy_from_slice(&v.bytes));
            }
            ChunkKind::VerNeed => {
                dynsym
                    .and_then(|d| d.verneed.as_ref())
                    .into_iter()
                    .for_each(|v| out.copy_from_slice(&v.bytes));
            }
            ChunkKind::Relr => {
                // A word of 1 is an empty bitmap: what is left over packs nothing.
                let words = contents.relr_words.iter().copied().chain(std::iter::repeat(1));
                for (word, bytes) in words.zip(out.chunks_exact_mut(8)) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
            ChunkKind::Dynamic => dynamic::write(&contents.dynamic, out),
            ChunkKind::ShStrTab => out.copy_from_slice(&contents.shstrtab),
            // Symbol tables have units of their own; what may come in parts is written above.
            _ => out.fill(0),
        }
    }

    fn eh_frame_hdr(&self, chunk: &Chunk, start: u64, out: &mut [u8]) {
        let addresses = (chunk.address, self.image.layout.chunk_address(ChunkKind::EhFrame));
        if let Err(e) = crate::eh_frame::write_hdr(addresses, &self.contents.frame_table, start, out) {
            self.image.sink.error(format!(".eh_frame_hdr: {e}"));
        }
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
        let layout = self.image.layout;
        let table = layout.chunk_offset(ChunkKind::SymTab);
        let strings = layout.chunk_offset(ChunkKind::StrTab);
        let indices = layout.chunk_offset(ChunkKind::SymTabShndx);
        let null = u64::from(is_first);
        let head = null * (1 + u64::from(symtab.sections));
        let (locals, globals) = (start.locals as u64 - head, start.globals as u64);
        let mut parts: Vec<(u64, &[u8])> = vec![
            (table + locals * Sym::SIZE as u64, &part.locals),
            (table + globals * Sym::SIZE as u64, &part.globals),
            (strings + start.strings - null, &part.strings),
        ];
        if symtab.extended {
            parts.push((indices + locals * 4, &part.local_indices));
            parts.push((indices + globals * 4, &part.global_indices));
        }
        sink.parts(&parts)
    }
}

/// Size of the `.note.package` note for its JSON text.
pub fn package_note_size(text: &str) -> u64 {
    16 + crate::util::align_up(text.len() as u64 + 1, 4)
}

/// `.note.package`: owner "FDO", type 0xcafe1a7e, a JSON text (systemd "Package Metadata for ELF Files").
fn write_package_note(text: &str, out: &mut [u8]) {
    out.fill(0);
    out[..4].copy_from_slice(&4u32.to_le_bytes());
    out[4..8].copy_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out[8..12].copy_from_slice(&0xcafe_1a7eu32.to_le_bytes());
    out[12..16].copy_from_slice(b"FDO\0");
    out[16..16 + text.len()].copy_from_slice(text.as_bytes());
}
