//! The DBI stream: modules, what each has in the image, sections, source files.
//!
//! Its parts lie one after the other, and their lengths are in its header. Lists of contributions and of
//! files are written in pieces; the rest is made at once.
//!
//! Facts: LLVM's documentation of the DBI stream, `dbi.h` in microsoft-pdb.

use std::ops::Range;

use weld_common::diag::{Cause, Diagnostic};
use weld_common::sort;

use crate::codeview::u32_at;
use crate::input::{Contribution, Image};
use crate::linker_module::LINKER_MODULE;
use crate::put::{Writer, put_u16, put_u32};
use crate::strings;
use crate::symbols::Symbols;

pub const HEADER_SIZE: usize = 64;
const VERSION: u32 = 1999_0903;
/// Version 14.11 of the linker, in the new format.
const BUILD_NUMBER: u16 = 0x8e0b;
/// Where in the header the numbers of the streams of globals, of publics and of records are.
pub const GLOBALS_AT: usize = 12;
pub const PUBLICS_AT: usize = 16;
pub const RECORDS_AT: usize = 20;
/// Where in the header the lengths of the lists of modules, of contributions, of sections and of files are.
pub const LENGTHS_AT: [usize; 4] = [24, 28, 32, 36];
/// Where a contribution has its size, its section's characteristics, and the checksum of its contents.
pub const SIZE_AT: usize = 8;
pub const CHARACTERISTICS_AT: usize = 12;
pub const CRC_AT: usize = 20;
/// And the number of its module.
pub const MODULE_AT: usize = 16;
/// Bytes of what is known of a module, before its names; and where its first contribution is in it.
pub const MODULE_SIZE: usize = 64;
pub const MODULE_CONTRIBUTION_AT: usize = 4;
/// Where in it the number of its stream is, and the lengths of symbols and of lines in that.
pub const MODULE_STREAM_AT: usize = 34;
pub const MODULE_LENGTHS_AT: [usize; 2] = [36, 44];

const CONTRIBUTIONS_VERSION: u32 = 0xeffe_0000 + 1997_0605;
pub const CONTRIBUTION_SIZE: usize = 28;
pub const AGE: u32 = 1;

/// A stream that is not there.
pub const NO_STREAM: u16 = 0xffff;

/// Streams of other tables that a PDB may have: so many, and which of them are which.
const DEBUG_STREAMS: usize = 11;
const FPO: usize = 0;
const SECTION_HEADERS: usize = 5;
const NEW_FPO: usize = 9;

/// Modules are counted in 16 bits.
const MOST_MODULES: usize = 0xfffe;

/// Files of a module are counted in 16 bits; what is beyond is not listed here.
const MOST_FILES: usize = 0xffff;

/// Numbers of the streams that the header names.
#[derive(Clone, Copy)]
pub struct Streams {
    pub globals: u16,
    pub publics: u16,
    pub records: u16,
    pub section_headers: u16,
    /// Frames of functions, in the old format and the new one; [`NO_STREAM`] if there is none.
    pub fpo: u16,
    pub new_fpo: u16,
}

pub struct Dbi {
    /// The header and the list of modules.
    pub front: Vec<u8>,
    pub contributions: Vec<Contribution>,
    /// The map of sections, and the list of files up to the places of their names.
    pub middle: Vec<u8>,
    /// How many files are listed before each module's, and in the end.
    pub files: Vec<u32>,
    /// Names of files: the bytes of `/names`, so that places are the same. Then names of program databases,
    /// and streams.
    names_len: u32,
    pub back: Vec<u8>,
}

impl Dbi {
    /// `stream_of` tells the number of each module's stream.
    pub fn new(
        image: &Image<'_>,
        symbols: &Symbols<'_>,
        streams: Streams,
        stream_of: &[u16],
        parallel: bool,
    ) -> Result<Dbi, Diagnostic> {
        if symbols.modules.len() > MOST_MODULES {
            let text =
                format!("too many modules for a PDB: {} of at most {MOST_MODULES}", symbols.modules.len());
            return Err(Diagnostic::error(Cause::PdbLimit, text));
        }
        let contributions = sorted(image.contributions, parallel);
        let map = section_map(image);
        let files = file_counts(symbols);
        let names_len = symbols.strings.len().next_multiple_of(4);
        let file_lists = file_lists(&files);
        let file_info_len =
            file_lists.len() as u64 + 4 * u64::from(files[files.len() - 1]) + u64::from(names_len);
        let programs = strings::table_of(image.pdb_path.as_bytes());
        let modules = modules(symbols, stream_of);
        let mut streams_list = [0xff; 2 * DEBUG_STREAMS];
        put_u16(&mut streams_list, 2 * FPO, streams.fpo);
        put_u16(&mut streams_list, 2 * SECTION_HEADERS, streams.section_headers);
        put_u16(&mut streams_list, 2 * NEW_FPO, streams.new_fpo);
        let contributions_len = 4 + contributions.len() * CONTRIBUTION_SIZE;
        let too_large = || {
            Diagnostic::error(
                Cause::PdbLimit,
                "lists of modules, files or contributions are too large for a PDB",
            )
        };
        let lens = [
            modules.len() as u64,
            contributions_len as u64,
            map.len() as u64,
            file_info_len,
            0,
            0,
            streams_list.len() as u64,
            programs.len() as u64,
        ];
        if lens.iter().sum::<u64>() > 1 << 31 {
            return Err(too_large());
        }
        let mut front = header(image, streams, lens.map(|len| len as u32));
        front.extend(modules);
        front.extend(CONTRIBUTIONS_VERSION.to_le_bytes());
        let middle = [map, file_lists].concat();
        let back = [&programs[..], &streams_list].concat();
        Ok(Dbi { front, contributions, middle, files, names_len, back })
    }

    pub fn contributions_at(&self) -> u64 {
        self.front.len() as u64
    }

    pub fn middle_at(&self) -> u64 {
        self.contributions_at() + (self.contributions.len() * CONTRIBUTION_SIZE) as u64
    }

    pub fn files_at(&self) -> u64 {
        self.middle_at() + self.middle.len() as u64
    }

    pub fn names_at(&self) -> u64 {
        self.files_at() + 4 * u64::from(self.files[self.files.len() - 1])
    }

    pub fn back_at(&self) -> u64 {
        self.names_at() + u64::from(self.names_len)
    }

    pub fn stream_len(&self) -> u64 {
        self.back_at() + self.back.len() as u64
    }

    /// Bytes after the names up to a multiple of 4.
    pub fn names_padding(&self, symbols: &Symbols<'_>) -> usize {
        (self.names_len - symbols.strings.len()) as usize
    }

    pub fn write_contributions(&self, range: Range<usize>, out: &mut [u8]) {
        for (contribution, out) in
            self.contributions[range].iter().zip(out.chunks_exact_mut(CONTRIBUTION_SIZE))
        {
            put_contribution(contribution, out);
        }
    }

    /// Places of the names of some modules' files.
    pub fn write_files(&self, symbols: &Symbols<'_>, modules: Range<usize>, out: &mut [u8]) {
        let mut out = Writer::new(out);
        for module in &symbols.scanned[modules] {
            module.files.iter().take(MOST_FILES).for_each(|&i| out.u32(module.names[i as usize].0.offset));
        }
    }
}

/// `lens` are those of the parts in their order in the header: the list of streams comes before names of
/// program databases there, and after them in the stream.
fn header(image: &Image<'_>, streams: Streams, lens: [u32; 8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_SIZE];
    let mut out = Writer::new(&mut bytes);
    [u32::MAX, VERSION, AGE].into_iter().for_each(|word| out.u32(word));
    let halves = [streams.globals, BUILD_NUMBER, streams.publics, 0, streams.records, 0];
    halves.into_iter().for_each(|half| out.u16(half));
    lens.into_iter().for_each(|len| out.u32(len));
    out.u16(0);
    out.u16(image.machine);
    out.u32(0);
    bytes
}

/// By their places; several may lie at one, of which one at most has a size, and that is the last. Nothing of a link's history
/// decides, so that a relink ([`crate::resize`]) puts them in the same order.
fn sorted(contributions: &[Contribution], parallel: bool) -> Vec<Contribution> {
    let key =
        |c: &Contribution| (c.section, c.offset, c.size > 0, c.module, c.size, c.characteristics, c.crc);
    let contributions = contributions.to_vec();
    if contributions.is_sorted_by_key(key) {
        return contributions;
    }
    sort::by(contributions, parallel, |a, b| key(a).cmp(&key(b)))
}

/// The same key of an entry of the list.
pub fn order_of(entry: &[u8; CONTRIBUTION_SIZE]) -> [u32; 7] {
    let word = |at: usize| u32_at(&entry[..], at).unwrap_or(0);
    let has_size = u32::from(word(SIZE_AT) > 0);
    [word(0), word(4), has_size, word(MODULE_AT), word(SIZE_AT), word(CHARACTERISTICS_AT), word(CRC_AT)]
}

pub fn put_contribution(contribution: &Contribution, out: &mut [u8]) {
    let c = contribution;
    put_u32(out, 0, c.section.into());
    put_u32(out, 4, c.offset);
    put_u32(out, 8, c.size);
    put_u32(out, 12, c.characteristics);
    put_u32(out, 16, c.module.into());
    put_u32(out, CRC_AT, c.crc);
    put_u32(out, 24, 0);
}

/// What a module has that has nothing in the image.
pub const NOTHING: Contribution =
    Contribution { module: 0xffff, section: 0xffff, offset: 0, size: u32::MAX, characteristics: 0, crc: 0 };

fn modules(symbols: &Symbols<'_>, stream_of: &[u16]) -> Vec<u8> {
    let mut all = Vec::new();
    for (i, (module, scanned)) in symbols.modules.iter().zip(&symbols.scanned).enumerate() {
        let total = scanned.total();
        let symbol_bytes = if scanned.stream_len() == 0 { 0 } else { 4 + total.symbols };
        let mut fixed = [0; MODULE_SIZE];
        put_u32(&mut fixed, 0, i as u32);
        put_contribution(
            &module.contribution.unwrap_or(NOTHING),
            &mut fixed[MODULE_CONTRIBUTION_AT..MODULE_CONTRIBUTION_AT + CONTRIBUTION_SIZE],
        );
        put_u16(&mut fixed, MODULE_STREAM_AT, stream_of[i]);
        put_u32(&mut fixed, MODULE_LENGTHS_AT[0], symbol_bytes);
        put_u32(&mut fixed, MODULE_LENGTHS_AT[1], scanned.c13_len());
        put_u16(&mut fixed, 48, scanned.files.len().min(MOST_FILES) as u16);
        // The linker's module names the PDB itself, which is the first of the names.
        put_u32(&mut fixed, 60, (module.name == LINKER_MODULE).into());
        all.extend(fixed);
        for text in [module.name, module.file] {
            all.extend(text.bytes().filter(|&byte| byte != 0));
            all.push(0);
        }
        all.resize(all.len().next_multiple_of(4), 0);
    }
    all
}

/// The map of sections, each with its rights, and a last one for absolute addresses.
fn section_map(image: &Image<'_>) -> Vec<u8> {
    const READ: u16 = 1;
    const WRITE: u16 = 2;
    const EXECUTE: u16 = 4;
    const WIDE: u16 = 8;
    const SELECTOR: u16 = 0x100;
    const ABSOLUTE: u16 = 0x200;
    let mut all = Vec::new();
    let count = image.sections.len() as u16 + 1;
    [count, count].iter().for_each(|count| all.extend(count.to_le_bytes()));
    let mut entry = |flags: u16, frame: u16, size: u32| {
        [flags, 0, 0, frame, 0xffff, 0xffff, 0, 0].iter().for_each(|half| all.extend(half.to_le_bytes()));
        all.extend(size.to_le_bytes());
    };
    for (i, section) in image.sections.iter().enumerate() {
        let right = |bit: u32, flag| if section.characteristics & bit != 0 { flag } else { 0 };
        let rights = right(1 << 30, READ) | right(1 << 31, WRITE) | right(1 << 29, EXECUTE);
        let wide = if section.characteristics & 0x2_0000 == 0 { WIDE } else { 0 };
        entry(rights | wide | SELECTOR, i as u16 + 1, section.virtual_size);
    }
    entry(WIDE | ABSOLUTE, count, u32::MAX);
    all
}

/// How many files are listed before those of each module, and how many are in the end.
fn file_counts(symbols: &Symbols<'_>) -> Vec<u32> {
    let mut sum = 0;
    let mut counts = vec![0];
    for module in &symbols.scanned {
        sum += module.files.len().min(MOST_FILES) as u32;
        counts.push(sum);
    }
    counts
}

/// What is in front of the places of names: how many modules and files there are, and how many files each
/// module has.
fn file_lists(counts: &[u32]) -> Vec<u8> {
    let modules = counts.len() - 1;
    // Readers do not rely on this one, which has too few bits.
    let total = counts[modules].min(0xffff) as u16;
    let mut all = Vec::new();
    [modules as u16, total].iter().for_each(|half| all.extend(half.to_le_bytes()));
    (0..modules).for_each(|i| all.extend((i as u16).to_le_bytes()));
    counts.windows(2).for_each(|pair| all.extend(((pair[1] - pair[0]) as u16).to_le_bytes()));
    all
}

/// The stream of section headers: the image's section table.
pub fn section_headers(image: &Image<'_>) -> Vec<u8> {
    let mut all = Vec::new();
    for section in image.sections {
        all.extend(section.name);
        let words = [section.virtual_size, section.virtual_address, section.raw_size, section.raw_pointer];
        words.into_iter().for_each(|word| all.extend(word.to_le_bytes()));
        all.extend([0; 12]);
        all.extend(section.characteristics.to_le_bytes());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has no size lies in front of what begins there, whatever its module is, so that none lies on another.
    #[test]
    fn contributions_lie_one_behind_the_other() {
        let of = |module, offset, size| Contribution {
            module,
            section: 2,
            offset,
            size,
            characteristics: 0x4000_0040,
            crc: 0,
        };
        let list = [of(9, 16, 8), of(116, 16, 0), of(3, 0, 16), of(2, 16, 0), of(3, 24, 0), of(1, 24, 4)];
        let sorted = sorted(&list, false);
        let places: Vec<_> = sorted.iter().map(|c| (c.offset, c.size, c.module)).collect();
        assert_eq!(places, [(0, 16, 3), (16, 0, 2), (16, 0, 116), (16, 8, 9), (24, 0, 3), (24, 4, 1)]);
        let entries = sorted.iter().map(|contribution| {
            let mut entry = [0; CONTRIBUTION_SIZE];
            put_contribution(contribution, &mut entry);
            order_of(&entry)
        });
        assert!(entries.is_sorted());
    }
}
