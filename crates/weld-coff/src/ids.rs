//! Indices instead of pointers.

pub use weld_common::ids::{FileId, SymbolId};

weld_common::id!(/// An object that takes part, in the order of file ids.
    ObjectId);
weld_common::id!(/// A section: those of all objects one behind the other, then those that the linker makes.
    SectionId);
weld_common::id!(/// An import that takes part, in the order of file ids.
    ImportId);
