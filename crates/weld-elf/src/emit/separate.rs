//! `--separate-debug-file`: the image in two files, one that runs and one for debuggers.
//!
//! The image is written as a whole first, into a temporary file; from that two files are made. The one that
//! runs has everything but debug sections and the symbol table, and in `.gnu_debuglink` the other's name and
//! checksum, by which debuggers find it. The other has all sections under the same numbers, so that symbols
//! say the same, but only notes and what is not in memory have contents: that is what `objcopy
//! --only-keep-debug` makes. Both have the same build id. They take their places together, when they are
//! complete.
//!
//! Source: GDB manual, "Debugging Information in Separate Files".

use std::path::Path;

use flate2::Crc;
use weld_common::diag::{Diagnostic, Diagnostics};
use weld_common::io::output::{OutputError, OutputFile, OutputOptions};

use crate::elf::*;
use crate::ids::*;
use crate::job::Job;
use crate::layout::{ChunkKind, FileOffset, Layout, OutputSection, Segment};
use crate::synth::contents::Contents;
use crate::synth::headers;
use crate::synth::shstrtab::Names;

/// What is copied in one go.
const PIECE: usize = 1 << 20;
/// What lies between sections.
static ZEROES: [u8; 1 << 16] = [0; 1 << 16];
/// Contents in the second file are aligned to no more than this.
const MAX_ALIGN: u64 = 4096;

/// What becomes of a section in one of the files.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// It keeps its place in the file.
    Stays,
    /// It lies after what is before it.
    Follows,
    /// It has a header and no contents.
    Hollow,
    Gone,
}

/// The image as a whole, to be taken apart.
pub struct Whole<'c, 'h> {
    pub file: &'c OutputFile<'h>,
    pub layout: &'c Layout<'c>,
    pub contents: &'c Contents<'c>,
}

/// One of the two files.
struct Part<'a> {
    layout: Layout<'a>,
    names: Names,
    /// The section of the image that each section is.
    of: Vec<usize>,
}

impl<'c, 'h> Whole<'c, 'h> {
    /// Writes the file that runs, for `output`, and the one for debuggers, for `debug`.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn split(
        &self,
        job: &Job<'h>,
        debug: &Path,
        threads: usize,
    ) -> Result<(OutputFile<'h>, OutputFile<'h>), Diagnostics> {
        let failed = |e: OutputError| Diagnostics::from(Diagnostic::from(e));
        let output = &job.options.output;
        let options =
            OutputOptions { engine: output.engine, executable: true, threads, ..Default::default() };
        let second = self.part(|out| {
            let in_memory = out.is_alloc() && out.kind != SHT_NOTE;
            let hollow = out.is_nobits() || in_memory || out.own == Some(ChunkKind::DebugLink);
            if hollow { Role::Hollow } else { Role::Follows }
        });
        let plain = OutputOptions { executable: false, ..options };
        let debug = OutputFile::create(debug, second.layout.file_size, &plain, job.host).map_err(failed)?;
        let mut sum = Crc::new();
        self.write(&second, &debug, 0, &mut sum).map_err(failed)?;
        let first = self.part(|out| match out.is_alloc() {
            true => Role::Stays,
            false if is_for_debuggers(out) => Role::Gone,
            false => Role::Follows,
        });
        let main =
            OutputFile::create(&output.path, first.layout.file_size, &options, job.host).map_err(failed)?;
        self.write(&first, &main, sum.sum(), &mut Crc::new()).map_err(failed)?;
        Ok((main, debug))
    }

    /// The headers of a file in which sections have these roles.
    fn part(&self, role: impl Fn(&OutputSection) -> Role) -> Part<'c> {
        let whole = self.layout;
        let mut part = Part { layout: Layout::default(), names: Names::default(), of: Vec::new() };
        let mut place = vec![None; whole.sections.len()];
        let roles: Vec<Role> = whole.sections.iter().map(role).collect();
        let stays =
            whole.sections.iter().zip(&roles).filter(|(out, role)| **role == Role::Stays && !out.is_nobits());
        let mut end = stays
            .map(|(out, _)| out.offset + out.size)
            .fold(FileOffset::START + whole.headers_size(), FileOffset::max);
        for (number, (out, role)) in whole.sections.iter().zip(&roles).enumerate() {
            if *role == Role::Gone {
                continue;
            }
            let mut copy = header_of(out);
            match role {
                Role::Follows => {
                    copy.offset = end.aligned(out.align.clamp(1, MAX_ALIGN));
                    end = copy.offset + copy.file_size();
                }
                Role::Hollow => (copy.kind, copy.offset) = (SHT_NOBITS, end),
                Role::Stays | Role::Gone => {}
            }
            place[number] = Some(OutputSectionId(part.of.len() as u32));
            part.of.push(number);
            part.names.offsets.push(self.contents.names.offsets[number]);
            part.layout.sections.push(copy);
        }
        let moved = |header: HeaderIndex| {
            let number = (header.0 as usize).checked_sub(1);
            number.and_then(|number| *place.get(number)?).map_or(HeaderIndex::ZERO, |id| id.header())
        };
        for out in &mut part.layout.sections {
            out.link = moved(out.link);
            if out.flags & SHF_INFO_LINK != 0 {
                out.info = moved(HeaderIndex(out.info)).0;
            }
        }
        part.layout.format = whole.format;
        part.layout.chunks =
            whole.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::ShStrTab).copied().collect();
        for chunk in &mut part.layout.chunks {
            chunk.out = place[chunk.out.index()].unwrap_or(OutputSectionId::NONE);
        }
        part.layout.segments = self.segments(&part.layout, &roles, &place);
        let start = end.aligned(whole.format.word());
        let count = part.layout.sections.len() as u64 + 1;
        part.layout.section_headers = Some(start);
        part.layout.file_size = start + count * whole.format.size::<Shdr>() - FileOffset::START;
        part
    }

    /// The segments of such a file: where their sections are now, and without contents where these have none.
    fn segments(&self, layout: &Layout, roles: &[Role], place: &[Option<OutputSectionId>]) -> Vec<Segment> {
        let mut segments = self.layout.segments.clone();
        for segment in &mut segments {
            let roles = &roles[segment.sections.clone()];
            if segment.kind == PT_PHDR
                || !roles.iter().any(|role| matches!(role, Role::Follows | Role::Hollow))
            {
                continue;
            }
            if roles.contains(&Role::Hollow) {
                segment.file_size = 0;
                segment.offset = FileOffset(segment.address.get() % segment.align.max(1));
            } else {
                segment.offset =
                    place[segment.sections.start].map_or(FileOffset::START, |id| layout[id].offset);
            }
        }
        segments
    }

    /// Writes a file from its start to its end. `link` is the checksum that it has of the other; `sum` takes
    /// in the bytes.
    fn write(&self, part: &Part, file: &OutputFile, link: u32, sum: &mut Crc) -> Result<(), OutputError> {
        let (layout, format) = (&part.layout, self.layout.format);
        let mut at = 0;
        let mut put = |offset: u64, bytes: &[u8]| {
            while at < offset {
                let gap = &ZEROES[..ZEROES.len().min((offset - at) as usize)];
                file.write_at(at, gap)?;
                sum.update(gap);
                at += gap.len() as u64;
            }
            file.write_at(offset, bytes)?;
            sum.update(bytes);
            at = offset + bytes.len() as u64;
            Ok::<(), OutputError>(())
        };
        let (identity, entry) = (self.contents.identity, self.contents.entry);
        put(0, &headers::file_header(layout, identity, entry, layout.header_of(ChunkKind::ShStrTab)))?;
        let mut order: Vec<usize> =
            (0..layout.sections.len()).filter(|i| layout.sections[*i].file_size() > 0).collect();
        order.sort_by_key(|&i| layout.sections[i].offset);
        for number in order {
            let (out, whole) = (&layout.sections[number], &self.layout.sections[part.of[number]]);
            let mut done = 0;
            while done < out.size {
                let mut bytes = vec![0; PIECE.min((out.size - done) as usize)];
                self.file.read_at((whole.offset + done).0, &mut bytes)?;
                if out.own == Some(ChunkKind::DebugLink) {
                    let mut sum = Writer::new(format);
                    sum.u32(link);
                    let start = bytes.len() - 4;
                    bytes[start..].copy_from_slice(&sum.finish());
                }
                put((out.offset + done).0, &bytes)?;
                done += bytes.len() as u64;
            }
        }
        let all = 0..layout.sections.len() + 1;
        let start = layout.section_headers.unwrap_or_default();
        put(start.0, &headers::section_headers(layout, &part.names, all))
    }
}

/// Whether only debuggers read a section.
fn is_for_debuggers(out: &OutputSection) -> bool {
    let table = matches!(out.own, Some(ChunkKind::SymTab | ChunkKind::SymTabShndx | ChunkKind::StrTab));
    table || *out.name == *b".gdb_index" || out.name.starts_with(b".debug_")
}

/// The header of a section alone.
fn header_of<'a>(out: &OutputSection<'a>) -> OutputSection<'a> {
    let mut copy = OutputSection::new(out.name.clone(), out.kind, out.flags, out.entsize);
    (copy.align, copy.address, copy.offset, copy.size) = (out.align, out.address, out.offset, out.size);
    (copy.link, copy.info, copy.own, copy.load_address) = (out.link, out.info, out.own, out.load_address);
    copy
}
