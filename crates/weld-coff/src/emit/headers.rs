//! The headers in front of the image: DOS, PE, and the table of sections.

use std::fmt;
use std::path::Path;

use weld_common::diag::{Cause, DiagSink};
use weld_common::io::input::{InputError, InputStore};
use weld_common::text;

use super::symbol_table::SymbolTable;
use crate::address::Rva;
use crate::coff::machine::Machine;
use crate::coff::pe;
use crate::layout::OutputSection;
use crate::options::{Options, Subsystem, Timestamp};
use crate::synth::image::Image;

/// Bytes of the DOS header.
const DOS_HEADER: usize = 64;
/// Prints a line and ends.
const DOS_PROGRAM: &[u8] =
    b"\x0e\x1f\xba\x0e\x00\xb4\x09\xcd\x21\xb8\x01\x4c\xcd\x21This program cannot be run in DOS mode.$\0\0";
/// Bytes of the PE signature, the file header, of one section.
const SIGNATURE: usize = 4;
const FILE_HEADER: usize = 20;
const SECTION_HEADER: usize = 40;
const DIRECTORIES: usize = 16;
/// Where in the optional header the checksum is.
const CHECKSUM: usize = 64;

/// Address and size of what a data directory leads to, by `IMAGE_DIRECTORY_ENTRY_*`.
pub type Directories = [(Rva, u32); DIRECTORIES];

/// The program for DOS that the image begins with, up to the PE signature.
pub fn dos_program(options: &Options, store: &InputStore, sink: &DiagSink) -> Vec<u8> {
    let Some(path) = &options.stub else { return own_dos_program() };
    match read_stub(path, store) {
        Ok(bytes) => bytes,
        Err(e) => {
            sink.error(Cause::DosStub, format!("/stub: {}: {e}", text::path(path)));
            own_dos_program()
        }
    }
}

/// Why a file cannot be what the image begins with.
enum StubError {
    Missing,
    Input(InputError),
    NotDos,
}

impl fmt::Display for StubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StubError::Missing => f.write_str("No such file or directory"),
            StubError::Input(e) => e.fmt(f),
            StubError::NotDos => f.write_str("it is no program for DOS"),
        }
    }
}

fn read_stub(path: &Path, store: &InputStore) -> Result<Vec<u8>, StubError> {
    let bytes = store.open(path).map_err(StubError::Input)?.ok_or(StubError::Missing)?;
    if !bytes.starts_with(b"MZ") || bytes.len() < DOS_HEADER {
        return Err(StubError::NotDos);
    }
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let end = bytes.len() as u32;
    bytes[60..64].copy_from_slice(&end.to_le_bytes());
    Ok(bytes)
}

fn own_dos_program() -> Vec<u8> {
    let size = (DOS_HEADER + DOS_PROGRAM.len()).next_multiple_of(8);
    let mut bytes = vec![0; size];
    let mut word = |at: usize, value: u16| bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    word(0, u16::from_le_bytes(*b"MZ"));
    word(2, size as u16 % 512);
    word(4, size.div_ceil(512) as u16);
    // Sixteen bytes each.
    word(8, DOS_HEADER as u16 / 16);
    word(24, DOS_HEADER as u16);
    word(60, size as u16);
    bytes[DOS_HEADER..DOS_HEADER + DOS_PROGRAM.len()].copy_from_slice(DOS_PROGRAM);
    bytes
}

/// Bytes of the optional header with its directories.
fn optional_size(machine: Machine) -> usize {
    if machine.is_64() { 240 } else { 224 }
}

/// Bytes of all headers for so many sections.
pub fn size(dos_program: usize, machine: Machine, sections: usize) -> u64 {
    (dos_program + SIGNATURE + FILE_HEADER + optional_size(machine) + sections * SECTION_HEADER) as u64
}

/// Where in the file the time is, and where the checksum ends.
pub fn id_range(dos_program: usize) -> std::ops::Range<u64> {
    let time = (dos_program + SIGNATURE + 4) as u64;
    let checksum = dos_program + SIGNATURE + FILE_HEADER + CHECKSUM;
    time..checksum as u64 + 4
}

/// Numbers put one after the other.
struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn version(&mut self, (major, minor): (u16, u16)) {
        self.u16(major);
        self.u16(minor);
    }
}

/// All headers but for the time, unless it is given, and the checksum. The symbol table is at
/// `symbols_at` in the file.
pub fn bytes(
    image: &Image,
    dos_program: &[u8],
    directories: &Directories,
    symbols: &SymbolTable,
    symbols_at: u32,
) -> Vec<u8> {
    let mut out = Writer(dos_program.to_vec());
    out.0.extend_from_slice(b"PE\0\0");
    file_header(image, symbols, symbols_at, &mut out);
    optional_header(image, directories, &mut out);
    for (i, section) in image.layout.outs.iter().enumerate() {
        section_header(section, symbols.section_names[i], &mut out);
    }
    out.0.resize(image.layout.headers_size as usize, 0);
    out.0
}

fn file_header(image: &Image, symbols: &SymbolTable, symbols_at: u32, out: &mut Writer) {
    let options = image.options;
    let is_64 = image.resolved.machine.is_64();
    out.u16(image.resolved.machine.number());
    out.u16(image.layout.outs.len() as u16);
    out.u32(match options.timestamp {
        Timestamp::Given(seconds) => seconds,
        Timestamp::Hash => 0,
    });
    out.u32(if symbols.bytes.is_empty() { 0 } else { symbols_at });
    out.u32(symbols.count);
    out.u16(optional_size(image.resolved.machine) as u16);
    let flags = [
        (true, pe::IMAGE_FILE_EXECUTABLE_IMAGE),
        (options.loading.large_address_aware.unwrap_or(is_64), pe::IMAGE_FILE_LARGE_ADDRESS_AWARE),
        (!options.loading.is_relocatable(), pe::IMAGE_FILE_RELOCS_STRIPPED),
        (!is_64, pe::IMAGE_FILE_32BIT_MACHINE),
        (options.dll, pe::IMAGE_FILE_DLL),
        (options.loading.swap_run_cd, pe::IMAGE_FILE_REMOVABLE_RUN_FROM_SWAP),
        (options.loading.swap_run_net, pe::IMAGE_FILE_NET_RUN_FROM_SWAP),
        (options.loading.driver_up_only, pe::IMAGE_FILE_UP_SYSTEM_ONLY),
    ];
    out.u16(flags.iter().filter(|(on, _)| *on).fold(0, |all, (_, flag)| all | flag.0));
}

fn optional_header(image: &Image, directories: &Directories, out: &mut Writer) {
    let (options, layout, resolved) = (image.options, image.layout, image.resolved);
    let outs = &layout.outs;
    let sum = |flag: u32| -> u32 {
        outs.iter().filter(|out| out.flags & flag != 0).map(|out| out.raw_size as u32).sum()
    };
    let is_64 = resolved.machine.is_64();
    let address = |out: &mut Writer, value: u64| match is_64 {
        true => out.u64(value),
        false => out.u32(value as u32),
    };
    out.u16(if is_64 { 0x20b } else { 0x10b });
    out.u8(14);
    out.u8(0);
    out.u32(sum(pe::IMAGE_SCN_CNT_CODE.0));
    out.u32(sum(pe::IMAGE_SCN_CNT_INITIALIZED_DATA.0));
    out.u32(0);
    out.u32(resolved.program.entry.and_then(|entry| image.rva_of(entry)).map_or(0, Rva::get));
    out.u32(outs.iter().find(|out| out.is_code()).map_or(0, |out| out.rva.get()));
    // Where data begins, which nobody asks.
    if !is_64 {
        out.u32(0);
    }
    address(out, image.base);
    out.u32(options.layout.align as u32);
    out.u32(options.layout.file_align as u32);
    let subsystem_version = resolved.program.subsystem_version.unwrap_or((6, 0));
    out.version(options.os_version.unwrap_or(subsystem_version));
    let version =
        if options.version == (0, 0) { resolved.program.version.unwrap_or((0, 0)) } else { options.version };
    out.version(version);
    out.version(subsystem_version);
    out.u32(0);
    out.u32(layout.image_size as u32);
    out.u32(layout.headers_size as u32);
    out.u32(0);
    out.u16(resolved.program.subsystem.map_or(0, Subsystem::number));
    out.u16(dll_characteristics(options, is_64, image.tables.guards.no_seh));
    let demands = &resolved.demands;
    for sizes in [demands.stack, demands.heap] {
        let (reserve, commit) = sizes.unwrap_or((1 << 20, None));
        address(out, reserve);
        address(out, commit.unwrap_or(4096));
    }
    out.u32(0);
    out.u32(DIRECTORIES as u32);
    for (rva, size) in directories {
        out.u32(rva.get());
        out.u32(*size);
    }
}

fn dll_characteristics(options: &Options, is_64: bool, no_seh: bool) -> u16 {
    let dynamic = options.loading.dynamic_base();
    let flags = [
        (options.loading.high_entropy_va && dynamic && is_64, pe::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA),
        (dynamic, pe::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE),
        (options.loading.integrity_check, pe::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY),
        (options.loading.nx_compat, pe::IMAGE_DLLCHARACTERISTICS_NX_COMPAT),
        (!options.loading.allow_isolation, pe::IMAGE_DLLCHARACTERISTICS_NO_ISOLATION),
        (no_seh, pe::IMAGE_DLLCHARACTERISTICS_NO_SEH),
        (options.guard.functions, pe::IMAGE_DLLCHARACTERISTICS_GUARD_CF),
        (!options.loading.allow_bind, pe::IMAGE_DLLCHARACTERISTICS_NO_BIND),
        (options.loading.app_container, pe::IMAGE_DLLCHARACTERISTICS_APPCONTAINER),
        (options.loading.driver_wdm, pe::IMAGE_DLLCHARACTERISTICS_WDM_DRIVER),
        (
            !options.dll && options.loading.ts_aware.unwrap_or(!options.loading.driver),
            pe::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE,
        ),
    ];
    flags.iter().filter(|(on, _)| *on).fold(0, |all, (_, flag)| all | flag.0)
}

fn section_header(section: &OutputSection, name_at: Option<u32>, out: &mut Writer) {
    let mut name = [0; 8];
    let text = match name_at {
        Some(offset) => format!("/{offset}").into_bytes(),
        None => section.name.clone(),
    };
    let len = text.len().min(8);
    name[..len].copy_from_slice(&text[..len]);
    out.0.extend_from_slice(&name);
    out.u32(section.virtual_size as u32);
    out.u32(section.rva.get());
    out.u32(section.raw_size as u32);
    out.u32(section.offset.field());
    [0; 3].iter().for_each(|zero| out.u32(*zero));
    out.u32(section.flags);
}

/// The sum that `/release` asks for: of all 16-bit words of the file, the checksum's own being zero, with
/// carries added back, plus the size of the file.
#[derive(Default)]
pub struct Checksum {
    sum: u64,
    /// A byte whose word is not whole.
    odd: Option<u8>,
    len: u64,
}

impl Checksum {
    pub fn add(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let mut bytes = bytes;
        if let (Some(low), [high, rest @ ..]) = (self.odd, bytes) {
            self.sum += u64::from(u16::from_le_bytes([low, *high]));
            self.odd = None;
            bytes = rest;
        }
        let (words, rest) = bytes.as_chunks::<2>();
        self.sum += words.iter().map(|word| u64::from(u16::from_le_bytes(*word))).sum::<u64>();
        self.odd = rest.first().copied().or(self.odd);
    }

    pub fn finish(self) -> u32 {
        let mut sum = self.sum + u64::from(self.odd.unwrap_or(0));
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        (sum as u32).wrapping_add(self.len as u32)
    }
}
