//! The default layout, as data: what goes together under which name, in which order, and what becomes
//! read-only.
//!
//! [`super::program`] runs it. The order of output sections is that of ld.lld, but for zeroes in read-only
//! memory and for large sections (`SHF_X86_64_LARGE`), which come last of their kind here, so that there are
//! fewer segments.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use super::ChunkKind;
use super::program::Contents::{self, *};
use super::program::Memory::{self, *};
use super::program::{SectionSelector, Statement};

/// The order of output sections. What a statement names lies where that stands; the orphans of a sort, which
/// nothing names, lie at theirs, in the order in which they first appear.
pub const ORDER: &[Statement] = &[
    // What the kernel and the loader read comes first.
    own(ReadOnly, ChunkKind::Interp),
    orphans(ReadOnly, Notes),
    orphans(ReadOnly, Tables),
    own(ReadOnly, ChunkKind::CodeIndex),
    orphans(ReadOnly, Bytes),
    own(ReadOnly, ChunkKind::EhFrameHdr),
    named(ReadOnly, b".eh_frame"),
    own(ReadOnly, ChunkKind::SFrame),
    orphans(ReadOnly, Zeroes),
    orphans(Code, Bytes),
    own(Code, ChunkKind::Plt),
    own(Code, ChunkKind::PltSec),
    own(Code, ChunkKind::Iplt),
    orphans(Code, Zeroes),
    orphans(WritableCode, Bytes),
    orphans(WritableCode, Zeroes),
    orphans(Relro, Template),
    orphans(Relro, TemplateZeroes),
    orphans(Relro, Bytes),
    orphans(Relro, Zeroes),
    Statement { memory: Relro, large: false, who: SectionSelector::RelroPadding },
    // Without `-z relro`.
    orphans(Data, Template),
    orphans(Data, TemplateZeroes),
    orphans(Data, Bytes),
    // Small data, near one another: a register may point between them.
    named(Data, b".sdata"),
    named(Data, b".sbss"),
    orphans(Data, Zeroes),
    // Far from everything else, which has to reach its like.
    large(ReadOnly, Notes),
    large(ReadOnly, Tables),
    large(ReadOnly, Bytes),
    large(ReadOnly, Zeroes),
    large(Code, Bytes),
    large(Code, Zeroes),
    large(WritableCode, Bytes),
    large(WritableCode, Zeroes),
    large(Data, Template),
    large(Data, TemplateZeroes),
    large(Data, Bytes),
    large(Data, Zeroes),
    // Not in memory.
    orphans(Nowhere, Bytes),
    own(Nowhere, ChunkKind::DebugLink),
    own(Nowhere, ChunkKind::SymTab),
    own(Nowhere, ChunkKind::SymTabShndx),
    own(Nowhere, ChunkKind::ShStrTab),
    own(Nowhere, ChunkKind::StrTab),
    orphans(Nowhere, Relocations),
];

/// The order of sections in an object that `-r` makes. Groups precede their members, as the gABI asks.
pub const OBJECT: &[Statement] = &[
    orphans(Nowhere, Groups),
    orphans(Nowhere, Bytes),
    orphans(Nowhere, Linked),
    orphans(Nowhere, Relocations),
    own(Nowhere, ChunkKind::Properties),
    own(Nowhere, ChunkKind::BuildId),
    own(Nowhere, ChunkKind::PackageNote),
    own(Nowhere, ChunkKind::StackNote),
    own(Nowhere, ChunkKind::Attributes),
    own(Nowhere, ChunkKind::GnuAttributes),
    own(Nowhere, ChunkKind::Registers),
    own(Nowhere, ChunkKind::SymTab),
    own(Nowhere, ChunkKind::SymTabShndx),
    own(Nowhere, ChunkKind::ShStrTab),
    own(Nowhere, ChunkKind::StrTab),
];

const fn own(memory: Memory, kind: ChunkKind) -> Statement {
    Statement { memory, large: false, who: SectionSelector::Own(kind) }
}

const fn named(memory: Memory, name: &'static [u8]) -> Statement {
    Statement { memory, large: false, who: SectionSelector::Named(name) }
}

const fn orphans(memory: Memory, contents: Contents) -> Statement {
    Statement { memory, large: false, who: SectionSelector::Orphans(contents) }
}

const fn large(memory: Memory, contents: Contents) -> Statement {
    Statement { memory, large: true, who: SectionSelector::Orphans(contents) }
}

/// Sections of inputs that nothing writes to once the loader has relocated them, by name. Thread-local ones
/// and arrays of functions are so whatever their names are.
pub const RELRO_NAMES: &[&[u8]] = &[
    b".data.rel.ro",
    b".bss.rel.ro",
    b".ctors",
    b".dtors",
    b".jcr",
    b".eh_frame",
    b".init_array",
    b".fini_array",
    b".preinit_array",
];

/// The same with `-z keep-data-section-prefix`, as a linker script may name them.
pub const RELRO_PARTS: &[&[u8]] = &[b".data.rel.ro.hot", b".data.rel.ro.unlikely"];

/// The same for OpenBSD, whose loader fills it.
pub const RELRO_OPENBSD: &[u8] = b".openbsd.randomdata";

/// What fills the last page of them.
pub const RELRO_PADDING: &[u8] = b".relro_padding";

/// The linker's own sections of which that is true.
pub const RELRO_OWN: &[ChunkKind] = &[ChunkKind::Got, ChunkKind::Dynamic];

/// That of which it is true if the loader binds all functions at once (`-z now`).
pub const RELRO_NOW: ChunkKind = ChunkKind::GotPlt;
