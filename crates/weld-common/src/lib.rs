//! What weld's linkers share. See `docs/architecture.md`.
//!
//! Nothing here knows an object format beyond the archive container, prints, exits the process or
//! keeps global state: a program may run several links at once.

pub mod aarch64;
pub mod archive;
pub mod args;
pub mod call_graph_sort;
pub mod demangle;
pub mod diag;
pub mod digest;
pub mod glob;
pub mod growing;
pub mod hash;
pub mod hash_index;
pub mod host;
pub mod ids;
pub mod io;
pub mod items;
pub mod job;
pub mod jobserver;
#[cfg(test)]
mod layers;
pub mod link_slots;
pub mod mapped_file;
pub mod memory_limits;
pub mod merge;
pub mod par;
pub mod partition_refinement;
pub mod prefetch;
pub mod reader;
pub mod relink;
pub mod reproduce;
pub mod resolve;
pub mod runs;
pub mod sort;
pub mod source_lines;
pub mod string_table;
pub mod suggest;
pub mod symbol_names;
pub mod text;
pub mod thunks;
pub mod trace;
pub mod walk;
pub mod zeroed;
