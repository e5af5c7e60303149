//! weld's ELF linker as a library. Start reading at [`link`].

pub mod args;
pub mod compressed;
pub mod crel;
pub mod eh_frame;
pub mod options;
mod reader;
pub mod synth;
