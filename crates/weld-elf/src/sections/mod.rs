//! What each section of a live object is for, in 24 bytes.
//!
//! Runs after COMDAT resolution. Here are the tables that later phases read; how they come about is in
//! `parse` (objects and slices of them), `judge` (one section by its header), `names` (which output section
//! a section goes to; `scripted` if a linker script says so), `uses` (what that says of the output section),
//! `relocs` (relocation sections and what they relocate; `decoded_relocs`) and `ties` (what sections live and die with).
//!
//! Specification: gABI chapter 4 ("Sections").

pub mod bins;
mod classify;
mod decoded_relocs;
pub mod descriptors;
pub mod export_rows;
pub mod free_sections;
mod gc_dependencies;
pub mod init_array;
mod linkonce;
pub mod lost_groups;
mod malformed;
pub mod names;
mod parse;
mod relocs;
pub mod rooms;
pub mod scripted;
pub mod shrunk;
pub mod spare_imports;
mod uses;
pub mod yards;
mod zeroes;

pub use classify::is_sframe;
pub use malformed::Malformed;
pub use parse::{Scripted, parse};
pub use relocs::{decode as decode_relocs, decode_symbols};
pub use uses::{JoinedKind, OutputUse};

use std::collections::HashMap;

use crate::address::Address;
use crate::arch::relax_deltas;
use crate::eh_frame::EhFrame;
use crate::elf::*;
use crate::ids::*;
use crate::input::object::Object;
use decoded_relocs::DecodedRelocs;
use names::LOCAL_NAME;
use shrunk::Shrunk;

/// What to do with an input section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SectionKind {
    /// Not part of the image: tables of the object file itself, stripped, or consumed otherwise.
    Dropped = 0,
    /// Member of a COMDAT group that lost.
    Discarded = 1,
    /// Copied and relocated.
    Regular = 2,
    /// Takes space in memory only.
    NoBits = 3,
    /// Split into pieces that are merged with those of other objects.
    Merge = 4,
    /// `.eh_frame`: parsed into records.
    EhFrame = 5,
    /// Like `Regular`, to be decompressed on the way.
    Compressed = 6,
    /// `.ctors` in `.init_array`: like `Regular`, with the order of its words reversed, because the one
    /// is run from its end and the other from its start.
    Reversed = 7,
    /// Another section, which is the same, stands for it (`icf`). It has that one's address, and lies in no
    /// output section itself.
    Folded = 8,
    /// Like `Regular`, but some of its bytes are left out (`shrunk`).
    Shrunk = 9,
    /// Says how to unwind from another section's code: read, and made a part of one table (`synth::exidx`).
    CodeIndex = 10,
    /// Like `Regular`, but it lies in the room of another section ([`yards`]), and in no output section itself.
    Guest = 11,
}

impl SectionKind {
    #[inline(always)]
    pub fn of_number(number: u32) -> SectionKind {
        match number {
            1 => SectionKind::Discarded,
            2 => SectionKind::Regular,
            3 => SectionKind::NoBits,
            4 => SectionKind::Merge,
            5 => SectionKind::EhFrame,
            6 => SectionKind::Compressed,
            7 => SectionKind::Reversed,
            8 => SectionKind::Folded,
            9 => SectionKind::Shrunk,
            10 => SectionKind::CodeIndex,
            11 => SectionKind::Guest,
            _ => SectionKind::Dropped,
        }
    }
}

/// One input section. Slots of sections that take no part are all zero.
#[derive(Clone, Copy, Default)]
pub struct InputSection {
    /// Where it is, in terms that change: see [`Self::offset`], [`Self::address`] and [`Self::merged`].
    place: u64,
    /// Size in the image.
    pub size: u64,
    /// Header index of the relocation section for this one, or 0.
    pub relocs: u32,
    /// kind (4 bits) | has followers (1) | log2 of the alignment (6) | bin (21)
    meta: u32,
}

const _: () = assert!(size_of::<InputSection>() == 24);

const BIN_SHIFT: u32 = 11;
const FOLLOWERS: u32 = 1 << 4;

impl InputSection {
    pub(crate) fn new(kind: SectionKind, bin: PlacementId, align_log2: u32, size: u64) -> Self {
        InputSection { place: 0, size, relocs: 0, meta: kind as u32 | align_log2 << 5 | bin.0 << BIN_SHIFT }
    }
    #[inline(always)]
    pub fn kind(&self) -> SectionKind {
        SectionKind::of_number(self.meta & 15)
    }
    pub fn set_kind(&mut self, kind: SectionKind) {
        self.meta = self.meta & !15 | kind as u32;
    }
    /// Whether the section has bytes or space in the image, or another one has that stands for it.
    #[inline(always)]
    pub fn in_image(&self) -> bool {
        self.meta & 15 >= 2
    }
    /// Whether the section lies in its output section by itself, with an address of its own.
    #[inline(always)]
    pub fn is_copied(&self) -> bool {
        use SectionKind::*;
        const COPIED: u32 = 1 << Regular as u32
            | 1 << NoBits as u32
            | 1 << Compressed as u32
            | 1 << Reversed as u32
            | 1 << Shrunk as u32;
        COPIED >> (self.meta & 15) & 1 != 0
    }
    /// Whether the section is of one of these kinds: a bit each.
    #[inline(always)]
    pub fn is_one_of(&self, kinds: u32) -> bool {
        kinds >> (self.meta & 15) & 1 != 0
    }
    /// Whether other sections live and die with this one.
    pub fn has_followers(&self) -> bool {
        self.meta & FOLLOWERS != 0
    }
    pub fn align(&self) -> u64 {
        1 << (self.meta >> 5 & 63)
    }
    /// Asks for no alignment.
    pub fn set_unaligned(&mut self) {
        self.meta &= !(63 << 5);
    }
    /// Asks for at least this alignment.
    pub fn raise_align(&mut self, align: u64) {
        let log2 = align.trailing_zeros().max(self.align().trailing_zeros());
        self.meta = self.meta & !(63 << 5) | log2 << 5;
    }
    /// Has it be anywhere.
    pub fn forget_align(&mut self) {
        self.meta &= !(63 << 5);
    }
    pub fn bin(&self) -> PlacementId {
        PlacementId(self.meta >> BIN_SHIFT)
    }
    pub fn set_bin(&mut self, bin: PlacementId) {
        self.meta = self.meta & ((1 << BIN_SHIFT) - 1) | bin.0 << BIN_SHIFT;
    }
    /// The offset in its output section, while sections are gathered ([`crate::layout`]). With `-r` that is
    /// all it ever has.
    #[inline(always)]
    pub fn offset(&self) -> u64 {
        self.place
    }
    pub fn set_offset(&mut self, offset: u64) {
        self.place = offset;
    }
    /// From the offset to the address: the output section starts at `start`.
    #[inline(always)]
    pub fn move_to(&mut self, start: Address) {
        self.place = start.wrapping_add(self.place).get();
    }
    /// The address, once everything has one ([`crate::layout::addresses`]); the offset in its output section
    /// still if that is not in memory.
    #[inline(always)]
    pub fn address(&self) -> Address {
        Address::new(self.place)
    }
    /// Gives it the address of what stands for it.
    pub fn set_address(&mut self, address: Address) {
        self.place = address.get();
    }
    /// What a section of kind `Merge` has instead: the merged part that it belongs to, and which input of
    /// that.
    #[inline(always)]
    pub fn merged(&self) -> (usize, usize) {
        ((self.place >> 32) as usize, self.place as u32 as usize)
    }
    pub fn set_merged(&mut self, part: u32, input: u32) {
        self.place = u64::from(part) << 32 | u64::from(input);
    }
    /// Gives the names that an object has numbered itself the numbers in `number`.
    fn renumber(slots: &mut [InputSection], number: &[PlacementId]) {
        if number.is_empty() {
            return;
        }
        for section in slots.iter_mut().filter(|section| section.bin().0 >= LOCAL_NAME) {
            section.set_bin(number[(section.bin().0 - LOCAL_NAME) as usize]);
        }
    }
}

/// Where byte `at` of a table of words is if their order is reversed. What lies after the table stays there.
#[cold]
fn reversed(size: u64, word: u64, at: u64) -> u64 {
    if at < size { (size - word - at / word * word) + at % word } else { at }
}

/// A mergeable section.
#[derive(Clone, Copy)]
pub struct MergeSection {
    pub section: SectionId,
    pub entsize: u32,
    pub strings: bool,
}

pub fn is_array(kind: u32) -> bool {
    matches!(kind, SHT_INIT_ARRAY | SHT_FINI_ARRAY | SHT_PREINIT_ARRAY)
}

/// Whether a section is a table of the object file itself, or none. Assemblers give a variable's section that
/// type by its name (`.shstrtab`), but what goes into memory is data.
pub fn is_table(shdr: &Shdr) -> bool {
    let kind = shdr.sh_type();
    if kind == SHT_STRTAB && shdr.sh_flags() & SHF_ALLOC != 0 {
        return false;
    }
    matches!(
        kind,
        SHT_NULL | SHT_SYMTAB | SHT_STRTAB | SHT_RELA | SHT_REL | SHT_CREL | SHT_GROUP | SHT_SYMTAB_SHNDX
    )
}

/// What one object adds besides its section slots.
#[derive(Default)]
pub struct ObjectSections<'a> {
    /// One for each output section that the object has sections for.
    pub uses: Vec<OutputUse>,
    /// Sections that asked to be merged; those that cannot be have another kind by now.
    pub merges: Vec<MergeSection>,
    /// Header index and parsed records of each `.eh_frame`.
    pub eh_frames: Vec<(u32, EhFrame)>,
    /// Header indices of `.sframe`s, which are read and not copied.
    pub sframes: Vec<u32>,
    /// Header indices of sections that gc never removes.
    pub retained: Vec<u32>,
    /// Header indices of sections that take no memory (debug information and the like).
    pub unallocated: Vec<u32>,
    /// Header indices of lists of names for `.gdb_index`, which are read and not copied. Ascending.
    pub name_lists: Vec<u32>,
    /// Header indices of tables of names that are made one (`--debug-names`), likewise.
    pub name_tables: Vec<u32>,
    /// Header indices of sections whose names are C identifiers.
    pub c_named: Vec<u32>,
    /// (a, b): if header index a is live, so is b. Sorted.
    pub followers: Vec<(u32, u32)>,
    /// (section, the section it is ordered by) for `SHF_LINK_ORDER`.
    pub link_order: Vec<(u32, u32)>,
    /// Header indices of `.note.gnu.property` sections; they lie in the file.
    pub properties: Vec<u32>,
    /// Those of sections that say what instructions and conventions the code uses, on machines that have
    /// such. They lie in the file, too.
    pub attributes: Vec<u32>,
    /// `.note.GNU-stack` asks for an executable stack; `None` if there is no such section.
    pub executable_stack: Option<bool>,
    /// Relocations that cannot be viewed in place.
    pub decoded: DecodedRelocs,
    /// Names of output sections that only this object has named, numbered from `LOCAL_NAME`, and whether
    /// the section takes no others in.
    local_names: Vec<(&'a [u8], bool)>,
    /// There are `.gnu.warning` sections; see `report::warnings`.
    pub has_warnings: bool,
    /// It was compiled with `-fsplit-stack`.
    pub has_split_stack: bool,
    /// There are `.gnu.linkonce` sections.
    has_linkonce: bool,
    /// There is debugging information of before DWARF, which somebody may miss.
    has_stabs: bool,
    /// It lists variables that are to be tagged.
    pub has_tagged_variables: bool,
    /// It says which symbols belong to a partition (`SHT_LLVM_SYMPART`).
    has_partitions: bool,
}

/// All sections of all live objects.
#[derive(Default)]
pub struct Sections<'a> {
    pub list: Vec<InputSection>,
    pub objects: Vec<ObjectSections<'a>>,
    /// The name of each bin, which is that of its output section.
    pub bins: Vec<&'a [u8]>,
    /// What is left out of sections.
    pub shrunk: Shrunk,
    /// Bytes of a word.
    pub word: u64,
    /// Some are larger than their bytes ([`rooms`]).
    pub has_rooms: bool,
    /// Where merged pieces are to go, by part, if that is to be as in another link; else empty.
    pub last_pieces: Vec<rooms::LastPieces>,
    /// How large runs of objects are to be in tables of the whole image, if that is to be as in another link.
    pub last_runs: Option<rooms::LastRuns>,
    /// Where parts of the file started that hashes are made of, if these are to be as in another link.
    pub last_cuts: Option<Vec<u64>>,
    /// What has taken spare entries of the PLT, if that is to be as in another link.
    pub last_imports: Vec<spare_imports::Import>,
    /// And what had slots and entries of its own there.
    pub last_calls: Vec<spare_imports::LastCall>,
    /// Whether tables for the loader have room for more exported names.
    pub export_room: export_rows::Room,
    /// What is to be kept with gc, whoever refers to it: because it was in another link, or for its yard.
    pub last_kept: Vec<SectionId>,
    /// What is defined here and had slots of the GOT or entries of the PLT in another link, whoever asks for them, with
    /// the bits that say which.
    pub last_slots: Vec<(SymbolId, u32)>,
    /// Where those were defined that had slots, which have them in this order.
    pub last_slot_places: LastSlots,
    /// What has taken spare words of the GOT, if that is to be as in another link: the one that has the first, and so on;
    /// [`SymbolId::NONE`] where there is none.
    pub last_words: Vec<SymbolId>,
    /// How many relative and other relocations `.rela.dyn` had with spare ones, if there are to be as many.
    pub last_relocs: Option<(u64, u64)>,
    /// The output sections of another link, if there are to be the same.
    pub last_outputs: Vec<LastOutput>,
    /// Which objects have more room than others.
    pub growths: HashMap<FileId, rooms::Growth>,
    /// Room for sections that no object has, and those that lie in such room, by their hosts.
    pub yards: Vec<yards::Yard>,
    pub guests: Vec<yards::Guest>,
    /// Those of them that had a place of their own in another link, in order.
    pub moved: Vec<SectionId>,
}

/// Where symbols were defined in a link that is to be made once more, if they had slots there; and those that had some that
/// nobody has any more, with bits that say which (`symbol_flags`).
#[derive(Clone, Debug, Default)]
pub struct LastSlots {
    pub of_symbol: HashMap<SymbolId, (FileId, u32)>,
    pub gone: Vec<((FileId, u32), u32)>,
}

/// An output section as it was in another link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastOutput {
    pub name: Vec<u8>,
    /// Bytes that it began with, where a section was that is gone.
    pub head: u64,
    pub align: u64,
}

impl Sections<'_> {
    /// The kinds of sections whose bytes are elsewhere in the output than in the input
    /// ([`Self::output_offset`]), a bit each.
    pub fn rearranged(&self) -> u32 {
        use SectionKind::*;
        let moved = 1 << EhFrame as u32 | 1 << Reversed as u32;
        match self.shrunk.is_empty() {
            true => moved,
            false => moved | 1 << Shrunk as u32 | 1 << Folded as u32,
        }
    }

    /// Where byte `at` of the input section is, from the start of what became of it. Symbols, relocations,
    /// exception frames, debug information and `--emit-relocs` all ask here: bytes stay where they are, but
    /// for kinds of sections that say otherwise. Of sections that are merged or taken apart, others know
    /// ([`crate::synth::image::Image::address_in`]).
    #[inline(always)]
    pub fn output_offset(&self, id: SectionId, at: u64) -> u64 {
        let section = self.get(id);
        match section.kind() {
            SectionKind::Reversed => reversed(section.size, self.word.max(1), at),
            SectionKind::Shrunk | SectionKind::Folded => {
                relax_deltas::output_offset(self.shrunk.deltas(id), at)
            }
            _ => at,
        }
    }

    /// The address of byte `at` of the input section.
    #[inline(always)]
    pub fn address_of(&self, id: SectionId, at: u64) -> Address {
        self.get(id).address().wrapping_add(self.output_offset(id, at))
    }

    /// The size of what a symbol at `at` stands for, in the output.
    #[inline(always)]
    pub fn output_size(&self, id: SectionId, at: u64, size: u64) -> u64 {
        if self.shrunk.is_empty() { size } else { self.shrunk_size(id, at, size) }
    }

    #[cold]
    #[inline(never)]
    fn shrunk_size(&self, id: SectionId, at: u64, size: u64) -> u64 {
        self.output_offset(id, at.saturating_add(size)).saturating_sub(self.output_offset(id, at))
    }

    #[inline(always)]
    pub fn get(&self, id: SectionId) -> &InputSection {
        &self.list[id.index()]
    }

    /// The relocations of a section. Empty if it has none.
    pub fn relocs<'s>(&'s self, object: &Object<'s>, index: usize, section: &InputSection) -> &'s [Rela] {
        if section.relocs == 0 {
            return &[];
        }
        relocs::in_place(object, section.relocs as usize)
            .unwrap_or_else(|| self.objects[index].decoded.of(section.relocs))
    }
}
