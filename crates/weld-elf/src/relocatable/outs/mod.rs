//! The sections of a joined object: which there are, and what lies where in them.
//!
//! `join` gathers them from the inputs and says which are kept apart and why; `finish` lets them name each
//! other and gives them offsets in the file.
//!
//! Order: groups, which must precede their members; input sections in order of first appearance;
//! their relocations; notes; tables.
//!
//! Specification: gABI chapter 4 "Sections", "Section Groups".

mod finish;
mod join;

pub use join::{Builder, live_members};

use std::borrow::Cow;

use crate::elf::*;
use crate::ids::*;
use weld_common::string_table::StringTable;

/// "Not there", for numbers of output sections.
pub const NONE: u32 = u32::MAX;

/// What an output section holds.
pub enum What {
    /// Input sections `members[first..last]`.
    Inputs(std::ops::Range<u32>),
    /// Relocations of that output section.
    Relocs(u32),
    /// The group with that header index of that object.
    Group(ObjectId, u32),
    Bytes(Vec<u8>),
    SymTab,
    SymTabShndx,
    StrTab,
    ShStrTab,
}

pub struct Out<'a> {
    pub name: Cow<'a, [u8]>,
    pub kind: u32,
    pub flags: u64,
    pub entsize: u64,
    pub align: u64,
    pub link: u32,
    pub info: u32,
    pub offset: u64,
    pub size: u64,
    /// Number of the section with its relocations, or `NONE`.
    pub relocs: u32,
    pub what: What,
}

impl Out<'_> {
    pub fn is_nobits(&self) -> bool {
        self.kind == SHT_NOBITS
    }
    pub fn file_size(&self) -> u64 {
        if self.is_nobits() { 0 } else { self.size }
    }
}

/// All output sections. The header index of `list[i]` is `i + 1`.
pub struct Outs<'a> {
    /// The form of the file.
    pub format: Format,
    pub list: Vec<Out<'a>>,
    pub members: Vec<SectionId>,
    /// Number of the output section of each input section and group; `NONE` if it is not there.
    pub of_section: Vec<u32>,
    /// The joined input sections: these have section symbols.
    pub contents: std::ops::Range<u32>,
    /// Where common symbols of each kind get their place with `-d`: output section and offset.
    pub commons: [Option<(u32, u64)>; 3],
    /// Section indices of symbols do not fit 16 bits.
    pub extended: bool,
    pub names: StringTable,
    /// Offset of each section's name in `names`.
    pub name_offsets: Vec<u32>,
    pub section_headers: u64,
    pub file_size: u64,
}

/// A section that the linker adds.
pub struct Note {
    name: &'static [u8],
    kind: u32,
    flags: u64,
    align: u64,
    bytes: Vec<u8>,
}

impl Note {
    pub fn property(bytes: Vec<u8>, format: Format) -> Note {
        Note { name: b".note.gnu.property", kind: SHT_NOTE, flags: SHF_ALLOC, align: format.word(), bytes }
    }
    pub fn build_id(bytes: Vec<u8>) -> Note {
        Note { name: b".note.gnu.build-id", kind: SHT_NOTE, flags: SHF_ALLOC, align: 4, bytes }
    }
    pub fn stack(executable: bool) -> Note {
        let flags = if executable { SHF_EXECINSTR } else { 0 };
        Note { name: b".note.GNU-stack", kind: SHT_PROGBITS, flags, align: 1, bytes: Vec::new() }
    }
}

fn new_out(name: Cow<[u8]>, kind: u32, what: What) -> Out {
    Out {
        name,
        kind,
        flags: 0,
        entsize: 0,
        align: 1,
        link: 0,
        info: 0,
        offset: 0,
        size: 0,
        relocs: NONE,
        what,
    }
}
