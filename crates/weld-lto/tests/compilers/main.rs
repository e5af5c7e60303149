//! The readers against the tools of the compilers whose files they read.
//!
//! Files are compiled once and kept in `${XDG_CACHE_HOME:-~/.cache}/weld/lto`, and so is what tools say of
//! them.

mod gcc;
mod llvm;
mod speed;
mod tools;
