//! The parts of an output that the linker makes itself, as layout sees them: a kind, a size and a place.
//!
//! `synth/all.rs` knows the file that makes each.

use crate::arch::plt;
use crate::ids::PlacementId;

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkKind {
    Interp,
    Properties,
    BuildId,
    PackageNote,
    MemtagNote,
    MemtagGlobals,
    StackNote,
    Attributes,
    GnuAttributes,
    /// Which registers code uses (`.reginfo`).
    Registers,
    DynSym,
    VerSym,
    VerDef,
    VerNeed,
    GnuHash,
    SysvHash,
    DynStr,
    RelaDyn,
    Relr,
    SignedRelr,
    RelaPlt,
    EhFrameHdr,
    EhFrame,
    SFrame,
    /// `.ARM.exidx`.
    CodeIndex,
    Plt,
    PltSec,
    Iplt,
    Dynamic,
    /// Where the loader leaves what a debugger wants to know (`.rld_map`).
    DebugMap,
    Got,
    GotPlt,
    GdbIndex,
    DebugNames,
    DebugLink,
    SymTab,
    SymTabShndx,
    StrTab,
    ShStrTab,
    /// Copies of variables of shared objects that are read-only after relocation.
    CopyRelro,
    /// Copies of the others.
    CopyBss,
    /// Room that `--randomize-section-padding` asks for, in many places.
    Padding,
    /// Merged strings or constants; index into the merged parts.
    Merged(u32),
    /// Common symbols of one kind; see `symbols::commons`.
    Common(u32),
    /// Groups of an object that `-r` makes; index into those of `synth::joined`.
    Group(u32),
    /// Relocations that `-r` and `--emit-relocs` keep; index into the lists of `synth::emitted_relocs`.
    Relocs(u32),
    /// A data statement of a linker script; its number.
    ScriptData(u32),
    /// Code for branches that do not reach; its number among the pools of `synth::thunks`.
    Thunks(u32),
}

impl From<plt::Table> for ChunkKind {
    fn from(table: plt::Table) -> ChunkKind {
        match table {
            plt::Table::Plt => ChunkKind::Plt,
            plt::Table::PltSec => ChunkKind::PltSec,
            plt::Table::Iplt => ChunkKind::Iplt,
        }
    }
}

/// Size and place of a section or part. What has no bytes is left out.
pub struct Spec {
    pub place: Place,
    pub size: u64,
    /// In bytes, a power of two.
    pub align: u64,
    /// The `p_type` by which readers of programs find it, if there is one.
    pub segment: Option<u32>,
    /// Whether a script may discard it.
    pub dispensable: bool,
}

pub enum Place {
    /// An output section of its own.
    Own(Header),
    /// Among the input sections of a bin.
    Joined(PlacementId),
}

/// The header of an output section: `sh_name`, `sh_type`, `sh_flags` and `sh_entsize`.
pub struct Header {
    pub name: &'static [u8],
    pub kind: u32,
    pub flags: u64,
    pub entsize: u64,
}

impl Spec {
    /// `size` bytes in an output section of their own.
    pub fn own(header: Header, align: u64, size: u64) -> Option<Spec> {
        (size > 0).then_some(Spec::new(Place::Own(header), align, size))
    }

    /// `size` bytes among the input sections of `bin`.
    pub fn joined(bin: PlacementId, align: u64, size: u64) -> Option<Spec> {
        (size > 0).then_some(Spec::new(Place::Joined(bin), align, size))
    }

    pub fn new(place: Place, align: u64, size: u64) -> Spec {
        Spec { place, size, align, segment: None, dispensable: false }
    }

    /// An output can do without it: a script may discard it.
    pub fn dispensable(self) -> Spec {
        Spec { dispensable: true, ..self }
    }

    /// Readers of programs find it by a program header of this type, if it has an output section to itself.
    pub fn in_segment(self, kind: u32) -> Spec {
        Spec { segment: Some(kind), ..self }
    }
}
