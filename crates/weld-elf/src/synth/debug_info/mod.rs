//! What the indexes of debug information have in common: the debug sections of an object, read before any
//! relocation (`dwarf`, `object`).

pub mod dwarf;
pub mod object;
pub mod plain;
