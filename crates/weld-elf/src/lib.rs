//! weld's ELF linker as a library. Start reading at [`link`].

pub mod arch;
pub mod args;
pub mod compat_mode;
pub mod compressed;
pub mod crel;
pub mod eh_frame;
pub mod elf;
pub mod emit;
pub mod icf;
pub mod ids;
pub mod input;
pub mod job;
#[cfg(test)]
mod layers;
pub mod layout;
pub mod link;
pub mod live;
pub mod lto;
pub mod merge_parts;
pub mod mode;
pub mod names;
pub mod options;
pub mod relocatable;
pub mod report;
pub mod resolve;
pub mod script;
pub mod section_order;
pub mod sections;
pub mod setup;
pub mod sframe;
pub mod slots;
pub mod state;
pub mod sym;
pub mod symbols;
pub mod synth;
pub mod util;
pub mod wording;
