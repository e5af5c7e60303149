//! What a link has to say of symbols: those that nobody defines, and those that several do.

pub mod duplicates;
pub mod undefined;
