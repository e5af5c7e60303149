//! weld's end-to-end tests.
//!
//! A test is a source file under `tests/elf/FAMILY/` or `tests/coff/FAMILY/` whose comments say how to
//! compile, link and run it and what must be true of the result; `tests/README.md` lists the directives. This
//! crate finds the tests ([`test_file`]), expands their variants, compiles their objects through a cache
//! ([`objects`]), links them in-process or with an external linker ([`linker`]), carries out the steps
//! ([`exec`]), reads the outputs back ([`elf`], [`checks`]) and verifies each linked file as a whole
//! ([`verify`]).
//!
//! Tests run in worker processes of their own ([`pool`]): each has a working directory, a crash or
//! a hang of the linker costs one test, and the parent only collects results.

pub mod checks;
pub mod cli;
pub mod digests;
pub mod elf;
pub mod exec;
pub mod flavour;
pub mod known;
#[cfg(test)]
mod layers;
pub mod linker;
pub mod machine;
pub mod native;
pub mod objects;
pub mod places;
pub mod pool;
pub mod process;
pub mod template;
pub mod test_file;
pub mod verify;
pub mod words;

pub use cli::main;
pub use flavour::Flavour;
pub use linker::{Hooks, LinkResult};
