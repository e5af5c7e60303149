//! Writes PDB files: merges the CodeView records of many objects, in parallel, and lays out what debuggers read.
//!
//! There are the parts so far: readers of CodeView ([`codeview`]), the merging of types ([`types`]), the container ([`msf`]).

pub mod codeview;
mod hash;
pub mod msf;
mod put;
pub mod types;
mod unique;
