//! Layout: which output sections there are, in what order, at what addresses and file offsets.
//!
//! * [`members`] gathers the live input sections and the linker's own chunks into output sections;
//! * [`runs`] does so for runs of input sections, in parallel;
//! * [`program`] says where they belong, by default as [`standard`] has it;
//! * [`scripted`] is another program: that of a linker script;
//! * [`overlaps`] checks that nothing lies on anything else;
//! * `padding` puts room between input sections, for those who ask for that;
//! * [`segments`] cuts them into program headers;
//! * [`place`] gives them addresses and offsets in the file;
//! * [`shrink`] makes code shorter that may be;
//! * [`settle`] repeats that until no size changes;
//! * [`insert`] adds chunks meanwhile;
//! * [`addresses`] then gives addresses to what lies in them;
//! * [`error`] says why there is no layout.

pub mod addresses;
pub mod chunk;
pub mod default_script;
pub mod error;
pub mod file_offset;
pub mod insert;
pub mod members;
pub mod overlaps;
mod padding;
pub mod place;
pub mod program;
mod round;
pub mod runs;
pub mod scripted;
pub mod segments;
pub mod settle;
pub mod shrink;
pub mod standard;

use std::borrow::Cow;
use std::ops::{Index, IndexMut};

use weld_common::merge::Merged;

use crate::address::Address;
use crate::arch::facts::Tls;
use crate::elf::{Ehdr, Format, Phdr};
use crate::ids::*;
pub use chunk::ChunkKind;
use chunk::Spec;
pub use file_offset::FileOffset;
use program::Memory;

/// A piece of an output section: an input section, or a chunk that the linker makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member(u32);

impl Member {
    const CHUNK: u32 = 1 << 31;

    pub fn section(id: SectionId) -> Self {
        Member(id.0)
    }
    pub fn chunk(id: ChunkId) -> Self {
        Member(id.0 | Self::CHUNK)
    }
    #[inline(always)]
    pub fn as_section(self) -> Option<SectionId> {
        (self.0 & Self::CHUNK == 0).then_some(SectionId(self.0))
    }
    pub fn as_chunk(self) -> Option<ChunkId> {
        (self.0 & Self::CHUNK != 0).then_some(ChunkId(self.0 & !Self::CHUNK))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    pub kind: ChunkKind,
    pub size: u64,
    pub align: u64,
    /// Asked for as what it is: [`Chunk::offset`], [`Chunk::address`].
    place: u64,
    pub out: OutputSectionId,
    /// The `p_type` by which readers of programs find it, if there is one.
    pub segment: Option<u32>,
}

impl Chunk {
    pub fn new(kind: ChunkKind, size: u64, align: u64, out: OutputSectionId) -> Chunk {
        Chunk { kind, size, align, place: 0, out, segment: None }
    }

    /// That of which `spec` says what there is to say.
    pub fn of_spec(kind: ChunkKind, spec: &Spec, out: OutputSectionId) -> Chunk {
        Chunk { segment: spec.segment, ..Chunk::new(kind, spec.size, spec.align, out) }
    }

    /// The offset in its output section, until there are addresses ([`addresses`]).
    #[inline(always)]
    pub fn offset(&self) -> u64 {
        self.place
    }

    pub fn set_offset(&mut self, offset: u64) {
        self.place = offset;
    }

    /// From the offset to the address: the output section starts at `start`.
    pub fn move_to(&mut self, start: Address) {
        self.place = (start + self.place).get();
    }

    /// The address, once everything has one; the offset still if the output section is not in memory.
    #[inline(always)]
    pub fn address(&self) -> Address {
        Address::new(self.place)
    }
}

/// Merged strings or constants of one kind in one output section.
pub struct MergedPart<'a> {
    pub merged: Merged<'a>,
    pub chunk: ChunkId,
    pub bin: PlacementId,
    /// Bytes of a constant, or of a string's unit.
    pub entsize: u32,
    pub strings: bool,
}

/// What a script fills gaps of an output section with, from an offset on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filler {
    pub from: u64,
    pub pattern: Vec<u8>,
    /// The gap begins there, and the pattern with it; else it begins with each gap.
    pub is_gap: bool,
}

pub struct OutputSection<'a> {
    pub name: Cow<'a, [u8]>,
    /// `sh_type`
    pub kind: u32,
    /// `sh_flags`
    pub flags: u64,
    pub entsize: u64,
    pub align: u64,
    /// 0 if the section is not in memory, unless a script says otherwise.
    pub address: Address,
    /// Where its bytes are loaded: its address, unless something copies it there later.
    pub load_address: Address,
    pub offset: FileOffset,
    pub size: u64,
    pub members: Vec<Member>,
    pub memory: Memory,
    /// It may be out of reach of others.
    pub large: bool,
    /// The address that `--section-start` or one of its kin gives it.
    pub start: Option<Address>,
    pub link: HeaderIndex,
    pub info: u32,
    /// What it holds if it is one of the linker's own. Inputs may have sections of the same name.
    pub own: Option<ChunkKind>,
    /// It fills the last page of what becomes read-only, with zeroes that the file does not have.
    pub pads_relro: bool,
    /// What a script fills gaps with, by rising offsets.
    pub fillers: Vec<Filler>,
    /// Members are not in the order of their numbers, because options ask for another one.
    ordered: bool,
    rank: u32,
}

impl<'a> OutputSection<'a> {
    /// An empty section.
    pub fn new(name: Cow<'a, [u8]>, kind: u32, flags: u64, entsize: u64) -> OutputSection<'a> {
        OutputSection {
            name,
            kind,
            flags,
            entsize,
            align: 1,
            address: Address::ZERO,
            load_address: Address::ZERO,
            offset: FileOffset::START,
            size: 0,
            members: Vec::new(),
            memory: Memory::Nowhere,
            large: false,
            start: None,
            link: HeaderIndex::ZERO,
            info: 0,
            own: None,
            pads_relro: false,
            fillers: Vec::new(),
            ordered: false,
            rank: 0,
        }
    }
}

impl OutputSection<'_> {
    pub fn is_alloc(&self) -> bool {
        self.flags & crate::elf::SHF_ALLOC != 0
    }
    pub fn is_nobits(&self) -> bool {
        self.kind == crate::elf::SHT_NOBITS
    }
    pub fn is_relro(&self) -> bool {
        self.memory == Memory::Relro
    }
    pub fn is_tls(&self) -> bool {
        self.flags & crate::elf::SHF_TLS != 0
    }
    /// Bytes in the file.
    pub fn file_size(&self) -> u64 {
        if self.is_nobits() { 0 } else { self.size }
    }
    pub fn end(&self) -> Address {
        self.address + self.size
    }

    /// Where in the file the byte at an address of the section is, which has bytes there.
    #[inline(always)]
    pub fn file_offset(&self, address: Address) -> FileOffset {
        self.offset + (address - self.address)
    }
}

/// A program header, with the range of output sections that it spans.
#[derive(Clone, Debug)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub sections: std::ops::Range<usize>,
    pub offset: FileOffset,
    pub address: Address,
    /// `p_paddr`
    pub load_address: Address,
    pub file_size: u64,
    pub mem_size: u64,
    pub align: u64,
    /// The segment starts with the ELF header.
    pub headers: bool,
    /// A script says where it is loaded.
    pub loads_at: bool,
}

#[derive(Default)]
pub struct Layout<'a> {
    /// The form of the file.
    pub format: Format,
    /// In file order, which is that of their headers.
    pub sections: Vec<OutputSection<'a>>,
    pub chunks: Vec<Chunk>,
    pub segments: Vec<Segment>,
    /// The sections in memory and their addresses, by address; once they are placed.
    pub by_address: Vec<(Address, OutputSectionId)>,
    /// Of each symbol that the linker defines, the section that it is a bound of, if it is one; once they are
    /// placed.
    pub bounds: Vec<Option<OutputSectionId>>,
    /// The output section of each bin; `NONE` if nothing is in it.
    pub of_bin: Vec<OutputSectionId>,
    pub image_base: Address,
    /// The file is the image alone, without headers (`--oformat=binary`).
    pub raw: bool,
    /// Sections lie in the file in another order than in the list.
    pub is_out_of_order: bool,
    /// The section header table, if there is one.
    pub section_headers: Option<FileOffset>,
    pub file_size: u64,
    /// What a linker script knows, if one lays out.
    pub script: Option<Box<scripted::Scripted>>,
    /// Where what is in memory ends in the file, if a script lays out.
    pub end_of_image: FileOffset,
}

impl<'a> Index<OutputSectionId> for Layout<'a> {
    type Output = OutputSection<'a>;

    fn index(&self, id: OutputSectionId) -> &OutputSection<'a> {
        &self.sections[id.index()]
    }
}

impl IndexMut<OutputSectionId> for Layout<'_> {
    fn index_mut(&mut self, id: OutputSectionId) -> &mut Self::Output {
        &mut self.sections[id.index()]
    }
}

/// No machine has smaller pages.
const SMALLEST_PAGE: u64 = 0x1000;

impl<'a> Layout<'a> {
    /// Where the ELF header is in memory, if it is loaded.
    pub fn headers_address(&self) -> Option<Address> {
        let mut loads = self.segments.iter().filter(|segment| segment.kind == crate::elf::PT_LOAD);
        if self.raw || loads.clone().any(|segment| segment.headers) {
            return Some(self.image_base);
        }
        // What is loaded begins with a page, and what lies before in that comes along (`-N`). A script says
        // what it wants in memory.
        let first = loads.next().filter(|_| self.script.is_none())?;
        let start = first.address.checked_back(first.offset.0)?;
        (first.offset.0 < SMALLEST_PAGE && start.is_multiple_of(SMALLEST_PAGE)).then_some(start)
    }

    /// Bytes of the ELF header and the program headers.
    pub fn headers_size(&self) -> u64 {
        let (header, segments) = (self.format.size::<Ehdr>(), self.segments.len() as u64);
        if self.raw { 0 } else { header + segments * self.format.size::<Phdr>() }
    }

    /// Whether a linker script decides what lies where.
    pub fn is_by_script(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.lays_out())
    }

    /// The output section that the input sections of a bin lie in.
    #[inline(always)]
    pub fn out_of(&self, bin: PlacementId) -> Option<OutputSectionId> {
        Some(self.of_bin[bin.index()]).filter(|out| out.is_some())
    }

    /// The sections with their ids.
    pub fn with_ids(&self) -> impl Iterator<Item = (OutputSectionId, &OutputSection<'a>)> {
        (0..).map(OutputSectionId).zip(&self.sections)
    }

    pub fn find(&self, name: &[u8]) -> Option<&OutputSection<'a>> {
        self.sections.iter().find(|s| *s.name == *name)
    }

    /// The last section in memory that `address` lies in, or at the end of.
    pub fn section_at(&self, address: Address) -> Option<OutputSectionId> {
        let end = self.by_address.partition_point(|(start, _)| *start <= address);
        // Mostly the first that is looked at; thread-local zeroes lie over what follows them.
        let mut before = self.by_address[..end].iter().rev().map(|(_, id)| *id);
        before.find(|id| address <= self[*id].end())
    }

    pub fn chunk(&self, kind: ChunkKind) -> Option<&Chunk> {
        self.chunk_with_id(kind).map(|(_, chunk)| chunk)
    }

    /// Chunks of kinds that there is one of come first, so few are looked at if there is none.
    pub fn chunk_with_id(&self, kind: ChunkKind) -> Option<(ChunkId, &Chunk)> {
        let single = !kind.is_numbered();
        let mut chunks =
            (0..).map(ChunkId).zip(&self.chunks).take_while(|c| !(single && c.1.kind.is_numbered()));
        chunks.find(|(_, chunk)| chunk.kind == kind)
    }

    /// Chunks of kinds that there is one of.
    pub fn single_chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().take_while(|chunk| !chunk.kind.is_numbered())
    }

    /// The header of the section that the linker makes for a chunk; 0 if there is none.
    pub fn header_of(&self, kind: ChunkKind) -> HeaderIndex {
        self.chunk(kind).map_or(HeaderIndex::ZERO, |c| c.out.header())
    }

    /// Where a chunk starts in the file; 0 if there is none.
    pub fn chunk_offset(&self, kind: ChunkKind) -> FileOffset {
        self.chunk(kind).map_or(FileOffset::START, |chunk| self[chunk.out].file_offset(chunk.address()))
    }

    pub fn chunk_address(&self, kind: ChunkKind) -> Address {
        self.chunk(kind).map_or(Address::ZERO, Chunk::address)
    }

    /// The thread-local storage segment.
    pub fn tls(&self) -> Option<&Segment> {
        self.segments.iter().find(|s| s.kind == crate::elf::PT_TLS)
    }

    /// The address that the thread pointer has, in terms of the TLS template's addresses.
    pub fn thread_pointer(&self, variant: Tls) -> Address {
        let Some(tls) = self.tls() else { return Address::ZERO };
        match variant {
            // The template follows the block as closely as its alignment allows.
            Tls::BlockFirst(block) => tls.address.back(crate::address::align_up(block, tls.align.max(1))),
            Tls::StorageFirst => (tls.address + tls.mem_size).aligned(tls.align),
            // Loaders align what the template's address is a multiple of.
            Tls::Behind(bytes) => {
                let start = Address::new(tls.address.get() & !(tls.align.max(1) - 1));
                start.wrapping_add(bytes)
            }
        }
    }
}
