//! weld's PE/COFF linker: what lld-link and link.exe do.
//!
//! [`link::link`] links as a command line asks. It prints nothing, never ends the process and keeps no global
//! state. Start reading at [`link`]: it has a line a phase.

mod address;
mod arch;
pub mod args;
pub mod coff;
mod debug;
pub mod demangle;
mod emit;
mod icf;
mod ids;
mod implib;
mod input;
mod job;
#[cfg(test)]
mod layers;
mod layout;
mod librarian;
pub mod link;
mod live;
mod lto;
pub mod options;
mod pdb_path;
mod relink;
mod report;
mod resolve;
mod sections;
mod symbol_names;
mod symbols;
mod synth;
mod toolchain;
mod wording;
