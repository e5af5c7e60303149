//! Names of entities: dense `u32` indices instead of pointers.
//!
//! Indices follow command-line order, so they do not depend on thread count or timing.

use weld_common::id;
pub use weld_common::ids::{FileId, SymbolId};

id!(/// A live object; an index into `Objects`. In the order of [`FileId`].
    ObjectId);
id!(/// A section of a live object: the object's `section_base` + the section header index.
    SectionId);
id!(/// Where input sections are gathered: those of one bin lie together in one output section. There is a bin
    /// for each output section's name; see `sections::bins`.
    PlacementId);
id!(/// An output section; an index into `Layout::sections`, and in the order in which they lie in the file.
    OutputSectionId);
id!(/// An index into the output's section header table, in which 0 is the null header: what `sh_link` and
    /// `st_shndx` say.
    HeaderIndex);
id!(/// A piece of an output section that the linker makes: GOT, PLT, a merged string table, …
    ChunkId);

impl HeaderIndex {
    /// "No section", for header fields.
    pub const ZERO: HeaderIndex = HeaderIndex(0);

    /// The section with this header.
    pub fn section(self) -> Option<OutputSectionId> {
        self.0.checked_sub(1).map(OutputSectionId)
    }
}

impl OutputSectionId {
    /// The header of this section.
    pub fn header(self) -> HeaderIndex {
        HeaderIndex(self.0 + 1)
    }
}
