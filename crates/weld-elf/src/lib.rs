//! weld's ELF linker as a library. Start reading at [`link`].

pub mod args;
pub mod options;
pub mod script;
pub mod synth;
