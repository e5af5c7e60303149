//! Why a file cannot take part in a link.
//!
//! Which file that is knows who has read it, and says it in front: the rounds of resolution
//! (`weld_common::resolve`). What is wrong inside of it is said with the table, section or symbol that it is
//! about.
//!
//! Nearly all files are sound, and symbols are looked at by the million, so the error is no larger than two
//! words.

use std::fmt::{self, Display};

use weld_common::diag::{Cause, HasCause};
use weld_common::io::thin::MemberError;
use weld_lto::ir::ReadError;

use super::versions::VersionError;
use crate::elf::{ET_CORE, ET_NONE, Target};

/// Why a file cannot take part.
#[derive(Debug)]
pub enum Unusable {
    /// A member of an archive whose bytes are not to be had.
    Member(Box<MemberError>),
    /// Intermediate code that cannot be read.
    Code(Box<ReadError>),
    Malformed(Box<Malformed>),
}

impl HasCause for Unusable {
    fn cause(&self) -> Cause {
        match self {
            Unusable::Member(_) => Cause::MalformedArchive,
            Unusable::Code(error) => match **error {
                ReadError::Malformed { .. } => Cause::MalformedObject,
                _ => Cause::LtoIncompatible,
            },
            Unusable::Malformed(malformed) => match **malformed {
                Malformed::OtherMachine { .. } => Cause::WrongMachine,
                Malformed::Executable | Malformed::PositionIndependentExecutable => Cause::ExecutableAsInput,
                _ => Cause::MalformedObject,
            },
        }
    }
}

/// What is wrong with an object or a shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is for another machine than what is linked (by its emulation).
    OtherMachine {
        linked: &'static str,
        of: Target,
    },
    /// It is an executable, of which there are two kinds.
    Executable,
    PositionIndependentExecutable,
    NotElf,
    /// The file is shorter than its header.
    NoHeader,
    /// `EI_CLASS` or `EI_DATA` has no meaning.
    UnknownFormat,
    /// `e_type` is not that of an object.
    FileType(u16),
    /// A field of the file's header.
    Header {
        field: &'static str,
        value: u64,
    },
    /// `e_shnum` sections, but no table of them.
    NoSections(u16),
    SectionCount(u64),
    /// `e_shstrndx` is a section that is no string table.
    NamesNotStrings(u32),
    /// The table is not inside the file.
    OutOfBounds(Table),
    /// The table's size in bytes is no multiple of that of its records.
    Size {
        table: Table,
        bytes: u64,
    },
    /// A field of the table's section header.
    Field {
        table: Table,
        field: &'static str,
        value: u64,
    },
    /// `sh_link` of a table with names is no string table.
    NoStrings {
        table: Table,
        link: u32,
    },
    /// `sh_link` of a table about symbols is no symbol table.
    NoSymbols {
        table: Table,
        link: u32,
    },
    SecondSymbolTable,
    /// The last string has no NUL.
    Unterminated,
    /// Not as many extended section indices as symbols.
    IndexCount {
        indices: usize,
        symbols: usize,
    },
    /// Fewer version indices than dynamic symbols.
    ShortVersions,
    EmptyGroup(u32),
    GroupFlags {
        group: u32,
        flags: u32,
    },
    /// A member of a group that is a group itself, or does not exist.
    GroupMember {
        group: u32,
        member: u32,
        exists: bool,
    },
    /// The signature of a group is a local symbol without a name.
    GroupName,
    /// The name of a symbol is not in the string table.
    SymbolName {
        table: Table,
        index: usize,
    },
    SymbolBinding {
        index: usize,
        binding: u8,
    },
    /// A symbol after the local ones (`sh_info`) is local.
    LateLocal(usize),
    LateLocalDynamic(Box<str>),
    Misplaced(Misplaced),
    CommonAlignment {
        name: Box<str>,
        align: u64,
    },
    /// The version index of a dynamic symbol has no name.
    SymbolVersion {
        name: Box<str>,
        version: u16,
    },
    /// An offset in the dynamic section is that of no string.
    DynamicString,
    VersionDefinitions(VersionError),
    NeededVersions(VersionError),
}

/// A table of a file, with its section's number where there may be several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    SectionHeaders,
    SectionNames,
    Symbols,
    /// Names of symbols.
    Strings,
    /// `SHT_SYMTAB_SHNDX`.
    SectionIndices(u32),
    Group(u32),
    Dynamic,
    DynamicSymbols,
    DynamicStrings,
    /// `.gnu.version`.
    Versions,
    /// `.gnu.version_d`.
    VersionDefinitions,
    /// `.gnu.version_r`.
    NeededVersions,
}

/// A symbol that lies nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    pub symbol: SymbolLabel,
    pub why: Nowhere,
}

/// A symbol for messages: its name, or its index if it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolLabel {
    Name(Box<str>),
    Index(u32),
}

/// Why a symbol lies nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nowhere {
    LocalAndUndefined,
    LocalAndCommon,
    /// It has the index `SHN_XINDEX`, and no entry in the table of such.
    NoExtendedIndex,
    ReservedIndex(u16),
    /// A section that holds neither code nor data.
    NoContents(u16),
    NoSection(u32),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Member(error) => error.fmt(f),
            Unusable::Code(error) => error.fmt(f),
            Unusable::Malformed(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::OtherMachine { linked, of } => {
                write!(f, "is incompatible with {linked}: it is for {of}")
            }
            Malformed::Executable => f.write_str("is an executable, not an object"),
            Malformed::PositionIndependentExecutable => {
                f.write_str("is a position-independent executable and cannot be linked against")
            }
            Malformed::NotElf => f.write_str("is not an ELF object"),
            Malformed::NoHeader => f.write_str("is too short for an ELF header"),
            Malformed::UnknownFormat => f.write_str("has an unknown class or byte order (e_ident)"),
            Malformed::FileType(ET_CORE) => f.write_str("is a core file, not an object"),
            Malformed::FileType(ET_NONE) => {
                f.write_str("does not say what kind of file it is (its e_type is 0)")
            }
            Malformed::FileType(other) => write!(f, "has an unknown file type (e_type): {other:#x}"),
            Malformed::Header { field, value } => write!(f, "has a bad {field}: {value}"),
            Malformed::NoSections(count) => {
                write!(f, "has no section header table (e_shoff), but {count} sections (e_shnum)")
            }
            Malformed::SectionCount(count) => write!(f, "has a bad section count: {count}"),
            Malformed::NamesNotStrings(index) => {
                write!(f, "has a bad e_shstrndx: section {index} is no string table")
            }
            Malformed::OutOfBounds(table) => table.out_of_bounds(f),
            Malformed::Size { table: table @ Table::Group(_), bytes } => {
                write!(f, "{table} ends within a word: it has {bytes:#x} bytes")
            }
            Malformed::Size { table, bytes } => write!(f, "{table} has a bad size: {bytes}"),
            Malformed::Field { table, field, value } => write!(f, "{table} has a bad {field}: {value}"),
            Malformed::NoStrings { table, link } => {
                write!(f, "{table} has a bad sh_link: section {link} is no string table")
            }
            Malformed::NoSymbols { table, link } => {
                let wanted = if *table == Table::Versions { Table::DynamicSymbols } else { Table::Symbols };
                write!(f, "{table} is linked to section {link} (sh_link), which is not the {wanted}")
            }
            Malformed::SecondSymbolTable => f.write_str("has more than one symbol table"),
            Malformed::Unterminated => f.write_str("string table is not terminated by a NUL"),
            Malformed::IndexCount { indices, symbols } => {
                write!(f, "SHT_SYMTAB_SHNDX section has {indices} entries for {symbols} symbols")
            }
            Malformed::ShortVersions => f.write_str("version table is shorter than the dynamic symbol table"),
            Malformed::EmptyGroup(group) => write!(f, "section group {group} is empty"),
            Malformed::GroupFlags { group, flags } => {
                write!(f, "section group {group} has unsupported flags {flags:#x}")
            }
            Malformed::GroupMember { group, member, exists } => {
                let why = if *exists { "is a group itself" } else { "does not exist" };
                write!(f, "section group {group} has section {member} as a member, which {why}")
            }
            Malformed::GroupName => f.write_str("section group has a bad signature name"),
            _ => self.of_symbol(f),
        }
    }
}

impl Malformed {
    /// What is wrong with a symbol or a version.
    fn of_symbol(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::SymbolName { table: Table::DynamicSymbols, index } => {
                write!(f, "dynamic symbol {index} has a bad name")
            }
            Malformed::SymbolName { index, .. } => write!(f, "symbol {index} has a bad name"),
            Malformed::SymbolBinding { index, binding } => {
                write!(f, "symbol {index} has an unknown binding: {binding}")
            }
            Malformed::LateLocal(index) => {
                write!(f, "has a local symbol at index {index}, among the global ones")
            }
            Malformed::LateLocalDynamic(name) => {
                write!(f, "dynamic symbol '{name}' is local, but comes after the first that is not (sh_info)")
            }
            Malformed::Misplaced(misplaced) => misplaced.fmt(f),
            Malformed::CommonAlignment { name, align } => {
                write!(f, "common symbol '{name}' has a bad alignment (st_value): {align}")
            }
            Malformed::SymbolVersion { name, version } => write!(
                f,
                "dynamic symbol '{name}' has version index {version} (.gnu.version), which no version definition has"
            ),
            Malformed::DynamicString => f.write_str("dynamic section has a bad string offset"),
            Malformed::VersionDefinitions(error) => error.fmt(f),
            Malformed::NeededVersions(error) => write!(f, "{}: {error}", Table::NeededVersions),
            _ => Ok(()),
        }
    }
}

impl Table {
    fn out_of_bounds(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Table::SectionHeaders => write!(f, "{self} is out of bounds (truncated file?)"),
            Table::VersionDefinitions | Table::NeededVersions => write!(f, "{self} are out of bounds"),
            _ => write!(f, "{self} is out of bounds"),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::SectionHeaders => "section header table",
            Table::SectionNames => "section name table",
            Table::Symbols => "symbol table",
            Table::Strings => "string table of the symbol table",
            Table::SectionIndices(section) => return write!(f, "SHT_SYMTAB_SHNDX section {section}"),
            Table::Group(section) => return write!(f, "section group {section}"),
            Table::Dynamic => "dynamic section",
            Table::DynamicSymbols => "dynamic symbol table",
            Table::DynamicStrings => "dynamic string table",
            Table::Versions => "version table (.gnu.version)",
            Table::VersionDefinitions => "version definitions",
            Table::NeededVersions => "needed versions (.gnu.version_r)",
        })
    }
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.symbol, self.why)
    }
}

impl fmt::Display for SymbolLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SymbolLabel::Name(name) => write!(f, "symbol '{name}'"),
            SymbolLabel::Index(index) => write!(f, "symbol {index}"),
        }
    }
}

impl fmt::Display for Nowhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nowhere::LocalAndUndefined => f.write_str("is local and undefined"),
            Nowhere::LocalAndCommon => f.write_str("is local and common"),
            Nowhere::NoExtendedIndex => f.write_str(
                "has the section index SHN_XINDEX, and no SHT_SYMTAB_SHNDX section has an entry for it",
            ),
            Nowhere::ReservedIndex(index) => write!(f, "has the reserved section index {index:#x}"),
            Nowhere::NoContents(section) => {
                write!(f, "lies in section {section}, which holds no code or data")
            }
            Nowhere::NoSection(section) => write!(f, "lies in section {section}, which does not exist"),
        }
    }
}

impl std::error::Error for Unusable {}

impl std::error::Error for Malformed {}

impl From<Malformed> for Unusable {
    #[cold]
    fn from(error: Malformed) -> Self {
        Unusable::Malformed(Box::new(error))
    }
}

impl From<ReadError> for Unusable {
    #[cold]
    fn from(error: ReadError) -> Self {
        Unusable::Code(Box::new(error))
    }
}

impl From<MemberError> for Unusable {
    #[cold]
    fn from(error: MemberError) -> Self {
        Unusable::Member(Box::new(error))
    }
}

const _: () = assert!(size_of::<Unusable>() == 16);
