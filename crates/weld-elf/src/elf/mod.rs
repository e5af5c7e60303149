//! ELF's records in each of their four forms: 32 or 64 bits, little or big endian.
//!
//! The linker knows one form of a table, the *native* one: 64 bits, little endian, which is that of most
//! machines today. A table of a native file is viewed in place and costs nothing. A table of any other
//! file is rewritten into native records once, when it is first looked at (`tables`); what a section
//! holds stays where it is. Output goes the other way: records are made in native form, and a whole table
//! of them is rewritten on its way into the image (`writer`).
//!
//! So no loop over symbols, sections or relocations is compiled more than once, and none asks what form
//! its records have. What a link of another form pays is one pass over each table, and memory for it.
//!
//! `format` says which form a file has, `records` what the records are, `constants` names values, `target`
//! tells machines apart.
//!
//! Specification: System V gABI, chapters 4 and 5.

mod constants;
pub mod format;
mod records;
mod tables;
mod target;
mod writer;

pub use constants::*;
pub use format::Format;
pub use records::{Chdr, Dyn, Ehdr, Half, Phdr, Raw, Record, Rel, Rela, Shdr, Sym, Word};
pub use tables::{File, Words, all, hashed_string, records, slice, string, table};
pub use target::Target;
pub use weld_common::reader::put_uleb;
pub use writer::{RelocForm, Types, Writer, in_form, put_records};
