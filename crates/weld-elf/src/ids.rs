//! Names of entities: dense `u32` indices instead of pointers.
//!
//! Indices follow command-line order, so they do not depend on thread count or timing.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            pub const NONE: $name = $name(u32::MAX);
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
            pub fn is_none(self) -> bool {
                self == Self::NONE
            }
            pub fn is_some(self) -> bool {
                self != Self::NONE
            }
        }
    };
}

id!(/// A place in the order of inputs: an object, a shared object or a member of an archive that may
    /// never be read. Lower ids win when definitions compete.
    FileId);
id!(/// A live object; an index into `Objects`. In the order of [`FileId`].
    ObjectId);
id!(/// A global name. Interleaved over the shards of the name table; not in any meaningful order.
    SymbolId);
id!(/// A section of a live object: the object's `section_base` + the section header index.
    SectionId);
id!(/// Where input sections are gathered: those of one bin lie together in one output section. There is a bin
    /// for each output section's name; see `input::sections::names`.
    BinId);
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
}

impl OutputSectionId {
    /// The header of this section.
    pub fn header(self) -> HeaderIndex {
        HeaderIndex(self.0 + 1)
    }
}
