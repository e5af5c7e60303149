//! What may be wrong with a section of an object, or with its relocations. Messages put the section's place
//! in front.

use std::fmt;

use crate::compressed::CompressedError;
use crate::crel::CrelError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Its bytes are not all there.
    Outside,
    /// The same for one that is copied.
    Truncated,
    /// The name lies outside the names of sections.
    Name,
    /// `sh_type` asks for something that is not known.
    Type(u32),
    Alignment(u64),
    /// Larger than an address space.
    Impossible {
        size: u64,
        align: u64,
    },
    CompressedInMemory,
    Compressed(CompressedError),
    /// `.zdebug_*`
    OldCompression,
    /// `.ctors` or `.dtors` whose size is no multiple of a word's, in bytes.
    AddressTable {
        word: u64,
    },
    /// Relocations: `sh_link` is another section than the symbol table.
    Link(u32),
    EntrySize(u64),
    /// Records of so many bytes do not fill it.
    Size(u64),
    Crel(CrelError),
    /// Relocations without addends, which the machine with this name has none of.
    NoAddends(&'static str),
    /// A relocation without an addend has none in the section either: its index and its type.
    ImplicitAddend {
        index: usize,
        kind: u32,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Outside => f.write_str("lies outside its file"),
            Malformed::Truncated => f.write_str("lies outside its file (truncated file?)"),
            Malformed::Name => f.write_str("has a bad name"),
            Malformed::Type(kind) => write!(f, "has an unknown section type (sh_type): {kind:#x}"),
            Malformed::Alignment(align) => {
                write!(f, "has an alignment that is not a power of two: {align}")
            }
            Malformed::Impossible { size, align } => {
                write!(f, "has an impossible size or alignment: {size:#x}, {align:#x}")
            }
            Malformed::CompressedInMemory => f.write_str("is compressed and allocated, which is not allowed"),
            Malformed::Compressed(e) => e.fmt(f),
            Malformed::OldCompression => f.write_str(
                "is compressed in the old way, which is not supported: `objcopy --decompress-debug-sections` \
                 makes it one that is",
            ),
            Malformed::AddressTable { word } => {
                write!(f, "is not a table of addresses: its size is not a multiple of {word}")
            }
            Malformed::Link(section) => {
                write!(f, "is linked to section {section} (sh_link), which is not the symbol table")
            }
            Malformed::EntrySize(size) => write!(f, "has a bad sh_entsize: {size}"),
            Malformed::Size(record) => write!(f, "has a size that is not a multiple of {record}"),
            Malformed::Crel(e) => e.fmt(f),
            Malformed::NoAddends(machine) => {
                write!(f, "has relocations without addends (SHT_REL), which {machine} does not use")
            }
            Malformed::ImplicitAddend { index, kind } => {
                write!(f, "relocation {index} of type {kind} applies outside its section, or is not known")
            }
        }
    }
}

impl std::error::Error for Malformed {}
