//! Writes PDB files, the debug information of Windows programs: merges what is in many objects, in parallel,
//! and lays out what debuggers read.
//!
//! The crate knows nothing of linkers. It is told flat data in a linker's terms: bytes of sections, numbers
//! of modules, offsets in output sections. What it makes goes straight into an output file; the PDB is never
//! in memory as a whole. All results are the same for any number of threads.
//!
//! A linker calls it four times, and may do other work at the same time:
//!
//! 1. [`Types::merge`], when it knows which objects are linked: one [`ObjectTypes`] each, with `.debug$T` and
//!    `.debug$P`, and the compilers' PDBs that some of them name ([`types::server`]). No addresses are needed
//!    and no liveness, so this runs beside resolution's end, section garbage collection and layout.
//! 2. [`Symbols::scan`], when it knows which sections are live: one [`Module`] each, in the order in which
//!    they are to be in the PDB, with those `.debug$S` sections that belong to live code. Its own module
//!    ([`linker_module::LINKER_MODULE`]) and those of import libraries have records made by [`linker_module::Records`].
//! 3. [`Pdb::plan`], when the image has addresses: an [`Image`] with output sections, contributions, publics.
//!    Every length is known after that.
//! 4. [`Pdb::write`], into an [`OutputFile`](weld_common::io::output::OutputFile) of [`Pdb::file_len`] bytes.
//!    The linker answers [`Relocate::fixups`], once for each `.debug$S` section. The answer is the PDB's
//!    [`Identity`], for the image's debug directory.
//!
//! With `parallel`, loops run in the rayon pool of the caller. `examples/jit.rs` writes a PDB for code that
//! is made while a program runs.
//!
//! ```
//! use weld_common::{diag::DiagSink, host::QuietHost, io::output::*};
//! use weld_pdb::{linker_module::*, *};
//!
//! struct Nothing;
//! impl Relocate for Nothing {
//!     fn fixups(&self, _module: u32, _section: u32, _fixups: &mut Vec<Fixup>) {}
//! }
//! # fn main() -> Result<(), weld_common::diag::Diagnostic> {
//! let sink = DiagSink::new();
//! let types = Types::merge(&[], &[], false, &sink)?;
//! let mut records = Records::new();
//! records.object_name(LINKER_MODULE.as_bytes());
//! let modules = [Module { name: LINKER_MODULE, records: records.bytes(), ..Default::default() }];
//! let symbols = Symbols::scan(&modules, &types, Sources::default(), false, &sink)?;
//! let publics = [Public { name: b"main", section: 1, offset: 0, flags: Public::FUNCTION }];
//! let name = *b".text\0\0\0";
//! let text = OutputSection { name, virtual_size: 16, virtual_address: 4096, ..Default::default() };
//! let image = Image { machine: 0x8664, sections: &[text], publics: &publics, ..Default::default() };
//! let pdb = Pdb::plan(&types, &symbols, &image, false, &sink)?;
//! # let path = std::env::temp_dir().join(format!("weld-pdb-{}.pdb", std::process::id()));
//! let host = QuietHost::new();
//! let file = OutputFile::create(&path, pdb.file_len(), &OutputOptions::default(), &host)?;
//! let identity = pdb.write(&file, 1, &Nothing, &sink)?;
//! file.commit(false)?;
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(()) }
//! ```
//!
//! # Malformed input
//!
//! CodeView is read as foreign bytes: lengths, counts, type indices and scopes are checked where they are
//! first read. An object in which something is wrong loses its debug information, with a warning that says
//! where. A type may refer only to what stands before it in its object, as compilers write it, so that there
//! are no cycles.
//!
//! # What is left out
//!
//! With a warning for each kind: symbol records of unknown kinds, for they might have type indices;
//! subsections of unknown kinds; what managed code has, and what compilers that run while linking leave for
//! each other (cross-scope imports and exports), of which such a linker would have to make new ones. In
//! silence: what no debugger reads, which is addresses of COFF symbols, and hashes of types for control flow
//! guard.
//!
//! # Where things are
//!
//! | | |
//! |---|---|
//! | [`input`] | what a linker tells |
//! | [`codeview`] | records of types and symbols, parts of `.debug$S`: kinds, lengths, type indices |
//! | [`types`] | type records of all objects, each once: hashes, numbers, the TPI and IPI streams |
//! | [`symbols`] | symbols, lines and files of modules, global symbols |
//! | `unique` | the first of equal things among many: types, global symbols, names of files |
//! | `strings`, `gsi` | `/names`, tables of names |
//! | `dbi`, `info`, `injected` | the DBI stream, the info stream, source files in the PDB |
//! | [`paths`] | absolute paths |
//! | [`msf`] | the container: pages and streams, laid out; and its reader |
//! | [`patch`], [`resize`] | a PDB of which modules have changed in bytes, or in what they tell |
//! | `pdb`, `write` | all streams and their lengths; the units in which they are written |

// Programs of others use this crate: its pages link to what they can see.
#![warn(rustdoc::private_intra_doc_links)]

pub mod codeview;
pub mod compare;
mod dbi;
mod edit;
mod gsi;
mod hash;
mod info;
mod injected;
pub mod input;
#[cfg(test)]
mod layers;
pub mod linker_module;
mod lists;
pub mod msf;
pub mod patch;
pub mod paths;
mod pdb;
mod put;
pub mod resize;
mod stream;
mod strings;
pub mod symbols;
pub mod types;
mod unique;
mod write;

pub use input::{
    CoffGroup, Contribution, Fixup, Identity, Image, Module, OutputSection, Public, Relocate, Sources,
};
pub use pdb::Pdb;
pub use symbols::Symbols;
pub use types::{ObjectTypes, Types};
