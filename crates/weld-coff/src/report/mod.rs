//! What a link has to say: of symbols that nobody defines, that several do, that are left out; of
//! relocations; maps, and the page of /explore; where files go.

pub mod beside;
pub mod discarded;
pub mod explore;
pub mod files;
pub mod map;
pub mod summary;
pub mod undefined;
pub mod unused;
