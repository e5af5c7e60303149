//! Writing the image, by units of about half a megabyte.
//!
//! A unit is a stretch of an output section. A thread fills it in a buffer that stays in its cache: copies
//! sections, fills the gaps between them, applies relocations; then it is written, once. What has to be seen
//! as a whole first (tables of functions, which are sorted) is made in memory and written from there. The
//! time in the header is a hash of all units, and the debug directory tells the PDB's identity, which is
//! written at the same time: the units with these two are written last.

pub mod apply;
pub mod base_reloc_sites;
mod delay;
pub mod headers;
pub mod limits;
mod load_config;
pub mod symbol_table;

use std::ops::Range;

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::digest::UnitDigest;
use weld_common::io::output::{OutputError, OutputFile};
use weld_common::io::units::{Digest, UnitSink, Written, unwritten};
use weld_common::{par, sort, text};
use weld_pdb::Identity;

use crate::address::{FileOffset, Rva};
use crate::arch::Jump;
use crate::arch::Place;
use crate::coff::pe;
use crate::ids::SectionId;
use crate::layout::OutputSection;
use crate::options::{Options, Timestamp};
use crate::sections::{Kind, Section};
use crate::symbols::{Symbol, SyntheticSection};
use crate::synth::debug_directory::Known;
use crate::synth::image::Image;
use crate::synth::section::At;
use crate::synth::{Table, exports, imports};
use headers::{Checksum, Directories};
use symbol_table::SymbolTable;

/// Bytes of a unit, about.
const UNIT: u64 = 512 << 10;

/// The part with the table of functions for unwinding.
pub const FUNCTIONS: &[u8] = b".pdata";

pub struct Emitter<'e, 'i, 'a> {
    pub image: &'e Image<'i, 'a>,
    pub sink: &'e DiagSink,
    pub dos_program: &'e [u8],
    pub relocs: &'e [u8],
    pub symbol_table: &'e SymbolTable,
    pub threads: usize,
    /// Whether the digests of all parts are kept ([`Written::leaves`]).
    pub keeps_leaves: bool,
}

/// A stretch of the file.
enum Unit<'u> {
    /// Members of an output section.
    Members { out: usize, members: Range<usize>, offset: FileOffset, size: u64 },
    /// Bytes that are there already, and zeroes up to `size`.
    Bytes { bytes: &'u [u8], offset: FileOffset, size: u64 },
}

impl Emitter<'_, '_, '_> {
    fn parallel(&self) -> bool {
        self.threads > 1
    }

    /// The size of the file, which has the symbol table after all sections.
    pub fn file_size(&self) -> u64 {
        self.image.layout.file_size + self.symbol_table.bytes.len() as u64
    }

    /// Writes everything but for the units with the headers and the debug directory.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write<'f, 'h>(&self, file: &'f OutputFile<'h>) -> Result<Written<'f, 'h>, Diagnostic> {
        load_config::check(self.image, self.sink);
        let layout = self.image.layout;
        let (symbols, at) = (self.symbol_table, layout.file_size as u32);
        let headers = headers::bytes(self.image, self.dos_program, &self.directories(), symbols, at);
        let members = self.function_members();
        let functions = if members.is_empty() { None } else { self.functions(members.clone()) };
        let headers_size = layout.headers_size;
        let mut units = vec![Unit::Bytes { bytes: &headers, offset: FileOffset::START, size: headers_size }];
        for (i, out) in layout.outs.iter().enumerate() {
            if layout.relocs == Some(i) {
                units.push(Unit::Bytes { bytes: self.relocs, offset: out.offset, size: out.raw_size });
                continue;
            }
            match functions.as_ref().filter(|_| out.members.contains(&members.start)) {
                // What is around the table is written member by member.
                Some(functions) => {
                    // In front of the first member there may be a hole that the table has.
                    let first = layout.rva(SectionId(layout.order[members.start]));
                    let start = self.extent(FUNCTIONS).map_or(first, |(start, _)| start);
                    let start = u64::from(start - out.rva);
                    let end = start + functions.len() as u64;
                    self.cut(i, out.members.start..members.start, 0..start, &mut units);
                    let (offset, size) = (out.offset + start, functions.len() as u64);
                    units.push(Unit::Bytes { bytes: functions, offset, size });
                    self.cut(i, members.end..out.members.end, end..out.raw_size, &mut units);
                }
                None => self.cut(i, out.members.clone(), 0..out.raw_size, &mut units),
            }
        }
        let bytes = &self.symbol_table.bytes;
        units.push(Unit::Bytes { bytes, offset: FileOffset(layout.file_size), size: bytes.len() as u64 });
        let options = self.image.options;
        let hash = options.timestamp == Timestamp::Hash || options.build_id;
        let ids = [Some(self.id_range()), self.debug_directory().map(|known| self.debug_range(&known))];
        let mut sink = UnitSink::new(file, hash, ids.into_iter().flatten());
        if self.keeps_leaves {
            sink.keep_leaves();
        }
        sink.units(units.len(), self.threads, |i, sink| self.unit(&units[i], sink))
    }

    pub fn id_range(&self) -> Range<u64> {
        headers::id_range(self.dos_program.len())
    }

    /// What is known of the debug directory before the image is written.
    pub fn debug_directory(&self) -> Option<Known> {
        let location = self.image.location(Table::DebugDirectory)?;
        let table = |table| {
            let size = self.image.sections.get(self.image.tables.section(table)?).size;
            Some((self.image.location(table)?, size))
        };
        let tables = self.image.tables.debug_directory.tables();
        let tables = tables.map(|of| table(of).unwrap_or_default()).collect();
        Some(Known { location, tables, time: 0, guid: [0; 16], age: 0 })
    }

    pub fn debug_range(&self, known: &Known) -> Range<u64> {
        let start = known.location.offset.0;
        start..start + u64::from(self.image.tables.debug_directory.size())
    }

    /// Completes the file: the time, which is a hash of all that is written and of the PDB's identity, the
    /// debug directory, the checksum. What it returns is the time.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&self, mut written: Written, pdb: Option<Identity>) -> Result<u32, Diagnostic> {
        let range = self.id_range();
        let time = time_of(self.image.options, written.digest(), pdb);
        written.put(range.start, &time.to_le_bytes());
        if let Some(mut known) = self.debug_directory() {
            known.time = time;
            // Without a PDB the image has an id of its own.
            let Identity { guid, age } = pdb.unwrap_or_else(|| own_identity(written.digest()));
            (known.guid, known.age) = (guid, age);
            written.put(known.location.offset.0, &self.image.tables.debug_directory.bytes(&known));
        }
        if self.image.resolved.demands.release {
            let mut sum = Checksum::default();
            // The checksum itself is zeroes so far.
            written.read(|part| sum.add(part))?;
            written.put(range.end - 4, &sum.finish().to_le_bytes());
        }
        written.finish()?;
        Ok(time)
    }

    /// Cuts a stretch of an output section, with its members, into units.
    fn cut<'u>(&self, number: usize, members: Range<usize>, stretch: Range<u64>, units: &mut Vec<Unit<'u>>) {
        let layout = self.image.layout;
        let out = &layout.outs[number];
        let offset = |place: usize| u64::from(layout.rva(SectionId(layout.order[place])) - out.rva);
        let (mut first, mut start) = (members.start, stretch.start);
        while start < stretch.end {
            // At least one member, so that there is an end to it.
            let rest = (first + 1).min(members.end)..members.end;
            let before = layout.order[rest.clone()]
                .partition_point(|&id| u64::from(layout.rva(SectionId(id)) - out.rva) < start + UNIT);
            let next = rest.start + before;
            let end = if next < members.end { offset(next).min(stretch.end) } else { stretch.end };
            let (own, size) = (first..next, end - start);
            units.push(Unit::Members { out: number, members: own, offset: out.offset + start, size });
            (first, start) = (next, end);
        }
    }

    fn unit(&self, unit: &Unit, sink: &UnitSink) -> Result<Digest, OutputError> {
        match unit {
            Unit::Bytes { bytes, offset, size } => sink.region(offset.0, *size as usize, |buffer| {
                let (own, rest) = buffer.split_at_mut(bytes.len());
                own.copy_from_slice(bytes);
                rest.fill(0);
            }),
            Unit::Members { out, members, offset, size } => sink.region(offset.0, *size as usize, |buffer| {
                let out = &self.image.layout.outs[*out];
                self.fill(out, members.clone(), *offset, buffer);
            }),
        }
    }

    /// Fills a unit; with debug assertions twice, to prove that each byte is written.
    fn fill(&self, out: &OutputSection, members: Range<usize>, offset: FileOffset, buffer: &mut [u8]) {
        if !cfg!(debug_assertions) {
            return self.fill_once(out, members, offset, buffer, self.sink);
        }
        let silent = DiagSink::new();
        let again = members.clone();
        let first = |bytes: &mut [u8]| self.fill_once(out, members, offset, bytes, self.sink);
        let second = |bytes: &mut [u8]| self.fill_once(out, again, offset, bytes, &silent);
        if let Some(at) = unwritten(buffer, first, second) {
            let name = text::text(&out.name);
            let at = offset - out.offset + at as u64;
            self.sink.error(
                Cause::Internal,
                format!("internal error: nobody writes byte {at:#x} of section {name}"),
            );
        }
    }

    fn fill_once(
        &self,
        out: &OutputSection,
        members: Range<usize>,
        offset: FileOffset,
        buffer: &mut [u8],
        sink: &DiagSink,
    ) {
        let layout = self.image.layout;
        // Code that is reached by mistake stops.
        let filler = if out.is_code() { self.image.facts().gap } else { 0 };
        let start = out.rva + (offset - out.offset) as u32;
        // How far there are bytes, and how far the room behind them reaches.
        let (mut filled, mut room) = (0, 0);
        for &id in &layout.order[members] {
            let id = SectionId(id);
            let section = self.image.sections.get(id);
            let at = (layout.rva(id) - start) as usize;
            let end = at + section.size as usize;
            if end > buffer.len() {
                // What has no bytes in the file reaches beyond them: zeroes, whatever fills the gaps.
                let room = room.clamp(filled, buffer.len());
                buffer[filled..room].fill(filler);
                return buffer[room..].fill(0);
            }
            buffer[filled..at].fill(filler);
            self.section(id, section, &mut buffer[at..end], sink);
            filled = end;
            if self.image.rooms.is_some() {
                room = at + self.image.room(section) as usize;
            }
        }
        buffer[filled..].fill(filler);
    }

    fn section(&self, id: SectionId, section: &Section, bytes: &mut [u8], sink: &DiagSink) {
        match self.image.made(section) {
            None if section.is_bss() => bytes.fill(0),
            None => {
                apply::write(self.image, id, bytes, sink);
                self.align_tls(id, bytes);
                load_config::finish(self.image, id, bytes, sink);
            }
            Some(made) => self.write_made(made, id, bytes, sink),
        }
    }

    fn write_made(&self, made: SyntheticSection, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
        match made {
            SyntheticSection::Common => bytes.fill(0),
            SyntheticSection::Thunk(import) => {
                let (rva, base) = (self.image.layout.rva(id), self.image.base);
                let slot = self.image.import_slot(import).unwrap_or(rva);
                (self.image.facts().write_thunk)(bytes, Jump { rva, slot, base });
            }
            SyntheticSection::DelayThunk(_) | SyntheticSection::DelayLoader(_) => {
                delay::write_code(self.image, made, id, bytes, sink)
            }
            SyntheticSection::BranchThunk(number) => {
                let target = self.image.rva_at(self.image.branches.target(number)).unwrap_or_default();
                if let Some(thunk) = &self.image.facts().branch_thunk {
                    (thunk.write)(bytes, self.image.layout.rva(id), target);
                }
            }
            SyntheticSection::LocalImport(local) => {
                let address = match self.image.place(self.image.symbols.get(local)) {
                    Place::At(rva) => rva.in_memory(self.image.base),
                    Place::Absolute(address) => address,
                    Place::Gone => 0,
                };
                bytes.copy_from_slice(&address.to_le_bytes()[..bytes.len()]);
            }
            SyntheticSection::Table(number) => self.write_table(Table::ALL[number as usize], id, bytes, sink),
        }
    }

    /// Writes a table; with debug assertions twice, to prove that each byte of it is written.
    fn write_table(&self, table: Table, id: SectionId, bytes: &mut [u8], sink: &DiagSink) {
        let write = |bytes: &mut [u8]| table.section().write(&At { image: self.image, id }, bytes);
        if !cfg!(debug_assertions) {
            return write(bytes);
        }
        if let Some(at) = unwritten(bytes, write, write) {
            sink.error(
                Cause::Internal,
                format!("internal error: nobody writes byte {at:#x} of the table {table:?}"),
            );
        }
    }

    /// Tells the loader how thread-local storage is aligned: the directory has the strictest alignment of all
    /// of it.
    fn align_tls(&self, id: SectionId, bytes: &mut [u8]) {
        let Some(tls) = self.image.resolved.program.tls else { return };
        let symbol = self.image.symbols.get(tls);
        if symbol != Symbol::in_section(id, symbol.value) || self.image.tls_align == 0 {
            return;
        }
        let at = symbol.value as usize + self.image.facts().tls_directory as usize - 4;
        if let Some(flags) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
            let align = (u32::from(self.image.tls_align) + 1) << 20;
            let other = u32::from_le_bytes(*flags) & !pe::IMAGE_SCN_ALIGN_MASK;
            *flags = (other | align).to_le_bytes();
        }
    }

    /// The members with the table of functions for unwinding, as places in the order of the image.
    fn function_members(&self) -> Range<usize> {
        match self.image.facts().function {
            0 => 0..0,
            _ => self.image.layout.members_of(self.image.sections, FUNCTIONS),
        }
    }

    /// The table of functions for unwinding, sorted by address: the loader searches it.
    fn functions(&self, members: Range<usize>) -> Option<Vec<u8>> {
        let members = &self.image.layout.order[members];
        let parts = par::runs("table of functions", self.parallel(), members.len(), 1 << 12, |run| {
            let mut bytes = Vec::new();
            for &id in &members[run] {
                let section = self.image.sections.get(SectionId(id));
                let start = bytes.len();
                bytes.resize(start + section.size as usize, 0);
                self.section(SectionId(id), section, &mut bytes[start..], self.sink);
            }
            bytes
        });
        let bytes = par::concat("join table of functions", self.parallel(), parts);
        // With rooms there are zeroes behind the last entry.
        let extent = self.extent(FUNCTIONS).map_or(0, |(_, size)| size as usize);
        let mut sorted = match self.image.facts().function {
            8 => sorted::<8>(&bytes, self.parallel()),
            _ => sorted::<12>(&bytes, self.parallel()),
        };
        if self.image.rooms.is_some() {
            sorted.iter_mut().for_each(|sorted| sorted.resize(extent, 0));
        } else if bytes.len() != extent {
            sorted = None;
        }
        if sorted.is_none() {
            self.sink.error(
                Cause::MalformedDebugInfo,
                format!(
                    "unexpected .pdata size: {} is not a multiple of {}",
                    bytes.len(),
                    self.image.facts().function
                ),
            );
        }
        sorted
    }

    fn directories(&self) -> Directories {
        let (image, layout) = (self.image, self.image.layout);
        let mut all = Directories::default();
        let mut set = |entry: usize, found: Option<(Rva, u32)>| all[entry] = found.unwrap_or_default();
        let sized = |table: Table| {
            let section = image.tables.section(table)?;
            Some((layout.rva(section), image.sections.get(section).size))
        };
        let out = |name: &[u8]| {
            let found = layout.outs.iter().find(|out| out.name == name)?;
            Some((found.rva, found.virtual_size as u32))
        };
        let literal = || self.extent(exports::Section::PART).filter(|_| image.options.mingw.on);
        set(pe::IMAGE_DIRECTORY_ENTRY_EXPORT, sized(Table::Exports).or_else(literal));
        set(pe::IMAGE_DIRECTORY_ENTRY_IMPORT, self.extent(imports::Directory::PART));
        set(pe::IMAGE_DIRECTORY_ENTRY_IAT, self.extent(imports::Addresses::PART));
        set(pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, sized(Table::DelayDirectory));
        set(pe::IMAGE_DIRECTORY_ENTRY_RESOURCE, out(b".rsrc"));
        let functions = if image.facts().function == 0 { None } else { self.function_table() };
        set(pe::IMAGE_DIRECTORY_ENTRY_EXCEPTION, functions);
        let relocs = layout.relocs.map(|out| &layout.outs[out]);
        let relocs = relocs.map(|out| (out.rva, out.virtual_size as u32));
        set(pe::IMAGE_DIRECTORY_ENTRY_BASERELOC, relocs);
        let debug = sized(Table::DebugDirectory);
        set(
            pe::IMAGE_DIRECTORY_ENTRY_DEBUG,
            debug.map(|(rva, _)| (rva, image.tables.debug_directory.entries_size())),
        );
        let program = &image.resolved.program;
        let tls = program.tls.and_then(|name| Some((image.rva_of(name)?, image.facts().tls_directory)));
        set(pe::IMAGE_DIRECTORY_ENTRY_TLS, tls);
        let load_config = program.load_config.and_then(|name| {
            let bytes = image.bytes_at(image.symbols.get(name))?;
            let size = u32::from_le_bytes(*bytes.first_chunk()?);
            Some((image.rva_of(name)?, size.min(bytes.len() as u32)))
        });
        set(pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG, load_config);
        all
    }

    /// Where the table of functions is, without the room behind it.
    fn function_table(&self) -> Option<(Rva, u32)> {
        let (image, layout) = (self.image, self.image.layout);
        let (start, extent) = self.extent(FUNCTIONS)?;
        if image.rooms.is_none() {
            return Some((start, extent));
        }
        let members = &layout.order[layout.members_of(image.sections, FUNCTIONS)];
        Some((start, members.iter().map(|&id| image.sections.get(SectionId(id)).size).sum()))
    }

    /// Where the members of a part lie, with their room.
    pub fn extent(&self, part: &[u8]) -> Option<(Rva, u32)> {
        let layout = self.image.layout;
        let members = &layout.order[layout.members_of(self.image.sections, part)];
        let (first, last) = (SectionId(*members.first()?), SectionId(*members.last()?));
        let part = |id: SectionId| self.image.sections.get(id).part;
        let ((start, _), (_, end)) =
            (self.image.bounds(part(first), first, first), self.image.bounds(part(last), last, last));
        Some((start, end - start))
    }
}

/// The time in the header of an image with this digest.
pub fn time_of(options: &Options, image: UnitDigest, pdb: Option<Identity>) -> u32 {
    if let Timestamp::Given(seconds) = options.timestamp {
        return seconds;
    }
    let digest = match pdb {
        None => image,
        Some(pdb) => UnitDigest::join(&[image, UnitDigest::of(&pdb.guid)]),
    };
    let [a, b, c, d, ..] = digest.bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The identity of an image without a PDB.
pub fn own_identity(image: UnitDigest) -> Identity {
    let mut guid = [0; 16];
    guid.iter_mut().zip(image.bytes()).for_each(|(byte, hash)| *byte = hash);
    Identity { guid, age: 1 }
}

/// Entries copied by one task.
const ENTRIES: usize = 1 << 14;

/// Entries in the order of the addresses that they begin with; `None` if the last one is not whole.
fn sorted<const SIZE: usize>(bytes: &[u8], parallel: bool) -> Option<Vec<u8>> {
    let (entries, []) = bytes.as_chunks::<SIZE>() else { return None };
    let start = |entry: &[u8; SIZE]| u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
    let order = |a: &[u8; SIZE], b: &[u8; SIZE]| start(a).cmp(&start(b)).then_with(|| a.cmp(b));
    let entries =
        par::list("entries to sort", parallel, entries.len(), ENTRIES, |run| entries[run].iter().copied());
    Some(sort::by(entries, parallel, order).into_flattened())
}

/// Logarithm of the strictest alignment of thread-local storage; 0 if there is none.
pub fn tls_align(sections: &crate::sections::Sections, live: &crate::live::Live) -> u8 {
    let is_tls: Vec<bool> = sections.parts.iter().map(|part| part.name.starts_with(b".tls")).collect();
    if !is_tls.contains(&true) {
        return 0;
    }
    let all = (0..).zip(&sections.list);
    let tls = all.filter(|(id, section)| {
        section.kind == Kind::Regular && is_tls[section.part as usize] && live.has(SectionId(*id))
    });
    tls.map(|(_, section)| section.align).max().unwrap_or(0)
}
