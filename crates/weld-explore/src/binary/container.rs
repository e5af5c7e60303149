//! Headers, sections and tables of a linked file: ELF (gABI, chapter 4) and PE (Microsoft's "PE Format").

use std::borrow::Cow;
use std::io::Read;

use object::read::{CompressionFormat, Object as _, ObjectSection as _};
use object::{Architecture, FileKind, ObjectKind, SectionFlags, SectionKind, elf};

use super::BinaryError;
use crate::cover::Claim;
use crate::model::{Format, Kind};

/// Bytes of a COFF symbol.
const COFF_SYMBOL: u64 = 18;

/// Debug sections may be packed; none is larger than this many bytes when unpacked.
const LARGEST_UNPACKED: u64 = 4 << 30;

/// A section of the file.
pub struct Section<'f> {
    pub name: &'f [u8],
    pub kind: Kind,
    pub address: u64,
    /// In the file; with no bytes there if `size` is 0.
    pub offset: u64,
    pub size: u64,
    /// Bytes in memory.
    pub memory: u64,
    /// The linker has made it.
    pub is_table: bool,
    pub is_tls: bool,
}

/// What bytes of the file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Header,
    /// A table that no section has.
    Table,
    Section(usize),
}

/// A linked file.
pub struct Container<'f> {
    pub format: Format,
    pub machine: &'static str,
    pub sections: Vec<Section<'f>>,
    /// The section with each number that symbols name.
    pub of_index: Vec<Option<usize>>,
    pub file: object::File<'f>,
    /// Headers and tables: offset, size.
    beside: Vec<Claim<Part>>,
}

impl<'f> Container<'f> {
    pub fn parse(bytes: &'f [u8]) -> Result<Container<'f>, BinaryError> {
        let format = match FileKind::parse(bytes) {
            Ok(FileKind::Elf32 | FileKind::Elf64) => Format::Elf,
            Ok(FileKind::Pe32 | FileKind::Pe64) => Format::Pe,
            _ => return Err(BinaryError::Unknown),
        };
        let file = object::File::parse(bytes)?;
        if file.kind() == ObjectKind::Relocatable {
            return Err(BinaryError::Object);
        }
        let beside = match format {
            Format::Elf => elf_headers(bytes),
            Format::Pe => pe_headers(bytes),
        };
        let mut container = Container {
            format,
            machine: machine(file.architecture()),
            sections: Vec::new(),
            of_index: Vec::new(),
            file,
            beside: beside.unwrap_or_default(),
        };
        container.find_sections()?;
        Ok(container)
    }

    fn find_sections(&mut self) -> Result<(), BinaryError> {
        for section in self.file.sections() {
            let number = section.index().0;
            let name = section.name_bytes()?;
            let (kind, is_table, in_memory) = classify(self.format, &section, name);
            let (offset, size) = section.file_range().unwrap_or_default();
            let memory = if in_memory { section.size() } else { 0 };
            let is_tls = matches!(section.kind(), SectionKind::Tls | SectionKind::UninitializedTls);
            let address = section.address();
            // Damaged files may have any number; each section takes bytes of a table.
            if self.of_index.len() <= number {
                self.of_index.resize(number + 1, None);
            }
            self.of_index[number] = Some(self.sections.len());
            self.sections.push(Section { name, kind, address, offset, size, memory, is_table, is_tls });
        }
        Ok(())
    }

    /// The address that others in the file are counted from; 0 in ELF files.
    pub fn base(&self) -> u64 {
        self.file.relative_address_base()
    }

    /// What the file has where. Headers go before sections that claim the same bytes.
    pub fn parts(&self) -> Vec<Claim<Part>> {
        let sections = (0..).zip(&self.sections).map(|(index, section)| Claim {
            offset: section.offset,
            size: section.size,
            what: Part::Section(index),
        });
        self.beside.iter().copied().chain(sections).collect()
    }

    /// The contents of a debug section, unpacked; empty if there is none, or it cannot be unpacked.
    pub fn debug(&self, name: &str) -> Cow<'_, [u8]> {
        let unpacked = || {
            let data = self.file.section_by_name(name)?.compressed_data().ok()?;
            match data.format {
                CompressionFormat::None => Some(Cow::Borrowed(data.data)),
                CompressionFormat::Zlib => {
                    let limit = data.uncompressed_size.min(LARGEST_UNPACKED);
                    let mut out = Vec::new();
                    flate2::read::ZlibDecoder::new(data.data).take(limit).read_to_end(&mut out).ok()?;
                    Some(Cow::Owned(out))
                }
                _ => None,
            }
        };
        unpacked().unwrap_or_default()
    }
}

/// Kind, whether the linker has made it, and whether it is in memory.
fn classify<'f>(format: Format, section: &object::Section<'f, '_>, name: &[u8]) -> (Kind, bool, bool) {
    if format == Format::Pe {
        return match name {
            b".text" => (Kind::Code, false, true),
            b".rdata" | b".rodata" => (Kind::ReadOnly, false, true),
            b".reloc" | b".pdata" | b".xdata" | b".idata" | b".edata" | b".didat" => {
                (Kind::Table, true, true)
            }
            _ if name.starts_with(b".debug") || name.starts_with(b"/") => (Kind::Debug, false, true),
            _ => match section.kind() {
                SectionKind::Text => (Kind::Code, false, true),
                SectionKind::UninitializedData => (Kind::Zeroed, false, true),
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => (Kind::ReadOnly, false, true),
                SectionKind::Data => (Kind::Data, false, true),
                _ => (Kind::Other, false, true),
            },
        };
    }
    let (kind, flags) = match section.flags() {
        SectionFlags::Elf { sh_type, sh_flags } => (sh_type.0, sh_flags.0),
        _ => (0, 0),
    };
    let has = |flag: u64| flags & flag != 0;
    let alloc = has(elf::SHF_ALLOC.0);
    let of_linker = matches!(
        name,
        b".plt"
            | b".plt.sec"
            | b".plt.got"
            | b".iplt"
            | b".got"
            | b".got.plt"
            | b".eh_frame"
            | b".eh_frame_hdr"
            | b".interp"
            | b".sframe"
    );
    // Program data and its like; everything else is a table of a kind of its own.
    let is_program = matches!(kind, 1 | 8 | 14..=16);
    let is_table = of_linker || !is_program;
    let kind = if kind == elf::SHT_NOBITS.0 {
        Kind::Zeroed
    } else if alloc && has(elf::SHF_EXECINSTR.0) {
        Kind::Code
    } else if alloc && has(elf::SHF_WRITE.0) {
        Kind::Data
    } else if alloc && is_table {
        Kind::Table
    } else if alloc {
        Kind::ReadOnly
    } else if [&b".debug"[..], b".zdebug", b".gdb_index", b".stab"].iter().any(|p| name.starts_with(p)) {
        Kind::Debug
    } else if is_table {
        Kind::Table
    } else {
        Kind::Other
    };
    (kind, is_table, alloc)
}

fn machine(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 | Architecture::X86_64_X32 => "x86-64",
        Architecture::I386 => "i386",
        Architecture::Aarch64 | Architecture::Aarch64_Ilp32 => "aarch64",
        Architecture::Arm => "arm",
        Architecture::Riscv64 => "riscv64",
        Architecture::Riscv32 => "riscv32",
        Architecture::S390x => "s390x",
        Architecture::LoongArch64 => "loongarch64",
        Architecture::PowerPc => "ppc32",
        Architecture::PowerPc64 => "ppc64",
        Architecture::Sparc64 => "sparc64",
        Architecture::M68k => "m68k",
        Architecture::Hexagon => "hexagon",
        _ => "",
    }
}

/// Reads numbers of a header.
struct Fields<'f> {
    bytes: &'f [u8],
    big: bool,
}

impl Fields<'_> {
    fn number(&self, at: u64, size: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(if self.big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    }
}

fn header(offset: u64, size: u64) -> Claim<Part> {
    Claim { offset, size, what: Part::Header }
}

/// The ELF header, program headers and section headers.
fn elf_headers(bytes: &[u8]) -> Option<Vec<Claim<Part>>> {
    let wide = bytes.get(4) == Some(&2);
    let fields = Fields { bytes, big: bytes.get(5) == Some(&2) };
    let (word, phoff, shoff, rest) = if wide { (8, 32, 40, 52) } else { (4, 28, 32, 40) };
    let own = fields.number(rest, 2)?;
    let program = fields.number(rest + 2, 2)? * fields.number(rest + 4, 2)?;
    let entry = fields.number(rest + 6, 2)?;
    let start = fields.number(shoff, word)?;
    let count = match fields.number(rest + 8, 2)? {
        // The first header has it.
        0 if start > 0 => fields.number(start.checked_add(if wide { 32 } else { 20 })?, word)?,
        count => count,
    };
    Some(vec![
        header(0, own),
        header(fields.number(phoff, word)?, program),
        header(start, entry.saturating_mul(count)),
    ])
}

/// The headers, the COFF symbol table with its names, and certificates.
fn pe_headers(bytes: &[u8]) -> Option<Vec<Claim<Part>>> {
    let fields = Fields { bytes, big: false };
    let coff = fields.number(0x3c, 4)? + 4;
    let optional = coff + 20;
    let size_of_headers = fields.number(optional + 60, 4)?;
    let mut claims = vec![header(0, size_of_headers)];
    let (symbols, count) = (fields.number(coff + 8, 4)?, fields.number(coff + 12, 4)?);
    if symbols > 0 {
        let table = count * COFF_SYMBOL;
        let names = fields.number(symbols + table, 4).unwrap_or(0);
        claims.push(Claim { offset: symbols, size: table + names, what: Part::Table });
    }
    let directories = optional + if fields.number(optional, 2)? == 0x20b { 112 } else { 96 };
    // The directory of certificates has an offset in the file, not an address.
    if fields.number(directories - 4, 4)? > 4 {
        let certificates = directories + 4 * 8;
        let offset = fields.number(certificates, 4)?;
        claims.push(Claim { offset, size: fields.number(certificates + 4, 4)?, what: Part::Table });
    }
    Some(claims)
}
