//! Writing of the file, by units on all threads.
//!
//! A unit fills some ranges of streams in a buffer of its thread, hashes them and writes them; each byte of
//! the file belongs to one unit. How the file is cut depends on what is in it only, and so does the hash of
//! the units' hashes, from which the PDB gets its GUID.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use weld_common::diag::{Cause, DiagSink, Diagnostic};
use weld_common::io::output::{OutputError, OutputFile};
use weld_common::io::units::{Digest, Leaves, UnitSink};

use crate::codeview::{SIGNATURE_C13, Space};
use crate::dbi;
use crate::gsi::{self, Table};
use crate::info;
use crate::input::{Identity, Relocate};
use crate::pdb::Pdb;
use crate::put::put_u32;
use crate::stream;
use crate::symbols::write::{Out, SIGNATURE_SIZE};
use crate::types::stream::{HASH_SIZE, HEADER_SIZE};

/// Bytes of a unit, about, where it can be cut anywhere.
const UNIT: usize = 256 << 10;

/// What a unit writes.
#[derive(Clone, Debug)]
enum Unit {
    Superblock,
    /// The maps of free pages of an interval.
    Maps(u32),
    Directory,
    Info,
    /// The header of types or ids, and the places of records.
    TypesFrame(Space),
    /// A piece of types or ids, with its buckets.
    Types(Space, usize),
    /// Some sections of a module.
    Module(usize, usize),
    /// What is before and after the items of a table.
    TableFrame(Names),
    /// Items of a table.
    Items(Names, Range<usize>),
    PublicRecords(Range<usize>),
    Addresses(Range<usize>),
    DbiFrame,
    Contributions(Range<usize>),
    /// Places of names of modules' files.
    Files(Range<usize>),
    /// Names of files, for `/names` and for the list of files.
    NamesFrame,
    Strings(Range<usize>),
    SectionHeaders,
    /// Frames of functions, in the old format and the new one.
    Fpo(usize),
    NewFpo(usize),
    Named(usize),
}

#[derive(Clone, Copy, Debug)]
enum Names {
    Globals,
    Publics,
}

/// The ranges that a unit writes, and their bytes.
#[derive(Default)]
struct Sheet {
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

struct Part {
    stream: usize,
    /// Where in the stream.
    at: u64,
    range: Range<usize>,
}

impl Sheet {
    fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }

    /// Makes room for all ranges at once: streams, places and lengths. The bytes of each, in turn, are to be
    /// filled.
    fn reserve<const N: usize>(&mut self, ranges: [(usize, u64, usize); N]) -> [&mut [u8]; N] {
        let start = self.bytes.len();
        let mut end = start;
        for (stream, at, len) in ranges.into_iter().filter(|range| range.2 > 0) {
            match self.parts.last_mut() {
                Some(last) if last.stream == stream && last.at + last.range.len() as u64 == at => {
                    last.range.end += len;
                }
                _ => self.parts.push(Part { stream, at, range: end..end + len }),
            }
            end += len;
        }
        self.bytes.resize(end, 0);
        let mut rest = &mut self.bytes[start..];
        ranges.map(|(_, _, len)| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(len);
            rest = behind;
            part
        })
    }

    fn fill(&mut self, stream: usize, at: u64, len: usize) -> &mut [u8] {
        let [part] = self.reserve([(stream, at, len)]);
        part
    }

    fn put(&mut self, stream: usize, at: u64, bytes: &[u8]) {
        self.fill(stream, at, bytes.len()).copy_from_slice(bytes);
    }
}

/// What the threads share.
struct Writing<'w> {
    pdb: &'w Pdb<'w>,
    units: &'w [Unit],
    relocate: &'w dyn Relocate,
    /// Buffers that are not in use.
    sheets: Mutex<Vec<Sheet>>,
    /// Fixups of what is no address.
    misfits: AtomicUsize,
}

impl Pdb<'_> {
    /// Writes the PDB into a file of [`file_len`](Pdb::file_len) bytes. `relocate` is asked for the fixups of
    /// each section once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(
        &self,
        file: &OutputFile<'_>,
        threads: usize,
        relocate: &dyn Relocate,
        sink: &DiagSink,
    ) -> Result<Identity, Diagnostic> {
        self.write_keeping(file, threads, relocate, (sink, false)).map(|(identity, _)| identity)
    }

    /// The same; with the digests of its parts, if they are to be kept, from which a PDB of which parts change gets
    /// its identity ([`patch`](crate::patch)).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_keeping(
        &self,
        file: &OutputFile<'_>,
        threads: usize,
        relocate: &dyn Relocate,
        (sink, keeps): (&DiagSink, bool),
    ) -> Result<(Identity, Leaves), Diagnostic> {
        let units = self.units();
        let writing = Writing {
            pdb: self,
            units: &units,
            relocate,
            sheets: Mutex::default(),
            misfits: AtomicUsize::new(0),
        };
        let start = self.info_place();
        let identity_range = start + info::IDENTITY.start..start + info::IDENTITY.end;
        let mut unit_sink = UnitSink::new(file, true, Some(identity_range));
        if keeps {
            unit_sink.keep_leaves();
        }
        let mut guid = [0; 16];
        let leaves = unit_sink.write(
            units.len(),
            threads,
            |unit, sink| writing.write(unit, sink),
            |written| {
                guid = self.image.guid.unwrap_or_else(|| info::guid_of(written.digest()));
                Ok(info::identity(guid, dbi::AGE))
            },
        )?;
        let misfits = writing.misfits.into_inner();
        if misfits > 0 {
            sink.warn(
                Cause::DebugInfo,
                format!("{misfits} relocations in .debug$S are not where addresses are, and were left out"),
            );
        }
        Ok((Identity { guid, age: dbi::AGE }, leaves))
    }

    /// Where the info stream is in the file.
    fn info_place(&self) -> u64 {
        self.layout.places(stream::INFO, 0..1).next().map_or(0, |(at, _)| at)
    }

    fn units(&self) -> Vec<Unit> {
        let mut units = vec![Unit::Superblock, Unit::Directory, Unit::Info, Unit::DbiFrame, Unit::NamesFrame];
        units.push(Unit::SectionHeaders);
        units.extend(self.streams.new_fpo.map(Unit::NewFpo));
        units.extend(self.streams.fpo.map(Unit::Fpo));
        for (i, module) in self.symbols.scanned.iter().enumerate() {
            // One that has no stream may have global symbols.
            if module.stream_len() > 0 || !module.globals.is_empty() {
                units.extend((0..module.unit_count()).map(|unit| Unit::Module(i, unit)));
            }
        }
        for space in [Space::Type, Space::Id] {
            units.push(Unit::TypesFrame(space));
            units.extend((0..self.types.stream(space).pieces.len()).map(|piece| Unit::Types(space, piece)));
        }
        for names in [Names::Globals, Names::Publics] {
            units.push(Unit::TableFrame(names));
            let items = cut(self.table(names).item_count(), gsi::ITEM_SIZE);
            units.extend(items.map(|range| Unit::Items(names, range)));
        }
        units.extend(cut(self.publics.count(), 40).map(Unit::PublicRecords));
        units.extend(cut(self.publics.by_address.len(), 4).map(Unit::Addresses));
        units.extend(cut(self.dbi.contributions.len(), dbi::CONTRIBUTION_SIZE).map(Unit::Contributions));
        units.extend(cut(self.symbols.modules.len(), 2048).map(Unit::Files));
        units.extend(cut(self.symbols.strings.count(), 64).map(Unit::Strings));
        units.extend((0..self.named.len()).map(Unit::Named));
        units.extend((0..self.layout.intervals()).map(Unit::Maps));
        units
    }

    fn table(&self, names: Names) -> &Table {
        match names {
            Names::Globals => &self.globals,
            Names::Publics => &self.publics.table,
        }
    }

    /// The stream of a table, and where in it the table begins.
    fn table_place(&self, names: Names) -> (usize, u64) {
        match names {
            Names::Globals => (self.streams.globals, 0),
            Names::Publics => (self.streams.publics, gsi::PUBLICS_HEADER.into()),
        }
    }
}

/// Ranges of `count` items of about `size` bytes that make a unit each.
fn cut(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let grain = UNIT / size;
    (0..count.div_ceil(grain)).map(move |i| i * grain..count.min((i + 1) * grain))
}

impl Writing<'_> {
    fn write(&self, unit: usize, sink: &UnitSink<'_, '_>) -> Result<Digest, OutputError> {
        let layout = &self.pdb.layout;
        match &self.units[unit] {
            Unit::Superblock => sink.bytes(0, &layout.superblock()),
            Unit::Maps(interval) => {
                let size = 2 * layout.page_size() as usize;
                sink.region(layout.maps_at(*interval), size, |out| layout.write_maps(*interval, out))
            }
            Unit::Directory => {
                let (bytes, places) = layout.directory();
                let parts: Vec<(u64, &[u8])> = places.map(|(at, range)| (at, &bytes[range])).collect();
                sink.parts(&parts)
            }
            Unit::Info => self.write_info(sink),
            unit => {
                let mut sheet = self.sheets.lock().unwrap().pop().unwrap_or_default();
                sheet.clear();
                self.fill(unit, &mut sheet);
                let written = self.put(&sheet, sink);
                self.sheets.lock().unwrap().push(sheet);
                written
            }
        }
    }

    /// The page with the identity is one region, so that it can wait for it.
    fn write_info(&self, sink: &UnitSink<'_, '_>) -> Result<Digest, OutputError> {
        let (info, layout) = (&self.pdb.info, &self.pdb.layout);
        let len = layout.padded_len(stream::INFO);
        let page = layout.page_size() as usize;
        let first = sink.region(self.pdb.info_place(), page, |out| {
            let used = info.len().min(page);
            out[..used].copy_from_slice(&info[..used]);
            out[used..].fill(0);
        })?;
        let mut rest = info[info.len().min(page)..].to_vec();
        rest.resize(len as usize - page, 0);
        let places = layout.places(stream::INFO, page as u64..len);
        let parts: Vec<(u64, &[u8])> = places.map(|(at, range)| (at, &rest[range])).collect();
        let second = sink.parts(&parts)?;
        Ok(match (first, second) {
            (Some(first), Some(second)) => Some(first.join(second)),
            (first, second) => first.or(second),
        })
    }

    /// Writes a sheet. Who writes the last byte of a stream writes the rest of its last page.
    fn put(&self, sheet: &Sheet, sink: &UnitSink<'_, '_>) -> Result<Digest, OutputError> {
        static ZEROES: [u8; 1 << 15] = [0; 1 << 15];
        let layout = &self.pdb.layout;
        let mut parts: Vec<(u64, &[u8])> = Vec::new();
        for part in &sheet.parts {
            let bytes = &sheet.bytes[part.range.clone()];
            let end = part.at + bytes.len() as u64;
            parts.extend(layout.places(part.stream, part.at..end).map(|(at, range)| (at, &bytes[range])));
            if end == u64::from(layout.stream_len(part.stream)) {
                let padded = layout.padded_len(part.stream);
                for start in (end..padded).step_by(ZEROES.len()) {
                    let some = start..padded.min(start + ZEROES.len() as u64);
                    parts.extend(layout.places(part.stream, some).map(|(at, range)| (at, &ZEROES[range])));
                }
            }
        }
        sink.parts(&parts)
    }

    fn fill(&self, unit: &Unit, sheet: &mut Sheet) {
        let Pdb { types, symbols, image, streams, publics, dbi, .. } = self.pdb;
        match unit {
            Unit::Superblock | Unit::Maps(_) | Unit::Directory | Unit::Info => {}
            Unit::TypesFrame(space) => {
                let (number, hash) = self.type_streams(*space);
                let shown = hash.map_or(dbi::NO_STREAM, |hash| hash as u16);
                sheet.put(number, 0, &types.header(*space, shown));
                if let Some(hash) = hash {
                    let skips = 8 * types.stream(*space).skips.len();
                    types.write_skips(*space, sheet.fill(hash, types.skips_at(*space), skips));
                }
            }
            Unit::Types(space, piece) => {
                // There are no pieces of what has no hashes.
                let (number, Some(hash)) = self.type_streams(*space) else { return };
                let piece = &types.stream(*space).pieces[*piece];
                let records = (number, HEADER_SIZE as u64 + u64::from(piece.at), piece.size as usize);
                let place = u64::from(piece.first) * HASH_SIZE as u64;
                let buckets = (hash, place, piece.count as usize * HASH_SIZE);
                let [records, buckets] = sheet.reserve([records, buckets]);
                types.write_piece(*space, piece, records, buckets);
            }
            Unit::Module(module, unit) => self.module(*module, *unit, sheet),
            Unit::TableFrame(names) => {
                let (number, start) = self.pdb.table_place(*names);
                let table = self.pdb.table(*names);
                if let Names::Publics = names {
                    sheet.put(number, 0, &publics.header());
                }
                let header = table.header();
                sheet.put(number, start, &header);
                let index = start + header.len() as u64 + (table.item_count() * gsi::ITEM_SIZE) as u64;
                sheet.put(number, index, &table.index());
            }
            Unit::Items(names, range) => {
                let (number, start) = self.pdb.table_place(*names);
                let at = start + u64::from(gsi::TABLE_HEADER) + (range.start * gsi::ITEM_SIZE) as u64;
                let out = sheet.fill(number, at, range.len() * gsi::ITEM_SIZE);
                self.pdb.table(*names).write_items(range.clone(), out);
            }
            Unit::PublicRecords(range) => {
                let place = publics.range(range.clone());
                publics.write_records(
                    range.clone(),
                    sheet.fill(streams.records, place.start.into(), place.len()),
                );
            }
            Unit::Addresses(range) => {
                let at = u64::from(gsi::PUBLICS_HEADER) + publics.table.len() + 4 * range.start as u64;
                let out = sheet.fill(streams.publics, at, 4 * range.len());
                let places = publics.by_address[range.clone()].iter().enumerate();
                places.for_each(|(i, &place)| put_u32(out, 4 * i, place));
            }
            Unit::DbiFrame => {
                sheet.put(stream::DBI, 0, &dbi.front);
                sheet.put(stream::DBI, dbi.middle_at(), &dbi.middle);
                sheet.put(stream::DBI, dbi.back_at(), &dbi.back);
                let padding = dbi.names_padding(symbols);
                sheet.fill(stream::DBI, dbi.back_at() - padding as u64, padding);
            }
            Unit::Contributions(range) => {
                let at = dbi.contributions_at() + (range.start * dbi::CONTRIBUTION_SIZE) as u64;
                let out = sheet.fill(stream::DBI, at, range.len() * dbi::CONTRIBUTION_SIZE);
                dbi.write_contributions(range.clone(), out);
            }
            Unit::Files(modules) => {
                let (start, end) = (dbi.files[modules.start], dbi.files[modules.end]);
                let out = sheet.fill(
                    stream::DBI,
                    dbi.files_at() + 4 * u64::from(start),
                    4 * (end - start) as usize,
                );
                dbi.write_files(symbols, modules.clone(), out);
            }
            Unit::NamesFrame => {
                let (header, table) = &self.pdb.names_frame;
                sheet.put(streams.names, 0, header);
                sheet.put(streams.names, header.len() as u64 + u64::from(symbols.strings.len()), table);
            }
            Unit::Strings(range) => {
                let place = symbols.strings.range(range.clone());
                let first = self.pdb.names_frame.0.len() as u64 + u64::from(place.start);
                let second = dbi.names_at() + u64::from(place.start);
                let [names, files] =
                    sheet.reserve([(streams.names, first, place.len()), (stream::DBI, second, place.len())]);
                symbols.strings.write_names(range.clone(), names);
                files.copy_from_slice(names);
            }
            Unit::SectionHeaders => sheet.put(streams.section_headers, 0, &self.pdb.section_headers),
            Unit::Fpo(stream) => sheet.put(*stream, 0, image.fpo),
            Unit::NewFpo(stream) => {
                let len = self.pdb.layout.stream_len(*stream) as usize;
                symbols.write_frames(self.relocate, sheet.fill(*stream, 0, len));
            }
            Unit::Named(i) => sheet.put(streams.named + i, 0, &self.pdb.named[*i].1),
        }
    }

    fn type_streams(&self, space: Space) -> (usize, Option<usize>) {
        match space {
            Space::Type => (stream::TPI, self.pdb.streams.tpi_hash),
            Space::Id => (stream::IPI, self.pdb.streams.ipi_hash),
        }
    }

    /// Symbols and lines of a unit, and its global symbols. The first unit begins with the stream's
    /// signature, the last one ends with a count of references to global symbols, of which nobody makes use.
    fn module(&self, module: usize, unit: usize, sheet: &mut Sheet) {
        let Pdb { types, symbols, streams, publics, .. } = self.pdb;
        let scanned = &symbols.scanned[module];
        let number = usize::from(streams.modules[module]);
        let (start, end) = scanned.unit(unit);
        let c13_at = SIGNATURE_SIZE + scanned.total().symbols;
        let globals = scanned.global_range(unit);
        let range = |stream: usize, start: u32, end: u32| (stream, u64::from(start), (end - start) as usize);
        let globals_at = publics.record_bytes() + globals.start;
        let has_stream = scanned.stream_len() > 0;
        let first = if has_stream && unit == 0 { SIGNATURE_SIZE } else { 0 };
        let last = if has_stream && unit + 1 == scanned.unit_count() { 4 } else { 0 };
        let file_table_at = c13_at + scanned.total().c13;
        let end_at = SIGNATURE_SIZE + scanned.total().symbols + scanned.c13_len();
        // What may grow is one piece with its room, so that hashes of pieces do not depend on where it ends.
        let padding = match last > 0 && symbols.keeps {
            true => self.pdb.layout.padded_len(number) as u32 - (end_at + last),
            false => 0,
        };
        let [globals, signature, symbols_out, c13, file_table, _, _] = sheet.reserve([
            range(streams.records, globals_at, globals_at + globals.len() as u32),
            range(number, 0, first),
            range(number, SIGNATURE_SIZE + start.symbols, SIGNATURE_SIZE + end.symbols),
            range(number, c13_at + start.c13, c13_at + end.c13),
            range(number, file_table_at, file_table_at + scanned.file_table_len(unit)),
            range(number, end_at, end_at + last),
            range(number, end_at + last, end_at + last + padding),
        ]);
        signature.copy_from_slice(&SIGNATURE_C13.to_le_bytes()[..first as usize]);
        let out = Out { symbols: symbols_out, c13, file_table, globals };
        let misfits = crate::symbols::write::unit(symbols, types, self.relocate, module, unit, out);
        self.misfits.fetch_add(misfits, Ordering::Relaxed);
    }
}
