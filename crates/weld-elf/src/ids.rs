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
id!(/// An output section, in the order in which they lie in the file once layout is done.
    OutputSectionId);
id!(/// A piece of an output section that the linker makes: GOT, PLT, a merged string table, …
    ChunkId);
