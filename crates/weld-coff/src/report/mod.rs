//! What a link has to say of symbols: those that nobody defines, those that several do, those that are left out.

pub mod discarded;
pub mod duplicates;
pub mod map;
mod source;
pub mod undefined;
