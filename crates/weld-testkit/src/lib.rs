//! Inputs for linker tests, made in memory: relocatable objects ([`obj`], [`coff`]), shared objects
//! ([`dso`]), archives ([`ar`]), bitcode ([`bitcode`]), CodeView ([`codeview`]), damaged copies of them
//! ([`mutate`]), and their fields one by one ([`fields`]); and the order of a crate's rooms ([`layers`]).
//!
//! Development only, and without dependencies, so that every crate's unit tests can afford it.
//! The builders write what they are told, not only what is valid: most have an override for the
//! header fields, so that a parser's error paths can be tested one by one. Output is ELF64
//! little-endian, or COFF.
//!
//! ```
//! use weld_testkit::{elf::*, obj::*};
//! let mut o = Obj::new();
//! let text = o.section(Section::text(".text").bytes(&[0xe8, 0, 0, 0, 0, 0xc3]));
//! let callee = o.symbol(Symbol::undefined("callee"));
//! o.symbol(Symbol::global("caller").function().at(text, 0).size(6));
//! o.reloc(text, 1, R_X86_64_PLT32, callee, -4);
//! let bytes: Vec<u8> = o.build();
//! assert_eq!(&bytes[..4], b"\x7fELF");
//! ```

pub mod ar;
pub mod bitcode;
pub mod codeview;
pub mod coff;
pub mod dso;
pub mod elf;
pub mod fields;
pub mod layers;
pub mod mutate;
pub mod obj;
mod strtab;
