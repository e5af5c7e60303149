//! One folder an architecture: its relocation types, what each asks of its symbol, how it is
//! applied and relaxed, and its PLT.

pub mod x86_64;
