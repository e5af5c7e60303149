//! What a link has to say: of symbols that nobody defines, that several do, that are left out; of relocations; maps; where files go.

pub mod discarded;
pub mod duplicates;
mod dwarf;
pub mod files;
pub mod map;
pub mod relocation;
pub mod source;
pub mod summary;
pub mod undefined;
pub mod unused;
