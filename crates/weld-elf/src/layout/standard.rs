//! The default layout, as data: what goes together under which name, in which order, and what becomes read-only.
//!
//! [`super::program`] runs it. The order of output sections is that of ld.lld, but for zeroes in read-only memory and for
//! large sections (`SHF_X86_64_LARGE`), which come last of their kind here, so that there are fewer segments.
//!
//! Specification: gABI chapter 4 ("Special Sections"); output names as ld.lld and GNU ld assign them.

use super::ChunkKind;
use super::program::Contents::{self, *};
use super::program::Memory::{self, *};
use super::program::{Statement, Who};
use crate::ids::BinId;

/// The bins there are in any case, by the name of their output section; in no meaningful order.
pub const BINS: &[&[u8]] = &[
    b".text",
    b".rodata",
    b".data",
    b".bss",
    b".data.rel.ro",
    b".bss.rel.ro",
    b".init_array",
    b".fini_array",
    b".preinit_array",
    b".tdata",
    b".tbss",
    b".eh_frame",
    b".gcc_except_table",
    b".init",
    b".fini",
    b".ctors",
    b".dtors",
    b".comment",
    b".debug_info",
    b".debug_abbrev",
    b".debug_line",
    b".debug_str",
    b".debug_line_str",
    b".debug_ranges",
    b".debug_rnglists",
    b".debug_loc",
    b".debug_loclists",
    b".debug_aranges",
    b".debug_str_offsets",
    b".debug_addr",
    b".debug_gnu_pubnames",
    b".debug_gnu_pubtypes",
    b".debug_names",
    b".ldata",
    b".lrodata",
    b".lbss",
    b".ltext",
];

/// The bins of some well-known names.
pub mod bin {
    use super::BINS;
    use crate::ids::BinId;

    pub const BSS: BinId = index(b".bss");
    pub const BSS_REL_RO: BinId = index(b".bss.rel.ro");
    pub const TBSS: BinId = index(b".tbss");
    pub const LBSS: BinId = index(b".lbss");
    pub const INIT_ARRAY: BinId = index(b".init_array");
    pub const FINI_ARRAY: BinId = index(b".fini_array");
    pub const EH_FRAME: BinId = index(b".eh_frame");
    pub const COMMENT: BinId = index(b".comment");
    pub const RELRO: BinId = index(b".data.rel.ro");
    pub const EXCEPTION_TABLE: BinId = index(b".gcc_except_table");

    /// Evaluated when this is compiled, which ends there if there is no such name.
    pub(super) const fn index(name: &[u8]) -> BinId {
        let mut i = 0;
        while !is_equal(BINS[i], name) {
            i += 1;
        }
        BinId(i as u32)
    }

    const fn is_equal(a: &[u8], b: &[u8]) -> bool {
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        a.len() == b.len() && i == a.len()
    }
}

/// Names whose output sections take in `NAME.anything`, longest first: those whose first letter is `letter`.
#[inline(always)]
pub fn prefixes(letter: u8) -> &'static [(&'static [u8], BinId)] {
    macro_rules! prefixes {
        ($($name:literal)*) => { &[$(($name, const { bin::index($name) })),*] };
    }
    match letter {
        b't' => prefixes![b".text" b".tdata" b".tbss"],
        b'r' => prefixes![b".rodata"],
        b'd' => prefixes![b".data.rel.ro" b".data" b".dtors"],
        b'b' => prefixes![b".bss.rel.ro" b".bss"],
        b'i' => prefixes![b".init_array"],
        b'f' => prefixes![b".fini_array"],
        b'g' => prefixes![b".gcc_except_table"],
        b'c' => prefixes![b".ctors"],
        b'l' => prefixes![b".ldata" b".lrodata" b".lbss" b".ltext"],
        _ => &[],
    }
}

/// The order of output sections. What a statement names lies where that stands; the orphans of a sort, which nothing names,
/// lie at theirs, in the order in which they first appear.
pub const ORDER: &[Statement] = &[
    // What the kernel and the loader read comes first.
    own(ReadOnly, ChunkKind::Interp),
    orphans(ReadOnly, Notes),
    orphans(ReadOnly, Tables),
    orphans(ReadOnly, Bytes),
    own(ReadOnly, ChunkKind::EhFrameHdr),
    named(ReadOnly, b".eh_frame"),
    orphans(ReadOnly, Zeroes),
    orphans(Code, Bytes),
    own(Code, ChunkKind::Plt),
    own(Code, ChunkKind::PltSec),
    orphans(Code, Zeroes),
    orphans(WritableCode, Bytes),
    orphans(WritableCode, Zeroes),
    orphans(Relro, Template),
    orphans(Relro, TemplateZeroes),
    orphans(Relro, Bytes),
    // Without `-z relro`.
    orphans(Data, Template),
    orphans(Data, TemplateZeroes),
    orphans(Data, Bytes),
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
    own(Nowhere, ChunkKind::SymTab),
    own(Nowhere, ChunkKind::SymTabShndx),
    own(Nowhere, ChunkKind::ShStrTab),
    own(Nowhere, ChunkKind::StrTab),
    orphans(Nowhere, Relocations),
];

const fn own(memory: Memory, kind: ChunkKind) -> Statement {
    Statement { memory, large: false, who: Who::Own(kind) }
}

const fn named(memory: Memory, name: &'static [u8]) -> Statement {
    Statement { memory, large: false, who: Who::Named(name) }
}

const fn orphans(memory: Memory, contents: Contents) -> Statement {
    Statement { memory, large: false, who: Who::Orphans(contents) }
}

const fn large(memory: Memory, contents: Contents) -> Statement {
    Statement { memory, large: true, who: Who::Orphans(contents) }
}

/// Sections of inputs that nothing writes to once the loader has relocated them, by name. Thread-local ones and arrays
/// of functions are so whatever their names are.
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

/// The linker's own sections of which that is true.
pub const RELRO_OWN: &[ChunkKind] = &[ChunkKind::Got, ChunkKind::Dynamic];

/// That of which it is true if the loader binds all functions at once (`-z now`).
pub const RELRO_NOW: ChunkKind = ChunkKind::GotPlt;
