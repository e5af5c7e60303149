//! Tables that the linker makes: imports, also those loaded late, exports, resources, guards, the debug
//! directory; a file for each or for a family, listed in [`all`], asked by the questions of [`section`].
//!
//! What they hold is found before there are addresses ([`tables`]); their bytes are written when the whole
//! image is known ([`image`]).

mod all;
pub mod base_relocs;
mod coff_groups;
pub mod debug_directory;
pub mod delay;
pub mod exports;
pub mod guard;
pub mod image;
pub mod imports;
pub mod manifest;
mod manifest_merge;
pub mod mingw;
pub mod resources;
pub mod section;
pub mod tables;

pub use all::Table;
