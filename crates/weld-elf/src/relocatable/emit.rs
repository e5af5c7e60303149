//! Writing a joined object.
//!
//! The file is cut into units of about half a megabyte: runs of input sections, groups and
//! relocations with the gaps between them, runs of objects' symbols, runs of section headers. Joined
//! objects may have millions of sections, so a unit spans as many as fit. Units do not depend on the
//! number of threads.

use std::ops::Range;

use weld_common::diag::{DiagSink, Diagnostic, Diagnostics};
use weld_common::io::output::{OutputError, OutputFile};
use weld_common::io::units::{Digest, UnitSink, unwritten};

use super::Plan;
use super::outs::What;
use super::relocs::Site;
use super::symtab::Writer as SymbolWriter;
use crate::compressed::Compressed;
use crate::elf::*;
use crate::emit::tombstone;
use crate::ids::*;
use crate::input::object::Object;
use crate::job::{Job, create_output};
use weld_common::io::units::UNIT_BYTES;

use crate::sections::SectionKind;
use crate::synth::build_id;
use crate::synth::headers::{identification, os_abi, put_section};

/// Objects whose symbols are written in one go.
const SYMTAB_OBJECTS: usize = 32;
/// Section headers that are written in one go.
const HEADERS: usize = 8192;

/// A place in the sequence of what is written: output section, and input section in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    out: usize,
    member: usize,
}

enum Unit {
    FileHeader,
    /// From a cursor up to another, at a file offset.
    Span {
        from: Cursor,
        to: Cursor,
        offset: u64,
        size: u64,
    },
    /// Zeroes.
    Gap {
        offset: u64,
        size: u64,
    },
    /// The null symbol and the section symbols.
    SymbolHead,
    Symbols {
        first: usize,
    },
    OwnSymbols,
    Headers {
        first: usize,
    },
}

struct Emitter<'c, 'a> {
    plan: &'c Plan<'c, 'a>,
    /// Objects of which some sections are not copied, so that relocations may refer to nothing.
    lossy: &'c [bool],
}

/// Writes the object.
pub fn write<'j>(job: &Job<'j>, plan: &Plan, threads: usize) -> Result<OutputFile<'j>, Diagnostics> {
    let span = job.trace.span("write image");
    let file = create_output(job, plan.outs.file_size, false, threads)?;
    let lossy: Vec<bool> = plan.resolved.objects.iter().map(|o| is_lossy(plan, o)).collect();
    let emitter = Emitter { plan, lossy: &lossy };
    let units = emitter.cut();
    let id = &job.options.notes.build_id;
    let sink = UnitSink::new(&file, build_id::is_fast(id), emitter.build_id());
    sink.write(
        units.len(),
        threads,
        |i, sink| emitter.unit(&units[i], sink),
        |written| build_id::make(id, written),
    )?;
    drop(span);
    // What is wrong with relocations is found while they are written.
    if !job.options.reports.noinhibit_exec {
        job.sink.end_phase()?;
    }
    Ok(file)
}

impl Emitter<'_, '_> {
    /// The form of the output.
    fn format(&self) -> Format {
        self.plan.machine.target.format
    }

    /// Where in the file the build id is.
    fn build_id(&self) -> Option<Range<u64>> {
        let is_note =
            |name: &[u8], what: &What| name == b".note.gnu.build-id" && matches!(what, What::Bytes(_));
        let out = self.plan.outs.list.iter().find(|o| is_note(&o.name, &o.what))?;
        let range = build_id::id_range(&self.plan.options.notes.build_id);
        Some(out.offset + range.start as u64..out.offset + range.end as u64)
    }

    /// Cuts the file. Symbol tables have units of their own.
    fn cut(&self) -> Vec<Unit> {
        let outs = self.plan.outs;
        let mut units = vec![Unit::FileHeader];
        let mut start = (Cursor { out: 0, member: 0 }, self.format().size::<Ehdr>());
        let mut end = start.1;
        let close = |units: &mut Vec<Unit>, start: &mut (Cursor, u64), to: Cursor, end: u64| {
            if end > start.1 {
                units.push(Unit::Span { from: start.0, to, offset: start.1, size: end - start.1 });
            }
            *start = (to, end);
        };
        for (i, out) in outs.list.iter().enumerate() {
            let here = Cursor { out: i, member: 0 };
            let next = Cursor { out: i + 1, member: 0 };
            if matches!(out.what, What::SymTab | What::SymTabShndx | What::StrTab) {
                close(&mut units, &mut start, here, end);
                if out.offset > end {
                    units.push(Unit::Gap { offset: end, size: out.offset - end });
                }
                end = out.offset + out.size;
                start = (next, end);
                continue;
            }
            if out.is_nobits() || out.size == 0 {
                continue;
            }
            // Padding before the section belongs to the unit.
            for (member, stop) in self.stops(i) {
                end = stop;
                if end - start.1 >= UNIT_BYTES {
                    close(&mut units, &mut start, Cursor { out: i, member }, end);
                }
            }
        }
        close(&mut units, &mut start, Cursor { out: outs.list.len(), member: 0 }, outs.section_headers);
        units.push(Unit::SymbolHead);
        let objects = self.plan.resolved.objects.len();
        units.extend((0..objects).step_by(SYMTAB_OBJECTS).map(|first| Unit::Symbols { first }));
        units.push(Unit::OwnSymbols);
        units.extend((0..outs.list.len() + 1).step_by(HEADERS).map(|first| Unit::Headers { first }));
        units
    }

    /// Where a section may be cut: after which member, and the file offset there.
    fn stops(&self, out: usize) -> Vec<(usize, u64)> {
        let plan = self.plan;
        let section = &plan.outs.list[out];
        let count = self.member_count(out);
        let mut at = section.offset;
        let mut stops = Vec::with_capacity(count);
        for member in 0..count {
            at = match (&section.what, self.member(out, member)) {
                (What::Relocs(_), Some(id)) => at + self.relocs_size(id),
                (_, Some(id)) => {
                    let input = plan.sections.get(id);
                    section.offset + input.offset() + input.size
                }
                _ => section.offset + section.size,
            };
            stops.push((member + 1, if member + 1 == count { section.offset + section.size } else { at }));
        }
        stops
    }

    fn member_count(&self, out: usize) -> usize {
        let range = match &self.plan.outs.list[out].what {
            What::Inputs(range) => range,
            What::Relocs(target) => match &self.plan.outs.list[*target as usize].what {
                What::Inputs(range) => range,
                _ => return 0,
            },
            _ => return 1,
        };
        range.len()
    }

    /// The input section that is member number `member` of an output section.
    fn member(&self, out: usize, member: usize) -> Option<SectionId> {
        let outs = self.plan.outs;
        match &outs.list[out].what {
            What::Inputs(range) => outs.members.get(range.start as usize + member).copied(),
            What::Relocs(target) => self.member(*target as usize, member),
            _ => None,
        }
    }

    fn relocs_size(&self, id: SectionId) -> u64 {
        if self.plan.sections.get(id).relocs == 0 {
            return 0;
        }
        Site::new(self.plan, id).relocs().len() as u64 * self.format().size::<Rela>()
    }

    fn unit(&self, unit: &Unit, sink: &UnitSink) -> Result<Digest, OutputError> {
        let writer = SymbolWriter { plan: self.plan };
        let starts = &self.plan.symtab.starts;
        match unit {
            Unit::FileHeader => sink.bytes(0, &self.file_header()),
            Unit::Gap { offset, size } => sink.region(*offset, *size as usize, |out| out.fill(0)),
            Unit::Span { from, to, offset, size } => {
                sink.region(*offset, *size as usize, |bytes| self.checked_span(*from, *to, *offset, bytes))
            }
            Unit::SymbolHead => {
                let first = super::symtab::Range { locals: 0, globals: 0, strings: 0 };
                self.symbols(first, writer.head(), sink)
            }
            Unit::Symbols { first } => {
                let end = self.plan.resolved.objects.len().min(first + SYMTAB_OBJECTS);
                self.symbols(starts[*first], writer.objects(*first..end), sink)
            }
            Unit::OwnSymbols => self.symbols(starts[starts.len() - 1], writer.own(), sink),
            Unit::Headers { first } => {
                let offset = self.plan.outs.section_headers + *first as u64 * self.format().size::<Shdr>();
                sink.bytes(offset, &self.section_headers(*first))
            }
        }
    }

    fn symbols(
        &self,
        start: super::symtab::Range,
        part: crate::synth::symtab::Part,
        sink: &UnitSink,
    ) -> Result<Digest, OutputError> {
        let part = part.in_form(self.format());
        let entry = self.format().size::<Sym>();
        let (locals, globals) = (start.locals as u64, start.globals as u64);
        let mut parts: Vec<(u64, &[u8])> = Vec::new();
        // The tables come last.
        for out in self.plan.outs.list.iter().rev().take(4) {
            match out.what {
                What::SymTab => {
                    parts.push((out.offset + locals * entry, &part.locals));
                    parts.push((out.offset + globals * entry, &part.globals));
                }
                What::SymTabShndx => {
                    parts.push((out.offset + locals * 4, &part.local_indices));
                    parts.push((out.offset + globals * 4, &part.global_indices));
                }
                What::StrTab => parts.push((out.offset + start.strings, &part.strings)),
                _ => {}
            }
        }
        sink.parts(&parts)
    }

    /// As [`Self::span`]; with debug assertions twice, to see that every byte is written (`emit::check`).
    fn checked_span(&self, from: Cursor, to: Cursor, offset: u64, bytes: &mut [u8]) {
        if !cfg!(debug_assertions) {
            return self.span(from, to, offset, bytes);
        }
        let silent = DiagSink::new();
        let plan = Plan { sink: &silent, ..*self.plan };
        let quiet = Emitter { plan: &plan, lossy: self.lossy };
        let again = |bytes: &mut [u8]| quiet.span(from, to, offset, bytes);
        if let Some(at) = unwritten(bytes, |bytes| self.span(from, to, offset, bytes), again) {
            let at = offset + at as u64;
            self.plan.sink.error(format!("internal error: nobody writes byte {at:#x} of the file"));
        }
    }

    /// Fills the bytes at `offset` of the file with everything between two cursors.
    fn span(&self, from: Cursor, to: Cursor, offset: u64, bytes: &mut [u8]) {
        let outs = self.plan.outs;
        let mut done = 0usize;
        for i in from.out..outs.list.len().min(to.out + 1) {
            let out = &outs.list[i];
            if out.is_nobits() || out.size == 0 {
                continue;
            }
            let first = if i == from.out { from.member } else { 0 };
            let last = if i == to.out { to.member } else { self.member_count(i) };
            let padding =
                if out.flags & SHF_EXECINSTR != 0 && first < last { self.plan.machine.filler } else { 0 };
            // Relocations follow one another; a span that starts among them starts with one.
            let mut at = if first == 0 { out.offset } else { offset };
            for member in first..last {
                let size = match (&out.what, self.member(i, member)) {
                    (What::Relocs(_), Some(id)) => self.relocs_size(id),
                    (_, Some(id)) => {
                        let input = self.plan.sections.get(id);
                        at = out.offset + input.offset();
                        input.size
                    }
                    _ => out.size,
                };
                let start = (at - offset) as usize;
                let fill = if member == 0 { 0 } else { padding };
                bytes[done..start].fill(fill);
                done = start + size as usize;
                self.piece(i, member, &mut bytes[start..done]);
                at += size;
            }
        }
        bytes[done..].fill(0);
    }

    fn piece(&self, out: usize, member: usize, bytes: &mut [u8]) {
        let section = &self.plan.outs.list[out];
        match (&section.what, self.member(out, member)) {
            (What::Inputs(_), Some(id)) => self.input(id, bytes),
            (What::Relocs(_), Some(id)) if !bytes.is_empty() => Site::new(self.plan, id).write(bytes),
            (What::Group(number, shndx), _) => {
                let object = &self.plan.resolved.objects[number.index()];
                let words = self.plan.outs.group_words(object, *shndx);
                for (word, place) in words.iter().zip(bytes.chunks_exact_mut(4)) {
                    place.copy_from_slice(&self.format().u32_bytes(*word));
                }
            }
            (What::Bytes(data), _) => bytes.copy_from_slice(data),
            (What::ShStrTab, _) => bytes.copy_from_slice(self.plan.outs.names.bytes()),
            _ => {}
        }
    }

    /// Copies an input section.
    fn input(&self, id: SectionId, out: &mut [u8]) {
        let site = Site::new(self.plan, id);
        let data = site.object.section_data(site.shndx as usize).unwrap_or(&[]);
        if self.plan.sections.get(id).kind() == SectionKind::Compressed {
            if let Err(e) = Compressed::parse(data, site.object.format()).and_then(|c| c.decompress_into(out))
            {
                let label = site.object.section_label(site.shndx as usize);
                let order = (site.object.file.0 as u64) << 32 | site.shndx as u64;
                let text = format!("{}:({label}): {e}", site.object.name);
                self.plan.sink.push(Diagnostic::error(text).at(order));
                out.fill(0);
            }
        } else {
            // The terminator of an `.eh_frame` is left out unless it is the last.
            out.copy_from_slice(&data[..out.len()]);
        }
        if self.lossy[site.number.index()] && !site.relocs().is_empty() {
            let name = site.object.section_name(site.shndx as usize).unwrap_or(b"");
            site.bury(tombstone(self.plan.options, name), out);
        }
    }

    fn file_header(&self) -> Vec<u8> {
        let outs = self.plan.outs;
        let format = self.format();
        let count = outs.list.len() + 1;
        let names = outs.names_index();
        let mut out = Writer::with_room(Format::NATIVE, Ehdr::SIZE);
        out.bytes(&identification(format, os_abi(&self.plan.resolved.objects)));
        // No entry point, no program headers.
        out.u16(ET_REL)
            .u16(self.plan.machine.target.machine)
            .u32(1)
            .word(0)
            .word(0)
            .word(outs.section_headers)
            .u32(0);
        out.u16(format.size::<Ehdr>() as u16).u16(0).u16(0).u16(format.size::<Shdr>() as u16);
        // Numbers that do not fit are in section header 0.
        out.u16(if count >= SHN_LORESERVE as usize { 0 } else { count as u16 });
        out.u16(if names >= SHN_LORESERVE as u32 { SHN_XINDEX } else { names as u16 });
        in_form::<Ehdr>(format, out.finish())
    }

    /// Section headers from number `first` on.
    fn section_headers(&self, first: usize) -> Vec<u8> {
        let outs = self.plan.outs;
        let end = (outs.list.len() + 1).min(first + HEADERS);
        let mut bytes = Writer::with_room(Format::NATIVE, (end - first) * Shdr::SIZE);
        for number in first..end {
            let Some(i) = number.checked_sub(1) else {
                let (count, names) = (outs.list.len() as u64 + 1, outs.names_index());
                let size = if count >= SHN_LORESERVE as u64 { count } else { 0 };
                let link = if names >= SHN_LORESERVE as u32 { names } else { 0 };
                put_section(&mut bytes, (0, SHT_NULL), [0, 0, 0, size], (link, 0), [0, 0]);
                continue;
            };
            let out = &outs.list[i];
            put_section(
                &mut bytes,
                (outs.name_offsets[i], out.kind),
                [out.flags, 0, out.offset, out.size],
                (out.link, out.info),
                [out.align, out.entsize],
            );
        }
        in_form::<Shdr>(self.format(), bytes.finish())
    }
}

/// Whether sections that relocations might refer to are not copied.
fn is_lossy(plan: &Plan, object: &Object) -> bool {
    let gone = |(shndx, shdr): (usize, &Shdr)| {
        let kept = plan.live.contains(SectionId(object.section_base + shndx as u32));
        let table = matches!(
            shdr.sh_type(),
            SHT_NULL | SHT_SYMTAB | SHT_STRTAB | SHT_RELA | SHT_CREL | SHT_GROUP | SHT_SYMTAB_SHNDX
        );
        !kept && !table
    };
    object.shdrs.iter().enumerate().any(gone)
}
